r"""Dense motion fields: frame in, the field of local motion detectors out, at the speed of the camera.

Each pixel has the paper's three-pixel detectors (Bahroun et al. 2019, Fig. 2b, Suppl. E), along x and along y, in the
midpoint form of Suppl. A; with :math:`\bar x` the mean of two consecutive frames and :math:`\Delta x` their difference,

.. math:: R_x = \Delta x(x, y)\, (\bar x(x - 1, y) - \bar x(x + 1, y))

is positive for content that moves to the right; or detectors that were learned, :math:`y_k = \Delta x' A_k \bar x` over
the patch about each pixel. The velocity is Suppl. C's ridge regression, in two dimensions and for content,

.. math::
    \theta = \arg\min_\theta \sum_{window} (\Delta x + \theta \cdot \nabla \bar x)^2 + \lambda |\theta|^2,

with the sign that the printed solution lacks: Lucas and Kanade's estimate, with a ridge. A slope is the difference of
a pixel's neighbours, smoothed across it by (3, 10, 3) / 16 (Scharr), and the change is smoothed so both ways: a central
difference makes a slope too small, and this the change as much, so that velocity is right to 2.2 % for wavelengths of 4
pixels and more. Unsmoothed it would be 21 % too large at 6 pixels.

Vectors are (x right, y down) [pixels per frame]; directions are in degrees, 0 = right, 90 = up. Responses are in
squared units of intensity.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import dct

from flymotion._field import halve, learned_scratch, respond_band, slope_power, velocity_band, velocity_scratch
from flymotion.generators import Generators

__all__ = ["OUTPUTS", "Field", "FieldStream", "MotionField"]

OUTPUTS = ("directions", "opponent", "velocity", "confidence")
"""What a field can hold."""

BAND = 128
"""Rows that one core works on at a time."""

EVERY = 4
"""The mean square slope is taken over every so many rows."""

KEPT = 0.99
"""Predicted correlation of learned responses with the exact ones; see :class:`MotionField`."""


class Field(NamedTuple):
    """What a pair of frames shows, float32; None for what was not asked for.

    Attributes
    ----------
    directions : ndarray, shape (n_directions, height, width)
        Rectified responses, in the order of :attr:`MotionField.angles`.
    opponent : ndarray, shape (2, height, width)
        Signed responses along (x right, y down).
    velocity : ndarray, shape (2, height, width)
        (x right, y down) [pixels per frame].
    confidence : ndarray, shape (height, width)
        Share of the true velocity that the ridge leaves, along the direction in which the window has least contrast: 0
        where it is flat or shows an edge only (the aperture problem), 1 where the ridge does not matter.
    """

    directions: np.ndarray | None
    opponent: np.ndarray | None
    velocity: np.ndarray | None
    confidence: np.ndarray | None


@dataclass(frozen=True, eq=False)
class MotionField:
    r"""A field of motion detectors.

    Parameters
    ----------
    detectors : Generators, optional
        Learned detectors of square patches, :attr:`flymotion.MotionLearner.generators_`, whose
        ``directions`` and ``opponent`` responses take the place of the three-pixel ones. The velocity is that of the
        three-pixel slopes all the same.
    radius : int
        Of the window of the velocity: ``2 radius + 1`` pixels of its scale each way; 64 at most.
    finest : int
        First scale that velocity is estimated at: 0 is the frame itself, and each next scale, the means over 2 x 2
        pixels, half as large. Larger frames than the motion needs take less time so: 2 is what OpenCV's DIS
        "ultrafast" does. Finer pixels are interpolated linearly. Responses are always those of the frame itself.
    scales : int
        Most scales. From the coarsest on, a pixel takes its own scale's estimate unless the coarser one, interpolated,
        is above ``limit``. Nothing is warped: motion is measured at one scale. Scales of less than two windows each
        way are left out.
    limit : float
        Speed that a scale is trusted with [its pixels per frame].
    ridge : float
        lambda, a pixel of the window, relative to the mean square slope of both frames at that scale. So a field does
        not depend on the unit of intensity.
    exact : bool
        Whether learned responses are evaluated exactly; see Notes.
    outputs : tuple of str
        What to compute, of :data:`OUTPUTS`. What is not written takes no time.

    Raises
    ------
    ValueError
        Unknown outputs, detectors that are not of square patches, or numbers out of range.

    Notes
    -----
    Pixels of the frame's border lack a neighbour: their three-pixel responses are 0, and windows sum over what lies
    inside, with the ridge of a whole window. Learned responses are 0 where the patch is not all inside the frame; it
    reaches from ``size // 2`` pixels before the pixel to ``size - 1 - size // 2`` behind it. Each pair of frames stands
    for itself.

    Learned responses are evaluated in the separable cosine modes of the patch, where natural images are nearly
    uncorrelated: few products of a mode of the change with a mode of the intensity make most of the response. The
    filters are rotated to their principal components first, so that opponent ones share their products. Of filters
    learned from scikit-learn's photographs, on four photographs that move by up to 0.4 pixels, the rectified responses
    have a median correlation of 0.984 with the exact ones for patches of 5 x 5 pixels (least: 0.976), and of 0.989 for
    7 x 7. One kernel for all positions (the Toeplitz part of A), then a product and a window's sum, would be faster,
    but its median is 0.77 and 0.80: learned rows at the patch's border differ from those inside.

    Content that moves by v pixels a frame is measured as :math:`\tan(\omega v / 2) / (\omega / 2)` at the frequency
    :math:`\omega`, since the mean of both frames is blurred: 10 % too fast at a wavelength of 6 pixels of the scale and
    a speed of one.

    Examples
    --------
    >>> frame = np.add.outer(np.sin(np.arange(40) / 5), np.cos(np.arange(60) / 5))
    >>> field = MotionField(ridge=1e-6, scales=1).between(frame[:, 1:], frame[:, :-1])
    >>> field.velocity[:, 20, 30].round(2) + 0.0
    array([1., 0.], dtype=float32)
    """

    detectors: Generators | None = None
    radius: int = 4
    finest: int = 1
    scales: int = 3
    limit: float = 1.0
    ridge: float = 0.01
    exact: bool = False
    outputs: tuple[str, ...] = OUTPUTS

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.outputs) - set(OUTPUTS)):
            raise ValueError(f"unknown outputs {unknown}; expected some of {OUTPUTS}")
        if not (0 <= self.radius <= 64 and 0 <= self.finest):
            raise ValueError(
                f"radius is {self.radius} and finest {self.finest}; expected a radius of 0 to 64 and finest from 0 on"
            )
        if not (self.limit >= 0 and 0 <= self.ridge < np.inf and self.scales >= 1):
            raise ValueError(
                f"limit is {self.limit}, ridge {self.ridge} and scales {self.scales}; expected 0 or more, a finite "
                "ridge, and 1 or more scales"
            )
        if self.detectors is not None and (len(shape := self.detectors.shape) != 2 or shape[0] != shape[1]):
            raise ValueError(f"detectors of {self.detectors.shape} pixels; expected square patches")

    @property
    def angles(self) -> np.ndarray:
        """Preferred directions of the responses [deg]: 0 = right, 90 = up."""
        return np.arange(4) * 90.0 if self.detectors is None else self.detectors.in_pixels().directions()

    def stream(self) -> FieldStream:
        """Return a state to give one frame after the other to."""
        return FieldStream(self)

    def between(self, before: Any, after: Any) -> Field:
        """Return the field of one pair of frames, each of shape (height, width)."""
        stream = self.stream()
        stream.step(before)
        field = stream.step(after)
        assert field is not None
        return field

    def __call__(self, movie: Any) -> Field:
        """Return the fields of a whole movie, shape (n_frames, height, width), the frames' number less one first.

        Raises
        ------
        ValueError
            Fewer than two frames, or frames that :meth:`FieldStream.step` does not take.
        """
        if len(movie) < 2:
            raise ValueError(f"the movie has {len(movie)} frame(s); expected at least 2 to make a pair")
        stream = self.stream()
        fields = [Field(*(_copied(part) for part in field)) for frame in movie if (field := stream.step(frame))]
        return Field(*(None if parts[0] is None else np.stack(parts) for parts in zip(*fields, strict=True)))


def _copied(part: np.ndarray | None) -> np.ndarray | None:
    return None if part is None else part.copy()


class FieldStream:
    """The state of a field between frames: the last frame, at all scales, and buffers; nothing is allocated later.

    Parameters
    ----------
    field : MotionField
        What to compute.

    Examples
    --------
    >>> stream = MotionField(outputs=("velocity",)).stream()
    >>> frame = np.zeros((48, 64), dtype=np.uint8)
    >>> stream.step(frame) is None, stream.step(frame).velocity.shape
    (True, (2, 48, 64))
    """

    def __init__(self, field: MotionField) -> None:
        self.field = field
        self._form = None if field.detectors is None else _form(field.detectors, field.exact)
        self._levels: list[_Level] = []
        self._own = Field(None, None, None, None)
        self._aside = np.zeros((2, 0, 0), np.float32)
        self._ready = False

    def cut(self) -> None:
        """Forget the last frame: the next one begins another clip of the same size."""
        self._ready = False

    def step(self, frame: Any, out: Field | None = None) -> Field | None:
        """Take the next frame.

        Parameters
        ----------
        frame : array-like, shape (height, width)
            Luminance: uint8, or real numbers, which become float32. It is copied.
        out : Field, optional
            Where to write what was asked for: C-contiguous float32. By default the stream's own arrays, which the next
            step overwrites.

        Returns
        -------
        Field or None
            The field between the frame before and this one; None for the first frame, and the first after a cut.

        Raises
        ------
        TypeError
            Frames that are not real numbers.
        ValueError
            Frames that are not images of at least 3 x 3 pixels, that are of another size than the first, or not finite;
            ``out`` of another shape or type. The state is as it was before.
        """
        frame = _image(frame)
        if self._levels and frame.shape != self._levels[0].shape:
            raise ValueError(f"the frame has shape {frame.shape}, but the first had {self._levels[0].shape}")
        if not self._levels:
            self._begin(frame)
        out = self._own if out is None else _checked(out, self._own)
        self._levels[0].take(frame)
        for finer, coarser in pairwise(self._levels):
            _halved(finer.frames[1], coarser.frames[1])
        for level in self._levels[min(self.field.finest, len(self._levels) - 1) :]:
            level.powers[1] = slope_power(level.frames[1], EVERY)
        ready, self._ready = self._ready, True
        if ready:
            self._compute(out)
        for level in self._levels:
            level.frames.reverse()
            level.powers.reverse()
        return out if ready else None

    def _begin(self, frame: np.ndarray) -> None:
        field, (height, width) = self.field, frame.shape
        k = 4 if field.detectors is None else len(field.detectors)
        shapes = ((k, height, width), (2, height, width), (2, height, width), (height, width))
        wanted = [name in field.outputs for name in OUTPUTS]
        self._own = Field(*(np.zeros(n, np.float32) if w else None for n, w in zip(shapes, wanted, strict=True)))
        if wanted[3] and not wanted[2]:
            self._aside = np.zeros(shapes[2], np.float32)
        n_scales = field.scales if any(wanted[2:]) else 1
        self._levels = [_Level((height, width), frame.dtype, field.radius)]
        for _ in range(1, n_scales):
            height, width = height // 2, width // 2
            if min(height, width) >= 4 * field.radius + 2:
                self._levels.append(_Level((height, width), np.float32, field.radius))
                self._levels[-1].estimates = np.zeros((3, height, width), np.float32)

    def _compute(self, out: Field) -> None:
        coarse = np.zeros((3, 0, 0), np.float32)
        finest = min(self.field.finest, len(self._levels) - 1)
        for scale, level in reversed([*enumerate(self._levels)][1:]):
            outputs = (*NO_RESPONSES, level.estimates[:2], level.estimates[2])
            level.estimate(self.field, scale >= finest, coarse, outputs)
            coarse = level.estimates
        level = self._levels[0]
        directions, opponent, velocity, confidence = _or_empty(out)
        if self._form is not None:
            level.respond(self._form, (directions, opponent))
            directions, opponent = NO_RESPONSES
        if confidence.size and not velocity.size:
            velocity = self._aside
        if self._form is None or velocity.size:
            estimated = finest == 0 and velocity.size > 0
            level.estimate(self.field, estimated, coarse, (directions, opponent, velocity, confidence))


NO_RESPONSES = (np.zeros((4, 0, 0), np.float32), np.zeros((2, 0, 0), np.float32))


class _Level:
    """One scale of the last two frames, and what to compute from them with."""

    def __init__(self, shape: tuple[int, int], dtype: Any, radius: int) -> None:
        self.shape = shape
        self.frames = [np.zeros(shape, dtype), np.zeros(shape, dtype)]
        self.powers = [0.0, 0.0]
        self.estimates = np.zeros((3, 0, 0), np.float32)
        self._scratch = [velocity_scratch(radius) for _ in range(_n_workers())]
        self._learned_scratch: list[Any] = []

    def take(self, frame: np.ndarray) -> None:
        """Copy a frame; a float32 one among uint8 ones makes them all float32."""
        if frame.dtype == np.float32 != self.frames[0].dtype:
            self.frames = [kept.astype(np.float32) for kept in self.frames]
        np.copyto(self.frames[1], frame)

    def estimate(
        self, field: MotionField, estimated: bool, coarse: np.ndarray, outputs: tuple[np.ndarray, ...]
    ) -> None:
        """Write responses, velocity and confidence of the three-pixel detectors, or the coarser scale's velocity."""
        ridge = 16 * (2 * field.radius + 1) ** 2 * field.ridge * sum(self.powers) / 2  # of slopes times 4
        radius = field.radius if estimated else 0
        how = (radius, np.float32(ridge), np.float32(field.limit**2), estimated)
        before, after = self.frames

        def band(first: int, last: int, worker: int) -> None:
            velocity_band(before, after, first, last, how, coarse, outputs, self._scratch[worker])

        _in_bands(band, self.shape[0])

    def respond(self, form: _Form, outputs: tuple[np.ndarray, ...]) -> None:
        """Write learned responses."""
        if not self._learned_scratch:
            self._learned_scratch = [form.scratch() for _ in range(_n_workers())]
        before, after = self.frames

        def band(first: int, last: int, worker: int) -> None:
            respond_band(before, after, first, last, tuple(form), outputs, self._learned_scratch[worker])

        _in_bands(band, self.shape[0])


def _halved(finer: np.ndarray, coarser: np.ndarray) -> None:
    _in_bands(lambda first, last, worker: halve(finer, coarser, first, last), len(coarser))


def _or_empty(outputs: tuple[np.ndarray | None, ...]) -> tuple[np.ndarray, ...]:
    shapes = ((4, 0, 0), (2, 0, 0), (2, 0, 0), (0, 0))
    return tuple(np.zeros(n, np.float32) if o is None else o for o, n in zip(outputs, shapes, strict=False))


def _image(frame: Any) -> np.ndarray:
    """Check a frame and return it as uint8 or float32."""
    frame = np.asarray(frame)
    if frame.dtype.kind not in "biuf":
        raise TypeError(f"the frame has dtype {frame.dtype}; expected real numbers")
    if frame.ndim != 2 or min(frame.shape) < 3:
        raise ValueError(f"the frame has shape {frame.shape}; expected (height, width), 3 or more pixels each way")
    if frame.dtype != np.uint8:
        frame = frame.astype(np.float32, copy=False)
        if not np.isfinite(frame.sum(dtype=np.float64)) and not np.isfinite(frame).all():
            y, x = np.argwhere(~np.isfinite(frame))[0]
            raise ValueError(f"the frame has a NaN or infinite pixel at row {y}, column {x}")
    return frame


def _checked(out: Field, own: Field) -> Field:
    """Return where to write, which must be like the stream's own arrays."""
    for name, given, expected in zip(OUTPUTS, out, own, strict=True):
        if expected is None:
            continue
        if given is None or given.shape != expected.shape or given.dtype != np.float32 or not given.flags.c_contiguous:
            raise ValueError(f"out.{name} must be a C-contiguous float32 array of shape {expected.shape}")
    return Field(*(None if expected is None else given for given, expected in zip(out, own, strict=True)))


# -- both cores --------------------------------------------------------------------------------------------------------


def _n_workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the threads of a process: a forked one inherits none of its parent's."""
    return ThreadPoolExecutor(_n_workers(), thread_name_prefix="flymotion-field")


def _in_bands(work: Callable[[int, int, int], None], n_rows: int) -> None:
    """Call ``work(first row, last row, worker)`` for each band of rows, on all cores; the kernels let go of the lock.

    Python's threads and not numba's, since those of OpenMP end a process that is forked later, and its own queue one
    whose threads call it at the same time. Bands depend on the number of rows alone, and so do the results.
    """
    bands = iter(range(0, n_rows, BAND))

    def take_turns(worker: int) -> None:
        for first in bands:
            work(first, min(first + BAND, n_rows), worker)

    n_helpers = min(_n_workers(), -(-n_rows // BAND)) - 1
    helpers = [_pool(os.getpid()).submit(take_turns, worker) for worker in range(1, n_helpers + 1)]
    take_turns(0)
    for helper in helpers:
        helper.result()


# -- learned detectors -------------------------------------------------------------------------------------------------


class _Form(NamedTuple):
    """Learned operators as sums of products of cosine modes, for :func:`flymotion._field.respond_band`."""

    basis: np.ndarray
    dx_modes: np.ndarray
    m_modes: np.ndarray
    groups: np.ndarray
    starts: np.ndarray
    terms: np.ndarray
    weights: np.ndarray
    mixture: np.ndarray
    axes: np.ndarray

    def scratch(self) -> tuple[np.ndarray, ...]:
        """Make room for a worker."""
        return learned_scratch(len(self.basis), len(self.dx_modes), len(self.m_modes), self.mixture.shape[1])


def _form(detectors: Generators, exact: bool) -> _Form:
    """Write operators in cosine modes, rotate them to their principal components, and keep the largest terms."""
    operators, size = detectors.in_pixels().operators, detectors.shape[0]
    basis = dct(np.eye(size), axis=0, norm="ortho")
    modes = np.einsum("ai,bj->abij", basis, basis).reshape(size**2, size**2)
    dx_sd, m_sd = _natural_contrast(modes, size)
    scaled = (modes @ operators @ modes.T) * dx_sd[:, None] * m_sd
    sizes = np.maximum(np.linalg.norm(scaled, axis=(1, 2)), 1e-300)
    U, s, V = np.linalg.svd((scaled / sizes[:, None, None]).reshape(len(scaled), -1), full_matrices=False)
    parts = (s[:, None] * V).reshape(-1, *scaled.shape[1:])
    kept = np.ones(parts.shape, bool) if exact else _largest(parts)
    used = kept.any(axis=(1, 2))
    parts = (parts * kept / dx_sd[:, None] / m_sd)[used]
    angles = np.radians(detectors.in_pixels().directions())
    mixture = sizes[:, None] * U[:, used]
    axes = np.stack([np.cos(angles), -np.sin(angles)]) @ mixture
    return _Form._make((_single(basis), *_listed(parts, kept[used], size), _single(mixture), _single(axes)))


def _single(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=np.float32)


def _largest(parts: np.ndarray) -> np.ndarray:
    """Return which terms to keep: the largest, up to the predicted correlation with all."""
    energy = np.sort((parts**2).ravel())[::-1]
    n = int(np.searchsorted(np.cumsum(energy), KEPT**2 * energy.sum())) + 1
    return parts**2 >= energy[min(n, len(energy)) - 1]


def _listed(parts: np.ndarray, kept: np.ndarray, size: int) -> tuple[np.ndarray, ...]:
    """List the modes in use and the terms, grouped by component and mode of dx."""
    columnwise = np.arange(size**2).reshape(size, size).T.ravel()  # modes of one column of the cache together
    of_dx, of_m = (columnwise[np.asarray(kept.any(axis=axes))[columnwise]] for axes in ((0, 2), (0, 1)))
    kept, parts = kept[:, of_dx][:, :, of_m], parts[:, of_dx][:, :, of_m]
    groups = np.argwhere(kept.any(axis=2))
    terms = [np.resize(np.flatnonzero(kept[c, r]), -(-kept[c, r].sum() // 4) * 4) for c, r in groups]
    weights = [
        np.where(np.arange(len(t)) < kept[c, r].sum(), parts[c, r, t], 0)
        for t, (c, r) in zip(terms, groups, strict=True)
    ]
    starts = np.cumsum([0, *map(len, terms)])
    pairs = [np.stack(np.unravel_index(which, (size, size)), axis=1) for which in (of_dx, of_m)]
    return *pairs, groups, starts, np.concatenate(terms), _single(np.concatenate(weights))


def _natural_contrast(modes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the standard deviations of the modes' changes and intensities in a world like photographs.

    Its covariance is exponential, seen through optics about a pixel wide; a change is that of small motion any way.
    """
    rows, columns = np.divmod(np.arange(size**2), size)
    y, x = rows[:, None] - rows, columns[:, None] - columns

    def covariance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.exp(-np.sqrt(x**2 + y**2 + 1.0) / 8.0)

    h, noise, intensity = 0.25, 1e-4 * np.eye(size**2), covariance(x, y)
    moved = sum(covariance(x + a, y + b) for a, b in ((h, 0), (-h, 0), (0, h), (0, -h)))
    change = (4 * intensity - moved) / h**2
    return tuple(
        np.sqrt(np.einsum("ri,ij,rj->r", modes, c + noise * c[0, 0], modes)) for c in (change, intensity + 1.0)
    )
