"""One thread for BLAS while small matrices are multiplied, whose threads would wait for each other most of the time.

How many threads BLAS has is one number for the whole process: the first thread that asks for one sets it, and the last
one that is done sets it back. Each setting back what it found would leave it at one for good.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


class OneThread:
    """What threads of a process enter that want BLAS to have one."""

    def __init__(self) -> None:
        self._pools = ThreadpoolController()
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limits = self._pools.limit(limits=1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


def one_thread() -> OneThread:
    """Return what to be in while BLAS is to have one thread."""
    return _of_process(os.getpid())


@cache
def _of_process(process: int) -> OneThread:
    """Return the one of a process: in a forked one nobody would leave what its parent's threads have entered."""
    return OneThread()
