"""Scenes through elliptic optics: one covariance for each frame, against literal sums and quadrature."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import dblquad, quad

from flymotion.world.scenes import (
    Edge,
    ExponentialNoise,
    FourierScene,
    Grating,
    SmoothNoise,
    exponential_covariance,
    photograph,
)

SIGMA = 0.475


@pytest.fixture
def make_ellipses():
    """Covariances that small zooms and shears make of round optics."""

    def make(n, size=0.1, *, sigma=SIGMA, ndim=2, seed=0):
        A = np.eye(ndim) + np.random.default_rng(seed).uniform(-size, size, (n, ndim, ndim))
        return sigma**2 * A @ A.swapaxes(1, 2)

    return make


@pytest.fixture
def make_points():
    def make(n, m=3, *, ndim=2, seed=1):
        return np.random.default_rng(seed).uniform(-30, 30, (n, m, ndim))

    return make


def literal_sum(scene, points, covariances):
    """Sum the modes of a Fourier scene one frame at a time."""
    k = np.stack(np.meshgrid(*[np.arange(n) - n // 2 for n in scene.modes.shape], indexing="ij")[::-1], axis=-1)
    omega = 2 * math.pi * k.reshape(-1, scene.ndim) / scene.period
    values = np.empty(points.shape[:-1])
    for frame, (x, S) in enumerate(zip(points, covariances, strict=True)):
        seen = scene.modes.ravel() * np.exp(-np.einsum("mi,ij,mj->m", omega, S, omega) / 2)
        values[frame] = (np.exp(1j * x @ omega.T) @ seen).real
    return values


SCENES = {
    "exponential line": lambda: ExponentialNoise(3.0, period=60.0, random_state=0),
    "exponential plane": lambda: ExponentialNoise(3.0, ndim=2, period=12.0, random_state=0),
    "smooth line": lambda: SmoothNoise(3.0, period=60.0, random_state=0),
    "smooth plane": lambda: SmoothNoise(3.0, ndim=2, period=30.0, random_state=0),
    "white photograph": lambda: photograph(np.random.default_rng(0).random((12, 16))),
}


@pytest.fixture(params=SCENES)
def scene(request):
    return SCENES[request.param]()


# Fourier scenes


def test_elliptic_optics_damp_each_mode_by_its_variance(scene, make_ellipses, make_points):
    covariances, points = make_ellipses(60, ndim=scene.ndim), make_points(60, ndim=scene.ndim)
    expected = literal_sum(scene, points, covariances)
    assert_allclose(scene.sample(points, covariances), expected, rtol=0, atol=1e-10 * expected.std())


def test_frames_beyond_the_candidates_of_the_skeleton_are_as_exact(make_ellipses, make_points):
    scene, covariances, points = SCENES["exponential plane"](), make_ellipses(700), make_points(700, 1)
    expected = literal_sum(scene, points[::35], covariances[::35])
    assert_allclose(scene.sample(points, covariances)[::35], expected, rtol=0, atol=1e-10 * expected.std())


@pytest.mark.parametrize("name", ["smooth plane", "exponential plane"])
def test_ellipses_of_every_size_and_shape_mix_in_one_call(name, make_ellipses, make_points):
    wild = make_ellipses(60, 3.0, sigma=0.6) + 0.3**2 * np.eye(2)
    needle = np.array([[4.0, 1.9], [1.9, 1.0]]) + 0.09 * np.eye(2)
    same = np.tile([SIGMA**2 * np.eye(2), needle], (40, 1, 1))
    covariances = np.random.default_rng(2).permutation(np.concatenate([make_ellipses(60), wild, same]))
    scene, points = SCENES[name](), make_points(len(covariances))
    expected = literal_sum(scene, points, covariances)
    assert_allclose(scene.sample(points, covariances), expected, rtol=0, atol=1e-10)


def test_a_width_is_the_covariances_of_round_optics(scene, make_points):
    points, ndim = make_points(20, ndim=scene.ndim), scene.ndim
    round_optics = np.tile(SIGMA**2 * np.eye(ndim), (20, 1, 1))
    assert_allclose(scene.sample(points, round_optics), scene.sample(points, SIGMA), atol=1e-11)


def test_each_frame_is_as_if_it_were_alone(scene, make_ellipses, make_points):
    points, covariances = make_points(7, ndim=scene.ndim), make_ellipses(7, ndim=scene.ndim)
    alone = [scene.sample(points[i : i + 1], covariances[i : i + 1]) for i in range(7)]
    assert_allclose(scene.sample(points, covariances), np.concatenate(alone), atol=1e-10)


@pytest.mark.parametrize("sigma", [0.0, SIGMA])
def test_a_grating_is_its_fourier_series_through_any_ellipse(sigma, make_ellipses, make_points):
    """A scene with one mode alone, and in closed form."""
    modes = np.zeros((9, 9), complex)
    modes[4 + 3, 4 - 1], modes[4 - 3, 4 + 1] = 0.5 * np.exp([0.3j, -0.3j])  # k = (-1, 3)
    series = FourierScene(modes, (12.0, 12.0), np.array([[0.0, 12.0]] * 2))
    grating = Grating(12 / math.sqrt(10), 1.0, math.degrees(math.atan2(-3, -1)), 0.3, ndim=2)
    points, covariances = make_points(900), make_ellipses(900, 0.3, sigma=sigma)
    assert_allclose(series.sample(points, covariances), grating.sample(points, covariances), atol=1e-10)


@pytest.mark.parametrize("zoom", [0.9, 1.1])
def test_a_zoomed_grating_is_a_grating_of_another_wavelength(zoom, make_points):
    """Content that zooms by a factor z is seen at x / z through optics that are 1 / z as wide in the scene."""
    points = make_points(5)
    seen = Grating(5.0, direction=30.0, ndim=2).sample(
        points / zoom, np.tile((SIGMA / zoom) ** 2 * np.eye(2), (5, 1, 1))
    )
    assert_allclose(seen, Grating(5.0 * zoom, direction=30.0, ndim=2).sample(points, SIGMA), atol=1e-12)


def test_no_frames_are_no_frames(scene):
    assert scene.sample(np.zeros((0, 3, scene.ndim)), np.zeros((0, scene.ndim, scene.ndim))).shape == (0, 3)


def test_a_scene_without_contrast_stays_so(make_ellipses, make_points):
    scene = photograph(np.full((6, 8), 0.7))
    assert_allclose(scene.sample(make_points(30), make_ellipses(30)), 0.7, atol=1e-10)


def test_what_is_handed_in_is_not_changed(scene, make_ellipses, make_points):
    points, covariances = make_points(20, ndim=scene.ndim), make_ellipses(20, ndim=scene.ndim)
    kept = points.copy(), covariances.copy()
    scene.sample(points, covariances)
    assert_array_equal(points, kept[0])
    assert_array_equal(covariances, kept[1])


@pytest.mark.parametrize("shape", [(3, 2, 2), (4, 1, 1), (4,), (2, 2)])
@pytest.mark.parametrize("scene", [SCENES["smooth plane"](), Grating(4.0, ndim=2), Edge(ndim=2)], ids=str)
def test_covariances_of_other_frames_are_refused(scene, shape, make_points):
    with pytest.raises(ValueError, match=r"sigma has shape .* for points of shape \(4, 3, 2\)"):
        scene.sample(make_points(4), np.ones(shape))


def test_noise_refuses_ellipses_that_are_sharper_than_its_series_along_any_axis(make_points):
    scene = SCENES["exponential plane"]()
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    covariances = turn @ np.diag([1.0, 0.29**2]) @ turn.T + np.zeros((4, 1, 1))
    with pytest.raises(ValueError, match=r"sigma is 0.29.* drawn for 0.3"):
        scene.sample(make_points(4), covariances)
    assert scene.sample(make_points(4), np.tile(0.3**2 * np.eye(2), (4, 1, 1))).shape == (4, 3)


# Edges


@pytest.mark.parametrize("angle", [0.0, 40.0, 90.0])
def test_an_edge_through_an_ellipse_is_its_blur(angle, make_ellipses):
    """Against numeric integration: the Gaussian of the whole plane, on the bright side of the edge and on the dark."""
    S, point = make_ellipses(1, 0.3, seed=4)[0], np.array([0.2, -0.1])
    inverse, norm = np.linalg.inv(S), 2 * math.pi * math.sqrt(np.linalg.det(S))
    along = np.array([math.cos(math.radians(angle)), -math.sin(math.radians(angle))])
    across = np.array([-along[1], along[0]])

    def density(b, a):
        d = a * along + b * across - point
        return math.exp(-d @ inverse @ d / 2) / norm

    bright, _ = dblquad(density, 0.3, 6.0, -5.0, 5.0, epsabs=1e-9)
    dark, _ = dblquad(density, -6.0, 0.3, -5.0, 5.0, epsabs=1e-9)
    seen = Edge(0.3, 2.0, angle, ndim=2).sample(point[None, None], S[None])
    assert_allclose(seen, [[bright - dark]], atol=1e-7)


def test_an_edge_through_optics_that_are_sharp_across_it_is_a_step():
    points = np.tile([[-0.1, 0.0], [0.0, 3.0], [0.1, 0.0]], (2, 1, 1))
    seen = Edge(ndim=2).sample(points, np.array([np.diag([0.0, 1.0]), np.diag([1.0, 0.0])]))
    assert_array_equal(seen[0], [-0.5, 0.0, 0.5])
    assert_array_equal(np.abs(seen[1]) < 0.05, [True] * 3)


@pytest.mark.parametrize(
    "scene", [Grating(4.0, 0.5, 60.0, 0.2, 1.0, ndim=2), Edge(0.3, direction=60.0, ndim=2)], ids=str
)
def test_a_straight_scene_asks_for_the_variance_along_it_alone(scene, make_points):
    along = np.array([0.5, -(0.75**0.5)])
    across = np.array([along[1], -along[0]])
    covariances = SIGMA**2 * np.outer(along, along) + np.array([0, 1, 9])[:, None, None] * np.outer(across, across)
    points = make_points(3)
    assert_allclose(scene.sample(points, covariances), scene.sample(points, SIGMA), atol=1e-12)


# The covariance of exponential noise through elliptic optics


@pytest.mark.parametrize("ndim", [1, 2])
@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.8])
def test_round_extra_is_a_wider_sigma(ndim, sigma):
    d = np.random.default_rng(0).normal(scale=4.0, size=(50, ndim))
    wider = exponential_covariance(3.0, math.sqrt(sigma**2 + 0.5), ndim)(d)
    assert_allclose(exponential_covariance(3.0, sigma, ndim)(d, np.eye(ndim)), wider, rtol=0, atol=2e-14)


@pytest.mark.parametrize("ndim", [1, 2])
def test_no_extra_is_none(ndim):
    d = np.random.default_rng(0).normal(scale=4.0, size=(50, ndim))
    for sigma in (0.0, 0.475):
        covariance = exponential_covariance(3.0, sigma, ndim)
        assert_allclose(covariance(d, np.zeros((50, ndim, ndim))), covariance(d), rtol=0, atol=1e-15)


@pytest.mark.parametrize("d", [(0.0, 0.0), (1.0, 0.5), (-3.0, 2.0)])
def test_covariance_with_extra_is_the_exponential_blurred_by_the_ellipse(d):
    """Against quadrature over the plane in polar coordinates, where the exponential has no kink."""
    sigma, length, extra = 0.475, 3.0, np.array([[0.3, 0.1], [0.1, -0.15]])
    B = 2 * sigma**2 * np.eye(2) + extra
    inverse, norm = np.linalg.inv(B), 2 * math.pi * math.sqrt(np.linalg.det(B))
    angles = 2 * math.pi * np.arange(256) / 256
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=-1)

    def ring(r):
        away = r * directions - d
        return r * math.exp(-r / length) * np.exp(-np.einsum("ai,ij,aj->a", away, inverse, away) / 2).mean()

    expected = 2 * math.pi / norm * quad(ring, 0, 14, epsabs=1e-12, epsrel=1e-12, limit=200)[0]
    assert exponential_covariance(length, sigma, ndim=2)(np.array(d), extra) == pytest.approx(expected, abs=1e-11)


def test_covariance_along_a_needle_is_that_on_a_line():
    """Blurred along x alone, and seen along x: one dimension."""
    x, needle = np.linspace(0, 9, 7), np.array([[0.7, 0.0], [0.0, 0.0]])
    found = exponential_covariance(3.0, 0.0, ndim=2)(np.stack([x, 0 * x], axis=-1), needle)
    assert_allclose(found, exponential_covariance(3.0, 0.0)(x[:, None], [[0.7]]), rtol=0, atol=1e-13)


def test_sharp_and_blurred_pairs_mix():
    d = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    extra = np.array([np.zeros((2, 2)), np.eye(2), np.zeros((2, 2))])
    covariance = exponential_covariance(3.0, 0.0, ndim=2)
    assert_allclose(covariance(d, extra), [math.exp(-1 / 3), covariance(d[1], np.eye(2)), 1.0], atol=1e-13)


def test_extra_is_broadcast_against_displacements():
    covariance = exponential_covariance(3.0, 0.475, ndim=2)
    d, extra = np.random.default_rng(0).normal(size=(4, 1, 2)), np.array([0.1, 0.2, 0.3])[:, None, None] * np.eye(2)
    found = covariance(d, extra)
    assert found.shape == (4, 3)
    assert_allclose(found[1, 2], covariance(d[1, 0], extra[2]), atol=1e-15)
