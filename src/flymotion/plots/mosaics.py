"""Eyes: where they look, which pixels are next to each other, how wide each one sees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import new_figure
from flymotion.plots.maps import MAP_WIDTH, draw_map, on_map, on_map_unbroken
from flymotion.world.eyes import acceptance_sigma

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.world.eyes import Eye

__all__ = ["draw_eye"]

POSITION, LINK, ACCEPTANCE = "black", "0.7", "C0"


def draw_eye(eye: Eye, *, title: str = "") -> Figure:
    """Draw the viewing positions of an eye, links between neighbours, and each pixel's acceptance at half maximum.

    Parameters
    ----------
    eye : Eye
        Any; spherical ones are drawn on a map.
    title : str
        Title of the figure, by default the number of pixels.

    Raises
    ------
    ValueError
        A spherical eye without neighbours: fewer than four directions, or all in one plane.
    """
    n, ndim = eye.positions.shape
    fwhm = eye.sigma / acceptance_sigma(1.0)
    if ndim == 3:
        figure = new_figure(9, 5.2)
        axes = figure.subplots()
        _on_map(axes, eye, fwhm)
    else:
        width, height = np.ptp(_in_plane(eye), axis=0) + max(2.0, fwhm + 1)
        inches = min(8.0, 0.6 * max(width, height)) / max(width, height)
        figure = new_figure(max(inches * width, 3.5) + 0.9, max(inches * height, 0.4) + 1.8)
        axes = figure.subplots()
        _on_plane(axes, eye, fwhm)
    axes.set_title(title or ("1 pixel" if n == 1 else f"{n} pixels"), fontsize=10)
    unit = "°" if ndim == 3 else " pixel spacings"
    axes.plot([], [], ".", color=POSITION, label="viewing positions")
    axes.plot([], [], color=LINK, label="neighbours")
    axes.plot([], [], color=ACCEPTANCE, label=f"acceptance, {fwhm:.3g}{unit} wide at half maximum")
    figure.legend(loc="outside lower center", ncols=1 if figure.get_figwidth() < 6 else 3, fontsize=8, frameon=False)
    return figure


def _in_plane(eye: Eye) -> np.ndarray:
    return np.pad(eye.positions, ((0, 0), (0, 2 - eye.positions.shape[1])))


def _on_plane(axes: Axes, eye: Eye, fwhm: float) -> None:
    positions = _in_plane(eye)
    t = np.linspace(0, 2 * math.pi, 49)
    circles = positions[:, None] + fwhm / 2 * np.stack([np.cos(t), np.sin(t)], axis=1)
    _draw(axes, positions, list(positions[eye.neighbours]), list(circles))
    margin = max(1.0, fwhm / 2 + 0.5)
    (left, top), (right, bottom) = positions.min(axis=0) - margin, positions.max(axis=0) + margin
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xlabel="x, right [pixel spacings]")
    if eye.positions.shape[1] == 2:
        axes.set_ylabel("y, down [pixel spacings]")
    else:
        axes.set_yticks([])


def _on_map(axes: Axes, eye: Eye, fwhm: float) -> None:
    directions = eye.positions
    draw_map(axes)
    share = np.linspace(0, 1, 25)[:, None]
    starts, ends = directions[eye.neighbours].swapaxes(0, 1)[:, :, None]
    links = (1 - share) * starts + share * ends
    links /= np.linalg.norm(links, axis=2, keepdims=True)
    _draw(axes, on_map(directions), on_map_unbroken(links), on_map_unbroken(_circles(directions, fwhm / 2)))
    axes.set(xlim=np.array([-0.55, 0.55]) * MAP_WIDTH, ylim=np.array([-0.3, 0.27]) * MAP_WIDTH)
    axes.text(0, -0.3 * MAP_WIDTH, "azimuth [deg], positive to the left", ha="center", va="top", fontsize=9)
    axes.text(-0.56 * MAP_WIDTH, 0, "elevation [deg]", ha="right", va="center", rotation=90, fontsize=9)


def _circles(directions: np.ndarray, radius: float) -> np.ndarray:
    """Return circles about directions, of a radius [deg], shape (n, n_steps, 3)."""
    least = np.eye(3)[np.abs(directions).argmin(axis=1)]
    across = np.cross(directions, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    along = np.cross(directions, across)
    t = np.linspace(0, 2 * math.pi, 73)[:, None]
    around = np.cos(t) * across[:, None] + np.sin(t) * along[:, None]
    return math.cos(math.radians(radius)) * directions[:, None] + math.sin(math.radians(radius)) * around


def _draw(axes: Axes, places: np.ndarray, links: list[np.ndarray], circles: list[np.ndarray]) -> None:
    from matplotlib.collections import LineCollection

    thin: dict[str, Any] = {"linewidths": 0.8 if len(places) <= 200 else 0.4}
    axes.add_collection(LineCollection(links, colors=LINK, zorder=1, **thin))
    axes.add_collection(LineCollection(circles, colors=ACCEPTANCE, zorder=2, **thin))
    axes.plot(*places.T, ".", color=POSITION, markersize=4 if len(places) <= 200 else 2, zorder=3)
