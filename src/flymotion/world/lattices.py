"""The hexagonal lattice of an eye: which pixels are next to which, along its three axes, and where they lie.

A pixel has axial coordinates (q, r): q counts columns to the right, r downwards along a column. Its six neighbours are
at nominal bearings of 30, 90, 150, 210, 270 and 330 degrees as the eye sees them, 0 = right, 90 = up; on a measured eye
at others, which :attr:`Lattice.bearings` tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import not_masked, unmasked
from flymotion.world.eyes import Eye

__all__ = ["BEARINGS", "Lattice", "as_seen", "half_of", "lattice_of", "rings"]

BEARINGS = (30.0, 90.0, 150.0, 210.0, 270.0, 330.0)
"""Of the six neighbours on an even lattice [deg]."""

STEPS = np.array([[1, -1], [0, -1], [-1, 0], [-1, 1], [0, 1], [1, 0]])
"""Axial coordinates of the six neighbours, in the order of their bearings."""


def rings(n: int) -> np.ndarray:
    """Return the axial coordinates of a pixel and ``n`` rings about it, row by row.

    Returns
    -------
    ndarray of int, shape (n_offsets, 2)
        ``3 n (n + 1) + 1`` of them.

    Raises
    ------
    ValueError
        A number that is not whole, or is below 0.

    Examples
    --------
    >>> rings(1).tolist()
    [[-1, 0], [-1, 1], [0, -1], [0, 0], [0, 1], [1, -1], [1, 0]]
    """
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"the number of rings is {n!r}; expected a whole number, 0 or more")
    q, r = np.indices((2 * n + 1,) * 2).reshape(2, -1) - n
    return np.stack([q, r], axis=1)[np.abs(q + r) <= n]


def as_seen(directions: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what is to the right and what is up, as seen along each of some directions.

    Parameters
    ----------
    directions : array-like, shape (..., 3)
        Unit vectors (x forward, y left, z up).

    Returns
    -------
    right, up : ndarray, shape (..., 3)
        Unit vectors; straight up and down, those of an eye that looks ahead and then nods.

    Examples
    --------
    >>> right, up = as_seen([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # ahead, and to the left
    >>> right + 0.0, up + 0.0
    (array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.]]), array([[0., 0., 1.],
           [0., 0., 1.]]))
    """
    directions = unmasked(directions, "directions", float)
    right = np.stack([directions[..., 1], -directions[..., 0], np.zeros(directions.shape[:-1])], axis=-1)
    length = np.linalg.norm(right, axis=-1, keepdims=True)
    right = np.where(length > 1e-9, right / np.where(length > 1e-9, length, 1.0), [0.0, -1.0, 0.0])
    return right, np.cross(right, directions)


@dataclass(frozen=True, eq=False)
class Lattice:
    """A hexagonal lattice of pixels.

    Parameters
    ----------
    axial : array of int, shape (n_pixels, 2)
        Coordinates (q, r).
    places : array, shape (n_pixels, 2) or (n_pixels, 3)
        Where pixels look: (x right, y down), or unit vectors (x forward, y left, z up).
    half : array of int, shape (n_pixels,), optional
        Which eye each pixel is of, where they are several; only pixels of one eye are neighbours.

    Raises
    ------
    ValueError
        Coordinates of another shape, or that two pixels of an eye share.

    Examples
    --------
    >>> row = Lattice(np.array([[0, 0], [0, 1], [0, 2]]), np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]))
    >>> row.at([[0, 1]]).ravel()  # the next one, of each of three lenses below each other
    array([ 1,  2, -1])
    """

    axial: np.ndarray
    places: np.ndarray
    half: np.ndarray | None = None

    __repr__ = in_brief

    def __post_init__(self) -> None:
        axial = unmasked(self.axial, "axial")
        not_masked(self.places, "places")
        not_masked(self.half, "half")
        if axial.shape != (len(self.places), 2) or axial.dtype.kind not in "iu":
            raise ValueError(f"axial has shape {axial.shape}; expected whole numbers, ({len(self.places)}, 2)")
        if len(self._index) < len(axial):
            raise ValueError("two pixels have the same coordinates; expected one at each place of the lattice")

    def around(self, n: int) -> np.ndarray:
        """Return the pixels of each pixel's ``n`` rings, itself among them, in the order of :func:`rings`.

        Returns
        -------
        ndarray of int, shape (n_pixels, n_offsets)
            -1 where there is none.
        """
        return self.at(rings(n))

    def at(self, offsets: Any) -> np.ndarray:
        """Return which pixels are at offsets from each pixel.

        Parameters
        ----------
        offsets : array-like of int, shape (n_offsets, 2)
            Axial coordinates, relative to a pixel's own.

        Returns
        -------
        ndarray of int, shape (n_pixels, n_offsets)
            -1 where there is none.
        """
        places = np.asarray(self.axial)[:, None] + np.reshape(unmasked(offsets, "offsets"), (-1, 2))
        each = zip(self._halves, places.tolist(), strict=True)
        found = [self._index.get((half, q, r), -1) for half, row in each for q, r in row]
        return np.array(found, dtype=int).reshape(places.shape[:2])

    @cached_property
    def neighbours(self) -> np.ndarray:
        """The six neighbours in the order of :data:`BEARINGS`, -1 where there is none, shape (n_pixels, 6)."""
        return self.at(STEPS)

    @cached_property
    def bearings(self) -> np.ndarray:
        """Where each neighbour lies as seen from its pixel [deg], NaN where there is none, shape (n_pixels, 6)."""
        x, y = np.moveaxis(self._offsets, -1, 0)
        return np.degrees(np.arctan2(y, x)) % 360

    @cached_property
    def spacings(self) -> np.ndarray:
        """Median distance to the neighbours there are [pixel spacings, or deg on the sphere], shape (n_pixels,).

        NaN where there are none.
        """
        lengths = np.linalg.norm(self._offsets, axis=-1)
        alone = np.isnan(lengths).all(axis=1)
        return np.where(alone, np.nan, np.nanmedian(np.where(alone[:, None], 0.0, lengths), axis=1))

    @cached_property
    def _offsets(self) -> np.ndarray:
        return self.seen(self.neighbours)

    def seen(self, pixels: Any) -> np.ndarray:
        """Return where some pixels lie as seen from each pixel.

        Parameters
        ----------
        pixels : array-like of int, shape (n_pixels, n)
            Of each pixel, such as :meth:`at` finds; -1 for none.

        Returns
        -------
        ndarray, shape (n_pixels, n, 2)
            How far right and up [pixel spacings], or on the sphere along great circles [deg]; NaN where there is none.
        """
        pixels, places = unmasked(pixels, "pixels"), np.asarray(self.places, dtype=float)
        there, ahead = pixels[..., None] >= 0, places[pixels] - places[:, None]
        if places.shape[1] < 3:
            return np.where(there, ahead * [1, -1], np.nan)
        right, up = as_seen(places)
        flat = np.stack([np.vecdot(ahead, axis[:, None]) for axis in (right, up)], axis=-1)
        chord, along = (np.linalg.norm(v, axis=-1, keepdims=True) for v in (ahead, flat))
        angle = np.degrees(2 * np.arcsin(np.minimum(chord / 2, 1)))
        return np.where(there, flat * angle / np.where(along > 0, along, 1.0), np.nan)

    @property
    def _halves(self) -> list[int]:
        return [0] * len(self.axial) if self.half is None else [int(h) for h in self.half]

    @cached_property
    def _index(self) -> dict[tuple[int, int, int], int]:
        keys = zip(self._halves, *np.asarray(self.axial).T.tolist(), strict=True)
        return {key: k for k, key in enumerate(keys)}


def half_of(eye: Eye) -> np.ndarray:
    """Return which eye each pixel is of: 0 the left one, or the only one there is, and 1 the right one.

    Returns
    -------
    ndarray of int, shape (n_pixels,)

    Examples
    --------
    >>> from flymotion.world import Hexagon, buchner
    >>> half_of(Hexagon(1)), np.bincount(half_of(buchner("both")))
    (array([0, 0, 0, 0, 0, 0, 0]), array([699, 699]))
    """
    half: Any = getattr(eye, "half", None)
    return np.zeros(len(eye.positions), dtype=int) if half is None else np.asarray(half)


def lattice_of(eye: Eye) -> Lattice:
    """Return the lattice of a hexagonal eye, flat or a measured one.

    Raises
    ------
    ValueError
        An eye that has none: a line, a grid, or directions of which nobody worked it out.

    Examples
    --------
    >>> from flymotion.world.eyes import Hexagon
    >>> lattice = lattice_of(Hexagon(1))
    >>> lattice.neighbours[3].tolist(), lattice.bearings[3].round().tolist()
    ([5, 2, 0, 1, 4, 6], [30.0, 90.0, 150.0, 210.0, 270.0, 330.0])
    """
    axial: Any = getattr(eye, "axial", None)
    if axial is None:
        raise ValueError(f"{type(eye).__name__} is no hexagonal lattice; expected a Hexagon or a CompoundEye")
    return Lattice(np.asarray(axial), eye.positions, getattr(eye, "half", None))
