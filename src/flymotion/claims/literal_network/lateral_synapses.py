r"""Lateral synapses at a constant rate, beside the products of feedforward ones (Section 1.1).

Where Eq. 6 is at rest, ``W = E[y x']`` (here a row a unit; the paper's W is its transpose) and ``M = E[y y']``.

*SM.* With ``M y = W x`` (Eq. 5) at every sample, ``M M = E[M y y'] = E[W x y'] = W W'``: M is not the ``W'W`` of the
paper's W, but its root. *NSM.* At every sample ``y_a (M y - W x)_a = 0``, so that ``M M`` and ``W W'`` have the same
diagonal: the lateral synapses onto a unit, its leak included, are together as strong as the feedforward ones. Off the
diagonal nothing has to hold: for two filters of opposite signs ``W W'`` is negative, and M cannot be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.literal_network.agreement import ETA, unit_energy
from flymotion.claims.nulls import NULLS, random_filters
from flymotion.claims.rows import Claim, report
from flymotion.claims.worlds import WORLDS
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.literal import RateNetwork

if TYPE_CHECKING:
    from flymotion.claims.literal_network import Config

__all__ = ["Lateral", "check_lateral", "learn_lateral"]

N_PASSES = 3


class Lateral(NamedTuple):
    """M beside W W' (the paper's W'W), K = 2, of SM and of NSM, shape (2,); relative Frobenius norms."""

    root: np.ndarray
    """M M - W W'."""
    tied: np.ndarray
    """M - a W W', at the best a."""
    norms: np.ndarray
    """Largest relative difference of |M_a| from |W_a|."""
    opposed: np.ndarray
    """Cosine of the two filters."""
    start: np.ndarray
    """M M - W W' of the start alone."""


def learn_lateral(world: str, config: Config, seed: int) -> dict[str, Lateral]:
    """Learn from chi, and from frames as they are, plain vectors."""
    given = WORLDS[world]
    pairs = given.pairs(config.n, config.n_pairs, [seed, 36, 6])
    frames = pairs.before
    samples = {
        "chi": unit_energy(outer_products(ZCAWhitening(0.0).fit_transform(pairs), given.feature)),
        "frames": unit_energy(OuterProducts(np.ones((len(frames), 1)), frames)),
    }
    return {name: _learn(each, np.random.default_rng([seed, 36, 4])) for name, each in samples.items()}


def _learn(samples: OuterProducts, rng: np.random.Generator) -> Lateral:
    W, found = random_filters(2, samples, rng), []
    for rectified in (False, True):
        network = RateNetwork(W, strength=0.1, rate=ETA, rectified=rectified, tolerance=1e-8)
        start = _measures(network)[0]
        for _ in range(N_PASSES):
            network.learn(samples.u, samples.v)
        found.append((*_measures(network), start))
    return Lateral._make(np.array(found).T)


def _measures(network: RateNetwork) -> tuple[float, ...]:
    W, M = network.W.reshape(len(network.W), -1), network.M
    tied = W @ W.T
    scale = (M * tied).sum() / (tied**2).sum()
    norms = np.linalg.norm(M, axis=1) / np.linalg.norm(W, axis=1)
    return (
        float(np.linalg.norm(M @ M - tied) / np.linalg.norm(tied)),
        float(np.linalg.norm(M - scale * tied) / np.linalg.norm(M)),
        float(np.abs(norms - 1).max()),
        float(cosine(*network.W)),
    )


def check_lateral(lateral: Mapping[str, Mapping[str, Lateral]]) -> Iterator[Claim]:
    """Report M beside W'W."""

    def of(name: str, kind: int) -> dict[str, np.ndarray]:
        return {f"{w} {s}": getattr(m, name)[:, kind] for w, by in lateral.items() for s, m in by.items()}

    note = f"K = 2, eta {ETA:g}, {N_PASSES} passes from random filters; chi, and frames as plain vectors"
    at_rest = f"0 at rest, but for the rate; {note}"
    row = report("C36.root", "SM: |M^2 - W'W| relative to |W'W|", of("root", 0), worst=np.max, note=at_rest)
    yield from beside(row, start=Null(NULLS["start"], of("start", 0)))
    title = "{}: |M - a W'W| relative to |M|, at the best scale a"
    yield report("C36.tied", title.format("SM"), of("tied", 0), worst=np.max, note=note)
    title_norms = (
        "NSM: largest relative difference of a unit's lateral synapses, leak included, from its feedforward ones"
    )
    yield report("C36.norms", title_norms, of("norms", 1), worst=np.max, note=at_rest)
    opposed = ", ".join(f"{world} {np.median(cosines):.2f}" for world, cosines in of("opposed", 1).items())
    note = f"median cosine of the two filters: {opposed}: where it is negative W'W would excite, and M >= 0 cannot"
    yield report("C36.tied_nsm", title.format("NSM"), of("tied", 1), worst=np.max, note=note)
