"""Who looks at gratings and photographs, and how it is read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.beside import Null
from flymotion.claims.nulls import NULLS
from flymotion.claims.opponents import opponents
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import Detector, hassenstein_reichardt, learned, three_pixel
from flymotion.detectors.temporal import Delay, LowPass, Step
from flymotion.generators import Generators

__all__ = ["DT", "FILTERS", "NAMES", "READINGS", "TAU", "Config", "Filter", "Looking", "look", "mark", "nulls_of"]

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
"""How learned filters are read; their nulls as a whole patch."""

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
        Michelson contrasts of gratings; of photographs, relative to their own.
    n_places, n_frames : int
        Places of each of 64 rows of photographs that are shown, and frames of each.
    frequencies : tuple of float
        Temporal frequencies of oscillations, periods whole frames [Hz].
    contrast : float
        At which oscillations and velocities are shown.
    wavelengths : tuple of float
        Of the gratings whose velocity changes [deg]: whole pixels.
    longest : float
        Up to which C19 bounds what was learned [deg]; longer ones are reported.
    speeds : (float, float, int)
        Slowest and fastest velocity of all gratings [deg/s], and how many, evenly spaced in their logarithm.
    """

    n_seeds: int = 10
    n: int = 5
    n_pairs: int = 100_000
    wavelength: float = 40.0
    contrasts: tuple[float, ...] = tuple(2.0**k for k in (-7, -6, -3, -1, 0))
    n_places: int = 4
    n_frames: int = 23
    frequencies: tuple[float, ...] = (0.5, 1.0, 2.0, 2.5)
    contrast: float = 0.5
    wavelengths: tuple[float, ...] = (20.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0)
    longest: float = 60.0
    speeds: tuple[float, float, int] = (8.0, 240.0, 20)

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of the gratings, shape (n_speeds,) [deg/s]."""
        return np.geomspace(*self.speeds)


def mark(name: str) -> dict[str, Any]:
    """Return how the points of a detector are drawn."""
    label, marker, size = MARKS[name]
    return {"label": label, "marker": marker, "markersize": size, "markerfacecolor": "none", "linestyle": "none"}


class Looking(NamedTuple):
    """A detector by what delays, and the names of its readings."""

    make: Callable[[Step], Detector]
    readings: tuple[str, ...]
    """Of what was learned ``READINGS``, and then ``NULLS``."""

    def read(self, responses: np.ndarray, detector: Detector) -> np.ndarray:
        """Return responses with an axis of readings last, shape (..., n_readings)."""
        return responses if detector.directions else responses[..., None]


LITERATURE = {"three-pixel": Looking(three_pixel, ("one",)), "hrd": Looking(hassenstein_reichardt, ("one",))}


def look(config: Config, name: str, seed: int) -> Looking:
    """Return a detector of the literature by its name, or learn one, and make its nulls, in the world of that name.

    Responses are linear in the filters, so that those of a difference are the right unit's less the left unit's.
    """
    if name in LITERATURE:
        return LITERATURE[name]
    world = WORLDS[name]
    filters = opponents(world, config.n, config.n_pairs, [seed, 17]).in_pixels()
    patch = filters["learned"]
    row = patch * (np.arange(config.n) == config.n // 2)[:, None]
    units = np.stack([patch, row, *(filters[null] for null in NULLS)])
    make = partial(learned, Generators(units, (config.n,)), feature=world.feature)
    return Looking(make, (*READINGS, *NULLS))


def nulls_of(name: str, values: np.ndarray, *which: str) -> dict[str, Null]:
    """Return nulls of what was learned, all or those named, in the median; there are none of the literature.

    ``values`` has an axis of readings last.
    """
    return {
        key: Null(words, values[..., k], np.median)
        for k, (key, words) in enumerate(NULLS.items(), len(READINGS))
        if name in WORLDS and key in (which or NULLS)
    }
