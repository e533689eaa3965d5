r"""A camera is a piece of the sphere: which direction each of its pixels looks in.

A pinhole. Pixel (u right, v down), whole at the middles of pixels and (0, 0) at that of the upper left one, looks along

.. math:: (\text{right}, \text{down}, \text{ahead})^T \propto K^{-1} (u, v, 1)^T

===========  =======  ====================================================================
``K``        (3, 3)   intrinsics: focal lengths and skew, and where the axis meets the picture [pixels]
direction    (3,)     unit vector (x forward, y left, z up), of the eye that has the camera
===========  =======  ====================================================================
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.frames import unmasked

__all__ = ["Camera"]


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole camera that looks ahead, or is turned.

    Parameters
    ----------
    height, width : int
        Of its frames [pixels].
    fov : float, optional
        Horizontal angle of view, from the left edge of the picture to its right edge [deg]; pixels are squares then,
        and the axis is in the middle. Of a camera that has a matrix, what that makes it.
    matrix : array-like, shape (3, 3), optional
        Intrinsics, as of a calibration: upper triangular, ``[[fx, skew, cx], [0, fy, cy], [0, 0, 1]]`` [pixels].
    attitude : array-like, shape (3, 3), optional
        Rotation that takes the camera's directions to those of the eye; by default both look ahead.

    Raises
    ------
    ValueError
        Sides that are not positive whole numbers; neither an angle nor a matrix, or both; an angle of view not between
        0 and 180; a matrix of another form, or an attitude that is no rotation.

    Examples
    --------
    >>> camera = Camera(3, 3, fov=90.0)
    >>> camera.directions()[1].round(3).tolist()
    [[0.832, 0.555, 0.0], [1.0, 0.0, 0.0], [0.832, -0.555, 0.0]]
    >>> camera.pixels([[1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [-1.0, 0.0, 0.0]]).round(9).tolist()
    [[1.0, 1.0], [2.5, 1.0], [nan, nan]]
    """

    height: int
    width: int
    _: KW_ONLY
    fov: float | None = None
    matrix: Any = None
    attitude: Any = None

    __repr__ = in_brief

    def __post_init__(self) -> None:
        if not all(isinstance(side, int | np.integer) and side > 0 for side in (self.height, self.width)):
            raise ValueError(f"a camera of {self.height} x {self.width} pixels; expected positive whole numbers")
        if (self.fov is None) == (self.matrix is None):
            raise ValueError("a camera has an angle of view, fov, or a matrix of intrinsics; expected one of the two")
        matrix = _of_view(self.height, self.width, self.fov) if self.matrix is None else _intrinsics(self.matrix)
        attitude = np.eye(3) if self.attitude is None else _rotation(self.attitude)
        for name, array in (("matrix", matrix), ("attitude", attitude)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        (fx, _, cx), *_ = matrix
        edges = math.atan((cx + 0.5) / fx) + math.atan((self.width - 0.5 - cx) / fx)
        object.__setattr__(self, "fov", math.degrees(edges))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of a frame [pixels]."""
        return (self.height, self.width)

    @property
    def pixel(self) -> float:
        """Angle that a pixel spans on the axis, the root of its area [deg]."""
        return math.degrees(1 / math.sqrt(self.matrix[0, 0] * self.matrix[1, 1]))

    def directions(self) -> np.ndarray:
        """Return the unit vectors (x forward, y left, z up) that pixels look along, shape (height, width, 3)."""
        v, u = np.indices(self.shape, dtype=float)
        seen = np.stack([u, v, np.ones(self.shape)], axis=-1) @ np.linalg.inv(self.matrix).T
        right, down, ahead = np.moveaxis(seen / np.linalg.norm(seen, axis=-1, keepdims=True), -1, 0)
        return np.stack([ahead, -right, -down], axis=-1) @ self.attitude.T

    def pixels(self, directions: Any) -> np.ndarray:
        """Return where in the picture directions are seen, be it inside its frame or not.

        Parameters
        ----------
        directions : array-like, shape (..., 3)
            Vectors (x forward, y left, z up) of any length but 0.

        Returns
        -------
        ndarray, shape (..., 2)
            Pixels (x right, y down), NaN of what is not in front of the camera.

        Raises
        ------
        ValueError
            Directions of another shape.
        """
        ahead, left, up = np.moveaxis(_vectors(directions) @ self.attitude, -1, 0)
        depth = np.where(ahead > 0, ahead, np.nan)
        return np.stack([-left / depth, -up / depth, np.ones_like(depth)], axis=-1) @ self.matrix[:2].T

    def solid_angles(self, directions: Any) -> np.ndarray:
        r"""Return what a pixel spans that looks along each direction, :math:`\cos^3 \theta / f_x f_y`.

        Parameters
        ----------
        directions : array-like, shape (..., 3)
            Unit vectors.

        Returns
        -------
        ndarray, shape (...)
            Solid angles [sr], 0 of what is not in front of the camera.

        Raises
        ------
        ValueError
            Directions of another shape.
        """
        cosine = _vectors(directions) @ self.attitude[:, 0]
        return np.maximum(cosine, 0) ** 3 / (self.matrix[0, 0] * self.matrix[1, 1])

    def reduced(self, scale: int) -> Camera:
        """Return the camera whose pixels are squares of ``scale`` x ``scale`` of this one's, as area averages are.

        Raises
        ------
        ValueError
            A scale that is no positive whole number, or is larger than the picture.
        """
        if not isinstance(scale, int | np.integer) or not 1 <= scale <= min(self.shape):
            raise ValueError(f"the scale is {scale!r}; expected a whole number from 1 to {min(self.shape)}")
        middle = (1 / scale - 1) / 2
        to = np.array([[1 / scale, 0.0, middle], [0.0, 1 / scale, middle], [0.0, 0.0, 1.0]])
        height, width = self.height // scale, self.width // scale
        return replace(self, height=height, width=width, fov=None, matrix=to @ self.matrix)


def _vectors(given: Any) -> np.ndarray:
    directions = unmasked(given, "directions", float)
    if directions.shape[-1:] != (3,):
        raise ValueError(f"directions have shape {directions.shape}; expected (..., 3)")
    return directions


def _of_view(height: int, width: int, fov: Any) -> np.ndarray:
    if not 0 < fov < 180:
        raise ValueError(f"fov is {fov}; expected a horizontal angle of view between 0 and 180 degrees")
    focal = width / 2 / math.tan(math.radians(fov) / 2)
    return np.array([[focal, 0.0, (width - 1) / 2], [0.0, focal, (height - 1) / 2], [0.0, 0.0, 1.0]])


def _intrinsics(given: Any) -> np.ndarray:
    matrix = np.array(unmasked(given, "matrix", float))
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
        raise ValueError(f"matrix has shape {matrix.shape}; expected finite numbers, (3, 3)")
    if np.tril(matrix, -1).any() or matrix[2, 2] != 1 or not (np.diag(matrix) > 0).all():
        raise ValueError(
            f"matrix is {matrix.tolist()}; expected intrinsics, upper triangular, [[fx, skew, cx], [0, fy, cy], "
            "[0, 0, 1]] with positive focal lengths [pixels]"
        )
    return matrix


def _rotation(given: Any) -> np.ndarray:
    attitude = np.array(unmasked(given, "attitude", float))
    shaped = attitude.shape == (3, 3) and np.isfinite(attitude).all()
    if not shaped or not np.allclose(attitude @ attitude.T, np.eye(3), atol=1e-6) or np.linalg.det(attitude) < 0:
        raise ValueError(f"attitude is {attitude.tolist()}; expected a rotation, a matrix of shape (3, 3)")
    return attitude
