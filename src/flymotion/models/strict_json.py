"""JSON from files that may be hostile: no name twice, no numbers out of all bounds, nothing deep."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["MOST_TEXT", "parsed", "written"]

MOST_TEXT = 2**21
"""Bytes of the longest text that is read."""

MOST_BRACKETS = 2**16
"""Lists and dicts in it: empty ones take most memory for their text."""

MOST_DIGITS = 100
"""Digits of the longest whole number."""


def parsed(text: bytes) -> Any:
    """Return what a text in JSON holds.

    Raises
    ------
    ValueError
        Text that is no JSON, or none that this package writes.
    """
    n_brackets = text.count(b"[") + text.count(b"{")
    if len(text) > MOST_TEXT or n_brackets > MOST_BRACKETS:
        raise ValueError(f"{len(text)} bytes of JSON with {n_brackets} brackets; expected fewer")
    try:
        return json.loads(
            text.decode(),
            object_pairs_hook=_names_once,
            parse_int=_whole,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except RecursionError as error:
        raise ValueError("JSON in too many layers") from error


def written(value: Any) -> str:
    """Return JSON of numbers, text, truth values, None, and of lists and dicts of them.

    Raises
    ------
    ValueError
        Numbers that are not finite, or anything else.
    """
    return json.dumps(value, allow_nan=False, default=_plain)


def _names_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("JSON with a name given twice")
    return found


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number that is not finite")
    return value


def _plain(value: Any) -> Any:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    raise ValueError(f"not {type(value).__name__}")
