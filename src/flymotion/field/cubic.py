r"""Cubic splines between pixels, for the compiled kernels.

An image is the sum of a cubic B-spline at each pixel (Unser 1999, IEEE Signal Processing Magazine 16: 22), whose
coefficients :func:`spline_rows` finds by :math:`\sqrt 3 z^{|k|}, z = \sqrt 3 - 2`, along both axes, up to k = 6.
Content that is carried by a small part of a pixel is carried by as much, to 0.8 % at a wavelength of 6 pixels; cubics
through four pixels (Catmull and Rom) would carry it by 17 % less, and velocity would be read as much too large.

Of a pixel's 16 neighbours the four rows are four vectors of the processor: numba's compiler does not find that out by
itself and takes three times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from flymotion.field.pyramid_kernels import PAD
from flymotion.similarity.compilation import SUMS, compiled

__all__ = ["cubic", "spline_rows"]

POWERS = ((1 / 6, 4 / 6, 1 / 6, 0.0), (-0.5, 0.0, 0.5, 0.0), (0.5, -1.0, 0.5, 0.0), (-1 / 6, 0.5, -0.5, 1 / 6))
"""Weights of four coefficients in a row: times the powers of the place, 0 to 1, between the second and the third."""

REACH = 6
"""Pixels each way that a coefficient is found from; what is left out is 2e-4 of it."""

WHOLE = sum((3**0.5 - 2) ** abs(k) for k in range(-REACH, REACH + 1))
TAPS = tuple(np.float32((3**0.5 - 2) ** k / WHOLE) for k in range(REACH + 1))


def cubic(flat, at, stride, fx, fy):
    """Return what is between pixels.

    Parameters
    ----------
    flat : ndarray of float32, shape (n,)
        The coefficients of an image, row after row.
    at : int
        That of its pixel above and to the left of the four that the place lies between.
    stride : int
        Numbers from one row to the next.
    fx, fy : float32
        The place between these four, 0 to 1 to the right and down.
    """
    across, down = (np.array([1, f, f * f, f * f * f], np.float32) @ np.array(POWERS, np.float32) for f in (fx, fy))
    rows = [flat[at + k * stride : at + k * stride + 4] for k in range(4)]
    return np.float32(down @ np.stack(rows) @ across)


@overload(cubic, inline="never", jit_options={"nogil": True, "_nrt": False})
def _compiled_cubic(flat, at, stride, fx, fy):
    return lambda flat, at, stride, fx, fy: _in_vectors(flat, at, stride, fx, fy)


@intrinsic
def _in_vectors(context, flat, at, stride, fx, fy):
    return types.float32(flat, at, stride, fx, fy), _generate


FLAGS = ("reassoc", "contract", "nsz")
FOUR = ir.VectorType(ir.FloatType(), 4)
UNDEFINED = ir.Constant(FOUR, ir.Undefined)


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write four pixels of four rows, weighted down the rows, then across, and summed."""
    flat = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
    at, stride = (context.cast(builder, args[k], signature.args[k], types.intp) for k in (1, 2))
    fx, fy = args[3:]
    down = _weights(builder, fy)
    total = ir.Constant(FOUR, [0.0] * 4)
    for k in range(4):
        place = builder.gep(flat.data, [builder.add(at, builder.mul(stride, ir.Constant(stride.type, k)))])
        row = builder.load(builder.bitcast(place, FOUR.as_pointer()), align=4)
        total = _add(builder, _times(builder, _shuffled(builder, down, [k] * 4), row), total)
    total = _times(builder, total, _weights(builder, fx))
    for order in ([2, 3, 0, 1], [1, 0, 3, 2]):
        total = _add(builder, total, _shuffled(builder, total, order))
    return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))


def _weights(builder: Any, place: Any) -> Any:
    """Write the weights of four pixels in a row: a polynomial of the place."""
    first = builder.insert_element(UNDEFINED, place, ir.Constant(ir.IntType(32), 0))
    f = _shuffled(builder, first, [0] * 4)
    total = ir.Constant(FOUR, list(POWERS[3]))
    for power in POWERS[2::-1]:
        total = _add(builder, _times(builder, f, total), ir.Constant(FOUR, list(power)))
    return total


def _shuffled(builder: Any, vector: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(vector, UNDEFINED, ir.Constant(ir.VectorType(ir.IntType(32), 4), order))


def _times(builder: Any, a: Any, b: Any) -> Any:
    return builder.fmul(a, b, flags=FLAGS)


def _add(builder: Any, a: Any, b: Any) -> Any:
    return builder.fadd(a, b, flags=FLAGS)


@compiled(**SUMS)
def spline_rows(frame, out, first, last, mixed):
    """Write rows first to last, of the frame without its border, of the coefficients of its splines.

    Parameters
    ----------
    frame, out : ndarray, shape (height + 2 PAD, width + 2 PAD)
        The frame and its coefficients, whose border is left to be filled.
    first, last : int
        Rows.
    mixed : ndarray, shape (width + 2 REACH,) or more
        The worker's room.
    """
    height, width = frame.shape[0] - 2 * PAD, frame.shape[1] - 2 * PAD
    for y in range(first, last):
        row = mixed[REACH : REACH + width]
        here = frame[y + PAD, PAD : PAD + width]
        for i in range(width):
            row[i] = TAPS[0] * here[i]
        for k in range(1, REACH + 1):
            above = frame[max(y - k, 0) + PAD, PAD : PAD + width]
            below = frame[min(y + k, height - 1) + PAD, PAD : PAD + width]
            tap = TAPS[k]
            for i in range(width):
                row[i] += tap * (above[i] + below[i])
        mixed[:REACH] = row[0]
        mixed[REACH + width : 2 * REACH + width] = row[width - 1]
        to = out[y + PAD, PAD : PAD + width]
        for i in range(width):
            near = TAPS[0] * mixed[i + 6] + TAPS[1] * (mixed[i + 5] + mixed[i + 7])
            near += TAPS[2] * (mixed[i + 4] + mixed[i + 8]) + TAPS[3] * (mixed[i + 3] + mixed[i + 9])
            far = TAPS[4] * (mixed[i + 2] + mixed[i + 10]) + TAPS[5] * (mixed[i + 1] + mixed[i + 11])
            to[i] = near + (far + TAPS[6] * (mixed[i] + mixed[i + 12]))
