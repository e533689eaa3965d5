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


def places(shape=SHAPE):
    return np.mgrid[: shape[0], : shape[1]] - (np.array(shape)[:, None, None] - 1) / 2


def flow(x, y, rotation, looming, shape=SHAPE):
    down, right = places(shape)
    turn = np.radians(rotation)
    return np.stack([x + turn * down + looming * right, y - turn * right + looming * down]).astype(np.float32)


@pytest.mark.parametrize("motion", [MOTION, (0.0, 0.0, 0.0, 0.0), (0.01, 0.0, 0.0, 0.0), (-7.0, 3.0, -2.0, -0.05)])
@pytest.mark.parametrize("shape", [SHAPE, (91, 57), (720, 1280)])
def test_an_exact_flow_is_found_whatever_the_confidence(motion, shape):
    confidence = np.random.default_rng(0).uniform(0, 1, shape)
    found = global_motion(flow(*motion, shape), confidence)
    assert_allclose(found[:4], motion, atol=1e-5)
    assert_allclose(found.support, (confidence**2).mean(), rtol=0.1)


def test_signs_are_those_seen():
    right, bottom = (45, 159), (89, 80)
    counter_clockwise, nearer = flow(0, 0, 1.0, 0), flow(0, 0, 0, 0.01)
    assert counter_clockwise[1][right] < 0 < counter_clockwise[0][bottom]  # right goes up, the bottom goes right
    assert nearer[0][right] > 0 and nearer[1][bottom] > 0
    assert global_motion(counter_clockwise, np.ones(SHAPE)).rotation > 0.99
    assert global_motion(nearer, np.ones(SHAPE)).looming > 0.0099


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_something_smaller_with_a_motion_of_its_own_has_no_say(share):
    rng = np.random.default_rng(0)
    velocity = flow(*MOTION)
    velocity[:, :, : int(share * SHAPE[1])] = np.array([8.0, 5.0])[:, None, None]
    velocity += rng.normal(0, 0.1, velocity.shape).astype(np.float32)
    found = global_motion(velocity, np.ones(SHAPE))
    assert_allclose(found[:4], MOTION, atol=0.05)
    assert found.support < 1 - share / 2
    plain = velocity.mean(axis=(1, 2))
    assert np.hypot(*(plain - MOTION[:2])) > 0.5


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
    """Content after a motion about the centre: each pixel shows where it came from."""
    turn = np.radians(rotation)
    forth = (1 + looming) * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])  # of (down, right)
    back, middle = np.linalg.inv(forth), (np.array(image.shape) - 1) / 2
    return affine_transform(image, back, middle - back @ (middle + np.array([y, x])), order=3, mode="nearest")


@pytest.mark.parametrize("motion", [(0.4, -0.3, 0.0, 0.0), (0, 0, 0.3, 0), (0, 0, 0, 0.004), (0.5, 0.2, -0.2, -0.003)])
@pytest.mark.parametrize("name", ["china.jpg", "flower.jpg"])
def test_known_motion_of_photographs_is_measured(motion, name):
    image = gaussian_filter(load_sample_image(name).mean(axis=2), 1.0)
    field = MotionField(outputs=("velocity", "confidence")).between(image, moved(image, *motion))
    found = np.array(global_motion(field.velocity, field.confidence)[:4])
    assert_allclose((found - motion) / [0.05, 0.05, 0.02, 0.0003], 0, atol=1)
