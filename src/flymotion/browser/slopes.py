r"""Velocity from the slopes of a few scales: a small estimator, written twice, here for readers and in the page.

The live page cannot run :class:`flymotion.field.MotionField`, whose kernels are compiled for a processor. This is the
same idea at its smallest, and everything that it does is in this file; ``page/slopes.js`` does the same in the browser,
to 1e-5. How far it is from ``MotionField``: ``docs/live.md``.

On each scale, from the coarsest to the finest, content is carried back by what is known of its velocity so far,
:math:`\theta_0`, and what is left is found in a window by ridge regression,

.. math::
    \min_{\delta, \gamma} \sum_{window} (\Delta x + \delta \cdot \nabla \bar x - \gamma \bar x)^2 + \rho |\delta|^2,
    \qquad \theta = \theta_0 + \delta,

with :math:`\bar x` the mean of both frames, :math:`\Delta x` their difference, and :math:`\gamma` the change of light.
So where there is little contrast the coarser scale is believed, and rest where there is none. Neighbours then agree:
each takes the mean of the nine about it, weighted with confidence.

Vectors are (x right, y down) [pixels per frame].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["CONSTANTS", "slopes_velocity"]

CONSTANTS: dict[str, Any] = {
    "scales": 4,
    "least_side": 8,
    "radius": 3,
    "ridge": 0.01,
    "noise": 1.0,
    "farthest": 1.5,
    "half": 0.5,
}
"""Scales at most; pixels of the shorter side of the coarsest, at least; pixels from a window's middle to its end;
what the ridge is, a pixel of the window, of the mean square slope; noise of a pixel that it is at least [grey levels];
how far a scale may move what the coarser one says [pixels of its own]; the error of a velocity that would leave as much
unexplained as halves confidence [pixels]."""


class _Known(NamedTuple):
    """What a scale says."""

    velocity: np.ndarray
    confidence: np.ndarray


def slopes_velocity(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the velocity of what is at each pixel, and how far to believe it.

    Parameters
    ----------
    before, after : ndarray, shape (height, width)
        Luminance [grey levels].

    Returns
    -------
    velocity : ndarray, shape (2, height, width)
        (x right, y down) [pixels per frame].
    confidence : ndarray, shape (height, width)
        0 to 1: what contrast weighs beside the ridge, along the direction in which the window has least, times how
        well motion explains the change: a half where as much is left as an error of half a pixel leaves.

    Examples
    --------
    >>> frame = 50 * np.add.outer(np.sin(np.arange(40) / 3), np.cos(np.arange(60) / 3))
    >>> velocity, _ = slopes_velocity(frame[:, 1:], frame[:, :-1])
    >>> velocity[:, 20, 30].round(1) + 0.0
    array([1., 0.])
    """
    pairs = [(np.asarray(before, float), np.asarray(after, float))]
    while len(pairs) < CONSTANTS["scales"] and min(pairs[-1][0].shape) >= 2 * CONSTANTS["least_side"]:
        pairs.append((_halved(pairs[-1][0]), _halved(pairs[-1][1])))
    known: _Known | None = None
    for pair in reversed(pairs):
        known = _estimate(pair[0], pair[1], known)
    assert known is not None
    return known


def _halved(frame: np.ndarray) -> np.ndarray:
    frame = frame[: len(frame) // 2 * 2, : frame.shape[1] // 2 * 2]
    return (frame[::2, ::2] + frame[::2, 1::2] + frame[1::2, ::2] + frame[1::2, 1::2]) / 4


def _estimate(before: np.ndarray, after: np.ndarray, coarser: _Known | None) -> _Known:
    v = np.zeros((2, *before.shape)) if coarser is None else 2 * _enlarged(coarser.velocity, before.shape)
    carried, inside = _carried(after, v)
    middle, change = (before + carried) / 2, _across(_across(carried - before).T).T * inside
    x, y = _slope(middle) * inside, _slope(middle.T).T * inside
    ridge = CONSTANTS["ridge"] * float((x * x + y * y).mean()) + CONSTANTS["noise"] ** 2
    delta, confidence = _solved(x, y, change, middle * inside, ridge)
    return _Known(_agreed(v + delta, confidence + 1e-6), confidence)


def _solved(
    x: np.ndarray, y: np.ndarray, change: np.ndarray, middle: np.ndarray, ridge: float
) -> tuple[np.ndarray, np.ndarray]:
    """Solve for what is left of the velocity, window by window; returns it, and confidence."""
    rho, farthest = (2 * CONSTANTS["radius"] + 1) ** 2 * ridge, CONSTANTS["farthest"]
    parts = x, y, change
    with_light = [_window(part * middle) for part in parts]
    light = np.maximum(_window(middle * middle), 1e-9)

    def moment(i: int, j: int) -> np.ndarray:  # less what a change of light explains
        return _window(parts[i] * parts[j]) - with_light[i] * with_light[j] / light

    xx, xy, yy = moment(0, 0), moment(0, 1), moment(1, 1)
    xt, yt, tt = moment(0, 2), moment(1, 2), moment(2, 2)
    determinant = (xx + rho) * (yy + rho) - xy * xy
    dx = np.clip((xy * yt - (yy + rho) * xt) / determinant, -farthest, farthest)
    dy = np.clip((xy * xt - (xx + rho) * yt) / determinant, -farthest, farthest)
    left = np.maximum(tt + 2 * (dx * xt + dy * yt) + dx * dx * xx + 2 * dx * dy * xy + dy * dy * yy, 0)
    least = np.maximum((xx + yy - np.sqrt((xx - yy) ** 2 + 4 * xy * xy)) / 2, 0)
    energy = CONSTANTS["half"] ** 2 * (xx + yy) / 2
    return np.stack([dx, dy]), least / (least + rho) * (energy / (energy + left + 1e-9))


def _enlarged(planes: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Interpolate planes at the pixels of twice the scale, which lie between theirs."""
    for axis, n in ((1, shape[0]), (2, shape[1])):
        m = planes.shape[axis]
        at = np.clip((np.arange(n) - 0.5) / 2, 0, m - 1)
        first = np.minimum(at.astype(int), m - 2)
        share = (at - first).reshape((-1, 1) if axis == 1 else -1)
        planes = (1 - share) * planes.take(first, axis) + share * planes.take(first + 1, axis)
    return planes


def _carried(frame: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a frame at where content went, and 1 where that is inside it, 0 where not."""
    height, width = frame.shape
    y, x = np.mgrid[:height, :width]
    x, y = x + v[0], y + v[1]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    x, y = np.clip(x, 0, width - 1), np.clip(y, 0, height - 1)
    i, j = np.minimum(y.astype(int), height - 2), np.minimum(x.astype(int), width - 2)
    s, t = y - i, x - j
    above = (1 - t) * frame[i, j] + t * frame[i, j + 1]
    below = (1 - t) * frame[i + 1, j] + t * frame[i + 1, j + 1]
    return (1 - s) * above + s * below, inside.astype(float)


def _across(frame: np.ndarray) -> np.ndarray:
    padded = np.pad(frame, ((1, 1), (0, 0)), mode="edge")
    return (3 * padded[:-2] + 10 * padded[1:-1] + 3 * padded[2:]) / 16


def _slope(frame: np.ndarray) -> np.ndarray:
    padded = np.pad(_across(frame), ((0, 0), (1, 1)), mode="edge")
    return (padded[:, 2:] - padded[:, :-2]) / 2


def _window(plane: np.ndarray) -> np.ndarray:
    """Sum over windows, of what lies inside the frame."""
    r = CONSTANTS["radius"]
    for _ in range(2):
        sums = np.cumsum(np.pad(plane, ((r + 1, r), (0, 0))), axis=0)
        plane = (sums[2 * r + 1 :] - sums[: -2 * r - 1]).T
    return plane


def _agreed(v: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the means of the nine about each pixel, weighted."""

    def sums(plane: np.ndarray) -> np.ndarray:
        plane = np.pad(plane, 1)
        plane = plane[:-2] + plane[1:-1] + plane[2:]
        return plane[:, :-2] + plane[:, 1:-1] + plane[:, 2:]

    return np.stack([sums(part * weights) for part in v]) / sums(weights)
