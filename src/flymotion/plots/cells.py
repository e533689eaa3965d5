"""Figure of C30: detectors learned from video beside recorded cells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit
from flymotion.plots.panels import add_legend, share_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.claims.cells import Result
    from flymotion.generators import Generators

__all__ = ["draw_cells"]

KINDS = {"a": ("left", 180.0), "b": ("right", 0.0), "c": ("up", 90.0), "d": ("down", 270.0)}
"""Subtypes of T4 and T5, and what they prefer [deg]."""


def draw_cells(result: Result) -> Figure:
    """Draw each cell's direction tuning beside what was learned, and the filters of the first video and seed.

    Of every video the mean over seeds, and the range of the seeds; of each filter the weights of the middle pixel's
    change onto the intensities, as they were learned, on whitened frames.
    """
    figure = new_figure(10.5, 7.6)
    grid = figure.subplots(3, 4)
    panels = list(grid[:2].flat)
    first = next(iter(result.tuned.values()))[0]
    for axes, cell in zip(panels, first.beside.cell.values.tolist(), strict=True):
        _draw_cell(axes, result, cell)
    share_labels(panels, 4)
    _draw_middle_rows(figure, grid[2], first.generators)
    add_legend(figure, panels)
    return figure


def _draw_cell(axes: Axes, result: Result, cell: str) -> None:
    first = next(iter(result.tuned.values()))[0].beside.sel(cell=cell)
    for k, (video, tuned) in enumerate(result.tuned.items()):
        curves = np.array([one.beside.model.sel(cell=cell).values for one in tuned])
        axes.plot(first.direction, curves.mean(axis=0), color=f"C{k}", label=f"learned, {Path(video).stem} video")
        axes.fill_between(
            first.direction, curves.min(axis=0), curves.max(axis=0), color=f"C{k}", alpha=0.25, linewidth=0
        )
    axes.plot(first.direction, first.recording, color="black", marker=".", linewidth=1.2, label="recorded")
    axes.plot(first.direction, first.cosine, color="0.6", linestyle=":", label="rectified cosine")
    axes.set_title(cell, fontsize=10)
    axes.set_xticks(range(0, 361, 90))
    axes.set(xlim=(-12, 342), ylim=(-0.03, 1.05), xlabel="direction of motion [deg]", ylabel="response / largest")


def _draw_middle_rows(figure: Figure, panels: np.ndarray, generators: Generators) -> None:
    rows, directions = generators.rows(), generators.directions()
    limit = symmetric_limit(rows)
    style: dict[str, Any] = {"cmap": signed_colours(), "vmin": -limit, "vmax": limit, "interpolation": "nearest"}
    for axes, (kind, (name, preferred)) in zip(panels, KINDS.items(), strict=True):
        nearest = int(np.argmax(np.cos(np.radians(directions - preferred))))
        image = axes.imshow(rows[nearest], **style)
        axes.set_title(f"filter like {kind}: {name}", fontsize=10)
        axes.set_xticks(range(rows.shape[2]), [str(i + 1) for i in range(rows.shape[2])])
        axes.set_yticks(range(rows.shape[1]), [str(i + 1) for i in range(rows.shape[1])])
        axes.tick_params(length=0, labelsize=7)
        axes.set_xlabel("intensity, column", fontsize=8)
    panels[0].set_ylabel("intensity, row", fontsize=8)
    figure.colorbar(image, ax=list(panels), label="weight of the\nmiddle pixel's change", aspect=12)
