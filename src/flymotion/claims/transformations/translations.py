"""Translations: four cardinal directions are learned (C13).

``SPARSER`` of NSM's start was chosen with these worlds in view, so what it learned stands beside the start alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from flymotion.claims.beside import Null, beside, nulls_by
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, above, all_of, report, within
from flymotion.claims.running import Found
from flymotion.claims.transformations.learned_in_planes import basis, generators_found
from flymotion.claims.transformations.planes import EYES, PLANES
from flymotion.claims.ways import FEATURES, LIKE, succeeded

__all__ = ["check_translations"]

APART = {"wide": 0.005, "fly": 0.02}
"""By how much accuracies may differ from those of averages by label."""


def check_translations(found: Mapping[str, Found]) -> Iterator[Claim]:
    """State C13, of what was found by the key of an eye."""
    for eye, learned_by in found.items():
        for feature, learned in learned_by.items():
            yield from _check_one(eye, feature, learned)


def _check_one(eye: str, feature: str, learned: Found) -> Iterator[Claim]:
    end = ("_fly" if eye == "fly" else "") + ("_midpoint" if feature == "midpoint" else "")
    words = f"sigma {EYES[eye]:.3g}, {FEATURES[feature]}"
    nsm, start = learned["nsm"], learned["start"]
    apart, by_start = (of.accuracy - learned["labelled"].accuracy for of in (nsm, start))
    title = f"share of new pairs whose direction NSM's K = 4 names, less that of averages by label, {words}"
    note = (
        f"{PLANES[f'translation_exponential_{eye}'].described()}; {nsm.accuracy.mean():.4f} on average; "
        "this world was in view when the start was chosen"
    )
    bound = APART[eye]
    row = within(f"C13.apart{end}", title, apart, -bound, bound, note=note)
    yield from beside(row, start=Null(NULLS["start"], by_start, np.min))
    title = f"share of new pairs whose direction is named, {words}"
    row = report(f"C13.accuracy{end}", f"{title}: NSM, K = 4", nsm.accuracy, worst=np.min)
    yield from beside(row, **nulls_by(lambda null: null.accuracy, learned, np.min))
    title = f"seeds in which NSM finds all four directions, {words}"
    note = f"each above {LIKE} with the population's on whitened frames, {nsm.cosines.min():.3f} at worst, "
    note += f"{start.cosines.min():.3f} of the start alone"
    row = all_of(f"C13.seeds{end}", title, succeeded(nsm), note=note)
    yield from beside(row, start=Null(NULLS["start"], succeeded(start), np.sum))
    yield from generators_found(f"C13.generators_sm{end}", "sm", words, learned, 2)
    title = f"least principal cosine of SM's first two components with the population's generators, {words}"
    bases = [(basis(sm[:2]), basis(of)) for sm, of in zip(learned["sm"], learned["analytic"], strict=True)]
    cosines = np.array([np.linalg.svd(first.T @ span, compute_uv=False) for first, span in bases])
    yield above(f"C13.span_sm{end}", title, cosines, 0.95, note="equal eigenvalues mix")
