"""How loops are compiled: with a cache on disk that survives a read-only install and a missing home."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numba

__all__ = ["PART", "SUMS", "compiled"]

PART = {"forceinline": True, "_nrt": False}
"""Options of what runs within a sample: copied into its callers and, as it creates no array, counting no references."""

SUMS = {"fastmath": {"reassoc", "contract", "nsz"}}
"""Options of what takes long sums: in the processor's order. Short ones are faster as written."""


def compiled(**options: Any) -> Callable:
    """Compile, with a cache on disk where there is a place for one."""
    options = {"nogil": True, "error_model": "numpy"} | options

    def decorate(function: Callable) -> Callable:
        if numba.config.DISABLE_JIT:
            return function
        try:
            machine_code = numba.njit(cache=True, **options)(function)
            os.makedirs(machine_code.stats.cache_path, exist_ok=True)
            return machine_code
        except (RuntimeError, OSError):  # a read-only or zipped install and no home folder
            return numba.njit(**options)(function)

    return decorate
