"""The standard worlds, and the few things that several experiments do in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.generators.theory import Population, population
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.world.eyes import FLY_SIGMA, Line
from flymotion.world.motions import Translation
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import ExponentialNoise, FlatScene, Scene, exponential_covariance

__all__ = ["WORLDS", "Lesson", "World", "all_over", "leftward", "rightward_first", "share_right", "show_step"]

CORRELATION_LENGTH = 3.0

PERIOD = 32768.0
"""Of the scenes [pixel spacings]: ten thousand correlation lengths each."""


@dataclass(frozen=True)
class World:
    """A line of pixels that looks at exponentially correlated Gaussian noise of length 3 pixels, ZCA-whitened.

    Parameters
    ----------
    sigma : float
        Acceptance width [pixel spacings].
    max_shift : float
        Shifts are uniform up to this size, both ways [pixels per frame].
    feature : str
        Key of :data:`flymotion.similarity.features.FEATURES`.
    """

    sigma: float
    max_shift: float
    feature: str

    @property
    def motion(self) -> Translation:
        """Distribution of the content's steps."""
        return Translation(self.max_shift, ndim=1)

    def eye(self, n: int) -> Line:
        """Return the eye of n pixels."""
        return Line(n, self.sigma)

    def scene(self, random_state: Any) -> ExponentialNoise:
        """Draw a scene."""
        return ExponentialNoise(CORRELATION_LENGTH, period=PERIOD, sharpest=self.sigma, random_state=random_state)

    def pairs(self, n: int, n_pairs: int, seed: Sequence[int]) -> FramePairs:
        """Draw pairs, not whitened, from a scene of their own."""
        scene_seed, pairs_seed = np.random.SeedSequence(seed).spawn(2)
        scene = self.scene(scene_seed)
        return sample_pairs(scene, self.eye(n), self.motion, n_pairs, random_state=pairs_seed)

    def population(self, n: int, whitening: Any = "zca") -> Population:
        """Return the theory of the same pairs."""
        covariance = exponential_covariance(CORRELATION_LENGTH, self.sigma)
        return population(covariance, self.eye(n), self.motion, feature=self.feature, whitening=whitening)

    def lesson(self, n: int, n_pairs: int, seed: Sequence[int]) -> Lesson:
        """Draw pairs to learn from, and whiten them."""
        pairs = self.pairs(n, n_pairs, seed)
        whitening = ZCAWhitening(0.0).fit(pairs)
        return Lesson(whitening, outer_products(whitening.transform(pairs), self.feature))


class Lesson(NamedTuple):
    """Whitening, and the features of whitened pairs to learn from."""

    whitening: ZCAWhitening
    chi: OuterProducts


WORLDS = {"L1": World(0.8, 0.1, "change"), "L2": World(FLY_SIGMA, 0.5, "midpoint")}
"""L1, of small shifts and the paper's feature; L2, a fly's eye, larger shifts and the midpoint feature."""


def all_over(scene: FlatScene, n_places: int) -> np.ndarray:
    """Return evenly spaced places in a scene of one dimension, shape (n_places,)."""
    low, high = scene.extent[0]
    return np.linspace(low, high, n_places, endpoint=False)


def show_step(scene: Scene, eye: Line, places: np.ndarray, step: float) -> FramePairs:
    """Show one step of the content at many places, shape (n,) [pixel spacings]."""
    before = places[:, None]
    movie = render(scene, eye, np.concatenate([before, before - step]))
    return FramePairs(movie[: len(places)], movie[len(places) :], np.full((len(places), 1), step))


def leftward(pairs: FramePairs) -> np.ndarray:
    """Return which of the pairs move left, as labels 0 and 1, shape (n_pairs,)."""
    assert pairs.motion is not None
    return (pairs.motion[:, 0] < 0).astype(int)


def rightward_first(generators: np.ndarray) -> list[int]:
    """Return the order of two filters, shape (2, n, n), of opposite directions: that for content moving right first."""
    difference = generators[0] - generators[1]
    return [0, 1] if np.sum(difference * derivative_operator(difference.shape[:1])) >= 0 else [1, 0]


def share_right(rightness: np.ndarray, pairs: FramePairs) -> float:
    """Share of the pairs whose direction the sign of ``rightness``, shape (n_pairs,), tells; 0 tells nothing."""
    assert pairs.motion is not None
    return float(np.mean(np.sign(rightness) == np.sign(pairs.motion[:, 0])))
