r"""The compiled life of a network of rate units: drive, dynamics that settle, and synapses that change. Nothing else.

Each loop is one equation, in the paper's order, and an assignment to a synapse has on its right side only what is at
that synapse. Numbers of units and pixels are small; no line is there to be fast.

========  ==================  =======================================================================================
``u, v``  (T, n_u), (T, n_v)  factors of each sample, ``chi = outer(u, v)``; a plain vector x is ``u = (1,), v = x``
``W``     (K, n_u, n_v)       feedforward synapses, updated in place
``M``     (K, K)              lateral synapses, from c onto a; the diagonal is the unit's leak, where a rate is given
``That``  (K,)                sum of squares of each unit's outputs (Eq. 18)
========  ==================  =======================================================================================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.similarity.compilation import PART, compiled

__all__ = ["Rules", "live"]

BEYOND = 1e150
"""Speed of outputs that grow without bound: squares of much larger ones are no numbers any more."""


class Rules(NamedTuple):
    """How units answer and synapses change.

    Attributes
    ----------
    rate : float
        The constant rate eta of Eq. 6; 0 for the averaging of Eqs. 16-18.
    rectified : bool
        Whether outputs are nonnegative (NSM), or not (SM).
    learns : bool
        Whether synapses change.
    tolerance : float
        Speed at which units count as settled [largest drive per time constant].
    max_steps : int
        Most steps of the dynamics for one sample.
    """

    rate: float
    rectified: bool
    learns: bool
    tolerance: float
    max_steps: int


@compiled(**PART)
def settle(drive, M, rules, theta, change):
    """Integrate ``dtheta_a/dt = [drive_a - sum_c M_ac theta_c]_+ / leak_a - theta_a`` from rest; return the steps.

    These are all of them where outputs do not settle; outputs that grow without bound become NaN.
    """
    n_units = len(theta)
    dt = 1.0 / n_units  # of a time constant
    largest = 0.0
    for a in range(n_units):
        theta[a] = 0.0
        largest = max(largest, abs(drive[a]) / M[a, a] if rules.rate > 0.0 else abs(drive[a]))
    for step in range(rules.max_steps):
        fastest = 0.0
        for a in range(n_units):
            inflow = drive[a]
            for c in range(n_units):
                if c != a:
                    inflow -= M[a, c] * theta[c]
            if rules.rectified and inflow < 0.0:
                inflow = 0.0
            if rules.rate > 0.0:
                inflow /= M[a, a]
            change[a] = inflow - theta[a]  # Eqs. 5, 15
            if not abs(change[a]) <= BEYOND:
                theta[:] = np.nan
                return rules.max_steps
            fastest = max(fastest, abs(change[a]))
        if fastest <= rules.tolerance * largest:
            return step
        for a in range(n_units):
            theta[a] += dt * change[a]
    return rules.max_steps


@compiled(**PART)
def average(u, v, theta, W, M, That):
    """Let synapses change by the averaging of Eqs. 16-18; those of silent units do not."""
    for a in range(len(theta)):
        if theta[a] * theta[a] == 0.0:  # or too small for float64
            continue
        That[a] += theta[a] * theta[a]  # Eq. 18
        rate = theta[a] / That[a]
        for c in range(len(theta)):
            if c != a:
                M[a, c] += rate * (theta[c] - M[a, c] * theta[a])  # Eq. 17
        for i in range(len(u)):
            for j in range(len(v)):
                W[a, i, j] += rate * (u[i] * v[j] - W[a, i, j] * theta[a])  # Eq. 16


@compiled(**PART)
def forget(u, v, theta, W, M, rate):
    """Let synapses change at the constant rate of Eq. 6."""
    for a in range(len(theta)):
        for c in range(len(theta)):
            M[a, c] += rate * (theta[a] * theta[c] - M[a, c])  # Eq. 6, right
        for i in range(len(u)):
            for j in range(len(v)):
                W[a, i, j] += rate * (theta[a] * u[i] * v[j] - W[a, i, j])  # Eq. 6, left


@compiled()
def live(u, v, W, M, That, rules, outputs, steps, drive, change):
    """Show samples one after the other; outputs (T, K) and steps (T,) are written to where they are."""
    for t in range(len(u)):
        for a in range(len(drive)):
            drive[a] = 0.0
            for i in range(u.shape[1]):
                row = 0.0
                for j in range(v.shape[1]):
                    row += W[a, i, j] * v[t, j]
                drive[a] += u[t, i] * row  # Eq. 19: one neuron a row
        steps[t] = settle(drive, M, rules, outputs[t], change)
        if not rules.learns or outputs[t, 0] != outputs[t, 0]:
            continue
        if rules.rate > 0.0:
            forget(u[t], v[t], outputs[t], W, M, rules.rate)
        else:
            average(u[t], v[t], outputs[t], W, M, That)
