"""Figures of learned transformations: filters (Figs. 5a-b, 6), and bars turned by a learned generator (Fig. 5c)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flymotion.generators import Generators
from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit
from flymotion.plots.filter_sheets import filter_sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from flymotion.claims.large_motions import Result as LargeMotionsResult
    from flymotion.claims.transformations import Result as TransformationsResult
    from flymotion.claims.turns import Result as TurnsResult
    from flymotion.world.motions import Motion

__all__ = ["draw_transformations", "draw_turned_bars", "draw_turns"]


def draw_transformations(result: TransformationsResult, world: str) -> Figure:
    """Draw the filters that NSM learned in one world of the plane, of the first seed."""
    from flymotion.claims.transformations import PLANES

    plane = PLANES[world]
    filters = Generators(result.nsm[world].filters[0], plane.eye)
    return filter_sheet(filters, _names(plane.motion), suptitle=f"NSM, {world}: filters of whitened frames")


def draw_turns(result: TurnsResult) -> Figure:
    """Draw the flow that each filter of a turning spherical eye implies, of the first seed."""
    from flymotion.claims.turns import EYE, MOTION

    filters = Generators(result.learned.filters[0], EYE)
    return filter_sheet(filters, _names(MOTION), suptitle="NSM, turns of a spherical eye: flow that the filters imply")


def _names(motion: Motion) -> list[str]:
    return [motion.called(way) for way in motion.ways]


def draw_turned_bars(result: LargeMotionsResult) -> Figure:
    """Draw Fig. 5c: a bar turned by repeated first-order steps, by the exponential, and in truth; of the first seed."""
    from flymotion.claims.large_motions import STEP, errors

    rows = {
        "first-order\nsteps": result.first_order[0],
        "exponential": result.exponential[0],
        "truth": result.true[0],
    }
    n_steps = len(result.true[0])
    figure = new_figure(1.05 * n_steps + 1.6, 4.3)
    panels = figure.subplots(len(rows), n_steps, squeeze=False)
    limit = symmetric_limit(result.true[0])
    for line, (name, images) in zip(panels, rows.items(), strict=True):
        for axes, bar, error in zip(line, images, errors(images, result.true[0]), strict=True):
            image = axes.imshow(bar, cmap=signed_colours(), vmin=-limit, vmax=limit, interpolation="nearest")
            axes.set_xticks([])
            axes.set_yticks([])
            if name != "truth":
                axes.set_xlabel(f"error {error:.2f}", fontsize=7)
        line[0].set_ylabel(name, fontsize=9)
    for k, axes in enumerate(panels[0]):
        axes.set_title(f"{STEP * k:g} deg", fontsize=9)
    figure.colorbar(image, ax=list(panels.flat), label="intensity", shrink=0.8)
    figure.suptitle("a learned generator of rotation applied to a bar (errors inside the inscribed disc)", fontsize=10)
    return figure
