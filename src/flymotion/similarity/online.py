"""What SM and NSM share: scikit-learn estimators that learn from a stream, from a warm start or given filters."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from flymotion.models.packing import Given, Packed, inputs_of, packed, restore_inputs
from flymotion.photoreceptors.stage import as_it_was, check_unchanged
from flymotion.similarity.features import OuterProducts, unpack_samples
from flymotion.similarity.initialisation import warm_start, warm_up_length
from flymotion.similarity.samples import check_counts, check_filters, check_forgetting, check_samples, generators_of
from flymotion.similarity.state import State
from flymotion.similarity.vectors import Vectors, in_float64_if_needed, to_numpy

__all__ = ["OnlineNetwork"]

COUNTS = {"n_components": 2**13, "n_passes": 2**31, "warm_up": 2**62, "max_sweeps": 2**31}
"""Parameters that are whole numbers, and the largest that are read from files."""


class OnlineNetwork(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What SM and NSM share; they differ in the sign of their outputs, and in what their components are."""

    _nonnegative: bool
    _state: State
    _waiting: list[Any]

    def __init__(
        self,
        n_components: int = 2,
        *,
        forgetting: float = 1.0,
        n_passes: int = 1,
        warm_up: int | None = None,
        init: Any = None,
        init_strength: float = 1.0,
        max_sweeps: int = 100,
    ) -> None:
        self.n_components = n_components
        self.forgetting = forgetting
        self.n_passes = n_passes
        self.warm_up = warm_up
        self.init = init
        self.init_strength = init_strength
        self.max_sweeps = max_sweeps

    # -- learning ------------------------------------------------------------------------------------------------

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
        samples = self._check(X, reset=True, allow_empty=False, anew=True)
        for name in ("_state", "_waiting", "_provisional"):
            self.__dict__.pop(name, None)
        for _ in range(self.n_passes):
            self._learn(samples)
        self._warn_of_the_dead()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more samples; any split of the stream gives the same state.

        The first ``warm_up`` samples are kept until they are complete, since learning starts from what they show; until
        then the attributes are those of a start from what there is.

        Parameters
        ----------
        X : array, shape (n_samples, n_features), or OuterProducts
            Samples, perhaps none.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            As ``fit``, or another number of units than learned; the state is as it was before.

        Warns
        -----
        ConvergenceWarning
            Once, after as many samples as a warm-up takes by default or more, of units that none has made active.
        """
        self._learn_on(X)
        return self

    def partial_fit_transform(self, X: Any) -> np.ndarray:
        """Learn, and return the outputs as they were while learning: the paper's Theta_t.

        Within the warm-up these are the outputs of a start from the samples seen so far.

        Returns
        -------
        ndarray, shape (n_samples, n_components)
        """
        return self._learn_on(X, outputs=True)

    def transform(self, X: Any) -> np.ndarray:
        """Return the outputs of Eq. 15, without learning.

        Parameters
        ----------
        X : array, shape (n_samples, n_features), or OuterProducts
            Samples.

        Returns
        -------
        ndarray, shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._outputs(self._check(X, reset=False))

    def _outputs(self, samples: Any) -> np.ndarray:
        theta, unsolved = self._settled().respond(samples, nonnegative=self._nonnegative, max_sweeps=self.max_sweeps)
        self._warn_of(unsolved, len(samples))
        return theta

    def score(self, X: Any, y: Any = None) -> float:
        r"""Similarity captured, ``(2 |sum theta chi'|^2 - |sum theta theta'|^2) / T^2``; higher is better.

        A constant, the mean squared similarity of the samples, minus the objective of Eq. 12 (SM) or 14 (NSM).
        """
        check_is_fitted(self)
        samples = self._check(X, reset=False, allow_empty=False)
        return self._settled().captured(samples, self._outputs(samples))

    def _check(self, X: Any, *, reset: bool, allow_empty: bool = True, anew: bool = False) -> OuterProducts | Vectors:
        """Return the samples, checked; touches nothing but ``n_features_in_`` and ``feature_shape_``."""
        self._check_parameters()
        if not anew:
            self._check_units()
        with as_it_was(self):
            samples = check_samples(self, X, reset=reset, allow_empty=allow_empty)
            if self.init is not None:
                check_filters(self.init, (self.n_components, samples.shape[1]))
        return samples

    def _check_units(self) -> None:
        if hasattr(self, "_state"):
            check_unchanged(self, n_components=len(self._state.R))

    def _check_parameters(self) -> None:
        check_counts(n_components=self.n_components, n_passes=self.n_passes, max_sweeps=self.max_sweeps)
        if self.warm_up is not None:
            check_counts(warm_up=self.warm_up)
        check_forgetting(self.forgetting)
        if not 0 < self.init_strength < math.inf:
            raise ValueError(f"init_strength is {self.init_strength!r}; expected a positive number")

    def _learn_on(self, X: Any, *, outputs: bool = False) -> Any:
        samples = self._check(X, reset=not hasattr(self, "n_features_in_"))
        before = self._state.n_samples_seen if hasattr(self, "_state") else 0
        theta = self._learn(samples, outputs=outputs)
        if hasattr(self, "_state") and not self._state.active.all():
            enough = max(self._warm_up(samples), warm_up_length(samples.shape[1], sum(samples.feature_shape)))
            if before < enough <= self._state.n_samples_seen:
                self._warn_of_the_dead()
        return theta

    def _learn(self, samples: Any, *, outputs: bool = False) -> Any:
        if hasattr(self, "_state"):
            return self._advance(self._state, samples)
        if len(samples) == 0:
            return np.zeros((0, self.n_components))
        lit = to_numpy(in_float64_if_needed(samples).norms()) > 0  # samples of norm 0 do not count, here as later
        new = samples[np.flatnonzero(lit)]  # a copy: the caller may reuse the memory
        self._waiting = [*getattr(self, "_waiting", []), new]
        self.__dict__.pop("_provisional", None)
        n_waiting = sum(map(len, self._waiting))
        if n_waiting >= (self._warm_up(samples) if self.init is None else 1):
            self._state, theta = self._replay()
            self._waiting = []
        elif outputs:
            theta = self._replay()[1]
        else:
            return None
        responses = np.zeros((len(samples), self.n_components), dtype=theta.dtype)
        responses[lit] = theta[n_waiting - len(new) :]
        return responses

    def _replay(self) -> tuple[State, np.ndarray]:
        """Start from the waiting samples, then learn from them in order."""
        samples = type(self._waiting[0]).concatenate(self._waiting)
        state = self._start(samples)
        return state, self._advance(state, samples)

    def _start(self, samples: Any) -> State:
        if self.init is not None:
            W = np.asarray(self.init, dtype=float).reshape(self.n_components, *samples.feature_shape)
            return State.of_filters(W, self.init_strength, samples)
        first = in_float64_if_needed(samples[: self._warm_up(samples)])
        theta = warm_start(first.to_numpy(), self.n_components, nonnegative=self._nonnegative)
        return State.of_outputs(theta, first, samples.dtype)

    def _warm_up(self, samples: Any) -> int:
        """Return the number of samples to start from, where no ``init`` is given."""
        return self.warm_up or warm_up_length(samples.shape[1], sum(samples.feature_shape))

    def _advance(self, state: State, samples: Any) -> np.ndarray:
        theta, unsolved = state.advance(
            samples, forgetting=self.forgetting, nonnegative=self._nonnegative, max_sweeps=self.max_sweeps
        )
        self._warn_of(unsolved, len(samples))
        return theta

    def _warn_of(self, unsolved: int, n: int) -> None:
        if unsolved:
            warnings.warn(
                f"the outputs of {unsolved} of {n} samples did not converge in {self.max_sweeps} sweeps; "
                "raise max_sweeps",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _warn_of_the_dead(self) -> None:
        if (dead := self.dead_units_).size:
            why = "span fewer directions than there are units" if self.init is None else "are none that they answer"
            warnings.warn(
                f"{dead.size} of {self._n_features_out} units have never been active (units {dead.tolist()}): "
                f"the samples {why}",
                ConvergenceWarning,
                stacklevel=4,
            )

    # -- what was learned ----------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state") or bool(getattr(self, "_waiting", []))

    def _settled(self) -> State:
        """Return the state, or while the warm-up is incomplete the one of a start from what there is."""
        check_is_fitted(self)
        if hasattr(self, "_state"):
            return self._state
        given = repr([np.asarray(value).tolist() for value in self.get_params().values()])
        if getattr(self, "_provisional", (None,))[0] != given:
            self._provisional = given, self._replay()[0]
        return self._provisional[1]

    @property
    def S_(self) -> np.ndarray:
        """Correlations of outputs with inputs, shape (n_components, *feature_shape)."""
        return to_numpy(self._settled().S).copy()

    @property
    def R_(self) -> np.ndarray:
        """Correlations of outputs, shape (n_components, n_components)."""
        return self._settled().R.copy()

    @property
    def n_samples_seen_(self) -> int:
        """Samples learned from, those of norm zero not counted."""
        return self._settled().n_samples_seen

    @property
    def W_(self) -> np.ndarray:
        """Feedforward synapses (Eq. 16), shape (n_components, n_features); 0 for dead units."""
        return self._settled().W

    @property
    def M_(self) -> np.ndarray:
        """Lateral synapses (Eq. 17), shape (n_components, n_components), with a zero diagonal."""
        return self._settled().M

    @property
    def dead_units_(self) -> np.ndarray:
        """Units that no sample has made active since the start, shape (n_dead,)."""
        return np.flatnonzero(~self._settled().active)

    @property
    def generators_(self) -> np.ndarray:
        """Learned filters as matrices, shape (n_components, n_u, n_v): row i weights onto the change at pixel i.

        Raises
        ------
        AttributeError
            After learning from plain vectors.
        """
        return generators_of(self, self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self._state.R) if hasattr(self, "_state") else self.n_components

    # -- kept ----------------------------------------------------------------------------------------------------

    def pack(self) -> Packed:
        """Return all that learning goes on from, as :meth:`unpack` takes it; tensors become numpy arrays.

        Raises
        ------
        ValueError
            A number of units that was changed since learning began.
        """
        self._check_units()
        numbers = {name: getattr(self, name) for name in COUNTS} | {"init_strength": self.init_strength}
        numbers |= {"forgetting": self.forgetting, "feature_shape": list(getattr(self, "feature_shape_", ())) or None}
        waiting = getattr(self, "_waiting", [])
        return packed(
            numbers | inputs_of(self),
            {"init": None if self.init is None else np.asarray(self.init, dtype=float)},
            state=getattr(self, "_state", None),
            waiting=type(waiting[0]).concatenate(waiting) if waiting else None,
        )

    @classmethod
    def unpack(cls, given: Given) -> Self:
        """Return the network that was packed.

        Raises
        ------
        ValueError
            What is no such network.
        """
        counts = {name: given.number(name, int, most=most, optional=name == "warm_up") for name, most in COUNTS.items()}
        network = cls(**counts, forgetting=given.number("forgetting"), init_strength=given.number("init_strength"))
        network._check_parameters()
        n = restore_inputs(network, given, optional=True)
        shape = given.feature_shape(n)
        network.init = given.array("init", network.n_components, n, types=["float64"], optional=True)
        state, waiting = given.part("state", optional=True), given.part("waiting", optional=True)
        if shape is None:
            if state or waiting:
                raise given.wrong("feature_shape", "null", "the shape of what was learned from")
            return network
        network.feature_shape_ = shape
        if state:
            network._state = State.unpack(state, (network.n_components, *shape))
        if waiting:
            network._waiting = [unpack_samples(waiting, shape)]
        return network
