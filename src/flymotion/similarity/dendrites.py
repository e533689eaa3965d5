"""Starts that a brain could have: synapses that are where a dendrite happens to reach, before anything is learned.

A unit joins the change at one pixel, the eye's middle, with the intensity at its neighbours on one side, and has random
synapses besides: a dendrite that points one way. T4's do (Takemura et al. 2017). What it needs to be told is the side;
nothing is looked up in samples, unlike the warm-up (:mod:`flymotion.similarity.initialisation`). The filters are the
``init`` of a network:

    NonnegativeSimilarityMatching(2, init=W.reshape(2, -1), init_strength=That)

===================  ===============================================================================================
oriented             onto the neighbours on one side, each unit's own
round                onto the neighbours all around: the control without a side
misplaced            from the change at any pixel onto the intensity at any: the control without a place
===================  ===============================================================================================

``W[a, i, j]`` is the weight of unit a from the change at pixel i onto the intensity at pixel j, as in Eq. 10. Content
that moves away from where the dendrite reaches makes the unit answer: the change at the middle then is like what was
to be seen at the side where it comes from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.frames import unmasked
from flymotion.similarity.samples import check_counts
from flymotion.world.conventions import as_generator, not_below_0, unit_vector
from flymotion.world.eyes import Eye

__all__ = ["misplaced_dendrites", "oriented_dendrites", "round_dendrites"]

REACH = 1.0
"""How far a dendrite reaches [pixel spacings]."""

WIDTH = 45.0
"""How far to either side of where it points [deg]."""


def oriented_dendrites(eye: Eye, angles: Any, *, scatter: float = 0.0, random_state: Any = None) -> np.ndarray:
    """Return filters of dendrites that reach from the eye's middle to one side.

    Parameters
    ----------
    eye : Line, Grid or Hexagon
        A flat eye. Its middle is the pixel nearest to it, the first of several.
    angles : array-like, shape (n_units,)
        Where each unit's dendrite reaches [deg]: 0 = right, 90 = up.
    scatter : float
        Norm of random weights, independent and Gaussian, that are added to each unit's own, which have norm 1.
    random_state : int, Generator, RandomState or None
        Of the random weights.

    Returns
    -------
    ndarray, shape (n_units, n_pixels, n_pixels)
        Equal weights onto the neighbours on that side, and the random ones.

    Raises
    ------
    ValueError
        An eye that is not flat, no angles or such that are not finite, no pixel to one of the sides, or a scatter that
        is negative.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> oriented_dendrites(Line(3), [180.0, 0.0])[:, 1]
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    angles = unmasked(angles, "angles", float)
    if angles.ndim != 1 or not angles.size or not np.isfinite(angles).all():
        raise ValueError(f"angles of shape {angles.shape}; expected finite numbers, one a unit")
    middle, offsets = _around(eye)
    toward = offsets @ np.stack([unit_vector(angle, offsets.shape[1]) for angle in angles]).T
    near = toward >= np.cos(np.radians(WIDTH)) - 1e-9  # of neighbours at the same distance
    if not near.any(axis=0).all():
        raise ValueError(f"no pixel next to the middle at {angles[~near.any(axis=0)][0]:g} deg; expected one")
    return _filters(middle, near.T, scatter, random_state)


def round_dendrites(eye: Eye, n_units: int, *, scatter: float = 0.0, random_state: Any = None) -> np.ndarray:
    """Return filters of dendrites that reach from the eye's middle to all sides alike.

    Parameters
    ----------
    eye : Line, Grid or Hexagon
        A flat eye.
    n_units : int
        How many.
    scatter : float
        Norm of the random weights of each unit.
    random_state : int, Generator, RandomState or None
        Of the random weights.

    Returns
    -------
    ndarray, shape (n_units, n_pixels, n_pixels)
        Equal weights, of norm 1 in all, onto all neighbours of the middle, and the random ones.

    Raises
    ------
    ValueError
        An eye that is not flat, or whose middle has no neighbours, no units, or a scatter that is negative.

    Examples
    --------
    >>> from flymotion.world import Line
    >>> round_dendrites(Line(5), 1)[0, 2].round(2)  # onto the change in the middle
    array([0.  , 0.71, 0.  , 0.71, 0.  ])
    """
    check_counts(n_units=n_units)
    middle, offsets = _around(eye)
    near = np.linalg.norm(offsets, axis=1) > 0
    return _filters(middle, np.tile(near, (n_units, 1)), scatter, random_state)


def misplaced_dendrites(eye: Eye, n_units: int, *, scatter: float = 0.0, random_state: Any = None) -> np.ndarray:
    """Return filters of one synapse each at a random place: from the change at any pixel onto the intensity at any.

    Parameters
    ----------
    eye : Line, Grid or Hexagon
        A flat eye.
    n_units : int
        How many.
    scatter : float
        Norm of the random weights of each unit.
    random_state : int, Generator, RandomState or None
        Of the places and the random weights.

    Returns
    -------
    ndarray, shape (n_units, n_pixels, n_pixels)
        A weight of 1 of each unit, and the random ones.

    Raises
    ------
    ValueError
        An eye that is not flat, no units, or a scatter that is negative.

    Examples
    --------
    >>> from flymotion.world import Line
    >>> [np.argwhere(one).tolist() for one in misplaced_dendrites(Line(5), 2, random_state=0)]  # onto, from
    [[[4, 1]], [[3, 0]]]
    """
    check_counts(n_units=n_units)
    rng = as_generator(random_state)
    n = len(_around(eye)[1])
    own = np.eye(n * n)[rng.integers(n * n, size=n_units)].reshape(n_units, n, n)
    return own + _random(own.shape, scatter, rng)


def _around(eye: Eye) -> tuple[int, np.ndarray]:
    """Return the middle pixel, and unit vectors to its neighbours, 0 for all other pixels, shape (n_pixels, ndim)."""
    positions = eye.positions
    if positions.shape[1] > 2:
        raise ValueError(f"the eye is a {type(eye).__name__}; expected a flat one: a Line, Grid or Hexagon")
    distance = np.linalg.norm(positions, axis=1)
    middle = int(np.argmin(np.round(distance, 9)))
    offsets = positions - positions[middle]
    distance = np.linalg.norm(offsets, axis=1, keepdims=True)
    near = (distance > 0) & (distance <= REACH + 1e-9)
    if not near.any():
        raise ValueError(f"an eye of {len(positions)} pixels, none next to the middle; expected one at least")
    return middle, np.divide(offsets, distance, out=np.zeros_like(offsets), where=near)


def _filters(middle: int, near: np.ndarray, scatter: float, random_state: Any) -> np.ndarray:
    n_units, n = near.shape
    own = np.zeros((n_units, n, n))
    own[:, middle] = near / np.linalg.norm(near, axis=1, keepdims=True)
    return own + _random(own.shape, scatter, as_generator(random_state))


def _random(shape: tuple[int, ...], scatter: float, rng: np.random.Generator) -> np.ndarray:
    not_below_0(scatter=scatter)
    weights = rng.normal(size=shape)
    return scatter * weights / np.linalg.norm(weights, axis=(1, 2), keepdims=True)
