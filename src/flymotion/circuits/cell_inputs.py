r"""What a cell of T4 or T5 multiplies: the change at its column, and intensities about it, both bounded.

.. math:: \chi = \frac{\Delta x}{\sqrt{\Delta x^2 + s^2}} \Big( \frac{\tilde x}{\sqrt{|\tilde x|^2 + n h^2}} - m \Big)

with s the root mean square of changes, :math:`\tilde x` the decorrelated intensities of the n columns about the cell's,
of variance 1, and h the half-saturation. In natural scenes a few edges would otherwise outweigh all else.

m is what a change tells of every neighbour, whatever the direction: with it the mean of chi is 0. Without it cells
answer their mean as they would answer motion, each in its own direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flymotion.brevity import in_brief
from flymotion.circuits.column_signals import ColumnSignals
from flymotion.circuits.decorrelating import Decorrelation, normalised_covariance
from flymotion.circuits.patches import Patches

__all__ = ["BLOCK", "CellInputs", "blocks"]

BLOCK = 64
"""Frames computed at a time."""

SAMPLES = 20_000
"""Patches that decorrelation is fitted to, about."""


@dataclass(frozen=True, eq=False)
class CellInputs:
    """What all cells of one pathway, T4 or T5, multiply.

    Parameters
    ----------
    decorrelation : Decorrelation
        Of the intensities.
    scale : float
        s, root mean square of changes.
    mean : ndarray, shape (n_offsets, n_columns)
        m, or 0 where there is no column, and at the centre.
    size : ndarray, shape (n_columns,)
        n h^2.
    """

    decorrelation: Decorrelation
    scale: float
    mean: np.ndarray
    size: np.ndarray

    __repr__ = in_brief

    def __call__(self, change: np.ndarray, patches: np.ndarray) -> np.ndarray:
        """Return chi, shape (n_offsets, ..., n_columns), of changes, (..., n_columns), and intensities of patches."""
        x = self.decorrelation(patches)
        x /= np.sqrt((x**2).sum(axis=0) + self.size)
        x -= self.mean.reshape(len(x), *[1] * (x.ndim - 2), -1)
        x *= change / np.sqrt(change**2 + self.scale**2)
        return x

    @classmethod
    def of_matrices(cls, matrices: np.ndarray, scale: float, m: float, patches: Patches, h: float) -> CellInputs:
        """Return inputs by matrices of decorrelation, shape (n_columns, n_offsets, n_offsets)."""
        mean = np.where(patches.there.T, m, 0.0)
        mean[patches.centre] = 0
        return cls(Decorrelation(matrices), scale, mean, np.maximum(patches.there.sum(axis=1) - 1, 1) * h**2)

    def mean_of(self, columns: np.ndarray) -> CellInputs:
        """Return the inputs of the mean of some columns, as of one."""
        A = self.decorrelation.matrices[columns].mean(axis=0, keepdims=True)
        mean = self.mean[:, columns].mean(axis=1, keepdims=True)
        return CellInputs(Decorrelation(A), self.scale, mean, self.size[columns].mean(keepdims=True))

    @classmethod
    def fitted(
        cls, movies: Sequence[np.ndarray], patches: Patches, signals: Sequence[ColumnSignals], h: float, learned: bool
    ) -> list[CellInputs]:
        """Return the inputs of T4 and of T5, fitted to clips, each seen through untouched signals."""
        samples, changes, scales = _sampled(movies, patches, signals)
        whole = patches.there.sum(axis=1).argmax()
        found = []
        for x, change, scale in zip(samples, changes, scales, strict=True):
            if learned:
                C = normalised_covariance(x, patches.centre, h)
                decorrelation = Decorrelation.fitted(C, patches.there, patches.centre)
            else:
                decorrelation = Decorrelation.none(x.T @ x / max(len(x), 1), patches.there, patches.centre)
            A = decorrelation.matrices
            m = _mean_of_change(x @ A[whole].T, change / np.sqrt(change**2 + scale**2), h)
            found.append(cls.of_matrices(A, float(scale), m, patches, h))
        return found


def blocks(movie: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the frames computed at a time."""
    return (movie[t : t + BLOCK] for t in range(0, len(movie), BLOCK))


def _mean_of_change(x: np.ndarray, gain: np.ndarray, h: float) -> float:
    """Return m, of decorrelated patches, shape (n_patches, n_offsets), by the gain that the change has."""
    n = max(x.shape[1] - 1, 1)
    bounded = x.sum(axis=1) / np.sqrt((x**2).sum(axis=1) + n * h**2)
    return float(gain @ bounded / (n * gain.sum())) if gain.any() else 0.0


def _sampled(
    movies: Sequence[np.ndarray], patches: Patches, signals: Sequence[ColumnSignals]
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return intensities of whole patches as T4 and T5 see them, changes at their centres, and the latter's size."""
    n = patches.there.sum(axis=1)
    whole = np.flatnonzero(n == n.max())
    step = max(1, sum(map(len, movies)) * len(whole) // SAMPLES)
    found: list[list[np.ndarray]] = [[], []]
    changes: list[list[np.ndarray]] = [[], []]
    sums, at = np.zeros((2, 2)), 0
    for movie, seer in zip(movies, signals, strict=True):
        for block in blocks(movie):
            change, intensity, seen = seer.push(block)
            sums += [[(c[seen] ** 2).sum(), seen.sum()] for c in change]
            known = patches.known(seen)[:, whole].ravel()
            chosen = np.arange(-at % step, known.size, step)
            at += known.size
            chosen = chosen[known[chosen]]
            for k in range(2):
                x = patches.gather(intensity[k])[..., whole]
                found[k].append(x.reshape(len(x), -1)[:, chosen].T)
                changes[k].append(change[k][:, whole].ravel()[chosen])
    scales = np.sqrt(sums[:, 0] / np.maximum(sums[:, 1], 1))
    samples, at_centre = ([np.concatenate(each) for each in both] for both in (found, changes))
    return samples, at_centre, np.where(scales > 0, scales, 1.0)
