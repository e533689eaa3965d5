r"""How much of a patch is noise, and whitening of what is not.

Sensor noise and a codec's errors change every mode of patches from frame to frame, whatever moves; motion changes each
mode i in proportion to its gradient:

.. math:: D_i = 2 N_i + v^2 G_i

The speed v is that of the modes that change least for their gradient; what others change more is noise. A codec leaves
no noise in flat patches, and much in textured ones, so these are what is looked at, at unit contrast.

==========  ================  =========================================================================================
``C``       (n, n)            covariance of patches of unit contrast, signal and noise, their means taken off
``D``       (n, n)            covariance of their changes from frame to frame
``G``       (n, n)            half the covariances of their gradients along rows and columns, of one frame with the
                              next, so that noise is not in it
``v``       scalar            root mean square speed [pixels per frame]
==========  ================  =========================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from flymotion.frames import FramePairs
from flymotion.photoreceptors.stage import EarlyVision
from flymotion.video.viewing import contrasts, random_pairs, speeds
from flymotion.world.conventions import as_generator

__all__ = [
    "GivenWhitening",
    "Moments",
    "moments",
    "symmetries",
    "whitened",
    "whitening",
]

RIDGE = 3e-3
"""Of the whitening, relative to the mean variance of a pixel."""

UNMOVED = 0.1
"""Share of the modes that are taken to change by motion alone."""


class Moments(NamedTuple):
    """Second moments of patches of unit contrast, averaged over the symmetries of the square.

    Attributes
    ----------
    C, D, G : ndarray, shape (n, n)
        Of patches, of their changes, and of their gradients.
    n_patches : int
        How many they are averages over.
    """

    C: np.ndarray
    D: np.ndarray
    G: np.ndarray
    n_patches: int

    def __add__(self, other: Any) -> Moments:
        """Pool with the moments of other patches."""
        n = self.n_patches + other.n_patches
        pooled = ((a * self.n_patches + b * other.n_patches) / n for a, b in zip(self[:3], other[:3], strict=True))
        return Moments(next(pooled), next(pooled), next(pooled), n)

    def noise(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Split the variance of each mode into signal and noise.

        Returns
        -------
        variances : ndarray, shape (n - 1,)
            Of the modes, noise included; largest first. The mean of a patch is none of them.
        noise : ndarray, shape (n - 1,)
            Of each mode, of one frame; at most its variance.
        modes : ndarray, shape (n, n - 1)
            Eigenvectors of C.
        """
        values, vectors = np.linalg.eigh(self.C)
        values, modes = np.maximum(values[:0:-1], 0), vectors[:, :0:-1]
        change, gradient = (np.einsum("im,ij,jm->m", modes, M, modes) for M in (self.D, self.G))
        moving = gradient > 1e-9 * gradient.max(initial=0.0)
        speed2 = np.quantile(change[moving] / gradient[moving], UNMOVED) if moving.any() else 0.0
        return values, np.clip((change - speed2 * np.maximum(gradient, 0)) / 2, 0, values), modes


def moments(clips: Sequence[np.ndarray], patch: int, random_state: Any = None) -> Moments:
    """Measure the moments of patches of more than median contrast, of the slower half of them.

    Parameters
    ----------
    clips : sequence of ndarray, shape (n_frames, height, width)
        Frames as viewed, in a row; cut from clip to clip.
    patch : int
        Side of a patch [pixels].
    random_state : int, Generator, RandomState or None
        Source of the places looked at.
    """
    before, after = random_pairs(clips, patch + 1, as_generator(random_state))
    inner = np.s_[:, :-1, :-1]
    contrast = contrasts(before[inner], after[inner])
    textured = (contrast >= np.median(contrast)) & (contrast > 0)
    before, after, contrast = before[textured], after[textured], contrast[textured]
    fast = speeds(before[inner], after[inner])
    slow = fast <= np.median(fast) if len(fast) else np.zeros(0, dtype=bool)
    scale = 1 / contrast[slow][:, None, None]
    before, after = before[slow] * scale, after[slow] * scale

    def covariance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a, b = (_centred(x).reshape(len(x), patch**2) for x in (a, b))
        both = a.T.astype(np.float64) @ b / max(len(a), 1)
        return _balanced((both + both.T) / 2, patch)

    across, down = (tuple(np.diff(x, axis=axis)[where] for x in (before, after)) for axis, where in _GRADIENTS)
    b, a = before[inner], after[inner]
    C = (covariance(b, b) + covariance(a, a)) / 2
    return Moments(C, covariance(a - b, a - b), (covariance(*across) + covariance(*down)) / 2, len(b))


_GRADIENTS = ((2, np.s_[:, :-1, :]), (1, np.s_[:, :, :-1]))


def _centred(patches: np.ndarray) -> np.ndarray:
    return patches - patches.mean(axis=(1, 2), keepdims=True)


@cache
def symmetries(patch: int) -> np.ndarray:
    """Where each pixel of a square comes from under its eight symmetries, shape (8, patch^2)."""
    square = np.arange(patch**2).reshape(patch, patch)
    ways = np.stack([np.rot90(s, turns).ravel() for turns in range(4) for s in (square, square[:, ::-1])])
    ways.flags.writeable = False  # the same array for every caller
    return ways


def _balanced(covariance: np.ndarray, patch: int) -> np.ndarray:
    return np.mean([covariance[np.ix_(way, way)] for way in symmetries(patch)], axis=0)


def whitening(seen: Moments) -> np.ndarray:
    r"""Return the matrix that whitens patches as far as they are signal.

    .. math:: Z = V \, \mathrm{diag}\left( \frac{C_i - N_i}{C_i} (C_i + \rho)^{-1/2} \right) V'

    A Wiener filter, then ZCA with a small ridge. Z commutes with the symmetries of the square, and takes off the mean.

    Parameters
    ----------
    seen : Moments
        Of the patches, perhaps of several videos.

    Returns
    -------
    ndarray, shape (n, n), float32
        Symmetric; for frames in any unit, since pairs are divided by their contrast after it.
    """
    values, noise, modes = seen.noise()
    signal = np.divide(values - noise, values, out=np.zeros_like(values), where=values > 1e-7 * values[0])
    gains = signal / np.sqrt(values + RIDGE * values.mean() + 1e-30)
    return ((modes * gains) @ modes.T).astype(np.float32)


class GivenWhitening(EarlyVision):
    """Whitening by a matrix that is known, as from :func:`whitening`; a patch's mean is the matrix's own business.

    Parameters
    ----------
    matrix : ndarray, shape (n_pixels, n_pixels)
        Symmetric.

    Attributes
    ----------
    mean_ : ndarray, shape (n_pixels,)
        Zeros.
    matrix_ : ndarray, shape (n_pixels, n_pixels)
        The matrix, float32.
    """

    def __init__(self, matrix: np.ndarray | None = None) -> None:
        self.matrix = matrix

    def _fit(self, X: np.ndarray) -> None:
        self.matrix_ = np.asarray(self.matrix, dtype=np.float32)
        self.mean_ = np.zeros(len(self.matrix_), dtype=np.float32)

    def _transform(self, *frames: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(x @ self.matrix_ for x in frames)


def whitened(pairs: FramePairs, Z: np.ndarray) -> FramePairs:
    """Return pairs of patches as the network sees them: whitened, and divided by the pair's contrast after that.

    Every pair so counts alike, however strong its contrast.

    Parameters
    ----------
    pairs : FramePairs
        Patches of n pixels.
    Z : ndarray, shape (n, n)
        From :func:`whitening`.
    """
    flat = pairs.flat()
    before, after = (frames @ Z.astype(frames.dtype, copy=False) for frames in (flat.before, flat.after))
    power = (np.vecdot(before, before) + np.vecdot(after, after)) / (2 * Z.shape[0])
    scale = np.divide(1, np.sqrt(power), out=np.zeros_like(power), where=power > 0)[:, None]
    shape = pairs.before.shape
    return replace(pairs, before=(before * scale).reshape(shape), after=(after * scale).reshape(shape))
