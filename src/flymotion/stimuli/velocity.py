"""Content whose velocity changes: steps and noise of velocity of a grating or of any scene in the plane.

Paths are functions of time: whatever frames are asked for, the content is at the same place at the same time. Where it
is at times t is ``stimulus.parts[0].path(t)``, from which velocities follow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.signal import lfilter

from flymotion.stimuli.gratings import as_phase
from flymotion.stimuli.paths import Track, positive
from flymotion.stimuli.stimulus import Part, Stimulus
from flymotion.world.conventions import as_generator
from flymotion.world.scenes import FlatScene, Grating

__all__ = ["velocity_noise", "velocity_steps"]

SAMPLE = 1e-3
"""Time for which a random velocity stays the same [s]."""


def velocity_steps(
    *,
    speeds: Sequence[float] = (0.0, 30.0, 0.0, -30.0),
    interval: float = 0.5,
    direction: float = 0.0,
    scene: FlatScene | None = None,
    wavelength: float = 30.0,
    contrast: float = 0.5,
    phase: float | None = None,
    duration: float | None = None,
    random_state: Any = 0,
) -> Stimulus:
    """Return content that moves at one speed after the other, then rests.

    Parameters
    ----------
    speeds : sequence of float
        Along ``direction``; negative ones against it [deg/s].
    interval : float
        How long each lasts [s].
    direction : float
        [deg]: 0 = right, 90 = up.
    scene : FlatScene, optional
        Content, of two dimensions, in degrees; by default a sine grating.
    wavelength, contrast, phase, random_state
        Of the grating, as for :func:`~flymotion.stimuli.drifting_grating`.
    duration : float, optional
        By default as long as the speeds last [s].

    Raises
    ------
    ValueError
        No speeds, or an interval, wavelength or duration that is not positive.
    """
    if len(speeds) == 0:
        raise ValueError("no speeds; expected one or more [deg/s]")
    duration = len(speeds) * interval if duration is None else duration
    positive(interval=interval, wavelength=wavelength, duration=duration)
    if scene is None:
        scene = Grating(wavelength, contrast, direction, as_phase(phase, random_state), ndim=2)
    return Stimulus((Part(scene, _integrated(speeds, interval, direction)),), duration)


def velocity_noise(
    *,
    std: float = 30.0,
    tau: float = 0.2,
    direction: float = 0.0,
    scene: FlatScene | None = None,
    wavelength: float = 30.0,
    contrast: float = 0.5,
    phase: float | None = None,
    duration: float = 2.0,
    random_state: Any = 0,
) -> Stimulus:
    r"""Return content whose velocity is an Ornstein-Uhlenbeck process: Gaussian, of exponential correlation.

    .. math:: \langle v(t)\, v(t + s) \rangle = \mathrm{std}^2 e^{-|s| / \tau}

    The velocity is that of its samples, 1 ms each. A longer stimulus of the same seed begins as a shorter one does.

    Parameters
    ----------
    std : float
        Standard deviation of the velocity, which is 0 on average [deg/s].
    tau : float
        Time constant [s].
    direction : float
        [deg]: 0 = right, 90 = up.
    scene : FlatScene, optional
        Content, of two dimensions, in degrees; by default a sine grating.
    wavelength, contrast, phase
        Of the grating, as for :func:`~flymotion.stimuli.drifting_grating`.
    duration : float
        [s].
    random_state : int, Generator, RandomState or None
        Source of the phase, then of the velocity.

    Raises
    ------
    ValueError
        A time constant, wavelength or duration that is not positive, or a negative standard deviation.
    """
    positive(tau=tau, wavelength=wavelength, duration=duration)
    if not 0 <= std < math.inf:
        raise ValueError(f"std is {std}; expected a finite standard deviation of 0 or more deg/s")
    rng = as_generator(random_state)
    drawn = as_phase(None, rng)  # in any case, so that the velocity is the same whatever the content
    if scene is None:
        scene = Grating(wavelength, contrast, direction, drawn if phase is None else phase, ndim=2)
    kept = math.exp(-SAMPLE / tau)
    white = rng.standard_normal(math.ceil(duration / SAMPLE) + 1)
    velocity = std * lfilter([math.sqrt(1 - kept**2)], [1, -kept], white[1:], zi=kept * white[:1])[0]
    return Stimulus((Part(scene, _integrated(velocity, SAMPLE, direction)),), duration)


def _integrated(speeds: Any, interval: float, direction: float) -> Track:
    """Return the path of content that moves at each speed for an interval."""
    return Track(np.append(0.0, np.cumsum(np.asarray(speeds, dtype=float) * interval)), interval, direction)
