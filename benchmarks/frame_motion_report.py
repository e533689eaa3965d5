"""Fill in the tables of frame-motion.md: python benchmarks/frame_motion_report.py FILE [docs].

FILE is what `run.py frame-motion --json FILE` wrote; where there is none it is measured first, in some minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frame_motion import FIGURES, NOISES
from truth_report import figure, filled

from flymotion.writing import whole

METHODS = {
    "ours": "ours",
    "dis-ultrafast": "DIS ultrafast, homography",
    "dis-fast": "DIS fast, homography",
    "features": "corners, similarity",
    "features-homography": "corners, homography",
    "rest": "saying: at rest",
}


Found = dict[str, dict[str, float]]


def gathered(rows: Sequence[dict[str, Any]]) -> tuple[Found, dict[str, str]]:
    """Return the figures of all methods by what was measured, and what was seen."""
    found: Found = {}
    notes: dict[str, str] = {}
    for row in rows:
        what, _, method = row["name"].removeprefix("frame-motion.").rpartition(".")
        found.setdefault(what, {"ours": row["ours"]})[method] = row["peer"]
        notes[what] = row["note"]
    return found, notes


def table(found: Found, notes: dict[str, str], figure_of: str, kinds: Sequence[str]) -> str:
    """Return a table of one figure; a cell has it without noise, and with."""
    methods = [name for name in METHODS if any(name in values for values in found.values())]
    lines = ["| | " + " | ".join(METHODS[name] for name in methods) + " |", "|---" * (len(methods) + 1) + "|"]
    worlds_seen = dict.fromkeys(what.rpartition(".noise-")[0] for what in found if what.endswith(f".{figure_of}"))
    for world in (world for world in worlds_seen if world.startswith(tuple(kinds))):
        rows = [found[f"{world}.noise-{noise}.{figure_of}"] for noise in NOISES]
        best = [figure(min(row[name] for name in methods if name != "rest")) for row in rows]
        cells = [
            " / ".join(
                f"**{text}**" if (text := figure(row[name])) == least and name != "rest" else text
                for row, least in zip(rows, best, strict=True)
            )
            for name in methods
        ]
        label = notes[f"{world}.noise-{NOISES[0]}.{figure_of}"].partition(", noise")[0]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def losses(found: Found, notes: dict[str, str]) -> str:
    """Return every figure in which a method of OpenCV has less than 0.9 of our error, and 0.005 less, worst first."""
    lost = []
    for what, values in found.items():
        peers = {name: value for name, value in values.items() if name not in ("ours", "rest")}
        best, ours = min(peers, key=peers.__getitem__), values["ours"]
        if not what.startswith("time") and not what.endswith(".worst") and peers[best] < min(0.9 * ours, ours - 0.005):
            name = what.rpartition(".")[2]
            label = notes[what].partition(";")[0], f"{name} [{FIGURES.get(name, 'px')}]", figure(ours)
            lost.append((ours / max(peers[best], 1e-9), [*label, figure(peers[best]), METHODS[best]]))
    lines = ["| what is seen | error of | ours | best of OpenCV | which |", "|---|---|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |" for _, cells in sorted(lost, key=lambda each: -each[0])])


def counts(found: Found) -> str:
    """Return how often ours has the smaller error, of each figure."""
    lines = ["| ours has no more error than | " + " | ".join(FIGURES) + " |", "|---" * (len(FIGURES) + 1) + "|"]
    for peer, label in METHODS.items():
        cells = []
        for name in FIGURES:
            pairs = [(v["ours"], v[peer]) for what, v in found.items() if what.endswith(f".{name}") and peer in v]
            cells.append(f"{sum(mine <= other for mine, other in pairs)} of {len(pairs)} times")
        if peer not in ("ours", "rest"):
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def time_table(found: Found, notes: dict[str, str]) -> str:
    times_of = found["time"]
    lines = ["| " + " | ".join(METHODS[name] for name in times_of) + " |", "|---" * len(times_of) + "|"]
    lines.append("| " + " | ".join(f"{value:.1f}" for value in times_of.values()) + " |")
    return "\n".join([*lines, "", f"Milliseconds a frame of {notes['time']}."])


def main() -> None:
    file, folder = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs")
    if not file.exists():
        command = [sys.executable, str(Path(__file__).with_name("run.py")), "frame-motion", "--json", str(file)]
        subprocess.run(command, check=True)
    found, notes = gathered(json.loads(file.read_text(encoding="utf-8")))
    page = folder / "frame-motion.md"
    text = page.read_text(encoding="utf-8")
    for name, content in {
        "losses": losses(found, notes),
        "counts": counts(found),
        "time": time_table(found, notes),
        "translation": table(found, notes, "translation", ("",)),
        "worst": table(found, notes, "worst", ("covered", "still")),
        "rotation": table(found, notes, "rotation", ("still", "rotation", "roll", "turn")),
        "looming": table(found, notes, "looming", ("still", "zoom", "turn")),
    }.items():
        text = filled(text, name, content)
    with whole(page) as place:
        place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
