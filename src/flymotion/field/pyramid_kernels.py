"""The compiled kernels of a pyramid of scales: frames from fine to coarse, velocities from coarse to fine.

Frames have a border of ``PAD`` pixels on all sides, a copy of their outermost ones, for what is looked up beside them.
"""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["PAD", "enlarge", "grain_of_blocks", "halve", "slope_power", "surround"]

PAD = 2
"""Width of a frame's border [pixels]."""


def surround(frame):
    """Fill the border of a frame with copies of its outermost pixels."""
    for rows in (frame, frame.T):
        rows[:PAD], rows[-PAD:] = rows[PAD], rows[-PAD - 1]


@compiled(**SUMS)
def halve(frame, out, first, last):
    """Write rows first to last of the means over 2 x 2 pixels; an odd last row or column is left out."""
    quarter = np.float32(0.25)
    for y in range(first, last):
        a, b = frame[2 * y + PAD, PAD:], frame[2 * y + 1 + PAD, PAD:]
        to = out[y + PAD, PAD:]
        for x in range(out.shape[1] - 2 * PAD):
            p, q = np.float32(a[2 * x]) + np.float32(a[2 * x + 1]), np.float32(b[2 * x]) + np.float32(b[2 * x + 1])
            to[x] = quarter * (p + q)


@compiled(**SUMS)
def slope_power(frame, step):
    """Return the mean square of the slopes along x and y, central differences, over every step-th row."""
    total, n_rows = 0.0, 0
    height, width = frame.shape[0] - 2 * PAD, frame.shape[1] - 2 * PAD
    for y in range(1 + PAD, height - 1 + PAD, step):
        above, row, below = frame[y - 1, 1 + PAD :], frame[y, PAD:], frame[y + 1, 1 + PAD :]
        power = np.float32(0)
        for x in range(width - 2):
            g = np.float32(row[x + 2]) - np.float32(row[x])
            h = np.float32(below[x]) - np.float32(above[x])
            power += g * g + h * h
        total += float(power)
        n_rows += 1
    return total / (8.0 * n_rows * (width - 2))


@compiled(**SUMS)
def grain_of_blocks(frame, side, found):
    """Write the mean square of what is finest in each block of pixels: of second differences along both axes.

    White noise of variance 1 has 1. Only the rows of every other block are looked at.
    """
    sixth, two, four = np.float32(1 / 6), np.float32(2), np.float32(4)
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            x, power = PAD + 1 + j * side, np.float32(0)
            for y in range(PAD + 1 + 2 * i * side, PAD + 1 + 2 * i * side + side):
                a, b, c = frame[y - 1, x - 1 :], frame[y, x - 1 :], frame[y + 1, x - 1 :]
                for k in range(side):
                    corners = np.float32(a[k]) + np.float32(a[k + 2]) + np.float32(c[k]) + np.float32(c[k + 2])
                    edges = np.float32(a[k + 1]) + np.float32(b[k]) + np.float32(b[k + 2]) + np.float32(c[k + 1])
                    fine = sixth * (corners - two * edges + four * np.float32(b[k + 1]))
                    power += fine * fine
            found[i, j] = power / np.float32(side * side)


@compiled(**PART, **SUMS)
def _between_columns(mixed, n, out):
    """Write n pixels between those of a row that begins one pixel before."""
    near, far = np.float32(0.75), np.float32(0.25)
    for i in range(n // 2):
        out[2 * i] = near * mixed[i + 1] + far * mixed[i]
        out[2 * i + 1] = near * mixed[i + 1] + far * mixed[i + 2]
    if n % 2:
        out[n - 1] = near * mixed[n // 2 + 1] + far * mixed[n // 2]


@compiled(**SUMS)
def enlarge(coarse, gains, out, first, last, mixed):
    """Write rows first to last of planes twice as large, linear between the coarser pixels, times a gain each.

    Parameters
    ----------
    coarse : ndarray, shape (n, height, width)
        Planes of the coarser scale.
    gains : ndarray, shape (n,)
        What each is multiplied by.
    out : ndarray, shape (n, 2 height (+ 1), 2 width (+ 1))
        Where to.
    first, last : int
        Rows of ``out``.
    mixed : ndarray, shape (width + 3,) or more
        The worker's room.
    """
    near, far = np.float32(0.75), np.float32(0.25)
    height, width = coarse.shape[1:]
    n = out.shape[2]
    for p in range(len(coarse)):
        gain = gains[p]
        for y in range(first, last):
            a = coarse[p, min(y // 2, height - 1)]
            b = coarse[p, min(max(y // 2 + 2 * (y % 2) - 1, 0), height - 1)]
            for i in range(width):
                mixed[i + 1] = gain * (near * a[i] + far * b[i])
            mixed[0], mixed[width + 1], mixed[width + 2] = mixed[1], mixed[width], mixed[width]
            _between_columns(mixed, n, out[p, y])
