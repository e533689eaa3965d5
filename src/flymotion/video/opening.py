"""Opening a movie: which reader a source needs, and a look at the first frame."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import closing
from math import isnan
from pathlib import Path
from typing import Any, Literal

import numpy as np

from flymotion.video.arrays import array_file_source, array_source
from flymotion.video.containers import video_source
from flymotion.video.images import folder_source, image_source, is_image
from flymotion.video.live import camera_source, is_live, live_source, pipe_source
from flymotion.video.movie import Movie
from flymotion.video.reader import Item, Mark, Shot, Source, VideoError
from flymotion.video.selection import Selection, as_mark

__all__ = ["open_movie", "read_movie"]


def open_movie(
    source: Any,
    *,
    start: int | str = 0,
    stop: int | str | None = None,
    stride: int = 1,
    max_frames: int | None = None,
    duplicates: Literal["keep", "drop"] = "keep",
    edits: Literal["keep", "split"] = "keep",
    crop: tuple[int, int, int, int] | None = None,
    downsample: int = 1,
    rate: float | None = None,
    rotate: bool = True,
    strict: bool = False,
) -> Movie:
    """Open a movie and look at its first frame.

    Parameters
    ----------
    source : path, str or array-like
        A video file, an image, GIF or TIFF stack (each page a frame), a folder of images (in natural order, f2 before
        f10; hidden files ignored), a ``.npy`` or ``.zarr`` file; an array of shape ``(n_frames, height, width[, 1, 3
        or 4 channels])`` or ``(n_frames, n_pixels)``, time first, or anything with a shape that is sliced like one.
        Live, and read only once: a camera (``"camera:0"``, ``"/dev/video0"``; on Windows ``"camera:"`` and its name),
        a URL that PyAV opens (http, rtsp, ...), a named pipe. Colour images of more than 8 bit are read at 8 bit.
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
    edits : {"keep", "split"}
        What to do where a film is edited, or its lens was covered, so that the next frame shows something else: split,
        a new clip begins there. Two frames show something else if, coarsely seen (12 x 16 cells), they correlate by
        less than 0.5, or only one of them shows anything. Gradual changes are none.
    crop : (int, int, int, int), optional
        Rows ``top`` to ``bottom`` and columns ``left`` to ``right`` of the upright frame, the last ones excluded.
    downsample : int
        Average areas of so many by so many pixels; what remains at the bottom and right is left out.
    rate : float, optional
        Frames per second of images and arrays, which do not tell; without it their times are NaN.
    rotate : bool
        Apply the orientation that a video or image is tagged with, so that frames are upright.
    strict : bool
        Raise on damage. Otherwise damaged frames are left out, with one warning, and a new clip begins after them.
        Damage before ``start`` is passed over.

    Raises
    ------
    VideoError
        A source that is missing, empty, of no known format, without a video stream or images, or with not one frame
        that can be decoded; seconds for a source without times. While reading: no frame between ``start`` and ``stop``;
        frames of unequal size; with ``strict``, damage; a live source read twice.
    TypeError, ValueError
        Arrays that :func:`flymotion.frames.as_frames` refuses; options out of range.

    Examples
    --------
    >>> import numpy as np
    >>> movie = open_movie(np.zeros((5, 4, 6), dtype=np.uint8), rate=10, downsample=2)
    >>> movie.shape, [(len(frames), cut, float(times[0])) for frames, cut, times in movie.batches(3)]
    ((2, 3), [(3, True, 0.0), (2, False, 0.3)])
    """
    selection = _selection(start, stop, stride, max_frames, duplicates, edits, crop, downsample)
    if rate is not None and not 0 < rate < float("inf"):
        raise ValueError(f"rate is {rate}; expected frames per second above 0")
    found, first = _look(_source(source, rotate, rate))
    if isnan(first.time) and any(isinstance(mark, float) for mark in (selection.start, selection.stop)):
        raise VideoError(f"{found.name}: has no times; give start and stop as numbers of frames, or the rate")
    full = first.load().values.shape
    return Movie(
        found.name,
        selection.shape(full),
        found.rate / stride if found.rate else None,
        selection.count(found.n_frames, found.rate),
        found.live,
        found.read,
        full,
        selection,
        strict,
    )


def read_movie(source: Any, **options: Any) -> np.ndarray:
    """Read a whole movie into memory, cuts forgotten: for small things.

    Parameters
    ----------
    source : path, str or array-like
        What :func:`open_movie` takes.
    **options : Any
        Options of :func:`open_movie`.

    Returns
    -------
    ndarray, shape (n_frames, height, width)
        The frames, float32.

    Raises
    ------
    VideoError
        As :func:`open_movie`.
    """
    return np.stack(list(open_movie(source, **options)))


def _selection(
    start: Any, stop: Any, stride: int, max_frames: int | None, duplicates: str, edits: str, crop: Any, downsample: int
) -> Selection:
    for name, value in [("stride", stride), ("max_frames", max_frames), ("downsample", downsample)]:
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}; expected at least 1")
    if duplicates not in ("keep", "drop"):
        raise ValueError(f"duplicates is {duplicates!r}; expected 'keep' or 'drop'")
    if edits not in ("keep", "split"):
        raise ValueError(f"edits is {edits!r}; expected 'keep' or 'split'")
    if crop is not None and len(crop) != 4:
        raise ValueError(f"crop is {crop}; expected (top, bottom, left, right)")
    end = None if stop is None else as_mark(stop, "stop")
    crop = None if crop is None else tuple(crop)
    distinct, split = duplicates == "drop", edits == "split"
    return Selection(as_mark(start, "start"), end, stride, distinct, crop, downsample, max_frames, split)


def _source(source: Any, rotate: bool, rate: float | None) -> Source:
    if not isinstance(source, (str, os.PathLike)):
        return array_source(source, rate)
    found = live_source(str(source), rotate) if is_live(source) else _path_source(Path(source), rotate, rate)
    if rate is not None and found.rate != rate:
        raise ValueError(f"rate is {rate}, but {found.name} has times of its own; rate is for images and arrays")
    return found


def _path_source(path: Path, rotate: bool, rate: float | None) -> Source:
    try:
        status = path.stat()
        if path.suffix.lower() in (".npy", ".zarr"):
            return array_file_source(path, rate)
        if path.is_dir():
            return folder_source(path, rotate, rate)
    except OSError as error:
        raise VideoError(f"{path}: {error.strerror}") from error
    if stat.S_ISCHR(status.st_mode):
        return camera_source(str(path), rotate, str(path))
    if stat.S_ISFIFO(status.st_mode):
        return pipe_source(path, rotate)
    if status.st_size == 0:
        raise VideoError(f"{path}: the file is empty")
    return image_source(path, rotate, rate) if is_image(path) else video_source(path, rotate)


def _look(source: Source) -> tuple[Source, Shot]:
    """Return the source and its first frame; of a live one, a source that still has that frame before it."""
    seen: list[Item] = []
    items = source.read(0)
    for item in items:
        seen.append(item)
        if isinstance(item, Shot):
            break
    else:
        reason = next((item for item in reversed(seen) if isinstance(item, str)), "it has none")
        raise VideoError(f"{source.name}: not one frame can be decoded ({reason})")
    if source.live:
        return source._replace(read=_Once(source.name, seen, items)), item
    items.close()
    return source, item


class _Once:
    """Reads on where looking at the first frame ended, and only once."""

    def __init__(self, name: str, seen: list[Item], items: Generator[Item]) -> None:
        self._name, self._rest = name, [(seen, items)]

    def __call__(self, start: Mark) -> Generator[Item]:
        if not self._rest:
            raise VideoError(f"{self._name}: is live and was read before; open it anew to read on")
        seen, items = self._rest.pop()
        return _resume(seen, items)


def _resume(seen: list[Item], items: Generator[Item]) -> Generator[Item]:
    with closing(items):
        yield from seen
        yield from items
