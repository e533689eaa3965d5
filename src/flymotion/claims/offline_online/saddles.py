r"""The max-min forms of Section 1.1 and Eqs. 13, 14, as saddles (C35).

With outputs Y (K a sample), Eq. 4 is :math:`L(Y, W, M)`, and Eqs. 3 and 7 (12 and 14 for chi) are
:math:`\min_Y \min_W \max_M L` but for factors and a constant, Y nonnegative in Eqs. 7 and 14. The kind of saddle:

- W and M do not meet in L. Of given Y it is a parabola upwards in W (curvature 2T) and downwards in M (curvature -T),
  so the order of min over W and max over M does not matter.
- Of given W, L is convex in Y where M is positive, and concave in M: so min over Y and max over M may be swapped, and
  :math:`\min_W \max_M \min_Y` has the same value. This is what the online network needs, whose outputs settle first.
  Without signs, Y and M can be eliminated: :math:`\min_W T |W|^2 - \frac{3}{2} T \, \mathrm{tr} (W C W')^{2/3}`, where
  C is the second moment of the samples.
- The max over M may *not* come first. At the optimum's M, L falls along some directions in which Y and W move together,
  K (K - 1) / 2 of them: into output k goes a stronger component than its own. With M outermost the value is
  :math:`\sum_k (\lambda_1^2 - \lambda_k^2)` below that of Eq. 12, with the K largest eigenvalues of C: the two agree
  only where these are equal.

So M may lag behind W, but only so far. About the optimum the mean of Eq. 6's rules comes back from every push but a
rotation, which it leaves alone, as long as M's rate is more than :math:`(\lambda_1 - \lambda_K)^2 / (\lambda_1^2 +
\lambda_K^2)` of W's (found from figures, not derived). That is below 1: the one rate of Eq. 6 does for all data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from flymotion.claims.beside import Null, beside
from flymotion.claims.offline_online.descent import draw
from flymotion.claims.rows import Claim, below, report
from flymotion.claims.running import Found
from flymotion.similarity.features import as_features
from flymotion.similarity.optima import (
    cross_term,
    descend,
    lyapunov,
    lyapunov_slopes,
    offline_sm,
    optimal_synapses,
    similarity_objective,
)

__all__ = ["Saddle", "check_saddles", "stand_on"]

N_DIRECTIONS = 30
"""Random directions in which L is tried, of each of Y, W and M."""


class Saddle(NamedTuple):
    """What the forms are at the optimum of one sample of a kind of data, and elsewhere."""

    lyapunov: np.ndarray
    """Relative difference of Eq. 12 and its form, Eq. 4; with the optimum's synapses, and with random ones."""
    nonnegative: np.ndarray
    """The same of Eq. 14 (7 of vectors)."""
    cross_term: np.ndarray
    """Relative difference of the two sides of Eq. 13; likewise."""
    slopes: np.ndarray
    """Largest slope of Eq. 4 in Y, W and M, relative to its terms; at the optimum, and at random outputs."""
    kkt: np.ndarray
    """The same for nonnegative outputs, where only upward slopes are allowed at 0; and at the start of the descent."""
    synapses: np.ndarray
    """Relative difference of Eq. 12's minimum and that of Eq. 4 over W, Y and M eliminated; and at random W."""
    signs: np.ndarray
    """Share of random directions in Y, W and M in which Eq. 4 rises, rises and falls; SM, NSM."""
    curvature: np.ndarray
    """Least curvature relative to the largest: of Eq. 4 in Y, SM; of Eq. 14 in the outputs that are not 0."""
    downhill: np.ndarray
    """Directions in which Eq. 4 falls when Y and W move together."""
    swapped: np.ndarray
    """How much lower the form is with the max over M outermost, relative to the similarity captured."""
    growth: np.ndarray
    """Largest rate at which pushes from the optimum grow at equal rates of M and W, relative to W's."""
    slowest: np.ndarray
    """Least rate of M relative to W's at which none grows."""


def stand_on(config: Any, kind: str, seed: int) -> Saddle:
    """Solve Eqs. 12 and 14, and look around."""
    k, rng = config.n_components, np.random.default_rng([seed, 35])
    few = as_features(draw(kind, config.n_saddle, seed))
    gram = few.gram()
    theta, start = offline_sm(gram, k), _random_outputs(gram, k, rng)
    positive = _polished(gram, descend(gram, np.abs(start), nonnegative=True))
    W, M = optimal_synapses(theta, few)
    at_random = optimal_synapses(start, few)
    correlation = ((theta @ theta.T) * gram).sum() / len(gram) ** 2
    leading = np.linalg.eigvalsh(gram)[: -k - 2 : -1] / len(gram)
    values = leading[:k]
    return Saddle(
        np.array([_apart(gram, theta, few, *synapses) for synapses in ((W, M), at_random)]),
        np.array([_apart(gram, positive, few, *found) for found in (optimal_synapses(positive, few), at_random)]),
        np.array([abs(cross_term(theta, few, filters) / correlation - 1) for filters in (W, at_random[0])]),
        np.array([_steepest(outputs, few) for outputs in (theta, start)]),
        np.array([_steepest(outputs, few, nonnegative=True) for outputs in (positive, np.abs(start))]),
        _eliminated(gram, few, k, rng),
        np.array([_signs(theta, few, rng), _signs(positive, few, rng, nonnegative=True)]),
        np.array([np.divide(*np.linalg.eigvalsh(M)[[0, -1]]), _curvature(gram, positive)]),
        np.array(_downhill(gram, M)),
        np.array((values[0] ** 2 - values**2).sum() / (values**2).sum()),
        np.array(_growth(leading, k, 1.0)),
        np.array(_slowest(leading, k)),
    )


def _random_outputs(gram: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((len(gram), k)) * np.sqrt(np.trace(gram) / len(gram) / k)


def _apart(gram: np.ndarray, theta: np.ndarray, few: Any, W: np.ndarray, M: np.ndarray) -> float:
    """Return the relative difference of Eq. 12 or 14, and its form by Eq. 4."""
    T = len(gram)
    form = (gram**2).sum() / T**2 + 2 / T * lyapunov(theta, few, W, M)
    return abs(form / similarity_objective(gram, theta) - 1)


def _steepest(theta: np.ndarray, few: Any, *, nonnegative: bool = False) -> float:
    """Return the largest slope of Eq. 4 at outputs and their own synapses, relative to its terms."""
    W, M = optimal_synapses(theta, few)
    by_theta, by_W, by_M = lyapunov_slopes(theta, few, W, M)
    if nonnegative:  # Karush, Kuhn and Tucker: at 0 it may rise
        by_theta = np.where(theta > 0, by_theta, np.minimum(by_theta, 0))
    T, terms = len(theta), 2 * np.abs(theta @ M).max()
    return max(np.abs(by_theta).max() / terms, np.abs(by_W / T / W).max(), np.abs(by_M / T).max() / np.abs(M).max())


def _hessian(gram: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the second derivatives of half of T^2 times Eq. 12, rows and columns (t, k)."""
    T, k = theta.shape
    blocks = -2 * np.einsum("ts,kl->tksl", gram - theta @ theta.T, np.eye(k))
    blocks += 2 * np.einsum("ts,kl->tksl", np.eye(T), theta.T @ theta) + 2 * np.einsum("tl,sk->tksl", theta, theta)
    return blocks.reshape(T * k, T * k)


def _polished(gram: np.ndarray, theta: np.ndarray, *, n_steps: int = 5) -> np.ndarray:
    """Take Newton's steps in the outputs that are not 0: descent alone ends at slopes of the root of rounding."""
    free = np.flatnonzero(theta > 1e-7 * theta.max())
    theta = np.where(theta > 1e-7 * theta.max(), theta, 0.0)
    for _ in range(n_steps):
        slope = (-2 * (gram - theta @ theta.T) @ theta).ravel()[free]
        step = np.linalg.lstsq(_hessian(gram, theta)[np.ix_(free, free)], slope)[0]
        flat = theta.ravel()
        flat[free] -= step
        theta = flat.reshape(theta.shape)
    return theta


def _curvature(gram: np.ndarray, theta: np.ndarray) -> float:
    free = np.flatnonzero(theta > 0)
    values = np.linalg.eigvalsh(_hessian(gram, theta)[np.ix_(free, free)])
    return values[0] / values[-1]


def _eliminated(gram: np.ndarray, few: Any, k: int, rng: np.random.Generator) -> np.ndarray:
    """Minimise Eq. 4 over W, Y and M where they settle; compare the end and the start with Eq. 12's minimum."""
    T = len(gram)
    X = few.dense().reshape(T, -1) if hasattr(few, "dense") else few.x
    C = X.T @ X / T
    unit = np.trace(C)
    C = C / unit

    def form(flat: np.ndarray) -> tuple[float, np.ndarray]:
        W = flat.reshape(k, -1)
        values, vectors = eigh(W @ C @ W.T)
        values = np.maximum(values, 1e-300)
        value = (W**2).sum() - 1.5 * (values ** (2 / 3)).sum()  # Eq. 4 over T, max over M of min over Y
        return value, (2 * W - 2 * (vectors * values ** (-1 / 3)) @ vectors.T @ W @ C).ravel()

    start = rng.standard_normal(k * len(C)) / np.sqrt(len(C))
    found = minimize(form, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 0.0, "gtol": 1e-10})
    constant, least = (gram**2).sum() / T**2, similarity_objective(gram, offline_sm(gram, k))
    return np.array([abs((constant + 2 * unit**2 * value) / least - 1) for value in (found.fun, form(start)[0])])


def _signs(theta: np.ndarray, few: Any, rng: np.random.Generator, *, nonnegative: bool = False) -> list[float]:
    """Return the shares of random directions in which Eq. 4 rises along Y, rises along W and falls along M."""
    W, M = optimal_synapses(theta, few)
    here, right = lyapunov(theta, few, W, M), np.zeros(3)
    for _ in range(N_DIRECTIONS):
        dY, dW, dM = (0.1 * np.sqrt((a**2).mean()) * rng.standard_normal(a.shape) for a in (theta, W, M))
        other = np.maximum(theta + dY, 0) if nonnegative else theta + dY
        right += [
            lyapunov(other, few, W, M) > here,
            lyapunov(theta, few, W + dW, M) > here,
            lyapunov(theta, few, W, M + (dM + dM.T) / 2) < here,
        ]
    return list(right / N_DIRECTIONS)


def _downhill(gram: np.ndarray, M: np.ndarray) -> int:
    """Count the negative curvatures of Eq. 4, M held, W following Y: of tr(M Y'Y) - tr(Y' gram Y) / T."""
    T = len(gram)
    values = (np.linalg.eigvalsh(M)[:, None] - np.linalg.eigvalsh(gram / T)).ravel()
    return int((values < -1e-9 * values.max()).sum())


def _growth(values: np.ndarray, k: int, rate: float) -> float:
    """Return the largest growth rate about the optimum of the mean of Eq. 6, M's rate relative to W's given.

    In coordinates of the K + 1 leading components, of second moments ``values``; the derivatives are differences.
    """
    C = np.diag(values / values[0])
    n = len(C)

    def flow(flat: np.ndarray) -> np.ndarray:
        W, M = flat[: k * n].reshape(k, n), flat[k * n :].reshape(k, k)
        F = np.linalg.solve(M, W)  # Eq. 5 at rest: y = F x
        return np.concatenate([(F @ C - W).ravel(), rate * (F @ C @ F.T - M).ravel()])  # Eq. 6

    optimum = np.concatenate([C[:k].ravel(), C[:k, :k].ravel()])
    pushes = 1e-6 * np.eye(len(optimum))
    slopes = [(flow(optimum + push) - flow(optimum - push)) / 2e-6 for push in pushes]
    return float(np.linalg.eigvals(np.transpose(slopes)).real.max())


def _slowest(values: np.ndarray, k: int, *, n_steps: int = 12) -> float:
    """Halve the interval, of logarithms from 1e-4 to 1, in which pushes begin to grow."""
    low, high = -4.0, 0.0
    for _ in range(n_steps):
        middle = (low + high) / 2
        low, high = (middle, high) if _growth(values, k, 10**middle) > 1e-6 else (low, middle)
    return 10**high


# -- claims ------------------------------------------------------------------------------------------------------------


def check_saddles(found: Found, config: Any) -> Iterator[Claim]:
    """State C35."""

    def of(name: str, i: int | None = None) -> dict[str, np.ndarray]:
        values = {kind: getattr(saddle, name) for kind, saddle in found.items()}
        return values if i is None else {kind: value[:, i] for kind, value in values.items()}

    size = f"{config.n_saddle} samples, K = {config.n_components}"
    sides = (
        ("lyapunov", "relative difference of Eq. 12 and Eq. 4 at the optimum", "synapses of random outputs"),
        (
            "nonnegative",
            "relative difference of Eqs. 7 (plain), 14 (L1) and their max-min form at a minimum",
            "synapses of random outputs",
        ),
        ("cross_term", "relative difference of the sides of Eq. 13 at the optimum", "W of random outputs"),
        ("slopes", "largest slope of Eq. 4 in Y, W and M at the optimum, relative to its terms", "random outputs"),
        (
            "kkt",
            "largest slope of Eqs. 7 (plain), 14 (L1) at a minimum, relative to their terms; outputs of 0 may rise",
            "random outputs",
        ),
        ("synapses", "relative difference of Eq. 12's minimum and that over W, Y and M settled", "random W"),
    )
    for name, title, where in sides:
        row = below(f"C35.{name}", title, of(name, 0), 1e-8, note=size)
        yield from beside(row, random=Null(where, of(name, 1), np.min))
    yield from _check_signs(of, config)


def _check_signs(of: Any, config: Any) -> Iterator[Claim]:
    title = "share of random directions in which Eq. 4 rises along Y and W, and falls along M, least"
    note = f"SM and NSM, {N_DIRECTIONS} directions of each a seed"
    yield report("C35.signs", title, of("signs"), worst=np.min, note=note)
    for i, what in enumerate(("Eq. 4 along Y, SM", "Eqs. 7, 14 along outputs that are not 0, NSM")):
        title = f"least curvature of {what}, relative to the largest"
        yield report(f"C35.curvature_{('sm', 'nsm')[i]}", title, of("curvature", i), worst=np.min)
    k = config.n_components
    title = "directions of Y and W together in which Eq. 4 falls at the optimum's M, most"
    note = f"K (K - 1) / 2 = {k * (k - 1) // 2} expected: the max over M may not come first"
    yield report("C35.downhill", title, of("downhill"), worst=np.max, unit="directions", note=note)
    title = "how much lower the max-min form is with the max over M outermost, relative to the similarity captured"
    note = "0 only where the K largest eigenvalues are equal; the other orders agree"
    yield report("C35.swapped", title, of("swapped"), worst=np.max, note=note)
    title = "largest rate at which pushes from the optimum grow under the mean of Eq. 6, relative to W's rate"
    note = "0 is that of rotations; linearised, K + 1 leading components"
    yield report("C35.growth", title, of("growth"), worst=np.max, note=note)
    title = "slowest rate of M, relative to W's, at which no push from the optimum grows, most"
    note = "(a - b)^2 / (a^2 + b^2) with the largest and smallest of K eigenvalues: Eq. 6's one rate does for all data"
    yield report("C35.slowest", title, of("slowest"), worst=np.max, note=note)
