"""PCA and K-means of chi against numpy and scikit-learn on chi written out."""

import tracemalloc

import numpy as np
import pytest
from estimator_checks import assert_same, learned
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning

from flymotion.frames import FramePairs
from flymotion.similarity import samples
from flymotion.similarity.features import FEATURES, OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.rivals import OuterProductKMeans, OuterProductPCA


def products(n_samples=400, n=4):
    u, v = np.random.default_rng(0).normal(size=(2, n_samples, n)) * np.geomspace(1, 0.3, n)
    return OuterProducts(u, v)


def opposed(n_samples=300, n=4, seed=0):
    """Two clusters, plus and minus one generator, that are far apart."""
    rng = np.random.default_rng(seed)
    sign = rng.choice([-1.0, 1.0], size=(n_samples, 1))
    u = sign * (np.arange(1.0, n + 1) + 0.1 * rng.normal(size=(n_samples, n)))
    return OuterProducts(u, 1 + 0.1 * rng.normal(size=(n_samples, n))), sign[:, 0]


@pytest.fixture(params=[OuterProductPCA(2), OuterProductKMeans(2, n_init=2, random_state=0)], ids=["pca", "kmeans"])
def rival(request):
    return request.param


def test_blocks_change_nothing(rival, monkeypatch):
    whole = learned(clone(rival).fit(products()))
    monkeypatch.setattr(samples, "BLOCK_ENTRIES", 100)
    assert_same(learned(rival.fit(products())), whole, rtol=1e-9, atol=1e-9)


@pytest.mark.case("B32")
def test_masked_samples_are_refused(rival):
    with pytest.raises(ValueError, match="masked"):
        rival.fit(np.ma.masked_less(np.arange(6.0).reshape(3, 2), 1))


@pytest.mark.case("B12")
@pytest.mark.parametrize("rank", [1, 2])
def test_memory_is_the_batch_and_what_is_learned_never_chi(rival, rank):
    u, v = np.random.default_rng(0).standard_normal((2, 150, rank, 24 * 24), dtype=np.float32)
    chi = OuterProducts(u, v)  # 0.2 GB if it were made
    tracemalloc.start()
    try:
        rival.fit(chi).transform(chi)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * (u.nbytes + v.nbytes) + 10 * 2 * 576**2 * 8


# -- PCA -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_samples", "n"), [(60, 9), (400, 4), (500, 13)], ids=["few samples", "few features", "Lanczos"]
)
def test_pca_is_the_singular_value_decomposition_of_chi(n_samples, n, monkeypatch):
    monkeypatch.setattr("flymotion.similarity.rivals.pca.MOST_FEATURES", 128)
    chi = products(n_samples, n)
    pca = OuterProductPCA(3).fit(chi)
    _, values, vectors = np.linalg.svd(chi.dense(), full_matrices=False)
    np.testing.assert_allclose(pca.singular_values_, values[:3], rtol=1e-9)
    np.testing.assert_allclose(np.abs((pca.components_ * vectors[:3]).sum(axis=1)), 1, rtol=1e-9)
    np.testing.assert_allclose(pca.explained_energy_, values[:3] ** 2 / n_samples, rtol=1e-9)
    np.testing.assert_allclose(pca.explained_energy_ratio_, values[:3] ** 2 / (values**2).sum(), rtol=1e-9)
    assert pca.score(chi) == pytest.approx(pca.explained_energy_.sum())


@pytest.mark.case("B28")
def test_pca_agrees_with_truncated_svd():
    chi = products(500, 13)
    ours, theirs = OuterProductPCA(2), TruncatedSVD(2, algorithm="arpack", random_state=0)
    np.testing.assert_allclose(np.abs(ours.fit_transform(chi)), np.abs(theirs.fit_transform(chi.dense())), atol=1e-8)


@pytest.mark.case("B28")
def test_pca_is_not_centred():
    chi = OuterProducts(np.full((50, 2), 3.0), np.ones((50, 2)))
    chi.u[:, 1] = np.random.default_rng(0).normal(size=50)
    first = OuterProductPCA(1).fit(chi).generators_[0]
    np.testing.assert_allclose(first, [[0.7, 0.7], [0.0, 0.0]], atol=0.05)


@pytest.mark.case("B29")
def test_largest_entry_of_a_component_is_positive():
    components = OuterProductPCA(5).fit(products()).components_
    assert (components.max(axis=1) == np.abs(components).max(axis=1)).all()


@pytest.mark.case("B30")
@pytest.mark.parametrize("n", [3, 13], ids=["few features", "Lanczos"])
def test_directions_beyond_the_rank_are_zero_and_not_noise(n, monkeypatch):
    monkeypatch.setattr("flymotion.similarity.rivals.pca.MOST_FEATURES", 128)
    chi = products(2, n)
    many = OuterProducts(np.tile(chi.u, (100, 1)), np.tile(chi.v, (100, 1)))
    pca = OuterProductPCA(4)
    with pytest.warns(ConvergenceWarning, match="span 2 of 4 directions"):
        pca.fit(many)
    np.testing.assert_array_equal(pca.components_[2:], 0)
    np.testing.assert_array_equal(pca.singular_values_[2:], 0)
    np.testing.assert_allclose(pca.components_[:2] @ pca.components_[:2].T, np.eye(2), atol=1e-9)


@pytest.mark.parametrize(("n_samples", "n"), [(3, 4), (30, 4), (300, 13)])
def test_samples_of_nothing_have_no_components(n_samples, n, monkeypatch):
    monkeypatch.setattr("flymotion.similarity.rivals.pca.MOST_FEATURES", 128)
    pca = OuterProductPCA(2)
    with pytest.warns(ConvergenceWarning, match="span 0 of 2"):
        pca.fit(OuterProducts(np.zeros((n_samples, n)), np.ones((n_samples, n))))
    np.testing.assert_array_equal(pca.components_, 0)
    np.testing.assert_array_equal(pca.explained_energy_ratio_, 0)


# -- K-means ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [2, 5])
def test_kmeans_from_the_same_centres_is_that_of_scikit_learn(n_clusters):
    chi = products()
    init = chi[:n_clusters].dense()
    ours = OuterProductKMeans(n_clusters, init=init).fit(chi)
    theirs = KMeans(n_clusters, init=init, n_init=1, tol=0).fit(chi.dense())
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-9)
    np.testing.assert_allclose(ours.transform(chi), theirs.transform(chi.dense()), atol=1e-7)
    assert ours.score(chi) == pytest.approx(-ours.inertia_)


@pytest.mark.parametrize("seed", range(5))
def test_best_of_ten_starts_is_as_good_as_that_of_scikit_learn(seed):
    chi, _ = opposed()
    ours = OuterProductKMeans(2, random_state=seed).fit(chi)
    theirs = KMeans(2, n_init=10, random_state=seed).fit(chi.dense())
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_one_start_has_a_centre_in_each_of_five_far_clusters(seed):
    """k-means++ with a few candidates each time; samples at random would miss one in 96 % of starts."""
    u = np.repeat(np.arange(10.0, 15.0), 40)[:, None] + 1e-3 * np.random.default_rng(0).standard_normal((200, 1))
    model = OuterProductKMeans(5, n_init=1, random_state=seed).fit(OuterProducts(u, np.ones((200, 1))))
    assert np.unique(model.labels_[::40]).size == 5


def test_kmeans_tells_a_generator_from_its_inverse():
    chi, sign = opposed()
    model = OuterProductKMeans(2, random_state=0).fit(chi)
    labels = model.predict(chi)
    np.testing.assert_array_equal(labels, model.labels_)
    assert abs(np.corrcoef(labels, sign)[0, 1]) == pytest.approx(1)
    plus, minus = model.generators_
    assert (plus * minus).sum() < -0.99 * np.linalg.norm(plus) * np.linalg.norm(minus)


def test_an_empty_cluster_gets_the_farthest_sample():
    chi = OuterProducts(np.array([[0.0], [0.1], [0.2], [5.0]]), np.ones((4, 1)))
    model = OuterProductKMeans(2, init=[[0.0], [-100.0]]).fit(chi)
    np.testing.assert_allclose(np.sort(model.cluster_centers_[:, 0]), [0.1, 5.0])


@pytest.mark.case("B18")
def test_same_seed_same_clusters_and_the_global_stream_is_left_alone():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = OuterProductKMeans(3, n_init=1, random_state=5).fit(products())
    second = OuterProductKMeans(3, n_init=1, random_state=np.random.default_rng(5)).fit(products())
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.case("B30")
def test_fewer_distinct_samples_than_clusters_warn():
    chi = OuterProducts(np.repeat([[1.0], [2.0]], 10, axis=0), np.ones((20, 1)))
    with pytest.warns(ConvergenceWarning, match="only 2 distinct values for 3 clusters"):
        OuterProductKMeans(3, random_state=0).fit(chi)


def test_unsettled_clusters_warn():
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        OuterProductKMeans(5, n_init=1, max_iter=1, random_state=0).fit(products())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters is 0"),
        ({"n_clusters": 500}, "400 samples for 500 clusters"),
        ({"n_init": 0}, "n_init is 0"),
        ({"max_iter": 1.5}, "max_iter is 1.5"),
        ({"init": "random"}, "init is 'random'"),
        ({"init": np.zeros((2, 3))}, r"init has shape \(2, 3\); expected \(2, 16\)"),
    ],
)
def test_kmeans_says_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        OuterProductKMeans(**options).fit(products())


def test_pca_says_what_is_wrong():
    with pytest.raises(ValueError, match="n_components is 0"):
        OuterProductPCA(0).fit(products())


# -- every learner of chi takes every feature ------------------------------------------------------------------------

LEARNERS_OF_CHI = {
    "SM": SimilarityMatching(2),
    "NSM": NonnegativeSimilarityMatching(2),
    "PCA": OuterProductPCA(2),
    "K-means": OuterProductKMeans(2, n_init=1, random_state=0),
}


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("learner", LEARNERS_OF_CHI.values(), ids=LEARNERS_OF_CHI)
def test_every_learner_of_chi_takes_every_feature(learner, feature):
    """And finds antisymmetric filters of what is antisymmetric by construction (Eq. 24)."""
    frames = np.random.default_rng(0).normal(size=(600, 4))
    chi = outer_products(FramePairs(frames, np.roll(frames, 1, axis=1)), feature)
    found = clone(learner).fit(chi).generators_
    assert found.shape == (2, 4, 4)
    assert np.abs(found).max(axis=(1, 2)).min() > 0
    even = found + found.swapaxes(1, 2)
    assert (np.abs(even).max() < 1e-9) == (feature == "antisymmetric")
