"""Motion fields of 1920 x 1080 frames, beside OpenCV's DIS "ultrafast" flow and beside a plain copy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
from truth_methods import SPEEDS, setting

SIZE = (1080, 1920)

SHIFT = (0.3, 0.5)
"""Motion between the two frames (down, right) [pixels]."""


def frames() -> list[np.ndarray]:
    """Return a photograph before and after it has moved, uint8."""
    from scipy.ndimage import shift, zoom
    from sklearn.datasets import load_sample_image

    photograph = load_sample_image("china.jpg").mean(axis=2)
    large = zoom(photograph, (SIZE[0] / photograph.shape[0], SIZE[1] / photograph.shape[1]), order=1)
    moved = shift(large, SHIFT, order=1, mode="nearest")
    return [np.clip(image, 0, 255).astype(np.uint8) for image in (large, moved)]


def stepping(field: Any, pair: list[np.ndarray]) -> Callable[[], Any]:
    """Return the next step of a stream that sees the two frames in turns."""
    stream = field.stream()
    turns = cycle(pair)
    stream.step(next(turns))
    return lambda: stream.step(next(turns))


def copying(pair: list[np.ndarray], n_planes: int) -> Callable[[], Any]:
    """Return a copy on two threads: two frames read, as many planes of float32 written as the field has."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(2)
    planes = np.zeros((n_planes, *SIZE), np.float32)
    halves = [slice(0, SIZE[0] // 2), slice(SIZE[0] // 2, SIZE[0])]

    def copy(rows: slice) -> None:
        for k, plane in enumerate(planes):
            np.copyto(plane[rows], pair[k % 2][rows])

    return lambda: list(pool.map(copy, halves))


def dis(pair: list[np.ndarray]) -> Callable[[], Any] | None:
    """Return DIS "ultrafast" on two threads, or None without OpenCV."""
    try:
        import cv2
    except ImportError:
        return None
    cv2.setNumThreads(2)
    flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST)
    out = np.zeros((*SIZE, 2), np.float32)
    return lambda: flow.calc(*pair, out)


def learned_detectors() -> Any:
    from flymotion import learn

    return learn(["bundled"], n_components=4, patch=5, n_pairs=20_000).generators_


def field() -> Iterator[dict[str, Any]]:
    from flymotion.field import MotionField

    row, in_turns = (getattr(sys.modules["__main__"], name) for name in ("row", "in_turns"))  # run.py, which imports us
    pair = frames()
    ways = ("directions", "velocity")
    ours = {"three-pixel": stepping(MotionField(outputs=ways), pair)}
    ours |= {f"scale-{k}": stepping(MotionField(outputs=ways, finest=k), pair) for k in (1, 0)}
    ours["learned"] = stepping(MotionField(learned_detectors(), outputs=("directions",)), pair)
    alone = {f"velocity.{speed}": stepping(setting(speed, outputs=("velocity",)), pair) for speed in SPEEDS}
    peer = dis(pair)
    functions = [*ours.values(), *alone.values(), copying(pair, 6), *([peer] if peer else [])]
    seconds = in_turns(*functions, repeats=15)
    taken = dict(zip([*ours, *alone, "copy", "dis"], seconds, strict=False))
    what = "1920 x 1080, four directions and velocity, {}, DIS ultrafast; at least 3"
    against = taken["dis"] * 1e3 if peer else None
    for name in alone:
        note = "1920 x 1080, velocity alone, DIS ultrafast" + ("; at least 3" if name.endswith("fastest") else "")
        note = note if peer else f"no peer: OpenCV is not installed; {note}"
        yield row(f"field.{name}", taken[name] * 1e3, against, "ms/frame", note)
    for name in ours:
        note = (
            what.format(name.replace("three-pixel", "by default"))
            if name != "learned"
            else "learned 5 x 5, four directions, DIS ultrafast; at least 1"
        )
        note = note if peer else f"no peer: OpenCV is not installed; {note}"
        yield row(f"field.{name}", taken[name] * 1e3, against, "ms/frame", note)
        if name != "learned":
            note = "numpy copyto on two threads, two frames in and six planes out; at least 0.33"
            yield row(f"field.{name}.copy", taken[name] * 1e3, taken["copy"] * 1e3, "ms/frame", note)
