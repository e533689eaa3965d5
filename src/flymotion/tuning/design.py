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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from flymotion.detectors import Detector
from flymotion.detectors.temporal import Delay, LowPass, Rectify
from flymotion.stimuli import Drift, Part, Stimulus
from flymotion.tuning.early import seen, stages_for
from flymotion.tuning.provenance import about, about_stimulus, brief
from flymotion.world.eyes import Eye, Grid, acceptance_sigma
from flymotion.world.scenes import Grating

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["UNITS", "check_parameters", "dt_for", "eye_for", "tune"]

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

MARGIN = 6
"""Positions to either side of those whose mean is taken, that early vision has something to pool over."""

LONGEST, FINEST = 1 / 200, 20
"""Longest time between frames of an experiment [s], and into how many it may be divided."""


def eye_for(detector: Detector, n_positions: int = 1) -> Grid:
    """Return the smallest eye on which a detector has a row of so many positions, with the optics of its source."""
    sigma = acceptance_sigma(detector.acceptance, detector.spacing)
    width, height = np.ptp(detector.displacements, axis=0).round().astype(int) + 1
    return Grid(int(height), int(width) + n_positions - 1, sigma)


def dt_for(detector: Detector) -> float:
    """Return a time between frames [s] at which a detector's filters are near those of continuous time.

    The longest that is 5 ms divided by a whole number, 20 at most, so that the intervals of the classic stimuli are
    whole frames; that is at most 1/32 of the shortest time constant of low-passes, and 1/64 of that of other filters,
    which are off by more; and of which pure delays are whole multiples, if there is one. A low-pass that is sampled
    lags half a frame less, so a correlator's mean is off by about dt / (2 tau).

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt, shared_non_delay
    >>> dt_for(hassenstein_reichardt()), dt_for(shared_non_delay())  # 150 ms, 20 ms
    (0.0025, 0.0003125)
    """
    steps = [step for chain in detector.arms.values() for step in chain]
    finest = [
        step.tau / (32 if isinstance(step, LowPass) else 64)
        for step in steps
        if not isinstance(step, (Delay, Rectify)) and hasattr(step, "tau")
    ]
    least = min(FINEST, math.ceil(LONGEST / min(finest, default=LONGEST) - 1e-9))
    delays = [step.tau for step in steps if isinstance(step, Delay)]
    whole = (n for n in range(max(1, least), FINEST + 1) if all(_is_whole(n * tau / LONGEST) for tau in delays))
    return LONGEST / next(whole, max(1, least))


def _is_whole(number: float) -> bool:
    return round(number) >= 1 and abs(number - round(number)) < 1e-6


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
    n_positions: int = 1,
    early_vision: Any = None,
    mean: float | None = None,
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
        What looks, ``detector.spacing`` degrees between pixels, and the mean over all its positions is taken. By
        default :func:`eye_for` the detector; with early vision six positions wider to either side, those being seen
        but not in the mean, so that what pools over pixels has a neighbourhood.
    direction : float
        The detector's preferred direction [deg].
    n_positions : int
        Positions in a row whose mean is taken, where no eye is given.
    early_vision : transformer, optional
        Made to work on frames, shape (n_frames, n_pixels), before the detector sees them, such as those of
        :mod:`flymotion.photoreceptors`, in a pipeline or not. One that is not fitted is copied and fitted on an even
        field of the mean luminance; one that learns from scenes, such as whitening, has to be fitted before.
    mean : float, optional
        Mean luminance that contrasts are added to: 1 for early vision that needs luminances. By default the
        stimulus's own, which is 0 as stimuli are made.
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
        below 0, or no repeats; early vision that changes the number of pixels, or was fitted on another; a stimulus
        over before the response has settled; stimuli of several lengths whose course of time is to be kept.

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
    >>> bool(tuning.response[1] < 1.1 * tuning.response[0])  # it saturates; alone it is 4 times larger
    True
    """
    check_parameters(stimulus, design)
    _check_sizes(design, dt, settle, repeats)
    repeated, settled = _repeated(stimulus, design, repeats), round(settle / dt)
    margin = 0 if early_vision is None or eye is not None else MARGIN
    eye = eye_for(detector, n_positions + 2 * margin) if eye is None else eye
    points = (dict(zip(design, values, strict=True)) for values in itertools.product(*design.values()))
    shows = ([_about(stimulus(**point, **again), mean) for again in repeated] for point in points)
    stages = None if early_vision is None else stages_for(early_vision, eye, 0.0 if mean is None else mean)
    means, courses = [], []
    for movies in _movies(shows, eye, detector.spacing, dt):
        if movies.shape[1] <= settled:
            raise ValueError(f"a stimulus lasts {movies.shape[1] * dt:g} s, and responses settle for {settle:g} s")
        if stages is not None:
            movies = seen(stages, movies)
        responses = detector(movies, dt, eye=eye, direction=direction)
        responses = responses[:, :, margin : responses.shape[2] - margin].mean(axis=2)
        means.append(responses[:, settled:].mean(axis=1))
        if keep_time:
            courses.append(responses)
    found = _labelled(detector, design, direction, len(repeated), dt, means, courses)
    return found.assign_attrs(
        about(detector)
        | about_stimulus(stimulus, {*design, *repeated[0]})
        | {"dt": dt, "settle": settle, "repeats": repeats, "detector_direction": float(direction), "eye": brief(eye)}
        | {"early_vision": "none" if stages is None else brief(stages)}
        | {"mean": "as the stimulus" if mean is None else float(mean)}
    )


def _about(stimulus: Stimulus, mean: float | None) -> Stimulus:
    return stimulus if mean is None else stimulus.about(mean)


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
