r"""What parts the published filters can play (Fig. 4c): Mi1 and Tm3 the change, Mi4 and Mi9 the intensity (C22).

Photographs move past at natural speeds; every cell filters the contrast of its column in time as published (a secondary
copy, :mod:`flymotion.circuits.input_neurons`), all through one eye's optics and without surrounds. Two questions are
asked of it, each beside the null that it calls for:

- what is a cell's signal like: a change, :math:`x(t - \delta) - x(t - \delta - T)`, at the best delay and time scale,
  or the intensity :math:`x(t - \delta)` at the best delay? The parts swapped are the null.
- do such signals in their parts tell directions, with three pixels and with rows of weights? The null has the parts
  swapped, or the same filter everywhere, so that nothing is delayed with respect to anything.

OFF cells' signals are turned in sign first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from flymotion.circuits.input_neurons import INPUTS, PATHWAYS
from flymotion.claims.beside import Null, beside
from flymotion.claims.passing import FINE, photographed_rows
from flymotion.claims.rows import Claim, report
from flymotion.detectors.temporal import Chain, filtered, start

__all__ = ["CELLS", "DT", "PARTS", "PLAYED", "SPACING", "Parts", "check", "mixed", "play", "through"]

CELLS = {"T4": (("Mi1", "Tm3"), ("Mi4", "Mi9")), "T5": (("Tm1", "Tm2", "Tm4"), ("Tm9",))}
"""Cells that have to be the change, and the intensity. CT1 has no published filter."""

SPACING = 5.0
"""Of columns [deg]."""

SPEEDS = (25.0, 50.0, 100.0, 250.0)
"""Of the photographs [deg/s]: whole numbers of a pixel's twentieth a frame."""

DT, SETTLE, LASTS = 0.01, 1.5, 1.0
"""Time between frames, what passes before anything is read, and how long it is read for [s]."""

DELAYS, SCALES = np.arange(0, 21, 2), np.array([1, 2, 5, 10, 20, 40, 80])
"""Delays, and time scales of changes, that are tried [frames]."""

N_ROWS = 24

PARTS = {"": "in their parts", "_swapped": "with the parts swapped", "_same": "all as the change's"}
"""Who is the change, and who the intensity, by the suffix of a row."""

PLAYED = {"": ("change", "intensity"), "_swapped": ("intensity", "change"), "_same": ("change", "change")}
"""Which cells are heard at the centre, and beside it."""


class Parts(NamedTuple):
    """What cells' signals are like, and what they tell."""

    change: np.ndarray
    """Correlation of each cell with a change at the best delay and scale, shape (n_cells, n_speeds)."""
    scale: np.ndarray
    """That scale [s]."""
    slope: np.ndarray
    """Correlation with the change from one frame to the next, at the best delay."""
    intensity: np.ndarray
    """Correlation with the intensity at the best delay."""
    told: dict[str, np.ndarray]
    """Share of movies whose direction three pixels tell, T4's and T5's, by suffix, shape (2, n_speeds)."""


NAMES = tuple(name for both in CELLS.values() for part in both for name in part)


def play(seed: int) -> Parts:
    """Move rows of photographs past three columns, both ways, and measure what cells make of it."""
    rng = np.random.default_rng([seed, 26])
    rows = photographed_rows(N_ROWS, rng)
    contrasts = rows / rows.mean(axis=1, keepdims=True) - 1
    found, told = [], {suffix: np.empty((2, len(SPEEDS))) for suffix in PARTS}
    for k, speed in enumerate(SPEEDS):
        movies = _past_three(contrasts, speed, rng)
        found.append([_like(movies[..., 1], INPUTS[name].chain) for name in NAMES])
        for j, kind in enumerate(CELLS):
            for suffix in PARTS:
                told[suffix][j, k] = _share_told(movies, kind, suffix)
    change, scale, slope, intensity = np.moveaxis(np.array(found), (0, 1, 2), (2, 1, 0))
    return Parts(change, scale, slope, intensity, told)


def _past_three(contrasts: np.ndarray, speed: float, rng: np.random.Generator) -> np.ndarray:
    """Return movies of three columns, right and then left, shape (2, n_rows, n_frames, 3)."""
    stride = round(speed * DT / SPACING * FINE)
    n_frames = round((SETTLE + LASTS) / DT)
    first = rng.integers(0, contrasts.shape[1] - stride * n_frames - 3 * FINE, len(contrasts))
    at = FINE * np.arange(3) + stride * np.arange(n_frames)[::-1, None]
    shown = np.stack([row[place + at] for row, place in zip(contrasts, first, strict=True)])
    return np.stack([shown, shown[..., ::-1]])


def through(chain: Chain, signals: np.ndarray) -> np.ndarray:
    """Filter in time, shape (..., n_frames, n_columns); before the first frame there was that one for ever."""
    for step in chain:
        state, _ = start(step, signals[..., 0, :], DT)
        signals, _ = filtered(step, signals, state, DT)
    return signals


def _like(x: np.ndarray, chain: Chain) -> tuple[float, ...]:
    """Return what a cell's signal is like: the first four fields of ``Parts``."""
    first = round(SETTLE / DT)
    y = through(chain, x[..., None])[..., 0][..., first:]
    most = DELAYS[-1] + SCALES[-1]
    past = np.stack([x[..., first - lag : x.shape[-1] - lag] for lag in range(most + 1)])
    changes = np.array([[_correlation(past[d] - past[d + s], y) for s in SCALES] for d in DELAYS])
    best = np.unravel_index(changes.argmax(), changes.shape)
    return changes[best], SCALES[best[1]] * DT, changes[:, 0].max(), max(_correlation(past[d], y) for d in DELAYS)


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


def mixed(kind: str, part: str, signals: np.ndarray) -> np.ndarray:
    """Return the change or the intensity as the published cells together carry it."""
    shares = getattr(PATHWAYS[kind], part)
    return sum(share * through(INPUTS[name].chain, signals) for name, share in shares.items())


def _share_told(movies: np.ndarray, kind: str, suffix: str) -> float:
    """Return the share of movies whose direction the two subtypes of three columns tell, opponent, over the time read.

    Right less left: the change in the middle times the intensities at its left less those at its right.
    """
    centre, beside = PLAYED[suffix]
    first = round(SETTLE / DT)
    middle = mixed(kind, centre, movies[..., 1:2])[..., first:, 0]
    flanks = mixed(kind, beside, movies[..., ::2])[..., first:, :]
    rightness = (middle * (flanks[..., 0] - flanks[..., 1])).mean(axis=-1)
    return float(np.mean([rightness[0] > 0, rightness[1] < 0]))


def check(found: Parts) -> Iterator[Claim]:
    """State what parts the published filters can play."""
    speeds = ", ".join(f"{speed:g}" for speed in SPEEDS)
    where = f"rows of photographs at {speeds} deg/s, {N_ROWS} rows a seed; published filters in time, a secondary copy"
    for kind, (changes, intensities) in CELLS.items():
        for part, names, other in (("change", changes, "intensity"), ("intensity", intensities, "change")):
            each = [NAMES.index(name) for name in names]
            own, null = (np.asarray(getattr(found, of))[:, each] for of in (part, other))
            cells = "; ".join(
                f"{name} " + ", ".join(f"{value:.2f}" for value in own[:, k].mean(axis=0))
                for k, name in enumerate(names)
            )
            scales = np.asarray(found.scale)[:, each].mean(axis=(0, 2))
            note = f"{where}: {cells}"
            if part == "change":
                slope = np.asarray(found.slope)[:, each].mean(axis=(0, 2))
                note += "; with the slope " + ", ".join(f"{n} {s:.2f}" for n, s in zip(names, slope, strict=True))
                note += "; best time scales " + ", ".join(f"{n} {s:.2f} s" for n, s in zip(names, scales, strict=True))
            title = f"correlation of {' and '.join(names)} with the {part}, mean over cells and speeds"
            row = report(f"C22.filters_{kind.lower()}_{part}", title, own.mean(axis=(1, 2)), worst=np.mean, note=note)
            fast = ", ".join(f"{value:.2f}" for value in null.mean(axis=(0, 1)))
            yield from beside(
                row, swapped=Null(f"with the {other}", null.mean(axis=(1, 2)), np.mean, f"by speed {fast}")
            )
    yield from _check_told(found.told, where)


def _check_told(told: Mapping[str, Any], where: str) -> Iterator[Claim]:
    for j, kind in enumerate(CELLS):
        by = {suffix: np.asarray(shares)[:, j] for suffix, shares in told.items()}
        told_by = "; ".join(
            f"{PARTS[suffix]} " + ", ".join(f"{value:.3f}" for value in of.mean(axis=0)) for suffix, of in by.items()
        )
        title = f"share of movies whose direction three columns of {kind} tell, published filters {PARTS['']}, mean"
        row = report(f"C22.told_{kind.lower()}", title, by[""].mean(axis=1), worst=np.mean, note=f"{where}: {told_by}")
        nulls = {s.strip("_"): Null(PARTS[s], of.mean(axis=1), np.mean) for s, of in by.items() if s}
        yield from beside(row, **nulls)
