"""The summed signal against velocity, for gratings of several wavelengths (C19)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.claims.beside import beside
from flymotion.claims.rows import Claim, above, all_of, report, within
from flymotion.claims.summed_signal.lookers import DT, FILTERS, NAMES, TAU, Config, Filter, Looking, mark, nulls_of
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
    return np.stack([looking.read(mean.response.values, detector) for mean in means])


def peak_velocities(config: Config, means: np.ndarray) -> np.ndarray:
    """Velocities of the largest mean output [deg/s], shape (n_seeds, n_filters, n_wavelengths, n_readings)."""
    return np.apply_along_axis(_peak, -2, means, np.log(config.velocities))


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
    """State C19 of one detector: of the literature over all wavelengths, of what was learned up to the longest."""
    id, label = f"C19.{name.replace('-', '_')}", NAMES[name]
    peaks, lengths = peak_velocities(config, means), np.array(config.wavelengths)
    bounded = lengths <= (config.longest if name in WORLDS else np.inf)
    told = f"wavelengths {', '.join(f'{w:g}' for w in lengths[bounded])} deg"
    note = f"{told}; delay line and low-pass of {TAU:g} s"
    title = f"curves of summed output against velocity that rise and then fall, {label}"
    rise = np.apply_along_axis(_rises_then_falls, -1, means[..., 0][:, :, bounded])
    yield all_of(f"{id}_rise", title, rise, unit="curves", note=note)
    r2 = _r2_of_line(peaks[:, :, bounded], lengths[bounded])
    title = f"R^2 of best velocity against wavelength, line through 0, {label}"
    row = above(f"{id}_line", title, r2[..., 0], 0.999, note=note)
    yield from beside(row, **nulls_of(name, r2))
    off = 0.02 if name in WORLDS else 0.005
    frequencies = peaks / lengths[:, None]
    for k, (key, delay) in enumerate(FILTERS.items()):
        form, ratios = f"1/{delay.inverse}", frequencies[:, k, bounded] / delay.peak
        title = f"temporal frequency of the largest summed output over {form}, {label}"
        note = f"{form} = {delay.peak:.4g} Hz; {told}"
        row = within(f"{id}_{key.replace('-', '_')}", title, ratios[..., 0], 1 - off, 1 + off, note=note)
        yield from beside(row, **nulls_of(name, ratios))
        if name not in WORLDS:
            title = f"temporal frequency of the largest summed output times the time constant, {key}, {label}"
            note = f"mean; the inverse of the delay would be 1, {form} is {delay.peak * TAU:.4g} / tau; {told}"
            yield report(f"{id}_{key.replace('-', '_')}_tau", title, frequencies[:, k] * TAU, worst=np.mean, note=note)
    if name in WORLDS:
        yield from _report_long(config, name, frequencies)
        yield _state_row(config, name, means[:, :, bounded])


def _r2_of_line(peaks: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return R^2 of a line through 0 for peaks, shape (n_seeds, n_filters, n_wavelengths, n_readings)."""
    line = np.tensordot(peaks, lengths, axes=(2, 0))[:, :, None] * lengths[:, None] / (lengths @ lengths)
    spread = ((peaks - peaks.mean(axis=2, keepdims=True)) ** 2).sum(axis=2)
    return 1 - ((peaks - line) ** 2).sum(axis=2) / np.maximum(spread, 1e-12)  # peaks that are all the same: none


def _report_long(config: Config, name: str, frequencies: np.ndarray) -> Iterator[Claim]:
    """Report best frequencies of what was learned at wavelengths beyond the bounded ones."""
    closed = np.array([delay.peak for delay in FILTERS.values()])
    for k, length in enumerate(config.wavelengths):
        if length > config.longest:
            ratios = frequencies[:, :, k] / closed[:, None]
            by = dict(zip(FILTERS, np.moveaxis(ratios[..., 0], 1, 0), strict=True))
            forms = ", ".join(f"{key} 1/{delay.inverse}" for key, delay in FILTERS.items())
            title = (
                f"temporal frequency of the largest summed output over its closed form, {length:g} deg, {NAMES[name]}"
            )
            note = f"{forms}; farthest from 1; the filters are no exact mirror images"
            row = report(f"C19.{name}_{length:.0f}", title, by, worst=_farthest_from_1, note=note)
            yield from beside(row, **nulls_of(name, ratios))


def _farthest_from_1(ratios: Any) -> float:
    ratios = np.ravel(ratios)
    return float(ratios[np.abs(ratios - 1).argmax()])


def _state_row(config: Config, name: str, means: np.ndarray) -> Claim:
    """Report the wavelengths for which one pixel's change, with the learned row, tells direction."""
    patch, row = means[..., 0], means[..., 1]
    at_best = np.take_along_axis(row, patch.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    right = np.all(at_best > 0, axis=(0, 1)).tolist()
    title = f"share of wavelengths to which the central pixel's row alone answers with the right sign, {NAMES[name]}"
    signs = zip(config.wavelengths[: len(right)], right, strict=True)
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
    axes.set(xlabel="velocity [deg/s]", ylabel="mean output over its largest", ylim=(-1.9, 1.15))
    axes.legend(fontsize=8, loc="lower left", ncols=3, title="wavelength", title_fontsize=8)


def _peaks(axes: Axes, config: Config, found: Mapping[str, np.ndarray]) -> None:
    lengths = np.array([0.0, 1.08 * max(config.wavelengths)])
    for k, (key, delay) in enumerate(FILTERS.items()):
        form = f"{key}: wavelength / {delay.inverse}"
        axes.plot(lengths, delay.peak * lengths, color=f"C{k}", linewidth=1, label=form)
    for name, means in found.items():
        for k, peaks in enumerate(peak_velocities(config, means[:1])[0]):
            axes.plot(config.wavelengths, peaks[:, 0], color=f"C{k}", **mark(name) | {"label": None})
        axes.plot([], [], color="black", **mark(name))
    axes.set(xlabel="wavelength [deg]", ylabel="best velocity [deg/s]", title="velocity of the largest output")
    axes.set_xlim(0, lengths[1])
    axes.set_ylim(0, None)
    axes.legend(fontsize=8, loc="upper left")
