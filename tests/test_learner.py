"""MotionLearner: any split of a stream, nothing learned from what is refused, and outputs with names and units."""

from functools import cache

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from flymotion.frames import FramePairs, pair_up
from flymotion.keeping import save
from flymotion.learner import BUNDLED, MotionLearner, load_photographs, probing
from flymotion.learner.intake import BATCH, BATCH_PIXELS
from flymotion.learner.sources import eye_movements
from flymotion.photoreceptors import LogIntensity
from flymotion.video import open_movie
from flymotion.world.eyes import Grid, Line, acceptance_sigma
from flymotion.world.motions import Translation
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import ExponentialNoise, photograph

N_FRAMES = 700
SPLITS = {
    "frame by frame": range(1, N_FRAMES),
    "uneven": [1, 4, 97, 300, 301, 699],
    "with empty batches": [0, 0, 10, 10, 400, 400, 700],
    "around the warm-ups": [20, 21, 22, 500, 501, 502, 521],
}
LEARNED = ["directions_", "gain_", "labels_", "direction_accuracy_", "generators_"]


@pytest.fixture(scope="session")
def make_movie():
    """Noise that drifts by small random steps, shape (n_frames, *shape); read-only."""

    @cache
    def make(n_frames=N_FRAMES, shape=(5,), *, seed=0):
        ndim = len(shape)
        scene = ExponentialNoise(3.0, ndim=ndim, period={1: 4096.0, 2: 64.0}[ndim], random_state=seed)
        eye = {1: Line, 2: Grid}[ndim](*shape)
        steps = Translation(0.3, ndim=ndim).steps(n_frames, np.random.default_rng(seed))
        movie = render(scene, eye, -np.cumsum(steps, axis=0))
        movie.flags.writeable = False
        return movie

    return make


@pytest.fixture
def make_learner():
    """A learner of a short warm-up: its own ends after 21 frames of 5 pixels, that of its network after 501."""

    def make(n_components=2, **how):
        return MotionLearner(n_components, **{"warm_up": 20, "patches_per_pair": 30, "random_state": 0} | how)

    return make


@pytest.fixture(scope="session")
def make_photo_movie():
    """A photograph whose content moves by given steps (x right, y down) [pixels per frame]."""
    image = load_photographs([BUNDLED])[0]

    def make(steps, size=40):
        poses = np.array([320.0, 210.0]) - np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
        return render(photograph(image, pixels_per_spacing=1.0), Grid(size, size, 0.6), poses)

    return make


@pytest.fixture(scope="session")
def learned():
    """A learner that has learned, by name; not to be changed."""

    @cache
    def make(name):
        scene, motion = ExponentialNoise(3.0, random_state=0), Translation(0.3, ndim=1)
        scenes = [photograph(image, pixels_per_spacing=1.0) for image in load_photographs([BUNDLED])]
        pairs = {
            "line": lambda: sample_pairs(scene, Line(7), motion, 5000, random_state=0),
            "photographs": lambda: FramePairs.concatenate(list(eye_movements(scenes, 7, 10_000, 0))),
        }[name]()
        return MotionLearner({"line": 2, "photographs": 4}[name], random_state=0).fit(pairs)

    return make


def state_of(learner):
    return {
        "S": learner.network_.S_,
        "R": learner.network_.R_,
        "whitening": learner.whitening_.matrix_,
        "mean": learner.whitening_.mean_,
        "contrast": learner.contrast_.contrast_,
        "pairs": learner.n_pairs_seen_,
        "patches": learner.network_.n_samples_seen_,
        "directions": learner.directions_,
        "gain": learner.gain_,
    }


def assert_same_state(learner, other):
    """Equal to rounding; the whitening, which is fitted at once, exactly."""
    state, expected = state_of(learner), state_of(other)
    for name in ("mean", "whitening", "contrast", "pairs", "patches"):
        assert_array_equal(state[name], expected[name], err_msg=name)
    for name in ("S", "R", "directions", "gain"):
        scale = np.abs(expected[name]).max()
        assert_allclose(state[name], expected[name], rtol=1e-10, atol=1e-10 * scale, err_msg=name)


def assert_identical(learner, other):
    for name, expected in state_of(other).items():
        assert_array_equal(state_of(learner)[name], expected, err_msg=name)


def stream(learner, batches):
    for frames in batches:
        learner.partial_fit(frames)
    return learner.finish()


# Streams


@pytest.mark.case("B04")
@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
def test_any_split_of_a_stream_learns_the_same(make_movie, make_learner, split):
    movie = make_movie()
    learner = stream(make_learner(), np.split(movie, split))
    assert_same_state(learner, make_learner().fit(movie))
    assert learner.n_pairs_seen_ == N_FRAMES - 1


@pytest.mark.parametrize("split", [range(1, 40), [0, 3, 3, 4, 25], [11, 12, 13]])
def test_patches_do_not_depend_on_the_split(make_movie, make_learner, split):
    """The whitening is fitted on patches of several pairs, and ends amid one of 30: it is equal to the last bit."""
    movie = make_movie(40, (12, 15))
    learner, whole = (make_learner(4, patch=4, warm_up=350) for _ in range(2))
    assert_same_state(stream(learner, np.split(movie, split)), whole.fit(movie))
    assert learner.network_.n_samples_seen_ == 39 * 30


def test_a_stream_and_its_pairs_are_the_same(make_movie, make_learner):
    movie = make_movie()
    learner = make_learner().fit(movie)
    assert_identical(make_learner().fit(pair_up(movie)), learner)
    batches = np.split(np.float32(movie), range(BATCH, N_FRAMES, BATCH))
    assert_identical(make_learner().fit(open_movie(movie)), stream(make_learner(), batches))


def test_a_long_movie_is_taken_in_batches(make_learner):
    """The batches of an array join up: no pair is lost or made between them."""
    movie = np.random.default_rng(0).normal(size=(BATCH_PIXELS // 25 + 50, 5, 5))
    learner = make_learner(patch=5).fit(movie)
    assert learner.n_pairs_seen_ == len(movie) - 1
    late = movie[-60:]
    assert learner.transform(movie).shape == (len(movie) - 1, 2)
    assert_allclose(learner.transform(movie)[-59:], learner.transform(late), rtol=1e-9, atol=1e-12)


@pytest.mark.case("B04")
@pytest.mark.parametrize("at", [10, 300])
def test_a_cut_makes_no_false_pair(make_movie, make_learner, at):
    movie = make_movie()
    learner = make_learner().partial_fit(movie[:at]).cut().partial_fit(movie[at:]).finish()
    assert_same_state(learner, make_learner().fit(pair_up(movie, cuts=[at])))
    assert learner.n_pairs_seen_ == N_FRAMES - 2


def test_passes_are_cut_from_each_other(make_movie, make_learner):
    movie = make_movie()
    learner = make_learner(n_passes=2).fit(movie)
    assert_identical(learner, make_learner().partial_fit(movie).cut().partial_fit(movie).finish())


def test_fit_restarts(make_movie, make_learner):
    first, second = make_movie(seed=1), make_movie(600, (6,), seed=2)
    assert_identical(make_learner().fit(first).fit(second), make_learner().fit(second))
    assert_identical(make_learner().partial_fit(first[:9]).fit(second), make_learner().fit(second))


def test_finish_ends_the_warm_up_early(make_movie, make_learner):
    movie = make_movie(50)
    early = make_learner(warm_up=1000).partial_fit(movie).finish()
    assert_identical(early.finish(), make_learner(warm_up=1000).fit(movie))
    assert early.network_.n_samples_seen_ == 49


def test_a_still_camera_teaches_nothing(make_movie, make_learner):
    movie = make_movie()
    still = np.concatenate([movie, np.repeat(movie[-1:], 100, axis=0)])
    learner, other = make_learner().fit(movie), make_learner().fit(still)
    assert_array_equal(other.network_.S_, learner.network_.S_)
    assert other.network_.n_samples_seen_ == learner.network_.n_samples_seen_


def test_frames_without_contrast_give_no_response_and_no_error(make_movie, make_learner):
    learner = make_learner().fit(make_movie())
    assert_array_equal(learner.transform(np.full((4, 5), 0.1)), np.zeros((3, 2)))
    assert_array_equal(learner.predict(np.full((4, 5), 0.1)), np.zeros((3, 1)))


# What is refused


@pytest.mark.parametrize("seen", [1, 10, 300, 600])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_frame_is_named_and_changes_nothing(make_movie, make_learner, seen, value):
    movie = make_movie()
    bad = movie[seen : seen + 20].copy()
    bad[5, 2] = value
    learner, other = (make_learner().partial_fit(movie[:seen]) for _ in range(2))
    with pytest.raises(ValueError, match=f"NaN or infinite pixel in frame {seen + 5}"):
        learner.partial_fit(bad)
    assert (learner.n_pairs_seen_, learner.n_frames_seen_) == (seen - 1, seen)
    assert_identical(stream(learner, [movie[seen:]]), stream(other, [movie[seen:]]))


@pytest.mark.parametrize("shapes", [((5,), (6,)), ((5, 5), (6, 4)), ((5, 5), (25,)), ((25,), (1, 25))])
def test_another_size_is_refused_and_changes_nothing(make_movie, make_learner, shapes):
    shape, wrong = shapes
    movie = make_movie(60, shape)
    learner, other = (make_learner(4).partial_fit(movie[:30]) for _ in range(2))
    for frames in (np.zeros((3, *wrong)), FramePairs(*np.zeros((2, 3, *wrong)))):
        with pytest.raises(ValueError) as error:
            learner.partial_fit(frames)
        assert str(shape) in str(error.value) and str(wrong) in str(error.value)
    assert_identical(stream(learner, [movie[30:]]), stream(other, [movie[30:]]))


@pytest.mark.parametrize("wrong", [(6,), (4,), (5, 1), (1, 5)])
def test_transform_refuses_frames_that_hold_no_patch(make_movie, make_learner, wrong):
    learner = make_learner().fit(make_movie(60))
    for use in (learner.transform, learner.predict):
        with pytest.raises(ValueError) as error:
            use(np.zeros((3, *wrong)))
        assert f"frames of {wrong} hold no patch of (5,)" in str(error.value)


@pytest.mark.case("B34")
@pytest.mark.parametrize("movie", [np.zeros((0, 5)), np.zeros((1, 5))])
def test_fewer_than_two_frames_are_refused(make_learner, movie):
    with pytest.raises(ValueError, match="fewer than 2 consecutive frames"):
        make_learner().fit(movie)


def test_colour_frames_are_refused(make_learner):
    with pytest.raises(ValueError, match=r"frames have shape \(4, 4, 3\); expected \(n,\) or \(height, width\)"):
        make_learner().fit(np.zeros((5, 4, 4, 3)))


@pytest.mark.parametrize(
    "name, value",
    [
        *[(name, 0) for name in ("n_components", "patches_per_pair", "warm_up", "n_passes")],
        *[("patch", 1), ("n_components", 2.5), ("feature", "best"), ("forgetting", 0.0), ("forgetting", 1.5)],
        *[("regularization", -1.0), ("half_saturation", np.nan)],
    ],
)
def test_parameters_out_of_range_are_named_before_anything_is_learned(make_learner, name, value):
    learner = make_learner(**{name: value})
    for learn in (learner.fit, learner.partial_fit):
        with pytest.raises(ValueError, match=f"^{name} is {value!r}; expected"):
            learn(np.zeros((30, 9, 9)))
    assert not hasattr(learner, "n_pairs_seen_")


@pytest.mark.case("B34")
@pytest.mark.parametrize("seen", [None, 0, 1, 10])
def test_not_fitted_before_the_warm_up_is_complete(make_movie, make_learner, seen):
    learner = make_learner()
    streams = {None: [], 0: [np.zeros((0, 5))], 1: [make_movie(1)], 10: [make_movie(10)]}
    for frames in streams[seen]:
        learner.partial_fit(frames)
    uses = [lambda name=name: getattr(learner, name) for name in LEARNED]
    uses += [lambda: learner.transform(make_movie(5)), lambda: learner.predict(make_movie(5))]
    uses += [lambda: learner.score(make_movie(5), np.zeros((4, 1))), lambda: check_is_fitted(learner)]
    for use in uses:
        with pytest.raises(NotFittedError, match="MotionLearner"):
            use()


# What goes in


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, bool])
def test_integers_are_frames_like_any_other(make_learner, dtype):
    movie = np.random.default_rng(0).integers(0, 200, (60, 5)).astype(dtype)
    assert_identical(make_learner().fit(movie), make_learner().fit(movie.astype(float)))


VIEWS = {
    "read-only": lambda a: a.setflags(write=False) or a,
    "Fortran order": np.asfortranarray,
    "every other frame": lambda a: np.repeat(a, 2, axis=0)[::2],
    "mirrored twice": lambda a: a[:, ::-1].copy()[:, ::-1],
    "list": lambda a: a.tolist(),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_any_view_of_the_frames_gives_the_same_and_stays_as_it_was(make_movie, make_learner, view):
    movie = make_movie(60, (8, 9))
    seen = view(movie.copy())
    learner, other = (make_learner(4, patch=3).fit(frames) for frames in (seen, movie))
    assert_same_state(learner, other)
    learner.predict(seen)
    assert_array_equal(seen, movie)


def test_a_file_mapped_into_memory(make_movie, make_learner, tmp_path):
    movie = make_movie(60)
    np.save(tmp_path / "movie.npy", movie)
    mapped = np.load(tmp_path / "movie.npy", mmap_mode="r")
    assert_identical(make_learner().fit(mapped), make_learner().fit(movie))


def test_the_remembered_frame_is_the_learners_own(make_movie, make_learner):
    movie = make_movie()
    buffer = movie[:30].copy()
    learner = make_learner().partial_fit(buffer)
    buffer[:] = 1e6
    assert_identical(stream(learner, [movie[30:]]), make_learner().fit(movie))


def test_float32_stays_and_agrees(make_noise_pairs, make_learner):
    pairs = make_noise_pairs(3000)
    single, double = (make_learner().fit(pairs.map(lambda x, t=t: x.astype(t))) for t in (np.float32, np.float64))
    assert single.whitening_.matrix_.dtype == np.float32
    assert single.labels_ == double.labels_
    assert_allclose(single.gain_, double.gain_, rtol=1e-2)


# Chance


@pytest.mark.parametrize("make_state", [lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)])
def test_same_random_state_same_result(make_movie, make_learner, make_state):
    movie = make_movie(60, (12, 12))
    learner, other = (make_learner(4, patch=3, random_state=make_state()).fit(movie) for _ in range(2))
    different = make_learner(4, patch=3, random_state=4).fit(movie)
    assert_identical(learner, other)
    assert not np.array_equal(different.whitening_.mean_, learner.whitening_.mean_)


def test_the_users_random_numbers_are_left_alone(make_movie, make_learner):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    make_learner(4, patch=3, random_state=None).fit(make_movie(60, (12, 12))).predict(make_movie(5, (12, 12)))
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_random_state_is_drawn_from_when_learning_starts(make_learner):
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    make_learner(random_state=rng)
    assert rng.bit_generator.state == before


# As an estimator


def test_clone_copies_parameters_and_nothing_learned(make_movie, make_learner):
    learner = make_learner(3, patch=5, half_saturation=0.5).fit(make_movie(60))
    twin = clone(learner)
    assert twin.get_params() == learner.get_params()
    assert vars(twin).keys() == twin.get_params().keys()
    assert_identical(twin.fit(make_movie(60)), learner)


def test_a_pickled_learner_goes_on_as_the_original(make_movie, make_learner, pickled):
    movie = make_movie()
    learner = make_learner().partial_fit(movie[:300])
    assert_identical(stream(pickled(learner), [movie[300:]]), stream(learner, [movie[300:]]))


# What comes out


def test_line_detectors_are_right_and_left(learned):
    learner = learned("line")
    assert sorted(learner.labels_) == ["left", "right"]
    assert sorted(learner.directions_) == [0, 180]
    assert (learner.gain_ > 0.5).all()
    assert learner.direction_accuracy_ > 0.85
    assert (learner.generators_.antisymmetric_share() > 0.9).all()


def test_detectors_of_photographs_are_the_four_cardinals(learned):
    learner = learned("photographs")
    assert sorted(learner.labels_) == ["down", "left", "right", "up"]
    assert (learner.gain_ > 0.5).all()
    assert learner.direction_accuracy_ > 0.75
    off = (learner.generators_.directions() - learner.directions_ + 180) % 360 - 180
    assert_allclose(off, 0, atol=20)  # filters and responses tell the same


def test_frames_alone_are_probed_with_shifts_of_their_own(learned, make_photo_movie):
    """Without a known motion the detectors get names from kept frames, at simulated shifts."""
    steps = Translation(0.3).steps(300, np.random.default_rng(0))
    learner = MotionLearner(4, random_state=0).fit(make_photo_movie(steps, size=80))
    assert sorted(learner.labels_) == ["down", "left", "right", "up"]
    assert learner.direction_accuracy_ > 0.8


def test_the_strongest_response_names_the_direction(learned, make_photo_movie):
    learner = learned("photographs")
    for label, step in {"right": (0.2, 0), "left": (-0.2, 0), "up": (0, -0.2), "down": (0, 0.2)}.items():
        strongest = learner.transform(make_photo_movie([step] * 10)).argmax(axis=1)
        assert [learner.labels_[i] for i in strongest] == [label] * 10


def test_transform_gives_a_response_a_pair_and_never_learns(learned, make_photo_movie, pickled):
    learner = pickled(learned("photographs"))
    movie = make_photo_movie(np.full((5, 2), 0.1))
    responses = learner.transform(movie)
    assert responses.shape == (5, 4)
    assert (responses >= 0).all()
    assert_array_equal(learner.transform(pair_up(movie)), responses)
    assert_identical(learner, learned("photographs"))


@pytest.mark.case("B34")
@pytest.mark.parametrize("n_frames", [0, 1])
def test_no_pair_gives_no_response(learned, n_frames):
    learner = learned("photographs")
    for movie in (np.zeros((n_frames, 9, 9)), FramePairs(*np.zeros((2, 0, 7, 7)))):
        assert learner.transform(movie).shape == (0, 4)
        assert learner.predict(movie).shape == (0, 2)
    assert learned("line").predict(np.zeros((n_frames, 7))).shape == (0, 1)


def test_larger_frames_give_the_mean_over_their_tiles(learned, make_photo_movie):
    learner = learned("photographs")
    movie = make_photo_movie(np.full((5, 2), 0.1), size=17)
    tiles = [learner.transform(movie[:, y : y + 7, x : x + 7]) for y in (0, 7) for x in (0, 7)]
    assert_allclose(learner.transform(movie), np.mean(tiles, axis=0), rtol=1e-9)


def test_predict_gives_the_velocity_in_pixels_per_frame(learned, make_photo_movie):
    steps = np.random.default_rng(0).uniform(-0.3, 0.3, (60, 2))
    velocity = learned("photographs").predict(make_photo_movie(steps))
    for axis in (0, 1):
        slope, offset = np.polyfit(steps[:, axis], velocity[:, axis], 1)
        assert 0.85 < slope < 1.15
        assert abs(offset) < 0.01
        assert np.corrcoef(steps[:, axis], velocity[:, axis])[0, 1] > 0.95
    crossed = np.corrcoef(steps.T, velocity.T)[:2, 2:]
    assert abs(crossed[0, 1]) < 0.3 and abs(crossed[1, 0]) < 0.3


def test_predict_of_single_small_frames(learned):
    scene, motion = ExponentialNoise(3.0, random_state=1), Translation(0.3, ndim=1)
    pairs = sample_pairs(scene, Line(7), motion, 1000, random_state=1)
    velocity = learned("line").predict(pairs)
    assert velocity.shape == (1000, 1)
    assert np.corrcoef(velocity[:, 0], pairs.motion[:, 0])[0, 1] > 0.8
    assert 0.85 < np.polyfit(pairs.motion[:, 0], velocity[:, 0], 1)[0] < 1.15


@pytest.mark.parametrize("axis, name", [(0, "right"), (1, "down")])
def test_predict_counts_right_and_down_as_positive(learned, make_photo_movie, axis, name):
    steps = np.zeros((8, 2))
    steps[:, axis] = 0.2
    velocity = learned("photographs").predict(make_photo_movie(steps))
    assert (velocity[:, axis] > 0.1).all(), name
    assert (np.abs(velocity[:, 1 - axis]) < 0.1).all()


def test_velocity_does_not_depend_on_gain_or_offset_of_the_camera(learned, make_photo_movie):
    """B40: whitening takes the offset, and a ratio of two quadratic forms the gain."""
    movie = make_photo_movie(np.full((5, 2), 0.1))
    learner = learned("photographs")
    mean = learner.whitening_.mean_.mean()
    assert_allclose(learner.predict(2 * (movie - mean) + mean), learner.predict(movie), rtol=0.05)


def test_score_is_the_share_of_pairs_whose_direction_is_right(learned, make_photo_movie):
    learner = learned("photographs")
    rng = np.random.default_rng(0)
    steps = Translation(0.3).steps(60, rng)
    movie = make_photo_movie(steps)
    movie = movie + 4 * rng.standard_normal(movie.shape)
    pairs = FramePairs(*(frames[:, :7, :7] for frames in pair_frames(movie)), steps)
    strongest = learner.directions_[learner.transform(pairs).argmax(axis=1)]
    truth = np.degrees(np.arctan2(-steps[:, 1], steps[:, 0]))
    right = np.abs((strongest - truth + 180) % 360 - 180) <= 45
    assert learner.score(pairs) == right.mean() < 1
    assert learner.score(movie, steps) > learner.score(pairs) > 0.3
    assert learned("line").score(learned("line").state_.seen.known) == learned("line").direction_accuracy_


def pair_frames(movie):
    return movie[:-1], movie[1:]


def test_score_needs_the_motion_of_each_pair(learned, make_photo_movie):
    movie = make_photo_movie(np.full((5, 2), 0.1))
    with pytest.raises(ValueError, match="the motion is not known; expected y, or pairs that know theirs"):
        learned("photographs").score(movie)
    for motion in (np.zeros((6, 2)), np.zeros(5)):
        with pytest.raises(ValueError, match=r"the motion has shape \(\d, \d\); expected \(5, 2\)"):
            learned("photographs").score(movie, motion)


@pytest.mark.slow
@pytest.mark.parametrize(("feature", "least"), [("midpoint", 0.9), ("antisymmetric", 0.92)])
def test_directions_are_learned_in_real_scenes_at_a_flys_scale(real_panoramas, feature, least):
    """Twelve panoramas within 45 degrees of the horizon at once, pixels 5 degrees apart, in log luminance."""
    eye = Grid(7, 7, acceptance_sigma(5.7, 5.0))
    bands = [image[len(image) // 4 : -len(image) // 4].astype(float) for image in real_panoramas]
    scenes = [photograph(band, pixels_per_spacing=5 * 2 * len(band) / 180) for band in bands]
    for seed in range(4):
        parts = [sample_pairs(scene, eye, Translation(0.3), 1666, [seed, i]) for i, scene in enumerate(scenes)]
        pairs = FramePairs.concatenate([LogIntensity().fit_transform(part) for part in parts])
        pairs = pairs[np.random.default_rng(seed).permutation(len(pairs))]
        learner = MotionLearner(4, feature=feature, random_state=0).fit(pairs)
        off = np.abs((learner.directions_ + 45) % 90 - 45).max()
        print(f"{feature}, seed {seed}: {learner.direction_accuracy_:.3f}, {off:.1f} deg off")
        assert sorted(learner.labels_) == ["down", "left", "right", "up"]
        assert learner.direction_accuracy_ > least


# Names, found out once


@pytest.fixture
def no_probes(monkeypatch):
    """Let probing fail."""
    monkeypatch.setattr(probing, "render", lambda *how: pytest.fail("probed"))


def test_what_motions_there_are_is_known_without_probing(make_movie, make_learner, no_probes):
    assert make_learner().fit(make_movie(60)).motions_ == (("right", "left"),)
    learner = make_learner(4, patch=3).fit(make_movie(60, (8, 9)))
    assert learner.motions_ == (("right", "left"), ("down", "up"))
    assert not hasattr(make_learner(), "directions_")
    assert not hasattr(make_learner().partial_fit(make_movie(5)), "directions_")


@pytest.mark.parametrize(
    ("n", "names"), [(1, (("near", "far"),)), (2, (("right", "left"), ("near", "far"))), (3, None)], ids=str
)
def test_motions_that_are_no_translations_have_no_directions(make_movie, make_learner, no_probes, n, names):
    before, after = pair_frames(make_movie(60))
    motion = np.random.default_rng(0).normal(size=(59, n))
    learner = make_learner().fit(FramePairs(before, after, motion, names))
    assert not hasattr(learner, "directions_")
    with pytest.raises(AttributeError, match="other motions than translations; see labels_ and ways_"):
        learner.directions_  # noqa: B018 - asking is what raises
    assert learner.ways_.shape == (2, n) and len(learner.labels_) == 2


def test_names_and_units_are_found_out_once_and_kept_until_more_is_learned(make_movie, make_learner, monkeypatch):
    movie, rendered, render = make_movie(60), [], probing.render
    monkeypatch.setattr(probing, "render", lambda *how: (rendered.append(how), render(*how))[1])
    learner = make_learner().fit(movie)
    assert rendered == []
    for _ in range(2):
        assert hasattr(learner, "directions_")
        learner.gain_, learner.direction_accuracy_, learner.labels_, learner.predict(movie)
    n = len(rendered)
    assert n == len(learner.state_.seen.frames)
    learner.partial_fit(movie[:10])
    assert len(learner.labels_) == len(learner.gain_) == 2
    assert len(rendered) == n + len(learner.state_.seen.frames)


# scikit-learn


FRAMES = "a movie of n frames has n - 1 pairs, which depend on the frames' order"
OWN = "what is no movie is refused by the one check of frames, in words of its own"
NOT_FOR_MOVIES = {
    "check_fit_score_takes_y": FRAMES,
    "check_pipeline_consistency": FRAMES,
    "check_transformer_data_not_an_array": FRAMES,
    "check_transformer_general": FRAMES,
    "check_methods_sample_order_invariance": FRAMES,
    "check_methods_subset_invariance": FRAMES,
    "check_fit2d_1sample": FRAMES,
    "check_n_features_in_after_fitting": "frames may be larger than a patch; what holds none is refused in pixels",
    "check_complex_data": OWN,
    "check_dtype_object": OWN,
    "check_estimators_empty_data_messages": OWN,
    "check_estimator_sparse_tag": OWN,
    "check_estimator_sparse_array": OWN,
    "check_estimator_sparse_matrix": OWN,
    "check_fit2d_predict1d": OWN,
}


@pytest.mark.case("B21")
@parametrize_with_checks([MotionLearner(2)], expected_failed_checks=lambda learner: NOT_FOR_MOVIES)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("wrong", [np.zeros((5, 3), complex), np.zeros((5, 3), object), csr_array((5, 3))], ids=str)
def test_what_is_no_movie_is_refused_all_the_same(wrong):
    with pytest.raises(TypeError, match="expected real numbers"):
        MotionLearner().fit(wrong)


def test_outputs_are_named_by_their_labels(make_movie, make_learner):
    pd = pytest.importorskip("pandas")
    movie = make_movie()
    learner = make_learner().set_output(transform="pandas")
    table = learner.fit_transform(movie)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == list(learner.get_feature_names_out()) == learner.labels_
    assert_array_equal(table, make_learner().fit(movie).transform(movie))


# Borrowed memory, and parameters that change after learning has begun

LENT = {
    "vectors": lambda movie: movie,
    "pairs": lambda movie: FramePairs(movie[:-1], movie[1:]),
    "pairs of known motion": lambda movie: FramePairs(movie[:-1], movie[1:], motion=np.ones((len(movie) - 1, 1))),
}


@pytest.mark.parametrize("lend", LENT.values(), ids=LENT)
def test_a_buffer_used_again_for_the_next_frames_does_no_harm(make_movie, make_learner, lend):
    """Also in the warm-ups, of early vision and of the network, which end after 20 and 500 pairs."""
    movie = make_movie()
    buffer, expected, learner = np.empty((8, 5)), make_learner(), make_learner()
    for start in range(0, N_FRAMES - 8, 8):
        expected.partial_fit(lend(movie[start : start + 8].copy()))
        buffer[:] = movie[start : start + 8]
        learner.partial_fit(lend(buffer))
        buffer[:] = np.inf
    assert_identical(learner, expected)


OTHER = {
    "n_components": 3,
    "vision": "video",
    "patch": 3,
    "feature": "product",
    "regularization": 0.1,
    "half_saturation": 0.3,
    "patches_per_pair": 7,
    "warm_up": 30,
    "n_passes": 2,
    "forgetting": 0.9,
    "random_state": 5,
}
"""Other values of all parameters; a new one has to be added here, or is a KeyError."""

MAY_CHANGE = {"n_passes", "forgetting", "random_state"}


@pytest.mark.parametrize("name", sorted(set(MotionLearner().get_params()) - MAY_CHANGE))
def test_a_parameter_that_was_learned_with_is_refused_until_the_next_fit(make_movie, make_learner, tmp_path, name):
    movie = make_movie()
    learner, expected = make_learner().fit(movie), make_learner().fit(movie)
    learner.set_params(**{name: OTHER[name]})
    uses = [learner.partial_fit, learner.transform, learner.predict, lambda movie: save(learner, tmp_path / "model")]
    for use in [*uses, lambda movie: learner.finish(), lambda movie: learner.score(pair_up(movie), np.ones((99, 1)))]:
        with pytest.raises(ValueError, match=f"{name} is .* has learned with"):
            use(movie[:100])
    assert_identical(learner.set_params(**{name: expected.get_params()[name]}), expected)
    assert_identical(learner.partial_fit(movie), expected.partial_fit(movie))


@pytest.mark.parametrize("name", sorted(MAY_CHANGE))
def test_any_other_parameter_may_change(make_movie, make_learner, name):
    learner = make_learner().fit(make_movie()).set_params(**{name: OTHER[name]})
    assert learner.partial_fit(make_movie()).transform(make_movie()).shape == (N_FRAMES - 1, 2)


def test_forgetting_counts_from_when_it_was_set(make_movie, make_learner):
    learner, other = (make_learner().fit(make_movie()) for _ in range(2))
    learner.set_params(forgetting=0.9).partial_fit(make_movie())
    other.partial_fit(make_movie())
    assert np.trace(learner.network_.R_) < 0.1 * np.trace(other.network_.R_)


@pytest.mark.parametrize("n_seen", [10, 300, N_FRAMES])
def test_a_learner_mapped_from_a_file_learns_on(make_movie, make_learner, tmp_path, n_seen):
    """Read-only, in either warm-up and after both."""
    movie = make_movie()
    learner = make_learner().partial_fit(movie[:n_seen])
    joblib.dump(learner, tmp_path / "learner")
    mapped = joblib.load(tmp_path / "learner", mmap_mode="r")
    assert_identical(mapped.partial_fit(movie), learner.partial_fit(movie))
