"""The peer: Eqs. 15-18 as the paper prints them, one compiled loop over samples, entries of chi formed as needed."""

import numba
import numpy as np


@numba.njit(cache=True, fastmath=True)
def sm(W, M, That, dx, x):
    """Learn from pairs (Eq. 15 left, 16-18); W (K, n, n), M (K, K), That (K,) change in place; returns the outputs."""
    n_samples = len(x)
    n_units = len(That)
    theta = np.zeros((n_samples, n_units), W.dtype)
    y = np.zeros(n_units)
    A = np.zeros((n_units, n_units))
    for t in range(n_samples):
        project(W, dx[t], x[t], y)
        for a in range(n_units):  # (1 + M) theta = W chi, by elimination
            for b in range(n_units):
                A[a, b] = M[a, b]
            A[a, a] = 1.0
        for a in range(n_units):
            for b in range(a + 1, n_units):
                factor = A[b, a] / A[a, a]
                for c in range(a, n_units):
                    A[b, c] -= factor * A[a, c]
                y[b] -= factor * y[a]
        for a in range(n_units - 1, -1, -1):
            for b in range(a + 1, n_units):
                y[a] -= A[a, b] * y[b]
            y[a] /= A[a, a]
        update(W, M, That, dx[t], x[t], y)
        theta[t] = y
    return theta


@numba.njit(cache=True, fastmath=True)
def nsm(W, M, That, dx, x, tol=1e-6, max_iter=100):
    """Learn from pairs (Eq. 15 right by one-at-a-time updates, 16-18), like ``sm``."""
    n_samples = len(x)
    n_units = len(That)
    theta = np.zeros((n_samples, n_units), W.dtype)
    y = np.zeros(n_units)
    b = np.zeros(n_units)
    for t in range(n_samples):
        project(W, dx[t], x[t], b)
        y[:] = 0.0
        for _ in range(max_iter):
            change = 0.0
            largest = 0.0
            for a in range(n_units):
                value = b[a]
                for c in range(n_units):
                    value -= M[a, c] * y[c]
                value = max(value, 0.0)
                change = max(change, abs(value - y[a]))
                largest = max(largest, value)
                y[a] = value
            if change <= tol * largest:
                break
        update(W, M, That, dx[t], x[t], y)
        theta[t] = y
    return theta


@numba.njit(cache=True, fastmath=True)
def project(W, dx, x, y):
    """y = W chi."""
    n = len(x)
    for a in range(len(y)):
        value = W.dtype.type(0)
        for i in range(n):
            inner = W.dtype.type(0)
            for j in range(n):
                inner += W[a, i, j] * x[j]
            value += inner * dx[i]
        y[a] = value


@numba.njit(cache=True, fastmath=True)
def update(W, M, That, dx, x, theta):
    """Eqs. 16-18."""
    n = len(x)
    for a in range(len(theta)):
        That[a] += theta[a] ** 2
        gain = W.dtype.type(theta[a] / That[a])
        y = W.dtype.type(theta[a])
        for i in range(n):
            for j in range(n):
                W[a, i, j] += gain * (dx[i] * x[j] - W[a, i, j] * y)
        for b in range(len(theta)):
            if b != a:
                M[a, b] += theta[a] / That[a] * (theta[b] - M[a, b] * theta[a])
