"""What a fly is shown: panoramas made of photographs that it turns in to learn, and a few scenes to watch.

Luminance is in units of white: 0 to 1. Photographs are those that come with scikit-learn. One is laid round the eye
beside its mirror image, so that there is no seam, and over all elevations, so that there is one at neither pole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from flymotion.stimuli import Stimulus, rotating_panorama
from flymotion.video.luminance import cell_averages
from flymotion.world.conventions import as_generator
from flymotion.world.eyes import Eye
from flymotion.world.globe import seen_from
from flymotion.world.rendering import render
from flymotion.world.scenes import SphericalNoise, SphericalScene, panorama
from flymotion.world.scenes.scene import as_luminance

__all__ = ["PHOTOGRAPHS", "SHOWN", "seen_in_flight", "turning"]

PHOTOGRAPHS = ("china", "flower")
"""What panoramas are made of, and learned from."""

ROWS = 144
"""Of a panorama: one in 1.25 degrees, which no lens of a fly sees alone."""

WHITE = 255.0

SPEED = 60.0
"""Of what turns about a watching fly [deg/s]."""

FASTEST = 120.0
"""Of a fly that learns, about any axis [deg/s]."""


@cache
def photographed(name: str) -> SphericalScene:
    """Return a panorama of one of :data:`PHOTOGRAPHS` beside its mirror image."""
    from sklearn.datasets import load_sample_image

    picture = as_luminance(load_sample_image(f"{name}.jpg"))[None] / WHITE
    half = cell_averages(picture, (ROWS, ROWS))[0]
    return panorama(np.concatenate([half, half[:, ::-1]], axis=1))


def half_bright() -> SphericalScene:
    """Return a world whose one half is bright and whose other half is dark, with two upright edges."""
    return panorama(np.repeat([[0.8, 0.2]], ROWS, axis=1).repeat(ROWS, axis=0))


def noisy() -> SphericalScene:
    """Return smooth noise about grey, always the same."""
    scene = SphericalNoise(10.0, random_state=0)
    a = 0.15 * scene.coefficients
    a[0, 0] = 0.5 * np.sqrt(4 * np.pi)
    return SphericalScene(a)


SHOWN: dict[str, Callable[[], SphericalScene]] = {
    "panorama": partial(photographed, "china"),
    "flower": partial(photographed, "flower"),
    "edge": half_bright,
    "noise": noisy,
}
"""Worlds that turn about a watching fly, by the names that commands know them by."""


def turning(name: str, *, duration: float) -> Stimulus:
    """Return one of :data:`SHOWN`, turning to the right about the vertical.

    Raises
    ------
    ValueError
        An unknown name.
    """
    if name not in SHOWN:
        raise ValueError(f"there is no scene {name!r}; expected one of {', '.join(SHOWN)}")
    return rotating_panorama(scene=SHOWN[name](), speed=SPEED, heading=0.0, duration=duration)


def seen_in_flight(
    eye: Eye, dt: float, *, n_clips: int, n_frames: int, spacing: float | None = None, random_state: Any = None
) -> Iterator[np.ndarray]:
    """Yield what an eye sees as it turns in panoramas of photographs: every clip about an axis, at a speed, of its own.

    Axes are spread evenly over the sphere, and so are attitudes at first, so that content moves in all directions and
    every lens sees all of the world. The same photographs come in turns.

    Parameters
    ----------
    eye : Eye
        Spherical, or flat.
    dt : float
        Time between frames [s].
    n_clips, n_frames : int
        Number of clips, and of frames in each.
    spacing : float, optional
        Of a flat eye [deg].
    random_state : int, Generator, RandomState or None
        Source of attitudes, axes and speeds.

    Yields
    ------
    ndarray, shape (n_frames, n_pixels)
        Luminance, in units of white.
    """
    from scipy.spatial.transform import Rotation

    rng, looking = as_generator(random_state), _Looking(eye, spacing)
    for k in range(n_clips):
        attitude, axis = Rotation.random(rng=rng), rng.standard_normal(3)
        speed = rng.uniform(0.1, 1.0) * np.radians(FASTEST)
        turns = np.arange(n_frames)[:, None] * dt * speed * axis / np.linalg.norm(axis)
        poses = (attitude * Rotation.from_rotvec(turns)).as_matrix()
        yield render(photographed(PHOTOGRAPHS[k % len(PHOTOGRAPHS)]), looking, poses)


class _Looking:
    """An eye by where its pixels look, as the renderer asks."""

    def __init__(self, eye: Eye, spacing: float | None) -> None:
        self.positions, sigma = seen_from(eye, spacing)
        self.shape = (len(self.positions),)
        self.sigma: Any = eye.sigma if eye.positions.shape[1] == 3 else float(sigma[0])

    @property
    def neighbours(self) -> Any:
        """Not needed by the renderer."""
        raise NotImplementedError
