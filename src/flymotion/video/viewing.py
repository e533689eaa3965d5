"""How a video is looked at: reduced until motion is a fraction of a pixel, and through optics.

Speeds are in pixels of the reduced frames, per frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from flymotion.frames import FramePairs, random_patches
from flymotion.video.luminance import area_averages
from flymotion.world.conventions import as_generator

__all__ = ["blur", "choose_scale", "contrasts", "random_pairs", "speeds", "view"]

OPTICS = 0.7
"""Standard deviation of the optics [reduced pixels]."""

TRUNCATED = 3.0
"""How far the optics reach [standard deviations]."""

SLOW = 0.75
"""Median speed at which a scale is fine enough [reduced pixels per frame]."""

ROOM = 4
"""Patches that have to fit along the shorter side of reduced frames."""

N_LOOKED_AT = 20_000
"""Patches to look at."""

N_SCALED = 12
"""Pairs of frames, evenly spread, that the scale is chosen by."""


def view(frames: Any, scale: int) -> np.ndarray:
    """Return frames as the learner's eye sees them: reduced by ``scale``, then blurred by the optics.

    Returns
    -------
    ndarray, shape (n_frames, height // scale, width // scale), float32
    """
    return _blurred(area_averages(np.asarray(frames, dtype=np.float32), scale))


def _blurred(frames: np.ndarray) -> np.ndarray:
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(frames, (0, OPTICS, OPTICS), truncate=TRUNCATED)


def blur() -> np.ndarray:
    """Return the weights by which the optics blur along each axis, the border pixels mirrored, shape (5,)."""
    from scipy.ndimage import gaussian_filter1d

    reach = int(TRUNCATED * OPTICS + 0.5)
    return gaussian_filter1d(np.eye(2 * reach + 1)[reach], OPTICS, truncate=TRUNCATED, mode="constant")


def random_pairs(clips: Sequence[np.ndarray], patch: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Cut patches at random out of pairs of frames, about as many out of each; shape (n_patches, patch, patch)."""
    parts = [FramePairs(clip[:-1], clip[1:]) for clip in clips if len(clip) > 1]
    if not parts:
        raise ValueError("no two frames in a row to look at; expected at least one pair")
    pairs = FramePairs.concatenate(parts)
    patches = random_patches(pairs, (patch, patch), -(-N_LOOKED_AT // len(pairs)), seed=int(rng.integers(2**31)))
    return patches.before, patches.after


def speeds(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    r"""Say how fast the content of patches moves, whatever way, from the variances of change and gradient.

    .. math:: v^2 = 2 \, \mathrm{var}(\Delta x) / (\mathrm{var}(\partial_h \bar x) + \mathrm{var}(\partial_v \bar x)),

    within a patch, which is right on average over directions. The mean change is left out, as it may be a flash, and so
    is the mean gradient, which would change the mean alone. Noise makes content seem fast.

    Parameters
    ----------
    before, after : ndarray, shape (n_pairs, height, width)
        Patches.

    Returns
    -------
    ndarray, shape (n_pairs,)
        [pixels per frame]; 0 where nothing changes, ``inf`` where something does without a gradient.
    """
    change, middle = after - before, (after + before) / 2
    energy = _variances(change)
    across, down = np.diff(middle, axis=2)[:, :-1], np.diff(middle, axis=1)[:, :, :-1]
    gradient = _variances(across) + _variances(down)
    unknown = np.where(energy > 0, np.inf, 0.0).astype(energy.dtype)
    return np.sqrt(np.divide(2 * energy, gradient, out=unknown, where=gradient > 0))


def contrasts(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the mean of both patches of each pair, shape (n_pairs,)."""
    return np.sqrt(_variances((before + after) / 2))


def _variances(patches: np.ndarray) -> np.ndarray:
    """Return the variance of each patch, shape (n_patches,)."""
    flat = patches.reshape(len(patches), np.prod(patches.shape[1:]))
    centred = flat - flat.mean(axis=1, keepdims=True)
    return np.vecdot(centred, centred) / flat.shape[1]


def choose_scale(clips: Sequence[np.ndarray], patch: int, random_state: Any = None) -> int:
    """Choose the factor to reduce frames by: the least power of two at which motion is sub-pixel.

    Motion is the median speed of patches of more than median contrast. Where no scale that leaves room for ``ROOM``
    patches will do, it is the largest of those.

    Parameters
    ----------
    clips : sequence of ndarray, shape (n_frames, height, width)
        Frames in a row, cut from clip to clip.
    patch : int
        Side of the patches to learn from [reduced pixels].
    random_state : int, Generator, RandomState or None
        Source of the places looked at.

    Raises
    ------
    ValueError
        Frames smaller than a patch, or no two in a row.
    """
    rng, scale = as_generator(random_state), 1
    pairs = [pair for clip in clips for pair in pairwise(clip)]
    reduced = [np.stack(pair).astype(np.float32, copy=False) for pair in pairs[:: -(-len(pairs) // N_SCALED) or 1]]
    while True:
        before, after = random_pairs([_blurred(pair) for pair in reduced], patch, rng)
        contrast = before.std(axis=(1, 2))
        textured = (contrast >= np.median(contrast)) & (contrast > 0)
        fine = not textured.any() or np.median(speeds(before[textured], after[textured])) < SLOW
        if fine or min(clips[0].shape[1:]) < 2 * scale * ROOM * patch:
            return scale
        scale, reduced = 2 * scale, [area_averages(pair, 2) for pair in reduced]
