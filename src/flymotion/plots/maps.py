r"""Maps of the sphere as a spherical eye sees it from inside: what is left of straight ahead is at the left.

Hammer's projection keeps areas. Directions are (x forward, y left, z up); azimuth counts from straight ahead to the
left and elevation upwards [deg].

.. math:: (X, Y) = (2 \cos\phi \sin\tfrac{\lambda}{2}, \sin\phi) / \sqrt{(1 + \cos\phi \cos\tfrac{\lambda}{2}) / 2}

==========  ===========================================================================
``lam``     minus the azimuth: to the right [rad]
``phi``     elevation [rad]
``X, Y``    place on the map, right and up: 4 sqrt(2) wide, 2 sqrt(2) high
==========  ===========================================================================
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MAP_WIDTH", "circles_about", "draw_map", "on_map", "on_map_unbroken", "pointing_on_map"]

MAP_WIDTH = 4 * math.sqrt(2)
"""Width of the map; it is half as high."""


def on_map(directions: np.ndarray) -> np.ndarray:
    """Return the places of directions on the map, shape (..., 2)."""
    return _hammer(*_angles(directions))


def on_map_unbroken(paths: np.ndarray) -> list[np.ndarray]:
    """Return the places of paths of directions, shape (n_paths, n_steps, 3), cut where they cross straight behind.

    Returns
    -------
    list of ndarray, shape (n_places, 2)
        One or more a path.
    """
    lam, _ = _angles(paths)
    jumps = np.abs(np.diff(lam, axis=1)) > math.pi
    places = on_map(paths)
    return [
        piece
        for path, jump in zip(places, jumps, strict=True)
        for piece in np.split(path, np.flatnonzero(jump) + 1)
        if len(piece) > 1
    ]


def pointing_on_map(directions: np.ndarray, flow: np.ndarray) -> np.ndarray:
    """Return flow on the map, shape (n, 2): where to it points there, as long as it is on the sphere.

    Parameters
    ----------
    directions, flow : ndarray, shape (n, 3)
        Unit vectors, and velocities tangent to the sphere.
    """
    lam, phi = _angles(directions)
    zero = np.zeros_like(lam)
    right = np.stack([-np.sin(lam), -np.cos(lam), zero], axis=-1)
    up = np.stack([-np.sin(phi) * np.cos(lam), np.sin(phi) * np.sin(lam), np.cos(phi)], axis=-1)
    h = 1e-6
    moved = h * (flow * right).sum(axis=-1) / np.cos(phi), h * (flow * up).sum(axis=-1)
    size = np.linalg.norm(flow, axis=-1)
    step = np.divide(moved, size, out=np.zeros((2, len(flow))), where=size > 0)
    pointing = _hammer(lam + step[0], phi + step[1]) - _hammer(lam, phi)
    length = np.linalg.norm(pointing, axis=-1)
    return pointing * np.divide(size, length, out=0 * size, where=length > 0)[:, None]


def circles_about(directions: np.ndarray, radius: float | np.ndarray) -> np.ndarray:
    """Return circles about directions, shape (n, n_steps, 3), of one radius or one each, shape (n,) [deg]."""
    least = np.eye(3)[np.abs(directions).argmin(axis=1)]
    across = np.cross(directions, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    along = np.cross(directions, across)
    t = np.linspace(0, 2 * math.pi, 73)[:, None]
    around = np.cos(t) * across[:, None] + np.sin(t) * along[:, None]
    radii = np.broadcast_to(np.radians(radius), len(directions))[:, None, None]
    return np.cos(radii) * directions[:, None] + np.sin(radii) * around


def _angles(directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y, z = np.moveaxis(np.asarray(directions, dtype=float), -1, 0)
    return np.arctan2(-y, x), np.arcsin(np.clip(z, -1 + 1e-7, 1 - 1e-7))  # just off the poles, where right is undefined


def _hammer(lam: np.ndarray, phi: np.ndarray) -> np.ndarray:
    X, Y = 2 * np.cos(phi) * np.sin(lam / 2), np.sin(phi)
    return np.stack([X, Y], axis=-1) / np.sqrt((1 + np.cos(phi) * np.cos(lam / 2)) / 2)[..., None]


def draw_map(axes: Axes) -> None:
    """Draw the empty map: its outline, a net of 30 by 45 degrees, and degrees beside and below it."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    turn, height = np.radians(np.linspace(-180, 180, 181)), np.radians(np.linspace(-90, 90, 91))
    for azimuth in range(-180, 181, 45):
        edge = abs(azimuth) == 180
        meridian = _hammer(np.full_like(height, -math.radians(azimuth)), height)
        axes.plot(*meridian.T, color="0.4" if edge else "0.88", linewidth=0.8 if edge else 0.5, zorder=0)
        if azimuth % 90 == 0:
            across = _hammer(np.array(-math.radians(azimuth)), np.array(0.0))[0]
            axes.text(
                across,
                -MAP_WIDTH / 4 - 0.06,
                f"{azimuth}°".replace("-", "−"),
                ha="center",
                va="top",
                fontsize=7,
                color="0.3",
            )
    for elevation in range(-60, 61, 30):
        parallel = _hammer(turn, np.full_like(turn, math.radians(elevation)))
        axes.plot(*parallel.T, color="0.88", linewidth=0.5, zorder=0)
        x, y = parallel[0]
        va = "center" if elevation == 0 else "bottom" if elevation > 0 else "top"
        axes.text(x - 0.06, y, f"{elevation}°".replace("-", "−"), ha="right", va=va, fontsize=7, color="0.3")
