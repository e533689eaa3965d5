"""Error against time: whether a setting of ours is as fast and as accurate as each preset of OpenCV's flows.

Of every case of the accuracy table, and every setting and preset: the mean end-point error, and the time of a pair of
frames of 960 x 720 pixels, as of its own size, in the same run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from truth_cases import cases
from truth_methods import LABELS, PRESETS, SPEEDS, Row, against, all_errors, peers, row, times
from truth_pairs import Pair

FRAME = (720, 960)
"""Size that times are compared at [pixels]; frames are repeated side by side until they fill it."""

REPEATS = 4


class Figure(NamedTuple):
    error: float
    """Mean end-point error [px]."""

    ms: float
    """Time of 960 x 720 pixels [ms]."""

    ms_own: float
    """Time of the case's own frames [ms]."""


TIMES = {"ms": "960 x 720", "ms_own": "own size"}
"""What times are of."""

Figures = dict[str, Figure]
"""Of each setting and preset."""


def as_fast(found: Figures, preset: str, time: str, ours: Sequence[str] = SPEEDS) -> str | None:
    """Return the most accurate of our settings that take no longer than a preset by ``time``, of "ms" and "ms_own"."""
    fast = [name for name in ours if getattr(found[name], time) <= getattr(found[preset], time)]
    return min(fast, key=lambda name: found[name].error, default=None)


def beaten(found: Figures, preset: str, time: str = "ms", ours: Sequence[str] = SPEEDS) -> bool:
    """Return whether a setting of ours is at least as fast and at least as accurate as a preset."""
    best = as_fast(found, preset, time, ours)
    return best is not None and found[best].error <= found[preset].error


# -- measuring ---------------------------------------------------------------------------------------------------------


def timed(pair: Pair) -> dict[str, tuple[float, float]]:
    """Return what each method takes [ms], at 960 x 720 pixels and at the pair's own size."""
    large = times(filling(pair.before), filling(pair.after), REPEATS)
    own = times(pair.before, pair.after, 2 * REPEATS)
    return {name: (large[name], own[name]) for name in large}


def filling(frame: np.ndarray) -> np.ndarray:
    repeats = [-(-most // n) for most, n in zip(FRAME, frame.shape, strict=True)]
    return np.ascontiguousarray(np.tile(frame, repeats)[: FRAME[0], : FRAME[1]])


def measured(pairs: Sequence[Pair], taken: dict[str, tuple[float, float]]) -> Figures:
    return {name: Figure(float(e.endpoint.mean()), *taken[name]) for name, e in all_errors(pairs).items()}


def pareto() -> Iterator[Row]:
    all_found: list[Figures] = []
    taken: dict[str, dict[str, tuple[float, float]]] = {}
    for name, case in cases().items():
        pairs = case.make()
        if not pairs:
            yield row(f"pareto.{name}", None, None, "px", "skipped: its files are not here")
            continue
        if case.whole is None:
            taken[name] = timed(pairs[0])
        all_found.append(measured(pairs, taken[case.whole or name]))
        yield from rows(name, f"{case.kind}: {case.label}", all_found[-1])
    for preset in peers():
        for time, size in TIMES.items():
            count = sum(beaten(found, preset, time) for found in all_found)
            note = f"cases where a setting of ours is as fast and as accurate as {LABELS[preset]}, {size}; of all cases"
            yield row(f"pareto.beaten.{preset}.{time}", count, len(all_found), "cases", note, higher=True)


def rows(name: str, what: str, found: Figures) -> Iterator[Row]:
    """Yield what each method does, and of each preset the best of our settings that is as fast; with both times."""
    for method, figure in found.items():
        best = as_fast(found, method, "ms") if method in PRESETS else method
        mine, peer = found[best].error if best else None, figure.error if method in PRESETS else None
        note = f"{what}; {LABELS[method]}, {figure.ms:.2f} ms at 960 x 720, {figure.ms_own:.2f} ms at its own size"
        if method in PRESETS:
            note += f"; ours: the most accurate that is as fast, {best}; dominated: "
            note += ", ".join(
                f"{'yes' if beaten(found, method, time) else 'no'} at {size}" for time, size in TIMES.items()
            )
            note += f"; {against()}"
        yield row(f"pareto.{name}.{method}", mine, peer, "px", note) | {"ms": figure.ms, "ms_own": figure.ms_own}


def gathered(rows: Sequence[dict[str, Any]]) -> dict[str, Figures]:
    """Return the figures of each case from rows that were written."""
    found: dict[str, Figures] = {}
    for each in rows:
        if each["name"].startswith("pareto.") and "ms" in each:
            name, _, method = each["name"].removeprefix("pareto.").rpartition(".")
            error = each["peer" if method in PRESETS else "ours"]
            found.setdefault(name, {})[method] = Figure(error, each["ms"], each["ms_own"])
    return found
