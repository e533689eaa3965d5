"""The literal network (C36), and a single T4 that learns alone (C34).

Units and synapses of Eqs. 5-6 and 15-19 (:class:`flymotion.similarity.literal.RateNetwork`), one pair at a time, from
filters drawn at random and no warm-up: whether it is the fast form, how soon it settles, what its lateral synapses are
beside its feedforward ones, where random filters lead, and what is left when each T4 is a network of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flymotion.claims.literal_network.agreement import check_agreement, check_settling, compare, settle
from flymotion.claims.literal_network.lateral_synapses import check_lateral, learn_lateral
from flymotion.claims.literal_network.lone_cell import check_lone_cell, learn_alone
from flymotion.claims.literal_network.random_starts import TOGETHER, check_starts, draw_paths, start_at_random
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS
from flymotion.plots.canvas import new_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {
    "C34": "a single T4 learns its row on its own",
    "C36": "the literal network: units and synapses as printed",
}


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_starts : int
        Random starts in each world.
    n_seeds : int
        Seeds of single T4s.
    n_seeds_few : int
        Seeds of the comparison with the fast form, of settling and of lateral synapses; no more than ``n_seeds``.
    n : int
        Pixels of the eyes of L1 and L2.
    widths : tuple of int
        Pixels that single T4s see, the middle ones of the widest.
    n_pairs, n_alone : int
        Pairs to learn from; those of single T4s.
    n_equal : int
        Pairs over which the literal and the fast form are compared.
    n_shown : int
        New pairs, whose steps to settle are counted.
    tolerances : tuple of float
        Speeds at which outputs count as settled, relative to the drive [per time constant].
    n_units : tuple of int
        Numbers of units whose steps are counted.
    """

    n_starts: int = 200
    n_seeds: int = 10
    n_seeds_few: int = 3
    n: int = 5
    widths: tuple[int, ...] = (5, 9, 15)
    n_pairs: int = 20_000
    n_alone: int = 100_000
    n_equal: int = 10_000
    n_shown: int = 2_000
    tolerances: tuple[float, ...] = (1e-2, 1e-4, 1e-10)
    n_units: tuple[int, ...] = (2, 4, 8)


QUICK = {"n_starts": 5, "n_seeds": 1}


def work(config: Config) -> Work:
    """Learn from many random starts, compare with the fast form, count steps, and let single T4s learn."""
    few = min(config.n_seeds, config.n_seeds_few)
    return {
        "starts": {
            world: each_seed(start_at_random, -(-config.n_starts // TOGETHER), world, config) for world in WORLDS
        },
        "alone": each_seed(learn_alone, config.n_seeds, config),
        "equal": {world: each_seed(compare, few, world, config) for world in (*WORLDS, "plane")},
        "settling": each_seed(settle, few, config),
        "lateral": {world: each_seed(learn_lateral, few, world, config) for world in WORLDS},
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C34 and C36."""
    yield from check_lone_cell(found["alone"], config)
    yield from check_agreement(found["equal"], config)
    yield from check_settling(found["settling"], config)
    yield from check_lateral(found["lateral"])
    yield from check_starts(found["starts"], config)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw how filters go from random ones, where that succeeds and where not, and steps to settle."""
    figure, panels = new_panels(3, 3, (3.6, 2.8))
    draw_paths(panels[:2], found["starts"]["L1"], config)
    _draw_steps(panels[2], found["settling"].steps[0, 1, :, 0], config)
    figure.suptitle("The literal network (NSM) in L1; solid and dashed: the two units of a start", fontsize=11)
    return {"literal_network": figure}


def _draw_steps(axes: Axes, steps: np.ndarray, config: Config) -> None:
    """Draw how many pairs need how many steps, shape (n_K, n_shown)."""
    numbers = np.arange(steps.max() + 1)
    for K, counted in zip(config.n_units, steps, strict=True):
        axes.stairs(np.bincount(counted, minlength=len(numbers)), np.append(numbers, len(numbers)), label=f"K = {K}")
    title = f"until outputs stand still to {config.tolerances[0]:g}"
    axes.set(xlabel=r"steps of $\tau / K$", ylabel="new pairs", title=title)
    axes.legend(fontsize=8)
