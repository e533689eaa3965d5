"""Figure of C16 and C20, detectors equal in sum and unlike one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flymotion.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.claims.equivalence import Result as EquivalenceResult

__all__ = ["draw_equivalence"]

TRIO = (("three-pixel", "C3", "-"), ("HRD", "C0", "--"), ("shared line", "C2", ":"))
"""Detectors of the same filters: name, colour, line."""


def draw_equivalence(result: EquivalenceResult) -> Figure:
    """Draw outputs of one detector of each kind, of their sums over a line, and the boundary's share of the sums."""
    from flymotion.claims.equivalence.movies import DT

    figure = new_figure(12, 5.6)
    grid = figure.add_gridspec(2, 3)
    outputs = result.singles.outputs[0]
    seconds = DT * np.arange(outputs.shape[-1])
    for row, scene in enumerate(("noise", "grating")):
        for column, what in enumerate(("one detector", "sum over 60 pixels")):
            axes = figure.add_subplot(grid[row, column])
            _lines(axes, seconds, outputs[row, column])
            axes.set(title=f"{scene}: {what}", xlabel="time [s]", ylabel="output [contrast squared]")
    first = figure.axes[0]
    first.set_ylim(top=1.35 * first.get_ylim()[1])
    first.legend(fontsize=8, ncols=3, loc="upper left")
    _shares(figure.add_subplot(grid[:, 2]), result)
    figure.suptitle("Supplement E: detectors with one delay, content moving right", fontsize=11)
    return figure


def _lines(axes: Axes, seconds: np.ndarray, outputs: np.ndarray) -> None:
    axes.axhline(0, color="0.8", linewidth=1)
    for output, (name, colour, style) in zip(outputs, TRIO, strict=True):
        axes.plot(seconds, output, style, color=colour, label=name, linewidth=2)


def _shares(axes: Axes, result: EquivalenceResult) -> None:
    """Draw the boundary's share against the field, log-log, and a line of slope -1."""
    from flymotion.claims.equivalence import boundary_shares

    fields, shares = np.array(result.config.fields), boundary_shares(result.fields)
    for share, name, marker in zip(shares, ("noise", "grating"), "os", strict=True):
        axes.loglog(fields, share, marker, label=name)
    middle = np.exp(np.log(shares[0] * fields).mean())
    axes.loglog(fields, middle / fields, color="0.6", label="slope -1")
    axes.set(title="boundary terms", xlabel="HRDs summed", ylabel="root mean square over the mean sum of HRDs")
    axes.legend(fontsize=8)
