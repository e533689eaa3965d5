"""Eyes: where an eye looks, and through what optics.

An eye is a set of viewing positions and the standard deviation ``sigma`` of its Gaussian acceptance function. A flat
eye measures both in pixel spacings: positions are (x right, y down), row-major, centred on its middle. A spherical
eye has unit vectors (x forward, y left, z up) for positions, and degrees for its acceptance. A fly's ommatidia accept
light over 5.7 degrees (full width at half maximum) at a spacing of 5.1 degrees, which makes ``sigma = 0.475`` pixels.
Longer than 350 lines because these four eyes are described in full, and are of a kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

from flymotion.brevity import in_brief
from flymotion.frames import unmasked
from flymotion.models.packing import Given, Packed
from flymotion.world.conventions import HUGE, not_below_0, positive

__all__ = ["FLY_SIGMA", "Eye", "Grid", "Hexagon", "Line", "Sphere", "acceptance_sigma", "as_eye", "same_places"]

MOST = 2**24
"""Pixels of an eye."""


def acceptance_sigma(fwhm: float, interommatidial_angle: float = 1.0) -> float:
    """Return the acceptance function's standard deviation in pixel spacings, or in degrees for a spacing of 1 degree.

    Parameters
    ----------
    fwhm : float
        Acceptance angle, full width at half maximum [deg].
    interommatidial_angle : float
        Angle between neighbouring pixels [deg].

    Raises
    ------
    ValueError
        An angle that is not positive.

    Examples
    --------
    >>> round(acceptance_sigma(5.7, 5.1), 3)
    0.475
    """
    positive(fwhm=fwhm, interommatidial_angle=interommatidial_angle)
    return fwhm / interommatidial_angle / math.sqrt(8 * math.log(2))


FLY_SIGMA = acceptance_sigma(5.7, 5.1)


class Eye(Protocol):
    """What an eye has to offer.

    Examples
    --------
    >>> [(type(eye).__name__, eye.positions.shape) for eye in (Line(5), Grid(2, 3), Hexagon(1), Sphere.evenly(9))]
    [('Line', (5, 1)), ('Grid', (6, 2)), ('Hexagon', (7, 2)), ('Sphere', (9, 3))]
    """

    @property
    def sigma(self) -> float:
        """Standard deviation of the acceptance function [pixel spacings, or deg on the sphere]; or each lens's own."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame."""

    @property
    def positions(self) -> np.ndarray:
        """Viewing positions, shape (n_pixels, ndim) [pixel spacings], or unit vectors, shape (n_pixels, 3)."""

    @property
    def neighbours(self) -> np.ndarray:
        """Pairs of pixels next to each other, the smaller index first, shape (n_links, 2)."""


def _one_apart(positions: np.ndarray) -> np.ndarray:
    links = cKDTree(positions).query_pairs(1 + 1e-9, output_type="ndarray")
    return links[np.lexsort(links.T[::-1])]


def _check(sigma: float, *sizes: int) -> None:
    if not all(isinstance(s, (int, np.integer)) and s > 0 for s in sizes):
        raise ValueError(f"an eye of {' x '.join(map(str, sizes))} pixels; expected positive whole numbers")
    if math.prod(sizes) > MOST:
        raise ValueError(f"an eye of {' x '.join(map(str, sizes))} pixels; expected {MOST} at most")
    not_below_0(sigma=sigma)


def _pack(eye: Any) -> Packed:
    """Return what :meth:`unpack` makes the eye of again."""
    return {"kind": type(eye).__name__} | asdict(eye), {}


def _unpack(cls: Any, given: Given) -> Any:
    """Return the eye that was packed."""
    sizes = [field.name for field in fields(cls) if field.name != "sigma"]
    return cls(*(given.number(name, int, least=1, most=2**20) for name in sizes), given.number("sigma", least=0))


@dataclass(frozen=True)
class Line:
    """A one-dimensional eye of ``n`` pixels, index growing to the right.

    Parameters
    ----------
    n : int
        Number of pixels.
    sigma : float
        Standard deviation of the Gaussian acceptance function [pixel spacings]; see :func:`acceptance_sigma`.

    Raises
    ------
    ValueError
        A size or width out of range.

    Examples
    --------
    >>> Line(5).positions.ravel(), Line(3).neighbours.tolist()
    (array([-2., -1.,  0.,  1.,  2.]), [[0, 1], [1, 2]])
    """

    n: int
    sigma: float = FLY_SIGMA

    def __post_init__(self) -> None:
        _check(self.sigma, self.n)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame, ``(n,)``."""
        return (self.n,)

    @property
    def positions(self) -> np.ndarray:
        """Viewing positions, shape (n, 1) [pixel spacings]."""
        return (np.arange(self.n) - (self.n - 1) / 2)[:, None]

    @property
    def neighbours(self) -> np.ndarray:
        """Pairs of pixels one apart, the smaller index first, shape (n_links, 2)."""
        return _one_apart(self.positions)

    pack, unpack = _pack, classmethod(_unpack)


@dataclass(frozen=True)
class Grid:
    """A rectangular eye of ``height`` rows and ``width`` columns, rows counted downwards.

    Parameters
    ----------
    height, width : int
        Number of rows and columns.
    sigma : float
        Standard deviation of the isotropic Gaussian acceptance function [pixel spacings].

    Raises
    ------
    ValueError
        A size or width out of range.

    Examples
    --------
    >>> eye = Grid(2, 3)
    >>> eye.shape, eye.positions[0].tolist()  # the upper left pixel: left of the middle, and above it
    ((2, 3), [-1.0, -0.5])
    """

    height: int
    width: int
    sigma: float = FLY_SIGMA

    def __post_init__(self) -> None:
        _check(self.sigma, self.height, self.width)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame, ``(height, width)``."""
        return (self.height, self.width)

    @property
    def positions(self) -> np.ndarray:
        """Viewing positions (x right, y down), shape (height * width, 2) [pixel spacings]."""
        rows, columns = np.indices(self.shape).reshape(2, -1)
        return np.stack([columns - (self.width - 1) / 2, rows - (self.height - 1) / 2], axis=1)

    def part(self, height: int, width: int) -> Grid:
        """Return the eye that sees patches of this one's frames, of so many rows and columns."""
        return replace(self, height=height, width=width)

    @property
    def neighbours(self) -> np.ndarray:
        """Pairs of pixels one apart, the smaller index first, shape (n_links, 2)."""
        return _one_apart(self.positions)

    pack, unpack = _pack, classmethod(_unpack)


@dataclass(frozen=True)
class Hexagon:
    """A hexagonal eye on the fly's lattice, ``radius`` rings of pixels about a central one.

    Each pixel has a neighbour straight above and one straight below, and two to each side. The eye has
    ``3 radius (radius + 1) + 1`` pixels: 721 at radius 15.

    Parameters
    ----------
    radius : int
        Number of rings.
    sigma : float
        Standard deviation of the isotropic Gaussian acceptance function [pixel spacings].

    Raises
    ------
    ValueError
        A size or width out of range.

    Examples
    --------
    >>> Hexagon(15).shape, Hexagon(1).axial.tolist()
    ((721,), [[-1, 0], [-1, 1], [0, -1], [0, 0], [0, 1], [1, -1], [1, 0]])
    """

    radius: int
    sigma: float = FLY_SIGMA

    def __post_init__(self) -> None:
        _check(self.sigma, self.radius)
        _check(self.sigma, *self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame, ``(n_pixels,)``."""
        return (3 * self.radius * (self.radius + 1) + 1,)

    @property
    def axial(self) -> np.ndarray:
        """Axial coordinates (q, r), column by column and downwards, shape (n_pixels, 2)."""
        q, r = np.indices((2 * self.radius + 1,) * 2).reshape(2, -1) - self.radius
        return np.stack([q, r], axis=1)[np.abs(q + r) <= self.radius]

    @property
    def positions(self) -> np.ndarray:
        """Viewing positions (x right, y down), shape (n_pixels, 2) [pixel spacings]."""
        return self.axial @ np.array([[math.sqrt(3) / 2, 0.5], [0.0, 1.0]])

    @property
    def neighbours(self) -> np.ndarray:
        """Pairs of pixels one apart, the smaller index first, shape (n_links, 2)."""
        return _one_apart(self.positions)

    pack, unpack = _pack, classmethod(_unpack)


@dataclass(frozen=True, eq=False)
class Sphere:
    """A spherical eye that looks in any set of directions.

    Parameters
    ----------
    directions : array-like, shape (n_pixels, 3)
        Vectors (x forward, y left, z up) of any length but 0; kept as unit vectors.
    sigma : float
        Standard deviation of the Gaussian acceptance function [deg]; a fly's by default, 5.7 degrees at half maximum.

    Raises
    ------
    ValueError
        Directions that are not finite vectors of three numbers, or a width out of range.

    Examples
    --------
    >>> ahead_left_up = Sphere([[2, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> ahead_left_up.shape, ahead_left_up.positions[0].tolist(), round(ahead_left_up.sigma, 2)
    ((3,), [1.0, 0.0, 0.0], 2.42)
    >>> Sphere.evenly(800).shape  # as many as a fly's eye has lenses, all round
    (800,)
    """

    directions: Any
    sigma: float = acceptance_sigma(5.7)

    __repr__ = in_brief

    def __post_init__(self) -> None:
        directions = np.array(unmasked(self.directions, "directions", float))
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(directions, axis=-1, keepdims=True) if directions.ndim == 2 else np.zeros(1)
        if directions.shape[1:] != (3,) or not ((lengths <= HUGE) & (lengths > 0)).all():
            raise ValueError(f"directions of shape {directions.shape}; expected (n_pixels, 3), none 0, up to {HUGE:g}")
        for width in self._widths(len(directions)):
            _check(width, len(directions))
        self._keep(directions=directions / lengths)

    def _widths(self, n: int) -> Sequence[float]:
        """Return the widths that are to be checked, of ``n`` pixels."""
        return [self.sigma]

    def _keep(self, **arrays: np.ndarray) -> None:
        for name, array in arrays.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __eq__(self, other: object) -> bool:
        """Say whether the other one looks in the same directions, through the same optics, on the same lattice."""
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        return hash(tuple(np.asarray(getattr(self, f.name), float).tobytes() for f in fields(self)))

    @classmethod
    def evenly(cls, n: int, sigma: float = acceptance_sigma(5.7)) -> Sphere:
        """Return an eye of ``n`` directions spread evenly over the sphere, along a spiral from the zenith down.

        Examples
        --------
        >>> eye = Sphere.evenly(5)
        >>> eye.positions[:, 2].round(1) + 0.0  # from the zenith down
        array([ 0.8,  0.4,  0. , -0.4, -0.8])
        """
        _check(sigma, n)
        height = 1 - (2 * np.arange(n) + 1) / n
        azimuth = np.arange(n) * math.pi * (3 - math.sqrt(5))
        across = np.sqrt(1 - height**2)
        return cls(np.stack([across * np.cos(azimuth), across * np.sin(azimuth), height], axis=1), sigma)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame, ``(n_pixels,)``."""
        return (len(self.directions),)

    @property
    def positions(self) -> np.ndarray:
        """Viewing directions, unit vectors (x forward, y left, z up), shape (n_pixels, 3)."""
        return self.directions

    @cached_property
    def neighbours(self) -> np.ndarray:
        """Pairs of pixels next to each other, the smaller index first, shape (n_links, 2).

        Edges of the directions' Delaunay triangulation, but for those that close the gap of an eye that does not see
        all round: longer than twice the median.

        Raises
        ------
        ValueError
            Fewer than four directions, or all in one plane.
        """
        if len(self.directions) < 4 or np.linalg.matrix_rank(self.directions - self.directions.mean(axis=0)) < 3:
            raise ValueError(f"{len(self.directions)} directions, perhaps in one plane, have no triangulation")
        triangles = ConvexHull(self.directions).simplices
        links = np.unique(np.sort(np.concatenate([triangles[:, [i, j]] for i, j in ((0, 1), (0, 2), (1, 2))])), axis=0)
        lengths = np.linalg.norm(np.diff(self.directions[links], axis=1)[:, 0], axis=1)
        return links[lengths <= 2 * np.median(lengths)]

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the eye of again."""
        return {"kind": type(self).__name__, "sigma": self.sigma}, {"directions": self.directions}

    @classmethod
    def unpack(cls, given: Given) -> Sphere:
        """Return the eye that was packed, to the bit."""
        directions = given.array("directions", None, 3, types=["float64"])
        eye = cls._of(directions, given)
        if not np.allclose(eye.directions, directions, rtol=0, atol=1e-12):
            raise given.wrong("directions", "an array of vectors of other lengths", "unit vectors")
        eye._keep(directions=directions)  # the lengths of unit vectors are 1 but for rounding
        return eye

    @classmethod
    def _of(cls, directions: np.ndarray, given: Given) -> Sphere:
        return cls(directions, given.number("sigma", least=0))


def as_eye(eye: Eye | tuple[int, ...] | int) -> Eye:
    """Return the eye, or the line or grid of so many pixels.

    Examples
    --------
    >>> as_eye(5), as_eye((2, 3)).shape, as_eye(Hexagon(1)).shape
    (Line(n=5, sigma=0.47462100604330476), (2, 3), (7,))
    """
    if isinstance(eye, int | np.integer):
        return Line(int(eye))
    if isinstance(eye, tuple):
        return Line(*eye) if len(eye) == 1 else Grid(*eye)
    return eye


def same_places(one: Eye, other: Eye) -> bool:
    """Say whether the pixels of two eyes look in the same directions, through whatever optics."""
    return one.shape == other.shape and np.allclose(one.positions, other.positions)
