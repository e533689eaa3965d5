"""The literal network: against the fast form, against the printed equations, and why its dynamics settle."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from flymotion.similarity.features import OuterProducts, outer_products
from flymotion.similarity.literal import RateNetwork
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.state import State
from flymotion.world import Grid, Line, Translation, sample_pairs
from flymotion.world.scenes import ExponentialNoise, SmoothNoise

N_PAIRS = 10_000


def on_a_line():
    scene = ExponentialNoise(3.0, period=2048.0, sharpest=0.8, random_state=0)
    return scene, Line(5, 0.8), Translation(0.1, ndim=1)


def in_the_plane():
    return SmoothNoise(3.0, ndim=2, period=64.0, random_state=0), Grid(3, 3, 0.8), Translation(0.3, ndim=2)


@pytest.fixture(scope="module", params=[on_a_line, in_the_plane])
def chi(request):
    """Outer products of pairs, unit mean square."""
    chi = outer_products(sample_pairs(*request.param(), N_PAIRS, random_state=0))
    return OuterProducts(chi.u / np.sqrt((chi.norms() ** 2).mean()), chi.v)


def start(n_units, shape, seed=0):
    return np.random.default_rng(seed).normal(size=(n_units, *shape)) / 5


def assert_alike(found, expected):
    assert np.abs(found - expected).max() <= 1e-10 * np.abs(expected).max()


# -- equal to the fast form ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_units", [2, 4])
@pytest.mark.parametrize("rectified", [False, True])
def test_averaging_is_the_fast_form_sample_by_sample(chi, n_units, rectified):
    W = start(n_units, chi.feature_shape)
    fast, literal = State.of_filters(W, 100.0, chi), RateNetwork(W, strength=100.0, rectified=rectified)
    expected, _ = fast.advance(chi, forgetting=1.0, nonnegative=rectified, max_sweeps=1000)
    outputs, steps = literal.learn(chi.u, chi.v)
    assert steps.max() < literal.max_steps
    assert_alike(outputs, expected)
    assert_alike(literal.W.reshape(n_units, -1), fast.W)
    assert_alike(literal.M, fast.M)
    assert_alike(literal.That, np.diag(fast.R))


@pytest.mark.parametrize("n_units", [2, 4])
@pytest.mark.parametrize("rectified", [False, True])
def test_a_constant_rate_is_forgetting(chi, n_units, rectified):
    """From M = 1, which is R = 1 / eta; of the samples that a unit answers, as the others leave the fast form alone."""
    W, eta = start(n_units, chi.feature_shape), 1e-3
    fast, literal = State.of_filters(W, 1 / eta, chi), RateNetwork(W, rate=eta, rectified=rectified)
    expected, _ = fast.advance(chi, forgetting=1 - eta, nonnegative=rectified, max_sweeps=1000)
    answered = expected.any(axis=1)
    outputs, _ = literal.learn(chi.u[answered], chi.v[answered])
    assert_alike(outputs, expected[answered])
    assert_alike(literal.W, eta * fast.S)
    assert_alike(literal.M, eta * fast.R)


def test_a_plain_vector_is_a_pair_with_1():
    X = np.abs(np.random.default_rng(0).normal(size=(2000, 6)))
    W = np.abs(start(3, (6,)))
    fast = NonnegativeSimilarityMatching(3, init=W, init_strength=50.0).fit(X)
    literal = RateNetwork(W[:, None], strength=50.0)
    literal.learn(np.ones((2000, 1)), X)
    assert_alike(literal.W[:, 0], fast.W_)
    assert_alike(literal.M, fast.M_)


# -- the printed equations -------------------------------------------------------------------------------------------


def test_one_pair_changes_synapses_as_printed():
    rng = np.random.default_rng(0)
    network = RateNetwork(start(3, (4, 5)), strength=2.0, rectified=False)
    network.learn(rng.normal(size=(20, 4)), rng.normal(size=(20, 5)))
    W, M, That = network.W.copy(), network.M.copy(), network.That.copy()
    dx, x = rng.normal(size=4), rng.normal(size=5)
    theta, _ = network.present(dx, x)
    drive = [sum(dx[i] * sum(W[a, i, j] * x[j] for j in range(5)) for i in range(4)) for a in range(3)]
    np.testing.assert_allclose(theta, drive - M @ theta, atol=1e-10)  # Eq. 19
    for a in range(3):
        after = That[a] + theta[a] ** 2  # Eq. 18
        np.testing.assert_allclose(network.That[a], after)
        np.testing.assert_allclose(
            network.W[a], W[a] + theta[a] * (np.outer(dx, x) - W[a] * theta[a]) / after
        )  # Eq. 16
        for c in {0, 1, 2} - {a}:
            expected = M[a, c] + theta[a] * (theta[c] - M[a, c] * theta[a]) / after  # Eq. 17
            np.testing.assert_allclose(network.M[a, c], expected)


def test_one_vector_changes_synapses_at_a_constant_rate():
    network = RateNetwork(start(2, (1, 3)), rate=0.1, rectified=False)
    x = np.array([1.0, -2.0, 0.5])
    network.learn(np.ones((5, 1)), np.tile(x[::-1], (5, 1)))
    W, M = network.W.copy(), network.M.copy()
    y, _ = network.present([1.0], x)
    np.testing.assert_allclose(y, np.linalg.solve(M, W[:, 0] @ x))  # Eq. 5
    np.testing.assert_allclose(network.W[:, 0], W[:, 0] + 0.1 * (np.outer(y, x) - W[:, 0]))  # Eq. 6, left
    np.testing.assert_allclose(network.M, M + 0.1 * (np.outer(y, y) - M))  # Eq. 6, right


def test_pairs_one_at_a_time_or_together_are_the_same(chi):
    one, all_ = (RateNetwork(start(2, chi.feature_shape), strength=10.0) for _ in range(2))
    outputs = [one.present(u, v).outputs for u, v in zip(chi.u[:50], chi.v[:50], strict=True)]
    np.testing.assert_array_equal(outputs, all_.learn(chi.u[:50], chi.v[:50]).outputs)
    np.testing.assert_array_equal(one.W, all_.W)


def test_responding_changes_nothing(chi):
    network = RateNetwork(start(2, chi.feature_shape), strength=10.0)
    network.learn(chi.u[:100], chi.v[:100])
    before = network.W.copy(), network.M.copy(), network.That.copy()
    answers, _ = network.respond(chi.u[100:101], chi.v[100:101])
    for kept, now in zip(before, (network.W, network.M, network.That), strict=True):
        np.testing.assert_array_equal(kept, now)
    np.testing.assert_array_equal(network.present(chi.u[100], chi.v[100]).outputs, answers[0])


def test_silent_units_keep_their_synapses_from_no_strength_too():
    network = RateNetwork([[[1.0]], [[-1.0]]], strength=0.0)
    network.present([1.0], [2.0])  # the second unit, as printed, would divide 0 by 0
    np.testing.assert_allclose(network.W.ravel(), [1.0, -1.0])
    np.testing.assert_allclose(network.That, [4.0, 0.0])


# -- why it settles --------------------------------------------------------------------------------------------------


def outputs_after(network, u, v, n_steps):
    network.max_steps = n_steps
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return network.respond(u[None], v[None]).outputs[0]


@pytest.mark.parametrize("rectified", [False, True])
@pytest.mark.parametrize("rate", [None, 0.01])
def test_the_dynamics_descend_their_energy(chi, rectified, rate):
    """Lyapunov: theta' R theta / 2 - b' theta falls in every step, of units that are much alike too."""
    W = start(1, chi.feature_shape) + 0.1 * start(4, chi.feature_shape, seed=1)
    network = RateNetwork(W, strength=1.0, rectified=rectified, rate=rate)
    network.learn(chi.u[:500], chi.v[:500])
    u, v = next(pair for pair in zip(chi.u[500:], chi.v[500:], strict=True) if outputs_after(network, *pair, 9).any())
    drive = np.einsum("i,aij,j->a", u, network.W, v)
    weight = network.That if rate is None else np.ones(4)
    R = weight[:, None] * (network.M + np.eye(4) * (rate is None))
    np.testing.assert_allclose(R, R.T, atol=1e-9 * R.max())
    path = np.array([np.zeros(4), *(outputs_after(network, u, v, k) for k in range(1, 200))])
    energy = np.einsum("ta,ac,tc->t", path, R, path) / 2 - path @ (weight * drive)
    assert (np.diff(energy) <= 1e-12 * np.abs(energy).max()).all()
    assert energy[-1] < energy[0]


def test_whole_steps_can_diverge_from_three_units_on():
    """Of three units that nearly agree, M has an eigenvalue above 1, so that Eq. 15 iterated as printed grows."""
    network = RateNetwork(np.full((3, 1, 1), 0.5) + start(3, (1, 1)) / 100, strength=0.01)
    network.learn(np.ones((20, 1)), np.linspace(1.0, 2.0, 20)[:, None])
    assert np.abs(np.linalg.eigvals(network.M)).max() > 1.5
    assert network.respond(np.ones((1, 1)), np.ones((1, 1))).steps[0] < network.max_steps


def test_lateral_synapses_that_flip_for_ever_cannot_be_learned(chi):
    """Cauchy and Schwarz: M_ac M_ca <= 1, while paper-notes' counterexample has 4."""
    network = RateNetwork(start(4, chi.feature_shape), strength=0.01)
    for u, v in zip(np.array_split(chi.u, 100), np.array_split(chi.v, 100), strict=True):
        network.learn(u, v)
        assert (network.M * network.M.T).max() <= 1 + 1e-9


# -- where it does not settle ----------------------------------------------------------------------------------------


def test_samples_that_take_all_steps_are_learned_from_with_a_warning():
    network = RateNetwork(start(2, (1, 1)), max_steps=1)
    with pytest.warns(ConvergenceWarning, match="outputs of 3 of 3 samples did not settle in 1 steps; raise"):
        outputs, steps = network.learn(np.ones((3, 1)), np.ones((3, 1)))
    np.testing.assert_array_equal(steps, 1)
    np.testing.assert_allclose(network.That, 1 + (outputs**2).sum(axis=0))


@pytest.mark.parametrize("M", [[[0, 2, 2], [2, 0, 2], [2, 2, 0]], [[0, 5, -5], [-5, 0, 5], [5, -5, 0]]])
def test_outputs_that_grow_without_bound_are_no_numbers_and_teach_nothing(M):
    """Lateral synapses that no samples could have taught: units that excite each other, or chase each other."""
    network = RateNetwork([[[0.5]], [[-1.0]], [[0.3]]], rectified=False)
    network.M[:] = M
    kept = network.W.copy(), network.M.copy(), network.That.copy()
    with pytest.warns(ConvergenceWarning, match="2 of 3 .* and 2 grew without bound and were not learned from"):
        outputs, _ = network.learn([[1.0], [0.0], [1.0]], np.ones((3, 1)))
    np.testing.assert_array_equal(np.isnan(outputs).all(axis=1), [True, False, True])
    for before, now in zip(kept, (network.W, network.M, network.That), strict=True):
        np.testing.assert_array_equal(before, now)


def test_samples_whose_squares_are_0_teach_nothing_to_units_of_no_strength():
    network = RateNetwork([[[1.0]]], strength=0.0)
    network.learn([[1e-100]], [[1e-100]])
    np.testing.assert_array_equal(network.W, 1.0)


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"W": np.ones((2, 3))}, "W has shape"),
        ({"W": np.full((1, 1, 1), np.nan)}, "expected finite numbers"),
        ({"W": np.ma.ones((1, 1, 1))}, "masked"),
        ({"rate": 1.0}, "rate is 1.0"),
        ({"strength": -1.0}, "strength is -1.0"),
        ({"strength": 0.0, "rate": 0.1}, "strength is 0.0"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"max_steps": 0}, "max_steps is 0"),
    ],
)
def test_starts_that_are_none_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        RateNetwork(**({"W": np.ones((1, 1, 1))} | given))


@pytest.mark.parametrize(
    ("u", "v", "message"),
    [
        (np.ones((3, 2)), np.ones((3, 2)), "u and v have shapes"),
        (np.ones((3, 1)), np.ones((2, 2)), "u and v have shapes"),
        (np.ones((3, 1)), np.full((3, 2), np.inf), "NaN or infinity"),
    ],
)
def test_pairs_that_do_not_fit_change_nothing(u, v, message):
    network = RateNetwork(np.ones((1, 1, 2)))
    with pytest.raises(ValueError, match=message):
        network.learn(u, v)
    np.testing.assert_array_equal(network.W, np.ones((1, 1, 2)))


def test_pairs_whose_products_leave_float64_are_refused():
    with pytest.raises(ValueError, match="expected them and their product to be at most 1e\\+90"):
        RateNetwork(np.ones((1, 1, 1))).present([1e50], [1e50])


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("M", np.zeros((1, 1)), r"M has shape \(1, 1\); expected finite numbers of shape \(2, 2\)"),
        ("M", np.full((2, 2), np.nan), r"M has shape \(2, 2\); expected finite"),
        ("That", 3.0, r"That has shape \(\); expected finite numbers of shape \(2,\)"),
        ("W", np.ones((2, 3)), r"W has shape \(2, 3\); expected finite numbers of shape \(K, n_u, n_v\)"),
        ("rate", 2.0, "rate is 2.0"),
    ],
)
def test_what_was_set_between_pairs_is_checked(name, given, message):
    network = RateNetwork(np.ones((2, 1, 3)))
    setattr(network, name, given)
    with pytest.raises(ValueError, match=message):
        network.present([1.0], np.ones(3))


def test_synapses_may_be_set_to_lists_other_types_and_what_is_read_only():
    one, other = (RateNetwork(start(2, (1, 3)), strength=2.0) for _ in range(2))
    one.M[:] = [[0.0, 0.5], [0.25, 0.0]]
    other.M, other.That = [[0.0, 0.5], [0.25, 0.0]], np.array([2, 2])
    other.W.flags.writeable = False
    np.testing.assert_array_equal(*(each.learn(np.ones((5, 1)), np.eye(5, 3)).outputs for each in (one, other)))
    np.testing.assert_array_equal(one.W, other.W)


def test_it_says_what_it_is():
    assert repr(RateNetwork(np.ones((2, 1, 3)))) == "RateNetwork(2 x 1 x 3 synapses, rate=None, rectified=True)"
