"""Compound eyes: measured directions on a hexagonal lattice, each lens with an acceptance of its own.

A lens has axial coordinates (q, r), as in :mod:`flymotion.world.lattices`, and is of the left eye or of the right one.
Azimuth counts from straight ahead to the left, elevation upwards [deg]; vectors are (x forward, y left, z up).
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import unmasked
from flymotion.models.packing import Given, Packed
from flymotion.world.conventions import HUGE, not_below_0
from flymotion.world.eyes import FLY_SIGMA, Sphere
from flymotion.world.lattice_finding import axial_coordinates
from flymotion.world.lattices import Lattice

__all__ = ["SIDES", "CompoundEye", "both", "buchner", "read_eye"]

SIDES = ("left", "right")
"""Of the fly, in the order of :attr:`CompoundEye.half`."""


COLUMNS = (("x_forward", "y_left", "z_up"), ("x", "y", "z"), ("azimuth_deg", "elevation_deg"))
"""Names of the columns of directions in a file."""

FARTHEST = 2**20
"""Axial coordinates are smaller than this."""

MIRROR = np.array([[-1, 1], [0, 1]])
"""Axial coordinates times this are those of the mirror image, left for right."""


@dataclass(frozen=True, eq=False)
class CompoundEye(Sphere):
    """One eye or two, of lenses on a hexagonal lattice.

    Parameters
    ----------
    directions : array-like, shape (n_pixels, 3)
        Vectors (x forward, y left, z up) of any length but 0; kept as unit vectors.
    sigma : float or array-like, shape (n_pixels,)
        Standard deviation of the Gaussian acceptance function [deg], of all lenses or of each.
    axial : array-like of int, shape (n_pixels, 2)
        Coordinates (q, r) of each lens on the lattice of its eye.
    half : array-like of int, shape (n_pixels,), optional
        0 for lenses of the left eye, 1 for those of the right one; all of the left by default.

    Raises
    ------
    ValueError
        Directions, widths, coordinates or halves that do not fit each other or are out of range; two lenses at one
        place.

    References
    ----------
    .. [1] E. Buchner (1971), as digitised by A. Straw and colleagues, drosophila_eye_map 0.5.0 (:func:`buchner`).

    Examples
    --------
    >>> eye = buchner("both")
    >>> eye.shape, np.bincount(eye.half).tolist()
    ((1398,), [699, 699])
    """

    sigma: Any
    axial: Any = field(kw_only=True)
    half: Any = field(default=None, kw_only=True)

    __repr__ = in_brief

    def __post_init__(self) -> None:
        super().__post_init__()
        axial = np.array(unmasked(self.axial, "axial"))
        if axial.size and not (np.abs(axial) < FARTHEST).all():
            raise ValueError(f"axial coordinates up to {np.abs(axial).max()}; expected below {FARTHEST}")
        half = np.array(np.zeros(self.shape, dtype=int) if self.half is None else unmasked(self.half, "half"))
        if half.shape != self.shape or half.dtype.kind not in "iu" or not np.isin(half, (0, 1)).all():
            raise ValueError(f"half has shape {half.shape}; expected 0 or 1 for each of {self.shape[0]} lenses")
        Lattice(axial, self.directions, half)
        self._keep(axial=axial, half=half)
        if np.ndim(self.sigma) > 0:
            self._keep(sigma=np.array(self.sigma, dtype=float))

    def _widths(self, n: int) -> Sequence[float]:
        sigma = unmasked(self.sigma, "sigma", float)
        if sigma.shape not in ((), (n,)):
            raise ValueError(f"sigma has shape {sigma.shape}; expected a number, or one for each of {n} lenses")
        return np.unique(sigma).tolist()

    @classmethod
    def from_directions(cls, directions: Any, side: str = "left", *, acceptance: float = FLY_SIGMA) -> CompoundEye:
        """Return the eye that looks in given directions: its lattice and widths are worked out from them.

        Parameters
        ----------
        directions : array-like, shape (n_pixels, 3)
            Vectors (x forward, y left, z up) of one eye.
        side : {"left", "right"}
            Which eye it is.
        acceptance : float
            Standard deviation of each lens's acceptance function relative to its own spacing, the median distance to
            its neighbours; a fly's by default, see :func:`~flymotion.world.eyes.acceptance_sigma`.

        Raises
        ------
        ValueError
            An unknown side; directions that are on no hexagonal lattice
            (:func:`~flymotion.world.lattice_finding.axial_coordinates`); a width out of range.

        Examples
        --------
        >>> measured = buchner("left").directions
        >>> eye = CompoundEye.from_directions(measured)
        >>> eye.shape, int((eye.axial == 0).all(axis=1).sum())
        ((699,), 1)
        """
        if side not in SIDES:
            raise ValueError(f"side is {side!r}; expected one of {', '.join(SIDES)}")
        not_below_0(acceptance=acceptance)
        axial = axial_coordinates(directions)
        directions = Sphere(directions).directions
        spacings = Lattice(axial, directions).spacings
        spacings = np.where(np.isnan(spacings), np.nanmedian(spacings), spacings)
        return cls(directions, acceptance * spacings, axial=axial, half=np.full(len(axial), SIDES.index(side)))

    def mirrored(self) -> CompoundEye:
        """Return the mirror image, left for right: the other eye, lens by lens.

        Axial coordinates are mirrored, too, so that neighbours are at the same nominal bearings as seen.
        """
        directions = self.directions * [1, -1, 1]
        eye = CompoundEye(directions, self.sigma, axial=self.axial @ MIRROR, half=1 - self.half)
        eye._keep(directions=directions)  # to the bit
        return eye

    @cached_property
    def neighbours(self) -> np.ndarray:
        """Pairs of lenses next to each other on the lattice, the smaller index first, shape (n_links, 2).

        Those of two eyes are never neighbours.
        """
        ahead = Lattice(self.axial, self.directions, self.half).neighbours
        pairs = np.stack(np.broadcast_arrays(np.arange(len(ahead))[:, None], ahead), axis=-1).reshape(-1, 2)
        return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the eye of again."""
        numbers, arrays = super().pack()
        arrays |= {"axial": self.axial.astype(np.int64), "half": self.half.astype(np.int64)}
        if np.ndim(self.sigma) > 0:
            numbers, arrays = numbers | {"sigma": None}, arrays | {"widths": self.sigma}
        return numbers, arrays

    @classmethod
    def _of(cls, directions: np.ndarray, given: Given) -> CompoundEye:
        n, sigma = len(directions), given.number("sigma", least=0, optional=True)
        if sigma is None:
            sigma = given.array("widths", n, types=["float64"], least=0)
        axial, half = given.array("axial", n, 2, types=["int64"]), given.array("half", n, types=["int64"])
        return cls(directions, sigma, axial=axial, half=half)


def both(left: CompoundEye, right: CompoundEye) -> CompoundEye:
    """Return two eyes as one, the lenses of the left one first.

    Raises
    ------
    ValueError
        Eyes of which the first has lenses of a right eye, or the second of a left one.

    Examples
    --------
    >>> left = buchner("left")
    >>> left.shape, both(left, left.mirrored()).shape
    ((699,), (1398,))
    """
    if left.half.any() or not right.half.all():
        raise ValueError(
            f"a first eye with {left.half.sum()} lenses of the right, and a second one with "
            f"{(right.half == 0).sum()} of the left; expected a left eye and a right eye"
        )
    joined = {name: np.concatenate([getattr(left, name), getattr(right, name)]) for name in ("axial", "half")}
    sigma = np.concatenate([np.broadcast_to(eye.sigma, eye.shape) for eye in (left, right)])
    directions = np.concatenate([left.directions, right.directions])
    eyes = CompoundEye(directions, sigma, **joined)
    eyes._keep(directions=directions)  # to the bit
    return eyes


@cache
def buchner(side: str = "both") -> CompoundEye:
    """Return *Drosophila*'s left eye, of 699 measured directions, the right one, its mirror image, or both.

    Measured by Buchner (1971), digitised by Straw and colleagues (package drosophila_eye_map 0.5.0, two-clause BSD
    header, California Institute of Technology). The lattice is worked out from the directions, and acceptance angles
    are proportional to a lens's own spacing: 5.7 degrees at half maximum where it is 5.1.

    Parameters
    ----------
    side : {"both", "left", "right"}
        Of the fly.

    Raises
    ------
    ValueError
        An unknown side.

    Examples
    --------
    >>> left = buchner("left")
    >>> left.shape, float(np.median(left.sigma).round(2))
    ((699,), 2.76)
    """
    if side not in (*SIDES, "both"):
        raise ValueError(f"side is {side!r}; expected one of {', '.join(SIDES)}, both")
    if side == "left":
        name = "eye_buchner1971.csv"
        text = resources.files("flymotion.world").joinpath(name).read_text(encoding="utf-8")
        return _eye_in(text, name)
    left = buchner("left")
    return left.mirrored() if side == "right" else both(left, left.mirrored())


def read_eye(path: str | os.PathLike[str]) -> CompoundEye:
    """Read where the lenses of an eye look, and work its lattice out.

    A CSV file. The first row has names: ``x, y, z`` or ``x_forward, y_left, z_up``, of vectors of any length; or
    ``azimuth_deg, elevation_deg``, from straight ahead to the left, and upwards. A column ``side``, if there is one,
    says ``left`` or ``right``; without it all lenses are of a left eye. Other columns, empty lines and those that begin
    with ``#`` are ignored.

    Raises
    ------
    OSError
        A file that is not there, or cannot be read; names it.
    ValueError
        A file that is no such table; names the file and the line. Directions on no hexagonal lattice.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import Hexagon
    >>> path = Path(tempfile.mkdtemp()) / "eye.csv"
    >>> left_and_up = -5.0 * Hexagon(2).positions  # 5 degrees from lens to lens
    >>> np.savetxt(path, left_and_up, delimiter=",", header="azimuth_deg,elevation_deg", comments="")
    >>> eye = read_eye(path)
    >>> eye.shape, eye.axial[:2].tolist()
    ((19,), [[-2, 0], [-2, 1]])
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text; expected comma-separated values in UTF-8") from None
    return _eye_in(text, str(path))


def _eye_in(text: str, name: str) -> CompoundEye:
    directions, sides = _table_in(text, name)
    try:
        eyes = [CompoundEye.from_directions(directions[sides == side], side) for side in SIDES if side in sides]
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return both(*eyes) if len(eyes) == 2 else eyes[0]


def _table_in(text: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return directions, shape (n, 3), and the side of each."""
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if len(lines) < 2:
        raise ValueError(f"{name} has {len(lines)} line(s); expected names of columns, and a line for every lens")
    names, *rows = ([entry.strip() for entry in next(csv.reader([line]))] for _, line in lines)
    numbers = [k for k, _ in lines]
    columns = next((each for each in COLUMNS if set(each) <= set(names)), None)
    if columns is None:
        expected = "; or ".join(", ".join(each) for each in COLUMNS)
        raise ValueError(f"{name}, line {numbers[0]}: columns are {', '.join(names)}; expected {expected}")
    table = []
    for k, row in zip(numbers[1:], rows, strict=True):
        if len(row) != len(names):
            raise ValueError(f"{name}, line {k} has {len(row)} entries; expected {len(names)}")
        table.append(_direction(dict(zip(names, row, strict=True)), columns, f"{name}, line {k}"))
    directions, sides = zip(*table, strict=True)
    return np.array(directions), np.array(sides)


def _direction(row: dict[str, str], columns: Sequence[str], where: str) -> tuple[list[float], str]:
    """Return the direction and side of a lens."""
    side = row.get("side", "left").lower()
    if side not in SIDES:
        raise ValueError(f"{where}: side is {row['side']!r}; expected {' or '.join(SIDES)}")
    try:
        values = [float(row[column]) for column in columns]
    except ValueError:
        values = [math.nan]
    if not np.abs(values).max() <= HUGE:
        raise ValueError(f"{where}: {', '.join(row[column] for column in columns)}; expected finite numbers")
    if len(values) == 3:
        if not any(values):
            raise ValueError(f"{where}: a vector of length 0; expected a direction")
        return values, side
    azimuth, elevation = map(math.radians, values)
    if abs(values[1]) > 90:
        raise ValueError(f"{where}: an elevation of {values[1]:g} degrees; expected -90 to 90")
    across = math.cos(elevation)
    return [across * math.cos(azimuth), across * math.sin(azimuth), math.sin(elevation)], side
