r"""The compiled kernels of motion fields, and nothing else; :mod:`flymotion.field` says what they compute.

Each works on a band of rows, so that bands can go to different cores, and inside it on tiles of columns whose rows of
intermediate results stay in the processor's cache. With ``m2 = before + after``, twice the midpoint frame, and
``dt = after - before``,

.. math:: g = m2(x + 1) - m2(x - 1), \quad h = m2(y + 1) - m2(y - 1)

are four times the slopes; for the velocity, g is smoothed along y, h along x and dt along both, and the rows of
products are ``g g, g h, h h, g dt, h dt``. Frames of uint8 give the numbers that the same frames in float32 give.

Sums over the window's rows are those of a block's last rows and of the next block's first (van Herk 1992), three
additions for a window of any size; nothing is subtracted again, so that no rounding is left behind by brighter rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.field.memory import aligned
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["Regression", "VelocityScratch", "halve", "slope_power", "velocity_band"]

STRIDE = 656
"""Numbers from one row of intermediate results to the next in :func:`velocity_band`: an odd number of cache lines, as
rows that are a power of 2 apart get into each other's way."""

N_FILTERED, N_PRODUCTS = 5, 5
"""Rows of filtered frames (m2, dt, g, m2 and dt smoothed), and of products, of every row of a frame."""

SIDE, MIDDLE = np.float32(3 / 16), np.float32(10 / 16)
"""Weights that smooth across the slope, and the change both ways."""


@compiled(**SUMS)
def halve(frame, out, first, last):
    """Write rows first to last of the means over 2 x 2 pixels; an odd last row or column is left out."""
    quarter = np.float32(0.25)
    for y in range(first, last):
        a, b, to = frame[2 * y], frame[2 * y + 1], out[y]
        for x in range(len(to)):
            p, q = np.float32(a[2 * x]) + np.float32(a[2 * x + 1]), np.float32(b[2 * x]) + np.float32(b[2 * x + 1])
            to[x] = quarter * (p + q)


@compiled(**SUMS)
def slope_power(frame, step):
    """Return the mean square of the slopes along x and y, central differences, over every step-th row."""
    total, n_rows = 0.0, 0
    height, width = frame.shape
    for y in range(1, height - 1, step):
        above, row, below = frame[y - 1, 1:], frame[y], frame[y + 1, 1:]
        power = np.float32(0)
        for x in range(width - 2):
            g = np.float32(row[x + 2]) - np.float32(row[x])
            h = np.float32(below[x]) - np.float32(above[x])
            power += g * g + h * h
        total += float(power)
        n_rows += 1
    return total / (8.0 * n_rows * (width - 2))


class Regression(NamedTuple):
    """What is solved at every pixel of a scale."""

    radius: int
    """Of the window; 0 where nothing is estimated."""
    ridge: np.float32
    """Of a window."""
    noise: np.float32
    """Of a window: the square of its slopes that noise makes."""
    limit: np.float32
    """Square of the speed up to which the scale is trusted."""
    estimated: bool
    """Whether velocity is estimated here; otherwise it is the coarser scale's."""


class VelocityScratch(NamedTuple):
    """A worker's room: rows of ``STRIDE`` numbers end to end, which the compiler then knows to be apart."""

    filtered: np.ndarray
    """m2, dt, g, and m2 and dt smoothed, of three rows of the frame."""
    slopes: np.ndarray
    """Slopes along x and y, and the change, of one row."""
    products: np.ndarray
    """Their products, of the window's rows, or sums from a row of a block to its last."""
    prefix: np.ndarray
    """Sums from a block's first row on."""
    sums: np.ndarray
    """Sums over the window's rows."""
    boxed: np.ndarray
    """Sums over its columns too."""
    mixed: np.ndarray
    """A row of the coarser scale, between its rows."""
    fine: np.ndarray
    """Its velocity and confidence, between its pixels."""

    @classmethod
    def of(cls, radius: int) -> VelocityScratch:
        """Make room."""
        rows = (3 * N_FILTERED, 3, (2 * radius + 1) * N_PRODUCTS, N_PRODUCTS, N_PRODUCTS, N_PRODUCTS, 3, 3)
        return cls(*(aligned(n * STRIDE) for n in rows))


@compiled(**PART, **SUMS)
def _filter_row(before, after, y, left, n, smooth, filtered):
    """Write a row's n columns from ``left`` on: m2, dt, and, one column less each side, g, m2 and dt smoothed in x."""
    height, width = before.shape
    base = (y % 3) * N_FILTERED * STRIDE
    row = filtered[base : base + N_FILTERED * STRIDE]
    first, last = max(0, -left), min(n, width - left)
    if not (0 <= y < height and first < last):
        row[:] = np.float32(0)
        return
    a, b = before[y, left + first : left + last], after[y, left + first : left + last]
    to = row[first:]
    for i in range(last - first):
        p, q = np.float32(a[i]), np.float32(b[i])
        to[i] = p + q
        to[STRIDE + i] = q - p
    for k in range(2):
        row[k * STRIDE : k * STRIDE + first] = np.float32(0)
        row[k * STRIDE + last : k * STRIDE + n] = np.float32(0)
    for i in range(n - 2 if smooth else 0):
        row[2 * STRIDE + i] = row[i + 2] - row[i]  # Eq. 30, times 4
        row[3 * STRIDE + i] = SIDE * (row[i] + row[i + 2]) + MIDDLE * row[i + 1]
        row[4 * STRIDE + i] = SIDE * (row[STRIDE + i] + row[STRIDE + i + 2]) + MIDDLE * row[STRIDE + i + 1]


@compiled(**PART, **SUMS)
def _multiply_row(filtered, y, height, width, left, n, slopes, products):
    """Write the products of a row's columns from ``left`` on; 0 for pixels that lack a neighbour."""
    if y < 1 or y >= height - 1:
        products[:] = np.float32(0)
        return
    size = N_FILTERED * STRIDE
    up, here, down = (y - 1) % 3 * size, y % 3 * size, (y + 1) % 3 * size
    above, row, below = filtered[up : up + size], filtered[here : here + size], filtered[down : down + size]
    for i in range(n):
        slopes[i] = SIDE * (above[2 * STRIDE + i] + below[2 * STRIDE + i]) + MIDDLE * row[2 * STRIDE + i]
        slopes[STRIDE + i] = below[3 * STRIDE + i] - above[3 * STRIDE + i]
        slopes[2 * STRIDE + i] = SIDE * (above[4 * STRIDE + i] + below[4 * STRIDE + i]) + MIDDLE * row[4 * STRIDE + i]
    for k in range(3):
        if left <= 0:
            slopes[k * STRIDE : k * STRIDE + 1 - left] = np.float32(0)
        if left + n >= width:
            slopes[k * STRIDE + width - 1 - left : k * STRIDE + n] = np.float32(0)
    for i in range(n):
        g, h, dt = slopes[i], slopes[STRIDE + i], slopes[2 * STRIDE + i]
        products[i] = g * g
        products[STRIDE + i] = g * h
        products[2 * STRIDE + i] = h * h
        products[3 * STRIDE + i] = g * dt  # Eq. 32
        products[4 * STRIDE + i] = h * dt


@compiled(**PART, **SUMS)
def _rectified_row(dt, before, after, first, last, positive, negative):
    """Write a row's responses to one direction and to its opposite; 0 but from first to last."""
    half, zero = np.float32(-0.5), np.float32(0)
    for i in range(len(positive)):
        r = half * dt[i] * (after[i] - before[i])  # Eq. 33, at the midpoint, and of content: negative
        positive[i] = r if r > zero else zero
        negative[i] = -r if r < zero else zero
    for out in (positive, negative):
        out[:first] = zero
        out[last:] = zero


@compiled(**PART, **SUMS)
def _signed_row(dt, before, after, first, last, signed):
    """Write the difference of both; 0 but from first to last."""
    half, zero = np.float32(-0.5), np.float32(0)
    for i in range(len(signed)):
        signed[i] = half * dt[i] * (after[i] - before[i])  # Eq. 33, likewise
    signed[:first] = zero
    signed[last:] = zero


@compiled(**PART, **SUMS)
def _write_responses(filtered, y, x0, shift, n, height, width, directions, opponent):
    """Write the three-pixel responses of a row; its m2 and dt begin ``shift`` columns before x0."""
    size = N_FILTERED * STRIDE
    up, here, down = (y - 1) % 3 * size + shift, y % 3 * size + shift, (y + 1) % 3 * size + shift
    above, left, right, below = filtered[up:], filtered[here - 1 :], filtered[here + 1 :], filtered[down:]
    dt, x1 = filtered[here + STRIDE :], x0 + n
    first, last = 1 if x0 == 0 else 0, n - 1 if x1 == width else n
    top, bottom = (n, n) if y == 0 or y == height - 1 else (0, n)
    if directions.shape[1]:
        _rectified_row(dt, left, right, first, last, directions[0, y, x0:x1], directions[2, y, x0:x1])
        _rectified_row(dt, above, below, top, bottom, directions[3, y, x0:x1], directions[1, y, x0:x1])
    if opponent.shape[1]:
        _signed_row(dt, left, right, first, last, opponent[0, y, x0:x1])
        _signed_row(dt, above, below, top, bottom, opponent[1, y, x0:x1])


@compiled(**PART, **SUMS)
def _add_row(products, prefix, slot, w, n):
    """Add a row to the prefix of its block; sum the rows of a complete block from the last one up."""
    size = N_PRODUCTS * STRIDE
    if slot == w - 1:
        for k in range(w - 2, -1, -1):
            here, below = products[k * size : (k + 1) * size], products[(k + 1) * size : (k + 2) * size]
            for p in range(N_PRODUCTS):
                for i in range(n):
                    here[p * STRIDE + i] += below[p * STRIDE + i]
        return
    row = products[slot * size : (slot + 1) * size]
    if slot == 0:
        prefix[:] = np.float32(0)
    for p in range(N_PRODUCTS):
        for i in range(n):
            prefix[p * STRIDE + i] += row[p * STRIDE + i]


@compiled(**PART, **SUMS)
def _sum_window(products, prefix, k, radius, n, sums, boxed):
    """Sum over the window: rows from slot k on are of one block, the prefix of the next; then n columns."""
    size, width, zero = N_PRODUCTS * STRIDE, 2 * radius + 1, np.float32(0)
    tail = products[k * size : (k + 1) * size]
    for p in range(N_PRODUCTS):
        to, out = sums[p * STRIDE : (p + 1) * STRIDE], boxed[p * STRIDE : (p + 1) * STRIDE]
        for i in range(n + 2 * radius if k else 0):
            to[i] = tail[p * STRIDE + i] + prefix[p * STRIDE + i]
        rows = to if k else tail[p * STRIDE : (p + 1) * STRIDE]
        j = 0
        while j + 8 <= width:
            some = rows[j:]
            for i in range(n):
                left = (some[i] + some[i + 1]) + (some[i + 2] + some[i + 3])
                right = (some[i + 4] + some[i + 5]) + (some[i + 6] + some[i + 7])
                out[i] = (out[i] if j else zero) + (left + right)
            j += 8
        while j < width:
            some = rows[j:]
            for i in range(n):
                out[i] = (out[i] if j else zero) + some[i]
            j += 1


@compiled(**PART, **SUMS)
def _refine_row(coarse, gain, y, x0, n, mixed, out):
    """Write gain times a plane of the coarser scale at row y, linear between its pixels; x0 is even."""
    height, width = coarse.shape
    near, far = np.float32(0.75), np.float32(0.25)
    row = min(y // 2, height - 1)
    other = min(max(y // 2 + 2 * (y % 2) - 1, 0), height - 1)
    left, count = x0 // 2 - 1, (n + 1) // 2 + 2
    first, last = max(0, -left), min(count, width - left)
    a, b = coarse[row, left + first : left + last], coarse[other, left + first : left + last]
    inner = mixed[first:last]
    for i in range(last - first):
        inner[i] = gain * (near * a[i] + far * b[i])
    mixed[:first] = inner[0]
    mixed[last:count] = inner[last - first - 1]
    for i in range(n // 2):
        out[2 * i] = near * mixed[i + 1] + far * mixed[i]
        out[2 * i + 1] = near * mixed[i + 1] + far * mixed[i + 2]
    if n % 2:
        out[n - 1] = near * mixed[n // 2 + 1] + far * mixed[n // 2]


@compiled(**PART, **SUMS)
def _solve_row(sums, ridge, noise, n, fine, limit, vx, vy, confidence):
    """Solve the ridge regression of one row about the coarser scale's estimate; where that is fast, take it."""
    zero, one, four = np.float32(0), np.float32(1), np.float32(4)
    for i in range(n):
        a, b, c = sums[i] + ridge, sums[STRIDE + i], sums[2 * STRIDE + i] + ridge
        det = a * c - b * b
        inverse = one / (det if det > zero else one)
        u, v = fine[i], fine[STRIDE + i]
        p, q = ridge * u - four * sums[3 * STRIDE + i], ridge * v - four * sums[4 * STRIDE + i]
        solved = det > zero and u * u + v * v <= limit
        vx[i] = inverse * (c * p - b * q) if solved else u  # Eq. 29, in two dimensions, of content
        vy[i] = inverse * (a * q - b * p) if solved else v
    for i in range(len(confidence)):
        a, b, c = sums[i], sums[STRIDE + i], sums[2 * STRIDE + i]
        least = np.float32(0.5) * (a + c - np.sqrt((a - c) * (a - c) + np.float32(4) * b * b))
        whole, least = least + ridge, least - noise
        u, v = fine[i], fine[STRIDE + i]
        share = least / whole if least > zero else zero
        confidence[i] = fine[2 * STRIDE + i] if u * u + v * v > limit else share


@compiled(**SUMS)
def velocity_band(before, after, first, last, regression, coarse, out, scratch):
    """Write rows first to last of a three-pixel field.

    Parameters
    ----------
    before, after : ndarray, shape (height, width)
        Frames at this scale.
    regression : Regression
        What is solved.
    coarse : ndarray, shape (3, height, width)
        Velocity and confidence of the next coarser scale; of height 0 on the coarsest.
    out : Field
        Where the results go; of height 0 where not wanted.
    scratch : VelocityScratch
        The worker's.
    """
    radius, ridge, noise, limit, estimated = regression
    directions, opponent, velocity, confidence = out
    filtered, slopes, products, prefix, sums, boxed, mixed, fine = scratch
    height, width = before.shape
    w, tile, size = 2 * radius + 1, STRIDE - 2 * radius - 4, N_PRODUCTS * STRIDE
    top = first - radius
    responding = directions.shape[1] > 0 or opponent.shape[1] > 0
    for k in range(len(fine)):
        fine[k] = 0
    for x0 in range(0, width, tile):
        n = min(tile, width - x0)
        left, wide = x0 - radius, n + 2 * radius
        for y in range(top - 1, top + 1):
            _filter_row(before, after, y, left - 1, wide + 2, estimated, filtered)
        for y in range(top, last + radius):
            middle, slot = y - radius, (y - top) % w
            if estimated or responding:
                _filter_row(before, after, y + 1, left - 1, wide + 2, estimated, filtered)
            if responding and first <= y < last:
                _write_responses(filtered, y, x0, radius + 1, n, height, width, directions, opponent)
            if estimated:
                row = products[slot * size : (slot + 1) * size]
                _multiply_row(filtered, y, height, width, left, wide, slopes, row)
                _add_row(products, prefix, slot, w, wide)
            if middle < first or velocity.shape[1] == 0:
                continue
            to = confidence[middle, x0 : x0 + n] if confidence.shape[0] else boxed[:0]
            vx, vy = velocity[0, middle, x0 : x0 + n], velocity[1, middle, x0 : x0 + n]
            rows = (fine[:n], fine[STRIDE : STRIDE + n], fine[2 * STRIDE : 2 * STRIDE + len(to)])
            if not estimated:
                rows = (vx, vy, to)
            if coarse.shape[1]:
                for p in range(3 if len(to) else 2):
                    gain = np.float32(1 if p == 2 else 2)
                    _refine_row(coarse[p], gain, middle, x0, n, mixed, rows[p])
            if estimated:
                _sum_window(products, prefix, (slot + 1) % w, radius, n, sums, boxed)
                _solve_row(boxed, ridge, noise, n, fine, limit, vx, vy, to)
