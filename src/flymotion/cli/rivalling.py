"""``flymotion rivals``: learners of every kind in every world."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flymotion.cli.common import one_line_errors, out_option, progress_bar, table
from flymotion.cli.ending import say

if TYPE_CHECKING:
    from flymotion.contest import Contest

__all__ = ["rivals"]


def _split(context: click.Context, option: click.Parameter, given: Sequence[str]) -> list[str] | None:
    names = [name.strip() for text in given for name in text.split(",")]
    return [name for name in names if name] if given else None


@click.command()
@click.option(
    "--worlds", multiple=True, callback=_split, help="Some of the worlds, with commas between. All by default."
)
@click.option(
    "--learners",
    multiple=True,
    callback=_split,
    help="Some of the learners, with commas between; of a feature: nsm:antisymmetric. All by default.",
)
@click.option("--seeds", "n_seeds", type=click.IntRange(min=1), help="Number of seeds.")
@click.option("--full", is_flag=True, help="More pairs, seeds and noise: up to half an hour instead of minutes.")
@out_option("flymotion-rivals")
@click.option("--list", "listed", is_flag=True, help="Print the learners and worlds with their sources, and no more.")
def rivals(
    worlds: list[str] | None, learners: list[str] | None, n_seeds: int | None, full: bool, out: Path, listed: bool
) -> None:
    """Let learners of motion compete: ours, others' and nulls, in every world, from few pairs and from many.

    Writes rivals.json, every measure, which is the same in every run, timings.json, which is not, rivals.md, the
    tables, and rivals.png, one sheet of figures, into the folder OUT. Prints the share of new pairs whose motion is
    named right. Ctrl-C ends it; the worlds that were finished are put into OUT/unfinished.
    """
    from flymotion import contest

    if listed:
        _list()
        return
    settings = {} if n_seeds is None else {"n_seeds": n_seeds}
    try:
        with one_line_errors(), progress_bar("competing") as progress:
            found = contest.compete(worlds, learners, full=full, out=out, progress=progress, **settings)
    except contest.Unfinished as error:
        _show(error.contest)
        raise
    _show(found)
    say(f"{out / 'rivals.json'}, {out / 'timings.json'}, {out / 'rivals.md'} and {out / 'rivals.png'}")


def _list() -> None:
    """Print learners and worlds, with their sources."""
    from flymotion.contest import ARENAS, LEARNERS

    shown = [[name, e.feature or "pairs", e.local, e.source] for name, e in LEARNERS.items()]
    table([("learner", "left"), ("given", "left"), ("local", "left"), ("source", "left")], shown)
    table([("world", "left"), ("what it is", "left")], [[name, arena.words] for name, arena in ARENAS.items()])


def _show(found: Contest) -> None:
    """Print the accuracies of learners, a column a world."""
    from flymotion.contest.rivals_page import number

    worlds, learners = found.config.worlds, found.config.learners
    rows = [[name, *(number(found.median(world, name, "accuracy")) for world in worlds)] for name in learners]
    table([("accuracy", "left"), *((world, "right") for world in worlds)], rows)
    for world, learner, why in found.failures():
        say(f"{world}, {learner}: {why}")
