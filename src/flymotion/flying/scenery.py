"""What a fly is shown: a few worlds that turn about it. Luminance is in units of white, 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np

from flymotion.circuits.schooling import folded_panorama, photographs
from flymotion.stimuli import Stimulus, rotating_panorama
from flymotion.world.scenes import Drum, Scene, SphericalNoise, SphericalScene, SquareGrating

__all__ = ["SHOWN", "half_bright", "noisy", "photographed", "turning"]

SPEED = 60.0
"""Of what turns about a watching fly [deg/s]."""


@cache
def photographed(which: int) -> SphericalScene:
    """Return a panorama of one of the photographs that scikit-learn ships, china.jpg and flower.jpg."""
    return folded_panorama(photographs()[which])


def half_bright() -> Drum:
    """Return a world whose left half is bright and whose right half is dark, with an edge ahead and one behind."""
    return Drum(SquareGrating(360.0, 0.3, phase=math.pi / 2, mean=0.5))


def noisy() -> SphericalScene:
    """Return smooth noise about grey, always the same."""
    a = 0.15 * SphericalNoise(10.0, random_state=0).coefficients
    a[0, 0] = 0.5 * np.sqrt(4 * np.pi)
    return SphericalScene(a)


SHOWN: dict[str, Callable[[], Scene]] = {
    "panorama": partial(photographed, 0),
    "flower": partial(photographed, 1),
    "edge": half_bright,
    "noise": noisy,
}
"""Worlds that turn about a watching fly, by the names that commands know them by."""


def turning(name: str, *, duration: float) -> Stimulus:
    """Return one of :data:`SHOWN`, turning to the right about the vertical, for ``duration`` [s].

    Raises
    ------
    ValueError
        An unknown name.

    Examples
    --------
    >>> from flymotion import Sphere
    >>> left_ahead_right = Sphere([[0, 1, 0], [1, 0, 0], [0, -1, 0]], sigma=1.0)
    >>> turning("edge", duration=1.0).movie(left_ahead_right, dt=0.5).round(2)  # a bright half turns to the right
    array([[0.8, 0.5, 0.2],
           [0.8, 0.8, 0.2]])
    """
    if name not in SHOWN:
        raise ValueError(f"there is no scene {name!r}; expected one of {', '.join(SHOWN)}")
    return rotating_panorama(scene=SHOWN[name](), speed=SPEED, heading=0.0, duration=duration)
