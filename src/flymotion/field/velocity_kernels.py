r"""The compiled kernels of velocity, and nothing else; :mod:`flymotion.field` says what they compute.

:func:`regress_band` carries the frame after by the velocity so far and solves the ridge regression of every window. It
works on a band of rows, so that bands can go to different cores, and inside it on tiles of columns whose rows of
intermediate results stay in the processor's cache.

Slopes and changes are those of pixels; windows stand on, and consist of, cells of 2 x 2 pixels, a quarter as many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.field.carrying import STRIDE
from flymotion.field.memory import aligned
from flymotion.field.products_of_rows import (
    N_FILTERED,
    add_products,
    filter_row,
    multiply_row,
    pair_columns,
    slope_row,
)
from flymotion.field.pyramid_kernels import PAD
from flymotion.field.window_sums import N_PRODUCTS, add_row, sum_window
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["Regression", "VelocityScratch", "regress_band"]


class Regression(NamedTuple):
    """What is solved at every pixel of a scale."""

    radius: int
    """Of the window [cells]."""
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
    paired: np.ndarray
    """Products of two rows of pixels."""
    products: np.ndarray
    """The same of a row of cells, of the window's rows, or sums from a row of a block to its last."""
    prefix: np.ndarray
    """Sums from a block's first row on."""
    sums: np.ndarray
    """Sums over the window's rows."""
    boxed: np.ndarray
    """Sums over its columns too."""
    known: np.ndarray
    """Prior and its squared error, and the reference velocity."""
    votes: np.ndarray
    """Of a row's windows; apart from what is read, so that the compiler can use the processor's vectors."""

    @classmethod
    def of(cls, radius: int) -> VelocityScratch:
        """Make room."""
        rows = (
            5,
            3,
            3 * N_FILTERED,
            6,
            N_PRODUCTS,
            (2 * radius + 1) * N_PRODUCTS,
            N_PRODUCTS,
            N_PRODUCTS,
            N_PRODUCTS,
            5,
            6,
        )
        return cls(*(aligned(n * STRIDE) for n in rows))


FIRM, FAST = np.float32(0.5), np.float32(16)
"""Ridge a unit of what noise leaves unexplained, at least; what is more where the prior is slow is half of that at a
quarter of a pixel a frame."""

SLOW = np.float32(0.2)
"""Speed below which a window is not asked whether it rests [pixels of its scale per frame]."""

ALIKE = np.float32(4)
"""Change, relative to what noise leaves unexplained, up to which a window may rest."""

TINY = np.float32(1e-4)
"""Ridge, relative to a window's slopes, of the solution that says what the window leaves unexplained."""

BEND = np.float32(0.05)
"""What of a mean square slope is nothing, where windows are weighted by what they leave unexplained."""

FAINT, LEAST_VOTE = np.float32(0.1), np.float32(0.05)
"""Slopes, relative to the mean square one, of a window that has half a vote; and the vote of one without any."""

IN_SLOPES = np.float32(0.25)
"""Mean square of the slopes that noise makes, relative to what it leaves unexplained."""

WINDOW, PRIOR, MENDED = np.float32(0.6), np.float32(2.3), np.float32(0.015)
"""Squared error, relative to what a window leaves unexplained, to what the coarser scale says of its own where the
window says little, and to the square of what the window has mended of it."""

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
    """Write the reference velocity of n cells of a row."""
    two, half = np.float32(2), np.float32(0.5)
    y = two * np.float32(y) + half
    for i in range(n):
        x = two * np.float32(x0 + i) + half
        out[i] = reference[0] + reference[1] * x + reference[2] * y
        out[STRIDE + i] = reference[3] + reference[4] * x + reference[5] * y


@compiled(**PART, **SUMS)
def _solve_row(sums, n, regression, known, votes):
    """Write the votes of the windows of one row: each its own ridge regression about the prior."""
    zero, one = np.float32(0), np.float32(1)
    _, ridge, noise, firmer, gain, power, _ = regression
    n_pixels = np.float32(4 * (2 * regression.radius + 1) ** 2)
    faint = FAINT * power * n_pixels
    faint = faint if faint > zero else one
    unit = one / (power if power > zero else one)
    gain = gain if gain > zero else one
    tiny, quiet = TINY * ridge, ALIKE * noise / n_pixels
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
        rest_x, rest_y = -known[3 * STRIDE + i], -known[4 * STRIDE + i]
        u, v = known[i] + rest_x, known[STRIDE + i] + rest_y
        x, y = _solved(a, b, c, e, f, TINY * (a + c) + tiny, u, v)
        p, q = known[i], known[STRIDE + i]
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
def _judge_row(sums, n, noise, known, votes):
    r"""Write how sure each window's vote is: its squared speed, squared error, and confidence, times the vote.

    With the window's matrix A of slopes, its ridge :math:`\lambda` and :math:`M = (A + \lambda)^{-1}`, what it leaves
    unexplained makes an error of variance tr(M A M) a unit, and the prior's error is left as :math:`\lambda M`.
    """
    zero, one, half, two, four = np.float32(0), np.float32(1), np.float32(0.5), np.float32(2), np.float32(4)
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
        dx = votes[STRIDE + i] / weight + known[3 * STRIDE + i] - known[i]
        dy = votes[2 * STRIDE + i] / weight + known[4 * STRIDE + i] - known[STRIDE + i]
        p, q = a + own, c + own
        det = max(p * q - b * b, own * (a + q))
        inverse = one / (det if det > zero else one)
        square = own * inverse * (p * p + q * q + two * b * b) * inverse  # the ridge times tr(M M)
        kept = half * own * square if det > zero else one
        doubt = WINDOW * left * max((p + q) * inverse - square, zero)
        doubt += PRIOR * kept * known[2 * STRIDE + i] + MENDED * (dx * dx + dy * dy)
        votes[4 * STRIDE + i] = votes[i] * doubt
        votes[5 * STRIDE + i] = votes[i] * share * agreement


@compiled(**PART, **SUMS)
def _multiply_rows(before, after, splines, row, left, n, velocity, reference, scratch):
    """Write the products of the two rows of pixels of a row of cells, n columns from ``left`` on."""
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    places, carried, filtered, slopes, paired = scratch[:5]
    n_rows = 0
    for y in range(2 * row, 2 * row + 2):
        filter_row(before, after, splines, velocity, y + 1, left - 1, n + 2, places, carried, filtered)
        if 1 <= y < height - 1:
            slope_row(filtered, velocity, reference, y, left, n, height, width, slopes)
            if n_rows:
                add_products(slopes, n, paired)
            else:
                multiply_row(slopes, n, paired)
            n_rows += 1
    if n_rows == 0:
        paired[:] = np.float32(0)


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
        By which the frame after is carried back, at every pixel.
    prior : ndarray, shape (3, n_rows, n_columns)
        What the coarser scale says, at every cell: velocity and squared error.
    regression : Regression
        What is solved.
    out : ndarray, shape (3 or 6, n_rows, n_columns)
        The votes: weight, and times it velocity along x and y, its square, squared error and confidence.
    scratch : VelocityScratch
        The worker's.
    """
    radius, reference = regression.radius, regression.reference
    places, carried, filtered, _, paired, products, prefix, sums, boxed, known, votes = scratch
    noise = regression.noise / np.float32(4 * (2 * radius + 1) ** 2)
    w, size = 2 * radius + 1, N_PRODUCTS * STRIDE
    tile, top = (STRIDE - 4) // 2 - 2 * radius, first - radius
    for x0 in range(0, out.shape[2], tile):
        n = min(tile, out.shape[2] - x0)
        left, wide = 2 * (x0 - radius), 2 * (n + 2 * radius)
        for y in range(2 * top - 1, 2 * top + 1):
            filter_row(before, after, splines, velocity, y, left - 1, wide + 2, places, carried, filtered)
        for row in range(top, last + radius):
            middle, slot = row - radius, (row - top) % w
            _multiply_rows(before, after, splines, row, left, wide, velocity, reference, scratch)
            pair_columns(paired, n + 2 * radius, products[slot * size :])
            add_row(products, prefix, slot, w, n + 2 * radius)
            if middle >= first:
                sum_window(products, prefix, (slot + 1) % w, radius, n, sums, boxed)
                for p in range(3):
                    line, to = prior[p, middle, x0 : x0 + n], known[p * STRIDE :]
                    for i in range(n):
                        to[i] = line[i]
                _refer_row(reference, middle, x0, n, known[3 * STRIDE :])
                _solve_row(boxed, n, regression, known, votes)
                if len(out) > 3:
                    _judge_row(boxed, n, noise, known, votes)
                for p in range(len(out)):
                    line, to = votes[p * STRIDE :], out[p, middle, x0 : x0 + n]
                    for i in range(n):
                        to[i] = line[i]
