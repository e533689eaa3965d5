"""Curves round the circle: samples in order, averaged where they are of one direction, and what lies between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flymotion.frames import unmasked

__all__ = ["FULL_TURN", "Circle", "around", "read_at", "round_the_circle"]

FULL_TURN = 360.0

WIDEST, COARSE = 120.0, 90.0
"""Between neighbouring directions [deg]: the most, and the most where others are less than half as far apart."""


def round_the_circle(responses: Any, directions: Any, at: Any) -> np.ndarray:
    """Return responses at other directions, linear between those given, round the circle.

    Parameters
    ----------
    responses : array, shape (..., n_directions)
        Direction tuning curves.
    directions : array, shape (n_directions,)
        Where they were measured [deg].
    at : array, shape (n,)
        Where to read them [deg].

    Returns
    -------
    ndarray, shape (..., n)
        NaN in parts of the circle that were left out.

    Examples
    --------
    >>> round_the_circle([0.0, 2.0, 4.0], [0, 120, 240], [60, 300, 480])
    array([1., 2., 2.])
    """
    curves, circle = around(unmasked(responses, "responses", float), unmasked(directions, "directions", float))
    return read_at(curves, circle, at)


class Circle(NamedTuple):
    """Where samples are round the circle."""

    places: np.ndarray
    """From 0 to below 360, growing [deg]."""
    gaps: np.ndarray
    """From each to the next [deg]."""
    left_out: np.ndarray
    """Which gaps are parts of the circle where nothing was measured."""


def around(curves: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, Circle]:
    """Put samples in order round the circle, shape (..., n_places); those of one direction are averaged."""
    turned = directions % FULL_TURN
    _, first, which = np.unique(turned.round(9) % FULL_TURN, return_index=True, return_inverse=True)
    places = np.where(turned[first].round(9) == FULL_TURN, 0.0, turned[first])
    if len(first) < len(directions):
        curves = np.stack([curves[..., which == k].mean(axis=-1) for k in range(len(first))], axis=-1)
    else:
        curves = curves[..., first]
    gaps = np.diff(places, append=places[0] + FULL_TURN)
    left_out = (gaps > WIDEST + 1e-6) | ((gaps > COARSE + 1e-6) & (gaps > 2 * np.median(gaps) + 1e-6))
    return curves, Circle(places, gaps, left_out)


def read_at(curves: np.ndarray, circle: Circle, at: Any) -> np.ndarray:
    """Return responses at directions, shape (..., n); NaN in parts of the circle that were left out."""
    at = np.atleast_1d(unmasked(at, "at", float))
    flat = curves.reshape(-1, curves.shape[-1])
    read = np.reshape([np.interp(at, circle.places, c, period=FULL_TURN) for c in flat], (len(flat), at.size))
    known = np.isfinite(at)
    gap = np.searchsorted(circle.places, np.where(known, at, 0.0) % FULL_TURN, side="right") - 1  # -1 is the last
    beyond = (np.where(known, at, 0.0) - circle.places[gap]) % FULL_TURN
    between = np.minimum(beyond, np.minimum(abs(circle.gaps[gap] - beyond), FULL_TURN - beyond)) > 1e-6
    read[:, circle.left_out[gap] & between] = np.nan
    return read.reshape(*curves.shape[:-1], at.size)
