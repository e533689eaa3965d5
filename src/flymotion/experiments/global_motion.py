"""What experiments found in the summed motion signal (Section 3.3): contrast, oscillations, velocity (C17, C18, C19).

The three-pixel detector, the Hassenstein-Reichardt detector (HRD), and filters learned in L1 and L2 look at gratings.
Learned filters are in pixel coordinates, and their opponent signal is the right unit's response less the left unit's;
read as a whole patch, or by the change at the central pixel alone, as one T4 would (Section 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flymotion.detectors import Detector, hassenstein_reichardt, learned, three_pixel
from flymotion.experiments.claims import Claim, above, all_of, below, report, within
from flymotion.experiments.learning import RATE
from flymotion.experiments.work import Each, in_turn
from flymotion.experiments.worlds import WORLDS, rightward_first, stack
from flymotion.eyes import Grid, acceptance_sigma
from flymotion.generators import Generators
from flymotion.photoreceptors import DivisiveNormalization
from flymotion.similarity import NonnegativeSimilarityMatching
from flymotion.stimuli import Stimulus, drifting_grating
from flymotion.temporal import Delay, LowPass, Step, transfer
from flymotion.tuning import eye_for, tune

__all__ = [
    "DT",
    "FILTERS",
    "NAMES",
    "READINGS",
    "TAU",
    "Config",
    "Measured",
    "Result",
    "check",
    "jobs",
    "peak_velocities",
    "run",
    "slopes",
]

TAU = 0.15
"""Delay, and time constant of the low-pass [s]."""

DT = 0.01
"""Time between frames [s]."""

FILTERS: dict[str, tuple[Step, float, float]] = {
    "delay": (Delay(TAU), TAU, 1 / (4 * TAU)),
    "low-pass": (LowPass(TAU), 10 * TAU, 1 / (2 * math.pi * TAU)),
}
"""What delays; when transients have faded [s]; the temporal frequency of the largest mean output [Hz]."""

READINGS = {"patch": "whole patch", "row": "change at the central pixel"}
"""How learned filters are read."""

NAMES = ("three-pixel", "hrd", *WORLDS)
"""Detectors: two of the literature, and those learned in each world."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of the filters learned in each world.
    n, n_pairs : int
        Pixels, and pairs of frames to learn from. The two filters are mirror images but for chance. How far they are
        not moves the best temporal frequency, the more the longer the wavelength. Of the filters of ten seeds some went
        beyond C19's 2 % at 80 and 100 deg, to 2.8 %, with 50,000 pairs and with 150,000.
    wavelength : float
        Of the gratings whose contrast changes, and that oscillations follow [deg]: eight pixels.
    contrasts : tuple of float
        Michelson contrasts.
    half_saturation : float
        Contrast (root mean square) at which the normalised signal is half way to saturation.
    frequencies : tuple of float
        Temporal frequencies of oscillations, periods whole frames [Hz].
    contrast : float
        At which oscillations and velocities are shown.
    wavelengths : tuple of float
        Of the gratings whose velocity changes [deg]: whole pixels.
    speeds : (float, float, int)
        Slowest and fastest velocity of all gratings [deg/s], and how many, evenly spaced in their logarithm.
    """

    n_seeds: int = 10
    n: int = 5
    n_pairs: int = 100_000
    wavelength: float = 40.0
    contrasts: tuple[float, ...] = tuple(2.0**k for k in range(-7, 1))
    half_saturation: float = 0.1
    frequencies: tuple[float, ...] = (0.5, 1.0, 2.0, 2.5)
    contrast: float = 0.5
    wavelengths: tuple[float, ...] = (20.0, 30.0, 40.0, 50.0, 60.0)
    speeds: tuple[float, float, int] = (6.0, 160.0, 24)

    @classmethod
    def quick(cls) -> Config:
        """Return fewer seeds."""
        return cls(n_seeds=2)

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of the gratings, shape (n_speeds,) [deg/s]."""
        return np.geomspace(*self.speeds)


class Measured(NamedTuple):
    """Opponent responses of one detector; the last axis is of :data:`READINGS`, or 1 long."""

    contrast: np.ndarray
    """Mean response by contrast, without and with normalisation before it, shape (2, n_contrasts, n_readings)."""
    velocity: np.ndarray
    """Mean response, shape (n_filters, n_wavelengths, n_speeds, n_readings)."""
    oscillation: np.ndarray
    """Amplitude at 2f over the mean at one position, mean luminance 0, shape (n_frequencies, n_readings)."""
    expected: np.ndarray
    """The same in closed form."""
    luminance: np.ndarray
    """At mean luminance 1: amplitude at f over the mean, and share of the oscillation's power that is at f; shape
    (2, n_frequencies, n_readings)."""
    single: np.ndarray
    """Largest less smallest response over the mean at one position, mean luminance 0, shape as ``oscillation``."""
    summed: np.ndarray
    """The same of the sum over two wavelengths, mean luminances 0 and 1, shape (2, n_frequencies, n_readings)."""
    course: np.ndarray
    """Two periods of the first frequency at one position, at mean luminances 0 and 1, and of the mean over two
    wavelengths, shape (3, n_frames, n_readings)."""


@dataclass(frozen=True)
class Result:
    """What every detector does, by its name; every array has an axis of seeds first, 1 long where nothing is random."""

    config: Config
    measured: dict[str, Measured]


class _Looking(NamedTuple):
    """A detector by what delays, how its units are read, and the closed form of its oscillation."""

    make: Callable[[Step], Detector]
    readings: np.ndarray
    """Weights of the units, shape (n_units, n_readings)."""
    expected: Callable[[float, float], np.ndarray]
    """Of temporal frequency [Hz] and phase between neighbours [rad], shape (n_readings,)."""

    def opponent(self, responses: np.ndarray, detector: Detector) -> np.ndarray:
        """Return readings of responses, shape (..., n_readings)."""
        return (responses if detector.directions else responses[..., None]) @ self.readings


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work."""
    fixed = [partial(_measure, config, name, 0) for name in NAMES if name not in WORLDS]
    return fixed + [partial(_measure, config, name, seed) for name in WORLDS for seed in range(config.n_seeds)]


def run(config: Config, each: Each = in_turn) -> Result:
    """Learn, and show gratings to all detectors."""
    work = jobs(config)
    done = [(piece.args[1], measured) for piece, measured in zip(work, each(work), strict=True)]
    return Result(config, {name: stack([m for of, m in done if of == name]) for name in NAMES})


def _measure(config: Config, name: str, seed: int) -> Measured:
    looking = _look(config, name, seed)
    detector = looking.make(Delay(TAU))
    flat = [_waves(config, looking, detector, frequency) for frequency in config.frequencies]
    oscillation, luminance, single, summed = (np.stack(values) for values in zip(*flat, strict=True))
    k = 2 * math.pi * detector.spacing / config.wavelength
    return Measured(
        contrast=_by_contrast(config, looking),
        velocity=np.stack([_by_velocity(config, looking, step, settle) for step, settle, _ in FILTERS.values()]),
        oscillation=oscillation,
        expected=np.stack([looking.expected(frequency, k) for frequency in config.frequencies]),
        luminance=luminance.swapaxes(0, 1),
        single=single,
        summed=summed.swapaxes(0, 1),
        course=_course(config, looking, detector),
    )


# -- detectors -------------------------------------------------------------------------------------------------------


def _look(config: Config, name: str, seed: int) -> _Looking:
    if name == "three-pixel":
        return _Looking(three_pixel, np.ones((1, 1)), _three_pixel_oscillation)
    if name == "hrd":
        return _Looking(hassenstein_reichardt, np.ones((1, 1)), _no_oscillation)
    world = WORLDS[name]
    whitening, chi = world.lesson(config.n, config.n_pairs, [seed, 17])
    network = NonnegativeSimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi)
    both = network.generators_[rightward_first(network.generators_)]
    patch = Generators(both, (config.n,), whitening.matrix_).in_pixels().operators
    middle = np.arange(config.n) == config.n // 2
    units = np.concatenate([patch, patch * middle[:, None]])
    readings = np.kron(np.eye(2), [[1.0], [-1.0]])  # right less left, of patch and of row
    opponent = np.tensordot(readings.T, units, axes=1)
    share = {"change": 1.0, "midpoint": 0.5}[world.feature]
    make = partial(learned, Generators(units, (config.n,)), feature=world.feature)
    return _Looking(make, readings, partial(_learned_oscillation, opponent, share))


def _three_pixel_oscillation(frequency: float, k: float) -> np.ndarray:
    r"""Of :math:`2 c^2 \sin k \sin(\omega\tau/2) [\cos(\omega\tau/2) - \cos(2\varphi - \omega\tau/2)]`."""
    return np.array([1 / math.cos(math.pi * frequency * TAU)])


def _no_oscillation(frequency: float, k: float) -> np.ndarray:
    return np.zeros(1)


def _learned_oscillation(operators: np.ndarray, share: float, frequency: float, k: float) -> np.ndarray:
    r"""Amplitude at 2f over the mean of :math:`(g - f)' A (s f + (1 - s) g)`, by complex amplitudes.

    With :math:`z_j = e^{-ikj}`, :math:`H = e^{-i\omega\tau}` and :math:`S = s H + 1 - s`, it is
    :math:`|(1 - H) S\, z' A z| / \mathrm{Re}[(1 - H) \bar S\, z' A \bar z]`; 0 for an antisymmetric A.
    """
    z = np.exp(-1j * k * np.arange(operators.shape[1]))
    H = transfer((Delay(TAU),), frequency, DT)
    S = share * H + 1 - share
    twice, mean = operators @ z @ z, operators @ z.conj() @ z
    return np.abs((1 - H) * S * twice) / ((1 - H) * S.conj() * mean).real


# -- contrast and velocity -------------------------------------------------------------------------------------------


def _by_contrast(config: Config, looking: _Looking) -> np.ndarray:
    """Return mean responses of the detector with a delay line, without and with normalisation, to a grating of 1 Hz."""
    detector = looking.make(Delay(TAU))
    pool = 2 * round(config.wavelength / detector.spacing)  # whole wavelengths, so the pool's power is constant
    eye = Grid(1, pool, acceptance_sigma(detector.acceptance, detector.spacing))
    stimulus = partial(drifting_grating, wavelength=config.wavelength, duration=TAU + DT)
    stages = (None, DivisiveNormalization(config.half_saturation).fit(np.zeros((1, pool))))
    settings: dict[str, Any] = {"dt": DT, "settle": TAU, "repeats": 3, "eye": eye}  # three phases: no oscillation left
    design: dict[str, Any] = {"contrast": config.contrasts}
    means = [tune(detector, stimulus, design, early_vision=stage, **settings) for stage in stages]
    return np.stack([looking.opponent(mean.response.values, detector) for mean in means])


def _moving_grating(*, speed: float, wavelength: float, contrast: float, duration: float) -> Stimulus:
    return drifting_grating(
        wavelength=wavelength,
        temporal_frequency=speed / wavelength,
        contrast=contrast,
        phase=0.0,
        duration=duration,
    )


def _by_velocity(config: Config, looking: _Looking, delayed: Step, settle: float) -> np.ndarray:
    """Return responses averaged over one wavelength, shape (n_wavelengths, n_speeds, n_readings)."""
    detector = looking.make(delayed)
    means = []
    for length in config.wavelengths:
        stimulus = partial(_moving_grating, wavelength=length, contrast=config.contrast, duration=settle + DT)
        eye = eye_for(detector, round(length / detector.spacing))
        means.append(
            tune(detector, stimulus, {"speed": config.velocities.tolist()}, dt=DT, settle=settle, repeats=1, eye=eye)
        )
    return np.stack([looking.opponent(mean.response.values, detector) for mean in means])


# -- oscillations ----------------------------------------------------------------------------------------------------


def _responses(
    config: Config, looking: _Looking, detector: Detector, frequency: float, periods: int, mean: float
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
    return looking.opponent(responses[-n_frames:], detector)


def _waves(config: Config, looking: _Looking, detector: Detector, frequency: float) -> tuple[np.ndarray, ...]:
    """Measure oscillations at one frequency: at 2f without mean luminance, at f with it, and what is left of sums."""
    dark, light = (_responses(config, looking, detector, frequency, 1, mean) for mean in (0.0, 1.0))
    amplitudes = 2 * np.abs(np.fft.rfft(light[:, 0], axis=0)) / len(light)
    at_f = np.stack(
        [amplitudes[1] / np.abs(light[:, 0].mean(axis=0)), amplitudes[1] ** 2 / (amplitudes[1:] ** 2).sum(axis=0)]
    )
    twice = 2 * np.abs(np.fft.rfft(dark[:, 0], axis=0)[2]) / len(dark)
    sums = np.stack([_variation(responses.sum(axis=1)) for responses in (dark, light)])
    return twice / dark[:, 0].mean(axis=0), at_f, _variation(dark[:, 0]), sums


def _variation(course: np.ndarray) -> np.ndarray:
    """Largest less smallest value over the mean, shape (n_readings,)."""
    return np.ptp(course, axis=0) / np.abs(course.mean(axis=0))


def _course(config: Config, looking: _Looking, detector: Detector) -> np.ndarray:
    dark, light = (_responses(config, looking, detector, config.frequencies[0], 2, mean) for mean in (0.0, 1.0))
    return np.stack([dark[:, 0], light[:, 0], dark.mean(axis=1)])


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
