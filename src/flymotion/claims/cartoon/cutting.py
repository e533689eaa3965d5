r"""The learned filter cut to its three central pixels a row, and whether that stands for it (Fig. 2b).

Section 2.5 keeps the three central pixels of the *learned weights*, those of whitened frames that Fig. 2 shows: of row
i, the change at pixel i, the weights of intensities i - 1, i and i + 1. So the filter A is cut to its three central
diagonals, and the output :math:`\Delta x' A x` of the cut filter is correlated with the full one over new pairs.
Beside it: the central difference, which has no weights of its own left (Eq. 31); one row instead of all; two pixels
kept instead of three; and both the cut filter and the central difference on frames that are *not* whitened. The last is
no approximation: in pixels the filter is Z A Z, and whitening of blurred frames reaches over many pixels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from flymotion.claims.beside import Null, beside
from flymotion.claims.cartoon.regimes import REGIMES, Seen
from flymotion.claims.content.classes import middle
from flymotion.claims.lessons import opposed
from flymotion.claims.nulls import NULLS, unlearned
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.worlds import leftward
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening
from flymotion.plots.canvas import new_figure, signed_colours, symmetric_limit
from flymotion.similarity.features import OuterProducts, outer_products

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CUTS", "CUT_NOISES", "Cut", "check_cuts", "cut", "draw_cut", "kept"]

CUTS = {
    "three": ("the filter cut to three pixels a row with itself whole, whitened frames", np.min),
    "two": ("the filter cut to two pixels a row, the better side, with itself whole, whitened frames; largest", np.max),
    "difference": ("the central difference with the filter, whitened frames", np.min),
    "row": ("the middle row cut to three pixels with itself whole, whitened frames", np.min),
    "three_in_pixels": (
        "the filter Z A Z cut to three pixels a row with itself whole, frames not whitened; largest",
        np.max,
    ),
    "difference_in_pixels": ("the central difference with the filter Z A Z, frames not whitened; largest", np.max),
}
"""What is correlated with the full filter's output, or with that of the row; and which is given."""

VISION = {"L1": make_pipeline(ZCAWhitening(0.0)), "P": make_pipeline(ZCAWhitening(1e-3), ContrastNormalization())}
"""Early vision. Photographs hold little of the finest detail; with 1e-4 one sample in four of 5 pixels learns none."""

CUT_NOISES = ("clean", "40dB")
"""Of sensor noise. Already the weaker one, whitened, is what is learned in place of motion."""

N_SHOWN = 1000
"""Pairs whose outputs are kept, to be drawn."""


class Cut(NamedTuple):
    """What comes of cutting a filter."""

    filter: np.ndarray
    """Half the difference of NSM's two filters, on whitened frames, shape (n, n)."""
    outputs: np.ndarray
    """Of that filter, and cut to three pixels, to some new pairs, shape (2, N_SHOWN)."""
    correlations: np.ndarray
    """In the order of CUTS, shape (n_cuts,)."""
    nulls: np.ndarray
    """Of three pixels a row of ``NULLS``, cut likewise, each with itself whole; shape (n_nulls,).

    NaN for the population's filter but in L1 without noise, where it is known."""


def cut(world: str, noise: str, given: Seen, n: int, rng: np.random.Generator) -> Cut:
    """Learn a filter of n pixels and cut it."""
    lesson, test = (middle(pairs, n) for pairs in given)
    vision, feature = clone(VISION[world]), REGIMES[world].feature
    chi = outer_products(vision.fit_transform(lesson), feature)
    seen, A = outer_products(vision.transform(test), feature), opposed(chi).opponent
    whole, *cuts, row, row_of_three = seen.project(kept(A)).T
    mean, in_pixels = vision[0].mean_, vision[0].matrix_ @ A @ vision[0].matrix_
    filters = np.stack([in_pixels, _near(in_pixels), derivative_operator(A.shape[:1])])
    whole_raw, *raws = outer_products(test.map(lambda frames: frames - mean), feature).project(filters).T
    beside = [*((whole, each) for each in cuts), (row, row_of_three), *((whole_raw, each) for each in raws)]
    correlations = np.array([np.corrcoef(*both)[0, 1] for both in beside])
    correlations = np.delete(correlations, 1 + correlations[1:3].argmin())  # two pixels: of both sides the worse
    nulls = [np.corrcoef(seen.project(np.stack([B, _near(B)])).T)[0, 1] for B in _others(chi, lesson, rng)]
    nulls.append(_population(world, test) if (world, noise) == ("L1", "clean") else np.nan)
    return Cut(A, np.stack([whole, cuts[0]])[:, :N_SHOWN], correlations, np.array(nulls))


def _others(chi: OuterProducts, lesson: FramePairs, rng: np.random.Generator) -> list[np.ndarray]:
    """Return nulls in their order, each as half a difference of either sign; shape (n, n) each."""
    return [(a - b) / 2 for a, b in unlearned(chi, leftward(lesson), rng).values()]


def _population(world: str, test: FramePairs) -> float:
    theory = REGIMES[world].population(test.n_pixels)
    A = theory.components(1)[1][0]
    seen = outer_products(test.map(lambda frames: frames @ theory.Z.T), REGIMES[world].feature)
    return float(np.corrcoef(seen.project(np.stack([A, _near(A)])).T)[0, 1])


def kept(A: np.ndarray) -> np.ndarray:
    """Return a filter: whole; cut to three pixels a row, to two; the central difference; its middle row, whole, cut."""
    n, near = len(A), _near(A)
    row = (np.arange(n) == n // 2)[:, None]
    return np.stack([A, near, np.triu(near), np.tril(near), derivative_operator((n,)), A * row, near * row])


def _near(A: np.ndarray) -> np.ndarray:
    """Keep of each row its own pixel and the two beside it."""
    return np.triu(np.tril(A, 1), -1)


# -- claims ------------------------------------------------------------------------------------------------------


def check_cuts(cuts: Mapping[str, Cut], sizes: Sequence[int]) -> Iterator[Claim]:
    """State how well cut filters stand for whole ones.

    Fields of ``cuts``, by world, have axes of seeds, noises and sizes first.
    """
    for (k, name), (j, noise) in itertools.product(enumerate(CUTS), enumerate(CUT_NOISES)):
        words, worst = CUTS[name]
        id = f"C4.{name}" + ("" if noise == "clean" else f"_{noise}")
        noisy = "" if noise == "clean" else f", sensor noise at {noise[:2]} dB"
        title = f"correlation over new pairs of outputs of {words}{noisy}"
        by = _by({world: of.correlations[:, j, :, k] for world, of in cuts.items()}, sizes)
        if name == "three":
            nulls = {key: {world: of.nulls[:, j, :, q] for world, of in cuts.items()} for q, key in enumerate(NULLS)}
            yield from beside(above(id, title, by, 0.95), **_cut_likewise(nulls, sizes))
            for world in cuts:
                those = {of: values for of, values in by.items() if of.startswith(world)}
                yield report(f"{id}_{world}", f"{title}, {world} alone", those, worst=np.min)
        else:
            yield report(id, title, by, worst=worst)


def _cut_likewise(nulls: Mapping[str, Mapping[str, np.ndarray]], sizes: Sequence[int]) -> dict[str, Null]:
    """Name what is known of nulls: of random filters the largest, of others the least."""
    found = {}
    for key, values in nulls.items():
        known = {name: of for name, of in _by(values, sizes).items() if np.isfinite(of).all()}
        if known:
            words = f"{NULLS[key]}, cut so"
            found[key] = Null(words, known, np.max if key == "random" else np.min)
    return found


def _by(values: Mapping[str, np.ndarray], sizes: Sequence[int]) -> dict[str, np.ndarray]:
    """Name values of worlds, shape (n_seeds, n_sizes), by world and size."""
    return {f"{world} n = {n}": of[:, i] for world, of in values.items() for i, n in enumerate(sizes)}


# -- figure ------------------------------------------------------------------------------------------------------


def draw_cut(cuts: Mapping[str, Cut], n: int) -> Figure:
    """Draw a filter learned in L1, the same cut to three pixels, and the outputs of both, in both worlds."""
    figure = new_figure(12, 3.6)
    axes_whole, axes_cut, *scatters = figure.subplots(1, 2 + len(cuts))
    A = cuts["L1"].filter[0]
    limit, ticks = symmetric_limit(A), (range(len(A)), [str(k + 1) for k in range(len(A))])
    for axes, shown, title in ((axes_whole, A, "learned filter"), (axes_cut, _near(A), "its three central pixels")):
        image = axes.imshow(shown, cmap=signed_colours(), vmin=-limit, vmax=limit)
        axes.set_xticks(*ticks)
        axes.set_yticks(*ticks)
        axes.set(title=title, xlabel="intensity at pixel", ylabel="change at pixel")
    figure.colorbar(image, ax=[axes_whole, axes_cut], label="weight (whitened frames, L1)", shrink=0.8)
    for axes, (world, of) in zip(scatters, cuts.items(), strict=True):
        correlation = f"correlation {of.correlations[0, 0, 0, 0]:.3f}"
        axes.set_title(f"{world}, n = {n}\n{correlation}", fontsize=10)
        _scatter(axes, *of.outputs[0])
    return figure


def _scatter(axes: Axes, whole: np.ndarray, three: np.ndarray) -> None:
    """Draw the cut filter's outputs against the whole one's, the middle 98 % of pairs."""
    x, y = (float(np.quantile(np.abs(each), 0.98)) for each in (whole, three))
    axes.plot(whole, three, ".", markersize=3, alpha=0.5)
    axes.axhline(0, color="0.8", linewidth=1, zorder=0)
    axes.axvline(0, color="0.8", linewidth=1, zorder=0)
    axes.set(xlim=(-x, x), ylim=(-y, y), xlabel="output of the whole filter", ylabel="of three pixels a row")
