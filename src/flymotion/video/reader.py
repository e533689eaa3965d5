"""What all readers share: the items that they yield, and the one error that they raise.

A reader is a function ``read(start)`` that yields a source's frames, as they are stored, from some frame at or before
``start`` on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

__all__ = ["REC_601", "Grey", "Item", "Mark", "Orientation", "Shot", "Source", "VideoError"]

REC_601 = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""Shares of red, green and blue in luminance."""


class VideoError(ValueError):
    """A movie that cannot be read; the message names the file and the reason.

    Examples
    --------
    >>> from flymotion import open_movie
    >>> open_movie("missing.mp4")
    Traceback (most recent call last):
    flymotion.video.reader.VideoError: missing.mp4: No such file or directory
    """


class Orientation(NamedTuple):
    """What makes an image upright: it is mirrored at its diagonal, then its rows and its columns are reversed."""

    transposed: bool = False
    rows: bool = False
    columns: bool = False


class Grey(NamedTuple):
    """Grey values as they are stored; luminance is ``gain (clip(values, low, high) - low)``.

    Parameters
    ----------
    values : ndarray, shape (height, width)
        Often a view of what the decoder holds.
    low, high : int, optional
        Black and white, where the format tells.
    gain : float
        Luminance per stored step.
    orientation : Orientation, optional
        What the file is tagged with.
    white : float, optional
        Luminance of white, where the format tells.
    step : float
        Luminance from one stored level to the next; 0 where they are not whole numbers.
    coded : bool
        Whether they went through a codec that may lose something.
    """

    values: np.ndarray
    low: int = 0
    high: int | None = None
    gain: float = 1.0
    orientation: Orientation | None = None
    white: float | None = None
    step: float = 0.0
    coded: bool = False

    def upright(self) -> Grey:
        """Return the same values, turned."""
        if self.orientation is None:
            return self
        values = self.values.T if self.orientation.transposed else self.values
        values = values[:: -1 if self.orientation.rows else 1, :: -1 if self.orientation.columns else 1]
        return self._replace(values=values, orientation=None)


class Shot(NamedTuple):
    """A frame that is there but perhaps not loaded.

    Parameters
    ----------
    number : int
        How many frames of the source come before it; of a video that was entered by a time, since there.
    time : float
        When it is shown [s], or NaN where the source does not tell.
    load : callable
        Gives its grey values.
    file : str
        Name of its file, where the movie has more than one.
    steps : float
        Frame durations since the shot before, as time stamps or numbers tell: 2 if one is missing.
    """

    number: int
    time: float
    load: Callable[[], Grey]
    file: str = ""
    steps: float = 1.0


Item = Shot | int | str
"""A frame; how many are missing, where time stamps or numbers tell, 0 where stamps begin anew; or what is wrong."""

Mark = int | float
"""Where in a movie: a number of frames (int) or a time (float) [s]."""

Reader = Callable[[Mark], Generator[Item]]


class Source(NamedTuple):
    """A movie as it is stored.

    Parameters
    ----------
    name : str
        The path, URL or camera, or "array".
    read : callable
        Its reader; where frames have no times, ``start`` is always a number.
    n_frames : int or None
        What it promises.
    rate : float or None
        Frames per second, where it tells.
    timed : bool
        Whether its frames have times of their own: those of arrays, and of images that do not move, have not.
    live : bool
        Whether it passes only once.
    counted : bool
        Whether its frames were counted, so that there cannot be more.
    lazy : bool
        Whether frames may be computed or fetched, chunk by chunk, each time that they are read.
    """

    name: str
    read: Reader
    n_frames: int | None
    rate: float | None = None
    timed: bool = True
    live: bool = False
    counted: bool = False
    lazy: bool = False
