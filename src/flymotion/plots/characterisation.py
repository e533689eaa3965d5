"""Several detectors side by side, on one sheet; lines and bars are those of :mod:`flymotion.plots.curves`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import new_figure, verbatim
from flymotion.plots.curves import PANELS, SPEEDS
from flymotion.plots.panels import largest
from flymotion.tuning.provenance import of_units

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from flymotion.tuning.sheet import Characterisation

__all__ = ["draw_sheet"]

_COLUMNS = {
    "local": "one position",
    "summed": "mean over positions",
    "direction": "direction",
    "frequency": "frequency × wavelength",
    "contrast": "contrast",
    "reverse-phi": "phi, reverse phi",
    "gliders": "gliders",
}


def draw_sheet(characters: Mapping[str, Characterisation]) -> Figure:
    """Draw several detectors side by side: a row for each, or for each of its units, a column an experiment.

    Responses of a panel are relative to the largest in it; those of one position and of the mean over positions to the
    largest of both.

    Parameters
    ----------
    characters : mapping of str to Characterisation
        Of :func:`flymotion.tuning.characterise`, by the names of the detectors.

    Examples
    --------
    >>> from flymotion.detectors import three_pixel
    >>> from flymotion.tuning import characterise
    >>> figure = draw_sheet({"three-pixel": characterise(three_pixel(), dt=0.05, repeats=1)})
    >>> [axes.get_title() for axes in figure.axes][:4]
    ['one position', 'mean over positions', 'direction', 'frequency × wavelength']
    """
    rows = [row for name, character in characters.items() for row in _rows(name, character.results)]
    n = len(rows)
    width, height, top, bottom = 13.2, 1.25 * n + 1.3, 0.55, 0.75
    figure = new_figure(width, height)
    figure.set_layout_engine("none")
    grid = figure.add_gridspec(
        n,
        len(_COLUMNS),
        left=1.55 / width,
        right=1 - 0.15 / width,
        top=1 - top / height,
        bottom=bottom / height,
        hspace=0.38,
        wspace=0.42,
    )
    for row, (name, results) in enumerate(rows):
        shown = _relative(results)
        for column, kind in enumerate(_COLUMNS):
            axes = figure.add_subplot(grid[row, column], projection="polar" if kind == "direction" else None)
            PANELS[kind](axes, shown[kind])
            _small(axes, kind, first=row == 0, last=row == n - 1)
        middle = grid[row, 0].get_position(figure)
        figure.text(
            0.1 / width, (middle.y0 + middle.y1) / 2, verbatim(_broken(name)), fontsize=9, va="center", weight="bold"
        )
    figure.text(0.1 / width, 0.12 / height, _KEY, fontsize=7, color="0.3")
    return figure


_KEY = (
    "Responses are relative to the largest of the panel; in the first two columns, of both. Solid or filled: motion in "
    "the preferred direction; dashed or empty: null direction.\nDirection: 0 deg right, 90 deg up; negative dashed. "
    f"Map: preferred direction, blue negative; lines of {', '.join(f'{s:g}' for s in SPEEDS)} deg/s. Contrast: "
    "size of negative red; dotted: square. Gliders: T two-point, C converging, D diverging."
)


def _rows(name: str, results: Mapping[str, xr.Dataset]) -> list[tuple[str, dict[str, xr.Dataset]]]:
    """Return the results of each unit, and what its row is called."""
    units = {column: of_units(results[column]) for column in _COLUMNS}
    names = [f"{name} {unit}".strip() for unit, _ in units["direction"]]
    return [(each, {column: parts[k][1] for column, parts in units.items()}) for k, each in enumerate(names)]


def _relative(results: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Return the columns' results divided by the largest of each."""
    both = max(np.abs(results[name].course).max() for name in ("local", "summed"))
    shown = {}
    for name, part in results.items():
        size = largest(both if name in ("local", "summed") else part.response)
        shown[name] = part.assign({k: part[k] / size for k in part.data_vars}).assign_attrs(part.attrs)
    return shown


def _small(axes: Any, kind: str, *, first: bool, last: bool) -> None:
    """Make a panel fit a sheet: small ticks, a title in the first row, labels below in the last."""
    axes.tick_params(labelsize=6, pad=1.5, length=2)
    axes.set_ylabel("temporal freq. [Hz]" if kind == "frequency" else "", fontsize=6, labelpad=1)
    axes.xaxis.label.set_size(7)
    if kind == "direction":
        axes.set_xticks(np.radians([0, 90, 180, 270]), [])
        axes.set_yticks([0.5, 1], [])
        axes.set_xlabel("direction of motion")
    elif kind == "contrast":
        for line in axes.lines:
            line.set(markersize=line.get_markersize() / 2, linewidth=0.7 * line.get_linewidth())
    elif kind in ("gliders", "reverse-phi"):
        axes.set_xlabel({"gliders": "kind, parity", "reverse-phi": "jumps"}[kind])
    if kind not in ("direction", "frequency", "contrast"):
        axes.set(ylim=(-1.15, 1.15), yticks=[-1, 0, 1])
    if not last:
        axes.set_xlabel("")
        axes.set_xticklabels([])
    if first:
        axes.set_title(_COLUMNS[kind], fontsize=8)


def _broken(name: str, n: int = 15) -> str:
    """Break a long name at its hyphens and spaces."""
    return "\n".join(textwrap.wrap(name, n))
