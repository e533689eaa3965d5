"""Figure 2: the filters that SM, NSM, PCA and K-means learn from one-dimensional translations (C1, C2, C3, C7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.four_learners import (
    PASSES,
    Both,
    InFull,
    Sample,
    Signed,
    learn_both,
    learn_nonnegative,
    learn_signed,
    tell_best,
)
from flymotion.claims.known_operators import best_known, expansions, known_operators, on_whitened
from flymotion.claims.lessons import RATE, of_norm_1
from flymotion.claims.nulls import NULLS
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.same_structure import antisymmetry, first_components, opposites, seeds
from flymotion.claims.worlds import WORLDS
from flymotion.generators import Generators, cosine, derivative_operator
from flymotion.plots.filter_sheets import draw_filters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {
    "C1": "SM learns PCA's components; the first is a derivative",
    "C2": "NSM's two units are opposite motion detectors",
    "C3": "the filters are the same at every pixel",
    "C7": "SM's outputs change sign when time is reversed",
}

N_RANDOM = 5_000
"""Random filters whose likeness to known operators is a null distribution."""

N_EXPANDING = 10
"""Random filters whose accuracy in expanding pairs is computed."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of NSM and K-means in each world (C2).
    n_seeds_signed : int
        Seeds of SM and PCA in each world, and of the best that can be told (C1, C2, C7); no more than ``n_seeds``.
    n_seeds_wide : int
        Seeds of all four at ``n_wide`` pixels in L1 (C3); no more than ``n_seeds``.
    n, n_wide : int
        Pixels; of the eye of C3.
    n_pairs, n_test, n_kmeans : int
        Pairs to learn from, and new ones to test with; and pairs that K-means is given. With 50,000 to learn from, 1 of
        200 samples misses C2's accuracy, by 0.0005.
    n_pairs_wide : int
        Pairs to learn from at ``n_wide`` pixels.
    n_best : int
        New pairs whose posterior is computed, of each seed.
    """

    n_seeds: int = 100
    n_seeds_signed: int = 20
    n_seeds_wide: int = 10
    n: int = 5
    n_wide: int = 15
    n_pairs: int = 100_000
    n_test: int = 50_000
    n_kmeans: int = 20_000
    n_pairs_wide: int = 50_000
    n_best: int = 10_000


QUICK = {"n_seeds": 2, "n_seeds_signed": 2, "n_seeds_wide": 1}


def work(config: Config) -> Work:
    """Let all algorithms learn in both worlds, and with a wider eye."""
    few, fewer = (min(config.n_seeds, n) for n in (config.n_seeds_signed, config.n_seeds_wide))
    samples = {w: Sample(w, config.n, config.n_pairs, config.n_test, config.n_kmeans) for w in WORLDS}
    wide = Sample("L1", config.n_wide, config.n_pairs_wide, config.n_best, config.n_kmeans)
    tests = {world: sample._replace(n_test=config.n_best) for world, sample in samples.items()}
    return {
        "signed": {world: each_seed(learn_signed, few, sample) for world, sample in samples.items()},
        "wide": each_seed(learn_both, fewer, wide),
        "best": {world: each_seed(tell_best, few, sample) for world, sample in tests.items()},
        "nonnegative": {
            world: each_seed(learn_nonnegative, config.n_seeds, sample) for world, sample in samples.items()
        },
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C1, C2, C3 and C7."""
    in_full: dict[str, InFull] = found["signed"]
    signed = {world: each.filters for world, each in in_full.items()}
    note = f"whitened frames of n = {config.n}, {config.n_pairs} pairs"
    yield from first_components("C1", signed, f"{note}, rate {RATE:g}, {PASSES} passes")
    yield from _check_energy(in_full)
    yield from antisymmetry("C1", signed)
    yield from _check_derivative(signed)
    yield from _check_second(signed)
    yield from _check_expansion(signed)
    yield from opposites("C2", found["nonnegative"], note, _check_best(found["best"]))
    yield from seeds("C2", found["nonnegative"])
    yield from _check_toeplitz(found["wide"], config)
    yield from _check_reversal(in_full["L1"])


# -- the claims -----------------------------------------------------------------------------------------------------


def _check_energy(in_full: Mapping[str, InFull]) -> Iterator[Claim]:
    energy = {whose: {w: each.energy[whose] for w, each in in_full.items()} for whose in in_full["L1"].energy}
    title = "energy captured by SM's two components, relative to PCA's"
    row = above("C1.energy", title, energy["sm"], 0.98, note=f"rate {RATE:g}, {PASSES} passes")
    yield from beside(
        row,
        printed=Null(f"SM with the printed averaging (Eq. 18), {PASSES} passes", energy["printed"], np.min),
        printed_once=Null(
            "SM with the printed averaging (Eq. 18), each pair seen once", energy["printed_once"], np.min
        ),
        start=Null(NULLS["start"], energy["start"], np.min),
        random=Null(NULLS["random"], energy["random"], np.max),
    )


def _check_derivative(signed: Mapping[str, Signed]) -> Iterator[Claim]:
    first = {world: s.theory[0, 0] for world, s in signed.items()}
    theories = {world: WORLDS[world].population(len(A)) for world, A in first.items()}
    central = {world: derivative_operator((len(A),)) for world, A in first.items()}
    carried = {world: on_whitened(central[world], theory.Z) for world, theory in theories.items()}
    title = "|cosine| of the population's first component with the central difference"
    note = "the matrix of Eq. 31 beside the filter of whitened frames, as in Fig. 2"

    def like(operators: Mapping[str, np.ndarray]) -> dict[str, float]:
        return {world: abs(float(cosine(A, operators[world]))) for world, A in first.items()}

    yield from beside(
        above("C1.derivative", title, like(central), 0.75, note=note),
        carried=Null("with that difference of raw frames carried to whitened ones, Z A Z^-1", like(carried), np.min),
        generator=Null(
            "with the generator that the population of whitened frames has",
            like({world: theory.generators().operators[0] for world, theory in theories.items()}),
            np.min,
        ),
        random=Null(NULLS["random"], {w: np.abs(cosine(s.random, central[w])) for w, s in signed.items()}, np.max),
    )


def _check_second(signed: Mapping[str, Signed]) -> Iterator[Claim]:
    for suffix, interior in (("", False), ("_interior", True)):
        seconds, randoms, told = {}, {}, []
        for world, s in signed.items():
            second = s.theory[0, 1]
            Z = WORLDS[world].population(len(second)).Z
            known = {name: on_whitened(A, Z) for name, A in known_operators(len(second), interior=interior).items()}
            best, likeness = best_known(second, known)
            random = np.random.default_rng(0).normal(size=(N_RANDOM, *second.shape))
            seconds[world], randoms[world] = float(best), np.quantile(best_known(random, known)[0], [0.5, 0.95])
            told.append(f"{world}: " + ", ".join(f"{name} {value:.2f}" for name, value in likeness.items()))
        which = "ten known operators" + (" without their border rows" if interior else "")
        title = f"|cosine| of the population's second component with the likest of {which}, Z A Z^-1"
        yield from beside(
            report(f"C1.second{suffix}", title, seconds, worst=np.max, note="; ".join(told)),
            random=Null("95 % quantile of random filters", {w: np.array(q)[1] for w, q in randoms.items()}, np.max),
            random_median=Null("median of random filters", {w: np.array(q)[0] for w, q in randoms.items()}, np.max),
        )


def _check_expansion(signed: Mapping[str, Signed]) -> Iterator[Claim]:
    """Report whether the second component tells expansion about the eye's middle from contraction."""
    found: dict[str, dict[str, Any]] = {"second": {}, "random": {}, "own": {}}
    for world, s in signed.items():
        second = s.theory[0, 1]
        expanding = expansions(WORLDS[world], len(second))
        own = expanding.components(1)[1][0]
        random = np.random.default_rng(0).normal(size=(N_EXPANDING, *second.shape))
        shares = np.array([expanding.direction_accuracy(A) for A in (second, own, *random)])
        shares = np.maximum(shares, 1 - shares)  # whatever the sign
        found["second"][world], found["own"][world], found["random"][world] = shares[0], shares[1], shares[2:]
    title = "accuracy of the population's second component: expansion or contraction of single pairs"
    note = "up to half of the world's largest shift, per pixel from the middle"
    yield from beside(
        report("C1.second_expansion", title, found["second"], worst=np.max, note=note),
        random=Null(f"{N_EXPANDING} random filters", found["random"], np.max),
        own=Null("the first component of expanding pairs", found["own"], np.min),
    )


def _check_best(best: Mapping[str, np.ndarray]) -> Iterator[Claim]:
    """Report the accuracy of theory's filter, and that of who knows the posterior; axes are seeds, who."""
    title = "accuracy of direction on new pairs: {}, mean over seeds"
    by_theory, at_best = ({world: shares[:, k] for world, shares in best.items()} for k in (0, 1))
    names = "the population's first component", "the sign that is likelier, given both frames"
    for suffix, name, values in zip(("population", "bayes"), names, (by_theory, at_best), strict=True):
        yield report(f"C2.accuracy_{suffix}", title.format(name), values, worst=np.mean)


def _check_toeplitz(wide: Both, config: Config) -> Iterator[Claim]:
    signed, nonnegative = wide

    def shares(filters: np.ndarray) -> np.ndarray:
        n = filters.shape[-1]
        return Generators(filters.reshape(-1, n, n), (n,)).toeplitz_share().reshape(len(filters), -1)

    title = "energy of {} explained by one operator at every interior pixel (Toeplitz)"
    note = f"L1, n = {config.n_wide}, whitened frames, {config.n_pairs_wide} pairs"
    random = Null(NULLS["random"], shares(signed.random), np.max)
    for suffix, label, filters, start in (
        ("", "NSM's filters", nonnegative.nsm.filters, nonnegative.nsm_start.filters),
        ("_kmeans", "K-means' centres", nonnegative.kmeans.filters, nonnegative.kmeans_start.filters),
        ("_sm", "SM's first component", signed.sm[:, :1], signed.start[:, :1]),
    ):
        row = above(f"C3.toeplitz{suffix}", title.format(label), shares(filters), 0.95, note=note)
        yield from beside(row, start=Null(NULLS["start"], shares(start), np.min), random=random)
    row = above("C3.toeplitz_pca", title.format("PCA's first component"), shares(signed.pca[:, :1]), 0.95, note=note)
    yield from beside(row, random=random)


def _check_reversal(in_full: InFull) -> Iterator[Claim]:
    title = "correlation of SM's theta(before, after) with -theta(after, before), each unit"
    found = in_full.reversal
    components = found["components"]
    note = "L1, the paper's feature, new pairs; reversal changes theta's size by A . dx dx' only, small in small steps"
    yield from beside(
        above("C7.reversal", title, found["units"], 0.97, note=note),
        first=Null("its first component", components[:, 0], np.min),
        second=Null("its second component", components[:, 1], np.min),
        random=Null(NULLS["random"], found["random"], np.min),
        midpoint=Null("components of the midpoint feature, odd by construction", found["midpoint"], np.min),
    )


# -- Figure 2 -------------------------------------------------------------------------------------------------------


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw Fig. 2b-f: the cartoon, and the filters of all four in each world, of the first seed, beside nulls."""
    return {f"figure2_{world}": _draw(world, found) for world in WORLDS}


def _draw(world: str, found: Found) -> Figure:
    signed, nonnegative = found["signed"][world].filters, found["nonnegative"][world]
    cartoon = of_norm_1(derivative_operator(signed.sm.shape[-1:]))
    sheets = (
        ("(b) cartoon", [cartoon], ("central difference",)),
        ("population", signed.theory[0, :1], ("first component",)),
        ("start alone, NSM", nonnegative.nsm_start.filters[0], ("rightward unit", "leftward unit")),
        ("(c) SM", signed.sm[0], ("first component", "second component")),
        ("(d) NSM", nonnegative.nsm.filters[0], ("rightward unit", "leftward unit")),
        ("(e) PCA", signed.pca[0], ("first component", "second component")),
        ("(f) K-means", nonnegative.kmeans.filters[0], ("rightward centre", "leftward centre")),
    )
    titles = [f"{name}\n{part}" for name, _, parts in sheets for part in parts]
    matrices = np.concatenate([filters for _, filters, _ in sheets])
    title = f"Figure 2b-f, world {world}: filters of whitened frames"
    return draw_filters(matrices, titles, n_columns=4, suptitle=title, label="weight (filters of norm 1)")
