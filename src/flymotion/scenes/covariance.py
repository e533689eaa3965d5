"""Covariances of pixels that look at noise, optics included."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import i0e, log_ndtr

__all__ = ["exponential_covariance"]


def exponential_covariance(correlation_length: float, sigma: float, ndim: int = 1) -> Callable[[Any], np.ndarray]:
    r"""Return the covariance of two pixels that look at exponentially correlated noise.

    The noise's covariance blurred by both pixels' optics, i.e. by a Gaussian of variance :math:`2 \sigma^2`: in one
    dimension in closed form, in two the Hankel transform
    :math:`\int \omega \ell^2 (1 + \omega^2 \ell^2)^{-3/2} e^{-\sigma^2 \omega^2} J_0(\omega r) d\omega`.

    Parameters
    ----------
    correlation_length : float
        :math:`\ell` [pixel spacings].
    sigma : float
        Acceptance width [pixel spacings].
    ndim : int
        1 or 2.

    Returns
    -------
    callable
        From displacements, shape (..., ndim) [pixel spacings], to covariances, shape (...).
    """
    if ndim == 1:
        return lambda d: _blurred_exponential(np.linalg.norm(d, axis=-1), correlation_length, sigma)
    return lambda d: _blurred_in_the_plane(np.linalg.norm(d, axis=-1), correlation_length, sigma)


def _blurred_in_the_plane(distance: np.ndarray, length: float, sigma: float) -> np.ndarray:
    if sigma == 0:
        return np.exp(-distance / length)
    spread = math.sqrt(2) * sigma  # of the two acceptance functions together
    nodes, weights = np.polynomial.legendre.leggauss(200)
    low, high = np.maximum(distance - 9 * spread, 0), distance + 9 * spread
    half, d = ((high - low) / 2)[..., None], np.asarray(distance)[..., None]
    q = low[..., None] + half * (nodes + 1)  # distance from the centre, weighted by Rice's distribution
    rice = q / spread**2 * np.exp(-((q - d) ** 2) / (2 * spread**2)) * i0e(q * d / spread**2)
    return (half * rice * np.exp(-q / length)) @ weights


def _blurred_exponential(distance: np.ndarray, length: float, sigma: float) -> np.ndarray:
    if sigma == 0:
        return np.exp(-distance / length)
    spread = math.sqrt(2) * sigma  # of the two acceptance functions together

    def half(sign: int) -> np.ndarray:
        # exp(spread^2 / 2 length^2 + sign d / length) * erfc((spread / length + sign d / spread) / sqrt 2), in logs
        argument = spread / length + sign * distance / spread
        return np.exp(spread**2 / (2 * length**2) + sign * distance / length + log_ndtr(-argument))

    return half(-1) + half(1)
