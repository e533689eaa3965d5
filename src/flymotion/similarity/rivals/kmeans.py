r"""K-means of chi without chi: the second rival of Suppl. B (Eq. 27 of Bahroun et al. 2019).

A squared distance is :math:`|\chi_t|^2 - 2 \chi_t \cdot A_a + |A_a|^2` (``norms``, ``project``), a mean is an
``accumulate``, and the choice of first centres needs only inner products with the chosen samples. All are taken about
an origin amid the samples, since far from it the terms are larger than their sum.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import not_masked
from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs, seed_of
from flymotion.photoreceptors.stage import as_it_was, check_unchanged
from flymotion.similarity.features import formed
from flymotion.similarity.samples import (
    BLOCK_ENTRIES,
    PRECISION,
    accumulate,
    blocks,
    check_counts,
    check_samples,
    generators_of,
    outputs_like,
    project,
)
from flymotion.similarity.vectors import Vectors, to_numpy
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
        with as_it_was(self):
            samples = check_samples(self, X, reset=True)
            if len(samples) < self.n_clusters:
                raise ValueError(f"{len(samples)} samples for {self.n_clusters} clusters; expected at least one each")
            self._check_init()
        about = _About.mean(formed(samples.astype(samples.xp.float64)))
        starts = self._starts(about)
        at_once = max(1, BLOCK_ENTRIES // (len(samples) * self.n_clusters))
        groups = [starts[first : first + at_once] for first in range(0, len(starts), at_once)]
        best = min((run for some in groups for run in _lloyd(about, some, self.max_iter)), key=lambda run: run.inertia)
        self.cluster_centers_, self.labels_, self.inertia_, self.n_iter_ = best[:4]
        self._warn(settled=best.settled)
        return self

    def _check_init(self) -> None:
        if isinstance(self.init, str):
            if self.init != "k-means++":
                raise ValueError(f"init is {self.init!r}; expected 'k-means++' or an array of centres")
            return
        not_masked(self.init, "init", "centres")
        init = np.asarray(self.init, dtype=float)
        if init.size != self.n_clusters * self.n_features_in_ or not np.isfinite(init).all():
            expected = f"({self.n_clusters}, {self.n_features_in_})"
            raise ValueError(f"init has shape {init.shape}; expected {expected} finite numbers")

    def _starts(self, about: _About) -> list[np.ndarray]:
        if not isinstance(self.init, str):
            return [np.asarray(self.init, dtype=float).reshape(self.n_clusters, -1)]
        rng = as_generator(self.random_state)
        return [_plus_plus(about, self.n_clusters, rng) for _ in range(self.n_init)]

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
        return self._squared_distances(X)[1].argmin(axis=1)

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance to each centre, shape (n_samples, n_clusters)."""
        samples, squares = self._squared_distances(X)
        return outputs_like(samples, np.sqrt(squares))

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the inertia of the samples; higher is better."""
        return float(-self._squared_distances(X)[1].min(axis=1).sum())

    def _squared_distances(self, X: Any) -> tuple[Any, np.ndarray]:
        check_is_fitted(self)
        check_unchanged(self, n_clusters=len(self.cluster_centers_))
        samples = check_samples(self, X, reset=False)
        origin = self.cluster_centers_.mean(axis=0)
        found = [
            _About(block, origin).squared_distances(self.cluster_centers_)
            for _, block in blocks(samples, len(self.cluster_centers_))
        ]
        return samples, np.concatenate([np.zeros((0, len(self.cluster_centers_))), *found])

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
        return len(self.cluster_centers_)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the estimator of again; a ``random_state`` only where it is a number."""
        check_is_fitted(self)
        check_unchanged(self, n_clusters=len(self.cluster_centers_))
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


class _About:
    """Samples about an origin amid them."""

    def __init__(self, samples: Any, origin: np.ndarray) -> None:
        self.samples, self.origin = samples, origin
        self.along, self.energy = np.zeros((2, len(samples)))  # inner products with the origin, less its square
        for rows, block in blocks(samples, 1):
            if isinstance(block, Vectors):
                centred = to_numpy(block.x) - origin
                self.along[rows], self.energy[rows] = centred @ origin, np.vecdot(centred, centred)
            else:
                self.along[rows] = project(block, origin[None])[:, 0] - origin @ origin
                self.energy[rows] = to_numpy(block.norms()) ** 2 - origin @ origin - 2 * self.along[rows]

    @classmethod
    def mean(cls, samples: Any) -> _About:
        return cls(samples, accumulate(samples, np.ones((len(samples), 1)))[0] / len(samples))

    def squared_distances(self, centers: np.ndarray) -> np.ndarray:
        """Squared distances to centres, shape (n_samples, K)."""
        centers = centers - self.origin
        squares = project(self.samples, -2 * centers)  # Eq. 27
        squares += 2 * centers @ self.origin + (centers**2).sum(axis=1)
        squares += self.energy[:, None]
        return np.maximum(squares, 0, out=squares)

    def squared_distances_to(self, rows: np.ndarray) -> np.ndarray:
        """Squared distances of all samples to some of them, shape (n_rows, n_samples)."""
        gram = to_numpy(self.samples[rows].gram(self.samples))
        gram *= -2
        gram += (self.energy + 2 * self.along)[rows][:, None] + 2 * self.origin @ self.origin
        gram += self.energy + 2 * self.along
        return np.maximum(gram, 0, out=gram)


def _plus_plus(about: _About, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Choose samples as first centres, each with a chance that grows with its squared distance to the others.

    The best of a few candidates each time, as in scikit-learn.
    """
    n_samples, n_candidates = len(about.samples), 2 + int(math.log(n_clusters))
    chosen = [int(rng.integers(n_samples))]
    nearest = about.squared_distances_to(np.array(chosen))[0]
    while len(chosen) < n_clusters:
        chances = nearest / nearest.sum() if nearest.sum() > 0 else None
        candidates = rng.choice(n_samples, n_candidates, p=chances)
        distances = np.minimum(about.squared_distances_to(candidates), nearest)
        best = int(distances.sum(axis=1).argmin())
        chosen.append(int(candidates[best]))
        nearest = distances[best]
    return accumulate(about.samples[np.array(chosen)], np.eye(n_clusters))


class _Run(NamedTuple):
    centers: np.ndarray
    labels: np.ndarray
    inertia: float
    n_iter: int
    settled: bool


def _lloyd(about: _About, starts: list[np.ndarray], max_iter: int) -> list[_Run]:
    """Run Lloyd's algorithm from several starts until no sample changes its cluster, all over the samples together."""
    rounding = PRECISION * about.energy.max()
    distances = _distances(about, starts)
    runs = [_Run(centers, _nearest(each), math.nan, 0, False) for centers, each in zip(starts, distances, strict=True)]
    for n_iter in range(1, max_iter + 1):
        going = [k for k, run in enumerate(runs) if not run.settled]
        if not going:
            break
        labels = [_fill(runs[k].labels, distances[k], rounding) for k in going]
        centers = _means(about, labels, [runs[k].centers for k in going])
        for k, before, found, each in zip(going, labels, centers, _distances(about, centers), strict=True):
            nearest, distances[k] = _nearest(each), each
            runs[k] = _Run(found, nearest, math.nan, n_iter, bool((nearest == before).all()))
    return [run._replace(inertia=float(each.min(axis=1).sum())) for run, each in zip(runs, distances, strict=True)]


def _distances(about: _About, centers: list[np.ndarray]) -> list[np.ndarray]:
    """Return the squared distances to the centres of each run, shape (n_samples, K)."""
    return np.split(about.squared_distances(np.concatenate(centers)), len(centers), axis=1)


def _nearest(distances: np.ndarray) -> np.ndarray:
    """Return the nearest cluster of each sample, as ``argmin`` does: it takes rows of few entries one by one."""
    labels, least = np.zeros(len(distances), np.intp), distances[:, 0].copy()
    for k, each in enumerate(distances.T[1:], start=1):
        labels[each < least] = k
        np.minimum(least, each, out=least)
    return labels


def _means(about: _About, labels: list[np.ndarray], centers: list[np.ndarray]) -> list[np.ndarray]:
    """Return the means of the clusters of each run; what is empty keeps its centre."""
    n_clusters, before = len(centers[0]), np.concatenate(centers)
    members = np.stack([each == k for each in labels for k in range(n_clusters)], axis=1)
    counts = members.sum(axis=0)[:, None]
    found = np.divide(accumulate(about.samples, members.astype(float)), counts, out=before, where=counts > 0)
    return np.split(found, len(centers))


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
