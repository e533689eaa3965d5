r"""The offline optima of similarity matching, on the T x T Gram matrix of a sample.

What the online rules (:mod:`flymotion.similarity.networks`) approach: the minima of Eqs. 12 and 14 of Bahroun et al.
2019 over all outputs at once, and the forms of the same objectives that bring the synapses in (Eqs. 4 and 13).

===========  ================  ===============================================================================
``gram``     (T, T)            inner products of the samples, ``chi_t . chi_t'``
``theta``    (T, K)            outputs, one row a sample (the paper's Theta, transposed)
``W, M``     (K, n), (K, K)    feedforward and lateral synapses; W is the transpose of Eq. 4's
===========  ================  ===============================================================================

With ``S = sum theta chi'`` and ``R = sum theta theta'``, Eqs. 4 and 13 are optimal at ``W = S / T`` and ``M = R / T``
(:func:`optimal_synapses`), there and only there, and

.. math::
    \underbrace{\tfrac{1}{T^2} \|G - \Theta \Theta'\|^2}_{Eq. 12}
    = \tfrac{1}{T^2} \|G\|^2 + \tfrac{2}{T} \min_W \max_M \underbrace{L(\Theta, W, M)}_{Eq. 4},
    \qquad
    \tfrac{1}{T^2} \textstyle\sum \theta_t \cdot \theta_{t'} \, \chi_t \cdot \chi_{t'}
    = \max_W \underbrace{F(\Theta, W)}_{Eq. 13}.

Eq. 12 is printed without the 1/T^2 on its left side; it has it here. Eq. 3, with its factor 1/2, is T^2/2 times Eq. 12.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from flymotion.similarity.features import as_features
from flymotion.similarity.vectors import signed, to_numpy

__all__ = [
    "cross_term",
    "descend",
    "lyapunov",
    "lyapunov_slopes",
    "offline_sm",
    "optimal_synapses",
    "reconstruction_error",
    "similarity_objective",
]

RANK = 1e-10
"""Share of the largest eigenvalue that counts as rounding."""


def similarity_objective(gram: np.ndarray, theta: np.ndarray) -> float:
    """Return the objective of Eqs. 12 and 14, ``|gram - theta theta'|^2 / T^2``.

    Examples
    --------
    >>> similarity_objective(np.diag([4.0, 2.0]), np.array([[2.0], [0.0]]))
    1.0
    """
    return float(((gram - theta @ theta.T) ** 2).sum() / len(gram) ** 2)  # Eqs. 12, 14


def offline_sm(gram: np.ndarray, n_components: int) -> np.ndarray:
    """Return the minimum of Eq. 12: the scores of the leading principal components, uncentred.

    Any rotation of them is as good (``theta Q`` for orthogonal Q).

    Parameters
    ----------
    gram : ndarray, shape (T, T)
        Inner products of the samples.
    n_components : int
        Number of outputs K.

    Returns
    -------
    ndarray, shape (T, K)
        Largest component first, signed by its largest score; 0 beyond the rank of the samples.

    Examples
    --------
    >>> offline_sm(np.diag([4.0, 2.0]), 1)
    array([[2.],
           [0.]])
    """
    n_samples = len(gram)
    values, vectors = eigh(gram, subset_by_index=[max(n_samples - n_components, 0), n_samples - 1])
    kept = np.flatnonzero(values > RANK * max(values[-1], 0))[::-1]
    scores = vectors[:, kept] * np.sqrt(values[kept])
    theta = np.zeros((n_samples, n_components))
    theta[:, : len(kept)] = signed(scores.T).T
    return theta


def descend(
    gram: np.ndarray, theta: np.ndarray, *, nonnegative: bool = False, max_iter: int = 10_000, tol: float = 1e-9
) -> np.ndarray:
    """Descend on Eq. 12, or for nonnegative outputs on Eq. 14, by L-BFGS-B.

    Eq. 12 has no local minima but the global ones; Eq. 14 has, so there the result depends on the start.

    Parameters
    ----------
    gram : ndarray, shape (T, T)
        Inner products of the samples.
    theta : ndarray, shape (T, K)
        Outputs to start from.
    nonnegative : bool
        Whether outputs are kept nonnegative.
    max_iter : int
        Most iterations.
    tol : float
        Largest entry of the projected gradient at the end, outputs and objective scaled to order 1.

    Returns
    -------
    ndarray, shape (T, K)

    Warns
    -----
    ConvergenceWarning
        When the gradient is still larger than the square root of ``tol``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20, 3))
    >>> found = descend(X @ X.T, rng.normal(size=(20, 2)))
    >>> [round(similarity_objective(X @ X.T, theta), 4) for theta in (found, offline_sm(X @ X.T, 2))]
    [0.2471, 0.2471]
    """
    scale = max(float(np.abs(gram).max()), np.finfo(float).tiny)
    G = gram / scale
    low = 0.0 if nonnegative else -np.inf

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        outputs = flat.reshape(theta.shape)
        error = G - outputs @ outputs.T
        return (error**2).sum() / 2, (-2 * error @ outputs).ravel()  # Eqs. 3, 7

    start = np.maximum(theta / np.sqrt(scale), low).ravel()
    options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 0.0, "gtol": tol}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(low, None)] * start.size, options=options)
    slope = float(np.abs(found.x - np.maximum(found.x - found.jac, low)).max())
    if slope > np.sqrt(tol):
        warnings.warn(
            f"the descent stopped at a gradient of {slope:.1e} after {found.nit} iterations ({found.message}); "
            "raise max_iter",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found.x.reshape(theta.shape) * np.sqrt(scale)


def reconstruction_error(theta: np.ndarray, samples: Any, W: np.ndarray) -> float:
    r"""Return Eq. 1 (coding), :math:`\sum_t |\chi_t - W' \theta_t|^2`, for W of shape (K, *feature_shape).

    Its least value over outputs and weights is the energy that the leading K principal components leave, and
    :func:`offline_sm` gives outputs that reach it: Eqs. 1 and 12 share their optimal outputs up to a linear map, which
    the weights undo.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> theta = offline_sm(X @ X.T, 2)
    >>> W, *_ = np.linalg.lstsq(theta, X)
    >>> round(reconstruction_error(theta, X, W), 4), round(float(np.linalg.svd(X, compute_uv=False)[2]) ** 2, 4)
    (9.9414, 9.9414)
    """
    samples = as_features(samples)
    energy = float((to_numpy(samples.norms()) ** 2).sum())
    drive = (theta * _projections(samples, W)).sum()
    flat = W.reshape(len(W), -1)
    return float(energy - 2 * drive + np.einsum("ta,ab,tb->", theta, flat @ flat.T, theta))  # Eq. 1


# -- synapses ----------------------------------------------------------------------------------------------------


def optimal_synapses(theta: np.ndarray, samples: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the synapses at which Eqs. 4 and 13 are optimal, W and M, shapes (K, *feature_shape) and (K, K).

    They are ``S / T`` and ``R / T``. Eq. 16's W is a multiple of this one, row by row: it is S over the diagonal of R.

    Examples
    --------
    >>> X, theta = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[1.0], [2.0]])
    >>> W, M = optimal_synapses(theta, X)
    >>> W, M  # sums of two samples, over two
    (array([[0.5, 2. ]]), array([[2.5]]))
    """
    return _correlations(theta, samples) / len(theta), theta.T @ theta / len(theta)  # Eqs. 4 and 13 at rest


def lyapunov(theta: np.ndarray, samples: Any, W: np.ndarray, M: np.ndarray) -> float:
    r"""Return Eq. 4 (lyapunov).

    .. math:: \textstyle\sum_t (-2 \theta_t' W \chi_t + \theta_t' M \theta_t) + T |W|^2 - \frac{T}{2} |M|^2

    Its minimum over W of the maximum over M is ``T / 2`` times Eq. 12 without the constant ``|gram|^2 / T^2``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, theta = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    >>> left_out = float(np.sum((X @ X.T) ** 2)) / 50**2
    >>> round(lyapunov(theta, X, *optimal_synapses(theta, X)) * 2 / 50 + left_out, 6)
    6.631914
    >>> round(similarity_objective(X @ X.T, theta), 6)  # Eq. 12
    6.631914
    """
    drive = (theta * _projections(samples, W)).sum()
    lateral = np.einsum("ta,ab,tb->", theta, M, theta)
    return float(-2 * drive + lateral + len(theta) * ((W**2).sum() - (M**2).sum() / 2))  # Eq. 4


def lyapunov_slopes(
    theta: np.ndarray, samples: Any, W: np.ndarray, M: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of Eq. 4 by outputs, W and M, for symmetric M.

    They are what Eqs. 5 and 6 step along: minus half the first, minus half the second and all of the third, over T.

    Returns
    -------
    by_theta : ndarray, shape (T, K)
    by_W : ndarray, shape (K, *feature_shape)
    by_M : ndarray, shape (K, K)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, theta = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    >>> _, by_W, by_M = lyapunov_slopes(theta, X, *optimal_synapses(theta, X))
    >>> float(np.abs(by_W).max().round(9)), float(np.abs(by_M).max().round(9))
    (0.0, 0.0)
    """
    S, R = _correlations(theta, samples), theta.T @ theta
    return 2 * (theta @ M - _projections(samples, W)), 2 * (len(theta) * W - S), R - len(theta) * M


def cross_term(theta: np.ndarray, samples: Any, W: np.ndarray) -> float:
    r"""Return the right side of Eq. 13 (eq:sm1), :math:`\frac{2}{T} \sum_t \theta_t' W \chi_t - |W|^2`.

    Its maximum over W is the left side, :math:`\sum_{tt'} \theta_t \cdot \theta_{t'} \, \chi_t \cdot \chi_{t'} / T^2`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, theta = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    >>> W, _ = optimal_synapses(theta, X)
    >>> round(cross_term(theta, X, W), 6), round(float(np.sum((theta @ theta.T) * (X @ X.T))) / 50**2, 6)
    (0.157362, 0.157362)
    """
    return float(2 / len(theta) * (theta * _projections(samples, W)).sum() - (W**2).sum())  # Eq. 13, right


def _correlations(theta: np.ndarray, samples: Any) -> np.ndarray:
    samples = as_features(samples)
    return to_numpy(samples.accumulate(samples.xp.asarray(theta)))


def _projections(samples: Any, W: np.ndarray) -> np.ndarray:
    samples = as_features(samples)
    return to_numpy(samples.project(samples.xp.asarray(W)))
