"""What two units learn of motion along a line: NSM's, one a direction; and what SM, PCA and K-means make of the same.

All groups of claims let NSM's two units learn by :func:`opposed`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.worlds import WORLDS, rightward_first, share_right
from flymotion.generators import cosine, derivative_operator
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA

__all__ = [
    "N_KMEANS",
    "RATE",
    "Nonnegative",
    "Opposed",
    "Sample",
    "Signed",
    "learn_nonnegative",
    "learn_signed",
    "of_norm_1",
    "opposed",
    "opposed_centres",
    "two_units",
]

RATE = 5e-5
"""Learning rate of the networks (Section 1.1): 1 minus the forgetting factor.

Under the paper's averaging (Eq. 18) what is learned early, from a poor start, is forgotten too slowly: after 100,000
pairs SM's second component, whose eigenvalue is nearly that of the third, has still captured only 0.97 to 0.99 of
PCA's energy.
"""

N_KMEANS = 20_000
"""Most pairs that K-means is given; each of its ten starts goes over them tens of times.

At 25 pixels in L2 a third of single starts end in an optimum that is not motion; the best of ten starts never did.
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
    network = two_units(chi, n_passes)
    order = rightward_first(network.generators_)
    return Opposed(network.generators_[order], network, order)


def opposed_centres(chi: OuterProducts, seed: int) -> np.ndarray:
    """Return the two centres that K-means finds in the first pairs, that for content moving right first; (2, n, n)."""
    centres = OuterProductKMeans(2, n_init=10, random_state=seed).fit(chi[:N_KMEANS]).generators_
    return centres[rightward_first(centres)]


def of_norm_1(filters: np.ndarray) -> np.ndarray:
    """Scale filters, shape (..., n, n), to norm 1; what is 0 stays 0."""
    return filters / np.maximum(np.linalg.norm(filters, axis=(-2, -1), keepdims=True), 1e-300)


# -- what each algorithm learns from one sample of a world ------------------------------------------------------------


class Sample(NamedTuple):
    """Random samples of a world, to learn from; one a seed."""

    world: str
    n: int
    """Pixels of the eye."""
    n_pairs: int
    """Pairs to learn from."""
    n_test: int
    """New pairs, of a new scene, to test with."""


class Signed(NamedTuple):
    """What SM and PCA learn (Fig. 2c, e): two filters each, of norm 1, the first for content moving right."""

    sm: np.ndarray
    """Shape (2, n, n)."""
    pca: np.ndarray
    """Shape (2, n, n)."""
    theory: np.ndarray
    """Shape (2, n, n)."""
    energy: np.ndarray
    """Energy of chi in the span of SM's filters, relative to PCA's."""
    reversal: np.ndarray
    """Correlation of theta(before, after) with -theta(after, before) over new pairs, for each unit of SM."""


def learn_signed(sample: Sample, seed: int) -> Signed:
    """Let SM and PCA learn."""
    world = WORLDS[sample.world]
    whitening, chi = world.lesson(sample.n, sample.n_pairs, [seed, 0])
    sm = SimilarityMatching(2, forgetting=1 - RATE, n_passes=6).fit(chi)
    pca = OuterProductPCA(2).fit(chi)
    theory = world.population(sample.n).components(2)[1]
    test = whitening.transform(world.pairs(sample.n, sample.n_test, [seed, 1]))
    forth, back = (sm.transform(outer_products(p, world.feature)) for p in (test, test.reversed()))
    reversal = [np.corrcoef(a, -b)[0, 1] for a, b in zip(forth.T, back.T, strict=True)]
    return Signed(
        _rightwards(sm.generators_),
        _rightwards(pca.generators_),
        _rightwards(theory),
        energy=np.array(_energy(chi, sm.generators_) / _energy(chi, pca.generators_)),
        reversal=np.array(reversal),
    )


def _rightwards(filters: np.ndarray) -> np.ndarray:
    """Scale filters to norm 1, and sign each as content moving right would have it."""
    signs = np.where(cosine(filters, derivative_operator(filters.shape[1:2])) < 0, -1.0, 1.0)
    return of_norm_1(filters * signs[:, None, None])


def _energy(chi: OuterProducts, filters: np.ndarray) -> float:
    """Mean squared norm of chi's projection on the span of filters."""
    basis = np.linalg.qr(filters.reshape(len(filters), -1).T)[0].T
    return float((chi.project(basis.reshape(filters.shape)) ** 2).sum(axis=1).mean())


class Nonnegative(NamedTuple):
    """What NSM and K-means learn (Fig. 2d, f): two filters each, of norm 1, rightward motion's first."""

    nsm: np.ndarray
    """Shape (2, n, n)."""
    kmeans: np.ndarray
    """Shape (2, n, n)."""
    reference: np.ndarray
    """Share of the new pairs whose direction theory's filter tells by the sign of its output."""
    nsm_accuracy: np.ndarray
    """The same by the larger of the two magnitudes dx' A x."""
    kmeans_accuracy: np.ndarray
    output_accuracy: np.ndarray
    """The same by the larger output of NSM's units; pairs that leave both silent count as wrong."""
    silent: np.ndarray
    """Share of the new pairs that leave both units of NSM silent."""


def learn_nonnegative(sample: Sample, seed: int) -> Nonnegative:
    """Let NSM and K-means learn, and test them beside theory's filter on the same new pairs."""
    world = WORLDS[sample.world]
    whitening, chi = world.lesson(sample.n, sample.n_pairs, [seed, 0])
    units, centres = opposed(chi, n_passes=4), opposed_centres(chi, seed)
    test = world.pairs(sample.n, sample.n_test, [seed, 1])
    seen = outer_products(whitening.transform(test), world.feature)
    theory = world.population(sample.n)
    seen_by_theory = outer_products(test.map(lambda frames: frames @ theory.Z.T), world.feature)
    outputs = units.outputs(seen)
    readings = (
        seen_by_theory.project(theory.components(1)[1])[:, 0],
        *(seen.project(filters[:1] - filters[1:])[:, 0] for filters in (units.filters, centres)),
        outputs[:, 0] - outputs[:, 1],
    )
    accuracies = [np.array(share_right(reading, test)) for reading in readings]
    silent = np.array((outputs.max(axis=1) == 0).mean())
    return Nonnegative._make([of_norm_1(units.filters), of_norm_1(centres), *accuracies, silent])
