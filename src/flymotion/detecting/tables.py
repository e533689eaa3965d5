"""Global motion over time as a table: one row a frame, written as they come, and read back to be drawn.

==================================================  ==========================================================
``time_s``                                          when the frame is shown [s]; empty where unknown
``frame``                                           its number, among those taken
``cut``                                             1 where it begins a clip: there is no frame before, and no motion
``translation_x_px``, ``translation_y_px``          of the frame's centre, right and down [pixels per frame]
``rotation_deg``                                    counter-clockwise as seen [deg per frame]
``looming``                                         rate of expansion [1 per frame]
``support``                                         share of the frame's texture that moves so, 0 to 1
``error_px``                                        of a pixel's velocity, median of those known [pixels per frame]
``steps``                                           from the frame before: more than 1 where a gap is bridged
``response1``, ``response2``, ...                   mean response of each detector, [grey levels squared]
==================================================  ==========================================================

What is unknown is empty. Which direction each detector prefers is in a table of its own, :func:`write_directions`, so
that columns have the same names whatever detectors were learned.
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

COLUMNS = (
    "time_s",
    "frame",
    "cut",
    "translation_x_px",
    "translation_y_px",
    "rotation_deg",
    "looming",
    "support",
    "error_px",
    "steps",
)

NEW = {"error_px", "steps"}
"""Columns that tables of 0.1 have not."""

EVERY = 8
"""The error is the median of that of every so many pixels of the field each way, or of as far apart if it has fewer."""


class MotionTable:
    """A CSV file of global motion, to be used in a ``with`` statement.

    Parameters
    ----------
    path : path
        Where to.
    detecting : Detecting
        What is written, for the names of its detectors.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import detect
    >>> path = Path(tempfile.mkdtemp()) / "global-motion.csv"
    >>> frame = np.add.outer(np.sin(np.arange(60) / 3), np.cos(np.arange(80) / 3)) * 50 + 128
    >>> detecting = detect(np.stack([frame[:, 2 - t : 78 - t] for t in range(3)]), rate=25)  # a pixel to the right
    >>> with MotionTable(path, detecting) as table:
    ...     for detection in detecting:
    ...         table.write(detection)
    >>> read_trace(path).translation[1:, 0].round(1)
    array([1., 1.])
    """

    def __init__(self, path: str | os.PathLike[str], detecting: Detecting) -> None:
        self.path = Path(path)
        self._interrupted = detecting.when_interrupted(self.path)
        self._names = _names(detecting.n_directions)
        self._every = max(EVERY // detecting.spacing, 1)

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
        x, y, rotation, looming, support, *_ = detection.motion
        support = math.nan if detection.cut else support
        values = [x, y, rotation, looming, support, _median_error(detection, self._every), detection.steps]
        time = "" if math.isnan(detection.time) else f"{detection.time:.6f}"
        cells = ("" if math.isnan(value) else f"{value:.6g}" for value in [*values, *detection.responses])
        with in_words(self.path):
            self._writer.writerow([time, detection.number, int(detection.cut), *cells])


def write_directions(path: str | os.PathLike[str], detecting: Detecting) -> None:
    """Write the direction that each detector prefers as a CSV file: ``response``, its column, and ``direction_deg``.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import detect
    >>> path = Path(tempfile.mkdtemp()) / "directions.csv"
    >>> write_directions(path, detect(np.zeros((3, 60, 80)), rate=25))
    >>> print(path.read_text())
    response,direction_deg
    response1,0.0
    response2,90.0
    response3,180.0
    response4,270.0
    """
    with whole(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["response", "direction_deg"])
        writer.writerows(zip(_names(detecting.n_directions), np.round(detecting.angles % 360, 1), strict=True))


def _median_error(detection: Detection, every: int) -> float:
    if detection.field is None or detection.field.error is None:
        return math.nan
    errors = detection.field.error[every // 2 :: every, every // 2 :: every]
    known = errors[np.isfinite(errors)]
    return float(np.median(known)) if known.size else math.nan


def _names(n: int) -> list[str]:
    return [f"response{k}" for k in range(1, n + 1)]


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
        Share of the frame's texture that moves so.
    responses : ndarray, shape (n_frames, n_directions)
        Mean response of each detector.
    error : ndarray, shape (n_frames,)
        Of a pixel's velocity: median over those where it is known [pixels per frame]; NaN in tables of 0.1.
    steps : ndarray, shape (n_frames,)
        From the frame before; more than 1 where a gap is bridged. 1 in tables of 0.1, which have none.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import detect
    >>> path = Path(tempfile.mkdtemp()) / "global-motion.csv"
    >>> detecting = detect(np.zeros((3, 60, 80)), rate=25)
    >>> with MotionTable(path, detecting) as table:
    ...     for detection in detecting:
    ...         table.write(detection)
    >>> trace = read_trace(path)
    >>> trace.time, trace.cut, trace.translation.shape, trace.responses.shape
    (array([0.  , 0.04, 0.08]), array([ True, False, False]), (3, 2), (3, 4))
    """

    time: np.ndarray
    frame: np.ndarray
    cut: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    looming: np.ndarray
    support: np.ndarray
    responses: np.ndarray
    error: np.ndarray
    steps: np.ndarray

    def __repr__(self) -> str:
        return in_brief(self)


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read the table that :class:`MotionTable` wrote, or that of 0.1: by the names of its columns.

    Raises
    ------
    ValueError
        Another table.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import detect
    >>> path = Path(tempfile.mkdtemp()) / "global-motion.csv"
    >>> detecting = detect(np.zeros((3, 60, 80)), rate=25)
    >>> with MotionTable(path, detecting) as table:
    ...     for detection in detecting:
    ...         table.write(detection)
    >>> read_trace(path).support  # unknown of the first frame, and black frames have nothing that moves
    array([nan,  0.,  0.])
    """
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows, [])
        if missing := set(COLUMNS) - NEW - set(names):
            expected = [name for name in COLUMNS if name in missing]
            raise ValueError(f"{path}: has columns {', '.join(names)}; expected {', '.join(expected)}, too")
        cells = (float(cell or "nan") for row in rows for cell in row)  # one by one: hours are millions
        table = np.fromiter(cells, dtype=float).reshape(-1, len(names))
    columns = dict(zip(names, table.T, strict=True))
    error = columns.get("error_px", np.full(len(table), math.nan))
    steps = columns.get("steps", np.ones(len(table)))
    responses = table[:, [k for k, name in enumerate(names) if name.startswith("response")]]
    time, frame, cut, x, y, rotation, looming, support = (columns[name] for name in COLUMNS if name not in NEW)
    translation = np.stack([x, y], axis=1)
    return Trace(time, frame.astype(int), cut == 1, translation, rotation, looming, support, responses, error, steps)
