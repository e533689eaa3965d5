"""Figure of C9: in how many pairs each class of scenes' filters tell the direction of every other's motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.claims.content import Result as ContentResult

__all__ = ["draw_content"]


def draw_content(result: ContentResult) -> Figure:
    """Draw accuracies, mean of the seeds: class learned from by class tested on; below, additive units on their own."""
    from flymotion.claims.content import CLASSES, READINGS

    learned, names = result.learned, list(CLASSES)
    figure = new_figure(6.2, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[len(names), len(READINGS)])
    image = _accuracies(upper, learned.shared.mean(axis=0), names)
    _accuracies(lower, learned.additive.mean(axis=0), READINGS)
    upper.set_title("filters that multiply (NSM)", fontsize=10)
    upper.set_ylabel("learned from")
    lower.set_title("units that add, learned from the class tested on", fontsize=10)
    lower.set_xticks(range(len(names)), names)
    lower.set_xlabel("tested on")
    figure.colorbar(image, ax=[upper, lower], label="share of pairs whose direction is told (chance 0.5)")
    return figure


def _accuracies(axes: Axes, shares: np.ndarray, rows: Any) -> Any:
    """Show shares from chance to 1 as colour, and as figures."""
    image = axes.imshow(shares, cmap="viridis", vmin=0.5, vmax=1, aspect="auto", interpolation="nearest")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    for (row, column), share in np.ndenumerate(shares):
        colour = "black" if share > 0.75 else "white"
        axes.text(column, row, f"{share:.3f}", ha="center", va="center", color=colour)
    return image
