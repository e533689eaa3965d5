r"""Slow feature analysis (Wiskott & Sejnowski 2002): of all functions of what is seen, those that change least.

=============  ===========  ==============================================================================
``u``          (m, d)       what is seen at m moments: a frame, or a pair of frames, one after the other
``u_next``     (m, d)       and at the moments after
``z``          (m, D)       all products of one or two of the inputs: ``expansion`` "linear", "quadratic"
``slowness_``  (K,)         :math:`\Delta = \langle (g(u_{next}) - g(u))^2 \rangle` of outputs of variance 1
=============  ===========  ==============================================================================

Outputs g are linear in z, of mean 0 and variance 1, uncorrelated, the slowest first. With
:math:`\dot z = z_{next} - z`,

.. math:: E[\dot z \dot z'] w = \Delta \, E[z z'] w.

All moments here are two ends of a step, so that :math:`\Delta = 2 (1 - \rho)`, with rho the correlation of both ends:
an output that never changes has 0, one that is new at every moment has 2, and 4 is the most.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from flymotion.photoreceptors.stage import check_unchanged
from flymotion.relations.pair_learner import PairLearner
from flymotion.similarity.samples import check_counts
from flymotion.similarity.vectors import signed

__all__ = ["SlowFeatures"]

CUTOFF = 1e-10
"""Variance, relative to the largest, below which a direction is rounding, of inputs and of their products."""

SAME = 1e-6
"""Difference, relative to a frame's size, up to which two frames are one that early vision has seen in two batches."""

BLOCK_ENTRIES = 2**22
"""Numbers of the expansion that are there at a time."""


class SlowFeatures(PairLearner):
    r"""Slow feature analysis of frames, or of pairs of frames in the order of a movie.

    Of frames, it finds invariances: functions of a single frame that change little from the first of a pair to the
    second. Whatever the motion, such a function has the same mean in both frames of a stationary world, so that neither
    its values nor its change tell direction on average. Of pairs, as Berkes & Wiskott have it, it finds functions of
    two frames at once that change little from one pair to the next, which take three frames at least of a motion that
    lasts; they may tell direction and speed.

    Parameters
    ----------
    n_components : int
        Number of outputs K, the slowest.
    of : {"frames", "pairs"}
        What an output is a function of. For ``"pairs"`` those to learn from are in the order of a movie, as
        :func:`flymotion.pair_up` makes them: one pair follows another where it begins with the frame that the other
        ends with, so that cuts need not be told. Early vision that treats each pair by itself, as
        :class:`ContrastNormalization` does, takes that away.
    expansion : {"quadratic", "linear"}
        Outputs are quadratic forms of what is seen, or linear ones.
    n_inputs : int, optional
        Principal components of what is seen that are expanded, the largest, as Berkes & Wiskott do; by default all
        that have variance. A quadratic expansion has ``d (d + 3) / 2`` products, whose covariance is kept.

    Attributes
    ----------
    slowness_ : ndarray, shape (K,)
        Mean squared change of each output in a step, rising.
    mean_ : ndarray, shape (d,)
        Of what is seen; d is ``n_pixels``, or twice as many for pairs, those of the first frame first.
    offsets_ : ndarray, shape (K,)
        c of :math:`g(u) = c + f'(u - mean) + (u - mean)' H (u - mean) / 2`.
    linear_forms_ : ndarray, shape (K, d)
        f.
    quadratic_forms_ : ndarray, shape (K, d, d)
        H, symmetric; 0 for a linear expansion.

    Warns
    -----
    ConvergenceWarning
        In ``fit``, for fewer products that have variance than outputs; the others are 0.

    References
    ----------
    Wiskott & Sejnowski, Neural Computation 2002; Berkes & Wiskott, Journal of Vision 2005.

    Examples
    --------
    A slow sine, mixed with a faster cosine:

    >>> import numpy as np
    >>> from flymotion import pair_up
    >>> t = np.linspace(0, 2 * np.pi, 1000)
    >>> mixed = np.stack([np.sin(t) + np.cos(11 * t) ** 2, np.cos(11 * t)], axis=1)
    >>> y = SlowFeatures(1).fit_transform(pair_up(mixed))[:, 0]
    >>> round(float(abs(np.corrcoef(y, np.sin(t[:999]))[0, 1])), 6)
    1.0
    """

    def __init__(
        self, n_components: int = 2, *, of: str = "frames", expansion: str = "quadratic", n_inputs: int | None = None
    ) -> None:
        self.n_components = n_components
        self.of = of
        self.expansion = expansion
        self.n_inputs = n_inputs

    def _check_parameters(self) -> None:
        check_counts(n_components=self.n_components)
        if self.n_inputs is not None:
            check_counts(n_inputs=self.n_inputs)
        for name, among in (("of", ("frames", "pairs")), ("expansion", tuple(EXPANSIONS))):
            if getattr(self, name) not in among:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected one of {', '.join(among)}")

    def _fit(self, before: np.ndarray, after: np.ndarray) -> None:
        steps = (before, after) if self.of == "frames" else _steps_of_a_movie(before, after)
        K, expand = self.n_components, EXPANSIONS[self.expansion]
        self.mean_, roots = _whitening(steps, self.n_inputs)
        C, D, z_mean = _moments(steps, lambda u: expand((u - self.mean_) @ roots))
        slowness, w = _slowest(C, D, K)
        if len(slowness) < K:
            warnings.warn(
                f"what is seen has {len(slowness)} products with variance for {K} outputs; the others are 0",
                ConvergenceWarning,
                stacklevel=3,
            )
        w = np.concatenate([signed(w) if len(w) else w, np.zeros((K - len(w), w.shape[1]))])
        self.slowness_ = np.pad(slowness, (0, K - len(slowness)))
        self.offsets_ = -w @ z_mean
        self.linear_forms_, self.quadratic_forms_ = _forms(w, roots)
        self._of = self.of

    def _transform(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        check_unchanged(self, n_components=len(self.offsets_), of=self._of)
        if self._of == "frames":
            return np.hstack([self._outputs(before), self._outputs(after)])
        return self._outputs(np.hstack([before, after]))

    def _outputs(self, u: np.ndarray) -> np.ndarray:
        u = u - self.mean_
        squares = [np.einsum("ti,ti->t", u @ H, u) for H in self.quadratic_forms_]
        return self.offsets_ + u @ self.linear_forms_.T + np.stack(squares, axis=1) / 2

    @property
    def generators_(self) -> np.ndarray:
        """Filters of pairs, shape (n_components, n_pixels, n_pixels): row i has the weights onto the change at pixel i.

        All of each quadratic form that is another when time runs backwards: with ``dx = x_next - x`` and ``m`` half way
        between both frames, ``dx' A m``. The rest, in products of ``m`` with itself and of ``dx`` with itself, is the
        same for both directions of a motion. The antisymmetric part of A is that of the weights on ``x_next x'``.

        Raises
        ------
        AttributeError
            After learning features of frames, or linear ones.
        """
        check_is_fitted(self)
        if self._of == "frames" or not self.quadratic_forms_.any():
            raise AttributeError("generators_ exist only for quadratic features of pairs; see linear_forms_")
        H, n = self.quadratic_forms_, self.n_features_in_
        of_both = H[:, n:, :n]  # x_next x'
        return (H[:, n:, n:] - H[:, :n, :n] + of_both - of_both.swapaxes(1, 2)) / 2

    @property
    def _n_features_out(self) -> int:
        return len(self.offsets_) * (2 if self._of == "frames" else 1)


def _steps_of_a_movie(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs that another follows, as vectors of both frames, and those that follow, (m, 2 n_pixels) each.

    Raises
    ------
    ValueError
        Pairs of which none follows another.
    """
    off = np.abs(before[1:] - after[:-1]).max(axis=1, initial=0.0)
    followed = np.flatnonzero(off <= SAME * np.abs(after[:-1]).max(axis=1, initial=0.0))
    if len(followed) == 0:
        raise ValueError(
            "no pair of X begins with the frame that the one before it ends with; expected pairs in the order of a "
            "movie, as pair_up makes them, for features of pairs"
        )
    both = np.hstack([before, after])
    return both[followed], both[followed + 1]


def _whitening(steps: tuple[np.ndarray, np.ndarray], n_inputs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of what is seen, and its principal components over their root variances, shape (d, n_inputs)."""
    mean = (steps[0].mean(axis=0) + steps[1].mean(axis=0)) / 2
    covariance = sum((u - mean).T @ (u - mean) / (2 * len(u)) for u in steps)
    return mean, _inverse_roots(covariance)[:, :n_inputs]


def _inverse_roots(covariance: np.ndarray) -> np.ndarray:
    """Return what whitens, shape (d, rank): eigenvectors over root eigenvalues, the largest first."""
    values, vectors = eigh(covariance)
    kept = values > CUTOFF * values.max(initial=0)
    return (vectors[:, kept] / np.sqrt(values[kept]))[:, ::-1]


def _moments(
    steps: tuple[np.ndarray, np.ndarray], expand: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the covariance of products z, the second moment of their changes in a step, and their mean."""
    n_products = expand(steps[0][:1]).shape[1]
    squares, changes = np.zeros((2, n_products, n_products))
    total = np.zeros(n_products)
    size, m = max(1, BLOCK_ENTRIES // max(1, n_products)), len(steps[0])
    for start in range(0, m, size):
        z, z_next = (expand(u[start : start + size]) for u in steps)
        changes += (z_next - z).T @ (z_next - z)
        z = (z + z_next) / 2
        squares += z.T @ z
        total += z.sum(axis=0)
    mean = total / m
    return (squares + changes / 4) / m - np.outer(mean, mean), changes / m, mean


def _slowest(C: np.ndarray, D: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at most K smallest values of D w = slowness C w, and w, one a row, of variance w'Cw = 1."""
    roots = _inverse_roots(C)
    K = min(K, roots.shape[1])
    if K == 0:
        return np.zeros(0), np.zeros((0, len(C)))
    slowness, vectors = eigh(roots.T @ D @ roots, subset_by_index=[0, K - 1])
    return np.maximum(slowness, 0), (roots @ vectors).T


def _linear(v: np.ndarray) -> np.ndarray:
    return v


def _quadratic(v: np.ndarray) -> np.ndarray:
    """Return inputs, shape (m, d), and their products, those with themselves among them, (m, d (d + 3) / 2)."""
    i, j = np.triu_indices(v.shape[1])
    return np.hstack([v, v[:, i] * v[:, j]])


EXPANSIONS = {"linear": _linear, "quadratic": _quadratic}


def _forms(w: np.ndarray, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return f and H of what is seen, from weights of products of whitened inputs, shape (K, D)."""
    n_inputs = roots.shape[1]
    H = np.zeros((len(w), n_inputs, n_inputs))
    if w.shape[1] > n_inputs:
        i, j = np.triu_indices(n_inputs)
        H[:, i, j] = w[:, n_inputs:]
    return w[:, :n_inputs] @ roots.T, roots @ (H + H.swapaxes(1, 2)) @ roots.T
