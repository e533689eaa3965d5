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

SPEEDS = {"fastest": 2, "fast": 1, "accurate": 0}
"""The finest scale of each setting; each coarser one takes a quarter of the time."""

SHORTEST_SIDE = 45
"""Pixels that the shorter side of a frame is left with, at least, at the finest scale that a setting chooses."""

LEAST_SIDE = 7
"""Pixels of the shorter side of the coarsest scale, at least."""

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
    speed : str
        "fastest", "fast" or "accurate": the finest scale that velocity is estimated at. Scale 0 is the frame itself,
        and each next scale, the means over 2 x 2 pixels, half as large. "fastest" estimates from scale 2 on, as
        OpenCV's DIS "ultrafast" does, "fast" from 1, "accurate" from 0; from finer ones in frames whose shorter side
        would have less than 45 pixels. Finer pixels are interpolated linearly.
        Responses are always those of the frame itself. What each setting takes and gives: ``docs/accuracy.md``.
    radius : int
        Of the window of the velocity, in cells of 2 x 2 pixels of its scale: ``4 radius + 2`` pixels each way; 1 to 32.
        With 1 things half as large are seen, and noise twice as much: for clean video of small things.
    finest : int, optional
        Finest scale, instead of what ``speed`` says.
    rounds : int
        Times that velocity is estimated at each scale. More than one helps at edges, and hardly anywhere else.
    scales : int
        Most scales. Those whose shorter side has less than 7 pixels are left out.
    ridge : float
        lambda, a pixel of the window, relative to the mean square slope of both frames at that scale. So a field does
        not depend on the unit of intensity. It pulls towards the coarser scale's velocity, at the coarsest towards 0.
        Where there is noise there is more of it; see Notes.
    noise : float
        Standard deviation of a pixel's noise, at least, on every scale [unit of intensity]: that of rounding to whole
        grey levels is 0.29. More is seen in the frames themselves.
    exact : bool
        Whether learned responses are evaluated exactly; see Notes.
    outputs : tuple of str
        What to compute, of :data:`OUTPUTS`. What is not written takes no time.
    interpolated : bool
        Whether velocity, confidence and error are interpolated to every pixel of the frame. If not, they stand where
        they are estimated, at the pixels of the finest scale: :meth:`spacing` pixels of the frame each way. They are
        in pixels of the frame all the same.

    Raises
    ------
    TypeError
        Detectors that are no :class:`Generators`, or numbers that are not whole.
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

    What is left of the motion after the frame was carried, by r pixels of its scale, is measured as
    :math:`\tan(\omega r / 2) / (\omega / 2)` at the frequency :math:`\omega`, since the mean of both frames is blurred:
    10 % too fast at a wavelength of 6 pixels and r of one.

    The ridge of a window is as many times ``ridge`` as it has pixels, plus what it leaves unexplained with hardly any,
    but no more than noise would, times 0.5 where the coarser scale says that motion is fast, and up to 2.5 where it
    says that it is slow. Noise would leave 1.5 times that of each frame, which is the tenth part of what is finest in
    blocks of 16 x 16 pixels (second differences along both axes), and on no scale more than a quarter of the next finer
    one's.

    Velocity and confidence are computed in single precision, of fourth powers of slopes: frames with pixels beyond
    1e7 are refused, and those without any beyond 1e-9 are black.

    Velocity is that of the content that is at a pixel in the frame *before*, as of all optical flow. Content that
    leaves the frame is no data, and pixels that are exactly the same in both frames, as a codec leaves out what changes
    little, have 2 % of the others' weight.

    Examples
    --------
    >>> frame = np.add.outer(np.sin(np.arange(40) / 5), np.cos(np.arange(60) / 5))
    >>> field = MotionField(ridge=1e-6, scales=1).between(frame[:, 1:], frame[:, :-1])
    >>> field.velocity[:, 20, 30].round(2) + 0.0
    array([1., 0.], dtype=float32)
    """

    detectors: Generators | None = None
    speed: str = "fast"
    radius: int = 2
    finest: int | None = None
    rounds: int = 1
    scales: int = 9
    ridge: float = 5e-4
    noise: float = 0.0
    exact: bool = False
    outputs: tuple[str, ...] = OUTPUTS
    interpolated: bool = True

    __repr__ = in_brief

    def __post_init__(self) -> None:
        if isinstance(self.outputs, str) or not set(self.outputs) <= set(OUTPUTS):
            raise ValueError(f"unknown outputs {self.outputs!r}; expected a tuple of some of {OUTPUTS}")
        if self.speed not in SPEEDS:
            raise ValueError(f"speed is {self.speed!r}; expected one of {', '.join(SPEEDS)}")
        for name in ("radius", "rounds", "scales", *(("finest",) if self.finest is not None else ())):
            if not isinstance(value := getattr(self, name), (int, np.integer)):
                raise TypeError(f"{name} is {value!r}; expected a whole number")
        if not (1 <= self.radius <= 32 and (self.finest is None or self.finest >= 0)):
            raise ValueError(
                f"radius is {self.radius} and finest {self.finest}; expected a radius of 1 to 32 and finest from 0 on"
            )
        if not (self.scales >= 1 and self.rounds >= 1):
            raise ValueError(f"scales is {self.scales} and rounds {self.rounds}; expected 1 or more")
        if not (0 <= self.ridge < np.inf and 0 <= self.noise < np.inf):
            raise ValueError(f"ridge is {self.ridge} and noise {self.noise}; expected finite numbers, 0 or more")
        if not isinstance(self.detectors, (Generators, type(None))):
            what = type(self.detectors).__name__
            raise TypeError(f"detectors are of type {what}; expected Generators, as MotionLearner.generators_")
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
        """Return the finest scale that velocity is estimated at in frames of a shape."""
        if self.finest is not None:
            return self.finest
        return min(SPEEDS[self.speed], max(min(shape) // SHORTEST_SIDE, 1).bit_length() - 1)

    def n_scales(self, shape: tuple[int, int]) -> int:
        """Return the number of scales of frames of a shape."""
        return max(sum(min(shape) >> k >= LEAST_SIDE for k in range(self.scales)), 1)

    def spacing(self, shape: tuple[int, int]) -> int:
        """Return how far apart velocities are in frames of a shape [pixels of the frame].

        With a spacing of s there are ``height // s`` rows of ``width // s`` of them, and number i along an axis stands
        at pixel ``s i + (s - 1) / 2``.

        Examples
        --------
        >>> MotionField().spacing((720, 1280)), MotionField(interpolated=False).spacing((720, 1280))
        (1, 2)
        """
        return 1 if self.interpolated else 2 ** min(self.first_scale(shape), self.n_scales(shape) - 1)

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
