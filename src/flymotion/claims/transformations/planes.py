"""Three worlds of flat eyes, and who learns in them.

A flat eye looks at isotropic noise through optics of 0.8 pixels; one motion a pair, of a size uniform up to the
largest, one unit a way to move. With a fly's 0.475 pixels single pairs of translations tell less: filters averaged with
labels then name the direction of 0.983 of them instead of 0.996, which leaves no room for C13's bound of 0.98.

============= ======== ==== =================================================
world         pixels   K    ways to move
============= ======== ==== =================================================
rotation      5 x 5    2    counter-clockwise, clockwise
translation   5 x 5    4    right, up, left, down
affine        9 x 9    12   both ways: x, y, rotation, zoom, two shears
============= ======== ==== =================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flymotion.claims.transformations.lessons import (
    RIDGE,
    Learned,
    Lesson,
    Signed,
    early_vision,
    learn,
    learn_signed,
    lesson,
    let_kmeans_learn,
)
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import stack
from flymotion.generators.theory import population
from flymotion.world.eyes import Grid
from flymotion.world.motions import Mixture, Motion, Rotation, Shear, Translation, Zoom
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import ExponentialNoise, Scene, SmoothNoise, exponential_covariance, smooth_covariance

__all__ = ["EXPONENTIAL", "PLANES", "SIGMA", "Config", "Plane", "Result", "jobs", "run"]

SIGMA = 0.8
"""Acceptance width [pixel spacings]."""

LENGTH = 3.0
"""Correlation length of the noise [pixel spacings]."""

PERIOD = 128.0
"""Of the scenes [pixel spacings]."""


@dataclass(frozen=True)
class Plane:
    """A flat eye that looks at isotropic noise.

    Parameters
    ----------
    eye : Grid
        Viewing positions and optics.
    motion : Motion
        Steps, along one parameter a pair.
    scene : callable
        Draws a scene, given ``random_state``.
    covariance : callable
        Of two pixels, optics included.
    n_pairs : int
        Pairs to learn from.
    """

    eye: Grid
    motion: Motion
    scene: Callable[..., Scene]
    covariance: Callable[..., np.ndarray]
    n_pairs: int

    def lesson(self, n_test: int, seed: int) -> Lesson:
        """Draw pairs to learn from, and new ones of another scene."""
        pairs, new = (
            sample_pairs(self.scene(random_state=[seed, k, 0]), self.eye, self.motion, n, [seed, k, 1])
            for k, n in enumerate((self.n_pairs, n_test))
        )
        return lesson(early_vision(), self.eye, self.motion, pairs, new)

    def generators(self, Z: np.ndarray) -> np.ndarray:
        """Return the population-optimal generators on frames whitened by Z, shape (p, n, n)."""
        theory = population(self.covariance, self.eye, self.motion, whitening=Z, regularization=RIDGE)
        return theory.generators().operators


_AFFINE = Mixture(Translation(0.3), Rotation(4.0), Zoom(0.07), Shear(0.07))
EXPONENTIAL = (
    partial(ExponentialNoise, LENGTH, ndim=2, period=PERIOD, sharpest=SIGMA),
    exponential_covariance(LENGTH, SIGMA, 2),
)
"""Exponential noise: what draws a scene, and the covariance of two pixels."""

_SMOOTH = partial(SmoothNoise, LENGTH, ndim=2, period=PERIOD), smooth_covariance(LENGTH, SIGMA, 2)

PLANES = {
    "rotation": Plane(Grid(5, 5, SIGMA), Rotation(7.0), *EXPONENTIAL, n_pairs=10_000),
    "translation": Plane(Grid(5, 5, SIGMA), Translation(0.3), *EXPONENTIAL, n_pairs=12_000),
    "affine": Plane(Grid(9, 9, SIGMA), _AFFINE, *_SMOOTH, n_pairs=20_000),
}
"""The worlds. The affine one has smooth noise: of it elliptic optics need few views, of exponential noise a hundred.
Whitened exponential noise has hardly a scale of its own, and is zoomed and sheared by almost antisymmetric operators.
"""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of rotation and translation: scenes and pairs are drawn anew (C10, C12, C13).
    n_seeds_affine : int
        Seeds of the affine world (C29, C32); no more than ``n_seeds``.
    n_test : int
        New pairs to test with.
    """

    n_seeds: int = 50
    n_seeds_affine: int = 5
    n_test: int = 2000

    @classmethod
    def quick(cls) -> Config:
        """Return one seed."""
        return cls(n_seeds=1)


@dataclass(frozen=True)
class Result:
    """What was learned; every array has an axis of seeds first."""

    nsm: dict[str, Learned]
    """In each world of ``PLANES``."""
    kmeans: Learned
    """In the world of rotations."""
    signed: dict[str, Signed]
    """SM and PCA in the worlds of rotations and of translations."""


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work."""
    seeds, few = range(config.n_seeds), range(min(config.n_seeds, config.n_seeds_affine))
    return [
        *(partial(_learn_affine, config.n_test, seed) for seed in few),
        *(partial(_learn_rotation, config.n_test, seed) for seed in seeds),
        *(partial(_learn_translation, config.n_test, seed) for seed in seeds),
    ]


def _learn_affine(n_test: int, seed: int) -> tuple[Learned]:
    given, analytic = _begin("affine", n_test, seed)
    return (learn(given, analytic),)


def _learn_rotation(n_test: int, seed: int) -> tuple[Learned, Signed, Learned]:
    given, analytic = _begin("rotation", n_test, seed)
    return learn(given, analytic), learn_signed(given, analytic), let_kmeans_learn(given, analytic, seed)


def _learn_translation(n_test: int, seed: int) -> tuple[Learned, Signed]:
    given, analytic = _begin("translation", n_test, seed)
    return learn(given, analytic), learn_signed(given, analytic)


def _begin(world: str, n_test: int, seed: int) -> tuple[Lesson, np.ndarray]:
    given = PLANES[world].lesson(n_test, seed)
    return given, PLANES[world].generators(given.Z)


def run(config: Config, each: Each = in_turn) -> Result:
    """Let all algorithms learn."""
    work = jobs(config)
    done = [(piece.func, learned) for piece, learned in zip(work, each(work), strict=True)]

    def of(learn: Any) -> list[Any]:
        return [stack(kind) for kind in zip(*(learned for f, learned in done if f is learn), strict=True)]

    (affine,), (rotation, rotation_signed, kmeans), (translation, translation_signed) = map(
        of, (_learn_affine, _learn_rotation, _learn_translation)
    )
    return Result(
        {"rotation": rotation, "translation": translation, "affine": affine},
        kmeans,
        {"rotation": rotation_signed, "translation": translation_signed},
    )
