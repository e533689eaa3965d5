r"""The cells that T4 and T5 listen to: polarity, temporal filter and receptive field of each.

:data:`INPUTS` has them by name. A cell's signal is its contrast seen through a Gaussian centre less a surround,
filtered in time, times its polarity: 1 for ON cells, which answer light, -1 for OFF cells, which answer the dark.

Numbers are those of Arenz et al. 2017 (Mi and Tm cells) and Drews et al. 2020 (lamina cells), from a secondary copy
that was not checked against the papers. Of C3, TmY15 and CT1 there are none: what stands for them is assumed, and says
so.

References
----------
Arenz, Drews, Richter, Ammer & Borst (2017), The temporal tuning of the Drosophila motion detectors is determined by the
dynamics of their input elements. Curr. Biol. 27:929. Drews et al. (2020), Dynamic signal compression for robust motion
vision in flies. Curr. Biol. 30:209.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from importlib import resources
from typing import NamedTuple

from flymotion.detectors.temporal import Chain, HighPass, LowPass

__all__ = ["INPUTS", "PATHWAYS", "InputNeuron", "Pathway"]


@dataclass(frozen=True)
class InputNeuron:
    """A cell that T4, T5 or their inputs listen to.

    Parameters
    ----------
    name : str
        Of the cell type.
    polarity : int
        1 for an ON cell, -1 for an OFF cell.
    chain : tuple of Step
        What it does to contrast in time.
    centre, surround : float
        Full widths at half maximum of its receptive field, through the eye's optics [deg].
    strength : float
        Peak of the surround relative to that of the centre.
    source : str
        Where the numbers come from.
    assumed : bool
        Whether nobody has measured them, and others stand for them.
    """

    name: str
    polarity: int
    chain: Chain
    centre: float
    surround: float
    strength: float
    source: str
    assumed: bool = False


class Pathway(NamedTuple):
    """What one kind of cell, T4 or T5, sees.

    Attributes
    ----------
    polarity : int
        Of the changes that it answers: 1, ON, or -1, OFF.
    change : dict of str to float
        Cells that carry the change at the centre, and the share of each.
    intensity : dict of str to float
        Cells that carry the neighbours' intensities, and the share of each.
    """

    polarity: int
    change: dict[str, float]
    intensity: dict[str, float]


def _published() -> dict[str, InputNeuron]:
    text = resources.files("flymotion.circuits").joinpath("input_neurons.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {row["cell"]: _neuron(row) for row in csv.DictReader(lines)}


def _neuron(row: dict[str, str]) -> InputNeuron:
    high = (HighPass(float(row["highpass"])),) if row["highpass"] else ()
    chain = (*high, LowPass(float(row["lowpass"])))
    centre, surround, strength = (float(row[name]) for name in ("centre", "surround", "strength"))
    source = f"{row['source']}, secondary copy"
    return InputNeuron(row["cell"], int(row["polarity"]), chain, centre, surround, strength, source)


def _assumed(known: dict[str, InputNeuron]) -> dict[str, InputNeuron]:
    """Return cells without published numbers, as others that answer light alike."""
    like = {"CT1 (M10)": "Mi4", "CT1 (Lo1)": "Tm9", "C3": "Mi4", "TmY15": "Mi4"}
    return {
        name: replace(known[other], name=name, source=f"assumed to be as {other}", assumed=True)
        for name, other in like.items()
    }


INPUTS: dict[str, InputNeuron] = (known := _published()) | _assumed(known)
"""Cells by name; CT1 by the layer that it is in, as each of its terminals answers on its own."""

PATHWAYS = {
    "T4": Pathway(1, {"Mi1": 0.685, "Tm3": 0.315}, {"Mi9": 0.5, "Mi4": 0.5}),
    "T5": Pathway(-1, {"Tm1": 0.37, "Tm2": 0.38, "Tm4": 0.25}, {"Tm9": 0.5, "CT1 (Lo1)": 0.5}),
}
"""What T4 and T5 see. The change is shared by synapses (Takemura et al. 2017; Shinomiya et al. 2019); intensity,
of which the sign of a weight says which cell carries it, is the mean of both."""
