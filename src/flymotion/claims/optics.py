"""Where each feature learns motion: optics against shift (Supplement A, beyond the paper; C28)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.claims.lessons import RATE, opposed
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.running import Found, Work
from flymotion.claims.worlds import World, share_right
from flymotion.frames import FramePairs
from flymotion.generators import cosine, derivative_operator
from flymotion.generators.optics_map import motion_map
from flymotion.generators.theory import antisymmetric_share
from flymotion.photoreceptors import ZCAWhitening
from flymotion.plots.canvas import new_figure
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import SimilarityMatching
from flymotion.similarity.rivals import OuterProductPCA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Cell", "Config", "check", "figures", "work"]

CLAIMS = {"C28": "optics and shifts decide what is learned, as theory says"}

FEATURES = {"change": "paper's feature, dx x'", "midpoint": "midpoint feature, dx (x + x_next)'/2"}

GAP = 0.9
"""Ratio of the second eigenvalue to the first below which the first component is well defined."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Samples of each cell.
    sigmas : tuple of float
        Acceptance widths [pixel spacings].
    max_shifts : tuple of float
        Largest shifts [pixels per frame].
    n : int
        Pixels.
    n_pairs, n_test : int
        Pairs to learn from, and new ones to test NSM with.
    """

    n_seeds: int = 3
    sigmas: tuple[float, ...] = (0.3, 0.4, 0.475, 0.55, 0.65, 0.8, 1.0)
    max_shifts: tuple[float, ...] = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5)
    n: int = 5
    n_pairs: int = 20_000
    n_test: int = 10_000

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of samples: seeds, widths, shifts."""
        return self.n_seeds, len(self.sigmas), len(self.max_shifts)


QUICK = {"n_seeds": 1, "sigmas": (0.3, 0.475, 0.65, 0.8, 1.0), "max_shifts": (0.1, 0.3, 0.6, 1.5)}


class Cell(NamedTuple):
    """What is learned at one width and shift."""

    pca: np.ndarray
    """Antisymmetric share of PCA's first component."""
    sm: np.ndarray
    """The same of SM's."""
    accuracy: np.ndarray
    """Share of new pairs whose direction NSM's filters tell."""
    opposition: np.ndarray
    """Cosine of NSM's two filters."""
    derivative: np.ndarray
    """Cosine of the difference of NSM's two filters with the central difference."""


def work(config: Config) -> Work:
    """Ask theory; and let SM, PCA and NSM learn in every cell."""
    theory = partial(motion_map, config.sigmas, config.max_shifts, n=config.n)
    cells = [partial(_cell, config, *cell) for cell in np.ndindex(config.shape)]
    return {"theory": {feature: partial(theory, feature=feature) for feature in FEATURES}, "cells": cells}


def _cell(config: Config, seed: int, i: int, j: int) -> dict[str, Cell]:
    """Let all learn from the same pairs, by each feature."""
    world = World(config.sigmas[i], config.max_shifts[j], "")
    pairs, test = (world.pairs(config.n, n, [seed, i, j, k]) for k, n in enumerate((config.n_pairs, config.n_test)))
    whitening = ZCAWhitening(0.0).fit(pairs)
    pairs, test = (whitening.transform(some) for some in (pairs, test))
    return {name: _learn(outer_products(pairs, name), outer_products(test, name), test) for name in FEATURES}


def _learn(chi: OuterProducts, seen: OuterProducts, test: FramePairs) -> Cell:
    first = OuterProductPCA(1).fit(chi), SimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi)
    units = opposed(chi)
    pca, sm = (np.array(antisymmetric_share(learner.generators_[0])) for learner in first)
    return Cell(
        pca,
        sm,
        np.array(share_right(seen.project(units.opponent[None])[:, 0], test)),
        cosine(*units.filters),
        cosine(units.opponent, derivative_operator(units.opponent.shape[:1])),
    )


# -- claims ----------------------------------------------------------------------------------------------------------


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C28."""
    world = f"n = {config.n}, widths {min(config.sigmas)} to {max(config.sigmas)}, shifts to {max(config.max_shifts)}"
    for learner in ("pca", "sm"):
        agree = {feature: _agreement(found, config, feature, learner) for feature in FEATURES}
        parts = ", ".join(f"{feature} {a.mean():.3f} of {a.size}" for feature, a in agree.items())
        title = f"cells where {learner.upper()}'s first component is antisymmetric or not, as theory says"
        note = f"{parts} samples of cells with a gap over 10 %; {world}"
        both = np.concatenate(list(agree.values()), axis=1)
        yield above(f"C28.{learner}", title, both, 0.95, worst=np.mean, unit="share", note=note)
    for feature, theory in found["theory"].items():
        motion = theory.motion_first
        note = f"median over all cells; theory has motion first in {motion.sum()} of {motion.size}; {world}"
        for measure, title in (
            ("accuracy", "accuracy of NSM's filters on new pairs"),
            ("opposition", "cosine of NSM's two filters"),
            ("derivative", "cosine of the difference of NSM's filters with the central difference"),
        ):
            values = _samples(found, config, feature, measure)
            yield report(f"C28.{measure}_{feature}", title, values, worst=np.median, note=note)


def _samples(found: Found, config: Config, feature: str, measure: str) -> np.ndarray:
    """Return a measure of all cells, shape (n_seeds, n_sigmas, n_shifts)."""
    return getattr(found["cells"][feature], measure).reshape(config.shape)


def _agreement(found: Found, config: Config, feature: str, learner: str) -> np.ndarray:
    """Whether samples agree with theory on antisymmetry, in cells with a gap; shape (n_seeds, n_cells)."""
    theory = found["theory"][feature]
    same = (_samples(found, config, feature, learner) > 0.5) == (theory.antisymmetric_share > 0.5)
    return same[:, theory.ratio < GAP]


# -- figure ----------------------------------------------------------------------------------------------------------


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw theory as colour and boundary, samples of the first seed as marks, features side by side."""
    figure = new_figure(11, 4.6)
    panels = figure.subplots(1, len(FEATURES), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (feature, title) in zip(panels, FEATURES.items(), strict=True):
        theory = found["theory"][feature]
        image = axes.imshow(theory.antisymmetric_share, origin="lower", cmap="PuOr", vmin=0, vmax=1, aspect="auto")
        _boundary(axes, theory.antisymmetric_share > 0.5)
        _hatch(axes, theory.ratio >= GAP)
        _marks(axes, _samples(found, config, feature, "pca")[0] > 0.5)
        axes.set_title(title)
        axes.set_xticks(range(len(config.max_shifts)), [f"{s:g}" for s in config.max_shifts])
        axes.set_yticks(range(len(config.sigmas)), [f"{s:g}" for s in config.sigmas])
        axes.set_xlabel("largest shift [pixels per frame]")
    panels[0].set_ylabel("acceptance width sigma [pixels]")
    figure.colorbar(image, ax=list(panels), label="antisymmetric share of theory's first component")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return {"motion_map": figure}


def _boundary(axes: Axes, motion: np.ndarray) -> None:
    """Draw the edges between cells with and without motion."""
    upright = [([c + 0.5, c + 0.5], [r - 0.5, r + 0.5]) for r, c in np.argwhere(np.diff(motion, axis=1))]
    level = [([c - 0.5, c + 0.5], [r + 0.5, r + 0.5]) for r, c in np.argwhere(np.diff(motion, axis=0))]
    for k, (x, y) in enumerate(upright + level):
        axes.plot(x, y, color="black", linewidth=2.5, label="boundary of theory" if k == 0 else None)


def _hatch(axes: Axes, cells: np.ndarray) -> None:
    """Hatch the cells whose first component is not well defined."""
    from matplotlib.patches import Rectangle

    style: dict[str, Any] = {"facecolor": "none", "edgecolor": "0.7", "hatch": "///", "linewidth": 0.0}
    for row, column in np.argwhere(cells):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **style))
    axes.add_patch(Rectangle((-9, -9), 0, 0, label="eigenvalues within 10 %: not counted", **style))


def _marks(axes: Axes, motion: np.ndarray) -> None:
    for where, marker, face, edge, label in (
        (motion, "o", "white", "black", "sample: motion first"),
        (~motion, "x", "black", None, "sample: blur first"),
    ):
        rows, columns = np.nonzero(where)
        axes.scatter(columns, rows, s=34, marker=marker, facecolor=face, edgecolor=edge, label=label, zorder=3)
