"""The default start: from it both directions, every cluster and the whole ring are found, whatever the seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment

from flymotion.similarity import initialisation
from flymotion.similarity.features import OuterProducts, as_features, outer_products
from flymotion.similarity.initialisation import sparsest_rotation, warm_start, warm_up_length
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching

L1 = {"sigma": 0.8, "max_shift": 0.1}
L2 = {"sigma": 0.475, "max_shift": 0.5}


@pytest.fixture
def make_clusters():
    """Nonnegative Gaussian blobs about centres that share some of their features, with labels."""

    def make(n_clusters, *, n_samples=2000, seed=0):
        rng = np.random.default_rng(seed)
        centres = 0.05 + 0.1 * rng.random((n_clusters, 4 * n_clusters))
        for a in range(n_clusters):
            centres[a, 4 * a : 4 * a + 5] += 0.5 + rng.random(len(centres[a, 4 * a : 4 * a + 5]))
        labels = rng.integers(n_clusters, size=n_samples)
        X = centres[labels] + 0.05 * rng.standard_normal((n_samples, centres.shape[1]))
        return np.maximum(X, 0), labels

    return make


@pytest.fixture
def make_sparse():
    """Nonnegative samples, most entries 0."""

    def make(n_samples=2000, n_features=15, *, seed=0):
        rng = np.random.default_rng(seed)
        return rng.random((n_samples, n_features)) * (rng.random((n_samples, n_features)) < 0.2)

    return make


@pytest.fixture
def make_ring():
    def make(n_samples=3000, *, seed=0):
        angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, n_samples)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    return make


@pytest.fixture
def make_motions():
    """Motions of both signs, one a sample, with noise in proportion, and the label of each sample's direction."""

    def make(strengths, *, n_samples=1500, n_features=12, noise=0.4, seed=0):
        rng = np.random.default_rng(seed)
        motion, sign = rng.integers(len(strengths), size=n_samples), rng.integers(2, size=n_samples)
        size = rng.uniform(0.2, 1, n_samples) * np.asarray(strengths)[motion]
        X = noise * rng.standard_normal((n_samples, n_features)) / np.arange(1, n_features + 1) ** 0.25
        X[:, -len(strengths) :] += (2 * sign[:, None] - 1) * np.eye(len(strengths))[motion]
        return size[:, None] * X, 2 * motion + sign

    return make


def cosines(filters):
    directions = filters / np.linalg.norm(filters, axis=1, keepdims=True)
    return directions @ directions.T


def agreement(outputs, labels):
    """Share of samples whose strongest unit is that of their cluster, units matched by permutation."""
    counts = np.zeros((outputs.shape[1], outputs.shape[1]))
    np.add.at(counts, (labels, outputs.argmax(axis=1)), 1)
    return counts[linear_sum_assignment(-counts)].sum() / len(labels)


# What is found from the default start


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("world", "feature"), [(L1, "change"), (L1, "midpoint"), (L2, "midpoint")], ids=["L1-change", "L1-midpoint", "L2"]
)
def test_both_directions_are_found_from_every_seed(make_noise_pairs, world, feature, seed):
    chi = outer_products(make_noise_pairs(10_000, seed=seed, **world), feature)
    learner = NonnegativeSimilarityMatching(2).fit(chi)
    assert cosines(learner.components_)[0, 1] < -0.8


@pytest.mark.parametrize("seed", range(3))
def test_the_two_units_tell_the_sign_of_motion(make_noise_pairs, seed):
    pairs = make_noise_pairs(10_000, seed=seed)
    learner = NonnegativeSimilarityMatching(2).fit(outer_products(pairs[:7000], "change"))
    outputs = learner.transform(outer_products(pairs[7000:], "change"))
    right = pairs.motion[7000:, 0] > 0
    said = outputs[:, 0] > outputs[:, 1]
    assert max(np.mean(said == right), np.mean(said != right)) > 0.9


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4, 5, 6])
def test_every_cluster_of_nonnegative_data_has_its_unit(make_clusters, n_clusters, seed):
    X, labels = make_clusters(n_clusters, seed=seed)
    learner = NonnegativeSimilarityMatching(n_clusters).fit(X)
    assert learner.dead_units_.size == 0
    assert agreement(learner.transform(X), labels) > 0.97


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_units", [1, 2, 3, 4, 5, 6, 8, 12])
def test_sparse_nonnegative_data_leave_no_unit_idle(make_sparse, n_units, seed):
    learner = NonnegativeSimilarityMatching(n_units).fit(make_sparse(seed=seed))
    share = np.diag(learner.R_) / np.trace(learner.R_)
    assert learner.dead_units_.size == 0
    assert share.min() > 0.1 / n_units


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_units", "widest"), [(4, 1.1), (6, 1.7), (8, 2.1), (12, 2.1)])
def test_units_tile_a_ring(make_ring, n_units, widest, seed):
    learner = NonnegativeSimilarityMatching(n_units).fit(make_ring(seed=seed))
    angles = np.sort(np.arctan2(learner.W_[:, 1], learner.W_[:, 0]))
    gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
    assert learner.dead_units_.size == 0
    assert gaps.max() < widest * 2 * np.pi / n_units


def test_tiles_of_a_ring_explain_nearly_all_similarity(make_ring):
    X = make_ring()
    learner = NonnegativeSimilarityMatching(8).fit(X)
    assert learner.score(X) > 0.95 * (np.maximum(X @ X.T, 0) ** 2).mean()  # outputs cannot match what is negative


@pytest.mark.parametrize("Learner", [SimilarityMatching, NonnegativeSimilarityMatching])
def test_one_unit_finds_the_leading_component(make_clusters, Learner):
    X, _ = make_clusters(3)
    leading = np.abs(np.linalg.svd(X, full_matrices=False)[2][0])
    component = Learner(1).fit(X).components_[0]
    assert leading @ component / np.linalg.norm(component) > 0.999


@pytest.mark.parametrize("n_samples", [1, 2, 30])
@pytest.mark.parametrize("Learner", [SimilarityMatching, NonnegativeSimilarityMatching])
def test_a_warm_up_longer_than_the_data_starts_from_what_there_is(make_vectors, Learner, n_samples):
    X = make_vectors(n_samples)
    waiting, settled = (Learner(2, warm_up=n).partial_fit(X) for n in (1000, n_samples))
    assert waiting.n_samples_seen_ == settled.n_samples_seen_ == n_samples
    assert_allclose(waiting.transform(X), settled.transform(X), atol=1e-12)
    assert_allclose(waiting.components_, settled.components_, atol=1e-12)


# The start itself


@pytest.mark.parametrize("k", [1, 3, 12])
def test_sm_starts_from_the_best_approximation_of_the_gram_matrix(make_vectors, k):
    """Eckart-Young: the K largest eigenvalues give the closest matrix of rank K, the minimum of Eq. 12."""
    X = make_vectors(60)
    theta = warm_start(as_features(X), k, nonnegative=False)
    residual = np.linalg.norm(X @ X.T - theta @ theta.T)
    assert residual == pytest.approx(np.linalg.norm(np.linalg.svd(X, compute_uv=False)[k:] ** 2), abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_nsm_starts_from_nonnegative_outputs(make_products, k):
    theta = warm_start(make_products(80), k, nonnegative=True)
    assert theta.shape == (80, k)
    assert theta.min() == 0
    assert (theta.sum(axis=0) > 0).all()


def test_nsm_starts_two_units_from_the_two_signs_of_one_component(make_noise_pairs):
    chi = outer_products(make_noise_pairs(500))
    score = warm_start(chi, 1, nonnegative=False)
    halves = warm_start(chi, 2, nonnegative=True)
    assert_allclose(np.abs(halves @ [[1.0], [-1.0]]), np.abs(score), atol=1e-12)


def test_nsm_starts_single_motions_where_eigenvalues_are_equal():
    """Two motions, one at a time: their components are equal, so only the rotation tells them apart."""
    rng = np.random.default_rng(0)
    motion = rng.standard_normal((400, 1)) * np.eye(2)[rng.integers(2, size=400)]
    X = motion @ np.linalg.qr(rng.standard_normal((9, 2)))[0].T
    theta = warm_start(as_features(X), 4, nonnegative=True)
    assert_array_equal((theta > 0.05 * np.abs(motion).max()).sum(axis=1) <= 1, np.ones(400, dtype=bool))


@pytest.fixture
def make_flashes():
    """Two antisymmetric motions, one a pair, and among them flashes: a few patterns of much contrast that come and go.

    Change and intensity, the label of each pair's motion, and which pairs move.
    """

    def make(contrast, *, n_samples=3000, n=8, seed=0):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((2, n, n))
        A -= A.swapaxes(1, 2)
        A /= np.linalg.norm(A, axis=(1, 2), keepdims=True)
        x, patterns = rng.standard_normal((n_samples, n)), contrast * rng.standard_normal((6, n))
        motion, size = rng.integers(2, size=n_samples), rng.uniform(-1, 1, n_samples)
        moves = rng.random(n_samples) < 0.7
        x[~moves] = patterns[rng.integers(6, size=(~moves).sum())]
        dx = size[:, None] * np.where(moves[:, None], np.einsum("tij,tj->ti", A[motion], x), x)
        return dx, x, 2 * motion + (size > 0), moves

    return make


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("contrast", [1.0, 2.0])
def test_motions_are_found_among_flashes_of_more_energy(make_flashes, contrast, seed):
    dx, x, label, moves = make_flashes(contrast, seed=seed)
    theta = warm_start(OuterProducts(dx, x), 4, nonnegative=True)
    assert agreement(theta[moves], label[moves]) > 0.9


@pytest.mark.parametrize("n_units", [3, 4])
def test_symmetric_chi_start_as_vectors_do(make_flashes, n_units):
    """They have no antisymmetric part to start from, nor to be misled by."""
    dx, x, _, moves = make_flashes(2.0)
    chi = OuterProducts(dx[~moves], x[~moves])
    theta = warm_start(chi, n_units, nonnegative=True)
    of_vectors = warm_start(as_features(chi.dense()), n_units, nonnegative=True)
    assert_allclose(theta @ theta.T, of_vectors @ of_vectors.T, atol=1e-9 * (theta**2).max())


@pytest.mark.parametrize("dense", [10, 10_000])
@pytest.mark.parametrize("strength", [0.1, 0.3, 1.0])
def test_a_weak_motion_is_found_beside_the_noise_that_a_strong_one_brings(make_motions, monkeypatch, strength, dense):
    monkeypatch.setattr(initialisation, "DENSE", dense)
    monkeypatch.setattr(initialisation, "FEW", dense)
    X, label = make_motions([1.0, strength])
    theta = warm_start(as_features(X), 4, nonnegative=True)
    assert agreement(theta, label) > 0.95


def test_faint_samples_that_are_all_noise_do_not_start_units(make_motions):
    """At unit length they would count as much as the others; as they are, the axes are sparser."""
    X, label = make_motions([1.0, 1.0])
    faint = np.zeros((3000, X.shape[1]))
    faint[:, :2] = 1e-3 * np.random.default_rng(0).standard_normal((3000, 2))
    theta = warm_start(as_features(np.concatenate([X, faint])), 4, nonnegative=True)
    assert agreement(theta[: len(X)], label) > 0.95


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_units_that_the_samples_leave_unused_start_at_zero(nonnegative, dtype):
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((50, 1))) * rng.standard_normal((1, 9))
    theta = warm_start(as_features(X.astype(dtype)), 4, nonnegative=nonnegative)
    assert_array_equal((np.abs(theta) > 0).any(axis=0), [True, False, False, False])


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("samples", [as_features(np.zeros((9, 5))), OuterProducts(np.zeros((9, 3)), np.ones((9, 3)))])
def test_blank_samples_start_nothing(samples, nonnegative):
    assert_array_equal(warm_start(samples, 3, nonnegative=nonnegative), np.zeros((9, 3)))


@pytest.mark.parametrize("n_samples", [25, 300])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_large_warm_ups_start_as_small_ones_do(make_products, monkeypatch, nonnegative, n_samples):
    """Those that are solved by their samples, fewer than the 30 features, and those that are by their features."""
    chi = make_products(n_samples, 6, 5)
    whole = warm_start(chi, 3, nonnegative=nonnegative)
    monkeypatch.setattr(initialisation, "DENSE", 10)
    monkeypatch.setattr(initialisation, "FEW", 10)
    assert_allclose(warm_start(chi, 3, nonnegative=nonnegative), whole, atol=1e-2 * np.abs(whole).max())


@pytest.mark.parametrize(
    ("n_features", "n_entries", "length"),
    [(25, 10, 500), (200, 30, 2000), (625, 50, 5000), (10**6, 2000, 1000), (10**6, 10**6, 500)],
)
def test_length_of_the_warm_up(n_features, n_entries, length):
    assert warm_up_length(n_features, n_entries) == length


# The rotation


@settings(max_examples=20, deadline=None, derandomize=True)
@given(m=st.integers(1, 5), seed=st.integers(0, 1000))
def test_rotation_is_orthogonal_and_makes_scores_sparser(m, seed):
    """Rotations keep inner products; each turn lowers the sum of absolute values or leaves it."""
    scores = np.random.default_rng(seed).standard_t(3, (100, m))
    kept = scores.copy()
    rotated = sparsest_rotation(scores)
    assert_array_equal(scores, kept)
    assert_allclose(rotated @ rotated.T, scores @ scores.T, atol=1e-9)
    assert np.abs(rotated).sum() <= np.abs(scores).sum() * (1 + 1e-12)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_rotation_finds_axes_that_are_active_one_at_a_time(m):
    rng = np.random.default_rng(0)
    one_at_a_time = rng.standard_normal((500, 1)) * np.eye(m)[rng.integers(m, size=500)]
    mixed = one_at_a_time @ np.linalg.qr(rng.standard_normal((m, m)))[0]
    shares = np.sort(sparsest_rotation(mixed) ** 2, axis=1)[:, -1].sum() / (mixed**2).sum()
    assert shares > 0.995
