"""Samples as estimators take them: plain vectors or outer products, checked, and worked on in blocks.

Numpy goes in and comes out; the products themselves run where the samples are, in their precision, and sums over
blocks are float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import device
from sklearn.utils.validation import validate_data

from flymotion.features import OuterProducts, Vectors, to_numpy
from flymotion.similarity import _check_products, _refuse_masked

__all__ = ["accumulate", "check_samples", "generators_of", "precision", "project"]

BLOCK_ENTRIES = 2**22
"""Numbers that a temporary array of one block may hold."""


def check_samples(estimator: Any, X: Any, *, reset: bool) -> OuterProducts | Vectors:
    """Check what an estimator was given; touches nothing but ``n_features_in_`` and ``feature_shape_``.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose input it is.
    X : array, shape (n_samples, n_features), or OuterProducts
        Samples.
    reset : bool
        Whether to fit: needs a sample, and remembers the number of features. Otherwise they must be as remembered.

    Raises
    ------
    ValueError
        Samples that are masked, empty (in fit), not finite, or of the wrong shape.
    """
    if hasattr(X, "detach"):  # a torch tensor stays where it is
        X = OuterProducts(X, X[:, :1] * 0 + 1)
    if not isinstance(X, OuterProducts):
        _refuse_masked(X)
        X = validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=int(reset))
        samples: OuterProducts | Vectors = Vectors(X)
    else:
        _check_products(X)
        samples = X
    if reset:
        if len(samples) == 0:
            raise ValueError(f"X has 0 sample(s) (shape {samples.shape}) while a minimum of 1 is required")
        estimator.n_features_in_, estimator.feature_shape_ = samples.shape[1], samples.feature_shape
    elif samples.feature_shape not in (estimator.feature_shape_, (estimator.n_features_in_,)):
        raise ValueError(
            f"X has {samples.shape[1]} features {samples.feature_shape}, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features {estimator.feature_shape_} as input"
        )
    return samples


def generators_of(estimator: Any, filters: np.ndarray) -> np.ndarray:
    """Return filters, shape (K, n_features), as matrices, shape (K, n_u, n_v).

    Raises
    ------
    AttributeError
        After fitting plain vectors.
    """
    if len(estimator.feature_shape_) != 2:
        raise AttributeError("generators_ exist only for OuterProducts; plain vectors have no matrix shape")
    return filters.reshape(-1, *estimator.feature_shape_)


def _blocks(samples: Any, n_filters: int) -> Iterator[slice]:
    size = max(1, BLOCK_ENTRIES // (max(samples.feature_shape) * n_filters))
    return (slice(start, start + size) for start in range(0, len(samples), size))


def _like(samples: Any, array: np.ndarray) -> Any:
    """Return an array in the samples' library and precision, and on their device."""
    there = samples.u if isinstance(samples, OuterProducts) else samples.x
    return samples.xp.asarray(array, dtype=samples.dtype, device=device(there))


def precision(samples: Any) -> float:
    """Share of a squared norm that counts as rounding."""
    return float(samples.xp.finfo(samples.dtype).eps) ** (2 / 3)


def project(samples: Any, filters: np.ndarray) -> np.ndarray:
    """Inner products of samples and filters, shape (K, n_features); returns shape (n_samples, K), float64."""
    shaped = _like(samples, filters.reshape(-1, *samples.feature_shape))
    out = np.zeros((len(samples), len(filters)))
    for rows in _blocks(samples, len(filters)):
        out[rows] = to_numpy(samples[rows].project(shaped))
    return out


def accumulate(samples: Any, theta: np.ndarray) -> np.ndarray:
    """Sum of ``theta_tk chi_t``, for theta (n_samples, K); returns shape (K, n_features), float64."""
    total = np.zeros((theta.shape[1], samples.shape[1]))
    for rows in _blocks(samples, theta.shape[1]):
        total += to_numpy(samples[rows].accumulate(_like(samples, theta[rows]))).reshape(total.shape)
    return total
