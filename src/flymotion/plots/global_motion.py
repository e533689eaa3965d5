"""Figures of C17, C18 and C19: contrast, oscillations, velocity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from flymotion.claims.global_motion import Result

__all__ = ["draw_contrast_response", "draw_oscillations", "draw_velocity_tuning"]

LABELS = {"three-pixel": "three-pixel", "hrd": "HRD", "L1": "learned in L1", "L2": "learned in L2"}

MARKERS = {"three-pixel": "o", "hrd": "x", "L1": "s", "L2": "+"}
"""Open ones within each other, for curves that lie on each other."""


def _style(name: str) -> dict[str, Any]:
    size = {"three-pixel": 10, "hrd": 9, "L1": 6, "L2": 11}[name]
    return {"marker": MARKERS[name], "markersize": size, "markerfacecolor": "none", "linestyle": "none"}


def draw_contrast_response(result: Result) -> Figure:
    """Draw the summed output against contrast, without and with normalisation before the detector; first seeds."""
    from flymotion.claims.global_motion import slopes

    config = result.config
    figure = new_figure(6.4, 4.8)
    axes = figure.subplots()
    for k, stage in enumerate(("signals as they are", "signals normalised")):
        for name, measured in result.measured.items():
            curve = measured.contrast[0, k, :, 0]
            axes.loglog(config.contrasts, curve / curve[0], color=f"C{k}", **_style(name))
        axes.loglog(config.contrasts, curve / curve[0], color=f"C{k}", linewidth=1, label=stage)
        found = slopes(config, measured)[0, k]
        style: dict[str, Any] = {"textcoords": "offset points", "color": f"C{k}"}
        low, high = f"slope {found[0]:.2f}", f"slope {found[-1]:.2f}"
        axes.annotate(low, (config.contrasts[0], 1.0), xytext=((0, 18), (16, -6))[k], ha=("center", "left")[k], **style)
        axes.annotate(high, (config.contrasts[-1], curve[-1] / curve[0]), xytext=(-8, 12), ha="right", **style)
    for name in result.measured:
        axes.plot([], [], color="black", label=LABELS[name], **_style(name))
    axes.set(xlabel="contrast (Michelson)", ylabel="mean output, relative to the least contrast")
    axes.set_title(f"grating of {config.wavelength:g} deg, 1 Hz; slopes at both ends", fontsize=10)
    axes.margins(0.12)
    axes.legend(fontsize=8, loc="upper left")
    return figure


def draw_oscillations(result: Result) -> Figure:
    """Draw outputs at one position in time, at mean luminances 0 and 1, and their mean over two wavelengths."""
    from flymotion.claims.global_motion import DT, READINGS, TAU

    config = result.config
    figure = new_figure(10, 6)
    panels = list(figure.subplots(2, 2, sharex=True).flat)
    for axes, (name, measured) in zip(panels, result.measured.items(), strict=True):
        course = measured.course[0] / measured.course[0, 2].mean(axis=0)
        time = DT * np.arange(course.shape[1])
        for k, reading in zip(range(course.shape[2]), READINGS.values(), strict=False):
            reading = "one detector, or whole learned patch" if k == 0 else reading
            axes.plot(time, course[0, :, k], color=f"C{k}", linewidth=5, alpha=0.35, label=f"{reading}, luminance 0")
            axes.plot(time, course[1, :, k], color=f"C{k}", linewidth=1.5, label=f"{reading}, luminance 1")
        axes.plot(time, course[2, :, 0], "--", color="black", linewidth=1, label="mean over two wavelengths")
        axes.axhline(0, color="0.8", linewidth=1, zorder=0)
        axes.set_title(LABELS[name], fontsize=10)
        axes.set_ylabel("output over its mean")
    for axes in panels[2:]:
        axes.set_xlabel("time [s]")
    figure.legend(*panels[-1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"grating of {config.wavelength:g} deg, {config.frequencies[0]:g} Hz, delay {TAU:g} s", fontsize=11)
    return figure


def draw_velocity_tuning(result: Result) -> Figure:
    """Draw the summed output against velocity for each wavelength, and the best velocity against wavelength."""
    figure = new_figure(12, 4.2)
    left, middle, right = figure.subplots(1, 3)
    for axes, name in ((left, "three-pixel"), (middle, "L1")):
        _curves(axes, result, name)
    _peaks(right, result)
    return figure


def _curves(axes: Axes, result: Result, name: str) -> None:
    config = result.config
    for k, length in enumerate(config.wavelengths):
        for f, line in enumerate((":", "-")):
            curve = result.measured[name].velocity[0, f, k, :, 0]
            label = f"{length:g} deg" if line == "-" else None
            axes.semilogx(config.velocities, curve / curve.max(), line, color=f"C{k}", label=label)
    for line, filter in (("-", "low-pass"), (":", "delay line")):
        axes.plot([], [], f"k{line}", label=filter)
    axes.axhline(0, color="0.8", linewidth=1, zorder=0)
    axes.set(
        xlabel="velocity [deg/s]",
        ylabel="mean output over its largest",
        title=LABELS[name],
        ylim=(-1.15, 1.15),
    )
    axes.legend(fontsize=8, loc="lower left", title="wavelength", title_fontsize=8)


def _peaks(axes: Axes, result: Result) -> None:
    from flymotion.claims.global_motion import FILTERS, peak_velocities

    config = result.config
    lengths = np.array([0.0, 1.08 * max(config.wavelengths)])
    forms = {"delay": "wavelength / (4 tau)", "low-pass": "wavelength / (2 pi tau)"}
    for k, (filter, (_, _, peak)) in enumerate(FILTERS.items()):
        axes.plot(lengths, peak * lengths, color=f"C{k}", linewidth=1, label=f"{filter}: {forms[filter]}")
    for name, measured in result.measured.items():
        peaks = peak_velocities(config, measured)[0]
        for k in range(len(FILTERS)):
            axes.plot(config.wavelengths, peaks[k], color=f"C{k}", **_style(name))
        axes.plot([], [], color="black", label=LABELS[name], **_style(name))
    axes.set(xlabel="wavelength [deg]", ylabel="best velocity [deg/s]", title="velocity of the largest output")
    axes.set_xlim(0, lengths[1])
    axes.set_ylim(0, None)
    axes.legend(fontsize=8, loc="upper left")
