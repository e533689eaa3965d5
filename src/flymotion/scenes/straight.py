"""Scenes that change along one direction: gratings, edges and bars, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from flymotion.scenes.base import as_covariances, unit_vector

__all__ = ["Bar", "Edge", "Grating"]


@dataclass(frozen=True)
class Grating:
    """A sine grating, ``mean + contrast * cos(2 pi d / wavelength + phase)``, d the distance along ``angle``.

    Parameters
    ----------
    wavelength : float
        Spatial period [pixel spacings].
    contrast : float
        Amplitude (the Michelson contrast where ``mean`` is 1).
    angle : float
        Direction of the wave vector [deg].
    phase : float
        Phase at the origin [rad].
    mean : float
        Mean intensity.
    ndim : int
        Dimensions of the scene.
    """

    wavelength: float
    contrast: float = 1.0
    angle: float = 0.0
    phase: float = 0.0
    mean: float = 0.0
    ndim: int = 1

    wraps = True

    @property
    def extent(self) -> np.ndarray:
        """A thousand wavelengths a side: any phase is as likely."""
        return np.tile([0.0, 1000 * self.wavelength], (self.ndim, 1))

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        omega = 2 * math.pi / self.wavelength
        along = unit_vector(self.angle, self.ndim)
        damping = np.exp(-((_width(along, sigma, points) * omega) ** 2) / 2)
        distance = points @ along
        return self.mean + self.contrast * damping * np.cos(omega * distance + self.phase)


@dataclass(frozen=True)
class Edge:
    """A straight step from ``-contrast / 2`` to ``contrast / 2``, rising along ``angle``, through ``position``.

    Parameters
    ----------
    position : float
        Distance of the edge from the origin along ``angle`` [pixel spacings].
    contrast : float
        Height of the step; negative for a falling (OFF) edge.
    angle : float
        Direction in which the intensity rises [deg].
    ndim : int
        Dimensions of the scene.
    """

    position: float = 0.0
    contrast: float = 1.0
    angle: float = 0.0
    ndim: int = 1

    wraps = True

    @property
    def extent(self) -> np.ndarray:
        """Two pixel spacings either side of the edge."""
        return self.position * unit_vector(self.angle, self.ndim)[:, None] + np.array([-2.0, 2.0])

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        along = unit_vector(self.angle, self.ndim)
        distance, width = np.broadcast_arrays(points @ along - self.position, _width(along, sigma, points))
        step = np.array(np.heaviside(distance, 0.5))
        blurred = width > 0
        step[blurred] = ndtr(distance[blurred] / width[blurred])
        return self.contrast * (step - 0.5)


@dataclass(frozen=True)
class Bar:
    """A straight bar of intensity ``contrast`` on a ground of 0, endless across ``angle``.

    Parameters
    ----------
    width : float
        Of the bar along ``angle`` [pixel spacings].
    position : float
        Distance of its middle from the origin along ``angle`` [pixel spacings].
    contrast : float
        Intensity of the bar; negative for a dark (OFF) one.
    angle : float
        Direction across the bar [deg].
    ndim : int
        Dimensions of the scene.
    """

    width: float
    position: float = 0.0
    contrast: float = 1.0
    angle: float = 0.0
    ndim: int = 1

    wraps = True

    @property
    def extent(self) -> np.ndarray:
        """Two pixel spacings either side of the bar's middle."""
        return self._edge(0.0).extent

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        return self._edge(-self.width / 2).sample(points, sigma) - self._edge(self.width / 2).sample(points, sigma)

    def _edge(self, offset: float) -> Edge:
        return Edge(self.position + offset, self.contrast, self.angle, self.ndim)


def _width(along: np.ndarray, sigma: float | np.ndarray, points: np.ndarray) -> np.ndarray:
    """Width of the optics along a unit vector, to be broadcast over the points."""
    if np.ndim(sigma) == 0:
        return np.asarray(sigma)
    variance = along @ as_covariances(sigma, points) @ along
    return np.sqrt(np.maximum(variance, 0)).reshape(-1, *[1] * (points.ndim - 2))
