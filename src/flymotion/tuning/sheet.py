"""One detector's character: the experiments that a sheet of several detectors shows, and what sums them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.detectors import as_detector
from flymotion.tuning.experiments import EXPERIMENTS, best_wavelength, experiment, shown_at
from flymotion.tuning.measures import of_directions, peak, preferred_direction

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SHEET", "Characterisation", "characterise", "numbers"]

SHEET: dict[str, dict[str, Any]] = {
    "local": {},
    "summed": {},
    "direction": {},
    "frequency": {"repeats": 4},
    "contrast": {},
    "reverse-phi": {},
    "gliders": {},
}
"""Experiments of a sheet, and what is changed about them to save time."""


class Characterisation(NamedTuple):
    """What a detector answers to the experiments of a sheet, and what sums that up.

    Examples
    --------
    >>> from flymotion.detectors import three_pixel
    >>> results, summed_up = characterise(three_pixel(), dt=0.05, repeats=1)
    >>> list(results), float(summed_up.preferred_direction)
    (['local', 'summed', 'direction', 'frequency', 'contrast', 'reverse-phi', 'gliders'], 0.0)
    """

    results: dict[str, Any]
    """Datasets by the names of :data:`SHEET`."""
    numbers: Any
    """Dataset of :func:`numbers`."""

    def __repr__(self) -> str:
        return in_brief(self)


def characterise(detector: Any, *, at_best: bool | None = None, **changes: Any) -> Characterisation:
    """Run the experiments of a sheet on a detector.

    Parameters
    ----------
    detector : Detector, or function
        What responds; a function ``movie, dt -> responses`` as of :class:`~flymotion.detectors.FunctionDetector`.
    at_best : bool, optional
        Whether gratings are of the wavelength that the detector answers most, of those of the experiment "frequency",
        or of 30 degrees. By default the former for a detector that has units, as learned ones do, whose scale is that
        of the eye and the world that they were learned in; published ones are shown what is shown to all.
    **changes
        What is to be otherwise in all experiments, as of :func:`~flymotion.tuning.experiment`: ``dt``,
        ``early_vision``, ``mean`` and the like, and ``contrast`` and ``duration``, which all their stimuli have. An
        experiment whose design has an argument in it keeps its values of that.

    Returns
    -------
    Characterisation
        Each result says in its attribute ``at_best`` whether it is so, and in ``stimulus_wavelength`` what was shown.

    Examples
    --------
    >>> from flymotion.detectors import hassenstein_reichardt
    >>> found = characterise(hassenstein_reichardt(), dt=0.02, repeats=1).numbers
    >>> round(float(found.temporal_frequency), 2), round(float(found.dsi), 2)  # 1 / (2 pi 0.15 s) = 1.06 Hz
    (1.06, 1.0)
    """
    detector = as_detector(detector)
    at_best = bool(detector.directions) if at_best is None else at_best

    def shown(name: str, **extra: Any) -> Any:
        own = {k: v for k, v in changes.items() if k not in EXPERIMENTS[name].design}
        return experiment(name, detector, **SHEET[name] | extra | own)

    frequency = shown("frequency")
    best = best_wavelength(frequency) if at_best else None
    results = {
        name: frequency
        if name == "frequency"
        else shown(name, **{} if best is None else shown_at(name, best, detector))
        for name in SHEET
    }
    results = {name: result.assign_attrs(at_best=int(at_best)) for name, result in results.items()}
    return Characterisation(results, numbers(results))


def numbers(results: dict[str, xr.Dataset]) -> xr.Dataset:
    """Sum up the experiments of a sheet; of a detector of several units each number has a dimension ``unit``.

    Parameters
    ----------
    results : dict of str to Dataset
        Of :func:`characterise`.

    Returns
    -------
    xarray.Dataset
        ``preferred_direction`` and ``half_width`` [deg]; ``dsi``, (PD - ND) / (PD + ND), and ``dsi_over_preferred``,
        (PD - ND) / PD; ``temporal_frequency`` [Hz] and ``wavelength`` [deg] of the largest response to motion in the
        preferred direction, NaN where that is at an end of what was shown; ``contrast_exponent``, the slope of the
        logarithm of the response between the two lowest contrasts above 0; and net responses, motion in the preferred
        less that in the null direction: to ``phi``, to ``reverse_phi``, and to the gliders, such as
        ``two_point_positive``.
    """
    import xarray as xr

    direction, frequency = results["direction"], results["frequency"].response.sel(motion="preferred", drop=True)
    best = peak(frequency.max("wavelength"), "temporal_frequency")
    widest = peak(frequency.max("temporal_frequency"), "wavelength")
    summary: dict[str, xr.DataArray] = {
        "preferred_direction": preferred_direction(direction),
        **of_directions(direction),
        "temporal_frequency": best.position,
        "wavelength": widest.position,
        "contrast_exponent": _exponent(results["contrast"].response.sel(motion="preferred", drop=True)),
    }
    phi, gliders = _net(results["reverse-phi"].response), _net(results["gliders"].response)
    summary |= {"phi": phi.sel(reverse=False, drop=True), "reverse_phi": phi.sel(reverse=True, drop=True)}
    for kind in gliders.kind.values.tolist():
        for parity, name in ((1, "positive"), (-1, "negative")):
            summary[f"{kind.replace('-', '_')}_{name}"] = gliders.sel(kind=kind, parity=parity, drop=True)
    kept = {k: v.drop_vars(set(v.coords) - {"unit", "preferred"}) for k, v in summary.items()}
    return xr.Dataset(kept, attrs={k: v for k, v in direction.attrs.items() if k in ABOUT})


ABOUT = (
    "detector",
    "detector_description",
    "source",
    "opponent",
    "flymotion_version",
    "dt",
    "eye",
    "at",
    "early_vision",
    "mean",
    "at_best",
    "stimulus_wavelength",
)
"""Attributes of the results that their numbers keep."""


def _net(response: xr.DataArray) -> xr.DataArray:
    """Return motion in the preferred less that in the null direction."""
    net = response.sel(motion="preferred", drop=True) - response.sel(motion="null", drop=True)
    return net.assign_attrs(response.attrs)


def _exponent(response: xr.DataArray) -> xr.DataArray:
    """Return the slope of log response in log contrast between the two lowest above 0; NaN where not positive."""
    contrasts, where = np.unique(response.contrast.values, return_index=True)
    lowest = where[contrasts > 0][:2]
    if len(lowest) < 2:
        return (response.isel(contrast=0, drop=True) * np.nan).assign_attrs(units="1")
    low = response.isel(contrast=lowest)
    logs = np.log(low.where(low > 0))
    slope = logs.diff("contrast").isel(contrast=0, drop=True) / float(np.log(low.contrast).diff("contrast")[0])
    return slope.assign_attrs(units="1")
