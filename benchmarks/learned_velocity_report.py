"""Tabulate and draw what `run.py learned-velocity --json FILE` measured: learned_velocity_report.py FILE [docs].

Writes learned-velocity.png into the folder, and the tables of its learned-velocity.md between their marks.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from cameras import CAMERAS
from learned_velocity import HAND, SPEEDS
from regressions import RIDGES

from flymotion.plots.canvas import save_figure
from flymotion.writing import results, whole

LEARNED = {"learned-5": "learned 5 x 5", "learned-9": "learned 9 x 9", "learned-slopes": "learned slopes"}

NULLS = {
    "hand-11": "hand-wired, 11",
    "hand-13": "13",
    "hand-15": "15",
    "vision-alone": "vision alone",
    "bundled-5": "bundled photographs",
    "gaussian-told": "Gaussian, told",
    "gaussian-as-wide": "Gaussian, as wide",
    "wiener": "Wiener",
}

CEILING = {"taps-told": "taps, told"}

TITLES = {"noise": "ridge in units of the noise", "plain": "ridge in units of the slopes"}

TICKS = (0.8, 1, 1.2, 1.5, 2, 3, 5, 10)

STYLES = {
    "learned-5": "C3o",
    "learned-9": "C1s",
    "learned-slopes": "C8^",
    "vision-alone": "C0x",
    "bundled-5": "C2+",
    "wiener": "C4.",
    "gaussian-as-wide": "C7|",
    "taps-told": "k*",
}

Found = dict[tuple[str, float, str, str], float]


def gathered(rows: list[dict[str, Any]]) -> Found:
    values = {row["name"]: row["ours"] for row in rows}
    keys = [(c, s, r, m) for c in CAMERAS for s in SPEEDS for r in RIDGES for m in (*LEARNED, *NULLS, *CEILING)]
    keys += [(c, s, "noise", "MotionField") for c in CAMERAS for s in SPEEDS]
    return {key: values["learned-velocity.{}.{:g} px.{}.{}".format(*key)] for key in keys}


def gain(found: Found, camera: str, speed: float, ridge: str) -> float:
    """Return how much less the error of the best learned method is than that of the best null, as a share."""
    learned, null = (min(found[camera, speed, ridge, m] for m in some) for some in (LEARNED, NULLS))
    return 1 - learned / null


def errors(found: Found, speed: float, ridge: str) -> str:
    """Return the table of a speed and a ridge, losses first."""
    columns = LEARNED | NULLS | CEILING | ({"MotionField": "`MotionField`"} if ridge == "noise" else {})
    lines = ["| " + " | ".join(["mean error [px]", *columns.values()]) + " |", "|---" * (len(columns) + 1) + "|"]
    for camera in sorted(CAMERAS, key=lambda camera: gain(found, camera, speed, ridge)):
        values = {m: found[camera, speed, ridge, m] for m in columns}
        least = min(value for m, value in values.items() if m in LEARNED or m in NULLS)
        cells = [
            f"**{v:.3f}**" if f"{v:.3f}" == f"{least:.3f}" and m != "MotionField" else f"{v:.3f}"
            for m, v in values.items()
        ]
        lines.append(f"| {camera} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(found: Found) -> str:
    """Return the table of ratios to hand-wired slopes, over cameras, and how often something learned is the best."""
    shown = LEARNED | {m: NULLS[m] for m in NULLS if m != HAND} | CEILING
    lines = [
        "| error relative to hand-wired slopes, window of 15 | "
        + " | ".join(f"{speed:g} px, {ridge}" for ridge in RIDGES for speed in SPEEDS)
        + " |",
        "|---" * 7 + "|",
    ]
    for method, title in shown.items():
        cells = []
        for ridge in RIDGES:
            for speed in SPEEDS:
                ratios = [found[c, speed, ridge, method] / found[c, speed, ridge, HAND] for c in CAMERAS]
                cells.append(f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        title = f"hand-wired, {title}" if method == "hand-13" else title
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    wins = []
    for ridge in RIDGES:
        for speed in SPEEDS:
            gains = {c: gain(found, c, speed, ridge) for c in CAMERAS}
            best = max(gains, key=gains.__getitem__)
            wins.append(f"{sum(g > 0 for g in gains.values())} of {len(gains)}; {100 * gains[best]:+.1f} %, {best}")
    lines.append("| cameras on which something learned beats all nulls; largest gain | " + " | ".join(wins) + " |")
    return "\n".join(lines)


def ridges(found: Found) -> str:
    """Return the table of hand-wired slopes with either ridge."""
    heads = [f"{speed:g} px, {ridge}" for speed in SPEEDS for ridge in RIDGES]
    lines = ["| mean error [px] | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for camera in CAMERAS:
        pairs = [[f"{found[camera, speed, ridge, 'hand-11']:.3f}" for ridge in RIDGES] for speed in SPEEDS]
        cells = [f"**{text}**" if text == min(pair) else text for pair in pairs for text in pair]
        lines.append(f"| {camera} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def drawn(found: Found) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6), layout="constrained")
    names = list(CAMERAS)[::-1]
    for axes, ridge in zip(figure.subplots(1, 2, sharey=True), RIDGES[::-1], strict=True):
        for method, style in STYLES.items():
            ratios = [found[c, 0.3, ridge, method] / found[c, 0.3, ridge, HAND] for c in names]
            label = (LEARNED | NULLS | CEILING)[method]
            axes.plot(ratios, range(len(names)), style, label=label, markersize=7, markerfacecolor="none")
        axes.axvline(1.0, color="0.6", linewidth=0.8)
        axes.set(title=TITLES[ridge], xscale="log", xlabel="error relative to hand-wired slopes, motion of 0.3 px")
        axes.set_yticks(range(len(names)), names)
        axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axes.set_xlim(0.9 * axes.dataLim.x0, 1.1 * axes.dataLim.x1)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.axes[1].legend(fontsize="small", loc="lower right")
    return figure


def filled(page: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{content}\n{end}", page, flags=re.DOTALL)


def main() -> None:
    file, folder = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs")
    found = gathered(json.loads(file.read_text(encoding="utf-8")))
    page = folder / "learned-velocity.md"
    text = filled(page.read_text(encoding="utf-8"), "summary", summary(found))
    for ridge in RIDGES:
        text = filled(text, ridge, errors(found, 0.3, ridge))
    text = filled(text, "ridges", ridges(found))
    with results(folder, sources=[file]) as run:
        save_figure(drawn(found), run.aside / "learned-velocity.png", dpi=100)
        with whole(run.aside / page.name) as place:
            place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
