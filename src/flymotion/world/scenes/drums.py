"""The inside of a drum: a scene of one dimension, wrapped round an eye."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flymotion.brevity import in_brief
from flymotion.world.scenes.scene import FlatScene, check_seen

__all__ = ["Drum"]

POLE = 1e-6
"""Least cosine of a latitude that optics are stretched by: nearer to a pole they see all round in any case."""


@dataclass(frozen=True)
class Drum:
    r"""A scene of one dimension [deg], wrapped round the vertical: along it to the right is longitude to the right.

    .. math:: s(\lambda, \beta) = s_1(\lambda; \sigma / \cos \beta)

    at the longitude :math:`\lambda` to the right of straight ahead and the latitude :math:`\beta`, where a degree of
    longitude is :math:`\cos \beta` degrees wide, so that optics of :math:`\sigma` see so many more of them.

    Parameters
    ----------
    scene : FlatScene
        Of one dimension, in degrees. What it shows at -180 and at 180 meets behind: a grating whose wavelength is a
        whole part of 360 degrees has no seam there.

    Raises
    ------
    ValueError
        A scene of another dimension.

    Notes
    -----
    The optics are those of the tangent plane. A sine grating of 30 degrees seen by a fly differs from the heat kernel
    of :class:`~flymotion.world.scenes.SphericalScene` by at most 0.007 of its contrast, within 60 degrees of the
    horizon by at most 0.0014.

    Examples
    --------
    >>> from flymotion.world.scenes import Grating
    >>> drum = Drum(Grating(90.0))
    >>> drum.sample(np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, -1.0, 0.0]]), 0.0).round(9)
    array([ 1.,  1., -1.])
    """

    scene: FlatScene

    __repr__ = in_brief

    ndim = 3
    wraps = True

    def __post_init__(self) -> None:
        if self.scene.ndim != 1:
            raise ValueError(f"a scene of {self.scene.ndim} dimensions on a drum; expected one of 1 dimension")

    def sample(self, points: np.ndarray, sigma: Any) -> np.ndarray:
        """Intensity in directions, shape (..., 3), of any length, through optics of width sigma [deg]; shape (...).

        Where each lens has a width of its own, sigma has the shape of the last axis of the intensities.
        """
        check_seen(points, sigma)
        x, y, z = np.moveaxis(np.asarray(points, dtype=float), -1, 0)
        right, across = np.degrees(np.arctan2(-y, x)), np.hypot(x, y)
        latitude = across / np.hypot(across, z)
        width = np.ravel(sigma / np.maximum(latitude, POLE))
        return self.scene.sample(right.reshape(-1, 1), width[:, None, None] ** 2).reshape(right.shape)
