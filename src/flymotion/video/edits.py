"""Edits: where one shot of a film ends and the next begins, so that what follows shows something else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Thumbnail", "is_edit", "thumbnail"]

CELLS = (12, 16)
"""Rows and columns of a thumbnail."""

ALIKE = 0.5
"""Correlation of thumbnails below which an edit lies between; 0.70 and more in hand-held video at its shakiest."""

FLAT = 0.05
"""Contrast of one thumbnail, relative to the other's, below which it shows nothing: a black frame, a covered lens."""


class Thumbnail(NamedTuple):
    """An image coarsely seen.

    Attributes
    ----------
    cells : ndarray, shape (n_rows, n_columns), float64
        Means over cells, less their mean; at most ``CELLS``.
    noise : float
        Squared norm that the cells have, at most, if neighbouring pixels differ by noise alone.
    """

    cells: np.ndarray
    noise: float = 0.0


def thumbnail(image: np.ndarray) -> Thumbnail:
    """Return an image as means over cells, less their mean, of every k-th pixel.

    Parameters
    ----------
    image : ndarray, shape (height, width)
        Luminance.
    """
    few = image[tuple(slice(None, None, max(1, side // (8 * n))) for side, n in zip(image.shape, CELLS, strict=True))]
    steps = np.diff(few, axis=1).astype(float)  # of few pixels: less time than the means
    variance = float(np.vdot(steps, steps)) / max(2 * steps.size, 1)
    n_pixels = few.size
    for axis, (side, n) in enumerate(zip(few.shape, CELLS, strict=True)):
        first = np.arange(min(side, n)) * side // min(side, n)
        few = np.add.reduceat(few, first, axis=axis, dtype=float)
        few /= np.diff(first, append=side).reshape((-1, 1) if axis == 0 else -1)
    return Thumbnail(few - few.mean(), variance * few.size**2 / n_pixels)


def is_edit(before: Thumbnail, after: Thumbnail) -> bool:
    """Tell from two thumbnails whether an edit lies between their frames.

    The same content at another brightness or contrast is none; two frames without contrast are alike, and so are two
    that noise may explain: cells of noise do not correlate, whatever is seen.

    Examples
    --------
    >>> scene = np.arange(12.0).reshape(3, 4) - 5.5
    >>> [is_edit(Thumbnail(scene), Thumbnail(other)) for other in (0.5 * scene, -scene, 0 * scene)]
    [False, True, True]
    """
    small, large = sorted([float(np.linalg.norm(before.cells)), float(np.linalg.norm(after.cells))])
    if large == 0:
        return False
    together, noise = float((before.cells * after.cells).sum()), (before.noise * after.noise) ** 0.5
    return small < FLAT * large or together + noise < ALIKE * small * large
