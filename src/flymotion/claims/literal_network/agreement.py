"""The literal network beside the fast form, sample by sample, and the steps that it takes to settle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flymotion.claims.nulls import random_filters
from flymotion.claims.rows import Claim, below, report
from flymotion.claims.worlds import WORLDS
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.literal import RateNetwork
from flymotion.similarity.state import State
from flymotion.world.eyes import Grid
from flymotion.world.motions import Translation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import ExponentialNoise

if TYPE_CHECKING:
    from flymotion.claims.literal_network import Config

__all__ = ["ETA", "STRENGTH", "Compared", "Settling", "check_agreement", "check_settling", "compare", "settle"]

STRENGTH = 100.0
"""That at the start, of chi of unit mean square; the paper does not say."""

ETA = 1e-3
"""The constant rate of Eq. 6."""

KINDS = ("SM", "NSM")

ITERATIONS = 100
"""Whole steps of Eq. 15 after which outputs should stand still."""


def lesson(world: str, n: int, n_pairs: int, seed: int) -> OuterProducts:
    """Return whitened chi of unit mean square, of L1, L2 or translations in the plane."""
    if world in WORLDS:
        return unit_energy(WORLDS[world].lesson(n, n_pairs, [seed, 36]).chi)
    scene = ExponentialNoise(3.0, ndim=2, period=64.0, sharpest=0.8, random_state=[seed, 36])
    pairs = sample_pairs(scene, Grid(5, 5, 0.8), Translation(0.3), n_pairs, random_state=[seed, 36, 1])
    return unit_energy(outer_products(ZCAWhitening(1e-5).fit_transform(pairs)))


def unit_energy(chi: OuterProducts) -> OuterProducts:
    """Scale chi to a mean square of 1."""
    return OuterProducts(chi.u / np.sqrt((chi.norms() ** 2).mean()), chi.v)


# -- equal to the fast form -------------------------------------------------------------------------------------------


class Compared(NamedTuple):
    """How the literal network differs from the fast form, in one world."""

    outputs: np.ndarray
    """Largest difference relative to the largest entry, over both rules, SM and NSM, K = 2 and 4."""
    W: np.ndarray
    M: np.ndarray
    That: np.ndarray
    fading: np.ndarray
    """Least cosine of NSM's filters of Eq. 6 as printed with those that only answered samples change."""


def compare(world: str, config: Config, seed: int) -> Compared:
    """Let both forms learn from the same random filters."""
    chi, rng = lesson(world, config.n, config.n_equal, seed), np.random.default_rng([seed, 36, 2])
    errors = [
        _differences(chi, random_filters(K, chi, rng), nonnegative, eta)
        for K in (2, 4)
        for nonnegative in (False, True)
        for eta in (0.0, ETA)
    ]
    return Compared._make([*np.max(errors, axis=0), _fading(chi, random_filters(2, chi, rng))])


def _differences(chi: OuterProducts, W: np.ndarray, nonnegative: bool, eta: float) -> list[float]:
    """Differences of outputs, W, M and That; at a constant rate over samples that some unit answers."""
    strength = 1 / eta if eta else STRENGTH
    fast = State.of_filters(W, strength, chi)
    expected, _ = fast.advance(chi, forgetting=1 - eta, nonnegative=nonnegative, max_sweeps=1000)
    used = expected.any(axis=1) | (eta == 0)
    literal = RateNetwork(W, strength=1.0 if eta else STRENGTH, rate=eta or None, rectified=nonnegative)
    outputs, _ = literal.learn(chi.u[used], chi.v[used])
    lateral, own = (eta * fast.R, literal.That) if eta else (fast.M, np.diag(fast.R))
    feedforward = eta * fast.S if eta else fast.W.reshape(W.shape)
    found, sought = (outputs, literal.W, literal.M, literal.That), (expected[used], feedforward, lateral, own)
    return [np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, sought, strict=True)]


def _fading(chi: OuterProducts, W: np.ndarray) -> np.ndarray:
    fast, printed, kept = State.of_filters(W, 1 / ETA, chi), RateNetwork(W, rate=ETA), RateNetwork(W, rate=ETA)
    answers, _ = fast.advance(chi, forgetting=1 - ETA, nonnegative=True, max_sweeps=1000)
    answered = chi[answers.any(axis=1)]
    printed.learn(chi.u, chi.v)
    kept.learn(answered.u, answered.v)
    return cosine(printed.W, kept.W).min()


def check_agreement(compared: Mapping[str, Compared], config: Config) -> Iterator[Claim]:
    """State that the literal network is the fast form."""
    parts = Compared._fields[:-1]
    worst = {world: np.max([getattr(c, part) for part in parts], axis=0) for world, c in compared.items()}
    by_part = ", ".join(f"{part} {max(getattr(c, part).max() for c in compared.values()):.1e}" for part in parts)
    note = (
        f"{config.n_equal} pairs, K = 2 and 4, SM and NSM, Eqs. 15-19 and Eqs. 5-6 (there of samples that some unit "
        f"answers); {by_part}; plane: 5 x 5 pixels, translations"
    )
    title = "largest relative difference of the literal network from the fast form, sample by sample"
    yield below("C36.equal", title, worst, 1e-10, note=note)
    title = "least cosine of filters of Eq. 6 as printed with those that no unanswered sample lets fade"
    note = f"NSM, K = 2, eta {ETA:g}, from the same random filters"
    yield report("C36.fading", title, {w: c.fading for w, c in compared.items()}, worst=np.min, note=note)


# -- how soon it settles ----------------------------------------------------------------------------------------------


class Settling(NamedTuple):
    """Networks that have learned in L1 from random filters, SM and NSM, of several numbers of units."""

    steps: np.ndarray
    """Until new pairs' outputs stand still, shape (2, n_K, n_tolerances, n_shown)."""
    early: np.ndarray
    """Least cosine of filters learned from outputs read at the first tolerance with those of settled ones, (2, n_K)."""
    unsettled: np.ndarray
    """Share of new pairs that Eq. 15, iterated in whole steps, has not settled after ``ITERATIONS``, shape (2, n_K)."""
    radius: np.ndarray
    """Largest |eigenvalue| of M, shape (2, n_K): above 1, whole steps can grow."""


def settle(config: Config, seed: int) -> Settling:
    """Learn, and count the steps of new pairs."""
    chi = lesson("L1", config.n, config.n_pairs + config.n_shown, seed)
    new, chi = chi[config.n_pairs :], chi[: config.n_pairs]
    rng, shape = np.random.default_rng([seed, 36, 3]), (len(KINDS), len(config.n_units))
    steps = np.zeros((*shape, len(config.tolerances), len(new)), dtype=int)
    found = Settling(steps, *np.zeros((3, *shape)))
    for kind, k in np.ndindex(shape):
        W = random_filters(config.n_units[k], chi, rng)
        network, early = (
            RateNetwork(W, strength=STRENGTH, rectified=bool(kind), tolerance=t) for t in (1e-6, config.tolerances[0])
        )
        for learning in (network, early):
            learning.learn(chi.u, chi.v)
        found.early[kind, k] = cosine(network.W, early.W).min()
        found.unsettled[kind, k] = _unsettled(network, new, config.tolerances[0])
        found.radius[kind, k] = np.abs(np.linalg.eigvals(network.M)).max()
        for t, network.tolerance in enumerate(config.tolerances):
            found.steps[kind, k, t] = network.respond(new.u, new.v).steps
    return found


def _unsettled(network: RateNetwork, samples: OuterProducts, tolerance: float) -> np.ndarray:
    """Share of samples whose outputs still move after ``theta = [W chi - M theta]`` in whole steps, from rest."""
    drive, before = samples.project(network.W), np.zeros((len(samples), len(network.W)))
    theta, floor = before, 0.0 if network.rectified else -np.inf
    for _ in range(ITERATIONS):
        before, theta = theta, np.maximum(drive - theta @ network.M.T, floor)
    return (np.abs(theta - before).max(axis=1) > tolerance * np.abs(drive).max(axis=1)).mean()


def check_settling(settling: Settling, config: Config) -> Iterator[Claim]:
    """Report steps, and what reading outputs early costs."""
    how = "a step is a K-th of a time constant, from rest; the leak alone takes {:.1f} time constants; L1, new pairs"
    for t, tolerance in enumerate(config.tolerances):
        for suffix, percent in (("", 50), ("_99", 99)):
            steps = np.percentile(settling.steps[:, :, :, t], percent, axis=-1)
            title = f"steps until outputs stand still to {tolerance:.0e} of the drive, {percent}th percentile of pairs"
            longest, most = (steps / config.n_units).max(), settling.steps[:, :, :, t].max()
            told = f"at most {longest:.1f} time constants, no pair more than {most} steps"
            note = f"{told}; {how.format(-np.log(tolerance))}"
            name = f"C36.steps_{round(-np.log10(tolerance))}{suffix}"
            yield report(name, title, _by_kind(steps, config), worst=np.max, unit="steps", note=note)
    title = f"least cosine of filters learned from outputs read at {config.tolerances[0]:g} with those of settled ones"
    yield report("C36.early", title, _by_kind(settling.early, config), worst=np.min, note="L1, Eqs. 15-19")
    title = (
        f"share of new pairs that Eq. 15 as printed, iterated in whole steps, does not settle to 1e-2 in {ITERATIONS}"
    )
    radii = ", ".join(f"{name} {radius.max():.2f}" for name, radius in _by_kind(settling.radius, config).items())
    note = f"largest |eigenvalue| of M: {radii}; steps of a K-th of a time constant settle all pairs; L1"
    yield report("C36.whole_steps", title, _by_kind(settling.unsettled, config), worst=np.max, note=note)


def _by_kind(values: np.ndarray, config: Config) -> dict[str, np.ndarray]:
    """Name values of each seed, kind and number of units, shape (n_seeds, 2, n_K)."""
    names = [f"{kind} K = {K}" for kind in KINDS for K in config.n_units]
    return dict(zip(names, values.reshape(len(values), -1).T, strict=True))
