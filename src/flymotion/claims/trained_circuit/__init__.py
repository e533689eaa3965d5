"""The exam of the trained circuit: whether it sees motion as the fly does (Section 3.2; C38).

``flights``: clips to learn from, and full turns in another photograph. ``turning_signs``: whether columns tell where
content moves. ``circuit_tuning``: gratings and edges, beside the published curves of T4 and T5 as in C30.
``signs_of_synapses``: whether weights have the connectome's signs. ``untaught``: what stands beside it. Columns are
asked on *Drosophila*'s measured left eye (the right one is its mirror image), in the quick size on a coarse one, as a
seed on the measured eye takes 20 s of CPU; gratings, which are flat, are shown to the mean column, on an even lattice.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.claims.beside import Null, beside
from flymotion.claims.cells.nearness import BESIDE, WAVELENGTH, Tuned, state
from flymotion.claims.cells.unlearned import models
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.trained_circuit.circuit_tuning import (
    CONTRASTS,
    FREQUENCIES,
    LENGTHS,
    Responses,
    beside_cells,
    responses,
)
from flymotion.claims.trained_circuit.flights import AXES, DT, flights, full_turn
from flymotion.claims.trained_circuit.sheets import circuit_cells, circuit_turns
from flymotion.claims.trained_circuit.signs_of_synapses import signed_alike
from flymotion.claims.trained_circuit.turning_signs import told, told_by_difference
from flymotion.claims.trained_circuit.untaught import INSTEAD, instead
from flymotion.world.compound_eyes import CompoundEye, buchner
from flymotion.world.eyes import Hexagon
from flymotion.world.globe import seen_from

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {"C38": "the trained circuit sees motion as the fly does"}

COARSE = 6, 10.0
"""Rings of lenses of a coarse eye, and the angle between them [deg]."""

OPPOSED = ("start", "random", "shuffled")
"""Nulls whose columns are asked twice, in a turn and in the same turn backwards."""

UNLEARNED = (*OPPOSED, "labelled")
"""Nulls whose weights' signs are held against the connectome's."""


SECOND = "the second exam, after what a change tells of all neighbours alike was taken off, found on other scenes"
"""What has changed since this was measured first (docs/circuit.md)."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Circuits; each learns from one of two photographs, in turn, and is asked in the other one.
    eye : {"buchner", "hexagon"}
        What columns are asked on.
    n_clips : int
        Clips of 5 s to learn from.
    """

    n_seeds: int = 3
    eye: str = "buchner"
    n_clips: int = 16


QUICK = {"n_seeds": 1, "eye": "coarse"}


def work(config: Config) -> Work:
    """Train circuits, turn them, and show them gratings."""
    return {"circuits": each_seed(_examine, config.n_seeds, config), "models": models}


def _coarse() -> CompoundEye:
    """Return an eye of few lenses that sees as much of the world as a fly's."""
    n_rings, spacing = COARSE
    directions, _ = seen_from(Hexagon(n_rings), spacing)
    return CompoundEye.from_directions(directions)


def _examine(config: Config, seed: int) -> dict[str, Any]:
    """Train a circuit with one photograph, ask its columns in the other one, and measure its tuning."""
    eye = buchner("left") if config.eye == "buchner" else _coarse()
    flown = list(flights(eye, config.n_clips, [seed % 2], seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that cells do not prefer four directions is a row
        circuit = T4T5Circuit(eye, dt=DT, random_state=seed).fit([flight.movie for flight in flown])
    turns = {axis: full_turn(eye, axis, (seed + 1) % 2) for axis in AXES}
    others = instead(circuit, flown, seed)
    each = {"learned": circuit} | others
    own = xr.concat([beside_cells(circuit)], "wavelength").assign_coords(wavelength=[WAVELENGTH])
    nulls = {name: beside_cells(others[name]) for name in INSTEAD if name != "elsewhere"}  # of the mean column
    return {
        "turned": {name: told(one, turns) | {"named": float(one.named_.mean())} for name, one in each.items()},
        "signed": {name: signed_alike(each[name]) for name in ("learned", *UNLEARNED)},
        "opposed": {name: told_by_difference(each[name], turns) for name in ("learned", *OPPOSED)},
        "beside": Tuned(None, own, nulls),
        "responses": {name: responses(each[name]) for name in ("learned", "start")},
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C38."""
    circuits = found["circuits"]
    where = f"{config.n_clips} clips of 5 s; an eye: {config.eye}"
    yield from _check_turns(circuits["turned"], circuits["opposed"], where)
    words = BESIDE | {name: INSTEAD[name] for name in INSTEAD if name != "elsewhere"}
    for row in state({"circuit": circuits["beside"]}, found["models"], (), claim="C38", beside=words):
        yield replace(
            row, note=f"{row.note}; the mean column, after flat eyes and means of responses did worse; {where}"
        )
    yield from _check_signs(circuits["signed"])
    yield from _check_responses(circuits["responses"])


def _check_turns(turned: Found, opposed: Found, where: str) -> Iterator[Claim]:
    for axis in AXES:
        title = (
            f"share of columns of more than median contrast and motion whose motion vector is right, full turn: {axis}"
        )
        row = above(
            f"C38.{axis}",
            title,
            turned["learned"][axis],
            0.95,
            note=f"a photograph not learned from; {SECOND}; {where}",
        )
        yield from beside(row, **{k: Null(name, turned[k][axis], np.min) for k, name in INSTEAD.items()})
        title = f"{title}, less the vector of the same turn backwards"
        row = report(f"C38.{axis}_opposed", title, opposed["learned"][axis], worst=np.min, note=where)
        yield from beside(row, **{k: Null(INSTEAD[k], opposed[k][axis], np.min) for k in OPPOSED})
    title = "share of columns whose four cells, of T4 and of T5, prefer four directions"
    row = report("C38.named", title, turned["learned"]["named"], worst=np.min, note=where)
    nulls = {k: Null(INSTEAD[k], turned[k]["named"], np.min) for k in ("start", "random", "labelled")}
    yield from beside(row, **nulls)


def _check_signs(signed: Found) -> Iterator[Claim]:
    for kind in ("T4", "T5"):
        title = f"share of {kind} cells whose weights onto intensities have the signs of the connectome's synapses"
        note = "effective weights, decorrelation taken into account, as in C22; of whole columns"
        row = report(f"C38.signs_{kind.lower()}", title, signed["learned"][kind], worst=np.min, note=note)
        yield from beside(row, **{k: Null(INSTEAD[k], signed[k][kind], np.min) for k in UNLEARNED})


def _check_responses(found: Found) -> Iterator[Claim]:
    for kind in ("T4", "T5"):
        yield from _check_gratings(found["learned"], found["start"], kind)
        own, start = (_selectivity(found[name], kind) for name in ("learned", "start"))
        polarity = "ON over OFF" if kind == "T4" else "OFF over ON"
        title = f"selectivity of {kind}a-d for the polarity of edges, {polarity}, difference over sum"
        note = "by construction: each sees the change of one polarity, as Mi1 and Tm3, or Tm1, Tm2 and Tm4, carry it"
        row = above(f"C38.edges_{kind.lower()}", title, own, 0.0, note=note)
        yield from beside(row, start=Null(INSTEAD["start"], start, np.min))


def _check_gratings(own: Responses, start: Responses, kind: str) -> Iterator[Claim]:
    """Report frequencies and speeds that are answered most, and how responses grow with contrast."""
    cells, suffix = slice(0, 4) if kind == "T4" else slice(4, 8), kind.lower()

    def best(one: Responses, k: int) -> np.ndarray:
        return np.array(FREQUENCIES)[one.frequency[..., cells].mean(axis=-1)[:, k].argmax(axis=-1)]

    def slope(one: Responses, low: int) -> np.ndarray:
        answers = one.contrast[..., cells].mean(axis=-1)
        return np.log2(answers[:, low + 1] / answers[:, low])

    first, second = LENGTHS
    title = f"temporal frequency that {kind}a-d answer most, preferred direction, gratings of {first:.0f} deg, median"
    note = f"of {', '.join(f'{f:.3g}' for f in FREQUENCIES)}; the fly's T4 about 1 Hz (Maisak et al. 2013)"
    row = report(f"C38.frequency_{suffix}", title, best(own, 0), worst=np.median, unit="Hz", note=note)
    yield from beside(row, start=Null(INSTEAD["start"], best(start, 0), np.median))
    title = f"best speed of {kind}a-d at {second:.0f} deg over that at {first:.0f} deg, median"
    ratio = second * best(own, 1) / (first * best(own, 0))
    note = "2 where temporal frequency is what counts, 1 where speed is"
    yield report(f"C38.speed_{suffix}", title, ratio, worst=np.median, note=note)
    for low, end in ((0, "low"), (len(CONTRASTS) - 2, "high")):
        title = f"log-log slope of {kind}'s response, contrast {CONTRASTS[low]:g} to {CONTRASTS[low + 1]:g}, median"
        note = "2 of a product, 0 where saturated"
        row = report(f"C38.contrast_{end}_{suffix}", title, slope(own, low), worst=np.median, note=note)
        yield from beside(row, start=Null(INSTEAD["start"], slope(start, low), np.median))


def _selectivity(one: Responses, kind: str) -> np.ndarray:
    cells = slice(0, 4) if kind == "T4" else slice(4, 8)
    on, off = np.moveaxis(one.edges[..., cells].mean(axis=-1), 1, 0)
    return (on - off) / (on + off) * (1 if kind == "T4" else -1)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw shares of columns that are right, and tuning beside the cells'."""
    circuits = found["circuits"]
    words = {"learned": "learned"} | INSTEAD
    return {
        "circuit-turns": circuit_turns(circuits["turned"], words),
        "circuit-cells": circuit_cells(circuits["beside"]),
    }
