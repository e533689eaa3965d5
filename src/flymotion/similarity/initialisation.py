r"""Where similarity matching starts: the warm-up.

Random filters often fall into a bad optimum of NSM (two units learn the same direction), and plus-and-minus pairs leave
dead units on nonnegative data. Both are avoided by looking at the first samples before learning from them:

1. *Principal components* of the warm-up, uncentred, and the samples' scores on them. SM starts there.
2. *Opposites*. Where both signs occur, as of motion and its reverse, K / 2 components make K units: one for the
   positive and one for the negative part of each. First they are rotated to the axes on which the scores are
   sparsest, i.e. least in sum of absolute values; where eigenvalues are equal, as with several directions of
   motion, one motion a pair, these are the single motions. (Fourth powers, as in quartimax, follow a few samples
   of high contrast instead.) Weak motions have less energy than the noise that strong ones bring with them, but not
   fewer samples, so the same is done to the samples at unit length, and the axes that leave a sample the fewest
   active ones are the start. Square chi of rank 1, as of the change and the intensity of the same pixels, has half of
   its noise, but little of motion, in its symmetric part: in scenes with few places of much contrast what these share
   goes before motion. So the axes are taken from the antisymmetric part, unless those of all of chi are much sparser.
3. *Clusters*. Where the data are one-sided, as plain nonnegative data are, or span fewer than K / 2 directions, the
   units start from the K-means clusters of the scores' directions.

The outputs that this gives to the warm-up are the initial state, ``S = sum theta chi'`` and ``R = sum theta theta'``.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from flymotion.similarity.features import OuterProducts
from flymotion.similarity.threads import one_thread
from flymotion.similarity.vectors import UNLIKE, in_float64_if_needed, power_of_two, signed

__all__ = ["sparsest_rotation", "warm_start", "warm_up_length"]

ONE_SIDED = 0.1
"""Energy of the weaker half of a component, relative to the stronger, below which it has one sign."""

SPARSER = 1.03
"""How many times as many active axes those of the antisymmetric part may leave, and be taken all the same."""

ODD = 1e-6
"""Energy of the antisymmetric parts, relative to that of the samples, up to which they are nothing but rounding."""

DENSE, FEW = 1500, 300
"""Samples, and features, up to which an eigenproblem is solved whole; of more, iteration to 1e-6 is sooner done."""


def warm_up_length(n_features: int, n_entries: int) -> int:
    """Return how many samples to look at first: ten times the features, from 500 to 5000, at most 2 million numbers."""
    return int(min(np.clip(10 * n_features, 500, 5000), max(500, 2_000_000 // n_entries)))


def warm_start(samples: Any, n_components: int, *, nonnegative: bool) -> np.ndarray:
    """Find outputs to start from.

    Parameters
    ----------
    samples : OuterProducts or Vectors, of numpy arrays
        The first samples.
    n_components : int
        Number of units K.
    nonnegative : bool
        Whether outputs are nonnegative (NSM) or not (SM).

    Returns
    -------
    theta : ndarray, shape (n_samples, n_components)
        Outputs; 0 for units that the samples leave unused.
    """
    theta = (_nonnegative if nonnegative else _principal_scores)(in_float64_if_needed(samples), n_components)
    return np.pad(theta, ((0, 0), (0, n_components - theta.shape[1])))


def _principal_scores(samples: Any, k: int, weights: np.ndarray | float = 1.0) -> np.ndarray:
    """Scores of the weighted samples on their leading components, largest first; shape (n_samples, <= k).

    The largest score on each is positive.
    """
    n, n_features = samples.shape
    k = min(k, n, n_features)
    if k == 0:
        return np.zeros((n, 0))
    weights = np.broadcast_to(weights, (n, 1))
    if n_features <= min(n, FEW):
        X = samples.astype(np.float64).dense() * weights
        values, axes = eigh(X.T @ X, subset_by_index=[n_features - k, n_features - 1])
        scores = X @ axes
    else:
        values, vectors = _of_samples(samples, k, weights)
        scores = vectors * np.sqrt(np.maximum(values, 0))
    kept = values > 1e-10 * max(values[-1], 0)
    return signed(scores[:, kept][:, ::-1].T).T


def _of_samples(samples: Any, k: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of the weighted samples' Gram matrix, ascending, and their vectors."""
    n = len(samples)
    if n <= DENSE:
        gram = samples.astype(np.float64).gram() * weights * weights.T
        return eigh(gram, subset_by_index=[n - k, n - 1])
    values, vectors = _leading(samples, k, weights)
    if samples.dtype != np.float64 and values[-1] > UNLIKE * values[0]:  # then rounding is among them
        return _leading(samples.astype(np.float64), k, weights)
    return values, vectors


def _leading(samples: Any, k: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of many samples, which their Gram matrix is not written out for."""
    n = len(samples)
    energy = float((samples.norms().astype(np.float64) ** 2 * weights[:, 0] ** 2).sum())
    unit = power_of_two(energy) if energy > 0 else 1.0  # the iteration ends by an absolute measure

    def similarity(y: np.ndarray) -> np.ndarray:
        weighted = (weights * y.reshape(-1, 1)).astype(samples.dtype)
        return (weights * samples.project(samples.accumulate(weighted)))[:, 0] / unit

    operator = LinearOperator((n, n), matvec=similarity, dtype=np.float64)
    values, vectors = eigsh(operator, k, v0=np.ones(n), tol=1e-6)
    return values * unit, vectors


def _nonnegative(samples: Any, n: int) -> np.ndarray:
    scores = _principal_scores(samples, n)
    opposites = _opposites(_single_motions(samples, scores[:, : (n + 1) // 2]), n)
    return _clusters(scores, n) if opposites is None else opposites


def _single_motions(samples: Any, scores: np.ndarray) -> np.ndarray:
    """Return scores on rotated components: of the samples or of their antisymmetric parts, see above."""
    if scores.shape[1] < 2:
        return sparsest_rotation(scores)
    found = _sparser(samples, scores)
    parts = _antisymmetric_parts(samples)
    if parts is None:
        return found
    of_parts = _sparser(parts, _principal_scores(parts, scores.shape[1]))
    if of_parts.shape != found.shape or _active_axes(of_parts) > SPARSER * _active_axes(found):
        return found
    S = samples.accumulate(of_parts.astype(samples.dtype)).astype(np.float64)
    return of_parts * (np.sqrt((S**2).sum(axis=(1, 2))) / (of_parts**2).sum(axis=0))  # |S| = R, as of components


def _sparser(samples: Any, scores: np.ndarray) -> np.ndarray:
    """Return scores on rotated components, of the samples or of the samples at unit length, whichever are sparser."""
    norms = samples.norms().astype(np.float64)[:, None]
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    of_unit_length = sparsest_rotation(_principal_scores(samples, scores.shape[1], inverse)) * norms
    return min(sparsest_rotation(scores), of_unit_length, key=_active_axes)


def _antisymmetric_parts(samples: Any) -> OuterProducts | None:
    """Return the antisymmetric parts of square chi of rank 1; None of others, and of chi without."""
    if not isinstance(samples, OuterProducts) or samples.u.ndim != 2 or samples.u.shape != samples.v.shape:
        return None
    u, v = samples.u / 2, samples.v
    parts = OuterProducts(np.stack([u, v], axis=1), np.stack([v, -u], axis=1))
    whole, odd = (float((each.norms().astype(np.float64) ** 2).sum()) for each in (samples, parts))
    return parts if odd > ODD * whole else None


def _active_axes(scores: np.ndarray) -> float:
    """Return how many axes a sample is active on: |scores|_1 / |scores|_2, from 1 to the root of their number."""
    lengths = np.linalg.norm(scores, axis=1)
    lit = lengths > 0
    return float(np.mean(np.abs(scores[lit]).sum(axis=1) / lengths[lit]))


def _opposites(rotated: np.ndarray, n: int) -> np.ndarray | None:
    """Return the strongest halves of components, shape (n_samples, n), or None for one-sided data."""
    halves = np.concatenate([np.maximum(rotated, 0), np.maximum(-rotated, 0)], axis=1)
    energy = (halves**2).sum(axis=0)
    if energy.size < n or (energy < ONE_SIDED * np.roll(energy, energy.size // 2)).any():
        return None
    return halves[:, np.argsort(-energy, kind="stable")[:n]]


def _clusters(scores: np.ndarray, n: int) -> np.ndarray:
    """Return K-means clusters of the scores' directions, shape (n_samples, <= n): a sample's norm, or 0."""
    norms = np.linalg.norm(scores, axis=1)
    lit = norms > 0
    if not lit.any():
        return np.zeros((len(scores), 0))
    directions = scores[lit] / norms[lit, None]
    n = min(n, len(np.unique(directions.round(6), axis=0)))
    with (
        one_thread(),
        threadpool_limits(1, user_api="openmp"),
    ):  # whose threads a forked process would wait for for ever
        labels = KMeans(n, n_init=10, random_state=0).fit_predict(directions, sample_weight=norms[lit] ** 2)
    theta = np.zeros((len(scores), n))
    theta[np.flatnonzero(lit), labels] = norms[lit]
    return theta


def sparsest_rotation(scores: np.ndarray, *, n_sweeps: int = 20, n_angles: int = 90) -> np.ndarray:
    """Rotate scores, shape (n_samples, m), towards the least sum of absolute values, a pair of axes at a time."""
    axes = scores.T.copy()  # long axes last are faster
    angles = np.arange(n_angles) * (np.pi / 2 / n_angles)
    turns = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    n_turned, settled = [0] * len(axes), dict[tuple[int, int], tuple[int, int]]()
    for _ in range(n_sweeps):
        still = True
        for i, j in combinations(range(len(axes)), 2):
            if settled.get((i, j)) == (n_turned[i], n_turned[j]):
                continue  # neither has turned since they were turned to where they are best
            c, s = turns[_lengths(axes[[i, j]], turns).argmin()]
            if s != 0:
                axes[[i, j]] = np.array([[c, s], [-s, c]]) @ axes[[i, j]]
                n_turned[i], n_turned[j], still = n_turned[i] + 1, n_turned[j] + 1, False
            settled[i, j] = n_turned[i], n_turned[j]
        if still:
            break
    return np.ascontiguousarray(axes.T)


def _lengths(pair: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Return the sum of absolute scores on two axes, shape (2, n_samples), turned by each angle."""
    total = np.zeros(len(turns))
    for axis in (turns, turns[:, ::-1] * [-1, 1]):
        turned = axis @ pair
        total += np.abs(turned, out=turned).sum(axis=1)
    return total
