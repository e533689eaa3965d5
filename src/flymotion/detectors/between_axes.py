r"""A detector in a direction between two axes of a hexagonal lattice: its responses along both, weighed.

Displacements that are on the lattice when they are turned by some angle are so when they are turned by 60 degrees more.
In a direction :math:`\varphi` between the axes :math:`\alpha` and :math:`\beta` of two such turns, as the eye sees them
there, responses are

.. math:: R_\varphi = \frac{\sin(\beta - \varphi)}{\sin(\beta - \alpha)} R_\alpha
    + \frac{\sin(\varphi - \alpha)}{\sin(\beta - \alpha)} R_\beta

so that unit vectors along the axes, weighed alike, add up to the one along the direction. The vector sum of a tuning
curve is linear in the curve: on an even lattice it is in the direction, and as long as along an axis, whatever the
formula.

On a measured eye axes have bearings of their own at each lens, and so have the weights: the turn of the taps is what
brings the displacements nearest to where they are seen (least squares, in the plane that touches the sphere there).
Displacements are in steps of the lattice, which differ in degrees from lens to lens.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from flymotion.frames import unmasked
from flymotion.world.conventions import unit_vector
from flymotion.world.lattices import Lattice

__all__ = ["LATTICE_TOLERANCE", "Axes", "Turned", "axes_of", "first_axis", "steps_along"]

LATTICE_TOLERANCE = 1e-3
"""How far a tap may be from the pixel that it is taken to be at: displacements may be written in four digits, 0.866 for
the half of the square root of 3 [pixel spacings]."""

EVEN = np.array([[math.sqrt(3) / 2, 0.5], [0.0, 1.0]])
"""Axial coordinates times this are positions (x right, y down) on an even lattice [pixel spacings]."""

WIDEST = 120.0
"""Between two axes that are next to each other [deg]; 60 on an even lattice."""


class Turned(NamedTuple):
    """A detector turned to one axis of the lattice."""

    pixels: np.ndarray
    """Where its taps are, shape (n_positions, n_taps)."""
    weights: np.ndarray
    """What its responses are multiplied by, shape (n_positions,)."""


class Axes(NamedTuple):
    """A detector's taps about each pixel, in the six ways in which they can be turned."""

    pixels: np.ndarray
    """Where they are, -1 where there is none, shape (n_pixels, 6, n_taps)."""
    turns: np.ndarray
    """By how much they are turned, as seen there, NaN where one is missing, shape (n_pixels, 6) [deg]."""

    def to_either_side(self, direction: float) -> tuple[np.ndarray, list[Turned]]:
        """Return about which pixels all taps are inside the eye, along the axes on either side, and both of all pixels.

        Returns
        -------
        inside : ndarray of bool, shape (n_pixels,)
        turned : list of Turned
        """
        beyond = np.where(np.isnan(self.turns), np.inf, (direction - self.turns) % 360)
        each, right = np.arange(len(beyond)), beyond.argmin(axis=1)
        left, off = (right + 1) % 6, beyond[each, right]
        gap = (self.turns[each, left] - self.turns[each, right]) % 360
        inside = (off <= gap) & (gap <= WIDEST)  # NaN is neither
        off, gap = (np.radians(np.where(inside, angle, 60.0)) for angle in (off, gap))
        shares = (np.sin(gap - off) / np.sin(gap), np.sin(off) / np.sin(gap))
        return inside, [Turned(self.pixels[each, way], share) for way, share in zip((right, left), shares, strict=True)]


def steps_along(displacements: np.ndarray, direction: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of an even lattice nearest to displacements that are turned to a direction.

    Parameters
    ----------
    displacements : ndarray, shape (n_taps, 2)
        For motion to the right [pixel spacings].
    direction : float
        [deg].

    Returns
    -------
    steps : ndarray of int, shape (n_taps, 2)
        Axial coordinates.
    off : ndarray, shape (n_taps,)
        How far they are [pixel spacings].
    """
    x, y = unit_vector(direction)
    turned = unmasked(displacements, "displacements") @ np.array([[x, y], [-y, x]])
    steps = (turned @ np.linalg.inv(EVEN)).round().astype(int)
    return steps, np.linalg.norm(steps @ EVEN - turned, axis=1)


def first_axis(displacements: np.ndarray) -> float | None:
    """Return a direction in which displacements, shape (n_taps, 2), fit an even lattice [deg]; None if in none."""
    fits = (angle for angle in (30.0, 0.0) if (steps_along(displacements, angle)[1] <= LATTICE_TOLERANCE).all())
    return next(fits, None)


def axes_of(displacements: np.ndarray, lattice: Lattice) -> Axes | None:
    """Return the taps of displacements, shape (n_taps, 2), about each pixel; None of such as fit no axis."""
    first = first_axis(displacements)
    if first is None:
        return None
    nominal = first + 60.0 * np.arange(6)
    steps = np.concatenate([steps_along(displacements, angle)[0] for angle in nominal])
    pixels = lattice.at(steps)
    right, up = np.moveaxis(lattice.seen(pixels), -1, 0)
    wanted = displacements @ [1, -1j]
    turns = ((right + 1j * up).reshape(-1, 6, len(wanted)) * wanted.conj()).sum(axis=-1)
    turns = np.where(np.isnan(turns), np.nan, np.degrees(np.angle(turns)) if wanted.any() else nominal)
    return Axes(pixels.reshape(*turns.shape, -1), turns)
