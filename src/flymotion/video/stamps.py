"""The time stamps of a video stream: its rate, when frames are shown, and whether some are missing between them."""

from __future__ import annotations

import math
from collections import deque
from itertools import islice, pairwise
from statistics import median
from typing import Any, NamedTuple

from flymotion.video.steps import MISSING, alike, rhythm

__all__ = ["Clock", "Pace"]

_LOOKED_AT = 100  # packets at the beginning of a file whose stamps tell its rate
_CONSTANT = 0.8  # share of the frames, if none were missing, from which on a rate counts as constant
_BACK = 4  # frames that stamps may be out of order by; further back they begin anew
_WRAP = 2**33  # stamps of MPEG transport streams begin at 0 again
_RECENT = 15  # steps of a live source that tell its rate


class Pace(NamedTuple):
    """The rate of a stream.

    Attributes
    ----------
    rate : float
        Frames per second, 0 if unknown.
    nominal : float
        Duration of a frame [ticks], 0 if unknown.
    constant : bool
        Whether the rate is constant, so that a longer step leaps over frames.
    guessed : bool
        Whether stamps are a guess of the reader's: AVI stores none, and frames may be reordered.
    """

    rate: float
    nominal: float
    constant: bool
    guessed: bool

    @classmethod
    def told(cls, container: Any, stream: Any) -> Pace:
        """Return the rate that the header tells."""
        average, base = stream.average_rate or 0, stream.guessed_rate or 0
        guessed = container.format.name == "avi" and bool(stream.codec_context.has_b_frames)
        constant = bool(average > _CONSTANT * base > 0) and not guessed
        exact = base if constant else 0 if guessed else average
        return cls(float(average or base), float(1 / (exact * stream.time_base)) if exact else 0.0, constant, guessed)

    @classmethod
    def seen(cls, container: Any, stream: Any) -> Pace:
        """Return the rate that the header tells, or, where the first packets belie it, that of their stamps."""
        told = cls.told(container, stream)
        steps = [] if told.guessed else _first_steps(container, stream)
        usual = rhythm(steps)
        if not usual.step:
            return told
        constant = usual.share > _CONSTANT
        of_header = [
            float(1 / (rate * stream.time_base)) for rate in (stream.average_rate, stream.guessed_rate) if rate
        ]
        if any(alike(step, real) for step, real in zip(of_header, (sum(steps) / len(steps), usual.step), strict=False)):
            # An average far below the base may come of a rate that varies, or of frames that are missing.
            return told if told.constant or not constant else told._replace(nominal=usual.step, constant=True)
        step = usual.step if constant else sum(steps) / len(steps)
        return cls(float(1 / (step * stream.time_base)), step, constant, False)


def _first_steps(container: Any, stream: Any) -> list[int]:
    """Return the steps of the stamps of the first packets, put in order [ticks]."""
    import av

    stamps = set()
    try:
        for packet in islice(container.demux(stream), _LOOKED_AT):
            if packet.pts is not None:
                stamps.add(packet.pts)
    except av.FFmpegError:
        pass  # reading the frames will say it
    return [after - before for before, after in pairwise(sorted(stamps))]


class Clock:
    """When the frames of a stream are shown, and whether some are missing between them.

    Stamps that begin anew, as where recordings are joined, go on from the last one; the frame begins a clip. Those that
    are out of order by a few frames stay where the last one was: time never goes back.
    """

    def __init__(self, container: Any, stream: Any, pace: Pace, live: bool) -> None:
        self.pace, self.live = pace, live
        self._base = stream.time_base
        self.origin = None if live else _origin(container, stream)
        self.last: int | None = None  # stamp of the last frame, as shown
        self.steps = 1.0  # frame durations from the one before
        self._shift = 0  # from stamps as stored
        self._step = 0  # to the last frame from the one before
        self._recent: deque[int] = deque(maxlen=_RECENT)

    def time(self, number: int, stamp: int | None) -> float:
        """Return when a frame is shown [s]."""
        if stamp is None or self.origin is None or self.pace.guessed:
            return number / self.pace.rate if self.pace.rate else math.nan
        return float((stamp - self.origin) * self._base)

    def take(self, pts: int | None, wary: bool) -> tuple[int | None, int | None, bool]:
        """Take the stamp of the next frame.

        Returns
        -------
        stamp : int or None
            As shown [ticks].
        missing : int or None
            How many frames are missing before it, 0 where stamps begin anew; None where it follows the last one.
        perhaps : bool
            Whether they are only unless the next step is like this one: ``repeats``.
        """
        self.steps = 1.0
        if pts is None:
            return None, None, False
        self.origin = pts if self.origin is None else self.origin
        stamp = pts + self._shift
        step = 0 if self.last is None else stamp - self.last
        began_anew = False
        if step < 0 and self.last is not None and not self.pace.guessed:
            stamp, began_anew = self._back(stamp, step)
            step = stamp - self.last
        before, self._step = self._step, step or self._step
        self.last = stamp
        usual = self._usual(wary)
        long = step > MISSING * usual > 0
        if step > 0:
            self._recent.append(step)
        repeats = before > 0 and alike(step, before) if long and not (wary and not self.live) else False
        if began_anew or not long:
            return stamp, 0 if began_anew else None, False
        n = round(step / usual)
        self.steps = float(n)
        return stamp, None if repeats else n - 1, not (repeats or wary or self.live)

    def repeats(self, pts: int | None) -> bool:
        """Return whether the next stamp is a step like the last one on, a rate, or before it: nothing is missing."""
        step = 0 if pts is None or self.last is None else pts + self._shift - self.last
        return -self._step < step < 0 or (step > 0 and alike(step, self._step))

    def _usual(self, wary: bool) -> float:
        """Return the usual step [ticks], or 0 where longer ones tell nothing."""
        if self.live:
            return float(median(self._recent)) if len(self._recent) > 2 else 0.0
        return self.pace.nominal if self.pace.constant or wary else 0.0

    def _back(self, stamp: int, step: int) -> tuple[int, bool]:
        """Return the stamp of a frame that is shown ``-step`` ticks before the last one, and whether it begins anew."""
        assert self.last is not None
        usual = float(median(self._recent)) if self._recent else self.pace.nominal
        if -step <= _BACK * usual:
            return self.last, False
        wrapped = 0 < step + _WRAP <= 1 / self._base
        moved = _WRAP if wrapped else round(usual) - step
        self._shift += moved
        return stamp + moved, not wrapped


def _origin(container: Any, stream: Any) -> Any:
    """Return when a file begins, with whichever stream begins first [ticks]: as a player shows it."""
    if stream.start_time is None or container.start_time is None:
        return stream.start_time
    ahead = float(stream.start_time * stream.time_base) - container.start_time / 1e6
    return stream.start_time - (round(ahead / stream.time_base) if ahead > 1e-5 else 0)
