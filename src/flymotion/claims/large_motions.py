r"""Large motions: repeated steps of a learned generator, its exponential, and how far motions can be followed (C11).

A rotation of 90 degrees in steps of 10: :math:`(1 + \theta A)^k x` beside :math:`\exp(k \theta A) x` beside the bar
itself, turned (Fig. 5c). And on larger eyes large motions followed by iteration, with what was learned from small ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.generators import Operators
from flymotion.learner.estimator import MotionLearner
from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit
from flymotion.world.eyes import FLY_SIGMA, Grid
from flymotion.world.motions import Motion, Rotation, Translation
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import Bar, ExponentialNoise, Scene, SmoothNoise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Bars", "Config", "check", "figures", "work"]

CLAIMS = {"C11": "a generator turns images, and follows large motions"}

STEP = 10.0
"""Of the rotation of the bar [deg]."""

N_STEPS = 9

FOLLOWED = {
    "rotation": (Rotation(3.0), Rotation(45.0, 5.0), "rotations of 5 to 45 degrees"),
    "translation": (Translation(0.3), Translation(2.0, 0.2), "shifts of 0.2 to 2 pixels"),
}
"""Motions to learn from on the larger eye; those to follow with what was learned, and in words."""


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


QUICK = {"n_seeds": 1}


class Bars(NamedTuple):
    """A bar after 0 to 9 steps, each of shape (10, 5, 5)."""

    first_order: np.ndarray
    """Moved by steps of the first order."""
    exponential: np.ndarray
    """The same by the exponential."""
    true: np.ndarray
    """The same, turned and seen by the eye."""


def work(config: Config) -> Work:
    """Turn the bar, and follow each kind of motion."""
    return {"bars": each_seed(_turn_bar, config.n_seeds, config)} | {
        kind: each_seed(_follow, config.n_seeds, config, kind) for kind in FOLLOWED
    }


def _learn(scene: Scene, eye: Grid, motion: Motion, n_pairs: int, seed: int) -> Operators:
    pairs = sample_pairs(scene, eye, motion, n_pairs, random_state=[seed, 11])
    return MotionLearner(len(motion.ways)).fit(pairs).generators_.fitted(pairs)


def _turn_bar(config: Config, seed: int) -> Bars:
    eye = Grid(5, 5, sigma=0.6)
    scene = ExponentialNoise(3.0, ndim=2, sharpest=eye.sigma, random_state=[seed, 5])
    turn = _learn(scene, eye, Rotation(5.0), config.n_pairs, seed)
    angles = STEP * np.arange(N_STEPS + 1)
    true = render(Bar(1.0, direction=-45.0, ndim=2), eye, Rotation(90.0).maps(-angles[:, None]))
    steps = [true[:1]]
    for _ in range(N_STEPS):
        steps.append(turn.apply(steps[-1], STEP))
    return Bars(np.concatenate(steps), turn.transform(np.repeat(true[:1], len(angles), axis=0), angles[:, None]), true)


def _follow(config: Config, kind: str, seed: int) -> np.ndarray:
    """Return relative errors of the estimates, of the length of the error vector, shape (n_followed,)."""
    small, large, _ = FOLLOWED[kind]
    eye = Grid(config.side, config.side, FLY_SIGMA)
    scene = SmoothNoise(3.0, ndim=2, period=1024.0, random_state=[seed, 15])
    operators = _learn(scene, eye, small, config.n_pairs, seed)
    pairs = sample_pairs(scene, eye, large, config.n_followed, random_state=[seed, 16])
    assert pairs.motion is not None
    return np.linalg.norm(operators.register(pairs) - pairs.motion, axis=1) / np.linalg.norm(pairs.motion, axis=1)


def _errors(moved: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Errors relative to the truth inside the inscribed disc, of bars of shape (..., 5, 5); shape (...)."""
    inside = np.linalg.norm(Grid(5, 5).positions, axis=1).reshape(5, 5) <= 2.0
    return np.linalg.norm((moved - true)[..., inside], axis=-1) / np.linalg.norm(true[..., inside], axis=-1)


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C11."""
    bars: Bars = found["bars"]
    first, whole = (_errors(moved[:, -1], bars.true[:, -1]) for moved in (bars.first_order, bars.exponential))
    what = "error inside the inscribed disc after 90 degrees in 9 steps"
    note = "5 x 5 pixels, acceptance width 0.6, exponential noise, NSM, 20,000 pairs of turns up to 5 degrees"
    yield above("C11.ratio", f"{what}: first-order steps over exponential", first / whole, 5, note=note)
    yield report("C11.first_order", f"{what}: first-order steps", first, worst=np.max, note=note)
    yield report("C11.exponential", f"{what}: exponential", whole, worst=np.max, note=note)
    far = "smooth noise of length 3 pixels, NSM, small motions learned, iterative estimate over the interior"
    for kind, (_, _, motions) in FOLLOWED.items():
        note = f"{far}; 15 x 15 pixels, 20,000 pairs; median {np.median(found[kind]):.4f}"
        yield below(f"C11.{kind}", f"largest relative error of {motions}", found[kind], 0.05, note=note)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw Fig. 5c: a bar turned by repeated first-order steps, by the exponential, and in truth; of the first seed."""
    steps, whole, true = (images[0] for images in found["bars"])
    figure = new_figure(1.05 * len(true) + 1.6, 4.3)
    panels = figure.subplots(3, len(true), squeeze=False)
    limit = symmetric_limit(true)
    names = ("first-order\nsteps", "exponential", "truth")
    for line, name, images in zip(panels, names, (steps, whole, true), strict=True):
        for axes, bar, error in zip(line, images, _errors(images, true), strict=True):
            image = axes.imshow(bar, cmap=signed_colours(), vmin=-limit, vmax=limit, interpolation="nearest")
            axes.set_xticks([])
            axes.set_yticks([])
            if name != "truth":
                axes.set_xlabel(f"error {error:.2f}", fontsize=7)
        line[0].set_ylabel(name, fontsize=9)
    for k, axes in enumerate(panels[0]):
        axes.set_title(f"{STEP * k:g} deg", fontsize=9)
    figure.colorbar(image, ax=list(panels.flat), label="intensity", shrink=0.8)
    figure.suptitle("a learned generator of rotation applied to a bar (errors inside the inscribed disc)", fontsize=10)
    return {"turned_bars": figure}
