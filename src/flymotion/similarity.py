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
from typing import Any, Self

import numpy as np
from array_api_compat import array_namespace
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from flymotion.features import OuterProducts, Vectors, as_features, to_numpy
from flymotion.initialisation import warm_start, warm_up_length

__all__ = ["NonnegativeSimilarityMatching", "SimilarityMatching"]

FLOOR = 1e-9
"""Share of R's trace under which a unit stops forgetting."""

UNEXPLAINED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}
"""Share of a sample's squared norm that counts as a new direction, by precision."""

CACHED = 2**18
"""Entries of the state that are added to at a time."""


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

    def advance(self, samples: Any, *, forgetting: float, nonnegative: bool, max_iter: int) -> tuple[np.ndarray, int]:
        """Learn from samples; return the outputs as they were while learning, and how many did not converge."""
        from flymotion._recursion import recurse

        n_features = int(np.prod(self.S.shape[1:]))
        size = block_size(n_features)
        outputs, unsolved = [], 0
        for start in range(0, len(samples), size):
            block = samples[start : start + size]
            P = to_numpy(block.project(self.work))
            Q = to_numpy(block.dense() if n_features < len(block) else block.gram())
            theta, D, gain, n = recurse(
                P, Q, self.R, forgetting, FLOOR, UNEXPLAINED[P.dtype], nonnegative, max_iter
            )
            self._add(block, D, gain)
            self.n_samples_seen += int(np.count_nonzero(Q.any(axis=1) if D.shape[1] < len(block) else Q.diagonal()))
            outputs.append(theta)
            unsolved += n
        return np.concatenate(outputs), unsolved

    def _add(self, block: Any, D: np.ndarray, gain: np.ndarray) -> None:
        """Add what a block changed, as many units at a time as stay in the processor's cache."""
        if (gain != 1.0).any():
            self.S *= self._like(gain.reshape(-1, *[1] * (self.S.ndim - 1)), self.S.dtype)
        step = max(1, CACHED // math.prod(self.S.shape[1:]))
        for units in (slice(a, a + step) for a in range(0, len(D), step)):
            if D.shape[1] < len(block):
                change = self._like(D[units].reshape(-1, *self.S.shape[1:]), self.dtype)
            else:
                change = block.accumulate(self._like(D[units], self.dtype).T)
            self.S[units] += change
            if self.work is not self.S:
                self.work[units] = self.S[units]

    def _like(self, array: np.ndarray, dtype: Any) -> Any:
        if isinstance(self.S, np.ndarray):
            return array
        return array_namespace(self.S).asarray(array, dtype=dtype, device=self.S.device)


def block_size(n_features: int) -> int:
    """Samples a block: more where the state is large, since adding to it is done once a block."""
    return int(np.clip(n_features // 1024, 128, 1024)) if n_features > 1024 else 1024


class _SimilarityMatching(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What SM and NSM share; they differ in the sign of their outputs."""

    _nonnegative: bool

    def __init__(
        self,
        n_components: int = 2,
        *,
        forgetting: float = 1.0,
        n_passes: int = 1,
        warm_up: int | None = None,
        init: Any = None,
        init_strength: float = 1.0,
        max_iter: int = 100,
    ) -> None:
        self.n_components = n_components
        self.forgetting = forgetting
        self.n_passes = n_passes
        self.warm_up = warm_up
        self.init = init
        self.init_strength = init_strength
        self.max_iter = max_iter

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
        for name in [n for n in vars(self) if n.endswith("_") or n in ("_state", "_waiting")]:
            delattr(self, name)
        samples = self._check(X, reset=True)
        if len(samples) == 0:
            raise ValueError(f"X has 0 sample(s) (shape {samples.shape}) while a minimum of 1 is required")
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
        samples = self._check(X, reset=False)
        state = self._settled()
        if len(samples) == 0:
            return np.zeros((0, self.n_components))
        inputs = to_numpy(samples.project(state.work))
        return _outputs(inputs, state.R, nonnegative=self._nonnegative, max_iter=self.max_iter)

    def score(self, X: Any, y: Any = None) -> float:
        r"""Similarity captured, ``(2 |sum theta chi'|^2 - |sum theta theta'|^2) / T^2``; higher is better.

        A constant, the mean squared similarity of the samples, minus the objective of Eq. 12 (SM) or 14 (NSM).
        """
        theta = self.transform(X)
        samples = as_features(X)
        if not isinstance(X, OuterProducts):
            samples = self._check(X, reset=False)
        weights = samples.xp.asarray(theta.astype(str(samples.dtype).rpartition(".")[2]))
        cross = to_numpy(samples.accumulate(weights)).astype(float)
        return float((2 * (cross**2).sum() - ((theta.T @ theta) ** 2).sum()) / len(theta) ** 2)

    def _check(self, X: Any, *, reset: bool) -> OuterProducts | Vectors:
        """Return the samples, checked; touches nothing but ``n_features_in_``."""
        self._check_parameters()
        if isinstance(X, OuterProducts):
            _check_products(X)
            if not reset and (X.shape[1] != self.n_features_in_ or self.feature_shape_ != X.feature_shape):
                raise ValueError(
                    f"X has {X.shape[1]} features {X.feature_shape}, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features {self.feature_shape_} as input"
                )
            if reset:
                self.n_features_in_, self.feature_shape_ = X.shape[1], X.feature_shape
            return X
        if hasattr(X, "detach"):  # a torch tensor stays where it is
            return self._check(OuterProducts(X, X[:, :1] * 0 + 1), reset=reset)
        _refuse_masked(X)
        X = validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=0, accept_sparse=False
        )
        if reset:
            self.feature_shape_ = X.shape[1:]
        return Vectors(X)

    def _check_parameters(self) -> None:
        if not (isinstance(self.n_components, (int, np.integer)) and self.n_components > 0):
            raise ValueError(f"n_components is {self.n_components!r}; expected a positive whole number")
        if not 0 < self.forgetting <= 1:
            raise ValueError(f"forgetting is {self.forgetting!r}; expected a factor in (0, 1]")

    def _learn(self, samples: Any, *, outputs: bool = False) -> Any:
        n = len(samples)
        if not hasattr(self, "_state"):
            self._waiting = [*getattr(self, "_waiting", []), samples] if n else getattr(self, "_waiting", [])
            waiting = sum(map(len, self._waiting))
            if waiting < self._warm_up(samples):
                self.__dict__.pop("_provisional", None)
                return self._replay()[1][waiting - n :] if outputs else None
            self._state, theta = self._replay()
            self._waiting = []
            return theta[waiting - n :]
        if n == 0:
            return np.zeros((0, self.n_components))
        return self._advance(self._state, samples.astype(self._state.dtype))

    def _replay(self) -> tuple[_State, np.ndarray]:
        """Start from the waiting samples, then learn from them in order."""
        samples = type(self._waiting[0]).concatenate(self._waiting)
        state = self._start(samples)
        return state, self._advance(state, samples)

    def _start(self, samples: Any) -> _State:
        xp = samples.xp
        if self.init is not None:
            W = xp.asarray(self.init, dtype=samples.dtype)
            S = xp.reshape(W * self.init_strength, (self.n_components, *samples.feature_shape))
            return _State(S, np.eye(self.n_components) * self.init_strength, xp, samples.dtype)
        first = samples[: self._warm_up(samples)]
        theta = warm_start(first.to_numpy(), self.n_components, nonnegative=self._nonnegative)
        weights = xp.asarray(theta, dtype=samples.dtype)
        return _State(first.accumulate(weights), theta.T @ theta, xp, samples.dtype)

    def _warm_up(self, samples: Any) -> int:
        """Return the number of samples to start from."""
        if self.init is not None:
            return 0
        return self.warm_up or warm_up_length(samples.shape[1], sum(samples.feature_shape))

    def _advance(self, state: _State, samples: Any) -> np.ndarray:
        theta, unsolved = state.advance(
            samples, forgetting=self.forgetting, nonnegative=self._nonnegative, max_iter=self.max_iter
        )
        if unsolved:
            warnings.warn(
                f"the outputs of {unsolved} of {len(samples)} samples did not converge in {self.max_iter} "
                "iterations; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        return theta

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


def _refuse_masked(X: Any) -> None:
    if np.ma.isMaskedArray(X):
        raise ValueError("X is a masked array; fill it or drop the masked samples first")


def _check_products(X: OuterProducts) -> None:
    finite = X.xp.isfinite(X.norms())
    if not bool(X.xp.all(finite)):
        raise ValueError(f"Input X contains NaN or infinity in sample {int(np.argmin(to_numpy(finite)))}")


def _outputs(inputs: np.ndarray, R: np.ndarray, *, nonnegative: bool, max_iter: int) -> np.ndarray:
    """Solve Eq. 15 for given ``S chi``, shape (n_samples, K), with the state held still."""
    from flymotion._recursion import respond

    return respond(inputs, R, nonnegative, max_iter)


class SimilarityMatching(_SimilarityMatching):
    r"""Similarity matching (SM), Eqs. 12, 15-18: a network that finds the principal subspace with local rules.

    Parameters
    ----------
    n_components : int
        Number of units K.
    forgetting : float
        Factor in (0, 1] by which the past counts less with every sample. 1 is the paper's averaging (Eq. 18); less is the
        constant rate ``1 - forgetting`` of Section 1.1.
    n_passes : int
        Passes over the samples in ``fit``.
    warm_up : int, optional
        Samples that the start is taken from (:mod:`flymotion.initialisation`); by default twice the features, from 500
        to 5000, or fewer where they are large.
    init : array-like, shape (n_components, n_features), optional
        Initial W, instead of a warm-up.
    init_strength : float
        Initial That of a given ``init``.
    max_iter : int
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
    n_components, forgetting, n_passes, warm_up, init, init_strength, max_iter
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
    >>> NonnegativeSimilarityMatching(2).fit(X).components_.round() + 0.0
    array([[ 1.,  0.],
           [-1.,  0.]])
    """

    _nonnegative = True

    @property
    def components_(self) -> np.ndarray:
        """The rows of W, shape (n_components, n_features)."""
        return self.W_
