r"""The compiled inner recursion of SM and NSM, and nothing else.

Eqs. 15-18 are a recursion on ``R = sum theta theta'`` (K x K) and ``S = sum theta chi'``. Inside a block of B samples,
S needs only the block's Gram matrix G and the projections ``P = S_0 chi``:

.. math:: S_t \chi_t = l^t S_0 \chi_t + \sum_{s<t} l^{t-1-s} \theta_s G_{st},

with the forgetting factor l. This is the per-sample algorithm exactly, for any block size. Where chi has fewer entries
than a block has samples, they are the shorter way to write the change of S down: ``recurse_in_features``.

==========  ==========  =============================================================================
``P``       (B, K)      projections on the state at the start of the block
``G``       (B, B)      inner products of the block's samples
``R``       (K, K)      float64, updated in place
``D``       (K, B)      outputs, each forgotten up to now; at the end ``S = gain S_0 + D chi``
``gain``    (K,)        what is left of ``S_0``
==========  ==========  =============================================================================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.similarity.compilation import SUMS, WITHIN, compiled
from flymotion.similarity.inner_problem import solve_linear, solve_nonnegative

__all__ = ["Rules", "Scratch", "in_use", "learn", "recurse", "recurse_in_features", "respond"]


class Rules(NamedTuple):
    """How to learn from a sample.

    Attributes
    ----------
    forgetting : float
        Factor by which the past counts less, after a sample that any unit answers.
    floor : float
        Share of the trace of R below which a unit stops forgetting.
    recruit_above : float
        Share of a sample's squared norm which the other units have to leave unexplained to recruit a unit that has
        never been active: the term of Eq. 12 at t = t' then asks for ``|theta|^2 = |chi|^2``.
    nonnegative : bool
        Whether outputs are (NSM), or not (SM).
    max_sweeps : int
        Most sweeps of NSM's inner problem.
    """

    forgetting: float
    floor: float
    recruit_above: float
    nonnegative: bool
    max_sweeps: int


class Scratch(NamedTuple):
    """Room for one sample: outputs, ``S chi``, roots of forgetting factors, lists of units, and a factor of R."""

    theta: np.ndarray
    b: np.ndarray
    decay: np.ndarray
    units: np.ndarray
    active: np.ndarray
    L: np.ndarray

    @classmethod
    def of(cls, n_units: int) -> Scratch:
        """Make it here, since numba would compile every kind of array."""
        units, active = np.zeros((2, n_units), np.int64)
        return cls(np.zeros(n_units), np.zeros(n_units), np.ones(n_units), units, active, np.zeros((n_units, n_units)))


@compiled(**WITHIN)
def in_use(R, theta, units):
    """List the units that have answered a sample, and put outputs to 0; returns how many, and the trace of R."""
    count = np.int64(0)  # a plain 0 would be a type of its own, and compiled for
    trace = 0.0
    for a in range(len(theta)):
        theta[a] = 0.0
        trace += R[a, a]
        if R[a, a] > 0.0:
            units[count] = a
            count += 1
    return count, trace


@compiled(**WITHIN)
def learn(R, norm2, count, trace, rules, theta, decay):
    """Learn R from outputs theta to a sample of ``norm2 = |chi|^2``, ``count`` units in use.

    Recruits a unit where that is due, and leaves in ``decay`` the roots of the units' forgetting factors.
    """
    n_units = len(theta)
    if count < n_units:
        residual = norm2
        for a in range(n_units):
            residual -= theta[a] * theta[a]
        if residual > rules.recruit_above * norm2:
            for a in range(n_units):
                if R[a, a] == 0.0:
                    theta[a] = np.sqrt(residual)
                    break
    if rules.forgetting < 1.0:
        answered = False
        for a in range(n_units):
            answered |= theta[a] != 0.0
        for a in range(n_units):
            lasting = answered and R[a, a] * rules.forgetting > rules.floor * trace
            decay[a] = np.sqrt(rules.forgetting) if lasting else 1.0
    for a in range(n_units):
        for c in range(n_units):
            R[a, c] = decay[a] * decay[c] * R[a, c] + theta[a] * theta[c]  # Eqs. 6, 17, 18, times That


@compiled(**WITHIN)
def step(R, norm2, rules, scratch):
    """Learn R from one sample, given its ``norm2 = |chi|^2`` and, in the scratch, ``b = S chi``.

    Leaves there the outputs theta, and in ``decay`` the roots of the units' forgetting factors. Returns whether the
    outputs were found.
    """
    theta, b, decay, units, active, L = scratch
    count, trace = in_use(R, theta, units)
    solved = True
    if rules.nonnegative:
        solved = solve_nonnegative(R, b, units, count, active, L, theta, rules.max_sweeps)  # Eq. 15, right
    else:
        solve_linear(R, b, units, count, L, theta)  # Eq. 15, left; Eq. 5 at rest
    learn(R, norm2, count, trace, rules, theta, decay)
    return solved


def recurse(P, G, R, rules):
    """Run Eqs. 15-18 over a block; returns outputs (B, K), D, gain, and the numbers of samples used and unsolved.

    A sample of norm 0 changes nothing.
    """
    outputs, D, gain = np.zeros(P.shape, P.dtype), np.zeros(P.shape[::-1], P.dtype), np.ones(len(R))
    counts = _recurse(P, G, R, rules, outputs, D, gain, Scratch.of(len(R)))
    return outputs, D, gain, counts


@compiled(**SUMS)
def _recurse(P, G, R, rules, outputs, D, gain, scratch):
    theta, b, decay = scratch.theta, scratch.b, scratch.decay
    n_samples, n_units = P.shape
    used = solved = 0
    for t in range(n_samples):
        if not G[t, t] > 0.0:
            continue
        for a in range(n_units):
            inner = outputs[t, a]  # zero, in the precision of the block
            for s in range(t):
                inner += D[a, s] * G[t, s]
            b[a] = gain[a] * P[t, a] + inner
        used += 1
        solved += step(R, np.float64(G[t, t]), rules, scratch)
        for a in range(n_units):
            if decay[a] < 1.0:
                gain[a] *= decay[a] ** 2
                for s in range(t):
                    D[a, s] *= decay[a] ** 2
            outputs[t, a] = D[a, t] = theta[a]  # Eq. 16, times That, when D meets chi
    return used, used - solved


def recurse_in_features(u, v, S, R, rules):
    """Run Eqs. 15-18 over a block, like ``recurse``, from the state S and ``chi = sum_r outer(u_r, v_r)``.

    Factors have shapes (B, r, n_u) and (B, r, n_v), S (K, n_u n_v). D is the change of S itself. Rows of S and D are
    padded to whole vectors of the processor, since a remainder takes as long as all of them.
    """
    outputs, D, gain = np.zeros((len(u), len(S)), S.dtype), np.zeros_like(S), np.ones(len(S))
    chi = np.zeros_like(S[0])
    matrix = chi[: u.shape[2] * v.shape[2]].reshape(u.shape[2], v.shape[2])
    counts = _recurse_in_features(u, v, S, R, rules, outputs, D, gain, chi, matrix, Scratch.of(len(S)))
    return outputs, D, gain, counts


@compiled(**SUMS)
def _recurse_in_features(u, v, S, R, rules, outputs, D, gain, chi, matrix, scratch):
    theta, b, decay = scratch.theta, scratch.b, scratch.decay
    n_samples, rank, n_u = u.shape
    n_v = v.shape[2]
    n_units, width = S.shape
    used = solved = 0
    for t in range(n_samples):
        for i in range(n_u):
            for j in range(n_v):
                matrix[i, j] = u[t, 0, i] * v[t, 0, j]  # Eq. 11
        for r in range(1, rank):
            for i in range(n_u):
                for j in range(n_v):
                    matrix[i, j] += u[t, r, i] * v[t, r, j]
        zero = norm2 = outputs[t, 0]  # in the precision of the block
        for i in range(width):
            norm2 += chi[i] * chi[i]
        if not norm2 > 0.0:
            continue
        for a in range(n_units):
            before = change = zero
            for i in range(width):
                before += S[a, i] * chi[i]
                change += D[a, i] * chi[i]
            b[a] = gain[a] * before + change
        used += 1
        solved += step(R, np.float64(norm2), rules, scratch)
        for a in range(n_units):
            outputs[t, a] = theta[a]
            if decay[a] < 1.0:
                gain[a] *= decay[a] ** 2
                for i in range(width):
                    D[a, i] *= decay[a] ** 2
            if theta[a] != 0.0:
                for i in range(width):
                    D[a, i] += outputs[t, a] * chi[i]  # Eqs. 6, 16, times That
    return used, used - solved


def respond(inputs, R, nonnegative, max_sweeps):
    """Return the outputs of Eq. 15 for ``inputs = S chi``, the state held still, and how many were not found."""
    outputs = np.zeros(inputs.shape, inputs.dtype)
    return outputs, _respond(inputs, R, nonnegative, max_sweeps, outputs, Scratch.of(len(R)))


@compiled()
def _respond(inputs, R, nonnegative, max_sweeps, outputs, scratch):
    theta, b, _, units, active, L = scratch
    n_samples, n_units = inputs.shape
    unsolved = 0
    count = np.int64(0)
    for a in range(n_units):
        if R[a, a] > 0.0:
            units[count] = a
            count += 1
    for t in range(n_samples):
        for a in range(n_units):
            b[a] = inputs[t, a]
        if not nonnegative:
            solve_linear(R, b, units, count, L, theta)  # Eq. 15, left
        elif not solve_nonnegative(R, b, units, count, active, L, theta, max_sweeps):  # Eq. 15, right
            unsolved += 1
        for a in range(n_units):
            outputs[t, a] = theta[a]
    return unsolved
