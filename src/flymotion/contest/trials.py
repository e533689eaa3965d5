"""One learner in one world: learning from more and more pairs, each time from scratch, and measured each time."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from flymotion.contest.arenas import Course, course
from flymotion.contest.learners import Entry, entry, n_outputs
from flymotion.contest.scoring import Naming, ReadOut, captured, correlation, matched, odd_parts, recalled
from flymotion.frames import FramePairs
from flymotion.similarity.features import outer_products

__all__ = ["MEASURES", "TIMES", "trial"]

MEASURES = (
    "match_least",
    "match_median",
    "span_least",
    "found",
    "accuracy",
    "velocity",
    "accuracy_other",
    "state_bytes",
)
"""What is measured of a learner; None where it has no such thing."""

TIMES = ("learn_us", "answer_us")
"""Time a pair [microseconds]: to learn, all passes; and to answer."""

MOST_TOLD = 10_000
"""Pairs whose labels name the outputs."""


def trial(
    world: str, learner: str, sizes: Sequence[int], n_pairs: int, n_new: int, snr: float | None, seed: int
) -> list[dict[str, Any]]:
    """Let a learner learn from the first pairs of a world, of each number, and measure it.

    Parameters
    ----------
    world, learner : str
        By their names.
    sizes : sequence of int
        Numbers of pairs to learn from.
    n_pairs, n_new : int
        Pairs that are drawn to learn from, and new ones.
    snr : float or None
        Noise of sensors [dB].
    seed : int
        Of world and learner.

    Returns
    -------
    list of dict
        For each size what ``MEASURES`` and ``TIMES`` name; ``failed`` says why there is none, in words.
    """
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given, of = course(world, n_pairs, n_new, snr, seed), entry(learner)
        about = {"world": world, "learner": learner, "snr": snr, "seed": seed}
        return [about | {"n_pairs": size} | _tried(given, of, size, seed) for size in sizes]


def _tried(given: Course, of: Entry, size: int, seed: int) -> dict[str, Any]:
    try:
        return _measured(given, of, size, seed)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:  # not to learn is a result, too
        return dict.fromkeys((*MEASURES, *TIMES)) | {"failed": f"{type(error).__name__}: {error}"}


def _measured(given: Course, of: Entry, size: int, seed: int) -> dict[str, Any]:
    shown, ways = given.pairs[:size], given.motion.ways
    learner = of.make(n_outputs(of, given.motion), seed)
    told = () if of.told is None else (of.told(given._replace(pairs=shown)),)
    samples = _seen(shown, of)
    begun = time.perf_counter()
    learner.fit(samples, *told)
    learned = time.perf_counter()
    outputs, new = (_outputs(learner, pairs, of) for pairs in (given.pairs[:MOST_TOLD], given.new))
    known = given.pairs[:MOST_TOLD]
    naming = Naming.of(outputs, given.way(known), len(ways), signed=of.signed, baseline=of.baseline)
    readout, way, names = ReadOut.of(outputs, np.asarray(known.motion)), given.way(given.new), naming(new)
    other = None if given.other is None else naming(_outputs(learner, given.other, of)) == given.way(given.other)
    return {
        **_match(learner, given, of),
        "found": recalled(names, way, len(ways)),
        "accuracy": float(np.mean(names == way)),
        "velocity": correlation(readout(new), np.asarray(given.new.motion)),
        "accuracy_other": None if other is None else float(np.mean(other)),
        "state_bytes": len(pickle.dumps(learner, protocol=5)),
        "learn_us": (learned - begun) / min(size, getattr(learner, "most", size)) * 1e6,
        "answer_us": _time_to_answer(learner, given.new, of),
    }


def _seen(pairs: FramePairs, of: Entry) -> Any:
    return pairs if of.feature is None else outer_products(pairs, of.feature)


def _outputs(learner: Any, pairs: FramePairs, of: Entry) -> np.ndarray:
    outputs = np.asarray(learner.transform(_seen(pairs, of)), dtype=float).reshape(len(pairs), -1)
    if not np.isfinite(outputs).all():
        raise FloatingPointError(f"{type(learner).__name__} gives outputs that are not finite")
    return outputs


def _time_to_answer(learner: Any, pairs: FramePairs, of: Entry) -> float:
    samples = _seen(pairs, of)
    begun = time.perf_counter()
    learner.transform(samples)
    return (time.perf_counter() - begun) / len(pairs) * 1e6


def _match(learner: Any, given: Course, of: Entry) -> dict[str, float | None]:
    filters = getattr(learner, "generators_", None)
    if filters is None or not np.isfinite(filters).all():
        return dict.fromkeys(MEASURES[:3])
    known = given.analytic
    if of.onto_next:
        filters, known = odd_parts(filters), odd_parts(known)
    cosines, shares = matched(filters, known), captured(filters, known)
    return dict(zip(MEASURES, map(float, (cosines.min(), np.median(cosines), shares.min())), strict=False))
