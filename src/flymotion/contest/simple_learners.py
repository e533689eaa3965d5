"""Learners that the contest makes of what is there: filters that nobody learned, and other answers of learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from flymotion.claims.lessons import of_norm_1
from flymotion.similarity.features import OuterProducts

__all__ = ["Answering", "GivenFilters", "OfCentres"]


class GivenFilters:
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


class OfCentres:
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


class Answering:
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
