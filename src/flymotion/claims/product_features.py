"""How the product features are related (Supplement A, corrected; C14)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from flymotion.claims.rows import Claim, below, report, within
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import WORLDS, all_over, moved
from flymotion.frames import FramePairs
from flymotion.similarity.features import outer_products

__all__ = ["Config", "Result", "check", "jobs", "run"]


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

    @classmethod
    def quick(cls) -> Config:
        """Return one scene."""
        return cls(n_seeds=1)


@dataclass(frozen=True)
class Result:
    """Sizes and errors, relative to the size of the paper's feature; a row a scene."""

    shifts: np.ndarray
    size: np.ndarray
    """Root mean square of |dx dx'/2| at each shift, shape (n_seeds, n_shifts)."""
    midpoint: np.ndarray
    """Largest error of: paper's feature - midpoint feature = -dx dx'/2."""
    antisymmetric: np.ndarray
    """Largest error of: antisymmetric feature = chi - chi', for the paper's and the midpoint feature."""
    odd: np.ndarray
    """Largest error of: reversal of time is a change of sign, for the midpoint and the antisymmetric feature."""
    paper_odd: np.ndarray
    """The same for the paper's feature, root mean square at the smallest shift; not expected to vanish."""


def jobs(config: Config) -> list[partial[tuple[np.ndarray, ...]]]:
    """List the independent pieces of work."""
    return [partial(_compare, config, seed) for seed in range(config.n_seeds)]


def run(config: Config, each: Each = in_turn) -> Result:
    """Build all features of the same pairs."""
    fields = zip(*each(jobs(config)), strict=True)
    return Result(np.array(config.shifts), *(np.stack(field) for field in fields))


def _compare(config: Config, seed: int) -> tuple[np.ndarray, ...]:
    world = WORLDS["L1"]
    scene = world.scene(np.random.default_rng([seed, 14]))
    places = all_over(scene, config.n_places)
    compared = [_errors(moved(scene, world.eye(config.n), places, shift)) for shift in config.shifts]
    size, *errors, paper = np.array(compared).T
    return size, *(error.max() for error in errors), paper[0]


def _errors(pairs: FramePairs) -> tuple[float, ...]:
    n = pairs.n_pixels
    features = ("change", "midpoint", "antisymmetric")
    change, middle, anti = (outer_products(pairs, f).dense().reshape(-1, n, n) for f in features)
    backwards = [outer_products(pairs.reversed(), f).dense().reshape(-1, n, n) for f in features]
    dx = pairs.after - pairs.before
    rest = dx[:, :, None] * dx[:, None, :] / 2
    scale = np.abs(change).max()
    return (
        _size(rest),
        np.abs(change - middle + rest).max() / scale,
        max(np.abs(anti - (chi - chi.swapaxes(1, 2))).max() for chi in (change, middle)) / scale,
        max(np.abs(chi + back).max() for chi, back in zip((middle, anti), backwards[1:], strict=True)) / scale,
        _size(change + backwards[0]) / _size(change),
    )


def _size(chi: np.ndarray) -> float:
    return float(np.sqrt((chi**2).sum(axis=(1, 2)).mean()))


def check(result: Result) -> list[Claim]:
    """State C14."""
    seeds = len(result.size)
    slopes = np.array([np.polyfit(np.log(result.shifts), np.log(size), 1)[0] for size in result.size])
    slope = slopes[np.abs(slopes - 2).argmax()]
    note = f"shifts from {result.shifts[0]:g} to {result.shifts[-1]:g} pixels, optics of L1"
    identity = "largest error, relative to the largest entry of the paper's feature: "
    odd = "midpoint and antisymmetric features change sign when time is reversed"
    paper = "how far the paper's feature is from odd under time reversal, relative to its size, at the smallest shift"
    return [
        within("C14.slope", "log-log slope of |dx dx'/2| in the shift", slope, 1.95, 2.05, seeds=seeds, note=note),
        below("C14.midpoint", f"{identity}paper's - midpoint = -dx dx'/2", result.midpoint.max(), 1e-12, seeds=seeds),
        below(
            "C14.antisymmetric",
            f"{identity}x_next x' - x x_next' = chi - chi'",
            result.antisymmetric.max(),
            1e-12,
            seeds=seeds,
            note="chi the paper's and the midpoint feature",
        ),
        below("C14.odd", f"{identity}{odd}", result.odd.max(), 1e-12, seeds=seeds),
        report("C14.paper_odd", paper, result.paper_odd.max(), seeds=seeds),
    ]
