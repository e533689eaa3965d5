"""Slow features of pairs of frames, beside ours and nulls: the tables of docs/slow-features.md, in Markdown.

python benchmarks/rival_pages/slow_features.py [--part NAME] [--seeds N]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from slow_clips import as_pairs, clips, read, unsteady, velocity, whitened
from slow_units import Problem, both, noise_units, photograph_units
from tables import Part, of_seeds, run_parts, spread, table

from flymotion.claims.lessons import two_units
from flymotion.frames import FramePairs
from flymotion.photoreceptors import ContrastNormalization
from flymotion.relations import SlowFeatures
from flymotion.similarity.features import outer_products
from flymotion.similarity.rivals import OuterProductPCA

PLACES = (("L1", 5), ("L2", 5), ("L1", 9), ("L2", 9), ("L1", 15), ("L2", 15), ("G", 25))
"""Worlds, and numbers of pixels; of G the rotation, 5 x 5 pixels."""

FEATURES = {"L1": "change", "L2": "midpoint", "G": "midpoint"}

N_NEW = 5000
"""Pairs to test."""


def lesson(
    world: str, n: int, seed: int, n_pairs: int = 10_000, noise: float = 0.0, ridge: float | None = None
) -> tuple[FramePairs, FramePairs]:
    """Return whitened pairs to learn from, of clips of three frames, and new pairs.

    ``noise`` is of the eye, in units of the frames' standard deviation.
    """
    learned, v = clips(world, n, n_pairs // 2, 3, seed)
    new, v_new = clips(world, n, N_NEW, 2, seed + 1000)
    rng, sigma = np.random.default_rng([seed, 13]), noise * learned.std()
    if noise:
        learned, new = (some + sigma * rng.standard_normal(some.shape) for some in (learned, new))
    ridge = (1e-5 if world == "G" else 0.0) if ridge is None else ridge
    learned, new = whitened(learned, new, ridge=ridge)
    return as_pairs(learned, v), as_pairs(new, v_new)


Told = dict[str, tuple[float, float]]
"""Share of directions right, and correlation with velocity, by the name of what tells."""


class Reading:
    """What is told of new pairs by outputs read with the labels of those learned from, by the outputs' name."""

    def __init__(self, pairs: FramePairs, new: FramePairs) -> None:
        self.pairs, self.new, self.told = pairs, new, Told()

    def put(self, name: str, outputs: np.ndarray, new_outputs: np.ndarray, *, first: tuple[int, ...] = ()) -> None:
        """Read all outputs, or the first K of them for each K of ``first``."""
        for K in first or (outputs.shape[1],):
            called = f"{name}, K = {K}" if first else name
            self.told[called] = read(outputs[:, :K], velocity(self.pairs), new_outputs[:, :K], velocity(self.new))

    def learner(self, name: str, model: Any, **how: Any) -> Any:
        model.fit(self.pairs)
        self.put(name, model.transform(self.pairs), model.transform(self.new), **how)
        return model

    def ours(self, feature: str, contrast: bool = False) -> None:
        """Read NSM, PCA and averages by label; each pair's contrast divided out where asked for."""
        pairs, new = self.pairs, self.new
        if contrast:
            stage = ContrastNormalization(1.0).fit(pairs)
            pairs, new = stage.transform(pairs), stage.transform(new)
        chi, of_new = outer_products(pairs, feature), outer_products(new, feature)
        models: dict[str, Any] = {"NSM": two_units(chi), "PCA of chi": OuterProductPCA(1).fit(chi)}
        for name, model in models.items():
            self.put(name, model.transform(chi), model.transform(of_new))
        v = velocity(pairs)
        labelled = chi.accumulate((v / len(v))[:, None])
        self.put("averages by label", chi.project(labelled), of_new.project(labelled))

    def nulls(self, seed: int) -> None:
        """Read other functions of the same products: random, fastest, their principal components, and all."""
        problem = Problem(self.pairs)
        u, u_new = both(self.pairs), both(self.new)
        rng = np.random.default_rng([seed, 99])
        for name, w in {"random forms": problem.random(12, rng), "fastest": problem.fastest(12)}.items():
            self.put(name, problem.respond(w, u), problem.respond(w, u_new), first=(2, 4, 12))
        raw, raw_new = (with_products(some - problem.mean) for some in (u, u_new))
        components = np.linalg.eigh(np.cov(raw.T))[1][:, ::-1][:, :12]
        centre = raw.mean(axis=0)
        self.put("PCA of products", (raw - centre) @ components, (raw_new - centre) @ components, first=(2, 4, 12))
        everything = problem.whitening
        self.put("all products, by labels", problem.respond(everything, u), problem.respond(everything, u_new))


def with_products(f: np.ndarray) -> np.ndarray:
    """Return numbers, shape (m, K), and all their products of two, (m, K (K + 3) / 2)."""
    i, j = np.triu_indices(f.shape[1])
    return np.hstack([f, f[:, i] * f[:, j]])


# -- parts of the page -------------------------------------------------------------------------------------------------


def worlds(n_seeds: int) -> Iterator[str]:
    """Tell what outputs tell of motion in each world: direction, velocity, and nulls beside."""
    told, best = {}, []
    for world, n in PLACES:
        measured = [in_world(world, n, seed) for seed in range(n_seeds)]
        told[f"{world}, n = {n}"] = of_seeds(one for one, _ in measured)
        best.append([f"{world}, n = {n}", *map(spread, np.array([aside for _, aside in measured]).T)])
    names = list(told["L1, n = 5"])
    for column, what in enumerate(("direction right", "correlation with velocity")):
        rows = (
            [name, *(spread(one[name][:, column]) if name in one else "" for one in told.values())] for name in names
        )
        yield from table(f"In the paper's worlds, {n_seeds} seeds: mean [least, largest]", [what, *told], rows)
    header = ["", "the output that goes with velocity most", "its correlation", "seconds to learn"]
    yield from table(f"12 slow features, {n_seeds} seeds", header, best)


def in_world(world: str, n: int, seed: int) -> tuple[Told, tuple[float, float, float]]:
    """Read all learners and nulls; and see which of the slow features goes with velocity."""
    reading = Reading(*lesson(world, n, seed))
    start = time.perf_counter()
    slow = SlowFeatures(12, of="pairs").fit(reading.pairs)
    seconds = time.perf_counter() - start
    y = slow.transform(reading.pairs)
    reading.put("SFA", y, slow.transform(reading.new), first=(1, 2, 4, 8, 12))
    alike = np.abs([np.corrcoef(one, velocity(reading.pairs))[0, 1] for one in y.T])
    reading.ours(FEATURES[world], contrast=world == "G")
    reading.nulls(seed)
    frames = SlowFeatures(4).fit(reading.pairs)
    f, g = (frames.transform(some) for some in (reading.pairs, reading.new))
    reading.put("SFA of frames", f, g)
    reading.put("SFA of frames, products", with_products(f), with_products(g))
    reading.learner("linear SFA", SlowFeatures(4, of="pairs", expansion="linear"))
    if world != "G":
        reading.told["SFA, K = 4, motion new at every frame"] = without_lasting(world, n, seed)
    return reading.told, (float(alike.argmax() + 1), float(alike.max()), seconds)


def without_lasting(world: str, n: int, seed: int) -> tuple[float, float]:
    """Return what slow features tell of steady motion that have learned from unsteady motion."""
    learned, _ = clips(world, n, 5000, 3, seed)
    new, v_new = clips(world, n, N_NEW, 2, seed + 1000)
    other, v = unsteady(world, n, 5000, seed)
    _, new, other = whitened(learned, new, other)
    pairs, tested = as_pairs(other, v), as_pairs(new, v_new)
    slow = SlowFeatures(4, of="pairs").fit(pairs)
    return read(slow.transform(pairs), velocity(pairs), slow.transform(tested), v_new)


def contrast(n_seeds: int) -> Iterator[str]:
    """Tell what of rotation is told where each clip's contrast is divided out, and where it is not."""

    def measured(seed: int) -> Told:
        shown = [clips("G", 25, 5000, 3, seed), clips("G", 25, N_NEW, 2, seed + 1000)]
        frames = whitened(*(one for one, _ in shown), ridge=1e-5)
        told: Told = {}
        for how in ("as seen", "in units of the clip's contrast"):
            pairs, new = (as_pairs(some, v) for some, (_, v) in zip(frames, shown, strict=True))
            reading = Reading(pairs, new)
            reading.learner("SFA", SlowFeatures(12, of="pairs"), first=(8, 12))
            reading.ours("midpoint")
            told |= {f"{name}, {how}": value for name, value in reading.told.items()}
            frames = [some / np.sqrt((some**2).mean(axis=(1, 2), keepdims=True)) for some in frames]
        return told

    found = of_seeds(map(measured, range(n_seeds)))
    rows = ([name, spread(values[:, 0]), spread(values[:, 1])] for name, values in found.items())
    yield from table(f"Rotation, {n_seeds} seeds", ["", "direction right", "correlation with velocity"], rows)


def needed(n_seeds: int) -> Iterator[str]:
    """Tell directions after few pairs, in L2 of 9 pixels."""

    def measured(n_pairs: int, seed: int) -> Told:
        reading = Reading(*lesson("L2", 9, seed, n_pairs, ridge=1e-5))
        reading.learner("SFA, K = 4", SlowFeatures(4, of="pairs"))
        reading.ours("midpoint")
        return reading.told

    yield from by_amount("pairs", (100, 200, 400, 1000, 3000, 10_000), measured, n_seeds)


def noise(n_seeds: int) -> Iterator[str]:
    """Tell directions in noise of the eye, in L2 of 9 pixels."""

    def measured(sigma: float, seed: int) -> Told:
        reading = Reading(*lesson("L2", 9, seed, noise=sigma))
        reading.learner("SFA", SlowFeatures(24, of="pairs"), first=(4, 12, 24))
        reading.ours("midpoint")
        chi, of_new = (outer_products(some, "midpoint") for some in (reading.pairs, reading.new))
        many = OuterProductPCA(24).fit(chi)
        reading.put("PCA of chi, K = 24", many.transform(chi), many.transform(of_new))
        return reading.told

    yield from by_amount("noise", (0.03, 0.1, 0.3), measured, n_seeds)


def by_amount(what: str, amounts: tuple[Any, ...], measured: Callable[[Any, int], Told], n_seeds: int) -> Iterator[str]:
    found = {amount: of_seeds(measured(amount, seed) for seed in range(n_seeds)) for amount in amounts}
    rows = ([amount, *(spread(one[:, 0]) for one in told.values())] for amount, told in found.items())
    yield from table(f"Direction right in L2, n = 9, {n_seeds} seeds", [what, *found[amounts[0]]], rows)


def operators(n_seeds: int) -> Iterator[str]:
    """Tell how alike operators are to the averages by label, and how antisymmetric."""

    def measured(world: str, n: int, seed: int) -> dict[str, float]:
        pairs, _ = lesson(world, n, seed)
        v, slow = velocity(pairs), SlowFeatures(4, of="pairs").fit(pairs)
        y = slow.transform(pairs)
        weights = np.linalg.lstsq(np.c_[np.ones(len(y)), y], v, rcond=None)[0][1:]
        chi = outer_products(pairs, "midpoint")
        labelled, goes_with = chi.accumulate(np.c_[v, (y - y.mean(axis=0)) @ weights] / len(v))
        A, first = np.tensordot(weights, slow.generators_, 1), OuterProductPCA(1).fit(chi).generators_[0]
        return {
            "weights of SFA, cosine": cosine(A, labelled),
            "antisymmetric share": antisymmetric_share(A),
            "PCA, cosine": cosine(first, labelled),
            "its antisymmetric share": antisymmetric_share(first),
            "what SFA's outputs go with, cosine": cosine(goes_with, labelled),
        }

    found = {place: of_seeds(measured(*place, seed) for seed in range(n_seeds)) for place in PLACES[:-1]}
    rows = ([f"{world}, n = {n}", *map(spread, one.values())] for (world, n), one in found.items())
    yield from table(f"Beside averages by label, {n_seeds} seeds", ["", *found[PLACES[0]]], rows)


def cosine(A: np.ndarray, B: np.ndarray) -> float:
    return float(abs(np.sum(A * B)) / np.linalg.norm(A) / np.linalg.norm(B))


def antisymmetric_share(A: np.ndarray) -> float:
    return float(np.linalg.norm(A - A.T) ** 2 / 4 / np.linalg.norm(A) ** 2)


PARTS: dict[str, tuple[int, Part]] = {
    "noise-units": (5, noise_units),
    "photograph-units": (2, photograph_units),
    "worlds": (5, worlds),
    "contrast": (5, contrast),
    "needed": (5, needed),
    "noise": (5, noise),
    "operators": (5, operators),
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS, sys.argv[1:])
