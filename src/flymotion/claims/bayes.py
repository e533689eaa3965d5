r"""The best that can be known of the motion of a pair along a line: its posterior, given both frames.

Frames of the standard worlds are jointly Gaussian at any motion, so the posterior has a closed form at every motion of
the uniform prior. It takes the frames before any whitening, which at ``n`` pixels changes nothing but coordinates.

The sum u and the difference v of both frames, over :math:`\sqrt 2`, have the covariances :math:`C(0) + S`,
:math:`C(0) - S` and :math:`E[v u'] = K`, with S and K the symmetric and the antisymmetric part of C(s), the covariance
of the frames after and before content has moved by s. Motion the other way is the same but for the sign of K. Sums and
differences, as in the frames themselves rounding would hide the small differences that tell of small motions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.claims.worlds import CORRELATION_LENGTH, World
from flymotion.frames import FramePairs
from flymotion.world.scenes import exponential_covariance

__all__ = ["Posterior", "covariance", "posterior"]

N_NODES = 64
"""Nodes of the prior, Gauss-Legendre's for motion left and for motion right, so that the sign's jump is at no node.

With noise at 30 dB they integrate to rounding. Without noise the posterior is narrower than they are apart, so that
its mean is a node, off by half of that: 0.0004 of the variance in L1, where 256 nodes leave 0.00005.
"""

LEAST_NOISE = 1e-10
"""Least variance of the noise that is reckoned with, relative to the pixels' own.

Without any, frames of 15 pixels foretell each other better than float64 can tell.
"""

CHUNK = 4096
"""Pairs that are looked at together."""


class Posterior(NamedTuple):
    """What both frames tell of the motion, on the nodes of a quadrature."""

    motion: np.ndarray
    """Shape (n_nodes,), ascending [pixels per frame]."""
    probability: np.ndarray
    """Shape (n_nodes, n_pairs); columns sum to 1."""

    def mean(self) -> np.ndarray:
        """Return E[motion | both frames], shape (n_pairs,): no estimate has a smaller mean squared error."""
        return self.motion @ self.probability

    def rightness(self) -> np.ndarray:
        """Return P(right) - P(left), shape (n_pairs,): no other sign is right more often."""
        return np.sign(self.motion) @ self.probability


def posterior(world: World, pairs: FramePairs, variance: float = 0.0) -> Posterior:
    """Return the posterior of the motion of pairs of a world, with sensor noise of some variance in each frame."""
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES // 2)
    sizes = world.max_shift * (1 + nodes) / 2
    left, right = log_densities(world, pairs, variance, sizes)
    logs = np.concatenate([left[::-1], right])
    probability = np.concatenate([weights[::-1], weights])[:, None] * np.exp(logs - logs.max(axis=0))
    return Posterior(np.concatenate([-sizes[::-1], sizes]), probability / probability.sum(axis=0))


def covariance(world: World, n: int, shift: float = 0.0) -> np.ndarray:
    """Return E[after before'] for content that moves by ``shift``, shape (n, n)."""
    places = np.arange(n)
    return exponential_covariance(CORRELATION_LENGTH, world.sigma)(places[:, None, None] - places[:, None] - shift)


def log_densities(world: World, pairs: FramePairs, variance: float, sizes: np.ndarray) -> np.ndarray:
    """Return the log density of both frames, but for a constant, at motions left and right of some sizes.

    Parameters
    ----------
    world : World
        Whose pairs they are.
    pairs : FramePairs
        Before whitening.
    variance : float
        Of the noise in each frame, as for a pixel.
    sizes : ndarray, shape (n_sizes,)
        Of the motions [pixels per frame].

    Returns
    -------
    ndarray, shape (2, n_sizes, n_pairs)
    """
    n = pairs.n_pixels
    upper = np.triu_indices(n)
    even, odd, constant = (np.array(part) for part in zip(*(_terms(world, n, variance, s) for s in sizes), strict=True))
    parts = []
    for start in range(0, len(pairs), CHUNK):
        before, after = (frames[start : start + CHUNK].T for frames in (pairs.before, pairs.after))
        u, v = (after + before) / np.sqrt(2), (after - before) / np.sqrt(2)
        squares = np.concatenate([some[upper[0]] * some[upper[1]] for some in (u, v)])
        same, turns = even @ squares + constant[:, None], odd @ (v[:, None] * u).reshape(n * n, -1)
        parts.append(-np.stack([same - turns, same + turns]) / 2)
    return np.concatenate(parts, axis=2)


def _terms(world: World, n: int, variance: float, size: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return weights of the products in u u' and v v' from the diagonal up, of v u', and the log determinant."""
    still, moved = covariance(world, n), covariance(world, n, size)
    noise = max(variance, LEAST_NOISE * still[0, 0]) * np.eye(n)
    S, K = (moved + moved.T) / 2, (moved - moved.T) / 2
    joint = np.block([[still + S + noise, K.T], [K, still - S + noise]])
    P = np.linalg.inv(joint)
    twice = (2 - np.eye(n))[np.triu_indices(n)]
    squares = [twice * block[np.triu_indices(n)] for block in (P[:n, :n], P[n:, n:])]
    return np.concatenate(squares), 2 * P[n:, :n].ravel(), float(np.linalg.slogdet(joint)[1])
