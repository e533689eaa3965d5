"""``flymotion learn``: detectors from a user's own frames."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flymotion.cli.common import one_line_errors, plain_warnings, progress_bar, table

if TYPE_CHECKING:
    from flymotion.learner import MotionLearner

__all__ = ["learn"]

ACCURATE, CARDINAL = 0.7, 15.0
"""Share of single patches right below which, and degrees off the nearest axis above which, the user is warned."""


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--n-components", type=click.IntRange(min=1), default=4, show_default=True, help="Number of detectors.")
@click.option("--patch", type=click.IntRange(min=2), help="Side of a patch [pixels]: 7 of photographs, 9 of videos.")
@click.option("--photographs", is_flag=True, help="Take the images of a folder as photographs, not as frames.")
@click.option(
    "--n-pairs", type=click.IntRange(min=1), default=100_000, show_default=True, help="Pairs of patches, about."
)
@click.option("--start", metavar="N|Ts", help="First frame of a video: a number, or a time as in 10.5s.")
@click.option("--stop", metavar="N|Ts", help="Frame of a video before which to end.")
@click.option("--max-frames", type=click.IntRange(min=2), help="Frames of a video to read at most.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="flymotion-learned", show_default=True)
def learn(sources: tuple[str, ...], out: Path, **options: Any) -> None:
    """Learn motion detectors from SOURCEs: videos, cameras, folders of frames, image stacks, or photographs.

    Several videos are one corpus. A camera is watched until there are enough pairs. An eye makes small movements over
    photographs; "bundled" stands for the two photographs that come with scikit-learn. Writes filters.png and model.npz
    into the folder OUT.
    """
    import flymotion
    from flymotion import plots
    from flymotion.learner import describe, save

    with one_line_errors(), plain_warnings():
        with progress_bar("learning") as progress:
            given = {name: value for name, value in options.items() if value is not None}
            learner = flymotion.learn(sources, progress=progress, **given)
            detectors = describe(learner)
        out.mkdir(parents=True, exist_ok=True)
        titles = [f"{d.label} ({angle}°)" if (angle := _angle(d.direction)) else d.label for d in detectors]
        plots.filter_sheet(learner.generators_, titles).savefig(out / "filters.png", dpi=150)
        save(learner, out / "model.npz")
    table(
        [
            ("detector", "left"),
            ("direction [deg]", "right"),
            ("gain [1/(px/frame)]", "right"),
            ("antisymmetric share", "right"),
            ("cos with derivative", "right"),
        ],
        [
            [d.label, _angle(d.direction) or "-", f"{d.gain:.3g}", f"{d.antisymmetric_share:.2f}", f"{d.cosine:.2f}"]
            for d in detectors
        ],
    )
    _tell(learner)
    click.echo(f"{out / 'filters.png'}\n{out / 'model.npz'}")


def _angle(direction: float) -> str:
    """Return a direction in whole degrees, or nothing of a detector that is silent."""
    return f"{round(direction) % 360}" if math.isfinite(direction) else ""


def _tell(learner: MotionLearner) -> None:
    """Print what was learned from, and how good it is."""
    accuracy, watched = learner.direction_accuracy_, learner.watched_
    for video in watched:
        click.echo(
            f"{video.name}: {video.n_pairs:,} pairs of frames, reduced by {video.scale} so that motion is a fraction "
            f"of a pixel; {video.share:.0%} of their patches learned from"
        )
    patches = "held-out patches" if any(video.n_held_out for video in watched) else "patches"
    chance = 1 / learner.n_components
    if learner.n_components == 1:
        click.echo("one detector alone tells no direction from another")
        return
    click.echo(f"direction right on {accuracy:.1%} of single {patches} at known shifts (chance {chance:.0%})")
    if accuracy < ACCURATE:
        click.echo(
            "warning: the detectors tell directions badly; learn from more, or sharper, moving content", err=True
        )
    off = max((abs((d + 45) % 90 - 45) for d in learner.directions_ if math.isfinite(d)), default=0.0)
    if learner.n_components == 4 and off > CARDINAL:
        click.echo(f"warning: the directions are up to {off:.0f} deg off right, up, left and down", err=True)
