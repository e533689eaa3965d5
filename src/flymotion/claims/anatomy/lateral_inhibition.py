"""Lateral inhibition among units of four directions: how strong it becomes, and whether it is needed (C23).

Units learn with it, and each alone, from the same start and the same pairs: dendrites that reach to four sides, or
random filters. At rest M is what outputs' statistics say, ``E[theta_a theta_b] / E[theta_a^2]`` (Eqs. 17-18), so it is
held against that of new pairs, and against what outputs without inhibition would make of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from flymotion.circuits import SUBTYPES
from flymotion.circuits.connectome import PARTNERS, synapses
from flymotion.claims.anatomy.columns import ANGLES, MIDDLE, PATCH, Seen, named_by, of_all, of_middle, subtypes
from flymotion.claims.beside import Null, beside
from flymotion.claims.nulls import labelled_means, random_filters
from flymotion.claims.rows import Claim, report
from flymotion.claims.starts.flat_eyes import PLANES
from flymotion.claims.starts.raising import SCATTER, raised, scaled
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.dendrites import oriented_dendrites
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.state import State
from flymotion.world.eyes import Eye

__all__ = ["Outcome", "check", "compete", "compete_in_grid"]

STARTS = {"oriented": "dendrites to four sides", "random": "random filters"}

N_GRID, N_NEW = 5000, 1000
"""Pairs in G, to learn from and new."""


class Outcome(NamedTuple):
    """What became of four units."""

    named: np.ndarray
    """Share of new pairs of whose four ways the right one has the largest projection, without inhibition."""
    ways: np.ndarray
    """How many ways are that in which some unit answers most."""
    opponent: np.ndarray
    """Mean M between opposite directions; of units that learned alone, what M outputs would ask for."""
    orthogonal: np.ndarray
    """The same between directions 90 degrees apart."""
    predicted: np.ndarray
    """Both, as outputs to new pairs say, shape (2,)."""
    driven: np.ndarray
    """Both, as outputs without inhibition would say, shape (2,)."""


class _Lesson(NamedTuple):
    eye: Eye
    chi: OuterProducts
    way: np.ndarray
    new: OuterProducts
    new_way: np.ndarray
    rows: slice
    """Pixels of the change."""


def compete_in_grid(seed: int) -> dict[str, dict[str, Outcome]]:
    """Let units compete in G, as in :func:`compete`."""
    plane = PLANES["grid"]
    pairs, new = plane.pairs(N_GRID, [seed, 25]), plane.pairs(N_NEW, [seed, 26])
    whitening = ZCAWhitening(0.0).fit(pairs)
    chi, unseen = (scaled(outer_products(whitening.transform(shown), "change")) for shown in (pairs, new))
    of_subtypes = np.stack([np.cos(np.radians(ANGLES)), -np.sin(np.radians(ANGLES))])
    way, new_way = (np.argmax(np.asarray(shown.motion) @ of_subtypes, axis=1) for shown in (pairs, new))
    return _compete(_Lesson(plane.eye, chi, way, unseen, new_way, slice(None)), seed)


def compete(seen: Seen, seed: int, *, column: bool) -> dict[str, dict[str, Outcome]]:
    """Let units of a patch, or the cells of a column, learn together and each alone, from every start.

    Returns
    -------
    dict
        By start, and by ``"together"``, ``"alone"`` and ``"start"``; averages by label under ``"labelled"``.
    """
    chi, new = ((of_middle if column else of_all)(frames) for frames in (seen.frames, seen.new))
    rows = slice(MIDDLE, MIDDLE + 1) if column else slice(None)
    return _compete(_Lesson(PATCH, chi, seen.way, new, seen.new_way, rows), seed)


def _compete(lesson: _Lesson, seed: int) -> dict[str, dict[str, Outcome]]:
    rng = np.random.default_rng([seed, 25])
    dendrites = oriented_dendrites(lesson.eye, ANGLES + 180, scatter=SCATTER, random_state=rng)[:, lesson.rows]
    starts = {"oriented": dendrites, "random": random_filters(4, lesson.chi, rng)}
    found: dict[str, dict[str, Outcome]] = {}
    for name, W in starts.items():
        state, lone = raised(lesson.chi, W), [raised(lesson.chi, W[[k]]) for k in range(4)]
        found[name] = {
            "together": _read(lesson, state.W, state),
            "alone": _read(lesson, np.vstack([each.W for each in lone])),
            "start": _read(lesson, W),
        }
    found["labelled"] = {"told": _read(lesson, labelled_means(lesson.chi, lesson.way))}
    return found


def _read(lesson: _Lesson, W: np.ndarray, state: State | None = None) -> Outcome:
    W = W.reshape(4, *lesson.chi.feature_shape)
    order = subtypes(W, lesson.chi, lesson.way)
    drive = lesson.new.project(W[order])
    answers = np.stack([np.maximum(drive, 0)[lesson.new_way == k].mean(axis=0) for k in range(4)])
    driven = _between(_asked(np.maximum(drive, 0)))
    if state is None:
        M, predicted = driven, driven
    else:
        M = _between(state.M[np.ix_(order, order)])
        predicted = _between(_asked(state.respond(lesson.new, nonnegative=True, max_sweeps=100)[0][:, order]))
    ways = np.array(float(len(np.unique(answers.argmax(axis=0)))))
    named = np.array(named_by(W[order], lesson.new, lesson.new_way))
    return Outcome(named, ways, np.array(M[0]), np.array(M[1]), np.array(predicted), np.array(driven))


def _asked(outputs: np.ndarray) -> np.ndarray:
    """Return the M that outputs ask for: E[theta_a theta_b] / E[theta_a^2]."""
    R = outputs.T @ outputs
    return R / np.maximum(np.diag(R), 1e-300)[:, None]


def _between(M: np.ndarray) -> tuple[float, float]:
    """Return the means of M between opposite and between orthogonal directions, of units in the order of T4a-d."""
    opposite = (ANGLES[:, None] - ANGLES) % 360 == 180
    orthogonal = (ANGLES[:, None] - ANGLES) % 180 == 90
    return float(M[opposite].mean()), float(M[orthogonal].mean())


def check(found: Mapping[str, Any]) -> Iterator[Claim]:
    """State C23: all of it reports."""
    for what, words in (("opponent", "opposite directions"), ("orthogonal", "directions 90 degrees apart")):
        k = ["opponent", "orthogonal"].index(what)
        learned = {place: getattr(of["oriented"]["together"], what) for place, of in found.items()}
        row = report(f"C23.{what}", f"learned lateral weight between units of {words}, mean", learned, worst=np.mean)
        yield from beside(
            row,
            start=Null("the start", 0.0, np.mean, "M starts at 0"),
            predicted=Null(
                "what outputs to new pairs say",
                {place: of["oriented"]["together"].predicted[:, k] for place, of in found.items()},
                np.mean,
            ),
            driven=Null(
                "what outputs without inhibition would say",
                {place: of["oriented"]["together"].driven[:, k] for place, of in found.items()},
                np.mean,
            ),
        )
    for start, words in STARTS.items():
        yield from _with_and_without(found, start, words)
    yield from _check_the_fly()


def _with_and_without(found: Mapping[str, Any], start: str, words: str) -> Iterator[Claim]:
    end = "" if start == "oriented" else f"_{start}"
    for what, title in (
        ("named", f"share of new pairs of four directions named by units that learned together, from {words}, mean"),
        ("ways", f"directions, of four, in which some unit answers most, learned together from {words}, mean"),
    ):

        def of(when: str, start: str = start, what: str = what) -> dict[str, np.ndarray]:
            return {place: getattr(each[start][when], what) for place, each in found.items()}

        nulls = {
            "alone": Null("each unit alone, without M", of("alone"), np.mean),
            "start": Null("the start", of("start"), np.mean),
        }
        if start == "oriented":
            nulls["labelled"] = Null("averages by label", of("told", "labelled"), np.mean)
        note = (
            "inhibition in learning alone: the largest projection on a filter of norm 1 names"
            if what == "named"
            else ""
        )
        yield from beside(report(f"C23.{what}{end}", title, of("together"), worst=np.mean, note=note), **nulls)
        if what == "named":
            loss = {place: of("together")[place] - of("alone")[place] for place in found}
            title = f"share of new pairs named that is lost where each unit learns alone, from {words}, mean"
            yield report(f"C23.needed{end}", title, loss, worst=np.mean)


def _check_the_fly() -> Iterator[Claim]:
    """Tell what the connectome has of synapses among T4s and T5s."""
    counts = {"its own subtype": 0.0, "the same direction": 0.0, "other directions": 0.0}
    inhibits = 0.0
    for cell, other in product(SUBTYPES, SUBTYPES):
        whose = (
            "its own subtype" if other == cell else "the same direction" if other[2:] == cell[2:] else list(counts)[2]
        )
        n = float(synapses(cell, other).counts.sum())
        counts[whose] += n
        inhibits += n * (PARTNERS[other].transmitter < 0) * (whose == "other directions")
    total = sum(float(synapses(cell).counts.sum()) for cell in SUBTYPES)
    told = ", ".join(f"{words} {count / total:.3f}" for words, count in counts.items())
    title = "share of the synapses onto T4's and T5's dendrites that come from T4s or T5s of other directions"
    note = f"from T4s and T5s of {told}"
    yield report("C23.fly", title, counts["other directions"] / total, note=note)
    note = "T4 and T5 are cholinergic; inhibition between directions (LPi) is in the lobula plate, beyond this table"
    yield report("C23.fly_inhibits", f"{title}, and inhibit", inhibits / total, note=note)
