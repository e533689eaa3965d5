"""Tabulate what `real_videos.py` measured in docs/real-videos.md: python benchmarks/real_videos_report.py FILE [docs].

Rows that miss their goal stand first, worst first. `real_videos.py --docs` does the same at once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from truth_report import figure, filled
from video_sources import SOURCES

from flymotion.writing import results, whole

LEAST_CORRELATION, MOST_STANDING, MOST_STILL = 0.95, 0.1, 0.3
"""Goals: of the frame's translation; of its speed where the camera stands [px]; of still pixels [px]."""

Figures = dict[str, dict[str, tuple[float | None, float | None]]]
"""Ours and the peer's, by clip and by what was measured."""


def gathered(rows: list[dict[str, Any]]) -> Figures:
    found: Figures = {}
    for row in rows:
        _, clip, what = (*row["name"].split(".", 2), "")[:3]
        found.setdefault(clip, {})[what] = (row["ours"], row["peer"])
    return found


def moving(found: Figures) -> str:
    title = "| clip | shows | sure | size | r: ours | DIS fitted | DIS median | halves "
    title += "| off by: ours | DIS fitted | DIS median | over ten |"
    lines = []
    for clip, shows, values in clips(found, "translation.correlation.fitted"):
        r, fitted = values["translation.correlation.fitted"]
        median, size = values["translation.correlation.median"][1], values["translation.size.fitted"][0]
        rms = best(*values["translation.rms.fitted"], values["translation.rms.median"][1])
        itself, far = values.get("translation.itself", (None,))[0], values.get("far.slope", (None,))[0]
        over_ten = "-" if far is None else f"{far:.2f}"
        cells = [
            clip,
            shows,
            percent(values["sure"][0]),
            text(size),
            *map(share, (r, fitted, median, itself)),
            *rms,
            over_ten,
        ]
        lines.append((r is not None and r > LEAST_CORRELATION, r or -1.0, cells))
    return table(title, lines)


def closely(found: Figures) -> str:
    title = "| clip | size | r: ours | DIS fitted | halves | slope: ours | DIS fitted "
    title += "| off by: ours | DIS fitted | halves from each other |"
    lines = []
    for clip, _, values in clips(found, "close.correlation"):
        r, fitted = values["close.correlation"]
        itself = values["close.itself.correlation"][0]
        cells = [
            clip,
            text(values["close.size"][0]),
            *map(share, (r, fitted, itself)),
            *map(text, values["close.slope"]),
        ]
        cells += [*best(*values["close.rms"]), text(values["close.itself.rms"][0])]
        lines.append((r is not None and r > LEAST_CORRELATION, r or -1.0, cells))
    return table(title, lines)


def turning(found: Figures) -> str:
    title = "| clip | rotation, rms | ours off by | DIS fitted | looming, rms | ours off by | DIS fitted |"
    lines = []
    for clip, _, values in clips(found, "rotation.rms.fitted"):
        ours, peer = values["rotation.rms.fitted"]
        cells = [clip]
        for what, scale in (("rotation", 1.0), ("looming", 1000.0)):
            pair = [None if v is None else scale * v for v in values[f"{what}.rms.fitted"]]
            size = values[f"{what}.size.fitted"][0]
            cells += [text(None if size is None else scale * size), *best(*pair)]
        lines.append((None not in (ours, peer) and ours <= peer, -(ours or 0) / (peer or 1), cells))
    return table(title, lines)


def standing(found: Figures) -> str:
    title = "| clip | shows | sure | median: ours | DIS fitted | 95 %: ours | DIS fitted | largest: ours | DIS fitted "
    title += "| of corners | off them: ours | DIS fitted |"
    lines = []
    for clip, shows, values in clips(found, "stands.max"):
        pairs = [best(*values[f"stands.{label}"]) for label in ("median", "95", "max")]
        worst = values["stands.max"][0]
        cells = [clip, shows, percent(values["sure"][0]), *(cell for pair in pairs for cell in pair)]
        cells += [text(values["stands.corners"][0]), *best(*values["stands.off"])]
        lines.append((worst is not None and worst < MOST_STANDING, -(worst or 0), cells))
    return table(title, lines)


def still(found: Figures) -> str:
    title = "| clip | textured: false, ours | DIS | largest: ours | DIS | all: refuted, ours | largest "
    title += "| regions: ours | DIS | largest region: ours | DIS | what moves is said to: ours | DIS |"
    lines, without = [], 0
    for clip, _, values in clips(found, "beside.share"):
        (ours, peer), largest = values["beside.share"], values["beside.largest"]
        ghosts, worst = (values.get(f"ghosts.{key}", (None,))[0] for key in ("share", "largest"))
        cells = [clip, percent(ours, 4), percent(peer, 2), *map(text, largest), percent(ghosts, 4), text(worst)]
        cells += [*map(text, values["beside.regions"]), *(text(area or None) for area in values["beside.region"])]
        cells += map(percent, values["beside.moving"])
        without += not values["beside.regions"][0]
        lines.append(((largest[0] or 0) <= MOST_STILL and not ghosts, -(ours or 0), cells))
    return table(title, lines, note=f", of single pixels, and on {without} of regions")


def quiet(found: Figures) -> str:
    title = "| clip | identical pixels | above .2: share | ours | DIS there "
    title += "| above .5: share | ours | DIS there | all: ours | DIS |"
    lines = []
    for clip, _, values in clips(found, "quiet.all"):
        cells, (ours, peer) = [clip, percent(values["identical"][0])], values["quiet.0.5"]
        for least in ("0.2", "0.5"):
            cells += [percent(values[f"quiet.{least}.share"][0]), *best(*values[f"quiet.{least}"])]
        lines.append((ours is None or ours <= (peer or 0), -(ours or 0), [*cells, *best(*values["quiet.all"])]))
    return table(title, lines)


def told(found: Figures) -> str:
    title = "| clip | error not told | its median | still speeds within twice of it |"
    lines = []
    for clip, _, values in clips(found, "quiet.within"):
        within = values["quiet.within"][0]
        cells = [clip, percent(values["error.nan"][0]), text(values["error.median"][0]), percent(within)]
        lines.append((within is not None and within >= 0.95, within or 0.0, cells))
    return table(title, lines)


def timed(found: Figures) -> str:
    lines = []
    for clip, _, values in clips(found, "time"):
        ours, decoding = values["time"]
        lines.append((True, -(ours or 0), [clip, text(ours), text(decoding)]))
    return table("| clip | detect | decoding alone |", lines, goal=False)


TABLES: dict[str, Callable[[Figures], str]] = {
    "moving": moving,
    "closely": closely,
    "turning": turning,
    "standing": standing,
    "still": still,
    "quiet": quiet,
    "told": told,
    "timed": timed,
}


def clips(found: Figures, what: str) -> Iterable[tuple[str, str, dict[str, tuple[float | None, float | None]]]]:
    for source in SOURCES:
        if what in found.get(source.name, {}):
            yield source.name, source.shows, found[source.name]


def table(title: str, lines: list[tuple[bool, float, list[str]]], *, goal: bool = True, note: str = "") -> str:
    """Return rows, those that miss their goal first, worst first; with a column that says which, and how many hold."""
    if not lines:
        return "Nothing of it was measured."
    rows = [
        (["" if good else "**no**"] if goal else []) + cells for good, _, cells in sorted(lines, key=lambda n: n[:2])
    ]
    head = "| holds " + title if goal else title
    body = [head, "|---" * (head.count("|") - 1) + "|", *("| " + " | ".join(cells) + " |" for cells in rows)]
    return "\n".join(
        ([f"Holds on {sum(good for good, *_ in lines)} of {len(lines)}{note}.", ""] if goal else []) + body
    )


def best(*values: float | None) -> list[str]:
    """Return figures, the smallest in bold."""
    least = text(min((v for v in values if v is not None), default=None))
    return [f"**{shown}**" if (shown := text(value)) == least != "-" else shown for value in values]


def text(value: float | None) -> str:
    return "0.000" if value is not None and value < 0.0005 else figure(value)


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def percent(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def fill(rows: list[dict[str, Any]], folder: Path) -> None:
    """Write the tables into the page."""
    found, page = gathered(rows), folder / "real-videos.md"
    content = page.read_text(encoding="utf-8")
    for name, draw in TABLES.items():
        content = filled(content, name, draw(found))
    missing = [source.name for source in SOURCES if "sure" not in found.get(source.name, {})]
    content = filled(content, "missing", f"Not there when this was measured: {', '.join(missing)}." if missing else "")
    with results(folder) as run, whole(run.aside / page.name) as place:
        place.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    fill(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2] if len(sys.argv) > 2 else "docs"))
