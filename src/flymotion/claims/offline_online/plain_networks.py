"""Networks as Section 1.1 has them: constant rate, random weights, local rules alone; and the start of ours, alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from flymotion.claims.lessons import RATE
from flymotion.similarity.features import as_features
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.online import OnlineNetwork
from flymotion.similarity.samples import energies

__all__ = ["learned_literally", "random_rows", "rule_alone"]


def random_rows(n_rows: int, n_features: int, seed: Any) -> np.ndarray:
    """Draw Gaussian weights, rows of norm 1, shape (n_rows, n_features)."""
    rows = np.random.default_rng(seed).standard_normal((n_rows, n_features))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def rule_alone(
    samples: Any, n_units: int, seed: Any, *, nonnegative: bool = False, rate: float = RATE, n_passes: int = 1
) -> OnlineNetwork:
    """Let SM or NSM learn by Eqs. 5 and 6 from random weights; M begins as the samples' mean square times the identity.

    So outputs begin as projections on the random rows, whatever the unit of the samples.
    """
    size = energies(as_features(samples)).mean()
    network = NonnegativeSimilarityMatching if nonnegative else SimilarityMatching
    init = random_rows(n_units, samples.shape[1], seed)
    learner = network(n_units, forgetting=1 - rate, n_passes=n_passes, init=init, init_strength=size / rate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # units that no sample reaches are what random starts give
        return learner.fit(samples)


def learned_literally(
    X: np.ndarray, W: np.ndarray, M: np.ndarray, eta: float, *, nonnegative: bool, fade: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Run Eqs. 5 and 6 as they are printed: outputs step until they settle, then the two rules.

    Parameters
    ----------
    X : ndarray, shape (T, n)
        Samples.
    W, M : ndarray, shapes (n, m) and (m, m)
        Initial synapses.
    eta : float
        Rate.
    nonnegative : bool
        Whether the dynamics rectify.
    fade : bool
        Whether synapses learn from samples that no unit answers, too, which is to fade; Eq. 6 has it so.

    Returns
    -------
    W, M : ndarray, shapes (n, m) and (m, m)
    outputs : ndarray, shape (T, m)
    steps : ndarray, shape (T,)
        That the outputs took to settle to 1e-13 of themselves; the time step is half of one over the trace of M.
    """
    W, M = W.copy(), M.copy()
    outputs, steps = np.zeros((len(X), M.shape[0])), np.zeros(len(X))
    for t, x in enumerate(X):
        y, drive, dt = np.zeros(len(M)), W.T @ x, 0.5 / np.trace(M)
        while True:
            before, y = y, y + dt * (drive - M @ y)  # Eq. 5
            y = np.maximum(y, 0) if nonnegative else y
            steps[t] += 1
            if np.abs(y - before).max() <= 1e-13 * np.abs(y).max():
                break
        if fade or y.any():
            W += eta * (np.outer(x, y) - W)  # Eq. 6, left
            M += eta * (np.outer(y, y) - M)  # Eq. 6, right
        outputs[t] = y
    return W, M, outputs, steps
