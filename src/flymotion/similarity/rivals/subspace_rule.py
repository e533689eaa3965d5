"""The compiled loop of the reconstruction network: Eq. 2, sample by sample.

The lateral weights are those of the moment, so each sample takes K (K + 7) n / 2 products.
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import SUMS, compiled
from flymotion.similarity.inner_problem import solve_linear

__all__ = ["learn_to_reconstruct"]


def learn_to_reconstruct(X: np.ndarray, W: np.ndarray, eta: float) -> None:
    """Learn W, shape (K, n), in place, from samples X, shape (n_samples, n): the outputs at rest, then the rule."""
    n_units = len(W)
    squares = np.zeros((n_units, n_units))
    _learn(X, W, eta, np.zeros(n_units), np.zeros(n_units), squares, squares.copy(), np.arange(n_units), X[:1].copy())


@compiled(**SUMS)
def _learn(X, W, eta, b, y, gramian, L, units, left):
    n_units, n = W.shape
    for t in range(len(X)):
        for a in range(n_units):
            b[a] = 0.0
            for i in range(n):
                b[a] += W[a, i] * X[t, i]
            for c in range(a + 1):
                inner = 0.0
                for i in range(n):
                    inner += W[a, i] * W[c, i]
                gramian[a, c] = gramian[c, a] = inner
        solve_linear(gramian, b, units, n_units, L, y)  # Eq. 2, left, at rest
        for i in range(n):
            left[0, i] = X[t, i]
        for a in range(n_units):
            for i in range(n):
                left[0, i] -= y[a] * W[a, i]
        for a in range(n_units):
            for i in range(n):
                W[a, i] += eta * y[a] * left[0, i]  # Eq. 2, right
