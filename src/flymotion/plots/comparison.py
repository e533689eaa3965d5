"""A detector beside recorded cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flymotion.plots.canvas import new_panels
from flymotion.plots.curves import GUIDE
from flymotion.plots.panels import add_legend, add_title, share_labels

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["draw_comparison"]


def draw_comparison(comparison: xr.Dataset) -> Figure:
    """Draw a detector's curve and a rectified cosine beside each recorded cell's.

    Parameters
    ----------
    comparison : Dataset
        Of :func:`flymotion.tuning.recordings.compare`.

    Examples
    --------
    >>> from flymotion.detectors import conductance
    >>> from flymotion.tuning import experiment
    >>> from flymotion.tuning.recordings import compare, published
    >>> figure = draw_comparison(compare(experiment("direction", conductance(), dt=0.02), published()))
    >>> len(figure.axes), figure.axes[0].get_title()
    (8, 'T4a: r = 0.87 (cosine 0.92)')
    """
    cells = comparison.cell.values.tolist()
    n_columns = min(4, len(cells))
    width = max(2.6, 4.2 / n_columns)
    figure, panels = new_panels(len(cells), n_columns, (width, 0.9 * width), margins=(0.6, 1.0))
    lines: dict[str, dict[str, Any]] = {
        "recording": {"color": "black", "marker": ".", "linewidth": 1.2},
        "model": {"color": "C0", "linewidth": 1.5},
        "cosine": {"color": "0.6", "linestyle": ":"},
    }
    for axes, cell in zip(panels, cells, strict=True):
        one = comparison.sel(cell=cell)
        for name, style in lines.items():
            axes.plot(one.direction, one[name], label=name, **style)
        axes.axhline(0, **GUIDE)
        axes.set_title(_agreement(str(cell), one), fontsize=8)
        axes.set_xticks(range(0, 361, 90))
        axes.set(xlim=(-12, 372), xlabel="direction of motion [deg]", ylabel="response / largest")
    share_labels(panels, n_columns)
    add_legend(figure, panels)
    detector = comparison.attrs.get("detector") or "model"
    add_title(figure, f"{detector}, turned to each cell's preferred direction")
    return figure


def _agreement(cell: str, one: xr.Dataset) -> str:
    """Return a cell's name, and the correlations with its recording, below it where the name is long."""
    between = ": " if len(cell) < 8 else "\n"
    return f"{cell}{between}r = {float(one.correlation):.2f} (cosine {float(one.correlation_cosine):.2f})"
