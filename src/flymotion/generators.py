r"""Generators: the learned operators as things one can score, read a direction from, and take to pixels.

A generator ``A`` is the linear operator of an infinitesimal motion, ``dx = theta A x`` (Eq. 8): row i holds the weights
onto the change at pixel i. For content that moves to the right by ``theta`` pixels it is *minus* the spatial
derivative, so ``A[i, i - 1] > 0 > A[i, i + 1]`` (Suppl. C, Eq. 31, prints the operator of self-motion: its negative).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flymotion.eyes import Grid, Line
from flymotion.scenes import unit_vector

__all__ = ["Generators", "cosine", "derivative_operator"]


def derivative_operator(shape: tuple[int, ...], angle: float = 0.0) -> np.ndarray:
    """Return the central-difference generator of content moving along ``angle``.

    Parameters
    ----------
    shape : tuple of int
        Pixels of a frame, (n,) or (height, width).
    angle : float
        Direction of the content [deg]: 0 = right, 90 = up.

    Returns
    -------
    ndarray, shape (n_pixels, n_pixels)
        For one pixel per frame; pixels beyond the border count as 0.

    Examples
    --------
    >>> derivative_operator((3,))
    array([[ 0. , -0.5,  0. ],
           [ 0.5,  0. , -0.5],
           [ 0. ,  0.5,  0. ]])
    """
    positions = _positions(shape)
    between = positions[None, :, :] - positions[:, None, :]
    direction = unit_vector(angle, len(shape))
    neighbours = np.isclose(np.linalg.norm(between, axis=2), 1.0)
    return np.where(neighbours, -(between @ direction) / 2, 0.0) + 0.0


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosines of operators a, shape (..., n, n), with operators b, broadcast; 0 where one of them is 0."""
    inner = (a * b).sum(axis=(-2, -1))
    norms = np.sqrt((a**2).sum(axis=(-2, -1)) * (b**2).sum(axis=(-2, -1)))
    return np.divide(inner, norms, out=np.zeros_like(norms), where=norms > 0)


@dataclass(frozen=True, eq=False)
class Generators:
    """Operators learned on frames of one shape.

    Parameters
    ----------
    operators : ndarray, shape (n_components, n_pixels, n_pixels)
        Row i: the weights onto the change at pixel i.
    shape : tuple of int
        Pixels of a frame, (n,) or (height, width).
    whitening : ndarray, shape (n_pixels, n_pixels), optional
        The symmetric matrix Z that frames were multiplied by before learning.

    Raises
    ------
    ValueError
        Operators that do not fit the shape.

    Examples
    --------
    >>> A = Generators(derivative_operator((5,))[None], (5,))
    >>> A.antisymmetric_share().round(2), A.directions()
    (array([1.]), array([0.]))
    """

    operators: np.ndarray
    shape: tuple[int, ...]
    whitening: np.ndarray | None = None

    def __post_init__(self) -> None:
        operators = np.asarray(self.operators, dtype=float)
        n = int(np.prod(self.shape))
        if operators.ndim != 3 or operators.shape[1:] != (n, n):
            raise ValueError(f"operators of shape {operators.shape} for frames of {self.shape}; expected (K, {n}, {n})")
        object.__setattr__(self, "operators", operators)

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
        return Generators(self.whitening.T @ self.operators @ self.whitening, self.shape)

    # -- scores --------------------------------------------------------------------------------------------------

    def cosines(self, analytic: np.ndarray) -> np.ndarray:
        """Cosines with analytic operators, shape (m, n_pixels, n_pixels) or one of them; shape (n_components, m)."""
        return cosine(self.operators[:, None], np.asarray(analytic).reshape(1, -1, *self.operators.shape[1:]))

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
        offsets = self._offsets()[inside].reshape(-1, len(self.shape))
        _, group = np.unique(offsets.round(6), axis=0, return_inverse=True)
        group = group.ravel()
        flat = rows.reshape(len(rows), -1)
        sums = np.stack([np.bincount(group, weights=r) for r in flat])
        shared = (sums / np.bincount(group))[:, group]
        return self._share(shared.reshape(rows.shape), rows)

    def locality(self, radius: float = 1.0) -> np.ndarray:
        """Share of each operator's energy between pixels at most ``radius`` apart [pixels], shape (n_components,)."""
        near = np.linalg.norm(self._offsets(), axis=2) <= radius + 1e-9
        return self._share(self.operators * near, self.operators)

    def directions(self) -> np.ndarray:
        """Direction of content that each operator prefers [deg]: 0 = right, 90 = up; shape (n_components,)."""
        analytic = np.stack([derivative_operator(self.shape, angle) for angle in (0.0, 90.0)[: len(self.shape)]])
        # least squares: frames that are not square hold more neighbours along one axis than along the other
        along = self.operators.reshape(len(self), -1) @ np.linalg.pinv(analytic.reshape(len(analytic), -1))
        up = along[:, 1] if len(self.shape) == 2 else np.zeros(len(along))
        return np.degrees(np.arctan2(up, along[:, 0])) % 360.0

    def rows(self, pixel: int | None = None) -> np.ndarray:
        """Weights onto the change at one pixel (the middle one by default), shape (n_components, *shape)."""
        pixel = int(np.ravel_multi_index([s // 2 for s in self.shape], self.shape)) if pixel is None else pixel
        return self.operators[:, pixel].reshape(len(self), *self.shape)

    def _share(self, part: np.ndarray, whole: np.ndarray) -> np.ndarray:
        energy = (whole**2).sum(axis=(1, 2))
        return np.divide((part**2).sum(axis=(1, 2)), energy, out=np.zeros_like(energy), where=energy > 0)

    def _offsets(self) -> np.ndarray:
        positions = _positions(self.shape)
        return positions[None, :, :] - positions[:, None, :]

    def _interior(self, margin: int) -> np.ndarray:
        index = np.indices(self.shape).reshape(len(self.shape), -1).T
        inside = np.all((index >= margin) & (index < np.array(self.shape) - margin), axis=1)
        if not inside.any():
            raise ValueError(f"frames of {self.shape} have no pixel {margin} away from the border")
        return inside


def _positions(shape: tuple[int, ...]) -> np.ndarray:
    return (Line(*shape) if len(shape) == 1 else Grid(*shape)).positions
