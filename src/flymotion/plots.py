"""Figures: what was learned and measured, drawn. Nothing here computes anything but where to put ink.

Every function returns a :class:`matplotlib.figure.Figure` of its own; pyplot and its global state are never touched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.experiments.figure2 import Result as Figure2Result
    from flymotion.experiments.gratings import Result as GratingsResult
    from flymotion.experiments.optics import Result as OpticsResult
    from flymotion.generators import Generators

__all__ = ["draw_figure2", "draw_filters", "draw_motion_map", "draw_speeds", "filter_sheet"]

SIGNED = "RdBu_r"
"""Colours of signed weights, white at 0."""

MISSING = "0.75"
"""Colour of weights that are not numbers."""


def _figure(width: float, height: float, layout: Literal["constrained", "compressed"] = "constrained") -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)


def _symmetric_limit(weights: Any) -> float:
    """Return the largest size of a finite weight, or 1 where all are 0 or too small for matplotlib to tell from 0."""
    sizes = np.abs(np.asarray(weights, dtype=float))
    largest = sizes.max(initial=0.0, where=np.isfinite(sizes))
    return float(largest) if largest > 1e-250 else 1.0


def _signed_colours() -> Any:
    import matplotlib

    return matplotlib.colormaps[SIGNED].with_extremes(bad=MISSING)


def _show(axes: Axes, weights: Any, limit: float) -> Any:
    return axes.imshow(
        np.asarray(weights, dtype=float), cmap=_signed_colours(), vmin=-limit, vmax=limit, interpolation="nearest"
    )


def _pixel_ticks(axes: Axes, n_rows: int, n_columns: int) -> None:
    """Label every pixel of small filters, and every fifth or so of large ones; pixels count from 1."""
    for axis, n in ((axes.xaxis, n_columns), (axes.yaxis, n_rows)):
        step = 1 if n <= 9 else math.ceil(n / 5)
        axis.set_ticks(range(0, n, step), [str(i + 1) for i in range(0, n, step)])
    axes.tick_params(length=0, labelsize=7)


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
    matrices : array-like, shape (n_filters, n_rows, n_columns)
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
    """
    matrices = np.asarray(matrices, dtype=float)
    if matrices.ndim != 3 or 0 in matrices.shape:
        raise ValueError(f"filters of shape {matrices.shape}; expected (n_filters, n_rows, n_columns), none of them 0")
    if len(titles) not in (0, len(matrices)):
        raise ValueError(f"{len(titles)} titles for {len(matrices)} filters; expected one each")
    n_columns = n_columns or min(len(matrices), 4)
    n_lines = math.ceil(len(matrices) / n_columns)
    figure = _figure(2.1 * n_columns + 1.2, 2.5 * n_lines + 0.6, "compressed")
    panels = figure.subplots(n_lines, n_columns, squeeze=False)
    limit = _symmetric_limit(matrices)
    for k, axes in enumerate(panels.flat):
        if k >= len(matrices):
            axes.set_axis_off()
            continue
        image = _show(axes, matrices[k], limit)
        _pixel_ticks(axes, *matrices[k].shape)
        axes.set_title(titles[k] if titles else "", fontsize=9)
    figure.supxlabel("intensity at pixel", fontsize=9)
    figure.supylabel("change at pixel", fontsize=9)
    figure.colorbar(image, ax=list(panels.flat), label=label, shrink=0.8)
    if suptitle:
        figure.suptitle(suptitle, fontsize=10)
    return figure


def draw_figure2(result: Figure2Result, world: str) -> Figure:
    """Draw Fig. 2c-f: the filters of SM, NSM, PCA and K-means in one world, of the first seed."""
    signed, nonnegative = result.signed[world], result.nonnegative[world]
    learners = (
        ("(c) SM", signed.sm[0], ("first component", "second component")),
        ("(d) NSM", nonnegative.nsm[0], ("rightward unit", "leftward unit")),
        ("(e) PCA", signed.pca[0], ("first component", "second component")),
        ("(f) K-means", nonnegative.kmeans[0], ("rightward centre", "leftward centre")),
    )
    titles = [f"{name}\n{part}" for name, _, parts in learners for part in parts]
    matrices = np.concatenate([filters for _, filters, _ in learners])
    title = f"Figure 2c-f, world {world}: filters of whitened frames"
    return draw_filters(matrices, titles, suptitle=title, label="weight (filters of norm 1)")


def filter_sheet(generators: Generators, labels: Sequence[str] = (), *, suptitle: str = "") -> Figure:
    """Draw generators of images as the paper does: for each pixel of the change, its weights onto the intensities.

    Parameters
    ----------
    generators : Generators
        Of frames (height, width); lines of pixels are drawn as matrices instead.
    labels : sequence of str
        Titles of the components, by default their preferred directions.
    suptitle : str
        Title of the figure.

    Raises
    ------
    ValueError
        Another number of labels than of components, or no components.
    """
    if len(generators) == 0:
        raise ValueError("0 components; expected at least one to draw")
    labels = list(labels) or [_direction(angle) for angle in generators.directions()]
    if len(labels) != len(generators):
        raise ValueError(f"{len(labels)} labels for {len(generators)} components; expected one each")
    if len(generators.shape) == 1:
        return draw_filters(generators.operators, labels, suptitle=suptitle)
    n_columns = math.ceil(math.sqrt(len(labels)))
    n_lines = math.ceil(len(labels) / n_columns)
    figure = _figure(3.4 * n_columns + 1.1, 3.5 * n_lines + 0.6, "compressed")
    panels = figure.subplots(n_lines, n_columns, squeeze=False)
    limit = _symmetric_limit(generators.operators)
    for k, axes in enumerate(panels.flat):
        if k >= len(labels):
            axes.set_axis_off()
            continue
        image = _show(axes, _mosaic(generators.operators[k], generators.shape), limit)
        _mosaic_ticks(axes, generators.shape)
        axes.set_title(labels[k], fontsize=10)
    figure.supxlabel("columns: of the change (tiles), of the intensity (inside)", fontsize=8)
    figure.supylabel("rows: of the change (tiles), of the intensity (inside)", fontsize=8)
    figure.colorbar(image, ax=list(panels.flat), label="weight", shrink=0.8)
    if suptitle:
        figure.suptitle(suptitle, fontsize=11)
    return figure


def _direction(angle: float) -> str:
    if not math.isfinite(angle):
        return "no direction"
    cardinal = {0: "right", 90: "up", 180: "left", 270: "down"}
    nearest = round(angle / 90) * 90
    name = cardinal[nearest % 360] if abs(angle - nearest) < 22.5 else "oblique"
    return f"{name} ({angle % 360:.0f} deg)"


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


def draw_motion_map(result: OpticsResult) -> Figure:
    """Draw where each feature learns motion: theory as colour and boundary, samples as marks, features side by side."""
    from flymotion.experiments.optics import GAP

    figure = _figure(11, 4.6)
    panels = figure.subplots(1, len(result.theory), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (feature, theory) in zip(panels, result.theory.items(), strict=True):
        image = axes.imshow(theory.antisymmetric_share, origin="lower", cmap="PuOr", vmin=0, vmax=1, aspect="auto")
        _boundary(axes, theory.antisymmetric_share > 0.5)
        _hatch(axes, theory.ratio >= GAP)
        _marks(axes, result.sampled[feature].pca[0] > 0.5)
        axes.set_title(
            {"change": "paper's feature, dx x'", "midpoint": "midpoint feature, dx (x + x_next)'/2"}[feature]
        )
        axes.set_xticks(range(len(result.config.max_shifts)), [f"{s:g}" for s in result.config.max_shifts])
        axes.set_yticks(range(len(result.config.sigmas)), [f"{s:g}" for s in result.config.sigmas])
        axes.set_xlabel("largest shift [pixels per frame]")
    panels[0].set_ylabel("acceptance width sigma [pixels]")
    figure.colorbar(image, ax=list(panels), label="antisymmetric share of theory's first component")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return figure


def _boundary(axes: Axes, motion: np.ndarray) -> None:
    """Draw the edges between cells with and without motion."""
    rows, columns = np.nonzero(np.diff(motion, axis=1))
    across, down = np.nonzero(np.diff(motion, axis=0))
    lines = [([c + 0.5, c + 0.5], [r - 0.5, r + 0.5]) for r, c in zip(rows, columns, strict=True)]
    lines += [([c - 0.5, c + 0.5], [r + 0.5, r + 0.5]) for r, c in zip(across, down, strict=True)]
    for k, (x, y) in enumerate(lines):
        axes.plot(x, y, color="black", linewidth=2.5, label="boundary of theory" if k == 0 else None)


def _hatch(axes: Axes, cells: np.ndarray) -> None:
    """Hatch the cells whose first component is not well defined."""
    from matplotlib.patches import Rectangle

    style: dict[str, Any] = {"facecolor": "none", "edgecolor": "0.7", "hatch": "///", "linewidth": 0.0}
    for row, column in np.argwhere(cells):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **style))
    axes.add_patch(Rectangle((-9, -9), 0, 0, label="eigenvalues within 10 %: not counted", **style))


def _marks(axes: Axes, motion: np.ndarray) -> None:
    for where, marker, label in ((motion, "o", "sample: motion first"), (~motion, "x", "sample: blur first")):
        rows, columns = np.nonzero(where)
        face = "white" if marker == "o" else "black"
        edge = "black" if marker == "o" else None
        axes.scatter(columns, rows, s=34, marker=marker, facecolor=face, edgecolor=edge, label=label, zorder=3)


def draw_speeds(result: GratingsResult) -> Figure:
    """Draw the mean outputs of both units against speed: for gratings of each wavelength, and for noise."""
    config, responses = result.config, result.responses
    m = config.n_speeds
    figure = _figure(10, 4)
    left, right = figure.subplots(1, 2)
    speeds = np.arange(1, 2 * m) / (4 * m)
    for k, length in enumerate(config.wavelengths):
        outputs = responses.to_gratings[0, k]
        left.plot(speeds, outputs[:, 0, 0], "-", color=f"C{k}", label=f"wavelength {length:g} pixels")
        left.plot(speeds, outputs[:, 0, 1], ":", color=f"C{k}")
    left.axvline(0.25, color="0.6", linewidth=1, zorder=0, label="a quarter of a wavelength")
    left.set(xlabel="speed [wavelengths per frame]", title="gratings moving right")
    speeds = responses.peak[0] * np.arange(1, m + 1) / m
    for way, name in enumerate(("right", "left")):
        right.plot(speeds, responses.to_noise[0, :, way, way], "o-", color=f"C{way}", label=f"moving {name}")
        right.plot(speeds, responses.to_noise[0, :, way, 1 - way], "o:", color=f"C{way}")
    right.set(xlabel="speed, to the population's peak [pixels per frame]", title="exponentially correlated noise")
    for axes in (left, right):
        axes.plot([], [], "k:", label="the other unit")
        axes.set_ylabel("mean output")
        axes.legend(fontsize=8, loc="upper left", ncols=2)
        axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
    return figure
