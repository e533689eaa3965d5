"""What is measured of a detector's responses to gratings: contrast, velocity, oscillation."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.global_motion.detectors import DT, FILTERS, TAU, Config, Looking, look
from flymotion.detectors import Detector
from flymotion.detectors.temporal import Delay, Step
from flymotion.photoreceptors import DivisiveNormalization
from flymotion.stimuli import drifting_grating
from flymotion.tuning import eye_for, tune
from flymotion.tuning.experiments import grating_at_speed
from flymotion.world.eyes import Grid, acceptance_sigma

__all__ = ["Measured", "measure"]


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


def measure(config: Config, name: str, seed: int) -> Measured:
    """Show gratings of all contrasts, velocities and frequencies to one detector."""
    looking = look(config, name, seed)
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


# -- contrast and velocity -------------------------------------------------------------------------------------------


def _by_contrast(config: Config, looking: Looking) -> np.ndarray:
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


def _by_velocity(config: Config, looking: Looking, delayed: Step, settle: float) -> np.ndarray:
    """Return responses averaged over one wavelength, shape (n_wavelengths, n_speeds, n_readings)."""
    detector = looking.make(delayed)
    means, shown = [], {"contrast": config.contrast, "phase": 0.0, "duration": settle + DT}
    for length in config.wavelengths:
        stimulus = partial(grating_at_speed, wavelength=length, **shown)
        eye = eye_for(detector, round(length / detector.spacing))
        means.append(
            tune(detector, stimulus, {"speed": config.velocities.tolist()}, dt=DT, settle=settle, repeats=1, eye=eye)
        )
    return np.stack([looking.opponent(mean.response.values, detector) for mean in means])


# -- oscillations ----------------------------------------------------------------------------------------------------


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
    return looking.opponent(responses[-n_frames:], detector)


def _waves(config: Config, looking: Looking, detector: Detector, frequency: float) -> tuple[np.ndarray, ...]:
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


def _course(config: Config, looking: Looking, detector: Detector) -> np.ndarray:
    dark, light = (_responses(config, looking, detector, config.frequencies[0], 2, mean) for mean in (0.0, 1.0))
    return np.stack([dark[:, 0], light[:, 0], dark.mean(axis=1)])
