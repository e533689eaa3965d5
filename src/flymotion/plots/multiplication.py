"""Figure of C31: what multiplies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flymotion.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flymotion.claims.multiplication import Result

__all__ = ["draw_products"]


def draw_products(result: Result) -> Figure:
    """Draw what the product of change and intensity explains of each unit's output: mean and range of the seeds."""
    from flymotion.claims.multiplication import STIMULI, UNITS

    figure = new_figure(10, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (shown, found) in zip(panels, result.shares.items(), strict=True):
        bars = {
            "variance of one unit": found.single,
            "variance of unit less mirror image": found.opponent,
            "difference of means, motion right and left": found.made / found.selectivity.mean(axis=0),
        }
        for k, (label, values) in enumerate(bars.items()):
            mean = values.mean(axis=0)
            x = np.arange(len(UNITS)) + 0.27 * (k - 1)
            spread = np.abs(np.stack([values.min(axis=0), values.max(axis=0)]) - mean)
            axes.bar(x, mean, 0.25, yerr=spread, color=f"C{k}", label=label, error_kw={"linewidth": 1})
            for place, height, top in zip(x, mean, values.max(axis=0), strict=True):
                axes.text(place, max(top, 0) + 0.02, f"{height:.2f}", ha="center", va="bottom", fontsize=8)
        axes.set_xticks(
            range(len(UNITS)), [name.replace(" (", "\n(").replace("fied s", "fied\ns") for name in UNITS.values()]
        )
        axes.set_title(STIMULI[shown], fontsize=10)
    panels[0].set_ylabel("share that only the product explains")
    panels[0].set_ylim(0, 1.35)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    return figure
