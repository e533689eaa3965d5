"""The results of one run: reserved, made aside, and moved into their places together."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flymotion.brevity import in_brief
from flymotion.writing.whole_files import (
    BEING_WRITTEN,
    UNFINISHED,
    WriteError,
    check,
    in_words,
    remove,
    undisturbed,
    whole,
)

__all__ = ["Results", "results"]

ASIDE = f"{BEING_WRITTEN}run-"
"""What names of folders begin with that hold what a run has made so far."""

LOCK = ".flymotion-lock"
"""Locked by the run that writes to the folder that it is in."""


@dataclass(frozen=True)
class Results:
    """What a run writes, aside until it is complete.

    Attributes
    ----------
    folder : Path
        Where the results are to be.
    aside : Path
        A folder in it, to write them to, each through :func:`whole`.
    sources : tuple
        What is read, and must not be written over.

    Examples
    --------
    >>> import tempfile
    >>> with results(tempfile.mkdtemp(), ["table.csv"]) as run:
    ...     _ = (run.aside / "table.csv").write_text("a,b")
    ...     before = [path.name for path in run.folder.glob("*.csv")]
    >>> before, [path.name for path in run.folder.glob("*.csv")]  # in its place only when the run has ended well
    ([], ['table.csv'])
    """

    folder: Path
    aside: Path
    sources: tuple[Any, ...] = ()

    __repr__ = in_brief

    def keep(self, *, unfinished: bool = False) -> list[Path]:
        """Move all that is complete into its place, or into the folder of what is unfinished; returns where it is.

        Raises
        ------
        WriteError
            A place that cannot be written to: nothing is moved.
        """
        into = self.folder / UNFINISHED if unfinished else self.folder
        made = (path for path in self.aside.iterdir() if path.name != UNFINISHED)
        complete = sorted(path for path in made if not path.name.startswith(BEING_WRITTEN))
        places = [check(into / path.name, sources=self.sources, folder=path.is_dir()) for path in complete]
        with undisturbed():
            for path, place in zip(complete, places, strict=True):
                with whole(place) as beside:
                    shutil.move(path, beside)
        return places

    def discard(self) -> None:
        """Remove all that was made and is not in its place yet."""
        for path in self.aside.iterdir():
            remove(path)


@contextmanager
def results(
    folder: str | os.PathLike[str], names: Iterable[str] = (), *, sources: Iterable[Any] = ()
) -> Iterator[Results]:
    """Reserve a folder for the results of one run, and yield where to make them; they are moved when all is done.

    Where the block does not end well, what is complete goes to the folder ``unfinished``, and the error has a note that
    says so; what was in the folder stays.

    Parameters
    ----------
    folder : path
        Made if missing, and removed again if nothing comes of it.
    names : iterable of str
        Of what will be written, as far as is known; those of folders end in a slash.
    sources : iterable
        What is read, and must not be written over.

    Raises
    ------
    WriteError
        A place that cannot be written to, what is read, or a folder that another run is writing to, before any work; a
        fault of writing.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with results(folder, ["a.txt"]) as run:
    ...     _ = (run.aside / "a.txt").write_text("a")
    >>> [path.name for path in folder.iterdir()]
    ['a.txt']
    """
    folder, sources = Path(folder), tuple(sources)
    with _made(folder), _alone(folder) as locked, _aside(folder, locked) as aside:
        for name in names:
            check(folder / name, sources=sources, folder=name.endswith("/"))
        run = Results(folder, aside, sources)
        try:
            yield run
            run.keep()
        except BaseException as error:
            told = _told(error, run)
            _rescue(told, run)
            if told is error:
                raise
            raise told from error


def _told(error: BaseException, run: Results) -> BaseException:
    """Return an error that names places as they are to be, not as they were meanwhile."""
    text = str(error)
    if not isinstance(error, OSError | ValueError) or str(run.aside) not in text:
        return error
    kind = WriteError if isinstance(error, OSError) else ValueError
    return kind(text.replace(str(run.aside), str(run.folder)))


def _rescue(error: BaseException, run: Results) -> None:
    with suppress(OSError):
        if run.keep(unfinished=True):
            error.add_note(f"what was finished is in {run.folder / UNFINISHED}")


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder; afterwards those of the folders made that are empty are removed."""
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    with in_words(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):
            for each in missing:
                each.rmdir()


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Keep other runs out of a folder until this one, or its process, ends; yields whether that could be done.

    Windows and some file systems of networks have no such locks: there each file is whole, but two runs may mix.
    """
    with in_words(folder):
        descriptor, locked = _lock(folder)
    try:
        yield locked
    finally:
        if descriptor is not None:
            with suppress(OSError):
                (folder / LOCK).unlink()
            os.close(descriptor)


def _lock(folder: Path) -> tuple[int | None, bool]:
    try:
        import fcntl
    except ImportError:
        return None, False
    while True:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise WriteError(f"{folder}: another run is writing there; let it end, or choose another folder") from None
        except OSError:
            return descriptor, False
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(folder / LOCK)):
                return descriptor, True
        os.close(descriptor)  # the run before has just removed it


@contextmanager
def _aside(folder: Path, locked: bool) -> Iterator[Path]:
    """Make a folder in a folder for the time of a run; what killed runs left there is removed."""
    for left in folder.glob(f"{ASIDE}*") if locked else ():
        remove(left)
    aside = folder / f"{ASIDE}{os.getpid()}-{secrets.token_hex(6)}"
    with in_words(folder):
        aside.mkdir()
    try:
        yield aside
    finally:
        remove(aside)
