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


def strip(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return light with a hard strip of shadow, 10 pixels wide and 40 % deep, that moves by 2 a frame."""
    return np.where(abs(x - 25 - 2 * time) < 5, 0.6, 1.0)


def pole(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return light with the shadow of a pole, some 14 pixels wide and 40 % deep, that moves by 3 a frame."""
    return 1 - 0.4 * np.exp(-(((x + 40 - 3 * time) / 7) ** 4))


def edge(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return light with a shadow 30 % deep, whose edge of some 6 pixels, not along an axis, moves by 4 a frame."""
    return 1 - 0.3 / (1 + np.exp(-(0.8 * x + 0.6 * y - 4 * time) / 1.5))


def blind(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return light through a blind, whose stripes of 30 pixels, 35 % deep, move by 3 a frame."""
    return 1 - 0.35 / (1 + np.exp(-np.sin(2 * np.pi * (y - 3 * time) / 60) * 10 / np.pi))


def lamp(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return the light of a lamp in the upper right corner, half as bright again a frame later, or half as bright."""
    return 0.75 + 0.25 * (1 + 0.5 * time) * np.exp(-((x - 160) ** 2 + (y + 120) ** 2) / (2 * 90**2))


def small_torch(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return the light of a torch half as wide, that moves by 5 a frame."""
    return 0.3 + 0.7 * np.exp(-((x - 4 * time) ** 2 + (y - 3 * time) ** 2) / (2 * 25**2))


def wide_torch(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return the light of a torch twice as wide, that moves by 10 a frame."""
    return 0.3 + 0.7 * np.exp(-((x + 10 * time) ** 2 + y**2) / (2 * 100**2))


def swinging_lamp(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return the light of a lamp of 70 pixels that swings by 22 a frame."""
    return 0.4 + 0.6 * np.exp(-((x - 20 * time) ** 2 + (y - 10 * time) ** 2) / (2 * 70**2))


def fixed_torch(x: np.ndarray, y: np.ndarray, time: float) -> Any:
    """Return the light of a torch of 50 pixels that stands."""
    return torch(x, y, 0)


LIGHTS: dict[str, Light] = {each.__name__: each for each in (steady, flicker, exposure, cloud, torch)}
"""Constants of uneven light were set with clouds and torches."""

OTHERS: dict[str, Light] = {
    each.__name__.replace("_", " "): each
    for each in (strip, pole, edge, blind, lamp, small_torch, wide_torch, swinging_lamp, fixed_torch)
}
"""All others that it was tried with; the side of the pieces that mend the motion of the frame was chosen by their
means, nothing else."""


def lit(name: str, size: float) -> list[Any]:
    """Return (before, after, truth), as floats, of photographs that move by ``size`` pixels under a light.

    Of every other pair the light changes the other way.
    """
    light = {**LIGHTS, **OTHERS}[name]
    y, x = (np.arange(n) - (n - 1) / 2 for n in SIZE)
    y = y[:, None]
    return [
        (HEADROOM * light(x, y, 0) * before, HEADROOM * light(x, y, (-1) ** k) * after, truth)
        for k, (before, after, truth) in enumerate(photographs("translation", size))
    ]
