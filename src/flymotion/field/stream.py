"""The state of a motion field between frames."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.field.bands import in_bands, n_workers
from flymotion.field.forms import Form
from flymotion.field.outputs import OUTPUTS, Field
from flymotion.field.patch_kernels import PatchScratch, respond_band
from flymotion.field.unexplained import noise_of_slopes
from flymotion.field.velocity_kernels import Regression, VelocityScratch, halve, slope_power, velocity_band
from flymotion.frames import in_order, not_masked

if TYPE_CHECKING:
    from flymotion.field.description import MotionField

__all__ = ["FieldStream"]

EVERY = 4
"""The mean square slope is taken over every so many rows."""


class FieldStream:
    """The state of a field between frames: the last frame, at all scales, and buffers; nothing is allocated later.

    Parameters
    ----------
    field : MotionField
        What to compute.

    Examples
    --------
    >>> from flymotion.field import MotionField
    >>> stream = MotionField(outputs=("velocity",)).stream()
    >>> frame = np.zeros((48, 64), dtype=np.uint8)
    >>> stream.step(frame) is None, stream.step(frame).velocity.shape
    (True, (2, 48, 64))
    """

    def __init__(self, field: MotionField) -> None:
        self.field = field
        self._form = None if field.detectors is None else Form.of(field.detectors, field.exact)
        self._levels: list[_Level] = []
        self._own = Field(None, None, None, None)
        self._aside = np.zeros((2, 0, 0), np.float32)
        self._finest = 0
        self._ready = False

    @property
    def noise(self) -> float:
        """Standard deviation of a pixel's noise, as in the last pair of frames; 0 where confidence is not asked for."""
        level = self._levels[self._finest] if self._levels else None
        if level is None or level.noise == 0:
            return 0.0
        # What is least is the same on every scale, as it is of blocks; the means of what changes have less of it.
        return max(math.sqrt(4 * level.seen) * 2**self._finest, math.sqrt(2) * self.field.noise)

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
        own = self._own if self._levels else _arrays(self.field, frame.shape)
        out = own if out is None else _checked(out, own)
        if not self._levels:
            self._begin(frame, own)
        self._levels[0].take(frame)
        for finer, coarser in pairwise(self._levels):
            _halved(finer.frames[1], coarser.frames[1])
        ready, self._ready = self._ready, True
        for level in self._levels[self._finest :]:
            level.powers[1] = slope_power(level.frames[1], EVERY)
        if ready and out.confidence is not None:
            self._look_for_noise()
        if ready:
            self._compute(out)
        for level in self._levels:
            level.frames.reverse()
            level.powers.reverse()
        return out if ready else None

    def _begin(self, frame: np.ndarray, own: Field) -> None:
        field, (height, width) = self.field, frame.shape
        wanted = [part is not None for part in own]
        self._own = own
        if wanted[3] and not wanted[2]:
            self._aside = np.zeros((2, height, width), np.float32)
        n_scales = field.scales if any(wanted[2:]) else 1
        self._levels = [_Level((height, width), frame.dtype, field.radius)]
        for _ in range(1, n_scales):
            height, width = height // 2, width // 2
            if min(height, width) >= 2 * field.radius + 2:
                self._levels.append(_Level((height, width), np.float32, field.radius))
                self._levels[-1].estimates = np.zeros((2 + wanted[3], height, width), np.float32)
        self._finest = min(field.first_scale(frame.shape), len(self._levels) - 1)

    def _look_for_noise(self) -> None:
        """Estimate the variance of slopes that is noise; on no scale more than on a finer one, whose means it sees."""
        noise = math.inf
        for level in self._levels[self._finest :]:
            noise = min(noise, noise_of_slopes(*level.frames))
            level.seen = noise
            level.noise = max(noise, self.field.noise**2 / 2)  # of rounding: it may be alike in both frames

    def _compute(self, out: Field) -> None:
        coarse = np.zeros((3, 0, 0), np.float32)
        for scale, level in reversed([*enumerate(self._levels)][1:]):
            confidence = UNWANTED.confidence if out.confidence is None else level.estimates[2]
            part = UNWANTED._replace(velocity=level.estimates[:2], confidence=confidence)
            level.estimate(self.field, scale >= self._finest, coarse, part)
            coarse = level.estimates
        level = self._levels[0]
        wanted: Any = Field(*(no if part is None else part for part, no in zip(out, UNWANTED, strict=True)))
        if self._form is not None:
            level.respond(self._form, wanted)
            wanted = wanted._replace(directions=UNWANTED.directions, opponent=UNWANTED.opponent)
        if wanted.confidence.size and not wanted.velocity.size:
            wanted = wanted._replace(velocity=self._aside)
        if self._form is None or wanted.velocity.size:
            level.estimate(self.field, self._finest == 0 and wanted.velocity.size > 0, coarse, wanted)


UNWANTED: Any = Field(*(np.zeros(shape, np.float32) for shape in ((4, 0, 0), (2, 0, 0), (2, 0, 0), (0, 0))))
"""What stands for what is not wanted, in the kernels."""


class _Level:
    """One scale of the last two frames, and what to compute from them with."""

    def __init__(self, shape: tuple[int, int], dtype: Any, radius: int) -> None:
        self.shape = shape
        self.frames = [np.zeros(shape, dtype), np.zeros(shape, dtype)]
        self.powers = [0.0, 0.0]
        self.noise = self.seen = 0.0  # variance of slopes, and as the frames alone tell it
        self.estimates = np.zeros((3, 0, 0), np.float32)
        self._scratch = [VelocityScratch.of(radius) for _ in range(n_workers())]
        self._learned_scratch: list[PatchScratch] = []

    def take(self, frame: np.ndarray) -> None:
        """Copy a frame; a float32 one among uint8 ones makes them all float32."""
        if frame.dtype == np.float32 != self.frames[0].dtype:
            self.frames = [kept.astype(np.float32) for kept in self.frames]
        np.copyto(self.frames[1], frame)

    def estimate(self, field: MotionField, estimated: bool, coarse: np.ndarray, out: Field) -> None:
        """Write responses, velocity and confidence of the three-pixel detectors, or the coarser scale's velocity."""
        before, after = self.frames
        window = 16 * (2 * field.radius + 1) ** 2  # of slopes times 4
        ridge = window * field.ridge * sum(self.powers) / 2
        radius, noise = (field.radius, window * self.noise) if estimated else (0, 0.0)
        limit = np.float32(field.limit**2)
        regression = Regression(radius, np.float32(ridge), np.float32(noise), limit, estimated)

        def band(first: int, last: int, worker: int) -> None:
            velocity_band(before, after, first, last, regression, coarse, out, self._scratch[worker])

        in_bands(band, self.shape[0])

    def respond(self, form: Form, out: Field) -> None:
        """Write learned responses."""
        if not self._learned_scratch:
            self._learned_scratch = [form.scratch() for _ in range(n_workers())]
        before, after = self.frames

        def band(first: int, last: int, worker: int) -> None:
            respond_band(before, after, first, last, form, out, self._learned_scratch[worker])

        in_bands(band, self.shape[0])


def _arrays(field: MotionField, shape: tuple[int, ...]) -> Field:
    """Make room for what is asked for."""
    k = 4 if field.detectors is None else len(field.detectors)
    shapes = ((k, *shape), (2, *shape), (2, *shape), shape)
    wanted = [name in field.outputs for name in OUTPUTS]
    return Field(*(np.zeros(n, np.float32) if w else None for n, w in zip(shapes, wanted, strict=True)))


def _halved(finer: np.ndarray, coarser: np.ndarray) -> None:
    in_bands(lambda first, last, worker: halve(finer, coarser, first, last), len(coarser))


def _image(frame: Any) -> np.ndarray:
    """Check a frame and return it as uint8 or float32."""
    not_masked(frame, "the frame", "pixels")
    frame = np.asarray(in_order(frame))
    if frame.dtype.kind not in "biuf":
        raise TypeError(f"the frame has dtype {frame.dtype}; expected real numbers")
    if frame.ndim != 2 or min(frame.shape) < 3:
        raise ValueError(f"the frame has shape {frame.shape}; expected (height, width), 3 or more pixels each way")
    if frame.dtype != np.uint8:
        with np.errstate(over="ignore", invalid="ignore"):
            frame = frame.astype(np.float32, copy=False)
            finite = np.isfinite(frame.sum())  # may overflow, too
        if not finite and not np.isfinite(frame).all():
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
