"""Scenes all round: harmonics, their optics and covariance, panoramas the right way round, and depth."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import eval_legendre, sph_harm_y

from flymotion.generators.theory import population
from flymotion.photoreceptors import LogIntensity
from flymotion.world.eyes import Sphere
from flymotion.world.motions import SelfTranslation, Turn
from flymotion.world.rendering import render, sample_pairs, stepped_pairs
from flymotion.world.scenes import SphericalNoise, SphericalScene, panorama, spherical_covariance
from flymotion.world.scenes.harmonics import legendre


@pytest.fixture
def make_scene():
    """A random scene of a given degree."""

    def make(degree=9, *, seed=0, **how):
        real, imaginary = np.random.default_rng(seed).standard_normal((2, degree + 1, degree + 1))
        a = np.tril(real + 1j * imaginary)
        a[:, 0] = real[:, 0]
        return SphericalScene(a, **how)

    return make


@pytest.fixture
def make_directions():
    """Random unit vectors."""

    def make(n=40, *, seed=1):
        vectors = np.random.default_rng(seed).standard_normal((n, 3))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return make


def one_harmonic(degree, order):
    a = np.zeros((degree + 1, degree + 1), dtype=complex)
    a[degree, order] = 1.0 if order == 0 else 0.5 - 0.25j
    return SphericalScene(a)


def harmonic(degree, order, directions):
    """One of scipy's, given directions."""
    x, y, z = directions.T
    return sph_harm_y(degree, order, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))


def looked_at(height):
    """Directions of the pixels of a panorama, shape (height, 2 height, 3): from straight behind to the right."""
    row, column = np.indices((height, 2 * height)) + 0.5
    elevation, azimuth = math.pi / 2 - row * math.pi / height, math.pi - column * math.pi / height
    across = np.cos(elevation)
    return np.stack([across * np.cos(azimuth), across * np.sin(azimuth), np.sin(elevation)], axis=-1)


def along_the_horizon(angles):
    """Unit vectors at azimuths to the left [deg]."""
    radians = np.radians(angles)
    return np.stack([np.cos(radians), np.sin(radians), 0 * radians], axis=-1)


# Harmonics and optics


@pytest.mark.parametrize(("degree", "order"), [(0, 0), (1, 1), (2, 0), (5, 3), (8, 8), (40, 17), (200, 3), (200, 150)])
@pytest.mark.parametrize("sigma", [0.0, 0.7, 2.42])
def test_a_harmonic_is_damped_by_the_heat_kernel_and_nothing_else(make_directions, degree, order, sigma):
    scene, directions = one_harmonic(degree, order), make_directions()
    part = (2 - (order == 0)) * scene.coefficients[degree, order]
    damping = math.exp(-degree * (degree + 1) * math.radians(sigma) ** 2 / 2)
    expected = damping * (part * harmonic(degree, order, directions)).real
    assert_allclose(scene.sample(directions, sigma), expected, rtol=0, atol=1e-10 * damping)


def test_a_scene_is_the_sum_of_its_harmonics(make_scene, make_directions):
    scene, directions, literal = make_scene(), make_directions(), 0.0
    for degree in range(10):
        for order in range(degree + 1):
            part = scene.coefficients[degree, order] * harmonic(degree, order, directions)
            literal = literal + (2 - (order == 0)) * part.real
    assert_allclose(scene.sample(directions, 0.0), literal, atol=1e-10)


@pytest.mark.parametrize("degree", [20, 220, 1500])
def test_legendre_functions_are_normalised_near_the_poles_too(degree):
    """The addition theorem: over the orders of a degree, squares add up to (2 l + 1) / 4 pi."""
    *_, P = legendre(np.array([0.0, 1e-3, 0.02, 0.4, math.asin(1 / math.e), 1.6, 3.1]), degree)
    assert_allclose(P[0] ** 2 + 2 * (P[1:] ** 2).sum(axis=0), (2 * degree + 1) / (4 * math.pi), rtol=1e-10)


@pytest.mark.parametrize("degree", [1, 6, 25])
@pytest.mark.parametrize("sigma", [1.0, 2.42, 5.0])
def test_optics_are_a_gaussian_of_the_angle_to_second_order(degree, sigma):
    """Funk and Hecke: an isotropic acceptance function damps a degree by its mean of P_l."""
    width = math.radians(sigma)

    def mean(function):
        return quad(lambda g: function(g) * math.exp(-((g / width) ** 2) / 2) * math.sin(g), 0, 10 * width)[0]

    damping = mean(lambda g: eval_legendre(degree, math.cos(g))) / mean(lambda g: 1.0)
    up = np.array([[0.0, 0.0, 1.0]])
    scene = one_harmonic(degree, 0)
    assert_allclose(scene.sample(up, sigma) / scene.sample(up, 0.0), damping, atol=width**2 / 4)


def test_vectors_of_any_length_and_shape_are_directions(make_scene, make_directions):
    scene, directions = make_scene(), make_directions()
    values = scene.sample(directions, 1.0)
    lengths = np.geomspace(1e-3, 1e3, len(directions))[:, None]
    assert_allclose(scene.sample((lengths * directions).reshape(4, 10, 3), 1.0), values.reshape(4, 10), atol=1e-10)


def test_the_poles_and_the_meridian_behind_are_like_any_other_direction():
    """x, y, z and a polynomial of degree 2, which have no seam, are panoramas of themselves."""
    special = np.array([[0, 0, 1], [0, 0, -1], [-1, 1e-9, 0], [-1, -1e-9, 0], [0.6, 0, 0.8]])

    def polynomial(directions):
        x, y, z = np.moveaxis(directions, -1, 0)
        return 1 + 2 * x - 3 * y + 0.5 * z + x * y - 2 * y * z + z**2

    assert_allclose(panorama(polynomial(looked_at(4))).sample(special, 0.0), polynomial(special), atol=1e-9)


def test_turning_the_eye_turns_what_it_sees(make_directions):
    weights = np.array([0.3, -1.0, 0.7])
    scene, eye = panorama(looked_at(3) @ weights), Sphere(make_directions(), sigma=4.0)
    rotations = Rotation.from_rotvec(np.random.default_rng(0).standard_normal((5, 3))).as_matrix()
    damping = math.exp(-(math.radians(4.0) ** 2))
    assert_allclose(render(scene, eye, rotations), damping * (weights @ rotations @ eye.positions.T), atol=1e-10)


def test_elliptic_optics_are_refused(make_scene, make_directions):
    with pytest.raises(ValueError, match="expected round ones"):
        make_scene().sample(make_directions(), np.tile(np.eye(3), (40, 1, 1)))


def test_optics_in_any_order_give_what_a_fresh_scene_gives(make_scene, make_directions):
    scene, directions = make_scene(), make_directions()
    first, other, again = (scene.sample(directions, sigma) for sigma in (1.0, 5.0, 1.0))
    assert_allclose(again, first, rtol=0, atol=0)
    assert_allclose(other, make_scene().sample(directions, 5.0), rtol=0, atol=1e-12)


def test_a_scene_survives_pickling(make_scene, make_directions, pickled):
    scene, directions = make_scene(depth=2.0), make_directions()
    assert_allclose(pickled(scene).sample(directions, 1.0), scene.sample(directions, 1.0), atol=1e-12)


# Noise


def standardized(seen, C):
    """Errors of second moments of Gaussian samples, about 0, by their standard deviations (Isserlis)."""
    deviation = np.sqrt((C**2 + np.outer(C.diagonal(), C.diagonal())) / len(seen))
    return (seen.T @ seen / len(seen) - C) / deviation


@pytest.mark.parametrize("sigma", [0.0, 6.0])
def test_noise_has_its_covariance(make_directions, sigma):
    directions = make_directions(30)
    directions[1::2] = directions[::2] + 0.2 * directions[1::2]  # some close together
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    seen = np.array([SphericalNoise(25.0, random_state=seed).sample(directions, sigma) for seed in range(400)])
    errors = standardized(seen, spherical_covariance(25.0, sigma)(directions[:, None] - directions))
    assert np.abs(errors).max() < 4.5
    assert np.mean(errors[np.triu_indices(30)] ** 2) < 1.5


def test_mean_energy_of_the_coefficients_is_the_spectrum():
    a = np.array([SphericalNoise(30.0, random_state=seed).coefficients for seed in range(1000)])
    ratio = np.exp(-np.arange(6) * (np.arange(6) + 1) * math.radians(30.0) ** 2 / 2)
    energy = (np.abs(a) ** 2).mean(axis=0)[:6, :6]
    expected = np.tril(np.broadcast_to(ratio[:, None] * energy[0, 0], (6, 6)))
    assert_allclose(energy, expected, rtol=0.25)
    assert not a[:, :, 0].imag.any()


@pytest.mark.parametrize("angle", [0.5, 3.0, 10.0])
def test_covariance_is_a_gaussian_at_small_angles_and_1_at_none(angle):
    angles = angle * np.array([0.0, 0.5, 1.0, 2.0])
    found = spherical_covariance(angle, 0.0)(along_the_horizon(angles) - along_the_horizon(0.0))
    assert_allclose(found[0], 1.0, rtol=1e-12)
    assert_allclose(found, np.exp(-(angles**2) / (2 * angle**2)), atol=0.3 * math.radians(angle) ** 2)


def test_covariance_is_positive_and_that_of_any_eye_turned():
    eye = Sphere.evenly(40)
    covariance = spherical_covariance(20.0, eye.sigma)
    C = covariance(eye.positions[:, None] - eye.positions)
    turned = eye.positions @ np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    assert np.linalg.eigvalsh(C)[0] > 0
    assert_allclose(covariance(turned[:, None] - turned), C, atol=1e-12)


def test_the_population_theory_of_a_turning_eye_takes_the_covariance():
    eye, motion, step, n_seeds = Sphere.evenly(12, sigma=10.0), Turn(20.0), np.array([[4.0, -3.0, 20.0]]), 300
    upright = np.eye(3, 4)[None]
    pairs = [stepped_pairs(SphericalNoise(40.0, random_state=k), eye, motion, upright, step) for k in range(n_seeds)]
    z = np.array([np.concatenate([p.before[0], p.after[0]]) for p in pairs])
    C = population(spherical_covariance(40.0, eye.sigma), eye, motion, whitening=None).frame_covariance(step[0])
    assert np.abs(standardized(z, C)).max() < 5  # the opposite turn: 9


@pytest.mark.parametrize("angle", [0.3, 0.0, -5.0, math.nan])
def test_a_correlation_angle_too_small_is_refused(angle):
    for make in (SphericalNoise, lambda a: spherical_covariance(a, 0.0)):
        with pytest.raises(ValueError, match=r"expected 0\.34 or more"):
            make(angle)


# Panoramas


@pytest.mark.parametrize("height", [1, 2, 7, 24])
def test_a_panorama_of_degree_below_its_height_is_that_scene(make_scene, height):
    scene = make_scene(height - 1)
    image = scene.sample(looked_at(height), 0.0)
    found = panorama(image)
    assert_allclose(found.coefficients, scene.coefficients, atol=1e-10)
    assert_allclose(found.sample(looked_at(height), 0.0), image, atol=1e-10)


def test_any_panorama_keeps_its_mean():
    """Fejer's weights integrate: the mean over the sphere is that of the rows by their solid angle."""
    image = np.random.default_rng(0).random((16, 32))
    edges = np.cos(np.arange(17) * math.pi / 16)
    mean = panorama(image).coefficients[0, 0].real / math.sqrt(4 * math.pi)
    assert mean == pytest.approx((edges[:-1] - edges[1:]) @ image.mean(axis=1) / 2, rel=0.01)


@pytest.mark.parametrize(
    ("row", "column", "direction"),
    [
        (16, 32, [1, 0, 0]),
        (16, 16, [0, 1, 0]),
        (16, 48, [0, -1, 0]),
        (16, 0, [-1, 0, 0]),
        (0, 5, [0, 0, 1]),
        (31, 40, [0, 0, -1]),
    ],
    ids=["ahead", "left", "right", "behind", "above", "below"],
)
def test_a_bright_pixel_is_seen_where_it_is(row, column, direction):
    image = np.zeros((32, 64))
    image[row, column] = 1.0
    eye = Sphere(np.concatenate([np.eye(3), -np.eye(3)]), sigma=10.0)
    frame = render(panorama(image), eye, np.eye(3)[None])[0]
    assert_allclose(eye.positions[frame.argmax()], direction)


def test_a_pixel_is_the_middle_of_its_row_and_column():
    image = np.zeros((32, 64))
    image[10, 20] = 1.0
    around = Sphere.evenly(20_000, sigma=5.0)
    brightest = around.positions[render(panorama(image), around, np.eye(3)[None])[0].argmax()]
    assert brightest @ looked_at(32)[10, 20] > math.cos(math.radians(1.0))


def test_turning_left_shows_what_was_on_the_left():
    image = np.zeros((32, 64))
    image[16, 16] = 1.0
    eye, scene = Sphere([[1.0, 0.0, 0.0]], sigma=10.0), panorama(image)
    pairs = stepped_pairs(scene, eye, Turn(90.0), np.eye(3, 4)[None], np.array([[0.0, 0.0, 90.0]]))
    assert pairs.names[2] == ("yaw left", "yaw right")
    assert pairs.after[0, 0] > 1e3 * abs(pairs.before[0, 0])


def test_colours_are_weighted_to_luminance_and_alpha_is_ignored():
    rgba = np.random.default_rng(0).integers(0, 256, (6, 12, 4), dtype=np.uint8)
    luminance = rgba[..., 0] * 0.299 + rgba[..., 1] * 0.587 + rgba[..., 2] * 0.114
    for image in (rgba, rgba[..., :3]):
        assert_allclose(panorama(image).coefficients, panorama(luminance).coefficients, atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 4), (8, 4), (4, 8, 2), (4, 8, 3, 1)])
def test_what_is_no_full_panorama_is_refused_with_its_shape(shape):
    with pytest.raises(ValueError, match="image has shape"):
        panorama(np.ones(shape))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_panorama_that_is_not_finite_is_refused(value):
    image = np.ones((4, 8))
    image[2, 3] = value
    with pytest.raises(ValueError, match="image has a NaN or infinite pixel"):
        panorama(image)


def assert_seen_without_rings(image):
    scene = panorama(image)
    pairs = sample_pairs(scene, Sphere.evenly(60), Turn(5.0), 200, random_state=0)
    log = LogIntensity().fit(pairs)
    assert pairs.before.min() > log.floor_ / 2
    assert np.mean(log.transform(pairs).after == 0) < 0.01
    assert pairs.before.mean() == pytest.approx(scene.coefficients[0, 0].real / math.sqrt(4 * math.pi), rel=0.2)


def test_a_fly_sees_no_rings_around_the_sun():
    """A disc of 2 degrees, 60,000 times as bright as the sky around it, over dark ground."""
    image = np.exp(0.5 * np.random.default_rng(0).standard_normal((256, 512)))
    image[128:] *= 0.1
    elevation, azimuth = np.meshgrid(np.linspace(90, -90, 256), np.arange(512) * 360 / 512, indexing="ij")
    image[np.hypot(elevation - 40, (azimuth - 100) * np.cos(np.radians(40))) < 1] = 6e4
    assert_seen_without_rings(image)


@pytest.mark.slow
def test_a_fly_sees_no_rings_around_the_sun_of_real_panoramas(real_panoramas):
    for image in real_panoramas:
        assert_seen_without_rings(image)


# Depth


def room(directions):
    """Distance of an ellipsoid, a bit off round."""
    return 1 / np.sqrt(directions**2 @ np.array([0.25, 0.3, 0.4]))


@pytest.mark.parametrize(("depth", "function"), [(2.0, lambda u: 2.0), (room, room)], ids=["ball", "room"])
def test_an_eye_sees_the_surface_where_its_ray_meets_it(make_directions, depth, function):
    """Brute force: the root of distance minus depth along the ray."""
    directions, position = make_directions(), np.array([0.5, -0.3, 0.2])

    def beyond(s, direction):
        point = position + s * direction
        distance = np.linalg.norm(point)
        return distance - function(point / distance)

    points = np.array([position + brentq(beyond, 0, 9, args=(d,), xtol=1e-14) * d for d in directions])
    seen = SphericalScene(np.ones((1, 1)), depth).toward(position, 3 * directions)
    assert_allclose(seen, points / np.linalg.norm(points, axis=1, keepdims=True), atol=1e-11)


def test_a_depth_that_is_a_function_is_as_good_as_a_number(make_directions):
    directions, positions = make_directions(), 0.4 * make_directions(seed=2)
    positions[0] = 0.0
    number = SphericalScene(np.ones((1, 1)), 1.5)
    function = SphericalScene(np.ones((1, 1)), lambda u: np.full(u.shape[:-1], 1.5))
    assert_allclose(function.toward(positions, directions), number.toward(positions, directions), atol=1e-12)


def test_an_eye_over_the_ground_sees_the_sky_stand_still(make_directions):
    def ground(directions):
        return np.divide(
            -1.0, directions[..., 2], out=np.full(directions.shape[:-1], math.inf), where=directions[..., 2] < 0
        )

    directions, position = make_directions(), np.array([0.2, 0.1, -0.3])
    down = directions[:, 2] < 0
    points = position + (-1.0 - position[2]) / directions[down, 2:] * directions[down]
    seen = SphericalScene(np.ones((1, 1)), ground).toward(position, directions)
    assert_allclose(seen[~down], directions[~down], atol=1e-12)
    assert_allclose(seen[down], points / np.linalg.norm(points, axis=1, keepdims=True), atol=1e-10)


@pytest.mark.parametrize("depth", [math.inf, 2.0, room])
def test_an_eye_at_the_origin_sees_any_surface_where_it_looks(make_directions, depth):
    directions = make_directions()
    assert_allclose(SphericalScene(np.ones((1, 1)), depth).toward(np.zeros(3), directions), directions, atol=1e-14)


def test_content_flows_as_longuet_higgins_and_prazdny_say(make_directions):
    eye, motion, depth = Sphere(make_directions(), sigma=5.0), SelfTranslation(1.0), 2.0
    step = 1e-5 * np.array([1.0, -2.0, 0.5])
    seen = SphericalScene(np.ones((1, 1)), depth).toward(step, eye.positions)
    flow = np.tensordot(step, motion.flow(eye.positions, depth), axes=1)  # of the content: the eye looks the other way
    assert_allclose(seen - eye.positions, -flow, atol=1e-9)


def test_a_step_forward_past_noise_is_a_view_from_there(make_scene):
    scene, eye = make_scene(depth=2.0), Sphere.evenly(30, sigma=5.0)
    step = np.array([[0.3, 0.0, 0.0]])
    pairs = stepped_pairs(scene, eye, SelfTranslation(0.5), np.eye(3, 4)[None], step)
    assert_allclose(pairs.after[0], scene.sample(scene.toward(step[0], eye.positions), 5.0), atol=1e-10)


@pytest.mark.parametrize(
    ("depth", "position"),
    [
        (1.0, 1.0),
        (1.0, 3.0),
        (math.inf, 0.1),
        (0.0, 0.0),
        (room, 2.1),
        (lambda u: 1 + 0.9 * np.sin(60 * u[..., 1]), 0.6),
    ],
    ids=["on", "outside", "infinitely far", "no depth", "outside a room", "rugged"],
)
def test_an_eye_where_it_cannot_be_is_refused(make_directions, depth, position):
    with pytest.raises(ValueError, match=r"expected|rugged"):
        SphericalScene(np.ones((1, 1)), depth).toward([position, 0.0, 0.0], make_directions())
