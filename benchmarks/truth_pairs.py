"""Pairs of frames whose motion is known: measured by others, or simulated exactly by the package's renderer.

Frames are uint8, since OpenCV's flows take nothing else. Velocities are (x right, y down) [pixels per frame], NaN where
they are not known, or where content leaves the frame.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flymotion.video.luminance import area_averages

DATA = Path(os.environ.get("FLYMOTION_DATA", os.devnull))
"""Real data, in folders that CONTRIBUTING.md names; rows that need what is not there are left out."""

PHOTOGRAPHS = ("china.jpg", "flower.jpg")

SIZE = (240, 320)
"""Of the frames that are rendered [pixels]."""

MARGIN = 8
"""Pixels at the border of rendered frames that are left out."""

OPTICS = 0.6
"""Acceptance width of the eye that looks at photographs [photograph pixels]."""

LENS = 130.0
"""Focal length of the camera in panoramas [pixels]; its middle pixels are 0.44 degrees wide."""

PANORAMA_OPTICS = 0.53
"""Acceptance width in panoramas of 512 rows [deg]: 1.5 rows, the least that does not ring."""


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


# -- simulated eye movements -------------------------------------------------------------------------------------------


@cache
def scene(name: str) -> Any:
    from sklearn.datasets import load_sample_image

    from flymotion.world.scenes import photograph

    return photograph(load_sample_image(name), pixels_per_spacing=1.0)


@cache
def photographs(kind: str, size: float, angles: Sequence[float] = (20.0, 140.0, 260.0)) -> list[Any]:
    """Return (before, after, truth), as floats, of an eye that looks at photographs.

    Parameters
    ----------
    kind : str
        Content that moves by a "translation" of ``size`` pixels in each of the directions ``angles``, or makes a
        "rotation" of ``size`` degrees either way, or a "zoom" by 1 + ``size`` or its inverse.
    """
    from flymotion.world.eyes import Grid
    from flymotion.world.motions import Rotation, Translation, Zoom
    from flymotion.world.rendering import stepped_pairs

    motion = {"translation": Translation(8.0), "rotation": Rotation(5.0), "zoom": Zoom(0.1)}[kind]
    radians = np.radians(angles)
    steps = size * np.stack([np.cos(radians), -np.sin(radians)], axis=1)
    if kind != "translation":
        steps = np.array([[1.0], [-1.0]]) * (size if kind == "rotation" else np.log1p(size))
    eye, maps = Grid(*SIZE, OPTICS), motion.maps(steps)
    pairs = []
    for name in PHOTOGRAPHS:
        middle = scene(name).extent.mean(axis=1)
        poses = np.tile(np.column_stack([np.eye(2), middle]), (len(steps), 1, 1))
        frames = stepped_pairs(scene(name), eye, motion, poses, steps)
        to = eye.positions @ maps[..., :-1].swapaxes(1, 2) + maps[:, None, :, -1]
        truth = [inside(eye.positions, end) for end in to]
        pairs += list(zip(frames.before, frames.after, truth, strict=True))
    return pairs


def inside(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the motion of pixels that start and end within the frame, shape (2, height, width)."""
    most = np.array(SIZE[::-1]) / 2 - MARGIN
    kept = (np.abs(start) < most).all(axis=1) & (np.abs(end) < most).all(axis=1)
    return np.where(kept[:, None], end - start, np.nan).T.reshape(2, *SIZE)


@cache
def worlds() -> list[Any]:
    """Return the panoramas of 512 rows; none without their file."""
    from flymotion.world.scenes import panorama

    file = DATA / "panoramas" / "luminance_f16.npz"
    images = np.load(file) if file.exists() else {}
    return [panorama(images[name].astype(float)) for name in images if name.endswith("512x1024")]


@cache
def panoramas(size: float) -> list[Any]:
    """Return (before, after, truth), as floats, of a camera that turns by ``size`` middle pixels; none without files.

    It looks at the horizon and turns to the left and up, as far in each. Frames are log luminance, 0 to 255.
    """
    from flymotion.photoreceptors import LogIntensity
    from flymotion.world.eyes import Grid, Sphere
    from flymotion.world.motions import Turn
    from flymotion.world.rendering import render

    flat = Grid(*SIZE).positions
    ahead = np.column_stack([np.full(len(flat), LENS), -flat])  # x forward, y left, z up
    step = np.degrees(size / LENS) * np.array([0.0, -1.0, 1.0]) / np.sqrt(2)
    turn = Turn(5.0).maps(-step)[:, :3]
    end = ahead @ turn  # where what is ahead appears once the eye has turned
    truth = inside(flat, -end[:, 1:] * (LENS / end[:, :1]))
    pairs = []
    for world in worlds():
        frames = render(world, Sphere(ahead, PANORAMA_OPTICS), np.stack([np.eye(3), turn]))
        frames = LogIntensity().fit(frames).transform(frames).reshape(2, *SIZE)
        pairs.append((*(255 * frames / frames.max()), truth))
    return pairs
