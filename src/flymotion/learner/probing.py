"""Probing a learner: what its outputs say about motion that is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.frames import FramePairs
from flymotion.world.eyes import Grid, Line
from flymotion.world.motions import Translation
from flymotion.world.rendering import render
from flymotion.world.scenes import photograph

__all__ = ["N_KEPT", "PROBE_SHIFT", "Probe", "read_out", "shifted"]

PROBE_SHIFT = 0.3
"""Largest shift of the frames shown [pixels per frame]."""

N_KEPT = 8
"""Frames kept for probing."""


class Probe(NamedTuple):
    """What responses to known motions say.

    Attributes
    ----------
    ways : ndarray, shape (n_components, n_parameters)
        Preferred motion, of length 1; parameters relative to their root mean square in the probe.
    gain : ndarray, shape (n_components,)
        Mean response to that motion [per pixel per frame, or per unit of another parameter].
    accuracy : float
        Share of pairs with motion whose strongest output is one whose way is nearest to it; 0 if there are none.
    """

    ways: np.ndarray
    gain: np.ndarray
    accuracy: float


def shifted(frame: np.ndarray, patch: tuple[int, ...], n: int, rng: np.random.Generator) -> FramePairs:
    """Cut patches out of a frame twice, the second time displaced by a known sub-pixel step.

    The frame is taken as the band-limited function through its pixels. A patch as large as the frame sees its mirror
    image beyond the border.

    Parameters
    ----------
    frame : ndarray, shape (n,) or (height, width)
        One frame.
    patch : tuple of int
        Shape of a patch, no larger than the frame.
    n : int
        Number of pairs.
    rng : Generator
        Source of places and steps.

    Returns
    -------
    FramePairs
        With the motion of the content, along the cardinal directions [pixels per frame].
    """
    scene = photograph(frame, pixels_per_spacing=1.0)
    eye = Line(patch[0], 0.0) if len(patch) == 1 else Grid(patch[0], patch[1], 0.0)
    half = np.array(patch[::-1]) / 2
    places = rng.uniform(half, scene.extent[:, 1] - half, size=(n, scene.ndim))
    steps = Translation(PROBE_SHIFT, ndim=scene.ndim).steps(n, rng)
    movie = render(scene, eye, np.concatenate([places, places - steps]))
    return FramePairs(movie[:n], movie[n:], steps)


def read_out(pairs: FramePairs, responses: np.ndarray) -> Probe:
    """Read preferred motions and units off responses, shape (n_pairs, n_components), to pairs of known motion."""
    motion = pairs.motion
    assert motion is not None
    k, p = responses.shape[1], motion.shape[1]
    scale = np.sqrt(np.mean(motion**2, axis=0)) if p > 2 else np.ones(p)
    scaled = motion / np.maximum(scale, 1e-30)
    along = responses.T @ scaled
    ways = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-30)
    speeds = np.linalg.norm(scaled, axis=1)
    cosines = scaled @ ways.T / np.maximum(speeds, 1e-30)[:, None]
    widest = np.pi / max(k, 2) if p <= 2 else np.pi / 4  # on a line or in the plane k ways may share the directions
    near = cosines >= np.cos(widest) - 1e-9
    near_speed = near.T @ np.linalg.norm(motion, axis=1)
    gain = (near * responses).sum(axis=0) / np.maximum(near_speed, 1e-30)
    winner = responses.argmax(axis=1)
    right = near[np.arange(len(motion)), winner] & (responses.max(axis=1) > 0)
    moving = speeds > 0
    return Probe(ways, gain, float(right[moving].sum() / max(moving.sum(), 1)))
