"""The model file: safetensors, with a header in JSON and a checksum of every bit.

A safetensors file is 8 bytes with the length of its head, the head in JSON, which lists arrays, and their bytes. What
is said of a model is text in the head's metadata, under ``flymotion``, and JSON again::

    {"sha256": "...", "format": 2, "kind": "MotionLearner", "flymotion": "0.1.0", "axes": {...}, "numbers": {...}}

The checksum is that of the whole file as it is with 64 zeros in place of the checksum. ``axes`` has the arrays whose
memory is not in the order of their axes, and that order: sums go along memory, and learning goes on to the bit. The
file is read here and not by the library that writes it, since that one takes a name given twice, and a head of 100 MB.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from safetensors.numpy import save as tensors

from flymotion.models.packing import brief
from flymotion.models.strict_json import MOST_TEXT, parsed, written

__all__ = ["FORMAT", "AnotherFormat", "Header", "Stored", "content", "reading"]

FORMAT = 2
"""Version of the file format; 1 was the ``.npz`` of 0.1."""

TYPES = {"F64": "float64", "F32": "float32", "I64": "int64"}
"""Types of numbers that models have, as safetensors names them."""

MOST_AXES = 32
"""Of an array, as numpy has it."""

MOST_BYTES = 2**32
"""Of the largest file."""

BLANK = "0" * 64
"""What stands for the checksum while it is computed."""

BLOCK = 2**20
"""Bytes read at a time for the checksum."""


class AnotherFormat(ValueError):
    """A file of a format that this flymotion does not read."""


class Header(NamedTuple):
    """What a file says that it holds.

    Attributes
    ----------
    kind : str
        Name of the class.
    version : str
        Of the flymotion that wrote it.
    numbers : dict
        What the object packed.
    """

    kind: str
    version: str
    numbers: dict[str, Any]


class Stored(NamedTuple):
    """An array in a file, of known type and shape, that is read when it is asked for.

    Attributes
    ----------
    file : file
        Open for reading.
    start : int
        Where its bytes begin.
    dtype : dtype
        Type of its numbers.
    shape : tuple of int
        Its shape.
    axes : tuple of int
        Its axes in the order of memory.
    """

    file: BinaryIO
    start: int
    dtype: np.dtype
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        self.file.seek(self.start)
        found = np.fromfile(self.file, self.dtype, math.prod(self.shape))
        return found.reshape([self.shape[axis] for axis in self.axes]).transpose(np.argsort(self.axes))


def content(header: Header, arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    ValueError
        Numbers that JSON cannot hold, or more than a file may have.
    """
    axes = {name: _axes(array) for name, array in arrays.items() if not array.flags.c_contiguous}
    in_memory = {name: array.transpose(axes[name]) if name in axes else array for name, array in arrays.items()}
    said = {"sha256": BLANK, "format": FORMAT, "kind": header.kind, "flymotion": header.version, "axes": axes}
    text = written(said | {"numbers": header.numbers})
    whole = tensors({name: np.ascontiguousarray(array) for name, array in in_memory.items()}, {"flymotion": text})
    if int.from_bytes(whole[:8], "little") > MOST_TEXT or len(whole) > MOST_BYTES:
        raise ValueError(f"{len(whole)} bytes in {len(arrays)} arrays; that is more than a model may have")
    return whole.replace(BLANK.encode(), hashlib.sha256(whole).hexdigest().encode(), 1)


def _axes(array: np.ndarray) -> list[int]:
    return np.argsort([-abs(step) for step in array.strides], kind="stable").tolist()


@contextmanager
def reading(path: Path) -> Iterator[tuple[Header, dict[str, Stored]]]:
    """Open a file and yield what it holds; its arrays are read when asked for, until the block ends.

    Raises
    ------
    ValueError
        A file of another format, or none at all; when the block ends, one whose checksum is another.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        head = _head(file, size)
        of_head = parsed(head)
        said = _said(of_head)
        stored = _stored(of_head, said["axes"], file, size - 8 - len(head))
        yield Header(said["kind"], said["flymotion"], said["numbers"]), stored
        if _sum(file, head, said["sha256"]) != said["sha256"]:  # last, since a hostile file may have any length
            raise ValueError("its checksum is not that of what it holds")


def _head(file: BinaryIO, size: int) -> bytes:
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if not 2 <= length <= min(MOST_TEXT, size - 8) or size > MOST_BYTES:
        raise ValueError(f"{size} bytes with a head of {length}")
    return file.read(length)


SAID = {"sha256": str, "format": int, "kind": str, "flymotion": str, "axes": dict, "numbers": dict}
"""What the text has, by name, and of what type."""


def _said(of_head: Any) -> dict[str, Any]:
    """Return what the text in the metadata says, after a look at its format."""
    metadata = of_head.pop("__metadata__", None) if isinstance(of_head, dict) else None
    if not (isinstance(metadata, dict) and [*metadata] == ["flymotion"] and isinstance(metadata["flymotion"], str)):
        raise ValueError("no header")
    said = parsed(metadata["flymotion"].encode())
    if isinstance(said, dict) and type(said.get("format")) is int and said["format"] != FORMAT:
        raise AnotherFormat(f"format {brief(said['format'])}")
    if not isinstance(said, dict) or {name: type(value) for name, value in said.items()} != SAID:
        raise ValueError("a header that is none of a model")
    return said


def _stored(listed: dict[str, Any], axes: dict[str, Any], file: BinaryIO, room: int) -> dict[str, Stored]:
    """Return the arrays that the head lists, which have to fill the rest of the file, without gaps."""
    found, start = {}, file.tell()
    spans = []
    for name, entry in listed.items():
        dtype, shape, begin, end = _entry(name, entry)
        order = axes.get(name, list(range(len(shape))))
        if not (isinstance(order, list) and set(map(type, order)) <= {int} and sorted(order) == [*range(len(shape))]):
            raise ValueError(f"axes of {brief(name)} in the order {brief(order)}")
        if math.prod(shape) * dtype.itemsize != end - begin:
            raise ValueError(f"{end - begin} bytes for {brief(name)}")
        spans.append((begin, end))
        true = tuple(shape[i] for i in np.argsort(order))
        found[name] = Stored(file, start + begin, dtype, true, tuple(order))
    spans.sort()
    if [begin for begin, _ in spans] + [room] != [0] + [end for _, end in spans] or not axes.keys() <= listed.keys():
        raise ValueError(f"arrays that do not fill the {room} bytes of the file")
    return found


def _entry(name: str, entry: Any) -> tuple[np.dtype, tuple[int, ...], int, int]:
    if isinstance(entry, dict) and entry.keys() == {"dtype", "shape", "data_offsets"}:
        dtype, shape, span = entry["dtype"], entry["shape"], entry["data_offsets"]
        lists = isinstance(shape, list) and isinstance(span, list) and len(span) == 2 and len(shape) <= MOST_AXES
        if lists and isinstance(dtype, str) and dtype in TYPES and all(type(n) is int and n >= 0 for n in shape + span):
            return np.dtype(TYPES[dtype]).newbyteorder("<"), tuple(shape), *span
    raise ValueError(f"{brief(name)} is described as no array")


def _sum(file: BinaryIO, head: bytes, said: str) -> str:
    """Return the checksum of a file of which the head has been read."""
    found = hashlib.sha256(len(head).to_bytes(8, "little") + head.replace(said.encode(), BLANK.encode(), 1))
    file.seek(8 + len(head))
    while block := file.read(BLOCK):
        found.update(block)
    return found.hexdigest()
