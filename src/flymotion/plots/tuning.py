"""Figures of tuning: one experiment on one detector.

Solid lines and filled bars are motion in the preferred direction, dashed lines and empty bars in the null direction.
Where a scale has no place for negative responses, the radius of a polar plot and a logarithm, their size is drawn thin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.base import add_colour_bar, new_figure, new_panels, signed_colours, symmetric_limit
from flymotion.tuning.measures import round_the_circle

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["GUIDE", "PANELS", "SPEEDS", "draw_tuning"]

MOTION = {"preferred": "-", "null": "--"}
"""Lines of motion in either direction."""

GUIDE: dict[str, Any] = {"color": "0.6", "linewidth": 0.6, "zorder": 0}
"""Lines to compare with."""

SPEEDS = (4.0, 16.0, 64.0, 256.0)
"""Velocities whose contours maps have [deg/s]."""


def draw_tuning(tuning: xr.Dataset, name: str | None = None) -> Figure:
    """Draw the result of an experiment; one panel a unit where the detector has several.

    Parameters
    ----------
    tuning : Dataset
        Of :func:`flymotion.tuning.experiment`.
    name : str, optional
        Which experiment it is; by default what the result itself says.

    Raises
    ------
    ValueError
        An experiment that has no drawing.
    """
    name = tuning.attrs.get("experiment") if name is None else name
    if name not in PANELS:
        raise ValueError(f"there is no drawing of {name!r}; expected one of {', '.join(PANELS)}")
    draw, units = PANELS[name], _units(tuning)
    if name == "frequency":
        return _draw_maps(tuning, units)
    if name == "direction":
        figure = new_figure(4.6, 4.4)
        draw(figure.add_subplot(projection="polar"), tuning)
    else:
        figure, panels = new_panels(len(units), min(len(units), 3), (4.2, 3.2), margins=(0.6, 0.6))
        for axes, (title, part) in zip(panels, units.items(), strict=True):
            draw(axes, part)
            axes.set_title(title, fontsize=10)
            _legend(axes)
    figure.suptitle(f"{name}: {tuning.attrs.get('source', '')}".rstrip(": "), fontsize=10)
    return figure


def _units(tuning: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return the results of each unit by what it is called; of a detector without units, by nothing."""
    if "unit" not in tuning.dims:
        return {"": tuning}
    return {
        f"unit {k} ({float(tuning.preferred[k]):.0f} deg)": tuning.isel(unit=k) for k in range(tuning.sizes["unit"])
    }


def _legend(axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        low, high = axes.get_ylim()
        if axes.get_yscale() == "linear":
            axes.set_ylim(low, high + 0.05 * len(labels) * (high - low))
        axes.legend(handles, labels, fontsize=7, ncols=2, frameon=False)


def _label(tuning: xr.Dataset) -> str:
    units = tuning.response.attrs.get("units", "1")
    return "response" if units == "1" else f"response [{units}]"


def _course(axes: Axes, tuning: xr.Dataset) -> None:
    shown = tuning.course.where(tuning.time >= tuning.attrs["settle"] - 1e-9, drop=True)
    for motion, line in MOTION.items():
        axes.plot(shown.time, shown.sel(motion=motion), line, color="C0", label=motion)
    axes.axhline(0, **GUIDE)
    axes.set(xlabel="time [s]", ylabel=_label(tuning))


def _direction(axes: Any, tuning: xr.Dataset) -> None:
    units, turn = _units(tuning), np.arange(361.0)
    for k, (name, part) in enumerate(units.items()):
        r = round_the_circle(part.response.values, part.direction.values, turn)
        axes.plot(np.radians(turn), np.maximum(r, 0), color=f"C{k}", label=name or None)
        if (r < 0).any():
            axes.plot(np.radians(turn), np.maximum(-r, 0), "--", color=f"C{k}", linewidth=0.7)
    axes.set_rlim(0, symmetric_limit(tuning.response) * 1.05)
    axes.set_xticks(np.radians(range(0, 360, 45)))
    axes.set_rlabel_position(67.5)
    axes.tick_params(labelsize=8)
    axes.set_xlabel(f"direction of motion [deg]; radius: {_label(tuning)}, negative dashed", fontsize=8)
    if len(units) > 1:
        axes.legend(fontsize=7, loc="lower left", bbox_to_anchor=(0.95, 0.85), frameon=False)


def _map(axes: Axes, response: xr.DataArray, limit: float, *, labels: bool = True) -> Any:
    """Draw temporal frequency against wavelength, both logarithmic, with contours of constant velocity."""
    frequency, wavelength = response.temporal_frequency.values, response.wavelength.values
    values = response.transpose("temporal_frequency", "wavelength").values
    image = axes.pcolormesh(
        _borders(wavelength), _borders(frequency), values, cmap=signed_colours(), vmin=-limit, vmax=limit
    )
    axes.set(xscale="log", yscale="log")
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for speed in SPEEDS:
        axes.plot([left, right], [speed / left, speed / right], color="0.35", linewidth=0.5)
        if labels:
            x = np.sqrt(max(left, speed / high) * min(right, speed / low))
            ground = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5}
            axes.text(x, speed / x, f"{speed:g} deg/s", fontsize=6, ha="center", va="center", bbox=ground)
    axes.set(xlim=(left, right), ylim=(low, high))
    _ticks(axes.xaxis, wavelength)
    _ticks(axes.yaxis, frequency)
    return image


def _borders(centres: np.ndarray) -> np.ndarray:
    """Return the borders of cells about centres along a logarithmic axis."""
    if len(centres) == 1:
        return centres * np.array([0.7, 1.4])
    logs = np.log(centres)
    between = (logs[1:] + logs[:-1]) / 2
    return np.exp(np.concatenate([[2 * logs[0] - between[0]], between, [2 * logs[-1] - between[-1]]]))


def _ticks(axis: Any, values: np.ndarray) -> None:
    """Label a logarithmic axis at its first value and at every second octave from there."""
    from matplotlib.ticker import FixedLocator, NullLocator

    octaves = np.arange(0, np.log2(values[-1] / values[0]) + 1e-6, 2)
    places = values[0] * 2.0**octaves
    axis.set_major_locator(FixedLocator(places))
    axis.set_major_formatter(lambda x, _: f"{x:.3g}")
    axis.set_minor_locator(NullLocator())


def _draw_maps(tuning: xr.Dataset, units: Mapping[str, xr.Dataset]) -> Figure:
    """Draw maps of motion in both directions, one row a unit, on one colour scale."""
    figure, panels = new_panels(2 * len(units), 2, (3.4, 2.8), margins=(1.4, 0.6))
    limit = symmetric_limit(tuning.response)
    shows = [(title, motion, part) for title, part in units.items() for motion in MOTION]
    for axes, (title, motion, part) in zip(panels, shows, strict=True):
        image = _map(axes, part.response.sel(motion=motion), limit)
        axes.set_title(f"{title} {motion} direction".strip(), fontsize=9)
        axes.set(xlabel="wavelength [deg]", ylabel="temporal frequency [Hz]")
    add_colour_bar(figure, image, _label(tuning))
    figure.suptitle(f"frequency: {tuning.attrs.get('source', '')}", fontsize=10)
    return figure


def _frequency(axes: Axes, tuning: xr.Dataset) -> None:
    response = tuning.response.sel(motion="preferred")
    _map(axes, response, symmetric_limit(response), labels=False)
    axes.set(xlabel="wavelength [deg]", ylabel="temporal freq. [Hz]")


def _velocity(axes: Axes, tuning: xr.Dataset) -> None:
    for k, wavelength in enumerate(tuning.wavelength.values):
        for motion, line in MOTION.items():
            curve = tuning.response.sel(motion=motion, wavelength=wavelength)
            label = f"{wavelength:g} deg, {motion}"
            axes.plot(tuning.speed, curve, line, color=f"C{k}", label=label)
    axes.axhline(0, **GUIDE)
    axes.set_xscale("log")
    axes.set(xlabel="speed [deg/s]", ylabel=_label(tuning))
    _ticks(axes.xaxis, tuning.speed.values)


def _contrast(axes: Axes, tuning: xr.Dataset) -> None:
    contrast = tuning.contrast.values
    for motion, line in MOTION.items():
        r = tuning.response.sel(motion=motion).values
        small = 1e-6 * symmetric_limit(tuning.response)
        axes.plot(contrast, np.where(r > small, r, np.nan), line, color="C0", marker=".", label=motion)
        axes.plot(contrast, np.where(r < -small, -r, np.nan), line, color="C3", linewidth=0.7, label=None)
    largest = symmetric_limit(tuning.response)
    axes.plot(contrast, largest * (contrast / contrast[-1]) ** 2, ":", label="square of contrast", **GUIDE)
    axes.set(xscale="log", yscale="log", xlabel="contrast", ylabel=_label(tuning), ylim=(largest * 1e-3, largest * 2))
    _ticks(axes.xaxis, contrast)
    axes.minorticks_off()


def _duration(axes: Axes, tuning: xr.Dataset) -> None:
    for k, position in enumerate(tuning.position.values):
        curve = tuning.peak.sel(position=position)
        axes.plot(tuning.on_time, curve, ".-", color=f"C{k}", label=f"at {position:g} deg")
    axes.axhline(0, **GUIDE)
    axes.set_xscale("log")
    axes.set(xlabel="time that the bar is there [s]", ylabel=f"peak {_label(tuning)}")
    _ticks(axes.xaxis, tuning.on_time.values)


def _apparent_motion(axes: Axes, tuning: xr.Dataset) -> None:
    signs = {True: "ON", False: "OFF"}
    pairs = [(first, second) for first in tuning["first"].values for second in tuning.second.values]
    for k, (first, second) in enumerate(pairs):
        for motion, line in MOTION.items():
            curve = tuning.response.sel(first=first, second=second, motion=motion)
            label = f"{signs[first > 0]}-{signs[second > 0]}, {motion}"
            axes.plot(tuning.delay, curve, line, color=f"C{k}", label=label)
    axes.axhline(0, **GUIDE)
    axes.set_xscale("log")
    axes.set(xlabel="delay [s]", ylabel=f"mean {_label(tuning)}")
    _ticks(axes.xaxis, tuning.delay.values)


def _edges(axes: Axes, tuning: xr.Dataset) -> None:
    for k, contrast in enumerate(tuning.contrast.values):
        for motion, line in MOTION.items():
            label = f"{'ON' if contrast > 0 else 'OFF'}, {motion}"
            axes.plot(
                tuning.time, tuning.course.sel(contrast=contrast, motion=motion), line, color=f"C{k}", label=label
            )
    axes.axhline(0, **GUIDE)
    axes.set(xlabel="time [s]", ylabel=_label(tuning))


def _reverse_phi(axes: Axes, tuning: xr.Dataset) -> None:
    names = {False: "phi", True: "reverse phi"}
    _bars(axes, tuning.response, [names[bool(r)] for r in tuning.reverse.values])
    axes.set(xlabel="grating that jumps", ylabel=_label(tuning))


def _gliders(axes: Axes, tuning: xr.Dataset) -> None:
    names = [f"{kind[0].upper()}{'+' if p > 0 else '−'}" for kind in tuning.kind.values for p in tuning.parity.values]
    _bars(axes, tuning.response.transpose("kind", "parity", "motion"), names)
    axes.set(xlabel="two-point, converging, diverging; parity", ylabel=_label(tuning))


def _bars(axes: Axes, response: xr.DataArray, names: list[str]) -> None:
    """Draw a filled and an empty bar, preferred and null, for each name."""
    values, places = response.transpose(..., "motion").values.reshape(-1, 2), np.arange(len(names))
    axes.bar(places - 0.2, values[:, 0], 0.36, color="C0", edgecolor="C0", label="preferred")
    axes.bar(places + 0.2, values[:, 1], 0.36, color="none", edgecolor="C0", label="null")
    axes.axhline(0, **GUIDE)
    axes.set_xticks(places, names)


PANELS: dict[str, Callable[[Any, Any], None]] = {
    "local": _course,
    "summed": _course,
    "direction": _direction,
    "frequency": _frequency,
    "velocity": _velocity,
    "contrast": _contrast,
    "duration": _duration,
    "apparent-motion": _apparent_motion,
    "reverse-phi": _reverse_phi,
    "gliders": _gliders,
    "edges": _edges,
}
"""What draws the result of each experiment into axes."""
