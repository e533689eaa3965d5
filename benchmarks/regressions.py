"""Regressions of what changes between two frames on what they look like, hand-wired or learned, in numpy.

The velocity of :mod:`flymotion.field`, for any detectors, at the finest scale of a pair that coarser ones carried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from cameras import Frames, Known
from scipy.fft import irfft2, next_fast_len, rfft2
from scipy.ndimage import correlate1d, gaussian_filter, map_coordinates, uniform_filter

Forms = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Of a mean of two frames, and changes, shape (n, height, width): at each pixel the products xx, xy, yy of the slopes,
and xt, yt with each change; shape (3 + 2 n, height, width)."""

MARGIN = 8
"""Pixels at the border that are left out of errors."""

RIDGES = ("plain", "noise")
"""The ridge that MotionField had when this was written, or one in units of the noise."""

RIDGE = 0.01
"""Of the plain regression, relative to the power of the slopes."""

LEAST, SHARE = 0.06, 0.25
"""How far a pixel's velocity is from the coarser scale's, a priori: at least so much [pixels], and that share of it."""

BLUR = 0.7
"""Optics that video is learned through [pixels]."""


# -- what is regressed on ----------------------------------------------------------------------------------------------

ACROSS = np.array([3, 10, 3]) / 16
SLOPE = np.array([-1, 0, 1]) / 2


def separable(frame: np.ndarray, along_x: np.ndarray, along_y: np.ndarray) -> np.ndarray:
    return correlate1d(correlate1d(frame, along_x, axis=1, mode="nearest"), along_y, axis=0, mode="nearest")


def products(g: np.ndarray, h: np.ndarray, changes: Iterable[np.ndarray]) -> np.ndarray:
    return np.stack([g * g, g * h, h * h, *(slope * dt for dt in changes for slope in (g, h))])


def by_taps(slope: np.ndarray = SLOPE, across: np.ndarray = ACROSS, change: np.ndarray = ACROSS) -> Forms:
    """Regress the smoothed change on separable slopes; by default MotionField's."""

    def forms(mean: np.ndarray, changes: np.ndarray) -> np.ndarray:
        g, h = -separable(mean, slope, across), -separable(mean, across, slope)  # of content
        return products(g, h, [separable(dt, change, change) for dt in changes])

    return forms


def prefiltered(smooth: Callable[[np.ndarray], np.ndarray]) -> Forms:
    """Regress as hand-wired, on frames that went through a filter."""
    inner = by_taps()
    return lambda mean, changes: inner(smooth(mean), np.stack([smooth(dt) for dt in changes]))


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
            spectra[size] = [rfft2(k[::-1, ::-1].astype(np.float32), size) for k in kernels]
        seen = rfft2(padded.astype(np.float32), size)
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

    def forms(mean: np.ndarray, changes: np.ndarray) -> np.ndarray:
        mean, *changes = (gaussian_filter(frame, blur, truncate=3.0) for frame in (mean, *changes))
        slopes = [correlated(mean, slice(n, 2 * n)), correlated(mean, slice(2 * n, None))]
        rows = zip(*slopes, *(correlated(dt, slice(n)) for dt in changes), strict=True)
        found: Any = 0.0
        for g, h, *dts in rows:
            found = found + products(g, h, dts)
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

    def forms(mean: np.ndarray, changes: np.ndarray) -> np.ndarray:
        g, h = (gain * s for s in slopes(mean))
        return products(g, h, [smoothed(dt) for dt in changes])

    return forms


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
    sums = windowed(forms(seen.mean, np.stack([seen.change, seen.noise])), radius)
    power = (sums[0] + sums[2]).mean()
    if ridge == "plain":
        ridges: Any = RIDGE * power / 2
    else:
        noise = (sums[5:] ** 2).sum(axis=0).mean() / power
        ridges = RIDGE / 10 * power / 2 + noise / (LEAST**2 + SHARE**2 * (seen.carried_by**2).sum(axis=0))
    a, b, c, p, q = sums[0] + ridges, sums[1], sums[2] + ridges, *sums[3:5]
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
