r"""Similarity matching, plain (SM) and nonnegative (NSM): the paper's learners, exact, blocked and streaming.

Eqs. 15-18 of Bahroun et al. 2019 are one recursion on two sufficient statistics of the samples ``chi`` and outputs
``theta``, which are the whole state:

=========================================  ===================================================================
``S = sum theta chi'``, (K, *feature)      correlations of outputs with inputs
``R = sum theta theta'``, (K, K)           correlations of outputs, float64
``W = S / diag(R)``                        feedforward synapses, Eq. 16
``M = R / diag(R)`` off the diagonal       lateral synapses, Eq. 17
``That = diag(R)``                         Eq. 18
SM: ``R theta = S chi``                    Eq. 15, left
NSM: nonnegative least squares of the same  Eq. 15, right
=========================================  ===================================================================

With a forgetting factor l < 1 both sums decay by l a sample, and the same recursion is the rule of Section 1.1 (Eqs. 5
and 6) at the constant rate ``eta = 1 - l``. A sample of norm zero changes nothing, not even by forgetting.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from typing import Any, Self

import numpy as np
from array_api_compat import array_namespace
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from flymotion.similarity.features import OuterProducts, Vectors, to_numpy
from flymotion.similarity.initialisation import warm_start, warm_up_length
from flymotion.similarity.samples import check_samples

__all__ = ["NonnegativeSimilarityMatching", "SimilarityMatching", "pack", "unpack"]

RESPONSES = 512
"""Samples answered at a time."""

FLOOR = 1e-9
"""Share of R's trace under which a unit stops forgetting."""

UNEXPLAINED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}
"""Share of a sample's squared norm that counts as a new direction, by precision."""

SMALL = 2048
"""Entries of chi up to which learning sample by sample is faster than by matrix products."""

THREADED = 2**14
"""Entries of chi from which matrix products are worth more than one thread."""

CACHED = 2**18
"""Entries of the state that are added to at a time, so that they stay in the processor's cache."""

VECTOR = 32
"""Entries that the processor takes at a time."""


class _State:
    """The sufficient statistics of one learner, advanced block by block."""

    def __init__(self, S: Any, R: np.ndarray, xp: Any, dtype: Any) -> None:
        self.dtype = dtype
        self.S = xp.astype(S, xp.float64)  # wider than float32 samples, so that long streams do not stall
        self.work = xp.astype(S, dtype, copy=False) if dtype != xp.float64 else self.S
        self.R = R
        self.n_samples_seen = 0

    def copy(self) -> _State:
        """Return an independent copy."""
        twin = _State(self.S, self.R.copy(), array_namespace(self.S), self.dtype)
        twin.n_samples_seen = self.n_samples_seen
        return twin

    def advance(self, samples: Any, *, forgetting: float, nonnegative: bool, max_sweeps: int) -> tuple[np.ndarray, int]:
        """Learn from samples; return the outputs as they were while learning, and how many did not converge."""
        n_features = math.prod(self.S.shape[1:])
        size = block_size(n_features)
        learn = self._learn_in_features if n_features < size else self._learn
        unexplained = UNEXPLAINED[np.dtype(str(self.dtype).rpartition(".")[2])]
        rules = (float(forgetting), FLOOR, unexplained, nonnegative, int(max_sweeps))
        outputs, unsolved = [np.zeros((0, len(self.R)), dtype=to_numpy(self.work[:0]).dtype)], 0
        small = size <= n_features < THREADED
        with _thread_pools().limit(limits=1, user_api="blas") if small else nullcontext():
            for start in range(0, len(samples), size):
                theta, (used, missed) = learn(samples[start : start + size], rules)
                self.n_samples_seen += used
                outputs.append(theta)
                unsolved += missed
        return np.concatenate(outputs), unsolved

    def _learn(self, block: Any, rules: tuple) -> tuple[np.ndarray, tuple[int, int]]:
        from flymotion.similarity.recursion import recurse

        P, G = to_numpy(block.project(self.work)), to_numpy(block.gram())
        theta, D, gain, counts = recurse(P, G, self.R, rules)
        step = max(1, CACHED // math.prod(self.S.shape[1:]))
        for units in (slice(a, a + step) for a in range(0, len(D), step)):
            self._add(units, gain[units], block.accumulate(self._like(D[units], self.dtype).T))
        return theta, counts

    def _learn_in_features(self, block: Any, rules: tuple) -> tuple[np.ndarray, tuple[int, int]]:
        from flymotion.similarity.recursion import recurse_in_features

        u, v = (np.require(to_numpy(factor), requirements=["C", "W"]) for factor in block.factors())
        S = to_numpy(self.work).reshape(len(self.R), -1)
        n_features = S.shape[1]
        padded = np.pad(S, ((0, 0), (0, -n_features % VECTOR)))
        theta, D, gain, counts = recurse_in_features(u, v, padded, self.R, rules)
        self._add(slice(None), gain, self._like(D[:, :n_features].reshape(self.S.shape), self.dtype))
        return theta, counts

    def _add(self, units: slice, gain: np.ndarray, change: Any) -> None:
        if (gain != 1.0).any():
            self.S[units] *= self._like(gain.reshape(-1, *[1] * (self.S.ndim - 1)), self.S.dtype)
        self.S[units] += change
        if self.work is not self.S:
            self.work[units] = self.S[units]

    def _like(self, array: np.ndarray, dtype: Any) -> Any:
        if isinstance(self.S, np.ndarray):
            return array
        return array_namespace(self.S).asarray(array, dtype=dtype, device=self.S.device)


def block_size(n_features: int) -> int:
    """Return the samples of a block: more where the state is large, since adding to it is done once a block."""
    return 4096 if n_features <= SMALL else min(max(128, 2 * math.isqrt(n_features)), 1024)


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


class _SimilarityMatching(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What SM and NSM share; they differ in the sign of their outputs."""

    _nonnegative: bool
    _state: _State
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
        samples = self._check(X, reset=True, allow_empty=False)
        for name in ("_state", "_waiting", "_provisional"):
            self.__dict__.pop(name, None)
        for _ in range(self.n_passes):
            self._learn(samples)
        if (dead := self.dead_units_).size:
            warnings.warn(
                f"{dead.size} of {self.n_components} units have never been active (units {dead.tolist()}): "
                "the samples span fewer directions than there are units",
                ConvergenceWarning,
                stacklevel=2,
            )
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
            As ``fit``; the state is as it was before.
        """
        self._learn(self._check(X, reset=not hasattr(self, "n_features_in_")))
        return self

    def partial_fit_transform(self, X: Any) -> np.ndarray:
        """Learn, and return the outputs as they were while learning: the paper's Theta_t.

        Within the warm-up these are the outputs of a start from the samples seen so far.

        Returns
        -------
        ndarray, shape (n_samples, n_components)
        """
        return self._learn(self._check(X, reset=not hasattr(self, "n_features_in_")), outputs=True)

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
        from flymotion.similarity.recursion import respond

        state, unsolved = self._settled(), 0
        outputs = np.zeros((len(samples), self.n_components), dtype=to_numpy(state.work[:0]).dtype)
        for rows in _blocks(len(samples)):
            inputs = to_numpy(samples[rows].astype(state.dtype).project(state.work))
            outputs[rows], missed = respond(inputs, state.R, self._nonnegative, self.max_sweeps)
            unsolved += missed
        self._warn_of(unsolved, len(samples))
        return outputs

    def score(self, X: Any, y: Any = None) -> float:
        r"""Similarity captured, ``(2 |sum theta chi'|^2 - |sum theta theta'|^2) / T^2``; higher is better.

        A constant, the mean squared similarity of the samples, minus the objective of Eq. 12 (SM) or 14 (NSM).
        """
        check_is_fitted(self)
        samples = self._check(X, reset=False, allow_empty=False)
        theta, state = self._outputs(samples), self._settled()
        cross = np.zeros(state.S.shape)
        for rows in _blocks(len(samples)):
            block = samples[rows].astype(state.dtype)
            cross += to_numpy(block.accumulate(state._like(theta[rows], state.dtype)))
        R = theta.T.astype(np.float64) @ theta
        return float((2 * (cross**2).sum() - (R**2).sum()) / len(theta) ** 2)

    def _check(self, X: Any, *, reset: bool, allow_empty: bool = True) -> OuterProducts | Vectors:
        """Return the samples, checked; touches nothing but ``n_features_in_`` and ``feature_shape_``."""
        self._check_parameters()
        samples = check_samples(self, X, reset=reset, allow_empty=allow_empty)
        if self.init is not None:
            init = np.asarray(self.init, dtype=float)
            if init.shape != (self.n_components, samples.shape[1]) or not np.isfinite(init).all():
                expected = (self.n_components, samples.shape[1])
                raise ValueError(f"init has shape {init.shape}; expected finite numbers of shape {expected}")
        return samples

    def _check_parameters(self) -> None:
        if not (isinstance(self.n_components, (int, np.integer)) and self.n_components > 0):
            raise ValueError(f"n_components is {self.n_components!r}; expected a positive whole number")
        if not 0 < self.forgetting <= 1:
            raise ValueError(f"forgetting is {self.forgetting!r}; expected a factor in (0, 1]")
        warm_up = 1 if self.warm_up is None else self.warm_up
        counts = {"n_passes": self.n_passes, "max_sweeps": self.max_sweeps, "warm_up": warm_up}
        for name, value in counts.items():
            if not (isinstance(value, (int, np.integer)) and value > 0):
                raise ValueError(f"{name} is {value!r}; expected a positive whole number")
        if not 0 < self.init_strength < math.inf:
            raise ValueError(f"init_strength is {self.init_strength!r}; expected a positive number")

    def _learn(self, samples: Any, *, outputs: bool = False) -> Any:
        if hasattr(self, "_state"):
            return self._advance(self._state, samples.astype(self._state.dtype))
        if len(samples) == 0:
            return np.zeros((0, self.n_components))
        lit = to_numpy(samples.norms()) > 0  # samples of norm 0 do not count, here as later
        new = samples[np.flatnonzero(lit)]  # a copy: the caller may reuse the memory
        self._waiting = [*getattr(self, "_waiting", []), new]
        self.__dict__.pop("_provisional", None)
        n_waiting = sum(map(len, self._waiting))
        if n_waiting >= max(self._warm_up(samples), 1):
            self._state, theta = self._replay()
            self._waiting = []
        elif outputs:
            theta = self._replay()[1]
        else:
            return None
        responses = np.zeros((len(samples), self.n_components), dtype=theta.dtype)
        responses[lit] = theta[n_waiting - len(new) :]
        return responses

    def _replay(self) -> tuple[_State, np.ndarray]:
        """Start from the waiting samples, then learn from them in order."""
        samples = type(self._waiting[0]).concatenate(self._waiting)
        state = self._start(samples)
        return state, self._advance(state, samples)

    def _start(self, samples: Any) -> _State:
        def like(array: Any) -> Any:
            return samples.xp.asarray(array, dtype=samples.dtype, device=samples.device)

        if self.init is not None:
            shape = (self.n_components, *samples.feature_shape)
            S = like(np.asarray(self.init, dtype=float).reshape(shape) * self.init_strength)
            return _State(S, np.eye(self.n_components) * self.init_strength, samples.xp, samples.dtype)
        first = samples[: self._warm_up(samples)]
        theta = warm_start(first.to_numpy(), self.n_components, nonnegative=self._nonnegative)
        return _State(first.accumulate(like(theta)), theta.T @ theta, samples.xp, samples.dtype)

    def _warm_up(self, samples: Any) -> int:
        """Return the number of samples to start from."""
        if self.init is not None:
            return 0
        return self.warm_up or warm_up_length(samples.shape[1], sum(samples.feature_shape))

    def _advance(self, state: _State, samples: Any) -> np.ndarray:
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

    # -- what was learned ----------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state") or bool(getattr(self, "_waiting", []))

    def _settled(self) -> _State:
        """Return the state, or while the warm-up is incomplete the one of a start from what there is."""
        check_is_fitted(self)
        if hasattr(self, "_state"):
            return self._state
        if not hasattr(self, "_provisional"):
            self._provisional = self._replay()[0]
        return self._provisional

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
        return _over_diagonal(self.S_.reshape(self.n_components, -1), self.R_)

    @property
    def M_(self) -> np.ndarray:
        """Lateral synapses (Eq. 17), shape (n_components, n_components), with a zero diagonal."""
        R = self.R_
        return _over_diagonal(R - np.diag(np.diag(R)), R)

    @property
    def dead_units_(self) -> np.ndarray:
        """Units that have never been active."""
        return np.flatnonzero(np.diag(self.R_) == 0)

    @property
    def generators_(self) -> np.ndarray:
        """Learned filters as matrices, shape (n_components, n_u, n_v): row i weights onto the change at pixel i.

        Raises
        ------
        AttributeError
            After learning from plain vectors.
        """
        if len(self.feature_shape_) != 2:
            raise AttributeError("generators_ exist only for a learner of OuterProducts; see components_")
        return self.components_.reshape(self.n_components, *self.feature_shape_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components


def _over_diagonal(rows: np.ndarray, R: np.ndarray) -> np.ndarray:
    diagonal = np.diag(R)[:, None]
    return np.divide(rows, diagonal, out=np.zeros_like(rows), where=diagonal > 0)


def _blocks(n_samples: int) -> Iterator[slice]:
    """Yield the samples answered at a time."""
    return (slice(start, start + RESPONSES) for start in range(0, n_samples, RESPONSES))


class SimilarityMatching(_SimilarityMatching):
    r"""Similarity matching (SM), Eqs. 12, 15-18: a network that finds the principal subspace with local rules.

    Parameters
    ----------
    n_components : int
        Number of units K.
    forgetting : float
        Factor in (0, 1] by which the past counts less with every sample. 1 is the paper's averaging (Eq. 18); less
        is the constant rate ``1 - forgetting`` of Section 1.1.
    n_passes : int
        Passes over the samples in ``fit``.
    warm_up : int, optional
        Samples that the start is taken from (:mod:`flymotion.similarity.initialisation`); by default ten times the
        features, from 500 to 5000, or fewer where they are large.
    init : array-like, shape (n_components, n_features), optional
        Initial W, instead of a warm-up.
    init_strength : float
        Initial That of a given ``init``.
    max_sweeps : int
        Most sweeps of the inner problem of a sample.

    Attributes
    ----------
    W_, M_ : ndarray, shapes (K, n_features) and (K, K)
        Synapses (Eqs. 16, 17). Rows of SM's W are mixtures of components.
    components_ : ndarray, shape (K, n_features)
        ``U' R^-1 S``, with U the eigenvectors of R, largest first: principal components, signed by their largest entry.
    generators_ : ndarray, shape (K, n_u, n_v)
        The components as matrices, for outer products.
    S_, R_, n_samples_seen_, dead_units_
        The state, and units never used.

    Notes
    -----
    Data are not centred: the mean of chi is signal (Suppl. B).

    References
    ----------
    Bahroun, Sengupta & Chklovskii, NeurIPS 2019; Pehlevan, Hu & Chklovskii, Neural Computation 2015.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) * [3.0, 1.0, 0.1]
    >>> SimilarityMatching(1).fit(X).components_.round(1) + 0.0
    array([[1., 0., 0.]])
    """

    _nonnegative = False

    @property
    def components_(self) -> np.ndarray:
        """Principal components, largest first, shape (n_components, n_features); 0 for unused units."""
        S, R = self.S_.reshape(self.n_components, -1), self.R_
        values, vectors = np.linalg.eigh(R)
        used = values > 1e-12 * values.max()
        scale = np.divide(1.0, values, out=np.zeros_like(values), where=used)
        components = (scale[:, None] * (vectors.T @ S))[::-1]
        largest = np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1)
        return components * np.where(largest < 0, -1.0, 1.0)


class NonnegativeSimilarityMatching(_SimilarityMatching):
    r"""Nonnegative similarity matching (NSM), Eqs. 14-18: one unit for each direction of motion, or each cluster.

    Parameters
    ----------
    n_components, forgetting, n_passes, warm_up, init, init_strength, max_sweeps
        As in :class:`SimilarityMatching`.

    Attributes
    ----------
    W_, M_ : ndarray, shapes (K, n_features) and (K, K)
        Synapses (Eqs. 16, 17).
    components_ : ndarray, shape (K, n_features)
        The rows of W, the filters of Fig. 2d.
    generators_ : ndarray, shape (K, n_u, n_v)
        The rows of W as matrices, for outer products.
    S_, R_, n_samples_seen_, dead_units_
        The state, and units never used.

    References
    ----------
    Bahroun, Sengupta & Chklovskii, NeurIPS 2019; Pehlevan & Chklovskii, Asilomar 2014.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(1000, 1)) * [[1.0, 0.0]]
    >>> np.sort(NonnegativeSimilarityMatching(2).fit(X).components_, axis=0).round() + 0.0
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    _nonnegative = True

    @property
    def components_(self) -> np.ndarray:
        """The rows of W, shape (n_components, n_features)."""
        return self.W_


def pack(network: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the numbers and arrays that a network of outer products goes on from, with the parameters it has."""
    if hasattr(network, "_state"):
        state = network._state
        numbers = {"dtype": str(np.dtype(state.dtype)), "n_samples_seen": state.n_samples_seen}
        return numbers, {"S": to_numpy(state.S), "R": state.R}
    numbers = {"dtype": None, "n_samples_seen": 0}
    if not getattr(network, "_waiting", []):
        return numbers, {}
    chi = OuterProducts.concatenate(network._waiting)
    return numbers, {"u": chi.u, "v": chi.v}


def unpack(network: Any, numbers: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Let a network that has seen nothing go on from what :func:`pack` returned."""
    if "S" in arrays:
        S = arrays["S"]
        network._state = _State(S, arrays["R"], array_namespace(S), np.dtype(numbers["dtype"]))
        network._state.n_samples_seen = numbers["n_samples_seen"]
        shape = S.shape[1:]
    elif "u" in arrays:
        chi = OuterProducts(arrays["u"], arrays["v"])
        network._waiting = [chi]
        shape = chi.feature_shape
    else:
        return
    network.feature_shape_ = tuple(int(s) for s in shape)
    network.n_features_in_ = int(np.prod(shape))
