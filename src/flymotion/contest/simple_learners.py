"""Learners that the contest makes of what is there: filters that nobody learned, and scikit-learn's streams on chi."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from flymotion.claims.lessons import of_norm_1
from flymotion.similarity.features import OuterProducts

__all__ = ["Answering", "GivenFilters", "InBatches", "OfCentres"]

BATCH = 256
"""Samples of which chi is built at a time."""


class GivenFilters(BaseEstimator):
    """Filters that are not learned: inner products of chi with them, at norm 1, are the outputs.

    Parameters
    ----------
    choose : callable
        Takes the samples, and what the estimator is told of them, and returns filters, shape (n_outputs, n, n).
    """

    def __init__(self, choose: Callable[[OuterProducts, Any], np.ndarray]) -> None:
        self.choose = choose

    def fit(self, X: OuterProducts, y: Any = None) -> Self:
        """Choose the filters, for samples and what is told of them."""
        self.generators_ = of_norm_1(self.choose(X, y))
        return self

    def transform(self, X: OuterProducts) -> np.ndarray:
        """Return the outputs, shape (n_samples, n_outputs)."""
        return X.project(self.generators_)


class OfCentres(BaseEstimator):
    """Clusters of chi, whose outputs are inner products with their centres, at norm 1: how like each they are.

    The nearest centre, which the clustering itself goes by, is no direction: see C2 in the page of the verdict.

    Parameters
    ----------
    clusters : estimator
        Of chi, with ``generators_``.
    """

    def __init__(self, clusters: Any) -> None:
        self.clusters = clusters

    def fit(self, X: OuterProducts, y: Any = None) -> Self:
        """Find the clusters."""
        self.clusters.fit(X)
        return self

    @property
    def generators_(self) -> np.ndarray:
        """The centres, shape (n_outputs, n, n)."""
        return self.clusters.generators_

    def transform(self, X: OuterProducts) -> np.ndarray:
        """Return the outputs, shape (n_samples, n_outputs)."""
        return X.project(of_norm_1(self.generators_))


class Answering(BaseEstimator):
    """A learner whose answer, and whose operators, are others than ``transform`` and ``generators_`` give.

    Parameters
    ----------
    learner : estimator
        What learns.
    answer : str
        Name of the method that answers samples, one row, or number, a sample.
    filters : str, optional
        Name of the attribute that holds operators, shape (n, n) or (K, n, n).
    """

    def __init__(self, learner: Any, answer: str = "transform", filters: str = "generators_") -> None:
        self.learner = learner
        self.answer = answer
        self.filters = filters

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn."""
        self.learner.fit(X)
        return self

    @property
    def generators_(self) -> np.ndarray:
        """The operators, shape (K, n, n)."""
        filters = getattr(self.learner, self.filters)
        return filters.reshape(-1, *filters.shape[-2:])

    def transform(self, X: Any) -> np.ndarray:
        """Return the answers, shape (n_samples, n_outputs)."""
        return np.asarray(getattr(self.learner, self.answer)(X)).reshape(len(X), -1)


class InBatches(BaseEstimator):
    """An estimator of plain vectors, given chi itself in batches, as a user would who knows no better.

    Parameters
    ----------
    estimator : estimator
        With ``partial_fit``, and ``components_`` or ``cluster_centers_``.
    n_passes : int
        Over the samples.
    """

    def __init__(self, estimator: Any, n_passes: int = 1) -> None:
        self.estimator = estimator
        self.n_passes = n_passes

    def fit(self, X: OuterProducts, y: Any = None) -> Self:
        """Learn from batches, the last of which may be up to twice as large."""
        self.feature_shape_ = X.feature_shape
        starts = range(0, max(1, len(X) // BATCH) * BATCH, BATCH)
        for start in (*starts,) * self.n_passes:
            stop = len(X) if start == starts[-1] else start + BATCH
            self.estimator.partial_fit(X[start:stop].dense())
        return self

    @property
    def generators_(self) -> np.ndarray:
        """Components or centres, shape (n_outputs, n, n)."""
        known = "components_" if hasattr(self.estimator, "components_") else "cluster_centers_"
        return getattr(self.estimator, known).reshape(-1, *self.feature_shape_)

    def transform(self, X: OuterProducts) -> np.ndarray:
        """Return the outputs, shape (n_samples, n_outputs)."""
        batches = (X[start : start + BATCH].dense() for start in range(0, len(X), BATCH))
        return np.concatenate([self.estimator.transform(batch) for batch in batches])
