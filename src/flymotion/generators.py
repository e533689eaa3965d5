r"""Generators: the learned operators as things one can score, read a direction from, and move images with.

A generator ``A`` is the linear operator of an infinitesimal motion, ``dx = theta A x`` (Eq. 8): row i holds the weights
onto the change at pixel i. For content that moves to the right by ``theta`` pixels it is *minus* the spatial
derivative, so ``A[i, i - 1] > 0 > A[i, i + 1]`` (Suppl. C, Eq. 31, prints the operator of self-motion: its negative).

What learners find are *filters*, proportional to the operator but without a scale: a unit's weights are correlations of
its output with change and intensity, and the output has arbitrary units. Learned on frames whitened by Z, a filter F
stands for two matrices on raw frames: the detector ``Z F Z`` (:meth:`Generators.in_pixels`), whose product with
``dx x'`` is the unit's input, and the operator ``c Z^-1 F Z`` (:meth:`Generators.calibrated`), which moves frames by
one unit of its parameter. The scale c is that of the analytic operator, by least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import expm_multiply

from flymotion.eyes import Eye, Grid, Line
from flymotion.frames import FramePairs, as_frames
from flymotion.scenes import unit_vector

__all__ = ["Generators", "Match", "cosine", "derivative_operator"]


def derivative_operator(eye: Eye | tuple[int, ...], velocity: Any = 0.0) -> np.ndarray:
    """Return the discrete derivative's generator of content that flows over an eye.

    Parameters
    ----------
    eye : Eye or tuple of int
        Viewing positions, or the pixels of a frame, (n,) or (height, width).
    velocity : float or array-like, shape (ndim,) or (n_pixels, ndim)
        Direction of content that moves by one pixel a frame [deg]: 0 = right, 90 = up; or the velocity at each pixel,
        such as :meth:`flymotion.motions.Motion.flow` gives.

    Returns
    -------
    ndarray, shape (n_pixels, n_pixels)
        On a lattice the central difference, pixels beyond the border counting as 0; on the sphere the least-squares
        gradient over each pixel's neighbours.

    Examples
    --------
    >>> derivative_operator((3,))
    array([[ 0. , -0.5,  0. ],
           [ 0.5,  0. , -0.5],
           [ 0. ,  0.5,  0. ]])
    """
    eye = _as_eye(eye)
    positions = eye.positions
    n, ndim = positions.shape
    velocity = np.asarray(velocity, dtype=float)
    velocity = np.broadcast_to(unit_vector(float(velocity), ndim) if velocity.ndim == 0 else velocity, (n, ndim))
    i, j = np.concatenate([eye.neighbours, eye.neighbours[:, ::-1]]).T
    between = positions[j] - positions[i]
    if ndim == 3:
        between = between - (between * positions[i]).sum(axis=1, keepdims=True) * positions[i]
    if ndim < 3:  # as if every pixel had as many neighbours as those inside
        directions = _lattice_directions(between)
        moments = np.broadcast_to(directions.T @ directions, (n, ndim, ndim))
    else:
        moments = np.zeros((n, ndim, ndim))
        np.add.at(moments, i, between[:, :, None] * between[:, None, :])
    gradient = np.einsum("kab,kb->ka", np.linalg.pinv(moments, hermitian=True)[i], between)
    operator = np.zeros((n, n))
    np.add.at(operator, (i, j), -(velocity[i] * gradient).sum(axis=1))
    if ndim == 3:  # where neighbours are not symmetric, the gradient takes the pixel's own intensity off
        operator[np.diag_indices(n)] = -operator.sum(axis=1)
    return operator + 0.0


def _lattice_directions(between: np.ndarray) -> np.ndarray:
    return np.unique(between.round(9), axis=0)


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosines of operators a, shape (..., n, n), with operators b, broadcast; 0 where one of them is 0."""
    inner = (a * b).sum(axis=(-2, -1))
    norms = np.sqrt((a**2).sum(axis=(-2, -1)) * (b**2).sum(axis=(-2, -1)))
    return np.divide(inner, norms, out=np.zeros_like(norms), where=norms > 0)


class Match(NamedTuple):
    """How learned filters are assigned to analytic operators, each filter to another sign or operator.

    Attributes
    ----------
    parameter : ndarray of int, shape (n_components,)
        The operator that each filter is like; -1 for filters left over.
    sign : ndarray, shape (n_components,)
        1 or -1: the direction of motion that the filter prefers; 0 for filters left over.
    cosine : ndarray, shape (n_components,)
        Cosine with the operator of that sign; 0 for filters left over.
    """

    parameter: np.ndarray
    sign: np.ndarray
    cosine: np.ndarray


@dataclass(frozen=True, eq=False)
class Generators:
    """Operators on the frames of one eye.

    Parameters
    ----------
    operators : ndarray, shape (n_components, n_pixels, n_pixels)
        Row i: the weights onto the change at pixel i.
    eye : Eye or tuple of int
        Whose frames; for a line or grid of pixels their number, (n,) or (height, width), will do.
    whitening : ndarray, shape (n_pixels, n_pixels), optional
        The symmetric matrix Z that frames were multiplied by before learning.

    Raises
    ------
    ValueError
        Operators that do not fit the eye.

    Examples
    --------
    >>> A = Generators(derivative_operator((5,))[None], (5,))
    >>> A.antisymmetric_share().round(2), A.directions()
    (array([1.]), array([0.]))
    """

    operators: np.ndarray
    eye: Any
    whitening: np.ndarray | None = None

    def __post_init__(self) -> None:
        operators = np.asarray(self.operators, dtype=float)
        object.__setattr__(self, "eye", _as_eye(self.eye))
        n = int(np.prod(self.shape))
        if operators.ndim != 3 or operators.shape[1:] != (n, n):
            raise ValueError(f"operators of shape {operators.shape} for frames of {self.shape}; expected (K, {n}, {n})")
        object.__setattr__(self, "operators", operators)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame."""
        return self.eye.shape

    def __len__(self) -> int:
        return len(self.operators)

    def __getitem__(self, which: Any) -> Generators:
        """Return some of the generators."""
        which = [which] if isinstance(which, (int, np.integer)) else which
        return replace(self, operators=self.operators[which])

    def in_pixels(self) -> Generators:
        """Return the operators that give the same output on frames that were not whitened, ``Z A Z``."""
        if self.whitening is None:
            return self
        return Generators(self.whitening.T @ self.operators @ self.whitening, self.eye)

    # -- against analytic operators ------------------------------------------------------------------------------

    def match(self, analytic: Generators | np.ndarray) -> Match:
        """Assign each filter to an analytic operator and sign, so that the sum of cosines is greatest.

        An operator is given at most once with each sign. Filters beyond twice the operators are left over.

        Parameters
        ----------
        analytic : Generators or array-like, shape (n_parameters, n_pixels, n_pixels)
            On frames as these filters see them, e.g. :meth:`flymotion.theory.Population.generators`.
        """
        cosines = self.cosines(analytic)
        n = cosines.shape[1]
        which, target = linear_sum_assignment(-np.hstack([cosines, -cosines]))
        parameter, sign, value = np.full(len(self), -1), np.zeros(len(self)), np.zeros(len(self))
        parameter[which], sign[which] = target % n, np.where(target < n, 1.0, -1.0)
        value[which] = sign[which] * cosines[which, target % n]
        return Match(parameter, sign, value)

    def calibrated(self, analytic: Generators | np.ndarray) -> Generators:
        """Return one operator a parameter, on raw frames and to scale: ``dx = theta A x``.

        Filters are matched; those of opposite sign are subtracted, and their difference takes the scale of the analytic
        operator by least squares.

        Parameters
        ----------
        analytic : Generators or array-like, shape (n_parameters, n_pixels, n_pixels)
            On frames as these filters see them.

        Raises
        ------
        ValueError
            A parameter that no filter matches.
        """
        eye = analytic.eye if isinstance(analytic, Generators) else self.eye
        analytic = self._operators_of(analytic)
        match = self.match(analytic)
        if missing := set(range(len(analytic))).difference(match.parameter.tolist()):
            raise ValueError(f"no filter matches the parameters {sorted(missing)}; {len(self)} filters were learned")
        unit = self.operators / np.linalg.norm(self.operators, axis=(1, 2), keepdims=True)
        signed = np.zeros_like(analytic)
        np.add.at(signed, match.parameter, match.sign[:, None, None] * unit)
        scale = (signed * analytic).sum(axis=(1, 2)) / (signed**2).sum(axis=(1, 2))
        return Generators(scale[:, None, None] * signed, eye, self.whitening).on_raw_frames()

    def on_raw_frames(self) -> Generators:
        """Return the operators that move raw frames as these move whitened ones, ``Z^-1 A Z``."""
        if self.whitening is None:
            return self
        return Generators(np.linalg.pinv(self.whitening, rcond=1e-10) @ self.operators @ self.whitening, self.eye)

    # -- moving frames, and saying how they moved -----------------------------------------------------------------

    def apply(self, frames: np.ndarray, theta: Any) -> np.ndarray:
        """Move frames to first order, ``x + sum_a theta_a A_a x`` (Eq. 8).

        Parameters
        ----------
        frames : array-like, shape (n_frames, *pixels)
            Frames such as the operators act on: raw ones for :meth:`calibrated` operators.
        theta : array-like, shape (n_components,) or (n_frames, n_components)
            How far, in the units of the operators.

        Returns
        -------
        ndarray, shape (n_frames, *pixels)
        """
        frames, theta = self._check(frames, theta)
        flat = frames.reshape(len(frames), -1)
        change = np.einsum("fk,kij,fj->fi", theta, self.operators, flat, optimize=True)
        return (flat + change).reshape(frames.shape)

    def transform(self, frames: np.ndarray, theta: Any) -> np.ndarray:
        """Move frames by any amount, ``exp(sum_a theta_a A_a) x``, by the action of the matrix exponential.

        Motions one after the other are transforms one after the other; the amounts of one call act at once.

        Parameters
        ----------
        frames, theta
            As for :meth:`apply`.
        """
        frames, theta = self._check(frames, theta)
        flat = frames.reshape(len(frames), -1)
        moved = np.empty_like(flat)
        distinct, which = np.unique(theta, axis=0, return_inverse=True)
        for k, amounts in enumerate(distinct):
            mine = which.ravel() == k
            moved[mine] = expm_multiply(np.tensordot(amounts, self.operators, axes=1), flat[mine].T).T
        return moved.reshape(frames.shape)

    def estimate(self, pairs: FramePairs, *, ridge: float = 0.0, weights: Any = None) -> np.ndarray:
        r"""Say how content moved between two frames, to first order: ridge regression (Suppl. C).

        .. math:: \min_\theta |\Delta x - \sum_a \theta_a A_a \bar x|^2 + \lambda |\theta|^2

        with the mean :math:`\bar x` of both frames, for which the next order in theta vanishes.

        Parameters
        ----------
        pairs : FramePairs
            Frames such as the operators act on.
        ridge : float
            :math:`\lambda`, relative to the mean of :math:`|A_a \bar x|^2`.
        weights : array-like, shape pixels, optional
            How much each pixel's change counts, e.g. 0 at the border.

        Returns
        -------
        ndarray, shape (n_pairs, n_components)
            In the units of the operators; 0 for frames that say nothing.
        """
        before, after = (self._check(frames, 0.0)[0].reshape(len(pairs), -1) for frames in (pairs.before, pairs.after))
        predicted = np.einsum("kij,fj->fki", self.operators, (before + after) / 2, optimize=True)
        weighted = predicted if weights is None else predicted * np.ravel(weights)
        normal = weighted @ predicted.swapaxes(1, 2)
        target = (weighted @ (after - before)[..., None])[..., 0]
        size = np.trace(normal, axis1=1, axis2=2)[:, None, None] / len(self)
        normal = normal + np.where(size > 0, (ridge + 1e-12) * size, 1.0) * np.eye(len(self))
        return np.linalg.solve(normal, target[..., None])[..., 0]

    def register(
        self, pairs: FramePairs, *, weights: Sequence[Any] = (None,), n_iterations: int = 20, tolerance: float = 1e-6
    ) -> np.ndarray:
        """Estimate large motions: move both frames half way by the current estimate, estimate what is left, repeat.

        Parameters
        ----------
        pairs : FramePairs
            Frames such as the operators act on.
        weights : sequence of array-like
            One or more windows, each as for :meth:`estimate`; tried in turn, e.g. from a small one about the middle of
            a turning or growing image, where content moves least, to the whole interior.
        n_iterations : int
            Most iterations a window.
        tolerance : float
            Change of the estimate, relative to it, at which a window is done.

        Returns
        -------
        ndarray, shape (n_pairs, n_components)
        """
        theta = np.zeros((len(pairs), len(self)))
        for window in weights:
            active = np.arange(len(pairs))
            for _ in range(n_iterations):
                part = pairs[active]
                half = theta[active] / 2
                met = FramePairs(self.transform(part.before, half), self.transform(part.after, -half))
                left = self.estimate(met, weights=window)
                theta[active] += left
                size = np.linalg.norm(theta[active], axis=1)
                active = active[np.linalg.norm(left, axis=1) > tolerance * np.maximum(size, 1e-12)]
                if not active.size:
                    break
        return theta

    def _check(self, frames: Any, theta: Any) -> tuple[np.ndarray, np.ndarray]:
        frames = as_frames(frames, name="frames").astype(float)
        if frames.shape[1:] not in (self.shape, (int(np.prod(self.shape)),)):
            raise ValueError(f"frames have shape {frames.shape[1:]}, but the operators are for frames of {self.shape}")
        return frames, np.broadcast_to(np.asarray(theta, dtype=float), (len(frames), len(self)))

    # -- scores --------------------------------------------------------------------------------------------------

    def cosines(self, analytic: Generators | np.ndarray) -> np.ndarray:
        """Cosines with analytic operators, shape (m, n_pixels, n_pixels) or one of them; shape (n_components, m)."""
        return cosine(self.operators[:, None], self._operators_of(analytic))

    def _operators_of(self, analytic: Generators | np.ndarray) -> np.ndarray:
        operators = analytic.operators if isinstance(analytic, Generators) else np.asarray(analytic, dtype=float)
        return operators.reshape(-1, *self.operators.shape[1:])

    def antisymmetric_share(self) -> np.ndarray:
        """Share of each operator's energy that is antisymmetric, shape (n_components,)."""
        return self._share((self.operators - self.operators.swapaxes(1, 2)) / 2, self.operators)

    def toeplitz_share(self, margin: int = 1) -> np.ndarray:
        """Share of the energy of the interior rows that is the same operator at every pixel; shape (n_components,).

        Parameters
        ----------
        margin : int
            Rows of pixels nearer than this to the border are left out: they look past it.
        """
        inside = self._interior(margin)
        rows = self.operators[:, inside]
        offsets = self._offsets()[inside]
        offsets = offsets.reshape(-1, offsets.shape[-1])
        _, group = np.unique(offsets.round(6), axis=0, return_inverse=True)
        group = group.ravel()
        flat = rows.reshape(len(rows), -1)
        sums = np.stack([np.bincount(group, weights=r) for r in flat])
        shared = (sums / np.bincount(group))[:, group]
        return self._share(shared.reshape(rows.shape), rows)

    def locality(self, radius: float = 1.0) -> np.ndarray:
        """Share of each operator's energy between pixels at most ``radius`` apart, shape (n_components,).

        Distances are in pixel spacings; on the sphere they are chords of the unit sphere.
        """
        near = np.linalg.norm(self._offsets(), axis=2) <= radius + 1e-9
        return self._share(self.operators * near, self.operators)

    def directions(self) -> np.ndarray:
        """Direction of content that each operator prefers [deg]: 0 = right, 90 = up; shape (n_components,)."""
        ndim = self.eye.positions.shape[1]
        if ndim == 3:
            raise ValueError("a spherical eye has no one direction of content; match its generators with analytic ones")
        analytic = np.stack([derivative_operator(self.eye, angle) for angle in (0.0, 90.0)[:ndim]])
        # least squares: frames that are not square hold more neighbours along one axis than along the other
        along = self.operators.reshape(len(self), -1) @ np.linalg.pinv(analytic.reshape(len(analytic), -1))
        up = along[:, 1] if ndim == 2 else np.zeros(len(along))
        return np.degrees(np.arctan2(up, along[:, 0])) % 360.0

    def rows(self, pixel: int | None = None) -> np.ndarray:
        """Weights onto the change at one pixel (the middle one by default), shape (n_components, *shape)."""
        if pixel is None:
            far = np.linalg.norm(self.eye.positions - self.eye.positions.mean(axis=0), axis=1).round(9)
            pixel = int(np.flatnonzero(far == far.min())[-1])
        return self.operators[:, pixel].reshape(len(self), *self.shape)

    def _share(self, part: np.ndarray, whole: np.ndarray) -> np.ndarray:
        energy = (whole**2).sum(axis=(1, 2))
        return np.divide((part**2).sum(axis=(1, 2)), energy, out=np.zeros_like(energy), where=energy > 0)

    def _offsets(self) -> np.ndarray:
        return self.eye.positions[None, :, :] - self.eye.positions[:, None, :]

    def _interior(self, margin: int) -> np.ndarray:
        """Pixels that are at least ``margin`` links away from one with fewer neighbours than those inside have."""
        n = len(self.eye.positions)
        i, j = np.concatenate([self.eye.neighbours, self.eye.neighbours[:, ::-1]]).T
        whole = len(_lattice_directions(self.eye.positions[j] - self.eye.positions[i]))
        outside = np.bincount(i, minlength=n) < whole
        inside = np.ones(n, dtype=bool)
        for _ in range(margin if self.eye.positions.shape[1] < 3 else 0):
            inside &= ~outside
            reached = outside.copy()
            reached[i[outside[j]]] = True
            outside = reached
        if not inside.any():
            raise ValueError(f"frames of {self.shape} have no pixel {margin} away from the border")
        return inside


def _as_eye(eye: Eye | tuple[int, ...]) -> Eye:
    if isinstance(eye, tuple):
        return Line(*eye) if len(eye) == 1 else Grid(*eye)
    return eye
