"""What a result is of, as attributes that any netCDF file can hold: numbers and text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.detectors import Detector, FunctionDetector

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["about", "about_stimulus", "brief", "of_units"]


def about(detector: Detector | FunctionDetector) -> dict[str, Any]:
    """Return what is to be said of a detector: its name, or if it has none its source, and all that it is made of."""
    from flymotion import __version__

    return {
        "detector": detector.name or detector.source or "detector",
        "detector_description": detector.description,
        "source": detector.source,
        "opponent": int(detector.opponent),
        "flymotion_version": __version__,
    }


def about_stimulus(stimulus: Callable[..., Any], varied: Set[str]) -> dict[str, Any]:
    """Return a stimulus's name, and its arguments that are not varied, also those that are as by default."""
    function = getattr(stimulus, "func", stimulus)  # of functools.partial
    parameters = inspect.signature(stimulus).parameters.values()
    fixed = {p.name: p.default for p in parameters if p.default is not p.empty and p.name not in varied}
    name = getattr(function, "__name__", type(function).__name__)
    return {"stimulus": name} | {f"stimulus_{k}": _attribute(v) for k, v in fixed.items()}


def of_units(tuning: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    """Return the results of each unit and what it is called, its preferred direction; nothing where there is one."""
    if "unit" not in tuning.dims:
        return [("", tuning)]
    return [(f"{float(tuning.preferred[k]):.0f}°", tuning.isel(unit=k)) for k in range(tuning.sizes["unit"])]


def brief(thing: Any) -> str:
    """Return what something is, in one line."""
    return " ".join(repr(thing).split())


def _attribute(value: Any) -> int | float | str:
    """Return a value as netCDF 3 can hold it: integers of 32 bits, floats and text."""
    if isinstance(value, (bool, int, np.bool_, np.integer)) and abs(int(value)) < 2**31:
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    return value if isinstance(value, str) else brief(value)
