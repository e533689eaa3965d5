"""Where T4's and T5's inputs sit along the preferred direction: a table of published counts.

Mean synapses within two columns, and their centroid, from the connectome specification of flyvis 1.1 (MIT licence,
TuragaLab), itself from the FIB-25 and FIB-19 reconstructions (Takemura et al. 2017; Shinomiya et al. 2019). Positions
are in columns, from the cell's own; positive is the side to which content moves that the cell prefers.

Signs are those of an input's effect on intensity, transmitter times polarity: Mi9 is an OFF cell that inhibits, so it
weighs intensity positively; Mi4, C3 and CT1 in the medulla are ON and inhibit; Tm9 is OFF and excites, CT1 in the
lobula OFF and inhibits. The centre is Mi1 and Tm3, of T5 Tm1, Tm2 and Tm4, which are OFF.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.world.eyes import Hexagon

__all__ = ["CELLS", "KINDS", "PREFERRED", "Kind", "centroid", "order", "sided", "wired"]


class Kind(NamedTuple):
    """A kind of cell: its centre's inputs and polarity, and the signs of those beside it."""

    centre: tuple[str, ...]
    polarity: int
    beside: dict[str, int]


KINDS = {
    "T4": Kind(("Mi1", "Tm3"), 1, {"Mi9": 1, "Mi4": -1, "C3": -1, "CT1": -1}),
    "T5": Kind(("Tm1", "Tm2", "Tm4"), -1, {"Tm9": -1, "CT1": 1}),
}

_NAMES = {"T4": ("Mi9", "Mi1", "Tm3", "Mi4", "C3", "CT1"), "T5": ("Tm9", "Tm1", "Tm2", "Tm4", "CT1")}

_POSITIONS = {
    "T4a": (-0.605, 0.083, -0.365, 0.866, 0.866, 0.592),
    "T4b": (-0.840, -0.072, 0.182, 0.647, 0.866, 0.662),
    "T4c": (-0.751, 0.068, -0.013, 0.785, 0.789, 0.777),
    "T4d": (-0.561, -0.031, -0.232, 0.354, 0.538, 0.424),
    "T5a": (-0.866, 0.414, 0.343, -0.471, 1.063),
    "T5b": (-0.866, 0.226, 0.185, 0.831, 1.029),
    "T5c": (-0.771, 0.166, 0.304, 0.302, 0.612),
    "T5d": (-0.771, -0.211, -0.137, -0.230, 0.708),
}

_SYNAPSES = {
    "T4a": (19.83, 51.48, 24.64, 12.74, 9.70, 17.97),
    "T4b": (21.86, 48.88, 16.53, 15.85, 5.22, 12.13),
    "T4c": (19.15, 61.96, 18.97, 11.67, 4.21, 14.52),
    "T4d": (22.15, 59.00, 14.94, 9.92, 6.50, 18.21),
    "T5a": (49.00, 26.69, 27.02, 16.44, 24.78),
    "T5b": (47.01, 22.89, 25.13, 14.96, 26.45),
    "T5c": (45.93, 21.69, 26.72, 16.85, 39.00),
    "T5d": (51.28, 23.57, 24.50, 16.44, 40.00),
}

CELLS: dict[str, dict[str, tuple[float, float]]] = {
    cell: dict(zip(_NAMES[cell[:2]], zip(_POSITIONS[cell], _SYNAPSES[cell], strict=True), strict=True))
    for cell in _POSITIONS
}
"""Position [columns] and synapses of each input of each cell."""


PREFERRED = {"T4b": 0.0, "T4c": 90.0, "T4a": 180.0, "T4d": 270.0}
"""Directions that T4 prefers [deg]: 0 = right, 90 = up."""

_BESIDE: dict[str, tuple[tuple[int, float, float, float], ...]] = {
    "T4a": (
        (-1, -0.5, 1.92, 24.51),
        (-1, 0.5, 1.64, 8.87),
        (-1, 1.5, 0.00, 1.35),
        (0, -2, 0.00, 1.00),
        (0, -1, 1.07, 1.71),
        (0, 0, 1.79, 1.31),
        (0, 1, 0.00, 1.67),
        (1, -1.5, 2.00, 0.00),
        (1, -0.5, 5.12, 0.00),
        (1, 0.5, 2.29, 0.00),
        (2, -1, 1.40, 0.00),
        (2, 0, 2.60, 0.00),
    ),
    "T4b": (
        (-2, 0, 3.86, 0.00),
        (-1, -0.5, 8.20, 0.00),
        (-1, 0.5, 6.67, 0.00),
        (0, -1, 0.00, 2.70),
        (0, 0, 1.76, 2.92),
        (0, 1, 0.00, 1.25),
        (1, -0.5, 1.38, 15.37),
        (1, 0.5, 0.00, 10.96),
    ),
    "T4c": (
        (-1, -1.5, 2.50, 0.00),
        (-1, -0.5, 4.20, 1.00),
        (-1, 0.5, 0.00, 1.00),
        (-1, 1.5, 0.00, 3.20),
        (0, -1, 7.20, 0.00),
        (0, 0, 2.59, 3.01),
        (0, 1, 0.00, 12.95),
        (1, -0.5, 2.67, 0.00),
        (1, 0.5, 0.00, 7.84),
        (1, 1.5, 0.00, 1.40),
    ),
    "T4d": (
        (-1, -0.5, 0.00, 2.11),
        (-1, 0.5, 7.88, 1.00),
        (-1, 1.5, 0.00, 5.00),
        (0, -2, 0.00, 1.00),
        (0, -1, 1.11, 19.74),
        (0, 0, 2.14, 1.89),
        (0, 1, 8.17, 1.33),
        (1, -0.5, 0.00, 2.56),
        (1, 0.5, 2.86, 0.00),
    ),
}
"""Columns to the right [of sqrt(3) / 2 spacings], spacings up, and synapses there of Mi9 and of Mi4, C3 and CT1."""


def wired(eye: Hexagon) -> np.ndarray:
    """Return filters wired as T4b, c, a and d are, shape (4, n_pixels, n_pixels), of norm 1.

    From the change at the middle onto intensities where the synapses of Mi9 (positive), Mi4, C3 and CT1 (negative)
    are, as many as there are. The eye has two rings or more.
    """
    middle = int(np.argmin(np.linalg.norm(eye.positions, axis=1)))
    W = np.zeros((len(PREFERRED), *eye.shape, *eye.shape))
    for k, cell in enumerate(PREFERRED):
        for column, up, positive, negative in _BESIDE[cell]:
            place = np.array([column * np.sqrt(3) / 2, -up])
            W[k, middle, np.argmin(np.linalg.norm(eye.positions - place, axis=1))] += positive - negative
    return W / np.linalg.norm(W, axis=(1, 2), keepdims=True)


def centroid(cell: str, *inputs: str) -> float:
    """Return the centroid of all synapses of some inputs of a cell, or of all that are listed [columns]."""
    listed = [CELLS[cell][name] for name in inputs or CELLS[cell]]
    return sum(place * count for place, count in listed) / sum(count for _, count in listed)


def sided(cell: str) -> bool:
    """Say whether all inputs beside the centre sit where a start would have to have them.

    A weight of the centre's own sign (ON or OFF) has to be on the side where content comes from that the cell
    prefers, and one of the other sign on the other side.
    """
    kind = KINDS[cell[:2]]
    return all(kind.polarity * sign * CELLS[cell][name][0] < 0 for name, sign in kind.beside.items())


def order(cell: str) -> bool:
    """Say whether inputs of the centre's sign, the centre, and those of the other sign come in this order."""
    kind = KINDS[cell[:2]]
    same, other = ([n for n, sign in kind.beside.items() if kind.polarity * sign == want] for want in (1, -1))
    return centroid(cell, *same) < centroid(cell, *kind.centre) < centroid(cell, *other)
