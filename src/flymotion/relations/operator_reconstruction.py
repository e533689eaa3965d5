r"""The reconstruction approach to transformations (Section 2.1): operators and magnitudes that explain the change.

.. math:: \min_{A, \theta} \sum_t |\Delta x_t - \sum_a \theta_{ta} A_a x_t|^2 + \lambda |\theta|^2 + \mu |\theta|_1

Eq. 9, with the penalties that Rao and Ruderman, and Miao and Rao, put on magnitudes, and Olshausen's sparseness. Only
the product of an operator and its magnitude counts, so each operator has norm 1.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import FramePairs
from flymotion.photoreceptors.stage import as_it_was, check_unchanged, not_negative
from flymotion.relations.alternation import Penalty, alternate, best_magnitudes
from flymotion.relations.pair_learner import PairLearner
from flymotion.similarity.samples import check_counts
from flymotion.similarity.vectors import signed
from flymotion.world.conventions import as_generator

__all__ = ["OperatorReconstruction"]

SOLVERS, FEATURES = ("alternating", "gradient"), ("change", "midpoint")

MEMORY = 1 - 1 / 1000
"""How much less, with every pair, what earlier pairs left unexplained says of a start that learns online."""


class OperatorReconstruction(PairLearner):
    r"""Reconstruction of the change by operators, Eqs. 8-10, after Rao and Ruderman.

    Online, a pair's magnitudes are solved for, and then operators follow the gradient of Eq. 9,
    :math:`A_a \leftarrow A_a + \eta \theta_a (\Delta x - \sum_b \theta_b A_b x) x'`. The term in brackets takes what
    *all* units b predict, and with one unit what its other synapses do; no synapse of unit a can know it.

    Parameters
    ----------
    n_components : int
        Number of operators K.
    solver : {"alternating", "gradient"}
        What ``fit`` does: closed forms in turn, over all pairs; or the online rule, which is what :meth:`partial_fit`
        does.
    feature : {"change", "midpoint"}
        What operators act on: the frame before (Eq. 9), or the mean of both (Eq. 23).
    nonnegative : bool
        Whether magnitudes are; otherwise they are signed.
    ridge, sparsity : float
        lambda and mu, what squares and sizes of magnitudes cost; in units of squared intensity, where operators have
        norm 1 (of whitened frames, :math:`|A x|^2` is then 1 on average).
    n_init : int
        Random starts, of which that with the least objective is kept.
    learning_rate : float
        The largest step of the rule, in (0, 1]: eta is this over :math:`|\theta|^2 |x|^2`, that of the mean pair so far
        or of the pair itself, whichever is larger.
    n_passes : int
        Passes of the rule over the pairs in ``fit``.
    max_iter, tol : int, float
        Most iterations of an alternation, which ends where one makes the objective less by no more than this share.
    random_state : int, Generator, RandomState or None
        Source of the starts: Gaussian weights.

    Attributes
    ----------
    generators_ : ndarray, shape (K, n_pixels, n_pixels)
        Operators, of norm 1 and in no order. Where magnitudes are signed, the largest entry of each is positive.
        Without penalty and bound any K mixtures of signed ones would do as well.
    objective_ : float
        The least objective, relative to the energy of the changes; of the rule, over about the last 1,000 pairs,
        each before it was learned from.
    objectives_ : ndarray, shape (n_init,)
        Of all starts.
    starts_ : ndarray, shape (n_init, K, n_pixels, n_pixels)
        Operators that each start came to, signed as it came.
    n_iter_ : ndarray, shape (n_init,)
        Iterations of each alternation; of the rule, pairs seen.

    References
    ----------
    Rao & Ruderman, NIPS 1998; Miao & Rao, Neural Computation 2007; Olshausen & Field, Nature 1996.

    Examples
    --------
    >>> import numpy as np
    >>> x, theta = np.random.default_rng(0).normal(size=(2, 500, 2))
    >>> turned = x + 0.1 * theta[:, :1] * x @ [[0.0, -1.0], [1.0, 0.0]]
    >>> A = OperatorReconstruction(1, n_init=2, random_state=0).fit(FramePairs(x, turned)).generators_
    >>> A.round(3) + 0.0
    array([[[ 0.   , -0.707],
            [ 0.707,  0.   ]]])
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        solver: str = "alternating",
        feature: str = "change",
        nonnegative: bool = False,
        ridge: float = 0.0,
        sparsity: float = 0.0,
        n_init: int = 10,
        learning_rate: float = 0.01,
        n_passes: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.feature = feature
        self.nonnegative = nonnegative
        self.ridge = ridge
        self.sparsity = sparsity
        self.n_init = n_init
        self.learning_rate = learning_rate
        self.n_passes = n_passes
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def partial_fit(self, X: FramePairs, y: Any = None) -> Self:
        """Learn from more pairs by the rule, whatever ``fit`` does; any split of the stream gives the same operators.

        Parameters
        ----------
        X : FramePairs
            Pairs of frames, as early vision leaves them.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            As ``fit``; another number of operators, feature or sign of magnitudes than learned. The operators are as
            they were.
        """
        with as_it_was(self):
            self._check_parameters()
            first = not hasattr(self, "starts_")
            if not first:
                self._check_as_learned()
            before, after = self._checked(X, reset=first)
            self._learn(*self._factors(before, after), self._draw() if first else self.starts_.copy())
        return self

    def score(self, X: FramePairs, y: Any = None) -> float:
        """Minus the objective, relative to the energy of the changes; higher is better."""
        check_is_fitted(self)
        self._check_as_learned()
        dx, x = self._factors(*self._checked(X, reset=False))
        return -best_magnitudes(dx, x, self._best, self._penalty)[1] / (float((dx**2).sum()) or 1.0)

    def _check_parameters(self) -> None:
        check_counts(n_components=self.n_components, n_init=self.n_init, n_passes=self.n_passes, max_iter=self.max_iter)
        not_negative(ridge=self.ridge, sparsity=self.sparsity, tol=self.tol)
        for name, known in (("solver", SOLVERS), ("feature", FEATURES), ("nonnegative", (False, True))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected {known[0]!r} or {known[1]!r}")
        if not (isinstance(self.learning_rate, Real) and 0 < float(self.learning_rate) <= 1):
            raise ValueError(f"learning_rate is {self.learning_rate!r}; expected a rate in (0, 1]")

    def _check_as_learned(self) -> None:
        K, feature, nonnegative = self._given
        check_unchanged(self, n_components=K, feature=feature, nonnegative=nonnegative)

    def _factors(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return changes and what operators act on, each of shape (n_pairs, n_pixels)."""
        return after - before, before if self.feature == "change" else (before + after) / 2

    @property
    def _penalty(self) -> Penalty:
        return Penalty(float(self.ridge), float(self.sparsity), bool(self.nonnegative))

    def _draw(self) -> np.ndarray:
        """Draw random operators of norm 1, shape (n_init, K, n, n); nothing was learned yet."""
        n = self.n_features_in_
        starts = as_generator(self.random_state).standard_normal((self.n_init, self.n_components, n, n))
        self._given = self.n_components, self.feature, self.nonnegative
        self._told = np.zeros((self.n_init, 4))
        return starts / np.linalg.norm(starts, axis=(2, 3), keepdims=True)

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        dx, x = self._factors(before, after)
        starts = self._draw()
        if self.solver == "gradient":
            for _ in range(self.n_passes):
                self._learn(dx, x, starts)
            return
        fits = [alternate(dx, x, A, self._penalty, self.max_iter, float(self.tol)) for A in starts]
        self.starts_, self.objectives_, self.n_iter_, settled = map(np.array, zip(*fits, strict=True))
        if not settled[self.objectives_.argmin()]:
            told = f"the objective still fell after {self.max_iter} iterations; raise max_iter"
            warnings.warn(told, ConvergenceWarning, stacklevel=3)

    def _learn(self, dx: np.ndarray, x: np.ndarray, starts: np.ndarray) -> None:
        """Let each start, in place, go over pairs by the rule."""
        from flymotion.relations.operator_rule import learn_operators

        dx, x, told, rate = np.ascontiguousarray(dx), np.ascontiguousarray(x), self._told.copy(), self.learning_rate
        for A, of_start in zip(starts, told, strict=True):
            learn_operators(dx, x, A, of_start, float(rate), *self._penalty, MEMORY)
        self.starts_, self._told = starts, told
        cost, energy = told[:, 2], told[:, 3]
        self.objectives_ = np.divide(cost, energy, out=np.zeros_like(cost), where=energy > 0)
        self.n_iter_ = told[:, 0].astype(int)

    def _transform(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        self._check_as_learned()
        return best_magnitudes(*self._factors(before, after), self.generators_, self._penalty)[0]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "starts_")

    @property
    def _best(self) -> np.ndarray:
        return self.starts_[self.objectives_.argmin()]

    @property
    def generators_(self) -> np.ndarray:
        """Operators of the best start, shape (n_components, n_pixels, n_pixels)."""
        check_is_fitted(self)
        A = self._best.copy()
        return A if self._given[2] else signed(A.reshape(len(A), -1)).reshape(A.shape)

    @property
    def objective_(self) -> float:
        """The least objective of all starts."""
        check_is_fitted(self)
        return float(self.objectives_.min())

    @property
    def _n_features_out(self) -> int:
        return self.starts_.shape[1]
