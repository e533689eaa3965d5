"""Section 1.1 on plain vectors: offline optima, what networks reach of them online, and max-min forms (C26, C35).

The midpoint reconstruction of Suppl. A is held against that of Eq. 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flymotion.claims.offline_online.assignments import assign, check_assignments
from flymotion.claims.offline_online.descent import KINDS, check_core, check_reached, follow, reach
from flymotion.claims.offline_online.midpoint import check_midpoint, compare_midpoint
from flymotion.claims.offline_online.real_vectors import N_PASSES, check_subspaces, compare_subspaces
from flymotion.claims.offline_online.rings import RINGS, check_rings, draw_rings, tile
from flymotion.claims.offline_online.saddles import check_saddles, stand_on
from flymotion.claims.offline_online.single_layers import check_layers, draw_layers, learn_layers
from flymotion.claims.rows import Claim
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

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
    n_units : int
        Units of NSM on rings.
    """

    n_seeds: int = 10
    n_components: int = 2
    n_offline: int = 300
    n_saddle: int = 120
    n_starts: int = 5
    n_online: int = 50_000
    n_followed: int = 200
    n_units: int = 8


QUICK = {"n_seeds": 2, "n_starts": 3}


def work(config: Config) -> Work:
    """Solve offline and learn online, in artificial and in real vectors, and look at the saddles."""
    n = config.n_seeds
    return {
        "reached": {kind: each_seed(reach, n, config, kind) for kind in KINDS},
        "core": each_seed(follow, n, config),
        "subspaces": {kind: each_seed(compare_subspaces, n, kind) for kind in N_PASSES},
        "assigned": {name: each_seed(assign, n, name == "less_mean") for name in ("less_mean", "as_they_are")},
        "rings": {ring: each_seed(tile, n, config, ring) for ring in RINGS},
        "layers": {kind: each_seed(learn_layers, n, kind) for kind in N_PASSES},
        "saddles": {kind: each_seed(stand_on, n, config, kind) for kind in KINDS},
        "midpoint": {world: each_seed(compare_midpoint, n, world) for world in WORLDS},
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C26 and C35."""
    yield from check_reached(found["reached"], config)
    yield from check_core(found["core"], config)
    yield from check_subspaces(found["subspaces"], config)
    yield from check_layers(found["layers"], config)
    yield from check_assignments(found["assigned"], config)
    yield from check_rings(found["rings"], config)
    yield from check_saddles(found["saddles"], config)
    yield from check_midpoint(found["midpoint"], config)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw Fig. 1 with what the networks learned of digits, and tuning on rings, of the first seed."""
    return {"figure1": draw_layers(found["layers"]["digits"]), "rings": draw_rings(found["rings"], config)}
