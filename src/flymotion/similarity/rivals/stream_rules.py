r"""The compiled loops of learners of a stream: Oja's rules, CCIPCA and fast similarity matching, sample by sample.

Each sample ``chi = sum_r outer(u_r, v_r)`` is written out when its turn comes, in room for one; all of them never are.

==========  ===========  ====================================================================
``u``       (B, r, n_u)  factors of the samples, none of them nothing,
``v``       (B, r, n_v)  and the other ones
``W``       (K, n)       what is learned, changed in place, as are all other arrays of states
==========  ===========  ====================================================================
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import PART, SUMS, compiled
from flymotion.similarity.samples import PRECISION

__all__ = ["learn_by_ccipca", "learn_by_fast_matching", "learn_by_oja"]


def learn_by_oja(u, v, W, seen, rate, decay, ordered):
    """Learn by Oja's subspace rule, or Sanger's; ``seen`` has how many, and the sum of a unit's squared outputs."""
    chi, matrix = _room(u, v)
    _oja(u, v, W, seen, rate, decay, ordered, chi, matrix, np.zeros_like(chi), np.zeros(len(W)))


def learn_by_ccipca(u, v, V, n_seen, amnesic):
    """Learn eigenvectors V of the length of their eigenvalues, after ``n_seen`` samples."""
    chi, matrix = _room(u, v)
    _ccipca(u, v, V, n_seen, amnesic, PRECISION, chi, matrix)


def learn_by_fast_matching(u, v, W, inverse, n_seen, gamma, tau):
    """Learn W and the inverse of M, shape (K, K), after ``n_seen`` samples."""
    chi, matrix = _room(u, v)
    _fast_matching(u, v, W, inverse, n_seen, gamma, tau, chi, matrix, np.zeros((3, len(W))))


def _room(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return room for one sample, as a vector and the same as a matrix."""
    chi = np.zeros(u.shape[2] * v.shape[2])
    return chi, chi.reshape(u.shape[2], v.shape[2])


@compiled(**PART)
def _form(u, v, t, matrix):
    for i in range(u.shape[2]):
        for j in range(v.shape[2]):
            matrix[i, j] = u[t, 0, i] * v[t, 0, j]  # Eq. 11
    for r in range(1, u.shape[1]):
        for i in range(u.shape[2]):
            for j in range(v.shape[2]):
                matrix[i, j] += u[t, r, i] * v[t, r, j]


@compiled(**SUMS)
def _oja(u, v, W, seen, rate, decay, ordered, chi, matrix, left, y):
    n_units, n = W.shape
    for t in range(len(u)):
        _form(u, v, t, matrix)
        norm2 = 0.0
        for i in range(n):
            norm2 += chi[i] * chi[i]
            left[i] = chi[i]
        seen[0] += 1.0
        for a in range(n_units):
            y[a] = 0.0
            for i in range(n):
                y[a] += W[a, i] * chi[i]
            seen[1] += y[a] * y[a] / n_units
        eta = min(rate / (seen[0] ** decay * (seen[1] / seen[0])), 0.5 / norm2)
        if not ordered:
            for a in range(n_units):
                for i in range(n):
                    left[i] -= y[a] * W[a, i]
        for a in range(n_units):
            for i in range(n):
                if ordered:  # Sanger's: less what units up to this one explain
                    left[i] -= y[a] * W[a, i]
                W[a, i] += eta * y[a] * left[i]


@compiled(**SUMS)
def _ccipca(u, v, V, n_seen, amnesic, rounding, chi, matrix):
    n_units, n = V.shape
    for t in range(len(u)):
        _form(u, v, t, matrix)
        whole = 0.0
        for i in range(n):
            whole += chi[i] * chi[i]
        n_seen += 1
        kept = max(1.0, n_seen - 1.0 - amnesic) / n_seen
        for a in range(n_units):
            length = left = inner = 0.0
            for i in range(n):
                length += V[a, i] * V[a, i]
                inner += V[a, i] * chi[i]
                left += chi[i] * chi[i]
            if length == 0.0:  # begins with what the earlier ones leave
                if left > rounding * whole:
                    for i in range(n):
                        V[a, i] = chi[i]
                break
            new = (1.0 - kept) * inner / np.sqrt(length)
            length = inner = 0.0
            for i in range(n):
                V[a, i] = kept * V[a, i] + new * chi[i]
                length += V[a, i] * V[a, i]
                inner += V[a, i] * chi[i]
            for i in range(n):
                chi[i] -= inner / length * V[a, i]


@compiled(**SUMS)
def _fast_matching(u, v, W, inverse, n_seen, gamma, tau, chi, matrix, room):
    n_units, n = W.shape
    drive, y, z = room
    for t in range(len(u)):
        _form(u, v, t, matrix)
        step = 2.0 / (gamma * (n_seen + t) + 5.0)
        for a in range(n_units):
            drive[a] = 0.0
            for i in range(n):
                drive[a] += W[a, i] * chi[i]
        for a in range(n_units):
            y[a] = 0.0
            for c in range(n_units):
                y[a] += inverse[a, c] * drive[c]
        for a in range(n_units):
            for i in range(n):
                W[a, i] += step * (y[a] * chi[i] - W[a, i])
        step *= 0.5 / tau  # of M, whose inverse follows by the formula of Sherman and Morrison
        for a in range(n_units):
            z[a] = 0.0
            for c in range(n_units):
                inverse[a, c] /= 1.0 - step
                z[a] += inverse[a, c] * y[c]
        along = 0.0
        for a in range(n_units):
            along += z[a] * y[a]
        for a in range(n_units):
            for c in range(n_units):
                inverse[a, c] -= step * z[a] * z[c] / (1.0 + step * along)
