"""What all commands share: where to write, errors in one line, a progress bar, tables."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from flymotion.cli.ending import Interrupts, complain, in_one_line, printing, say

__all__ = [
    "crop_option",
    "figure",
    "one_line_errors",
    "out_option",
    "plain_warnings",
    "progress_bar",
    "rate_option",
    "table",
    "width",
]


class _Problem(click.ClickException):
    """Something wrong with what was asked for: one line on stderr, exit status 2."""

    exit_code = 2


def rate_option(command: Callable) -> Callable:
    """Add the option ``--rate`` of commands that read videos."""
    return click.option(
        "--rate", type=click.FloatRange(min=0, min_open=True), help="Frames per second of images, which do not tell."
    )(command)


def crop_option(command: Callable) -> Callable:
    """Add the option ``--crop`` of commands that read videos."""
    return click.option(
        "--crop", metavar="T,B,L,R", callback=_crop, help="Rows T to B and columns L to R only, of a video."
    )(command)


def _crop(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    parts = value.replace(":", ",").split(",")
    if len(parts) != 4 or not all(part.strip().isdecimal() for part in parts):
        raise click.BadParameter(f"{value!r} is not four numbers: top, bottom, left and right, as in 0,240,100,420")
    return tuple(int(part) for part in parts)


def out_option(folder: str) -> Callable[[Callable], Callable]:
    """Return the option ``--out`` of a command, and the folder that it is by default."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=folder,
        show_default=True,
        help="Folder to write to; made if missing.",
    )


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what is wrong with the input into one line on stderr and exit status 2.

    A message that begins with the name of a parameter, "n_seeds is 0", names the option instead.
    """
    try:
        yield
    except (ValueError, OSError) as error:
        if os.environ.get("FLYMOTION_TRACEBACK"):
            raise
        options = {param.name: param.opts[0] for param in click.get_current_context().command.params}
        text = re.sub(r"^\w+(?= is )", lambda found: options.get(found[0], found[0]), in_one_line(error))
        raise _Problem(text) from error


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print warnings, such as of damaged frames, in one line each on stderr."""
    import warnings

    def show(message: Warning | str, *rest: Any, **more: Any) -> None:
        complain(f"Warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[..., None]]:
    """Show a progress bar on stderr; silent where that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    context = click.get_current_context(silent=True)
    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=None)

        def advance(done: int, total: int | None, what: str | None = None) -> None:
            bar.update(task, completed=done, total=total, description=what or title)
            if context is not None and isinstance(context.obj, Interrupts):
                context.obj.look()

        yield advance


def table(columns: list[tuple[str, str]], rows: list[list[str]], styles: Mapping[str, str] | None = None) -> None:
    """Print a table; columns are names and how they are justified, "left" or "right".

    Cells are shown as they are, brackets too; those whose text ``styles`` names, in its style.
    """
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for k, (name, justify) in enumerate(columns):
        whole = k == 0 or justify == "right"  # names and numbers are never cut
        widest = max(len(cell) for cell in (name, *(row[k] for row in rows))) if whole else None
        table.add_column(Text(name), justify=justify, no_wrap=whole, min_width=widest)  # type: ignore[arg-type] # rich lists the words
    for row in rows:
        table.add_row(*(Text(cell, style=(styles or {}).get(cell, "")) for cell in row))
    console = Console(width=width())
    least = Measurement.get(console, console.options.update(max_width=1000), table).minimum
    console.width = max(console.width, least)
    with printing(), console.capture() as shown:  # which flushes all the same
        console.print(table)
    say(shown.get().removesuffix("\n"))


def width() -> int:
    """Return the width of the terminal, or of COLUMNS, or else 140."""
    return shutil.get_terminal_size((140, 24)).columns


def figure(value: Any) -> str:
    """Return a number in four digits, or a dash for none."""
    return "-" if value is None else f"{value:.4g}"
