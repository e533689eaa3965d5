"""Fields to write to: new ones, or such as nobody holds any more."""

from __future__ import annotations

from collections import deque
from sys import getrefcount

import numpy as np

from flymotion.field import Field

__all__ = ["Recycled"]

KEPT = 5
"""Most fields that are kept to be written to again: one is computed, one or two wait, and two are in a loop's hands."""


class Recycled:
    """Fields that belong to whoever takes them, for as long as their arrays, or parts of these, are held.

    Memory that is new has to be cleared by the system, which takes longer than to write to it; so what is no longer
    held is taken again.

    Parameters
    ----------
    shapes : dict of str to tuple of int
        Of what is asked for, by its name.

    Examples
    --------
    >>> fields = Recycled({"confidence": (2, 3)})
    >>> first, held = fields.take(), fields.take().confidence[0]
    >>> known = held.ctypes.data, first.confidence.ctypes.data
    >>> del first
    >>> [fields.take().confidence.ctypes.data in known[1:] for _ in range(2)]
    [True, True]
    """

    def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
        self._shapes = shapes
        self._kept: deque[dict[str, np.ndarray]] = deque(maxlen=KEPT)
        self._free = _most_holders({name: np.zeros(0) for name in shapes})

    def take(self) -> Field:
        """Return a field of arrays that nobody else holds, with whatever was written to them."""
        for arrays in self._kept:
            if _most_holders(arrays) == self._free:
                break
        else:
            arrays = {name: np.zeros(shape, np.float32) for name, shape in self._shapes.items()}
            self._kept.append(arrays)
        return Field(**(dict.fromkeys(Field._fields) | arrays))


def _most_holders(arrays: dict[str, np.ndarray]) -> int:
    """Return by how many any of these is held, their views among them; the dictionary and this function, too."""
    return max((getrefcount(arrays[name]) for name in arrays), default=0)
