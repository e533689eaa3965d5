r"""Learning a few samples at a time, for chi of a few hundred to a few thousand entries.

Eqs. 15-18 sample by sample, as in ``recursion``, but what takes the time are small matrix products, of a size at which
BLAS is fast and which stay in the processor's cache. With the state as T, of K n_u rows, and factors of F samples as
rows of U and V,

.. math::
    P_{as} = \sum_i U_{si} (T V')_{ai,s}, \quad G = U U' \circ V V', \quad \Delta S_{ai} = \sum_s Q_{as} U_{si} V_s,

and sums over i are taken with samples side by side. After each few samples ``T = gain S + D`` is made anew of the state
at the start of the block and its change, so that rounding of float32 does not add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.similarity.compilation import SUMS, compiled
from flymotion.similarity.recursion import Scratch, step

__all__ = ["recurse_in_few"]

FEW = 64
"""Samples taken at a time: more have a larger Gram matrix, fewer more calls."""


class Few(NamedTuple):
    """Room for a few samples of b rows of factors, F = b / r.

    Attributes
    ----------
    u, v : ndarray, shape (b, n)
        Factors, and 0 where there are no more samples.
    u_across : ndarray, shape (n_u, b)
        The same, across.
    pushed : ndarray, shape (K n_u, b)
        Filters on v; at the end, factors u weighted by outputs.
    among_u, among_v : ndarray, shape (b, b)
        Inner products.
    P, Q : ndarray, shape (K, F)
        Projections on the state of before, and outputs, forgotten up to now.
    change : ndarray, shape (K n_u, n_v)
        What they add to the state.
    lasting : ndarray, shape (K,)
        What is left of the state of before.
    """

    u: np.ndarray
    v: np.ndarray
    u_across: np.ndarray
    pushed: np.ndarray
    among_u: np.ndarray
    among_v: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    change: np.ndarray
    lasting: np.ndarray

    @classmethod
    def of(cls, n_units: int, rank: int, n_u: int, n_v: int, dtype: np.dtype) -> Few:
        """Make it here, like a sample's."""
        b = FEW * rank
        (among_u, among_v), (P, Q) = np.zeros((2, b, b), dtype), np.zeros((2, n_units, FEW), dtype)
        u, v, across = np.zeros((b, n_u), dtype), np.zeros((b, n_v), dtype), np.zeros((n_u, b), dtype)
        pushed, change = np.zeros((n_units * n_u, b), dtype), np.zeros((n_units * n_u, n_v), dtype)
        return cls(u, v, across, pushed, among_u, among_v, P, Q, change, np.ones(n_units))


def recurse_in_few(u, v, S, R, rules):
    """Run Eqs. 15-18 over a block, like ``recurse``, from the state S and ``chi = sum_r outer(u_r, v_r)``.

    Factors have shapes (B, r, n_u) and (B, r, n_v), S (K, n_u n_v). D is the change of S itself.
    """
    outputs, D, gain = np.zeros((len(u), len(S)), S.dtype), np.zeros_like(S), np.ones(len(S))
    few = Few.of(len(S), u.shape[1], u.shape[2], v.shape[2], S.dtype)
    counts = _recurse_in_few(u, v, S, S.copy(), R, rules, outputs, D, gain, few, Scratch.of(len(S)), np.zeros(1, np.bool_))
    return outputs, D, gain, counts


@compiled()
def _take(u, v, start, count, few):
    """Take a few samples: their factors, and their inner products, for which ``among_u`` is where they are left."""
    rank = u.shape[1]
    for s in range(count):
        for p in range(rank):
            row = s * rank + p
            for i in range(u.shape[2]):
                few.u[row, i] = u[start + s, p, i]
            for j in range(v.shape[2]):
                few.v[row, j] = v[start + s, p, j]
    if count < FEW:
        few.u[count * rank :] = 0
        few.v[count * rank :] = 0
    for row in range(len(few.u)):
        for i in range(u.shape[2]):
            few.u_across[i, row] = few.u[row, i]
    np.dot(few.u, few.u_across, few.among_u)
    np.dot(few.v, few.v.T, few.among_v)
    for row in range(len(few.u)):
        for column in range(len(few.u)):
            few.among_u[row, column] *= few.among_v[row, column]
    if rank > 1:
        for s in range(FEW):
            for t in range(FEW):
                total = few.among_u[s * rank, t * rank]
                for p in range(rank):
                    for q in range(p == 0, rank):
                        total += few.among_u[s * rank + p, t * rank + q]
                few.among_u[s, t] = total  # no later sum needs what was here


@compiled()
def _project(T, few):
    """Project a few samples on the state of before them."""
    n_units, n_u = len(few.P), few.u.shape[1]
    rank = len(few.u) // FEW
    np.dot(T.reshape(-1, few.v.shape[1]), few.v.T, few.pushed)
    few.P[:] = 0
    for a in range(n_units):
        for i in range(n_u):
            if rank == 1:
                for s in range(FEW):
                    few.P[a, s] += few.pushed[a * n_u + i, s] * few.u_across[i, s]
            else:
                for s in range(FEW):
                    for p in range(rank):
                        few.P[a, s] += few.pushed[a * n_u + i, s * rank + p] * few.u_across[i, s * rank + p]


@compiled()
def _add(S, T, D, gain, few):
    """Add a few samples to the change D and to the state ``T = gain S + D`` (Eqs. 6, 16, times That)."""
    n_units, n_u = len(few.P), few.u.shape[1]
    rank = len(few.u) // FEW
    for a in range(n_units):
        for i in range(n_u):
            if rank == 1:
                for s in range(FEW):
                    few.pushed[a * n_u + i, s] = few.Q[a, s] * few.u_across[i, s]
            else:
                for s in range(FEW):
                    for p in range(rank):
                        few.pushed[a * n_u + i, s * rank + p] = few.Q[a, s] * few.u_across[i, s * rank + p]
    np.dot(few.pushed, few.v, few.change)
    change = few.change.reshape(S.shape)
    for a in range(n_units):
        if gain[a] == 1.0:
            for i in range(S.shape[1]):
                D[a, i] += change[a, i]
                T[a, i] = S[a, i] + D[a, i]
        else:
            for i in range(S.shape[1]):
                D[a, i] = few.lasting[a] * D[a, i] + change[a, i]
                T[a, i] = gain[a] * S[a, i] + D[a, i]


@compiled(**SUMS)
def _recurse_in_few(u, v, S, T, R, rules, outputs, D, gain, few, scratch, carried):
    theta, b, decay = scratch.theta, scratch.b, scratch.decay
    G, P, Q, lasting = few.among_u, few.P, few.Q, few.lasting
    n_samples, n_units = outputs.shape
    used = solved = 0
    for start in range(0, n_samples, FEW):
        count = min(FEW, n_samples - start)
        _take(u, v, start, count, few)
        _project(T, few)
        lasting[:] = 1.0
        Q[:] = 0
        for s in range(count):
            if not G[s, s] > 0.0:
                continue
            for a in range(n_units):
                inner = outputs[start + s, a]  # zero, in the precision of the block
                for t in range(s):
                    inner += Q[a, t] * G[s, t]
                b[a] = lasting[a] * P[a, s] + inner
            used += 1
            solved += step(R, np.float64(G[s, s]), rules, scratch, carried)
            for a in range(n_units):
                if decay[a] < 1.0:
                    gain[a] *= decay[a] ** 2
                    lasting[a] *= decay[a] ** 2
                    for t in range(s):
                        Q[a, t] *= decay[a] ** 2
                outputs[start + s, a] = Q[a, s] = theta[a]
        _add(S, T, D, gain, few)
    return used, used - solved
