"""Scenes that change along one direction: sine and square gratings, edges and bars, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from flymotion.world.conventions import check_ndim, finite, positive, unit_vector
from flymotion.world.scenes.scene import as_covariances, check_seen

__all__ = ["Bar", "Edge", "Grating", "SquareGrating"]


@dataclass(frozen=True)
class Grating:
    """A sine grating, ``mean + contrast * cos(2 pi d / wavelength + phase)``, d the distance along ``direction``.

    Parameters
    ----------
    wavelength : float
        Spatial period [pixel spacings].
    contrast : float
        Amplitude (the Michelson contrast where ``mean`` is 1).
    direction : float
        Direction of the wave vector [deg].
    phase : float
        Phase at the origin [rad].
    mean : float
        Mean intensity.
    ndim : int
        Dimensions of the scene.

    Raises
    ------
    ValueError
        A wavelength that is not positive, numbers that are not finite, other dimensions than 1 or 2.

    Examples
    --------
    >>> from flymotion.world import FLY_SIGMA, Line, render
    >>> render(Grating(4.0), Line(5, sigma=0.0), [[0.0]]).round(6) + 0.0
    array([[-1.,  0.,  1.,  0., -1.]])
    >>> render(Grating(4.0), Line(5, sigma=FLY_SIGMA), [[0.0]]).round(2) + 0.0  # what a fly's optics leave of it
    array([[-0.76,  0.  ,  0.76,  0.  , -0.76]])
    """

    wavelength: float
    contrast: float = 1.0
    direction: float = 0.0
    phase: float = 0.0
    mean: float = 0.0
    ndim: int = 1

    wraps = True

    def __post_init__(self) -> None:
        _check_wave(self)

    @property
    def extent(self) -> np.ndarray:
        """A thousand wavelengths a side, shape (ndim, 2): any phase is as likely."""
        return np.tile([0.0, 1000 * self.wavelength], (self.ndim, 1))

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        omega = 2 * math.pi / self.wavelength
        distance, width = _along(self, points, sigma)
        damping = np.exp(-((width * omega) ** 2) / 2)
        return self.mean + self.contrast * damping * np.cos(omega * distance + self.phase)


@dataclass(frozen=True)
class SquareGrating:
    r"""A square grating, ``mean + contrast * sign(cos(2 pi d / wavelength + phase))``, d along ``direction``.

    Parameters
    ----------
    wavelength : float
        Spatial period [pixel spacings].
    contrast : float
        Height above the mean (the Michelson contrast where ``mean`` is 1).
    direction : float
        Direction of the wave vector [deg].
    phase : float
        Phase at the origin [rad].
    mean : float
        Mean intensity.
    ndim : int
        Dimensions of the scene.

    Raises
    ------
    ValueError
        As of :class:`Grating`.

    Notes
    -----
    Through optics of a width :math:`w \le 1/4` wavelength it is the sum of the edges next to a point; through wider
    ones of the first damped harmonics, m = 1, 3, 5, of
    :math:`(4 / \pi) \sum_m \pm m^{-1} \exp(-(2 \pi m w)^2 / 2) \cos 2 \pi m u`. What either leaves out is below 1e-18.

    Examples
    --------
    >>> from flymotion.world import Line, render
    >>> render(SquareGrating(4.0), Line(4, sigma=0.0), [[0.0]])
    array([[-1.,  1.,  1., -1.]])
    """

    wavelength: float
    contrast: float = 1.0
    direction: float = 0.0
    phase: float = 0.0
    mean: float = 0.0
    ndim: int = 1

    wraps = True

    def __post_init__(self) -> None:
        _check_wave(self)

    @property
    def extent(self) -> np.ndarray:
        """A thousand wavelengths a side, shape (ndim, 2): any phase is as likely."""
        return np.tile([0.0, 1000 * self.wavelength], (self.ndim, 1))

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        distance, width = np.broadcast_arrays(*_along(self, points, sigma))
        u, w = distance / self.wavelength + self.phase / (2 * math.pi), width / self.wavelength
        wave, wide = np.empty(u.shape), w > 0.25
        wave[wide], wave[~wide] = _square_of_harmonics(u[wide], w[wide]), _square_of_edges(u[~wide], w[~wide])
        return self.mean + self.contrast * wave


def _check_wave(wave: Grating | SquareGrating) -> None:
    positive(wavelength=wave.wavelength)
    finite(contrast=wave.contrast, direction=wave.direction, phase=wave.phase, mean=wave.mean)
    check_ndim(wave.ndim)


def _square_of_edges(u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return a square wave at places u through narrow optics of width w [wavelengths]."""
    u = u - np.round(u)
    bright = [_step(u - k + 0.25, w) - _step(u - k - 0.25, w) for k in (-2, -1, 0, 1, 2)]
    return 2 * np.sum(bright, axis=0) - 1


def _square_of_harmonics(u: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return a square wave at places u through wide optics of width w [wavelengths]."""
    harmonics = [
        share / m * np.exp(-((2 * math.pi * m * w) ** 2) / 2) * np.cos(2 * math.pi * m * u)
        for m, share in ((1, 1), (3, -1), (5, 1))
    ]
    return 4 / math.pi * np.sum(harmonics, axis=0)


@dataclass(frozen=True)
class Edge:
    """A straight step from ``mean - contrast / 2`` to ``mean + contrast / 2``, rising along ``direction``.

    Parameters
    ----------
    position : float
        Distance of the edge from the origin along ``direction`` [pixel spacings].
    contrast : float
        Height of the step; negative for a falling (OFF) edge.
    direction : float
        Direction in which the intensity rises [deg].
    ndim : int
        Dimensions of the scene.
    mean : float
        Intensity halfway up the step.

    Raises
    ------
    ValueError
        Numbers that are not finite, other dimensions than 1 or 2.

    Examples
    --------
    >>> from flymotion.world import Line, render
    >>> render(Edge(), Line(5), [[0.0]]).round(2)  # through a fly's optics
    array([[-0.5 , -0.48,  0.  ,  0.48,  0.5 ]])
    """

    position: float = 0.0
    contrast: float = 1.0
    direction: float = 0.0
    ndim: int = 1
    mean: float = 0.0

    wraps = True

    def __post_init__(self) -> None:
        finite(position=self.position, contrast=self.contrast, direction=self.direction, mean=self.mean)
        check_ndim(self.ndim)

    @property
    def extent(self) -> np.ndarray:
        """Two pixel spacings either side of the edge, shape (ndim, 2)."""
        return self.position * unit_vector(self.direction, self.ndim)[:, None] + np.array([-2.0, 2.0])

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        distance, width = np.broadcast_arrays(*_along(self, points, sigma))
        return self.mean + self.contrast * (_step(distance - self.position, width) - 0.5)


@dataclass(frozen=True)
class Bar:
    """A straight bar of intensity ``contrast`` on a ground of 0, endless across ``direction``.

    Parameters
    ----------
    width : float
        Of the bar along ``direction`` [pixel spacings].
    position : float
        Distance of its middle from the origin along ``direction`` [pixel spacings].
    contrast : float
        Intensity of the bar; negative for a dark (OFF) one.
    direction : float
        Direction across the bar [deg].
    ndim : int
        Dimensions of the scene.

    Raises
    ------
    ValueError
        A width that is not positive, numbers that are not finite, other dimensions than 1 or 2.

    Examples
    --------
    >>> from flymotion.world import Line, render
    >>> render(Bar(width=2.0, contrast=-1.0), Line(5, sigma=0.0), [[0.0]]) + 0.0  # a dark bar; its edges are half
    array([[ 0. , -0.5, -1. , -0.5,  0. ]])
    """

    width: float
    position: float = 0.0
    contrast: float = 1.0
    direction: float = 0.0
    ndim: int = 1

    wraps = True

    def __post_init__(self) -> None:
        positive(width=self.width)
        finite(position=self.position, contrast=self.contrast, direction=self.direction)
        check_ndim(self.ndim)

    @property
    def extent(self) -> np.ndarray:
        """Two pixel spacings either side of the bar's middle, shape (ndim, 2)."""
        return self._edge(0.0).extent

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        return self._edge(-self.width / 2).sample(points, sigma) - self._edge(self.width / 2).sample(points, sigma)

    def _edge(self, offset: float) -> Edge:
        return Edge(self.position + offset, self.contrast, self.direction, self.ndim)


def _along(
    scene: Grating | SquareGrating | Edge, points: np.ndarray, sigma: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances of points along a scene's direction, and the width of the optics along it, to be broadcast."""
    check_seen(points, sigma)
    along = unit_vector(scene.direction, scene.ndim)
    if np.ndim(sigma) == 0:
        return points @ along, np.asarray(sigma)
    variance = along @ as_covariances(sigma, points) @ along
    return points @ along, np.sqrt(np.maximum(variance, 0)).reshape(-1, *[1] * (points.ndim - 2))


def _step(distance: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return a step from 0 to 1 seen through optics of a width, at distances beyond it."""
    step = np.array(np.heaviside(distance, 0.5))
    blurred = width > 0
    with np.errstate(over="ignore"):  # infinitely many widths away
        step[blurred] = ndtr(distance[blurred] / width[blurred])
    return step
