"""Velocity as ridge regression and as correlation (C15, C33): the claims, and the theory that they rest on."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from flymotion.claims import regression
from flymotion.claims.running import run
from flymotion.claims.worlds import WORLDS
from flymotion.generators import Operators, derivative_operator

L1 = WORLDS["L1"]

ONE = regression.Config(n_seeds=1)


@pytest.fixture(scope="module")
def found():
    """One seed of the full size."""
    return run(regression.work(ONE))


@pytest.fixture(scope="module")
def make_pairs():
    """Pairs of world L1 and n pixels, with noise of a variance."""

    def make(n_pairs=50, n=6, *, variance=0.0, seed=0):
        return regression._noisy(L1.pairs(n, n_pairs, [seed]), variance, seed)

    return make


@pytest.fixture(scope="module")
def variance_of():
    """Return the variance of the noise at a ratio of signal to noise [dB]."""
    return lambda snr: float(regression._covariance(1)[0, 0] * 10 ** (-snr / 10))


def test_claims_hold(found):
    rows = list(regression.check(found, ONE))
    assert [row for row in rows if row.holds is False] == []
    assert {row.id.partition(".")[0] for row in rows} == {"C15", "C33"}
    assert len({row.id for row in rows}) == len(rows)
    assert all(np.isfinite(row.value) for row in rows)


def test_quick_has_only_fewer_seeds():
    assert regression.QUICK == {"n_seeds": 2}
    for config in (regression.Config(**regression.QUICK), regression.Config()):
        assert {name: len(pieces) for name, pieces in regression.work(config).items()} == {
            "minimum": config.n_seeds,
            "errors": config.n_seeds,
        }


def test_pieces_are_independent_and_repeatable(pickled):
    piece = regression.work(regression.Config(n_seeds=2, n_pairs=200, n_test=200, snrs=(10.0,)))["errors"][-1]
    first, again = piece(), pickled(piece)()
    np.testing.assert_array_equal(first.correlation, again.correlation)
    np.testing.assert_array_equal(first.bayes, again.bayes)


# Ridge regression


@pytest.mark.parametrize("penalty", [0.0, 0.5, 1e6])
def test_minimum_is_the_closed_form(penalty):
    dx, Ax = np.random.default_rng(0).normal(size=(2, 7))
    assert_allclose(regression._argmin(dx, Ax, penalty), dx @ Ax / (Ax @ Ax + penalty), rtol=1e-12)


def test_the_printed_theta_is_that_of_the_eye(make_pairs):
    """Slip 2: |dx + theta dix|^2 + lambda theta^2 is least at minus the printed theta, which for content is right."""
    pairs = make_pairs()
    change, slope = pairs.after - pairs.before, -pairs.before @ derivative_operator((6,)).T
    printed = (change * slope).sum(axis=1) / ((slope**2).sum(axis=1) + 0.1)
    minima = np.array([regression._argmin(dx, -dix, 0.1) for dx, dix in zip(change, slope, strict=True)])
    assert_allclose(minima, -printed, rtol=1e-10)
    assert np.corrcoef(minima, pairs.motion[:, 0])[0, 1] > 0.7


def test_terms_are_those_of_operators_estimate(make_pairs):
    pairs, A = make_pairs(variance=0.01), derivative_operator((6,))
    products, sizes = regression._terms(pairs, A)
    estimate = Operators(A[None], (6,)).estimate(pairs, ridge=0.3)[:, 0]
    assert_allclose(products / (1.3 * sizes), estimate, rtol=1e-9)


def test_correlation_over_lambda_errs_by_size_over_lambda(found):
    """So the mean error at a penalty relative to the mean size is near 1 over it, at every penalty."""
    errors = found["minimum"].plain[0] * np.array(ONE.penalties)
    assert_allclose(errors, errors[0], rtol=1e-6)
    assert 1 < errors[0] < 1.3


# Noise


def test_covariance_is_that_of_the_pairs(make_pairs):
    """To 4 standard deviations, c(0) sqrt(2 l / L) in a scene of length L; what is odd is known far better."""
    pairs = make_pairs(100_000)
    right = pairs.motion[:, 0] > 0
    sampled = pairs.after[right].T @ pairs.before[right] / right.sum()
    theory = np.mean([regression._covariance(6, shift) for shift in np.linspace(0, L1.max_shift, 21)], axis=0)
    assert_allclose(sampled, theory, atol=4 * theory[0, 0] * np.sqrt(2 * 3 / 32768))
    odd = theory - theory.T
    assert_allclose(sampled - sampled.T, odd, atol=0.1 * np.abs(odd).max())


def test_change_has_the_ratio_of_signal_to_noise_that_is_said(make_pairs):
    pairs = make_pairs(100_000)
    sampled = np.mean((pairs.after - pairs.before) ** 2) / 2 / np.mean(pairs.before**2)
    assert_allclose(regression.change_snr(), 10 * np.log10(sampled), atol=0.1)


def test_correlation_with_the_matched_operator_is_the_score(make_pairs, variance_of):
    """d/dtheta of the log density of both frames at 0 is dx' A x / 2 sigma^2, exactly, at every noise."""
    for snr in (30.0, 0.0, -20.0):
        variance, step = variance_of(snr), 1e-3
        pairs = make_pairs(variance=variance)
        above, below = (regression._log_density(pairs, variance, shift) for shift in (step, -step))
        products, _ = regression._terms(pairs, regression._matched(6, variance))
        score = (above - below) / (2 * step)
        assert_allclose(products / (2 * variance), score, atol=1e-4 * np.abs(score).max())


def test_matched_operator_predicts_without_noise_and_is_the_covariances_slope_in_much():
    covariance = regression._covariance(5)
    slope = (regression._covariance(5, 1e-3) - regression._covariance(5, -1e-3)) / 2e-3
    assert_allclose(slope, -slope.T, atol=1e-12)
    assert_allclose(regression._matched(5, 0.0) @ covariance, slope, atol=1e-9)
    assert_allclose(regression._matched(5, 1e9) * 1e9, 2 * slope, rtol=1e-6, atol=1e-9)


def test_posterior_mean_is_bayes_rule_on_a_fine_grid(make_pairs, variance_of):
    variance = variance_of(25.0)
    pairs, grid = make_pairs(20, 4, variance=variance), L1.max_shift * np.linspace(-1, 1, 401)
    densities = np.zeros((len(grid), len(pairs)))
    for k, shift in enumerate(grid):
        alone, across = regression._covariance(4) + variance * np.eye(4), regression._covariance(4, shift)
        covariance = np.block([[alone, across.T], [across, alone]])
        both = np.concatenate([pairs.before, pairs.after], axis=1)
        densities[k] = multivariate_normal(cov=covariance).pdf(both)
    expected = np.trapezoid(grid[:, None] * densities, grid, axis=0) / np.trapezoid(densities, grid, axis=0)
    assert_allclose(regression._posterior_mean(pairs, variance), expected, atol=1e-5 * L1.max_shift)


def test_no_estimate_beats_the_posterior_mean(found):
    assert (found["errors"].bayes[0] < found["errors"].ridge[0] + 1e-3).all()
    assert (found["errors"].bayes[0] < found["errors"].correlation[0] + 1e-3).all()


def test_best_penalty_is_noise_variance_over_prior_variance(found, variance_of):
    """For the matched operator, lambda = 2 sigma^2 / var theta; |A x|^2 as found on new pairs."""
    for snr in (25.0, 20.0, 15.0):
        variance = variance_of(snr)
        pairs = regression._noisy(L1.pairs(15, 10_000, [9]), variance, 9)
        _, sizes = regression._terms(pairs, regression._matched(15, variance))
        expected = 2 * variance / (L1.max_shift**2 / 3) / sizes.mean()
        assert_allclose(found["errors"].penalty[0, 1, ONE.snrs.index(snr)], expected, rtol=0.15)


def test_figure_has_errors_and_ratio_against_both_ratios_of_signal_to_noise(found):
    figure = regression.figures(found, ONE)["regression"]
    figure.savefig(io.BytesIO(), dpi=40)
    left, right = figure.axes
    assert [len(axes.get_legend().get_texts()) for axes in (left, right)] == [5, 3]
    assert "[dB]" in left.get_xlabel()
    assert_allclose(right.lines[0].get_ydata(), found["errors"].correlation[0, 0] / found["errors"].ridge[0, 0])
