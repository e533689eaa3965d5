"""One detector of each kind at the same place (Section 3.2; C20)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.equivalence import movies
from flymotion.claims.equivalence.movies import DT, FILTERS, SETTLED, SPEED, START, WAVELENGTH, correlation, respond
from flymotion.claims.passing import moving, noise, photographed_rows
from flymotion.claims.rows import Claim, below, report
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import Detector, hassenstein_reichardt, shared_non_delay, three_pixel
from flymotion.detectors.temporal import Delay, HighPass, LowPass, Step, transfer

if TYPE_CHECKING:
    from flymotion.claims.equivalence import Config

__all__ = ["KINDS", "RMS", "Singles", "check_singles", "compare_singles", "drawn_scenes", "shared_line_theory", "trio"]

KINDS = ("noise", "photographs", "gratings")
"""Scenes: L1's noise; rows of photographs, P; gratings. Contrasts, and about a mean luminances of mean 1."""

RIVALS = {
    "hrd": "an HRD, on its better side",
    "shared": "a shared line",
    "shared_published": "a shared line as published, of 20 ms",
    "shared_high_pass": "a shared line whose fast arm is high-passed",
}
"""What one three-pixel detector is compared with, of the same filters but for the published line."""

ALIKE = {
    "slower": "an HRD with one of twice the time constant",
    "hrd_over": "an HRD with the same HRD one pixel over",
    "over": "a three-pixel detector with the same detector one pixel over",
}
"""Pairs that nobody would call different models: suffixes of rows, and what titles call them."""

RMS = 0.3
"""Of noise about a mean luminance of 1."""

SHOWN, N_SHOWN = (60, 20), 150
"""Pixels of the line, and the place of the detectors, of the figure; and its frames."""


class Singles(NamedTuple):
    """Correlation over time of one three-pixel detector with each of the others."""

    sizes: np.ndarray
    """Largest |correlation| over all speeds, or gratings, with ``RIVALS``; (n_filters, 2 means, n_kinds, n_rivals)."""
    nulls: np.ndarray
    """The same of ``ALIKE``, shape (n_filters, 2 means, n_kinds, n_pairs)."""
    one_row: np.ndarray
    """Largest with HRD and shared line in any single row of a photograph, zero mean, shape (n_filters, 2)."""
    theory: np.ndarray
    """Largest deviation from the closed forms of gratings, shape (n_filters,)."""
    ring: np.ndarray
    """Largest difference of the three sums over a ring, relative to the largest sum, all scenes."""
    outputs: np.ndarray
    """To noise and to a grating: of one of each detector, and summed over the line, shape (2, 2, 3, n_shown)."""


def drawn_scenes(config: Config, n: int, rng: np.random.Generator) -> list[tuple[np.ndarray, float]]:
    """Draw profiles of noise and of rows of photographs, zero mean, each with the scale it has about a mean of 1."""
    seen = noise(WORLDS["L1"], n, config.n_frames, max(config.speeds), rng)
    return [(seen, RMS), (photographed_rows(config.n_rows, rng) - 1, 1.0)]


def compare_singles(config: Config, seed: int) -> Singles:
    """Show noise, gratings and rows of photographs to all, with each filter."""
    rng = np.random.default_rng([seed, 20])
    n, (delay, best) = SHOWN[0], FILTERS["delay"]
    scenes = drawn_scenes(config, n, rng)
    found = [_compare(scenes, *each, config) for each in FILTERS.values()]
    sizes, nulls, one_row, theory = (np.array(part) for part in zip(*found, strict=True))
    (seen, _), (drawn, _) = scenes
    shown = [moving(seen, n, config.n_frames, SPEED), movies.grating(WAVELENGTH, movies.period(best, 0.5), n)]
    rows = moving(drawn, n, 150, SPEED)
    summed = [shown[0][:400], shown[1], rows, 1 + rows]
    ring = max(_ring_difference(movie, step) for movie in summed for step, _ in FILTERS.values())
    return Singles(sizes, nulls, one_row, theory, np.array(ring), np.stack([_drawn(movie, delay) for movie in shown]))


def _compare(
    scenes: Sequence[tuple[np.ndarray, float]], delayed: Step, best: float, config: Config
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Compare over each kind of scene, the largest of all speeds or gratings; row by row; and with theory."""
    cycles = [movies.period(best, f) for f in config.frequencies]
    sizes, outputs = [], []
    for mean in (0.0, 1.0):
        by_kind = [
            [_outputs(_about(mean, scale, moving(profile, 5, n_frames, v)), delayed, START) for v in config.speeds]
            for (profile, scale), n_frames in zip(scenes, (config.n_frames, config.n_row_frames), strict=True)
        ]
        gratings = (np.stack([movies.grating(w, cycle, 5, mean) for w in config.wavelengths]) for cycle in cycles)
        by_kind.append([each for movie in gratings for each in _outputs(movie, delayed, SETTLED)])
        outputs.append(by_kind)
        sizes.append([_largest([_correlations(each) for each in kind]) for kind in by_kind])
    of_gratings = [_correlations(each)[:2] for each in outputs[0][KINDS.index("gratings")]]
    theory = [
        [0.0, shared_line_theory(delayed, cycle)] for cycle in np.repeat(cycles, len(config.wavelengths)).tolist()
    ]
    apart = [_correlations(row)[:2] for rows in outputs[0][KINDS.index("photographs")] for row in rows]
    off = np.abs(np.subtract(of_gratings, theory)).max()
    found = np.array(sizes)
    return found[..., : len(RIVALS)], found[..., len(RIVALS) :], _largest(apart), float(off)


def _about(mean: float, scale: float, contrasts: np.ndarray) -> np.ndarray:
    return mean + scale * contrasts if mean else contrasts


def _largest(correlations: list[np.ndarray]) -> np.ndarray:
    return np.abs(correlations).max(axis=0)


def _outputs(movie: np.ndarray, delayed: Step, skip: int) -> np.ndarray:
    """Return what ``_correlations`` takes, of a movie of 5 pixels, shape (..., n_frames, 8)."""
    three, hrd, shared = trio(delayed)
    assert isinstance(delayed, (Delay, LowPass))
    slower, published = hassenstein_reichardt(type(delayed)(2 * delayed.tau)), shared_non_delay()
    high_passed = shared_non_delay((delayed,), (HighPass(delayed.tau),))
    read = (
        (three, (1, 2)),
        (hrd, (1, 2)),
        (slower, (2,)),
        *((line, (1,)) for line in (shared, published, high_passed)),
    )
    return np.concatenate([respond(d, movie)[..., skip:, list(places)] for d, places in read], axis=-1)


def trio(delayed: Step) -> tuple[Detector, Detector, Detector]:
    """Return the three-pixel detector, the HRD and the shared line of the same filters."""
    return three_pixel(delayed), hassenstein_reichardt(delayed), shared_non_delay((delayed,), ())


def _correlations(outputs: np.ndarray) -> np.ndarray:
    """Correlate the middle three-pixel detector with each of ``RIVALS``, then ``ALIKE``; shape (7,)."""
    three, three_over, left, right, slower, *lines = np.moveaxis(outputs, -1, 0)
    better = max((correlation(three, hrd) for hrd in (left, right)), key=abs)
    nulls = [correlation(right, slower), correlation(left, right), correlation(three, three_over)]
    return np.array([better, *(correlation(three, line) for line in lines), *nulls])


def shared_line_theory(delayed: Step, cycle: int) -> float:
    """Return the correlation of the three-pixel detector and the shared line over a grating, from F, the transfer."""
    F = transfer((delayed,), 1 / (cycle * DT), DT)
    return float(np.cos(np.angle(1 - F) - np.angle(F)))


def _ring_difference(movie: np.ndarray, delayed: Step) -> float:
    """Compare sums over the pixels of a movie, the last beside the first, shape (..., n_frames) each."""
    first, *others = (respond(d, movies.ring(movie, len(d.displacements))).sum(axis=-1) for d in trio(delayed))
    return movies.relative(np.stack(others) - first, first)


def _drawn(movie: np.ndarray, delayed: Step) -> np.ndarray:
    """Return the last outputs of one of each detector, and the sums of each over the line; (2, 3, n_shown)."""
    outputs = [respond(d, movie)[-N_SHOWN:] for d in trio(delayed)]
    return np.stack([[each[:, SHOWN[1]] for each in outputs], [each.sum(axis=1) for each in outputs]])


def check_singles(singles: Singles, config: Config) -> Iterator[Claim]:
    """State C20, but for learned detectors and the stimulus that tells most."""
    spans = (
        f"speeds {', '.join(f'{v:g}' for v in config.speeds)} px a frame, gratings to {max(config.frequencies):g} of "
    )
    note = f"{spans}the best frequency"
    for k, (key, rival) in enumerate(RIVALS.items()):
        title = f"|correlation| over time of one three-pixel detector with {rival}, largest"
        at_zero, about = (f"{title}, {mean}" for mean in ("zero mean", "about a mean luminance"))
        by = _by_kind(singles.sizes[:, :, 0, :, k])
        if key == "hrd":
            yield from beside(below("C20.hrd", at_zero, by, 0.75, note=note), **_nulls(singles.nulls[:, :, 0]))
        else:
            yield _report(f"C20.{key}", at_zero, by, note)
        yield _report(f"C20.{key}_mean", about, _by_kind(singles.sizes[:, :, 1, :, k]), note)
        if key in ("hrd", "shared"):
            title = f"{title}, over any single row of a photograph, zero mean"
            told = "highest in rows in which one edge makes most of the output: one pulse in either detector"
            yield report(f"C20.{key}_row", title, singles.one_row[..., k], worst=np.max, note=told)
    title = "difference of the three detectors' sums over a ring, same filters: largest, relative to the largest sum"
    yield below("C20.sums", title, singles.ring, 1e-12, note="noise, grating, photographs; a delay and a low-pass")
    title = "gratings: deviation of the correlations from 0 (HRD) and theory (shared line), largest"
    forms = "theory: 0 of a low-pass, -sin(omega tau / 2) of a delay, which is -1 at twice the best frequency"
    yield below("C20.theory", title, singles.theory, 1e-6, seeds=0, note=forms)


def _nulls(sizes: np.ndarray) -> dict[str, Null]:
    """Name sizes of ``ALIKE``, shape (n_seeds, n_filters, n_kinds, n_pairs)."""
    return {f"null_{key}": Null(pair, _by_kind(sizes[..., j])) for j, (key, pair) in enumerate(ALIKE.items())}


def _report(id: str, title: str, by: dict[str, np.ndarray], note: str) -> Claim:
    return report(id, title, by, worst=np.max, note=note)


def _by_kind(sizes: np.ndarray) -> dict[str, np.ndarray]:
    """Name sizes, shape (n_seeds, n_filters, n_kinds)."""
    return {f"{kind} ({way})": sizes[:, j, i] for i, kind in enumerate(KINDS) for j, way in enumerate(FILTERS)}
