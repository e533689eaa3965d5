"""Claims of the plane: C10, C12, C13, C29 and C32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from flymotion.claims.figure2 import by_world
from flymotion.claims.rows import Claim, above, all_of, below, report, within
from flymotion.claims.transformations.lessons import LIKE, N_KMEANS, RIDGE, Learned, Signed, succeeded
from flymotion.claims.transformations.planes import EXPONENTIAL, PLANES, SIGMA, Result
from flymotion.generators import Generators
from flymotion.generators.theory import population
from flymotion.world.eyes import Eye

__all__ = ["check"]

KEEPING = 3
"""First parameters of the affine motions, which keep the covariance of what is seen: translations and rotation."""

AFFINE = ("x", "y", "rotation", "zoom", "shear", "diagonal shear")
"""Parameters of the affine motions."""


def check(result: Result) -> list[Claim]:
    """State C10, C12, C13, C29 and C32."""
    rotation, translation, affine = (result.nsm[world] for world in ("rotation", "translation", "affine"))
    return [
        *_check_rotation(rotation, result.kmeans, result.signed["rotation"]),
        *_check_weights(rotation),
        *_check_translation(translation, result.signed["translation"]),
        *_check_affine(affine),
        *_check_antisymmetry(rotation, translation, affine),
    ]


def _check_rotation(nsm: Learned, kmeans: Learned, signed: Signed) -> list[Claim]:
    seeds = len(nsm.found)
    rows = []
    for suffix, label, learned, note in (
        ("", "NSM", nsm, _described("rotation", nsm)),
        ("_kmeans", "K-means", kmeans, f"{N_KMEANS} pairs, 10 starts; mean accuracy {kmeans.accuracy.mean():.4f}"),
    ):
        cosine = f"cosine of filters with the population's generator: {label}"
        both, good = f"seeds in which {label} finds both senses, each above {LIKE}", succeeded(learned)
        rows += [
            above(f"C10.cos{suffix}", cosine, learned.cosines.min(), LIKE, seeds=seeds, note=note),
            all_of(f"C10.seeds{suffix}", both, good, seeds=seeds),
        ]
    return [
        *rows,
        _generators("C10.generators_sm", "SM", signed.sm, 1),
        _generators("C10.generators_pca", "PCA", signed.pca, 1),
        report("C10.accuracy", "share of new pairs whose sense NSM names", nsm.accuracy.min(), seeds=seeds),
    ]


def _described(world: str, learned: Learned) -> str:
    plane = PLANES[world]
    mean = f"mean cosine {learned.cosines.mean():.3f}, mean accuracy {learned.accuracy.mean():.4f}"
    height, width = plane.eye.shape
    return f"{height} x {width} pixels, sigma {SIGMA}, {plane.n_pairs} pairs; {mean}"


def _generators(id: str, label: str, captured: np.ndarray, n: int) -> Claim:
    """State that the first n components, and no others, are generators, in every seed."""
    like = captured > LIKE
    counts = np.where(like[:, :n].all(axis=1), like.sum(axis=1), like[:, :n].sum(axis=1))
    worst = counts[np.abs(counts - n).argmax()]
    title = f"generators among {label}'s first {captured.shape[1]} components, in the seed where it is least {n}"
    note = (
        f"within their span: first {n} at least {captured[:, :n].min():.3f}, others up to {captured[:, n:].max():.3f}"
    )
    return within(id, title, worst, n, n, seeds=len(captured), note=note)


def _check_weights(learned: Learned) -> list[Claim]:
    eye, seeds = PLANES["rotation"].eye, len(learned.found)
    n = learned.filters.shape[-1]
    even = Generators(np.ones((1, n, n)), eye)
    filters, theory = (Generators(A.reshape(-1, n, n), eye) for A in (learned.filters, learned.analytic))

    def row(name: str, title: str, share: Callable[[Generators], np.ndarray], worst: Callable[[Any], Any]) -> Claim:
        note = f"whitened frames; population's {worst(share(theory)):.3f}, equal weights {share(even)[0]:.3f}"
        return report(
            f"C12.{name}", f"energy of NSM's rotation filters {title}", worst(share(filters)), seeds=seeds, note=note
        )

    return [
        row("self", "from a pixel onto itself", lambda A: A.locality(0.0), np.max),
        row("neighbours", "from the eight pixels around", lambda A: A.locality(1.5) - A.locality(0.0), np.min),
        row("far", "from more than 2 pixels away", lambda A: 1 - A.locality(2.0), np.max),
    ]


def _check_translation(nsm: Learned, signed: Signed) -> list[Claim]:
    seeds = len(nsm.found)
    accuracy = "share of new pairs whose direction is named by"
    settings = f"{_described('translation', nsm)}; at a fly's sigma labelled averages name 0.983"
    good = succeeded(nsm, accuracy=0.98)
    all_four = "seeds in which NSM finds all four directions and names more than 0.98"
    span = "least principal cosine of SM's first two components with the population's generators"
    return [
        above("C13.accuracy", f"{accuracy} NSM", nsm.accuracy.min(), 0.98, seeds=seeds, note=settings),
        all_of("C13.seeds", all_four, good, seeds=seeds),
        report("C13.ideal", f"{accuracy} labelled averages", nsm.ideal.min(), seeds=seeds),
        report("C13.cos", "cosine of NSM's filters with the population's", nsm.cosines.min(), seeds=seeds),
        _generators("C13.generators_sm", "SM", signed.sm, 2),
        above("C13.span_sm", span, signed.sm_span.min(), LIKE, seeds=seeds, note="equal eigenvalues mix"),
        _generators("C13.generators_pca", "PCA", signed.pca, 2),
    ]


def _check_affine(nsm: Learned) -> list[Claim]:
    seeds, motion = len(nsm.found), PLANES["affine"].motion
    title, by_way = "cosine of NSM's filters with the population's generators", nsm.cosines.min(axis=0)
    least = ", ".join(f"{motion.called(way)} {c:.3f}" for way, c in zip(motion.ways, by_way, strict=True))
    named, note = "share of new pairs whose way NSM names", f"labelled averages {nsm.ideal.min():.4f}"
    return [
        report("C29.cos", title, by_way.min(), seeds=seeds, note=least),
        report("C29.cos_mean", f"mean {title}", nsm.cosines.mean(), seeds=seeds, note=_described("affine", nsm)),
        all_of(
            "C29.seeds", f"seeds in which all twelve ways are found, each above {LIKE}", succeeded(nsm), seeds=seeds
        ),
        report("C29.accuracy", named, nsm.accuracy.min(), seeds=seeds, note=note),
    ]


def _check_antisymmetry(rotation: Learned, translation: Learned, affine: Learned) -> list[Claim]:
    """C32: translations and rotations keep the covariance of what is seen, zoom and shears do not."""
    ways, eye = PLANES["affine"].motion.ways, PLANES["affine"].eye
    shares, theory = _antisymmetric(affine.filters, eye), _antisymmetric(affine.analytic, eye)
    keeping = np.abs(ways).argmax(axis=1) < KEEPING
    keep, change = shares[:, keeping], shares[:, ~keeping]
    worlds = {
        "rotation": _antisymmetric(rotation.filters, PLANES["rotation"].eye),
        "translation": _antisymmetric(translation.filters, PLANES["translation"].eye),
        "affine": keep,
    }
    least = {world: float(share.min()) for world, share in worlds.items()}
    means = {name: shares[:, ways[:, k] != 0].mean() for k, name in enumerate(AFFINE)}
    seeds, nsm, unlimited = len(keep), "NSM's filters", "the population's generators"
    lowest = "least antisymmetric share of {}, for translation and rotation"
    highest = "largest antisymmetric share of {}, for zoom and shear, below the least for translation and rotation"
    theory_of = population(EXPONENTIAL[1], eye, PLANES["affine"].motion, regularization=RIDGE)
    exponential = theory_of.generators().antisymmetric_share()
    by_name = dict(zip(AFFINE, exponential, strict=True))
    elsewhere = "largest antisymmetric share for zoom and shear where noise is exponential, in theory"
    kept_in_theory, changed_in_theory = theory[:, :KEEPING].min(), theory[:, KEEPING:].max()
    note = f"{by_world(least)}; whitened frames"
    return [
        above("C32.keeping", lowest.format(nsm), min(least.values()), 0.9, seeds=seeds, note=note),
        below(
            "C32.changing", highest.format(nsm), change.max(), keep.min(), seeds=seeds, note="means: " + by_world(means)
        ),
        above("C32.keeping_theory", lowest.format(unlimited), kept_in_theory, 0.9, seeds=seeds),
        report("C32.changing_exponential", elsewhere, exponential[KEEPING:].max(), seeds=0, note=by_world(by_name)),
        below("C32.changing_theory", highest.format(unlimited), changed_in_theory, kept_in_theory, seeds=seeds),
    ]


def _antisymmetric(filters: np.ndarray, eye: Eye) -> np.ndarray:
    """Antisymmetric shares of filters, shape (n_seeds, K, n, n)."""
    n_seeds, n_filters, n = filters.shape[:3]
    return Generators(filters.reshape(-1, n, n), eye).antisymmetric_share().reshape(n_seeds, n_filters)
