"""The description of a motion field, from which its streams are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.field.outputs import OUTPUTS, Field
from flymotion.field.stream import FieldStream
from flymotion.frames import in_order
from flymotion.generators import Generators

__all__ = ["MotionField"]

SPEEDS = {"fastest": (2, 1), "fast": (1, 1), "accurate": (0, 2)}
"""Finest scale, and rounds on it, of each setting."""

ROUNDS = (1, 2, 4)
"""Rounds on the finest scale, the next, and all coarser ones, which take little time; at least."""

SHORTEST_SIDE = 45
"""Pixels that the shorter side of a frame is left with, by default, at the finest scale of the velocity."""

HARDLY_EVER = 5.0
"""Standard deviations of a product of two normal numbers that one in a thousand is beyond."""


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
    finest : int, optional
        First scale that velocity is estimated at: 0 is the frame itself, and each next scale, the means over 2 x 2
        pixels, half as large; 2 is what OpenCV's DIS "ultrafast" does. By default the last on which the frame's shorter
        side has 270 pixels or more: 2 for frames of 1080 rows, 1 for 720, 0 for less than 540. The same motion is more
        pixels in a larger frame, and more than a fine scale can measure; and a fine scale takes most of the time.
        Finer pixels are interpolated linearly. Responses are always those of the frame itself.
    scales : int
        Most scales. From the coarsest on, a pixel takes its own scale's estimate unless the coarser one, interpolated,
        is above ``limit``. Nothing is warped: motion is measured at one scale. Scales of less than a window and a
        pixel each way are left out.
    limit : float
        Speed that a scale is trusted with [its pixels per frame].
    ridge : float
        lambda, a pixel of the window, relative to the mean square slope of both frames at that scale. So a field does
        not depend on the unit of intensity. It pulls towards the coarser scale's velocity, at the coarsest towards 0.
    noise : float
        Standard deviation of a pixel's noise, at least, on every scale [unit of intensity]: that of rounding to whole
        grey levels is 0.29. More, where it changes from frame to frame, is seen in the frames themselves.
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
    uncorrelated: few products of a mode of the change with a mode of the intensity make most of the response, above all
    those of modes that differ along one axis only (:mod:`flymotion.field.forms`). Of filters learned from
    scikit-learn's photographs, on four photographs that move by up to 0.4 pixels, the rectified responses have a median
    correlation of 0.987 with the exact ones for patches of 5 x 5 pixels (least: 0.976), and of 0.988 for 7 x 7 (least:
    0.976); of filters of 9 x 9 that were learned from a video, of 0.996 (least: 0.994). One kernel for all positions
    (the Toeplitz part of A), then a product and a window's sum, has a median of 0.77 and 0.80: learned rows at the
    patch's border differ from those inside.

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
    speed: str = "fast"
    radius: int = 5
    finest: int | None = None
    rounds: int | None = None
    scales: int = 9
    ridge: float = 5e-4
    trust: float = 1.0
    noise: float = 0.0
    exact: bool = False
    outputs: tuple[str, ...] = OUTPUTS

    __repr__ = in_brief

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.outputs) - set(OUTPUTS)):
            raise ValueError(f"unknown outputs {unknown}; expected some of {OUTPUTS}")
        if not (0 <= self.radius <= 64 and (self.finest is None or self.finest >= 0)):
            raise ValueError(
                f"radius is {self.radius} and finest {self.finest}; expected a radius of 0 to 64 and finest from 0 on"
            )
        if not (self.trust >= 0 and 0 <= self.ridge < np.inf and 0 <= self.noise < np.inf and self.scales >= 1):
            raise ValueError(
                f"trust is {self.trust}, ridge {self.ridge}, noise {self.noise} and scales {self.scales}; expected 0 "
                "or more, a finite ridge and noise, and 1 or more scales"
            )
        if self.detectors is not None and (len(shape := self.detectors.shape) != 2 or shape[0] != shape[1]):
            raise ValueError(f"detectors of {self.detectors.shape} pixels; expected square patches")

    @property
    def angles(self) -> np.ndarray:
        """Preferred directions of the responses [deg]: 0 = right, 90 = up; those of learned ones by their shape."""
        return np.arange(4) * 90.0 if self.detectors is None else self.detectors.in_pixels().directions()

    def floor(self, noise: float) -> np.ndarray:
        r"""Return the responses that noise alone hardly ever makes: 5 :math:`\sigma^2 |A|` each, shape (n_directions,).

        Noise makes responses of standard deviation :math:`\sigma^2 |A|`, with the norm of an operator of pixels: a
        frame's is :math:`\sigma`, that of the change the root of 2 as large, of the mean the root of 2 smaller.
        """
        norms = np.full(4, 2**0.5)
        if self.detectors is not None:
            norms = np.linalg.norm(self.detectors.in_pixels().operators, axis=(1, 2))
        return HARDLY_EVER * noise**2 * norms

    def first_scale(self, shape: tuple[int, int]) -> int:
        """Return the scale that velocity is estimated at last in frames of a shape."""
        finest = SPEEDS[self.speed][0] if self.finest is None else self.finest
        return min(finest, max(min(shape) // SHORTEST_SIDE, 1).bit_length() - 1, self.scales - 1)

    def rounds_at(self, scale: int) -> int:
        """Return how often velocity is estimated on a scale, 0 the finest."""
        rounds = SPEEDS[self.speed][1] if self.rounds is None else self.rounds
        return max(rounds, ROUNDS[min(scale, len(ROUNDS) - 1)])

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
        movie = in_order(movie)
        if len(movie) < 2:
            raise ValueError(f"the movie has {len(movie)} frame(s); expected at least 2 to make a pair")
        stream = self.stream()
        fields = [Field(*(_copied(part) for part in field)) for frame in movie if (field := stream.step(frame))]
        return Field(*(None if parts[0] is None else np.stack(parts) for parts in zip(*fields, strict=True)))


def _copied(part: np.ndarray | None) -> np.ndarray | None:
    return None if part is None else part.copy()
