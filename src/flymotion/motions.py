"""Motions: how the image content moves between two frames.

A step is the displacement of the image *content* (x right, y down) [pixel spacings]; the eye moves the other way. One
motion a pair, of known signed amount.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flymotion.scenes import unit_vector

__all__ = ["CARDINAL", "Translation"]

CARDINAL = (0.0, 90.0, 180.0, 270.0)
"""The four cardinal directions [deg]: right, up, left, down."""


@dataclass(frozen=True)
class Translation:
    """Shifts of random size along one direction a pair.

    Sizes are uniform in (min_shift, max_shift) and directions equally likely, so in one dimension with the default
    ``min_shift`` the signed shift is uniform in (-max_shift, max_shift).

    Parameters
    ----------
    max_shift : float
        Largest shift [pixel spacings].
    min_shift : float
        Smallest shift.
    angles : tuple of float
        Directions of the image content [deg]: 0 = right, 90 = up.
    ndim : int
        1 (angles 0 and 180) or 2.

    Raises
    ------
    ValueError
        Shifts out of order.
    """

    max_shift: float
    min_shift: float = 0.0
    angles: tuple[float, ...] = CARDINAL
    ndim: int = 2

    def __post_init__(self) -> None:
        if not 0 <= self.min_shift <= self.max_shift < np.inf:
            raise ValueError(f"shifts from {self.min_shift} to {self.max_shift}; expected 0 <= min <= max")
        if self.ndim == 1:
            object.__setattr__(self, "angles", tuple(a for a in self.angles if a % 180 == 0))
        if not self.angles:
            raise ValueError("no direction to move in; expected at least one angle (0 or 180 in one dimension)")

    @property
    def directions(self) -> np.ndarray:
        """Unit vectors, shape (n_directions, ndim)."""
        return np.array([unit_vector(angle, self.ndim) for angle in self.angles])

    def steps(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw displacements of the content, shape (n, ndim) [pixel spacings]."""
        sizes = rng.uniform(self.min_shift, self.max_shift, size=(n, 1))
        return sizes * self.directions[rng.integers(len(self.angles), size=n)]

    def quadrature(self, order: int = 8) -> tuple[np.ndarray, np.ndarray]:
        """Return steps, shape (m, ndim), and weights, shape (m,), whose weighted means are population means."""
        nodes, weights = np.polynomial.legendre.leggauss(order)
        sizes = self.min_shift + (self.max_shift - self.min_shift) * (nodes + 1) / 2
        steps = (self.directions[:, None, :] * sizes[:, None]).reshape(-1, self.ndim)
        return steps, np.tile(weights / 2, len(self.angles)) / len(self.angles)
