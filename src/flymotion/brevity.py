"""How things that hold much are shown: in one line, arrays by their kind and shape alone."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["in_brief"]

LONGEST = 60
"""Characters of a part that are shown."""


def in_brief(thing: Any) -> str:
    """Return what a dataclass or named tuple is, in one line; to be its ``__repr__`` where it holds much.

    Examples
    --------
    >>> import numpy as np
    >>> from flymotion.frames import FramePairs
    >>> FramePairs(np.zeros((1000, 7, 7)), np.ones((1000, 7, 7)))
    FramePairs(before=float64(1000, 7, 7), after=float64(1000, 7, 7), motion=None, names=None, eye=None)
    """
    names = [field.name for field in fields(thing) if field.repr] if is_dataclass(thing) else thing._fields
    return f"{type(thing).__name__}({', '.join(f'{name}={_part(getattr(thing, name))}' for name in names)})"


def _part(value: Any) -> str:
    if getattr(value, "ndim", 0) and hasattr(value, "dtype"):
        return f"{value.dtype}{tuple(value.shape)}"
    if isinstance(value, tuple | list | dict | set | frozenset) and _is_long(value):
        return f"{type(value).__name__} of {len(value)}"
    shown = repr(value)
    return shown if len(shown) <= LONGEST and "\n" not in shown else f"{type(value).__name__}(...)"


def _is_long(parts: Any) -> bool:
    """Say whether a collection is long, without showing all of it."""
    return len(parts) > LONGEST // 3 or len(repr(parts)) > LONGEST
