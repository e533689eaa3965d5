"""Motion in a terminal: arrows over a coarse image, or a line once in a while."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator
from functools import cache, partial
from types import TracebackType
from typing import Any, Self

import numpy as np

from flymotion.cli.common import say_json
from flymotion.cli.ending import say
from flymotion.cli.waiting import COMPILING, compiling

__all__ = ["Lines", "Rows", "Screen", "play"]

ARROWS = "→↗↑↖←↙↓↘"
"""From right on, counter-clockwise."""

UPDATES = 15.0
"""Most pictures a second."""

WEAK = 0.25
"""Strength, relative to the scale's end, below which a cell shows no arrow."""

FIRM = 0.2
"""Confidence below which a cell shows no velocity."""

SLOWEST = 0.03
"""Speed below which a cell shows none [pixels per frame]."""

GREYS = 8
"""Levels of the image behind arrows."""

RECENT = 30
"""Frames that the rate shown is measured over."""


def play(found: Any, show: Any, *, summary: bool = True) -> None:
    """Show detections as they come, at the movie's own rate where ``show`` is paced, until they or Ctrl-C end it.

    A ``summary`` of how many there were, and how fast, is printed in the end.
    """
    clock = _Clock(paced=show.paced and not found.movie.live)
    n = 0
    try:
        with show:
            for detection in found:
                n += 1
                late = clock.tick(detection.time)
                show.update(detection, clock.rate, late)
    except KeyboardInterrupt:
        pass
    if summary:
        say(f"{n} frames in {clock.elapsed:.1f} s, {_in_words(clock.mean_rate)}{_own(found.movie)}")


def _in_words(rate: float) -> str:
    return f"{rate:.1f} frames/s" if math.isfinite(rate) else "- frames/s"


def _own(movie: Any) -> str:
    return f" (the video: {movie.rate:.4g})" if movie.rate else ""


class _Clock:
    """When frames are due, and how many have come a second."""

    def __init__(self, paced: bool) -> None:
        self.paced = paced
        self._began = self._last = math.nan
        self._first = math.nan
        self._n = 0
        self._recent: deque[float] = deque(maxlen=RECENT)

    def tick(self, stamp: float) -> bool:
        """Wait until a frame is due; return whether it is late."""
        now = time.perf_counter()
        if self._n < 2:  # before the first pair, kernels are loaded or compiled
            self._began, self._first = now, stamp
        wait = stamp - self._first - (now - self._began)
        if self.paced and wait > 0:
            time.sleep(wait)
            now = time.perf_counter()
        self._n += 1
        self._last = now
        self._recent.append(now)
        return self.paced and wait < -1 / UPDATES

    @property
    def rate(self) -> float:
        """Frames per second of late."""
        span = self._recent[-1] - self._recent[0]
        return (len(self._recent) - 1) / span if span > 0 else math.nan

    @property
    def elapsed(self) -> float:
        """Seconds since the first pair."""
        return self._last - self._began if self._n else 0.0

    @property
    def mean_rate(self) -> float:
        """Frames per second since the first pair."""
        return (self._n - 2) / self.elapsed if self.elapsed > 0 else math.nan


def _told(detection: Any, rate: float) -> str:
    """Return global motion in a line."""
    when = f"frame {detection.number}" if math.isnan(detection.time) else f"{detection.time:7.2f} s"
    told = "new clip" if detection.cut else "no texture"
    if math.isfinite(detection.motion.x):
        x, y, rotation, looming, _ = detection.motion
        told = f"x {x:+z.2f}  y {y:+z.2f} px  rotation {rotation:+z.2f}°  looming {looming:+z.4f}"
    return f"{when}  {told}  {_in_words(rate)}"


class Lines:
    """A plain line once a second of video, as fast as frames come; for files and pipes."""

    paced = False

    def __init__(self, found: Any) -> None:
        self._every = max(1, round(found.movie.rate or RECENT))  # frames, where they have no times
        self._next = math.nan

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""

    def update(self, detection: Any, rate: float, late: bool) -> None:
        """Print a line if it is time."""
        if math.isnan(detection.time):
            due = detection.number % self._every == 0 and detection.number > 0
        else:
            due = detection.time >= self._next
            self._next = detection.time + 1 if due or math.isnan(self._next) else self._next
        if due:
            say(_told(detection, rate))


class Rows(Lines):
    """How the frame moves as JSON, a line a frame, as fast as they come: for other programs."""

    def update(self, detection: Any, rate: float, late: bool) -> None:
        """Print a line."""
        row = {"frame": detection.number, "time": detection.time, "cut": detection.cut, **detection.motion._asdict()}
        say_json(row, indent=None)


class Screen:
    """A picture of the motion that fills the terminal, drawn again and again in place."""

    paced = True

    def __init__(self, found: Any) -> None:
        from rich.console import Console
        from rich.live import Live

        from flymotion.detecting.overlay.colours import Levels, RoundScale

        self._angles, self._floor = found.angles, found.field.floor
        self._levels = Levels(found.movie.white)
        self._look = _velocity if found.field.detectors is None else self._responses
        self._scale = RoundScale()
        self._console = Console()
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._compiling = compiling(self._wait)
        self._shown = -math.inf

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._live.start()
        self._compiling.__enter__()
        return self

    def _wait(self) -> None:
        self._live.update(f"{COMPILING} ...", refresh=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was."""
        self._compiling.__exit__(kind, error, trace)
        self._live.stop()

    def update(self, detection: Any, rate: float, late: bool) -> None:
        """Draw, unless that was done just now, or frames are late: then at least twice a second."""
        since = time.perf_counter() - self._shown
        if since < (0.5 if late else 1 / UPDATES):
            return
        self._shown = time.perf_counter()
        size = self._console.size
        self._live.update(_Picture(self._rows(detection, size), _told(detection, rate)), refresh=True)

    def _rows(self, detection: Any, size: Any) -> list[list[tuple[str, Any]]]:
        from flymotion.video.luminance import cell_averages

        shape = _grid(detection.image.shape, size.width, size.height - 2)
        cells = cell_averages(self._levels.shown(detection.image)[None], shape)[0]
        image = np.clip(cells * GREYS / 256, 0, GREYS - 1).astype(int)
        marks = np.full(shape, -1)
        if detection.field is not None:
            angles, strength = self._look(detection, shape)
            shown = strength > WEAK * (self._scale.update(strength) or 1)
            marks[shown] = np.round(angles[shown] / 45).astype(int) % len(ARROWS)
        lines = zip(marks.tolist(), image.tolist(), strict=True)
        return [[_cell(mark, grey) for mark, grey in zip(*line, strict=True)] for line in lines]

    def _responses(self, detection: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the direction [deg] that detectors' responses add up to in each cell, and how strongly."""
        from flymotion.field.outputs import preferred_directions
        from flymotion.video.luminance import cell_averages

        responses = cell_averages(detection.field.directions, shape)
        responses = np.where(responses > self._floor(detection.noise)[:, None, None], responses, 0)
        angles, strength = preferred_directions(responses, self._angles)
        return angles, np.sqrt(strength)


def _velocity(detection: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the direction [deg] and speed of each cell; 0 where there is too little to see, or nothing moves."""
    from flymotion.field.outputs import mean_velocity
    from flymotion.video.luminance import cell_averages

    (right, down), sure = mean_velocity(detection.field, partial(cell_averages, shape=shape))
    speed = np.hypot(right, down)
    return np.degrees(np.arctan2(-down, right)), np.where((sure > FIRM) & (speed > SLOWEST), speed, 0)


class _Picture:
    """Rows of characters with their styles, and a line below, for rich."""

    def __init__(self, rows: list[list[tuple[str, Any]]], line: str) -> None:
        self.rows, self.line = rows, line

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.segment import Segment

        for row in self.rows:
            yield from (Segment(*cell) for cell in row)
            yield Segment.line()
        yield Segment(self.line[: options.max_width])


@cache
def _cell(mark: int, grey: int) -> tuple[str, Any]:
    """Return the character of a cell and its style: an arrow of its hue, or none (-1), on grey."""
    from rich.color import Color
    from rich.style import Style

    from flymotion.detecting.overlay.colours import hues

    level = 128 * grey // (GREYS - 1)
    below = Color.from_rgb(level, level, level)
    if mark < 0:
        return " ", Style(bgcolor=below)
    ink = Color.from_rgb(*(255 * hues(45 * mark)))
    return ARROWS[mark], Style(color=ink, bgcolor=below, bold=True)


def _grid(shape: tuple[int, int], columns: int, rows: int) -> tuple[int, int]:
    """Return rows and columns of characters, twice as high as wide, that a frame fits into."""
    height, width = shape
    rows = max(1, min(rows, round(columns * height / width / 2), height))
    return rows, max(1, min(columns, round(rows * 2 * width / height), width))
