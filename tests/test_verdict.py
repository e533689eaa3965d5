"""Whether learning has succeeded: the verdict, its nulls, what in a video explains a failure, and what comes of it."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.ndimage import gaussian_filter

from flymotion.keeping import load, save
from flymotion.learner import Changes, MotionLearner, Watched, learn
from flymotion.learner.changes import UNCHANGED, counted
from flymotion.learner.corpus import Pool
from flymotion.learner.probing import Probe
from flymotion.learner.verdict import causes, judged, shown_motions
from flymotion.models.packing import Given
from flymotion.video import VideoError, open_movie
from flymotion.video.viewing import random_pairs, view

SIDE = 80
MOTIONS = (("right", "left"), ("down", "up"))
CARDINAL = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


@pytest.fixture(scope="module")
def make_clip():
    """Frames of a texture that moves as a step says, every way, under light that changes, with noise; bytes."""

    def make(step=0.4, *, noise=2.0, light=0.0, n_frames=48, same=1, seed=0):
        rng = np.random.default_rng(seed)
        layers = [gaussian_filter(rng.standard_normal((SIDE, SIDE)), width, mode="wrap") for width in (1.5, 3, 6)]
        layers += [gaussian_filter(rng.standard_normal(size), (2, 2), mode="wrap") for size in ((SIDE, 1), (1, SIDE))]
        texture = sum(layer / layer.std() for layer in layers)
        spectrum = np.fft.fft2(30 * texture / texture.std())
        fy, fx = np.fft.fftfreq(SIDE)[:, None], np.fft.fftfreq(SIDE)
        angles = np.repeat(rng.uniform(0, 2 * np.pi, n_frames), same)[:n_frames]
        x, y = np.cumsum(step * np.stack([np.cos(angles), np.sin(angles)]), axis=1)[..., None, None]
        clean = 128 + np.fft.ifft2(spectrum * np.exp(-2j * np.pi * (fx * x + fy * y))).real
        gain = 1 + light * np.sin(1.3 * np.arange(n_frames))[:, None, None]
        return np.clip(np.rint(gain * clean + noise * rng.standard_normal(clean.shape)), 0, 255).astype(np.uint8)

    return make


def stamped(make_clip):
    """A still picture without noise, in the corner of which a clock counts."""
    frames = np.repeat(make_clip(0.0, noise=0.0, n_frames=1), 48, axis=0)
    frames[:, 2:12, 2:40] = np.where(np.random.default_rng(0).random((48, 10, 38)) < 0.5, 0, 255)
    return frames


def patched(make_clip):
    """A still picture with noise, and a small part of it that moves."""
    frames = make_clip(0.0)
    frames[:, 30:52, 30:52] = make_clip(seed=1)[:, 30:52, 30:52]
    return frames


CLIPS = {
    "still": (lambda make: make(0.0), r"motion explains 1\d% of the change, and would of noise alone 1\d%"),
    "slow": (
        lambda make: make(0.03, noise=1.0),
        r"content moves by about 0.0[234] pixels a frame: \d\d% of the change",
    ),
    "light": (lambda make: make(0.0, light=0.12), r"light that brightens and dims explains \d\d% of the change"),
    "stamps": (stamped, r"\d\d% of textured patches are identical in both frames"),
    "a part": (patched, r"\d% of textured patches surely move"),
}
"""What fails, and why."""


# Nulls and verdict


@pytest.fixture
def judge():
    """Judge detectors of these directions [deg], accuracy and selectivity."""

    def make(directions, accuracy=0.9, selectivity=1.0, *, names=None, n_patches=20_000, watched=()):
        angles = np.radians(directions)
        ways = np.stack([np.cos(angles), -np.sin(angles)], axis=1)
        n = len(ways)
        probe = Probe(ways, np.ones(n), accuracy, np.ones(2), np.broadcast_to(selectivity, n).astype(float))
        names = names or [f"{MOTIONS[int(abs(y) > abs(x))][int((x if abs(x) > abs(y) else y) < 0)]}" for x, y in ways]
        return judged(probe, CARDINAL, names, shown_motions(CARDINAL, MOTIONS), n_patches, watched)

    return make


def test_four_different_directions_that_are_told_right_are_a_success(judge):
    verdict = judge([2, 88, 185, 271])
    assert verdict.ok and not verdict.oblique
    assert (verdict.reasons, verdict.causes, verdict.remedies, verdict.missing, verdict.doubled) == ((),) * 5
    assert (verdict.chance, verdict.bound, verdict.accuracy) == (0.25, 0.7, 0.9)
    assert verdict.off == pytest.approx(5)
    assert str(verdict) == "learning has succeeded: 90% right (chance 25%)"


def test_doubled_and_missing_directions_are_named(judge):
    """A night drive taught three detectors for right and one for left."""
    verdict = judge([0, 5, 355, 180])
    assert not verdict.ok
    assert (verdict.doubled, verdict.missing) == (("right",), ("down", "up"))
    assert verdict.reasons == ("no detector is for down and up, and several are for right",)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"accuracy": 0.32}, "32% of single patches are told right (by chance 25%, 70% wanted)"),
        ({"selectivity": [1, 1, 1, 0.2]}, "1 of 4 detectors hardly tell motion from its opposite (selectivity 0.20)"),
        ({"names": ["right", "left", "up", "60 deg"]}, "no detector is for down"),
        ({"names": ["right", "left", "up", "silent"], "selectivity": [1, 1, 1, np.nan]}, "no detector is for down"),
    ],
)
def test_each_reason_alone_is_a_failure(judge, how, reason):
    assert judge([0, 90, 180, 270], **how).reasons == (reason,)


def test_fewer_detectors_than_motions_have_to_be_different(judge):
    verdict = judge([0, 90, 180], 0.6)
    assert verdict.ok and verdict.bound == pytest.approx(0.7 * 3 / 4)  # of the fourth motion none can be right
    assert judge([0, 10, 180]).reasons == ("detectors are for 2 different motions instead of 3: several are for right",)
    assert judge([0], np.nan).ok  # it tells nothing apart, and is not asked to
    assert not judge([0], np.nan, 0.1).ok


def test_more_detectors_than_motions_may_be_double_and_some_of_them_dull(judge):
    assert judge([0, 1, 90, 180, 270, 30], selectivity=[1, 1, 1, 1, 1, 0]).ok
    assert judge([0, 1, 90, 180, 180, 271], selectivity=[1, 1, 1, 1, 1, 0]).missing == ("down",)


def test_motions_that_were_not_shown_are_not_missing():
    probe = Probe(np.array([[1.0], [1.0]]), np.ones(2), 0.5, np.ones(1), np.full(2, np.nan))
    assert shown_motions(np.array([[0.1], [0.0]]), (("on", "back"),)) == ["on"]
    assert judged(probe, np.array([[0.1]]), ["on", "on"], ["on"], 5000, ()).missing == ()


def test_oblique_detectors_are_told_of_and_no_failure(judge):
    verdict = judge([20, 110, 200, 290], names=["right", "up", "left", "down"])
    assert verdict.ok and verdict.oblique


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_pairs_that_do_not_belong_together_teach_nothing_and_it_is_said(make_clip, monkeypatch, seed):
    """The null: the same patches, each followed by what another became."""
    flush = Pool.flush

    def shuffled(pool):
        for pairs in pool.gathered:
            pairs.after[:] = pairs.after[np.random.default_rng(0).permutation(len(pairs))]
        return flush(pool)

    monkeypatch.setattr(Pool, "flush", shuffled)
    assert not learn(open_movie(make_clip()), n_pairs=8000, seed=seed).verdict_.ok


def test_directions_that_are_others_are_said_to_be(judge):
    verdict = judge([45, 135, 225, 315], 0.5, names=["45 deg", "135 deg", "225 deg", "315 deg"])
    assert verdict.reasons[0] == "directions are up to 45 deg off right, left, down and up"
    assert "oblique ones prevail" in verdict.causes[0]


# Why


def test_what_motion_light_and_noise_explain_is_theirs(make_clip):
    """Special cases: each alone explains all, or what it does by chance."""
    still = view(make_clip(0.0, noise=0.0, n_frames=2).astype(float), 1)[:1]
    noise = gaussian_filter(np.random.default_rng(0).standard_normal((16, SIDE, SIDE)), (0, 0.7, 0.7))

    def found(after):
        clips = [np.stack([still[0], frame]) for frame in after]
        return counted(*random_pairs(clips, 9, np.random.default_rng(0)), 0.1)

    moved = found(still + 0.3 * np.gradient(still, axis=2))
    assert moved.motion > 0.97 and moved.moving > 0.97 and moved.speed == pytest.approx(0.3, rel=0.15)
    dimmed = found(0.9 * still)
    assert dimmed.light == pytest.approx(1) and dimmed.motion < 0.5
    noisy = found(still + noise)
    assert noisy.motion == pytest.approx(noisy.chance, abs=0.04) and noisy.chance < 0.15 and noisy.light < 0.1
    same = found(still)
    assert same.same == 1 and np.isnan(same.motion) and np.isnan(same.speed)


def test_edges_of_one_orientation_are_seen():
    before, after = (np.sin((np.arange(9) + shift) / 2) * np.ones((1, 9, 9)) for shift in (0, 0.3))
    upright, level = counted(before, after, 0.1), counted(before.mT, after.mT, 0.1)
    assert (upright.level, level.level) == (1, 0)
    assert upright.n_moving == level.n_moving == 1


def test_changes_add_and_are_the_same_however_a_stream_is_cut_up(make_clip):
    clip = make_clip(n_frames=36)

    def seen(splits):
        learner = MotionLearner(vision="video", patch=5, patches_per_pair=20, random_state=0)
        for part in np.split(clip, splits):
            learner.partial_fit(part)
        return learner.finish().watched_[0].changes

    whole = seen([])
    assert seen([7, 8, 30]) == whole
    assert whole.n_pairs == 35 and 0 < whole.n_textured <= 35 * 20
    assert sum([whole, whole], UNCHANGED).speed == pytest.approx(whole.speed)
    assert Changes.unpack(Given(*whole.pack())) == whole


@pytest.mark.slow
@pytest.mark.parametrize(("make", "why"), CLIPS.values(), ids=CLIPS)
def test_a_failure_is_explained_by_what_the_video_shows(make_clip, make, why):
    verdict = learn(open_movie(make(make_clip)), n_pairs=4000).verdict_
    assert not verdict.ok and verdict.remedies
    assert_matches(verdict.causes[0], why)


def assert_matches(text, pattern):
    assert re.search(pattern, text), text


@pytest.mark.slow
def test_steps_that_are_longer_help_where_motion_is_slow(make_clip):
    slow = make_clip(0.03, noise=1.0, n_frames=480, same=40)
    verdict = learn(open_movie(slow[:48]), n_pairs=4000).verdict_
    stride = int(re.search(r"--stride (\d+)", str(verdict))[1])
    assert not verdict.ok and 8 <= stride <= 20
    assert learn(open_movie(slow, stride=stride), n_pairs=8000).verdict_.ok


def test_too_fast_and_edits_and_one_way_are_causes():
    fast = Changes(
        n_textured=100, n_fast=90, by_motion=40_000, by_chance=10_000, log_speeds=100_000, upright=50_000, n_pairs=50
    )
    assert_matches(
        first_cause(fast),
        "90% of the patches that change do so as if they moved by more than 0.8 pixels a frame, reduced by 2",
    )
    cut = Changes(n_textured=100, by_motion=90_000, upright=50_000, n_pairs=50, n_clips=25)
    assert_matches(first_cause(cut), "edits, or missing frames, leave 2.0 pairs of frames a clip")
    edges = Changes(n_textured=100, by_motion=90_000, upright=95_000, n_pairs=50)
    assert_matches(first_cause(edges), "nearly all edges are upright")
    assert list(causes([Watched("old", 1, 50, 0.2, 1)])) == []  # of a file that does not tell


def first_cause(changes):
    return next(causes([Watched("video", 2, 50, 0.2, 1, changes)]))[0]


def test_video_that_teaches_nothing_at_all_says_why():
    noise = np.random.default_rng(0).integers(0, 256, (8, 80, 80)).astype(np.uint8)
    with pytest.raises(VideoError, match=r"no pair of patches is worth learning from \(motion explains 1?\d% of the"):
        learn(open_movie(noise), n_pairs=2000)


# What comes of it


@pytest.fixture(scope="module")
def failed(make_clip):
    """What was learned from noise."""
    return learn(open_movie(make_clip(0.0, n_frames=20)), patch=5, n_pairs=500)


def test_a_model_keeps_its_verdict(failed, tmp_path):
    kept = load(save(failed, tmp_path / "model.safetensors"))
    assert (kept.verdict_.reasons, kept.verdict_.causes, kept.verdict_.remedies) == failed.verdict_[-3:]
    assert_array_equal(kept.verdict_.selectivity, failed.verdict_.selectivity)
    [stream] = kept.state_.vision.streams
    stream.changes = None  # as in files of before it was counted
    old = load(save(kept, tmp_path / "old.safetensors"))
    assert old.watched_[0].changes is None
    assert old.verdict_.reasons == failed.verdict_.reasons and "of the change" not in str(old.verdict_)


def test_the_command_writes_no_model_that_fails_unless_forced(run, failed, monkeypatch, tmp_path):
    monkeypatch.setattr("flymotion.learn", lambda *sources, **options: failed)
    monkeypatch.setattr("flymotion.cli.learning._draw", lambda learner, found, path: path.touch())
    command = ["learn", "frames", "--out", tmp_path / "out"]
    status, printed, err = run(*command)
    assert status == 1 and not (tmp_path / "out").exists()
    assert err.startswith("Error: learning has failed: ") and err.endswith("Nothing is written; --force does.\n")
    assert "direction, measured [deg]" in printed
    status, _, err = run(*command, "--force")
    assert status == 0 and err.startswith("Warning: learning has failed: ")
    status, printed, _ = run("inspect", tmp_path / "out" / "model.safetensors")
    assert status == 0 and "learning has failed: " in printed


def test_what_a_camera_has_seen_is_not_lost(run, failed, monkeypatch, tmp_path):
    monkeypatch.setattr("flymotion.learn", lambda *sources, **options: failed)
    monkeypatch.setattr("flymotion.cli.learning._draw", lambda learner, found, path: path.touch())
    status, _, err = run("learn", "camera:0", "--out", tmp_path / "out")
    assert status == 1 and "Nothing is written" not in err
    assert (tmp_path / "out" / "unfinished" / "model.safetensors").exists()


def test_part_of_a_frame_and_longer_steps_can_be_asked_for(run, failed, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr("flymotion.learn", lambda *sources, **options: (asked.append(options), failed)[1])
    command = ["learn", "frames", "--out", tmp_path / "out"]
    run(*command, "--crop", "0,60,10,70", "--stride", 2, "--scale", 3)
    run(*command)
    assert [{name: options.get(name) for name in ("crop", "stride", "scale")} for options in asked] == [
        {"crop": (0, 60, 10, 70), "stride": 2, "scale": 3},
        {"crop": None, "stride": None, "scale": None},
    ]
    assert run(*command, "--crop", "0,60")[0] == 2
