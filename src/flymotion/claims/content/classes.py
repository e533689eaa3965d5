"""Classes of scenes, all seen by one eye and moved alike, so that only their content differs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from flymotion.claims.worlds import CORRELATION_LENGTH, WORLDS
from flymotion.frames import FramePairs
from flymotion.learner.sources import BUNDLED, load_photographs
from flymotion.world.motions import Motion
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import Edge, FlatScene, Grating, Scene, photograph

__all__ = ["CLASSES", "WORLD", "Views", "contrasts", "drawn", "middle", "photographed"]

WORLD = WORLDS["L2"]
"""Its eye, feature and noise are those of all classes."""

WAVELENGTHS = (4.0, 20.0)
"""Shortest and longest of the gratings [pixels]."""

N_EDGES = 12
"""Edges drawn for a view; the last lie beyond it."""


class Views(NamedTuple):
    """What is drawn of a class."""

    n: int
    """Pixels."""
    n_pairs: int
    n_scenes: int
    """Gratings, or rows of photographs, that pairs come from."""
    motion: Motion = WORLD.motion
    new: bool = False
    """Whether photographs are new ones, to test with: of the right halves, not of the left ones."""


def drawn(views: Views, sizes: Sequence[int], rng: np.random.Generator) -> dict[int, list[FramePairs]]:
    """Draw pairs of every class for eyes of some sizes, of which the smaller are the middles of the largest.

    Frames are in units of contrast: the class's mean luminance is taken from them. Edges are drawn for every size, so
    that there is one in view.
    """
    widest = {name: draw(views._replace(n=max(sizes)), rng) for name, draw in CLASSES.items()}
    seen = {n: {name: middle(pairs, n) for name, pairs in widest.items()} for n in sizes}
    for n in set(sizes) - {max(sizes)}:
        seen[n]["edges"] = _edges(views._replace(n=n), rng)
    return {n: [contrasts(pairs) for pairs in of.values()] for n, of in seen.items()}


def contrasts(pairs: FramePairs) -> FramePairs:
    """Take the mean luminance of all first frames from all frames."""
    mean = pairs.before.mean()
    return pairs.map(lambda frames: frames - mean)


def _noise(views: Views, rng: np.random.Generator) -> FramePairs:
    return sample_pairs(WORLD.scene(rng), WORLD.eye(views.n), views.motion, views.n_pairs, rng)


def _edges(views: Views, rng: np.random.Generator) -> FramePairs:
    """Show ON and OFF edges in turn, at random places: a random telegraph, of the noise's covariance.

    Every view has a contrast and polarity of its own, levels about 0, and an edge between its outermost pixels half way
    of the step. (In the first frame, the class would look another way backwards in time.)
    """
    n_pairs, eye = views.n_pairs, WORLD.eye(views.n)
    reach = (views.n - 1) / 2
    gaps = rng.exponential(2 * CORRELATION_LENGTH, (3 * n_pairs, N_EDGES))
    places = gaps.cumsum(axis=1) - reach - 3
    places = places[(np.abs(places) < reach).any(axis=1)][:n_pairs]
    contrasts = (rng.uniform(0.2, 1, n_pairs) * rng.choice([-1, 1], n_pairs))[:, None] * (-1.0) ** np.arange(N_EDGES)
    steps = views.motion.steps(n_pairs, rng)
    dark = -contrasts.sum(axis=1, keepdims=True) / 2 - contrasts[:, :1] / 2  # so that levels lie about 0

    def see(moved: np.ndarray) -> np.ndarray:
        shown = (c[:, None] * render(Edge(), eye, -p[:, None]) for c, p in zip(contrasts.T, moved.T, strict=True))
        return sum(shown, np.repeat(dark, views.n, axis=1))

    return FramePairs(see(places - steps / 2), see(places + steps / 2), steps)


def _gratings(views: Views, rng: np.random.Generator) -> FramePairs:
    """Show gratings whose wavelengths' logarithms are uniform."""
    shortest, longest = WAVELENGTHS
    lengths = shortest * (longest / shortest) ** rng.uniform(size=views.n_scenes)
    scenes = [Grating(length, rng.uniform(0.2, 1)) for length in lengths]
    return _from_all(scenes, views, rng)


def _photographs(views: Views, rng: np.random.Generator) -> FramePairs:
    """Show rows of the left halves of two photographs to learn from, of the right halves to test with."""
    halves = [np.array_split(image, 2, axis=1)[views.new] for image in load_photographs([BUNDLED])]
    return _from_all(photographed(halves, views.n_scenes, rng), views, rng)


def photographed(images: Sequence[np.ndarray], n: int, rng: np.random.Generator) -> list[FlatScene]:
    """Draw rows of photographs in turn, as scenes of pixels."""
    return [photograph(rng.choice(images[k % len(images)]), pixels_per_spacing=1.0) for k in range(n)]


def _from_all(scenes: Sequence[Scene], views: Views, rng: np.random.Generator) -> FramePairs:
    """Draw as many pairs from every scene, well mixed."""
    each = math.ceil(views.n_pairs / len(scenes))
    parts = [sample_pairs(scene, WORLD.eye(views.n), views.motion, each, rng) for scene in scenes]
    return FramePairs.concatenate(parts)[rng.permutation(each * len(scenes))[: views.n_pairs]]


CLASSES: dict[str, Callable[[Views, np.random.Generator], FramePairs]] = {
    "noise": _noise,
    "edges": _edges,
    "gratings": _gratings,
    "photographs": _photographs,
}
"""Classes of scenes: pairs of each."""


def middle(pairs: FramePairs, n: int) -> FramePairs:
    """Return the middle n pixels of lines; the middle of an eye is a smaller eye."""
    first = (pairs.n_pixels - n) // 2
    return replace(pairs, eye=None).map(lambda frames: frames[:, first : first + n])
