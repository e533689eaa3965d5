"""What every scene has to offer, and the conventions that all share."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from flymotion.frames import as_frames, not_masked, unmasked

__all__ = ["FlatScene", "Scene", "as_covariances", "as_luminance", "check_seen"]


class Scene(Protocol):
    """What a scene has to offer.

    Examples
    --------
    >>> from flymotion.world.scenes import Grating, SphericalNoise
    >>> flat, all_round = Grating(8.0, ndim=2), SphericalNoise(20.0, random_state=0)
    >>> flat.ndim, all_round.ndim
    (2, 3)
    >>> flat.sample(np.array([[0.0, 0.0], [4.0, 0.0]]), sigma=0.0).round(6)  # bright, and half a wavelength away dark
    array([ 1., -1.])
    """

    @property
    def ndim(self) -> int:
        """Dimensions of the scene: 1, 2, or 3 for one all round, whose points are unit vectors."""

    def sample(self, points: np.ndarray, sigma: float | np.ndarray) -> np.ndarray:
        """Intensity at points, shape (..., ndim), seen through Gaussian optics; shape (...).

        ``sigma`` is the width of round optics [pixel spacings]; or, for optics that a linear motion has made elliptic,
        covariances, shape (n, ndim, ndim) [pixel spacings squared]: one for each entry along the first axis of points.
        """


class FlatScene(Scene, Protocol):
    """What a scene of one or two dimensions has to offer besides.

    Examples
    --------
    >>> from flymotion.world.scenes import SmoothNoise
    >>> scene = SmoothNoise(2.0, period=64.0, random_state=0)
    >>> scene.extent.tolist(), scene.wraps  # an eye may be anywhere in a period, and look across its border
    ([[0.0, 64.0]], True)
    """

    @property
    def extent(self) -> np.ndarray:
        """Where an eye may be put, shape (ndim, 2): low and high [pixel spacings]."""

    @property
    def wraps(self) -> bool:
        """Whether a view that crosses the border of the extent is as good as any other."""


def as_luminance(image: Any) -> np.ndarray:
    """Return an image as float64, shape (height, width); colours, a last axis of 3 or 4, weighted by Rec. 601."""
    image = as_frames(image, name="image").astype(float)
    return image[..., :3] @ np.array([0.299, 0.587, 0.114]) if image.ndim == 3 and image.shape[2] in (3, 4) else image


def check_seen(points: Any, sigma: Any) -> None:
    """Refuse places and optics that hide entries."""
    not_masked(points, "points")
    not_masked(sigma, "sigma")


def as_covariances(sigma: Any, points: np.ndarray) -> np.ndarray:
    """Return elliptic optics, one for each entry along the first axis of the points, shape (n, ndim, ndim)."""
    covariances, ndim = unmasked(sigma, "sigma", float), points.shape[-1]
    if points.ndim < 2 or covariances.shape != (len(points), ndim, ndim):
        raise ValueError(
            f"sigma has shape {covariances.shape} for points of shape {points.shape}; expected a width, or one "
            f"covariance of shape ({ndim}, {ndim}) for each entry along the first axis of the points"
        )
    return covariances
