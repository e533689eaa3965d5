"""From what is stored to luminance: decoded frames, orientation, crops, and averages over areas."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from flymotion.video.reader import Grey

__all__ = ["area_means", "area_sums", "cell_means", "grey_of_frame", "luminance"]

_Y_FIRST = re.compile(r"(gray|yuvj?a?4\d\dp|nv\d\d)(\d+)?(le|be)?")  # pixel formats whose plane 0 is Y alone
_FULL_RANGE = 2  # AVCOL_RANGE_JPEG


def luminance(grey: Grey, downsample: int = 1) -> np.ndarray:
    """Average ``downsample`` x ``downsample`` areas, clipped to black and white, on the scale of luminance.

    Parameters
    ----------
    grey : Grey
        Values of shape (height, width), or (n_pixels,) if ``downsample`` is 1.
    downsample : int
        Side of an area [pixels]; rows and columns that do not fill one are left out, at the bottom and right.

    Returns
    -------
    ndarray, shape (height // downsample, width // downsample)
        A new float32 array.
    """
    values = grey.values
    if grey.high is not None:
        values = np.clip(values, grey.low, grey.high)
        values -= values.dtype.type(grey.low)  # whole numbers, so that black is exactly 0
    if downsample > 1:
        values = area_sums(values, downsample)
    return np.multiply(values, grey.gain / downsample**2, dtype=np.float32, order="C", casting="same_kind")


def area_sums(values: np.ndarray, side: int) -> np.ndarray:
    """Sum areas of ``side`` x ``side`` pixels, shape (height // side, width // side).

    Whole numbers are summed in the narrowest type that holds the sum: twice the pixels in each instruction.
    """
    height, width = (n // side * side for n in values.shape)
    kind: Any = values.dtype
    if kind.kind == "u":
        kind = np.min_scalar_type(np.iinfo(kind).max * side**2)
    values = values[:height, :width]
    rows = values[::side].astype(kind)
    for i in range(1, side):
        rows += values[i::side]
    sums = rows[:, ::side].copy()
    for i in range(1, side):
        sums += rows[:, i::side]
    return sums


def area_means(planes: np.ndarray, side: int) -> np.ndarray:
    """Return means over areas of ``side`` x ``side`` pixels of planes.

    Parameters
    ----------
    planes : ndarray of floating-point numbers, shape (..., height, width)
        What to average; NaN where one of an area is.
    side : int
        Of an area [pixels]; what does not fill one is left out, at the bottom and right.

    Returns
    -------
    ndarray, shape (..., height // side, width // side)

    Examples
    --------
    >>> area_means(np.arange(15.0).reshape(1, 3, 5), 2)
    array([[[3., 5.]]])
    """
    sums = [area_sums(plane, side) for plane in planes.reshape(-1, *planes.shape[-2:])]
    return np.reshape(sums, (*planes.shape[:-2], *sums[0].shape)) / planes.dtype.type(side**2)


def cell_means(planes: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
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
    >>> cell_means(np.arange(15.0).reshape(1, 3, 5), (1, 2))
    array([[[5.5, 8. ]]])
    """
    for axis, n in zip((1, 2), shape, strict=True):
        side = planes.shape[axis]
        edges = np.arange(n) * side // n
        counts = np.maximum(np.diff(edges, append=side), 1).astype(planes.dtype)
        planes = np.add.reduceat(planes, edges, axis=axis) / counts.reshape((-1, 1) if axis == 1 else -1)
    return planes


def grey_of_frame(frame: Any, rotate: bool) -> Grey:
    """Return the grey values of a decoded frame of PyAV, upright if ``rotate``."""
    grey = _grey(frame)
    return grey._replace(values=_upright(grey.values, frame)) if rotate else grey


def _grey(frame: Any) -> Grey:
    name = frame.format.name
    if not _Y_FIRST.fullmatch(name) or frame.planes[0].line_size < 0:
        # Not "gray16": the threads of libswscale 9 race in most conversions to it.
        return Grey(frame.reformat(format="gray").to_ndarray())
    if name.endswith("be"):
        frame = frame.reformat(format=name[:-2] + "le")
    bits = frame.format.components[0].bits
    rows = np.frombuffer(frame.planes[0], "u1" if bits == 8 else "<u2").reshape(frame.height, -1)
    y = rows[:, : frame.width]  # rows are padded
    if name.startswith("gray"):
        return Grey(y)
    if name.startswith("yuvj") or frame.color_range == _FULL_RANGE:
        return Grey(y, 0, 2**bits - 1, 255 / (2**bits - 1))
    step = 2 ** (bits - 8)
    return Grey(y, 16 * step, 235 * step, 255 / (219 * step))


def _upright(image: np.ndarray, frame: Any) -> np.ndarray:
    from av.sidedata.sidedata import SideDataContainer

    matrix = SideDataContainer(frame).get("DISPLAYMATRIX")  # frame.side_data keeps the frame alive: a cycle
    if matrix is None:
        return image
    a, b, _, c, d = np.frombuffer(matrix, np.int32)[:5]  # x' = a x + c y, y' = b x + d y
    if abs(b) > abs(a):
        image, a, d = image.T, c, b
    return image[:: -1 if d < 0 else 1, :: -1 if a < 0 else 1]
