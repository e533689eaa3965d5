"""Global motion over time as a table: one row a frame, written as they come, and read back to be drawn.

==================================================  ==========================================================
``time_s``                                          when the frame is shown [s]; empty where unknown
``frame``                                           its number, among those taken
``cut``                                             1 where it begins a clip: there is no frame before, and no motion
``translation_x_px``, ``translation_y_px``          of the frame's centre, right and down [pixels per frame]
``rotation_deg``                                    counter-clockwise as seen [deg per frame]
``looming``                                         rate of expansion [1 per frame]
``support``                                         share of the frame that tells so, 0 to 1
``response1_0deg``, ``response2_90deg``, ...        mean response of each detector, and the direction it prefers
==================================================  ==========================================================

What is unknown is empty.
"""

from __future__ import annotations

import csv
import math
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from flymotion.brevity import in_brief
from flymotion.detecting.detection import Detecting, Detection
from flymotion.writing import in_words, undisturbed, whole

__all__ = ["MotionTable", "Trace", "read_trace"]

COLUMNS = ("time_s", "frame", "cut", "translation_x_px", "translation_y_px", "rotation_deg", "looming", "support")


class MotionTable:
    """A CSV file of global motion, to be used in a ``with`` statement.

    Parameters
    ----------
    path : path
        Where to.
    detecting : Detecting
        What is written, for the names of its detectors.
    """

    def __init__(self, path: str | os.PathLike[str], detecting: Detecting) -> None:
        self.path = Path(path)
        self._interrupted = detecting.when_interrupted(self.path)
        self._names = [f"response{k}_{round(angle) % 360}deg" for k, angle in enumerate(detecting.angles, 1)]

    def __enter__(self) -> Self:
        """Open the file and write the names of the columns."""
        with ExitStack() as stack:
            with undisturbed():
                place = stack.enter_context(
                    whole(self.path, finish=lambda: self._file.close(), interrupted=self._interrupted)
                )
                self._file = place.open("w", newline="", encoding="utf-8")
            self._stack = stack.pop_all()
        self._writer = csv.writer(self._file)
        self._writer.writerow([*COLUMNS, *self._names])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file and put it in its place, or remove it after an error."""
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            with suppress(OSError):  # a full disk is so once more
                self._file.close()

    def write(self, detection: Detection) -> None:
        """Write one row."""
        values = [*(detection.motion if not detection.cut else [math.nan] * 5), *detection.responses]
        time = "" if math.isnan(detection.time) else f"{detection.time:.6f}"
        cells = ("" if math.isnan(value) else f"{value:.6g}" for value in values)
        with in_words(self.path):
            self._writer.writerow([time, detection.number, int(detection.cut), *cells])


class Trace(NamedTuple):
    """Global motion over time; NaN for what is unknown.

    Attributes
    ----------
    time : ndarray, shape (n_frames,)
        [s].
    frame : ndarray of int, shape (n_frames,)
        Number of the frame.
    cut : ndarray of bool, shape (n_frames,)
        Whether it begins a clip.
    translation : ndarray, shape (n_frames, 2)
        (x right, y down) [pixels per frame].
    rotation : ndarray, shape (n_frames,)
        Counter-clockwise as seen [deg per frame].
    looming : ndarray, shape (n_frames,)
        [1 per frame].
    support : ndarray, shape (n_frames,)
        Share of the frame.
    responses : ndarray, shape (n_frames, n_directions)
        Mean response of each detector.
    """

    time: np.ndarray
    frame: np.ndarray
    cut: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    looming: np.ndarray
    support: np.ndarray
    responses: np.ndarray

    def __repr__(self) -> str:
        return in_brief(self)


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read the table that :class:`MotionTable` wrote.

    Raises
    ------
    ValueError
        Another table.
    """
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows, [])
        if tuple(names[: len(COLUMNS)]) != COLUMNS:
            raise ValueError(f"{path}: has columns {', '.join(names)}; expected {', '.join(COLUMNS)}, ...")
        cells = (float(cell or "nan") for row in rows for cell in row)  # one by one: hours are millions
        table = np.fromiter(cells, dtype=float).reshape(-1, len(names))
    time, frame, cut, x, y, rotation, looming, support = table.T[: len(COLUMNS)]
    translation = np.stack([x, y], axis=1)
    return Trace(time, frame.astype(int), cut == 1, translation, rotation, looming, support, table[:, len(COLUMNS) :])
