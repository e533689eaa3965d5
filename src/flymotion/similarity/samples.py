"""Samples as estimators take them: plain vectors or outer products, checked, and worked on in blocks.

Numpy goes in and comes out; the products themselves run where the samples are, in their precision, and sums over
blocks are float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from flymotion.similarity.features import OuterProducts, alike
from flymotion.similarity.vectors import Vectors, to_numpy

__all__ = ["accumulate", "check_counts", "check_samples", "generators_of", "precision", "project"]

BLOCK_ENTRIES = 2**22
"""Numbers that a temporary array of one block may hold."""


def check_counts(**counts: Any) -> None:
    """Raise a ValueError unless parameters, given by name, are positive whole numbers."""
    for name, value in counts.items():
        if not (isinstance(value, (int, np.integer)) and value > 0):
            raise ValueError(f"{name} is {value!r}; expected a positive whole number")


def check_samples(estimator: Any, X: Any, *, reset: bool, allow_empty: bool | None = None) -> OuterProducts | Vectors:
    """Check what an estimator was given; touches nothing but ``n_features_in_`` and ``feature_shape_``.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose input it is.
    X : array, shape (n_samples, n_features), or OuterProducts
        Samples; a torch tensor stays on its device.
    reset : bool
        Whether to remember the number of features; otherwise they must be as remembered.
    allow_empty : bool, optional
        Whether no samples will do; by default unless ``reset``.

    Raises
    ------
    ValueError
        Samples that are masked, empty, not finite, or of the wrong shape.
    """
    allow_empty = not reset if allow_empty is None else allow_empty
    if isinstance(X, OuterProducts):
        samples: OuterProducts | Vectors = X
        _check_finite(X.xp, X.u, X.v)
    elif hasattr(X, "detach"):
        samples = _torch_vectors(X)
    else:
        if np.ma.isMaskedArray(X):
            raise ValueError("X is a masked array; fill it or drop the masked samples first")
        least = int(not allow_empty)
        X = validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=least)
        samples = Vectors(X)
    if len(samples) == 0 and not allow_empty:
        raise ValueError(f"X has 0 sample(s) (shape {samples.shape}) while a minimum of 1 is required")
    if reset:
        estimator.n_features_in_, estimator.feature_shape_ = samples.shape[1], samples.feature_shape
    elif samples.feature_shape != estimator.feature_shape_:
        raise ValueError(
            f"X has {samples.shape[1]} features {samples.feature_shape}, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features {estimator.feature_shape_} as input"
        )
    return samples


def _torch_vectors(X: Any) -> Vectors:
    if X.ndim != 2:
        raise ValueError(f"X has shape {tuple(X.shape)}; expected (n_samples, n_features)")
    samples = Vectors(*alike(X.detach()))
    _check_finite(samples.xp, samples.x)
    return samples


def _check_finite(xp: Any, *factors: Any) -> None:
    for factor in factors:
        with np.errstate(over="ignore", invalid="ignore"):
            if bool(xp.isfinite(xp.sum(factor))):  # quick, and true of nearly all; a sum may overflow all the same
                continue
        finite = xp.isfinite(factor)
        for _ in range(factor.ndim - 1):
            finite = xp.all(finite, axis=-1)
        if not bool(xp.all(finite)):
            raise ValueError(f"Input X contains NaN or infinity in sample {int(np.argmin(to_numpy(finite)))}")


def generators_of(estimator: Any, filters: np.ndarray) -> np.ndarray:
    """Return filters, shape (K, n_features), as matrices, shape (K, n_u, n_v).

    Raises
    ------
    AttributeError
        After fitting plain vectors.
    """
    if len(estimator.feature_shape_) != 2:
        raise AttributeError("generators_ exist only for OuterProducts; see components_ or cluster_centers_")
    return filters.reshape(-1, *estimator.feature_shape_)


def _blocks(samples: Any, n_filters: int) -> Iterator[slice]:
    size = max(1, BLOCK_ENTRIES // (max(samples.feature_shape) * n_filters))
    return (slice(start, start + size) for start in range(0, len(samples), size))


def _like(samples: Any, array: np.ndarray) -> Any:
    """Return an array in the samples' library and precision, and on their device."""
    return samples.xp.asarray(array, dtype=samples.dtype, device=samples.device)


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
