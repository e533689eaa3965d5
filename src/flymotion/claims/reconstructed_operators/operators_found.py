"""What operators reconstruction finds in L1, L2 and G, beside what NSM finds of the same pairs, and its nulls."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from flymotion.claims.lessons import of_norm_1, opposed
from flymotion.claims.nulls import unlearned
from flymotion.claims.transformations.planes import MOTIONS, PLANES
from flymotion.claims.ways import LIKE, early_vision
from flymotion.claims.worlds import WORLDS, leftward
from flymotion.frames import FramePairs
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.relations import OperatorReconstruction
from flymotion.relations.alternation import Penalty, best_magnitudes
from flymotion.similarity.features import outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching

__all__ = ["GRIDS", "LINES", "VARIANTS", "Config", "One", "Several", "learn_operators_of"]

RIDGE, SPARSITY = 0.1, 0.1
"""lambda and mu; of whitened frames |A x|^2 is 1 on average. In L1 and L2, lambda 1 and mu 0.03 were tried, too."""

VARIANTS: dict[str, tuple[str, bool, dict[str, Any]]] = {
    "half": ("half as many operators, signed magnitudes", True, {}),
    "half_sparse": ("half as many operators, signed magnitudes, sparse", True, {"sparsity": SPARSITY}),
    "signed": ("signed magnitudes", False, {}),
    "sparse": ("signed magnitudes, sparse", False, {"sparsity": SPARSITY}),
    "nonnegative": ("nonnegative magnitudes", False, {"nonnegative": True}),
    "nonnegative_ridge": ("nonnegative magnitudes, ridge", False, {"nonnegative": True, "ridge": RIDGE}),
}
"""What rows call them; whether of half as many operators as ways, or of as many; and settings."""

LINES, GRIDS = {"L1": 2, "L2": 2}, {"rotation": 2, "translation": 4}
"""Worlds, and their ways to move."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of all worlds.
    n : int
        Pixels of L1 and L2.
    n_pairs, n_pairs_grid : int
        Pairs to learn one operator from, and NSM's two filters; and those of G. Of several operators a line's are half.
    n_test : int
        New pairs.
    n_init, n_starts : int
        Starts of one operator and of several.
    max_iter : int
        Most iterations of several: without penalty they go on for thousands.
    """

    n_seeds: int = 3
    n: int = 5
    n_pairs: int = 10_000
    n_pairs_grid: int = 4_000
    n_test: int = 5_000
    n_init: int = 10
    n_starts: int = 3
    max_iter: int = 100


class Given(NamedTuple):
    """Whitened pairs to learn from and new ones; and operators of the ways, in which new pairs moved."""

    seen: FramePairs
    new: FramePairs
    operators: np.ndarray
    """The population's, shape (n_ways, n, n)."""
    way: np.ndarray
    """Of each new pair, shape (n_new,)."""
    shift: np.ndarray
    """Along the first parameter, of each new pair, shape (n_new,)."""
    filters: dict[str, np.ndarray]
    """NSM's and its nulls', one a way, shape (n_ways, n, n)."""
    named: np.ndarray
    """Share of new pairs that NSM's largest output names."""


class One(NamedTuple):
    """What one signed operator is like."""

    operator: np.ndarray
    nsm: np.ndarray
    """NSM's filter: right less left, or one way less its reverse."""
    cosines: dict[str, np.ndarray]
    """Its |cosine| with NSM's filter and, beside it, that of NSM's nulls; by "operator" and the nulls' keys."""
    generator: np.ndarray
    """|cosine| with the population's generator."""
    elsewhere: np.ndarray
    """Share of starts with a |cosine| to the best one's operator below ``LIKE``."""
    correlation: dict[str, np.ndarray]
    """|correlation| of magnitudes with the true shift, by "operator", "nsm", "nsm_divided" and the nulls' keys."""
    told: dict[str, np.ndarray]
    """Share of pairs whose direction the sign of magnitudes tells, by the same."""


class Several(NamedTuple):
    """What as many operators as ways are like."""

    operators: np.ndarray
    directions: np.ndarray
    """Ways that an operator, as signed as it came, is like."""
    likeness: np.ndarray
    """Least cosine of a way's operator with the population's; of signed ones, either sign."""
    named: np.ndarray
    """Share of new pairs whose way the largest magnitude, or magnitude of either sign, names."""
    settled: np.ndarray
    """Whether the best start's iterations had ended."""


def learn_operators_of(config: Config, world: str, seed: int) -> dict[str, Any]:
    """Learn one operator, and several by each of ``VARIANTS``, from pairs of a world."""
    given = _on_line(config, world, seed) if world in LINES else _in_plane(config, world, seed)
    feature = WORLDS[world].feature if world in LINES else "change"
    some = given.seen[: config.n_pairs // 2]
    found: dict[str, Any] = {"one": _one(config, given, feature, seed), "named": given.named}
    for name, (_, halved, how) in VARIANTS.items():
        found[name] = _several(config, given, some, halved, {"feature": feature, "random_state": seed} | how)
    return found


def _on_line(config: Config, name: str, seed: int) -> Given:
    world = WORLDS[name]
    pairs, new = (world.pairs(config.n, n, [seed, 25, k]) for k, n in enumerate((config.n_pairs, config.n_test)))
    whitening = ZCAWhitening(0.0).fit(pairs)
    seen, unseen = whitening.transform(pairs), whitening.transform(new)
    chi, tested = (outer_products(each, world.feature) for each in (seen, unseen))
    [generator] = world.population(config.n, whitening.matrix_).generators().operators
    learned, way = opposed(chi), leftward(new)
    filters = {"nsm": learned.filters} | unlearned(chi, leftward(pairs), np.random.default_rng([seed, 25]))
    named = _named(learned.outputs(tested), way)
    return Given(seen, unseen, np.stack([generator, -generator]), way, np.asarray(new.motion)[:, 0], filters, named)


def _in_plane(config: Config, motion: str, seed: int) -> Given:
    plane = PLANES[f"{motion}_exponential_wide"]._replace(n_pairs=config.n_pairs_grid)
    pairs = plane.pairs(config.n_pairs_grid, np.random.default_rng([seed, 25]))
    new = plane.pairs(config.n_test, np.random.default_rng([seed, 26]))
    vision = early_vision().fit(pairs)
    seen, unseen = vision.transform(pairs), vision.transform(new)
    ways, chi = MOTIONS[motion].ways, outer_products(seen, "change")
    operators = np.tensordot(ways, plane.generators(vision["zcawhitening"].matrix_), axes=1)
    label, way = (np.argmax(np.asarray(each.motion) @ ways.T, axis=1) for each in (pairs, new))
    network = NonnegativeSimilarityMatching(len(ways)).fit(chi)
    filters = {"nsm": network.generators_} | unlearned(chi, label, np.random.default_rng([seed, 25]))
    order = _matched(network.generators_, operators)
    outputs = network.transform(outer_products(unseen, "change"))[:, order]
    filters = {name: each[_matched(each, operators)] for name, each in filters.items()}
    return Given(seen, unseen, operators, way, np.asarray(new.motion)[:, 0], filters, _named(outputs, way))


def _named(outputs: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Share of pairs whose way has the largest output; without any output they count as wrong."""
    return np.mean((outputs.argmax(axis=1) == way) & (outputs.max(axis=1) > 0))


def _matched(filters: np.ndarray, operators: np.ndarray) -> np.ndarray:
    """Return which filter each operator, shape (n_ways, n, n), is best matched with, shape (n_ways,)."""
    return linear_sum_assignment(-cosine(operators[:, None], filters))[1]


def _one(config: Config, given: Given, feature: str, seed: int) -> One:
    learner = _fitted(OperatorReconstruction(feature=feature, n_init=config.n_init, random_state=seed), given.seen)
    [operator] = learner.generators_
    reverse = int(cosine(given.operators, given.operators[0]).argmin())
    opponents = {name: each[0] - each[reverse] for name, each in given.filters.items()}
    opponents["population"] = given.operators[0]
    outputs = {name: _magnitudes(A, given.new, feature) for name, A in opponents.items() if name != "population"}
    outputs["operator"] = learner.transform(given.new)[:, 0]
    outputs["nsm_divided"] = best_magnitudes(*_acted_on(given.new, feature), opponents["nsm"][None], Penalty())[0][:, 0]
    moved = given.shift != 0
    nsm = of_norm_1(opponents.pop("nsm"))
    return One(
        operator=operator,
        nsm=nsm,
        cosines={name: np.abs(cosine(A, nsm)) for name, A in ({"operator": operator} | opponents).items()},
        generator=np.abs(cosine(operator, given.operators[0])),
        elsewhere=np.mean(np.abs(cosine(learner.starts_[:, 0], operator)) < LIKE),
        correlation={k: np.abs(np.corrcoef(theta, given.shift)[0, 1]) for k, theta in outputs.items()},
        told={k: _told(theta[moved], given.shift[moved]) for k, theta in outputs.items()},
    )


def _magnitudes(A: np.ndarray, pairs: FramePairs, feature: str) -> np.ndarray:
    """Return what a filter says of pairs, dx' A x (Section 2.5), shape (n_pairs,)."""
    return outer_products(pairs, feature).project(A[None])[:, 0]


def _acted_on(pairs: FramePairs, feature: str) -> tuple[np.ndarray, np.ndarray]:
    """Return changes and the frames that operators act on, shape (n_pairs, n_pixels) each."""
    flat = pairs.flat()
    return flat.after - flat.before, flat.before if feature == "change" else (flat.before + flat.after) / 2


def _told(theta: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Share of pairs of which the sign tells the direction; an operator's own sign is chance."""
    right = np.mean(np.sign(theta) == np.sign(shift))
    return np.maximum(right, np.mean(np.sign(theta) == -np.sign(shift)))


def _fitted(learner: OperatorReconstruction, pairs: FramePairs) -> OperatorReconstruction:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows say which have not ended
        return learner.fit(pairs)


def _several(config: Config, given: Given, some: FramePairs, halved: bool, how: dict[str, Any]) -> Several:
    n_operators = len(given.operators) // 2 if halved else len(given.operators)
    learner = OperatorReconstruction(n_operators, n_init=config.n_starts, max_iter=config.max_iter, tol=1e-5, **how)
    operators = _fitted(learner, some).generators_
    theta = learner.set_params(sparsity=0.0).transform(given.new)
    directions = np.count_nonzero((cosine(given.operators[:, None], operators) > LIKE).any(axis=1))
    if not learner.nonnegative:
        operators, theta = np.concatenate([operators, -operators]), np.concatenate([theta, -theta], axis=1)
    order = _matched(operators, given.operators)
    return Several(
        learner.generators_,
        np.array(directions),
        cosine(operators[order], given.operators).min(),
        _named(theta[:, order], given.way),
        np.array(learner.n_iter_[learner.objectives_.argmin()] < config.max_iter),
    )
