"""What is stated of the filters that four learners find, at every size of the eye (Section 2.5; C1, C2 and C5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.four_learners import FIRM, Nonnegative, Signed, Told
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, Statistic, above, all_of, below, report, within
from flymotion.generators import cosine
from flymotion.generators.theory import antisymmetric_share

__all__ = ["LABELS", "OPPOSED", "antisymmetry", "first_components", "opposites", "seeds"]

LABELS = {"nsm": "NSM", "kmeans": "K-means"}
"""What they are called."""

OPPOSED, FILTERS, OUTPUTS = -0.95, 0.01, 0.015
"""Bounds: of the cosine of two filters; of how much less often than by theory's filter the direction is told."""

SILENT = "pairs without output counted as wrong"

STAGES = {"random_start": "learned from a random start by the rule alone", "start": NULLS["start"]}
"""What stands beside that which was learned."""

SETTINGS = {
    "nsm_random_start": f"no warm-up, T-hat at first as of {FIRM:g} pairs, Eq. 18, each pair seen once",
    "nsm_start": "halves of the warm-up's first component, before any learning",
    "kmeans_random_start": "two pairs as first centres, one start instead of the best of ten",
    "kmeans_start": "two pairs",
}


def first_components(id: str, signed: Mapping[str, Signed], note: str = "") -> Iterator[Claim]:
    """State that SM's first component is PCA's and the population's."""
    for other, label, least in (("pca", "PCA's", 0.998), ("theory", "the population's", 0.99)):
        like = {
            whose: {world: np.abs(cosine(getattr(s, whose), getattr(s, other)[:, :1])) for world, s in signed.items()}
            for whose in ("sm", "start", "random")
        }
        title = f"|cosine| of SM's first component with {label}"
        learned, started = ({w: c[:, 0] for w, c in like[whose].items()} for whose in ("sm", "start"))
        yield from beside(
            above(f"{id}.{other}", title, learned, least, note=note),
            start=Null(NULLS["start"], started, np.min),
            random=Null(NULLS["random"], like["random"], np.max),
        )


def antisymmetry(id: str, signed: Mapping[str, Signed]) -> Iterator[Claim]:
    """State that the population's first component is antisymmetric."""
    shares = {world: antisymmetric_share(s.theory[0, 0]) for world, s in signed.items()}
    random = {world: antisymmetric_share(s.random) for world, s in signed.items()}
    title = "antisymmetric share of the population's first component"
    yield from beside(above(f"{id}.antisymmetric", title, shares, 0.9), random=Null(NULLS["random"], random, np.max))


# -- two filters ----------------------------------------------------------------------------------------------------


def opposites(id: str, learned: Mapping[str, Nonnegative], note: str, known: Iterable[Claim] = ()) -> Iterator[Claim]:
    """State that NSM's two filters, and K-means' two, are opposite, and tell direction as the population's filter does.

    Both ways of reading them stand beside the same: learned from a random start, the start alone, random filters, and
    the mean chi of either direction, which takes labels; and ``known``, rows of what can be known at all.
    """
    for name, label in LABELS.items():
        yield from _opposition(id, name, label, learned, note)
        yield from _accuracy(id, name, label, learned, "difference")
        yield from known if name == "nsm" else ()
        yield from _accuracy(id, name, label, learned, "outputs")
    yield from _clusters(id, learned)


def _opposition(id: str, name: str, label: str, learned: Mapping[str, Nonnegative], note: str) -> Iterator[Claim]:
    title = f"cosine of {_owned(label)} two filters"
    row = below(f"{id}.cos{_suffix(name)}", title, _cosines(learned, name), OPPOSED, note=note)
    nulls = _stages(name, {stage: _cosines(learned, f"{name}_{stage}") for stage in STAGES}, np.max)
    yield from beside(row, **nulls, random=Null(NULLS["random"], _cosines(learned, "random"), np.min))


def _accuracy(id: str, name: str, label: str, learned: Mapping[str, Nonnegative], read: str) -> Iterator[Claim]:
    short, room = _shortfall(learned, name, read), FILTERS if read == "difference" else OUTPUTS
    what = {
        "difference": "read by the difference of {} filters",
        "outputs": "read from {} rectified outputs" if name == "nsm" else "read from {} magnitudes, rectified",
    }[read].format(_owned(label))
    title = f"accuracy of direction on new pairs, {what}: shortfall from the population's first component"
    id = f"{id}.accuracy{'_outputs' if read == 'outputs' else ''}{_suffix(name)}"
    least, most = (extreme([extreme(s) for s in short.values()]) for extreme in (np.min, np.max))
    note = f"shortfalls from {least:.4f} to {most:.4f}" + (f"; {SILENT}" if read == "outputs" else "")
    row = (
        within(id, title, short, -room, room, target=0.0, note=note)
        if name == "nsm"
        else below(id, title, short, room, note=f"{note}; may be better")
    )
    nulls = _stages(name, {stage: _shortfall(learned, f"{name}_{stage}", read) for stage in STAGES}, np.max)
    random = Null(NULLS["random"], _shortfall(learned, "random", read), np.min)
    labelled = {world: one.reference - one.labelled for world, one in learned.items()}
    told_more = Null(NULLS["labelled"], labelled, np.mean)
    yield from beside(row, **nulls, random=random, **({"labelled": told_more} if name == "nsm" else {}))


def _clusters(id: str, learned: Mapping[str, Nonnegative]) -> Iterator[Claim]:
    """State that K-means' own outputs, which of its clusters a pair is in (Eq. 27), are the directions."""
    short = {world: one.reference - one.clusters for world, one in learned.items()}
    smaller = {world: one.smaller for world, one in learned.items()}
    title = "accuracy of direction on new pairs, read from K-means' clusters (Eq. 27): shortfall from the population's"
    yield below(f"{id}.clusters_kmeans", f"{title} first component", short, OUTPUTS, note="may be better")
    title = "share of pairs in K-means' smaller cluster, the least: large chi of one direction stand against all others"
    yield report(f"{id}.clusters_kmeans_smaller", title, smaller, worst=np.min)


def _stages(name: str, values: Mapping[str, Mapping[str, np.ndarray]], worst: Statistic) -> dict[str, Null]:
    return {
        stage: Null(words, values[stage], worst, note=SETTINGS[f"{name}_{stage}"]) for stage, words in STAGES.items()
    }


def seeds(id: str, learned: Mapping[str, Nonnegative]) -> Iterator[Claim]:
    """State that every seed succeeds: that opposition and both accuracies are within their bounds."""
    for name, label in LABELS.items():
        row = all_of(
            f"{id}.seeds{_suffix(name)}",
            f"seeds in which {label} succeeds, all worlds",
            _successes(learned, name, name),
            note=f"cosine < {OPPOSED:g}, filters within {FILTERS:g}, outputs within {OUTPUTS:g}"
            + ("" if name == "nsm" else ", or better"),
        )
        nulls = {}
        for stage, words in STAGES.items():
            good = _successes(learned, f"{name}_{stage}", name)
            each = ", ".join(f"{world} {int(some.sum())} of {len(some)}" for world, some in good.items())
            together = np.concatenate(list(good.values()))
            nulls[stage] = Null(words, together, np.sum, note=f"{each}; {SETTINGS[f'{name}_{stage}']}")
        yield from beside(row, **nulls)
    silent = {world: one.nsm.silent for world, one in learned.items()}
    yield report(f"{id}.silent", "share of pairs that leave both NSM units silent", silent, worst=np.max)


def _successes(learned: Mapping[str, Nonnegative], whose: str, name: str) -> dict[str, np.ndarray]:
    cosines = _cosines(learned, whose)
    short = {read: _shortfall(learned, whose, read) for read in ("difference", "outputs")}
    size = np.abs if name == "nsm" else np.asarray
    return {
        world: (cosines[world] < OPPOSED)
        & (size(short["difference"][world]) <= FILTERS)
        & (size(short["outputs"][world]) <= OUTPUTS)
        for world in learned
    }


def _owned(label: str) -> str:
    return f"{label}'" if label.endswith("s") else f"{label}'s"


def _suffix(name: str) -> str:
    return "" if name == "nsm" else f"_{name}"


def _cosines(learned: Mapping[str, Nonnegative], whose: str) -> dict[str, np.ndarray]:
    """Cosine of the two filters in each world, for each seed."""
    both = {world: _of(one, whose).filters for world, one in learned.items()}
    return {world: cosine(filters[:, 0], filters[:, 1]) for world, filters in both.items()}


def _shortfall(learned: Mapping[str, Nonnegative], whose: str, read: str) -> dict[str, np.ndarray]:
    """How much less often than theory's filter the direction of a pair is told in each world, for each seed."""
    return {world: one.reference - getattr(_of(one, whose), read) for world, one in learned.items()}


def _of(one: Nonnegative, whose: str) -> Told:
    told: Told = getattr(one, whose)
    return told
