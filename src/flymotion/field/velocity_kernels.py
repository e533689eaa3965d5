r"""The compiled kernels of velocity, and nothing else; :mod:`flymotion.field` says what they compute.

:func:`regress_band` carries the frame after by the velocity so far and solves the ridge regression of every window. It
works on a band of rows, so that bands can go to different cores, and inside it on tiles of columns whose rows of
intermediate results stay in the processor's cache.

With the mean m of the frame before and the carried one, and d their difference, the rows of a frame that are kept are
the slope along x of m and, smoothed along x, m, d, the difference to the frame after as it is, and which pixels have
data; the rows of products are those of both slopes, the change and m.

"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.field.carrying import STRIDE, carry_row, places_of_row
from flymotion.field.memory import aligned
from flymotion.field.pyramid_kernels import PAD
from flymotion.field.window_sums import N_PRODUCTS, add_row, sum_window
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["Regression", "VelocityScratch", "regress_band"]

N_FILTERED = 5
"""Rows kept of every row of a frame."""

SIDE, MIDDLE = np.float32(3 / 16), np.float32(10 / 16)
"""Weights that smooth across the slope, and the change both ways."""


class Regression(NamedTuple):
    """What is solved at every pixel of a scale."""

    radius: int
    """Of the window."""
    ridge: np.float32
    """Of a window, at least."""
    noise: np.float32
    """What noise may leave unexplained in a window."""
    firmer: np.float32
    """Ridge a unit of that where the prior is slow, more than where it is fast."""
    gain: np.float32
    """Ridge on the change of light of a window."""
    power: np.float32
    """Mean square slope."""
    reference: tuple[np.float32, ...]
    """About the motion of the whole frame, that velocities are written relative to: x at the first pixel, its slopes
    along x and y, and the same of y. So a window holds what turns and grows with the frame, too."""


class VelocityScratch(NamedTuple):
    """A worker's room: rows of ``STRIDE`` numbers end to end, which the compiler then knows to be apart."""

    places: np.ndarray
    """Where the pixels of a row come from: column and what is over, row and what is over; and what is there."""
    carried: np.ndarray
    """m, d, and the difference to the frame as it is, of one row."""
    filtered: np.ndarray
    """Slope along x, and smoothed along x m, d and that difference, and which have data, of three rows of the frame."""
    slopes: np.ndarray
    """Slopes along x and y, change, mean, change at rest, and which have data, of one row."""
    products: np.ndarray
    """Their products, of the window's rows, or sums from a row of a block to its last."""
    prefix: np.ndarray
    """Sums from a block's first row on."""
    sums: np.ndarray
    """Sums over the window's rows."""
    boxed: np.ndarray
    """Sums over its columns too."""
    solved: np.ndarray
    """Prior and its squared error; the votes of a row's windows; and the reference velocity."""

    @classmethod
    def of(cls, radius: int) -> VelocityScratch:
        """Make room."""
        rows = (5, 3, 3 * N_FILTERED, 6, (2 * radius + 1) * N_PRODUCTS, N_PRODUCTS, N_PRODUCTS, N_PRODUCTS, 11)
        return cls(*(aligned(n * STRIDE) for n in rows))


@compiled(**PART, **SUMS)
def _filter_row(before, after, splines, velocity, y, left, n, places, carried, filtered):
    """Write the kept rows of a row's columns from ``left`` on, one less each side than are carried."""
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    size = N_FILTERED * STRIDE
    row = filtered[(y % 3) * size : (y % 3 + 1) * size]
    first, last = max(0, -left), min(n, width - left)
    if not (0 <= y < height and first < last):
        row[:] = np.float32(0)
        return
    known = row[4 * STRIDE :]
    x0, m = left + first, last - first
    u, v = velocity[0, y, x0 : x0 + m], velocity[1, y, x0 : x0 + m]
    places_of_row(u, v, y, x0, m, height, width, places, known[first:])
    carry_row(before, after, splines, y, x0, m, places, carried[first:])
    for k in range(3):
        carried[k * STRIDE : k * STRIDE + first] = np.float32(0)
        carried[k * STRIDE + last : k * STRIDE + n] = np.float32(0)
    known[:first] = np.float32(0)
    known[last:n] = np.float32(0)
    half = np.float32(0.5)
    for i in range(n - 2):
        row[i] = half * (carried[i + 2] - carried[i])  # Eq. 30
        known[i] = known[i + 1]
    for k in range(3):
        line, to = carried[k * STRIDE :], row[(k + 1) * STRIDE :]
        for i in range(n - 2):
            to[i] = SIDE * (line[i] + line[i + 2]) + MIDDLE * line[i + 1]


@compiled(**PART, **SUMS)
def _slope_row(filtered, velocity, reference, y, left, n, height, width, slopes):
    """Write slopes, change, mean and change at rest of a row's columns; 0 where there is no data, or no neighbour."""
    size, half, zero = N_FILTERED * STRIDE, np.float32(0.5), np.float32(0)
    up, here, down = (y - 1) % 3 * size, y % 3 * size, (y + 1) % 3 * size
    above, row, below = filtered[up : up + size], filtered[here : here + size], filtered[down : down + size]
    first, last = max(0, 1 - left), min(n, width - 1 - left)
    known = slopes[5 * STRIDE :]
    for i in range(n):
        known[i] = row[4 * STRIDE + i]
    known[:first] = zero
    known[max(last, 0) : n] = zero
    for i in range(n):
        same = SIDE * (above[3 * STRIDE + i] + below[3 * STRIDE + i]) + MIDDLE * row[3 * STRIDE + i] == zero
        known[i] *= MISSING if same else np.float32(1)
    for i in range(n):
        slopes[i] = known[i] * (SIDE * (above[i] + below[i]) + MIDDLE * row[i])
        slopes[STRIDE + i] = known[i] * half * (below[STRIDE + i] - above[STRIDE + i])
    for k in range(1, 4):
        up, to = k * STRIDE, slopes[(3 if k == 1 else 2 if k == 2 else 4) * STRIDE :]
        for i in range(n):
            to[i] = known[i] * (SIDE * (above[up + i] + below[up + i]) + MIDDLE * row[up + i])
    inside, n_inside = max(0, -left), min(n, width - left) - max(0, -left)
    u, v = velocity[0, y, left + inside :], velocity[1, y, left + inside :]
    g, h, t = slopes[inside:], slopes[STRIDE + inside :], slopes[2 * STRIDE + inside :]
    x0, xx, xy, y0, yx, yy = reference
    x0, y0 = x0 + xy * np.float32(y), y0 + yy * np.float32(y)
    for i in range(n_inside):
        x = np.float32(left + inside + i)
        t[i] -= g[i] * (u[i] - x0 - xx * x) + h[i] * (v[i] - y0 - yx * x)  # as if the reference alone were carried


@compiled(**PART, **SUMS)
def _multiply_row(slopes, n, products):
    """Write the products of a row."""
    for i in range(n):
        g, h, t, m = slopes[i], slopes[STRIDE + i], slopes[2 * STRIDE + i], slopes[3 * STRIDE + i]
        products[i] = g * g
        products[STRIDE + i] = g * h
        products[2 * STRIDE + i] = h * h
        products[3 * STRIDE + i] = g * t  # Eq. 32
        products[4 * STRIDE + i] = h * t
        products[5 * STRIDE + i] = t * t
        products[6 * STRIDE + i] = g * m
        products[7 * STRIDE + i] = h * m
        products[8 * STRIDE + i] = m * m
        products[9 * STRIDE + i] = t * m
        products[10 * STRIDE + i] = slopes[4 * STRIDE + i] * slopes[4 * STRIDE + i]
        products[11 * STRIDE + i] = slopes[5 * STRIDE + i] * slopes[5 * STRIDE + i]


SLOW = np.float32(0.2)
"""Speed below which a window is not asked whether it rests [pixels of its scale per frame]."""

ALIKE = np.float32(4)
"""Change, relative to what noise leaves unexplained, up to which a window may rest."""

FIRM, FAST = np.float32(0.5), np.float32(16)
"""Ridge a unit of what noise leaves unexplained, at least; what is more where the prior is slow is half of that at a
quarter of a pixel a frame."""

TINY = np.float32(1e-4)
"""Ridge, relative to a window's slopes, of the solution that says what the window leaves unexplained."""

BEND = np.float32(0.05)
"""What of a mean square slope is nothing, where windows are weighted by what they leave unexplained."""

FAINT, LEAST_VOTE = np.float32(0.1), np.float32(0.05)
"""Slopes, relative to the mean square one, of a window that has half a vote; and the vote of one without any."""

IN_SLOPES = np.float32(0.25)
"""Mean square of the slopes that noise makes, relative to what it leaves unexplained."""

MENDED = np.float32(0.05)
"""Share of the square of what a scale has mended of the coarser one's velocity that may still be wrong."""

MISSING = np.float32(0.15)
"""Weight of pixels that are the same in both frames, as a codec leaves out what changes little: no data, nearly."""

AT_REST = np.float32(0.5)
"""Share of what velocity leaves unexplained, below which rest leaves less by more than chance."""


@compiled(**PART, **SUMS)
def _solved(a, b, c, e, f, ridge, u, v):
    """Return the solution of two normal equations about u, v; and these where there is none.

    With a ridge the determinant has a least value, which rounding may miss where there is hardly any slope.
    """
    p, q = a + ridge, c + ridge
    det = max(p * q - b * b, ridge * (a + q))
    inverse = np.float32(1) / (det if det > np.float32(0) else np.float32(1))
    r, s = ridge * u - e, ridge * v - f
    some = det > np.float32(0)
    return (inverse * (q * r - b * s) if some else u), (inverse * (p * s - b * r) if some else v)


@compiled(**PART, **SUMS)
def _left_over(a, b, c, e, f, s, x, y):
    """Return what of the sum s velocity x, y leaves unexplained."""
    two = np.float32(2)
    return max(s + x * (two * e + x * a + two * y * b) + y * (two * f + y * c), np.float32(0))


@compiled(**PART, **SUMS)
def _refer_row(reference, y, x0, n, out):
    """Write the reference velocity of n pixels of a row."""
    for i in range(n):
        x = np.float32(x0 + i)
        out[i] = reference[0] + reference[1] * x + reference[2] * np.float32(y)
        out[STRIDE + i] = reference[3] + reference[4] * x + reference[5] * np.float32(y)


@compiled(**PART, **SUMS)
def _solve_row(sums, n, regression, solved):
    """Write the votes of the windows of one row: each its own ridge regression about the prior."""
    zero, one = np.float32(0), np.float32(1)
    _, ridge, noise, firmer, gain, power, _ = regression
    faint = FAINT * power * np.float32((2 * regression.radius + 1) ** 2)
    faint = faint if faint > zero else one
    unit = one / (power if power > zero else one)
    gain = gain if gain > zero else one
    tiny, quiet = TINY * ridge, ALIKE * noise / np.float32((2 * regression.radius + 1) ** 2)
    votes = solved[3 * STRIDE :]
    for i in range(n):
        m, gm, hm, tm = sums[8 * STRIDE + i], sums[6 * STRIDE + i], sums[7 * STRIDE + i], sums[9 * STRIDE + i]
        k = one / (m + gain)  # light: what is proportional to m is no motion
        a, c = max(sums[i] - gm * gm * k, zero), max(sums[2 * STRIDE + i] - hm * hm * k, zero)
        b = sums[STRIDE + i] - gm * hm * k
        e, f, s = (
            sums[3 * STRIDE + i] - gm * tm * k,
            sums[4 * STRIDE + i] - hm * tm * k,
            sums[5 * STRIDE + i] - tm * tm * k,
        )
        rest_x, rest_y = -solved[9 * STRIDE + i], -solved[10 * STRIDE + i]
        u, v = solved[i] + rest_x, solved[STRIDE + i] + rest_y
        x, y = _solved(a, b, c, e, f, TINY * (a + c) + tiny, u, v)
        p, q = solved[i], solved[STRIDE + i]
        firm = FIRM + firmer / (one + FAST * (p * p + q * q))
        own = ridge + firm * min(_left_over(a, b, c, e, f, s, x, y), noise)
        x, y = _solved(a, b, c, e, f, own, u, v)  # Eq. 29, in two dimensions, of content
        each = one / max(sums[11 * STRIDE + i], one)
        left, still = _left_over(a, b, c, e, f, s, x, y) * each, sums[10 * STRIDE + i] * each
        p, q = x - rest_x, y - rest_y
        rests = (still < AT_REST * left) & (still < quiet) & (p * p + q * q > SLOW * SLOW)
        x, y, left = (rest_x if rests else x), (rest_y if rests else y), (still if rests else left)
        bad = BEND + left * unit
        vote = (LEAST_VOTE + (a + c) / (a + c + faint)) / (bad * bad * bad)
        votes[i], votes[STRIDE + i], votes[2 * STRIDE + i] = vote, vote * x, vote * y
        sums[i], sums[STRIDE + i], sums[2 * STRIDE + i] = a, b, c
        sums[3 * STRIDE + i], sums[4 * STRIDE + i] = own, left
        sums[5 * STRIDE + i], sums[6 * STRIDE + i] = x * x + y * y, (a + c) * each
        sums[7 * STRIDE + i] = sums[11 * STRIDE + i]


@compiled(**PART, **SUMS)
def _judge_row(sums, n, noise, solved):
    """Write how sure each window's vote is: its squared speed, squared error, and confidence, times the vote."""
    zero, one, half, four = np.float32(0), np.float32(1), np.float32(0.5), np.float32(4)
    votes = solved[3 * STRIDE :]
    for i in range(n):
        a, b, c, own, left = sums[i], sums[STRIDE + i], sums[2 * STRIDE + i], sums[3 * STRIDE + i], sums[4 * STRIDE + i]
        least = half * (a + c - np.sqrt((a - c) * (a - c) + four * b * b))
        least = max(least - IN_SLOPES * noise * sums[7 * STRIDE + i], zero)
        whole = one / (least + own if least + own > zero else one)
        excess, texture = max(left - noise, zero), sums[6 * STRIDE + i]
        agreement = texture / (texture + four * excess if texture > zero else one)
        share = least * whole
        votes[3 * STRIDE + i] = votes[i] * sums[5 * STRIDE + i]
        weight = votes[i]
        dx = votes[STRIDE + i] / weight + solved[9 * STRIDE + i] - solved[i]
        dy = votes[2 * STRIDE + i] / weight + solved[10 * STRIDE + i] - solved[STRIDE + i]
        doubt = np.float32(2.5) * share * left * whole + (one - share) * (one - share) * solved[2 * STRIDE + i]
        doubt += MENDED * (dx * dx + dy * dy)
        votes[4 * STRIDE + i] = votes[i] * doubt
        votes[5 * STRIDE + i] = votes[i] * share * agreement


@compiled(**SUMS)
def regress_band(before, after, splines, first, last, velocity, prior, regression, out, scratch):
    """Write rows first to last of the votes of windows.

    Parameters
    ----------
    before, after : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Frames at this scale, with their borders.
    splines : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Coefficients of the frame after.
    first, last : int
        Rows.
    velocity : ndarray, shape (2, height, width)
        By which the frame after is carried back.
    prior : ndarray, shape (3, height, width)
        What the coarser scale says: velocity and squared error.
    regression : Regression
        What is solved.
    out : ndarray, shape (3 or 6, height, width)
        The votes: weight, and times it velocity along x and y, its square, squared error and confidence.
    scratch : VelocityScratch
        The worker's.
    """
    radius, reference = regression.radius, regression.reference
    places, carried, filtered, slopes, products, prefix, sums, boxed, solved = scratch
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    noise = regression.noise / np.float32((2 * radius + 1) ** 2)
    w, tile, size = 2 * radius + 1, STRIDE - 2 * radius - 4, N_PRODUCTS * STRIDE
    top = first - radius
    for x0 in range(0, width, tile):
        n = min(tile, width - x0)
        left, wide = x0 - radius, n + 2 * radius
        for y in range(top - 1, top + 1):
            _filter_row(before, after, splines, velocity, y, left - 1, wide + 2, places, carried, filtered)
        for y in range(top, last + radius):
            middle, slot = y - radius, (y - top) % w
            _filter_row(before, after, splines, velocity, y + 1, left - 1, wide + 2, places, carried, filtered)
            row = products[slot * size : (slot + 1) * size]
            if 1 <= y < height - 1:
                _slope_row(filtered, velocity, reference, y, left, wide, height, width, slopes)
                _multiply_row(slopes, wide, row)
            else:
                row[:] = np.float32(0)
            add_row(products, prefix, slot, w, wide)
            if middle >= first:
                sum_window(products, prefix, (slot + 1) % w, radius, n, sums, boxed)
                for p in range(3):
                    line, to = prior[p, middle, x0 : x0 + n], solved[p * STRIDE :]
                    for i in range(n):
                        to[i] = line[i]
                _refer_row(reference, middle, x0, n, solved[9 * STRIDE :])
                _solve_row(boxed, n, regression, solved)
                if len(out) > 3:
                    _judge_row(boxed, n, noise, solved)
                for p in range(len(out)):
                    line, to = solved[(3 + p) * STRIDE :], out[p, middle, x0 : x0 + n]
                    for i in range(n):
                        to[i] = line[i]
