"""Offline optima from random starts, and what online networks reach of them, in L1 and on Gaussian vectors (C26)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from flymotion.claims.beside import Null, beside
from flymotion.claims.lessons import RATE
from flymotion.claims.nulls import NULLS, start_state
from flymotion.claims.offline_online.plain_networks import learned_literally, random_rows, rule_alone
from flymotion.claims.rows import Claim, above, below, report
from flymotion.claims.running import Found
from flymotion.claims.worlds import WORLDS
from flymotion.similarity.features import as_features
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.optima import descend, offline_sm, reconstruction_error, similarity_objective
from flymotion.similarity.rivals import OuterProductPCA

__all__ = ["KINDS", "Core", "Reached", "check_core", "check_reached", "draw", "follow", "reach"]

KINDS = ("L1", "plain")
"""The paper's feature in world L1; Gaussian vectors of ten features."""


class Reached(NamedTuple):
    """One kind of data, offline and online."""

    descent: np.ndarray
    """Objective of Eq. 12 after descent over that of the eigensolution, minus 1; one for each start."""
    descent_random: np.ndarray
    """The same at the starts, scaled to where the objective is least."""
    reconstruction: np.ndarray
    """Error of Eq. 1 after alternating least squares over the closed form, minus 1; one for each start."""
    online: np.ndarray
    """Similarity that the online network captures of the most that any K outputs can."""
    online_random: np.ndarray
    online_start: np.ndarray
    online_rule_alone: np.ndarray
    """The same of random filters, of the warm-up, and of the rule alone from random filters."""


def draw(kind: str, n: int, seed: int) -> Any:
    """Draw samples."""
    if kind == "L1":
        return WORLDS["L1"].lesson(5, n, [seed, 26]).chi
    return np.random.default_rng([seed, 26]).standard_normal((n, 10)) * np.linspace(2.0, 0.2, 10)


def reach(config: Any, kind: str, seed: int) -> Reached:
    """Solve offline, and learn online."""
    k, samples = config.n_components, draw(kind, config.n_online, seed)
    few = as_features(samples[: config.n_offline])
    gram = few.gram()
    least = similarity_objective(gram, offline_sm(gram, k))
    rng = np.random.default_rng([seed, 27])
    starts = [_at_best_scale(gram, rng.standard_normal((len(few), k))) for _ in range(config.n_starts)]
    descent = [similarity_objective(gram, descend(gram, start)) / least - 1 for start in starts]
    error = np.trace(gram) - np.linalg.eigvalsh(gram)[-k:].sum()
    most = (OuterProductPCA(k).fit(samples).explained_energy_ ** 2).sum()
    warm = SimilarityMatching(k, forgetting=1 - RATE, n_passes=6).fit(samples)
    alone = rule_alone(samples, k, [seed, 29], n_passes=6)
    return Reached(
        np.array(descent),
        np.array([similarity_objective(gram, start) / least - 1 for start in starts]),
        np.array([_reconstructed(few, start) / error - 1 for start in starts]),
        np.array(warm.score(samples) / most),
        np.array(_captured_by_rows(samples, np.linalg.qr(random_rows(k, samples.shape[1], [seed, 30]).T)[0].T) / most),
        np.array(_captured_by_start(samples, k) / most),
        np.array(alone.score(samples) / most),
    )


def _at_best_scale(gram: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Scale outputs to where Eq. 12 is least."""
    return theta * np.sqrt(max((theta * (gram @ theta)).sum(), 0) / ((theta.T @ theta) ** 2).sum())


def _reconstructed(few: Any, theta: np.ndarray, *, n_steps: int = 1000) -> float:
    """Alternate the best W for the outputs with the best outputs for W, in Eq. 1."""
    X = few.dense().reshape(len(theta), -1) if hasattr(few, "dense") else few.x
    for _ in range(n_steps):
        W = np.linalg.solve(theta.T @ theta, theta.T @ X)
        theta = X @ np.linalg.solve(W @ W.T, W).T
    return reconstruction_error(theta, X, W)  # Eq. 1


def _captured_by_rows(samples: Any, rows: np.ndarray) -> float:
    """Return the similarity captured by projections on orthogonal rows: of given directions the best outputs."""
    samples = as_features(samples)
    theta = samples.project(rows.reshape(-1, *samples.feature_shape))
    S, R = samples.accumulate(theta), theta.T @ theta
    return float((2 * (S**2).sum() - (R**2).sum()) / len(theta) ** 2)


def _captured_by_start(samples: Any, k: int) -> float:
    state, samples = start_state(samples, k, nonnegative=False), as_features(samples)
    return state.captured(samples, state.respond(samples, nonnegative=False, max_sweeps=100)[0])


# -- Eqs. 5 and 6 as they are printed ----------------------------------------------------------------------------------


class Core(NamedTuple):
    """The compiled core with forgetting against the printed rules, on Gaussian vectors from the same random start."""

    apart: np.ndarray
    """Largest difference of W, M and outputs, relative to the largest of each; SM, NSM, and NSM against rules that let
    go of nothing at samples that no unit answers, shape (3,)."""
    steps: np.ndarray
    """Median steps that the printed dynamics take to settle, shape (3,)."""
    unanswered: np.ndarray
    """Share of the samples that no unit answers, shape (3,)."""


def follow(config: Any, seed: int) -> Core:
    """Let both learn from the same samples."""
    X, eta, k = draw("plain", config.n_followed, seed), 0.01, config.n_components
    W, found = random_rows(k, X.shape[1], [seed, 31]), []
    for nonnegative, fade in ((False, True), (True, True), (True, False)):
        learner = NonnegativeSimilarityMatching if nonnegative else SimilarityMatching
        ours = learner(k, forgetting=1 - eta, init=W, init_strength=1 / eta)
        outputs = ours.partial_fit_transform(X)
        *literal, steps = learned_literally(X, W.T, np.eye(k), eta, nonnegative=nonnegative, fade=fade)
        pairs = zip((eta * ours.S_.T, eta * ours.R_, outputs), literal, strict=True)
        apart = max(np.abs(one - other).max() / np.abs(other).max() for one, other in pairs)
        found.append((apart, np.median(steps), np.mean(~literal[-1].any(axis=1))))
    return Core(*np.transpose(found))


# -- claims ------------------------------------------------------------------------------------------------------------


def check_reached(found: Found, config: Any) -> Iterator[Claim]:
    """State C26 on both kinds of data."""

    def of(name: str) -> dict[str, np.ndarray]:
        return {kind: getattr(reached, name) for kind, reached in found.items()}

    starts = f"{config.n_starts} starts a seed, {config.n_offline} samples, K = {config.n_components}"
    title = "objective of Eq. 12 after descent from random starts, relative to the eigensolution's, minus 1"
    sizes = {kind: np.abs(relative) for kind, relative in of("descent").items()}
    random = Null("the random starts, at their best scale", of("descent_random"), np.min)
    yield from beside(below("C26.descent", title, sizes, 1e-6, note=starts), random=random)
    title = "error of Eq. 1 after alternating least squares from random starts, relative to the closed form, minus 1"
    yield report("C26.reconstruction", title, of("reconstruction"), worst=np.max, note=starts)
    learned = f"{config.n_online} samples, 6 passes, rate {RATE:g}"
    title, note = "similarity that online SM captures, of the most that K outputs can", f"{learned}, from the warm-up"
    yield from beside(
        above("C26.online", title, of("online"), 0.95, note=note),
        random=Null("projections on random directions", of("online_random"), np.max),
        start=Null(NULLS["start"], of("online_start"), np.min),
        rule_alone=Null("SM from random filters, by its rule alone", of("online_rule_alone"), np.min, learned),
    )


def check_core(found: Core, config: Any) -> Iterator[Claim]:
    """Report that SM and NSM with forgetting are Eqs. 5 and 6."""
    world = f"{config.n_followed} Gaussian vectors of ten features, K = {config.n_components}, rate 0.01, random start"
    told = (
        ("sm", "SM", ""),
        (
            "nsm",
            "NSM",
            "where no unit answers, Eq. 6 lets all weights fade, and ours stay; else equal, see the next row",
        ),
        ("nsm_answered", "NSM", ""),
    )
    for i, (id, name, how) in enumerate(told):
        alone = ", which learn from answered samples alone" if id == "nsm_answered" else ""
        title = f"largest relative difference of {name} with forgetting from Eqs. 5-6 as printed{alone}"
        note = f"{world}; the printed dynamics settle in {np.median(found.steps[:, i]):.0f} steps, "
        note += f"{found.unanswered[:, i].mean():.0%} of samples unanswered" + (f"; {how}" if how else "")
        yield report(f"C26.core_{id}", title, found.apart[:, i], worst=np.max, note=note)
