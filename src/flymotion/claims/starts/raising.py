"""How units are raised from a start, pruned where there are too many, and read.

Samples have a mean square of 1. ``That`` starts as though ``ANSWERED`` of them had been answered by filters that know
nothing, so that a start is as easily forgotten in an eye of any size; M starts at 0, or with inhibition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from flymotion.claims.lessons import of_norm_1
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.literal import RateNetwork
from flymotion.similarity.state import State

__all__ = [
    "ANSWERED",
    "LIKE",
    "PRUNING",
    "SCATTER",
    "Read",
    "counted",
    "pruned",
    "raised",
    "raised_literally",
    "read",
    "scaled",
    "wilson",
]

ANSWERED = 2500
"""Pairs: R = 100 I at 5 pixels, for samples of unit mean square."""

SCATTER = 0.3
"""Norm of a dendrite's random weights, relative to its own."""

LIKE = 0.8
"""Cosine with the population's filter from which a direction counts as found."""

TWICE = (0.25, 0.75)
"""Shares of the pairs between which units are pruned, one by one."""


def scaled(chi: OuterProducts) -> OuterProducts:
    """Scale samples to a mean square of 1."""
    return OuterProducts(chi.u / np.sqrt((chi.norms() ** 2).mean()), chi.v)


def raised(
    chi: OuterProducts,
    W: np.ndarray,
    *,
    answered: int = ANSWERED,
    inhibition: float = 0.0,
    first: OuterProducts | None = None,
) -> State:
    """Let NSM learn from filters W, shape (K, n, n), by the printed rule in one pass.

    ``answered`` samples are taken for answered, M starts at ``inhibition``, and ``first`` is looked at before.
    """
    state = _start(chi, W, answered, inhibition)
    for seen in [chi] if first is None else [first, chi]:
        _learn(state, seen)
    return state


def raised_literally(chi: OuterProducts, W: np.ndarray) -> np.ndarray:
    """Return what rate units with their own synapses learn from filters W, one pair at a time; shape (K, n, n)."""
    network = RateNetwork(W, strength=_strength(chi))
    network.learn(chi.u, chi.v)
    return network.W


def pruned(chi: OuterProducts, W: np.ndarray, n_left: int, rule: str) -> State:
    """Let NSM learn, and take away one unit after the other by a rule, until so many are left."""
    state = _start(chi, W, ANSWERED, 0.0)
    cuts = np.linspace(*TWICE, len(W) - n_left) * len(chi)
    for start, stop in zip([0, *cuts.astype(int)], [*cuts.astype(int), len(chi)], strict=True):
        _learn(state, chi[start:stop])
        if stop < len(chi):
            left = np.arange(len(state.R)) != PRUNING[rule](state)
            state = State(state.S[left], np.ascontiguousarray(state.R[np.ix_(left, left)]), chi.xp, chi.dtype)
    return state


PRUNING: dict[str, Callable[[State], int]] = {
    "inhibited": lambda state: int(state.M.sum(axis=1).argmax()),
    "idle": lambda state: int(np.diag(state.R).argmin()),
}
"""Which unit goes, by what it knows itself: the one whose lateral synapses have grown to most (Eq. 17), or the one that
has answered least (Eq. 18)."""


def _start(chi: OuterProducts, W: np.ndarray, answered: int, inhibition: float) -> State:
    strength = _strength(chi, answered)
    state = State.of_filters(W, strength, chi)
    state.R += inhibition * strength * (1 - np.eye(len(W)))
    return state


def _learn(state: State, chi: OuterProducts) -> None:
    state.advance(chi, forgetting=1.0, nonnegative=True, max_sweeps=100)


def _strength(chi: OuterProducts, answered: int = ANSWERED) -> float:
    return answered / chi.shape[1]


class Read(NamedTuple):
    """What units do in a world, a way to move at a time: of each the unit that is most like it."""

    filters: np.ndarray
    """Of norm 1, shape (n_ways, n, n)."""
    cosines: np.ndarray
    """With the population's filter of each way, shape (n_ways,)."""
    units: np.ndarray
    """Which unit of all, shape (n_ways,)."""
    found: np.ndarray
    """Whether all ways are: all cosines above ``LIKE``."""
    accuracy: np.ndarray
    """Share of new pairs whose way has the largest output dx' A x."""


def read(filters: np.ndarray, targets: np.ndarray, new: OuterProducts, way: np.ndarray) -> Read:
    """Read filters, shape (K, n, n), beside the population's of each way, shape (n_ways, n, n), on new pairs."""
    filters = of_norm_1(filters.reshape(-1, *targets.shape[1:]))
    cosines = np.tensordot(of_norm_1(targets), filters, axes=((1, 2), (1, 2)))
    units, best = cosines.argmax(axis=1), cosines.max(axis=1)
    named = new.project(filters[units]).argmax(axis=1)
    return Read(filters[units], best, units, np.array((best > LIKE).all()), np.array(np.mean(named == way)))


def wilson(successes: np.ndarray) -> tuple[float, float]:
    """Return Wilson's interval of 95 % of the share of some trials that succeed."""
    low, high = binomtest(int(successes.sum()), successes.size).proportion_ci(method="wilson")
    return float(low), float(high)


def counted(successes: np.ndarray) -> str:
    """Tell how many of some trials succeeded, and Wilson's interval of 95 % of the share."""
    successes = np.ravel(successes)
    if not successes.size:
        return "0 of 0"
    low, high = wilson(successes)
    return f"{successes.sum():.0f} of {successes.size} ({low:.3f} to {high:.3f})"
