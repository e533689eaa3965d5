"""``flymotion detect`` and ``watch``: motion in videos, written to files, or live in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import click

from flymotion.cli.common import (
    crop_option,
    one_line_errors,
    out_option,
    plain_warnings,
    progress_bar,
    rate_option,
    table,
)
from flymotion.cli.ending import Interrupts, complain, say
from flymotion.writing import Results, results

__all__ = ["detect", "watch"]

EVERY = 10
"""Frames between two steps of the progress bar."""

OVERLAYS = ("arrows", "wheel", "directions")
"""What :data:`flymotion.detecting.overlay.MODES` are, named here as importing them takes time."""


def _reading(command: Callable) -> Callable:
    """Add the options that both commands read a video with."""
    options: list[Callable] = [
        click.option(
            "--model", metavar="FILE", help='Detectors that "flymotion learn" wrote, instead of three-pixel ones.'
        ),
        click.option("--start", metavar="N|Ts", default="0", help='First frame: a number, 250, or a time, "10.5s".'),
        click.option("--stop", metavar="N|Ts", help="Where to end: before this frame or time."),
        click.option(
            "--stride", type=click.IntRange(min=1), default=1, help="Take every k-th frame only.", metavar="K"
        ),
        crop_option,
        click.option("--scale", type=click.IntRange(min=1), default=1, help="Average areas of so many pixels."),
        click.option(
            "--speed",
            type=click.Choice(["fastest", "fast", "accurate"]),
            default="fast",
            show_default=True,
            help="How much work the velocity is worth.",
        ),
        click.option(
            "--radius",
            type=click.IntRange(1, 32),
            default=2,
            show_default=True,
            metavar="N",
            help="Of the velocity's windows; 1 for small things in clean video.",
        ),
        click.option(
            "--gaps",
            type=click.Choice(["split", "bridge"]),
            default="split",
            show_default=True,
            help="Where frames are missing: no motion, or that from the last frame to the next, a step of time.",
        ),
        rate_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _overlays(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modes that are named, each once: an option may hold several, or be given several times."""
    modes = [mode.strip() for value in values for mode in value.split(",")]
    for mode in modes:
        if mode not in (*OVERLAYS, "none"):
            raise click.BadParameter(f"{mode!r} is not one of {', '.join(OVERLAYS)}, none")
    return tuple(mode for mode in dict.fromkeys(modes) if mode != "none")


@click.command()
@click.argument("source")
@_reading
@out_option("flymotion-detected")
@click.option(
    "--overlay",
    metavar=f"[{'|'.join(OVERLAYS)}|none][,...]",
    multiple=True,
    callback=_overlays,
    help="Write the video with its motion drawn in: velocity, hues, or a panel a detector; each as a file of its own.",
)
@click.option("--fields", type=click.Choice(["zarr", "npz"]), help="Write responses and velocity at every pixel.")
@click.pass_obj
def detect(
    interrupts: Interrupts, source: str, out: Path, overlay: tuple[str, ...], fields: str | None, **reading: Any
) -> None:
    """Detect motion in SOURCE: a video, an image stack, a folder of images, a camera (camera:0) or a URL.

    Writes how the whole frame moves, global-motion.csv and global-motion.png, into the folder OUT, with --model which
    direction each detector prefers, detectors.csv, and what else is asked for: overlay-MODE.mp4 and fields.zarr or
    fields.npz. What each holds: docs/video.md. Ctrl-C ends it early; what was measured until then is put into
    OUT/unfinished, or of a camera or stream into OUT.
    """
    from flymotion import detecting
    from flymotion.detecting.hints import hints

    large = [f"fields.{fields}" + "/" * (fields == "zarr")] if fields else []
    large += [f"overlay-{mode}.mp4" for mode in overlay]
    names = [*TABLE, *([DETECTORS] if reading["model"] else []), *large]
    with one_line_errors(), plain_warnings(), results(out, names, sources=[source, reading["model"]]) as run:
        dense = fields is not None or bool({*overlay} - {"arrows"})
        found = detecting.detect(source, dense=dense, **reading)
        if found.learner is not None:
            detecting.write_directions(run.aside / DETECTORS, found)
            if not (verdict := found.learner.verdict_).ok:
                complain(f"Warning: {reading['model']}: {verdict}")
        seconds = _run(found, _sinks(found, run, overlay, fields), interrupts)
        trace = _drawn(run)
        if interrupts.due and not len(trace.frame):
            run.discard()
            raise KeyboardInterrupt
        places = {path.name: path for path in run.keep(unfinished=interrupts.due and not found.movie.live)}
    _summarise(found.movie, trace, seconds)
    for hint in hints(trace, found):
        say(hint)
    say("\n".join(str(places[name.rstrip("/")]) for name in names))
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


def _summarise(movie: Any, trace: Any, seconds: float) -> None:
    import numpy as np

    n = len(trace.frame)
    measured = np.column_stack([trace.translation, trace.rotation, trace.looming]).T
    right, down, rotation, looming = (_mean(values[np.isfinite(values)]) for values in measured)
    rate = f"{(n - 2) / seconds:.1f} frames/s" if n > 2 else "-"
    over = f", {bridged} over missing frames" if (bridged := np.sum(trace.steps > 1)) else ""
    own = f" (the video: {movie.rate:.4g})" if movie.rate else ""
    rows = [
        [
            "frames",
            f"{n}, {trace.cut.sum()} clip(s), {np.isfinite(trace.translation[:, 0]).sum()} pairs measured{over}",
        ],
        ["size", f"{movie.shape[1]} x {movie.shape[0]} pixels"],
        ["rate", f"{rate}{own}"],
        ["mean translation", f"right {right}, down {down} px/frame"],
        ["mean rotation", f"{rotation} deg/frame (counter-clockwise +)"],
        ["mean looming", f"{looming} /frame (approaching +)"],
    ]
    table([("", "left"), (Path(movie.name).name, "left")], rows)


def _mean(values: Any) -> str:
    return f"{values.mean():+.3g}" if values.size else "-"


@click.command()
@click.argument("source")
@_reading
@click.option("--max-frames", type=click.IntRange(min=1), help="Stop after so many frames.")
@click.pass_context
def watch(context: click.Context, source: str, max_frames: int | None, **reading: Any) -> None:
    """Watch motion live, in SOURCE, a video at its own rate, or in front of a camera (camera:0).

    Arrows show where each part of the frame moves, or with a model the direction that its detectors see. Where the
    output is not a terminal, prints a line once a second of video, as fast as that can be done. Ctrl-C ends it.
    """
    from flymotion import detecting
    from flymotion.cli import terminal

    with one_line_errors(), plain_warnings():
        found = detecting.detect(source, dense=reading["model"] is not None, max_frames=max_frames, **reading)
        show = terminal.Screen(found) if sys.stdout.isatty() else terminal.Lines(found)
        terminal.play(found, show)
    if context.obj.due:
        context.exit(context.obj.status)  # the summary has said all
