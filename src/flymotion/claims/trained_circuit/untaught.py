"""What stands beside a trained circuit: circuits whose weights nobody learned, or that are not where they belong (C38).

Their cells are named by what their weights prefer, as the trained circuit's are, which helps them; those whose weights
were moved about keep the names that they had. None but those of another column have learned lateral inhibition.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from flymotion.circuits import SUBTYPES
from flymotion.circuits.competing_columns import Columns
from flymotion.circuits.connectome import effective
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.claims.nulls import NULLS
from flymotion.claims.trained_circuit.flights import DT, Flight
from flymotion.world.lattices import rings

__all__ = ["INSTEAD", "instead"]

INSTEAD = {
    "start": NULLS["start"],
    "random": "random weights, named by what they prefer",
    "shuffled": "each cell's weights at shuffled places",
    "elsewhere": "the cells of another column",
    "labelled": NULLS["labelled"],
    "connectome": "the connectome's synapses for weights",
}
"""Suffixes of rows, and what titles call them."""


def instead(circuit: T4T5Circuit, flown: Sequence[Flight], seed: int) -> dict[str, T4T5Circuit]:
    """Return the circuits that stand beside one, by the keys of :data:`INSTEAD`."""
    rng = np.random.default_rng([seed, 38, 1])
    learned = [network.W for network in circuit.networks_]
    return {
        "start": _with(circuit, circuit.started_),
        "random": _with(circuit, [circuit.patches_.random(rng) for _ in learned]),
        "shuffled": _named_alike(circuit, _with(circuit, [_shuffled(circuit, W, rng) for W in learned])),
        "elsewhere": _elsewhere(circuit, rng),
        "labelled": _with(circuit, _by_label(circuit, flown)),
        "connectome": _wired(circuit, flown),
    }


def _with(circuit: T4T5Circuit, weights: Sequence[np.ndarray]) -> T4T5Circuit:
    """Return a circuit with other weights, of the size of its own, and no inhibition."""
    other = copy.copy(circuit)
    other.networks_ = [Columns.of_weights(W, circuit.strength) for W in weights]
    return other


def _named_alike(circuit: T4T5Circuit, other: Any) -> Any:
    """Let cells keep the names that a circuit's have."""
    names = circuit._names()
    other._names = lambda: names
    return other


def _shuffled(circuit: T4T5Circuit, W: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move weights to other places of their own patch, shape (n_cells, n_offsets, n_columns)."""
    found, there = np.zeros_like(W), circuit.patches_.there.copy()
    there[:, circuit.patches_.centre] = False
    for column, places in enumerate(there):
        for cell in range(len(W)):
            found[cell, places, column] = rng.permutation(W[cell, places, column])
    return found


def _elsewhere(circuit: T4T5Circuit, rng: np.random.Generator) -> Any:
    """Exchange the columns that have all their neighbours, with their inhibition and names."""
    whole = np.flatnonzero(circuit.patches_.there.all(axis=1))
    moved = np.arange(len(circuit.patches_.there))
    moved[whole] = np.roll(whole, rng.integers(1, max(len(whole), 2)))
    other: Any = copy.copy(circuit)
    other.networks_ = [Columns(network.S[..., moved], network.R[..., moved]) for network in circuit.networks_]
    names = [(order[moved], four[moved]) for order, four in circuit._names()]
    other._names = lambda: names
    return other


def _by_label(circuit: T4T5Circuit, flown: Sequence[Flight]) -> list[np.ndarray]:
    """Return means of what cells see while content moves about as they prefer, shape (4, n_offsets, n_columns) each."""
    preferred = circuit.patches_.preferred
    sums = [np.zeros_like(W) for W in circuit.started_]
    for flight in flown:
        nearest = np.einsum("nsx,tnx->tns", preferred, flight.motion).argmax(axis=2)
        change, intensity, _ = circuit.signals(DT).push(flight.movie)
        for k, total in enumerate(sums):
            chi = circuit.inputs_[k](change[k], circuit.patches_.gather(intensity[k]))
            for cell, own in enumerate(total):
                own += (chi * (nearest == cell)).sum(axis=1)
    return [total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300) for total in sums]


def _wired(circuit: T4T5Circuit, flown: Sequence[Flight]) -> T4T5Circuit:
    """Return a circuit of two rings whose weights onto intensities are counts of synapses with their signs."""
    other = T4T5Circuit(circuit.eye, dt=circuit.dt, n_rings=2, decorrelation="none", random_state=0)
    other._begin([flown[0].movie])
    rows = np.array([effective(cell, rings(2)) for cell in SUBTYPES])
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    weights = [half[:, :, None] * other.patches_.there.T for half in (rows[:4], rows[4:])]
    wired: Any = _with(other, weights)
    order = np.tile(np.arange(4), (len(other.patches_.there), 1))
    wired._names = lambda: [(order, np.ones(len(order), dtype=bool))] * 2
    return wired
