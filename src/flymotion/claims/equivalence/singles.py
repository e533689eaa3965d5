"""One detector of each kind at the same place (Section 3.2; C20)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.equivalence import movies
from flymotion.claims.equivalence.movies import DT, FILTERS, SETTLED, SPEED, START, WAVELENGTH, correlation, respond
from flymotion.claims.rows import Claim, below, report
from flymotion.detectors import Detector, hassenstein_reichardt, shared_non_delay, three_pixel
from flymotion.detectors.temporal import Step, transfer

if TYPE_CHECKING:
    from flymotion.claims.equivalence import Config

__all__ = ["Singles", "check_singles", "compare_singles", "shared_line_theory"]

KINDS = ("noise", "gratings", "gratings about a mean", "photographs")
"""Scenes: L1's noise; gratings of contrast, and of luminance about 1; rows of photographs, contrasts."""

SHOWN, N_SHOWN = (60, 20), 150
"""Pixels of the line, and the place of the detectors, of the figure; and its frames."""


class Singles(NamedTuple):
    """Correlation over time of one three-pixel detector with each of the others."""

    sizes: np.ndarray
    """Largest over all speeds, or wavelengths and frequencies, shape (n_filters, n_kinds, 2)."""
    one_row: np.ndarray
    """Largest in any single row of a photograph, shape (n_filters, 2)."""
    theory: np.ndarray
    """Largest deviation from the closed forms of gratings, shape (n_filters,)."""
    beyond: np.ndarray
    """With the shared line, gratings at twice the best frequency of a delay."""
    ring: np.ndarray
    """Largest difference of the three sums over a ring, relative to the largest sum, all scenes."""
    outputs: np.ndarray
    """To noise and to a grating: of one of each detector, and summed over the line, shape (2, 2, 3, n_shown)."""


def compare_singles(config: Config, seed: int) -> Singles:
    """Show noise, gratings and rows of photographs to all three, with each filter."""
    rng = np.random.default_rng([seed, 20])
    n, (delay, best) = SHOWN[0], FILTERS["delay"]
    seen = movies.noise(n, config.n_frames, max(config.speeds), rng)
    drawn = movies.photographed_rows(config.n_rows, rng)
    found = [_compare(seen, drawn, *each, config) for each in FILTERS.values()]
    sizes, one_row, theory = (np.array(part) for part in zip(*found, strict=True))
    twice = movies.grating(WAVELENGTH, movies.period(best, 2.0), 4)
    shown = [movies.moving(seen, n, config.n_frames, SPEED), movies.grating(WAVELENGTH, movies.period(best, 0.5), n)]
    scenes = [*shown, movies.moving(drawn, n, 400, SPEED)]
    ring = max(_ring_difference(movie, step) for movie in scenes for step, _ in FILTERS.values())
    return Singles(
        sizes,
        one_row,
        theory,
        np.array(_correlations(_outputs(twice, delay, SETTLED))[1]),
        np.array(ring),
        np.stack([_drawn(movie, delay) for movie in shown]),
    )


def _compare(
    seen: np.ndarray, drawn: np.ndarray, delayed: Step, best: float, config: Config
) -> tuple[np.ndarray, np.ndarray, float]:
    """Compare over each kind of scene, the largest of all speeds or gratings; row by row; and with theory."""
    gratings = list(itertools.product(config.wavelengths, [movies.period(best, f) for f in config.frequencies]))
    of_noise, of_rows = (
        [_outputs(movies.moving(profile, 4, config.n_frames, speed), delayed, START) for speed in config.speeds]
        for profile in (seen, drawn)
    )
    of_gratings, about_a_mean = (
        [_outputs(movies.grating(*grating, 4, mean), delayed, SETTLED) for grating in gratings] for mean in (0.0, 1.0)
    )
    kinds = [[_correlations(each) for each in some] for some in (of_noise, of_gratings, about_a_mean, of_rows)]
    theory = [[0.0, shared_line_theory(delayed, cycle)] for _, cycle in gratings]
    apart = [_correlations(each) for rows in of_rows for each in rows]
    off = np.abs(np.subtract(kinds[1], theory)).max()
    return np.array([_sizes(kind) for kind in kinds]), _sizes(apart), float(off)


def _sizes(correlations: list[np.ndarray]) -> np.ndarray:
    return np.abs(correlations).max(axis=0)


def _outputs(movie: np.ndarray, delayed: Step, skip: int) -> np.ndarray:
    """Return one three-pixel detector's, the HRDs' on its left and right, the shared line's; (..., n_frames, 4)."""
    three, hrd, shared = (respond(d, movie[..., :4])[..., skip:, :] for d in _trio(delayed))
    return np.concatenate([three[..., :1], hrd[..., :2], shared[..., :1]], axis=-1)


def _trio(delayed: Step) -> tuple[Detector, Detector, Detector]:
    """Return the three-pixel detector, the HRD and the shared line of the same filters."""
    return three_pixel(delayed), hassenstein_reichardt(delayed), shared_non_delay((delayed,), ())


def _correlations(outputs: np.ndarray) -> np.ndarray:
    """Correlate the three-pixel detector with the HRD of the better side, and the shared line; shape (2,)."""
    left, right, shared = (correlation(outputs[..., 0], outputs[..., k]) for k in (1, 2, 3))
    return np.array([max(left, right, key=abs), shared])


def shared_line_theory(delayed: Step, cycle: int) -> float:
    """Return the correlation of the three-pixel detector and the shared line over a grating, from F, the transfer."""
    F = transfer((delayed,), 1 / (cycle * DT), DT)
    return float(np.cos(np.angle(1 - F) - np.angle(F)))


def _ring_difference(movie: np.ndarray, delayed: Step) -> float:
    """Compare sums over the pixels of a movie, the last beside the first, shape (..., n_frames) each."""
    first, *others = (respond(d, movies.ring(movie, len(d.displacements))).sum(axis=-1) for d in _trio(delayed))
    return movies.relative(np.stack(others) - first, first)


def _drawn(movie: np.ndarray, delayed: Step) -> np.ndarray:
    """Return the last outputs of one of each detector, and the sums of each over the line; (2, 3, n_shown)."""
    outputs = [respond(d, movie)[-N_SHOWN:] for d in _trio(delayed)]
    return np.stack([[each[:, SHOWN[1]] for each in outputs], [each.sum(axis=1) for each in outputs]])


def check_singles(singles: Singles, config: Config) -> Iterator[Claim]:
    """State C20, but for learned detectors."""
    for k, (id, rival) in enumerate((("C20.hrd", "an HRD, on its better side"), ("C20.shared", "a shared line"))):
        by = {
            f"{kind} ({way})": singles.sizes[:, j, i, k]
            for i, kind in enumerate(KINDS)
            for j, way in enumerate(FILTERS)
        }
        title = f"|correlation| over time of one three-pixel detector with {rival}, same filters, largest"
        yield below(id, title, by, 0.9)
        title = f"the same with {rival}, over any single row of a photograph, largest"
        note = "highest in rows in which one edge makes most of the output: one pulse in either detector"
        yield report(f"{id}_row", title, singles.one_row[..., k], worst=np.max, note=note)
    title = "difference of the three detectors' sums over a ring, same filters: largest, relative to the largest sum"
    yield below("C20.sums", title, singles.ring, 1e-12, note="noise, grating, photographs; a delay and a low-pass")
    title = "gratings: deviation of the correlations from 0 (HRD) and theory (shared line), largest"
    forms = f"theory: 0 of a low-pass, -sin(omega tau / 2) of a delay; up to {max(config.frequencies):g} of the best"
    yield below("C20.theory", title, singles.theory, 1e-6, seeds=0, note=f"{forms} temporal frequency")
    title = "correlation with a shared line, grating at twice the best frequency of a delay"
    note = "theory -1; the size passes 0.9 at 1.43 times the best frequency"
    yield report("C20.beyond", title, singles.beyond, worst=np.min, seeds=0, note=note)
