"""What every detector is: temporal filters of each photoreceptor, a few taps in space, and one formula on them.

A :class:`Detector` filters each photoreceptor's signal in time into one or more arms, looks at each arm through taps at
fixed displacements about every position, and combines what it finds there by its formula. Displacements are those of
motion to the right; for another direction they are turned, and between axes of a hexagonal lattice the detector is that
along both (:mod:`flymotion.detectors.between_axes`). So a detector is written once, for one direction and one position,
and works on any lattice.

Start-up: before the first frame the eye saw that frame for ever, or the intensity ``before``.

Longer than 350 lines because what a detector is and what it does to a stream are told, and shown, beside each other.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.detectors.between_axes import Turned
from flymotion.detectors.taps_on_lattices import Taps, tapped
from flymotion.detectors.temporal import Chain, Step, filtered, latency, start
from flymotion.frames import as_frames, in_order, not_masked
from flymotion.world.conventions import positive
from flymotion.world.eyes import Eye, as_eye

__all__ = ["Detector", "Stream", "along"]


def along(low: int, high: int) -> np.ndarray:
    """Return displacements in a row along the preferred direction, from ``low`` to ``high``, shape (n_taps, 2).

    Examples
    --------
    >>> along(-1, 1).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    offsets = np.arange(low, high + 1)
    return np.stack([offsets, np.zeros(len(offsets))], axis=1)


@dataclass(frozen=True, eq=False)
class Detector:
    """A local motion detector.

    Parameters
    ----------
    arms : mapping of str to tuple of Step
        Temporal filters that make each arm's signal from a photoreceptor's.
    displacements : array, shape (n_taps, 2)
        Where the taps are about a position (x right, y down) for motion to the right [pixel spacings]; :func:`along`.
        They, and turned ones, have to be where pixels are, within :data:`flymotion.detectors.LATTICE_TOLERANCE`. On a
        compound eye they are steps of its lattice, however many degrees that is from lens to lens.
    combine : callable
        Formula: takes :class:`Taps`, returns responses, shape (..., n_frames, n_positions) or, of a detector that has
        units of several directions itself, (..., n_frames, n_positions, n_units).
    opponent : bool
        Whether motion in the null direction gives negative responses.
    spacing, acceptance : float
        The published angle between neighbouring photoreceptors, and their acceptance angle (full width at half maximum)
        [deg]. A detector works on any eye; these are the eye that experiments give it.
    source : str
        The paper it comes from.
    unit : str
        Unit of the responses.
    directions : tuple of float
        Preferred directions of the units of a detector that has several [deg].
    name : str
        What results and figures call it.
    scale : float
        How many times as far apart taps are as the displacements and the formula say, such as the square root of 3, by
        which a row on a hexagon is one along 0 degrees: ``dataclasses.replace(detector, scale=3**0.5)``.

    Raises
    ------
    TypeError
        Arms that are not tuples of steps.
    ValueError
        No arms, angles that are not positive, or displacements that are not finite numbers of that shape. In a call, a
        formula that returns another shape than it should.

    Examples
    --------
    Hassenstein's and Reichardt's, written out, and a grating that drifts to the right:

    >>> from flymotion.detectors.temporal import LowPass
    >>> from flymotion.stimuli import drifting_grating
    >>> def opposed_products(at):
    ...     return at("slow", 0) * at("fast", 1) - at("fast", 0) * at("slow", 1)
    >>> hrd = Detector({"slow": (LowPass(0.15),), "fast": ()}, along(0, 1), opposed_products, opponent=True)
    >>> movie = drifting_grating(duration=4.0).movie((5,), dt=0.01, spacing=5.0)
    >>> hrd(movie, dt=0.01, direction=[0, 180])[100:].mean(axis=(0, 1)).round(2)
    array([ 0.08, -0.08])
    """

    arms: Mapping[str, Chain]
    displacements: np.ndarray
    combine: Callable[[Taps], np.ndarray]
    opponent: bool = False
    spacing: float = 5.0
    acceptance: float = 5.7
    source: str = ""
    unit: str = ""
    directions: tuple[float, ...] = ()
    name: str = ""
    scale: float = 1.0

    __repr__ = in_brief

    def __post_init__(self) -> None:
        _check_arms(self.arms)
        positive(spacing=self.spacing, acceptance=self.acceptance, scale=self.scale)
        not_masked(self.displacements, "displacements")
        try:
            displacements = np.asarray(self.displacements, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"displacements are {self.displacements!r}; expected numbers, shape (n_taps, 2)") from None
        if displacements.ndim != 2 or displacements.shape[1] != 2 or not len(displacements):
            raise ValueError(
                f"displacements have shape {displacements.shape}; expected (n_taps, 2), one or more, x right and y down"
            )
        if not np.isfinite(displacements).all():
            raise ValueError(f"displacements are {displacements.tolist()}; expected finite numbers")
        object.__setattr__(self, "displacements", displacements)

    @property
    def places(self) -> np.ndarray:
        """Where the taps are for motion to the right, the displacements scaled, shape (n_taps, 2) [pixel spacings]."""
        return self.displacements * self.scale

    @property
    def description(self) -> str:
        """All that makes the detector what it is, in one line: results keep it."""
        arms = "; ".join(f"{name} = {_listed(chain)}" for name, chain in self.arms.items())
        taps = " ".join(f"({x:g}, {y:g})" for x, y in self.places)
        eye = f"spacing {self.spacing:g}, acceptance {self.acceptance:g}"
        return f"{self.name or 'detector'}: {arms}; taps {taps}; {_formula(self.combine)}; {eye}; {self.source}"

    def __call__(
        self,
        movie: Any,
        dt: float,
        *,
        eye: Eye | tuple[int, ...] | None = None,
        direction: float | Sequence[float] = 0.0,
        before: Any = None,
    ) -> np.ndarray:
        """Respond to a movie.

        Parameters
        ----------
        movie : array, shape (..., n_frames, *eye.shape)
            Intensities, or contrasts; axes before the frames are of movies seen one beside the other. Without ``eye``
            one movie of a line (n_frames, n) or of a grid (n_frames, height, width).
        dt : float
            Time between frames [s].
        eye : Eye or tuple of int, optional
            Whose frames they are.
        direction : float or sequence of float
            Preferred direction [deg]: 0 = right, 90 = up; on a line and a grid one along which there are pixels. On a
            hexagonal lattice any: between two axes responses are those along both, weighed so that the preferred
            direction is between.
        before : float or array, shape eye.shape, optional
            What the eye saw before the first frame, for ever; by default the first frame.

        Returns
        -------
        ndarray, shape (..., n_frames, n_positions[, n_directions][, n_units])
            At :meth:`positions`, in ``unit``; an axis of directions where a sequence of them was given.

        Raises
        ------
        ValueError
            A movie, or what was before it, that does not fit the eye or is not finite, a direction in which the eye has
            no pixels, an eye too small or without a lattice, a delay that is no whole number of
            frames or longer than the movie.
        """
        movie = in_order(movie, others_first=True)
        eye = as_eye(as_frames(movie).shape[1:] if eye is None else eye)
        responses = self.stream(dt, eye=eye, direction=direction, before=before).push(movie)
        n_frames, needed = np.shape(movie)[-1 - len(eye.shape)], max(latency(chain, dt) for chain in self.arms.values())
        if n_frames <= needed:
            raise ValueError(f"the movie has {n_frames} frame(s), and delays of {needed}; expected more frames")
        return responses

    def stream(
        self,
        dt: float,
        *,
        eye: Eye | tuple[int, ...],
        direction: float | Sequence[float] = 0.0,
        before: Any = None,
    ) -> Stream:
        """Return an object that takes frames as they come and keeps the filters' state; parameters as of a call."""
        if not 0 < dt < np.inf:
            raise ValueError(f"dt is {dt}; expected a positive, finite time between frames [s]")
        return Stream(self, dt, as_eye(eye), direction, before)

    def positions(self, eye: Eye | tuple[int, ...], direction: float | Sequence[float] = 0.0) -> np.ndarray:
        """Return the pixels at which responses are: those about which all taps, of all directions, are inside the eye.

        Returns
        -------
        ndarray of int, shape (n_positions,)
            Indices into the eye's positions.
        """
        return tapped(self.places, as_eye(eye), np.atleast_1d(direction))[0]


@dataclass
class Stream:
    """A detector that watches: what its filters remember of the frames so far.

    Made by :meth:`Detector.stream`. Any split of a movie over calls of :meth:`push` gives the same responses.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> movie = np.random.default_rng(0).normal(size=(50, 5))
    >>> stream = hassenstein_reichardt().stream(0.01, eye=(5,))
    >>> [stream.push(frames).shape for frames in (movie[:20], movie[20:])]
    [(20, 4), (30, 4)]
    """

    detector: Detector
    dt: float
    eye: Eye
    direction: float | Sequence[float]
    before: Any = None
    _turned: list[list[Turned]] = field(init=False, repr=False)
    _states: dict[Chain, Any] = field(init=False, repr=False, default_factory=dict)
    _started: bool = field(init=False, repr=False, default=False)
    _beside: tuple[int, ...] = field(init=False, repr=False, default=())
    _seen: int = field(init=False, repr=False, default=0)

    __repr__ = in_brief

    def __post_init__(self) -> None:
        if self.before is not None:
            _check_before(self.before, self.eye)
        _, self._turned = tapped(self.detector.places, self.eye, np.atleast_1d(self.direction))

    def push(self, frames: Any) -> np.ndarray:
        """Respond to the next frames, shape (..., n_frames, *eye.shape).

        Returns
        -------
        ndarray, shape (..., n_frames, n_positions[, n_directions][, n_units])
            As of a call of the detector.
        """
        frames = _as_movie(frames, self.eye, self._seen)
        if not self._started and frames.shape[-2]:
            self._start(frames)
        if self._started and frames.shape[:-2] != self._beside:
            raise ValueError(
                f"the frames' axes of movies are {frames.shape[:-2]}, and those of the frames before were "
                f"{self._beside}; expected the same in every call"
            )
        done: dict[Chain, np.ndarray] = {(): frames}
        arms = {name: self._signals(chain, done) for name, chain in self.detector.arms.items()}
        self._seen += frames.shape[-2]
        each = [self._weighed(turned, arms, frames) for turned in self._turned]
        if np.ndim(self.direction) == 0:
            return each[0]
        return np.stack(each, axis=frames.ndim)

    def _weighed(self, turned: list[Turned], arms: Mapping[str, np.ndarray], frames: np.ndarray) -> np.ndarray:
        """Return responses in one direction, added up of those along the axes on either side, if it is between two."""
        where, scale = self.detector.displacements, self.detector.scale
        taps = [Taps(arms, pixels, where, self.dt, scale) for pixels, _ in turned]
        each = [self._combined(tap, frames, len(pixels)) for tap, (pixels, _) in zip(taps, turned, strict=True)]
        if len(each) == 1:
            return each[0]
        beside = (1,) * (each[0].ndim - frames.ndim)  # units
        return np.sum([r * w.reshape(-1, *beside).astype(r.dtype) for r, (_, w) in zip(each, turned, strict=True)], 0)

    def _combined(self, taps: Taps, frames: np.ndarray, n_positions: int) -> np.ndarray:
        responses = self.detector.combine(taps)
        not_masked(responses, "what the detector's formula returned", "responses")
        units = self.detector.directions
        expected = (*frames.shape[:-1], n_positions, *([len(units)] if units else []))
        if np.shape(responses) != expected:
            raise ValueError(
                f"the detector's formula returned shape {np.shape(responses)}; expected {expected}, a response for "
                f"each frame and position{' and unit' if units else ''}"
            )
        return responses

    def _signals(self, chain: Chain, done: dict[Chain, np.ndarray]) -> np.ndarray:
        """Filter through a chain; arms that begin alike share what they share."""
        if not self._started:  # no frame yet
            return done[()]
        if chain not in done:
            before = self._signals(chain[:-1], done)
            done[chain], self._states[chain] = filtered(chain[-1], before, self._states[chain], self.dt)
        return done[chain]

    def _start(self, frames: np.ndarray) -> None:
        first = frames[..., 0, :]
        level = first if self.before is None else np.broadcast_to(np.ravel(self.before), first.shape)
        levels: dict[Chain, np.ndarray] = {(): level.astype(frames.dtype)}
        for chain in self.detector.arms.values():
            for length in range(1, len(chain) + 1):
                if chain[:length] not in levels:
                    state, out = start(chain[length - 1], levels[chain[: length - 1]], self.dt)
                    self._states[chain[:length]], levels[chain[:length]] = state, out
        self._started, self._beside = True, frames.shape[:-2]


def _check_arms(arms: Any) -> None:
    if not isinstance(arms, Mapping) or not arms:
        raise ValueError(f"arms are {arms!r}; expected a mapping of one or more names to tuples of steps")
    for name, chain in arms.items():
        if not (isinstance(chain, tuple) and all(_is_step(step) for step in chain)):
            raise TypeError(f"the arm {name!r} is {chain!r}; expected a tuple of steps, such as (LowPass(0.1),) or ()")


def _is_step(step: Any) -> bool:
    return isinstance(step, Step) or hasattr(step, "coefficients")


def _listed(chain: Chain) -> str:
    return " > ".join(map(repr, chain)) or "signal"


def _formula(combine: Any) -> str:
    """Return the name of a formula and what is fixed of it, arrays by their shape and a check sum."""
    fixed = ", ".join(f"{name}={_brief(value)}" for name, value in getattr(combine, "keywords", {}).items())
    function = getattr(combine, "func", combine)
    return f"{getattr(function, '__name__', type(function).__name__)}({fixed})"


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array{value.shape}#{zlib.crc32(np.ascontiguousarray(value).tobytes()):08x}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_brief, value))})"
    return repr(value)


def _check_before(before: Any, eye: Eye) -> None:
    not_masked(before, "before", "pixels")
    if np.shape(before) not in ((), eye.shape) or not np.isfinite(before).all():
        raise ValueError(
            f"before is {before!r}; expected what the eye saw before the first frame, a finite number or an array of "
            f"shape {eye.shape}"
        )


def _as_movie(movie: Any, eye: Eye, first: int) -> np.ndarray:
    """Return frames, the first of this number, as floats, finite, with one axis of pixels."""
    not_masked(movie, "movie", "frames")
    movie = np.asarray(in_order(movie, others_first=True))
    shape, ndim = movie.shape, len(eye.shape)
    if len(shape) <= ndim or shape[-ndim:] != eye.shape:
        raise ValueError(f"the movie has shape {shape}; expected (..., n_frames, {', '.join(map(str, eye.shape))})")
    *beside, n_frames = shape[:-ndim]
    movies = np.reshape(movie, (math.prod(beside), n_frames, math.prod(eye.shape)))
    frames = as_frames(np.moveaxis(movies, 1, 0), first=first)
    dtype = frames.dtype if frames.dtype == np.float32 else np.float64
    return np.moveaxis(frames.astype(dtype, copy=False), 0, 1).reshape(*beside, n_frames, movies.shape[-1])
