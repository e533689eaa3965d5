"""What is learned in a plane, by name of the algorithm, beside its nulls; and rows that several claims make of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.lessons import of_norm_1
from flymotion.claims.nulls import NULLS, labelled_means
from flymotion.claims.rows import Claim, within
from flymotion.claims.running import Found
from flymotion.claims.transformations.planes import PLANES
from flymotion.claims.ways import FEATURES, LIKE, Labelled, learn, scored
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA

__all__ = ["N_COMPONENTS", "basis", "count_generators", "generators_found", "learn_lesson", "learn_plane"]

N_COMPONENTS = 4
"""Of SM and PCA."""

LABELLED_STRENGTH = 10.0
"""Samples, of the mean size, that a start from averages by label counts as."""

SIGNED = {"sm": SimilarityMatching, "pca": OuterProductPCA}


def learn_plane(
    name: str, features: Sequence[str], algorithms: Sequence[str], n_test: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Learn from a plane's pairs, by feature and algorithm; of other features there are averages by label alone."""
    lessons = PLANES[name].lessons(n_test, seed, list(FEATURES))
    return {
        feature: learn_lesson(given, algorithms, seed)
        if feature in features
        else {"labelled": scored(given, labelled_means(given.chi, given.way))}
        for feature, given in lessons.items()
    }


def learn_lesson(given: Labelled, algorithms: Sequence[str], seed: int) -> dict[str, Any]:
    """Learn from a lesson: NSM and its nulls, and other algorithms if asked for.

    Parameters
    ----------
    given : Labelled
        What there is to learn from.
    algorithms : sequence of {"kmeans", "sm", "pca", "labelled_start"}
        K-means, scored; components of SM and PCA, shape (4, n, n), largest first; NSM that starts from averages by
        label instead of its warm-up, scored.
    seed : int
        Of random filters and of K-means.

    Returns
    -------
    dict
        By algorithm and null; ``Z`` and the ``analytic`` generators, of norm 1, too.
    """
    found: dict[str, Any] = learn(given, seed)
    for name in algorithms:
        if name in SIGNED:
            found[name] = SIGNED[name](N_COMPONENTS).fit(given.chi).generators_
        elif name == "kmeans":
            clusters = OuterProductKMeans(len(given.motion.ways), random_state=seed).fit(given.chi)
            found[name] = scored(given, clusters.generators_)
        else:
            found[name] = _from_averages(given, found["labelled"].filters)
    return found | {"Z": given.Z, "analytic": of_norm_1(given.analytic)}


def _from_averages(given: Labelled, averages: np.ndarray) -> Any:
    strength = LABELLED_STRENGTH * float(np.mean(given.chi.norms() ** 2))
    start = averages.reshape(len(averages), -1)
    network = NonnegativeSimilarityMatching(len(averages), init=start, init_strength=strength).fit(given.chi)
    return scored(given, network.generators_)


def count_generators(name: str, found: Found, n: int) -> tuple[np.ndarray, str]:
    """Count generators among the components of SM or PCA in each seed; those not among the first n only where all are.

    Returns
    -------
    counts : ndarray, shape (n_seeds,)
        Which are n where the first n components, and no others, are generators.
    told : str
        How much of the components the span of the generators holds.
    """
    captured = np.stack(list(map(_captured, found[name], found["analytic"])))
    like = captured > LIKE
    counts = np.where(like[:, :n].all(axis=1), like.sum(axis=1), like[:, :n].sum(axis=1))
    first, others = captured[:, :n].min(), captured[:, n:].max()
    return counts, f"within their span: first {n} at least {first:.3f}, others up to {others:.3f}"


def generators_found(id: str, name: str, words: str, found: Found, n: int) -> Iterator[Claim]:
    """State that the first n components of SM or PCA, and no others, are generators, in every seed."""
    counts, told = count_generators(name, found, n)
    title = f"generators among {name.upper()}'s first {N_COMPONENTS} components, in the seed farthest from {n}"
    row = within(id, f"{title}, {words}", counts, n, n, unit="generators", note=told)
    filters = zip(found["random"].filters, found["analytic"], strict=True)
    random = np.array([(_captured(*both) > LIKE).sum() for both in filters])
    yield from beside(row, random=Null(NULLS["random"], random, np.max))


def _captured(components: np.ndarray, analytic: np.ndarray) -> np.ndarray:
    """Norm of each component's projection on the span of the generators, relative to its own; both (..., n, n)."""
    flat = components.reshape(len(components), -1)
    return np.linalg.norm(flat @ basis(analytic), axis=1) / np.linalg.norm(flat, axis=1)


def basis(operators: np.ndarray) -> np.ndarray:
    """Return a basis of the span of operators, shape (p, n, n), as columns."""
    return np.linalg.qr(operators.reshape(len(operators), -1).T)[0]
