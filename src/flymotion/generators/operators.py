r"""Operators to scale, on raw frames: they move images, and say how images have moved.

The operators :math:`A_a` of a motion's parameters :math:`\theta_a` generate its transformations,
:math:`x(\theta) = \exp(\sum_a \theta_a A_a) x`, of which Eq. 8 is the first order. Pixels near the border have
to guess what moves in from outside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import expm_multiply

from flymotion.brevity import in_brief
from flymotion.frames import FramePairs, as_frames, not_masked, unmasked
from flymotion.generators.analytic import interior
from flymotion.models.packing import Given, Packed, packed
from flymotion.world.eyes import as_eye, same_places
from flymotion.world.kinds_of_eyes import unpack_eye

__all__ = ["Operators"]

BLOCK = 4096
"""Pairs estimated at a time."""

DONE = 1e-6
"""Change of an estimate, relative to it, at which iterations end."""


@dataclass(frozen=True, eq=False)
class Operators:
    """One operator a parameter of a motion, on raw frames: ``dx = sum_a theta_a A_a x``.

    Parameters
    ----------
    operators : ndarray, shape (n_parameters, n_pixels, n_pixels)
        Row i: the weights onto the change at pixel i, per unit of the parameter.
    eye : Eye or tuple of int
        Whose frames; for a line or grid of pixels their number, (n,) or (height, width), will do.
    mean : float or ndarray, shape (n_pixels,)
        Intensity that the operators leave out, and leave alone.

    Raises
    ------
    ValueError
        Operators that do not fit the eye; in every method, frames of another size or amounts of another shape.

    Examples
    --------
    >>> from flymotion import Line, pair_up
    >>> from flymotion.generators import derivative_operator
    >>> right = Operators(derivative_operator(Line(5))[None], Line(5))
    >>> right.apply(np.array([[0.0, 0.0, 1.0, 0.0, 0.0]]), [[0.2]]).round(6) + 0.0  # to first order, 0.2 pixels
    array([[ 0. , -0.1,  1. ,  0.1,  0. ]])
    >>> pairs = pair_up([[1.0, 2.0, 4.0, 2.0, 1.0], [0.9, 1.7, 4.0, 2.3, 1.1]])
    >>> right.estimate(pairs).round(2)
    array([[0.17]])
    """

    operators: np.ndarray
    eye: Any
    mean: Any = 0.0

    __repr__ = in_brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", unmasked(self.operators, "operators", float))
        not_masked(self.mean, "mean")
        object.__setattr__(self, "eye", as_eye(self.eye))
        n = int(np.prod(self.shape))
        if self.operators.shape != (len(self.operators), n, n):
            raise ValueError(
                f"operators of shape {self.operators.shape}, frames of {self.shape}; expected (p, {n}, {n})"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one frame."""
        return self.eye.shape

    def __len__(self) -> int:
        return len(self.operators)

    def pack(self) -> Packed:
        """Return what :meth:`unpack` makes the operators of again."""
        mean = np.asarray(self.mean, dtype=float)
        arrays = {"operators": self.operators, "means": mean if mean.ndim else None}
        return packed({"mean": None if mean.ndim else float(mean)}, arrays, eye=self.eye)

    @classmethod
    def unpack(cls, given: Given) -> Operators:
        """Return the operators that were packed.

        Raises
        ------
        ValueError
            What are no operators.
        """
        operators = given.array("operators", None, None, None, types=["float64"])
        mean, means = given.number("mean", optional=True), given.array("means", operators.shape[2], optional=True)
        if (mean is None) == (means is None):
            raise given.wrong("mean", "given twice, or not at all", "one for all pixels, or for each")
        return cls(operators, unpack_eye(given.part("eye")), mean if means is None else means)

    def apply(self, frames: np.ndarray, theta: Any) -> np.ndarray:
        """Move frames to first order, ``x + sum_a theta_a A_a x`` (Eq. 8).

        Parameters
        ----------
        frames : array-like, shape (n_frames, *pixels)
            Frames.
        theta : array-like, shape (n_parameters,) or (n_frames, n_parameters)
            How far, in the units of the operators.

        Returns
        -------
        ndarray, shape (n_frames, *pixels)
        """
        flat, theta = self._flat(frames), self._amounts(theta, len(frames))
        change = np.einsum("fk,fki->fi", theta, self._derivatives(flat))  # Eq. 8
        return (flat + self.mean + change).reshape(np.shape(frames))

    def transform(self, frames: np.ndarray, theta: Any) -> np.ndarray:
        """Move frames by any amount, ``exp(sum_a theta_a A_a) x``, by the action of the matrix exponential.

        Motions one after the other are transforms one after the other; the amounts of one call act at once.

        Parameters
        ----------
        frames, theta
            As for :meth:`apply`.

        Returns
        -------
        ndarray, shape (n_frames, *pixels)

        Examples
        --------
        >>> from flymotion.generators import derivative_operator
        >>> right = Operators(derivative_operator((32,))[None], (32,))
        >>> bump = np.exp(-((np.arange(32) - 12.0) ** 2) / 32)
        >>> moved = right.transform(bump[None], [5.0])[0]  # 5 pixels
        >>> int(bump.argmax()), int(moved.argmax())
        (12, 17)
        """
        flat, theta = self._flat(frames), self._amounts(theta, len(frames))
        moved = np.empty_like(flat)
        distinct, which = np.unique(theta, axis=0, return_inverse=True)
        for k, amounts in enumerate(distinct):
            mine = which.ravel() == k
            moved[mine] = expm_multiply(np.tensordot(amounts, self.operators, axes=1), flat[mine].T).T
        return (moved + self.mean).reshape(np.shape(frames))

    def estimate(self, pairs: FramePairs, *, ridge: float = 0.0, weights: Any = None) -> np.ndarray:
        r"""Say how content moved between two frames, to first order: ridge regression (Suppl. C).

        .. math:: \min_\theta |\Delta x - \sum_a \theta_a A_a \bar x|^2 + \lambda |\theta|^2

        with the mean :math:`\bar x` of both frames, for which the next order in theta vanishes.

        Parameters
        ----------
        pairs : FramePairs
            Pairs of frames.
        ridge : float
            :math:`\lambda`, relative to the mean of :math:`|A_a \bar x|^2`.
        weights : array-like, shape pixels, optional
            How much each pixel's change counts, e.g. 0 at the border.

        Returns
        -------
        ndarray, shape (n_pairs, n_parameters)
            In the units of the operators; 0 for frames that say nothing.

        Raises
        ------
        ValueError
            Also for pairs of an eye whose pixels are elsewhere, here and wherever pairs are taken.
        """
        not_masked(weights, "weights")
        if pairs.eye is not None and not same_places(pairs.eye, self.eye):
            raise ValueError(f"the pairs are of {pairs.eye}, and the operators for frames of {self.eye}")
        return np.concatenate(
            [np.zeros((0, len(self)))]
            + [self._estimate(pairs[start : start + BLOCK], ridge, weights) for start in range(0, len(pairs), BLOCK)]
        )

    def _estimate(self, pairs: FramePairs, ridge: float, weights: Any) -> np.ndarray:
        before, after = self._flat(pairs.before), self._flat(pairs.after)
        predicted = self._derivatives((before + after) / 2)  # Eq. 22
        weighted = predicted if weights is None else predicted * np.ravel(weights)
        normal = weighted @ predicted.swapaxes(1, 2)
        target = (weighted @ (after - before)[..., None])[..., 0]
        size = np.trace(normal, axis1=1, axis2=2)[:, None, None] / len(self)
        normal = normal + np.where(size > 0, (ridge + 1e-12) * size, 1.0) * np.eye(len(self))
        return np.linalg.solve(normal, target[..., None])[..., 0]  # Eq. 29, of any motions, and of content

    def register(self, pairs: FramePairs, *, windows: Any = None, n_iterations: int = 20) -> np.ndarray:
        """Estimate large motions: move both frames half way by the current estimate, estimate what is left, repeat.

        Parameters
        ----------
        pairs : FramePairs
            Pairs of frames.
        windows : sequence of array-like, optional
            Weights of the pixels, each as for :meth:`estimate`, one after the other; by default :meth:`windows`.
        n_iterations : int
            Most iterations a window.

        Returns
        -------
        ndarray, shape (n_pairs, n_parameters)
            Where iterations diverge, as for motions too large to be followed, it is what the last one gave.

        Examples
        --------
        >>> from flymotion import FramePairs
        >>> from flymotion.generators import derivative_operator
        >>> right = Operators(derivative_operator((32,))[None], (32,))
        >>> bumps = np.exp(-((np.arange(32) - [[12.0], [17.0]]) ** 2) / 32)
        >>> pairs = FramePairs(bumps[:1], bumps[1:])
        >>> right.estimate(pairs).round(1), right.register(pairs).round(1)  # of 5 pixels; to first order, and followed
        (array([[5.9]]), array([[5.1]]))
        """
        not_masked(windows, "windows")
        theta = np.zeros((len(pairs), len(self)))
        for window in self.windows() if windows is None else windows:
            active = np.arange(len(pairs))
            for _ in range(n_iterations):
                part = pairs[active]
                half = theta[active] / 2
                met = part.with_frames(
                    self.transform(part.before, half), self.transform(part.after, -half)
                )  # Eqs. 20, 21
                left = self.estimate(met, weights=window)
                theta[active] += left
                size = np.linalg.norm(theta[active], axis=1)
                active = active[np.linalg.norm(left, axis=1) > DONE * np.maximum(size, 1e-12)]
                if not active.size:
                    break
        return theta

    def windows(self) -> list[np.ndarray]:
        """Return windows to register in, from the middle of the eye to all but its border, shape (n_pixels,) each.

        Content moves least near the middle of a turning or growing image, so it is followed there first. A spherical
        eye has no border, and one window.
        """
        positions = self.eye.positions
        if positions.shape[1] == 3:
            return [np.ones(len(positions))]
        inside = interior(self.eye, 2).astype(float)
        far = np.linalg.norm(positions, axis=1)
        return [inside * (far <= share * far[inside > 0].max()) for share in (0.4, 0.7)] + [inside]

    def refined(self, pairs: FramePairs, *, ridge: float = 1e-4) -> Operators:
        r"""Return the operators that explain best how pairs change, given what these operators say of their motion.

        .. math:: \min_A \sum_t |\Delta x_t - \sum_a \hat\theta_{ta} A_a \bar x_t|^2 + \lambda |A|^2

        Similarity matching finds the motion; this is the one step of reconstruction (Eqs. 9, 23) that takes from its
        filters what they owe to the noise of chi. Where the pairs' motion is known, the operators take its scale.

        Parameters
        ----------
        pairs : FramePairs
            Those learned from, or others: many more than there are pixels.
        ridge : float
            :math:`\lambda`, relative to the mean square of a pixel times that of :math:`\hat\theta`.
        """
        theta = self.estimate(pairs)
        before, after = self._flat(pairs.before), self._flat(pairs.after)
        middle, change = (before + after) / 2, after - before
        p, n = len(self), middle.shape[1]
        normal, target = np.zeros((p, n, p, n)), np.zeros((p, n, n))
        for a in range(p):
            weighted = theta[:, a, None] * middle
            target[a] = weighted.T @ change
            for b in range(a, p):
                normal[a, :, b] = weighted.T @ (theta[:, b, None] * middle)
                normal[b, :, a] = normal[a, :, b].T
        flat = normal.reshape(p * n, p * n)
        flat[np.diag_indices(p * n)] += ridge * np.trace(flat) / (p * n)
        solved = np.linalg.solve(flat, target.reshape(p * n, n)).reshape(p, n, n)  # Eq. 23
        return replace(self, operators=solved.swapaxes(1, 2)).scaled(pairs)

    def scaled(self, pairs: FramePairs) -> Operators:
        """Return the operators in the units of the pairs' motion, where it is known: estimates are right on average."""
        if pairs.motion is None:
            return self
        theta = self.estimate(pairs)
        units = (theta * pairs.motion).sum(axis=0) / np.maximum((pairs.motion**2).sum(axis=0), 1e-300)
        return replace(self, operators=self.operators * units[:, None, None])

    def _derivatives(self, flat: np.ndarray) -> np.ndarray:
        """Return the changes per unit of each parameter, shape (n_frames, n_parameters, n_pixels)."""
        return (flat @ self.operators.reshape(-1, flat.shape[1]).T).reshape(len(flat), len(self), -1)

    def _flat(self, frames: Any) -> np.ndarray:
        frames = as_frames(frames, name="frames").astype(float)
        if frames.shape[1:] not in (self.shape, (int(np.prod(self.shape)),)):
            raise ValueError(f"frames have shape {frames.shape[1:]}, but the operators are for frames of {self.shape}")
        return frames.reshape(len(frames), -1) - self.mean

    def _amounts(self, theta: Any, n: int) -> np.ndarray:
        theta = unmasked(theta, "theta", float)
        if theta.shape not in ((), (len(self),), (n, len(self))) or not np.isfinite(theta).all():
            raise ValueError(f"theta has shape {theta.shape}; expected finite ({len(self)},) or ({n}, {len(self)})")
        return np.broadcast_to(theta, (n, len(self)))
