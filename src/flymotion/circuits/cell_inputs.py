r"""What a cell of T4 or T5 multiplies: the change at its column, and intensities about it, both bounded.

.. math:: \chi = \frac{\Delta x}{\sqrt{\Delta x^2 + s^2}} \cdot \frac{\tilde x}{\sqrt{|\tilde x|^2 + n h^2}}

with s the root mean square of changes, :math:`\tilde x` the decorrelated intensities of the n columns about the cell's,
of variance 1, and h the half-saturation. In natural scenes a few edges would otherwise outweigh all else.
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
    size : ndarray, shape (n_columns,)
        n h^2.
    """

    decorrelation: Decorrelation
    scale: float
    size: np.ndarray

    __repr__ = in_brief

    def __call__(self, change: np.ndarray, patches: np.ndarray) -> np.ndarray:
        """Return chi, shape (n_offsets, ..., n_columns), of changes, (..., n_columns), and intensities of patches."""
        x = self.decorrelation(patches)
        return x * (change / np.sqrt((change**2 + self.scale**2) * ((x**2).sum(axis=0) + self.size)))

    @classmethod
    def of_matrices(cls, matrices: np.ndarray, scale: float, patches: Patches, half_saturation: float) -> CellInputs:
        """Return inputs by matrices of decorrelation, shape (n_columns, n_offsets, n_offsets)."""
        return cls(Decorrelation(matrices), scale, np.maximum(patches.there.sum(axis=1) - 1, 1) * half_saturation**2)

    @classmethod
    def fitted(
        cls, movies: Sequence[np.ndarray], patches: Patches, signals: Sequence[ColumnSignals], h: float, learned: bool
    ) -> list[CellInputs]:
        """Return the inputs of T4 and of T5, fitted to clips, each seen through untouched signals."""
        samples, scales = _sampled(movies, patches, signals)
        found = []
        for x, scale in zip(samples, scales, strict=True):
            if learned:
                C = normalised_covariance(x, patches.centre, h)
                decorrelation = Decorrelation.fitted(C, patches.there, patches.centre)
            else:
                decorrelation = Decorrelation.none(x.T @ x / max(len(x), 1), patches.there, patches.centre)
            found.append(cls.of_matrices(decorrelation.matrices, float(scale), patches, h))
        return found


def blocks(movie: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the frames computed at a time."""
    return (movie[t : t + BLOCK] for t in range(0, len(movie), BLOCK))


def _sampled(
    movies: Sequence[np.ndarray], patches: Patches, signals: Sequence[ColumnSignals]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return intensities of whole patches as T4 and T5 see them, and the root mean square of their changes."""
    n = patches.there.sum(axis=1)
    whole = np.flatnonzero(n == n.max())
    step = max(1, sum(map(len, movies)) * len(whole) // SAMPLES)
    found: list[list[np.ndarray]] = [[], []]
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
    scales = np.sqrt(sums[:, 0] / np.maximum(sums[:, 1], 1))
    return [np.concatenate(x) for x in found], np.where(scales > 0, scales, 1.0)
