"""Arrays and whatever is sliced like one: in memory, or in ``.npy`` and ``.zarr`` files that are read as needed."""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.frames import as_frames
from flymotion.video.reader import REC_601, Grey, Item, Shot, Source, VideoError

__all__ = ["array_file_source", "array_source"]


def array_source(source: Any, name: str = "array") -> Source:
    """Return the frames of an array-like; what has a shape is sliced frame by frame, or chunk by chunk."""
    array = source if hasattr(source, "shape") and not hasattr(source, "dims") else as_frames(source, name=name)
    shape = tuple(array.shape)
    if len(shape) not in (2, 3, 4) or (len(shape) == 4 and shape[3] not in (1, 3, 4)):
        raise VideoError(
            f"{name} has shape {shape}; expected (n_frames, height, width[, 1, 3 or 4]) or (n_frames, n_pixels)"
        )
    return Source(name, partial(_read_array, array, name), shape[0], timed=False)


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


def _read_array(array: Any, name: str, start: int) -> Generator[Item]:
    rows = _Rows(array, name)
    for number in range(start, array.shape[0]):
        yield Shot(number, math.nan, partial(rows.load, number))


class _Rows:
    """Frames of an array, fetched a chunk at a time: the last chunk is kept, as reading one frame decodes all of it."""

    def __init__(self, array: Any, name: str) -> None:
        chunk = (getattr(array, "chunks", None) or (1,))[0]
        self._array, self._name = array, name
        self._length = chunk if isinstance(chunk, int) else 1
        self._held: tuple[int, np.ndarray] | None = None

    def load(self, number: int) -> Grey:
        first = number - number % self._length
        if self._held is None or self._held[0] != first:
            rows = self._array[first : first + self._length]
            self._held = first, as_frames(rows, name=self._name, first=first)
        frame = self._held[1][number - first]
        if frame.ndim == 3:
            frame = frame[..., 0] if frame.shape[2] == 1 else frame[..., :3] @ REC_601
        return Grey(frame)
