r"""Three pixels or two (Fig. 2b, abstract; C4).

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from flymotion.claims.content import photographed
from flymotion.claims.lessons import of_norm_1, opposed
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import CORRELATION_LENGTH, WORLDS, share_right
from flymotion.detectors import hassenstein_reichardt, three_pixel
from flymotion.detectors.temporal import Delay
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit
from flymotion.similarity.features import outer_products
from flymotion.world.eyes import Line
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import ExponentialNoise, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Approximation", "Config", "check", "figures", "gain", "interval", "work"]

CLAIMS = {"C4": "three pixels stand for the filter, and tell more than two"}

WORLD = WORLDS["L1"]

CUTS = {
    "three": ("the filter cut to three pixels a row, whitened frames", np.min),
    "two": ("the filter cut to two pixels a row, the better side, whitened frames; largest", np.max),
    "difference": ("the central difference, whitened frames", np.min),
    "row": ("of the middle row alone, cut to three pixels, whitened frames", np.min),
    "three_in_pixels": ("the filter Z A Z cut to three pixels a row, frames not whitened; largest", np.max),
    "difference_in_pixels": ("the central difference, frames not whitened; largest", np.max),
}
"""What is correlated with the full filter's output, "row" with the output of that row, whole; and which is given."""

PIXELS = {"three": (-1, 0, 1), "left two": (-1, 0), "right two": (0, 1)}
"""Offsets from the centre."""

BEST = {
    f"{some}, {how} change": (pixels if how == "every" else (0,), pixels)
    for how in ("one", "every")
    for some, pixels in PIXELS.items()
}
"""Learned detectors: offsets of the changes and of the intensities that they multiply."""

DETECTORS = (*BEST, "three-pixel cartoon", "left HRD", "right HRD")
"""All that tell direction at one centre."""

COMPARED = {
    "one_change": ("three, one change", "two, one change", "three pixels best - two, one change each"),
    "every_change": ("three, every change", "two, every change", "three pixels best - two, every change each"),
    "hrd": ("three-pixel cartoon", "HRD", "three-pixel cartoon - Hassenstein-Reichardt"),
    "cartoon": ("three-pixel cartoon", "two, every change", "three-pixel cartoon - best two of every change"),
}
"""Detectors that are compared, of three pixels and, the better side of them, of two; the last is only reported."""

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


QUICK = {"n_seeds": 2}


class Approximation(NamedTuple):
    """What one sample of a world gives."""

    filter: np.ndarray
    """NSM's, of the first size: half the difference of its two filters, on whitened frames, shape (n, n)."""
    outputs: np.ndarray
    """Of that filter, and cut to three pixels, to some new pairs, shape (2, N_SHOWN)."""
    correlations: np.ndarray
    """Shape (n_sizes, n_cuts); see :data:`CUTS`."""
    accuracies: np.ndarray
    """Shares of the pairs of each new scene whose direction is told, shape (n_scenes, n_detectors)."""


def work(config: Config) -> Work:
    """Learn, cut what was learned, and let detectors at one centre tell direction."""
    return {world: each_seed(_approximate, config.n_seeds, config, world) for world in SCENES}


# -- scenes ------------------------------------------------------------------------------------------------------


def _noise(config: Config, seed: int) -> tuple[FramePairs, list[FramePairs]]:
    """Learn from one scene of L1, and test in others, of a shorter period."""
    rng = np.random.default_rng([seed, 4])
    draw = partial(ExponentialNoise, CORRELATION_LENGTH, period=PERIOD, sharpest=WORLD.sigma, random_state=rng)
    new = _by_scene([draw() for _ in range(config.n_scenes)], config, config.n_test, rng)
    return WORLD.pairs(max(config.sizes), config.n_pairs, [seed, 5]), new


def _photographs(config: Config, seed: int) -> tuple[FramePairs, list[FramePairs]]:
    """Learn from rows of the left halves of two photographs, and test in rows of the right halves."""
    rng = np.random.default_rng([seed, 4])
    lesson = FramePairs.concatenate(_by_scene(photographed(config.n_rows, 0, rng), config, config.n_pairs, rng))
    new = _by_scene(photographed(config.n_scenes, 1, rng), config, config.n_test, rng)
    return lesson[rng.permutation(len(lesson))], new


def _by_scene(scenes: Sequence[Scene], config: Config, n_pairs: int, rng: np.random.Generator) -> list[FramePairs]:
    """Draw as many pairs from every scene."""
    eye, each = WORLD.eye(max(config.sizes)), math.ceil(n_pairs / len(scenes))
    return [sample_pairs(scene, eye, WORLD.motion, each, random_state=rng) for scene in scenes]


SCENES = {"L1": _noise, "P": _photographs}
"""Worlds: pairs to learn from, and new ones by the scene that they come from. Optics and shifts are L1's."""

VISION = {"L1": make_pipeline(ZCAWhitening(0.0)), "P": make_pipeline(ZCAWhitening(1e-3), ContrastNormalization())}
"""Early vision. Photographs hold little of the finest detail; with 1e-4 one sample in four of 5 pixels learns none."""


def _approximate(config: Config, world: str, seed: int) -> Approximation:
    lesson, scenes = SCENES[world](config, seed)
    new = FramePairs.concatenate(scenes)
    test = new[np.random.default_rng(seed).permutation(len(new))]
    filters, outputs, correlations = zip(
        *(_cut(world, _middle(lesson, n), _middle(test, n)) for n in config.sizes), strict=True
    )
    readings = _directions(_middle(lesson, 3), _middle(new, 3))
    told = np.split(readings, np.cumsum([len(pairs) for pairs in scenes])[:-1])
    accuracies = [[share_right(r, pairs) for r in each.T] for each, pairs in zip(told, scenes, strict=True)]
    return Approximation(filters[0], outputs[0], np.array(correlations), np.array(accuracies))


def _middle(pairs: FramePairs, n: int) -> FramePairs:
    """Return the middle n pixels; the middle of an eye is a smaller eye."""
    first = (pairs.n_pixels - n) // 2
    return replace(pairs, eye=None).map(lambda frames: frames[:, first : first + n])


def _cut(world: str, lesson: FramePairs, test: FramePairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Learn a filter and cut it; return it, its outputs whole and cut, and all correlations."""
    vision = clone(VISION[world])
    A = opposed(outer_products(vision.fit_transform(lesson), WORLD.feature)).opponent
    whole, *cuts, row, row_of_three = outer_products(vision.transform(test), WORLD.feature).project(_kept(A)).T
    mean, in_pixels = vision[0].mean_, vision[0].matrix_ @ A @ vision[0].matrix_
    filters = np.stack([in_pixels, _near(in_pixels), derivative_operator(A.shape[:1])])
    whole_raw, *raws = outer_products(test.map(lambda frames: frames - mean), WORLD.feature).project(filters).T
    beside = [*((whole, each) for each in cuts), (row, row_of_three), *((whole_raw, each) for each in raws)]
    correlations = np.array([np.corrcoef(*both)[0, 1] for both in beside])
    correlations = np.delete(correlations, 1 + correlations[1:3].argmin())  # two pixels: of both sides the worse
    return A, np.stack([whole, cuts[0]])[:, :N_SHOWN], correlations


def _kept(A: np.ndarray) -> np.ndarray:
    """Return a filter: whole; cut to three pixels a row, to two; the central difference; its middle row, whole, cut."""
    n, near = len(A), _near(A)
    row = (np.arange(n) == n // 2)[:, None]
    return np.stack([A, near, np.triu(near), np.tril(near), derivative_operator((n,)), A * row, near * row])


def _near(A: np.ndarray) -> np.ndarray:
    """Keep of each row its own pixel and the two beside it."""
    return np.triu(np.tril(A, 1), -1)


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
    assert lesson.motion is not None
    signs, best = np.sign(lesson.motion[:, 0]), (-1.0, np.zeros(len(test)))
    for scale, blind in ((np.asarray, False), (of_norm_1, False), (of_norm_1, True)):
        factors, new = (_factors(changes, intensities, pairs, blind) for pairs in (lesson, test))
        whitenings = [ZCAWhitening(0.0).fit(factor).matrix_ for factor in factors]
        products, new_products = (_products(each, whitenings) for each in (factors, new))
        shown = scale(products).reshape(len(lesson), -1)
        w = LogisticRegression(C=100.0, fit_intercept=False, solver="newton-cholesky").fit(shown, signs).coef_[0]
        u, v = (each.reshape(len(each), -1) @ w for each in (products, new_products))
        best = max(best, (share_right(u, lesson), v), key=lambda found: found[0])
    return best[1]


def _factors(changes: Sequence[int], intensities: Sequence[int], pairs: FramePairs, blind: bool) -> list[np.ndarray]:
    """Return changes, and mean intensities or their differences from pixel to pixel."""
    middle = ((pairs.before + pairs.after) / 2)[:, 1 + np.array(intensities)]
    return [(pairs.after - pairs.before)[:, 1 + np.array(changes)], np.diff(middle, axis=1) if blind else middle]


def _products(factors: list[np.ndarray], whitenings: list[np.ndarray]) -> np.ndarray:
    change, intensity = (factor @ Z for factor, Z in zip(factors, whitenings, strict=True))
    return change[:, :, None] * intensity[:, None, :]


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C4."""
    for k, (name, (title, worst)) in enumerate(CUTS.items()):
        id, title = f"C4.{name}", f"correlation with the full filter's output over new pairs: {title}"
        sizes = [(i, f"n = {n}") for i, n in enumerate(config.sizes)]
        by = {f"{world} {size}": one.correlations[:, i, k] for world, one in found.items() for i, size in sizes}
        yield above(id, title, by, 0.95) if name == "three" else report(id, title, by, worst=worst)
    for name, (three, two, title) in COMPARED.items():
        title = f"accuracy of direction at one centre, {title}: lower end of the 95 % interval over scenes"
        gained = {world: gain(one.accuracies, three, two) for world, one in found.items()}
        ends = {world: interval(each) for world, each in gained.items()}
        means = {world: one.accuracies[..., DETECTORS.index(three)].mean() for world, one in found.items()}
        note = "; ".join(
            f"{world} {mean:.3f} against {mean - gained[world].mean():.3f}, difference {{:.3f}} to {{:.3f}}".format(
                *ends[world]
            )
            for world, mean in means.items()
        )
        state = report if name == "cartoon" else partial(above, least=0.0)
        yield state(f"C4.{name}", title, min(low for low, _ in ends.values()), seeds=config.n_seeds, note=note)


def interval(differences: np.ndarray) -> tuple[float, float]:
    """Return Student's 95 % interval of the mean of independent differences."""
    flat = differences.ravel()
    half = student.ppf(0.975, len(flat) - 1) * flat.std(ddof=1) / math.sqrt(len(flat))
    return float(flat.mean() - half), float(flat.mean() + half)


def gain(accuracies: np.ndarray, three: str, two: str) -> np.ndarray:
    """How much more often a detector tells direction than the better of a left and a right one, for each scene."""
    by = {name: accuracies[..., k] for k, name in enumerate(DETECTORS)}
    return by[three] - max((by[f"left {two}"], by[f"right {two}"]), key=np.mean)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw a filter learned in L1, the same cut to three pixels, the outputs of both, and who tells direction."""
    figure = new_figure(12, 7.2)
    halves: Any = figure.subfigures(2, 1)
    upper, lower = halves
    whole, cut, *scatters = upper.subplots(1, 2 + len(found))
    A = found["L1"].filter[0]
    limit, ticks = symmetric_limit(A), (range(len(A)), [str(k + 1) for k in range(len(A))])
    for axes, shown, title in ((whole, A, "learned filter"), (cut, _near(A), "its three central pixels")):
        image = axes.imshow(shown, cmap=signed_colours(), vmin=-limit, vmax=limit)
        axes.set_xticks(*ticks)
        axes.set_yticks(*ticks)
        axes.set(title=title, xlabel="intensity at pixel", ylabel="change at pixel")
    upper.colorbar(image, ax=[whole, cut], label="weight (whitened frames, L1)", shrink=0.8)
    for axes, (world, approximation) in zip(scatters, found.items(), strict=True):
        correlation = f"correlation {approximation.correlations[0, 0, 0]:.3f}"
        axes.set_title(f"{world}, n = {config.sizes[0]}\n{correlation}", fontsize=10)
        _scatter(axes, *approximation.outputs[0])
    _draw_accuracies(lower.subplots(), found)
    return {"three_pixels": figure}


def _scatter(axes: Axes, whole: np.ndarray, three: np.ndarray) -> None:
    """Draw the cut filter's outputs against the whole one's, the middle 98 % of pairs."""
    x, y = (float(np.quantile(np.abs(each), 0.98)) for each in (whole, three))
    axes.plot(whole, three, ".", markersize=3, alpha=0.5)
    axes.axhline(0, color="0.8", linewidth=1, zorder=0)
    axes.axvline(0, color="0.8", linewidth=1, zorder=0)
    axes.set(xlim=(-x, x), ylim=(-y, y), xlabel="output of the whole filter", ylabel="of three pixels a row")


def _draw_accuracies(axes: Axes, found: Found) -> None:
    """Draw shares of pairs told, means and 95 % intervals over scenes, for each detector at one centre."""
    places = np.arange(len(DETECTORS))
    style: dict[str, Any] = {"markersize": 6, "linestyle": "none", "capsize": 4}
    for k, (world, marker) in enumerate(zip(found, "os", strict=True)):
        low, high = np.transpose([interval(told) for told in np.moveaxis(found[world].accuracies, -1, 0)])
        shown = places + 0.16 * k - 0.08
        axes.errorbar(shown, (low + high) / 2, yerr=(high - low) / 2, marker=marker, label=world, **style)
    for edge in (2.5, 5.5):
        axes.axvline(edge, color="0.8", linewidth=1)
    axes.axhline(0.5, color="0.6", linewidth=1, linestyle=":", label="chance")
    axes.set_xticks(places, [name.replace(", ", "\n") for name in DETECTORS])
    axes.set(ylabel="share of pairs whose direction is told", ylim=(0.45, 1.02))
    axes.set_title("best detectors at one centre, of three pixels and of two (95 % intervals over scenes)")
    axes.legend(loc="lower left")
