"""What a result is of, as attributes that any netCDF file can hold: numbers and text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Set
from typing import Any

import numpy as np

from flymotion.detectors import Detector

__all__ = ["about", "about_stimulus", "brief"]


def about(detector: Detector) -> dict[str, Any]:
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
