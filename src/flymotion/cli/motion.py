"""``flymotion detect`` and ``watch``: motion in videos, written to files, or live in the terminal."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import click

from flymotion.cli.common import one_line_errors, plain_warnings, progress_bar, table

__all__ = ["detect", "watch"]

EVERY = 10
"""Frames between two steps of the progress bar."""


def _reading(command: Callable) -> Callable:
    """Add the options that both commands read a video with."""
    options = [
        click.option(
            "--model", metavar="FILE", help='Detectors that "flymotion learn" wrote, instead of three-pixel ones.'
        ),
        click.option("--start", metavar="N|Ts", default="0", help='First frame: a number, 250, or a time, "10.5s".'),
        click.option("--stop", metavar="N|Ts", help="Where to end: before this frame or time."),
        click.option(
            "--stride", type=click.IntRange(min=1), default=1, help="Take every k-th frame only.", metavar="K"
        ),
        click.option("--crop", metavar="T,B,L,R", callback=_crop, help="Rows T to B and columns L to R only."),
        click.option("--scale", type=click.IntRange(min=1), default=1, help="Average areas of so many pixels."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _crop(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    parts = value.replace(":", ",").split(",")
    if len(parts) != 4 or not all(part.strip().isdecimal() for part in parts):
        raise click.BadParameter(f"{value!r} is not four numbers: top, bottom, left and right, as in 0,240,100,420")
    return tuple(int(part) for part in parts)


@click.command()
@click.argument("source")
@_reading
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default="flymotion-detected", show_default=True
)
@click.option(
    "--overlay",
    type=click.Choice(["arrows", "wheel", "directions", "none"]),
    default="none",
    show_default=True,
    help="Write the video with its motion drawn in: velocity, hues, or a panel a detector.",
)
@click.option("--fields", type=click.Choice(["zarr", "npz"]), help="Write responses and velocity at every pixel.")
def detect(source: str, out: Path, overlay: str, fields: str | None, **reading: Any) -> None:
    """Detect motion in SOURCE: a video, an image stack, a folder of images, a camera (camera:0) or a URL.

    Writes how the whole frame moves, global-motion.csv and global-motion.png, into the folder OUT, and what else is
    asked for: overlay-MODE.mp4 and fields.zarr or fields.npz. What each holds: docs/video.md. Ctrl-C ends it early.
    """
    from flymotion import detecting
    from flymotion.detecting.trace import draw_trace

    with one_line_errors(), plain_warnings():
        found = detecting.detect(source, dense=overlay != "none" or fields is not None, **reading)
        out.mkdir(parents=True, exist_ok=True)
        sinks: list[Any] = [detecting.MotionTable(out / "global-motion.csv", found)]
        if fields is not None:
            sinks.append(detecting.SINKS[fields](out / f"fields.{fields}", found))
        if overlay != "none":
            from flymotion.detecting.overlay import OverlayVideo

            sinks.append(OverlayVideo(out / f"overlay-{overlay}.mp4", found, overlay))
        seconds = _run(found, sinks)
        trace = detecting.read_trace(sinks[0].path)
        draw_trace(trace).savefig(out / "global-motion.png", dpi=150)
    _summarise(found.movie, trace, seconds)
    click.echo("\n".join(map(str, [sinks[0].path, out / "global-motion.png", *(sink.path for sink in sinks[1:])])))


def _run(found: Any, sinks: Iterable[Any]) -> float:
    """Give every sink every detection, until they or Ctrl-C end it; returns the seconds since the first pair."""
    begun = ended = time.perf_counter()
    with ExitStack() as stack, progress_bar("detecting") as progress:
        opened = [stack.enter_context(sink) for sink in sinks]
        interrupts = stack.enter_context(_Interrupts())
        for detection in found:
            with interrupts.held():
                for sink in opened:
                    sink.write(detection)
                ended = time.perf_counter()
                if detection.number == 1:
                    begun = ended  # before, kernels are loaded or compiled
                if detection.number % EVERY == 0:
                    progress(detection.number, found.movie.n_frames_estimate)
    return ended - begun


class _Interrupts:
    """Ends the ``with`` statement at Ctrl-C; while it is held, when it is let go, so that no step is left half done."""

    def __enter__(self) -> Self:
        """Begin."""
        self._held = self._due = False
        self._before = signal.signal(signal.SIGINT, self._come)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool:
        """End."""
        signal.signal(signal.SIGINT, self._before)
        return kind is KeyboardInterrupt

    def _come(self, number: int, frame: Any) -> None:
        self._due = True
        if not self._held:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold interrupts."""
        self._held = True
        yield
        self._held = False
        if self._due:
            raise KeyboardInterrupt


def _summarise(movie: Any, trace: Any, seconds: float) -> None:
    import numpy as np

    n = len(trace.frame)
    measured = np.column_stack([trace.translation, trace.rotation, trace.looming]).T
    right, down, rotation, looming = (_mean(values[np.isfinite(values)]) for values in measured)
    rate = f"{(n - 2) / seconds:.1f} frames/s" if n > 2 else "-"
    own = f" (the video: {movie.rate:.4g})" if movie.rate else ""
    rows = [
        ["frames", f"{n}, {trace.cut.sum()} clip(s), {np.isfinite(trace.translation[:, 0]).sum()} pairs measured"],
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
def watch(source: str, max_frames: int | None, **reading: Any) -> None:
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
