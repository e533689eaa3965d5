r"""Operators learned through the matrix exponential (Miao and Rao 2007), which large motions do not mislead.

.. math:: \min_{A, \theta} \sum_t |x_{t+1} - \exp(\sum_a \theta_{ta} A_a) x_t|^2
          + \lambda \sum_{ta} (\theta_{ta} |A_a|)^2

Eq. 8 is its first order. The error is a function of the operators alone once every pair has its best magnitudes, and
has then the slope that it has with these held still; so quasi-Newton steps in the operators, with magnitudes that
follow, need no more than that. Magnitudes are looked for anew, from many starts, before and after.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from flymotion.generators import Operators
from flymotion.photoreceptors.stage import check_unchanged, not_negative
from flymotion.relations.alternation import Penalty, alternate
from flymotion.relations.exponential_action import moved, operator_slopes
from flymotion.relations.exponential_magnitudes import find, follow, spacing
from flymotion.relations.pair_learner import PairLearner
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.rivals import OuterProductPCA
from flymotion.similarity.samples import check_counts
from flymotion.similarity.vectors import signed

__all__ = ["ExponentialOperators"]

SHARES = 0.2, 0.5, 1.0
"""Of the pairs, those that change least: learned from one after the other, each from where the one before led."""

ITERATIONS_BEFORE = 10
"""Most iterations on a part of the pairs."""

FIRST_ORDER = 15
"""Alternations to first order, to start from."""

STEPS = 2
"""Of the magnitudes, as operators change."""


class ExponentialOperators(PairLearner):
    r"""Operators whose exponentials move the frame before onto the frame after, after Miao and Rao.

    Nothing is drawn at random: operators start from the first order, the principal components of chi and closed forms
    in turn, of the fifth of the pairs that change least. No synapse could learn so: the slope of one weight takes what
    all operators together leave unexplained, moved back by parts of the pair's motion.

    Parameters
    ----------
    n_components : int
        Number of operators K.
    ridge : float
        lambda, what squares of magnitudes cost: a Gaussian prior, in units of squared intensity, where operators have
        norm 1.
    n_starts : int
        Most magnitudes that a pair is tried with before it is followed: points of a lattice about 0. 17 reach 8 steps
        both ways with one operator, 4 pixels or more; with two, which take a net, 200 reach as far. What turns all the
        way round within that reach is told up to whole turns.
    max_iter, tol : int, float
        Most iterations on all pairs, which end where one makes the objective less by no more than this.

    Attributes
    ----------
    generators_ : ndarray, shape (K, n_pixels, n_pixels)
        Operators, of norm 1, the largest entry of each positive. Without penalty any K mixtures would do as well.
    gaps_ : ndarray, shape (K,)
        Steps of the lattice, in each operator's magnitude.
    objective_ : float
        The objective, relative to the energy of the changes.
    n_iter_ : int
        Iterations on all pairs.

    References
    ----------
    Miao & Rao, Neural Computation 2007; Rao & Ruderman, NIPS 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from flymotion.frames import FramePairs
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> angles = np.linspace(-2, 2, 500)
    >>> turn = np.stack([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    >>> pairs = FramePairs(x, np.einsum("ijt,tj->ti", turn, x))
    >>> learner = ExponentialOperators(n_starts=5).fit(pairs)
    >>> np.abs(learner.generators_).round(3)
    array([[[0.   , 0.707],
            [0.707, 0.   ]]])
    >>> theta = learner.transform(pairs)[:, 0]
    >>> round(float(abs(np.corrcoef(theta, angles)[0, 1])), 6)
    1.0
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        ridge: float = 0.0,
        n_starts: int = 17,
        max_iter: int = 100,
        tol: float = 1e-5,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol

    def operators(self, eye: Any) -> Operators:
        """Return the operators as what moves images of an eye, or of a shape, in the units of the magnitudes."""
        check_is_fitted(self)
        return Operators(self.generators_, eye)

    def _check_parameters(self) -> None:
        check_counts(n_components=self.n_components, n_starts=self.n_starts, max_iter=self.max_iter)
        not_negative(ridge=self.ridge, tol=self.tol)

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        change = ((after - before) ** 2).sum(axis=1)
        if not change.any():
            raise ValueError("no pair of X changes; expected motion to learn operators from")
        size = (before**2).sum(axis=1) + (after**2).sum(axis=1)
        order = np.argsort(np.divide(change, size, out=np.zeros_like(size), where=size > 0), kind="stable")
        A = _first_order(*self._part(before, after, order, SHARES[0]), self.n_components)
        for share in SHARES:
            x, x_next = self._part(before, after, order, share)
            most = self.max_iter if share == 1.0 else min(ITERATIONS_BEFORE, self.max_iter)
            with np.errstate(over="ignore", invalid="ignore"):  # operators that blow up are not kept
                fit = _descend(A, x, x_next, self, most)
            A = fit.operators
        self.generators_ = signed(A.reshape(len(A), -1)).reshape(A.shape)
        self.gaps_ = spacing(A, before)
        self.objective_, self.n_iter_ = fit.objective, fit.n_iter
        if not fit.settled:
            told = f"the objective still fell after {self.max_iter} iterations; raise max_iter"
            warnings.warn(told, ConvergenceWarning, stacklevel=3)

    def _part(
        self, before: np.ndarray, after: np.ndarray, order: np.ndarray, share: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the first pairs in an order: a share of them, but as many as determine operators if there are."""
        least = 2 * self.n_components * before.shape[1]
        rows = order[: max(math.ceil(share * len(order)), least)]
        return before[rows], after[rows]

    def _transform(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        check_unchanged(self, n_components=len(self.generators_))
        with np.errstate(over="ignore", invalid="ignore"):
            return find(self.generators_, before, after, self.gaps_, self.n_starts, self.ridge).theta

    @property
    def _n_features_out(self) -> int:
        return len(self.generators_)


class _Fit(NamedTuple):
    operators: np.ndarray
    objective: float
    n_iter: int
    settled: bool


def _first_order(before: np.ndarray, after: np.ndarray, K: int) -> np.ndarray:
    """Return what explains the pairs' changes to first order (Eq. 23), of norm 1, shape (K, n, n)."""
    dx, middle = after - before, (before + after) / 2
    A = _of_norm_1(OuterProductPCA(K).fit(OuterProducts(dx, middle)).generators_)
    return alternate(dx, middle, A, Penalty(), FIRST_ORDER, 0.0).operators


def _of_norm_1(A: np.ndarray) -> np.ndarray:
    return A / np.maximum(np.linalg.norm(A, axis=(1, 2), keepdims=True), 1e-300)


def _descend(A: np.ndarray, before: np.ndarray, after: np.ndarray, how: ExponentialOperators, most: int) -> _Fit:
    """Improve operators, until magnitudes that are looked for anew make no more difference."""
    energy = float(((after - before) ** 2).sum()) or 1.0
    n_iter, theta, last = 0, None, np.inf
    while True:
        found = find(A, before, after, spacing(A, before), how.n_starts, how.ridge, theta)
        objective = float(found.cost.sum()) / energy
        settled = objective > last - 10 * how.tol
        if settled or n_iter >= most:
            return _Fit(A, objective, n_iter, settled)
        A, theta, last, more = _improved(A, found.theta, before, after, how, most - n_iter, energy)
        n_iter += more


def _improved(
    A: np.ndarray,
    theta: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    how: ExponentialOperators,
    most: int,
    energy: float,
) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Return better operators, of norm 1, and their magnitudes, objective, and how many iterations it took."""
    roots = _inverse_roots(theta, before, energy)
    best = theta, np.inf

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        A = flat.reshape(roots.shape) @ roots
        found = follow(A, before, after, best[0], spacing(A, before), how.ridge, STEPS)
        value = float(found.cost.sum()) / energy
        if not np.isfinite(value):
            return 1e10, np.zeros_like(flat)
        if value < best[1]:
            best = found.theta, value
        left = after - moved(A, found.theta, before)
        slopes = 2 * how.ridge * (found.theta**2).sum(axis=0)[:, None, None] * A
        slopes -= 2 * operator_slopes(A, found.theta, before, left)
        return value, (slopes @ roots).ravel() / energy

    start = (A @ np.linalg.inv(roots)).ravel()
    options = {"maxiter": most, "maxcor": 20, "ftol": how.tol}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    A = found.x.reshape(A.shape) @ roots
    return _of_norm_1(A), best[0] * np.linalg.norm(A, axis=(1, 2)), float(found.fun), int(found.nit)


def _inverse_roots(theta: np.ndarray, before: np.ndarray, energy: float) -> np.ndarray:
    """Return the inverse roots of the moments of the frames as magnitudes weight them, shape (K, n, n).

    What operators are times these roots has an objective of curvature 1, to first order.
    """
    moments = np.stack([(weights[:, None] * before).T @ before for weights in (theta**2).T])
    moments *= 2 / energy
    values, vectors = np.linalg.eigh(moments)
    values = np.maximum(values, np.maximum(1e-6 * values[:, -1:], 1e-300))
    return (vectors / np.sqrt(values)[:, None]) @ vectors.swapaxes(1, 2)
