"""Flights whose local motion is known: clips to learn from, and full turns about three axes to be examined by (C38).

Panoramas are those of :mod:`flymotion.flying.scenery`. A circuit learns from one photograph and is examined with the
other one. A flat eye is laid on the sphere, pixels 5 degrees apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from flymotion.flying.scenery import FASTEST, PHOTOGRAPHS, photographed
from flymotion.world.eyes import Eye, Sphere
from flymotion.world.globe import seen_from
from flymotion.world.lattices import as_seen
from flymotion.world.rendering import render

__all__ = ["AXES", "DT", "SPACING", "Flight", "flights", "full_turns", "local_motion"]

DT = 0.02
"""Time between frames [s]."""

SPACING = 5.0
"""Of a flat eye [deg]."""

N_FRAMES = 50
"""Of a clip to learn from."""

AXES = {"yaw": (0.0, 0.0, 1.0), "pitch": (0.0, 1.0, 0.0), "roll": (1.0, 0.0, 0.0)}
"""That an eye turns about, right-handed: x forward, y left, z up."""


class Flight(NamedTuple):
    """A clip, and what the eye did in it."""

    movie: np.ndarray
    """Luminance, shape (n_frames, n_columns)."""
    motion: np.ndarray
    """Of content at each column, right and up as seen, shape (n_columns, 2) [rad/s]."""


def flights(eye: Eye, n_clips: int, seed: int) -> Iterator[Flight]:
    """Yield clips of turns about any axis, at up to the speed at which flies learn, in the photograph of a seed."""
    rng, looking = np.random.default_rng([seed, 38]), _on_the_globe(eye)
    scene = photographed(PHOTOGRAPHS[seed % len(PHOTOGRAPHS)])
    for _ in range(n_clips):
        attitude, axis = Rotation.random(rng=rng), rng.standard_normal(3)
        rate = rng.uniform(0.1, 1.0) * np.radians(FASTEST) * axis / np.linalg.norm(axis)
        turns = Rotation.from_rotvec(np.arange(N_FRAMES)[:, None] * DT * rate)
        yield Flight(render(scene, looking, (attitude * turns).as_matrix()), local_motion(eye, rate))


def full_turns(eye: Eye, axis: str, n_attitudes: int, seed: int) -> list[Flight]:
    """Return full turns about one of :data:`AXES` in the photograph that a seed did not learn from.

    Of the first, the eye is upright; others begin in attitudes drawn at random.
    """
    rate = np.radians(FASTEST) * np.array(AXES[axis])
    turns = Rotation.from_rotvec(np.arange(round(360 / FASTEST / DT))[:, None] * DT * rate)
    scene, looking = photographed(PHOTOGRAPHS[(seed + 1) % len(PHOTOGRAPHS)]), _on_the_globe(eye)
    others = Rotation.random(n_attitudes - 1, rng=np.random.default_rng([seed, 38, 2])) if n_attitudes > 1 else []
    attitudes = [Rotation.identity(), *others]
    motion = local_motion(eye, rate)
    return [Flight(render(scene, looking, (attitude * turns).as_matrix()), motion) for attitude in attitudes]


def local_motion(eye: Eye, rate: np.ndarray) -> np.ndarray:
    """Return how content moves at each column of an eye that turns, right and up as seen, shape (n_columns, 2)."""
    directions = _on_the_globe(eye).directions
    flow = -np.cross(rate, directions)
    return np.stack([np.vecdot(flow, axis) for axis in as_seen(directions)], axis=-1)


def _on_the_globe(eye: Eye) -> Sphere:
    if isinstance(eye, Sphere):
        return eye
    directions, sigma = seen_from(eye, SPACING)
    return Sphere(directions, float(sigma[0]))
