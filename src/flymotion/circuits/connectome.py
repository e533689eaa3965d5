"""The connectome of T4 and T5: how many synapses each input makes, in which column, and with which effect.

Means over reconstructed cells, from the connectome specification of flyvis 1.1 (MIT licence, TuragaLab), itself from
the FIB-25 and FIB-19 reconstructions (Takemura et al. 2017; Shinomiya et al. 2019). The table, ``synapses.csv``, has
all offsets; those of more than two columns are leftovers of the reconstruction, and are left out unless asked for.

Section 3.2 gives inputs two parts: Mi1 and Tm3 (T5: Tm1, Tm2, Tm4) bring the *change* at the cell's own column, Mi9,
Mi4, C3 and CT1 (T5: Tm9, CT1) *intensities* of the columns about it. An input's effective sign on intensity is its
transmitter's times the polarity of what it answers to: Mi9 is an OFF cell that inhibits, so it weighs intensity
positively; Mi4 is ON and inhibits, so negatively. T5's centre is OFF, so there the same product of change and
intensity asks for opposite signs: Tm9, OFF and exciting, weighs it negatively, CT1 in the lobula positively.

==========  ==========================================================================================================
columns     axial offsets (q right, r down) from the cell's own, as of :mod:`flymotion.world.lattices`
positions   along the direction that the cell prefers, positive on the side to which content moves [columns]
==========  ==========================================================================================================
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from flymotion.circuits.subtypes import PREFERRED, SUBTYPES
from flymotion.frames import unmasked

__all__ = ["CENTRE", "PARTNERS", "Partner", "Synapses", "along", "centroid", "effective", "partners", "synapses"]

REACH = 2.0
"""Within which offsets count as the cell's own dendrite [columns]."""


class Partner(NamedTuple):
    """What is known of an input cell.

    Examples
    --------
    >>> mi9 = PARTNERS["Mi9"]
    >>> mi9.polarity, mi9.transmitter  # an OFF cell that inhibits
    (-1, -1)
    """

    transmitter: int
    """1 excites, -1 inhibits."""
    polarity: int
    """Of what it answers to: 1 ON, -1 OFF; 0 where it is not known, or no intensity, as of T4 and T5 themselves."""
    role: str
    """``"change"`` or ``"intensity"``, as Section 3.2 has it; empty for all others."""

    @property
    def effect(self) -> int:
        """Effective sign on intensity."""
        return self.transmitter * self.polarity


PARTNERS = {
    "Mi1": Partner(1, 1, "change"),
    "Tm3": Partner(1, 1, "change"),
    "Mi9": Partner(-1, -1, "intensity"),
    "Mi4": Partner(-1, 1, "intensity"),
    "C3": Partner(-1, 1, "intensity"),
    "CT1(M10)": Partner(-1, 1, "intensity"),
    "Tm1": Partner(1, -1, "change"),
    "Tm2": Partner(1, -1, "change"),
    "Tm4": Partner(1, -1, "change"),
    "Tm9": Partner(1, -1, "intensity"),
    "CT1(Lo1)": Partner(-1, -1, "intensity"),
    "C2": Partner(-1, 0, ""),
    "Mi10": Partner(-1, 0, ""),
    "TmY15": Partner(-1, 0, ""),
    "TmY4": Partner(1, 0, ""),
} | dict.fromkeys(SUBTYPES, Partner(1, 0, ""))
"""Every input of the table. Transmitters are the source's (those of T4 and T5 are given there without a reference);
polarities of Mi1 to Tm9 published (Arenz et al. 2017), those of C3 and CT1 (ON in the medulla, OFF in the lobula; Meier
& Borst 2019) taken from the literature, not from a table."""

CENTRE = {"T4": 1, "T5": -1}
"""Polarity of the change at the centre: ON and OFF."""


class Synapses(NamedTuple):
    """Synapses onto a cell, one entry an input and column.

    Examples
    --------
    >>> t4 = synapses("T4a")
    >>> largest = t4.counts.argmax()
    >>> t4.inputs[largest], t4.offsets[largest].tolist(), round(float(t4.counts[largest]), 1)
    ('Mi1', [0, 0], 20.7)
    """

    inputs: tuple[str, ...]
    """Input cells, keys of :data:`PARTNERS`."""
    offsets: np.ndarray
    """Axial coordinates of their columns relative to the cell's own, shape (n, 2)."""
    counts: np.ndarray
    """How many, a mean over cells, shape (n,)."""


def synapses(cell: str, *inputs: str, within: float = REACH) -> Synapses:
    """Return the synapses of some inputs onto a cell, or of all.

    Parameters
    ----------
    cell : str
        One of :data:`~flymotion.circuits.SUBTYPES`.
    *inputs : str
        Keys of :data:`PARTNERS`; those that the cell does not have add nothing.
    within : float
        Farthest column that counts [columns]; infinite for the whole table.

    Raises
    ------
    ValueError
        A cell or an input that the table does not have.

    Examples
    --------
    >>> found = synapses("T4b", "Mi9")
    >>> found.offsets.tolist(), found.counts.tolist()
    ([[-2, 1], [-1, 0], [-1, 1], [0, 0], [1, 0]], [3.8571, 6.6667, 8.2, 1.7586, 1.3793])
    """
    if cell not in SUBTYPES:
        raise ValueError(f"the cell is {cell!r}; expected one of {', '.join(SUBTYPES)}")
    if unknown := [name for name in inputs if name not in PARTNERS]:
        raise ValueError(f"{unknown[0]!r} is no input of the connectome; expected one of {', '.join(PARTNERS)}")
    rows = [row for row in _table()[cell] if not inputs or row[0] in inputs]
    offsets = np.array([row[1] for row in rows], dtype=int).reshape(-1, 2)
    near = np.linalg.norm(_places(offsets), axis=1) <= within + 1e-9
    names = tuple(row[0] for row, kept in zip(rows, near, strict=True) if kept)
    return Synapses(names, offsets[near], np.array([row[2] for row in rows])[near])


@cache
def _table() -> dict[str, list[tuple[str, tuple[int, int], float]]]:
    text = resources.files("flymotion.circuits").joinpath("synapses.csv").read_text(encoding="utf-8")
    by: dict[str, list[tuple[str, tuple[int, int], float]]] = {}
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        place = int(row["q"]), int(row["r"])
        by.setdefault(row["cell"], []).append((row["input"], place, float(row["synapses"])))
    return by


def partners(cell: str, role: str, sign: int = 0) -> tuple[str, ...]:
    """Return the inputs of a cell that have a part: the change, or intensities.

    Parameters
    ----------
    cell : str
        One of :data:`~flymotion.circuits.SUBTYPES`, or ``"T4"`` or ``"T5"``.
    role : {"change", "intensity"}
        Which part.
    sign : {-1, 0, 1}
        1 and -1 ask for intensities that weigh with the centre's own polarity and against it; 0 for both.

    Examples
    --------
    >>> partners("T4", "intensity", 1), partners("T4", "intensity", -1), partners("T5", "intensity", 1)
    (('Mi9',), ('Mi4', 'C3', 'CT1(M10)'), ('Tm9',))
    """
    kind = cell[:2]
    names = {row[0] for each in SUBTYPES if each.startswith(kind) for row in _table()[each]}
    wanted = [name for name, known in PARTNERS.items() if name in names and known.role == role]
    return tuple(name for name in wanted if not sign or PARTNERS[name].effect * CENTRE[kind] == sign)


def along(cell: str, offsets: Any) -> np.ndarray:
    """Return where columns lie along the direction that a cell prefers, shape (n,) [columns].

    Parameters
    ----------
    cell : str
        One of :data:`~flymotion.circuits.SUBTYPES`, of the left eye.
    offsets : array-like of int, shape (n, 2)
        Axial coordinates, relative to the cell's own.

    Examples
    --------
    >>> along("T4c", [[0, -1], [0, 1]]).round(9).tolist()  # up is where r is less
    [1.0, -1.0]
    """
    angle = np.radians(PREFERRED[cell[2:]])
    return _places(offsets) @ np.array([np.cos(angle), np.sin(angle)])


def _places(offsets: Any) -> np.ndarray:
    """Return columns as (x right, y up), shape (n, 2) [columns]."""
    return np.reshape(unmasked(offsets, "offsets", float), (-1, 2)) @ np.array([[np.sqrt(3) / 2, -0.5], [0.0, -1.0]])


def centroid(cell: str, *inputs: str, within: float = REACH) -> float:
    """Return the mean position of all synapses of some inputs, or of all, along the preferred direction [columns].

    Examples
    --------
    >>> [round(centroid("T4b", *partners("T4b", "intensity", sign)), 2) for sign in (1, -1)]
    [-0.84, 0.69]
    """
    found = synapses(cell, *inputs, within=within)
    return float(found.counts @ along(cell, found.offsets) / found.counts.sum())


def effective(cell: str, offsets: Any) -> np.ndarray:
    """Return the effective synapses of a cell's intensity inputs in some columns: counts times effective signs.

    What a learned row of weights is held against. Of T5, whose centre is OFF, they are negative where content comes
    from.

    Parameters
    ----------
    cell : str
        One of :data:`~flymotion.circuits.SUBTYPES`.
    offsets : array-like of int, shape (n, 2)
        Axial coordinates, for instance ``rings(2)``, which has all columns that count.

    Returns
    -------
    ndarray, shape (n,)
        0 where there are none.

    Examples
    --------
    >>> effective("T4b", [[-1, 0], [1, 0]]).round(1).tolist()  # Mi9 on the left; on the right Mi4, C3, CT1, less of Mi9
    [6.7, -14.0]
    """
    found = synapses(cell, *partners(cell, "intensity"))
    offsets = np.reshape(unmasked(offsets, "offsets"), (-1, 1, 2))
    signed = found.counts * [PARTNERS[name].effect for name in found.inputs]
    return (offsets == found.offsets).all(axis=-1) @ signed
