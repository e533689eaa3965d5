"""What came of every start, in rows (C37); none has a bound, as nothing but the figures was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from flymotion.circuits import SUBTYPES
from flymotion.claims.rows import Claim, report
from flymotion.claims.running import Found
from flymotion.claims.starts.flat_eyes import CROWD, PLANES
from flymotion.claims.starts.flat_eyes import N_PAIRS as N_PLANE
from flymotion.claims.starts.fly_inputs import centroid, order, sided
from flymotion.claims.starts.lines import FACTORS, N_PAIRS, RATIOS, SIDED, N
from flymotion.claims.starts.raising import LIKE, SCATTER, counted
from flymotion.claims.worlds import WORLDS

__all__ = ["ALONE", "CROWDED", "check"]

ALONE = {
    "loose": "oriented dendrites, random weights of their own norm",
    "looser": "oriented dendrites, random weights of twice their norm",
    "signed": "dendrites that weigh one side positively and the other negatively, as T4's inputs do",
    "sides": "dendrites that reach to a side at random each",
    "round": "dendrites without a side",
    "misplaced": "one synapse at a random place each, instead of a dendrite",
    "negative": "oriented dendrites whose weights are negative",
    "held_250": "oriented dendrites that are held less (R = 10 I)",
    "held_25000": "oriented dendrites that are held more (R = 1000 I)",
    "inhibited": "random filters, inhibition strong first (M starts at 0.9)",
    "waves": "random filters, smooth waves first",
    "bouts": "random filters, smooth waves first, one direction at a time",
}
"""Starts of two units, beside the oriented and the random."""

CROWDED = {
    "four_random": "four units with random filters, pruned to two",
    "eight_random": "eight units with random filters, pruned to two",
    "four_sides": "four dendrites that reach to a side at random each, pruned to two",
    "eight_sides": "eight dendrites that reach to a side at random each, pruned to two",
}
"""Starts of more units; which goes is told by inhibition."""

Values = Mapping[str, Any]
"""What was measured in each world, seeds first."""


def check(found: Found) -> Iterator[Claim]:
    """State all rows."""
    main, few, best = ({name: found[name][part] for name in WORLDS} for part in ("main", "few", "best"))
    planes = {name: found[name] for name in PLANES}
    yield from _check_seeds(main)
    yield from _check_knowledge(main, best)
    yield from _check_variants(few)
    yield from _check_noise(few, best)
    for name in PLANES:
        yield from _check_plane(name, found[name])
    yield _check_literal(main | planes)
    yield from _check_cells(main | planes)
    yield from _check_wiring(planes["hexagon"])


def _check_seeds(main: Found) -> Iterator[Claim]:
    """How many seeds succeed from each start of units that look at a line."""
    title = "share of seeds that find both directions, the worse world, from"
    told = f"two dendrites that reach to opposite sides, random weights of {SCATTER} of their norm"
    note = (
        f"a unit each whose cosine with the population's filter is above {LIKE}; {N} pixels, {N_PAIRS} pairs, one pass "
        "of the printed rule, no warm-up; R starts at 100 I for samples of unit mean square; Wilson intervals of 95 %; "
        f"the start alone finds none, but names the direction of {_means(_of(main, 'oriented', 0, 'accuracy'))} pairs"
    )
    yield _share("C37.seeds", f"{title} {told}", _found(main, "oriented"), note)
    yield _share("C37.seeds_random", f"{title} random filters", _found(main, "random"))
    yield _share("C37.seeds_start", f"{title} that start, before learning", _found(main, "oriented", 0))
    for key, words in ALONE.items():
        yield _share(f"C37.{key}", f"{title} {words}", _found(main, key), _by_side(main, key) if key in SIDED else "")
    for key, words in CROWDED.items():
        note = "who is inhibited most goes, one by one between a quarter and three quarters of the pairs"
        note = f"{_by_side(main, key)}; {note}" if key in SIDED else note
        yield _share(f"C37.{key}", f"{title} {words}", _found(main, key), note)


def _by_side(main: Found, key: str) -> str:
    """Tell apart where all dendrites reach to one side, and where not."""
    parts = []
    for words, alike in (("to both sides", False), ("all to one side", True)):
        part = {name: of[key].learned.found[of["alike"][key] == alike] for name, of in main.items()}
        parts.append(f"{words} {_counts(part)}")
    return "; ".join(parts)


def _check_knowledge(main: Found, best: Found) -> Iterator[Claim]:
    """Tell what the oriented start knows already, and what learning adds."""
    title, old = "mean cosine with the population's filter, the worse world, of", "oriented dendrites"
    yield _mean("C37.cos", f"{title} what {old} become", _of(main, "oriented", 1, "cosines"))
    yield _mean("C37.cos_random", f"{title} what random filters become", _of(main, "random", 1, "cosines"))
    yield _mean("C37.cos_start", f"{title} {old} before learning", _of(main, "oriented", 0, "cosines"))
    yield _mean("C37.cos_signed_start", f"{title} the start of both signs alone", _of(main, "signed", 0, "cosines"))
    kept = {
        name: np.sum(of["oriented"].start.filters * of["oriented"].learned.filters, (2, 3)) for name, of in main.items()
    }
    title = "mean cosine of learned filters with the oriented dendrites that they were, the worse world"
    yield _mean("C37.kept", title, kept, "1 where learning moves nothing")
    title = "mean share of new pairs whose direction is named, the worse world, by"
    note = "which unit is which is told to all, random filters too, which lifts them above 0.5"
    yield _mean("C37.accuracy", f"{title} what {old} become", _of(main, "oriented", 1, "accuracy"), note)
    yield _mean("C37.accuracy_random", f"{title} what random filters become", _of(main, "random", 1, "accuracy"))
    yield _mean("C37.accuracy_random_start", f"{title} random filters", _of(main, "random", 0, "accuracy"))
    yield _mean("C37.accuracy_start", f"{title} {old} before learning", _of(main, "oriented", 0, "accuracy"))
    for key, words in (("labelled", "labelled means"), ("population", "the population's filter")):
        shares = {name: of[key].accuracy for name, of in main.items()}
        yield _mean(f"C37.accuracy_{key}", f"{title} {words}", shares)
    yield _mean("C37.accuracy_bayes", f"{title} Bayes", {name: [of["none"]] for name, of in best.items()})


def _check_variants(few: Found) -> Iterator[Claim]:
    """State what another rule of pruning and shifts of another size do; in fewer seeds."""
    title = "share of seeds that find both directions, the worse world, from eight dendrites to sides at random"
    yield _share("C37.idle", f"{title}, pruned to two by who has answered least", _found(few, "idle"))
    for factor in FACTORS:
        title = f"share of seeds that find both directions, shifts {factor} times the world's, from oriented dendrites"
        shown = {name: of[f"shift_{factor}"] for name, of in few.items()}
        rates = {part: _of(shown, "oriented", k, "accuracy") for k, part in enumerate(("start", "learned"))}
        note = ", ".join(f"{part} names {_means(rate)}" for part, rate in rates.items())
        yield _share(f"C37.shift_{factor}", title, _found(shown, "oriented"), note)
        title = title.replace("oriented dendrites", "random filters")
        yield _share(f"C37.shift_{factor}_random", title, _found(shown, "random"))


def _check_noise(few: Found, best: Found) -> Iterator[Claim]:
    """Whether noise of the sensors leaves what the start knows."""
    for ratio in RATIOS:
        heard = {name: of[f"noise_{ratio}"] for name, of in few.items()}
        title = f"mean share of new pairs whose direction is named at {ratio} dB, the worse world, by"
        told = _counts(_found(heard, "oriented"))
        note = f"5,000 new pairs, the same for all seeds: 0.5 within 0.014 is chance; seeds that find both: {told}"
        id = f"C37.noise_{ratio}"
        yield _mean(id, f"{title} what oriented dendrites become", _of(heard, "oriented", 1, "accuracy"), note)
        yield _mean(f"{id}_random", f"{title} what random filters become", _of(heard, "random", 1, "accuracy"))
        yield _mean(f"{id}_start", f"{title} oriented dendrites before learning", _of(heard, "oriented", 0, "accuracy"))
        shares = {name: of["population"].accuracy for name, of in heard.items()}
        labelled = {name: of["labelled"].accuracy for name, of in heard.items()}
        yield _mean(f"{id}_labelled", f"{title} means of as noisy pairs by their labels", labelled)
        yield _mean(f"{id}_population", f"{title} the population's filter of the world without noise", shares)
        yield _mean(f"{id}_bayes", f"{title} Bayes", {name: [of[str(ratio)]] for name, of in best.items()})


def _check_plane(name: str, found: Found) -> Iterator[Claim]:
    plane = PLANES[name]
    k, eye = len(plane.angles), f"{type(plane.eye).__name__} of {plane.eye.positions.shape[0]} pixels"
    by, id = {name: found}, f"C37.{name}"
    title = f"share of seeds that find all {k} directions, {eye}, from"
    others = "; ".join(
        f"{words} {_counts(_found(by, key))}"
        for key, words in (("loose", "random weights as large"), ("sides", "sides at random"))
    )
    note = f"G, paper's feature, {N_PLANE} pairs, one pass; R starts as after 2,500 answered pairs; {others}"
    yield _share(id, f"{title} dendrites that reach to {k} sides", _found(by, "oriented"), note)
    yield _share(f"{id}_random", f"{title} random filters", _found(by, "random"))
    yield _share(f"{id}_start", f"{title} those dendrites before learning", _found(by, "oriented", 0))
    yield _share(f"{id}_crowd", f"{title} {CROWD * k} dendrites to sides at random, pruned to {k}", _found(by, "crowd"))
    title = f"mean share of new pairs whose direction is named, of {k}, {eye}, by"
    yield _mean(f"{id}_accuracy", f"{title} what dendrites become", _of(by, "oriented", 1, "accuracy"))
    yield _mean(f"{id}_accuracy_random", f"{title} what random filters become", _of(by, "random", 1, "accuracy"))
    yield _mean(f"{id}_accuracy_start", f"{title} dendrites before learning", _of(by, "oriented", 0, "accuracy"))
    yield _mean(f"{id}_accuracy_crowd", f"{title} what is left of the crowd", _of(by, "crowd", 1, "accuracy"))
    for key, words in (("labelled", "labelled means"), ("population", "the population's filters")):
        yield _mean(f"{id}_accuracy_{key}", f"{title} {words}", {name: found[key].accuracy})


def _check_literal(found: Found) -> Claim:
    off = {
        name: np.abs(of["literal"].learned.filters - of["oriented"].learned.filters).max(axis=(1, 2, 3))
        for name, of in found.items()
    }
    title = "largest difference between weights learned from oriented dendrites by the literal network and the fast one"
    note = "filters of norm 1; every seed; rate units, synapses of their own, one pair at a time"
    return report("C37.literal", title, off, worst=np.max, note=note)


def _check_cells(found: Found) -> Iterator[Claim]:
    """Whether the sides are those of T4's and T5's inputs."""
    away = {
        name: of["oriented"].learned.units == np.arange(of["oriented"].learned.units.shape[1])
        for name, of in found.items()
    }
    title = "share of seeds whose units learn to prefer motion away from where their dendrites reach, the least world"
    toward = {
        name: np.all(of["negative"].learned.units == [1, 0], axis=1) for name, of in found.items() if name in WORLDS
    }
    note = f"all units of a seed; negative weights reverse it: toward {_counts(toward)}"
    yield _share("C37.away", title, {name: np.all(units, axis=1) for name, units in away.items()}, note)
    for kind, tips in (("T4", "Mi9"), ("T5", "Tm9")):
        cells = [cell for cell in SUBTYPES if cell.startswith(kind)]
        title = f"subtypes of {kind}, of four, whose inputs beside the centre have the signs and sides of such a start"
        places = ", ".join(f"{cell} {tips} {centroid(cell, tips):.2f}" for cell in cells)
        note = (
            f"in columns along the preferred direction: {places}; from tips over the centre to the other side in "
            f"{sum(map(order, cells))} of 4, one pattern of p = 1/6"
        )
        yield report(f"C37.{kind.lower()}", title, float(sum(map(sided, cells))), unit="subtypes", note=note)
    title = (
        "largest distance of the centroid of all inputs of a T4 or T5 from its column, along the preferred direction"
    )
    note = "synapses alone, without their signs, reach to no side: " + ", ".join(
        f"{cell} {centroid(cell):.2f}" for cell in SUBTYPES
    )
    yield report("C37.reach", title, max(abs(centroid(cell)) for cell in SUBTYPES), unit="columns", note=note)


def _check_wiring(found: Found) -> Iterator[Claim]:
    """Tell what T4's own inputs lead to as a start: synapses of Mi9, Mi4, C3 and CT1 onto the four subtypes."""
    by, title = {"hexagon": found}, "share of seeds that find all four directions, Hexagon of 19 pixels, from"
    own = found["t4"].learned.units == np.arange(4)
    note = f"each subtype learns the direction that it prefers in the fly: {counted(own.all(axis=1))}"
    yield _share("C37.wired", f"{title} T4's own inputs, random weights of {SCATTER}", _found(by, "t4"), note)
    yield _share("C37.wired_shuffled", f"{title} T4's own inputs at shuffled places", _found(by, "t4_shuffled"))
    yield _share("C37.wired_start", f"{title} T4's own inputs before learning", _found(by, "t4", 0))
    title = "mean share of new pairs whose direction is named, of 4, Hexagon of 19 pixels, by"
    yield _mean("C37.wired_accuracy", f"{title} what T4's own inputs become", _of(by, "t4", 1, "accuracy"))
    yield _mean("C37.wired_accuracy_start", f"{title} T4's own inputs before learning", _of(by, "t4", 0, "accuracy"))
    title = f"{title} what inputs at shuffled places become"
    yield _mean("C37.wired_accuracy_shuffled", title, _of(by, "t4_shuffled", 1, "accuracy"))


# -- rows of shares and means ----------------------------------------------------------------------------------------


def _of(found: Found, key: str, learned: int, name: str) -> Values:
    """Return a measure of a start (0), or of what came of it (1), in each world."""
    return {world: getattr(of[key][learned], name) for world, of in found.items()}


def _found(found: Found, key: str, learned: int = 1) -> Values:
    return _of(found, key, learned, "found")


def _share(id: str, title: str, successes: Values, note: str = "") -> Claim:
    least, n = min(np.mean(each) for each in successes.values()), max(map(len, successes.values()))
    return report(id, title, least, seeds=n, note="; ".join(filter(None, (_counts(successes), note))))


def _mean(id: str, title: str, values: Values, note: str = "") -> Claim:
    least, n = min(np.mean(each) for each in values.values()), max(map(len, values.values()))
    return report(id, title, least, seeds=n, note="; ".join(filter(None, (_means(values), note))))


def _counts(successes: Values) -> str:
    return ", ".join(f"{world} {counted(each)}" for world, each in successes.items())


def _means(values: Values) -> str:
    return ", ".join(f"{world} {np.mean(each):.4f} (least {np.min(each):.4f})" for world, each in values.items())
