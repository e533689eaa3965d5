"""``flymotion live``: learned detectors in a browser, as one file."""

from __future__ import annotations

from pathlib import Path

import click

from flymotion.cli.common import one_line_errors
from flymotion.cli.ending import complain, note
from flymotion.cli.waiting import progress_bar
from flymotion.writing import check, whole

__all__ = ["live"]


@click.command(short_help="Write a page that shows motion in a browser.")
@click.argument("model", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    default="live.html",
    show_default=True,
    help="Page to write.",
)
@click.option("--force", is_flag=True, help="Write over a file that flymotion live has not written.")
def live(model: Path | None, out: Path, force: bool) -> None:
    """Write a page that runs MODEL's detectors on a camera or a video, in a browser.

    MODEL is what "flymotion learn" wrote; without one, the detectors are those of the photographs that come with
    scikit-learn. The page is one file that needs no server and no network; open it, and start the camera in it.
    """
    from flymotion.browser import live_model, live_page
    from flymotion.browser.one_file import is_ours

    with one_line_errors():
        check(out, sources=[model])
        if out.exists() and not force and not is_ours(out):
            raise ValueError(f"{out}: is no page of flymotion live; --force writes over it")
        with progress_bar("live"):
            detectors = live_model(model)
            page = live_page(detectors)
        if detectors.doubt:
            complain(f"Warning: {model}: {detectors.doubt}")
        with whole(out, sources=[model]) as place:
            place.write_text(page, encoding="utf-8")
    note(f"open in a browser: {out.resolve().as_uri()}", out)
