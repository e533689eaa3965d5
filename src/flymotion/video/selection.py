"""Which of a movie's frames are wanted: a stretch of it, without repeats, every k-th; and which part of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flymotion.video.reader import Grey, Item, Mark, Shot

__all__ = ["REPEAT", "Selection", "as_mark", "is_repeat"]

REPEAT = 3.0
"""Largest mean difference in any block of a frame that is shown again [steps of an 8 bit Y plane].

Coding real video with repeats cost these up to 1.6 (H.264, crf 18), 5 (crf 23) and 6 (crf 30); steps were 15 or more.
"""

_BLOCK = 16  # side of the blocks that codecs copy [pixels]
_SECONDS = re.compile(r"(\d+(?:\.\d*)?|\.\d+) ?s")


@dataclass(frozen=True)
class Selection:
    """The options of :func:`flymotion.video.open_movie` that choose frames and pixels, as documented there."""

    start: Mark = 0
    stop: Mark | None = None
    stride: int = 1
    distinct: bool = False
    crop: tuple[int, int, int, int] | None = None
    downsample: int = 1
    max_frames: int | None = None
    split: bool = False

    @property
    def entry(self) -> Mark:
        """Where a reader may begin: frames can only be counted from the first one on."""
        return 0 if isinstance(self.start, float) and isinstance(self.stop, int) else self.start

    def frames(self, items: Iterable[Item]) -> Iterator[Item]:
        """Choose frames; a cut stays a cut, and begins the count of ``stride`` anew."""
        items = _between(items, self.start, self.stop)
        if self.distinct:
            items = _distinct(items, self)
        return _every(items, self.stride)

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
            A crop beyond the frame, less than one area of ``downsample``, or one of these or edits for flat frames.
        """
        if self.crop is None and self.downsample == 1 and not self.split:
            return full
        if len(full) != 2:
            raise ValueError(f"frames have shape {full}; expected (height, width) for crop, downsample and edits")
        height, width = full
        top, bottom, left, right = self.crop or (0, height, 0, width)
        if not (0 <= top < bottom <= height and 0 <= left < right <= width):
            raise ValueError(
                f"crop is {self.crop}; expected top < bottom <= {height} and left < right <= {width}, none below 0"
            )
        shape = ((bottom - top) // self.downsample, (right - left) // self.downsample)
        if 0 in shape:
            raise ValueError(f"downsample is {self.downsample}; expected at most {min(bottom - top, right - left)}")
        return shape

    def count(self, n_frames: int | None, rate: float | None) -> int | None:
        """Return how many of ``n_frames`` are left, as far as one can tell before reading them."""
        if not n_frames:
            return None
        start = _number(self.start, rate)
        stop = n_frames if self.stop is None else _number(self.stop, rate)
        if start is None or stop is None:
            return None
        left = max(0, -(-(min(stop, n_frames) - start) // self.stride))
        return left if self.max_frames is None else min(left, self.max_frames)


def as_mark(value: Any, name: str) -> Mark:
    """Return a number of frames (int) or a time [s] (float), from 12 or "12" and from "1.5s".

    Raises
    ------
    ValueError
        Anything else: a bare 1.5 does not tell its unit.
    """
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


def _every(items: Iterable[Item], stride: int) -> Iterator[Item]:
    n = 0
    for item in items:
        if not isinstance(item, Shot):
            n = 0
            yield item
            continue
        if n % stride == 0:
            yield item
        n += 1


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
