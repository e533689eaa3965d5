"""Plain functions as detectors: ``function(movie, dt) -> responses`` is all that experiments need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.detectors.detector import Detector, Taps
from flymotion.frames import not_masked
from flymotion.world.conventions import positive
from flymotion.world.eyes import Eye, as_eye

__all__ = ["FunctionDetector", "as_detector", "rectified"]


@dataclass(frozen=True, eq=False)
class FunctionDetector:
    """A plain function, and what experiments ask of a detector besides.

    All that takes a detector takes a function too, as one of these with everything as by default: it is shown a row of
    24 pixels, 5 degrees apart, unless an eye is given, and nothing turns it: its preferred direction says which motion
    is shown to it, not what it does.

    Parameters
    ----------
    function : callable
        Takes a movie, shape (n_frames, *eye.shape), and the time between frames [s]; returns responses, shape
        (n_frames, n_positions), or (n_frames, n_positions, n_units) of one that has ``directions``. Of the movie
        alone: what remembers the movie before, or draws numbers, is refused.
    spacing, acceptance : float
        Angle between neighbouring pixels, and their acceptance angle (full width at half maximum), of the eye that
        experiments give it [deg].
    opponent : bool
        Whether motion in the null direction gives negative responses.
    source, unit : str
        As of :class:`~flymotion.detectors.Detector`.
    directions : tuple of float
        Preferred directions of the units of a function that has several [deg].
    name : str
        What results and figures call it; by default what the function is called.

    Raises
    ------
    TypeError
        What cannot be called.
    ValueError
        Angles that are not positive.

    Examples
    --------
    >>> from flymotion.stimuli import drifting_grating
    >>> from flymotion.tuning import tune
    >>> def change_times_slope(movie, dt):
    ...     return -np.diff(movie, axis=0, prepend=movie[:1])[:, 1:-1] * (movie[:, 2:] - movie[:, :-2])
    >>> tuning = tune(change_times_slope, drifting_grating, {"direction": [0, 90, 180]}, dt=0.01)
    >>> (tuning.response / tuning.response[0]).round(6).values + 0.0
    array([ 1.,  0., -1.])
    """

    function: Callable[[np.ndarray, float], Any]
    spacing: float = 5.0
    acceptance: float = 5.7
    opponent: bool = False
    source: str = ""
    unit: str = ""
    directions: tuple[float, ...] = ()
    name: str = ""

    __repr__ = in_brief

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"the detector is {self.function!r}; expected a Detector, or a function of movie and dt")
        positive(spacing=self.spacing, acceptance=self.acceptance)
        object.__setattr__(self, "name", self.name or getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def description(self) -> str:
        """What is known of it, in one line: results keep it."""
        eye = f"spacing {self.spacing:g}, acceptance {self.acceptance:g}"
        return f"{self.name}: a function of movie and dt; {eye}; {self.source}"

    def __call__(
        self, movie: np.ndarray, dt: float, *, eye: Eye | tuple[int, ...] | None = None, direction: float = 0.0
    ) -> np.ndarray:
        """Respond to movies, shape (..., n_frames, *eye.shape), one after the other; direction is for detectors.

        Returns
        -------
        ndarray, shape (..., n_frames, n_positions[, n_units])

        Raises
        ------
        ValueError
            A masked movie, or one that does not fit the eye; a function that returns no array of real numbers, one of
            another shape, or a masked one.
        """
        not_masked(movie, "movie", "frames")
        movie = np.asarray(movie)
        shape = movie.shape[1:] if eye is None else as_eye(eye).shape
        if movie.ndim <= len(shape) or movie.shape[-len(shape) :] != shape:
            raise ValueError(
                f"the movie has shape {movie.shape}; expected (..., n_frames, {', '.join(map(str, shape))})"
            )
        beside = movie.shape[: movie.ndim - 1 - len(shape)]
        movies = movie.reshape(-1, *movie.shape[len(beside) :])
        responses = np.stack([self._responses(one, dt) for one in movies])
        return responses.reshape(*beside, *responses.shape[1:])

    def _responses(self, movie: np.ndarray, dt: float) -> np.ndarray:
        returned, units = self.function(movie.copy(), dt), [len(self.directions)] if self.directions else []
        expected = (
            f"({', '.join(map(str, [len(movie), 'n_positions', *units]))}), a response for each frame and position"
        )
        not_masked(returned, f"what {self.name} returned", "responses")
        try:
            responses = np.asarray(returned)
        except ValueError:  # ragged
            responses = np.array(None)
        if responses.dtype.kind not in "biuf":
            raise ValueError(f"{self.name} returned no real numbers of one shape; expected {expected}")
        fits = responses.ndim == 2 + len(units) and [len(responses), *responses.shape[2:]] == [len(movie), *units]
        if not fits or not responses.size:
            raise ValueError(
                f"{self.name} returned shape {responses.shape} for a movie of shape {movie.shape}; expected {expected}"
            )
        return responses.astype(float)


def as_detector(detector: Any) -> Detector | FunctionDetector:
    """Return a detector as it is, and a plain function as one.

    Raises
    ------
    TypeError
        What is neither.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> def change(movie, dt):
    ...     return np.diff(movie, axis=0, prepend=movie[:1]) / dt
    >>> as_detector(hassenstein_reichardt()).name, as_detector(change).name
    ('hrd', 'change')
    """
    return detector if isinstance(detector, (Detector, FunctionDetector)) else FunctionDetector(detector)


def rectified(detector: Any) -> Detector | FunctionDetector:
    """Return a detector, or a function as one, whose responses are half-wave rectified, as a cell's output is.

    At every moment and position, before any mean: what outputs of NSM are of themselves.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> falling = np.linspace([1.0, 0.0], [0.0, 1.0], 50)
    >>> hrd = hassenstein_reichardt()
    >>> [round(float(each(falling, 0.01, direction=180).sum()), 1) for each in (hrd, rectified(hrd))]  # to the right
    [-10.4, 0.0]
    """
    detector = as_detector(detector)
    if isinstance(detector, FunctionDetector):
        return replace(detector, function=partial(_positive_of, function=detector), opponent=False)
    return replace(detector, combine=partial(_positive, combine=detector.combine), opponent=False)


def _positive(tap: Taps, *, combine: Callable[[Taps], np.ndarray]) -> np.ndarray:
    return np.maximum(combine(tap), 0)


def _positive_of(movie: np.ndarray, dt: float, *, function: Callable[[np.ndarray, float], Any]) -> np.ndarray:
    return np.maximum(function(movie, dt), 0)
