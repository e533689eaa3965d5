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
def halve(frame, border, out, first, last):
    """Write rows first to last of the means over 2 x 2 pixels of a frame with a border of so many pixels, or 0.

    An odd last row or column is left out.
    """
    quarter = np.float32(0.25)
    for y in range(first, last):
        a, b = frame[2 * y + border, border:], frame[2 * y + 1 + border, border:]
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
def _twice_as_wide(mixed, n, out):
    """Write n pixels between those of a row that begins one pixel before."""
    near, far = np.float32(0.75), np.float32(0.25)
    for i in range(n // 2):
        out[2 * i] = near * mixed[i + 1] + far * mixed[i]
        out[2 * i + 1] = near * mixed[i + 1] + far * mixed[i + 2]
    if n % 2:
        out[n - 1] = near * mixed[n // 2 + 1] + far * mixed[n // 2]


@compiled(**PART, **SUMS)
def _four_times_as_wide(mixed, n, out):
    """Write n pixels between those of a row that begins one pixel before."""
    some, more, few, most = np.float32(0.625), np.float32(0.875), np.float32(0.125), np.float32(0.375)
    for i in range(n // 4):
        a, b, c = mixed[i], mixed[i + 1], mixed[i + 2]
        out[4 * i], out[4 * i + 1] = some * b + most * a, more * b + few * a
        out[4 * i + 2], out[4 * i + 3] = more * b + few * c, some * b + most * c
    for x in range(n // 4 * 4, n):
        out[x] = (some if x % 4 == 0 else more) * mixed[x // 4 + 1] + (most if x % 4 == 0 else few) * mixed[x // 4]


@compiled(**SUMS)
def enlarge(coarse, times, gains, out, first, last, mixed):
    """Write rows first to last of planes 1, 2 or 4 times as large, linear between the pixels, times a gain each.

    Parameters
    ----------
    coarse : ndarray, shape (n, height, width)
        Planes of the coarser scale.
    times : int
        1, 2 or 4.
    gains : ndarray, shape (n,)
        What each is multiplied by.
    out : ndarray, shape (n, times height, times width) or up to times - 1 more each way
        Where to.
    first, last : int
        Rows of ``out``.
    mixed : ndarray, shape (width + 3,) or more
        The worker's room.
    """
    height, width = coarse.shape[1:]
    n = out.shape[2]
    for p in range(len(coarse)):
        for y in range(first, last):
            if times == 1:
                gain, own, to = gains[p], coarse[p, y], out[p, y]
                for i in range(n):
                    to[i] = gain * own[i]
                continue
            place = (np.float32(y) + np.float32(0.5)) / np.float32(times) - np.float32(0.5)
            row = np.int64(np.floor(place))
            share = gains[p] * (place - np.float32(row))
            rest = gains[p] - share
            a, b = coarse[p, min(max(row, 0), height - 1)], coarse[p, min(row + 1, height - 1)]
            for i in range(width):
                mixed[i + 1] = rest * a[i] + share * b[i]
            mixed[0], mixed[width + 1], mixed[width + 2] = mixed[1], mixed[width], mixed[width]
            if times == 2:
                _twice_as_wide(mixed, n, out[p, y])
            else:
                _four_times_as_wide(mixed, n, out[p, y])
