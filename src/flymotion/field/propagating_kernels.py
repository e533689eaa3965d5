"""The compiled kernels that give a window better places to look from.

Between two things that move differently a coarser scale says what neither does, and of a small fast one nothing. So,
before a scale looks, each of its cells may take another velocity, where that explains what the three by three cells
about it did: where the mean square of what is left between the frames, carried by it, is less.

- A cell that differs by more than a pixel from the cell four to its left, right, above or below may take the velocity
  of one of these, if less than 0.9 of what its own leaves is left. DIS (Kroeger et al. 2016, ECCV; as OpenCV has it)
  and PatchMatch (Barnes et al. 2009, ACM Transactions on Graphics 28: 24) propagate alike.
- On all scales but the finest, cells whose own velocity leaves more than noise would, and than slopes would that are
  off by 0.7 pixels, may take one that is up to three pixels faster or slower along either axis, if that leaves half.
  One of four cells is looked at and speaks for the four. Content that is hidden finds no match.

Where motion is smooth and explains the frames, both take next to no time.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.pyramid_kernels import PAD
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["N_ROWS", "explain_band", "propagate_band"]

APART = 4
"""Cells to those that are asked, each way."""

STEPS = (-3.0, -1.5, 0.0, 1.5, 3.0)
"""What is added to a velocity along either axis [pixels of the scale per frame]; windows see half of it."""

NEIGHBOURS = (
    (0, 0, 0.0, 0.0),
    (0, APART, 0.0, 0.0),
    (0, -APART, 0.0, 0.0),
    (APART, 0, 0.0, 0.0),
    (-APART, 0, 0.0, 0.0),
)
CANDIDATES = NEIGHBOURS + tuple((0, 0, dy, dx) for dy in STEPS for dx in STEPS if dy or dx)
"""Cells down and to the right whose velocity may be taken, and what is added to it along y and x [pixels]; the cell's
own first."""

DIFFERENT = np.float32(1)
"""Difference of velocity from which neighbours are asked [pixels of the scale per frame]."""

FAR = np.float32(0.5 / 4)
"""Square of the distance from home [pixels of the scale, squared] from which a cell looks farther: what is left of it,
relative to its squared slopes; a quarter of that as differences are over two pixels."""

BETTER, FOUND = np.float32(0.9), np.float32(0.5)
"""What a neighbour's velocity, and one that is searched, may leave, relative to the cell's own."""

LEAST_CELLS = 5
"""Cells of the nine about one that have to stay inside the frame."""

N_LEFT = 2 * len(CANDIDATES)
N_ROWS = 3 * (N_LEFT + 2) + 8
"""Rows of a worker's room: of three rows of cells, what each velocity leaves, whether it stays inside the frame, who
asks and who searches; and eight of one row."""


@compiled(**PART, **SUMS)
def _ask_row(prior, y, asked):
    """Mark the cells of a row that differ from one of the four with more than 0."""
    height, width = prior.shape[1:]
    asked[:] = np.float32(0)
    if not 0 <= y < height:
        return
    square = DIFFERENT * DIFFERENT
    for k in range(1, len(NEIGHBOURS)):
        down, right, _, _ = NEIGHBOURS[k]
        row, here, there = min(max(y + down, 0), height - 1), max(0, -right), max(0, right)
        u, v, p, q = prior[0, y, here:], prior[1, y, here:], prior[0, row, there:], prior[1, row, there:]
        to = asked[1 + here :]
        for i in range(width - here - there):
            du, dv = p[i] - u[i], q[i] - v[i]
            to[i] += np.float32(du * du + dv * dv > square)


@compiled(**PART, **SUMS)
def _search_row(left, y, quiet, searched):
    """Mark the cells of a row whose velocity leaves too much."""
    searched[:] = np.float32(0)
    if 0 <= y < 2 * len(left):
        row, to = left[y // 2], searched[1:]
        for x in range(len(searched) - 2):
            to[x] = np.float32(row[x // 2] > quiet)


@compiled(**PART, **SUMS)
def _need_row(asked, width, needed):
    """Count the marks beside each cell of a row, and return their sum."""
    above, here, below, total = asked[0], asked[1], asked[2], np.float32(0)
    for x in range(width):
        left, right = above[x] + here[x] + below[x], above[x + 2] + here[x + 2] + below[x + 2]
        needed[x] = left + right + above[x + 1] + here[x + 1] + below[x + 1]
        total += needed[x]
    return total


@compiled(**PART, **SUMS)
def _left_over(before, after, gain, y, x, u, v):
    """Return twice the squares left of a diagonal of a cell of 2 x 2 pixels, -1 outside the frame, and its sum."""
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    zero, one, left, total = np.float32(0), np.float32(1), np.float32(-1), np.float32(0)
    px, py = np.float32(x) + u, np.float32(y) + v
    if (px >= zero) & (py >= zero) & (px <= np.float32(width - 2)) & (py <= np.float32(height - 2)):
        i, j = np.int64(py), np.int64(px)
        fy, fx = py - np.float32(i), px - np.float32(j)
        gy, gx = one - fy, one - fx
        a, b, c = after[i + PAD, j + PAD :], after[i + PAD + 1, j + PAD :], after[i + PAD + 2, j + PAD :]
        p0, p1, p2 = gy * a[0] + fy * b[0], gy * a[1] + fy * b[1], gy * a[2] + fy * b[2]
        q0, q1, q2 = gy * b[0] + fy * c[0], gy * b[1] + fy * c[1], gy * b[2] + fy * c[2]
        upper, lower = before[y + PAD, x + PAD :], before[y + PAD + 1, x + PAD :]
        m0, m1, m2, m3 = gx * p0 + fx * p1, gx * p1 + fx * p2, gx * q0 + fx * q1, gx * q1 + fx * q2
        d0, d3 = gain * m0 - upper[0], gain * m3 - lower[1]
        left, total = np.float32(2) * (d0 * d0 + d3 * d3), (m0 + m1) + (m2 + m3)
    return left, total


@compiled(**PART, **SUMS)
def _explain_row(before, after, gain, prior, y, k, needed, left, inside):
    """Write what a candidate leaves of the cells of a row where it is needed, and 1 where it says so; 0 elsewhere."""
    n_rows, n_columns = prior.shape[1:]
    bottom, end, zero = before.shape[0] - 2 * PAD - 2, before.shape[1] - 2 * PAD - 2, np.float32(0)
    left[:], inside[:] = zero, zero
    if not 0 <= y < n_rows:
        return
    down, right, dy, dx = CANDIDATES[k]
    row, du, dv = min(max(y + down, 0), n_rows - 1), np.float32(dx), np.float32(dy)
    for x in range(n_columns):
        if needed[x] > zero:
            column = min(max(x + right, 0), n_columns - 1)
            u, v = prior[0, row, column] + du, prior[1, row, column] + dv
            some, _ = _left_over(before, after, gain, min(2 * y, bottom), min(2 * x, end), u, v)
            left[x + 1], inside[x + 1] = max(some, zero), np.float32(some >= zero)


@compiled(**PART, **SUMS)
def _mean_row(left, inside, width, sums, counts, means):
    """Write the mean over the three by three cells about each cell of a row; infinite where too few of them say."""
    a, b, c, p, q, r = left[0], left[1], left[2], inside[0], inside[1], inside[2]
    some = np.float32(LEAST_CELLS)
    for x in range(width + 2):
        sums[x], counts[x] = a[x] + b[x] + c[x], p[x] + q[x] + r[x]
    for x in range(width):
        count = counts[x] + counts[x + 1] + counts[x + 2]
        mean = (sums[x] + sums[x + 1] + sums[x + 2]) / max(count, some)
        means[x] = mean if count >= some else np.float32(np.inf)


@compiled(**PART, **SUMS)
def _choose_row(ring, searched, quiet, width, best, room):
    """Write which candidate each cell of a row takes."""
    n, sums, counts, means, own, least = len(CANDIDATES), room[0], room[1], room[2], room[3], room[4]
    zero, infinite = np.float32(0), np.float32(np.inf)
    for k in range(n if searched.sum() > zero else len(NEIGHBOURS)):
        _mean_row(ring[:, k], ring[:, n + k], width, sums, counts, means)
        if k == 0:
            for x in range(width):
                own[x] = means[x] if means[x] < infinite else zero
                best[x], least[x] = zero, BETTER * own[x]
        elif k == len(NEIGHBOURS):
            for x in range(width):
                far = (searched[x + 1] > zero) & (own[x] > quiet)
                least[x] = min(least[x], FOUND * own[x]) if far else zero
        if k > 0:
            for x in range(width):
                better = means[x] < least[x]
                best[x], least[x] = np.float32(k) if better else best[x], means[x] if better else least[x]


@compiled(**SUMS)
def explain_band(before, after, gain, first, last, prior, out):
    """Write rows first to last of the mean square of what is left of every second cell of every second row.

    It is 0 where the cell leaves the frame, or would not be far from home.

    Parameters
    ----------
    before, after : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Frames at this scale, with their borders.
    gain : float32
        Of the light of the frame after, to be taken off.
    first, last : int
        Rows.
    prior : ndarray, shape (n, n_rows, n_columns)
        Velocity at every cell of 2 x 2 pixels.
    out : ndarray, shape (half of n_rows, half of n_columns), rounded up
        Where to.

    Returns
    -------
    tuple of float
        Sums over the same content in the frame before, and in the carried one.
    """
    zero = np.float32(0)
    before_all, after_all = np.float64(0), np.float64(0)
    bottom, end = before.shape[0] - 2 * PAD - 2, before.shape[1] - 2 * PAD - 2
    for y in range(first, last):
        for x in range(out.shape[1]):
            i, j = min(4 * y, bottom), min(4 * x, end)
            left, seen = _left_over(before, after, gain, i, j, prior[0, 2 * y, 2 * x], prior[1, 2 * y, 2 * x])
            a, b = before[i + PAD, j + PAD - 1 :], before[i + PAD + 1, j + PAD - 1 :]
            c, d = before[i + PAD - 1, j + PAD :], before[i + PAD + 2, j + PAD :]
            g0, g1, g2, g3 = a[2] - a[0], a[3] - a[1], b[2] - b[0], b[3] - b[1]
            h0, h1, h2, h3 = b[1] - c[0], b[2] - c[1], d[0] - a[1], d[1] - a[2]
            slopes = (g0 * g0 + g1 * g1) + (g2 * g2 + g3 * g3) + (h0 * h0 + h1 * h1) + (h2 * h2 + h3 * h3)
            out[y, x] = np.float32(0.25) * (left if left > FAR * slopes else zero)
            was = ((a[1] + a[2]) + (b[1] + b[2])) if left >= zero else zero
            before_all, after_all = before_all + was, after_all + seen
    return before_all, after_all


@compiled(**SUMS)
def propagate_band(before, after, gain, first, last, prior, left, quiet, out, room):
    """Write rows first to last of the prior, each cell's own or what explains more.

    Parameters
    ----------
    before, after : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Frames at this scale, with their borders.
    gain : float32
        Of the light of the frame after, to be taken off.
    first, last : int
        Rows.
    prior, out : ndarray, shape (n, n_rows, n_columns)
        Velocity, and what goes with it, at every cell of 2 x 2 pixels; and where to.
    left : ndarray, shape (half of n_rows, half of n_columns), rounded up
        Of :func:`explain_band`; of no rows where nothing is to be searched.
    quiet : float32
        What may be left, beyond which another velocity is searched.
    room : ndarray, shape (N_ROWS, n_columns + 2)
        The worker's.
    """
    n_rows, n_columns = prior.shape[1:]
    n, zero = len(CANDIDATES), np.float32(0)
    ring = room[: 3 * N_LEFT].reshape(3, N_LEFT, room.shape[1])
    asked, searched, room = (
        room[3 * N_LEFT : 3 * N_LEFT + 3],
        room[3 * N_LEFT + 3 : 3 * N_LEFT + 6],
        room[3 * N_LEFT + 6 :],
    )
    needed, sought, best = room[0], room[1], room[2]
    for y in range(first - 3, last + 1):
        _ask_row(prior, y + 1, asked[(y + 1) % 3])
        _search_row(left, y + 1, quiet, searched[(y + 1) % 3])
        if y < first - 1:
            continue
        some, more = _need_row(asked, n_columns, needed) > zero, _need_row(searched, n_columns, sought) > zero
        for x in range(n_columns if more else 0):
            needed[x] += sought[x]
        for k in range(len(NEIGHBOURS) if some or more else 0):
            _explain_row(before, after, gain, prior, y, k, needed, ring[y % 3, k], ring[y % 3, n + k])
        for k in range(len(NEIGHBOURS), n if more else 0):
            _explain_row(before, after, gain, prior, y, k, sought, ring[y % 3, k], ring[y % 3, n + k])
        middle = y - 1
        if middle < first:
            continue
        for p in range(len(out)):
            for x in range(n_columns):
                out[p, middle, x] = prior[p, middle, x]
        marks, finds = asked[middle % 3], searched[middle % 3]
        if marks.sum() + finds.sum() == zero:
            continue
        _choose_row(ring, finds, quiet, n_columns, best, room[3:])
        for x in range(n_columns):
            if (marks[x + 1] + finds[x + 1] > zero) & (best[x] > zero):
                down, right, dy, dx = CANDIDATES[int(best[x])]
                row, column = min(max(middle + down, 0), n_rows - 1), min(max(x + right, 0), n_columns - 1)
                for p in range(len(out)):
                    out[p, middle, x] = prior[p, row, column]
                out[0, middle, x] += np.float32(dx)
                out[1, middle, x] += np.float32(dy)
