"""Worlds in which learners are compared: what to learn from, new content to test with, and what there is to be found.

Each is whitened on the pairs to learn from, of the largest number: an eye's early vision is older than its motion
detectors, and the same for all of them. New content is another scene, or another photograph. Noise of sensors comes
before early vision, to both frames of all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline

from flymotion.brevity import in_brief
from flymotion.claims.content.classes import photographed
from flymotion.claims.transformations.planes import PLANES, Plane
from flymotion.claims.ways import RIDGE
from flymotion.claims.worlds import WORLDS, World
from flymotion.frames import FramePairs
from flymotion.generators.theory import Population, population
from flymotion.learner.sources import BUNDLED, PHOTO_SHIFT, PHOTO_SIGMA, load_photographs
from flymotion.photoreceptors import ContrastNormalization, SensorNoise, ZCAWhitening
from flymotion.world.eyes import FLY_SIGMA, Eye, Grid, Line
from flymotion.world.motions import Motion, Translation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import FourierScene, photograph

__all__ = ["ARENAS", "Arena", "Course", "course"]

N_RING = 15
"""Pixels of the ring."""

N_ROWS = 40
"""Rows of photographs that a line of pixels is also tested with."""

Drawn = tuple[FramePairs, FramePairs, FramePairs | None]


class Arena(NamedTuple):
    """A world, and how its pairs are drawn and seen."""

    words: str
    """What it is, and where it is from."""
    theory: Callable[..., Population]
    """Takes ``whitening`` and ``regularization``, as :func:`flymotion.generators.theory.population` does."""
    draw: Callable[[int, int, int], Drawn]
    """From numbers of pairs, to learn from and new, and a seed: these pairs, and pairs of quite another content."""
    ridge: float = 0.0
    """Of the whitening."""
    contrast: bool = False
    """Whether each pair is divided by its contrast."""


class Course(NamedTuple):
    """Pairs of one world as a learner sees them, and what was shown."""

    eye: Eye
    motion: Motion
    Z: np.ndarray
    """Whitening, shape (n, n)."""
    analytic: np.ndarray
    """Generators of the motion's p parameters, on whitened frames, shape (p, n, n)."""
    pairs: FramePairs
    """To learn from, with their motion."""
    new: FramePairs
    other: FramePairs | None
    """Of quite another content, if there is such."""

    def __repr__(self) -> str:
        return in_brief(self)

    def way(self, pairs: FramePairs) -> np.ndarray:
        """Return which of the motion's ways each pair moved, shape (n_pairs,)."""
        return np.argmax(np.asarray(pairs.motion) @ self.motion.ways.T, axis=1)


@lru_cache(maxsize=2)
def course(name: str, n_pairs: int, n_new: int, snr: float | None, seed: int) -> Course:
    """Draw pairs of an arena, add the noise of sensors, and let early vision see them.

    Parameters
    ----------
    name : str
        Key of :data:`ARENAS`.
    n_pairs, n_new : int
        Pairs to learn from, and new ones.
    snr : float or None
        Variance of the pixels over that of their noise [dB]; None is no noise.
    seed : int
        Of all.
    """
    arena = ARENAS[name]
    drawn: list[Any] = list(arena.draw(n_pairs, n_new, seed))
    share = 0.0 if snr is None else 10 ** (-snr / 10)
    if share:
        noise = SensorNoise(math.sqrt(share) * float(np.std(drawn[0].before)), random_state=[seed, 7]).fit(drawn[0])
        drawn = [None if each is None else noise.transform(each) for each in drawn]
    whitening = ZCAWhitening(arena.ridge)
    vision = make_pipeline(whitening, *([ContrastNormalization(1.0)] if arena.contrast else []))
    vision.fit(drawn[0])
    theory = arena.theory(whitening=whitening.matrix_, regularization=arena.ridge + share)
    seen: list[Any] = [None if each is None else vision.transform(each).flat() for each in drawn]
    return Course(theory.eye, theory.motion, whitening.matrix_, theory.generators().operators, *seen)


# -- lines -----------------------------------------------------------------------------------------------------------


def _line_theory(world: World, n: int, *, whitening: Any, regularization: float) -> Population:
    theory = world.population(n, whitening)
    return population(theory.covariance, theory.eye, world.motion, whitening=whitening, regularization=regularization)


def _line_pairs(world: World, n: int, n_pairs: int, n_new: int, seed: int) -> Drawn:
    """Draw pairs of a line of pixels, from two scenes of noise; and of rows of photographs, of the noise's contrast."""
    pairs, new = world.pairs(n, n_pairs, [seed, 0]), world.pairs(n, n_new, [seed, 1])
    rng = np.random.default_rng([seed, 2])
    rows = photographed(_photographs(), N_ROWS, rng)
    each = math.ceil(n_new / N_ROWS)
    seen = FramePairs.concatenate([sample_pairs(row, world.eye(n), world.motion, each, rng) for row in rows])
    mean, scale = seen.before.mean(), pairs.before.std() / seen.before.std()
    return pairs, new, seen.map(lambda frames: scale * (frames - mean))


# -- photographs -----------------------------------------------------------------------------------------------------

PHOTO_EYE = Grid(5, 5, PHOTO_SIGMA)
PHOTO_MOTION = Translation(PHOTO_SHIFT)


@cache
def _photographs() -> list[np.ndarray]:
    """Return the photographs that a dependency ships, luminance over its mean."""
    return [image / image.mean() for image in load_photographs([BUNDLED])]


@cache
def _scenes() -> list[FourierScene]:
    return [photograph(image, pixels_per_spacing=1.0) for image in _photographs()]


@cache
def _photo_theory() -> Population:
    """Return the theory of Gaussian noise that has the power of the photograph that is learned from."""
    scene = _scenes()[0]
    power = np.abs(scene.modes) ** 2
    power[tuple(size // 2 for size in power.shape)] = 0  # the mean
    spectrum = FourierScene(power.astype(complex), scene.period, scene.extent)
    known: dict[bytes, np.ndarray] = {}

    def covariance(between: np.ndarray) -> np.ndarray:
        key = between.tobytes()
        if key not in known:
            known[key] = spectrum.sample(between.reshape(1, -1, 2), PHOTO_SIGMA * math.sqrt(2)).reshape(
                between.shape[:-1]
            )
        return known[key]

    return population(covariance, PHOTO_EYE, PHOTO_MOTION)


def _seen_theory(*, whitening: Any, regularization: float) -> Population:
    theory = _photo_theory()
    return population(theory.covariance, theory.eye, theory.motion, whitening=whitening, regularization=regularization)


def _seen_pairs(n_pairs: int, n_new: int, seed: int) -> Drawn:
    rng, scenes = np.random.default_rng([seed, 0]), _scenes()
    pairs, new = (
        sample_pairs(scene, PHOTO_EYE, PHOTO_MOTION, n, rng) for scene, n in zip(scenes, (n_pairs, n_new), strict=True)
    )
    return pairs, new, None


# -- planes of Gaussian noise ----------------------------------------------------------------------------------------


def _plane_theory(plane: Plane, *, whitening: Any, regularization: float) -> Population:
    theory = plane.theory()
    return population(theory.covariance, theory.eye, theory.motion, whitening=whitening, regularization=regularization)


def _plane_pairs(plane: Plane, n_pairs: int, n_new: int, seed: int) -> Drawn:
    rng = np.random.default_rng([seed, 0])
    return plane.pairs(n_pairs, rng), plane.pairs(n_new, rng), None


# -- a ring ----------------------------------------------------------------------------------------------------------

RING_EYE = Line(N_RING, 0.0)
RING_MOTION = Translation(1.0, ndim=1)
WAVES = np.arange(N_RING // 2 + 1)
"""Whole waves around the ring, of which content is made."""

POWER = 1 / (1.0 + WAVES**2)
"""Variance of each of them."""


def _ring_theory(*, whitening: Any, regularization: float) -> Population:
    def covariance(between: np.ndarray) -> np.ndarray:
        return np.cos(between * (2 * math.pi / N_RING) * WAVES) @ POWER

    return population(covariance, RING_EYE, RING_MOTION, whitening=whitening, regularization=regularization)


def _ring_pairs(n_pairs: int, n_new: int, seed: int) -> Drawn:
    """Draw images that go once around, and move them by turning the phases of their waves."""
    rng = np.random.default_rng([seed, 0])
    turns = 2j * math.pi / N_RING * WAVES

    def some(n: int) -> FramePairs:
        steps = RING_MOTION.steps(n, rng)
        waves = np.sqrt(POWER) * (rng.standard_normal((2, n, len(WAVES))) * [[[1]], [[1j]]]).sum(axis=0)
        shown = np.exp(np.arange(N_RING)[:, None] * turns)
        before, after = ((each @ shown.T).real for each in (waves, waves * np.exp(-steps * turns)))
        return FramePairs(before, after, steps, RING_MOTION.names, RING_EYE)

    return some(n_pairs), some(n_new), None


FAR = World(FLY_SIGMA, 3.0, "midpoint")
"""Shifts larger than what first order in them can tell."""

ARENAS: dict[str, Arena] = {
    "L1": Arena(
        "a line of 5 pixels, sigma 0.8 px, exponential noise of 3 px, shifts up to 0.1 px (Sec. 3.2, Fig. 2)",
        partial(_line_theory, WORLDS["L1"], 5),
        partial(_line_pairs, WORLDS["L1"], 5),
    ),
    "L2": Arena(
        "a line of 15 pixels of a fly's eye, sigma 0.475 px, the same noise, shifts up to 0.5 px (Sec. 3.2)",
        partial(_line_theory, WORLDS["L2"], 15),
        partial(_line_pairs, WORLDS["L2"], 15),
    ),
    "far": Arena(
        "the same line and noise, shifts up to 3 px (Miao & Rao 2007, of larger motions)",
        partial(_line_theory, FAR, 15),
        partial(_line_pairs, FAR, 15),
    ),
    "ring": Arena(
        "cyclic images of 15 pixels, shifts up to 1 px by the phases of their waves (Rao & Ruderman 1999)",
        _ring_theory,
        _ring_pairs,
    ),
    "translation": Arena(
        "5 x 5 pixels, sigma 0.8 px, exponential noise of 3 px, four translations up to 0.3 px (Fig. 6)",
        partial(_plane_theory, PLANES["translation_exponential_wide"]),
        partial(_plane_pairs, PLANES["translation_exponential_wide"]),
        ridge=RIDGE,
        contrast=True,
    ),
    "rotation": Arena(
        "5 x 5 pixels, sigma 0.8 px, exponential noise of 3 px, rotations up to 0.12 rad (Fig. 5)",
        partial(_plane_theory, PLANES["rotation_exponential_wide"]),
        partial(_plane_pairs, PLANES["rotation_exponential_wide"]),
        ridge=RIDGE,
        contrast=True,
    ),
    "photographs": Arena(
        "5 x 5 pixels, sigma 0.6 px, one photograph to learn from and another to test with, four translations up to "
        "0.3 px",
        _seen_theory,
        _seen_pairs,
        ridge=1e-4,
        contrast=True,
    ),
}
"""Worlds by the names that ``flymotion rivals`` knows them by."""
