"""Scenes held as Fourier series: noise and photographs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from flymotion.frames import as_frames
from flymotion.scenes.base import as_generator

__all__ = ["ExponentialNoise", "FourierScene", "photograph"]

_TOLERANCE = 1e-12  # of the nonuniform FFT, relative


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
