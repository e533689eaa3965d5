r"""Oscillations of the output at one position, and of the sum over two wavelengths (C18).

The three-pixel detector's output is
:math:`2 c^2 \sin k \sin(\omega\tau/2) [\cos(\omega\tau/2) - \cos(2\varphi - \omega\tau/2)]` of a contrast c, phases k
between neighbours and :math:`\varphi` of the middle; the HRD's is flat. About a mean luminance the HRD oscillates at f,
and the three-pixel detector, whose every factor is a difference, does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.beside import beside
from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.running import stack
from flymotion.claims.summed_signal.lookers import DT, NAMES, READINGS, TAU, Config, Looking, mark, nulls_of
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import Detector
from flymotion.detectors.temporal import Delay
from flymotion.plots.canvas import new_figure
from flymotion.stimuli import drifting_grating
from flymotion.tuning import eye_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Oscillations", "Waves", "draw", "measure", "state"]


class Waves(NamedTuple):
    """How the opponent signal varies in time at one frequency f; the last axis is of ``READINGS``, or 1 long."""

    amplitude: np.ndarray
    """At 2f, over the mean, at one position, mean luminance 0, shape (n_readings,)."""
    at_f: np.ndarray
    """Amplitude at f over the mean, at mean luminance 1, shape (n_readings,)."""
    share_at_f: np.ndarray
    """Share of that oscillation's power."""
    single: np.ndarray
    """Largest less smallest response over the mean at one position, mean luminance 0, shape (n_readings,)."""
    summed: np.ndarray
    """The same of the sum over two wavelengths, mean luminances 0 and 1, shape (2, n_readings)."""


class Oscillations(NamedTuple):
    """What a detector with a delay line does."""

    waves: Waves
    """By frequency, an axis before all others."""
    course: np.ndarray
    """Two periods of the first frequency at one position, at mean luminances 0 and 1, and of the mean over two
    wavelengths, shape (3, n_frames, n_readings)."""


def measure(config: Config, looking: Looking) -> Oscillations:
    """Show gratings of all frequencies to a detector with a delay line."""
    detector = looking.make(Delay(TAU))
    waves = stack([_measure(config, looking, detector, frequency) for frequency in config.frequencies])
    dark, light = (_responses(config, looking, detector, config.frequencies[0], 2, mean) for mean in (0.0, 1.0))
    return Oscillations(waves, np.stack([dark[:, 0], light[:, 0], dark.mean(axis=1)]))


def _measure(config: Config, looking: Looking, detector: Detector, frequency: float) -> Waves:
    dark, light = (_responses(config, looking, detector, frequency, 1, mean) for mean in (0.0, 1.0))
    twice = 2 * np.abs(np.fft.rfft(dark[:, 0], axis=0)[2]) / len(dark)
    amplitudes = 2 * np.abs(np.fft.rfft(light[:, 0], axis=0)) / len(light)
    return Waves(
        amplitude=twice / dark[:, 0].mean(axis=0),
        at_f=amplitudes[1] / np.abs(light[:, 0].mean(axis=0)),
        share_at_f=amplitudes[1] ** 2 / (amplitudes[1:] ** 2).sum(axis=0),
        single=_variation(dark[:, 0]),
        summed=np.stack([_variation(responses.sum(axis=1)) for responses in (dark, light)]),
    )


def _responses(
    config: Config, looking: Looking, detector: Detector, frequency: float, periods: int, mean: float
) -> np.ndarray:
    """Return readings over whole periods, positions over two wavelengths, shape (n_frames, n_positions, n_readings)."""
    n_frames = periods * round(1 / (frequency * DT))
    stimulus = drifting_grating(
        wavelength=config.wavelength,
        temporal_frequency=frequency,
        contrast=config.contrast,
        phase=0.0,
        duration=TAU + n_frames * DT,
    ).about(mean)
    eye = eye_for(detector, 2 * round(config.wavelength / detector.spacing))
    responses = detector(stimulus.movie(eye, DT, spacing=detector.spacing), DT, eye=eye)
    return looking.read(responses[-n_frames:], detector)


def _variation(course: np.ndarray) -> np.ndarray:
    """Largest less smallest value over the mean, shape (n_readings,)."""
    return np.ptp(course, axis=0) / np.abs(course.mean(axis=0))


def state(config: Config, name: str, measured: Oscillations) -> Iterator[Claim]:
    """State C18 of one detector."""
    waves, id, label = measured.waves, f"C18.{name.replace('-', '_')}", NAMES[name]
    grating = f"grating of {config.wavelength:g} deg, delay {TAU:g} s"
    at_f = f"{grating}; amplitude at f over the mean {_by_frequency(config, waves.at_f[..., 0])}"
    if name == "hrd":
        title = "variation in time of one HRD's output relative to its mean, mean luminance 0"
        yield below(f"{id}_flat", title, waves.single, 1e-10, note=grating)
        title = "share of the power of one HRD's oscillation that is at f, mean luminance 1"
        yield above(f"{id}_luminance", title, waves.share_at_f, 0.99, note=at_f)
    else:
        if name in WORLDS:
            yield from _report_amplitudes(config, name, waves, id, grating)
        else:
            expected = 1 / np.cos(math.pi * TAU * np.array(config.frequencies))
            title = f"amplitude at 2f over the mean, at one position, relative error of 1 / cos(omega tau / 2), {label}"
            note = f"{grating}; {_by_frequency(config, waves.amplitude[..., 0])}; mean luminance 0"
            yield below(id, title, np.abs(waves.amplitude[..., 0] / expected - 1), 0.01, note=note)
        title = f"amplitude at f over the mean, at one position, mean luminance 1, {label}"
        yield report(f"{id}_luminance", title, waves.at_f[..., 0], worst=np.max, note=at_f)
    title = f"variation in time of the sum over two wavelengths relative to its mean, {label}"
    note = f"{grating}; mean luminances 0 and 1"
    note += "; so of any sum of products: of random filters too" if name in WORLDS else ""
    yield below(f"{id}_sum", title, waves.summed[..., : len(READINGS)], 1e-10, note=note)


def _report_amplitudes(config: Config, name: str, waves: Waves, id: str, grating: str) -> Iterator[Claim]:
    """Report how much what was learned oscillates: an antisymmetric patch does not, one pixel's change has to."""
    title = f"amplitude at 2f over the mean, at one position, mean luminance 0, {NAMES[name]}"
    amplitudes = np.abs(waves.amplitude)
    for k, (key, reading) in enumerate(READINGS.items()):
        note = f"{grating}; means {_by_frequency(config, amplitudes[..., k])}"
        note += "; a product of two sinusoids: at least 1 whatever the weights" if k else ""
        row = report(f"{id}_{key}", f"{title}, {reading}", amplitudes[..., k], worst=np.max, note=note)
        yield from beside(row, **(nulls_of(name, amplitudes) if key == "patch" else {}))


def _by_frequency(config: Config, values: np.ndarray) -> str:
    by = zip(config.frequencies, values.mean(axis=0), strict=True)
    return ", ".join(f"{value:.3g} at {f:g} Hz" for f, value in by)


def draw(config: Config, found: Mapping[str, Oscillations]) -> Figure:
    """Draw outputs at one position in time, at mean luminances 0 and 1, and their mean over two wavelengths."""
    figure = new_figure(10, 6)
    panels = list(figure.subplots(2, 2, sharex=True).flat)
    for axes, (name, measured) in zip(panels, found.items(), strict=True):
        course = measured.course[0] / measured.course[0, 2].mean(axis=0)
        time = DT * np.arange(course.shape[1])
        for k, reading in zip(range(course.shape[2]), READINGS.values(), strict=False):
            reading = "one detector, or whole learned patch" if k == 0 else reading
            axes.plot(time, course[0, :, k], color=f"C{k}", linewidth=5, alpha=0.35, label=f"{reading}, luminance 0")
            axes.plot(time, course[1, :, k], color=f"C{k}", linewidth=1.5, label=f"{reading}, luminance 1")
        axes.plot(time, course[2, :, 0], "--", color="black", linewidth=1, label="mean over two wavelengths")
        axes.axhline(0, color="0.8", linewidth=1, zorder=0)
        axes.set_title(mark(name)["label"], fontsize=10)
        axes.set_ylabel("output over its mean")
    for axes in panels[2:]:
        axes.set_xlabel("time [s]")
    figure.legend(*panels[-1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"grating of {config.wavelength:g} deg, {config.frequencies[0]:g} Hz, delay {TAU:g} s", fontsize=11)
    return figure
