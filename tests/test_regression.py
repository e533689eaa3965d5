"""Velocity as ridge regression and as correlation (C15, C33): the claims, and the theory that they rest on."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose

from flymotion.claims import regression
from flymotion.claims.bayes import covariance, log_densities, posterior
from flymotion.claims.regression import known_in_noise, ridge_minimum
from flymotion.claims.regression.known_in_noise import OPERATORS, RIDGES
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
        return known_in_noise.noisy(L1.pairs(n, n_pairs, [seed]), variance, seed)

    return make


def change_and_middle(pairs):
    return pairs.after - pairs.before, (pairs.before + pairs.after) / 2


@pytest.fixture(scope="module")
def variance_of():
    """Return the variance of the noise at a ratio of signal to noise [dB]."""
    return lambda snr: float(covariance(L1, 1)[0, 0] * 10 ** (-snr / 10))


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
            "known": config.n_seeds,
        }


def test_pieces_are_independent_and_repeatable(pickled):
    piece = regression.work(regression.Config(n_seeds=2, n_pairs=200, snrs=(10.0,)))["known"][-1]
    first, again = piece(), pickled(piece)()
    np.testing.assert_array_equal(first.share, again.share)
    np.testing.assert_array_equal(first.bayes, again.bayes)


# Ridge regression


@pytest.mark.parametrize("penalty", [0.0, 0.5, 1e6])
def test_minimum_is_the_closed_form(penalty):
    dx, Ax = np.random.default_rng(0).normal(size=(2, 7))
    assert_allclose(ridge_minimum.argmin(dx, Ax, penalty), dx @ Ax / (Ax @ Ax + penalty), rtol=1e-12)


def test_the_printed_theta_is_that_of_the_eye(make_pairs):
    """Slip 2: |dx + theta dix|^2 + lambda theta^2 is least at minus the printed theta, which for content is right."""
    pairs = make_pairs()
    change, slope = pairs.after - pairs.before, -pairs.before @ derivative_operator((6,)).T
    printed = (change * slope).sum(axis=1) / ((slope**2).sum(axis=1) + 0.1)
    minima = np.array([ridge_minimum.argmin(dx, -dix, 0.1) for dx, dix in zip(change, slope, strict=True)])
    assert_allclose(minima, -printed, rtol=1e-10)
    assert np.corrcoef(minima, pairs.motion[:, 0])[0, 1] > 0.7


def test_terms_are_those_of_operators_estimate(make_pairs):
    pairs, A = make_pairs(variance=0.01), derivative_operator((6,))
    products, sizes = known_in_noise.terms(*change_and_middle(pairs), A)
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
    theory = np.mean([covariance(L1, 6, shift) for shift in np.linspace(0, L1.max_shift, 21)], axis=0)
    assert_allclose(sampled, theory, atol=4 * theory[0, 0] * np.sqrt(2 * 3 / 32768))
    odd = theory - theory.T
    assert_allclose(sampled - sampled.T, odd, atol=0.1 * np.abs(odd).max())


def test_change_has_the_ratio_of_signal_to_noise_that_is_said(make_pairs):
    pairs = make_pairs(100_000)
    sampled = np.mean((pairs.after - pairs.before) ** 2) / 2 / np.mean(pairs.before**2)
    assert_allclose(known_in_noise.change_snr(), 10 * np.log10(sampled), atol=0.1)


def test_correlation_with_the_matched_operator_is_the_score(make_pairs, variance_of):
    """d/dtheta of the log density of both frames at 0 is dx' A x / 2 sigma^2, exactly, at every noise."""
    for snr in (30.0, 0.0, -20.0):
        variance, step = variance_of(snr), 1e-3
        pairs = make_pairs(variance=variance)
        left, right = log_densities(L1, pairs, variance, np.array([step]))[:, 0]
        products, _ = known_in_noise.terms(*change_and_middle(pairs), known_in_noise.matched(6, variance))
        score = (right - left) / (2 * step)
        assert_allclose(products / (2 * variance), score, atol=1e-4 * np.abs(score).max())


def test_of_an_antisymmetric_operator_the_mean_frame_is_as_good_as_the_one_before(make_pairs):
    """So the central difference's correlation is that of Supplement C, dx' A x, to the letter."""
    pairs = make_pairs()
    change, middle = change_and_middle(pairs)
    A = derivative_operator((6,))
    products, _ = known_in_noise.terms(change, middle, A)
    assert_allclose(products, (change * (pairs.before @ A.T)).sum(axis=1), atol=1e-12)


def test_matched_operator_predicts_without_noise_and_is_the_covariances_slope_in_much():
    still = covariance(L1, 5)
    slope = (covariance(L1, 5, 1e-3) - covariance(L1, 5, -1e-3)) / 2e-3
    assert_allclose(slope, -slope.T, atol=1e-12)
    assert_allclose(known_in_noise.matched(5, 0.0) @ still, slope, atol=1e-9)
    assert_allclose(known_in_noise.matched(5, 1e9) * 1e9, 2 * slope, rtol=1e-6, atol=1e-9)


def test_shares_are_those_told_from_the_true_motion(found):
    """E[c theta] = E[c m]; where more than a few hundredths can be known, 8,000 pairs tell it to some hundredths."""
    known, high = found["known"], np.array(ONE.snrs) >= 20
    assert_allclose(known.share[0][:, high], known.direct[0][:, high], atol=0.03)


def test_no_correlation_or_ridge_knows_more_than_there_is(found):
    known = found["known"]
    assert (known.share <= 1).all() and (known.ridge <= 1).all()
    matched, ridge = list(OPERATORS).index("matched"), RIDGES.index("matched")
    low = np.array(ONE.snrs) <= 0
    assert (known.share[0, matched, low] > 0.999).all()
    assert (np.delete(known.share, matched, axis=1)[..., low] < 0.999).all()
    assert (known.ridge[0, ridge] > known.share[0, matched] - 0.01).all()


def test_nothing_can_be_known_where_the_first_version_looked(found):
    """At -10 dB the posterior mean explains less than a ten-thousandth, so any two estimates err alike."""
    assert found["known"].bayes[0, ONE.snrs.index(-10.0)] < 1e-4


def test_in_much_noise_the_labelled_mean_is_the_matched_operator():
    operators = known_in_noise._operators(L1.pairs(5, 100, [0]), 1e6, np.random.default_rng(0))
    ratio = operators["population"] / np.where(operators["matched"] == 0, 1, operators["matched"])
    off = ~np.eye(5, dtype=bool)
    assert_allclose(ratio[off], ratio[0, 1], rtol=1e-3)


def test_best_penalty_is_noise_variance_over_prior_variance(found, variance_of):
    """For the matched operator, lambda = 2 sigma^2 / var theta; |A x|^2 as found on new pairs."""
    for snr in (25.0, 20.0, 15.0):
        variance = variance_of(snr)
        pairs = known_in_noise.noisy(L1.pairs(15, 10_000, [9]), variance, 9)
        _, sizes = known_in_noise.terms(*change_and_middle(pairs), known_in_noise.matched(15, variance))
        expected = 2 * variance / (L1.max_shift**2 / 3) / sizes.mean()
        penalty = found["known"].penalty[0, RIDGES.index("matched"), ONE.snrs.index(snr)]
        assert_allclose(penalty, expected, rtol=0.15)


def test_penalties_of_the_posterior_mean_are_those_of_the_true_motion(make_pairs, variance_of):
    variance = variance_of(25.0)
    pairs = make_pairs(20_000, variance=variance)
    products, sizes = known_in_noise.terms(*change_and_middle(pairs), derivative_operator((6,)))
    aims = posterior(L1, pairs, variance).mean(), pairs.motion[:, 0]
    found, from_true = (known_in_noise._best_ridge(products, sizes, aim)[1] for aim in aims)
    assert_allclose(found, from_true, rtol=0.15)


def test_figure_has_shares_and_penalties_against_both_ratios_of_signal_to_noise(found):
    figure = regression.figures(found, ONE)["regression"]
    figure.savefig(io.BytesIO(), dpi=40)
    left, right = figure.axes
    assert len(left.lines) == len(OPERATORS) + len(RIDGES) + 1
    assert "[dB]" in left.get_xlabel()
    assert_allclose(left.lines[0].get_ydata(), found["known"].share[0, 0])
    assert_allclose(right.lines[0].get_ydata(), found["known"].penalty[0, 0])
