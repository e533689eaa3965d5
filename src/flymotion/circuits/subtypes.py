"""Names of the cells of a column, and the directions that they prefer."""

from __future__ import annotations

import numpy as np

from flymotion.world.eyes import Eye
from flymotion.world.lattices import half_of

__all__ = ["PREFERRED", "SUBTYPES", "preferred_in"]

SUBTYPES = ("T4a", "T4b", "T4c", "T4d", "T5a", "T5b", "T5c", "T5d")
"""Cells of a column, in the order in which their responses come."""

PREFERRED = {"a": 180.0, "b": 0.0, "c": 90.0, "d": 270.0}
"""Direction that each subtype prefers in the left eye [deg]: front to back, back to front, up, down.

As the eye sees it, 0 = right, 90 = up; in the right eye, its mirror image, a prefers 0 and b 180 degrees."""


def preferred_in(eye: Eye) -> np.ndarray:
    """Return the directions that subtypes a to d prefer in each column [deg], those of a right eye mirrored.

    Returns
    -------
    ndarray, shape (n_columns, 4)
    """
    left = np.array(list(PREFERRED.values()))
    return np.where(half_of(eye)[:, None] == 1, (180.0 - left) % 360, left)
