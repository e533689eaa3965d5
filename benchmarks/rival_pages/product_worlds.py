"""Learners of products in the paper's worlds: lines, and motions of 5 x 5 pixels; and Bethge's feature there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from product_images import Images, circular_harmonics
from sklearn.linear_model import LogisticRegression, Ridge
from tables import mean, of_seeds, spread, table

from flymotion.claims.lessons import RATE, opposed, two_units
from flymotion.claims.nulls import labelled_means, random_filters, start_alone
from flymotion.claims.transformations.planes import MOTIONS, PLANES
from flymotion.claims.ways import FEATURES as OURS
from flymotion.claims.ways import early_vision, labelled, learn
from flymotion.claims.worlds import WORLDS, World, leftward
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.generators.theory import population
from flymotion.photoreceptors import ZCAWhitening
from flymotion.relations import DiagonalSums, GatedBoltzmann
from flymotion.relations.gated_boltzmann import _start
from flymotion.similarity.features import FEATURES, OuterProducts, outer_products
from flymotion.similarity.networks import SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA

LINES = {
    "L1, 5 pixels": (WORLDS["L1"], 5),
    "L2, 5 pixels": (WORLDS["L2"], 5),
    "L2, 15 pixels": (WORLDS["L2"], 15),
    "shifts up to 1 px": (World(0.475, 1.0, "midpoint"), 15),
    "shifts up to 3 px": (World(0.475, 3.0, "midpoint"), 15),
}

SIZES = ((2, 20), (4, 60), (10, 60), (10, 100))
"""Mapping units and factors; the second and the last at 5 pixels only."""


def untrained(n: int, n_factors: int, K: int, seed: int, scales: Any, onto: str = "next") -> GatedBoltzmann:
    """Return a machine that has learned nothing, with the weights that learning starts with."""
    model = GatedBoltzmann(K, n_factors=n_factors, n_passes=1, random_state=seed, onto=onto)
    model.fit(FramePairs(np.zeros((2, n)), np.ones((2, n))))
    model.gates_ = _start(n, n_factors, K, np.random.default_rng(seed))
    model.scales_ = np.broadcast_to(scales, 2)
    return model


def cosine(A: np.ndarray, B: np.ndarray) -> float:
    return float(abs(np.sum(A * B)) / np.sqrt(np.sum(A**2) * np.sum(B**2) + 1e-300))


# -- lines -------------------------------------------------------------------------------------------------------------


class Line:
    """Whitened pairs of a line to learn from, and new ones."""

    def __init__(self, world: World, n: int, seed: int) -> None:
        pairs, new = world.pairs(n, 10_000, (seed, 1)), world.pairs(n, 4000, (seed, 2))
        whitening = ZCAWhitening(0.0).fit(pairs)
        self.pairs, self.new = whitening.transform(pairs), whitening.transform(new)
        self.n, self.v, self.v_new = n, np.asarray(pairs.motion)[:, 0], np.asarray(new.motion)[:, 0]
        self.left, self.new_left = leftward(pairs), leftward(new)
        self.chi, self.of_new = (outer_products(some, world.feature) for some in (self.pairs, self.new))

    def told(self, rightness: np.ndarray) -> float:
        return float(np.mean((rightness > 0) == (self.v_new > 0)))

    def goes_with(self, output: np.ndarray) -> float:
        return float(np.corrcoef(output, self.v_new)[0, 1]) if output.std() > 0 else 0.0

    def regressed(self, outputs: np.ndarray, new_outputs: np.ndarray) -> np.ndarray:
        """Return velocities that outputs tell, by a ridge regression with labels."""
        return Ridge(1e-3).fit(outputs, self.v).predict(new_outputs)

    def of_most_active(self, outputs: np.ndarray, new_outputs: np.ndarray) -> float:
        """Return the share of directions that the most active unit tells, whose own direction labels tell."""
        active, K = outputs.argmax(axis=1), outputs.shape[1]
        left = np.array([self.left[active == k].mean() if (active == k).any() else 0.5 for k in range(K)]) > 0.5
        return float(np.mean(left[new_outputs.argmax(axis=1)] == self.new_left))


def on_line(world: World, n: int, seed: int) -> dict[str, dict[str, float]]:
    """Measure all learners: shares of directions, and correlations with velocity."""
    line = Line(world, n, seed)
    D, energy = derivative_operator((n,)), (line.new.before**2).sum(axis=1)
    network = opposed(line.chi)
    outputs = network.outputs(line.of_new)
    means = labelled_means(line.chi, line.left)
    found = {}
    for name, right in {
        "NSM, 2 units": outputs[:, 0] - outputs[:, 1],
        "averages by label": line.of_new.project(means[:1] - means[1:])[:, 0],
    }.items():
        over_energy = line.goes_with(right / energy)
        found[name] = {"active": line.told(right), "velocity": line.goes_with(right), "over energy": over_energy}
    found["NSM, 2 units"]["cosine"] = cosine(network.opponent, D)
    everything = line.regressed(line.chi.dense(), line.of_new.dense())
    found["all of chi, by labels"] = {"linear": line.told(everything), "velocity": line.goes_with(everything)}
    sums = DiagonalSums(min(n - 1, 4)).fit(line.pairs)
    fastest = sums.velocities(line.new)[:, 0]
    by_sums = line.regressed(sums.transform(line.pairs), sums.transform(line.new))
    found["sums along diagonals"] = {
        "active": float(np.mean(np.sign(fastest) == np.sign(line.v_new))),
        "linear": line.told(by_sums),
        "velocity": line.goes_with(by_sums),
        "velocity of most active": line.goes_with(fastest),
    }
    return found | gated_on(line, seed)


def gated_on(line: Line, seed: int) -> dict[str, dict[str, float]]:
    found = {}
    D = derivative_operator((line.n,))
    for onto in ("next", "change"):
        for K, n_factors in SIZES if line.n == 5 else SIZES[::2]:
            learned = GatedBoltzmann(K, n_factors=n_factors, onto=onto, random_state=seed).fit(line.pairs)
            start = untrained(line.n, n_factors, K, seed, learned.scales_, onto)
            for who, model in (("gated", learned), ("untrained", start)):
                h, h_new = model.transform(line.pairs), model.transform(line.new)
                v = line.regressed(h, h_new)
                A = model.generators_ - model.generators_.mean(axis=0)
                found[f"{who}, {onto}, K = {K}, {n_factors} factors"] = {
                    "active": line.of_most_active(h, h_new),
                    "linear": line.told(v),
                    "velocity": line.goes_with(v),
                    "cosine": float(np.mean([cosine(one, D) for one in A])),
                }
    return found


def lines(n_seeds: int) -> Iterator[str]:
    """Tell direction and velocity on lines."""
    columns = ("active", "linear", "velocity", "over energy", "velocity of most active", "cosine")
    for name, (world, n) in LINES.items():
        found: dict[str, list[dict[str, float]]] = {}
        for seed in range(n_seeds):
            for learner, one in on_line(world, n, seed).items():
                found.setdefault(learner, []).append(one)
        rows = (
            [learner, *(mean([one[column] for one in ones]) if column in ones[0] else "" for column in columns)]
            for learner, ones in found.items()
        )
        yield from table(f"{name}, {n_seeds} seeds", ["", *columns], rows)


# -- motions of 5 x 5 pixels -------------------------------------------------------------------------------------------


def planes(n_seeds: int) -> Iterator[str]:
    """Name translations and rotations of 5 x 5 pixels."""
    for name in ("translation", "rotation"):
        found = of_seeds(on_plane(f"{name}_exponential_wide", seed) for seed in range(n_seeds))
        rows = ([learner, spread(named)] for learner, named in found.items())
        yield from table(f"World G, {name}, {n_seeds} seeds", ["", "ways named"], rows)


def on_plane(name: str, seed: int) -> dict[str, float]:
    plane, vision, rng = PLANES[name], early_vision(), np.random.default_rng([seed, 0])
    pairs, new = plane.pairs(plane.n_pairs, rng), plane.pairs(4000, rng)
    motion = MOTIONS[plane.motion]
    lessons = labelled(vision, pairs.eye, motion, plane.generators, pairs, new)
    found = {}
    for feature, given in lessons.items():
        for who, scores in learn(given, seed).items():
            found[f"{OURS[feature]}: {who}"] = float(scores.accuracy)
    way, new_way = given.way, given.new_way
    K, seen, unseen = len(motion.ways), vision.transform(pairs), vision.transform(new)
    for onto in ("next", "change"):
        learned = GatedBoltzmann(K, n_factors=60, onto=onto, random_state=seed).fit(seen)
        start = untrained(25, 60, K, seed, learned.scales_, onto)
        for who, model in (("gated", learned), ("untrained", start)):
            h, h_new = model.transform(seen), model.transform(unseen)
            active = h.argmax(axis=1)
            ways = np.array([np.bincount(way[active == k], minlength=K).argmax() for k in range(K)])
            regression = LogisticRegression(max_iter=300).fit(h[:5000], way[:5000])
            found[f"{who}, {onto}, active"] = float(np.mean(ways[h_new.argmax(axis=1)] == new_way))
            found[f"{who}, {onto}, by regression"] = regression.score(h_new, new_way)
    return found


# -- Bethge's feature --------------------------------------------------------------------------------------------------


def features(n_seeds: int) -> Iterator[str]:
    """Learn from each feature."""
    for name in ("L1", "L2", "rotation"):
        found = of_seeds(of_features(name, seed) for seed in range(n_seeds))
        learners = list(dict.fromkeys(learner for learner, _ in found))
        rows = (
            [learner, *(f"{mean(told)}, {mean(cosines, 2)}" for told, cosines, _ in across(found, learner))]
            for learner in learners
        )
        yield from table(f"{name}, {n_seeds} seeds: direction told, cosine with the generator", ["", *FEATURES], rows)
        alike = ([learner, *(mean(cosines, 2) for *_, cosines in across(found, learner))] for learner in learners)
        yield from table(f"{name}: cosine with the population's first component", ["", *FEATURES], alike)


def across(found: dict[Any, np.ndarray], learner: str) -> Iterator[np.ndarray]:
    """Yield what was measured of a learner with each feature, shape (3, n_seeds)."""
    yield from (found[learner, feature].T for feature in FEATURES)


def of_features(name: str, seed: int) -> dict[tuple[str, str], tuple[float, float, float]]:
    found = {}
    lessons: dict[str, Any] = {}
    if name == "rotation":
        lessons = PLANES["rotation_exponential_wide"].lessons(4000, seed, tuple(FEATURES))
    else:
        line = Line(WORLDS[name], 5, seed)
    for feature in FEATURES:
        if name == "rotation":
            given = lessons[feature]
            chi, way, new, new_way, D = given.chi, given.way, given.new, given.new_way, given.of_ways[0]
        else:
            chi, new = outer_products(line.pairs, feature), outer_products(line.new, feature)
            way, new_way, D = line.left, line.new_left, derivative_operator((5,))
        first = population_filter(name, feature)
        for learner, A in [*learned_filters(chi, way, seed), ("population", first)]:
            sign = 1 if np.mean((chi.project(A[None])[:, 0] > 0) == (way == 0)) >= 0.5 else -1
            told = float(np.mean((sign * new.project(A[None])[:, 0] > 0) == (new_way == 0)))
            found[learner, feature] = (told, cosine(A, D), cosine(A, first))
    return found


def learned_filters(chi: OuterProducts, way: np.ndarray, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each learner's first component, or the difference of its two filters."""
    rng = np.random.default_rng(seed)
    network = SimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi)
    yield "PCA", OuterProductPCA(2).fit(chi).generators_[0]
    yield "SM", network.components_[0].reshape(chi.feature_shape)
    yield "NSM", -np.diff(two_units(chi).generators_, axis=0)[0]
    yield "K-means", -np.diff(OuterProductKMeans(2, n_init=5, random_state=seed).fit(chi).generators_, axis=0)[0]
    yield "random filters", -np.diff(random_filters(2, chi, rng), axis=0)[0]
    yield "start alone", -np.diff(start_alone(2, chi), axis=0)[0]
    yield "averages by label", -np.diff(labelled_means(chi, way), axis=0)[0]


@cache
def population_filter(name: str, feature: str) -> np.ndarray:
    if name == "rotation":
        theory = PLANES["rotation_exponential_wide"].theory()
        given = population(theory.covariance, theory.eye, theory.motion, feature=feature, regularization=1e-5)
    else:
        given = replace(WORLDS[name], feature=feature).population(5)
    return given.components(1)[1][0]


def steerable(n_seeds: int) -> Iterator[str]:
    """Find the planes in which a rotation by ten degrees turns pairs of coordinates: 13 x 13 white pixels, a disc."""
    found = of_seeds(planes_of_bivectors(seed) for seed in range(n_seeds))
    columns = ("harmonics", "coherence", "turn [deg]")
    rows = ([name, *map(mean, one.T)] for name, one in found.items())
    yield from table(f"Planes of the average bivector, {n_seeds} seeds", ["", *columns], rows)


def planes_of_bivectors(seed: int) -> dict[str, tuple[float, float, float]]:
    rng = np.random.default_rng(seed)
    images, N, n = Images("rotation", 13, 23, dots=False), 6000, 13
    disc = ((np.indices((n, n)).reshape(2, -1) - (n - 1) / 2) ** 2).sum(axis=0) <= (n / 2) ** 2
    z = rng.normal(size=(N, 23, 23))
    found = {}
    for way in ("one way", "both ways"):
        senses = np.ones(N) if way == "one way" else rng.choice([-1, 1], N)
        x, y = in_disc(images, z, senses, disc)
        values, vectors = np.linalg.eigh((x.T @ x + y.T @ y) / (2 * N))
        Z = vectors / np.sqrt(np.maximum(values, 1e-2 * values.max())) @ vectors.T
        a, b = x @ Z, y @ Z
        turned, E = np.linalg.eigh(1j * (b.T @ a - a.T @ b) / N)
        leading = E[:, np.argsort(-turned)[:20]]
        X, Y = (some @ Z for some in in_disc(images, rng.normal(size=(1500, 23, 23)), np.ones(1500), disc))
        Q = np.linalg.qr(rng.normal(size=(disc.sum(), 40)))[0]
        for name, basis in ((way, leading), (f"random planes, {way}", Q[:, :20] + 1j * Q[:, 20:])):
            filters = np.zeros((n * n, 40))
            filters[disc] = np.hstack([basis.real, basis.imag])
            found[name] = (circular_harmonics(filters, n), *turning(X @ basis, Y @ basis))
    return found


def in_disc(images: Images, z: np.ndarray, senses: np.ndarray, disc: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pixels of a disc, before and after a turn by ten degrees, one way or the other."""
    inner = slice(images.edge, images.edge + images.n)
    after = images.turned(z, np.deg2rad(10 * senses))
    return z[:, inner, inner].reshape(len(z), -1)[:, disc], after.reshape(len(z), -1)[:, disc]


def turning(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """Return how coherent coordinates in planes are, complex, before and after, and by how much they turn [deg]."""
    together = (np.conj(before) * after).sum(axis=0)
    sizes = np.sqrt((np.abs(before) ** 2).sum(axis=0) * (np.abs(after) ** 2).sum(axis=0))
    return float((np.abs(together) / sizes).mean()), float(np.degrees(np.abs(np.angle(together)).mean()))
