"""``flymotion reproduce``: the paper's claims."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flymotion.cli import known_names
from flymotion.cli.common import figure, one_line_errors, say_json, table
from flymotion.cli.ending import complain, note
from flymotion.cli.options import json_option, offering, out_option, seeds_option
from flymotion.cli.waiting import progress_bar

if TYPE_CHECKING:
    from flymotion.claims import Claim

__all__ = ["reproduce"]

VERDICTS = {True: "holds", False: "FAILS", None: "report"}
"""What is said of a claim."""

STYLES = {"holds": "green", "FAILS": "bold red", "report": "dim"}


@click.command(short_help="Measure the paper's claims anew, and draw its figures.")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=offering(known_names.claims))
@click.option("--full", is_flag=True, help="Every claim at the seeds and sizes it names, instead of the quick size.")
@seeds_option
@click.option(
    "--video",
    "videos",
    multiple=True,
    metavar="SOURCE",
    shell_complete=offering(tuple, files=True),
    help="What C30 learns from; may be given again. By default it makes some.",
)
@out_option("flymotion-results")
@json_option
@click.option("-v", "--verbose", is_flag=True, help="Print every measure, not one line a claim.")
@click.option("--list", "listed", is_flag=True, help="Print the claims, and measure nothing.")
def reproduce(
    ids: tuple[str, ...], full: bool, out: Path, json: bool, verbose: bool, listed: bool, **given: Any
) -> None:
    """Re-measure the paper's claims (all, or IDs such as C1 C28) and draw its figures.

    Writes index.html, the report, a page that needs nothing beside it, claims.json, every measure, verdict.md, what
    they say of the paper's sentences, and figures as PNG with their data as netCDF into the folder OUT; figures of an
    earlier run there go. What fails is printed first. Exit status 0 whatever holds, and 1 where it is not as recorded
    for this size (docs/verdict.md): a known failure is no error, a change is. Ctrl-C ends it; the claims that were
    finished are put into OUT/unfinished, and the same command goes on where it stopped.
    """
    from flymotion import claims

    if listed and json:
        return say_json([{"id": id, "claim": words} for id, words in claims.known_claims().items()])
    if listed:
        table([("", "left"), ("claim", "left")], [list(claim) for claim in claims.known_claims().items()])
        return
    settings = {name: value for name, value in given.items() if value}
    show = _print_json if json else _print_rows if verbose else _print_verdicts
    try:
        with one_line_errors(), progress_bar("reproducing") as progress:
            rows = claims.reproduce(list(ids) or None, full=full, out=out, progress=progress, tell=complain, **settings)
    except claims.Interrupted as error:
        show(error.rows)
        raise
    show(rows)
    note(f"{out / 'index.html'}, the report; {out / 'claims.json'}, {out / 'verdict.md'} and figures with their data")
    if settings:  # of other seeds and videos nothing is on record
        return
    if changed := claims.differences(rows, claims.SENTENCES, claims.recorded(full=full)):
        complain("\n".join(["not as recorded:", *changed]))
        sys.exit(1)


def _print_json(rows: Sequence[Claim]) -> None:
    """Print every measure; whether it holds is null of what is only reported."""
    names = ("id", "title", "value", "unit", "relation", "least", "seeds", "holds", "note")
    say_json([{name: getattr(row, name) for name in names} for row in rows])


def _print_verdicts(rows: Sequence[Claim]) -> None:
    """Print a line a claim, failures first: what is claimed, and the measure that comes closest to its bound."""
    from flymotion.claims import known_claims, verdicts
    from flymotion.claims.verdict_page import bound

    found = [(each, each.row.id.partition(".")[2], each.row) for each in verdicts(rows, known_claims())]
    found.sort(key=lambda claim: claim[0].holds is not False)
    lines = [[v.id, v.claim, measure, figure(row.value), bound(row), VERDICTS[v.holds]] for v, measure, row in found]
    columns = [("", "left"), ("claim", "left"), ("closest measure", "left"), ("value", "right"), ("bound", "right")]
    table([*columns, ("", "left")], lines, STYLES)


def _print_rows(rows: Sequence[Claim]) -> None:
    """Print a line a measure, those that miss their bound first."""
    from flymotion.claims.verdict_page import bound

    rows = sorted(rows, key=lambda row: row.holds is not False)
    lines = [[c.id, c.title, figure(c.value), bound(c), str(c.seeds), VERDICTS[c.holds]] for c in rows]
    columns = [("measure", "left"), ("what", "left"), ("value", "right"), ("bound", "right"), ("seeds", "right")]
    table([*columns, ("", "left")], lines, STYLES)
