"""The best that can be known of the motion of a pair along a line: its posterior, given both frames.

Frames of the standard worlds are jointly Gaussian at any motion, so the posterior has a closed form at every motion of
the uniform prior. It takes the frames before any whitening, which at ``n`` pixels changes nothing but coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.claims.worlds import CORRELATION_LENGTH, World
from flymotion.frames import FramePairs
from flymotion.world.scenes import exponential_covariance

__all__ = ["Posterior", "covariance", "posterior"]

N_NODES = 32
"""Gauss-Legendre nodes of the prior; even, as two frames that are the same at no motion have no density."""


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
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    motion = world.max_shift * nodes
    logs = np.stack([_log_density(world, pairs, variance, shift) for shift in motion])
    probability = weights[:, None] * np.exp(logs - logs.max(axis=0))
    return Posterior(motion, probability / probability.sum(axis=0))


def covariance(world: World, n: int, shift: float = 0.0) -> np.ndarray:
    """Return E[after before'] for content that moves by ``shift``, shape (n, n)."""
    places = np.arange(n)
    return exponential_covariance(CORRELATION_LENGTH, world.sigma)(places[:, None, None] - places[:, None] - shift)


def _log_density(world: World, pairs: FramePairs, variance: float, shift: float) -> np.ndarray:
    """Return the log density of both frames, jointly Gaussian, but for a constant; shape (n_pairs,)."""
    n = pairs.n_pixels
    alone, across = covariance(world, n) + variance * np.eye(n), covariance(world, n, shift)
    joint = np.block([[alone, across.T], [across, alone]])
    both = np.concatenate([pairs.before, pairs.after], axis=1)
    return -((both @ np.linalg.inv(joint) * both).sum(axis=1) + np.linalg.slogdet(joint)[1]) / 2
