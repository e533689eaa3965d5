r"""How much of the slopes of two frames is their noise: what of the change between them no motion explains.

In each of a number of blocks the change is fitted by the slopes, at one velocity for the block and one flash. What is
left over is noise of both frames, of variance :math:`2 \sigma^2`, if not content that moves in some other way; then the
slopes, central differences of the mean of both, have a variance of :math:`\sigma^2 / 4` from it, and no more than they
have. A quarter of all blocks has no more than what is returned: where content is flat, or moves as a block does, there
is only noise.
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["noise_of_slopes"]

COLUMNS, ROWS, EVERY = 16, 4, 8
"""Of a block: columns, and rows looked at, every so many."""

SHARE = 0.25
"""Share of the blocks that are taken to hold noise alone."""

LEAST = 8
"""Fewest pixels of a block that can tell."""


def noise_of_slopes(before: np.ndarray, after: np.ndarray) -> float:
    """Return the variance of the slopes of both frames' mean, along an axis, that is noise [squared intensity].

    Parameters
    ----------
    before, after : ndarray, shape (height, width)
        uint8 or float32, 3 pixels or more each way.
    """
    height, width = before.shape
    n_rows, n_columns = -(-(height - 2) // (ROWS * EVERY)), -(-(width - 2) // COLUMNS)
    found = np.full((n_rows, n_columns), np.nan)
    _fit_blocks(before, after, np.zeros((9, width - 2), np.float32), found)
    known = found[np.isfinite(found)]
    return float(np.partition(known, k)[k]) if (k := int(SHARE * known.size)) < known.size else 0.0


@compiled(**SUMS)
def _fit_blocks(before, after, sums, found):
    """Write the variance of slopes that may be noise in each block; NaN stays where there are too few pixels."""
    height, width = before.shape
    rows = (sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8])
    for i in range(len(found)):
        sums[:] = np.float32(0)
        n_rows = 0
        for k in range(ROWS):
            y = 1 + (ROWS * i + k) * EVERY
            if y < height - 1:
                a, b = before[y], after[y]
                above, below = before[y - 1, 1:], before[y + 1, 1:]
                _add_products(a, b, above, below, after[y - 1, 1:], after[y + 1, 1:], rows)
                n_rows += 1
        for j in range(found.shape[1]):
            first, last = j * COLUMNS, min((j + 1) * COLUMNS, width - 2)
            n = n_rows * (last - first)
            if n >= LEAST:
                found[i, j] = _noise_of_block(sums[:, first:last], n)


@compiled(**PART, **SUMS)
def _add_products(a, b, above, below, over, under, sums):
    """Add up change and slopes of a row, before and after, and their products; slopes twice as large."""
    s0, s1, s2, s3, s4, s5, s6, s7, s8 = sums
    for x in range(len(s0)):
        a0, a1, a2, b0, b1, b2 = a[x], a[x + 1], a[x + 2], b[x], b[x + 1], b[x + 2]
        dt = np.float32(b1) - np.float32(a1)
        g = (np.float32(a2) - np.float32(a0)) + (np.float32(b2) - np.float32(b0))
        h = (np.float32(below[x]) - np.float32(above[x])) + (np.float32(under[x]) - np.float32(over[x]))
        s0[x] += dt
        s1[x] += g
        s2[x] += h
        s3[x] += dt * dt
        s4[x] += g * g
        s5[x] += h * h
        s6[x] += g * h
        s7[x] += g * dt
        s8[x] += h * dt


@compiled(forceinline=True, **SUMS)
def _noise_of_block(sums, n):
    """Return an eighth of the variance of the change that slopes and a flash leave over; that of the slopes at most."""
    total = np.zeros(9)
    for k in range(9):
        for x in range(sums.shape[1]):
            total[k] += sums[k, x]
    dt, g, h = total[0], total[1], total[2]
    tt, gg, hh = total[3] - dt * dt / n, total[4] - g * g / n, total[5] - h * h / n
    gh, gt, ht = total[6] - g * h / n, total[7] - g * dt / n, total[8] - h * dt / n
    determinant = gg * hh - gh * gh
    explained = 0.0
    if determinant > 1e-6 * gg * hh:
        explained = (hh * gt * gt - 2 * gh * gt * ht + gg * ht * ht) / determinant
    elif gg + hh > 0:
        explained = (gt * gt + ht * ht) / (gg + hh)  # an edge: one slope alone
    return max(min((tt - explained) / 8, (gg + hh) / 32), 0.0) / (n - 3)
