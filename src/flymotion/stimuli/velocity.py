"""Content whose velocity changes: steps and noise of velocity of a grating or of any scene in the plane.

Paths are functions of time: whatever frames are asked for, the content is at the same place at the same time. Where it
is at times t is ``stimulus.parts[0].path(t)``, from which velocities follow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import lfilter

from flymotion.brevity import in_brief
from flymotion.stimuli.arguments import takes
from flymotion.stimuli.gratings import as_phase
from flymotion.stimuli.paths import Track
from flymotion.stimuli.stimulus import Part, Stimulus
from flymotion.world.conventions import as_generator, positive
from flymotion.world.scenes import FlatScene, Grating

__all__ = ["Content", "velocity_noise", "velocity_steps"]

MOST = 2**23
"""Samples of a random velocity."""

SAMPLE = 1e-3
"""Time for which a random velocity stays the same [s]."""


@dataclass(frozen=True)
class Content:
    """What moves, and along which direction: the arguments that all constructors take.

    Parameters
    ----------
    direction : float
        [deg]: 0 = right, 90 = up.
    scene : FlatScene, optional
        Of two dimensions, in degrees; by default a sine grating.
    wavelength, contrast, phase
        Of the grating, as of :class:`~flymotion.stimuli.Wave`.
    random_state : int, Generator, RandomState or None
        Source of the phase, then of the velocity where that is random.

    Raises
    ------
    ValueError
        A wavelength that is not positive.
    """

    direction: float = 0.0
    scene: FlatScene | None = None
    wavelength: float = 30.0
    contrast: float = 0.5
    phase: float | None = None
    random_state: Any = 0

    __repr__ = in_brief

    def __post_init__(self) -> None:
        positive(wavelength=self.wavelength)

    def shown(self, rng: np.random.Generator) -> FlatScene:
        """Return the scene; a phase is drawn in any case, so that a velocity drawn next is the same for any content."""
        drawn = as_phase(None, rng)
        if self.scene is not None:
            return self.scene
        phase = drawn if self.phase is None else self.phase
        return Grating(self.wavelength, self.contrast, self.direction, phase, ndim=2)

    def path(self, speeds: Any, interval: float) -> Track:
        """Return where it is when it moves at each speed for an interval, and then rests."""
        distances = np.append(0.0, np.cumsum(np.asarray(speeds, dtype=float) * interval))
        return Track(distances, interval, self.direction)


@takes(Content)
def velocity_steps(
    content: Content,
    *,
    speeds: Sequence[float] = (0.0, 30.0, 0.0, -30.0),
    interval: float = 0.5,
    duration: float | None = None,
) -> Stimulus:
    """Return content that moves at one speed after the other, then rests.

    Other parameters, also those that are refused, are those of :class:`~flymotion.stimuli.velocity.Content`.

    Parameters
    ----------
    speeds : sequence of float
        Along ``direction``; negative ones against it [deg/s].
    interval : float
        How long each lasts [s].
    duration : float, optional
        By default as long as the speeds last [s].

    Raises
    ------
    ValueError
        No speeds, or an interval or duration that is not positive.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> there_and_back = velocity_steps(speeds=(10.0, -10.0), interval=0.5, wavelength=20.0, phase=0.0)
    >>> there_and_back.movie(Line(3, sigma=0.0), dt=0.25, spacing=5.0).round(2) + 0.0
    array([[ 0.  ,  0.5 ,  0.  ],
           [-0.35,  0.35,  0.35],
           [-0.5 ,  0.  ,  0.5 ],
           [-0.35,  0.35,  0.35]])
    """
    if len(speeds) == 0:
        raise ValueError("no speeds; expected one or more [deg/s]")
    duration = len(speeds) * interval if duration is None else duration
    positive(interval=interval, duration=duration)
    scene = content.shown(as_generator(content.random_state))
    return Stimulus((Part(scene, content.path(speeds, interval)),), duration)


@takes(Content)
def velocity_noise(content: Content, *, std: float = 30.0, tau: float = 0.2, duration: float = 2.0) -> Stimulus:
    r"""Return content whose velocity is an Ornstein-Uhlenbeck process: Gaussian, of exponential correlation.

    .. math:: \langle v(t)\, v(t + s) \rangle = \mathrm{std}^2 e^{-|s| / \tau}

    The velocity is that of its samples, 1 ms each. A longer stimulus of the same seed begins as a shorter one does.
    Other parameters, also those that are refused, are those of :class:`~flymotion.stimuli.velocity.Content`.

    Parameters
    ----------
    std : float
        Standard deviation of the velocity, which is 0 on average [deg/s].
    tau : float
        Time constant [s].
    duration : float
        [s].

    Raises
    ------
    ValueError
        A time constant or duration that is not positive, or of more than 2^23 ms; a negative standard deviation.

    Examples
    --------
    >>> shaken = velocity_noise(std=30.0, tau=0.2, duration=10.0, random_state=0)
    >>> x = shaken.parts[0].path(np.arange(0, 10, 0.01))[:, 0]  # where it is [deg]
    >>> velocity = np.diff(x) / 0.01
    >>> after_tau = np.corrcoef(velocity[:-20], velocity[20:])[0, 1]
    >>> round(float(velocity.std())), round(float(after_tau), 2)  # deg/s, and 1/e
    (30, 0.35)
    """
    positive(tau=tau, duration=duration)
    if not 0 <= std < math.inf:
        raise ValueError(f"std is {std}; expected a finite standard deviation of 0 or more deg/s")
    if duration > MOST * SAMPLE:
        raise ValueError(f"duration is {duration:g} s; expected {MOST * SAMPLE:g} s at most, {MOST} random velocities")
    rng = as_generator(content.random_state)
    scene, kept = content.shown(rng), math.exp(-SAMPLE / tau)
    white = rng.standard_normal(math.ceil(duration / SAMPLE) + 1)
    velocity = std * lfilter([math.sqrt(1 - kept**2)], [1, -kept], white[1:], zi=kept * white[:1])[0]
    return Stimulus((Part(scene, content.path(velocity, SAMPLE)),), duration)
