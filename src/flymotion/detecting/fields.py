"""Fields on disk: everything at every pixel, pair by pair, as a zarr group or, of small videos, one npz file.

Both hold the arrays ``directions`` ``(n_pairs, n_directions, height, width)``, ``velocity`` ``(n_pairs, 2, height,
width)`` in pixels of the source, ``confidence`` ``(n_pairs, height, width)``, ``frame`` and ``time_s`` ``(n_pairs,)``
of the second frame of each pair (numbers that are not consecutive tell of cuts), and, of zarr as attributes, ``angles``
[deg] and ``scale``, how many pixels of the source are one of the field.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from flymotion.detecting.detection import Detecting, Detection

__all__ = ["SINKS", "NpzFields", "ZarrFields"]

MOST_BYTES = 2**30
"""What an npz file may hold before it is written: all of it is in memory until then."""


class ZarrFields:
    """A zarr group with one chunk a pair, to be used in a ``with`` statement; needs the extra ``zarr``.

    Parameters
    ----------
    path : path
        Where to; what is there is replaced.
    detecting : Detecting
        What is written.

    Raises
    ------
    ValueError
        zarr is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], detecting: Detecting) -> None:
        try:
            import zarr
        except ImportError as error:
            raise ValueError(f"{path}: zarr is not installed; pip install 'flymotion[zarr]', or choose npz") from error
        self.path = Path(path)
        group = zarr.open_group(str(path), mode="w")
        group.attrs.update(angles=detecting.angles.tolist(), scale=detecting.scale)
        self._arrays: dict[str, Any] = {
            name: zarr.open_array(
                store=str(path), path=name, mode="w", shape=(0, *rest), chunks=(1 if rest else 1024, *rest), dtype=dtype
            )
            for name, rest, dtype in _layout(detecting)
        }

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End; what was written stays."""

    def write(self, detection: Detection) -> None:
        """Append the field of one pair; a frame that begins a clip has none."""
        if detection.field is not None:
            for name, value in _parts(detection).items():
                self._arrays[name].append(np.asarray(value)[None])


class NpzFields:
    """One npz file, written at the end of a ``with`` statement.

    Parameters
    ----------
    path : path
        Where to.
    detecting : Detecting
        What is written.

    Raises
    ------
    ValueError
        More than ``MOST_BYTES`` of fields, as soon as that is known.
    """

    def __init__(self, path: str | os.PathLike[str], detecting: Detecting) -> None:
        self.path, self._detecting = Path(path), detecting
        self._pair = sum(math.prod(rest) * np.dtype(dtype).itemsize for _, rest, dtype in _layout(detecting))
        self._kept: list[dict[str, Any]] = []
        if detecting.movie.counted:  # what a header promises may be wrong
            self._check((detecting.movie.n_frames_estimate or 1) - 1)

    def __enter__(self) -> Self:
        """Check that the file can be written."""
        self.path.touch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what there is."""
        columns: dict[str, Any] = {
            name: np.stack([pair.pop(name) for pair in self._kept]) if self._kept else np.zeros((0, *rest), dtype)
            for name, rest, dtype in _layout(self._detecting)
        }
        with self.path.open("wb") as file:
            np.savez(file, angles=self._detecting.angles, scale=self._detecting.scale, **columns)

    def write(self, detection: Detection) -> None:
        """Keep the field of one pair; a frame that begins a clip has none."""
        if detection.field is not None:
            self._check(len(self._kept) + 1)
            self._kept.append({name: np.copy(value) for name, value in _parts(detection).items()})

    def _check(self, n_pairs: int) -> None:
        if n_pairs * self._pair > MOST_BYTES:
            raise ValueError(
                f"{self.path}: fields of {n_pairs} pairs are {n_pairs * self._pair / 2**30:.1f} GiB, more than an npz "
                f"file may have here ({MOST_BYTES / 2**30:.0f} GiB); choose zarr, fewer frames, or a larger scale"
            )


SINKS = {"zarr": ZarrFields, "npz": NpzFields}
"""Classes by what they write."""


def _layout(detecting: Detecting) -> list[tuple[str, tuple[int, ...], str]]:
    """Return names, shapes of one pair, and types."""
    shape = detecting.shape
    return [
        ("directions", (len(detecting.angles), *shape), "f4"),
        ("velocity", (2, *shape), "f4"),
        ("confidence", shape, "f4"),
        ("frame", (), "i8"),
        ("time_s", (), "f8"),
    ]


def _parts(detection: Detection) -> dict[str, Any]:
    field = detection.field
    assert field is not None
    return {
        "directions": field.directions,
        "velocity": field.velocity,
        "confidence": field.confidence,
        "frame": detection.number,
        "time_s": detection.time,
    }
