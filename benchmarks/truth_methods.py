"""What is compared: settings of ours and presets of OpenCV's dense optical flow; their errors and their time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from truth_pairs import Pair

Row = dict[str, Any]
Flow = Callable[[np.ndarray, np.ndarray], np.ndarray]

SETTINGS: dict[str, dict[str, Any]] = {
    "fastest": {"speed": "fastest"},
    "fastest-radius-1": {"speed": "fastest", "radius": 1},
    "fast": {"speed": "fast"},
    "fast-radius-1": {"speed": "fast", "radius": 1},
    "accurate": {"speed": "accurate"},
}
"""Ours, fastest first: windows of radius 1 for small things."""

SPEEDS = tuple(SETTINGS)
"""Their names."""

NAMED = tuple(name for name in SPEEDS if len(SETTINGS[name]) == 1)
"""Those that are a speed and nothing else."""

DEFAULT = "fast"

PRESETS = ("dis-ultrafast", "dis-fast", "dis-medium", "farneback")
"""OpenCV's, fastest first."""

LABELS = {
    **{name: f"ours, {name.replace('-radius-1', ', radius 1')}" for name in SETTINGS},
    "dis-ultrafast": "DIS ultrafast",
    "dis-fast": "DIS fast",
    "dis-medium": "DIS medium",
    "farneback": "Farneback",
}


def row(name: str, ours: float | None, peer: float | None, unit: str, note: str, *, higher: bool = False) -> Row:
    return sys.modules["__main__"].row(name, ours, peer, unit, note, higher=higher)  # run.py, which imports us


# -- methods -----------------------------------------------------------------------------------------------------------


def setting(name: str, **more: Any) -> Any:
    """Return one of our settings; it is the same for frames of any size."""
    from flymotion.field import MotionField

    return MotionField(**SETTINGS[name] | more)


def velocity_of(field: Any) -> Flow:
    return lambda before, after: field.between(before, after).velocity


@cache
def settings() -> dict[str, Flow]:
    return {name: velocity_of(setting(name, outputs=("velocity",))) for name in SPEEDS}


@cache
def peers() -> dict[str, Flow]:
    """Return OpenCV's flows, on two threads; none without OpenCV.

    DIS is made anew for each size of frame: one that saw small frames (46 x 31 pixels) keeps the finest scale that it
    chose for them, which in larger frames takes 40 times as long and is another method.
    """
    try:
        import cv2
    except ImportError:
        return {}
    cv2.setNumThreads(2)

    @cache
    def made(preset: int, shape: tuple[int, int]) -> Any:
        return cv2.DISOpticalFlow_create(preset)

    def dis(preset: int) -> Flow:
        return lambda before, after: made(preset, before.shape).calc(before, after, None).transpose(2, 0, 1)

    def farneback(before: np.ndarray, after: np.ndarray) -> np.ndarray:
        return cv2.calcOpticalFlowFarneback(before, after, None, 0.5, 3, 15, 3, 5, 1.2, 0).transpose(2, 0, 1)

    return dict(zip(PRESETS, (dis(0), dis(1), dis(2), farneback), strict=True))


@cache
def against() -> str:
    if not peers():
        return "no peer: OpenCV is not installed"
    import cv2

    return f"OpenCV {cv2.__version__}"


def confidence(pair: Pair) -> np.ndarray:
    return setting(DEFAULT, outputs=("confidence",)).between(pair.before, pair.after).confidence


# -- errors ------------------------------------------------------------------------------------------------------------


class Errors(NamedTuple):
    """Of all pixels, of all pairs, whose motion is known, shape (n_pixels,)."""

    endpoint: np.ndarray
    angle: np.ndarray


def errors(flow: Flow, pairs: Sequence[Pair]) -> Errors:
    from flymotion.field.truth import angular_error, endpoint_error

    found = []
    for before, after, truth in pairs:
        velocity = flow(before, after)
        known = np.isfinite(truth[0])
        found.append(np.stack([score(velocity, truth)[known] for score in (endpoint_error, angular_error)]))
    return Errors(*np.concatenate(found, axis=1))


def all_errors(pairs: Sequence[Pair]) -> dict[str, Errors]:
    """Return the errors of all settings and presets."""
    return {name: errors(flow, pairs) for name, flow in {**settings(), **peers()}.items()}


# -- time --------------------------------------------------------------------------------------------------------------


def times(before: np.ndarray, after: np.ndarray, repeats: int) -> dict[str, float]:
    """Return what all settings and presets take for a pair of frames [ms], in turns: medians, two threads.

    Each is called twice in its turn, and the second call counts: the first wakes its threads, and what came before it,
    some of it large, has left the caches.
    """

    def stepping(name: str) -> Callable[[], Any]:
        stream, turns = setting(name, outputs=("velocity",)).stream(), cycle((after, before))
        stream.step(next(turns))
        return lambda: stream.step(next(turns))

    calls = {name: stepping(name) for name in SPEEDS}
    calls |= {name: partial(flow, before, after) for name, flow in peers().items()}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            call()
            start = time.perf_counter()
            call()
            taken[name].append(1e3 * (time.perf_counter() - start))
    return {name: float(np.median(each)) for name, each in taken.items()}
