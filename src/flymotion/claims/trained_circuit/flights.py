"""Flights whose local motion is known: clips to learn from, and full turns about three axes to be examined by (C38).

Eyes turn, and scenes are made of photographs, as in :mod:`flymotion.circuits.schooling`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from flymotion.circuits.column_signals import SPACING
from flymotion.circuits.schooling import attitudes, folded_panorama, photographs, wandering
from flymotion.world.eyes import Eye
from flymotion.world.lattices import as_seen
from flymotion.world.rendering import render
from flymotion.world.scenes import photograph

__all__ = ["AXES", "DT", "Flight", "flights", "full_turn", "local_motion"]

DT = 0.02
"""Time between frames [s]."""

DURATION, SPEED, PERSISTENCE = 5.0, 100.0, 0.2
"""Of a clip [s]; of the motion in it the root mean square [deg/s], and for how long it stays much the same [s]."""

CORNERS = ((0, 0), (100, 200), (200, 400), (300, 600))
"""Of the photograph, straight up in each of the panoramas that are learned from; the first one is examined with."""

TURNING = 60.0
"""Speed of full turns [deg/s]."""

AXES = {"yaw": (0.0, 0.0, 1.0), "pitch": (0.0, 1.0, 0.0), "roll": (1.0, 0.0, 0.0)}
"""That an eye turns about, right-handed: x forward, y left, z up."""


class Flight(NamedTuple):
    """A clip, and what the eye did in it."""

    movie: np.ndarray
    """Luminance, shape (n_frames, n_columns)."""
    motion: np.ndarray
    """Of content at each column, right and up as seen, shape (n_frames, n_columns, 2)."""


def flights(eye: Eye, n_clips: int, pictures: Sequence[int], seed: int) -> Iterator[Flight]:
    """Yield clips of an eye that turns about any axis amid photographs in turn, or moves over them if it is flat."""
    rng, flat = np.random.default_rng([seed, 38]), eye.positions.shape[1] < 3
    n_frames = round(DURATION / DT)
    for k in range(n_clips):
        velocities = wandering(n_frames, eye.positions.shape[1], DT, SPEED, PERSISTENCE, rng)
        if flat:
            scene: Any = photograph(_photographs()[pictures[k % len(pictures)]], pixels_per_spacing=3.0)
            way = np.cumsum(velocities * (DT / SPACING), axis=0) + rng.uniform(*scene.extent.T)
            motion = np.broadcast_to(velocities[:, None] * [-1, 1], (n_frames, *eye.shape, 2))
            yield Flight(render(scene, eye, way).reshape(n_frames, -1), motion)
        else:
            scene = _panorama(pictures[k % len(pictures)], CORNERS[k // len(pictures) % len(CORNERS)])
            poses = attitudes(velocities, DT, rng)
            yield Flight(render(scene, eye, poses), local_motion(eye, velocities))


def full_turn(eye: Eye, axis: str, picture: int) -> Flight:
    """Return a full turn of an upright eye about one of :data:`AXES`, amid a photograph."""
    rate = TURNING * np.array([AXES[axis]])
    turns = Rotation.from_rotvec(np.radians(np.arange(round(360 / TURNING / DT))[:, None] * DT * rate))
    return Flight(render(_panorama(picture, CORNERS[0]), eye, turns.as_matrix()), local_motion(eye, rate))


def local_motion(eye: Eye, velocities: np.ndarray) -> np.ndarray:
    """Return how content moves at each column, right and up as seen, of a spherical eye that turns.

    Velocities have shape (n_frames, 3), and what is returned (n_frames, n_columns, 2).
    """
    directions = eye.positions
    flow = -np.cross(velocities[:, None], directions)
    return np.stack([np.vecdot(flow, axis) for axis in as_seen(directions)], axis=-1)


@cache
def _photographs() -> list[np.ndarray]:
    return photographs()


@cache
def _panorama(which: int, corner: tuple[int, int]) -> Any:
    return folded_panorama(_photographs()[which], corner=corner)
