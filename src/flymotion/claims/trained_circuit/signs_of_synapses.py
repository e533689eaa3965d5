"""Whether a circuit's cells weigh intensities with the signs of the connectome's synapses, as C22 reads them (C38)."""

from __future__ import annotations

import numpy as np

from flymotion.circuits import SUBTYPES
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.circuits.wiring import flanks
from flymotion.world.lattices import rings

__all__ = ["signed_alike"]


def signed_alike(circuit: T4T5Circuit) -> dict[str, float]:
    """Return the share of T4 cells, and of T5 cells, with these signs, of columns that have all their neighbours."""
    rows, offsets = circuit.weights_[circuit.patches_.there.all(axis=1)], rings(circuit.n_rings)
    alike = [flanks(rows[:, k], offsets, cell).signs.mean() for k, cell in enumerate(SUBTYPES)]
    return {"T4": float(np.mean(alike[:4])), "T5": float(np.mean(alike[4:]))}
