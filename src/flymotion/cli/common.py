"""What all commands share: errors and warnings in one line, tables, and JSON."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from flymotion.cli.ending import complain, in_one_line, printing, say

__all__ = ["figure", "one_line_errors", "plain_warnings", "say_json", "table", "width"]


class _Problem(click.ClickException):
    """Something wrong with what was asked for: one line on stderr, exit status 2."""

    exit_code = 2


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what is wrong with the input into one line on stderr and exit status 2.

    A message that begins with the name of a parameter, "n_seeds is 0", names the option instead.
    """
    try:
        yield
    except (ValueError, TypeError, OverflowError, OSError, MemoryError) as error:
        if os.environ.get("FLYMOTION_TRACEBACK"):
            raise
        options = {param.name: param.opts[0] for param in click.get_current_context().command.params}
        told = in_one_line(error) or "there is not enough memory"
        text = re.sub(r"^\w+(?= is )", lambda found: options.get(found[0], found[0]), told)
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


def table(columns: list[tuple[str, str]], rows: list[list[str]], styles: Mapping[str, str] | None = None) -> None:
    """Print a table; columns are names and how they are justified, "left" or "right".

    Cells are shown as they are, brackets too; those whose text ``styles`` names, in its style. What is piped begins
    with the names of the columns, and no line ends with spaces.
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
    lines = [line.rstrip() for line in shown.get().splitlines()]
    say("\n".join(lines if sys.stdout.isatty() else filter(None, lines)))


def width() -> int:
    """Return the width of the terminal, or of COLUMNS, or else 140."""
    return shutil.get_terminal_size((140, 24)).columns


def figure(value: Any) -> str:
    """Return a number in four digits, or a dash for none."""
    return "-" if value is None else f"{value:.4g}"


def say_json(found: Any, *, indent: int | None = 2) -> None:
    """Print what was found as JSON of RFC 8259: null for what is not a finite number; paths and arrays as they read."""
    say(json.dumps(_plain(found), indent=indent, allow_nan=False, default=str))


def _plain(found: Any) -> Any:
    if hasattr(found, "tolist"):  # an array, or a number of numpy's
        found = found.tolist()
    if isinstance(found, Mapping):
        return {str(name): _plain(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [_plain(value) for value in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found
