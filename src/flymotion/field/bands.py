"""Work on bands of rows, on all cores."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

__all__ = ["in_bands", "n_workers"]

BAND = 96
"""Rows that one core works on at a time, at most."""


def n_workers() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


WORTH = 100e3
"""Time that work takes on one core from which others are asked [ns]."""


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the threads of a process: a forked one inherits none of its parent's."""
    return ThreadPoolExecutor(n_workers(), thread_name_prefix="flymotion-field")


def in_bands(work: Callable[[int, int, int], None], n_rows: int, ns: float = math.inf) -> None:
    """Call ``work(first row, last row, worker)`` for each band of rows, on all cores; the kernels let go of the lock.

    Python's threads and not numba's, since those of OpenMP end a process that is forked later, and its own queue one
    whose threads call it at the same time. Bands depend on the number of rows alone, and so do the results. There is an
    even number of them, alike: as many for each of two, four or eight cores.

    Other cores are asked only where that is worth it: what takes ``ns``, about so many nanoseconds a row, takes less
    time here than another thread takes to wake up.
    """
    n_bands = 2 * -(-n_rows // (2 * BAND)) if n_rows > BAND else 1
    rows = -(-n_rows // n_bands)
    bands = iter(range(0, n_rows, rows))

    def take_turns(worker: int) -> None:
        for first in bands:
            work(first, min(first + rows, n_rows), worker)

    n_helpers = min(n_workers(), n_bands) - 1 if n_rows * ns > WORTH else 0
    helpers = [_pool(os.getpid()).submit(take_turns, worker) for worker in range(1, n_helpers + 1)]
    take_turns(0)
    for helper in helpers:
        if not helper.cancel():  # else no core was free for it, and no band is left
            helper.result()
