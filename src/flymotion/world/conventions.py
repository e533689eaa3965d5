"""What directions, seeds and numbers mean, everywhere in the package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["HUGE", "as_generator", "check_ndim", "finite", "not_below_0", "positive", "unit_vector"]

HUGE = 1e50
"""The largest size of a number, and one over the smallest length: what is made of them by products stays finite."""


def positive(**values: float) -> None:
    """Check that lengths, times and the like, by name, are positive, finite numbers, from 1e-50 to 1e50.

    Raises
    ------
    ValueError
        Any that is not.
    """
    for name, value in values.items():
        if not 1 / HUGE <= value <= HUGE:
            raise ValueError(f"{name} is {value}; expected a positive, finite number, from {1 / HUGE:g} to {HUGE:g}")


def not_below_0(**values: float) -> None:
    """Check that widths and the like, by name, are from 0 to 1e50.

    Raises
    ------
    ValueError
        Any that is not.
    """
    for name, value in values.items():
        if not 0 <= value <= HUGE:
            raise ValueError(f"{name} is {value}; expected a finite number, from 0 to {HUGE:g}")


def finite(**values: float) -> None:
    """Check that places, contrasts and the like, by name, are finite numbers, from -1e50 to 1e50.

    Raises
    ------
    ValueError
        Any that is not.
    """
    for name, value in values.items():
        if not abs(value) <= HUGE:
            raise ValueError(f"{name} is {value}; expected a finite number, from {-HUGE:g} to {HUGE:g}")


def check_ndim(ndim: int) -> None:
    """Check that a flat world has one or two dimensions.

    Raises
    ------
    ValueError
        If it does not.
    """
    if ndim not in (1, 2):
        raise ValueError(f"ndim is {ndim}; expected 1 or 2 dimensions")


def unit_vector(angle: float, ndim: int = 2) -> np.ndarray:
    """Return the unit vector (x right, y down) of a direction, 0 deg = right, 90 deg = up, shape (ndim,).

    Examples
    --------
    >>> [(unit_vector(angle) + 0.0).round(3).tolist() for angle in (0, 90, 180)]  # right, up, left; y counts down
    [[1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]
    """
    radians = math.radians(angle)
    vector = np.array([math.cos(radians), -math.sin(radians)])
    vector[np.abs(vector) < 1e-15] = 0.0
    return vector[:ndim]


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a numpy Generator for an int, Generator, RandomState or None; the global stream is left alone.

    Examples
    --------
    >>> as_generator(0).integers(100, size=3), as_generator(np.random.default_rng(0)).integers(100, size=3)
    (array([85, 63, 51]), array([85, 63, 51]))
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
