"""Gratings that move to the right past a line of pixels, filters, and what is asked of outputs."""

from __future__ import annotations

import numpy as np

from flymotion.claims.worlds import WORLDS
from flymotion.detectors import Detector
from flymotion.detectors.temporal import Delay, LowPass, Step, filtered, start
from flymotion.world.eyes import Line
from flymotion.world.rendering import render
from flymotion.world.scenes import Grating

__all__ = [
    "DT",
    "FILTERS",
    "SETTLED",
    "SPEED",
    "START",
    "WAVELENGTH",
    "correlation",
    "delayed",
    "grating",
    "period",
    "relative",
    "respond",
    "ring",
]

DT = 0.01
"""Time between frames [s]."""

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


def grating(wavelength: float, cycle: int, n: int, mean: float = 0.0) -> np.ndarray:
    """Return a grating that moves on by a wavelength in ``cycle`` frames: start-up, and two cycles."""
    poses = -wavelength / cycle * np.arange(SETTLED + 2 * cycle)
    return render(Grating(wavelength, mean=mean), Line(n, WORLDS["L1"].sigma), poses[:, None])


def period(best: float, relative_to_best: float) -> int:
    """Return the frames of a cycle."""
    return round(1 / (DT * best * relative_to_best))


def delayed(movie: np.ndarray, step: Step) -> np.ndarray:
    """Return what a step makes of a movie, shape (..., n_frames, n), which stood still before."""
    state, _ = start(step, movie[..., 0, :], DT)
    return filtered(step, movie, state, DT)[0]


def ring(movie: np.ndarray, n: int) -> np.ndarray:
    """Repeat the first n - 1 pixels after the last, so that a patch of n pixels begins at every pixel."""
    return np.concatenate([movie, movie[..., : n - 1]], axis=-1)


# -- outputs -----------------------------------------------------------------------------------------------------


def respond(detector: Detector, movie: np.ndarray) -> np.ndarray:
    """Respond at every place of a line, shape (..., n_frames, n_places)."""
    return detector(movie, DT, eye=Line(movie.shape[-1]))


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Correlate all entries, products of contrasts of order 1.

    0 where one is constant but for rounding, for then it tells nothing of the other.
    """
    sizes = np.abs(a).max(), np.abs(b).max()
    a, b = a - a.mean(), b - b.mean()
    norms = np.linalg.norm(a), np.linalg.norm(b)
    flat = any(norm <= 1e-9 * max(size, 1.0) * np.sqrt(a.size) for norm, size in zip(norms, sizes, strict=True))
    return 0.0 if flat else float((a * b).sum() / (norms[0] * norms[1]))


def relative(error: np.ndarray, scale: np.ndarray) -> float:
    """Return the largest error relative to the largest of what it is an error of."""
    return float(np.abs(error).max() / np.abs(scale).max())
