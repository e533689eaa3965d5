"""``flymotion detect`` and ``watch``: motion in videos, written to files, or live in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import click

from flymotion.cli.common import one_line_errors, plain_warnings, say_json, table
from flymotion.cli.ending import Interrupts, complain, note, say
from flymotion.cli.options import (
    given,
    json_option,
    model_option,
    offering,
    out_option,
    reading_options,
    several,
    speed_options,
)
from flymotion.cli.waiting import progress_bar
from flymotion.writing import Results, results

__all__ = ["detect", "watch"]

EVERY = 10
"""Frames between two steps of the progress bar."""

OVERLAYS = ("arrows", "wheel", "directions")
"""What :data:`flymotion.detecting.overlay.MODES` are, named here as importing them takes time."""


FROM_MODEL = 'Detectors that "flymotion learn" wrote, instead of three-pixel ones.'


def _overlays(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modes that are named, each once."""
    modes = several(context, option, values) or []
    for mode in modes:
        if mode not in (*OVERLAYS, "none"):
            raise click.BadParameter(f"{mode!r} is not one of {', '.join(OVERLAYS)}, none")
    return tuple(mode for mode in modes if mode != "none")


@click.command(short_help="Detect motion in a video, a camera or images.")
@click.argument("source", shell_complete=offering(tuple, files=True))
@reading_options()
@speed_options
@model_option(FROM_MODEL)
@click.option(
    "--overlay",
    metavar="MODE[,...]",
    multiple=True,
    callback=_overlays,
    shell_complete=offering(lambda: OVERLAYS, commas=True),
    help=f"Write the video with its motion drawn in, a file a MODE: {', '.join(OVERLAYS)}, or none.",
)
@click.option("--fields", type=click.Choice(["zarr", "npz"]), help="Write responses and velocity at every pixel.")
@out_option("flymotion-detected")
@json_option
@click.pass_obj
def detect(
    interrupts: Interrupts,
    source: str,
    overlay: tuple[str, ...],
    fields: str | None,
    out: Path,
    json: bool,
    **options: Any,
) -> None:
    """Detect motion in SOURCE: a video, an image stack, a folder of images, a camera (camera:0) or a URL.

    Writes how the whole frame moves, global-motion.csv and global-motion.png, into the folder OUT, with --model which
    direction each detector prefers, detectors.csv, and what else is asked for: fields.zarr or fields.npz, and
    overlay-MODE.mp4, velocity as arrows, as hues on a wheel, or the directions, a panel a detector. What each holds:
    docs/video.md. Ctrl-C ends it early; what was measured until then is put into
    OUT/unfinished, or of a camera or stream into OUT.
    """
    from flymotion import detecting
    from flymotion.detecting.hints import hints

    large = [f"fields.{fields}" + "/" * (fields == "zarr")] if fields else []
    large += [f"overlay-{mode}.mp4" for mode in overlay]
    names, model = [*TABLE, *([DETECTORS] if options["model"] else []), *large], options["model"]
    with one_line_errors(), plain_warnings(), results(out, names, sources=[source, model]) as run:
        dense = fields is not None or bool({*overlay} - {"arrows"})
        found = detecting.detect(source, dense=dense, **given(options))
        if found.learner is not None:
            detecting.write_directions(run.aside / DETECTORS, found)
            if not (verdict := found.learner.verdict_).ok:
                complain(f"Warning: {model}: {verdict}")
        seconds = _run(found, _sinks(found, run, overlay, fields), interrupts)
        trace = _drawn(run)
        if interrupts.due and not len(trace.frame):
            run.discard()
            raise KeyboardInterrupt
        places = {path.name: path for path in run.keep(unfinished=interrupts.due and not found.movie.live)}
    files = [places[name.rstrip("/")] for name in names]
    summary = _summary(found.movie, trace, seconds)
    if json:
        say_json(summary | {"hints": hints(trace, found), "files": files})
    else:
        _tell(summary)
        for hint in hints(trace, found):
            say(hint)
    note(*files)
    if interrupts.due:
        where = places[TABLE[0]].parent
        raise KeyboardInterrupt(f"what was measured of {len(trace.frame)} frames until then is in {where}")


TABLE = ("global-motion.csv", "global-motion.png")
DETECTORS = "detectors.csv"


def _sinks(found: Any, run: Results, overlays: Iterable[str], fields: str | None) -> list[Any]:
    from flymotion import detecting

    sinks: list[Any] = [detecting.MotionTable(run.aside / TABLE[0], found)]
    if fields is not None:
        sinks.append(detecting.SINKS[fields](run.aside / f"fields.{fields}", found))
    for mode in overlays:
        from flymotion.detecting.overlay import OverlayVideo

        sinks.append(OverlayVideo(run.aside / f"overlay-{mode}.mp4", found, mode))
    return sinks


def _run(found: Any, sinks: Iterable[Any], interrupts: Interrupts) -> float:
    """Give every sink every detection, until they or Ctrl-C end it; returns the seconds since the first pair."""
    begun = ended = time.perf_counter()
    with ExitStack() as stack, progress_bar("detecting") as progress, suppress(KeyboardInterrupt):
        opened = [stack.enter_context(sink) for sink in sinks]
        for detection in found:
            with interrupts.deferred():  # no frame is in one file and not in the other
                for sink in opened:
                    sink.write(detection)
                ended = time.perf_counter()
                if detection.number == 1:
                    begun = ended  # before, kernels are loaded or compiled
                if detection.number % EVERY == 0:
                    progress(detection.number, found.movie.n_frames_estimate)
            if interrupts.due:
                break
    return ended - begun


def _drawn(run: Results) -> Any:
    """Draw what is in the table, and return it."""
    from flymotion.detecting import read_trace
    from flymotion.detecting.trace import draw_trace
    from flymotion.plots.canvas import save_figure

    trace = read_trace(run.aside / TABLE[0])
    save_figure(draw_trace(trace), run.aside / TABLE[1])
    return trace


def _summary(movie: Any, trace: Any, seconds: float) -> dict[str, Any]:
    """Return what was measured, for a program; figures of motion are means over the pairs."""
    import numpy as np

    n, measured = len(trace.frame), np.column_stack([trace.translation, trace.rotation, trace.looming]).T
    right, down, rotation, looming = (_mean(values[np.isfinite(values)]) for values in measured)
    return {
        "source": Path(movie.name).name,
        "frames": n,
        "clips": int(trace.cut.sum()),
        "pairs": int(np.isfinite(trace.translation[:, 0]).sum()),
        "bridged": int(np.sum(trace.steps > 1)),
        "width": movie.shape[1],
        "height": movie.shape[0],
        "rate": movie.rate,
        "frames_per_second": (n - 2) / seconds if n > 2 else None,
        "right": right,
        "down": down,
        "rotation": rotation,
        "looming": looming,
    }


def _mean(values: Any) -> float | None:
    return float(values.mean()) if values.size else None


def _tell(found: dict[str, Any]) -> None:
    right, down, rotation, looming = (
        "-" if found[name] is None else f"{found[name]:+.3g}" for name in ("right", "down", "rotation", "looming")
    )
    rate = f"{found['frames_per_second']:.1f} frames/s" if found["frames_per_second"] else "-"
    over = f", {found['bridged']} over missing frames" if found["bridged"] else ""
    own = f" (the video: {found['rate']:.4g})" if found["rate"] else ""
    rows = [
        ["frames", f"{found['frames']}, {found['clips']} clip(s), {found['pairs']} pairs measured{over}"],
        ["size", f"{found['width']} x {found['height']} pixels"],
        ["rate", f"{rate}{own}"],
        ["mean translation", f"right {right}, down {down} px/frame"],
        ["mean rotation", f"{rotation} deg/frame (counter-clockwise +)"],
        ["mean looming", f"{looming} /frame (approaching +)"],
    ]
    table([("", "left"), (found["source"], "left")], rows)


@click.command(short_help="Watch motion live, in the terminal.")
@click.argument("source", shell_complete=offering(tuple, files=True))
@reading_options()
@speed_options
@model_option(FROM_MODEL)
@click.option("--json", is_flag=True, help="Print how the frame moves as JSON, a line a frame, instead of arrows.")
@click.pass_context
def watch(context: click.Context, source: str, json: bool, **options: Any) -> None:
    """Watch motion live, in SOURCE, a video at its own rate, or in front of a camera (camera:0).

    Arrows show where each part of the frame moves, or with a model the direction that its detectors see. Where the
    output is not a terminal, prints a line once a second of video, as fast as that can be done. Ctrl-C ends it.
    """
    from flymotion import detecting
    from flymotion.cli import terminal

    with one_line_errors(), plain_warnings():
        found = detecting.detect(source, dense=options["model"] is not None and not json, **given(options))
        lines = terminal.Rows if json else terminal.Lines
        show = lines(found) if json or not sys.stdout.isatty() else terminal.Screen(found)
        terminal.play(found, show, summary=not json)
    if context.obj.due:
        context.exit(context.obj.status)  # the summary has said all
