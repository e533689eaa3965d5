"""Fields on disk: everything at every pixel, pair by pair, as a zarr group or, of small videos, one npz file.

Both hold the arrays ``directions`` ``(n_pairs, n_directions, height, width)``, ``velocity`` ``(n_pairs, 2, height,
width)`` in pixels of the source, ``confidence`` and, in the same pixels, ``error`` ``(n_pairs, height, width)``,
``frame`` and ``time_s`` ``(n_pairs,)`` of the second frame of each pair (numbers that are not consecutive tell of
cuts), and, of zarr as attributes, ``angles`` [deg] and ``scale``, how many pixels of the source are one of the field.

The zarr group is what ``xarray.open_zarr`` opens: its axes are named, ``pair``, ``direction``, ``component``, ``y`` and
``x``, with coordinates in degrees and pixels of the source, and all arrays have units. It is of zarr's format 2, which
all versions of both read.
"""

from __future__ import annotations

import math
import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from flymotion.detecting.detection import Detecting, Detection
from flymotion.writing import in_words, undisturbed, whole

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
        zarr is not installed, or the detection is not dense.

    Examples
    --------
    >>> import tempfile
    >>> import zarr
    >>> from flymotion import detect
    >>> path = Path(tempfile.mkdtemp()) / "fields.zarr"
    >>> detecting = detect(np.zeros((3, 60, 80)), rate=25, dense=True)
    >>> with ZarrFields(path, detecting) as fields:
    ...     for detection in detecting:
    ...         fields.write(detection)
    >>> zarr.open(str(path), mode="r")["velocity"].shape  # pairs, (x right, y down), rows, columns
    (2, 2, 60, 80)
    """

    def __init__(self, path: str | os.PathLike[str], detecting: Detecting) -> None:
        try:
            import zarr
        except ImportError as error:
            raise ValueError(f"{path}: zarr is not installed; pip install zarr, or choose npz") from error
        self.path, self._detecting, self._zarr = Path(path), detecting, zarr
        detecting.needed_dense(self.path)
        self._n_pairs = 0
        self._format = {"zarr_format": 2} if int(zarr.__version__.partition(".")[0]) > 2 else {}

    def __enter__(self) -> Self:
        """Make the group, with everything but what comes pair by pair."""
        with ExitStack() as stack:
            with undisturbed():
                self._place = stack.enter_context(
                    whole(self.path, finish=self._finish, interrupted=self._detecting.when_interrupted(self.path))
                )
                group = self._zarr.open_group(str(self._place), mode="w", **self._format)
                group.attrs.update(
                    angles=self._detecting.angles.tolist(), scale=self._detecting.scale, coordinates="time_s frame"
                )
                for name, values in _coordinates(self._detecting).items():
                    self._array(name, (name,), values.shape, values.dtype.str)[...] = values
                self._arrays = {
                    name: self._array(name, ("pair", *dimensions), (0, *shape), dtype)
                    for name, dimensions, shape, dtype in _layout(self._detecting)
                }
            self._stack = stack.pop_all()
        return self

    def _array(self, name: str, dimensions: tuple[str, ...], shape: tuple[int, ...], dtype: str) -> Any:
        """Make an array that says what its axes and units are, as xarray and netCDF have it."""
        chunks = (1, *shape[1:]) if len(shape) > 1 else (max(1024, *shape),)
        array = self._zarr.open_array(
            store=str(self._place),
            path=name,
            mode="w",
            shape=shape,
            chunks=chunks,
            dtype=dtype,
            fill_value=None,  # others would be taken for missing values
            **self._format,
        )
        array.attrs.update(_ARRAY_DIMENSIONS=list(dimensions), **ABOUT[name])
        return array

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put the group in its place, or remove it after an error."""
        self._stack.__exit__(kind, error, trace)

    def _finish(self) -> None:
        for array in self._arrays.values():
            array.resize((self._n_pairs, *array.shape[1:]))  # a pair may have been interrupted
        self._zarr.consolidate_metadata(str(self._place), **self._format)  # so that xarray opens it at once

    def write(self, detection: Detection) -> None:
        """Append the field of one pair; a frame that begins a clip has none."""
        if detection.field is not None:
            with in_words(self.path):
                for name, value in _parts(detection).items():
                    self._arrays[name].append(np.asarray(value)[None])
            self._n_pairs += 1


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
        More than ``MOST_BYTES`` of fields, as soon as that is known, or a detection that is not dense.

    Examples
    --------
    >>> import tempfile
    >>> from flymotion import detect
    >>> path = Path(tempfile.mkdtemp()) / "fields.npz"
    >>> detecting = detect(np.zeros((3, 60, 80)), rate=25, dense=True)
    >>> with NpzFields(path, detecting) as fields:
    ...     for detection in detecting:
    ...         fields.write(detection)
    >>> sorted(np.load(path)), np.load(path)["velocity"].shape  # pairs, (x right, y down), rows, columns
    (['angles', 'confidence', 'directions', 'error', 'frame', 'scale', 'time_s', 'velocity'], (2, 2, 60, 80))
    """

    def __init__(self, path: str | os.PathLike[str], detecting: Detecting) -> None:
        self.path, self._detecting = Path(path), detecting
        detecting.needed_dense(self.path)
        self._pair = sum(math.prod(rest) * np.dtype(dtype).itemsize for _, _, rest, dtype in _layout(detecting))
        self._kept: list[dict[str, Any]] = []
        if detecting.movie.counted:  # what a header promises may be wrong
            self._check((detecting.movie.n_frames_estimate or 1) - 1)

    def __enter__(self) -> Self:
        """Check that the file can be written."""
        with ExitStack() as stack:
            with undisturbed():
                self._place = stack.enter_context(
                    whole(self.path, finish=self._finish, interrupted=self._detecting.when_interrupted(self.path))
                )
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what there is, or nothing after an error."""
        self._stack.__exit__(kind, error, trace)

    def _finish(self) -> None:
        columns: dict[str, Any] = {
            name: np.stack([pair.pop(name) for pair in self._kept]) if self._kept else np.zeros((0, *rest), dtype)
            for name, _, rest, dtype in _layout(self._detecting)
        }
        with self._place.open("wb") as file:
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


ABOUT: dict[str, dict[str, str]] = {
    "directions": {"units": "grey levels squared", "long_name": "response of each detector"},
    "velocity": {"units": "pixels of the source per frame", "long_name": "velocity of content"},
    "confidence": {"units": "1", "long_name": "how well the velocity is known"},
    "error": {
        "units": "pixels of the source per frame",
        "long_name": "error of the velocity, not finite where unknown",
    },
    "frame": {"units": "1", "long_name": "number of the second frame of the pair"},
    "time_s": {"units": "s", "long_name": "when the second frame of the pair is shown"},
    "direction": {"units": "deg", "long_name": "preferred direction of content, 0 right, 90 up"},
    "component": {"long_name": "component of velocity"},
    "y": {"units": "pixels of the source", "long_name": "row, down"},
    "x": {"units": "pixels of the source", "long_name": "column, right"},
}
"""Attributes of the arrays."""


def _layout(detecting: Detecting) -> list[tuple[str, tuple[str, ...], tuple[int, ...], str]]:
    """Return names, axes and shapes of one pair, and types."""
    shape = detecting.shape
    return [
        ("directions", ("direction", "y", "x"), (len(detecting.angles), *shape), "f4"),
        ("velocity", ("component", "y", "x"), (2, *shape), "f4"),
        ("confidence", ("y", "x"), shape, "f4"),
        ("error", ("y", "x"), shape, "f4"),
        ("frame", (), (), "i8"),
        ("time_s", (), (), "f8"),
    ]


def _coordinates(detecting: Detecting) -> dict[str, np.ndarray]:
    """Return where the pixels of the field are, their centres, and what else its axes go along."""
    rows, columns = (
        first + detecting.scale * np.arange(n) + (detecting.scale - 1) / 2
        for first, n in zip(detecting.corner, detecting.shape, strict=True)
    )
    return {"direction": detecting.angles, "component": np.array(["right", "down"]), "y": rows, "x": columns}


def _parts(detection: Detection) -> dict[str, Any]:
    field = detection.field
    assert field is not None
    return {
        "directions": field.directions,
        "velocity": field.velocity,
        "confidence": field.confidence,
        "error": field.error,
        "frame": detection.number,
        "time_s": detection.time,
    }
