"""Where each feature learns motion: optics against shift (Supplement A, beyond the paper; C28)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.lessons import RATE, opposed
from flymotion.claims.nulls import NULLS, random_filters, unlearned
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.running import Found, Work
from flymotion.claims.worlds import World, leftward, rightward_first, share_right
from flymotion.frames import FramePairs
from flymotion.generators import cosine, derivative_operator
from flymotion.generators.optics_map import motion_map
from flymotion.generators.theory import antisymmetric_share
from flymotion.photoreceptors import ZCAWhitening
from flymotion.plots.canvas import new_figure
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.initialisation import warm_up_length
from flymotion.similarity.networks import SimilarityMatching
from flymotion.similarity.rivals import OuterProductPCA
from flymotion.world.rendering import render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Cells", "Config", "check", "figures", "work"]

CLAIMS = {"C28": "optics and shifts decide what is learned, as theory says"}

FEATURES = {"change": "paper's feature, dx x'", "midpoint": "midpoint feature, dx (x + x_next)'/2"}

FILTERS = ("nsm", "random", "start", "labelled")
"""Two each; all but the first are nulls."""

MEASURES = {
    "accuracy": "share of new pairs whose direction two filters tell",
    "opposition": "cosine of the two filters",
    "derivative": "cosine of the difference of the two filters with the central difference",
}

TOLD = 0.75
"""Of what averages by label tell above chance; filters that tell more have learned motion."""

GAP = 0.9
"""Ratio of the second eigenvalue to the first below which the first component is well defined."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Samples of each cell.
    sigmas : tuple of float
        Acceptance widths [pixel spacings].
    max_shifts : tuple of float
        Largest shifts [pixels per frame].
    n : int
        Pixels.
    n_pairs, n_test : int
        Pairs to learn from, and new ones to test NSM with.
    """

    n_seeds: int = 3
    sigmas: tuple[float, ...] = (0.3, 0.4, 0.475, 0.55, 0.65, 0.8, 1.0)
    max_shifts: tuple[float, ...] = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5)
    n: int = 5
    n_pairs: int = 20_000
    n_test: int = 5000

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of samples: seeds, widths, shifts."""
        return self.n_seeds, len(self.sigmas), len(self.max_shifts)


QUICK = {"n_seeds": 1, "max_shifts": (0.1, 0.3, 0.6, 1.5), "n_pairs": 10_000}


class Cells(NamedTuple):
    """What is learned at one width and all shifts; an axis of shifts first, of ``FILTERS`` last."""

    pca: np.ndarray
    """Antisymmetric share of PCA's first component, shape (n_shifts,)."""
    sm: np.ndarray
    """The same of SM's."""
    start: np.ndarray
    """The same of the first component of the pairs that SM's warm-up sees: its start."""
    random: np.ndarray
    """The same of a random filter."""
    accuracy: np.ndarray
    """Share of new pairs whose direction two filters tell, shape (n_shifts, n_filters)."""
    opposition: np.ndarray
    """Cosine of the two filters."""
    derivative: np.ndarray
    """Cosine of the difference of the two filters with the central difference."""


def work(config: Config) -> Work:
    """Ask theory; and let SM, PCA and NSM learn in every cell."""
    theory = partial(motion_map, config.sigmas, config.max_shifts, n=config.n)
    cells = [partial(_cells, config, *cell) for cell in np.ndindex(config.shape[:2])]
    return {
        "theory": {feature: partial(theory, feature=feature) for feature in FEATURES},
        "derivative": {feature: partial(_derivatives, config, feature) for feature in FEATURES},
        "cells": cells,
    }


def _derivatives(config: Config, feature: str) -> np.ndarray:
    """Return |cosine| of the population's first component with the central difference, (n_sigmas, n_shifts)."""
    worlds = [[World(sigma, shift, feature) for shift in config.max_shifts] for sigma in config.sigmas]
    first = [[world.population(config.n).components(1)[1][0] for world in row] for row in worlds]
    return np.abs(cosine(np.array(first), derivative_operator((config.n,))))


def _cells(config: Config, seed: int, i: int) -> dict[str, Cells]:
    """Let all learn from the same pairs, by each feature, at one width and all shifts."""
    lessons, tests = (_pairs(config, i, n, [seed, i, k]) for k, n in enumerate((config.n_pairs, config.n_test)))
    found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in FEATURES}
    for j, (pairs, test) in enumerate(zip(lessons, tests, strict=True)):
        whitening = ZCAWhitening(0.0).fit(pairs)
        lesson, new = (whitening.transform(some) for some in (pairs, test))
        for name, cells in found.items():
            cells.append(_learn(lesson, new, name, np.random.default_rng([seed, i, j])))
    return {name: Cells(*map(np.array, zip(*cells, strict=True))) for name, cells in found.items()}


def _pairs(config: Config, i: int, n: int, seed: list[int]) -> list[FramePairs]:
    """Draw n pairs of each shift, all from one scene."""
    rng = np.random.default_rng(seed)
    world = World(config.sigmas[i], max(config.max_shifts), "")
    scene = world.scene(rng)
    steps = np.concatenate([rng.uniform(-shift, shift, (n, 1)) for shift in config.max_shifts])
    low, high = scene.extent[0]
    places = rng.uniform(low, high, steps.shape)
    movie = render(scene, world.eye(config.n), np.concatenate([places, places - steps]))
    pairs = FramePairs(movie[: len(steps)], movie[len(steps) :], steps)
    return [pairs[start : start + n] for start in range(0, len(steps), n)]


def _learn(lesson: FramePairs, test: FramePairs, feature: str, rng: np.random.Generator) -> tuple[Any, ...]:
    """Return fields of Cells."""
    chi, new = (outer_products(pairs, feature) for pairs in (lesson, test))
    first = (
        OuterProductPCA(1).fit(chi).generators_,
        SimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi).generators_,
        OuterProductPCA(1).fit(chi[: warm_up_length(chi.shape[1], sum(chi.feature_shape))]).generators_,
        random_filters(1, chi, rng),
    )
    two = (opposed(chi).filters, *unlearned(chi, leftward(lesson), rng).values())
    return (
        *(antisymmetric_share(filters[0]) for filters in first),
        *np.array([_measure(filters, new, test) for filters in two]).T,
    )


def _measure(filters: np.ndarray, new: OuterProducts, test: FramePairs) -> tuple[float, ...]:
    """Return accuracy, opposition and derivative of two filters, shape (2, n, n)."""
    right, left = filters[rightward_first(filters)]
    accuracy = share_right(new.project((right - left)[None])[:, 0], test)
    return accuracy, float(cosine(right, left)), float(cosine(right - left, derivative_operator(right.shape[:1])))


# -- claims ----------------------------------------------------------------------------------------------------------


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C28."""
    world = (
        f"n = {config.n}, {len(config.sigmas)} widths from {min(config.sigmas)} to {max(config.sigmas)}, "
        f"{len(config.max_shifts)} shifts from {min(config.max_shifts)} to {max(config.max_shifts)}"
    )
    for feature in FEATURES:
        yield from _check_components(found, config, feature, world)
    for feature in FEATURES:
        yield from _check_filters(found, config, feature, world)


def _check_components(found: Found, config: Config, feature: str, world: str) -> Iterator[Claim]:
    """State (a): whether first components are antisymmetric."""
    theory, suffix = found["theory"][feature], "" if feature == "change" else f"_{feature}"
    motion = theory.antisymmetric_share[theory.ratio < GAP] > 0.5
    note = f"theory has {motion.sum()} of {motion.size} cells with a gap over 10 % antisymmetric; {world}"
    if feature == "midpoint":
        note = f"a control: in the mean this feature is antisymmetric by construction; {note}"
    title = "share of cells in which the first component of {} is antisymmetric or not, as theory says; {}"
    for id, learner, null in (("pca", "PCA", "random"), ("sm", "SM", "start")):
        agreed, by_null = (_agreement(found, config, feature, each) for each in (id, null))
        what = title.format(learner, FEATURES[feature])
        row = above(f"C28.{id}{suffix}", what, agreed, 0.99, worst=np.mean, note=note)
        yield from beside(row, **{null: Null(NULLS[null], by_null, np.mean)})


def _check_filters(found: Found, config: Config, feature: str, world: str) -> Iterator[Claim]:
    """Report (b): what two filters tell, and where they have learned motion."""
    theory = found["theory"][feature]
    motion = theory.motion_first
    population = {"accuracy": theory.accuracy, "derivative": found["derivative"][feature]}
    for measure, title in MEASURES.items():
        values = _samples(found, config, feature, measure)
        apart = [f"median over all cells, {_apart(of, motion)}" for of in np.moveaxis(values, -1, 0)]
        nulls = {
            name: Null(NULLS[name], values[..., k], np.median, apart[k]) for k, name in enumerate(FILTERS[1:], start=1)
        }
        if measure in population:
            known, name = population[measure], "the population's first component, both signs"
            nulls["population"] = Null(name, np.median(known), np.median, _apart(known[None], motion))
        title = f"{title}: NSM; {FEATURES[feature]}"
        note = f"{apart[0]}; {world}"
        row = report(f"C28.{measure}_{feature}", title, values[..., 0], worst=np.median, note=note)
        yield from beside(row, **nulls)
    told = _samples(found, config, feature, "accuracy") - 0.5
    learned = told > TOLD * told[..., -1:]
    title = f"share of cells in which two filters tell more than {TOLD:g} of what averages by label do above chance"
    apart = [_apart(of, motion, np.mean) for of in np.moveaxis(learned, -1, 0)]
    title, note = f"{title}: NSM; {FEATURES[feature]}", f"{apart[0]}; {world}; {TOLD:g} was chosen after a look at 0.9"
    row = report(f"C28.learned_{feature}", title, learned[..., 0], worst=np.mean, note=note)
    nulls = {name: Null(NULLS[name], learned[..., k], np.mean, apart[k]) for k, name in ((1, "random"), (2, "start"))}
    yield from beside(row, **nulls)


def _apart(values: np.ndarray, motion: np.ndarray, statistic: Any = np.median) -> str:
    """Tell cells apart whose first component is motion, by theory, or not; values (n_seeds, n_sigmas, n_shifts)."""
    kinds = {"has motion first": motion, "has not": ~motion}
    told = [
        f"{statistic(values[:, where]):.3f} in the {where.sum()} where theory {name}"
        for name, where in kinds.items()
        if where.any()
    ]
    return " and ".join(told)


def _samples(found: Found, config: Config, feature: str, measure: str) -> np.ndarray:
    """Return a measure of all cells, shape (n_seeds, n_sigmas, n_shifts, ...)."""
    values = getattr(found["cells"][feature], measure)
    return values.reshape(*config.shape, *values.shape[2:])


def _agreement(found: Found, config: Config, feature: str, learner: str) -> np.ndarray:
    """Whether samples agree with theory on antisymmetry, in cells with a gap; shape (n_seeds, n_cells)."""
    theory = found["theory"][feature]
    same = (_samples(found, config, feature, learner) > 0.5) == (theory.antisymmetric_share > 0.5)
    return same[:, theory.ratio < GAP]


# -- figure ----------------------------------------------------------------------------------------------------------


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw theory as colour and boundary, samples of the first seed as marks, features side by side."""
    figure = new_figure(11, 4.6)
    panels = figure.subplots(1, len(FEATURES), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (feature, title) in zip(panels, FEATURES.items(), strict=True):
        theory = found["theory"][feature]
        image = axes.imshow(theory.antisymmetric_share, origin="lower", cmap="PuOr", vmin=0, vmax=1, aspect="auto")
        _boundary(axes, theory.antisymmetric_share > 0.5)
        _hatch(axes, theory.ratio >= GAP)
        _marks(axes, _samples(found, config, feature, "pca")[0] > 0.5)
        axes.set_title(title)
        axes.set_xticks(range(len(config.max_shifts)), [f"{s:g}" for s in config.max_shifts])
        axes.set_yticks(range(len(config.sigmas)), [f"{s:g}" for s in config.sigmas])
        axes.set_xlabel("largest shift [pixels per frame]")
    panels[0].set_ylabel("acceptance width sigma [pixels]")
    figure.colorbar(image, ax=list(panels), label="antisymmetric share of theory's first component")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    return {"motion_map": figure}


def _boundary(axes: Axes, motion: np.ndarray) -> None:
    """Draw the edges between cells with and without motion."""
    upright = [([c + 0.5, c + 0.5], [r - 0.5, r + 0.5]) for r, c in np.argwhere(np.diff(motion, axis=1))]
    level = [([c - 0.5, c + 0.5], [r + 0.5, r + 0.5]) for r, c in np.argwhere(np.diff(motion, axis=0))]
    for k, (x, y) in enumerate(upright + level):
        axes.plot(x, y, color="black", linewidth=2.5, label="boundary of theory" if k == 0 else None)


def _hatch(axes: Axes, cells: np.ndarray) -> None:
    """Hatch the cells whose first component is not well defined."""
    from matplotlib.patches import Rectangle

    style: dict[str, Any] = {"facecolor": "none", "edgecolor": "0.7", "hatch": "///", "linewidth": 0.0}
    for row, column in np.argwhere(cells):
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **style))
    axes.add_patch(Rectangle((-9, -9), 0, 0, label="eigenvalues within 10 %: not counted", **style))


def _marks(axes: Axes, motion: np.ndarray) -> None:
    for where, marker, face, edge, label in (
        (motion, "o", "white", "black", "sample: motion first"),
        (~motion, "x", "black", None, "sample: blur first"),
    ):
        rows, columns = np.nonzero(where)
        axes.scatter(columns, rows, s=34, marker=marker, facecolor=face, edgecolor=edge, label=label, zorder=3)
