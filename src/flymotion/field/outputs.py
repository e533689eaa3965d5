"""What a motion field holds, and what it says on coarser grids, for the eye."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from flymotion.brevity import in_brief

__all__ = ["OUTPUTS", "Field", "mean_velocity", "preferred_directions"]

OUTPUTS = ("directions", "opponent", "velocity", "confidence", "error")
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
        (x right, y down) [pixels per frame], of what is at a pixel in the frame before. It, confidence and error are of
        every few pixels only, :meth:`MotionField.spacing`, where they are not to be interpolated.
    confidence : ndarray, shape (height, width)
        How well the velocity explains what these pixels did, 0 to 1: the share of it that is the window's own and not
        the coarser scale's or noise's, along the direction in which the window has least contrast (0 where it is flat,
        or shows an edge only: the aperture problem), times the share of the change that it explains; and no more than
        what it explains of these pixels' own change, better than rest: 0 where nothing has changed that it would move.
    error : ndarray, shape (height, width)
        Of the velocity, as it is estimated [pixels per frame]: 95 % of all errors are within twice of it, or less than
        that where things hide each other or a codec leaves out what changes little (``docs/accuracy.md``). NaN where it
        is not known: beyond 8 pixels of the finest scale.

    Examples
    --------
    >>> from flymotion.field import MotionField
    >>> frame = np.add.outer(np.sin(np.arange(40) / 5), np.cos(np.arange(60) / 5))
    >>> field = MotionField(ridge=1e-6, scales=1).between(frame[1:], frame[:-1])  # content goes down by a pixel
    >>> field.velocity[:, 20, 30].round(2) + 0.0, field.directions.shape, field.error.shape
    (array([0., 1.], dtype=float32), (4, 39, 60), (39, 60))
    """

    directions: np.ndarray | None
    opponent: np.ndarray | None
    velocity: np.ndarray | None
    confidence: np.ndarray | None
    error: np.ndarray | None = None

    def __repr__(self) -> str:
        return in_brief(self)


def mean_velocity(field: Field, average: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean velocities of cells, weighted with confidence, and mean confidence.

    Parameters
    ----------
    field : Field
        With velocity and confidence.
    average : callable
        From planes, shape (n, height, width), to their means over cells, shape (n, n_rows, n_columns).

    Returns
    -------
    velocity : ndarray, shape (2, n_rows, n_columns)
        (x right, y down) [pixels per frame]; 0 where nothing is sure.
    confidence : ndarray, shape (n_rows, n_columns)
    """
    assert field.velocity is not None and field.confidence is not None
    *weighted, confidence = average(np.stack([*(field.velocity * field.confidence), field.confidence]))
    return np.stack(weighted) / np.maximum(confidence, 1e-9), confidence


def preferred_directions(responses: np.ndarray, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the direction [deg] and length of the sum of responses as vectors along their directions.

    Parameters
    ----------
    responses : ndarray, shape (n_directions, ...)
        Rectified responses.
    angles : ndarray, shape (n_directions,)
        Their directions [deg].
    """
    turned = np.exp(1j * np.radians(angles)).astype(np.complex64)
    total = np.tensordot(turned, responses, axes=1)
    return np.degrees(np.angle(total)) % 360.0, np.abs(total)
