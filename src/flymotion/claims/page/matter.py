"""What stands on the page, in the order in which it stands there: plain values that the template only lays out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from flymotion.brevity import in_brief
from flymotion.claims.judging import Judgement, Known, as_known, judge, stands
from flymotion.claims.page.captions import Caption, caption_of
from flymotion.claims.paper_figures import FIGURES, PaperFigure
from flymotion.claims.rows import Claim, verdicts
from flymotion.claims.sentences import SENTENCES
from flymotion.claims.verdict_page import HEADINGS, bound

__all__ = ["Contents", "Group", "contents", "shown"]

INSTEAD = "; instead: "
"""Between the title of a row and what a null is."""

MARKS = {"holds": "✓", "holds if": "◐", "fails": "✗", "not measured": "…", "reports": "·"}
"""Of a verdict, beside its colour."""


class Measured(NamedTuple):
    """A row that a sentence rests on."""

    id: str
    title: str
    value: str
    bound: str
    stands: bool


class Said(NamedTuple):
    """A sentence of the paper, and what measurement says of it."""

    quote: str
    place: str
    word: str
    condition: str
    comment: str
    measured: tuple[Measured, ...]


class Line(NamedTuple):
    """A row of a claim's table."""

    id: str
    title: str
    value: str
    bound: str
    seeds: int
    word: str
    note: str
    null: bool
    """Whether it stands beside the row before, as what knows less or is told more."""


@dataclass(frozen=True)
class Part:
    """A claim: its verdict, its measures and its figures."""

    id: str
    claim: str
    word: str
    lines: tuple[Line, ...]
    figures: tuple[str, ...]
    elsewhere: tuple[PaperFigure, ...]
    """Figures of the paper that belong to it."""

    __repr__ = in_brief

    @property
    def counted(self) -> str:
        """How many of its measures hold."""
        bounded = [line for line in self.lines if line.word in ("holds", "fails")]
        held = sum(line.word == "holds" for line in bounded)
        more = len(self.lines) - len(bounded)
        return f"{held} of {len(bounded)} bounds are met; {more} measures report, nulls among them"


@dataclass(frozen=True)
class Group:
    """Claims that were measured together: with what, in how many pieces and how long."""

    claims: tuple[str, ...]
    config: Any
    n_pieces: int
    seconds: float

    __repr__ = in_brief

    @property
    def settings(self) -> str:
        """Seeds and sizes in words."""
        return ", ".join(f"{each.name} {_plain(getattr(self.config, each.name))}" for each in fields(self.config))


@dataclass(frozen=True)
class Contents:
    """All that the page says.

    Parameters
    ----------
    rows : tuple of Claim
        What was measured.
    claims : mapping of str to str
        The claims that were asked for, in a few words each.
    drawn : mapping of str to str
        Figures as vectors, by their names.
    groups : tuple of Group
        What was measured together.
    size : str
        ``"quick"`` or ``"full"``.
    given : mapping of str to Any
        Settings instead of the groups' own.
    n_pieces, n_taken : int
        Pieces of work, and those that an earlier run had finished.
    complete : bool
        Whether all claims were measured.
    changed : tuple of str
        Where it is not as recorded.
    versions : mapping of str to str
        Of what computed it.
    date : str
        Of the run.
    """

    rows: tuple[Claim, ...]
    claims: Mapping[str, str]
    drawn: Mapping[str, str]
    groups: tuple[Group, ...]
    size: str
    given: Mapping[str, Any]
    n_pieces: int
    n_taken: int
    complete: bool
    changed: tuple[str, ...]
    versions: Mapping[str, str]
    date: str
    said: Mapping[str, tuple[Said, ...]] = field(default_factory=dict)
    """Sentences by verdict, failures first."""
    parts: tuple[Part, ...] = ()
    figures: tuple[PaperFigure, ...] = ()

    __repr__ = in_brief

    @property
    def counts(self) -> list[tuple[str, str, int]]:
        """Mark, verdict and number of sentences."""
        return [(MARKS[word], word, len(some)) for word, some in self.said.items()]

    @property
    def seconds(self) -> float:
        """Time of a processor that the pieces took."""
        return sum(group.seconds for group in self.groups)

    @property
    def seeds(self) -> tuple[int, int]:
        """Fewest and most seeds behind a row in which something is random."""
        seeds = [row.seeds for row in self.rows if row.seeds] or [0]
        return min(seeds), max(seeds)

    def caption(self, name: str) -> Caption:
        """Return what a figure shows."""
        return caption_of(name)

    def value(self, id: str) -> str | None:
        """Return what was measured by a row, None where it was not."""
        return next((shown(row) for row in self.rows if row.id == id), None)


def contents(rows: Sequence[Claim], drawn: Mapping[str, str], **about: Any) -> Contents:
    """Sort what was measured into what the page says; ``about`` is the rest of :class:`Contents`."""
    known = as_known(rows)
    judged = [judge(sentence, known) for sentence in SENTENCES]
    if not about["complete"]:
        judged = [each for each in judged if each.word != "not measured"]
    by_id = {row.id: row for row in rows}
    said = {word: tuple(_said(each, by_id, known) for each in judged if each.word == word) for word in HEADINGS}
    claims = {row.id.partition(".")[0] for row in rows}
    figures = tuple(each for each in FIGURES if drawn.keys() & set(each.drawn) and claims & set(each.claims))
    found = Contents(tuple(rows), drawn=drawn, said=said, figures=figures, **about)
    return _with_parts(found)


def _with_parts(found: Contents) -> Contents:
    papers = {name for figure in found.figures for name in figure.drawn}
    own: dict[str, list[str]] = {}
    for name in found.drawn:
        if name not in papers:
            asked = [id for id in caption_of(name).claims if id in found.claims]
            own.setdefault(asked[0] if asked else next(iter(found.claims)), []).append(name)
    parts = []
    for verdict in verdicts(found.rows, found.claims):
        lines = tuple(_line(row) for row in found.rows if row.id.partition(".")[0] == verdict.id)
        elsewhere = tuple(figure for figure in found.figures if verdict.id in figure.claims)
        word = {True: "holds", False: "fails", None: "reports"}[verdict.holds]
        parts.append(Part(verdict.id, verdict.claim, word, lines, tuple(own.get(verdict.id, ())), elsewhere))
    return replace(found, parts=tuple(parts))


def _said(found: Judgement, rows: Mapping[str, Claim], known: Mapping[str, Known]) -> Said:
    sentence, word = found
    specs = () if word == "not measured" else (*sentence.decided_by, *sentence.limited_by)
    place = f"Sec. {sentence.place}" if sentence.place[0].isdigit() else sentence.place
    place = f"Suppl. {place}" if len(place) < 4 else place
    condition = sentence.condition if word == "holds if" else f"waits for {sentence.waits_for}" if not specs else ""
    measured = tuple(_measured(spec, rows, known) for spec in specs)
    return Said(sentence.quote, place, word, condition, sentence.comment, measured)


def _measured(spec: str, rows: Mapping[str, Claim], known: Mapping[str, Known]) -> Measured:
    id, *own = spec.split()
    told = bound(rows[id])
    if own:  # a bound that the sentence gives, perhaps another row
        relation, least = own
        told = f"{relation} {shown(rows[least])} ({least})*" if least in rows else f"{relation} {least}*"
    return Measured(id, rows[id].title, shown(rows[id]), told, stands(spec, known))


def _line(row: Claim) -> Line:
    title, _, instead = row.title.partition(INSTEAD)
    word = {True: "holds", False: "fails", None: "reports"}[row.holds]
    return Line(row.id, instead or title, shown(row), bound(row), row.seeds, word, row.note, bool(instead))


def shown(row: Claim) -> str:
    """Return a row's value in four digits, with its unit."""
    value = row.value if row.value is not None else math.nan
    return f"{value:.4g}{' ' + row.unit if row.unit else ''}".replace("-", "−", value < 0)


def _plain(value: Any) -> str:
    if isinstance(value, float | int | str | bool):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return f"({', '.join(map(_plain, value))})"
    return repr(value)
