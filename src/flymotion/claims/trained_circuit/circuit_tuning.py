"""A circuit's tuning to gratings and edges: of its mean column, as a detector of eight units (C38)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from flymotion.circuits import PREFERRED, SUBTYPES
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.claims.cells.nearness import WAVELENGTH
from flymotion.claims.trained_circuit.flights import DT
from flymotion.stimuli import drifting_grating
from flymotion.tuning import experiment, tune
from flymotion.tuning.recordings import compare, published

__all__ = ["CONTRASTS", "EDGES", "FREQUENCIES", "LENGTHS", "Responses", "beside_cells", "responses"]

FREQUENCIES = tuple(0.25 * 2 ** (k / 2) for k in range(11))
"""Temporal, of gratings [Hz]."""

LENGTHS = (20.0, 40.0)
"""Of gratings of these frequencies [deg]."""

CONTRASTS = (0.0625, 0.125, 0.25, 0.5, 1.0)

EDGES = (0.5, -0.5)
"""Contrasts of an edge that passes: ON, and OFF."""

SETUP: dict[str, Any] = {"repeats": 1, "dt": DT}


class Responses(NamedTuple):
    """What T4a-d and T5a-d answer to motion in the direction that each prefers, cells last."""

    frequency: np.ndarray
    """Shape (n_lengths, n_frequencies, 8)."""
    contrast: np.ndarray
    """Shape (n_contrasts, 8)."""
    edges: np.ndarray
    """To ON and to OFF, shape (2, 8)."""


def beside_cells(circuit: T4T5Circuit) -> xr.Dataset:
    """Show gratings in 24 directions, and put the curves beside the cells', as C30 does."""
    return compare(experiment("direction", circuit.detector(), wavelength=WAVELENGTH, **SETUP), published())


def responses(circuit: T4T5Circuit) -> Responses:
    """Show what differs in frequency, contrast and polarity."""
    detector, ways = circuit.detector(), {"direction": list(PREFERRED.values())}

    def preferred(**design: Any) -> np.ndarray:
        found = tune(detector, drifting_grating, ways | design, **SETUP)["response"]
        each = [found.isel(direction=k % len(PREFERRED), unit=k).values for k in range(len(SUBTYPES))]
        return np.stack(each, axis=-1)

    edges = experiment("edges", detector, contrast=EDGES, **SETUP)["response"].sel(motion="preferred")
    return Responses(
        preferred(wavelength=LENGTHS, temporal_frequency=FREQUENCIES),
        preferred(contrast=CONTRASTS),
        edges.transpose("contrast", "unit").values,
    )
