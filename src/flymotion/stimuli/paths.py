"""Where content is and how strongly it shows, as functions of time: paths and gains of parts.

All take times of frames, shape (n_frames,) [s]. A path returns places, (x right, y down), shape (n_frames, 2) [deg], or
attitudes of the eye, shape (n_frames, 3, 3); a gain returns factors, shape (n_frames,). What happens at a moment shows
in the first frame that is not earlier, rounding of frame times aside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flymotion.brevity import in_brief
from flymotion.stimuli.stimulus import Time
from flymotion.world.conventions import unit_vector

__all__ = ["Cosine", "Lives", "Stepped", "Table", "Track", "Turning", "Window", "across"]

_ROUNDING = 1e-9  # of times in steps, and of times [s]


def across(direction: float) -> np.ndarray:
    """Return unit vectors along a direction and 90 deg to its left, shape (2, 2)."""
    return np.stack([unit_vector(direction), unit_vector(direction + 90)])


def _steps(t: Time, interval: float) -> np.ndarray:
    return np.floor(t / interval + _ROUNDING)


@dataclass(frozen=True)
class Window:
    """A gain of 1 from one moment to before another, and 0 otherwise.

    Parameters
    ----------
    on, off : float
        [s].

    Examples
    --------
    >>> Window(0.5, 1.0)(np.array([0.0, 0.5, 0.9, 1.0]))
    array([0., 1., 1., 0.])
    """

    on: float
    off: float = math.inf

    def __call__(self, t: Time) -> np.ndarray:
        """Return the gain, shape (n_frames,)."""
        return ((t >= self.on - _ROUNDING) & (t < self.off - _ROUNDING)).astype(float)


@dataclass(frozen=True)
class Cosine:
    """A gain of ``cos(2 pi frequency t)``.

    Parameters
    ----------
    frequency : float
        [Hz].

    Examples
    --------
    >>> Cosine(1.0)(np.array([0.0, 0.25, 0.5])).round(6) + 0.0
    array([ 1.,  0., -1.])
    """

    frequency: float

    def __call__(self, t: Time) -> np.ndarray:
        """Return the gain, shape (n_frames,)."""
        return np.cos(2 * math.pi * self.frequency * t)


@dataclass(frozen=True, eq=False)
class Table:
    """A gain that takes one value after the other, and keeps the last.

    Parameters
    ----------
    values : ndarray, shape (n_steps,)
        Gains.
    interval : float
        How long each lasts [s].

    Examples
    --------
    >>> Table(np.array([1.0, -1.0, 0.0]), interval=0.1)(np.array([0.0, 0.1, 0.15, 0.2, 5.0]))
    array([ 1., -1., -1.,  0.,  0.])
    """

    values: np.ndarray
    interval: float

    __repr__ = in_brief

    def __call__(self, t: Time) -> np.ndarray:
        """Return the gain, shape (n_frames,)."""
        return self.values[np.clip(_steps(t, self.interval), 0, len(self.values) - 1).astype(int)]


@dataclass(frozen=True)
class Stepped:
    """A path or gain that holds still for an interval, then jumps to where the smooth one is.

    Parameters
    ----------
    smooth : callable
        Path or gain.
    interval : float
        Between jumps [s].

    Examples
    --------
    >>> from flymotion.stimuli import Drift
    >>> Stepped(Drift(10.0), interval=0.5)(np.array([0.0, 0.4, 0.5, 0.9]))[:, 0]  # degrees to the right
    array([0., 0., 5., 5.])
    """

    smooth: Callable[[Time], np.ndarray]
    interval: float

    __repr__ = in_brief

    def __call__(self, t: Time) -> np.ndarray:
        """Return what the smooth one was at the last jump, shape (n_frames, ...)."""
        return self.smooth(_steps(t, self.interval) * self.interval)


@dataclass(frozen=True, eq=False)
class Track:
    """A path along one direction through given places, straight from each to the next; still before and after.

    Parameters
    ----------
    distances : ndarray, shape (n_places,)
        Of the places along the direction [deg].
    interval : float
        Time from place to place [s].
    direction : float
        [deg].

    Examples
    --------
    >>> Track(np.array([0.0, 10.0, 0.0]), interval=1.0)(np.array([0.0, 0.5, 1.0, 1.5]))[:, 0]  # to the right, and back
    array([ 0.,  5., 10.,  5.])
    """

    distances: np.ndarray
    interval: float
    direction: float = 0.0

    __repr__ = in_brief

    def __call__(self, t: Time) -> np.ndarray:
        """Return where the content is, shape (n_frames, 2) [deg]."""
        distance = np.interp(t / self.interval, np.arange(len(self.distances)), self.distances)
        return distance[:, None] * unit_vector(self.direction)


@dataclass(frozen=True, eq=False)
class Lives:
    """A path with a new start at the beginning of each life, on a square field whose opposite sides are one.

    Parameters
    ----------
    starts : ndarray, shape (n_lives,)
        When each life begins, the first at 0 [s].
    births : ndarray, shape (n_lives, 2)
        Where, along ``direction`` and to its left, from the middle of the field [deg].
    velocities : ndarray, shape (n_lives, 2)
        How it moves, likewise [deg/s].
    extent : float
        Side of the field [deg].
    direction : float
        [deg].

    Examples
    --------
    >>> births = np.array([[0.0, 0.0], [-3.0, 3.0]])
    >>> dot = Lives(np.array([0.0, 1.0]), births, np.array([[2.0, 0.0], [0.0, 2.0]]), extent=10.0)
    >>> dot(np.array([0.0, 0.5, 1.0, 1.5])).round(6).tolist()  # (x right, y down): to the right, then born anew, and up
    [[0.0, 0.0], [1.0, 0.0], [-3.0, -3.0], [-3.0, -4.0]]
    """

    starts: np.ndarray
    births: np.ndarray
    velocities: np.ndarray
    extent: float
    direction: float = 0.0

    __repr__ = in_brief

    def __call__(self, t: Time) -> np.ndarray:
        """Return where the content is, shape (n_frames, 2) [deg]."""
        life = np.maximum(np.searchsorted(self.starts, t + _ROUNDING, side="right") - 1, 0)
        place = self.births[life] + (t - self.starts[life])[:, None] * self.velocities[life]
        return (np.mod(place + self.extent / 2, self.extent) - self.extent / 2) @ across(self.direction)


@dataclass(frozen=True)
class Turning:
    """Attitudes of an eye that turns, as an upright one does to the left: what is ahead moves to the right.

    Parameters
    ----------
    speed : float
        [deg/s].
    heading : float
        How far to the left it looks at time 0 [deg].
    direction : float
        In which what is ahead moves instead, the whole scene being turned about the line ahead [deg].

    Examples
    --------
    >>> (Turning(speed=90.0)(np.array([0.0, 1.0])) @ [1.0, 0.0, 0.0]).round(6) + 0.0  # from ahead to the left
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """

    speed: float
    heading: float = 0.0
    direction: float = 0.0

    def __call__(self, t: Time) -> np.ndarray:
        """Return the attitudes, shape (n_frames, 3, 3)."""
        angle = np.radians(self.heading + self.speed * t)
        attitudes = np.zeros((len(t), 3, 3))
        attitudes[:, 0, 0] = attitudes[:, 1, 1] = np.cos(angle)
        attitudes[:, 1, 0] = np.sin(angle)
        attitudes[:, 0, 1] = -attitudes[:, 1, 0]
        attitudes[:, 2, 2] = 1.0
        x, y = unit_vector(self.direction)
        return attitudes @ np.array([[1.0, 0.0, 0.0], [0.0, x, y], [0.0, -y, x]])
