"""Turns of a fly that sees with both of its eyes: 1398 measured lenses (C27 on a real eye).

So many pixels share what few hundred numbers say, as optics and noise are smooth: whitening keeps components with a
variance of ``RIDGE`` times a pixel's mean variance or more, with that much added to each, and the network sees these
components. It learns what it would from frames whitened in pixels, as its rule takes no notice of rotations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from flymotion.claims.turns.harmonic_scenes import HarmonicScenes
from flymotion.claims.ways import FEATURES, Labelled, Scored, learn
from flymotion.frames import FramePairs
from flymotion.photoreceptors import ContrastNormalization
from flymotion.similarity.features import outer_products
from flymotion.world.eyes import Line
from flymotion.world.motions import Turn

__all__ = ["RIDGE", "learn_on_eyes", "principal_whitening"]

RIDGE = 1e-2
"""Of the whitening, relative to the mean variance of a pixel."""


def principal_whitening(frames: np.ndarray, ridge: float = RIDGE) -> tuple[np.ndarray, float]:
    """Return what makes whitened components of frames, shape (n_components, n_pixels), and the variance added."""
    X = frames - frames.mean(axis=0)
    values, vectors = eigh(X.T @ X / len(X))
    added = ridge * values.mean()
    kept = values >= added
    return (vectors[:, kept] / np.sqrt(values[kept] + added)).T, added


def learn_on_eyes(scenes: HarmonicScenes, motion: Turn, n_pairs: int, n_test: int, seed: Any) -> dict[str, Any]:
    """Learn from turns, one in each scene: by feature, what NSM learned and its nulls, scored, without the filters."""
    rng = np.random.default_rng(seed)
    pairs, new = (scenes.pairs(motion, n, rng) for n in (n_pairs, n_test))
    P, added = principal_whitening(pairs.before)
    mean, contrast = pairs.before.mean(axis=0), ContrastNormalization(1.0)
    seen, unseen = (each.map(lambda x: ((x - mean) @ P.T).astype(np.float32)) for each in _without_eye(pairs, new))
    seen, unseen = contrast.fit(seen).transform(seen), contrast.transform(unseen)
    way, new_way = (np.argmax(np.asarray(each.motion) @ motion.ways.T, axis=1) for each in (seen, unseen))
    analytic, components = scenes.generators(P, added), Line(len(P))  # which are no places; as many as there are
    found = {}
    for feature in FEATURES:
        chi, new_chi = outer_products(seen, feature), outer_products(unseen, feature)
        given = Labelled(components, motion, np.eye(len(P)), analytic, chi, way, new_chi, new_way)
        found[feature] = {name: _in_short(each) for name, each in learn(given, int(rng.integers(2**32))).items()}
    return found


def _without_eye(*pairs: FramePairs) -> list[FramePairs]:
    return [FramePairs(each.before, each.after, each.motion, each.names) for each in pairs]


def _in_short(scored: Scored) -> Scored:
    return scored._replace(filters=scored.filters[:, :0, :0])
