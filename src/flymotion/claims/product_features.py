r"""How the product features are related (Supplement A, corrected; C14): algebra, shown on pairs and in unit tests.

With :math:`\chi = \Delta x\, x'` the paper's feature, :math:`\Delta x\, x' - \Delta x\, (x + x_{next})' / 2 =
-\Delta x\, \Delta x' / 2`, second order in the shift; and :math:`x_{next} x' - x x_{next}' = \chi - \chi'`
for both features, exactly and not only in the first order (Eq. 25).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.rows import Claim, below, report, within
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import WORLDS, all_over, show_step
from flymotion.frames import FramePairs
from flymotion.similarity.features import outer_products

__all__ = ["CLAIMS", "QUICK", "Compared", "Config", "check", "work"]

CLAIMS = {"C14": "the product features are related as Supplement A says"}


@dataclass(frozen=True)
class Config:
    """Sizes and seed.

    Parameters
    ----------
    n_seeds : int
        Scenes.
    n : int
        Pixels of the eye of world L1.
    n_places : int
        Places in the scene.
    shifts : tuple of float
        Shifts of the content [pixels per frame].
    """

    n_seeds: int = 5
    n: int = 5
    n_places: int = 2000
    shifts: tuple[float, ...] = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


QUICK = {"n_seeds": 1}


class Compared(NamedTuple):
    """Sizes and errors in one scene, relative to the size of the paper's feature."""

    size: np.ndarray
    """Root mean square of the paper's less the midpoint feature at each shift, shape (n_shifts,)."""
    midpoint: np.ndarray
    """Largest error of: paper's feature - midpoint feature = -dx dx'/2."""
    antisymmetric: np.ndarray
    """Largest error of: antisymmetric feature = chi - chi', for the paper's and the midpoint feature."""
    odd: np.ndarray
    """Largest error of: reversal of time is a change of sign, for the midpoint and the antisymmetric feature, (2,)."""
    paper_odd: np.ndarray
    """The same for the paper's feature, root mean square at each shift, shape (n_shifts,); not expected to vanish."""


def work(config: Config) -> Work:
    """Build all features of the same pairs."""
    return {"compared": each_seed(_compare, config.n_seeds, config)}


def _compare(config: Config, seed: int) -> Compared:
    world = WORLDS["L1"]
    scene = world.scene(np.random.default_rng([seed, 14]))
    places = all_over(scene, config.n_places)
    compared = [_errors(show_step(scene, world.eye(config.n), places, shift)) for shift in config.shifts]
    size, midpoint, antisymmetric, odd, paper = map(np.array, zip(*compared, strict=True))
    return Compared(size, midpoint.max(), antisymmetric.max(), odd.max(axis=0), paper)


def _errors(pairs: FramePairs) -> tuple[Any, ...]:
    n = pairs.n_pixels
    features = ("change", "midpoint", "antisymmetric")
    change, middle, anti = (outer_products(pairs, f).dense().reshape(-1, n, n) for f in features)
    backwards = [outer_products(pairs.reversed(), f).dense().reshape(-1, n, n) for f in features]
    dx = pairs.after - pairs.before
    rest = dx[:, :, None] * dx[:, None, :] / 2
    scale = np.abs(change).max()
    return (
        _size(change - middle),
        np.abs(change - middle + rest).max() / scale,
        max(np.abs(anti - (chi - chi.swapaxes(1, 2))).max() for chi in (change, middle)) / scale,  # Eq. 25
        [np.abs(chi + back).max() / scale for chi, back in zip((middle, anti), backwards[1:], strict=True)],
        _size(change + backwards[0]) / _size(change),
    )


def _size(chi: np.ndarray) -> float:
    return float(np.sqrt((chi**2).sum(axis=(1, 2)).mean()))


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C14."""
    compared, shifts = found["compared"], config.shifts
    slopes = np.array([np.polyfit(np.log(shifts), np.log(size), 1)[0] for size in compared.size])
    algebra = "algebra; also tests/test_product_features.py"
    note = f"algebra where frames are smooth; shifts from {shifts[0]:g} to {shifts[-1]:g} pixels, optics of L1"
    yield within("C14.slope", "log-log slope of |paper's - midpoint| in the shift", slopes, 1.95, 2.05, note=note)
    identity = "largest error, relative to the largest entry of the paper's feature: "
    yield below("C14.midpoint", f"{identity}paper's - midpoint = -dx dx'/2", compared.midpoint, 1e-12, note=algebra)
    title, note = (
        f"{identity}x_next x' - x x_next' = chi - chi'",
        f"chi the paper's and the midpoint feature; {algebra}",
    )
    yield below("C14.antisymmetric", title, compared.antisymmetric, 1e-12, note=note)
    for k, feature in enumerate(("midpoint", "antisymmetric")):
        title = f"{identity}the {feature} feature changes sign when time is reversed"
        yield below(f"C14.odd_{feature}", title, compared.odd[:, k], 1e-12, note=f"{algebra}; paper's: C14.odd_paper")
    title = "how far the paper's feature is from odd under time reversal, relative to its size, at a shift of"
    for k in (0, len(shifts) - 1):
        id = "C14.odd_paper" + ("" if k == 0 else "_large")
        yield report(id, f"{title} {shifts[k]:g} pixels", compared.paper_odd[:, k], worst=np.max)
