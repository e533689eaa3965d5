r"""AdaOja on outer products: Oja's method in blocks, whose steps follow from how large the steps so far were.

With the orthonormal columns q_a, and a block of B samples,

.. math:: g_a = \frac{1}{B} \sum_b \chi_b\, (\chi_b \cdot q_a), \qquad b_a \leftarrow \sqrt{b_a^2 + |g_a|^2}, \qquad
          q_a \leftarrow q_a + g_a / b_a,

then all are made orthonormal by a QR decomposition. The sum over a block is all that is kept of its samples.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from flymotion.similarity.rivals.stream_learner import StreamLearner, orthonormal_rows
from flymotion.similarity.samples import accumulate, project
from flymotion.similarity.vectors import signed

__all__ = ["AdaOja"]


class AdaOja(StreamLearner):
    """AdaOja: Oja's method in blocks, with steps that adapt themselves, and a QR decomposition after each.

    Parameters
    ----------
    n_components : int
        Number of components K.
    block_size : int
        Samples B of a block.
    b0 : float
        First guess of the inverse of the step, above 0, for samples in units of the first one's norm. Its size should
        not matter.
    n_passes : int
        Passes over the samples in ``fit``.
    init : array-like, shape (n_components, n_features), optional
        Directions to start from, which are made orthonormal; random ones by default.
    random_state : int, Generator, RandomState or None
        Source of the random ones.

    Attributes
    ----------
    components_ : ndarray, shape (K, n_features)
        Orthonormal, signed so that the largest entry is positive. Samples of a block that is not complete count as a
        last, shorter one; learning goes on as if they had not.
    generators_ : ndarray, shape (K, n_u, n_v)
        The components as matrices, for outer products.
    n_samples_seen_ : int
        Samples learned from, those of norm zero not counted.

    References
    ----------
    Henriksen & Ward, AdaOja: adaptive learning rates for streaming PCA, arXiv:1905.12115, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 3)) * [3.0, 1.0, 0.1]
    >>> AdaOja(1, random_state=0).fit(X).components_.round(1) + 0.0
    array([[1., 0., 0.]])
    """

    _counts = ("n_components", "n_passes", "block_size")

    def __init__(
        self,
        n_components: int = 2,
        *,
        block_size: int = 10,
        b0: float = 1e-5,
        n_passes: int = 1,
        init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.block_size = block_size
        self.b0 = b0
        self.n_passes = n_passes
        self.init = init
        self.random_state = random_state

    def _check_rule(self) -> None:
        if not (isinstance(self.b0, Real) and 0 < float(self.b0) < 1e90):
            raise ValueError(f"b0 is {self.b0!r}; expected a positive number below 1e90")

    def _shapes(self, n_features: int) -> dict[str, tuple[int, ...]]:
        K = self.n_components
        return {"Q": (K, n_features), "b": (K,), "G": (K, n_features), "waiting": (1,)}

    def _start(self) -> dict[str, np.ndarray]:
        return {"Q": self._start_rows(), "b": np.full(self.n_components, float(self.b0))}

    def _advance(self, block: Any) -> None:
        start = 0
        while start < len(block):
            stop = max(start, start + self.block_size - int(self._state["waiting"][0]))
            part = block[start:stop]
            self._state["G"] += accumulate(part, project(part, self._state["Q"] / self._unit)) / self._unit
            self._state["waiting"] += len(part)
            if self._state["waiting"][0] >= self.block_size:
                self._state |= self._stepped()
            start = stop

    def _stepped(self) -> dict[str, np.ndarray]:
        """Return Q and b after a step along the sum so far, and no sum."""
        Q, b, G, waiting = self._state.values()
        if waiting[0] == 0:
            return self._state
        G = G / waiting[0]
        b = np.hypot(b, np.linalg.norm(G, axis=1))
        return {"Q": orthonormal_rows(Q + G / b[:, None]), "b": b, "G": np.zeros_like(G), "waiting": np.zeros(1)}

    @property
    def components_(self) -> np.ndarray:
        """Orthonormal components, shape (n_components, n_features)."""
        check_is_fitted(self)
        return signed(self._stepped()["Q"])
