"""Smooth noise: its covariance, its modes and its derivatives, each against the closed form."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.world.eyes import Grid, Line
from flymotion.world.scenes import FourierScene, SmoothNoise, smooth_covariance


@pytest.fixture
def make_noise():
    """Noise of a short period, so that its modes are few."""

    def make(ndim=1, *, length=2.0, period=32.0, seed=0):
        return SmoothNoise(length, ndim=ndim, period=period, random_state=seed)

    return make


def frequencies(scene):
    """Angular frequencies of the modes, one array per component (x, y)."""
    axes = [2 * math.pi * (np.arange(n) - n // 2) / scene.period[0] for n in scene.modes.shape]
    return np.meshgrid(*axes, indexing="ij")[::-1]


# The closed form


@pytest.mark.parametrize("sigma", [0.0, 0.475])
@pytest.mark.parametrize("extra", [[[0.4]], [[0.4, 0.2], [0.2, 0.1]], [[-0.1, 0.05], [0.05, 0.3]]])
def test_covariance_is_the_transform_of_the_damped_spectrum(sigma, extra):
    """Poisson: a Riemann sum over frequencies is exact but for copies far away."""
    ndim, length = len(extra), 1.5
    extra = np.array(extra) + (0.2 if sigma == 0 else 0.0) * np.eye(ndim)
    axis = np.linspace(-7, 7, 281)
    omega = np.stack(np.meshgrid(*[axis] * ndim), axis=-1).reshape(-1, ndim)
    S = (length**2 + 2 * sigma**2) * np.eye(ndim) + extra
    spectrum = (2 * math.pi * length**2) ** (ndim / 2) * np.exp(-np.einsum("mi,ij,mj->m", omega, S, omega) / 2)
    d = np.array([[0.0, 0.0], [0.5, 0.0], [1.0, -2.0], [-4.0, 1.0]])[:, :ndim]
    expected = np.cos(d @ omega.T) @ spectrum * ((axis[1] - axis[0]) / (2 * math.pi)) ** ndim
    assert_allclose(smooth_covariance(length, sigma, ndim)(d, extra), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ndim", [1, 2])
def test_round_extra_is_a_wider_sigma_and_none_is_zero(ndim):
    d = np.random.default_rng(0).normal(scale=3.0, size=(20, ndim))
    covariance = smooth_covariance(3.0, 0.475, ndim)
    assert_allclose(covariance(d, np.eye(ndim)), smooth_covariance(3.0, math.sqrt(0.475**2 + 0.5), ndim)(d), atol=1e-15)
    assert_array_equal(covariance(d, np.zeros((20, ndim, ndim))), covariance(d))
    assert_allclose(smooth_covariance(3.0, 0.0, ndim)(d), np.exp(-(d**2).sum(axis=1) / 18), atol=1e-15)


def test_extra_is_broadcast_against_displacements():
    covariance, extra = smooth_covariance(3.0, 0.475, ndim=2), np.array([0.1, 0.2])[:, None, None] * np.eye(2)
    d = np.random.default_rng(0).normal(size=(4, 1, 2))
    assert_allclose(covariance(d, extra)[3, 1], covariance(d[3, 0], extra[1]), atol=1e-15)


# The noise


@pytest.mark.parametrize(("ndim", "period"), [(1, 400.0), (2, 60.0)])
def test_modes_have_the_variance_of_the_spectrum_and_end_where_it_does(make_noise, ndim, period):
    scene = make_noise(ndim, period=period)
    squared = sum(omega**2 for omega in frequencies(scene))
    spectrum = (2 * math.pi * 4.0) ** (ndim / 2) * np.exp(-squared * 4.0 / 2) / period**ndim
    ratio = np.abs(scene.modes) ** 2 / spectrum
    assert ratio.mean() == pytest.approx(1, abs=5 * math.sqrt(2 / ratio.size))
    edge = np.exp(-(frequencies(scene)[0].max() ** 2) * 4.0 / 2)
    assert 1e-18 < edge <= 1e-17


@pytest.mark.parametrize(("eye", "zoom"), [(Line(3), [[1.3]]), (Grid(2, 2), [[1.2, 0.3], [-0.1, 0.8]])])
def test_covariance_over_realisations_is_the_closed_form_with_extra(make_noise, eye, zoom):
    """Frames before through round optics, frames after where content has zoomed and sheared."""
    sigma, zoom, ndim = 0.8, np.array(zoom), len(zoom)
    rng, period = np.random.default_rng(0), {1: 4096.0, 2: 64.0}[ndim]
    after_at, ellipse = eye.positions @ zoom.T, sigma**2 * zoom @ zoom.T
    found, n_scenes, n_places = 0.0, 10, 2000
    for seed in range(n_scenes):
        scene, places = make_noise(ndim, period=period, seed=seed), rng.uniform(0, period, (n_places, 1, ndim))
        before = scene.sample(places + eye.positions, sigma)
        after = scene.sample(places + after_at, np.tile(ellipse, (n_places, 1, 1)))
        found = found + after.T @ before / (n_scenes * n_places)
    extra = ellipse - sigma**2 * np.eye(ndim)
    expected = smooth_covariance(2.0, sigma, ndim)(after_at[:, None] - eye.positions, extra)
    assert_allclose(found, expected, atol=0.04)


@pytest.mark.parametrize("ndim", [1, 2])
def test_points_have_a_derivative_without_any_optics(make_noise, ndim):
    scene = make_noise(ndim)
    slope = FourierScene(1j * frequencies(scene)[0] * scene.modes, scene.period, scene.extent)
    points, step = np.random.default_rng(0).uniform(0, 32, (50, ndim)), 1e-3 * np.eye(ndim)[0]
    difference = (scene.sample(points + step, 0.0) - scene.sample(points - step, 0.0)) / 2e-3
    assert_allclose(difference, slope.sample(points, 0.0), atol=1e-6)


def test_a_longer_correlation_is_the_same_scene_magnified(make_noise):
    """With period and length both doubled the modes are the same."""
    assert_allclose(make_noise(length=4.0, period=64.0).modes, make_noise().modes, atol=1e-15)


@pytest.mark.parametrize(("ndim", "period"), [(1, 131072.0), (2, 256.0)])
def test_periods_are_those_of_exponential_noise(ndim, period):
    scene = SmoothNoise(6.0, ndim=ndim, random_state=0)
    assert scene.period == (period,) * ndim
    assert_array_equal(scene.extent, [[0.0, period]] * ndim)


def test_the_same_seed_is_the_same_noise_and_survives_pickling(make_noise, pickled):
    points = np.linspace(0, 9, 7)[:, None]
    assert_array_equal(make_noise(seed=3).modes, make_noise(seed=3).modes)
    assert pickled(make_noise()).correlation_length == 2.0
    assert_array_equal(pickled(make_noise()).sample(points, 0.0), make_noise().sample(points, 0.0))


@pytest.mark.parametrize(("length", "ndim"), [(0.0, 1), (-1.0, 2), (3.0, 3)])
def test_impossible_noise_is_refused(length, ndim):
    with pytest.raises(ValueError, match=r"expected a positive, finite number, from 1e-50|expected 1 or 2 dimensions"):
        SmoothNoise(length, ndim=ndim)
