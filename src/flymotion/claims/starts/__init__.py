"""Starts that a brain could have: what leads NSM's units to opposite directions without a warm-up (C37).

From random filters the printed rule often ends with two units for one direction. Here units start from dendrites that
happen to reach to one side, from more units than there are directions, from inhibition that is strong first, or after
waves; each learns in one pass, by the printed rule, with no look at the samples beforehand. Beside each stands what it
knew before it learned, since a start that is the answer proves nothing.

``raising``: how units learn, are pruned and read. ``lines``: two directions, L1 and L2. ``planes``: four or six, on
squares and hexagons. ``fly_inputs``: where T4's and T5's inputs sit. ``telling`` and ``pictures``: rows and figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.starts import flat_eyes, lines, pictures, telling
from flymotion.claims.worlds import WORLDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {"C37": "starts that a brain could have"}


@dataclass(frozen=True)
class Config:
    """Seeds; each has a scene, pairs and random weights of its own.

    Parameters
    ----------
    n_seeds : int
        Of two units that look at a line, in each world.
    n_seeds_few : int
        The same, with noise, larger shifts, and a second rule of pruning; no more than ``n_seeds``.
    n_seeds_plane : int
        Of units that look at a plane, with each eye; no more than ``n_seeds``.
    """

    n_seeds: int = 200
    n_seeds_few: int = 16
    n_seeds_plane: int = 12


QUICK = {"n_seeds": 3, "n_seeds_few": 1, "n_seeds_plane": 1}


def work(config: Config) -> Work:
    """Let units learn from every start, the longest first."""
    few, plane = (min(config.n_seeds, n) for n in (config.n_seeds_few, config.n_seeds_plane))
    found = {name: each_seed(flat_eyes.grow, plane, name) for name in flat_eyes.PLANES}
    return found | {
        name: {
            "few": each_seed(lines.few, few, name),
            "main": each_seed(lines.main, config.n_seeds, name),
            "best": partial(lines.best, name),
        }
        for name in WORLDS
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C37: all of it reports."""
    return telling.check(found)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw how many seeds succeed from each start, filters before and after, and what noise does to both."""
    return {
        "starts": pictures.shares(found),
        "starts_filters": pictures.filters(found),
        "starts_noise": pictures.noise(found),
    }
