"""Scenes that move to the right past a line of pixels: profiles of noise and of rows of photographs.

The standard world P: the photographs that a dependency ships, an eye of sigma 0.6 px, shifts up to 0.3 px a frame.
"""

from __future__ import annotations

import numpy as np

from flymotion.claims.worlds import World
from flymotion.learner.sources import BUNDLED, PHOTO_SIGMA, load_photographs
from flymotion.world.eyes import Line
from flymotion.world.rendering import render
from flymotion.world.scenes import FlatScene, photograph

__all__ = ["FINE", "moving", "noise", "photographed_rows", "profile"]

FINE = 20
"""Points of a scene's profile in one pixel; speeds are whole numbers of them a frame."""


def noise(world: World, n: int, n_frames: int, speed: float, rng: np.random.Generator) -> np.ndarray:
    """Return the profile of a scene of a world, long enough to move past n pixels, shape (n_points,)."""
    length = n + round(n_frames * speed) + 1
    return profile(world.scene(rng), length, rng.uniform(0, 1000), world.sigma)


def photographed_rows(n_rows: int, rng: np.random.Generator | None = None) -> np.ndarray:
    """Return profiles of rows of both photographs in turns, luminance over the photograph's mean, (n_rows, n_points).

    Rows are drawn, or without a generator evenly spaced.
    """
    images = [image / image.mean() for image in load_photographs([BUNDLED])]
    last = len(images[0]) - 1
    chosen = np.linspace(0, last, n_rows).round().astype(int) if rng is None else rng.integers(0, last + 1, n_rows)
    rows = [images[k % len(images)][row] for k, row in enumerate(chosen)]
    scenes = [photograph(row, pixels_per_spacing=1.0) for row in rows]
    return np.stack([profile(scene, len(row) - 4, 2.0, PHOTO_SIGMA) for scene, row in zip(scenes, rows, strict=True)])


def profile(scene: FlatScene, n: int, at: float, sigma: float) -> np.ndarray:
    """Render n pixels' width of a scene, from a place on, at every 20th of a pixel, shape (20 n,)."""
    poses = at + (n - 1) / 2 + np.arange(FINE) / FINE
    return render(scene, Line(n, sigma), poses[:, None]).T.ravel()


def moving(profile: np.ndarray, n: int, n_frames: int, speed: float) -> np.ndarray:
    """Move a profile, shape (..., n_points), past n pixels, until it is used up; (..., n_frames or fewer, n).

    Every pixel is at a point of the profile in every frame, so that nothing is interpolated.
    """
    stride = round(speed * FINE)
    n_frames = min(n_frames, (profile.shape[-1] - FINE * n) // stride)
    return profile[..., FINE * np.arange(n) + stride * np.arange(n_frames)[::-1, None]]
