"""Gratings that drift, flicker, cross and jump: sums and gains of one wave.

All share one meaning of ``phase``: that of the grating at the origin at time 0 [rad]; by default it is drawn from
``random_state``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from flymotion.stimuli.arguments import takes
from flymotion.stimuli.paths import Cosine, Stepped
from flymotion.stimuli.stimulus import Drift, Part, Stimulus
from flymotion.world.conventions import as_generator, positive
from flymotion.world.scenes import Grating, Scene, SquareGrating

__all__ = [
    "Wave",
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


@dataclass(frozen=True)
class Wave:
    """What gratings are made of, and the arguments that all their constructors take.

    Parameters
    ----------
    wavelength : float
        Spatial period [deg].
    temporal_frequency : float
        [Hz]; waves move at ``temporal_frequency * wavelength`` deg/s.
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

    Examples
    --------
    >>> import numpy as np
    >>> wave = Wave(wavelength=20.0, temporal_frequency=2.0, direction=180.0)
    >>> wave.path(np.array([0.0, 0.5])).round(6) + 0.0  # 40 deg/s to the left
    array([[  0.,   0.],
           [-20.,   0.]])
    """

    wavelength: float = 30.0
    temporal_frequency: float = 1.0
    direction: float = 0.0
    contrast: float = 0.5
    phase: float | None = None
    duration: float = 2.0
    random_state: Any = 0

    def __post_init__(self) -> None:
        positive(wavelength=self.wavelength, duration=self.duration)
        object.__setattr__(self, "phase", as_phase(self.phase, self.random_state))

    @property
    def path(self) -> Drift:
        """Where the wave is as time goes by."""
        return Drift(self.temporal_frequency * self.wavelength, self.direction)

    def scene(self, kind: Callable[..., Scene] = Grating) -> Scene:
        """Return the wave at time 0, as a sine grating or of another kind."""
        return kind(self.wavelength, self.contrast, self.direction, self.phase, ndim=2)


def _sum(*waves: Wave, kind: Callable[..., Scene] = Grating) -> Stimulus:
    """Return waves that drift, added up."""
    return Stimulus(tuple(Part(wave.scene(kind), wave.path) for wave in waves), waves[0].duration)


@takes(Wave)
def drifting_grating(wave: Wave) -> Stimulus:
    """Return a sine grating that drifts at ``temporal_frequency * wavelength`` deg/s.

    Parameters, also those that are refused, are those of :class:`Wave`.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> grating = drifting_grating(wavelength=20.0, temporal_frequency=1.0, phase=0.0, duration=0.5)
    >>> grating.movie(Line(3, sigma=0.0), dt=0.25, spacing=5.0).round(9) + 0.0
    array([[ 0. ,  0.5,  0. ],
           [-0.5,  0. ,  0.5]])
    """
    return _sum(wave)


@takes(Wave)
def square_grating(wave: Wave) -> Stimulus:
    """Return a square grating, bright and dark bars half a wavelength wide, that drifts.

    Parameters, also those that are refused, are those of :class:`Wave`; bars are ``contrast`` above and below the mean,
    whatever the optics leave of it.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> bars = square_grating(wavelength=20.0, phase=0.0, duration=0.75)
    >>> bars.movie(Line(4, sigma=0.0), dt=0.25, spacing=5.0)
    array([[-0.5,  0.5,  0.5, -0.5],
           [-0.5, -0.5,  0.5,  0.5],
           [ 0.5, -0.5, -0.5,  0.5]])
    """
    return _sum(wave, kind=SquareGrating)


@takes(Wave)
def counterphase_grating(wave: Wave) -> Stimulus:
    r"""Return a sine grating that stands and flickers.

    .. math:: c \cos(2 \pi d / L + \varphi) \cos(2 \pi f t)
        = \tfrac{c}{2} \cos(2 \pi (d / L - f t) + \varphi) + \tfrac{c}{2} \cos(2 \pi (d / L + f t) + \varphi)

    two gratings of half the contrast that drift in opposite directions: it has energy of motion, and none of it net.

    Parameters, also those that are refused, are those of :class:`Wave`; ``direction`` is that of the wave vector.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> flicker = counterphase_grating(wavelength=20.0, phase=0.0, duration=0.75)
    >>> flicker.movie(Line(3, sigma=0.0), dt=0.25, spacing=10.0).round(6) + 0.0
    array([[-0.5,  0.5, -0.5],
           [ 0. ,  0. ,  0. ],
           [ 0.5, -0.5,  0.5]])
    """
    return Stimulus((Part(wave.scene(), gain=Cosine(wave.temporal_frequency)),), wave.duration)


@takes(Wave)
def opponent_gratings(wave: Wave, *, opposing: float = 0.5) -> Stimulus:
    """Return a grating that drifts along ``direction`` and, added to it, the same one drifting the other way.

    Both have the same phase. Other parameters, also those that are refused, are those of :class:`Wave`.

    Parameters
    ----------
    opposing : float
        Michelson contrast of the grating that drifts the other way.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> both = opponent_gratings(opposing=0.5, wavelength=20.0, phase=0.0, duration=0.5)
    >>> both.movie(Line(3, sigma=0.0), dt=0.25, spacing=5.0).round(6) + 0.0  # as much each way: it stands and flickers
    array([[0., 1., 0.],
           [0., 0., 0.]])
    """
    return _sum(wave, replace(wave, contrast=opposing, temporal_frequency=-wave.temporal_frequency))


@takes(Wave)
def plaid(wave: Wave, *, angle: float = 90.0) -> Stimulus:
    r"""Return two gratings, added, that drift ``angle`` / 2 to either side of ``direction``.

    The pattern moves along ``direction`` at :math:`f L / \cos(\mathrm{angle} / 2)`. Both gratings have the same phase,
    and half of the contrast, which is that of the pattern. Other parameters, also those that are refused, are those of
    :class:`Wave`.

    Parameters
    ----------
    angle : float
        Between the directions in which the gratings drift [deg].

    Examples
    --------
    >>> from flymotion.world.eyes import Grid
    >>> diagonals = plaid(angle=90.0, wavelength=20.0, phase=0.0, duration=0.25)
    >>> diagonals.movie(Grid(3, 3, sigma=0.0), dt=0.25, spacing=5.0)[0].round(2) + 0.0
    array([[0.1 , 0.22, 0.1 ],
           [0.22, 0.5 , 0.22],
           [0.1 , 0.22, 0.1 ]])
    """
    half = replace(wave, contrast=wave.contrast / 2)
    return _sum(*(replace(half, direction=wave.direction + turn) for turn in (-angle / 2, angle / 2)))


@takes(Wave)
def reverse_phi(wave: Wave, *, interval: float = 0.25, reverse: bool = True) -> Stimulus:
    """Return a grating that jumps along ``direction`` and is inverted at each jump: what is seen moves the other way.

    Jumps are of ``temporal_frequency * interval`` wavelengths. Inverting a sine moves it by half a wavelength: with
    jumps of a quarter, as by default, reverse phi is plain phi in the opposite direction, frame by frame. Other
    parameters, also those that are refused, are those of :class:`Wave`.

    Parameters
    ----------
    interval : float
        Between jumps [s].
    reverse : bool
        Whether it is inverted at each jump; if not it is plain phi, apparent motion along ``direction``.

    Raises
    ------
    ValueError
        An interval that is not positive.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> jumps = reverse_phi(wavelength=20.0, direction=0.0, phase=0.0, duration=0.75)
    >>> jumps.movie(Line(4, sigma=0.0), dt=0.25, spacing=5.0).round(2) + 0.0  # what is seen goes to the left
    array([[-0.35,  0.35,  0.35, -0.35],
           [ 0.35,  0.35, -0.35, -0.35],
           [ 0.35, -0.35, -0.35,  0.35]])
    """
    positive(interval=interval)
    inverted = Stepped(Cosine(0.5 / interval), interval)  # 1 and -1, by turns
    part = Part(wave.scene(), Stepped(wave.path, interval), inverted if reverse else None)
    return Stimulus((part,), wave.duration)
