r"""Frames moved by :math:`\exp(B_t)`, :math:`B_t = \sum_a \theta_{ta} A_a`, and the exact derivatives of that.

==========  ============  =======================================================================
``A``       (K, n, n)     operators
``theta``   (T, K)        magnitudes, another for each frame
``x``       (T, n)        frames
==========  ============  =======================================================================

One operator is taken through its eigenvectors, :math:`A = V \mathrm{diag}(\lambda) V^{-1}`. In them frames only turn,
and the slope in A is made of divided differences of :math:`e^{\theta\lambda}` (Daleckii and Krein), so that its sum
over frames is two matrix products. Several, or one without a good basis of eigenvectors, are summed as a Taylor series
of actions, whose slopes are those of the sum term by term: forwards in the magnitudes, backwards in the operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

__all__ = ["moved", "moved_and_slopes", "operator_slopes"]

BLOCK = 256
"""Frames taken at a time where each has a matrix of its own."""

LARGEST = 6.0
"""Norm of what one series sums; larger ones are taken in steps."""

ROUNDING = 1e-14
"""Size of a term, relative to the sum, at which a series ends."""

WELL = 1e6
"""Condition of eigenvectors up to which they are used."""


def moved(A: np.ndarray, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return ``exp(sum_a theta_a A_a) x``, shape (T, n)."""
    return moved_and_slopes(A, theta, x, slopes=False)[0]


def moved_and_slopes(
    A: np.ndarray, theta: np.ndarray, x: np.ndarray, *, slopes: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return frames moved, and their slopes in the magnitudes, shapes (T, n) and (T, K, n)."""
    if len(A) == 1:
        basis = _eigenvectors(A[0])
        y = _Series(A).moved(theta, x)[0] if basis is None else basis.moved(theta, x)
        return y, (y @ A[0].T)[:, None]
    return _Series(A).moved(theta, x, slopes=slopes)


def operator_slopes(A: np.ndarray, theta: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the slope of ``sum_t p_t . exp(B_t) x_t`` in the operators, shape (K, n, n)."""
    basis = _eigenvectors(A[0]) if len(A) == 1 else None
    return _Series(A).slopes(theta, x, p) if basis is None else basis.slopes(theta, x, p)


class _Eigenvectors(NamedTuple):
    """One operator in the basis in which it is diagonal."""

    eigenvalues: np.ndarray
    V: np.ndarray
    inverse: np.ndarray

    def moved(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        c = (x @ self.inverse.T) * np.exp(theta * self.eigenvalues)
        return (c @ self.V.T).real

    def slopes(self, theta: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        turn = np.exp(theta * self.eigenvalues)
        q, c = p @ self.V, x @ self.inverse.T
        q_turned, c_turned = q * turn, c * turn
        apart = self.eigenvalues[:, None] - self.eigenvalues
        same = np.abs(apart) <= 1e-7 * max(np.abs(self.eigenvalues).max(), 1e-300)
        divided = (q_turned.T @ c - q.T @ c_turned) / np.where(same, 1.0, apart)
        M = np.where(same, (theta * q_turned).T @ c, divided)
        return (self.inverse.T @ M @ self.V.T).real[None]


def _eigenvectors(A: np.ndarray) -> _Eigenvectors | None:
    """Return the eigenvectors of an operator, or nothing where they are no good basis."""
    eigenvalues, V = np.linalg.eig(A.astype(complex))
    if np.linalg.cond(V) > WELL:
        return None
    return _Eigenvectors(eigenvalues, V, np.linalg.inv(V))


class _Series:
    """Taylor series of the action of exponentials, a block of frames of like size at a time."""

    def __init__(self, A: np.ndarray) -> None:
        self.A = A
        self.norms = np.linalg.norm(A, ord=2, axis=(1, 2))

    def _blocks(self, theta: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        """Yield rows, the step's matrices, each with its part of the operators, and how many steps there are."""
        size = np.abs(theta) @ self.norms
        order = np.argsort(size, kind="stable")
        for start in range(0, len(theta), BLOCK):
            rows = order[start : start + BLOCK]
            n_steps = int(np.ceil(max(size[rows[-1]] / LARGEST, 1.0)))
            yield rows, np.tensordot(theta[rows] / n_steps, self.A, axes=1), theta[rows] / n_steps, n_steps

    def moved(self, theta: np.ndarray, x: np.ndarray, *, slopes: bool = False) -> tuple[np.ndarray, np.ndarray]:
        K = len(self.A) if slopes else 0
        y, J = np.empty_like(x), np.empty((len(x), K, x.shape[1]))
        for rows, B, _, n_steps in self._blocks(theta):
            columns = np.concatenate([x[rows][:, :, None], np.zeros((len(rows), x.shape[1], K))], axis=2)
            for _ in range(n_steps):
                columns = self._step(B, columns, n_steps)
            y[rows], J[rows] = columns[:, :, 0], columns[:, :, 1:].swapaxes(1, 2)
        return y, J

    def _step(self, B: np.ndarray, columns: np.ndarray, n_steps: int = 1) -> np.ndarray:
        moved = np.zeros_like(columns)
        for term in self._terms(B, columns, n_steps):
            moved += term
        return moved

    def _terms(self, B: np.ndarray, columns: np.ndarray, n_steps: int = 1) -> Iterator[np.ndarray]:
        """Yield the terms of one step: of frames, first column, and of their derivatives in the magnitudes, others."""
        term, k, whole = columns, 0, np.abs(columns).max(initial=0.0)
        yield term
        while np.abs(term).max(initial=0.0) > ROUNDING * whole:
            k += 1
            following = B @ term
            if term.shape[2] > 1:
                following[:, :, 1:] += np.moveaxis(term[:, :, 0] @ self.A.swapaxes(1, 2), 0, 2) / n_steps
            term = following / k
            whole = max(whole, np.abs(term).max(initial=0.0))
            yield term

    def slopes(self, theta: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        found = np.zeros_like(self.A)
        for rows, B, part, n_steps in self._blocks(theta):
            begun = [x[rows][:, :, None]]
            for _ in range(n_steps - 1):
                begun.append(self._step(B, begun[-1]))
            back, B_back = p[rows][:, :, None], B.swapaxes(1, 2)
            for start in reversed(begun):
                terms = list(self._terms(B, start))
                later = back
                for k in range(len(terms) - 1, 0, -1):  # term k is B times term k - 1, over k
                    weighted = part[:, :, None] * later[:, None, :, 0] / k
                    found += np.tensordot(weighted, terms[k - 1][:, :, 0], axes=(0, 0))
                    later = back + B_back @ later / k
                back = later
        return found
