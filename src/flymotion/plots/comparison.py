"""A detector beside recorded cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flymotion.plots.base import new_panels
from flymotion.plots.tuning import GUIDE

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["draw_comparison"]


def draw_comparison(comparison: xr.Dataset) -> Figure:
    """Draw a detector's curve and a rectified cosine beside each recorded cell's.

    Parameters
    ----------
    comparison : Dataset
        Of :func:`flymotion.recordings.compare`.
    """
    cells = comparison.cell.values.tolist()
    figure, panels = new_panels(len(cells), min(4, len(cells)), (2.6, 2.3), margins=(0.5, 1.0))
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
        axes.set_title(
            f"{cell}: r = {float(one.correlation):.2f} (cosine {float(one.correlation_cosine):.2f})", fontsize=8
        )
        axes.set_xticks(range(0, 361, 90))
        axes.set(xlabel="direction of motion [deg]", ylabel="response / largest")
        axes.label_outer()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    detector = comparison.attrs.get("detector") or "model"
    figure.suptitle(f"{detector}, turned to each cell's preferred direction", fontsize=10)
    return figure
