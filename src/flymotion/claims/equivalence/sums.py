"""Detectors summed over a field (Supplement E; C16, but for learned filters)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.equivalence import movies
from flymotion.claims.equivalence.movies import FILTERS, SPEED, WAVELENGTH, delayed, respond
from flymotion.claims.passing import moving, noise, photographed_rows
from flymotion.claims.rows import Claim, below, report, within
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import hassenstein_reichardt, three_pixel
from flymotion.detectors.temporal import Step

if TYPE_CHECKING:
    from flymotion.claims.equivalence import Config

__all__ = ["Fields", "boundary", "boundary_shares", "check_fields", "sum_fields"]


class Fields(NamedTuple):
    """Sums over a field."""

    identity: np.ndarray
    """Largest error of Supplement E, corrected, relative to the largest sum."""
    printed: np.ndarray
    """The same as printed."""
    mean: np.ndarray
    """Mean sum of HRDs over each field: noise and a grating, shape (2, n_fields)."""
    power: np.ndarray
    """Mean square of the boundary terms, shape (2, n_fields)."""


def sum_fields(config: Config, seed: int) -> Fields:
    """Sum three-pixel detectors and HRDs over fields."""
    rng = np.random.default_rng([seed, 16])
    n, (delay, best) = max(config.fields) + 3, FILTERS["delay"]
    seen = moving(noise(WORLDS["L1"], n, config.n_frames, SPEED, rng), n, config.n_frames, SPEED)
    wave = movies.grating(WAVELENGTH, movies.period(best, 1.0), n)[-2 * movies.period(best, 1.0) :]
    photographs = moving(photographed_rows(2, rng) - 1, 60, 200, SPEED)
    shown = [rng.standard_normal((200, 20)), seen[:200, :60], wave[:, :60], photographs]
    corrected, printed = np.max([_errors(movie, step) for movie in shown for step, _ in FILTERS.values()], axis=0)
    mean, power = np.swapaxes([_sums(movie, delay, config.fields) for movie in (seen, wave)], 0, 1)
    return Fields(corrected, printed, mean, power)


def boundary(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return what the three-pixel detectors of a line sum to beyond the HRDs between their centres (Suppl. E).

    f and g are delayed and fast signals, shape (..., n_pixels); centres are all pixels but the outermost.
    """
    return (g[..., 1] - f[..., 1]) * g[..., 0] - (g[..., -2] - f[..., -2]) * g[..., -1]  # Eq. 35, corrected


def _errors(movie: np.ndarray, step: Step) -> tuple[float, float]:
    """Return the errors of Supplement E, corrected and as printed, relative to the largest sum."""
    g, f = movie, delayed(movie, step)
    three = respond(three_pixel(step), movie).sum(axis=-1)
    rest = three - respond(hassenstein_reichardt(step), movie)[..., 1:-1].sum(axis=-1)
    corrected = boundary(f, g)
    printed = corrected + (f[..., 1] - f[..., 0]) * g[..., 0]  # delays the outermost pixel, not the first centre
    return movies.relative(rest - corrected, three), movies.relative(rest - printed, three)


def _sums(movie: np.ndarray, step: Step, fields: Sequence[int]) -> np.ndarray:
    """Return the mean sum of HRDs, and the mean square of the boundary, of fields about the middle; (2, n_fields)."""
    f, n = delayed(movie, step), movie.shape[-1]
    hrd = respond(hassenstein_reichardt(step), movie).mean(axis=0)
    found = []
    for field in fields:
        first = (n - field - 3) // 2  # field + 1 centres, and a pixel on either side
        inside = slice(first, first + field + 3)
        found.append((hrd[first + 1 :][:field].sum(), (boundary(f[:, inside], movie[:, inside]) ** 2).mean()))
    return np.array(found).T


def boundary_shares(fields: Fields) -> np.ndarray:
    """Return the boundary's root mean square over the mean sum of HRDs, of all seeds together; (2, n_fields)."""
    return np.sqrt(fields.power.mean(axis=0)) / np.abs(fields.mean.mean(axis=0))


def check_fields(fields: Fields, config: Config) -> Iterator[Claim]:
    """State C16, but for learned filters."""
    both = ("noise", "grating")
    title = "sum of three-pixel detectors - sum of HRDs - boundary terms: largest error, relative to the largest sum"
    note = "random frames, noise, a grating, photographs; a delay and a low-pass"
    yield below("C16.identity", f"{title}, corrected", fields.identity, 1e-12, note=note)
    yield report("C16.printed", f"{title}, as printed", fields.printed, worst=np.max, note=note)
    shares, seeds = boundary_shares(fields), config.n_seeds
    slopes = dict(zip(both, np.polyfit(np.log(config.fields), np.log(shares.T), 1)[0], strict=True))
    size = "boundary's share, its root mean square over the mean sum of HRDs"
    title = f"log-log slope of the {size}, in the number of HRDs"
    note = f"{min(config.fields)} to {max(config.fields)} HRDs, a delay"
    yield within("C16.slope", title, slopes, -1.05, -0.95, seeds=seeds, note=note)
    widest = dict(zip(both, shares[:, -1], strict=True))
    yield report("C16.share", f"{size}, largest field", widest, worst=np.max, seeds=seeds)
