"""Compiled sums over windows, a row at a time.

Sums over a window's rows are those of a block's last rows and of the next block's first (van Herk 1992), three
additions for a window of any size; nothing is subtracted again, so that no rounding is left behind by brighter rows.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.carrying import STRIDE
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["N_PRODUCTS", "add_row", "sum_window"]

N_PRODUCTS = 12
"""Rows of products of every row of a frame."""


@compiled(**PART, **SUMS)
def add_row(products, prefix, slot, w, n):
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
def sum_window(products, prefix, k, radius, n, sums, boxed):
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
