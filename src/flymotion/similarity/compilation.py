"""How loops are compiled: with a cache on disk where there is a place for one, and it holds.

The cache survives a read-only install and a missing home; a disk that is full, or files of it that cannot be read, cost
the time of compiling anew and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache

__all__ = ["PART", "SUMS", "WITHIN", "compiled"]

PART = {"forceinline": True, "_nrt": False}
"""Options of what runs within a sample: copied into its callers and, as it creates no array, counting no references."""

WITHIN = PART | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""The same for what only compiled code calls: compiled sooner."""

SUMS = {"fastmath": {"reassoc", "contract", "nsz"}}
"""Options of what takes long sums: in the processor's order. Short ones are faster as written."""


class ForgivingCache(FunctionCache):
    """A cache that what goes wrong with its files does not reach the caller of."""

    def load_overload(self, *key: Any) -> Any:
        """Return the machine code that was kept; None of what was not, or cannot be read."""
        try:
            return super().load_overload(*key)
        except Exception:  # damage makes pickle raise anything
            return None

    def save_overload(self, *code: Any) -> None:
        """Keep machine code, if it can be."""
        try:
            super().save_overload(*code)
        except Exception:  # a full disk, and what of its index was damaged
            self.disable()


def compiled(**options: Any) -> Callable:
    """Compile, with a cache on disk where there is a place for one."""
    options = {"nogil": True, "error_model": "numpy"} | options

    def decorate(function: Callable) -> Callable:
        if numba.config.DISABLE_JIT:
            return function
        machine_code = numba.njit(**options)(function)
        try:
            cache = ForgivingCache(function)
            os.makedirs(cache.cache_path, exist_ok=True)
        except (RuntimeError, OSError):  # a read-only or zipped install and no home folder
            return machine_code
        machine_code._cache = cache
        return machine_code

    return decorate
