"""What PyAV opens: containers, the video stream in them, its frames, and the gaps between them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from flymotion.video.luminance import grey_of_frame
from flymotion.video.reader import Item, Mark, Shot, Source, VideoError

__all__ = ["Place", "read_container", "video_source"]

_REORDERED = 16  # frames shown before one that was decoded earlier, at most, in H.264 and H.265
_UNKNOWN = 2**31 - 1  # AVI writers that do not know their number of frames leave 0 or -1
_THREADS = 2
_RECENT = 15  # steps of a live source that tell its rate

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
        rate = float(stream.average_rate or stream.guessed_rate or 0)
        n_frames = stream.frames or round(_duration(container, stream) * rate)
    known = 0 < n_frames < _UNKNOWN
    return Source(place.name, partial(_read_file, place), n_frames if known else None, rate or None)


def _duration(container: Any, stream: Any) -> float:
    """Return how long the header says that the video is [s], 0 if it does not."""
    if stream.duration:
        return float(stream.duration * stream.time_base)
    return (container.duration or 0) / 1e6


def _open(place: Place) -> Any:
    import av

    timeout = _PATIENCE if place.live else None
    try:
        return av.open(place.url, format=place.format, metadata_errors="replace", timeout=timeout)
    except av.FFmpegError as error:
        raise VideoError(f"{place.name}: cannot be read as video ({error.strerror})") from error


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


def _read_file(place: Place, start: Mark) -> Generator[Item]:
    for back in _WAYS_BACK:
        if not isinstance(start, float) or start <= back:
            break
        with closing(read_container(place, start - back)) as items:
            first = _go_to(start, items)
            if first is not None:
                yield first
                yield from items
                return
    yield from read_container(place)


def _go_to(start: float, items: Iterator[Item]) -> Shot | None:
    """Return the first frame at or after ``start``, or None if the way there was damaged or began after it."""
    before = False
    for item in items:
        if isinstance(item, str):
            return None
        if item is not None and item.time >= start:
            return item if before or item.time == start else None
        before = before or item is not None
    return None


def read_container(place: Place, enter: float = 0.0) -> Generator[Item]:
    """Yield the frames of a container, from the last key frame at or before ``enter`` [s] on."""
    with _open(place) as container:
        stream = _video_stream(container, place)
        clock = _Clock(container, stream, place.live)
        if enter > 0 and not clock.seek(container, enter):
            return
        wary = number = 0
        for item in _decode(container, stream):
            if isinstance(item, str):
                wary = _REORDERED
                yield item
                continue
            if clock.is_gap(item, wary > 0):
                yield None
            wary -= 1
            yield Shot(number, clock.time(item, number), partial(grey_of_frame, item))
            number += 1
        if not place.live and clock.ends_early(container):
            yield "the file ends before its header says"


class _Clock:
    """The time stamps of one stream: when frames are shown, and whether some are missing between them."""

    def __init__(self, container: Any, stream: Any, live: bool) -> None:
        average, base = stream.average_rate or 0, stream.guessed_rate or 0
        self.stream = stream
        self.guessed = container.format.name == "avi" and bool(stream.codec_context.has_b_frames)
        self.constant = bool(average > 0.8 * base > 0) and not self.guessed
        self.rate = float(average or base)
        exact = base if self.constant else 0 if self.guessed else average
        self.nominal = float(1 / (exact * stream.time_base)) if exact else 0.0  # duration of a frame [ticks]
        self.origin = None if live else stream.start_time
        self.last: int | None = None
        self.recent: deque[int] | None = deque(maxlen=_RECENT) if live else None

    def seek(self, container: Any, time: float) -> bool:
        """Go to the key frame before ``time`` [s]; return whether that worked."""
        import av

        if self.guessed or self.origin is None:
            return False
        try:
            ticks = self.origin + math.floor(time / self.stream.time_base)
            container.seek(ticks, stream=self.stream)
        except av.FFmpegError:
            return False
        return True

    def time(self, frame: Any, number: int) -> float:
        """Return when a frame is shown [s]."""
        if frame.pts is None or self.guessed:
            return number / self.rate if self.rate else math.nan
        return float((frame.pts - self.origin) * self.stream.time_base)

    def is_gap(self, frame: Any, wary: bool) -> bool:
        """Return whether frames are missing before this one, and remember when it is shown."""
        if frame.pts is None:
            return False
        step = 0 if self.last is None else frame.pts - self.last
        self.origin = frame.pts if self.origin is None else self.origin
        self.last = frame.pts
        if self.recent is None:
            return step > 0 and self.nominal > 0 and (self.constant or wary) and step > 1.5 * self.nominal
        gap = len(self.recent) > 2 and step > 1.5 * median(self.recent)
        if step > 0:
            self.recent.append(step)
        return gap

    def ends_early(self, container: Any) -> bool:
        """Return whether frames are missing at the end."""
        # Other formats flag a packet that is cut short; these two just stop.
        seconds = 0.0
        if container.format.name == "avi" and self.nominal and self.stream.frames < _UNKNOWN:
            seconds = float(self.stream.frames / self.stream.guessed_rate)  # its duration is guessed from its size
        elif "matroska" in container.format.name and len(container.streams) == 1:  # else it may be the sound's
            seconds = _duration(container, self.stream)
        ticks = 0 if self.last is None else self.last - (self.origin or 0) + self.nominal
        return (ticks + 2 * self.nominal) * self.stream.time_base < 0.95 * seconds


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
