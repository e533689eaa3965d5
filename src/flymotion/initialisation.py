r"""Where similarity matching starts: the warm-up.

Random filters often fall into a bad optimum of NSM (both learn the same direction), and plus-and-minus pairs leave dead
units on nonnegative data. Both are avoided by looking at the first samples before learning from them. Everything here
works on their T x T Gram matrix ``G``, so it costs the same whatever a sample is; a filter is given by its
coefficients on the samples, ``W_a = sum_t alpha_ta chi_t``.

1. *Principal components* of the warm-up, uncentred: the scores ``Y`` of the leading eigenvectors of G. SM starts there.
2. *Rotation* of the scores to the axes along which they are most heavy-tailed (quartimax): where eigenvalues are equal,
   as with several directions of motion, one motion a pair, these are the single motions.
3. *Halves*: a nonnegative unit for the positive and one for the negative part of each rotated component. As few
   components as give K halves that matter: K / 2 where both signs occur (motion and its reverse), up to K where
   the data are one-sided (plain nonnegative data).
4. *Rehearsal*: the learning rule itself, over the warm-up, until it has settled.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

__all__ = ["warm_start"]

REHEARSALS = 20
"""Passes of the learning rule over the warm-up."""


def warm_start(gram: np.ndarray, n_components: int, *, nonnegative: bool) -> tuple[np.ndarray, np.ndarray]:
    """Find initial filters from the Gram matrix of the first samples.

    Parameters
    ----------
    gram : ndarray, shape (T, T)
        Inner products of the first samples.
    n_components : int
        Number of units K.
    nonnegative : bool
        Whether outputs are nonnegative (NSM) or not (SM).

    Returns
    -------
    alpha : ndarray, shape (T, K)
        Coefficients of the initial state, ``S = sum_t alpha_t chi_t'``; 0 for units that the samples leave unused.
    R : ndarray, shape (K, K)
        The outputs' second moments, ``sum theta theta'``, that belong to it.
    """
    gram = gram.astype(np.float64)
    scores = _principal_scores(gram, n_components)
    if nonnegative:
        return _rehearse(gram, _halves(scores, n_components))
    alpha = np.zeros((len(gram), n_components))
    alpha[:, : scores.shape[1]] = scores
    return alpha, alpha.T @ alpha


def _principal_scores(gram: np.ndarray, n: int) -> np.ndarray:
    """Scores of the leading components, largest first, signed by the largest; shape (T, <= n)."""
    n_samples = len(gram)
    values, vectors = eigh(gram, subset_by_index=[max(n_samples - n, 0), n_samples - 1])
    kept = values > 1e-10 * max(values[-1], 0)
    scores = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]
    return scores * np.sign(np.take_along_axis(scores, np.abs(scores).argmax(axis=0)[None], axis=0))


def _halves(scores: np.ndarray, n: int) -> np.ndarray:
    """Nonnegative outputs to start from, shape (T, <= n): the strongest halves of rotated components."""
    for m in range((n + 1) // 2, n + 1):
        rotated = quartimax(scores[:, :m])
        halves = np.concatenate([np.maximum(rotated, 0), np.maximum(-rotated, 0)], axis=1)
        energy = (halves**2).sum(axis=0)
        twin = np.roll(energy, energy.size // 2)
        if (energy > 0.1 * twin).sum() >= n:
            break
    strongest = np.argsort(-energy, kind="stable")[:n]
    return halves[:, strongest[energy[strongest] > 0]]


def quartimax(scores: np.ndarray, n_iter: int = 100, tol: float = 1e-9) -> np.ndarray:
    """Rotate scores, shape (T, m), to maximise the sum of their fourth powers (Kaiser's pairwise rotations)."""
    scores = scores.copy()
    m = scores.shape[1]
    for _ in range(n_iter):
        largest = 0.0
        for i in range(m - 1):
            for j in range(i + 1, m):
                x, y = scores[:, i], scores[:, j]
                u, v = x * x - y * y, 2 * x * y
                angle = 0.25 * np.arctan2(2 * (u @ v), u @ u - v @ v)
                c, s = np.cos(angle), np.sin(angle)
                scores[:, i], scores[:, j] = c * x + s * y, c * y - s * x
                largest = max(largest, abs(angle))
        if largest < tol:
            break
    return scores


def _rehearse(gram: np.ndarray, theta: np.ndarray, forget_over: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Run the learning rule over the warm-up, starting from these outputs."""
    from flymotion._recursion import recurse

    alpha, R = theta.copy(), theta.T @ theta
    forgetting = 1.0 - 1.0 / max(2.0, forget_over * len(gram))
    for _ in range(REHEARSALS):
        _, D, gain, _ = recurse(gram @ alpha, gram, R, forgetting, 1e-9, np.inf, True, 100)
        alpha = alpha * gain + D.T
    return alpha, R
