"""Independent pieces of work, named: done in turn or on several cores, and handed back by the same names.

Work is a tree. A mapping names its parts; a list holds the same for one seed after the other; a leaf is a function of
no arguments. What comes back has the same names, and the results of a list stacked, seeds along a new first axis.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from flymotion.writing import undisturbed

__all__ = ["Found", "Work", "each_seed", "finished", "in_turn", "names", "on_cores", "paths", "run", "stack"]

Work = Mapping[str, Any]
"""Names, and what there is to do: pieces, lists of pieces, or more such mappings."""

Found = Mapping[str, Any]
"""The same names, and what came of it."""

Each = Callable[[Sequence[Callable[[], Any]]], Iterable[Any]]
"""Does pieces of work and yields what they return, in order."""


def each_seed(piece: Callable[..., Any], n_seeds: int, *given: Any) -> list[partial[Any]]:
    """Return a piece of work a seed: ``piece(*given, seed)``."""
    return [partial(piece, *given, seed) for seed in range(n_seeds)]


def run(work: Work, each: Each | None = None) -> dict[str, Any]:
    """Do all pieces, and return what they found by the same names.

    Examples
    --------
    >>> run({"squares": each_seed(pow, 3, 2), "one": {"answer": lambda: 42}})
    {'squares': array([1, 2, 4]), 'one': {'answer': 42}}
    """
    return dict(finished(work, each))


def finished(work: Work, each: Each | None = None) -> Iterator[tuple[str, Any]]:
    """Do all pieces, and yield what each part at the root found, by its name, as soon as it has all of its pieces."""
    results = iter((each or in_turn)([piece for _, piece in _leaves(work)]))
    return ((name, _filled(part, results)) for name, part in work.items())


def names(work: Work) -> list[str]:
    """Return the name at the root of the tree of each piece, in the order in which pieces are done."""
    return [path[0] for path in paths(work)]


def paths(work: Work) -> list[tuple[str, ...]]:
    """Return the names that lead to each piece from the root of the tree, seeds by their numbers.

    Examples
    --------
    >>> paths({"squares": each_seed(pow, 2, 2), "one": {"answer": lambda: 42}})
    [('squares', '0'), ('squares', '1'), ('one', 'answer')]
    """
    return [path for path, _ in _leaves(work)]


def _leaves(work: Work, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Callable[[], Any]]]:
    for name, part in work.items():
        path = (*above, str(name))
        if isinstance(part, Mapping):
            yield from _leaves(part, path)
        elif isinstance(part, Sequence):
            yield from (((*path, str(seed)), piece) for seed, piece in enumerate(part))
        else:
            yield path, part


def _filled(part: Any, results: Iterator[Any]) -> Any:
    if isinstance(part, Mapping):
        return {name: _filled(each, results) for name, each in part.items()}
    return stack([next(results) for _ in part]) if isinstance(part, Sequence) else next(results)


def stack(results: Sequence[Any]) -> Any:
    """Stack results of one kind along a new first axis: named tuples and dicts field by field, arrays as arrays.

    What is no number or array stays a list.
    """
    first = results[0]
    if isinstance(first, tuple):
        fields = [stack(field) for field in zip(*results, strict=True)]
        return type(first)(*fields) if hasattr(first, "_fields") else tuple(fields)
    if isinstance(first, dict):
        return {name: stack([result[name] for result in results]) for name in first}
    return np.stack(results) if isinstance(first, np.ndarray | np.generic | int | float) else list(results)


def in_turn(work: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """Do one piece after the other, here."""
    return (piece() for piece in work)


def on_cores(n_jobs: int, done: Callable[[], None] = lambda: None) -> Each:
    """Return a way of doing work on several processes, of one BLAS thread each.

    Where it is left before the end, as by Ctrl-C, which they do not hear themselves, the processes are ended.

    Parameters
    ----------
    n_jobs : int
        Number of processes, at most one a piece; 1 is this one.
    done : callable
        Called after each piece.
    """
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky import get_reusable_executor

    def each(work: Sequence[Callable[[], Any]]) -> Iterator[Any]:
        n_processes = min(n_jobs, len(work)) or 1
        results, complete = None, False
        try:
            with undisturbed(), parallel_config("loky", inner_max_num_threads=1), _deaf():
                results = Parallel(n_processes, return_as="generator")(delayed(piece)() for piece in work)
            for result in results:
                done()
                yield result
            complete = True
        finally:
            if results is not None and n_processes > 1 and not complete:
                with undisturbed(), _quiet():  # a second Ctrl-C would leave processes that are waited for at the end
                    results.close()  # hands out no more, so that none is waited for
                    get_reusable_executor().shutdown(wait=True, kill_workers=True)

    return each


@contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C, which a terminal sends to all; it is for this one to end them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()  # starting it later would let this thread hear again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Let nothing be said of work that is left, nor by the thread that hands it out and finds nobody to hand it to."""
    say = threading.excepthook

    def unless_it_hands_out(what: Any) -> None:
        if what.thread is None or not what.thread.name.startswith("ExecutorManagerThread"):
            say(what)

    threading.excepthook = unless_it_hands_out
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        threading.excepthook = say
