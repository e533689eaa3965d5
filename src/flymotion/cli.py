"""The command line: parse, call, print."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from flymotion import __version__

__all__ = ["main"]


class _Problem(click.ClickException):
    """Something wrong with what was asked for: one line on stderr, exit status 2."""

    exit_code = 2


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        if os.environ.get("FLYMOTION_TRACEBACK"):
            raise
        raise _Problem(" ".join(str(error).split())) from error


@contextmanager
def _progress(title: str) -> Iterator[Callable[..., None]]:
    """Show a progress bar on stderr; silent where that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=None)

        def advance(done: int, total: int | None, what: str | None = None) -> None:
            bar.update(task, completed=done, total=total, description=what or title)

        yield advance


def _table(columns: list[tuple[str, str]], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for name, justify in columns:
        table.add_column(name, justify=justify, no_wrap=justify == "right")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    console = Console()
    Console(width=console.width if console.is_terminal else 140).print(table)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    r"""Learn to see motion the way the fly does.

    \b
    flymotion reproduce           re-measure the paper's claims, draw its figures
    flymotion learn VIDEO         learn motion detectors from a video of yours
    """


@main.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--full", is_flag=True, help="Every claim at the seeds and sizes it names, instead of the quick size.")
@click.option("--seeds", type=click.IntRange(min=1), help="Number of seeds, instead of the claim's own.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="flymotion-results", show_default=True)
def reproduce(ids: tuple[str, ...], full: bool, seeds: int | None, out: Path) -> None:
    """Re-measure the paper's claims (all, or IDs such as C1 C28) and draw its figures.

    Writes claims.json and figures as PNG into the folder OUT. Exit status 1 when a claim misses its bound.
    """
    from flymotion import experiments

    with _one_line_errors(), _progress("reproducing") as progress:
        claims = experiments.reproduce(list(ids) or None, full=full, n_seeds=seeds, out=out, progress=progress)
    verdict = {True: "holds", False: "FAILS", None: "report"}
    _table(
        [
            ("claim", "left"),
            ("measure", "left"),
            ("value", "right"),
            ("bound", "right"),
            ("seeds", "right"),
            ("", "left"),
        ],
        [[c.id, c.title, _figure(c.value), _bound(c), str(c.seeds), verdict[c.holds]] for c in claims],
    )
    click.echo(f"{out / 'claims.json'} and figures in {out}")
    if failed := [c.id for c in claims if c.holds is False]:
        click.echo(f"{len(failed)} claim(s) miss their bound: {', '.join(failed)}", err=True)
        sys.exit(1)


def _figure(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}"


def _bound(claim: Any) -> str:
    if claim.holds is None:
        return ""
    least = claim.least if isinstance(claim.least, list | tuple) else [claim.least]
    return f"{claim.relation} {' .. '.join(_figure(x) for x in least)}"


@main.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--components", type=click.IntRange(min=1), default=4, show_default=True, help="Number of detectors.")
@click.option("--patch", type=click.IntRange(min=2), default=7, show_default=True, help="Side of a patch [pixels].")
@click.option("--photographs", is_flag=True, help="Take the images of a folder as photographs, not as frames.")
@click.option(
    "--pairs", type=click.IntRange(min=1), default=100_000, show_default=True, help="Pairs of patches, about."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="flymotion-learned", show_default=True)
def learn(
    sources: tuple[str, ...], components: int, patch: int, photographs: bool, pairs: int, seed: int, out: Path
) -> None:
    """Learn motion detectors from SOURCEs: videos, folders of frames, image stacks, or photographs.

    An eye makes small movements over photographs. "bundled" stands for the two photographs that come with
    scikit-learn. Writes filters.png and model.npz into the folder OUT.
    """
    from flymotion import learning, models, plots

    with _one_line_errors():
        with _progress("learning") as progress:
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
    _table(
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
    click.echo(
        f"direction right on {learner.direction_accuracy_:.1%} of single patches at known shifts "
        f"(chance {1 / components:.0%})"
    )
    click.echo(f"{out / 'filters.png'}\n{out / 'model.npz'}")
