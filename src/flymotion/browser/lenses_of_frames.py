r"""What the lenses of a hexagonal eye before the frame see; ``page/lenses.js`` does the same in the browser.

Lenses are in columns, whose neighbours are straight above and below, every other column half a lens lower. Each takes
the mean of what it looks at, weighted by a Gaussian: a fly's acceptance function, 5.7 degrees wide at half its height
where lenses are 5 degrees apart.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["EYE", "seen_by_lenses"]

EYE = {"columns": 30, "sigma": 5.7 / (2 * math.sqrt(2 * math.log(2))) / 5.0}
"""Columns of lenses, and the standard deviation of what one looks at, in distances of two lenses."""

REACH = 6.0
"""Standard deviations up to which is summed."""


def seen_by_lenses(plane: np.ndarray, shape: tuple[int, int], spacing: int = 1) -> np.ndarray:
    """Return what each lens sees.

    Parameters
    ----------
    plane : ndarray, shape (n_rows, n_columns)
        Luminance, or responses, of areas of a frame.
    shape : (int, int)
        Height and width of the frame [pixels].
    spacing : int
        Side of the areas [pixels].

    Returns
    -------
    ndarray, shape (n_lens_columns, n_lenses)
        Column by column from the left, each from above.

    Examples
    --------
    >>> seen_by_lenses(np.ones((120, 160)), (120, 160)).shape
    (30, 18)
    """
    height, width = shape
    across = width / EYE["columns"]
    apart = 2 * across / math.sqrt(3)
    n_rows, sigma = math.floor(height / apart - 0.5), EYE["sigma"] * apart
    middles = (np.arange(2 * n_rows) + 1) * apart / 2 - 0.5
    down = _acceptance(middles, sigma, plane.shape[0], spacing) @ plane
    columns = (np.arange(EYE["columns"]) + 0.5) * across - 0.5
    seen = _acceptance(columns, sigma, plane.shape[1], spacing) @ down.T
    return np.stack([column[k % 2 :: 2] for k, column in enumerate(seen)])


def _acceptance(places: np.ndarray, sigma: float, n: int, spacing: int) -> np.ndarray:
    far = (spacing * np.arange(n) + (spacing - 1) / 2 - places[:, None]) / sigma
    weights = np.where(np.abs(far) <= REACH, np.exp(-0.5 * far**2), 0.0)
    return weights / weights.sum(axis=1, keepdims=True)
