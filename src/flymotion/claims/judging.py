"""The verdict: what measured rows say of the paper's sentences, and whether it is what was said before.

A sentence *holds* where all rows that decide it stand, *holds if* what it says where they stand but some that limit it
do not, and *fails* where one that decides does not. Rows decide by their own bound, or by one that the sentence gives.

``recorded.json`` keeps, for the quick and for the full size, the value of each row and whether it held; what a run
finds is compared with it, so that a known failure is no error, and a change is.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from flymotion.claims.rows import Claim

__all__ = ["Judgement", "Known", "Sentence", "as_known", "differences", "judge", "recorded", "stands"]

RELATIONS = {">": operator.gt, "<": operator.lt}

SIZES = {False: "quick", True: "full"}


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper that says something measurable.

    Parameters
    ----------
    quote : str
        Its words, shortened.
    place : str
        Where it stands, for instance ``"2.5"`` or ``"D.1"``.
    decided_by : tuple of str
        Rows that must stand: ids, or an id with a bound, ``"C1.second < 0.5"``, which may be another row's value.
    limited_by : tuple of str
        Rows of the same kind; where one does not stand, the sentence holds with a condition.
    condition : str
        What it then holds for, to be read after "if".
    waits_for : str
        What will measure it, where nothing does yet.
    comment : str
        What a reader has to know beside the figures.
    """

    quote: str
    place: str
    decided_by: tuple[str, ...] = ()
    limited_by: tuple[str, ...] = ()
    condition: str = ""
    waits_for: str = ""
    comment: str = ""

    @property
    def rows(self) -> list[str]:
        """Ids of the rows that it rests on."""
        words = [word for spec in (*self.decided_by, *self.limited_by) for word in spec.split()]
        return [word for word in words if word.startswith("C")]


class Known(NamedTuple):
    """What is known of a row."""

    value: float
    holds: bool | None


class Judgement(NamedTuple):
    """What is said of a sentence."""

    sentence: Sentence
    word: str
    """``"holds"``, ``"holds if"``, ``"fails"`` or ``"not measured"``."""


def as_known(rows: Iterable[Claim]) -> dict[str, Known]:
    """Return what rows say, by their ids."""
    return {row.id: Known(row.value, row.holds) for row in rows}


def judge(sentence: Sentence, known: Mapping[str, Known]) -> Judgement:
    """Say what rows make of a sentence; where one that it rests on is missing it is not measured."""
    if not sentence.rows or not known.keys() >= set(sentence.rows):
        return Judgement(sentence, "not measured")
    if not all(stands(spec, known) for spec in sentence.decided_by):
        return Judgement(sentence, "fails")
    limited = not all(stands(spec, known) for spec in sentence.limited_by)
    return Judgement(sentence, "holds if" if limited else "holds")


def stands(spec: str, known: Mapping[str, Known]) -> bool:
    """Return whether a row stands, by its own bound or by that which a sentence gives."""
    id, *bound = spec.split()
    if bound:
        relation, least = bound
        return RELATIONS[relation](known[id].value, known[least].value if least in known else float(least))
    return bool(known[id].holds)


def recorded(*, full: bool) -> dict[str, Known]:
    """Return what is on record of each row, at the quick size or the full one.

    Examples
    --------
    >>> recorded(full=True)["C2.seeds"]  # of 200
    Known(value=200.0, holds=True)
    """
    text = files(__package__).joinpath("recorded.json").read_text(encoding="utf-8")
    rows = json.loads(text)[SIZES[full]]
    return {id: Known(*row) for id, row in rows.items()}


def differences(rows: Sequence[Claim], sentences: Iterable[Sentence], before: Mapping[str, Known]) -> list[str]:
    """Say where the rows of some claims say something else than is on record of these claims.

    Parameters
    ----------
    rows : sequence of Claim
        All rows of some claims.
    sentences : iterable of Sentence
        What they are held against.
    before : mapping of str to Known
        What is on record.

    Returns
    -------
    list of str
        A line a row that holds or fails as it did not, is new or is gone; and a line a sentence of which another
        thing is to be said.

    Examples
    --------
    >>> from flymotion.claims.rows import below
    >>> row = below("C2.cos", "cosine", [-0.8], -0.9)
    >>> differences([row], [], {"C2.cos": Known(-0.97, True)})
    ['C2.cos holds, and now fails']
    """
    now = as_known(rows)
    claims = {_claim(id) for id in now}
    before = {id: row for id, row in before.items() if _claim(id) in claims}
    lines = [f"{id} {_said(before.get(id))}, and now {_said(now.get(id))}" for id in _of_another_verdict(now, before)]
    for sentence in sentences:
        then, found = (judge(sentence, known).word for known in (before, now))
        if then != found and "not measured" not in (then, found):
            lines.append(f"“{sentence.quote}” was recorded with “{then}”, and now “{found}”")
    return lines


def _of_another_verdict(now: Mapping[str, Known], before: Mapping[str, Known]) -> list[str]:
    """Return the ids of rows that are new, gone, or hold as they did not, in the order of both."""
    ids = dict.fromkeys([*before, *now])
    return [id for id in ids if id not in now or id not in before or now[id].holds != before[id].holds]


def _said(known: Known | None) -> str:
    return "is not on record" if known is None else {True: "holds", False: "fails", None: "reports"}[known.holds]


def _claim(id: str) -> str:
    return id.partition(".")[0]
