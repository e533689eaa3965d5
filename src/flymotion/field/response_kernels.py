r"""The compiled kernel of the three-pixel detectors: the change times the slope of the mean of both frames.

With ``m2 = before + after``, twice the midpoint frame, and ``dt = after - before``, responses are
:math:`-\tfrac12 dt\,(m2(x + 1) - m2(x - 1))`, Eq. 33 at the midpoint and of content. Frames of uint8 give the numbers
that the same frames in float32 give.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.pyramid_kernels import PAD
from flymotion.similarity.compilation import PART, compiled

__all__ = ["three_pixel_band"]


@compiled(**PART)
def _respond(before, after, y, step, first, last, k, positive, negative, signed):
    """Write a row's responses along an axis: ``k`` numbers lie between a pixel and its neighbour; 0 outside."""
    half, zero = np.float32(-0.5), np.float32(0)
    a, b = before[y + PAD, PAD:], after[y + PAD, PAD:]
    left_a, left_b = before[y + PAD - step, PAD - k :], after[y + PAD - step, PAD - k :]
    right_a, right_b = before[y + PAD + step, PAD + k :], after[y + PAD + step, PAD + k :]
    for x in range(len(signed)):
        dt = np.float32(b[x]) - np.float32(a[x])
        slope = (np.float32(right_a[x]) + np.float32(right_b[x])) - (np.float32(left_a[x]) + np.float32(left_b[x]))
        signed[x] = half * dt * slope if first <= x < last else zero  # Eq. 33
    for x in range(len(positive)):
        positive[x] = signed[x] if signed[x] > zero else zero
        negative[x] = -signed[x] if signed[x] < zero else zero


@compiled()
def three_pixel_band(before, after, first, last, directions, opponent, scratch):
    """Write rows first to last of the responses of three-pixel detectors.

    Parameters
    ----------
    before, after : ndarray, shape (height + 2 PAD, width + 2 PAD)
        Frames with their borders.
    first, last : int
        Rows.
    directions, opponent : ndarray, shapes (4, height, width) and (2, height, width)
        Where to; of height 0 where not wanted.
    scratch : ndarray, shape (2, width)
        The worker's room.
    """
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    none = scratch[0, :0]
    for y in range(first, last):
        wanted = directions.shape[1] > 0
        signed = opponent.shape[1] > 0
        east, west = (directions[0, y], directions[2, y]) if wanted else (none, none)
        north, south = (directions[1, y], directions[3, y]) if wanted else (none, none)
        along, down = (opponent[0, y], opponent[1, y]) if signed else (scratch[0], scratch[1])
        _respond(before, after, y, 0, 1, width - 1, 1, east, west, along)
        most = 0 if y == 0 or y == height - 1 else width
        _respond(before, after, y, 1, 0, most, 0, south, north, down)
