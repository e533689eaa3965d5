"""What neurons with branches learn from frames alone: from their own rates, as they come back into the branches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from flymotion.circuits import CompartmentalNeurons
from flymotion.claims.beside import Null, beside
from flymotion.claims.branches.designs import SETTING, STANDARD, Design, standard
from flymotion.claims.lessons import RATE, Opposed, of_norm_1, opposed
from flymotion.claims.nulls import labelled_means, random_filters
from flymotion.claims.rows import Claim, above, report
from flymotion.claims.worlds import WORLDS, leftward, rightward_first, share_right
from flymotion.frames import FramePairs
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.dendrites import misplaced_dendrites, oriented_dendrites, round_dendrites
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.literal import RateNetwork
from flymotion.similarity.networks import SimilarityMatching

if TYPE_CHECKING:
    from flymotion.claims.branches import Config

__all__ = ["STARTS", "VARIANTS", "Taught", "check_taught", "teach"]

ANSWERED = 2500
"""That to start with, over the number of weights, times the mean square of chi: what a start is worth in samples."""

LIKE = 0.95
"""Cosine with the algorithm's filters from which on a filter counts as learned."""

STARTS = {
    "oriented": "dendrites that reach to one side, and random weights of norm 0.3",
    "scattered": "dendrites that reach to one side, and random weights of norm 1",
    "round": "dendrites that reach all around",
    "misplaced": "one synapse at a random place",
    "random": "random weights",
}
"""What a neuron's synapses are at first (:mod:`flymotion.similarity.dendrites`)."""

ALONE = {"relays": np.zeros((2, 2))}
"""How neurons are made that do not inhibit one another."""

VARIANTS: dict[str, tuple[Design, dict[str, Any], str]] = {
    "one_way": (replace(STANDARD, rectified=True), {}, "shunts that fall with one sign of the change"),
    "excitatory": (replace(STANDARD, kinds="excitatory"), {}, "excitatory synapses alone"),
    "kept": (STANDARD, {"kinds": "kept"}, "one synapse a site, of the sign that it starts with"),
    "no_branches": (STANDARD, {"competition": ("parts",)}, "no competition between the branches of a pair"),
    "no_parts": (STANDARD, {"competition": ("branches",)}, "no competition between ON and OFF synapses"),
    "no_competition": (STANDARD, {"competition": ()}, "no competition between synapses at all"),
    "strong": (replace(STANDARD, shunt=1000.0), {}, "a shunt of 1000 leaks"),
    "weak": (replace(STANDARD, shunt=0.1), {}, "a shunt of 0.1 leaks"),
    "deep": (replace(STANDARD, depth=1.0), {}, "changes as large as what closes a shunt"),
    "loaded": (replace(STANDARD, size=25.0), {}, "synapses a hundred times as large"),
    "uninhibited": (STANDARD, ALONE, "no inhibition between neurons"),
    "relays": (STANDARD, {"relays": np.array([[0.3, 0.7], [0.6, 0.4]])}, "interneurons that both neurons excite"),
}
"""Neurons that differ, how, and what they are; the smallest eye, from oriented dendrites."""


NULLS = {
    "random": ("random synapses", np.max),
    "labelled": ("averages by label", np.min),
    "population": ("the population's component, both ways", np.min),
}
"""What stands beside what was learned: words, and which of them counts."""


class Taught(NamedTuple):
    """Cosines with the algorithm's filters, of both the less, matched; of one seed."""

    learned: np.ndarray
    """From each of ``STARTS``, shape (n_starts,)."""
    start: np.ndarray
    """Before learning."""
    literal: np.ndarray
    """Of the literal network, from each of ``STARTS``."""
    alone: np.ndarray
    """From round dendrites, without inhibition between neurons."""
    nulls: np.ndarray
    """Of what stands beside: ``NULLS``, shape (n_nulls,)."""
    matching: np.ndarray
    """Cosine of the difference of both neurons' weights with SM's first component, without its sign."""
    same: np.ndarray
    """Least cosine of the neurons' weights with those of the literal network."""
    accuracy: np.ndarray
    """Share of new pairs whose direction the difference of rates tells: neurons, the start, the algorithm."""
    variants: np.ndarray
    """Of ``VARIANTS``, shape (n_variants,), of the smallest eye; of others none."""
    weights: np.ndarray
    """At the start, learned, and the algorithm's, rightward first, each of norm 1, shape (3, 2, n, n)."""


def teach(n: int, config: Config, seed: int) -> Taught:
    """Let the algorithm and neurons learn from the same pairs of L1, neurons in one pass."""
    world = WORLDS["L1"]
    pairs = world.pairs(n, config.n_pairs + config.n_test, [seed, 21, 1])
    seen, new = _parted(pairs, config.n_pairs)
    whitening = ZCAWhitening(0.0).fit(seen)
    chi, shown = (outer_products(whitening.transform(each), world.feature) for each in (seen, new))
    lesson, algorithm, given = OuterProducts(*standard(chi)), opposed(chi), _starts(n, chi, seed)
    taught = {name: _learn(STANDARD, W, lesson) for name, W in given.items()}
    first, ours = given["oriented"], taught["oriented"]
    literal = {name: _learn_literally(W, lesson) for name, W in given.items()}
    component = world.population(n).components(1)[1][0]
    matching = SimilarityMatching(2, forgetting=1 - RATE, n_passes=2).fit(chi).generators_[0]
    nulls = (
        random_filters(2, chi, np.random.default_rng([seed, 21, 2])),
        labelled_means(chi, leftward(seen)),
        np.stack([component, -component]),
    )
    variants = VARIANTS.values() if n == min(config.widths) else ()
    return Taught(
        np.array([_like(each.W, algorithm) for each in taught.values()]),
        np.array([_like(W, algorithm) for W in given.values()]),
        np.array([_like(W, algorithm) for W in literal.values()]),
        _like(_learn(STANDARD, given["round"], lesson, **ALONE).W, algorithm),
        np.array([_like(W, algorithm) for W in nulls]),
        np.abs(cosine(ours.W[0] - ours.W[1], matching)),
        cosine(ours.W, literal["oriented"]).min(),
        _accuracies((ours, STANDARD.neurons(first)), algorithm, shown, new),
        np.array([_like(_learn(design, first, lesson, **how).W, algorithm) for design, how, _ in variants]),
        np.stack([of_norm_1(W[rightward_first(W)]) for W in (first, ours.W, algorithm.filters)]),
    )


def _parted(pairs: FramePairs, n: int) -> list[FramePairs]:
    assert pairs.motion is not None
    parts = (slice(None, n), slice(n, None))
    return [FramePairs(pairs.before[part], pairs.after[part], pairs.motion[part]) for part in parts]


def _starts(n: int, chi: OuterProducts, seed: int) -> dict[str, np.ndarray]:
    """Return what neurons start with, by the names of ``STARTS``."""
    eye, how = WORLDS["L1"].eye(n), {"scatter": 0.3, "random_state": seed}
    return {
        "oriented": oriented_dendrites(eye, [180.0, 0.0], **how),
        "scattered": oriented_dendrites(eye, [180.0, 0.0], **how | {"scatter": 1.0}),
        "round": round_dendrites(eye, 2, **how),
        "misplaced": misplaced_dendrites(eye, 2, **how),
        "random": random_filters(2, chi, np.random.default_rng([seed, 21])),
    }


def _strength(lesson: OuterProducts, depth: float = 1.0) -> float:
    return ANSWERED * depth**2 * float((lesson.norms() ** 2).mean()) / np.prod(lesson.feature_shape)


def _learn(design: Design, W: np.ndarray, lesson: OuterProducts, **how: Any) -> CompartmentalNeurons:
    """Let neurons learn in one pass, from whitened changes and intensities of root mean square 1."""
    neurons = design.neurons(W, strength=_strength(lesson, design.depth), tolerance=1e-4, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where rates are alike, and nothing is learned
        neurons.learn(design.depth * lesson.u, lesson.v)
    return neurons


def _learn_literally(W: np.ndarray, lesson: OuterProducts) -> np.ndarray:
    network = RateNetwork(W, strength=_strength(lesson), tolerance=1e-4)
    network.learn(lesson.u, lesson.v)
    return network.W


def _like(W: np.ndarray, algorithm: Opposed) -> np.ndarray:
    """Cosine of two filters with the algorithm's, of both the less, whichever is matched to which."""
    cosines = cosine(W[:, None], algorithm.filters)
    return np.maximum(np.diag(cosines).min(), np.diag(cosines[::-1]).min())


def _accuracies(
    neurons: tuple[CompartmentalNeurons, ...], algorithm: Opposed, shown: OuterProducts, pairs: FramePairs
) -> np.ndarray:
    u, v = standard(shown)
    found = []
    for each in neurons:
        right, left = each.respond(STANDARD.depth * u, v).rates[:, rightward_first(each.W)].T
        found.append(share_right(right - left, pairs))
    right, left = algorithm.outputs(shown).T
    return np.array([*found, share_right(right - left, pairs)])


# -- claims ------------------------------------------------------------------------------------------------------------


def check_taught(by_width: Mapping[str, Taught], config: Config) -> Iterator[Claim]:
    """State what was learned."""

    def of(name: str, index: Any = ()) -> dict[str, np.ndarray]:
        return {n: getattr(found, name)[(slice(None), *np.atleast_1d(index))] for n, found in by_width.items()}

    note = f"one pass of {config.n_pairs} pairs, from {STARTS['oriented']}; the algorithm: NSM, warm start; {SETTING}"
    title = (
        "cosine of weights learned from the neurons' own rates with the algorithm's filters, same pairs, the smaller"
    )
    nulls = {"start": Null("the start alone", of("start", 0))}
    nulls["literal"] = Null("the literal network from the same start", of("literal", 0), np.min)
    nulls |= {name: Null(words, of("nulls", k), worst) for k, (name, (words, worst)) in enumerate(NULLS.items())}
    yield from beside(above("C21.learned", title, of("learned", 0), LIKE, note=note), **nulls)
    title = "least cosine of the neurons' weights with those of the literal network from the same start"
    yield report("C21.same", title, of("same"), worst=np.min)
    title = "|cosine| of the difference of the neurons' weights with SM's first component"
    yield report("C21.learned_sm", title, of("matching"), worst=np.min)
    yield from _check_accuracy(of)
    yield from _check_starts(of, config.n_seeds)
    n = f"n = {min(config.widths)}"
    title = "cosine with the algorithm's filters of weights learned from dendrites that reach all around, median seed"
    row = report("C21.round", title, of("learned", list(STARTS).index("round"))[n], worst=np.median, note=n)
    yield from beside(row, uninhibited=Null("no inhibition between neurons", of("alone")[n], np.median))
    for k, (name, (_, _, what)) in enumerate(VARIANTS.items()):
        found = by_width[n].variants[:, k]
        title = f"cosine with the algorithm's filters of weights learned with {what}, the smaller, median seed"
        yield report(f"C21.learned_{name}", title, found, worst=np.median, note=f"{_told(found)}; {n}")


def _check_starts(of: Callable[..., dict[str, np.ndarray]], n_seeds: int) -> Iterator[Claim]:
    for k, (name, what) in list(enumerate(STARTS.items()))[1:]:
        ours, literal = (
            {n: (found > LIKE).sum() for n, found in of(field, k).items()} for field in ("learned", "literal")
        )
        told = "; ".join(f"{n} {_told(found)}" for n, found in of("learned", k).items())
        title = f"seeds of {n_seeds} that learn both filters, cosine above {LIKE:g}, from {what}"
        how: dict[str, Any] = {"worst": np.min, "seeds": n_seeds}
        row = report(f"C21.from_{name}", title, ours, unit="seeds", note=f"cosines {told}", **how)
        yield from beside(row, literal=Null("the literal network from the same start", literal, np.min, seeds=n_seeds))


def _check_accuracy(of: Callable[..., dict[str, np.ndarray]]) -> Iterator[Claim]:
    title = "share of new pairs whose direction the difference of rates tells"
    nulls = {
        "start": Null("the start alone", of("accuracy", 1)),
        "algorithm": Null("the algorithm", of("accuracy", 2), np.min),
    }
    yield from beside(report("C21.accuracy", title, of("accuracy", 0), worst=np.min), **nulls)


def _told(values: np.ndarray) -> str:
    return f"{values.min():.3g} to {values.max():.3g}"
