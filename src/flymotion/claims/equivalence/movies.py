"""Scenes that move to the right past a line of pixels, and what is asked of outputs."""

from __future__ import annotations

import numpy as np

from flymotion.claims.worlds import WORLDS
from flymotion.detectors import Detector
from flymotion.detectors.temporal import Delay, LowPass, Step
from flymotion.learner.sources import BUNDLED, load_photographs
from flymotion.world.eyes import Line
from flymotion.world.rendering import render
from flymotion.world.scenes import FlatScene, Grating, photograph

__all__ = [
    "DT",
    "FILTERS",
    "SETTLED",
    "SPEED",
    "START",
    "WAVELENGTH",
    "correlation",
    "grating",
    "moving",
    "noise",
    "period",
    "photographed_rows",
    "relative",
    "respond",
    "ring",
]

DT = 0.01
"""Time between frames [s]."""

FINE = 20
"""Points of a scene's profile in one pixel; speeds are whole numbers of them a frame."""

SETTLED = 600
"""Frames of gratings after which 40 time constants have passed, and no start-up is left."""

START = 100
"""Frames of noise and photographs left out: six time constants or more."""

SPEED = 0.2
"""Of noise and photographs where one speed will do [pixels per frame]: one pixel in the delay."""

WAVELENGTH = 12.0
"""Of the grating where one will do [pixels]."""

FILTERS: dict[str, tuple[Step, float]] = {
    "delay": (Delay(0.05), 5.0),
    "low-pass": (LowPass(0.15), 1 / (2 * np.pi * 0.15)),
}
"""What makes f of g, and the temporal frequency at which a detector with it responds best [Hz]."""


def noise(n: int, n_frames: int, speed: float, rng: np.random.Generator) -> np.ndarray:
    """Return the profile of a scene of L1, long enough to move past n pixels."""
    length = n + round(n_frames * speed) + 1
    return _profile(WORLDS["L1"].scene(rng), length, rng.uniform(0, 1000))


def photographed_rows(n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return profiles of rows of both photographs, contrast relative to the photograph's mean, (n_rows, n_points)."""
    images = load_photographs([BUNDLED])
    contrasts = [image / image.mean() - 1 for image in images]
    drawn = [rng.choice(contrasts[k % len(images)]) for k in range(n_rows)]
    return np.stack([_profile(photograph(row, pixels_per_spacing=1.0), len(row) - 4, 2.0) for row in drawn])


def _profile(scene: FlatScene, n: int, at: float) -> np.ndarray:
    """Render n pixels' width of a scene, from a place on, through L1's optics, at every 20th of a pixel."""
    poses = at + (n - 1) / 2 + np.arange(FINE) / FINE
    return render(scene, Line(n, WORLDS["L1"].sigma), poses[:, None]).T.ravel()


def moving(profile: np.ndarray, n: int, n_frames: int, speed: float) -> np.ndarray:
    """Move a profile, shape (..., n_points), past n pixels, until it is used up; (..., n_frames or fewer, n).

    Every pixel is at a point of the profile in every frame, so that nothing is interpolated.
    """
    stride = round(speed * FINE)
    n_frames = min(n_frames, (profile.shape[-1] - FINE * n) // stride)
    return profile[..., FINE * np.arange(n) + stride * np.arange(n_frames)[::-1, None]]


def grating(wavelength: float, cycle: int, n: int, mean: float = 0.0) -> np.ndarray:
    """Return a grating that moves on by a wavelength in ``cycle`` frames: start-up, and two cycles."""
    poses = -wavelength / cycle * np.arange(SETTLED + 2 * cycle)
    return render(Grating(wavelength, mean=mean), Line(n, WORLDS["L1"].sigma), poses[:, None])


def period(best: float, relative_to_best: float) -> int:
    """Return the frames of a cycle."""
    return round(1 / (DT * best * relative_to_best))


def ring(movie: np.ndarray, n: int) -> np.ndarray:
    """Repeat the first n - 1 pixels after the last, so that a patch of n pixels begins at every pixel."""
    return np.concatenate([movie, movie[..., : n - 1]], axis=-1)


# -- outputs -----------------------------------------------------------------------------------------------------


def respond(detector: Detector, movie: np.ndarray) -> np.ndarray:
    """Respond at every place of a line, shape (..., n_frames, n_places)."""
    return detector(movie, DT, eye=Line(movie.shape[-1]))


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Correlate all entries; 0 where one is constant but for rounding, for then it tells nothing of the other."""
    sizes = np.abs(a).max(), np.abs(b).max()
    a, b = a - a.mean(), b - b.mean()
    norms = np.linalg.norm(a), np.linalg.norm(b)
    flat = any(norm <= 1e-9 * size * np.sqrt(a.size) for norm, size in zip(norms, sizes, strict=True))
    return 0.0 if flat else float((a * b).sum() / (norms[0] * norms[1]))


def relative(error: np.ndarray, scale: np.ndarray) -> float:
    """Return the largest error relative to the largest of what it is an error of."""
    return float(np.abs(error).max() / np.abs(scale).max())
