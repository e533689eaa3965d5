"""Eyes: where they look, which pixels are next to each other, how wide each one sees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import new_figure
from flymotion.plots.maps import MAP_WIDTH, circles_about, draw_map, on_map, on_map_unbroken
from flymotion.world.compound_eyes import CompoundEye
from flymotion.world.eyes import acceptance_sigma
from flymotion.world.lattices import BEARINGS, lattice_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.world.eyes import Eye

__all__ = ["draw_eye"]

POSITION, LINK, ACCEPTANCE = "black", "0.7", "C0"

AXES = ("C3", "C4", "C2")
"""Colours of links to neighbours nominally at 30, 90 and 150 degrees, and back."""


def draw_eye(eye: Eye, *, title: str = "") -> Figure:
    """Draw the viewing positions of an eye, links between neighbours, and each pixel's acceptance at half maximum.

    Links of a compound eye have the colours of the lattice's three axes.

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

    Examples
    --------
    >>> from flymotion import Hexagon
    >>> figure = draw_eye(Hexagon(2))
    >>> [axes.get_title() for axes in figure.axes]
    ['19 pixels']
    """
    n, ndim = eye.positions.shape
    fwhm = np.broadcast_to(eye.sigma, n) / acceptance_sigma(1.0)
    widest = float(fwhm.max())
    if ndim == 3:
        figure = new_figure(9, 5.5 if isinstance(eye, CompoundEye) else 5.2)
        axes = figure.subplots()
        _on_map(axes, eye, fwhm)
    else:
        width, height = np.ptp(_in_plane(eye), axis=0) + max(2.0, widest + 1)
        inches = min(8.0, 0.6 * max(width, height)) / max(width, height)
        figure = new_figure(max(inches * width, 3.5) + 0.9, max(inches * height, 0.4) + 1.8)
        axes = figure.subplots()
        _on_plane(axes, eye, widest)
    axes.set_title(title or ("1 pixel" if n == 1 else f"{n} pixels"), fontsize=10)
    unit = "°" if ndim == 3 else " pixel spacings"
    axes.plot([], [], ".", color=POSITION, label="viewing positions")
    for colour, _, label in _axes_of(eye):
        axes.plot([], [], color=colour, label=label)
    wide = f"{widest:.3g}" if fwhm.min() == widest else f"{fwhm.min():.2g} to {widest:.2g}"
    axes.plot([], [], color=ACCEPTANCE, label=f"acceptance, {wide}{unit} wide at half maximum")
    figure.legend(loc="outside lower center", ncols=1 if figure.get_figwidth() < 6 else 3, fontsize=8, frameon=False)
    return figure


def _axes_of(eye: Eye) -> list[tuple[str, np.ndarray, str]]:
    """Return colours, links, shape (n_links, 2), and names: of all neighbours, or of a lattice's axes."""
    if not isinstance(eye, CompoundEye):
        return [(LINK, eye.neighbours, "neighbours")]
    found = []
    for k, colour in enumerate(AXES):
        ahead = lattice_of(eye).neighbours[:, k]
        pairs = np.stack([np.arange(len(ahead)), ahead], axis=1)[ahead >= 0]
        found.append((colour, pairs, f"neighbours nominally at {BEARINGS[k]:g}° and {BEARINGS[k + 3]:g}°"))
    return found


def _in_plane(eye: Eye) -> np.ndarray:
    return np.pad(eye.positions, ((0, 0), (0, 2 - eye.positions.shape[1])))


def _on_plane(axes: Axes, eye: Eye, fwhm: float) -> None:
    positions = _in_plane(eye)
    t = np.linspace(0, 2 * math.pi, 49)
    circles = positions[:, None] + fwhm / 2 * np.stack([np.cos(t), np.sin(t)], axis=1)
    _draw(axes, positions, [(LINK, list(positions[eye.neighbours]))], list(circles))
    margin = max(1.0, fwhm / 2 + 0.5)
    (left, top), (right, bottom) = positions.min(axis=0) - margin, positions.max(axis=0) + margin
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xlabel="x, right [pixel spacings]")
    if eye.positions.shape[1] == 2:
        axes.set_ylabel("y, down [pixel spacings]")
    else:
        axes.set_yticks([])


def _on_map(axes: Axes, eye: Eye, fwhm: np.ndarray) -> None:
    directions = eye.positions
    draw_map(axes)
    share = np.linspace(0, 1, 25)[:, None]
    links = []
    for colour, pairs, _ in _axes_of(eye):
        starts, ends = directions[pairs].swapaxes(0, 1)[:, :, None]
        paths = (1 - share) * starts + share * ends
        links.append((colour, on_map_unbroken(paths / np.linalg.norm(paths, axis=2, keepdims=True))))
    _draw(axes, on_map(directions), links, on_map_unbroken(circles_about(directions, fwhm / 2)))
    axes.set(xlim=np.array([-0.55, 0.55]) * MAP_WIDTH, ylim=np.array([-0.3, 0.27]) * MAP_WIDTH)
    axes.text(0, -0.3 * MAP_WIDTH, "azimuth [deg], positive to the left", ha="center", va="top", fontsize=9)
    axes.text(-0.56 * MAP_WIDTH, 0, "elevation [deg]", ha="right", va="center", rotation=90, fontsize=9)


def _draw(axes: Axes, places: np.ndarray, links: list[tuple[str, list[np.ndarray]]], circles: list[np.ndarray]) -> None:
    from matplotlib.collections import LineCollection

    thin: dict[str, Any] = {"linewidths": 0.8 if len(places) <= 200 else 0.4}
    for colour, some in links:
        axes.add_collection(LineCollection(some, colors=colour, zorder=1 if colour == LINK else 2, **thin))
    faint = 1.0 if len(places) <= 200 else 0.25
    axes.add_collection(LineCollection(circles, colors=ACCEPTANCE, alpha=faint, zorder=2, **thin))
    axes.plot(*places.T, ".", color=POSITION, markersize=4 if len(places) <= 200 else 2, zorder=3)
