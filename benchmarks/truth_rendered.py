"""Pairs of frames rendered at exactly known poses, as floats: eyes that look at photographs, cameras in panoramas.

What moves keeps its brightness, whole frames are exposed at once, and there is no noise: `truth_light.py` and
`truth_cameras.py` take that away.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from truth_pairs import DATA

PHOTOGRAPHS = ("china.jpg", "flower.jpg")

SIZE = (240, 320)
"""Of the frames that are rendered [pixels]."""

LARGE = (480, 640)
"""Of the frames in which photographs move furthest; a pixel is two thirds of a photograph's, which has no more."""

FURTHEST = 64.0
"""Motion in large frames [pixels]."""

ANGLES = (20.0, 140.0, 260.0)
"""Directions that photographs move in [deg], none along an axis; 0 = right, counter-clockwise."""

MARGIN = 8
"""Pixels at the border of rendered frames that are left out."""

PLACES = ((110.0, 90.0), (160.0, 130.0), (215.0, 110.0))
"""Where small things are midway, one place for each direction [pixels from the left and the top]."""

OPTICS = 0.6
"""Acceptance width of the eye that looks at photographs [its pixels]."""

LENS = 130.0
"""Focal length of the camera in panoramas [pixels]; its middle pixels are 0.44 degrees wide."""

PANORAMA_OPTICS = 0.53
"""Acceptance width in panoramas of 512 rows [deg]: 1.5 rows, the least that does not ring."""


# -- photographs -------------------------------------------------------------------------------------------------------


@cache
def scene(name: str, detail: float = 1.0) -> Any:
    """Return a photograph of scikit-learn's, so many pixels of which are one of the eye's."""
    from sklearn.datasets import load_sample_image

    from flymotion.world.scenes import photograph

    return photograph(load_sample_image(name), pixels_per_spacing=detail)


@cache
def photographs(kind: str, size: float, angles: Sequence[float] = ANGLES) -> list[Any]:
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

    motion = {"translation": Translation(FURTHEST), "rotation": Rotation(5.0), "zoom": Zoom(0.1)}[kind]
    steps = size * ways(angles)
    if kind != "translation":
        steps = np.array([[1.0], [-1.0]]) * (size if kind == "rotation" else np.log1p(size))
    shape, detail = (LARGE, 2 / 3) if kind == "translation" and size >= FURTHEST else (SIZE, 1.0)
    eye, maps = Grid(*shape, OPTICS), motion.maps(steps)
    pairs = []
    for name in PHOTOGRAPHS:
        world = scene(name, detail)
        middle = world.extent.mean(axis=1)
        poses = np.tile(np.column_stack([np.eye(2), middle]), (len(steps), 1, 1))
        frames = stepped_pairs(world, eye, motion, poses, steps)
        to = eye.positions @ maps[..., :-1].swapaxes(1, 2) + maps[:, None, :, -1]
        truth = [inside(eye.positions, end, shape) for end in to]
        pairs += list(zip(frames.before, frames.after, truth, strict=True))
    return pairs


def ways(angles: Sequence[float] = ANGLES) -> np.ndarray:
    """Return directions as vectors (x right, y down), shape (n, 2)."""
    radians = np.radians(angles)
    return np.stack([np.cos(radians), -np.sin(radians)], axis=1)


def displaced(name: str, places: np.ndarray) -> np.ndarray:
    """Return frames of a photograph whose content is moved to ``places``, shape (n, 2), from the middle."""
    from flymotion.world.eyes import Grid
    from flymotion.world.rendering import render

    return render(scene(name), Grid(*SIZE, OPTICS), scene(name).extent.mean(axis=1) - places)


def inside(start: np.ndarray, end: np.ndarray, shape: tuple[int, int] = SIZE) -> np.ndarray:
    """Return the motion of pixels that start and end within the frame, shape (2, height, width)."""
    most = np.array(shape[::-1]) / 2 - MARGIN
    kept = (np.abs(start) < most).all(axis=1) & (np.abs(end) < most).all(axis=1)
    return np.where(kept[:, None], end - start, np.nan).T.reshape(2, *shape)


@cache
def things(radius: float, size: float) -> list[Any]:
    """Return (before, after, truth), as floats, of a disc of one photograph that moves over the other, which is still.

    Each of the directions ``ANGLES`` at a place of its own. The truth is that of the thing alone.
    """
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    pairs = []
    for name, other in (PHOTOGRAPHS, PHOTOGRAPHS[::-1]):
        ground = displaced(name, np.zeros((1, 2))).reshape(SIZE)
        for way, (left, top) in zip(ways(), PLACES, strict=True):
            step = size * way
            frames = displaced(other, np.stack([-step / 2, step / 2])).reshape(2, *SIZE)
            discs = [np.hypot(x - left - s * step[0], y - top - s * step[1]) < radius for s in (-0.5, 0.5)]
            before, after = (np.where(disc, thing, ground) for disc, thing in zip(discs, frames, strict=True))
            pairs.append((before, after, np.where(discs[0], step[:, None, None], np.nan)))
    return pairs


# -- panoramas ---------------------------------------------------------------------------------------------------------


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
