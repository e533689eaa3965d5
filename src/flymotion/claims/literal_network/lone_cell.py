r"""A single T4 that learns alone (C34): the change at one pixel, a scalar, and the intensities of all (Section 3.2).

Of the full network, the neuron of row i has to be told the transformation's magnitude, a sum over all rows (Eq. 19).
Alone it has its own output: with ``chi = dx_i x``, a plain vector, it finds the first component of

.. math:: E[\Delta x_i^2 x x'] = E[\Delta x_i^2] E[x x'] + 2 E[\Delta x_i x] E[\Delta x_i x]',

averaged over steps of the content (Isserlis): of whitened frames, nearly the row of the mean at a given step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.literal_network.agreement import STRENGTH, unit_energy
from flymotion.claims.nulls import labelled_means, random_filters
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.worlds import WORLDS, leftward
from flymotion.frames import FramePairs
from flymotion.generators.theory import Population
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.literal import RateNetwork
from flymotion.similarity.rivals import OuterProductPCA

if TYPE_CHECKING:
    from flymotion.claims.literal_network import Config

__all__ = ["Rows", "check_lone_cell", "learn_alone"]


BESIDE = {
    "start": ("start", "the random start"),
    "labelled": ("labelled", "averages by label"),
    "pca": ("lone_pca", "PCA of what that T4 sees"),
}
"""What stands beside the row that a T4 learned: fields of ``Rows``, and words, by the suffix of the claim's row."""

BESIDE_THREE = {
    "start": BESIDE["start"],
    "labelled": BESIDE["labelled"],
    "population": ("lone_population", "the row of a single T4 in the population"),
    "full": ("full", "the centre's row of the full filter"),
    "full_population": ("population", "the centre's row of the population's filter"),
}
"""The same where that row is held against three pixels."""


class Rows(NamedTuple):
    """Rows of the centre, of n weights each."""

    full: np.ndarray
    """Of the full filter of SM, K = 1, learned from the same pairs."""
    alone: np.ndarray
    """Learned by a single T4, SM, K = 1."""
    start: np.ndarray
    """What that started with, random weights."""
    pair: np.ndarray
    """Of two T4s of the pixel that inhibit each other, NSM, shape (2, n)."""
    pair_start: np.ndarray
    """What those started with."""
    labelled: np.ndarray
    """Mean of dx_i x over steps to the right less that over steps to the left."""
    population: np.ndarray
    """Of the population's first component."""
    lone_population: np.ndarray
    """Of a single T4's population."""
    lone_pca: np.ndarray
    """Of PCA of what the single T4 sees."""


def learn_alone(config: Config, seed: int) -> dict[str, Rows]:
    """Let the full network and single T4s learn in L1, from random filters, in one pass; by the number of pixels."""
    widest = max(config.widths)
    pairs = WORLDS["L1"].pairs(widest, config.n_alone, [seed, 34])
    found = {}
    for n in config.widths:
        middle = slice((widest - n) // 2, (widest + n) // 2)
        found[f"n = {n}"] = _learn(FramePairs(pairs.before[:, middle], pairs.after[:, middle], pairs.motion), seed)
    return found


def _learn(pairs: FramePairs, seed: int) -> Rows:
    world, n = WORLDS["L1"], pairs.n_pixels
    rng = np.random.default_rng([seed, n, 34])
    chi = unit_energy(outer_products(ZCAWhitening(0.0).fit_transform(pairs), world.feature))
    centre = slice(n // 2, n // 2 + 1)
    own = unit_energy(OuterProducts(chi.u[:, centre], chi.v))
    start = random_filters(2, own, rng)
    right, left = labelled_means(own, leftward(pairs))
    theory = world.population(n)
    return Rows(
        _learned(chi, random_filters(1, chi, rng), rectified=False)[0, n // 2],
        _learned(own, start[:1], rectified=False)[0, 0],
        start[0, 0],
        _learned(own, start, rectified=True)[:, 0],
        start[:, 0],
        (right - left)[0],
        theory.components(1)[1][0, n // 2],
        _lone_component(theory, n),
        OuterProductPCA(1).fit(own).generators_[0, 0],
    )


def _learned(chi: OuterProducts, W: np.ndarray, *, rectified: bool) -> np.ndarray:
    network = RateNetwork(W, strength=STRENGTH, rectified=rectified, tolerance=1e-6)
    network.learn(chi.u, chi.v)
    return network.W


def _lone_component(theory: Population, n: int) -> np.ndarray:
    """Return the first component of the population's ``dx_i x``, shape (n,)."""
    moment = theory.second_moment.reshape(n, n, n, n)[n // 2, :, n // 2]
    return np.linalg.eigh(moment)[1][:, -1]


def check_lone_cell(rows: Mapping[str, Rows], config: Config) -> Iterator[Claim]:
    """State C34."""

    def like(row: str, other: str) -> dict[str, np.ndarray]:
        return {n: _likeness(getattr(found, row), getattr(found, other)) for n, found in rows.items()}

    note = f"SM, K = 1, as printed, one pass of {config.n_alone} pairs of L1, whitened; dx of the centre alone"
    title, learned = "|cosine| of the row that a single T4 learns with {}", like("alone", "full")
    short = ", ".join(f"{n} {(found > 0.95).sum()} of {len(found)}" for n, found in learned.items())
    how = f"{note}; the full filter by the same rule from the same pairs; seeds above 0.95: {short}"
    nulls = {key: Null(words, like(row, "full"), np.min) for key, (row, words) in BESIDE.items()}
    both = "the row of a single T4, and the full filter, of the population"
    nulls["population"] = Null(both, like("lone_population", "population"), np.min)
    row = above("C34.row", title.format("the centre's row of the full filter"), learned, 0.95, note=how)
    yield from beside(row, **nulls)

    def like_three(row: str) -> dict[str, np.ndarray]:
        return {n: _likeness(getattr(found, row), _three(found.full.shape[-1])) for n, found in rows.items()}

    nulls = {key: Null(words, like_three(row), np.min) for key, (row, words) in BESIDE_THREE.items()}
    what = title.format("the three-pixel row (1, 0, -1)")
    yield from beside(report("C34.three", what, like_three("alone"), worst=np.min, note=note), **nulls)
    yield from _check_pair(rows, note)


def _check_pair(rows: Mapping[str, Rows], note: str) -> Iterator[Claim]:
    least, counts, n_seeds = {}, {}, 0
    for when in ("pair", "pair_start"):
        signed = {n: _cosine(getattr(found, when), found.full[:, None]) for n, found in rows.items()}
        least[when] = {n: np.abs(cosines).min(axis=1) for n, cosines in signed.items()}
        opposite = {n: (cosines.prod(axis=1) < 0) & (least[when][n] > 0.8) for n, cosines in signed.items()}
        counts[when] = {n: found.sum() for n, found in opposite.items()}
        n_seeds = len(next(iter(opposite.values())))
    note = note.replace("SM, K = 1", "NSM, K = 2, from random weights")
    title = (
        "|cosine| of the rows of two T4s of a pixel (NSM) with the centre's row of the full filter, of both the less"
    )
    row = report("C34.nsm", title, least["pair"], worst=np.min, note=note)
    yield from beside(row, start=Null("the random start", least["pair_start"], np.min))
    title = f"seeds of {n_seeds} in which the rows of two T4s of a pixel (NSM) are opposite, both beyond 0.8"
    row = report("C34.nsm_seeds", title, counts["pair"], worst=np.min, seeds=n_seeds, unit="seeds", note=note)
    yield from beside(row, start=Null("the random start", counts["pair_start"], np.min, seeds=n_seeds))


def _three(n: int) -> np.ndarray:
    """Return the row that takes the left neighbour's intensity less the right one's, of n pixels."""
    return np.eye(n)[n // 2 - 1] - np.eye(n)[n // 2 + 1]


def _cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosines of rows, along the last axis."""
    return (a * b).sum(axis=-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1))


def _likeness(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs(_cosine(a, b))
