r"""The compiled kernels of learned detectors; :mod:`flymotion.field.forms` says what they compute.

A band of rows is worked on in strips of columns, from top to bottom, so that all that is kept of a strip stays in the
processor's cache: the last rows, their horizontal modes, and the vertical modes of the patches.

A cosine mode is even or odd. Five of them, three even and two odd, are computed together from five taps: two pairs,
of which sums and differences are taken first, and the middle one. What a block lacks has the weight 0. Along a line no
modes are needed: its form is written in the sums and differences themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.field.memory import aligned
from flymotion.similarity.compilation import PART, SUMS, compiled

__all__ = ["BLOCK", "N_EVEN", "Lines", "PatchScratch", "Singles", "respond_band"]

ROW = 1040
"""Most columns of a strip with its margin: an odd number of cache lines, so that rows don't share their places."""

VECTOR = 16
"""Loops over a strip take a multiple of so many columns, a few more than are used: nothing is left for slower steps."""

N_EVEN, BLOCK = 3, 5
"""Even modes, and modes, that are computed together."""


class Lines(NamedTuple):
    """The forms of components' modes along one axis."""

    component: np.ndarray
    """Which component a line belongs to, shape (n_lines,)."""
    modes: np.ndarray
    """Modes along the other axis, of dx and of the intensity, shape (n_lines, 2)."""
    weights: np.ndarray
    """Of the blocks' taps, shape (n_lines, n_blocks_in, n_blocks_in, 12): of sums of dx with both differences of the
    intensity, then of sums of the intensity with both differences of dx."""


class Singles(NamedTuple):
    """Single products of modes, in groups that share the mode of dx."""

    groups: np.ndarray
    """Component and mode of dx, shape (n_groups, 2)."""
    starts: np.ndarray
    """First term of each group, and the number of terms, shape (n_groups + 1,)."""
    modes: np.ndarray
    """Of the intensity, shape (n_terms,)."""
    weights: np.ndarray
    """Of the products, shape (n_terms,)."""


class PatchScratch(NamedTuple):
    """A worker's room for intermediate results; rows of ``ROW`` numbers, end to end."""

    pixels: np.ndarray
    """dt and m of the last rows, twice."""
    across: np.ndarray
    """Modes along x of the last rows, of dt and m."""
    places: np.ndarray
    """Of the taps along y, in ``across``."""
    vertical: np.ndarray
    """Modes along y of a row of patches, of dt and m."""
    modes: np.ndarray
    """Modes along both axes, a row each."""
    flat_modes: np.ndarray
    """The same memory, without rows."""
    components: np.ndarray
    """The bilinear forms."""
    total: np.ndarray
    """An output."""

    @classmethod
    def of(cls, size: int, n_vertical: int, n_in: int, n_blocks: int, n_components: int) -> PatchScratch:
        """Make room."""
        n_modes = n_blocks * BLOCK
        modes = aligned(n_vertical * n_modes, ROW)
        return cls(
            pixels=aligned(2, (2 * size + 1) * ROW),
            across=aligned(size * 2 * n_modes * ROW),
            places=np.zeros((n_in, 5), int),
            vertical=aligned((2 * n_modes + 1) * ROW),
            modes=modes,
            flat_modes=modes.ravel(),
            components=aligned(n_components, ROW),
            total=aligned(ROW),
        )


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
def _taps(source, places, step):
    """Return what is at the five taps of a block: two pairs, mirrored, about the middle one."""
    return (
        source[places[0] * step :],
        source[places[1] * step :],
        source[places[2] * step :],
        source[places[3] * step :],
        source[places[4] * step :],
    )


@compiled(**PART, **SUMS)
def _sums(taps, i):
    """Return the sums of both pairs of taps and the middle one, which even modes see."""
    return taps[0][i] + taps[4][i], taps[1][i] + taps[3][i], taps[2][i]


@compiled(**PART, **SUMS)
def _differences(taps, i):
    """Return the differences of both pairs of taps, which odd modes see."""
    return taps[0][i] - taps[4][i], taps[1][i] - taps[3][i]


@compiled(**PART, **SUMS)
def _three(weights, k):
    return weights[k], weights[k + 1], weights[k + 2]


@compiled(**PART, **SUMS)
def _two(weights, k):
    return weights[k], weights[k + 1]


@compiled(**PART, **SUMS)
def _dot3(weights, values):
    return weights[0] * values[0] + weights[1] * values[1] + weights[2] * values[2]


@compiled(**PART, **SUMS)
def _dot2(weights, values):
    return weights[0] * values[0] + weights[1] * values[1]


@compiled(**PART, **SUMS)
def _transform(source, step, reach, taps, out, n):
    """Write the modes of a strip of windows, whose numbers are ``step`` apart in the source, end to end."""
    zero = np.float32(0)
    for block in range(len(taps)):
        to = out[block * BLOCK * ROW : (block + 1) * BLOCK * ROW]
        for j in range(len(reach)):
            seen, w = _taps(source, reach[j], step), taps[block, j]
            even, odd = (_three(w, 0), _three(w, 3), _three(w, 6)), (_two(w, 9), _two(w, 11))
            for i in range(n):
                sums, differences = _sums(seen, i), _differences(seen, i)
                to[i] = (to[i] if j else zero) + _dot3(even[0], sums)
                to[ROW + i] = (to[ROW + i] if j else zero) + _dot3(even[1], sums)
                to[2 * ROW + i] = (to[2 * ROW + i] if j else zero) + _dot3(even[2], sums)
                to[3 * ROW + i] = (to[3 * ROW + i] if j else zero) + _dot2(odd[0], differences)
                to[4 * ROW + i] = (to[4 * ROW + i] if j else zero) + _dot2(odd[1], differences)


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
    starts = singles.starts
    for g in range(len(singles.groups)):
        row, change = components[singles.groups[g, 0]], modes[singles.groups[g, 1]]
        for k in range(starts[g], starts[g + 1], 4):
            some = slice(k, min(k + 4, starts[g + 1]))
            _add_products(row, change, modes, singles.modes[some], singles.weights[some], n)


@compiled(**PART, **SUMS)
def _add_line(row, dt, m, of_dt, of_m, w, n):
    """Add the products of even modes of dt with odd ones of m, and the other way round, of a block of taps each."""
    changes, means = _taps(dt, of_dt, 1), _taps(m, of_m, 1)
    even, odd = (_three(w, 0), _three(w, 3)), (_three(w, 6), _three(w, 9))
    for i in range(n):
        dt_sums, dt_slopes = _sums(changes, i), _differences(changes, i)
        m_sums, m_slopes = _sums(means, i), _differences(means, i)
        from_even = m_slopes[0] * _dot3(even[0], dt_sums) + m_slopes[1] * _dot3(even[1], dt_sums)
        from_odd = dt_slopes[0] * _dot3(odd[0], m_sums) + dt_slopes[1] * _dot3(odd[1], m_sums)
        row[i] += from_even + from_odd  # Eq. 19, its first sum


@compiled(**PART, **SUMS)
def _add_lines(components, lines, modes, places, n):
    """Add the forms along one axis, of modes of the other; taps of dt and m are at ``places``."""
    for k in range(len(lines.component)):
        row = components[lines.component[k]]
        dt, m = modes[lines.modes[k, 0] * ROW :], modes[lines.modes[k, 1] * ROW :]
        for i in range(len(places)):
            for j in range(len(places)):
                _add_line(row, dt, m, places[i], places[j], lines.weights[k, i, j], n)


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
    reach, taps = form.reach, form.taps
    vertical, modes, components = scratch.vertical, scratch.modes, scratch.components
    n_modes = len(taps) * BLOCK * ROW
    for i in range(len(reach)):
        for j in range(5):
            scratch.places[i, j] = (top + reach[i, j]) % form.size * 2 * n_modes
    components[:] = np.float32(0)
    _write_modes(scratch.pixels, top * ROW, ROW, reach, taps, vertical, n)
    _add_lines(components, form.lines[0], vertical, reach, n)
    _add_lines(components, form.lines[1], scratch.across, scratch.places, n)
    for k in range(len(form.vertical)):
        source = vertical[form.vertical[k] * ROW :]
        _transform(source, 1, reach, taps, scratch.flat_modes[k * n_modes :], n)
    _add_singles(components, form.singles, modes, n)


@compiled(**SUMS)
def respond_band(before, after, first, last, form, out, scratch):
    """Write rows first to last of the responses to patches; 0 where the patch is not all inside the frame.

    Parameters
    ----------
    before, after : ndarray, shape (height, width)
        Frames.
    form : Form
        The operators, as :class:`flymotion.field.forms.Form` writes them.
    out : Field
        Where ``directions`` and ``opponent`` go; of height 0 where not wanted.
    scratch : PatchScratch
        The worker's.
    """
    size, reach, taps = form.size, form.reach, form.taps
    directions, opponent = out.directions, out.opponent
    pixels, components, total = scratch.pixels, scratch.components, scratch.total
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
            if len(form.lines[1].component):
                _write_modes(pixels, slot * ROW, 1, reach, taps, scratch.across[2 * slot * n_modes :], n)
            if bottom < start + size - 1:
                continue
            _write_components(form, (bottom + 1) % size, scratch, n)
            for k in range(len(directions) if directions.shape[1] else 0):
                _mix(components, form.mixture[k], np.float32(0), total, directions[k, y, x:to], n)
            for k in range(len(opponent) if opponent.shape[1] else 0):
                _mix(components, form.axes[k], np.float32(-np.inf), total, opponent[k, y, x:to], n)
