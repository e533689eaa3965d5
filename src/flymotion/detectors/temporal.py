r"""Temporal filters of photoreceptor signals: causal, with a small state, so that a stream equals a whole movie.

A chain is a tuple of steps, each a linear filter or a pointwise function, done one after the other:
``(HighPass(0.25), Rectify(), LowPass(0.05))`` is the delayed ON signal of many models. Signals have shape
``(..., n_frames, n_pixels)``; times are in seconds. Before the first frame a signal was constant for ever.

Linear filters are the published impulse responses h(t), sampled at the frames, :math:`h_k \propto h(k\,dt)`, without
truncation: one or two numbers of state a pixel. With :math:`a = e^{-dt/\tau}`, what is left of an exponential after one
frame, they are rational in 1/z; :func:`transfer` gives what each does to a sine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import lfilter, lfilter_zi

from flymotion.frames import not_masked, unmasked

__all__ = [
    "Chain",
    "Delay",
    "Gamma",
    "GammaSlope",
    "HighPass",
    "LowPass",
    "Rectify",
    "Step",
    "filtered",
    "latency",
    "start",
    "transfer",
]


MOST_DELAYED = 2**24
"""Frames of a pure delay."""


@dataclass(frozen=True)
class LowPass:
    r"""First-order low-pass, :math:`h(t) = e^{-t/\tau}/\tau`, of gain exactly 1 for a constant.

    Parameters
    ----------
    tau : float
        Time constant [s].

    Examples
    --------
    >>> round(float(abs(transfer((LowPass(0.1),), 1 / (2 * np.pi * 0.1), dt=1e-4))), 2)  # at its corner
    0.71
    """

    tau: float

    def __post_init__(self) -> None:
        _check_time("tau", self.tau)

    def coefficients(self, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Return numerator and denominator of the transfer function in 1/z, shape (order + 1,) each."""
        a = _kept(dt, self.tau, 1)
        return np.array([1 - a, 0.0]), np.array([1.0, -a])


@dataclass(frozen=True)
class HighPass:
    """First-order high-pass: the signal less its :class:`LowPass`, plus a share of the signal itself.

    Parameters
    ----------
    tau : float
        Time constant [s].
    dc : float
        Share of the signal that passes whatever its frequency.

    Examples
    --------
    >>> [round(float(abs(transfer((HighPass(0.1, dc=0.1),), f, dt=1e-4))), 2) for f in (0.0, 100.0)]
    [0.1, 1.1]
    """

    tau: float
    dc: float = 0.0

    def __post_init__(self) -> None:
        _check_time("tau", self.tau)

    def coefficients(self, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Return numerator and denominator of the transfer function in 1/z, shape (order + 1,) each."""
        a = _kept(dt, self.tau, 1)
        return np.array([a + self.dc, -a * (1 + self.dc)]), np.array([1.0, -a])


@dataclass(frozen=True)
class Gamma:
    r"""Second-order low-pass, :math:`h(t) = t e^{-t/\tau} / \tau^2`, of gain exactly 1 for a constant.

    Parameters
    ----------
    tau : float
        Time constant, and time of the peak [s].
    unit_energy : float, optional
        Scale instead to :math:`\sum_k h_k^2 = 1` when sampled at this interval [s]; at others for the same response.

    Examples
    --------
    >>> [round(float(abs(transfer((Gamma(0.1),), f, dt=1e-4))), 2) for f in (0.0, 1 / (2 * np.pi * 0.1))]
    [1.0, 0.5]
    """

    tau: float
    unit_energy: float | None = None

    def __post_init__(self) -> None:
        _check_time("tau", self.tau)
        if self.unit_energy is not None:
            _check_time("unit_energy", self.unit_energy)

    def coefficients(self, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Return numerator and denominator of the transfer function in 1/z, shape (order + 1,) each."""
        a = _kept(dt, self.tau, 2)
        if self.unit_energy is None:
            gain = (1 - a) ** 2
        else:
            r = math.exp(-2 * self.unit_energy / self.tau)
            energy = r * (1 + r) / (1 - r) ** 3  # sum over k of k^2 r^k
            gain = a * (dt / self.unit_energy) ** 2 / math.sqrt(energy)
        return np.array([0.0, gain, 0.0]), np.array([1.0, -2 * a, a**2])


@dataclass(frozen=True)
class GammaSlope:
    r"""Slope of :class:`Gamma`'s response, times tau, :math:`h(t) = (1 - t/\tau) e^{-t/\tau} / \tau`: a band-pass.

    Parameters
    ----------
    tau, unit_energy
        As of :class:`Gamma`.

    Examples
    --------
    >>> [round(float(abs(transfer((GammaSlope(0.1),), f, dt=1e-4))), 2) for f in (0.0, 1 / (2 * np.pi * 0.1), 100.0)]
    [0.0, 0.5, 0.02]
    """

    tau: float
    unit_energy: float | None = None

    def __post_init__(self) -> None:
        _check_time("tau", self.tau)
        if self.unit_energy is not None:
            _check_time("unit_energy", self.unit_energy)

    def coefficients(self, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Return numerator and denominator of the transfer function in 1/z, shape (order + 1,) each."""
        a, slope = _kept(dt, self.tau, 2), dt / self.tau
        gain = slope if self.unit_energy is None else dt / self.unit_energy / self._norm(self.unit_energy)
        return gain * np.array([1.0, -a * (1 + slope), 0.0]), np.array([1.0, -2 * a, a**2])

    def _norm(self, dt: float) -> float:
        """Root of the sum over k of ``(1 - k dt / tau)^2 r^k``."""
        r, s = math.exp(-2 * dt / self.tau), dt / self.tau
        return math.sqrt(1 / (1 - r) - 2 * s * r / (1 - r) ** 2 + s**2 * r * (1 + r) / (1 - r) ** 3)


@dataclass(frozen=True)
class Delay:
    """Pure delay by a whole number of frames.

    Parameters
    ----------
    tau : float
        Delay [s].

    Examples
    --------
    >>> state, _ = start(Delay(0.02), np.zeros(1), dt=0.01)
    >>> filtered(Delay(0.02), np.array([[1.0], [2.0], [3.0]]), state, dt=0.01)[0].ravel()
    array([0., 0., 1.])
    """

    tau: float

    def __post_init__(self) -> None:
        _check_time("tau", self.tau)

    def frames(self, dt: float) -> int:
        """Return the delay in frames.

        Raises
        ------
        ValueError
            A delay that is not a whole number of frames, less than one or more than 2^24.
        """
        if self.tau / dt > MOST_DELAYED:
            raise ValueError(f"a delay of {self.tau:g} s at frames of {dt:g} s; expected {MOST_DELAYED} frames at most")
        frames = round(self.tau / dt)
        if frames < 1 or abs(self.tau / dt - frames) > 1e-6:
            raise ValueError(
                f"a delay of {self.tau:g} s is {self.tau / dt:g} frames of {dt:g} s; expected a whole number, 1 or more"
            )
        return frames


@dataclass(frozen=True)
class Rectify:
    """Half-wave rectification, ``max(sign * x, 0)``: the ON part for sign 1, the OFF part for -1.

    Parameters
    ----------
    sign : float
        1 or -1.

    Examples
    --------
    >>> filtered(Rectify(-1.0), np.array([[0.5], [-0.5]]), None, dt=0.01)[0].ravel()
    array([0. , 0.5])
    """

    sign: float = 1.0

    def __post_init__(self) -> None:
        if self.sign not in (1, -1):
            raise ValueError(f"sign is {self.sign}; expected 1, for the ON part, or -1, for the OFF part")


Step = LowPass | HighPass | Gamma | GammaSlope | Delay | Rectify

Chain = tuple[Step, ...]
"""Steps, one after the other; the empty chain hands signals on as they are."""


def start(step: Step, level: np.ndarray, dt: float) -> tuple[Any, np.ndarray]:
    """Return a step's state after an endless constant input, shape (..., n_pixels), and its output then.

    Examples
    --------
    >>> [start(step, np.array([2.0]), dt=0.01)[1].tolist() for step in (LowPass(0.1), HighPass(0.25))]
    [[2.0], [0.0]]
    """
    level = unmasked(level, "level")
    if isinstance(step, Rectify):
        return None, np.maximum(step.sign * level, 0).astype(level.dtype)
    if isinstance(step, Delay):
        return np.repeat(level[..., None, :], step.frames(dt), axis=-2), level
    b, a = step.coefficients(dt)
    return lfilter_zi(b, a)[:, None] * level[..., None, :], (level * (b.sum() / a.sum())).astype(level.dtype)


def filtered(step: Step, signals: np.ndarray, state: Any, dt: float) -> tuple[np.ndarray, Any]:
    """Return a step's outputs to the next frames, shape (..., n_frames, n_pixels), and its new state.

    Examples
    --------
    >>> state, _ = start(LowPass(0.1), np.zeros(1), dt=0.01)
    >>> first, state = filtered(LowPass(0.1), np.ones((3, 1)), state, dt=0.01)
    >>> second, state = filtered(LowPass(0.1), np.ones((2, 1)), state, dt=0.01)  # goes on from there
    >>> np.concatenate([first, second]).ravel().round(2)
    array([0.1 , 0.18, 0.26, 0.33, 0.39])
    """
    signals = unmasked(signals, "signals")
    not_masked(state, "state")
    if isinstance(step, Rectify):
        return np.maximum(signals.dtype.type(step.sign) * signals, 0), None
    if isinstance(step, Delay):
        line = np.concatenate([state, signals], axis=-2)
        n = signals.shape[-2]
        return line[..., :n, :], line[..., n:, :]
    if not signals.shape[-2]:  # lfilter would return a state of uninitialised memory
        return signals, state
    outputs, state = lfilter(*step.coefficients(dt), signals, axis=-2, zi=state)  # poles near 1: always in float64
    return outputs.astype(signals.dtype, copy=False), state


def transfer(chain: Chain, frequency: Any, dt: float) -> np.ndarray:
    r"""Return what a chain of linear steps does to a sine: its gain and phase as a complex number.

    Parameters
    ----------
    chain : tuple of Step
        Linear steps.
    frequency : float or array, shape (...)
        Temporal frequency [Hz].
    dt : float
        Time between frames [s].

    Returns
    -------
    ndarray of complex, shape (...)
        H, so that the input :math:`e^{i \omega t}` gives :math:`H e^{i \omega t}`.

    Raises
    ------
    ValueError
        A chain that rectifies.

    Examples
    --------
    >>> round(float(abs(transfer((LowPass(0.15),), 1 / (2 * np.pi * 0.15), dt=1e-4))), 3)
    0.707
    """
    delay = np.exp(-2j * np.pi * unmasked(frequency, "frequency", float) * dt)
    response = np.ones_like(delay)
    for step in chain:
        if isinstance(step, Rectify):
            raise ValueError("the chain rectifies; expected linear steps only")
        if isinstance(step, Delay):
            response = response * delay ** step.frames(dt)
        else:
            b, a = step.coefficients(dt)
            response = response * np.polyval(b[::-1], delay) / np.polyval(a[::-1], delay)
    return response


def latency(chain: Chain, dt: float) -> int:
    """Return the frames that pass before a chain's pure delays let anything of a movie through.

    Examples
    --------
    >>> latency((LowPass(0.1), Delay(0.02), Delay(0.03)), dt=0.01)
    5
    """
    return sum(step.frames(dt) for step in chain if isinstance(step, Delay))


def _kept(dt: float, tau: float, order: int) -> float:
    """Return what is left of an exponential after one frame, if that can be told from all and nothing, in any power.

    Raises
    ------
    ValueError
        A time constant of more than 1e12 frames, 1e6 for two poles in one place, or of less than 1e-12.
    """
    if not 10.0 ** (-12 / order) <= dt / tau <= 1e12:
        raise ValueError(
            f"a time constant of {tau:g} s at frames of {dt:g} s; expected 1e-12 to {10.0 ** (12 / order):g} frames"
        )
    return math.exp(-dt / tau)


def _check_time(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {value}; expected a positive, finite time [s]")
