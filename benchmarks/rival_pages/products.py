"""Learners of products of two frames, beside ours and nulls: the tables of docs/product-learners.md, in Markdown.

    python benchmarks/rival_pages/products.py [--part NAME] [--seeds N]

The part "figure" draws docs/gated-filters.png, of seed 0.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from product_autoencoder import GatedAutoencoder
from product_images import (
    Images,
    Shifts,
    Shown,
    along_diagonals,
    circular_harmonics,
    correlation,
    sinusoids,
)
from product_worlds import Line, features, lines, planes, steerable, untrained
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import Part, of_seeds, run_parts, spread, table

from flymotion.claims.worlds import WORLDS
from flymotion.frames import FramePairs
from flymotion.plots.canvas import new_figure
from flymotion.relations import DiagonalSums, GatedBoltzmann
from flymotion.writing import whole

FIGURE = Path(__file__).parents[2] / "docs" / "gated-filters.png"

OF_LINE: dict[str, Any] = {"n_components": 20, "n_factors": 60, "weight_decay": 0.01}
OF_IMAGES: dict[str, Any] = {"n_components": 40, "n_factors": 100}
OF_LARGE: dict[str, Any] = {"n_components": 60, "n_factors": 120}

OWN: dict[str, tuple[Any, dict[str, Any], float]] = {
    "line of 13, 7 shifts": (Shifts(), OF_LINE, 1.0),
    "9 x 9 dots, 25 shifts": (Images("shift"), OF_IMAGES, 0.3),
    "9 x 9 dots, 9 rotations": (Images("rotation"), OF_IMAGES, 0.3),
}
"""Its own kind of data: images, settings, and the size of frames that the untrained machine takes for 1."""

LARGE_SHIFTS, LARGE_NOISE = Images("shift", 13, 23, 3), Images("shift", 13, 23, 3, dots=False)

LARGE: dict[str, tuple[Images, dict[str, Any], int]] = {
    "dots, 49 shifts, 40 passes": (LARGE_SHIFTS, OF_LARGE | {"n_passes": 40}, 10_000),
    "120 passes": (LARGE_SHIFTS, OF_LARGE | {"n_passes": 120}, 10_000),
    "300 passes": (LARGE_SHIFTS, OF_LARGE | {"n_passes": 300}, 10_000),
    "60 passes, no weight decay": (LARGE_SHIFTS, OF_LARGE | {"n_passes": 60, "weight_decay": 0.0}, 10_000),
    "white noise, 40 passes": (LARGE_NOISE, OF_LARGE | {"n_passes": 40}, 20_000),
    "200 factors": (LARGE_SHIFTS, {"n_components": 100, "n_factors": 200, "n_passes": 40, "weight_decay": 0.0}, 20_000),
    "150 factors, learning rate 0.05": (
        LARGE_SHIFTS,
        {"n_components": 100, "n_factors": 150, "n_passes": 100, "learning_rate": 0.05, "batch_size": 50},
        10_000,
    ),
    "dots, 9 rotations, 40 passes": (Images("rotation", 13, 23), OF_LARGE | {"n_passes": 40}, 10_000),
}
"""Images of 13 x 13 pixels: settings, and pairs to learn from."""

N_NEW = 3000
"""Pairs to test."""


# -- its own kind of data ----------------------------------------------------------------------------------------------


class Lesson:
    """Pairs to learn from, new ones, others of the same transformations, and the new ones' partners out of order."""

    def __init__(self, images: Any, n_pairs: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.images: Any = images
        self.learned: Shown = images.draw(n_pairs, rng)
        self.new: Shown = images.draw(N_NEW, rng)
        self.other: Shown = images.draw(N_NEW, rng, self.new.parameter)
        self.elsewhere = rng.permutation(N_NEW)

    def named(self, outputs: np.ndarray, new_outputs: np.ndarray) -> float:
        """Return the share of transformations that a logistic regression names."""
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
        return model.fit(outputs[:6000], self.learned.label[:6000]).score(new_outputs, self.new.label)

    def measures(self, model: GatedBoltzmann) -> dict[str, float]:
        """Return what its filters are, what its mapping units name, and what its analogies are worth."""
        shape, gates = self.images.shape, model.gates_
        (share, f), (share_after, f_after) = (sinusoids(filters, shape) for filters in (gates.U, gates.V))
        made = model.analogies(self.new.pairs, self.other.before) - model.scales_[1] * gates.b
        found = {"sinusoids": (share.mean() + share_after.mean()) / 2}
        if len(shape) == 2:
            found["harmonics"] = np.mean([circular_harmonics(W, shape[0]) for W in (gates.U, gates.V)])
        return found | {
            "same frequency": float(np.mean(np.abs(f - f_after).max(axis=1) <= 0.03)),
            "in quadrature": along_diagonals(model.generators_, shape),
            "named": self.named(model.transform(self.learned.pairs), model.transform(self.new.pairs)),
            "analogy": correlation(made, self.other.after),
            "from another pair": correlation(made[self.elsewhere], self.other.after[np.arange(N_NEW)]),
        }

    def unlearned(self) -> dict[str, float]:
        """Return what is named and made without learning."""
        learned, new, other = self.learned, self.new, self.other
        found = {"image unchanged": correlation(other.before, other.after)}
        if self.images.shape == (13,):
            seen, unseen = (np.c_[some.before, some.after] for some in (learned, new))
            found["named by pixels"] = self.named(seen, unseen)
            found["the shift, known"] = correlation(self.moved(other.before, new.parameter), other.after)
        if not isinstance(self.images, Shifts) and self.images.motion == "rotation":
            return found
        seen, unseen = (self.frames(some) for some in (learned, new))
        sums = DiagonalSums(self.images.reach).fit(seen)
        right = sums.velocities(unseen) == new.parameter.reshape(N_NEW, -1)
        return found | {"named by sums along diagonals": float(right.all(axis=1).mean())}

    def frames(self, shown: Shown) -> FramePairs:
        return FramePairs(shown.before.reshape(-1, *self.images.shape), shown.after.reshape(-1, *self.images.shape))

    def moved(self, images: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        """Shift lines; what comes in at the border is 0."""
        i = np.arange(images.shape[1]) - shifts[:, None]
        inside = (i >= 0) & (i < images.shape[1])
        return np.where(inside, np.take_along_axis(images, i % images.shape[1], axis=1), 0.0)


def own(n_seeds: int) -> Iterator[str]:
    """Measure it on its own kind of data."""
    for name, (images, settings, scale) in OWN.items():
        yield from own_table(f"{name}, {n_seeds} seeds", [(images, settings, scale, 10_000, s) for s in range(n_seeds)])


def larger(n_seeds: int) -> Iterator[str]:
    """Measure it on images of the size of its paper's, 13 x 13 pixels."""
    for name, (images, settings, n_pairs) in LARGE.items():
        try:
            given = [(images, settings, 0.3, n_pairs, seed) for seed in range(n_seeds)]
            yield from own_table(f"13 x 13: {name}, {n_seeds} seeds", given)
        except ValueError as refused:
            yield f"\n13 x 13: {name}: {refused}"


def own_table(title: str, given: list[tuple[Any, dict[str, Any], float, int, int]]) -> Iterator[str]:
    found, seconds = zip(*(measured(*one) for one in given), strict=True)
    rows = {who: of_seeds(one[who] for one in found) for who in found[0]}
    columns = list(rows["gated"])
    yield from table(
        f"{title}; {np.mean(seconds):.1f} s to learn",
        ["", *columns],
        ([who, *(spread(rows[who][column]) for column in columns)] for who in ("gated", "untrained")),
    )
    yield "; ".join(f"{name} {spread(values)}" for name, values in rows["without learning"].items())


def measured(
    images: Any, settings: dict[str, Any], scale: float, n_pairs: int, seed: int
) -> tuple[dict[str, dict[str, float]], float]:
    lesson = Lesson(images, n_pairs, seed)
    start = time.perf_counter()
    learned = GatedBoltzmann(**settings, random_state=seed).fit(lesson.learned.pairs)
    seconds = time.perf_counter() - start
    n, F, K = int(np.prod(images.shape)), settings["n_factors"], settings["n_components"]
    models = {"gated": learned, "untrained": untrained(n, F, K, seed, scale)}
    found = {who: lesson.measures(model) for who, model in models.items()}
    return found | {"without learning": lesson.unlearned()}, seconds


# -- other ways to learn, and the figure ------------------------------------------------------------------------------


def autoencoder(n_seeds: int) -> Iterator[str]:
    """Compare with the later form of the network, on shifts of a line."""

    def measures(seed: int) -> dict[str, Any]:
        lesson, found = Lesson(Shifts(), 10_000, seed), {}
        settings = OF_LINE | {"random_state": seed}
        for name, model in {
            "contrastive divergence": GatedBoltzmann(**settings),
            "autoencoder, learning rate 0.03": GatedAutoencoder(**settings),
            "autoencoder, learning rate 0.01": GatedAutoencoder(**settings | {"learning_rate": 0.01}),
            "autoencoder, no weight decay": GatedAutoencoder(**settings | {"learning_rate": 0.01, "weight_decay": 0.0}),
        }.items():
            found[name] = list(lesson.measures(model.fit(lesson.learned.pairs)).values())[:5]
        return found

    columns = ("sinusoids", "same frequency", "in quadrature", "named", "analogy")
    found = of_seeds(map(measures, range(n_seeds)))
    rows = ([name, *map(spread, one.T)] for name, one in found.items())
    yield from table(f"A denoising autoencoder beside it, {n_seeds} seeds", ["", *columns], rows)


def decay(n_seeds: int) -> Iterator[str]:
    """Compare two weight decays: on shifts of a line, and on L1's changes."""
    rows = []
    for weight_decay in (0.001, 0.01):
        found = of_seeds(with_decay(weight_decay, seed) for seed in range(n_seeds))
        rows.append([weight_decay, *map(spread, found.values())])
    yield from table(f"Weight decay, {n_seeds} seeds", ["weight decay", *found], rows)


def with_decay(weight_decay: float, seed: int) -> dict[str, float]:
    lesson, line = Lesson(Shifts(), 10_000, seed), Line(WORLDS["L1"], 5, seed)
    model = GatedBoltzmann(20, weight_decay=weight_decay, random_state=seed).fit(lesson.learned.pairs)
    measures = lesson.measures(model)
    change = GatedBoltzmann(2, n_factors=20, onto="change", weight_decay=weight_decay, random_state=seed)
    h, h_new = change.fit(line.pairs).transform(line.pairs), change.transform(line.new)
    return {
        "sinusoids": measures["sinusoids"],
        "named": measures["named"],
        "L1: direction by the most active": line.of_most_active(h, h_new),
        "L1: velocity": line.goes_with(line.regressed(h, h_new)),
    }


def figure(n_seeds: int) -> Iterator[str]:
    """Draw filters of factors, of seed 0."""
    canvas = new_figure(11, 4.6)
    titles = ("whole-pixel shifts", "rotations by multiples of 10 degrees")
    halves: Any = canvas.subfigures(1, 2)
    for half, motion, title in zip(halves, ("shift", "rotation"), titles, strict=True):
        pairs = Images(motion).draw(10_000, np.random.default_rng(0)).pairs
        gates = GatedBoltzmann(**OF_IMAGES, random_state=0).fit(pairs).gates_
        chosen = np.random.default_rng(0).choice(100, 20, replace=False)
        filters = np.stack([gates.U, gates.V])[:, :, chosen].reshape(2, 9, 9, 20)
        largest = np.abs(filters).max()
        axes = half.subplots(4, 10)
        for k in range(20):
            for which in range(2):
                ax = axes[2 * (k // 10) + which, k % 10]
                shown = ax.imshow(filters[which, :, :, k], cmap="RdBu_r", vmin=-largest, vmax=largest)
                ax.set(xticks=[], yticks=[])
        for row, ax in enumerate(axes[:, 0]):
            ax.set_ylabel(("before", "after")[row % 2], fontsize=9)
        half.suptitle(f"{title}: filters of 20 of 100 factors", fontsize=10)
        half.colorbar(shown, ax=axes, location="bottom", shrink=0.6, aspect=40, label="weight")
    with whole(FIGURE) as place:
        canvas.savefig(place, dpi=80)
    yield f"\n{FIGURE.name} is drawn"


PARTS: dict[str, tuple[int, Part]] = {
    "own": (5, own),
    "larger": (1, larger),
    "autoencoder": (1, autoencoder),
    "decay": (1, decay),
    "figure": (1, figure),
    "lines": (5, lines),
    "planes": (5, planes),
    "features": (5, features),
    "steerable": (5, steerable),
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS, sys.argv[1:])
