"""What units learn in a world of one motion a pair, one unit a way to move, and how it is scored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA
from flymotion.world.eyes import Eye
from flymotion.world.motions import Motion

__all__ = [
    "LIKE",
    "RIDGE",
    "Learned",
    "Lesson",
    "Signed",
    "early_vision",
    "learn",
    "learn_signed",
    "lesson",
    "let_kmeans_learn",
    "succeeded",
]

RIDGE = 1e-5
"""Of the whitening."""

LIKE = 0.8
"""Cosine from which a filter counts as a generator."""

N_KMEANS = 4000
"""Pairs that K-means is given; each of its ten starts goes over them tens of times.

Enough for two clusters; for the four of translations it takes 20,000.
"""

N_SIGNED = 4
"""Components of SM and PCA."""


class Lesson(NamedTuple):
    """Features of pairs to learn from and of new ones, and which of the motion's ways each pair moved."""

    eye: Eye
    motion: Motion
    Z: np.ndarray
    """The whitening, shape (n, n)."""
    chi: OuterProducts
    way: np.ndarray
    new: OuterProducts
    new_way: np.ndarray


def early_vision(regularization: float = RIDGE) -> Pipeline:
    """Return what MotionLearner does to frames: whitening, then contrast normalisation."""
    return make_pipeline(ZCAWhitening(regularization), ContrastNormalization(1.0))


def lesson(vision: Pipeline, eye: Eye, motion: Motion, pairs: FramePairs, new: FramePairs) -> Lesson:
    """Fit early vision on pairs, and show it these and new ones."""
    vision.fit(pairs)
    chi, unseen = (outer_products(vision.transform(shown)) for shown in (pairs, new))
    way, new_way = (np.argmax(np.asarray(shown.motion) @ motion.ways.T, axis=1) for shown in (pairs, new))
    return Lesson(eye, motion, vision["zcawhitening"].matrix_, chi, way, unseen, new_way)


class Learned(NamedTuple):
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
    """Analytic generators of the motion's parameters, of norm 1, on the same frames, shape (p, n, n)."""


def learn(given: Lesson, analytic: np.ndarray) -> Learned:
    """Let NSM learn, in one pass, and match its filters with analytic generators, shape (p, n, n)."""
    network = NonnegativeSimilarityMatching(len(given.motion.ways)).fit(given.chi)
    return _scored(given, analytic, network.generators_, network.transform(given.new))


def let_kmeans_learn(given: Lesson, analytic: np.ndarray, seed: int) -> Learned:
    """Let K-means learn from the first ``N_KMEANS`` pairs; its outputs are products with the centres."""
    kmeans = OuterProductKMeans(len(given.motion.ways), random_state=seed).fit(given.chi[:N_KMEANS])
    return _scored(given, analytic, kmeans.generators_, given.new.project(kmeans.generators_))


def _scored(given: Lesson, analytic: np.ndarray, filters: np.ndarray, outputs: np.ndarray) -> Learned:
    ways, generators = given.motion.ways, Generators(filters, given.eye)
    match = generators.match(analytic)
    preferred = match.sign[:, None] * np.eye(len(analytic))[match.parameter]
    order = np.argmax(ways @ preferred.T, axis=1)
    most_like = np.argmax(generators.cosines(analytic) @ ways.T, axis=1)
    averages = given.chi.accumulate(np.eye(len(ways))[given.way])
    return Learned(
        _of_norm_1(filters[order]),
        match.cosine[order],
        np.array(len(np.unique(most_like))),
        _share_right(outputs[:, order], given.new_way),
        _share_right(given.new.project(_of_norm_1(averages)), given.new_way),
        _of_norm_1(analytic),
    )


def _of_norm_1(filters: np.ndarray) -> np.ndarray:
    return filters / np.maximum(np.linalg.norm(filters, axis=(1, 2), keepdims=True), 1e-300)


def _share_right(outputs: np.ndarray, way: np.ndarray) -> np.ndarray:
    return np.mean((outputs.argmax(axis=1) == way) & (outputs.max(axis=1) > 0))


def succeeded(learned: Learned, *, like: float = LIKE, accuracy: float = 0.0) -> list[bool]:
    """In which seeds all is well.

    Every way is the one that some filter is most like, all cosines are above a bound, and so is the accuracy. (That
    ``match`` gives each way to a filter means nothing: it always does.)
    """
    n_ways = learned.cosines.shape[1]
    good = (learned.found == n_ways) & (learned.cosines.min(axis=1) > like) & (learned.accuracy > accuracy)
    return [bool(g) for g in good]


class Signed(NamedTuple):
    """What SM and PCA learn from the same features: components, largest first."""

    sm: np.ndarray
    """Norm of each component's projection on the span of the analytic generators, shape (4,)."""
    pca: np.ndarray
    """The same of PCA's."""
    sm_span: np.ndarray
    """Least principal cosine of that span with the span of as many first components of SM."""


def learn_signed(given: Lesson, analytic: np.ndarray) -> Signed:
    """Let SM and PCA learn."""
    span = np.linalg.qr(analytic.reshape(len(analytic), -1).T)[0]
    sm, pca = (algorithm(N_SIGNED).fit(given.chi).components_ for algorithm in (SimilarityMatching, OuterProductPCA))
    first = np.linalg.qr(sm[: len(analytic)].T)[0]
    among_them = np.linalg.svd(first.T @ span, compute_uv=False)
    sm, pca = (np.linalg.norm(c @ span, axis=1) / np.linalg.norm(c, axis=1) for c in (sm, pca))
    return Signed(sm, pca, among_them.min())
