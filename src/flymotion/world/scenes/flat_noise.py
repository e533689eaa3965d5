"""Noise of one or two dimensions: Fourier series whose modes are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from flymotion.world.conventions import as_generator, check_ndim, positive
from flymotion.world.scenes.fourier import FourierScene
from flymotion.world.scenes.scene import as_covariances

__all__ = ["ExponentialNoise", "SmoothNoise"]

_MOST = 2**25  # modes: half a gigabyte, and some of these while they are drawn


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
        A length or width that is not positive, a period shorter than that, or of more than 2^25 modes; in
        ``sample``, for a ``sigma`` below ``sharpest``.

    Notes
    -----
    Modes have the variance of the spectrum (:math:`2 \ell / (1 + \omega^2 \ell^2)`, in two dimensions
    :math:`2 \pi \ell^2 / (1 + \omega^2 \ell^2)^{3/2}`) over the period, so the covariance is the periodic sum of the
    exponential's (Poisson). ``sharpest`` bounds the modes because point-sampled exponential noise has no finite series.

    Examples
    --------
    >>> scene = ExponentialNoise(3.0, period=8192.0, random_state=0)
    >>> x = scene.sample(np.arange(8192.0)[:, None], sigma=0.3)
    >>> [round(float(np.mean(x * np.roll(x, d))), 1) for d in (0, 3, 6)]  # 1, 1/e and 1/e^2, a little blurred
    [0.9, 0.4, 0.2]
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
        positive(sharpest=sharpest)
        highest = 8.6 / sharpest  # where the optics damp modes to 1e-16
        super().__init__(*_noise(_exponential_spectrum, correlation_length, highest, ndim, period, random_state))
        object.__setattr__(self, "correlation_length", correlation_length)
        object.__setattr__(self, "sharpest", sharpest)

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        narrowest = sigma
        if np.ndim(sigma) > 0:
            variance = np.linalg.eigvalsh(as_covariances(sigma, points)).min(initial=math.inf)
            narrowest = math.sqrt(max(variance, 0)) * (1 + 1e-9)  # not refused for the rounding of sharpest^2
        if narrowest < self.sharpest:
            raise ValueError(
                f"sigma is {narrowest} pixel spacings, but this noise was drawn for {self.sharpest} or wider "
                "(point-sampled exponential noise has no derivative, so no motion to learn); set sharpest"
            )
        return super().sample(points, sigma)


def _exponential_spectrum(omega_squared: Any, length: float, ndim: int) -> Any:
    if ndim == 1:
        return 2 * length / (1 + omega_squared * length**2)
    return 2 * math.pi * length**2 / (1 + omega_squared * length**2) ** 1.5


class SmoothNoise(FourierScene):
    r"""Gaussian noise with covariance :math:`\exp(-d^2 / 2 \ell^2)` before the optics: variance 1 everywhere.

    One static, periodic realisation. Its points have derivatives of every order, so ``sigma`` may be 0.

    Parameters
    ----------
    correlation_length : float
        :math:`\ell` [pixel spacings].
    ndim : int
        1 or 2.
    period : float, optional
        Period along each axis [pixel spacings]; by default 131072 in one dimension, 256 in two.
    random_state : int, Generator, RandomState or None
        Source of the realisation.

    Raises
    ------
    ValueError
        A length that is not positive, a period shorter than that, or of more than 2^25 modes.

    Notes
    -----
    Modes have the variance of the spectrum, :math:`(2 \pi \ell^2)^{n/2} \exp(-\omega^2 \ell^2 / 2)` in n dimensions,
    over the period, up to where it is 1e-17 of its maximum.

    Examples
    --------
    >>> scene = SmoothNoise(3.0, period=4096.0, random_state=0)
    >>> x = scene.sample(np.arange(4096.0)[:, None], sigma=0.0)
    >>> [round(float(np.mean(x * np.roll(x, d))), 1) for d in (0, 3, 6)]  # about exp(-d^2 / 18)
    [1.0, 0.6, 0.1]
    """

    correlation_length: float

    def __init__(
        self, correlation_length: float, *, ndim: int = 1, period: float | None = None, random_state: Any = None
    ) -> None:
        highest = math.sqrt(2 * math.log(1e17)) / (correlation_length or math.inf)
        super().__init__(*_noise(_smooth_spectrum, correlation_length, highest, ndim, period, random_state))
        object.__setattr__(self, "correlation_length", correlation_length)


def _smooth_spectrum(omega_squared: Any, length: float, ndim: int) -> Any:
    return (2 * math.pi * length**2) ** (ndim / 2) * np.exp(-omega_squared * length**2 / 2)


def _noise(
    spectrum: Callable[[Any, float, int], Any],
    correlation_length: float,
    highest: float,
    ndim: int,
    period: float | None,
    random_state: Any,
) -> tuple[np.ndarray, tuple[float, ...], np.ndarray]:
    """Draw the modes of Gaussian noise of a spectrum, up to a frequency; also the period and extent of its scene."""
    positive(correlation_length=correlation_length)
    check_ndim(ndim)
    period = {1: 131072.0, 2: 256.0}[ndim] if period is None else period
    positive(period=period)
    if period < correlation_length:
        raise ValueError(
            f"the correlation length is {correlation_length:g}, and the period {period:g}; expected a period that is "
            "longer, as what repeats sooner does not fall off"
        )
    if (highest * period / math.pi) ** ndim > _MOST:
        raise ValueError(
            f"noise of a length of {correlation_length:g}, up to {highest:g} rad per spacing over a period of "
            f"{period:g}, has more than {_MOST} modes; expected a shorter period, or wider optics or correlations"
        )
    rng = as_generator(random_state)
    half = math.ceil(highest * period / (2 * math.pi))
    omega = np.fft.fftfreq(2 * half + 1, 1 / (2 * half + 1)) * (2 * math.pi / period)
    squared = sum(np.meshgrid(*[omega**2] * ndim, indexing="ij", sparse=True))
    white = np.fft.fftn(rng.standard_normal((2 * half + 1,) * ndim), norm="ortho")
    amplitude = np.sqrt(spectrum(squared, correlation_length, ndim) / period**ndim)
    return np.fft.fftshift(amplitude * white), (period,) * ndim, np.tile([0.0, period], (ndim, 1))
