"""Figures as vectors that stand in a page: legible on light and dark paper, in grey, and to who sees colours otherwise.

What is black becomes the page's ink, what is white its paper, light grey lines its hairlines, and the ten colours of
lines its own ten, each by a variable of the style sheet (``--ink``, ``--paper``, ``--hair``, ``--c0`` to ``--c9``).
What lies on a map keeps its colours. Cells are rectangles while there are few, and a picture where there are more than
:data:`MOST_CELLS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.plots.canvas import SIGNED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PALETTE", "as_svg", "marked_by_colour", "styled"]

PALETTE = {
    "#0b4f9e": "#79b0ff",
    "#c77f00": "#ffb84d",
    "#007a5a": "#4fd8ac",
    "#b2182b": "#ff7d7d",
    "#8a5bd6": "#c8a2ff",
    "#7a4a1e": "#d3a06c",
    "#d0659f": "#ff9fd2",
    "#707070": "#b0b0b0",
    "#8f8600": "#ddd04a",
    "#1f8fc4": "#7fd4ff",
}
"""Colours of lines on light paper, and of the same on dark: told apart by protanopes and deuteranopes, too."""

MARKS = "os^DvPX*<>"
"""Marks of lines, by the numbers of their colours, so that they can be told apart in grey."""

BARE = {"None", "none", "", " ", None}
"""What a line without marks has for one."""

MOST_CELLS = 4000
"""Of a figure whose cells are drawn as rectangles each."""

FAINT = 0.12
"""Share of the largest weight up to which a negative one has no sign drawn on it."""

CELL = re.compile(
    r'<path d="M ([-\d.]+) ([-\d.]+) \s*L ([-\d.]+) [-\d.]+ \s*L [-\d.]+ ([-\d.]+) \s*L [-\d.]+ [-\d.]+ \s*'
    r'(?:L [-\d.]+ [-\d.]+ \s*)?(?:z\s*)?" (clip-path="[^"]*") style="fill: (#\w{6})"/>'
)
"""A cell of a map, as matplotlib writes it."""

STILL = "still"
"""What ids of parts begin with whose colours do not go by the paper."""


@contextmanager
def styled() -> Iterator[None]:
    """Let figures that are made take our colours, and vectors keep text as text."""
    import matplotlib
    from cycler import cycler

    cycle = cycler(color=list(PALETTE))
    with matplotlib.rc_context({"axes.prop_cycle": cycle, "svg.fonttype": "none", "svg.hashsalt": "flymotion"}):
        yield


def marked_by_colour(figure: Figure) -> None:
    """Give lines of different colours different marks, where a figure has several and marks say nothing else."""
    lines = [line for axes in figure.axes for line in axes.lines if _number(line) is not None]
    marks = {line.get_marker() for line in lines} - BARE
    if len({_number(line) for line in lines}) < 2 or len(marks) > 1:
        return
    legends = [*(axes.get_legend() for axes in figure.axes), *figure.legends]
    for line in lines:
        n = np.size(line.get_xdata())
        if line.get_marker() in BARE and n > 2:  # two are an interval
            every = max(1, n // 6)
            line.set(markersize=4, markevery=((_number(line) or 0) * every // len(MARKS), every))
        if line.get_marker() not in BARE or n > 2:
            line.set_marker(MARKS[_number(line) or 0])
    for handle in (each for legend in legends if legend is not None for each in legend.get_lines()):
        if (number := _number(handle)) is not None:
            handle.set(marker=MARKS[number], markersize=4)


def _number(line: Any) -> int | None:
    """Return which of the ten colours a line has."""
    from matplotlib.colors import to_hex

    found = to_hex(line.get_color())
    return list(PALETTE).index(found) if found in PALETTE else None


def as_svg(figure: Figure, name: str) -> str:
    """Return a figure as an ``svg`` element, whose ids begin with its name; it is changed, and drawn only this once."""
    figure.set_layout_engine("none")
    maps = [axes for axes in figure.axes if axes.get_label() != "<colorbar>" and _is_map(axes)]
    images: list[Any] = [image for axes in maps for image in axes.images]
    few = sum(image.get_array().size for image in images) <= MOST_CELLS
    for axes in figure.axes:
        axes.set_autoscale_on(False)
        if axes.get_label() == "<colorbar>":
            for mesh in axes.collections:
                mesh.set_rasterized(True)
    for axes in maps:
        for image in list(axes.images):
            _as_cells(axes, image) if few else image.set_interpolation("none")
    still = [artist for axes in maps for artist in (*axes.images, *axes.collections, *axes.lines, *axes.texts)]
    still += [line for axes in figure.axes if axes.get_label() != "<colorbar>" for line in _signs(axes)]
    for number, artist in enumerate(still):
        artist.set_gid(f"{STILL}{number}")
    written = StringIO()
    figure.savefig(written, format="svg", dpi=150, transparent=True)
    return _inline(written.getvalue(), name)


def _is_map(axes: Axes) -> bool:
    return bool(axes.images) or any(type(each).__name__ == "QuadMesh" for each in axes.collections)


def _as_cells(axes: Axes, image: Any) -> None:
    """Draw a picture as rectangles, in its place."""
    left, right, bottom, top = image.get_extent()
    values = image.get_array()
    n_rows, n_columns = values.shape
    rows = np.linspace(top, bottom, n_rows + 1) if image.origin == "upper" else np.linspace(bottom, top, n_rows + 1)
    limits = axes.get_xlim(), axes.get_ylim()
    columns = np.linspace(left, right, n_columns + 1)
    axes.pcolormesh(columns, rows, values, cmap=image.cmap, norm=image.norm, zorder=image.get_zorder())
    axes.set(xlim=limits[0], ylim=limits[1])
    image.remove()


def _signs(axes: Axes) -> Iterator[Any]:
    """Draw a minus on each cell of a negative weight, as colours of both signs are one grey."""
    signed: list[Any] = [each for each in axes.collections if each.get_array() is not None and each.cmap.name == SIGNED]
    for cells in signed:
        weights: Any = np.ma.filled(np.ma.asarray(cells.get_array(), dtype=float), 0.0)
        sizes = -weights.ravel() / (cells.norm.vmax or 1.0)
        middles, reach = _places(axes, cells)
        for colour, shown in (("#010101", (sizes > FAINT) & (sizes <= 0.6)), ("#fefefe", sizes > 0.6)):
            x, y = middles[shown].T
            ends = np.stack([x - reach, x + reach, np.full(len(x), np.nan)], axis=1).ravel()
            yield from axes.plot(ends, np.repeat(y, 3), color=colour, linewidth=0.8, zorder=cells.get_zorder() + 0.5)


def _places(axes: Axes, cells: Any) -> tuple[np.ndarray, float]:
    """Return the middles of cells, and half the length of what is drawn on them."""
    if hasattr(cells, "get_coordinates"):
        corners = cells.get_coordinates()
        return (corners[:-1, :-1] + corners[1:, 1:]).reshape(-1, 2) / 2, 0.22 * abs(np.diff(corners[0, :2, 0])[0])
    if len(cells.get_sizes()):  # marks, of an area in points
        across = np.sqrt(cells.get_sizes()[0]) * cells.figure.dpi / 72
        return np.asarray(cells.get_offsets()), 0.22 * across * axes.viewLim.width / axes.bbox.width
    outlines = [path.vertices for path in cells.get_paths()]
    return np.array([each[:-1].mean(axis=0) for each in outlines]), 0.22 * np.ptp(outlines[0][:, 0])


def _inline(text: str, name: str) -> str:
    """Return what matplotlib wrote as an element of a page."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"<style type=\"text/css\">.*?</style>", "", text, flags=re.S)  # it is for all of the page
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups()  # type: ignore[union-attr] # always there
    opening = f'<svg viewBox="0 0 {width} {height}" aria-hidden="true" focusable="false">'
    text = re.sub(r"<svg\b[^>]*>", opening, text, count=1)
    text = re.sub(r"<!--.*?-->\n?", "", text)
    text = re.sub(r"'DejaVu Sans',[^;\"]*sans-serif", "'DejaVu Sans', Verdana, sans-serif", text)
    text = re.sub(r' transform="rotate\(-0 [^"]*"', "", text)
    text = _with_ids(text.replace("xlink:href", "href"), name)
    text = re.sub(r'\b(d|x|y|points)="([^"]*)"', _rounded, text)
    text = re.sub(rf"(?:{CELL.pattern}\s*){{2,}}", _by_colour, text)
    for k, colour in enumerate(PALETTE):
        text = text.replace(colour, f"var(--c{k})")
    text = re.sub(r"stroke: #([b-e][0-9a-f])\1\1\b", "stroke: var(--hair)", text)
    text = text.replace("#000000", "var(--ink)").replace("#ffffff", "var(--paper)")
    return re.sub(r"\n\s*", "\n", text).strip()


def _with_ids(text: str, name: str) -> str:
    """Keep ids that are referred to, or that style goes by, with the name before them."""
    needed = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    kept = [id for id in re.findall(r'\bid="([^"]*)"', text) if id in needed or id.startswith(STILL)]
    text = re.sub(r' id="([^"]*)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in kept else "", text)
    while "<g/>" in text:
        text = re.sub(r"<g/>\s*", "", text)
        text = re.sub(r"<g>\s*</g>", "<g/>", text)
    return re.sub(r'(href="|url\()#', rf"\1#{name}-", text)


def _by_colour(found: re.Match[str]) -> str:
    """Write cells of one colour as one path: they do not overlap."""
    cells: dict[tuple[str, str], list[str]] = {}
    for left, bottom, right, top, clip, colour in CELL.findall(found[0]):
        cells.setdefault((clip, colour), []).append(f"M{left} {bottom}H{right}V{top}H{left}z")
    return "\n".join(f'<path {clip} style="fill: {colour}" d="{"".join(d)}"/>' for (clip, colour), d in cells.items())


def _rounded(found: re.Match[str]) -> str:
    """Round coordinates to a hundredth of a point."""
    numbers = re.sub(r"(\.\d\d)\d+", r"\1", found[2])
    return f'{found[1]}="{numbers}"'
