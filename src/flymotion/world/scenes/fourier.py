"""Scenes held as Fourier series, such as photographs; noise is in ``flat_noise``."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from flymotion.brevity import in_brief
from flymotion.frames import not_masked, unmasked
from flymotion.world.conventions import positive
from flymotion.world.scenes.scene import as_covariances, as_luminance, check_seen

__all__ = ["FourierScene", "photograph"]

_TOLERANCE = 1e-12  # of the nonuniform FFT, relative
_BLENDED = 1e-11  # tolerance of blends of ellipses, relative to the root mean square of the scene
_CANDIDATES = 400  # ellipses that a blend's skeleton is chosen from
_PROCESS = os.getpid()  # that has loaded this module
_SHARED = 16  # an ellipse of at least one frame in so many is summed on its own


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

    Raises
    ------
    ValueError
        Modes that are not finite, or of even length; a period that is not positive, or of other dimensions.

    Examples
    --------
    >>> wave = FourierScene(np.array([0.5, 0.0, 0.5 + 0j]), period=(8.0,), extent=np.array([[0.0, 8.0]]))
    >>> wave.sample(np.array([[0.0], [2.0], [4.0]]), sigma=0.0).round(6) + 0.0  # cos(2 pi x / 8)
    array([ 1.,  0., -1.])
    """

    modes: np.ndarray
    period: tuple[float, ...]
    extent: np.ndarray
    wraps: bool = True

    __repr__ = in_brief

    def __post_init__(self) -> None:
        not_masked(self.modes, "modes")
        not_masked(self.extent, "extent")
        shape = np.shape(self.modes)
        if len(shape) not in (1, 2) or not all(size % 2 for size in shape) or len(self.period) != len(shape):
            raise ValueError(
                f"modes have shape {shape}, and the period {len(self.period)} dimension(s); expected odd lengths along "
                "x, or y and x, and a period along each"
            )
        positive(**{f"period[{k}]": period for k, period in enumerate(self.period)})
        if not np.isfinite(self.modes).all():
            raise ValueError("the scene has modes that are not finite; expected finite numbers")
        object.__setattr__(self, "modes", np.asarray(self.modes, np.complex128))

    @property
    def ndim(self) -> int:
        """Dimensions of the scene."""
        return self.modes.ndim

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), through optics of width or covariances sigma; shape (...)."""
        check_seen(points, sigma)
        if np.ndim(sigma) == 0:
            modes = self._seen_through(float(sigma))
            return next(self.views(points, [modes]))
        covariances = as_covariances(sigma, points)
        values = np.empty(points.shape[:-1])
        for frames, distinct in _alike(covariances):
            values[frames] = self._blend(points[frames], distinct)
        return values

    def _blend(self, points: np.ndarray, covariances: np.ndarray) -> np.ndarray:
        """Sum the scene as seen through a skeleton of few ellipses, and combine these views to each frame's.

        A frame's damping of the modes is, to the tolerance, a combination of a few frames': the matrix of dampings,
        frames by modes, has a low numerical rank. Frames too different for one skeleton are halved.
        """
        smallest = max(np.linalg.eigvalsh(covariances).min(), 0)
        modes, extra = self._seen_through(math.sqrt(smallest)), covariances - smallest * np.eye(self.ndim)
        omega = np.meshgrid(*map(self._omega, range(self.ndim), modes.shape), indexing="ij", sparse=True)[::-1]
        found = _skeleton(*_envelope(modes, omega), extra)
        values = np.zeros((len(points), math.prod(points.shape[1:-1])))
        if found is None:
            i, j = np.unravel_index(np.ptp(extra, axis=0).argmax(), extra.shape[1:])
            for half in np.array_split(np.argsort(extra[:, i, j]), 2):
                values[half] = self._blend(points[half], covariances[half]).reshape(len(half), -1)
            return values.reshape(points.shape[:-1])
        skeleton, coefficients = found
        damped = (modes * np.exp(_quadratic(extra[frame], omega) / -2) for frame in skeleton)
        for view, c in zip(self.views(points, damped), coefficients.T, strict=True):
            values += c[:, None] * view.reshape(values.shape)
        return values.reshape(points.shape[:-1])

    def views(self, points: np.ndarray, modes: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """Sum several series of this period at the same points: yields each one's intensities, shape (...).

        Parameters
        ----------
        points : ndarray, shape (..., ndim)
            Where.
        modes : iterable of ndarray of complex
            Of one shape, as of a scene, each.
        """
        not_masked(points, "points")
        left, plan = iter(modes), None
        while pair := [unmasked(each, "modes") for each in islice(left, 2)]:  # two real views are one complex transform
            plan = plan or self._plan(points, pair[0].shape)
            seen = plan.execute(pair[0] if len(pair) == 1 else pair[0] + 1j * pair[1]).reshape(points.shape[:-1])
            yield from (seen.real, seen.imag)[: len(pair)]

    def _plan(self, points: np.ndarray, shape: tuple[int, ...]) -> Any:
        """Plan transforms of modes of a shape to the points."""
        import finufft

        phases = [
            np.ascontiguousarray(np.mod(points[..., d].ravel() * (2 * math.pi / self.period[d]), 2 * math.pi))
            for d in reversed(range(self.ndim))
        ]
        small = max(math.prod(shape), phases[0].size) < 50_000  # where threads wait for each other
        forked = os.getpid() != _PROCESS  # where OpenMP waits for the threads of the parent, for ever
        plan = finufft.Plan(2, shape, eps=_TOLERANCE, isign=1, nthreads=1 if small or forked else 0)
        plan.setpts(*phases)
        return plan

    def _omega(self, axis: int, size: int) -> np.ndarray:
        """Angular frequencies of the middle modes along an axis of the series [rad / pixel spacing]."""
        return 2 * math.pi * np.arange(-(size // 2), size // 2 + 1) / self.period[self.ndim - 1 - axis]

    def _seen_through(self, sigma: float) -> np.ndarray:
        """Damp the modes by the optics; leave out those damped below rounding."""
        modes = self.modes
        for axis in range(self.ndim):
            damping = np.exp(-((sigma * self._omega(axis, modes.shape[axis])) ** 2) / 2)
            kept = np.flatnonzero(damping > 1e-16)
            damping = damping[kept].reshape([-1 if a == axis else 1 for a in range(self.ndim)])
            modes = np.take(modes, kept, axis=axis) * damping
        return np.ascontiguousarray(modes)


def _alike(covariances: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the frames of each covariance that many share, with that one, then all others, with theirs."""
    scale = np.abs(covariances).max(initial=0) or 1
    rounded = (covariances / scale).round(14).reshape(len(covariances), math.prod(covariances.shape[1:]))
    _, which, count = np.unique(rounded, axis=0, return_inverse=True, return_counts=True)
    shared = count * _SHARED >= len(covariances)
    for label in np.flatnonzero(shared):
        frames = np.flatnonzero(which.ravel() == label)
        yield frames, covariances[frames[:1]]
    if not shared.all():
        frames = np.flatnonzero(~shared[which.ravel()])
        yield frames, covariances[frames]


def _quadratic(covariance: np.ndarray, omega: Sequence[np.ndarray]) -> Any:
    """Return the variance of the phase, omega' S omega, for frequencies given by component (x, y)."""
    return sum(covariance[i, j] * a * b for i, a in enumerate(omega) for j, b in enumerate(omega))


def _envelope(modes: np.ndarray, omega: Sequence[np.ndarray], n_bins: int = 4096) -> tuple[np.ndarray, float]:
    """Return the norm of all modes at or beyond each of n_bins radii, relative to that of all, and the last radius."""
    radius = np.sqrt(_quadratic(np.eye(len(omega)), omega))
    largest = radius.max() or 1.0
    bins = (radius * ((n_bins - 1) / largest)).astype(int)
    energy = np.bincount(bins.ravel(), (modes.real**2 + modes.imag**2).ravel(), n_bins)
    tail = np.sqrt(np.cumsum(energy[::-1])[::-1])
    tail /= tail[0] or 1.0
    n_kept = max(int((tail > 1e-3 * _BLENDED).sum()), 2)  # dampings are at most 1
    return tail[:n_kept], largest * (n_kept - 1) / (n_bins - 1)


def _skeleton(envelope: np.ndarray, largest: float, extra: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    r"""Choose the frames of a skeleton, and how to combine their dampings to each frame's; None if that fails.

    The error of a damping at frequency :math:`\omega` is asked to be below the tolerance over the envelope at
    :math:`|\omega|`, everywhere in the disc, also between the modes: so it does not matter which modes the scene has.
    Dampings are functions as smooth as the ellipses are alike; they are fitted at some frequencies, and the fit is
    checked at others.
    """
    fitted, checked = (_weighted_dampings(envelope, largest, extra.shape[-1], offset) for offset in (0.0, 0.5))
    candidates = np.unique(np.linspace(0, len(extra) - 1, _CANDIDATES).astype(int))
    for cut in (0.1, 0.03, 0.01, 0.003):
        Q, R, pivots = qr(fitted(extra[candidates]).T, mode="economic", pivoting=True)
        rank = max(int((np.abs(np.diag(R)) > cut * _BLENDED * math.sqrt(len(Q))).sum()), 1)
        Q, R, chosen = Q[:, :rank], R[:rank, :rank], candidates[pivots[:rank]]
        basis = checked(extra[chosen])
        coefficients, error = np.empty((len(extra), rank)), np.empty(len(extra))
        for frames in np.array_split(np.arange(len(extra)), math.ceil(len(extra) / 4096)):
            coefficients[frames] = solve_triangular(R, Q.T @ fitted(extra[frames]).T).T
            error[frames] = np.abs(checked(extra[frames]) - coefficients[frames] @ basis).max(axis=1)
        if error.max() <= _BLENDED:
            return chosen, coefficients
        candidates = np.union1d(candidates, np.argsort(error)[-_CANDIDATES // 4 :])
    return None


def _weighted_dampings(envelope: np.ndarray, largest: float, ndim: int, offset: float) -> Any:
    """Return a function from covariances to dampings times envelope, at frequencies spread over half the disc."""
    n_radii, n_angles = {1: (400, 1), 2: (40, 40)}[ndim]
    part = np.sin(np.pi / 2 * (np.arange(n_radii) + 1 - offset) / n_radii)
    angles = np.pi * (np.arange(n_angles) + offset) / n_angles if ndim == 2 else np.zeros(1)
    directions = np.stack([np.cos(angles), np.sin(angles)][:ndim], axis=-1)
    omega = largest * np.multiply.outer(part, directions).reshape(-1, ndim)
    products = (omega[:, :, None] * omega[:, None]).reshape(len(omega), -1).T
    weights = np.repeat(envelope[(part * (len(envelope) - 1)).astype(int)], n_angles)
    return lambda covariances: weights * np.exp(covariances.reshape(len(covariances), -1) @ products / -2)


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
        An image of another shape, or not finite; not a positive number of pixels per spacing.

    Examples
    --------
    >>> ramp = np.add.outer(np.zeros(16), np.arange(16.0))
    >>> scene = photograph(ramp, pixels_per_spacing=2.0)
    >>> scene.extent.tolist()
    [[0.0, 8.0], [0.0, 8.0]]
    >>> scene.sample(np.array([[2.0, 4.0], [3.0, 4.0]]), sigma=0.5).round(1)  # a spacing to the right are two pixels
    array([3.5, 5.5])
    """
    positive(pixels_per_spacing=pixels_per_spacing)
    image = as_luminance(image[None] if np.ndim(image) == 1 else image)
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
