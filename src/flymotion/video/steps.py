"""Steps from frame to frame, of time stamps or of numbers in names: which are the usual ones, and which are gaps."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low
from typing import NamedTuple

__all__ = ["MISSING", "Rhythm", "alike", "rhythm"]

MISSING = 1.5
"""A step of more than so many usual ones leaps over frames."""


class Rhythm(NamedTuple):
    """How frames follow each other.

    Attributes
    ----------
    step : float
        The usual one, 0 if unknown.
    share : float
        Share of the steps that are about as long.
    """

    step: float
    share: float


def rhythm(steps: Sequence[float]) -> Rhythm:
    """Return the rhythm of steps above 0: their median, or rather the mean of those about it.

    Examples
    --------
    >>> rhythm([33, 33, 34, 33, 33, 32, 200])
    Rhythm(step=33.0, share=0.857...)
    """
    if not steps:
        return Rhythm(0.0, 0.0)
    middle = median_low(steps)  # one that there is
    usual = [step for step in steps if alike(step, middle)]
    return Rhythm(sum(usual) / len(usual), len(usual) / len(steps))


def alike(step: float, other: float) -> bool:
    """Return whether two steps are one rhythm: a step that repeats is a rate, not a gap."""
    return max(step, other) < MISSING * min(step, other)
