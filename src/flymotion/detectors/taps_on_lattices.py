"""Which pixels of an eye a detector's taps are at."""

from __future__ import annotations

import numpy as np

from flymotion.world.conventions import unit_vector
from flymotion.world.eyes import Eye

__all__ = ["tapped"]


def tapped(displacements: np.ndarray, eye: Eye, directions: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Find the pixels of the taps.

    Returns
    -------
    positions : ndarray of int, shape (n_positions,)
        Pixels about which all taps of all directions are inside the eye.
    taps : list of ndarray of int, shape (n_positions, n_taps)
        One entry a direction.
    """
    from scipy.spatial import cKDTree

    if not (directions.size and np.isfinite(directions).all()):
        raise ValueError(f"the directions are {directions.tolist()}; expected one or more, finite [deg]")
    places = eye.positions
    ndim = places.shape[1]
    if ndim == 3:
        raise ValueError("a spherical eye has no lattice to put taps on; expected a line, a grid or a hexagon")
    tree = cKDTree(places)
    whole, found = np.ones(len(places), dtype=bool), []
    for direction in directions:
        x, y = unit_vector(float(direction))
        turned = displacements @ np.array([[x, y], [-y, x]])
        seen = np.linalg.norm(turned[:, ndim:], axis=1) < 1e-6  # a line sees nothing off it
        near, pixels = tree.query(places[:, None] + turned[:, :ndim], distance_upper_bound=1e-6)
        whole &= (np.isfinite(near) & seen).all(axis=1)
        if not whole.any():
            raise ValueError(
                f"an eye of {eye.shape} pixels has no place for the detector's {len(displacements)} taps along "
                f"direction {direction:g} deg; expected a larger eye, or a direction of its lattice: "
                f"{_lattice(eye)} deg"
            )
        found.append(pixels)
    positions = np.flatnonzero(whole)
    return positions, [pixels[positions] for pixels in found]


def _lattice(eye: Eye) -> str:
    """Return the directions in which a flat eye's pixels have neighbours [deg], as text."""
    places, links = np.pad(eye.positions, ((0, 0), (0, 2 - eye.positions.shape[1]))), eye.neighbours
    along = places[links[:, 1]] - places[links[:, 0]]
    angles = np.degrees(np.arctan2(-along[:, 1], along[:, 0])).round(6)
    return ", ".join(f"{angle:g}" for angle in np.unique(np.concatenate([angles, angles + 180]) % 360)) or "no"
