"""Learned filters as sums of HRDs, and one learned detector beside an HRD (Supplement E; C16 and C20)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.equivalence import movies
from flymotion.claims.equivalence.movies import (
    FILTERS,
    SETTLED,
    SPEED,
    START,
    WAVELENGTH,
    correlation,
    delayed,
    respond,
)
from flymotion.claims.equivalence.singles import drawn_scenes, trio
from flymotion.claims.lessons import of_norm_1
from flymotion.claims.nulls import NULLS
from flymotion.claims.opponents import Opponents, opponents
from flymotion.claims.passing import moving
from flymotion.claims.rows import Claim, below, report
from flymotion.claims.worlds import WORLDS
from flymotion.detectors import hassenstein_reichardt, learned
from flymotion.detectors.temporal import Step
from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.similarity.features import FEATURES, outer_products

if TYPE_CHECKING:
    from flymotion.claims.equivalence import Config

__all__ = ["Learned", "check_learned", "compare_learned", "toeplitz_antisymmetric"]

KEYS = ("learned", *NULLS)
"""What was learned, and its nulls."""

COORDINATES = ("pixels", "whitened frames")

READ = ("one row", "one patch")


class Learned(NamedTuple):
    """The opponent filter that NSM learns in a world, and its nulls, as ``KEYS``; in both ``COORDINATES``."""

    energies: np.ndarray
    """Of the filter's energy: Toeplitz-antisymmetric part, rest of the antisymmetric one, symmetric part; (2, 3)."""
    identity: np.ndarray
    """Largest relative error of the Toeplitz-antisymmetric part as HRDs of every base, on a patch and on a ring."""
    left_out: np.ndarray
    """Share of the output's mean square that this part leaves out: one patch, pairs of the world; shape (2, n_keys)."""
    left_out_of_sum: np.ndarray
    """The same of the sum over a ring, shape (2, n_keys)."""
    singles: np.ndarray
    """Largest |correlation| of one row, one patch, at zero mean and about one, with HRD and shared line; all scenes
    and filters, in pixels; shape (n_keys, 2, 2, 2)."""


def compare_learned(config: Config, seed: int) -> dict[str, Learned]:
    """Learn a filter in each world, take it apart, and show it noise, gratings and photographs."""
    n, step = config.n, FILTERS["delay"][0]
    rng = np.random.default_rng([seed, 21])
    scenes = drawn_scenes(config, 30, rng)
    seen = moving(scenes[0][0], 30, 300, SPEED)
    found = {name: opponents(world, n, config.n_pairs, [seed, 16]) for name, world in WORLDS.items()}
    both = {
        name: [np.stack([of_norm_1(filters[key]) for key in KEYS]) for filters in (one.in_pixels(), one.filters)]
        for name, one in found.items()
    }
    singles = _beside_rivals(config, {name: in_pixels for name, (in_pixels, _) in both.items()}, scenes)
    return {
        name: Learned(
            np.array([_energies(filters[0]) for filters in both[name]]),
            np.array(max(_as_hrds(filters[0], seen, step) for filters in both[name])),
            _left_out(one, both[name], WORLDS[name].feature),
            np.array([_left_out_of_sums(filters, seen, step, WORLDS[name].feature) for filters in both[name]]),
            singles[name],
        )
        for name, one in found.items()
    }


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


def _left_out(found: Opponents, both: list[np.ndarray], feature: str) -> np.ndarray:
    """Return the share of outputs to pairs of the world that Toeplitz-antisymmetric parts leave out, (2, n_keys)."""
    frames = [found.pairs, FramePairs(found.pairs.before @ found.whitening, found.pairs.after @ found.whitening)]
    shares = []
    for filters, pairs in zip(both, frames, strict=True):
        chi = outer_products(pairs, feature)
        whole, rest = (chi.project(each) for each in (filters, filters - _parts(filters)))
        shares.append((rest**2).mean(axis=0) / (whole**2).mean(axis=0))
    return np.array(shares)


def _parts(filters: np.ndarray) -> np.ndarray:
    return np.stack([toeplitz_antisymmetric(A)[0] for A in filters])


def _patches(filters: np.ndarray, movie: np.ndarray, step: Step, feature: str = "change") -> np.ndarray:
    """Return outputs of operators wherever their patch is on the line, shape (..., n_frames, n_places, n_filters)."""
    return respond(learned(Generators(filters, filters.shape[1:2]), step, feature=feature), movie)


def _left_out_of_sums(filters: np.ndarray, movie: np.ndarray, step: Step, feature: str) -> np.ndarray:
    """Return the share of the sums over a ring that Toeplitz-antisymmetric parts leave out, shape (n_keys,)."""
    movie = movies.ring(movie, filters.shape[1])
    whole, parts = np.split(
        _patches(np.concatenate([filters, _parts(filters)]), movie, step, feature).sum(axis=1), 2, 1
    )
    return ((whole - parts)[START:] ** 2).mean(axis=0) / (whole[START:] ** 2).mean(axis=0)


def _bases(movie: np.ndarray, step: Step, n: int) -> np.ndarray:
    """Return HRDs of base length 1 to n - 1 at every pixel of a ring, shape (n - 1, n_pixels, n_frames)."""
    both = np.stack([np.stack([movie, np.roll(movie, -k, axis=1)], axis=-1).swapaxes(0, 1) for k in range(1, n)])
    return respond(hassenstein_reichardt(step), both)[..., 0]


def _as_hrds(A: np.ndarray, movie: np.ndarray, step: Step) -> float:
    """Return the error of the Toeplitz-antisymmetric part as HRDs of every base, on one patch and on a ring.

    Both features are the same for an antisymmetric operator.
    """
    n = len(A)
    T, weights = toeplitz_antisymmetric(A)
    hrds, patch = _bases(movie, step, n), _patches(T[None], movie[:, :n], step)[:, 0, 0]
    whole = _patches(T[None], movies.ring(movie, n), step)[..., 0]
    within = sum(c * hrd[: n - k].sum(axis=0) for k, (c, hrd) in enumerate(zip(weights, hrds, strict=True), 1))
    links = np.arange(n - 1, 0, -1)  # of each length in a patch: in as many patches of a ring is each of its own
    around = whole.sum(axis=1) - links * weights @ hrds.sum(axis=1)
    return max(movies.relative(patch - within, patch), movies.relative(around, whole))


# -- one learned detector --------------------------------------------------------------------------------------------


def _beside_rivals(
    config: Config, filters: Mapping[str, np.ndarray], scenes: list[tuple[np.ndarray, float]]
) -> dict[str, np.ndarray]:
    """Return the largest |correlation| over scenes and filters, by world; (n_keys, 2 readings, 2 means, 2 rivals)."""
    n = config.n
    found: dict[str, list[np.ndarray]] = {name: [] for name in filters}
    for mean in (0.0, 1.0):
        still = [mean + (scale if mean else 1.0) * moving(each, n, config.n_learned, SPEED) for each, scale in scenes]
        for step, best in FILTERS.values():
            cycles = [movies.period(best, f) for f in config.frequencies]
            shown = [(movie, START) for movie in still]
            shown += [(movies.grating(WAVELENGTH, cycle, n, mean), SETTLED) for cycle in cycles]
            sizes = [_beside(filters, movie, step, skip) for movie, skip in shown]
            for name in filters:
                found[name].append(np.max([of_movie[name] for of_movie in sizes], axis=0))
    shape = (2, len(FILTERS), len(KEYS), len(READ), 2)
    return {name: np.reshape(each, shape).max(axis=1).transpose(1, 2, 0, 3) for name, each in found.items()}


def _beside(filters: Mapping[str, np.ndarray], movie: np.ndarray, step: Step, skip: int) -> dict[str, np.ndarray]:
    """Return |correlations| with the HRD on the better side and the shared line, (n_keys, 2 readings, 2 rivals)."""
    n = movie.shape[-1]
    f, g = delayed(movie, step)[..., skip:, :], movie[..., skip:, :]
    _, hrd, shared = (respond(d, movie[..., n // 2 - 1 : n // 2 + 2])[..., skip:, :] for d in trio(step))
    found = {}
    for name, of_world in filters.items():
        u, v = FEATURES[WORLDS[name].feature](f, g)
        weighted = v @ of_world.transpose(2, 0, 1).reshape(n, -1)
        by_row = weighted.reshape(*v.shape[:-1], len(of_world), n) * u[..., None, :]
        outputs = by_row[..., n // 2], by_row.sum(axis=-1)
        found[name] = np.array([[_sizes(each[..., k], hrd, shared) for each in outputs] for k in range(len(of_world))])
    return found


def _sizes(one: np.ndarray, hrd: np.ndarray, shared: np.ndarray) -> tuple[float, float]:
    better = max(abs(correlation(one, hrd[..., k])) for k in (0, 1))
    return better, abs(correlation(one, shared[..., 0]))


# -- rows ------------------------------------------------------------------------------------------------------------


def check_learned(found: Mapping[str, Learned], config: Config) -> Iterator[Claim]:
    """State C16 and C20 of learned filters, and report their nulls."""
    title = "largest relative error of HRDs of every base length as the learned filter's Toeplitz-antisymmetric part"
    note = f"one patch, and the sum over a ring; n = {config.n}, pixels and whitened frames; algebra, of any filter"
    yield below("C16.learned", title, {world: one.identity for world, one in found.items()}, 1e-12, note=note)
    what = "share of the learned filter's output that its HRDs of every base length leave out"
    title, parts = (
        f"{what}, one patch",
        "{}: Toeplitz-antisymmetric {:.3f}, rest of the antisymmetric {:.3f}, symmetric {:.3f}",
    )
    energies = [parts.format(world, *one.energies.mean(axis=0)[0]) for world, one in found.items()]
    note = f"mean square over pairs of the world; energy in pixels {'; '.join(energies)}; n = {config.n}"
    yield from _residuals("C16.residual", title, {world: one.left_out for world, one in found.items()}, note)
    title, note = f"{what}, sum over a ring", f"mean square over noise of L1, a delay; n = {config.n}"
    yield from _residuals("C16.residual_sum", title, {world: one.left_out_of_sum for world, one in found.items()}, note)
    for world, one in found.items():
        yield from _check_singles(world, one.singles, config)


def _residuals(id: str, title: str, shares: Mapping[str, np.ndarray], note: str) -> Iterator[Claim]:
    """Report shares, (n_seeds, 2 coordinates, n_keys) by world."""
    learned, *nulls = (
        {f"{world}, {where}": each[:, j, k] for world, each in shares.items() for j, where in enumerate(COORDINATES)}
        for k in range(len(KEYS))
    )
    row = report(id, title, learned, worst=np.max, note=note)
    yield from beside(row, **_nulls(nulls))


def _nulls(values: Sequence[Mapping[str, np.ndarray]]) -> dict[str, Null]:
    """Name values of nulls, in the order of ``NULLS``; of fewer of the first of them."""
    return {key: Null(words, of) for (key, words), of in zip(NULLS.items(), values, strict=False)}


def _check_singles(world: str, sizes: np.ndarray, config: Config) -> Iterator[Claim]:
    """State C20 of sizes, shape (n_seeds, n_keys, 2 readings, 2 means, 2 rivals)."""
    title = f"|correlation| over time of one detector learned in {world}, in pixels, with"
    scenes = (
        f"noise, photographs, gratings to {max(config.frequencies):g} of the best frequency; a delay and a low-pass"
    )
    note = f"{scenes}; a nearly antisymmetric patch is all but flat on gratings at zero mean"
    for j, (rival, words) in enumerate((("", "an HRD, on its better side"), ("_shared", "a shared line"))):
        for i, (mean, about) in enumerate((("", "zero mean"), ("_mean", "about a mean luminance"))):
            id, what = f"C20.learned_{world}{rival}{mean}", f"{title} {words}, {about}, largest"
            own, *nulls = ({read: sizes[:, k, r, i, j] for r, read in enumerate(READ)} for k in range(len(KEYS)))
            if rival or mean:
                yield from beside(report(id, what, own, worst=np.max, note=note), **_nulls(nulls[:1]))
            else:
                yield from beside(below(id, what, own, 0.5, note=note), **_nulls(nulls))
