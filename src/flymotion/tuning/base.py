"""Run a detector over a design of stimuli; what comes back is labelled, and has units.

A design says which parameters of a stimulus take which values, ``{"direction": [0, 90], "contrast": [0.1, 0.5]}``;
every combination is shown. A stimulus that has a phase, or random numbers, is shown with several, and responses are
averaged: for a periodic or statistically uniform stimulus that is the response, per position, of a large field.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.detectors import Detector
from flymotion.eyes import Eye, Grid, acceptance_sigma
from flymotion.stimuli import Stimulus

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["UNITS", "eye_for", "tune"]

UNITS = {
    "contrast": "1",
    "correlation_interval": "s",
    "delay": "s",
    "direction": "deg",
    "duration": "s",
    "phase": "rad",
    "speed": "deg/s",
    "temporal_frequency": "Hz",
    "time": "s",
    "wavelength": "deg",
    "width": "deg",
}
"""Units of the parameters of stimuli."""

BATCH = 2**22
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
    settle: float = 0.5,
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
        A parameter that the stimulus does not have, or a stimulus over before the response has settled.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> from flymotion.stimuli import drifting_grating
    >>> tuning = tune(hassenstein_reichardt(), drifting_grating, {"direction": [0, 90, 180]}, dt=0.01)
    >>> (tuning.response / tuning.response[0]).round(6).values + 0.0
    array([ 1.,  0., -1.])
    """
    import xarray as xr

    names, repeated = list(design), _repeated(stimulus, design, repeats)
    _check(stimulus, names)
    eye = eye_for(detector) if eye is None else eye
    points = [dict(zip(names, values, strict=True)) for values in itertools.product(*design.values())]
    means, courses = [], []
    for movies in _movies([stimulus(**point, **again) for point in points for again in repeated], eye, detector, dt):
        n_frames = movies.shape[1]
        if n_frames * dt <= settle:
            raise ValueError(f"a stimulus lasts {n_frames * dt:g} s, and responses settle for {settle:g} s")
        if early_vision is not None:
            movies = early_vision.transform(movies.reshape(-1, math.prod(eye.shape))).reshape(movies.shape)
        responses = detector(movies, dt, eye=eye, direction=direction).mean(axis=2)
        means.append(responses[:, round(settle / dt) :].mean(axis=1))
        if keep_time:
            courses.append(responses)
    shape = tuple(len(values) for values in design.values())
    units = ["unit"] if detector.directions else []

    def variable(parts: list[np.ndarray], dims: list[str]) -> xr.Variable:
        values = np.concatenate(parts)
        values = values.reshape(len(points), len(repeated), *values.shape[1:]).mean(axis=1)
        return xr.Variable(names + dims, values.reshape(*shape, *values.shape[1:]), {"units": detector.unit or "1"})

    data = {"response": variable(means, units)}
    coordinates: dict[str, Any] = {n: (n, list(v), {"units": UNITS.get(n, "1")}) for n, v in design.items()}
    if units:
        coordinates["preferred"] = ("unit", list(detector.directions), {"units": "deg"})
    if keep_time:
        data["course"] = variable(courses, ["time", *units])
        coordinates["time"] = ("time", np.arange(courses[0].shape[1]) * dt, {"units": "s"})
    about = {
        "source": detector.source,
        "opponent": int(detector.opponent),
        "dt": dt,
        "settle": settle,
        "repeats": repeats,
    }
    return xr.Dataset(data, coordinates, about)


def _repeated(stimulus: Callable[..., Stimulus], design: Mapping[str, Any], repeats: int) -> list[dict[str, Any]]:
    free = set(inspect.signature(stimulus).parameters).difference(design)
    if "phase" in free:
        return [{"phase": 2 * math.pi * k / repeats} for k in range(repeats)]
    return [{"random_state": k} for k in range(repeats)] if "random_state" in free else [{}]


def _check(stimulus: Callable[..., Stimulus], names: Sequence[str]) -> None:
    known = inspect.signature(stimulus).parameters
    if unknown := sorted(set(names).difference(known)):
        raise ValueError(f"the stimulus has no parameter {', '.join(unknown)}; it has {', '.join(sorted(known))}")


def _movies(stimuli: Sequence[Stimulus], eye: Eye, detector: Detector, dt: float) -> Iterator[np.ndarray]:
    """Render stimuli of one length together, as many as a batch holds, in order; shape (n, n_frames, *eye.shape)."""
    for n_frames, alike in itertools.groupby(stimuli, key=lambda s: s.n_frames(dt)):
        size = max(1, BATCH // (n_frames * math.prod(eye.shape)))
        for some in _batched(alike, size):
            yield np.stack([s.movie(eye, dt, spacing=detector.spacing) for s in some])


def _batched(items: Iterator[Stimulus], size: int) -> Iterator[list[Stimulus]]:
    while batch := list(itertools.islice(items, size)):
        yield batch
