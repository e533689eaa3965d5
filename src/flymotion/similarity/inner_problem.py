"""The outputs of Eq. 15, for a few units: a linear system (SM), or a nonnegative quadratic problem (NSM)."""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import WITHIN, compiled

__all__ = ["solve_linear", "solve_nonnegative"]


@compiled(**WITHIN)
def solve_linear(R, b, units, count, L, theta):
    """Solve ``R theta = b`` on ``units[:count]`` by L D L'; units in the null space get 0 (Eq. 15, SM)."""
    for i in range(count):
        a = units[i]
        for j in range(i):
            c = units[j]
            value = R[a, c]
            for k in range(j):
                value -= L[i, k] * L[j, k] * L[k, k]
            L[i, j] = value / L[j, j] if L[j, j] != 0.0 else 0.0
        pivot = R[a, a]
        for k in range(i):
            pivot -= L[i, k] * L[i, k] * L[k, k]
        L[i, i] = pivot if abs(pivot) > 1e-13 * abs(R[a, a]) else 0.0
        value = b[a]
        for k in range(i):
            value -= L[i, k] * theta[units[k]]
        theta[a] = value
    for i in range(count - 1, -1, -1):
        value = theta[units[i]] / L[i, i] if L[i, i] != 0.0 else 0.0
        for k in range(i + 1, count):
            value -= L[k, i] * theta[units[k]]
        theta[units[i]] = value if L[i, i] != 0.0 else 0.0


@compiled(**WITHIN)
def solve_nonnegative(R, b, units, count, active, L, theta, max_sweeps):
    """Minimise ``theta' R theta / 2 - b' theta`` over theta >= 0 on ``units[:count]`` (Eq. 15, NSM).

    One-at-a-time updates, which converge where synchronous ones flip for ever, find the active set; solving on it gives
    the fixed point to rounding. Returns whether it was reached.
    """
    top = 0.0
    for i in range(count):
        theta[units[i]] = 0.0
        if b[units[i]] > top:
            top = b[units[i]]
    if top <= 0.0:
        return True
    for sweep in range(max_sweeps):
        changed = False
        n_active = np.int64(0)
        for i in range(count):
            a = units[i]
            value = b[a]
            for j in range(count):
                c = units[j]
                if c != a:
                    value -= R[a, c] * theta[c]
            changed |= (value > 0.0) != (theta[a] > 0.0)
            theta[a] = value / R[a, a] if value > 0.0 else 0.0
            if value > 0.0:
                active[n_active] = a
                n_active += 1
        if sweep == 0 or n_active == 1 or not changed:
            solve_linear(R, b, active, n_active, L, theta)
            optimal = True
            for i in range(count):
                a = units[i]
                value = b[a]
                for j in range(n_active):
                    value -= R[a, active[j]] * theta[active[j]]
                optimal &= theta[a] >= 0.0 and (theta[a] > 0.0 or value <= 1e-12 * top)
            if optimal:
                return True
            for i in range(count):
                if theta[units[i]] < 0.0:
                    theta[units[i]] = 0.0
    return False
