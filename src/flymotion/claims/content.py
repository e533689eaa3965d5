"""Content: what is learned from one class of scenes tells direction in all others, an additive unit in none (C9)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.claims.lessons import opposed, two_units
from flymotion.claims.rows import Claim, below, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import CORRELATION_LENGTH, WORLDS, share_right
from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.learner.sources import BUNDLED, load_photographs
from flymotion.photoreceptors import ZCAWhitening
from flymotion.plots.canvas import new_figure
from flymotion.similarity.features import outer_products
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import Edge, FlatScene, Grating, Scene, photograph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "CLASSES", "QUICK", "Config", "Learned", "check", "figures", "losses", "photographed", "work"]

CLAIMS = {"C9": "one class of scenes teaches what serves all; adding does not"}

WORLD = WORLDS["L2"]

REGULARIZATION = 0.1
"""Of the whitening: gratings and photographs hold next to nothing of the finest detail, which it would amplify."""

WAVELENGTHS = (4.0, 20.0)
"""Shortest and longest of the gratings [pixels]."""

N_EDGES = 12
"""Edges drawn for a view; the last lie beyond it."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Samples of every class.
    n : int
        Pixels.
    n_pairs, n_test : int
        Pairs of each class to learn from, and new ones of new scenes to test with.
    n_scenes : int
        Gratings, and rows of photographs, that either come from.
    """

    n_seeds: int = 5
    n: int = 15
    n_pairs: int = 12_000
    n_test: int = 8_000
    n_scenes: int = 80


QUICK = {"n_seeds": 2}

READINGS = ("NSM", "logistic regression")
"""What learns from both frames end to end, so that a unit adds them."""


class Learned(NamedTuple):
    """Shares of new pairs whose direction is told; rows are the class learned from, columns the class tested on."""

    shared: np.ndarray
    """NSM's filters after one early vision for all classes, shape (n_classes, n_classes)."""
    own: np.ndarray
    """The same, each class learned from after a whitening of its own."""
    raw: np.ndarray
    """The same as ``shared``, but with each frame's mean left in."""
    additive: np.ndarray
    """Additive units on the class that they learned from, shape (2, n_classes); see :data:`READINGS`."""


def work(config: Config) -> Work:
    """Learn from every class of scenes, and test on every class."""
    return {"learned": each_seed(_learn, config.n_seeds, config)}


# -- classes of scenes -------------------------------------------------------------------------------------------


def _noise(config: Config, n_pairs: int, rng: np.random.Generator, new: bool) -> FramePairs:
    return sample_pairs(WORLD.scene(rng), WORLD.eye(config.n), WORLD.motion, n_pairs, rng)


def _edges(config: Config, n_pairs: int, rng: np.random.Generator, new: bool) -> FramePairs:
    """Show ON and OFF edges in turn, at random places: a random telegraph, of the noise's covariance.

    Every view has an edge between its outermost pixels, and a contrast and polarity of its own.
    """
    eye = WORLD.eye(config.n)
    reach = (config.n - 1) / 2
    gaps = rng.exponential(2 * CORRELATION_LENGTH, (3 * n_pairs, N_EDGES))
    places = gaps.cumsum(axis=1) - reach - 3
    places = places[(np.abs(places) < reach).any(axis=1)][:n_pairs]
    contrasts = (rng.uniform(0.2, 1, n_pairs) * rng.choice([-1, 1], n_pairs))[:, None] * (-1.0) ** np.arange(N_EDGES)
    steps = WORLD.motion.steps(n_pairs, rng)

    def see(moved: np.ndarray) -> np.ndarray:
        views = (c[:, None] * render(Edge(), eye, -p[:, None]) for c, p in zip(contrasts.T, moved.T, strict=True))
        return sum(views, np.zeros((n_pairs, config.n)))

    return FramePairs(see(places), see(places + steps), steps)


def _gratings(config: Config, n_pairs: int, rng: np.random.Generator, new: bool) -> FramePairs:
    """Show gratings whose wavelengths' logarithms are uniform."""
    shortest, longest = WAVELENGTHS
    lengths = shortest * (longest / shortest) ** rng.uniform(size=config.n_scenes)
    scenes = [Grating(length, rng.uniform(0.2, 1)) for length in lengths]
    return _from_all(scenes, config, n_pairs, rng)


def _photographs(config: Config, n_pairs: int, rng: np.random.Generator, new: bool) -> FramePairs:
    """Show rows of the left halves of two photographs to learn from, of the right halves to test with."""
    return _from_all(photographed(config.n_scenes, int(new), rng), config, n_pairs, rng)


def photographed(n: int, half: int, rng: np.random.Generator) -> list[FlatScene]:
    """Draw rows of two photographs in turn, of their left halves (0) or their right ones (1), as scenes of pixels."""
    halves = [np.array_split(image, 2, axis=1)[half] for image in load_photographs([BUNDLED])]
    return [photograph(rng.choice(halves[k % len(halves)]), pixels_per_spacing=1.0) for k in range(n)]


def _from_all(scenes: Sequence[Scene], config: Config, n_pairs: int, rng: np.random.Generator) -> FramePairs:
    """Draw as many pairs from every scene, well mixed."""
    each = math.ceil(n_pairs / len(scenes))
    parts = [sample_pairs(scene, WORLD.eye(config.n), WORLD.motion, each, rng) for scene in scenes]
    return FramePairs.concatenate(parts)[rng.permutation(each * len(scenes))[:n_pairs]]


CLASSES: dict[str, Callable[[Config, int, np.random.Generator, bool], FramePairs]] = {
    "noise": _noise,
    "edges": _edges,
    "gratings": _gratings,
    "photographs": _photographs,
}
"""Classes of scenes: pairs of each, to learn from or new ones."""


# -- learning ----------------------------------------------------------------------------------------------------


def _learn(config: Config, seed: int) -> Learned:
    rng = np.random.default_rng([seed, 9])
    lessons = [draw(config, config.n_pairs, rng, False) for draw in CLASSES.values()]
    tests = [draw(config, config.n_test, rng, True) for draw in CLASSES.values()]
    raw_lessons, raw_tests = ([_less_mean(pairs, None) for pairs in some] for some in (lessons, tests))
    lessons, tests = ([_less_mean(pairs, 1) for pairs in some] for some in (lessons, tests))
    Z = _whitening(lessons)
    return Learned(
        _matrix([Z] * len(CLASSES), lessons, tests),
        _matrix([_whitening([pairs]) for pairs in lessons], lessons, tests),
        _matrix([_whitening(raw_lessons)] * len(CLASSES), raw_lessons, raw_tests),
        np.transpose([_additive(Z, *both) for both in zip(lessons, tests, strict=True)]),
    )


def _less_mean(pairs: FramePairs, axis: int | None) -> FramePairs:
    """Take each frame's mean from it (axis 1), as lateral inhibition would, or only the mean of all (None)."""
    return pairs.map(lambda frames: frames - frames.mean(axis=axis, keepdims=True))


def _whitening(lessons: list[FramePairs]) -> np.ndarray:
    """Fit on classes of scenes, each brought to the same variance; shape (n, n)."""
    frames = [pairs.before / pairs.before.std() for pairs in lessons]
    return ZCAWhitening(REGULARIZATION).fit(np.concatenate(frames)).matrix_


def _matrix(whitenings: list[np.ndarray], lessons: list[FramePairs], tests: list[FramePairs]) -> np.ndarray:
    """Learn from each class, whitened; test on all, by one bilinear form of frames that are not."""
    accuracies = []
    for Z, lesson in zip(whitenings, lessons, strict=True):
        units = opposed(outer_products(_through(Z, lesson), WORLD.feature))
        right, left = Generators(units.filters, lesson.pixels, Z).in_pixels().operators
        readings = [outer_products(test, WORLD.feature).project((right - left)[None])[:, 0] for test in tests]
        accuracies.append([share_right(*each) for each in zip(readings, tests, strict=True)])
    return np.array(accuracies)


def _through(Z: np.ndarray, pairs: FramePairs) -> FramePairs:
    return pairs.map(lambda frames: frames @ Z)


def _additive(Z: np.ndarray, lesson: FramePairs, test: FramePairs) -> list[float]:
    """Learn from both whitened frames end to end, not from their product: NSM, and logistic regression with labels."""
    from sklearn.linear_model import LogisticRegression

    seen = [_through(Z, pairs) for pairs in (lesson, test)]
    both, new = (np.concatenate([pairs.before, pairs.after], axis=1) for pairs in seen)
    scale = both.std()
    assert lesson.motion is not None
    units = two_units(both / scale).components_
    supervised = LogisticRegression(max_iter=1000).fit(both / scale, lesson.motion[:, 0] > 0)
    readings = new @ (units[0] - units[1]), supervised.decision_function(new / scale)
    return [share_right(reading, test) for reading in readings]


# -- claims ------------------------------------------------------------------------------------------------------


def losses(accuracies: np.ndarray) -> np.ndarray:
    """How much less often direction is told than by what was learned from the class tested on; shape as given."""
    return np.diagonal(accuracies, axis1=-2, axis2=-1)[..., None, :] - accuracies


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C9."""
    learned, names = found["learned"], list(CLASSES)
    world = f"n = {config.n}, optics and shifts of L2, whitening regularised by {REGULARIZATION:g}"
    vision = f"{world}; one early vision for all: each frame less its mean, whitening fitted on the four classes"
    apart = "largest difference of accuracy on new pairs from the filter learned from the class tested on"
    shared, own = (np.abs(losses(accuracies)) for accuracies in (learned.shared, learned.own))
    i, j = np.argwhere(shared.max(axis=0) == shared.max())[0]
    yield below("C9.worst", apart, shared, 0.03, note=f"{names[i]} to {names[j]}; {vision}")
    title = "accuracy of units that add both frames, on the class that they learned from: largest distance from chance"
    chance = {unit: np.abs(learned.additive[:, k] - 0.5) for k, unit in enumerate(READINGS)}
    yield below("C9.or", title, chance, 0.05, note=vision)
    yield report("C9.own", f"{apart}, each class whitened on its own", own, worst=np.max, note=world)
    yield report("C9.lowest", "lowest accuracy", learned.shared, worst=np.min, note=vision)
    yield report("C9.mean", "lowest accuracy, frames' means left in", learned.raw, worst=np.min, note=world)
    for i, j in np.ndindex(len(names), len(names)):
        title = f"accuracy of direction, learned from {names[i]}, tested on {names[j]}"
        yield report(f"C9.{names[i]}_{names[j]}", title, learned.shared[:, i, j], worst=np.min, note=world)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw accuracies, mean of the seeds: class learned from by class tested on; below, additive units on their own."""
    learned, names = found["learned"], list(CLASSES)
    figure = new_figure(6.2, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[len(names), len(READINGS)])
    image = _draw_accuracies(upper, learned.shared.mean(axis=0), names)
    _draw_accuracies(lower, learned.additive.mean(axis=0), READINGS)
    upper.set_title("filters that multiply (NSM)", fontsize=10)
    upper.set_ylabel("learned from")
    lower.set_title("units that add, learned from the class tested on", fontsize=10)
    lower.set_xticks(range(len(names)), names)
    lower.set_xlabel("tested on")
    figure.colorbar(image, ax=[upper, lower], label="share of pairs whose direction is told (chance 0.5)")
    return {"content": figure}


def _draw_accuracies(axes: Axes, shares: np.ndarray, rows: Sequence[str]) -> Any:
    """Show shares from chance to 1 as colour, and as figures."""
    image = axes.imshow(shares, cmap="viridis", vmin=0.5, vmax=1, aspect="auto", interpolation="nearest")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    for (row, column), share in np.ndenumerate(shares):
        colour = "black" if share > 0.75 else "white"
        axes.text(column, row, f"{share:.3f}", ha="center", va="center", color=colour)
    return image
