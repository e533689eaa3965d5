"""Figures of ON and OFF: filters side by side, and what differs, with intervals (C24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.claims.on_off.contrasts import PATCHES, SCENES
from flymotion.claims.on_off.telling_apart import MEASURES, apart
from flymotion.claims.running import Found
from flymotion.plots.canvas import add_colour_bar, new_figure, signed_colours, symmetric_limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["effects", "filters"]

SHORT = {
    "behind": "behind",
    "centre": "centre",
    "ahead": "ahead",
    "balance": "balance",
    "width": "width [pixels]",
}


def filters(found: Found) -> Figure:
    """Draw synapses of ON and OFF, means over blocks, on a hexagon by the direction that the cell prefers."""
    patch = PATCHES["hexagon"]
    figure = new_figure(9.2, 5.6)
    panels = figure.subplots(3, len(patch.angles))
    mean = found["photographs"]["hexagon"].learned.mean(axis=(0, 1))
    rows = [*mean, mean[0] - mean[1]]
    limit = symmetric_limit(np.array(rows))
    for axes, weights, title in zip(panels, rows, ("ON", "OFF", "ON less OFF"), strict=True):
        for ax, row, angle in zip(axes, weights, patch.angles, strict=True):
            image = _hexagons(ax, patch.places, row, limit)
            ax.set_title(f"{title}, {angle:.0f} deg", fontsize=9)
    add_colour_bar(figure, image, "weight, whitened contrast")
    return figure


def _hexagons(axes: Axes, places: np.ndarray, weights: np.ndarray, limit: float) -> Any:
    """Draw weights where their pixels are, y up; a ring marks the cell's own."""
    style: dict[str, Any] = {"cmap": signed_colours(), "vmin": -limit, "vmax": limit, "marker": "H"}
    x, y = places.T
    image = axes.scatter(x, y, c=weights, s=190, edgecolors="0.8", linewidths=0.4, **style)
    axes.scatter(0, 0, s=190, marker="H", facecolors="none", edgecolors="black", linewidths=1.0)
    axes.set(xlim=(-2.4, 2.4), ylim=(-2.6, 2.6), aspect="equal")
    axes.set_axis_off()
    return image


def effects(by: Mapping[str, Mapping[str, Mapping[str, np.ndarray]]]) -> Figure:
    """Draw ON less OFF of every measure, with the interval over blocks, in every scene."""
    figure = new_figure(9.5, 4.2)
    panels = figure.subplots(1, len(PATCHES), sharey=True)
    for axes, key in zip(panels, PATCHES, strict=True):
        for k, (scene, words) in enumerate(SCENES.items()):
            for row, name in enumerate(MEASURES):
                one = apart(by[scene][key][name])
                y = row + 0.18 * (k - (len(SCENES) - 1) / 2)
                axes.plot([one.low, one.high], [y, y], color=f"C{k}", linewidth=1.5)
                axes.plot(one.mean, y, "o", color=f"C{k}", markersize=4, label=words if row == 0 else None)
        axes.axvline(0, color="0.6", linewidth=0.8)
        axes.set_yticks(range(len(MEASURES)), [SHORT[name] for name in MEASURES])
        axes.set(xlabel="ON less OFF (95 % of blocks drawn anew)")
        axes.set_title(key, fontsize=10)
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", fontsize=8, ncols=2)
    return figure
