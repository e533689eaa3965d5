"""SM and NSM against what else learns principal subspaces from a stream, on chi written out: time and error.

All in float32, which is faster for peers too, on one thread, by the processor's time. Peers find chi written out and
are not charged for that. Ours are past their warm-up. Errors are those after one pass, each from its own start.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
import per_sample
from run import Row, in_turns, loop_over, row
from streaming_peers import AdaOja, AdaOjaOnFactors, FastSimilarityMatching
from threadpoolctl import threadpool_limits

from flymotion import NonnegativeSimilarityMatching, OuterProducts, SimilarityMatching
from flymotion.similarity.rivals import OuterProductPCA

N_SAMPLES, N_TIMED, N_LOOP = 8192, 4096, 256
"""Samples learned from, and of these the timed ones, and those of the loop."""


def moving_ways(n: int, n_ways: int, n_pairs: int) -> OuterProducts:
    """White content, each pair moved one of several ways, forth or back: chi have as many strong components as ways."""
    rng = np.random.default_rng(0)
    ways = rng.standard_normal((n_ways, n, n), dtype=np.float32)
    ways = (ways - ways.transpose(0, 2, 1)) / np.float32(np.sqrt(2 * n))
    x = rng.standard_normal((n_pairs, n), dtype=np.float32)
    moved = np.einsum("ptj,pij->pti", x.reshape(n_ways, -1, n), ways, optimize=True)  # a way after another
    dx = rng.uniform(-1, 1, (n_ways, len(x) // n_ways, 1)).astype(np.float32) * moved
    dx = dx.reshape(-1, n) + 0.1 * rng.standard_normal((n_pairs, n), dtype=np.float32)
    order = rng.permutation(n_pairs)
    return OuterProducts(dx[order], x[order])


def subspace_error(found: np.ndarray, optimum: np.ndarray) -> float:
    """Share of the optimum's subspace that is not in the one found: 0 for the same, 1 for orthogonal ones."""
    a, b = (np.linalg.qr(np.asarray(rows, float).T)[0] for rows in (found, optimum))
    return 1 - float(((a.T @ b) ** 2).sum()) / len(optimum)


def rivals_speed() -> Iterator[Row]:
    """Yield the rows of each size and number of units."""
    for n in (25, 32, 64):
        for k in (4, 10):
            chi = moving_ways(n, k, N_SAMPLES // k * k)
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from _rows(n, k, chi)


def _rows(n: int, k: int, chi: OuterProducts) -> Iterator[Row]:
    dense = np.ascontiguousarray(chi.dense())
    sm, nsm = SimilarityMatching(k).fit(chi), NonnegativeSimilarityMatching(k).fit(chi)
    first = dense[:k] / np.linalg.norm(dense[:k], axis=1, keepdims=True)
    fsm, oja, factors = FastSimilarityMatching(first), AdaOja(first), AdaOjaOnFactors(first)
    for peer, samples in ((fsm, dense), (oja, dense), (factors, chi)):
        peer.partial_fit(samples)
    optimum = OuterProductPCA(k).fit(chi).components_
    errors = [subspace_error(rows, optimum) for rows in (sm.components_, fsm.components(), oja.components())]
    batch = NonnegativeSimilarityMatching(k, n_passes=10).fit(chi).score(chi)
    captured = f"captures {nsm.score(chi) / batch:.3f} of what ten passes do"

    few, part, u, v = dense[:N_TIMED], chi[:N_TIMED], chi.u[:N_LOOP].copy(), chi.v[:N_LOOP].copy()
    timed = [lambda: sm.partial_fit(part), lambda: nsm.partial_fit(part), lambda: fsm.partial_fit(few)]
    timed += [lambda: oja.partial_fit(few), lambda: factors.partial_fit(part)]
    timed += [loop_over(sm, per_sample.sm, n, u, v), loop_over(nsm, per_sample.nsm, n, u, v)]
    counts = [N_TIMED] * 5 + [N_LOOP] * 2
    seconds = in_turns(*timed, repeats=9, clock=time.process_time)
    us = [1e6 * t / count for t, count in zip(seconds, counts, strict=True)]

    fast, ada, ours = ("fast similarity matching", "AdaOja, blocks of 256", "AdaOja on our factors")
    of_sm, of_fsm, of_oja = (f"{error:.4f}" for error in errors)
    for name, a, b, note in (
        ("sm-fsm", 0, 2, f"{fast}; at least 10; subspace errors {of_sm}, {of_fsm}"),
        ("nsm-fsm", 1, 2, f"{fast}; at least {5 if k == 4 else 4}; {captured}"),
        ("sm-oja", 0, 3, f"{ada}; above 1; subspace errors {of_sm}, {of_oja}"),
        ("nsm-oja", 1, 3, f"{ada}; above 1; {captured}"),
        ("sm-oja-factors", 0, 4, f"{ours}; reported"),
        ("nsm-oja-factors", 1, 4, f"{ours}; reported"),
        ("sm-loop", 0, 5, "compiled per-sample loop; reported"),
        ("nsm-loop", 1, 6, "compiled per-sample loop; reported"),
    ):
        yield row(f"rivals-speed.{name}-{n * n}-{k}", us[a], us[b], "us/sample", f"{n} x {n}, K = {k}, {note}")
