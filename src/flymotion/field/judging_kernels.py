r"""The compiled kernel that looks once more whether the velocity, or rest, explains what a pixel did.

A window that holds a moving thing and still ground has one velocity. So the frame after is carried once more by what
was found, and about each pixel the variances of what is left, :math:`r_v`, and of the change as it is, :math:`r_0`, are
taken over 5 x 5 pixels, too few to reach far across an edge. Where :math:`r_0 < r_v / 2`, and is no more than four
times the noise or an eighth of :math:`r_v`, there is rest. Where the two are alike though the velocity is not small,
nothing here tells, and confidence is less; so it is where the pixel itself, at a square's rim on a moving thing, is
explained by rest.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.carrying import STRIDE, carry_row, places_of_row
from flymotion.field.memory import aligned
from flymotion.field.pyramid_kernels import PAD
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["judge_band", "judging_room"]

REACH = 2
"""Pixels that are looked at each way."""

N_KEPT = 4
"""Rows kept of every row of a frame: change as it is and once carried, and their squares."""

SLOW = np.float32(0.1)
"""Velocity below which a pixel has no say of its own [pixels of the scale per frame]."""

ALIKE = np.float32(4)
"""Change, relative to that of noise, up to which a pixel may rest."""

EIGHTH = np.float32(1 / 8)
"""Change, relative to what velocity leaves, up to which it may rest all the same."""

TELLING = np.float32(1.5)
"""Confidence is whole where what velocity explains is one part in so many of the change."""

REFUTED = np.float32(0.25)
"""Share of the noise that a pixel itself may have more after motion than at rest; beyond, confidence is less."""


def judging_room() -> np.ndarray:
    """Make room for a worker."""
    return aligned((5 + 3 + (2 * REACH + 1) * N_KEPT + 2 * N_KEPT + 1) * STRIDE)


@compiled(**PART, **SUMS)
def _keep_row(before, after, splines, estimates, y, left, n, room, kept):
    """Write what is kept of a row's n columns from ``left`` on: 0 outside the frame."""
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    first, last = max(0, -left), min(n, width - left)
    for p in range(N_KEPT):
        kept[p * STRIDE : p * STRIDE + n] = np.float32(0)
    if not (0 <= y < height and first < last):
        return
    x0, m = left + first, last - first
    places, carried, known = room, room[5 * STRIDE :], kept[first:]
    u, v = estimates[0, y, x0 : x0 + m], estimates[1, y, x0 : x0 + m]
    places_of_row(u, v, y, x0, m, height, width, places, known)
    carry_row(before, after, splines, y, x0, m, places, carried)
    for i in range(m):
        moved, still = carried[STRIDE + i], carried[2 * STRIDE + i]
        moved = moved if known[i] > np.float32(0) else still
        kept[first + i], kept[STRIDE + first + i] = still, moved
        kept[2 * STRIDE + first + i], kept[3 * STRIDE + first + i] = still * still, moved * moved


@compiled(**PART, **SUMS)
def _sum_square(ring, n, sums, means):
    """Write the means of the kept rows over the square about n pixels."""
    size, each = N_KEPT * STRIDE, np.float32(1 / (2 * REACH + 1) ** 2)
    for p in range(N_KEPT):
        column, row, to = ring[p * STRIDE :], sums, means[p * STRIDE :]
        for i in range(n + 2 * REACH):
            row[i] = (
                (column[i] + column[size + i]) + column[2 * size + i] + (column[3 * size + i] + column[4 * size + i])
            )
        for i in range(n):
            to[i] = each * ((row[i] + row[i + 1]) + row[i + 2] + (row[i + 3] + row[i + 4]))


@compiled(**PART, **SUMS)
def _judge_row(means, own, noise, n, rows):
    """Judge n pixels: their velocity, squared error and confidence."""
    zero, one, half = np.float32(0), np.float32(1), np.float32(0.5)
    each = np.float32(1 / (2 * REACH + 1) ** 2)
    for i in range(n):
        s, m = means[i], means[STRIDE + i]
        at_rest = max(means[2 * STRIDE + i] - s * s, zero) + half * noise
        in_motion = max(means[3 * STRIDE + i] - m * m, zero) + half * noise
        u, v, doubt, sure = rows[i], rows[STRIDE + i], rows[2 * STRIDE + i], rows[3 * STRIDE + i]
        square = u * u + v * v
        quiet = max(ALIKE * noise, EIGHTH * in_motion)
        rests = (at_rest < half * in_motion) & (at_rest < quiet) & (square > SLOW * SLOW)
        told = min(max(TELLING * (one - in_motion / (at_rest if at_rest > zero else one)), zero), one)
        unsure = square / (square + SLOW * SLOW) * (one - told)
        here, there = own[i], own[STRIDE + i]
        refuted = there * there / (here * here + REFUTED * noise)
        unsure = max(unsure, square / (square + SLOW * SLOW) * (one - one / max(refuted, one)))
        gap = in_motion - at_rest
        rows[i], rows[STRIDE + i] = zero if rests else u, zero if rests else v
        rows[2 * STRIDE + i] = each * square * at_rest / (gap if rests else one) if rests else doubt
        rows[3 * STRIDE + i] = gap / in_motion if rests else sure * (one - unsure)


@compiled(**SUMS)
def judge_band(before, after, splines, first, last, estimates, noise, out, room):
    """Write rows first to last of velocity, squared error and confidence, judged pixel by pixel.

    Parameters
    ----------
    before, after : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Frames at this scale, with their borders.
    splines : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Coefficients of the frame after.
    first, last : int
        Rows.
    estimates : ndarray, shape (2 or 4, height, width)
        Velocity, and squared error and confidence, so far.
    noise : float32
        Variance of the change that is noise.
    out : ndarray, shape (2 or 4, height, width)
        Where to.
    room : ndarray
        The worker's.
    """
    width = before.shape[1] - 2 * PAD
    w, tile, size = 2 * REACH + 1, STRIDE - 2 * REACH, N_KEPT * STRIDE
    ring, means = room[8 * STRIDE :], room[8 * STRIDE + w * size :]
    rows, sums = means[size:], means[2 * size :]
    for x0 in range(0, width, tile):
        n = min(tile, width - x0)
        for y in range(first - REACH, last + REACH):
            middle, slot = y - REACH, (y - first + REACH) % w
            kept = ring[slot * size : (slot + 1) * size]
            _keep_row(before, after, splines, estimates, y, x0 - REACH, n + 2 * REACH, room, kept)
            if middle < first:
                continue
            _sum_square(ring, n, sums, means)
            for p in range(len(out)):
                line, to = estimates[p, middle, x0 : x0 + n], rows[p * STRIDE :]
                for i in range(n):
                    to[i] = line[i]
            _judge_row(means, ring[(y - first) % w * size + REACH :], noise, n, rows)
            for p in range(len(out)):
                line, to = rows[p * STRIDE :], out[p, middle, x0 : x0 + n]
                for i in range(n):
                    to[i] = line[i]
