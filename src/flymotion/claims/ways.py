"""What units learn where each pair moves in one of several ways, one unit a way, and how it is scored.

The plane's transformations and the sphere's turns are learned so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from flymotion.claims.lessons import of_norm_1
from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.world.eyes import Eye
from flymotion.world.motions import Motion

__all__ = ["LIKE", "RIDGE", "Labelled", "Scored", "early_vision", "labelled", "learn", "scored", "succeeded"]

RIDGE = 1e-5
"""Of the whitening."""

LIKE = 0.8
"""Cosine from which a filter counts as a generator."""


def early_vision(regularization: float = RIDGE) -> Pipeline:
    """Return what MotionLearner does to frames: whitening, then contrast normalisation."""
    return make_pipeline(ZCAWhitening(regularization), ContrastNormalization(1.0))


class Labelled(NamedTuple):
    """Features of pairs to learn from and of new ones, and which of the motion's ways each pair moved."""

    eye: Eye
    motion: Motion
    analytic: np.ndarray
    """Generators of the motion's p parameters, on whitened frames, shape (p, n, n)."""
    chi: OuterProducts
    way: np.ndarray
    new: OuterProducts
    new_way: np.ndarray


def labelled(
    vision: Pipeline,
    eye: Eye,
    motion: Motion,
    analytic: Callable[[np.ndarray], np.ndarray],
    pairs: FramePairs,
    new: FramePairs,
) -> Labelled:
    """Fit early vision on pairs, and show it these and new ones; ``analytic`` makes generators of the whitening Z."""
    vision.fit(pairs)
    chi, unseen = (outer_products(vision.transform(shown)) for shown in (pairs, new))
    way, new_way = (np.argmax(np.asarray(shown.motion) @ motion.ways.T, axis=1) for shown in (pairs, new))
    return Labelled(eye, motion, analytic(vision["zcawhitening"].matrix_), chi, way, unseen, new_way)


class Scored(NamedTuple):
    """What K units have learned, in the order of the motion's K ways."""

    filters: np.ndarray
    """On whitened frames, of norm 1, shape (K, n, n)."""
    cosines: np.ndarray
    """With the analytic generator of each way, shape (K,)."""
    found: np.ndarray
    """How many of the ways are, among all, the one that some filter is most like."""
    accuracy: np.ndarray
    """Share of new pairs whose way has the largest output; without any output they count as wrong."""
    ideal: np.ndarray
    """The same by filters averaged with labels, over the pairs learned from."""
    analytic: np.ndarray
    """Of the lesson, scaled to norm 1."""

    def least_cosines(self, motion: Motion) -> str:
        """Tell the least cosine of each way, of several seeds, stacked."""
        least = zip(motion.ways, self.cosines.min(axis=0), strict=True)
        return ", ".join(f"{motion.called(way)} {cosine:.3f}" for way, cosine in least)


def learn(given: Labelled) -> Scored:
    """Let NSM learn, in one pass, and score it."""
    network = NonnegativeSimilarityMatching(len(given.motion.ways)).fit(given.chi)
    return scored(given, network.generators_, network.transform(given.new))


def scored(given: Labelled, filters: np.ndarray, outputs: np.ndarray) -> Scored:
    """Match filters, shape (K, n, n), with analytic generators, and score their outputs of the new pairs."""
    ways, generators = given.motion.ways, Generators(filters, given.eye)
    match = generators.match(given.analytic)
    preferred = match.sign[:, None] * np.eye(len(given.analytic))[match.parameter]
    order = np.argmax(ways @ preferred.T, axis=1)
    most_like = np.argmax(generators.cosines(given.analytic) @ ways.T, axis=1)
    averages = given.chi.accumulate(np.eye(len(ways))[given.way])
    return Scored(
        of_norm_1(filters[order]),
        match.cosine[order],
        np.array(len(np.unique(most_like))),
        _share_named(outputs[:, order], given.new_way),
        _share_named(given.new.project(of_norm_1(averages)), given.new_way),
        of_norm_1(given.analytic),
    )


def _share_named(outputs: np.ndarray, way: np.ndarray) -> np.ndarray:
    return np.mean((outputs.argmax(axis=1) == way) & (outputs.max(axis=1) > 0))


def succeeded(learned: Scored, *, accuracy: float = 0.0) -> np.ndarray:
    """Return in which seeds all is well, shape (n_seeds,).

    Every way is the one that some filter is most like, all cosines are above ``LIKE``, and the accuracy above a bound.
    (That ``match`` gives each way to a filter means nothing: it always does.)
    """
    n_ways = learned.cosines.shape[1]
    return (learned.found == n_ways) & (learned.cosines.min(axis=1) > LIKE) & (learned.accuracy > accuracy)
