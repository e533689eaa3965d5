"""What every stimulus is: scenes that move or fade, added up, seen by any eye through the one renderer.

Scenes are in degrees of visual angle here, time is in seconds. A flat eye's pixels lie ``spacing`` degrees apart on the
plane of the stimulus, (x right, y down); for a scene all round they look along a globe's longitudes and latitudes. A
spherical eye is shown a flat scene as a map about one direction, in which distances and bearings from that are right.
Intensities are contrasts, relative to the mean luminance, about ``mean``: 0, or 1 for luminance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import unmasked
from flymotion.world.conventions import finite, not_below_0, positive, unit_vector
from flymotion.world.eyes import Eye, Sphere, as_eye
from flymotion.world.globe import on_the_globe
from flymotion.world.lattices import as_seen
from flymotion.world.rendering import render
from flymotion.world.scenes import Scene

__all__ = ["Drift", "Part", "Stimulus"]

MOST = 2**27
"""Numbers in a movie."""

Time = np.ndarray
"""Times of frames, shape (n_frames,) [s]."""


@dataclass(frozen=True)
class Drift:
    """A path of steady motion.

    Parameters
    ----------
    speed : float
        Of the content [deg/s].
    direction : float
        Of its motion [deg]: 0 = right, 90 = up.
    start, stop : float
        When motion begins and ends [s].

    Examples
    --------
    >>> Drift(10.0, direction=90.0, start=0.5)(np.array([0.0, 0.5, 1.0])).round(6) + 0.0  # up from half a second on
    array([[ 0.,  0.],
           [ 0.,  0.],
           [ 0., -5.]])
    """

    speed: float
    direction: float = 0.0
    start: float = 0.0
    stop: float = math.inf

    def __call__(self, t: Time) -> np.ndarray:
        """Return where the content is, shape (n_frames, 2) [deg]."""
        return self.speed * (np.clip(t, self.start, self.stop) - self.start)[:, None] * unit_vector(self.direction)


@dataclass(frozen=True, eq=False)
class Part:
    """A scene of a stimulus.

    Parameters
    ----------
    scene : Scene
        In degrees; of two dimensions, or all round.
    path : callable, optional
        Takes times, shape (n_frames,) [s]; returns where the scene's content is, (x right, y down), shape (n_frames, 2)
        [deg], or, of a scene all round, how the eye is turned, shape (n_frames, 3, 3). By default it stays.
    gain : callable, optional
        Takes times; returns what the scene is multiplied by, shape (n_frames,). By default 1.

    Examples
    --------
    >>> from flymotion.stimuli import Window
    >>> from flymotion.world.eyes import Line
    >>> from flymotion.world.scenes import Bar
    >>> flash = Part(Bar(5.0, ndim=2), gain=Window(0.5, 1.0))
    >>> Stimulus((flash,), duration=1.5).movie(Line(3, sigma=0.0), dt=0.5, spacing=5.0)
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 0.]])
    """

    scene: Scene
    path: Callable[[Time], np.ndarray] | None = None
    gain: Callable[[Time], np.ndarray] | None = None

    __repr__ = in_brief

    def frames(self, eye: Eye, t: Time) -> np.ndarray:
        """Return what an eye in degrees sees, shape (n_frames, *eye.shape)."""
        if self.path is None:
            shown = render(self.scene, eye, np.eye(3)[None] if self.scene.ndim == 3 else np.zeros((1, 2)))
        else:
            shown = render(self.scene, eye, self.path(t) if self.scene.ndim == 3 else -self.path(t))
        gain = np.ones(len(t)) if self.gain is None else np.asarray(self.gain(t), dtype=float)
        if not np.isfinite(gain).all():
            raise ValueError(f"the gain at {t[~np.isfinite(gain)][0]:g} s is not finite; expected finite factors")
        return gain.reshape(-1, *[1] * len(eye.shape)) * shown


@dataclass(frozen=True, eq=False)
class Stimulus:
    """Parts, added up.

    Parameters
    ----------
    parts : tuple of Part
        Their sum is shown.
    duration : float
        How long it lasts [s].
    mean : float
        Mean luminance that contrasts are added to.
    toward : array-like, shape (3,), optional
        Where a spherical eye sees the middle of a flat scene, or what is straight ahead of one all round (x forward,
        y left, z up); see :meth:`at`.

    Raises
    ------
    ValueError
        A duration below 0, numbers that are not finite, no direction.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> from flymotion.world.scenes import Grating
    >>> moving = Stimulus((Part(Grating(20.0, ndim=2), Drift(5.0)),), duration=2.0)
    >>> moving.movie(Line(2, sigma=0.0), dt=1.0, spacing=5.0).round(9) + 0.0
    array([[ 0.70710678,  0.70710678],
           [-0.70710678,  0.70710678]])
    """

    parts: tuple[Part, ...]
    duration: float
    mean: float = 0.0
    toward: Any = None

    __repr__ = in_brief

    def __post_init__(self) -> None:
        not_below_0(duration=self.duration)
        finite(mean=self.mean)
        if self.toward is not None:
            ahead = Sphere(unmasked(self.toward, "toward", float)[None]).directions[0]
            object.__setattr__(self, "toward", tuple(ahead.tolist()))

    def n_frames(self, dt: float) -> int:
        """Return the number of frames, dt [s] apart.

        Raises
        ------
        ValueError
            A time that is not positive and finite.
        """
        if not 0 < dt < math.inf:
            raise ValueError(f"dt is {dt}; expected a positive, finite time between frames [s]")
        return round(self.duration / dt)

    def movie(
        self,
        eye: Eye | tuple[int, ...],
        dt: float,
        *,
        spacing: float | None = None,
        start: int = 0,
        stop: int | None = None,
    ) -> np.ndarray:
        """Render frames from number ``start`` to before ``stop``; by default all.

        Parameters
        ----------
        eye : Eye or tuple of int
            A flat eye, in pixel spacings; or a spherical one, which is shown flat scenes if they are somewhere
            (:meth:`at`).
        dt : float
            Time between frames [s].
        spacing : float, optional
            Angle between neighbouring pixels of a flat eye [deg], such as ``detector.spacing``: flat eyes do not know
            their own, so it has to be given. A spherical eye has none.
        start, stop : int
            Frames.

        Returns
        -------
        ndarray, shape (n_frames, *eye.shape)

        Raises
        ------
        ValueError
            A time between frames or a spacing that is not positive, no spacing of a flat eye, a flat scene that is
            nowhere on a spherical one, a direction of what a flat eye sees, a movie of more than 2^27 numbers.
        """
        n_frames = self.n_frames(dt)
        eye, stop = as_eye(eye), n_frames if stop is None else stop
        if (stop - start) * math.prod(eye.shape) > MOST:
            raise ValueError(
                f"a movie of {stop - start:g} frames of {math.prod(eye.shape)} pixels; expected {MOST} numbers at "
                "most: fewer frames, or a stream"
            )
        t = np.arange(start, stop) * dt
        movie = np.full((len(t), *eye.shape), float(self.mean))
        eyes = {ndim: _InDegrees(eye, spacing, ndim, self.toward) for ndim in {part.scene.ndim for part in self.parts}}
        for part in self.parts:
            movie += part.frames(eyes[part.scene.ndim], t)
        return movie

    def stream(
        self, eye: Eye | tuple[int, ...], dt: float, *, spacing: float | None = None, block: int = 256
    ) -> Iterator[np.ndarray]:
        """Render blocks of at most ``block`` frames, one after the other, shape (n_frames, *eye.shape) each.

        Parameters and what is refused as of :meth:`movie`.

        Examples
        --------
        >>> from flymotion.stimuli import drifting_grating
        >>> [frames.shape for frames in drifting_grating(duration=3.0).stream((5,), dt=0.01, spacing=5.0, block=128)]
        [(128, 5), (128, 5), (44, 5)]
        """
        if block < 1:
            raise ValueError(f"block is {block}; expected 1 frame or more")
        n = self.n_frames(dt)
        for first in range(0, n, block):
            yield self.movie(eye, dt, spacing=spacing, start=first, stop=min(first + block, n))

    def about(self, mean: float) -> Stimulus:
        """Return the same stimulus about another mean luminance.

        Examples
        --------
        >>> from flymotion.stimuli import moving_bar
        >>> from flymotion.world.eyes import Line
        >>> luminance = moving_bar(contrast=-0.5).about(1.0).movie(Line(9), dt=0.1, spacing=5.0)
        >>> float(luminance.min().round(2)), float(luminance.max())
        (0.52, 1.0)
        """
        return replace(self, mean=mean)

    def at(self, direction: Any) -> Stimulus:
        """Return the same stimulus elsewhere, for spherical eyes: about a direction, such as that of a lens.

        Up and right of it are as :func:`~flymotion.world.lattices.as_seen` has them.

        Parameters
        ----------
        direction : array-like, shape (3,)
            (x forward, y left, z up), of any length but 0.

        Examples
        --------
        >>> from flymotion.world.eyes import Sphere
        >>> from flymotion.world.scenes import Grating
        >>> grating, left = Stimulus((Part(Grating(40.0, ndim=2)),), duration=1.0), [0.0, 1.0, 0.0]
        >>> ten_degrees_right = [np.sin(np.radians(10.0)), np.cos(np.radians(10.0)), 0.0]
        >>> grating.at(left).movie(Sphere([left, ten_degrees_right], sigma=0.0), dt=1.0).round(9) + 0.0
        array([[1., 0.]])
        """
        return replace(self, toward=direction)


class _InDegrees:
    """An eye whose positions and acceptance are in degrees, in a scene of two dimensions or all round."""

    def __init__(self, eye: Eye, spacing: float | None, ndim: int, toward: tuple[float, ...] | None) -> None:
        positions = eye.positions
        self.shape, self.sigma = eye.shape, eye.sigma
        if positions.shape[1] == 3:
            if ndim < 3 and toward is None:
                raise ValueError(
                    "a flat stimulus is nowhere on a spherical eye; expected one that is somewhere, "
                    "stimulus.at(direction), or, where a detector is tuned, a lens, at="
                )
            self.positions = positions if toward is None else positions @ _ahead_left_up(toward)
            if ndim < 3:
                self.positions = _map(self.positions)
            return
        if toward is not None:
            raise ValueError(
                f"a stimulus toward {toward} on a flat eye; expected a spherical eye, which has directions"
            )
        if spacing is None:
            raise ValueError(
                "the spacing is not given; expected the angle between neighbouring pixels of a flat eye [deg], such as "
                "that of the detector that looks, detector.spacing"
            )
        positive(spacing=spacing)
        self.sigma = eye.sigma * spacing
        flat = np.pad(positions * spacing, ((0, 0), (0, 2 - positions.shape[1])))
        self.positions = flat if ndim < 3 else on_the_globe(flat)

    @property
    def neighbours(self) -> Any:
        """Not needed by the renderer."""
        raise NotImplementedError


def _ahead_left_up(toward: tuple[float, ...]) -> np.ndarray:
    """Return what is ahead, left and up as seen along a direction, in columns, shape (3, 3)."""
    right, up = as_seen(toward)
    return np.stack([toward, -right, up], axis=1)


def _map(directions: np.ndarray) -> np.ndarray:
    """Return where directions are on the map about what is ahead, (x right, y down), shape (n, 2) [deg]."""
    ahead, left, up = directions.T
    across = np.hypot(left, up)
    degrees_each = np.degrees(np.arctan2(across, ahead)) / np.where(across > 0, across, 1.0)
    return -np.stack([left, up], axis=1) * degrees_each[:, None]
