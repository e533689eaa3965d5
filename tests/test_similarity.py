"""SM and NSM against the paper's equations, written out sample by sample, and everything a stream may bring."""

import itertools
import tracemalloc
from functools import cache

import numpy as np
import pytest
from covering import pairwise
from estimator_checks import mapped
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from flymotion.frames import FramePairs, pair_up
from flymotion.similarity import state
from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching, SimilarityMatching
from flymotion.similarity.recursion import respond

LEARNERS = [SimilarityMatching, NonnegativeSimilarityMatching]
KINDS = ["vectors", "rank 1", "rank 2"]
STATE = ["R_", "S_", "W_", "M_", "components_", "dead_units_", "n_samples_seen_"]

each_learner = pytest.mark.parametrize("Learner", LEARNERS)


def assert_same_state(learner, other):
    for name in STATE:
        expected = getattr(other, name)
        found = np.reshape(getattr(learner, name), np.shape(expected))
        assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max(initial=0), err_msg=name)


def assert_identical(learner, other):
    for name in STATE:
        assert_array_equal(getattr(learner, name), getattr(other, name), err_msg=name)


def remember(learner):
    return {name: np.copy(getattr(learner, name)) for name in STATE}


def assert_remembered(learner, memory):
    for name, value in memory.items():
        assert_array_equal(getattr(learner, name), value, err_msg=name)


# The paper's algorithm, written out


def fixed_point_of_sm(R, b):
    return np.linalg.solve(R, b)


def fixed_point_of_nsm(R, b):
    L = np.linalg.cholesky(R)
    return nnls(L.T, np.linalg.solve(L, b))[0]


FIXED_POINT = {SimilarityMatching: fixed_point_of_sm, NonnegativeSimilarityMatching: fixed_point_of_nsm}


def equations_15_to_18(chi, W, That, fixed_point):
    """Averaging over all samples; returns W, M, That and the outputs."""
    n_units = len(W)
    W, That, M, outputs = W.copy(), That.copy(), np.zeros((n_units, n_units)), []
    for x in chi:
        theta = fixed_point(That[:, None] * (np.eye(n_units) + M), That * (W @ x))  # Eq. 15, times That
        for a in range(n_units):
            That[a] += theta[a] ** 2  # Eq. 18
            W[a] += theta[a] * (x - W[a] * theta[a]) / That[a]  # Eq. 16
            for other in set(range(n_units)) - {a}:
                M[a, other] += theta[a] * (theta[other] - M[a, other] * theta[a]) / That[a]  # Eq. 17
        outputs.append(theta)
    return W, M, That, np.array(outputs)


def section_1_1(chi, W, eta, fixed_point):
    """Learn at the constant rate eta, from M = 1, where a unit answers; W here has a column a unit.

    Returns W, M and the outputs.
    """
    W, M, outputs = W.T.copy(), np.eye(len(W)), []
    for x in chi:
        y = fixed_point(M, W.T @ x)  # Eq. 5
        rate = eta * y.any()
        W += rate * (np.outer(x, y) - W)  # Eq. 6
        M += rate * (np.outer(y, y) - M)
        outputs.append(y)
    return W, M, np.array(outputs)


def sums(chi, S, R, forgetting, fixed_point):
    """Eqs. 15-18 on the sufficient statistics, with forgetting where a unit answers; returns S, R and the outputs."""
    S, R, outputs = S.reshape(len(R), -1).copy(), R.copy(), []
    for x in chi:
        theta = fixed_point(R, S @ x)
        kept = forgetting ** theta.any()
        S = kept * S + np.outer(theta, x)
        R = kept * R + np.outer(theta, theta)
        outputs.append(theta)
    return S, R, np.array(outputs)


def random_filters(n_units, n_features=12):
    return np.random.default_rng(5).standard_normal((n_units, n_features))


@pytest.fixture
def in_blocks_of(monkeypatch):
    return lambda size: monkeypatch.setattr(state, "block_size", lambda *_, **__: size)


each_kind = pytest.mark.parametrize("kind", KINDS)
blocks = {"Learner": LEARNERS, "kind": KINDS, "n_units": range(1, 7), "size": [1, 7, 64, 1000]}
exactly = {"rtol": 1e-10, "atol": 1e-10}


@cache
def literal(Learner, kind, n_units, make_samples):
    return equations_15_to_18(
        make_samples(kind)[1], random_filters(n_units), np.full(n_units, 2.0), FIXED_POINT[Learner]
    )


@pairwise(**blocks)
def test_blocks_are_equations_15_to_18_sample_by_sample(make_samples, in_blocks_of, Learner, kind, n_units, size):
    in_blocks_of(size)
    W, M, That, outputs = literal(Learner, kind, n_units, make_samples)
    learner = Learner(n_units, init=random_filters(n_units), init_strength=2.0)
    assert_allclose(learner.partial_fit_transform(make_samples(kind)[0]), outputs, **exactly)
    assert_allclose(learner.W_, W, **exactly)
    assert_allclose(learner.M_, M, **exactly)
    assert_allclose(np.diag(learner.R_), That, **exactly)


@cache
def constant_rate(Learner, kind, n_units, make_samples):
    return section_1_1(make_samples(kind)[1], random_filters(n_units), 0.01, FIXED_POINT[Learner])


@pairwise(**blocks)
def test_forgetting_is_section_1_1_at_a_constant_rate(make_samples, in_blocks_of, Learner, kind, n_units, size):
    in_blocks_of(size)
    W, M, outputs = constant_rate(Learner, kind, n_units, make_samples)
    learner = Learner(n_units, forgetting=0.99, init=random_filters(n_units), init_strength=1 / 0.01)
    assert_allclose(learner.partial_fit_transform(make_samples(kind)[0]), outputs, **exactly)
    assert_allclose(0.01 * learner.S_.reshape(n_units, -1), W.T, **exactly)
    assert_allclose(0.01 * learner.R_, M, **exactly)


@cache
def from_warm_start(Learner, kind, n_units, forgetting, make_samples):
    samples, chi = make_samples(kind)
    start = Learner(n_units, warm_up=60)
    state = start._start(start._check(samples, reset=True))
    return sums(chi, np.array(state.S), state.R, forgetting, FIXED_POINT[Learner])


@pairwise(**blocks, forgetting=[1.0, 0.99])
def test_learning_goes_on_from_the_warm_start(make_samples, in_blocks_of, Learner, forgetting, kind, n_units, size):
    in_blocks_of(size)
    S, R, outputs = from_warm_start(Learner, kind, n_units, forgetting, make_samples)
    learner = Learner(n_units, warm_up=60, forgetting=forgetting)
    found = learner.partial_fit_transform(make_samples(kind)[0])
    scale = {"rtol": 1e-10, "atol": 1e-10 * np.abs(R).max()}
    assert_allclose(found, outputs, rtol=1e-10, atol=1e-10 * np.abs(outputs).max())
    assert_allclose(learner.S_.reshape(n_units, -1), S, **scale)
    assert_allclose(learner.R_, R, **scale)


@each_kind
@each_learner
def test_outputs_of_transform_are_equation_15_with_the_state_held_still(make_samples, Learner, kind):
    samples, chi = make_samples(kind)
    learner = Learner(3, warm_up=60).fit(samples)
    S, R = learner.S_.reshape(3, -1), learner.R_
    expected = [FIXED_POINT[Learner](R, S @ x) for x in chi]
    assert_allclose(learner.transform(samples), expected, rtol=1e-10, atol=1e-10)
    assert_identical(learner, Learner(3, warm_up=60).fit(samples))


@each_learner
def test_w_and_m_are_views_of_the_state(make_vectors, Learner):
    learner = Learner(3, warm_up=60).fit(make_vectors())
    R, That = learner.R_, np.diag(learner.R_)[:, None]
    assert_allclose(learner.W_, learner.S_ / That, rtol=1e-14)
    assert_allclose(learner.M_, (R - np.diag(np.diag(R))) / That, rtol=1e-14)
    kept = remember(learner)
    for name in ("S_", "R_", "W_", "M_", "components_"):
        getattr(learner, name)[:] = 7.0
    assert_remembered(learner, kept)


# The inner problem (B06, B07)


def solved(R, b, nonnegative=True, sweeps=10_000):
    theta, missed = respond(np.array([b], float), np.array(R, float), nonnegative, sweeps)
    return theta[0], not missed


@pytest.fixture
def solve():
    return {
        "linear": lambda R, b: solved(R, b, nonnegative=False)[0],
        "nonnegative": lambda R, b, sweeps=100: solved(R, b, sweeps=sweeps),
    }


def best_of_all_active_sets(R, b):
    """Enumerate the active sets; the one minimum of a convex problem satisfies the Karush-Kuhn-Tucker conditions."""
    n = len(b)
    candidates = [np.zeros(n)]
    for units in itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(1, n + 1)):
        theta = np.zeros(n)
        theta[list(units)] = np.linalg.solve(R[np.ix_(units, units)], b[list(units)])
        candidates.append(theta)
    feasible = [theta for theta in candidates if theta.min() >= 0]
    return min(feasible, key=lambda theta: theta @ R @ theta / 2 - b @ theta)


@pytest.mark.case("B07")
def test_coupled_problem_on_which_synchronous_updates_diverge(solve):
    R, b = np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2)
    assert_allclose(solve["linear"](R, b), [1 / 3, 1 / 3], rtol=1e-14)
    theta, reached = solve["nonnegative"](R, b)
    assert reached
    assert_allclose(theta, np.maximum(b - (R - np.eye(2)) @ theta, 0), atol=1e-14)
    assert_allclose(theta, [1, 0], atol=1e-14)


@pytest.mark.parametrize("forgetting", [1.0, 0.97])
@pytest.mark.parametrize("Learner", LEARNERS)
@pytest.mark.parametrize("rank, n_u, n_v", [(1, 1, 260), (1, 17, 16), (2, 19, 14)])
def test_a_few_samples_at_a_time_are_a_block_by_its_gram_matrix(monkeypatch, Learner, forgetting, rank, n_u, n_v):
    rng = np.random.default_rng(0)
    chi = OuterProducts(rng.standard_normal((300, rank, n_u)), rng.standard_normal((300, rank, n_v)))
    chi.u[[120, 299]] = 0
    few = Learner(3, forgetting=forgetting, warm_up=100)
    outputs = few.partial_fit_transform(chi)
    monkeypatch.setattr(state, "FACTORED", 0)
    block = Learner(3, forgetting=forgetting, warm_up=100)
    assert_allclose(outputs, block.partial_fit_transform(chi), **exactly)
    assert_same_state(few, block)


@pytest.mark.case("B06")
@pytest.mark.parametrize(
    "R", [[[1, -1], [-1, 1]], [[1, 1], [1, 1]], [[0, 0], [0, 0]], [[4, 2], [2, 1]], [[0, 0], [0, 2]]]
)
def test_singular_problems_have_finite_solutions(solve, R):
    R = np.array(R, float)
    b = R @ [1.0, 2.0]
    theta = solve["linear"](R, b)
    assert np.isfinite(theta).all()
    assert_allclose(R @ theta, b, atol=1e-12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(n=st.integers(1, 6), seed=st.integers(0, 10_000), spread=st.floats(0.0, 5.0))
def test_nonnegative_solution_is_the_one_minimum_among_all_active_sets(n, seed, spread):
    """Karush-Kuhn-Tucker: for positive definite R the nonnegative minimum is unique and one active set gives it."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) + spread
    R, b = A @ A.T + 1e-3 * np.eye(n), rng.standard_normal(n) * n
    theta, reached = solved(R, b)
    assert reached
    assert_allclose(theta, best_of_all_active_sets(R, b), rtol=1e-7, atol=1e-9)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(n=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_linear_solution_is_that_of_lapack(n, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    R, b = A @ A.T + 1e-3 * np.eye(n), rng.standard_normal(n)
    assert_allclose(solved(R, b, nonnegative=False)[0], np.linalg.solve(R, b), rtol=1e-8, atol=1e-10)


@pytest.mark.case("B01")
@pytest.mark.case("B06")
@each_learner
@pytest.mark.parametrize("warm_up", [1, 2, 500])
def test_outputs_are_finite_at_the_second_pair_whatever_the_first(Learner, warm_up):
    for seed in range(40):
        X = np.random.default_rng(seed).standard_normal((2, 25))
        learner = Learner(2, warm_up=warm_up)
        outputs = [learner.partial_fit(x[None]).transform(X) for x in X]
        assert np.isfinite(outputs).all()


@pytest.mark.parametrize("strength", [1e-300, 1e-12, 1e-3])
@each_learner
def test_a_start_at_almost_nothing_stays_finite(Learner, strength):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        learner = Learner(2, init=rng.standard_normal((2, 9)), init_strength=strength)
        outputs = learner.partial_fit_transform(rng.standard_normal((30, 9)))
        assert np.isfinite(outputs).all() & np.isfinite(learner.W_).all() & np.isfinite(learner.components_).all()


def coupled_learner(**how):
    """Three units with overlapping filters, on samples that all of them answer."""
    rng = np.random.default_rng(0)
    filters = 1.0 + 0.3 * rng.standard_normal((3, 6))
    return NonnegativeSimilarityMatching(3, init=filters, **how), 1.0 + rng.standard_normal((40, 6))


@pytest.mark.case("B07")
def test_an_inner_problem_that_is_not_solved_is_a_warning():
    learner, X = coupled_learner(max_sweeps=1)
    with pytest.warns(ConvergenceWarning, match=r"outputs of \d+ of 40 samples did not converge in 1 sweeps"):
        learner.partial_fit(X)
    assert np.isfinite(learner.W_).all()


def test_outputs_that_are_not_solved_are_a_warning_in_transform():
    learner, X = coupled_learner()
    learner.partial_fit(X).set_params(max_sweeps=1)
    with pytest.warns(ConvergenceWarning, match=r"outputs of \d+ of 40 samples did not converge in 1 sweeps"):
        learner.transform(X)


@pytest.mark.case("B07")
def test_outputs_are_the_same_row_by_row():
    learner, X = coupled_learner()
    learner.partial_fit(X)
    assert_allclose(np.concatenate([learner.transform(x[None]) for x in X]), learner.transform(X), atol=1e-12)


# The stream (contract 1)


@pytest.mark.case("B18")
@settings(max_examples=12, deadline=None, derandomize=True)
@given(cuts=st.lists(st.integers(0, 150), max_size=8), forgetting=st.sampled_from([1.0, 0.97]))
@each_kind
@each_learner
def test_any_split_of_the_stream_gives_the_same_state(make_samples, Learner, kind, cuts, forgetting):
    samples, _ = make_samples(kind)
    how = {"forgetting": forgetting, "warm_up": 70}
    whole, split = Learner(3, **how), Learner(3, **how)
    outputs = whole.partial_fit_transform(samples)
    edges = [0, *sorted(cuts), 150]
    parts = [split.partial_fit_transform(samples[a:b]) for a, b in itertools.pairwise(edges)]
    assert_same_state(split, whole)
    late = sum(map(len, parts[: np.searchsorted(edges, 70)]))
    assert_allclose(np.concatenate(parts)[late:], outputs[late:], **exactly)


@pytest.mark.case("B09")
@each_learner
def test_batches_smaller_than_the_number_of_units_are_welcome(make_vectors, Learner):
    X = make_vectors(101)
    for size in (1, 2, 10):
        learner = Learner(4, warm_up=20)
        for start in range(0, 101, size):
            learner.partial_fit(X[start : start + size])
        assert learner.n_samples_seen_ == 101
        assert_same_state(learner, Learner(4, warm_up=20).fit(X))


@pytest.mark.case("B19")
@each_learner
@pytest.mark.parametrize("warm_up", [70, 1000])
def test_fit_is_a_reset_and_as_many_passes_as_asked_for(make_vectors, Learner, warm_up):
    X, other = make_vectors(), make_vectors(80, 9, seed=1)
    thrice = Learner(3, n_passes=3, warm_up=warm_up).fit(other).fit(X)
    by_hand = Learner(3, warm_up=warm_up).partial_fit(X).partial_fit(X).partial_fit(X)
    assert_identical(thrice, by_hand)
    assert (thrice.n_samples_seen_, thrice.n_features_in_) == (450, 12)


@pytest.mark.case("B19")
@each_learner
def test_partial_fit_never_resets(make_vectors, Learner):
    learner = Learner(2, warm_up=70).fit(make_vectors())
    learner.partial_fit(make_vectors(seed=1))
    assert learner.n_samples_seen_ == 300


@pytest.mark.case("B34")
@pytest.mark.parametrize("n_before", [0, 30, 100])
@each_learner
def test_an_empty_batch_changes_nothing(make_vectors, Learner, n_before):
    X = make_vectors()
    learner, other = (Learner(3, warm_up=70).partial_fit(X[:30]) for _ in range(2))
    learner.partial_fit(X[:n_before]).partial_fit(X[:0])
    assert learner.partial_fit_transform(X[:0]).shape == (0, 3)
    assert_identical(learner.partial_fit(X), other.partial_fit(X[:n_before]).partial_fit(X))


@pytest.mark.case("B34")
@pytest.mark.parametrize("how", [{}, {"init": random_filters(3)}, {"warm_up": 1}])
@each_learner
def test_an_empty_batch_first_of_all_changes_nothing(make_vectors, Learner, how):
    X = make_vectors()
    learner = Learner(3, **how)
    assert learner.partial_fit_transform(X[:0]).shape == (0, 3)
    with pytest.raises(NotFittedError):
        learner.transform(X)
    assert_identical(learner.partial_fit(X), Learner(3, **how).partial_fit(X))


@pytest.mark.case("B34")
@pytest.mark.parametrize(
    "ask",
    [
        lambda learner, X: learner.components_,
        lambda learner, X: learner.W_,
        lambda learner, X: learner.n_samples_seen_,
    ],
)
@each_learner
def test_questions_before_learning_are_refused(make_vectors, Learner, ask):
    with pytest.raises(NotFittedError):
        ask(Learner(3), make_vectors())


# Samples that teach nothing (B01, B30)


BLANKS = {"before": [0] * 40, "amid": [75] * 40, "between": list(range(0, 150, 5)), "after": [150] * 200}


@pytest.mark.case("B01")
@pairwise(Learner=LEARNERS, kind=KINDS, places=BLANKS, forgetting=[1.0, 0.9])
def test_blank_samples_are_as_if_they_had_not_been(make_samples, Learner, kind, places, forgetting):
    samples, _ = make_samples(kind)
    order = np.insert(np.arange(1, 151), BLANKS[places], 0)
    blank = mapped(samples, lambda f: np.concatenate([0 * f[:1], f]))
    learner, other = (Learner(3, forgetting=forgetting, warm_up=70) for _ in range(2))
    outputs = learner.partial_fit_transform(blank[order])
    expected = other.partial_fit_transform(samples)
    assert_same_state(learner, other)
    assert_allclose(outputs[order > 0], expected, **exactly)
    assert_array_equal(outputs[order == 0], 0.0)
    assert learner.n_samples_seen_ == 150


@pytest.mark.case("B01")
@each_learner
def test_blank_frames_before_good_ones_are_as_if_they_had_not_been(Learner):
    good = np.random.default_rng(0).standard_normal((80, 5))
    movie = np.concatenate([np.zeros((10, 5)), good])
    learner = Learner(2).partial_fit(outer_products(pair_up(movie)))
    expected = Learner(2).partial_fit(outer_products(pair_up(np.concatenate([np.zeros((1, 5)), good]))))
    assert_same_state(learner, expected)


@pytest.mark.case("B01")
@each_kind
@each_learner
def test_nothing_but_blanks_leaves_units_dead_and_the_learner_ready(make_samples, Learner, kind):
    samples, _ = make_samples(kind, seed=3)
    blank = mapped(samples, np.zeros_like)
    learner = Learner(2, warm_up=20).partial_fit(blank)
    assert_array_equal(learner.dead_units_, [0, 1])
    assert_array_equal(learner.transform(samples), np.zeros((150, 2)))
    assert_array_equal(learner.components_, np.zeros((2, 12)))
    learner.partial_fit(samples)
    assert learner.dead_units_.size == 0
    assert np.isfinite(learner.components_).all()


@pairwise(Learner=LEARNERS, dtype=[np.float32, np.float64], feature=["change", "midpoint", "antisymmetric"])
def test_a_still_camera_teaches_nothing(Learner, dtype, feature):
    """Not even where chi is 0 only as the sum of outer products that cancel."""
    still = np.random.default_rng(0).standard_normal((60, 9)).astype(dtype)
    chi = outer_products(FramePairs(still, still), feature)
    learner = Learner(2, warm_up=20).partial_fit(chi)
    assert learner.n_samples_seen_ == 0
    assert_array_equal(learner.dead_units_, [0, 1])


@pytest.mark.case("B30")
@each_learner
def test_the_same_pair_fifty_times_uses_one_unit_and_says_so_once(Learner):
    X = np.repeat(np.random.default_rng(0).standard_normal((1, 9)), 50, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 of 3 units have never been active") as caught:
        learner = Learner(3).fit(X)
    assert len(caught) == 1
    assert len(learner.dead_units_) == 2
    assert np.linalg.matrix_rank(learner.R_) == 1
    assert_array_equal(np.abs(learner.components_).sum(axis=1) > 0, [True, False, False])
    assert_allclose(np.abs(learner.transform(X[:1])), [[np.linalg.norm(X[0]), 0, 0]], atol=1e-12)


@pytest.mark.case("B30")
@pairwise(Learner=LEARNERS, warm_up=[1, 20, 500], dtype=[np.float32, np.float64])
def test_more_units_than_directions_leaves_the_others_at_zero(Learner, warm_up, dtype):
    rng = np.random.default_rng(0)
    X = (np.abs(rng.standard_normal((100, 1))) * rng.standard_normal((1, 9))).astype(dtype)
    learner = Learner(3, warm_up=warm_up).partial_fit(X)
    assert_array_equal(learner.dead_units_, [1, 2])
    assert_array_equal(learner.components_[1:], np.zeros((2, 9)))
    assert_array_equal(learner.transform(X)[:, 1:], np.zeros((100, 2)))


@pytest.mark.case("B30")
@pytest.mark.parametrize("warm_up", [1, 20])
@each_learner
def test_new_directions_are_learnt_when_they_come(Learner, warm_up):
    first, second = np.eye(9)[:2]
    rng = np.random.default_rng(0)
    learner = Learner(3, warm_up=warm_up).partial_fit(np.abs(rng.standard_normal((50, 1))) * first)
    learner.partial_fit(np.abs(rng.standard_normal((50, 1))) * second)
    assert_array_equal(learner.dead_units_, [2])
    filters = np.abs(learner.components_[:2] / np.linalg.norm(learner.components_[:2], axis=1, keepdims=True))
    assert_allclose(filters[np.argsort(-filters[:, 0])][:, :2], np.eye(2), atol=1e-9)


@pytest.mark.case("B30")
@each_learner
def test_a_pair_inside_the_span_wakes_no_unit(Learner):
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((50, 2))) @ rng.standard_normal((2, 9))
    learner = SimilarityMatching(4, warm_up=20).partial_fit(X)
    assert_array_equal(learner.dead_units_, [2, 3])
    assert np.linalg.matrix_rank(learner.R_) == 2


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@each_learner
def test_units_left_idle_for_hours_stay_finite_and_awake(Learner, scale):
    """R keeps a floor relative to its trace: 0.9^200,000 is 0 in floating point."""
    first, second = scale * np.eye(4)[:2]
    learner = Learner(2, forgetting=0.9, init=np.eye(2, 4))
    learner.partial_fit(np.tile([first, second], (50, 1)))
    for _ in range(20):
        learner.partial_fit(np.tile(first, (10_000, 1)))
    assert 1e-9 < learner.R_[1, 1] / np.trace(learner.R_) < 1e-9 / 0.9
    assert_allclose(np.abs(learner.transform([first, second])) / scale, np.eye(2), atol=0.02)
    learner.partial_fit(np.tile([first, second], (100, 1)))
    assert_allclose(np.abs(learner.transform([first, second])) / scale, np.eye(2), atol=0.1)


@pytest.mark.parametrize("n_units", [1, 2])
def test_a_world_that_no_unit_answers_for_hours_stays_finite(n_units):
    learner = NonnegativeSimilarityMatching(n_units, forgetting=0.9, init=np.eye(n_units, 4))
    against = -np.ones((1, 4))
    with pytest.warns(ConvergenceWarning, match=f"{n_units} of {n_units} units have never been active"):
        learner.partial_fit(np.tile(against, (2_000, 1)))
    for _ in range(9):
        learner.partial_fit(np.tile(against, (2_000, 1)))
        assert np.isfinite(learner.transform(np.concatenate([against, -against, np.eye(4)]))).all()
        assert np.isfinite(learner.W_).all()


SILENT = {
    SimilarityMatching: np.eye(4)[2:3],  # that no unit has anything to do with
    NonnegativeSimilarityMatching: -np.ones((1, 4)),
}


@pairwise(Learner=LEARNERS, dtype=[np.float32, np.float64], forgetting=[0.99, 0.5], size=[100, 4096])
def test_hours_in_which_no_unit_answers_end_none(in_blocks_of, Learner, dtype, forgetting, size):
    """A floor relative to a trace that decays too would be none: 0.99^12,000 is 0 in float32."""
    in_blocks_of(size)
    seen, silent = np.eye(4)[:2].astype(dtype), np.tile(SILENT[Learner].astype(dtype), (3_000, 1))
    learner = Learner(2, forgetting=forgetting, init=np.eye(2, 4)).partial_fit(np.tile(seen, (400, 1)))
    kept, n_seen = learner.R_, learner.n_samples_seen_
    for _ in range(30):
        learner.partial_fit(silent)
    assert_array_equal(learner.R_, kept)
    assert_allclose(np.abs(learner.transform(seen)), np.eye(2), atol=1e-6)
    assert learner.n_samples_seen_ == n_seen + 90_000


@pytest.mark.parametrize("parts", [1, 3, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_unit_that_answers_nothing_is_reported_once_and_by_number(dtype, parts):
    """Known after as many samples as a warm-up takes, 500 of 4 features, whatever the split."""
    X = np.abs(np.random.default_rng(0).standard_normal((1000, 4))).astype(dtype)
    learner = NonnegativeSimilarityMatching(3, init=[[1, 0, 0, 0], [-1, -1, -1, -1], [0, 1, 0, 0]])
    with pytest.warns(ConvergenceWarning, match=r"1 of 3 units have never been active \(units \[1\]\)") as caught:
        for part in np.array_split(X, parts):
            learner.partial_fit(part)
    assert len(caught) == 1
    assert_array_equal(learner.dead_units_, [1])
    assert learner.partial_fit(-X).dead_units_.size == 0


@each_learner
def test_a_unit_that_the_warm_up_leaves_dead_is_reported_when_it_ends(Learner):
    X = np.abs(np.random.default_rng(0).standard_normal((600, 1))) * np.eye(4)[:1]
    learner = Learner(2).partial_fit(X[:499])
    with pytest.warns(ConvergenceWarning, match="1 of 2 units have never been active") as caught:
        learner.partial_fit(X[499:]).partial_fit(X)
    assert len(caught) == 1


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 255.0, 1e9])
@each_learner
def test_filters_do_not_depend_on_the_gain(make_vectors, Learner, scale):
    """Eqs. 12 and 14 are homogeneous: scaled samples have scaled outputs and the same W and M."""
    X = make_vectors()
    plain, scaled = (Learner(3, warm_up=70).fit(x) for x in (X, scale * X))
    assert_allclose(scaled.W_, plain.W_, rtol=1e-8, atol=1e-10)
    assert_allclose(scaled.M_, plain.M_, rtol=1e-8, atol=1e-10)
    assert_allclose(scaled.transform(scale * X) / scale, plain.transform(X), rtol=1e-8, atol=1e-8)


@pairwise(Learner=LEARNERS, kind=KINDS, scale=[1e-30, 1e-9, 1e12, 1e30], warm_up=[70, 1000])
def test_neither_do_those_of_float32(make_samples, Learner, kind, scale, warm_up):
    """The products of three samples are 1e90 or 1e-90 then, which float32 does not hold."""
    X, _ = make_samples(kind, dtype=np.float32)
    by = np.float32(scale ** (1 if kind == "vectors" else 0.5))
    plain, scaled = (Learner(3, warm_up=warm_up).fit(x) for x in (X, mapped(X, lambda factor: by * factor)))
    assert_allclose(scaled.W_, plain.W_, rtol=1e-4, atol=1e-4)
    assert_allclose(scaled.components_, plain.components_, rtol=1e-4, atol=1e-4)
    found = scaled.transform(mapped(X, lambda factor: by * factor))
    assert found.dtype == np.float32
    assert_allclose(found / np.float32(scale), plain.transform(X), rtol=1e-4, atol=1e-4)


@pairwise(Learner=LEARNERS, feature=["product", "change"], kind=["uint16", "float32"])
def test_frames_of_sixteen_bits_are_learned_from_as_they_are(Learner, feature, kind):
    frames = np.random.default_rng(0).integers(0, 65536, (301, 9)).astype(kind)
    learner = Learner(2).fit(outer_products(pair_up(frames), feature))
    expected = Learner(2).fit(outer_products(pair_up(frames / 65536), feature))
    assert_allclose(learner.W_, expected.W_, rtol=1e-3, atol=1e-3)


def test_memory_of_small_and_of_large_samples_are_both_kept():
    """A state of large samples is none that float32 holds: small ones that come later are still learned from."""
    rng = np.random.default_rng(0)
    learner = SimilarityMatching(2, warm_up=20)
    for size in (1e18, 1.0, 1e-18):
        learner.partial_fit((size * rng.standard_normal((100, 5))).astype(np.float32))
        assert np.isfinite(learner.transform((size * rng.standard_normal((9, 5))).astype(np.float32))).all()
    assert np.isfinite(learner.components_).all() & (learner.n_samples_seen_ == 300)


# Memory (B12)


@pytest.fixture
def peak_of():
    """Bytes that a call allocates at most, beyond what there was."""

    def measure(function, *arguments):
        tracemalloc.start()
        try:
            function(*arguments)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return measure


@pytest.mark.case("B12")
@each_learner
def test_memory_is_the_state_and_the_batch_never_chi(peak_of, Learner):
    frames = np.random.default_rng(0).standard_normal((1500, 24 * 24))
    chi = OuterProducts(frames, frames[::-1])  # 4 GB if it were made
    learner = Learner(4, warm_up=200)
    batch, state = 2 * frames.nbytes, 4 * 576**2 * 8
    assert peak_of(learner.fit, chi) < 3 * batch + 5 * state
    for question in (learner.transform, learner.score):
        assert peak_of(question, chi) < batch + 5 * state


@pytest.mark.case("B12")
@each_learner
def test_memory_of_answers_does_not_grow_with_their_number(peak_of, Learner):
    frames = np.random.default_rng(0).standard_normal((12_000, 64))
    learner = Learner(4).fit(OuterProducts(frames[:500], frames[:500]))
    few, many = (OuterProducts(f, f) for f in (frames[:3000], frames))
    for question in (learner.transform, learner.score):
        assert peak_of(question, many) < 1.5 * peak_of(question, few) + 9000 * 4 * 8 * 4


# What is let in


@pytest.mark.case("B02")
@each_learner
def test_two_bright_frames_teach_the_change_of_their_floating_point_values(Learner):
    movie = np.array([[200, 50, 50], [50, 200, 50]], dtype=np.uint8)
    learner = Learner(1).fit(outer_products(pair_up(movie), "change"))
    expected = np.outer([-150.0, 150.0, 0.0], [200.0, 50.0, 50.0])
    cosine = (learner.generators_[0] * expected).sum() / np.linalg.norm(learner.generators_) / np.linalg.norm(expected)
    assert abs(cosine) == pytest.approx(1.0, abs=1e-12)


@each_learner
def test_filters_handed_in_are_left_as_they_were(make_vectors, Learner):
    init = random_filters(3)
    Learner(3, init=init).fit(make_vectors()).partial_fit(make_vectors())
    assert_array_equal(init, random_filters(3))


@each_kind
@each_learner
def test_float32_samples_have_float32_outputs_and_float64_sums(make_samples, Learner, kind):
    narrow, _ = make_samples(kind, dtype=np.float32)
    learner = Learner(3, warm_up=70)
    assert learner.partial_fit_transform(narrow).dtype == learner.partial_fit_transform(narrow[:5]).dtype == np.float32
    assert learner.R_.dtype == learner.S_.dtype == np.float64


def test_a_long_float32_stream_does_not_stall():
    """In float32 the sum would stand still: half a unit in the last place of 1e11 is 4096."""
    learner = NonnegativeSimilarityMatching(1, init=[[1.0, 0.0]], init_strength=1.0)
    learner.partial_fit(np.full((1000, 2), [1e4, 0.0], dtype=np.float32))
    before = learner.S_.copy()
    for _ in range(20):
        learner.partial_fit(np.ones((1000, 2), dtype=np.float32))
    assert_allclose(learner.S_ - before, [[20_000, 20_000]], rtol=1e-3)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16"])
@each_learner
def test_torch_tensors_of_other_numbers_never_wrap(Learner, dtype):
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).integers(0, 250, (80, 5)).astype(float)
    learner = Learner(2).fit(torch.from_numpy(X).to(getattr(torch, dtype)))
    assert_allclose(learner.R_, Learner(2).fit(X).R_, rtol=1e-4)


# What is refused, with the state as it was (B11, B19, B32)


def spoil(X, value):
    X = X.copy()
    X[5, 2] = value
    return X


BAD_VECTORS = {
    "nan": lambda X: spoil(X, np.nan),
    "inf": lambda X: spoil(X, np.inf),
    "minus inf": lambda X: spoil(X, -np.inf),
    "more features": lambda X: np.ones((4, 13)),
    "fewer features": lambda X: np.ones((4, 11)),
    "complex": lambda X: X * 1j,
    "masked": lambda X: np.ma.array(X, mask=X > 1),
    "masked, nothing hidden": lambda X: np.ma.array(X),
    "objects": lambda X: np.full((4, 12), {}),
    "text": lambda X: np.full((4, 12), "a"),
    "ragged": lambda X: [[1.0] * 12, [1.0] * 11],
    "one sample": lambda X: X[0],
    "too many axes": lambda X: X[None],
    "a number": lambda X: 3.0,
    "outer products": lambda X: OuterProducts(X[:, :4], X[:, :3]),
}


BEFORE = {"in the warm-up": 30, "after it": 150}
CALLS = ["partial_fit", "partial_fit_transform", "transform", "score"]


@pytest.mark.case("B11")
@pytest.mark.case("B19")
@pytest.mark.case("B32")
@pairwise(Learner=LEARNERS, bad=BAD_VECTORS, before=BEFORE, call=CALLS)
def test_bad_vectors_are_refused_before_any_change(make_vectors, Learner, bad, before, call):
    X = make_vectors()
    learner, expected = (Learner(3, warm_up=70).partial_fit(X[: BEFORE[before]]) for _ in range(2))
    kept = remember(learner)
    with pytest.raises((ValueError, TypeError)):
        getattr(learner, call)(BAD_VECTORS[bad](X))
    assert_remembered(learner, kept)
    assert_identical(learner.partial_fit(X), expected.partial_fit(X))


BAD_PRODUCTS = {
    "nan change": lambda u, v: OuterProducts(spoil(u, np.nan), v),
    "nan intensity": lambda u, v: OuterProducts(u, spoil(v, np.nan)),
    "inf change": lambda u, v: OuterProducts(spoil(u, np.inf), v),
    "inf beside a blank": lambda u, v: OuterProducts(spoil(u, np.inf), 0 * v),
    "as many features, otherwise arranged": lambda u, v: OuterProducts(v, u),
    "as many features, written out": lambda u, v: OuterProducts(u, v).dense(),
    "more pixels": lambda u, v: OuterProducts(np.hstack([u, u]), v),
    "complex": lambda u, v: OuterProducts(u * 1j, v),
    "masked": lambda u, v: OuterProducts(np.ma.array(u, mask=u > 1), v),
}


@pytest.mark.case("B11")
@pytest.mark.case("B19")
@pytest.mark.case("B32")
@pairwise(Learner=LEARNERS, bad=BAD_PRODUCTS, before=BEFORE, call=CALLS)
def test_bad_outer_products_are_refused_before_any_change(make_products, Learner, bad, before, call):
    samples = make_products()
    learner, expected = (Learner(3, warm_up=70).partial_fit(samples[: BEFORE[before]]) for _ in range(2))
    kept = remember(learner)
    with pytest.raises((ValueError, TypeError)):
        getattr(learner, call)(BAD_PRODUCTS[bad](samples.u, samples.v))
    assert_remembered(learner, kept)
    assert_identical(learner.partial_fit(samples), expected.partial_fit(samples))


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.0}, "n_components"),
        ({"n_components": "2"}, "n_components"),
        ({"forgetting": 0.0}, "forgetting"),
        ({"forgetting": 1.1}, "forgetting"),
        ({"forgetting": np.nan}, "forgetting"),
        ({"n_passes": 0}, "n_passes"),
        ({"n_passes": 1.5}, "n_passes"),
        ({"warm_up": 0}, "warm_up"),
        ({"warm_up": 1.5}, "warm_up"),
        ({"warm_up": -1}, "warm_up"),
        ({"max_sweeps": 0}, "max_sweeps"),
        ({"init_strength": 0.0, "init": np.eye(2, 12)}, "init_strength"),
        ({"init_strength": -1.0, "init": np.eye(2, 12)}, "init_strength"),
        ({"init": np.eye(3, 12)}, "init"),
        ({"init": np.full((2, 12), np.nan)}, "init"),
    ],
)
@each_learner
def test_parameters_out_of_range_are_refused_by_name(make_vectors, Learner, how, name):
    with pytest.raises(ValueError, match=name):
        Learner(**({"n_components": 2} | how)).fit(make_vectors())


# scikit-learn


@pytest.mark.case("B45")
@each_kind
@each_learner
def test_cross_validation_over_samples(make_samples, Learner, kind):
    samples, chi = make_samples(kind)
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(Learner(2), samples, cv=folds)
    expected = [Learner(2).fit(chi[train]).score(chi[test]) for train, test in folds.split(chi)]
    assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.case("B45")
@each_kind
@each_learner
def test_grid_search_over_samples(make_samples, Learner, kind):
    samples, _ = make_samples(kind)
    search = GridSearchCV(Learner(), {"n_components": [1, 4]}, cv=KFold(3, shuffle=True, random_state=0)).fit(samples)
    assert search.best_params_ == {"n_components": 4}


@each_kind
@each_learner
def test_score_is_a_constant_minus_the_objective(make_samples, Learner, kind):
    """Eqs. 12 and 14: |G - theta theta'|^2 / T^2 = |G|^2 / T^2 - score, G the T x T Gram matrix."""
    samples, chi = make_samples(kind)
    learner = Learner(3).fit(samples)
    G, theta = chi @ chi.T, learner.transform(samples)
    objective = ((G - theta @ theta.T) ** 2).sum() / 150**2
    assert learner.score(samples) == pytest.approx((G**2).sum() / 150**2 - objective, rel=1e-9)


@pytest.mark.case("B34")
@each_learner
def test_score_of_nothing_is_refused(make_vectors, Learner):
    learner = Learner(2).fit(make_vectors())
    with pytest.raises(ValueError, match="sample"):
        learner.score(make_vectors()[:0])


def test_output_names_follow_scikit_learn(make_vectors):
    learner = SimilarityMatching(2).fit(make_vectors())
    assert list(learner.get_feature_names_out()) == ["similaritymatching0", "similaritymatching1"]


# What it finds


def cosine(a, b):
    return a.ravel() @ b.ravel() / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.case("B28")
@pytest.mark.case("B29")
@each_kind
def test_sm_finds_the_uncentred_principal_components(make_samples, kind):
    """Pehlevan, Hu and Chklovskii 2015: the minimum of Eq. 12 is the projection on the principal subspace."""
    samples, chi = make_samples(kind, n_samples=400)
    learner = SimilarityMatching(2, n_passes=30).fit(samples)
    _, values, vectors = np.linalg.svd(chi, full_matrices=False)
    assert abs(cosine(learner.components_[0], vectors[0])) > 0.999
    energy = np.linalg.norm(chi @ np.linalg.qr(learner.components_.T)[0]) ** 2
    assert energy > 0.99 * (values[:2] ** 2).sum()


@pytest.mark.case("B28")
def test_sm_learns_motion_from_one_way_motion_because_it_does_not_centre(make_noise_pairs):
    pairs = make_noise_pairs(6000)
    one_way = pairs[pairs.motion[:, 0] > 0]
    chi = outer_products(one_way)
    component = SimilarityMatching(1).fit(chi).components_[0]
    assert abs(cosine(component, np.linalg.svd(chi.dense(), full_matrices=False)[2][0])) > 0.98


@pytest.mark.case("B29")
def test_sign_of_components_is_that_of_their_largest_entry(make_samples):
    for seed in range(5):
        components = SimilarityMatching(3).fit(make_samples("rank 1", seed=seed)[0]).components_
        assert (np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1) > 0).all()


def test_components_are_those_of_the_state(make_vectors):
    """U' R^-1 S, U the eigenvectors of R, by their own loop; signs aside."""
    learner = SimilarityMatching(3).fit(make_vectors(400))
    values, U = np.linalg.eigh(learner.R_)
    expected = [U[:, k] @ learner.S_ / values[k] for k in (2, 1, 0)]
    for component, other in zip(learner.components_, expected, strict=True):
        np.testing.assert_allclose(component, other * np.sign(component @ other), rtol=1e-9)


def test_components_come_largest_first(make_vectors):
    learner = SimilarityMatching(4).fit(make_vectors(400))
    energy = ((make_vectors(400) @ learner.components_.T) ** 2).sum(axis=0)
    assert (np.diff(energy) < 0).all()


def test_generators_are_components_with_a_row_a_changing_pixel(make_products):
    chi = make_products(n=4, n_v=3)
    for learner in (SimilarityMatching(2).fit(chi), NonnegativeSimilarityMatching(2).fit(chi)):
        assert learner.generators_.shape == (2, 4, 3)
        assert_array_equal(learner.generators_.reshape(2, -1), learner.components_)


@each_learner
def test_samples_are_known_by_their_gram_matrix_alone(make_vectors, Learner):
    """Eqs. 12 and 14 depend on chi through chi . chi' only: turned samples have the same outputs."""
    X = make_vectors()
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((12, 12)))[0]
    plain, turned = Learner(3, warm_up=70).fit(X), Learner(3, warm_up=70).fit(X @ Q)
    assert_allclose(turned.R_, plain.R_, rtol=1e-7, atol=1e-7)
    assert_allclose(turned.transform(X @ Q), plain.transform(X), atol=1e-7)
    assert_allclose(turned.W_, plain.W_ @ Q, atol=1e-7)


@pytest.mark.case("B29")
@each_learner
def test_units_have_no_order(make_vectors, Learner):
    """Eqs. 15-18 treat all units alike: permuted filters have permuted outputs."""
    X, order = make_vectors(), [2, 0, 1]
    plain = Learner(3, init=random_filters(3)).fit(X)
    permuted = Learner(3, init=random_filters(3)[order]).fit(X)
    assert_allclose(permuted.transform(X), plain.transform(X)[:, order], **exactly)
    assert_allclose(permuted.R_, plain.R_[np.ix_(order, order)], **exactly)


def test_nsm_outputs_are_never_negative(make_samples):
    for kind in KINDS:
        samples, _ = make_samples(kind)
        learner = NonnegativeSimilarityMatching(4, warm_up=70)
        assert learner.partial_fit_transform(samples).min() >= 0
        assert learner.transform(samples).min() >= 0


def test_one_t4_neuron_learns_from_its_own_pixel(make_noise_pairs):
    """Eq. 19 for one i: the change at the centre pixel times the intensities around it."""
    flat = make_noise_pairs(6000)
    dx, x = flat.after - flat.before, (flat.after + flat.before) / 2
    alone = SimilarityMatching(1).fit(OuterProducts(dx[:, 2:3], x))
    assert alone.generators_.shape == (1, 1, 5)
    row = alone.generators_[0, 0] / np.linalg.norm(alone.generators_)
    assert row[1] * row[3] < 0
    assert abs(row[1] - row[3]) > 1.2


def test_pairs_of_a_movie_are_learned_once_each():
    movie = np.random.default_rng(0).standard_normal((7, 5))
    learner = SimilarityMatching(2).fit(outer_products(pair_up(movie)))
    assert learner.n_samples_seen_ == 6
    both = FramePairs.concatenate([pair_up(movie[:3]), pair_up(movie[3:])])
    assert SimilarityMatching(2).fit(outer_products(both)).n_samples_seen_ == 5
