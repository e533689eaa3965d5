"""What T4 and T5 weigh in each column, learned beside the connectome's: Figure 4a-b of the paper, from data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.circuits import PREFERRED, SUBTYPES
from flymotion.circuits.connectome import effective
from flymotion.frames import unmasked
from flymotion.plots.canvas import new_figure, symmetric_limit
from flymotion.plots.hexagons import draw_hexagons, outline_hexagons

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_dendrites"]


def draw_dendrites(weights: Any, offsets: Any, *, suptitle: str = "") -> Figure:
    """Draw the weights of every subtype onto the intensities about its column, beside the connectome's synapses.

    A line of maps of what was learned stands above one of effective synapses, counts times signs (Mi9 +, Mi4, C3 and
    CT1 -; T5: Tm9 -, CT1 +), of T4 and then of T5. The change is that of the outlined column; the arrow points where
    content moves that the subtype prefers. Each line has a colour scale of its own, centred on zero.

    Parameters
    ----------
    weights : array-like, shape (8, n_offsets) or (4, n_offsets)
        Of :data:`~flymotion.circuits.SUBTYPES`, or of T4a-d alone, of the left eye. Every row is drawn relative to the
        largest size in it; what is not a number is grey.
    offsets : array-like of int, shape (n_offsets, 2)
        Axial coordinates of columns relative to the cell's own, for instance ``rings(2)``.
    suptitle : str
        Title of the figure.

    Raises
    ------
    ValueError
        Weights that are not of four or eight subtypes, or not one for each offset.

    Examples
    --------
    >>> from flymotion.world.lattices import rings
    >>> columns = rings(1)
    >>> figure = draw_dendrites(np.eye(4, len(columns)), columns)  # T4a-d, each of one synapse
    >>> [axes.get_title() for axes in figure.axes][:4]
    ['T4a', 'T4b', 'T4c', 'T4d']
    """
    weights, offsets = unmasked(weights, "weights", float), unmasked(offsets, "offsets")
    if offsets.ndim != 2 or offsets.shape[1:] != (2,) or weights.shape not in [(n, len(offsets)) for n in (4, 8)]:
        raise ValueError(
            f"weights of shape {weights.shape} and offsets of shape {offsets.shape}; expected (8, n_offsets) or "
            "(4, n_offsets), and (n_offsets, 2)"
        )
    n_kinds = len(weights) // 4
    figure = new_figure(8.6, 4.1 * n_kinds + 0.4)
    grid = figure.subplots(2 * n_kinds, 4, squeeze=False)
    for kind in range(n_kinds):
        cells = SUBTYPES[4 * kind : 4 * kind + 4]
        learned = np.stack([row / symmetric_limit(row) for row in weights[4 * kind : 4 * kind + 4]])
        counted = np.stack([effective(cell, offsets) for cell in cells])
        _draw_line(figure, grid[2 * kind], learned, offsets, cells, "learned weight,\nrelative to the largest")
        _draw_line(figure, grid[2 * kind + 1], counted, offsets, cells, "synapses of the connectome,\ncount times sign")
    if suptitle:
        figure.suptitle(suptitle, fontsize=11)
    return figure


def _draw_line(figure: Figure, panels: Any, rows: np.ndarray, offsets: np.ndarray, cells: Any, label: str) -> None:
    places = offsets @ np.array([[np.sqrt(3) / 2, 0.5], [0.0, 1.0]])  # x right, y down
    limit = symmetric_limit(rows)
    for axes, row, cell in zip(panels, rows, cells, strict=True):
        image = draw_hexagons(axes, places, row, limit, margin=1.1)
        outline_hexagons(axes, np.zeros((1, 2)))
        _draw_arrow(axes, np.radians(PREFERRED[cell[2:]]), np.abs(places).max(initial=0.0) + 0.45)
        axes.set_title(cell, fontsize=10)
    bar = figure.colorbar(image, ax=list(panels), shrink=0.8, aspect=14)
    bar.set_label(label, fontsize=8)
    bar.ax.tick_params(labelsize=7)


def _draw_arrow(axes: Axes, angle: float, reach: float) -> None:
    """Draw which way content moves that is preferred, below and to the left of the map, where no column is."""
    ahead = 0.4 * np.array([np.cos(angle), -np.sin(angle)])
    corner = np.array([-0.95, 0.95]) * reach
    style: dict[str, Any] = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    (to_x, to_y), (from_x, from_y) = corner + ahead, corner - ahead
    axes.annotate("", (to_x, to_y), (from_x, from_y), arrowprops=style)
