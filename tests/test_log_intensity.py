"""The logarithm of intensity: scikit-learn's own checks, Weber's law, the floor, and pairs treated alike."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from flymotion.frames import FramePairs
from flymotion.photoreceptors import LogIntensity


@parametrize_with_checks([LogIntensity()])
def test_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.fixture
def make_pairs():
    """Pairs of frames of log-normal intensities."""

    def make(n_pairs=80, pixels=(6,), *, seed=0, dtype=np.float64):
        rng = np.random.default_rng(seed)
        frames = np.exp(rng.normal(size=(2, n_pairs, *pixels))).astype(dtype)
        return FramePairs(*frames, motion=rng.normal(size=(n_pairs, 2)), names=[("a", "b"), ("c", "d")])

    return make


def test_equal_ratios_are_equal_steps(make_pairs):
    """Weber and Fechner: a change of illumination moves the response, not the differences in it."""
    X = make_pairs().before
    log = LogIntensity(1e-6).fit(X)
    assert_allclose(log.transform(3.0 * X) - log.transform(X), math.log(3.0), rtol=1e-12)


def test_the_response_is_0_at_the_floor_and_below():
    log = LogIntensity(0.25).fit([[1.0, 3.0]])
    assert log.floor_ == 0.5
    assert_allclose(log.transform([[-7.0, 0.0], [0.5, 0.5 * math.e]]), [[0.0, 0.0], [0.0, 1.0]], rtol=1e-15)


def test_black_frames_stay_black():
    assert_array_equal(LogIntensity().fit_transform(np.zeros((4, 3))), np.zeros((4, 3)))


@pytest.mark.parametrize("scale", [255.0, 1e-6])
def test_the_unit_of_intensity_does_not_matter(make_pairs, scale):
    pairs = make_pairs()
    seen, scaled = LogIntensity().fit_transform(pairs), LogIntensity().fit_transform(pairs.map(lambda x: x * scale))
    assert_allclose(scaled.after, seen.after, rtol=1e-9, atol=1e-12)


def test_pairs_are_their_frames_transformed_and_keep_shape_and_motion(make_pairs):
    pairs = make_pairs(pixels=(2, 3))
    log = LogIntensity().fit(pairs)
    seen = log.transform(pairs)
    assert seen.pixels == (2, 3)
    assert_array_equal(seen.motion, pairs.motion)
    assert_array_equal(seen.before.reshape(-1, 6), LogIntensity().fit_transform(pairs.flat().before))
    assert_array_equal(seen.after.reshape(-1, 6), log.transform(pairs.flat().after))


def test_the_given_frames_are_never_changed(make_pairs):
    pairs = make_pairs()
    before = pairs.before.copy()
    pairs.before.flags.writeable = False
    LogIntensity().fit(pairs).transform(pairs)
    assert_array_equal(pairs.before, before)


def test_single_precision_stays_and_agrees(make_pairs):
    single, double = (LogIntensity().fit_transform(make_pairs(dtype=t)).after for t in (np.float32, np.float64))
    assert single.dtype == np.float32
    assert_allclose(single, double, rtol=1e-5, atol=1e-5)


def test_integers_are_frames_like_any_other():
    X = np.random.default_rng(0).integers(0, 256, (50, 5), dtype=np.uint8)
    assert_array_equal(LogIntensity().fit_transform(X), LogIntensity().fit_transform(X.astype(float)))


@pytest.mark.parametrize("floor", [0.0, -1e-9, math.nan, math.inf])
def test_a_floor_that_is_not_positive_is_refused(make_pairs, floor):
    with pytest.raises(ValueError, match=r"floor is .*; expected more than 0"):
        LogIntensity(floor).fit(make_pairs())
