"""The state of a motion field between frames."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.field.forms import Form
from flymotion.field.outputs import OUTPUTS, Field
from flymotion.field.scales import ENLARGED, Scale
from flymotion.field.uneven_light import LIGHT, UnevenLight
from flymotion.frames import in_order, not_masked
from flymotion.similarity.compilation import SUMS, compiled

if TYPE_CHECKING:
    from flymotion.field.description import MotionField

__all__ = ["FieldStream"]


class FieldStream:
    """The state of a field between frames: the last frame, at all scales, and buffers.

    Nothing is allocated later, but where light is uneven (:mod:`flymotion.field.uneven_light`).

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
        self._scales: list[Scale] = []
        self._own = Field(None, None, None, None, None)
        self._finest = 0
        self._keeps_all = True
        self._ready = False

    @property
    def noise(self) -> float:
        """Standard deviation of a pixel's noise, as in the last pair of frames; 0 where velocity is not asked for."""
        if not self._scales or not (scale := self._scales[self._finest]).estimated:
            return 0.0
        return max(math.sqrt(sum(scale.grains) / 2) * 2**self._finest, math.sqrt(2) * self.field.noise)

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
            Frames that are not images of at least 3 x 3 pixels, that are of another size than the first, or not finite
            and within 1e7; ``out`` of another shape or type. The state is as it was before.
        """
        frame = _image(frame)
        if self._scales and frame.shape != self._scales[0].shape:
            raise ValueError(f"the frame has shape {frame.shape}, but the first had {self._scales[0].shape}")
        own = self._own if self._scales else _arrays(self.field, frame.shape)
        out = own if out is None else _checked(out, own)
        if not self._scales:
            self._begin(frame, own)
        if self._keeps_all:
            self._scales[0].take(frame)
        elif len(self._scales) > 1:
            self._scales[1].reduce(np.ascontiguousarray(frame))
        for finer, coarser in pairwise(self._scales[0 if self._keeps_all else 1 :]):
            coarser.halve(finer)
        if self._scales[-1].estimated:
            self._look()
        ready, self._ready = self._ready, True
        if ready:
            self._compute(out)
        for scale in self._scales:
            scale.turn()
        return out if ready else None

    def _begin(self, frame: np.ndarray, own: Field) -> None:
        field, shape = self.field, frame.shape
        self._own = own
        n_scales = field.n_scales(shape) if any(part is not None for part in own[2:]) else 0
        self._finest = min(field.first_scale(shape), n_scales - 1) if n_scales else 0
        self._keeps_all = self._finest == 0 or any(part is not None for part in own[:2])
        dtype = np.float32 if n_scales and self._finest == 0 else frame.dtype
        self._scales = [Scale(shape, dtype, field.radius, n_scales > 0 and self._finest == 0, False)]
        for k in range(1, n_scales):
            shape = (shape[0] // 2, shape[1] // 2)
            self._scales.append(Scale(shape, np.float32, field.radius, k >= self._finest, k > self._finest))
        if n_scales > LIGHT + 1:
            self._light = UnevenLight(self._scales[LIGHT].shape)

    def _compute(self, out: Field) -> None:
        wanted: Any = Field(*(no if part is None else part for part, no in zip(out, UNWANTED, strict=True)))
        if self._form is None:
            self._scales[0].respond(wanted)
        else:
            self._scales[0].respond_learned(self._form, wanted)
        if not self._scales[-1].estimated:
            return
        self._estimate(out.confidence is not None or out.error is not None)
        self._write(out)

    def _look(self) -> None:
        grain = math.inf
        for scale in self._scales[self._finest :]:
            grain = scale.look(grain) / 4  # the means of white noise have a quarter of its variance

    def _estimate(self, quality: bool) -> None:
        """Estimate velocity from the coarsest scale on."""
        coarser = None
        for k, scale in reversed([*enumerate(self._scales)][self._finest :]):
            scale.descend(coarser, self.field, quality)
            if k == LIGHT and coarser is not None:
                self._even()
            scale.estimate(self.field, quality)
            coarser = scale

    def _even(self) -> None:
        """Where light changes unevenly, light the frame before as the one after, and begin with how the frame moves."""
        gain = self._scales[LIGHT].uneven_light(self._light)
        if gain is None:
            return
        for k in range(LIGHT, self._finest - 1, -1):
            self._scales[k].brighten(gain)
            if k > self._finest:
                finer = np.zeros((1, *self._scales[k - 1].shape), np.float32)
                self._scales[k - 1].enlarge(gain[None], ENLARGED[3:], finer)
                gain = finer[0]

    def _write(self, out: Field) -> None:
        """Write what the finest scale says, at its own pixels or at every one."""
        n = 2 if out.error is out.confidence is None else 4
        estimates, finest = self._scales[self._finest].judge(self.field, n), self._finest
        while self.field.interpolated and finest > 2:
            finest -= 1
            estimates = self._scales[finest].between(estimates, n)
        gains, times = ENLARGED**finest, 2**finest if self.field.interpolated else 1
        for part, first, last in ((out.velocity, 0, 2), (out.error, 2, 3), (out.confidence, 3, 4)):
            if part is None:
                continue
            planes = part.reshape(-1, *part.shape[-2:])
            self._scales[0].enlarge(estimates[first:last], gains[first:last], planes, times)
        if out.error is not None:
            np.sqrt(out.error, out=out.error)


DIMMEST, BRIGHTEST = 1e-9, 1e7
"""Magnitudes of a frame's largest pixel whose fourth powers, summed over the largest window twice, single precision
holds; below that it is black."""

COLOURS = (
    "; of colours take the luminance, `frame @ (0.299, 0.587, 0.114)` for red, green and blue, or use "
    "flymotion.detecting.detect"
)
"""What to do with them, as videos do."""

UNWANTED: Any = Field(*(np.zeros(shape, np.float32) for shape in ((4, 0, 0), (2, 0, 0), (2, 0, 0), (0, 0), (0, 0))))
"""What stands for what is not wanted, in the kernels."""


def _arrays(field: MotionField, shape: tuple[int, ...]) -> Field:
    """Make room for what is asked for."""
    k = 4 if field.detectors is None else len(field.detectors)
    few = tuple(side // field.spacing((shape[0], shape[1])) for side in shape)
    shapes = ((k, *shape), (2, *shape), (2, *few), few, few)
    wanted = [name in field.outputs for name in OUTPUTS]
    return Field(*(np.zeros(n, np.float32) if w else None for n, w in zip(shapes, wanted, strict=True)))


def _image(frame: Any) -> np.ndarray:
    """Check a frame and return it as uint8 or float32."""
    not_masked(frame, "the frame", "pixels")
    frame = np.asarray(in_order(frame))
    if frame.dtype.kind not in "biuf":
        raise TypeError(f"the frame has dtype {frame.dtype}; expected real numbers")
    if frame.ndim != 2 or min(frame.shape) < 3:
        colours = COLOURS if frame.ndim == 3 and frame.shape[2] in (3, 4) else ""
        raise ValueError(
            f"the frame has shape {frame.shape}; expected (height, width), 3 or more pixels each way{colours}"
        )
    if frame.dtype == np.uint8:
        return frame
    with np.errstate(over="ignore", invalid="ignore"):
        frame = np.ascontiguousarray(frame, dtype=np.float32)
        if 4 * frame.size * DIMMEST**2 < _power(frame) < BRIGHTEST**2:  # so is every frame of a video
            return frame
        peak = max(frame.max(), -frame.min())
    if not peak <= BRIGHTEST:
        y, x = np.argwhere(~(np.abs(frame) <= BRIGHTEST))[0]
        what = f"pixel of {frame[y, x]:.3g}" if np.isfinite(frame[y, x]) else "NaN or infinite pixel"
        raise ValueError(f"the frame has a {what} at row {y}, column {x}; expected magnitudes of {BRIGHTEST:g} or less")
    return frame if peak >= DIMMEST else np.zeros_like(frame)


@compiled(**SUMS)
def _power(frame):
    """Return the sum of squares of a frame: not a number, or infinite, if one of its pixels is."""
    total = 0.0
    for y in range(len(frame)):
        power, row = np.float32(0), frame[y]
        for x in range(len(row)):
            power += row[x] * row[x]
        total += float(power)
    return total


def _checked(out: Field, own: Field) -> Field:
    """Return where to write, which must be like the stream's own arrays."""
    for name, given, expected in zip(OUTPUTS, out, own, strict=True):
        if expected is None:
            continue
        if given is None or given.shape != expected.shape or given.dtype != np.float32 or not given.flags.c_contiguous:
            raise ValueError(f"out.{name} must be a C-contiguous float32 array of shape {expected.shape}")
    return Field(*(None if expected is None else given for given, expected in zip(out, own, strict=True)))
