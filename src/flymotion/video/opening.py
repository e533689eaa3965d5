"""Opening a movie: which reader a source needs, and a look at the first frame."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import fields
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.video.arrays import array_file_source, array_source
from flymotion.video.containers import video_source
from flymotion.video.images import folder_source, image_source, is_image
from flymotion.video.live import camera_source, is_live, live_source, pipe_source
from flymotion.video.movie import Movie
from flymotion.video.reader import Grey, Item, Mark, Reader, Shot, Source, VideoError
from flymotion.video.selection import Selection

__all__ = ["open_movie", "read_movie"]


def open_movie(
    source: Any, *, rate: float | None = None, rotate: bool = True, strict: bool = False, **selection: Any
) -> Movie:
    """Open a movie and look at its first frame.

    Parameters
    ----------
    source : path, str or array-like
        A video file, an image, GIF or TIFF stack (each page a frame), a folder of images (in natural order, f2 before
        f10; hidden files ignored; where numbers in names leap, frames are missing), a ``.npy`` or ``.zarr`` file; an
        array of shape ``(n_frames, height, width[, 1, 3 or 4 channels])`` or ``(n_frames, n_pixels)``, time first, or
        anything with a shape that is sliced like one; three channels are red, green and blue, a fourth one is ignored.
        Live, and read only once: a camera (``"camera:0"``, ``"/dev/video0"``; on Windows ``"camera:"`` and its name),
        a URL that PyAV opens (http, rtsp, ...), a named pipe. Colour images of more than 8 bit are read at 8 bit.
    rate : float, optional
        Frames per second of images and arrays, which do not tell; without it their times are NaN. Animated images
        (GIF, PNG, WebP) have times of their own, as videos have.
    rotate : bool
        Apply the orientation that a video or image is tagged with, so that frames are upright.
    strict : bool
        Raise on damage. Otherwise damaged frames are left out, with one warning, and a new clip begins after them.
        Damage before ``start`` is passed over.
    **selection : Any
        Which frames and pixels are wanted, by default all: ``start``, ``stop``, ``stride``, ``max_frames``,
        ``duplicates``, ``edits``, ``crop`` and ``scale`` of :class:`Selection`.

    Raises
    ------
    VideoError
        A source that is missing, empty, of no known format, without a video stream or images, or with not one frame
        that can be decoded; seconds for a source without times. While reading: no frame between ``start`` and ``stop``;
        frames of unequal size; with ``strict``, damage; a live source read twice.
    TypeError, ValueError
        Arrays that :func:`flymotion.frames.as_frames` refuses; options out of range, or that there are not.

    Examples
    --------
    >>> import numpy as np
    >>> movie = open_movie(np.zeros((5, 4, 6), dtype=np.uint8), rate=10, scale=2)
    >>> movie.shape, [(len(frames), cut, float(times[0])) for frames, cut, times in movie.batches(3)]
    ((2, 3), [(3, True, 0.0), (2, False, 0.3)])
    """
    if unknown := sorted(selection.keys() - {field.name for field in fields(Selection)}):
        known = ", ".join(["rate", "rotate", "strict", *(field.name for field in fields(Selection))])
        raise TypeError(f"there is no option {', '.join(map(repr, unknown))} of reading; expected some of {known}")
    wanted = Selection(**selection)
    found = _source(source)
    if rate is not None:
        found = _at_rate(found, rate)
    if rotate:
        found = found._replace(read=partial(_upright, found.read))
    found, first = _look(found)
    if isnan(first.time) and any(isinstance(mark, float) for mark in (wanted.first, wanted.end)):
        raise VideoError(f"{found.name}: has no times; give start and stop as numbers of frames, or the rate")
    grey = first.load()
    full = grey.values.shape
    return Movie(
        found.name,
        _shape(found.name, wanted, full),
        found.rate / wanted.stride if found.rate else None,
        wanted.count(found.n_frames, found.rate),
        found.live,
        found.counted,
        found.lazy,
        grey.white,
        grey.step,
        grey.coded,
        found.read,
        full,
        wanted,
        strict,
    )


def _shape(name: str, wanted: Selection, full: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return wanted.shape(full)
    except ValueError as error:
        raise VideoError(f"{name}: {error}") from error


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

    Examples
    --------
    >>> import numpy as np
    >>> green = np.zeros((4, 6, 8, 3), dtype=np.uint8) + np.array([0, 100, 0], dtype=np.uint8)
    >>> movie = read_movie(green, scale=2)
    >>> movie.shape, round(float(movie[0, 0, 0]), 1)  # areas of 2 x 2 pixels, luminance
    ((4, 3, 4), 58.7)
    """
    return np.stack(list(open_movie(source, **options)))


def _source(source: Any) -> Source:
    if not isinstance(source, (str, os.PathLike)):
        return array_source(source)
    return live_source(str(source)) if is_live(source) else _path_source(Path(source))


def _path_source(path: Path) -> Source:
    try:
        status = path.stat()
        if path.suffix.lower() in (".npy", ".zarr"):
            return array_file_source(path)
        if path.is_dir():
            return folder_source(path)
    except OSError as error:
        raise VideoError(f"{path}: {error.strerror}") from error
    if stat.S_ISCHR(status.st_mode):
        return camera_source(str(path), str(path))
    if stat.S_ISFIFO(status.st_mode):
        return pipe_source(path)
    if status.st_size == 0:
        raise VideoError(f"{path}: the file is empty")
    return image_source(path) if is_image(path) else video_source(path)


def _at_rate(source: Source, rate: float) -> Source:
    """Give the frames of a source without times those of a rate."""
    if not 0 < rate < float("inf"):
        raise ValueError(f"rate is {rate}; expected frames per second above 0")
    if not source.timed:
        return source._replace(read=partial(_timed, source.read, rate), rate=rate)
    if source.rate != rate:
        raise ValueError(f"rate is {rate}, but {source.name} has times of its own; rate is for images and arrays")
    return source


def _timed(read: Reader, rate: float, start: Mark) -> Generator[Item]:
    with closing(read(start if isinstance(start, int) else int(start * rate))) as items:
        for item in items:
            yield item._replace(time=item.number / rate) if isinstance(item, Shot) else item


def _upright(read: Reader, start: Mark) -> Generator[Item]:
    with closing(read(start)) as items:
        for item in items:
            yield item._replace(load=partial(_load_upright, item.load)) if isinstance(item, Shot) else item


def _load_upright(load: Callable[[], Grey]) -> Grey:
    return load().upright()


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
        self._name, self._rest, self._process = name, [(seen, items)], os.getpid()

    def __reduce__(self) -> Any:
        raise TypeError(f"{self._name}: is live, and cannot be pickled; open it in the process that reads it")

    def __call__(self, start: Mark) -> Generator[Item]:
        if not self._rest:
            raise VideoError(f"{self._name}: is live and was read before; open it anew to read on")
        if os.getpid() != self._process:
            raise VideoError(f"{self._name}: is live and was opened by another process; open it in this process")
        seen, items = self._rest.pop()
        return _resume(seen, items)


def _resume(seen: list[Item], items: Generator[Item]) -> Generator[Item]:
    with closing(items):
        yield from seen
        yield from items
