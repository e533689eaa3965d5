"""Real vectors, and the principal subspace that SM and the reconstruction network find in them (C26, Sec. 1.1)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.linalg import subspace_angles

from flymotion.claims.beside import Null, beside
from flymotion.claims.nulls import start_state
from flymotion.claims.offline_online.plain_networks import random_rows, rule_alone
from flymotion.claims.rows import Claim, report
from flymotion.claims.running import Found
from flymotion.learner.sources import BUNDLED, load_photographs
from flymotion.similarity.networks import SimilarityMatching
from flymotion.similarity.rivals import OuterProductPCA, ReconstructionNetwork

__all__ = [
    "N_PASSES",
    "RATE",
    "RECONSTRUCTION_RATE",
    "SIDE",
    "Subspace",
    "check_subspaces",
    "compare_subspaces",
    "digits",
    "draw_real",
]

SIDE = 8
"""Pixels of a side of a digit, and of a patch."""

RATE, RECONSTRUCTION_RATE = 3e-4, 0.1
"""Learning rates of SM and NSM, and of the reconstruction network, whose weights grow so that it falls by itself."""

N_PASSES = {"digits": 30, "patches": 6}
"""Passes: more than 50,000 samples of each."""

N_PATCHES = 10_000

GAPS = range(2, 11)
"""Numbers of components among which that with the largest gap behind it is taken."""

HOW = ("sm", "reconstruction", "warm", "start", "random")
"""SM and the reconstruction network from random weights; SM from its warm-up; the warm-up alone; random rows."""


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return scikit-learn's handwritten digits, shape (1797, 64), from 0 to 1, and which digits they are."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return found.data / 16, found.target


def draw_real(kind: str, seed: int) -> np.ndarray:
    """Return the digits in random order; or random patches of the two photographs, less the mean of each."""
    rng = np.random.default_rng([seed, 32])
    if kind == "digits":
        return rng.permutation(digits()[0])
    windows = [sliding_window_view(photo, (SIDE, SIDE)) for photo in load_photographs([BUNDLED])]
    places = [tuple(rng.integers(0, size, N_PATCHES // 2) for size in w.shape[:2]) for w in windows]
    patches = np.concatenate([w[place].reshape(-1, SIDE**2) for w, place in zip(windows, places, strict=True)])
    return rng.permutation(patches - patches.mean(axis=1, keepdims=True))


class Subspace(NamedTuple):
    """What each of ``HOW`` finds of the principal subspace of real vectors."""

    k: np.ndarray
    """Components: those before the largest gap."""
    gap: np.ndarray
    """Ratio of the last eigenvalue within and the first without."""
    share: np.ndarray
    """Energy in the subspace found, relative to the most; shape (5,)."""
    angle: np.ndarray
    """Largest principal angle to PCA's, shape (5,) [deg]."""
    uncoupled: np.ndarray
    """|Cosine| with the first component of K units that learn each alone, shape (K,)."""


def compare_subspaces(kind: str, seed: int) -> Subspace:
    """Let all learn from the same vectors."""
    X = draw_real(kind, seed)
    values = np.linalg.eigvalsh(X.T @ X / len(X))[::-1]
    k = max(GAPS, key=lambda k: values[k - 1] / values[k])
    principal = OuterProductPCA(k).fit(X).components_
    n_passes = N_PASSES[kind]
    start = start_state(X, k, nonnegative=False)
    found = (
        rule_alone(X, k, [seed, 33], rate=RATE, n_passes=n_passes).W_,
        ReconstructionNetwork(
            k, learning_rate=RECONSTRUCTION_RATE, n_passes=n_passes, random_state=np.random.default_rng([seed, 33])
        )
        .fit(X)
        .components_,
        SimilarityMatching(k, forgetting=1 - RATE, n_passes=n_passes).fit(X).W_,
        start.W,
        random_rows(k, X.shape[1], [seed, 34]),
    )
    alone = [rule_alone(X, 1, [seed, 45, unit], rate=RATE, n_passes=n_passes).W_[0] for unit in range(k)]
    bases = [np.linalg.qr(rows.T)[0] for rows in found]
    return Subspace(
        np.array(k),
        np.array(values[k - 1] / values[k]),
        np.array([((X @ basis) ** 2).sum() / len(X) / values[:k].sum() for basis in bases]),
        np.degrees([subspace_angles(basis, principal.T).max() for basis in bases]),
        np.array([abs(_of_norm_1(row) @ principal[0]) for row in alone]),
    )


def _of_norm_1(row: np.ndarray) -> np.ndarray:
    return row / np.linalg.norm(row)


def check_subspaces(found: Found, config: Any) -> Iterator[Claim]:
    """Report energies and angles."""
    for kind, each in found.items():
        world = f"{kind}, {SIDE} x {SIDE} pixels, K = {each.k[0]} (gap {each.gap.min():.2f})"
        shares, angles = (dict(zip(HOW, values.T, strict=True)) for values in (each.share, each.angle))
        title = f"energy of {kind} in the subspace found, of the most that K directions hold"
        learned = f"{world}; from random weights by the rule alone, more than 50,000 samples"
        yield from beside(
            report(f"C26.{kind}_sm", f"{title}: SM", shares["sm"], worst=np.min, note=learned),
            warm=Null("SM from its warm-up", shares["warm"], np.min),
            start=Null("the warm-up alone", shares["start"], np.min),
            random=Null("random directions", shares["random"], np.max),
        )
        words = f"|cosine| with the first component of {kind}, K units of SM without lateral synapses, least"
        note = f"{world}; each finds the same component: the cross-term alone projects on no more than that"
        yield report(f"C26.{kind}_uncoupled", words, each.uncoupled, worst=np.min, note=note)
        one = shares["reconstruction"]
        yield report(f"C26.{kind}_reconstruction", f"{title}: reconstruction (Eq. 2)", one, worst=np.min, note=learned)
        for how, name in (("sm", "SM"), ("reconstruction", "reconstruction"), ("start", "the warm-up alone")):
            title = f"largest angle between the subspaces of {name} and PCA, {kind}"
            yield report(f"C26.{kind}_angle_{how}", title, angles[how], worst=np.max, unit="deg", note=world)
