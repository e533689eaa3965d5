r"""How far each frame was moved by :math:`\exp(\sum_a \theta_a A_a)`: the best magnitudes, from many starts.

The squared error of a pair goes up and down with its magnitudes, so descent alone finds no motion of more than about a
quarter of the period of what it sees. So it begins at those points of a lattice, less than that apart, where the error
is least, and goes on by Gauss-Newton steps with the exact slopes, damped where they do not pay (Levenberg). What is
minimised is

.. math:: |x' - \exp(\sum_a \theta_a A_a) x|^2 + \lambda \sum_a (\theta_a |A_a|)^2
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from flymotion.relations.exponential_action import moved_and_slopes

__all__ = ["Magnitudes", "find", "follow", "spacing"]

DONE = 1e-7
"""Step, relative to the lattice's spacing, at which a pair is done."""

TURN = 0.9
"""Turn from one start to the next [rad]: of equal power at all frequencies a quarter period of the highest."""

FOLLOWED = 3
"""Starts that a pair is followed from: those with the least error."""

ALIKE = 1e-6
"""Difference of errors, relative to the frame's energy, that tells no motions apart."""

LEAST_DAMPING, FIRST_DAMPING = 1e-9, 1e-4
"""Relative to the diagonal of what is solved."""


class Magnitudes(NamedTuple):
    """Magnitudes of pairs, shape (T, K), and what each leaves, the penalty included, shape (T,)."""

    theta: np.ndarray
    cost: np.ndarray


def spacing(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return how far apart starts may be, in each operator's magnitude, shape (K,).

    As far as turns frames by :data:`TURN`, at the root mean square of the frequencies that they have for the operator.
    """
    changes = np.stack([((x @ each.T) ** 2).mean() for each in A])
    return TURN * np.sqrt(np.divide((x**2).mean(), changes, out=np.ones(len(A)), where=changes > 0))


def lattice(K: int, n_starts: int) -> np.ndarray:
    """Return the points of the lattice of whole numbers nearest 0, nearest first, shape (n, K).

    No more than asked for, and whole shells; 0 is always one of them.
    """
    reach = int(n_starts ** (1 / K)) + 1
    points = np.array(list(itertools.product(range(-reach, reach + 1), repeat=K)))
    far = (points**2).sum(axis=1)
    order = np.argsort(far, kind="stable")
    return points[order][np.sort(far) < max(far[order][min(n_starts, len(far) - 1)], 1)]


def find(
    A: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    gaps: np.ndarray,
    n_starts: int,
    ridge: float,
    known: np.ndarray | None = None,
) -> Magnitudes:
    """Look for the best magnitudes of each pair from the best points of the lattice, and from those known.

    Of minima that leave alike little, as turns and whole turns more do, the nearest to no motion is taken.
    """
    starts = _best_starts(A, before, after, gaps, n_starts, ridge)
    if known is not None:
        starts = np.concatenate([starts, known[None]])
    theta, cost = map(np.stack, zip(*(follow(A, before, after, each, gaps, ridge) for each in starts), strict=True))
    alike = cost <= np.nanmin(cost, axis=0) + ALIKE * (after**2).sum(axis=1)
    far = np.where(alike, ((theta / gaps) ** 2).sum(axis=2), np.inf)
    rows = far.argmin(axis=0), np.arange(len(before))
    return Magnitudes(theta[rows], cost[rows])


def _best_starts(
    A: np.ndarray, before: np.ndarray, after: np.ndarray, gaps: np.ndarray, n_starts: int, ridge: float
) -> np.ndarray:
    """Return the lattice's best magnitudes of each pair, shape (n, T, K)."""
    starts = lattice(len(A), n_starts) * gaps
    moves = (expm(np.tensordot(theta, A, axes=1)).T for theta in starts)
    costs = np.stack([((after - before @ move) ** 2).sum(axis=1) for move in moves])
    costs += (starts**2 @ _penalties(A, ridge))[:, None]
    return starts[np.argsort(costs, axis=0, kind="stable")[:FOLLOWED]]


def follow(
    A: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    theta: np.ndarray,
    gaps: np.ndarray,
    ridge: float,
    n_steps: int = 30,
) -> Magnitudes:
    """Descend from given magnitudes, shape (T, K), which are left alone."""
    theta, K, penalties = theta.copy(), len(A), _penalties(A, ridge)
    damping = np.full(len(theta), FIRST_DAMPING)
    y, J = moved_and_slopes(A, theta, before)
    left = after - y
    cost, active = (left**2).sum(axis=1) + theta**2 @ penalties, np.arange(len(theta))
    for _ in range(n_steps):
        normal = J @ J.swapaxes(1, 2) + penalties * np.eye(K)
        target = (J @ left[..., None])[..., 0] - penalties * theta[active]
        size = np.maximum(np.trace(normal, axis1=1, axis2=2), 1e-300)
        diagonal = np.maximum(np.einsum("tkk->tk", normal), 1e-9 * size[:, None])
        normal = normal + (damping[active, None] * diagonal)[..., None] * np.eye(K)
        step = np.linalg.solve(normal, target[..., None])[..., 0]
        step /= np.maximum(np.abs(step / gaps).max(axis=1, keepdims=True), 1.0)
        tried = theta[active] + step
        y, slopes = moved_and_slopes(A, tried, before[active])
        over = after[active] - y
        found = (over**2).sum(axis=1) + tried**2 @ penalties
        pays = found <= cost[active]  # not where it is not finite
        rows = active[pays]
        theta[rows], cost[rows], J[pays], left[pays] = tried[pays], found[pays], slopes[pays], over[pays]
        damping[active] = np.where(pays, damping[active] * 0.1, np.maximum(damping[active] * 10, 1e-3))
        np.maximum(damping, LEAST_DAMPING, out=damping)
        going = np.abs(step / gaps).max(axis=1) > DONE
        active, J, left = active[going], J[going], left[going]
        if not active.size:
            break
    return Magnitudes(theta, cost)


def _penalties(A: np.ndarray, ridge: float) -> np.ndarray:
    return ridge * (A**2).sum(axis=(1, 2))
