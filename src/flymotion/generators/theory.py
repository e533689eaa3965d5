r"""What an unlimited learner would find: the moments of chi in closed form, for stationary Gaussian scenes.

Before and after, seen through the optics, are jointly Gaussian: :math:`z = (x_t, x_{t+1})` has a covariance that
depends on the scene's covariance function c and on the step s of the image content alone,

.. math:: cov(x_{t+1,i}, x_{t,j} | s) = C(s)_{ij} = c(g_s^{-1} p_i - p_j),

where the step takes content at p to :math:`g_s p`, so that for translations it is :math:`c(p_i - p_j - s)`. On the
sphere positions are unit vectors, and c a function of their chords. A zoom or shear changes what covaries after it too.

Every feature is a sum of products of two linear maps of z, :math:`\chi = \sum_r (P_r z)(Q_r z)'`, so Isserlis' theorem
gives its moments from those of z, and a response :math:`A \cdot \chi` is a quadratic form in z, whose sign has a
probability in closed form but for one integral (:mod:`flymotion.generators.quadratic_forms`). No sampling anywhere: an
oracle for SM and PCA. Longer than 350 lines because all of it is read off the same moments.

==========  ===============  ==================================================================
``C(s)``    (n, n)           covariance of the pixels after (rows) with those before (columns)
``P, Q``    (r, n, 2 n)      the linear maps of the feature
``A``       (n, n)           a generator: row i weights onto the change at pixel i
``s``       (..., p)         steps, as the motion has parameters
==========  ===============  ==================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar

from flymotion.brevity import in_brief
from flymotion.frames import unmasked
from flymotion.generators import Generators
from flymotion.generators.quadratic_forms import probability_positive
from flymotion.similarity.features import FEATURES, check_feature
from flymotion.world.eyes import Eye
from flymotion.world.motions import Motion
from flymotion.world.scenes.sphere import toward

__all__ = ["Population", "antisymmetric_share", "population"]

DEGENERATE = 1e-8
"""Difference of two eigenvalues, relative to the largest, below which they are taken as equal."""


def population(
    covariance: Callable[..., np.ndarray],
    eye: Eye,
    motion: Motion,
    *,
    feature: str = "change",
    whitening: Any = "zca",
    regularization: float = 0.0,
    order: int = 8,
    depth: Any = math.inf,
) -> Population:
    """Describe the population of pairs of frames of a stationary Gaussian scene of mean 0.

    Parameters
    ----------
    covariance : callable
        From displacements, shape (..., ndim) [pixel spacings], to the covariances of two pixels that far apart, shape
        (...), optics included: for instance ``exponential_covariance(3.0, eye.sigma)``. For motions that stretch the
        content it also takes what the optics of both pixels have more than at rest, shape (..., ndim, ndim).
    eye : Eye
        Viewing positions and optics.
    motion : Motion
        Distribution of the steps.
    feature : {"change", "midpoint", "product", "antisymmetric"}
        As in :data:`flymotion.similarity.features.FEATURES`.
    whitening : "zca", None or array-like, shape (n, n)
        Whiten the frames by the population's ZCA, not at all, or by a given matrix Z.
    regularization : float
        Ridge of the whitening, relative to the mean variance of a pixel.
    order : int
        Nodes of the quadrature over the sizes of steps.
    depth : float or callable
        Of the scene, for a spherical eye that moves; see :class:`flymotion.world.scenes.SphericalScene`.

    Raises
    ------
    ValueError
        An unknown feature, a matrix of the wrong shape, a motion without steps, or an eye of lenses of several widths.

    Examples
    --------
    >>> from flymotion.world.eyes import Line
    >>> from flymotion.world.motions import Translation
    >>> from flymotion.world.scenes import exponential_covariance
    >>> eye = Line(5, sigma=0.8)
    >>> pop = population(exponential_covariance(3.0, eye.sigma), eye, Translation(0.1, ndim=1))
    >>> _, (A, *_) = pop.components(1)
    >>> round(float(antisymmetric_share(A)), 2), round(pop.direction_accuracy(A), 3)
    (0.97, 0.948)
    """
    if np.ndim(eye.sigma) > 0:
        raise ValueError(f"an eye of {len(eye.positions)} widths; expected one for all, as the covariance takes it")
    C = covariance(eye.positions[:, None] - eye.positions)
    n, ridge = len(C), regularization * float(np.mean(np.diagonal(C)))
    check_feature(feature)
    if not motion.largest.any():
        raise ValueError("the motion's largest shift is 0; expected steps")
    if whitening is None:
        Z = np.eye(n)
    elif isinstance(whitening, str) and whitening == "zca":
        values, vectors = np.linalg.eigh(C)
        Z = (vectors / np.sqrt(values + ridge)) @ vectors.T
    else:
        Z = unmasked(whitening, "whitening", float)
    if Z.shape != (n, n):
        raise ValueError(f"whitening has shape {Z.shape}; expected ({n}, {n}), 'zca' or None")
    return Population(covariance, eye, motion, feature, Z, order, ridge, depth)


@dataclass(frozen=True, eq=False)
class Population:
    """The population of pairs of frames, as :func:`population` makes it.

    Parameters
    ----------
    covariance : callable
        From displacements, shape (..., ndim), to covariances of two pixels, shape (...).
    eye : Eye
        Viewing positions, n of them, and optics.
    motion : Motion
        Distribution of the steps.
    feature : str
        Key of :data:`flymotion.similarity.features.FEATURES`.
    Z : ndarray, shape (n, n)
        What frames are multiplied by.
    order : int
        Nodes of the quadrature over the sizes of steps.
    ridge : float
        Of the whitening, or variance of the pixels' noise.
    depth : float or callable
        Of the scene, for a spherical eye that moves.

    Examples
    --------
    >>> from flymotion.world import Line, Translation
    >>> from flymotion.world.scenes import exponential_covariance
    >>> pairs = population(exponential_covariance(3.0, 0.475), Line(5), Translation(0.3, ndim=1))
    >>> energies, _ = pairs.components(2)
    >>> energies.round(2), pairs.frame_covariance([0.3]).shape  # of both frames
    (array([0.34, 0.23]), (10, 10))
    """

    covariance: Callable[..., np.ndarray]
    eye: Eye
    motion: Motion
    feature: str
    Z: np.ndarray
    order: int = 8
    ridge: float = 0.0
    depth: Any = math.inf

    __repr__ = in_brief

    def __post_init__(self) -> None:
        unmasked(self.Z, "Z")

    def frame_covariance(self, step: Any) -> np.ndarray:
        """Covariance of z = (before, after), whitened, given steps, shape (..., p); shape (..., 2 n, 2 n)."""
        step = unmasked(step, "step", float)
        C, still = self._lagged(step), self._lagged(np.zeros(len(self.motion.flows)))
        C, before, after = (self.Z @ each @ self.Z.T for each in (C, still, self._after(step, still)))
        before, after = np.broadcast_to(before, C.shape), np.broadcast_to(after, C.shape)
        return np.block([[before, C.swapaxes(-1, -2)], [C, after]])

    def _lagged(self, step: np.ndarray) -> np.ndarray:
        """C(s), not whitened, given steps, shape (..., p); shape (..., n, n)."""
        back = self.motion.maps(-step)
        if self.motion.ndim < 3 and (back[..., :-1] == np.eye(self.motion.ndim)).all():
            return self._shifted(back[..., -1])
        looked, stretch = self._looked(back)
        return self._seen(looked[..., :, None, :] - self.eye.positions, stretch)

    def _after(self, step: np.ndarray, still: np.ndarray) -> np.ndarray:
        """Covariance of the pixels after steps, not whitened: ``still`` where none brings them nearer to each other."""
        looked, stretch = self._looked(self.motion.maps(-step))
        between, before = (at[..., :, None, :] - at[..., None, :, :] for at in (looked, self.eye.positions))
        rigid = np.allclose((between**2).sum(axis=-1), (before**2).sum(axis=-1), atol=1e-9)
        return still if rigid else self._seen(between, 2 * stretch)

    def _looked(self, back: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where pixels look, shape (..., n, ndim), and what a pixel's optics, relative to sigma^2, gain."""
        turned, places = back[..., :-1], back[..., None, :, -1]
        looked = self.eye.positions @ turned.swapaxes(-1, -2)
        if self.motion.ndim < 3:
            looked = looked + places
        elif places.any():
            looked = toward(places, looked, self.depth)
        return looked, turned @ turned.swapaxes(-1, -2) - np.eye(self.motion.ndim)

    def _seen(self, between: np.ndarray, stretch: np.ndarray) -> np.ndarray:
        if np.abs(stretch).max() < 1e-9:
            return self.covariance(between)
        return self.covariance(between, self.eye.sigma**2 * stretch[..., None, None, :, :])

    def _shifted(self, shift: np.ndarray) -> np.ndarray:
        """C(s) of eyes displaced by shifts: the covariance function is asked once for each distinct displacement."""
        n, ndim = self.eye.positions.shape
        between = (self.eye.positions[:, None] - self.eye.positions).reshape(-1, ndim)
        distinct, which = np.unique(between.round(9), axis=0, return_inverse=True)
        C = self.covariance(distinct + shift[..., None, :])[..., which.ravel()]
        return C.reshape(*shift.shape[:-1], n, n)

    def generators(self) -> Generators:
        """Return the population-optimal linear operator of each parameter, on whitened frames.

        The regression of the change on the frame, ``dx = theta A x``, to first order in theta: with D the derivative
        of C(s), ``A = D (C + r)^-1`` on raw frames, r being the ridge of the whitening (or the variance of the pixels'
        noise), and so ``Z D Z`` after ZCA.

        Examples
        --------
        >>> from flymotion.world import Line, Translation
        >>> from flymotion.world.scenes import smooth_covariance
        >>> pairs = population(smooth_covariance(3.0, 0.475), Line(5), Translation(0.3, ndim=1))
        >>> right = pairs.generators().operators[0]
        >>> (right[2] / np.abs(right[2]).max()).round(1) + 0.0  # onto the change in the middle
        array([-0.1,  1. ,  0. , -1. ,  0.1])
        """
        parameters = np.eye(len(self.motion.flows))
        reach = np.linalg.norm(self.motion.flow(self.eye.positions, 1.0), axis=2).max(axis=1)
        h = 1e-2 * (np.radians(self.eye.sigma) or 1e-2 if self.motion.ndim == 3 else 1.0) / reach[:, None]
        C = [self._lagged(k * h * parameters) for k in (-2, -1, 1, 2)]
        D = (C[0] - 8 * C[1] + 8 * C[2] - C[3]) / (12 * h[..., None])
        C0 = self._lagged(np.zeros(len(parameters)))
        seen = self.Z @ (C0 + self.ridge * np.eye(len(C0))) @ self.Z.T
        operators = self.Z @ D @ self.Z.T @ np.linalg.pinv(seen, rcond=1e-8, hermitian=True)
        return Generators(operators, self.eye, self.Z)

    @cached_property
    def _maps(self) -> tuple[np.ndarray, np.ndarray]:
        """The feature's linear maps P and Q, each of shape (r, n, 2 n): what it does to a basis of z."""
        n = len(self.eye.positions)
        before, after = np.hsplit(np.eye(2 * n), 2)
        P, Q = (factor.reshape(2 * n, -1, n).transpose(1, 2, 0) for factor in FEATURES[self.feature](before, after))
        return P, Q

    def mean_given_step(self, step: Any) -> np.ndarray:
        """Mean of chi given steps, shape (..., p); shape (..., n, n)."""
        P, Q = self._maps
        return (P @ self.frame_covariance(step)[..., None, :, :] @ Q.swapaxes(1, 2)).sum(axis=-3)

    @cached_property
    def second_moment(self) -> np.ndarray:
        """E[vec(chi) vec(chi)'], uncentred, shape (n^2, n^2), by Isserlis' theorem."""
        n = len(self.eye.positions)
        steps, weights = self.motion.quadrature(self.order)
        means = self.mean_given_step(steps).reshape(len(steps), n * n)
        sigma = self.frame_covariance(steps)[:, None, None]
        P, Q = self._maps
        uu, uv, vu, vv = (
            (left[:, None] @ sigma @ right.swapaxes(1, 2)).reshape(-1, n * n) for left in (P, Q) for right in (P, Q)
        )
        each = np.repeat(weights, len(P) ** 2)[:, None]  # a step has r^2 pairs of factors
        # E[u_i v_j u_k v_l] = E[u_i v_j] E[u_k v_l] + E[u_i u_k] E[v_j v_l] + E[u_i v_l] E[v_j u_k]
        moment = (weights[:, None] * means).T @ means
        for pairing, axes in (((each * uu).T @ vv, (0, 2, 1, 3)), ((each * uv).T @ vu, (0, 2, 3, 1))):
            moment += pairing.reshape(n, n, n, n).transpose(axes).reshape(n * n, n * n)
        return (moment + moment.T) / 2

    def components(self, n_components: int = 2) -> tuple[np.ndarray, np.ndarray]:
        """Return the principal components of chi, uncentred: what SM and PCA converge to.

        Among equal eigenvalues, as of horizontal and vertical motion, components are turned to the axes of motion, in
        the order of ``motion.ways``. A component that tells directions apart is signed so that it responds
        positively to the first direction along its axis; others by their largest entry.

        Parameters
        ----------
        n_components : int
            How many, at most n^2.

        Returns
        -------
        eigenvalues : ndarray, shape (n_components,)
            Largest first: mean squared response of each.
        generators : ndarray, shape (n_components, n, n)
            Of norm 1.
        """
        n, size = len(self.eye.positions), len(self.second_moment)
        if not 1 <= n_components <= size:
            raise ValueError(f"n_components is {n_components}; expected 1 to {size}")
        first = max(size - n_components - 8, 0)  # a few more, since the last may have equals
        values, vectors = (a[..., ::-1] for a in eigh(self.second_moment, subset_by_index=[first, size - 1]))
        starts = np.flatnonzero(-np.diff(values) > DEGENERATE * values[0]) + 1
        turned = np.hstack([self._to_axes(block) for block in np.split(vectors, starts, axis=1)])
        generators = turned.T.reshape(-1, n, n)[:n_components]
        return values[:n_components], np.array([self._sign(A) * A for A in generators])

    def _to_axes(self, block: np.ndarray) -> np.ndarray:
        """Turn vectors of equal eigenvalues, shape (n^2, m), to the axes of motion."""
        responses = block.T @ self._opposition.reshape(len(self._opposition), -1).T
        return block @ np.linalg.qr(responses, mode="complete")[0]

    def _sign(self, A: np.ndarray) -> float:
        opposed = self._opposed(A)
        strongest = opposed[np.argmax(np.abs(opposed) > 0.5 * np.abs(opposed).max())]
        if abs(strongest) > DEGENERATE * np.linalg.norm(A) * np.linalg.norm(self._opposition[0]):
            return float(np.sign(strongest))
        return float(np.sign(A.flat[np.abs(A).argmax()]))

    @cached_property
    def _axes(self) -> np.ndarray:
        """Ways of the motion without the opposites of earlier ones, shape (n_axes, p)."""
        axes: list[np.ndarray] = []
        for way in self.motion.ways:
            if all(abs(way @ axis) < 1 - 1e-9 for axis in axes):
                axes.append(way)
        return np.array(axes)

    @cached_property
    def _opposition(self) -> np.ndarray:
        """Half the difference of the means of chi for motion along and against each axis, shape (n_axes, n, n)."""
        steps, weights = self.motion.quadrature(self.order)
        sizes = np.linalg.norm(steps, axis=1)
        differences = []
        for axis in self._axes:
            own = np.abs(steps @ axis) > (1 - 1e-9) * sizes
            along = sizes[own, None] * axis
            difference = self.mean_given_step(along) - self.mean_given_step(-along)
            differences.append(np.average(difference, axis=0, weights=weights[own]) / 2)
        return np.array(differences)

    def _opposed(self, A: np.ndarray) -> np.ndarray:
        return np.einsum("ij,aij->a", unmasked(A, "A"), self._opposition)

    def mean_response(self, A: np.ndarray, step: Any) -> np.ndarray:
        """Mean of ``A . chi`` given steps, shape (..., p) [per frame]; shape (...)."""
        return np.einsum("ij,...ij->...", unmasked(A, "A"), self.mean_given_step(step))

    def axis(self, A: np.ndarray) -> np.ndarray:
        """Return the direction, one of the motion's, along which a generator tells motion apart; shape (p,)."""
        opposed = np.abs(self._opposed(A))
        return self._axes[np.argmax(opposed >= (1 - 1e-6) * opposed.max())]

    def peak_speed(self, A: np.ndarray) -> float:
        """Return the speed up to which the mean response grows, for motion along ``axis(A)`` [pixels per frame].

        Half the response to opposite motions' difference; ``inf`` where it grows as far as the eye reaches.
        """
        axis = self.axis(A)

        def response(speed: Any) -> np.ndarray:
            step = np.multiply.outer(speed, axis)
            return (self.mean_response(A, step) - self.mean_response(A, -step)) / 2

        speeds = np.linspace(0, np.ptp(self.eye.positions @ axis) + 1, 129)[1:]
        responses = response(speeds)
        sign = np.sign(responses[0])
        falls = np.diff(sign * responses) < 0
        if not falls.any():
            return float("inf")
        top = int(np.argmax(falls))
        bounds = speeds[max(top - 1, 0)], speeds[top + 1]
        return float(minimize_scalar(lambda speed: -sign * response(speed), bounds=bounds, method="bounded").x)

    def direction_accuracy(self, A: np.ndarray) -> float:
        """Return the probability that the sign of ``A . chi`` is that of motion along ``axis(A)``, for single pairs.

        Over the motion's steps, but for those more than 60 degrees off the axis. Exact but for the quadratures.
        """
        axis, (P, Q) = self.axis(A), self._maps
        form = np.einsum("ria,ij,rjb->ab", P, A, Q)  # A . chi = z' form z
        steps, weights = self.motion.quadrature(self.order)
        cosine = steps @ axis / np.linalg.norm(steps, axis=1)
        values, vectors = np.linalg.eigh(self.frame_covariance(steps))
        root = vectors * np.sqrt(np.maximum(values, 0))[:, None]
        positive = probability_positive(np.linalg.eigvalsh(root.swapaxes(1, 2) @ (form + form.T) / 2 @ root))
        right = np.where(cosine > 0, positive, 1 - positive)
        return float(np.average(right, weights=weights * (np.abs(cosine) > 0.5)))


def antisymmetric_share(A: np.ndarray) -> np.ndarray:
    """Return the share of generators' energy in their antisymmetric parts, ``|A - A'|^2 / 4 |A|^2``.

    Parameters
    ----------
    A : ndarray, shape (..., n, n)

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> from flymotion.generators import derivative_operator
    >>> D = derivative_operator((5,))
    >>> antisymmetric_share(np.stack([D, D @ D])).round(2)  # of a derivative, and of a second one
    array([1., 0.])
    """
    A = unmasked(A, "A")
    odd = (A - A.swapaxes(-1, -2)) / 2
    return (odd**2).sum(axis=(-2, -1)) / (A**2).sum(axis=(-2, -1))
