"""Units that answer nothing have no direction, wherever one meets them, and what shows no motion teaches none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from sklearn.exceptions import NotFittedError

import flymotion
from flymotion import plots
from flymotion.detecting import detect
from flymotion.detectors import learned as learned_detector
from flymotion.detectors import of_learner
from flymotion.field import MotionField
from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.keeping import load, save
from flymotion.learner import BUNDLED, MotionLearner, describe, load_photographs
from flymotion.learner.sources import eye_movements
from flymotion.stimuli import drifting_grating
from flymotion.tuning import tune
from flymotion.world.eyes import Grid, Line
from flymotion.world.motions import Translation
from flymotion.world.rendering import render, sample_pairs
from flymotion.world.scenes import ExponentialNoise, photograph

SILENT = 1


def silenced(learner, units):
    """Let units forget all that they have learned."""
    state = learner.network_._state
    state.S[units], state.R[units], state.R[:, units] = 0, 0, 0
    learner.state_._meaning = None
    return learner


@pytest.fixture(scope="module")
def photographs():
    scenes = [photograph(image, pixels_per_spacing=1.0) for image in load_photographs([BUNDLED])]
    return FramePairs.concatenate(list(eye_movements(scenes, 3, 3000, 0)))


@pytest.fixture
def make_silenced(photographs):
    """A learner of four directions, some units of which have never answered."""

    def make(units=(SILENT,)):
        return silenced(MotionLearner(4, random_state=0).fit(photographs), list(units))

    return make


@pytest.fixture
def movie():
    image = load_photographs([BUNDLED])[0]
    return render(
        photograph(image, pixels_per_spacing=1.0), Grid(40, 40, 0.6), [[320, 210], [319.8, 210], [319.6, 210]]
    )


def test_silent_units_have_no_direction(make_silenced):
    learner = make_silenced()
    with pytest.warns(UserWarning, match=r"detectors \[1\] answer no motion"):
        labels = learner.labels_
    others = [0, 2, 3]
    assert labels[SILENT] == learner.get_feature_names_out()[SILENT] == "silent"
    assert "silent" not in [labels[i] for i in others]
    assert np.isnan(learner.directions_[SILENT]) and np.isnan(learner.ways_[SILENT]).all()
    assert learner.gain_[SILENT] == 0
    assert np.isfinite(learner.directions_[others]).all() and (learner.gain_[others] > 0).all()
    assert 0.3 < learner.direction_accuracy_ < 0.75  # a quarter of the motions has no detector
    assert np.isnan(learner.generators_.directions()[SILENT])


ANSWERS = {
    "transform": lambda learner, pairs, movie, folder: learner.transform(pairs),
    "transform of a movie": lambda learner, pairs, movie, folder: learner.transform(movie),
    "predict": lambda learner, pairs, movie, folder: learner.predict(movie),
    "score": lambda learner, pairs, movie, folder: learner.score(pairs),
    "gain_": lambda learner, pairs, movie, folder: learner.gain_,
    "describe": lambda learner, pairs, movie, folder: [d.gain for d in describe(learner)],
    "of_learner": lambda learner, pairs, movie, folder: of_learner(learner)(movie, 0.01),
    "its directions": lambda learner, pairs, movie, folder: of_learner(learner).directions,
    "tune": lambda learner, pairs, movie, folder: (
        tune(of_learner(learner), drifting_grating, {"direction": [0, 90]}, dt=0.05).response
    ),
    "a field": lambda learner, pairs, movie, folder: MotionField(learner.generators_).between(*movie[:2]).directions,
    "its opponents": lambda learner, pairs, movie, folder: (
        MotionField(learner.generators_).between(*movie[:2]).opponent
    ),
    "fitted": lambda learner, pairs, movie, folder: learner.generators_.fitted(pairs).operators,
}


@pytest.mark.case("B34")
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_answers_of_a_learner_with_silent_units_are_finite(make_silenced, photographs, movie, tmp_path, answer):
    learner = make_silenced()
    with pytest.warns(UserWarning, match="answer no motion"):
        learner.labels_  # noqa: B018 - finds them out, and warns
    assert np.isfinite(answer(learner, photographs, movie, tmp_path)).all()


def test_detect_takes_the_units_that_answer(make_silenced, movie):
    steps = list(detect(movie, rate=25, model=make_silenced()))
    assert np.isfinite([steps[1].motion.x, steps[1].motion.y]).all()
    assert steps[1].responses.shape == (3,)


@pytest.mark.filterwarnings("always:.*answer no motion")
def test_figures_and_tables_say_that_a_unit_is_silent(make_silenced, run, monkeypatch, tmp_path):
    learner = make_silenced()
    monkeypatch.setattr(flymotion, "learn", lambda *how, **options: learner)
    status, printed, err = run("learn", BUNDLED, "--force", "--out", tmp_path)
    assert status == 0
    [row] = [line.split() for line in printed.splitlines() if line.strip().startswith("silent")]
    assert row[1:] == ["-", "0", "0.00", "0.00"]
    assert "detectors [1] answer no motion" in err
    plots.filter_sheet(learner.generators_, learner.labels_).savefig(tmp_path / "sheet.png", dpi=40)


def test_a_model_keeps_its_silent_units(make_silenced, tmp_path):
    twin = load(save(make_silenced(), tmp_path / "model.npz"))
    with pytest.warns(UserWarning, match="answer no motion"):
        assert twin.labels_[SILENT] == "silent"


def test_operators_that_are_0_make_no_detector(make_silenced):
    learner = make_silenced()
    assert len(of_learner(learner).directions) == 3
    with pytest.raises(ValueError, match=r"operators \[1\] are 0, which prefer no direction; leave them out"):
        learned_detector(learner.generators_)
    with pytest.raises(ValueError, match="no unit of the learner has ever answered"):
        of_learner(make_silenced(range(4)))
    assert_array_equal(np.isnan(Generators(np.zeros((2, 9, 9)), (3, 3)).directions()), True)


def test_too_few_pairs_leave_units_silent_and_say_so():
    scene = ExponentialNoise(3.0, ndim=2, period=64.0, random_state=0)
    pairs = sample_pairs(scene, Grid(3, 3), Translation(0.3, angles=[0]), 5, 0)
    with pytest.warns(UserWarning, match=r"detectors \[7\] answer no motion"):
        learner = MotionLearner(8, random_state=0).fit(pairs)
    assert learner.labels_.count("silent") == 1


# Nothing to see

FRAMES = {
    "a line of one grey": np.full((300, 7), 0.1),
    "an image of one grey": np.full((60, 12, 12), 100.0, dtype=np.float32),
    "bytes of one grey": np.full((60, 12, 12), 100, dtype=np.uint8),
    "flicker": np.repeat(np.random.default_rng(0).random((300, 1)), 7, axis=1),
    "one grey, rendered": sample_pairs(photograph(np.full((40, 40), 99.0)), Grid(5, 5), Translation(0.3), 300, 0),
}
STILL = {
    "a line": np.repeat(np.random.default_rng(0).random((1, 7)), 300, axis=0),
    "an image": np.repeat(np.random.default_rng(0).random((1, 12, 12)), 60, axis=0),
    "pairs": FramePairs(*np.repeat(np.random.default_rng(0).random((1, 300, 7)), 2, axis=0), np.ones(300)),
}


def whole(learner, movie):
    return learner.fit(movie)


def in_parts(learner, movie):
    for part in (movie[:20], movie[20:]):
        learner.partial_fit(part)
    return learner.finish()


@pytest.mark.case("B08")
@pytest.mark.parametrize("learn", [whole, in_parts])
@pytest.mark.parametrize("warm_up", [20, 5000])
@pytest.mark.parametrize("movie", FRAMES.values(), ids=FRAMES)
def test_frames_without_texture_teach_no_directions(movie, warm_up, learn):
    learner = MotionLearner(2, warm_up=warm_up, patches_per_pair=3, random_state=0)
    with pytest.raises(ValueError, match="the pixels of each frame are all alike; expected frames with texture"):
        learn(learner, movie)
    assert not hasattr(learner, "labels_")


@pytest.mark.parametrize("learn", [whole, in_parts])
@pytest.mark.parametrize("warm_up", [20, 5000])
@pytest.mark.parametrize("movie", STILL.values(), ids=STILL)
def test_frames_that_never_change_teach_no_directions(movie, warm_up, learn):
    learner = MotionLearner(2, warm_up=warm_up, patches_per_pair=3, random_state=0)
    with pytest.raises(ValueError, match="no frame differs from the one before; expected content that moves"):
        learn(learner, movie)


def test_a_photograph_of_one_grey_teaches_nothing(run, tmp_path):
    Image.new("L", (40, 40), 100).save(tmp_path / "grey.png")
    status, _, err = run("learn", tmp_path / "grey.png", "--n-pairs", 300, "--out", tmp_path / "out")
    assert status == 2
    assert "the pixels of each frame are all alike" in " ".join(err.split())


@pytest.mark.parametrize("split", [[], [5], [39, 40, 41], range(1, 300)], ids=str)
def test_the_dark_before_a_movie_changes_nothing(split):
    """B01, of frames: until there is texture nothing is whitened, however the stream is cut."""
    scene, motion = ExponentialNoise(3.0, period=4096.0, random_state=0), Translation(0.3, ndim=1)
    pairs = sample_pairs(scene, Line(5), motion, 300, random_state=0)
    dark = FramePairs(*np.full((2, 40, 5), 0.1), np.zeros(40), pairs.names)
    late, alone = (MotionLearner(2, warm_up=20, random_state=0) for _ in range(2))
    both = FramePairs.concatenate([dark, pairs])
    for part in np.split(np.arange(340), split):
        late.partial_fit(both[part])
    late.finish(), alone.fit(pairs)
    assert_allclose(late.network_.S_, alone.network_.S_, rtol=1e-9, atol=1e-12)
    assert_array_equal(late.whitening_.matrix_, alone.whitening_.matrix_)


def test_a_stream_without_texture_says_so():
    learner = MotionLearner(2, warm_up=20).partial_fit(np.full((50, 7), 0.1))
    with pytest.raises(NotFittedError, match="49 pairs of frames without texture"):
        learner.transform(np.zeros((3, 7)))


def test_a_single_pixel_sees_no_motion():
    with pytest.raises(ValueError, match=r"frames have 1 feature\(s\), a single pixel; expected more"):
        MotionLearner(2).partial_fit(np.random.default_rng(0).random((30, 1)))


# One detector


def test_a_single_detector_has_no_accuracy(photographs):
    """It is the strongest of one: chance would be right always."""
    learner = MotionLearner(1, random_state=0).fit(photographs[:1000])
    assert np.isnan(learner.direction_accuracy_) and np.isnan(learner.score(photographs))
    assert learner.gain_ > 0 and len(learner.labels_) == 1


# Doubt


def test_detectors_that_are_not_for_the_motions_shown_warn():
    scene = ExponentialNoise(3.0, ndim=2, period=256.0, random_state=0)
    pairs = sample_pairs(scene, Grid(4, 4, 0.8), Translation(0.3), 5000, 0)
    elsewhere = FramePairs(pairs.before, pairs.after[::-1].copy(), pairs.motion, pairs.names)
    with pytest.warns(UserWarning, match=r"the detectors \(.*\) tell \d\d% of single pairs right, by chance 25%"):
        learner = MotionLearner(4, random_state=0).fit(elsewhere)
    assert learner.direction_accuracy_ < 0.5
    assert len(learner.labels_) == 4  # said once
    MotionLearner(4, random_state=0).fit(pairs)


def test_motion_one_way_is_no_reason_to_doubt():
    scene = ExponentialNoise(3.0, ndim=2, period=64.0, random_state=0)
    pairs = sample_pairs(scene, Grid(4, 4), Translation(0.3, angles=[0]), 5000, 0)
    assert set(MotionLearner(4, random_state=0).fit(pairs).labels_) == {"right"}


def test_the_command_says_that_one_detector_tells_nothing_apart(run, tmp_path):
    status, printed, err = run("learn", BUNDLED, "--n-components", 1, "--patch", 3, "--n-pairs", 500, "--out", tmp_path)
    assert (status, err) == (0, "")
    assert "one detector alone tells no direction from another" in printed
