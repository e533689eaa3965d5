r"""Pairs of frames of isotropic noise that an eye sees as it turns, without rendering a scene: sums of harmonics.

Noise is as good in one attitude of the eye as in any, so every pair is of a scene of its own, and the eye is upright
before it turns. That is what many scenes and attitudes tend to, and costs two products of matrices.

======  ===========  ============================================================================================
``a``   (n, h)       coefficients of n scenes, of real harmonics: of each degree those of order 0, then of each order
                     the one of its cosine and the one of its sine
``C``   (h,)         variance of each coefficient
``E``   (p, h)       what each of p lenses sees of each harmonic, through its own optics
``D``   (m, m)       of each degree, what the scene's coefficients become where x becomes y, y becomes z and z becomes x
======  ===========  ============================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from flymotion.frames import FramePairs
from flymotion.world.eyes import Eye, Sphere
from flymotion.world.motions import Turn
from flymotion.world.scenes.harmonics import damping, legendre

__all__ = ["HarmonicScenes", "real_harmonics"]

LEAST = 1e-12
"""Variance of a coefficient, relative to the largest, from which it counts."""


def real_harmonics(directions: np.ndarray, degree: int) -> np.ndarray:
    """Return the real orthonormal harmonics up to a degree in some directions, shape (n, (degree + 1)^2).

    Parameters
    ----------
    directions : ndarray, shape (n, 3)
        Unit vectors.
    """
    x, y, z = np.asarray(directions).T
    azimuth, values = np.arctan2(y, x), np.empty((len(x), (degree + 1) ** 2))
    for n, P in enumerate(legendre(np.arctan2(np.hypot(x, y), z), degree)):
        turn = np.arange(1, n + 1)[:, None] * azimuth
        own = values[:, n**2 : (n + 1) ** 2]
        own[:, 0] = P[0]
        own[:, 1::2], own[:, 2::2] = (math.sqrt(2) * (P[1:] * wave(turn)).T for wave in (np.cos, np.sin))
    return values


class HarmonicScenes:
    """Scenes of isotropic Gaussian noise of variance 1, as :class:`~flymotion.world.scenes.SphericalNoise` draws them.

    Parameters
    ----------
    correlation_angle : float
        [deg].
    eye : Eye
        That looks at them: spherical, its lenses of one width or of several.
    """

    def __init__(self, correlation_angle: float, eye: Eye) -> None:
        self.eye = eye
        spread = math.radians(correlation_angle) ** 2 / 2
        highest = math.sqrt(-math.log(LEAST) / spread)
        of_degree = damping(math.floor(highest), spread)
        self.degree = len(of_degree) - 1
        degrees = np.repeat(np.arange(self.degree + 1), 2 * np.arange(self.degree + 1) + 1)
        self.C = of_degree[degrees] * (4 * math.pi / of_degree[degrees].sum())
        width = np.broadcast_to(np.radians(eye.sigma), eye.shape)
        optics = np.exp(np.multiply.outer(width**2 / -2, degrees * (degrees + 1)))
        self.E = real_harmonics(eye.positions, self.degree) * optics
        self._D = self._renamed_axes()

    def _renamed_axes(self) -> Sequence[np.ndarray]:
        """Return D of each degree: from many directions, and as orthogonal as it is."""
        d = Sphere.evenly(4 * (self.degree + 1) ** 2).directions
        Y, renamed = real_harmonics(d, self.degree), real_harmonics(np.roll(d, 1, axis=1), self.degree)
        found = []
        for n in range(self.degree + 1):
            own = slice(n**2, (n + 1) ** 2)
            U, _, V = np.linalg.svd(Y[:, own].T @ renamed[:, own])
            found.append(U @ V)
        return found

    def pairs(self, motion: Turn, n: int, rng: np.random.Generator) -> FramePairs:
        """Draw pairs of frames, shape (n, p), of as many scenes: one turn about one axis a pair."""
        a = rng.standard_normal((n, len(self.C))) * np.sqrt(self.C)
        steps = motion.steps(n, rng)
        return FramePairs(a @ self.E.T, self.turned(a, steps) @ self.E.T, steps, motion.names, self.eye)

    def turned(self, a: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return coefficients of scenes as an eye has them that has turned, shape (n, h).

        Parameters
        ----------
        a : ndarray, shape (n, h)
            Before.
        steps : ndarray, shape (n, 3)
            Turns about x, y or z, each about one of them [deg].
        """
        axis, after = np.abs(steps).argmax(axis=1), np.empty_like(a)
        for k in range(3):
            own = np.flatnonzero(axis == k)
            theta = np.radians(steps[own, k])
            for n, D in enumerate(self._D):
                to_z = (D, D.T, np.eye(len(D)))[k]
                after[own, n**2 : (n + 1) ** 2] = _about_z(a[own, n**2 : (n + 1) ** 2] @ to_z.T, theta) @ to_z
        return after

    def generators(self, P: np.ndarray, noise: float = 0.0) -> np.ndarray:
        """Return the generators of turns about x, y and z that regression on endless pairs finds; (3, k, k).

        As :meth:`flymotion.generators.theory.Population.generators` does.

        Parameters
        ----------
        P : ndarray, shape (k, p)
            What frames are multiplied by.
        noise : float
            Variance of the pixels' noise.
        """
        seen, still, found = P @ self.E, np.eye(len(self.C)), []
        for step in 1e-3 * np.eye(3):
            ahead, back = (self.turned(still, np.tile(each, (len(still), 1))) for each in (step, -step))
            found.append((seen * self.C) @ (ahead - back) @ seen.T / 2e-3)  # D'
        covariance = (seen * self.C) @ seen.T + noise * P @ P.T
        return np.linalg.solve(covariance, np.stack(found)).swapaxes(1, 2)  # D (C + r)^-1


def _about_z(a: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Turn coefficients of one degree about z, shape (n, m), by theta [rad], shape (n,)."""
    turn = theta[:, None] * np.arange(1, (a.shape[1] + 1) // 2)
    cosine, sine = np.cos(turn), np.sin(turn)
    after = a.copy()
    after[:, 1::2] = a[:, 1::2] * cosine + a[:, 2::2] * sine
    after[:, 2::2] = a[:, 2::2] * cosine - a[:, 1::2] * sine
    return after
