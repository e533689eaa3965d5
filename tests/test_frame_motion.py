"""Translation, rotation and looming of the whole frame."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.ndimage import affine_transform, gaussian_filter
from sklearn.datasets import load_sample_image

from flymotion.field import MotionField
from flymotion.field.frame_motion import UNKNOWN, global_motion

SHAPE = (90, 160)
MOTION = (1.5, -2.0, 0.3, 0.004)
LARGE = (-20.0, 13.0, -10.0, 0.1)


def places(shape=SHAPE):
    return np.mgrid[: shape[0], : shape[1]] - (np.array(shape)[:, None, None] - 1) / 2


def flow(x, y, rotation, looming, shape=SHAPE, focal=np.inf):
    """The velocity of what is at each pixel before: of a similarity, and of a camera that yaws and pitches."""
    down, right = places(shape)
    p, t, to = right + 1j * down, x + 1j * y, (1 + looming) * np.exp(-1j * np.radians(rotation))
    v = to * (p + t / 2) + t / 2 - p
    for _ in range(30 * (focal < np.inf)):
        z = p + v / 2
        v = t + (x * z.real + y * z.imag) / focal**2 * z
    return np.stack([v.real, v.imag]).astype(np.float32)


@pytest.mark.parametrize(
    "motion", [MOTION, (0.0, 0.0, 0.0, 0.0), (0.01, 0.0, 0.0, 0.0), (-7.0, 3.0, -2.0, -0.05), LARGE]
)
@pytest.mark.parametrize("shape", [SHAPE, (91, 57), (720, 1280)])
def test_an_exact_flow_is_found_whatever_the_confidence(motion, shape):
    confidence = np.random.default_rng(0).uniform(0, 1, shape)
    found = global_motion(flow(*motion, shape), confidence)
    assert_allclose(found[:4], motion, atol=1e-5)
    assert found.support == 1


@pytest.mark.parametrize("spacing", [2, 4, 8])
@pytest.mark.parametrize("shape", [(63, 127), (91, 157)])
def test_velocities_of_every_few_pixels_are_those_of_the_frame(spacing, shape):
    """Of the frame's centre, whatever rows and columns are left over."""
    height, width = (side // spacing * spacing for side in shape)
    blocks = flow(*MOTION, shape)[:, :height, :width].reshape(2, height // spacing, spacing, -1, spacing)
    found = global_motion(blocks.mean(axis=(2, 4)), np.ones(blocks.shape[1:4:2]), shape=shape)
    assert_allclose(found[:4], MOTION, atol=1e-5)


def test_midway_a_camera_that_yaws_has_neither_rotation_nor_looming():
    down, right = places()
    focal, yaw = 100.0, np.radians(12)
    frames = [
        np.stack([focal * (focal * np.sin(turn) + right * np.cos(turn)), focal * down])
        / (focal * np.cos(turn) - right * np.sin(turn))
        for turn in (0.0, yaw)
    ]
    found = global_motion((frames[1] - frames[0]).astype(np.float32), np.ones(SHAPE))
    assert_allclose(found.x, 2 * focal * np.tan(yaw / 2), rtol=0.005)
    assert_allclose(found[1:4], 0, atol=0.02)


def test_signs_are_those_seen():
    right, bottom = (45, 159), (89, 80)
    counter_clockwise, nearer = flow(0, 0, 1.0, 0), flow(0, 0, 0, 0.01)
    assert counter_clockwise[1][right] < 0 < counter_clockwise[0][bottom]  # right goes up, the bottom goes right
    assert nearer[0][right] > 0 and nearer[1][bottom] > 0
    assert global_motion(counter_clockwise, np.ones(SHAPE)).rotation > 0.99
    assert global_motion(nearer, np.ones(SHAPE)).looming > 0.0099


def textured(share, seed=0):
    """Confidence of blotches on nothing; and where something else is, over so much of them."""
    confidence = np.abs(gaussian_filter(np.random.default_rng(seed).standard_normal(SHAPE), 4))
    confidence = np.clip(4 * confidence / confidence.max() - 0.5, 0, 1)
    confidence[confidence < 0.3] = 0
    other = np.cumsum((confidence > 0).sum(axis=0)) < share * (confidence > 0).sum()
    return confidence, np.broadcast_to(other, SHAPE)


def noise(size, seed=0):
    """Noise of velocities whose windows overlap."""
    rough = gaussian_filter(np.random.default_rng(seed).standard_normal((2, *SHAPE)), (0, 2, 2))
    return (size * rough / rough.std()).astype(np.float32)


@pytest.mark.parametrize("rough", [0.02, 0.3])
@pytest.mark.parametrize("motion", [(0.0, 0.0, 0.0, 0.0), (0.2, -0.1, 0.0, 0.0), MOTION, LARGE])
@pytest.mark.parametrize("share", [0.3, 0.45])
@pytest.mark.parametrize("seed", range(2))
def test_what_has_less_than_half_of_the_texture_has_no_say(share, motion, rough, seed):
    confidence, other = textured(share, seed)
    its = np.random.default_rng(seed).normal((12, 0), 8)
    velocity = np.where(other, its[:, None, None], flow(*motion)) + noise(rough, seed)
    found = global_motion(velocity, confidence)
    assert_allclose(found[:2], motion[:2], atol=0.01 + rough)
    assert_allclose(found[2:4], motion[2:], atol=0.01 + rough)
    assert_allclose(found.support, 1 - share, atol=0.1)


def test_strong_texture_does_not_outvote_more_that_is_weak():
    confidence, other = np.full(SHAPE, 0.2), np.zeros(SHAPE, dtype=bool)
    other[:, : 3 * SHAPE[1] // 10] = True
    confidence[other] = 1.0
    velocity = np.where(other, np.array([12.0, 5.0])[:, None, None], 0) + noise(0.05)
    found = global_motion(velocity, confidence)
    assert_allclose(found[:2], 0, atol=0.05)
    assert_allclose(found.support, 0.62, atol=0.02)  # of votes of 0.64 and 0.98


@pytest.mark.parametrize("rough", [0.0, 0.05])
def test_a_fixed_camera_rests_where_two_lanes_pass(rough):
    confidence, velocity = np.full(SHAPE, 0.4), np.zeros((2, *SHAPE))
    for rows, speed in ((slice(10, 35), 9.0), (slice(55, 80), -7.0)):
        for left in range(0, SHAPE[1], 40):
            car = (rows, slice(left, left + 24))
            velocity[0][car], confidence[car] = speed + left / 80, 1.0
    found = global_motion(velocity + noise(rough), confidence)
    assert_allclose(found[:4], 0, atol=rough + 1e-12)


@pytest.mark.parametrize("focal", [70, 140])
@pytest.mark.parametrize("size", [0.5, 5, 20])
def test_perspective_of_a_turning_camera_is_no_translation(size, focal):
    velocity, (confidence, _) = flow(size, -size / 2, 0, 0, focal=focal), textured(0)
    found = global_motion(velocity + noise(0.02), confidence)
    assert_allclose((found[0] / size, found[1] / size), (1, -0.5), atol=0.03)
    assert_allclose(found[2:4], 0, atol=0.02)


def test_what_has_no_error_does_not_count_and_what_has_little_counts_most():
    velocity, error = np.broadcast_to(flow(*MOTION), (2, *SHAPE)).copy(), np.full(SHAPE, 0.02, np.float32)
    velocity[:, :, :100], error[:, :100] = 0, np.nan
    assert_allclose(global_motion(velocity, np.ones(SHAPE), error)[:4], MOTION, atol=1e-5)
    velocity, error = flow(0.5, 0, 0, 0), np.full(SHAPE, 0.02, np.float32)
    velocity[0, ::2], error[::2] = 0.7, 1.0
    unlike = np.abs(global_motion(velocity, np.ones(SHAPE), error).x - 0.5)
    assert unlike < 0.02 < np.abs(global_motion(velocity, np.ones(SHAPE)).x - 0.5)


def test_only_its_own_frame_counts():
    velocity, (confidence, _) = flow(*MOTION) + noise(0.1), textured(0)
    first = global_motion(velocity, confidence)
    global_motion(flow(*LARGE), np.ones(SHAPE))
    assert global_motion(velocity, confidence) == first


def test_what_is_not_confident_does_not_count():
    velocity, confidence = flow(*MOTION), np.ones(SHAPE)
    velocity[:, :60] = 0
    confidence[:60] = 0
    assert_allclose(global_motion(velocity, confidence)[:4], MOTION, atol=1e-5)


def test_a_frame_without_texture_tells_nothing():
    assert global_motion(flow(*MOTION), np.zeros(SHAPE)) is UNKNOWN
    assert np.isnan(UNKNOWN[:4]).all() and UNKNOWN.support == 0


def test_a_small_spot_tells_translation_only():
    confidence = np.zeros(SHAPE)
    confidence[40:46, 76:82] = 1
    found = global_motion(flow(1.0, 2.0, 0, 0), confidence)
    assert_allclose(found[:2], (1, 2), atol=1e-5)
    assert np.isnan(found[2:4]).all()


def moved(image, x, y, rotation, looming):
    """Content after half a shift, a motion about the centre, and the other half: pixels show where they came from."""
    turn, half = np.radians(rotation), np.array([y, x]) / 2
    forth = (1 + looming) * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])  # of (down, right)
    back, middle = np.linalg.inv(forth), (np.array(image.shape) - 1) / 2
    return affine_transform(image, back, middle - half - back @ (middle + half), order=3, mode="nearest")


@pytest.mark.parametrize("motion", [(0.4, -0.3, 0.0, 0.0), (0, 0, 0.3, 0), (0.5, 0.2, -0.2, -0.003)])
@pytest.mark.parametrize("name", ["china.jpg", "flower.jpg"])
def test_known_motion_of_photographs_is_measured(motion, name):
    assert_allclose((measured(name, motion) - motion) / [0.02, 0.02, 0.01, 0.0001], 0, atol=1)


@pytest.mark.parametrize("motion", [(20.0, -12.0, 0.0, 0.0), (0, 0, 5.0, 0), (8.0, 5.0, -3.0, 0.03), (0, 0, 0, -0.05)])
@pytest.mark.parametrize("name", ["china.jpg", "flower.jpg"])
def test_large_motion_of_photographs_is_measured(motion, name):
    assert_allclose((measured(name, motion) - motion) / [0.05, 0.05, 0.1, 0.001], 0, atol=1)


def measured(name, motion):
    image = gaussian_filter(load_sample_image(name).mean(axis=2), 1.0)
    field = MotionField(outputs=("velocity", "confidence", "error")).between(image, moved(image, *motion))
    return np.array(global_motion(field.velocity, field.confidence, field.error)[:4])
