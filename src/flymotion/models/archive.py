"""Arrays of the ``.npz`` files of flymotion 0.1: what numpy wrote there, and nothing else that such a file could be.

A zip archive may claim anything: here arrays have to lie in the file as they are, not compressed, so that all of them
together are no larger than the file; the list of them has to end it; and each begins with the words that numpy writes,
which are matched and not evaluated. Pickled objects are none of these.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from flymotion.models.packing import brief

__all__ = ["Member", "archived", "is_archive"]

LONGEST_LIST = 2**19
"""Bytes of the longest list of members."""

END = struct.Struct("<4s4H2LH")
"""What ends an archive: its mark, numbers of disks and members, length and place of the list, length of a comment."""

LARGE = struct.Struct("<4s16s")
"""What comes before the end of an archive of more than 4 GB."""

BEGIN = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<dtype><f8|<f4|<i8|<i4|<u8|<u4|\|u1|\|b1)', "
    rb"'fortran_order': (?P<fortran>True|False), 'shape': \((?P<shape>[0-9, ]{0,200})\), \} *\n",
    re.DOTALL,
)
"""What numpy writes before an array."""

LONGEST_BEGIN = 1024


class Member(NamedTuple):
    """An array in an archive, of known type and shape, that is read when it is asked for."""

    archive: zipfile.ZipFile
    name: str
    start: int
    dtype: np.dtype
    shape: tuple[int, ...]
    order: Any

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        found = np.frombuffer(self.archive.read(self.name)[self.start :], self.dtype)  # which looks at its checksum
        return found.reshape(self.shape, order=self.order).copy(order="K")


def is_archive(path: Path) -> bool:
    """Say whether a file begins as an archive does."""
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


@contextmanager
def archived(path: Path) -> Iterator[dict[str, Member]]:
    """Open an archive and yield its arrays; they are read when asked for, until the block ends.

    Raises
    ------
    ValueError
        An archive that numpy has not written, or that is damaged.
    """
    with path.open("rb") as file:
        size = _check_end(file)
        try:
            with zipfile.ZipFile(file) as archive:
                yield dict(_members(archive, size))
        except (zipfile.BadZipFile, struct.error, LookupError, RuntimeError, OSError, EOFError) as error:
            raise ValueError(f"an archive that is damaged ({type(error).__name__})") from error


def _check_end(file: BinaryIO) -> int:
    """Check the end of a file, before the list of members is read; returns the file's size."""
    size = file.seek(0, 2)
    file.seek(max(size - LARGE.size - END.size, 0))
    ends = file.read()
    if len(ends) < LARGE.size + END.size:
        raise ValueError("an archive that is too short")
    large, *_ = LARGE.unpack(ends[: LARGE.size])
    mark, *_, length, _, comment = END.unpack(ends[LARGE.size :])
    if mark != b"PK\x05\x06" or large == b"PK\x06\x07" or comment or length > LONGEST_LIST:
        raise ValueError("an archive that does not end as one of arrays does")
    return size


def _members(archive: zipfile.ZipFile, size: int) -> Iterator[tuple[str, Member]]:
    listed = archive.infolist()
    names = {info.filename for info in listed}
    stored = all(info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size for info in listed)
    if len(names) < len(listed) or not stored or sum(info.file_size for info in listed) > size:
        raise ValueError("an archive that is compressed, or has a name twice")
    for info in listed:
        name = info.filename.removesuffix(".npy")
        with archive.open(info) as member:
            begins = BEGIN.match(member.read(LONGEST_BEGIN))
        if begins is None or name == info.filename or begins.end() != 10 + int.from_bytes(begins["length"], "little"):
            raise ValueError(f"{brief(info.filename)} is no array of numbers")
        shape = tuple(int(n) for n in re.findall(rb"[0-9]+", begins["shape"]))
        dtype = np.dtype(begins["dtype"].decode())
        if len(shape) > 32 or math.prod(shape) * dtype.itemsize != info.file_size - begins.end():
            raise ValueError(f"{brief(name)} has another size than it says")
        order = "F" if begins["fortran"] == b"True" else "C"
        yield name, Member(archive, info.filename, begins.end(), dtype, shape, order)
