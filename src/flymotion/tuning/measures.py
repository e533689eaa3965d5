r"""Numbers that sum up tuning curves.

Every function takes an xarray Dataset (its ``response``) or DataArray with a dimension of the curve's name, and gives
back a DataArray without it; or plain responses, the curve along the last axis, with the places of its samples. So other
dimensions, such as a detector's units or the cells of a recording, are done at once. Between samples curves are linear,
round the circle where they are of directions. A curve that is not finite everywhere has no measures: they are NaN.

Directions may come in any order and go round more than once; several samples of one direction, such as 0 and 360, are
averaged. Nothing is read between samples that leave a part of the circle out: that are more than 120 degrees apart, or
more than 90 where that is more than twice the median. What would have to be read there is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import unmasked
from flymotion.tuning.circle import FULL_TURN, Circle, around, read_at

__all__ = [
    "Peak",
    "Selectivity",
    "direction_selectivity",
    "half_width",
    "of_directions",
    "peak",
    "preferred_direction",
    "settled",
]


class Selectivity(NamedTuple):
    """Both direction selectivity indices in use; PD is the largest response, ND that to the opposite direction.

    Examples
    --------
    >>> found = direction_selectivity([4.0, 1.0, 1.0, 1.0], [0, 90, 180, 270])
    >>> round(found.over_sum, 2), round(found.over_preferred, 2)  # (4 - 1) / (4 + 1), and (4 - 1) / 4
    (0.6, 0.75)
    """

    over_sum: Any
    """(PD - ND) / (PD + ND), both half-wave rectified: 1 for a detector that is silent, or negative, in its ND."""
    over_preferred: Any
    """(PD - ND) / PD, of responses as they are: 2 for a detector that is opponent."""

    def __repr__(self) -> str:
        return in_brief(self)


class Peak(NamedTuple):
    """Where a curve is largest, in the unit of its axis, and how large it is there, in that of the responses.

    Examples
    --------
    >>> peak([1.0, 3.0, 1.0], [10.0, 20.0, 30.0])
    Peak(position=20.0, value=3.0)
    """

    position: Any
    """NaN where that is at an end of the axis, so that the curve may be larger beyond, or nowhere, of a flat curve."""
    value: Any

    def __repr__(self) -> str:
        return in_brief(self)


def settled(course: Any, tuning: Any) -> Any:
    """Return a course of time, a DataArray, from when the responses of its tuning, a Dataset, have settled on."""
    return course.where(course.time >= tuning.attrs["settle"] - 1e-9, drop=True)


def direction_selectivity(tuning: Any, directions: Any = None) -> Selectivity:
    r"""Return how much more a direction than its opposite excites: both indices in use.

    .. math:: \frac{[PD]_+ - [ND]_+}{[PD]_+ + [ND]_+} \qquad \frac{PD - ND}{PD}

    The first (Maisak et al. 2013, Haag et al. 2017) is between 0 and 1; for an opponent detector, whose ND is negative,
    it says only that. The second (Gruntman et al. 2018) says how deep the ND is.

    Parameters
    ----------
    tuning : Dataset, DataArray or array, shape (..., n_directions)
        Responses to directions.
    directions : array, shape (n_directions,), optional
        Of a plain array [deg].

    Returns
    -------
    Selectivity
        Of the largest response that was measured. NaN where none is positive, and where the opposite direction lies
        in a part of the circle that was left out.

    Examples
    --------
    >>> direction_selectivity([4.0, 1.0, -1.0, 1.0], [0, 90, 180, 270])
    Selectivity(over_sum=1.0, over_preferred=1.25)
    """
    curves, circle, wrapped = _circular(tuning, directions)
    best = curves.argmax(axis=-1)
    flat = curves.reshape(-1, curves.shape[-1])
    opposite = [
        read_at(curve, circle, circle.places[k] + FULL_TURN / 2)[0] for curve, k in zip(flat, best.ravel(), strict=True)
    ]
    PD, ND = curves.max(axis=-1), np.reshape(opposite, best.shape)
    PD_on, ND_on = np.maximum(PD, 0), np.maximum(ND, 0)
    positive = PD > 0
    return Selectivity(
        wrapped(_divided(PD_on - ND_on, PD_on + ND_on, positive)), wrapped(_divided(PD - ND, PD, positive))
    )


def preferred_direction(tuning: Any, directions: Any = None) -> Any:
    r"""Return the direction of the vector sum of responses [deg], from 0 to below 360.

    .. math:: \arg \int R(\varphi) e^{i \varphi} d\varphi

    of the curve, linear between samples: where directions are even round the circle, of the sum over these. A constant
    added to all responses changes nothing. NaN where the vectors cancel, as what answers alike to all directions
    prefers none, and of a curve that leaves a part of the circle out.

    Parameters
    ----------
    tuning, directions
        As of :func:`direction_selectivity`.

    Examples
    --------
    >>> round(preferred_direction([1.0, 1.0, 0.0, 0.0], [0, 90, 180, 270]), 9)
    45.0
    """
    curves, circle, wrapped = _circular(tuning, directions)
    h = np.radians(circle.gaps)
    after = 1j + (1 - np.exp(1j * h)) / h  # integral of (1 - s / h) exp(i s) over a gap
    weights = (after + np.roll(after, 1).conj()) * np.exp(1j * np.radians(circle.places))
    total = curves @ weights
    turn = np.degrees(np.angle(total))
    turn = np.where(np.abs(turn) < 1e-9, 0.0, turn) % FULL_TURN  # rounding makes 0 no 360
    told = (np.abs(total) > 1e-9 * (np.abs(curves) @ np.abs(weights))) & ~circle.left_out.any()
    return wrapped(np.where(told, turn, np.nan), "deg")


def of_directions(tuning: Any) -> dict[str, Any]:
    """Return, by name, the numbers that sum up labelled direction tuning curves wherever they point."""
    selectivity = direction_selectivity(tuning)
    return {
        "half_width": half_width(tuning),
        "dsi": selectivity.over_sum,
        "dsi_over_preferred": selectivity.over_preferred,
    }


def half_width(tuning: Any, directions: Any = None) -> Any:
    """Return the half width at half maximum of a direction tuning curve [deg].

    Half of the largest response, counted from 0; the mean of how far it is, on either side, to where the curve first
    falls below. NaN for a curve that never does, or is nowhere positive; and where it does so in a part of the circle
    that was left out, or beyond.

    Parameters
    ----------
    tuning, directions
        As of :func:`direction_selectivity`.

    Examples
    --------
    >>> import numpy as np
    >>> angles = np.arange(0, 360, 30)
    >>> round(half_width(np.cos(np.radians(angles - 60)), angles), 6)
    60.0
    """
    curves, circle, wrapped = _circular(tuning, directions)
    widths = [_half_width(curve, circle) for curve in curves.reshape(-1, curves.shape[-1])]
    return wrapped(np.reshape(widths, curves.shape[:-1]), "deg")


def _half_width(curve: np.ndarray, circle: Circle) -> float:
    best = int(curve.argmax())
    if not curve[best] > 0:
        return np.nan
    offsets = np.append((np.roll(circle.places, -best) - circle.places[best]) % FULL_TURN, FULL_TURN)
    heights, left_out = np.append(np.roll(curve, -best), curve[best]), np.roll(circle.left_out, -best)
    upward = _falls_to_half(offsets, heights, left_out)
    downward = _falls_to_half(FULL_TURN - offsets[::-1], heights[::-1], left_out[::-1])
    return (upward + downward) / 2


def _falls_to_half(offsets: np.ndarray, heights: np.ndarray, left_out: np.ndarray) -> float:
    """Return how far from the first sample, the largest, a curve first falls below half of it."""
    half = heights[0] / 2
    below = np.flatnonzero(heights < half)
    if not len(below) or left_out[: below[0]].any():
        return np.nan
    k = below[0]
    share = (heights[k - 1] - half) / (heights[k - 1] - heights[k])
    return float(offsets[k - 1] + share * (offsets[k] - offsets[k - 1]))


def peak(tuning: Any, axis: Any) -> Peak:
    """Return where a curve is largest, between its samples, and how large.

    A parabola through the largest sample and its neighbours: in the logarithm of the axis where that is geometric, as
    axes of frequency and of contrast are. Where the largest sample is at an end of the axis no peak was reached: the
    position is NaN, the value that of the sample. So they are of a curve that is flat, or silent.

    Parameters
    ----------
    tuning : Dataset, DataArray or array, shape (..., n)
        Responses.
    axis : str or array, shape (n,)
        Dimension of the curve; or where a plain array was measured.

    Raises
    ------
    ValueError
        An axis that does not grow, or is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> frequency = np.array([0.5, 1.0, 2.0, 4.0])
    >>> found = peak(3 - np.log2(frequency / 1.2) ** 2, frequency)
    >>> round(found.position, 9), round(found.value, 9)
    (1.2, 3.0)
    """
    curves, places, wrapped = _curves(tuning, axis if isinstance(axis, str) else "axis", axis)
    if (np.diff(places) <= 0).any():
        raise ValueError(f"the axis is {places.tolist()}; expected numbers that grow")
    geometric = _is_geometric(places)
    x = np.log(places) if geometric else places
    tops = np.array([_parabola(x, curve) for curve in curves.reshape(-1, curves.shape[-1])])
    position = np.exp(tops[:, 0]) if geometric else tops[:, 0]
    shape = curves.shape[:-1]
    return Peak(
        wrapped(position.reshape(shape), _unit(tuning, axis)), wrapped(tops[:, 1].reshape(shape), _unit(tuning))
    )


def _unit(tuning: Any, axis: Any = None) -> str:
    """Return the unit of labelled responses, or of an axis of theirs."""
    array = tuning["response"] if hasattr(tuning, "data_vars") else tuning
    if not hasattr(array, "dims"):
        return "1"
    return str((array if axis is None else array[axis]).attrs.get("units", "1"))


def _is_geometric(places: np.ndarray) -> bool:
    if len(places) < 3 or places[0] <= 0:
        return False
    ratios = places[1:] / places[:-1]
    return bool(np.allclose(ratios, ratios[0], rtol=1e-2))


def _parabola(x: np.ndarray, curve: np.ndarray) -> tuple[float, float]:
    """Return the top of the parabola through the largest sample and its neighbours."""
    k = int(curve.argmax())
    if np.isnan(curve[k]):
        return np.nan, np.nan
    flat = np.ptp(curve) <= 1e-9 * np.abs(curve).max()
    if flat or k in (0, len(x) - 1):
        return np.nan, curve[k]
    (h_low, h_high), (d_low, d_high) = np.abs(x[[k - 1, k + 1]] - x[k]), curve[[k - 1, k + 1]] - curve[k]
    bend = (d_low / h_low + d_high / h_high) / (h_low + h_high)  # Newton's divided differences
    if not bend < 0:
        return x[k], curve[k]
    slope = d_high / h_high - bend * h_high
    return x[k] - slope / (2 * bend), curve[k] - slope**2 / (4 * bend)


def _divided(numerator: np.ndarray, denominator: np.ndarray, where: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.full(np.shape(numerator), np.nan), where=where)


def _circular(tuning: Any, directions: Any) -> tuple[np.ndarray, Circle, Callable[..., Any]]:
    """Return direction tuning curves in order round the circle, where they were measured, and how to label results."""
    curves, angles, wrapped = _curves(tuning, "direction", directions)
    return (*around(curves, angles), wrapped)


def _curves(tuning: Any, dim: str, places: Any) -> tuple[np.ndarray, np.ndarray, Callable[..., Any]]:
    """Return curves along the last axis, where their samples are, and how to label what is found of each.

    Curves that are not finite everywhere are NaN everywhere.

    Raises
    ------
    ValueError
        Labelled responses without the dimension or its coordinate, or plain ones that do not fit their places; no
        samples, or places that are not finite.
    """
    array = tuning["response"] if hasattr(tuning, "data_vars") else tuning
    wrapped: Callable[..., Any] = _plain
    if not hasattr(array, "dims"):
        curves, places = unmasked(array, "the tuning", float), unmasked(places, "where it was measured")
        if places.shape != curves.shape[-1:] or places.dtype.kind not in "iuf":
            raise ValueError(f"responses have shape {curves.shape}, and places {places.shape}; expected one a sample")
    else:
        if dim not in array.dims:
            raise ValueError(f"the responses have dimensions {', '.join(map(str, array.dims))}; expected {dim}")
        if dim not in array.coords:
            raise ValueError(f"the responses have no coordinate of {dim}; expected where they were measured")
        last = array.transpose(..., dim)
        curves, places = last.values.astype(float), last[dim].values
        wrapped = partial(_labelled, like=last.isel({dim: 0}, drop=True))
    places = places.astype(float)
    if not places.size or not np.isfinite(places).all():
        raise ValueError(f"the curve was measured at {places.tolist()}; expected one or more finite numbers")
    finite = np.isfinite(curves).all(axis=-1, keepdims=True)
    return np.where(finite, curves, np.nan), places, wrapped


def _plain(found: np.ndarray, units: str = "1") -> Any:
    return found if np.ndim(found) else float(found)


def _labelled(found: np.ndarray, units: str = "1", *, like: Any) -> Any:
    labelled = like.copy(data=found)
    labelled.attrs = {"units": units}
    return labelled
