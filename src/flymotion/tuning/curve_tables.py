"""Tables of tuning curves as text: comma-separated values, an axis with its unit and a column for each cell."""

from __future__ import annotations

import csv
import math
import re
from typing import TYPE_CHECKING

import numpy as np

from flymotion.tuning.design import UNITS

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["in_units", "parsed"]

SPELLINGS = {
    "degrees": "deg",
    "degree": "deg",
    "\N{DEGREE SIGN}": "deg",
    "\N{DEGREE SIGN}/s": "deg/s",
    "radians": "rad",
    "radian": "rad",
    "hz": "Hz",
    "seconds": "s",
}
"""Other ways to write units."""


def in_units(axis: str, unit: str, where: str) -> tuple[str, float]:
    """Return the unit that an axis is kept in, and the factor to it from ``unit``, which is empty if none was given."""
    plain = unit.strip().lower()
    given, expected = SPELLINGS.get(plain, plain), UNITS.get(axis)
    if not unit:
        return expected or "1", 1.0
    if expected is None:
        return unit, 1.0
    if given == expected:
        return expected, 1.0
    if (given, expected) == ("rad", "deg"):
        return "deg", math.degrees(1)
    raise ValueError(f"{where}: {axis} is in {unit!r}; expected {expected}{' or rad' if expected == 'deg' else ''}")


def parsed(text: str, name: str) -> xr.Dataset:
    """Return what a table says: ``response``, of dimensions ``cell`` and the axis.

    Raises
    ------
    ValueError
        What is no such table; says in which line of ``name``.
    """
    import xarray as xr

    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    rows = [(k, _entries(line, f"{name}, line {k}")) for k, line in lines]
    if len(rows) < 3:
        raise ValueError(f"{name} has {len(rows)} line(s); expected names, and two or more lines of numbers")
    axis, unit = _named(rows[0][1][0])
    cells = rows[0][1][1:]
    if not axis or not cells or not all(cells) or len(set(cells)) < len(cells) or _is_number(rows[0][1][0]):
        raise ValueError(
            f"{name}, line {rows[0][0]}: names are {', '.join(map(repr, rows[0][1]))}; expected the axis and a name of "
            "its own for every cell"
        )
    unit, scale = in_units(axis, unit, f"{name}, line {rows[0][0]}")
    table = np.array([_numbers(entries, 1 + len(cells), f"{name}, line {k}") for k, entries in rows[1:]])
    table[:, 0] *= scale
    places = (table[:, 0] % 360).round(9) % 360 if axis == "direction" else table[:, 0]
    for (k, entries), first in zip(rows[1:], _is_first(places), strict=True):
        if not first:
            raise ValueError(f"{name}, line {k}: {axis} {entries[0]} is there already; expected each once")
    table = table[np.argsort(table[:, 0])]
    coordinates = {"cell": cells, axis: (axis, table[:, 0], {"units": unit})}
    return xr.Dataset({"response": (("cell", axis), table[:, 1:].T)}, coordinates)


def _entries(line: str, where: str) -> list[str]:
    try:
        return [entry.strip() for entry in next(csv.reader([line], strict=True))]
    except csv.Error as error:
        raise ValueError(f"{where} is {line!r}, {error}; expected comma-separated values") from None


def _is_first(places: np.ndarray) -> np.ndarray:
    """Return which places were not there before."""
    first = np.zeros(len(places), dtype=bool)
    first[np.unique(places, return_index=True)[1]] = True
    return first


def _named(header: str) -> tuple[str, str]:
    """Take the name of an axis and its unit, empty if there is none, apart."""
    found = re.fullmatch(r"(.*?)(?:\s*\[(.*)\]|\s*\((.*)\)|_(deg/s|deg|hz|s|rad))?", header.strip(), re.IGNORECASE)
    name, *units = found.groups() if found else (header,)
    return re.sub(r"[\s-]+", "_", name.strip()).lower(), next((unit for unit in units if unit), "")


def _is_number(entry: str) -> bool:
    try:
        return math.isfinite(float(entry))
    except ValueError:
        return False


def _numbers(entries: list[str], n: int, where: str) -> list[float]:
    if len(entries) != n:
        raise ValueError(f"{where} has {len(entries)} entries; expected {n}")
    for entry in entries:
        if not _is_number(entry):
            raise ValueError(f"{where}: {entry!r} is not a finite number")
    return [float(entry) for entry in entries]
