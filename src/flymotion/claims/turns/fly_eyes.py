"""Turns of a fly that sees with both of its eyes: 1398 measured lenses (C27 on a real eye).

So many pixels share what few hundred numbers say, as optics and noise are smooth: whitening keeps components with a
variance of ``RIDGE`` times a pixel's mean variance or more, with that much added to each, and the network sees these
components. It learns what it would from frames whitened in pixels, as its rule takes no notice of rotations.

In noise every pair is of a scene of its own. In panoramas made of photographs pairs to learn from and new ones are of
the same eight scenes, in attitudes of their own; filters are matched with the generators of noise, which stand in for
the population's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import eigh

from flymotion.circuits.schooling import photographs
from flymotion.claims.turns.harmonic_scenes import HarmonicScenes
from flymotion.claims.ways import FEATURES, Labelled, Scored, learn
from flymotion.frames import FramePairs
from flymotion.photoreceptors import ContrastNormalization
from flymotion.similarity.features import outer_products
from flymotion.world.eyes import Line
from flymotion.world.motions import Turn
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import SphericalScene, panorama

__all__ = ["RIDGE", "learn_in_panoramas", "learn_on_eyes", "mirrored_panoramas", "principal_whitening"]

RIDGE = 1e-2
"""Of the whitening, relative to the mean variance of a pixel."""

ROWS = 64
"""Of a panorama made of a photograph."""


def principal_whitening(frames: np.ndarray, ridge: float = RIDGE) -> tuple[np.ndarray, float]:
    """Return what makes whitened components of frames, shape (n_components, n_pixels), and the variance added."""
    X = frames - frames.mean(axis=0)
    values, vectors = eigh(X.T @ X / len(X))
    added = ridge * values.mean()
    kept = values >= added
    # which of both signs a component has is rounding's, and filters that are drawn at random are others then
    vectors = vectors * np.sign(np.random.default_rng(0).normal(size=len(vectors)) @ vectors)
    return (vectors[:, kept] / np.sqrt(values[kept] + added)).T, added


def learn_on_eyes(scenes: HarmonicScenes, motion: Turn, n_pairs: int, n_test: int, seed: Any) -> dict[str, Any]:
    """Learn from turns, one in each scene: by feature, what NSM learned and its nulls, scored, without the filters."""
    rng = np.random.default_rng(seed)
    pairs, new = (scenes.pairs(motion, n, rng) for n in (n_pairs, n_test))
    return _learned(scenes, motion, pairs, new, tuple(FEATURES), rng)


def learn_in_panoramas(noise: HarmonicScenes, motion: Turn, n_pairs: int, n_test: int, seed: Any) -> dict[str, Scored]:
    """Learn from turns of the eye of ``noise`` in panoramas made of photographs: the paper's feature, as above."""
    rng = np.random.default_rng(seed)
    scenes = mirrored_panoramas()
    pairs, new = (
        FramePairs.concatenate([sample_pairs(scene, noise.eye, motion, n // len(scenes), rng) for scene in scenes])
        for n in (n_pairs, n_test)
    )
    return _learned(noise, motion, pairs[rng.permutation(len(pairs))], new, ("change",), rng)["change"]


def mirrored_panoramas() -> list[SphericalScene]:
    """Return panoramas of mean 0 of the quarters of both photographs, each beside its mirror image, so that it closes.

    Unlike :func:`~flymotion.circuits.schooling.folded_panorama` they have poles, at which rows shrink to a point.
    """
    found = []
    for image in photographs():
        for half in np.array_split(image, 2):
            for quarter in np.array_split(half, 2, axis=1):
                shown = panorama(_fewer(_fewer(np.hstack([quarter, quarter[:, ::-1]]), ROWS).T, 2 * ROWS).T)
                coefficients = shown.coefficients / shown.coefficients[0, 0].real
                coefficients[0, 0] = 0
                found.append(SphericalScene(coefficients))
    return found


def _fewer(image: np.ndarray, n_rows: int) -> np.ndarray:
    """Return means of so many blocks of rows."""
    return np.stack([rows.mean(axis=0) for rows in np.array_split(image, n_rows)])


def _learned(
    noise: HarmonicScenes,
    motion: Turn,
    pairs: FramePairs,
    new: FramePairs,
    features: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, dict[str, Scored]]:
    P, added = principal_whitening(pairs.before)
    mean, contrast = pairs.before.mean(axis=0), ContrastNormalization(1.0)
    seen, unseen = (each.map(lambda x: ((x - mean) @ P.T).astype(np.float32)) for each in _without_eye(pairs, new))
    seen, unseen = contrast.fit(seen).transform(seen), contrast.transform(unseen)
    way, new_way = (np.argmax(np.asarray(each.motion) @ motion.ways.T, axis=1) for each in (seen, unseen))
    analytic, components = noise.generators(P, added), Line(len(P))  # which are no places; as many as there are
    found = {}
    for feature in features:
        chi, new_chi = outer_products(seen, feature), outer_products(unseen, feature)
        given = Labelled(components, motion, np.eye(len(P)), analytic, chi, way, new_chi, new_way)
        found[feature] = {name: _in_short(each) for name, each in learn(given, int(rng.integers(2**32))).items()}
    return found


def _without_eye(*pairs: FramePairs) -> list[FramePairs]:
    return [FramePairs(each.before, each.after, each.motion, each.names) for each in pairs]


def _in_short(scored: Scored) -> Scored:
    return scored._replace(filters=scored.filters[:, :0, :0])
