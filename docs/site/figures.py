"""Figures of the gallery: those of pyplot, and those that functions return and a script gives a name."""

from typing import Any

from matplotlib import pyplot
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

__all__ = ["scrape"]

DRAWN = "_figures_drawn"
"""Where a script's names keep which figures are on the page already."""


def scrape(block: tuple[str, str, int], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures that a block of a script made, in the order in which they were named."""
    names = block_vars["example_globals"]
    drawn = names.setdefault(DRAWN, [])
    figures = [value for value in names.values() if isinstance(value, Figure)]
    figures += [pyplot.figure(number) for number in pyplot.get_fignums()]
    new = [figure for figure in dict.fromkeys(figures) if figure not in drawn]
    drawn += new
    places = [next(block_vars["image_path_iterator"]) for _ in new]
    for figure, place in zip(new, places, strict=True):
        figure.savefig(place, dpi=120, facecolor="white")
    pyplot.close("all")
    return figure_rst(places, gallery_conf["src_dir"])
