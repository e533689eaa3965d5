"""A row and the nulls that it stands beside, so that it says itself whether its bound means anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, Statistic, Values, report

__all__ = ["Null", "beside", "nulls_by"]

COUNTED = {np.min: "least", np.max: "largest", np.mean: "mean", np.median: "median"}
"""How titles call the one that counts."""


class Null(NamedTuple):
    """What knows less, or is told more, and what came of it."""

    name: str
    """In words, for instance ``"random filters"``."""
    values: Values
    """As of the row."""
    worst: Statistic = np.max
    """Which of them counts."""
    note: str = ""
    seeds: int | None = None
    """Where the values do not tell, as of the row."""


def nulls_by(
    measure: Callable[[Any], Values], found: Mapping[str, Any], worst: Statistic, names: Mapping[str, str] = NULLS
) -> dict[str, Null]:
    """Measure each null of those named, by the suffix of its row; ``found`` has what it is, by the same."""
    return {suffix: Null(name, measure(found[suffix]), worst) for suffix, name in names.items()}


def beside(row: Claim, **nulls: Null) -> Iterator[Claim]:
    """Yield a row, whose note tells which nulls meet the bound, too; then a report of each null.

    Parameters
    ----------
    row : Claim
        With or without a bound.
    **nulls : Null
        By the suffix of their rows: ``random`` for ``_random``.

    Examples
    --------
    >>> from flymotion.claims.rows import above
    >>> row, null = beside(above("C0.a", "share", 0.9, 0.8), random=Null("random filters", 0.1))
    >>> row.note, null.title
    ('not within the bound: random filters (0.1)', 'share; instead: random filters, largest')
    """
    rows = [
        report(
            f"{row.id}_{suffix}",
            f"{row.title}; instead: {', '.join(filter(None, (null.name, COUNTED.get(null.worst))))}",
            null.values,
            worst=null.worst,
            unit=row.unit,
            note=null.note,
            seeds=null.seeds,
        )
        for suffix, null in nulls.items()
    ]
    told: dict[str, list[str]] = {}
    for null, each in zip(nulls.values(), rows, strict=True):
        told.setdefault(_stands(row, each.value), []).append(f"{null.name} ({each.value:.4g})")
    parts = [f"{how}: {', '.join(some)}" for how, some in sorted(told.items(), reverse=True)]
    yield replace(row, note="; ".join(filter(None, [row.note, *parts])))
    yield from rows


def _stands(row: Claim, value: float) -> str:
    """Say how a null's value stands to the bound of a row."""
    if row.least is None:
        return "beside it"
    low, high = row.least if isinstance(row.least, tuple) else (row.least, row.least)
    met = {">": value > low, "<": value < high, "within": low <= value <= high}[row.relation]
    return "within the bound, too" if met else "not within the bound"
