r"""K-means of chi without chi: the second rival of Suppl. B (Eq. 27 of Bahroun et al. 2019).

A squared distance is :math:`|\chi_t|^2 - 2 \chi_t \cdot A_a + |A_a|^2` (``norms``, ``project``), a mean is an
``accumulate``, and the choice of first centres needs only inner products with the chosen samples.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs, seed_of
from flymotion.similarity.features import formed
from flymotion.similarity.samples import accumulate, check_counts, check_samples, generators_of, precision, project
from flymotion.similarity.vectors import to_numpy
from flymotion.world.conventions import as_generator

__all__ = ["OuterProductKMeans"]

COUNTS = ("n_clusters", "n_init", "max_iter")
"""Parameters that are whole numbers."""


class OuterProductKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """K-means clustering of outer products, or of plain vectors: Lloyd's algorithm from k-means++ starts.

    Parameters
    ----------
    n_clusters : int
        Number of clusters K.
    n_init : int
        Starts, of which the one with the least inertia is kept; 1 with a given ``init``.
    max_iter : int
        Most iterations a start.
    init : "k-means++" or array-like, shape (n_clusters, n_features)
        First centres.
    random_state : int, Generator, RandomState or None
        Source of the starts.

    Attributes
    ----------
    cluster_centers_ : ndarray, shape (K, n_features)
        Means of the clusters.
    generators_ : ndarray, shape (K, n_u, n_v)
        The centres as matrices, for outer products.
    labels_ : ndarray, shape (n_samples,)
        Cluster of each sample.
    inertia_ : float
        Sum of the squared distances of the samples to their centres.
    n_iter_ : int
        Iterations of the start that was kept.

    References
    ----------
    Arthur & Vassilvitskii, SODA 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from flymotion.similarity.features import OuterProducts
    >>> chi = OuterProducts(np.array([[1.0], [3.0], [-1.0], [-3.0]]), np.ones((4, 1)))
    >>> OuterProductKMeans(2, random_state=0).fit(chi).inertia_
    4.0
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        init: Any = "k-means++",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.init = init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array, shape (n_samples, n_features), or OuterProducts
            Samples.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Samples that are empty, not finite, of the wrong shape, or fewer than clusters; parameters out of range.
        """
        check_counts(n_clusters=self.n_clusters, n_init=self.n_init, max_iter=self.max_iter)
        samples = formed(check_samples(self, X, reset=True))
        if len(samples) < self.n_clusters:
            raise ValueError(f"{len(samples)} samples for {self.n_clusters} clusters; expected at least one each")
        energy = to_numpy(samples.norms()).astype(float) ** 2
        runs = [_lloyd(samples, energy, start, self.max_iter) for start in self._starts(samples, energy)]
        best = min(runs, key=lambda run: run.inertia)
        self.cluster_centers_, self.labels_, self.inertia_, self.n_iter_ = best[:4]
        self._warn(settled=best.settled)
        return self

    def _starts(self, samples: Any, energy: np.ndarray) -> list[np.ndarray]:
        if not isinstance(self.init, str):
            init = np.asarray(self.init, dtype=float)
            if init.size != self.n_clusters * self.n_features_in_:
                raise ValueError(f"init has shape {init.shape}; expected ({self.n_clusters}, {self.n_features_in_})")
            return [init.reshape(self.n_clusters, -1)]
        if self.init != "k-means++":
            raise ValueError(f"init is {self.init!r}; expected 'k-means++' or an array of centres")
        rng = as_generator(self.random_state)
        return [_plus_plus(samples, energy, self.n_clusters, rng) for _ in range(self.n_init)]

    def _warn(self, *, settled: bool) -> None:
        found = np.unique(self.labels_).size
        if found < self.n_clusters:
            message = f"the samples have only {found} distinct values for {self.n_clusters} clusters"
        elif not settled:
            message = f"the clusters still changed after {self.max_iter} iterations; raise max_iter"
        else:
            return
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def predict(self, X: Any) -> np.ndarray:
        """Return the nearest cluster of each sample, shape (n_samples,)."""
        return self._squared_distances(X).argmin(axis=1)

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance to each centre, shape (n_samples, n_clusters)."""
        return np.sqrt(self._squared_distances(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the inertia of the samples; higher is better."""
        return float(-self._squared_distances(X).min(axis=1).sum())

    def _squared_distances(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        samples = check_samples(self, X, reset=False)
        energy = to_numpy(samples.norms()).astype(float) ** 2
        return _squared_distances(samples, energy, self.cluster_centers_)

    @property
    def generators_(self) -> np.ndarray:
        """The centres as matrices, shape (n_clusters, n_u, n_v).

        Raises
        ------
        AttributeError
            After fitting plain vectors.
        """
        return generators_of(self, self.cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the estimator of again; a ``random_state`` only where it is a number."""
        check_is_fitted(self)
        numbers = {name: getattr(self, name) for name in COUNTS} | {"random_state": seed_of(self)} | inputs_of(self)
        numbers |= {"feature_shape": list(self.feature_shape_), "inertia": self.inertia_, "n_iter": self.n_iter_}
        init = None if isinstance(self.init, str) else np.asarray(self.init, dtype=float)
        return packed(numbers, {"init": init, "cluster_centers": self.cluster_centers_, "labels": self.labels_})

    @classmethod
    def unpack(cls, given: Given) -> Self:
        """Return the estimator that was packed.

        Raises
        ------
        ValueError
            What is no such estimator.
        """
        kmeans = cls(
            **{name: given.number(name, int, least=1) for name in COUNTS},
            random_state=given.seed("random_state", optional=True),
        )
        n, K = restore_inputs(kmeans, given), kmeans.n_clusters
        kmeans.feature_shape_ = given.feature_shape(n)
        init = given.array("init", types=["float64"], optional=True)
        kmeans.init = "k-means++" if init is None else init
        kmeans.cluster_centers_ = given.array("cluster_centers", K, n, types=["float64"])
        kmeans.labels_ = given.array("labels", None, types=["int64"], least=0)
        if kmeans.labels_.max(initial=0) >= K:
            raise given.wrong("labels", f"{kmeans.labels_.max()} somewhere", f"numbers of {K} clusters")
        kmeans.inertia_, kmeans.n_iter_ = given.number("inertia", least=0), given.number("n_iter", int, least=0)
        return kmeans


def _squared_distances(samples: Any, energy: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return np.maximum(energy[:, None] - 2 * project(samples, centers) + (centers**2).sum(axis=1), 0)  # Eq. 27


def _plus_plus(samples: Any, energy: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Choose samples as first centres, each with a chance that grows with its squared distance to the others.

    The best of a few candidates each time, as in scikit-learn.
    """
    n_samples, n_candidates = len(samples), 2 + int(math.log(n_clusters))

    def squared_distances_to(rows: np.ndarray) -> np.ndarray:
        gram = to_numpy(samples[rows].gram(samples))
        return np.maximum(energy[rows][:, None] - 2 * gram + energy, 0)

    chosen = [int(rng.integers(n_samples))]
    nearest = squared_distances_to(np.array(chosen))[0]
    while len(chosen) < n_clusters:
        chances = nearest / nearest.sum() if nearest.sum() > 0 else None
        candidates = rng.choice(n_samples, n_candidates, p=chances)
        distances = np.minimum(squared_distances_to(candidates), nearest)
        best = int(distances.sum(axis=1).argmin())
        chosen.append(int(candidates[best]))
        nearest = distances[best]
    return accumulate(samples[np.array(chosen)], np.eye(n_clusters))


class _Run(NamedTuple):
    centers: np.ndarray
    labels: np.ndarray
    inertia: float
    n_iter: int
    settled: bool


def _lloyd(samples: Any, energy: np.ndarray, centers: np.ndarray, max_iter: int) -> _Run:
    """Run Lloyd's algorithm until no sample changes its cluster."""
    rounding = precision(samples) * energy.max()
    distances = _squared_distances(samples, energy, centers)
    labels = distances.argmin(axis=1)
    settled, n_iter = False, 0
    while not settled and n_iter < max_iter:
        labels = _fill(labels, distances, rounding)
        counts = np.bincount(labels, minlength=len(centers))[:, None]
        sums = accumulate(samples, np.eye(len(centers))[labels])
        centers = np.divide(sums, counts, out=centers.copy(), where=counts > 0)
        distances = _squared_distances(samples, energy, centers)
        before, labels = labels, distances.argmin(axis=1)
        settled, n_iter = bool((labels == before).all()), n_iter + 1
    return _Run(centers, labels, float(distances.min(axis=1).sum()), n_iter, settled)


def _fill(labels: np.ndarray, distances: np.ndarray, rounding: float) -> np.ndarray:
    """Give each empty cluster the sample that is farthest from its centre, as far as there are any."""
    empty = np.flatnonzero(np.bincount(labels, minlength=distances.shape[1]) == 0)
    if empty.size == 0:
        return labels
    nearest = distances.min(axis=1)
    farthest = np.argsort(-nearest, kind="stable")[: empty.size]
    farthest = farthest[nearest[farthest] > rounding]
    filled = labels.copy()
    filled[farthest] = empty[: farthest.size]
    return filled
