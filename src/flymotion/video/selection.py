"""Which of a movie's frames are wanted, a stretch of it, without repeats, every k-th; and which of their pixels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from flymotion.video.reader import Grey, Item, Mark, Shot

__all__ = ["REPEAT", "Selection", "is_repeat"]

BRIDGED = 8
"""Most missing frames that a pair may go over."""

REPEAT = 3.0
"""Largest mean difference in any block of a frame that is shown again [steps of an 8 bit Y plane].

Coding real video with repeats cost these up to 1.6 (H.264, crf 18), 5 (crf 23) and 6 (crf 30); steps were 15 or more.
"""

_BLOCK = 16  # side of the blocks that codecs copy [pixels]
_SECONDS = re.compile(r"(\d+(?:\.\d*)?|\.\d+) ?s")


@dataclass(frozen=True)
class Selection:
    """Which frames and pixels of a movie are wanted: the options of :func:`flymotion.video.open_movie` that say so.

    Parameters
    ----------
    start, stop : int or str
        First frame, and the frame before which to end: as a number of frames, 250, or as a time, ``"10.5s"``. Frames
        are counted from the first one that decodes; images and arrays by position. To count, all frames before are
        decoded; to a time, a video is entered at the key frame before.
    stride : int
        Take every k-th frame, so that the frames of a pair are so many apart. At a cut the count begins anew: no
        pair bridges it.
    max_frames : int, optional
        Stop after so many frames taken.
    duplicates : {"keep", "drop"}
        What to do with a frame that only repeats the one before, as converters of the frame rate insert them. Dropped,
        it makes no pair without motion and is no cut: the next pair spans two intervals of time and the motion of
        one step, as before the conversion. Where nothing moves frames repeat, too, so this is a choice. ``stride``
        counts those that are left. In a video frames repeat if no block of 16 x 16 pixels differs by more than 3 of
        255 grey levels on average, as after good coding; elsewhere if they are equal.
    gaps : {"split", "bridge"}
        What to do where time stamps, or the numbers in the names of images, tell that frames are missing: split, a new
        clip begins there; bridge, the frames before and after are a pair, unless more than 8 are missing; and
        of all pairs it is known how many steps of time they are apart (:attr:`Frame.steps`), of those at a lower rate,
        too. ``stride`` then counts frames that are missing. Damage is never bridged.
    edits : {"keep", "split"}
        What to do where a film is edited, or its lens was covered, so that the next frame shows something else: split,
        a new clip begins there. Two frames show something else if, coarsely seen (12 x 16 cells), they correlate by
        less than 0.5, more than their noise explains, or only one of them shows anything. Gradual changes are none.
    crop : (int, int, int, int), optional
        Rows ``top`` to ``bottom`` and columns ``left`` to ``right`` of the upright frame, the last ones excluded.
    scale : int
        Average areas of so many by so many pixels; what remains at the bottom and right is left out.

    Raises
    ------
    ValueError
        Options out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from flymotion import open_movie
    >>> movie = open_movie(np.zeros((50, 48, 64)), rate=25.0, start="1s", stride=5, crop=(0, 24, 0, 64))
    >>> movie.shape, movie.rate, movie.n_frames_estimate
    ((24, 64), 5.0, 5)
    """

    start: int | str = 0
    stop: int | str | None = None
    stride: int = 1
    max_frames: int | None = None
    duplicates: Literal["keep", "drop"] = "keep"
    gaps: Literal["split", "bridge"] = "split"
    edits: Literal["keep", "split"] = "keep"
    crop: tuple[int, int, int, int] | None = None
    scale: int = 1

    def __post_init__(self) -> None:
        for name in ("stride", "max_frames", "scale"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; expected at least 1")
        for name, *known in (("duplicates", "keep", "drop"), ("gaps", "split", "bridge"), ("edits", "keep", "split")):
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"{name} is {value!r}; expected {known[0]!r} or {known[1]!r}")
        if self.crop is not None and len(self.crop) != 4:
            raise ValueError(f"crop is {self.crop}; expected (top, bottom, left, right)")
        _ = self.first, self.end  # that they can be understood

    @property
    def first(self) -> Mark:
        """Where to begin."""
        return _as_mark(self.start, "start")

    @property
    def end(self) -> Mark | None:
        """Before what to end."""
        return None if self.stop is None else _as_mark(self.stop, "stop")

    @property
    def entry(self) -> Mark:
        """Where a reader may begin: frames can only be counted from the first one on."""
        return 0 if isinstance(self.first, float) and isinstance(self.end, int) else self.first

    def frames(self, items: Iterable[Item]) -> Iterator[Item]:
        """Choose frames; a cut stays a cut, and begins the count of ``stride`` anew."""
        items = _between(items, self.first, self.end)
        if self.duplicates == "drop":
            items = _distinct(items, self)
        return _every(_bridged(items) if self.gaps == "bridge" else _alike(items), self.stride)

    def cropped(self, grey: Grey) -> Grey:
        """Choose pixels."""
        if self.crop is None:
            return grey
        top, bottom, left, right = self.crop
        return grey._replace(values=grey.values[top:bottom, left:right])

    def shape(self, full: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of what is left of frames of shape ``full``.

        Raises
        ------
        ValueError
            A crop beyond the frame, or less than one area of ``scale``; one of these, or edits, for flat frames.
        """
        if self.crop is None and self.scale == 1 and self.edits == "keep":
            return full
        if len(full) != 2:
            raise ValueError(f"frames have shape {full}; expected (height, width) for crop, scale and edits")
        height, width = full
        top, bottom, left, right = self.crop or (0, height, 0, width)
        if not (0 <= top < bottom <= height and 0 <= left < right <= width):
            raise ValueError(
                f"crop is {self.crop}; expected top < bottom <= {height} and left < right <= {width}, none below 0"
            )
        shape = ((bottom - top) // self.scale, (right - left) // self.scale)
        if 0 in shape:
            raise ValueError(f"scale is {self.scale}; expected at most {min(bottom - top, right - left)}")
        return shape

    def count(self, n_frames: int | None, rate: float | None) -> int | None:
        """Return how many of ``n_frames`` are left, as far as one can tell before reading them."""
        if not n_frames:
            return None
        start = _number(self.first, rate)
        stop = n_frames if self.end is None else _number(self.end, rate)
        if start is None or stop is None:
            return None
        left = max(0, -(-(min(stop, n_frames) - start) // self.stride))
        return left if self.max_frames is None else min(left, self.max_frames)


def _as_mark(value: Any, name: str) -> Mark:
    """Return a number of frames (int) or a time [s] (float), from 12 or "12" and from "1.5s"; 1.5 tells no unit."""
    if isinstance(value, (int, np.integer)) and value >= 0:
        return int(value)
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    found = _SECONDS.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{name} is {value!r}; expected a number of frames, such as 250, or seconds, such as '10.5s'")
    return float(found[1])


def _number(mark: Mark, rate: float | None) -> int | None:
    return mark if isinstance(mark, int) else round(mark * rate) if rate else None


def _before(shot: Shot, mark: Mark) -> bool:
    return shot.number < mark if isinstance(mark, int) else shot.time < mark


def _between(items: Iterable[Item], start: Mark, stop: Mark | None) -> Iterator[Item]:
    begun = start == 0
    for item in items:
        if isinstance(item, Shot):
            begun = begun or not _before(item, start)
            if begun and stop is not None and not _before(item, stop):
                return
        if begun:
            yield item


def _bridged(items: Iterable[Item]) -> Iterator[Item]:
    """Leave out gaps that are short: the frame after one knows how far it is."""
    return (item for item in items if not (isinstance(item, int) and 0 < item <= BRIDGED))


def _alike(items: Iterable[Item]) -> Iterator[Item]:
    """Take all frames of a clip as equally far apart."""
    return (item._replace(steps=1.0) if isinstance(item, Shot) else item for item in items)


def _every(items: Iterable[Item], stride: int) -> Iterator[Item]:
    since = math.inf  # steps from the last frame taken
    for item in items:
        if not isinstance(item, Shot):
            since = math.inf
            yield item
            continue
        since += item.steps
        if since >= stride:
            yield item._replace(steps=since / stride)
            since = 0.0


def _distinct(items: Iterable[Item], selection: Selection) -> Iterator[Item]:
    last: Grey | None = None
    for item in items:
        if not isinstance(item, Shot):
            last = None
            yield item
            continue
        grey = item.load()
        here = selection.cropped(grey)
        # Compared with the last one kept, so that slow motion adds up until it shows.
        if last is not None and is_repeat(last, here):
            continue
        last = here
        yield item._replace(load=partial(Grey, *grey))


def is_repeat(before: Grey, after: Grey) -> bool:
    """Return whether a frame is the one before, shown again.

    In a Y plane no block of 16 x 16 pixels may differ by more than ``REPEAT`` on average, which is what coding the same
    image twice costs at good quality; a small thing that moves changes its own blocks by more. Anything else has to be
    equal.
    """
    if before.values.shape != after.values.shape:
        return False
    if before.high is None or before.values.ndim != 2:
        return np.array_equal(before.values, after.values)
    step = (before.high - before.low) / 219 if before.low else before.high / 255
    rows = range(0, len(before.values), _BLOCK)
    return all(_largest_difference(before, after, row) <= REPEAT * step for row in rows)  # most end at the first row


def _largest_difference(before: Grey, after: Grey, row: int) -> float:
    a, b = (grey.values[row : row + _BLOCK] for grey in (before, after))
    difference = np.maximum(a, b) - np.minimum(a, b)
    edges = np.arange(0, difference.shape[1], _BLOCK)
    sums = np.add.reduceat(difference.sum(axis=0, dtype=np.uint32), edges)
    areas = len(difference) * np.diff(edges, append=difference.shape[1])
    return float((sums / areas).max())
