"""Probing a learner: what its outputs say about motion that is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flymotion.frames import FramePairs
from flymotion.learner.seen import Seen
from flymotion.world.eyes import Grid, Line
from flymotion.world.motions import Translation
from flymotion.world.rendering import render
from flymotion.world.scenes import photograph

__all__ = ["N_KEPT", "N_PROBES", "PROBE_SHIFT", "Probe", "accuracy", "covered", "probes", "read_out", "shifted"]

PROBE_SHIFT = 0.3
"""Largest shift of the frames shown [pixels per frame]."""

N_KEPT = 8
"""Frames kept for probing."""

N_PROBES = 4000
"""Pairs of patches to probe with."""


class Probe(NamedTuple):
    """What responses to known motions say.

    Attributes
    ----------
    ways : ndarray, shape (n_components, n_parameters)
        Preferred motion, of length 1; parameters relative to ``units``. NaN for silent units, which answered no pair.
    gain : ndarray, shape (n_components,)
        Mean response to that motion [per pixel per frame, or per unit of another parameter]; 0 for silent units.
    accuracy : float
        As :func:`accuracy` returns it.
    units : ndarray, shape (n_parameters,)
        Root mean square of each parameter in the probe; 1 for translations.
    selectivity : ndarray, shape (n_components,)
        Mean response to motion near the preferred one less that to motion near its opposite, over their sum; NaN of
        silent units, and where the opposite was not shown.
    """

    ways: np.ndarray
    gain: np.ndarray
    accuracy: float
    units: np.ndarray
    selectivity: np.ndarray


def probes(seen: Seen, patch: tuple[int, ...], seed: int) -> FramePairs:
    """Return pairs of patches of known motion: those that came with it, or frames at known shifts.

    Parameters
    ----------
    seen : Seen
        What there is to probe with.
    patch : tuple of int
        Shape of a patch.
    seed : int
        Of places and steps.
    """
    if seen.known is not None:
        return seen.known
    n = N_PROBES // len(seen.frames)
    rngs = [np.random.default_rng([seed, 1, i]) for i in range(len(seen.frames))]
    parts = [shifted(frame, patch, n, rng) for frame, rng in zip(seen.frames, rngs, strict=True)]
    return FramePairs.concatenate(parts)


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
    p = motion.shape[1]
    units = np.maximum(np.sqrt(np.mean(motion**2, axis=0)), 1e-30) if p > 2 else np.ones(p)
    along = responses.T @ (motion / units)
    ways = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-30)
    ways[~along.any(axis=1)] = np.nan
    near = _near(motion / units, ways)
    near_speed = near.T @ np.linalg.norm(motion, axis=1)
    gain = (near * responses).sum(axis=0) / np.maximum(near_speed, 1e-30)
    selectivity = _selectivity(responses, near, _near(motion / units, -ways))
    return Probe(ways, gain, accuracy(motion / units, responses, ways), units, selectivity)


def _selectivity(responses: np.ndarray, near: np.ndarray, opposite: np.ndarray) -> np.ndarray:
    to, against = ((which * responses).sum(axis=0) / np.maximum(which.sum(axis=0), 1) for which in (near, opposite))
    known = opposite.any(axis=0) & (to + against > 0)
    return np.divide(to - against, to + against, out=np.full(len(to), np.nan), where=known)


def accuracy(motion: np.ndarray, responses: np.ndarray, ways: np.ndarray) -> float:
    """Return the share of pairs with motion whose strongest output is one whose way is nearest to it.

    0 if no pair has motion. NaN of a single output: where all are the strongest, chance is always right.

    Parameters
    ----------
    motion : ndarray, shape (n_pairs, n_parameters)
        In the units of ``ways``.
    responses : ndarray, shape (n_pairs, n_components)
        A pair without any is not right.
    ways : ndarray, shape (n_components, n_parameters)
        Preferred motions; NaN for silent units.
    """
    if len(ways) == 1:
        return float("nan")
    winner = responses.argmax(axis=1)
    right = _near(motion, ways)[np.arange(len(motion)), winner] & (responses.max(axis=1) > 0)
    moving = np.linalg.norm(motion, axis=1) > 0
    return float(right[moving].sum() / max(moving.sum(), 1))


def _near(motion: np.ndarray, ways: np.ndarray) -> Any:
    """Say which ways are near to each motion, shape (n_pairs, n_components)."""
    k, p = ways.shape
    cosines = motion @ np.nan_to_num(ways).T / np.maximum(np.linalg.norm(motion, axis=1), 1e-30)[:, None]
    widest = np.pi / max(k, 2) if p <= 2 else np.pi / 4  # on a line or in the plane k ways may share the directions
    return (cosines >= np.cos(widest) - 1e-9) & ~np.isnan(ways).any(axis=1)


def covered(motion: np.ndarray, ways: np.ndarray) -> float:
    """Return the share of pairs with motion that an output is for, as :func:`accuracy` counts: the most it can be."""
    moving = np.linalg.norm(motion, axis=1) > 0
    return float(_near(motion, ways).any(axis=1).sum(where=moving) / max(moving.sum(), 1))
