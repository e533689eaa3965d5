"""Outer products against chi itself, and the relations between the features of Suppl. A."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from flymotion.frames import FramePairs, pair_up
from flymotion.similarity import features
from flymotion.similarity.features import FEATURES, OuterProducts, outer_products
from flymotion.similarity.vectors import Vectors

RANKS = [1, 2, 3]

# Eqs. 11, 23 and 24, written out: x is the frame before, y the one after.
DENSE = {
    "change": lambda x, y: np.outer(y - x, x),
    "midpoint": lambda x, y: np.outer(y - x, x + y) / 2,
    "product": lambda x, y: np.outer(y, x),
    "antisymmetric": lambda x, y: np.outer(y, x) - np.outer(x, y),
}


@pytest.fixture
def make_pairs():
    def make(n_pairs=7, *pixels, seed=0):
        rng = np.random.default_rng(seed)
        shape = (n_pairs, *(pixels or (5,)))
        return FramePairs(rng.standard_normal(shape), rng.standard_normal(shape))

    return make


@pytest.fixture
def make_filters():
    def make(k, *shape):
        return np.random.default_rng(9).standard_normal((k, *shape))

    return make


def relative(array):
    return {"rtol": 1e-12, "atol": 1e-13 * np.abs(array).max()}


# The operations against chi


@pytest.mark.parametrize("feature", FEATURES)
def test_features_are_those_of_supplement_a(make_pairs, feature):
    pairs = make_pairs()
    literal = [DENSE[feature](x, y).ravel() for x, y in zip(pairs.before, pairs.after, strict=True)]
    assert_allclose(outer_products(pairs, feature).dense(), literal, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("feature", FEATURES)
def test_frames_are_taken_as_row_major_vectors(make_pairs, feature):
    pairs = make_pairs(7, 2, 3)
    chi = outer_products(pairs, feature)
    assert chi.feature_shape == (6, 6)
    assert_array_equal(chi.dense(), outer_products(pairs.flat(), feature).dense())


@pytest.mark.parametrize("rank", RANKS)
def test_chi_is_the_sum_of_its_outer_products(make_products, rank):
    chi = make_products(6, rank=rank)
    u, v = (f.reshape(6, rank, -1) for f in (chi.u, chi.v))
    literal = [sum(np.outer(u[t, r], v[t, r]) for r in range(rank)) for t in range(6)]
    assert_allclose(chi.dense().reshape(6, *chi.feature_shape), literal, rtol=1e-13, atol=1e-14)
    assert (chi.shape, chi.ndim, len(chi), chi.dtype) == ((6, 12), 2, 6, np.float64)


def test_entry_i_n_plus_j_joins_the_change_at_i_with_the_intensity_at_j():
    chi = OuterProducts(np.eye(4)[[2]], np.eye(3)[[1]])
    assert_array_equal(np.flatnonzero(chi.dense()[0]), [2 * 3 + 1])


@pytest.mark.parametrize("n_samples", [1, 6])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("rank", RANKS)
def test_project_is_the_inner_product_with_filters(make_products, make_filters, rank, k, n_samples):
    chi, filters = make_products(n_samples, rank=rank), make_filters(k, 4, 3)
    expected = chi.dense() @ filters.reshape(k, -1).T
    assert_allclose(chi.project(filters), expected, **relative(expected))


@pytest.mark.parametrize("n_samples", [1, 6])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("rank", RANKS)
def test_accumulate_is_the_weighted_sum(make_products, make_filters, rank, k, n_samples):
    chi, theta = make_products(n_samples, rank=rank), make_filters(n_samples, k)
    expected = (theta.T @ chi.dense()).reshape(k, 4, 3)
    assert_allclose(chi.accumulate(theta), expected, **relative(expected))


@pytest.mark.parametrize("rank", RANKS)
def test_gram_holds_the_inner_products_of_all_samples(make_products, rank):
    chi = make_products(6, rank=rank)
    expected = chi.dense() @ chi.dense().T
    assert_allclose(chi.gram(), expected, **relative(expected))
    assert_allclose(chi.norms() ** 2, expected.diagonal(), **relative(expected))


@pytest.mark.parametrize(("rank", "other_rank"), [(1, 1), (2, 2), (2, 3), (3, 2)])
def test_gram_between_two_sets(make_products, rank, other_rank):
    chi, other = make_products(6, rank=rank), make_products(4, rank=other_rank, seed=1)
    expected = chi.dense() @ other.dense().T
    assert_allclose(chi.gram(other), expected, **relative(expected))


def test_gram_leaves_the_factors_alone(make_products):
    chi = make_products()
    u, v = chi.u.copy(), chi.v.copy()
    chi.gram(), chi.gram(chi[:3]), chi.norms(), chi.project(np.ones((2, 4, 3))), chi.accumulate(np.ones((150, 2)))
    assert_array_equal(chi.u, u)
    assert_array_equal(chi.v, v)


@pytest.mark.parametrize("rank", RANKS)
def test_one_pixel_of_change_with_n_of_intensity_is_a_t4_neuron(make_products, make_filters, rank):
    chi = make_products(9, 1, 5, rank=rank)
    u, v = (f.reshape(9, rank, -1) for f in (chi.u, chi.v))
    x = (u * v).sum(axis=1)
    filters, theta = make_filters(2, 1, 5), make_filters(9, 2)
    assert chi.shape == (9, 5)
    assert_allclose(chi.dense(), x, atol=1e-14)
    assert_allclose(chi.gram(), x @ x.T, atol=1e-12)
    assert_allclose(chi.project(filters), x @ filters[:, 0].T, atol=1e-12)
    assert_allclose(chi.accumulate(theta)[:, 0], theta.T @ x, atol=1e-12)


@pytest.mark.parametrize("operation", ["project", "gram", "accumulate", "norms"])
def test_vectors_offer_the_same_operations(make_products, make_filters, operation):
    chi = make_products(6)
    flat = Vectors(chi.dense())
    arguments = {"project": [make_filters(2, 4, 3)], "accumulate": [make_filters(6, 2)]}.get(operation, [])
    flattened = {"project": [make_filters(2, 4, 3).reshape(2, -1)]}.get(operation, arguments)
    ours, plain = getattr(chi, operation)(*arguments), getattr(flat, operation)(*flattened)
    assert_allclose(ours.reshape(plain.shape), plain, rtol=1e-12, atol=1e-13)


# Rows


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize(
    "rows", [slice(1, 5, 2), np.array([4, 0, 4]), np.arange(6) % 2 == 0, [5, 1], 0, -1, -2, 3, slice(0, 0)], ids=repr
)
def test_rows_are_samples(make_products, rank, rows):
    chi = make_products(6, rank=rank)
    chosen = chi[rows]
    assert_array_equal(chosen.dense(), chi.dense()[np.atleast_1d(np.arange(6)[rows])])


@pytest.mark.parametrize("row", [6, -7])
def test_a_row_out_of_range_is_an_index_error(make_products, row):
    with pytest.raises(IndexError):
        make_products(6)[row]


def test_a_loop_over_samples_ends(make_products):
    chi = make_products(6)
    singles = list(itertools.islice(iter(chi), 10))
    assert_array_equal([single.dense()[0] for single in singles], chi.dense())


@pytest.mark.parametrize("rank", RANKS)
def test_parts_joined_are_the_whole(make_products, rank):
    chi = make_products(9, rank=rank)
    assert_array_equal(OuterProducts.concatenate([chi[:4], chi[4:4], chi[4:]]).dense(), chi.dense())


@pytest.mark.case("B45")
def test_folds_of_scikit_learn_split_samples(make_products):
    chi = make_products(20)
    for train, test in KFold(4, shuffle=True, random_state=0).split(chi):
        assert_array_equal(np.concatenate([chi[train].dense(), chi[test].dense()]), chi.dense()[[*train, *test]])


# Views


@pytest.mark.case("B12")
def test_dense_chi_above_the_limit_is_refused_with_its_size():
    frames = np.zeros((200, 64 * 64), dtype=np.float32)
    with pytest.raises(ValueError, match=r"200 x 16777216 .* 12\.5 GiB"):
        OuterProducts(frames, frames).dense()


def test_the_limit_on_dense_chi_is_in_bytes(make_products, monkeypatch):
    chi = make_products(10)
    monkeypatch.setattr(features, "DENSE_LIMIT", 10 * 12 * 8)
    assert chi.dense().shape == (10, 12)
    monkeypatch.setattr(features, "DENSE_LIMIT", 10 * 12 * 8 - 1)
    with pytest.raises(ValueError, match="GiB"):
        chi.dense()


# Precision and libraries


@pytest.mark.parametrize("rank", RANKS)
def test_float32_stays_float32(make_products, rank):
    chi = make_products(6, rank=rank, dtype=np.float32)
    filters, theta = np.ones((2, 4, 3), np.float32), np.ones((6, 2), np.float32)
    results = [chi.project(filters), chi.gram(), chi.accumulate(theta), chi.norms(), chi.dense(), chi[:2].u]
    assert {r.dtype for r in results} == {np.dtype(np.float32)}
    assert chi.astype(np.float64).dtype == np.float64


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_keep_the_precision_of_the_frames(make_pairs, feature, dtype):
    assert outer_products(make_pairs().map(lambda f: f.astype(dtype)), feature).dtype == dtype


@pytest.mark.case("B02")
@pytest.mark.case("B32")
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64, np.bool_, np.float16])
@pytest.mark.parametrize("operation", ["dense", "gram", "norms"])
def test_factors_of_narrow_numbers_never_wrap_or_overflow(dtype, operation):
    values = np.array([[250, 1, 0], [3, 200, 7]]).astype(dtype)
    ours = getattr(OuterProducts(values, values), operation)()
    expected = getattr(OuterProducts(values.astype(float), values.astype(float)), operation)()
    assert_allclose(ours, expected, rtol=1e-6)


def test_factors_of_two_precisions_are_joined_in_the_wider(make_products):
    chi = make_products()
    mixed = OuterProducts(chi.u.astype(np.float32), chi.v)
    assert mixed.dtype == np.float64
    assert {array.dtype for array in (mixed.dense(), mixed.gram(), mixed.norms())} == {np.dtype(np.float64)}


@pytest.mark.parametrize("rank", RANKS)
def test_torch_tensors_give_the_numbers_of_numpy_and_stay_tensors(make_products, make_filters, rank):
    torch = pytest.importorskip("torch")
    chi, filters, theta = make_products(6, rank=rank), make_filters(2, 4, 3), make_filters(6, 2)
    tensors = OuterProducts(torch.from_numpy(chi.u), torch.from_numpy(chi.v))
    results = [
        (tensors.project(torch.from_numpy(filters)), chi.project(filters)),
        (tensors.gram(), chi.gram()),
        (tensors.gram(tensors[:2]), chi.gram(chi[:2])),
        (tensors.accumulate(torch.from_numpy(theta)), chi.accumulate(theta)),
        (tensors.norms(), chi.norms()),
        (tensors.dense(), chi.dense()),
        (OuterProducts.concatenate([tensors[:2], tensors[2:]]).u, chi.u),
    ]
    for tensor, array in results:
        assert isinstance(tensor, torch.Tensor)
        assert_allclose(tensor.numpy(), array, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("feature", FEATURES)
def test_features_of_torch_tensors_are_tensors(make_pairs, feature):
    torch = pytest.importorskip("torch")
    pairs = make_pairs()
    chi = OuterProducts(*FEATURES[feature](torch.from_numpy(pairs.before), torch.from_numpy(pairs.after)))
    assert_allclose(chi.dense().numpy(), outer_products(pairs, feature).dense(), rtol=1e-12)


# Relations (Suppl. A, corrected)


def transposed(chi, n):
    return chi.dense().reshape(-1, n, n).swapaxes(1, 2).reshape(len(chi), -1)


@pytest.mark.parametrize("feature", ["change", "midpoint"])
def test_antisymmetric_feature_is_chi_minus_its_transpose_exactly(make_pairs, feature):
    pairs = make_pairs()
    chi, antisymmetric = outer_products(pairs, feature), outer_products(pairs, "antisymmetric")
    assert_allclose(antisymmetric.dense(), chi.dense() - transposed(chi, 5), atol=1e-13)


def test_papers_feature_is_the_midpoint_feature_minus_half_the_squared_change(make_pairs):
    pairs = make_pairs()
    dx = pairs.after - pairs.before
    difference = outer_products(pairs, "change").dense() - outer_products(pairs, "midpoint").dense()
    assert_allclose(difference, -OuterProducts(dx, dx).dense() / 2, atol=1e-13)


@pytest.mark.parametrize("feature", ["midpoint", "antisymmetric"])
def test_odd_features_change_sign_with_time(make_pairs, feature):
    pairs = make_pairs()
    assert_allclose(outer_products(pairs.reversed(), feature).dense(), -outer_products(pairs, feature).dense(), atol=0)


def test_ideal_operator_answers_rightward_motion_with_one_documented_sign():
    pairs = FramePairs(np.array([[0.0, 1, 2, 1, 0]]), np.array([[0.0, 0, 1, 2, 1]]))
    ideal = (np.eye(5, k=1) - np.eye(5, k=-1))[None] / 2
    chi = outer_products(pairs, "change")
    assert_array_equal(chi.project(ideal), [[-2.5]])
    assert_array_equal(chi.project(-ideal), [[2.5]])
    assert_array_equal(chi.project(ideal.swapaxes(1, 2)), [[2.5]])
    assert_array_equal(chi.dense().reshape(5, 5), np.outer(chi.u, chi.v))


@pytest.mark.parametrize("feature", FEATURES)
def test_mirrored_frames_flip_the_sign_of_an_antisymmetric_filter(make_pairs, feature):
    pairs = make_pairs()
    ideal = (np.eye(5, k=1) - np.eye(5, k=-1))[None] / 2
    mirrored = outer_products(pairs.map(lambda f: f[:, ::-1]), feature)
    assert_allclose(mirrored.project(ideal), -outer_products(pairs, feature).project(ideal), atol=1e-13)


@pytest.mark.parametrize("feature", FEATURES)
def test_features_are_quadratic_in_contrast(make_pairs, feature):
    pairs = make_pairs()
    doubled = outer_products(pairs.map(lambda f: 2 * f), feature)
    assert_array_equal(doubled.dense(), 4 * outer_products(pairs, feature).dense())


# What is refused


def test_an_unknown_feature_is_refused_with_the_known_ones(make_pairs):
    with pytest.raises(ValueError, match=r"'sum'.*'change', 'midpoint', 'product', 'antisymmetric'"):
        outer_products(make_pairs(), "sum")


@pytest.mark.parametrize(
    ("u", "v"),
    [((3, 4), (4, 4)), ((3, 2, 4), (3, 4)), ((3, 2, 4), (3, 3, 4)), ((4,), (4,)), ((1, 1, 1, 1), (1, 1, 1, 1))],
)
def test_factors_that_do_not_match_are_refused_with_their_shapes(u, v):
    with pytest.raises(ValueError, match="factors have shapes"):
        OuterProducts(np.ones(u), np.ones(v))


@pytest.mark.case("B32")
@pytest.mark.parametrize(
    "u",
    [np.ones((3, 4)) * 1j, np.full((3, 4), 1.0, dtype=object), np.full((3, 4), "1"), np.ma.array(np.ones((3, 4)))],
    ids=["complex", "object", "text", "masked"],
)
def test_factors_that_are_no_real_numbers_are_refused(u):
    with pytest.raises((TypeError, ValueError)):
        OuterProducts(u, np.ones((3, 4)))


@pytest.mark.case("B34")
def test_no_pairs_make_no_samples(make_pairs):
    chi = outer_products(pair_up(np.zeros((2, 5)))[:0])
    assert (len(chi), chi.shape, chi.dense().shape) == (0, (0, 25), (0, 25))


@pytest.mark.parametrize("rank", RANKS)
def test_samples_survive_pickling(make_products, rank, pickled):
    chi = make_products(6, rank=rank)
    assert_array_equal(pickled(chi).dense(), chi.dense())
