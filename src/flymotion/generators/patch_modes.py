"""Separable cosine modes of a square patch, in which derivatives are few numbers, and the mean is one of its own."""

from __future__ import annotations

import numpy as np
from scipy.fft import dct

__all__ = ["cosine_modes"]


def cosine_modes(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal modes of a patch of ``size`` times ``size`` pixels.

    Returns
    -------
    basis : ndarray, shape (size, size)
        Modes along one axis, the mean first.
    modes : ndarray, shape (size ** 2, size ** 2)
        Modes of the patch, its pixels row by row: mode ``size * a + b`` is ``basis[a]`` down, and ``basis[b]`` along x.

    Examples
    --------
    >>> basis, modes = cosine_modes(3)
    >>> bool(np.allclose(modes @ modes.T, np.eye(9))), modes[0].round(3).tolist() == [0.333] * 9
    (True, True)
    """
    basis = dct(np.eye(size), axis=0, norm="ortho")
    return basis, np.einsum("ai,bj->abij", basis, basis).reshape(size**2, size**2)
