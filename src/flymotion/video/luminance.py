"""From what is stored to luminance: decoded frames, their orientation, and averages over areas."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from flymotion.video.reader import Grey, Orientation

__all__ = ["area_averages", "area_sums", "cell_averages", "grey_of_frame", "luminance"]

_Y_FIRST = re.compile(r"(gray|yuvj?a?4\d\dp|nv\d\d)(\d+)?(le|be)?")  # pixel formats whose plane 0 is Y alone
_FULL_RANGE = 2  # AVCOL_RANGE_JPEG


def luminance(grey: Grey, scale: int = 1) -> np.ndarray:
    """Average ``scale`` x ``scale`` areas, clipped to black and white, in units of luminance.

    Parameters
    ----------
    grey : Grey
        Values of shape (height, width), or (n_pixels,) if ``scale`` is 1.
    scale : int
        Side of an area [pixels]; rows and columns that do not fill one are left out, at the bottom and right.

    Returns
    -------
    ndarray, shape (height // scale, width // scale)
        A new float32 array.
    """
    values = grey.values
    if grey.high is not None:
        values = np.clip(values, grey.low, grey.high)
        values -= values.dtype.type(grey.low)  # whole numbers, so that black is exactly 0
    if scale > 1:
        values = area_sums(values, scale)
    return np.multiply(values, grey.gain / scale**2, dtype=np.float32, order="C", casting="same_kind")


def area_averages(planes: np.ndarray, scale: int) -> np.ndarray:
    """Average areas of ``scale`` x ``scale`` pixels; rows and columns left over at the end are dropped.

    Parameters
    ----------
    planes : ndarray of floating-point numbers, shape (..., height, width)
        Frames or other planes; NaN where one of an area is.
    scale : int
        Side of the squares that become one pixel [pixels].

    Returns
    -------
    ndarray, shape (..., height // scale, width // scale)
        Of the type of the planes.

    Examples
    --------
    >>> area_averages(np.arange(15.0).reshape(1, 3, 5), 2)
    array([[[3., 5.]]])
    """
    averages = np.empty((*planes.shape[:-2], *(side // scale for side in planes.shape[-2:])), dtype=planes.dtype)
    for index in np.ndindex(planes.shape[:-2]):
        np.divide(area_sums(planes[index], scale), planes.dtype.type(scale**2), out=averages[index])
    return averages


def cell_averages(planes: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return means over a grid of so many cells, which share the pixels of planes as evenly as can be.

    Parameters
    ----------
    planes : ndarray, shape (n, height, width)
        What to average; where there are fewer pixels than cells, cells share them.
    shape : (int, int)
        Rows and columns of cells.

    Returns
    -------
    ndarray, shape (n, *shape)

    Examples
    --------
    >>> cell_averages(np.arange(15.0).reshape(1, 3, 5), (1, 2))
    array([[[5.5, 8. ]]])
    """
    for axis, n in zip((1, 2), shape, strict=True):
        side = planes.shape[axis]
        edges = np.arange(n) * side // n
        counts = np.maximum(np.diff(edges, append=side), 1).astype(planes.dtype)
        planes = np.add.reduceat(planes, edges, axis=axis) / counts.reshape((-1, 1) if axis == 1 else -1)
    return planes


def area_sums(values: np.ndarray, scale: int) -> np.ndarray:
    """Sum areas of ``scale`` x ``scale`` pixels, shape (height // scale, width // scale).

    Whole numbers are summed in the narrowest type that holds the sum: twice the pixels in each instruction.
    """
    height, width = (n // scale * scale for n in values.shape)
    kind: Any = values.dtype
    if kind.kind == "u":
        kind = np.min_scalar_type(np.iinfo(kind).max * scale**2)
    values = values[:height, :width]
    rows = values[::scale].astype(kind)
    for i in range(1, scale):
        rows += values[i::scale]
    sums = rows[:, ::scale].copy()
    for i in range(1, scale):
        sums += rows[:, i::scale]
    return sums


def grey_of_frame(frame: Any, coded: bool) -> Grey:
    """Return the grey values of a decoded frame of PyAV, of a codec that may lose something or of one that does not."""
    return _grey(frame)._replace(orientation=_orientation(frame), coded=coded)


def _grey(frame: Any) -> Grey:
    name = frame.format.name
    if not _Y_FIRST.fullmatch(name) or frame.planes[0].line_size < 0:
        # Not "gray16": the threads of libswscale 9 race in most conversions to it.
        return Grey(frame.reformat(format="gray").to_ndarray(), white=255.0, step=1.0)
    if name.endswith("be"):
        frame = frame.reformat(format=name[:-2] + "le")
    bits = frame.format.components[0].bits
    rows = np.frombuffer(frame.planes[0], "u1" if bits == 8 else "<u2").reshape(frame.height, -1)
    y = rows[:, : frame.width]  # rows are padded
    if name.startswith("gray"):
        return Grey(y, white=255.0 if bits == 8 else None, step=1.0)
    if name.startswith("yuvj") or frame.color_range == _FULL_RANGE:
        black, white = 0, 2**bits - 1
    else:
        black, white = 16 * 2 ** (bits - 8), 235 * 2 ** (bits - 8)
    step = 255 / (white - black)
    return Grey(y, black, white, step, white=255.0, step=step)


def _orientation(frame: Any) -> Orientation | None:
    from av.sidedata.sidedata import SideDataContainer

    matrix = SideDataContainer(frame).get("DISPLAYMATRIX")  # frame.side_data keeps the frame alive: a cycle
    if matrix is None:
        return None
    a, b, _, c, d = np.frombuffer(matrix, np.int32)[:5].tolist()  # x' = a x + c y, y' = b x + d y
    return Orientation(True, b < 0, c < 0) if abs(b) > abs(a) else Orientation(False, d < 0, a < 0)
