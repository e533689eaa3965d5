"""The closed-form population against literal formulas, numerical integrals, sampling and the learners."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ive

from flymotion.frames import FramePairs
from flymotion.generators.optics_map import motion_map
from flymotion.generators.quadratic_forms import probability_positive
from flymotion.generators.theory import antisymmetric_share, population
from flymotion.similarity.features import FEATURES, outer_products
from flymotion.similarity.networks import SimilarityMatching
from flymotion.similarity.rivals import OuterProductPCA
from flymotion.world.eyes import FLY_SIGMA, Grid, Line, Sphere
from flymotion.world.motions import Mixture, Rotation, Shear, Translation, Turn, Zoom
from flymotion.world.rendering import sample_pairs, stepped_pairs
from flymotion.world.scenes import (
    ExponentialNoise,
    SmoothNoise,
    exponential_covariance,
    smooth_covariance,
    spherical_covariance,
)

L1 = {"sigma": 0.8, "max_shift": 0.1, "feature": "change"}
L2 = {"sigma": FLY_SIGMA, "max_shift": 0.5, "feature": "midpoint"}


def line(n=5, *, sigma=0.8, max_shift=0.1, feature="change", **options):
    eye = Line(n, sigma)
    return population(
        exponential_covariance(3.0, sigma), eye, Translation(max_shift, ndim=1), feature=feature, **options
    )


def grid(feature="midpoint", angles=(0.0, 90.0, 180.0, 270.0)):
    eye = Grid(3, 3, 0.8)
    return population(exponential_covariance(3.0, 0.8, ndim=2), eye, Translation(0.3, angles=angles), feature=feature)


def sampled(n_pairs, n=5, *, sigma=0.8, max_shift=0.1, period=2.0**18, seed=0):
    """Pairs from a scene so long that its own moments are the population's to a fraction of a per cent."""
    scene = ExponentialNoise(3.0, period=period, sharpest=sigma, random_state=seed)
    return sample_pairs(scene, Line(n, sigma), Translation(max_shift, ndim=1), n_pairs, seed + 1)


def forms(feature, n):
    """Each entry of chi as a symmetric quadratic form in z = (before, after), by polarisation; (n^2, 2n, 2n)."""

    def chi(z):
        return outer_products(FramePairs(z[:, :n], z[:, n:]), feature).dense()

    basis = np.eye(2 * n)
    single = chi(basis)
    double = chi((basis[:, None] + basis).reshape(-1, 2 * n)).reshape(2 * n, 2 * n, -1)
    return ((double - single - single[:, None]) / 2).transpose(2, 0, 1)


def cosine(a, b):
    return (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b)


def central_difference(n):
    """Generator of rightward content: minus the derivative."""
    return (np.eye(n, k=-1) - np.eye(n, k=1)) / 2


# -- covariances -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.1, FLY_SIGMA, 1.5])
@pytest.mark.parametrize("distance", [0.0, 0.3, 1.0, 7.5])
def test_covariance_in_one_dimension_is_the_exponential_blurred_by_both_pixels(sigma, distance):
    spread = np.sqrt(2) * sigma

    def integrand(x):
        return np.exp(-abs(x) / 3.0 - ((x - distance) / spread) ** 2 / 2) / spread / np.sqrt(2 * np.pi)

    low, high = distance - 9 * spread, distance + 9 * spread
    bounds = np.unique(np.clip([low, 0.0, distance, high], low, high))  # the exponential's cusp is at 0
    expected = sum(quad(integrand, *piece, epsabs=1e-13)[0] for piece in itertools.pairwise(bounds))
    assert exponential_covariance(3.0, sigma)(np.array([distance])) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("sigma", [0.3, FLY_SIGMA, 1.5])
@pytest.mark.parametrize("distance", [0.0, 0.3, 1.0, 7.5])
def test_covariance_in_two_dimensions_is_the_exponential_blurred_by_both_pixels(sigma, distance):
    # the Gaussian of variance 2 sigma^2 at this distance, integrated over rings about the cusp of the exponential
    def integrand(r):
        gaussian = np.exp(-(((r - distance) / sigma) ** 2) / 4) * ive(0, r * distance / (2 * sigma**2))
        return r * np.exp(-r / 3.0) * gaussian / (2 * sigma**2)

    bounds = max(distance - 15 * sigma, 0), distance, distance + 15 * sigma
    expected = quad(integrand, *bounds[:2], epsabs=1e-13)[0] + quad(integrand, *bounds[1:], epsabs=1e-13)[0]
    displacement = distance * np.array([0.6, -0.8])
    assert exponential_covariance(3.0, sigma, ndim=2)(displacement) == pytest.approx(expected, abs=1e-10)


def test_frames_after_covary_with_frames_before_as_displaced_content():
    pop = line(4, whitening=None)
    joint = pop.frame_covariance([0.3])
    i = np.arange(4)
    np.testing.assert_allclose(joint[4:, :4], pop.covariance((i[:, None] - i - 0.3)[..., None]), atol=1e-14)
    np.testing.assert_allclose(joint[:4, :4], joint[4:, 4:], atol=1e-14)
    np.testing.assert_allclose(joint, joint.T, atol=1e-14)


@pytest.mark.parametrize("step", [[0.5, 0.0], [0.0, 0.5]], ids=["zoom", "shear"])
def test_what_stretches_changes_how_frames_after_covary(step):
    """Moments of rendered pairs."""
    eye, motion = Grid(2, 2, 1.0), Mixture(Zoom(1.0), Shear(1.0))
    joint = population(smooth_covariance(1.0, 1.0, 2), eye, motion, whitening=None).frame_covariance([*step, 0.0])
    scene = SmoothNoise(1.0, ndim=2, period=256.0, random_state=0)
    poses = np.concatenate(
        [np.tile(np.eye(2), (20_000, 1, 1)), np.random.default_rng(0).uniform(0, 256, (20_000, 2, 1))], 2
    )
    pairs = stepped_pairs(scene, eye, motion, poses, np.tile([*step, 0.0], (20_000, 1)))
    z = np.concatenate([pairs.flat().before, pairs.flat().after], axis=1)
    np.testing.assert_allclose(z.T @ z / len(z), joint, atol=0.015)
    assert np.abs(joint[4:, 4:] - joint[:4, :4]).max() > 0.03
    assert np.linalg.eigvalsh(joint)[0] > 0


def test_whitening_leaves_frames_white():
    np.testing.assert_allclose(line(7).frame_covariance([0.0])[:7, :7], np.eye(7), atol=1e-10)


@pytest.mark.parametrize("motion", [Translation(0.3), Rotation(5.0)], ids=["shift", "turn"])
def test_operators_are_the_derivative_of_the_covariance_regressed_on_it(motion):
    """A C = D, of smooth noise: d/ds exp(-d'd / 2 S) = (flow . d) / S exp(-d'd / 2 S), with S = l^2 + 2 sigma^2."""
    eye, S = Grid(5, 5, 0.5), 0.6**2 + 2 * 0.5**2
    pop = population(smooth_covariance(0.6, 0.5, ndim=2), eye, motion, whitening=None)
    between = eye.positions[:, None] - eye.positions
    C = pop.covariance(between)
    D = np.einsum("pix,ijx->pij", motion.flow(eye.positions), between) / S * C
    np.testing.assert_allclose(pop.generators().operators @ C, D, atol=1e-9 * np.abs(D).max())


# -- moments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("feature", FEATURES)
def test_moments_are_those_of_quadratic_forms(feature):
    """E[z'Az z'Bz] = tr AS tr BS + 2 tr ASBS (Isserlis), with S the covariance of z."""
    pop = line(3, feature=feature, max_shift=0.7)
    steps, weights = pop.motion.quadrature(pop.order)
    chi = forms(feature, 3)
    expected = 0
    for sigma, mean, weight in zip(
        pop.frame_covariance(steps), pop.mean_given_step(steps).reshape(-1, 9), weights, strict=True
    ):
        traces = np.einsum("aij,ji->a", chi, sigma)
        np.testing.assert_allclose(mean, traces, atol=1e-12)
        pushed = chi @ sigma
        expected = expected + weight * (np.outer(traces, traces) + 2 * np.einsum("aij,bji->ab", pushed, pushed))
    np.testing.assert_allclose(pop.second_moment, expected, atol=1e-12)


@pytest.mark.parametrize("feature", FEATURES)
def test_moments_are_those_of_rendered_pairs(feature):
    pop = line(feature=feature, max_shift=0.5)
    pairs = sampled(200_000, max_shift=0.5)
    chi = outer_products(pairs.map(lambda frames: frames @ pop.Z), feature).dense()
    measured = chi.T @ chi / len(chi)
    assert np.linalg.norm(measured - pop.second_moment) < 0.03 * np.linalg.norm(pop.second_moment)


def test_second_moment_does_not_depend_on_the_order_of_quadrature():
    np.testing.assert_allclose(
        line(max_shift=1.5).second_moment, line(max_shift=1.5, order=20).second_moment, atol=1e-8
    )


def test_mean_of_the_papers_feature_has_a_part_that_is_the_same_for_both_directions():
    pop = line(whitening=None)
    right, left, still = pop.mean_given_step([[0.3], [-0.3], [0.0]])
    C = pop.frame_covariance([[0.3], [0.0]])[:, 5:, :5]
    np.testing.assert_allclose(right, C[0] - C[1], atol=1e-14)
    np.testing.assert_allclose(right + right.T, left + left.T, atol=1e-14)
    assert np.linalg.norm(right + right.T) > 0.1 * np.linalg.norm(right)
    np.testing.assert_allclose(still, 0, atol=1e-14)


@pytest.mark.parametrize("feature", ["midpoint", "antisymmetric"])
def test_mean_of_features_odd_in_time_is_purely_antisymmetric(feature):
    means = line(feature=feature).mean_given_step([[0.1], [0.7], [2.0]])
    np.testing.assert_allclose(means, -means.swapaxes(1, 2), atol=1e-12)


# -- components ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", [L1, L2], ids=["L1", "L2"])
@pytest.mark.parametrize("n", [5, 7, 9, 15])
def test_first_component_generates_rightward_translation(world, n):
    values, (first, second) = line(n, **world).components(2)
    assert antisymmetric_share(first) > 0.9
    assert cosine(first, central_difference(n)) > 0.75
    assert antisymmetric_share(second) < 0.6
    assert values[1] < 0.65 * values[0]
    assert np.linalg.norm(first) == pytest.approx(1)


@pytest.mark.parametrize(("world", "n_pairs"), [(L1, 100_000), (L2, 100_000)], ids=["L1", "L2"])
def test_similarity_matching_finds_the_first_component(world, n_pairs):
    assert cosine_of_similarity_matching(n_pairs, 2.0**18, **world) > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 15])
@pytest.mark.parametrize("world", [L1, L2], ids=["L1", "L2"])
def test_similarity_matching_finds_the_first_component_of_a_million_pairs(world, n):
    assert cosine_of_similarity_matching(1_000_000, 2.0**20, n, **world) > 0.999


def cosine_of_similarity_matching(n_pairs, period, n=5, *, sigma, max_shift, feature):
    pop = line(n, sigma=sigma, max_shift=max_shift, feature=feature)
    pairs = sampled(n_pairs, n, sigma=sigma, max_shift=max_shift, period=period)
    chi = outer_products(pairs.map(lambda frames: frames @ pop.Z), feature)
    return abs(cosine(SimilarityMatching(2).fit(chi).generators_[0], pop.components(1)[1][0]))


def test_equal_components_are_turned_to_the_axes_of_motion():
    pop = grid()
    values, (right, up) = pop.components(2)
    assert values[0] == pytest.approx(values[1])
    np.testing.assert_allclose(pop.axis(right), [1, 0])
    np.testing.assert_allclose(pop.axis(up), [0, -1])
    steps = [[0.2, 0.0], [-0.2, 0.0], [0.0, -0.2], [0.0, 0.2]]
    size = pop.mean_response(right, steps[0])
    assert size > 0.1
    np.testing.assert_allclose(pop.mean_response(right, steps) / size, [1, -1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(pop.mean_response(up, steps) / size, [0, 0, 1, -1], atol=1e-9)


def test_components_of_a_whole_basis_give_the_second_moment_back():
    values, generators = grid().components(81)
    flat = generators.reshape(81, 81)
    np.testing.assert_allclose(flat @ flat.T, np.eye(81), atol=1e-9)
    np.testing.assert_allclose((flat.T * values) @ flat, grid().second_moment, atol=1e-9)


def test_components_that_tell_no_direction_are_signed_by_their_largest_entry():
    components = line(sigma=0.3, max_shift=1.0, feature="antisymmetric").components(25)[1]
    blurs = [A for A in components if antisymmetric_share(A) < 1e-6]
    assert len(blurs) == 15
    assert all(A.flat[np.abs(A).argmax()] > 0 for A in blurs)


# -- responses -------------------------------------------------------------------------------------------------------


def test_probability_of_two_squares_is_an_angle():
    a, b = np.array([1.0, 1e-3, 50.0]), np.array([1.0, 1.0, 0.1])
    np.testing.assert_allclose(
        probability_positive(np.stack([a, -b], axis=1)), 2 / np.pi * np.arctan(np.sqrt(a / b)), atol=1e-14
    )


def test_probability_is_certain_for_weights_of_one_sign_and_even_for_none():
    weights = [[1.0, 0.2, 1e-9], [-1.0, -0.2, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(probability_positive(weights), [1, 0, 1, 0.5], atol=1e-14)


def test_probability_is_the_share_of_samples():
    weights = np.array([2.0, 1.0, 0.3, -0.1, -1.2, -1.3])
    g = np.random.default_rng(0).standard_normal((1_000_000, 6))
    assert probability_positive(weights) == pytest.approx(np.mean(g**2 @ weights > 0), abs=0.002)  # 4 s.e.


@pytest.mark.parametrize("world", [L1, L2], ids=["L1", "L2"])
def test_direction_accuracy_is_that_of_rendered_pairs(world):
    pop = line(**world)
    A = pop.components(1)[1][0]
    pairs = sampled(200_000, sigma=world["sigma"], max_shift=world["max_shift"])
    chi = outer_products(pairs.map(lambda frames: frames @ pop.Z), world["feature"])
    right = np.sign(chi.project(A[None])[:, 0]) == np.sign(pairs.motion[:, 0])
    assert pop.direction_accuracy(A) == pytest.approx(right.mean(), abs=0.004)
    assert pop.direction_accuracy(-A) == pytest.approx(1 - pop.direction_accuracy(A))


def test_direction_accuracy_counts_motion_along_the_generators_own_axis():
    pop = grid()
    right, up = pop.components(2)[1]
    assert pop.direction_accuracy(right) > 0.97
    assert pop.direction_accuracy(up) == pytest.approx(pop.direction_accuracy(right))
    assert pop.direction_accuracy(np.eye(9)) == pytest.approx(0.5, abs=1e-9)


def test_accuracy_grows_with_the_number_of_pixels():
    accuracy = [line(n, **L1).direction_accuracy(line(n, **L1).components(1)[1][0]) for n in (3, 5, 7, 15)]
    assert (np.diff(accuracy) > 0).all()
    assert accuracy[-1] > 0.999


def test_mean_response_grows_up_to_the_peak_and_not_beyond():
    pop = line(9, **L1)
    A = pop.components(1)[1][0]
    peak = pop.peak_speed(A)
    assert 0.5 < peak < 1.5
    speeds = peak * np.array([0.25, 0.5, 0.75, 1.0, 1.05, 1.2])
    odd = pop.mean_response(A, speeds[:, None]) - pop.mean_response(A, -speeds[:, None])
    assert np.argmax(odd) == 3
    assert (np.diff(odd[:4]) > 0).all()
    assert pop.peak_speed(-A) == pytest.approx(peak)


# -- the map ---------------------------------------------------------------------------------------------------------


def test_paper_feature_learns_motion_only_for_small_shifts_through_wide_optics():
    cells = motion_map([0.3, FLY_SIGMA, 0.8], [0.1, 0.5, 1.5])
    np.testing.assert_array_equal(cells.motion_first, [[True, False, False], [True, True, False], [True, True, False]])
    assert (cells.accuracy[cells.motion_first] > 0.75).all()
    np.testing.assert_allclose(cells.accuracy[~cells.motion_first], 0.5, atol=1e-6)
    assert (cells.ratio <= 1).all()


@pytest.mark.parametrize(("sigma", "max_shift"), [(0.3, 0.1), (0.3, 1.0), (FLY_SIGMA, 0.25), (0.8, 1.5)])
def test_map_is_what_pca_of_rendered_pairs_shows(sigma, max_shift):
    pop = line(sigma=sigma, max_shift=max_shift)
    pairs = sampled(50_000, sigma=sigma, max_shift=max_shift, period=2.0**16)
    first = OuterProductPCA(1).fit(outer_products(pairs.map(lambda frames: frames @ pop.Z), "change")).generators_[0]
    cell = motion_map([sigma], [max_shift])
    assert antisymmetric_share(first) == pytest.approx(cell.antisymmetric_share.item(), abs=0.05)


def test_midpoint_feature_learns_motion_everywhere():
    cells = motion_map([FLY_SIGMA, 0.8], [0.1, 0.5, 1.0], feature="midpoint")
    assert cells.motion_first.all()
    assert (cells.accuracy > 0.85).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature": "dx"}, "feature is 'dx'"),
        ({"max_shift": 0.0}, "largest shift is 0"),
        ({"whitening": np.eye(4)}, r"shape \(4, 4\); expected \(5, 5\)"),
    ],
)
def test_population_says_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        line(**options)


def test_components_say_how_many_there_are():
    with pytest.raises(ValueError, match="expected 1 to 25"):
        line().components(26)


def test_generators_of_the_sphere_are_the_derivative_to_six_digits():
    """The step of the difference fits the optics: a stencil of a hundredth of a degree gives the same."""
    eye, h = Sphere.evenly(24, sigma=5.0), 0.01
    theory = population(spherical_covariance(15.0, eye.sigma), eye, Turn(5.0), regularization=1e-5)
    two_back, back, forth, two_forth = (theory._lagged(k * h * np.eye(3)) for k in (-2, -1, 1, 2))
    D = (two_back - 8 * back + 8 * forth - two_forth) / (12 * h)
    expected = D @ np.linalg.inv(theory._lagged(np.zeros(3)) + theory.ridge * np.eye(24))
    raw = np.linalg.inv(theory.Z) @ theory.generators().operators @ theory.Z
    np.testing.assert_allclose(raw, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
