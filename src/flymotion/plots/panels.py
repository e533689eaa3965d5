"""What figures of several panels share: one scale for what has one label, one legend, a title that fits."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import symmetric_limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ROUNDING", "add_legend", "add_title", "largest", "share_labels"]

ROUNDING = 1e-12
"""Responses below this, in the unit of the detector, are nothing but rounding, and are drawn as 0."""


def largest(responses: Any) -> float:
    """Return the largest size of a response, or 1 where all are 0 but for rounding."""
    limit = symmetric_limit(responses)
    return limit if limit > ROUNDING else 1.0


def share_labels(panels: Sequence[Axes], n_columns: int) -> None:
    """Give panels of one label one scale, and leave out labels that the panel to the left or below has."""
    labels = [axes.get_ylabel() for axes in panels]
    for k, axes in enumerate(panels):
        low, high = np.transpose([p.get_ylim() for p, label in zip(panels, labels, strict=True) if label == labels[k]])
        ends = float(low.min()), float(high.max())
        axes.set_ylim(ends if max(map(abs, ends)) > ROUNDING else (-1, 1))
        if k % n_columns and labels[k] == labels[k - 1]:
            axes.set_ylabel("")
            axes.tick_params(axis="y", which="both", labelleft=False)
            axes.yaxis.get_offset_text().set_visible(False)
        if k + n_columns < len(panels):
            axes.set_xlabel("")
            axes.tick_params(axis="x", which="both", labelbottom=False)


def add_legend(figure: Figure, panels: Sequence[Axes]) -> None:
    """Add one legend below all panels, of what any of them has."""
    found = [pair for axes in panels for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    handles = {label: handle for handle, label in reversed(found)}
    labels = list(dict.fromkeys(label for _, label in found))
    if labels:
        n = max(1, int(figure.get_figwidth() * 16 / (max(map(len, labels)) + 8)))
        style: dict[str, Any] = {"loc": "outside lower center", "fontsize": 8, "handlelength": 3, "frameon": False}
        figure.legend([handles[label] for label in labels], labels, ncols=min(n, len(labels)), **style)


def add_title(figure: Figure, title: str) -> None:
    """Add a title over all panels, broken where it would be wider than the figure."""
    figure.suptitle("\n".join(textwrap.wrap(title, int(figure.get_figwidth() * 11.5))), fontsize=10)
