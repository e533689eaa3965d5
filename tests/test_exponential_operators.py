"""Operators through the matrix exponential: exact slopes, motions of several pixels, and what Miao and Rao recover."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm, expm_frechet
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from flymotion.frames import FramePairs
from flymotion.generators import cosine
from flymotion.photoreceptors import ZCAWhitening
from flymotion.relations import ExponentialOperators, exponential_action, exponential_magnitudes
from flymotion.world.eyes import Grid
from flymotion.world.motions import Rotation
from flymotion.world.rendering import sample_pairs
from flymotion.world.scenes import SmoothNoise

N = 16


@pytest.fixture(scope="module")
def cyclic_pairs():
    """Random images on a ring of pixels, smooth enough to be shifted by Fourier interpolation."""

    def make(largest, n_pairs=400, seed=0):
        rng = np.random.default_rng(seed)
        frequencies = np.fft.rfftfreq(N)
        waves = np.fft.rfft(rng.normal(size=(n_pairs, N)), axis=1) * np.exp(-2 * (np.pi * frequencies) ** 2)
        shifts = rng.uniform(-largest, largest, n_pairs)
        moved = waves * np.exp(-2j * np.pi * frequencies * shifts[:, None])
        return FramePairs(np.fft.irfft(waves, N), np.fft.irfft(moved, N), shifts)

    return make


def spectral_derivative():
    """The generator of a shift to the right by Fourier interpolation; the highest frequency has none."""
    waves = np.fft.rfft(np.eye(N), axis=0) * (-2j * np.pi * np.fft.rfftfreq(N))[:, None]
    return np.fft.irfft(waves, N, axis=0)


def in_pixels(learner, pairs, taught):
    """Magnitudes in the units that known motion of the pairs learned from gives them."""
    theta = learner.transform(taught)[:, 0]
    return learner.transform(pairs)[:, 0] * (theta @ taught.motion[:, 0]) / (theta @ theta)


def test_float32_finds_the_same_operator(cyclic_pairs):
    double = cyclic_pairs(1.0, n_pairs=200)
    single = FramePairs(double.before.astype(np.float32), double.after.astype(np.float32))
    one, other = (ExponentialOperators().fit(pairs) for pairs in (double, single))
    assert cosine(one.generators_[0], other.generators_[0]) > 1 - 1e-6
    assert_allclose(one.transform(double), other.transform(single), atol=1e-3 * np.abs(one.transform(double)).max())


# Exponentials and their slopes


@pytest.fixture
def moving():
    """Operators, magnitudes, frames, and what multiplies the moved frames."""

    def make(K, size):
        rng = np.random.default_rng(K)
        return rng.normal(size=(K, 5, 5)) / 2, size * rng.normal(size=(7, K)), *rng.normal(size=(2, 7, 5))

    return make


@pytest.mark.parametrize(("K", "size"), [(1, 1.0), (2, 1.0), (3, 5.0)])
def test_slopes_are_those_of_the_matrix_exponential(moving, K, size):
    """Pair by pair, against scipy's exponential and its derivative of Frechet."""
    A, theta, x, p = moving(K, size)
    B = np.tensordot(theta, A, axes=1)
    y, J = exponential_action.moved_and_slopes(A, theta, x)
    assert_allclose(y, [expm(b) @ frame for b, frame in zip(B, x, strict=True)], rtol=1e-9)
    expected = [[expm_frechet(b, a, compute_expm=False) @ frame for a in A] for b, frame in zip(B, x, strict=True)]
    assert_allclose(J, expected, rtol=1e-8, atol=1e-10 * np.abs(J).max())
    slopes = sum(
        amounts[:, None, None] * expm_frechet(b.T, np.outer(q, frame), compute_expm=False)
        for amounts, b, q, frame in zip(theta, B, p, x, strict=True)
    )
    assert_allclose(exponential_action.operator_slopes(A, theta, x, p), slopes, atol=1e-10 * np.abs(slopes).max())


@pytest.mark.parametrize("A", [np.eye(5, k=1), np.zeros((5, 5)), np.diag([1.0, 1.0, 2.0, 2.0, 3.0])], ids=str)
def test_one_operator_without_a_basis_or_with_equal_eigenvalues(moving, A):
    _, theta, x, p = moving(1, 1.0)
    assert_allclose(
        exponential_action.moved(A[None], theta, x), [expm(t * A) @ f for t, f in zip(theta[:, 0], x, strict=True)]
    )
    found = exponential_action.operator_slopes(A[None], theta, x, p)
    expected = exponential_action._Series(A[None]).slopes(theta, x, p)
    assert_allclose(found, expected, atol=1e-12)


# Magnitudes


@pytest.mark.parametrize(("K", "n_starts", "n"), [(1, 17, 17), (2, 17, 13), (2, 21, 21), (6, 17, 13), (3, 1, 1)])
def test_starts_are_whole_shells_of_a_lattice(K, n_starts, n):
    points = exponential_magnitudes.lattice(K, n_starts)
    assert len(points) == n
    assert_array_equal(points.sum(axis=0), 0)


def test_from_one_start_large_shifts_end_in_other_minima(cyclic_pairs):
    pairs = cyclic_pairs(3.0)
    A = spectral_derivative()[None]
    gaps = exponential_magnitudes.spacing(A, pairs.before)

    def found(n_starts):
        return exponential_magnitudes.find(A, pairs.before, pairs.after, gaps, n_starts, 0.0).theta

    assert_allclose(found(17), pairs.motion, atol=1e-6)
    assert np.mean(np.abs(found(1) - pairs.motion) > 0.1) > 0.01


def test_a_penalty_is_a_ridge_on_the_magnitudes(cyclic_pairs):
    """Of two frames far apart in size the best magnitude solves |x' - exp(theta A) x|^2 + lambda theta^2 |A|^2."""
    pairs = cyclic_pairs(0.3, 20)
    A, ridge = spectral_derivative()[None], 0.1
    gaps = exponential_magnitudes.spacing(A, pairs.before)
    found = exponential_magnitudes.follow(A, pairs.before, pairs.after, np.zeros((20, 1)), gaps, ridge)
    y, J = exponential_action.moved_and_slopes(A, found.theta, pairs.before)
    slope = -(J[:, 0] * (pairs.after - y)).sum(axis=1) + ridge * (A**2).sum() * found.theta[:, 0]
    assert_allclose(slope, 0, atol=1e-6)


# Learning


@pytest.mark.parametrize("largest", [0.5, 3.0])
def test_shifts_of_three_pixels_are_told_which_the_first_order_cannot(cyclic_pairs, largest):
    """Learned from shifts of up to half a pixel as from shifts of up to three."""
    taught, new = cyclic_pairs(largest), cyclic_pairs(3.5, 300, seed=1)
    learner = ExponentialOperators().fit(taught)
    assert np.abs(cosine(learner.generators_[0], spectral_derivative())) > 0.99
    assert_allclose(in_pixels(learner, new, taught), new.motion[:, 0], atol=0.05)
    changes = new.before @ spectral_derivative().T
    first = ((new.after - new.before) * changes).sum(axis=1) / (changes**2).sum(axis=1)
    far = np.abs(new.motion[:, 0]) > 2
    assert np.median(np.abs(first - new.motion[:, 0])[far]) > 1.5


def test_a_random_operator_tells_nothing(cyclic_pairs):
    pairs = cyclic_pairs(3.0, 300)
    learner = ExponentialOperators().fit(pairs)
    learner.generators_ = np.random.default_rng(0).normal(size=(1, N, N)) / N
    assert abs(np.corrcoef(learner.transform(pairs)[:, 0], pairs.motion[:, 0])[0, 1]) < 0.3


@pytest.mark.slow
def test_rotations_of_45_degrees_inside_a_disc():
    eye = Grid(7, 7, 0.5)
    disc = np.linalg.norm(eye.positions, axis=1) < 3.2
    scene = SmoothNoise(3.0, ndim=2, period=256.0, random_state=0)
    pairs = sample_pairs(scene, eye, Rotation(45.0), 1200, random_state=1).flat()
    pairs = FramePairs(pairs.before[:, disc], pairs.after[:, disc], pairs.motion)
    whitened = ZCAWhitening(1e-2).fit(pairs).transform(pairs)
    learner = ExponentialOperators(tol=1e-4).fit(whitened[:1000])
    error = in_pixels(learner, whitened[1000:], whitened[:1000]) - pairs.motion[1000:, 0]
    assert np.abs(error).max() < 2.0


def test_two_operators_span_the_two_that_move(moving):
    """Of a linear world x' = exp(theta_1 A_1 + theta_2 A_2) x the pair is found, up to mixtures."""
    A, theta, _, _ = moving(2, 1.0)
    A = 0.3 * (A - A.swapaxes(1, 2))
    rng = np.random.default_rng(0)
    theta, x = rng.uniform(-0.5, 0.5, (400, 2)), rng.normal(size=(400, 5))
    learner = ExponentialOperators(2, n_starts=1, tol=1e-4).fit(FramePairs(x, exponential_action.moved(A, theta, x)))
    assert learner.objective_ < 1e-3
    basis = np.linalg.qr(learner.generators_.reshape(2, -1).T)[0]
    true = np.linalg.qr(A.reshape(2, -1).T)[0]
    assert np.linalg.svd(basis.T @ true, compute_uv=False).min() > 0.99


def test_less_is_left_than_at_first_order(cyclic_pairs):
    pairs = cyclic_pairs(2.0, 300)
    learner = ExponentialOperators().fit(pairs)
    left = pairs.after - exponential_action.moved(learner.generators_, learner.transform(pairs), pairs.before)
    assert (left**2).sum() / ((pairs.after - pairs.before) ** 2).sum() == pytest.approx(learner.objective_, rel=0.05)
    assert learner.objective_ < 1e-3


# Contract


def test_it_learns_the_same_each_time_and_can_be_kept(cyclic_pairs):
    pairs = cyclic_pairs(1.0, 200)
    kept = pairs.before.copy(), pairs.after.copy()
    learner = ExponentialOperators().fit(pairs)
    assert_array_equal(clone(learner).fit(pairs).generators_, learner.generators_)
    copy = pickle.loads(pickle.dumps(learner))
    assert_array_equal(copy.transform(pairs), learner.transform(pairs))
    assert_array_equal((pairs.before, pairs.after), kept)
    assert learner.transform(pairs[:0]).shape == (0, 1)
    assert list(learner.get_feature_names_out()) == ["exponentialoperators0"]


def test_the_unit_of_intensity_does_not_matter(cyclic_pairs):
    pairs = cyclic_pairs(1.0, 200)
    learner, other = ExponentialOperators().fit(pairs), ExponentialOperators().fit(pairs.map(lambda x: 1e6 * x))
    assert_allclose(other.generators_, learner.generators_, atol=1e-6)


def test_its_operators_move_images(cyclic_pairs):
    pairs = cyclic_pairs(1.0, 200)
    learner = ExponentialOperators().fit(pairs)
    moved = learner.operators((N,)).transform(pairs.before, learner.transform(pairs))
    assert_allclose(moved, pairs.after, atol=0.2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components is 0; expected a positive whole number"),
        ({"n_starts": 1.5}, "n_starts is 1.5; expected a positive whole number"),
        ({"max_iter": -1}, "max_iter is -1; expected a positive whole number"),
        ({"ridge": -0.1}, "ridge is -0.1; expected 0 or more"),
        ({"tol": np.inf}, "tol is inf; expected 0 or more"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(cyclic_pairs, parameters, message):
    learner = ExponentialOperators(**parameters)
    with pytest.raises(ValueError, match=message):
        learner.fit(cyclic_pairs(1.0, 50))
    with pytest.raises(NotFittedError):
        learner.transform(cyclic_pairs(1.0, 50))


def test_pairs_that_stand_still_teach_nothing(cyclic_pairs):
    with pytest.raises(ValueError, match="no pair of X changes"):
        ExponentialOperators().fit(cyclic_pairs(0.0, 50))


def test_frames_without_contrast_did_not_move(cyclic_pairs):
    learner = ExponentialOperators().fit(cyclic_pairs(1.0, 200))
    assert_array_equal(learner.transform(FramePairs(np.zeros((2, N)), np.zeros((2, N)))), np.zeros((2, 1)))


def test_one_iteration_is_too_few(cyclic_pairs):
    with pytest.warns(ConvergenceWarning, match="after 1 iterations; raise max_iter"):
        ExponentialOperators(max_iter=1, tol=0.0).fit(cyclic_pairs(3.0, 200))
