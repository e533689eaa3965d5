"""Frames in, motion out: the local detectors, and the motion of the whole frame, from any source of frames."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.detecting.mean_responses import MeanResponses, reach, strips
from flymotion.detecting.recycled import Recycled
from flymotion.field import Field, MotionField
from flymotion.field.frame_motion import UNKNOWN, GlobalMotion, global_motion
from flymotion.video import Frame, Movie, VideoError, open_movie
from flymotion.video.reading_ahead import ahead
from flymotion.video.viewing import view
from flymotion.writing import UNFINISHED

if TYPE_CHECKING:
    from flymotion.learner import MotionLearner

__all__ = ["Detecting", "Detection", "detect", "learner_of_directions"]

OUTPUTS = ("directions", "velocity", "confidence", "error")
"""What is computed at every pixel; the first only if dense."""

ROUNDING = 12**-0.5
"""Standard deviation of the noise of rounding [steps]."""

CODING = 1.5
"""What a codec may make of noise, or of nothing, in whole blocks: a standard deviation [of 255 grey levels].

Of 16 covered lenses (H.264 at crf 18, 23 and 28, MPEG-4; noise of one level) it leaves none any confidence above 0.2;
at 1.3 one has some on 0.5 % of the frame, at 0.9 four on up to 5 %. Of three real videos 0.40, 0.58 and 0.76 of the
frame are confident, which were 0.43, 0.64 and 0.83 at 0.9.
"""

N_AHEAD = 1
"""Fields that wait to be looked at, while the next is computed: enough to keep all cores busy."""

LEAST = 16
"""Fewest pixels of the field each way: a window of its velocity, and some room."""


class Detection(NamedTuple):
    """What one frame shows, together with the one before.

    Attributes
    ----------
    number : int
        Of the frame, among those taken; from 0 on.
    time : float
        When it is shown [s], or NaN where the source does not tell.
    cut : bool
        Whether it begins a clip: then there is no frame before, ``field`` is None and everything else unknown.
    image : ndarray, shape (height, width)
        The frame: 0 (black) to 255 of videos and 8-bit images, otherwise as stored.
    field : Field or None
        ``directions`` (in the order of :attr:`Detecting.angles`, and only if dense), ``velocity``, ``confidence`` and
        ``error`` at every pixel that the detectors look at, or, unless dense, at every few of them
        (:attr:`Detecting.spacing`); velocity and its error in pixels of the source. The arrays are the detection's own.
    motion : GlobalMotion
        In pixels of the source.
    responses : ndarray, shape (n_directions,)
        Mean response of the detectors of each direction, over every k-th row of those that have any [grey levels
        squared].
    noise : float
        Standard deviation of the noise of what the detectors look at [grey levels]; 0 where unknown.
    steps : float
        How far from the frame before, in steps from a frame taken to the next: more than 1 where a gap is bridged.
        Velocity and motion are those of one step.

    Examples
    --------
    >>> from flymotion import detect
    >>> frame = np.add.outer(np.sin(np.arange(60) / 3), np.cos(np.arange(80) / 3)) * 50 + 128
    >>> first, second = detect(np.stack([frame[1:], frame[:-1]]), rate=25)  # content goes down by a pixel
    >>> first.cut, second.number, second.time, round(second.motion.y, 1)
    (True, 1, 0.04, 1.0)
    """

    number: int
    time: float
    cut: bool
    image: np.ndarray
    field: Field | None
    motion: GlobalMotion
    responses: np.ndarray
    noise: float = 0.0
    steps: float = 1.0

    def __repr__(self) -> str:
        return in_brief(self)


@dataclass(frozen=True, eq=False)
class Detecting:
    """Motion of every pair of frames of a movie; made by :func:`detect`, and read by looping over it.

    Attributes
    ----------
    movie : Movie
        The frames.
    field : MotionField
        The detectors.
    view_scale : int or None
        Frames are reduced by so much, and blurred, as those were that a model has learned from; None: they are not.
    scale : int
        Side of what is one pixel of the field [pixels of the source].
    corner : tuple of int
        Row and column of the source where the field begins, other than (0, 0) of a part of the frame.
    learner : MotionLearner or None
        Whose detectors they are.

    Examples
    --------
    >>> from flymotion import detect
    >>> detecting = detect(np.zeros((4, 60, 80)), scale=2, rate=25)
    >>> detecting.shape, detecting.scale, detecting.angles  # fields of half the size; right, up, left and down
    ((30, 40), 2, array([  0.,  90., 180., 270.]))
    """

    movie: Movie
    field: MotionField
    view_scale: int | None
    scale: int
    corner: tuple[int, int] = (0, 0)
    learner: MotionLearner | None = None

    def when_interrupted(self, path: Path) -> Path:
        """Return where to put a file that Ctrl-C has ended: of a movie without an end, its own place."""
        return path if self.movie.live else path.parent / UNFINISHED / path.name

    __repr__ = in_brief

    @cached_property
    def angles(self) -> np.ndarray:
        """Preferred directions of the detectors [deg]: 0 = right, 90 = up; of a model as its ``directions_`` say."""
        if self.learner is None:
            return self.field.angles
        told = self.learner.directions_[self.learner.generators_.answering]
        return np.where(np.isfinite(told), told, self.field.angles)

    @property
    def n_directions(self) -> int:
        """Number of detectors at a pixel."""
        return 4 if self.field.detectors is None else len(self.field.detectors)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the fields."""
        return _reduced(self.movie.shape, self.view_scale)

    def needed_dense(self, path: Path) -> None:
        """Refuse to write what takes everything at every pixel, where that is not computed."""
        if not self.field.interpolated:
            raise ValueError(f"{path}: takes responses and velocities at every pixel; detect with dense=True")

    @property
    def spacing(self) -> int:
        """How far apart the velocities of a field are [pixels that the detectors look at]: 1 if dense."""
        return self.field.spacing(self.shape)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what a field holds, by its name."""
        height, width = (side // self.spacing for side in self.shape)
        shapes = {"directions": (self.n_directions, *self.shape), "velocity": (2, height, width)}
        return {name: shapes.get(name, (height, width)) for name in self.field.outputs}

    def __iter__(self) -> Iterator[Detection]:
        """Yield one detection a frame, none left out; frames are read, and fields computed, ahead on two threads."""
        means = MeanResponses(self.field, self.shape[0])
        with closing(ahead(self._estimated(), N_AHEAD)) as pairs:
            for number, (frame, seen, field, noise) in enumerate(pairs):
                if frame.cut:
                    means.cut()
                responses = means.step(seen, field)
                if field is None:
                    yield Detection(number, frame.time, frame.cut, frame.image, None, UNKNOWN, responses)
                else:
                    motion = self._in_source(field, frame.steps)
                    yield Detection(
                        number, frame.time, False, frame.image, field, motion, responses, noise, frame.steps
                    )

    def _estimated(self) -> Generator[tuple[Frame, np.ndarray, Field | None, float]]:
        """Yield each frame, what the detectors see of it, the field of the pair that it ends, and the noise."""
        stream, fields = self.field.stream(), Recycled(self.shapes)
        with closing(ahead(frame for frame in self.movie.frames())) as frames:
            for frame in frames:
                if frame.cut:
                    stream.cut()
                seen = self._seen(frame)
                yield frame, seen, stream.step(seen, fields.take()), stream.noise

    def _seen(self, frame: Frame) -> np.ndarray:
        """Return a frame as a model saw those that it learned from."""
        return frame.image if self.view_scale is None else view(frame.image[None], self.view_scale)[0]

    def _in_source(self, field: Field, steps: float) -> GlobalMotion:
        """Return the motion of the whole frame, and make it and the field's velocity pixels of the source, a step."""
        assert field.velocity is not None and field.confidence is not None and field.error is not None
        x, y, rotation, looming, *rest = global_motion(field.velocity, field.confidence, field.error, self.shape)
        gain = self.scale / steps
        if gain != 1:
            np.multiply(field.velocity, gain, out=field.velocity)
            np.multiply(field.error, gain, out=field.error)
        return GlobalMotion(gain * x, gain * y, rotation / steps, looming / steps, *rest)


def detect(
    source: Any,
    *,
    model: str | os.PathLike[str] | MotionLearner | None = None,
    dense: bool = True,
    speed: str = "fast",
    radius: int = 2,
    **reading: Any,
) -> Detecting:
    """Detect motion at every pixel of every frame.

    Parameters
    ----------
    source : path, str or array-like
        A video, a camera, a URL, images or an array: what :func:`flymotion.video.open_movie` takes. Colours of arrays
        are red, green and blue; of those that OpenCV read, take ``frames[..., ::-1]``.
    model : path or MotionLearner, optional
        Whose detectors to use; by default three-pixel detectors of the four cardinal directions. Frames are looked at
        as those that it learned from.
    dense : bool
        Whether fields are wanted at every pixel. Without, there are no responses but their means, which are the same,
        velocity stands where it is estimated, :attr:`Detecting.spacing` pixels apart, and the motion of the frame is
        the same but for what is interpolated, at a fraction of the time.
    speed : {"fastest", "fast", "accurate"}
        How much work the velocity is worth, :class:`flymotion.field.MotionField`.
    radius : int
        Of the velocity's windows, of the same class: with 1 things half as large are seen, and noise twice as much.
    **reading : Any
        Options of :func:`flymotion.video.open_movie`: ``start``, ``stop``, ``stride``, ``crop``, ``scale`` and
        others. No pair bridges an edit unless ``edits`` is ``"keep"``.

    Returns
    -------
    Detecting
        To be looped over: one :class:`Detection` a frame, in constant memory.

    Raises
    ------
    VideoError
        A source that cannot be read, or frames too small for the detectors.
    ValueError
        Flat frames; options out of range.
    ModelError
        A model that cannot be read, or has not learned directions of motion in the plane from square patches.

    Notes
    -----
    Pairs of frames are neighbours among those taken, and never bridge a cut. Velocities are in pixels of the source
    whatever ``scale`` and the model reduce frames by, and per frame taken: with ``stride`` of 2, per two frames.

    Examples
    --------
    >>> frame = np.add.outer(np.sin(np.arange(60) / 3), np.cos(np.arange(80) / 3)) * 50 + 128
    >>> steps = list(detect(np.stack([np.roll(frame, t, axis=1)[:, 8:-8] for t in range(4)]), rate=25))
    >>> [(step.number, step.time, step.cut) for step in steps[:2]], round(steps[1].motion.x, 1)
    ([(0, 0.0, True), (1, 0.04, False)], 1.0)
    """
    learner = None if model is None else learner_of_directions(model)
    detectors = None if learner is None else learner.generators_[learner.generators_.answering]
    view_scale = None if learner is None else learner.scale_
    movie = open_movie(source, **{"edits": "split"} | reading)
    scale = (view_scale or 1) * reading.get("scale", 1)
    noise = max(ROUNDING * movie.step / scale, CODING * movie.coded)  # blocks are averaged with their like
    field = MotionField(detectors, speed, radius, noise=noise, outputs=OUTPUTS)
    height, width = _reduced(movie.shape, view_scale)
    if min(height, width) < (least := max(LEAST, reach(field))):
        reduced, smaller = (f"reduced by {scale}, ", "a smaller scale, or ") if scale > 1 else ("", "")
        raise VideoError(
            f"{movie.name}: {reduced}frames have {height} x {width} pixels; expected {least} or more each way, which "
            f"the detectors need: choose {smaller}a larger part of the frame"
        )
    if not dense:
        fewer = detectors is None or strips(height, reach(field)).size < height  # else strips are more work
        field = replace(field, interpolated=False, outputs=OUTPUTS[1:] if fewer else OUTPUTS)
    top, _, left, _ = reading.get("crop") or (0, 0, 0, 0)
    return Detecting(movie, field, view_scale, scale, (top, left), learner)


def _reduced(shape: tuple[int, ...], by: int | None) -> tuple[int, int]:
    height, width = shape
    return height // (by or 1), width // (by or 1)


def learner_of_directions(model: str | os.PathLike[str] | MotionLearner) -> MotionLearner:
    """Return a model whose detectors are of directions in the plane."""
    from flymotion.keeping import ModelError, load
    from flymotion.learner import TRANSLATIONS, MotionLearner

    learner = model if isinstance(model, MotionLearner) else load(model, kind=MotionLearner)
    name = "the model" if learner is model else str(model)
    if not learner.__sklearn_is_fitted__():
        raise ModelError(f"{name}: has not seen enough to have detectors")
    generators, shape = learner.generators_, learner.generators_.shape
    detectors = generators[generators.answering]
    if len(shape) != 2 or shape[0] != shape[1]:
        what = f"{shape} pixels" if learner.eye_ is None else detectors.eye
        raise ModelError(f"{name}: has detectors of {what}; expected square patches of frames")
    if len(detectors) < 3 or learner.motions_ != TRANSLATIONS:
        raise ModelError(
            f"{name}: has {len(detectors)} detectors, {', '.join(learner.labels_)}; expected 3 or more directions"
        )
    return learner
