"""What all figures share: the figure itself, rows of panels, one colour scale symmetric about zero, arrows."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flymotion.writing import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "MISSING",
    "SIGNED",
    "add_colour_bar",
    "draw_flow",
    "new_figure",
    "new_panels",
    "save_figure",
    "signed_colours",
    "symmetric_limit",
    "typical_speed",
    "verbatim",
]

SIGNED = "RdBu_r"
"""Colours of signed weights, white at 0."""

MISSING = "0.75"
"""Colour of weights that are not numbers."""


def new_figure(width: float, height: float, layout: Literal["constrained", "compressed"] = "constrained") -> Figure:
    """Return an empty figure [inches] that no global state knows of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)


def new_panels(
    n: int, n_columns: int, size: tuple[float, float], *, margins: tuple[float, float] = (1.1, 0.6)
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its first n panels, of a size [inches], in rows; the last row's other panels are left blank.

    Parameters
    ----------
    n, n_columns : int
        Panels in all, and in a row.
    size, margins : (float, float)
        Width and height of a panel, and what the figure has beyond its panels [inches].
    """
    n_lines = math.ceil(n / n_columns)
    figure = new_figure(size[0] * n_columns + margins[0], size[1] * n_lines + margins[1], "compressed")
    panels = list(figure.subplots(n_lines, n_columns, squeeze=False).flat)
    for axes in panels[n:]:
        axes.set_axis_off()
    return figure, panels[:n]


def verbatim(name: str) -> str:
    """Return a name, as of a file, as text that a figure shows as it is, dollars and bytes that are no text too."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8").replace("$", r"\$")


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: int = 150, source: str = "") -> None:
    """Write a figure as PNG, whole or not at all; ``source`` says in the file what it was made by."""
    with whole(path) as place:
        figure.savefig(place, format="png", dpi=dpi, metadata={"Source": source} if source else None)


def symmetric_limit(weights: Any) -> float:
    """Return the largest size of a finite weight, or 1 where all are 0 or too small for matplotlib to tell from 0."""
    sizes = np.abs(np.asarray(weights, dtype=float))
    largest = sizes.max(initial=0.0, where=np.isfinite(sizes))
    return float(largest) if largest > 1e-250 else 1.0


def add_colour_bar(figure: Figure, image: Any, label: str) -> None:
    """Add one colour bar beside all panels, as wide in large figures as in small ones."""
    width, height = figure.get_size_inches()
    shares: dict[str, Any] = {
        "shrink": 0.8,
        "aspect": 0.8 * height / 0.16,
        "fraction": 0.5 / width,
        "pad": 0.15 / width,
    }
    figure.colorbar(image, ax=figure.axes, label=label, **shares)


def typical_speed(flow: np.ndarray, least: float) -> float:
    """Return the speed, of flow of shape (..., ndim), that one in ten pixels exceeds, or ``least`` if that is more."""
    speeds = np.linalg.norm(flow, axis=-1)
    speeds = speeds[np.isfinite(speeds)]
    return max(float(np.quantile(speeds, 0.9)), least) if speeds.size else least


def signed_colours() -> Any:
    """Return the colour map of signed weights."""
    import matplotlib

    return matplotlib.colormaps[SIGNED].with_extremes(bad=MISSING)


def draw_flow(axes: Axes, positions: np.ndarray, arrows: np.ndarray, *, length: float) -> Any:
    """Draw arrows in the units of the axes, from dots at positions; what is not a number has no arrow.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    positions, arrows : ndarray, shape (n, 2)
        Where arrows begin, and which way they go.
    length : float
        Of a typical arrow: the width of all arrows goes by it.
    """
    axes.plot(*positions.T, ".", color=MISSING, markersize=2, zorder=1)
    shown = np.isfinite(arrows).all(axis=1)
    (x, y), (u, v) = positions[shown].T, arrows[shown].T
    style: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "units": "xy", "width": 0.09 * length}
    return axes.quiver(x, y, u, v, zorder=2, minlength=0.1, **style)
