"""Offline optima of similarity matching, what the online networks reach, and the max-min forms (C26, C35)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.lessons import RATE
from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS
from flymotion.similarity.features import OuterProducts, as_features
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.optima import (
    cross_term,
    descend,
    lyapunov,
    offline_sm,
    optimal_synapses,
    similarity_objective,
)
from flymotion.similarity.rivals import OuterProductPCA

__all__ = ["CLAIMS", "QUICK", "Config", "Optimum", "Reconstruction", "check", "work"]

CLAIMS = {
    "C26": "offline optima are eigensolutions; online SM comes near",
    "C35": "the min-max forms agree with the objective",
}

KINDS = ("L1", "plain")
"""The paper's feature in world L1; Gaussian vectors of ten features."""

SHOWN = np.arange(0, 360, 5.0)
"""Points of the ring that are shown to what learned on it [deg]."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Samples of each kind.
    n_components : int
        Outputs K.
    n_offline : int
        Samples of the offline problem, whose Gram matrix is that many squared.
    n_starts : int
        Random starts of the descent.
    n_online : int
        Samples that the online network learns from.
    n_units, n_ring : int
        Units of NSM on the ring, and samples of it.
    """

    n_seeds: int = 10
    n_components: int = 2
    n_offline: int = 300
    n_starts: int = 5
    n_online: int = 50_000
    n_units: int = 8
    n_ring: int = 20_000


QUICK = {"n_seeds": 2, "n_starts": 3}


class Optimum(NamedTuple):
    """One kind of data, offline and online."""

    descent: np.ndarray
    """Objective of Eq. 12 after descent over that of the eigensolution, minus 1; one for each start."""
    share: np.ndarray
    """Similarity that the online network captures of the most that any K outputs can."""
    lyapunov: np.ndarray
    """Relative difference of Eq. 12 and its min-max form, Eq. 4."""
    cross_term: np.ndarray
    """Relative difference of the two sides of Eq. 13."""


class Reconstruction(NamedTuple):
    """Share of the change left unexplained by one operator, fitted by alternating least squares."""

    before: np.ndarray
    """dx = theta A x, Eq. 9."""
    midpoint: np.ndarray
    """dx = theta A (x + x_next) / 2, Eq. 23 (eq:reconstruct_mid_point)."""


def work(config: Config) -> Work:
    """Solve offline and learn online, reconstruct, and learn on a ring (Sengupta et al. 2018)."""
    n = config.n_seeds
    return {
        "optimum": {kind: each_seed(_optimum, n, config, kind) for kind in KINDS},
        "reconstruction": {world: each_seed(_reconstruct, n, world) for world in WORLDS},
        "ring": each_seed(_ring, n, config),
    }


def _draw(config: Config, kind: str, n: int, seed: int) -> Any:
    if kind == "L1":
        return WORLDS["L1"].lesson(5, n, [seed, 26]).chi
    return np.random.default_rng([seed, 26]).standard_normal((n, 10)) * np.linspace(2.0, 0.2, 10)


def _optimum(config: Config, kind: str, seed: int) -> Optimum:
    k, samples = config.n_components, _draw(config, kind, config.n_online, seed)
    few = samples[: config.n_offline]
    gram = as_features(few).gram()
    theta = offline_sm(gram, k)
    least = similarity_objective(gram, theta)
    rng = np.random.default_rng([seed, 27])
    size = np.sqrt(np.trace(gram) / gram.size)
    starts = [size * rng.standard_normal(theta.shape) for _ in range(config.n_starts)]
    found = [similarity_objective(gram, descend(gram, start)) / least - 1 for start in starts]
    most = (OuterProductPCA(k).fit(samples).explained_energy_ ** 2).sum()
    online = SimilarityMatching(k, forgetting=1 - RATE, n_passes=6).fit(samples)
    W, M = optimal_synapses(theta, few)
    T = len(gram)
    min_max = (gram**2).sum() / T**2 + 2 / T * lyapunov(theta, few, W, M)
    correlation = ((theta @ theta.T) * gram).sum() / T**2
    return Optimum(
        np.array(found),
        np.array(online.score(samples) / most),
        np.array(abs(min_max / least - 1)),
        np.array(abs(cross_term(theta, few, W) / correlation - 1)),
    )


def _ring(config: Config, seed: int) -> np.ndarray:
    """Return outputs of NSM's units all round, shape (n_shown, n_units)."""
    angles = np.random.default_rng([seed, 28]).uniform(0, 2 * np.pi, config.n_ring)
    network = NonnegativeSimilarityMatching(config.n_units, forgetting=1 - RATE).fit(_points(angles))
    return network.transform(_points(np.radians(SHOWN)))


def _points(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _reconstruct(world: str, seed: int) -> Reconstruction:
    pairs = WORLDS[world].pairs(5, 5000, [seed, 35])
    left = [_unexplained(pairs.after - pairs.before, x) for x in (pairs.before, (pairs.before + pairs.after) / 2)]
    return Reconstruction(*map(np.array, left))


def _unexplained(dx: np.ndarray, x: np.ndarray, *, n_steps: int = 200) -> float:
    """Alternate the best theta for A with the best A for theta, in Eq. 9 with K = 1."""
    chi = OuterProducts(dx, x)
    A = OuterProductPCA(1).fit(chi).generators_[0]
    for _ in range(n_steps):
        pushed = x @ A.T
        theta = (dx * pushed).sum(axis=1) / (pushed**2).sum(axis=1)
        A = np.linalg.solve((x * theta[:, None] ** 2).T @ x, chi.accumulate(theta[:, None])[0].T).T
    return float(((dx - theta[:, None] * (x @ A.T)) ** 2).sum() / (dx**2).sum())  # Eqs. 9, 23


# -- claims ----------------------------------------------------------------------------------------------------------


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C26 and C35."""

    def of(name: str) -> dict[str, np.ndarray]:
        return {kind: getattr(optimum, name) for kind, optimum in found["optimum"].items()}

    title = "objective of Eq. 12 after descent from random starts, relative to the eigensolution's, minus 1"
    sizes = {kind: np.abs(relative) for kind, relative in of("descent").items()}
    yield below("C26.descent", title, sizes, 1e-6, note=f"{config.n_starts} starts a seed")
    yield above("C26.online", "similarity that online SM captures, of what any K outputs can", of("share"), 0.95)
    yield from _check_ring(found["ring"])
    for name, sides in (("lyapunov", "Eq. 12 and Eq. 4"), ("cross_term", "the sides of Eq. 13")):
        yield below(f"C35.{name}", f"relative difference of {sides} at the optimum", of(name), 1e-8)
    title = "change left unexplained by one operator on the midpoint (Eq. 23), relative to Eq. 9"
    for world, left in found["reconstruction"].items():
        before, midpoint = np.median(left, axis=1)
        note = f"median shares left: Eq. 9 {before:.4f}, midpoint {midpoint:.4f}; {world}, n = 5, not whitened"
        yield report(f"C35.midpoint_{world}", title, midpoint / before, seeds=config.n_seeds, note=note)


def _check_ring(outputs: np.ndarray) -> Iterator[Claim]:
    """Report how units tile the ring: how many, where, how wide; outputs of shape (n_seeds, n_shown, n_units)."""
    note, active = "uniform ring in the plane", outputs > 1e-9
    units = active.any(axis=1).sum(axis=1)
    title = f"active units of NSM with {outputs.shape[2]} on a ring, fewest"
    yield report("C26.ring_active", title, units, worst=np.min, note=note)
    vectors = np.einsum("sau,a->su", outputs, np.exp(1j * np.radians(SHOWN)))
    gaps = np.array([_largest_gap(np.degrees(np.angle(row[np.abs(row) > 1e-9]))) for row in vectors])
    yield report("C26.ring_gap", "largest gap between preferred angles", gaps, worst=np.max, unit="deg", note=note)
    widths, title = active.mean(axis=1) * 360, "median width of a unit's field"
    yield report("C26.ring_width", title, widths, worst=lambda w: np.median(w[w > 0]), unit="deg", note=note)


def _largest_gap(angles: np.ndarray) -> float:
    """Return the largest angle between neighbours on the circle [deg]."""
    around = np.sort(angles % 360)
    return np.diff(np.append(around, around[0] + 360)).max()
