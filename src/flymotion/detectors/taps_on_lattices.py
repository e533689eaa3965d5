"""Which pixels of an eye a detector's taps are at, and what is there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flymotion.detectors.between_axes import LATTICE_TOLERANCE, Turned, axes_of, steps_along
from flymotion.frames import unmasked
from flymotion.world.conventions import unit_vector
from flymotion.world.eyes import Eye
from flymotion.world.lattices import lattice_of

__all__ = ["Taps", "tapped"]

BETWEEN = 0.75
"""Nothing inside a lattice is farther than this from its nearest pixel [pixel spacings]; the middle of a square is
0.71."""


class Taps:
    """The arms' signals where one direction's taps are.

    Parameters
    ----------
    arms : mapping of str to ndarray, shape (..., n_frames, n_pixels)
        Filtered signals.
    pixels : ndarray of int, shape (n_positions, n_taps)
        Where the taps are.
    displacements : ndarray, shape (n_taps, 2)
        Where they are about a position, for motion to the right [pixel spacings].
    dt : float
        Time between frames [s].
    scale : float
        How many times as far apart they are as that.

    Examples
    --------
    >>> signal = np.arange(5.0)[None]  # one frame of five pixels, seen by detectors at pixels 1 to 3
    >>> pixels, displacements = np.array([[0, 2], [1, 3], [2, 4]]), np.array([[-1.0, 0.0], [1.0, 0.0]])
    >>> at = Taps({"slow": signal}, pixels, displacements, dt=0.01)
    >>> at("slow", -1), at("slow", 1)  # what is left of each, and what is right of it
    (array([[0., 1., 2.]]), array([[2., 3., 4.]]))
    """

    def __init__(
        self,
        arms: Mapping[str, np.ndarray],
        pixels: np.ndarray,
        displacements: np.ndarray,
        dt: float,
        scale: float = 1.0,
    ) -> None:
        self._arms = {name: unmasked(arm, f"the arm {name!r}") for name, arm in arms.items()}
        self._pixels, self._displacements = unmasked(pixels, "pixels"), unmasked(displacements, "displacements")
        self.dt, self.scale = dt, scale

    def __call__(self, arm: str, offset: float = 0) -> np.ndarray:
        """Return an arm at one displacement along the preferred direction, shape (..., n_frames, n_positions).

        Parameters
        ----------
        arm : str
            Its name.
        offset : float
            Of the tap at ``(offset, 0)`` [pixel spacings], in whatever order the detector's taps are.

        Raises
        ------
        ValueError
            An unknown arm, or an offset at which there is no tap.
        """
        x, y = self._displacements.T
        here = np.flatnonzero((np.abs(x - offset) <= LATTICE_TOLERANCE) & (np.abs(y) <= LATTICE_TOLERANCE))
        if not here.size:
            raise ValueError(f"the offset is {offset}; expected one of the taps{self._along}")
        return self._arm(arm)[..., self._pixels[:, here[0]]]

    @property
    def _along(self) -> str:
        """Which taps are along the preferred direction, in words."""
        x, y = self._displacements.T
        aside = np.abs(y) > LATTICE_TOLERANCE
        listed = ", ".join(f"{offset:.4g}" for offset in np.unique(x[~aside])) or "none"
        others = f", and {aside.sum()} are off that axis, where all(arm) finds them" if aside.any() else ""
        return f" along the preferred direction, which are at {listed}{others}"

    def all(self, arm: str) -> np.ndarray:
        """Return an arm at all taps, in the order of the displacements, shape (..., n_frames, n_positions, n_taps)."""
        return self._arm(arm)[..., self._pixels]

    def _arm(self, arm: str) -> np.ndarray:
        if arm not in self._arms:
            raise ValueError(f"the arm is {arm!r}; expected one of the detector's: {', '.join(map(repr, self._arms))}")
        return self._arms[arm]


def tapped(displacements: np.ndarray, eye: Eye, directions: np.ndarray) -> tuple[np.ndarray, list[list[Turned]]]:
    """Find the pixels of the taps.

    Returns
    -------
    positions : ndarray of int, shape (n_positions,)
        Pixels about which all taps of all directions are inside the eye.
    turned : list of list of Turned, of pixels, shape (n_positions, n_taps)
        One entry a direction: the detector as it is turned there, or to the axes on either side of it.

    Raises
    ------
    ValueError
        Directions that are not finite, a spherical eye without a lattice, or taps that have no place in the eye; says
        which, and why.
    """
    displacements, directions = unmasked(displacements, "displacements"), unmasked(directions, "directions")
    if not (directions.size and np.isfinite(directions).all()):
        raise ValueError(f"the directions are {directions.tolist()}; expected one or more, finite [deg]")
    whole, found = np.ones(len(eye.positions), dtype=bool), []
    axes = None if _is_plain(eye) else axes_of(displacements, lattice_of(eye))
    for direction in directions.tolist():
        if axes is None or _is_exact(displacements, eye, direction):
            inside, turned = _as_it_is(displacements, eye, direction, whole)
        else:
            inside, turned = axes.to_either_side(direction)
        whole = whole & inside
        if not whole.any():
            raise ValueError(_nowhere(displacements, eye, direction, "about no pixel all of them are inside"))
        found.append(turned)
    positions = np.flatnonzero(whole)
    return positions, [[Turned(one.pixels[positions], one.weights[positions]) for one in turned] for turned in found]


def _is_plain(eye: Eye) -> bool:
    """Return whether an eye is flat and no hexagonal lattice, on which detectors are turned to no direction between."""
    if eye.positions.shape[1] == 3 and not hasattr(eye, "axial"):
        raise ValueError(
            f"a spherical eye has no lattice to put taps on, if it is a {type(eye).__name__}; expected a CompoundEye, "
            "such as CompoundEye.from_directions makes of directions, or a line, a grid or a hexagon"
        )
    return not hasattr(eye, "axial")


def _is_exact(displacements: np.ndarray, eye: Eye, direction: float) -> bool:
    """Return whether taps that are turned to a direction are at pixels of an even lattice."""
    return eye.positions.shape[1] < 3 and bool((steps_along(displacements, direction)[1] <= LATTICE_TOLERANCE).all())


def _as_it_is(
    displacements: np.ndarray, eye: Eye, direction: float, among: np.ndarray
) -> tuple[np.ndarray, list[Turned]]:
    """Return about which pixels all taps are inside, and what is there; it has to be so of one ``among`` the pixels."""
    from scipy.spatial import cKDTree

    places = eye.positions
    ndim = places.shape[1]
    if ndim == 3:
        raise ValueError(_nowhere(displacements, eye, direction, _misplaced(displacements, *_off_axes(displacements))))
    tree = cKDTree(places)
    x, y = unit_vector(direction)
    turned = displacements @ np.array([[x, y], [-y, x]])
    seen = np.linalg.norm(turned[:, ndim:], axis=1) <= LATTICE_TOLERANCE  # a line sees nothing off it
    near, pixels = tree.query(places[:, None] + turned[:, :ndim], distance_upper_bound=LATTICE_TOLERANCE)
    inside = (np.isfinite(near) & seen).all(axis=1)
    if not (inside & among).any():
        far = tree.query(places[:, None] + turned[:, :ndim])[0].min(axis=0)
        raise ValueError(_nowhere(displacements, eye, direction, _misplaced(displacements, seen, far)))
    return inside, [Turned(pixels, np.ones(len(pixels)))]


def _off_axes(displacements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return that all taps are seen, and how far from a hexagonal lattice they are if they are turned as fits best."""
    off = min((steps_along(displacements, angle)[1] for angle in (0.0, 30.0)), key=np.max)
    return np.ones(len(off), dtype=bool), off


def _nowhere(displacements: np.ndarray, eye: Eye, direction: float, why: str) -> str:
    """Return what is said of taps that have no place."""
    otherwise = "" if eye.positions.shape[1] == 3 else f", or a direction of its lattice: {_lattice(eye)} deg"
    return (
        f"an eye of {eye.shape} pixels has no place for the detector's {len(displacements)} taps along direction "
        f"{direction:g} deg, as {why}; expected a larger eye{otherwise}"
    )


def _misplaced(displacements: np.ndarray, seen: np.ndarray, far: np.ndarray) -> str:
    """Return which tap matches no pixel, and why: ``far`` is how near to one it comes, of all positions."""
    off, beyond = far > LATTICE_TOLERANCE, far > BETWEEN
    for wrong, why in (
        (~seen, "is off the line of its pixels"),
        (off & ~beyond, "is {far:.2g} pixel spacings off its lattice"),
        (beyond, "is beyond its border wherever the others are"),
    ):
        if wrong.any():
            k = int(np.argmax(wrong))
            return f"the tap at ({displacements[k, 0]:.4g}, {displacements[k, 1]:.4g}) " + why.format(far=far[k])
    return "about no pixel all of them are inside"


def _lattice(eye: Eye) -> str:
    """Return the directions in which a flat eye's pixels have neighbours [deg], as text."""
    places, links = np.pad(eye.positions, ((0, 0), (0, 2 - eye.positions.shape[1]))), eye.neighbours
    along = places[links[:, 1]] - places[links[:, 0]]
    angles = np.degrees(np.arctan2(-along[:, 1], along[:, 0])).round(6)
    return ", ".join(f"{angle:g}" for angle in np.unique(np.concatenate([angles, angles + 180]) % 360)) or "no"
