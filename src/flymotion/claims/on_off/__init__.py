"""ON and OFF: whether cells that learn from either half of the contrast of natural scenes differ, and how (C24).

``contrasts``: photographs, of reversed contrast, and scrambled, as an eye sees them move. ``lone_cells``: cells that
learn alone. ``telling_apart``: whether their synapses differ, block by block. Two photographs are few: strips of them
stand for places, and what is found of them is found of these two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.on_off.channel_figures import effects, filters
from flymotion.claims.on_off.contrasts import N_STRIPS, PATCHES, SCENES, blocks_seen
from flymotion.claims.on_off.lone_cells import Cells, learn_cells, learn_on_both
from flymotion.claims.on_off.telling_apart import MEASURES, apart, likeness, measures, permuted, sides
from flymotion.claims.rows import Claim, report
from flymotion.claims.running import Found, Work, each_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {"C24": "ON and OFF statistics give somewhat different filters"}


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Places in every block, whose filters are averaged.
    n_pairs : int
        Pairs of a block to learn from.
    """

    n_seeds: int = 5
    n_pairs: int = 1500


QUICK = {"n_seeds": 1}

CELLS = {"t4": "T4", "t5": "T5"}
"""Cells of the change of ON and of OFF, by the suffix of their rows."""


def work(config: Config) -> Work:
    """Let cells learn of every scene."""
    return {name: each_seed(_learn, config.n_seeds, config, name) for name in SCENES}


def _learn(config: Config, name: str, seed: int) -> dict[str, Any]:
    blocks = blocks_seen(name, PATCHES, config.n_pairs, seed)
    found: dict[str, Any] = {key: learn_cells(blocks[key], patch, "change", seed) for key, patch in PATCHES.items()}
    if name == "photographs":
        found["midpoint"] = learn_cells(blocks["line"], PATCHES["line"], "midpoint", seed)
    if name in ("photographs", "scrambled"):
        found["both"] = learn_on_both(blocks["hexagon"], PATCHES["hexagon"], "change", seed)
    return found


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C24."""
    n = config.n_seeds
    yield from _check_difference(found, n)
    for key in PATCHES:
        yield from _check_measures(found, key, n)
    yield from _check_reversal(found, n)
    yield from _check_both(found, n)


def _difference(found: Found, name: str, key: str, field: str = "learned") -> np.ndarray:
    """Return ON less OFF of each block, means over seeds, shape (n_blocks, n_cells, n)."""
    filters = getattr(found[name][key], field).mean(axis=0)
    return filters[:, 0] - filters[:, 1]


def _check_difference(found: Found, n: int) -> Iterator[Claim]:
    """State how alike filters of ON and OFF are, and whether labels matter."""
    few = "p of photographs as units cannot be below 0.5; blocks of two photographs tell nothing of a third; "
    few += "rate, passes, ridge and the start's strength were set in trials on these photographs with p in view"
    for key, patch in PATCHES.items():
        suffix = "" if key == "hexagon" else f"_{key}"
        cells: Cells = found["photographs"][key]
        what = f"{len(patch.angles)} cells of a {key} that learn from the photographs' contrast"
        title = f"cosine of synapses learned of ON with those learned of OFF, {what}, mean"
        values = {name: _alike(found[name][key].learned) for name in SCENES}
        others = {name: _alike_elsewhere(found[name][key].learned) for name in SCENES}
        nulls = {
            "elsewhere": Null("of ON with ON, and OFF with OFF, of other blocks", others["photographs"], np.squeeze),
            "scrambled": Null(SCENES["scrambled"], values["scrambled"], np.squeeze),
            "weber": Null(SCENES["weber"], values["weber"], np.squeeze),
            "labelled": Null("averages by label", _alike(cells.labelled), np.squeeze),
            "raw": Null("on contrast that is not whitened", _alike(cells.raw), np.squeeze),
            "start": Null("the start alone, the same for both", _alike(cells.start), np.squeeze),
        }
        nulls = {suffix: null._replace(seeds=n) for suffix, null in nulls.items()}
        yield from beside(report(f"C24.alike{suffix}", title, values["photographs"], seeds=n, note=few), **nulls)
        p, size = permuted(_difference(found, "photographs", key))
        title = f"share of exchanges of ON and OFF in blocks that leave a difference as large, {what}"
        note = (
            f"{2 * N_STRIPS} blocks, {2 ** (2 * N_STRIPS - 1)} exchanges; square {size:.3g} of the null's mean; {few}"
        )
        told = {"weber": "weber", "scrambled": "scrambled"}
        nulls = {k: Null(SCENES[k], permuted(_difference(found, name, key))[0], np.squeeze) for k, name in told.items()}
        nulls["labelled"] = Null(
            "averages by label", permuted(_difference(found, "photographs", key, "labelled"))[0], np.squeeze
        )
        nulls = {suffix: null._replace(seeds=n) for suffix, null in nulls.items()}
        yield from beside(report(f"C24.p{suffix}", title, p, seeds=n, note=note), **nulls)
    p, size = permuted(_difference(found, "photographs", "midpoint"))
    title = "share of exchanges of ON and OFF in blocks that leave a difference as large, 2 cells of a line, midpoint"
    yield report("C24.p_midpoint", title, p, seeds=n, note=f"square {size:.3g} of the null's mean")


def _alike(filters: np.ndarray) -> float:
    """Return the cosine of ON with OFF, of filters of shape (n_seeds, n_blocks, 2, n_cells, n)."""
    mean = filters.mean(axis=0)
    return likeness(mean[:, 0], mean[:, 1])


def _alike_elsewhere(filters: np.ndarray) -> float:
    mean = filters.mean(axis=0)
    return float(np.mean([likeness(mean, np.roll(mean, k, axis=0)) for k in range(1, len(mean))]))


def _check_measures(found: Found, key: str, n: int) -> Iterator[Claim]:
    """State what differs, with an interval over blocks; reversed, where it has to flip; of Weber contrast, too."""
    by = {name: _measured(found[name][key], key) for name in SCENES}
    for name, words in MEASURES.items():
        own, weber = (apart(by[scene][name]) for scene in ("photographs", "weber"))
        others = {scene: apart(by[scene][name]) for scene in ("reversed", "scrambled")}
        unit = "pixels" if name == "width" else ""
        title = f"ON less OFF: {words}, {key}"
        row = report(f"C24.{name}_{key}", title, own.mean, seeds=n, unit=unit, note=own.told)
        nulls = {scene: Null(SCENES[scene], each.mean, np.squeeze, each.told, n) for scene, each in others.items()}
        nulls["reversed"] = nulls["reversed"]._replace(name=f"{SCENES['reversed']}, where what is real flips")
        both = apart((by["photographs"][name] - by["reversed"][name]) / 2)
        nulls["both"] = Null("half of both, reversed contrast turned", both.mean, np.squeeze, both.told, n)
        yield from beside(row, **nulls)
        title = f"{title}, {SCENES['weber']}"
        yield report(f"C24.{name}_{key}_weber", title, weber.mean, seeds=n, unit=unit, note=weber.told)


def _measured(cells: Cells, key: str) -> Mapping[str, np.ndarray]:
    """Return ON less OFF of each measure in each block, means over seeds, shape (n_blocks,)."""
    each = measures(cells.learned, PATCHES[key])
    return {name: (values[:, :, 0] - values[:, :, 1]).mean(axis=0) for name, values in each.items()}


def _check_reversal(found: Found, n: int) -> Iterator[Claim]:
    """State whether the difference flips with contrast, and whether two photographs agree on it."""
    for key in PATCHES:
        suffix = "" if key == "hexagon" else f"_{key}"
        own, other, null = (_difference(found, s, key).ravel() for s in ("photographs", "reversed", "scrambled"))
        title = f"cosine of ON less OFF with that of reversed contrast, blocks by themselves, {key}: -1 if it flips"
        row = report(f"C24.reversed{suffix}", title, likeness(own, other), seeds=n)
        yield from beside(
            row, scrambled=Null("with that of scrambled scenes", likeness(own, null), np.squeeze, seeds=n)
        )
        first, second = np.split(_difference(found, "photographs", key), 2)
        title = f"cosine of ON less OFF of china.jpg with that of flower.jpg, {key}"
        value = likeness(first.mean(axis=0).ravel(), second.mean(axis=0).ravel())
        yield report(f"C24.photographs{suffix}", title, value, seeds=n, note="0 if what they share is nothing")


def _check_both(found: Found, n: int) -> Iterator[Claim]:
    """State which channel's intensities cells of each channel's change weigh, beside what T4 and T5 have."""
    behind, ahead = sides(PATCHES["hexagon"])
    fly = {
        ("t4", "behind"): "the fly: 0, Mi9 is OFF",
        ("t4", "ahead"): "the fly: 1, Mi4, C3 and CT1 are ON",
        ("t5", "behind"): "the fly: 1, Tm9 is OFF",
        ("t5", "ahead"): "the fly: 1, CT1 is OFF",
    }
    for (cell, where), note in fly.items():
        c, side = list(CELLS).index(cell), behind if where == "behind" else ahead

        def share(name: str, c: int = c, side: np.ndarray = side) -> np.ndarray:
            weights = np.abs(found[name]["both"][:, :, c] * side[:, None]).sum(axis=-1).mean(axis=0)
            return (weights[..., c] / weights.sum(axis=-1)).mean(axis=-1)

        values = share("photographs")
        low, high = apart(values).low, apart(values).high
        words = "that content comes from" if where == "behind" else "that content goes to"
        title = (
            f"share of its own channel in the weights of a cell of {'ON' if c == 0 else 'OFF'} change ({CELLS[cell]}) "
            f"onto the neighbours {words}"
        )
        row = report(f"C24.own_{where}_{cell}", title, values.mean(), seeds=n, note=f"[{low:.3g}, {high:.3g}]; {note}")
        yield from beside(row, scrambled=Null(SCENES["scrambled"], share("scrambled").mean(), np.squeeze, seeds=n))


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the filters of ON and OFF, and what differs, beside the nulls."""
    return {
        "on-off-filters": filters(found),
        "on-off": effects({name: {key: _measured(found[name][key], key) for key in PATCHES} for name in SCENES}),
    }
