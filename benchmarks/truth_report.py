"""Draw and tabulate what `run.py truth --json FILE` measured: python benchmarks/truth_report.py FILE [docs].

Writes accuracy-size.png and accuracy-noise.png into the folder, and the tables of its accuracy.md between their marks.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from flymotion.plots.canvas import save_figure
from flymotion.writing import results, whole

METHODS = {
    "ours": "MotionField",
    "dis-ultrafast": "DIS ultrafast",
    "dis-fast": "DIS fast",
    "dis-medium": "DIS medium",
    "farneback": "Farneback",
}
STYLES = dict(zip(METHODS, ("C3o-", "C0v--", "C0s--", "C0D--", "C7^:"), strict=True))
SHADES = {"dis-ultrafast": 0.4, "dis-fast": 0.65}

SIZES = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8)
NOISES = (0, 1, 2, 5, 10)

Figures = dict[str, dict[str, float]]

ROWS = {
    "Dimetrodon, mean speed 2.1 px": "dimetrodon.1x.mean",
    "- most confident half": "dimetrodon.1x.confident.50",
    "- within 8 px of its edges": "dimetrodon.1x.edges.mean",
    "Dimetrodon / 2, 1.0 px": "dimetrodon.2x.mean",
    "Dimetrodon / 4, 0.5 px": "dimetrodon.4x.mean",
    "- most confident half ": "dimetrodon.4x.confident.50",
    "Stereo, 35 px": "stereo.1x.mean",
    "Stereo / 4, 9 px": "stereo.4x.mean",
    "Stereo / 8, 4.6 px": "stereo.8x.mean",
    "- within 8 px of its edges ": "stereo.8x.edges.mean",
    "Stereo / 16, 2.4 px": "stereo.16x.mean",
    **{
        f"Photographs, {size:g} px, noise {noise}": f"translation.{size:g}px.noise-{noise}.mean"
        for noise in (0, 2, 10)
        for size in (0.1, 0.25, 0.5, 1, 2, 8)
    },
    "Photographs, 0.25 px, noise 2, quarter of most contrast": "contrast.25",
    "- second quarter": "contrast.50",
    "- third quarter": "contrast.75",
    "- quarter of least contrast": "contrast.100",
    "Photographs turn by 0.2 deg, noise 2": "rotation.0.2deg.noise-2.mean",
    "Photographs turn by 1 deg, noise 2": "rotation.1deg.noise-2.mean",
    "Photographs grow by 0.2 %, noise 2": "zoom.0.002.noise-2.mean",
    "Photographs grow by 1 %, noise 2": "zoom.0.01.noise-2.mean",
    **{
        f"Panoramas, {size:g} px, noise {noise}": f"panorama.{size:g}px.noise-{noise}.mean"
        for noise in (0, 5)
        for size in (0.1, 0.5, 2)
    },
    "**Time** of 960 x 720 pixels [ms]": "time",
}

READERS = ("three-pixel", "learned-5", "learned-7", "three-pixel-9x9", "learned-7-9x9", "velocity", "peer")


def gathered(rows: list[dict[str, Any]]) -> Figures:
    """Return the figure of each method by what was measured; of directions, by way of reading them."""
    found: Figures = {}
    for row in rows:
        name = row["name"].removeprefix("truth.")
        what, _, method = name.rpartition(".")
        if name.startswith("direction."):
            found.setdefault(what, {})[method] = row["ours"]
            found[what]["peer"] = row["peer"]
            continue
        what, method = (what, method) if method in METHODS else (name, None)
        found.setdefault(what, {})["ours"] = row["ours"]
        if method:
            found[what][method] = row["peer"]
    return found


# -- tables ------------------------------------------------------------------------------------------------------------


def table(found: Figures) -> str:
    lines = ["| mean end-point error [px] | " + " | ".join(METHODS.values()) + " |", "|---" * (len(METHODS) + 1) + "|"]
    for label, what in ROWS.items():
        values = found.get(what, {})
        best = figure(min((v for v in values.values() if v is not None), default=None))
        texts = [figure(values.get(method)) for method in METHODS]
        cells = [f"**{text}**" if text == best != "-" else text for text in texts]
        lines.append(f"| {label.strip()} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def directions_table(found: Figures) -> str:
    titles = [name.replace("-9x9", ", 9 x 9") for name in READERS[:-1]]
    lines = ["| pixels right [%] | " + " | ".join(titles) + " | best flow |", "|---" * (len(READERS) + 1) + "|"]
    for noise in (0, 2, 10):
        for size in (0.1, 0.25, 1):
            values = found.get(f"direction.{size:g}px.noise-{noise}", {})
            cells = ["-" if values.get(name) is None else f"{values[name]:.0f}" for name in READERS]
            lines.append(f"| {size:g} px, noise {noise} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.{0 if value >= 10 else 1 if value >= 3 else 2 if value >= 0.1 else 3}f}"


def filled(page: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{content}\n{end}", page, flags=re.DOTALL)


# -- figures -----------------------------------------------------------------------------------------------------------


def panels(title_of: list[str]) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(9.5, 4), layout="constrained")
    axes = drawing.subplots(1, 2)
    for each, title in zip(axes, title_of, strict=True):
        each.set(title=title, ylabel="mean end-point error [px]")
        each.grid(alpha=0.3)
    return drawing, axes


def curve(axes: Any, method: str, x: Any, y: Any) -> None:
    if None not in y:
        axes.plot(x, y, STYLES[method], label=METHODS[method], alpha=SHADES.get(method, 1.0), markersize=5)


def draw_sizes(found: Figures) -> Any:
    noises = (0, 5)
    drawing, axes = panels([f"noise of {noise} grey levels" for noise in noises])
    for each, noise in zip(axes, noises, strict=True):
        for method in METHODS:
            curve(each, method, SIZES, [found[f"translation.{s:g}px.noise-{noise}.mean"].get(method) for s in SIZES])
        each.plot(SIZES, SIZES, color="0.6", linewidth=0.8, label="no motion seen")
        each.set(xscale="log", yscale="log", xlabel="motion [px]", ylim=(0.005, 10), xticks=SIZES)
        each.set_xticklabels([f"{s:g}" for s in SIZES])
        each.minorticks_off()
    axes[0].legend(fontsize="small")
    return drawing


def draw_noises(found: Figures) -> Any:
    drawing, (left, right) = panels(["photographs that move by 0.25 px", "the same, noise of 2 grey levels"])
    for method in METHODS:
        curve(left, method, NOISES, [found[f"translation.0.25px.noise-{n}.mean"].get(method) for n in NOISES])
        time, error = found["time"].get(method), found["translation.0.25px.noise-2.mean"].get(method)
        curve(right, method, [time], [error])
        if time:
            right.annotate(METHODS[method], (time, error), (0, 7), textcoords="offset points", ha="center", fontsize=8)
    left.set(xlabel="sensor noise, standard deviation [grey levels]", ylim=(0, None))
    right.set(xscale="log", xlabel="time for 960 x 720 pixels [ms]", xlim=(4, 1500), xticks=(10, 100, 1000))
    right.set_xticklabels(["10", "100", "1000"])
    right.minorticks_off()
    right.set_ylim(0, 1.15 * right.dataLim.y1)
    left.legend(fontsize="small")
    return drawing


def main() -> None:
    file, folder = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs")
    found = gathered(json.loads(file.read_text(encoding="utf-8")))
    page = folder / "accuracy.md"
    text = filled(page.read_text(encoding="utf-8"), "errors", table(found))
    with results(folder, sources=[file]) as run:
        for name, draw in (("size", draw_sizes), ("noise", draw_noises)):
            save_figure(draw(found), run.aside / f"accuracy-{name}.png", dpi=100)
        with whole(run.aside / page.name) as place:
            place.write_text(filled(text, "directions", directions_table(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
