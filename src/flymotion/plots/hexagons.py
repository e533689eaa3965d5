"""Weights of a hexagonal lattice, drawn as hexagons that touch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import signed_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_hexagons", "outline_hexagons", "show_bare"]

_ANGLES = np.radians(np.arange(0, 360, 60))
_CORNERS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1) / math.sqrt(3)  # of a pixel, neighbours straight above


def draw_hexagons(axes: Axes, centres: np.ndarray, weights: np.ndarray, limit: float, margin: float = 1.0) -> Any:
    """Draw weights as hexagons that touch where centres are one apart, y down; what is not a number is grey."""
    from matplotlib.collections import PolyCollection

    style: dict[str, Any] = {"cmap": signed_colours(), "edgecolors": "0.85", "linewidths": 0.3}
    hexagons = PolyCollection(list(centres[:, None] + _CORNERS), array=weights, **style)
    hexagons.set_clim(-limit, limit)
    axes.add_collection(hexagons)
    show_bare(axes, centres, margin)
    return hexagons


def outline_hexagons(axes: Axes, centres: np.ndarray) -> None:
    """Outline hexagons, so that what is special of them is seen."""
    from matplotlib.collections import PolyCollection

    axes.add_collection(
        PolyCollection(list(centres[:, None] + _CORNERS), facecolors="none", edgecolors="black", linewidths=0.7)
    )


def show_bare(axes: Axes, positions: np.ndarray, margin: float) -> None:
    """Show positions with a margin about them, y down, to scale and without a frame."""
    (left, top), (right, bottom) = positions.min(axis=0) - margin, positions.max(axis=0) + margin
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.set_axis_off()
