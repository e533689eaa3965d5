"""Moving gratings: learning from them (Section 2.5; C6), and output against speed (Section 2.2; C8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from flymotion.claims.learning import N_KMEANS, RATE
from flymotion.claims.rows import Claim, above, report, within
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import (
    WORLDS,
    all_over,
    moved,
    rightward_first,
    share_right,
    stack,
)
from flymotion.frames import FramePairs
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import Grating, Scene

__all__ = ["Config", "Learned", "Responses", "Result", "check", "jobs", "run"]

REGULARIZATION = 1e-2
"""Of the whitening of gratings: a few wavelengths leave directions that hold next to no variance."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of either experiment.
    n : int
        Pixels.
    wavelengths : tuple of float
        Of the gratings learned from and shown [pixels].
    n_pairs, n_test : int
        Pairs to learn from, and new ones to test with.
    n_speeds : int
        Speeds up to the peak; gratings are also shown at as many beyond it.
    n_phases, n_places : int
        Over which the output to gratings and to noise is averaged.
    """

    n_seeds: int = 10
    n: int = 5
    wavelengths: tuple[float, ...] = (6.0, 8.0, 12.0, 16.0)
    n_pairs: int = 50_000
    n_test: int = 40_000
    n_speeds: int = 10
    n_phases: int = 64
    n_places: int = 16_384

    @classmethod
    def quick(cls) -> Config:
        """Return fewer seeds."""
        return cls(n_seeds=2)


class Learned(NamedTuple):
    """What is learned from gratings of several wavelengths (C6), random phases, the optics and shifts of L1."""

    filters: np.ndarray
    """NSM's, shape (2, n, n), rightward motion's first."""
    nsm: np.ndarray
    """Share of new pairs whose direction NSM's filters tell, for each wavelength."""
    kmeans: np.ndarray
    """The same for K-means."""


class Responses(NamedTuple):
    """Mean outputs of NSM, trained in L1, against speed (C8).

    Outputs have axes (..., speed, direction of motion, unit); directions and units are right, left.
    """

    to_gratings: np.ndarray
    """Shape (n_wavelengths, 2 n_speeds - 1, 2, 2), at speeds from 0 to half a wavelength, both excluded."""
    to_noise: np.ndarray
    """Shape (n_speeds, 2, 2), up to the peak."""
    peak: np.ndarray
    """Speed up to which theory's output to noise grows [pixels per frame]."""


@dataclass(frozen=True)
class Result:
    """Both experiments; every array has an axis of seeds first."""

    config: Config
    learned: Learned
    responses: Responses


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work."""
    return [partial(job, config, seed) for job in (_learn, _respond) for seed in range(config.n_seeds)]


def run(config: Config, each: Each = in_turn) -> Result:
    """Learn from gratings, and show gratings and noise to what was learned from noise."""
    results = list(each(jobs(config)))
    return Result(config, stack(results[: config.n_seeds]), stack(results[config.n_seeds :]))


def _gratings(config: Config, n_pairs: int, rng: np.random.Generator) -> list[FramePairs]:
    world, each = WORLDS["L1"], n_pairs // len(config.wavelengths)
    eye = world.eye(config.n)
    return [sample_pairs(Grating(length), eye, world.motion, each, random_state=rng) for length in config.wavelengths]


def _learn(config: Config, seed: int) -> Learned:
    rng = np.random.default_rng([seed, 6])
    pairs = FramePairs.concatenate(_gratings(config, config.n_pairs, rng))
    pairs = pairs[rng.permutation(len(pairs))]
    whitening = ZCAWhitening(REGULARIZATION).fit(pairs)

    def see(some: FramePairs) -> Any:
        return outer_products(whitening.transform(some), WORLDS["L1"].feature)

    chi = see(pairs)
    network = NonnegativeSimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi)
    kmeans = OuterProductKMeans(2, n_init=10, random_state=seed).fit(chi[:N_KMEANS])
    both = [learner.generators_[rightward_first(learner.generators_)] for learner in (network, kmeans)]
    tests = _gratings(config, config.n_test, rng)
    nsm, centres = ([share_right(see(t).project(f[:1] - f[1:])[:, 0], t) for t in tests] for f in both)
    return Learned(both[0], np.array(nsm), np.array(centres))


def _respond(config: Config, seed: int) -> Responses:
    world = WORLDS["L1"]
    whitening, chi = world.lesson(config.n, config.n_pairs, [seed, 8])
    network = NonnegativeSimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi)
    order = rightward_first(network.generators_)

    def outputs(scene: Scene, places: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        shown = [[moved(scene, world.eye(config.n), places, s * way) for way in (1, -1)] for s in speeds]
        features = [[outer_products(whitening.transform(pairs), world.feature) for pairs in row] for row in shown]
        return np.array([[network.transform(chi)[:, order].mean(axis=0) for chi in row] for row in features])

    phases = np.arange(config.n_phases) / config.n_phases
    speeds = np.arange(1, 2 * config.n_speeds) / (4 * config.n_speeds)
    to_gratings = [outputs(Grating(length), phases * length, speeds * length) for length in config.wavelengths]
    theory = world.population(config.n)
    peak = theory.peak_speed(theory.components(1)[1][0])
    noise = world.scene(np.random.default_rng([seed, 9]))
    to_noise = outputs(
        noise, all_over(noise, config.n_places), peak * np.arange(1, config.n_speeds + 1) / config.n_speeds
    )
    return Responses(np.array(to_gratings), to_noise, np.array(peak))


# -- claims ------------------------------------------------------------------------------------------------------


def check(result: Result) -> list[Claim]:
    """State C6 and C8."""
    config, learned, responses = result.config, result.learned, result.responses
    seeds, m = config.n_seeds, config.n_speeds
    world = f"optics and shifts of L1, wavelengths {', '.join(f'{w:g}' for w in config.wavelengths)} pixels"
    whitened = f"{world}; whitening regularised by {REGULARIZATION:g}"
    cosines = cosine(learned.filters[:, 0], learned.filters[:, 1])
    title = "accuracy of direction on new gratings, worst wavelength"
    upward = "rank correlation of the preferred unit's mean output with speed, both directions: "
    gratings, noise = responses.to_gratings, responses.to_noise
    right = np.stack([gratings[..., 0, 0] > gratings[..., 0, 1], gratings[..., 1, 1] > gratings[..., 1, 0]])
    every = "share of speeds up to half a wavelength at which the mean output is larger in the right unit"
    up_to = f"to the population's peak, {responses.peak[0]:.3f} pixels per frame"
    return [
        above("C6.accuracy", f"{title}, NSM", learned.nsm.min(), 0.95, seeds=seeds, note=whitened),
        report("C6.accuracy_kmeans", f"{title}, K-means", learned.kmeans.min(), seeds=seeds, note=whitened),
        report("C6.cos", "cosine of NSM's two filters", cosines.max(), seeds=seeds, note=whitened),
        _exactly_1("C8.gratings", upward + "gratings", _rank_correlation(gratings[:, :, :m]), seeds, world),
        _exactly_1("C8.sign", every, right.mean(), seeds, world),
        _exactly_1("C8.noise", upward + "noise", _rank_correlation(noise), seeds, up_to),
    ]


def _exactly_1(id: str, title: str, value: float, seeds: int, note: str) -> Claim:
    return within(id, title, value, 1 - 1e-9, 1 + 1e-9, seeds=seeds, note=note)


def _rank_correlation(outputs: np.ndarray) -> float:
    """Return the least over all curves; each direction's own unit."""
    curves = np.concatenate([outputs[..., way, way].reshape(-1, outputs.shape[-3]) for way in (0, 1)])
    return min(float(spearmanr(np.arange(len(curve)), curve)[0]) for curve in curves)
