r"""Scenes: what there is to see, static and continuous.

A scene answers one question, ``sample(points, sigma)``: its intensity at ``points`` seen through a Gaussian acceptance
function of standard deviation ``sigma``, both in pixel spacings of the eye. The answer is exact: gratings and edges in
closed form, noise and photographs as Fourier series whose modes the optics damp by
:math:`\exp(-\sigma^2 \omega^2 / 2)`, summed at any points to 1e-12 by a nonuniform fast Fourier transform (finufft).
No pixel values are ever interpolated.

Coordinates are (x right, y down). Angles are in degrees: 0 = right, 90 = up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import i0e, log_ndtr, ndtr

from flymotion.frames import as_frames

__all__ = [
    "Edge",
    "ExponentialNoise",
    "FourierScene",
    "Grating",
    "Scene",
    "exponential_covariance",
    "photograph",
    "unit_vector",
]

_TOLERANCE = 1e-12  # of the nonuniform FFT, relative


class Scene(Protocol):
    """What a scene has to offer."""

    @property
    def ndim(self) -> int:
        """Dimensions of the scene, 1 or 2."""

    @property
    def extent(self) -> np.ndarray:
        """Where an eye may be put, shape (ndim, 2): low and high [pixel spacings]."""

    @property
    def wraps(self) -> bool:
        """Whether a view that crosses the border of the extent is as good as any other."""

    def sample(self, points: np.ndarray, sigma: float) -> np.ndarray:
        """Intensity at points, shape (..., ndim), seen through optics of width sigma; shape (...)."""


def unit_vector(angle: float, ndim: int = 2) -> np.ndarray:
    """Return the unit vector (x right, y down) of a direction: 0 deg = right, 90 deg = up."""
    radians = math.radians(angle)
    vector = np.array([math.cos(radians), -math.sin(radians)])
    vector[np.abs(vector) < 1e-15] = 0.0
    return vector[:ndim]


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

    def sample(self, points: np.ndarray, sigma: float) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width sigma; shape (...)."""
        omega = 2 * math.pi / self.wavelength
        distance = points @ unit_vector(self.angle, self.ndim)
        damping = math.exp(-((sigma * omega) ** 2) / 2)
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

    def sample(self, points: np.ndarray, sigma: float) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width sigma; shape (...)."""
        distance = points @ unit_vector(self.angle, self.ndim) - self.position
        step = ndtr(distance / sigma) if sigma > 0 else np.heaviside(distance, 0.5)
        return self.contrast * (step - 0.5)


@dataclass(frozen=True, eq=False)
class FourierScene:
    """A periodic scene held as its Fourier series.

    Parameters
    ----------
    modes : ndarray of complex
        Coefficients of ``exp(2 pi i k . x / period)``, axes (x,) or (y, x), each of odd length with mode 0 in the
        middle; Hermitian.
    period : tuple of float
        Period along x, or x and y [pixel spacings].
    extent : ndarray, shape (ndim, 2)
        Where an eye may be put.
    wraps : bool
        Whether views across the border of the extent are as good as any.
    """

    modes: np.ndarray
    period: tuple[float, ...]
    extent: np.ndarray
    wraps: bool = True

    @property
    def ndim(self) -> int:
        """Dimensions of the scene."""
        return self.modes.ndim

    def sample(self, points: np.ndarray, sigma: float) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width sigma; shape (...)."""
        import finufft

        modes = self._seen_through(sigma)
        phases = [
            np.ascontiguousarray(np.mod(points[..., d].ravel() * (2 * math.pi / self.period[d]), 2 * math.pi))
            for d in reversed(range(self.ndim))
        ]
        transform = finufft.nufft1d2 if self.ndim == 1 else finufft.nufft2d2
        values = transform(*phases, modes, eps=_TOLERANCE, isign=1)
        return values.real.reshape(points.shape[:-1])

    def _seen_through(self, sigma: float) -> np.ndarray:
        """Damp the modes by the optics; leave out those damped below rounding."""
        modes = self.modes
        for axis in range(self.ndim):
            half = modes.shape[axis] // 2
            omega = 2 * math.pi * np.arange(-half, half + 1) / self.period[self.ndim - 1 - axis]
            damping = np.exp(-((sigma * omega) ** 2) / 2)
            kept = np.flatnonzero(damping > 1e-16)
            damping = damping[kept].reshape([-1 if a == axis else 1 for a in range(self.ndim)])
            modes = np.take(modes, kept, axis=axis) * damping
        return np.ascontiguousarray(modes)


class ExponentialNoise(FourierScene):
    r"""Gaussian noise with covariance :math:`\exp(-|d| / \ell)` before the optics: variance 1 everywhere.

    One static, periodic realisation. In two dimensions it is isotropic.

    Parameters
    ----------
    correlation_length : float
        :math:`\ell` [pixel spacings].
    ndim : int
        1 or 2.
    period : float, optional
        Period along each axis [pixel spacings]; by default 131072 in one dimension, 256 in two.
    sharpest : float
        Narrowest acceptance width that the series is long enough for [pixel spacings].
    random_state : int, Generator, RandomState or None
        Source of the realisation.

    Raises
    ------
    ValueError
        In ``sample``, for a ``sigma`` below ``sharpest``.

    Notes
    -----
    Modes have the variance of the spectrum (:math:`2 \ell / (1 + \omega^2 \ell^2)`, in two dimensions
    :math:`2 \pi \ell^2 / (1 + \omega^2 \ell^2)^{3/2}`) over the period, so the covariance is the periodic sum of the
    exponential's (Poisson). ``sharpest`` bounds the modes because point-sampled exponential noise has no finite series.
    """

    correlation_length: float
    sharpest: float

    def __init__(
        self,
        correlation_length: float = 3.0,
        *,
        ndim: int = 1,
        period: float | None = None,
        sharpest: float = 0.3,
        random_state: Any = None,
    ) -> None:
        if correlation_length <= 0 or ndim not in (1, 2):
            raise ValueError(f"correlation length {correlation_length}, {ndim} dimensions; expected > 0 and 1 or 2")
        period = period or {1: 131072.0, 2: 256.0}[ndim]
        rng = as_generator(random_state)
        half = math.ceil(8.6 / sharpest * period / (2 * math.pi))  # where the optics damp modes to 1e-16
        omega = np.fft.fftfreq(2 * half + 1, 1 / (2 * half + 1)) * (2 * math.pi / period)
        squared = sum(np.meshgrid(*[omega**2] * ndim, indexing="ij", sparse=True))
        white = np.fft.fftn(rng.standard_normal((2 * half + 1,) * ndim), norm="ortho")
        amplitude = np.sqrt(_exponential_spectrum(squared, correlation_length, ndim) / period**ndim)
        super().__init__(np.fft.fftshift(amplitude * white), (period,) * ndim, np.tile([0.0, period], (ndim, 1)))
        object.__setattr__(self, "correlation_length", correlation_length)
        object.__setattr__(self, "sharpest", sharpest)

    def sample(self, points: np.ndarray, sigma: float) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width sigma; shape (...)."""
        if sigma < self.sharpest:
            raise ValueError(
                f"sigma is {sigma} pixel spacings, but this noise was drawn for {self.sharpest} or wider "
                "(point-sampled exponential noise has no derivative, so no motion to learn); set sharpest"
            )
        return super().sample(points, sigma)


def _exponential_spectrum(omega_squared: Any, length: float, ndim: int) -> Any:
    if ndim == 1:
        return 2 * length / (1 + omega_squared * length**2)
    return 2 * math.pi * length**2 / (1 + omega_squared * length**2) ** 1.5


def exponential_covariance(correlation_length: float, sigma: float, ndim: int = 1) -> Callable[[Any], np.ndarray]:
    r"""Return the covariance of two pixels that look at exponentially correlated noise.

    The noise's covariance blurred by both pixels' optics, i.e. by a Gaussian of variance :math:`2 \sigma^2`: in one
    dimension in closed form, in two the Hankel transform
    :math:`\int \omega \ell^2 (1 + \omega^2 \ell^2)^{-3/2} e^{-\sigma^2 \omega^2} J_0(\omega r) d\omega`.

    Parameters
    ----------
    correlation_length : float
        :math:`\ell` [pixel spacings].
    sigma : float
        Acceptance width [pixel spacings].
    ndim : int
        1 or 2.

    Returns
    -------
    callable
        From displacements, shape (..., ndim) [pixel spacings], to covariances, shape (...).
    """
    if ndim == 1:
        return lambda d: _blurred_exponential(np.linalg.norm(d, axis=-1), correlation_length, sigma)
    return lambda d: _blurred_in_the_plane(np.linalg.norm(d, axis=-1), correlation_length, sigma)


def _blurred_in_the_plane(distance: np.ndarray, length: float, sigma: float) -> np.ndarray:
    if sigma == 0:
        return np.exp(-distance / length)
    spread = math.sqrt(2) * sigma  # of the two acceptance functions together
    nodes, weights = np.polynomial.legendre.leggauss(200)
    low, high = np.maximum(distance - 9 * spread, 0), distance + 9 * spread
    half, d = ((high - low) / 2)[..., None], np.asarray(distance)[..., None]
    q = low[..., None] + half * (nodes + 1)  # distance from the centre, weighted by Rice's distribution
    rice = q / spread**2 * np.exp(-((q - d) ** 2) / (2 * spread**2)) * i0e(q * d / spread**2)
    return (half * rice * np.exp(-q / length)) @ weights


def _blurred_exponential(distance: np.ndarray, length: float, sigma: float) -> np.ndarray:
    if sigma == 0:
        return np.exp(-distance / length)
    spread = math.sqrt(2) * sigma  # of the two acceptance functions together

    def half(sign: int) -> np.ndarray:
        # exp(spread^2 / 2 length^2 + sign d / length) * erfc((spread / length + sign d / spread) / sqrt 2), in logs
        argument = spread / length + sign * distance / spread
        return np.exp(spread**2 / (2 * length**2) + sign * distance / length + log_ndtr(-argument))

    return half(-1) + half(1)


def photograph(image: Any, *, pixels_per_spacing: float = 2.0) -> FourierScene:
    """Make a scene of a photograph: the band-limited function through its pixels.

    Parameters
    ----------
    image : array-like, shape (height, width), (height, width, 3 or 4), or (width,) in a one-dimensional world
        Intensities; colours are weighted to luminance (Rec. 601: 0.299, 0.587, 0.114), alpha is ignored.
    pixels_per_spacing : float
        Pixels of the photograph between two neighbouring pixels of the eye.

    Returns
    -------
    FourierScene
        Mirrored at its borders, so that it is periodic and without seams; eyes are put inside.

    Raises
    ------
    ValueError
        An image of another shape, or not finite.
    """
    image = as_frames(image[None] if np.ndim(image) == 1 else image, name="image").astype(float)
    if image.ndim == 3 and image.shape[2] in (3, 4):
        image = image[..., :3] @ np.array([0.299, 0.587, 0.114])
    if image.ndim != 2:
        raise ValueError(f"image has shape {image.shape}; expected (height, width) or (height, width, 3 or 4)")
    image = image[0] if len(image) == 1 else image
    modes = image
    for axis, size in enumerate(image.shape):
        modes = np.concatenate([modes, np.flip(modes, axis)], axis)
        modes = np.fft.fftshift(np.fft.fft(modes, axis=axis, norm="forward"), axes=axis)
        modes = np.delete(modes, 0, axis)  # the Nyquist mode of a mirror image is 0
        k = np.arange(-size + 1, size).reshape([-1 if a == axis else 1 for a in range(image.ndim)])
        modes = modes * np.exp(-1j * math.pi * k * 0.5 / size)  # pixel j looks at position j + 1/2
    sizes = [size / pixels_per_spacing for size in reversed(image.shape)]
    extent = np.array([[0.0, size] for size in sizes])
    return FourierScene(modes, tuple(2 * size for size in sizes), extent, wraps=False)


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a numpy Generator for an int, Generator, RandomState or None; the global stream is left alone."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
