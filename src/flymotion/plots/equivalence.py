"""Figures of C4, three pixels for the filter, and of C16 and C20, detectors equal in sum and unlike one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.claims.cartoon import Approximation
    from flymotion.claims.cartoon import Result as CartoonResult
    from flymotion.claims.equivalence import Result as EquivalenceResult

__all__ = ["draw_cartoon", "draw_equivalence"]

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


def draw_cartoon(result: CartoonResult) -> Figure:
    """Draw a filter learned in L1, the same cut to three pixels, the outputs of both, and who tells direction."""
    figure = new_figure(12, 7.2)
    halves: Any = figure.subfigures(2, 1)
    upper, lower = halves
    whole, cut, *scatters = upper.subplots(1, 2 + len(result.worlds))
    A = result.worlds["L1"].filter[0]
    near = np.triu(np.tril(np.ones_like(A), 1), -1) > 0
    limit = symmetric_limit(A)
    for axes, shown, title in ((whole, A, "learned filter"), (cut, np.where(near, A, 0), "its three central pixels")):
        image = axes.imshow(shown, cmap=signed_colours(), vmin=-limit, vmax=limit)
        ticks = range(len(A)), [str(k + 1) for k in range(len(A))]
        axes.set_xticks(*ticks)
        axes.set_yticks(*ticks)
        axes.set(title=title, xlabel="intensity at pixel", ylabel="change at pixel")
    upper.colorbar(image, ax=[whole, cut], label="weight (whitened frames, L1)", shrink=0.8)
    for axes, (world, found) in zip(scatters, result.worlds.items(), strict=True):
        _scatter(axes, found, world, result.config.sizes[0])
    _accuracies(lower.subplots(), result)
    return figure


def _scatter(axes: Axes, found: Approximation, world: str, n: int) -> None:
    """Draw the cut filter's outputs against the whole one's, the middle 98 % of pairs."""
    whole, three = found.outputs[0]
    limits = [float(np.quantile(np.abs(each), 0.98)) for each in (whole, three)]
    axes.plot(whole, three, ".", markersize=3, alpha=0.5)
    axes.set(xlim=(-limits[0], limits[0]), ylim=(-limits[1], limits[1]))
    axes.axhline(0, color="0.8", linewidth=1, zorder=0)
    axes.axvline(0, color="0.8", linewidth=1, zorder=0)
    axes.set_title(f"{world}, n = {n}\ncorrelation {found.correlations[0, 0, 0]:.3f}", fontsize=10)
    axes.set(xlabel="output of the whole filter", ylabel="of three pixels a row")


def _accuracies(axes: Axes, result: CartoonResult) -> None:
    """Draw shares of pairs told, means and 95 % intervals over scenes, for each detector at one centre."""
    from flymotion.claims.cartoon import DETECTORS, interval

    places = np.arange(len(DETECTORS))
    style: dict[str, Any] = {"markersize": 6, "linestyle": "none", "capsize": 4}
    for k, (world, marker) in enumerate(zip(result.worlds, "os", strict=True)):
        accuracies = result.worlds[world].accuracies
        ends = np.array([interval(accuracies[..., d]) for d in range(len(DETECTORS))])
        mean = ends.mean(axis=1)
        axes.errorbar(places + 0.16 * k - 0.08, mean, yerr=mean - ends[:, 0], marker=marker, label=world, **style)
    for edge in (2.5, 5.5):
        axes.axvline(edge, color="0.8", linewidth=1)
    axes.axhline(0.5, color="0.6", linewidth=1, linestyle=":", label="chance")
    axes.set_xticks(places, [name.replace(", ", "\n") for name in DETECTORS])
    axes.set(ylabel="share of pairs whose direction is told", ylim=(0.45, 1.02))
    axes.set_title("best detectors at one centre, of three pixels and of two (95 % intervals over scenes)")
    axes.legend(loc="lower left")
