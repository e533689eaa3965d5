"""``flymotion export``: detectors for programs that are not in Python."""

from __future__ import annotations

from pathlib import Path

import click

from flymotion.cli.common import one_line_errors
from flymotion.cli.ending import note

__all__ = ["export"]


@click.command(short_help="Write a model's detectors as an ONNX graph.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--onnx",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Where to write the graph.",
)
@click.option(
    "--view/--no-view",
    default=True,
    show_default=True,
    help="Reduce and blur frames first, as a model of video has seen them.",
)
def export(model: Path, onnx: Path, view: bool) -> None:
    """Write the detectors of MODEL, which "flymotion learn" wrote, for other programs.

    The graph takes two frames, before and after, of any height and width, and gives the responses of all detectors at
    every pixel, and what they say of motion along x and y; its metadata tell directions, labels and units.
    docs/other-programs.md says how it is used.
    """
    from flymotion.keeping import export_onnx

    with one_line_errors():
        note(export_onnx(model, onnx, view=view))
