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
from typing import Any, NamedTuple

import numpy as np
from cameras import CAMERAS, PHOTOGRAPHS, SIZE, Camera, Frames, Known, known, video
from scipy.fft import irfft2, next_fast_len, rfft2
from scipy.ndimage import correlate1d, gaussian_filter, map_coordinates, uniform_filter

Row = dict[str, Any]
Forms = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Of the mean of two frames and their change, at each pixel: products xx, xy, yy of the slopes, and xt, yt."""

MARGIN = 8
"""Pixels at the border that are left out of errors."""

SPEEDS = (0.1, 0.3, 1.0)
"""Root mean square speeds of the fields of motion [pixels per frame]."""

WIDTHS = (0.0, 0.5, 0.7, 1.0, 1.4, 2.0)
"""Of the Gaussian prefilters to choose from [pixels]."""

RIDGE = 0.01
"""Of the plain regression, relative to the power of the slopes."""

LEAST, SHARE = 0.06, 0.25
"""How far a pixel's velocity is from the coarser scale's, a priori: at least so much [pixels], and that share of it."""

RIDGES = ("plain", "noise")
"""The ridge that MotionField had when this was written, or one in units of the noise."""

BLUR = 0.7
"""Optics that video is learned through [pixels]."""


def row(name: str, ours: float | None, peer: float | None, note: str) -> Row:
    return sys.modules["__main__"].row(f"learned-velocity.{name}", ours, peer, "px", note)  # run.py, which imports us


# -- regressions -------------------------------------------------------------------------------------------------------

ACROSS = np.array([3, 10, 3]) / 16
SLOPE = np.array([-1, 0, 1]) / 2


def separable(frame: np.ndarray, along_x: np.ndarray, along_y: np.ndarray) -> np.ndarray:
    return correlate1d(correlate1d(frame, along_x, axis=1, mode="nearest"), along_y, axis=0, mode="nearest")


def by_taps(slope: np.ndarray = SLOPE, across: np.ndarray = ACROSS, change: np.ndarray = ACROSS) -> Forms:
    """Regress the smoothed change on separable slopes; by default MotionField's."""

    def forms(mean: np.ndarray, dt: np.ndarray) -> np.ndarray:
        g, h = separable(mean, slope, across), separable(mean, across, slope)
        dt = separable(dt, change, change)
        return np.stack([g * g, g * h, h * h, -g * dt, -h * dt])

    return forms


def prefiltered(smooth: Callable[[np.ndarray], np.ndarray]) -> Forms:
    """Regress as hand-wired, on frames that went through a filter."""
    inner = by_taps()
    return lambda mean, dt: inner(smooth(mean), smooth(dt))


def gaussian(width: float) -> Forms:
    return prefiltered(lambda frame: gaussian_filter(frame, width, truncate=4.0))


def convolver(kernels: np.ndarray) -> Callable[[np.ndarray, slice], Iterator[np.ndarray]]:
    """Return what correlates a frame with some of the kernels, shape (n, side, side), odd."""
    side = kernels.shape[1]
    spectra: dict[tuple[int, ...], Any] = {}

    def correlated(frame: np.ndarray, which: slice) -> Iterator[np.ndarray]:
        padded = np.pad(frame, side // 2, mode="edge")
        size = tuple(next_fast_len(n + side - 1) for n in padded.shape)
        if size not in spectra:
            spectra[size] = [rfft2(k[::-1, ::-1], size) for k in kernels]
        seen = rfft2(padded, size)
        for spectrum in spectra[size][which]:
            yield irfft2(seen * spectrum, size)[side - 1 :, side - 1 :][: frame.shape[0], : frame.shape[1]]

    return correlated


def by_operators(Z: np.ndarray, axes: np.ndarray, blur: float) -> Forms:
    """Regress the whitened change of the patch about each pixel on the operators: MotionLearner.predict, everywhere.

    The forms are those of the learned detectors: xt and yt are their responses, and the others normalise them.
    """
    n = len(Z)
    side = round(n**0.5)
    correlated = convolver(np.concatenate([Z, axes[0] @ Z, axes[1] @ Z]).reshape(-1, side, side))

    def forms(mean: np.ndarray, dt: np.ndarray) -> np.ndarray:
        mean, dt = (gaussian_filter(frame, blur, truncate=3.0) for frame in (mean, dt))
        found = np.zeros((5, *mean.shape))
        parts = (correlated(mean, slice(n, 2 * n)), correlated(mean, slice(2 * n, None)), correlated(dt, slice(n)))
        for g, h, c in zip(*parts, strict=True):
            found += np.stack([g * g, g * h, h * h, g * c, h * c])
        return found

    return forms


def by_kernels(kernels: np.ndarray, blur: float, frames: Frames) -> Forms:
    """Regress the change on the slopes that learned operators amount to when summed over a window."""
    correlated = convolver(kernels)

    def slopes(frame: np.ndarray) -> list[np.ndarray]:
        return list(correlated(gaussian_filter(frame, blur, truncate=3.0), slice(None)))

    def smoothed(frame: np.ndarray) -> np.ndarray:
        return gaussian_filter(frame, blur, truncate=3.0)

    inside, along, power = np.s_[..., 16:-16, 16:-16], 0.0, 0.0
    for first, second in zip(frames[:-1:9].astype(float), frames[1::9].astype(float), strict=False):
        own, plain = slopes(first), [smoothed(separable(second, a, b)) for a, b in ((SLOPE, [1]), ([1], SLOPE))]
        along -= float((np.stack(own) * plain)[inside].sum())  # of two frames, so that noise is not in it
        power += float((np.stack(slopes((first + second) / 2)) ** 2)[inside].sum())
    gain = along / power

    def forms(mean: np.ndarray, dt: np.ndarray) -> np.ndarray:
        g, h = (gain * s for s in slopes(mean))
        dt = smoothed(dt)
        return np.stack([g * g, g * h, h * h, g * dt, h * dt])

    return forms


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
    of the kernel and twice that of the optics. 0 where the kernel sharpens.
    """
    far = np.arange(kernels.shape[1]) - kernels.shape[1] // 2
    across = kernels[0] @ far
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


# -- velocity ----------------------------------------------------------------------------------------------------------


def halved(frame: np.ndarray) -> np.ndarray:
    height, width = frame.shape
    return frame[: height // 2 * 2, : width // 2 * 2].reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))


def doubled(coarse: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    for axis, n in ((1, shape[0]), (2, shape[1])):
        i = np.arange(n)
        near = np.minimum(i // 2, coarse.shape[axis] - 1)
        far = np.clip(i // 2 + 2 * (i % 2) - 1, 0, coarse.shape[axis] - 1)
        coarse = 0.75 * np.take(coarse, near, axis) + 0.25 * np.take(coarse, far, axis)
    return 2 * coarse


def carried(frame: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    y, x = np.mgrid[: frame.shape[0], : frame.shape[1]]
    return map_coordinates(frame, [y + velocity[1], x + velocity[0]], order=3, mode="nearest")


def windowed(forms: np.ndarray, radius: int) -> np.ndarray:
    return np.stack([uniform_filter(form, 2 * radius + 1, mode="constant") for form in forms]) * (2 * radius + 1) ** 2


class Seen(NamedTuple):
    """One scale of a pair as carried: mean, change, the change that is noise, and how it was carried."""

    mean: np.ndarray
    change: np.ndarray
    noise: np.ndarray
    carried_by: np.ndarray


def solved(seen: Seen, forms: Forms, radius: int, ridge: str) -> np.ndarray:
    """Return the velocity of one scale: what carried it, and the regression on what is left."""
    sums = windowed(forms(seen.mean, seen.change), radius)
    power = (sums[0] + sums[2]).mean()
    if ridge == "plain":
        ridges: Any = RIDGE * power / 2
    else:
        noise = (windowed(forms(seen.mean, seen.noise)[3:], radius) ** 2).sum(axis=0).mean() / power
        ridges = RIDGE / 10 * power / 2 + noise / (LEAST**2 + SHARE**2 * (seen.carried_by**2).sum(axis=0))
    a, b, c, p, q = sums[0] + ridges, sums[1], sums[2] + ridges, sums[3], sums[4]
    return seen.carried_by + np.stack([c * p - b * q, a * q - b * p]) / np.maximum(a * c - b * b, 1e-30)


def finest(pair: Known, ridge: str) -> Seen:
    """Carry a pair by what its coarser scales say, hand-wired."""
    scales = [np.stack([pair.before, pair.after, *pair.noise])]
    while len(scales) < 5:
        scales.append(np.stack([halved(frame) for frame in scales[-1]]))
    velocity = np.zeros((2, *scales[-1].shape[1:]))
    for i, (before, after, *noise) in reversed([*enumerate(scales)]):
        if i < len(scales) - 1:
            velocity = doubled(velocity, before.shape)
        before, after = carried(before, -velocity / 2), carried(after, velocity / 2)
        seen = Seen((before + after) / 2, after - before, noise[1] - noise[0], velocity)
        if i:
            velocity = solved(seen, by_taps(), 5, ridge)
    return seen


def error(velocity: np.ndarray, truth: np.ndarray) -> float:
    inside = np.s_[MARGIN:-MARGIN, MARGIN:-MARGIN]
    return float(np.hypot(*(velocity - truth))[inside].mean())


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
    options = {"maxfev": 150, "initial_simplex": simplex, "xatol": 1e-2, "fatol": 1e-4}
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
        "taps-told": (fitted(ready, 7), 7),
    }


@cache
def from_photographs() -> Any:
    return learned("bundled", 5, 0)


def learned_velocity() -> Iterator[Row]:
    """Yield the mean error of each method for each camera, speed and ridge, over both ways round of two photographs."""
    for name, camera in CAMERAS.items():
        found: dict[str, list[float]] = {}
        for what, value in measured(camera):
            found.setdefault(what, []).append(value)
        for what, values in found.items():
            against = ".".join([*what.split(".")[:-1], "hand-15"])
            note = f"{name}, speed, ridge, method; against hand-wired slopes, window of 15 pixels, of the same ridge"
            yield row(f"{name}.{what}", float(np.mean(values)), float(np.mean(found[against])), note)


def measured(camera: Camera) -> Iterator[tuple[str, float]]:
    from flymotion.field import MotionField

    field = MotionField(outputs=("velocity",))
    for seed, (seen_before, tested) in enumerate((PHOTOGRAPHS, PHOTOGRAPHS[::-1])):
        ways = methods(camera, seen_before, seed)
        for speed in SPEEDS:
            pair = known(camera, tested, speed, seed)
            for ridge in RIDGES:
                seen = finest(pair, ridge)
                for method, (forms, radius) in ways.items():
                    found = solved(seen, forms, radius, ridge)
                    yield f"{speed:g} px.{ridge}.{method}", error(found, pair.truth)
            whole = field.between(pair.before.astype(np.uint8), pair.after.astype(np.uint8)).velocity
            yield f"{speed:g} px.plain.MotionField", error(whole, pair.truth)
