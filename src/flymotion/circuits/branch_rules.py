r"""The compiled life of neurons with branches: conductances, voltages, rates that settle, and synapses that change.

Each assignment to a synapse has on its right side only what is at that synapse, or, where sites compete, what is at its
three siblings. Letters are those of :mod:`flymotion.circuits.membranes` and :mod:`flymotion.similarity.literal`.

==============  ====================  ============================================================================
``u, v``        (T, n), (T, n)        changes, relative to that which closes or doubles a shunt, and intensities
``synapses``    (K, n, 2, n, 2)       of unit, changing pixel, branch of the pair, intensity, its ON or OFF part;
                                      positive ones excite and negative ones inhibit
``signs``       (K, n, 2, n, 2)       which a synapse may be: 1, -1, or 0 for both
``That``        (K,)                  each unit's sum of squared rates (Eq. 18)
``Q``           (K, K)                synapses from interneuron c onto unit a
``P, L, Zhat``  (K, K), (K, K), (K,)  those of interneuron c, from units and from other interneurons, and its Zhat
==============  ====================  ============================================================================
"""

from __future__ import annotations

from typing import NamedTuple

from flymotion.similarity.compilation import PART, compiled

__all__ = ["Branches", "live"]

SITES = 4.0
"""Synapses of one change and one intensity: both branches of the pair, ON and OFF; a product is spread over them."""


class Branches(NamedTuple):
    """What is the same for all branches.

    Attributes
    ----------
    axial, soma, excitation, inhibition : float
        Of the membrane.
    shunt : float
        Conductance of the shunting synapse where nothing changes [leak].
    size : float
        Conductance of a synapse of weight 1 at intensity 1 [leak].
    unit : float
        Voltage of the soma that is a rate of 1 [mV].
    slope : float
        Of what a pair of branches lets through, one less the other, in the change.
    rectified : bool
        Whether a shunt falls with one sign of the change and else stays, or goes both ways.
    over_branches, over_parts : bool
        Whether sites on the two branches of a pair, and ON and OFF sites, compete.
    learns : bool
        Whether synapses change.
    tolerance : float
        Speed at which rates count as settled, relative to the largest drive per time constant.
    max_steps : int
        Most steps of the rates for one sample.
    """

    axial: float
    soma: float
    excitation: float
    inhibition: float
    shunt: float
    size: float
    unit: float
    slope: float
    rectified: bool
    over_branches: bool
    over_parts: bool
    learns: bool
    tolerance: float
    max_steps: int


@compiled(**PART)
def answer(u, v, synapses, branches, gate):
    """Return the soma's voltage in closed form; what each branch lets through is written to ``gate`` (n, 2)."""
    axial = branches.axial
    load, current = branches.soma, 0.0
    for i in range(len(u)):
        for p in range(2):
            excited, inhibited = 0.0, 0.0
            for j in range(len(v)):
                conductance = branches.size * synapses[i, p, j, 0 if v[j] > 0.0 else 1] * abs(v[j])
                if conductance > 0.0:
                    excited += conductance
                else:
                    inhibited += conductance * branches.excitation / branches.inhibition
            change = u[i] if p == 0 else -u[i]
            if branches.rectified:
                change = max(change, 0.0)
            distal = 1.0 + axial + excited + inhibited
            proximal = 1.0 + branches.shunt * max(1.0 - change, 0.0) + 2.0 * axial - axial * axial / distal
            gate[i, p] = axial * axial / (distal * proximal)
            load += axial - axial * axial / proximal
            current += gate[i, p] * (branches.excitation * excited + branches.inhibition * inhibited)
    return current / load


@compiled(**PART)
def settle(drive, Q, P, L, branches, theta, z, change):
    """Let rates of units and interneurons go to rest, from 0; return the steps, each of 1 / 2K time constants.

    ``dtheta_a/dt = [drive_a - sum_c Q_ac z_c]_+ - theta_a`` and
    ``dz_c/dt = [sum_a P_ca theta_a - sum_e L_ce z_e]_+ - z_c``.
    """
    n_units = len(theta)
    largest = 0.0
    for a in range(n_units):
        theta[a], z[a] = 0.0, 0.0
        largest = max(largest, drive[a])
    for step in range(branches.max_steps):
        fastest = 0.0
        for a in range(n_units):
            own, between = drive[a], 0.0
            for c in range(n_units):
                if c != a:
                    own -= Q[a, c] * z[c]
                    between -= L[a, c] * z[c]
                between += P[a, c] * theta[c]
            change[0, a] = max(own, 0.0) - theta[a]  # Eq. 15, through interneurons
            change[1, a] = max(between, 0.0) - z[a]
            fastest = max(fastest, abs(change[0, a]), abs(change[1, a]))
        if fastest <= branches.tolerance * largest:
            return step
        for a in range(n_units):
            theta[a] += change[0, a] / (2 * n_units)
            z[a] += change[1, a] / (2 * n_units)
    return branches.max_steps


@compiled(**PART)
def compete(arriving, branches):
    """Take from what arrives at four sites, (branch, part), the mean over those that compete."""
    if branches.over_parts:
        for p in range(2):
            mean = (arriving[p, 0] + arriving[p, 1]) / 2.0
            arriving[p, 0] -= mean
            arriving[p, 1] -= mean
    if branches.over_branches:
        for q in range(2):
            mean = (arriving[0, q] + arriving[1, q]) / 2.0
            arriving[0, q] -= mean
            arriving[1, q] -= mean


@compiled(**PART)
def potentiate(u, v, theta, gate, synapses, signs, That, branches, arriving):
    """Let one unit's distal synapses change by what arrives of its spikes and by their own intensity (Eq. 16)."""
    rate = theta / That
    for i in range(len(u)):
        for j in range(len(v)):
            for p in range(2):
                back = gate[i, p] / branches.slope  # times theta: what travels back, gated by the shunt
                arriving[p, 0], arriving[p, 1] = back * max(v[j], 0.0), back * max(-v[j], 0.0)
            compete(arriving, branches)
            for p in range(2):
                for q in range(2):
                    synapses[i, p, j, q] += rate * (SITES * arriving[p, q] - theta * synapses[i, p, j, q])  # Eq. 16
                    if signs[i, p, j, q] * synapses[i, p, j, q] < 0.0:
                        synapses[i, p, j, q] = 0.0


@compiled(**PART)
def inhibit(theta, z, Q, P, L, That, Zhat):
    """Let synapses from and onto interneurons change by the rates at both their ends (Eq. 17)."""
    for a in range(len(theta)):
        for c in range(len(theta)):
            if c != a and theta[a] > 0.0:
                Q[a, c] += theta[a] / That[a] * (z[c] - theta[a] * Q[a, c])  # Eq. 17
            if c != a and z[a] > 0.0:
                L[a, c] += z[a] / Zhat[a] * (z[c] - z[a] * L[a, c])
            if z[a] > 0.0:
                P[a, c] += z[a] / Zhat[a] * (theta[c] - z[a] * P[a, c])


@compiled()
def live(
    u, v, synapses, signs, That, Q, P, L, Zhat, branches, outputs, voltages, steps, gate, drive, z, change, arriving
):
    """Show samples one after the other; outputs, voltages (T, K) and steps (T,) are written to where they are."""
    for t in range(len(u)):
        theta = outputs[t]
        for a in range(len(drive)):
            voltages[t, a] = answer(u[t], v[t], synapses[a], branches, gate[a])
            drive[a] = voltages[t, a] / branches.unit
        steps[t] = settle(drive, Q, P, L, branches, theta, z, change)
        if not branches.learns:
            continue
        for a in range(len(drive)):
            That[a] += theta[a] * theta[a]  # Eq. 18
            Zhat[a] += z[a] * z[a]
            if theta[a] > 0.0:
                potentiate(u[t], v[t], theta[a], gate[a], synapses[a], signs[a], That[a], branches, arriving)
        inhibit(theta, z, Q, P, L, That, Zhat)
