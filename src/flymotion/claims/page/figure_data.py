"""The data of a figure: what its panels show, as one labelled dataset, so that nothing can differ from what is drawn.

A panel is a letter, ``a`` the first. Lines, points, bars, steps and areas are variables over a coordinate of the panel;
cells of a map and hexagons are variables of their own shape; arrows and shapes have a last axis of x and y. Names are
from labels, "long_name" says them in full, "units" is what stands in brackets in an axis's label, "ticks" what places
on it are called, and "drawn" the colour, mark and dashes of a line, by which a legend tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["data_of", "unit_of"]

WITH_UNIT = re.compile(r"^(.*?)\s*\[([^\[\]]+)\](.*)$", re.S)
"""A label that has a unit in brackets."""

LONGEST = 40
"""Letters of a name that is made of a label."""


class Axis(NamedTuple):
    """An axis of values."""

    name: str
    places: np.ndarray | None = None
    label: str = ""
    """Of the places, with their unit."""
    ticks: str = ""


class Series(NamedTuple):
    """What one artist shows."""

    name: str
    """In words; empty where it has no label."""
    values: np.ndarray
    axes: tuple[Axis, ...]
    label: str
    """Of the values, with their unit."""
    drawn: str = ""
    """How, where a legend tells it by that."""
    ticks: str = ""
    """What values are called that stand for something else."""


def data_of(figure: Figure, source: str = "") -> xr.Dataset:
    """Return what a figure shows.

    Parameters
    ----------
    figure : Figure
        Any; colour bars and lines from edge to edge are no data.
    source : str
        What made it.

    Returns
    -------
    Dataset
        Variables that begin with the letters of their panels, whose titles are attributes.

    Examples
    --------
    >>> from flymotion.plots.canvas import new_figure
    >>> figure = new_figure(3, 2)
    >>> axes = figure.subplots()
    >>> _ = axes.plot([0.0, 0.5], [1.0, 2.0], label="a line")
    >>> _ = axes.set(xlabel="time [s]", ylabel="output [mV]")
    >>> data_of(figure).a_a_line.attrs
    {'long_name': 'a line', 'units': 'mV', 'quantity': 'output', 'panel': 'a', 'drawn': '#1f77b4 None -'}
    """
    import xarray as xr

    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    variables: dict[str, Any] = {}
    titles = {}
    for k, axes in enumerate(panels):
        panel = _letters(k)
        titles[f"panel_{panel}"] = _on_one_line(axes.get_title())
        for one in _shown(axes):
            _add(variables, panel, one)
    suptitle = figure.get_suptitle() if hasattr(figure, "get_suptitle") else ""
    attrs = {"title": suptitle, "source": source, "Conventions": "CF-1.10"} | titles
    return xr.Dataset(variables, attrs={name: text for name, text in attrs.items() if text})


def unit_of(label: str) -> tuple[str, str]:
    """Return a label without its unit, and the unit, "1" where it has none.

    Examples
    --------
    >>> unit_of("time [s]"), unit_of("share of pairs")
    (('time', 's'), ('share of pairs', '1'))
    """
    found = WITH_UNIT.match(label)
    return (found[1] + found[3], found[2]) if found else (label, "1")


def _letters(k: int) -> str:
    """Return a, b, ... z, aa, ab, ..."""
    return (_letters(k // 26 - 1) if k >= 26 else "") + ascii_lowercase[k % 26]


def _add(variables: dict[str, Any], panel: str, one: Series) -> None:
    """Add a series, with coordinates, under a name that is not taken."""
    dims = [_dimension(variables, panel, axis, n) for axis, n in zip(one.axes, np.shape(one.values), strict=True)]
    quantity, unit = unit_of(one.label)
    unique = _free(variables, f"{panel}_{_slug(one.name) or 'values'}")
    attrs = {"long_name": one.name or quantity or "values", "units": unit, "quantity": quantity, "panel": panel}
    attrs |= {"drawn": one.drawn, "ticks": one.ticks}
    variables[unique] = (dims, one.values, {key: text for key, text in attrs.items() if text})


def _dimension(variables: dict[str, Any], panel: str, axis: Axis, n: int) -> str:
    """Return the name of a dimension, that of one with the same places if there is one."""
    if axis.places is None:
        return f"{panel}_{axis.name}{'' if axis.name == 'xy' else n}"
    long_name, unit = unit_of(axis.label)
    name = f"{panel}_{_slug(long_name) or axis.name}"
    for known, (_, places, _) in variables.items():
        if known.startswith(name) and np.array_equal(places, axis.places):
            return known
    name = _free(variables, name)
    attrs = {"long_name": long_name or axis.name, "units": unit, "ticks": axis.ticks}
    variables[name] = (name, axis.places, {key: text for key, text in attrs.items() if text})
    return name


def _free(variables: dict[str, Any], name: str) -> str:
    numbers = (name if n == 1 else f"{name}_{n}" for n in count(1))
    return next(each for each in numbers if each not in variables)


def _slug(text: str) -> str:
    return re.sub(r"\W+", "_", text.encode("ascii", "ignore").decode().lower()).strip("_")[:LONGEST].rstrip("_")


def _shown(axes: Axes) -> Iterator[Series]:
    """Yield what the artists of a panel show."""
    from matplotlib.colors import to_hex

    x, (_, _, y, ticks) = _axis(axes, "x"), _axis(axes, "y")
    for image in axes.images:
        weights: Any = image.get_array()
        if np.ndim(weights) == 2:
            rows, columns = (np.arange(n, dtype=float) for n in weights.shape)
            yield _cells(image, axes, weights, rows, columns)
    for line in axes.lines:
        places, values = (np.asarray(part, dtype=float) for part in line.get_data())
        if line.get_transform() == axes.transData and len(values):
            drawn = " ".join(map(str, (to_hex(line.get_color()), line.get_marker(), line.get_linestyle())))
            yield Series(_named(line), values, (x._replace(places=places),), y, drawn, ticks)
    containers: list[Any] = axes.containers
    for container in containers:
        if hasattr(container, "datavalues"):
            places = np.array([bar.get_x() + bar.get_width() / 2 for bar in container.patches])
            yield Series(_named(container), np.asarray(container.datavalues), (x._replace(places=places),), y)
    for patch in axes.patches:
        if hasattr(patch, "get_data") and hasattr(patch.get_data(), "edges"):
            values, edges, _ = patch.get_data()
            yield Series(_named(patch), np.asarray(values, dtype=float), (x._replace(places=edges[:-1]),), y)
    for collection in axes.collections:
        yield from _collected(collection, axes, ", ".join(filter(None, (x.label, y))))


def _collected(collection: Any, axes: Axes, both: str) -> Iterator[Series]:
    """Yield what a collection shows: cells, arrows, points, or shapes."""
    array, kind, xy = collection.get_array(), type(collection).__name__, Axis("xy")
    if kind == "QuadMesh":
        corners = collection.get_coordinates()
        rows, columns = ((edges[:-1] + edges[1:]) / 2 for edges in (corners[:, 0, 1], corners[0, :, 0]))
        yield _cells(collection, axes, np.reshape(array, (len(rows), len(columns))), rows, columns)
    elif kind == "Quiver":
        yield Series("arrows from", collection.XY, (Axis("arrow"), xy), both)
        yield Series("arrows along", np.stack([collection.U, collection.V], axis=1), (Axis("arrow"), xy), both)
    elif kind == "PathCollection":
        name = _named(collection) or "points"
        yield Series(name, _filled(collection.get_offsets()), (Axis("point"), xy), both)
        if array is not None:
            yield Series(f"{name} value", _filled(array), (Axis("point"),), _scale(collection))
    elif kind.endswith("PolyCollection") and array is not None:
        centres = np.array([path.vertices[:-1].mean(axis=0) for path in collection.get_paths()])
        yield Series("cells at", centres, (Axis("cell"), xy), both)
        yield Series("cells", _filled(array), (Axis("cell"),), _scale(collection))
    elif kind.endswith("PolyCollection") or kind == "LineCollection":
        name = _named(collection) or ("area" if kind.endswith("PolyCollection") else "span")
        for path in collection.get_paths():
            yield Series(f"{name} outline", np.asarray(path.vertices), (Axis("corner"), xy), both)


def _cells(image: Any, axes: Axes, array: Any, rows: np.ndarray, columns: np.ndarray) -> Series:
    places = {"y": ("row", rows), "x": ("column", columns)}
    both = (_axis(axes, which)._replace(name=name, places=at) for which, (name, at) in places.items())
    return Series("cells", _filled(array), tuple(both), _scale(image))


def _filled(array: Any) -> np.ndarray:
    return np.ma.filled(np.ma.asarray(array, dtype=float), np.nan)


def _scale(mappable: Any) -> str:
    """Return the label of a colour bar, which several panels may share."""
    own = getattr(mappable, "colorbar", None)
    bars = [axes for axes in mappable.figure.axes if axes.get_label() == "<colorbar>"] if own is None else [own.ax]
    labels = (label for axes in bars for label in (axes.get_ylabel(), axes.get_xlabel()))
    return _on_one_line(next(filter(None, labels), ""))


def _axis(axes: Axes, which: str) -> Axis:
    """Return an axis with its label, or that of the panel that it is shared with, or of the figure."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter

    axis = getattr(axes, f"{which}axis")
    places = axis.get_ticklocs()
    if not len(places):  # what stands there is no label of an axis
        return Axis(which)
    figure: Any = axes.figure
    beside = [other for other in figure.axes if _aligned(axes, other, which)]
    labels = [getattr(other, f"get_{which}label")() for other in (axes, *beside)]
    label = next(filter(None, [*labels, getattr(figure, f"get_sup{which}label", str)()]), "")
    by_hand = axis.get_major_formatter()
    names = by_hand.format_ticks(places) if isinstance(by_hand, FixedFormatter | FuncFormatter) else ()
    ticks = "; ".join(
        f"{place:g}: {_on_one_line(str(name))}" for place, name in zip(places, names, strict=False) if name
    )
    return Axis(which, None, _on_one_line(label), ticks)


def _aligned(axes: Axes, other: Axes, which: str) -> bool:
    here, there = axes.get_subplotspec(), other.get_subplotspec()
    if here is None or there is None or here.get_gridspec() is not there.get_gridspec():
        return False
    return here.colspan == there.colspan if which == "x" else here.rowspan == there.rowspan


def _named(artist: Any) -> str:
    label = str(artist.get_label())
    return "" if label.startswith("_") else _on_one_line(label)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
