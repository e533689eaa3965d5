"""Figures of the anatomy: learned rows beside the connectome's, and the parts that published filters play (Fig. 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.circuits import SUBTYPES
from flymotion.circuits.connectome import CENTRE, effective
from flymotion.circuits.input_neurons import INPUTS
from flymotion.circuits.wiring import profile
from flymotion.claims.anatomy.columns import OFFSETS
from flymotion.claims.anatomy.input_parts import CELLS, NAMES, SPEEDS, Parts
from flymotion.detectors.temporal import filtered, start
from flymotion.plots.canvas import new_figure
from flymotion.plots.dendritic_maps import draw_dendrites

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["dendrites", "filters", "profiles"]

STEP = 0.001
"""Of impulse responses [s]."""


def dendrites(learned: Mapping[str, Any], world: str) -> Figure:
    """Draw what cells of a column learned, mean of all seeds, beside the connectome's synapses (Fig. 4a-b)."""
    rows = np.mean(learned["column"]["nsm"].whitened, axis=0)
    return draw_dendrites(rows, OFFSETS, suptitle=f"World {world}: weights onto whitened intensities, mean of seeds")


def profiles(found: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Draw rows summed across the preferred direction, with the centre's sign, as shares of all weight."""
    figure = new_figure(10.5, 4.6)
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    for k, (axes, cell) in enumerate(zip(panels.flat, SUBTYPES, strict=True)):
        sign = CENTRE[cell[:2]]
        axes.axhline(0, color="0.8", linewidth=0.8)
        axes.axvline(0, color="0.8", linewidth=0.8)
        _draw_profile(axes, sign * effective(cell, OFFSETS), cell, "connectome", "k", "-")
        for colour, (world, of) in enumerate(found.items()):
            for read, line in (("whitened", "-"), ("pixels", ":")):
                row = np.mean(getattr(of["column"]["nsm"], read)[:, k], axis=0)
                _draw_profile(axes, sign * row, cell, f"learned in {world}, {read}", f"C{colour}", line)
        axes.set_title(cell, fontsize=10)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, fontsize=8, frameon=False)
    figure.supxlabel("position along the preferred direction [columns]", fontsize=9)
    figure.supylabel("share of all weight, with the centre's sign", fontsize=9)
    return figure


def _draw_profile(axes: Axes, row: np.ndarray, cell: str, label: str, colour: str, line: str) -> None:
    places, sums = profile(row / np.abs(row).sum(), OFFSETS, cell)
    axes.plot(places, sums, line, color=colour, marker="o", markersize=3, label=label)


def filters(found: Parts) -> Figure:
    """Draw impulse responses as published, and what cells' signals are like where photographs move (Fig. 4c)."""
    figure = new_figure(9.0, 5.6)
    grid = figure.subplots(2, 2)
    for (responses, likes), (kind, parts) in zip(grid, CELLS.items(), strict=True):
        for k, name in enumerate(name for part in parts for name in part):
            responses.plot(*_impulse_response(name), color=f"C{k}", label=name)
            for like, line in ((found.change, "-"), (found.intensity, ":")):
                by_speed = np.asarray(like)[:, NAMES.index(name)].mean(axis=0)
                likes.plot(SPEEDS, by_speed, line, marker="o", markersize=4, color=f"C{k}")
        responses.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        responses.set(xlabel="time after a flash of light [s]", ylabel="response, relative to the largest")
        responses.set_title(f"{kind}: published filters", fontsize=10)
        responses.legend(fontsize=8)
        likes.plot([], [], "k-", label="with a change")
        likes.plot([], [], "k:", label="with the intensity")
        likes.set(ylim=(0, 1.05), xlabel="speed of the photographs [deg/s]", ylabel="correlation of the signal")
        likes.set_title("what signals are like", fontsize=10)
        likes.legend(fontsize=8, loc="center", bbox_to_anchor=(0.5, 0.63), ncols=2)
    return figure


def _impulse_response(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and the response of a cell to a flash of light, of largest size 1."""
    signal = np.zeros((600, 1))
    signal[50] = 1
    for step in INPUTS[name].chain:
        signal, _ = filtered(step, signal, start(step, np.zeros(1), STEP)[0], STEP)
    response = INPUTS[name].polarity * signal[:, 0]
    return STEP * (np.arange(600) - 50), response / np.abs(response).max()
