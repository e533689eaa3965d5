"""Where random filters lead: two units of NSM that learn as printed, without a warm-up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import binomtest

from flymotion.claims.literal_network.agreement import STRENGTH, unit_energy
from flymotion.claims.nulls import labelled_means, random_filters
from flymotion.claims.rows import Claim, report
from flymotion.claims.worlds import WORLDS
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.literal import RateNetwork

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from flymotion.claims.literal_network import Config

__all__ = ["TOGETHER", "Ends", "check_starts", "draw_paths", "start_at_random"]

LIKE = 0.8
"""|cosine| with the population's component beyond which a filter is one of a direction."""

TOGETHER = 5
"""Starts that share a scene, each with pairs of its own: drawing a scene takes longer than drawing its pairs."""

N_BLOCKS = 20
"""Parts of a pass after which filters are looked at."""

RUNS = ((STRENGTH, 3), (1.0, 1), (0.0, 1))
"""That at the start, and passes."""

ENDS = {"": (0, 1), "_three": (0, 3), "_that_1": (1, 1), "_that_0": (2, 1)}
"""Rows, and which of ``RUNS`` each is about, after how many passes."""


class Ends(NamedTuple):
    """Where random filters go; starts of one scene along the first axis."""

    cosines: np.ndarray
    """With the population's component after each block of each pass of all ``RUNS``, (n, n_passes, N_BLOCKS, 2)."""
    dead: np.ndarray
    """Whether a unit answered nothing in a pass, shape (n, n_passes)."""
    start: np.ndarray
    """Cosines at the start, shape (n, 2)."""
    labelled: np.ndarray
    """Cosines of the averages by label, shape (n, 2)."""


def start_at_random(world: str, config: Config, scene: int) -> Ends:
    """Let ``TOGETHER`` starts learn."""
    given, n_pairs = WORLDS[world], config.n_pairs
    component = given.population(config.n).components(1)[1][0]
    pairs = given.pairs(config.n, TOGETHER * n_pairs, [scene, 36, 5])
    chi = unit_energy(outer_products(ZCAWhitening(0.0).fit_transform(pairs), given.feature))
    assert pairs.motion is not None
    rightwards = (pairs.motion[:, 0] > 0).astype(int)
    found = []
    for i in range(TOGETHER):
        own = slice(i * n_pairs, (i + 1) * n_pairs)
        W = random_filters(2, chi, np.random.default_rng([scene, i, 36]))
        learned = [_learn(chi[own], W, component, *run) for run in RUNS]
        cosines, dead = (np.concatenate(parts) for parts in zip(*learned, strict=True))
        labelled = labelled_means(chi[own], rightwards[own])
        found.append((cosines, dead, cosine(W, component), cosine(labelled, component)))
    return Ends._make(map(np.stack, zip(*found, strict=True)))


def _learn(
    chi: OuterProducts, W: np.ndarray, component: np.ndarray, strength: float, n_passes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return cosines, shape (n_passes, N_BLOCKS, 2), and whether a unit is dead, shape (n_passes,)."""
    network = RateNetwork(W, strength=strength, tolerance=1e-4)
    cosines, answers = np.zeros((n_passes, N_BLOCKS, 2)), np.zeros((n_passes, 2))
    blocks = list(zip(*(np.array_split(factor, N_BLOCKS) for factor in (chi.u, chi.v)), strict=True))
    for i, j in np.ndindex(n_passes, N_BLOCKS):
        answers[i] += network.learn(*blocks[j]).outputs.sum(axis=0)
        cosines[i, j] = cosine(network.W, component)
    return cosines, (answers == 0).any(axis=1)


# -- claims and figure ------------------------------------------------------------------------------------------------


def check_starts(by_scene: Mapping[str, Ends], config: Config) -> Iterator[Claim]:
    """Report how many starts succeed, and how the others fail."""
    starts = {world: _start_by_start(ends, config) for world, ends in by_scene.items()}
    first = np.cumsum([0, *(n for _, n in RUNS)])
    for suffix, (run, n_passes) in ENDS.items():
        strength, end = RUNS[run][0], first[run] + n_passes - 1
        learned = {world: _succeed(ends.cosines[:, end, -1]) for world, ends in starts.items()}
        how = (
            f"T-hat at first {strength:g}, {n_passes} x {config.n_pairs} pairs of unit mean-square chi, n = {config.n}"
        )
        failures = "; ".join(
            f"{world} failures: {_failures(ends.cosines[:, end, -1], ends.dead[:, end])}"
            for world, ends in starts.items()
        )
        title = (
            f"seeds of {config.n_starts} in which two NSM units learn opposite directions from random filters, {how}"
        )
        yield _counted(f"C36.starts{suffix}", title, learned, failures)
    for suffix, what in (
        ("start", "the random filters, before learning"),
        ("labelled", "averages by label of the same pairs"),
    ):
        alone = {world: _succeed(getattr(ends, suffix)) for world, ends in starts.items()}
        note = "the population's component, both ways, does by definition"
        yield _counted(
            f"C36.starts_{suffix}",
            f"seeds of {config.n_starts} in which two filters are of opposite directions: {what}",
            alone,
            note,
        )


def _start_by_start(ends: Ends, config: Config) -> Ends:
    """Return what was stacked by scene, shape (n_scenes, n, ...), start by start, shape (n_starts, ...)."""
    return Ends._make(each.reshape(-1, *each.shape[2:])[: config.n_starts] for each in ends)


def _succeed(cosines: np.ndarray) -> np.ndarray:
    """Return where two filters are of opposite directions, of cosines of shape (..., 2)."""
    return (cosines.prod(axis=-1) < 0) & (np.abs(cosines).min(axis=-1) > LIKE)


def _counted(id: str, title: str, succeeded: Mapping[str, np.ndarray], note: str) -> Claim:
    counts = {world: found.sum() for world, found in succeeded.items()}
    sure = {world: binomtest(int(found.sum()), len(found)).proportion_ci() for world, found in succeeded.items()}
    intervals = ", ".join(f"{world} {ci.low:.1%} to {ci.high:.1%}" for world, ci in sure.items())
    n = len(next(iter(succeeded.values())))
    return report(id, title, counts, worst=np.min, seeds=n, unit="seeds", note=f"95 %: {intervals}; {note}")


def _failures(cosines: np.ndarray, dead: np.ndarray) -> str:
    """Count failures by their kind, of cosines of shape (n, 2)."""
    failed, strong = ~_succeed(cosines), np.abs(cosines).min(axis=1) > LIKE / 2
    opposite = cosines.prod(axis=1) < 0
    kinds = {
        "one direction": failed & ~dead & strong & ~opposite,
        f"opposite but one below {LIKE:g}": failed & ~dead & strong & opposite,
        f"one below {LIKE / 2:g}": failed & ~dead & ~strong,
        "one dead": failed & dead,
    }
    return ", ".join(f"{name} {found.sum()}" for name, found in kinds.items())


def draw_paths(panels: Sequence[Axes], by_scene: Ends, config: Config) -> None:
    """Draw both units' cosines over the first pass, of some starts that succeed and some that fail."""
    ends = _start_by_start(by_scene, config)
    paths = np.concatenate([ends.start[:, None], ends.cosines[:, 0]], axis=1)
    succeeded, pairs = _succeed(paths[:, -1]), np.linspace(0, config.n_pairs, N_BLOCKS + 1)
    for axes, which, name in zip(panels, (succeeded, ~succeeded), ("succeed", "fail"), strict=True):
        for i, path in enumerate(paths[which][:5]):
            axes.plot(pairs, path[:, 0], color=f"C{i}")
            axes.plot(pairs, path[:, 1], color=f"C{i}", linestyle="--")
        for level in (-LIKE, LIKE):
            axes.axhline(level, color="0.6", linewidth=0.6)
        axes.set(
            xlim=(0, config.n_pairs), ylim=(-1, 1), xlabel="pairs seen", ylabel="cosine with the population's filter"
        )
        axes.set_title(f"{which.sum()} of {len(which)} random starts {name}")
