"""Who looks at gratings, how it is read, and the closed form of its oscillation at one position."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.lessons import opposed
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import Detector, hassenstein_reichardt, learned, three_pixel
from flymotion.detectors.temporal import Delay, LowPass, Step, transfer
from flymotion.generators import Generators

__all__ = ["DT", "FILTERS", "NAMES", "READINGS", "TAU", "Config", "Filter", "Looking", "look", "mark"]

TAU = 0.15
"""Delay, and time constant of the low-pass [s]."""

DT = 0.01
"""Time between frames [s]."""


class Filter(NamedTuple):
    """What delays."""

    step: Step
    settle: float
    """When transients have faded [s]."""
    peak: float
    """Temporal frequency of the largest mean output [Hz]."""
    inverse: str
    """What that is the inverse of, in letters."""


FILTERS = {
    "delay": Filter(Delay(TAU), TAU, 1 / (4 * TAU), "(4 tau)"),
    "low-pass": Filter(LowPass(TAU), 10 * TAU, 1 / (2 * math.pi * TAU), "(2 pi tau)"),
}

READINGS = {"patch": "whole patch", "row": "change at the central pixel"}
"""How learned filters are read."""

NAMES = {"three-pixel": "three-pixel detector", "hrd": "HRD"} | {
    world: f"filters learned in {world}, right unit less left unit" for world in WORLDS
}
"""Detectors, and what rows call them: two of the literature, and those learned in each world."""

MARKS = {
    "three-pixel": ("three-pixel", "o", 10),
    "hrd": ("HRD", "x", 9),
    "L1": ("learned in L1", "s", 6),
    "L2": ("learned in L2", "+", 11),
}
"""Labels in figures, markers and their sizes; open ones within each other, for curves that lie on each other."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of the filters learned in each world.
    n, n_pairs : int
        Pixels, and pairs of frames to learn from. The two filters are mirror images but for chance. How far they are
        not moves the best temporal frequency, the more the longer the wavelength. Of the filters of ten seeds some went
        beyond C19's 2 % at 80 and 100 deg, to 2.8 %, with 50,000 pairs and with 150,000.
    wavelength : float
        Of the gratings whose contrast changes, and that oscillations follow [deg]: eight pixels.
    contrasts : tuple of float
        Michelson contrasts.
    half_saturation : float
        Contrast (root mean square) at which the normalised signal is half way to saturation.
    frequencies : tuple of float
        Temporal frequencies of oscillations, periods whole frames [Hz].
    contrast : float
        At which oscillations and velocities are shown.
    wavelengths : tuple of float
        Of the gratings whose velocity changes [deg]: whole pixels.
    speeds : (float, float, int)
        Slowest and fastest velocity of all gratings [deg/s], and how many, evenly spaced in their logarithm.
    """

    n_seeds: int = 10
    n: int = 5
    n_pairs: int = 100_000
    wavelength: float = 40.0
    contrasts: tuple[float, ...] = tuple(2.0**k for k in range(-7, 1))
    half_saturation: float = 0.1
    frequencies: tuple[float, ...] = (0.5, 1.0, 2.0, 2.5)
    contrast: float = 0.5
    wavelengths: tuple[float, ...] = (20.0, 30.0, 40.0, 50.0, 60.0)
    speeds: tuple[float, float, int] = (6.0, 160.0, 24)

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of the gratings, shape (n_speeds,) [deg/s]."""
        return np.geomspace(*self.speeds)


def mark(name: str) -> dict[str, Any]:
    """Return how the points of a detector are drawn."""
    label, marker, size = MARKS[name]
    return {"label": label, "marker": marker, "markersize": size, "markerfacecolor": "none", "linestyle": "none"}


class Looking(NamedTuple):
    """A detector by what delays, how its units are read, and the closed form of its oscillation."""

    make: Callable[[Step], Detector]
    readings: np.ndarray
    """Weights of the units, shape (n_units, n_readings)."""
    expected: Callable[[float, float], np.ndarray]
    """Of temporal frequency [Hz] and phase between neighbours [rad], shape (n_readings,)."""

    def opponent(self, responses: np.ndarray, detector: Detector) -> np.ndarray:
        """Return readings of responses, shape (..., n_readings)."""
        return (responses if detector.directions else responses[..., None]) @ self.readings


LITERATURE = {
    "three-pixel": Looking(three_pixel, np.ones((1, 1)), lambda f, k: np.array([1 / math.cos(math.pi * f * TAU)])),
    "hrd": Looking(hassenstein_reichardt, np.ones((1, 1)), lambda f, k: np.zeros(1)),
}
r"""The three-pixel detector's output is
:math:`2 c^2 \sin k \sin(\omega\tau/2) [\cos(\omega\tau/2) - \cos(2\varphi - \omega\tau/2)]`; the HRD's is flat.
"""


def look(config: Config, name: str, seed: int) -> Looking:
    """Return a detector of the literature by its name, or learn one in the world of that name."""
    if name in LITERATURE:
        return LITERATURE[name]
    world = WORLDS[name]
    whitening, chi = world.lesson(config.n, config.n_pairs, [seed, 17])
    patch = Generators(opposed(chi).filters, (config.n,), whitening.matrix_).in_pixels().operators
    middle = np.arange(config.n) == config.n // 2
    units = np.concatenate([patch, patch * middle[:, None]])
    readings = np.kron(np.eye(2), [[1.0], [-1.0]])  # right less left, of patch and of row
    opponent = np.tensordot(readings.T, units, axes=1)
    share = {"change": 1.0, "midpoint": 0.5}[world.feature]
    make = partial(learned, Generators(units, (config.n,)), feature=world.feature)
    return Looking(make, readings, partial(_learned_oscillation, opponent, share))


def _learned_oscillation(operators: np.ndarray, share: float, frequency: float, k: float) -> np.ndarray:
    r"""Amplitude at 2f over the mean of :math:`(g - f)' A (s f + (1 - s) g)`, by complex amplitudes.

    With :math:`z_j = e^{-ikj}`, :math:`H = e^{-i\omega\tau}` and :math:`S = s H + 1 - s`, it is
    :math:`|(1 - H) S\, z' A z| / \mathrm{Re}[(1 - H) \bar S\, z' A \bar z]`; 0 for an antisymmetric A.
    """
    z = np.exp(-1j * k * np.arange(operators.shape[1]))
    H = transfer((Delay(TAU),), frequency, DT)
    S = share * H + 1 - share
    twice, mean = operators @ z @ z, operators @ z.conj() @ z
    return np.abs((1 - H) * S * twice) / ((1 - H) * S.conj() * mean).real
