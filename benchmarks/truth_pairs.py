"""Pairs of frames whose motion is known, as a sensor sees them; and those that others measured.

Frames are uint8, since OpenCV's flows take nothing else. Velocities are (x right, y down) [pixels per frame], NaN where
they are not known, or where content leaves the frame.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from flymotion.video.luminance import area_averages

DATA = Path(os.environ.get("FLYMOTION_DATA", os.devnull))
"""Real data, in folders that CONTRIBUTING.md names; rows that need what is not there are left out."""


class Pair(NamedTuple):
    before: np.ndarray
    after: np.ndarray
    truth: np.ndarray


def seen(frame: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """Return a frame as a sensor of 256 grey levels sees it, whose noise has that standard deviation."""
    noisy = frame + noise * np.random.default_rng(seed).standard_normal(frame.shape)
    return np.clip(np.round(noisy), 0, 255).astype(np.uint8)


def noisy_pair(pair: tuple[np.ndarray, np.ndarray, np.ndarray], noise: float) -> Pair:
    before, after, truth = pair
    return Pair(seen(before, noise, 0), seen(after, noise, 1), truth)


# -- measured by others ------------------------------------------------------------------------------------------------


def dimetrodon(factor: int) -> Pair | None:
    """Return Middlebury's Dimetrodon, reduced; None without its files."""
    from matplotlib.image import imread

    from flymotion.field.truth import read_flo

    folder = DATA / "flow"
    if not folder.exists():
        return None
    frames = [255 * imread(folder / f"frame{n}.png").astype(float) for n in (10, 11)]
    before, after = (seen(area_averages(frame, factor), 0, 0) for frame in frames)
    return Pair(before, after, area_averages(read_flo(folder / "flow10.flo").astype(float), factor) / factor)


def stereo(factor: int) -> Pair | None:
    """Return scikit-image's stereo pair as motion from its left to its right image, reduced; None without it."""
    try:
        from skimage.data import stereo_motorcycle
    except ImportError:
        return None
    left, right, disparity = stereo_motorcycle()
    before, after = (seen(area_averages(np.mean(image, axis=2), factor), 0, 0) for image in (left, right))
    d = area_averages(np.where(hidden(disparity), np.nan, disparity).astype(float), factor) / factor
    return Pair(before, after, np.stack([-d, np.zeros_like(d)]))


def hidden(disparity: np.ndarray) -> np.ndarray:
    """Return which pixels of the left image the right one does not show, or whose disparity is not known."""
    height, width = disparity.shape
    known = np.isfinite(disparity)
    target = np.arange(width) - np.where(known, np.round(disparity), width).astype(int)
    rows = np.broadcast_to(np.arange(height)[:, None], target.shape)
    inside = known & (target >= 0)
    nearest = np.zeros(disparity.shape)
    np.maximum.at(nearest, (rows[inside], target[inside]), disparity[inside])
    return ~inside | (disparity < nearest[rows, np.maximum(target, 0)] - 1)
