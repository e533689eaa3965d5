"""Probing a learner: what its outputs say about motion that is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.eyes import Grid, Line
from flymotion.frames import FramePairs
from flymotion.motions import Translation
from flymotion.render import render
from flymotion.scenes import photograph, unit_vector

__all__ = ["PROBE_SHIFT", "Probe", "read_out", "shifted", "unit_vectors"]

PROBE_SHIFT = 0.3
"""Largest shift of the frames shown [pixels per frame]."""


class Probe(NamedTuple):
    """What responses to known motions say.

    Attributes
    ----------
    directions : ndarray, shape (n_components,)
        Preferred direction of the image content [deg]: 0 = right, 90 = up.
    gain : ndarray, shape (n_components,)
        Mean response to content moving that way [per pixel per frame].
    accuracy : float
        Share of pairs with motion whose strongest output is one whose direction is nearest to it; 0 if there are none.
    """

    directions: np.ndarray
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
    """Read names and units off responses, shape (n_pairs, n_components), to pairs of known motion."""
    motion = pairs.motion
    assert motion is not None
    ndim, k = motion.shape[1], responses.shape[1]
    along = responses.T @ motion
    down = along[:, 1] if ndim == 2 else np.zeros(k)
    directions = np.degrees(np.arctan2(-down, along[:, 0])) % 360.0
    speeds = np.linalg.norm(motion, axis=1)
    cosines = motion @ unit_vectors(directions, ndim).T / np.maximum(speeds, 1e-30)[:, None]
    near = cosines >= np.cos(np.pi / max(k, 2)) - 1e-9
    near_speed = (near * speeds[:, None]).sum(axis=0)
    gain = (near * responses).sum(axis=0) / np.maximum(near_speed, 1e-30)
    winner = responses.argmax(axis=1)
    right = near[np.arange(len(motion)), winner] & (responses.max(axis=1) > 0)
    moving = speeds > 0
    return Probe(directions, gain, float(right[moving].sum() / max(moving.sum(), 1)))


def unit_vectors(angles: np.ndarray, ndim: int) -> np.ndarray:
    """Return the unit vectors (x right, y down) of directions [deg], shape (len(angles), ndim)."""
    return np.array([unit_vector(angle, ndim) for angle in angles])
