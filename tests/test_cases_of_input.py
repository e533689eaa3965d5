"""Frames of any kind of number, layout and container, given to everything that takes frames."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from flymotion.detectors import DETECTORS
from flymotion.field import MotionField
from flymotion.frames import FramePairs, as_frames, pair_up, random_patches
from flymotion.learner import MotionLearner
from flymotion.similarity.features import FEATURES, OuterProducts, outer_products
from flymotion.video import open_movie

N, HEIGHT, WIDTH = 14, 40, 41


def of_field(movie):
    """All numbers in one row, which are compared at once."""
    stream = MotionField().stream()
    return np.concatenate([array.ravel() for frame in movie for array in stream.step(frame) or ()])[None]


def of_learner(movie, **how):
    learner = MotionLearner(2, warm_up=20, patches_per_pair=60, patch=5, random_state=0, **how)
    return learner.partial_fit(movie).finish().network_.R_


TAKES_FRAMES = {
    "as_frames": as_frames,
    "pair_up": lambda movie: pair_up(movie).after,
    "FramePairs": lambda movie: FramePairs(movie, movie).before,
    "random_patches": lambda movie: random_patches(pair_up(movie), (5, 5), 3, seed=0).before,
    **{f"{name} feature": lambda movie, to=name: outer_products(pair_up(movie), to).u for name in FEATURES},
    "open_movie": lambda movie: np.concatenate([batch.frames for batch in open_movie(movie).batches(4)]),
    "MotionLearner": of_learner,
    "MotionLearner of video": lambda movie: MotionLearner(2, vision="video").partial_fit(movie).n_frames_seen_,
    "MotionField": of_field,
    **{name: lambda movie, to=make: to()(movie, 0.01) for name, make in DETECTORS.items()},
}
"""All that takes frames; scikit-learn's estimators are in ``test_estimators.py``."""

each_entry = pytest.mark.parametrize("take", TAKES_FRAMES.values(), ids=TAKES_FRAMES)


@pytest.fixture(scope="session")
def movie():
    """Whole numbers that all kinds of number hold, with steps up and down of more than half their range."""
    return np.random.default_rng(0).integers(0, 2, (N, HEIGHT, WIDTH)) * 200.0


KINDS = ["uint8", "uint16", ">u2", "int64", "float16", "float32", ">f4", "longdouble"]


@pytest.mark.case("B02")
@pytest.mark.case("B32")
@each_entry
def test_numbers_of_any_kind_are_the_floats_that_they_stand_for(movie, take):
    for kind in KINDS:
        given = movie.astype(kind)
        floats = given.astype(as_frames(given).dtype)
        for found, expected in zip(np.atleast_1d(take(given)), np.atleast_1d(take(floats)), strict=True):
            assert_array_equal(found, expected, err_msg=kind)


HIDDEN = {
    "masked": lambda movie: np.ma.array(movie, mask=movie > 100),
    "masked, nothing hidden": np.ma.array,
    "list of masked": lambda movie: [np.ma.array(frame, mask=frame > 100) for frame in movie],
}


@pytest.mark.case("B32")
@each_entry
def test_masked_frames_are_refused(movie, take):
    for hide in HIDDEN.values():
        with pytest.raises(ValueError, match="masked"):
            take(hide(movie))


@pytest.mark.case("B32")
@each_entry
def test_what_are_no_real_numbers_is_refused(movie, take):
    for wrong in (movie * 1j, movie.astype(str), np.full(movie.shape, {})):
        with pytest.raises((TypeError, ValueError)):
            take(wrong)


VIEWS = [
    lambda movie: np.asfortranarray(movie),
    lambda movie: np.repeat(movie, 2, axis=0)[::2],
    lambda movie: np.ascontiguousarray(movie[..., ::-1])[..., ::-1],
]


@pytest.mark.case("B10")
@each_entry
def test_read_only_frames_in_any_order_are_as_good_and_left_as_they_were(movie, take, tmp_path):
    np.save(tmp_path / "movie.npy", movie)
    expected = take(movie)
    views = [*(view(movie) for view in VIEWS), np.load(tmp_path / "movie.npy", mmap_mode="r")]
    for view in views:
        view.flags.writeable = False
        for found, other in zip(np.atleast_1d(take(view)), np.atleast_1d(expected), strict=True):
            assert_array_equal(found, other)
        assert_array_equal(view, movie)


@pytest.mark.case("B32")
@pytest.mark.parametrize("hidden", [np.ma.array(np.ones((3, 4))), [np.ma.array(np.ones(4))] * 3])
def test_other_masked_arrays_are_refused_by_name(hidden):
    ones = np.ones((3, 4))
    takes = [
        lambda: OuterProducts(hidden, ones),
        lambda: OuterProducts(ones, hidden),
        lambda: FramePairs(ones, ones, motion=hidden),
    ]
    for take in takes:
        with pytest.raises(ValueError, match="masked"):
            take()


def test_every_detector_and_feature_is_here():
    assert set(itertools.chain(DETECTORS, (f"{name} feature" for name in FEATURES))) <= set(TAKES_FRAMES)
