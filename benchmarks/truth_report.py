"""Draw and tabulate what was measured against known motion: python benchmarks/truth_report.py FILE [docs].

FILE is what `run.py truth pareto --json FILE` wrote; where there is none it is measured first, in some eight minutes.
Writes the figures accuracy-*.png into the folder, and the tables of its accuracy.md between their marks.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pareto import TIMES, Figure, Figures, as_fast, beaten, gathered
from truth_cases import cases
from truth_figures import draw_noises, draw_pareto, draw_sizes
from truth_methods import LABELS, NAMED, PRESETS, SPEEDS

from flymotion.plots.canvas import save_figure
from flymotion.writing import results, whole

READERS = ("three-pixel", "learned-5", "learned-7", "three-pixel-9x9", "learned-7-9x9", "velocity")


def markdown(titles: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    cells = [titles, ["---"] * len(titles), *lines]
    return (
        "\n".join("| " + " | ".join(line) + " |" for line in cells)
        .replace("| --- |", "|---|")
        .replace(" --- |", "---|")
    )


def figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.{0 if value >= 10 else 1 if value >= 3 else 2 if value >= 0.1 else 3}f}"


def presets(found: dict[str, Figures]) -> list[str]:
    """Return the presets that were measured: none without OpenCV."""
    return [preset for preset in PRESETS if all(preset in figures for figures in found.values())]


def kinds(found: dict[str, Figures]) -> dict[str, list[str]]:
    """Return the names of the cases of each kind."""
    named: dict[str, list[str]] = {}
    for name in found:
        named.setdefault(cases()[name].kind, []).append(name)
    return named


# -- error and time ----------------------------------------------------------------------------------------------------


def summary(found: dict[str, Figures]) -> str:
    """Count, of each kind and preset, the cases where a setting of ours is as fast and as accurate."""
    groups = [(kind, names, SPEEDS) for kind, names in kinds(found).items()]
    groups += [("**all**", [*found], SPEEDS), ("all, by the three speeds alone", [*found], NAMED)]
    lines = []
    for kind, names, ours in groups:
        counts = [[sum(beaten(found[n], p, time, ours) for n in names) for time in TIMES] for p in presets(found)]
        lines.append([kind, str(len(names)), *(f"{large}, {own}" for large, own in counts)])
    return markdown(["cases", "of them", *(LABELS[preset] for preset in presets(found))], lines)


def losses(found: dict[str, Figures]) -> str:
    """Tabulate each case and preset that no setting of ours beats at both sizes; those it never beats, worst, first."""
    lines = []
    for name, figures in found.items():
        for preset in presets(found):
            lost = [time for time in TIMES if not beaten(figures, preset, time)]
            if lost:
                best = as_fast(figures, preset, lost[0])
                behind = figures[best or SPEEDS[0]].error / figures[preset].error
                lines.append(((len(lost) == 2, behind), loss(name, figures, preset, lost, best)))
    ordered = [line for _, line in sorted(lines, key=lambda pair: pair[0], reverse=True)]
    titles = ["case", "preset", "error, time", "ours that is as fast", "ours, most accurate", "lost"]
    return markdown(titles, ordered)


def loss(name: str, figures: Figures, preset: str, lost: Sequence[str], best: str | None) -> list[str]:
    case, most = cases()[name], min(SPEEDS, key=lambda speed: figures[speed].error)
    return [
        f"{case.kind}: {case.label}",
        LABELS[preset],
        cell(figures[preset]),
        f"{best}: {cell(figures[best])}" if best else "none",
        "the same" if most == best else f"{most}: {cell(figures[most])}",
        "both" if len(lost) == 2 else TIMES[lost[0]],
    ]


def cell(each: Figure) -> str:
    return f"{figure(each.error)} px, {figure(each.ms)} / {figure(each.ms_own)} ms"


def errors_table(found: dict[str, Figures]) -> str:
    lines = []
    for kind, names in kinds(found).items():
        lines.append([f"*{kind}*", *[""] * len(LABELS)])
        for name in names:
            values = [found[name][method].error if method in found[name] else None for method in LABELS]
            best = figure(min(value for value in values if value is not None))
            texts = [figure(value) for value in values]
            lines.append([cases()[name].label, *(f"**{text}**" if text == best else text for text in texts)])
    return markdown(["mean end-point error [px]", *LABELS.values()], lines)


def times_table(found: dict[str, Figures]) -> str:
    """Tabulate the median times of each kind of case, at 960 x 720 pixels and at its own size."""
    lines = []
    for kind, names in {**kinds(found), "**all**": list(found)}.items():
        cells = []
        for method in LABELS:
            taken = [[getattr(found[n][method], time) for time in TIMES] for n in names if method in found[n]]
            cells.append(" / ".join(map(figure, np.median(taken, axis=0))) if taken else "-")
        lines.append([kind, *cells])
    return markdown(["median time [ms]: 960 x 720 / own size", *LABELS.values()], lines)


# -- the rest ----------------------------------------------------------------------------------------------------------


def directions_table(rows: Sequence[dict[str, Any]]) -> str:
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["name"].startswith("truth.direction."):
            what, _, method = row["name"].removeprefix("truth.direction.").rpartition(".")
            found.setdefault(what, {})[method] = row["ours"]
            found[what]["peer"] = row["peer"]
    titles = [name.replace("-9x9", ", 9 x 9") for name in READERS]
    lines = []
    for noise in (0, 2, 10):
        for size in (0.1, 0.25, 1):
            values = found.get(f"{size:g}px.noise-{noise}", {})
            cells = ["-" if values.get(name) is None else f"{values[name]:.0f}" for name in (*READERS, "peer")]
            lines.append([f"{size:g} px, noise {noise}", *cells])
    return markdown(["pixels right [%]", *titles, "best flow"], lines)


def trust_table(rows: Sequence[dict[str, Any]]) -> str:
    """Tabulate how far the estimate of the error is right, of each kind of case."""
    found = {row["name"]: row for row in rows if row["name"].startswith("truth.error.")}
    lines = []
    for kind in dict.fromkeys(name.removeprefix("truth.error.").rpartition(".")[0] for name in found):
        within, median, told = (found[f"truth.error.{kind}.{what}"] for what in ("within", "median", "told"))
        cells = [f"{within['ours']:.0f}", figure(median["ours"]), figure(median["peer"]), f"{told['ours']:.0f}"]
        lines.append([kind, *cells])
    titles = ["cases", "within twice the estimate [%]", "median estimate / median error"]
    titles += ["the same of one number for all", "pixels with an estimate [%]"]
    return markdown(titles, lines)


def measured_with(rows: Sequence[dict[str, Any]], found: dict[str, Figures]) -> str:
    notes = [row["note"].rpartition("; ")[2] for row in rows if row["name"].endswith(PRESETS)]
    peer = f"Measured with {notes[0]}" if notes else "Measured without OpenCV"
    return f"{peer}: {len(found)} cases, {len(SPEEDS)} settings of ours."


def filled(page: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if begin not in page:
        raise ValueError(f"the page has no mark {begin!r}")
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{content}\n{end}", page, flags=re.DOTALL)


def main() -> None:
    file, folder = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs")
    if not file.exists():
        command = [sys.executable, str(Path(__file__).with_name("run.py")), "truth", "pareto", "--json", str(file)]
        subprocess.run(command, check=True)
    rows = json.loads(file.read_text(encoding="utf-8"))
    found = gathered(rows)
    page = folder / "accuracy.md"
    text = page.read_text(encoding="utf-8")
    for name, content in {
        "measured": measured_with(rows, found),
        "summary": summary(found),
        "losses": losses(found),
        "errors": errors_table(found),
        "times": times_table(found),
        "trust": trust_table(rows),
        "directions": directions_table(rows),
    }.items():
        text = filled(text, name, content)
    with results(folder, sources=[file]) as run:
        for name, drawing in {
            "time": draw_pareto(found, "ms"),
            "own-time": draw_pareto(found, "ms_own"),
            "size": draw_sizes(found),
            "noise": draw_noises(found),
        }.items():
            save_figure(drawing, run.aside / f"accuracy-{name}.png", dpi=100)
        with whole(run.aside / page.name) as place:
            place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
