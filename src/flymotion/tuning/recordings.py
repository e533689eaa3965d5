"""Recordings of cells, and how near a detector's tuning comes to them.

A recording is an xarray Dataset whose ``response`` has the dimensions ``cell`` and that of the tuning curve, e.g.
``direction`` [deg], 0 = right, 90 = up.
"""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.signal import lfilter

from flymotion.detectors.temporal import Chain, LowPass, Step, filtered, start
from flymotion.frames import unmasked
from flymotion.tuning.circle import round_the_circle
from flymotion.tuning.curve_tables import in_units, parsed
from flymotion.tuning.measures import of_directions, preferred_direction, settled

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["compare", "gcamp", "published", "read_recording"]


def published() -> xr.Dataset:
    """Return the calcium responses of T4a-d and T5a-d to gratings in 12 directions (Maisak et al. 2013, Fig. 3).

    As digitised by the authors of flyvis (MIT licence). Cells of type a prefer motion to the
    left, b to the right, c upwards, d downwards.

    Examples
    --------
    >>> recording = published()
    >>> recording.cell.values.tolist()
    ['T4a', 'T4b', 'T4c', 'T4d', 'T5a', 'T5b', 'T5c', 'T5d']
    >>> float(recording.response.sel(cell="T4a", direction=180))
    1.0
    """
    name = "recordings_maisak2013.csv"
    text = resources.files("flymotion.tuning").joinpath(name).read_text(encoding="utf-8")
    recording = parsed(text, name)
    named = {"a": 180.0, "b": 0.0, "c": 90.0, "d": 270.0}
    preferred = [named[cell[-1]] for cell in recording.cell.values]
    source = "Maisak et al. 2013, Fig. 3, as digitised by the authors of flyvis (MIT licence)"
    return recording.assign_coords(preferred=("cell", preferred, {"units": "deg"})).assign_attrs(source=source)


def read_recording(source: Any) -> xr.Dataset:
    """Read a recording from a CSV file; an xarray object is passed on.

    The first row has names. The first column is the axis, named like the parameter of a stimulus, with its unit if it
    has one: ``direction [deg]``, ``Direction (deg)`` or ``direction_deg``; every other column is a cell. Empty lines,
    and those that begin with ``#``, are left out. Units are those of :data:`~flymotion.tuning.UNITS`, e.g. s and Hz;
    directions may be in rad, and are in deg then.

    Parameters
    ----------
    source : path, Dataset or DataArray
        Where the recording is. Of a DataArray the dimension that is not ``cell`` is the axis; ``units`` among the
        attributes of its coordinate, if they are there, are as above.

    Returns
    -------
    xarray.Dataset
        ``response``, dimensions ``cell`` and the axis.

    Raises
    ------
    TypeError
        What is neither a path nor labelled.
    OSError
        A file that is not there, or cannot be read; names it.
    ValueError
        A file that is no such table; names the file and the line. Labelled responses without an axis or its coordinate,
        or of which some are no finite numbers; names the cell and the place. A unit that is not the axis's.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cells.csv"
    >>> table = [[0, 1.0, 0.1], [90, 0.2, 0.9]]
    >>> np.savetxt(path, table, delimiter=",", header="direction [deg], cell 1, cell 2", comments="")
    >>> read_recording(path).response.sel(direction=90).values
    array([0.2, 0.9])
    """
    if hasattr(source, "data_vars"):
        return _checked(source)
    if hasattr(source, "dims"):
        return _checked(source.to_dataset(name="response"))
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            f"the recording is a {type(source).__name__}; expected the path of a CSV file, or an xarray Dataset or "
            "DataArray over cell and, for instance, direction"
        )
    path = Path(source)
    return parsed(_text(path), str(path)).assign_attrs(source=path.name)


def _text(path: Path) -> str:
    if path.is_dir():
        raise IsADirectoryError(f"the recording {path} is a folder; expected a CSV file")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8; expected a table of comma-separated values") from None
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no recording {path}; expected a CSV file") from None
    except OSError as error:
        raise type(error)(f"the recording {path} cannot be read: {error.strerror}") from None


def _checked(recording: xr.Dataset) -> xr.Dataset:
    if "response" not in recording:
        raise ValueError(f"the recording has {', '.join(map(str, recording)) or 'no variables'}; expected response")
    response = recording["response"]
    axes = [dim for dim in response.dims if dim != "cell"]
    if not any(dim in recording.coords for dim in axes):
        raise ValueError(
            f"the recording has dimensions {', '.join(map(str, response.dims)) or 'none'}, and coordinates of "
            f"{', '.join(map(str, recording.coords)) or 'none'}; expected cell and an axis with its coordinate"
        )
    _check_finite(response)
    for axis in (dim for dim in axes if dim in recording.coords):
        coordinate = recording[axis]
        unit, scale = in_units(str(axis), str(coordinate.attrs.get("units", "")), "the recording")
        if scale != 1:
            recording = recording.assign_coords({axis: (axis, coordinate.values * scale, {"units": unit})})
    return recording if "cell" in response.dims else recording.expand_dims(cell=["recording"])


def _check_finite(response: xr.DataArray) -> None:
    if response.dtype.kind not in "biuf":
        raise ValueError(f"the recording's responses are of type {response.dtype}; expected numbers")
    for place in np.argwhere(~np.isfinite(response.values))[:1]:
        at = response[tuple(place)]
        where = ", ".join(f"{dim} {at.coords[dim].item()}" for dim in response.dims if dim in at.coords)
        raise ValueError(f"the recording is {float(at)} at {where}; expected finite numbers")


def gcamp(rise: float = 0.06, decay: float = 0.4) -> Chain:
    r"""Return the kernel of a calcium indicator, :math:`h(t) \propto e^{-t/decay} - e^{-t/rise}`.

    Two low-passes, one after the other. The defaults are typical values for GCaMP6f, not a fit to any cell: it rises
    within 50 to 75 ms (Chen et al. 2013), and falls in some tenths of a second, slower in some cells than in others.

    Parameters
    ----------
    rise, decay : float
        Time constants [s].

    Examples
    --------
    >>> from flymotion.detectors.temporal import transfer
    >>> [round(float(abs(transfer(gcamp(), frequency, dt=0.001))), 2) for frequency in (0.1, 1.0, 10.0)]
    [0.97, 0.35, 0.01]
    """
    return LowPass(rise), LowPass(decay)


def compare(tuning: xr.Dataset, recording: Any, *, indicator_kernel: Any = None) -> xr.Dataset:
    r"""Put a detector's direction tuning beside that of recorded cells.

    The detector's response to a direction is its ``response``; or, where the tuning has a ``course`` of time, the
    largest value of that after settling, seen through the indicator, as peaks of calcium signals are taken. A cell's
    signal is not negative, so all curves are half-wave rectified, opponent detectors' as the cosine's; of an
    instantaneous rectification, before any mean, tune :func:`~flymotion.detectors.rectified`. For every cell the
    detector's curve is turned, so that its preferred direction (vector sum) is the cell's, and read at the
    cell's directions, linear between those measured. Of a detector with several units the unit is taken whose preferred
    direction is nearest. Curves are then divided by their largest value.

    Parameters
    ----------
    tuning : Dataset
        Of the experiment "direction", :func:`~flymotion.tuning.experiment`.
    recording : path, Dataset or DataArray
        As of :func:`read_recording`, over ``direction``.
    indicator_kernel : tuple of Step, or array, shape (n,), optional
        What the indicator does to the course: a chain such as :func:`gcamp`, or an impulse response sampled at the
        tuning's ``dt``. Before the course the response was constant.

    Returns
    -------
    xarray.Dataset
        Curves by ``cell`` and ``direction``: ``recording``, ``model`` and ``cosine``, a half-wave rectified cosine of
        the cell's preferred direction, the least that a model has to beat. By ``cell``: ``correlation`` and
        ``correlation_cosine`` with the recording, at its directions, and ``correlation_raw``, that of the detector's
        curve as it is, not rectified; by ``curve`` too, ``half_width`` [deg], ``dsi``
        and ``dsi_over_preferred``, each of its own curve as it was measured: the recording's at its directions, and the
        model's at all of the tuning, which are as a rule more; ``turned``, how far the detector's curve was turned
        [deg], and the ``unit`` that was taken.

    Raises
    ------
    ValueError
        A tuning or recording without ``response``, not over directions, or over more than these and units or cells; an
        indicator that is no kernel, or without a course of time. Also what :func:`read_recording` refuses.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> from flymotion.tuning import experiment
    >>> side_by_side = compare(experiment("direction", hassenstein_reichardt()), published())
    >>> t4a = side_by_side.sel(cell="T4a")
    >>> round(float(t4a.correlation), 2), round(float(t4a.correlation_raw), 2)  # negative in its null direction
    (0.9, 0.84)
    """
    import xarray as xr

    cells = read_recording(recording)
    _check_directions("tuning", tuning, "unit")
    _check_directions("recording", cells, "cell")
    recorded = cells["response"].transpose("cell", "direction").astype(float)
    raw = _peaks(tuning, indicator_kernel).transpose(..., "direction")
    curves = np.maximum(raw, 0)
    best = preferred_direction(recorded)
    unit, turned, model = _turned(curves, recorded, best.values)
    cosine = np.maximum(np.cos(np.radians(recorded.direction.values - best.values[:, None])), 0)
    shown = {"recording": recorded, "model": recorded.copy(data=model), "cosine": recorded.copy(data=cosine)}
    shown = {name: _scaled(curve) for name, curve in shown.items()}
    measured: dict[str, Any] = {
        "correlation": _correlation(shown["model"], shown["recording"]),
        "correlation_cosine": _correlation(shown["cosine"], shown["recording"]),
        "correlation_raw": _correlation(recorded.copy(data=_turned(raw, recorded, best.values)[2]), recorded),
        "turned": ("cell", turned, {"units": "deg"}),
        "unit": ("cell", unit),
    }
    names = xr.Variable("curve", ["recording", "model"])
    of_curves = of_directions(raw)
    for name, of_cells in of_directions(recorded).items():
        of_model = of_cells.copy(data=np.atleast_1d(of_curves[name].values)[unit])
        measured[name] = xr.concat([of_cells, of_model], names)
    about = {k: v for k, v in tuning.attrs.items() if k in ABOUT_TUNING or k.startswith("stimulus")}
    about["detector"] = tuning.attrs.get("detector") or tuning.attrs.get("source", "")
    return xr.Dataset(shown | measured, attrs=about | {"source": cells.attrs.get("source", "")})


ABOUT_TUNING = ("detector_description", "flymotion_version", "dt", "settle", "eye", "at", "early_vision", "mean")
"""Attributes of a tuning that a comparison keeps, besides those of its stimulus."""


def _check_directions(what: str, found: Any, other: str) -> None:
    if not hasattr(found, "data_vars") or "response" not in found:
        has = ", ".join(map(str, found)) or "no variables" if hasattr(found, "data_vars") else type(found).__name__
        raise ValueError(f"the {what} is or has {has}; expected a Dataset with response")
    dims = found["response"].dims
    if "direction" not in dims or set(dims) - {"direction", other} or "direction" not in found.coords:
        raise ValueError(
            f"the {what} has dimensions {', '.join(map(str, dims)) or 'none'}; expected direction, and no other than "
            f"{other}, and a coordinate of direction"
        )


def _nearest(preferred: xr.DataArray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each cell, the unit of the nearest preferred direction, and how far it is to be turned [deg]."""
    apart = (wanted[:, None] - np.atleast_1d(preferred.values) + 180) % 360 - 180
    unit = np.where(np.isnan(apart), np.inf, np.abs(apart)).argmin(axis=1)  # not one that prefers none
    return unit, apart[np.arange(len(wanted)), unit]


def _turned(
    curves: xr.DataArray, recorded: xr.DataArray, best: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each cell, the unit that is taken, how far it is turned, and its curve at the cell's directions."""
    unit, turned = _nearest(preferred_direction(curves), best)
    of_units = np.reshape(curves.values, (-1, curves.sizes["direction"]))
    pairs = zip(unit, recorded.direction.values - turned[:, None], strict=True)
    return unit, turned, np.array([round_the_circle(of_units[u], curves.direction.values, at) for u, at in pairs])


def _scaled(curve: xr.DataArray) -> xr.DataArray:
    """Divide by the largest value; NaN where that is not positive."""
    largest = curve.max("direction")
    return (curve / largest.where(largest > 0)).assign_attrs(units="1")


def _correlation(one: xr.DataArray, other: xr.DataArray) -> xr.DataArray:
    """Return the correlation over directions; NaN of a curve that is flat."""
    a, b = one - one.mean("direction"), other - other.mean("direction")
    size = np.sqrt((a**2).sum("direction") * (b**2).sum("direction"))
    return ((a * b).sum("direction") / size.where(size > 0)).assign_attrs(units="1")


def _peaks(tuning: xr.Dataset, kernel: Any) -> xr.DataArray:
    """Return responses as an indicator shows them."""
    if "course" not in tuning:
        if kernel is not None:
            raise ValueError("the tuning has no course of time for an indicator to see; expected keep_time=True")
        return tuning["response"]
    course = tuning["course"].transpose(..., "time")
    seen = course if kernel is None else course.copy(data=_indicated(course.values, kernel, tuning.attrs["dt"]))
    return settled(seen, tuning).max("time")


def _indicated(course: np.ndarray, kernel: Any, dt: float) -> np.ndarray:
    """Filter courses, shape (..., n_frames), through an indicator."""
    signals = np.reshape(course, (-1, course.shape[-1])).T
    if isinstance(kernel, (tuple, list)) and all(isinstance(step, Step) for step in kernel):
        level = signals[0]
        for step in kernel:
            state, level = start(step, level, dt)
            signals, _ = filtered(step, signals, state, dt)
    else:
        h = unmasked(kernel, "the indicator's kernel", float)
        if h.ndim != 1 or not h.size or not np.isfinite(h).all():
            raise ValueError(
                f"the indicator's kernel has shape {h.shape}; expected steps, or finite numbers of shape (n,)"
            )
        before = np.repeat(signals[:1], len(h) - 1, axis=0)
        signals = lfilter(h, 1.0, np.concatenate([before, signals]), axis=0)[len(h) - 1 :]
    return signals.T.reshape(course.shape)
