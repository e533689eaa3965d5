"""Operators on raw frames: they move images, estimate and follow motions; filters matched and taken to scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

from flymotion.frames import FramePairs
from flymotion.generators import Generators, Operators, derivative_operator
from flymotion.generators.theory import population
from flymotion.learner.estimator import MotionLearner
from flymotion.photoreceptors import ZCAWhitening
from flymotion.world.eyes import Grid, Hexagon
from flymotion.world.motions import Rotation, Translation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import SmoothNoise, smooth_covariance

EYE = Grid(9, 9, 0.5)


@pytest.fixture(scope="module")
def smooth_pairs():
    """Pairs of an eye of 9 x 9 pixels in smooth noise."""

    def make(motion, n, seed=0):
        scene = SmoothNoise(3.0, ndim=2, period=512.0, random_state=seed)
        return sample_pairs(scene, EYE, motion, n, random_state=seed + 1)

    return make


def optimal(motion, **how):
    return population(smooth_covariance(3.0, 0.5, 2), EYE, motion, **how).generators()


def relative_errors(estimates, motion):
    return np.linalg.norm(estimates - motion, axis=1) / np.linalg.norm(motion, axis=1)


# Moving frames


@pytest.fixture
def random_operators():
    rng = np.random.default_rng(0)
    return Operators(rng.normal(size=(2, 6, 6)) / 5, (2, 3), mean=0.3), rng.normal(size=(4, 2, 3))


def test_apply_is_the_first_order_and_transform_the_exponential(random_operators):
    operators, frames = random_operators
    theta = np.array([0.4, -0.7])
    A = np.tensordot(theta, operators.operators, 1)
    flat = frames.reshape(4, 6) - 0.3
    assert_allclose(operators.apply(frames, theta).reshape(4, 6), flat + flat @ A.T + 0.3)
    assert_allclose(operators.transform(frames, theta).reshape(4, 6), flat @ expm(A).T + 0.3)


def test_each_frame_may_move_by_its_own_amount(random_operators):
    operators, frames = random_operators
    theta = np.array([[0.1, 0.0], [0.0, 0.2], [0.1, 0.0], [0.0, 0.0]])
    for move in (operators.apply, operators.transform):
        one_by_one = [move(frame[None], t)[0] for frame, t in zip(frames, theta, strict=True)]
        assert_allclose(move(frames, theta), one_by_one, atol=1e-12)


def test_transforms_along_one_parameter_compose(random_operators):
    operators, frames = random_operators
    twice = operators.transform(operators.transform(frames, [0.3, 0.0]), [0.5, 0.0])
    assert_allclose(twice, operators.transform(frames, [0.8, 0.0]))


def test_many_small_first_order_steps_are_the_exponential(random_operators):
    """(1 + A / n)^n tends to exp(A): the error falls with 1 / n."""
    operators, frames = random_operators
    whole = operators.transform(frames, [1.0, 0.5])

    def error(n):
        moved = frames
        for _ in range(n):
            moved = operators.apply(moved, [1.0 / n, 0.5 / n])
        return np.abs(moved - whole).max()

    assert error(100) / error(1000) == pytest.approx(10, rel=0.05)


def test_frames_are_left_alone_and_others_refused(random_operators):
    operators, frames = random_operators
    kept = frames.copy()
    operators.transform(frames, 0.1)
    assert_array_equal(frames, kept)
    with pytest.raises(ValueError, match=r"frames have shape \(3, 3\), but the operators are for frames of \(2, 3\)"):
        operators.apply(np.zeros((1, 3, 3)), 0.0)


@pytest.mark.parametrize("theta", [[0.1], [[0.1, 0.2]], [0.1, np.nan], np.zeros((4, 3))], ids=str)
def test_amounts_of_another_shape_are_refused(random_operators, theta):
    operators, frames = random_operators
    with pytest.raises(ValueError, match="theta has shape"):
        operators.transform(frames, theta)


def test_operators_have_to_fit_the_eye():
    with pytest.raises(ValueError, match=r"expected \(p, 6, 6\)"):
        Operators(np.zeros((1, 5, 5)), (2, 3))


# Saying how content moved


def test_estimate_is_the_ridge_regression_of_supplement_c(random_operators):
    """Against the normal equations of the stacked regression, pair by pair."""
    operators, before = random_operators
    after = before + 0.1 * np.random.default_rng(1).normal(size=before.shape)
    weights = np.linspace(0.5, 1.5, 6)
    for ridge in (0.0, 0.3):
        found = operators.estimate(FramePairs(before, after), ridge=ridge, weights=weights)
        for b, a, theta in zip(before.reshape(4, 6), after.reshape(4, 6), found, strict=True):
            X = (operators.operators @ ((a + b) / 2 - 0.3)).T
            normal = X.T @ (weights[:, None] * X)
            penalty = (ridge + 1e-12) * np.trace(normal) / 2
            assert_allclose(theta, np.linalg.solve(normal + penalty * np.eye(2), X.T @ (weights * (a - b))))


def test_estimates_of_small_motions_are_right(smooth_pairs):
    motion = Translation(0.3)
    pairs = smooth_pairs(motion, 200)
    operators = optimal(motion, regularization=1e-6).on_raw_frames()
    assert np.median(relative_errors(operators.estimate(pairs), pairs.motion)) < 0.03


def test_estimates_change_sign_with_time(smooth_pairs):
    pairs = smooth_pairs(Translation(0.3), 20)
    operators = optimal(Translation(0.3), regularization=1e-6).on_raw_frames()
    assert_allclose(operators.estimate(pairs.reversed()), -operators.estimate(pairs), atol=1e-12)


def test_frames_without_contrast_say_nothing():
    operators = Operators(derivative_operator((4,))[None], (4,))
    assert_array_equal(operators.estimate(FramePairs(np.zeros((2, 4)), np.zeros((2, 4)))), [[0.0], [0.0]])
    assert operators.estimate(FramePairs(np.zeros((0, 4)), np.zeros((0, 4)))).shape == (0, 1)


@pytest.mark.parametrize("motion", [Rotation(45.0, 10.0), Translation(2.0, 0.5)], ids=["rotation", "translation"])
def test_large_motions_are_followed_where_one_step_falls_short(smooth_pairs, motion):
    pairs = smooth_pairs(motion, 60)
    operators = optimal(motion, regularization=1e-8).on_raw_frames()
    followed, at_once = (relative_errors(say(pairs), pairs.motion) for say in (operators.register, operators.estimate))
    assert followed.max() < 0.02
    assert np.median(followed) < np.median(at_once) / 20


def test_one_window_is_looked_at_until_nothing_is_left(smooth_pairs):
    pairs = smooth_pairs(Translation(2.0, 0.5), 60)
    operators = optimal(Translation(2.0, 0.5), regularization=1e-8).on_raw_frames()
    once, iterated = (
        relative_errors(operators.register(pairs, windows=operators.windows()[-1:], n_iterations=n), pairs.motion)
        for n in (1, 20)
    )
    assert np.median(iterated) < np.median(once) / 5


def test_windows_grow_to_the_interior():
    sizes = [int(window.sum()) for window in Operators(np.zeros((1, 81, 81)), EYE).windows()]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 25
    assert [w.sum() for w in Operators(np.zeros((1, 61, 61)), Hexagon(4)).windows()][-1] == 19


# From filters to operators


def test_filters_are_matched_by_permutation_and_sign():
    analytic = np.stack([derivative_operator((4, 4), angle) for angle in (0, 90)])
    shuffled = np.stack([-2 * analytic[1], 3 * analytic[0], analytic[1], np.eye(16), -analytic[0]])
    match = Generators(shuffled, (4, 4)).match(analytic)
    assert_array_equal(match.parameter, [1, 0, 1, -1, 0])
    assert_array_equal(match.sign, [-1, 1, 1, 0, -1])
    assert_allclose(match.cosine, [1, 1, 1, 0, 1])


def test_raw_operators_move_raw_frames_as_filters_move_whitened_ones(smooth_pairs):
    pairs = smooth_pairs(Rotation(5.0), 300).flat()
    whitening = ZCAWhitening(1e-3).fit(pairs)
    Z = whitening.matrix_
    filters = Generators((Z @ np.random.default_rng(0).normal(size=(81, 81)) @ Z)[None], EYE, Z)
    raw = filters.on_raw_frames()
    frames = pairs.before[:5]
    assert_allclose((frames @ raw.operators[0].T) @ Z, (frames @ Z) @ filters.operators[0].T, rtol=1e-6, atol=1e-4)


def test_a_parameter_that_no_filter_matches_is_named():
    rng = np.random.default_rng(0)
    pairs = FramePairs(rng.normal(size=(9, 4, 4)), rng.normal(size=(9, 4, 4)), rng.normal(size=(9, 2)))
    with pytest.raises(ValueError, match=r"no filter matches the parameters \[[01]\]; 1 filters were learned"):
        Generators(derivative_operator((4, 4))[None], (4, 4)).fitted(pairs)


@pytest.fixture(scope="module")
def learned_turn(smooth_pairs):
    pairs = smooth_pairs(Rotation(5.0), 20_000)
    return MotionLearner(2).fit(pairs), pairs


def test_learned_filters_fitted_to_known_motion_follow_large_ones(learned_turn, smooth_pairs):
    learner, pairs = learned_turn
    assert sorted(learner.labels_) == ["clockwise", "counter-clockwise"]
    operators = learner.generators_.fitted(pairs)
    new = smooth_pairs(Rotation(45.0, 5.0), 60, seed=5)
    assert relative_errors(operators.register(new), new.motion).max() < 0.05


def test_fitting_tells_by_the_pairs_which_filter_is_which_and_its_sign(smooth_pairs):
    x, y = (derivative_operator(EYE, velocity) for velocity in np.eye(2))
    pairs = smooth_pairs(Translation(0.3), 4000)
    mean = pairs.before.mean(axis=0)
    pairs = pairs.map(lambda frames: frames - mean)
    fitted = Generators(np.stack([-y, x]), EYE).fitted(pairs)
    assert np.median(relative_errors(fitted.estimate(pairs), pairs.motion)) < 0.1


def test_fitting_takes_the_units_of_the_motion(learned_turn):
    learner, pairs = learned_turn
    degrees = learner.generators_.fitted(pairs)
    radians = learner.generators_.fitted(FramePairs(pairs.before, pairs.after, np.radians(pairs.motion)))
    assert_allclose(radians.operators, degrees.operators * np.degrees(1), rtol=1e-6, atol=1e-8)


def test_refining_without_known_motion_keeps_the_direction(learned_turn):
    learner, pairs = learned_turn
    fitted = learner.generators_.fitted(pairs)
    unknown = FramePairs(pairs.before, pairs.after)
    refined = fitted.refined(unknown)
    assert np.corrcoef(refined.operators.ravel(), fitted.operators.ravel())[0, 1] > 0.99


def test_fitting_needs_known_motion(learned_turn):
    learner, pairs = learned_turn
    with pytest.raises(ValueError, match="motion is not known"):
        learner.generators_.fitted(FramePairs(pairs.before, pairs.after))


def test_a_learner_of_turns_predicts_degrees_and_has_no_directions(learned_turn, smooth_pairs):
    learner, _ = learned_turn
    new = smooth_pairs(Rotation(5.0), 500, seed=5)
    assert np.corrcoef(learner.predict(new)[:, 0], new.motion[:, 0])[0, 1] > 0.95
    assert not hasattr(learner, "directions_")
    assert_allclose(np.sort(learner.ways_[:, 0]), [-1, 1])
    assert learner.direction_accuracy_ > 0.99
