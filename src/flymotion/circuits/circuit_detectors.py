"""A circuit as a detector, to measure its tuning as that of any other: an eye's mean column, on an even lattice."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from flymotion.circuits.cell_inputs import CellInputs
from flymotion.circuits.competing_columns import respond
from flymotion.circuits.input_neurons import INPUTS, PATHWAYS
from flymotion.circuits.subtypes import preferred_in
from flymotion.detectors.detector import Detector
from flymotion.detectors.taps_on_lattices import Taps
from flymotion.world.lattices import half_of, rings

if TYPE_CHECKING:
    from flymotion.circuits.t4t5 import T4T5Circuit

__all__ = ["mean_column"]


def mean_column(circuit: T4T5Circuit, columns: np.ndarray | None = None) -> Detector:
    """Return the mean of some columns of one eye as a detector of contrasts, with units T4a-d and T5a-d.

    Parameters
    ----------
    circuit : T4T5Circuit
        That has learned.
    columns : ndarray of int, optional
        Whose; by default all of the left eye, or of the only one, that have all their neighbours.
    """
    eye, patches = circuit.eye, circuit.patches_
    half = half_of(eye)
    if columns is None:
        n = patches.there.sum(axis=1)
        columns = np.flatnonzero((n == n[half == half.min()].max()) & (half == half.min()))
    columns = np.atleast_1d(columns)
    stream = circuit.stream()
    cells = [
        (inputs.mean_of(columns), W[:, :, columns].mean(axis=2), M[:, :, columns].mean(axis=2))
        for (W, M), inputs in zip(stream.cells, circuit.inputs_, strict=True)
    ]
    preferred = preferred_in(eye)[columns[0]].tolist()
    offsets = rings(circuit.n_rings)
    names = {name for pathway in PATHWAYS.values() for name in (*pathway.change, *pathway.intensity)}
    return Detector(
        arms={name: INPUTS[name].chain for name in sorted(names)},
        displacements=offsets @ np.array([[math.sqrt(3) / 2, 0.5], [0.0, 1.0]]),
        combine=partial(_answers, cells=cells, centre=patches.centre),
        source="learned (Bahroun, Sengupta & Chklovskii 2019)",
        directions=(*preferred, *preferred),
        name="T4 and T5",
    )


def _answers(tap: Taps, *, cells: list[tuple[CellInputs, np.ndarray, np.ndarray]], centre: int) -> np.ndarray:
    each = []
    for (inputs, W, M), pathway in zip(cells, PATHWAYS.values(), strict=True):
        change = np.asarray(sum(share * tap.all(name)[..., centre] for name, share in pathway.change.items()))
        change = np.maximum(pathway.polarity * change, 0)
        patches = np.moveaxis(
            np.asarray(sum(share * tap.all(name) for name, share in pathway.intensity.items())), -1, 0
        )
        chi = inputs(change[..., None], patches[..., None])
        each.append(np.moveaxis(respond(np.tensordot(W, chi, axes=1), M[:, :, None])[..., 0], 0, -1))
    return np.concatenate(each, axis=-1)
