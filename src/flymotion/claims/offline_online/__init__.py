"""Section 1.1 on plain vectors: offline optima, what networks reach of them online, and max-min forms (C26, C35).

The midpoint reconstruction of Suppl. A is held against that of Eq. 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flymotion.claims.offline_online.descent import KINDS, check_core, check_reached, follow, reach
from flymotion.claims.offline_online.midpoint import check_midpoint, compare_midpoint
from flymotion.claims.offline_online.saddles import check_saddles, stand_on
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS

__all__ = ["CLAIMS", "QUICK", "Config", "check", "work"]

CLAIMS = {
    "C26": "offline optima are eigensolutions; online SM comes near",
    "C35": "the min-max forms agree with the objective",
}


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Samples of each kind.
    n_components : int
        Outputs K.
    n_offline, n_saddle : int
        Samples of the offline problems, whose Gram matrix is that many squared, and of the max-min forms.
    n_starts : int
        Random starts of the descent.
    n_online : int
        Samples that the online network learns from.
    n_followed : int
        Samples on which the rules as printed are followed.
    """

    n_seeds: int = 10
    n_components: int = 2
    n_offline: int = 300
    n_saddle: int = 120
    n_starts: int = 5
    n_online: int = 50_000
    n_followed: int = 500


QUICK = {"n_seeds": 2, "n_starts": 3}


def work(config: Config) -> Work:
    """Solve offline and learn online, and look at the saddles."""
    n = config.n_seeds
    return {
        "reached": {kind: each_seed(reach, n, config, kind) for kind in KINDS},
        "core": each_seed(follow, n, config),
        "saddles": {kind: each_seed(stand_on, n, config, kind) for kind in KINDS},
        "midpoint": {world: each_seed(compare_midpoint, n, world) for world in WORLDS},
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C26 and C35."""
    yield from check_reached(found["reached"], config)
    yield from check_core(found["core"], config)
    yield from check_saddles(found["saddles"], config)
    yield from check_midpoint(found["midpoint"], config)
