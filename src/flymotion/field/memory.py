"""Memory for intermediate results."""

from __future__ import annotations

import numpy as np

__all__ = ["aligned"]

LINE = 64
"""Bytes of a cache line."""


def aligned(*shape: int) -> np.ndarray:
    """Return float32 zeros that begin at a cache line: half of all vectors would lie across two of them otherwise."""
    size = 4 * int(np.prod(shape))
    memory = np.zeros(size + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + size].view(np.float32).reshape(shape)
