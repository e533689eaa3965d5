"""``flymotion learn``: detectors from a user's own frames."""

from __future__ import annotations

from pathlib import Path

import click

from flymotion.cli.base import one_line_errors, progress_bar, table

__all__ = ["learn"]


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--components", type=click.IntRange(min=1), default=4, show_default=True, help="Number of detectors.")
@click.option("--patch", type=click.IntRange(min=2), help="Side of a patch [pixels]: 7 of photographs, 9 of videos.")
@click.option("--photographs", is_flag=True, help="Take the images of a folder as photographs, not as frames.")
@click.option(
    "--pairs", type=click.IntRange(min=1), default=100_000, show_default=True, help="Pairs of patches, about."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="flymotion-learned", show_default=True)
def learn(
    sources: tuple[str, ...], components: int, patch: int | None, photographs: bool, pairs: int, seed: int, out: Path
) -> None:
    """Learn motion detectors from SOURCEs: videos, folders of frames, image stacks, or photographs.

    An eye makes small movements over photographs. "bundled" stands for the two photographs that come with
    scikit-learn. Writes filters.png and model.npz into the folder OUT.
    """
    from flymotion import learning, models, plots

    with one_line_errors():
        with progress_bar("learning") as progress:
            learner = learning.learn(
                sources,
                components=components,
                patch=patch,
                photographs=photographs,
                n_pairs=pairs,
                seed=seed,
                progress=progress,
            )
            detectors = learning.describe(learner)
        out.mkdir(parents=True, exist_ok=True)
        titles = [f"{d.label} ({d.direction:.0f}°)" for d in detectors]
        plots.filter_sheet(learner.generators_, titles).savefig(out / "filters.png", dpi=150)
        models.save(learner, out / "model.npz")
    table(
        [
            ("detector", "left"),
            ("direction [deg]", "right"),
            ("gain [1/(px/frame)]", "right"),
            ("antisymmetric share", "right"),
            ("cos with derivative", "right"),
        ],
        [
            [d.label, f"{d.direction:.0f}", f"{d.gain:.3g}", f"{d.antisymmetric_share:.2f}", f"{d.cosine:.2f}"]
            for d in detectors
        ],
    )
    if learner.scale_ is not None:
        click.echo(f"frames reduced by {learner.scale_}, so that motion is a fraction of a pixel")
    click.echo(
        f"direction right on {learner.direction_accuracy_:.1%} of single patches at known shifts "
        f"(chance {1 / components:.0%})"
    )
    click.echo(f"{out / 'filters.png'}\n{out / 'model.npz'}")
