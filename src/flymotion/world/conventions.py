"""What directions and seeds mean, everywhere in the package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["as_generator", "unit_vector"]


def unit_vector(angle: float, ndim: int = 2) -> np.ndarray:
    """Return the unit vector (x right, y down) of a direction, 0 deg = right, 90 deg = up, shape (ndim,)."""
    radians = math.radians(angle)
    vector = np.array([math.cos(radians), -math.sin(radians)])
    vector[np.abs(vector) < 1e-15] = 0.0
    return vector[:ndim]


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a numpy Generator for an int, Generator, RandomState or None; the global stream is left alone."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
