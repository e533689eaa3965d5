"""Local motion detectors, all of one signature: ``detector(movie, dt) -> responses``."""

from __future__ import annotations

from collections.abc import Callable

from flymotion.detectors.base import Detector, Stream, Taps, along
from flymotion.detectors.correlators import hassenstein_reichardt, shared_non_delay, three_pixel
from flymotion.detectors.learned import learned

__all__ = [
    "DETECTORS",
    "Detector",
    "Stream",
    "Taps",
    "along",
    "hassenstein_reichardt",
    "learned",
    "shared_non_delay",
    "three_pixel",
]

DETECTORS: dict[str, Callable[[], Detector]] = {
    "three-pixel": three_pixel,
    "hrd": hassenstein_reichardt,
    "shared-non-delay": shared_non_delay,
}
"""Detectors of published parameters by the names that commands know them by."""
