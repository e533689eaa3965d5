"""The learned network against the fly's anatomy: T4's and T5's synapses (C22), and inhibition between them (C23).

``columns``: what patches and single columns learn in P and S. ``against_the_connectome``: their rows beside the
published synapses. ``input_parts``: what the published filters of Mi1 and the others can be (Fig. 4c).
``rows_at_work``: what rows of weights tell and prefer. ``lateral_inhibition``: C23. ``figure4``: figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flymotion.claims.anatomy import against_the_connectome, figure4, input_parts, lateral_inhibition, rows_at_work
from flymotion.claims.anatomy.columns import RIDGES, learn_all, seen_in
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {
    "C22": "T4: change from the centre, intensity from the neighbours",
    "C23": "lateral inhibition among different directions",
}


@dataclass(frozen=True)
class Config:
    """Seeds.

    Parameters
    ----------
    n_seeds : int
        Of places, scenes, starts and rows of photographs.
    """

    n_seeds: int = 10


QUICK = {"n_seeds": 1}

LONG = ("patch_midpoint", "patch_noisy")
"""What takes long to learn, and does so in P alone."""


def work(config: Config) -> Work:
    """Let columns and patches learn, with and without inhibition, and put published filters and rows to work."""
    return {
        "photographs": each_seed(_in_photographs, config.n_seeds),
        "sphere": each_seed(_on_the_sphere, config.n_seeds),
        "grid": each_seed(lateral_inhibition.compete_in_grid, config.n_seeds),
        "filters": each_seed(input_parts.play, config.n_seeds),
    }


def _in_photographs(seed: int) -> dict[str, Any]:
    seen = seen_in("P", seed)
    learned = learn_all(seen, seed)
    whole, column = (
        lateral_inhibition.compete(seen[next(iter(RIDGES))], seed, column=alone) for alone in (False, True)
    )
    return {"learned": learned, "at_work": rows_at_work.put_to_work(learned, seed), "whole": whole, "column": column}


def _on_the_sphere(seed: int) -> dict[str, Any]:
    return learn_all(seen_in("S", seed), seed, leaving=LONG)


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C22 and C23."""
    seen = found["photographs"]
    yield from against_the_connectome.check({"P": seen["learned"], "S": found["sphere"]})
    yield from input_parts.check(found["filters"])
    yield from rows_at_work.check(seen["at_work"])
    yield from lateral_inhibition.check({"G": found["grid"], "P": seen["whole"], "P_column": seen["column"]})


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw learned rows beside the connectome's, along the preferred direction, and the published filters' parts."""
    rows = {"P": found["photographs"]["learned"], "S": found["sphere"]}
    return {
        "dendrites": figure4.dendrites(rows["P"], "P"),
        "input_parts": figure4.filters(found["filters"]),
        "along_preferred": figure4.profiles(rows),
    }
