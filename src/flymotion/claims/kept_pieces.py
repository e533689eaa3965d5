"""Pieces of work that are kept as soon as they are finished, so that a run that did not end goes on where it stopped.

They lie in ``unfinished/pieces`` of the folder of results, a file each, below a name for the code: a digest of the
package's source, of the versions of what it computes with, and of the kind of machine. A file's own name is a digest
of its group, of all settings of that, of the videos that they name (by size and time), and of the piece's place in the
work.
So a piece of other code or other settings is never found. What is damaged is passed over, and done again.

Pieces go when the run that they are of has put its results into their places; those of other code when the next run
begins, as nothing can take them over any more. They are pickles, but reading one calls nothing that it names beside
:data:`PLAIN` and classes of this package that hold results, so that a folder from elsewhere runs no code of its own.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache, partial
from importlib import import_module, metadata
from io import BytesIO
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from flymotion.claims.running import Each, Work, paths
from flymotion.writing import whole
from flymotion.writing.whole_files import BEING_WRITTEN, remove

__all__ = ["Done", "KeptPieces", "code", "packed", "unpacked", "versions"]

PACKAGE = Path(__file__).parents[1]

COMPUTING = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "llvmlite",
    "finufft",
    "xarray",
    "av",
    "pillow",
    "array-api-compat",
)
"""Distributions whose versions decide what comes of a piece."""

PLAIN = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    (__name__, "_dataset"),
}
"""Functions that a kept piece may call, beside the named tuples and dataclasses of this package: but for settings of a
group, which look for the videos that they name."""

SIZE = hashlib.sha256().digest_size


class Done(NamedTuple):
    """A piece of work that is finished."""

    result: Any
    seconds: float
    """Of a processor."""


def versions() -> dict[str, str]:
    """Return the versions of Python and of what we compute with, and the machine's name of its processor."""
    found = {"Python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in COMPUTING:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def code() -> str:
    """Return a digest of the source of this package, without what comes after measuring, and of :func:`versions`."""
    digest = hashlib.sha256(repr(sorted(versions().items())).encode())
    later = [PACKAGE / "browser", PACKAGE / "cli", PACKAGE / "contest", PACKAGE / "claims" / "page"]
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in {".py", ".csv", ".json"} and not any(folder in path.parents for folder in later):
            digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


class KeptPieces:
    """The pieces of one run, those that an earlier run has finished among them.

    Parameters
    ----------
    folder : Path
        Where pieces are kept; made with the first of them.
    work : Work
        What there is to do, groups at its root.
    configs : mapping of str to dataclass
        The settings of each group.

    Attributes
    ----------
    groups : list of str
        The group of each piece.
    n_taken, n : int
        Pieces that an earlier run has finished, and all.
    n_done : int
        Those that are finished by now, of both.
    seconds : dict of str to float
        Time of a processor that the finished ones of each group took, in whatever run.
    """

    def __init__(self, folder: Path, work: Work, configs: Mapping[str, Any]) -> None:
        self.folder, self.groups = folder, [path[0] for path in paths(work)]
        settings = {name: _digest(configs[name], _stamps(configs[name])) for name in work}
        self._places = [folder / code() / _digest(settings[path[0]], path) for path in paths(work)]
        for others in folder.iterdir() if folder.is_dir() else ():
            if others.name != code():
                remove(others)
        self._there = [_load(place) for place in self._places]
        self.n, self.n_taken = len(self._places), sum(done is not None for done in self._there)
        self.n_done = self.n_taken
        self.seconds = dict.fromkeys(self.groups, 0.0)

    @property
    def left(self) -> list[str]:
        """The group of each piece that is still to be done when the run begins."""
        return [name for name, done in zip(self.groups, self._there, strict=True) if done is None]

    def each(self, each: Each) -> Each:
        """Return a way of doing all pieces that does only those that are not there, and keeps each when it is done."""

        def do(work: Sequence[Callable[[], Any]]) -> Iterator[Any]:
            places = zip(work, self._places, self._there, strict=True)
            fresh = iter(each([partial(_keep, piece, place) for piece, place, done in places if done is None]))
            for name, done in zip(self.groups, self._there, strict=True):
                if done is None:
                    done = next(fresh)
                    self.n_done += 1
                self.seconds[name] += done.seconds
                yield done.result

        return do

    @property
    def n_kept(self) -> int:
        """How many pieces lie in the folder by now."""
        return sum(place.is_file() for place in self._places)

    def remove(self) -> None:
        """Remove the pieces of this run, what processes that were killed left of theirs, and folders that are empty."""
        for place in (*self._places, *(self.folder / code()).glob(f"{BEING_WRITTEN}*")):
            remove(place)
        with suppress(OSError):
            for folder in (self.folder / code(), self.folder, self.folder.parent):
                folder.rmdir()


def _keep(piece: Callable[[], Any], place: Path) -> Done:
    """Do a piece and keep what came of it; where it cannot be written, another run has to do it again."""
    began = process_time()
    result = piece()
    done = Done(result, process_time() - began)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole(place) as beside:
            beside.write_bytes(packed(done))
    return done


def _load(place: Path) -> Done | None:
    """Return what was kept at a place, None where nothing is, or nothing that was kept so."""
    try:
        return unpacked(place.read_bytes())
    except Exception:  # whatever a file that we did not write may hold: the piece is done again
        return None


def packed(done: Done) -> bytes:
    """Return a finished piece as bytes, a digest of the others before them."""
    written = BytesIO()
    _Writer(written, protocol=5).dump(tuple(done))
    return hashlib.sha256(written.getvalue()).digest() + written.getvalue()


def unpacked(kept: bytes) -> Done:
    """Return a finished piece.

    Raises
    ------
    pickle.UnpicklingError
        Bytes that are damaged, or that name what is no part of a result.
    """
    if hashlib.sha256(kept[SIZE:]).digest() != kept[:SIZE]:
        raise pickle.UnpicklingError("a kept piece is damaged")
    result, seconds = _Reader(BytesIO(kept[SIZE:])).load()
    return Done(result, float(seconds))


class _Writer(pickle.Pickler):
    """Writes labelled results as dicts of arrays, whatever they are made of inside."""

    def reducer_override(self, given: Any) -> Any:
        """Say how a thing is made again; the usual way of all but datasets."""
        kind = type(given)
        if kind.__module__.startswith("xarray.") and kind.__name__ == "Dataset":
            return _dataset, (given.to_dict(data="array"),)
        return NotImplemented


class _Reader(pickle.Unpickler):
    """Calls nothing that is no part of a result."""

    def find_class(self, module: str, name: str) -> Any:
        """Return one of :data:`PLAIN`, or a named tuple or dataclass of this package that is no settings."""
        if (module, name) in PLAIN:
            return super().find_class(module, name)
        if module.partition(".")[0] == "flymotion":
            found = getattr(import_module(module), name)
            holds_values = isinstance(found, type) and (issubclass(found, tuple) or is_dataclass(found))
            if holds_values and name != "Config":
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a result")


def _dataset(given: Mapping[str, Any]) -> Any:
    import xarray as xr

    return xr.Dataset.from_dict(given)


def _digest(*given: Any) -> str:
    from joblib import hash

    return str(hash(given, hash_name="sha1"))


def _stamps(config: Any) -> list[tuple[str, int, int]]:
    """Return size and time of each file that the settings name, so that another film of the same name is another."""
    files = [path for name in getattr(config, "videos", ()) for path in (Path(name), *Path(name).rglob("*"))]
    return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(files) if path.is_file()]
