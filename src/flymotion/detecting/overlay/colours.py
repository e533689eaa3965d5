"""What colours and lengths mean: a hue for a direction, and round numbers that scales end at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["Levels", "RoundScale", "hues", "legend"]


WHITE = np.float32(0.25)
"""Share of white in every hue."""

RARE = 0.002
"""Share of the pixels that may be darker than black, and brighter than white."""

LOOKED_AT = 20_000
"""About as many pixels tell the range of a frame."""

STEPS = (1, 2, 3, 5, 10)
"""Numbers, times powers of ten, that a scale may end at."""


def hues(angles: Any) -> np.ndarray:
    """Return the colour of directions: 0 deg, right, red; 90, up, yellow-green; 180, left, cyan; 270, down, violet.

    Parameters
    ----------
    angles : array-like, shape (...)
        Directions [deg].

    Returns
    -------
    ndarray, shape (..., 3)
        Red, green and blue, 0 to 1: the hue of that angle, lightened so that blue is seen on grey.

    Examples
    --------
    >>> hues([0, 120, 180]).tolist()
    [[1.0, 0.25, 0.25], [0.25, 1.0, 0.25], [0.25, 1.0, 1.0]]
    """
    sixths = (np.asarray(angles, np.float32)[..., None] / 60 + np.array((0, 4, 2), np.float32)) % 6
    return WHITE + (1 - WHITE) * np.clip(np.abs(sixths - 3) - 1, 0, 1)


def legend(diameter: int) -> np.ndarray:
    """Return a disc whose rim has the colour of each direction, fading to the middle; RGBA, uint8."""
    y, x = np.mgrid[:diameter, :diameter] - (diameter - 1) / 2
    radius = np.hypot(x, y) / (diameter / 2)
    disc = np.concatenate([hues(np.degrees(np.arctan2(-y, x))) * radius[..., None], radius[..., None] <= 1], axis=-1)
    return (255 * np.clip(disc, 0, 1)).astype(np.uint8)


class Levels:
    """What is shown as black and as white: those of the format, or, where none tells, the range of the frames.

    It grows with them from the first on, but for the few darkest and brightest pixels, and never shrinks, so that
    pictures do not flicker.

    Parameters
    ----------
    white : float, optional
        Of the format; black is 0.

    Examples
    --------
    >>> ramp = np.linspace(0, 51_000, 256, dtype=np.float32).reshape(16, 16)
    >>> Levels().shown(ramp)[[0, 0, 15], [0, 8, 15]].round()
    array([  0.,   7., 255.], dtype=float32)
    >>> Levels(255.0).shown(ramp[:1])[0, :3]
    array([  0., 200., 255.], dtype=float32)
    """

    def __init__(self, white: float | None = None) -> None:
        self._fixed = white is not None
        self._black, self._white = (0.0, white) if white is not None else (math.inf, -math.inf)

    def shown(self, frame: np.ndarray) -> np.ndarray:
        """Look at a frame, and return it as it is shown, 0 to 255."""
        if not self._fixed:
            step = max(1, math.isqrt(frame.size // LOOKED_AT))
            low, high = np.quantile(frame[::step, ::step], (RARE, 1 - RARE))
            self._black, self._white = min(self._black, float(low)), max(self._white, float(high))
        gain = 255 / ((self._white - self._black) or 1.0)
        return np.clip((frame - np.float32(self._black)) * np.float32(gain), 0, 255)


class RoundScale:
    """The end of a scale: a round number that most values stay below, and that changes seldom.

    It grows as soon as one value in ten is beyond it, and shrinks when they have been far below it for a while.

    Parameters
    ----------
    patience : int
        For so many updates.
    least : float
        What it ends at, at least.

    Examples
    --------
    >>> scale = RoundScale()
    >>> scale.update([0.3, 0.7, 1.3]), scale.update([0.1]), scale.update([30.0])
    (2.0, 2.0, 30.0)
    """

    def __init__(self, patience: int = 15, least: float = 0.0) -> None:
        self.patience, self.least = patience, least
        self.end = 0.0
        self._low = 0

    def update(self, values: Any) -> float:
        """Look at the values of one frame, and return the end of the scale; 0 before there was anything."""
        values = np.asarray(values)
        typical = float(np.quantile(values, 0.9)) if values.size else 0.0
        fitting = _round_up(max(typical, self.least) if values.size else 0.0)
        self._low = self._low + 1 if typical < 0.3 * self.end else 0
        if fitting > self.end or (self._low > self.patience and fitting > 0):
            self.end, self._low = fitting, 0
        return self.end


def _round_up(value: float) -> float:
    """Return the least of the round numbers that is not below the value."""
    if not value > 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{k * power:.6g}") for k in STEPS if k * power >= value * (1 - 1e-9))
