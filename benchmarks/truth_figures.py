"""The figures of docs/accuracy.md: error against time, against the size of the motion, against what spoils frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pareto import Figures
from truth_cases import CRFS, NOISES, PHOTONS, SIZES, cases
from truth_methods import LABELS, NAMED, PRESETS, SPEEDS

from flymotion.plots.canvas import new_figure, new_panels

MARKS = dict(zip(LABELS, "v 1 o 2 D v s D ^".split(), strict=True))
SHADES = dict(zip(LABELS, (0.45, 0.45, 1.0, 1.0, 0.7, 0.45, 0.7, 1.0, 1.0), strict=True))

LEAST = 1e-3
"""Errors are drawn no smaller [px]: those of a still scene may be 0."""


def style(method: str) -> dict[str, Any]:
    colour = "C3" if method in SPEEDS else "C7" if method == "farneback" else "C0"
    line = "-" if method in NAMED else "--" if method.startswith("dis") else ":"
    return {
        "color": colour,
        "alpha": SHADES[method],
        "marker": MARKS[method],
        "linestyle": line,
        "markersize": 5,
        "label": LABELS[method],
    }


def ticked(axis: Any, values: Sequence[float]) -> None:
    """Name these values alone on an axis that is logarithmic."""
    axis.set_ticks(values, [f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)


def show_errors(axes: Any, values: Sequence[float]) -> None:
    """Show errors over a decade or more, so that small differences look small."""
    middle = np.sqrt(min(values) * max(values))
    reach = max(np.sqrt(10), 1.3 * np.sqrt(max(values) / min(values)))
    axes.set_ylim(middle / reach, middle * reach)
    steps = np.multiply.outer([0.001, 0.01, 0.1, 1, 10, 100], [1] if reach > 20 else [1, 2, 5]).ravel()
    ticked(axes.yaxis, [v for v in steps if middle / reach <= v <= middle * reach])


# -- error against time ------------------------------------------------------------------------------------------------


def draw_pareto(found: dict[str, Figures], time: str) -> Any:
    """Draw, of each kind of case, the geometric mean of its errors at the median of its times, "ms" or "ms_own"."""
    kinds = list(dict.fromkeys(cases()[name].kind for name in found))
    figure, panels = new_panels(len(kinds), 4, (2.7, 2.3), margins=(0.6, 1.0))
    for axes, kind in zip(panels, kinds, strict=True):
        of_kind = [figures for name, figures in found.items() if cases()[name].kind == kind]
        places = {method: mean_place(of_kind, method, time) for method in of_kind[0]}
        small = [name for name in SPEEDS if name not in NAMED]
        for group, line in ((NAMED, "C3-"), (small, "C3:"), (PRESETS[:3], "C0--")):
            if group[0] in places:
                axes.plot(*zip(*(places[method] for method in group), strict=True), line, alpha=0.5)
        for method, place in places.items():
            axes.plot(*place, **style(method) | {"linestyle": "none", "markersize": 6})
        axes.set(xscale="log", yscale="log", title=f"{kind} ({len(of_kind)})")
        axes.title.set_fontsize(9)
        axes.grid(alpha=0.3)
        show_errors(axes, [place[1] for place in places.values()])
    share_times(panels)
    frames = {"ms": "960 x 720 pixels", "ms_own": "the cases' own frames"}[time]
    figure.supxlabel(f"time of {frames}, two threads, median [ms]", fontsize=10)
    figure.supylabel("mean end-point error, geometric mean of cases [px]", fontsize=10)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=7, fontsize=8)
    return figure


def mean_place(of_kind: Sequence[Figures], method: str, time: str) -> tuple[float, float]:
    found = [figures[method] for figures in of_kind]
    error = np.exp(np.mean(np.log([max(each.error, LEAST) for each in found])))
    return float(np.median([getattr(each, time) for each in found])), float(error)


def share_times(panels: Sequence[Any]) -> None:
    times = [axes.dataLim.intervalx for axes in panels]
    low, high = np.min(times) / 1.3, np.max(times) * 1.3
    for axes in panels:
        axes.set_xlim(low, high)
        ticked(axes.xaxis, [v for v in (0.1, 0.3, 1, 3, 10, 30, 100, 300) if low <= v <= high])


# -- error against one thing -------------------------------------------------------------------------------------------


def curves(axes: Any, found: dict[str, Figures], name: str, values: Sequence[float]) -> None:
    """Draw each method's errors of the cases that a name is of with each value put in."""
    names, drawn = [name.format(value) for value in values], []
    axes.set(yscale="log")
    for method in LABELS:
        if all(method in found.get(each, {}) for each in names):
            drawn.append([max(found[each][method].error, LEAST) for each in names])
            axes.plot(values, drawn[-1], **style(method))
    if drawn:
        show_errors(axes, np.ravel(drawn))
    axes.grid(alpha=0.3)


def draw_sizes(found: dict[str, Figures]) -> Any:
    noises = (0, 2, 10)
    figure = new_figure(12, 4.6)
    panels = figure.subplots(1, 3)
    for axes, noise in zip(panels, noises, strict=True):
        curves(axes, found, f"translation.{{:g}}px.noise-{noise}", SIZES)
        axes.plot(SIZES, SIZES, color="0.6", linewidth=0.8, label="no motion seen")
        axes.set_ylim(0.005, 100)
        ticked(axes.yaxis, (0.01, 0.1, 1, 10, 100))
        axes.set(xscale="log", xlabel="motion [px]", title=f"noise of {noise} grey levels")
        ticked(axes.xaxis, SIZES)
        axes.tick_params("x", labelsize=8)
    panels[0].set_ylabel("mean end-point error [px]")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=8, fontsize=8)
    return figure


def draw_noises(found: dict[str, Figures]) -> Any:
    figure = new_figure(12, 4.3)
    panels = figure.subplots(1, 3)
    curves(panels[0], found, "translation.0.25px.noise-{:g}", NOISES)
    panels[0].set(title="0.25 px a frame, noise", xlabel="noise, standard deviation [grey levels]")
    curves(panels[1], found, "dim.0.5px.photons-{:g}", PHOTONS)
    panels[1].set(title="0.5 px a frame, in little light", xlabel="photons a pixel", xscale="log")
    panels[1].invert_xaxis()
    ticked(panels[1].xaxis, PHOTONS)
    curves(panels[2], found, "codec.0.5px.crf-{:g}", CRFS)
    panels[2].set(title="0.5 px a frame, through H.264", xlabel="constant rate factor", xticks=CRFS)
    panels[0].set_ylabel("mean end-point error [px]")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=7, fontsize=8)
    return figure
