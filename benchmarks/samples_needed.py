"""How many samples learners of a stream need: python benchmarks/samples_needed.py [NAME ...] [--seeds N].

The error is the share of the principal subspace that is missed, ``1 - |U Q|^2 / K`` for orthonormal rows U and columns
Q: half the square of the relative subspace error of Giovannucci et al. 2018, so that 0.01 is 0.14 of theirs. U is that
of the population where it is known, else of many other samples. Numbers are medians over the seeds. docs:
streaming-rivals.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import orth
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import IncrementalPCA

from flymotion.claims.transformations.planes import Plane
from flymotion.claims.worlds import WORLDS
from flymotion.similarity import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.rivals import (
    CCIPCA,
    AdaOja,
    FastSimilarityMatching,
    OjaSubspace,
    OuterProductKMeans,
    OuterProductPCA,
)

ENOUGH = 0.01
"""Share missed that counts as found."""


def missed(components: np.ndarray, U: np.ndarray) -> float:
    """Return the share of the span of U's rows that components miss."""
    return float(1 - np.linalg.norm(U @ orth(components.T)) ** 2 / len(U))


def cosine(components: np.ndarray, U: np.ndarray) -> float:
    """Return the cosine of the largest principal angle."""
    return float(np.linalg.svd(U @ orth(components.T), compute_uv=False).min())


# -- data: samples to learn from, and the principal subspace -----------------------------------------------------------


def plain(seed: int, n: int = 25, K: int = 3, n_samples: int = 40_000) -> tuple[Any, np.ndarray]:
    """Gaussian vectors: K eigenvalues from 1 to a half, the others 0.05."""
    rng = np.random.default_rng([seed, 1])
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0].T
    roots = np.sqrt(np.concatenate([np.linspace(1, 0.5, K), np.full(n - K, 0.05)]))
    return rng.standard_normal((n_samples, n)) * roots @ basis, basis[:K]


def spiked(seed: int, rho: float, n_samples: int = 20_000) -> tuple[Any, np.ndarray]:
    """Vectors as in the paper of fast similarity matching: 256 numbers, 16 eigenvalues from 1 to a half, noise rho."""
    rng = np.random.default_rng([seed, 2])
    U = np.linalg.qr(rng.standard_normal((256, 16)))[0].T
    signal = rng.standard_normal((n_samples, 16)) * np.sqrt(np.linspace(1, 0.5, 16)) @ U
    return signal + np.sqrt(rho) * rng.standard_normal((n_samples, 256)), U


def digits(seed: int, K: int, n_passes: int = 15) -> tuple[Any, np.ndarray]:
    """Handwritten digits less their mean, over and over in a random order, and their own principal subspace."""
    X = load_digits().data
    X = X - X.mean(axis=0)
    rng = np.random.default_rng([seed, 3])
    order = np.concatenate([rng.permutation(len(X)) for _ in range(n_passes)])
    return X[order], OuterProductPCA(K).fit(X).components_


@cache
def others(world: str, K: int) -> np.ndarray:
    """Return the principal subspace of many other pairs."""
    chi = WORLDS[world].lesson(5, 400_000, [999, 4]).chi if world in WORLDS else plane(999, 100_000)
    return OuterProductPCA(K).fit(chi).components_


def line(seed: int, world: str, K: int) -> tuple[Any, np.ndarray]:
    return WORLDS[world].lesson(5, 40_000, [seed, 5]).chi, others(world, K)


def plane(seed: int, n_pairs: int) -> OuterProducts:
    """Rotations of 5 x 5 pixels, the paper's feature."""
    return Plane("rotation", "exponential", "wide", n_pairs=n_pairs).lessons(100, seed, ["change"])["change"].chi


DATA: dict[str, tuple[int, Callable[[int], tuple[Any, np.ndarray]]]] = {
    "plain, K = 3": (3, plain),
    "spiked, rho = 0.01, K = 16": (16, lambda seed: spiked(seed, 0.01)),
    "spiked, rho = 0.1, K = 16": (16, lambda seed: spiked(seed, 0.1)),
    "digits, K = 4": (4, lambda seed: digits(seed, 4)),
    "digits, K = 16": (16, lambda seed: digits(seed, 16)),
    "L1, K = 1": (1, lambda seed: line(seed, "L1", 1)),
    "L1, K = 6": (6, lambda seed: line(seed, "L1", 6)),
    "L2, K = 1": (1, lambda seed: line(seed, "L2", 1)),
    "L2, K = 6": (6, lambda seed: line(seed, "L2", 6)),
    "rotation, K = 1": (1, lambda seed: (plane(seed, 20_000), others("rotation", 1))),
}


# -- learners ----------------------------------------------------------------------------------------------------------


class Written:
    """Scikit-learn's IncrementalPCA on batches of chi written out, 50 at a time; of both signs, uncentred."""

    def __init__(self, K: int, both_signs: bool = True) -> None:
        self.pca, self.both_signs = IncrementalPCA(K), both_signs

    def partial_fit(self, samples: Any) -> None:
        for start in range(0, len(samples), 50):
            some = samples[start : start + 50]
            X = some.dense() if isinstance(some, OuterProducts) else some
            self.pca.partial_fit(np.concatenate([X, -X]) if self.both_signs else X)

    @property
    def components_(self) -> np.ndarray:
        return self.pca.components_


class Leading(NonnegativeSimilarityMatching):
    """NSM of 2 K units, and the K leading directions that their weights span."""

    @property
    def components_(self) -> np.ndarray:
        return np.linalg.svd(self.W_, full_matrices=False)[2][: self.n_components // 2]


class Batch:
    """All samples so far at once: what can be had."""

    def __init__(self, K: int) -> None:
        self.K, self.moment = K, 0.0

    def partial_fit(self, samples: Any) -> None:
        for start in range(0, len(samples), 5000):
            some = samples[start : start + 5000]
            X = some.dense() if isinstance(some, OuterProducts) else some
            self.moment = self.moment + X.T @ X

    @property
    def components_(self) -> np.ndarray:
        return np.linalg.eigh(self.moment)[1].T[: -self.K - 1 : -1]


LEARNERS: dict[str, Callable[[int, int], Any]] = {
    "PCA of all so far": lambda K, seed: Batch(K),
    "IncrementalPCA, both signs": lambda K, seed: Written(K),
    "IncrementalPCA as it is (centred)": lambda K, seed: Written(K, both_signs=False),
    "SM (batch warm-up)": lambda K, seed: SimilarityMatching(K),
    "SM, forgetting 0.9995": lambda K, seed: SimilarityMatching(K, forgetting=0.9995),
    "NSM of 2 K units (batch warm-up)": lambda K, seed: Leading(2 * K),
    "FastSimilarityMatching, gamma 2": lambda K, seed: FastSimilarityMatching(K, gamma=2.0, random_state=seed),
    "FastSimilarityMatching": lambda K, seed: FastSimilarityMatching(K, random_state=seed),
    "FastSimilarityMatching, gamma 0.6": lambda K, seed: FastSimilarityMatching(K, gamma=0.6, random_state=seed),
    "CCIPCA, amnesic 0": lambda K, seed: CCIPCA(K, amnesic=0.0),
    "CCIPCA": lambda K, seed: CCIPCA(K),
    "AdaOja, blocks of 10": lambda K, seed: AdaOja(K, random_state=seed),
    "AdaOja, blocks of 256": lambda K, seed: AdaOja(K, block_size=256, random_state=seed),
    "OjaSubspace, rate 1": lambda K, seed: OjaSubspace(K, learning_rate=1.0, random_state=seed),
    "OjaSubspace": lambda K, seed: OjaSubspace(K, random_state=seed),
    "OjaSubspace, rate 10": lambda K, seed: OjaSubspace(K, learning_rate=10.0, random_state=seed),
    "OjaSubspace, ordered": lambda K, seed: OjaSubspace(K, ordered=True, random_state=seed),
}


def marks(n_samples: int) -> np.ndarray:
    """Return numbers of samples after which to look, a quarter apart."""
    spaced = np.geomspace(50, n_samples, int(np.log(n_samples / 50) / np.log(1.25)) + 1)
    return np.unique((np.ceil(spaced / 50) * 50).astype(int))


def curves(name: str, n_seeds: int) -> Iterator[str]:
    """Tell each learner's errors, when it is there for good, and whether it agrees with PCA of the same samples."""
    K, data = DATA[name]
    errors: dict[str, list[list[float]]] = {learner: [] for learner in LEARNERS}
    alike: dict[str, list[float]] = {learner: [] for learner in LEARNERS}
    null = []
    for seed in range(n_seeds):
        samples, U = data(seed)
        look = marks(len(samples))
        best = OuterProductPCA(K).fit(samples).components_
        null.append(missed(np.random.default_rng(seed).standard_normal(U.shape), U))
        for learner, make in LEARNERS.items():
            one, errors_of = make(K, seed), []
            for start, stop in zip([0, *look], look, strict=False):
                one.partial_fit(samples[start:stop])
                errors_of.append(missed(one.components_, U))
            errors[learner].append(errors_of)
            alike[learner].append(cosine(one.components_, best))
    shown = [int(np.abs(look - at).argmin()) for at in (100, 1000, 10_000, look[-1])]
    yield f"\n{name} ({n_seeds} seeds): error after {', '.join(f'{look[i]:,}' for i in shown)} samples; samples "
    yield "to 0.01 (worst seed); least cosine with PCA of the same samples"
    yield f"| a random subspace | {np.median(null):.3f} | | | | | |"
    for learner, found in errors.items():
        needed = [needed_for(look, np.array(one)) for one in found]
        middle = np.median(np.array(found), axis=0)[shown]
        yield (
            f"| {learner} | {' | '.join(f'{error:.4f}' for error in middle)} | {told(np.median(needed))} "
            f"({told(max(needed))}) | {min(alike[learner]):.4f} |"
        )


def needed_for(look: np.ndarray, errors: np.ndarray) -> float:
    """Return the number of samples from which on the error is small enough; infinite if it is not at the end."""
    late = np.flatnonzero(errors > ENOUGH)
    first = late[-1] + 1 if late.size else 0
    return float(look[first]) if first < len(look) else np.inf


def told(number: float) -> str:
    return f"{number:,.0f}" if np.isfinite(number) else "not reached"


# -- what the rivals' papers say ---------------------------------------------------------------------------------------


def steps(n_seeds: int) -> Iterator[str]:
    """AdaOja's first guess, and the rate of Oja's rule, each over many orders of magnitude: errors at the end."""
    for name in ("plain, K = 3", "spiked, rho = 0.1, K = 16", "L1, K = 1", "rotation, K = 1"):
        K, data = DATA[name]
        given = [data(seed) for seed in range(n_seeds)]
        yield f"\n{name}: error at the end, median of {n_seeds} seeds (worst)"
        for what, make in {
            "AdaOja, blocks of 10, b0": lambda value, seed, K=K: AdaOja(K, b0=value, random_state=seed),
            "OjaSubspace, rate": lambda value, seed, K=K: OjaSubspace(K, learning_rate=value, random_state=seed),
            "OjaSubspace, decay 1/2, rate": lambda value, seed, K=K: OjaSubspace(
                K, learning_rate=value, decay=0.5, random_state=seed
            ),
        }.items():
            values = 10.0 ** np.arange(-6, 3) if "b0" in what else 10.0 ** np.arange(-2, 4)
            found = [[missed(make(v, s).fit(X).components_, U) for s, (X, U) in enumerate(given)] for v in values]
            cells = [f"{v:g}: {np.median(one):.4f} ({max(one):.4f})" for v, one in zip(values, found, strict=True)]
            yield f"| {what} | " + " | ".join(cells)


def order(n_seeds: int) -> Iterator[str]:
    """Components in their order: least cosine of each with the population's, and eigenvalues, on plain data."""
    learners = {name: LEARNERS[name] for name in LEARNERS if "NSM" not in name and "rate" not in name}
    for least, K in ((0.5, 3),):
        yield f"\ncomponents in order, eigenvalues from 1 to {least:g}, {n_seeds} seeds: least |cosine| of each"
        for learner, make in learners.items():
            found = []
            for seed in range(n_seeds):
                X, U = plain(seed)
                one = make(K, seed)
                one.partial_fit(X)
                C = one.components_
                found.append(np.abs(np.vecdot(C, U)) / np.linalg.norm(C, axis=1))
            yield f"| {learner} | {np.min(found, axis=0).round(4)} |"


def clusters(n_seeds: int) -> Iterator[str]:
    """K-means: MiniBatchKMeans on chi written out beside ours on all of it."""
    for world in WORLDS:
        found: dict[str, list[tuple[float, float, float]]] = {}
        for seed in range(n_seeds):
            chi = WORLDS[world].lesson(5, 20_000, [seed, 6]).chi
            first = others(world, 1)[0]
            X = chi.dense()
            start = chi[np.random.default_rng(seed).choice(len(chi), 2, replace=False)].dense()
            runs = {
                "OuterProductKMeans, 10 starts": lambda s=seed, c=chi: OuterProductKMeans(2, random_state=s).fit(c),
                "OuterProductKMeans, 1 start": lambda s=seed, c=chi: OuterProductKMeans(
                    2, n_init=1, random_state=s
                ).fit(c),
                "MiniBatchKMeans": lambda s=seed, x=X: MiniBatchKMeans(2, random_state=s, n_init=3).fit(x),
                "MiniBatchKMeans, one pass": lambda s=seed, x=X: one_pass(s, x),
                "two samples": lambda start=start: start,
            }
            for name, run in runs.items():
                before = time.perf_counter()
                made = run()
                seconds = time.perf_counter() - before
                centers = made if isinstance(made, np.ndarray) else made.cluster_centers_
                inertia = np.min([((X - c) ** 2).sum(axis=1) for c in centers], axis=0).sum() / (X**2).sum()
                across = centers[0] - centers[1]
                opposite = float(centers[0] @ centers[1] / np.prod(np.linalg.norm(centers, axis=1)))
                alike = abs(float(across @ first)) / np.linalg.norm(across)
                found.setdefault(name, []).append((inertia, alike, opposite, seconds))
        yield f"\n{world}, 2 clusters, {n_seeds} seeds: inertia / energy; |cos| of the centres' difference with the "
        yield "first component, median (worst); cos of both centres, median (worst); seconds"
        for name, rows in found.items():
            inertia, alike, opposite, seconds = np.array(rows).T
            yield (
                f"| {name} | {np.median(inertia):.4f} | {np.median(alike):.3f} ({alike.min():.3f}) | "
                f"{np.median(opposite):.2f} ({opposite.max():.2f}) | {np.median(seconds):.2f} |"
            )


def one_pass(seed: int, X: np.ndarray) -> MiniBatchKMeans:
    model = MiniBatchKMeans(2, random_state=seed)
    for start in range(0, len(X), 1000):
        model.partial_fit(X[start : start + 1000])
    return model


ASIDE: dict[str, Callable[[int], Iterator[str]]] = {"steps": steps, "order": order, "clusters": clusters}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join([*DATA, *ASIDE])}; all by default")
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args(arguments)
    for name in given.names or [*DATA, *ASIDE]:
        for text in ASIDE[name](given.seeds) if name in ASIDE else curves(name, given.seeds):
            print(text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
