"""The outputs of Eq. 15, as in ``inner_problem``, for more units: rows of R are taken side by side in the processor.

SM's factor of R is carried along with R, in K^2 steps, where it would take K^3 / 6 to make anew. With two units all
this takes longer.
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import WITHIN, compiled

__all__ = ["carry", "solve"]


@compiled(**WITHIN)
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


@compiled(**WITHIN)
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


@compiled(**WITHIN)
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
        change = theta[a] - before
        if change != 0.0:
            for c in range(len(left)):
                left[c] -= change * R[a, c]
    return n_active, changed


@compiled(**WITHIN)
def solve(R, b, units, count, nonnegative, max_sweeps, ready, active, L, theta, left):
    """Solve Eq. 15 on ``units[:count]``: ``R theta = b``, or ``theta' R theta / 2 - b' theta`` least over theta >= 0.

    For the latter, one-at-a-time updates, which converge where synchronous ones flip for ever, find the active set;
    solving on it gives the fixed point to rounding. ``left`` is room for ``b - R theta``. Of the former, ``ready`` says
    that L has the factor of R already. Returns whether it was reached.
    """
    top = 0.0
    for i in range(count):
        active[i] = units[i]
        theta[units[i]] = 0.0
        if b[units[i]] > top:
            top = b[units[i]]
    if nonnegative and top <= 0.0:
        return True
    for c in range(len(left)):
        left[c] = b[c]
    n_active, changed = count, False
    for turn in range(max_sweeps):
        if nonnegative:
            n_active, changed = sweep(R, units, count, active, theta, left)
            if turn > 0 and n_active > 1 and changed:
                continue
        if not ready:
            factor(R, active, n_active, L)
        substitute(L, b, active, n_active, theta)
        if not nonnegative or optimal(R, b, units, count, active, n_active, theta, left, top):
            return True
    return False


@compiled(**WITHIN)
def optimal(R, b, units, count, active, n_active, theta, left, top):
    """Say whether outputs solved for on the active set are optimal; if not, negative ones become 0."""
    for c in range(len(left)):
        left[c] = b[c]
    found = True
    for i in range(n_active):
        a = active[i]
        found &= theta[a] >= 0.0
        theta[a] = theta[a] if theta[a] > 0.0 else 0.0
        for c in range(len(left)):
            left[c] -= theta[a] * R[a, c]
    for i in range(count):
        found &= theta[units[i]] > 0.0 or left[units[i]] <= 1e-12 * top
    return found


@compiled(**WITHIN)
def carry(R, L, theta, decay, left):
    """Make L, the factor of R before theta was learned, that of R after it, stably, as pivots only grow.

    Returns whether it was: where R is far enough from singular, and units forget alike.

    Gill, Golub, Murray & Saunders (1974), Methods for modifying matrix factorizations. Math. Comp. 28:505.
    """
    n_units = len(theta)
    far = True
    for a in range(n_units):
        left[a] = theta[a]
        far &= 0.0 < L[a, a] * R[a, a] < 1e6 and decay[a] == decay[0]
    if not far:
        return False
    before = decay[0] * decay[0]
    keeping = 1.0 / before
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
    return True
