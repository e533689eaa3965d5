"""Samples as estimators take them: plain vectors or outer products, checked, and worked on in blocks.

Numpy goes in and comes out; the products themselves run where the samples are, in float64: what tells samples apart may
be a small part of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from flymotion.frames import not_masked
from flymotion.photoreceptors.stage import MOST, as_it_was
from flymotion.similarity.features import FORMED_FEATURES, OuterProducts, alike, formed
from flymotion.similarity.vectors import Vectors, to_numpy

__all__ = [
    "BLOCK_ENTRIES",
    "PRECISION",
    "accumulate",
    "blocks",
    "check_counts",
    "check_filters",
    "check_forgetting",
    "check_samples",
    "energies",
    "generators_of",
    "outputs_like",
    "project",
]

BLOCK_ENTRIES = 2**22
"""Numbers that a temporary array of one block may hold."""

BLOCK_FEATURES = 2**17
"""Features that are there to see in one block, so that they stay in the processor's cache."""


def check_counts(**counts: Any) -> None:
    """Raise a ValueError unless parameters, given by name, are positive whole numbers."""
    for name, value in counts.items():
        if not (isinstance(value, int | np.integer) and not isinstance(value, bool) and value > 0):
            raise ValueError(f"{name} is {value!r}; expected a positive whole number")


def check_forgetting(forgetting: Any) -> None:
    """Raise a ValueError unless the past counts less by a factor above 0 and up to 1 with every sample."""
    if not (isinstance(forgetting, Real) and 0 < float(forgetting) <= 1):
        raise ValueError(f"forgetting is {forgetting!r}; expected a factor in (0, 1]")


def check_filters(init: Any, shape: tuple[int, int]) -> None:
    """Check filters to start from.

    Raises
    ------
    ValueError
        Filters of another shape than (n_components, n_features), masked or not finite.
    """
    not_masked(init, "init", "filters")
    filters = np.asarray(init, dtype=float)
    if filters.shape != shape or not np.isfinite(filters).all():
        raise ValueError(f"init has shape {filters.shape}; expected finite numbers of shape {shape}")


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
        Samples that are masked, empty, not finite, too large, or of the wrong shape; nothing was touched.
    """
    allow_empty = not reset if allow_empty is None else allow_empty
    with as_it_was(estimator):
        samples = _as_samples(estimator, X, reset=reset, least=int(not allow_empty))
        if len(samples) == 0 and not allow_empty:
            raise ValueError(f"X has 0 sample(s) (shape {samples.shape}) while a minimum of 1 is required")
        if reset:
            estimator.n_features_in_, estimator.feature_shape_ = samples.shape[1], samples.feature_shape
        elif samples.feature_shape != estimator.feature_shape_:
            raise ValueError(
                f"X has {samples.shape[1]} features {samples.feature_shape}, but {type(estimator).__name__} is "
                f"expecting {estimator.n_features_in_} features {estimator.feature_shape_} as input"
            )
        _check_size(samples)
    return samples


def _as_samples(estimator: Any, X: Any, *, reset: bool, least: int) -> OuterProducts | Vectors:
    if isinstance(X, OuterProducts):
        return X
    if hasattr(X, "detach"):
        if X.ndim != 2:
            raise ValueError(f"X has shape {tuple(X.shape)}; expected (n_samples, n_features)")
        return Vectors(*alike(X.detach()))
    not_masked(X, "X", "samples")
    how = {"dtype": [np.float64, np.float32], "ensure_min_samples": least, "ensure_all_finite": False}
    with np.errstate(over="ignore"):  # what is too large for float64 becomes infinite, and is refused as that
        return Vectors(validate_data(estimator, X, reset=reset, **how))


def _check_size(samples: OuterProducts | Vectors) -> None:
    """Check that all numbers are finite, and so are the products that learning makes of them."""
    with np.errstate(invalid="ignore"):
        peak = samples.peak
    if not math.isfinite(peak):  # which an infinite product of finite numbers is not, either
        for array in samples.arrays:
            _check_finite(samples.xp, array)
    most = min(float(samples.xp.finfo(samples.dtype).max), MOST)
    if not peak <= most:
        raise ValueError(
            f"X has samples of a size up to {peak:.0e}; expected at most {most:.0e}, for {samples.dtype}: scale them"
        )


def _check_finite(xp: Any, array: Any) -> None:
    finite = xp.isfinite(array)
    for _ in range(array.ndim - 1):
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


def blocks(samples: Any, n_filters: int) -> Iterator[tuple[slice, Any]]:
    """Yield a block's rows and its samples in float64, sums of outer products written out where they are small."""
    n_features = samples.shape[1]
    plain = isinstance(samples, Vectors)
    form = not plain and samples.u.ndim == 3 and n_features <= FORMED_FEATURES
    width = max(samples.feature_shape) * n_filters
    size = max(1, min(BLOCK_ENTRIES // width, BLOCK_FEATURES // n_features if plain or form else BLOCK_ENTRIES))
    for start in range(0, len(samples), size):
        rows = slice(start, start + size)
        block = samples[rows].astype(samples.xp.float64)
        yield rows, formed(block) if form else block


def _like(samples: Any, array: np.ndarray) -> Any:
    """Return an array in the samples' library and precision, and on their device."""
    return samples.xp.asarray(array, dtype=samples.dtype, device=samples.device)


PRECISION = float(np.finfo(np.float64).eps) ** (2 / 3)
"""Share of a squared norm that counts as rounding."""


def project(samples: Any, filters: np.ndarray) -> np.ndarray:
    """Inner products of samples and filters, shape (K, n_features); returns shape (n_samples, K), float64."""
    out = np.zeros((len(samples), len(filters)))
    for rows, block in blocks(samples, len(filters)):
        out[rows] = to_numpy(block.project(_like(block, filters.reshape(-1, *block.feature_shape))))
    return out


def accumulate(samples: Any, theta: np.ndarray) -> np.ndarray:
    """Sum of ``theta_tk chi_t``, for theta (n_samples, K); returns shape (K, n_features), float64."""
    total = np.zeros((theta.shape[1], samples.shape[1]))
    for rows, block in blocks(samples, theta.shape[1]):
        total += to_numpy(block.accumulate(_like(block, theta[rows]))).reshape(total.shape)
    return total


def energies(samples: Any) -> np.ndarray:
    """Squared norms, shape (n_samples,), float64."""
    parts = [to_numpy(block.norms()) ** 2 for _, block in blocks(samples, 1)]
    return np.concatenate([np.zeros(0), *parts])


def outputs_like(samples: Any, outputs: np.ndarray) -> np.ndarray:
    """Return outputs, shape (n_samples, K), in the precision of the samples."""
    return outputs.astype(to_numpy(samples.arrays[0][:0]).dtype, copy=False)
