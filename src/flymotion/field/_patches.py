r"""The compiled kernels of learned detectors; :mod:`flymotion.field.forms` says what they compute.

A row of patches is worked on in tiles of columns, and all modes of a tile stay in the processor's cache: first the
vertical modes of its patches, then of each that is needed the horizontal ones. Loops over a tile have a fixed number
of steps, a few columns more than are used, so that nothing is left over for a slower loop.

A cosine mode is even or odd. Five of them, three even and two odd, are computed together from five taps: two pairs,
of which sums and differences are taken first, and the middle one. What a block lacks has the weight 0.
"""

from __future__ import annotations

import numpy as np

from flymotion._recursion import PART, SUMS, _compiled
from flymotion.field._memory import aligned

__all__ = ["BLOCK", "N_EVEN", "patch_scratch", "respond_band"]

ROW = 144
"""Columns of a tile with its margin: an odd number of cache lines, so that rows don't share their places."""

N_EVEN, BLOCK = 3, 5
"""Even modes, and modes, that are computed together."""


def patch_scratch(size, n_vertical, n_blocks, n_components, width):
    """Make room for a worker: dt and m of the patches' rows, twice; vertical modes; all modes; components; a sum."""
    stride = -(-(width + ROW) // 32) * 32 + 16
    pixels = aligned(2, 2 * size, stride)
    vertical = aligned((2 * n_blocks * BLOCK + 1) * ROW)
    modes = aligned(n_vertical * n_blocks * BLOCK, ROW)
    return pixels, pixels.reshape(2, -1), vertical, modes, modes.ravel(), aligned(n_components, ROW), aligned(ROW)


@_compiled(**PART, **SUMS)
def _take_row(before, after, y, size, pixels):
    """Write a row of dt and m to two places, so that the rows of a patch always follow each other."""
    for slot in range(y % size, 2 * size, size):
        a, b, dt, m = before[y], after[y], pixels[0, slot], pixels[1, slot]
        for i in range(len(a)):
            p, q = np.float32(a[i]), np.float32(b[i])
            dt[i] = q - p
            m[i] = np.float32(0.5) * (p + q)


@_compiled(**PART, **SUMS)
def _transform(source, step, reach, taps, out):
    """Write the modes of a tile of windows, whose numbers are ``step`` apart in the source, end to end."""
    zero = np.float32(0)
    for block in range(len(taps)):
        to = out[block * BLOCK * ROW : (block + 1) * BLOCK * ROW]
        for j in range(len(reach)):
            at, w = reach[j], taps[block, j]
            a, b, c = source[at[0] * step :], source[at[1] * step :], source[at[2] * step :]
            d, e = source[at[3] * step :], source[at[4] * step :]
            p0, q0, r0, p1, q1, r1, p2, q2, r2 = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]
            s3, t3, s4, t4 = w[9], w[10], w[11], w[12]
            for i in range(ROW):
                p, q, r = a[i] + e[i], b[i] + d[i], c[i]
                s, t = a[i] - e[i], b[i] - d[i]
                to[i] = (to[i] if j else zero) + (p0 * p + q0 * q + r0 * r)
                to[ROW + i] = (to[ROW + i] if j else zero) + (p1 * p + q1 * q + r1 * r)
                to[2 * ROW + i] = (to[2 * ROW + i] if j else zero) + (p2 * p + q2 * q + r2 * r)
                to[3 * ROW + i] = (to[3 * ROW + i] if j else zero) + (s3 * s + t3 * t)
                to[4 * ROW + i] = (to[4 * ROW + i] if j else zero) + (s4 * s + t4 * t)


@_compiled(**PART, **SUMS)
def _add_products(row, change, modes, terms, weights):
    """Add the products of a mode of dt with up to four modes of m."""
    count = len(terms)
    a, p = modes[terms[0]], weights[0]
    b, q = (modes[terms[1]], weights[1]) if count > 1 else (a, p)
    c, r = (modes[terms[2]], weights[2]) if count > 2 else (a, p)
    if count > 3:
        d, s = modes[terms[3]], weights[3]
        for i in range(ROW):
            row[i] += change[i] * ((p * a[i] + q * b[i]) + (r * c[i] + s * d[i]))
    elif count > 2:
        for i in range(ROW):
            row[i] += change[i] * (p * a[i] + q * b[i] + r * c[i])
    elif count > 1:
        for i in range(ROW):
            row[i] += change[i] * (p * a[i] + q * b[i])
    else:
        for i in range(ROW):
            row[i] += change[i] * (p * a[i])


@_compiled(**PART, **SUMS)
def _add_line(row, modes, of, w):
    """Add the products of even modes of dt with odd ones of m, and the other way round, of two blocks."""
    d0, d1, d2, d3, d4 = modes[of[0]], modes[of[1]], modes[of[2]], modes[of[3]], modes[of[4]]
    m0, m1, m2, m3, m4 = modes[of[5]], modes[of[6]], modes[of[7]], modes[of[8]], modes[of[9]]
    w03, w04, w13, w14, w23, w24 = w[0], w[1], w[2], w[3], w[4], w[5]
    w30, w31, w32, w40, w41, w42 = w[6], w[7], w[8], w[9], w[10], w[11]
    for i in range(ROW):
        even = d0[i] * (w03 * m3[i] + w04 * m4[i]) + d1[i] * (w13 * m3[i] + w14 * m4[i])
        odd = d3[i] * (w30 * m0[i] + w31 * m1[i] + w32 * m2[i]) + d4[i] * (w40 * m0[i] + w41 * m1[i] + w42 * m2[i])
        row[i] += (even + d2[i] * (w23 * m3[i] + w24 * m4[i])) + odd


@_compiled(**PART, **SUMS)
def _mix(components, mixture, rectified, total, out):
    """Write one output, a mixture of components, whose number is even."""
    zero = np.float32(0)
    for k in range(0, len(components), 2):
        a, b, p, q = components[k], components[k + 1], mixture[k], mixture[k + 1]
        for i in range(ROW):
            total[i] = (total[i] if k else zero) + (p * a[i] + q * b[i])
    if rectified:
        for i in range(len(out)):
            out[i] = total[i] if total[i] > zero else zero
    else:
        for i in range(len(out)):
            out[i] = total[i]


@_compiled(**PART, **SUMS)
def _clear_margins(out, first, last, size):
    """Write 0 where the patch is not all inside the frame."""
    n, height, width = out.shape
    centre, behind = size // 2, size - 1 - size // 2
    for k in range(n if height else 0):
        for y in range(first, last):
            inside = centre <= y < height - behind
            for x in range(min(centre, width) if inside else width):
                out[k, y, x] = 0
            for x in range(max(width - behind, 0), width):
                out[k, y, x] = 0


@_compiled(**PART, **SUMS)
def _write_modes(rows, first, stride, reach, taps, vertical_modes, vertical, modes):
    """Write the modes in use of a tile of patches, whose first pixels begin at ``first``."""
    size = len(taps) * BLOCK * ROW
    for which in range(2):
        _transform(rows[which, first:], stride, reach, taps, vertical[which * size :])
    for k in range(len(vertical_modes)):
        _transform(vertical[vertical_modes[k] * ROW :], 1, reach, taps, modes[k * size :])


@_compiled(**PART, **SUMS)
def _write_components(lines, singles, modes, components):
    """Write the bilinear form of each component."""
    line_of, line_modes, line_weights = lines
    groups, starts, terms, weights = singles
    components[:] = np.float32(0)
    for k in range(len(line_of)):
        _add_line(components[line_of[k]], modes, line_modes[k], line_weights[k])
    for g in range(len(groups)):
        row, change = components[groups[g, 0]], modes[groups[g, 1]]
        for k in range(starts[g], starts[g + 1], 4):
            some = slice(k, min(k + 4, starts[g + 1]))
            _add_products(row, change, modes, terms[some], weights[some])


@_compiled(**SUMS)
def respond_band(before, after, first, last, form, outputs, scratch):
    """Write rows first to last of the responses to patches; 0 where the patch is not all inside the frame.

    ``form`` is that of :class:`flymotion.field.forms.Form`, outputs (directions, opponent), of height 0 where not
    wanted.
    """
    size, reach, taps, vertical_modes, lines, singles, mixture, axes = form
    directions, opponent = outputs
    pixels, rows, vertical, modes, modes_flat, components, total = scratch
    height, width = before.shape
    stride, centre, step = pixels.shape[2], size // 2, ROW - size + 1
    _clear_margins(directions, first, last, size)
    _clear_margins(opponent, first, last, size)
    start, stop = max(first - centre, 0), min(last - centre, height - size + 1)
    if start >= stop or width < size:
        return
    for y in range(start, start + size - 1):
        _take_row(before, after, y, size, pixels)
    for top in range(start, stop):
        _take_row(before, after, top + size - 1, size, pixels)
        for left in range(0, width - size + 1, step):
            corner = top % size * stride + left
            _write_modes(rows, corner, stride, reach, taps, vertical_modes, vertical, modes_flat)
            _write_components(lines, singles, modes, components)
            x, y, n = left + centre, top + centre, min(step, width - size + 1 - left)
            for k in range(len(directions) if directions.shape[1] else 0):
                _mix(components, mixture[k], True, total, directions[k, y, x : x + n])
            for k in range(len(opponent) if opponent.shape[1] else 0):
                _mix(components, axes[k], False, total, opponent[k, y, x : x + n])
