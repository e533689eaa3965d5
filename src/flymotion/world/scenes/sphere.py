r"""Scenes on the sphere, for eyes that look all round: held as spherical harmonics, exact at any direction.

.. math:: f = \mathrm{Re} \sum_{l \le L} \sum_{0 \le m \le l} (2 - \delta_{m0})\, a_{lm} Y_{lm}

===========  ==================  ==========================================================================
``a``        (L + 1, L + 1)      coefficients, of degree l (rows) and order m; 0 where m > l
``Y``                            orthonormal harmonics with the Condon-Shortley phase, as in scipy
``theta``    (n,)                colatitude, from the zenith down [rad]
``phi``                          azimuth, from straight ahead to the left [rad]
``F``        (n_orders, n)       parts of f by order: f = sum F_m(theta) exp(i m phi)
===========  ==================  ==========================================================================

Directions are (x forward, y left, z up). Optics damp degree l by :math:`b_l = \exp(-l (l + 1) \sigma^2 / 2)`: the heat
kernel, which is the sphere's Gaussian. It is to within :math:`O(\sigma^2)` a Gaussian of the angle, and blurs add up
as they do in the plane.

What is left is summed as a Fourier series in both angles (the double Fourier sphere): :math:`F_m` continues over the
pole into :math:`(-1)^m F_m`, a trigonometric polynomial of degree L. Nothing is interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legval

from flymotion.brevity import in_brief
from flymotion.frames import not_masked, unmasked
from flymotion.world.conventions import HUGE, as_generator, not_below_0, positive
from flymotion.world.scenes.fourier import FourierScene
from flymotion.world.scenes.harmonics import HIGHEST, colatitudes, damping, fejer, legendre, series_in_colatitude
from flymotion.world.scenes.lens_widths import Widths, shared_widths
from flymotion.world.scenes.scene import as_luminance, check_seen

__all__ = ["SphericalNoise", "SphericalScene", "panorama", "spherical_covariance"]


@dataclass(frozen=True, eq=False)
class SphericalScene:
    """A scene all round, held as its spherical harmonic coefficients, on a surface about the origin.

    The acceptance functions of an eye away from the origin are moved to where its pixels look, not stretched: their
    widths are in degrees as seen from the origin.

    Parameters
    ----------
    coefficients : ndarray of complex, shape (degree + 1, degree + 1)
        Of degree l (rows) and orders m = 0, 1, ... l, those of order 0 real; the others are ignored.
    depth : float or callable
        Distance of the surface from the origin; or a function of unit vectors, shape (..., 3), that returns it, shape
        (...), also infinite.

    Raises
    ------
    ValueError
        Coefficients that are not square or not finite, a depth that is not positive.

    Examples
    --------
    >>> uniform = SphericalScene(np.array([[np.sqrt(4 * np.pi)]]))  # of degree 0: as bright everywhere
    >>> uniform.sample(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), sigma=0.0).round(6)
    array([1., 1.])
    """

    coefficients: np.ndarray
    depth: float | Callable[[np.ndarray], np.ndarray] = math.inf
    _seen: dict[bytes, list[tuple[Widths, np.ndarray]]] = field(default_factory=dict, init=False, repr=False)

    __repr__ = in_brief

    ndim = 3
    wraps = True

    def __post_init__(self) -> None:
        not_masked(self.coefficients, "coefficients")
        shape = np.shape(self.coefficients)
        if len(shape) != 2 or shape[0] != shape[1] or not shape[0] or not np.isfinite(np.tril(self.coefficients)).all():
            raise ValueError(
                f"coefficients have shape {shape}; expected finite ones, (degree + 1, degree + 1), of 1 or more degrees"
            )
        if not callable(self.depth) and self.depth != math.inf:
            positive(depth=self.depth)

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity in directions, shape (..., 3), of any length, through optics of width sigma [deg]; shape (...).

        Where each lens has a width of its own, sigma has the shape of the last axis of the intensities.
        """
        check_seen(points, sigma)
        points, widths = np.asarray(points, dtype=float), np.asarray(sigma, dtype=float)
        if widths.ndim > 1 or (widths.ndim == 1 and widths.shape != points.shape[-2:-1]):
            raise ValueError(
                f"sigma has shape {widths.shape}, as of elliptic optics; on the sphere expected round ones, of one "
                f"width [deg], or one for each of the last axis of points of shape {points.shape[:-1]}"
            )
        if (key := widths.tobytes()) not in self._seen:
            shared = shared_widths(np.atleast_1d(widths))
            views = [self._through(each.nodes) for each in shared]
            self._seen.clear()
            self._seen[key] = list(zip(shared, views, strict=True))
        x, y, z = np.moveaxis(points, -1, 0)
        angles = np.stack([np.arctan2(y, x), np.arctan2(np.hypot(x, y), z)], axis=-1)
        values = np.empty(points.shape[:-1])
        for each, modes in self._seen[key]:
            lenses = ... if widths.ndim == 0 else (..., each.lenses)
            series = FourierScene(modes[0], (2 * math.pi,) * 2, np.tile([0.0, 2 * math.pi], (2, 1)))
            seen = series.views(angles[..., each.lenses, :] if widths.ndim else angles, modes)
            values[lenses] = sum(w * view for w, view in zip(each.weights, seen, strict=True))
        return values

    def _through(self, widths: np.ndarray) -> np.ndarray:
        """Return the scene through optics of some widths as Fourier series in (azimuth, colatitude)."""
        damped = np.stack([damping(len(self.coefficients) - 1, math.radians(width) ** 2 / 2) for width in widths])
        damped = damped[:, (damped > 1e-16).any(axis=0)]
        n = damped.shape[1]
        F, along = np.zeros((len(widths), n, n), dtype=complex), legendre(colatitudes(n), n - 1)
        for some in np.array_split(np.arange(n), math.ceil(n / max(1, 2**20 // n**2))):
            terms = np.zeros((len(some), n, n), dtype=complex)
            for degree, term in zip(some, terms, strict=True):
                term[: degree + 1] = self.coefficients[degree, : degree + 1, None] * next(along)
            F += (damped[:, some] @ terms.reshape(len(some), -1).view(float)).view(complex).reshape(F.shape)
        modes = np.empty((len(widths), 2 * n - 1, 2 * n - 1), dtype=complex)
        for each, parts in zip(modes, F, strict=True):
            half = series_in_colatitude(parts)
            each[:] = np.concatenate([half[:0:-1, ::-1].conj(), half]).T
        return modes

    def toward(self, position: Any, directions: Any) -> np.ndarray:
        """Return where the surface that an eye sees is, as seen from the origin.

        Parameters
        ----------
        position : array-like, shape (3,) or (..., 3)
            Where the eye is, in the units of the depth.
        directions : array-like, shape (..., 3)
            Where it looks.

        Returns
        -------
        ndarray, shape (..., 3)
            Unit vectors.

        Raises
        ------
        ValueError
            A position on or outside the surface, or away from the origin of a scene infinitely far away; a surface too
            rugged for the iteration, which contracts where position times slope is small against the depth.
        """
        return toward(position, directions, self.depth)


def toward(position: Any, directions: Any, depth: float | Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return where a surface of given depth is seen from a position; see :meth:`SphericalScene.toward`."""
    position, directions = unmasked(position, "position", float), unmasked(directions, "directions", float)
    directions = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    distance = np.linalg.norm(position, axis=-1, keepdims=True)
    if not callable(depth):
        if not (distance < depth).all() or (math.isinf(depth) and distance.any()):
            where = "infinitely far away, where it sees no motion" if depth == math.inf else f"at a depth of {depth:g}"
            raise ValueError(
                f"an eye {distance.max():g} from the origin of a scene {where}; expected nearer: smaller steps, or a "
                "finite depth beyond them"
            )
        return _ahead(position / depth, directions)
    outward = np.where(distance > 0, position, [1.0, 0.0, 0.0]) / np.where(distance > 0, distance, 1.0)
    if not (distance[..., 0] < depth(outward)).all():
        raise ValueError(f"an eye {distance.max()} from the origin is outside the surface; expected inside")
    seen = directions + np.zeros_like(position)
    for _ in range(100):
        before, seen = seen, _ahead(position / np.asarray(depth(seen))[..., None], directions)
        if np.abs(seen - before).max(initial=0.0) < 1e-12:
            return seen
    raise ValueError("the surface is too rugged to find where an eye so far from the origin looks; move it less")


def _ahead(position: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return where rays from a position inside the unit sphere leave it."""
    along = (position * directions).sum(axis=-1, keepdims=True)
    inside = np.maximum(1 - (position**2).sum(axis=-1, keepdims=True), 0)
    hit = position + (np.sqrt(along**2 + inside) - along) * directions
    return hit / np.linalg.norm(hit, axis=-1, keepdims=True)


class SphericalNoise(SphericalScene):
    r"""Isotropic Gaussian noise, with covariance :math:`\exp(-\gamma^2 / 2 \ell^2)` at small angles before the optics.

    One static realisation, of variance 1 in every direction. Its covariance is the heat kernel: that of white noise
    through optics of :math:`\sigma = \ell / \sqrt 2`, which is :func:`spherical_covariance`.

    Parameters
    ----------
    correlation_angle : float
        :math:`\ell` [deg].
    depth : float or callable
        As for :class:`SphericalScene`.
    random_state : int, Generator, RandomState or None
        Source of the realisation.

    Raises
    ------
    ValueError
        A correlation angle below 0.34 degrees, or not finite; a depth that is not positive.

    Notes
    -----
    Spectrum :math:`C_l \propto \exp(-l (l + 1) \ell^2 / 2)`, up to where it is 1e-17 of its maximum.

    Examples
    --------
    >>> noise = SphericalNoise(20.0, random_state=0)
    >>> ahead_left = noise.sample(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), sigma=5.0)
    >>> ahead_left.round(2)
    array([0.48, 0.47])
    """

    correlation_angle: float

    def __init__(
        self,
        correlation_angle: float,
        *,
        depth: float | Callable[[np.ndarray], np.ndarray] = math.inf,
        random_state: Any = None,
    ) -> None:
        spectrum = _spectrum(correlation_angle)
        rng = as_generator(random_state)
        white = rng.standard_normal((2, len(spectrum), len(spectrum)))
        a = np.tril(white[0] + 1j * white[1]) / math.sqrt(2)
        a[:, 0] = white[0, :, 0]
        super().__init__(a * np.sqrt(spectrum)[:, None], depth)
        object.__setattr__(self, "correlation_angle", correlation_angle)


def _spectrum(correlation_angle: float) -> np.ndarray:
    """Return C_l, whose sum weighted by (2 l + 1) / 4 pi, the variance, is 1."""
    degree = math.sqrt(2 * math.log(1e17)) / math.radians(max(correlation_angle, 1e-9))
    if not degree <= HIGHEST or correlation_angle > HUGE:
        raise ValueError(f"correlation angle {correlation_angle} degrees; expected 0.34 or more, up to {HUGE:g}")
    spectrum = damping(math.ceil(degree), math.radians(correlation_angle) ** 2 / 2)
    return spectrum * (4 * math.pi / ((2 * np.arange(len(spectrum)) + 1) @ spectrum))


def spherical_covariance(correlation_angle: float, sigma: float) -> Callable[[Any], np.ndarray]:
    r"""Return the covariance of two pixels that look at spherical noise, optics included.

    .. math:: c(\gamma) = \sum_l \frac{2 l + 1}{4 \pi} C_l b_l^2 P_l(\cos \gamma)

    Parameters
    ----------
    correlation_angle : float
        :math:`\ell` [deg].
    sigma : float
        Acceptance width [deg].

    Returns
    -------
    callable
        From chords, differences of unit vectors, shape (..., 3), to covariances, shape (...).

    Raises
    ------
    ValueError
        A correlation angle below 0.34 degrees, or not finite; a width below 0, or not finite.

    Examples
    --------
    >>> covariance = spherical_covariance(10.0, 0.0)
    >>> covariance([[0.0, 0.0, 0.0], [0.0, 0.174, 0.0]])  # 0 and 10 degrees; exp(-1 / 2) is 0.607
    array([1.   , 0.609])
    """
    not_below_0(sigma=sigma)
    spectrum = _spectrum(correlation_angle)
    seen = spectrum * damping(len(spectrum) - 1, math.radians(sigma) ** 2)
    series = seen * (2 * np.arange(len(seen)) + 1) / (4 * math.pi)

    def covariance(chords: Any) -> np.ndarray:
        return legval(1 - (unmasked(chords, "chords", float) ** 2).sum(axis=-1) / 2, series)

    return covariance


def panorama(image: Any, *, depth: float | Callable[[np.ndarray], np.ndarray] = math.inf) -> SphericalScene:
    """Make a scene of a full panorama in equirectangular projection.

    The middle column is straight ahead and columns count to the right, as one looks; rows count downwards from the
    zenith. Pixels look at the middles of their rows and columns.

    Parameters
    ----------
    image : array-like, shape (height, 2 height) or (height, 2 height, 3 or 4)
        Intensities; colours are weighted to luminance (Rec. 601: 0.299, 0.587, 0.114), alpha is ignored.
    depth : float or callable
        As for :class:`SphericalScene`.

    Returns
    -------
    SphericalScene
        Of degree ``height - 1``, but at most 1500.

    Raises
    ------
    ValueError
        An image of another shape, or not finite.

    Notes
    -----
    An image of degree below its height is represented exactly, as in McEwen & Wiaux (2011): the pixels fix the Fourier
    series in colatitude of each order, and Fejér's first rule of twice as many nodes integrates its products with the
    harmonics without error. Any other image is seen through a band limit, and rings: seen sharply, next to a sun 1e4
    times brighter than the mean, luminance falls to -1e3 times the mean. Through optics of a sigma of 1.5 rows or more
    it stays positive: at 2.4 degrees, over twelve real scenes of 256 or 512 rows, at or above 0.01 times the mean.

    Examples
    --------
    >>> sky_and_ground = panorama(np.repeat([[1.0], [1.0], [0.0], [0.0]], 8, axis=1))
    >>> up_ahead_down = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    >>> sky_and_ground.sample(up_ahead_down, sigma=10.0).round(1) + 0.0
    array([0.9, 0.5, 0.1])
    """
    image = as_luminance(image)
    if image.ndim != 2 or image.shape[1] != 2 * len(image):
        raise ValueError(f"image has shape {image.shape}; expected (height, 2 height) or (height, 2 height, 3 or 4)")
    n = len(image)
    m = np.arange(min(n - 1, HIGHEST) + 1)[:, None]
    by_order = np.fft.ifft(image)[:, : len(m)].T * np.exp(1j * math.pi * m * (0.5 / n - 1))  # columns to the right
    k = np.arange(-n + 1, n)
    modes = np.zeros((len(m), 4 * n), dtype=complex)
    modes[:, k] = series_in_colatitude(by_order) * np.exp(0.25j * math.pi * k / n)
    F = np.fft.ifft(modes, norm="forward")[:, : 2 * n]  # at twice as many colatitudes
    F *= 2 * math.pi * fejer(2 * n)
    a = np.zeros((len(m), len(m)), dtype=complex)
    for degree, P in enumerate(legendre(colatitudes(2 * n), len(m) - 1)):
        a[degree, : degree + 1] = np.einsum("mj,mj->m", P, F[: degree + 1])
    return SphericalScene(a, depth)
