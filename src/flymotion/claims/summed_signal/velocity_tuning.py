"""The summed signal against velocity, for gratings of several wavelengths (C19)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from flymotion.claims.rows import Claim, above, all_of, report, within
from flymotion.claims.summed_signal.lookers import DT, FILTERS, NAMES, TAU, Config, Filter, Looking, mark
from flymotion.claims.worlds import WORLDS
from flymotion.plots.canvas import new_figure
from flymotion.tuning import eye_for, tune
from flymotion.tuning.experiments import grating_at_speed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw", "measure", "peak_velocities", "state"]


def measure(config: Config, looking: Looking) -> np.ndarray:
    """Return mean responses, shape (n_filters, n_wavelengths, n_speeds, n_readings)."""
    return np.stack([_by_velocity(config, looking, delay) for delay in FILTERS.values()])


def _by_velocity(config: Config, looking: Looking, delay: Filter) -> np.ndarray:
    """Return responses averaged over one wavelength, shape (n_wavelengths, n_speeds, n_readings)."""
    detector = looking.make(delay.step)
    design = {"speed": config.velocities.tolist()}
    means, shown = [], {"contrast": config.contrast, "phase": 0.0, "duration": delay.settle + DT}
    for length in config.wavelengths:
        stimulus = partial(grating_at_speed, wavelength=length, **shown)
        eye = eye_for(detector, round(length / detector.spacing))
        means.append(tune(detector, stimulus, design, dt=DT, settle=delay.settle, repeats=1, eye=eye))
    return np.stack([looking.opponent(mean.response.values, detector) for mean in means])


def peak_velocities(config: Config, means: np.ndarray) -> np.ndarray:
    """Velocities of the largest mean output [deg/s], shape (n_seeds, n_filters, n_wavelengths)."""
    return np.apply_along_axis(_peak, -1, means[..., 0], np.log(config.velocities))


def _peak(curve: np.ndarray, logs: np.ndarray) -> float:
    """Return the velocity where a quartic through the five points about the largest is largest."""
    k = int(np.clip(_first_lobe(curve).argmax(), 2, len(curve) - 3))
    quartic = np.polynomial.Polynomial.fit(logs[k - 2 : k + 3], curve[k - 2 : k + 3], 4)
    fine = np.linspace(logs[k - 1], logs[k + 1], 2001)
    return float(np.exp(fine[quartic(fine).argmax()]))


def _first_lobe(curve: np.ndarray) -> np.ndarray:
    """Return a curve up to where its sign changes: a delay line answers faster gratings again, by aliasing."""
    inverted = np.flatnonzero(curve[1:] <= 0)
    return curve[: inverted[0] + 1] if len(inverted) else curve


def _rises_then_falls(curve: np.ndarray) -> bool:
    ways = np.sign(np.diff(_first_lobe(curve)))
    return bool(len(ways) and ways[0] > 0 > ways[-1] and ways.all() and (np.diff(ways) <= 0).all())


def state(config: Config, name: str, means: np.ndarray) -> Iterator[Claim]:
    """State C19 of one detector."""
    id, label = f"C19.{name.replace('-', '_')}", NAMES[name]
    peaks, lengths = peak_velocities(config, means), np.array(config.wavelengths)
    note = f"wavelengths {', '.join(f'{w:g}' for w in lengths)} deg; delay line and low-pass of {TAU:g} s"
    title = f"curves of summed output against velocity that rise and then fall, {label}"
    rise = np.apply_along_axis(_rises_then_falls, -1, means[..., 0])
    yield all_of(f"{id}_rise", title, rise, unit="curves", note=note)
    line = (peaks @ lengths / (lengths @ lengths))[..., None] * lengths
    r2 = 1 - ((peaks - line) ** 2).sum(axis=2) / ((peaks - peaks.mean(axis=2, keepdims=True)) ** 2).sum(axis=2)
    title = f"R^2 of best velocity against wavelength, line through 0, {label}"
    yield above(f"{id}_line", title, r2, 0.99, note=note)
    for k, (key, delay) in enumerate(FILTERS.items()):
        form, ratios = f"1/{delay.inverse}", peaks[:, k] / lengths / delay.peak
        title = f"temporal frequency of the largest summed output over {form}, {label}"
        note = f"{form} = {delay.peak:.4g} Hz"
        yield within(f"{id}_{key.replace('-', '_')}", title, ratios, 0.98, 1.02, note=note)
    if name in WORLDS:
        yield _state_row(config, name, means)


def _state_row(config: Config, name: str, means: np.ndarray) -> Claim:
    """Report the wavelengths for which one pixel's change, with the learned row, tells direction."""
    patch, row = means[..., 0], means[..., 1]
    at_best = np.take_along_axis(row, patch.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    right = np.all(at_best > 0, axis=(0, 1)).tolist()
    title = f"share of wavelengths to which the central pixel's row alone answers with the right sign, {NAMES[name]}"
    signs = zip(config.wavelengths, right, strict=True)
    note = ", ".join(f"{w:g} deg {'right' if r else 'inverted'}" for w, r in signs)
    return report(f"C19.{name}_row", title, np.mean(right), seeds=len(means), note=f"{note}; ZCA undone")


def draw(config: Config, found: Mapping[str, np.ndarray]) -> Figure:
    """Draw the summed output against velocity for each wavelength, and the best velocity against wavelength."""
    figure = new_figure(12, 4.2)
    left, middle, right = figure.subplots(1, 3)
    for axes, name in ((left, "three-pixel"), (middle, "L1")):
        _curves(axes, config, found[name][0, ..., 0])
        axes.set_title(mark(name)["label"])
    _peaks(right, config, found)
    return figure


def _curves(axes: Axes, config: Config, means: np.ndarray) -> None:
    for k, length in enumerate(config.wavelengths):
        for curve, line, label in ((means[0, k], ":", None), (means[1, k], "-", f"{length:g} deg")):
            axes.semilogx(config.velocities, curve / curve.max(), line, color=f"C{k}", label=label)
    for line, label in (("-", "low-pass"), (":", "delay line")):
        axes.plot([], [], f"k{line}", label=label)
    axes.axhline(0, color="0.8", linewidth=1, zorder=0)
    axes.set(xlabel="velocity [deg/s]", ylabel="mean output over its largest", ylim=(-1.15, 1.15))
    axes.legend(fontsize=8, loc="lower left", title="wavelength", title_fontsize=8)


def _peaks(axes: Axes, config: Config, found: Mapping[str, np.ndarray]) -> None:
    lengths = np.array([0.0, 1.08 * max(config.wavelengths)])
    for k, (key, delay) in enumerate(FILTERS.items()):
        form = f"{key}: wavelength / {delay.inverse}"
        axes.plot(lengths, delay.peak * lengths, color=f"C{k}", linewidth=1, label=form)
    for name, means in found.items():
        for k, peaks in enumerate(peak_velocities(config, means)[0]):
            axes.plot(config.wavelengths, peaks, color=f"C{k}", **mark(name) | {"label": None})
        axes.plot([], [], color="black", **mark(name))
    axes.set(xlabel="wavelength [deg]", ylabel="best velocity [deg/s]", title="velocity of the largest output")
    axes.set_xlim(0, lengths[1])
    axes.set_ylim(0, None)
    axes.legend(fontsize=8, loc="upper left")
