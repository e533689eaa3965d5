r"""Learned operators as few products of cosine modes, for the compiled kernels.

A response :math:`\Delta x' A \bar x` is a sum over pairs of separable cosine modes of the patch, one of the change and
one of the intensity, in which natural images are nearly uncorrelated: a term adds its weight, squared, times both
variances to the response's. The operators are rotated first: to their principal components, as opponent ones share
nearly all, and these to where few terms have most of the variance (varimax), which is to motion along x and along y.

A derivative along x leaves the mode along y alone and pairs even modes along x with odd ones. So most of what was
learned is in a few *lines*: terms whose modes differ along one axis only, and in parity there. They are evaluated
together. Where they are not enough, as for a rotation, the largest other terms are added one by one.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.fft import dct

from flymotion.field._patches import BLOCK, N_EVEN, patch_scratch
from flymotion.generators import Generators

__all__ = ["Form"]

LINE = 0.002
"""Share of the variance of all components from which on the terms of a line are kept."""

KEPT = 0.93
"""Share of the variance up to which single terms, the largest, are kept too."""


class Form(NamedTuple):
    """Learned operators, for :func:`flymotion.field._patches.respond_band`.

    Attributes
    ----------
    size : int
        Of a patch [pixels].
    reach : ndarray, shape (n_blocks_in, 5)
        Places of the taps of a block: two pairs about the middle one.
    taps : ndarray, shape (n_blocks, n_blocks_in, 13)
        Weights of the three even modes on two sums and the middle, and of the two odd ones on two differences.
    vertical : ndarray of int
        Rows of the vertical modes in use; those of dx come before those of the intensity.
    lines : tuple of ndarray, shapes (n_pairs,), (n_pairs, 10) and (n_pairs, 12)
        Of each pair of blocks of modes along a line: component; modes of dx and of the intensity; weights, those of
        even modes of dx with odd ones of the intensity before those of odd with even ones.
    singles : tuple of ndarray, shapes (n_groups, 2), (n_groups + 1,), (n_terms,) and (n_terms,)
        Of each group of single terms: component and mode of dx; its first term; and of each term, mode of the
        intensity and weight.
    mixture : ndarray, shape (n_outputs, n_components)
        Weights of the components, whose number is even, in the responses.
    axes : ndarray, shape (2, n_components)
        The same for the opponent responses.
    """

    size: int
    reach: np.ndarray
    taps: np.ndarray
    vertical: np.ndarray
    lines: tuple[np.ndarray, ...]
    singles: tuple[np.ndarray, ...]
    mixture: np.ndarray
    axes: np.ndarray

    @classmethod
    def of(cls, detectors: Generators, exact: bool) -> Form:
        """Write operators in modes, and keep the terms that matter, or all."""
        detectors = detectors.in_pixels()
        size = detectors.shape[0]
        basis = dct(np.eye(size), axis=0, norm="ortho")
        modes = np.einsum("ai,bj->abij", basis, basis).reshape(size**2, size**2)
        contrast = _natural_contrast(modes, size)
        parts, mixture = _components((modes @ detectors.operators @ modes.T) * contrast)
        lines, single = _all(parts) if exact else _chosen(parts, size)
        used = (lines | single).any(axis=(1, 2))
        lines, single, parts, mixture = lines[used], single[used], parts[used] / contrast, mixture[:, used]
        mixture = np.pad(mixture, ((0, 0), (0, mixture.shape[1] % 2)))
        angles = np.radians(detectors.directions())
        axes = np.stack([np.cos(angles), -np.sin(angles)]) @ mixture
        vertical, rows = _rows(lines | single, size)
        terms = _in_lines(parts * lines, rows, size), _in_groups(parts, single, rows)
        return cls(size, *_blocks(basis), vertical, *terms, _single(mixture), _single(axes))

    def scratch(self, width: int) -> tuple[np.ndarray, ...]:
        """Make room for a worker, for frames of a width."""
        return patch_scratch(self.size, len(self.vertical), len(self.taps), self.mixture.shape[1], width)


def _single(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=np.float32)


def _components(operators: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return components of which few entries are large, and how they mix to the operators."""
    sizes = np.maximum(np.linalg.norm(operators, axis=(1, 2)), 1e-300)
    U, s, V = np.linalg.svd((operators / sizes[:, None, None]).reshape(len(operators), -1), full_matrices=False)
    parts = s[:, None] * V
    Q = _varimax(parts)
    return (Q @ parts).reshape(-1, *operators.shape[1:]), sizes[:, None] * (U @ Q.T)


def _varimax(rows: np.ndarray, steps: int = 100) -> np.ndarray:
    """Return the rotation after which the fourth powers of the entries sum to most."""
    Q = np.eye(len(rows))
    for _ in range(steps):
        U, _, V = np.linalg.svd((Q @ rows) ** 3 @ rows.T)
        Q = U @ V
    return Q


def _all(parts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(parts.shape, bool), np.ones(parts.shape, bool)


def _chosen(parts: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which terms to keep as parts of lines, and which by themselves."""
    energy = parts**2 / max((parts**2).sum(), 1e-300)
    lines = np.zeros(parts.shape, bool)
    for line in _lines(size):
        lines |= line & ((energy * line).sum(axis=(1, 2)) > LINE)[:, None, None]
    missing = KEPT - energy[lines].sum()
    rest = np.sort(energy[~lines])[::-1]
    n = int(np.searchsorted(np.cumsum(rest), missing)) + 1 if missing > 0 else 0
    return lines, ~lines & (energy >= rest[min(n, len(rest)) - 1]) & (n > 0)


def _lines(size: int) -> list[np.ndarray]:
    """Return the terms of each line: of modes that differ along x only, or y, one even there and the other odd."""
    across = (np.add.outer(np.arange(size), np.arange(size)) % 2).astype(bool)
    places = np.eye(size, dtype=bool)[:, :, None] * np.eye(size, dtype=bool)[:, None]
    return [np.kron(a, b) for place in places for a, b in ((place, across), (across, place))]


def _place(mode: np.ndarray) -> np.ndarray:
    """Return where modes are among those of all blocks: of each block the even ones, then the odd ones."""
    even, odd = mode // 2, mode // 2
    n_odd = BLOCK - N_EVEN
    places = (even // N_EVEN * BLOCK + even % N_EVEN, odd // n_odd * BLOCK + N_EVEN + odd % n_odd)
    return np.where(mode % 2, places[1], places[0])


def _blocks(basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``reach`` and ``taps``, with the weight 0 for what a block lacks."""
    size = len(basis)
    n_blocks, n_in = _n_blocks(size), max(-(-(size // 2) // 2), 1)
    reach, taps = np.zeros((n_in, 5), int), np.zeros((n_blocks, n_in, 13))
    columns = [[-1] * 3 for _ in range(n_in)]  # taps that each weight is of: two pairs', the middle's
    for j in range(size // 2):
        columns[j // 2][j % 2] = j
        reach[j // 2, [j % 2, 4 - j % 2]] = j, size - 1 - j
    if size % 2:
        columns[-1][2] = reach[-1, 2] = size // 2
    for mode in range(size):
        block, row = divmod(int(_place(np.array(mode))), BLOCK)
        for j in range(n_in):
            w = [basis[mode, c] if c >= 0 else 0.0 for c in columns[j]]
            first, n = (3 * row, 3) if mode % 2 == 0 else (9 + 2 * (row - N_EVEN), 2)
            taps[block, j, first : first + n] = w[:n]
    return reach, _single(taps)


def _n_blocks(size: int) -> int:
    return max(-(-((size + 1) // 2) // N_EVEN), -(-(size // 2) // (BLOCK - N_EVEN)))


def _rows(kept: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertical modes in use, and the rows of all modes, shape (2, n_modes), that of dx first."""
    n_modes = _n_blocks(size) * BLOCK
    used = np.flatnonzero([kept.any(axis=axes).reshape(size, size).any(axis=1) for axes in ((0, 2), (0, 1))])
    first = np.zeros(2 * size, int)
    first[used] = n_modes * np.arange(len(used))
    rows = first.reshape(2, size, 1) + _place(np.arange(size))
    return used // size * n_modes + _place(used % size), rows.reshape(2, size**2)


def _in_lines(parts: np.ndarray, rows: np.ndarray, size: int) -> tuple[np.ndarray, ...]:
    """List the terms along lines: component, modes and weights of each pair of blocks."""
    along = np.full(_n_blocks(size) * BLOCK, -1)  # -1: a mode that the patch lacks
    along[_place(np.arange(size))] = np.arange(size)
    all_lines = [(size * place, 1) for place in range(size)] + [(place, size) for place in range(size)]
    components, modes, weights = [], [], []
    for first, step in all_lines:
        for i, j in product(along.reshape(-1, BLOCK), repeat=2):
            dx, m = first + step * np.maximum(i, 0), first + step * np.maximum(j, 0)
            w = parts[:, dx[:, None], m] * ((i >= 0)[:, None] & (j >= 0))
            even, odd = w[:, :N_EVEN, N_EVEN:], w[:, N_EVEN:, :N_EVEN]
            w = np.concatenate([even.reshape(len(w), -1), odd.reshape(len(w), -1)], axis=1)
            for c in np.flatnonzero(w.any(axis=1)):
                components.append(c)
                modes.append(np.concatenate([rows[0, dx], rows[1, m]]))
                weights.append(w[c])
    of = np.array(modes, int).reshape(-1, 2 * BLOCK)
    return np.array(components, int), of, _single(np.reshape(weights, (-1, 12)))


def _in_groups(parts: np.ndarray, kept: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """List single terms, grouped by component and mode of dx."""
    groups = np.argwhere(kept.any(axis=2))
    c, r, t = np.nonzero(kept)
    starts = np.cumsum([0, *(kept[c, r].sum() for c, r in groups)])
    listed = np.stack([groups[:, 0], rows[0, groups[:, 1]]], axis=1)
    return listed, starts, rows[1, t], _single(parts[c, r, t])


def _natural_contrast(modes: np.ndarray, size: int) -> np.ndarray:
    """Return the product of the standard deviations of a mode's change and another's intensity, as in photographs.

    Their covariance is taken to be exponential, seen through optics about a pixel wide; a change is that of small
    motion any way.
    """
    rows, columns = np.divmod(np.arange(size**2), size)
    y, x = rows[:, None] - rows, columns[:, None] - columns

    def covariance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.exp(-np.sqrt(x**2 + y**2 + 1.0) / 8.0)

    h, noise, intensity = 0.25, 1e-4 * np.eye(size**2), covariance(x, y)
    moved = sum(covariance(x + a, y + b) for a, b in ((h, 0), (-h, 0), (0, h), (0, -h)))
    change = (4 * intensity - moved) / h**2
    variances = [((modes @ (c + noise * c[0, 0])) * modes).sum(axis=1) for c in (change, intensity + 1.0)]
    return np.sqrt(np.outer(*variances))
