r"""Rows of weights at work: what a T4 with learned synapses, or with the connectome's, tells and prefers (C22).

A cell is the change at its column times intensities weighed by its row; cells of the published filters in their parts,
Mi9 (T5: Tm9) and Mi4 each where the row has their sign.

Photographs move in four directions in front of 19 columns; of the two cells along the motion's axis, that which prefers
it has to answer more. Gratings drift along what a cell prefers: of a wave number k, with transfer functions C of the
change and I_j of intensities, the mean response to it less that to the opposite direction is

.. math:: -\mathrm{Im}(C I_j^*)\, w_j \sin(k p_j), \text{ summed over columns } j \text{ at } p_j,

so that what a row prefers can turn round with the wavelength.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from flymotion.circuits import SUBTYPES
from flymotion.circuits.connectome import CENTRE, along, effective
from flymotion.circuits.input_neurons import INPUTS, PATHWAYS
from flymotion.claims.anatomy.columns import ANGLES, MIDDLE, OFFSETS, PATCH, Learned, photographs
from flymotion.claims.anatomy.input_parts import DT, PARTS, PLAYED, SPACING, mixed, through
from flymotion.claims.beside import Null, beside
from flymotion.claims.rows import Claim, report
from flymotion.detectors.temporal import LowPass, transfer
from flymotion.world.conventions import unit_vector
from flymotion.world.rendering import render

__all__ = ["WAVELENGTHS", "AtWork", "check", "put_to_work"]

SPEED = 50.0
"""Of photographs in the plane [deg/s]."""

N_MOVIES = 6
"""Places of each photograph, each moved in all directions."""

SETTLE, LASTS = 1.0, 0.6
"""What passes before anything is read, and how long it is read for [s]."""

WAVELENGTHS = np.arange(15.0, 201.0, 5.0)
"""Of gratings [deg]."""

FREQUENCY = 1.0
"""Of gratings [Hz]."""

DELAYED = (LowPass(0.15),)
"""What one frame is to learned weights elsewhere: the change is a signal less that, and the intensity is that."""


class AtWork(NamedTuple):
    """What rows of weights do, by whose they are."""

    told: dict[str, dict[str, np.ndarray]]
    """Share of movies whose direction opponent cells tell, T4's and T5's, by suffix of ``PARTS``, shape (2,)."""
    preferred: dict[str, np.ndarray]
    """Whether each cell prefers its own direction at each wavelength, published filters, shape (8, n_wavelengths)."""
    preferred_delayed: dict[str, np.ndarray]
    """The same with the change and intensity that a low-pass makes."""


def put_to_work(learned: Mapping[str, Mapping[str, Learned]], seed: int) -> AtWork:
    """Put the rows that columns and patches learned to work, in pixels, and the connectome's."""
    rows = {kind: learned[kind]["nsm"].pixels for kind in ("patch", "column", "patch_noisy", "column_noisy")}
    rows["random"] = learned["column"]["random"].pixels
    rows["connectome"] = np.stack([effective(cell, OFFSETS) for cell in SUBTYPES])
    return AtWork(
        _told(_movies(seed), rows),
        {name: _preferred(row, _published) for name, row in rows.items()},
        {name: _preferred(row, _delayed) for name, row in rows.items()},
    )


def _movies(seed: int) -> np.ndarray:
    """Return contrasts of 19 columns, in front of which photographs move, (4, n_movies, n_frames, 19)."""
    rng = np.random.default_rng([seed, 27])
    n_frames = round((SETTLE + LASTS) / DT)
    steps = SPEED / SPACING * (DT * np.arange(n_frames) - SETTLE - LASTS / 2)
    ways = np.stack([unit_vector(angle, 2) for angle in ANGLES])
    shown = []
    for scene in photographs():
        low, high = scene.extent.T + np.array([[1.0], [-1.0]]) * (np.abs(steps).max() + 3)
        places = rng.uniform(low, high, (N_MOVIES, 2))
        poses = places[:, None] - steps[:, None] * ways[:, None, None]
        shown.append(render(scene, PATCH, poses.reshape(-1, 2)).reshape(len(ways), N_MOVIES, n_frames, -1))
    return np.concatenate(shown, axis=1) - 1


def _told(movies: np.ndarray, rows: Mapping[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """Return the share of movies to which the cell that prefers the motion answers more than its opponent."""
    first = round(SETTLE / DT)
    told = {name: {suffix: np.empty(2) for suffix in PARTS} for name in rows}
    for j, kind in enumerate(CENTRE):
        for suffix, (centre, around) in PLAYED.items():
            change = mixed(kind, centre, movies[..., [MIDDLE]])[..., first:, :]
            flanks = _intensities(kind, movies) if around == "intensity" else [mixed(kind, around, movies)] * 2
            same, other = ((change * flank[..., first:, :]).mean(axis=2) for flank in flanks)
            for name, each in rows.items():
                weights = each[4 * j : 4 * j + 4] * CENTRE[kind]
                weights = weights / np.linalg.norm(weights, axis=1, keepdims=True)
                answers = same @ np.maximum(weights, 0).T - other @ np.maximum(-weights, 0).T
                told[name][suffix][j] = np.mean([answers[k, :, k] > answers[k, :, k ^ 1] for k in range(4)])
    return told


def _intensities(kind: str, movies: np.ndarray) -> list[np.ndarray]:
    """Return intensities as the cells of the centre's sign carry them, and as those of the other."""
    carried = {name: through(INPUTS[name].chain, movies) for name in dict.fromkeys(_carriers(kind))}
    return [carried[name] for name in _carriers(kind)]


def _carriers(kind: str) -> tuple[str, str]:
    return {"T4": ("Mi9", "Mi4"), "T5": ("Tm9", "Tm9")}[kind]  # CT1, of which nothing is published, as Tm9


def _preferred(rows: np.ndarray, filters: Any) -> np.ndarray:
    """Return whether each cell answers more to its own direction than to the opposite one at each wavelength."""
    found = []
    for row, cell in zip(rows, SUBTYPES, strict=True):
        weights = row * CENTRE[cell[:2]]
        C, same, other = filters(cell[:2])
        gain = np.where(weights > 0, (C * np.conj(same)).imag, (C * np.conj(other)).imag)
        waves = np.sin(2 * np.pi / WAVELENGTHS[:, None] * SPACING * along(cell, OFFSETS))
        found.append(-(waves @ (gain * weights)) > 0)
    return np.array(found)


@cache
def _published(kind: str) -> tuple[complex, complex, complex]:
    """Return transfer functions of the change and of intensities of the centre's and the other sign."""
    C = sum(share * transfer(INPUTS[name].chain, FREQUENCY, DT) for name, share in PATHWAYS[kind].change.items())
    same, other = (transfer(INPUTS[name].chain, FREQUENCY, DT) for name in _carriers(kind))
    return complex(C), complex(same), complex(other)


@cache
def _delayed(kind: str) -> tuple[complex, complex, complex]:
    low = complex(transfer(DELAYED, FREQUENCY, DT))
    return 1 - low, low, low


def _longest(preferred: np.ndarray) -> np.ndarray:
    """Return the wavelength up to which cells prefer their own direction from the shortest on, (..., ) [deg]."""
    turned = ~preferred
    first = np.where(turned.any(axis=-1), turned.argmax(axis=-1), preferred.shape[-1])
    return np.append(0.0, WAVELENGTHS)[first]


WHOSE = {
    "column": "rows of learned columns, in pixels",
    "column_noisy": "the same, whitened less",
    "patch": "the middle rows of learned patches, in pixels",
    "patch_noisy": "the same, whitened less again",
    "random": "random filters",
}
"""Rows beside the connectome's, in words."""


def check(found: AtWork) -> Iterator[Claim]:
    """State what rows of weights tell, and up to which wavelength they prefer what they are to prefer."""
    for j, kind in enumerate(CENTRE):
        parts = {
            name: "; ".join(f"{PARTS[s]} {np.asarray(told[s])[:, j].mean():.3f}" for s in PARTS)
            for name, told in found.told.items()
        }
        title = f"share of movies whose direction opponent {kind}s of a column tell, mean: the connectome's rows"
        values = {name: np.asarray(told[""])[:, j] for name, told in found.told.items()}
        note = f"{SPEED:g} deg/s, read for {LASTS:g} s; published filters {parts['connectome']}"
        row = report(f"C22.rows_{kind.lower()}", title, values["connectome"], worst=np.mean, note=note)
        nulls = {name: Null(words, values[name], np.mean, parts[name]) for name, words in WHOSE.items()}
        yield from beside(row, **nulls)
    yield from _check_wavelengths("C22.wavelength", found.preferred, "published filters")
    yield from _check_wavelengths("C22.wavelength_delayed", found.preferred_delayed, "a low-pass of 150 ms delays")


def _check_wavelengths(id: str, preferred: Mapping[str, Any], how: str) -> Iterator[Claim]:
    """State up to which wavelength cells prefer their own direction, in the median of cells and seeds."""
    longest = {name: np.median(_longest(np.asarray(each)), axis=-1) for name, each in preferred.items()}
    kept = ", ".join(f"{name} {np.asarray(each).mean():.2f}" for name, each in preferred.items())
    title = f"wavelength up to which cells prefer their own direction, from {WAVELENGTHS[0]:g} deg on: {WHOSE['patch']}"
    note = f"median of cells and seeds; gratings of {FREQUENCY:g} Hz up to {WAVELENGTHS[-1]:g} deg; {how}; columns "
    note += f"{SPACING:g} deg apart; share of wavelengths at which they do {kept}"
    row = report(id, title, longest["patch"], worst=np.median, unit="deg", note=note)
    words = WHOSE | {"connectome": "the connectome's rows"}
    nulls = {name: Null(words[name], longest[name], np.median) for name in words if name != "patch"}
    yield from beside(row, **nulls)
