"""The verdict as a page of Markdown: each sentence of the paper, what measurement says of it, and by which rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flymotion.claims.judging import Judgement, Known, Sentence, as_known, judge, stands
from flymotion.claims.paper_figures import PaperFigure
from flymotion.claims.rows import Claim

__all__ = ["bound", "verdict_page"]

HEADINGS = {
    "fails": "What fails",
    "holds if": "What holds with a condition",
    "holds": "What holds",
    "not measured": "What is not measured yet",
}

OWN = "A bound with an asterisk is this page's: claims give none there."


def verdict_page(
    rows: Sequence[Claim],
    sentences: Iterable[Sentence],
    figures: Iterable[PaperFigure],
    how: str,
    *,
    all_claims: bool = True,
) -> str:
    """Write the page.

    Parameters
    ----------
    rows : sequence of Claim
        What was measured.
    sentences : iterable of Sentence
        In the order of the paper.
    figures : iterable of PaperFigure
        Each figure of the paper, and what remakes it.
    how : str
        How the rows were measured, in a sentence.
    all_claims : bool
        Whether all claims were measured; otherwise sentences that need others, and the figures, are left out.

    Returns
    -------
    str
        Markdown: failures first, in each part the order of the paper.
    """
    known = as_known(rows)
    found = [each for sentence in sentences if (each := judge(sentence, known)).word != "not measured" or all_claims]
    by_id = {row.id: row for row in rows}
    parts = ["# The verdict", f"{_counts(found)}. {how}", OWN]
    for word, heading in HEADINGS.items():
        if some := [each for each in found if each.word == word]:
            parts += [f"## {heading}", _table(some, by_id)]
    if missed := [row for row in rows if row.holds is False]:
        parts += ["## Measures that miss their bound", _misses(missed)]
    if all_claims:
        parts += [
            "## The paper's figures",
            _lines(["figure", "what remakes it"], [(each.name, str(each)) for each in figures]),
        ]
    return "\n\n".join(parts) + "\n"


def _counts(found: Sequence[Judgement]) -> str:
    counted = {word: sum(each.word == word for each in found) for word in HEADINGS}
    words = {"fails": "fail", "holds if": "hold with a condition", "holds": "hold", "not measured": "not measured yet"}
    told = ", ".join(f"{counted[word]} {words[word]}" for word in words)
    return f"Sentences of the paper that say something measurable: {told}"


def _table(found: Iterable[Judgement], rows: Mapping[str, Claim]) -> str:
    lines = [(_placed(s.place), f"“{s.quote}”", _said(word, s), _seen(word, s, rows)) for s, word in found]
    return _lines(["place", "sentence", "verdict", "measured"], lines)


def _placed(place: str) -> str:
    return f"Sec. {place}" if place[0].isdigit() else f"Suppl. {place}" if len(place) < 4 else place


def _said(word: str, sentence: Sentence) -> str:
    said = f"**{word}** {sentence.condition}" if word == "holds if" else f"**{word}**"
    if word == "not measured":
        said = f"not yet: {sentence.waits_for}"
    return f"{said}; {sentence.comment}" if sentence.comment else said


def _seen(word: str, sentence: Sentence, rows: Mapping[str, Claim]) -> str:
    known = as_known(rows.values())
    specs = () if word == "not measured" else (*sentence.decided_by, *sentence.limited_by)
    return "; ".join(_row(spec, rows, known) for spec in specs)


def _row(spec: str, rows: Mapping[str, Claim], known: Mapping[str, Known]) -> str:
    id, *own = spec.split()
    told = f"{_bound_told(own, rows)}*" if own else bound(rows[id])
    return f"`{id}` {_value(rows[id])} ({told if stands(spec, known) else f'not {told}'})"


def _bound_told(own: Sequence[str], rows: Mapping[str, Claim]) -> str:
    """Return a bound that the sentence gives, in words."""
    relation, least = own
    return f"{relation} {_value(rows[least])}, `{least}`" if least in rows else f"{relation} {least}"


def _value(row: Claim) -> str:
    return f"{row.value:.4g}{' ' + row.unit if row.unit else ''}"


def bound(row: Claim) -> str:
    """Return the bound of a row in words, empty where it only reports."""
    if row.least is None:
        return ""
    if not isinstance(row.least, list | tuple):
        return f"{row.relation} {row.least:.4g}"
    low, high = row.least
    if low == high:
        return f"= {low:.4g}"
    shown = "{:.4g}".format if f"{low:.4g}" != f"{high:.4g}" else "{:.10g}".format
    return f"{row.relation} {shown(low)} .. {shown(high)}"


def _misses(rows: Iterable[Claim]) -> str:
    cells = [(f"`{row.id}`", row.title, _value(row), bound(row), row.note) for row in rows]
    return _lines(["measure", "what", "value", "bound", "note"], cells)


def _lines(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [columns, ["---"] * len(columns), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)
