"""Does a model that was learned from a camera's own video give a better velocity than hand-wired slopes?

A camera's video of one photograph is learned from; pairs of another photograph, that moves by known smooth fields, are
measured. All methods see the same frames, carried half way by the same coarser scales (hand-wired), and differ in what
they regress on at the finest scale; all are told the camera's noise. See docs/learned-velocity.md, which

    python benchmarks/run.py learned-velocity --json learned.json
    python benchmarks/learned_velocity_report.py learned.json docs

fills in.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from cameras import CAMERAS, PHOTOGRAPHS, SIZE, Camera, Frames, Known, known, video
from regressions import (
    ACROSS,
    BLUR,
    RIDGES,
    Forms,
    Seen,
    by_kernels,
    by_operators,
    by_taps,
    carried,
    convolver,
    error,
    finest,
    gaussian,
    prefiltered,
    solved,
)

Row = dict[str, Any]

SPEEDS = (0.1, 0.3, 1.0)
"""Root mean square speeds of the fields of motion [pixels per frame]."""

WIDTHS = (0.0, 0.5, 0.7, 1.0, 1.4, 2.0)
"""Of the Gaussian prefilters to choose from [pixels]."""

HAND = "hand-15"
"""The method that others are held against."""


def row(name: str, ours: float | None, peer: float | None, note: str) -> Row:
    return sys.modules["__main__"].row(f"learned-velocity.{name}", ours, peer, "px", note)  # run.py, which imports us


# -- what is learned, and what is not ----------------------------------------------------------------------------------


def learned(source: Any, patch: int, seed: int) -> Any:
    from flymotion import learn

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # doubts are measured here
        return learn(source, patch=patch, seed=seed)


def operators(learner: Any, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the whitening, and operators for x and y that give known shifts of the learner's own frames."""
    from flymotion.learner.probing import probes

    state = learner._state
    shown = probes(state.seen, state.vision.patch_shape, state.seed)
    normal, target = state._regression(axes, shown, len(shown))
    theta = np.linalg.pinv(normal.mean(axis=0)) @ target.T @ np.linalg.pinv(shown.motion).T
    return learner.whitening_.matrix_.astype(float), np.tensordot(theta.T, axes, 1)


def learned_axes(learner: Any) -> np.ndarray:
    return learner._state._axes(learner._state.meaning.probe.ways)


def derivatives(learner: Any) -> np.ndarray:
    """Return the central differences, as whitened frames see them: the early vision of what was learned, alone."""
    from flymotion.generators import derivative_operator

    Z = learner.whitening_.matrix_.astype(float)
    side = round(len(Z) ** 0.5)
    found = np.stack([Z @ derivative_operator((side, side), a) @ np.linalg.pinv(Z, rcond=1e-3) for a in (0.0, -90.0)])
    return found / np.linalg.norm(found, axis=(1, 2), keepdims=True)


def slope_kernels(learner: Any) -> np.ndarray:
    """Return the Toeplitz part of the learned detectors in pixels, for x and y: what sums over windows leave of them.

    The sum of dx' A x over the windows about all pixels is that of the change times these correlated with the frame.
    """
    filters = learner.generators_.in_pixels()
    side = filters.shape[0]
    unit = filters.operators / np.linalg.norm(filters.operators, axis=(1, 2), keepdims=True)
    axes = np.tensordot(np.nan_to_num(learner._state.meaning.probe.ways).T, unit, 1)
    y, x = np.divmod(np.arange(side**2), side)
    kernels = np.zeros((2, 2 * side - 1, 2 * side - 1))
    for kernel, A in zip(kernels, axes, strict=True):
        np.add.at(kernel, (y - y[:, None] + side - 1, x - x[:, None] + side - 1), A)
    return kernels


def width_of(kernels: np.ndarray) -> float:
    """Return the width of the Gaussian that makes hand-wired slopes as wide, across, as learned ones [pixels].

    Variances add up: those of the slope and of the change, each hand-wired, and twice the prefilter's, are to be that
    of the kernel, sizes of whose taps count, and twice that of the optics.
    """
    far = np.arange(kernels.shape[1]) - kernels.shape[1] // 2
    across = np.abs(kernels[0] @ far)
    learned = (across * far**2).sum() / across.sum() + 2 * BLUR**2
    return float(np.sqrt(max((learned - 4 * ACROSS[0]) / 2, 0.0)))


def wiener(frames: Frames, noise: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the filter S / (S + N / 2) by the spectrum of a video, less its noise of that variance."""
    side = 32
    window = np.outer(np.hanning(side), np.hanning(side))
    height, width = (n // side * side for n in SIZE)
    blocks = frames[::4, :height, :width].astype(float).reshape(-1, height // side, side, width // side, side)
    blocks = blocks - blocks.mean(axis=(2, 4), keepdims=True)
    spectrum = (np.abs(np.fft.fft2(blocks * window[:, None, :], axes=(2, 4))) ** 2).mean(axis=(0, 1, 3))
    N = noise * (window**2).sum()
    S = np.maximum(spectrum - N, 0.0)
    W = S / (S + N / 2 + 1e-9)
    W[0, 0] = 1.0
    kernel = np.fft.fftshift(np.fft.ifft2(W).real)[8:-7, 8:-7]
    correlated = convolver((kernel / kernel.sum())[None])
    return lambda frame: next(correlated(frame, slice(None)))


# -- rows --------------------------------------------------------------------------------------------------------------


def fitted(shown: Sequence[tuple[Known, Seen]], radius: int) -> Forms:
    """Return the separable taps of least error where the motion is known: more than any learner is told."""
    from scipy.optimize import minimize

    def taps(p: np.ndarray) -> Forms:
        across, change = (np.array([b, a, 1 - 2 * (a + b), a, b]) for a, b in (p[:2], p[2:4]))
        slope = np.array([-p[5], -p[4], p[4] + 2 * p[5] - 0.5, 0, 0.5 - p[4] - 2 * p[5], p[4], p[5]])
        slope[[0, 1, 2]] = -slope[[6, 5, 4]]
        return by_taps(slope, across, p[6] ** 0.5 * change)

    def cost(p: np.ndarray) -> float:
        return sum(error(solved(seen, taps(p), radius, "noise"), pair.truth) for pair, seen in shown)

    start = np.array([ACROSS[0], 0, ACROSS[0], 0, 0, 0, 1.0])
    simplex = np.vstack([start, start + np.diag([0.1, 0.05, 0.1, 0.05, 0.1, 0.05, -0.2])])
    options = {"maxfev": 90, "initial_simplex": simplex, "xatol": 1e-2, "fatol": 1e-4}
    return taps(minimize(cost, start, method="Nelder-Mead", options=options).x)


def methods(camera: Camera, photograph: str, seed: int) -> dict[str, tuple[Forms, int]]:
    """Return what to regress on and the window's radius by name, of a camera that looked at a photograph.

    All windows are of 15 pixels in all, but for two of the hand-wired ones.
    """
    frames = video(camera, photograph, seed)
    shown = [known(camera, photograph, speed, seed + 100) for speed in SPEEDS]
    ready = [(pair, finest(pair, "noise")) for pair in shown]

    def told(width: float) -> float:
        return sum(error(solved(seen, gaussian(width), 7, "noise"), pair.truth) for pair, seen in ready)

    small, large, bundled = learned(frames, 5, seed), learned(frames, 9, seed), from_photographs()
    kernels = slope_kernels(small)
    noise = float(np.mean([pair.noise.var() for pair in shown]))
    return {
        "hand-11": (by_taps(), 5),
        "hand-13": (by_taps(), 6),
        "hand-15": (by_taps(), 7),
        "learned-5": (by_operators(*operators(small, learned_axes(small)), BLUR), 5),
        "learned-9": (by_operators(*operators(large, learned_axes(large)), BLUR), 3),
        "learned-slopes": (by_kernels(kernels, BLUR, frames), 7),
        "vision-alone": (by_operators(*operators(small, derivatives(small)), BLUR), 5),
        "bundled-5": (by_operators(*operators(bundled, learned_axes(bundled)), 0.0), 5),
        "gaussian-told": (gaussian(min(WIDTHS, key=told)), 7),
        "gaussian-as-wide": (gaussian(width_of(kernels)), 7),
        "wiener": (prefiltered(wiener(frames, noise)), 7),
        "taps-told": (fitted(ready[1:], 7), 7),
    }


@cache
def from_photographs() -> Any:
    return learned("bundled", 5, 0)


def learned_velocity() -> Iterator[Row]:
    """Yield the mean error of each method for each camera, speed and ridge, over both ways round of two photographs."""
    for name, camera in CAMERAS.items():
        ways_round = [dict(measured(camera, seed)) for seed in range(2)]
        for what in ways_round[0]:
            against = ".".join([*what.split(".")[:-1], HAND])
            ours, peer = (float(np.mean([found[key] for found in ways_round])) for key in (what, against))
            note = f"{name}, speed, ridge, method; against hand-wired slopes, window of 15 pixels, of the same ridge"
            yield row(f"{name}.{what}", ours, peer, note)


def measured(camera: Camera, seed: int) -> Iterator[tuple[str, float]]:
    """Yield the error of each speed, ridge and method; odd seeds learn from the second photograph."""
    from flymotion.field import MotionField

    field = MotionField(speed="accurate", outputs=("velocity",))
    seen_before, tested = PHOTOGRAPHS[:: -1 if seed % 2 else 1]
    ways = methods(camera, seen_before, seed)
    for speed in SPEEDS:
        pair = known(camera, tested, speed, seed)
        for ridge in RIDGES:
            seen = finest(pair, ridge)
            for method, (forms, radius) in ways.items():
                found = solved(seen, forms, radius, ridge)
                yield f"{speed:g} px.{ridge}.{method}", error(found, pair.truth)
        whole = field.between(pair.before.astype(np.uint8), pair.after.astype(np.uint8)).velocity
        start = np.stack([carried(component, pair.truth / 2) for component in pair.truth])
        yield f"{speed:g} px.noise.MotionField", error(whole, start)  # of what is at a pixel before, not half way
