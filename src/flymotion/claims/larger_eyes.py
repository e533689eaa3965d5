"""The same structure in larger eyes (Section 2.5; C5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from flymotion.claims.figure2 import antisymmetry, first_components, opposites
from flymotion.claims.lessons import Sample, learn_nonnegative, learn_signed
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work
from flymotion.claims.worlds import WORLDS

__all__ = ["CLAIMS", "QUICK", "Config", "check", "work"]

CLAIMS = {"C5": "larger eyes learn the same"}

FIRST_SEED = 1000
"""Seeds of their own, so that nothing is counted twice."""


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


QUICK = {"n_seeds": 1}


def work(config: Config) -> Work:
    """Let all algorithms learn at every size, the longest first."""
    seeds = range(FIRST_SEED, FIRST_SEED + config.n_seeds)
    samples = {
        f"{world}, n = {n}": Sample(world, n, config.n_pairs, config.n_test)
        for n in sorted(config.sizes, reverse=True)
        for world in WORLDS
    }
    return {
        name: {key: [partial(learn, sample, seed) for seed in seeds] for key, sample in samples.items()}
        for name, learn in (("nonnegative", learn_nonnegative), ("signed", learn_signed))
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C5: the first three measures of C1, and C2."""
    yield from first_components("C5", found["signed"])
    yield antisymmetry("C5", found["signed"])
    for name, label in (("nsm", "NSM"), ("kmeans", "K-means")):
        yield from opposites("C5", name, label, found["nonnegative"])
