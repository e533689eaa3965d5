"""Units that look at a plane, one a direction, in the world G: squares and the fly's hexagons (C37)."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.nulls import labelled_means, random_filters
from flymotion.claims.starts.fly_inputs import PREFERRED, wired
from flymotion.claims.starts.lines import OWN, Grown
from flymotion.claims.starts.raising import SCATTER, pruned, raised, raised_literally, read, scaled
from flymotion.frames import FramePairs
from flymotion.generators.theory import population
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.dendrites import oriented_dendrites
from flymotion.similarity.features import outer_products
from flymotion.world.eyes import Eye, Grid, Hexagon
from flymotion.world.motions import CARDINAL, Translation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import ExponentialNoise, exponential_covariance

__all__ = ["CROWD", "N_PAIRS", "PLANES", "Plane", "grow"]

SIGMA, LENGTH, PERIOD, SHIFT = 0.8, 3.0, 128.0, 0.3
"""Acceptance width, correlation length, period of the scenes, largest shift [pixel spacings]."""

N_PAIRS, N_TEST = 12_000, 2000
"""Pairs to learn from, and new ones of one other scene, the same for all seeds."""

CROWD = 4
"""How many times as many units there are as directions where units are pruned."""


class Plane(NamedTuple):
    """A flat eye, and the directions in which content moves, one a pair [deg]."""

    eye: Eye
    angles: tuple[float, ...]

    @property
    def motion(self) -> Translation:
        """Distribution of the content's steps."""
        return Translation(SHIFT, angles=self.angles)

    def pairs(self, n_pairs: int, seed: list[int]) -> FramePairs:
        """Draw pairs from a scene of their own."""
        scene = ExponentialNoise(LENGTH, ndim=2, period=PERIOD, sharpest=SIGMA, random_state=[*seed, 0])
        return sample_pairs(scene, self.eye, self.motion, n_pairs, [*seed, 1])


PLANES = {
    "grid": Plane(Grid(5, 5, SIGMA), CARDINAL),
    "hexagon": Plane(Hexagon(2, SIGMA), CARDINAL),
    "hexagon_six": Plane(Hexagon(2, SIGMA), (30.0, 90.0, 150.0, 210.0, 270.0, 330.0)),
}
"""Squares of 5 x 5 pixels, and two rings of hexagons: four directions, as of T4a-d, or the lattice's own six."""


def grow(name: str, seed: int) -> dict[str, Any]:
    """Let units learn from every start, one a direction, and a crowd of them; return what came of them by name."""
    plane = PLANES[name]
    pairs, new = plane.pairs(N_PAIRS, [seed, OWN]), _new(name)
    whitening = ZCAWhitening(0.0).fit(pairs)
    chi, unseen = (outer_products(whitening.transform(shown), "change") for shown in (pairs, new))
    way, new_way = (np.argmax(np.asarray(shown.motion) @ plane.motion.ways.T, axis=1) for shown in (pairs, new))
    chi, k, targets = scaled(chi), len(plane.angles), _targets(name)
    against = np.array(plane.angles) + 180.0

    def grown(W: np.ndarray, filters: np.ndarray) -> Grown:
        return Grown(*(read(each, targets, unseen, new_way) for each in (W, filters)))

    def draw(angles: np.ndarray, scatter: float = SCATTER) -> np.ndarray:
        return oriented_dendrites(plane.eye, angles, scatter=scatter, random_state=np.random.default_rng([seed, OWN]))

    rng = np.random.default_rng([seed, OWN, 1])
    starts = {
        "oriented": draw(against),
        "loose": draw(against, 1.0),
        "sides": draw(rng.choice(against, k)),
        "random": random_filters(k, chi, np.random.default_rng([seed, OWN])),
    }
    if isinstance(plane.eye, Hexagon) and plane.angles == tuple(PREFERRED.values()):
        beside = wired(plane.eye)
        starts["t4"] = beside + SCATTER * starts["random"]
        moved = np.stack([of_cell[:, rng.permutation(len(of_cell))] for of_cell in beside])
        starts["t4_shuffled"] = moved + SCATTER * starts["random"]
    found: dict[str, Any] = {key: grown(W, raised(chi, W).W) for key, W in starts.items()}
    W = draw(rng.choice(against, CROWD * k))
    found["crowd"] = grown(W, pruned(chi, W, k, "inhibited").W)
    found["literal"] = grown(starts["oriented"], raised_literally(chi, starts["oriented"]))
    found["labelled"] = read(labelled_means(chi, way), targets, unseen, new_way)
    found["population"] = read(targets, targets, unseen, new_way)
    return found


@cache
def _new(name: str) -> FramePairs:
    return PLANES[name].pairs(N_TEST, [10**6])


@cache
def _targets(name: str) -> np.ndarray:
    """Return the population's filter of each direction, shape (n_ways, n, n)."""
    plane = PLANES[name]
    theory = population(exponential_covariance(LENGTH, SIGMA, 2), plane.eye, plane.motion, whitening="zca")
    return np.tensordot(plane.motion.ways, theory.generators().operators, axes=1)
