"""Operators of motion: their signs, their scores on matrices of known answer, and what they say of directions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.frames import FramePairs
from flymotion.generators import Generators, cosine, derivative_operator
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import outer_products
from flymotion.world import Sphere

ANGLES = [0, 90, 180, 270, 37, 123, 301]
SHAPES = [(5, 5), (3, 9), (8, 4)]


@pytest.fixture
def ramp():
    """Intensity that rises by 1 a pixel along an angle [deg]: content moving along it lowers every pixel."""

    def make(shape, angle):
        y, x = np.indices(shape)
        return np.cos(np.radians(angle)) * x - np.sin(np.radians(angle)) * y

    return make


def interior(image):
    return image[1:-1, 1:-1]


# The analytic operators


def test_content_moving_right_is_plus_one():
    """B05: the regression value of a hat that moves right by 1 pixel, where a transposed reshape gives the negative."""
    before, after = np.array([0.0, 1, 2, 1, 0]), np.array([0.0, 0, 1, 2, 1])
    A = derivative_operator((5,))
    change = after - before
    assert change @ A @ before / np.sum((A @ before) ** 2) == 1
    assert change @ A.T @ before == -2.5


@pytest.mark.parametrize("flip", [lambda b, a: (b[::-1], a[::-1]), lambda b, a: (a, b)], ids=["mirror", "time"])
def test_mirror_and_time_reversal_flip_the_sign_exactly(flip):
    A = derivative_operator((5,))
    frames = np.array([0.0, 1, 2, 1, 0]), np.array([0.0, 0, 1, 2, 1])
    forth, back = (outer_products(FramePairs(*(f[None] for f in pair))) for pair in (frames, flip(*frames)))
    assert forth.project(A[None]) > 0
    assert_array_equal(back.project(A[None]), -forth.project(A[None]))


@pytest.mark.parametrize("angle", ANGLES)
def test_derivative_operator_predicts_the_change_of_a_moving_ramp(ramp, angle):
    """Content rises along the angle and moves along it, so the image falls by 1; across it nothing changes."""
    A = derivative_operator((6, 7), angle)
    along, across = ((A @ ramp((6, 7), angle + turn).ravel()).reshape(6, 7) for turn in (0, 90))
    assert_allclose(interior(along), -1, atol=1e-12)
    assert_allclose(interior(across), 0, atol=1e-12)


def test_derivative_operator_reads_from_the_left_for_motion_to_the_right():
    A = derivative_operator((2, 3))
    assert A[1, 0] == 0.5 and A[1, 2] == -0.5  # the pixel to the left and to the right
    assert A[2, 3] == 0  # the next row is no neighbour
    assert derivative_operator((2, 3), 90)[0, 3] == 0.5  # content that moves up comes from the row below


@pytest.mark.parametrize("shape", [(5,), *SHAPES])
def test_derivative_operator_is_antisymmetric_and_odd_in_the_direction(shape):
    A = derivative_operator(shape)
    assert_array_equal(A, -A.T)
    assert_array_equal(derivative_operator(shape, 180), -A)


@pytest.mark.parametrize("angle", ANGLES)
def test_oblique_operators_mix_those_of_the_axes(angle):
    right, up = (derivative_operator((4, 6), a) for a in (0, 90))
    mixed = np.cos(np.radians(angle)) * right + np.sin(np.radians(angle)) * up
    assert_allclose(derivative_operator((4, 6), angle), mixed, atol=1e-15)


# Scores


def test_derivative_on_the_sphere_is_least_squares_over_the_tangent_plane():
    """Each pixel's gradient by a literal loop: what explains best how its neighbours differ, along the surface."""
    eye = Sphere.evenly(40)
    flow = np.cross([0.3, -0.5, 0.8], eye.positions)
    expected = np.zeros((40, 40))
    for i, here in enumerate(eye.positions):
        links = [link for link in eye.neighbours.tolist() if i in link]
        others = [a + b - i for a, b in links]
        along = np.array([(p := eye.positions[j] - here) - (p @ here) * here for j in others])
        weights = -flow[i] @ np.linalg.pinv(along, rcond=1e-9)
        expected[i, others] = weights
        expected[i, i] = -weights.sum()
    assert_allclose(derivative_operator(eye, flow), expected, atol=1e-10)


def test_cosine_of_known_matrices():
    A = derivative_operator((5,))
    both = np.stack([A, -3 * A, A.T, np.eye(5), A + np.eye(5) * np.sqrt(0.4), np.zeros((5, 5))])
    assert_allclose(cosine(both, A), [1, -1, -1, 0, np.sqrt(0.5), 0], atol=1e-12)
    assert_allclose(Generators(both, (5,)).cosines(A)[:, 0], cosine(both, A))
    assert Generators(both, (5,)).cosines(np.stack([A, A.T])).shape == (6, 2)


def test_antisymmetric_share_of_known_matrices():
    A = derivative_operator((5,))  # of energy 2, as the identity times the root of 0.4
    mixed = np.stack([A, np.eye(5), A + np.eye(5) * np.sqrt(0.4), np.zeros((5, 5))])
    assert_allclose(Generators(mixed, (5,)).antisymmetric_share(), [1, 0, 0.5, 0], atol=1e-12)


@pytest.mark.parametrize("shape", [(6,), (4, 5)])
def test_toeplitz_share_is_one_for_one_operator_everywhere(shape):
    A = derivative_operator(shape, 37)
    n = len(A)
    everywhere_other = np.diag((-1.0) ** np.arange(n))
    shares = Generators(np.stack([A, np.eye(n), np.zeros((n, n))]), shape).toeplitz_share()
    assert_allclose(shares, [1, 1, 0], atol=1e-12)
    assert Generators(everywhere_other[None], shape).toeplitz_share()[0] < 0.2


def test_toeplitz_share_of_a_row_that_differs():
    A = np.diag([9.0, 1, 1, 4, 9])  # within the border 1, 1, 4: their mean is 2
    assert Generators(A[None], (5,)).toeplitz_share()[0] == pytest.approx(3 * 2**2 / (1 + 1 + 16))


def test_locality_is_the_share_of_energy_among_neighbours():
    far = np.zeros((9, 9))
    far[4, 3], far[4, 8] = 3.0, 4.0  # one step left; one right and one down
    A = Generators(np.stack([far, derivative_operator((3, 3)), np.zeros((9, 9))]), (3, 3))
    assert_allclose(A.locality(), [9 / 25, 1, 0])
    assert_allclose(A.locality(np.sqrt(2)), [1, 1, 0])
    assert_allclose(A.locality(0.0), [0, 0, 0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("angle", ANGLES)
def test_directions_are_read_off_an_operator_on_frames_of_any_shape(shape, angle):
    rng = np.random.default_rng(0)
    symmetric = rng.normal(size=(np.prod(shape),) * 2)
    A = 0.1 * derivative_operator(shape, angle) + symmetric + symmetric.T
    error = Generators(A[None], shape).directions() - angle
    assert_allclose((error + 180) % 360 - 180, 0, atol=1e-9)


def test_directions_along_a_line_are_right_and_left():
    A = derivative_operator((7,))
    assert_array_equal(Generators(np.stack([A, -A]), (7,)).directions(), [0, 180])


# Pixels


def test_in_pixels_gives_the_same_output_on_raw_frames_as_on_whitened_ones():
    rng = np.random.default_rng(0)
    raw = FramePairs(*rng.normal(size=(2, 50, 6)) @ rng.normal(size=(6, 6)))
    raw = raw.map(lambda frames: frames - raw.before.mean(axis=0))
    whitening = ZCAWhitening().fit(raw)
    learned = Generators(rng.normal(size=(3, 6, 6)), (6,), whitening.matrix_)
    on_whitened = outer_products(whitening.transform(raw)).project(learned.operators)
    pixels = learned.in_pixels()
    assert_allclose(outer_products(raw).project(pixels.operators), on_whitened, rtol=1e-9, atol=1e-12)
    assert pixels.in_pixels() is pixels


def test_rows_are_images_of_the_weights_onto_one_pixel():
    A = Generators(np.arange(36.0).reshape(1, 6, 6), (2, 3))
    assert_array_equal(A.rows(1)[0], [[6, 7, 8], [9, 10, 11]])
    assert_array_equal(A.rows(), A.rows(4))


def test_the_middle_pixel_of_a_patch_of_the_sphere_is_that_nearest_to_its_mean_direction():
    azimuth = np.radians([-20.0, -10.0, 0.0, 10.0, 80.0])
    eye = Sphere(np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], axis=1))
    A = Generators(np.arange(25.0).reshape(1, 5, 5), eye)
    assert_array_equal(A.rows(), A.rows(3))  # the mean lies at 12 degrees


def test_some_generators_keep_shape_and_whitening():
    A = Generators(np.arange(12.0).reshape(3, 2, 2), (2,), np.eye(2))
    for some, expected in [(A[1], [1]), (A[1:], [1, 2]), (A[[2, 0]], [2, 0])]:
        assert_array_equal(some.operators, A.operators[expected])
        assert len(some) == len(expected) and some.shape == (2,) and some.whitening is A.whitening


@pytest.mark.parametrize("operators", [np.zeros((4, 4)), np.zeros((2, 4, 3)), np.zeros((1, 3, 3))])
def test_operators_that_do_not_fit_the_frames_are_refused(operators):
    with pytest.raises(ValueError, match=r"operators of shape .* for frames of \(2, 2\); expected \(K, 4, 4\)"):
        Generators(operators, (2, 2))


def test_a_margin_that_leaves_no_pixel_is_refused():
    with pytest.raises(ValueError, match=r"frames of \(3,\) have no pixel 2 away from the border"):
        Generators(np.zeros((1, 3, 3)), (3,)).toeplitz_share(margin=2)
