"""What learners of principal components from a stream share: one sample after another, each seen once.

Samples are taken in units of the first one's norm, so that what is learned does not depend on theirs; nothing is
centred, as for all that learns from chi here.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import orth
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs, seed_of
from flymotion.photoreceptors.stage import as_it_was, check_unchanged
from flymotion.similarity.samples import (
    blocks,
    check_counts,
    check_filters,
    check_samples,
    generators_of,
    outputs_like,
    project,
)
from flymotion.similarity.vectors import to_numpy
from flymotion.world.conventions import as_generator

__all__ = ["StreamLearner", "factors_of", "orthonormal_rows"]


class StreamLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A learner of components from a stream of outer products, or of plain vectors.

    Subclasses give their parameters, ``n_components`` and ``n_passes`` among them, ``_check_rule()``, ``_shapes()`` of
    the arrays of their state, ``_start()`` of it, ``_advance(block)`` and ``components_``.
    """

    n_components: int
    n_passes: int
    _state: dict[str, np.ndarray]
    _counts: ClassVar[tuple[str, ...]] = ("n_components", "n_passes")
    """Parameters that are positive whole numbers."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from scratch: ``n_passes`` calls of ``partial_fit``.

        Parameters
        ----------
        X : array, shape (n_samples, n_features), or OuterProducts
            Samples.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            Samples that are empty, not finite, or of the wrong shape; parameters out of range.
        """
        samples = self._check(X, reset=True, allow_empty=False)
        self.__dict__.pop("_state", None)
        for _ in range(self.n_passes):
            self._learn(samples)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more samples, perhaps none; any split of the stream gives the same state.

        Parameters
        ----------
        X : array, shape (n_samples, n_features), or OuterProducts
            Samples.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            As ``fit``, or another number of components than learned; the state is as it was before.
        """
        if hasattr(self, "_state"):
            check_unchanged(self, n_components=self._n_features_out)
        self._learn(self._check(X, reset=not hasattr(self, "n_features_in_"), allow_empty=True))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the inner products with ``components_``, without learning, shape (n_samples, n_components)."""
        return outputs_like(*self._outputs(X, self._fitted()))

    def score(self, X: Any, y: Any = None) -> float:
        """Energy captured: the mean squared norm of the samples' parts in the span of the components."""
        _, outputs = self._outputs(X, orth(self._fitted().T).T)
        return float((outputs**2).sum(axis=1).mean())

    def _fitted(self) -> np.ndarray:
        check_is_fitted(self)
        check_unchanged(self, n_components=self._n_features_out)
        return self.components_

    def _outputs(self, X: Any, filters: np.ndarray) -> tuple[Any, np.ndarray]:
        samples = self._check(X, reset=False, allow_empty=True)
        return samples, project(samples, filters)

    def _check(self, X: Any, *, reset: bool, allow_empty: bool) -> Any:
        self._check_parameters()
        with as_it_was(self):
            samples = check_samples(self, X, reset=reset, allow_empty=allow_empty)
            self._check_init(samples.shape[1])
        return samples

    def _check_parameters(self) -> None:
        check_counts(**{name: getattr(self, name) for name in self._counts})
        self._check_rule()

    def _check_init(self, n_features: int) -> None:
        init = getattr(self, "init", None)
        if init is not None:
            check_filters(init, (self.n_components, n_features))

    def _learn(self, samples: Any) -> None:
        if hasattr(self, "_state"):
            self._state = {name: np.array(array) for name, array in self._state.items()}
        else:
            self._state = {name: np.zeros(shape) for name, shape in self._shapes(samples.shape[1]).items()}
            self._unit, self.n_samples_seen_ = 0.0, 0
        for _, block in blocks(samples, self.n_components):
            norms = to_numpy(block.norms())
            lit = np.flatnonzero(norms)  # what is nothing changes nothing
            if lit.size == 0:
                continue
            if self._unit == 0:
                self._unit = float(norms[lit[0]])
                self._state |= self._start()
            self._advance(block if lit.size == len(block) else block[lit])
            self.n_samples_seen_ += lit.size

    def _start_rows(self) -> np.ndarray:
        """Return where to start from: ``init`` or random directions, made orthonormal."""
        init: Any = getattr(self, "init", None)
        if init is None:
            init = as_generator(self.random_state).standard_normal((self.n_components, self.n_features_in_))
        return orthonormal_rows(np.asarray(init, dtype=float))

    def _check_rule(self) -> None:
        """Check the parameters that are the rule's own; a ValueError names the one that is out of range."""
        raise NotImplementedError

    def _shapes(self, n_features: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the state's arrays, by name, those of one number a component first."""
        raise NotImplementedError

    def _start(self) -> dict[str, np.ndarray]:
        """Return the arrays of the state that are not 0 before the first sample, by name."""
        raise NotImplementedError

    def _advance(self, block: Any) -> None:
        """Learn from samples, none of them nothing, in float64; the state's arrays may be changed in place."""
        raise NotImplementedError

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def components_(self) -> np.ndarray:
        """What was learned, shape (n_components, n_features)."""
        raise NotImplementedError

    @property
    def generators_(self) -> np.ndarray:
        """The components as matrices, shape (n_components, n_u, n_v).

        Raises
        ------
        AttributeError
            After learning from plain vectors.
        """
        return generators_of(self, self.components_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    @property
    def _n_features_out(self) -> int:
        return len(next(iter(self._state.values())))

    # -- kept ----------------------------------------------------------------------------------------------------

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the learner of again; a ``random_state`` only where it is a number."""
        self._fitted()
        numbers = self.get_params() | {"n_samples_seen": self.n_samples_seen_, "unit": self._unit} | inputs_of(self)
        numbers["feature_shape"] = list(self.feature_shape_)
        arrays = dict(self._state)
        if "random_state" in numbers:
            init = numbers.pop("init")
            numbers["random_state"] = seed_of(self)
            arrays |= {} if init is None else {"init": np.asarray(init, dtype=float)}
        return packed(numbers, arrays)

    @classmethod
    def unpack(cls, given: Given) -> Self:
        """Return the learner that was packed.

        Raises
        ------
        ValueError
            What is no such learner.
        """
        learner = cls()
        for name, default in learner.get_params().items():
            if name not in ("init", "random_state"):
                setattr(learner, name, given.number(name, type(default)))
        learner._check_parameters()
        n = restore_inputs(learner, given)
        learner.feature_shape_ = given.feature_shape(n)
        if hasattr(learner, "random_state"):
            learner.random_state = given.seed("random_state", optional=True)
            learner.init = given.array("init", learner.n_components, n, types=["float64"], optional=True)
        shapes = learner._shapes(n)
        learner._state = {name: given.array(name, *shape, types=["float64"]) for name, shape in shapes.items()}
        learner.n_samples_seen_ = given.number("n_samples_seen", int, least=0)
        learner._unit = given.number("unit", least=0)
        return learner


def orthonormal_rows(rows: np.ndarray) -> np.ndarray:
    """Return orthonormal rows, shape (n_rows, n), each in the span of those up to it; 0 where there is no room.

    By the QR decomposition with a positive diagonal of R, so that little changes where the rows were nearly so.
    """
    Q, R = np.linalg.qr(rows.T)
    found = np.zeros(rows.shape)
    found[: Q.shape[1]] = (Q * np.where(np.diag(R) < 0, -1.0, 1.0)).T
    return found


def factors_of(block: Any, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Return samples, divided by a unit, as factors of shapes (n, r, n_u) and (n, r, n_v) that compiled loops take."""
    u, v = (np.require(to_numpy(factor), requirements=["C", "W"]) for factor in block.factors())
    return u / unit, v
