"""The compiled kernel that lets the windows about a pixel agree; :mod:`flymotion.field.scales` says how."""

from __future__ import annotations

import numpy as np

from flymotion.similarity.compilation import SUMS, compiled

__all__ = ["N_PLANES", "agree_band", "scatter_of_tiles", "widen"]

SPREAD = np.float32(0.2)
"""Squared error, relative to the spread of the votes about their mean."""

LEAST = np.float32(1e-6)
"""Least squared error [pixels of the scale, squared]."""

N_PLANES = 6
"""Of the windows' votes: weight, and times it velocity along x and y, its square, squared error and confidence."""


@compiled(**SUMS)
def agree_band(votes, first, last, apart, reference, velocity, quality, rows):
    """Write rows first to last of velocity: the mean of nine windows' votes about each cell.

    Parameters
    ----------
    votes : ndarray, shape (3 or N_PLANES, n_rows, n_columns)
        At every cell of 2 x 2 pixels, of :func:`flymotion.field.velocity_kernels.regress_band`.
    first, last : int
        Rows.
    apart : int
        Cells from one window to the next.
    reference : tuple of float32
        Of the votes.
    velocity : ndarray, shape (2, n_rows, n_columns)
        Where to.
    quality : ndarray, shape (2, n_rows, n_columns)
        Squared error and confidence; of no rows where not wanted.
    rows : ndarray, shape (N_PLANES, n_columns + 2 apart) or wider
        The worker's room.
    """
    height, width = votes.shape[1:]
    zero, one = np.float32(0), np.float32(1)
    for p in range(len(votes)):
        rows[p, :apart] = zero
        rows[p, width + apart : width + 2 * apart] = zero
    for y in range(first, last):
        for p in range(len(votes)):
            to, here = rows[p, apart:], votes[p, y]
            above, below = votes[p, max(y - apart, 0)], votes[p, min(y + apart, height - 1)]
            over, under = np.float32(y >= apart), np.float32(y + apart < height)
            for x in range(width):
                to[x] = here[x] + over * above[x] + under * below[x]
        vx, vy = velocity[0, y], velocity[1, y]
        at, half = np.float32(2) * np.float32(y) + np.float32(0.5), np.float32(0.5)
        at_0, down_0 = reference[0] + reference[2] * at, reference[3] + reference[5] * at
        for x in range(width):
            weight = one / (rows[0, x] + rows[0, x + apart] + rows[0, x + 2 * apart])
            vx[x] = weight * (rows[1, x] + rows[1, x + apart] + rows[1, x + 2 * apart])
            vy[x] = weight * (rows[2, x] + rows[2, x + apart] + rows[2, x + 2 * apart])
        if quality.shape[1]:
            error, confidence = quality[0, y], quality[1, y]
            for x in range(width):
                weight = one / (rows[0, x] + rows[0, x + apart] + rows[0, x + 2 * apart])
                p, q = vx[x], vy[x]
                square = weight * (rows[3, x] + rows[3, x + apart] + rows[3, x + 2 * apart])
                own = weight * (rows[4, x] + rows[4, x + apart] + rows[4, x + 2 * apart])
                error[x] = LEAST + own + SPREAD * max(square - p * p - q * q, zero)
                confidence[x] = weight * (rows[5, x] + rows[5, x + apart] + rows[5, x + 2 * apart])
        for x in range(width):
            vx[x] += at_0 + reference[1] * (np.float32(x) + np.float32(x) + half)
            vy[x] += down_0 + reference[4] * (np.float32(x) + np.float32(x) + half)


@compiled(**SUMS)
def scatter_of_tiles(velocity, error, side, found):
    """Write how far velocities lie from the plane through them, in each tile, relative to their squared errors.

    Parameters
    ----------
    velocity : ndarray, shape (2, n_rows, n_columns)
        At every cell.
    error : ndarray, shape (n_rows, n_columns)
        Squared.
    side : int
        Of a tile [cells].
    found : ndarray, shape (n_rows // side, n_columns // side)
        Mean squares over mean squared errors.
    """
    half, zero, one = np.float32((side - 1) / 2), np.float32(0), np.float32(1)
    n, lever = np.float32(side * side), np.float32(side * side * (side * side - 1) / 12)
    top, left = (error.shape[0] - found.shape[0] * side) // 2, (error.shape[1] - found.shape[1] * side) // 2
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            y0, x0 = top + i * side, left + j * side
            expected, scatter = zero, zero
            for y in range(y0, y0 + side):
                row = error[y, x0 : x0 + side]
                for x in range(side):
                    expected += row[x]
            for k in range(2):
                first, total, along, down, square = velocity[k, y0, x0], zero, zero, zero, zero
                for y in range(y0, y0 + side):
                    row, at = velocity[k, y, x0 : x0 + side], np.float32(y - y0) - half
                    here, across = zero, zero
                    for x in range(side):
                        v = row[x] - first
                        here += v
                        across += v * (np.float32(x) - half)
                        square += v * v
                    total += here
                    along += across
                    down += at * here
                scatter += square - total * total / n - (along * along + down * down) / lever
            found[i, j] = max(scatter, zero) / (expected if expected > zero else one)


@compiled(**SUMS)
def widen(error, factors, side):
    """Multiply squared errors by the squares of factors, each in the middle of its tile, linear between them.

    Parameters
    ----------
    error : ndarray, shape (n_rows, n_columns)
        Squared, at every cell.
    factors : ndarray, shape (n_rows // side, n_columns // side)
        Of tiles.
    side : int
        Of a tile [cells].
    """
    height, width = factors.shape
    top, left = (error.shape[0] - height * side) // 2, (error.shape[1] - width * side) // 2
    half, each, zero, one = np.float32((side - 1) / 2), np.float32(1 / side), np.float32(0), np.float32(1)
    for y in range(error.shape[0]):
        place = min(max((np.float32(y - top) - half) * each, zero), np.float32(height - 1))
        i = int(place)
        below = place - np.float32(i)
        above, under, row = factors[i], factors[min(i + 1, height - 1)], error[y]
        for j in range(-1, width):
            a, b = max(j, 0), min(j + 1, width - 1)
            near, far = (one - below) * above[a] + below * under[a], (one - below) * above[b] + below * under[b]
            start = left + j * side + side // 2  # the first cell that is not before the tile's middle
            first, last = max(start, 0) if j >= 0 else 0, start + side if j < width - 1 else error.shape[1]
            step, past = (far - near) * each, np.float32(side // 2) - half
            for x in range(first, last):
                factor = near + step * (np.float32(x - start) + past)
                row[x] *= factor * factor
