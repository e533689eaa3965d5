"""The classic experiments by name: which stimulus, which of its parameters take which values, what is averaged.

Responses to what goes on evenly, gratings and random patterns, are means over time once filters have settled, over
phases or seeds. What happens once, an edge that passes or a bar that appears, is summed up by two numbers: ``response``
is the mean over time from just before it happens to the end, which for any detector is in proportion to the total
response, and ``peak`` is the response of the largest size, with its sign. What a detector answers at rest is not
subtracted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.detectors import Detector, FunctionDetector, as_detector
from flymotion.frames import not_masked
from flymotion.stimuli import (
    Stimulus,
    apparent_motion,
    drifting_grating,
    flashed_bar,
    glider,
    moving_edge,
    reverse_phi,
)
from flymotion.stimuli.arguments import takes
from flymotion.stimuli.gratings import Wave
from flymotion.tuning.design import check_parameters, measured, warn_of_short_settling
from flymotion.tuning.measures import settled
from flymotion.tuning.setup import Setup, dt_for, pitch

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["EXPERIMENTS", "Experiment", "best_wavelength", "experiment", "grating_at_speed", "shown_at"]


@dataclass(frozen=True)
class Experiment:
    """A stimulus, and the design in which it is shown.

    Parameters
    ----------
    stimulus : callable
        Makes a stimulus of keyword arguments.
    design : mapping of str to sequence
        Arguments that take several values.
    fixed : mapping of str to Any
        Other arguments that are not as by default.
    in_spacings : mapping of str to float
        Lengths and angles that go by the detector: in units of the angle between neighbouring positions, which is its
        spacing, or on a hexagon that of columns (:func:`flymotion.tuning.setup.pitch`).
    both_ways : bool
        Whether all is shown moving in the preferred and in the null direction; ``motion`` is then a dimension.
    transient : bool
        Whether it happens once: keeps the course of time, and its peak.
    setup : mapping of str to Any
        What of :class:`~flymotion.tuning.Setup` is not as by default; the time between frames is
        :func:`~flymotion.tuning.dt_for` the detector.

    Examples
    --------
    >>> shown = EXPERIMENTS["apparent-motion"]
    >>> shown.stimulus.__name__, shown.design["delay"], shown.in_spacings  # seconds; bars one spacing wide, and apart
    ('apparent_motion', (0.025, 0.05, 0.1, 0.2, 0.4, 0.8), {'separation': 1, 'width': 1})
    """

    stimulus: Callable[..., Stimulus]
    design: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    in_spacings: Mapping[str, float] = field(default_factory=dict)
    both_ways: bool = True
    transient: bool = False
    setup: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = in_brief


@takes(Wave, without=("temporal_frequency",))
def grating_at_speed(wave: Wave, *, speed: float = 30.0) -> Stimulus:
    """Return :func:`~flymotion.stimuli.drifting_grating` by its speed [deg/s]."""
    return drifting_grating(**asdict(wave) | {"temporal_frequency": speed / wave.wavelength})


def _geometric(low: float, high: float, n: int) -> tuple[float, ...]:
    return tuple(low * (high / low) ** (k / (n - 1)) for k in range(n))


EXPERIMENTS: dict[str, Experiment] = {
    "local": Experiment(
        drifting_grating,
        fixed={"duration": 3.0},
        in_spacings={"wavelength": 6},
        setup={"repeats": 1, "keep_time": True},
    ),
    "summed": Experiment(
        drifting_grating,
        fixed={"duration": 3.0},
        in_spacings={"wavelength": 6},
        setup={"n_positions": 6, "repeats": 1, "keep_time": True},
    ),
    "direction": Experiment(drifting_grating, {"direction": tuple(15.0 * k for k in range(24))}, both_ways=False),
    "frequency": Experiment(
        drifting_grating,
        {"temporal_frequency": _geometric(0.25, 16, 13), "wavelength": _geometric(8, 128, 9)},
    ),
    "velocity": Experiment(grating_at_speed, {"speed": _geometric(5, 320, 13), "wavelength": (20.0, 40.0, 80.0)}),
    "contrast": Experiment(drifting_grating, {"contrast": _geometric(1 / 16, 1, 5)}),
    "duration": Experiment(
        flashed_bar,
        {"on_time": (0.02, 0.04, 0.08, 0.16, 0.32, 0.64), "position": (-10.0, -5.0, 0.0, 5.0, 10.0)},
        {"onset": 0.2, "duration": 1.5},
        {"width": 1},
        both_ways=False,
        transient=True,
        setup={"settle": 0.2},
    ),
    "apparent-motion": Experiment(
        apparent_motion,
        {"delay": (0.025, 0.05, 0.1, 0.2, 0.4, 0.8), "first": (0.5, -0.5), "second": (0.5, -0.5)},
        {"onset": 0.2, "duration": 2.0},
        {"separation": 1, "width": 1},
        transient=True,
        setup={"n_positions": 8, "settle": 0.2},
    ),
    "reverse-phi": Experiment(reverse_phi, {"reverse": (False, True)}, {"interval": 0.125, "duration": 3.0}),
    "gliders": Experiment(
        glider,
        {"kind": ("two-point", "converging", "diverging"), "parity": (1, -1)},
        {"duration": 4.0},
        {"width": 1, "extent": 20},
        setup={"n_positions": 8},
    ),
    "edges": Experiment(moving_edge, {"contrast": (0.5, -0.5)}, transient=True, setup={"settle": 0.0}),
}
"""The classic experiments.

================  ======================================================================================
local             course of one position's response to a drifting grating
summed            course of the mean over a row of positions that spans one wavelength
direction         gratings that drift in 24 directions
frequency         gratings: temporal frequency by wavelength
velocity          gratings: speed, for three wavelengths
contrast          gratings: contrast from 1/16 to 1
duration          a bar flashed at places along the preferred direction, for times from 20 to 640 ms
apparent-motion   two bars one after the other: delay, in all four combinations of polarity
reverse-phi       a grating that jumps by eighths of its wavelength: phi, and inverted at each jump
gliders           random bars of which two or three correlate: kind by parity
edges             an ON edge and an OFF edge that move
================  ======================================================================================

All but ``direction`` and ``duration`` are shown in the preferred and in the null direction.

Gratings are of 30 degrees and 1 Hz, the same for all detectors, unless these are what is varied: as physiologists use
one stimulus for all cells. With ``at_best=True`` :func:`experiment` takes the wavelength that the detector answers
most.

Inverting a sine moves it by half a wavelength, so with jumps of a quarter reverse phi would be phi in the opposite
direction, frame by frame, and the opposite for any detector whatever. With jumps of an eighth it is one of three
eighths in the opposite direction: how much of phi is left depends on the detector's filters in time.

The time between frames goes by the detector's filters (:func:`~flymotion.tuning.dt_for`). What is left of its effect on
the mean responses to gratings, against frames 1/12.8 ms apart and relative to the largest, is below 2 % for every
detector of :data:`~flymotion.detectors.DETECTORS`.
"""


SETUP = {option.name for option in fields(Setup)} - {"preferred"}
"""What :func:`experiment` takes of a :class:`~flymotion.tuning.Setup` among the changes."""


def experiment(
    name: str, detector: Any, *, preferred: float = 0.0, at_best: bool = False, **changes: Any
) -> xr.Dataset:
    """Run a classic experiment on a detector.

    Parameters
    ----------
    name : str
        One of :data:`EXPERIMENTS`.
    detector : Detector, or function
        What responds; a function ``movie, dt -> responses`` as of :class:`~flymotion.detectors.FunctionDetector`.
    preferred : float
        The direction that the detector is turned to [deg].
    at_best : bool
        Whether gratings are of the wavelength that the detector answers most, of those of the experiment "frequency",
        which is run for it; no matter where the wavelength is varied, or given.
    **changes
        What is to be otherwise: of :class:`~flymotion.tuning.Setup`, and arguments of the stimulus, a sequence as a
        dimension of the design, a single value for all.

    Returns
    -------
    xarray.Dataset
        As of :func:`~flymotion.tuning.tune`. Where all is shown both ways there is a dimension ``motion``, "preferred"
        and "null"; each unit of a detector of several has its own, which are in ``direction``. Of what happens once
        there are the ``course`` and its ``peak``.

    Raises
    ------
    ValueError
        An unknown experiment, an argument that its stimulus does not have, or what :func:`~flymotion.tuning.tune`
        refuses.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> tuning = experiment("contrast", hassenstein_reichardt(), contrast=[0.25, 0.5], dt=0.01)
    >>> tuning.response.dims, (tuning.response / tuning.response[0, 0]).round(6).values.tolist()
    (('contrast', 'motion'), [[1.0, -1.0], [4.0, -4.0]])
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {name!r}; expected one of {', '.join(EXPERIMENTS)}")
    e, detector = EXPERIMENTS[name], as_detector(detector)
    if at_best and "wavelength" not in changes:
        kept = {k: v for k, v in changes.items() if k in {"dt", "eye", "at", "early_vision", "mean"}}
        frequency = experiment("frequency", detector, preferred=preferred, repeats=4, **kept)
        changes = shown_at(name, best_wavelength(frequency), detector) | changes
    own = {k: changes.pop(k) for k in SETUP & set(changes)}
    setup = {"dt": dt_for(detector), **e.setup, **own} | ({"keep_time": True} if e.transient else {})
    check_parameters(e.stimulus, changes)
    design, fixed = _split(e, detector, changes)
    ways = _ways(detector, preferred)
    turned = e.both_ways and "direction" not in changes
    if turned:
        design["direction"] = ways.ravel().tolist()
    elif "direction" not in design:
        fixed.setdefault("direction", preferred)
    how = Setup(preferred=preferred, **setup)
    tuned = measured(detector, partial(e.stimulus, **fixed), design, how, _lasting(e, changes))
    if "settle" in own:
        warn_of_short_settling(tuned, how)
    if turned:
        tuned = _both_ways(tuned, list(design), len(ways[0]))
    if e.transient:
        tuned["peak"] = _largest(settled(tuned.course, tuned))
    return tuned.assign_attrs(
        experiment=name, summary="mean from onset" if e.transient else "mean after settling", at_best=int(at_best)
    )


def best_wavelength(frequency: xr.Dataset) -> float:
    """Return the wavelength [deg] that a detector answers most, of those of the experiment "frequency".

    Of motion in the preferred direction, at the frequency that suits it best; of several units, which see one stimulus,
    that of the largest mean.
    """
    response = frequency.response.sel(motion="preferred")
    over_units = response.mean("unit") if "unit" in response.dims else response
    return float(over_units.max("temporal_frequency").idxmax("wavelength"))


def shown_at(name: str, wavelength: float, detector: Detector | FunctionDetector) -> dict[str, Any]:
    """Return the changes that show an experiment's gratings at a wavelength; none where there are none to change.

    Where the experiment's wavelength is a whole number of positions it stays one, of 3 or more, and the row spans it.
    """
    e = EXPERIMENTS[name]
    if "wavelength" in e.design or "wavelength" not in inspect.signature(e.stimulus).parameters:
        return {}
    if "wavelength" not in e.in_spacings:
        return {"wavelength": wavelength}
    n = max(3, round(wavelength / pitch(detector)))
    return {"wavelength": n * pitch(detector)} | ({"n_positions": n} if "n_positions" in e.setup else {})


def _split(
    e: Experiment, detector: Detector | FunctionDetector, changes: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the stimulus's arguments that take several values, and those that take one."""
    spaced = {k: v * pitch(detector) for k, v in e.in_spacings.items()}
    design: dict[str, Any] = dict(e.design)
    fixed: dict[str, Any] = {**e.fixed, **spaced}
    for k, v in changes.items():
        several = not isinstance(v, str) and np.ndim(v) > 0
        not_masked(v, f"the design's {k}")
        design.pop(k, None) if not several else fixed.pop(k, None)
        (design if several else fixed)[k] = list(v) if several else v
    return design, fixed


def _lasting(e: Experiment, changes: Mapping[str, Any]) -> float | None:
    """Return how long an experiment's stimuli last where they may last longer; None where they may not [s]."""
    if e.transient or "duration" in changes:
        return None
    return float(e.fixed.get("duration", inspect.signature(e.stimulus).parameters["duration"].default))


def _ways(detector: Detector | FunctionDetector, preferred: float) -> np.ndarray:
    """Return preferred and null directions, one a unit, shape (2, n_units) [deg]."""
    own = np.array(detector.directions or (0.0,)) + preferred
    return np.stack([own, own + 180]) % 360


def _both_ways(tuned: xr.Dataset, names: list[str], n_units: int) -> xr.Dataset:
    """Take the directions apart into every unit's preferred and null one."""
    import xarray as xr

    which = np.arange(2 * n_units).reshape(2, n_units)
    if "unit" in tuned.dims:
        units = xr.DataArray(np.arange(n_units), dims="unit")
        tuned = tuned.isel(direction=xr.DataArray(which, dims=("motion", "unit")), unit=units)
    else:
        tuned = tuned.isel(direction=xr.DataArray(which[:, 0], dims="motion"))
    order = [*(n for n in names if n != "direction"), "motion", "time", "unit"]
    return tuned.transpose(*order, missing_dims="ignore").assign_coords(motion=["preferred", "null"])


def _largest(course: xr.DataArray) -> xr.DataArray:
    """Return the response of the largest size in a course of time, with its sign."""
    high, low = course.max("time", keep_attrs=True), course.min("time")
    return high.where(high >= -low, low)
