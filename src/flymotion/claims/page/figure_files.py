"""A figure, written: as PNG, its data beside it as netCDF, and as vectors for the page."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from flymotion.claims.page.figure_data import data_of
from flymotion.claims.page.inline_svg import as_svg, marked_by_colour
from flymotion.plots.canvas import save_figure
from flymotion.writing import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["remove_figures", "write_figures"]

SOURCE = "flymotion reproduce"
"""What figures and their data say in their files that they were made by."""


def write_figures(figures: Mapping[str, Figure], folder: Path) -> dict[str, str]:
    """Write figures and their data into a folder, by their names, and return them as vectors."""
    drawn = {}
    for name, figure in figures.items():
        data = data_of(figure, SOURCE)
        with whole(folder / f"{name}.nc") as place:
            data.to_netcdf(place, engine="scipy")
        marked_by_colour(figure)
        save_figure(figure, folder / f"{name}.png", source=SOURCE)
        drawn[name] = as_svg(figure, name)
    return drawn


def remove_figures(kept: list[Path]) -> None:
    """Remove the figures of an earlier run beside what was just put in place; what others made stays."""
    from PIL import Image

    for path in set(kept[0].parent.glob("*.png")).difference(kept):
        with suppress(OSError):
            with Image.open(path) as image:
                ours = image.info.get("Source") == SOURCE
            if ours:
                path.unlink()
                data = path.with_suffix(".nc")
                if SOURCE.encode() in data.read_bytes():
                    data.unlink()
