"""Filters as the paper draws them, on every eye: matrices, arrays of small images, mean filters, maps of arrows.

============================  ======================================================================================
a line                        a matrix
a grid                        for each pixel of the change, in its place, the image of its weights
a hexagon of 3 rings at most  the same
a larger one                  the weights' mean over pixels, and the flow that is implied at each
two channels, ON and OFF      the same of the four parts of each filter
a sphere                      the flow that is implied at each pixel, on a map
============================  ======================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.generators import Generators, by_channel
from flymotion.generators.flows import implied_flow, mean_filters
from flymotion.plots.canvas import (
    add_colour_bar,
    draw_flow,
    new_figure,
    new_panels,
    signed_colours,
    symmetric_limit,
    typical_speed,
)
from flymotion.plots.hexagons import draw_hexagons, outline_hexagons, show_bare
from flymotion.plots.maps import draw_map, on_map, pointing_on_map
from flymotion.world.channels import TwoChannels
from flymotion.world.eyes import Eye, Hexagon

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_filters", "filter_sheet"]

LARGEST_ARRAY = 37
"""Pixels of the largest hexagon, one of 3 rings, whose filters are drawn as an array of images."""

MOST_ARROWS = 400
"""Pixels of a hexagon from which on only every second one along each axis has its arrow drawn."""


def draw_filters(
    matrices: Any,
    titles: Sequence[str] = (),
    *,
    n_columns: int | None = None,
    suptitle: str = "",
    label: str = "weight",
) -> Figure:
    """Draw filters as matrices: a row is the change at one pixel, a column the intensity at another.

    Parameters
    ----------
    matrices : array-like, shape (n_filters, n_rows, n_columns), or Generators
        Filters, of one colour scale centred on zero; what is not a number is grey.
    titles : sequence of str
        One a filter, or none.
    n_columns : int, optional
        Panels in a row, four at most by default.
    suptitle, label : str
        Title of the figure, label of the colour bar.

    Raises
    ------
    ValueError
        No filters, filters that are not matrices, or another number of titles.

    Examples
    --------
    >>> from flymotion.generators import derivative_operator
    >>> figure = draw_filters([derivative_operator((5,), angle) for angle in (0, 180)], ["right", "left"])
    >>> [axes.get_title() for axes in figure.axes]  # and the colour bar
    ['right', 'left', '']
    """
    try:
        matrices = np.asarray(matrices.operators if isinstance(matrices, Generators) else matrices, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"filters are of type {type(matrices).__name__}; expected Generators, such as generators_ of a learner, or "
            "numbers of shape (n_filters, n_rows, n_columns)"
        ) from None
    if matrices.ndim != 3 or 0 in matrices.shape:
        raise ValueError(f"filters of shape {matrices.shape}; expected (n_filters, n_rows, n_columns), none of them 0")
    if len(titles) not in (0, len(matrices)):
        raise ValueError(f"{len(titles)} titles for {len(matrices)} filters; expected one each")
    figure, panels = new_panels(len(matrices), n_columns or min(len(matrices), 4), (2.1, 2.5), margins=(1.2, 0.6))
    limit = symmetric_limit(matrices)
    for axes, matrix, title in zip(panels, matrices, titles or [""] * len(matrices), strict=True):
        image = _show(axes, matrix, limit)
        _pixel_ticks(axes, *matrix.shape)
        axes.set_title(title, fontsize=9)
    figure.supxlabel("intensity at pixel", fontsize=9)
    figure.supylabel("change at pixel", fontsize=9)
    add_colour_bar(figure, image, label)
    if suptitle:
        figure.suptitle(suptitle, fontsize=10)
    return figure


def _show(axes: Axes, weights: np.ndarray, limit: float) -> Any:
    return axes.imshow(weights, cmap=signed_colours(), vmin=-limit, vmax=limit, interpolation="nearest")


def _pixel_ticks(axes: Axes, n_rows: int, n_columns: int) -> None:
    """Label every pixel of small filters, and every fifth or so of large ones; pixels count from 1."""
    for axis, n in ((axes.xaxis, n_columns), (axes.yaxis, n_rows)):
        step = 1 if n <= 9 else math.ceil(n / 5)
        axis.set_ticks(range(0, n, step), [str(i + 1) for i in range(0, n, step)])
    axes.tick_params(length=0, labelsize=7)


def filter_sheet(generators: Generators, labels: Sequence[str] = (), *, suptitle: str = "") -> Figure:
    """Draw the filters of an eye as the paper does: for each pixel of the change, its weights onto the intensities.

    Where that would be too many images to read, on hexagons of more than 3 rings and on the sphere, arrows show the
    flow that a filter implies at each pixel (:func:`flymotion.generators.flows.implied_flow`): where to content
    moves that the filter prefers. Colours and lengths of arrows have one scale for all components. What is not a number
    is grey, or has no arrow.

    Parameters
    ----------
    generators : Generators
        Of any eye.
    labels : sequence of str
        Titles of the components, by default the preferred directions of flat eyes, and numbers on the sphere.
    suptitle : str
        Title of the figure.

    Raises
    ------
    ValueError
        Another number of labels than of components, or no components.

    Examples
    --------
    >>> from flymotion.generators import derivative_operator
    >>> operators = [derivative_operator((3, 3), angle) for angle in (0, 90)]
    >>> figure = filter_sheet(Generators(operators, (3, 3)), ["right", "up"])
    >>> [axes.get_title() for axes in figure.axes]
    ['right', 'up', '']
    """
    if len(generators) == 0:
        raise ValueError("0 components; expected at least one to draw")
    labels = list(labels) or _names(generators)
    if len(labels) != len(generators):
        raise ValueError(f"{len(labels)} labels for {len(generators)} components; expected one each")
    if isinstance(generators.eye, TwoChannels):
        return filter_sheet(*_in_channels(generators, labels), suptitle=suptitle)
    n_pixels, ndim = generators.eye.positions.shape
    if ndim == 1:
        return draw_filters(generators.operators, labels, suptitle=suptitle)
    if ndim == 3:
        figure = _maps(generators, labels)
    elif len(generators.shape) == 2:
        figure = _array_of_images(generators, labels)
    elif n_pixels <= LARGEST_ARRAY:
        figure = _array_of_hexagons(generators, labels)
    else:
        figure = _means_and_flow(generators, labels)
    if suptitle:
        figure.suptitle(suptitle, fontsize=11)
    return figure


def _in_channels(generators: Generators, labels: Sequence[str]) -> tuple[Generators, list[str]]:
    """Return the four parts of each filter of two channels, one filter after the other, and their labels."""
    parts = by_channel(generators)
    operators = np.stack([part.operators for part in parts.values()], axis=1)
    own = generators.eye.eye
    each = [f"{label}:\n{change} change, {seen} intensity" for label in labels for change, seen in parts]
    return Generators(operators.reshape(-1, *operators.shape[2:]), own), each


def _names(generators: Generators) -> list[str]:
    if generators.eye.positions.shape[1] == 3:
        return [f"component {k + 1}" for k in range(len(generators))]
    return [_direction(angle) for angle in generators.directions()]


def _direction(angle: float) -> str:
    if not math.isfinite(angle):
        return "no direction"
    cardinal = {0: "right", 90: "up", 180: "left", 270: "down"}
    nearest = round(angle / 90) * 90
    name = cardinal[nearest % 360] if abs(angle - nearest) < 22.5 else "oblique"
    return f"{name} ({angle % 360:.0f} deg)"


def _near_square(n: int) -> int:
    return math.ceil(math.sqrt(n))


# -- arrays of images --------------------------------------------------------------------------------------------


def _array_of_images(generators: Generators, labels: Sequence[str]) -> Figure:
    figure, panels = new_panels(len(labels), _near_square(len(labels)), (3.4, 3.5))
    limit = symmetric_limit(generators.operators)
    for axes, operator, label in zip(panels, generators.operators, labels, strict=True):
        image = _show(axes, _mosaic(operator, generators.shape), limit)
        _mosaic_ticks(axes, generators.shape)
        axes.set_title(label, fontsize=10)
    figure.supxlabel("columns: of the change (tiles), of the intensity (inside)", fontsize=8)
    figure.supylabel("rows: of the change (tiles), of the intensity (inside)", fontsize=8)
    add_colour_bar(figure, image, "weight")
    return figure


def _mosaic(operator: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Lay an operator out as a grid of images, one for each pixel of the change, with gaps between them."""
    height, width = shape
    tiles = np.full((height, height + 1, width, width + 1), np.nan)
    tiles[:, :height, :, :width] = operator.reshape(height, width, height, width).transpose(0, 2, 1, 3)
    return tiles.reshape(height * (height + 1), width * (width + 1))[:-1, :-1]


def _mosaic_ticks(axes: Axes, shape: tuple[int, ...]) -> None:
    for axis, n in ((axes.yaxis, shape[0]), (axes.xaxis, shape[1])):
        axis.set_ticks([(n + 1) * i + (n - 1) / 2 for i in range(n)], [str(i + 1) for i in range(n)])
    axes.tick_params(length=0, labelsize=7)


def _array_of_hexagons(generators: Generators, labels: Sequence[str]) -> Figure:
    positions = generators.eye.positions
    apart = np.ptp(positions, axis=0).max() + 1.6
    tiles = apart * positions[:, None] + positions  # where pixel j is in the image of pixel i
    figure, panels = new_panels(len(labels), _near_square(len(labels)), (4.0, 4.2))
    limit = symmetric_limit(generators.operators)
    for axes, operator, label in zip(panels, generators.operators, labels, strict=True):
        image = draw_hexagons(axes, tiles.reshape(-1, 2), operator.ravel(), limit, margin=2.0)
        outline_hexagons(axes, tiles[np.diag_indices(len(positions))])
        axes.set_title(label, fontsize=10)
    figure.supxlabel("images: the change at a pixel, in its place (outlined); inside: the intensities", fontsize=8)
    add_colour_bar(figure, image, "weight")
    return figure


# -- flow --------------------------------------------------------------------------------------------------------


def _means_and_flow(generators: Generators, labels: Sequence[str]) -> Figure:
    offsets, means = mean_filters(generators)
    flow = implied_flow(generators)
    negligible = 1e-6 * symmetric_limit(generators.operators)
    limit, speed = max(symmetric_limit(means), negligible), typical_speed(flow, negligible)
    positions = generators.eye.positions
    shown, every = _with_arrows(generators.eye)
    figure, pairs = _pairs_of_panels(len(labels))
    for (above, below), mean, velocities, label in zip(pairs, means, flow, labels, strict=True):
        image = draw_hexagons(above, offsets, mean, limit)
        outline_hexagons(above, np.zeros((1, 2)))
        draw_flow(below, positions[shown], 0.9 * every / speed * velocities[shown], length=every)
        show_bare(below, positions, 1.5)
        above.set_title(label, fontsize=10)
    which = "each" if every == 1 else "every second"
    caption = "above: mean weights about the pixel of the change (outlined)\n"
    figure.supxlabel(f"{caption}below: implied flow of content at {which} pixel", fontsize=8)
    add_colour_bar(figure, image, "mean weight")
    return figure


def _with_arrows(eye: Eye) -> tuple[np.ndarray, int]:
    """Return which pixels have their arrows drawn, and how many spacings those are apart."""
    n_pixels = len(eye.positions)
    if isinstance(eye, Hexagon) and n_pixels > MOST_ARROWS:
        return (eye.axial % 2 == 0).all(axis=1), 2
    return np.ones(n_pixels, dtype=bool), 1


def _pairs_of_panels(n: int) -> tuple[Figure, list[Any]]:
    """Return a figure and n pairs of panels, one above the other."""
    n_columns = n if n <= 4 else _near_square(n)
    n_lines = math.ceil(n / n_columns)
    figure = new_figure(3.4 * n_columns + 0.9, 6.4 * n_lines + 0.6, "compressed")
    panels = figure.subplots(2 * n_lines, n_columns, squeeze=False, height_ratios=[0.7, 1.0] * n_lines)
    for axes in panels.flat:
        axes.set_axis_off()
    return figure, [panels[2 * line : 2 * line + 2, k] for line in range(n_lines) for k in range(n_columns)][:n]


def _maps(generators: Generators, labels: Sequence[str]) -> Figure:
    directions, flow = generators.eye.positions, implied_flow(generators)
    length = 2.2 / math.sqrt(len(directions))
    scale = length / typical_speed(flow, 1e-6 * symmetric_limit(generators.operators))
    n_columns = min(len(labels), 2 if len(labels) <= 8 else 3)
    figure, panels = new_panels(len(labels), n_columns, (4.6, 2.7), margins=(0.5, 0.6))
    for axes, velocities, label in zip(panels, flow, labels, strict=True):
        draw_map(axes)
        draw_flow(axes, on_map(directions), scale * pointing_on_map(directions, velocities), length=length)
        axes.set_title(label, fontsize=10)
    figure.supxlabel("azimuth [deg], positive to the left; arrows: implied flow of content at each pixel", fontsize=8)
    figure.supylabel("elevation [deg]", fontsize=8)
    return figure
