"""The compiled kernels that carry a frame: what is where content has gone, by splines between pixels."""

from __future__ import annotations

import numpy as np

from flymotion.field.cubic import cubic
from flymotion.field.pyramid_kernels import PAD
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["STRIDE", "carry_row", "places_of_row"]

STRIDE = 656
"""Numbers from one row of intermediate results to the next: an odd number of cache lines, as rows that are a power of 2
apart get into each other's way."""


@compiled(**PART, **SUMS)
def places_of_row(u, v, y, x0, n, height, width, places, known):
    """Write where n pixels of a row come from: between which, and how far; and whether that is inside the frame."""
    zero, one = np.float32(0), np.float32(1)
    right, bottom, row = np.float32(width - 1), np.float32(height - 1), np.float32(y)
    for i in range(n):
        px, py = np.float32(x0 + i) + u[i], row + v[i]
        qx, qy = min(max(zero, px), right), min(max(zero, py), bottom)  # what is not a number is 0
        ix, iy = np.float32(np.int32(qx)), np.float32(np.int32(qy))
        places[i], places[STRIDE + i] = ix, qx - ix
        places[2 * STRIDE + i], places[3 * STRIDE + i] = iy, qy - iy
        known[i] = one if px == qx and py == qy else zero


@compiled(**PART, **SUMS)
def carry_row(before, after, splines, y, x0, n, places, carried):
    """Write n columns of a row from x0 on: mean and change of the frame before and the carried one, change at rest."""
    half = np.float32(0.5)
    flat, stride = splines.reshape(-1), splines.shape[1]
    moved = places[4 * STRIDE :]
    for i in range(n):
        at = (np.int64(places[2 * STRIDE + i]) + PAD - 1) * stride + np.int64(places[i]) + PAD - 1
        moved[i] = cubic(flat, at, stride, places[STRIDE + i], places[3 * STRIDE + i])
    a, b = before[y + PAD, x0 + PAD :], after[y + PAD, x0 + PAD :]
    for i in range(n):
        carried[i] = half * (a[i] + moved[i])
        carried[STRIDE + i] = moved[i] - a[i]
        carried[2 * STRIDE + i] = b[i] - a[i]
