"""Figures: what was learned and measured, drawn. Nothing here computes anything but where to put ink.

Every function returns a :class:`matplotlib.figure.Figure` of its own; pyplot and its global state are never touched.
"""

from flymotion.plots.cells import draw_cells
from flymotion.plots.characterisation import draw_sheet
from flymotion.plots.comparison import draw_comparison
from flymotion.plots.content import draw_content
from flymotion.plots.curves import draw_tuning
from flymotion.plots.equivalence import draw_cartoon, draw_equivalence
from flymotion.plots.filter_sheets import draw_filters, filter_sheet
from flymotion.plots.mosaics import draw_eye
from flymotion.plots.multiplication import draw_products
from flymotion.plots.regression import draw_regression

__all__ = [
    "draw_cartoon",
    "draw_cells",
    "draw_comparison",
    "draw_content",
    "draw_equivalence",
    "draw_eye",
    "draw_filters",
    "draw_products",
    "draw_regression",
    "draw_sheet",
    "draw_tuning",
    "filter_sheet",
]
