"""``flymotion learn``: detectors from a user's own frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flymotion.cli.common import one_line_errors, plain_warnings, say_json, table
from flymotion.cli.ending import Interrupts, complain, note, say
from flymotion.cli.options import given, json_option, offering, out_option, reading_options, seed_option
from flymotion.cli.waiting import progress_bar
from flymotion.writing import results

if TYPE_CHECKING:
    from flymotion.learner import MotionLearner
    from flymotion.learner.sources import Described

__all__ = ["learn"]

FAILED = 1
"""Exit status where what was learned is not written."""


@click.command(short_help="Learn motion detectors from videos, cameras or photographs.")
@click.argument(
    "sources",
    nargs=-1,
    required=True,
    metavar="SOURCE...",
    shell_complete=offering(lambda: ["bundled"], files=True),
)
@reading_options(least=2)
@click.option("--photographs", is_flag=True, help="Take the images of a folder as photographs, not as frames.")
@click.option(
    "--n-components", metavar="N", type=click.IntRange(min=1), default=4, show_default=True, help="Number of detectors."
)
@click.option(
    "--patch",
    metavar="N",
    type=click.IntRange(min=2),
    show_default="7 of photographs, 9 of videos",
    help="Side of a patch [pixels].",
)
@click.option(
    "--n-pairs",
    metavar="N",
    type=click.IntRange(min=1),
    default=100_000,
    show_default=True,
    help="Pairs of patches to learn from, about.",
)
@seed_option
@out_option("flymotion-learned")
@json_option
@click.option("--force", is_flag=True, help="Write the model even where learning has failed.")
@click.pass_context
def learn(context: click.Context, sources: tuple[str, ...], out: Path, json: bool, force: bool, **options: Any) -> None:
    """Learn motion detectors from SOURCEs: videos, cameras, folders of frames, image stacks, or photographs.

    Several videos are one corpus. A camera is watched until there are enough pairs. An eye makes small movements over
    photographs; "bundled" stands for the two photographs that come with scikit-learn. Writes
    model.safetensors and filters.png into the folder OUT. Ctrl-C ends it; what was learned until then is put into
    OUT/unfinished, or of a camera into OUT.

    Where learning has failed, on motion that it has not learned from, it says why and what may help, and ends with 1.
    Nothing is written then without --force; of a camera, what cannot be seen again is put into OUT/unfinished.
    """
    from flymotion.keeping import save
    from flymotion.learner import describe

    interrupts, kept = context.obj, []
    with one_line_errors(), plain_warnings(), results(out, [MODEL, FILTERS], sources=sources) as run:
        learner = _learned(sources, given(options), interrupts)
        found, refused = describe(learner), not (learner.verdict_.ok or force)
        endless = any(map(_is_endless, sources))
        if not refused or endless or interrupts.due:
            save(learner, run.aside / MODEL)
            _draw(learner, found, run.aside / FILTERS)
            kept = run.keep(unfinished=refused or (interrupts.due and not endless))
    if json:
        say_json(_summary(learner, found) | {"files": kept})
    else:
        _tell(learner, found, options["n_pairs"])
    if not learner.verdict_.ok:
        unwritten = "" if kept else " Nothing is written; --force does."
        complain(f"{'Error' if refused else 'Warning'}: {learner.verdict_}{unwritten}")
    note(*kept)
    if interrupts.due:
        raise KeyboardInterrupt(f"what was learned until then is in {kept[0].parent}")
    context.exit(FAILED if refused else 0)


def _is_endless(source: str) -> bool:
    from flymotion.video.live import is_live

    return is_live(source) or Path(source).is_fifo() or Path(source).is_char_device()


MODEL, FILTERS = "model.safetensors", "filters.png"


def _learned(sources: tuple[str, ...], options: dict[str, Any], interrupts: Interrupts) -> MotionLearner:
    """Learn until Ctrl-C, and leave no step half done."""
    import flymotion

    with progress_bar("learning") as progress, interrupts.deferred():

        def tell(*how: Any) -> bool:
            progress(*how)
            return interrupts.due

        try:
            return flymotion.learn(sources, progress=tell, **options)
        except ValueError:
            if interrupts.due:
                raise KeyboardInterrupt from None  # there was too little yet
            raise


def _draw(learner: MotionLearner, found: Sequence[Described], path: Path) -> None:
    from flymotion import plots
    from flymotion.plots.canvas import save_figure

    titles = [f"{d.label} ({angle}°)" if (angle := _angle(d.direction)) else d.label for d in found]
    save_figure(plots.filter_sheet(learner.generators_, titles), path)


def _angle(direction: float) -> str:
    """Return a direction in whole degrees, or nothing of a detector that is silent."""
    return f"{round(direction) % 360}" if math.isfinite(direction) else ""


def _summary(learner: MotionLearner, found: Sequence[Described]) -> dict[str, Any]:
    """Return what was learned, what from, and how good it is, for a program."""
    verdict = learner.verdict_
    return {
        "detectors": [each._asdict() for each in found],
        "videos": [
            {"name": v.name, "pairs": v.n_pairs, "reduced_by": v.scale, "share": v.share} for v in learner.watched_
        ],
        "pairs_of_patches": learner.n_patches_seen_,
        "accuracy": learner.direction_accuracy_,
        "chance": 1 / learner.n_components,
        "succeeded": verdict.ok,
        "verdict": str(verdict),
    }


def _tell(learner: MotionLearner, found: Sequence[Described], n_pairs: int) -> None:
    """Print what was learned, what from, and how good it is."""
    table(
        [
            ("detector", "left"),
            ("direction, measured [deg]", "right"),
            ("gain [1/(px/frame)]", "right"),
            ("antisymmetric share", "right"),
            ("cos with derivative", "right"),
        ],
        [
            [d.label, _angle(d.direction) or "-", f"{d.gain:.3g}", f"{d.antisymmetric_share:.2f}", f"{d.cosine:.2f}"]
            for d in found
        ],
    )
    accuracy, watched = learner.direction_accuracy_, learner.watched_
    for video in watched:
        say(
            f"{video.name}: {video.n_pairs:,} pairs of frames, reduced by {video.scale} so that motion is a fraction "
            f"of a pixel; {video.share:.0%} of their patches learned from"
        )
    if learner.n_patches_seen_ != n_pairs:
        say(f"learned from {learner.n_patches_seen_:,} pairs of patches; asked for were about {n_pairs:,}")
    if learner.n_components == 1:
        return say("one detector alone tells no direction from another; give --n-components 2 or more")
    patches = "held-out patches" if any(video.n_held_out for video in watched) else "patches"
    chance = 1 / learner.n_components
    say(f"direction right on {accuracy:.1%} of single {patches} at known shifts (chance {chance:.0%})")
    verdict = learner.verdict_
    if verdict.ok and verdict.oblique and learner.n_components == 4:
        complain(f"Warning: the directions are up to {verdict.off:.0f} deg off right, up, left and down")
