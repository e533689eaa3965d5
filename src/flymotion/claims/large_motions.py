r"""Large motions: repeated steps of a learned generator, its exponential, and how far motions can be followed (C11).

A rotation of 90 degrees in steps of 10: :math:`(1 + \theta A)^k x` beside :math:`\exp(k \theta A) x` beside the bar
itself, turned (Fig. 5c), for the operator regressed after learning and for the learned filter itself, which has no
scale, and whose shape on whitened frames and in pixels is that of no operator on images. And on larger eyes large
motions followed by iteration, with what was learned from small ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.beside import beside, nulls_by
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.ways import RIDGE, early_vision, labelled, learn
from flymotion.generators import Generators, Operators
from flymotion.generators.theory import population
from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit
from flymotion.similarity.features import outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.world.eyes import FLY_SIGMA, Grid
from flymotion.world.motions import Rotation, Translation
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import Bar, ExponentialNoise, SmoothNoise, exponential_covariance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Bars", "Config", "check", "figures", "work"]

CLAIMS = {"C11": "a generator turns images, and follows large motions"}

STEP = 10.0
"""Of the rotation of the bar [deg]."""

N_STEPS = 9

TURN = Rotation(5.0)
"""Learned from, to turn the bar."""

FOLLOWED = {
    "rotation": (Rotation(3.0), Rotation(45.0, 5.0), "rotations of 5 to 45 degrees"),
    "translation": (Translation(0.3), Translation(2.0, 0.2), "shifts of 0.2 to 2 pixels"),
}
"""Motions to learn from on the larger eye; those to follow with what was learned, and in words."""

LEAST = {"rotation": 0.02, "translation": 0.04}
"""Largest relative errors asked for."""

WARM_UP = 1000
"""Pairs that NSM starts from on the larger eye: by default 5000, which takes longer than learning."""


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


QUICK = {"n_seeds": 1, "n_pairs": 12_000}


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


def _turn_bar(config: Config, seed: int) -> dict[str, Bars]:
    """Turn the bar by the operator regressed after learning, by those after nulls, and by the learned filters."""
    eye = Grid(5, 5, sigma=0.6)
    scene = ExponentialNoise(3.0, ndim=2, sharpest=eye.sigma, random_state=[seed, 5])
    pairs = sample_pairs(scene, eye, TURN, config.n_pairs, random_state=[seed, 11])
    given = labelled(early_vision(), eye, TURN, _generators, pairs, pairs[:1000], ["midpoint"])["midpoint"]
    turns = {}
    for name, found in learn(given, seed).items():
        filters = Generators(found.filters, eye, given.Z)
        turns[name] = _turned(filters.fitted(pairs))
        if name == "nsm":
            opposed = filters.operators[:1] - filters.operators[1:]
            for where, operators in (("whitened", opposed), ("pixels", given.Z @ opposed @ given.Z)):
                turns[where] = _turned(Operators(operators, eye).scaled(pairs))
    return turns


def _generators(Z: np.ndarray) -> np.ndarray:
    covariance = exponential_covariance(3.0, 0.6, 2)
    return population(covariance, Grid(5, 5, 0.6), TURN, whitening=Z, regularization=RIDGE).generators().operators


def _turned(turn: Operators) -> Bars:
    angles = STEP * np.arange(N_STEPS + 1)
    true = render(Bar(1.0, direction=-45.0, ndim=2), Grid(5, 5, 0.6), Rotation(90.0).maps(-angles[:, None]))
    steps = [true[:1]]
    for _ in range(N_STEPS):
        steps.append(turn.apply(steps[-1], STEP))
    return Bars(np.concatenate(steps), turn.transform(np.repeat(true[:1], len(angles), axis=0), angles[:, None]), true)


def _follow(config: Config, kind: str, seed: int) -> np.ndarray:
    """Return relative errors of the estimates, of the length of the error vector, shape (n_followed,)."""
    small, large, _ = FOLLOWED[kind]
    eye = Grid(config.side, config.side, FLY_SIGMA)
    scene = SmoothNoise(3.0, ndim=2, period=1024.0, random_state=[seed, 15])
    shown = sample_pairs(scene, eye, small, config.n_pairs, random_state=[seed, 11])
    vision = early_vision().fit(shown)
    network = NonnegativeSimilarityMatching(len(small.ways), warm_up=WARM_UP)
    network.fit(outer_products(vision.transform(shown), "midpoint"))
    operators = Generators(network.generators_, eye, vision["zcawhitening"].matrix_).fitted(shown)
    pairs = sample_pairs(scene, eye, large, config.n_followed, random_state=[seed, 16])
    assert pairs.motion is not None
    return np.linalg.norm(operators.register(pairs) - pairs.motion, axis=1) / np.linalg.norm(pairs.motion, axis=1)


def _errors(moved: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Errors relative to the truth inside the inscribed disc, of bars of shape (..., 5, 5); shape (...)."""
    inside = np.linalg.norm(Grid(5, 5).positions, axis=1).reshape(5, 5) <= 2.0
    return np.linalg.norm((moved - true)[..., inside], axis=-1) / np.linalg.norm(true[..., inside], axis=-1)


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C11."""
    errors = {
        name: [_errors(moved[:, -1], bars.true[:, -1]) for moved in (bars.first_order, bars.exponential)]
        for name, bars in found["bars"].items()
    }
    what = "error inside the inscribed disc after 90 degrees in 9 steps"
    note = (
        f"5 x 5 pixels, acceptance width 0.6, exponential noise, the midpoint feature, {config.n_pairs} pairs of turns "
    )
    note += "up to 5 degrees; the operator regressed on these after learning, whose sign and scale known motion gives"
    regressed = "by the operator regressed after {}"
    first, whole = errors["nsm"]
    names = {name: regressed.format(words) for name, words in NULLS.items()}
    title = f"{what}: first-order steps over exponential"
    ratios = {name: first / whole for name, (first, whole) in errors.items()}
    row = above("C11.ratio", f"{title}, {regressed.format('NSM')}", ratios["nsm"], 9, note=note)
    yield from beside(row, **nulls_by(lambda ratio: ratio, ratios, np.min, names))
    title = f"{what}: exponential"
    row = below("C11.exponential", f"{title}, {regressed.format('NSM')}", whole, 0.1, note=note)
    yield from beside(row, **nulls_by(lambda pair: pair[1], errors, np.max, names))
    yield report("C11.first_order", f"{what}: first-order steps, {regressed.format('NSM')}", first, worst=np.max)
    for where, words in (("whitened", "as learned on whitened frames"), ("pixels", "carried to pixels")):
        orders = {"first_order": "first-order steps", "exponential": "exponential"}
        for (id, order), values in zip(orders.items(), errors[where], strict=True):
            title = f"{what}: {order}, by the learned filter itself, {words}"
            told = "opposed filters, of the scale of known motion; 0.85 is the bar that does not turn"
            yield report(f"C11.filter_{where}_{id}", title, values, worst=np.max, note=told)
    far = "smooth noise of length 3 pixels, NSM, small motions learned, iterative estimate over the interior"
    for kind, (_, _, motions) in FOLLOWED.items():
        least = LEAST[kind]
        note = (
            f"{far}; {config.side} x {config.side} pixels, {config.n_pairs} pairs; median {np.median(found[kind]):.4f}"
        )
        yield below(f"C11.{kind}", f"largest relative error of {motions}", found[kind], least, note=note)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw Fig. 5c: a bar turned by repeated first-order steps, by the exponential, and in truth; of the first seed."""
    steps, whole, true = (images[0] for images in found["bars"]["nsm"])
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
    figure.suptitle(
        "the generator of rotation regressed after learning, applied to a bar (errors inside the disc)", fontsize=10
    )
    return {"turned_bars": figure}
