"""Compiled rows of slopes and changes of a frame and the one that is carried to it, and of their products.

With the mean m of the frame before and the carried one, and d their difference, the rows of a frame that are kept are
the slope along x of m and, smoothed along x, m, d, the difference to the frame after as it is, and which pixels have
data; the rows of products are those of both slopes, the change and m, of the change at rest, and of the data.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.carrying import STRIDE, carry_row, places_of_row
from flymotion.field.pyramid_kernels import PAD
from flymotion.field.window_sums import N_PRODUCTS
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["N_FILTERED", "add_products", "filter_row", "multiply_row", "pair_columns", "slope_row"]

N_FILTERED = 5
"""Rows kept of every row of a frame."""

SIDE, MIDDLE = np.float32(3 / 16), np.float32(10 / 16)
"""Weights that smooth across the slope, and the change both ways."""

MISSING = np.float32(0.15)
"""Weight of pixels that are the same in both frames, as a codec leaves out what changes little: no data, nearly."""


@compiled(**PART, **SUMS)
def filter_row(before, after, splines, velocity, y, left, n, places, carried, filtered):
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
def slope_row(filtered, velocity, reference, y, left, n, height, width, slopes):
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
def multiply_row(slopes, n, products):
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


@compiled(**PART, **SUMS)
def add_products(slopes, n, products):
    """Add the products of a row."""
    for i in range(n):
        g, h, t, m = slopes[i], slopes[STRIDE + i], slopes[2 * STRIDE + i], slopes[3 * STRIDE + i]
        products[i] += g * g
        products[STRIDE + i] += g * h
        products[2 * STRIDE + i] += h * h
        products[3 * STRIDE + i] += g * t
        products[4 * STRIDE + i] += h * t
        products[5 * STRIDE + i] += t * t
        products[6 * STRIDE + i] += g * m
        products[7 * STRIDE + i] += h * m
        products[8 * STRIDE + i] += m * m
        products[9 * STRIDE + i] += t * m
        products[10 * STRIDE + i] += slopes[4 * STRIDE + i] * slopes[4 * STRIDE + i]
        products[11 * STRIDE + i] += slopes[5 * STRIDE + i] * slopes[5 * STRIDE + i]


@compiled(**PART, **SUMS)
def pair_columns(products, n, cells):
    """Write the sums of neighbouring columns: n cells."""
    for p in range(N_PRODUCTS):
        row, to = products[p * STRIDE :], cells[p * STRIDE :]
        for i in range(n):
            to[i] = row[2 * i] + row[2 * i + 1]
