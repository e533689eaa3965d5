"""The affine group: all twelve ways are learned (C29), and which of the generators are antisymmetric (C32).

A motion that keeps the scene's statistics has an antisymmetric generator, zoom and shears change them; but exponential
noise has no scale but its length, and whitened is zoomed and sheared by almost antisymmetric operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from flymotion.claims.beside import beside, nulls_by
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.running import Found
from flymotion.claims.transformations.planes import EYES, MOTIONS, NOISES, PLANES
from flymotion.claims.transformations.rotations import derivatives, signed_cosines
from flymotion.claims.ways import FEATURES, least_of_ways
from flymotion.generators.theory import antisymmetric_share

__all__ = ["check_affine", "check_antisymmetry"]

CONTROLS = NULLS | {
    "labelled_start": "NSM, started from averages by label",
    "midpoint": "averages by label of the midpoint feature, antisymmetric in the mean by construction",
}
"""NSM's own start, of four units, is from the antisymmetric part of chi: that from labels is from all of it."""


def check_affine(found: Found) -> Iterator[Claim]:
    """State C29."""
    plane, motion = PLANES["affine"], MOTIONS["affine"]
    derivative = derivatives(plane.side, "affine")

    def own(of: Any) -> np.ndarray:
        return signed_cosines(of.filters, derivative, motion.ways)

    for feature, learned in found.items():
        end, words, nsm = "" if feature == "change" else f"_{feature}", FEATURES[feature], learned["nsm"]
        title = f"cosine of filters with the population's generator of their way, {words}"
        note = f"{plane.described()}, whitened frames; {least_of_ways(motion, nsm.cosines)}"
        row = above(f"C29.match{end}", f"{title}: NSM, K = 12", nsm.cosines, 0.85, note=note)
        yield from beside(row, **nulls_by(lambda null: null.cosines, learned, np.min))
        title = f"share of new pairs whose way, of twelve, is named, {words}"
        row = above(f"C29.accuracy{end}", f"{title}: NSM", nsm.accuracy, 0.99, note=f"mean {nsm.accuracy.mean():.4f}")
        yield from beside(row, **nulls_by(lambda null: null.accuracy, learned, np.min))
        title = f"cosine of filters with the derivative operator of their way, {words}"
        pixels = signed_cosines(nsm.filters, derivative, motion.ways, learned["Z"])
        note = f"whitened frames; {least_of_ways(motion, own(nsm))}; in pixels {pixels.min():.3f}"
        row = report(f"C29.cos{end}", f"{title}: NSM", own(nsm), worst=np.min, note=note)
        yield from beside(row, **nulls_by(own, learned, np.min))


def check_antisymmetry(found: Found) -> Iterator[Claim]:
    """State C32, in four worlds."""
    for noise in NOISES:
        for eye in EYES:
            yield from _check_world(noise, eye, found)


def _check_world(noise: str, eye: str, found: Found) -> Iterator[Claim]:
    for id, motions, words in (
        ("keeping", ("translation", "rotation"), "least antisymmetric share of filters of translation and rotation"),
        ("changing", ("zoom", "shear"), "largest antisymmetric share of filters of zoom and shear"),
    ):
        learned = {motion: found[f"{motion}_{noise}_{eye}"] for motion in motions}
        n_seeds = min(len(each["change"]["Z"]) for each in learned.values())
        shares = {name: _shares(learned, name, n_seeds) for name in ("nsm", *CONTROLS)}
        title = f"{words}, {noise} noise, sigma {EYES[eye]:.3g}"
        named = min(each["change"]["nsm"].accuracy[:n_seeds].min() for each in learned.values())
        told = f"the paper's feature, {PLANES[f'{motions[0]}_{noise}_{eye}'].described()}; whitened frames; "
        told += f"mean {shares['nsm'].mean():.3f}; NSM names {named:.3f} or more of new pairs"
        end = "" if eye == "wide" else f"_{eye}"
        state, bound, worst = (above, 0.9, np.min) if id == "keeping" else (below, 0.6, np.max)
        row = state(f"C32.{id}_{noise}{end}", f"{title}: NSM", shares["nsm"], bound, note=told)
        yield from beside(row, **nulls_by(lambda values: values, shares, worst, CONTROLS))


def _shares(learned: Found, name: str, n_seeds: int) -> np.ndarray:
    """Return antisymmetric shares of filters of several motions, shape (n_seeds, n_ways)."""
    feature, name = ("midpoint", "labelled") if name == "midpoint" else ("change", name)
    return np.concatenate(
        [antisymmetric_share(each[feature][name].filters[:n_seeds]) for each in learned.values()], axis=1
    )
