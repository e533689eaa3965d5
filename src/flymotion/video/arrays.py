"""Arrays and whatever is sliced like one: in memory, or in ``.npy`` and ``.zarr`` files that are read as needed."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Generator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.frames import as_frames, in_order
from flymotion.video.reader import REC_601, Grey, Item, Mark, Shot, Source, VideoError

__all__ = ["array_file_source", "array_source"]


def array_source(source: Any, name: str = "array") -> Source:
    """Return the frames of an array-like; what has a shape is sliced frame by frame, or chunk by chunk."""
    array: Any = getattr(in_order(source), "data", None) if hasattr(source, "dims") else source
    array = array if hasattr(array, "shape") else as_frames(source, name=name)
    shape = tuple(array.shape)
    if len(shape) not in (2, 3, 4) or (len(shape) == 4 and shape[3] not in (1, 3, 4)) or shape[0] != shape[0]:
        raise VideoError(
            f"{name} has shape {shape}; expected (n_frames, height, width[, 1, 3 or 4]) or (n_frames, n_pixels)"
        )
    lazy = not isinstance(array, np.ndarray)
    return Source(name, Rows(array, name), shape[0], timed=False, counted=True, lazy=lazy)


def array_file_source(path: Path) -> Source:
    """Return the frames of a ``.npy`` file or ``.zarr`` folder, without loading it."""
    array = (_open_zarr if path.suffix.lower() == ".zarr" else _open_npy)(path)
    return array_source(array, name=str(path))


def _open_npy(path: Path) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise VideoError(f"{path}: cannot be read as an array ({error})") from error


def _open_zarr(path: Path) -> Any:
    try:
        import zarr
    except ImportError as error:
        raise VideoError(f"{path}: needs zarr; install it with: pip install zarr") from error
    try:
        array = zarr.open(str(path), mode="r")
    except Exception as error:  # its exceptions differ from version to version
        raise VideoError(f"{path}: cannot be read as an array ({error})") from error
    if not hasattr(array, "shape"):
        raise VideoError(f"{path}: holds a group of arrays; give the path of one of them")
    return array


class Rows:
    """Frames of an array, fetched a chunk at a time.

    The last chunk is kept, from one reading to the next, too: to read one frame is to compute or decode all of it.
    """

    def __init__(self, array: Any, name: str) -> None:
        self._array, self._name = array, name
        self._ends = _ends(array)
        self._held: tuple[int, np.ndarray] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_held": None}

    def __call__(self, start: Mark) -> Generator[Item]:
        """Yield the frames from ``start`` on."""
        for number in range(int(start), self._array.shape[0]):
            yield Shot(number, math.nan, partial(self.load, number))

    def load(self, number: int) -> Grey:
        """Return one frame."""
        chunk = bisect_right(self._ends, number)
        first = self._ends[chunk - 1] if chunk else 0
        held = self._held
        if held is None or held[0] != first:
            rows = self._array[first : self._ends[chunk]]
            held = self._held = first, rows if np.ma.isMaskedArray(rows) else np.asarray(rows)
        stored = held[1][number - first : number - first + 1]
        white, step = 255.0 if stored.dtype == np.uint8 else None, float(stored.dtype.kind in "iu")
        [frame] = as_frames(stored, name=self._name, first=number)
        if frame.ndim == 3:
            frame = frame[..., 0] if frame.shape[2] == 1 else frame[..., :3] @ REC_601
        return Grey(frame, white=white, step=step)


def _ends(array: Any) -> Sequence[int]:
    """Return where chunks of frames end: those of zarr and HDF5 are of one length, those of dask of any."""
    n, chunks = array.shape[0], getattr(array, "chunks", None)
    length = chunks[0] if chunks else 1
    if not isinstance(length, int | np.integer):
        return list(accumulate(length))
    return range(int(length), n + int(length), int(length))
