r"""The compiled kernels that look once more whether the velocity, or rest, explains what a cell of 2 x 2 pixels did.

A window that holds a moving thing and still ground has one velocity. So the frame after is carried once more by what
was found, and about each cell the variances of what is left, :math:`r_v`, and of the change as it is, :math:`r_0`, are
taken twice. Over 3 x 3 cells they say whether there is rest: where :math:`r_0 < r_v / 2`, and is no more than four
times the noise or an eighth of :math:`r_v`. Over hardly more than the cell itself they say how much confidence there
may be: a moving thing's rim is in the windows of what rests beside it. Of the change and the noise :math:`\sigma^2`
velocity has to explain half,

.. math:: c \le 2 \, (r_0 - r_v) / (r_0 + \sigma^2), \qquad c \le 2 \, d^2 / (d^2 + \sigma^2),

with :math:`d^2` the mean square change of the cell alone (what has not changed is not known to move), unless velocity
is so slow that it says what rest says. And confidence is less where velocity differs from a cell to the next one: what
is between two motions, and has something of both, does neither.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.carrying import STRIDE, places_of_row
from flymotion.field.cubic import cubic
from flymotion.field.memory import aligned
from flymotion.field.pyramid_kernels import PAD
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["differ_band", "judge_band", "judging_room"]

N_KEPT = 4
"""Kept of every row of cells: sums of the change as it is and once carried, and of their squares."""

TILE = STRIDE // 2 - 2
"""Cells of a row that are judged at a time: with one more at either end, their pixels are as many as a row holds."""

STILL, SLOW = np.float32(0.05), np.float32(0.1)
"""Velocity up to which rest and motion are one, so that nothing is carried, or judged; and up to which a cell is not
asked whether it rests [pixels of the scale per frame]."""

ALIKE = np.float32(4)
"""Change, relative to that of noise, up to which a cell may rest."""

EIGHTH = np.float32(1 / 8)
"""Change, relative to what velocity leaves, up to which it may rest all the same."""

TELLING = np.float32(2)
"""Confidence is whole where the change, and what velocity explains of it, are one part in so many of it and noise."""

OWN = np.float32(0.7)
"""Weight of a cell itself, beside that of the 3 x 3 cells with it, where its confidence is judged."""

DIFFER, NEXT = np.float32(4), np.float32(0.25)
"""Confidence is half where the squared differences to four neighbours, times so many, are half the squared velocity and
the square of so much [pixels of the scale per frame]: slow velocities differ by their noise."""


def judging_room() -> np.ndarray:
    """Make room for a worker."""
    return aligned((5 + 1 + N_KEPT + 3 * N_KEPT + 1 + N_KEPT + 8) * STRIDE)


@compiled(**PART, **SUMS)
def _keep_row(before, after, splines, estimates, known, row, left, n, room, kept):
    """Write what is kept of n cells of a row from cell ``left`` on: 0 outside the frame, and of what leaves it."""
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    zero, one = np.float32(0), np.float32(1)
    kept[: N_KEPT * STRIDE] = zero
    first, last = max(0, -left), min(n, estimates.shape[2] - left)
    if not (0 <= row < estimates.shape[1] and first < last):
        return
    x0 = 2 * (left + first)
    m = min(2 * (last - first), width - x0)
    places, inside, summed = room, room[5 * STRIDE :], room[6 * STRIDE :]
    summed[: N_KEPT * STRIDE] = zero
    flat, stride = splines.reshape(-1), splines.shape[1]
    for y in range(2 * row, min(2 * row + 2, height)):
        u, v = known[0, y, x0 : x0 + m], known[1, y, x0 : x0 + m]
        places_of_row(u, v, y, x0, m, height, width, places, inside)
        a, b, moved = before[y + PAD, x0 + PAD :], after[y + PAD, x0 + PAD :], places[4 * STRIDE :]
        for i in range(m):
            if u[i] * u[i] + v[i] * v[i] > STILL * STILL:
                at = (np.int64(places[2 * STRIDE + i]) + PAD - 1) * stride + np.int64(places[i]) + PAD - 1
                moved[i] = cubic(flat, at, stride, places[STRIDE + i], places[3 * STRIDE + i])
            else:
                moved[i], inside[i] = b[i], one
        for i in range(m):
            still, left_over = inside[i] * (b[i] - a[i]), inside[i] * (moved[i] - a[i])
            summed[i] += still
            summed[STRIDE + i] += left_over
            summed[2 * STRIDE + i] += still * still
            summed[3 * STRIDE + i] += left_over * left_over
    for p in range(N_KEPT):
        to, line = kept[p * STRIDE + first :], summed[p * STRIDE :]
        for i in range(last - first):
            to[i] = line[2 * i] + line[2 * i + 1]


@compiled(**PART, **SUMS)
def _sum_square(above, here, below, n, sums, means):
    """Write the means of three kept rows over the square of 3 x 3 cells about n cells."""
    each = np.float32(1 / 36)
    for p in range(N_KEPT):
        a, b, c, to = above[p * STRIDE :], here[p * STRIDE :], below[p * STRIDE :], means[p * STRIDE :]
        for i in range(n + 2):
            sums[i] = a[i] + b[i] + c[i]
        for i in range(n):
            to[i] = each * (sums[i] + sums[i + 1] + sums[i + 2])


@compiled(**PART, **SUMS)
def _judge_row(means, own, noise, n, rows, judged):
    """Judge n cells: their velocity, squared error and confidence."""
    zero, one, half = np.float32(0), np.float32(1), np.float32(0.5)
    each, slow, quarter = np.float32(1 / 36), SLOW * SLOW, np.float32(0.25)
    near, far = quarter * OWN, one - OWN
    for i in range(n):
        s, m = means[i], means[STRIDE + i]
        at_rest = max(means[2 * STRIDE + i] - s * s, zero) + half * noise
        in_motion = max(means[3 * STRIDE + i] - m * m, zero) + half * noise
        u, v, doubt, sure = rows[i], rows[STRIDE + i], rows[2 * STRIDE + i], rows[3 * STRIDE + i]
        square = u * u + v * v
        quiet = max(ALIKE * noise, EIGHTH * in_motion)
        rests = (at_rest < half * in_motion) & (at_rest < quiet) & (square > slow)
        s, m = far * s + near * own[i], far * m + near * own[STRIDE + i]
        change = max(far * means[2 * STRIDE + i] + near * own[2 * STRIDE + i] - s * s, zero)
        explained = change - max(far * means[3 * STRIDE + i] + near * own[3 * STRIDE + i] - m * m, zero)
        total = change + noise
        told = min(max(TELLING * explained / (total if total > zero else one), zero), one)
        itself = quarter * own[2 * STRIDE + i]
        told = min(told, TELLING * itself / (itself + noise if itself + noise > zero else one))
        over = max(square - STILL * STILL, zero)
        unsure = over / (over + half * slow) * (one - told)
        gap = in_motion - at_rest
        judged[i], judged[STRIDE + i] = zero if rests else u, zero if rests else v
        judged[2 * STRIDE + i] = each * square * at_rest / (gap if rests else one) if rests else doubt
        judged[3 * STRIDE + i] = gap / in_motion if rests else sure * (one - unsure)


@compiled(**SUMS)
def judge_band(before, after, splines, first, last, estimates, known, noise, out, room):
    """Write rows first to last of velocity, squared error and confidence, judged cell by cell.

    Parameters
    ----------
    before, after : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Frames at this scale, with their borders.
    splines : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Coefficients of the frame after.
    first, last : int
        Rows of cells.
    estimates : ndarray, shape (2 or 4, n_rows, n_columns)
        Velocity, and squared error and confidence, so far, at every cell.
    known : ndarray, shape (2, height, width)
        The velocity at every pixel.
    noise : float32
        Variance of the change that is noise.
    out : ndarray, shape (2 or 4, n_rows, n_columns)
        Where to.
    room : ndarray
        The worker's.
    """
    size = N_KEPT * STRIDE
    ring, sums = room[(6 + N_KEPT) * STRIDE :], room[(6 + 4 * N_KEPT) * STRIDE :]
    means, rows = sums[STRIDE:], sums[STRIDE + size :]
    judged = rows[4 * STRIDE :]
    for x0 in range(0, estimates.shape[2], TILE):
        n = min(TILE, estimates.shape[2] - x0)
        for row in range(first - 1, last + 1):
            middle, slot = row - 1, (row - first + 1) % 3
            kept = ring[slot * size :]
            _keep_row(before, after, splines, estimates, known, row, x0 - 1, n + 2, room, kept)
            if middle < first:
                continue
            above, here = ring[(slot + 1) % 3 * size :], ring[(slot + 2) % 3 * size :]
            _sum_square(above, here, kept, n, sums, means)
            for p in range(len(out)):
                line, to = estimates[p, middle, x0 : x0 + n], rows[p * STRIDE :]
                for i in range(n):
                    to[i] = line[i]
            _judge_row(means, here[1:], noise, n, rows, judged)
            for p in range(len(out)):
                line, to = judged[p * STRIDE :], out[p, middle, x0 : x0 + n]
                for i in range(n):
                    to[i] = line[i]


@compiled(**SUMS)
def differ_band(velocity, confidence, first, last, room):
    """Lessen rows first to last of confidence where the velocity of a cell and of the four beside it differ.

    Parameters
    ----------
    velocity : ndarray, shape (2, n_rows, n_columns)
        At every cell.
    confidence : ndarray, shape (n_rows, n_columns)
        What is changed.
    first, last : int
        Rows.
    room : ndarray, shape (n_columns,) or more
        The worker's.
    """
    height, width = confidence.shape
    half, least = np.float32(0.5), NEXT * NEXT
    for y in range(first, last):
        room[:width] = np.float32(0)
        for p in range(2):
            here, above, below = velocity[p, y], velocity[p, max(y - 1, 0)], velocity[p, min(y + 1, height - 1)]
            for x in range(width):
                up, down = here[x] - above[x], here[x] - below[x]
                room[x] += up * up + down * down
            for x in range(width - 1):
                right = here[x] - here[x + 1]
                room[x] += right * right
            for x in range(1, width):
                left = here[x] - here[x - 1]
                room[x] += left * left
        u, v, sure = velocity[0, y], velocity[1, y], confidence[y]
        for x in range(width):
            square = half * (u[x] * u[x] + v[x] * v[x]) + least
            sure[x] *= square / (square + DIFFER * room[x])
