"""Run a detector over a design of stimuli; what comes back is labelled, and has units.

A design says which parameters of a stimulus take which values, ``{"direction": [0, 90], "contrast": [0.1, 0.5]}``;
every combination is shown. A stimulus that has a phase, or random numbers, is shown with several, and responses are
averaged: for a periodic or statistically uniform stimulus that is the response, per position, of a large field.

Results say in their attributes what they are of: ``detector`` and ``detector_description``, ``stimulus`` and, as
``stimulus_...``, all its arguments that are not in the design, defaults too, and the version of this package.
"""

from __future__ import annotations

import inspect
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.detectors import Detector, FunctionDetector, as_detector
from flymotion.frames import not_masked
from flymotion.stimuli import Stimulus
from flymotion.tuning.early import TRIED, check_stages, seen, stages_for
from flymotion.tuning.phases import rendered
from flymotion.tuning.provenance import about, about_stimulus, brief
from flymotion.tuning.settling import LEAST, settling_of, settling_of_stages
from flymotion.tuning.setup import Setup
from flymotion.tuning.streaming import check_answers, check_finite
from flymotion.world.eyes import Eye

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["UNITS", "check_parameters", "measured", "tune", "warn_of_short_settling"]

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


def tune(
    detector: Any, stimulus: Callable[..., Stimulus], design: Mapping[str, Sequence[Any]], **setup: Any
) -> xr.Dataset:
    """Measure a detector's responses to every combination of a design.

    Parameters
    ----------
    detector : Detector, or function
        What responds; a function ``movie, dt -> responses`` as of :class:`~flymotion.detectors.FunctionDetector`.
    stimulus : callable
        Makes a :class:`~flymotion.stimuli.Stimulus` of keyword arguments; fix others with :func:`functools.partial`.
    design : mapping of str to sequence
        Names of the stimulus's arguments, and the values that each takes.
    **setup : Any
        How it is measured: ``dt``, ``settle``, ``repeats``, ``eye``, ``at``, ``preferred``, ``n_positions``,
        ``early_vision``, ``mean`` and ``keep_time`` of :class:`Setup`.

    Returns
    -------
    xarray.Dataset
        ``response``, with a dimension for each name of the design and, for a detector of several units, ``unit``: the
        mean over time, positions and repeats; with ``keep_time``, where all stimuli last equally long, ``course`` with
        a dimension of ``time`` besides. Among its attributes ``settle``, what was left out, and ``settling``, what the
        filters needed; 0 where the stimulus begins from rest [s].

    Raises
    ------
    ValueError
        A parameter that the stimulus does not have, or that takes no values; no time between frames, a time to settle
        below 0, or no repeats; early vision that changes the number of pixels, was fitted on another, remembers
        the movie before or looks ahead; a detector that answers a movie otherwise alone or in pieces, or with no
        finite numbers; a stimulus over before the response has settled, or filters that need 2^20 frames for that;
        stimuli of several lengths whose course of time is to be kept; a spherical eye without a lattice, or a lens at
        which not all taps are inside it.

    Warns
    -----
    UserWarning
        A time to settle that is shorter than the filters need.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> from flymotion.stimuli import drifting_grating
    >>> tuning = tune(hassenstein_reichardt(), drifting_grating, {"direction": [0, 90, 180]}, dt=0.01)
    >>> (tuning.response / tuning.response[0]).round(6).values + 0.0
    array([ 1.,  0., -1.])

    Behind photoreceptors that see luminance, and a normalisation that divides by the contrast of the frame:

    >>> from sklearn.pipeline import make_pipeline
    >>> from flymotion.photoreceptors import DivisiveNormalization, WeberContrast
    >>> stages = make_pipeline(WeberContrast(), DivisiveNormalization())
    >>> grating, contrasts = drifting_grating, {"contrast": [0.5, 1.0]}
    >>> tuning = tune(hassenstein_reichardt(), grating, contrasts, dt=0.01, mean=1.0, early_vision=stages)
    >>> round(float(tuning.response[1] / tuning.response[0]), 2)  # it saturates; alone it is 4 times larger
    1.08
    """
    how = Setup(**setup)
    found = measured(detector, stimulus, design, how, _usual_duration(stimulus, design))
    warn_of_short_settling(found, how)
    return found


def measured(
    detector: Any,
    stimulus: Callable[..., Stimulus],
    design: Mapping[str, Sequence[Any]],
    how: Setup,
    lasting: float | None,
) -> xr.Dataset:
    """Do what :func:`tune` does, without a warning; ``lasting`` is a duration that may become longer [s]."""
    detector = as_detector(detector)
    check_parameters(stimulus, design)
    _check_values(design)
    repeated, eye = _repeated(stimulus, design, how.repeats), how.eye_of(detector)
    stages = None if how.early_vision is None else stages_for(how.early_vision, eye, how.mean or 0.0)
    first = {name: values[0] for name, values in design.items()} | repeated[0]
    if stages is not None:
        begins = how.shown(stimulus(**first)).movie(eye, how.dt, spacing=detector.spacing, stop=TRIED)
        check_stages(stages, begins)
    rests = _rests(stimulus, first, how, eye, detector.spacing)
    needed = 0.0 if rests else _settling(detector, stages, how, eye)
    if how.settle is None:
        how = replace(how, settle=max(LEAST, needed))
        lasting = None if lasting is None or needed <= LEAST else lasting + needed - LEAST
        stimulus = stimulus if lasting is None else partial(stimulus, duration=lasting)
    points = (dict(zip(design, values, strict=True)) for values in itertools.product(*design.values()))
    shows = ([how.shown(stimulus(**point, **again)) for again in repeated] for point in points)
    means: list[np.ndarray] = []
    courses: list[np.ndarray] = []
    for movies in rendered(shows, eye, detector.spacing, how.dt):
        course = _course(detector, movies, eye, stages, how, check=not means)
        means.append(course[:, how.n_settled :].mean(axis=1))
        if how.keep_time:
            courses.append(course)
    found = _labelled(detector, design, how, means, courses)
    return found.assign_attrs(
        about(detector)
        | about_stimulus(stimulus, {*design, *repeated[0]})
        | how.attributes(detector)
        | {"settling": needed, "early_vision": "none" if stages is None else brief(stages)}
    )


def _check_values(design: Mapping[str, Sequence[Any]]) -> None:
    for name, values in design.items():
        not_masked(values, f"the design's {name}")
    if empty := [name for name, values in design.items() if len(values) == 0]:
        raise ValueError(f"the design has no values of {', '.join(empty)}; expected one or more")


def warn_of_short_settling(found: xr.Dataset, how: Setup) -> None:
    """Warn where a time to settle was given that is shorter than the filters of what was measured need."""
    needed = found.attrs["settling"]
    if how.settle is not None and how.settle < needed - how.dt / 2:
        warnings.warn(
            f"settle is {how.settle:g} s, and the filters of {found.attrs['detector']} settle within {needed:g} s; "
            "expected as long, or None, for means without what was before the stimulus",
            stacklevel=3,
        )


def _usual_duration(stimulus: Callable[..., Stimulus], design: Mapping[str, Any]) -> float | None:
    """Return how long a stimulus lasts by default; None where that is fixed, or is varied, or nowhere said."""
    fixed = {*getattr(stimulus, "keywords", {}), *design}
    parameter = inspect.signature(stimulus).parameters.get("duration")
    usual = None if parameter is None or "duration" in fixed else parameter.default
    return float(usual) if isinstance(usual, (int, float)) else None


def _rests(stimulus: Callable[..., Stimulus], first: Mapping[str, Any], how: Setup, eye: Eye, spacing: float) -> bool:
    """Return whether a stimulus happens once, and stands still in its first two frames and until ``settle``."""
    if {"phase", "random_state"} & set(inspect.signature(stimulus).parameters):
        return False
    begins = how.shown(stimulus(**first)).movie(eye, how.dt, spacing=spacing, stop=max(2, how.n_settled))
    return bool((begins == begins[0]).all())


def _settling(detector: Detector | FunctionDetector, stages: Any, how: Setup, eye: Eye) -> float:
    """Return how long it takes for responses to settle [s]; infinitely, where a time was given, if that is too long."""
    try:
        return settling_of(detector, how.dt, eye) + settling_of_stages(stages, how.dt, eye, how.mean or 0.0)
    except ValueError:
        if how.settle is None:
            raise
        return math.inf


def _course(
    detector: Detector | FunctionDetector, movies: np.ndarray, eye: Eye, stages: Any, how: Setup, *, check: bool
) -> np.ndarray:
    """Return responses to movies, averaged over positions, shape (n, n_frames[, n_units])."""
    n_frames = movies.shape[1]
    if n_frames <= how.n_settled:
        raise ValueError(
            f"a stimulus lasts {n_frames * how.dt:g} s, and responses settle for {how.settle:g} s; expected a longer "
            "duration, or another time to settle"
        )
    movies = movies if stages is None else seen(stages, movies)
    responses = detector(movies, how.dt, eye=eye, direction=how.preferred)
    course = responses[:, :, how.averaged(detector, responses.shape[2])].mean(axis=2)
    check_finite(course[:, how.n_settled :], detector.name or "the detector", how.n_settled)
    if check:
        check_answers(detector, movies[0], responses[0], how.dt, eye, how.preferred)
    return course


def _labelled(
    detector: Detector | FunctionDetector,
    design: Mapping[str, Sequence[Any]],
    how: Setup,
    means: list[np.ndarray],
    courses: list[np.ndarray],
) -> xr.Dataset:
    """Average repeats and label what is left; means of shape (n[, n_units]), courses (n, n_frames[, n_units])."""
    import xarray as xr

    shape, units = tuple(len(values) for values in design.values()), ["unit"] if detector.directions else []

    def variable(parts: list[np.ndarray], dims: list[str]) -> xr.Variable:
        values = np.concatenate(parts)
        values = values.reshape(*shape, -1, *values.shape[1:]).mean(axis=len(shape))
        return xr.Variable([*design, *dims], values, {"units": detector.unit or "1"})

    data = {"response": variable(means, units)}
    coordinates: dict[str, Any] = {n: (n, list(v), {"units": UNITS.get(n, "1")}) for n, v in design.items()}
    if units:
        preferred = [(d + how.preferred) % 360 for d in detector.directions]
        coordinates["preferred"] = ("unit", preferred, {"units": "deg"})
    if courses:
        lengths = sorted({course.shape[1] for course in courses})
        if len(lengths) > 1:
            raise ValueError(
                f"stimuli last from {lengths[0] * how.dt:g} to {lengths[-1] * how.dt:g} s; expected one length where "
                "the course of time is kept"
            )
        data["course"] = variable(courses, ["time", *units])
        coordinates["time"] = ("time", np.arange(lengths[0]) * how.dt, {"units": "s"})
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
