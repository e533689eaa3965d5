"""What is claimed of contrast, oscillations and velocity (C17, C18, C19)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flymotion.claims.global_motion.detectors import FILTERS, NAMES, READINGS, TAU, Config
from flymotion.claims.global_motion.responses import Measured, measure
from flymotion.claims.rows import Claim, above, all_of, below, report, within
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import WORLDS, stack

__all__ = ["Result", "check", "jobs", "peak_velocities", "run", "slopes"]


@dataclass(frozen=True)
class Result:
    """What every detector does, by its name; every array has an axis of seeds first, 1 long where nothing is random."""

    config: Config
    measured: dict[str, Measured]


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work."""
    fixed = [partial(measure, config, name, 0) for name in NAMES if name not in WORLDS]
    return fixed + [partial(measure, config, name, seed) for name in WORLDS for seed in range(config.n_seeds)]


def run(config: Config, each: Each = in_turn) -> Result:
    """Learn, and show gratings to all detectors."""
    work = jobs(config)
    done = [(piece.args[1], measured) for piece, measured in zip(work, each(work), strict=True)]
    return Result(config, {name: stack([m for of, m in done if of == name]) for name in NAMES})


# -- claims ----------------------------------------------------------------------------------------------------------


def check(result: Result) -> list[Claim]:
    """State C17, C18 and C19."""
    return [
        row
        for name, measured in result.measured.items()
        for state in (_state_contrast, _state_oscillations, _state_velocity)
        for row in state(result.config, measured, name)
    ]


def _key(name: str) -> str:
    return name.replace("-", "_")


def _label(name: str) -> str:
    known = {"three-pixel": "three-pixel detector", "hrd": "HRD"}
    return known.get(name, f"filters learned in {name}, right unit less left unit")


def _seeds(config: Config, name: str) -> int:
    return config.n_seeds if name in WORLDS else 0


def _farthest(values: np.ndarray, target: float) -> float:
    return float(values.flat[np.abs(values - target).argmax()])


def slopes(config: Config, measured: Measured) -> np.ndarray:
    """Log-log slopes of the response in contrast between neighbours, shape (n_seeds, 2, n_contrasts - 1)."""
    return np.diff(np.log(np.abs(measured.contrast[..., 0])), axis=2) / np.diff(np.log(config.contrasts))


def _state_contrast(config: Config, measured: Measured, name: str) -> list[Claim]:
    found, c = slopes(config, measured), config.contrasts
    title = f"log-log slope of the summed output in contrast, {_label(name)}"
    grating = f"grating of {config.wavelength:g} deg, 1 Hz, contrasts "
    low, high = f"{grating}{c[0]:.2g} and {c[1]:.2g}", f"{grating}{c[-2]:.2g} and {c[-1]:.2g}"
    pool = f"half-saturation at a root mean square of {config.half_saturation:g}"
    id, seeds = f"C17.{_key(name)}", _seeds(config, name)
    plain, weak = (_farthest(found[:, k, 0], 2.0) for k in (0, 1))
    strong = found[:, 1, -1].max()
    return [
        within(id, title, plain, 1.95, 2.05, seeds=seeds, note=low),
        within(f"{id}_low", f"{title}, normalised before it", weak, 1.95, 2.05, seeds=seeds, note=f"{low}; {pool}"),
        below(f"{id}_high", f"{title}, normalised before it", strong, 0.3, seeds=seeds, note=f"{high}; {pool}"),
    ]


def _by_frequency(config: Config, values: np.ndarray) -> str:
    return ", ".join(f"{v:.3g} at {f:g} Hz" for f, v in zip(config.frequencies, values, strict=True))


def _state_oscillations(config: Config, measured: Measured, name: str) -> list[Claim]:
    id, label, seeds = f"C18.{_key(name)}", _label(name), _seeds(config, name)
    grating = f"grating of {config.wavelength:g} deg, delay {TAU:g} s"
    light, share = measured.luminance[:, 0], measured.luminance[:, 1]
    at_f = f"{grating}; amplitude at f over the mean {_by_frequency(config, light[..., 0].mean(axis=0))}"
    rows = []
    if name == "hrd":
        title = "variation in time of one HRD's output relative to its mean, mean luminance 0"
        rows.append(below(f"{id}_flat", title, measured.single.max(), 1e-10, seeds=seeds, note=grating))
        title = "share of the power of one HRD's oscillation that is at f, mean luminance 1"
        rows.append(above(f"{id}_luminance", title, share.min(), 0.99, seeds=seeds, note=at_f))
    else:
        rows += _state_amplitudes(config, measured, name)
        title = f"amplitude at f over the mean, at one position, mean luminance 1, {label}"
        rows.append(report(f"{id}_luminance", title, light[..., 0].max(), seeds=seeds, note=at_f))
    title = f"variation in time of the sum over two wavelengths relative to its mean, {label}"
    note = f"{grating}; mean luminances 0 and 1"
    return [*rows, below(f"{id}_sum", title, measured.summed.max(), 1e-10, seeds=seeds, note=note)]


def _state_amplitudes(config: Config, measured: Measured, name: str) -> list[Claim]:
    readings = READINGS if name in WORLDS else {"": ""}
    form = "the closed form of x'Ax" if name in WORLDS else "1 / cos(omega tau / 2)"
    rows = []
    for k, (key, reading) in enumerate(readings.items()):
        found, expected = measured.oscillation[..., k], measured.expected[..., k]
        title = f"amplitude at 2f over the mean, at one position, relative error of {form}, {_label(name)}, {reading}"
        note = f"grating of {config.wavelength:g} deg, delay {TAU:g} s; {_by_frequency(config, found.mean(axis=0))}"
        error = np.abs(found / expected - 1).max()
        id = f"C18.{_key(name)}_{key}".rstrip("_")
        rows.append(below(id, title.rstrip(", "), error, 0.01, seeds=_seeds(config, name), note=note))
    return rows


def peak_velocities(config: Config, measured: Measured) -> np.ndarray:
    """Velocities of the largest mean output [deg/s], shape (n_seeds, n_filters, n_wavelengths)."""
    return np.apply_along_axis(_peak, -1, measured.velocity[..., 0], np.log(config.velocities))


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


def _state_velocity(config: Config, measured: Measured, name: str) -> list[Claim]:
    peaks, lengths = peak_velocities(config, measured), np.array(config.wavelengths)
    curves = measured.velocity[..., 0].reshape(-1, len(config.velocities))
    line = (peaks @ lengths / (lengths @ lengths))[..., None] * lengths
    r2 = 1 - ((peaks - line) ** 2).sum(axis=2) / ((peaks - peaks.mean(axis=2, keepdims=True)) ** 2).sum(axis=2)
    note = f"wavelengths {', '.join(f'{w:g}' for w in lengths)} deg; delay line and low-pass of {TAU:g} s"
    id, label, seeds = f"C19.{_key(name)}", _label(name), _seeds(config, name)
    shape = f"curves of summed output against velocity that rise and then fall, {label}"
    fit = f"R^2 of best velocity against wavelength, line through 0, {label}"
    rise = [_rises_then_falls(curve) for curve in curves]
    rows = [
        all_of(f"{id}_rise", shape, rise, seeds=seeds, unit="curves", note=note),
        above(f"{id}_line", fit, r2.min(), 0.99, seeds=seeds, note=note),
    ]
    for k, (filter, (_, _, peak)) in enumerate(FILTERS.items()):
        form = {"delay": "1/(4 tau)", "low-pass": "1/(2 pi tau)"}[filter]
        title = f"temporal frequency of the largest summed output over {form}, {label}"
        value = _farthest(peaks[:, k] / lengths / peak, 1.0)
        note = f"{form} = {peak:.4g} Hz"
        rows.append(within(f"{id}_{_key(filter)}", title, value, 0.98, 1.02, seeds=seeds, note=note))
    return rows if name not in WORLDS else [*rows, _state_row(config, measured, name)]


def _state_row(config: Config, measured: Measured, name: str) -> Claim:
    """Report the wavelengths for which one pixel's change, with the learned row, tells direction."""
    patch, row = measured.velocity[..., 0], measured.velocity[..., 1]
    at_best = np.take_along_axis(row, patch.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    right = np.all(at_best > 0, axis=(0, 1)).tolist()
    title = f"share of wavelengths to which the central pixel's row alone answers with the right sign, {_label(name)}"
    note = ", ".join(
        f"{w:g} deg {'right' if r else 'inverted'}" for w, r in zip(config.wavelengths, right, strict=True)
    )
    return report(f"C19.{name}_row", title, np.mean(right), seeds=config.n_seeds, note=f"{note}; ZCA undone")
