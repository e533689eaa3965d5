r"""Learned operators as few products of cosine modes, for the compiled kernels.

A response :math:`\Delta x' A \bar x` is a sum over pairs of separable cosine modes of the patch, one of the change and
one of the intensity, in which natural images are nearly uncorrelated: a term adds its weight, squared, times both
variances to the response's. The operators are rotated first: to their principal components, as opponent ones share
nearly all, and these to where few terms have most of the variance (varimax), which is to motion along x and along y.

A derivative along x leaves the mode along y alone and pairs even modes along x with odd ones. So most of what was
learned is in a few *lines*: terms whose modes differ along one axis only, and in parity there. They are evaluated
together, as a form in the mode's pixels along that axis. Where lines are not enough, as for a rotation, the largest
other terms are added one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.field.patch_kernels import BLOCK, N_EVEN, Lines, PatchScratch, Singles
from flymotion.generators import Generators
from flymotion.generators.patch_modes import cosine_modes

__all__ = ["Form"]

LINE = 0.005
"""Share of the variance of all components from which on a line is kept."""

ENOUGH, KEPT = 0.8, 0.93
"""Share of the variance that lines are enough from; and if they are not, up to which single terms are kept too."""


class Form(NamedTuple):
    """Learned operators, for :func:`flymotion.field.patch_kernels.respond_band`.

    Attributes
    ----------
    size : int
        Of a patch [pixels].
    reach : ndarray, shape (n_blocks_in, 5)
        Places of the taps of a block: two pairs about the middle one.
    taps : ndarray, shape (n_blocks, n_blocks_in, 13)
        Weights of the three even modes on two sums and the middle, and of the two odd ones on two differences.
    lines : tuple of Lines
        Those along x, and those along y.
    vertical : ndarray of int
        Vertical modes of the single terms; those of dx come before those of the intensity.
    singles : Singles
        The single terms.
    mixture : ndarray, shape (n_outputs, n_components)
        Weights of the components, whose number is even, in the responses.
    axes : ndarray, shape (2, n_components)
        The same for the opponent responses.
    """

    size: int
    reach: np.ndarray
    taps: np.ndarray
    lines: tuple[Lines, ...]
    vertical: np.ndarray
    singles: Singles
    mixture: np.ndarray
    axes: np.ndarray

    @classmethod
    def of(cls, detectors: Generators, exact: bool) -> Form:
        """Write operators in modes, and keep the terms that matter, or all."""
        detectors = detectors.in_pixels()
        size = detectors.shape[0]
        basis, modes = cosine_modes(size)
        contrast = _natural_contrast(modes, size)
        parts, mixture = _components((modes @ detectors.operators @ modes.T) * contrast)
        lines, single = _all(parts, size) if exact else _chosen(parts, size)
        used = lines.any(axis=(0, 2)) | single.any(axis=(1, 2))
        lines, single, parts, mixture = lines[:, used], single[used], parts[used] / contrast, mixture[:, used]
        mixture = np.pad(mixture, ((0, 0), (0, mixture.shape[1] % 2)))
        angles = np.radians(np.nan_to_num(detectors.directions()))  # operators that are 0 add nothing
        axes = np.stack([np.cos(angles), -np.sin(angles)]) @ mixture
        columns = _columns(size)
        vertical, rows = _rows(single, size)
        along = [_in_lines(*of, basis, columns) for of in zip(_along(parts, size), lines, strict=True)]
        singles = _in_groups(parts, single, rows)
        return cls(size, *_blocks(basis, columns), tuple(along), vertical, singles, _single(mixture), _single(axes))

    def scratch(self) -> PatchScratch:
        """Make room for a worker."""
        return PatchScratch.of(self.size, len(self.vertical), len(self.reach), len(self.taps), self.mixture.shape[1])


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
        turned = Q @ rows
        U, _, V = np.linalg.svd((turned * turned * turned) @ rows.T)  # a power would take most of the time
        Q = U @ V
    return Q


def _along(parts: np.ndarray, size: int) -> np.ndarray:
    """Return the terms along lines: axis, component, mode of the other axis, and modes of dx and of the intensity."""
    grid = parts.reshape(-1, size, size, size, size)
    return np.stack([np.einsum("kaiaj->kaij", grid), np.einsum("kibjb->kbij", grid)]) * _across(size)


def _across(size: int) -> np.ndarray:
    """Return which pairs of modes are of an even and an odd one."""
    return (np.add.outer(np.arange(size), np.arange(size)) % 2).astype(bool)


def _all(parts: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((2, len(parts), size), bool), np.ones(parts.shape, bool)


def _chosen(parts: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which lines to keep, shape (2, n_components, size), and which terms by themselves."""
    energy = parts**2 / max((parts**2).sum(), 1e-300)
    shares = _along(energy, size).sum(axis=(3, 4))
    lines = shares > LINE
    rest = energy.copy()
    grid = rest.reshape(-1, size, size, size, size)
    for axis, c, place in np.argwhere(lines):
        line = grid[c, place, :, place] if axis == 0 else grid[c, :, place, :, place]
        line[_across(size)] = 0
    held, sizes = shares[lines].sum(), np.sort(rest, axis=None)[::-1]
    n = int(np.searchsorted(np.cumsum(sizes), KEPT - held))
    return lines, (rest >= sizes[min(n, len(sizes) - 1)]) & (rest > 0) & (held < ENOUGH)


def _place(mode: np.ndarray) -> np.ndarray:
    """Return where modes are among those of all blocks: of each block the even ones, then the odd ones."""
    even, odd = mode // 2, mode // 2
    n_odd = BLOCK - N_EVEN
    places = (even // N_EVEN * BLOCK + even % N_EVEN, odd // n_odd * BLOCK + N_EVEN + odd % n_odd)
    return np.where(mode % 2, places[1], places[0])


def _columns(size: int) -> np.ndarray:
    """Return the pixels whose weights a block's taps have, shape (n_blocks_in, 3): two pairs', the middle's; or -1."""
    columns = np.full((max(-(-(size // 2) // 2), 1), 3), -1)
    for j in range(size // 2):
        columns[j // 2, j % 2] = j
    if size % 2:
        columns[-1, 2] = size // 2
    return columns


def _blocks(basis: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``reach`` and ``taps``, with the weight 0 for what a block lacks."""
    size, weights = len(basis), _halves(basis, columns)
    mirrored = np.concatenate([columns, size - 1 - columns[:, 1::-1]], axis=1)
    reach = np.where(columns[:, [0, 1, 2, 1, 0]] >= 0, mirrored, 0)
    taps = np.zeros((_n_blocks(size), len(columns), 13))
    for mode in range(size):
        block, row = divmod(int(_place(np.array(mode))), BLOCK)
        first, n = (3 * row, 3) if mode % 2 == 0 else (9 + 2 * (row - N_EVEN), 2)
        taps[block, :, first : first + n] = weights[mode, :, :n]
    return reach, _single(taps)


def _halves(basis: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the weights of the modes on the taps of the blocks, shape (size, n_blocks_in, 3)."""
    return np.where(columns >= 0, basis[:, columns], 0.0)


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


def _in_lines(terms: np.ndarray, kept: np.ndarray, basis: np.ndarray, columns: np.ndarray) -> Lines:
    """List the lines along an axis."""
    component, place = np.nonzero(kept)
    halves = _halves(basis, columns)
    even, odd = halves[::2], halves[1::2, :, :2]
    w = terms[component, place]
    of_even = np.einsum("lij,ipc,jqd->lpqdc", w[:, ::2, 1::2], even, odd)
    of_odd = np.einsum("lij,ipd,jqc->lpqdc", w[:, 1::2, ::2], odd, even)
    weights = np.stack([of_even, of_odd], axis=3).reshape(-1, len(columns), len(columns), 12)
    modes = _place(place)[:, None] + [0, _n_blocks(len(basis)) * BLOCK]
    return Lines(np.ascontiguousarray(component), modes, _single(weights))  # another layout would be compiled for


def _in_groups(parts: np.ndarray, kept: np.ndarray, rows: np.ndarray) -> Singles:
    """List single terms, grouped by component and mode of dx."""
    groups = np.argwhere(kept.any(axis=2))
    c, r, t = np.nonzero(kept)
    starts = np.cumsum([0, *(kept[c, r].sum() for c, r in groups)])
    listed = np.stack([groups[:, 0], rows[0, groups[:, 1]]], axis=1)
    return Singles(listed, starts, rows[1, t], _single(parts[c, r, t]))


def _natural_contrast(modes: np.ndarray, size: int) -> np.ndarray:
    """Return the product of the standard deviations of a mode's change and another's intensity, as in photographs.

    Their covariance is taken to be exponential, seen through optics 1.4 pixels wide; a change is that of small
    motion any way.
    """
    rows, columns = np.divmod(np.arange(size**2), size)
    y, x = rows[:, None] - rows, columns[:, None] - columns

    def covariance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.exp(-np.sqrt(x**2 + y**2 + 2.0) / 8.0)

    h, noise, intensity = 0.25, 1e-4 * np.eye(size**2), covariance(x, y)
    moved = sum(covariance(x + a, y + b) for a, b in ((h, 0), (-h, 0), (0, h), (0, -h)))
    change = (4 * intensity - moved) / h**2
    variances = [((modes @ (c + noise * c[0, 0])) * modes).sum(axis=1) for c in (change, intensity + 1.0)]
    return np.sqrt(np.outer(*variances))
