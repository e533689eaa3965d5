"""The command line: parse, call, print."""

from __future__ import annotations

import click

from flymotion import __version__
from flymotion.cli.browsing import live
from flymotion.cli.completing import completion
from flymotion.cli.ending import Program
from flymotion.cli.exporting import export
from flymotion.cli.flight import fly
from flymotion.cli.inspecting import inspect
from flymotion.cli.lab import compare, detectors, stimuli, tune
from flymotion.cli.learning import learn
from flymotion.cli.motion import detect, watch
from flymotion.cli.paper import reproduce
from flymotion.cli.rivalling import rivals

__all__ = ["main"]

SECTIONS = {
    "Learn and detect": (learn, detect, inspect),
    "Look": (watch, live, fly),
    "The motion lab": (tune, compare, detectors, stimuli),
    "The paper": (reproduce, rivals),
    "For other programs": (export, completion),
}
"""Commands as the help lists them."""


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def main() -> None:
    """Learn to see motion the way the fly does.

    \b
    flymotion learn street.mp4                    detectors, from a video of yours
    flymotion detect street.mp4 --overlay wheel   what moved in it
    flymotion reproduce                           the paper's claims, measured

    "flymotion COMMAND --help" says more of each; docs/command-line.md, of all.
    """  # noqa: D301 # the backspace is click's: lines stay as they are


main.sections = {title: [str(command.name) for command in commands] for title, commands in SECTIONS.items()}
for commands in SECTIONS.values():
    for command in commands:
        main.add_command(command)
