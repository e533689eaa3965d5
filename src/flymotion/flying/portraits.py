"""Figures of a trained circuit: what each column of the eye has learned, and what of it the connectome has, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.circuits import PREFERRED, SUBTYPES
from flymotion.detecting.overlay.colours import hues
from flymotion.flying.unrolled import places_of
from flymotion.flying.watched import sides
from flymotion.plots.canvas import new_figure
from flymotion.plots.dendritic_maps import draw_dendrites
from flymotion.world.lattices import as_seen, lattice_of, rings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_inputs", "draw_leanings", "leanings"]

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
    around = lattice_of(eye).around(n_rings)
    places = np.asarray(eye.positions, dtype=float)
    ahead = places[around] - places[:, None]
    if places.shape[1] == 3:
        ahead = np.stack([np.vecdot(ahead, axis[:, None]) for axis in as_seen(places)], axis=-1)
    else:
        ahead = ahead * (1, -1)
    length = np.linalg.norm(ahead, axis=-1, keepdims=True)
    ways = np.where((around >= 0)[..., None] & (length > 0), ahead / np.where(length > 0, length, 1), 0.0)
    known = np.nan_to_num(weights)
    sizes = np.abs(known).sum(axis=2, keepdims=True)
    sums = np.einsum("cko,cox->ckx", known, ways)
    return np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0)


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
    places = places_of(circuit.eye) + _apart(circuit.eye)
    (left, bottom), (right, top) = places.min(axis=0), places.max(axis=0)
    width, height = right - left, top - bottom
    scale = 3.6 / height
    figure = new_figure(2 * scale * width + 1.0, 2 * 3.6 + 1.4, "compressed")
    spacing = height / np.sqrt(len(places))
    longest = np.nanquantile(np.linalg.norm(ways, axis=-1), 0.95)
    for k, axes in enumerate(figure.subplots(2, 2).flat):
        angle = np.degrees(np.arctan2(*np.moveaxis(ways[:, k, ::-1], -1, 0)))
        arrows = FULL * spacing * ways[:, k] / longest
        ink = 0.8 * hues(np.nan_to_num(angle))
        style: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "pivot": "middle", "width": 0.003}
        axes.quiver(*places.T, *arrows.T, color=ink, **style)
        axes.set(xlim=(left - spacing, right + spacing), ylim=(bottom - spacing, top + spacing), aspect="equal")
        axes.set_axis_off()
        axes.set_title(SUBTYPES[k], fontsize=10)
    figure.suptitle(title or "from learned + to learned -: the direction each T4 comes to prefer", fontsize=10)
    return figure


def _apart(eye: Any) -> np.ndarray:
    """Return how far each half is moved so that two eyes, which see the same ahead, do not overlap, (n_lenses, 2)."""
    places, half = places_of(eye), sides(eye)
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
        Title of the figure.
    """
    side = sides(circuit.eye)
    weights = circuit.weights_[side == side.min()]
    mean = np.nanmean(weights[np.isfinite(weights).all(axis=(1, 2))], axis=0)
    if side.min() == 1:
        mean = mean[[SUBTYPES.index(cell[:2] + OTHER[cell[-1]]) for cell in SUBTYPES]]
    return draw_dendrites(mean, rings(circuit.n_rings), suptitle=title)


OTHER = {name: next(o for o, a in PREFERRED.items() if a == (180.0 - angle) % 360) for name, angle in PREFERRED.items()}
"""Which subtype prefers, in one eye, what each one prefers in the other."""
