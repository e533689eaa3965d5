"""Quadratic forms of Gaussian variables: how often they are positive."""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.frames import unmasked

__all__ = ["probability_positive"]


def probability_positive(weights: Any) -> np.ndarray:
    r"""Return the probability that :math:`\sum_i w_i g_i^2 > 0`, for independent standard normal g (Imhof 1961).

    .. math::
        \frac12 + \frac1\pi \int_0^\infty
        \frac{\sin(\frac12 \sum \arctan w_i u)}{\prod (1 + w_i^2 u^2)^{1/4}} \frac{du}{u},

    by the trapezoidal rule in log u, which converges exponentially (to about 1e-15 here).

    Parameters
    ----------
    weights : array-like, shape (..., m)
        Weights of the squares; where all are 0 the answer is 1/2.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> float(probability_positive([3.0, -1.0]))  # 2 / pi * arctan(sqrt(3))
    0.6666666666666...
    """
    weights = unmasked(weights, "weights", float)
    largest = np.abs(weights).max(axis=-1, keepdims=True)
    relative = np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0)
    log_u, width = np.linspace(-40, 80, 601, retstep=True)
    product = relative[..., None, :] * np.exp(log_u)[:, None]
    phase = np.arctan(product).sum(axis=-1) / 2
    damping = np.exp(-np.log1p(product**2).sum(axis=-1) / 4)
    return 0.5 + (np.sin(phase) * damping).sum(axis=-1) * width / np.pi
