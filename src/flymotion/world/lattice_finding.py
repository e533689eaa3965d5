r"""The hexagonal lattice of a measured eye, worked out from where its lenses look.

It is grown outwards from where the eye is most regular. A place of the lattice next to lenses that have theirs is where
a smooth map, fitted to all lenses near it, says that it is, and goes to the lens that is nearest to that, if no other
place is nearer to the lens. Lenses that the finished lattice expects elsewhere lose their place, and it grows again.

======  ===============  ==========================================================================================
``q``   (n, 2)           axial coordinates of lenses, as in :mod:`flymotion.world.lattices`
``u``   (..., 36, 2)     coordinates of the places of three rings, relative to the middle one
``w``   (..., 36)        weight of the lens there, 0 where there is none
``p``   (..., 3)         direction that the map, quadratic in u, says that a place looks in
======  ===============  ==========================================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from flymotion.world.eyes import Sphere
from flymotion.world.lattices import BEARINGS, STEPS, as_seen, rings

__all__ = ["axial_coordinates"]

REGULAR = 0.5
"""How far a neighbour may be from its corner of the best hexagon where the lattice begins [spacings]."""

NEAR = 0.5
"""How far a lens may be from where its place is expected [spacings]."""

PLACED = 0.9
"""Share of the lenses that have to find a place."""

ALIGNED = 0.75
"""How far bearings have to agree all over the eye: length of the mean of unit vectors, relative to nominal bearings."""

_U = np.array([u for u in rings(3).tolist() if any(u)])
_TERMS = np.column_stack([np.ones(len(_U)), _U, _U**2, _U.sum(axis=1) ** 2])
_WEIGHTS = np.exp(-(_U[:, 0] ** 2 + _U[:, 0] * _U[:, 1] + _U[:, 1] ** 2) / 8)
_PRIOR = np.diag([0.0, 1e-6, 1e-6, 10.0, 10.0, 10.0])  # bends little


def axial_coordinates(directions: Any) -> np.ndarray:
    """Return the axial coordinates of lenses, those of the lens nearest to the middle of all being (0, 0).

    Columns are such that neighbours are as near to :data:`~flymotion.world.lattices.BEARINGS` as they can be.

    Parameters
    ----------
    directions : array-like, shape (n_lenses, 3)
        Where lenses look (x forward, y left, z up).

    Returns
    -------
    ndarray of int, shape (n_lenses, 2)
        Lenses that fit in nowhere, a tenth at most, are put outside the lattice, next to none.

    Raises
    ------
    ValueError
        Directions on no hexagonal lattice: all round, nowhere regular, with a place for fewer than nine in ten, or on
        one that turns.

    Examples
    --------
    >>> from flymotion.world.eyes import Hexagon
    >>> flat = 0.1 * Hexagon(3).positions
    >>> q = axial_coordinates([[1.0, -x, -y] for x, y in flat])
    >>> bool((q == Hexagon(3).axial).all())
    True
    """
    eye = Sphere(directions)
    middle = eye.directions.mean(axis=0)
    if len(eye.neighbours) == 3 * len(eye.directions) - 6 and np.linalg.norm(middle) < 0.5:  # Euler: without a rim
        raise ValueError(
            f"{len(eye.directions)} directions all round, where no hexagonal lattice closes; expected those of one eye"
        )
    q, has = _begun(eye)
    for _ in range(3):
        q, has = _grown(eye.directions, q, has)
        p, spacing, _ = _expected(q[has], q, has, eye.directions)
        fits = np.linalg.norm(p - eye.directions[has], axis=1) < NEAR * spacing
        has[has] = fits
        if fits.all():
            break
    if has.sum() < PLACED * len(has):
        raise ValueError(
            f"{len(has)} directions, of which {has.sum()} fit on a hexagonal lattice; expected {PLACED:.0%} or more"
        )
    q = _upright(eye.directions, q, has)
    q -= q[np.flatnonzero(has)[np.argmax(eye.directions[has] @ middle)]]
    outside = q[has].max(axis=0) + 2
    q[~has] = outside + 2 * np.arange((~has).sum())[:, None] * [1, 0]
    return q


def _begun(eye: Sphere) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates of the most regular lens and its neighbours, and which lenses have coordinates."""
    n = len(eye.directions)
    both_ways = np.concatenate([eye.neighbours, eye.neighbours[:, ::-1]])
    both_ways = both_ways[np.argsort(both_ways[:, 0], kind="stable")]
    six = np.flatnonzero(np.bincount(both_ways[:, 0], minlength=n) == 6)
    around = both_ways[np.isin(both_ways[:, 0], six), 1].reshape(-1, 6)
    right, up = as_seen(eye.directions[six])
    ahead = eye.directions[around] - eye.directions[six, None]
    z = np.vecdot(ahead, right[:, None]) + 1j * np.vecdot(ahead, up[:, None])
    order = np.argsort(np.angle(z) % (2 * np.pi), axis=1)  # counter-clockwise from the right, as bearings are
    z, around = np.take_along_axis(z, order, axis=1), np.take_along_axis(around, order, axis=1)
    corners = np.exp(1j * np.radians(BEARINGS))
    size = (z * corners.conj()).mean(axis=1, keepdims=True)
    size = np.where(np.abs(size) > 0, size, 1.0)
    off = np.full(n, np.inf)
    off[six] = np.abs(z / size - corners).max(axis=1)
    off_nearby = np.maximum(off[six], off[around].max(axis=1, initial=0.0))
    if not len(six) or off_nearby.min() > REGULAR:
        raise ValueError(f"{n} directions, nowhere as regular as a hexagonal lattice; expected those of a compound eye")
    k = int(np.argmin(off_nearby))
    q, has = np.zeros((n, 2), dtype=int), np.zeros(n, dtype=bool)
    q[around[k]] = STEPS
    has[around[k]] = has[six[k]] = True
    return q, has


def _grown(directions: np.ndarray, q: np.ndarray, has: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates of all lenses that the lattice reaches, and which these are."""
    q, has = q.copy(), has.copy()
    while not has.all():
        free = np.flatnonzero(~has)
        table, low = _table(q, has)
        neighbours = sum(np.roll(table >= 0, step, axis=(0, 1)).astype(int) for step in STEPS)
        next_to = np.argwhere((table < 0) & (neighbours > 1)) + low
        p, spacing, doubt = _expected(next_to, q, has, directions)
        distance, lens = cKDTree(directions[free]).query(p)
        off = distance / spacing
        nearest = np.full(len(free), np.inf)
        np.minimum.at(nearest, lens, off)
        chosen = (off == nearest[lens]) & (off < NEAR)
        if not chosen.any():
            break
        chosen &= doubt <= 1.2 * doubt[chosen].min()  # the surest first: what comes after knows more
        q[free[lens[chosen]]] = next_to[chosen]
        has[free[lens[chosen]]] = True
    return q, has


def _table(q: np.ndarray, has: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which lens is at each place, -1 where there is none, in a wide border too; and the first place."""
    low = q[has].min(axis=0) - 4
    table = np.full(q[has].max(axis=0) - low + 5, -1)
    table[tuple((q[has] - low).T)] = np.flatnonzero(has)
    return table, low


def _lenses_at(places: np.ndarray, q: np.ndarray, has: np.ndarray) -> np.ndarray:
    """Return which lens is at places, shape (..., 2), four from the lattice at most; -1 where there is none."""
    table, low = _table(q, has)
    return table[tuple(np.moveaxis(places - low, -1, 0))]


def _expected(
    places: np.ndarray, q: np.ndarray, has: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where places should look by the lenses about them, shape (m, 3), the spacing there, and the doubt."""
    lens = _lenses_at(places[:, None] + _U, q, has)
    weighted = (_WEIGHTS * (lens >= 0))[..., None] * _TERMS
    inverse = np.linalg.inv(weighted.swapaxes(1, 2) @ _TERMS + _PRIOR)
    fit = inverse @ (weighted.swapaxes(1, 2) @ directions[lens])
    p, along = fit[:, 0], np.stack([fit[:, 1], fit[:, 2], fit[:, 1] - fit[:, 2]], axis=1)
    return p / np.linalg.norm(p, axis=1, keepdims=True), np.linalg.norm(along, axis=2).mean(axis=1), inverse[:, 0, 0]


def _upright(directions: np.ndarray, q: np.ndarray, has: np.ndarray) -> np.ndarray:
    """Return coordinates turned, by sixths, to where neighbours are nearest to their nominal bearings."""
    right, up = as_seen(directions[has])
    ahead = _lenses_at(q[has][:, None] + STEPS, q, has)
    step = directions[ahead] - directions[has][:, None]
    z = np.vecdot(step, right[:, None]) + 1j * np.vecdot(step, up[:, None])
    z = np.where(ahead >= 0, z / np.maximum(np.abs(z), 1e-12), 0.0) * np.exp(-1j * np.radians(BEARINGS))
    if (agreement := np.abs(z.sum()) / (ahead >= 0).sum()) < ALIGNED:
        raise ValueError(
            f"{len(has)} directions on a lattice that turns: bearings of neighbours agree to {agreement:.2f}, of "
            f"{ALIGNED:g} to 1; expected an eye that sees a part of the sphere"
        )
    sixth = np.array([[1, -1], [1, 0]])  # STEPS @ sixth are the steps one further round
    return q @ np.linalg.matrix_power(sixth, round(float(np.angle(z.sum(), deg=True)) / 60) % 6)
