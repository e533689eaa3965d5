"""Content: what one class of scenes teaches and how it serves on all others; an additive unit serves on none (C9).

``classes``: the scenes. ``transfer``: learned from one class, tested on all, and units that add. ``one_or_many``: one
unit for all velocities, or one a velocity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.claims.content.classes import CLASSES
from flymotion.claims.content.one_or_many import check_velocities, tell_velocities
from flymotion.claims.content.transfer import (
    ADDING,
    BOUND,
    READERS,
    VARIANTS,
    Transfer,
    check_transfer,
    learn_and_test,
    losses,
)
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {"C9": "one class of scenes teaches what serves all; adding does not"}


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Samples of every class.
    sizes : tuple of int
        Pixels, all odd, so that a smaller eye is the middle of a larger one.
    n_pairs, n_test : int
        Pairs of each class to learn from, and new ones of new scenes to test with.
    n_velocities : int
        New pairs of each class whose velocities are told.
    n_scenes : int
        Gratings, and rows of photographs, that any of these come from.
    """

    n_seeds: int = 4
    sizes: tuple[int, ...] = (5, 9, 15)
    n_pairs: int = 8_000
    n_test: int = 4_000
    n_velocities: int = 2_000
    n_scenes: int = 80


QUICK = {"n_seeds": 2, "n_pairs": 7000}


def work(config: Config) -> Work:
    """Learn from every class of scenes, and test on every class; read velocities."""
    return {
        "learned": each_seed(learn_and_test, config.n_seeds, config),
        "velocities": each_seed(tell_velocities, config.n_seeds, config),
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C9."""
    yield from check_transfer(found["learned"], config)
    yield from check_velocities(found["velocities"], config)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw what is lost against the size of the eye; accuracies, class learned from by class tested on; units that add.

    Accuracies are means of the seeds; so are losses, and bars reach from the least to the largest.
    """
    learned, names = found["learned"], list(CLASSES)
    figure = new_figure(13, 7.2)
    halves: Any = figure.subfigures(1, 2, width_ratios=[1, 1.7])
    left, right = halves
    _draw_losses(left.subplots(), learned, config.sizes)
    left.legend(loc="outside lower center", fontsize=7)
    panels: Any = right.subplots(2, len(config.sizes), sharex=True, sharey="row")
    for i, n in enumerate(config.sizes):
        upper, lower = panels[:, i]
        image = _draw_shares(upper, learned.accuracies[:, i, 0, 0].mean(axis=0), names)
        _draw_shares(lower, learned.additive[:, i].mean(axis=0), [name.replace(", ", ",\n") for name in ADDING])
        upper.set_title(f"n = {n}: NSM's filters", fontsize=10)
        lower.set_title("units that add", fontsize=10)
        lower.set_xticks(range(len(names)), names, rotation=30, ha="right")
        lower.set_xlabel("tested on")
    panels[0, 0].set_ylabel("learned from")
    right.suptitle(f"{VARIANTS['own']}: the claim", fontsize=10)
    right.colorbar(image, ax=panels, label="share of pairs whose direction is told (chance 0.5)", shrink=0.8)
    return {"content": figure}


def _draw_losses(axes: Axes, learned: Transfer, sizes: Sequence[int]) -> None:
    """Draw the largest difference of accuracy against the size, for every variant, and nulls beside those that have."""
    worst = np.abs(losses(learned.accuracies)).max(axis=(-2, -1))  # (n_seeds, n_sizes, n_variants, n_readers)
    shifts = 0.12 * (np.arange(len(VARIANTS)) - (len(VARIANTS) - 1) / 2)
    for j, (vision, colour, shift) in enumerate(zip(VARIANTS.values(), ("C3", "C1", "C2", "C0"), shifts, strict=True)):
        of, places = worst[:, :, j, 0], np.array(sizes) + shift
        mean = of.mean(axis=0)
        spread = np.stack([mean - of.min(axis=0), of.max(axis=0) - mean])
        axes.errorbar(places, mean, yerr=spread, color=colour, marker="o", capsize=3, linewidth=2, label=vision)
    for k, (reader, marker) in enumerate(zip(list(READERS.values())[1:], "x^sD", strict=True), start=1):
        axes.plot(
            sizes, worst[:, :, 0, k].mean(axis=0), marker, color="C3", markersize=5, alpha=0.5, label=f"null: {reader}"
        )
    axes.axhline(BOUND, color="0.4", linestyle="--", linewidth=1, label=f"the claim's bound, {BOUND:g}")
    axes.set_xticks(sizes)
    axes.set(xlabel="pixels of the eye", ylabel="largest difference of accuracy", ylim=(0, None))
    axes.set_title("from NSM's filter learned from the class tested on", fontsize=10)


def _draw_shares(axes: Axes, shares: np.ndarray, rows: Sequence[str]) -> Any:
    """Show shares from chance to 1 as colour, and as figures."""
    image = axes.imshow(shares, cmap="viridis", vmin=0.5, vmax=1, aspect="auto", interpolation="nearest")
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.tick_params(length=0)
    for (row, column), share in np.ndenumerate(shares):
        colour = "black" if share > 0.75 else "white"
        axes.text(column, row, f"{share:.3f}", ha="center", va="center", color=colour, fontsize=8)
    return image
