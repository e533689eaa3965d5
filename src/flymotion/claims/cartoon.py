r"""Three pixels or two (Fig. 2b, abstract; C4).

The claim has two halves, and each has more than one reading.

**Three central pixels approximate the filter.** Section 2.5 keeps the three central pixels of the *learned weights*,
those of whitened frames that Fig. 2 shows: of row i, the change at pixel i, the weights of intensities i - 1, i and
i + 1. So the filter A is cut to its three central diagonals, and the output :math:`\Delta x' A x` of the cut filter is
correlated with the full one over new pairs. Reported beside it: the central difference, which has no weights of its own
left (Eq. 31); one row instead of all; two pixels kept instead of three; and both the cut filter and the central
difference on frames that are *not* whitened. The last is no approximation: in pixels the filter is Z A Z, and whitening
of blurred frames reaches over many pixels.

**Two do not do as well.** Detectors at one centre tell the direction of new pairs. A detector is a weighted sum of
products :math:`\Delta x_a \bar x_b`, changes times mean intensities of both frames: these are all products of the
pixels that are odd under time reversal, and in a world that looks the same backwards no others help. Two classes, each
with three pixels and with either pair of neighbours out of them:

- *one change*, as in a row of the filter: a = i; b = i - 1, i, i + 1 or b = i and one neighbour (3 or 2 weights);
- *every change*: a and b any of the pixels (9 or 4 weights); the Hassenstein-Reichardt detector is one of those of two.

The weights are the best found with labelled pairs (logistic regression). Compare like with like: a two-pixel detector
that may use *both* changes, :math:`(\Delta x_i + \Delta x_{i+1})(x_i - x_{i+1})`, a gradient half way between them, is
better than the three-pixel cartoon, which uses one; that is reported, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from flymotion.claims.learning import RATE
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import CORRELATION_LENGTH, WORLDS, rightward_first, share_right, stack
from flymotion.detectors import hassenstein_reichardt, three_pixel
from flymotion.detectors.temporal import Delay
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.learner.sources import BUNDLED, load_photographs
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.similarity.features import outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.world.eyes import Line
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import ExponentialNoise, photograph

__all__ = [
    "BEST",
    "DETECTORS",
    "READINGS",
    "SCENES",
    "Approximation",
    "Config",
    "Result",
    "check",
    "gain",
    "interval",
    "jobs",
    "run",
]

WORLD = WORLDS["L1"]

REGULARIZATION = {"L1": 0.0, "P": 1e-3}
"""Of the whitening. Photographs hold little of the finest detail; with 1e-4 one sample in four of 5 pixels learns none.

In P whitened pairs are also divided by their contrast.
"""

READINGS = (
    "three pixels",
    "two pixels",
    "central difference",
    "one row, three pixels",
    "three pixels, not whitened",
    "central difference, not whitened",
)
"""What is correlated with the full filter's output; "one row" with the output of that row, whole."""

BEST: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "three, one change": ((0,), (-1, 0, 1)),
    "left two, one change": ((0,), (-1, 0)),
    "right two, one change": ((0,), (0, 1)),
    "three, every change": ((-1, 0, 1), (-1, 0, 1)),
    "left two, every change": ((-1, 0), (-1, 0)),
    "right two, every change": ((0, 1), (0, 1)),
}
"""Learned detectors: offsets from the centre of the changes and of the intensities that they multiply."""

DETECTORS = (*BEST, "three-pixel cartoon", "left HRD", "right HRD")
"""All that tell direction at one centre."""

PERIOD = 2048.0
"""Of the scenes of noise to test in [pixel spacings]: hundreds of correlation lengths each."""

N_SHOWN = 1000
"""Pairs whose outputs are kept, to be drawn."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Samples of either world.
    sizes : tuple of int
        Pixels of the eyes whose filters are cut; all odd, so that they have a centre.
    n_pairs, n_test : int
        Pairs to learn from, and new ones to test with.
    n_scenes : int
        Scenes of noise, or rows of photographs, that new pairs come from.
    n_rows : int
        Rows of photographs to learn from; with half as many the worst of ten samples comes close to the bound.
    """

    n_seeds: int = 10
    sizes: tuple[int, ...] = (5, 15)
    n_pairs: int = 10_000
    n_test: int = 6_000
    n_scenes: int = 30
    n_rows: int = 80

    @classmethod
    def quick(cls) -> Config:
        """Return fewer seeds."""
        return cls(n_seeds=2)


class Approximation(NamedTuple):
    """What one sample of a world gives."""

    filter: np.ndarray
    """NSM's, of the first size: half the difference of its two filters, on whitened frames, shape (n, n)."""
    outputs: np.ndarray
    """Of that filter, and cut to three pixels, to some new pairs, shape (2, N_SHOWN)."""
    correlations: np.ndarray
    """Shape (n_sizes, n_readings); see :data:`READINGS`."""
    accuracies: np.ndarray
    """Shares of the pairs of each new scene whose direction is told, shape (n_scenes, n_detectors)."""


@dataclass(frozen=True)
class Result:
    """By world, L1 and P; every array has an axis of seeds first."""

    config: Config
    worlds: dict[str, Approximation]


def jobs(config: Config) -> list[partial[Approximation]]:
    """List the independent pieces of work."""
    return [partial(_approximate, config, world, seed) for world in SCENES for seed in range(config.n_seeds)]


def run(config: Config, each: Each = in_turn) -> Result:
    """Learn, cut what was learned, and let detectors at one centre tell direction."""
    results, n = list(each(jobs(config))), config.n_seeds
    return Result(config, {world: stack(results[k * n : (k + 1) * n]) for k, world in enumerate(SCENES)})


# -- scenes ------------------------------------------------------------------------------------------------------


def _noise(config: Config, seed: int) -> tuple[FramePairs, list[FramePairs]]:
    """Learn from one scene of L1, and test in others, of a shorter period."""
    n = max(config.sizes)
    rng = np.random.default_rng([seed, 4])
    share = math.ceil(config.n_test / config.n_scenes)
    draw = partial(ExponentialNoise, CORRELATION_LENGTH, period=PERIOD, sharpest=WORLD.sigma, random_state=rng)
    scenes = [draw() for _ in range(config.n_scenes)]
    new = [sample_pairs(scene, WORLD.eye(n), WORLD.motion, share, random_state=rng) for scene in scenes]
    return WORLD.pairs(n, config.n_pairs, [seed, 5]), new


def _photographs(config: Config, seed: int) -> tuple[FramePairs, list[FramePairs]]:
    """Learn from rows of the left halves of two photographs, and test in rows of the right halves."""
    rng = np.random.default_rng([seed, 4])
    images = load_photographs([BUNDLED])
    eye, drawn = WORLD.eye(max(config.sizes)), []
    for half, (n_pairs, n_rows) in enumerate(((config.n_pairs, config.n_rows), (config.n_test, config.n_scenes))):
        halves = [np.array_split(image, 2, axis=1)[half] for image in images]
        rows = [photograph(rng.choice(halves[k % len(halves)]), pixels_per_spacing=1.0) for k in range(n_rows)]
        share = math.ceil(n_pairs / n_rows)
        drawn.append([sample_pairs(row, eye, WORLD.motion, share, random_state=rng) for row in rows])
    lesson = FramePairs.concatenate(drawn[0])
    return lesson[rng.permutation(len(lesson))], drawn[1]


SCENES = {"L1": _noise, "P": _photographs}
"""Worlds: pairs to learn from, and new ones by the scene that they come from. Optics and shifts are L1's."""


def _approximate(config: Config, world: str, seed: int) -> Approximation:
    lesson, scenes = SCENES[world](config, seed)
    test = FramePairs.concatenate(scenes)
    test = test[np.random.default_rng(seed).permutation(len(test))]
    cut = [_cut(world, _middle(lesson, n), _middle(test, n)) for n in config.sizes]
    readings = _directions(_middle(lesson, 3), _middle(FramePairs.concatenate(scenes), 3))
    told = np.split(readings, np.cumsum([len(pairs) for pairs in scenes])[:-1])
    accuracies = [[share_right(r, pairs) for r in each.T] for each, pairs in zip(told, scenes, strict=True)]
    return Approximation(
        cut[0][0], cut[0][1], np.array([correlations for *_, correlations in cut]), np.array(accuracies)
    )


def _middle(pairs: FramePairs, n: int) -> FramePairs:
    """Return the middle n pixels; the middle of an eye is a smaller eye."""
    first = (pairs.n_pixels - n) // 2
    return pairs.map(lambda frames: frames[:, first : first + n])


# -- three pixels for the filter ---------------------------------------------------------------------------------


def _cut(world: str, lesson: FramePairs, test: FramePairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Learn a filter and cut it; return it, its outputs whole and cut, and all correlations."""
    whitening = ZCAWhitening(REGULARIZATION[world]).fit(lesson)
    seen, seen_new = whitened, whitened_new = whitening.transform(lesson), whitening.transform(test)
    if world == "P":
        contrast = ContrastNormalization().fit(whitened)
        seen, seen_new = contrast.transform(whitened), contrast.transform(whitened_new)
    chi = outer_products(seen, WORLD.feature)
    generators = NonnegativeSimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi).generators_
    right, left = generators[rightward_first(generators)]
    A, Z, mean = (right - left) / 2, whitening.matrix_, whitening.mean_
    raw = test.map(lambda frames: frames - mean)
    whole, three, *others = outer_products(seen_new, WORLD.feature).project(_kept(A)).T
    upper, lower, difference, row, row_of_three = others
    in_pixels = np.stack([Z @ A @ Z, _near(Z @ A @ Z), derivative_operator(A.shape[:1])])
    whole_raw, *raws = outer_products(raw, WORLD.feature).project(in_pixels).T
    correlations = [
        _correlation(whole, three),
        max(_correlation(whole, upper), _correlation(whole, lower)),
        _correlation(whole, difference),
        _correlation(row, row_of_three),
        *(_correlation(whole_raw, each) for each in raws),
    ]
    return A, np.stack([whole, three])[:, :N_SHOWN], np.array(correlations)


def _kept(A: np.ndarray) -> np.ndarray:
    """Return a filter: whole; cut to three pixels a row, to two; the central difference; its middle row, whole, cut."""
    n = len(A)
    row = (np.arange(n) == n // 2)[:, None]
    near = _near(A)
    return np.stack([A, near, np.triu(near), np.tril(near), derivative_operator((n,)), A * row, near * row])


def _near(A: np.ndarray) -> np.ndarray:
    """Keep of each row its own pixel and the two beside it."""
    return np.triu(np.tril(A, 1), -1)


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1])


# -- three pixels or two -----------------------------------------------------------------------------------------


def _directions(lesson: FramePairs, test: FramePairs) -> np.ndarray:
    """Read the direction of new pairs of three pixels, positive for right, by every detector; shape (n_pairs, n)."""
    mean = lesson.before.mean()
    lesson, test = (pairs.map(lambda frames: frames - mean) for pairs in (lesson, test))
    best = [_best(*offsets, lesson, test) for offsets in BEST.values()]
    movies, step = np.stack([test.before, test.after], axis=1), Delay(1.0)
    cartoon, halves = (d(movies, 1.0, eye=Line(3))[:, 1] for d in (three_pixel(step), hassenstein_reichardt(step)))
    return np.stack([*best, *cartoon.T, *halves.T], axis=1)


def _best(changes: Sequence[int], intensities: Sequence[int], lesson: FramePairs, test: FramePairs) -> np.ndarray:
    """Return the output to new pairs of the detector that is best on the pairs to learn from.

    Weights are fitted three ways: to products as they are; to products brought to norm 1, since only their sign counts,
    so that a few pairs of high contrast do not decide; and so, but with weights onto intensities that sum to 0, so that
    the mean luminance of photographs does not drown small gradients.
    """
    from sklearn.linear_model import LogisticRegression

    assert lesson.motion is not None
    signs, best = np.sign(lesson.motion[:, 0]), (-1.0, np.zeros(len(test)))
    for of_norm_1, blind in ((False, False), (True, False), (True, True)):
        factors = _factors(changes, intensities, lesson, blind)
        scales = [ZCAWhitening(0.0).fit(factor).matrix_ for factor in factors]
        u, v = _products(factors, scales), _products(_factors(changes, intensities, test, blind), scales)
        shown = u / np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-300) if of_norm_1 else u
        w = LogisticRegression(C=100.0, fit_intercept=False, solver="newton-cholesky").fit(shown, signs).coef_[0]
        best = max(best, (share_right(u @ w, lesson), v @ w), key=lambda found: found[0])
    return best[1]


def _factors(changes: Sequence[int], intensities: Sequence[int], pairs: FramePairs, blind: bool) -> list[np.ndarray]:
    """Return changes, and mean intensities or their differences from pixel to pixel."""
    middle = ((pairs.before + pairs.after) / 2)[:, 1 + np.array(intensities)]
    return [(pairs.after - pairs.before)[:, 1 + np.array(changes)], np.diff(middle, axis=1) if blind else middle]


def _products(factors: list[np.ndarray], scales: list[np.ndarray]) -> np.ndarray:
    change, intensity = (factor @ scale for factor, scale in zip(factors, scales, strict=True))
    return (change[:, :, None] * intensity[:, None, :]).reshape(len(change), -1)


# -- claims ------------------------------------------------------------------------------------------------------


def check(result: Result) -> list[Claim]:
    """State C4."""
    return [*_check_filter(result), *_check_directions(result)]


def _check_filter(result: Result) -> list[Claim]:
    config, worlds = result.config, result.worlds
    titles = (
        ("C4.three", "the filter cut to three pixels a row, whitened frames"),
        ("C4.two", "the filter cut to two pixels a row, the better side, whitened frames; largest"),
        ("C4.difference", "the central difference, whitened frames"),
        ("C4.row", "of the middle row alone, cut to three pixels, whitened frames"),
        ("C4.three_in_pixels", "the filter Z A Z cut to three pixels a row, frames not whitened; largest"),
        ("C4.difference_in_pixels", "the central difference, frames not whitened; largest"),
    )
    rows = []
    for k, (id, title) in enumerate(titles):
        worst = max if title.endswith("largest") else min
        by = {
            f"{world} n = {n}": worst(w.correlations[:, i, k])
            for world, w in worlds.items()
            for i, n in enumerate(config.sizes)
        }
        note = "; ".join(f"{name} {value:.3f}" for name, value in by.items())
        state = partial(above, least=0.95) if id == "C4.three" else report
        title = f"correlation with the full filter's output over new pairs: {title}"
        rows.append(state(id, title, worst(by.values()), seeds=config.n_seeds, note=note))
    return rows


def interval(differences: np.ndarray) -> tuple[float, float]:
    """Return Student's 95 % interval of the mean of independent differences."""
    flat = differences.ravel()
    half = student.ppf(0.975, len(flat) - 1) * flat.std(ddof=1) / math.sqrt(len(flat))
    return float(flat.mean() - half), float(flat.mean() + half)


def gain(approximation: Approximation, three: str, two: str) -> np.ndarray:
    """How much more often a detector tells direction than the better of a left and a right one, for each scene."""
    by = {name: approximation.accuracies[..., k] for k, name in enumerate(DETECTORS)}
    return by[three] - max((by[f"left {two}"], by[f"right {two}"]), key=np.mean)


def _check_directions(result: Result) -> list[Claim]:
    compared = (
        ("C4.one_change", "three, one change", "two, one change", "three pixels best - two, one change each"),
        ("C4.every_change", "three, every change", "two, every change", "three pixels best - two, every change each"),
        ("C4.hrd", "three-pixel cartoon", "HRD", "three-pixel cartoon - Hassenstein-Reichardt"),
        ("C4.cartoon", "three-pixel cartoon", "two, every change", "three-pixel cartoon - best two of every change"),
    )
    rows = []
    for id, three, two, title in compared:
        ends = {world: interval(gain(w, three, two)) for world, w in result.worlds.items()}
        means = {world: _means(w, three, two) for world, w in result.worlds.items()}
        note = "; ".join(
            f"{world} {means[world]}, difference {low:.3f} to {high:.3f}" for world, (low, high) in ends.items()
        )
        title = f"accuracy of direction at one centre, {title}: lower end of the 95 % interval over scenes"
        state = report if id == "C4.cartoon" else partial(above, least=0.0)
        value = min(low for low, _ in ends.values())
        rows.append(state(id, title, value, seeds=result.config.n_seeds, note=note))
    return rows


def _means(approximation: Approximation, three: str, two: str) -> str:
    accuracy = approximation.accuracies[..., DETECTORS.index(three)].mean()
    return f"{accuracy:.3f} against {accuracy - gain(approximation, three, two).mean():.3f}"
