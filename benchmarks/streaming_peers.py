"""What a user would reach for instead, on chi written out: two streaming learners of principal subspaces, in numpy.

Both are written from their papers' equations, as their authors' public code does it but in place, which is faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class FastSimilarityMatching:
    """Similarity matching with the inverse of M kept, sample by sample.

    Giovannucci, Minden, Pehlevan & Chklovskii (2018), Efficient principal subspace projection of streaming data through
    fast similarity matching. IEEE Big Data.
    """

    def __init__(self, W: np.ndarray, strength: float = 100.0, tau: float = 0.5) -> None:
        """Start from filters W, shape (K, n_features), over ``strength``, as in the authors' demonstration."""
        self.W, self.tau, self.t = W / W.dtype.type(strength), tau, 0
        self.M_inverse = np.eye(len(W), dtype=W.dtype) * W.dtype.type(strength)
        self._outer = np.empty_like(W), np.empty_like(self.M_inverse)

    def partial_fit(self, X: np.ndarray) -> None:
        """Learn from samples, shape (n_samples, n_features), of the precision of W."""
        W, M_inverse, (outer_W, outer_M) = self.W, self.M_inverse, self._outer
        for x in X:
            y = M_inverse.dot(W.dot(x))
            rate = 2.0 / (self.t + 5)
            W *= 1 - rate  # W += rate (y x' - W)
            W += np.outer(rate * y, x, outer_W)
            rate = rate / 2 / self.tau
            M_inverse /= 1 - rate  # of M += rate (y y' - M), by Sherman and Morrison
            z = M_inverse.dot(y)
            M_inverse -= np.outer(rate / (1 + rate * z.dot(y)) * z, z, outer_M)
            self.t += 1

    def components(self) -> np.ndarray:
        """Return what spans the subspace, shape (K, n_features)."""
        return self.M_inverse @ self.W


class AdaOja:
    """Oja's rule on blocks of samples, each column's rate from its gradients so far.

    Henriksen & Ward (2019), AdaOja: adaptive learning rates for streaming PCA. arXiv:1905.12115, Algorithm 2.
    """

    def __init__(self, W: np.ndarray, block: int = 256, b0: float = 1e-5) -> None:
        """Start from filters W, shape (K, n_features)."""
        self.Q = np.linalg.qr(W.T)[0]
        self.b, self.block = np.full(len(W), b0, W.dtype), block

    def partial_fit(self, X: Any) -> None:
        """Learn from samples, shape (n_samples, n_features), in blocks."""
        for start in range(0, len(X), self.block):
            part = X[start : start + self.block]
            G = self.gradient(part)
            G /= len(part)
            self.b = np.sqrt(self.b**2 + (G**2).sum(axis=0))
            self.Q = np.linalg.qr(self.Q + G / self.b)[0]

    def gradient(self, X: np.ndarray) -> np.ndarray:
        """Return X' X Q."""
        return X.T @ (X @ self.Q)

    def components(self) -> np.ndarray:
        """Return what spans the subspace, shape (K, n_features)."""
        return self.Q.T


class AdaOjaOnFactors(AdaOja):
    """The same on factors of chi: ours to offer, not its authors'."""

    def gradient(self, X: Any) -> np.ndarray:
        """Return X' X Q, chi never written out."""
        k = self.Q.shape[1]
        outputs = X.project(np.ascontiguousarray(self.Q.T).reshape(k, *X.feature_shape))
        return X.accumulate(outputs).reshape(k, -1).T
