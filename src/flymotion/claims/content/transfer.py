"""What was learned from one class of scenes, tested on all; and units that add frames instead of multiplying them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from flymotion.claims.beside import Null, beside
from flymotion.claims.content.classes import CLASSES, WORLD, Views, drawn
from flymotion.claims.lessons import opposed, two_units
from flymotion.claims.nulls import NULLS, unlearned
from flymotion.claims.rows import Claim, below, report
from flymotion.claims.worlds import leftward, rightward_first, share_right
from flymotion.frames import FramePairs
from flymotion.photoreceptors import ZCAWhitening
from flymotion.relations.additive import end_to_end
from flymotion.similarity.features import outer_products

__all__ = [
    "ADDING",
    "BOUND",
    "READERS",
    "VARIANTS",
    "Transfer",
    "check_transfer",
    "learn_and_test",
    "less_means",
    "losses",
    "whitening",
]

REGULARIZATION = 0.1
"""Of the whitening: gratings and photographs hold next to nothing of the finest detail, which it would amplify."""

VARIANTS = {
    "own": "whitening fitted on the class learned from alone, frames' means left in",
    "shared": "whitening fitted on all four classes, frames' means left in",
    "own_removed": "whitening fitted on the class learned from alone, each frame's mean removed",
    "shared_removed": "whitening fitted on all four classes, each frame's mean removed",
}
"""Early vision; the first is the claim."""

READERS = {
    "": "NSM's filters",
    **NULLS,
    "labelled": "averages by label of the class learned from",
    "population": "the population's filter of noise, whatever the class",
}
"""Who reads direction: suffix of the row, and name."""

ADDING = ("NSM", "logistic regression", "with a threshold")
"""What learns from both whitened frames end to end, so that a unit adds what it has of either.

The last two are logistic regressions.
"""

OUTSIDE = "an edge in every view: 0.025 to 0.040, and no longer within the bound, where edges may lie 1.5 px outside it"
"""What was measured once, in four seeds, of the one variant that holds."""

BOUND = 0.03
"""The claim's, either side: of accuracies, and of their distance from chance."""


class Transfer(NamedTuple):
    """Shares of new pairs whose direction is told."""

    accuracies: np.ndarray
    """Class learned from by class tested on, shape (n_sizes, n_variants, n_readers, n_classes, n_classes)."""
    additive: np.ndarray
    """Of units that add, on the class that they learned from, shape (n_sizes, n_units, n_classes)."""


def learn_and_test(config: Any, seed: int) -> Transfer:
    """Learn from every class of scenes, and test on every class, at every size."""
    rng = np.random.default_rng([seed, 9])
    accuracies, additive = [], []
    to_learn, to_test = (
        drawn(Views(0, n_pairs, config.n_scenes, new=new), config.sizes, rng)
        for n_pairs, new in ((config.n_pairs, False), (config.n_test, True))
    )
    for n in config.sizes:
        lessons, tests = to_learn[n], to_test[n]
        removed = less_means(lessons), less_means(tests)
        told = [_told(vision, *(removed if "removed" in vision else (lessons, tests)), rng) for vision in VARIANTS]
        accuracies.append(told)
        alone = [whitening([lesson]) for lesson in lessons]
        additive.append(np.transpose([_additive(*both) for both in zip(alone, lessons, tests, strict=True)]))
    return Transfer(np.array(accuracies), np.array(additive))


def less_means(some: list[FramePairs]) -> list[FramePairs]:
    """Take each frame's mean from it, as lateral inhibition would."""
    return [pairs.map(lambda frames: frames - frames.mean(axis=1, keepdims=True)) for pairs in some]


def whitening(lessons: list[FramePairs]) -> np.ndarray:
    """Fit on classes of scenes, each brought to the same variance; shape (n, n)."""
    frames = [pairs.before / pairs.before.std() for pairs in lessons]
    return ZCAWhitening(REGULARIZATION).fit(np.concatenate(frames)).matrix_


def _told(variant: str, lessons: list[FramePairs], tests: list[FramePairs], rng: np.random.Generator) -> np.ndarray:
    """Learn from each class, and test on all; shape (n_readers, n_classes, n_classes)."""
    shared = whitening(lessons)
    Zs = [whitening([lesson]) if variant.startswith("own") else shared for lesson in lessons]
    learned = [_filters(*both, rng) for both in zip(Zs, lessons, strict=True)]
    flat = np.concatenate(learned)
    readings = [outer_products(test, WORLD.feature).project(flat) for test in tests]
    told = [[share_right(r, test) for r in reading.T] for reading, test in zip(readings, tests, strict=True)]
    return np.reshape(told, (len(tests), len(lessons), -1)).transpose(2, 1, 0)


def _filters(Z: np.ndarray, lesson: FramePairs, rng: np.random.Generator) -> np.ndarray:
    """Return each reader's filter, right less left, for frames that are not whitened; shape (n_readers, n, n)."""
    chi = outer_products(lesson.map(lambda frames: frames @ Z), WORLD.feature)
    learned = Z @ opposed(chi).opponent @ Z
    others = unlearned(chi, leftward(lesson), rng)
    others["start"] = others["start"][rightward_first(others["start"])]
    theory = WORLD.population(len(Z))
    population = theory.Z @ theory.components(1)[1][0] @ theory.Z
    return np.stack([learned, *(Z @ (right - left) @ Z for right, left in others.values()), population])


def _additive(Z: np.ndarray, lesson: FramePairs, test: FramePairs) -> list[float]:
    """Learn from both whitened frames end to end, not from their product: NSM, and logistic regression with labels."""
    assert lesson.motion is not None
    both, new = (end_to_end(pairs.map(lambda frames: frames @ Z)) for pairs in (lesson, test))
    scale, signs = both.std(), np.sign(lesson.motion[:, 0])
    both, new = both / scale, new / scale
    units = two_units(both).components_
    readings = [new @ (units[0] - units[1])]
    for threshold in (False, True):
        regression = LogisticRegression(fit_intercept=threshold, solver="newton-cholesky").fit(both, signs)
        readings.append(regression.decision_function(new))
    return [share_right(reading, test) for reading in readings]


def losses(accuracies: np.ndarray) -> np.ndarray:
    """How much less often each reader tells direction than NSM's filter learned from the class tested on.

    Of shape (..., n_readers, n_classes, n_classes), as given; NSM is the first reader.
    """
    best = np.diagonal(accuracies[..., 0, :, :], axis1=-2, axis2=-1)
    return best[..., None, None, :] - accuracies


def check_transfer(learned: Transfer, config: Any) -> Iterator[Claim]:
    """State C9, but for Section 2.2's one unit for all velocities."""
    world = f"optics, shifts and feature of L2 for all classes, whitening regularised by {REGULARIZATION:g}"
    lost = losses(learned.accuracies)
    for j, (variant, vision) in enumerate(VARIANTS.items()):
        for i, n in enumerate(config.sizes):
            note = f"{world}; {OUTSIDE}" if (variant, n) == ("shared_removed", 15) else world
            yield from _row(f"C9.{variant}_{n}", f"n = {n}, {vision}", lost[:, i, j], note)
    title = "distance from chance of the accuracy of units that add both frames, on the class that they learned from"
    chance = {unit: np.abs(learned.additive[:, :, k] - 0.5) for k, unit in enumerate(ADDING)}
    means = ", ".join(f"{unit} {told:.3f}" for unit, told in zip(ADDING, learned.additive.mean((0, 1, 3)), strict=True))
    adding = (
        f"mean accuracies {means}: a sum without a threshold changes sign with the content; one with a threshold "
        "multiplies a little, and what it learned of some scenes tells now for and now against the direction in others"
    )
    note = f"{VARIANTS['own']}; {adding}; {world}"
    yield below("C9.or", title, chance, BOUND, note=note)
    sums = {unit: chance[unit] for unit in ADDING[:-1]}
    yield report("C9.or_sums", f"{title}, without a threshold", sums, worst=np.max, note=note)
    names, own = list(CLASSES), learned.accuracies[:, :, 0, 0]
    for a, b in np.ndindex(len(names), len(names)):
        title = f"lowest accuracy of direction, learned from {names[a]}, tested on {names[b]}: {VARIANTS['own']}"
        by = {f"n = {n}": own[:, i, a, b] for i, n in enumerate(config.sizes)}
        yield report(f"C9.{names[a]}_{names[b]}", title, by, worst=np.min, note=world)


def _row(id: str, how: str, lost: np.ndarray, world: str) -> Iterator[Claim]:
    """State how much all readers lose, shape (n_seeds, n_readers, n_classes, n_classes), at one size and variant."""
    title = "largest difference of accuracy on new pairs from NSM's filter learned from the class tested on"
    apart, names = np.abs(lost), list(CLASSES)
    each = {suffix: apart[:, k] for k, suffix in enumerate(READERS)}
    seed, a, b = np.unravel_index(each[""].argmax(), each[""].shape)
    less = "less" if lost[seed, 0, a, b] > 0 else "more"
    mean = each[""].max(axis=(1, 2)).mean()
    note = f"worst: {names[a]} to {names[b]}, {less}; mean of the seeds {mean:.3f}; {world}"
    row = below(id, f"{title}, {how}: of NSM's filters", each.pop(""), BOUND, note=note)
    yield from beside(row, **{suffix: Null(READERS[suffix], values) for suffix, values in each.items()})
