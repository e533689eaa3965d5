"""What is claimed of sums and of single detectors (C16, C20)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from flymotion.claims.equivalence.movies import FILTERS, KINDS, Config
from flymotion.claims.equivalence.singles import Singles, compare_singles
from flymotion.claims.equivalence.sums import Fields, Learned, boundary_shares, compare_learned, sum_fields
from flymotion.claims.rows import Claim, below, report, within
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import stack

__all__ = ["Result", "check", "jobs", "run"]


@dataclass(frozen=True)
class Result:
    """All parts; every array has an axis of seeds first."""

    config: Config
    singles: Singles
    fields: Fields
    learned: Learned


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work."""
    parts = (compare_singles, sum_fields, compare_learned)
    return [partial(part, config, seed) for part in parts for seed in range(config.n_seeds)]


def run(config: Config, each: Each = in_turn) -> Result:
    """Show moving scenes to all detectors."""
    results, n = list(each(jobs(config))), config.n_seeds
    return Result(config, *(stack(results[k : k + n]) for k in range(0, 3 * n, n)))


def check(result: Result) -> list[Claim]:
    """State C16 and C20."""
    return [*_check_fields(result), *_check_learned(result), *_check_singles(result), *_check_gratings(result)]


def _check_fields(result: Result) -> list[Claim]:
    config, fields = result.config, result.fields
    seeds, shares = config.n_seeds, boundary_shares(fields)
    slopes = np.polyfit(np.log(config.fields), np.log(shares.T), 1)[0]
    each = "noise {:.4f}, grating {:.4f}"
    movies = "random frames, noise, a grating, photographs; a delay and a low-pass"
    title = "sum of three-pixel detectors - sum of HRDs - boundary terms: largest error, relative to the largest sum"
    size = "boundary's share, its root mean square over the mean sum of HRDs"
    ends = f"{min(config.fields)} to {max(config.fields)} HRDs, a delay"
    worst = slopes[np.abs(slopes + 1).argmax()]
    return [
        below("C16.identity", f"{title}, corrected", fields.identity.max(), 1e-12, seeds=seeds, note=movies),
        report("C16.printed", f"{title}, as printed", fields.printed.max(), seeds=seeds, note=movies),
        within(
            "C16.slope",
            f"log-log slope of the {size}, in the number of HRDs",
            worst,
            -1.05,
            -0.95,
            seeds=seeds,
            note=f"{each.format(*slopes)}; {ends}",
        ),
        report(
            "C16.share", f"{size}, largest field", shares[:, -1].max(), seeds=seeds, note=each.format(*shares[:, -1])
        ),
    ]


def _check_learned(result: Result) -> list[Claim]:
    config, learned = result.config, result.learned
    seeds, world = config.n_seeds, f"L1, n = {config.n}"
    named = "Toeplitz-antisymmetric {:.3f}, rest of the antisymmetric {:.3f}, symmetric {:.3f}"
    white, pixels = (named.format(*shares) for shares in learned.shares.mean(axis=0))
    singles = np.abs(learned.singles).max(axis=0)
    outputs = "one row {:.3f} and {:.3f}, one patch {:.3f} and {:.3f}".format(*singles.ravel())
    return [
        below(
            "C16.learned",
            "Toeplitz-antisymmetric part of the learned filter - HRDs of every base length: largest error, relative",
            learned.identity.max(),
            1e-12,
            seeds=seeds,
            note=f"one patch, and the sum over a ring; {world}, whitened frames and pixels",
        ),
        report(
            "C16.residual",
            "energy of the learned filter in pixels that its Toeplitz-antisymmetric part leaves out",
            1 - learned.shares[:, 1, 0].min(),
            seeds=seeds,
            note=f"means, in pixels: {pixels}; on whitened frames: {white}; {world}",
        ),
        report(
            "C16.whole",
            "correlation over time of the learned filter, summed over a ring, with its HRDs, in pixels",
            learned.whole[:, 1].min(),
            seeds=seeds,
            note=f"whitened frames {learned.whole[:, 0].min():.3f}; noise; {world}",
        ),
        below(
            "C20.learned",
            "|correlation| over time of a learned detector in pixels with one HRD, on its better side, largest",
            singles.max(),
            0.9,
            seeds=seeds,
            note=f"noise and photographs: {outputs}; {world}; a delay",
        ),
    ]


def _check_singles(result: Result) -> list[Claim]:
    config, singles = result.config, result.singles
    seeds, sizes = config.n_seeds, np.abs(singles.correlations).max(axis=0)
    one_row = np.abs(singles.one_row).max(axis=(0, 1))
    rows = []
    for k, (id, rival) in enumerate((("C20.hrd", "an HRD, on its better side"), ("C20.shared", "a shared line"))):
        by = {f"{kind}, {way}": sizes[i, j, k] for i, kind in enumerate(KINDS) for j, way in enumerate(FILTERS)}
        title = f"|correlation| over time of one three-pixel detector with {rival}, same filters, largest"
        note = "; ".join(f"{name} {value:.3f}" for name, value in by.items())
        rows.append(below(id, title, sizes[..., k].max(), 0.9, seeds=seeds, note=note))
        title = f"the same with {rival}, over any single row of a photograph, largest"
        note = "highest in rows in which one edge makes most of the output: one pulse in either detector"
        rows.append(report(f"{id}_row", title, one_row[k], seeds=seeds, note=note))
    title = "difference of the three detectors' sums over a ring, same filters: largest, relative to the largest sum"
    scenes = "noise, grating, photographs; a delay and a low-pass"
    return [*rows, below("C20.sums", title, singles.ring.max(), 1e-12, seeds=seeds, note=scenes)]


def _check_gratings(result: Result) -> list[Claim]:
    config, singles = result.config, result.singles
    theory = "gratings: deviation of the correlations from 0 (HRD) and theory (shared line), largest"
    forms = f"theory: 0 of a low-pass, -sin(omega tau / 2) of a delay; up to {max(config.frequencies):g} of the best"
    beyond = "correlation with a shared line, grating at twice the best frequency of a delay"
    passes = "theory -1; the size passes 0.9 at 1.43 times the best frequency"
    return [
        below("C20.theory", theory, singles.theory.max(), 1e-6, seeds=0, note=f"{forms} temporal frequency"),
        report("C20.beyond", beyond, singles.beyond.min(), seeds=0, note=passes),
    ]
