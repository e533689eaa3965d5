"""Rings tiled by NSM (Sengupta et al. 2018): the circle in the plane, and what a photograph's turning makes (C26)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from flymotion.claims.beside import Null, beside
from flymotion.claims.nulls import start_state
from flymotion.claims.offline_online.plain_networks import random_rows, rule_alone
from flymotion.claims.rows import Claim, Statistic, report
from flymotion.claims.running import Found
from flymotion.learner.sources import BUNDLED, load_photographs
from flymotion.plots.canvas import new_panels
from flymotion.similarity.features import as_features
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans
from flymotion.world.eyes import Grid
from flymotion.world.scenes import FourierScene, photograph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RINGS", "check_rings", "draw_rings", "tile"]

ANGLES = np.radians(np.arange(0, 360, 1.0))
"""Points of a ring, to learn from in random order and to show."""

N_SAMPLES, RATE = 10_000, 1e-3

RADIUS, SIGMA = 4.3, 0.5
"""Of the round patch that turns, and of its pixels' acceptance [pixel spacings]."""

RINGS = {
    "ring": "the unit circle in the plane",
    "ring_photograph": "a round patch of a photograph, 61 pixels, turned through 360 deg; less its mean over the turn",
    "ring_as_it_is": "a round patch of a photograph, 61 pixels, turned through 360 deg; its mean over the turn left in",
}

CALLED = {
    "ring": "circle",
    "ring_photograph": "photograph turned, less its mean",
    "ring_as_it_is": "photograph turned, as it is",
}
"""How titles call them."""

HOW = {
    "nsm": "NSM, after learning from its warm-up",
    "rule_alone": "NSM from random weights, by its rule alone",
    "start": "the warm-up alone",
    "kmeans": "K-means, the nearest centre",
    "random": "rectified random projections",
}
"""What answers the points of a ring."""


@cache
def _scenes() -> list[FourierScene]:
    return [photograph(each) for each in load_photographs([BUNDLED])]


def _points(ring: str, seed: int) -> np.ndarray:
    """Return a ring's points at ``ANGLES``, shape (360, n_features)."""
    c, s = np.cos(ANGLES), np.sin(ANGLES)
    if ring == "ring":
        return np.stack([c, s], axis=1)
    rng, scene = np.random.default_rng([seed, 28]), _scenes()[seed % 2]
    places = Grid(9, 9).positions
    places = places - places.mean(axis=0)
    places = places[np.hypot(*places.T) < RADIUS]
    low, high = scene.extent.T
    turns = np.stack([c, -s, s, c], axis=1).reshape(-1, 2, 2)
    seen = scene.sample(rng.uniform(low + RADIUS, high - RADIUS) + places @ turns.transpose(0, 2, 1), SIGMA)
    return seen - seen.mean(axis=0) if ring == "ring_photograph" else seen


def tile(config: Any, ring: str, seed: int) -> np.ndarray:
    """Return the outputs of each of ``HOW`` at ``ANGLES``, shape (5, 360, n_units)."""
    points, k = _points(ring, seed), config.n_units
    samples = points[np.random.default_rng([seed, 39]).integers(0, len(points), N_SAMPLES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how many units answer at all is a row
        learned = NonnegativeSimilarityMatching(k, forgetting=1 - RATE).fit(samples)
    start = start_state(samples, k, nonnegative=True)
    nearest = OuterProductKMeans(k, n_init=3, random_state=seed).fit(samples[:2000]).predict(points)
    outputs = [
        learned.transform(points),
        rule_alone(samples, k, [seed, 40], nonnegative=True, rate=RATE).transform(points),
        start.respond(as_features(points), nonnegative=True, max_sweeps=100)[0],
        np.eye(k)[nearest],
        np.maximum(points @ random_rows(k, points.shape[1], [seed, 41]).T, 0),
    ]
    return np.stack([each / each.max() for each in outputs])


# -- claims ------------------------------------------------------------------------------------------------------------


class Tiling(NamedTuple):
    """How units lie on a ring."""

    units: float
    """That any point makes active."""
    gap: float
    """Largest angle between neighbouring preferred directions [deg]."""
    width: float
    """Of a unit's field, the median [deg]."""
    fields: float
    """Of a unit, the mean number, where they do not go all round."""
    covered: float
    """Share of the ring that some unit answers."""


def _tiling(outputs: np.ndarray) -> Tiling:
    """Measure outputs, shape (n_angles, n_units), the largest being 1."""
    active = outputs > 1e-9
    units = active.any(axis=0)
    preferred = np.degrees(np.angle(np.exp(1j * ANGLES) @ outputs[:, units]))
    around = np.sort(preferred % 360)
    begun = (active & ~np.roll(active, 1, axis=0)).sum(axis=0)[units]
    return Tiling(
        units.sum(),
        np.diff(np.append(around, around[0] + 360)).max(),
        np.median(active[:, units].mean(axis=0)) * 360,
        begun.mean(),
        active.any(axis=1).mean(),
    )


def check_rings(found: Found, config: Any) -> Iterator[Claim]:
    """Report how units tile each ring, of the seeds the worst gap, and medians of the rest."""
    measures: tuple[tuple[str, str, str, Statistic], ...] = (
        ("active", "units that some point makes active, fewest", "units", np.min),
        ("gap", "largest gap between preferred angles", "deg", np.max),
        ("width", "median width of a unit's fields together", "deg", np.median),
        ("fields", "fields of a unit, mean", "fields", np.median),
        ("covered", "share of the ring that some unit answers, least", "", np.min),
    )
    for ring, outputs in found.items():
        tilings = {how: Tiling(*np.transpose([_tiling(seed) for seed in outputs[:, i]])) for i, how in enumerate(HOW)}
        note = f"{RINGS[ring]}; {config.n_units} units, {N_SAMPLES} samples, rate {RATE:g}"
        for i, (measure, title, unit, worst) in enumerate(measures):
            title = f"{title}, {CALLED[ring]}: {HOW['nsm']}"
            row = report(f"C26.{ring}_{measure}", title, tilings["nsm"][i], worst=worst, unit=unit, note=note)
            rows = beside(row, **{how: Null(HOW[how], tilings[how][i], worst) for how in HOW if how != "nsm"})
            yield from rows if measure in ("active", "gap", "width") else [next(rows)]


def draw_rings(found: Found, config: Any) -> Figure:
    """Draw tuning on each ring of the first seed, before and after learning, and of random projections."""
    shown = ("nsm", "rule_alone", "start", "random")
    titles = ("NSM, from its warm-up", "NSM, rule alone", "warm-up alone", "random projections")
    rows = [words.replace(", ", ",\n") for words in CALLED.values()]
    figure, panels = new_panels(len(RINGS) * len(shown), len(shown), (2.9, 1.8), margins=(0.6, 0.8))
    for row, (name, outputs) in enumerate(zip(rows, found.values(), strict=True)):
        for column, (how, title) in enumerate(zip(shown, titles, strict=True)):
            axes = panels[row * len(shown) + column]
            axes.plot(np.degrees(ANGLES), outputs[0, list(HOW).index(how)], linewidth=1.2)
            axes.set(xlim=(0, 360), ylim=(0, 1.05), xticks=range(0, 361, 90))
            axes.tick_params(labelsize=7)
            axes.set_title(title if row == 0 else "", fontsize=9)
            axes.set_xlabel("angle [deg]" if row == len(rows) - 1 else "", fontsize=8)
            axes.set_ylabel(f"{name}\noutput / largest" if column == 0 else "", fontsize=8)
    figure.suptitle(f"Section 1.1: {config.n_units} units on a ring, one colour each", fontsize=11)
    return figure
