"""Figure 3, remade: a neuron with its branches, synapses and learned weights; and the map of where it multiplies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.claims.branches.designs import DEPTHS, SHUNTS, SIZES, STANDARD, WAYS
from flymotion.claims.branches.multiplying import Multiplied
from flymotion.plots.canvas import new_figure, new_panels, signed_colours, symmetric_limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_map", "draw_neuron"]

SHUNT_AT, SYNAPSES_FROM, SYNAPSES_TO = 1.15, 1.8, 3.6
"""Places on a branch, from the middle of the soma."""

GOOD = 0.95


def draw_neuron(weights: np.ndarray, found: Multiplied) -> Figure:
    """Draw the neuron that answers motion to the right, what it learned, and its voltage beside the product.

    Parameters
    ----------
    weights : ndarray, shape (3, 2, n, n)
        At the start, learned, and the algorithm's, of one seed.
    found : Multiplied
        Of all seeds; pairs of the first are drawn.
    """
    figure = new_figure(12.5, 6.4)
    left, right = figure.subfigures(1, 2, width_ratios=(1.15, 1), squeeze=False)[0]
    above, below = right.subfigures(2, 1, height_ratios=(1, 1.5), squeeze=False)[:, 0]
    limit = symmetric_limit(weights[1:, 0])
    _draw_branches(left.subplots(), weights[1, 0], limit)
    panels = above.subplots(1, 3)
    for axes, W, title in zip(panels, weights[:, 0], ("start", "learned", "algorithm"), strict=True):
        image = axes.imshow(W, cmap=signed_colours(), vmin=-limit, vmax=limit)
        axes.set(title=title, xticks=[], yticks=[], xlabel="intensity at pixel")
    panels[0].set_ylabel("change at pixel")
    above.colorbar(image, ax=panels, label="weight, norm 1", shrink=0.8)
    product, *voltages = found.drawn[0]
    kinds = ("both kinds of synapses", "excitatory synapses alone")
    for axes, shown, title in zip(below.subplots(1, 2), voltages, kinds, strict=True):
        axes.plot(product, shown, ".", markersize=3, alpha=0.6)
        axes.axhline(0, color="0.7", linewidth=0.6, zorder=0)
        axes.axvline(0, color="0.7", linewidth=0.6, zorder=0)
        axes.set_title(f"{title}\ncorrelation {np.corrcoef(product, shown)[0, 1]:.2f}", fontsize=9)
        axes.set(xlabel=r"$\Delta x^\top W x$", ylabel="soma [mV above rest]")
    return figure


def _draw_branches(axes: Axes, W: np.ndarray, limit: float) -> None:
    """Draw the soma, two branches for each pixel's change, and synapses of ON and OFF intensities on both sides."""
    n = len(W)
    style: dict[str, Any] = {
        "cmap": signed_colours(),
        "vmin": -limit,
        "vmax": limit,
        "edgecolors": "0.3",
        "linewidths": 0.4,
    }
    for i in range(n):
        for p, sign in enumerate((1, -1)):
            angle = np.pi / 2 - 2 * np.pi * (2 * i + p + 0.5) / (2 * n)
            along, aside = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
            axes.plot(
                *np.outer(along, (0.5, SYNAPSES_TO + 0.1)), color="0.55", linewidth=3, zorder=1, solid_capstyle="round"
            )
            axes.plot(*(SHUNT_AT * along[:, None] + np.outer(aside, (-0.17, 0.17))), color="k", linewidth=3.5, zorder=3)
            for side, part in ((1, 1), (-1, -1)):
                at = along * np.linspace(SYNAPSES_FROM, SYNAPSES_TO, n)[:, None] + 0.16 * side * aside
                shape = "o" if part > 0 else "s"
                axes.scatter(at[:, 0], at[:, 1], c=sign * part * W[i], marker=shape, s=46, zorder=2, **style)
            name = rf"${'+' if sign > 0 else '-'}\Delta x_{{{i + 1}}}$"
            x, y = along * (SYNAPSES_TO + 0.62)
            axes.text(x, y, name, ha="center", va="center", fontsize=10)
    axes.scatter(0, 0, s=1500, color="white", edgecolors="black", zorder=4)
    axes.text(0, 0, r"$\theta$", ha="center", va="center", fontsize=14, zorder=5)
    axes.set(xlim=(-4.9, 4.9), ylim=(-5.9, 4.6), aspect="equal")
    axes.set_title("learned from frames: the neuron for motion to the right", fontsize=10)
    axes.set_axis_off()
    told = (
        "bars: shunts, which fall with the change named at the branch's end\n"
        f"circles and squares: ON and OFF synapses of the intensities of pixels 1 to {n}, from the soma outwards\n"
        "red: excitatory, blue: inhibitory"
    )
    axes.text(0, -4.75, told, ha="center", va="top", fontsize=8.5)


def draw_map(found: Multiplied) -> Figure:
    """Draw the correlation of the soma with the product over shunts, synapses and changes; the median of all seeds."""
    figure, panels = new_panels(4, 2, (4.4, 3.4), margins=(1.2, 0.8))
    across = (
        (found.by_size, SIZES, STANDARD.size, "synapse of weight 1 [leak]"),
        (found.by_depth, DEPTHS, STANDARD.depth, "rms change / change that closes a shunt"),
    )
    for w, way in enumerate(WAYS):
        for k, (cells, values, usual, label) in enumerate(across):
            axes, shown = panels[2 * w + k], np.median(cells[:, w], axis=0)
            image = axes.pcolormesh(values, SHUNTS, shown, vmin=0, vmax=1, cmap="viridis", shading="nearest")
            axes.contour(values, SHUNTS, shown, levels=[GOOD], colors="w", linewidths=1.2)
            axes.plot(usual, STANDARD.shunt, "x", color="r", markersize=8, markeredgewidth=2)
            axes.set(xscale="log", yscale="log", xlabel=label, ylabel="shunt at no change [leak]")
            axes.minorticks_off()
            axes.set_title(f"shunts that go {way}", fontsize=9)
    figure.colorbar(image, ax=panels, label=r"correlation of the soma with $\Delta x^\top W x$, 0 to 1", shrink=0.7)
    figure.suptitle("Where a neuron with branches multiplies; white line: 0.95, cross: as stated in C21", fontsize=10)
    return figure
