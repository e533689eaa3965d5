r"""Velocity as a ridge regression, and as a correlation (Section 2.5, Supplement C; C15, C33).

Content moves by theta, so that :math:`\Delta x = \theta A x` and noise; the estimates are

.. math::
    \hat\theta = \arg\min_\theta |\Delta x - \theta A x|^2 + \lambda \theta^2
    = \frac{\Delta x' A x}{|A x|^2 + \lambda} \approx \frac{\Delta x' A x}{\lambda}.

A is minus the spatial derivative: for content, not for the eye, theta is *minus* the one printed in Supplement C. The
signal-to-noise ratio is the variance of a pixel's intensity over that of its noise; the change from frame to frame is
much smaller than the intensity, so that its own ratio is 35 dB lower in world L1 (:func:`change_snr`).

With the covariance C(s) of the pixels after and before content has moved by s, and noise of variance
:math:`\sigma^2`, the slope of the log likelihood at theta = 0 is :math:`\Delta x' A \bar x / 2 \sigma^2`, with the mean
:math:`\bar x` of both frames and :math:`A = 2 C'(0) (2 C(0) + \sigma^2)^{-1}`, the derivative of what can be told of
the scene: called matched here. So in much noise the posterior mean is the correlation :math:`\Delta x' A \bar x /
\lambda`, with :math:`\lambda = 2 \sigma^2 / \mathrm{var}\,\theta`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares, minimize_scalar

from flymotion.claims.rows import Claim, above, below, report, within
from flymotion.claims.running import Found, Work, each_seed
from flymotion.claims.worlds import CORRELATION_LENGTH, WORLDS
from flymotion.frames import FramePairs
from flymotion.generators import derivative_operator
from flymotion.photoreceptors import SensorNoise
from flymotion.plots.canvas import new_figure
from flymotion.world.scenes import exponential_covariance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "QUICK", "Config", "Errors", "Minimum", "change_snr", "check", "figures", "work"]

CLAIMS = {
    "C15": "velocity by ridge regression is nearly a correlation",
    "C33": "in much noise a correlation is as good as the ridge",
}

OPERATORS = ("central difference", "operator matched to the noise")
"""That of Supplement C; and the one that is optimal for small motions at that noise."""

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


QUICK = {"n_seeds": 2}


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


def work(config: Config) -> Work:
    """Look for minima, and estimate motion in more and more noise."""
    return {
        name: each_seed(piece, config.n_seeds, config)
        for name, piece in (("minimum", _minimise), ("errors", _estimate))
    }


# -- ridge regression, C15 -----------------------------------------------------------------------------------------


def _minimise(config: Config, seed: int) -> Minimum:
    pairs = WORLDS["L1"].pairs(config.n, config.n_minima, [seed, 15])
    change, predicted = pairs.after - pairs.before, pairs.before @ derivative_operator((config.n,)).T
    products, sizes = (change * predicted).sum(axis=1), (predicted**2).sum(axis=1)
    assert pairs.motion is not None
    found = []
    for penalty in np.array(config.penalties) * sizes.mean():
        minima = np.array([_argmin(dx, Ax, penalty) for dx, Ax in zip(change, predicted, strict=True)])
        closed = np.abs(products / (sizes + penalty) - minima).max() / np.abs(minima).max()
        plain = np.sqrt(np.mean((products / penalty / minima - 1) ** 2))
        found.append((closed, plain, np.corrcoef(minima, pairs.motion[:, 0])[0, 1]))
    return Minimum(*np.array(found).T)


def _argmin(dx: np.ndarray, Ax: np.ndarray, penalty: float) -> float:
    """Minimise |dx - theta A x|^2 + penalty theta^2, knowing nothing of it but its terms."""

    def terms(theta: np.ndarray) -> np.ndarray:
        return np.append(dx - theta * Ax, np.sqrt(penalty) * theta)  # Eq. 28, of content

    # Derivatives by complex steps are exact; from values of the sum alone theta could be told to 1e-8 only.
    return float(least_squares(terms, [0.0], jac="cs", xtol=1e-15, ftol=1e-15, gtol=1e-15).x[0])


# -- noise, C33 ----------------------------------------------------------------------------------------------------


def _covariance(n: int, shift: float = 0.0) -> np.ndarray:
    """Return E[after before'] for content of world L1 that moves by ``shift``, shape (n, n)."""
    places = np.arange(n)
    displacements = places[:, None, None] - places[:, None] - shift
    return exponential_covariance(CORRELATION_LENGTH, WORLDS["L1"].sigma)(displacements)


def change_snr() -> float:
    """Return what the change's ratio of signal to noise exceeds the intensity's by; negative [dB]."""
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


def check(found: Found, config: Config) -> Iterator[Claim]:
    """State C15 and C33."""
    yield from _check_minimum(found["minimum"], config)
    yield from _check_noise(found["errors"], config)


def _check_minimum(minimum: Minimum, config: Config) -> Iterator[Claim]:
    penalties = f"lambda from {config.penalties[0]:g} to {config.penalties[-1]:g} of the mean of |A x|^2"
    note = f"frames of L1, not whitened, {config.n} pixels, {penalties}"
    title = "largest error of theta = dx' A x / (|A x|^2 + lambda) against a numeric minimiser, relative to theta"
    yield below("C15.closed", title, minimum.closed, 1e-10, note=note)
    slopes = np.polyfit(np.log(config.penalties), np.log(minimum.plain).T, 1)[0]
    title = "log-log slope, in lambda, of the relative error of dx' A x / lambda"
    exact = "the relative error is |A x|^2 / lambda exactly, so that the slope is -1 at every lambda"
    yield within("C15.slope", title, slopes, -1.02, -0.98, note=f"{penalties}; {exact}")
    title = "correlation of theta with how far the content moved to the right: minus the printed theta, least"
    yield report("C15.sign", title, minimum.sign, worst=np.min, note=note)


def _check_noise(errors: Errors, config: Config) -> Iterator[Claim]:
    ratio, explained = errors.correlation / errors.ridge, 1 - errors.bayes
    share = (1 - errors.correlation) / explained[:, None]
    low, modest, high = (config.snrs.index(snr) for snr in (LOWEST, MODEST, HIGHEST))
    middle = int(np.abs(np.array(config.snrs) + change_snr() - LOWEST).argmin())
    world = f"L1 with sensor noise, not whitened, {config.n} pixels, {config.n_test} new pairs"
    both = f"{world}; worst of the central difference and the matched operator"
    silent = f"{both}; neither says anything there: see C33.error"
    change = f"ratio of the change {config.snrs[middle] + change_snr():.1f} dB; {both}"
    title = "mean squared error of the best-scaled correlation over that of the best ridge regression"
    error = f"at {LOWEST:g} dB, relative to the variance of the motion (1 says nothing), least"
    least = "share of the variance that the posterior mean explains which the correlation explains too"
    at, top, (plain, matched) = f"at {MODEST:g} dB", f"at {HIGHEST:g} dB", OPERATORS
    smallest = partial(report, worst=np.min, note=world)
    yield below("C33.ratio", f"{title}, at {LOWEST:g} dB", ratio[..., low], 1.05, note=silent)
    yield above("C33.ratio_high", f"{title}, {top}, least", ratio[..., high], 1.05, note=world)
    yield report(
        "C33.ratio_change", f"{title}, at {config.snrs[middle]:g} dB", ratio[..., middle], worst=np.max, note=change
    )
    yield smallest("C33.error", f"error of the correlation {error}", errors.correlation[..., low])
    yield smallest("C33.error_ridge", f"error of the ridge {error}", errors.ridge[..., low])
    yield smallest("C33.bayes", f"variance that the posterior mean explains {at}, least", explained[:, modest])
    yield above("C33.share", f"{least}, {at}, {matched}, least", share[:, 1, modest], 0.95, note=world)
    yield smallest("C33.share_derivative", f"{least}, {at}, {plain}, least", share[:, 0, modest])
    yield report("C33.share_high", f"{least}, {top}, {matched}, most", share[:, 1, high], worst=np.max, note=world)
    title = f"lambda relative to the mean of |A x|^2, {at}, least"
    yield above("C33.penalty", title, errors.penalty[..., modest], 10.0, note=both)


def figures(found: Found, config: Config) -> dict[str, Figure]:
    """Draw the errors of both estimators, and their ratio, against signal to noise: mean and range of seeds."""
    errors: Errors = found["errors"]
    figure = new_figure(10, 4.4)
    left, right = figure.subplots(1, 2, sharex=True)
    for k, name in enumerate(OPERATORS):
        correlation, ridge = errors.correlation[:, k], errors.ridge[:, k]
        _draw_curve(left, config.snrs, correlation, "o-", f"C{k}", f"correlation, {name}")
        _draw_curve(left, config.snrs, ridge, "s--", f"C{k}", f"ridge regression, {name}")
        _draw_curve(right, config.snrs, correlation / ridge, "o-", f"C{k}", name)
    _draw_curve(left, config.snrs, errors.bayes, ":", "black", "posterior mean (Bayes)")
    left.set(ylabel="mean squared error / variance of motion", ylim=(0, 1.05))
    left.legend(fontsize=8, loc="lower left")
    right.axhline(1.05, color="0.6", linewidth=1, zorder=0, label="bound of C33 at -10 dB")
    right.set_ylabel("error of correlation / error of ridge regression")
    right.legend(fontsize=8, loc="upper left")
    to_change, back = (partial(np.add, shift) for shift in (change_snr(), -change_snr()))
    for axes in (left, right):
        axes.set_xlabel("signal-to-noise ratio of the intensity [dB]")
        upper = axes.secondary_xaxis("top", functions=(to_change, back))
        upper.set_xlabel("of the change from frame to frame [dB]")
    return {"regression": figure}


def _draw_curve(axes: Axes, snrs: Any, values: np.ndarray, style: str, colour: str, label: str) -> None:
    """Draw the mean of the seeds, shape (n_seeds, n_snrs), and a band from the least to the most."""
    axes.plot(snrs, values.mean(axis=0), style, color=colour, label=label, markersize=4)
    axes.fill_between(snrs, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
