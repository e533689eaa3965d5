r"""Video on an eye: what each lens receives of a picture, by one sparse matrix.

A lens at the direction d accepts light as a Gaussian of the angle, which is, as that of spherical scenes, the heat
kernel of the sphere. Its weights are that kernel times the solid angle of each pixel, divided by their sum:

.. math:: w_{dp} \propto \sqrt{\gamma / \sin \gamma}\, \exp(-\gamma^2 / 2 \sigma'^2)\, \Omega_p, \qquad
    \sigma'^2 = \sigma^2 - \Omega / 12

===========  ====================  ==================================================================
``gamma``    (n_lenses, n_blocks)  angle between the lens and the middle of a block of pixels [rad]
``Omega``    (n_blocks,)           solid angle of a block [sr]
``sigma``    (n_lenses,)           width of the lens; sigma' leaves out what averaging a block adds to it
===========  ====================  ==================================================================

Pixels are squares that average, and as many of them are averaged first as half a lens is wide: that takes most of the
work out, and changes weights by less than one part in a million.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from flymotion.brevity import in_brief
from flymotion.frames import in_order, not_masked
from flymotion.video.luminance import area_sums
from flymotion.video.pinhole import Camera
from flymotion.world.eyes import Eye, as_eye
from flymotion.world.globe import seen_from

__all__ = ["OntoEye"]

REACH = 4.0
"""Where acceptance functions are cut off [sigma]: 3 parts in 10,000 lie beyond."""

PER_BLOCK = 2.0
"""Least width of a lens, sigma, in blocks of pixels, where pixels allow it."""

SHARPEST = 0.6
"""Least width of a lens [blocks]; narrower, it would see single pixels, or fall between them."""


@dataclass(frozen=True, eq=False)
class OntoEye:
    """What an eye receives of a camera's frames.

    Parameters
    ----------
    camera : Camera
        Of the frames.
    eye : Eye
        A spherical one, or a flat one, whose pixels look along the longitudes and latitudes of a globe, as those that
        a scene all round is shown to do.
    spacing : float, optional
        Angle between neighbouring pixels of a flat eye [deg].
    outside : float
        Largest share of a lens's acceptance that may lie outside the picture; the rest is as if it were the whole.

    Attributes
    ----------
    scale : int
        Side of the blocks of pixels that are averaged first [pixels].
    weights : csr_array of float32, shape (n_pixels, n_blocks)
        Of each block on each lens, rows that add up to 1, empty for lenses that do not see the picture.
    share : ndarray, shape (n_pixels,)
        Of each lens's acceptance, how much lies in the picture.
    seen : ndarray of bool, shape (n_pixels,)
        Which lenses see the picture.

    Raises
    ------
    ValueError
        A flat eye without a spacing, or a share that is not from 0 to 1.

    Examples
    --------
    >>> from flymotion.world.eyes import Hexagon
    >>> onto = OntoEye(Camera(60, 120, fov=60.0), Hexagon(4), spacing=5.0)
    >>> received = onto(np.full((1, 60, 120), 7.0))
    >>> received.shape, int(onto.seen.sum()), received[0, [26, 30]].round(3).tolist()
    ((1, 61), 41, [nan, 7.0])
    """

    camera: Camera
    eye: Eye
    _: KW_ONLY
    spacing: float | None = None
    outside: float = 0.02
    scale: int = field(init=False)
    weights: csr_array = field(init=False)
    share: np.ndarray = field(init=False)
    seen: np.ndarray = field(init=False)

    __repr__ = in_brief

    def __post_init__(self) -> None:
        if not 0 <= self.outside <= 1:
            raise ValueError(f"outside is {self.outside}; expected a share from 0 to 1")
        directions, sigma = seen_from(as_eye(self.eye), self.spacing)
        scale = _scale(self.camera, float(sigma.min()))
        weights = _acceptance(self.camera.reduced(scale), directions, np.radians(sigma))
        share = np.asarray(weights.sum(axis=1))
        seen = (share >= 1 - self.outside) & (share > 0)
        gain = np.divide(1.0, share, out=np.zeros_like(share), where=seen)
        weights.data *= np.repeat(gain, np.diff(weights.indptr))
        weights.eliminate_zeros()
        for name, value in (("scale", scale), ("weights", weights.astype(np.float32)), ("share", share)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "seen", seen)

    def __call__(self, frames: Any) -> np.ndarray:
        """Return what each lens receives of frames.

        Parameters
        ----------
        frames : array-like, shape (n_frames, height, width)
            Luminance.

        Returns
        -------
        ndarray, shape (n_frames, n_pixels), float32
            Mean luminance over each lens's acceptance, NaN for lenses that do not see the picture, and never 0.

        Raises
        ------
        TypeError
            Frames that are not real numbers.
        ValueError
            Frames of another size, masked or not finite.
        """
        not_masked(frames, "frames", "pixels")
        frames = np.asarray(in_order(frames))
        if frames.dtype.kind not in "biuf":
            raise TypeError(f"frames have dtype {frames.dtype}; expected real numbers")
        if frames.shape[1:] != self.camera.shape:
            height, width = self.camera.shape
            raise ValueError(f"frames have shape {frames.shape}; expected (n_frames, {height}, {width}) as the camera")
        received = np.full((len(frames), self.weights.shape[0]), np.nan, dtype=np.float32)
        kind = frames.dtype if frames.dtype.kind == "u" or frames.dtype == np.float64 else np.dtype(np.float32)
        for k, frame in enumerate(frames):
            sums = area_sums(frame.astype(kind, copy=False), self.scale).astype(np.float32, copy=False).ravel()
            if not math.isfinite(sums.sum()):
                raise ValueError(f"frame {k} has pixels that are not finite; expected finite luminance")
            received[k] = np.where(self.seen, self.weights @ sums / np.float32(self.scale**2), np.float32(np.nan))
        return received


def _scale(camera: Camera, sigma: float) -> int:
    """Return the side of the blocks to average: up to half the narrowest lens, and leaving out few pixels."""
    most = max(1, min(int(sigma / PER_BLOCK / camera.pixel), *camera.shape))
    return max(range(most // 2 + 1, most + 1), key=lambda k: (-sum(side % k for side in camera.shape), k))


def _acceptance(camera: Camera, directions: np.ndarray, sigma: np.ndarray) -> csr_array:
    """Return the weights of pixels on lenses; their sums are the shares of the acceptance that they cover."""
    pixels = camera.directions().reshape(-1, 3)
    area = camera.solid_angles(pixels)
    own = camera.solid_angles(directions)
    variance = np.maximum(sigma**2 - own / 12, SHARPEST**2 * np.where(own > 0, own, area.max()))
    farthest = REACH * math.sqrt(variance.max())
    near = cKDTree(directions).sparse_distance_matrix(
        cKDTree(pixels), 2 * math.sin(min(farthest, math.pi) / 2), output_type="ndarray"
    )
    lens, pixel = near["i"], near["j"]
    gamma = 2 * np.arcsin(np.minimum(near["v"] / 2, 1))
    kept = gamma <= REACH * np.sqrt(variance[lens])
    lens, pixel, gamma = lens[kept], pixel[kept], gamma[kept]
    kernel = np.exp(variance / 8)[lens] / (2 * math.pi * variance[lens]) * np.exp(-(gamma**2) / (2 * variance[lens]))
    kernel *= np.sqrt(1 / np.sinc(gamma / math.pi)) * area[pixel]
    return csr_array((kernel, (lens, pixel)), shape=(len(directions), len(pixels)))
