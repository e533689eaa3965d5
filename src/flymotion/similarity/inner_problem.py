"""The outputs of Eq. 15, for K units: a linear system (SM), or a nonnegative quadratic problem (NSM).

R changes with each sample by an outer product. So SM's factor of it is carried along, in K^2 steps, where all units are
in use and R is far from singular, and else is made anew, in K^3 / 6; NSM's active sets change, and are factorised each.
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import PART, compiled

__all__ = ["carry", "factor", "solve_linear", "solve_nonnegative", "solve_signed", "substitute"]


@compiled(**PART)
def factor(R, units, count, L):
    """Factorise R of ``units[:count]``: L' above the diagonal of ``R = L D L'``, on it 1 / D; 0 in the null space."""
    for i in range(count):
        for j in range(i, count):
            L[i, j] = R[units[i], units[j]]
    for k in range(count):
        inverse = 1.0 / L[k, k] if abs(L[k, k]) > 1e-13 * abs(R[units[k], units[k]]) else 0.0
        L[k, k] = inverse
        for i in range(k + 1, count):
            share = L[k, i] * inverse
            for j in range(i, count):
                L[i, j] -= share * L[k, j]
        for i in range(k + 1, count):
            L[k, i] *= inverse


@compiled(**PART)
def substitute(L, b, units, count, theta):
    """Solve ``L D L' theta = b`` on ``units[:count]``, ascending; those in the null space, and all others, get 0."""
    for i in range(count):
        theta[i] = b[units[i]]
    for k in range(count):
        value = theta[k]
        for i in range(k + 1, count):
            theta[i] -= L[k, i] * value
    for k in range(count - 1, -1, -1):
        value = theta[k] * L[k, k]
        for i in range(k + 1, count):
            value -= L[k, i] * theta[i]
        theta[k] = value if L[k, k] != 0.0 else 0.0
    for i in range(count, len(theta)):
        theta[i] = 0.0
    for i in range(count - 1, -1, -1):  # to where they belong, which is never further left
        value = theta[i]
        theta[i] = 0.0
        theta[units[i]] = value


@compiled(**PART)
def solve_linear(R, b, units, count, L, theta):
    """Solve ``R theta = b`` on ``units[:count]`` by L D L'; units in the null space get 0 (Eq. 15, SM)."""
    factor(R, units, count, L)
    substitute(L, b, units, count, theta)


@compiled(**PART)
def carry(L, forgetting, theta, left):
    """Make the factor of R that of ``forgetting R + theta theta'``, stably, as pivots only grow.

    Gill, Golub, Murray & Saunders (1974), Methods for modifying matrix factorizations. Math. Comp. 28:505.
    """
    n_units = len(theta)
    for a in range(n_units):
        left[a] = theta[a]
    before, keeping = forgetting, 1.0 / forgetting
    for k in range(n_units):
        value = left[k]
        push = value * L[k, k]
        after = before + value * push
        inverse = 1.0 / after
        L[k, k] *= before * inverse * keeping
        push *= inverse
        before = after
        for i in range(k + 1, n_units):
            left[i] -= value * L[k, i]
            L[k, i] += push * left[i]


@compiled(**PART)
def leave(R, a, change, left):
    """Change the output of unit a, in what outputs leave of ``b``."""
    for c in range(len(left)):
        left[c] -= change * R[a, c]


@compiled(**PART)
def sweep(R, units, count, active, theta, left):
    """Update each unit once; returns how many are active, listed in ``active``, and whether others than before."""
    changed = False
    n_active = np.int64(0)
    for i in range(count):
        a = units[i]
        before = theta[a]
        value = left[a] + R[a, a] * before
        changed |= (value > 0.0) != (before > 0.0)
        theta[a] = 0.0
        if value > 0.0:
            theta[a] = value / R[a, a]
            active[n_active] = a
            n_active += 1
        if theta[a] != before:
            leave(R, a, theta[a] - before, left)
    return n_active, changed


@compiled(**PART)
def solve_nonnegative(R, b, units, count, active, L, theta, left, max_sweeps):
    """Minimise ``theta' R theta / 2 - b' theta`` over theta >= 0 on ``units[:count]`` (Eq. 15, NSM).

    One-at-a-time updates, which converge where synchronous ones flip for ever, find the active set; solving on it gives
    the fixed point to rounding. ``left`` is room for ``b - R theta``. Returns whether it was reached.
    """
    top = 0.0
    for i in range(count):
        theta[units[i]] = 0.0
        if b[units[i]] > top:
            top = b[units[i]]
    if top <= 0.0:
        return True
    for c in range(len(left)):
        left[c] = b[c]
    for turn in range(max_sweeps):
        n_active, changed = sweep(R, units, count, active, theta, left)
        if turn == 0 or n_active == 1 or not changed:
            solve_linear(R, b, active, n_active, L, theta)
            for c in range(len(left)):
                left[c] = b[c]
            for i in range(n_active):
                leave(R, active[i], theta[active[i]], left)
            optimal = True
            for i in range(count):
                a = units[i]
                optimal &= theta[a] >= 0.0 and (theta[a] > 0.0 or left[a] <= 1e-12 * top)
            if optimal:
                return True
            for i in range(n_active):
                if theta[active[i]] < 0.0:
                    leave(R, active[i], -theta[active[i]], left)
                    theta[active[i]] = 0.0
    return False


@compiled(**PART)
def solve_signed(R, b, units, count, L, theta, carried):
    """Solve ``R theta = b`` with the factor carried along, where there is one (Eq. 15, SM).

    ``carried[0]`` says afterwards whether R is far enough from singular, and the outputs small enough, to go on so.
    """
    if not carried[0]:
        factor(R, units, count, L)
    substitute(L, b, units, count, theta)
    far = count == len(theta)
    for i in range(count):
        a = units[i]
        far &= 0.0 < L[i, i] * R[a, a] < 1e6 and L[i, i] * theta[a] ** 2 < 1e12
    carried[0] = np.int64(far)
