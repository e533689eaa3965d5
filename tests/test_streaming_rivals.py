"""Oja's rules, CCIPCA, AdaOja and fast similarity matching: their papers' formulas as loops, and what these find."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import orth, subspace_angles
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import IncrementalPCA

from flymotion.claims.transformations.planes import Plane
from flymotion.claims.worlds import WORLDS
from flymotion.similarity import OuterProducts, SimilarityMatching
from flymotion.similarity.rivals import (
    CCIPCA,
    AdaOja,
    FastSimilarityMatching,
    OjaSubspace,
    OuterProductPCA,
    WrittenOut,
)
from flymotion.similarity.rivals.stream_learner import orthonormal_rows

INIT = np.random.default_rng(7).standard_normal((3, 12))
START = orthonormal_rows(INIT)
CLOSE = {"rtol": 1e-9, "atol": 1e-11}
EXACT = {"rtol": 1e-8, "atol": 1e-9}


def spectrum(n_samples=6000, n=12, K=3, seed=0, least=0.5):
    """Gaussian vectors with K eigenvalues from 1 down, all others 0.05, and their leading directions, (K, n)."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0].T
    roots = np.sqrt(np.concatenate([np.linspace(1, least, K), np.full(n - K, 0.05)]))
    return rng.standard_normal((n_samples, n)) * roots @ basis, basis[:K]


def missed(components, principal):
    """Share of the principal subspace that components miss."""
    return 1 - (np.linalg.norm(principal @ orth(components.T)) ** 2) / len(principal)


def unsigned(rows):
    return rows * np.sign(rows[:, :1])


# -- as their papers have them -----------------------------------------------------------------------------------------


@pytest.fixture(params=["vectors", "rank 1", "rank 2"])
def chi(request, make_samples):
    """Samples, and the same written out in units of the first one's norm."""
    samples, dense = make_samples(request.param)
    return samples, dense / np.linalg.norm(dense[0])


@pytest.mark.parametrize("ordered", [False, True], ids=["Oja", "Sanger"])
@pytest.mark.parametrize(("rate", "decay"), [(0.02, 0.0), (3.0, 1.0)])
def test_oja_is_the_rule_sample_by_sample(chi, ordered, rate, decay):
    samples, X = chi
    W, energy = START.copy(), 0.0
    for t, x in enumerate(X, start=1):
        y = W @ x
        energy += y @ y / 3
        eta = min(rate / t**decay / (energy / t), 0.5 / (x @ x))
        mixing = np.tril(np.outer(y, y)) if ordered else np.outer(y, y)
        W = W + eta * (np.outer(y, x) - mixing @ W)
    learner = OjaSubspace(3, learning_rate=rate, decay=decay, ordered=ordered, init=INIT).fit(samples)
    assert_allclose(learner.components_, W, **CLOSE)


@pytest.mark.parametrize("amnesic", [0.0, 2.0])
def test_ccipca_is_the_algorithm_of_its_paper(chi, amnesic):
    samples, X = chi
    v = []
    for n, u in enumerate(X, start=1):
        new = (1 + amnesic) / n if n - 1 - amnesic >= 1 else (n - 1) / n
        for i, vector in enumerate(v):
            vector = (1 - new) * vector + new * u * (u @ vector) / np.linalg.norm(vector)
            u, v[i] = u - (u @ vector) * vector / (vector @ vector), vector
        v += [u] * (len(v) < 3)
    learner = CCIPCA(3, amnesic=amnesic).fit(samples)
    lengths = np.linalg.norm(v, axis=1)
    assert_allclose(unsigned(learner.components_), unsigned(v / lengths[:, None]), **EXACT)
    assert_allclose(learner.explained_energy_ / learner.explained_energy_[0], lengths / lengths[0], **EXACT)


def test_adaoja_is_the_algorithm_of_its_paper(chi):
    samples, X = chi
    Q, b = START.T, np.full(3, 1e-5)
    for block in np.split(X, range(32, len(X), 32)):
        G = sum(np.outer(x, x @ Q) for x in block) / len(block)
        b = np.sqrt(b**2 + (G**2).sum(axis=0))
        Q = np.linalg.qr(Q + G / b)[0]
    assert len(X) % 32
    learner = AdaOja(3, block_size=32, init=INIT).fit(samples)
    assert_allclose(unsigned(learner.components_), unsigned(Q.T), **EXACT)


def test_an_incomplete_block_counts_and_is_gone_on_with():
    X = spectrum(100)[0]
    learner = AdaOja(3, block_size=64, random_state=0).partial_fit(X[:80])
    assert learner.n_samples_seen_ == 80
    shown = learner.components_
    assert not np.allclose(shown, AdaOja(3, block_size=64, random_state=0).fit(X[:64]).components_)
    expected = AdaOja(3, block_size=64, random_state=0).fit(X)
    assert_allclose(learner.partial_fit(X[80:]).components_, expected.components_, **CLOSE)


@pytest.mark.parametrize(("gamma", "tau"), [(2.0, 0.5), (0.6, 0.5), (1.5, 0.8)])
def test_fast_matching_is_equations_5_and_6_with_the_inverse_solved_for(chi, gamma, tau):
    samples, X = chi
    W, M = 0.01 * START, 0.01 * np.eye(3)
    for t, x in enumerate(X):
        y = np.linalg.solve(M, W @ x)
        eta = 1 / (gamma * t + 5)
        W = (1 - 2 * eta) * W + 2 * eta * np.outer(y, x)
        M = (1 - eta / tau) * M + eta / tau * np.outer(y, y)
    learner = FastSimilarityMatching(3, gamma=gamma, tau=tau, init=INIT).fit(samples)
    unit = learner.W_[0, 0] / W[0, 0]
    assert_allclose(learner.W_, unit * W, **EXACT)
    assert_allclose(learner.M_, unit * M, rtol=1e-7, atol=1e-8)  # the formula's rounding grows with M's condition


def test_averaging_fast_matching_is_similarity_matching(chi):
    """With gamma 2 and tau 1/2 rates are 1 / (t + 5/2): averages, of which 3/2 samples are the start."""
    samples, X = chi
    fast = FastSimilarityMatching(3, gamma=2.0, init=INIT).fit(samples)
    unit = np.sqrt(fast.W_[0, 0] / FastSimilarityMatching(3, gamma=2.0, init=INIT).fit(X).W_[0, 0])
    slow = SimilarityMatching(3, init=START, init_strength=0.015 * unit**2).fit(samples)
    assert_allclose(fast.components_, slow.components_, **EXACT)
    assert_allclose(fast.explained_energy_ * (len(X) + 1.5), np.linalg.eigvalsh(slow.R_)[::-1], **EXACT)


# -- what their papers say they find -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "most"),
    [
        (OjaSubspace(3, random_state=0), 0.005),
        (OjaSubspace(3, ordered=True, random_state=0), 0.005),
        (CCIPCA(3), 0.005),
        (AdaOja(3, random_state=0), 0.01),
        (AdaOja(3, block_size=256, random_state=0), 0.02),
        (FastSimilarityMatching(3, gamma=2.0, random_state=0), 0.002),
        (FastSimilarityMatching(3, gamma=0.6, random_state=0), 0.005),
    ],
    ids=str,
)
def test_all_come_to_the_principal_subspace_that_a_random_one_misses(learner, most):
    X, principal = spectrum()
    assert missed(learner.fit(X).components_, principal) < most
    assert missed(START, principal) > 0.5
    assert learner.score(X) > 0.98 * OuterProductPCA(3).fit(X).score(X)


@pytest.mark.parametrize(
    "learner", [OjaSubspace(3, ordered=True, random_state=0), CCIPCA(3), AdaOja(3, random_state=0)], ids=str
)
def test_components_come_in_their_order(learner):
    X, principal = spectrum(20_000, least=0.3)
    cosines = np.abs(np.vecdot(learner.fit(X).components_, principal))
    cosines /= np.linalg.norm(learner.components_, axis=1)
    assert cosines.min() > 0.99


def test_lengths_of_ccipca_are_eigenvalues():
    X, _ = spectrum(20_000)
    assert_allclose(CCIPCA(3, amnesic=0.0).fit(X).explained_energy_, [1, 0.75, 0.5], rtol=0.05)


def test_adaoja_needs_no_step_over_eight_orders_of_magnitude():
    X, principal = spectrum()
    errors = [missed(AdaOja(3, b0=10.0**k, random_state=0).fit(X).components_, principal) for k in range(-7, 2)]
    assert max(errors) < 0.02


def test_means_of_all_samples_are_slow_where_eigenvalues_are_close():
    """What is outside shrinks as t^(-(2 / gamma) (1 - ratio)): averages keep up with PCA where lambda_K is twice."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 12)) * np.sqrt(np.concatenate([np.ones(3), np.full(9, 1 / 1.4)]))
    principal = np.eye(3, 12)
    best = missed(OuterProductPCA(3).fit(X).components_, principal)
    slow = FastSimilarityMatching(3, gamma=2.0, random_state=0), CCIPCA(3, amnesic=0.0)
    fast = FastSimilarityMatching(3, gamma=0.6, random_state=0), CCIPCA(3)
    assert min(missed(learner.fit(X).components_, principal) for learner in slow) > 3 * best
    assert max(missed(learner.fit(X).components_, principal) for learner in fast) < 2 * best


@pytest.mark.slow
@pytest.mark.parametrize("world", ["L1", "L2", "rotation"])
@pytest.mark.parametrize("seed", range(10))
def test_subspaces_of_all_and_pca_agree(world, seed):
    """Where the first eigenvalue is well above the second; similarity matching has to forget, as it is below twice."""
    chi = pairs_of(world, seed)
    first = OuterProductPCA(1).fit(chi).components_
    learners = (
        OjaSubspace(1, random_state=seed),
        SimilarityMatching(1, forgetting=0.9998, n_passes=5),
        FastSimilarityMatching(1, gamma=0.6, random_state=seed),
        CCIPCA(1),
    )
    for learner in learners:
        assert np.cos(subspace_angles(learner.fit(chi).components_.T, first.T)).min() > 0.99
    assert missed(np.random.default_rng(seed).standard_normal((1, chi.shape[1])), first) > 0.5


def pairs_of(world, seed):
    if world in WORLDS:
        return WORLDS[world].lesson(5, 40_000, [seed, 5]).chi
    plane = Plane("rotation", "exponential", "wide", n_pairs=20_000)
    return plane.lessons(100, seed, ["change"])["change"].chi


def test_fast_matching_of_digits_is_nearly_as_good_as_all_of_them_at_once():
    X = load_digits().data[np.random.default_rng(0).permutation(1797)]
    best = OuterProductPCA(4).fit(X).score(X)
    assert FastSimilarityMatching(4, random_state=0).fit(X).score(X) > 0.998 * best


def test_subspaces_of_oja_sm_and_pca_agree_in_world_l1(make_noise_pairs):
    pairs = make_noise_pairs(10_000)
    chi = OuterProducts(pairs.after - pairs.before, pairs.before)  # Eq. 11
    first = OuterProductPCA(1).fit(chi).components_
    found = [OjaSubspace(1, random_state=0).fit(chi), SimilarityMatching(1).fit(chi)]
    for learner in found:
        assert np.cos(subspace_angles(learner.components_.T, first.T)).min() > 0.99
    assert missed(np.random.default_rng(0).standard_normal((1, 25)), first) > 0.5


# -- the limits --------------------------------------------------------------------------------------------------------


def test_the_unit_of_the_samples_does_not_matter():
    X, _ = spectrum(300)
    for make in (OjaSubspace, AdaOja, FastSimilarityMatching):
        one, other = (make(2, random_state=0).fit(size * X).components_ for size in (1.0, 255.0))
        assert_allclose(other, one, **EXACT)


def test_samples_that_repeat_leave_ccipca_with_one_component():
    learner = CCIPCA(2).fit(np.ones((50, 3)))
    assert_allclose(learner.components_, [[3**-0.5] * 3, [0.0] * 3])
    assert learner.explained_energy_ == pytest.approx([3, 0])
    assert learner.score(np.ones((5, 3))) == pytest.approx(3)


@pytest.mark.parametrize("make", [OjaSubspace, CCIPCA, AdaOja, FastSimilarityMatching])
def test_nothing_is_learned_of_nothing(make):
    learner = make(2).partial_fit(np.zeros((5, 12)))
    assert not learner.components_.any()
    assert learner.n_samples_seen_ == 0
    X = np.concatenate([np.zeros((2, 12)), spectrum(50)[0]])
    assert learner.partial_fit(X[:20]).partial_fit(X[20:]).n_samples_seen_ == 50


def test_a_sample_of_any_size_does_not_make_oja_diverge():
    X, _ = spectrum(500)
    X[::50] *= 1e3
    W = OjaSubspace(3, random_state=0).fit(X).components_
    assert np.linalg.norm(W, 2) < 1.5


@pytest.mark.parametrize(
    ("learner", "match"),
    [
        (OjaSubspace(learning_rate=0.0), "learning_rate is 0.0; expected a positive number"),
        (OjaSubspace(decay=1.5), "decay is 1.5; expected a power from 0 to 1"),
        (OjaSubspace(ordered="yes"), "ordered is 'yes'; expected True or False"),
        (OjaSubspace(init=np.ones((2, 5))), r"init has shape \(2, 5\)"),
        (CCIPCA(amnesic=-1.0), "amnesic is -1.0; expected a number of 0 or more"),
        (AdaOja(b0=0.0), "b0 is 0.0; expected a positive number"),
        (AdaOja(block_size=0), "block_size is 0"),
        (FastSimilarityMatching(gamma=0.0), "gamma is 0.0; expected a positive number"),
        (FastSimilarityMatching(tau=0.2), "tau is 0.2; expected a number above 0.2"),
        (FastSimilarityMatching(0), "n_components is 0"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(learner, match):
    with pytest.raises(ValueError, match=match):
        learner.fit(spectrum(10)[0])


# -- scikit-learn's own ------------------------------------------------------------------------------------------------


@pytest.mark.case("B28")
def test_incremental_pca_centres_unless_it_sees_both_signs(make_products):
    chi = make_products(200)
    chi.u[:] += 2.0
    chi.v[:] += 2.0
    first = OuterProductPCA(1).fit(chi).components_[0]
    centred, uncentred = (
        WrittenOut(IncrementalPCA(12), batch_size=64, both_signs=both).fit(chi) for both in (False, True)
    )
    assert abs(first @ uncentred.generators_[0].ravel()) == pytest.approx(1, abs=1e-9)
    assert abs(first @ centred.generators_[0].ravel()) < 0.99
    assert_allclose(np.abs(uncentred.transform(chi)[:, 0]), np.abs(chi.dense() @ first), rtol=1e-8)


def test_batches_are_written_out_as_scikit_learn_would_have_them(make_products):
    chi = make_products(120)
    learner = WrittenOut(MiniBatchKMeans(3, random_state=0, n_init=1), batch_size=40)
    expected = MiniBatchKMeans(3, random_state=0, n_init=1)
    for start in (0, 40, 80):
        expected.partial_fit(chi[start : start + 40].dense())
    assert_allclose(learner.fit(chi).generators_.reshape(3, 12), expected.cluster_centers_)
    assert_allclose(learner.transform(chi), expected.transform(chi.dense()))
    assert learner.transform(chi[:0]).shape == (0, 3)
    assert len(learner.partial_fit(chi[:7]).get_feature_names_out()) == 3


def test_what_cannot_be_written_out_is_refused(make_products):
    with pytest.raises(ValueError, match="batch_size is 0"):
        WrittenOut(IncrementalPCA(2), batch_size=0).fit(make_products())
    learner = WrittenOut(IncrementalPCA(2)).fit(make_products())
    with pytest.raises(ValueError, match="is expecting 12 features"):
        learner.transform(make_products(n=5))
