"""MotionLearner of video: one life, whether frames come as a stream, as an array or as movies."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter, zoom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from flymotion import FramePairs, MotionLearner, learn, open_movie, outer_products
from flymotion.keeping import load, save
from flymotion.learner import corpus, probing
from flymotion.video import VideoError
from flymotion.video.viewing import view

SIZE = 60
N_FRAMES = 50
SPLITS = {
    "frame by frame": range(1, N_FRAMES),
    "around the look": [15, 16, 17, 31, 33],
    "uneven, with empty ones": [0, 0, 3, 20, 20, 45],
}


@pytest.fixture(scope="module")
def make_movie():
    """Smooth noise that moves by steps of 0.4 pixels, with a little sensor noise; float32."""

    def make(n_frames=N_FRAMES, seed=0):
        rng = np.random.default_rng(seed)
        spectrum = np.fft.fft2(gaussian_filter(rng.standard_normal((SIZE, SIZE)), 1.5, mode="wrap"))
        angles = rng.uniform(0, 2 * np.pi, n_frames)
        x, y = np.cumsum([0.4 * np.cos(angles), 0.4 * np.sin(angles)], axis=1)[..., None, None]
        fy, fx = np.fft.fftfreq(SIZE)[:, None], np.fft.fftfreq(SIZE)
        clean = np.fft.ifft2(spectrum * np.exp(-2j * np.pi * (fx * x + fy * y))).real
        return (128 + 100 * clean + 0.1 * rng.standard_normal(clean.shape)).astype(np.float32)

    return make


@pytest.fixture
def make_learner(monkeypatch):
    """A learner that looks at 16 frames, of a pool that is shown amid the stream, with few probes."""
    monkeypatch.setattr(probing, "N_PROBES", 300)
    monkeypatch.setattr(corpus, "POOL", 200)
    monkeypatch.setattr("flymotion.learner.video_vision.LOOK_PIXELS", 16 * SIZE**2)
    return lambda **how: MotionLearner(
        **{"vision": "video", "patch": 5, "patches_per_pair": 60, "random_state": 3} | how
    )


def assert_identical(learner, other):
    for name in ("S_", "R_", "n_samples_seen_"):
        assert_array_equal(getattr(learner.network_, name), getattr(other.network_, name), err_msg=name)
    for name in ("directions_", "gain_", "direction_accuracy_", "n_pairs_seen_", "n_patches_seen_", "scale_"):
        assert_array_equal(getattr(learner, name), getattr(other, name), err_msg=name)


def stream(learner, parts):
    for frames in parts:
        learner.partial_fit(frames)
    return learner.finish()


# One life


@pytest.mark.case("B04")
@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
def test_any_split_of_a_stream_learns_the_same(make_movie, make_learner, split):
    movie = make_movie()
    learner = make_learner().fit(movie)
    assert learner.n_pairs_seen_ == N_FRAMES - 1
    assert learner.n_patches_seen_ > 200 * corpus.GUISES  # the pool was shown more than once
    assert_identical(stream(make_learner(), np.split(movie, split)), learner)


def test_a_movie_is_learned_from_as_its_frames(make_movie, make_learner):
    movie = make_movie()
    assert_identical(make_learner().fit(open_movie(movie)), make_learner().fit(movie))
    assert_identical(make_learner().fit([open_movie(movie)]), make_learner().fit(movie))


@pytest.mark.case("B04")
@pytest.mark.parametrize("at", [5, 16, 18, 40])
def test_a_cut_makes_no_false_pair(make_movie, make_learner, at):
    movie = make_movie()
    learner = make_learner().partial_fit(movie[:at]).cut().partial_fit(movie[at:]).finish()
    again = stream(stream_of_cuts(make_learner(), movie, at), [])
    assert_identical(learner, again)
    assert learner.n_pairs_seen_ == N_FRAMES - 2


def stream_of_cuts(learner, movie, at):
    """Frame by frame, with a cut before one of them."""
    for number, frame in enumerate(movie):
        (learner.cut() if number == at else learner).partial_fit(frame[None])
    return learner


def test_passes_are_cut_from_each_other(make_movie, make_learner):
    movie = make_movie()
    twice = make_learner(n_passes=2).fit(movie)
    assert_identical(twice, make_learner().partial_fit(movie).cut().partial_fit(movie).finish())
    assert_identical(twice, make_learner(n_passes=2).fit(open_movie(movie)))


def test_fit_restarts_and_a_clone_has_learned_nothing(make_movie, make_learner):
    learner = make_learner().fit(make_movie(seed=1))
    twin = clone(learner)
    assert vars(twin).keys() == twin.get_params().keys()
    assert_identical(learner.fit(make_movie()), twin.fit(make_movie()))


def test_steps_are_those_of_fit(make_movie, make_learner):
    movie, learner, seen = make_movie(), make_learner(), []
    for each in learner.steps(open_movie(movie)):
        seen.append(each.n_pairs_seen_)
    assert seen == [15, 31, 47, 49]
    assert_identical(learner, make_learner().fit(movie))


# Going on


def test_an_array_is_learned_from_as_the_movie_that_it_is(make_movie):
    frames = make_movie()
    one, other = (learn(source, n_pairs=2000, patch=5) for source in (frames, open_movie(frames)))
    assert_array_equal(one.generators_.operators, other.generators_.operators)


def test_learning_goes_on_after_learn(make_movie, make_learner):
    """Of several videos it is the first that goes on, with what all of them taught."""
    near, far = make_movie(), zoom(make_movie(30, seed=1), (1, 4, 4), order=1)
    learner = learn([open_movie(near), open_movie(far)], patch=5, n_pairs=5000)
    before = learner.network_.S_
    watched = learner.watched_
    learner.partial_fit(make_movie(40, seed=2)).finish()
    assert learner.n_pairs_seen_ == 49 + 29 + 39
    assert [video.n_pairs for video in learner.watched_] == [49 + 39, 29]
    assert learner.watched_[1] == watched[1] and learner.scale_ == watched[0].scale == 1
    assert not np.array_equal(learner.network_.S_, before)


@pytest.mark.parametrize("seen", [1, 10, 16, 18, 40, N_FRAMES])
def test_saving_and_loading_change_nothing_of_what_is_learned_next(make_movie, make_learner, tmp_path, seen):
    movie = make_movie()
    loaded = load(save(make_learner().partial_fit(movie[:seen]), tmp_path / "model"))
    assert_identical(stream(loaded, [movie[seen:]]), make_learner().fit(movie))


def test_a_saved_corpus_goes_on_to_the_bit(make_movie, make_learner, tmp_path):
    """``fit(a); save; load; partial_fit(b)`` is ``fit(a); partial_fit(b)``."""
    movies = [open_movie(make_movie()), open_movie(make_movie(35, seed=1))]
    learner = make_learner().fit(movies)
    loaded = load(save(learner, tmp_path / "model"))
    assert_identical(loaded, learner)
    assert loaded.watched_ == learner.watched_
    for each in (learner, loaded):
        each.partial_fit(make_movie(20, seed=2)).finish()
    assert_identical(loaded, learner)


def test_a_pickled_learner_goes_on_as_the_original(make_movie, make_learner, pickled):
    movie = make_movie()
    learner = make_learner().partial_fit(movie[:20])
    assert_identical(stream(pickled(learner), [movie[20:]]), stream(learner, [movie[20:]]))


# What it sees


def test_frames_are_seen_through_optics_whitening_and_contrast(make_movie, make_learner):
    """Frames are reduced and blurred, then whitened, and each pair divided by its contrast."""
    learner = make_learner().fit(np.repeat(np.repeat(make_movie(), 2, axis=1), 2, axis=2))
    assert learner.scale_ == 2
    Z, movie = learner.whitening_.matrix_, np.random.default_rng(1).standard_normal((3, 20, 40))
    seen = view(movie, 2)
    tiles = [seen[:, y : y + 5, x : x + 5].reshape(3, 25) @ Z for y in (0, 5) for x in (0, 5, 10, 15)]
    units = [[(a / c, b / c) for a, b in pairwise(tile) for c in [np.sqrt((a @ a + b @ b) / 50)]] for tile in tiles]
    before, after = np.array(units).transpose(2, 1, 0, 3)  # of each pair of frames, tile by tile
    chi = outer_products(FramePairs(before.reshape(-1, 25), after.reshape(-1, 25)), "antisymmetric")
    expected = learner.network_.transform(chi).reshape(2, 8, 4).mean(axis=1)
    assert_allclose(learner.transform(movie), expected, rtol=1e-3, atol=1e-5 * expected.max())


def test_videos_of_several_sizes_are_probed_alike(make_movie, make_learner):
    movies = [make_movie(30)[:, :50], make_movie(40, seed=1)[:, :, :40]]
    seen = make_learner().fit([open_movie(movie) for movie in movies]).state_.seen
    assert [frame.shape for frame in seen.frames] == [(50, 40)] * 2


def test_parameters_that_go_with_video(make_movie, make_learner):
    learner = make_learner(patch=None, patches_per_pair=10).fit(make_movie(20))
    assert (learner.feature_, learner.generators_.shape) == ("antisymmetric", (9, 9))
    assert (MotionLearner(warm_up=10).fit(make_movie(20)).feature_) == "midpoint"
    assert make_learner(feature="change").fit(make_movie(20)).feature_ == "change"


# What is refused


@pytest.mark.parametrize("seen", [5, 30])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda movie: np.where(np.arange(4)[:, None, None] == 2, np.nan, movie[:4]), "infinite pixel in frame {}"),
        (lambda movie: movie[:3, :-1], r"frames have shape \(59, 60\), but this learner has seen frames of \(60, 60\)"),
        (lambda movie: FramePairs(movie[:3], movie[1:4]), "pairs of frames were given; expected frames"),
    ],
    ids=["not finite", "another size", "pairs"],
)
def test_what_is_refused_changes_nothing(make_movie, make_learner, seen, wrong, words):
    movie = make_movie()
    learner = make_learner().partial_fit(movie[:seen])
    with pytest.raises(ValueError, match=words.format(seen + 2)):
        learner.partial_fit(wrong(movie))
    assert_identical(stream(learner, [movie[seen:]]), make_learner().fit(movie))


@pytest.mark.parametrize("frames", [np.zeros((20, 25)), np.zeros((20, 9, 9, 3))])
def test_frames_that_are_no_images_are_refused(make_learner, frames):
    for learn_from in (make_learner().fit, make_learner().partial_fit):
        with pytest.raises(ValueError, match=r"frames have shape \(.*\); expected \(height, width\)"):
            learn_from(frames)


@pytest.mark.parametrize("n_frames", [0, 1])
def test_fewer_than_two_frames_are_refused(make_movie, make_learner, n_frames):
    with pytest.raises(ValueError, match="fewer than 2 consecutive frames"):
        make_learner().fit(make_movie(2)[:n_frames])


def test_a_still_movie_teaches_nothing_and_is_refused(make_movie, make_learner):
    with pytest.raises(VideoError, match="frames: no pair of patches is worth learning from"):
        make_learner().fit(np.repeat(make_movie(1), 20, axis=0))


def test_an_unknown_vision_is_named(make_movie):
    with pytest.raises(ValueError, match=r"^vision is 'night'; expected one of 'plain', 'video'$"):
        MotionLearner(vision="night").fit(make_movie(5))


@pytest.mark.parametrize("seen", [0, 10, 17])
def test_not_fitted_before_the_first_patches_are_shown(make_movie, make_learner, monkeypatch, seen):
    monkeypatch.setattr(corpus, "POOL", 10_000)
    learner = make_learner().partial_fit(make_movie()[:seen])
    for use in (lambda: learner.transform(make_movie(3)), lambda: learner.directions_, lambda: learner.generators_):
        with pytest.raises(NotFittedError, match=r"MotionLearner has chosen \d+ pairs of patches"):
            use()


def test_a_probe_is_rendered_once(make_movie, make_learner, monkeypatch):
    learner, rendered, render = make_learner().fit(make_movie()), [], probing.render
    monkeypatch.setattr(probing, "render", lambda *how: (rendered.append(how), render(*how))[1])
    for _ in range(2):
        learner.directions_, learner.gain_, learner.labels_, learner.predict(make_movie(3))
    assert len(rendered) == len(learner.state_.seen.frames) == 1


def test_a_buffer_used_again_for_the_next_frames_does_no_harm(make_movie, make_learner):
    """Also while the beginning is put by, and while pairs are gathered."""
    movie, learner = make_movie(), make_learner()
    expected = stream(make_learner(), np.split(movie, range(5, N_FRAMES, 5)))
    buffer = np.empty((5, SIZE, SIZE), dtype=np.float32)
    for start in range(0, N_FRAMES, 5):
        buffer[:] = movie[start : start + 5]
        learner.partial_fit(buffer)
        buffer[:] = np.inf
    assert_identical(learner.finish(), expected)


@pytest.mark.parametrize("name, value", [("patch", 7), ("vision", "plain"), ("feature", "change"), ("warm_up", 9)])
def test_a_parameter_that_was_learned_with_is_refused(make_movie, make_learner, name, value):
    learner = make_learner().fit(make_movie()).set_params(**{name: value})
    for use in (learner.partial_fit, learner.transform, learner.predict):
        with pytest.raises(ValueError, match=f"{name} is .* has learned with"):
            use(make_movie(5))
