"""Neurons that are looked at in C21: the stated one, those that have less, and the axes of the map."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flymotion.circuits import CompartmentalNeurons, Membrane
from flymotion.circuits.membranes import Synapses, steady_state
from flymotion.similarity.features import OuterProducts

__all__ = [
    "CONTRASTS",
    "DEPTHS",
    "LARGER",
    "OTHERS",
    "REGIMES",
    "SETTING",
    "SHUNTS",
    "SIZES",
    "STANDARD",
    "WAYS",
    "Design",
    "standard",
]


@dataclass(frozen=True)
class Design:
    """A neuron and the size of what it sees; the numbers are chosen beforehand, and the map shows all others.

    Parameters
    ----------
    shunt : float
        Of a branch where nothing changes [leak].
    size : float
        Of a distal synapse of weight 1 at an intensity of 1 [leak].
    depth : float
        Root mean square of a pixel's change, relative to that which closes a shunt.
    rectified : bool
        Whether a shunt falls with one sign of the change only.
    kinds : {"both", "excitatory"}
        Synapses of a branch.
    paired : bool
        Whether there are two branches a pixel, or only that whose shunt falls with the change.
    membrane : Membrane
        The circuit.
    """

    shunt: float = 10.0
    size: float = 0.25
    depth: float = 0.3
    rectified: bool = False
    kinds: str = "both"
    paired: bool = True
    membrane: Membrane = field(default_factory=Membrane)

    def neurons(self, W: np.ndarray, **how: Any) -> CompartmentalNeurons:
        """Return neurons of these branches, with weights W."""
        given = {name: getattr(self, name) for name in ("shunt", "size", "rectified", "kinds", "membrane")}
        return CompartmentalNeurons(W, **(given | how))

    def soma(self, W: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the voltages of somata [mV], shape (n_samples, K), of inputs of root mean square 1."""
        neurons = self.neurons(W)
        circuit = neurons.conductances(self.depth * u, v)
        if not self.paired:
            circuit = Synapses(*(conductance[..., ::2] for conductance in circuit))
        return steady_state(self.membrane, circuit).soma


STANDARD = Design()
"""The stated one."""

OTHERS = {
    "one_way": (replace(STANDARD, rectified=True), "shunts that fall with one sign of the change and are full else"),
    "excitatory": (replace(STANDARD, kinds="excitatory"), "branches with excitatory synapses alone"),
    "one_branch": (replace(STANDARD, paired=False), "one branch a pixel"),
    "neither": (replace(STANDARD, paired=False, kinds="excitatory"), "one branch a pixel, excitatory synapses alone"),
}
"""Designs that have less, and what they are."""

LARGER = (replace(STANDARD, size=2.5), replace(STANDARD, size=25.0), OTHERS["excitatory"][0])
"""Of which the size of the voltage is told: ten and a hundred times as large synapses, and no inhibition."""

REGIMES: dict[str, tuple[dict[str, Any], str]] = {
    "weak": ({"shunt": 0.1}, "a shunt of 0.1 leaks"),
    "strong": ({"shunt": 1000.0}, "a shunt of 1000 leaks"),
    "shallow": ({"depth": 0.03}, "changes of 0.03 of what closes a shunt"),
    "deep": ({"depth": 1.0}, "changes as large as what closes a shunt"),
    "loaded": ({"size": 25.0}, "synapses a hundred times as large"),
    "strong_shallow": ({"shunt": 1000.0, "depth": 0.05}, "a shunt of 1000 leaks, changes of 0.05 of what closes it"),
    "strong_deep": ({"shunt": 1000.0, "depth": 1.0}, "a shunt of 1000 leaks and changes as large as what closes it"),
    "even": (
        {"shunt": 0.1, "membrane": Membrane(inhibition=-60.0)},
        "a shunt of 0.1 leaks, and inhibition as far below rest as excitation is above",
    ),
}
"""What else is looked at, both with shunts that go both ways and with such that go one way."""

WAYS = {"both ways": False, "one way": True}
"""Of a shunt, and ``rectified``."""

SHUNTS = np.logspace(-2, 4, 13)
SIZES = np.logspace(-3, 2, 11) * 2.5
DEPTHS = np.logspace(-2, 1, 13)
"""Of the maps."""

SETTING = (
    "L1; relative to a compartment's leak: shunts 10 where nothing changes, synapses of weight 1 0.25, axial 4, "
    "soma 10; a pixel's change 0.3 of what closes a shunt in root mean square; excitation 60, shunts 0 and inhibition "
    "-30 mV above rest"
)

CONTRASTS = {"low": np.logspace(-3, -2, 4), "high": np.logspace(1, 2, 4)}
"""Relative to what the standard neuron sees."""


def standard(chi: OuterProducts) -> list[np.ndarray]:
    """Scale changes and intensities to a root mean square of 1 each."""
    return [x / np.sqrt((x**2).mean()) for x in (chi.u, chi.v)]
