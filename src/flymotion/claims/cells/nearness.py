"""How near detectors and their nulls come to the published direction tuning of T4 and T5 (C30).

Near in two ways: the correlation of curves, and how far the half width at half maximum is off that of the cell. A curve
that never falls to half has no half width; it counts as 180 deg.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from flymotion.claims.beside import Null
from flymotion.claims.beside import beside as row_beside
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, above, report

__all__ = ["BESIDE", "KINDS", "WAVELENGTH", "Tuned", "state"]

KINDS = {"a": ("left", 180.0), "b": ("right", 0.0), "c": ("up", 90.0), "d": ("down", 270.0)}
"""Subtypes of T4 and T5, and what they prefer [deg]."""

WAVELENGTH = 30.0
"""Of the gratings that are compared with [deg]."""

BESIDE = {
    "cosine": "a rectified cosine",
    "hrd": "a rectified HRD",
    "conductance": "three-input conductances (Zavatone-Veth et al. 2020)",
    "gruntman": "excitation and displaced inhibition, peaks (Gruntman et al. 2018)",
} | {name: NULLS[name] for name in ("random", "start", "labelled")}
"""Suffixes of rows, and what titles call them; that of Gruntman et al. is of T4 alone."""

N_DRAWS = 2000
"""Of cells and seeds, for intervals."""


class Tuned(NamedTuple):
    """What one seed learned."""

    generators: Any
    """Of video, :class:`~flymotion.generators.Generators`; None of what has none."""
    beside: xr.Dataset
    """Curves beside the cells', see :func:`flymotion.tuning.recordings.compare`, by the wavelength of the gratings."""
    nulls: dict[str, xr.Dataset]
    """The same of random filters, the start and averages by label, at one wavelength."""


class Near(NamedTuple):
    """How near curves are to those of four cells."""

    correlation: np.ndarray
    """Shape (n_seeds, 4)."""
    width: np.ndarray
    """How far half widths are off, shape (n_seeds, 4) [deg]."""
    dsi: np.ndarray
    """Direction selectivity index, shape (n_seeds, 4)."""


def _near(beside: Sequence[xr.Dataset], kind: str) -> Near:
    """Return how near curves are, one a seed."""
    of_kind = [one.sel(cell=[kind + which for which in KINDS]) for one in beside]
    widths = np.array([one.half_width.transpose("curve", "cell").sel(curve=["recording", "model"]) for one in of_kind])
    cells, own = np.moveaxis(np.where(np.isnan(widths), 180.0, widths), 1, 0)
    correlation = np.array([one.correlation.values for one in of_kind])
    dsi = np.array([one.dsi.sel(curve="model").values for one in of_kind])
    return Near(np.nan_to_num(correlation), np.abs(own - cells), dsi)


def _cosine(one: xr.Dataset, kind: str, n_seeds: int) -> Near:
    """Return the same of a rectified cosine, whose half width is 60 degrees."""
    cells = one.sel(cell=[kind + which for which in KINDS])
    widths = np.abs(60.0 - cells.half_width.sel(curve="recording").values)
    each = (cells.correlation_cosine.values, widths, np.ones(len(KINDS)))
    return Near(*(np.broadcast_to(values, (n_seeds, len(KINDS))) for values in each))


def _beside(tuned: Tuned, models: Mapping[str, xr.Dataset], kind: str) -> dict[str, Near]:
    """Return how near what was learned is ("learned"), and each null; fields of ``tuned`` have a seed each."""
    learned = [one.sel(wavelength=WAVELENGTH) for one in tuned.beside]
    n_seeds = len(learned)
    found = {"learned": _near(learned, kind), "cosine": _cosine(learned[0], kind, n_seeds)}
    own = {"hrd": "hrd", "conductance": "conductance" if kind == "T4" else "conductance_t5"}
    own |= {"gruntman": "gruntman"} if kind == "T4" else {}
    found |= {null: _near([models[name]] * n_seeds, kind) for null, name in own.items()}
    return found | {null: _near(curves, kind) for null, curves in tuned.nulls.items()}


def state(
    videos: Mapping[str, Tuned],
    models: Mapping[str, xr.Dataset],
    wavelengths: Sequence[float],
    claim: str = "C30",
    beside: Mapping[str, str] = BESIDE,
) -> Iterator[Claim]:
    """State how near what was learned is, of videos as C30 does, or of what another claim is about.

    Parameters
    ----------
    videos : mapping of str to Tuned
        What was learned, by what from.
    models : mapping of str to Dataset
        Curves of models that nobody taught.
    wavelengths : sequence of float
        Of gratings that are reported besides [deg].
    claim : str
        What ids of rows begin with.
    beside : mapping of str to str
        What titles call the nulls, by the suffixes of their rows.
    """
    measure = partial(_measure, beside=beside)
    for kind, suffix in (("T4", ""), ("T5", "_t5")):
        near = {video: _beside(tuned, models, kind) for video, tuned in videos.items()}
        cells = f"{kind}a-d, mean of the four"
        title = f"correlation with the published direction tuning of {cells}"
        yield from measure(f"{claim}.correlation{suffix}", title, near, "correlation", np.min)
        yield _nearer(f"{claim}.nearer{suffix}", f"in correlation, to {kind}", near, "correlation", 1)
        title = f"half width of direction tuning off that of {cells}"
        yield from measure(f"{claim}.half_width{suffix}", title, near, "width", np.max, unit="deg")
        yield _nearer(f"{claim}.nearer_width{suffix}", f"in half width, to {kind}", near, "width", -1, unit="deg")
        if kind == "T4":
            title = "direction selectivity index, (PD - ND) / (PD + ND), mean of the four detectors"
            recorded = next(iter(videos.values())).beside[0].sel(wavelength=WAVELENGTH, curve="recording").dsi
            note = f"T4a-d {float(recorded[: len(KINDS)].mean()):.2f}"
            yield from measure(f"{claim}.dsi", title, near, "dsi", np.min, note=note)
    for length in wavelengths:
        curves = {video: [one.sel(wavelength=length) for one in tuned.beside] for video, tuned in videos.items()}
        by = {video: _near(each, "T4").correlation.mean(axis=1) for video, each in curves.items()}
        title = (
            f"correlation with the published direction tuning of T4a-d, mean of the four, gratings of {length:.0f} deg"
        )
        yield report(f"{claim}.correlation_{length:.0f}", title, by, worst=np.min)


def _measure(
    id: str,
    title: str,
    near: Mapping[str, Mapping[str, Near]],
    field: str,
    worst: Any,
    *,
    beside: Mapping[str, str],
    note: str = "",
    **how: Any,
) -> Iterator[Claim]:
    """Report a measure of what was learned, and of each null, the worst seed."""

    def values(name: str) -> dict[str, np.ndarray]:
        return {video: getattr(each[name], field).mean(axis=1) for video, each in near.items()}

    row = report(id, title, values("learned"), worst=worst, note=note, **how)
    known = next(iter(near.values()))
    nulls = {key: Null(words, values(key), worst) for key, words in beside.items() if key in known}
    yield from row_beside(row, **nulls)


def _nearer(id: str, what: str, near: Mapping[str, Mapping[str, Near]], field: str, sign: int, **how: Any) -> Claim:
    """Claim that what was learned is nearer than every null, in every seed."""
    advantages, told, alike = {}, [], []
    for video, each in near.items():
        own = getattr(each["learned"], field)
        over = {name: sign * (own - getattr(null, field)) for name, null in each.items() if name != "learned"}
        advantages[video] = np.stack([advantage.mean(axis=1) for advantage in over.values()], axis=1)
        drawn = {name: _interval(advantage) for name, advantage in over.items()}
        means = (f"{name} {over[name].mean():.3g} [{low:.3g}, {high:.3g}]" for name, (low, high) in drawn.items())
        told.append(f"{video} over {', '.join(means)}")
        alike.append(f"{video} {', '.join(name for name, (low, _) in drawn.items() if low <= 0) or 'none'}")
    title = f"smallest advantage over the nulls {what}, mean of four cells, worst null and seed"
    note = f"means, and 95 % of draws of cells and seeds: {'; '.join(told)}; not told to be farther: {'; '.join(alike)}"
    return above(id, title, advantages, 0.0, note=note, **how)


def _interval(values: np.ndarray) -> tuple[float, float]:
    """Return in what 95 % of the means of draws of seeds and of cells lie, of values of shape (n_seeds, n_cells)."""
    rng = np.random.default_rng(0)
    seeds, cells = (rng.integers(0, n, (N_DRAWS, n)) for n in values.shape)
    drawn = values[seeds[:, :, None], cells[:, None, :]].mean(axis=(1, 2))
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
