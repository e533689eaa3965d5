"""Mean responses of detectors over a frame, where no response is wanted at every pixel: those of some of its rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from flymotion.field import Field, MotionField
from flymotion.similarity.compilation import SUMS, compiled

__all__ = ["MeanResponses", "reach", "strips"]

N_ROWS = 90
"""About as many rows of a frame, at most, are looked at."""


class MeanResponses:
    """Mean responses over every k-th row, frame by frame.

    Three-pixel detectors are evaluated there and nowhere else; learned ones are those of the field, or, where it has
    none, of strips about the rows.

    Parameters
    ----------
    field : MotionField
        Whose detectors.
    height : int
        Rows of a frame.
    """

    def __init__(self, field: MotionField, height: int) -> None:
        about = strips(height, reach(field))
        self._rows, self._strips = about[:, about.shape[1] // 2], about.ravel()
        self._before: np.ndarray | None = None
        self._stream = None
        self._learned = field.detectors is not None
        self._none = np.full(4 if field.detectors is None else len(field.detectors), math.nan)
        if self._learned and "directions" not in field.outputs:
            self._rows = np.arange(about.shape[1] // 2, about.size, about.shape[1])
            self._stream = replace(field, outputs=("directions",)).stream()

    def cut(self) -> None:
        """Forget the last frame."""
        self._before = None
        if self._stream is not None:
            self._stream.cut()

    def step(self, frame: np.ndarray, field: Field | None) -> np.ndarray:
        """Take the next frame and its field; returns the means, shape (n_directions,), NaN where there is none."""
        if not self._learned:
            before, self._before = self._before, frame[self._strips]
            return self._none.copy() if before is None else _mean_responses(before, self._before)
        if self._stream is not None:
            field = self._stream.step(frame[self._strips])
        if field is None or field.directions is None:
            return self._none.copy()
        return field.directions[:, self._rows].mean(axis=2).mean(axis=1, dtype=float)


def reach(field: MotionField) -> int:
    """Return how many rows a detector looks at."""
    return 3 if field.detectors is None else field.detectors.shape[0]


def strips(height: int, reach: int) -> np.ndarray:
    """Return the rows that a frame's mean responses are of, each with those that its detectors look at.

    Returns
    -------
    ndarray of int, shape (n_rows, reach)
    """
    first = np.arange(0, height - reach + 1, max(1, height // N_ROWS))
    return first[:, None] + np.arange(reach)


@compiled(**SUMS)
def _mean_responses(before, after):
    """Return the mean three-pixel responses to right, up, left and down, over the middle rows of strips of three."""
    half, zero = np.float32(0.5), np.float32(0)
    means = np.zeros(4)
    width = before.shape[1]
    for y in range(1, len(before), 3):
        a, b = before[y], after[y]
        above, below, over, under = before[y - 1], before[y + 1], after[y - 1], after[y + 1]
        right, up, left, down = zero, zero, zero, zero
        for x in range(1, width - 1):
            dt = half * (np.float32(b[x]) - np.float32(a[x]))
            r = dt * ((np.float32(a[x - 1]) + np.float32(b[x - 1])) - (np.float32(a[x + 1]) + np.float32(b[x + 1])))
            right += max(r, zero)  # Eq. 33, at the midpoint, and of content: negative
            left += max(-r, zero)
        for x in range(width):
            dt = half * (np.float32(b[x]) - np.float32(a[x]))
            r = dt * ((np.float32(above[x]) + np.float32(over[x])) - (np.float32(below[x]) + np.float32(under[x])))
            down += max(r, zero)
            up += max(-r, zero)
        for k, mean in enumerate((right, up, left, down)):
            means[k] += mean
    for k in range(4):
        means[k] /= len(before) // 3 * width
    return means
