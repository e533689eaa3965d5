"""Rows of learned weights held against the connectome: signs, order, profile along the preferred direction, chance.

A row has a weight from the change at a cell's own column onto the intensity in each of some columns, as
``T4T5Circuit.weights_`` has; about an OFF centre, as T5's, it is negative where content comes from. What is said of it
is said of four subtypes at once, but direction gives their signs: three groups of inputs stand in one of six orders, so
that four subtypes of T4 in the right order are one pattern, of chance 1/6, and those of T5 another.

The tables hold means over cells, so nothing here is a test over cells: columns are shuffled instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flymotion.circuits.connectome import CENTRE, along, effective
from flymotion.frames import unmasked

__all__ = ["Flanks", "flanks", "likeness", "profile", "shuffled", "weight_at"]


class Flanks(NamedTuple):
    """What lies on both sides of a cell's column, along the direction that it prefers; each of shape (...).

    Examples
    --------
    >>> found = flanks([2.0, 0.0, -1.0], [[-1, 0], [0, 0], [1, 0]], "T4b")
    >>> float(found.ratio), round(float(found.same), 2), round(float(found.other), 2)  # columns before, and behind
    (0.5, -0.87, 0.87)
    """

    signs: np.ndarray
    """Whether the mean weight is of the centre's sign in columns of such synapses, and of the other in the others'."""
    order: np.ndarray
    """Whether the centroid of weights of the centre's sign, the column itself, and that of the others are in order."""
    ratio: np.ndarray
    """Sum of the sizes of weights of the other sign over that of weights of the centre's sign."""
    same: np.ndarray
    """Centroid of weights of the centre's sign [columns]; negative where content comes from."""
    other: np.ndarray
    """Centroid of weights of the other sign [columns]."""
    own: np.ndarray
    """Share that the weight at the column itself has of the sizes of all, with the centre's sign."""


def flanks(weights: Any, offsets: Any, cell: str) -> Flanks:
    """Read what lies on both sides of a cell's column in rows of weights.

    Parameters
    ----------
    weights : array-like, shape (..., n_offsets)
        Weights onto the intensities, finite.
    offsets : array-like of int, shape (n_offsets, 2)
        Axial coordinates of their columns.
    cell : str
        One of :data:`~flymotion.circuits.SUBTYPES`.

    Raises
    ------
    ValueError
        Another number of weights than of offsets, or weights that are not finite.

    Examples
    --------
    >>> from flymotion.world.lattices import rings
    >>> found = flanks(effective("T4a", rings(2)), rings(2), "T4a")
    >>> bool(found.signs), bool(found.order), [round(float(x), 2) for x in (found.same, found.other)]
    (True, True, [-1.09, 0.78])
    """
    w, offsets = _turned(weights, offsets, cell)
    place = along(cell, offsets)
    same, other = np.maximum(w, 0), np.maximum(-w, 0)
    own = (offsets == 0).all(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        one, two = (part @ place / part.sum(axis=-1) for part in (same, other))
        ratio = other.sum(axis=-1) / same.sum(axis=-1)
        share = w @ own / np.abs(w).sum(axis=-1)
    signs = (weight_at(weights, offsets, cell, 1) > 0) & (weight_at(weights, offsets, cell, -1) < 0)
    return Flanks(signs, (one < 0) & (two > 0), ratio, one, two, share)


def weight_at(weights: Any, offsets: Any, cell: str, sign: int) -> np.ndarray:
    """Return the mean weight in the columns where a cell's net effective synapses have a sign, each counting by them.

    Parameters
    ----------
    weights, offsets, cell
        As of :func:`flanks`.
    sign : {1, -1}
        1: of the centre's own polarity, as Mi9's and Tm9's; -1: of the other, as those of Mi4, C3 and CT1.

    Returns
    -------
    ndarray, shape (...)
        With the centre's sign; NaN where there are no such synapses in any of the columns.

    Examples
    --------
    >>> offsets = [[-1, 0], [0, 0], [1, 0]]
    >>> [float(weight_at([0.5, 0.0, -0.2], offsets, "T4b", sign)) for sign in (1, -1)]
    [0.5, -0.2]
    """
    w, offsets = _turned(weights, offsets, cell)
    counts = np.maximum(sign * CENTRE[cell[:2]] * effective(cell, offsets), 0)
    with np.errstate(invalid="ignore"):
        return w @ counts / counts.sum()


def profile(weights: Any, offsets: Any, cell: str) -> tuple[np.ndarray, np.ndarray]:
    """Sum weights across the preferred direction.

    Returns
    -------
    positions : ndarray, shape (n_positions,)
        Along the preferred direction, in order [columns].
    sums : ndarray, shape (..., n_positions)
        Of the weights at each.

    Examples
    --------
    >>> from flymotion.world.lattices import rings
    >>> [each.round(2).tolist() for each in profile(effective("T4b", rings(1)), rings(1), "T4b")]
    [[-0.87, 0.0, 0.87], [14.87, -5.11, -24.95]]
    """
    w, offsets = _checked(weights, offsets)
    place = along(cell, offsets).round(6)
    positions = np.unique(place)
    return positions, w @ (place[:, None] == positions)


def likeness(weights: Any, offsets: Any, cell: str, *, across: bool = True) -> np.ndarray:
    """Return the correlation of rows of weights with the effective synapses of a cell.

    Parameters
    ----------
    weights, offsets, cell
        As of :func:`flanks`.
    across : bool
        Over all columns; otherwise over the profiles along the preferred direction.

    Returns
    -------
    ndarray, shape (...)
        NaN of a row whose weights are all alike.

    Examples
    --------
    >>> from flymotion.world.lattices import rings
    >>> float(likeness(-effective("T4a", rings(2)), rings(2), "T4a").round(6))
    -1.0
    """
    w, offsets = _checked(weights, offsets)
    target = effective(cell, offsets)
    if not across:
        w, target = (profile(each, offsets, cell)[1] for each in (w, target))
    w, target = w - w.mean(axis=-1, keepdims=True), target - target.mean()
    with np.errstate(invalid="ignore"):
        return w @ target / (np.linalg.norm(w, axis=-1) * np.linalg.norm(target))


def shuffled(weights: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows with the weights in other columns, at random, shape (n, ..., n_offsets): the null of no places.

    Examples
    --------
    >>> shuffled([1.0, 2.0, 3.0], 2, np.random.default_rng(0))
    array([[3., 1., 2.],
           [3., 2., 1.]])
    """
    w = unmasked(weights, "weights", float)
    order = rng.permuted(np.tile(np.arange(w.shape[-1]), (n, 1)), axis=1)
    return np.stack([w[..., each] for each in order]) if n else np.empty((0, *w.shape))


def _turned(weights: Any, offsets: Any, cell: str) -> tuple[np.ndarray, np.ndarray]:
    """Return weights with the centre's sign: positive ones weigh intensity with the centre's own polarity."""
    w, offsets = _checked(weights, offsets)
    return w * CENTRE[cell[:2]], offsets


def _checked(weights: Any, offsets: Any) -> tuple[np.ndarray, np.ndarray]:
    w, offsets = unmasked(weights, "weights", float), np.reshape(unmasked(offsets, "offsets"), (-1, 2))
    if w.shape[-1:] != (len(offsets),) or not np.isfinite(w).all():
        raise ValueError(f"weights of shape {w.shape}; expected finite ones, one for each of {len(offsets)} offsets")
    return w, offsets
