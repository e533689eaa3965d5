r"""What circuits learn from: movies of an eye that turns, about any axis and smoothly, amid what photographs show.

Photographs are folded onto the sphere as onto an octahedron, whose faces are mirror images of one another:

.. math:: (u, v) = (|x|, |y|) / (|x| + |y| + |z|)

so that there is no seam and no pole. A flat eye moves over a photograph that is mirrored at its borders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from scipy.signal import lfilter

from flymotion.circuits.column_signals import SPACING
from flymotion.frames import as_frames
from flymotion.world.conventions import as_generator, not_below_0, positive
from flymotion.world.eyes import Eye
from flymotion.world.rendering import render
from flymotion.world.scenes import FlatScene, Scene, SphericalScene, panorama, photograph
from flymotion.world.scenes.scene import as_luminance

__all__ = ["attitudes", "folded_panorama", "panoramas", "photographs", "schooling", "wandering"]

ROWS = 128
"""Of a panorama: finer than lenses of 5 degrees see."""

SHOWN = 800
"""Pixels of a photograph, mirrored at its borders, from corner to corner of a face of the octahedron."""


def photographs() -> list[Any]:
    """Return the photographs that scikit-learn ships, china.jpg and flower.jpg (CC-BY 2.0), luminance from 0 to 1.

    Examples
    --------
    >>> [(photograph.shape, round(float(photograph.max()), 2)) for photograph in photographs()]
    [((427, 640), 1.0), ((427, 640), 0.89)]
    """
    from sklearn.datasets import load_sample_images

    return [as_luminance(image) / 255 for image in load_sample_images().images]


def folded_panorama(image: Any, *, corner: tuple[int, int] = (0, 0)) -> SphericalScene:
    """Make a panorama of a photograph, without seams: see the module.

    Parameters
    ----------
    image : array-like, shape (height, width) or (height, width, 3 or 4)
        Intensities, or colours.
    corner : tuple of int
        Row and column of the photograph that are straight up.

    Returns
    -------
    SphericalScene
        Of the intensities of the photograph, at angles that lenses of 5 degrees see.

    Examples
    --------
    >>> scene = folded_panorama(photographs()[0])
    >>> ahead_left = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> scene.sample(ahead_left, sigma=2.4).round(1)
    array([0.8, 1. ])
    """
    from scipy.ndimage import gaussian_filter, map_coordinates

    image = as_luminance(as_frames(np.asarray(image), name="image"))
    colatitude = (np.arange(ROWS) + 0.5)[:, None] * math.pi / ROWS
    azimuth = math.pi - (np.arange(2 * ROWS) + 0.5) * math.pi / ROWS
    across = np.sin(colatitude)
    x, y, z = np.abs(across * np.cos(azimuth)), np.abs(across * np.sin(azimuth)), np.abs(np.cos(colatitude))
    places = np.array([x, y]) / (x + y + z) * SHOWN + np.reshape(corner, (2, 1, 1))
    blurred = gaussian_filter(image, SHOWN / ROWS, mode="mirror")
    return panorama(map_coordinates(blurred, places, order=1, mode="mirror"))


def wandering(n_frames: int, n_axes: int, dt: float, speed: float, persistence: float, rng: Any) -> np.ndarray:
    """Return smooth random velocities, all directions alike, shape (n_frames, n_axes).

    Gaussian, of root mean square ``speed`` in all, twice low-passed at ``persistence`` [s].

    Examples
    --------
    >>> velocities = wandering(50_000, 2, dt=0.02, speed=100.0, persistence=0.2, rng=np.random.default_rng(0))
    >>> round(float(np.sqrt(np.square(velocities).sum(axis=1).mean())), -1)  # deg/s
    100.0
    """
    a = math.exp(-dt / persistence)
    lead = math.ceil(10 * persistence / dt)
    noise = as_generator(rng).standard_normal((lead + n_frames, n_axes))
    smooth = lfilter([1.0], [1.0, -2 * a, a**2], noise, axis=0)[lead:]
    energy = (1 + a**2) / (1 - a**2) ** 3  # sum over k of ((k + 1) a^k)^2
    return smooth * (speed / math.sqrt(energy * n_axes))


def attitudes(velocities: np.ndarray, dt: float, rng: Any) -> np.ndarray:
    """Return how an eye is turned that turns with velocities [deg/s], shape (n_frames, 3, 3); at first, anyhow.

    Examples
    --------
    >>> yaw = np.array([[0.0, 0.0, 90.0]] * 2)  # deg/s to the left
    >>> first, second = attitudes(yaw, 1.0, np.random.default_rng(0))
    >>> (first.T @ second).round(6) @ [1.0, 0.0, 0.0] + 0.0  # what was on the left is ahead a second later
    array([0., 1., 0.])
    """
    from scipy.spatial.transform import Rotation

    steps = Rotation.from_rotvec(np.radians(velocities) * dt).as_matrix()
    turned = np.empty_like(steps)
    now = Rotation.random(rng=as_generator(rng)).as_matrix()
    for t, step in enumerate(steps):
        turned[t] = now = now @ step
    return turned


def schooling(
    eye: Eye,
    *,
    n_clips: int = 24,
    duration: float = 10.0,
    dt: float = 0.02,
    speed: float = 100.0,
    persistence: float = 0.2,
    scenes: Sequence[Scene] | None = None,
    random_state: Any = None,
) -> Iterator[Any]:
    """Yield clips of an eye that turns amid scenes, or moves over them if it is flat, to learn motion from.

    Parameters
    ----------
    eye : Eye
        Whose.
    n_clips : int
        How many; each begins anywhere in one of the scenes.
    duration : float
        Of a clip [s].
    dt : float
        Time between frames [s].
    speed : float
        Root mean square of the turning, or of a flat eye's motion at 5 degrees a pixel [deg/s].
    persistence : float
        For how long a motion stays much the same [s].
    scenes : sequence of Scene, optional
        By default eight panoramas, or two flat scenes, that the photographs make.
    random_state : int, Generator, RandomState or None
        Of the ways.

    Yields
    ------
    ndarray, shape (n_frames, n_columns)
        Luminance.

    Raises
    ------
    ValueError
        Numbers out of range.

    Examples
    --------
    >>> from flymotion.world import Hexagon
    >>> from flymotion.world.scenes import SmoothNoise
    >>> scenes = [SmoothNoise(2.0, ndim=2, period=50.0, random_state=0)]
    >>> [clip.shape for clip in schooling(Hexagon(1), n_clips=2, duration=1.0, scenes=scenes, random_state=0)]
    [(50, 7), (50, 7)]
    """
    positive(duration=duration, dt=dt, persistence=persistence)
    not_below_0(speed=speed)
    rng = as_generator(random_state)
    flat = eye.positions.shape[1] < 3
    scenes = (_flat() if flat else panoramas(rng)) if scenes is None else scenes
    n_frames = round(duration / dt)
    for k in range(n_clips):
        scene = scenes[k % len(scenes)]
        velocities = wandering(n_frames, eye.positions.shape[1], dt, speed, persistence, rng)
        if flat:
            extent = cast(FlatScene, scene).extent
            way = np.cumsum(velocities * (dt / SPACING), axis=0)
            yield render(scene, eye, way + rng.uniform(extent[:, 0], extent[:, 1])).reshape(n_frames, -1)
        else:
            yield render(scene, eye, attitudes(velocities, dt, rng))


def panoramas(rng: np.random.Generator) -> list[Scene]:
    """Return eight panoramas, four of each photograph, folded about corners anywhere.

    Examples
    --------
    >>> len(panoramas(np.random.default_rng(0)))
    8
    """
    found: list[Scene] = []
    for image in photographs():
        for _ in range(4):
            corner = rng.integers(0, np.array(image.shape))
            found.append(folded_panorama(image, corner=tuple(corner)))
    return found[::4] + found[1::4] + found[2::4] + found[3::4]


def _flat() -> list[Scene]:
    return [photograph(image, pixels_per_spacing=3.0) for image in photographs()]
