r"""Large motions: repeated steps of a learned generator, its exponential, and how far motions can be followed (C11).

A rotation of 90 degrees in steps of 10: :math:`(1 + \theta A)^k x` beside :math:`\exp(k \theta A) x` beside the bar
itself, turned (Fig. 5c). And on larger eyes large motions followed by iteration, with what was learned from small ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import stack
from flymotion.generators import Operators
from flymotion.learner.estimator import MotionLearner
from flymotion.world.eyes import FLY_SIGMA, Grid
from flymotion.world.motions import Motion, Rotation, Translation
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import Bar, ExponentialNoise, Scene, SmoothNoise

__all__ = ["Config", "Result", "check", "jobs", "run"]

STEP = 10.0
"""Of the rotation of the bar [deg]."""

N_STEPS = 9

SMALL = {"rotation": Rotation(3.0), "translation": Translation(0.3)}
"""Motions to learn from on the larger eye."""

LARGE = {"rotation": Rotation(45.0, 5.0), "translation": Translation(2.0, 0.2)}
"""Motions to follow with what was learned."""


N_PIECES = 1 + len(LARGE)
"""Of work, for each seed."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds, each with scenes of its own.
    side : int
        Of the larger eye [pixels].
    n_pairs : int
        Pairs to learn from.
    n_followed : int
        Large motions of each kind to follow.
    """

    n_seeds: int = 5
    side: int = 15
    n_pairs: int = 20_000
    n_followed: int = 50

    @classmethod
    def quick(cls) -> Config:
        """Return fewer seeds."""
        return cls(n_seeds=1)


class Result(NamedTuple):
    """What came of it; every array has an axis of seeds first."""

    first_order: np.ndarray
    """Bars after 0 to 9 steps of the first order, shape (n_seeds, 10, 5, 5)."""
    exponential: np.ndarray
    """The same by the exponential."""
    true: np.ndarray
    """The same, turned and seen by the eye."""
    rotation: np.ndarray
    """Relative errors of the estimates of large rotations, shape (n_seeds, n_followed)."""
    translation: np.ndarray
    """The same of large translations, of the length of the error vector."""


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work: of each seed the bar, then each kind of motion."""
    work: list[partial[Any]] = []
    for seed in range(config.n_seeds):
        work += [partial(_turn_bar, config, seed), *(partial(_follow, config, seed, kind) for kind in LARGE)]
    return work


def run(config: Config, each: Each = in_turn) -> Result:
    """Learn, then move and follow."""
    done = list(each(jobs(config)))
    seeds = [done[i : i + N_PIECES] for i in range(0, len(done), N_PIECES)]
    return stack([Result(*bars, *followed) for bars, *followed in seeds])


def _learn(scene: Scene, eye: Grid, motion: Motion, n_pairs: int, seed: int) -> Operators:
    pairs = sample_pairs(scene, eye, motion, n_pairs, random_state=[seed, 11])
    return MotionLearner(len(motion.ways)).fit(pairs).generators_.fitted(pairs)


def _turn_bar(config: Config, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    eye = Grid(5, 5, sigma=0.6)
    scene = ExponentialNoise(3.0, ndim=2, sharpest=eye.sigma, random_state=[seed, 5])
    turn = _learn(scene, eye, Rotation(5.0), config.n_pairs, seed)
    angles = STEP * np.arange(N_STEPS + 1)
    true = render(Bar(1.0, angle=-45.0, ndim=2), eye, Rotation(90.0).maps(-angles[:, None]))
    steps = [true[:1]]
    for _ in range(N_STEPS):
        steps.append(turn.apply(steps[-1], STEP))
    return np.concatenate(steps), turn.transform(np.repeat(true[:1], len(angles), axis=0), angles[:, None]), true


def _follow(config: Config, seed: int, kind: str) -> np.ndarray:
    eye = Grid(config.side, config.side, FLY_SIGMA)
    scene = SmoothNoise(3.0, ndim=2, period=1024.0, random_state=[seed, 15])
    operators = _learn(scene, eye, SMALL[kind], config.n_pairs, seed)
    pairs = sample_pairs(scene, eye, LARGE[kind], config.n_followed, random_state=[seed, 16])
    error = operators.register(pairs) - pairs.motion
    assert pairs.motion is not None
    return np.linalg.norm(error, axis=1) / np.linalg.norm(pairs.motion, axis=1)


def errors(moved: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Errors relative to the truth inside the inscribed disc, of bars of shape (..., 5, 5); shape (...)."""
    inside = np.linalg.norm(Grid(5, 5).positions, axis=1).reshape(5, 5) <= 2.0
    return np.linalg.norm((moved - true)[..., inside], axis=-1) / np.linalg.norm(true[..., inside], axis=-1)


def check(result: Result) -> list[Claim]:
    """State C11."""
    n = len(result.true)
    first, whole = (errors(moved, result.true) for moved in (result.first_order, result.exponential))
    ratio = first[:, -1] / whole[:, -1]
    world = "5 x 5 pixels, acceptance width 0.6, exponential noise, NSM, 20,000 pairs of turns up to 5 degrees"
    far = "smooth noise of length 3 pixels, NSM, small motions learned, iterative estimate over the interior"
    what = "error inside the inscribed disc after 90 degrees in 9 steps"
    largest = {kind: getattr(result, kind).max() for kind in LARGE}
    typical = {kind: float(np.median(getattr(result, kind))) for kind in LARGE}
    return [
        above("C11.ratio", f"{what}: first-order steps over exponential", ratio.min(), 5, seeds=n, note=world),
        report("C11.first_order", f"{what}: first-order steps", first[:, -1].max(), seeds=n, note=world),
        report("C11.exponential", f"{what}: exponential", whole[:, -1].max(), seeds=n, note=world),
        *(
            below(
                f"C11.{kind}",
                f"largest relative error of {span}",
                largest[kind],
                0.05,
                seeds=n,
                note=f"{far}; 15 x 15 pixels, 20,000 pairs; median {typical[kind]:.4f}",
            )
            for kind, span in (
                ("rotation", "rotations of 5 to 45 degrees"),
                ("translation", "shifts of 0.2 to 2 pixels"),
            )
        ),
    ]
