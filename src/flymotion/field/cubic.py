r"""Cubic interpolation between pixels (Catmull and Rom 1974), for the compiled kernels.

Of a pixel's 16 neighbours the four rows are four vectors of the processor: numba's compiler does not find that out by
itself and takes three times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

__all__ = ["cubic"]

POWERS = ((0.0, 1.0, 0.0, 0.0), (-0.5, 0.0, 0.5, 0.0), (1.0, -2.5, 2.0, -0.5), (-0.5, 1.5, -1.5, 0.5))
"""Weights of four pixels in a row: times the powers of the place, 0 to 1, between the second and the third."""


def cubic(flat, at, stride, fx, fy):
    """Return what is between pixels.

    Parameters
    ----------
    flat : ndarray of float32, shape (n,)
        The image, row after row.
    at : int
        Its pixel above and to the left of the four that the place lies between.
    stride : int
        Numbers from one row to the next.
    fx, fy : float32
        The place between these four, 0 to 1 to the right and down.
    """
    across, down = (np.float32([1, f, f * f, f * f * f]) @ np.float32(POWERS) for f in (fx, fy))
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
