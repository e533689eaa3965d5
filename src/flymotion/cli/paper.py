"""``flymotion reproduce``: the paper's claims."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flymotion.cli.common import figure, one_line_errors, progress_bar, table

if TYPE_CHECKING:
    from flymotion.claims import Claim

__all__ = ["reproduce"]

VERDICTS = {True: "holds", False: "FAILS", None: "report"}
"""What is said of a claim."""

STYLES = {"holds": "green", "FAILS": "bold red", "report": "dim"}


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--full", is_flag=True, help="Every claim at the seeds and sizes it names, instead of the quick size.")
@click.option("--seeds", "n_seeds", type=click.IntRange(min=1), help="Number of seeds, instead of the claim's own.")
@click.option(
    "--video", "videos", multiple=True, metavar="VIDEO", help="What C30 learns from; by default it makes some."
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="flymotion-results", show_default=True)
@click.option("-v", "--verbose", is_flag=True, help="Print every measure, not one line a claim.")
def reproduce(
    ids: tuple[str, ...], full: bool, n_seeds: int | None, videos: tuple[str, ...], out: Path, verbose: bool
) -> None:
    """Re-measure the paper's claims (all, or IDs such as C1 C28) and draw its figures.

    Writes claims.json, every measure, and figures as PNG into the folder OUT. Exit status 1 when a claim misses its
    bound.
    """
    from flymotion import claims

    settings: dict[str, Any] = {name: value for name, value in {"n_seeds": n_seeds, "videos": videos}.items() if value}
    with one_line_errors(), progress_bar("reproducing") as progress:
        rows = claims.reproduce(list(ids) or None, full=full, out=out, progress=progress, **settings)
    (_print_rows if verbose else _print_verdicts)(rows)
    click.echo(f"{out / 'claims.json'} and figures in {out}")
    if failed := [row.id for row in rows if row.holds is False]:
        click.echo(f"{len(failed)} measure(s) miss their bound: {', '.join(failed)}", err=True)
        sys.exit(1)


def _print_verdicts(rows: Sequence[Claim]) -> None:
    """Print a line a claim: what is claimed, and the measure that comes closest to its bound."""
    from flymotion.claims import known_claims, verdicts

    found = [(each, each.row.id.partition(".")[2], each.row) for each in verdicts(rows, known_claims())]
    lines = [[v.id, v.claim, measure, figure(row.value), _bound(row), VERDICTS[v.holds]] for v, measure, row in found]
    columns = [("", "left"), ("claim", "left"), ("closest measure", "left"), ("value", "right"), ("bound", "right")]
    table([*columns, ("", "left")], lines, STYLES)


def _print_rows(rows: Sequence[Claim]) -> None:
    """Print a line a measure."""
    lines = [[c.id, c.title, figure(c.value), _bound(c), str(c.seeds), VERDICTS[c.holds]] for c in rows]
    columns = [("measure", "left"), ("what", "left"), ("value", "right"), ("bound", "right"), ("seeds", "right")]
    table([*columns, ("", "left")], lines, STYLES)


def _bound(claim: Claim) -> str:
    if claim.least is None:
        return ""
    if not isinstance(claim.least, list | tuple):
        return f"{claim.relation} {figure(claim.least)}"
    low, high = claim.least
    if low == high:
        return f"= {figure(low)}"
    shown = figure if figure(low) != figure(high) else "{:.10g}".format
    return f"{claim.relation} {shown(low)} .. {shown(high)}"
