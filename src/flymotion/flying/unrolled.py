"""An eye unrolled into a picture: which lens each pixel shows.

A spherical eye is drawn on a map that keeps areas, left and right eye side by side, since they see the same straight
ahead; a flat one as it is. Pixels show the nearest lens, or none where the eye does not look.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.world.lattices import half_of

__all__ = ["Unrolled", "places_of", "spacing_of"]

ROUND = 0.75
"""How far from its middle a lens is drawn, where it has no neighbour [spacings]."""

GAP = 12
"""Between two eyes [pixels]."""


class Unrolled:
    """Where lenses are in a picture.

    Parameters
    ----------
    eye : Eye
        A spherical one, of one half or both, or a flat one.
    height : int
        Of the picture [pixels].
    among : ndarray of bool, shape (n_lenses,), optional
        Lenses that the picture is to be of, with what is between them; by default all.

    Attributes
    ----------
    lens : ndarray of int, shape (height, width)
        Lens that each pixel shows, -1 for none.

    Examples
    --------
    >>> from flymotion.world.eyes import Hexagon
    >>> unrolled = Unrolled(Hexagon(1), 30)
    >>> unrolled.lens.shape, unrolled.lens[[0, 15, 8], [0, 14, 14]].tolist()
    ((30, 28), [-1, 3, 2])
    """

    __repr__ = in_brief

    def __init__(self, eye: Any, height: int, *, among: np.ndarray | None = None) -> None:
        places, side = places_of(eye), half_of(eye)
        shown = np.ones(len(places), dtype=bool) if among is None or not among.any() else among
        halves = [np.flatnonzero(side == one) for one in np.unique(side[shown])]
        boxes = [_box(places[half], places[half[shown[half]]]) for half in halves]
        tallest = max(high[1] - low[1] for low, high in boxes)
        parts = [_nearest(places, half, box, height / tallest) for half, box in zip(halves, boxes, strict=True)]
        parts = [np.pad(part, ((0, height - len(part)), (0, 0)), constant_values=-1) for part in parts]
        gap = np.full((height, GAP), -1)
        self.lens = np.hstack([each for part in parts for each in (gap, part)][1:])

    def shaded(self, colours: np.ndarray, background: Any = 0) -> np.ndarray:
        """Return the picture in which every lens has its colour.

        Parameters
        ----------
        colours : ndarray, shape (n_lenses, 3)
            Of each lens.
        background : colour
            Where there is none.

        Returns
        -------
        ndarray, shape (height, width, 3)
            Of the type of the colours.
        """
        behind = np.broadcast_to(np.asarray(background, dtype=colours.dtype), (1, 3))
        return np.concatenate([colours, behind])[self.lens]


def places_of(eye: Any) -> np.ndarray:
    """Return where lenses are in the plane, (right, up), shape (n_lenses, 2)."""
    from flymotion.plots.maps import on_map

    positions = eye.positions
    if positions.shape[1] == 3:
        return on_map(positions)
    return np.pad(positions, ((0, 0), (0, 2 - positions.shape[1]))) * (1, -1)


def spacing_of(places: np.ndarray) -> float:
    """Return how far lenses are from their six nearest, typically; 1 of a single one."""
    from scipy.spatial import cKDTree

    near = cKDTree(places).query(places, k=min(7, len(places)))[0].reshape(len(places), -1)[:, 1:]
    return float(np.median(near)) if near.size else 1.0


def _box(places: np.ndarray, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    margin = ROUND * spacing_of(places)
    return shown.min(axis=0) - margin, shown.max(axis=0) + margin


def _nearest(places: np.ndarray, half: np.ndarray, box: Any, scale: float) -> np.ndarray:
    """Return the lens of each pixel of one eye, shape (height, width)."""
    from scipy.spatial import cKDTree

    (left, bottom), (right, top) = box
    width, height = round((right - left) * scale), round((top - bottom) * scale)
    x, y = left + (np.arange(width) + 0.5) / scale, top - (np.arange(height) + 0.5) / scale
    pixels = np.stack(np.meshgrid(x, y), axis=-1)
    far, nearest = cKDTree(places[half]).query(pixels, distance_upper_bound=ROUND * spacing_of(places[half]))
    return np.where(np.isfinite(far), np.append(half, -1)[nearest], -1)
