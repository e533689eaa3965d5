"""Run a detector over a design of stimuli; what comes back is labelled, and has units.

A design says which parameters of a stimulus take which values, ``{"direction": [0, 90], "contrast": [0.1, 0.5]}``;
every combination is shown. A stimulus that has a phase, or random numbers, is shown with several, and responses are
averaged: for a periodic or statistically uniform stimulus that is the response, per position, of a large field.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from flymotion.detectors import Detector
from flymotion.eyes import Eye, Grid, acceptance_sigma
from flymotion.scenes import Grating
from flymotion.stimuli import Drift, Part, Stimulus

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["UNITS", "check_parameters", "eye_for", "tune"]

UNITS = {
    "angle": "deg",
    "contrast": "1",
    "correlation_interval": "s",
    "delay": "s",
    "density": "1/deg^2",
    "diameter": "deg",
    "direction": "deg",
    "duration": "s",
    "extent": "deg",
    "heading": "deg",
    "interval": "s",
    "lifetime": "s",
    "on_time": "s",
    "onset": "s",
    "phase": "rad",
    "position": "deg",
    "separation": "deg",
    "speed": "deg/s",
    "speeds": "deg/s",
    "std": "deg/s",
    "tau": "s",
    "temporal_frequency": "Hz",
    "time": "s",
    "wavelength": "deg",
    "width": "deg",
}
"""Units of the parameters of stimuli."""

BATCH = 2**20
"""Numbers that the movies shown at once may hold."""


def eye_for(detector: Detector, n_positions: int = 1) -> Grid:
    """Return the smallest eye on which a detector has a row of so many positions, with the optics of its source."""
    sigma = acceptance_sigma(detector.acceptance, detector.spacing)
    width, height = np.ptp(detector.displacements, axis=0).round().astype(int) + 1
    return Grid(int(height), int(width) + n_positions - 1, sigma)


def tune(
    detector: Detector,
    stimulus: Callable[..., Stimulus],
    design: Mapping[str, Sequence[Any]],
    *,
    dt: float = 1e-3,
    settle: float = 1.0,
    repeats: int = 8,
    eye: Eye | None = None,
    direction: float = 0.0,
    early_vision: Any = None,
    keep_time: bool = False,
) -> xr.Dataset:
    """Measure a detector's responses to every combination of a design.

    Parameters
    ----------
    detector : Detector
        What responds.
    stimulus : callable
        Makes a :class:`~flymotion.stimuli.Stimulus` of keyword arguments; fix others with :func:`functools.partial`.
    design : mapping of str to sequence
        Names of the stimulus's arguments, and the values that each takes.
    dt : float
        Time between frames [s].
    settle : float
        Start of every stimulus that is left out of the mean [s].
    repeats : int
        Phases, evenly spaced, of a stimulus that has a ``phase``; or seeds of one that has a ``random_state``.
    eye : Eye, optional
        What looks, ``detector.spacing`` degrees between pixels; by default :func:`eye_for` the detector.
    direction : float
        The detector's preferred direction [deg].
    early_vision : transformer, optional
        Fitted; made to work on frames, shape (n_frames, n_pixels), before the detector sees them, such as those of
        :mod:`flymotion.photoreceptors`.
    keep_time : bool
        Whether to keep the course of time too.

    Returns
    -------
    xarray.Dataset
        ``response``, with a dimension for each name of the design and, for a detector of several units, ``unit``: the
        mean over time, positions and repeats; with ``keep_time``, where all stimuli last equally long, ``course`` with
        a dimension of ``time`` besides.

    Raises
    ------
    ValueError
        A parameter that the stimulus does not have, or that takes no values; no time between frames, a time to settle
        below 0, or no repeats; early vision that changes the number of pixels; a stimulus over before the response has
        settled; stimuli of several lengths whose course of time is to be kept.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> from flymotion.stimuli import drifting_grating
    >>> tuning = tune(hassenstein_reichardt(), drifting_grating, {"direction": [0, 90, 180]}, dt=0.01)
    >>> (tuning.response / tuning.response[0]).round(6).values + 0.0
    array([ 1.,  0., -1.])
    """
    check_parameters(stimulus, design)
    _check_sizes(design, dt, settle, repeats)
    repeated, settled = _repeated(stimulus, design, repeats), round(settle / dt)
    eye = eye_for(detector) if eye is None else eye
    points = (dict(zip(design, values, strict=True)) for values in itertools.product(*design.values()))
    shows = ([stimulus(**point, **again) for again in repeated] for point in points)
    means, courses = [], []
    for movies in _movies(shows, eye, detector.spacing, dt):
        if movies.shape[1] <= settled:
            raise ValueError(f"a stimulus lasts {movies.shape[1] * dt:g} s, and responses settle for {settle:g} s")
        if early_vision is not None:
            movies = _seen(early_vision, movies)
        responses = detector(movies, dt, eye=eye, direction=direction).mean(axis=2)
        means.append(responses[:, settled:].mean(axis=1))
        if keep_time:
            courses.append(responses)
    found = _labelled(detector, design, direction, len(repeated), dt, means, courses)
    return found.assign_attrs(
        source=detector.source, opponent=int(detector.opponent), dt=dt, settle=settle, repeats=repeats
    )


def _seen(early_vision: Any, movies: np.ndarray) -> np.ndarray:
    """Return what early vision makes of movies, shape (n, n_frames, *pixels), frame by frame."""
    frames = movies.reshape(movies.shape[0] * movies.shape[1], -1)
    seen = early_vision.transform(frames)
    if seen.shape != frames.shape:
        raise ValueError(
            f"early vision made {seen.shape[1]} pixels of {frames.shape[1]}; expected as many, for the detector's eye"
        )
    return seen.reshape(movies.shape)


def _check_sizes(design: Mapping[str, Sequence[Any]], dt: float, settle: float, repeats: int) -> None:
    if empty := [name for name, values in design.items() if len(values) == 0]:
        raise ValueError(f"the design has no values of {', '.join(empty)}; expected one or more")
    if not (0 < dt < math.inf and 0 <= settle < math.inf and repeats >= 1):
        raise ValueError(
            f"dt is {dt}, settle {settle} and repeats {repeats}; expected finite times [s], dt above 0 and settle not "
            "below, and 1 repeat or more"
        )


def _labelled(
    detector: Detector,
    design: Mapping[str, Sequence[Any]],
    direction: float,
    n_repeats: int,
    dt: float,
    means: list[np.ndarray],
    courses: list[np.ndarray],
) -> xr.Dataset:
    """Average repeats and label what is left; means of shape (n[, n_units]), courses (n, n_frames[, n_units])."""
    import xarray as xr

    shape, units = tuple(len(values) for values in design.values()), ["unit"] if detector.directions else []

    def variable(parts: list[np.ndarray], dims: list[str]) -> xr.Variable:
        values = np.concatenate(parts)
        values = values.reshape(*shape, n_repeats, *values.shape[1:]).mean(axis=len(shape))
        return xr.Variable([*design, *dims], values, {"units": detector.unit or "1"})

    data = {"response": variable(means, units)}
    coordinates: dict[str, Any] = {n: (n, list(v), {"units": UNITS.get(n, "1")}) for n, v in design.items()}
    if units:
        coordinates["preferred"] = ("unit", [(d + direction) % 360 for d in detector.directions], {"units": "deg"})
    if courses:
        lengths = sorted({course.shape[1] for course in courses})
        if len(lengths) > 1:
            raise ValueError(
                f"stimuli last from {lengths[0] * dt:g} to {lengths[-1] * dt:g} s; expected one length where the "
                "course of time is kept"
            )
        data["course"] = variable(courses, ["time", *units])
        coordinates["time"] = ("time", np.arange(lengths[0]) * dt, {"units": "s"})
    return xr.Dataset(data, coordinates)


def _repeated(stimulus: Callable[..., Stimulus], design: Mapping[str, Any], repeats: int) -> list[dict[str, Any]]:
    fixed = getattr(stimulus, "keywords", {})  # of functools.partial
    free = set(inspect.signature(stimulus).parameters).difference(design, fixed)
    if "phase" in free:
        return [{"phase": 2 * math.pi * k / repeats} for k in range(repeats)]
    return [{"random_state": k} for k in range(repeats)] if "random_state" in free else [{}]


def check_parameters(stimulus: Callable[..., Stimulus], names: Iterable[str]) -> None:
    """Check that a stimulus has parameters of these names.

    Raises
    ------
    ValueError
        If not; it says which there are.
    """
    known = inspect.signature(stimulus).parameters
    if unknown := sorted(set(names).difference(known)):
        raise ValueError(f"the stimulus has no parameter {', '.join(unknown)}; it has {', '.join(sorted(known))}")


def _movies(shows: Iterable[list[Stimulus]], eye: Eye, spacing: float, dt: float) -> Iterator[np.ndarray]:
    """Render what lasts equally long together, as much as a batch holds, in order; shape (n, n_frames, *eye.shape).

    Stimuli come as lists, one a point of the design, of those that differ in phase or seed only.
    """
    for (n_frames, n), alike in itertools.groupby(shows, key=lambda show: (show[0].n_frames(dt), len(show))):
        size = max(1, BATCH // max(1, n * n_frames * math.prod(eye.shape)))
        while some := list(itertools.islice(alike, size)):
            yield np.concatenate([_rendered(show, eye, spacing, dt) for show in some])


def _rendered(show: list[Stimulus], eye: Eye, spacing: float, dt: float) -> np.ndarray:
    r"""Render stimuli of one length, shape (n, n_frames, *eye.shape); what differs in the phase of gratings only, fast.

    A grating of phase p is :math:`\cos(p)` times that of phase 0 plus :math:`\sin(p)` times that of phase
    :math:`\pi / 2`, so two renderings do for all.
    """
    first, phases = show[0], _phases(show)
    if phases is None:
        return np.stack([stimulus.movie(eye, dt, spacing=spacing) for stimulus in show])
    movies = np.full((len(show), first.n_frames(dt), *eye.shape), first.mean, dtype=float)
    for part, angles in zip(first.parts, phases.T, strict=True):
        both = [Stimulus((_at_phase(part, angle),), first.duration) for angle in (0.0, math.pi / 2)]
        basis = np.stack([stimulus.movie(eye, dt, spacing=spacing) for stimulus in both])
        movies += np.tensordot(np.stack([np.cos(angles), np.sin(angles)], axis=1), basis, 1)
    return movies


def _phases(show: list[Stimulus]) -> np.ndarray | None:
    """Return the phases of stimuli that differ in nothing else, shape (n, n_parts); None of what is not so simple."""
    if len(show) < 3 or not all(_is_plain(part) for stimulus in show for part in stimulus.parts):
        return None
    still = [[_at_phase(part, 0.0) for part in stimulus.parts] for stimulus in show]
    what = [(stimulus.mean, [(p.scene, p.path) for p in parts]) for stimulus, parts in zip(show, still, strict=True)]
    if not what[0][1] or any(other != what[0] for other in what):
        return None
    return np.array([[cast(Grating, part.scene).phase for part in stimulus.parts] for stimulus in show])


def _is_plain(part: Part) -> bool:
    """Whether a part is a grating of mean 0 that drifts or stands."""
    moves = part.path is None or isinstance(part.path, Drift)
    return moves and part.gain is None and isinstance(part.scene, Grating) and part.scene.mean == 0


def _at_phase(part: Part, phase: float) -> Part:
    return replace(part, scene=replace(cast(Grating, part.scene), phase=phase))
