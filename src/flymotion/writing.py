"""Files written whole or not at all: checked before the work, made beside their place, moved into it when complete.

Whatever the package writes goes through :func:`whole`; nothing is ever opened in its place, so that an earlier file
stays whole until the new one is, whatever happens on the way: an error, a full disk, a kill.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["WriteError", "check", "whole"]

UNFINISHED = ".unfinished-"
"""What names of files begin with that are being written."""


class WriteError(OSError):
    """A file or folder that cannot be written; names it and the reason."""


def check(path: str | os.PathLike[str], *, sources: Iterable[str | os.PathLike[str]] = ()) -> Path:
    """Return the path if a file may be written there; makes the folder that it is in.

    Parameters
    ----------
    path : path
        Where to write.
    sources : iterable of path
        What is read: must not be written over.

    Raises
    ------
    WriteError
        A folder, one of the sources, or a place that cannot be written to.
    """
    path = Path(path)
    for source in map(Path, sources):
        if path.exists() and source.exists() and path.samefile(source):
            raise WriteError(f"{path}: is read from, and would be written over; choose another place")
    with _in_words(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        trial = _beside(path)
        trial.touch(exist_ok=False)
        trial.unlink()
    return path


@contextmanager
def whole(path: str | os.PathLike[str], *, sources: Iterable[str | os.PathLike[str]] = ()) -> Iterator[Path]:
    """Yield a place beside the path, of the same suffix, to write a file or folder to; it is moved when all is done.

    Where the block does not end well, what was written is removed, and what was at the path stays.

    Parameters
    ----------
    path : path
        Where it is to be.
    sources : iterable of path
        What is read, and must not be written over.

    Raises
    ------
    WriteError
        As :func:`check`; a full disk, or another fault of writing.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole(folder / "table.csv") as place:
    ...     _ = place.write_text("a,b")
    >>> [path.name for path in folder.iterdir()]
    ['table.csv']
    """
    path = check(path, sources=sources)
    place = _beside(path)
    try:
        with _in_words(path):
            yield place
            _into_place(place, path)
    finally:
        _remove(place)


def _beside(path: Path) -> Path:
    return path.with_name(f"{UNFINISHED}{os.getpid()}-{secrets.token_hex(6)}{path.suffix[:32]}")


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        raise WriteError(f"{path}: cannot be written ({error.strerror or error})") from error


def _into_place(place: Path, path: Path) -> None:
    """Move a file, or a folder, to its path; what is there is replaced."""
    if not place.is_dir():
        with place.open("rb") as file:
            os.fsync(file.fileno())  # a rename may reach the disk before what is renamed
        if path.is_dir():
            raise WriteError(f"{path}: is a folder; expected a place for a file")
        os.replace(place, path)
        return
    old = _beside(path)
    if path.exists():
        path.rename(old)
    place.rename(path)
    _remove(old)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
