"""How the frame moves over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flymotion.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flymotion.detecting import Trace

__all__ = ["draw_trace"]

LEAST = (0.1, 0.05, 0.001)
"""Least reach of the panels' axes, so that nothing does not look like something."""

PANELS = ("translation [px/frame]", "rotation [deg/frame]\n(counter-clockwise +)", "looming [1/frame]\n(approaching +)")


def draw_trace(trace: Trace) -> Figure:
    """Draw translation, rotation and looming over time; lines end where a clip does or there is no answer.

    Parameters
    ----------
    trace : Trace
        Of :func:`flymotion.detecting.read_trace`.
    """
    timed = bool(np.isfinite(trace.time).all())
    t = trace.time if timed else trace.frame
    figure = new_figure(8.0, 5.6)
    panels = figure.subplots(len(PANELS), sharex=True)
    lines = {"x (right +)": trace.translation[:, 0], "y (down +)": trace.translation[:, 1]}
    for colour, (name, values) in zip(("C0", "C1"), lines.items(), strict=True):
        panels[0].plot(t, values, color=colour, linewidth=1, label=name)
    panels[1].plot(t, trace.rotation, color="C2", linewidth=1)
    panels[2].plot(t, trace.looming, color="C3", linewidth=1)
    for axes, label, least in zip(panels, PANELS, LEAST, strict=True):
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -least), max(high, least))
        axes.axhline(0, color="0.6", linewidth=0.6, zorder=0)
        axes.set_ylabel(label)
        for cut in t[trace.cut][1:]:
            axes.axvline(
                cut, color="0.6", linewidth=0.8, linestyle=":", label="cut" if cut == t[trace.cut][1] else None
            )
        axes.margins(x=0.01)
    figure.align_ylabels(panels)
    panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, borderaxespad=0.2)
    panels[-1].set_xlabel("time [s]" if timed else "frame")
    return figure
