"""Reconstruction by operators: Eqs. 8-10 transcribed, what its own paper recovers, and what it does not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import rotate
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from flymotion.frames import FramePairs
from flymotion.generators import cosine, derivative_operator
from flymotion.relations import OperatorReconstruction
from flymotion.relations.alternation import Penalty, best_magnitudes, best_operators
from flymotion.world.eyes import Grid


def frames(n_pairs=60, n=4, seed=0):
    return FramePairs(*np.random.default_rng(seed).normal(size=(2, n_pairs, n)))


def spectral_derivative(n):
    """The operator of cyclic shifts by Fourier interpolation, of content that moves right; row i: at pixel i."""
    k = np.fft.fftfreq(n) * n
    k[n // 2] *= n % 2  # of an even number the highest frequency has no derivative
    return np.fft.ifft(-2j * np.pi / n * k[:, None] * np.fft.fft(np.eye(n), axis=0), axis=0).real


def shifted_images(n_pairs=3000, n=20, most=0.5, seed=0):
    """Random images moved by fractions of a pixel, with Fourier interpolation, at the borders cyclic."""
    rng = np.random.default_rng(seed)
    x, shift = rng.random((n_pairs, n)) - 0.5, rng.uniform(-most, most, n_pairs)
    k = np.fft.rfftfreq(n) * n
    moved = np.fft.irfft(np.fft.rfft(x) * np.exp(-2j * np.pi / n * k * shift[:, None]), n)
    return FramePairs(x, moved, shift)


def turned_images(n_pairs=2000, side=5, most=8.0, seed=0):
    """Random images turned by small angles, cubic splines, of which the middle is seen."""
    rng = np.random.default_rng(seed)
    x = rng.random((n_pairs, side + 6, side + 6)) - 0.5
    angles = rng.choice(np.array([-1.0, -0.5, 0.5, 1.0]) * most, n_pairs)
    moved = np.empty_like(x)
    for angle in np.unique(angles):
        mine = angles == angle
        moved[mine] = rotate(x[mine], angle, axes=(2, 1), reshape=False, order=3)
    return FramePairs(x[:, 3:-3, 3:-3], moved[:, 3:-3, 3:-3], angles)


def objective(dx, x, A, theta, ridge=0.0, sparsity=0.0):
    """Eq. 9 and its penalties, in loops."""
    total = 0.0
    for t in range(len(x)):
        left = dx[t].copy()
        for a in range(len(A)):
            left -= theta[t, a] * A[a] @ x[t]
        total += left @ left + ridge * theta[t] @ theta[t] + sparsity * np.abs(theta[t]).sum()
    return total


# -- the equations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("feature", ["change", "midpoint"])
def test_one_step_of_the_rule_is_the_gradient_of_equation_9(feature):
    pairs = frames(1)
    dx = (pairs.after - pairs.before)[0]
    x = {"change": pairs.before, "midpoint": (pairs.before + pairs.after) / 2}[feature][0]
    start = OperatorReconstruction(2, solver="gradient", feature=feature, n_init=1, learning_rate=1e-6, random_state=0)
    A = start.partial_fit(FramePairs(pairs.before, pairs.before)).starts_[0]  # which teaches nothing
    theta = start.transform(pairs)[0] * np.sign(np.sum(A * start.generators_, axis=(1, 2)))
    gradient = np.zeros_like(A)
    for a, i, j in np.ndindex(A.shape):
        step = np.zeros_like(A)
        step[a, i, j] = 1e-6
        up, down = (objective(dx[None], x[None], A + s * step, theta[None]) for s in (1, -1))
        gradient[a, i, j] = (up - down) / 2e-6
    eta = 1e-6 / (theta @ theta * (x @ x))
    expected = A - eta * gradient / 2
    expected /= np.linalg.norm(expected, axis=(1, 2), keepdims=True)
    moved = start.partial_fit(pairs).starts_[0] - A
    assert_allclose(moved, expected - A, atol=1e-9 * np.abs(moved).max() + 1e-13)


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("penalty", [Penalty(), Penalty(0.3), Penalty(0.3, 0.2), Penalty(0.1, 0.2, True)])
def test_best_magnitudes_and_operators_are(K, penalty):
    """No other magnitudes, and without sparsity no other operators, of these do better."""
    rng = np.random.default_rng(K)
    dx, x = rng.normal(size=(2, 40, 4))
    A = rng.normal(size=(K, 4, 4))
    A /= np.linalg.norm(A, axis=(1, 2), keepdims=True)
    theta, value = best_magnitudes(dx, x, A, penalty)
    costs = penalty.ridge, penalty.sparsity
    assert value == pytest.approx(objective(dx, x, A, theta, *costs), rel=1e-10)
    others = theta + 1e-3 * rng.normal(size=(20, *theta.shape))
    others = np.maximum(others, 0) if penalty.nonnegative else others
    assert min(objective(dx, x, A, other, *costs) for other in others) > value
    better = best_operators(dx, x, A, theta, penalty)
    assert best_magnitudes(dx, x, better, penalty)[1] < value


def test_of_one_operator_magnitudes_are_the_ridge_regression_of_supplement_c():
    pairs, ridge = frames(), 0.7
    learner = OperatorReconstruction(ridge=ridge, n_init=1, random_state=0).fit(pairs)
    [A] = learner.generators_
    expected = [
        dx @ A @ x / ((A @ x) @ (A @ x) + ridge) for x, dx in zip(pairs.before, pairs.after - pairs.before, strict=True)
    ]
    assert_allclose(learner.transform(pairs)[:, 0], expected, rtol=1e-10)


def test_nonnegative_magnitudes_are_those_of_nnls():
    rng = np.random.default_rng(0)
    dx, x, A = rng.normal(size=(50, 6)), rng.normal(size=(50, 6)), rng.normal(size=(4, 6, 6))
    theta, _ = best_magnitudes(dx, x, A, Penalty(nonnegative=True))
    assert_allclose(theta, [nnls((A @ x[t]).T, dx[t])[0] for t in range(50)], atol=1e-9)


@pytest.mark.parametrize("how", [{}, {"ridge": 0.1, "sparsity": 0.1}, {"nonnegative": True, "sparsity": 0.1}])
def test_alternation_never_makes_the_objective_larger(how):
    values = []
    for max_iter in range(1, 6):
        learner = OperatorReconstruction(2, n_init=1, max_iter=max_iter, tol=0.0, random_state=0, **how)
        with pytest.warns(ConvergenceWarning, match=f"after {max_iter} iterations"):
            values.append(learner.fit(frames()).objective_)
    assert (np.diff(values) < 1e-12).all()


def test_the_objective_of_a_start_is_the_score_of_its_pairs():
    learner = OperatorReconstruction(2, ridge=0.2, n_init=3, random_state=0).fit(frames())
    assert -learner.score(frames()) == pytest.approx(learner.objective_)
    assert learner.objective_ == learner.objectives_.min()
    assert learner.starts_.shape == (3, 2, 4, 4)


# -- what its own paper recovers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"feature": "midpoint"}, {"solver": "gradient", "n_passes": 3}], ids=str)
def test_shifted_images_give_the_derivative_and_the_shifts(how):
    """Only frequencies near the highest, which move by up to a quarter of their period, are not of first order."""
    learner = OperatorReconstruction(n_init=2, random_state=0, **how).fit(shifted_images())
    new = shifted_images(seed=1)
    [A], theta = learner.generators_, learner.transform(new)[:, 0]
    assert abs(cosine(A, spectral_derivative(20))) > 0.95
    assert abs(np.corrcoef(theta, new.motion[:, 0])[0, 1]) > 0.99


def test_of_small_shifts_nothing_is_left():
    pairs = shifted_images(500, most=0.01)
    learner = OperatorReconstruction(n_init=1, random_state=0).fit(pairs)
    assert abs(cosine(learner.generators_[0], spectral_derivative(20))) > 0.9999
    assert learner.objective_ < 1e-4
    assert abs(np.corrcoef(learner.transform(pairs)[:, 0], pairs.motion[:, 0])[0, 1]) > 0.9999


def test_closed_form_and_rule_agree():
    pairs = shifted_images()
    closed = OperatorReconstruction(n_init=2, random_state=0).fit(pairs)
    rule = OperatorReconstruction(n_init=2, random_state=1, solver="gradient", n_passes=5).fit(pairs)
    assert abs(cosine(closed.generators_[0], rule.generators_[0])) > 0.995
    assert abs(np.corrcoef(closed.transform(pairs)[:, 0], rule.transform(pairs)[:, 0])[0, 1]) > 0.999


def test_turned_images_give_the_rotation_and_the_angles():
    eye = Grid(5, 5)
    flow = np.stack([eye.positions[:, 1], -eye.positions[:, 0]], axis=1)
    learner = OperatorReconstruction(n_init=3, ridge=0.01, random_state=0).fit(turned_images())
    new = turned_images(seed=1)
    assert abs(cosine(learner.generators_[0], derivative_operator(eye, flow))) > 0.8
    assert abs(np.corrcoef(learner.transform(new)[:, 0], new.motion[:, 0])[0, 1]) > 0.9


def test_more_operators_than_transformations_share_the_derivative():
    """Two signed operators of one transformation explain more, and neither is it; their span holds it."""
    pairs = shifted_images(1500, most=0.2)
    learner = OperatorReconstruction(2, ridge=0.05, n_init=1, max_iter=500, random_state=0).fit(pairs)
    basis = np.linalg.qr(learner.generators_.reshape(2, -1).T)[0]
    derivative = spectral_derivative(20).ravel()
    assert np.linalg.norm(basis.T @ derivative) > 0.95 * np.linalg.norm(derivative)


def test_nonnegative_magnitudes_alone_bring_two_directions():
    pairs = shifted_images(1500, most=0.2)
    learner = OperatorReconstruction(2, nonnegative=True, ridge=0.05, n_init=2, random_state=0).fit(pairs)
    one, other = learner.generators_
    theta = learner.transform(pairs)
    assert cosine(one, other) < -0.9
    right = np.sign(cosine(one, spectral_derivative(20))) * (theta[:, 0] - theta[:, 1])
    assert np.mean(np.sign(right) == np.sign(pairs.motion[:, 0])) > 0.99


# -- contract --------------------------------------------------------------------------------------------------------


def test_the_rule_does_not_depend_on_how_pairs_are_cut():
    pairs, rule = frames(90), OperatorReconstruction(2, solver="gradient", n_init=2, random_state=0)
    whole, parts = clone(rule).fit(pairs), clone(rule)
    for rows in (slice(7), slice(7, 7), slice(7, 8), slice(8, None)):
        parts.partial_fit(pairs[rows])
    assert_array_equal(parts.starts_, whole.starts_)
    assert_array_equal(parts.objectives_, whole.objectives_)


@pytest.mark.parametrize("how", [{}, {"solver": "gradient"}, {"n_components": 3, "sparsity": 0.1, "ridge": 0.1}])
def test_units_of_intensity_do_not_matter(how):
    scale = {name: value * 255.0**2 for name, value in how.items() if name in ("ridge", "sparsity")}
    pairs = frames(200)
    one = OperatorReconstruction(n_init=1, random_state=0, max_iter=3000, **how).fit(pairs)
    brighter = pairs.map(lambda x: 255 * x)
    other = OperatorReconstruction(n_init=1, random_state=0, max_iter=3000, **how | scale).fit(brighter)
    assert_allclose(other.generators_, one.generators_, rtol=1e-6, atol=1e-8)
    assert_allclose(other.transform(brighter), one.transform(pairs), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("solver", ["alternating", "gradient"])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_frames_that_do_not_change_or_are_black_say_nothing(solver, nonnegative):
    still = FramePairs(np.ones((5, 3)), np.ones((5, 3)))
    black = FramePairs(np.zeros((5, 3)), np.ones((5, 3)))
    how = {"nonnegative": nonnegative, "n_init": 1, "random_state": 0}
    for pairs in (still, black):
        learner = OperatorReconstruction(2, solver=solver, **how).fit(pairs)
        assert np.isfinite(learner.generators_).all()
        assert_array_equal(learner.transform(pairs), 0)


def test_an_estimator_keeps_its_contract(pickled):
    pairs = frames()
    pairs.before.setflags(write=False)
    learner = OperatorReconstruction(2, n_init=1, ridge=0.1, random_state=3)
    with pytest.raises(NotFittedError):
        learner.transform(pairs)
    expected = learner.fit(pairs).transform(pairs)
    assert expected.shape == (len(pairs), 2)
    assert learner.get_feature_names_out().tolist() == ["operatorreconstruction0", "operatorreconstruction1"]
    assert_array_equal(clone(learner).fit(pairs).transform(pairs), expected)
    assert_array_equal(pickled(learner).transform(pairs), expected)


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"n_components": 0}, "n_components is 0"),
        ({"solver": "newton"}, "solver is 'newton'; expected 'alternating' or 'gradient'"),
        ({"feature": "product"}, "feature is 'product'; expected 'change' or 'midpoint'"),
        ({"nonnegative": None}, "nonnegative is None"),
        ({"ridge": -1.0}, "ridge is -1.0"),
        ({"sparsity": np.nan}, "sparsity is nan"),
        ({"n_init": 0}, "n_init is 0"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"n_passes": 0}, "n_passes is 0"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"tol": -1e-3}, "tol is -0.001"),
    ],
)
def test_parameters_out_of_range_are_refused(how, match):
    with pytest.raises(ValueError, match=match):
        OperatorReconstruction(**how).fit(frames())


def test_what_does_not_fit_is_refused_before_any_change():
    learner = OperatorReconstruction(2, solver="gradient", n_init=2, random_state=0).fit(frames())
    kept = learner.starts_.copy()
    for changed, match in (
        ({"n_components": 3}, "n_components is 3, but this OperatorReconstruction has learned with 2"),
        ({"feature": "midpoint"}, "feature is 'midpoint'"),
    ):
        other = clone(learner).fit(frames()).set_params(**changed)
        with pytest.raises(ValueError, match=match):
            other.partial_fit(frames())
        assert_array_equal(other.starts_, kept)
    with pytest.raises(ValueError, match="X has 5 pixels"):
        learner.partial_fit(frames(n=5))
    with pytest.raises(ValueError, match="X is ndarray; expected FramePairs"):
        learner.partial_fit(np.ones((3, 4)))
    assert_array_equal(learner.starts_, kept)
