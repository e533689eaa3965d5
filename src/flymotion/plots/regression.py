"""Figure of C33: velocity from a correlation and from a ridge regression, in more and more noise."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from flymotion.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.claims.regression import Result as RegressionResult

__all__ = ["draw_regression"]

NAMES = {"derivative": "central difference", "matched": "operator matched to the noise"}


def draw_regression(result: RegressionResult) -> Figure:
    """Draw the errors of both estimators, and their ratio, against the signal-to-noise ratio: mean and range of seeds.

    Parameters
    ----------
    result : Result
        Of :func:`flymotion.claims.regression.run`.
    """
    from flymotion.claims.regression import OPERATORS

    snrs, errors = np.array(result.config.snrs), result.errors
    figure = new_figure(10, 4.4)
    left, right = figure.subplots(1, 2, sharex=True)
    for k, name in enumerate(OPERATORS):
        colour = f"C{k}"
        _curve(left, snrs, errors.correlation[:, k], "o-", colour, f"correlation, {NAMES[name]}")
        _curve(left, snrs, errors.ridge[:, k], "s--", colour, f"ridge regression, {NAMES[name]}")
        _curve(right, snrs, errors.correlation[:, k] / errors.ridge[:, k], "o-", colour, NAMES[name])
    _curve(left, snrs, errors.bayes, ":", "black", "posterior mean (Bayes)")
    left.set(ylabel="mean squared error / variance of motion", ylim=(0, 1.05))
    left.legend(fontsize=8, loc="lower left")
    right.axhline(1.05, color="0.6", linewidth=1, zorder=0, label="bound of C33 at -10 dB")
    right.set_ylabel("error of correlation / error of ridge regression")
    right.legend(fontsize=8, loc="upper left")
    to_change, back = (partial(np.add, shift) for shift in (result.change_snr, -result.change_snr))
    for axes in (left, right):
        axes.set_xlabel("signal-to-noise ratio of the intensity [dB]")
        upper = axes.secondary_xaxis("top", functions=(to_change, back))
        upper.set_xlabel("of the change from frame to frame [dB]")
    return figure


def _curve(axes: Axes, snrs: np.ndarray, values: np.ndarray, style: str, colour: str, label: str) -> None:
    """Draw the mean of the seeds, shape (n_seeds, n_snrs), and a band from the least to the most."""
    axes.plot(snrs, values.mean(axis=0), style, color=colour, label=label, markersize=4)
    axes.fill_between(snrs, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
