"""Edits: where one shot of a film ends and the next begins, so that what follows shows something else."""

from __future__ import annotations

import numpy as np

__all__ = ["is_edit", "thumbnail"]

CELLS = (12, 16)
"""Rows and columns of a thumbnail."""

ALIKE = 0.5
"""Correlation of thumbnails below which an edit lies between; 0.70 and more in hand-held video at its shakiest."""

FLAT = 0.05
"""Contrast of one thumbnail, relative to the other's, below which it shows nothing: a black frame, a covered lens."""


def thumbnail(image: np.ndarray) -> np.ndarray:
    """Return an image as means over cells, less their mean, of every k-th pixel.

    Parameters
    ----------
    image : ndarray, shape (height, width)
        Luminance.

    Returns
    -------
    ndarray, shape (n_rows, n_columns), float64
        At most ``CELLS``.
    """
    few = image[tuple(slice(None, None, max(1, side // (8 * n))) for side, n in zip(image.shape, CELLS, strict=True))]
    for axis, (side, n) in enumerate(zip(few.shape, CELLS, strict=True)):
        first = np.arange(min(side, n)) * side // min(side, n)
        few = np.add.reduceat(few, first, axis=axis, dtype=float)
        few /= np.diff(first, append=side).reshape((-1, 1) if axis == 0 else -1)
    return few - few.mean()


def is_edit(before: np.ndarray, after: np.ndarray) -> bool:
    """Tell from two thumbnails whether an edit lies between their frames.

    The same content at another brightness or contrast is none; two frames without contrast are alike.

    Examples
    --------
    >>> scene = np.arange(12.0).reshape(3, 4) - 5.5
    >>> is_edit(scene, 0.5 * scene), is_edit(scene, -scene), is_edit(scene, 0 * scene)
    (False, True, True)
    """
    small, large = sorted([float(np.linalg.norm(before)), float(np.linalg.norm(after))])
    if large == 0:
        return False
    return small < FLAT * large or float((before * after).sum()) < ALIKE * small * large
