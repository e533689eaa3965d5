"""Figures of the starts: how many seeds succeed, filters before and after, what noise leaves (C37)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flymotion.claims.running import Found
from flymotion.claims.starts.flat_eyes import PLANES
from flymotion.claims.starts.lines import RATIOS
from flymotion.claims.starts.raising import wilson
from flymotion.claims.worlds import WORLDS
from flymotion.plots.canvas import new_figure
from flymotion.plots.filter_sheets import draw_filters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["filters", "noise", "shares"]

LINE = {
    "random": "random filters",
    "inhibited": "random, inhibition first",
    "waves": "random, waves first",
    "four_random": "4 random, pruned",
    "eight_random": "8 random, pruned",
    "misplaced": "a synapse anywhere",
    "round": "dendrites to both sides",
    "sides": "2 dendrites, sides at random",
    "four_sides": "4 dendrites, pruned",
    "eight_sides": "8 dendrites, pruned",
    "looser": "opposite dendrites, scatter 2",
    "loose": "opposite dendrites, scatter 1",
    "oriented": "opposite dendrites, scatter 0.3",
    "signed": "opposite dendrites, both signs",
}

PLANE = {
    "random": "random filters",
    "sides": "dendrites, sides at random",
    "crowd": "4 times as many, pruned",
    "loose": "a dendrite a side, scatter 1",
    "oriented": "a dendrite a side, scatter 0.3",
}

DRAWN = {"random": "random", "round": "both sides", "oriented": "opposite"}


def shares(found: Found) -> Figure:
    """Draw the share of seeds that succeed from each start, with Wilson's interval of 95 %."""
    figure = new_figure(11.0, 4.6)
    line, plane = figure.subplots(1, 2)
    for k, world in enumerate(WORLDS):
        successes = {key: _in_world(found[world], key) for key in LINE}
        _draw_shares(line, successes, (k - 0.5) * 0.24, f"C{k}", world)
    for k, name in enumerate(PLANES):
        successes = {key: found[name][key].learned.found for key in PLANE}
        n = len(PLANES[name].angles)
        words = f"{type(PLANES[name].eye).__name__.lower()}, {n} directions"
        _draw_shares(plane, successes, (k - 1) * 0.2, f"C{k + 2}", words)
    for axes, names, title in ((line, LINE, "a line, two directions"), (plane, PLANE, "a plane")):
        axes.set_yticks(range(len(names)), list(names.values()), fontsize=8)
        axes.set(xlim=(-0.03, 1.03), xlabel="share of seeds that find all directions")
        axes.set_title(title, fontsize=10)
        axes.grid(axis="x", color="0.9")
        axes.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.08), ncols=3, frameon=False)
    return figure


def _in_world(found: Found, key: str) -> np.ndarray:
    return found["main"][key].learned.found


def _draw_shares(axes: Axes, successes: dict[str, np.ndarray], off: float, colour: str, label: str) -> None:
    for row, each in enumerate(successes.values()):
        axes.plot(wilson(each), [row + off] * 2, color=colour, linewidth=1.5)
        axes.plot(each.mean(), row + off, "o", color=colour, markersize=4, label=label if row == 0 else None)


def filters(found: Found) -> Figure:
    """Draw filters of three starts in L2, before and after, of the first seed."""
    drawn, titles = list[np.ndarray](), list[str]()
    for key, words in DRAWN.items():
        for part, read in zip(("start", "learned"), found["L2"]["main"][key], strict=True):
            drawn.extend(read.filters[0])
            titles.extend(f"{words}, {part}:\nmost like {way}" for way in ("right", "left"))
    return draw_filters(
        np.array(drawn), titles, n_columns=4, suptitle="L2, first seed: filters of norm 1, whitened frames"
    )


def noise(found: Found) -> Figure:
    """Draw what single pairs tell under noise of the sensors: before learning, after it, and what there is to tell."""
    figure = new_figure(9.0, 3.6)
    panels = figure.subplots(1, len(WORLDS), sharey=True)
    for axes, world in zip(panels, WORLDS, strict=True):
        heard = [found[world]["few"][f"noise_{ratio}"] for ratio in RATIOS]
        curves = {
            "Bayes": ([found[world]["best"][str(ratio)] for ratio in RATIOS], "k:"),
            "labelled means": ([each["labelled"].accuracy.mean() for each in heard], "C2s:"),
            "population's filter, no noise": ([each["population"].accuracy.mean() for each in heard], "k--"),
            "dendrites, start": ([each["oriented"].start.accuracy.mean() for each in heard], "C0o--"),
            "dendrites, learned": ([each["oriented"].learned.accuracy.mean() for each in heard], "C0o-"),
            "random, learned": ([each["random"].learned.accuracy.mean() for each in heard], "C1o-"),
        }
        for label, (shares, style) in curves.items():
            axes.plot(RATIOS, shares, style, label=label, markersize=4)
        axes.axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
        axes.set_xticks(RATIOS)
        axes.set(xlabel="signal to noise [dB]", title=world)
    panels[0].set_ylabel("share of pairs named")
    panels[0].legend(fontsize=8)
    return figure
