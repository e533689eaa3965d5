"""Whether NSM's outputs assign: clusters of handwritten digits, beside those of K-means (C26, Sec. 1.1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from flymotion.claims.beside import Null, beside
from flymotion.claims.nulls import start_state
from flymotion.claims.offline_online.plain_networks import random_rows, rule_alone
from flymotion.claims.offline_online.real_vectors import N_PASSES, RATE, digits
from flymotion.claims.rows import Claim, report
from flymotion.claims.running import Found
from flymotion.similarity.features import as_features
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.optima import descend
from flymotion.similarity.rivals import OuterProductKMeans

__all__ = ["Assigned", "assign", "check_assignments"]

K = 10

N_OFFLINE = 150
"""Digits of the offline problem."""

HOW = {
    "nsm": "NSM, after learning from its warm-up",
    "rule_alone": "NSM from random weights, by its rule alone",
    "start": "the warm-up alone, which starts from clusters or halves of components",
    "kmeans": "K-means of another random start",
    "random": "rectified random projections",
}
"""What assigns a digit to one of ten units: the one with the largest output."""


class Assigned(NamedTuple):
    """Digits assigned to ten units, by each of ``HOW``."""

    clusters: np.ndarray
    """Agreement with the clusters of K-means (adjusted Rand index), shape (5,)."""
    classes: np.ndarray
    """Normalised mutual information with what digits they are, shape (5,)."""
    active: np.ndarray
    """Mean number of units that a digit makes active, of the two kinds of NSM and of the start, shape (3,)."""
    offline: np.ndarray
    """Agreement with the clusters of K-means, and mean number of active units, at a minimum of Eq. 7 for some of the
    digits, by descent from random outputs; shape (2,)."""


def assign(centred: bool, seed: int) -> Assigned:
    """Let all learn from the digits in random order, as they are or less their mean."""
    X, which = digits()
    order = np.random.default_rng([seed, 36]).permutation(len(X))
    X, which = (X - X.mean(axis=0) if centred else X)[order], which[order]
    how: dict[str, Any] = {"nonnegative": True, "rate": RATE, "n_passes": N_PASSES["digits"]}
    learned = NonnegativeSimilarityMatching(K, forgetting=1 - RATE, n_passes=N_PASSES["digits"]).fit(X)
    start = start_state(X, K, nonnegative=True)
    outputs = [
        learned.transform(X),
        rule_alone(X, K, [seed, 37], **how).transform(X),
        start.respond(as_features(X), nonnegative=True, max_sweeps=100)[0],
        -OuterProductKMeans(K, random_state=seed + 1000).fit(X).transform(X),
        np.maximum(X @ random_rows(K, X.shape[1], [seed, 38]).T, 0),
    ]
    clusters = OuterProductKMeans(K, random_state=seed).fit(X).labels_
    units = [each.argmax(axis=1) for each in outputs]
    return Assigned(
        np.array([adjusted_rand_score(clusters, each) for each in units]),
        np.array([normalized_mutual_info_score(which, each) for each in units]),
        np.array([(each > 1e-9).sum(axis=1).mean() for each in outputs[:3]]),
        _offline(X[:N_OFFLINE], seed),
    )


def _offline(X: np.ndarray, seed: int) -> np.ndarray:
    gram = X @ X.T
    start = np.abs(np.random.default_rng([seed, 44]).standard_normal((len(X), K)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where the minimum is flat, it is so in what is measured
        theta = descend(gram, start * np.sqrt(np.trace(gram) / start.size), nonnegative=True, max_iter=1000)
    clusters = OuterProductKMeans(K, n_init=5, random_state=seed).fit(X).labels_
    active = (theta > 1e-6 * theta.max()).sum(axis=1).mean()
    return np.array([adjusted_rand_score(clusters, theta.argmax(axis=1)), active])


def check_assignments(found: Found, config: Any) -> Iterator[Claim]:
    """Report agreement with K-means and with the classes, and how many units answer a digit; medians of the seeds."""
    for world, assigned in found.items():
        told = {"as_they_are": "as they are", "less_mean": "less the mean digit"}[world]
        note = f"1797 digits {told}, K = {K}, rate {RATE:g}, {N_PASSES['digits']} passes"
        measures = (
            ("clusters", f"agreement with K-means' clusters (adjusted Rand index), digits {told}", assigned.clusters),
            ("classes", f"normalised mutual information with the classes of digits {told}", assigned.classes),
        )
        for measure, title, values in measures:
            nulls = {how: Null(words, of, np.median) for (how, words), of in zip(HOW.items(), values.T, strict=True)}
            nsm = nulls.pop("nsm")
            title = f"{title}: {nsm.name}"
            row = report(f"C26.digits_{measure}_{world}", title, nsm.values, worst=np.median, note=note)
            yield from beside(row, **nulls)
        title = f"units of ten that a digit makes active, digits {told}, mean: NSM after learning"
        row = report(
            f"C26.digits_active_{world}", title, assigned.active[:, 0], worst=np.median, unit="units", note=note
        )
        yield from beside(row, start=Null("the warm-up alone", assigned.active[:, 2], np.median))
        title = (
            f"agreement with K-means at a minimum of Eq. 7 for {N_OFFLINE} digits {told}, descent from random outputs"
        )
        note = f"{np.median(assigned.offline[:, 1]):.1f} of {K} units active a digit"
        yield report(f"C26.digits_offline_{world}", title, assigned.offline[:, 0], worst=np.median, note=note)
