r"""How fast planes turn while content moves, and how far it has moved, from how far planes have turned.

A pair of frames, projected on plane k as complex numbers, has turned it by the angle of :math:`z_{t+1,k} z_{tk}^*`, a
number whose size says how much it is worth. Content that moves by s turns it by :math:`\omega_k s`; where what is left
over has the mean square :math:`r_k`, the most likely motion is

.. math:: \hat s = \arg\max_s \sum_k 2 Re(z_{t+1,k} z_{tk}^* e^{-i \omega_k s}) / r_k - \log(1 + s^2)

which slow planes decide coarsely and fast ones finely: so it goes beyond the half turn of the fast ones. With planes of
waves and all r alike, it is the peak of the cross-correlation of both frames; with sizes left out, phase correlation.
What is expected of motion, in units of the mean size of all motion, has a long tail (Cauchy's), so that motions far
beyond those learned from can be told, and frames that say nothing say 0.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["FURTHEST", "fit_rates", "most_likely"]

ROUNDS = 6
"""Of rates by motion, and motion by rates."""

PAIRS, STEPS = 2000, 400
"""Pairs that rates are learned from, evenly among all, and how finely they are looked for, up to half a turn."""

FURTHEST = 200.0
"""Largest motion that is tried unless told otherwise, in units of the mean size of all motion learned from."""

FINE, MOST = 0.5, 2000
"""Steps of motion that are tried: so much of a radian of the fastest plane, up to so many."""

FIRST, CERTAIN = 1e-2, 1e-4
"""Noise of a plane, relative to its mean square: at first, and at least."""

TINY = 1e-300


def most_likely(turns: np.ndarray, rates: np.ndarray, most: float = FURTHEST) -> np.ndarray:
    """Return how far content has moved, shape (n_pairs,): the best of a grid, and Newton's steps from there.

    Parameters
    ----------
    turns : ndarray of complex, shape (n_pairs, n_planes)
        ``z_next conj(z) / noise``.
    rates : ndarray, shape (n_planes,)
        How far each plane turns for a motion of 1 [rad].
    most : float
        Largest motion that is tried.
    """
    speeds = np.abs(rates[rates != 0])
    if not speeds.size:
        return np.zeros(len(turns))
    furthest = min(most, math.pi / speeds.min())
    n_steps = min(MOST, math.ceil(furthest * speeds.max() / FINE))
    grid = furthest * np.arange(-n_steps, n_steps + 1) / n_steps
    back, expected = np.exp(-1j * np.outer(rates, grid)), np.log1p(grid**2) / 2
    parts = np.array_split(turns, max(1, math.ceil(len(turns) * len(grid) / 2**22)))
    s = np.concatenate([grid[((part @ back).real - expected).argmax(axis=1)] for part in parts])
    for _ in range(4):
        left = turns * np.exp(-1j * s[:, None] * rates)
        slope = (left.imag * rates).sum(axis=1) - s / (1 + s**2)
        bend = (left.real * rates**2).sum(axis=1) + 1 / (1 + s**2)
        step = np.divide(slope, bend, out=np.zeros_like(slope), where=bend > TINY)
        s = s + np.clip(step, -furthest / n_steps, furthest / n_steps)
    return s


def fit_rates(
    z: np.ndarray, z_next: np.ndarray, rates: np.ndarray, most: float = FURTHEST
) -> tuple[np.ndarray, np.ndarray]:
    """Learn rates without labels, from those that operators have to first order; their sign may change.

    Parameters
    ----------
    z, z_next : ndarray of complex, shape (n_pairs, n_planes)
        Both frames' projections.
    rates : ndarray, shape (n_planes,)
        To start from, of motion of mean size 1.
    most : float
        Largest motion that is tried.

    Returns
    -------
    rates : ndarray, shape (n_planes,)
        How far each plane turns [rad] while content moves by 1, the mean size of all motion.
    noise : ndarray, shape (n_planes,)
        Mean square of ``z_next - exp(i rate s) z``.
    """
    some = np.linspace(0, len(z) - 1, min(len(z), PAIRS)).astype(int)
    z, z_next = z[some], z_next[some]
    turns = z_next * z.conj()
    power = np.maximum((np.abs(z) ** 2 + np.abs(z_next) ** 2).mean(axis=0) / 2, TINY)
    noise = FIRST * power
    for _ in range(ROUNDS):
        s = most_likely(turns / noise, rates, most)
        size = np.abs(s).mean()
        if size <= TINY:
            break
        s, rates = s / size, rates * size
        rates = _rates_of(turns, s, rates)
        left = (np.abs(z_next - np.exp(1j * np.outer(s, rates)) * z) ** 2).mean(axis=0)
        noise = np.maximum(left, CERTAIN * power)
    return rates, noise


def _rates_of(turns: np.ndarray, s: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return the rates that known motions s, shape (n_pairs,), make most likely: of a grid, and by Newton's steps."""
    grid = np.concatenate([rates, np.linspace(-math.pi, math.pi, STEPS)])
    rates = grid[(turns.T @ np.exp(-1j * np.outer(s, grid))).real.argmax(axis=1)]
    for _ in range(4):
        left = turns * np.exp(-1j * s[:, None] * rates)
        slope, bend = s @ left.imag, s**2 @ left.real
        step = np.divide(slope, bend, out=np.zeros_like(slope), where=bend > TINY)
        rates = rates + np.clip(step, -math.pi / STEPS, math.pi / STEPS)
    return rates
