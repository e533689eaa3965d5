"""Where three pixels and two are compared: worlds L1 and P, without sensor noise and with it.

What is independent is a seed's scene in L1, and a photograph in P: each photograph is tested with what was learned from
the others. Rows of one photograph are not independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.content.classes import photographed
from flymotion.claims.worlds import WORLDS, World
from flymotion.frames import FramePairs
from flymotion.learner.sources import PHOTO_SHIFT, PHOTO_SIGMA, load_photographs
from flymotion.world.rendering import sample_pairs

__all__ = ["NOISES", "REGIMES", "VISIONS", "Seen", "called", "noisy", "seen", "seen_together"]

REGIMES = {"L1": WORLDS["L1"], "P": World(PHOTO_SIGMA, PHOTO_SHIFT, "change")}
"""Worlds; of P only eye, shifts and feature are used."""

VISIONS = ("raw", "whitened")

NOISES = {"clean": 0.0, "40dB": 1e-4, "30dB": 1e-3}
"""Variance of the sensor noise in each frame, relative to that of the frames."""


class Seen(NamedTuple):
    """Pairs to learn from and new ones, of the largest eye."""

    lesson: FramePairs
    new: FramePairs


def called(world: str, vision: str, noise: str) -> str:
    """Name a regime in words."""
    return f"{world} {vision}" + ("" if noise == "clean" else f" {noise[:2]} dB")


def seen(config: Any, world: str, seed: int) -> list[Seen]:
    """Draw what is seen in a world: of every independent part of it, new pairs, and others to learn from."""
    if world == "L1":
        return [_noise(config, seed)]
    rng, images = np.random.default_rng([seed, 4]), load_photographs(config.photographs)
    parts = [(images[:k] + images[k + 1 :], [images[k]]) for k in range(len(images))]
    return [_photographs(others, one, config, rng) for others, one in parts]


def seen_together(config: Any, world: str, seed: int) -> Seen:
    """Draw what is seen in a world: learned from the left halves of all photographs, tested on the right halves."""
    if world == "L1":
        return _noise(config, seed)
    halves = [np.array_split(image, 2, axis=1) for image in load_photographs(config.photographs)]
    lefts, rights = zip(*halves, strict=True)
    return _photographs(lefts, rights, config, np.random.default_rng([seed, 5]))


def _noise(config: Any, seed: int) -> Seen:
    n = max(config.sizes)
    return Seen(*(WORLDS["L1"].pairs(n, k, [seed, s]) for k, s in ((config.n_pairs, 5), (config.n_test, 6))))


def _photographs(old: Sequence[np.ndarray], new: Sequence[np.ndarray], config: Any, rng: np.random.Generator) -> Seen:
    return Seen(_rows(old, config.n_pairs, config, rng), _rows(new, config.n_test, config, rng))


def _rows(images: Sequence[np.ndarray], n_pairs: int, config: Any, rng: np.random.Generator) -> FramePairs:
    """Draw pairs from rows of photographs, well mixed."""
    world, each = REGIMES["P"], math.ceil(n_pairs / config.n_rows)
    scenes = photographed(images, config.n_rows, rng)
    parts = [sample_pairs(scene, world.eye(max(config.sizes)), world.motion, each, rng) for scene in scenes]
    return FramePairs.concatenate(parts)[rng.permutation(each * len(scenes))[:n_pairs]]


def noisy(given: Seen, noise: str, rng: np.random.Generator) -> Seen:
    """Add sensor noise, independent in every pixel of every frame, and take the mean luminance of the lesson away."""
    mean, deviation = given.lesson.before.mean(), math.sqrt(NOISES[noise]) * given.lesson.before.std()
    lesson, new = (
        pairs.map(lambda frames: frames - mean + deviation * rng.standard_normal(frames.shape)) for pairs in given
    )
    return Seen(lesson, new)
