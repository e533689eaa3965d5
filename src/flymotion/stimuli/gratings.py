"""Gratings that drift, flicker, cross and jump.

All share one meaning of ``phase``: that of the grating at the origin at time 0 [rad]; by default it is drawn from
``random_state``.
"""

from __future__ import annotations

import math
from typing import Any

from flymotion.stimuli.paths import Cosine, Stepped, positive
from flymotion.stimuli.stimulus import Drift, Part, Stimulus
from flymotion.world.conventions import as_generator
from flymotion.world.scenes import Grating, SquareGrating

__all__ = [
    "counterphase_grating",
    "drifting_grating",
    "opponent_gratings",
    "plaid",
    "reverse_phi",
    "square_grating",
]


def as_phase(phase: float | None, random_state: Any) -> float:
    """Return the phase, or draw one [rad]."""
    return as_generator(random_state).uniform(0, 2 * math.pi) if phase is None else phase


def drifting_grating(
    *,
    wavelength: float = 30.0,
    temporal_frequency: float = 1.0,
    direction: float = 0.0,
    contrast: float = 0.5,
    phase: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    """Return a sine grating that drifts at ``temporal_frequency * wavelength`` deg/s.

    Parameters
    ----------
    wavelength : float
        Spatial period [deg].
    temporal_frequency : float
        [Hz].
    direction : float
        Of motion [deg]: 0 = right, 90 = up.
    contrast : float
        Michelson contrast.
    phase : float, optional
        [rad]; by default drawn from ``random_state``.
    duration : float
        [s].
    random_state : int, Generator, RandomState or None
        Source of the phase.

    Raises
    ------
    ValueError
        A wavelength or duration that is not positive.
    """
    positive(wavelength=wavelength, duration=duration)
    scene = Grating(wavelength, contrast, direction, as_phase(phase, random_state), ndim=2)
    return Stimulus((Part(scene, Drift(temporal_frequency * wavelength, direction)),), duration)


def square_grating(
    *,
    wavelength: float = 30.0,
    temporal_frequency: float = 1.0,
    direction: float = 0.0,
    contrast: float = 0.5,
    phase: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    """Return a square grating, bright and dark bars half a wavelength wide, that drifts.

    Parameters, also those that are refused, are those of :func:`drifting_grating`; bars are ``contrast`` above and
    below the mean, whatever the optics leave of it.
    """
    positive(wavelength=wavelength, duration=duration)
    scene = SquareGrating(wavelength, contrast, direction, as_phase(phase, random_state), ndim=2)
    return Stimulus((Part(scene, Drift(temporal_frequency * wavelength, direction)),), duration)


def counterphase_grating(
    *,
    wavelength: float = 30.0,
    temporal_frequency: float = 1.0,
    direction: float = 0.0,
    contrast: float = 0.5,
    phase: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    r"""Return a sine grating that stands and flickers.

    .. math:: c \cos(2 \pi d / L + \varphi) \cos(2 \pi f t)
        = \tfrac{c}{2} \cos(2 \pi (d / L - f t) + \varphi) + \tfrac{c}{2} \cos(2 \pi (d / L + f t) + \varphi)

    two gratings of half the contrast that drift in opposite directions: it has energy of motion, and none of it net.

    Parameters, also those that are refused, are those of :func:`drifting_grating`; ``direction`` is that of the wave
    vector.
    """
    positive(wavelength=wavelength, duration=duration)
    scene = Grating(wavelength, contrast, direction, as_phase(phase, random_state), ndim=2)
    return Stimulus((Part(scene, gain=Cosine(temporal_frequency)),), duration)


def opponent_gratings(
    *,
    wavelength: float = 30.0,
    temporal_frequency: float = 1.0,
    direction: float = 0.0,
    contrast: float = 0.5,
    opposing: float = 0.5,
    phase: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    """Return a grating that drifts along ``direction`` and, added to it, the same one drifting the other way.

    Parameters
    ----------
    wavelength, temporal_frequency, direction, phase, duration, random_state
        As for :func:`drifting_grating`; both gratings have the same phase.
    contrast : float
        Michelson contrast of the grating that drifts along ``direction``.
    opposing : float
        Michelson contrast of the other one.

    Raises
    ------
    ValueError
        A wavelength or duration that is not positive.
    """
    positive(wavelength=wavelength, duration=duration)
    phase, speed = as_phase(phase, random_state), temporal_frequency * wavelength
    parts = tuple(
        Part(Grating(wavelength, c, direction, phase, ndim=2), Drift(v, direction))
        for c, v in ((contrast, speed), (opposing, -speed))
    )
    return Stimulus(parts, duration)


def plaid(
    *,
    angle: float = 90.0,
    wavelength: float = 30.0,
    temporal_frequency: float = 1.0,
    direction: float = 0.0,
    contrast: float = 0.5,
    phase: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    r"""Return two gratings, added, that drift ``angle`` / 2 to either side of ``direction``.

    The pattern moves along ``direction`` at :math:`f L / \cos(\mathrm{angle} / 2)`.

    Parameters
    ----------
    angle : float
        Between the directions in which the gratings drift [deg].
    wavelength, temporal_frequency, direction, phase, duration, random_state
        As for :func:`drifting_grating`; both gratings have the same phase.
    contrast : float
        Michelson contrast of the pattern: each grating has half of it.

    Raises
    ------
    ValueError
        A wavelength or duration that is not positive.
    """
    positive(wavelength=wavelength, duration=duration)
    phase, speed = as_phase(phase, random_state), temporal_frequency * wavelength
    parts = tuple(
        Part(Grating(wavelength, contrast / 2, way, phase, ndim=2), Drift(speed, way))
        for way in (direction - angle / 2, direction + angle / 2)
    )
    return Stimulus(parts, duration)


def reverse_phi(
    *,
    wavelength: float = 30.0,
    temporal_frequency: float = 1.0,
    interval: float = 0.25,
    direction: float = 0.0,
    contrast: float = 0.5,
    reverse: bool = True,
    phase: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    """Return a grating that jumps along ``direction`` and is inverted at each jump: what is seen moves the other way.

    Jumps are of ``temporal_frequency * interval`` wavelengths. Inverting a sine moves it by half a wavelength: with
    jumps of a quarter, as by default, reverse phi is plain phi in the opposite direction, frame by frame.

    Parameters
    ----------
    wavelength, direction, contrast, phase, duration, random_state
        As for :func:`drifting_grating`.
    temporal_frequency : float
        Wavelengths that the grating jumps in a second [Hz].
    interval : float
        Between jumps [s].
    reverse : bool
        Whether it is inverted at each jump; if not it is plain phi, apparent motion along ``direction``.

    Raises
    ------
    ValueError
        A wavelength, interval or duration that is not positive.
    """
    positive(wavelength=wavelength, interval=interval, duration=duration)
    scene = Grating(wavelength, contrast, direction, as_phase(phase, random_state), ndim=2)
    path = Stepped(Drift(temporal_frequency * wavelength, direction), interval)
    inverted = Stepped(Cosine(0.5 / interval), interval)  # 1 and -1, by turns
    return Stimulus((Part(scene, path, inverted if reverse else None),), duration)
