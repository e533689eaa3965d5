"""The same structure in larger eyes (Section 2.5; C5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from flymotion.claims.four_learners import Sample, learn_both
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work
from flymotion.claims.same_structure import antisymmetry, first_components, opposites
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
    n_pairs, n_test, n_kmeans : int
        Pairs to learn from, as many as for C2, and new ones to test with; and pairs that K-means is given. After
        30,000 pairs NSM's outputs miss the bound by 0.0014 in 1 of 50 samples, of 5 pixels in L2.
    """

    n_seeds: int = 5
    sizes: tuple[int, ...] = (5, 7, 9, 15, 25)
    n_pairs: int = 100_000
    n_test: int = 15_000
    n_kmeans: int = 6_000


QUICK = {"n_seeds": 1, "n_pairs": 27_000}

FEWER = "of 30,000, at full size, 0.0164 was missing in L2 at 5 pixels, which is outside the bound"
"""What was measured once, with as many pairs as version 1 of the claim had."""


def work(config: Config) -> Work:
    """Let all algorithms learn at every size, the longest first."""
    seeds = range(FIRST_SEED, FIRST_SEED + config.n_seeds)
    samples = {
        f"{world}, n = {n}": Sample(world, n, config.n_pairs, config.n_test, config.n_kmeans)
        for n in sorted(config.sizes, reverse=True)
        for world in WORLDS
    }
    return {"learned": {key: [partial(learn_both, sample, seed) for seed in seeds] for key, sample in samples.items()}}


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C5: the first three measures of C1, and C2."""
    signed, nonnegative = ({key: part[k] for key, part in found["learned"].items()} for k in (0, 1))
    note = f"whitened frames, {config.n_pairs} pairs"
    yield from first_components("C5", signed, note)
    yield from antisymmetry("C5", signed)
    for row in opposites("C5", nonnegative, note):
        told = f"{note}, as in C2: {FEWER}; {row.note}" if row.id == "C5.accuracy_outputs" else row.note
        yield replace(row, note=told)
