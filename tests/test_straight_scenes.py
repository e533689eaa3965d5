"""Square gratings and dots in closed form, against sums of other scenes, literal integrals and known values."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.world.scenes import Bar, Dot, Edge, Grating, SquareGrating

RATIOS = [0.0, 0.01, 0.1, 0.2, 0.24999, 0.25, 0.25001, 0.3, 0.5, 1.0]
"""Widths of the optics [wavelengths], also on either side of where the closed form changes."""


@pytest.fixture
def make_points():
    def make(*shape, ndim=2, seed=0):
        return np.random.default_rng(seed).uniform(-20, 20, (*shape, ndim))

    return make


@pytest.fixture
def make_ellipses():
    """Covariances of random ellipses, shape (n, ndim, ndim)."""

    def make(n, *, scale=1.0, ndim=2, seed=0):
        A = np.random.default_rng(seed).normal(scale=scale, size=(n, ndim, ndim))
        return A @ A.swapaxes(1, 2)

    return make


def of_bars(grating, points, sigma, n=40):
    """Sum bright bars on a dark ground."""
    L, c = grating.wavelength, grating.contrast
    middles = L * (np.arange(-n, n + 1) - grating.phase / (2 * math.pi))
    bars = [Bar(L / 2, middle, 2 * c, grating.direction, grating.ndim).sample(points, sigma) for middle in middles]
    return grating.mean - c + np.sum(bars, axis=0)


def of_sines(grating, points, sigma, n=200):
    """Sum the Fourier series of a square wave."""
    odd = np.arange(1, 2 * n, 2)
    sines = [
        Grating(
            grating.wavelength / m,
            4 / math.pi * grating.contrast * math.sin(m * math.pi / 2) / m,
            grating.direction,
            m * grating.phase,
            ndim=grating.ndim,
        ).sample(points, sigma)
        for m in odd
    ]
    return grating.mean + np.sum(sines, axis=0)


# Square gratings


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(("ndim", "angle"), [(1, 0.0), (2, 0.0), (2, 73.0)])
def test_a_square_grating_is_a_row_of_bars(ratio, ndim, angle, make_points):
    grating = SquareGrating(6.0, 0.7, angle, 0.4, 1.0, ndim)
    points = make_points(4, 50, ndim=ndim)
    found = grating.sample(points, 6.0 * ratio)
    assert_allclose(found, of_bars(grating, points, 6.0 * ratio), rtol=0, atol=1e-12)


@pytest.mark.parametrize("ratio", [r for r in RATIOS if r > 0])
def test_a_square_grating_is_its_fourier_series(ratio, make_points):
    grating, points = SquareGrating(6.0, 0.7, 73.0, 0.4, 1.0, ndim=2), make_points(4, 50)
    found = grating.sample(points, 6.0 * ratio)
    assert_allclose(found, of_sines(grating, points, 6.0 * ratio), rtol=0, atol=1e-12)


def test_harmonics_that_are_left_out_are_below_rounding(make_points):
    grating, points = SquareGrating(1.0), make_points(200, ndim=1) / 20
    assert_allclose(grating.sample(points, 0.2501), of_sines(grating, points, 0.2501), rtol=0, atol=4e-15)


def test_what_wide_optics_leave_of_a_square_grating_is_exact_relative_to_itself(make_points):
    """Where a sum of edges would be nothing but rounding."""
    points = make_points(50)
    found = SquareGrating(6.0, ndim=2).sample(points, 7.5)
    assert np.abs(found).max() < 1e-12
    assert_allclose(found, Grating(6.0, 4 / math.pi, ndim=2).sample(points, 7.5), rtol=1e-9)


def test_a_sharp_square_grating_is_bright_where_its_cosine_is_positive_and_grey_at_its_edges():
    x = np.array([0.0, 0.99, 1.0, 1.01, 2.0, 3.0, 3.01, -1.0, -0.5, -2.0, 401.0])
    found = SquareGrating(4.0, 0.5, mean=1.0).sample(x[:, None], 0.0)
    assert_array_equal(found, [1.5, 1.5, 1.0, 0.5, 0.5, 1.0, 1.5, 1.0, 1.5, 0.5, 1.0])


def test_michelson_contrast_of_a_square_grating():
    seen = SquareGrating(20.0, 0.3, mean=1.0).sample(np.linspace(0, 20, 401)[:, None], 0.475)
    assert_allclose((seen.max() - seen.min()) / (seen.max() + seen.min()), 0.3, atol=1e-12)
    assert_allclose(seen[:-1].mean(), 1.0, atol=1e-12)


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_through_ellipses_a_square_grating_is_its_bars(scale, make_points, make_ellipses):
    """One call holds frames on either side of where the closed form changes."""
    grating = SquareGrating(6.0, 0.7, 40.0, 0.4, ndim=2)
    points, covariances = make_points(30, 7), make_ellipses(30, scale=scale)
    found = grating.sample(points, covariances)
    assert_allclose(found, of_bars(grating, points, covariances), rtol=0, atol=1e-12)


# Edges


def test_the_mean_of_an_edge_is_added(make_points):
    points = make_points(9)
    raised = Edge(0.3, 2.0, 40.0, ndim=2, mean=0.7).sample(points, 0.475)
    assert_allclose(raised, Edge(0.3, 2.0, 40.0, ndim=2).sample(points, 0.475) + 0.7, atol=1e-15)


# Dots


def blurred(dot, point, covariance, step=0.1, reach=12.0):
    """Integrate a dot over the optics; the trapezium rule is exact for what is as smooth as a Gaussian."""
    x = np.arange(-reach, reach, step)
    offsets = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    weights = np.exp(-np.einsum("ni,ij,nj->n", offsets, np.linalg.inv(covariance), offsets) / 2)
    weights *= step**2 / (2 * math.pi * math.sqrt(np.linalg.det(covariance)))
    return weights @ dot.sample(point + offsets, 0.0)


def test_a_dot_is_half_as_high_half_its_diameter_away():
    seen = Dot(3.0, (1.0, -2.0), -0.8).sample(np.array([[1.0, -2.0], [2.5, -2.0], [1.0, -0.5]]), 0.0)
    assert_allclose(seen, [-0.8, -0.4, -0.4], atol=1e-15)


def test_a_dot_through_optics_is_its_blur(make_ellipses):
    dot, point = Dot(2.0, (0.3, -0.2), 1.5), np.array([0.9, 0.4])
    S = make_ellipses(1, scale=0.7, seed=3)[0] + 0.3 * np.eye(2)
    expected = blurred(dot, point, S)
    assert_allclose(dot.sample(point[None, None], S[None]), [[expected]], atol=1e-12)
    assert_allclose(dot.sample(point, 0.6), blurred(dot, point, 0.36 * np.eye(2)), atol=1e-12)


@pytest.mark.parametrize("sigma", [0.0, 0.475])
@pytest.mark.parametrize("dot", [Dot(2.0, (0.3, -0.2), 1.5), Dot(2.0, (0.3,))], ids=["plane", "line"])
def test_a_width_is_the_covariances_of_round_optics(dot, sigma, make_points):
    points = make_points(6, 5, ndim=dot.ndim) / 10
    covariances = np.tile(sigma**2 * np.eye(dot.ndim), (6, 1, 1))
    assert_allclose(dot.sample(points, covariances), dot.sample(points, sigma), atol=1e-14)


def test_optics_keep_what_a_dot_sums_to():
    x = np.arange(-20, 20, 0.2)
    plane = np.stack(np.meshgrid(x, x), axis=-1)
    dot = Dot(3.0)
    area = math.pi * 9 / (4 * math.log(2))
    assert_allclose([dot.sample(plane, s).sum() * 0.04 for s in (0.0, 2.0)], area, rtol=1e-12)


@pytest.mark.parametrize("scene", [SquareGrating(4.0, ndim=2), Dot(2.0)], ids=["square", "dot"])
@pytest.mark.parametrize("shape", [(3, 2, 2), (4, 1, 1), (4,), (2, 2)])
def test_covariances_of_other_frames_are_refused(scene, shape, make_points):
    with pytest.raises(ValueError, match=r"sigma has shape .* for points of shape \(4, 3, 2\)"):
        scene.sample(make_points(4, 3), np.ones(shape))


@pytest.mark.parametrize("scene", [SquareGrating(4.0, ndim=2), Dot(2.0), Edge(ndim=2, mean=0.5)], ids=str)
def test_scenes_pickle_and_have_room_for_an_eye(scene, pickled, make_points):
    assert pickled(scene) == scene
    assert scene.wraps
    low, high = scene.extent.T
    assert low.shape == (2,)
    assert (low < high).all()
