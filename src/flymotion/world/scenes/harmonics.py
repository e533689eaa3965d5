"""Spherical harmonics along meridians, and how series in them become Fourier series in both angles."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.fft import dct

__all__ = ["HIGHEST", "colatitudes", "damping", "fejer", "legendre", "series_in_colatitude"]

HIGHEST = 1500
"""Degree of a scene; from 1900 Legendre functions underflow on their way to values that matter."""


def damping(degree: int, spread: float) -> np.ndarray:
    """Return exp(-l (l + 1) spread), l = 0, 1, ... degree, shape (degree + 1,)."""
    degrees = np.arange(degree + 1)
    return np.exp(-degrees * (degrees + 1) * spread)


def colatitudes(n: int) -> np.ndarray:
    """Return the middles of n rows from pole to pole [rad], shape (n,)."""
    return (np.arange(n) + 0.5) * math.pi / n


def legendre(theta: np.ndarray, degree: int) -> Iterator[np.ndarray]:
    """Yield the Y_lm(theta, 0) of each degree l = 0, 1, ... for the orders 0 to l, shape (l + 1, n).

    By the three-term recurrence upwards in degree, which is stable.
    """
    x, y = np.cos(theta), np.sin(theta)
    before, now = np.zeros((0, len(theta))), np.full((1, len(theta)), 1 / math.sqrt(4 * math.pi))
    yield now
    for n in range(1, degree + 1):
        m = np.arange(n)[:, None]
        a = np.sqrt((4 * n**2 - 1) / (n**2 - m**2))
        b = np.sqrt(((n - 1) ** 2 - m**2) / (4 * (n - 1) ** 2 - 1))
        after = np.empty((n + 1, len(theta)))
        after[:n] = a * x * now
        after[: n - 1] -= (a * b)[:-1] * before
        after[n] = -math.sqrt(1 + 1 / (2 * n)) * y * now[-1]
        before, now = now, after
        yield now


def series_in_colatitude(F: np.ndarray) -> np.ndarray:
    """Return the modes -(n - 1) to n - 1 in theta of parts by order F, shape (n_orders, 2 * n - 1).

    Parameters
    ----------
    F : ndarray of complex, shape (n_orders, n)
        At ``colatitudes(n)``.
    """
    n_orders, n = F.shape
    whole = np.concatenate([F, (-1.0) ** np.arange(n_orders)[:, None] * F[:, ::-1]], axis=1)
    modes = np.fft.fftshift(np.fft.fft(whole, norm="forward"), axes=1)[:, 1:]  # without the Nyquist mode
    return modes * np.exp(-0.5j * math.pi * np.arange(-n + 1, n) / n)


def fejer(n: int) -> np.ndarray:
    """Return weights, shape (n,), of the integral over sin(theta) d theta.

    Exact for cosines up to n - 1, whose integrals these are.
    """
    k = np.arange(0, n, 2)
    integrals = np.zeros(n)
    integrals[k] = 2 / (1 - k**2)
    return dct(integrals, type=3) / n
