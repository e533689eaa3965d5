"""The neuron of many compartments: what its branches multiply, and what it learns (Section 3.1, Fig. 3; C21).

``designs``: the neurons looked at. ``multiplying``: their soma beside the product, and the map of where it is one.
``taught``: weights learned from the neuron's own rates, gated by its shunts, beside the algorithm's. ``drawn_neuron``:
figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flymotion.claims.branches.drawn_neuron import draw_map, draw_neuron
from flymotion.claims.branches.multiplying import check_multiplying, multiply
from flymotion.claims.branches.taught import check_taught, teach
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {"C21": "a multi-compartment neuron computes and learns the filter"}


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Scenes, each with pairs and starts of its own.
    widths : tuple of int
        Pixels of the eyes of L1.
    n_pairs, n_test : int
        Pairs to learn from, and new ones.
    """

    n_seeds: int = 10
    widths: tuple[int, ...] = (5, 9)
    n_pairs: int = 20_000
    n_test: int = 4_000


QUICK = {"n_seeds": 1}


def work(config: Config) -> Work:
    """Hold somata against products, and let neurons learn."""
    return {
        "taught": {
            f"n = {n}": each_seed(teach, config.n_seeds, n, config) for n in sorted(config.widths, reverse=True)
        },
        "multiplied": each_seed(multiply, config.n_seeds, config),
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C21."""
    yield from check_multiplying(found["multiplied"], config)
    yield from check_taught(found["taught"], config)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the neuron and what it learned, and the map of where it multiplies."""
    smallest = found["taught"][f"n = {min(config.widths)}"]
    return {
        "compartments": draw_neuron(smallest.weights[0], found["multiplied"]),
        "compartments_map": draw_map(found["multiplied"]),
    }
