"""What units learn where each pair moves in one of several ways, one unit a way, and how it is scored, with its nulls.

The plane's transformations and the sphere's turns are learned so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from flymotion.claims.lessons import of_norm_1
from flymotion.claims.nulls import labelled_means, random_filters, start_state
from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.world.eyes import Eye
from flymotion.world.motions import Motion

__all__ = [
    "FEATURES",
    "LIKE",
    "RIDGE",
    "Labelled",
    "Scored",
    "early_vision",
    "labelled",
    "learn",
    "least_of_ways",
    "scored",
    "succeeded",
]

FEATURES = {"change": "the paper's feature", "midpoint": "the midpoint feature"}

RIDGE = 1e-5
"""Of the whitening."""

LIKE = 0.8
"""Cosine from which a filter counts as a generator."""


def early_vision(regularization: float = RIDGE) -> Pipeline:
    """Return what MotionLearner does to frames: whitening, then contrast normalisation."""
    return make_pipeline(ZCAWhitening(regularization), ContrastNormalization(1.0))


class Labelled(NamedTuple):
    """A feature of pairs to learn from and of new ones, and which of the motion's ways each pair moved."""

    eye: Eye
    motion: Motion
    Z: np.ndarray
    """Whitening, shape (n, n)."""
    analytic: np.ndarray
    """Generators of the motion's p parameters, on whitened frames, shape (p, n, n)."""
    chi: OuterProducts
    way: np.ndarray
    new: OuterProducts
    new_way: np.ndarray

    @property
    def of_ways(self) -> np.ndarray:
        """Analytic generators of the K ways, shape (K, n, n)."""
        return np.tensordot(self.motion.ways, self.analytic, axes=1)


def labelled(
    vision: Pipeline,
    eye: Eye,
    motion: Motion,
    analytic: Callable[[np.ndarray], np.ndarray],
    pairs: FramePairs,
    new: FramePairs,
    features: Sequence[str] = tuple(FEATURES),
) -> dict[str, Labelled]:
    """Fit early vision on pairs, and show it these and new ones; ``analytic`` makes generators of the whitening Z."""
    vision.fit(pairs)
    Z = vision["zcawhitening"].matrix_
    generators, seen, unseen = analytic(Z), vision.transform(pairs), vision.transform(new)
    way, new_way = (np.argmax(np.asarray(shown.motion) @ motion.ways.T, axis=1) for shown in (pairs, new))
    return {
        feature: Labelled(
            eye, motion, Z, generators, outer_products(seen, feature), way, outer_products(unseen, feature), new_way
        )
        for feature in features
    }


class Scored(NamedTuple):
    """K filters, learned or not, in the order of the motion's K ways."""

    filters: np.ndarray
    """On whitened frames, of norm 1, shape (K, n, n)."""
    cosines: np.ndarray
    """With the analytic generator of each way, shape (K,)."""
    found: np.ndarray
    """How many of the ways are, among all, the one that some filter is most like."""
    accuracy: np.ndarray
    """Share of new pairs whose way has the largest output; without any output they count as wrong."""


def learn(given: Labelled, seed: int) -> dict[str, Scored]:
    """Let NSM learn in one pass, and score it (``"nsm"``) and its nulls, by the keys of ``nulls.NULLS``.

    It learns as :class:`NonnegativeSimilarityMatching` does, on the state itself, to see its start without taking it
    twice. Nulls have no lateral inhibition: the largest projection on a filter of norm 1 names the way.
    """
    K = len(given.motion.ways)
    state = start_state(given.chi, K, nonnegative=True)
    nulls = {
        "random": random_filters(K, given.chi, np.random.default_rng(seed)),
        "start": state.W.reshape(K, *given.chi.feature_shape),
        "labelled": labelled_means(given.chi, given.way),
        "population": given.of_ways,
    }
    state.advance(given.chi, forgetting=1.0, nonnegative=True, max_sweeps=100)
    outputs, _ = state.respond(given.new, nonnegative=True, max_sweeps=100)
    nsm = scored(given, state.W.reshape(K, *given.chi.feature_shape), outputs)
    return {"nsm": nsm} | {name: scored(given, filters) for name, filters in nulls.items()}


def scored(given: Labelled, filters: np.ndarray, outputs: np.ndarray | None = None) -> Scored:
    """Match filters, shape (K, n, n), with analytic generators, and score their outputs, or projections, of new pairs.

    Random filters, which match nothing, are matched all the same.
    """
    filters = of_norm_1(filters)
    outputs = given.new.project(filters) if outputs is None else outputs
    ways, generators = given.motion.ways, Generators(filters, given.eye)
    match = generators.match(given.analytic)
    preferred = match.sign[:, None] * np.eye(len(given.analytic))[match.parameter]
    order = np.argmax(ways @ preferred.T, axis=1)
    most_like = np.argmax(generators.cosines(given.analytic) @ ways.T, axis=1)
    named = outputs[:, order]
    return Scored(
        filters[order],
        match.cosine[order],
        np.array(len(np.unique(most_like))),
        np.mean((named.argmax(axis=1) == given.new_way) & (named.max(axis=1) > 0)),
    )


def succeeded(learned: Scored, *, accuracy: float = 0.0) -> np.ndarray:
    """Return in which seeds all is well, shape (n_seeds,).

    Every way is the one that some filter is most like, all cosines are above ``LIKE``, and the accuracy above a bound.
    (That ``match`` gives each way to a filter means nothing: it always does.)
    """
    n_ways = learned.cosines.shape[1]
    return (learned.found == n_ways) & (learned.cosines.min(axis=1) > LIKE) & (learned.accuracy > accuracy)


def least_of_ways(motion: Motion, values: np.ndarray) -> str:
    """Tell the least value of each way, of several seeds, shape (n_seeds, K)."""
    least = zip(motion.ways, values.min(axis=0), strict=True)
    return ", ".join(f"{motion.called(way)} {value:.3f}" for way, value in least)
