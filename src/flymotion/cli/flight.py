"""``flymotion fly``: a fly's circuit, trained and shown something."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import click

from flymotion.cli.common import one_line_errors, plain_warnings, say_json
from flymotion.cli.ending import note, say
from flymotion.cli.options import (
    READING,
    json_option,
    model_option,
    offering,
    out_option,
    reading_options,
    seed_option,
)
from flymotion.cli.waiting import progress_bar
from flymotion.writing import Results, check, results

__all__ = ["fly"]

EYES = ("buchner", "hex")

SCENES = ("panorama", "flower", "edge", "noise")

DT = 0.02
"""Between the frames that a fly learns from, and that a scene is shown in [s]."""

CLIP = 10.0
"""Longest clip to learn from [s]."""


class Shown(NamedTuple):
    """What the fly is shown: its name, its frames on the eye, how many there are, shown or not, how far apart [s]."""

    name: str
    frames: Iterator[Any]
    n_frames: int | None
    dt: float


@click.command(short_help="Train a fly's T4 and T5, and show it a video or a scene.")
@click.argument("source", required=False, shell_complete=offering(tuple, files=True))
@reading_options(max_frames=250, least=2)
@click.option(
    "--fov", type=float, metavar="DEG", show_default="90", help="Horizontal angle of view of the camera of SOURCE."
)
@click.option(
    "--scene",
    type=click.Choice(SCENES),
    show_default="panorama",
    help="What turns about the fly where there is no SOURCE.",
)
@click.option(
    "--eye",
    default="buchner",
    show_default=True,
    metavar="buchner|hex|FILE",
    shell_complete=offering(lambda: EYES, files=True),
    help="Drosophila's measured eye, a flat hexagon, or a CSV file of directions.",
)
@click.option(
    "--radius",
    metavar="N",
    type=click.IntRange(min=2),
    show_default="8",
    help="Rings of lenses of a hexagon, 5 degrees apart.",
)
@click.option(
    "--side", type=click.Choice(["left", "right", "both"]), show_default="both", help="Which of the measured eyes."
)
@model_option("Circuit to take, or to keep if it is not there.")
@click.option(
    "--seconds",
    metavar="S",
    type=click.FloatRange(1, 86_400),
    default=240,
    show_default=True,
    help="Of life, to learn from.",
)
@seed_option
@click.option("--responses", type=click.Choice(["nc", "zarr"]), default="nc", show_default=True, help="Kind of file.")
@out_option("flymotion-fly")
@json_option
def fly(out: Path, json: bool, **given: Any) -> None:
    """Train the circuit of a fly's T4 and T5 cells, and show it SOURCE, a video, or a scene.

    It learns as the fly turns in panoramas of photographs. Writes into the folder OUT: inputs.png, the learned weights
    beside the connectome's synapses; eye.png and leanings.png, the lattice, and the weights in each of its columns;
    tuning.png, T4 and T5 beside recorded cells; fly.mp4 and fly.gif, light and motion on the unrolled eye; and
    responses.nc or .zarr, the answers of all cells, which xarray opens. Lenses that see nothing of SOURCE are left out.
    Ctrl-C ends it; what was finished is kept.
    """
    files = [*PICTURES, *FILMS, {"nc": "responses.nc", "zarr": "responses.zarr/"}[given["responses"]]]
    sources = [given["source"], given["model"], *([given["eye"]] if given["eye"] not in EYES else [])]
    kept: list[Path] = []
    with one_line_errors(), plain_warnings(), results(out, files, sources=sources) as run:

        def keep() -> None:
            done = run.keep()
            kept.extend(done)
            note(*done)

        _check(given)
        eye = _eye(given)
        shown = _shown(given, eye)
        circuit = _circuit(given, eye)
        try:
            _portray(circuit, run, keep)
            found = _watch(circuit, shown, given, run, keep)
        except KeyboardInterrupt as error:
            if kept:
                error.add_note(f"{len(kept)} of {len(files)} files were finished: {out}")
            raise
    if json:
        say_json(found | {"files": kept})
    else:
        _tell(found)


def _tell(found: dict[str, Any]) -> None:
    n, there = found["frames"], found["frames_there"]
    frames = f"{n} frames" if there is None or there <= n else f"the first {n} of {there} frames"
    seen, rate = f"seen by {found['seeing']} of {found['lenses']} lenses", f"{found['frames_per_second']:.0f} frames/s"
    say(f"{found['source']}: {frames}, {seen}, {rate}")


PICTURES = ("inputs.png", "eye.png", "leanings.png", "tuning.png")
FILMS = ("fly.mp4", "fly.gif")


def _check(given: dict[str, Any]) -> None:
    """Refuse what would fail after minutes of work."""
    if given["source"] is None:
        for name in {"fov", *READING} - {"max_frames"}:
            if given[name] is not None:
                raise ValueError(f"--{name} is for a video; expected a SOURCE, too")
    if not math.isfinite(given["seconds"]):
        raise ValueError(f"--seconds is {given['seconds']}; expected a finite number")
    if given["responses"] == "zarr" and find_spec("zarr") is None:
        raise ValueError("--responses is zarr, which is not installed; pip install zarr, or choose nc")


def _eye(given: dict[str, Any]) -> Any:
    from flymotion.world import Hexagon
    from flymotion.world.compound_eyes import buchner, read_eye

    name, radius, side = (given[key] for key in ("eye", "radius", "side"))
    if radius is not None and name != "hex":
        raise ValueError(f"--radius is that of a hexagon; expected --eye hex, not {name}")
    if side is not None and name != "buchner":
        raise ValueError(f"--side is that of the measured eyes; expected --eye buchner, not {name}")
    if name == "hex":
        return Hexagon(radius or 8)
    if name == "buchner":
        return buchner(side or "both")
    try:
        return read_eye(name)
    except OSError as error:
        told = f"--eye is {name}: {error.strerror}; expected {', '.join(EYES)} or a CSV file of directions"
        raise ValueError(told) from error


def _spacing(eye: Any) -> float | None:
    from flymotion.circuits.column_signals import SPACING

    return SPACING if eye.positions.shape[1] < 3 else None


def _shown(given: dict[str, Any], eye: Any) -> Shown:
    """Return what is to be watched, as far as it is known: a video is opened, and not read yet."""
    from flymotion.flying import turning
    from flymotion.video import Frame

    if given["source"] is not None:
        return _film(given, eye)
    name = given["scene"] or SCENES[0]
    stimulus = turning(name, duration=given["max_frames"] * DT)
    blocks = stimulus.stream(eye, DT, spacing=_spacing(eye), block=20)
    lights = (light for block in blocks for light in block)
    frames = (Frame(light, k * DT, k == 0) for k, light in enumerate(lights))
    return Shown(name, frames, given["max_frames"], DT)


def _film(given: dict[str, Any], eye: Any) -> Shown:
    from flymotion.video import Camera, OntoEye, open_movie

    if given["scene"] is not None:
        raise ValueError(f"--scene {given['scene']} and a video; expected one of the two")
    reading = {name: given[name] for name in READING if given[name] is not None and name != "max_frames"}
    movie = open_movie(given["source"], **reading)  # all of it: that there is more is said
    if movie.n_frames_estimate == 0:
        raise ValueError(f"{movie.name}: has no frame between start and stop")
    if movie.rate is None:
        raise ValueError(f"{movie.name}: does not tell how many frames a second it has; expected --rate")
    fov = 90.0 if given["fov"] is None else given["fov"]
    onto = OntoEye(Camera(*movie.shape, fov=fov), eye, spacing=_spacing(eye))
    if not onto.seen.any():
        raise ValueError(f"{movie.name}: no lens sees {fov:g} degrees of it; expected a larger --fov")
    white = movie.white or 1.0
    first = islice(movie.frames(), given["max_frames"])
    frames = (frame._replace(image=onto(frame.image[None])[0] / white) for frame in first)
    return Shown(Path(movie.name).name, frames, movie.n_frames_estimate, 1 / movie.rate)


def _circuit(given: dict[str, Any], eye: Any) -> Any:
    """Return the circuit of a file, or else train one, and keep it there."""
    from flymotion.circuits import T4T5Circuit
    from flymotion.keeping import load, save

    model = given["model"]
    if model is not None and model.exists():
        circuit = load(model, kind=T4T5Circuit)
        if circuit.eye != eye:
            raise ValueError(f"{model}: is of another eye than asked for; expected one trained for it, or a new file")
        note(f"{model}: learned from {circuit.n_frames_seen_} frames; taken as it is")
        return circuit
    if model is not None:
        check(model, sources=[given["source"]])  # before minutes of work
    circuit = _trained(given, eye)
    if model is not None:
        note(save(circuit, model))
    return circuit


def _trained(given: dict[str, Any], eye: Any) -> Any:
    from flymotion.circuits.schooling import schooling
    from flymotion.circuits.t4t5 import T4T5Circuit

    n, seed = math.ceil(given["seconds"] / CLIP), given["seed"]
    with progress_bar("learning") as progress:
        clips = schooling(eye, n_clips=n, duration=given["seconds"] / n, dt=DT, random_state=seed)

        def told() -> Iterator[Any]:
            for k, clip in enumerate(clips):
                progress(k, n)
                yield clip

        return T4T5Circuit(eye, dt=DT, random_state=seed).fit(told())


def _portray(circuit: Any, run: Results, keep: Callable[[], None]) -> None:
    """Draw what was learned, and put each figure into its place as soon as it is there."""
    from flymotion.flying import portraits
    from flymotion.plots.canvas import save_figure

    drawn: dict[str, Callable[[], Any]] = {
        "inputs.png": lambda: portraits.draw_inputs(circuit),
        "eye.png": lambda: portraits.draw_lattice(circuit.eye),
        "leanings.png": lambda: portraits.draw_leanings(circuit),
        "tuning.png": lambda: portraits.draw_tuning(circuit),
    }
    with progress_bar("drawing") as progress:
        for k, (name, draw) in enumerate(drawn.items()):
            progress(k, len(drawn), name)
            save_figure(draw(), run.aside / name)
            keep()


def _watch(circuit: Any, shown: Shown, given: dict[str, Any], run: Results, keep: Callable[[], None]) -> dict[str, Any]:
    """Show a circuit what there is, and write what it answered; returns what there is to be said of it."""
    import numpy as np

    from flymotion.flying import Film, labelled, watch, write_film, write_labelled

    begun, there, most = time.perf_counter(), shown.n_frames, given["max_frames"]
    expected = None if there is None else min(there, most)
    with progress_bar("watching") as progress:
        watched = watch(circuit, shown.frames, dt=shown.dt, progress=lambda n: progress(n, expected))
    n, seeing = len(watched.times), np.isfinite(watched.light).any(axis=0)
    rate = n / (time.perf_counter() - begun)
    name = shown.name.encode("utf-8", "backslashreplace").decode()  # that of a file may be no text
    made = ", ".join(f"{key} {value}" for key, value in circuit.get_params().items() if key != "eye")
    about = {"shown": name, "dt": shown.dt, "circuit": made, "frames_learned_from": circuit.n_frames_seen_}
    found = labelled(watched, spacing=_spacing(circuit.eye), attrs=about)
    write_labelled(found, run.aside / f"responses.{given['responses']}")
    keep()
    film = Film(watched, name)
    with progress_bar("filming") as progress:
        write_film(film, *(run.aside / name for name in FILMS), progress=lambda n: progress(n, len(film)))
    keep()
    return {
        "source": shown.name,
        "frames": n,
        "frames_there": None if n < most else there,
        "lenses": len(seeing),
        "seeing": int(seeing.sum()),
        "frames_per_second": rate,
    }
