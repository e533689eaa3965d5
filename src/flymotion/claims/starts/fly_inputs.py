"""Where T4's and T5's inputs sit along the preferred direction, and filters wired as T4's are.

Synapses are those of :mod:`flymotion.circuits.connectome`. Positions are in columns, from the cell's own; positive is
the side to which content moves that the cell prefers. The centre is Mi1 and Tm3, of T5 Tm1, Tm2 and Tm4, which are OFF;
beside it are Mi9, Mi4, C3 and CT1, of T5 Tm9 and CT1, with the signs of their effect on intensity.
"""

from __future__ import annotations

import numpy as np

from flymotion import circuits
from flymotion.circuits import connectome
from flymotion.circuits.connectome import effective, partners, synapses
from flymotion.world.eyes import Hexagon

__all__ = ["PREFERRED", "centroid", "order", "sided", "wired"]

PREFERRED = {cell: circuits.PREFERRED[cell[2:]] for cell in ("T4b", "T4c", "T4a", "T4d")}
"""Directions that T4 prefers [deg]: 0 = right, 90 = up."""


def wired(eye: Hexagon) -> np.ndarray:
    """Return filters wired as T4b, c, a and d are, shape (4, n_pixels, n_pixels), of norm 1.

    From the change at the middle onto intensities where the synapses of Mi9 (positive), Mi4, C3 and CT1 (negative)
    are, as many as there are. The eye has two rings or more.
    """
    middle = int(np.argmin(np.linalg.norm(eye.positions, axis=1)))
    W = np.zeros((len(PREFERRED), *eye.shape, *eye.shape))
    W[:, middle] = [effective(cell, eye.axial) for cell in PREFERRED]
    return W / np.linalg.norm(W, axis=(1, 2), keepdims=True)


def centroid(cell: str, *inputs: str) -> float:
    """Return the centroid of all synapses of some inputs of a cell, or of those that have a part here [columns].

    Each input's position counts to a thousandth of a column and its synapses to a hundredth, as the summaries of the
    connectome state them.
    """
    names = inputs or partners(cell, "change") + partners(cell, "intensity")
    places = [round(connectome.centroid(cell, name), 3) for name in names]
    counts = [round(synapses(cell, name).counts.sum(), 2) for name in names]
    return float(np.average(places, weights=counts))


def sided(cell: str) -> bool:
    """Say whether all inputs beside the centre sit where a start would have to have them.

    A weight of the centre's own sign (ON or OFF) has to be on the side where content comes from that the cell
    prefers, and one of the other sign on the other side.
    """
    return all(sign * centroid(cell, name) < 0 for sign in (1, -1) for name in partners(cell, "intensity", sign))


def order(cell: str) -> bool:
    """Say whether inputs of the centre's sign, the centre, and those of the other sign come in this order."""
    same, other = (centroid(cell, *partners(cell, "intensity", sign)) for sign in (1, -1))
    return same < centroid(cell, *partners(cell, "change")) < other
