"""The best that can be known of motion along a line: Bayes' rule, and what follows from its being right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from flymotion.claims import bayes
from flymotion.claims.bayes import covariance, posterior
from flymotion.claims.worlds import WORLDS, share_right
from flymotion.photoreceptors import SensorNoise


@pytest.fixture(scope="module")
def make_pairs():
    """Pairs of a world and n pixels, with noise at a ratio of signal to noise [dB], and the noise's variance."""

    def make(world="L1", n_pairs=50, n=5, *, snr=np.inf, seed=0):
        variance = float(covariance(WORLDS[world], 1)[0, 0] * 10 ** (-snr / 10))
        pairs = WORLDS[world].pairs(n, n_pairs, [seed])
        return SensorNoise(np.sqrt(variance), random_state=seed).fit_transform(pairs), variance

    return make


@pytest.mark.parametrize("world", WORLDS)
def test_posterior_is_bayes_rule_on_a_fine_grid(make_pairs, world):
    max_shift = WORLDS[world].max_shift
    (pairs, variance), grid = make_pairs(world, 20, 4, snr=25.0), max_shift * np.linspace(-1, 1, 201)
    densities = np.zeros((len(grid), len(pairs)))
    for k, shift in enumerate(grid):
        alone, across = covariance(WORLDS[world], 4) + variance * np.eye(4), covariance(WORLDS[world], 4, shift)
        joint = np.block([[alone, across.T], [across, alone]])
        densities[k] = multivariate_normal(cov=joint).pdf(np.concatenate([pairs.before, pairs.after], axis=1))
    probability = densities / np.trapezoid(densities, grid, axis=0)
    found = posterior(WORLDS[world], pairs, variance)
    assert_allclose(found.mean(), np.trapezoid(grid[:, None] * probability, grid, axis=0), atol=3e-4 * max_shift)
    assert_allclose(found.rightness(), np.trapezoid(np.sign(grid)[:, None] * probability, grid, axis=0), atol=1e-3)


def test_nodes_are_motions_of_the_prior(make_pairs):
    found = posterior(WORLDS["L1"], make_pairs()[0])
    assert found.probability.shape == (bayes.N_NODES, 50)
    assert (np.diff(found.motion) > 0).all()
    assert np.abs(found.motion).max() < WORLDS["L1"].max_shift
    assert_allclose(found.motion, -found.motion[::-1])
    assert_allclose(found.probability.sum(axis=0), 1)


def test_what_is_reversed_in_time_moves_the_other_way(make_pairs):
    pairs, variance = make_pairs(snr=20.0)
    forth, back = (posterior(WORLDS["L1"], some, variance) for some in (pairs, pairs.reversed()))
    assert_allclose(forth.mean(), -back.mean(), atol=1e-12)
    assert_allclose(forth.probability, back.probability[::-1], atol=1e-12)


def test_pairs_are_looked_at_in_parts(make_pairs, monkeypatch):
    pairs, variance = make_pairs(snr=20.0)
    whole = posterior(WORLDS["L1"], pairs, variance).mean()
    monkeypatch.setattr(bayes, "CHUNK", 7)
    assert_allclose(posterior(WORLDS["L1"], pairs, variance).mean(), whole, rtol=1e-9)


@pytest.mark.parametrize(("world", "within"), [("L1", 1e-10), ("L2", 2e-3)])
@pytest.mark.parametrize("n", [5, 15])
def test_nodes_are_enough_at_30_db(make_pairs, monkeypatch, world, within, n):
    pairs, variance = make_pairs(world, 500, n, snr=30.0)
    found = posterior(WORLDS[world], pairs, variance)
    monkeypatch.setattr(bayes, "N_NODES", 256)
    finer = posterior(WORLDS[world], pairs, variance)
    assert_allclose(found.mean(), finer.mean(), atol=within * WORLDS[world].max_shift)
    assert_allclose(found.rightness(), finer.rightness(), atol=1e-6)


@pytest.mark.parametrize("n", [5, 15])
def test_without_noise_more_nodes_say_the_same_to_half_their_distance(make_pairs, monkeypatch, n):
    """Only where a pair hardly moves, by less than half the first node, is the sign's probability another one."""
    pairs, _ = make_pairs(n_pairs=2000, n=n)
    found, first = posterior(WORLDS["L1"], pairs), 0.0014 * WORLDS["L1"].max_shift / 2
    monkeypatch.setattr(bayes, "N_NODES", 256)
    finer, moving = posterior(WORLDS["L1"], pairs), np.abs(pairs.motion[:, 0]) > first
    assert_allclose(found.mean(), finer.mean(), atol=0.04 * WORLDS["L1"].max_shift)
    assert_allclose(found.rightness()[moving], finer.rightness()[moving], atol=1e-3)
    assert share_right(found.rightness(), pairs) == share_right(finer.rightness(), pairs)


@pytest.mark.parametrize("snr", [10.0, 20.0, 30.0])
def test_the_posterior_mean_beats_every_linear_reader(make_pairs, snr):
    """Every weighted sum of products dx x' of the two frames, weights fitted with labels to these very pairs."""
    pairs, variance = make_pairs(n_pairs=10_000, snr=snr)
    theta = pairs.motion[:, 0]
    readers = ((pairs.after - pairs.before)[:, :, None] * (pairs.after + pairs.before)[:, None, :]).reshape(
        len(pairs), -1
    )
    linear = readers @ np.linalg.lstsq(readers, theta)[0]
    found = posterior(WORLDS["L1"], pairs, variance)
    optimism = 2 * readers.shape[1] / len(pairs)  # what as many weights explain of anything
    least, others = (1 - np.mean((some - theta) ** 2) / np.mean(theta**2) for some in (found.mean(), linear))
    assert least > others - optimism
    assert share_right(found.rightness(), pairs) > share_right(linear, pairs) - 0.005


@pytest.mark.parametrize("world", WORLDS)
def test_probabilities_are_frequencies(make_pairs, world):
    """Of the pairs that are told right with a probability of p, a share of p moves right: to 4 standard errors."""
    pairs, variance = make_pairs(world, 20_000, snr=20.0, seed=1)
    right = (1 + posterior(WORLDS[world], pairs, variance).rightness()) / 2
    moved = pairs.motion[:, 0] > 0
    of_bin = np.eye(10)[np.minimum((10 * right).astype(int), 9)]
    told, came, errors = (each @ of_bin / of_bin.sum(axis=0) for each in (right, moved, right * (1 - right)))
    assert of_bin.sum(axis=0).min() > 50
    assert (np.abs(told - came) < 4 * np.sqrt(errors / of_bin.sum(axis=0))).all()


def test_the_spread_of_means_is_the_variance_that_they_explain(make_pairs):
    """E[mean motion] = E[mean^2], by the tower property; C33 rests on it."""
    pairs, variance = make_pairs(n_pairs=20_000, snr=20.0, seed=2)
    mean, theta = posterior(WORLDS["L1"], pairs, variance).mean(), pairs.motion[:, 0]
    assert_allclose(np.mean(mean * theta), np.mean(mean**2), rtol=0.05)


@pytest.mark.parametrize("n", [5, 9, 15, 25])
@pytest.mark.parametrize("world", WORLDS)
def test_without_noise_nearly_all_is_known(make_pairs, world, n):
    pairs, _ = make_pairs(world, 1000, n)
    found, theta = posterior(WORLDS[world], pairs), pairs.motion[:, 0]
    assert share_right(found.rightness(), pairs) >= 0.999
    assert np.mean((found.mean() - theta) ** 2) < 0.01 * np.mean(theta**2)


def test_much_noise_leaves_the_prior(make_pairs):
    pairs, _ = make_pairs()
    found = posterior(WORLDS["L1"], pairs, 1e9)
    assert_allclose(found.mean(), 0, atol=1e-6)
    assert_array_equal(np.abs(found.rightness()) < 1e-6, True)
