"""Overlays as a video file, frame by frame as they come."""

from __future__ import annotations

import math
import os
from contextlib import ExitStack, suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from flymotion.detecting import Detecting, Detection
from flymotion.detecting.overlay.drawing import Overlay
from flymotion.writing import in_words, undisturbed, whole

__all__ = ["OverlayVideo"]

TICK = Fraction(1, 90_000)
"""Unit of time stamps [s]."""

RATE = 25
"""Frames per second where the source does not tell."""

QUALITY = {"crf": "20", "preset": "veryfast"}
"""Options of the encoder."""


class OverlayVideo:
    """An H.264 video (MP4) of a movie with its motion drawn in, to be used in a ``with`` statement.

    It has the size of the frames and a strip below (a row or column more where that is odd), and their time stamps, be
    they even or not.

    Parameters
    ----------
    path : path
        Where to.
    detecting : Detecting
        What is drawn.
    mode : str
        How, see :class:`Overlay`.

    Raises
    ------
    ValueError
        An unknown mode; responses to draw, of a detection that is not dense.
    WriteError
        A file that cannot be written, where the statement begins.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import detect, open_movie
    >>> path = Path(tempfile.mkdtemp()) / "arrows.mp4"
    >>> detecting = detect(np.zeros((4, 60, 80)), rate=25)
    >>> with OverlayVideo(path, detecting) as video:
    ...     for detection in detecting:
    ...         video.write(detection)
    >>> open_movie(path).shape, open_movie(path).rate
    ((94, 80), 25.0)
    """

    def __init__(self, path: str | os.PathLike[str], detecting: Detecting, mode: str = "arrows") -> None:
        self.path = Path(path)
        self._interrupted = detecting.when_interrupted(self.path)
        self._overlay = Overlay(mode, detecting.angles, detecting.movie.white, detecting.field.floor)
        if mode != "arrows":
            detecting.needed_dense(self.path)
        self._rate = detecting.movie.rate or RATE
        self._shape = tuple(side + side % 2 for side in self._overlay.shape(*detecting.movie.shape))
        self._first = math.nan
        self._last = -1

    def __enter__(self) -> Self:
        """Open the file."""
        import av

        with ExitStack() as stack:
            with undisturbed():
                place = stack.enter_context(whole(self.path, finish=self._finish, interrupted=self._interrupted))
                self._container = av.open(f"file:{place}", "w", format="mp4")
                rate = Fraction(self._rate).limit_denominator(1001)
                self._stream = self._container.add_stream("h264", rate=rate, options=QUALITY)
                self._stream.height, self._stream.width = self._shape
                self._stream.pix_fmt = "yuv420p"
                self._stream.codec_context.time_base = TICK
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the file and put it in its place, or remove it after an error."""
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            with suppress(OSError):  # a full disk is so once more
                self._container.close()

    def _finish(self) -> None:
        for packet in self._stream.encode():
            self._container.mux(packet)
        self._container.close()

    def write(self, detection: Detection) -> None:
        """Draw and encode one frame."""
        import av

        drawn = self._overlay.draw(detection)
        height, width = self._shape
        drawn = np.pad(drawn, ((0, height - drawn.shape[0]), (0, width - drawn.shape[1]), (0, 0)), mode="edge")
        frame = av.VideoFrame.from_ndarray(drawn, format="rgb24").reformat(format="yuv420p")
        frame.pts, frame.time_base = self._ticks(detection), TICK
        with in_words(self.path):
            for packet in self._stream.encode(frame):
                self._container.mux(packet)

    def _ticks(self, detection: Detection) -> int:
        """Return when to show a frame: later than the last one, whatever its time stamp says."""
        if math.isnan(self._first):
            self._first = detection.time
        time = detection.time - self._first
        time = detection.number / self._rate if math.isnan(time) else time
        self._last = max(round(time / TICK), self._last + 1)
        return self._last
