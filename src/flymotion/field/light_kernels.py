"""The compiled kernels of light that is uneven; :mod:`flymotion.field.uneven_light` says what they are for.

Of every pixel there are the slopes g and h along x and y of the mean m of both frames, their change d once the frame
after was carried back by the motion of the frame, and light: m, and m times the place in the pixel's block, x and y.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.carrying import STRIDE, carry_row, places_of_row
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = [
    "BESIDE",
    "N_ROWS",
    "carry_frame",
    "explained_change",
    "find_gain",
    "mend_plane",
    "share_along",
    "sum_blocks",
]

N_ROWS = 15
"""Rows of ``STRIDE`` numbers that the kernels work in."""

BESIDE = 2
"""Pixels each way that a Gaussian of one pixel reaches."""

MIDDLE, NEAR, FAR = np.float32(6 / 16), np.float32(4 / 16), np.float32(1 / 16)
"""The Gaussian."""

FIRM = 1e-3
"""Ridge on a block's light and its slopes, relative to the sum of m m."""

BEND = 0.05
"""What of a mean square slope is nothing, where blocks are weighted by what they leave unexplained."""

APART, FAINT = 0.2, 0.01
"""Motion of a block that is another than the frame's [pixels of the scale per frame]; and the ridge on it, relative to
the slopes of a block."""

HARDLY, TINY = 1e-3, 1e-9
"""Ridge on the motion of the frame, relative to the slopes of all blocks; and where there are none."""


@compiled(**SUMS)
def carry_frame(before, after, splines, plane, mean, change, known, room):
    """Carry the frame after by a plane; write the mean of both, the change, 0 beside the frame, and what is inside."""
    height, width = mean.shape
    u, v, inside = room[:STRIDE], room[STRIDE:], room[2 * STRIDE :]
    places, carried = room[3 * STRIDE :], room[8 * STRIDE :]
    for y in range(height):
        u0, v0 = plane[0] + plane[2] * np.float32(y), plane[3] + plane[5] * np.float32(y)
        for x0 in range(0, width, STRIDE):
            n = min(STRIDE, width - x0)
            for i in range(n):
                u[i] = u0 + plane[1] * np.float32(x0 + i)
                v[i] = v0 + plane[4] * np.float32(x0 + i)
            places_of_row(u, v, y, x0, n, height, width, places, inside)
            carry_row(before, after, splines, y, x0, n, places, carried)
            for i in range(n):
                mean[y, x0 + i] = carried[i]
                change[y, x0 + i] = inside[i] * carried[STRIDE + i]
                known[y, x0 + i] = inside[i]


@compiled(**PART, **SUMS)
def _add_row(above, row, below, change, known, n, place, sums):
    """Add the products of n pixels of a row, ``place`` rows from its blocks' middle, to those of their columns."""
    half = np.float32(0.5)
    for i in range(n):
        k = known[i + 1]
        g, h = half * k * (row[i + 2] - row[i]), half * k * (below[i] - above[i])
        m, d = k * row[i + 1], change[i + 1]
        my = place * m
        sums[i] += m * m
        sums[STRIDE + i] += m * my
        sums[2 * STRIDE + i] += my * my
        sums[3 * STRIDE + i] += m * g
        sums[4 * STRIDE + i] += my * g
        sums[5 * STRIDE + i] += m * h
        sums[6 * STRIDE + i] += my * h
        sums[7 * STRIDE + i] += m * d
        sums[8 * STRIDE + i] += my * d
        sums[9 * STRIDE + i] += g * g
        sums[10 * STRIDE + i] += g * h
        sums[11 * STRIDE + i] += g * d
        sums[12 * STRIDE + i] += h * h
        sums[13 * STRIDE + i] += h * d
        sums[14 * STRIDE + i] += d * d


@compiled(**PART, **SUMS)
def _add_column(sums, i, place, block):
    """Add the sums of a column, ``place`` columns from the block's middle, to those of the block."""
    m_m, m_my, my_my = sums[i], sums[STRIDE + i], sums[2 * STRIDE + i]
    block[0, 0] += m_m
    block[0, 1] += place * m_m
    block[0, 2] += m_my
    block[1, 1] += place * place * m_m
    block[1, 2] += place * m_my
    block[2, 2] += my_my
    for p in range(3):
        with_m, with_my = sums[(3 + 2 * p) * STRIDE + i], sums[(4 + 2 * p) * STRIDE + i]
        block[0, 3 + p] += with_m
        block[1, 3 + p] += place * with_m
        block[2, 3 + p] += with_my
    block[3, 3] += sums[9 * STRIDE + i]
    block[3, 4] += sums[10 * STRIDE + i]
    block[3, 5] += sums[11 * STRIDE + i]
    block[4, 4] += sums[12 * STRIDE + i]
    block[4, 5] += sums[13 * STRIDE + i]
    block[5, 5] += sums[14 * STRIDE + i]


@compiled(**SUMS)
def sum_blocks(mean, change, known, side, room, out):
    """Write the sums of products over blocks of pixels: of m, m x, m y, g, h and d, the upper half of a matrix.

    Parameters
    ----------
    mean, change, known : ndarray, shape (height, width)
        Of :func:`carry_frame`. Pixels of the border have no slopes and no say.
    side : int
        Of the blocks [pixels].
    room : ndarray
        The worker's.
    out : ndarray, shape (n_rows, n_columns, 6, 6)
        Where to.
    """
    height, width = mean.shape
    middle, tile = np.float32(0.5 * (side - 1)), STRIDE // side * side
    out[:] = 0
    for k in range(out.shape[0]):
        for x0 in range(0, width, tile):
            first, last = max(x0, 1), min(x0 + tile, width - 1)
            room[:] = np.float32(0)
            for y in range(max(k * side, 1), min((k + 1) * side, height - 1)):
                above, row, below = mean[y - 1, first:], mean[y, first - 1 :], mean[y + 1, first:]
                place = np.float32(y - k * side) - middle
                _add_row(above, row, below, change[y, first - 1 :], known[y, first - 1 :], last - first, place, room)
            for x in range(first, last):
                _add_column(room, x - first, np.float32(x % side) - middle, out[k, x // side])


@compiled()
def explained_change(sums):
    """Return the change of all blocks, less the light of the frame, and what of it their own light explains."""
    m_m, d_m, d_d, explained = 0.0, 0.0, 0.0, 0.0
    rows, columns = sums.shape[:2]
    for k in range(rows):
        for i in range(columns):
            m_m, d_m, d_d = m_m + sums[k, i, 0, 0], d_m + sums[k, i, 0, 5], d_d + sums[k, i, 5, 5]
    gain = d_m / max(m_m, 1e-9)
    for k in range(rows):
        for i in range(columns):
            own = sums[k, i, 0, 5] - gain * sums[k, i, 0, 0]
            explained += own * own / max(sums[k, i, 0, 0], 1e-9)
    return d_d - gain * d_m, explained


@compiled(**PART)
def _take_off_light(sums):
    """Take off a block's sums what its light explains, and the slopes of its light along x and y."""
    firm = FIRM * sums[0, 0]
    for p in range(3):
        pivot = sums[p, p] + firm
        for i in range(p + 1, 6):
            share = sums[p, i] / (pivot if pivot > 0 else 1.0)
            for j in range(i, 6):
                sums[i, j] -= share * sums[p, j]


@compiled()
def share_along(sums):
    """Return the share of the squared slopes whose blocks move with the frame, by what light does not explain.

    Light is taken off the sums, of :func:`sum_blocks`, for good.
    """
    along, power = 0.0, TINY
    rows, columns = sums.shape[:2]
    for k in range(rows):
        for i in range(columns):
            _take_off_light(sums[k, i])
            power += sums[k, i, 3, 3] + sums[k, i, 4, 4]
    ridge = FAINT * power / (rows * columns)
    for k in range(rows):
        for i in range(columns):
            own = sums[k, i]
            a, b, c = own[3, 3] + ridge, own[3, 4], own[4, 4] + ridge
            u, v, det = c * own[3, 5] - b * own[4, 5], a * own[4, 5] - b * own[3, 5], a * c - b * b
            along += own[3, 3] + own[4, 4] if u * u + v * v < (APART * det) ** 2 else 0.0
    return along / power


@compiled(**PART)
def _add_block(block, weight, y, x, normal):
    """Add what a block says of the motion of the frame, with the place of its middle."""
    for p in range(3):
        at = weight * (1.0 if p == 0 else x if p == 1 else y)
        for q in range(3):
            both = at * (1.0 if q == 0 else x if q == 1 else y)
            normal[p, q] += both * block[3, 3]
            normal[p, 3 + q] += both * block[3, 4]
            normal[3 + p, q] += both * block[3, 4]
            normal[3 + p, 3 + q] += both * block[4, 4]
        normal[p, 6] -= at * block[3, 5]
        normal[3 + p, 6] -= at * block[4, 5]


@compiled(**PART)
def _solve(normal):
    """Solve six equations, with a ridge relative to the first and the fourth; into their last column."""
    along, down = HARDLY * normal[0, 0], HARDLY * normal[3, 3]
    for p in range(6):
        normal[p, p] += TINY + (along if p < 3 else down)
    for p in range(6):
        for q in range(p + 1, 6):
            share = normal[q, p] / normal[p, p]
            for j in range(p, 7):
                normal[q, j] -= share * normal[p, j]
    for p in range(5, -1, -1):
        for q in range(p + 1, 6):
            normal[p, 6] -= normal[p, q] * normal[q, 6]
        normal[p, 6] /= normal[p, p]


@compiled()
def mend_plane(sums, side, shape, plane):
    """Add to the motion of the frame what it leaves and light does not explain, by least squares.

    Blocks that no motion of the frame explains have less weight. Places are those from the middle of the frame, in
    units of its width.

    Parameters
    ----------
    sums : ndarray, shape (n_rows, n_columns, 6, 6)
        Of :func:`sum_blocks`; light is taken off them for good.
    side : int
        Of the blocks [pixels].
    shape : tuple of int
        Height and width.
    plane : ndarray, shape (2, 3)
        Along x and y at the first pixel, and its slopes along x and y.
    """
    height, width = shape
    rows, columns = sums.shape[:2]
    power, normal = 0.0, np.zeros((6, 7))
    for k in range(rows):
        for i in range(columns):
            _take_off_light(sums[k, i])
            power += sums[k, i, 3, 3] + sums[k, i, 4, 4]
    bend = max(BEND * power / (2 * rows * columns), TINY)
    for k in range(rows):
        for i in range(columns):
            y, x = ((k + 0.5) * side - 0.5 * height) / width, ((i + 0.5) * side - 0.5 * width) / width
            _add_block(sums[k, i], 1 / (max(sums[k, i, 5, 5], 0.0) + bend), y, x, normal)
    _solve(normal)
    for p in range(2):
        along, down = normal[3 * p + 1, 6] / width, normal[3 * p + 2, 6] / width
        plane[p, 0] += normal[3 * p, 6] - 0.5 * (along * (width - 1) + down * (height - 1))
        plane[p, 1] += along
        plane[p, 2] += down


@compiled(**PART, **SUMS)
def _smooth(values, mixed, out):
    """Write the mean under a Gaussian of one pixel of what has a border of zeros."""
    height, width = out.shape
    for y in range(height):
        a, b, c, d, e = values[y], values[y + 1], values[y + 2], values[y + 3], values[y + 4]
        for x in range(width + 2 * BESIDE):
            mixed[x] = MIDDLE * c[x] + NEAR * (b[x] + d[x]) + FAR * (a[x] + e[x])
        to = out[y]
        for x in range(width):
            to[x] = MIDDLE * mixed[x + 2] + NEAR * (mixed[x + 1] + mixed[x + 3]) + FAR * (mixed[x] + mixed[x + 4])


@compiled(**SUMS)
def find_gain(mean, change, known, ridge, products, mixed, smooth, gain):
    """Write what the frame before has to be multiplied by to be lit as the frame after.

    Parameters
    ----------
    mean, change, known : ndarray, shape (height, width)
        Of :func:`carry_frame`.
    ridge : float32
        On light.
    products : ndarray, shape (height + 4, width + 4)
        Room, with a border of zeros; ``mixed``, shape (width + 4,) or wider, and ``smooth``, shape (2, height, width),
        are room, too.
    gain : ndarray, shape (height, width)
        Where to.
    """
    height, width = mean.shape
    one, two, zero = np.float32(1), np.float32(2), np.float32(0)
    gain[:] = zero
    for turn in range(3):  # how bright it is; how the light changes; and what that leaves, as far as it is smooth
        for y in range(height):
            to = products[BESIDE + y, BESIDE:]
            for x in range(width):
                m = mean[y, x] * known[y, x]
                to[x] = m * (change[y, x] - gain[y, x] * m) if turn else m * m
        _smooth(products, mixed, smooth[min(turn, 1)])
        if turn:
            for y in range(height):
                for x in range(width):
                    m_m = smooth[0, y, x] + ridge
                    gain[y, x] += smooth[1, y, x] / (m_m if m_m > zero else one)
    for y in range(height):
        for x in range(width):
            k = min(max(gain[y, x], -one), one)
            gain[y, x] = (two + k) / (two - k)
