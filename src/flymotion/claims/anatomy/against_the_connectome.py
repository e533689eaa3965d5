"""Learned rows of T4a-d and T5a-d against the connectome's synapses, with nulls (C22).

A row has the signs where its weights have the effective ones in the columns where Mi9's synapses (T5: Tm9's) outweigh
those of Mi4, C3 and CT1, and in those where these do, each column counting by what is left of both; and the order where
the centroid of weights of the centre's own sign lies where content comes from and that of the others beyond the column.
Directions give the signs, so four subtypes are one pattern: three groups stand in one of six orders. T5's rows are
T4's, turned in sign, but for halves of the change, so that eight subtypes are one pattern as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from flymotion.circuits import SUBTYPES
from flymotion.circuits.connectome import centroid, effective, partners, synapses
from flymotion.circuits.wiring import flanks, likeness, shuffled
from flymotion.claims.anatomy.columns import OFFSETS, READS, Learned
from flymotion.claims.beside import Null, beside
from flymotion.claims.rows import Claim, above, report

__all__ = ["check"]

Found = Mapping[str, Mapping[str, Mapping[str, Learned]]]
"""By world, by what learned, and by ``"nsm"`` or null; rows of shape (n_seeds, 8, 19)."""

KINDS = {
    "patch": "the middle row of a patch's network, whole chi",
    "column": "cells of a column, the change there alone",
}

NULLS = {"start": "the start alone", "random": "random filters", "labelled": "averages by label"}

ONTO = {"pixels": "onto intensities in pixels", "whitened": "onto whitened intensities"}

OTHERS = {
    "patch_midpoint": "a patch, the midpoint feature",
    "column_midpoint": "a column, the midpoint feature",
    "patch_noisy": "a patch, whitened less (ridge 1e-2)",
    "column_noisy": "a column, whitened less (ridge 1e-2)",
    "halves": "a column, T4 from the change's ON half and T5 from its OFF half",
}

T4, T5 = slice(0, 4), slice(4, 8)

N_SHUFFLES = 100


def check(found: Found) -> Iterator[Claim]:
    """State C22's rows that hold learned weights against the connectome."""
    note = "three groups of inputs can stand in six orders, and direction gives signs: four subtypes are one pattern"
    yield report("C22.chance", "chance that all subtypes of T4, or all of T5, have the order", 1 / 6, note=note)
    yield from _check_the_fly()
    for kind, words in KINDS.items():
        for read, end in zip(READS, ("", "_whitened"), strict=True):
            for what, title in (("signs", "the signs at inputs' columns"), ("order", "the order along the direction")):
                yield from _check_pattern(found, f"C22.{kind}_{what}{end}", kind, read, what, f"{title}, {words}")
            yield from _check_likeness(found, f"C22.{kind}_like{end}", kind, read, words)
    yield from _check_others(found)
    yield from _check_sizes(found)


def _check_the_fly() -> Iterator[Claim]:
    """Tell what of Section 3.2's sentence the connectome itself says: one pixel, nearby pixels, opposite signs."""
    note = "synapses within two columns, means over cells: "
    for role, words, own in (
        ("change", "of Mi1 and Tm3 (T5: Tm1, Tm2, Tm4) that are in the cell's own column", True),
        ("intensity", "of Mi9, Mi4, C3 and CT1 (T5: Tm9, CT1) that are in other columns", False),
    ):
        found = {cell: synapses(cell, *partners(cell, role)) for cell in SUBTYPES}
        here = {cell: (each.offsets == 0).all(axis=1) == own for cell, each in found.items()}
        shares = {cell: float(each.counts @ here[cell] / each.counts.sum()) for cell, each in found.items()}
        told = ", ".join(f"{cell} {share:.2f}" for cell, share in shares.items())
        title = f"share of the synapses {words}, mean of eight subtypes"
        yield report(f"C22.fly_{role}", title, float(np.mean(list(shares.values()))), note=note + told)
    sided = [
        [sign * centroid(cell, name) < 0 for sign in (1, -1) for name in partners(cell, "intensity", sign)]
        for cell in SUBTYPES
    ]
    title = "subtypes of eight of which every intensity input lies on the side of its sign"
    yield report("C22.fly_sides", title, float(sum(map(all, sided))), unit="subtypes", note=f"{note}see C37.t4, C37.t5")


def _check_pattern(found: Found, id: str, kind: str, read: str, what: str, title: str) -> Iterator[Claim]:
    def count(key: str, cells: slice = slice(None)) -> dict[str, np.ndarray]:
        return {world: _counted(getattr(of[kind][key], read), what, cells) for world, of in found.items()}

    least = [{world: int(each.min()) for world, each in count("nsm", cells).items()} for cells in (T4, T5)]
    kinds = ", ".join(f"in {world} T4 {least[0][world]}, T5 {least[1][world]}" for world in found)
    flipped = max(_counted(-getattr(of[kind]["nsm"], read), what).max() for of in found.values())
    title = f"subtypes of eight with {title}, {ONTO[read]}, paper's feature"
    note = f"least of all seeds {kinds}; with signs flipped {flipped} at most; T5's rows are T4's, turned in sign, so "
    note += "that eight subtypes are one pattern"
    if kind == "column":
        note += "; dendrites start onto columns that content comes from, which is half of it"
    row = above(id, title, count("nsm"), 7.5, unit="subtypes", note=note)
    nulls = {key: Null(words, count(key), np.median) for key, words in NULLS.items()}
    moved = {world: _shuffled_counts(getattr(of[kind]["nsm"], read), what) for world, of in found.items()}
    nulls["shuffled"] = Null("columns shuffled, all subtypes alike", moved, np.mean, _as_many(moved))
    if kind == "column":
        nulls["from_random"] = Null("learned from random filters", count("from_random"), np.median)
    yield from beside(row, **nulls)


def _read(rows: np.ndarray, measure: Callable[[np.ndarray, str], Any]) -> list[Any]:
    """Measure the rows of each subtype, shape (..., 8, 19)."""
    return [measure(rows[..., k, :], cell) for k, cell in enumerate(SUBTYPES)]


def _counted(rows: np.ndarray, what: str, cells: slice = slice(None)) -> np.ndarray:
    """Count subtypes whose rows, shape (..., 8, 19), have the pattern, shape (...)."""
    chosen = list(enumerate(SUBTYPES))[cells]
    return np.sum([getattr(flanks(rows[..., k, :], OFFSETS, cell), what) for k, cell in chosen], axis=0)


def _shuffled_counts(rows: np.ndarray, what: str) -> np.ndarray:
    """Count the same with columns shuffled, of every seed, shape (n_seeds, n_shuffles)."""
    rng = np.random.default_rng(22)
    return _counted(shuffled(rows, N_SHUFFLES, rng), what).T


def _as_many(moved: Mapping[str, np.ndarray]) -> str:
    return "all eight in a share of " + ", ".join(f"{w} {np.mean(each == 8):.3f}" for w, each in moved.items())


def _likeness(rows: np.ndarray, cells: slice, *, across: bool = True) -> np.ndarray:
    """Return the mean correlation with the connectome over subtypes, shape (...)."""
    chosen = list(enumerate(SUBTYPES))[cells]
    return np.mean([likeness(rows[..., k, :], OFFSETS, cell, across=across) for k, cell in chosen], axis=0)


def _check_likeness(found: Found, id: str, kind: str, read: str, words: str) -> Iterator[Claim]:
    for name, cells in (("t4", T4), ("t5", T5)):
        rows = {world: of[kind] for world, of in found.items()}

        def like(key: str, rows: Any = rows, cells: slice = cells) -> dict[str, np.ndarray]:
            return {world: _likeness(getattr(of[key], read), cells) for world, of in rows.items()}

        rng = np.random.default_rng(23)
        moved = {
            world: np.quantile(_likeness(shuffled(getattr(of["nsm"], read), N_SHUFFLES, rng), cells), 0.95, axis=0)
            for world, of in rows.items()
        }
        along = ", ".join(
            f"{world} {np.median(_likeness(getattr(of['nsm'], read), cells, across=False)):.2f}"
            for world, of in rows.items()
        )
        title = f"correlation with the connectome over 19 columns, mean of {name.upper()}a-d, {words}, {ONTO[read]}"
        note = f"median of seeds; of profiles along the preferred direction {along}"
        nulls = {key: Null(null, like(key), np.median) for key, null in NULLS.items()}
        nulls["shuffled"] = Null("columns shuffled, the 95th percentile", moved, np.median)
        yield from beside(report(f"{id}_{name}", title, like("nsm"), worst=np.median, note=note), **nulls)


def _check_others(found: Found) -> Iterator[Claim]:
    for kind, words in OTHERS.items():
        for read, end in zip(READS, ("", "_whitened"), strict=True):
            rows = {world: getattr(of[kind]["nsm"], read) for world, of in found.items() if kind in of}
            told = ", ".join(
                f"{world} {np.median(_likeness(of, T4)):.2f} and {np.median(_likeness(of, T5)):.2f}"
                for world, of in rows.items()
            )
            order = ", ".join(f"{world} {_counted(of, 'order').min()}" for world, of in rows.items())
            title = f"subtypes of eight with the signs at inputs' columns, {words}, {ONTO[read]}"
            note = f"in order {order}; correlation of T4 and T5 with the connectome {told}"
            counts = {world: _counted(of, "signs") for world, of in rows.items()}
            yield report(f"C22.{kind}_signs{end}", title, counts, worst=np.min, unit="subtypes", note=note)


def _check_sizes(found: Found) -> Iterator[Claim]:
    """Tell where learned rows differ from the connectome: how strong flanks are, how far off, what else there is."""
    fly = [flanks(effective(cell, OFFSETS), OFFSETS, cell) for cell in SUBTYPES]
    for field, words, unit in (
        ("ratio", "strength of the flank against the centre's sign over that of the flank of its sign", ""),
        ("same", "centroid of weights of the centre's sign, along the preferred direction", "columns"),
        ("other", "centroid of weights of the other sign, along the preferred direction", "columns"),
        ("own", "share of all weight that is at the cell's own column, with the centre's sign", ""),
    ):
        for kind, read, how in (
            ("column", "whitened", "whitened"),
            ("column_noisy", "pixels", "in pixels, ridge 1e-2"),
        ):
            values = {w: _mean_of(getattr(of[kind]["nsm"], read), field) for w, of in found.items()}
            each = ", ".join(
                f"{cell} {float(getattr(one, field)):.2f}" for cell, one in zip(SUBTYPES, fly, strict=True)
            )
            null = Null("the connectome", float(np.mean([getattr(one, field) for one in fly])), np.mean, each)
            id, title = (
                f"C22.{field}" + ("" if read == "whitened" else "_noisy"),
                f"{words}, a column's rows, {how}, mean",
            )
            yield from beside(report(id, title, values, worst=np.median, unit=unit), fly=null)
    rows = {world: of["column"]["nsm"].whitened for world, of in found.items()}
    target = np.stack([effective(cell, OFFSETS) for cell in SUBTYPES])
    against = {
        w: (np.abs(target) * (each * target < 0)).sum(axis=(1, 2)) / np.abs(target).sum() for w, each in rows.items()
    }
    title = "share of the connectome's effective synapses in columns where the learned weight has the other sign"
    yield report("C22.against", title, against, worst=np.median, note="a column's rows, whitened; chance 0.5")
    extra = {w: (np.abs(each) * (target == 0)).sum(axis=(1, 2)) / 8 for w, each in rows.items()}
    title = "share of the learned weights in columns where the connectome has no effective synapse"
    note = f"a column's rows, whitened; columns without: {np.mean(target == 0):.2f} of all"
    yield report("C22.extra", title, extra, worst=np.median, note=note)


def _mean_of(rows: np.ndarray, field: str) -> np.ndarray:
    """Return the mean over subtypes of a field of :class:`~flymotion.circuits.wiring.Flanks`, shape (n_seeds,)."""
    return np.mean(_read(rows, lambda row, cell: getattr(flanks(row, OFFSETS, cell), field)), axis=0)
