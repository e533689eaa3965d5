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

from flymotion.cli import known_names
from flymotion.cli.common import figure, one_line_errors, say_json, table, width
from flymotion.cli.ending import note, say
from flymotion.cli.options import json_option, offering, out_option, several
from flymotion.cli.waiting import progress_bar
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


@click.command(short_help="List the detectors of motion there are.")
@click.argument("names", nargs=-1, metavar="[DETECTOR]...", shell_complete=offering(lambda: known_names.DETECTORS))
@json_option
def detectors(names: tuple[str, ...], json: bool) -> None:
    """List the detectors, all or those named, with their parameters and sources."""
    from flymotion.detectors import DETECTORS

    with one_line_errors():
        chosen = _chosen(names, DETECTORS, "detector")
    if json:
        return say_json([{"name": n, "parameters": _defaults(f), "source": f().source} for n, f in chosen.items()])
    rows = [[name, _parameters(make), make().source] for name, make in chosen.items()]
    table([("detector", "left"), ("parameters", "left"), ("source", "left")], rows)


@click.command(short_help="List the stimuli there are.")
@click.argument("names", nargs=-1, metavar="[STIMULUS]...", shell_complete=offering(lambda: known_names.STIMULI))
@json_option
def stimuli(names: tuple[str, ...], json: bool) -> None:
    """List the stimuli, all or those named, with what they are and their parameters."""
    from flymotion.stimuli import STIMULI

    with one_line_errors():
        chosen = _chosen(names, STIMULI, "stimulus")
    if json:
        return say_json(
            [{"name": name, "what": _summary(make), "parameters": _defaults(make)} for name, make in chosen.items()]
        )
    table(
        [("stimulus", "left"), ("what it is", "left"), ("parameters", "left")],
        [[name, _summary(make), _parameters(make)] for name, make in chosen.items()],
    )


def _chosen(names: Sequence[str], known: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return those that are named, or all."""
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"there is no {what} {unknown[0]!r}; expected some of {', '.join(known)}")
    return {name: known[name] for name in names or known}


def _defaults(make: Callable[..., Any]) -> dict[str, Any]:
    """Return parameters and their defaults: numbers and truths as they are, others in words."""
    shown = inspect.signature(make).parameters.values()
    plain = (int, float, type(None))
    return {p.name: p.default if isinstance(p.default, plain) else _brief(p.default) for p in shown}


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


@click.command(short_help="Run the classic experiments on a detector or a model.")
@click.argument(
    "detector", metavar="DETECTOR|MODEL", shell_complete=offering(lambda: known_names.DETECTORS, files=True)
)
@click.option(
    "--experiment",
    "names",
    metavar="NAME[,...]",
    multiple=True,
    callback=several,
    shell_complete=offering(lambda: known_names.EXPERIMENTS, commas=True),
    help="Some of the experiments. All by default.",
)
@click.option(
    "--recording",
    metavar="FILE",
    shell_complete=offering(lambda: [PUBLISHED], files=True),
    help='Direction tuning to compare with: a CSV file, or "published".',
)
@out_option("flymotion-tuning")
@json_option
def tune(detector: str, names: list[str] | None, recording: str | None, out: Path, json: bool) -> None:
    """Run the classic experiments on DETECTOR (see "flymotion detectors") or on a learned MODEL, a file.

    The experiments are local, summed, direction, frequency, velocity, contrast, duration, apparent-motion, reverse-phi,
    gliders and edges.

    Writes, for each experiment, the labelled responses as netCDF and a figure as PNG into the folder OUT, as soon as it
    is finished. Beside a recording responses are half-wave rectified, those of every detector and model, as a cell's
    are; the table also says what they correlate as they are, raw. Ctrl-C ends it; experiments that were finished are
    kept.
    """
    from flymotion.tuning import EXPERIMENTS

    with one_line_errors():
        stem, wanted = Path(detector).stem, list(_chosen(names or (), EXPERIMENTS, "experiment"))
        files = [f"{stem}-{name}.{suffix}" for name in wanted for suffix in ("nc", "png")]
        files += [f"{stem}-recording.png"] if recording is not None else []
        with results(out, files, sources=_files(detector, recording)) as run:
            recorded = None if recording is None else _recording(recording)
            _tune(_detector(detector), wanted, run, stem)
            cells = []
            if recorded is not None:
                cells = _beside(_detector(detector), recorded, run.aside / f"{stem}-recording.png")
                note(*run.keep())
    if json:
        say_json({"detector": detector, "experiments": wanted, "recording": cells, "files": [out / f for f in files]})
    elif cells:
        _show_cells(cells)


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
                note(*run.keep())
    except KeyboardInterrupt as error:
        if done:
            error.add_note(f"{done} of {len(wanted)} experiments were finished: {run.folder}")
        raise


def _recording(source: str) -> Any:
    from flymotion.tuning import recordings

    return recordings.published() if source == PUBLISHED else recordings.read_recording(source)


def _beside(detector: Any, recorded: Any, path: Path) -> list[dict[str, Any]]:
    """Draw a detector beside recordings; returns what each cell's measures are."""
    from flymotion import plots
    from flymotion.detectors import rectified
    from flymotion.plots.canvas import save_figure
    from flymotion.tuning import experiment, recordings

    both = recordings.compare(experiment("direction", rectified(detector)), recorded)
    raw = recordings.compare(experiment("direction", detector), recorded)
    both = both.assign(correlation_raw=raw.correlation_raw)
    save_figure(plots.draw_comparison(both), path)
    measured = ("correlation", "correlation_raw", "correlation_cosine")
    cells = []
    for cell in both.cell.values:
        values = {name: float(both[name].sel(cell=cell)) for name in measured}
        for name in ("half_width", "dsi"):
            values |= {f"{name}_{curve}": float(both[name].sel(cell=cell, curve=curve)) for curve in CURVES}
        cells.append({"cell": str(cell), **values})
    return cells


def _show_cells(cells: Sequence[Mapping[str, Any]]) -> None:
    titles = ("cell", "correlation", "raw", "a cosine's", "half-width [deg]", "model's [deg]", "DSI", "model's DSI")
    rows = [[name, *map(figure, measures)] for name, *measures in (cell.values() for cell in cells)]
    table([(title, "right" if k else "left") for k, title in enumerate(titles)], rows)


CURVES = ("recording", "model")


@click.command(short_help="Put detectors and models side by side.")
@click.argument(
    "names",
    nargs=-1,
    metavar="[DETECTOR|MODEL]...",
    shell_complete=offering(lambda: known_names.DETECTORS, files=True),
)
@out_option("flymotion-tuning")
@json_option
def compare(names: tuple[str, ...], out: Path, json: bool) -> None:
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
            _show(found, run, json, unfinished=True)
            raise
        _show(found, run, json)


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


def _show(found: dict[str, Any], run: Results, json: bool, *, unfinished: bool = False) -> None:
    """Write and print what was found."""
    from flymotion import plots
    from flymotion.plots.canvas import save_figure

    units = [unit for name, each in found.items() for unit in _units(name, each.numbers)]
    _write(units, run.aside / "compare.csv")
    save_figure(plots.draw_sheet(found), run.aside / "compare.png")
    kept = run.keep(unfinished=unfinished)
    if json:
        return say_json({"detectors": [{"detector": name, **numbers} for name, numbers in units], "files": kept})
    table([("detector", "left"), *((title, "right") for title in MEASURES)], [_row(*unit) for unit in units])
    say(textwrap.fill(LEGEND, width()))
    note(*kept)


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
