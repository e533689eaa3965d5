"""Nulls: what every learned filter stands beside, so that a bound that is met says something.

Random filters know nothing; the start knows what the batch warm-up sees, before any rule of learning; averages by label
know what no unsupervised learner is told. The population's filter is ``World.population``, and the best that can be
known :mod:`flymotion.claims.bayes`.

Rows of nulls have the id of the row that they stand beside and a suffix: ``_random``, ``_start``, ``_labelled``,
``_population``, ``_bayes``.
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.features import OuterProducts
from flymotion.similarity.initialisation import warm_start, warm_up_length
from flymotion.similarity.state import State

__all__ = ["labelled_means", "random_filters", "start_alone"]


def random_filters(n_filters: int, chi: OuterProducts, rng: np.random.Generator) -> np.ndarray:
    """Draw filters of independent Gaussian weights for samples, shape (n_filters, n_u, n_v), each of norm 1."""
    filters = rng.normal(size=(n_filters, *chi.feature_shape))
    return filters / np.linalg.norm(filters, axis=(1, 2), keepdims=True)


def start_alone(n_filters: int, chi: OuterProducts, *, nonnegative: bool = True) -> np.ndarray:
    """Return the filters W that a network starts with, warm-up done and nothing learned; (n_filters, n_u, n_v)."""
    first = chi[: warm_up_length(chi.shape[1], sum(chi.feature_shape))]
    theta = warm_start(first, n_filters, nonnegative=nonnegative)
    return State.of_outputs(theta, first, np.float64).W.reshape(n_filters, *chi.feature_shape)


def labelled_means(chi: OuterProducts, label: np.ndarray) -> np.ndarray:
    """Return the mean of chi of each label 0, 1, ..., shape (n_labels, n_u, n_v)."""
    alike = [chi[np.flatnonzero(label == k)] for k in range(label.max() + 1)]
    return np.stack([some.accumulate(np.full((len(some), 1), 1 / len(some)))[0] for some in alike])
