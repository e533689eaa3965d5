"""G: flat eyes that look at isotropic Gaussian noise of length 3 pixels, one motion a pair; and pairs drawn from it.

Before and after are jointly Gaussian given the step, so pairs are drawn from that (:mod:`flymotion.generators.theory`):
of scenes without end, at a hundredth of the cost of elliptic optics in exponential noise. A way's steps have the sizes
and the weights of Gauss-Legendre nodes, whose moments are those of a uniform distribution up to the 7th.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.ways import RIDGE, Labelled, early_vision, labelled
from flymotion.frames import FramePairs
from flymotion.generators.theory import Population, population
from flymotion.world.eyes import FLY_SIGMA, Grid
from flymotion.world.motions import Mixture, Motion, Rotation, Shear, Translation, Zoom
from flymotion.world.scenes import exponential_covariance, smooth_covariance

__all__ = ["EYES", "MOTIONS", "NOISES", "PLANES", "Plane"]

LENGTH = 3.0
"""Correlation length of the noise [pixel spacings]."""

NOISES = {"exponential": exponential_covariance, "smooth": smooth_covariance}

EYES = {"wide": 0.8, "fly": FLY_SIGMA}
"""Acceptance widths [pixel spacings]."""


TURN = 0.12
"""Largest rotation [rad]; zooms and shears alone, of 5 x 5 pixels, move their border as far."""

MOTIONS: dict[str, Motion] = {
    "rotation": Rotation(np.degrees(TURN)),
    "translation": Translation(0.3),
    "zoom": Zoom(TURN),
    "shear": Shear(TURN),
    "affine": Mixture(Translation(0.3), Rotation(np.degrees(TURN)), Zoom(0.07), Shear(0.07)),
}

N_NODES = 4
"""Sizes of step of each way."""


class Plane(NamedTuple):
    """A flat eye that looks at noise, and how it moves."""

    motion: str
    noise: str
    eye: str
    side: int = 5
    """Of the eye [pixels]."""
    n_pairs: int = 12_000
    """Pairs to learn from."""

    def lessons(self, n_test: int, seed: int, features: Sequence[str]) -> dict[str, Labelled]:
        """Draw pairs to learn from, and new ones, and whiten them; one lesson a feature."""
        rng = np.random.default_rng([seed, 0])
        pairs, new = (self.pairs(n, rng) for n in (self.n_pairs, n_test))
        return labelled(early_vision(), pairs.eye, MOTIONS[self.motion], self.generators, pairs, new, features)

    def pairs(self, n_pairs: int, rng: np.random.Generator) -> FramePairs:
        """Draw pairs, not whitened."""
        steps, weights, roots = _roots(self)
        theory = self.theory()
        which = rng.choice(len(weights), n_pairs, p=weights)
        both = rng.standard_normal((n_pairs, roots.shape[1]))
        for k, root in enumerate(roots):
            both[which == k] = both[which == k] @ root.T
        before, after = (half.reshape(n_pairs, *theory.eye.shape) for half in np.hsplit(both, 2))
        return FramePairs(before, after, steps[which], theory.motion.names, theory.eye)

    def generators(self, whitening: Any) -> np.ndarray:
        """Return the population-optimal generators on frames whitened so, shape (p, n, n)."""
        return self.theory(whitening).generators().operators

    def theory(self, whitening: Any = None) -> Population:
        """Return the theory of the pairs."""
        sigma = EYES[self.eye]
        covariance, eye = NOISES[self.noise](LENGTH, sigma, 2), Grid(self.side, self.side, sigma)
        return population(covariance, eye, MOTIONS[self.motion], whitening=whitening, regularization=RIDGE)

    def described(self) -> str:
        """Tell the world, in words."""
        pixels = f"{self.side} x {self.side} pixels, sigma {EYES[self.eye]:.3g}"
        how = "one motion a pair, of four sizes, drawn from their Gaussian"
        return f"{self.noise} noise, {pixels}, {self.n_pairs} pairs, {how}"


PLANES = {
    f"{motion}_{noise}_{eye}": Plane(motion, noise, eye, n_pairs=10_000 if motion == "rotation" else 12_000)
    for noise in NOISES
    for eye in EYES
    for motion in ("rotation", "translation", "zoom", "shear")
} | {"affine": Plane("affine", "exponential", "wide", side=9, n_pairs=20_000)}


@cache
def _roots(plane: Plane) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return steps, shape (m, p), their weights, and roots of the covariances of both frames, shape (m, 2 n, 2 n)."""
    theory = plane.theory()
    steps, weights = theory.motion.quadrature(N_NODES)
    alike = np.abs(steps).argmax(axis=1)  # what does not stretch is cheaper by itself
    covariances = [theory.frame_covariance(steps[alike == k]) for k in range(steps.shape[1])]
    order = np.argsort(alike, kind="stable")
    values, vectors = np.linalg.eigh(np.concatenate(covariances))
    return steps[order], weights[order] / weights.sum(), vectors * np.sqrt(np.maximum(values, 0))[:, None]
