r"""Networks of all columns at once: four cells a column that learn from their own outputs and inhibit one another.

Each column is a small network for nonnegative similarity matching (NSM), on the sums S and R of its own outputs and
what it sees, as in :mod:`flymotion.similarity.state`:

======================================  ==========================================
``chi = dx_c x``, (n_offsets,)          the change at the centre times intensities
``W = S / diag(R)``                     feedforward synapses, Eq. 16
``M = R / diag(R)``, off the diagonal   lateral inhibition, Eq. 17
``theta = max(W chi - M theta, 0)``     outputs, Eq. 15
======================================  ==========================================

Columns are along the last axis of every array.
"""

from __future__ import annotations

import numpy as np

from flymotion.models.packing import Given

__all__ = ["Columns", "respond"]

SWEEPS = 5
"""Over the cells of a column, one at a time: always as many, so that no column's output depends on the others'."""


class Columns:
    """The state of the networks of all columns.

    Parameters
    ----------
    S : ndarray, shape (n_cells, n_offsets, n_columns)
        Correlations of outputs with what is seen.
    R : ndarray, shape (n_cells, n_cells, n_columns)
        Correlations of outputs.
    """

    def __init__(self, S: np.ndarray, R: np.ndarray) -> None:
        self.S, self.R = S, R

    @classmethod
    def of_weights(cls, W: np.ndarray, strength: float) -> Columns:
        """Return networks that begin with weights, shape (n_cells, n_offsets, n_columns), as if learned so long."""
        R = np.repeat(np.eye(len(W))[:, :, None] * strength, W.shape[2], axis=2)
        return cls(W * strength, R)

    @classmethod
    def unpack(cls, given: Given, name: str, shape: tuple[int, int, int]) -> Columns:
        """Return the networks that were packed under a name, with S of a shape.

        Raises
        ------
        ValueError
            What are no such networks: R, in particular, that is 0 on its diagonal or below 0 anywhere.
        """
        S, R = given.array(f"S_{name}", *shape), given.array(f"R_{name}", shape[0], shape[0], shape[2], least=0)
        if not np.einsum("aan->an", R).all():
            raise given.wrong(f"R_{name}", "0 somewhere on its diagonal", "sums of squared outputs, above 0")
        return cls(S, R)

    @property
    def W(self) -> np.ndarray:
        """Feedforward synapses, shape (n_cells, n_offsets, n_columns)."""
        return self.S / self._diagonal[:, None]  # Eq. 16

    @property
    def M(self) -> np.ndarray:
        """Lateral synapses, shape (n_cells, n_cells, n_columns), with a zero diagonal."""
        return self.R / self._diagonal[:, None] * (1 - np.eye(len(self.R)))[:, :, None]  # Eq. 17

    @property
    def _diagonal(self) -> np.ndarray:
        return np.einsum("aan->an", self.R)

    def learn(self, chi: np.ndarray, forgetting: float, pool: np.ndarray | None = None) -> None:
        """Learn from one frame of ``chi``, shape (n_offsets, n_columns).

        ``pool``, shape (n_columns, n_pooled), has whose drives go into each column's outputs; by default its own.
        """
        drive = (self.S * chi).sum(axis=1) / self._diagonal
        if pool is not None:
            drive = np.where(pool >= 0, drive[:, pool], 0.0).sum(axis=2)
        theta = respond(drive, self.M)
        if forgetting < 1:
            answered = np.where(theta.any(axis=0), forgetting, 1.0)
            self.S *= answered
            self.R *= answered
        self.S += theta[:, None] * chi  # Eqs. 16 to 18, times That
        self.R += theta[:, None] * theta


def respond(drive: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Return outputs of cells that inhibit one another.

    One cell at a time, which converges where all at once would flip for ever.

    Parameters
    ----------
    drive : ndarray, shape (n_cells, ..., n_columns)
        ``W chi``.
    M : ndarray, shape (n_cells, n_cells, n_columns)
        Lateral synapses.

    Returns
    -------
    ndarray, shape (n_cells, ..., n_columns)
        0 or more.

    Examples
    --------
    >>> respond(np.array([[1.0], [1.0]]), np.array([[[0.0], [0.5]], [[0.5], [0.0]]])).round(2).ravel()
    array([0.67, 0.67])
    """
    M = M.reshape(*M.shape[:2], *[1] * (drive.ndim - 2), M.shape[2])
    theta = np.maximum(drive, 0)
    for _ in range(SWEEPS):
        for a in range(len(theta)):
            inhibition = np.add.reduce(M[a] * theta, axis=0)
            np.maximum(drive[a] - inhibition, 0, out=theta[a])  # Eq. 15
    return theta
