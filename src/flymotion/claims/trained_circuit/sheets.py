"""Figures of the trained circuit: who tells where content moves, and tuning beside the recorded cells' (C38)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from flymotion.claims.cells.nearness import WAVELENGTH, Tuned
from flymotion.claims.running import Found
from flymotion.claims.trained_circuit.flights import AXES
from flymotion.plots.canvas import new_figure
from flymotion.plots.panels import add_legend, share_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["circuit_cells", "circuit_turns"]


def circuit_turns(turned: Found, words: Mapping[str, str]) -> Figure:
    """Draw the share of columns whose motion vector is right, a dot a seed."""
    figure = new_figure(8.4, 4.2)
    axes = figure.subplots()
    for k, axis in enumerate(AXES):
        for row, name in enumerate(words):
            shares = turned[name][axis]
            y = np.full(len(shares), row + 0.2 * (k - 1))
            axes.plot(shares, y, "o", color=f"C{k}", markersize=4.5, label=axis if row == 0 else None)
    axes.axvline(0.95, color="0.5", linewidth=0.8, linestyle="--")
    axes.axvline(0.5, color="0.8", linewidth=0.8)
    axes.set_yticks(range(len(words)), list(words.values()), fontsize=8)
    axes.invert_yaxis()
    axes.set(xlim=(0.2, 1.03), xlabel="share of columns that tell where content moves (bound 0.95, chance 0.5)")
    axes.legend(fontsize=8, loc="lower left", title="turn about", title_fontsize=8)
    return figure


def circuit_cells(tuned: Tuned) -> Figure:
    """Draw direction tuning beside that of every cell: the mean of the seeds, and their range."""
    figure = new_figure(10.5, 5.4)
    panels = list(figure.subplots(2, 4).flat)
    own = xr.concat(tuned.beside, "seed").sel(wavelength=WAVELENGTH)
    nulls = {name: xr.concat(tuned.nulls[name], "seed") for name in ("start", "connectome")}
    for axes, cell in zip(panels, own.cell.values.tolist(), strict=True):
        _draw_cell(axes, own.sel(cell=cell), {name: one.sel(cell=cell) for name, one in nulls.items()})
        axes.set_title(cell, fontsize=10)
    share_labels(panels, 4)
    add_legend(figure, panels)
    return figure


def _draw_cell(axes: Axes, own: xr.Dataset, nulls: Mapping[str, xr.Dataset]) -> None:
    axes.plot(own.direction, own.model.mean("seed"), color="C0", label="learned")
    ends = own.model.min("seed"), own.model.max("seed")
    axes.fill_between(own.direction, *ends, color="C0", alpha=0.25, linewidth=0)
    for (name, one), colour in zip(nulls.items(), ("C1", "C2"), strict=True):
        words = "the start alone" if name == "start" else "the connectome's synapses"
        axes.plot(one.direction, one.model.mean("seed"), color=colour, linewidth=1, label=words)
    first = own.isel(seed=0)
    axes.plot(first.direction, first.recording, color="black", marker=".", linewidth=1.2, label="recorded")
    axes.plot(first.direction, first.cosine, color="0.6", linestyle=":", label="rectified cosine")
    axes.set_xticks(range(0, 361, 90))
    axes.set(xlim=(-12, 342), ylim=(-0.03, 1.05), xlabel="direction of motion [deg]", ylabel="response / largest")
