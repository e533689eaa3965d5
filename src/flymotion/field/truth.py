r"""Measured motion against the truth: errors of a velocity field, and the file format that true fields come in.

Baker et al. 2011 (A database and evaluation methodology for optical flow, Int. J. Comput. Vis. 92, Sec. 4) score a
velocity :math:`(u, v)` against the true :math:`(u_0, v_0)`, pixel by pixel, by

.. math::
    \text{EE} = \sqrt{(u - u_0)^2 + (v - v_0)^2}, \qquad
    \text{AE} = \angle\big[(u, v, 1), (u_0, v_0, 1)\big].

Fields are (x right, y down) [pixels per frame], their components first, as in :class:`flymotion.field.Field`. The truth
is NaN where it is not known, and so are errors there.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from flymotion.frames import not_masked

__all__ = ["angular_error", "endpoint_error", "read_flo"]

MAGIC = b"PIEH"
"""How a .flo file begins: 202021.25 as a float32."""

UNKNOWN = 1e9
"""Components larger than this stand for motion that is not known."""


def endpoint_error(velocity: Any, truth: Any) -> np.ndarray:
    """Return the distance between measured and true velocity.

    Parameters
    ----------
    velocity, truth : array-like, shape (2, ...)
        Alike, or to be broadcast: a truth of shape (2, 1, 1) is one motion for all pixels.

    Returns
    -------
    ndarray, shape (...)
        [pixels per frame]

    Raises
    ------
    ValueError
        Fields that do not have two components first.

    Examples
    --------
    >>> endpoint_error([[3.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [4.0, np.nan]])
    array([ 5., nan])
    """
    difference = _components(velocity, "velocity") - _components(truth, "truth")
    return np.hypot(*difference)


def angular_error(velocity: Any, truth: Any) -> np.ndarray:
    """Return the angle in space and time between measured and true velocity, each as (u, v, 1).

    Parameters
    ----------
    velocity, truth : array-like, shape (2, ...)
        As for :func:`endpoint_error`.

    Returns
    -------
    ndarray, shape (...)
        [deg]

    Raises
    ------
    ValueError
        Fields that do not have two components first.

    Examples
    --------
    >>> angular_error([1.0, 0.0], [0.0, 0.0]).round(9)
    np.float64(45.0)
    """
    (u, v), (u0, v0) = _components(velocity, "velocity"), _components(truth, "truth")
    across = np.sqrt((u - u0) ** 2 + (v - v0) ** 2 + (u * v0 - v * u0) ** 2)  # |cross product|: exact for small angles
    return np.degrees(np.arctan2(across, u * u0 + v * v0 + 1))


def _components(field: Any, name: str) -> np.ndarray:
    not_masked(field, f"the {name}", "places")
    field = np.asarray(field, dtype=float)
    if field.ndim < 1 or len(field) != 2:
        raise ValueError(f"the {name} has shape {field.shape}; expected its two components, (x right, y down), first")
    return field


def read_flo(path: str | Path) -> np.ndarray:
    """Read a velocity field in the format of the Middlebury benchmark.

    Parameters
    ----------
    path : path
        A .flo file: "PIEH", width and height as int32, then u, v of each pixel, row by row, as float32; little-endian.

    Returns
    -------
    ndarray of float32, shape (2, height, width)
        (x right, y down) [pixels per frame]; NaN where it is not known.

    Raises
    ------
    ValueError
        A file that begins otherwise, or is longer or shorter than its size in pixels says.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "flow.flo"
    >>> velocity = np.array([[[1.0, 0.5], [1.0, 0.5]]], dtype="<f4")  # two pixels, u and v of each
    >>> _ = path.write_bytes(b"PIEH" + np.array([2, 1], dtype="<i4").tobytes() + velocity.tobytes())
    >>> read_flo(path).tolist()
    [[[1.0, 1.0]], [[0.5, 0.5]]]
    """
    content = Path(path).read_bytes()
    if content[:4] != MAGIC:
        raise ValueError(f"{path}: begins with {content[:4]!r}; expected {MAGIC!r}, as a .flo file does")
    if len(content) < 12:
        raise ValueError(f"{path}: {len(content)} bytes; expected at least the 12 of a .flo file's header")
    width, height = struct.unpack("<ii", content[4:12])
    if width < 1 or height < 1 or len(content) != 12 + 8 * width * height:
        raise ValueError(
            f"{path}: {len(content)} bytes for {width} x {height} pixels; expected both sizes positive and "
            f"{12 + 8 * width * height} bytes"
        )
    field = np.frombuffer(content, "<f4", offset=12).reshape(height, width, 2).transpose(2, 0, 1)
    known = (np.abs(field) <= UNKNOWN).all(axis=0)
    return np.where(known, field, np.float32(np.nan)).astype(np.float32, copy=False)
