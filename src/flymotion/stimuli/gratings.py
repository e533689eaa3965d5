"""Gratings that drift, flicker and cross."""

from __future__ import annotations

import math
from typing import Any

from flymotion.scenes import Grating, as_generator
from flymotion.stimuli.base import Drift, Part, Stimulus

__all__ = ["drifting_grating"]


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
    """
    if phase is None:
        phase = as_generator(random_state).uniform(0, 2 * math.pi)
    scene = Grating(wavelength, contrast, direction, phase, ndim=2)
    return Stimulus((Part(scene, Drift(temporal_frequency * wavelength, direction)),), duration)
