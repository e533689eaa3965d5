r"""Light that changes otherwise here than there: the shadow of a cloud, a torch.

The edge of a shadow over flat ground moves, and is all that is to be seen there. What tells is the rest of the frame:
where the motion of the whole frame, a plane through the velocities of a coarse scale, leaves of the change
:math:`d` is explained by the light of blocks of 8 x 8 pixels, less that of the frame,

.. math:: s = \frac{\sum_{blocks} (\sum d m)^2 / \sum m^2}{\sum d^2}

(m is the mean of both frames), there light is uneven. Then both frames are divided by their local mean, a Gaussian of
8 pixels, as early vision does, and estimated again. Everywhere else they stay as they are: slow gradients say how
things move, too.
"""

from __future__ import annotations

import numpy as np

from flymotion.field.pyramid_kernels import PAD
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["LIGHT", "is_uneven", "local_mean"]

LIGHT = 3
"""Scale at which light is looked at."""

BLOCK = 8
"""Side of the blocks that have one light [pixels of that scale]."""

TELLING = 5e-4
"""Square of the share that light explains, times the change relative to the mean square slope: three times the most
that was seen under steady light (Dimetrodon; photographs 1.2e-4), half the least under a torch."""

WHOLE = 0.22
"""What neither explains, relative to the mean square slope, up to which light may be told: the middle of the most that
was seen under clouds and torches, 0.16, and the least of a stereo pair whose blocks look as if they were lit, 0.30."""

DARK = 0.1
"""What is added to the local mean, relative to the root mean square of the frame."""

NEIGHBOURS = np.array([1, 4, 6, 4, 1], np.float32) / 16
"""A Gaussian of one pixel."""


def is_uneven(before: np.ndarray, after: np.ndarray, velocity: np.ndarray, power: float) -> bool:
    """Return whether light changes unevenly between two frames with borders, by the velocity of their cells."""
    d_d, d_m, m_m, explained, count = _explain(before, after, _plane(velocity[0]) + _plane(velocity[1]))
    change = d_d - d_m * d_m / max(m_m, 1e-9)  # light of the whole frame
    if not (change > 0 and power > 0):
        return False
    share, relative = explained / change, change / (count * power)
    return bool(share * share * relative > TELLING and (1 - share) * relative < WHOLE)


@compiled(**SUMS)
def _plane(values):
    """Return the plane through what cells of 2 x 2 pixels say, by least squares: at the first pixel, and its slopes."""
    height, width = values.shape
    total, along, down = 0.0, 0.0, 0.0
    for k in range(height):
        row, tilt, away = 0.0, 0.0, k - (height - 1) / 2
        for i in range(width):
            row += values[k, i]
            tilt += values[k, i] * (i - (width - 1) / 2)
        total, along, down = total + row, along + tilt, down + away * row
    n = height * width
    along *= 6 / max(n * (width * width - 1), 1)  # a cell is two pixels
    down *= 6 / max(n * (height * height - 1), 1)
    first = total / n - along * (width - 0.5) - down * (height - 0.5)
    return np.float32(first), np.float32(along), np.float32(down)


@compiled(**PART, **SUMS)
def _sum_block(before, after, plane, y0, x0):
    """Return the sums of d d, d m and m m of a block, and the number of its pixels that stay in the frame."""
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    zero, one, half = np.float32(0), np.float32(1), np.float32(0.5)
    d_d, d_m, m_m, n = zero, zero, zero, zero
    for y in range(y0, min(y0 + BLOCK, height)):
        for x in range(x0, min(x0 + BLOCK, width)):
            to_x = x + plane[0] + plane[1] * np.float32(x) + plane[2] * np.float32(y)
            to_y = y + plane[3] + plane[4] * np.float32(x) + plane[5] * np.float32(y)
            if not (0 <= to_x <= width - 1 and 0 <= to_y <= height - 1):
                continue
            i, j = min(int(to_y), height - 2), min(int(to_x), width - 2)
            p, q = np.float32(to_x - j), np.float32(to_y - i)
            upper, lower = after[PAD + i], after[PAD + i + 1]
            above = upper[PAD + j] + p * (upper[PAD + j + 1] - upper[PAD + j])
            below = lower[PAD + j] + p * (lower[PAD + j + 1] - lower[PAD + j])
            moved, here = above + q * (below - above), before[PAD + y, PAD + x]
            d, m = moved - here, half * (moved + here)
            d_d, d_m, m_m, n = d_d + d * d, d_m + d * m, m_m + m * m, n + one
    return d_d, d_m, m_m, n


@compiled(**SUMS)
def _explain(before, after, plane):
    """Return the sums of d d, d m and m m of the frame, what the light of blocks explains, and the pixels' number."""
    height, width = before.shape[0] - 2 * PAD, before.shape[1] - 2 * PAD
    rows, columns = (height + BLOCK - 1) // BLOCK, (width + BLOCK - 1) // BLOCK
    sums, total = np.zeros((rows, columns, 4)), np.zeros(4)
    for k in range(rows):
        for i in range(columns):
            block = _sum_block(before, after, plane, k * BLOCK, i * BLOCK)
            for p in range(4):
                sums[k, i, p] = block[p]
                total[p] += block[p]
    gain, explained = total[1] / max(total[2], 1e-9), 0.0
    for k in range(rows):
        for i in range(columns):
            own = sums[k, i, 1] - gain * sums[k, i, 2]
            explained += own * own / max(sums[k, i, 2], 1e-9)
    return total[0], total[1], total[2], explained, total[3]


def local_mean(frame: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the local mean of a frame with borders, shape (height, width), and what to add to it and to the frame."""
    frame = frame[PAD:-PAD, PAD:-PAD]
    added = DARK * float(np.sqrt(np.mean(frame**2)))
    for axis in (0, 1):
        wide = np.pad(frame, [(2, 2) if k == axis else (0, 0) for k in (0, 1)], mode="reflect")
        n = frame.shape[axis]
        frame = sum(part * np.take(wide, range(k, k + n), axis) for k, part in enumerate(NEIGHBOURS))
    return np.maximum(frame, 0), added
