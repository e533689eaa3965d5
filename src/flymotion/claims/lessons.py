"""How two units learn of motion along a line, in all groups of claims: NSM's, one a direction, and K-means' centres."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.worlds import rightward_first
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans

__all__ = ["RATE", "Opposed", "centres", "of_norm_1", "opposed", "two_units"]

RATE = 5e-5
"""Learning rate of the networks (Section 1.1): 1 minus the forgetting factor.

Under the paper's averaging (Eq. 18) what is learned early, from a poor start, is forgotten too slowly: after 100,000
pairs SM's second component, whose eigenvalue is nearly that of the third, has still captured only 0.97 to 0.99 of
PCA's energy.
"""


class Opposed(NamedTuple):
    """Two filters of NSM, that for content moving right first, and the network that they are of."""

    filters: np.ndarray
    """Shape (2, n, n)."""
    network: NonnegativeSimilarityMatching
    order: list[int]

    @property
    def opponent(self) -> np.ndarray:
        """Half the difference of the filters, right less left, shape (n, n)."""
        return (self.filters[0] - self.filters[1]) / 2

    def outputs(self, chi: OuterProducts) -> np.ndarray:
        """Return both units' outputs, without learning, shape (n_samples, 2)."""
        return self.network.transform(chi)[:, self.order]


def two_units(samples: Any, n_passes: int = 2) -> NonnegativeSimilarityMatching:
    """Return NSM of two units that have learned from samples, outer products or vectors."""
    return NonnegativeSimilarityMatching(2, forgetting=1 - RATE, n_passes=n_passes).fit(samples)


def opposed(chi: OuterProducts, n_passes: int = 2) -> Opposed:
    """Let two units of NSM learn."""
    return _right_first(two_units(chi, n_passes))


def _right_first(network: NonnegativeSimilarityMatching) -> Opposed:
    order = rightward_first(network.generators_)
    return Opposed(network.generators_[order], network, order)


def centres(chi: OuterProducts, seed: int) -> OuterProductKMeans:
    """Let K-means find two centres, the best of ten starts.

    At 25 pixels in L2 a third of single starts end in an optimum that is not motion; the best of ten never did.
    """
    return OuterProductKMeans(2, n_init=10, random_state=seed).fit(chi)


def of_norm_1(filters: np.ndarray) -> np.ndarray:
    """Scale filters, shape (..., n, n), to norm 1; what is 0 stays 0."""
    return filters / np.maximum(np.linalg.norm(filters, axis=(-2, -1), keepdims=True), 1e-300)
