"""What all readers share: the items that they yield, and the one error that they raise.

A reader is a function ``read(start)`` that yields a source's frames from some frame at or before ``start`` on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

__all__ = ["REC_601", "Grey", "Item", "Mark", "Shot", "Source", "VideoError", "count_time", "first_number"]

REC_601 = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""Shares of red, green and blue in luminance."""


class VideoError(ValueError):
    """A movie that cannot be read; the message names the file and the reason."""


class Grey(NamedTuple):
    """Grey values as they are stored; luminance is ``gain (clip(values, low, high) - low)``.

    Parameters
    ----------
    values : ndarray, shape (height, width)
        Upright; often a view of what the decoder holds.
    low, high : int, optional
        Black and white, where the format tells.
    gain : float
        Luminance per stored step.
    """

    values: np.ndarray
    low: int = 0
    high: int | None = None
    gain: float = 1.0


class Shot(NamedTuple):
    """A frame that is there but perhaps not loaded.

    Parameters
    ----------
    number : int
        How many frames of the source come before it; of a video that was entered by a time, since there.
    time : float
        When it is shown [s], or NaN.
    load : callable
        Gives its grey values.
    """

    number: int
    time: float
    load: Callable[[], Grey]


Item = Shot | str | None
"""A frame, None where time stamps tell of missing frames, or the reason why frames are damaged."""

Mark = int | float
"""Where in a movie: a number of frames (int) or a time (float) [s]."""

Reader = Callable[[Mark], Generator[Item]]


class Source(NamedTuple):
    """A movie as it is stored: its name, how to read it, what it promises, and whether it passes only once."""

    name: str
    read: Reader
    n_frames: int | None
    rate: float | None = None
    live: bool = False


def count_time(number: int, rate: float | None) -> float:
    """Return the time of a frame that has no time stamp [s]."""
    return number / rate if rate else math.nan


def first_number(start: Mark, rate: float | None) -> int:
    """Return the number of a frame shortly before ``start``, for sources where number and time go together."""
    return start if isinstance(start, int) else int(start * (rate or 0))
