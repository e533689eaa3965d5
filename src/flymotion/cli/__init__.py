"""The command line: parse, call, print."""

from __future__ import annotations

import click

from flymotion import __version__
from flymotion.cli.browsing import live
from flymotion.cli.ending import Program
from flymotion.cli.flight import fly
from flymotion.cli.inspecting import inspect
from flymotion.cli.lab import compare, detectors, stimuli, tune
from flymotion.cli.learning import learn
from flymotion.cli.motion import detect, watch
from flymotion.cli.paper import reproduce
from flymotion.cli.rivalling import rivals

__all__ = ["main"]


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Learn to see motion the way the fly does."""


for command in (reproduce, learn, inspect, detect, watch, live, tune, compare, detectors, stimuli, rivals, fly):
    main.add_command(command)
