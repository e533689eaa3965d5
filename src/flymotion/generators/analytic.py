"""The discrete derivative as a generator, and the likeness of operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.frames import unmasked
from flymotion.world.conventions import unit_vector
from flymotion.world.eyes import Eye, as_eye

__all__ = ["cosine", "derivative_operator", "interior"]


def derivative_operator(eye: Eye | tuple[int, ...] | int, velocity: Any = 0.0) -> np.ndarray:
    """Return the discrete derivative's generator of content that flows over an eye.

    Parameters
    ----------
    eye : Eye, tuple of int, or int
        Viewing positions, or the pixels of a frame, n or (height, width).
    velocity : float or array-like, shape (ndim,) or (n_pixels, ndim)
        Direction of content that moves by one pixel a frame [deg]: 0 = right, 90 = up; or the velocity at each pixel,
        such as :meth:`flymotion.world.motions.Motion.flow` gives.

    Returns
    -------
    ndarray, shape (n_pixels, n_pixels)
        On a lattice the central difference, pixels beyond the border counting as 0; on the sphere the least-squares
        gradient over each pixel's neighbours.

    Examples
    --------
    >>> derivative_operator((3,))
    array([[ 0. , -0.5,  0. ],
           [ 0.5,  0. , -0.5],
           [ 0. ,  0.5,  0. ]])
    """
    eye = as_eye(eye)
    positions = eye.positions
    n, ndim = positions.shape
    velocity = unmasked(velocity, "velocity", float)
    velocity = np.broadcast_to(unit_vector(float(velocity), ndim) if velocity.ndim == 0 else velocity, (n, ndim))
    i, j = np.concatenate([eye.neighbours, eye.neighbours[:, ::-1]]).T
    between = positions[j] - positions[i]
    if ndim == 3:
        between = between - (between * positions[i]).sum(axis=1, keepdims=True) * positions[i]
    if ndim < 3:  # as if every pixel had as many neighbours as those inside
        directions = _lattice_directions(between)
        moments = np.broadcast_to(directions.T @ directions, (n, ndim, ndim))
    else:
        moments = np.zeros((n, ndim, ndim))
        np.add.at(moments, i, between[:, :, None] * between[:, None, :])
    gradient = np.einsum("kab,kb->ka", np.linalg.pinv(moments, hermitian=True)[i], between)
    operator = np.zeros((n, n))
    np.add.at(operator, (i, j), -(velocity[i] * gradient).sum(axis=1))  # Eqs. 30 and 31, but of content: negative
    if ndim == 3:  # where neighbours are not symmetric, the gradient takes the pixel's own intensity off
        operator[np.diag_indices(n)] = -operator.sum(axis=1)
    return operator + 0.0


def _lattice_directions(between: np.ndarray) -> np.ndarray:
    return np.unique(between.round(9), axis=0)


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosines of operators a, shape (..., n, n), with operators b, broadcast; shape (...), 0 where one is 0.

    Examples
    --------
    >>> D = derivative_operator((5,))
    >>> cosine(np.stack([D, -D, D.T @ D]), D).round(6) + 0.0  # itself, its opposite, and one of no direction
    array([ 1., -1.,  0.])
    """
    a, b = unmasked(a, "a"), unmasked(b, "b")
    inner = (a * b).sum(axis=(-2, -1))
    norms = np.sqrt((a**2).sum(axis=(-2, -1)) * (b**2).sum(axis=(-2, -1)))
    return np.divide(inner, norms, out=np.zeros_like(norms), where=norms > 0)


def interior(eye: Eye, margin: int) -> np.ndarray:
    """Return which pixels are at least ``margin`` links away from any that has fewer neighbours than the lattice gives.

    Returns
    -------
    ndarray of bool, shape (n_pixels,)

    Raises
    ------
    ValueError
        An eye too small to have such pixels.
    """
    n = len(eye.positions)
    i, j = np.concatenate([eye.neighbours, eye.neighbours[:, ::-1]]).T
    inside = np.ones(n, dtype=bool)
    if eye.positions.shape[1] < 3:
        outside = np.bincount(i, minlength=n) < len(_lattice_directions(eye.positions[j] - eye.positions[i]))
        for _ in range(margin):
            inside &= ~outside
            outside[i[outside[j]]] = True
    if not inside.any():
        raise ValueError(f"frames of {eye.shape} have no pixel {margin} away from the border")
    return inside
