"""Figures of a trained circuit: what each column of the eye has learned, and what of it the connectome has, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.circuits import SUBTYPES
from flymotion.detecting.overlay.colours import hues
from flymotion.flying.unrolled import places_of, spacing_of
from flymotion.plots.canvas import new_panels
from flymotion.plots.dendritic_maps import draw_dendrites
from flymotion.world.compound_eyes import MIRROR, SIDES
from flymotion.world.lattices import BEARINGS, half_of, lattice_of, rings

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["beside_recordings", "draw_inputs", "draw_lattice", "draw_leanings", "draw_tuning", "leanings"]

DT = 0.005
"""Between the frames of gratings that tuning is measured with [s]."""

FULL = 0.9
"""Length of the longest arrow [spacings]."""


def leanings(weights: np.ndarray, eye: Any, n_rings: int) -> np.ndarray:
    """Return which way every cell's weights lean over its patch: from - to +, as the eye sees it.

    Sums of weights times the directions to where they come from, divided by the sum of their sizes.

    Parameters
    ----------
    weights : ndarray, shape (n_columns, n_cells, n_offsets)
        Such as ``T4T5Circuit.weights_``; NaN where there is no column.
    eye : Eye
        That has the columns.
    n_rings : int
        Of the patch.

    Returns
    -------
    ndarray, shape (n_columns, n_cells, 2)
        (right, up); NaN for a cell without weights.
    """
    lattice = lattice_of(eye)
    ahead = np.nan_to_num(lattice.seen(lattice.around(n_rings)))
    length = np.linalg.norm(ahead, axis=-1, keepdims=True)
    ways = ahead / np.where(length > 0, length, 1)
    known = np.nan_to_num(weights)
    sizes = np.abs(known).sum(axis=2, keepdims=True)
    sums = np.einsum("cko,cox->ckx", known, ways)
    return np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0)


def draw_lattice(eye: Any, *, title: str = "") -> Figure:
    """Draw the lattice of an eye: lenses, and links to neighbours in three hues, those of the bearings they lie at.

    Parameters
    ----------
    eye : Eye
        A hexagonal one, flat or measured.
    title : str
        Title of the figure, by default the number of lenses and how many have six neighbours.
    """
    from matplotlib.collections import LineCollection

    places, neighbours = _placed(eye), lattice_of(eye).neighbours
    figure, (axes,) = _maps(eye, 1, 6.0)
    for k in range(3):
        ours = np.flatnonzero(neighbours[:, k] >= 0)
        links = np.stack([places[ours], places[neighbours[ours, k]]], axis=1)
        axes.add_collection(LineCollection(list(links), colors=[0.8 * hues(2 * BEARINGS[k])], linewidths=0.8, zorder=1))
    axes.plot(*places.T, ".", color="black", markersize=3, zorder=2)
    full = int((neighbours >= 0).all(axis=1).sum())
    figure.suptitle(title or f"{len(places)} lenses, {full} with six neighbours", fontsize=10)
    return figure


def draw_leanings(circuit: Any, *, title: str = "") -> Figure:
    """Draw which way the learned weights of T4a to d lean in every column of the eye.

    An arrow points from where intensity weighs positively, which Mi9 carries, to where it weighs negatively, which Mi4
    carries; that is the direction which the cell comes to prefer.

    Parameters
    ----------
    circuit : T4T5Circuit
        Trained.
    title : str
        Title of the figure.
    """
    ways = -leanings(circuit.weights_[:, :4], circuit.eye, circuit.n_rings)
    places = _placed(circuit.eye)
    figure, panels = _maps(circuit.eye, 4, 3.6)
    longest = np.nanquantile(np.linalg.norm(ways, axis=-1), 0.95)
    for k, axes in enumerate(panels):
        angle = np.degrees(np.arctan2(*np.moveaxis(ways[:, k, ::-1], -1, 0)))
        arrows = FULL * spacing_of(places) * ways[:, k] / longest
        ink = 0.8 * hues(np.nan_to_num(angle))
        style: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "units": "xy", "pivot": "middle"}
        axes.quiver(*places.T, *arrows.T, color=ink, width=0.1 * spacing_of(places), **style)
        axes.set_title(SUBTYPES[k], fontsize=10)
    figure.suptitle(title or "from learned + to learned -: the direction each T4 comes to prefer", fontsize=10)
    return figure


def _maps(eye: Any, n: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure of empty maps of the eye, of a height [inches]."""
    places, half = _placed(eye), half_of(eye)
    (left, bottom), (right, top) = places.min(axis=0), places.max(axis=0)
    n_columns, margin = min(n, 2), spacing_of(places)
    wide = height * (right - left) / (top - bottom)
    figure, panels = new_panels(n, n_columns, (wide, height), margins=(0.6, 0.8))
    for axes in panels:
        for side in np.unique(half) if half.any() else ():
            x = places[half == side, 0]
            axes.text((x.min() + x.max()) / 2, bottom, f"{SIDES[side]} eye", ha="center", va="top", fontsize=8)
        axes.set(xlim=(left - margin, right + margin), ylim=(bottom - margin, top + margin), aspect="equal")
        axes.set_axis_off()
    return figure, panels


def _placed(eye: Any) -> np.ndarray:
    """Return where lenses are drawn, two eyes, which both see what is ahead, moved apart."""
    return places_of(eye) + _apart(eye)


def _apart(eye: Any) -> np.ndarray:
    """Return how far each half is moved so that two eyes, which see the same ahead, do not overlap, (n_lenses, 2)."""
    places, half = places_of(eye), half_of(eye)
    if not half.any() or half.all():
        return np.zeros(places.shape)
    overlap = places[half == 0, 0].max() - places[half == 1, 0].min()
    return np.stack([np.where(half == 0, -0.5, 0.5) * (overlap + 0.15), np.zeros(len(half))], axis=1)


def draw_inputs(circuit: Any, *, title: str = "") -> Figure:
    """Draw the learned weights onto intensities about a column, means over an eye, beside the connectome's synapses.

    Parameters
    ----------
    circuit : T4T5Circuit
        Trained. Of two eyes the left one is shown; a right one mirrored, so that a is front to back.
    title : str
        Title of the figure, by default what the means are over.

    Raises
    ------
    ValueError
        An eye without a single full patch.
    """
    side = half_of(circuit.eye)
    weights, offsets = circuit.weights_[side == side.min()], rings(circuit.n_rings)
    full = weights[np.isfinite(weights).all(axis=(1, 2))]
    if not len(full):
        raise ValueError("no column has all columns about it; expected a larger eye")
    of = f"{SIDES[side.min()]} eye" if hasattr(circuit.eye, "half") else "eye"
    title = title or f"weights onto intensities about a column: means over {len(full)} columns of the {of}"
    return draw_dendrites(full.mean(axis=0), offsets @ MIRROR if side.min() == 1 else offsets, suptitle=title)


def beside_recordings(circuit: Any) -> xr.Dataset:
    """Return the direction tuning of the circuit's mean column beside published recordings, T4 by T4 and T5 by T5.

    Parameters
    ----------
    circuit : T4T5Circuit
        Trained.

    Returns
    -------
    xarray.Dataset
        As of :func:`flymotion.tuning.recordings.compare`, of all eight cells.
    """
    import xarray as xr

    from flymotion.tuning import experiment
    from flymotion.tuning.recordings import compare, published

    tuning, recorded = experiment("direction", circuit.detector(), dt=DT), published()
    halves = [compare(tuning.isel(unit=four), recorded.isel(cell=four)) for four in (slice(0, 4), slice(4, 8))]
    return xr.concat(halves, "cell", combine_attrs="override")


def draw_tuning(circuit: Any) -> Figure:
    """Draw the direction tuning of the circuit's mean column beside recorded cells."""
    from flymotion.plots import draw_comparison

    return draw_comparison(beside_recordings(circuit))
