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

from flymotion.similarity.compilation import SUMS, WITHIN, compiled
from flymotion.similarity.recursion import Scratch, in_use, learn
from flymotion.similarity.side_by_side import carry, solve

__all__ = ["recurse_in_few"]

FEW = 64
"""Samples taken at a time: more have a larger Gram matrix, fewer more calls."""


class Few(NamedTuple):
    """A block, a few samples of b rows of factors at a time, F = b / r.

    Attributes
    ----------
    u, v : ndarray, shape (n, b, n_u) and (n, b, n_v)
        Factors, and 0 where there are no more samples.
    G, among : ndarray, shape (b, b)
        Inner products of these few samples, and of their factors v.
    across : ndarray, shape (n_u, b)
        Factors u of these few, across.
    pushed : ndarray, shape (K n_u, b)
        Filters on v; at the end, factors u weighted by outputs.
    spread : ndarray, shape (K, b)
        Projections, or outputs, of each row of factors.
    Q : ndarray, shape (K, F)
        Outputs, forgotten up to now.
    T, change : ndarray, shape (K n_u, n_v)
        The state, and what these few add to it.
    lasting : ndarray, shape (2, K)
        What is left of the state at the start of the block, and of the one before these few.
    """

    u: np.ndarray
    v: np.ndarray
    G: np.ndarray
    among: np.ndarray
    across: np.ndarray
    pushed: np.ndarray
    spread: np.ndarray
    Q: np.ndarray
    T: np.ndarray
    change: np.ndarray
    lasting: np.ndarray

    @classmethod
    def of(cls, u: np.ndarray, v: np.ndarray, S: np.ndarray) -> Few:
        """Make it here, like a sample's."""
        (_, rank, n_u), n_v, n_units = u.shape, v.shape[2], len(S)
        b, dtype = FEW * rank, S.dtype
        across, pushed, spread = (np.zeros((rows, b), dtype) for rows in (n_u, n_units * n_u, n_units))
        (G, among), T = np.zeros((2, b, b), dtype), S.reshape(n_units * n_u, n_v).copy()
        Q, lasting = np.zeros((n_units, FEW), dtype), np.ones((2, n_units), dtype)
        return cls(_in_few(u), _in_few(v), G, among, across, pushed, spread, Q, T, np.zeros_like(T), lasting)


def _in_few(factors: np.ndarray) -> np.ndarray:
    """Return factors, shape (B, r, m), a few at a time, shape (n, F r, m)."""
    _, rank, m = factors.shape
    factors = np.pad(factors, ((0, -len(factors) % FEW), (0, 0), (0, 0))) if len(factors) % FEW else factors
    return factors.reshape(-1, FEW * rank, m)


def recurse_in_few(u, v, S, R, rules):
    """Run Eqs. 15-18 over a block, like ``recurse``, from the state S and ``chi = sum_r outer(u_r, v_r)``.

    Factors have shapes (B, r, n_u) and (B, r, n_v), S (K, n_u n_v). D is the change of S itself.
    """
    outputs, gain, carried = np.zeros((len(u), len(S)), S.dtype), np.ones(len(S)), np.zeros(1, np.bool_)
    few, rows = Few.of(u, v, S), S.reshape(-1, v.shape[2])
    D = np.zeros_like(rows)
    counts = _recurse_in_few(rows, R, rules, outputs, D, gain, few, Scratch.of(len(S)), np.zeros(len(S)), carried)
    return outputs, D.reshape(S.shape), gain, counts


@compiled(**WITHIN)
def _begin(u, across, Q, lasting):
    """Begin with a few samples of factors u."""
    for i in range(len(across)):
        for s in range(len(u)):
            across[i, s] = u[s, i]
    for a in range(len(Q)):
        lasting[1, a] = 1.0
        for s in range(FEW):
            Q[a, s] = 0.0


@compiled(**WITHIN)
def _fold(G, among):
    """Multiply inner products of factors, and sum over ranks: those of samples, left in the corner of G."""
    for s in range(len(G)):
        for t in range(len(G)):
            G[s, t] *= among[s, t]
    rank = len(G) // FEW
    if rank > 1:
        for s in range(FEW):
            for t in range(FEW):
                total = G[s * rank, t * rank]
                for p in range(rank):
                    for q in range(p == 0, rank):
                        total += G[s * rank + p, t * rank + q]
                G[s, t] = total  # no later sum needs what was here


@compiled(**WITHIN)
def _project(pushed, across, spread):
    """Sum over i what filters on v, pushed, have of factors u."""
    n_units, n_u = len(spread), len(across)
    for a in range(n_units):
        for s in range(across.shape[1]):
            spread[a, s] = 0.0
        for i in range(n_u):
            for s in range(across.shape[1]):
                spread[a, s] += pushed[a * n_u + i, s] * across[i, s]


@compiled(**WITHIN)
def _step(R, norm2, rules, scratch, left, carried):
    """Learn R from one sample, as by ``recursion.step``, of more units; ``carried[0]`` says whether L is R's factor."""
    theta, b, decay, units, active, L = scratch
    count, trace = in_use(R, theta, units)
    most, ready = rules.max_sweeps, carried[0]
    solved = solve(R, b, units, count, rules.nonnegative, most, ready, active, L, theta, left)  # Eq. 15
    learn(R, norm2, count, trace, rules, theta, decay)
    carried[0] = not rules.nonnegative and count == len(theta) and carry(R, L, theta, decay, left)
    return solved


@compiled(**WITHIN)
def _weight(across, Q, gain, spread, pushed, lasting):
    """Weight factors u by outputs."""
    n_units, n_u = len(spread), len(across)
    rank = across.shape[1] // FEW
    for a in range(n_units):
        lasting[0, a] = gain[a]
        for s in range(across.shape[1]):
            spread[a, s] = Q[a, s // rank]
        for i in range(n_u):
            for s in range(across.shape[1]):
                pushed[a * n_u + i, s] = spread[a, s] * across[i, s]


@compiled(**WITHIN)
def _add(S, change, lasting, D, T):
    """Add to the change D and to the state ``T = gain S + D`` (Eqs. 6, 16, times That)."""
    n_u = len(S) // lasting.shape[1]
    for row in range(len(S)):
        before, past = lasting[0, row // n_u], lasting[1, row // n_u]
        for j in range(S.shape[1]):
            D[row, j] = past * D[row, j] + change[row, j]
            T[row, j] = before * S[row, j] + D[row, j]


@compiled(**SUMS)
def _recurse_in_few(S, R, rules, outputs, D, gain, few, scratch, left, carried):
    theta, b, decay = scratch.theta, scratch.b, scratch.decay
    G, spread, Q, lasting = few.G, few.spread, few.Q, few.lasting
    n_samples, n_units = outputs.shape
    rank = few.u.shape[1] // FEW
    used = solved = 0
    for turn in range(len(few.u)):
        u, v, start = few.u[turn], few.v[turn], turn * FEW
        _begin(u, few.across, Q, lasting)
        np.dot(u, few.across, G)
        np.dot(v, v.T, few.among)
        _fold(G, few.among)
        np.dot(few.T, v.T, few.pushed)
        _project(few.pushed, few.across, spread)
        for s in range(min(FEW, n_samples - start)):
            if not G[s, s] > 0.0:
                continue
            for a in range(n_units):
                inner = outputs[start + s, a]  # zero, in the precision of the block
                for t in range(s):
                    inner += Q[a, t] * G[s, t]
                before = outputs[start + s, a]
                for p in range(rank):
                    before += spread[a, s * rank + p]
                b[a] = lasting[1, a] * before + inner
            used += 1
            solved += _step(R, np.float64(G[s, s]), rules, scratch, left, carried)
            for a in range(n_units):
                if decay[a] < 1.0:
                    gain[a] *= decay[a] ** 2
                    lasting[1, a] *= decay[a] ** 2
                    for t in range(s):
                        Q[a, t] *= decay[a] ** 2
                outputs[start + s, a] = Q[a, s] = theta[a]
        _weight(few.across, Q, gain, spread, few.pushed, lasting)
        np.dot(few.pushed, v, few.change)
        _add(S, few.change, lasting, D, few.T)
    return used, used - solved
