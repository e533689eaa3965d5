r"""Cells that learn alone from ON or from OFF contrast: the change at a pixel, intensities about it (Section 3.2; C24).

A cell a direction, four of a hexagonal patch and two of a line, which inhibit each other (NSM). They start as dendrites
that point to where content comes from, with random synapses besides, as T4 and T5 do (C37).

======  ==================  ===================================================================================
``u``   (n_pairs, 1)        change of the cell's own pixel, in its channel
``v``   (n_pairs, n)        intensities of the patch, in its channel (or in both: twice as many)
``W``   (n_cells, n)        synapses, on whitened contrast, of norm 1
======  ==================  ===================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline

from flymotion.claims.literal_network.agreement import unit_energy
from flymotion.claims.nulls import labelled_means
from flymotion.claims.on_off.contrasts import Patch
from flymotion.claims.running import stack
from flymotion.frames import FramePairs
from flymotion.photoreceptors import ContrastNormalization, OnOff, ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.world.conventions import unit_vector

__all__ = ["Cells", "learn_cells", "learn_on_both"]

RIDGE, HALF_SATURATION, FORGETTING, N_PASSES, STRENGTH, SCATTER = 1e-2, 1.0, 1 - 5e-4, 2, 10.0, 0.3
"""Early vision; rate and passes; of the start the strength, and the norm of the random weights."""


class Cells(NamedTuple):
    """Synapses of cells that saw one channel, shape (n_cells, n) each, of norm 1."""

    learned: np.ndarray
    raw: np.ndarray
    """The same, on contrast that is not whitened."""
    start: np.ndarray
    labelled: np.ndarray
    """Averages by label: what is told the direction of every pair."""


def learn_cells(blocks: Sequence[FramePairs], patch: Patch, feature: str, seed: int) -> Cells:
    """Let cells learn from each block, those of ON and those of OFF; fields have shape (n_blocks, 2, n_cells, n)."""
    n, found = len(patch.offsets), []
    for k, block in enumerate(blocks):
        both, start = OnOff().fit_transform(block), _dendrites(patch, [seed, k])
        channels = [both.map(lambda x, c=c: x[:, c * n : (c + 1) * n]) for c in range(2)]
        found.append(stack([_learned(pairs, patch.middle, start, feature) for pairs in channels]))
    return stack(found)


def learn_on_both(blocks: Sequence[FramePairs], patch: Patch, feature: str, seed: int) -> np.ndarray:
    """Let cells of the change in each channel learn synapses onto both, shape (n_blocks, 2, n_cells, 2, n)."""
    n, found = len(patch.offsets), []
    for k, block in enumerate(blocks):
        both, start = OnOff().fit_transform(block), _dendrites(patch, [seed, k])
        start = np.concatenate([start, start], axis=1)
        rows = [_learned(both, patch.middle + c * n, start, feature).learned for c in range(2)]
        found.append(np.reshape(rows, (2, len(patch.angles), 2, n)))
    return np.array(found)


def _dendrites(patch: Patch, seed: Sequence[int]) -> np.ndarray:
    """Return synapses onto neighbours where content comes from, and random ones, shape (n_cells, n)."""
    places, rng = patch.places, np.random.default_rng([*seed, 37])
    distance = np.linalg.norm(places, axis=1)
    ways = np.array([unit_vector(angle, 2) for angle in patch.angles]) * [1, -1]  # y up
    own = ((distance > 0) & (distance < 1.1) & (-ways @ places.T > np.cos(np.radians(46)))).astype(float)
    return _of_norm_1(own) + SCATTER * _of_norm_1(rng.standard_normal(own.shape))


def _learned(pairs: FramePairs, middle: int, start: np.ndarray, feature: str) -> Cells:
    lit = (pairs.before.std(axis=1) > 0) | (pairs.after.std(axis=1) > 0)
    pairs = pairs[lit]
    vision = make_pipeline(ZCAWhitening(RIDGE), ContrastNormalization(HALF_SATURATION))
    chi = outer_products(vision.fit_transform(pairs), feature)
    chi = unit_energy(OuterProducts(chi.u[:, middle : middle + 1], chi.v))
    network = NonnegativeSimilarityMatching(
        len(start), forgetting=FORGETTING, n_passes=N_PASSES, init=start, init_strength=STRENGTH
    )
    W = network.fit(chi).components_
    assert pairs.motion is not None
    means = labelled_means(chi, pairs.motion[:, 0].astype(int))[:, 0]
    raw = W @ vision[0].matrix_
    return Cells(*map(_of_norm_1, (W, raw, start, means)))


def _of_norm_1(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-300)
