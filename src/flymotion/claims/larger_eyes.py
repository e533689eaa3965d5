"""The same structure in larger eyes (Section 2.5; C5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flymotion.claims.figure2 import accuracy_claim, by_world, cosine_claim, leading_cosines, opposition, shortfall
from flymotion.claims.learning import Nonnegative, Sample, Signed, learn_nonnegative, learn_signed
from flymotion.claims.rows import Claim, above
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import WORLDS, stack
from flymotion.generators.theory import antisymmetric_share

__all__ = ["Config", "Result", "check", "jobs", "run"]


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds in each world, at each size.
    sizes : tuple of int
        Pixels of the eyes.
    n_pairs, n_test : int
        Pairs to learn from, and new ones to test with.
    """

    n_seeds: int = 5
    sizes: tuple[int, ...] = (5, 7, 9, 15, 25)
    n_pairs: int = 30_000
    n_test: int = 30_000

    @classmethod
    def quick(cls) -> Config:
        """Return one seed."""
        return cls(n_seeds=1)


@dataclass(frozen=True)
class Result:
    """What was learned, by world and size (``"L1, n = 5"``); every array has an axis of seeds first."""

    signed: dict[str, Signed]
    nonnegative: dict[str, Nonnegative]


def _samples(config: Config) -> dict[str, list[Sample]]:
    """Seeds of their own, so that nothing is counted twice."""
    return {
        f"{world}, n = {n}": [Sample(world, n, config.n_pairs, config.n_test, 1000 + s) for s in range(config.n_seeds)]
        for n in sorted(config.sizes, reverse=True)
        for world in WORLDS
    }


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work, the longest first."""
    return [
        partial(learn, sample)
        for samples in _samples(config).values()
        for sample in samples
        for learn in (learn_signed, learn_nonnegative)
    ]


def run(config: Config, each: Each = in_turn) -> Result:
    """Let all algorithms learn at every size."""
    results = iter(each(jobs(config)))
    signed, nonnegative = {}, {}
    for key, samples in _samples(config).items():
        both = [(next(results), next(results)) for _ in samples]
        signed[key], nonnegative[key] = (stack(kind) for kind in zip(*both, strict=True))
    return Result(signed, nonnegative)


def check(result: Result) -> list[Claim]:
    """State C5: the first three measures of C1, and C2."""
    seeds = len(next(iter(result.signed.values())).energy)
    rows = []
    for other, title in (("pca", "PCA's"), ("theory", "the population's")):
        least = {key: leading_cosines(s, other).min() for key, s in result.signed.items()}
        title = f"|cosine| of SM's first component with {title}"
        rows.append(above(f"C5.{other}", title, min(least.values()), 0.99, seeds=seeds, note=by_world(least)))
    shares = {key: antisymmetric_share(s.theory[0, 0]) for key, s in result.signed.items()}
    title = "antisymmetric share of the population's first component"
    rows.append(above("C5.antisymmetric", title, min(shares.values()), 0.9, seeds=0, note=by_world(shares)))
    for name, suffix, label in (("nsm", "", "NSM"), ("kmeans", "_kmeans", "K-means")):
        cosines = {key: opposition(getattr(r, name)) for key, r in result.nonnegative.items()}
        short: dict[str, np.ndarray] = {key: shortfall(r, f"{name}_accuracy") for key, r in result.nonnegative.items()}
        rows += [cosine_claim(f"C5.cos{suffix}", label, cosines), accuracy_claim(f"C5.accuracy{suffix}", label, short)]
    return rows
