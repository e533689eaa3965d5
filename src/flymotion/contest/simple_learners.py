"""Learners that the contest makes of what is there: filters that nobody learned, and other answers of learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from flymotion.claims.lessons import of_norm_1
from flymotion.frames import FramePairs
from flymotion.relations import IrreducibleRotations, PairLearner
from flymotion.similarity.features import OuterProducts

__all__ = ["GivenFilters", "OfCentres", "OfFirstPairs", "OfPlanes"]


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


class OfFirstPairs:
    """A learner that takes no more than its first pairs, as more would take it minutes.

    Parameters
    ----------
    learner : PairLearner
        What learns.
    most : int
        Pairs that it learns from at most.
    """

    def __init__(self, learner: PairLearner, most: int) -> None:
        self.learner = learner
        self.most = most

    def fit(self, X: FramePairs, y: Any = None) -> Self:
        """Learn from the first pairs."""
        self.learner.fit(X[: self.most])
        return self

    @property
    def generators_(self) -> np.ndarray:
        """The operators, shape (n_outputs, n, n)."""
        return self.learner.generators_

    def transform(self, X: FramePairs) -> np.ndarray:
        """Return the outputs, shape (n_pairs, n_outputs)."""
        return self.learner.transform(X)


class OfPlanes:
    """Planes that motion turns, of frames as they are, that is with their whitening undone; all planes are one output.

    Parameters
    ----------
    learner : IrreducibleRotations
        What learns.
    """

    def __init__(self, learner: IrreducibleRotations) -> None:
        self.learner = learner

    def fit(self, X: FramePairs, Z: np.ndarray) -> Self:
        """Learn from whitened pairs, whose whitening Z, shape (n, n), is undone."""
        self.Z = Z
        self.learner.fit(self._raw(X))
        return self

    def _raw(self, X: FramePairs) -> FramePairs:
        return X.map(lambda frames: np.linalg.solve(self.Z, frames.T).T)

    @property
    def generators_(self) -> np.ndarray:
        """The operator of all planes, on whitened frames, shape (1, n, n)."""
        return (self.Z @ self.learner.generator_ @ np.linalg.inv(self.Z))[None]

    def transform(self, X: FramePairs) -> np.ndarray:
        """Return the velocity that all planes tell together, shape (n_pairs, 1)."""
        return self.learner.velocity(self._raw(X))[:, None]
