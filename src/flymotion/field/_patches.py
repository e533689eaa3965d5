r"""The compiled kernels of learned detectors; :mod:`flymotion.field.forms` says what they compute.

A band of rows is worked on in strips of columns, from top to bottom, so that all that is kept of a strip stays in the
processor's cache: the last rows, their horizontal modes, and the vertical modes of the patches.

A cosine mode is even or odd. Five of them, three even and two odd, are computed together from five taps: two pairs,
of which sums and differences are taken first, and the middle one. What a block lacks has the weight 0. Along a line no
modes are needed: its form is written in the sums and differences themselves.
"""

from __future__ import annotations

import numpy as np

from flymotion.field._memory import aligned
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["BLOCK", "N_EVEN", "patch_scratch", "respond_band"]

ROW = 1040
"""Most columns of a strip with its margin: an odd number of cache lines, so that rows don't share their places."""

VECTOR = 16
"""Loops over a strip take a multiple of so many columns, a few more than are used: nothing is left for slower steps."""

N_EVEN, BLOCK = 3, 5
"""Even modes, and modes, that are computed together."""


def patch_scratch(size, n_vertical, n_in, n_blocks, n_components):
    """Make room for a worker: dt and m of rows, twice; modes along x; taps along y; modes along y, both; sums."""
    n_modes = n_blocks * BLOCK
    pixels, across = aligned(2, (2 * size + 1) * ROW), aligned(size * 2 * n_modes * ROW)
    vertical, modes = aligned((2 * n_modes + 1) * ROW), aligned(n_vertical * n_modes, ROW)
    sums = aligned(n_components, ROW), aligned(ROW)
    return pixels, across, np.zeros((n_in, 5), int), vertical, modes, modes.ravel(), *sums


@compiled(**PART, **SUMS)
def _take_row(before, after, slot, size, pixels):
    """Write a row of dt and m to two places, so that the rows of a patch always follow each other."""
    for place in range(slot, 2 * size, size):
        dt, m = pixels[0, place * ROW :], pixels[1, place * ROW :]
        for i in range(len(before)):
            p, q = np.float32(before[i]), np.float32(after[i])
            dt[i] = q - p
            m[i] = np.float32(0.5) * (p + q)


@compiled(**PART, **SUMS)
def _transform(source, step, reach, taps, out, n):
    """Write the modes of a strip of windows, whose numbers are ``step`` apart in the source, end to end."""
    zero = np.float32(0)
    for block in range(len(taps)):
        to = out[block * BLOCK * ROW : (block + 1) * BLOCK * ROW]
        for j in range(len(reach)):
            at, w = reach[j], taps[block, j]
            a, b, c = source[at[0] * step :], source[at[1] * step :], source[at[2] * step :]
            d, e = source[at[3] * step :], source[at[4] * step :]
            p0, q0, r0, p1, q1, r1, p2, q2, r2 = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]
            s3, t3, s4, t4 = w[9], w[10], w[11], w[12]
            for i in range(n):
                p, q, r = a[i] + e[i], b[i] + d[i], c[i]
                s, t = a[i] - e[i], b[i] - d[i]
                to[i] = (to[i] if j else zero) + (p0 * p + q0 * q + r0 * r)
                to[ROW + i] = (to[ROW + i] if j else zero) + (p1 * p + q1 * q + r1 * r)
                to[2 * ROW + i] = (to[2 * ROW + i] if j else zero) + (p2 * p + q2 * q + r2 * r)
                to[3 * ROW + i] = (to[3 * ROW + i] if j else zero) + (s3 * s + t3 * t)
                to[4 * ROW + i] = (to[4 * ROW + i] if j else zero) + (s4 * s + t4 * t)


@compiled(**PART, **SUMS)
def _add_products(row, change, modes, terms, weights, n):
    """Add the products of a mode of dt with up to four modes of m."""
    count = len(terms)
    a, p = modes[terms[0]], weights[0]
    b, q = (modes[terms[1]], weights[1]) if count > 1 else (a, p)
    c, r = (modes[terms[2]], weights[2]) if count > 2 else (a, p)
    if count > 3:
        d, s = modes[terms[3]], weights[3]
        for i in range(n):
            row[i] += change[i] * ((p * a[i] + q * b[i]) + (r * c[i] + s * d[i]))
    elif count > 2:
        for i in range(n):
            row[i] += change[i] * (p * a[i] + q * b[i] + r * c[i])
    elif count > 1:
        for i in range(n):
            row[i] += change[i] * (p * a[i] + q * b[i])
    else:
        for i in range(n):
            row[i] += change[i] * (p * a[i])


@compiled(**PART, **SUMS)
def _add_singles(components, singles, modes, n):
    """Add the single terms."""
    groups, starts, terms, weights = singles
    for g in range(len(groups)):
        row, change = components[groups[g, 0]], modes[groups[g, 1]]
        for k in range(starts[g], starts[g + 1], 4):
            some = slice(k, min(k + 4, starts[g + 1]))
            _add_products(row, change, modes, terms[some], weights[some], n)


@compiled(**PART, **SUMS)
def _add_line(row, dt, m, of_dt, of_m, w, n):
    """Add the products of even modes of dt with odd ones of m, and the other way round, of a block of taps each."""
    a, b, c, d, e = dt[of_dt[0] :], dt[of_dt[1] :], dt[of_dt[2] :], dt[of_dt[3] :], dt[of_dt[4] :]
    A, B, C, D, E = m[of_m[0] :], m[of_m[1] :], m[of_m[2] :], m[of_m[3] :], m[of_m[4] :]
    p0, q0, r0, p1, q1, r1 = w[0], w[1], w[2], w[3], w[4], w[5]
    P0, Q0, R0, P1, Q1, R1 = w[6], w[7], w[8], w[9], w[10], w[11]
    for i in range(n):
        p, q, s, t = a[i] + e[i], b[i] + d[i], a[i] - e[i], b[i] - d[i]
        P, Q, S, T = A[i] + E[i], B[i] + D[i], A[i] - E[i], B[i] - D[i]
        even = S * (p0 * p + q0 * q + r0 * c[i]) + T * (p1 * p + q1 * q + r1 * c[i])
        odd = s * (P0 * P + Q0 * Q + R0 * C[i]) + t * (P1 * P + Q1 * Q + R1 * C[i])
        row[i] += even + odd


@compiled(**PART, **SUMS)
def _add_lines(components, lines, modes, places, n):
    """Add the forms along one axis, of modes of the other; taps of dt and m are at ``places``."""
    line_of, line_modes, weights = lines
    for k in range(len(line_of)):
        row, dt, m = components[line_of[k]], modes[line_modes[k, 0] * ROW :], modes[line_modes[k, 1] * ROW :]
        for i in range(len(places)):
            for j in range(len(places)):
                _add_line(row, dt, m, places[i], places[j], weights[k, i, j], n)


@compiled(**PART, **SUMS)
def _mix(components, mixture, floor, total, out, n):
    """Write one output, a mixture of components, whose number is even, but no less than a floor."""
    zero = np.float32(0)
    for k in range(0, len(components), 2):
        a, b, p, q = components[k], components[k + 1], mixture[k], mixture[k + 1]
        for i in range(n):
            total[i] = (total[i] if k else zero) + (p * a[i] + q * b[i])
    for i in range(len(out)):
        out[i] = total[i] if total[i] > floor else floor


@compiled(**PART, **SUMS)
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


@compiled(**PART, **SUMS)
def _write_modes(pixels, first, step, reach, taps, out, n):
    """Write the modes of dt, then those of m, of a strip of windows."""
    for which in range(2):
        _transform(pixels[which, first:], step, reach, taps, out[which * len(taps) * BLOCK * ROW :], n)


@compiled(**PART, **SUMS)
def _write_components(form, top, scratch, n):
    """Write the bilinear form of each component, for patches whose first row is in slot ``top``."""
    size, reach, taps, lines, vertical_modes, singles, _, _ = form
    pixels, across, places, vertical, modes, flat_modes, components, _ = scratch
    n_modes = len(taps) * BLOCK * ROW
    for i in range(len(reach)):
        for j in range(5):
            places[i, j] = (top + reach[i, j]) % size * 2 * n_modes
    components[:] = np.float32(0)
    _write_modes(pixels, top * ROW, ROW, reach, taps, vertical, n)
    _add_lines(components, lines[0], vertical, reach, n)
    _add_lines(components, lines[1], across, places, n)
    for k in range(len(vertical_modes)):
        _transform(vertical[vertical_modes[k] * ROW :], 1, reach, taps, flat_modes[k * n_modes :], n)
    _add_singles(components, singles, modes, n)


@compiled(**SUMS)
def respond_band(before, after, first, last, form, outputs, scratch):
    """Write rows first to last of the responses to patches; 0 where the patch is not all inside the frame.

    ``form`` is that of :class:`flymotion.field.forms.Form`, outputs (directions, opponent), of height 0 where not
    wanted.
    """
    size, reach, taps, lines, _, _, mixture, axes = form
    directions, opponent = outputs
    pixels, across, _, _, _, _, components, total = scratch
    height, width = before.shape
    centre, n_modes, columns = size // 2, len(taps) * BLOCK * ROW, width - size + 1
    _clear_margins(directions, first, last, size)
    _clear_margins(opponent, first, last, size)
    start, stop = max(first - centre, 0), min(last - centre, height - size + 1)
    if start >= stop or columns < 1:
        return
    n_strips = -(-columns // (ROW - size + 1))
    step = -(-columns // n_strips)
    n = -(-(step + size - 1) // VECTOR) * VECTOR
    for left in range(0, columns, step):
        right, x, to = left + step + size - 1, left + centre, min(left + step, columns) + centre
        for bottom in range(start, stop + size - 1):
            slot, y = bottom % size, bottom - size + 1 + centre
            _take_row(before[bottom, left:right], after[bottom, left:right], slot, size, pixels)
            if len(lines[1][0]):
                _write_modes(pixels, slot * ROW, 1, reach, taps, across[2 * slot * n_modes :], n)
            if bottom < start + size - 1:
                continue
            _write_components(form, (bottom + 1) % size, scratch, n)
            for k in range(len(directions) if directions.shape[1] else 0):
                _mix(components, mixture[k], np.float32(0), total, directions[k, y, x:to], n)
            for k in range(len(opponent) if opponent.shape[1] else 0):
                _mix(components, axes[k], np.float32(-np.inf), total, opponent[k, y, x:to], n)
