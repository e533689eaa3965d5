r"""Velocity as a ridge regression, and as a correlation (Section 2.5, Supplement C; C15, C33).

Content moves by theta, so that :math:`\Delta x = \theta A x` and noise; the estimates are

.. math::
    \hat\theta = \arg\min_\theta |\Delta x - \theta A x|^2 + \lambda \theta^2
    = \frac{\Delta x' A x}{|A x|^2 + \lambda} \approx \frac{\Delta x' A x}{\lambda}.

A is minus the spatial derivative: for content, not for the eye, theta is *minus* the one printed in Supplement C. The
signal-to-noise ratio is the variance of a pixel's intensity over that of its noise; the change from frame to frame is
much smaller than the intensity, so that its own ratio is 35 dB lower in world L1 (:attr:`Result.change_snr`).

With the covariance C(s) of the pixels after and before content has moved by s, and noise of variance
:math:`\sigma^2`, the slope of the log likelihood at theta = 0 is :math:`\Delta x' A \bar x / 2 \sigma^2`, with the mean
:math:`\bar x` of both frames and :math:`A = 2 C'(0) (2 C(0) + \sigma^2)^{-1}`, the derivative of what can be told of
the scene: called matched here. So in much noise the posterior mean is the correlation :math:`\Delta x' A \bar x /
\lambda`, with :math:`\lambda = 2 \sigma^2 / \mathrm{var}\,\theta`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares, minimize_scalar

from flymotion.claims.rows import Claim, above, below, report, within
from flymotion.claims.work import Each, in_turn
from flymotion.claims.worlds import CORRELATION_LENGTH, WORLDS, stack
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.photoreceptors import SensorNoise
from flymotion.world.scenes import exponential_covariance

__all__ = ["OPERATORS", "Config", "Errors", "Minimum", "Result", "check", "jobs", "run"]

OPERATORS = ("derivative", "matched")
"""The central difference, of Supplement C; and the one that is optimal for small motions at that noise."""

LOWEST, MODEST, HIGHEST = -10.0, 10.0, 30.0
"""Ratios of signal to noise that claims speak of [dB]."""

N_NODES = 15
"""Motions that the posterior is summed over (Gauss-Legendre)."""


@dataclass(frozen=True)
class Config:
    """Sizes and seeds.

    Parameters
    ----------
    n_seeds : int
        Seeds of either experiment.
    n : int
        Pixels of the eye of world L1.
    n_minima : int
        Pairs whose minimum is looked for, with each penalty.
    penalties : tuple of float
        lambda, relative to the mean of :math:`|A x|^2`.
    n_pairs, n_test : int
        Pairs that estimators are fitted on, and new ones that they are compared on.
    snrs : tuple of float
        Ratios of signal to noise [dB].
    """

    n_seeds: int = 10
    n: int = 15
    n_minima: int = 10
    penalties: tuple[float, ...] = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)
    n_pairs: int = 10_000
    n_test: int = 10_000
    snrs: tuple[float, ...] = (30.0, 25.0, 20.0, 15.0, 10.0, 5.0, 0.0, -5.0, -10.0, -15.0, -20.0)

    @classmethod
    def quick(cls) -> Config:
        """Return fewer seeds."""
        return cls(n_seeds=2)


class Minimum(NamedTuple):
    """The ridge regression beside a numeric minimiser and beside the plain correlation (C15); a figure a penalty."""

    closed: np.ndarray
    """Largest error of the closed form, relative to the largest theta."""
    plain: np.ndarray
    """Root mean square of the relative error of the correlation over lambda."""
    sign: np.ndarray
    """Correlation of theta with the true motion."""


class Errors(NamedTuple):
    """Mean squared errors on new pairs, relative to the mean square of their motion (C33)."""

    correlation: np.ndarray
    """Of dx' A x times the best constant, shape (n_operators, n_snrs)."""
    ridge: np.ndarray
    """Of the ridge regression with the best penalty, shape (n_operators, n_snrs)."""
    penalty: np.ndarray
    """That penalty, relative to the mean of |A x|^2, shape (n_operators, n_snrs)."""
    bayes: np.ndarray
    """Of the posterior mean, shape (n_snrs,)."""


@dataclass(frozen=True)
class Result:
    """Both experiments; every array of ``minimum`` and ``errors`` has an axis of seeds first."""

    config: Config
    minimum: Minimum
    errors: Errors
    change_snr: float
    """What the change's ratio of signal to noise exceeds the intensity's by; negative [dB]."""


def jobs(config: Config) -> list[partial[Any]]:
    """List the independent pieces of work."""
    return [partial(job, config, seed) for job in (_minimise, _estimate) for seed in range(config.n_seeds)]


def run(config: Config, each: Each = in_turn) -> Result:
    """Look for minima, and estimate motion in more and more noise."""
    results = list(each(jobs(config)))
    return Result(config, stack(results[: config.n_seeds]), stack(results[config.n_seeds :]), _change_snr())


# -- ridge regression, C15 -----------------------------------------------------------------------------------------


def _minimise(config: Config, seed: int) -> Minimum:
    pairs = WORLDS["L1"].pairs(config.n, config.n_minima, [seed, 15])
    change, predicted = pairs.after - pairs.before, pairs.before @ derivative_operator((config.n,)).T
    products, sizes = (change * predicted).sum(axis=1), (predicted**2).sum(axis=1)
    assert pairs.motion is not None
    rows = []
    for penalty in np.array(config.penalties) * sizes.mean():
        minima = np.array([_argmin(dx, Ax, penalty) for dx, Ax in zip(change, predicted, strict=True)])
        closed, plain = products / (sizes + penalty), products / penalty
        rows.append(
            (
                np.abs(closed - minima).max() / np.abs(minima).max(),
                np.sqrt(np.mean((plain / minima - 1) ** 2)),
                np.corrcoef(minima, pairs.motion[:, 0])[0, 1],
            )
        )
    return Minimum(*np.array(rows).T)


def _argmin(dx: np.ndarray, Ax: np.ndarray, penalty: float) -> float:
    """Minimise |dx - theta A x|^2 + penalty theta^2, knowing nothing of it but its terms."""

    def terms(theta: np.ndarray) -> np.ndarray:
        return np.append(dx - theta * Ax, np.sqrt(penalty) * theta)

    # Derivatives by complex steps are exact; from values of the sum alone theta could be told to 1e-8 only.
    return float(least_squares(terms, [0.0], jac="cs", xtol=1e-15, ftol=1e-15, gtol=1e-15).x[0])


# -- noise, C33 ----------------------------------------------------------------------------------------------------


def _covariance(n: int, shift: float = 0.0) -> np.ndarray:
    """Return E[after before'] for content of world L1 that moves by ``shift``, shape (n, n)."""
    places = np.arange(n)
    displacements = places[:, None, None] - places[:, None] - shift
    return exponential_covariance(CORRELATION_LENGTH, WORLDS["L1"].sigma)(displacements)


def _change_snr() -> float:
    """Compare the variance of the change without noise with 2, both relative to those of the intensity [dB]."""
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    moved = [_covariance(1, WORLDS["L1"].max_shift * node)[0, 0] for node in nodes]
    return float(10 * np.log10(1 - weights @ moved / 2 / _covariance(1)[0, 0]))


def _matched(n: int, variance: float, step: float = 1e-3) -> np.ndarray:
    """Return the operator of which dx' A x / 2 variance is the score, the slope of the log density, at theta = 0."""
    slope = (_covariance(n, step) - _covariance(n, -step)) / (2 * step)
    return 2 * slope @ np.linalg.inv(2 * _covariance(n) + variance * np.eye(n))


def _estimate(config: Config, seed: int) -> Errors:
    lesson, test = (
        WORLDS["L1"].pairs(config.n, size, [seed, 33, k]) for k, size in enumerate((config.n_pairs, config.n_test))
    )
    rows = []
    for snr in config.snrs:
        variance = float(_covariance(1)[0, 0] * 10 ** (-snr / 10))
        noisy = [_noisy(pairs, variance, [seed, 34, k]) for k, pairs in enumerate((lesson, test))]
        operators = derivative_operator((config.n,)), _matched(config.n, variance)
        compared = np.array([_compare(noisy[0], noisy[1], A) for A in operators]).T
        rows.append((*compared, _error(_posterior_mean(noisy[1], variance), test)))
    correlation, ridge, penalty, bayes = (np.array(field).T for field in zip(*rows, strict=True))
    return Errors(correlation, ridge, penalty, bayes)


def _noisy(pairs: FramePairs, variance: float, seed: Any) -> FramePairs:
    return SensorNoise(np.sqrt(variance), random_state=seed).fit_transform(pairs)


def _error(estimates: np.ndarray, pairs: FramePairs) -> float:
    assert pairs.motion is not None
    theta = pairs.motion[:, 0]
    return float(np.mean((estimates - theta) ** 2) / np.mean(theta**2))


def _compare(lesson: FramePairs, test: FramePairs, A: np.ndarray) -> tuple[float, float, float]:
    """Fit correlation and ridge regression; return their errors on new pairs, and the penalty."""
    (products, sizes), (new_products, new_sizes) = (_terms(pairs, A) for pairs in (lesson, test))
    assert lesson.motion is not None
    constant = products @ lesson.motion[:, 0] / (products @ products)
    scale = sizes.mean()

    def loss(log_penalty: float) -> float:
        return _error(products / (sizes + scale * np.exp(log_penalty)), lesson)

    penalty = np.exp(minimize_scalar(loss, bounds=(-7, 14), method="bounded").x)
    ridge = new_products / (new_sizes + scale * penalty)
    return _error(constant * new_products, test), _error(ridge, test), penalty


def _terms(pairs: FramePairs, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return dx' A x and |A x|^2, x the mean of both frames, each of shape (n_pairs,)."""
    predicted = (pairs.before + pairs.after) / 2 @ A.T
    return ((pairs.after - pairs.before) * predicted).sum(axis=1), (predicted**2).sum(axis=1)


def _posterior_mean(pairs: FramePairs, variance: float) -> np.ndarray:
    """Return E[theta | both frames], from their density at every theta of L1's uniform prior, shape (n_pairs,)."""
    nodes, weights = np.polynomial.legendre.leggauss(N_NODES)
    theta = WORLDS["L1"].max_shift * nodes
    logs = np.stack([_log_density(pairs, variance, shift) for shift in theta])
    posterior = weights[:, None] * np.exp(logs - logs.max(axis=0))
    return theta @ posterior / posterior.sum(axis=0)


def _log_density(pairs: FramePairs, variance: float, shift: float) -> np.ndarray:
    """Return the log density of both frames, jointly Gaussian, but for a constant; shape (n_pairs,)."""
    n = pairs.n_pixels
    alone, across = _covariance(n) + variance * np.eye(n), _covariance(n, shift)
    covariance = np.block([[alone, across.T], [across, alone]])
    both = np.concatenate([pairs.before, pairs.after], axis=1)
    return -((both @ np.linalg.inv(covariance) * both).sum(axis=1) + np.linalg.slogdet(covariance)[1]) / 2


# -- claims --------------------------------------------------------------------------------------------------------


def check(result: Result) -> list[Claim]:
    """State C15 and C33."""
    return _of_the_minimum(result) + _of_noise(result)


def _of_the_minimum(result: Result) -> list[Claim]:
    config, minimum, seeds = result.config, result.minimum, result.config.n_seeds
    slopes = np.array([np.polyfit(np.log(config.penalties), np.log(plain), 1)[0] for plain in minimum.plain])
    slope = slopes[np.abs(slopes + 1).argmax()]
    penalties = f"lambda from {config.penalties[0]:g} to {config.penalties[-1]:g} of the mean of |A x|^2"
    note = f"frames of L1, not whitened, {config.n} pixels, {penalties}"
    closed = "largest error of theta = dx' A x / (|A x|^2 + lambda) against a numeric minimiser, relative to theta"
    plain = "log-log slope, in lambda, of the relative error of dx' A x / lambda"
    exact = "the relative error is |A x|^2 / lambda exactly, so that the slope is -1 at every lambda"
    sign = "correlation of theta with how far the content moved to the right: minus the printed theta, least"
    return [
        below("C15.closed", closed, minimum.closed.max(), 1e-10, seeds=seeds, note=note),
        within("C15.slope", plain, slope, -1.02, -0.98, seeds=seeds, note=f"{penalties}; {exact}"),
        report("C15.sign", sign, minimum.sign.min(), seeds=seeds, note=note),
    ]


def _of_noise(result: Result) -> list[Claim]:
    config, errors, seeds = result.config, result.errors, result.config.n_seeds
    ratio, explained = errors.correlation / errors.ridge, 1 - errors.bayes
    share = (1 - errors.correlation) / explained[:, None]
    lowest, modest, highest = (config.snrs.index(snr) for snr in (LOWEST, MODEST, HIGHEST))
    middle = int(np.abs(np.array(config.snrs) + result.change_snr - LOWEST).argmin())
    world = f"L1 with sensor noise, not whitened, {config.n} pixels, {config.n_test} new pairs"
    both = f"{world}; worst of the central difference and the matched operator"
    title = "mean squared error of the best-scaled correlation over that of the best ridge regression"
    change = f"ratio of the change {config.snrs[middle] + result.change_snr:.1f} dB; {both}"
    silent = f"{both}; neither says anything there: see C33.error"
    error = "relative to the variance of the motion (1 says nothing), least"
    least = "share of the variance that the posterior mean explains which the correlation explains too"
    matched, modestly = "operator matched to the noise", f"at {MODEST:g} dB"
    penalty = f"lambda relative to the mean of |A x|^2, {modestly}, least"

    def row(kind: Any, id: str, title: str, value: float, *bound: float, note: str = world) -> Claim:
        return kind(f"C33.{id}", title, value, *bound, seeds=seeds, note=note)

    return [
        row(below, "ratio", f"{title}, at {LOWEST:g} dB", ratio[..., lowest].max(), 1.05, note=silent),
        row(above, "ratio_high", f"{title}, at {HIGHEST:g} dB, least", ratio[..., highest].min(), 1.05, note=world),
        row(report, "ratio_change", f"{title}, at {config.snrs[middle]:g} dB", ratio[..., middle].max(), note=change),
        row(
            report,
            "error",
            f"error of the correlation at {LOWEST:g} dB, {error}",
            errors.correlation[..., lowest].min(),
        ),
        row(report, "error_ridge", f"error of the ridge at {LOWEST:g} dB, {error}", errors.ridge[..., lowest].min()),
        row(
            report, "bayes", f"variance that the posterior mean explains {modestly}, least", explained[:, modest].min()
        ),
        row(above, "share", f"{least}, {modestly}, {matched}, least", share[:, 1, modest].min(), 0.95),
        row(report, "share_derivative", f"{least}, {modestly}, central difference, least", share[:, 0, modest].min()),
        row(report, "share_high", f"{least}, at {HIGHEST:g} dB, {matched}, most", share[:, 1, highest].max()),
        row(above, "penalty", penalty, errors.penalty[..., modest].min(), 10.0, note=both),
    ]
