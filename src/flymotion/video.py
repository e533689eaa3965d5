"""Movies from video files, image folders, TIFF stacks and arrays, one frame at a time.

A :class:`Movie` is read anew by every loop over it and never held as a whole. Its frames are upright luminance images,
``(height, width)``, float32, rows counted downwards. Luminance is

- of a video, its Y plane on a scale of 0 (black) to 255 (white), whatever its bit depth and range;
- of colour images and arrays, ``0.299 R + 0.587 G + 0.114 B`` (Rec. 601) without the alpha channel;
- of anything grey (images, arrays, grey video of 8 to 16 bit), the values as they are: no range is ever guessed.

Where frames are missing a new clip begins, a *cut*, so that no pair of frames bridges the gap: after frames that are
damaged, and where the time stamps of a video of constant rate step by more than 1.5 frame durations. A rate counts as
constant when fewer than a fifth of its frames are missing. In a video of variable rate such a step is a cut only in the
16 frames after damage; in an AVI file with reordered frames, which stores no time stamps, only damage is.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flymotion.frames import as_frames

__all__ = ["Batch", "Movie", "VideoError", "open_movie", "read_movie"]

_REC_601 = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_IMAGES = {".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}
_REORDERED = 16  # frames shown before one that was decoded earlier, at most, in H.264 and H.265
_UNKNOWN = 2**31 - 1  # AVI writers that do not know their number of frames leave 0 or -1
_Y_FIRST = re.compile(r"(gray|yuvj?a?4\d\dp|nv\d\d)(\d+)?(le|be)?")  # pixel formats whose plane 0 is Y alone

# What a reader yields: a frame, None where time stamps tell of missing frames, or the reason why frames are damaged.
_Item = np.ndarray | str | None
_Reader = Callable[[], Generator[_Item]]


class VideoError(ValueError):
    """A movie that cannot be read; the message names the file and the reason."""


class Batch(NamedTuple):
    """Consecutive frames.

    Parameters
    ----------
    frames : ndarray, shape (n_frames, height, width)
        The frames, none missing between them.
    cut : bool
        Whether the first frame begins a clip: it does not follow the last frame of the batch before.
    """

    frames: np.ndarray
    cut: bool


class _Source(NamedTuple):
    name: str
    read: _Reader
    n_frames: int | None
    rate: float | None = None


@dataclass(frozen=True)
class Movie:
    """Frames read one at a time, from the first one in every loop; made by :func:`open_movie`.

    Attributes
    ----------
    name : str
        The path, or "array".
    shape : tuple of int
        Height and width as displayed [pixels]; ``(n_pixels,)`` for an array of flat frames.
    rate : float or None
        Frames per second, where the file tells.
    n_frames_estimate : int or None
        What the file promises, where it does; the frames that decode may be fewer or more.
    """

    name: str
    shape: tuple[int, ...]
    rate: float | None
    n_frames_estimate: int | None
    _read: _Reader
    _max_frames: int | None
    _strict: bool

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield each frame, float32, shape (height, width); cuts do not show here."""
        with closing(self._frames()) as frames:
            for frame, _ in frames:
                yield frame

    def batches(self, n_frames: int) -> Iterator[Batch]:
        """Yield the frames in batches of at most ``n_frames``; a cut ends a batch early.

        Raises
        ------
        ValueError
            ``n_frames`` below 1.
        """
        if n_frames < 1:
            raise ValueError(f"n_frames is {n_frames}; expected at least 1 frame a batch")
        held: list[np.ndarray] = []
        cut = True
        with closing(self._frames()) as frames:
            for frame, starts in frames:
                if held and starts:
                    yield Batch(np.stack(held), cut)
                    held = []
                cut = cut if held else starts
                held.append(frame)
                if len(held) == n_frames:
                    yield Batch(np.stack(held), cut)
                    held = []
        if held:
            yield Batch(np.stack(held), cut)

    def _frames(self) -> Generator[tuple[np.ndarray, bool]]:
        n, starts, damaged = 0, True, False
        with closing(self._read()) as items:
            for item in items:
                if isinstance(item, np.ndarray):
                    if item.shape != self.shape:
                        raise VideoError(f"{self.name}: frame {n} has shape {item.shape}; expected {self.shape}")
                    yield item, starts
                    n, starts = n + 1, False
                    if n == self._max_frames:
                        return
                    continue
                starts = True
                if item is not None and not damaged:
                    damaged = True
                    self._report(f"{self.name}: damaged after {n} frames ({item}); a new clip begins there")

    def _report(self, message: str) -> None:
        if self._strict:
            raise VideoError(message)
        warnings.warn(message, UserWarning, stacklevel=4)


def open_movie(source: Any, *, max_frames: int | None = None, rotate: bool = True, strict: bool = False) -> Movie:
    """Open a movie and look at its first frame.

    Parameters
    ----------
    source : path or array-like
        A video file, an image, GIF or TIFF stack (each page a frame), a folder of images (in natural order, f2 before
        f10; hidden files ignored), or an array of shape ``(n_frames, height, width[, 1, 3 or 4 channels])`` or
        ``(n_frames, n_pixels)``, time first. Colour images of more than 8 bit are read at 8 bit.
    max_frames : int, optional
        Stop after so many frames.
    rotate : bool
        Apply the orientation that a video or image is tagged with, so that frames are upright.
    strict : bool
        Raise on damage. Otherwise damaged frames are left out, with one warning, and a new clip begins after them.

    Raises
    ------
    VideoError
        A source that is missing, empty, of no known format, without a video stream or images, or with not one frame
        that can be decoded. While reading: frames of unequal size; with ``strict``, damage.
    TypeError, ValueError
        Arrays that :func:`flymotion.frames.as_frames` refuses; ``max_frames`` below 1.

    Examples
    --------
    >>> import numpy as np
    >>> movie = open_movie(np.zeros((5, 4, 6), dtype=np.uint8))
    >>> movie.shape, [(len(frames), cut) for frames, cut in movie.batches(3)]
    ((4, 6), [(3, True), (2, False)])
    """
    if max_frames is not None and max_frames < 1:
        raise ValueError(f"max_frames is {max_frames}; expected at least 1, or None for all")
    found = _path_source(Path(source), rotate) if isinstance(source, (str, os.PathLike)) else _array_source(source)
    first: _Item = None
    with closing(found.read()) as items:
        for item in items:
            first = first if item is None else item
            if isinstance(item, np.ndarray):
                break
    if not isinstance(first, np.ndarray):
        raise VideoError(f"{found.name}: not one frame can be decoded ({first or 'it has none'})")
    n_frames = min(found.n_frames, max_frames) if found.n_frames and max_frames else found.n_frames
    return Movie(found.name, first.shape, found.rate, n_frames, found.read, max_frames, strict)


def read_movie(source: Any, **options: Any) -> np.ndarray:
    """Read a whole movie into memory, cuts forgotten: for small things.

    Parameters
    ----------
    source : path or array-like
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


def _array_source(source: Any) -> _Source:
    array = source if hasattr(source, "shape") and not hasattr(source, "dims") else as_frames(source, name="array")
    shape = tuple(array.shape)
    if len(shape) not in (2, 3, 4) or (len(shape) == 4 and shape[3] not in (1, 3, 4)):
        raise VideoError(
            f"array has shape {shape}; expected (n_frames, height, width[, 1, 3 or 4]) or (n_frames, n_pixels)"
        )

    def read() -> Generator[_Item]:
        for i in range(len(array)):  # frame by frame: the array may be a file mapped into memory
            frame = as_frames(array[i : i + 1], name="array", first=i)[0]
            if frame.ndim == 3:
                frame = frame[..., 0] if shape[3] == 1 else frame[..., :3] @ _REC_601
            yield np.array(frame, dtype=np.float32)

    return _Source("array", read, len(array))


def _path_source(path: Path, rotate: bool) -> _Source:
    try:
        if path.is_dir():
            files = sorted((f for f in path.iterdir() if _is_image(f)), key=_natural)
            if not files:
                raise VideoError(f"{path}: the folder holds no images")
            return _Source(str(path), lambda: _read_images(files, rotate), len(files))
        if path.stat().st_size == 0:
            raise VideoError(f"{path}: the file is empty")
    except OSError as error:
        raise VideoError(f"{path}: {error.strerror}") from error
    if _is_image(path):
        return _Source(str(path), lambda: _read_images([path], rotate), _count_pages(path))
    return _video_source(path, rotate)


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in _IMAGES and not path.name.startswith(".")


def _natural(path: Path) -> tuple[list[str | int], str]:
    parts = re.split(r"(\d+)", path.name)
    return [int(part) if i % 2 else part.casefold() for i, part in enumerate(parts)], path.name


def _count_pages(path: Path) -> int | None:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(path) as image:
                return getattr(image, "n_frames", 1)
        except Exception:  # whatever is wrong, reading will say it
            return None


def _read_images(files: list[Path], rotate: bool) -> Generator[_Item]:
    from PIL import Image

    for file in files:
        try:
            with Image.open(file) as image:
                for i in count():
                    page = _read_page(image, i, rotate)
                    if page is None:
                        break
                    yield page
        except Exception as error:  # damage makes Pillow raise anything: OSError, SyntaxError, TypeError, ...
            yield f"{file.name}: {error}"


def _read_page(image: Any, i: int, rotate: bool) -> np.ndarray | None:
    from PIL import ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns, then raises: the damage is reported once
        try:
            image.seek(i)
        except EOFError:
            return None
        image.load()
        upright = ImageOps.exif_transpose(image) if rotate else image
        if upright.mode in ("L", "I", "F") or upright.mode.startswith("I;16"):
            return np.array(upright, dtype=np.float32)
        return np.asarray(upright.convert("RGB")) @ _REC_601


def _video_source(path: Path, rotate: bool) -> _Source:
    with _open_container(path) as container:
        stream = _video_stream(container, path)
        rate = float(stream.average_rate or stream.guessed_rate or 0)
        n_frames = stream.frames or round(_duration(container, stream) * rate)
    known = 0 < n_frames < _UNKNOWN
    return _Source(str(path), lambda: _read_video(path, rotate), n_frames if known else None, rate or None)


def _duration(container: Any, stream: Any) -> float:
    """Return how long the header says that the video is [s], 0 if it does not."""
    if stream.duration:
        return float(stream.duration * stream.time_base)
    return (container.duration or 0) / 1e6


def _open_container(path: Path) -> Any:
    import av

    try:
        return av.open(f"file:{path}", metadata_errors="replace")  # "file:" lets a name hold a colon
    except av.FFmpegError as error:
        raise VideoError(f"{path}: cannot be read as video ({error.strerror})") from error


def _video_stream(container: Any, path: Path) -> Any:
    from av.stream import Disposition

    for stream in container.streams.video:
        picture = stream.disposition & Disposition.attached_pic  # the cover of an audio file
        if stream.codec_context is not None and not picture and container.format.name != "tty":  # "tty" is plain text
            return stream
    raise VideoError(f"{path}: has no video stream that can be decoded")


def _read_video(path: Path, rotate: bool) -> Generator[_Item]:
    with _open_container(path) as container:
        stream = _video_stream(container, path)
        constant, nominal = _clock(container, stream)
        wary, start, end = 0, None, None
        for item in _decode(container, stream):
            if isinstance(item, str):
                wary = _REORDERED
                yield item
                continue
            if item.pts is not None:
                start = item.pts if start is None else start
                if end is not None and nominal and (constant or wary > 0) and item.pts - end > 0.5 * nominal:
                    yield None
                end = item.pts + nominal
            wary -= 1
            luminance = _luminance(item)
            yield _upright(luminance, item) if rotate else luminance
        if _ends_early(container, stream, 0 if start is None else end - start, nominal):
            yield "the file ends before its header says"


def _clock(container: Any, stream: Any) -> tuple[bool, float]:
    """Return whether frames come at a constant rate, and the duration of one [ticks of the stream], 0 if unknown."""
    average, base = stream.average_rate or 0, stream.guessed_rate or 0
    guessed_stamps = container.format.name == "avi" and stream.codec_context.has_b_frames
    constant = bool(average > 0.8 * base > 0) and not guessed_stamps
    rate = base if constant else 0 if guessed_stamps else average
    return constant, float(1 / (rate * stream.time_base)) if rate else 0.0


def _ends_early(container: Any, stream: Any, ticks: float, nominal: float) -> bool:
    # Other formats flag a packet that is cut short; these two just stop.
    seconds = 0.0
    if container.format.name == "avi" and nominal and stream.frames < _UNKNOWN:
        seconds = float(stream.frames / stream.guessed_rate)  # its duration is guessed from the size of the file
    elif "matroska" in container.format.name and len(container.streams) == 1:  # else it may be how long the sound is
        seconds = _duration(container, stream)
    return (ticks + 2 * nominal) * stream.time_base < 0.95 * seconds


def _decode(container: Any, stream: Any) -> Iterator[Any]:
    import av

    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
            if packet is None:
                return
            frames = [] if packet.is_corrupt else packet.decode()
        except av.FFmpegError as error:
            yield error.strerror
            continue
        if packet.is_corrupt:
            yield "a packet is incomplete"
        for frame in frames:
            yield "a frame decodes with errors" if frame.is_corrupt else frame


def _luminance(frame: Any) -> np.ndarray:
    name = frame.format.name
    if not _Y_FIRST.fullmatch(name) or frame.planes[0].line_size < 0:
        # Not "gray16": the threads of libswscale 9 race in most conversions to it.
        return frame.reformat(format="gray").to_ndarray().astype(np.float32)
    if name.endswith("be"):
        frame = frame.reformat(format=name[:-2] + "le")
    bits = frame.format.components[0].bits
    rows = np.frombuffer(frame.planes[0], "u1" if bits == 8 else "<u2").reshape(frame.height, -1)
    y = rows[:, : frame.width]  # rows are padded
    if name.startswith("gray"):
        return y.astype(np.float32)
    if name.startswith("yuvj") or frame.color_range == 2:  # AVCOL_RANGE_JPEG: full range
        return np.multiply(y, 255 / (2**bits - 1), dtype=np.float32)
    luminance = np.multiply(y, 255 / (219 * 2.0 ** (bits - 8)), dtype=np.float32)  # black is 16, white 235 of 8 bit
    luminance -= 16 * 255 / 219
    return np.clip(luminance, 0, 255, out=luminance)


def _upright(image: np.ndarray, frame: Any) -> np.ndarray:
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return image
    a, b, _, c, d = np.frombuffer(matrix, np.int32)[:5]  # x' = a x + c y, y' = b x + d y
    if abs(b) > abs(a):
        image, a, d = image.T, c, b
    return np.ascontiguousarray(image[:: -1 if d < 0 else 1, :: -1 if a < 0 else 1])
