"""A circuit's tuning to gratings and edges, shown to a hexagonal eye, as a detector of eight units (C38).

Cells of the columns that have all their neighbours are taken together: what they answer is averaged, as recordings are
over cells. Luminance is about a mean of 1, to which the circuit adapts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from flymotion.circuits import PREFERRED, SUBTYPES
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.claims.cells.nearness import WAVELENGTH
from flymotion.claims.trained_circuit.flights import DT
from flymotion.detectors import FunctionDetector
from flymotion.stimuli import drifting_grating
from flymotion.tuning import experiment, tune
from flymotion.tuning.recordings import compare, published

__all__ = ["CONTRASTS", "FREQUENCIES", "LENGTHS", "Responses", "beside_cells", "responses"]

FREQUENCIES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Temporal, of gratings [Hz]."""

LENGTHS = (20.0, 40.0)
"""Of gratings of these frequencies [deg]."""

CONTRASTS = (0.0625, 0.125, 0.25, 0.5, 1.0)

EDGES = (0.5, -0.5)
"""Contrasts of an edge that passes: ON, and OFF."""


ASKED = ("T4a", "T4c", "T5a", "T5c")
"""Cells whose responses to frequency and contrast are measured: one along either axis."""


class Responses(NamedTuple):
    """What cells answer to motion in the direction that each prefers, cells last."""

    frequency: np.ndarray
    """Of :data:`ASKED`, shape (n_lengths, n_frequencies, 4)."""
    contrast: np.ndarray
    """Of the same, shape (n_contrasts, 4)."""
    edges: np.ndarray
    """Of T4a-d and T5a-d, to ON and to OFF, shape (2, 8)."""


def _detector(circuit: T4T5Circuit) -> FunctionDetector:
    whole = np.flatnonzero(circuit.patches_.there.all(axis=1))

    def respond(movie: np.ndarray, dt: float) -> np.ndarray:
        return circuit.transform(np.maximum(movie, 0), dt=dt)[:, whole]  # rounding, at full contrast

    directions = tuple(PREFERRED[cell[-1]] for cell in SUBTYPES)
    return FunctionDetector(respond, directions=directions, name="circuit")


def _setup(circuit: T4T5Circuit) -> dict[str, Any]:
    return {"eye": circuit.eye, "mean": 1.0, "repeats": 1, "dt": DT}


def beside_cells(circuit: T4T5Circuit) -> xr.Dataset:
    """Show gratings in the directions of the recordings, and put the curves beside the cells', as C30 does."""
    cells = published()
    shown: dict[str, Any] = {"wavelength": WAVELENGTH, "direction": cells.direction.values.tolist()}
    return compare(experiment("direction", _detector(circuit), **shown, **_setup(circuit)), cells)


def responses(circuit: T4T5Circuit) -> Responses:
    """Show what differs in frequency, contrast and polarity."""
    detector, setup = _detector(circuit), _setup(circuit)
    units = [SUBTYPES.index(cell) for cell in ASKED]
    ways = {"direction": [PREFERRED[cell[-1]] for cell in ASKED[:2]]}

    def preferred(**design: Any) -> np.ndarray:
        found = tune(detector, drifting_grating, ways | design, **setup)["response"]
        each = [found.isel(direction=k % len(ways["direction"]), unit=unit).values for k, unit in enumerate(units)]
        return np.stack(each, axis=-1)

    edges = experiment("edges", detector, contrast=EDGES, **setup)["response"].sel(motion="preferred")
    return Responses(
        preferred(wavelength=LENGTHS, temporal_frequency=FREQUENCIES),
        preferred(contrast=CONTRASTS),
        edges.transpose("contrast", "unit").values,
    )
