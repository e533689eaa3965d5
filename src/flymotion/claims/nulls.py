"""Nulls: what every learned filter stands beside, so that a bound that is met says something.

Random filters know nothing; the start knows what the batch warm-up sees, before any rule of learning; averages by label
know what no unsupervised learner is told. The population's filter is ``World.population``, and the best that can be
known :mod:`flymotion.claims.bayes`.

Rows of nulls have the id of the row that they stand beside and a suffix: ``_random``, ``_start``, ``_labelled``,
``_population``, ``_bayes``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.similarity.features import OuterProducts, as_features
from flymotion.similarity.initialisation import warm_start, warm_up_length
from flymotion.similarity.state import State

__all__ = ["NULLS", "labelled_means", "random_filters", "start_alone", "start_state", "unlearned"]

NULLS = {
    "random": "random filters",
    "start": "the start alone, before learning",
    "labelled": "averages by label",
    "population": "the population's filters",
}
"""What stands beside what was learned: suffixes of rows, and what titles call them."""


def random_filters(n_filters: int, chi: OuterProducts, rng: np.random.Generator) -> np.ndarray:
    """Draw filters of independent Gaussian weights for samples, shape (n_filters, n_u, n_v), each of norm 1."""
    filters = rng.normal(size=(n_filters, *chi.feature_shape))
    return filters / np.linalg.norm(filters, axis=(1, 2), keepdims=True)


def start_alone(n_filters: int, chi: OuterProducts, *, nonnegative: bool = True) -> np.ndarray:
    """Return the filters W that a network starts with, warm-up done and nothing learned; (n_filters, n_u, n_v)."""
    return start_state(chi, n_filters, nonnegative=nonnegative).W.reshape(n_filters, *chi.feature_shape)


def start_state(samples: Any, n_filters: int, *, nonnegative: bool) -> State:
    """Return the state that a network starts with: a batch solution of the first samples, outer products or vectors."""
    samples = as_features(samples)
    first = samples[: warm_up_length(samples.shape[1], sum(samples.feature_shape))]
    return State.of_outputs(warm_start(first, n_filters, nonnegative=nonnegative), first, first.dtype)


def labelled_means(chi: OuterProducts, label: np.ndarray) -> np.ndarray:
    """Return the mean of chi of each label 0, 1, ..., shape (n_labels, n_u, n_v)."""
    alike = [chi[np.flatnonzero(label == k)] for k in range(label.max() + 1)]
    return np.stack([some.accumulate(np.full((len(some), 1), 1 / len(some)))[0] for some in alike])


def unlearned(chi: OuterProducts, label: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return a filter a label that nobody learned, shape (n_labels, n_u, n_v), by the keys of ``NULLS``.

    The start, which knows no labels, has its filters in any order.
    """
    n_filters = int(label.max()) + 1
    return {
        "random": random_filters(n_filters, chi, rng),
        "start": start_alone(n_filters, chi),
        "labelled": labelled_means(chi, label),
    }
