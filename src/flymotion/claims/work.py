"""Independent pieces of work, done in turn or on several cores; results come in order either way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

__all__ = ["in_turn", "on_cores"]

Each = Callable[[Sequence[partial[Any]]], Iterable[Any]]
"""Does pieces of work and yields what they return, in order."""


def in_turn(work: Sequence[partial[Any]]) -> Iterator[Any]:
    """Do one piece after the other, here."""
    return (piece() for piece in work)


def on_cores(n_jobs: int, done: Callable[[], None] = lambda: None) -> Each:
    """Return a way of doing work on several processes, of one BLAS thread each.

    Parameters
    ----------
    n_jobs : int
        Number of processes; 1 is this one.
    done : callable
        Called after each piece.
    """
    from joblib import Parallel, delayed, parallel_config  # type: ignore[import-untyped]

    def each(work: Sequence[partial[Any]]) -> Iterator[Any]:
        with parallel_config("loky", inner_max_num_threads=1):
            results = Parallel(n_jobs, return_as="generator")(delayed(piece)() for piece in work)
        for result in results:
            done()
            yield result

    return each
