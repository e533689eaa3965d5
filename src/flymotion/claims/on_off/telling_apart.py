r"""Whether two sets of filters differ, block by block, and how: permutations, intervals, measures (C24).

A block gives a filter of ON and one of OFF. If which is which did not matter, the sign of each block's difference
:math:`d_b` would be any: so the null of :math:`|\sum_b d_b|^2` is that of all :math:`2^{B-1}` choices of signs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.claims.on_off.contrasts import N_STRIPS, Patch
from flymotion.world.conventions import unit_vector

__all__ = ["MEASURES", "Apart", "apart", "likeness", "measures", "permuted"]

MEASURES = {
    "behind": "weight onto the neighbours that content comes from",
    "centre": "weight onto the cell's own pixel",
    "ahead": "weight onto the neighbours that content goes to",
    "balance": "sum of both neighbours' weights, 0 if they balance",
    "width": "root mean square distance of the weights' energy",
}
"""What is measured of a filter of norm 1, in words."""

N_DRAWS = 2000
"""Of blocks, for intervals."""


class Apart(NamedTuple):
    """How far ON is from OFF, in one number."""

    mean: float
    low: float
    """With ``high``: 95 % of the means of blocks drawn with replacement."""
    high: float
    effect: float
    """Mean over standard deviation of the blocks' differences."""
    p: float
    each: tuple[float, float]
    """Means of either photograph."""

    @property
    def told(self) -> str:
        """All but the mean, in words."""
        china, flower = self.each
        return (
            f"95 % of blocks drawn anew [{self.low:.3g}, {self.high:.3g}], "
            f"effect {self.effect:.2g} standard deviations, p {self.p:.2g}; china {china:.3g}, flower {flower:.3g}"
        )


def permuted(differences: np.ndarray) -> tuple[float, float]:
    """Return how often signs drawn anew make a sum as large, and how large it is relative to their mean.

    Parameters
    ----------
    differences : ndarray, shape (n_blocks, ...)
        ON less OFF.

    Examples
    --------
    >>> permuted(np.ones((4, 1)))
    (0.125, 4.0)
    """
    rows = np.reshape(differences, (len(differences), -1))
    n = len(rows)
    signs = 1.0 - 2 * (
        np.arange(2 ** (n - 1))[:, None] >> np.arange(n) & 1
    )  # the last stays: all signs turned is alike
    sums = ((signs @ (rows @ rows.T)) * signs).sum(axis=1)
    return float(np.mean(sums >= sums[0] * (1 - 1e-9))), float(sums[0] / sums.mean())


def apart(differences: np.ndarray) -> Apart:
    """Sum up one number's differences, shape (n_blocks,)."""
    rng = np.random.default_rng(24)
    drawn = rng.choice(differences, (N_DRAWS, len(differences))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    spread = max(float(differences.std(ddof=1)), 1e-300)
    each = differences[:N_STRIPS].mean(), differences[N_STRIPS:].mean()
    return Apart(differences.mean(), low, high, differences.mean() / spread, permuted(differences)[0], each)


def likeness(a: np.ndarray, b: np.ndarray) -> float:
    """Mean cosine of the filters of the same cells, shape (..., n)."""
    size = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return float(np.mean((a * b).sum(axis=-1) / np.maximum(size, 1e-300)))


def sides(patch: Patch) -> np.ndarray:
    """Return which neighbours content comes from and goes to, of cells, shape (2, n_cells, n)."""
    ways = np.array([unit_vector(angle, 2) for angle in patch.angles]) * [1, -1]  # y up
    along, near = ways @ patch.places.T, np.linalg.norm(patch.places, axis=1) < 1.1
    return np.stack([near & (along < -0.1), near & (along > 0.1)])


def measures(filters: np.ndarray, patch: Patch) -> dict[str, np.ndarray]:
    """Measure filters, shape (..., n_cells, n), by the keys of :data:`MEASURES`; means over cells, shape (...)."""
    behind, ahead = sides(patch)
    energy, square = filters**2, (patch.places**2).sum(axis=1)
    each = {
        "behind": (filters * behind).sum(axis=-1),
        "centre": filters[..., patch.middle],
        "ahead": (filters * ahead).sum(axis=-1),
        "balance": (filters * (behind | ahead)).sum(axis=-1),
        "width": np.sqrt((energy * square).sum(axis=-1) / np.maximum(energy.sum(axis=-1), 1e-300)),
    }
    return {name: values.mean(axis=-1) for name, values in each.items()}
