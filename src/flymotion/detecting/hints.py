"""What of a movie's motion another way of reading it would measure better."""

from __future__ import annotations

import numpy as np

from flymotion.detecting.detection import Detecting
from flymotion.detecting.tables import Trace
from flymotion.video.selection import BRIDGED
from flymotion.video.steps import MISSING

__all__ = ["hints"]

LOST = 0.02
"""Share of the pairs, lost to gaps, from which on that is worth a word."""

SLOW, SEEN = 0.05, 0.3
"""Median speed below which a stride is worth a word, and what it should make of it [pixels of the field].

What less accurate settings say of a fixed camera adds up, too: by 0.03 px a frame of a motorway and of a mouse in a box
at "fastest", where "accurate" says 0.002 and 0.004.
"""

LARGE = 0.1
"""Median speed, of the shorter side of a field, above which a reduction is worth a word."""

LONGEST = 30
"""Largest stride that is suggested."""


def hints(trace: Trace, found: Detecting) -> list[str]:
    """Return what to try, a sentence each: options of ``flymotion detect``.

    Parameters
    ----------
    trace : Trace
        What was measured.
    found : Detecting
        What measured it.

    Returns
    -------
    list of str
        Where more than 2 % of the pairs were lost to short gaps; where the median speed is below 0.05 pixels of the
        field, but adds up over a few frames, as what only trembles does not; and where it is a tenth of the field.
    """
    told = []
    if n := _gaps(trace, found.movie.rate):
        where = f"{n} places" if n > 1 else "1 place"
        told.append(f"frames are missing in {where}, and no pair is measured there: --gaps bridge measures over them")
    speed = np.hypot(*trace.translation.T) / found.scale
    median = float(np.median(speed[np.isfinite(speed)])) if np.isfinite(speed).any() else np.nan
    if 0 < median < SLOW and (stride := _stride(trace, found.scale)):
        closer = "" if found.field.speed == "accurate" else "--speed accurate, and then perhaps "
        told.append(f"motion is {found.scale * median:.2g} px/frame: {closer}--stride {stride} would measure it better")
    if median > LARGE * min(found.shape):
        told.append(f"motion is {found.scale * median:.2g} px/frame, a tenth of the frame: a larger --scale may help")
    return told


def _gaps(trace: Trace, rate: float | None) -> int:
    """Return how many pairs were lost where a few frames are missing, 0 of few."""
    if not rate or len(trace.time) < 2:
        return 0
    missing = np.diff(trace.time) * rate
    n = int(np.sum(trace.cut[1:] & (missing > MISSING) & (missing < BRIDGED + MISSING)))
    return n if n > LOST * len(trace.time) else 0


def _stride(trace: Trace, scale: int) -> int:
    """Return the least stride over which motion adds up to be seen, 0 of motion that does not."""
    steps = np.nan_to_num(trace.translation / scale)
    places, clips = np.cumsum(steps, axis=0), np.cumsum(trace.cut)
    for stride in range(2, min(LONGEST, len(places) - 1) + 1):
        within = clips[stride:] == clips[:-stride]
        if not within.any():
            return 0
        if np.median(np.hypot(*(places[stride:] - places[:-stride])[within].T)) > SEEN:
            return stride
    return 0
