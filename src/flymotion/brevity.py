"""How things that hold much are shown: in one line, arrays by their kind and shape alone."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["in_brief"]

LONGEST, WHOLE = 60, 250
"""Characters of a part that are shown, and of all."""

SHORT = 8
"""Entries of an array that are shown."""


def in_brief(thing: Any) -> str:
    """Return what a dataclass or named tuple is, in one line; to be its ``__repr__`` where it may hold much.

    Examples
    --------
    >>> import numpy as np
    >>> from flymotion.frames import FramePairs
    >>> FramePairs(np.zeros((1000, 7, 7)), np.ones((1000, 7, 7)))
    FramePairs(before=float64(1000, 7, 7), after=float64(1000, 7, 7), motion=None, names=None, eye=None)
    """
    names = [field.name for field in fields(thing) if field.repr] if is_dataclass(thing) else thing._fields
    shown = ", ".join(f"{name}={_part(getattr(thing, name))}" for name in names)
    whole = shown if len(shown) <= WHOLE else f"{shown[: WHOLE - 3]}..."
    return f"{type(thing).__name__}({whole})"


def _part(value: Any) -> str:
    """Return the repr of what is short; of an array its kind and shape, of other things how many, or what they are."""
    if getattr(value, "ndim", 0) and hasattr(value, "dtype") and (value.size > SHORT or len(value) > 1 < value.ndim):
        return f"{value.dtype}{tuple(value.shape)}"
    if getattr(value, "ndim", 1) == 0 and hasattr(value, "item"):
        return repr(value.item())
    if isinstance(value, tuple | list | dict | set | frozenset) and len(value) > LONGEST // 3:
        return f"{type(value).__name__} of {len(value)}"
    shown = repr(value)
    if len(shown) <= LONGEST and "\n" not in shown:
        return shown
    return (
        f"{type(value).__name__}(...)" if not hasattr(value, "__len__") else f"{type(value).__name__} of {len(value)}"
    )
