"""Where the pixels of a flat eye look, once it is wrapped on the globe: along longitudes and latitudes."""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.frames import unmasked
from flymotion.world.conventions import positive
from flymotion.world.eyes import Eye

__all__ = ["on_the_globe", "seen_from"]


def on_the_globe(angles: Any) -> np.ndarray:
    """Return unit vectors (x forward, y left, z up) at angles to the right and down.

    Parameters
    ----------
    angles : array-like, shape (..., 2)
        Longitude to the right and latitude down [deg].

    Returns
    -------
    ndarray, shape (..., 3)

    Examples
    --------
    >>> on_the_globe([[0.0, 0.0], [90.0, 0.0], [0.0, 90.0]]).round(9) + 0.0
    array([[ 1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0., -1.]])
    """
    right, down = np.moveaxis(np.radians(unmasked(angles, "angles", float)), -1, 0)
    return np.stack([np.cos(down) * np.cos(right), -np.cos(down) * np.sin(right), -np.sin(down)], axis=-1)


def seen_from(eye: Eye, spacing: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return where each pixel of an eye looks, and how widely.

    Parameters
    ----------
    eye : Eye
        A spherical one, or a flat one of one or two dimensions.
    spacing : float, optional
        Angle between neighbouring pixels of a flat eye [deg]; a spherical one has none.

    Returns
    -------
    directions : ndarray, shape (n_pixels, 3)
        Unit vectors (x forward, y left, z up).
    sigma : ndarray, shape (n_pixels,)
        Standard deviation of each one's acceptance function [deg].

    Raises
    ------
    ValueError
        A flat eye without a spacing, or one that is not positive.
    """
    positions, sigma = eye.positions, np.broadcast_to(np.asarray(eye.sigma, dtype=float), eye.positions.shape[:1])
    if positions.shape[1] == 3:
        return positions, sigma
    if spacing is None:
        raise ValueError(f"the spacing is not given; expected the angle between pixels of a {type(eye).__name__} [deg]")
    positive(spacing=spacing)
    flat = np.pad(positions * spacing, ((0, 0), (0, 2 - positions.shape[1])))
    return on_the_globe(flat), sigma * spacing
