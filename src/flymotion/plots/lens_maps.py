"""What each lens of a fly's eyes sees or says, in colours: a map an eye, as the fly sees it from inside.

The left eye's map is at the left, the right eye's at the right, each about its own side (azimuth 90 and -90 degrees);
what is ahead is where the two maps meet. Azimuth counts from straight ahead to the left, so that to the right on each
map is to the right as the fly sees it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.frames import unmasked
from flymotion.plots.canvas import MISSING, SIGNED, new_figure, symmetric_limit
from flymotion.plots.maps import circles_about, on_map
from flymotion.world.compound_eyes import SIDES, CompoundEye
from flymotion.world.lattices import lattice_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

__all__ = ["draw_lenses", "lens_maps"]

MARGIN = 0.06
"""Around a map, relative to its height."""


def lens_maps(
    eye: CompoundEye, values: Any, *, label: str = "", title: str = "", limits: tuple[float, float] | None = None
) -> Figure:
    """Draw a number for each lens, a map an eye.

    Parameters
    ----------
    eye : CompoundEye
        One eye, or two.
    values : array-like, shape (n_pixels,)
        NaN is drawn grey.
    label : str
        What the numbers are, with their unit.
    title : str
        Of the figure.
    limits : (float, float), optional
        Of the colours; by default symmetric about 0.

    Raises
    ------
    ValueError
        Another number of values than lenses.

    Examples
    --------
    >>> from flymotion import buchner
    >>> eye = buchner("left")
    >>> figure = lens_maps(eye, eye.positions[:, 2], label="how far up it looks")
    >>> [axes.get_title() or axes.get_ylabel() for axes in figure.axes]
    ['left eye', 'how far up it looks']
    """
    halves = np.unique(eye.half)
    figure = new_figure(1.2 + 4.2 * len(halves), 4.3)
    panels = figure.subplots(1, len(halves), squeeze=False)[0]
    limit = symmetric_limit(values)
    for axes, half in zip(panels, halves, strict=True):
        lenses = draw_lenses(axes, eye, values, half=half, limits=limits or (-limit, limit))
    figure.colorbar(lenses, ax=list(panels), label=label, shrink=0.7)
    figure.suptitle(title, fontsize=11)
    return figure


def draw_lenses(axes: Axes, eye: CompoundEye, values: Any, *, half: int, limits: tuple[float, float]) -> PolyCollection:
    """Draw a number for each lens of one eye; ``set_array`` of what is returned shows others, in an animation.

    Parameters
    ----------
    axes : Axes
        Empty.
    eye : CompoundEye
        One eye, or two.
    values : array-like, shape (n_pixels,)
        Of all lenses of ``eye``; NaN is drawn grey.
    half : {0, 1}
        Which eye: 0 left, 1 right.
    limits : (float, float)
        Of the colours.

    Raises
    ------
    ValueError
        Another number of values than lenses.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from flymotion import buchner
    >>> eye = buchner("left")
    >>> lenses = draw_lenses(Figure().subplots(), eye, eye.positions[:, 2], half=0, limits=(-1.0, 1.0))
    >>> len(lenses.get_paths())
    699
    """
    import matplotlib
    from matplotlib.collections import PolyCollection

    values = unmasked(values, "values", float)
    if values.shape != eye.shape:
        raise ValueError(f"values of shape {values.shape}, an eye of {eye.shape[0]} lenses; expected one for each")
    own, middle = eye.half == half, (90.0, -90.0)[half]
    spacings = lattice_of(eye).spacings[own]
    radius = 0.52 * np.where(np.isnan(spacings), np.nanmedian(spacings), spacings)
    places = on_map(circles_about(_turned(eye.directions[own], middle), radius)[:, :-1:6])
    colours = matplotlib.colormaps[SIGNED].with_extremes(bad=MISSING)
    lenses = PolyCollection(list(places), array=np.ma.masked_invalid(values[own]), cmap=colours, linewidths=0.2)
    lenses.set_edgecolor("0.6")
    lenses.set_clim(*limits)
    _draw_net(axes, middle)
    axes.add_collection(lenses)
    axes.set_title(f"{SIDES[half]} eye", fontsize=10)
    return lenses


def _turned(directions: np.ndarray, azimuth: float) -> np.ndarray:
    """Turn directions about the vertical, so that an azimuth [deg] is straight ahead."""
    c, s = math.cos(math.radians(azimuth)), math.sin(math.radians(azimuth))
    return directions @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _draw_net(axes: Axes, middle: float) -> None:
    """Draw meridians and parallels of the hemisphere and a little more, with degrees beside and below it."""
    reach = 105.0
    elevations = np.linspace(-90, 90, 61)
    for azimuth in np.arange(middle - 90, middle + 91, 45):
        line = _on_own_map(azimuth, elevations, middle)
        axes.plot(*line.T, color="0.85", linewidth=0.6, zorder=0)
        foot = _on_own_map(azimuth, np.array([-90.0, 0.0]), middle)
        name = f"{azimuth:g}°".replace("-", "−")
        axes.annotate(name, (foot[1, 0], -math.sqrt(2) * (1 + MARGIN)), ha="center", va="top", fontsize=7, color="0.3")
    for elevation in range(-60, 61, 30):
        azimuths = np.linspace(middle - reach, middle + reach, 81)
        line = _on_own_map(azimuths, np.full(81, float(elevation)), middle)
        axes.plot(*line.T, color="0.85", linewidth=0.6, zorder=0)
        axes.annotate(
            f"{elevation}°".replace("-", "−"), line[-1] - [0.05, 0], ha="right", va="center", fontsize=7, color="0.3"
        )
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.text(0, -math.sqrt(2) * (1 + 3.2 * MARGIN), "azimuth, positive to the left", ha="center", va="top", fontsize=8)


def _on_own_map(azimuth: Any, elevation: np.ndarray, middle: float) -> np.ndarray:
    a, e = np.radians(np.broadcast_to(azimuth, elevation.shape)), np.radians(elevation)
    directions = np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], axis=-1)
    return on_map(_turned(directions, middle))
