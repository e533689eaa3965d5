"""The opponent filter that two units of NSM learn in a world, right less left, and its nulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flymotion.claims.lessons import of_norm_1, opposed
from flymotion.claims.nulls import unlearned
from flymotion.claims.worlds import World, leftward, rightward_first
from flymotion.frames import FramePairs
from flymotion.generators import cosine, derivative_operator
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import outer_products

__all__ = ["Opponents", "opponents"]


class Opponents(NamedTuple):
    """Filters for content moving right, less those for content moving left, of norm 1, by what they are."""

    pairs: FramePairs
    """What was learned from, not whitened."""
    whitening: np.ndarray
    """ZCA of these, shape (n, n)."""
    filters: dict[str, np.ndarray]
    """On whitened frames, shape (n, n) each: "learned", and the keys of :data:`flymotion.claims.nulls.NULLS`."""

    def in_pixels(self) -> dict[str, np.ndarray]:
        """Return the filters on frames as they are."""
        return {name: self.whitening @ A @ self.whitening for name, A in self.filters.items()}


def opponents(world: World, n: int, n_pairs: int, seed: Sequence[int]) -> Opponents:
    """Let two units learn from pairs of a world, n pixels each."""
    pairs = world.pairs(n, n_pairs, seed)
    whitening = ZCAWhitening(0.0).fit(pairs)
    chi = outer_products(whitening.transform(pairs), world.feature)
    [component] = world.population(n).components(1)[1]
    sign = 1.0 if cosine(component, derivative_operator((n,))) >= 0 else -1.0
    nulls = unlearned(chi, leftward(pairs), np.random.default_rng([*seed, 1]))
    filters = {
        "learned": opposed(chi).opponent,
        **{name: _opponent(both) for name, both in nulls.items()},
        "population": sign * component,
    }
    return Opponents(pairs, whitening.matrix_, {name: of_norm_1(A) for name, A in filters.items()})


def _opponent(filters: np.ndarray) -> np.ndarray:
    """Return two filters' difference, that for content moving right first."""
    first, second = filters[rightward_first(filters)]
    return first - second
