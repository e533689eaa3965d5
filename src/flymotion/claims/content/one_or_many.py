r"""One unit for all velocities, or one a velocity (Sec. 2.2).

The paper sums the outer product of two frames along each diagonal, :math:`y_d = \sum_i x_{t,i} x_{t+1,i+d}`, one unit
a velocity d, and "the velocity of the object is given by the most active neuron". Its own network has "a single output
neuron (for each direction of motion), whose activity increases with velocity". Both see the same new pairs, of content
that nothing was learned from, moving by fractions of a pixel and by whole pixels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.content.classes import CLASSES, WORLD, Views, contrasts
from flymotion.claims.content.transfer import less_means, whitening
from flymotion.claims.lessons import opposed
from flymotion.claims.nulls import labelled_means, random_filters, start_alone
from flymotion.claims.rows import Claim, report
from flymotion.claims.worlds import rightward_first
from flymotion.frames import FramePairs
from flymotion.relations import DiagonalSums, GatedBoltzmann
from flymotion.similarity.features import outer_products
from flymotion.world.motions import Motion

__all__ = [
    "MEASURES",
    "SHIFTS",
    "VELOCITY_READERS",
    "Velocities",
    "check_velocities",
    "tell_velocities",
]

LARGEST = 2
"""Whole pixels per frame."""

UNSEEN = ("edges", "gratings", "photographs")
"""Classes that nothing is learned from here."""

WAYS = np.arange(-LARGEST, LARGEST + 1)

SHIFTS = {
    "fractions": WORLD.motion,
    "whole": Motion([("right", "left")], [[[0.0, 1.0]]], np.sign(WAYS + 0.5)[:, None], np.abs(WAYS)[:, None] * [1, 1]),
}
"""L2's; and whole pixels, 0 among them, all equally often."""

CALLED = {"fractions": "fractions of a pixel", "whole": "whole pixels"}

LIMITS = {"fractions": WORLD.max_shift, "whole": float(LARGEST)}
"""Largest shifts [pixels per frame]."""

VELOCITY_READERS = {
    "": "one unit a direction, NSM's",
    "random": "one random unit a direction",
    "start": "one unit a direction, the start alone, before learning",
    "labelled": "one unit a direction, averages by label of noise",
    "contrast": "one unit a direction, NSM's, over the pair's squared contrast",
    "gated": "two mapping units of a gated network, of the change",
    "gated_next": "two mapping units of a gated network, of the next frame",
    "diagonals": "one unit a velocity, the most active of sums along diagonals",
    "raw_diagonals": "one unit a velocity, the most active of sums along diagonals of frames as they are",
}
"""Who reads velocity: suffix of the row, and name."""

MEASURES = {
    "direction": "accuracy of direction, pairs that move",
    "speed": "correlation of what is read, whatever its sign, with speed",
    "told": "share of pairs whose velocity is told to a quarter of the largest",
}


class Velocities(NamedTuple):
    """How well each reader tells velocity."""

    measured: np.ndarray
    """Shape (n_shifts, n_readers, n_measures, n_unseen)."""
    rise: np.ndarray
    """Activity of NSM's units at two pixels a frame over that at one, shape (n_unseen,)."""


def tell_velocities(config: Any, seed: int) -> Velocities:
    """Learn from noise, seen by the largest eye, and read velocities of all other classes."""
    rng, n = np.random.default_rng([seed, 22]), max(config.sizes)
    measured, estimates = [], []
    for name, motion in SHIFTS.items():
        lesson = CLASSES["noise"](Views(n, config.n_pairs, config.n_scenes // 4, motion), rng)
        views = Views(n, config.n_velocities, config.n_scenes // 4, motion, new=True)
        tests = [contrasts(CLASSES[unseen](views, rng)) for unseen in UNSEEN]
        (noise,), seen = less_means([lesson]), less_means(tests)
        Z = whitening([noise])
        read = _units(_through(Z, noise), rng, seed)
        estimates = [
            np.stack([*read(_through(Z, test)), *(_diagonals(each) for each in (_through(Z, test), raw))])
            for test, raw in zip(seen, tests, strict=True)
        ]
        scores = [_scores(v, test, LIMITS[name]) for v, test in zip(estimates, tests, strict=True)]
        measured.append(np.stack(scores, axis=-1))
    return Velocities(np.array(measured), np.array([_rise(v[0], t) for v, t in zip(estimates, tests, strict=True)]))


def _through(Z: np.ndarray, pairs: FramePairs) -> FramePairs:
    return pairs.map(lambda frames: frames @ Z)


def _units(lesson: FramePairs, rng: np.random.Generator, seed: int) -> Callable[[FramePairs], np.ndarray]:
    """Let one unit a direction learn; return what estimates velocities of pairs, shape (n_readers, n_pairs).

    Estimates are outputs, right less left, times the factor that is best on the pairs learned from; mapping units have
    a level of their own, which is taken away.
    """
    assert lesson.motion is not None
    chi, v = outer_products(lesson, WORLD.feature), lesson.motion[:, 0]
    learned, start = opposed(chi), start_alone(2, chi)
    means = labelled_means(chi[v != 0], (v[v != 0] < 0).astype(int))
    nulls = np.concatenate([random_filters(2, chi, rng), start[rightward_first(start)], means])
    gates = [GatedBoltzmann(2, n_factors=60, onto=onto, random_state=seed).fit(lesson) for onto in ("change", "next")]
    levels = [np.diff(gate.transform(lesson)).mean() for gate in gates]

    def read(pairs: FramePairs) -> np.ndarray:
        seen = outer_products(pairs, WORLD.feature)
        outputs = [learned.outputs(seen), *np.split(np.maximum(seen.project(nulls), 0), 3, axis=1)]
        readings = np.stack([right - left for right, left in (each.T for each in outputs)])
        contrast = readings[:1] / (pairs.before**2 + pairs.after**2).sum(axis=1)
        mapped = [np.diff(g.transform(pairs))[:, 0] - level for g, level in zip(gates, levels, strict=True)]
        return np.concatenate([readings, contrast, np.stack(mapped)])

    readings = read(lesson)
    factors = readings @ v / (readings**2).sum(axis=1)
    return lambda pairs: factors[:, None] * read(pairs)


def _diagonals(pairs: FramePairs) -> np.ndarray:
    """Return the displacement of the most active of all sums along diagonals, shape (n_pairs,)."""
    return DiagonalSums().fit(pairs).velocities(pairs)[:, 0]


def _scores(estimates: np.ndarray, pairs: FramePairs, largest: float) -> np.ndarray:
    """Return all measures, in their order, of velocities estimated by each reader; shape (n_readers, n_measures)."""
    assert pairs.motion is not None
    v = pairs.motion[:, 0]
    moving = v != 0
    right = np.sign(estimates[:, moving]) == np.sign(v[moving])
    told = np.abs(estimates - v) < largest / 4
    return np.stack([right.mean(axis=1), _correlations(np.abs(estimates), np.abs(v)), told.mean(axis=1)], axis=1)


def _correlations(rows: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the correlation of each row with another, 0 where it does not vary."""
    rows, other = rows - rows.mean(axis=1, keepdims=True), other - other.mean()
    return rows @ other / np.maximum(np.linalg.norm(rows, axis=1) * np.linalg.norm(other), 1e-300)


def _rise(estimates: np.ndarray, pairs: FramePairs) -> float:
    assert pairs.motion is not None
    two, one = (np.abs(estimates[np.abs(pairs.motion[:, 0]) == speed]).mean() for speed in (2, 1))
    return float(two / one)


def check_velocities(found: Velocities, config: Any) -> Iterator[Claim]:
    """State what Section 2.2 says of one unit for all velocities, and of one a velocity."""
    world = (
        f"n = {max(config.sizes)}, learned from noise, its whitening, frames' means removed; Sec. 2.2 wants \"a single "
        'output neuron (for each direction of motion), whose activity increases with velocity"'
    )
    for (i, shifts), (j, (measure, title)) in itertools.product(enumerate(SHIFTS), enumerate(MEASURES.items())):
        guess = {"direction": 0.5, "speed": 0.0, "told": 0.25 if shifts == "fractions" else 0.2}[measure]
        by = {
            key: Null(reader, {name: found.measured[:, i, k, j, c] for c, name in enumerate(UNSEEN)}, np.min)
            for k, (key, reader) in enumerate(VELOCITY_READERS.items())
        }
        learned, note = by.pop(""), f"no motion named, or a guess: {guess:g}; {world}"
        title = f"{title}, shifts of {CALLED[shifts]}, content not learned from, lowest: {learned.name}"
        row = report(f"C9.velocity_{shifts}_{measure}", title, learned.values, worst=np.min, note=note)
        yield from beside(row, **by)
    title = "activity of one unit a direction at two pixels a frame over that at one, content not learned from, lowest"
    rises = {name: found.rise[:, c] for c, name in enumerate(UNSEEN)}
    yield report("C9.velocity_rise", title, rises, worst=np.min, note=world)
