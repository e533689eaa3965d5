"""Eyes, scenes, motions and the one renderer: optics, covariances, signs and seeds, each against its formula."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import i0e

from flymotion.frames import FramePairs
from flymotion.world.conventions import unit_vector
from flymotion.world.eyes import FLY_SIGMA, Grid, Line, acceptance_sigma
from flymotion.world.motions import CARDINAL, Translation
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import Edge, ExponentialNoise, FourierScene, Grating, exponential_covariance, photograph


@pytest.fixture
def make_noise():
    """Noise of a short period, so that its modes are few."""
    periods = {1: 512.0, 2: 24.0}

    def make(ndim=1, *, length=3.0, seed=0, **how):
        return ExponentialNoise(length, ndim=ndim, **({"period": periods[ndim]} | how), random_state=seed)

    return make


@pytest.fixture
def make_image():
    """A smooth image, 0 to 1, with no symmetry."""

    def make(height=24, width=32):
        y, x = np.mgrid[:height, :width] / 6.0
        return 0.5 + 0.2 * np.sin(x + 0.3 * y) + 0.15 * np.cos(0.7 * y - 0.2 * x) + 0.1 * np.sin(0.5 * x * y / 4)

    return make


def gaussian(d, sigma):
    return math.exp(-d * d / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))


# Eyes


def test_a_flys_acceptance_width_is_0475_spacings():
    assert acceptance_sigma(5.7, 5.1) == FLY_SIGMA == pytest.approx(5.7 / 5.1 / 2.35482, rel=1e-5)


def test_acceptance_function_is_half_at_half_its_width():
    sigma = acceptance_sigma(3.0, 1.0)
    assert gaussian(1.5, sigma) / gaussian(0.0, sigma) == pytest.approx(0.5)


@pytest.mark.parametrize("angles", [(0, 5.1), (5.7, 0), (-1, 5.1), (math.nan, 5.1)])
def test_angles_that_are_not_positive_are_refused(angles):
    with pytest.raises(ValueError, match="positive"):
        acceptance_sigma(*angles)


@pytest.mark.parametrize("eye", [Line(7), Grid(4, 6), Grid(5, 5), Line(1)])
def test_an_eye_is_centred_with_unit_spacing(eye):
    assert eye.positions.shape == (math.prod(eye.shape), len(eye.shape))
    assert_allclose(eye.positions.mean(axis=0), 0, atol=1e-15)
    assert_allclose(np.ptp(eye.positions, axis=0), np.subtract(eye.shape[::-1], 1))


def test_pixels_of_a_grid_are_row_major_with_x_right_and_y_down():
    x, y = Grid(2, 3).positions.T.reshape(2, 2, 3)
    assert_array_equal(x, [[-1, 0, 1]] * 2)
    assert_array_equal(y, [[-0.5] * 3, [0.5] * 3])


@pytest.mark.parametrize("make", [lambda: Line(0), lambda: Line(2.5), lambda: Grid(3, -1), lambda: Grid(0, 3)])
def test_an_eye_without_pixels_is_refused(make):
    with pytest.raises(ValueError, match="positive whole numbers"):
        make()


@pytest.mark.parametrize("sigma", [-0.1, math.inf, math.nan])
def test_impossible_optics_are_refused(sigma):
    with pytest.raises(ValueError, match="sigma is"):
        Grid(3, 3, sigma=sigma)


# Conventions


@pytest.mark.parametrize(
    ("angle", "vector"), [(0, [1, 0]), (90, [0, -1]), (180, [-1, 0]), (270, [0, 1]), (45, [0.5**0.5, -(0.5**0.5)])]
)
def test_0_degrees_is_right_and_90_up(angle, vector):
    assert_allclose(unit_vector(angle), vector, rtol=1e-12, atol=0)
    assert_array_equal(unit_vector(angle, 1), unit_vector(angle)[:1])


@pytest.mark.parametrize("shift", [1, 3, -2])
def test_content_that_moves_right_by_whole_pixels_rolls_to_larger_index(make_noise, shift):
    scene = make_noise(period=16.0)
    before, after = render(scene, Line(16), [[5.3], [5.3 - shift]])
    assert_allclose(after, np.roll(before, shift), atol=1e-12)


@pytest.mark.parametrize(("dx", "dy"), [(1, 0), (0, 1), (-2, 3)])
def test_content_that_moves_right_and_down_rolls_columns_and_rows(make_noise, dx, dy):
    scene = make_noise(2, period=8.0)
    place = np.array([2.2, 6.7])
    before, after = render(scene, Grid(8, 8), [place, place - [dx, dy]])
    assert_allclose(after, np.roll(before, (dy, dx), axis=(0, 1)), atol=1e-12)


@pytest.mark.parametrize(
    ("angle", "rolled", "axis"),
    [(0, 1, 1), (90, -1, 0), (180, -1, 1), (270, 1, 0)],
    ids=["right", "up", "left", "down"],
)
def test_a_translation_moves_content_where_its_angle_says(make_noise, angle, rolled, axis):
    scene = make_noise(2, period=8.0)
    pairs = sample_pairs(scene, Grid(8, 8), Translation(1.0, 1.0, (angle,)), 2, random_state=0)
    assert_allclose(pairs.after, np.roll(pairs.before, rolled, axis=axis + 1), atol=1e-12)
    assert_array_equal(pairs.motion, [unit_vector(angle)] * 2)


def test_right_is_positive_motion_in_one_dimension(make_noise):
    pairs = sample_pairs(make_noise(period=16.0), Line(16), Translation(1.0, 1.0, (0.0,), ndim=1), 2, random_state=0)
    assert_array_equal(pairs.motion, [[1.0], [1.0]])
    assert_allclose(pairs.after, np.roll(pairs.before, 1, axis=1), atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 35.0, 90.0, 215.0])
def test_motion_is_the_phase_that_registers_a_grating(angle):
    wavelength, motion = 9.0, Translation(2.0, angles=(0.0, 90.0, 180.0, 270.0))
    scene = Grating(wavelength, direction=angle, ndim=2)
    sine = Grating(wavelength, direction=angle, ndim=2, phase=-math.pi / 2)
    eye = Grid(1, 1, sigma=0)
    cosines, sines = (sample_pairs(s, eye, motion, 50, random_state=3) for s in (scene, sine))
    phase_before, phase_after = (
        np.arctan2(getattr(sines, f).ravel(), getattr(cosines, f).ravel()) for f in ("before", "after")
    )
    advanced = np.angle(np.exp(1j * (phase_before - phase_after))) * wavelength / (2 * math.pi)
    assert_allclose(advanced, cosines.motion @ unit_vector(angle), atol=1e-9)


def test_mirrored_scene_gives_mirrored_frames():
    image = np.random.default_rng(0).random((12, 17))
    eye, places = Grid(5, 6), np.array([[4.0, 3.1], [3.7, 2.8]])
    mirrored = [image.shape[1] / 2, 0] + [-1, 1] * places
    frames = render(photograph(image), eye, places)
    assert_allclose(render(photograph(image[:, ::-1]), eye, mirrored), frames[:, :, ::-1], atol=1e-12)


def test_a_point_up_and_right_lands_in_row_0_and_the_last_column():
    image = np.zeros((4, 6))
    image[0, 5] = 1.0
    frame = render(photograph(image, pixels_per_spacing=1.0), Grid(4, 6, sigma=0.3), [[3.0, 2.0]])[0]
    assert np.unravel_index(frame.argmax(), frame.shape) == (0, 5)


def test_an_edge_rises_along_its_angle():
    frame = render(Edge(direction=90.0, ndim=2), Grid(5, 5, sigma=0.5), [[0.0, 0.0]])[0]
    assert (np.diff(frame[:, 2]) < 0).all()
    assert_allclose(np.diff(frame, axis=1), 0, atol=1e-12)


# Optics: closed forms against quadrature


@pytest.mark.parametrize("sigma", [0.3, 0.475, 0.8])
@pytest.mark.parametrize(
    "scene", [Grating(5.0, 0.7, 0.0, 0.4, 1.0), Edge(0.3, 2.0), Edge(-0.2, -1.0)], ids=["grating", "ON", "OFF"]
)
def test_scene_through_optics_is_its_blur_with_the_acceptance_function(scene, sigma):
    def seen(x):
        return scene.sample(np.array([x]), 0.0)

    def blurred(x):
        return quad(lambda d: float(seen(x + d)) * gaussian(d, sigma), -8, 8, points=[-x + 0.3, -x - 0.2], limit=200)[0]

    points = np.array([[-1.3], [0.0], [0.9]])
    assert_allclose(scene.sample(points, sigma), [blurred(x) for x in points[:, 0]], atol=1e-8)


def test_an_edge_seen_sharply_is_a_step():
    assert_array_equal(Edge(1.0, 2.0).sample(np.array([[0.5], [1.0], [1.5]]), 0.0), [-1, 0, 1])


def test_a_line_of_pixels_sees_a_grating_through_its_phase_and_mean():
    frame = render(Grating(4.0, 0.5, phase=math.pi / 2, mean=1.0), Line(4, sigma=0), [[1.5]])[0]
    assert_allclose(frame, [1.0, 0.5, 1.0, 1.5], atol=1e-12)


@pytest.mark.parametrize("pixels_per_spacing", [1.0, 2.0])
def test_photograph_is_exact_at_its_own_pixel_centres(pixels_per_spacing):
    image = np.random.default_rng(0).random((9, 14))
    y, x = (np.indices(image.shape) + 0.5) / pixels_per_spacing
    values = photograph(image, pixels_per_spacing=pixels_per_spacing).sample(np.stack([x, y], axis=-1), 0.0)
    assert_allclose(values, image, atol=1e-9)


def test_a_row_of_pixels_is_a_photograph_of_one_dimension():
    row = np.random.default_rng(0).random(14)
    scene = photograph(row)
    assert_allclose(scene.sample((np.arange(14)[:, None] + 0.5) / 2, 0.0), row, atol=1e-9)
    assert_array_equal(scene.extent, [[0, 7]])


@pytest.mark.parametrize("shape", [(6,), (6, 8), (6, 8, 3)])
def test_a_masked_image_is_refused_rather_than_unmasked(shape):
    with pytest.raises(ValueError, match="masked"):
        photograph(np.ma.array(np.ones(shape), mask=np.ones(shape)))


def test_photograph_through_optics_is_the_gaussian_blur_of_a_smooth_image(make_image):
    image, sigma, p = make_image(), 0.8, 2.0
    y, x = (np.indices(image.shape) + 0.5) / p
    points = np.array([[7.3, 5.1], [8.0, 6.4]])
    weights = np.exp(-((points[:, 0, None, None] - x) ** 2 + (points[:, 1, None, None] - y) ** 2) / (2 * sigma**2))
    explicit = (weights * image).sum(axis=(1, 2)) / (2 * math.pi * sigma**2 * p**2)  # a Riemann sum, exact here
    assert_allclose(photograph(image, pixels_per_spacing=p).sample(points, sigma), explicit, atol=1e-6)


def test_photograph_is_mirrored_at_its_borders(make_image):
    scene = photograph(make_image())
    inside = np.array([[0.4, 5.0], [6.0, 0.7]])
    outside = np.array([[-0.4, 5.0], [6.0, -0.7]])
    assert_allclose(scene.sample(outside, 0.5), scene.sample(inside, 0.5), atol=1e-11)


def test_colours_are_weighted_to_luminance_and_alpha_is_ignored():
    rgba = np.random.default_rng(0).integers(0, 256, (6, 8, 4), dtype=np.uint8)
    luminance = rgba[..., 0] * 0.299 + rgba[..., 1] * 0.587 + rgba[..., 2] * 0.114
    for image in (rgba, rgba[..., :3]):
        assert_allclose(photograph(image).modes, photograph(luminance).modes, atol=1e-12)


@pytest.mark.parametrize("image", [np.ones((4, 4, 2)), np.ones((2, 4, 4, 3))])
def test_what_is_no_image_is_refused_with_its_shape(image):
    with pytest.raises(ValueError, match="image has shape"):
        photograph(image)


@pytest.mark.parametrize(("shape", "period"), [((5,), (6.0,)), ((3, 5), (6.0, 4.0))])  # modes (y, x), period (x, y)
def test_fourier_scene_is_the_sum_of_its_modes(shape, period):
    ndim = len(shape)
    rng = np.random.default_rng(0)
    half = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    modes = half + np.conj(np.flip(half))
    points, sigma = rng.uniform(-9, 9, (4, ndim)), 0.3
    literal = np.zeros(4)
    for index in np.ndindex(shape):
        k = (np.array(index) - np.array(shape) // 2)[::-1]
        omega = 2 * math.pi * k / period
        literal += (modes[index] * np.exp(1j * points @ omega - sigma**2 * omega @ omega / 2)).real
    scene = FourierScene(modes, period, np.zeros((ndim, 2)))
    assert_allclose(scene.sample(points, sigma), literal, atol=1e-10)


# Noise


@pytest.mark.parametrize("length", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("sigma", [0.01, 0.3, 0.8, 3.0])
def test_covariance_on_a_line_is_the_exponential_blurred_by_both_pixels(length, sigma):
    def blurred(d):
        spread = math.sqrt(2) * sigma
        top = abs(d) + 12 * spread

        def integrand(s):
            return math.exp(-abs(s) / length) * gaussian(d - s, spread)

        pieces = sorted({-top, 0.0, d - 3 * spread, d, d + 3 * spread, top})
        return sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-11)[0] for a, b in pairwise(pieces))

    distances = np.array([0.0, 0.25, 1.0, 4.0, 30.0])
    found = exponential_covariance(length, sigma)(distances[:, None])
    assert_allclose(found, [blurred(d) for d in distances], rtol=1e-9, atol=1e-12)
    assert_array_equal(found, exponential_covariance(length, sigma)(-distances[:, None]))


@pytest.mark.parametrize("length", [0.5, 3.0, 10.0])
@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.3, 0.8, 2.0])
def test_covariance_in_the_plane_is_the_exponential_blurred_by_both_pixels(length, sigma):
    def blurred(r):
        v = max(2 * sigma**2, 1e-12)  # of the two acceptance functions together
        reach = 10 * math.sqrt(v)

        def integrand(q):
            return q / v * math.exp(-q / length - (q - r) ** 2 / (2 * v)) * i0e(q * r / v)

        pieces = [max(0.0, r - reach), r, r + reach]
        return sum(quad(integrand, a, b, epsabs=1e-12)[0] for a, b in pairwise(pieces))

    distances = np.array([0.5, 1.0, 4.0, 20.0])
    found = exponential_covariance(length, sigma, ndim=2)(distances[:, None] * [0.6, 0.8])
    assert_allclose(found, [blurred(r) for r in distances], rtol=0, atol=1e-9)


def test_covariance_in_the_plane_is_isotropic_and_positive_definite():
    positions = Grid(5, 5).positions
    C = exponential_covariance(3.0, 0.475, ndim=2)(positions[:, None] - positions)
    assert_allclose(C, C.T, atol=1e-15)
    assert_allclose(C.reshape([5] * 4).transpose(1, 0, 3, 2).reshape(25, 25), C, atol=1e-15)
    assert np.linalg.eigvalsh(C)[0] > 0


@pytest.mark.parametrize("ndim", [1, 2])
def test_covariance_before_the_optics_is_exactly_exponential(ndim):
    d = np.array([[0.0] * ndim, [1.0] + [0.0] * (ndim - 1), [6.0] + [0.0] * (ndim - 1)])
    assert_allclose(exponential_covariance(3.0, 0.0, ndim)(d), np.exp(-d[:, 0] / 3.0), atol=1e-8)


@pytest.mark.parametrize("ndim", [1, 2])
def test_mean_energy_of_the_modes_is_the_covariance(make_noise, ndim):
    """Wiener-Khinchin: the transform of the modes' variance, summed over the period, is the covariance."""
    sigma, seeds = 0.5, range(400 // ndim**4)
    scenes = [make_noise(ndim, length=1.0, sharpest=0.5, period=20.0, seed=seed) for seed in seeds]
    power = FourierScene(np.mean([np.abs(s.modes) ** 2 for s in scenes], axis=0).astype(complex), (20.0,) * ndim, None)
    d = np.zeros((4, ndim))
    d[:, 0] = [0.0, 0.5, 1.0, 2.0]
    expected = exponential_covariance(1.0, sigma, ndim)(d)
    assert_allclose(power.sample(d, math.sqrt(2) * sigma), expected, atol=0.03)


@pytest.mark.parametrize(("eye", "period"), [(Line(7, sigma=0.8), 4096.0), (Grid(3, 3, sigma=0.475), 80.0)])
def test_covariance_of_rendered_noise_is_the_closed_form(eye, period):
    rng, ndim = np.random.default_rng(0), len(eye.shape)
    scenes = [ExponentialNoise(1.5, ndim=ndim, period=period, random_state=rng) for _ in range(4)]
    frames = np.concatenate([render(scene, eye, rng.uniform(0, period, (10_000, ndim))) for scene in scenes])
    flat = frames.reshape(len(frames), -1)
    expected = exponential_covariance(1.5, eye.sigma, ndim)(eye.positions[:, None] - eye.positions)
    assert_allclose(flat.T @ flat / len(flat), expected, atol=0.06)


@pytest.mark.parametrize(
    ("ndim", "beyond", "n_scenes"),
    [(1, lambda top: 1 - 2 / math.pi * math.atan(top), 200), (2, lambda top: 1 / top, 6)],
)
def test_noise_has_unit_variance_before_the_optics(make_noise, ndim, beyond, n_scenes):
    """Parseval: the variance over one period is the energy of the modes; those beyond the series hold the rest."""
    scenes = [make_noise(ndim, period=64.0, seed=seed) for seed in range(n_scenes)]
    energy = np.mean([(np.abs(scene.modes) ** 2).sum() for scene in scenes])
    assert energy == pytest.approx(1 - beyond(8.6 / 0.3 * 3.0), abs=0.05)


def test_noise_is_real_and_the_same_one_period_on(make_noise):
    scene = make_noise(2)
    points = np.random.default_rng(0).uniform(0, 24, (20, 2))
    assert_allclose(scene.modes, np.conj(np.flip(scene.modes)), atol=1e-15)
    assert_allclose(scene.sample(points + np.array([24.0, -48.0]), 0.5), scene.sample(points, 0.5), atol=1e-10)


def test_finer_noise_than_the_eye_needs_looks_the_same():
    """Modes beyond 8.6 / sigma are damped to 1e-16, so the series may end there."""
    coarse, fine = (ExponentialNoise(3.0, period=64.0, sharpest=s, random_state=0) for s in (0.5, 0.25))
    kept = len(fine.modes) // 2 - len(coarse.modes) // 2
    shorter = FourierScene(fine.modes[kept:-kept], fine.period, fine.extent)
    points = np.linspace(0, 64, 50)[:, None]
    assert_allclose(shorter.sample(points, 0.5), fine.sample(points, 0.5), atol=1e-12)


@pytest.mark.parametrize("sigma", [0.0, 0.29])
def test_noise_refuses_optics_that_are_sharper_than_its_series(make_noise, sigma):
    with pytest.raises(ValueError, match=rf"sigma is {sigma} .* drawn for 0.3"):
        render(make_noise(), Line(5, sigma=sigma), [[0.0]])


@pytest.mark.parametrize(("length", "ndim"), [(0.0, 1), (-1.0, 2), (3.0, 3)])
def test_impossible_noise_is_refused(length, ndim):
    with pytest.raises(ValueError, match=r"expected a positive, finite number, from 1e-50|expected 1 or 2 dimensions"):
        ExponentialNoise(length, ndim=ndim)


def test_noise_survives_pickling(make_noise, pickled):
    scene, points = make_noise(), np.linspace(0, 9, 7)[:, None]
    assert_array_equal(pickled(scene).sample(points, 0.5), scene.sample(points, 0.5))


# Motions


@pytest.mark.parametrize("ndim", [1, 2])
def test_steps_are_uniform_and_directions_equally_likely(ndim):
    motion = Translation(0.5, 0.1, ndim=ndim)
    steps = motion.steps(8000, np.random.default_rng(0))
    sizes = np.linalg.norm(steps, axis=1)
    assert (sizes.min() >= 0.1, sizes.max() <= 0.5) == (True, True)
    assert sizes.mean() == pytest.approx(0.3, abs=0.01)
    along = (steps @ motion.ways.T > 0.05).mean(axis=0)
    assert_allclose(along, 1 / len(motion.ways), atol=0.03)


def test_only_right_and_left_are_left_on_a_line():
    assert_array_equal(Translation(0.5, ndim=1).ways, [[1.0], [-1.0]])


def test_four_cardinal_directions_move_along_one_axis_each():
    steps = Translation(0.5, angles=CARDINAL).steps(100, np.random.default_rng(0))
    assert_array_equal((steps != 0).sum(axis=1), np.ones(100))


@pytest.mark.parametrize("motion", [Translation(0.5, ndim=1), Translation(0.9, 0.2, (0.0, 45.0, 90.0))])
def test_quadrature_has_the_moments_of_the_steps(motion):
    steps, weights = motion.quadrature()
    drawn = motion.steps(200_000, np.random.default_rng(0))
    assert weights.sum() == pytest.approx(1)
    assert_allclose(weights @ steps, drawn.mean(axis=0), atol=0.005)
    assert_allclose((steps * weights[:, None]).T @ steps, drawn.T @ drawn / len(drawn), atol=0.005)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"max_shift": -1.0}, "0 <= min <= max"),
        ({"max_shift": 0.1, "min_shift": 0.2}, "0 <= min <= max"),
        ({"max_shift": math.inf}, "0 <= min <= max"),
        ({"max_shift": math.nan}, "0 <= min <= max"),
        ({"max_shift": 1.0, "angles": ()}, "no direction"),
        ({"max_shift": 1.0, "angles": (90.0,), "ndim": 1}, "no direction"),
    ],
)
def test_impossible_motions_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        Translation(**how)


# Rendering and drawing pairs


def test_a_movie_is_its_frames_one_by_one(make_noise):
    scene, eye, poses = make_noise(2), Grid(3, 4), np.random.default_rng(0).uniform(0, 24, (5, 2))
    movie = render(scene, eye, poses)
    assert movie.shape == (5, 3, 4)
    assert_allclose(movie, np.concatenate([render(scene, eye, pose[None]) for pose in poses]), atol=1e-11)


@pytest.mark.parametrize(
    ("eye", "poses"), [(Line(5), [[0.0, 0.0]]), (Grid(3, 3), [[0.0]]), (Line(5), [0.0]), (Grid(3, 3), [[0.0, 0.0]])]
)
def test_different_dimensions_are_refused_and_named(eye, poses):
    with pytest.raises(ValueError, match=r"poses of shape .* a scene of 1 dimension"):
        render(Grating(4.0), eye, poses)


def test_a_motion_of_other_dimensions_than_the_scene_is_refused():
    with pytest.raises(ValueError, match=r"motion of 2 dimension.* scene of 1"):
        sample_pairs(Grating(4.0), Line(5), Translation(0.5), 3)


def test_pairs_stay_inside_a_photograph(make_image):
    scene, eye = photograph(make_image()), Grid(5, 5)
    seen = []

    class Watched(FourierScene):
        def sample(self, points, sigma):
            seen.append(points)
            return super().sample(points, sigma)

    watched = Watched(scene.modes, scene.period, scene.extent, scene.wraps)
    sample_pairs(watched, eye, Translation(0.1), 500, random_state=0)
    points = np.concatenate(seen).reshape(-1, 2)
    assert (points.min(axis=0) >= scene.extent[:, 0]).all()
    assert (points.max(axis=0) <= scene.extent[:, 1]).all()
    assert_allclose(np.ptp(points, axis=0), np.ptp(scene.extent, axis=1), atol=0.5)


def test_an_eye_larger_than_the_photograph_is_refused(make_image):
    with pytest.raises(ValueError, match=r"\[16\. 12\.\] pixel spacings does not hold the eye"):
        sample_pairs(photograph(make_image()), Grid(13, 5), Translation(0.1), 3, random_state=0)


@pytest.mark.parametrize(
    "make_state",
    [lambda: 7, lambda: np.int64(7), lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)],
    ids=["int", "int64", "Generator", "RandomState"],
)
def test_the_same_random_state_gives_the_same_pairs(make_noise, make_state):
    a, b = (
        sample_pairs(make_noise(seed=make_state()), Line(5), Translation(0.5, ndim=1), 9, make_state())
        for _ in range(2)
    )
    assert isinstance(a, FramePairs)
    for field in ("before", "after", "motion"):
        assert_array_equal(getattr(a, field), getattr(b, field))


@pytest.mark.parametrize("make_state", [np.random.default_rng, np.random.RandomState], ids=["Generator", "RandomState"])
def test_a_generator_moves_on(make_noise, make_state):
    state = make_state(7)
    a, b = (sample_pairs(make_noise(), Line(5), Translation(0.5, ndim=1), 9, state) for _ in range(2))
    assert (a.before != b.before).all()


def test_without_a_seed_every_draw_is_new_and_the_global_stream_is_left_alone(make_noise):
    kept = np.random.get_state()[1].copy()  # noqa: NPY002
    a, b = (sample_pairs(make_noise(seed=None), Line(5), Translation(0.5, ndim=1), 9) for _ in range(2))
    assert (a.before != b.before).all()
    assert_array_equal(np.random.get_state()[1], kept)  # noqa: NPY002


def test_a_still_scene_gives_equal_frames(make_noise):
    pairs = sample_pairs(make_noise(), Line(5), Translation(0.0, ndim=1), 9, random_state=0)
    assert_array_equal(pairs.before, pairs.after)
    assert_array_equal(pairs.motion, np.zeros((9, 1)))


def test_a_series_of_real_numbers_is_one_of_complex_ones():
    points = np.linspace(0, 8, 20)[:, None]
    real, same = (
        FourierScene(np.array([0.5, 0, 0.5], kind), (8.0,), np.array([[0.0, 8.0]])) for kind in (float, complex)
    )
    assert_allclose(real.sample(points, 0.3), same.sample(points, 0.3))
