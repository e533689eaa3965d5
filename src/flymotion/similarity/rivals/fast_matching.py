r"""Fast similarity matching on outer products: the network of Eqs. 5-6 that keeps the inverse of its lateral weights.

Outputs are :math:`y = M^{-1} W \chi`, without waiting for dynamics to settle, and with
:math:`\eta_t = 1 / (\gamma t + 5)`

.. math:: W \leftarrow (1 - 2 \eta_t) W + 2 \eta_t\, y \chi', \qquad
          M \leftarrow (1 - \eta_t / \tau) M + (\eta_t / \tau)\, y y',

the second on :math:`M^{-1}`, by the formula of Sherman and Morrison, in K^2 products. For :math:`\tau = 1/2` and
:math:`\gamma = 2` both are averages, and this is :class:`~flymotion.similarity.SimilarityMatching` to rounding, from a
start of ``init_strength`` 0.015.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flymotion.similarity.rivals.stream_learner import StreamLearner, factors_of
from flymotion.similarity.vectors import signed

__all__ = ["FastSimilarityMatching"]

SMALL = 0.01
"""Of the first W and M: so small that the first samples take them over."""


class FastSimilarityMatching(StreamLearner):
    r"""Fast similarity matching (FSM), online principal subspace projection with an inverse that is kept up to date.

    Parameters
    ----------
    n_components : int
        Number of units K.
    gamma : float
        How fast the rates :math:`1 / (\gamma t + 5)` fall, above 0. The authors' code has 1, and tries 0.6, 1.5 and 2:
        2 is the mean of all samples, and less forgets, which is faster where eigenvalues are close.
    tau : float
        Rate of W relative to that of M, by halves: 0.5 if they are alike; above 0.2, and below 0.5 where M is faster.
    n_passes : int
        Passes over the samples in ``fit``.
    init : array-like, shape (n_components, n_features), optional
        Directions to start from, which are made orthonormal; random ones by default. The paper takes the first K
        samples.
    random_state : int, Generator, RandomState or None
        Source of the random ones.

    Attributes
    ----------
    components_ : ndarray, shape (K, n_features)
        ``U' M^-1 W``, with U the eigenvectors of M, largest first: principal components, signed by their largest entry.
    explained_energy_ : ndarray, shape (K,)
        Eigenvalues of M: the mean squared output of each component.
    W_, M_ : ndarray, shapes (K, n_features) and (K, K)
        Feedforward and lateral synapses.
    generators_ : ndarray, shape (K, n_u, n_v)
        The components as matrices, for outer products.
    n_samples_seen_ : int
        Samples learned from, those of norm zero not counted.

    References
    ----------
    Giovannucci, Minden, Pehlevan & Chklovskii, IEEE International Conference on Big Data 2018; Pehlevan, Sengupta &
    Chklovskii, Neural Computation 2018.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) * [3.0, 1.0, 0.1]
    >>> FastSimilarityMatching(1, random_state=0).fit(X).components_.round(1) + 0.0
    array([[1., 0., 0.]])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        gamma: float = 1.0,
        tau: float = 0.5,
        n_passes: int = 1,
        init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.tau = tau
        self.n_passes = n_passes
        self.init = init
        self.random_state = random_state

    def _check_rule(self) -> None:
        if not (isinstance(self.gamma, Real) and 0 < float(self.gamma) < np.inf):
            raise ValueError(f"gamma is {self.gamma!r}; expected a positive number")
        if not (isinstance(self.tau, Real) and 0.2 < float(self.tau) < np.inf):
            raise ValueError(f"tau is {self.tau!r}; expected a number above 0.2, so that M stays positive")

    def _shapes(self, n_features: int) -> dict[str, tuple[int, ...]]:
        return {"W": (self.n_components, n_features), "inverse": (self.n_components, self.n_components)}

    def _start(self) -> dict[str, np.ndarray]:
        return {"W": SMALL * self._start_rows(), "inverse": np.eye(self.n_components) / SMALL}

    def _advance(self, block: Any) -> None:
        from flymotion.similarity.rivals.stream_rules import learn_by_fast_matching

        how = self.n_samples_seen_, float(self.gamma), float(self.tau)
        learn_by_fast_matching(*factors_of(block, self._unit), self._state["W"], self._state["inverse"], *how)

    @property
    def components_(self) -> np.ndarray:
        """Principal components, largest first, shape (n_components, n_features)."""
        check_is_fitted(self)
        values, vectors = np.linalg.eigh(self._state["inverse"])
        return signed((vectors * values).T @ self._state["W"])

    @property
    def explained_energy_(self) -> np.ndarray:
        """Eigenvalues of M, largest first, shape (n_components,)."""
        return np.linalg.eigvalsh(self.M_)[::-1].copy()

    @property
    def W_(self) -> np.ndarray:
        """Feedforward synapses, shape (n_components, n_features)."""
        check_is_fitted(self)
        return self._state["W"] * self._unit**2

    @property
    def M_(self) -> np.ndarray:
        """Lateral synapses, shape (n_components, n_components); their inverse is what is kept."""
        check_is_fitted(self)
        values, vectors = np.linalg.eigh(self._state["inverse"])
        inverses = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
        return (vectors * inverses) @ vectors.T * self._unit**2
