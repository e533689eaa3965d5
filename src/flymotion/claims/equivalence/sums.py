"""Detectors summed over a field, and learned filters as sums (Supplement E; C16, and learned filters in C20)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.equivalence import movies
from flymotion.claims.equivalence.movies import DT, FILTERS, SPEED, START, WAVELENGTH, correlation, respond
from flymotion.claims.lessons import opposed
from flymotion.claims.rows import Claim, below, report, within
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import hassenstein_reichardt, learned, three_pixel
from flymotion.detectors.temporal import Step, filtered, start
from flymotion.generators import Generators

if TYPE_CHECKING:
    from flymotion.claims.equivalence import Config

__all__ = [
    "Fields",
    "Learned",
    "boundary",
    "boundary_shares",
    "check_fields",
    "check_learned",
    "compare_learned",
    "sum_fields",
    "toeplitz_antisymmetric",
]


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


class Learned(NamedTuple):
    """A filter that NSM learns in L1: half the difference of its two; on whitened frames (0) and in pixels (1)."""

    shares: np.ndarray
    """Of its energy: Toeplitz-antisymmetric part, rest of the antisymmetric one, symmetric part; shape (2, 3)."""
    identity: np.ndarray
    """Largest relative error of the Toeplitz-antisymmetric part as HRDs of every base, on a patch and on a ring."""
    whole: np.ndarray
    """Correlation of the whole filter's sum over a ring with that part's, shape (2,)."""
    singles: np.ndarray
    """|Correlation| with an HRD: one row, one patch, in pixels; noise and photographs, shape (2, 2)."""


# -- fields ------------------------------------------------------------------------------------------------------


def sum_fields(config: Config, seed: int) -> Fields:
    """Sum three-pixel detectors and HRDs over fields."""
    rng = np.random.default_rng([seed, 16])
    n, (delay, best) = max(config.fields) + 3, FILTERS["delay"]
    seen = movies.moving(movies.noise(n, config.n_frames, SPEED, rng), n, config.n_frames, SPEED)
    wave = movies.grating(WAVELENGTH, movies.period(best, 1.0), n)[-2 * movies.period(best, 1.0) :]
    photographs = movies.moving(movies.photographed_rows(2, rng), 60, 200, SPEED)
    shown = [rng.standard_normal((200, 20)), seen[:200, :60], wave[:, :60], photographs]
    corrected, printed = np.max([_errors(movie, step) for movie in shown for step, _ in FILTERS.values()], axis=0)
    mean, power = np.swapaxes([_sums(movie, delay, config.fields) for movie in (seen, wave)], 0, 1)
    return Fields(corrected, printed, mean, power)


def boundary(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return what the three-pixel detectors of a line sum to beyond the HRDs between their centres (Suppl. E).

    f and g are delayed and fast signals, shape (..., n_pixels); centres are all pixels but the outermost.
    """
    return (g[..., 1] - f[..., 1]) * g[..., 0] - (g[..., -2] - f[..., -2]) * g[..., -1]  # Eq. 35, corrected


def _delayed(movie: np.ndarray, step: Step) -> np.ndarray:
    state, _ = start(step, movie[..., 0, :], DT)
    return filtered(step, movie, state, DT)[0]


def _errors(movie: np.ndarray, step: Step) -> tuple[float, float]:
    """Return the errors of Supplement E, corrected and as printed, relative to the largest sum."""
    g, f = movie, _delayed(movie, step)
    three = respond(three_pixel(step), movie).sum(axis=-1)
    rest = three - respond(hassenstein_reichardt(step), movie)[..., 1:-1].sum(axis=-1)
    corrected = boundary(f, g)
    printed = corrected + (f[..., 1] - f[..., 0]) * g[..., 0]  # delays the outermost pixel, not the first centre
    return movies.relative(rest - corrected, three), movies.relative(rest - printed, three)


def _sums(movie: np.ndarray, step: Step, fields: Sequence[int]) -> np.ndarray:
    """Return the mean sum of HRDs, and the mean square of the boundary, of fields about the middle; (2, n_fields)."""
    f, n = _delayed(movie, step), movie.shape[-1]
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


# -- learned filters ---------------------------------------------------------------------------------------------


def compare_learned(config: Config, seed: int) -> Learned:
    """Learn a filter in L1, take it apart, and show it noise and photographs."""
    n, step = config.n, FILTERS["delay"][0]
    whitening, chi = WORLDS["L1"].lesson(n, config.n_pairs, [seed, 16])
    A = opposed(chi).opponent
    filters = [A, whitening.matrix_ @ A @ whitening.matrix_]
    rng = np.random.default_rng([seed, 21])
    seen = movies.moving(movies.noise(30, config.n_frames, SPEED, rng), 30, config.n_frames, SPEED)
    shown = [seen, movies.moving(movies.photographed_rows(config.n_rows, rng), n, config.n_frames, SPEED)]
    row = filters[1] * (np.arange(n) == n // 2)[:, None]
    return Learned(
        np.array([_energies(each) for each in filters]),
        np.array(max(_as_hrds(each, seen[:300], step) for each in filters)),
        np.array([_whole(each, seen, step) for each in filters]),
        np.array([[_beside_hrd(each, movie, step) for movie in shown] for each in (row, filters[1])]),
    )


def toeplitz_antisymmetric(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the part of an operator, shape (n, n), that is antisymmetric and the same at every pixel.

    And its weights onto the pixel 1, 2, ... to the left, shape (n - 1,): those of HRDs of these base lengths.

    Examples
    --------
    >>> from flymotion.generators import derivative_operator
    >>> toeplitz_antisymmetric(derivative_operator((4,)))[1] + 0.0
    array([0.5, 0. , 0. ])
    """
    n, B = len(A), (A - A.T) / 2
    weights = np.array([np.diagonal(B, -k).mean() for k in range(1, n)])
    part = np.zeros((n, n))
    for k, c in enumerate(weights, 1):
        part += c * (np.eye(n, k=-k) - np.eye(n, k=k))
    return part, weights


def _energies(A: np.ndarray) -> np.ndarray:
    T, B = toeplitz_antisymmetric(A)[0], (A - A.T) / 2
    return np.array([(part**2).sum() for part in (T, B - T, A - B)]) / (A**2).sum()


def _patches(A: np.ndarray, movie: np.ndarray, step: Step) -> np.ndarray:
    """Return the output of an operator wherever its patch is on the line, shape (..., n_frames, n_places)."""
    return respond(learned(Generators(A[None], A.shape[:1]), step), movie)[..., 0]


def _bases(movie: np.ndarray, step: Step, n: int) -> np.ndarray:
    """Return HRDs of base length 1 to n - 1 at every pixel of a ring, shape (n - 1, n_pixels, n_frames)."""
    both = np.stack([np.stack([movie, np.roll(movie, -k, axis=1)], axis=-1).swapaxes(0, 1) for k in range(1, n)])
    return respond(hassenstein_reichardt(step), both)[..., 0]


def _as_hrds(A: np.ndarray, movie: np.ndarray, step: Step) -> float:
    """Return the error of the Toeplitz-antisymmetric part as HRDs of every base, on one patch and on a ring."""
    n = len(A)
    T, weights = toeplitz_antisymmetric(A)
    hrds, patch = _bases(movie, step, n), _patches(T, movie[:, :n], step)[:, 0]
    whole = _patches(T, movies.ring(movie, n), step)
    within = sum(c * hrd[: n - k].sum(axis=0) for k, (c, hrd) in enumerate(zip(weights, hrds, strict=True), 1))
    links = np.arange(n - 1, 0, -1)  # of each length in a patch: in as many patches of a ring is each of its own
    around = whole.sum(axis=1) - links * weights @ hrds.sum(axis=1)
    return max(movies.relative(patch - within, patch), movies.relative(around, whole))


def _whole(A: np.ndarray, movie: np.ndarray, step: Step) -> float:
    T, movie = toeplitz_antisymmetric(A)[0], movies.ring(movie, len(A))
    return correlation(*(_patches(each, movie, step).sum(axis=1) for each in (A, T)))


def _beside_hrd(A: np.ndarray, movie: np.ndarray, step: Step) -> float:
    """Return the |correlation| of one patch with the HRD on the better side of its middle."""
    n = len(A)
    one = _patches(A, movie[..., :n], step)[..., START:, 0]
    hrd = respond(hassenstein_reichardt(step), movie[..., n // 2 - 1 : n // 2 + 2])[..., START:, :]
    return max(abs(correlation(one, hrd[..., k])) for k in (0, 1))


def check_learned(learned: Learned, config: Config) -> Iterator[Claim]:
    """State C16 and C20 of learned filters."""
    world = f"L1, n = {config.n}"
    title = "Toeplitz-antisymmetric part of the learned filter - HRDs of every base length: largest error, relative"
    note = f"one patch, and the sum over a ring; {world}, whitened frames and pixels"
    yield below("C16.learned", title, learned.identity, 1e-12, note=note)
    parts = "Toeplitz-antisymmetric {:.3f}, rest of the antisymmetric {:.3f}, symmetric {:.3f}"
    white, pixels = (parts.format(*shares) for shares in learned.shares.mean(axis=0))
    title = "energy of the learned filter in pixels that its Toeplitz-antisymmetric part leaves out"
    note = f"means, in pixels: {pixels}; on whitened frames: {white}; {world}"
    yield report("C16.residual", title, 1 - learned.shares[:, 1, 0], worst=np.max, note=note)
    title = "correlation over time of the learned filter, summed over a ring, with its HRDs, in pixels"
    note = f"whitened frames {learned.whole[:, 0].min():.3f}; noise; {world}"
    yield report("C16.whole", title, learned.whole[:, 1], worst=np.min, note=note)
    title = "|correlation| over time of a learned detector in pixels with one HRD, on its better side, largest"
    by = {what: learned.singles[:, k] for k, what in enumerate(("one row", "one patch"))}
    yield below("C20.learned", title, by, 0.9, note=f"noise and photographs; {world}; a delay")
