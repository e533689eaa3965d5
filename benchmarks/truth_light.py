"""Photographs under light that changes while they are seen, still or moving (case B56 of uneven light).

A light is a factor of brightness (of grey levels, as they are seen) at a place and a time: 0 before, 1 after. The truth
is the motion of what is lit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from truth_rendered import SIZE, photographs

HEADROOM = 0.7
"""Share of the brightness that photographs are shown at, so that no light makes them brighter than white."""

Light = Callable[[np.ndarray, np.ndarray, float], Any]
"""From x and y, measured from the middle [pixels], and a time, whose sign says which way the light changes."""


def steady(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    return 1.0


def flicker(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return the light of a lamp that is 12 % brighter or darker a frame later."""
    return 1 + 0.12 * time


def exposure(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return what a camera makes of light whose exposure steps by half a stop."""
    return 2 ** (0.5 * time)


def cloud(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return light with the shadow of a cloud, 40 % deep, whose edge of some 50 pixels moves by 8 a frame."""
    return 1 - 0.4 / (1 + np.exp(-(x - 8 * time) / 12))


def torch(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return the light of a torch, a spot of 50 pixels (standard deviation) that moves by 6 a frame on its own."""
    return 0.3 + 0.7 * np.exp(-((x - 6 * time) ** 2 + y**2) / (2 * 50**2))


LIGHTS: dict[str, Light] = {
    "steady": steady,
    "flicker": flicker,
    "exposure": exposure,
    "cloud": cloud,
    "torch": torch,
}


def lit(name: str, size: float) -> list[Any]:
    """Return (before, after, truth), as floats, of photographs that move by ``size`` pixels under a light.

    Of every other pair the light changes the other way.
    """
    light = LIGHTS[name]
    y, x = (np.arange(n) - (n - 1) / 2 for n in SIZE)
    y = y[:, None]
    return [
        (HEADROOM * light(x, y, 0) * before, HEADROOM * light(x, y, (-1) ** k) * after, truth)
        for k, (before, after, truth) in enumerate(photographs("translation", size))
    ]
