"""What SM, PCA, NSM and K-means learn of one sample of a world, and what their nulls make of the same (Fig. 2).

NSM and K-means are looked at three times: after learning; at the start alone, which for NSM is the warm-up and for
K-means two pairs; and from a random start with nothing but the rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.claims.bayes import posterior
from flymotion.claims.lessons import RATE, centres, of_norm_1, opposed
from flymotion.claims.nulls import labelled_means, random_filters, start_alone
from flymotion.claims.worlds import WORLDS, World, rightward_first, share_right
from flymotion.frames import FramePairs
from flymotion.generators import cosine, derivative_operator
from flymotion.generators.theory import Population
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA

__all__ = [
    "PASSES",
    "Both",
    "InFull",
    "Nonnegative",
    "Sample",
    "Signed",
    "Told",
    "learn_both",
    "learn_nonnegative",
    "learn_signed",
    "nearness",
    "tell_best",
    "told",
]

PASSES = 6
"""Of SM over its pairs."""

FIRM = 100.0
"""Pairs that a random start counts for: initial That, over the mean squared norm of chi.

Of one pair's weight, the first pairs would overwrite it, and it would be no start.
"""


class Sample(NamedTuple):
    """Random samples of a world, to learn from; one a seed."""

    world: str
    n: int
    """Pixels of the eye."""
    n_pairs: int
    """Pairs to learn from."""
    n_test: int
    """New pairs, of a new scene, to test with."""
    n_kmeans: int
    """Pairs that K-means is given; each of its ten starts goes over them tens of times."""


class Drawn(NamedTuple):
    """A sample, drawn."""

    world: World
    theory: Population
    whitening: ZCAWhitening
    chi: OuterProducts
    rightward: np.ndarray
    """Whether content moves right in each pair to learn from, 0 or 1."""
    test: FramePairs
    """Not whitened."""
    rng: np.random.Generator
    """For nulls."""

    def see(self, pairs: FramePairs) -> OuterProducts:
        """Return the feature of pairs as whitened for learning."""
        return outer_products(self.whitening.transform(pairs), self.world.feature)


def draw(sample: Sample, seed: int) -> Drawn:
    """Draw pairs to learn from, and whiten them; and new ones."""
    world = WORLDS[sample.world]
    pairs, test = (world.pairs(sample.n, n, [seed, k]) for k, n in enumerate((sample.n_pairs, sample.n_test)))
    whitening = ZCAWhitening(0.0).fit(pairs)
    rightward = (np.asarray(pairs.motion)[:, 0] > 0).astype(int)
    chi = outer_products(whitening.transform(pairs), world.feature)
    rng = np.random.default_rng([seed, 2])
    return Drawn(world, world.population(sample.n), whitening, chi, rightward, test, rng)


# -- signed outputs -------------------------------------------------------------------------------------------------


class Signed(NamedTuple):
    """What SM and PCA learn (Fig. 2c, e): two filters each, of norm 1, the first for content moving right."""

    sm: np.ndarray
    """Shape (2, n, n)."""
    pca: np.ndarray
    """Shape (2, n, n)."""
    theory: np.ndarray
    """Shape (2, n, n)."""
    start: np.ndarray
    """SM's start: principal components of the warm-up; shape (2, n, n)."""
    random: np.ndarray
    """Shape (2, n, n)."""


class InFull(NamedTuple):
    """What SM and PCA learn, and what is measured of it for Fig. 2 alone."""

    filters: Signed
    energy: dict[str, np.ndarray]
    """Energy of chi in the span of two filters, relative to PCA's; by whose they are."""
    reversal: dict[str, np.ndarray]
    """Correlation of theta(before, after) with -theta(after, before) over new pairs; by whose theta."""


def learn_signed(sample: Sample, seed: int) -> InFull:
    """Let SM and PCA learn, and SM by the printed rate, too."""
    given = draw(sample, seed)
    sm = _similarity_matching(given.chi)
    filters = _signed(given, sm)
    printed = SimilarityMatching(2).fit(given.chi)  # Eq. 18, each pair seen once
    spans = filters._asdict() | {"printed_once": printed.generators_}
    for _ in range(PASSES - 1):
        printed.partial_fit(given.chi)
    spans["printed"] = printed.generators_
    energy = {whose: _energy(given.chi, span) for whose, span in spans.items()}
    relative = {whose: np.array(each / energy["pca"]) for whose, each in energy.items()}
    return InFull(filters, relative, _reversal(given, sm, filters.random))


def _similarity_matching(chi: OuterProducts) -> SimilarityMatching:
    return SimilarityMatching(2, forgetting=1 - RATE, n_passes=PASSES).fit(chi)


def _signed(given: Drawn, sm: SimilarityMatching) -> Signed:
    pca, theory = OuterProductPCA(2).fit(given.chi).generators_, given.theory.components(2)[1]
    return Signed(
        sm=_rightwards(sm.generators_),
        pca=_rightwards(pca),
        theory=_rightwards(theory),
        start=_rightwards(start_alone(2, given.chi, nonnegative=False)),
        random=random_filters(2, given.chi, given.rng),
    )


def _reversal(given: Drawn, sm: SimilarityMatching, random: np.ndarray) -> dict[str, np.ndarray]:
    test = given.whitening.transform(given.test)
    forth, back = (outer_products(p, given.world.feature) for p in (test, test.reversed()))
    odd = [outer_products(p, "midpoint") for p in (test, test.reversed())]
    thetas = {
        "units": [sm.transform(chi) for chi in (forth, back)],
        "components": [chi.project(sm.generators_) for chi in (forth, back)],
        "random": [chi.project(random) for chi in (forth, back)],
        "midpoint": [chi.project(sm.generators_) for chi in odd],
    }
    return {
        whose: np.array([np.corrcoef(a, -b)[0, 1] for a, b in zip(*(theta.T for theta in both), strict=True)])
        for whose, both in thetas.items()
    }


def _rightwards(filters: np.ndarray) -> np.ndarray:
    """Scale filters to norm 1, and sign each as content moving right would have it."""
    signs = np.where(cosine(filters, derivative_operator(filters.shape[1:2])) < 0, -1.0, 1.0)
    return of_norm_1(filters * signs[:, None, None])


def _energy(chi: OuterProducts, filters: np.ndarray) -> float:
    """Mean squared norm of chi's projection on the span of filters."""
    basis = np.linalg.qr(filters.reshape(len(filters), -1).T)[0].T
    return float((chi.project(basis.reshape(filters.shape)) ** 2).sum(axis=1).mean())


# -- nonnegative outputs --------------------------------------------------------------------------------------------


class Told(NamedTuple):
    """Two filters of norm 1, that for content moving right first, and how often they tell where new pairs move."""

    filters: np.ndarray
    """Shape (2, n, n)."""
    difference: np.ndarray
    """Share told by the larger of the two magnitudes dx' A x."""
    outputs: np.ndarray
    """Share told by the larger output; pairs that leave both units silent count as wrong."""
    silent: np.ndarray
    """Share of pairs that leave both silent."""


class Nonnegative(NamedTuple):
    """What NSM and K-means learn (Fig. 2d, f), their nulls, and what others tell of the same new pairs."""

    nsm: Told
    nsm_random_start: Told
    nsm_start: Told
    kmeans: Told
    kmeans_random_start: Told
    kmeans_start: Told
    random: Told
    reference: np.ndarray
    """Share of the new pairs whose direction theory's filter tells by the sign of its output."""
    labelled: np.ndarray
    """The same by the difference of the mean chi of either direction."""
    clusters: np.ndarray
    """The same by the cluster that K-means puts a pair in, which is K-means' own output (Eq. 27)."""
    smaller: np.ndarray
    """Share of the pairs learned from that is in K-means' smaller cluster."""


def learn_nonnegative(sample: Sample, seed: int) -> Nonnegative:
    """Let NSM and K-means learn, and test them beside theory's filter on the same new pairs."""
    return _nonnegative(draw(sample, seed), sample.n_kmeans, seed)


def _nonnegative(given: Drawn, n_kmeans: int, seed: int) -> Nonnegative:
    chi, test, some = given.chi, given.test, given.chi[:n_kmeans]
    seen, means = given.see(test), labelled_means(given.chi, given.rightward)
    units, printed = opposed(chi, n_passes=4).network, _from_random(chi, given.rng)
    pair = some[given.rng.choice(len(some), 2, replace=False)].dense()
    alone, best = OuterProductKMeans(2, init=pair, n_init=1).fit(some), centres(some, seed)
    found = best.generators_
    return Nonnegative(
        nsm=told(units.generators_, seen, test, units.transform(seen)),
        nsm_random_start=told(printed.generators_, seen, test, printed.transform(seen)),
        nsm_start=told(start_alone(2, chi), seen, test),
        kmeans=told(found, seen, test),
        kmeans_random_start=told(alone.generators_, seen, test),
        kmeans_start=told(pair.reshape(found.shape), seen, test),
        random=told(random_filters(2, chi, given.rng), seen, test),
        reference=np.array(share_right(_population_output(given.world, given.theory, test), test)),
        labelled=np.array(share_right(seen.project(means[1:] - means[:1])[:, 0], test)),
        clusters=told(found, seen, test, nearness(found, seen)).outputs,
        smaller=np.array(np.bincount(best.labels_).min() / len(some)),
    )


def nearness(centres: np.ndarray, seen: OuterProducts) -> np.ndarray:
    """Return how near samples are to K-means' centres, shape (n_samples, K): less half the squared distance."""
    return seen.project(centres) - (centres**2).sum(axis=(1, 2)) / 2


def _from_random(chi: OuterProducts, rng: np.random.Generator) -> NonnegativeSimilarityMatching:
    """Let two units learn by the printed rule alone: random filters, no warm-up, Eq. 18, each pair seen once."""
    strength = FIRM * float(np.mean(chi.norms() ** 2))
    filters = random_filters(2, chi, rng).reshape(2, -1)
    return NonnegativeSimilarityMatching(2, init=filters, init_strength=strength).fit(chi)


def told(filters: np.ndarray, seen: OuterProducts, test: FramePairs, outputs: np.ndarray | None = None) -> Told:
    """Return how often two filters, shape (2, n, n), tell where pairs move.

    Parameters
    ----------
    filters : ndarray, shape (2, n, n)
        In any order.
    seen : OuterProducts
        Features of the pairs.
    test : FramePairs
        The pairs, for their motion.
    outputs : ndarray, shape (n_pairs, 2), optional
        Of the units; by default the magnitudes, rectified, without inhibition.
    """
    order = rightward_first(filters)
    magnitudes = seen.project(filters)
    outputs = np.maximum(magnitudes, 0) if outputs is None else outputs
    difference, larger = (np.array(share_right(each[:, order] @ [1, -1], test)) for each in (magnitudes, outputs))
    return Told(of_norm_1(filters[order]), difference, larger, np.array((outputs == 0).all(axis=1).mean()))


def _population_output(world: World, theory: Population, pairs: FramePairs) -> np.ndarray:
    """Output of theory's filter of frames as theory whitens them, shape (n_pairs,)."""
    whitened = pairs.map(lambda frames: frames @ theory.Z.T)
    return outer_products(whitened, world.feature).project(theory.components(1)[1])[:, 0]


# -- together -------------------------------------------------------------------------------------------------------


class Both(NamedTuple):
    """What all four learn from the same pairs."""

    signed: Signed
    nonnegative: Nonnegative


def learn_both(sample: Sample, seed: int) -> Both:
    """Let all four learn."""
    given = draw(sample, seed)
    return Both(_signed(given, _similarity_matching(given.chi)), _nonnegative(given, sample.n_kmeans, seed))


def tell_best(sample: Sample, seed: int) -> np.ndarray:
    """Return how often the direction of a sample's new pairs is told by theory's filter, and by all that they tell."""
    world = WORLDS[sample.world]
    test = world.pairs(sample.n, sample.n_test, [seed, 1])
    readings = _population_output(world, world.population(sample.n), test), posterior(world, test).rightness()
    return np.array([share_right(reading, test) for reading in readings])
