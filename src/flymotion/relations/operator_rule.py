r"""Compiled loops of reconstruction by operators: the magnitudes of each pair, and the online rule of Eq. 9.

Of a pair, with :math:`G_{ab} = A_a x \cdot A_b x + \lambda \delta_{ab}` and :math:`b_a = \Delta x \cdot A_a x`, the
magnitudes minimise :math:`\theta' G \theta - 2 b' \theta + \mu |\theta|_1`: a linear system, or what similarity
matching solves for its nonnegative outputs; only signed sparse ones are found one after the other, until none changes.
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import PART, SUMS, compiled
from flymotion.similarity.inner_problem import solve_linear, solve_nonnegative

__all__ = ["learn_operators", "settle_all"]

SWEEPS, SMALL = 10_000, 1e-12
"""Most sweeps over a pair's magnitudes; and their change, relative to the largest, at which it is settled."""


@compiled(**PART)
def _settle(gram, b, sparsity, nonnegative, theta, scratch):
    shifted, units, active, L = scratch
    n_units, count = len(theta), np.int64(0)
    for a in range(n_units):
        theta[a] = 0.0
        shifted[a] = b[a] - sparsity / 2 if nonnegative else b[a]
        if gram[a, a] > 0.0:
            units[count] = a
            count += 1
    if nonnegative:
        solve_nonnegative(gram, shifted, units, count, active, L, theta, SWEEPS)
    elif sparsity == 0.0:
        solve_linear(gram, shifted, units, count, L, theta)
    else:
        _shrink(gram, b, sparsity / 2, units, count, theta)


@compiled(**PART)
def _shrink(gram, b, cost, units, count, theta):
    for _ in range(SWEEPS):
        largest = change = 0.0
        for k in range(count):
            a = units[k]
            pull = b[a]
            for j in range(count):
                if j != k:
                    pull -= gram[a, units[j]] * theta[units[j]]
            found = max(abs(pull) - cost, 0.0) / gram[a, a]
            found = found if pull > 0.0 else -found
            change, largest = max(change, abs(found - theta[a])), max(largest, abs(found))
            theta[a] = found
        if change <= SMALL * largest:
            break


@compiled()
def settle_all(gram: np.ndarray, b: np.ndarray, sparsity: float, nonnegative: bool) -> np.ndarray:
    """Return the magnitudes, shape (T, K), for each pair's ``gram`` (T, K, K) and ``b`` (T, K)."""
    n_units = b.shape[1]
    theta, units = np.zeros(b.shape), np.arange(n_units)
    scratch = np.zeros(n_units), units, units.copy(), np.zeros((n_units, n_units))
    for t in range(len(b)):
        _settle(gram[t], b[t], sparsity, nonnegative, theta[t], scratch)
    return theta


@compiled(**SUMS)
def learn_operators(
    dx: np.ndarray,
    x: np.ndarray,
    A: np.ndarray,
    told: np.ndarray,
    learning_rate: float,
    ridge: float,
    sparsity: float,
    nonnegative: bool,
    memory: float,
) -> None:
    r"""Learn operators A, shape (K, n, n), in place, one pair after the other: magnitudes, then the gradient of Eq. 9.

    The step is ``learning_rate`` over :math:`|\theta|^2 |x|^2`, that of the mean pair so far or of this one, whichever
    is larger, so that neither units nor one large magnitude matter. Norms of operators are put back to 1.

    ``told``, shape (4,), is kept: pairs so far, their mean of that, and recent sums of the objective and of
    :math:`|\Delta x|^2`, which a pair later count ``memory`` times as much.
    """
    n_units, n, _ = A.shape
    y, gram = np.zeros((n_units, n)), np.zeros((n_units, n_units))
    b, theta, left = np.zeros(n_units), np.zeros(n_units), np.zeros(n)
    units = np.arange(n_units)
    scratch = np.zeros(n_units), units, units.copy(), np.zeros((n_units, n_units))
    for t in range(len(x)):
        change, intensity = _predict(A, dx[t], x[t], ridge, y, gram, b)
        _settle(gram, b, sparsity, nonnegative, theta, scratch)
        size = cost = 0.0
        for a in range(n_units):
            size += theta[a] * theta[a]
            cost += ridge * theta[a] * theta[a] + sparsity * abs(theta[a])
        for i in range(n):
            left[i] = dx[t, i]
            for a in range(n_units):
                left[i] -= theta[a] * y[a, i]
            cost += left[i] * left[i]  # Eq. 9
        told[0] += 1.0
        told[1] += (size * intensity - told[1]) / told[0]
        told[2] = memory * told[2] + cost
        told[3] = memory * told[3] + change
        if size * intensity > 0.0:
            _step(A, theta, left, x[t], learning_rate / max(told[1], size * intensity))


@compiled(**PART, **SUMS)
def _predict(A, dx, x, ridge, y, gram, b):
    n_units, n, _ = A.shape
    for a in range(n_units):
        b[a] = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += A[a, i, j] * x[j]
            y[a, i] = total
            b[a] += total * dx[i]
        for c in range(a + 1):
            inner = 0.0
            for i in range(n):
                inner += y[a, i] * y[c, i]
            gram[a, c] = gram[c, a] = inner
        gram[a, a] += ridge
    change = intensity = 0.0
    for i in range(n):
        change += dx[i] * dx[i]
        intensity += x[i] * x[i]
    return change, intensity


@compiled(**PART, **SUMS)
def _step(A, theta, left, x, eta):
    n_units, n, _ = A.shape
    for a in range(n_units):
        if theta[a] == 0.0:
            continue
        square = 0.0
        for i in range(n):
            for j in range(n):
                A[a, i, j] += eta * theta[a] * left[i] * x[j]  # the gradient of Eq. 9
                square += A[a, i, j] * A[a, i, j]
        norm = np.sqrt(square)
        for i in range(n):
            for j in range(n):
                A[a, i, j] /= norm
