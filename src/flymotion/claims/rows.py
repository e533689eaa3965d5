"""Claims: statements with a measured value, the least that counts, and whether it holds.

One row of ``claims.json`` a measure. ``holds`` is null where a row only reports.

Values are given as they were found: a number where nothing is random; an array, seeds along its first axis, of which
the worst counts; or such by the name of a world, which the note then tells apart. So a row knows itself how many seeds
are behind it, and which end of them is the worst: the smallest of what has to be large.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.writing import whole

__all__ = ["Claim", "Verdict", "above", "all_of", "below", "report", "verdicts", "within", "write"]

Values = Any
"""A number, an array with an axis of seeds first, or such by the name of a world."""

Statistic = Callable[[Any], Any]
"""Makes one number of many: ``np.min``, ``np.max``, ``np.mean``, ``np.median``."""


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

    Examples
    --------
    >>> row = below("C2.cos", "cosine of the two filters", [-0.97, -0.95, -0.98], -0.9)
    >>> row.value, row.relation, row.least, row.holds, round(row.margin, 2)
    (-0.95, '<', -0.9, True, 0.06)
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

    @property
    def margin(self) -> float:
        """How far inside its bound the value is, relative to the bound; negative outside, NaN where it only reports.

        A count of which all are asked for has no room inside: where it holds, it is as far inside as can be.
        """
        if self.least is None:
            return math.nan
        low, high = self.least if isinstance(self.least, tuple) else (self.least, self.least)
        if self.relation == "within" and self.value == low == high:
            return math.inf
        inside = {
            ">": self.value - low,
            "<": high - self.value,
            "within": min(self.value - low, high - self.value),
        }[self.relation]
        return -math.inf if math.isnan(inside) else inside / (max(abs(low), abs(high)) or 1.0)


def report(
    id: str,
    title: str,
    values: Values,
    *,
    worst: Statistic = np.squeeze,
    seeds: int | None = None,
    unit: str = "",
    note: str = "",
) -> Claim:
    """Make a row that has no bound; of more than one value it has to be told which counts (``worst``)."""
    value, n, note = _summed_up(values, worst, seeds, note)
    return Claim(id, title, value, unit, "report", None, n, None, note)


def above(id: str, title: str, values: Values, least: float, *, worst: Statistic = np.min, **how: Any) -> Claim:
    """Make a claim that values, at worst the smallest, are greater than a bound; ``how`` is as for a report."""
    row = report(id, title, values, worst=worst, **how)
    return replace(row, relation=">", least=float(least), holds=bool(row.value > least))


def below(id: str, title: str, values: Values, least: float, *, worst: Statistic = np.max, **how: Any) -> Claim:
    """Make a claim that values, at worst the largest, are smaller than a bound; ``how`` is as for a report."""
    row = report(id, title, values, worst=worst, **how)
    return replace(row, relation="<", least=float(least), holds=bool(row.value < least))


def within(
    id: str, title: str, values: Values, low: float, high: float, *, target: float | None = None, **how: Any
) -> Claim:
    """Make a claim that values lie from ``low`` to ``high``; of many the farthest from the target, or the middle."""
    middle = (low + high) / 2 if target is None else target

    def farthest(found: Any) -> float:
        found = np.asarray(found, dtype=float).ravel()
        return found[np.abs(found - middle).argmax()]

    row = report(id, title, values, worst=farthest, **how)
    bounds = float(low), float(high)
    return replace(row, relation="within", least=bounds, holds=bool(low <= row.value <= high))


def all_of(id: str, title: str, successes: Values, *, unit: str = "seeds", note: str = "") -> Claim:
    """Make a claim that every one of some trials succeeds; the value is how many did."""
    parts = list(successes.values()) if isinstance(successes, Mapping) else [successes]
    together = np.concatenate([np.ravel(part) for part in parts])
    n, total = len(np.atleast_1d(parts[0])), len(together)
    return within(id, title, together.sum(), total, total, seeds=n, unit=unit, note=note)


def _summed_up(values: Values, worst: Statistic, seeds: int | None, note: str) -> tuple[float, int, str]:
    """Return the one value that counts, how many seeds are behind it, and the note, with the value of each world."""
    if not isinstance(values, Mapping):
        return float(worst(values)), _n_seeds(values) if seeds is None else seeds, note
    by = {name: float(worst(found)) for name, found in values.items()}
    n = max(map(_n_seeds, values.values())) if seeds is None else seeds
    told = ", ".join(f"{name} {value:.4g}" for name, value in by.items())
    return float(worst(list(by.values()))), n, f"{told}; {note}" if note else told


def _n_seeds(values: Any) -> int:
    return len(values) if np.ndim(values) else 0


@dataclass(frozen=True)
class Verdict:
    """One claim, in a line.

    Parameters
    ----------
    id : str
        Claim, for instance ``"C2"``.
    claim : str
        What is claimed, in a few words.
    row : Claim
        The measure that is least far inside its bound, or most outside; where all only report, the first.
    holds : bool or None
        Whether all measures hold; None where all only report.

    Examples
    --------
    >>> rows = [below("C2.cos", "cosine", [-0.97], -0.9), above("C2.accuracy", "accuracy", [0.85], 0.9)]
    >>> verdict, = verdicts(rows, {"C2": "two units are opposite"})
    >>> verdict.holds, verdict.row.id
    (False, 'C2.accuracy')
    """

    id: str
    claim: str
    row: Claim
    holds: bool | None


def verdicts(rows: Sequence[Claim], claims: Mapping[str, str]) -> list[Verdict]:
    """Sum the rows of each claim up, in the order of the rows; ``claims`` says each in a few words.

    Examples
    --------
    >>> rows = [below("C2.cos", "cosine", [-0.97], -0.9), below("C3.error", "error", [0.2], 0.1)]
    >>> [(verdict.id, verdict.holds) for verdict in verdicts(rows, {"C2": "opposite", "C3": "the same everywhere"})]
    [('C2', True), ('C3', False)]
    """
    by: dict[str, list[Claim]] = {}
    for row in rows:
        by.setdefault(row.id.partition(".")[0], []).append(row)
    found = []
    for id, measures in by.items():
        bounded = [row for row in measures if row.holds is not None]
        worst = min(bounded, key=lambda row: row.margin) if bounded else measures[0]
        found.append(Verdict(id, claims[id], worst, all(row.holds for row in bounded) if bounded else None))
    return found


def write(rows: Iterable[Claim], path: Path) -> None:
    """Write claims as a JSON list of rows; a value that is not finite becomes null, and its claim does not hold."""
    plain = [asdict(row) for row in rows]
    for row in plain:
        if not math.isfinite(row["value"]):
            row["value"] = None
    text = json.dumps(plain, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    with whole(path) as place:  # of names that are no Unicode, bytes are escaped as JSON has it
        place.write_text(text, encoding="utf-8", errors="backslashreplace")
