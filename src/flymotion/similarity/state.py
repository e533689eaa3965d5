r"""The state of similarity matching: two sums, all that a network has learned.

Eqs. 15-18 of Bahroun et al. 2019 are one recursion on two sufficient statistics of the samples ``chi`` and outputs
``theta``:

==========================================  ===================================
``S = sum theta chi'``, (K, *feature)       correlations of outputs with inputs
``R = sum theta theta'``, (K, K)            correlations of outputs, float64
``W = S / diag(R)``                         feedforward synapses, Eq. 16
``M = R / diag(R)`` off the diagonal        lateral synapses, Eq. 17
``That = diag(R)``                          Eq. 18
SM: ``R theta = S chi``                     Eq. 15, left
NSM: nonnegative least squares of the same  Eq. 15, right
==========================================  ===================================

With a forgetting factor l < 1 both sums decay by l a sample, and the same recursion is the rule of Section 1.1 (Eqs. 5
and 6) at the constant rate ``eta = 1 - l``. A sample of norm zero changes nothing, not even by forgetting, and neither
does one that no unit answers: the past would fade, and nothing come in its place.

float32 samples are multiplied with a float32 copy of S, unless that loses what is to be told apart
(:func:`loses`): then they are computed with in float64, and only the outputs are float32.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from flymotion.models.packing import Given, Packed
from flymotion.similarity.threads import one_thread
from flymotion.similarity.vectors import UNLIKE, in_usual_range, to_numpy

__all__ = ["State", "block_size", "loses"]

RESPONSES = 512
"""Samples answered at a time."""

FLOOR = 1e-9
"""Share of R's trace under which a unit stops forgetting."""

UNEXPLAINED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}
"""Share of a sample's squared norm that counts as a new direction, by precision."""

TINY = 256
"""Entries of chi up to which learning sample by sample is faster than by matrix products."""

SMALL = 2048
"""Entries of vectors up to which learning sample by sample is faster than a block by its Gram matrix."""

FACTORED = 4096
"""Entries of outer products up to which learning a few samples at a time is."""

THREADED = 2**14
"""Entries of chi from which matrix products are worth more than one thread."""

VECTOR = 32
"""Entries that the processor takes at a time."""

CACHED = 2**18
"""Entries of the state that are added to at a time, so that they stay in the processor's cache."""

ENERGIES = (1e-16, 1e26)
"""Traces of R between which float32 holds S and its products with samples."""

TOLERANCE = 1e-6
"""Of correlations that are read, relative to the roots of the variances."""


class State:
    """The sufficient statistics of one learner, advanced block by block.

    Parameters
    ----------
    S : array, shape (K, *feature_shape)
        Correlations of outputs with inputs, in the samples' library; kept in float64.
    R : ndarray, shape (K, K)
        Correlations of outputs; kept, and changed in place.
    xp : module
        The samples' array-API namespace.
    dtype : dtype
        Of the samples.
    active : ndarray of bool, shape (K,), optional
        Units that have answered a sample; by default none.
    """

    def __init__(self, S: Any, R: np.ndarray, xp: Any, dtype: Any, active: np.ndarray | None = None) -> None:
        self.dtype = dtype
        self.S = xp.astype(S, xp.float64)  # wider than float32 samples, so that long streams do not stall
        with np.errstate(over="ignore"):
            self.work = xp.astype(S, dtype, copy=False) if dtype != xp.float64 else self.S
        self.R = R
        self.n_samples_seen = 0
        self.active = np.zeros(len(R), dtype=bool) if active is None else active
        self.wide = loses(R)

    @classmethod
    def of_filters(cls, W: np.ndarray, strength: float, samples: Any) -> State:
        """Return the state of units with given W, shape (K, *feature_shape), and That, before any sample."""
        state = cls(_as(samples, W * strength), np.eye(len(W)) * strength, samples.xp, samples.dtype)
        state.wide = True  # as long as R says nothing of the samples
        return state

    @classmethod
    def of_outputs(cls, theta: np.ndarray, samples: Any, dtype: Any) -> State:
        """Return the state, for samples of this type, of units that have answered some so, shape (n_samples, K)."""
        R = theta.T @ theta
        samples = samples.astype(samples.xp.float64) if loses(R) else samples
        return cls(samples.accumulate(_as(samples, theta)), R, samples.xp, dtype)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the state of again, as numpy arrays."""
        numbers = {"dtype": _name(self.dtype), "n_samples_seen": self.n_samples_seen}
        return numbers, {"S": to_numpy(self.S), "R": self.R, "active": self.active.astype(np.int64)}

    @classmethod
    def unpack(cls, given: Given, shape: tuple[int, ...]) -> State:
        """Return the state that was packed.

        Raises
        ------
        ValueError
            What is no state of this shape, (K, *feature_shape): R, in particular, that is no sum of outer products.
        """
        S = given.array("S", *shape, types=["float64"])
        R = given.array("R", shape[0], shape[0], types=["float64"])
        _check_sum(given, R)
        dtype = given.number("dtype", str, among=map(str, UNEXPLAINED))
        S, R = np.ascontiguousarray(S), np.ascontiguousarray(R)  # as they are made; others would be compiled for
        active = given.array("active", shape[0], types=["int64"], least=0, optional=True)
        if active is not None and (active > 1).any():
            raise given.wrong("active", f"{active.max()} somewhere", "0 or 1 of each unit")
        known = np.diag(R) > 0 if active is None else active > 0  # the first files did not have it
        state = cls(S, R, array_namespace(S), np.dtype(dtype), known)
        if not (state.wide or np.isfinite(state.work).all()):
            raise given.wrong("S", f"too large for {dtype}", "numbers in its range")
        state.n_samples_seen = given.number("n_samples_seen", int, least=0)
        return state

    @property
    def W(self) -> np.ndarray:
        """Feedforward synapses, shape (K, n_features); 0 for dead units."""
        return _over_diagonal(to_numpy(self.S).reshape(len(self.R), -1), self.R)  # Eq. 16

    @property
    def M(self) -> np.ndarray:
        """Lateral synapses, shape (K, K), with a zero diagonal."""
        return _over_diagonal(self.R - np.diag(np.diag(self.R)), self.R)  # Eq. 17

    def advance(self, samples: Any, *, forgetting: float, nonnegative: bool, max_sweeps: int) -> tuple[np.ndarray, int]:
        """Learn from samples.

        Returns
        -------
        outputs : ndarray, shape (n_samples, K)
            As they were while learning.
        unsolved : int
            How many did not converge.
        """
        from flymotion.similarity.recursion import Rules

        self._own()
        n_features = math.prod(self.S.shape[1:])
        most = FACTORED if self.S.ndim == 3 and isinstance(self.S, np.ndarray) else SMALL  # others stay on their device
        learn, size = self._learn_in_features if n_features <= most else self._learn, block_size(n_features, most)
        unexplained = UNEXPLAINED[np.dtype(_name(self.dtype))]
        rules = Rules(float(forgetting), FLOOR, unexplained, nonnegative, int(max_sweeps))
        outputs, unsolved = np.zeros((len(samples), len(self.R)), dtype=to_numpy(self.work[:0]).dtype), 0
        small = TINY < n_features < THREADED
        with one_thread() if small else nullcontext():
            in_range = in_usual_range(samples)
            for rows in _blocks(len(samples), size):
                block, work = self._fit_for(samples[rows], in_range)
                outputs[rows], (used, missed) = learn(block, work, rules)
                self.n_samples_seen += used
                unsolved += missed
                if rows.start == 0 or rows.stop >= len(samples):
                    self.wide = self.work is not self.S and loses(self.R)
        if not self.active.all():
            self.active |= (outputs != 0).any(axis=0)
        return outputs, unsolved

    def _own(self) -> None:
        """Copy what cannot be written to, as of a file that is mapped to memory."""
        if not self.R.flags.writeable:
            self.R = np.array(self.R)
        if isinstance(self.S, np.ndarray) and not (self.S.flags.writeable and self.work.flags.writeable):
            alike = self.work.dtype == self.S.dtype
            self.S = np.array(self.S)
            self.work = self.S if alike else np.array(self.work)

    def _fit_for(self, block: Any, in_range: bool) -> tuple[Any, Any]:
        """Return samples, and S to multiply them with, in the precision that they need."""
        wide = self.wide or not in_range
        return (block.astype(block.xp.float64), self.S) if wide else (block.astype(self.dtype), self.work)

    def respond(self, samples: Any, *, nonnegative: bool, max_sweeps: int) -> tuple[np.ndarray, int]:
        """Answer samples, the state held still.

        Returns
        -------
        outputs : ndarray, shape (n_samples, K)
            Those of Eq. 15.
        unsolved : int
            How many did not converge.
        """
        from flymotion.similarity.recursion import respond

        outputs, unsolved = np.zeros((len(samples), len(self.R)), dtype=to_numpy(self.work[:0]).dtype), 0
        R = np.array(self.R)  # one that the compiled code knows, wherever this one comes from
        in_range = in_usual_range(samples)
        for rows in _blocks(len(samples), RESPONSES):
            block, work = self._fit_for(samples[rows], in_range)
            outputs[rows], missed = respond(to_numpy(block.project(work)), R, nonnegative, max_sweeps)
            unsolved += missed
        return outputs, unsolved

    def captured(self, samples: Any, theta: np.ndarray) -> float:
        """Return the similarity that outputs capture: Eq. 12's objective taken from its value at outputs of 0."""
        S = np.zeros(self.S.shape)
        in_range = in_usual_range(samples)
        for rows in _blocks(len(samples), RESPONSES):
            block, _ = self._fit_for(samples[rows], in_range)
            S += to_numpy(block.accumulate(self._like(theta[rows], block.dtype)))
        R = theta.T.astype(np.float64) @ theta
        return float((2 * (S**2).sum() - (R**2).sum()) / len(theta) ** 2)  # Eqs. 12, 14

    def _learn(self, block: Any, work: Any, rules: Any) -> tuple[np.ndarray, tuple[int, int]]:
        from flymotion.similarity.recursion import recurse

        P, G = to_numpy(block.project(work)), to_numpy(block.gram())
        theta, D, gain, counts = recurse(P, G, self.R, rules)
        step = max(1, CACHED // math.prod(self.S.shape[1:]))
        for units in (slice(a, a + step) for a in range(0, len(D), step)):
            self._add(units, gain[units], block.accumulate(self._like(D[units], block.dtype).T))
        return theta, counts

    def _learn_in_features(self, block: Any, work: Any, rules: Any) -> tuple[np.ndarray, tuple[int, int]]:
        from flymotion.similarity.few import recurse_in_few
        from flymotion.similarity.recursion import recurse_in_features

        u, v = (np.require(to_numpy(factor), requirements=["C", "W"]) for factor in block.factors())
        S = to_numpy(work).reshape(len(self.R), -1)
        n_features = S.shape[1]
        if n_features > TINY and self.S.ndim == 3:
            theta, D, gain, counts = recurse_in_few(u, v, S, self.R, rules)
        else:
            padded = np.pad(S, ((0, 0), (0, -n_features % VECTOR)))
            theta, D, gain, counts = recurse_in_features(u, v, padded, self.R, rules)
        self._add(slice(None), gain, self._like(D[:, :n_features].reshape(self.S.shape), block.dtype))
        return theta, counts

    def _add(self, units: slice, gain: np.ndarray, change: Any) -> None:
        if (gain != 1.0).any():
            self.S[units] *= self._like(gain.reshape(-1, *[1] * (self.S.ndim - 1)), self.S.dtype)
        self.S[units] += change  # Eq. 16, times That
        if self.work is not self.S:
            with np.errstate(over="ignore"):  # where float32 does not hold it, it is not used
                self.work[units] = self.S[units]

    def _like(self, array: np.ndarray, dtype: Any) -> Any:
        if isinstance(self.S, np.ndarray):
            return array
        return array_namespace(self.S).asarray(array, dtype=dtype, device=self.S.device)


def _as(samples: Any, array: np.ndarray) -> Any:
    """Return an array in the library, precision and place of samples."""
    return samples.xp.asarray(array, dtype=samples.dtype, device=samples.device)


def block_size(n_features: int, most: int = SMALL) -> int:
    """Return the samples of a block: more where the state is large, since adding to it is done once a block."""
    return 4096 if n_features <= most else min(max(128, 2 * math.isqrt(n_features)), 1024)


def loses(R: np.ndarray) -> bool:
    """Say whether float32 loses some of what units with these correlations tell apart."""
    used = np.diag(R) > 0
    if not used.any():
        return False
    values = np.linalg.eigvalsh(R if used.all() else R[used][:, used])
    return not (ENERGIES[0] < values.sum() < ENERGIES[1] and values[-1] < UNLIKE * values[0])


def _name(dtype: Any) -> str:
    """Return numpy's name of a type of any library."""
    return str(dtype).rpartition(".")[2]


def _check_sum(given: Given, R: np.ndarray) -> None:
    """Check that R could be ``sum theta theta'``, but for rounding."""
    roots = np.sqrt(np.maximum(np.diag(R), 0))
    largest = np.outer(roots, roots)
    symmetric = (np.abs(R - R.T) <= TOLERANCE * largest).all()
    if not (symmetric and (np.abs(R) <= (1 + TOLERANCE) * largest).all()):
        raise given.wrong("R", "not symmetric, or larger off its diagonal than on it", "correlations")


def _over_diagonal(rows: np.ndarray, R: np.ndarray) -> np.ndarray:
    diagonal = np.diag(R)[:, None]
    return np.divide(rows, diagonal, out=np.zeros_like(rows), where=diagonal > 0)


def _blocks(n_samples: int, size: int) -> Iterator[slice]:
    """Yield the samples taken at a time."""
    return (slice(start, start + size) for start in range(0, n_samples, size))
