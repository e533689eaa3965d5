"""Reconstruction on the data of its own paper, and what its rule asks a synapse to know (Sections 1.1, 2.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from flymotion.claims.lessons import of_norm_1
from flymotion.claims.reconstructed_operators.operators_found import Config
from flymotion.claims.worlds import WORLDS
from flymotion.frames import FramePairs
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.relations import OperatorReconstruction

__all__ = ["learn_shifted_images", "see_what_changes"]

N_IMAGES = 5_000
"""Random images, half of them to test with."""

PERTURBED = 1.1
"""How much larger is made what a synapse should not need to know."""


def learn_shifted_images(seed: int) -> dict[str, np.ndarray]:
    """Learn from random images of 20 pixels moved by up to half a pixel, by closed forms and by the rule."""
    rng, n = np.random.default_rng([seed, 27]), 20
    k = np.fft.rfftfreq(n) * n
    images, shift = rng.random((N_IMAGES, n)) - 0.5, rng.uniform(-0.5, 0.5, N_IMAGES)
    moved = np.fft.irfft(np.fft.rfft(images) * np.exp(-2j * np.pi / n * k * shift[:, None]), n)
    derivative = np.fft.irfft((-2j * np.pi / n * k * (k < n / 2))[:, None] * np.fft.rfft(np.eye(n), axis=0), n, axis=0)
    half = N_IMAGES // 2
    pairs = FramePairs(images, moved)
    found: dict[str, np.ndarray] = {}
    ways: dict[str, dict[str, Any]] = {"closed": {}, "rule": {"solver": "gradient", "n_passes": 3}}
    for name, how in ways.items():
        learner = OperatorReconstruction(n_init=2, random_state=seed, **how).fit(pairs[:half])
        theta = learner.transform(pairs[half:])[:, 0]
        found[name] = np.abs(cosine(learner.generators_[0], derivative))
        found[f"{name}_theta"] = np.abs(np.corrcoef(theta, shift[half:])[0, 1])
    random = rng.normal(size=(n, n))
    found["random"] = np.abs(cosine(random, derivative))
    found["random_theta"] = np.abs(np.corrcoef(_ratio(random, pairs[half:]), shift[half:])[0, 1])
    return found


def _ratio(A: np.ndarray, pairs: FramePairs) -> np.ndarray:
    """Return the magnitudes of one operator, theta = dx' A x / |A x|^2, shape (n_pairs,)."""
    predicted = pairs.before @ A.T
    return ((pairs.after - pairs.before) * predicted).sum(axis=1) / (predicted**2).sum(axis=1)


def see_what_changes(config: Config, seed: int) -> dict[str, np.ndarray]:
    """Change what a synapse should not need to know, and see how much its update changes, in the median pair of L1."""
    world, rng = WORLDS["L1"], np.random.default_rng([seed, 28])
    pairs = world.pairs(config.n, 500, [seed, 28])
    pairs = ZCAWhitening(0.0).fit(pairs).transform(pairs)
    dx, x = pairs.after - pairs.before, pairs.before
    A = of_norm_1(rng.normal(size=(2, config.n, config.n)))
    y = np.einsum("kij,tj->tki", A, x)
    gram = np.einsum("tki,tli->tkl", y, y)
    theta = np.linalg.solve(gram, np.einsum("tki,ti->tk", y, dx)[..., None])[..., 0]
    one = np.einsum("ti,ti->t", y[:, 0], dx) / gram[:, 0, 0]
    other, strengthened = theta * [1.0, PERTURBED], A[:1] * (1 + (PERTURBED - 1) * (np.arange(config.n) > 0))

    def updates(theta: np.ndarray, A: np.ndarray) -> np.ndarray:
        """Of the synapses from pixel 0 in the first operator, shape (n_pairs, n)."""
        left = dx - np.einsum("tk,kij,tj->ti", theta, A, x)
        return theta[:, :1] * left * x[:, :1]  # the gradient of Eq. 9

    def changed(after: np.ndarray, before: np.ndarray) -> np.ndarray:
        return np.median(np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1))

    def local(theta: np.ndarray, W: np.ndarray) -> np.ndarray:
        return theta[:, :1] * (dx * x[:, :1] - W[0, :, 0] * theta[:, :1])  # Eq. 16, but for its rate

    cross = gram[:, 0, 1]
    return {
        "units": changed(updates(other, A), updates(theta, A)),
        "units_nsm": changed(local(other, A), local(theta, A)),
        "synapses": changed(updates(one[:, None], strengthened), updates(one[:, None], A[:1])),
        "synapses_nsm": changed(local(one[:, None], strengthened), local(one[:, None], A)),
        "lateral": cross.std() / np.sqrt((cross**2).mean()),
    }
