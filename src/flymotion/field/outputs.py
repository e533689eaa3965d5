"""What a motion field holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["OUTPUTS", "Field"]

OUTPUTS = ("directions", "opponent", "velocity", "confidence")
"""What a field can hold."""


class Field(NamedTuple):
    """What a pair of frames shows, float32; None for what was not asked for.

    Attributes
    ----------
    directions : ndarray, shape (n_directions, height, width)
        Rectified responses, in the order of :attr:`MotionField.angles`.
    opponent : ndarray, shape (2, height, width)
        Signed responses along (x right, y down).
    velocity : ndarray, shape (2, height, width)
        (x right, y down) [pixels per frame].
    confidence : ndarray, shape (height, width)
        Share of the velocity that is the window's own and not the coarser scale's, along the direction in which the
        window has least contrast: 0 where it is flat or shows an edge only (the aperture problem), 1 where the ridge
        does not matter.
    """

    directions: np.ndarray | None
    opponent: np.ndarray | None
    velocity: np.ndarray | None
    confidence: np.ndarray | None
