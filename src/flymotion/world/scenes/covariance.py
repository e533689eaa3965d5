r"""Covariances of pixels that look at noise, optics included.

Two pixels see the noise's covariance function blurred by both their acceptance functions, by a Gaussian of covariance B
altogether: :math:`B = 2 \sigma^2 I` where both are round; what elliptic ones add to that is called ``extra``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import erfcx, log_ndtr

from flymotion.frames import unmasked
from flymotion.world.conventions import check_ndim, not_below_0, positive

__all__ = ["exponential_covariance", "smooth_covariance"]

_STEP = 0.25  # of the trapezoidal rule in log u: exact to 1e-14


def smooth_covariance(correlation_length: float, sigma: float, ndim: int = 1) -> Callable[..., np.ndarray]:
    r"""Return the covariance of two pixels that look at smooth noise, whose own is a Gaussian of their distance.

    With B the covariance of both pixels' optics together, :math:`S = \ell^2 I + B`,

    .. math:: c(d) = |\ell^2 I|^{1/2} |S|^{-1/2} \exp(-d' S^{-1} d / 2).

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
        From displacements, shape (..., ndim) [pixel spacings], to covariances, shape (...). A second argument
        ``extra``, by default 0, is what the acceptance covariances of the two pixels together exceed
        :math:`2 \sigma^2 I` by, to be broadcast to shape (..., ndim, ndim) [pixel spacings squared].

    Raises
    ------
    ValueError
        A length that is not positive, a width below 0 or not finite, other dimensions than 1 or 2.

    Examples
    --------
    >>> covariance = smooth_covariance(3.0, 0.0, ndim=2)
    >>> covariance([[0.0, 0.0], [3.0, 0.0]])
    array([1.   , 0.607])
    >>> covariance([[0.0, 0.0]], [[9.0, 0.0], [0.0, 0.0]])  # blurred along x
    array([0.707])
    """
    _check(correlation_length, sigma, ndim)

    def covariance(displacements: Any, extra: Any = None) -> np.ndarray:
        blurred = _blurred_gaussian(unmasked(displacements, "displacements", float), _blur(sigma, ndim, extra))
        return blurred(correlation_length**2)

    return covariance


def exponential_covariance(correlation_length: float, sigma: float, ndim: int = 1) -> Callable[..., np.ndarray]:
    r"""Return the covariance of two pixels that look at exponentially correlated noise.

    In one dimension in closed form. In two, the exponential is a mixture of Gaussians,

    .. math:: e^{-d / \ell} = \int_0^\infty \frac{e^{-u}}{\sqrt{\pi u}} e^{-d^2 / 4 u \ell^2} du,

    each of which is blurred in closed form.

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
        From displacements, shape (..., ndim) [pixel spacings], to covariances, shape (...). A second argument
        ``extra``, by default 0, is what the acceptance covariances of the two pixels together exceed
        :math:`2 \sigma^2 I` by, to be broadcast to shape (..., ndim, ndim) [pixel spacings squared].

    Raises
    ------
    ValueError
        As of :func:`smooth_covariance`.

    Examples
    --------
    >>> points, optics = exponential_covariance(3.0, sigma=0.0), exponential_covariance(3.0, sigma=0.475)
    >>> points([[0.0], [3.0]]).round(3), optics([[0.0], [3.0]]).round(3)  # optics blur what is fine
    (array([1.   , 0.368]), array([0.844, 0.377]))
    """
    _check(correlation_length, sigma, ndim)

    def covariance(displacements: Any, extra: Any = None) -> np.ndarray:
        displacements, blur = unmasked(displacements, "displacements", float), _blur(sigma, ndim, extra)
        if ndim == 1:
            return _blurred_on_a_line(np.abs(displacements[..., 0]), correlation_length, blur[..., 0, 0])
        return _blurred_in_the_plane(displacements, correlation_length, blur)

    return covariance


def _check(correlation_length: float, sigma: float, ndim: int) -> None:
    positive(correlation_length=correlation_length)
    not_below_0(sigma=sigma)
    check_ndim(ndim)


def _blur(sigma: float, ndim: int, extra: Any) -> np.ndarray:
    """Return the covariance B of both pixels' optics together."""
    return 2 * sigma**2 * np.eye(ndim) + (0.0 if extra is None else unmasked(extra, "extra"))


def _blurred_gaussian(d: np.ndarray, blur: np.ndarray) -> Callable[[float], np.ndarray]:
    """Return what a Gaussian of height 1 and of the variance that is asked for, v, is at d when blurred.

    In two dimensions, |v I + B| = v^2 + v tr B + |B| and d' (v I + B)^-1 d |v I + B| = v d'd + d' adj(B) d.
    """
    if d.shape[-1] == 1:
        return lambda v: np.sqrt(v / (v + blur[..., 0, 0])) * np.exp(d[..., 0] ** 2 / (v + blur[..., 0, 0]) / -2)
    (x, y), xx, yy, xy = np.moveaxis(d, -1, 0), blur[..., 0, 0], blur[..., 1, 1], blur[..., 0, 1]
    trace, determinant = xx + yy, np.maximum(xx * yy - xy**2, 0)
    squared, across = x**2 + y**2, np.maximum(yy * x**2 - 2 * xy * x * y + xx * y**2, 0)

    def blurred(v: float) -> np.ndarray:
        whole = v**2 + v * trace + determinant
        return v / np.sqrt(whole) * np.exp((v * squared + across) / (-2 * whole))

    return blurred


def _blurred_in_the_plane(d: np.ndarray, length: float, blur: np.ndarray) -> np.ndarray:
    if not blur.any():
        return np.exp(-np.linalg.norm(d, axis=-1) / length) + np.zeros(blur.shape[:-2])
    # towards u = 0 the integrand in log u falls as sqrt(u), or once the blur is wider than the Gaussian, as u^1.5
    narrowest = max(np.linalg.eigvalsh(blur).min(), 1e-30 * length**2)
    lowest = max(-80.0, (-38 - math.log(2 * length**2 / narrowest)) / 1.5)
    blurred, total = _blurred_gaussian(d, blur), np.zeros(())
    for u in np.exp(np.arange(3.75, lowest, -_STEP)):
        total = total + _STEP * math.sqrt(u / math.pi) * math.exp(-u) * blurred(2 * u * length**2)
    return total


def _blurred_on_a_line(distance: np.ndarray, length: float, variance: np.ndarray) -> np.ndarray:
    distance, spread = np.broadcast_arrays(distance, np.sqrt(variance))
    covariance = np.array(np.exp(-distance / length))
    blurred = spread > 0
    d, s = distance[blurred], spread[blurred]

    def half(sign: int) -> np.ndarray:
        # exp(s^2 / 2 length^2 + sign d / length) * erfc(a / sqrt 2) / 2 with a = s / length + sign d / s, in logs;
        # where a is large both factors are, and what they make is exp(-d^2 / 2 s^2) erfcx(a / sqrt 2) / 2
        a = s / length + sign * d / s
        with np.errstate(over="ignore", invalid="ignore"):
            usual = np.exp(s**2 / (2 * length**2) + sign * d / length + log_ndtr(-a))
            far = np.exp((d / s) ** 2 / -2) * erfcx(np.maximum(a, 30) / math.sqrt(2)) / 2
        return np.where(a > 30, far, usual)

    covariance[blurred] = half(-1) + half(1)
    return covariance[()]
