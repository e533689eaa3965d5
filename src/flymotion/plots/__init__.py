"""What figures share: the canvas, sheets of filters, eyes and maps, tuning curves. What is drawn was computed before.

Every function returns a :class:`matplotlib.figure.Figure` of its own; pyplot and its global state are never touched.
"""

from flymotion.plots.characterisation import draw_sheet
from flymotion.plots.comparison import draw_comparison
from flymotion.plots.curves import draw_tuning
from flymotion.plots.dendritic_maps import draw_dendrites
from flymotion.plots.filter_sheets import draw_filters, filter_sheet
from flymotion.plots.mosaics import draw_eye

__all__ = ["draw_comparison", "draw_dendrites", "draw_eye", "draw_filters", "draw_sheet", "draw_tuning", "filter_sheet"]
