"""Models of flymotion 0.1, in ``models_of_0_1``: they load, answer and go on as they did there."""

import json
from pathlib import Path

import numpy as np
import pytest
from kept_models import NAMES, frames, go_on, street
from numpy.testing import assert_allclose, assert_array_equal

from flymotion import MotionLearner
from flymotion.frames import FramePairs
from flymotion.keeping import ModelError, load, save

FOLDER = Path(__file__).parent / "models_of_0_1"

EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
"""What flymotion 0.1 said once it had gone on from each: outputs, labels, gain, accuracy, pairs and frames seen."""


def named(n_first, n_last):
    x = frames(61, (6,))
    motion = np.random.default_rng(1).normal(size=(60, 2))
    return FramePairs(x[:-1], x[1:], motion, NAMES)[n_first:n_last]


MORE = {
    "plain-warming-up": (frames(700)[10:], frames(10)),
    "plain-network-warming-up": (frames(700)[60:], frames(700)[:10]),
    "plain-learned": (frames(700)[600:], frames(700)[:10]),
    "motions-by-name": (named(30, 60), named(0, 10)),
    "patches": (frames(40, (9, 11))[30:], frames(40, (9, 11))[:5]),
    "video-beginning": (street(100)[20:], street(100)[:5]),
    "video-amid": (street(100)[70:], street(100)[:5]),
    "video-learned": (street(100)[:0], street(100)[:5]),
    "first-plain": (frames(700)[600:], frames(700)[:10]),
}
"""What each went on with, and what it was asked about then."""


@pytest.mark.case("B37")
@pytest.mark.parametrize("name", [name for name in MORE if name != "patches"])
def test_models_of_0_1_go_on_as_they_did(name):
    learner, (more, asked), expected = load(FOLDER / f"{name}.npz"), MORE[name], EXPECTED[name]
    learner.partial_fit(more).finish()
    assert learner.labels_ == expected["labels"]
    assert [learner.n_pairs_seen_, learner.n_frames_seen_] == expected["n"]
    assert_allclose(learner.transform(asked)[:4], expected["transform"], rtol=1e-6, atol=1e-9)
    assert_allclose(learner.gain_, expected["gain"], rtol=1e-6)
    assert learner.direction_accuracy_ == pytest.approx(expected["accuracy"], abs=0.002)


def test_a_network_that_had_not_started_starts_as_one_of_today():
    """Of four units and square features, that is not where one of 0.1 started."""
    old, (more, _) = load(FOLDER / "patches.npz"), MORE["patches"]
    new = MotionLearner(4, patch=3, patches_per_pair=4, warm_up=50, random_state=0)
    new.partial_fit(frames(40, (9, 11))[:30])
    for each in (old, new):
        each.partial_fit(more).finish()
    assert_array_equal(new.network_.S_, old.network_.S_)


@pytest.mark.case("B37")
def test_the_first_files_of_video_answer_and_do_not_go_on(tmp_path):
    learner, expected = load(FOLDER / "first-video.npz"), EXPECTED["first-video"]
    assert (learner.vision, learner.scale_, learner.n_pairs_seen_) == ("video", 1, 99)
    for each in (learner, load(save(learner, tmp_path / "again"))):
        assert each.labels_ == expected["labels"]
        assert_allclose(each.transform(street(100)[:5])[:4], expected["transform"], rtol=1e-4, atol=1e-6)
        with pytest.raises(ValueError, match="does not hold what learning from video goes on from; learn anew"):
            each.partial_fit(street(20))


@pytest.mark.parametrize("name", MORE)
def test_models_of_0_1_are_kept_as_those_of_today(tmp_path, name):
    old = load(FOLDER / f"{name}.npz")
    new = load(save(old, tmp_path / "model"))
    again = save(new, tmp_path / "again")
    assert again.read_bytes() == (tmp_path / "model").read_bytes()
    for each in (old, new):
        each.partial_fit(MORE[name][0]).finish()
    assert_array_equal(new.network_.S_, old.network_.S_)


def test_a_model_of_0_1_is_made_as_one_of_today(tmp_path):
    """From the same frames, and to the bit: only how it is kept has changed."""
    old = go_on("a learner", load(FOLDER / "plain-learned.npz"))
    from kept_models import GOING_ON

    new = go_on("a learner", GOING_ON["a learner"]())
    assert_allclose(new.network_.S_, old.network_.S_, rtol=1e-9)


def test_every_file_here_is_looked_at():
    assert {path.stem for path in FOLDER.glob("*.npz")} == {*MORE, "first-video"} == EXPECTED.keys()


@pytest.mark.case("B36")
@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path, share):
    content = (FOLDER / "plain-learned.npz").read_bytes()
    (tmp_path / "model").write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelError, match=r"model: not a flymotion model, or a damaged one"):
        load(tmp_path / "model")
