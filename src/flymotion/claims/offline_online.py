"""Offline optima of similarity matching, what the online networks reach, and the max-min forms (C26, C35)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.learning import RATE
from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import WORLDS, stack
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

__all__ = ["KINDS", "Config", "Optimum", "Reconstruction", "Result", "Ring", "check", "jobs", "run"]

KINDS = ("L1", "plain")
"""The paper's feature in world L1; Gaussian vectors of ten features."""


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

    @classmethod
    def quick(cls) -> Config:
        """Return fewer seeds and starts."""
        return cls(n_seeds=2, n_starts=3)


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


class Ring(NamedTuple):
    """What NSM learns on a ring (Sengupta et al. 2018)."""

    angles: np.ndarray
    """Points of the ring [deg]."""
    outputs: np.ndarray
    """Outputs of the units at those points, shape (n_angles, n_units)."""


class Reconstruction(NamedTuple):
    """Share of the change left unexplained by one operator, fitted by alternating least squares."""

    before: np.ndarray
    """dx = theta A x, Eq. 9."""
    midpoint: np.ndarray
    """dx = theta A (x + x_next) / 2, Eq. 24 (eq:reconstruct_mid_point)."""


@dataclass(frozen=True)
class Result:
    """Every array has an axis of seeds first."""

    optimum: dict[str, Optimum]
    ring: Ring
    reconstruction: dict[str, Reconstruction]


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work."""
    seeds = range(config.n_seeds)
    return [
        *(partial(_optimum, config, kind, seed) for kind in KINDS for seed in seeds),
        *(partial(_reconstruct, world, seed) for world in WORLDS for seed in seeds),
        *(partial(_ring, config, seed) for seed in seeds),
    ]


def run(config: Config, each: Each = in_turn) -> Result:
    """Solve offline, learn online, and reconstruct."""
    results = list(each(jobs(config)))
    groups = [stack(results[i : i + config.n_seeds]) for i in range(0, len(results), config.n_seeds)]
    optimum = dict(zip(KINDS, groups, strict=False))
    return Result(optimum, groups[-1], dict(zip(WORLDS, groups[len(KINDS) : -1], strict=True)))


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


def _ring(config: Config, seed: int) -> Ring:
    angles = np.random.default_rng([seed, 28]).uniform(0, 2 * np.pi, config.n_ring)
    network = NonnegativeSimilarityMatching(config.n_units, forgetting=1 - RATE)
    network.fit(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    shown = np.arange(0, 360, 5.0)
    radians = np.radians(shown)
    return Ring(shown, network.transform(np.stack([np.cos(radians), np.sin(radians)], axis=1)))


def _reconstruct(name: str, seed: int) -> Reconstruction:
    world = WORLDS[name]
    pairs = world.pairs(5, 5000, [seed, 35])
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
    return float(((dx - theta[:, None] * (x @ A.T)) ** 2).sum() / (dx**2).sum())


# -- claims ------------------------------------------------------------------------------------------------------


def check(result: Result) -> list[Claim]:
    """State C26 and C35."""
    optimum, seeds = result.optimum, len(result.ring.outputs)
    descent = {kind: np.abs(o.descent).max() for kind, o in optimum.items()}
    share = {kind: o.share.min() for kind, o in optimum.items()}
    four, thirteen = (max(getattr(o, name).max() for o in optimum.values()) for name in ("lyapunov", "cross_term"))
    starts = optimum["L1"].descent.shape[1]
    active, gap, width = _tiling(result.ring)
    title = "objective of Eq. 12 after descent from random starts, relative to the eigensolution's, minus 1"
    note = ", ".join(f"{kind} {value:.1e}" for kind, value in descent.items())
    shares = ", ".join(f"{kind} {value:.4f}" for kind, value in share.items())
    captured = "similarity that online SM captures, of what any K outputs can"
    ring = "uniform ring in the plane"
    units = result.ring.outputs.shape[2]
    left = {
        name: (float(np.median(r.before)), float(np.median(r.midpoint))) for name, r in result.reconstruction.items()
    }
    return [
        below("C26.descent", title, max(descent.values()), 1e-6, seeds=seeds, note=f"{note}; {starts} starts a seed"),
        above("C26.online", captured, min(share.values()), 0.95, seeds=seeds, note=shares),
        report(
            "C26.ring_active", f"active units of NSM with {units} on a ring, fewest", active, seeds=seeds, note=ring
        ),
        report("C26.ring_gap", "largest gap between preferred angles", gap, seeds=seeds, unit="deg", note=ring),
        report("C26.ring_width", "median width of a unit's field", width, seeds=seeds, unit="deg", note=ring),
        below("C35.lyapunov", "relative difference of Eq. 12 and Eq. 4 at the optimum", four, 1e-8, seeds=seeds),
        below(
            "C35.cross_term", "relative difference of the sides of Eq. 13 at the optimum", thirteen, 1e-8, seeds=seeds
        ),
        *(
            report(
                f"C35.midpoint_{name}",
                "change left unexplained by one operator on the midpoint (Eq. 24), relative to Eq. 9",
                after / before,
                seeds=seeds,
                note=f"median shares left: Eq. 9 {before:.4f}, midpoint {after:.4f}; {name}, n = 5, not whitened",
            )
            for name, (before, after) in left.items()
        ),
    ]


def _tiling(ring: Ring) -> tuple[int, float, float]:
    """Fewest active units, largest gap between neighbouring preferred angles, median width of a field [deg]."""
    active = (ring.outputs.max(axis=1) > 1e-9).sum(axis=1)
    vectors = np.einsum("sau,a->su", ring.outputs, np.exp(1j * np.radians(ring.angles[0])))
    gaps = []
    for row in vectors:
        preferred = np.sort(np.degrees(np.angle(row[np.abs(row) > 1e-9])) % 360)
        gaps.append(np.diff(np.append(preferred, preferred[0] + 360)).max())
    widths = (ring.outputs > 1e-9).mean(axis=1) * 360
    return int(active.min()), float(max(gaps)), float(np.median(widths[widths > 0]))
