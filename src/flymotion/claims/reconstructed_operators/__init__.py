r"""What the reconstruction approach learns, built as well as its authors would (Sections 1, 2.1, 2.5, D.1; C25).

:class:`flymotion.relations.OperatorReconstruction` learns from the same whitened pairs as NSM. Signed magnitudes name
a way by an operator and a sign, so that half as many operators as ways do; nonnegative ones, as NSM's outputs, by an
operator. Without a penalty, operators that point apart share what each would explain, by magnitudes as large as the
operators are alike, so that nonnegative ones are seen with a ridge, too. Sparse ones are read without what sparsity
takes off: it leaves many pairs without an output.

Magnitudes are told on new pairs, in L1 and L2 by 5 pixels, in G by 5 x 5; ``own`` is data as of Rao and Ruderman's own
paper: random images moved by fractions of a pixel by Fourier interpolation, around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flymotion.claims.beside import Null, beside, nulls_by
from flymotion.claims.nulls import NULLS
from flymotion.claims.reconstructed_operators.operators_found import (
    GRIDS,
    LINES,
    VARIANTS,
    Config,
    One,
    Several,
    learn_operators_of,
)
from flymotion.claims.reconstructed_operators.own_data_and_rule import learn_shifted_images, see_what_changes
from flymotion.claims.rows import Claim, above, report, within
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.ways import LIKE
from flymotion.generators import Generators
from flymotion.plots.filter_sheets import filter_sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "check", "figures", "work"]

CLAIMS = {"C25": "the reconstruction approach learns the same operator"}

CALLED = NULLS | {"start": "the start of NSM alone, before learning"}

QUICK = {"n_seeds": 1, "n_starts": 2}


def work(config: Config) -> Work:
    """Learn in each world."""
    seeds = config.n_seeds
    return {
        **{world: each_seed(learn_operators_of, seeds, config, world) for world in (*GRIDS, *LINES)},
        "own": each_seed(learn_shifted_images, seeds),
        "locality": each_seed(see_what_changes, seeds, config),
    }


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C25."""
    ones = {world: found[world]["one"] for world in ("L1", "L2", "rotation")}
    yield from _operators(ones, config)
    yield from _tellings(ones)
    for world, n_ways in (LINES | GRIDS).items():
        yield from _ways(world, n_ways, found[world], config)
    yield from _own_data(found["own"])
    yield from _what_synapses_need(found["locality"])


def _operators(ones: dict[str, One], config: Config) -> Iterator[Claim]:
    for world, one in ones.items():
        end = "" if world == "L1" else f"_{world}"
        title = f"|cosine| of the operator that reconstructs the change best with NSM's filter, {world}"
        how = f"K = 1, signed, best of {config.n_init} starts; whitened; with the population's generator"
        note = f"{how} {one.generator.min():.3f}"
        like = {name: each for name, each in one.cosines.items() if name != "operator"}
        row = report(f"C25.cos{end}", title, one.cosines["operator"], worst=np.min, note=note)
        if world == "L1":
            row = above(row.id, title, one.cosines["operator"], 0.95, note=note)
        yield from beside(row, **_nulls(like, CALLED))
        title = f"share of starts whose operator is another, |cosine| below {LIKE}, {world}"
        yield report(f"C25.elsewhere{end}", title, one.elsewhere, worst=np.max)


def _tellings(ones: dict[str, One]) -> Iterator[Claim]:
    nulls = {name: words for name, words in CALLED.items() if name != "population"}
    for world, one in ones.items():
        for id, measured, title in (
            ("theta", one.correlation, "|correlation| of magnitudes with the true step of new pairs"),
            ("told", one.told, "share of new pairs whose direction the sign of magnitudes tells"),
        ):
            row = report(f"C25.{id}_{world}", f"{title}, K = 1, {world}", measured["operator"], worst=np.min)
            filters = {
                "nsm": "NSM's filters, dx' W x",
                "nsm_divided": "the same over |W x|^2, as magnitudes are",
            } | nulls
            yield from beside(row, **_nulls(measured, filters))


def _nulls(found: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Null]:
    """Return nulls, of which the least counts as of the row; of random filters, which are to be lower, the largest."""
    nulls = nulls_by(lambda each: each, found, np.min, names)
    return nulls | {"random": nulls["random"]._replace(worst=np.max)}


def _ways(world: str, n_ways: int, found: Found, config: Config) -> Iterator[Claim]:
    for name, (words, halved, _) in VARIANTS.items():
        several: Several = found[name]
        ended = f"iterations ended in {np.count_nonzero(several.settled)} of {config.n_seeds} seeds"
        n_operators = n_ways // 2 if halved else n_ways
        note = f"{n_ways} ways, {n_operators} operators, best of {config.n_starts} starts; {ended}"
        title = f"ways that an operator is like, fewest of a seed, {words}, {world}"
        like = f"{note}; least cosine of a way's operator, of either sign where signed, {several.likeness.min():.3f}"
        row = report(f"C25.ways_{world}_{name}", title, several.directions, worst=np.min, unit="ways", note=like)
        if name == "half":
            like = f"{like}; more than one an operator cannot be: as many signed are told beside it"
            row = within(row.id, title, several.directions, n_operators, n_operators, unit="ways", note=like)
        yield row
        title = f"share of new pairs whose way is named, {words}, {world}"
        row = report(f"C25.named_{world}_{name}", title, several.named, worst=np.min, note=note)
        yield from beside(row, nsm=Null("NSM's outputs", found["named"], np.min)) if name == "half" else [row]


def _own_data(own: Found) -> Iterator[Claim]:
    for end, what in (
        ("", "|cosine| of the operator with the analytic derivative"),
        ("_theta", "|correlation| of magnitudes with the shifts of new pairs"),
    ):
        for name, words in (("closed", "closed forms"), ("rule", "the online rule")):
            title = f"{what}, {words}, random images of 20 pixels moved by Fourier interpolation"
            row = above(f"C25.own_{name}{end}", title, own[f"{name}{end}"], 0.95)
            yield from beside(row, random=Null(NULLS["random"], own[f"random{end}"], np.max))


def _what_synapses_need(locality: Found) -> Iterator[Claim]:
    given = "magnitude of the own unit as it is; median pair of L1"
    for id, title in (
        ("units", "change of a unit's update where another unit's magnitude is a tenth larger, K = 2"),
        ("synapses", "change of synapses' updates where the unit's other synapses are a tenth stronger, K = 1"),
    ):
        row = report(f"C25.{id}", f"relative {title}", locality[id], worst=np.min, note=given)
        yield from beside(row, nsm=Null("the rule of SM and NSM, Eq. 16", locality[f"{id}_nsm"], np.max))
    title = "spread of a lateral weight A_1 x . A_2 x over pairs, relative to its root mean square"
    note = "the outputs' quadratic term asks for another inhibition in every pair; SM's M is the same in all"
    yield report("C25.lateral", title, locality["lateral"], worst=np.min, note=note)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the operators that nonnegative magnitudes bring, of the first seed, in L1 and G."""
    drawn = {}
    for world in ("L1", *GRIDS):
        operators = found[world]["nonnegative_ridge"].operators[0]
        shape = (config.n,) if world == "L1" else (5, 5)
        names = [f"operator {k}" for k in range(1, len(operators) + 1)]
        title = f"{world}: operators of nonnegative magnitudes"
        drawn[f"reconstructed_{world}"] = filter_sheet(Generators(operators, shape), names, suptitle=title)
    return drawn
