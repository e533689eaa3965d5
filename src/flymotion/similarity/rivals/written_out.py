"""Scikit-learn's own learners of a stream on outer products, which are written out for them, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from flymotion.photoreceptors.stage import as_it_was
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.samples import check_counts, check_samples, generators_of
from flymotion.similarity.vectors import to_numpy

__all__ = ["WrittenOut"]

NEEDED = "partial_fit", "transform"
"""What an estimator has to have."""


class WrittenOut(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator of scikit-learn with ``partial_fit``, such as IncrementalPCA or MiniBatchKMeans, on outer products.

    Parameters
    ----------
    estimator : estimator
        One that has ``components_`` or ``cluster_centers_`` once fitted; it is cloned.
    batch_size : int
        Most samples that are written out at a time, with all their n_u n_v numbers.
    both_signs : bool
        Whether each batch is learned with its negative. IncrementalPCA takes the mean of its samples away, and says
        nothing of it; this makes the mean 0, and leaves the second moment as it is: the paper's uncentred PCA.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one.
    generators_ : ndarray, shape (K, n_u, n_v)
        Its components, or the centres of its clusters, as matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import IncrementalPCA
    >>> chi = OuterProducts(np.full((4, 1), 2.0), np.array([[0.0, 1.0], [0.0, 1.0], [0.1, 0.9], [0.0, 1.1]]))
    >>> np.abs(WrittenOut(IncrementalPCA(1), both_signs=True).fit(chi).generators_.round(1))
    array([[[0., 1.]]])
    """

    estimator_: Any

    def __init__(self, estimator: Any, *, batch_size: int = 1000, both_signs: bool = False) -> None:
        self.estimator = estimator
        self.batch_size = batch_size
        self.both_signs = both_signs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from scratch, in one pass.

        Parameters
        ----------
        X : array, shape (n_samples, n_features), or OuterProducts
            Samples.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Samples that are empty, not finite or of the wrong shape; what the estimator itself refuses.
        """
        return self._learn(X, anew=True)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more samples, in batches as nearly alike as can be; parameters and errors as of ``fit``."""
        return self._learn(X, anew=not hasattr(self, "estimator_"))

    def _learn(self, X: Any, *, anew: bool) -> Self:
        self._check_parameters()
        with as_it_was(self):
            samples = check_samples(self, X, reset=anew, allow_empty=not anew)
            learner = clone(self.estimator) if anew else self.estimator_
            for batch in self._batches(samples):
                learner.partial_fit(np.concatenate([batch, -batch]) if self.both_signs else batch)
            self.estimator_ = learner
        return self

    def _check_parameters(self) -> None:
        check_counts(batch_size=self.batch_size)
        if isinstance(self.estimator, type) or not all(hasattr(self.estimator, name) for name in NEEDED):
            raise ValueError(f"estimator is {self.estimator!r}; expected an estimator with {' and '.join(NEEDED)}")
        if not isinstance(self.both_signs, bool | np.bool_):
            raise ValueError(f"both_signs is {self.both_signs!r}; expected True or False")

    def transform(self, X: Any) -> np.ndarray:
        """Return what the estimator makes of the samples, shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        samples = check_samples(self, X, reset=False)
        outputs = [self.estimator_.transform(batch) for batch in self._batches(samples)]
        return np.concatenate([np.zeros((0, self._n_features_out)), *outputs])

    def _batches(self, samples: Any) -> Iterator[np.ndarray]:
        n_batches = -(-len(samples) // self.batch_size)
        for rows in np.array_split(np.arange(len(samples)), n_batches) if n_batches else []:
            some = samples[slice(rows[0], rows[-1] + 1)].astype(samples.xp.float64)
            yield to_numpy(some.dense() if isinstance(some, OuterProducts) else some.x)

    @property
    def generators_(self) -> np.ndarray:
        """Components or centres as matrices, shape (n_outputs, n_u, n_v).

        Raises
        ------
        AttributeError
            After learning from plain vectors.
        """
        return generators_of(self, self._filters)

    @property
    def _filters(self) -> np.ndarray:
        check_is_fitted(self)
        name = "components_" if hasattr(self.estimator_, "components_") else "cluster_centers_"
        return getattr(self.estimator_, name)

    @property
    def _n_features_out(self) -> int:
        return len(self._filters)
