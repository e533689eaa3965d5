r"""Reconstruction of the change by operators, Eq. 9, in closed form: the best magnitudes, the best operators, in turn.

============ =============== ==================================================================
``dx``       (T, n)          changes
``x``        (T, n)          frames that operators act on
``A``        (K, n, n)       operators, each of norm 1
``theta``    (T, K)          magnitudes
============ =============== ==================================================================

What is minimised is

.. math:: \sum_t |\Delta x_t - \sum_a \theta_{ta} A_a x_t|^2
          + \lambda \sum_{ta} (\theta_{ta} |A_a|)^2 + \mu \sum_{ta} |\theta_{ta}| |A_a|

Only the product of an operator and its magnitudes is in it, so that any scale of one is taken up by the other; norm 1
is fixed. For given magnitudes the operators are a ridge regression, on moments that are summed once: of the third term,
:math:`|A| \le (|A|^2 + 1) / 2` is taken, which touches it where the norm is 1. So no step makes the whole larger.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

__all__ = ["Fit", "Penalty", "alternate", "best_magnitudes", "best_operators"]

BLOCK = 2**21
"""Numbers that predicted changes of one block may hold."""

ROUNDING = 1e-12
"""Ridge, relative to the mean of a diagonal, that stands for rounding."""


class Penalty(NamedTuple):
    """What magnitudes cost, and whether they may be negative."""

    ridge: float = 0.0
    """lambda, of their squares."""
    sparsity: float = 0.0
    """mu, of their sizes."""
    nonnegative: bool = False

    def of(self, theta: np.ndarray) -> float:
        """Return what all magnitudes, shape (T, K), cost together."""
        return self.ridge * float((theta**2).sum()) + self.sparsity * float(np.abs(theta).sum())


class Fit(NamedTuple):
    """Where an alternation ended."""

    operators: np.ndarray
    objective: float
    """Relative to the sum of squares of the changes."""
    n_iter: int
    settled: bool


def alternate(dx: np.ndarray, x: np.ndarray, A: np.ndarray, penalty: Penalty, max_iter: int, tol: float) -> Fit:
    """Alternate from operators A until an iteration makes the objective less by no more than a share ``tol`` of it."""
    energy = float((dx**2).sum()) or 1.0
    theta, objective = best_magnitudes(dx, x, A, penalty)
    for n_iter in range(1, max_iter + 1):
        A = best_operators(dx, x, A, theta, penalty)
        before = objective
        theta, objective = best_magnitudes(dx, x, A, penalty)
        if before - objective <= tol * before:
            return Fit(A, objective / energy, n_iter, True)
    return Fit(A, objective / energy, max_iter, False)


def best_magnitudes(dx: np.ndarray, x: np.ndarray, A: np.ndarray, penalty: Penalty) -> tuple[np.ndarray, float]:
    """Return the best magnitudes for operators, shape (T, K), and the objective."""
    K, n, _ = A.shape
    theta, size, left = np.zeros((len(x), K)), max(1, BLOCK // (K * n)), 0.0
    for rows in (slice(first, first + size) for first in range(0, len(x), size)):
        change = dx[rows].T.copy()  # long axes last are faster
        y = (A.reshape(K * n, n) @ x[rows].T).reshape(K, n, -1)
        b = np.stack([np.einsum("it,it->t", one, change) for one in y], axis=1)
        gram = np.empty((len(b), K, K))
        for a, c in combinations_with_replacement(range(K), 2):
            gram[:, a, c] = gram[:, c, a] = np.einsum("it,it->t", y[a], y[c])
        theta[rows] = _magnitudes(gram + penalty.ridge * np.eye(K), b, penalty)
        y *= theta[rows].T[:, None]
        for explained in y:
            change -= explained  # Eq. 8
        left += float(np.vdot(change, change))  # Eq. 9
    return theta, left + penalty.of(theta)


def _magnitudes(gram: np.ndarray, b: np.ndarray, penalty: Penalty) -> np.ndarray:
    if b.shape[1] > 1:
        from flymotion.relations.operator_rule import settle_all

        return settle_all(gram, b, penalty.sparsity, penalty.nonnegative)
    if penalty.sparsity:
        b = np.sign(b) * np.maximum(np.abs(b) - penalty.sparsity / 2, 0)
    b, square = np.maximum(b, 0) if penalty.nonnegative else b, gram[:, 0]
    return np.divide(b, square, out=np.zeros_like(b), where=square > 0)  # Eq. 29, of content


def best_operators(dx: np.ndarray, x: np.ndarray, A: np.ndarray, theta: np.ndarray, penalty: Penalty) -> np.ndarray:
    """Return the best operators for magnitudes, scaled to norm 1, shape (K, n, n).

    An operator that no pair uses, or that would be 0, stays as it was.
    """
    K, n, _ = A.shape
    each, seen = (np.ascontiguousarray(rows.T) for rows in (theta, x))  # long axes last are faster
    weighted = (each[:, None] * seen).reshape(K * n, -1)
    flat, target = weighted @ weighted.T, weighted @ dx
    cost = penalty.ridge * (each**2).sum(axis=1) + penalty.sparsity / 2 * np.abs(each).sum(axis=1)
    rounding = ROUNDING * np.trace(flat) / (K * n)
    flat[np.diag_indices(K * n)] += np.repeat(cost, n) + (rounding if rounding > 0 else 1.0)
    found = np.linalg.solve(flat, target).reshape(K, n, n).swapaxes(1, 2)
    norms = np.linalg.norm(found, axis=(1, 2))
    kept = norms > 0
    found[kept] /= norms[kept, None, None]
    return np.where(kept[:, None, None], found, A)
