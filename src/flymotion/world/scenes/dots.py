"""Scenes of small things: a dot, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flymotion.world.conventions import check_ndim, finite, positive
from flymotion.world.scenes.scene import as_covariances, check_seen

__all__ = ["Dot"]


@dataclass(frozen=True)
class Dot:
    r"""A Gaussian dot on a ground of 0, round before the optics.

    .. math:: c \, |I + \Sigma / s^2|^{-1/2} \exp(-r' (s^2 I + \Sigma)^{-1} r / 2)

    with the optics' covariance :math:`\Sigma`, the dot's standard deviation s, and r from its middle.

    Parameters
    ----------
    diameter : float
        Full width at half maximum [pixel spacings].
    position : tuple of float
        Of its middle (x right, y down) [pixel spacings]; one number in a scene of one dimension.
    contrast : float
        Intensity in the middle, before the optics; negative for a dark dot.

    Raises
    ------
    ValueError
        A diameter that is not positive, numbers that are not finite, other dimensions than 1 or 2.

    Examples
    --------
    >>> from flymotion.world import Grid, render
    >>> render(Dot(diameter=2.0), Grid(3, 3, sigma=0.0), [[0.0, 0.0]])[0].round(2)  # a half at half the diameter
    array([[0.25, 0.5 , 0.25],
           [0.5 , 1.  , 0.5 ],
           [0.25, 0.5 , 0.25]])
    """

    diameter: float
    position: tuple[float, ...] = (0.0, 0.0)
    contrast: float = 1.0

    wraps = True

    def __post_init__(self) -> None:
        positive(diameter=self.diameter)
        finite(contrast=self.contrast, **{f"position[{k}]": place for k, place in enumerate(self.position)})
        check_ndim(self.ndim)

    @property
    def ndim(self) -> int:
        """Dimensions of the scene."""
        return len(self.position)

    @property
    def extent(self) -> np.ndarray:
        """Two pixel spacings either side of the middle, shape (2, 2)."""
        return np.array(self.position)[:, None] + np.array([-2.0, 2.0])

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        check_seen(points, sigma)
        variance, r = self.diameter**2 / (8 * math.log(2)), points - np.array(self.position)
        if np.ndim(sigma) == 0:
            seen = variance + float(sigma) ** 2
            square = np.einsum("...i,...i->...", r, r)
            return self.contrast * (variance / seen) ** (self.ndim / 2) * np.exp(square / (-2 * seen))
        spread = variance * np.eye(self.ndim) + as_covariances(sigma, points)
        peak = self.contrast / np.sqrt(np.linalg.det(spread / variance))
        square = np.einsum("n...i,nij,n...j->n...", r, np.linalg.inv(spread), r)
        return peak.reshape(-1, *[1] * (square.ndim - 1)) * np.exp(square / -2)
