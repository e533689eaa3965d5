"""Claims: statements with a measured value, the least that counts, and whether it holds.

One row of ``claims.json`` a measure. ``holds`` is null where a row only reports.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Claim", "above", "all_of", "below", "report", "within", "write"]


@dataclass(frozen=True)
class Claim:
    """One measure.

    Parameters
    ----------
    id : str
        Claim and measure, for instance ``"C2.cos"``.
    title : str
        What was measured, in words.
    value : float
        What came out; of several seeds the worst, unless the title says otherwise.
    unit : str
        Unit of the value, empty for a pure number.
    relation : {">", "<", "within", "report"}
        How the value has to stand to ``least``; "within" is inclusive.
    least : float, (float, float) or None
        Bound; for "within" the lowest and highest value; None where the row only reports.
    seeds : int
        Independent random repetitions behind the value; 0 where nothing is random.
    holds : bool or None
        Whether it stands so; None where the row only reports.
    note : str
        World, numbers and settings.
    """

    id: str
    title: str
    value: float
    unit: str
    relation: str
    least: float | tuple[float, float] | None
    seeds: int
    holds: bool | None
    note: str = ""


def above(id: str, title: str, value: float, least: float, *, seeds: int, unit: str = "", note: str = "") -> Claim:
    """Make a claim that a value is greater than a bound."""
    return Claim(id, title, float(value), unit, ">", float(least), seeds, bool(value > least), note)


def below(id: str, title: str, value: float, least: float, *, seeds: int, unit: str = "", note: str = "") -> Claim:
    """Make a claim that a value is smaller than a bound."""
    return Claim(id, title, float(value), unit, "<", float(least), seeds, bool(value < least), note)


def within(
    id: str, title: str, value: float, low: float, high: float, *, seeds: int, unit: str = "", note: str = ""
) -> Claim:
    """Make a claim that a value lies from ``low`` to ``high``."""
    holds = bool(low <= value <= high)
    return Claim(id, title, float(value), unit, "within", (float(low), float(high)), seeds, holds, note)


def all_of(id: str, title: str, successes: Sequence[bool], *, seeds: int, unit: str = "seeds", note: str = "") -> Claim:
    """Make a claim that every one of some trials succeeds; the value is how many did."""
    total = len(successes)
    return within(id, title, sum(map(bool, successes)), total, total, seeds=seeds, unit=unit, note=note)


def report(id: str, title: str, value: float, *, seeds: int, unit: str = "", note: str = "") -> Claim:
    """Make a row that has no bound."""
    return Claim(id, title, float(value), unit, "report", None, seeds, None, note)


def write(claims: Sequence[Claim], path: Path) -> None:
    """Write claims as a JSON list of rows; a value that is not finite becomes null, and its claim does not hold."""
    rows = [asdict(claim) for claim in claims]
    for row in rows:
        if not math.isfinite(row["value"]):
            row["value"] = None
    path.write_text(json.dumps(rows, indent=1, allow_nan=False, ensure_ascii=False) + "\n", encoding="utf-8")
