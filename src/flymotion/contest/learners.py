"""Every learner of the contest: how it is made, what it is given, and what its synapses need to know.

A new learner is an entry here, and nothing else has to know of it. Learners of chi are given the midpoint feature
(Eq. 23, Suppl. A), unless another is asked for: ``"nsm:change"`` is NSM of the paper's own (Eq. 11).

Longer than 350 lines because it is one table, of which every learner has an entry.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.nulls import NULLS, labelled_means, random_filters, start_alone
from flymotion.contest.arenas import Course
from flymotion.contest.simple_learners import GivenFilters, OfCentres, OfFirstPairs, OfPlanes
from flymotion.relations import (
    AdditiveUnits,
    DiagonalSums,
    ExponentialOperators,
    GatedBoltzmann,
    IrreducibleRotations,
    OperatorReconstruction,
    SlowFeatures,
)
from flymotion.similarity.features import check_feature
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.rivals import (
    CCIPCA,
    AdaOja,
    FastSimilarityMatching,
    OjaSubspace,
    OuterProductKMeans,
    OuterProductPCA,
    WrittenOut,
)
from flymotion.world.motions import Motion

__all__ = ["ALL", "LEARNERS", "Entry", "entry", "n_outputs"]

FEATURE = "midpoint"
"""What learners of chi are given, unless told otherwise."""


class Entry(NamedTuple):
    """One learner."""

    make: Callable[[int, int], Any]
    """From the number of outputs and a seed."""
    source: str
    """Who proposed it, where and when, in a line."""
    local: str
    """Whether a synapse can know what its change needs: "yes", "no", or when it can."""
    knows: str
    """What a synapse needs to know to change, with the equation."""
    feature: str | None = FEATURE
    """Of chi, a key of :data:`flymotion.similarity.features.FEATURES`; None where it takes pairs of frames."""
    signed: bool = False
    """Whether an output tells opposite motions by its sign, and so counts as two."""
    baseline: bool = False
    """Whether outputs have a level of their own, as probabilities do: it is taken from them before they are named."""
    onto_next: bool = False
    """Whether ``generators_`` act on the next frame, not on the change: then their antisymmetric parts are compared."""
    told: Callable[[Course], Any] | None = None
    """What ``fit`` is told beside the pairs, which a learner is not."""
    null: bool = False


def n_outputs(of: Entry, motion: Motion) -> int:
    """Return how many outputs a learner is given: one a parameter of the motion where they have signs, or one a way."""
    return motion.ways.shape[1] if of.signed else len(motion.ways)


def entry(name: str) -> Entry:
    """Return a learner by its name, perhaps with a feature after a colon.

    Raises
    ------
    ValueError
        An unknown learner or feature; a feature for a learner of pairs of frames.

    Examples
    --------
    >>> entry("nsm:change").feature
    'change'
    """
    base, colon, feature = name.partition(":")
    if base not in LEARNERS:
        raise ValueError(f"there is no learner {name!r}; expected one of {', '.join(LEARNERS)}")
    found = LEARNERS[base]
    if not colon:
        return found
    if found.feature is None:
        raise ValueError(f"{name!r} names a feature, but {base} learns from pairs of frames; expected {base!r}")
    check_feature(feature)
    return found._replace(feature=feature, onto_next=feature == "product")


def _random(n: int, seed: int, chi: Any, told: Any) -> np.ndarray:
    return random_filters(n, chi, np.random.default_rng([seed, 5]))


def _start(n: int, chi: Any, told: Any) -> np.ndarray:
    return start_alone(n, chi)


def _told_means(chi: Any, way: np.ndarray) -> np.ndarray:
    return labelled_means(chi, way)


def _told_filters(chi: Any, generators: np.ndarray) -> np.ndarray:
    return generators


def _ways(course: Course) -> np.ndarray:
    return course.way(course.pairs)


def _generators(course: Course) -> np.ndarray:
    return course.analytic


def _whitening(course: Course) -> np.ndarray:
    return course.Z


def _exponential(n: int, seed: int) -> OfFirstPairs:
    return OfFirstPairs(ExponentialOperators(n, n_starts=9, tol=1e-3, max_iter=10), 4_000 if n == 1 else 600)


def _incremental_pca(n: int, seed: int, *, both_signs: bool) -> WrittenOut:
    from sklearn.decomposition import IncrementalPCA

    return WrittenOut(IncrementalPCA(n), both_signs=both_signs)


def _mini_batch_kmeans(n: int, seed: int) -> OfCentres:
    from sklearn.cluster import MiniBatchKMeans

    return OfCentres(WrittenOut(MiniBatchKMeans(n, n_init=10, random_state=seed), batch_size=256))


FURTHEST = 5.0
"""Mean motions: in every world new pairs move as those learned from do, at most twice as far as on average."""

OURS = "its own input and its unit's output, over a running sum of that output squared; lateral: both units' outputs"
OJA = "its input, and the outputs of all units with their weights from the same input"

LEARNERS: dict[str, Entry] = {
    "nsm": Entry(
        lambda n, seed: NonnegativeSimilarityMatching(n, n_passes=2),
        "Bahroun, Sengupta & Chklovskii, NeurIPS 2019",
        "yes",
        f"{OURS} (Eqs. 15-18)",
    ),
    "sm": Entry(
        lambda n, seed: SimilarityMatching(n, n_passes=2),
        "Bahroun, Sengupta & Chklovskii, NeurIPS 2019",
        "yes",
        f"{OURS} (Eqs. 15-18)",
        signed=True,
    ),
    "pca": Entry(
        lambda n, seed: OuterProductPCA(n),
        "Eq. 26 (Suppl. B); uncentred",
        "no",
        "the second moment of all samples, in one batch",
        signed=True,
    ),
    "kmeans": Entry(
        lambda n, seed: OfCentres(OuterProductKMeans(n, random_state=seed)),
        "Eq. 27 (Suppl. B); Lloyd, IEEE Trans. Inf. Theory 1982; Arthur & Vassilvitskii, SODA 2007",
        "no",
        "which centre is nearest, of all samples in one batch; the best of ten starts",
    ),
    "reconstruction": Entry(
        lambda n, seed: OperatorReconstruction(n, feature="midpoint", random_state=seed),
        "Rao & Ruderman, NIPS 1998 (Eqs. 8-10), by closed forms; of the midpoint feature, the best of ten starts",
        "no",
        "all pairs in one batch, and all units' magnitudes",
        feature=None,
        signed=True,
    ),
    "reconstruction-change": Entry(
        lambda n, seed: OperatorReconstruction(n, random_state=seed),
        "the same of the paper's own feature (Eq. 9)",
        "no",
        "all pairs in one batch, and all units' magnitudes",
        feature=None,
        signed=True,
    ),
    "reconstruction-online": Entry(
        lambda n, seed: OperatorReconstruction(
            n,
            solver="gradient",
            feature="midpoint",
            nonnegative=True,
            ridge=0.1,
            n_init=3,
            n_passes=5,
            learning_rate=0.03,
            random_state=seed,
        ),
        "Rao & Ruderman, NIPS 1998 (Eqs. 8-10), the online rule, magnitudes not negative, with a ridge; of 3 starts",
        "no",
        "its input, its unit's magnitude, and what all units' operators together leave of the change",
        feature=None,
    ),
    "reconstruction-nonnegative": Entry(
        lambda n, seed: OperatorReconstruction(
            n, feature="midpoint", nonnegative=True, ridge=0.1, n_init=2, tol=1e-4, max_iter=60, random_state=seed
        ),
        "by closed forms, with magnitudes that are not negative, and a ridge (C25); the better of two starts",
        "no",
        "all pairs in one batch, and all units' magnitudes",
        feature=None,
    ),
    "exponential": Entry(
        _exponential,
        "Miao & Rao, Neural Computation 2007; of the first 4,000 pairs, or with two operators 600",
        "no",
        "what all operators leave unexplained, moved back by parts of each pair's motion, in one batch",
        feature=None,
        signed=True,
    ),
    "rotations": Entry(
        lambda n, seed: OfPlanes(IrreducibleRotations(furthest=FURTHEST)),
        "worked out from Genkin, Lipshutz, Golkar, Tesileanu & Chklovskii, NeurIPS 2022, of one layer; raw frames",
        "no",
        "the component alone as sm's, of Eq. 24; least squares and rates all pairs in one batch",
        feature=None,
        signed=True,
        told=_whitening,
    ),
    "rotations-differences": Entry(
        lambda n, seed: OfPlanes(IrreducibleRotations(method="differences", furthest=FURTHEST)),
        "the same of two layers, from principal components of differences",
        "no",
        "the components alone as sm's, of differences, then of Eq. 24; least squares and rates all pairs in one batch",
        feature=None,
        signed=True,
        told=_whitening,
    ),
    "gated": Entry(
        lambda n, seed: GatedBoltzmann(n, n_factors=60, onto="change", random_state=seed),
        "Memisevic & Hinton, Neural Computation 2010, of as many units as others have, onto the change",
        "no",
        "its input, the other two sums of its factor, and all again as the machine makes them up",
        feature=None,
        baseline=True,
    ),
    "gated-of-20": Entry(
        lambda n, seed: GatedBoltzmann(20, n_factors=60, random_state=seed),
        "the same of 20 units and 60 factors, onto the next frame, as its authors have it",
        "no",
        "its input, the other two sums of its factor, and all again as the machine makes them up",
        feature=None,
        baseline=True,
        onto_next=True,
    ),
    "diagonal-sums": Entry(
        lambda n, seed: DiagonalSums(),
        "Memisevic, ICCV 2011, as Sec. 2.2 has it: a unit a displacement, not learned",
        "yes",
        "nothing: wired to pixels that are its displacement apart",
        feature=None,
        baseline=True,
        onto_next=True,
    ),
    "additive": Entry(
        lambda n, seed: AdditiveUnits(n),
        "control: units that add, Sec. 2.2; principal components of both frames end to end",
        "no",
        f"{OJA} (Eq. 2)",
        feature=None,
    ),
    "fast-similarity-matching": Entry(
        lambda n, seed: FastSimilarityMatching(n, n_passes=2, random_state=seed),
        "Giovannucci, Minden, Pehlevan & Chklovskii, IEEE Big Data 2018",
        "yes",
        "as sm's, in the form with M (Eqs. 5-6); the inverse of M that is kept instead is for the computer",
        signed=True,
    ),
    "oja": Entry(
        lambda n, seed: OjaSubspace(n, n_passes=2, random_state=seed),
        "Oja, J. Math. Biol. 1982; Neural Networks 1992",
        "of one unit",
        f"{OJA} (Eq. 2); of one unit its own output alone",
        signed=True,
    ),
    "ccipca": Entry(
        lambda n, seed: CCIPCA(n, n_passes=2),
        "Weng, Zhang & Hwang, IEEE Trans. PAMI 2003",
        "no",
        "its input less what earlier units explain of it, its unit's output, and the length of its unit's weights",
        signed=True,
    ),
    "adaoja": Entry(
        lambda n, seed: AdaOja(n, n_passes=2, random_state=seed),
        "Henriksen & Ward, arXiv:1905.12115, 2019",
        "no",
        "a block's sum, its norm over all inputs, and a QR decomposition of all units' weights",
        signed=True,
    ),
    "incremental-pca": Entry(
        partial(_incremental_pca, both_signs=True),
        "Ross, Lim, Lin & Yang, IJCV 2008, as scikit-learn has it; each sample with its negative, so uncentred",
        "no",
        "a singular value decomposition of all components and the batch",
        signed=True,
    ),
    "incremental-pca-centred": Entry(
        partial(_incremental_pca, both_signs=False),
        "the same as a user would call it: it takes the mean of chi away without a word",
        "no",
        "a singular value decomposition of all components and the batch",
        signed=True,
    ),
    "mini-batch-kmeans": Entry(
        _mini_batch_kmeans,
        "Sculley, WWW 2010, as scikit-learn has it",
        "no",
        "its input, and which centre is nearest; samples to start from, and to replace starved centres by",
    ),
    "slow-features": Entry(
        lambda n, seed: SlowFeatures(n),
        "Wiskott & Sejnowski, Neural Computation 2002; of frames: pairs of pairs need a movie (Berkes & Wiskott 2005)",
        "no",
        "covariances of all products of pixels, and of their changes, in one batch",
        feature=None,
        baseline=True,
    ),
    "random": Entry(
        lambda n, seed: GivenFilters(partial(_random, n, seed)), f"null: {NULLS['random']}", "yes", "nothing", null=True
    ),
    "start": Entry(
        lambda n, seed: GivenFilters(partial(_start, n)),
        f"null: {NULLS['start']}",
        "no",
        "the first samples, at once",
        null=True,
    ),
    "labelled": Entry(
        lambda n, seed: GivenFilters(_told_means),
        f"told more: {NULLS['labelled']}",
        "yes",
        "its own input, and the way that each pair moved",
        told=_ways,
        null=True,
    ),
    "population": Entry(
        lambda n, seed: GivenFilters(_told_filters),
        f"told more: {NULLS['population']}, the world's known generators",
        "no",
        "the covariance of the world, and how it moves",
        signed=True,
        told=_generators,
        null=True,
    ),
}
"""Learners by the names that ``flymotion rivals`` knows them by, nulls last."""

OTHERWISE = ("nsm:change", "sm:change", "nsm:antisymmetric", "sm:antisymmetric", "kmeans:antisymmetric")
"""Learners that are also given another feature: the paper's own (Eq. 11), and Bethge's (Eq. 24)."""

ALL = (*(name for name, each in LEARNERS.items() if not each.null), *OTHERWISE)
ALL += tuple(name for name, each in LEARNERS.items() if each.null)
"""What the contest is of, unless told otherwise."""
