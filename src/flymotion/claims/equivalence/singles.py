"""One detector of each kind at the same place (Section 3.2; C20)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flymotion.claims.equivalence.movies import (
    DT,
    FILTERS,
    SETTLED,
    SPEED,
    WAVELENGTH,
    Config,
    correlation,
    grating,
    largest,
    moving,
    noise,
    period,
    relative,
    respond,
    ring,
    rows,
    trio,
)
from flymotion.detectors.temporal import Step, transfer

__all__ = ["Singles", "compare_singles", "shared_line_theory"]

START = 100
"""Frames of noise and photographs left out: six time constants or more."""

SHOWN, N_SHOWN = (60, 20), 150
"""Pixels of the line, and the place of the detectors, of the figure; and its frames."""


class Singles(NamedTuple):
    """Correlation over time of one three-pixel detector with one of the others."""

    correlations: np.ndarray
    """Of largest size over all speeds, or wavelengths and frequencies, shape (n_kinds, n_filters, 2)."""
    one_row: np.ndarray
    """Of largest size in any single row of a photograph, shape (n_filters, 2)."""
    theory: np.ndarray
    """Largest deviation from the closed forms of gratings."""
    beyond: np.ndarray
    """With the shared line, gratings at twice the best frequency of a delay."""
    ring: np.ndarray
    """Largest difference of the three sums over a ring, relative to the largest sum, all scenes."""
    outputs: np.ndarray
    """To noise and to a grating: of one of each detector, and summed over the line, shape (2, 2, 3, n_shown)."""


def compare_singles(config: Config, seed: int) -> Singles:
    """Show noise, gratings and rows of photographs to all three, with each filter."""
    rng = np.random.default_rng([seed, 20])
    n = SHOWN[0]
    seen, drawn = noise(n, config.n_frames, max(config.speeds), rng), rows(config.n_rows, rng)
    moved = [_at_speeds(seen, drawn, step, config) for step, _ in FILTERS.values()]
    waves = [_at_frequencies(step, best, config) for step, best in FILTERS.values()]
    by_filter = [[of_noise, *wave[:2], of_rows] for (of_noise, of_rows, _), wave in zip(moved, waves, strict=True)]
    delay, best = FILTERS["delay"]
    movies = [
        moving(seen, n, config.n_frames, SPEED),
        grating(WAVELENGTH, period(best, 0.5), n),
        moving(drawn, n, 400, SPEED),
    ]
    return Singles(
        np.swapaxes(by_filter, 0, 1),
        np.stack([one_row for *_, one_row in moved]),
        np.array(max(wave[2] for wave in waves)),
        np.array(_compare(grating(WAVELENGTH, period(best, 2.0), 4), delay, SETTLED)[1]),
        np.array(max(_ring_difference(movie, step) for movie in movies for step, _ in FILTERS.values())),
        np.stack([_shown(movie, delay) for movie in movies[:2]]),
    )


def _outputs(movie: np.ndarray, delayed: Step, skip: int) -> np.ndarray:
    """Return one three-pixel detector's, the HRDs' on its left and right, the shared line's; (..., n_frames, 4)."""
    three, hrd, shared = (respond(d, movie[..., :4])[..., skip:, :] for d in trio(delayed))
    return np.concatenate([three[..., :1], hrd[..., :2], shared[..., :1]], axis=-1)


def _correlations(outputs: np.ndarray) -> np.ndarray:
    """Correlate the three-pixel detector with the HRD of the better side, and the shared line; shape (2,)."""
    left, right, shared = (correlation(outputs[..., 0], outputs[..., k]) for k in (1, 2, 3))
    return np.array([max(left, right, key=abs), shared])


def _compare(movie: np.ndarray, delayed: Step, skip: int) -> np.ndarray:
    return _correlations(_outputs(movie, delayed, skip))


def _at_speeds(
    seen: np.ndarray, drawn: np.ndarray, delayed: Step, config: Config
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compare over noise, over all rows of photographs together, and row by row."""
    over_noise, together, apart = [], [], []
    for speed in config.speeds:
        over_noise.append(_compare(moving(seen, 4, config.n_frames, speed), delayed, START))
        outputs = _outputs(moving(drawn, 4, config.n_frames, speed), delayed, START)
        together.append(_correlations(outputs))
        apart += [_correlations(each) for each in outputs]
    return largest(over_noise), largest(together), largest(apart)


def _at_frequencies(delayed: Step, best: float, config: Config) -> tuple[np.ndarray, np.ndarray, float]:
    """Compare over gratings of contrast, and about a mean luminance; also return how far theory is off."""
    about: dict[float, list[np.ndarray]] = {0.0: [], 1.0: []}
    off = 0.0
    for wavelength in config.wavelengths:
        for frequency in config.frequencies:
            cycle = period(best, frequency)
            for mean, found in about.items():
                found.append(_compare(grating(wavelength, cycle, 4, mean), delayed, SETTLED))
            off = max(off, float(np.abs(about[0.0][-1] - [0.0, shared_line_theory(delayed, cycle)]).max()))
    return largest(about[0.0]), largest(about[1.0]), off


def shared_line_theory(delayed: Step, cycle: int) -> float:
    """Return the correlation of the three-pixel detector and the shared line over a grating, from F, the transfer."""
    F = transfer((delayed,), 1 / (cycle * DT), DT)
    return float(np.cos(np.angle(1 - F) - np.angle(F)))


def _ring_difference(movie: np.ndarray, delayed: Step) -> float:
    """Compare sums over the pixels of a movie, the last beside the first, shape (..., n_frames) each."""
    first, *others = (respond(d, ring(movie, len(d.displacements))).sum(axis=-1) for d in trio(delayed))
    return relative(np.stack(others) - first, first)


def _shown(movie: np.ndarray, delayed: Step) -> np.ndarray:
    """Return the last outputs of one of each detector, and the sums of each over the line; (2, 3, n_shown)."""
    outputs = [respond(d, movie)[-N_SHOWN:] for d in trio(delayed)]
    return np.stack([[each[:, SHOWN[1]] for each in outputs], [each.sum(axis=1) for each in outputs]])
