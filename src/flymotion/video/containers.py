"""What PyAV opens: containers, the video stream in them, its frames, and the gaps between them."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from flymotion.video.luminance import grey_of_frame
from flymotion.video.reader import Item, Mark, Shot, Source, VideoError
from flymotion.video.stamps import Clock, Pace

__all__ = ["Place", "read_container", "video_source"]

_REORDERED = 16  # frames shown before one that was decoded earlier, at most, in H.264 and H.265
_UNKNOWN = 2**31 - 1  # AVI writers that do not know their number of frames leave 0 or -1
_THREADS = 2
_WAYS_BACK = (1.0, 10.0)  # how long before a time to enter [s]: frames soon after a key frame may need older ones
_PATIENCE = 10.0  # how long to wait for a live source [s]


class Place(NamedTuple):
    """Where PyAV finds a video, in which format if that must be told, and whether it is live."""

    name: str
    url: str
    format: str | None = None
    live: bool = False


def video_source(path: Path) -> Source:
    """Return the frames of a video file."""
    place = Place(str(path), f"file:{path}")  # "file:" lets a name hold a colon
    with _open(place) as container:
        stream = _video_stream(container, place)
        pace = Pace.seen(container, stream)
        n_frames = stream.frames or round(_duration(container, stream) * pace.rate)
    known = 0 < n_frames < _UNKNOWN
    return Source(place.name, partial(_read_file, place, pace), n_frames if known else None, pace.rate or None)


def _duration(container: Any, stream: Any) -> float:
    """Return how long the header says that the video is [s], 0 if it does not."""
    if stream.duration:
        return float(stream.duration * stream.time_base)
    return (container.duration or 0) / 1e6


@contextmanager
def _open(place: Place) -> Iterator[Any]:
    """Open a container; a forked process leaves it to its parent, as to close it would be to wait for its threads."""
    import av

    process, timeout = os.getpid(), _PATIENCE if place.live else None
    try:
        container = av.open(place.url, format=place.format, metadata_errors="replace", timeout=timeout)
    except av.FFmpegError as error:
        raise VideoError(f"{place.name}: cannot be read as video ({error.strerror})") from error
    try:
        yield container
    finally:
        if os.getpid() == process:
            container.close()
        else:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(container))  # never freed, not even at exit


def _video_stream(container: Any, place: Place) -> Any:
    from av.stream import Disposition

    for stream in container.streams.video:
        picture = stream.disposition & Disposition.attached_pic  # the cover of an audio file
        if stream.codec_context is not None and not picture and container.format.name != "tty":  # "tty" is plain text
            _share_among_threads(stream, place)
            return stream
    raise VideoError(f"{place.name}: has no video stream that can be decoded")


def _share_among_threads(stream: Any, place: Place) -> None:
    """Decode two frames at once; not of a live source, as each is then shown one later.

    With more, the decoder ends at an error in its last frames without a word, and what follows is lost.
    """
    stream.thread_type = "SLICE" if place.live else "AUTO"
    stream.codec_context.thread_count = _THREADS


def _read_file(place: Place, pace: Pace, start: Mark) -> Generator[Item]:
    for back in _WAYS_BACK:
        if not isinstance(start, float) or start <= back:
            break
        with closing(read_container(place, pace, start - back)) as items:
            first = _go_to(start, items)
            if first is not None:
                yield first
                yield from items
                return
    yield from read_container(place, pace)


def _go_to(start: float, items: Iterator[Item]) -> Shot | None:
    """Return the first frame at or after ``start``, or None if the way there was damaged or began after it."""
    before = False
    for item in items:
        if isinstance(item, str):
            return None
        if isinstance(item, Shot) and item.time >= start:
            return item if before or item.time == start else None
        before = before or isinstance(item, Shot)
    return None


def read_container(place: Place, pace: Pace | None = None, enter: float = 0.0) -> Generator[Item]:
    """Yield the frames of a container, from the last key frame at or before ``enter`` [s] on."""
    with _open(place) as container:
        stream = _video_stream(container, place)
        clock = Clock(container, stream, pace or Pace.told(container, stream), place.live)
        if enter > 0 and not _seek(container, stream, clock, enter):
            return
        yield from _timed(_decode(container, stream), clock, stream.codec_context.codec.lossy)
        if not place.live and _ends_early(container, stream, clock):
            yield "the file ends before its header says"


def _seek(container: Any, stream: Any, clock: Clock, time: float) -> bool:
    """Go to the key frame before ``time`` [s]; return whether that worked."""
    import av

    if clock.pace.guessed or clock.origin is None:
        return False
    try:
        container.seek(clock.origin + math.floor(time / stream.time_base), stream=stream)
    except av.FFmpegError:
        return False
    return True


def _timed(frames: Iterator[Any], clock: Clock, coded: bool) -> Iterator[Item]:
    """Yield decoded frames with their times, and how many are missing where some are; damage as it comes."""
    wary = number = 0
    held: list[Item] = []  # a gap, perhaps, and the frame after it, until the next step tells whether that is a rate
    for frame in frames:
        if isinstance(frame, str):
            yield from held
            held, wary = [], _REORDERED
            yield frame
            continue
        if held:
            yield from held[1:] if clock.repeats(frame.pts) else held
            held = []
        stamp, missing, perhaps = clock.take(frame.pts, wary > 0)
        wary -= 1
        shot = Shot(number, clock.time(number, stamp), partial(grey_of_frame, frame, coded), steps=clock.steps)
        number += 1
        found: list[Item] = [shot] if missing is None else [missing, shot]
        if perhaps:
            held = found
        else:
            yield from found
    yield from held


def _ends_early(container: Any, stream: Any, clock: Clock) -> bool:
    """Return whether frames are missing at the end."""
    # Other formats flag a packet that is cut short; these two just stop.
    nominal, seconds = clock.pace.nominal, 0.0
    if container.format.name == "avi" and nominal and stream.frames < _UNKNOWN:
        seconds = float(stream.frames / stream.guessed_rate)  # its duration is guessed from its size
    elif "matroska" in container.format.name and len(container.streams) == 1:  # else it may be the sound's
        seconds = _duration(container, stream)
    ticks = 0 if clock.last is None else clock.last - (clock.origin or 0) + nominal
    return (ticks + 2 * nominal) * stream.time_base < 0.95 * seconds


def _decode(container: Any, stream: Any) -> Iterator[Any]:
    import av

    packets = container.demux(stream)
    lost: int | None = None  # when the frame of an incomplete packet was due: those before may still be in the decoder
    while True:
        try:
            packet = next(packets, None)
            frames = [] if packet is None or packet.is_corrupt else packet.decode()
        except av.FFmpegError as error:
            yield error.strerror
            continue
        if packet is not None and packet.is_corrupt and lost is None:
            lost = next((ticks for ticks in (packet.pts, packet.dts) if ticks is not None), -1)
        for frame in frames:
            if lost is not None and frame.pts is not None and frame.pts > lost:
                yield "a packet is incomplete"
                lost = None
            yield "a frame decodes with errors" if frame.is_corrupt else frame
        if packet is None:
            break
    if lost is not None:
        yield "a packet is incomplete"
