"""One file or folder, whole or not at all: checked, made beside its place, and moved into it."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["BEING_WRITTEN", "UNFINISHED", "WriteError", "check", "in_words", "remove", "undisturbed", "whole"]

UNFINISHED = "unfinished"
"""Folder, beside the results, for what was finished of what was interrupted."""

BEING_WRITTEN = ".unfinished-"
"""What names of files begin with that are being written."""


class WriteError(OSError):
    """A file or folder that cannot be written; names it and the reason.

    Examples
    --------
    >>> check(".")  # where a file is to be
    Traceback (most recent call last):
    flymotion.writing.whole_files.WriteError: .: is a folder; expected a place for a file
    """


def check(path: str | os.PathLike[str], *, sources: Iterable[Any] = (), folder: bool = False) -> Path:
    """Return the path if a file may be written there; makes the folder that it is in.

    Parameters
    ----------
    path : path
        Where to write.
    sources : iterable
        What is read: must not be written over, nor added to. What is no path is passed over.
    folder : bool
        Whether it is to be a folder; what is there is replaced.

    Raises
    ------
    WriteError
        A folder where a file is to be, one of the sources, or a place that cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> video = Path(tempfile.mkdtemp()) / "street.mp4"
    >>> video.touch()
    >>> check(video.with_name("arrows.mp4"), sources=[video]).name
    'arrows.mp4'
    >>> check(video, sources=[video])
    Traceback (most recent call last):
    flymotion.writing.whole_files.WriteError: ...street.mp4: is read from, and would be written over; ...
    """
    path = Path(path)
    with in_words(path):
        real = _real(path)
        for source in sources:
            if isinstance(source, str | os.PathLike) and os.path.exists(source):
                _not_read(path, real, Path(source))
        if real.is_dir() and not folder:
            raise WriteError(f"{path}: is a folder; expected a place for a file")
        if real.exists() and not real.is_dir() and not real.is_file():
            raise WriteError(f"{path}: is a device or a pipe; expected a place for a file")
        if real.exists() and not os.access(real, os.W_OK):
            raise WriteError(f"{path}: cannot be written (it is read-only)")
        real.parent.mkdir(parents=True, exist_ok=True)
        trial = _beside(real)
        trial.touch(exist_ok=False)
        trial.unlink()
    return path


def _not_read(path: Path, real: Path, source: Path) -> None:
    if real.exists() and real.samefile(source):
        raise WriteError(f"{path}: is read from, and would be written over; choose another place")
    if source.is_dir() and real.parent.exists() and real.parent.samefile(source):
        raise WriteError(f"{path}: would be added to {source}, which is read from; choose another place")
    if real.is_dir() and real in _real(source).parents:
        raise WriteError(f"{path}: holds {source}, which is read from; choose another place")


@contextmanager
def whole(
    path: str | os.PathLike[str],
    *,
    sources: Iterable[Any] = (),
    finish: Callable[[], object] = lambda: None,
    interrupted: Path | None = None,
) -> Iterator[Path]:
    """Yield a place beside the path, of the same suffix, to write a file or folder to; it is moved when all is done.

    Where the block does not end well, what was written is removed, and what was at the path stays. A link is followed.

    Parameters
    ----------
    path : path
        Where it is to be.
    sources : iterable
        What is read, and must not be written over.
    finish : callable
        Called at the end of the block, to complete what it has written.
    interrupted : path, optional
        Where to put, completed, what the block has written by Ctrl-C; by default it is removed.

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
    path = Path(path)
    with in_words(path):
        is_folder = path.is_dir()
    check(path, sources=sources, folder=is_folder)  # whether a folder is to come is not known yet
    place = _beside(_real(path))
    try:
        with in_words(path, meanwhile=True):
            try:
                yield place
            except KeyboardInterrupt:
                if interrupted is not None:
                    finish()
                if interrupted is not None and place.exists():  # a video begins with its first frame
                    _into_place(place, check(interrupted, sources=sources, folder=place.is_dir()))
                raise
            finish()
            _into_place(place, path)
    finally:
        remove(place)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _beside(path: Path) -> Path:
    return path.with_name(f"{BEING_WRITTEN}{os.getpid()}-{secrets.token_hex(6)}{path.suffix[:32]}")


@contextmanager
def in_words(path: Path, *, meanwhile: bool = False) -> Iterator[None]:
    """Let a fault of writing name the path; where other files are read ``meanwhile``, not one that names another.

    Examples
    --------
    >>> with in_words(Path("fields.npz")):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    flymotion.writing.whole_files.WriteError: fields.npz: cannot be written (No space left on device)
    """
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        if meanwhile and error.filename is not None and BEING_WRITTEN not in str(error.filename):
            raise
        reason = error.strerror or error
        if isinstance(error, FileExistsError):  # of making the folder
            reason = os.strerror(errno.ENOTDIR)
        raise WriteError(f"{path}: cannot be written ({reason})") from error


def _into_place(place: Path, path: Path) -> None:
    """Move a file, or a folder, to its path; what is there is replaced."""
    real = _real(path)
    if not place.is_dir():
        with place.open("rb") as file:
            os.fsync(file.fileno())  # a rename may reach the disk before what is renamed
        if real.is_dir():
            raise WriteError(f"{path}: is a folder; expected a place for a file")
        if real.exists():
            shutil.copymode(real, place)
        os.replace(place, real)
        return
    old = _beside(real)
    with undisturbed():
        if real.exists():
            real.rename(old)
        try:
            place.rename(real)
        except OSError:
            old.rename(real)
            raise
    remove(old)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the end of the block.

    Examples
    --------
    >>> import signal
    >>> done = []
    >>> try:
    ...     with undisturbed():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done.append("what was begun")
    ... except KeyboardInterrupt:
    ...     print(*done, "is finished first")
    what was begun is finished first
    """
    came: list[int] = []
    here = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if here}
    ours = {number: handler for number, handler in handlers.items() if handler is not None}  # None: not of Python
    for number in ours:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        for each in came:
            signal.raise_signal(each)


def remove(place: Path) -> None:
    """Remove a file or folder, if it is there."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
