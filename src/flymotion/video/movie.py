"""The movie: what every source becomes, frames in order with their times and cuts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.video.edits import Thumbnail, is_edit, thumbnail
from flymotion.video.luminance import luminance
from flymotion.video.reader import Item, Reader, Shot, VideoError
from flymotion.video.selection import Selection

__all__ = ["Batch", "Frame", "Movie"]


class Frame(NamedTuple):
    """One frame.

    Parameters
    ----------
    image : ndarray, shape (height, width)
        Luminance, float32.
    time : float
        When it is shown [s], or NaN where the source does not tell.
    cut : bool
        Whether it begins a clip: frames are missing before it, or it is the first.
    steps : float
        How far from the frame before, in steps from a frame taken to the next: more than 1 where a gap is bridged.

    Examples
    --------
    >>> from flymotion import open_movie
    >>> [(frame.time, frame.cut) for frame in open_movie(np.zeros((3, 4, 6)), rate=25.0).frames()]
    [(0.0, True), (0.04, False), (0.08, False)]
    """

    image: np.ndarray
    time: float
    cut: bool
    steps: float = 1.0

    def __repr__(self) -> str:
        return in_brief(self)


class Batch(NamedTuple):
    """Consecutive frames.

    Parameters
    ----------
    frames : ndarray, shape (n_frames, height, width)
        The frames, none missing between them.
    cut : bool
        Whether the first frame begins a clip: it does not follow the last frame of the batch before.
    times : ndarray, shape (n_frames,)
        When each frame is shown [s], or NaN where the source does not tell.

    Examples
    --------
    >>> from flymotion import open_movie
    >>> movie = open_movie(np.zeros((5, 4, 6)), rate=25.0)
    >>> [(batch.frames.shape, batch.cut) for batch in movie.batches(3)]  # five frames, three at a time
    [((3, 4, 6), True), ((2, 4, 6), False)]
    """

    frames: np.ndarray
    cut: bool
    times: np.ndarray

    def __repr__(self) -> str:
        return in_brief(self)


@dataclass(frozen=True)
class Movie:
    """Frames read one at a time, from the first one in every loop; made by :func:`flymotion.video.open_movie`.

    Attributes
    ----------
    name : str
        The path, URL or camera, or "array".
    shape : tuple of int
        Height and width of a frame as it is yielded [pixels]; ``(n_pixels,)`` for an array of flat frames.
    rate : float or None
        Frames per second as they are yielded, where the file or the caller tells.
    n_frames_estimate : int or None
        What the file promises, where it does; the frames that decode may be fewer or more.
    live : bool
        Whether it is a camera, URL or pipe: one loop reads it, a second one raises VideoError.
    counted : bool
        Whether frames were counted, as those of arrays and images are, so that there cannot be more than
        ``n_frames_estimate``.
    lazy : bool
        Whether frames may be computed or fetched, chunk by chunk, in every loop: those of arrays that are not numpy's.
    white : float or None
        Luminance of white, 255, where the format tells; black is 0. None where values are taken as they are, of any
        range.
    step : float
        Luminance from one stored level to the next, before areas are averaged; 0 where they are not whole numbers.
    coded : bool
        Whether frames went through a codec that may lose something: H.264, JPEG.

    Examples
    --------
    >>> from flymotion import open_movie
    >>> movie = open_movie(np.zeros((50, 48, 64), dtype=np.uint8), rate=25.0, start="1s", scale=2)
    >>> movie.shape, movie.n_frames_estimate, sum(1 for frame in movie)
    ((24, 32), 25, 25)
    """

    name: str
    shape: tuple[int, ...]
    rate: float | None
    n_frames_estimate: int | None
    live: bool
    counted: bool
    lazy: bool
    white: float | None
    step: float
    coded: bool
    _read: Reader = field(repr=False)
    _full: tuple[int, ...] = field(repr=False)
    _selection: Selection = field(repr=False)
    _strict: bool = field(repr=False)

    __repr__ = in_brief

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield each image, float32, shape (height, width); cuts do not show here."""
        with closing(self._frames()) as frames:
            for frame in frames:
                yield frame.image

    def frames(self) -> Iterator[Frame]:
        """Yield each frame with its time stamp and whether it begins a clip."""
        with closing(self._frames()) as frames:
            yield from frames

    def batches(self, n_frames: int) -> Iterator[Batch]:
        """Yield the frames in batches of at most ``n_frames``; a cut ends a batch early.

        Raises
        ------
        ValueError
            ``n_frames`` below 1.
        """
        if n_frames < 1:
            raise ValueError(f"n_frames is {n_frames}; expected at least 1 frame a batch")
        held: list[Frame] = []
        with closing(self._frames()) as frames:
            for frame in frames:
                if held and frame.cut:
                    yield _batch(held)
                    held = []
                held.append(frame)
                if len(held) == n_frames:
                    yield _batch(held)
                    held = []
        if held:
            yield _batch(held)

    def _frames(self) -> Generator[Frame]:
        n, cut, damaged, last = 0, True, False, Thumbnail(np.zeros(()))
        with closing(_in_one_process(self._read(self._selection.entry), self.name)) as items:
            for item in self._selection.frames(items):
                if isinstance(item, Shot):
                    image = self._image(item, n)
                    if self._selection.edits == "split":
                        seen = thumbnail(image)
                        cut, last = cut or is_edit(last, seen), seen
                    yield Frame(image, item.time, cut, 1.0 if cut else item.steps)
                    n, cut = n + 1, False
                    if n == self._selection.max_frames:
                        return
                    continue
                cut = True
                if isinstance(item, str) and not damaged:
                    damaged = True
                    self._report(f"{self.name}: damaged after {n} frames ({item}); a new clip begins there")
        if n == 0:
            raise VideoError(f"{self.name}: has no frame between start and stop")

    def _image(self, shot: Shot, n: int) -> np.ndarray:
        grey = shot.load()
        if grey.values.shape != self._full:
            file = f", in {shot.file}" if shot.file else ""
            raise VideoError(
                f"{self.name}: frame {n} has shape {grey.values.shape}; expected {self._full} as the first{file}"
            )
        return luminance(self._selection.cropped(grey), self._selection.scale)

    def _report(self, message: str) -> None:
        if self._strict:
            raise VideoError(message)
        warnings.warn(message, UserWarning, stacklevel=4)


def _in_one_process(items: Generator[Item], name: str) -> Generator[Item]:
    """Yield items; not in a forked process, which has neither the decoder's threads nor a place of its own in files."""
    process = os.getpid()
    with closing(items):
        while True:
            if os.getpid() != process:
                raise VideoError(f"{name}: this loop was begun by another process; begin one in this process")
            try:
                item = next(items)
            except StopIteration:
                return
            yield item


def _batch(frames: list[Frame]) -> Batch:
    return Batch(np.stack([frame.image for frame in frames]), frames[0].cut, np.array([frame.time for frame in frames]))
