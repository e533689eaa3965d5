"""Self-motion: a spherical eye that turns learns roll, pitch and yaw (C27; the conjecture of Suppl. D).

120 directions all round, K = 6: one unit for each sense of each axis; one turn a pair, from any attitude, of a size
uniform up to the largest. Such an eye sees the whole scene in every frame, so the mean of one scene hardly varies, and
whitening makes the most of the little that it does: the mean of the next scene then drowns everything. (Averages with
labels from one scene named 1.00, 1.00, 0.89 and 0.26 of the turns in another; 1.00 of all where scenes have mean 0.)
Hence several scenes a seed. The same is learned by both eyes of a fly (:mod:`flymotion.claims.turns.fly_eyes`), and by
one of them in panoramas made of photographs, where it is not as good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from flymotion.claims.beside import beside, nulls_by
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.turns import fly_eyes
from flymotion.claims.turns.harmonic_scenes import HarmonicScenes
from flymotion.claims.ways import (
    FEATURES,
    LIKE,
    RIDGE,
    Scored,
    early_vision,
    labelled,
    learn,
    least_of_ways,
    succeeded,
)
from flymotion.frames import FramePairs
from flymotion.generators import Generators, derivative_operator
from flymotion.generators.theory import population
from flymotion.plots.filter_sheets import filter_sheet
from flymotion.world.compound_eyes import buchner
from flymotion.world.eyes import Sphere
from flymotion.world.motions import Turn
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import SphericalNoise, SphericalScene, spherical_covariance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "derivatives", "figures", "learn_turns", "work"]

CLAIMS = {"C27": "a spherical eye that turns learns roll, pitch and yaw"}

EYE = Sphere.evenly(120, sigma=5.0)
CORRELATION_ANGLE = 15.0
MOTION = Turn(5.7)


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds: scenes and pairs are drawn anew.
    n_scenes : int
        Scenes to learn from, and as many new ones to test in.
    n_pairs, n_test : int
        Pairs to learn from, and new ones to test with.
    n_eye_seeds : int
        Seeds of a fly's eyes, ``n_seeds`` at most.
    n_eye_pairs, n_eye_test : int
        Pairs that a fly's eyes learn from, and new ones.
    n_panorama_pairs, n_panorama_test : int
        Pairs that its left eye learns from in panoramas, and new ones.
    """

    n_seeds: int = 20
    n_scenes: int = 12
    n_pairs: int = 7200
    n_test: int = 1200
    n_eye_seeds: int = 3
    n_eye_pairs: int = 2400
    n_eye_test: int = 1200
    n_panorama_pairs: int = 1000
    n_panorama_test: int = 400


QUICK = {"n_seeds": 1}


def work(config: Config) -> Work:
    """Let NSM learn."""
    n_eye_seeds = min(config.n_seeds, config.n_eye_seeds)
    return {
        "learned": each_seed(_learn_in_noise, config.n_seeds, config),
        "eyes": each_seed(_learn_on_eyes, n_eye_seeds, config),
        "panoramas": each_seed(_learn_in_panoramas, n_eye_seeds, config),
    }


def _learn_on_eyes(config: Config, seed: int) -> dict[str, dict[str, Scored]]:
    scenes = HarmonicScenes(CORRELATION_ANGLE, buchner("both"))
    return fly_eyes.learn_on_eyes(scenes, MOTION, config.n_eye_pairs, config.n_eye_test, [seed, 3])


def _learn_in_panoramas(config: Config, seed: int) -> dict[str, Scored]:
    noise = HarmonicScenes(CORRELATION_ANGLE, buchner("left"))
    return fly_eyes.learn_in_panoramas(noise, MOTION, config.n_panorama_pairs, config.n_panorama_test, [seed, 4])


def _learn_in_noise(config: Config, seed: int) -> dict[str, dict[str, Scored]]:
    seen, new = (
        [SphericalNoise(CORRELATION_ANGLE, random_state=[seed, k, scene]) for scene in range(config.n_scenes)]
        for k in range(2)
    )
    n_pairs, n_test = config.n_pairs, config.n_test
    return learn_turns(seen, new, EYE, MOTION, _generators, n_pairs=n_pairs, n_test=n_test, seed=[seed, 2])


def _generators(Z: np.ndarray) -> np.ndarray:
    covariance = spherical_covariance(CORRELATION_ANGLE, EYE.sigma)
    return population(covariance, EYE, MOTION, whitening=Z, regularization=RIDGE).generators().operators


def learn_turns(
    scenes: Sequence[SphericalScene],
    new_scenes: Sequence[SphericalScene],
    eye: Sphere,
    motion: Turn,
    analytic: Callable[[np.ndarray], np.ndarray],
    *,
    n_pairs: int,
    n_test: int,
    seed: Any,
    vision: Pipeline | None = None,
    features: Sequence[str] = tuple(FEATURES),
) -> dict[str, dict[str, Scored]]:
    """Learn from turns of an eye in several scenes, as many in each: by feature, what NSM learned, and its nulls.

    Parameters
    ----------
    scenes, new_scenes : sequence of SphericalScene
        To learn from, and to test in; they may be the same.
    eye : Sphere
        Viewing directions and optics.
    motion : Turn
        Steps, along one axis a pair.
    analytic : callable
        From the whitening Z, shape (n, n), to generators on whitened frames, shape (3, n, n).
    n_pairs, n_test : int
        Pairs to learn from, and new ones, in all.
    seed : int or sequence of int
        Of the attitudes and turns.
    vision : Pipeline, optional
        What happens to frames first; by default as in :func:`~flymotion.claims.ways.early_vision`.
    features : sequence of str
        Keys of :data:`flymotion.similarity.features.FEATURES`.

    Raises
    ------
    ValueError
        Fewer pairs than scenes.
    """
    rng = np.random.default_rng(seed)
    pairs = _well_mixed(scenes, eye, motion, n_pairs, rng)
    new = _well_mixed(new_scenes, eye, motion, n_test, rng)
    lessons = labelled(vision or early_vision(), eye, motion, analytic, pairs, new, features)
    return {feature: learn(given, int(rng.integers(2**32))) for feature, given in lessons.items()}


def _well_mixed(
    scenes: Sequence[SphericalScene], eye: Sphere, motion: Turn, n_pairs: int, rng: np.random.Generator
) -> FramePairs:
    """Draw as many pairs in each scene, the scenes well mixed."""
    if n_pairs < len(scenes):
        raise ValueError(f"{n_pairs} pairs in {len(scenes)} scenes; expected at least one in each")
    parts = [sample_pairs(scene, eye, motion, n_pairs // len(scenes), rng) for scene in scenes]
    pairs = FramePairs.concatenate(parts)
    return pairs[rng.permutation(len(pairs))]


def derivatives(Z: np.ndarray, eye: Sphere, motion: Turn) -> np.ndarray:
    """Return the discrete derivatives along the flow of each axis, on frames whitened by Z: Z A Z^-1."""
    operators = np.stack([derivative_operator(eye, flow) for flow in motion.flow(eye.positions)])
    return Z @ operators @ np.linalg.pinv(Z, rcond=1e-10)


# -- claims ----------------------------------------------------------------------------------------------------------


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C27, of evenly spread pixels and of a fly's eyes."""
    angles = f"noise of {CORRELATION_ANGLE:g} deg, turns up to {MOTION.sizes.max():g} deg"
    of_pixels = found["learned"]
    yield from _accuracy(of_pixels, "", "", f"{angles}, {config.n_pairs} pairs")
    for feature, words in FEATURES.items():
        nsm, start = (of_pixels[feature][which] for which in ("nsm", "start"))
        title = f"seeds in which all six ways are found, with cosines above {LIKE}, {words}: NSM"
        note = f"of the start alone {int(succeeded(start).sum())}"
        end = _END[feature]
        yield report(f"C27.seeds{end}", title, succeeded(nsm), worst=np.sum, unit="seeds", note=note)
    yield from _cosines(of_pixels, "", "", "")
    how = f"{config.n_eye_pairs} pairs, each in a scene of its own, ridge of {fly_eyes.RIDGE:g}"
    yield from _accuracy(found["eyes"], "eye_", " of a fly's two eyes", f"{angles}, {how}")
    yield from _cosines(found["eyes"], "eye_", " of a fly's two eyes", f"{how}; ")
    yield from _in_panoramas(found["panoramas"], config)


_END = {"change": "", "midpoint": "_midpoint"}


def _accuracy(learned: Found, which: str, whose: str, how: str) -> Iterator[Claim]:
    for feature, words in FEATURES.items():
        nsm = learned[feature]["nsm"]
        title = f"share of new pairs{whose} whose axis and sense are named, {words}"
        note = f"{how}, mean {nsm.accuracy.mean():.4f}"
        row = above(f"C27.{which}accuracy{_END[feature]}", f"{title}: NSM, K = 6", nsm.accuracy, 0.99, note=note)
        yield from beside(row, **nulls_by(lambda null: null.accuracy, learned[feature], np.min))


def _in_panoramas(learned: Found, config: Config) -> Iterator[Claim]:
    """State what the left eye names where photographs are all round, which noise does not tell."""
    nsm = learned["nsm"].accuracy
    title = f"share of new pairs of a fly's left eye whose axis and sense are named, {FEATURES['change']}, panoramas "
    where = "eight panoramas of quarters of two photographs, each mirrored, new pairs in the same ones"
    note = f"{where}; {config.n_panorama_pairs} pairs, mean {nsm.mean():.4f}; in noise 0.99 is asked for"
    row = report("C27.eye_panoramas", f"{title}made of photographs: NSM, K = 6", nsm, worst=np.min, note=note)
    names = NULLS | {"population": "the generators of noise"}
    yield from beside(row, **nulls_by(lambda null: null.accuracy, learned, np.min, names))


def _cosines(learned: Found, which: str, whose: str, how: str) -> Iterator[Claim]:
    for feature, words in FEATURES.items():
        nsm = learned[feature]["nsm"]
        title = f"cosine of filters{whose} with the population's generators, {words}"
        note = f"{how}{least_of_ways(MOTION, nsm.cosines)}"
        row = report(f"C27.{which}cos{_END[feature]}", f"{title}: NSM", nsm.cosines, worst=np.min, note=note)
        yield from beside(row, **nulls_by(lambda null: null.cosines, learned[feature], np.min))


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the flow that each filter implies, of the first seed."""
    filters = Generators(found["learned"]["change"]["nsm"].filters[0], EYE)
    title = "NSM, turns of a spherical eye, the paper's feature: flow that the filters imply"
    return {"filters_turns": filter_sheet(filters, list(map(MOTION.called, MOTION.ways)), suptitle=title)}
