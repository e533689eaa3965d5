"""The patch of columns that each cell sees: which they are, where they lie as seen, and what comes of directions."""

from __future__ import annotations

from functools import cached_property
from itertools import permutations

import numpy as np

from flymotion.circuits.subtypes import preferred_in
from flymotion.world.eyes import Eye
from flymotion.world.lattices import lattice_of, rings

__all__ = ["Patches"]

WIDTH = 45.0
"""How far to either side of where it points a dendrite reaches [deg]."""


class Patches:
    """All columns of an eye with ``n_rings`` rings of columns about each.

    Parameters
    ----------
    eye : Hexagon or CompoundEye
        Whose.
    n_rings : int
        1 or more.
    """

    def __init__(self, eye: Eye, n_rings: int) -> None:
        self.eye = eye
        offsets = rings(n_rings)
        self._lattice = lattice_of(eye)
        self.around = self._lattice.around(n_rings)
        self.there = self.around >= 0
        self.centre = int(np.flatnonzero((offsets == 0).all(axis=1))[0])
        self._n_offsets = len(offsets)

    @cached_property
    def offsets(self) -> np.ndarray:
        """How far right and up each column is, 0 where none [spacings, or deg], shape (n, n_offsets, 2)."""
        return np.nan_to_num(self._lattice.seen(self.around))

    @cached_property
    def preferred(self) -> np.ndarray:
        """Unit vectors (right, up) of the directions that subtypes a to d prefer in each column, shape (n, 4, 2)."""
        angles = np.radians(preferred_in(self.eye))
        return np.stack([np.cos(angles), np.sin(angles)], axis=-1)

    def gather(self, signals: np.ndarray) -> np.ndarray:
        """Return the signals of all patches, shape (n_offsets, ..., n_columns), 0 where there is no column."""
        padded = np.concatenate([signals, np.zeros_like(signals[..., :1])], axis=-1)  # -1 takes the last
        return np.stack([padded[..., place] for place in self.around.T])

    def known(self, seen: np.ndarray) -> np.ndarray:
        """Say of which columns the whole patch was seen, shape (n_frames, n_columns), as ``seen`` is."""
        if seen.all():
            return seen
        return self.gather(seen.astype(float)).sum(axis=0) == self.there.sum(axis=1)

    def oriented(self) -> np.ndarray:
        """Return weights of dendrites that reach to where content comes from that each cell is to prefer.

        Returns
        -------
        ndarray, shape (4, n_offsets, n_columns)
            Equal ones of norm 1 onto the neighbours on that side; where there are none, negative ones on the other.
        """
        length = np.linalg.norm(self.offsets, axis=-1)
        nearest = np.where(length > 0, length, np.inf).min(axis=1, keepdims=True)
        unit = self.offsets / np.where(length > 0, length, 1.0)[..., None]
        toward = np.einsum("njx,nkx->nkj", unit, -self.preferred)
        near = (length > 0) & (length < 1.5 * nearest)
        cosine = np.cos(np.radians(WIDTH)) - 1e-9
        ahead, behind = ((sign * toward >= cosine) & near[:, None] for sign in (1, -1))
        weights = np.where(ahead.any(axis=2, keepdims=True), ahead, -1.0 * behind)
        norm = np.linalg.norm(weights, axis=2, keepdims=True)
        return (weights / np.where(norm > 0, norm, 1.0)).transpose(1, 2, 0)

    def random(self, rng: np.random.Generator, n_cells: int = 4) -> np.ndarray:
        """Return random weights of norm 1 onto the columns that are there, shape (n_cells, n_offsets, n_columns)."""
        weights = rng.standard_normal((n_cells, self._n_offsets, len(self.around))) * self.there.T
        weights[:, self.centre] = 0
        norm = np.linalg.norm(weights, axis=1, keepdims=True)
        return weights / np.where(norm > 0, norm, 1.0)

    def directions(self, weights: np.ndarray) -> np.ndarray:
        """Return the directions that weights of the brighter kind prefer, shape (n_columns, n_cells, 2), unit vectors.

        Parameters
        ----------
        weights : ndarray, shape (n_columns, n_cells, n_offsets)
            Onto intensities; what prefers motion to the right weighs the left more. The slope of the plane through
            them, so that it does not matter which columns are missing.
        """
        n = self.there.sum(axis=1)[:, None, None]
        middle = self.offsets.sum(axis=1, keepdims=True) / n
        about = np.where(self.there[..., None], self.offsets - middle, 0.0)
        moments = np.einsum("njx,njy->nxy", about, about)
        slopes = np.einsum(
            "nxy,njy,nkj->nkx", np.linalg.pinv(moments), about, np.where(self.there[:, None], weights, 0)
        )
        length = np.linalg.norm(slopes, axis=-1, keepdims=True)
        return -slopes / np.where(length > 0, length, 1.0)

    def named(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Say which cell is which subtype, by what they prefer, shape (n_columns, 4, 2).

        Returns
        -------
        order : ndarray of int, shape (n_columns, 4)
            The cell that is subtype a, b, c and d.
        four : ndarray of bool, shape (n_columns,)
            Whether the subtypes that the cells are nearest to are four.
        """
        likeness = np.einsum("nkx,nsx->nks", directions, self.preferred)
        orders = np.array(list(permutations(range(4))))
        fits = likeness[:, orders, np.arange(4)].sum(axis=2)
        nearest = np.sort(likeness.argmax(axis=2), axis=1)
        return orders[fits.argmax(axis=1)], (nearest == np.arange(4)).all(axis=1)
