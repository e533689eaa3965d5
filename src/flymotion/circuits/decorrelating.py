r"""What neighbouring columns share is taken out of the intensities that a cell sees, by lateral connections.

With C the covariance of the intensities of a patch, and :math:`\beta = C_{\cdot c} / C_{cc}` what each column's tells
of the centre's, each cell sees

.. math:: \tilde x = Z (x - \beta x_c), \quad Z = (C - \beta \beta' C_{cc} + \rho)^{-1/2}

of the columns about its own: what the centre tells of them goes first, as it comes with the change at the centre and is
the same for all directions (C34: without that, a single T4 learns the blur). One covariance serves all columns; at the
rim it is that of the columns there are.

What cells see is normalised, and natural scenes are sparse: of decorrelated patches the flat ones then weigh as much as
those with edges, and what is decorrelated is not any more. So C is that of normalised patches, Tyler's estimate,

.. math:: C \propto E\big[ x x' / (|\tilde x|^2 + n h^2) \big]

References
----------
Tyler (1987), A distribution-free M-estimator of multivariate scatter. Ann. Statist. 15:234.
"""

from __future__ import annotations

import numpy as np

__all__ = ["RIDGE", "Decorrelation", "normalised_covariance"]

RIDGE = 1e-2
"""Of the variance of a column, for noise."""

ROUNDS = 4
"""Of Tyler's iteration: beyond, the least varied differences lead, which are noise."""


def normalised_covariance(patches: np.ndarray, centre: int, half_saturation: float) -> np.ndarray:
    """Return the covariance of patches that are normalised by what is seen of them.

    Parameters
    ----------
    patches : ndarray, shape (n_patches, n_offsets)
        Intensities, about 0.
    centre : int
        Which offset is the centre.
    half_saturation : float
        h, in standard deviations of what is seen.

    Returns
    -------
    ndarray, shape (n_offsets, n_offsets)
        Of the trace that the plain one has.
    """
    n = patches.shape[1]
    C = plain = patches.T @ patches / max(len(patches), 1)
    for _ in range(ROUNDS if plain.any() else 0):
        seen = patches @ _matrix(C, np.ones(n, dtype=bool), centre).T
        weight = 1 / ((seen**2).sum(axis=1) + (n - 1) * half_saturation**2)
        C = (patches * weight[:, None]).T @ patches
        C *= np.trace(plain) / np.trace(C)
    return C


class Decorrelation:
    """Lateral decorrelation of the patches of all columns.

    Parameters
    ----------
    matrices : ndarray, shape (n_columns, n_offsets, n_offsets)
        From a patch's intensities to what the cell sees; 0 where there is no column, and for the centre.
    """

    def __init__(self, matrices: np.ndarray) -> None:
        self.matrices = matrices
        kinds, which = np.unique(matrices.reshape(len(matrices), -1), axis=0, return_inverse=True)
        count = np.bincount(which.ravel())
        self._common = kinds[count.argmax()].reshape(matrices.shape[1:])
        self._others = np.flatnonzero(which.ravel() != count.argmax())
        self._rim = np.ascontiguousarray(matrices[self._others].transpose(1, 2, 0))

    @classmethod
    def fitted(cls, covariance: np.ndarray, there: np.ndarray, centre: int) -> Decorrelation:
        """Return what a covariance of patches asks for, shape (n_offsets, n_offsets), by which columns there are."""
        kinds, which = np.unique(there, axis=0, return_inverse=True)
        each = np.array([_matrix(covariance, kind, centre) for kind in kinds])
        return cls(each[which.ravel()])

    @classmethod
    def none(cls, covariance: np.ndarray, there: np.ndarray, centre: int) -> Decorrelation:
        """Return what takes out nothing, and scales to variance 1."""
        kept = there & (np.arange(there.shape[1]) != centre)
        scale = 1 / np.sqrt(covariance[centre, centre]) if covariance[centre, centre] > 0 else 1.0
        return cls(kept[:, :, None] * np.eye(there.shape[1]) * scale)

    def __call__(self, patches: np.ndarray) -> np.ndarray:
        """Return what cells see of patches, shape (n_offsets, ..., n_columns)."""
        seen = np.tensordot(self._common, patches, axes=1)
        if len(self._others):
            seen[..., self._others] = np.einsum("ijn,j...n->i...n", self._rim, patches[..., self._others])
        return seen


def _matrix(C: np.ndarray, there: np.ndarray, centre: int) -> np.ndarray:
    """Return what takes a patch of the columns there are to what is seen of it."""
    A = np.zeros_like(C)
    about = np.flatnonzero(there & (np.arange(len(C)) != centre))
    if not len(about) or not C[centre, centre] > 0:
        return A
    beta = C[about, centre] / C[centre, centre]
    own = C[np.ix_(about, about)] - np.outer(beta, beta) * C[centre, centre]
    values, vectors = np.linalg.eigh(own)
    root = (vectors / np.sqrt(np.maximum(values, 0) + RIDGE * C[centre, centre])) @ vectors.T
    A[np.ix_(about, about)] = root
    A[about, centre] = -root @ beta
    return A
