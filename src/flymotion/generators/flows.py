r"""Filters read as motion: the flow of content that each implies, and its weights averaged over the eye.

==========  ===============  ======================================================================================
``A``       (K, n, n)        filters: row i holds the weights onto the change at pixel i
``G``       (ndim, n, n)     the discrete gradient: ``G_a x`` is minus the derivative along axis a
``v``       (K, n, ndim)     flow: the velocity of content at each pixel, positive to the right (x) and down (y)
==========  ===============  ======================================================================================
"""

from __future__ import annotations

import numpy as np

from flymotion.generators import Generators, derivative_operator

__all__ = ["implied_flow", "mean_filters"]


def implied_flow(generators: Generators) -> np.ndarray:
    r"""Return the flow of content that filters imply, each pixel for itself.

    The velocity at pixel i is that whose discrete derivative is most like row i of the filter,

    .. math:: v_i = \arg\min_v |A_i - \sum_a v_a G_{a,i}|^2,

    with the gradient of :func:`flymotion.generators.derivative_operator` over a pixel's neighbours. On a lattice and
    away from the border this is the filter's first moment over the neighbours, :math:`-\sum_j A_{ij} (p_j - p_i)`; at
    the border it makes up for the neighbours that are missing. The same weight onto all neighbours, as of a blur,
    adds no flow inside.

    Parameters
    ----------
    generators : Generators
        Filters of any eye, as they were learned.

    Returns
    -------
    ndarray, shape (n_components, n_pixels, ndim)
        [pixel spacings], on the sphere tangent to it [rad], per unit of the filter's output, whose scale means nothing
        for learned filters. Where a weight is not finite, NaN.

    Notes
    -----
    Give filters as they were learned, on whitened frames: there the weights onto the neighbours have the signs of the
    derivative's. Those of ``in_pixels``, and of weights farther off, alternate in sign with distance, and moments
    over them may point backwards. All the moments of ``on_raw_frames`` give the flow of optimal filters exactly, but
    spread the noise of learned ones all over the eye.

    Examples
    --------
    >>> content_to_the_left = Generators(derivative_operator((4,), 180.0)[None], (4,))
    >>> implied_flow(content_to_the_left)[0, :, 0]
    array([-1., -1., -1., -1.])
    """
    A = np.where(np.isfinite(generators.operators), generators.operators, np.nan)
    G = np.stack([derivative_operator(generators.eye, axis) for axis in np.eye(generators.eye.positions.shape[1])])
    moments = np.einsum("aij,bij->iab", G, G)
    along = np.einsum("bij,kij->kib", G, A, optimize=True)
    return (np.linalg.pinv(moments, rcond=1e-9, hermitian=True) @ along[..., None])[..., 0]


def mean_filters(generators: Generators, radius: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Average filters over the pixels of a lattice: their weights as a function of the offset alone.

    Parameters
    ----------
    generators : Generators
        Filters of an eye whose pixels lie on a lattice.
    radius : float
        Longest offset [pixel spacings].

    Returns
    -------
    offsets : ndarray, shape (n_offsets, ndim)
        From the pixel of the change to that of the intensity (x right, y down).
    weights : ndarray, shape (n_components, n_offsets)
        Means over the interior: the pixels from which every one of the offsets leads to a pixel.

    Raises
    ------
    ValueError
        No pixel is that far from the border.

    Examples
    --------
    >>> offsets, weights = mean_filters(Generators(derivative_operator((5,))[None], (5,)), radius=1)
    >>> offsets[:, 0], weights[0]
    (array([-1.,  0.,  1.]), array([ 0.5,  0. , -0.5]))
    """
    positions = generators.eye.positions
    between = positions[None, :] - positions[:, None]
    near = np.linalg.norm(between, axis=2) <= radius + 1e-9
    n_offsets = len(np.unique(between[near].round(6), axis=0))
    inside = near.sum(axis=1) == n_offsets
    if not inside.any():
        raise ValueError(f"no pixel of {generators.shape} frames is {radius} spacings away from the border")
    i, j = np.nonzero(near & inside[:, None])
    offsets, group = np.unique(between[i, j].round(6), axis=0, return_inverse=True)
    weights = [np.bincount(group.ravel(), A[i, j]) / inside.sum() for A in generators.operators]
    return offsets + 0.0, np.array(weights).reshape(len(generators), n_offsets)
