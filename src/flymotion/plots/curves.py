"""Figures of tuning: one experiment on one detector.

Solid lines and filled bars are motion in the preferred direction, dashed lines and empty bars in the null direction.
Where a scale has no place for negative responses, the radius of a polar plot and a logarithm, their size is drawn thin.
Units of a detector of several go by the direction that they prefer. Panels with one label at the left share its scale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import add_colour_bar, new_figure, new_panels, signed_colours
from flymotion.plots.panels import ROUNDING, add_legend, add_title, largest, share_labels
from flymotion.tuning.circle import round_the_circle
from flymotion.tuning.measures import settled
from flymotion.tuning.provenance import of_units

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["GUIDE", "PANELS", "SPEEDS", "draw_tuning"]

MOTION: dict[str, dict[str, Any]] = {
    "preferred": {"linestyle": "-"},
    "null": {"linestyle": "--", "markerfacecolor": "white"},
}
"""Lines, and their markers, of motion in either direction."""

GUIDE: dict[str, Any] = {"color": "0.6", "linewidth": 0.6, "zorder": 0}
"""Lines to compare with."""

SPEEDS = (4.0, 16.0, 64.0, 256.0)
"""Velocities whose contours maps have [deg/s]."""


def draw_tuning(tuning: xr.Dataset) -> Figure:
    """Draw the result of an experiment; of a detector of several units, the panels of each, or its row of panels.

    Parameters
    ----------
    tuning : Dataset
        Of :func:`flymotion.tuning.experiment`.

    Raises
    ------
    ValueError
        An experiment that has no drawing, or whose design has dimensions that have no place in it.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> from flymotion.tuning import experiment
    >>> figure = draw_tuning(experiment("contrast", hassenstein_reichardt(), dt=0.05))
    >>> [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes]
    [('contrast', 'response')]
    """
    name = tuning.attrs.get("experiment")
    if name not in PANELS:
        raise ValueError(f"there is no drawing of {name!r}; expected one of {', '.join(PANELS)}")
    _check_design(tuning, name)
    units = of_units(tuning)
    if name == "direction":
        figure = new_figure(4.6, 4.6)
        axes = figure.add_subplot(projection="polar")
        PANELS[name](axes, tuning)
        add_legend(figure, [axes])
    elif name == "frequency":
        figure = _draw_maps(tuning, units)
    else:
        figure = _draw_panels(name, units)
    detector, source = (tuning.attrs.get(key, "") for key in ("detector", "source"))
    shown = source if source.startswith(detector) else f"{detector} ({source})" if source else detector
    by = "; units by preferred direction" if len(units) > 1 else ""
    add_title(figure, f"{name}: {shown}".rstrip(": ") + by)
    return figure


def _check_design(tuning: xr.Dataset, name: str) -> None:
    from flymotion.tuning.experiments import EXPERIMENTS

    design = [*EXPERIMENTS[name].design, *(["motion"] if EXPERIMENTS[name].both_ways else [])]
    found = [str(dim) for dim in tuning.response.dims if dim != "unit"]
    if sorted(found) != sorted(design):
        raise ValueError(f"the tuning has dimensions {', '.join(found)}; the drawing of {name} has {', '.join(design)}")


def _draw_panels(name: str, units: list[tuple[str, xr.Dataset]]) -> Figure:
    split = PARTS.get(name)
    parts = [
        (", ".join(filter(None, (unit, title))), part)
        for unit, of_unit in units
        for title, part in (split(of_unit) if split else {"": of_unit}).items()
    ]
    n_columns = len(parts) // len(units) if split else min(len(units), 4)
    size = (4.2, 3.2) if len(parts) == 1 else (3.2, 2.5)
    figure, panels = new_panels(len(parts), n_columns, size, margins=(0.6, 0.9))
    for axes, (title, part) in zip(panels, parts, strict=True):
        PANELS[name](axes, part)
        axes.set_title(title, fontsize=9)
    share_labels(panels, n_columns)
    add_legend(figure, panels)
    return figure


def _label(tuning: xr.Dataset) -> str:
    units = tuning.response.attrs.get("units", "1")
    return "response" if units == "1" else f"response [{units.replace('^2', '²')}]"


def _course(axes: Axes, tuning: xr.Dataset) -> None:
    shown = settled(tuning.course, tuning)
    for motion, line in MOTION.items():
        axes.plot(shown.time, shown.sel(motion=motion), color="C0", label=motion, **line)
    axes.axhline(0, **GUIDE)
    axes.set(xlabel="time [s]", ylabel=_label(tuning))


def _direction(axes: Any, tuning: xr.Dataset) -> None:
    units, turn, limit = of_units(tuning), np.arange(361.0), largest(tuning.response)
    curves = np.array([round_the_circle(part.response.values, part.direction.values, turn) for _, part in units])
    for k, (r, (name, _)) in enumerate(zip(curves, units, strict=True)):
        axes.plot(np.radians(turn), np.maximum(r, 0), color=f"C{k}", label=name or None)
        if (r < -ROUNDING).any():
            axes.plot(np.radians(turn), np.maximum(-r, 0), "--", color=f"C{k}", linewidth=0.7)
    axes.set_rlim(0, limit * 1.05)
    axes.set_xticks(np.radians(range(0, 360, 45)))
    axes.tick_params(labelsize=8)
    _rings(axes, np.abs(curves), limit)
    negative = ", negative dashed" if (curves < -ROUNDING).any() else ""
    axes.set_xlabel(f"direction of motion [deg]\nradius: {_label(tuning)}{negative}", fontsize=8)


def _rings(axes: Any, sizes: np.ndarray, limit: float) -> None:
    """Draw two or three circles, with their numbers where curves, shape (n, 361), are far from them."""
    from matplotlib.ticker import MaxNLocator

    rings = [ring for ring in MaxNLocator(3).tick_values(0, limit) if 0 < ring <= limit]
    between = np.arange(22, 360, 45)
    gaps = np.abs(sizes[:, None, between] - np.array(rings)[:, None]).min(axis=(0, 1))
    axes.set_rlabel_position(between[gaps.argmax()])
    axes.set_yticks(rings, [f"{ring:.3g}" for ring in rings], fontsize=7, color="0.3")
    for label in axes.get_yticklabels():
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})


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


def _draw_maps(tuning: xr.Dataset, units: list[tuple[str, xr.Dataset]]) -> Figure:
    """Draw maps of motion in both directions, one row a unit, on one colour scale."""
    figure, panels = new_panels(2 * len(units), 2, (3.4, 2.8), margins=(1.4, 0.6))
    limit = largest(tuning.response)
    shows = [(unit, motion, part) for unit, part in units for motion in MOTION]
    for axes, (unit, motion, part) in zip(panels, shows, strict=True):
        image = _map(axes, part.response.sel(motion=motion), limit)
        axes.set_title(", ".join(filter(None, (unit, f"{motion} direction"))), fontsize=9)
        axes.set(xlabel="wavelength [deg]", ylabel="temporal frequency [Hz]")
    share_labels(panels, 2)
    add_colour_bar(figure, image, _label(tuning))
    return figure


def _frequency(axes: Axes, tuning: xr.Dataset) -> None:
    response = tuning.response.sel(motion="preferred")
    _map(axes, response, largest(response), labels=False)
    axes.set(xlabel="wavelength [deg]", ylabel="temporal freq. [Hz]")


def _velocity(axes: Axes, tuning: xr.Dataset) -> None:
    for k, wavelength in enumerate(tuning.wavelength.values):
        for motion, line in MOTION.items():
            curve = tuning.response.sel(motion=motion, wavelength=wavelength)
            label = f"wavelength {wavelength:g} deg" if motion == "preferred" else None
            axes.plot(tuning.speed, curve, color=f"C{k}", label=label, **line)
    for motion, line in MOTION.items():
        axes.plot([], [], color="black", label=motion, **line)
    axes.axhline(0, **GUIDE)
    axes.set_xscale("log")
    axes.set(xlabel="speed [deg/s]", ylabel=_label(tuning))
    _ticks(axes.xaxis, tuning.speed.values)


def _contrast(axes: Axes, tuning: xr.Dataset) -> None:
    contrast, limit = tuning.contrast.values, largest(tuning.response)
    for motion, line in MOTION.items():
        r = tuning.response.sel(motion=motion).values
        width = 2 if motion == "preferred" else 1
        for sign, colour, label in ((1, "C0", motion), (-1, "C3", f"{motion}, negative: its size")):
            shown = np.where(sign * r > 1e-6 * limit, sign * r, np.nan)
            style: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 2 + 2 * width, "linewidth": width}
            axes.plot(contrast, shown, label=label if np.isfinite(shown).any() else None, **style, **line)
        if (np.abs(r) <= 1e-6 * limit).all():
            axes.plot([], [], color="C0", label=f"{motion}: 0", **line)
    axes.plot(contrast, limit * (contrast / contrast[-1]) ** 2, ":", label="square of contrast", **GUIDE)
    axes.set(xscale="log", yscale="log", xlabel="contrast", ylabel=_label(tuning), ylim=(limit * 1e-3, limit * 2))
    _ticks(axes.xaxis, contrast)
    axes.minorticks_off()


def _duration(axes: Axes, tuning: xr.Dataset) -> None:
    for k, position in enumerate(tuning.position.values):
        curve = tuning.response.sel(position=position)
        rings: dict[str, Any] = {"marker": "o", "markersize": max(2, 10 - 2 * k), "markerfacecolor": "none"}
        axes.plot(tuning.on_time, curve, color=f"C{k}", label=f"bar at {position:g} deg", **rings)
    axes.axhline(0, **GUIDE)
    axes.set_xscale("log")
    axes.set(xlabel="time that the bar is there [s]", ylabel=f"{tuning.attrs['shown']} {_label(tuning)}")
    _ticks(axes.xaxis, tuning.on_time.values)


def _apparent_motion(axes: Axes, tuning: xr.Dataset) -> None:
    for motion, line in MOTION.items():
        axes.plot(tuning.delay, tuning.response.sel(motion=motion), color="C0", label=motion, **line)
    axes.axhline(0, **GUIDE)
    axes.set_xscale("log")
    axes.set(xlabel="delay [s]", ylabel=f"mean {_label(tuning)}")
    _ticks(axes.xaxis, tuning.delay.values)


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
    "edges": _course,
}
"""What draws the result of each experiment, or a part of it, into axes."""


def _measures(tuning: xr.Dataset) -> dict[str, xr.Dataset]:
    peaks = tuning.assign(response=tuning.peak.assign_attrs(tuning.response.attrs))
    return {shown: part.assign_attrs(shown=shown) for shown, part in (("peak", peaks), ("mean", tuning))}


def _polarities(tuning: xr.Dataset) -> dict[str, xr.Dataset]:
    pairs = [(first, second) for first in tuning["first"].values for second in tuning.second.values]
    return {f"{_sign(f)} then {_sign(s)}": tuning.sel(first=f, second=s) for f, s in pairs}


def _contrasts(tuning: xr.Dataset) -> dict[str, xr.Dataset]:
    return {f"{_sign(c)} edge, contrast {c:g}": tuning.sel(contrast=c) for c in tuning.contrast.values}


def _sign(contrast: float) -> str:
    return "ON" if contrast > 0 else "OFF"


PARTS: dict[str, Callable[[xr.Dataset], dict[str, xr.Dataset]]] = {
    "duration": _measures,
    "apparent-motion": _polarities,
    "edges": _contrasts,
}
"""What takes the result of an experiment apart into panels, by their titles."""
