r"""The network of the reconstruction approach (Section 1.1, Fig. 1a): Eqs. 1 and 2, with Oja's subspace rule.

=========  ===========  ==============================================================================
``X``      (T, n)       samples, one a row
``W``      (K, n)       feedforward synapses, the transpose of the paper's
``y``      (K,)         outputs of one sample
=========  ===========  ==============================================================================

The dynamics of Eq. 2, left, settle at :math:`y = (W W')^{-1} W x`, the least squares of Eq. 1, whatever their time
constant: here they are solved. Then what is left over is orthogonal to all units' weights, so that a step of the rule
changes the lateral matrix by :math:`\eta^2 |x - W'y|^2 \, y y'` and no more: weights never shrink. As they grow, steps
become small beside them, and a constant rate ends as a falling one.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs, seed_of
from flymotion.photoreceptors.stage import as_it_was, check_unchanged
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.samples import check_counts, check_filters, check_samples, outputs_like
from flymotion.similarity.vectors import Vectors, to_numpy
from flymotion.world.conventions import as_generator

__all__ = ["ReconstructionNetwork"]


class ReconstructionNetwork(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Reconstruction of plain vectors, Eqs. 1-2: a network that finds the principal subspace, with a rule not local.

    What no synapse can know, and this one needs:

    - the update of the synapse from input i to unit j, :math:`\eta (x_i - \sum_k W_{ki} y_k) y_j`, takes the outputs of
      *all* units k, and their weights from the same input;
    - the lateral weights :math:`-W W'` are inner products of the units' feedforward weights. They are not learned, but
      have to be those of the moment.

    Parameters
    ----------
    n_components : int
        Number of units K.
    learning_rate : float
        The rate eta of Eq. 2, in (0, 1].
    n_passes : int
        Passes over the samples in ``fit``.
    init : array-like, shape (n_components, n_features), optional
        Initial W; by default independent Gaussian weights of the first sample's size, so that results do not depend on
        the samples' unit. Where that sample is 100 times smaller than the others or more, give larger ones: the first
        steps from small weights are large, and weights never shrink.
    random_state : int, Generator, RandomState or None
        Source of the initial weights.

    Attributes
    ----------
    components_ : ndarray, shape (K, n_features)
        W, the feedforward synapses: a basis of the principal subspace, not orthogonal, and none of its vectors singled
        out. 0 as long as all samples were.
    gramian_ : ndarray, shape (K, K)
        ``W W'``, the lateral synapses but for the sign.
    n_samples_seen_ : int
        Samples learned from, those of norm zero not counted.

    References
    ----------
    Oja, Neural Networks 1992; Olshausen & Field, Nature 1996.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 3)) * [3.0, 1.0, 0.1]
    >>> W = ReconstructionNetwork(1, n_passes=5, random_state=0).fit(X).components_
    >>> (np.abs(W) / np.linalg.norm(W)).round(1) + 0.0
    array([[1., 0., 0.]])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        learning_rate: float = 0.01,
        n_passes: int = 1,
        init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.n_passes = n_passes
        self.init = init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from scratch: ``n_passes`` calls of ``partial_fit``.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Samples that are empty, not finite, of the wrong shape, or outer products; parameters out of range.
        """
        samples = self._check(X, reset=True, allow_empty=False)
        self.__dict__.pop("_W", None)
        for _ in range(self.n_passes):
            self._learn(samples)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more samples, perhaps none; any split of the stream gives the same weights.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            As ``fit``, or another number of units than learned; the weights are as they were before.
        """
        if hasattr(self, "_W"):
            check_unchanged(self, n_components=len(self._W))
        self._learn(self._check(X, reset=not hasattr(self, "n_features_in_"), allow_empty=True))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the outputs at rest of Eq. 2, without learning, shape (n_samples, n_components)."""
        return outputs_like(*self._outputs(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared error of reconstruction (Eq. 1); higher is better."""
        samples, outputs = self._outputs(X)
        return -float(((_as_array(samples) - outputs @ self._W) ** 2).sum(axis=1).mean())  # Eq. 1

    def _outputs(self, X: Any) -> tuple[Vectors, np.ndarray]:
        check_is_fitted(self)
        check_unchanged(self, n_components=len(self._W))
        samples = self._check(X, reset=False, allow_empty=True)
        return samples, _as_array(samples) @ np.linalg.pinv(self._W)  # Eq. 2, left, at rest

    def _check_parameters(self) -> None:
        check_counts(n_components=self.n_components, n_passes=self.n_passes)
        if not 0 < self.learning_rate <= 1:
            raise ValueError(f"learning_rate is {self.learning_rate!r}; expected a rate in (0, 1]")

    def _check(self, X: Any, *, reset: bool, allow_empty: bool) -> Vectors:
        self._check_parameters()
        if isinstance(X, OuterProducts):
            raise ValueError("X holds outer products; expected plain vectors, such as their dense()")
        with as_it_was(self):
            samples: Any = check_samples(self, X, reset=reset, allow_empty=allow_empty)
            if self.init is not None:
                check_filters(self.init, (self.n_components, samples.shape[1]))
        return samples

    def _learn(self, samples: Vectors) -> None:
        from flymotion.similarity.rivals.subspace_rule import learn_to_reconstruct

        X = _as_array(samples)
        X = np.ascontiguousarray(X[X.any(axis=1)])
        if not hasattr(self, "_W"):
            self._W, self.n_samples_seen_ = np.zeros((self.n_components, samples.shape[1])), 0
        if len(X) == 0:
            return
        W = np.array(self._W) if self.n_samples_seen_ else self._start(math.sqrt(X[0] @ X[0]))
        learn_to_reconstruct(X, W, float(self.learning_rate))
        self._W = W
        self.n_samples_seen_ += len(X)

    def _start(self, size: float) -> np.ndarray:
        if self.init is not None:
            return np.array(self.init, dtype=float)
        n = self.n_features_in_
        return as_generator(self.random_state).standard_normal((self.n_components, n)) * (size / math.sqrt(n))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_W")

    @property
    def components_(self) -> np.ndarray:
        """W, shape (n_components, n_features)."""
        check_is_fitted(self)
        return self._W.copy()

    @property
    def gramian_(self) -> np.ndarray:
        """``W W'``, shape (n_components, n_components)."""
        check_is_fitted(self)
        return self._W @ self._W.T

    @property
    def _n_features_out(self) -> int:
        return len(self._W)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the network of again; a ``random_state`` only where it is a number."""
        check_is_fitted(self)
        check_unchanged(self, n_components=len(self._W))
        numbers = {name: getattr(self, name) for name in ("n_components", "n_passes", "learning_rate")}
        numbers |= {"random_state": seed_of(self), "n_samples_seen": self.n_samples_seen_} | inputs_of(self)
        init = None if self.init is None else np.asarray(self.init, dtype=float)
        return packed(numbers, {"init": init, "W": self._W})

    @classmethod
    def unpack(cls, given: Given) -> Self:
        """Return the network that was packed.

        Raises
        ------
        ValueError
            What is no such network.
        """
        network = cls(
            given.number("n_components", int, least=1),
            learning_rate=given.number("learning_rate"),
            n_passes=given.number("n_passes", int, least=1),
            random_state=given.seed("random_state", optional=True),
        )
        network._check_parameters()
        n = restore_inputs(network, given)
        network.feature_shape_ = (n,)
        network.init = given.array("init", network.n_components, n, types=["float64"], optional=True)
        network._W = given.array("W", network.n_components, n, types=["float64"])
        network.n_samples_seen_ = given.number("n_samples_seen", int, least=0)
        return network


def _as_array(samples: Vectors) -> np.ndarray:
    return to_numpy(samples.x).astype(np.float64, copy=False)
