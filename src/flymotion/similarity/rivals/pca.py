r"""Principal components of chi without chi: the first rival of Suppl. B (Eq. 26 of Bahroun et al. 2019).

The second moment :math:`\sum_t \chi_t \chi_t'` is a linear map, ``v -> accumulate(project(v))``, of two matrix products
of the factors, and so is what Lanczos iteration needs of it. Uncentred, as in the paper: for one-way motion the mean
of chi is the signal.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs
from flymotion.photoreceptors.stage import check_unchanged
from flymotion.similarity.features import formed
from flymotion.similarity.samples import (
    PRECISION,
    accumulate,
    blocks,
    check_counts,
    check_samples,
    energies,
    generators_of,
    outputs_like,
    project,
)
from flymotion.similarity.vectors import power_of_two, signed, to_numpy

__all__ = ["OuterProductPCA"]

MOST_SAMPLES = 2048
"""Samples up to which their Gram matrix is used, where they are fewer than features."""

MOST_FEATURES = 1000
"""Features up to which their second moment is formed."""

BLOCKS = 4
"""Into how many parts blocks are cut where all features of their samples are written out."""

ENERGIES = ("singular_values", "explained_energy", "explained_energy_ratio")
"""What is kept of each component."""


class OuterProductPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Uncentred principal component analysis of outer products, or of plain vectors; exact, in one batch.

    Parameters
    ----------
    n_components : int
        Number of components K.

    Attributes
    ----------
    components_ : ndarray, shape (K, n_features)
        Of norm 1, signed so that the largest entry is positive; 0 beyond the rank of the samples.
    generators_ : ndarray, shape (K, n_u, n_v)
        The components as matrices, for outer products.
    singular_values_ : ndarray, shape (K,)
        Of the matrix of samples, largest first.
    explained_energy_ : ndarray, shape (K,)
        Mean squared output of each component.
    explained_energy_ratio_ : ndarray, shape (K,)
        The same relative to the mean squared norm of a sample.

    Notes
    -----
    Three ways, by size: the Gram matrix of few samples, the second moment of few features, else Lanczos iteration.
    ``sklearn.decomposition.PCA`` would centre; ``TruncatedSVD`` does not, and agrees.

    Examples
    --------
    >>> import numpy as np
    >>> from flymotion.similarity.features import OuterProducts
    >>> chi = OuterProducts(np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> OuterProductPCA(1).fit(chi).generators_
    array([[[0., 1.],
            [0., 0.]]])
    """

    def __init__(self, n_components: int = 2) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : array, shape (n_samples, n_features), or OuterProducts
            Samples.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Samples that are empty, not finite or of the wrong shape; a number of components out of range.
        """
        check_counts(n_components=self.n_components)
        samples = check_samples(self, X, reset=True)
        samples = formed(samples.astype(samples.xp.float64))
        values, vectors = _eigen(samples, min(self.n_components, *samples.shape))
        rank = np.count_nonzero(values > PRECISION * max(values.max(), 0))
        if rank < self.n_components:
            warnings.warn(
                f"the samples span {rank} of {self.n_components} directions; the other components are 0",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.components_ = np.zeros((self.n_components, samples.shape[1]))
        self.components_[:rank] = signed(vectors[:rank])  # Eq. 26
        self.singular_values_ = np.zeros(self.n_components)
        self.singular_values_[:rank] = np.sqrt(values[:rank])
        self.explained_energy_ = self.singular_values_**2 / len(samples)
        total = np.mean(energies(samples))
        self.explained_energy_ratio_ = self.explained_energy_ / (total if total > 0 else 1.0)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the inner products with the components, shape (n_samples, n_components)."""
        return outputs_like(*self._outputs(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Energy captured: the mean squared norm of the outputs; higher is better."""
        return float((self._outputs(X)[1] ** 2).sum(axis=1).mean())

    def _outputs(self, X: Any) -> tuple[Any, np.ndarray]:
        check_is_fitted(self)
        check_unchanged(self, n_components=len(self.components_))
        samples = check_samples(self, X, reset=False)
        return samples, project(samples, self.components_)

    @property
    def generators_(self) -> np.ndarray:
        """The components as matrices, shape (n_components, n_u, n_v).

        Raises
        ------
        AttributeError
            After fitting plain vectors.
        """
        return generators_of(self, self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the estimator of again."""
        check_is_fitted(self)
        check_unchanged(self, n_components=len(self.components_))
        numbers = {"n_components": self.n_components, "feature_shape": list(self.feature_shape_)} | inputs_of(self)
        return packed(
            numbers, {"components": self.components_} | {name: getattr(self, f"{name}_") for name in ENERGIES}
        )

    @classmethod
    def unpack(cls, given: Given) -> Self:
        """Return the estimator that was packed.

        Raises
        ------
        ValueError
            What is no such estimator.
        """
        K = given.number("n_components", int, least=1)
        pca = cls(K)
        n = restore_inputs(pca, given)
        pca.feature_shape_ = given.feature_shape(n)
        pca.components_ = given.array("components", K, n, types=["float64"])
        for name in ENERGIES:
            setattr(pca, f"{name}_", given.array(name, K, types=["float64"], least=0))
        return pca


def _eigen(samples: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Leading eigenvalues, largest first, and unit eigenvectors (k, n_features) of the samples' second moment."""
    n_samples, n_features = samples.shape
    if n_samples <= min(n_features, MOST_SAMPLES):
        gram = to_numpy(samples.gram()).astype(float)
        values, vectors = eigh(gram, subset_by_index=[n_samples - k, n_samples - 1])
        components = accumulate(samples, vectors[:, ::-1]) / np.sqrt(np.maximum(values[::-1, None], 1e-300))
        return values[::-1], components

    def second_moment(columns: np.ndarray) -> np.ndarray:
        return accumulate(samples, project(samples, columns.reshape(n_features, -1).T)).T

    if n_features <= max(MOST_FEATURES, k):
        values, vectors = eigh(_second_moments(samples), subset_by_index=[n_features - k, n_features - 1])
    elif not samples.xp.any(samples.norms() > 0):  # which Lanczos iteration cannot start from
        return np.zeros(k), np.zeros((k, n_features))
    else:
        unit = power_of_two(float(energies(samples).sum()))  # the iteration ends by an absolute measure
        shape = n_features, n_features

        def of_size_one(columns: np.ndarray) -> np.ndarray:
            return second_moment(columns) / unit

        operator = LinearOperator(shape, of_size_one, matmat=of_size_one, dtype=np.float64)
        values, vectors = eigsh(operator, k, v0=np.random.default_rng(0).standard_normal(n_features))
        values *= unit
    order = np.argsort(-values)
    return values[order], vectors.T[order]


def _second_moments(samples: Any) -> np.ndarray:
    """Return the sum of ``chi_t chi_t'`` over the samples, shape (n_features, n_features)."""
    n_features = samples.shape[1]
    total = np.zeros((n_features, n_features))
    for _, block in blocks(samples, BLOCKS * n_features // max(samples.feature_shape)):
        chi = block.dense()
        total += to_numpy(chi.T @ chi)
    return total
