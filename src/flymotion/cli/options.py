"""Options that several commands have: one name, and the same words, for the same thing; and what completes them.

What may be named several times takes commas, too. Old spellings of an option work, and are shown nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = [
    "READING",
    "Renamed",
    "given",
    "json_option",
    "model_option",
    "offering",
    "out_option",
    "reading_options",
    "seed_option",
    "seeds_option",
    "several",
    "speed_options",
]

Decorator = Callable[[Callable], Callable]

READING = ("start", "stop", "max_frames", "stride", "crop", "scale", "rate")
"""Parameters of :func:`reading_options`."""


class Renamed(click.Option):
    """An option that had other names once, ``old``, which still work."""

    def __init__(self, *arguments: Any, old: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.old = old

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know all names; the help shows those of today."""
        shown, self.opts = self.opts, [*self.opts, *self.old]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


def offering(names: Callable[[], Iterable[str]], *, files: bool = False, commas: bool = False) -> Callable:
    """Return what completes names for the shell, or else ``files``; with ``commas``, the last of several."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",") if commas else ("", "", incomplete)
        known = [CompletionItem(f"{before}{comma}{name}") for name in names() if name.startswith(last)]
        return [*([CompletionItem(incomplete, type="file")] if files else []), *known]

    return complete


def several(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> list[str] | None:
    """Return names of an option that may be given again, and holds names with commas between; None without it."""
    names = [name.strip() for value in values for name in value.split(",")]
    return list(dict.fromkeys(name for name in names if name)) if values else None


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Return those options that have a value."""
    return {name: value for name, value in options.items() if value is not None}


def _with(*options: Decorator) -> Decorator:
    """Return what adds options to a command, in their order."""

    def add(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def out_option(folder: str) -> Decorator:
    """Return the option ``--out`` of a command, and the folder that it is by default."""
    return click.option(
        "--out",
        metavar="FOLDER",
        type=click.Path(path_type=Path, file_okay=False),
        default=folder,
        show_default=True,
        help="Where to write to; made if missing.",
    )


def json_option(command: Callable) -> Callable:
    """Add the option ``--json`` of commands that print what they found."""
    return click.option("--json", is_flag=True, help="Print what was found as JSON, instead of in words.")(command)


def seed_option(command: Callable) -> Callable:
    """Add the option ``--seed`` of commands that draw at random."""
    return click.option(
        "--seed",
        metavar="N",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Of all that is random: one seed, one result.",
    )(command)


def seeds_option(command: Callable) -> Callable:
    """Add the option ``--seeds`` of commands that repeat what they measure."""
    return click.option(
        "--seeds", "n_seeds", metavar="N", type=click.IntRange(min=1), help="Number of seeds, instead of its own."
    )(command)


def model_option(words: str) -> Decorator:
    """Return the option ``--model``, a file, and what is done with it."""
    return click.option("--model", metavar="FILE", type=click.Path(path_type=Path), help=words)


def reading_options(max_frames: int | None = None, *, least: int = 1) -> Decorator:
    """Return the options by which commands read a part of a video, and the most frames by default, and at least."""
    count = click.IntRange(min=1)
    return _with(
        click.option("--start", metavar="N|Ts", help="First frame: a number, 250, or a time, 10.5s."),
        click.option("--stop", metavar="N|Ts", help="Where to end: before this frame or time."),
        click.option(
            "--max-frames",
            metavar="N",
            type=click.IntRange(min=least),
            default=max_frames,
            show_default=max_frames is not None,
            help="Frames to take at most.",
        ),
        click.option("--stride", metavar="K", type=count, help="Take every k-th frame only."),
        click.option(
            "--crop", metavar="T,B,L,R", callback=_crop, help="Rows T to B and columns L to R only, of a video."
        ),
        click.option("--scale", metavar="N", type=count, help="Average areas of N x N pixels first."),
        click.option(
            "--rate",
            metavar="FPS",
            type=click.FloatRange(min=0, min_open=True),
            help="Frames per second of images, which do not tell.",
        ),
    )


def speed_options(command: Callable) -> Callable:
    """Add the options of commands that measure motion: what it is worth, and what is done where frames are missing."""
    return _with(
        click.option(
            "--speed",
            type=click.Choice(["fastest", "fast", "accurate"]),
            default="fast",
            show_default=True,
            help="How much work the velocity is worth.",
        ),
        click.option(
            "--radius",
            metavar="N",
            type=click.IntRange(1, 32),
            default=2,
            show_default=True,
            help="Of the velocity's windows; 1 for small things in clean video.",
        ),
        click.option(
            "--gaps",
            type=click.Choice(["split", "bridge"]),
            default="split",
            show_default=True,
            help="Where frames are missing: no motion, or that from the last frame to the next, a step of time.",
        ),
    )(command)


def _crop(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    parts = value.replace(":", ",").split(",")
    if len(parts) != 4 or not all(part.strip().isdecimal() for part in parts):
        raise click.BadParameter(f"{value!r} is not four numbers: top, bottom, left and right, as in 0,240,100,420")
    return tuple(int(part) for part in parts)
