r"""How the whole frame moves: translation, rotation and looming, from a field of velocities.

The flow of a scene that shifts, turns and grows about the frame's centre is a similarity,

.. math:: v_x = t_x + \omega y + e x, \qquad v_y = t_y - \omega x + e y,

with positions (x right, y down) from the centre [pixels], the translation t of the centre, the rotation :math:`\omega`
(positive = counter-clockwise as seen) and the rate of expansion e (positive = looming, as when approaching). It is
fitted by least squares, each velocity weighted with the square of its confidence, and fitted again with less weight on
what does not fit, so that a smaller thing with a motion of its own has no say.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

__all__ = ["UNKNOWN", "GlobalMotion", "global_motion"]

N_SAMPLES = 1500
"""About as many pixels of a frame are looked at: velocities are those of windows, alike from one pixel to the next."""

N_TURNS = 6
"""Times that the fit is repeated."""

TOLERANCE = 2.0
"""Size of a residual, relative to the median one, at which a velocity has a quarter of its weight."""

ROUNDING = 1e-4
"""Residual that is nothing [pixels per frame]."""

LEAST_SUPPORT = 0.002
"""Share of the frame below which there is no answer."""

LEAST_SPREAD = 0.05
"""Spread of what supports the answer, relative to half the frame's diagonal, below which only translation is told."""


class GlobalMotion(NamedTuple):
    """Motion of the frame as a whole; NaN where the frame does not tell.

    Attributes
    ----------
    x, y : float
        Translation of the frame's centre (right, down) [pixels per frame].
    rotation : float
        Positive = counter-clockwise as seen [deg per frame].
    looming : float
        Rate of expansion, positive = approaching [1 per frame].
    support : float
        Share of the frame that has texture and moves so: the mean of confidence squared times agreement, 0 to 1.
    """

    x: float
    y: float
    rotation: float
    looming: float
    support: float


UNKNOWN = GlobalMotion(math.nan, math.nan, math.nan, math.nan, 0.0)
"""What a frame without texture tells."""


def global_motion(velocity: np.ndarray, confidence: np.ndarray) -> GlobalMotion:
    """Fit the motion of the whole frame.

    Parameters
    ----------
    velocity : ndarray, shape (2, height, width)
        (x right, y down) [pixels per frame]: :attr:`flymotion.field.Field.velocity`.
    confidence : ndarray, shape (height, width)
        0 to 1: :attr:`flymotion.field.Field.confidence`.

    Returns
    -------
    GlobalMotion

    Examples
    --------
    >>> y, x = np.mgrid[-50:51, -80:81] / 100
    >>> motion = global_motion(np.stack([1 + y, -x]), np.ones(x.shape))
    >>> round(motion.x, 3), round(motion.y, 3), round(motion.rotation, 3), round(motion.looming, 3)
    (1.0, 0.0, 0.573, 0.0)
    """
    z, v, weights = _samples(velocity, confidence)
    n = len(weights)
    seen = weights > 0
    z, v, weights = z[seen], v[seen], weights[seen]
    if weights.sum() < LEAST_SUPPORT * n:
        return UNKNOWN
    firm = weights >= weights.mean()
    turn, shift = 0j, complex(_median(v.real[firm]), _median(v.imag[firm]))
    for _ in range(N_TURNS):
        residuals = np.abs(v - shift - turn * z)
        scale = TOLERANCE * _median(residuals[firm]) + ROUNDING
        agreeing = weights / (1 + (residuals / scale) ** 2) ** 2
        turn, shift, spread = _fit(z, v, agreeing)
    if agreeing.sum() < LEAST_SUPPORT * n:
        return UNKNOWN
    if spread < LEAST_SPREAD * math.hypot(*confidence.shape) / 2:
        turn = complex(math.nan, math.nan)
        shift = agreeing @ v / agreeing.sum()
    rotation = -math.degrees(turn.imag)
    return GlobalMotion(*map(float, (shift.real, shift.imag, rotation, turn.real, agreeing.sum() / n)))


def _samples(velocity: np.ndarray, confidence: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return places and velocities of some pixels, as complex numbers x + iy, and their weights."""
    height, width = confidence.shape
    step = max(1, round(math.sqrt(confidence.size / N_SAMPLES)))
    at = np.s_[step // 2 :: step, step // 2 :: step]
    rows, columns = (np.arange(step // 2, side, step) - (side - 1) / 2 for side in (height, width))
    v = velocity[0][at] + 1j * velocity[1][at].astype(float)
    return (columns + 1j * rows[:, None]).ravel(), v.ravel(), confidence[at].astype(float).ravel() ** 2


def _median(values: np.ndarray) -> float:
    middle = len(values) // 2
    return float(np.partition(values, middle)[middle])


def _fit(z: np.ndarray, v: np.ndarray, weights: np.ndarray) -> tuple[complex, complex, float]:
    """Return a and b of the least squares of ``v - a z - b``, and the spread of the places."""
    total = weights.sum()
    z_mean, v_mean = weights @ z / total, weights @ v / total
    away = z - z_mean
    power = weights @ (away.real**2 + away.imag**2)
    turn = weights @ (away.conj() * (v - v_mean)) / max(power, 1e-300)
    return turn, v_mean - turn * z_mean, math.sqrt(power / total)
