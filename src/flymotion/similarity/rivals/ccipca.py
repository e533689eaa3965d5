r"""Candid covariance-free incremental PCA on outer products: each component from what the earlier ones leave.

With :math:`u_1 = \chi`, for sample n and component a in order,

.. math:: v_a \leftarrow \frac{n - 1 - l}{n} v_a + \frac{1 + l}{n} u_a \frac{u_a \cdot v_a}{|v_a|}, \qquad
          u_{a+1} = u_a - (u_a \cdot v_a) v_a / |v_a|^2,

and :math:`v_a = u_a` where there was none. Its direction is the eigenvector's, its length the eigenvalue.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flymotion.similarity.rivals.stream_learner import StreamLearner, factors_of
from flymotion.similarity.vectors import signed

__all__ = ["CCIPCA"]


class CCIPCA(StreamLearner):
    """Candid covariance-free incremental principal component analysis, uncentred: no rate, and no random start.

    Parameters
    ----------
    n_components : int
        Number of components K.
    amnesic : float
        The amnesic parameter l, of 0 or more: later samples count as if there were 1 + l of each. 0 is the mean of
        all; the paper takes 2 to 4. The weight of the past is 1 / n where the formula's is less.
    n_passes : int
        Passes over the samples in ``fit``.

    Attributes
    ----------
    components_ : ndarray, shape (K, n_features)
        Of norm 1, in the order in which they were taken away, signed so that the largest entry is positive; 0 beyond
        the directions of the samples so far.
    explained_energy_ : ndarray, shape (K,)
        The eigenvalues: the mean squared output of each component.
    generators_ : ndarray, shape (K, n_u, n_v)
        The components as matrices, for outer products.
    n_samples_seen_ : int
        Samples learned from, those of norm zero not counted.

    Notes
    -----
    The paper takes the mean of the samples so far away; here nothing is centred, since the mean of chi is signal.

    References
    ----------
    Weng, Zhang & Hwang, IEEE Transactions on Pattern Analysis and Machine Intelligence 2003.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 3)) * [1.0, 3.0, 0.1]
    >>> CCIPCA(2).fit(X).components_.round(1) + 0.0
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """

    def __init__(self, n_components: int = 2, *, amnesic: float = 2.0, n_passes: int = 1) -> None:
        self.n_components = n_components
        self.amnesic = amnesic
        self.n_passes = n_passes

    def _check_rule(self) -> None:
        if not (isinstance(self.amnesic, Real) and 0 <= float(self.amnesic) < np.inf):
            raise ValueError(f"amnesic is {self.amnesic!r}; expected a number of 0 or more")

    def _shapes(self, n_features: int) -> dict[str, tuple[int, ...]]:
        return {"V": (self.n_components, n_features)}

    def _start(self) -> dict[str, np.ndarray]:
        return {}

    def _advance(self, block: Any) -> None:
        from flymotion.similarity.rivals.stream_rules import learn_by_ccipca

        learn_by_ccipca(*factors_of(block, self._unit), self._state["V"], self.n_samples_seen_, float(self.amnesic))

    @property
    def components_(self) -> np.ndarray:
        """Principal components, shape (n_components, n_features); 0 where there are none."""
        check_is_fitted(self)
        V, lengths = self._state["V"], np.linalg.norm(self._state["V"], axis=1, keepdims=True)
        return signed(np.divide(V, lengths, out=np.zeros_like(V), where=lengths > 0))

    @property
    def explained_energy_(self) -> np.ndarray:
        """Eigenvalues of the second moment, shape (n_components,)."""
        check_is_fitted(self)
        return np.linalg.norm(self._state["V"], axis=1) * self._unit**2
