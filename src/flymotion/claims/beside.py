"""A row and the nulls that it stands beside, so that it says itself whether its bound means anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from flymotion.claims.rows import Claim, Statistic, Values, report

__all__ = ["Null", "beside"]


class Null(NamedTuple):
    """What knows less, or is told more, and what came of it."""

    name: str
    """In words, for instance ``"random filters"``."""
    values: Values
    """As of the row."""
    worst: Statistic = np.max
    """Which of them counts."""
    note: str = ""
    bounded: bool = True
    """Whether it is held against the row's bound; what is told more than a learner is not."""


def beside(row: Claim, **nulls: Null) -> Iterator[Claim]:
    """Yield a row, whose note tells each null and whether it meets the bound, too; then a report of each null.

    Parameters
    ----------
    row : Claim
        With or without a bound.
    **nulls : Null
        By the suffix of their rows: ``random`` for ``_random``.

    Examples
    --------
    >>> from flymotion.claims.rows import above
    >>> [row.note for row in beside(above("C0.a", "share", 0.9, 0.8), random=Null("random filters", 0.1))]
    ['random filters: 0.1, not within the bound', '']
    """
    rows = [
        report(
            f"{row.id}_{suffix}",
            f"{row.title}: {null.name}",
            null.values,
            worst=null.worst,
            unit=row.unit,
            note=null.note,
        )
        for suffix, null in nulls.items()
    ]
    told = [
        f"{null.name}: {_told(row, each.value) if null.bounded else f'{each.value:.4g}'}"
        for null, each in zip(nulls.values(), rows, strict=True)
    ]
    yield replace(row, note="; ".join(filter(None, [row.note, *told])))
    yield from rows


def _told(row: Claim, value: float) -> str:
    if row.least is None:
        return f"{value:.4g}"
    low, high = row.least if isinstance(row.least, tuple) else (row.least, row.least)
    met = {">": value > low, "<": value < high, "within": low <= value <= high}[row.relation]
    return f"{value:.4g}, {'which meets the bound, too' if met else 'not within the bound'}"
