"""Reconstruction of the change by one operator on the midpoint, beside that of the paper's Eq. 9 (Suppl. A; C35)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.rows import Claim, report
from flymotion.claims.running import Found
from flymotion.claims.worlds import WORLDS
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.rivals import OuterProductPCA

__all__ = ["Unexplained", "check_midpoint", "compare_midpoint"]


class Unexplained(NamedTuple):
    """Share of the change left unexplained by one operator, fitted by alternating least squares."""

    before: np.ndarray
    """dx = theta A x, Eq. 9."""
    midpoint: np.ndarray
    """dx = theta A (x + x_next) / 2, Eq. 23 (eq:reconstruct_mid_point)."""


def compare_midpoint(world: str, seed: int) -> Unexplained:
    """Fit both to pairs of a world."""
    pairs = WORLDS[world].pairs(5, 5000, [seed, 35])
    left = [_unexplained(pairs.after - pairs.before, x) for x in (pairs.before, (pairs.before + pairs.after) / 2)]
    return Unexplained(*map(np.array, left))


def _unexplained(dx: np.ndarray, x: np.ndarray, *, n_steps: int = 200) -> float:
    """Alternate the best theta for A with the best A for theta, in Eq. 9 with K = 1."""
    chi = OuterProducts(dx, x)
    A = OuterProductPCA(1).fit(chi).generators_[0]
    for _ in range(n_steps):
        pushed = x @ A.T
        theta = (dx * pushed).sum(axis=1) / (pushed**2).sum(axis=1)
        A = np.linalg.solve((x * theta[:, None] ** 2).T @ x, chi.accumulate(theta[:, None])[0].T).T
    return float(((dx - theta[:, None] * (x @ A.T)) ** 2).sum() / (dx**2).sum())  # Eqs. 9, 23


def check_midpoint(found: Found, config: Any) -> Iterator[Claim]:
    """Report what is left unexplained."""
    for world, left in found.items():
        before, midpoint = np.median(left, axis=1)
        title = f"change left unexplained by one operator on the midpoint (Eq. 23), relative to Eq. 9, {world}"
        note = f"median shares left: Eq. 9 {before:.4f}, midpoint {midpoint:.4f}; n = 5, not whitened"
        yield report(f"C35.midpoint_{world}", title, midpoint / before, seeds=config.n_seeds, note=note)
