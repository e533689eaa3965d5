"""One sheet of figures: scores of all learners in all worlds, and each learner's accuracy as it is given more pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.contest.learners import entry
from flymotion.contest.scoring import NAMED
from flymotion.plots.canvas import MISSING, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.contest.competing import Contest

__all__ = ["draw_contest"]

N_COLUMNS = 6
"""Panels of learners in a row."""

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#222222")
"""Of worlds; told apart by those who see few colours, too (P. Tol's bright scheme)."""

SCORES = "cividis"
"""Colours of scores, from 0 to 1."""


def draw_contest(contest: Contest) -> Figure:
    """Draw the sheet: learners by worlds, a panel a measure; below, a panel a learner, a line a world."""
    config = contest.config
    n_rows = math.ceil(len(config.learners) / N_COLUMNS)
    above = 0.24 * len(config.learners) + 1.5
    figure = new_figure(15.0, above + 1.6 * n_rows + 0.8)
    parts: Any = figure.subfigures(2, 1, height_ratios=[above, 1.6 * n_rows + 0.8])
    top, bottom = parts
    measures = _measures(contest)
    panels = top.subplots(1, len(measures), squeeze=False)[0]
    for k, (axes, (title, values, told)) in enumerate(zip(panels, measures.values(), strict=True)):
        _scores(axes, contest, title, values, told, named=k == 0)
    curves = bottom.subplots(n_rows, N_COLUMNS, squeeze=False, sharex=True, sharey=True)
    for axes in curves.flat[len(config.learners) :]:
        axes.set_axis_off()
    for k, name in enumerate(config.learners):
        _curve(curves.flat[k], contest, name, below=k + N_COLUMNS >= len(config.learners))
    for axes in curves[:, 0]:
        axes.set_ylabel("accuracy", fontsize=8)
    handles, labels = curves.flat[0].get_legend_handles_labels()
    style: dict[str, Any] = {"loc": "outside lower center", "fontsize": 8, "frameon": False}
    bottom.legend(handles, labels, ncols=len(labels), **style)
    return figure


def _measures(contest: Contest) -> dict[str, tuple[str, np.ndarray, np.ndarray]]:
    """Return titles, shares from 0 to 1 that colours show, and what is written, each (n_learners, n_worlds)."""
    config = contest.config

    def medians(measure: str, **which: Any) -> np.ndarray:
        return np.array(
            [[contest.median(w, name, measure, **which) for w in config.worlds] for name in config.learners]
        )

    def shares(title: str, values: np.ndarray) -> tuple[str, np.ndarray, np.ndarray]:
        return title, values, np.array([["" if np.isnan(v) else f"{v:.2f}" for v in row] for row in values])

    shown = {
        "match": shares("match, worst parameter", medians("match_least")),
        "accuracy": shares("accuracy", medians("accuracy")),
        "needed": _needed(contest),
        "velocity": shares("velocity correlation", medians("velocity")),
    }
    noisy = {f"{snr}": shares(f"accuracy, {snr:g} dB", medians("accuracy", snr=snr)) for snr in config.snrs}
    return shown | noisy


def _needed(contest: Contest) -> tuple[str, np.ndarray, np.ndarray]:
    config = contest.config
    needed = [[contest.pairs_needed(world, name) for world in config.worlds] for name in config.learners]
    order = {n: 1 - k / len(config.n_pairs) for k, n in enumerate(config.n_pairs)}
    told = [["never" if n is None else f"{n / 1000:g}k" if n >= 1000 else str(n) for n in row] for row in needed]
    return (
        f"pairs until accuracy {NAMED}",
        np.array([[0.0 if n is None else order[n] for n in row] for row in needed]),
        np.array(told),
    )


def _scores(axes: Axes, contest: Contest, title: str, values: np.ndarray, told: np.ndarray, *, named: bool) -> None:
    import matplotlib

    config = contest.config
    colours = matplotlib.colormaps[SCORES].with_extremes(bad=MISSING)
    axes.imshow(np.ma.masked_invalid(values), cmap=colours, vmin=0, vmax=1, aspect="auto")
    for (row, column), text in np.ndenumerate(told):
        ink = "black" if values[row, column] > 0.6 else "white"
        axes.text(column, row, text, ha="center", va="center", fontsize=6, color=ink)
    axes.set_xticks(range(len(config.worlds)), list(config.worlds), rotation=60, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(config.learners)), _labels(contest) if named else [])
    axes.tick_params(length=0, labelsize=8)
    axes.set_title(title, fontsize=9)
    for row in range(1, len(config.learners)):
        if entry(config.learners[row]).null != entry(config.learners[row - 1]).null:
            axes.axhline(row - 0.5, color="white", linewidth=2)


def _labels(contest: Contest) -> list[str]:
    """Return names of learners, with what is said of their outputs and synapses."""
    of = {name: entry(name) for name in contest.config.learners}
    local = {name for name, each in of.items() if each.local == "yes" and not each.null}
    return [f"{name}{' ±' if of[name].signed else ''}{' (local)' if name in local else ''}" for name in of]


def _curve(axes: Axes, contest: Contest, name: str, *, below: bool) -> None:
    config = contest.config
    for k, world in enumerate(config.worlds):
        found = [contest.median(world, name, "accuracy", n_pairs=n) for n in config.n_pairs]
        axes.plot(config.n_pairs, found, color=COLOURS[k % len(COLOURS)], label=world, linewidth=1.2, marker=".")
    axes.axhline(NAMED, color=MISSING, linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.03)
    axes.set_title(name, fontsize=9, style="italic" if entry(name).null else "normal")
    axes.tick_params(labelsize=7, labelbottom=below)
    if below:
        axes.set_xlabel("pairs", fontsize=8)
