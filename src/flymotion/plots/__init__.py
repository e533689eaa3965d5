"""Figures: what was learned and measured, drawn. Nothing here computes anything but where to put ink.

Every function returns a :class:`matplotlib.figure.Figure` of its own; pyplot and its global state are never touched.
"""

from flymotion.plots.characterisation import draw_sheet
from flymotion.plots.comparison import draw_comparison
from flymotion.plots.curves import draw_tuning
from flymotion.plots.experiments import draw_figure2, draw_motion_map, draw_speeds
from flymotion.plots.filter_sheets import draw_filters, filter_sheet
from flymotion.plots.global_motion import draw_contrast_response, draw_oscillations, draw_velocity_tuning
from flymotion.plots.mosaics import draw_eye
from flymotion.plots.transformations import draw_transformations, draw_turned_bars, draw_turns

__all__ = [
    "draw_comparison",
    "draw_contrast_response",
    "draw_eye",
    "draw_figure2",
    "draw_filters",
    "draw_motion_map",
    "draw_oscillations",
    "draw_sheet",
    "draw_speeds",
    "draw_transformations",
    "draw_tuning",
    "draw_turned_bars",
    "draw_turns",
    "draw_velocity_tuning",
    "filter_sheet",
]
