"""Responses as labelled arrays, which xarray opens: netCDF, or a zarr group.

============  ========================  =======================================================
``response``  (time, column, cell)      of T4a to T5d of every column
``light``     (time, column)            what the column's lens received [share of white]
============  ========================  =======================================================

Coordinates of a column are where its lens looks, azimuth to the left and elevation [deg], its place (q, r) on the
lattice, and the side of its eye; of a cell, its name; ``preferred`` is the direction that it is named for [deg], 0 =
right, 90 = up, as the eye sees it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.circuits.subtypes import SUBTYPES, preferred_in
from flymotion.flying.watched import Watched
from flymotion.world.compound_eyes import SIDES
from flymotion.world.globe import seen_from
from flymotion.world.lattices import half_of
from flymotion.writing import whole

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["labelled", "write_labelled"]


def labelled(watched: Watched, *, spacing: float | None = None, attrs: Mapping[str, Any] | None = None) -> xr.Dataset:
    """Return what was watched, and answered, as a Dataset.

    Parameters
    ----------
    watched : Watched
        Of :func:`~flymotion.flying.watch`.
    spacing : float, optional
        Angle between neighbouring pixels of a flat eye [deg].
    attrs : mapping, optional
        What else to say of it: numbers and text.

    Raises
    ------
    ValueError
        A flat eye without a spacing.

    Examples
    --------
    >>> from flymotion import Hexagon
    >>> watched = Watched(Hexagon(1), np.array([0.0, 0.01]), np.full((2, 7), 0.5), np.zeros((2, 7, 8)))
    >>> found = labelled(watched, spacing=5.0)
    >>> found.response.dims, found.cell.values.tolist()
    (('time', 'column', 'cell'), ['T4a', 'T4b', 'T4c', 'T4d', 'T5a', 'T5b', 'T5c', 'T5d'])
    >>> found.elevation.values.round(1)  # degrees
    array([ 2.5, -2.5,  5. , -0. , -5. ,  2.5, -2.5])
    """
    import xarray as xr

    from flymotion import __version__

    x, y, z = seen_from(watched.eye, spacing)[0].T
    azimuth, elevation = np.degrees(np.arctan2(y, x)), np.degrees(np.arcsin(np.clip(z, -1, 1)))
    q, r = np.asarray(watched.eye.axial).T
    columns = {"azimuth": azimuth, "elevation": elevation, "q": q.astype("i4"), "r": r.astype("i4")}
    found = xr.Dataset(
        {
            "response": (("time", "column", "cell"), watched.responses),
            "light": (("time", "column"), watched.light),
        },
        {
            "time": watched.times,
            "cell": list(SUBTYPES),
            "side": ("column", np.array(SIDES)[half_of(watched.eye)]),
            "preferred": (("column", "cell"), np.tile(preferred_in(watched.eye), 2)),
            **{name: ("column", values) for name, values in columns.items()},
        },
        {"flymotion_version": __version__, "eye": " ".join(repr(watched.eye).split()), **(attrs or {})},
    )
    for name, about in ABOUT.items():
        found[name].attrs.update(about)
    return found


ABOUT: dict[str, dict[str, str]] = {
    "response": {"units": "1", "long_name": "response"},
    "light": {"units": "1", "long_name": "luminance, as a share of white"},
    "time": {"units": "s", "long_name": "time"},
    "preferred": {"units": "deg", "long_name": "direction that the cell is named for, 0 right, 90 up"},
    "azimuth": {"units": "deg", "long_name": "where the lens looks, from straight ahead to the left"},
    "elevation": {"units": "deg", "long_name": "where the lens looks, upwards"},
    "q": {"units": "1", "long_name": "column of the lattice, to the right"},
    "r": {"units": "1", "long_name": "place along a column of the lattice, downwards"},
    "side": {"long_name": "eye"},
}
"""Attributes of the arrays."""


def write_labelled(found: xr.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a Dataset as a zarr group where the name ends in ``.zarr``, and otherwise as netCDF; whole or not at all.

    Raises
    ------
    ValueError
        zarr is asked for, and not installed.
    WriteError
        A place that cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import xarray as xr
    >>> from flymotion import Hexagon
    >>> watched = Watched(Hexagon(1), np.array([0.0, 0.01]), np.full((2, 7), 0.5), np.zeros((2, 7, 8)))
    >>> path = Path(tempfile.mkdtemp()) / "responses.nc"
    >>> write_labelled(labelled(watched, spacing=5.0), path)
    >>> dict(xr.load_dataset(path).response.sizes)
    {'time': 2, 'column': 7, 'cell': 8}
    """
    if Path(path).suffix != ".zarr":
        with whole(path) as place:
            found.to_netcdf(place, engine="scipy")
        return
    try:
        import zarr
    except ImportError as error:
        raise ValueError(f"{path}: zarr is not installed; pip install zarr, or choose netCDF") from error
    older: dict[str, Any] = {"zarr_format": 2} if int(zarr.__version__.partition(".")[0]) > 2 else {}
    with whole(path) as place:
        found.to_zarr(place, mode="w", consolidated=True, **older)
