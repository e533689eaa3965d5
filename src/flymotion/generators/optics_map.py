"""The map of optics and shift: where the first component of chi is motion, computed and not sampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flymotion.frames import not_masked
from flymotion.generators.theory import antisymmetric_share, population
from flymotion.world.eyes import Line
from flymotion.world.motions import Translation
from flymotion.world.scenes import exponential_covariance

__all__ = ["MotionMap", "motion_map"]


class MotionMap(NamedTuple):
    """What the first component is, over optics (rows) and shifts (columns); arrays of shape (n_sigmas, n_shifts)."""

    antisymmetric_share: np.ndarray
    """Of the first component: near 1 for a derivative, near 0 for a blur."""
    ratio: np.ndarray
    """Second eigenvalue over the first."""
    accuracy: np.ndarray
    """Share of single pairs whose direction the first component tells; chance is 0.5."""

    @property
    def motion_first(self) -> np.ndarray:
        """Where the first component is antisymmetric and tells directions apart, shape (n_sigmas, n_shifts)."""
        return (self.antisymmetric_share > 0.5) & (self.accuracy > 0.5 + 1e-6)


def motion_map(
    sigmas: Sequence[float],
    max_shifts: Sequence[float],
    *,
    n: int = 5,
    correlation_length: float = 3.0,
    feature: str = "change",
    regularization: float = 0.0,
) -> MotionMap:
    """Map where the first component of chi is motion: a line of pixels, exponentially correlated noise, ZCA.

    Parameters
    ----------
    sigmas : sequence of float
        Acceptance widths [pixel spacings].
    max_shifts : sequence of float
        Largest shifts [pixels per frame].
    n : int
        Number of pixels.
    correlation_length : float
        Of the noise [pixel spacings].
    feature, regularization
        As for :func:`population`.

    Examples
    --------
    >>> motion_map([0.475], [0.1, 1.0]).motion_first
    array([[ True, False]])
    """
    not_masked(sigmas, "sigmas")
    not_masked(max_shifts, "max_shifts")
    cells = np.empty((3, len(sigmas), len(max_shifts)))
    for i, sigma in enumerate(sigmas):
        covariance = exponential_covariance(correlation_length, sigma)
        for j, shift in enumerate(max_shifts):
            motion = Translation(shift, ndim=1)
            pop = population(covariance, Line(n, sigma), motion, feature=feature, regularization=regularization)
            values, generators = pop.components(2)
            first = generators[0]
            cells[:, i, j] = antisymmetric_share(first), values[1] / values[0], pop.direction_accuracy(first)
    return MotionMap(*cells)
