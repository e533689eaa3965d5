"""``flymotion reproduce``: the paper's claims."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from flymotion.cli.common import figure, one_line_errors, progress_bar, table

__all__ = ["reproduce"]


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--full", is_flag=True, help="Every claim at the seeds and sizes it names, instead of the quick size.")
@click.option("--seeds", type=click.IntRange(min=1), help="Number of seeds, instead of the claim's own.")
@click.option(
    "--video", "videos", multiple=True, metavar="VIDEO", help="What C30 learns from; by default it makes some."
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="flymotion-results", show_default=True)
def reproduce(ids: tuple[str, ...], full: bool, seeds: int | None, videos: tuple[str, ...], out: Path) -> None:
    """Re-measure the paper's claims (all, or IDs such as C1 C28) and draw its figures.

    Writes claims.json and figures as PNG into the folder OUT. Exit status 1 when a claim misses its bound.
    """
    from flymotion.claims import reproduce as measure

    with one_line_errors(), progress_bar("reproducing") as progress:
        claims = measure(list(ids) or None, full=full, n_seeds=seeds, videos=videos, out=out, progress=progress)
    verdict = {True: "holds", False: "FAILS", None: "report"}
    table(
        [
            ("claim", "left"),
            ("measure", "left"),
            ("value", "right"),
            ("bound", "right"),
            ("seeds", "right"),
            ("", "left"),
        ],
        [[c.id, c.title, figure(c.value), _bound(c), str(c.seeds), verdict[c.holds]] for c in claims],
    )
    click.echo(f"{out / 'claims.json'} and figures in {out}")
    if failed := [c.id for c in claims if c.holds is False]:
        click.echo(f"{len(failed)} claim(s) miss their bound: {', '.join(failed)}", err=True)
        sys.exit(1)


def _bound(claim: Any) -> str:
    if claim.holds is None:
        return ""
    least = claim.least if isinstance(claim.least, list | tuple) else [claim.least]
    return f"{claim.relation} {' .. '.join(figure(x) for x in least)}"
