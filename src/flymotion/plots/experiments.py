"""Figures of the experiments: each draws the result of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import new_figure
from flymotion.plots.filter_sheets import draw_filters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.claims.figure2 import Result as Figure2Result
    from flymotion.claims.gratings import Result as GratingsResult
    from flymotion.claims.optics import Result as OpticsResult

__all__ = ["draw_figure2", "draw_motion_map", "draw_speeds"]


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


def draw_motion_map(result: OpticsResult) -> Figure:
    """Draw where each feature learns motion: theory as colour and boundary, samples as marks, features side by side."""
    from flymotion.claims.optics import GAP

    figure = new_figure(11, 4.6)
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
    figure = new_figure(10, 4)
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
