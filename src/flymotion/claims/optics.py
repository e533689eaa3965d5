"""Where each feature learns motion: optics against shift (Supplement A, beyond the paper; C28)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from flymotion.claims.learning import RATE
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import World, rightward_first, share_right, stack
from flymotion.frames import FramePairs
from flymotion.generators import cosine, derivative_operator
from flymotion.generators.optics_map import MotionMap, motion_map
from flymotion.generators.theory import antisymmetric_share
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.rivals import OuterProductPCA

__all__ = ["FEATURES", "GAP", "Cell", "Config", "Result", "check", "jobs", "run"]

FEATURES = ("change", "midpoint")

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

    @classmethod
    def quick(cls) -> Config:
        """Return one sample of fewer cells."""
        return cls(n_seeds=1, sigmas=(0.3, 0.475, 0.65, 0.8, 1.0), max_shifts=(0.1, 0.3, 0.6, 1.5))


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


@dataclass(frozen=True)
class Result:
    """Theory and samples by feature; arrays of shape (n_sigmas, n_shifts), samples with an axis of seeds first."""

    config: Config
    theory: dict[str, MotionMap]
    sampled: dict[str, Cell]


def jobs(config: Config) -> list[partial[list[Cell]]]:
    """List the independent pieces of work."""
    cells = np.ndindex(config.n_seeds, len(config.sigmas), len(config.max_shifts))
    return [partial(_cell, config, *cell) for cell in cells]


def run(config: Config, each: Each = in_turn) -> Result:
    """Let SM, PCA and NSM learn in every cell, and ask theory."""
    shape = (config.n_seeds, len(config.sigmas), len(config.max_shifts))
    by_feature = zip(FEATURES, zip(*each(jobs(config)), strict=True), strict=True)
    sampled = {feature: Cell(*(field.reshape(shape) for field in stack(cells))) for feature, cells in by_feature}
    theory = {f: motion_map(config.sigmas, config.max_shifts, n=config.n, feature=f) for f in FEATURES}
    return Result(config, theory, sampled)


def _cell(config: Config, seed: int, i: int, j: int) -> list[Cell]:
    """Let all learn from the same pairs, by each feature."""
    world = World(config.sigmas[i], config.max_shifts[j], "")
    pairs, test = (world.pairs(config.n, n, [seed, i, j, k]) for k, n in enumerate((config.n_pairs, config.n_test)))
    whitening = ZCAWhitening(0.0).fit(pairs)
    pairs, test = (whitening.transform(some) for some in (pairs, test))
    return [_learn(outer_products(pairs, feature), outer_products(test, feature), test) for feature in FEATURES]


def _learn(chi: OuterProducts, seen: OuterProducts, test: FramePairs) -> Cell:
    first = OuterProductPCA(1).fit(chi), SimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi)
    filters = NonnegativeSimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi).generators_
    filters = filters[rightward_first(filters)]
    difference = filters[0] - filters[1]
    pca, sm = (np.array(antisymmetric_share(learner.generators_[0])) for learner in first)
    return Cell(
        pca,
        sm,
        np.array(share_right(seen.project(difference[None])[:, 0], test)),
        cosine(filters[0], filters[1]),
        cosine(difference, derivative_operator(difference.shape[:1])),
    )


def check(result: Result) -> list[Claim]:
    """State C28."""
    config = result.config
    n_cells = len(config.sigmas) * len(config.max_shifts)
    world = f"n = {config.n}, widths {min(config.sigmas)} to {max(config.sigmas)}, shifts to {max(config.max_shifts)}"
    rows = []
    for learner in ("pca", "sm"):
        agree = {f: _agreement(result, f, learner) for f in FEATURES}
        together = np.concatenate(list(agree.values()))
        parts = ", ".join(f"{f} {a.mean():.3f} of {len(a)}" for f, a in agree.items())
        title = f"cells where {learner.upper()}'s first component is antisymmetric or not, as theory says"
        note = f"{parts} samples of cells with a gap over 10 %; {world}"
        rows.append(
            above(f"C28.{learner}", title, together.mean(), 0.95, seeds=config.n_seeds, unit="share", note=note)
        )
    for feature in FEATURES:
        cell, motion = result.sampled[feature], int(result.theory[feature].motion_first.sum())
        note = f"median over all cells; theory has motion first in {motion} of {n_cells}; {world}"
        for measure, title in (
            ("accuracy", "accuracy of NSM's filters on new pairs"),
            ("opposition", "cosine of NSM's two filters"),
            ("derivative", "cosine of the difference of NSM's filters with the central difference"),
        ):
            value = np.median(getattr(cell, measure))
            rows.append(report(f"C28.{measure}_{feature}", title, value, seeds=config.n_seeds, note=note))
    return rows


def _agreement(result: Result, feature: str, learner: str) -> np.ndarray:
    """Whether a sample's first component is antisymmetric where theory's is, for each cell with a gap."""
    theory = result.theory[feature]
    same = (getattr(result.sampled[feature], learner) > 0.5) == (theory.antisymmetric_share > 0.5)
    return same[:, theory.ratio < GAP].ravel()
