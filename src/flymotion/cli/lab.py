"""``flymotion tune``, ``compare``, ``detectors`` and ``stimuli``: the motion lab."""

from __future__ import annotations

import csv
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from flymotion.cli.common import figure, one_line_errors, out_option, progress_bar, table, width
from flymotion.cli.ending import say
from flymotion.writing import UNFINISHED, Results, results, whole

__all__ = ["compare", "detectors", "stimuli", "tune"]

MEASURES = {
    "PD [deg]": ("preferred_direction", None),
    "half-width": ("half_width", None),
    "DSI": ("dsi", None),
    "1-ND/PD": ("dsi_over_preferred", None),
    "TF [Hz]": ("temporal_frequency", None),
    "exponent": ("contrast_exponent", None),
    "reverse-phi": ("reverse_phi", "phi"),
    "glider 2-": ("two_point_negative", "two_point_positive"),
    "3 conv.": ("converging_positive", "two_point_positive"),
    "3 div.": ("diverging_positive", "two_point_positive"),
}
"""What a table calls the numbers of a characterisation that it shows, and what each is divided by."""

PUBLISHED = "published"
"""What stands for the recordings that come with the package."""

LEGEND = (
    "half-width of direction tuning in deg; DSI (PD-ND)/(PD+ND), rectified; TF of the largest response; exponent of "
    "contrast where it is low; net responses (preferred less null motion): reverse-phi over phi; over that to the "
    "positive two-point glider, those to the negative one and to three-point ones, converging and diverging"
)


@click.command()
def detectors() -> None:
    """List the detectors, with their parameters and sources."""
    from flymotion.detectors import DETECTORS

    rows = [[name, _parameters(make), make().source] for name, make in DETECTORS.items()]
    table([("detector", "left"), ("parameters", "left"), ("source", "left")], rows)


@click.command()
def stimuli() -> None:
    """List the stimuli, with their parameters."""
    from flymotion.stimuli import STIMULI

    table(
        [("stimulus", "left"), ("what it is", "left"), ("parameters", "left")],
        [[name, _summary(make), _parameters(make)] for name, make in STIMULI.items()],
    )


def _summary(make: Callable[..., Any]) -> str:
    return (inspect.getdoc(make) or "").partition("\n\n")[0].removeprefix("Return ").replace("``", "").rstrip(".")


def _parameters(make: Callable[..., Any]) -> str:
    """Return parameters and their defaults; those that are None by default by name alone."""
    shown = inspect.signature(make).parameters.values()
    return ", ".join(p.name if p.default is None else f"{p.name} {_brief(p.default)}" for p in shown)


def _brief(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_brief, value))})"
    if is_dataclass(value):
        given = [getattr(value, f.name) for f in fields(value) if getattr(value, f.name) != f.default]
        return f"{type(value).__name__}({', '.join(map(_brief, given))})"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@click.command()
@click.argument("detector", metavar="DETECTOR|MODEL")
@click.option(
    "--experiment", "names", multiple=True, help="One of the experiments; may be given again. All by default."
)
@click.option("--recording", metavar="FILE", help='Direction tuning to compare with: a CSV file, or "published".')
@out_option("flymotion-tuning")
def tune(detector: str, names: tuple[str, ...], recording: str | None, out: Path) -> None:
    """Run the classic experiments on DETECTOR (see "flymotion detectors") or on a learned MODEL, a file.

    The experiments are local, summed, direction, frequency, velocity, contrast, duration, apparent-motion, reverse-phi,
    gliders and edges.

    Writes, for each experiment, the labelled responses as netCDF and a figure as PNG into the folder OUT, as soon as it
    is finished. Beside a recording responses are half-wave rectified, those of every detector and model, as a cell's
    are; the table also says what they correlate as they are, raw.
    """
    from flymotion.tuning import EXPERIMENTS

    stem, wanted = Path(detector).stem, names or tuple(EXPERIMENTS)
    with one_line_errors():
        if unknown := [name for name in names if name not in EXPERIMENTS]:
            raise ValueError(f"there is no experiment {unknown[0]!r}; expected one of {', '.join(EXPERIMENTS)}")
        files = [f"{stem}-{name}.{suffix}" for name in wanted for suffix in ("nc", "png")]
        files += [f"{stem}-recording.png"] if recording is not None else []
        with results(out, files, sources=_files(detector, recording)) as run:
            recorded = None if recording is None else _recording(recording)
            _tune(_detector(detector), wanted, run, stem)
            if recorded is not None:
                _beside(_detector(detector), recorded, run.aside / f"{stem}-recording.png")
                say(*run.keep())


def _tune(detector: Any, wanted: Sequence[str], run: Results, stem: str) -> None:
    """Run experiments, and put what each gives into its place."""
    from flymotion import plots
    from flymotion.plots.canvas import save_figure
    from flymotion.tuning import experiment

    done = 0
    try:
        with progress_bar("tuning") as progress:
            for done, name in enumerate(wanted):
                progress(done, len(wanted), name)
                found = experiment(name, detector)
                path = run.aside / f"{stem}-{name}.nc"
                with whole(path) as place:
                    found.to_netcdf(place, engine="scipy")
                save_figure(plots.draw_tuning(found), path.with_suffix(".png"))
                say("\n".join(map(str, run.keep())))
    except KeyboardInterrupt as error:
        if done:
            error.add_note(f"{done} of {len(wanted)} experiments were finished: {run.folder}")
        raise


def _recording(source: str) -> Any:
    from flymotion.tuning import recordings

    return recordings.published() if source == PUBLISHED else recordings.read_recording(source)


def _beside(detector: Any, recorded: Any, path: Path) -> None:
    from flymotion import plots
    from flymotion.detectors import rectified
    from flymotion.plots.canvas import save_figure
    from flymotion.tuning import experiment, recordings

    both = recordings.compare(experiment("direction", rectified(detector)), recorded)
    raw = recordings.compare(experiment("direction", detector), recorded)
    both = both.assign(correlation_raw=raw.correlation_raw)
    save_figure(plots.draw_comparison(both), path)
    measured = ("correlation", "correlation_raw", "correlation_cosine")
    table(
        [
            ("cell", "left"),
            ("correlation", "right"),
            ("raw", "right"),
            ("a cosine's", "right"),
            ("half-width [deg]", "right"),
            ("model's [deg]", "right"),
            ("DSI", "right"),
            ("model's DSI", "right"),
        ],
        [
            [str(cell), *(figure(float(both[name].sel(cell=cell))) for name in measured)]
            + [figure(float(both[name].sel(cell=cell, curve=c))) for name in ("half_width", "dsi") for c in CURVES]
            for cell in both.cell.values
        ],
    )


CURVES = ("recording", "model")


@click.command()
@click.argument("names", nargs=-1, metavar="[DETECTOR|MODEL]...")
@out_option("flymotion-tuning")
def compare(names: tuple[str, ...], out: Path) -> None:
    """Put detectors side by side: all, or those named, or learned models.

    Prints a table and writes its numbers, compare.csv, and one sheet of figures, compare.png, into the folder OUT.
    Ctrl-C ends it; the detectors that were finished by then are put into OUT/unfinished.
    """
    from flymotion.detectors import DETECTORS

    with one_line_errors(), results(out, SHEET, sources=_files(*names)) as run:
        made = {label: _detector(name) for label, name in _labelled(names or tuple(DETECTORS)).items()}
        found: dict[str, Any] = {}
        try:
            _characterise(made, found)
        except KeyboardInterrupt as error:
            if not found:
                raise
            error.add_note(f"{len(found)} of {len(made)} detectors were finished: {run.folder / UNFINISHED}")
            _show(found, run, unfinished=True)
            raise
        _show(found, run)


SHEET = ("compare.csv", "compare.png")


def _characterise(made: Mapping[str, Any], found: dict[str, Any]) -> None:
    """Characterise detectors, and note what is found as it comes."""
    from flymotion.claims.running import finished, on_cores
    from flymotion.tuning import characterise

    with progress_bar("comparing") as progress:

        def tell() -> None:
            progress(len(found), len(made), list(made)[min(len(found), len(made) - 1)])

        tell()
        work = {name: partial(characterise, detector) for name, detector in made.items()}
        for name, of_detector in finished(work, on_cores(2)):
            found[name] = of_detector
            tell()


def _show(found: dict[str, Any], run: Results, *, unfinished: bool = False) -> None:
    """Write and print what was found."""
    from flymotion import plots
    from flymotion.plots.canvas import save_figure

    units = [unit for name, each in found.items() for unit in _units(name, each.numbers)]
    _write(units, run.aside / "compare.csv")
    save_figure(plots.draw_sheet(found), run.aside / "compare.png")
    kept = run.keep(unfinished=unfinished)
    table([("detector", "left"), *((title, "right") for title in MEASURES)], [_row(*unit) for unit in units])
    say(textwrap.fill(LEGEND, width()))
    say("\n".join(map(str, kept)))


def _files(*names: str | None) -> list[str]:
    """Return those names that are not of detectors or of published recordings, but of files."""
    from flymotion.detectors import DETECTORS

    return [name for name in names if name is not None and name not in {*DETECTORS, PUBLISHED}]


def _labelled(names: Sequence[str]) -> dict[str, str]:
    """Return names by short labels: a file by its name, or by its path where others have that name too."""
    different = list(dict.fromkeys(names))
    stems = [Path(name).stem for name in different]
    return {name if stems.count(stem) > 1 else stem: name for name, stem in zip(different, stems, strict=True)}


def _units(name: str, numbers: Any) -> list[tuple[str, dict[str, float]]]:
    """Return the numbers of each unit of a detector, and what to call it."""
    from flymotion.tuning.provenance import of_units

    return [
        (f"{name} {unit}".strip(), {key: float(value) for key, value in one.data_vars.items()})
        for unit, one in of_units(numbers)
    ]


def _row(name: str, numbers: Mapping[str, float]) -> list[str]:
    values = [numbers[key] / (1 if over is None else numbers[over] or math.nan) for key, over in MEASURES.values()]
    return [name, *(f"{value:.3g}" for value in values)]


def _write(units: Sequence[tuple[str, Mapping[str, float]]], path: Path) -> None:
    with whole(path) as place, place.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        writer = csv.writer(file)
        writer.writerow(["detector", *units[0][1]])
        writer.writerows([name, *numbers.values()] for name, numbers in units)


def _detector(name: str) -> Any:
    """Return a detector by its name, or of a model file."""
    from flymotion.detectors import DETECTORS, of_learner
    from flymotion.keeping import load
    from flymotion.learner import MotionLearner

    known: Mapping[str, Callable[[], Any]] = DETECTORS
    if name in known:
        return known[name]()
    if not Path(name).exists():
        raise ValueError(f"there is no detector or file {name!r}; expected one of {', '.join(known)}, or a model")
    learner = load(name, kind=MotionLearner)
    try:
        return of_learner(learner)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
