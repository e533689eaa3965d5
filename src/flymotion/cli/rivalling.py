"""``flymotion rivals``: learners of every kind in every world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flymotion.cli import known_names
from flymotion.cli.common import one_line_errors, say_json, table
from flymotion.cli.ending import note, say
from flymotion.cli.options import Renamed, json_option, offering, out_option, seeds_option, several
from flymotion.cli.waiting import progress_bar

if TYPE_CHECKING:
    from flymotion.contest import Contest

__all__ = ["rivals"]


@click.command(short_help="Let learners of motion compete: ours, others' and nulls.")
@click.option(
    "--world",
    "worlds",
    cls=Renamed,
    old=["--worlds"],
    metavar="NAME[,...]",
    multiple=True,
    callback=several,
    shell_complete=offering(lambda: known_names.WORLDS, commas=True),
    help="Some of the worlds. All by default.",
)
@click.option(
    "--learner",
    "learners",
    cls=Renamed,
    old=["--learners"],
    metavar="NAME[,...]",
    multiple=True,
    callback=several,
    shell_complete=offering(lambda: known_names.LEARNERS, commas=True),
    help="Some of the learners; of a feature, nsm:antisymmetric. All by default.",
)
@seeds_option
@click.option("--full", is_flag=True, help="More pairs, seeds and noise: up to half an hour instead of minutes.")
@out_option("flymotion-rivals")
@json_option
@click.option("--list", "listed", is_flag=True, help="Print the learners and worlds with their sources, and no more.")
def rivals(
    worlds: list[str] | None,
    learners: list[str] | None,
    n_seeds: int | None,
    full: bool,
    out: Path,
    json: bool,
    listed: bool,
) -> None:
    """Let learners of motion compete: ours, others' and nulls, in every world, from few pairs and from many.

    Writes rivals.json, every measure, which is the same in every run, timings.json, which is not, rivals.md, the
    tables, and rivals.png, one sheet of figures, into the folder OUT. Prints the share of new pairs whose motion is
    named right. Ctrl-C ends it; the worlds that were finished are put into OUT/unfinished.
    """
    from flymotion import contest

    if listed:
        return _list(json)
    settings = {} if n_seeds is None else {"n_seeds": n_seeds}
    try:
        with one_line_errors(), progress_bar("competing") as progress:
            found = contest.compete(worlds, learners, full=full, out=out, progress=progress, **settings)
    except contest.Unfinished as error:
        _show(error.contest, json)
        raise
    _show(found, json)
    note(*(out / name for name in ("rivals.json", "timings.json", "rivals.md", "rivals.png")))


def _list(json: bool) -> None:
    """Print learners and worlds, with their sources."""
    from flymotion.contest import ARENAS, LEARNERS

    shown = [[name, e.feature or "pairs", e.local, e.source] for name, e in LEARNERS.items()]
    if json:
        learners = [dict(zip(("name", "given", "local", "source"), row, strict=True)) for row in shown]
        worlds = [{"name": name, "what": arena.words} for name, arena in ARENAS.items()]
        return say_json({"learners": learners, "worlds": worlds})
    table([("learner", "left"), ("given", "left"), ("local", "left"), ("source", "left")], shown)
    table([("world", "left"), ("what it is", "left")], [[name, arena.words] for name, arena in ARENAS.items()])


def _show(found: Contest, json: bool) -> None:
    """Print the accuracies of learners, a column a world."""
    from flymotion.contest.rivals_page import number

    worlds, learners = found.config.worlds, found.config.learners
    if json:
        pairs = [(world, learner) for world in worlds for learner in learners]
        shares = [{"world": w, "learner": name, "accuracy": found.median(w, name, "accuracy")} for w, name in pairs]
        failed = [dict(zip(("world", "learner", "why"), failure, strict=True)) for failure in found.failures()]
        return say_json({"accuracy": shares, "failures": failed})
    rows = [[name, *(number(found.median(world, name, "accuracy")) for world in worlds)] for name in learners]
    table([("accuracy", "left"), *((world, "right") for world in worlds)], rows)
    for world, learner, why in found.failures():
        say(f"{world}, {learner}: {why}")
