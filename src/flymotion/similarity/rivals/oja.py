r"""Oja's subspace rule on outer products, and Sanger's, which finds the components in their order.

With outputs :math:`y = W \chi` of one sample, and the rate :math:`\eta`,

.. math:: \Delta W_a = \eta\, y_a (\chi - \sum_c y_c W_c) \quad (Oja), \qquad
          \Delta W_a = \eta\, y_a (\chi - \sum_{c \le a} y_c W_c) \quad (Sanger).

One unit's rule is Oja's first, and both the same. A synapse has to know the outputs of other units and their weights
from the same input, as in Eq. 2 of Bahroun et al. 2019, whose outputs, though, settle first.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flymotion.similarity.rivals.stream_learner import StreamLearner, factors_of

__all__ = ["OjaSubspace"]


class OjaSubspace(StreamLearner):
    r"""Oja's subspace rule of K units, or with ``ordered`` the generalised Hebbian algorithm of Sanger.

    Parameters
    ----------
    n_components : int
        Number of units K.
    learning_rate : float
        The rate of the first sample, above 0, relative to the mean squared output of a unit so far, so that neither
        the unit of the samples nor how many features there are matters. No step is larger than half the inverse of
        its sample's squared norm, above which the rule may diverge.
    decay : float
        Power of the number of samples by which the rate falls, from 0 (a constant rate) to 1. With 1 the past is
        left behind in time only where ``learning_rate`` is above about
        :math:`\lambda_K / 2 (\lambda_K - \lambda_{K+1})`.
    ordered : bool
        Whether each unit learns from what the earlier ones leave, which makes them components, largest first.
    n_passes : int
        Passes over the samples in ``fit``.
    init : array-like, shape (n_components, n_features), optional
        Directions to start from, which are made orthonormal; random ones by default.
    random_state : int, Generator, RandomState or None
        Source of the random ones.

    Attributes
    ----------
    components_ : ndarray, shape (K, n_features)
        W as learned: nearly orthonormal; any basis of the subspace, or where ``ordered`` the components.
    generators_ : ndarray, shape (K, n_u, n_v)
        The components as matrices, for outer products.
    n_samples_seen_ : int
        Samples learned from, those of norm zero not counted.

    References
    ----------
    Oja, Journal of Mathematical Biology 1982; Oja, Neural Networks 1992; Sanger, Neural Networks 1989.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 3)) * [3.0, 1.0, 0.1]
    >>> np.abs(OjaSubspace(1, random_state=0).fit(X).components_.round(1))
    array([[1., 0., 0.]])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        learning_rate: float = 3.0,
        decay: float = 1.0,
        ordered: bool = False,
        n_passes: int = 1,
        init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.decay = decay
        self.ordered = ordered
        self.n_passes = n_passes
        self.init = init
        self.random_state = random_state

    def _check_rule(self) -> None:
        if not (isinstance(self.learning_rate, Real) and 0 < float(self.learning_rate) < np.inf):
            raise ValueError(f"learning_rate is {self.learning_rate!r}; expected a positive number")
        if not (isinstance(self.decay, Real) and 0 <= float(self.decay) <= 1):
            raise ValueError(f"decay is {self.decay!r}; expected a power from 0 to 1")
        if not isinstance(self.ordered, bool | np.bool_):
            raise ValueError(f"ordered is {self.ordered!r}; expected True or False")

    def _shapes(self, n_features: int) -> dict[str, tuple[int, ...]]:
        return {"W": (self.n_components, n_features), "seen": (2,)}

    def _start(self) -> dict[str, np.ndarray]:
        return {"W": self._start_rows()}

    def _advance(self, block: Any) -> None:
        from flymotion.similarity.rivals.stream_rules import learn_by_oja

        how = float(self.learning_rate), float(self.decay), bool(self.ordered)
        learn_by_oja(*factors_of(block, self._unit), self._state["W"], self._state["seen"], *how)

    @property
    def components_(self) -> np.ndarray:
        """W, shape (n_components, n_features)."""
        check_is_fitted(self)
        return self._state["W"].copy()
