"""Random patterns with known correlations: gliders, ternary noise, and dots.

Patterns of bars are endless across ``direction``, new every ``interval``, and tile ``extent`` degrees about the origin;
beyond them all is at the mean. Bar x + 1 lies next to bar x along ``direction``, and step t + 1 follows step t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from flymotion.stimuli.arguments import checked, takes
from flymotion.stimuli.paths import Lives, Table
from flymotion.stimuli.stimulus import Part, Stimulus
from flymotion.world.conventions import as_generator, finite, positive
from flymotion.world.scenes import Bar, Dot

__all__ = ["RandomBars", "glider", "random_dots", "ternary_noise"]

MOST_SHOWN, MOST_VALUES = 2**14, 2**23
"""Bars or dots of a pattern, and values of all of them over its duration."""


@dataclass(frozen=True)
class RandomBars:
    """What patterns of bars are made of, and the arguments that all their constructors take.

    Parameters
    ----------
    parity : int
        1 or -1.
    width : float
        Of a bar [deg].
    interval : float
        How long a pattern lasts [s].
    direction : float
        [deg]: 0 = right, 90 = up.
    contrast : float
        Michelson contrast: what values of bars, -1 to 1, are multiplied by.
    duration : float
        [s].
    extent : float
        What the bars cover along ``direction``, at least, about the origin [deg].
    random_state : int, Generator, RandomState or None
        Source of the pattern.

    Raises
    ------
    ValueError
        A parity that is not 1 or -1, a width, interval, duration or extent that is not positive, more than 2^14 bars or
        2^23 values.

    Examples
    --------
    >>> RandomBars(width=20.0, extent=80.0, duration=0.06, random_state=0).signs()  # three patterns of bars
    array([[ 1.,  1.,  1., -1.],
           [-1., -1., -1., -1.],
           [-1.,  1.,  1.,  1.]])
    """

    parity: int = 1
    width: float = 5.0
    interval: float = 0.02
    direction: float = 0.0
    contrast: float = 0.5
    duration: float = 2.0
    extent: float = 120.0
    random_state: Any = 0

    def __post_init__(self) -> None:
        positive(width=self.width, interval=self.interval, duration=self.duration, extent=self.extent)
        if self.parity not in (1, -1):
            raise ValueError(f"parity is {self.parity}; expected 1 or -1")

    def signs(self, more_steps: int = 0, more_bars: int = 0) -> np.ndarray:
        """Return random signs, shape (n_steps, n_bars), of as many steps and bars as it takes, and some more."""
        n_steps, n_bars = _count(self.duration, self.interval), _count(self.extent, self.width)
        shape = n_steps + more_steps, n_bars + more_bars
        _check_many(n_bars + more_bars, n_steps + more_steps, "bars", "width and interval")
        return as_generator(self.random_state).choice([-1.0, 1.0], size=shape)

    def shown(self, values: np.ndarray) -> Stimulus:
        """Return bars side by side, in the order of ``direction``, of values of shape (n_steps, n_bars)."""
        places = self.width * (np.arange(values.shape[1]) - (values.shape[1] - 1) / 2)
        parts = (
            Part(Bar(self.width, float(place), 1.0, self.direction, ndim=2), gain=Table(course, self.interval))
            for place, course in zip(places, self.contrast * values.T, strict=True)
        )
        return Stimulus(tuple(parts), self.duration)


def _check_many(n_shown: int, n_values: int, what: str, by: str) -> None:
    if n_shown > MOST_SHOWN or n_shown * n_values > MOST_VALUES:
        raise ValueError(
            f"{n_shown:g} {what}, {n_values:g} times; expected {MOST_SHOWN} {what} and {MOST_VALUES} values at most: a "
            f"smaller extent, a shorter duration, or a larger {by}"
        )


def _count(whole: float, part: float) -> int:
    """Return how many parts it takes to fill the whole, one at least, rounding aside."""
    return max(1, math.ceil(whole / part - 1e-9))


@takes(RandomBars, interval=0.04)
def glider(bars: RandomBars, *, kind: str = "two-point") -> Stimulus:
    r"""Return random bars, bright and dark, whose products over one figure in space and time, the glider, are fixed.

    With the sign s(x, t) = +1 or -1 of bar x at step t, and the parity p, at all x and t

    ==========  =============================================  ==================================
    two-point   :math:`s(x, t)\, s(x+1, t+1) = p`              moves along ``direction`` if p = 1
    converging  :math:`s(x, t)\, s(x+1, t)\, s(x+1, t+1) = p`  two bars, then one
    diverging   :math:`s(x, t)\, s(x, t+1)\, s(x+1, t+1) = p`  one bar, then two
    ==========  =============================================  ==================================

    and otherwise the pattern is random (Hu & Victor 2010; Clark et al. 2014). Three-point gliders have no correlation
    between any two bars: what a detector that multiplies two signals responds to is not there. Other parameters, also
    those that are refused, are those of :class:`RandomBars`.

    Parameters
    ----------
    kind : {"two-point", "converging", "diverging"}
        The glider.

    Raises
    ------
    ValueError
        An unknown kind.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> glider(contrast=1.0, duration=0.12, random_state=2).movie(Line(4, sigma=0.0), dt=0.04, spacing=5.0)
    array([[ 1.,  1.,  1., -1.],
           [ 1.,  1.,  1.,  1.],
           [-1.,  1.,  1.,  1.]])
    """
    s, parity = bars.signs(), bars.parity  # (t, x)
    if kind == "two-point":
        for t in range(1, len(s)):
            s[t, 1:] = parity * s[t - 1, :-1]
    elif kind == "converging":
        for t in range(1, len(s)):
            s[t, 1:] = parity * s[t - 1, :-1] * s[t - 1, 1:]
    elif kind == "diverging":
        for x in range(1, s.shape[1]):
            s[1:, x] = parity * s[:-1, x - 1] * s[1:, x - 1]
    else:
        raise ValueError(f"kind is {kind!r}; expected 'two-point', 'converging' or 'diverging'")
    return bars.shown(s)


@takes(RandomBars)
def ternary_noise(bars: RandomBars, *, correlation_interval: float = 0.02) -> Stimulus:
    r"""Return bars of values -1, 0 and 1 that correlate at one displacement and one delay alone.

    .. math:: s(x, t) = \tfrac{1}{2} [b(x, t) + p\, b(x - 1, t - k)]

    with random b = +1 or -1 and k steps in ``correlation_interval`` (Salazar-Gatzimas et al. 2016). So s is 0 half of
    the time and has a variance of 1/2; its correlation one bar along ``direction``, k steps later, is

    .. math:: \langle s(x, t)\, s(x+1, t+k) \rangle = p / 4

    a correlation coefficient of p / 2, and 0 at all other displacements. Other parameters, also those that are refused,
    are those of :class:`RandomBars`.

    Parameters
    ----------
    correlation_interval : float
        Delay of the correlation, a whole number of intervals; below 0 the correlation is against ``direction`` [s].

    Raises
    ------
    ValueError
        A correlation interval that is no whole number of intervals.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> noise = ternary_noise(contrast=1.0, duration=4.0).movie(Line(20, sigma=0.0), dt=0.02, spacing=5.0)
    >>> right, left = noise[:-1, :-1] * noise[1:, 1:], noise[:-1, 1:] * noise[1:, :-1]
    >>> round(float(right.mean()), 2), round(float(left.mean()), 2)  # p / 4 = 0.25 one bar to the right, 20 ms later
    (0.25, -0.01)
    """
    finite(correlation_interval=correlation_interval)
    steps = correlation_interval / bars.interval
    k = round(steps)
    if abs(steps - k) > 1e-6:
        raise ValueError(
            f"a correlation interval of {correlation_interval:g} s is {steps:g} intervals of {bars.interval:g} s; "
            "expected a whole number"
        )
    b = bars.signs(abs(k), 1)
    n_steps = len(b) - abs(k)
    now, then = max(k, 0), max(-k, 0)
    return bars.shown((b[now : now + n_steps, 1:] + bars.parity * b[then : then + n_steps, :-1]) / 2)


@checked
def random_dots(
    *,
    speed: float = 30.0,
    direction: float = 0.0,
    coherence: float = 1.0,
    density: float = 0.01,
    diameter: float = 5.0,
    lifetime: float = 0.5,
    contrast: float = 1.0,
    duration: float = 2.0,
    extent: float = 120.0,
    random_state: Any = 0,
) -> Stimulus:
    """Return dots of a limited lifetime, some of which move together.

    At the end of its life a dot is born again at a random place; first lives end at random times. Dots cover a square
    field about the origin, evenly at any time: what leaves it comes back on the opposite side. There are none beyond.

    Parameters
    ----------
    speed : float
        Of all dots [deg/s].
    direction : float
        Of those that move together [deg]: 0 = right, 90 = up.
    coherence : float
        Share of these, 0 to 1, rounded to a whole dot; each of the others takes a new random direction in each life.
    density : float
        Dots per square degree.
    diameter : float
        Of a dot, a Gaussian, at half its height [deg].
    lifetime : float
        [s]; may be infinite.
    contrast : float
        Weber contrast of a dot's middle; dots add up.
    duration : float
        [s].
    extent : float
        Side of the field, which is turned with ``direction`` [deg].
    random_state : int, Generator, RandomState or None
        Source of places, times and directions.

    Raises
    ------
    ValueError
        A coherence outside 0 to 1; a density, diameter, lifetime, duration or extent that is not positive; more than
        2^14 dots.

    Examples
    --------
    >>> from flymotion.world.eyes import Grid
    >>> dots = random_dots(speed=50.0, coherence=0.9, lifetime=1.0, duration=0.2)
    >>> before, after = dots.movie(Grid(15, 15), dt=0.1, spacing=5.0)
    >>> right, left = (np.corrcoef(before.ravel(), np.roll(after, d, axis=1).ravel())[0, 1] for d in (-1, 1))
    >>> round(float(right), 1), round(float(left), 1)  # a pixel to the right in 0.1 s
    (0.8, 0.1)
    """
    positive(density=density, diameter=diameter, duration=duration, extent=extent)
    if not 0 <= coherence <= 1:
        raise ValueError(f"coherence is {coherence}; expected a share of the dots, 0 to 1")
    if lifetime != math.inf:
        positive(lifetime=lifetime)
    rng, scene = as_generator(random_state), Dot(diameter, contrast=contrast)
    n_dots, n_lives = max(1, round(density * extent**2)), 1 + math.ceil(duration / lifetime)
    _check_many(n_dots, n_lives, "dots", "lifetime, or a lower density")
    births = rng.uniform(-extent / 2, extent / 2, (n_dots, n_lives, 2))
    headings = rng.uniform(0, 2 * math.pi, (n_dots, n_lives))
    headings[: round(coherence * n_dots)] = 0.0
    velocities = speed * np.stack([np.cos(headings), np.sin(headings)], axis=-1)
    starts = np.zeros((n_dots, n_lives))
    starts[:, 1:] = lifetime * (1 - rng.uniform(size=(n_dots, 1)) + np.arange(n_lives - 1))
    paths = (Lives(*dot, extent, direction) for dot in zip(starts, births, velocities, strict=True))
    return Stimulus(tuple(Part(scene, path) for path in paths), duration)
