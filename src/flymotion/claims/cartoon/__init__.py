"""Three pixels or two (Fig. 2b, abstract; C4).

``regimes``: the worlds. ``cutting``: three central pixels approximate the filter. ``buying``: what three pixels tell
at one centre, and two, and what that costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import clone

from flymotion.claims.cartoon.buying import check_costs, draw_costs, knowable, told
from flymotion.claims.cartoon.cutting import CUT_NOISES, VISION, Cut, check_cuts, cut, draw_cut
from flymotion.claims.cartoon.regimes import NOISES, Seen, noisy, seen, seen_together
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed, stack
from flymotion.learner.sources import BUNDLED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "accuracies", "check", "figures", "work"]

CLAIMS = {"C4": "three pixels stand for the filter, and two do worse"}

SEEDS_A_DRAW = 5
"""Of L1, for each draw of rows of photographs: these only average, as no draw is of other photographs."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Samples of L1; a fifth as many draws of rows of the photographs.
    sizes : tuple of int
        Pixels of the eyes whose filters are cut; all odd, so that they have a centre.
    n_pairs, n_test : int
        Pairs to learn from, and new ones to test with, of every independent part of a world.
    n_rows : int
        Rows of photographs that either come from; with half as many the worst of ten samples comes close to the bound.
    photographs : tuple of str
        Where they are; each is tested with what is learned from the others.
    """

    n_seeds: int = 10
    sizes: tuple[int, ...] = (5, 15)
    n_pairs: int = 4_000
    n_test: int = 3_000
    n_rows: int = 80
    photographs: tuple[str, ...] = (BUNDLED,)


QUICK = {"n_seeds": 2}


class Told(NamedTuple):
    """What detectors at one centre tell, of every independent part of a world first."""

    accuracies: np.ndarray
    """Shape (n_parts, n_visions, n_noises, n_detectors)."""
    known: np.ndarray
    """What the posterior tells in L1, shape (n_parts, n_noises, n_pixels); elsewhere NaN."""


def work(config: Config) -> Work:
    """Learn, cut what was learned, and let detectors at one centre tell direction."""
    n_seeds = {"L1": config.n_seeds, "P": -(-config.n_seeds // SEEDS_A_DRAW)}
    pieces = {"cuts": _cut, "told": _tell}
    return {name: {w: each_seed(piece, n, config, w) for w, n in n_seeds.items()} for name, piece in pieces.items()}


def _cut(config: Config, world: str, seed: int) -> Cut:
    """Cut filters of all noises and sizes; of the first of either, keep the filter and its outputs."""
    rng, together = np.random.default_rng([seed, 7]), seen_together(config, world, seed)
    given = {noise: noisy(together, noise, rng) for noise in CUT_NOISES}
    cuts = [[cut(world, noise, of, n, rng) for n in config.sizes] for noise, of in given.items()]
    correlations, nulls = (np.array([[each[k] for each in row] for row in cuts]) for k in (2, 3))
    return cuts[0][0]._replace(correlations=correlations, nulls=nulls)


def _tell(config: Config, world: str, seed: int) -> Told:
    rng = np.random.default_rng([seed, 8])
    return stack([_tell_part(world, part, rng) for part in seen(config, world, seed)])


def _tell_part(world: str, part: Seen, rng: np.random.Generator) -> Told:
    given = {noise: noisy(part, noise, rng) for noise in NOISES}
    shares = [
        [told(vision(world, of), blind=world == "P", rng=rng) for of in given.values()] for vision in (_raw, _whitened)
    ]
    known = [knowable(noise, of) if world == "L1" else np.nan for noise, of in given.items()]
    return Told(np.array(shares), np.array(known))


def _raw(world: str, given: Seen) -> Seen:
    return given


def _whitened(world: str, given: Seen) -> Seen:
    """Whiten as before the filters that are cut."""
    vision = clone(VISION[world][0]).fit(given.lesson)
    return Seen(*(vision.transform(pairs) for pairs in given))


def accuracies(found: Found) -> dict[str, np.ndarray]:
    """Return accuracies by world, shape (n_independent, n_visions, n_noises, n_detectors).

    Seeds are independent in L1; in P photographs are, and draws of their rows are averaged.
    """
    return {"L1": found["told"]["L1"].accuracies[:, 0], "P": found["told"]["P"].accuracies.mean(axis=0)}


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C4."""
    yield from check_cuts(found["cuts"], config.sizes)
    known = found["told"]["L1"].known[:, 0].mean(axis=0)
    yield from check_costs(accuracies(found), known, config.n_test, config.n_seeds)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw a filter cut to three pixels; and accuracy against cost."""
    known = found["told"]["L1"].known[:, 0].mean(axis=0)
    return {
        "three_pixels": draw_cut(found["cuts"], config.sizes[0]),
        "pixels_cost": draw_costs(accuracies(found), known),
    }
