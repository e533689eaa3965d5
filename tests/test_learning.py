"""Learning from files: bundled photographs, folders, videos, and photographs that it has never seen."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from flymotion.eyes import Grid
from flymotion.frames import FramePairs
from flymotion.learning import BUNDLED, PHOTO_SHIFT, describe, eye_movements, learn, load_photographs
from flymotion.motions import Translation
from flymotion.render import render
from flymotion.scenes import photograph
from flymotion.video import VideoError

VIDEOS = Path(__file__).parents[2] / "shared" / "data" / "video"
LARGE = ["cockatoo", "solidWhiteRight"]
NEW = ["camera", "astronaut", "coffee", "chelsea", "coins", "rocket", "moon", "brick", "grass", "gravel"]
CARDINALS = ["down", "left", "right", "up"]


@pytest.fixture
def write_images(tmp_path):
    """Write images into a folder and return it."""

    def write(images, folder="images", suffix="png"):
        path = tmp_path / folder
        path.mkdir()
        for i, image in enumerate(images):
            Image.fromarray(np.clip(np.round(image), 0, 255).astype(np.uint8)).save(path / f"frame {i}.{suffix}")
        return path

    return write


@pytest.fixture
def make_movie():
    """Frames of a bundled photograph that moves by small random steps."""

    def make(n_frames=40, size=40):
        steps = Translation(PHOTO_SHIFT).steps(n_frames, np.random.default_rng(0))
        scene = photograph(load_photographs([BUNDLED])[0], pixels_per_spacing=1.0)
        return render(scene, Grid(size, size, 0.6), np.array([320.0, 210.0]) - np.cumsum(steps, axis=0))

    return make


def right_directions(learner, pairs):
    """Share of moving pairs whose strongest detector's direction is within 45 degrees of the true one."""
    strongest = learner.directions_[learner.transform(pairs).argmax(axis=1)]
    truth = np.degrees(np.arctan2(-pairs.motion[:, 1], pairs.motion[:, 0]))
    return np.mean(np.abs((strongest - truth + 180) % 360 - 180) < 45)


# Photographs


def test_bundled_photographs_teach_the_four_directions():
    learner = learn([BUNDLED], n_pairs=20_000)
    assert sorted(learner.labels_) == CARDINALS
    assert learner.direction_accuracy_ > 0.85
    assert learner.n_pairs_seen_ == 20_000
    for detector, label in zip(describe(learner), learner.labels_, strict=True):
        assert detector.label == label
        assert detector.gain > 0.5
        assert detector.antisymmetric_share > 0.8
        assert detector.cosine > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_directions_are_right_on_photographs_never_trained_on(seed):
    data = pytest.importorskip("skimage.data")
    scenes = [photograph(getattr(data, name)(), pixels_per_spacing=1.0) for name in NEW]
    pairs = FramePairs.concatenate(list(eye_movements(scenes, 7, 20_000, seed=1000 + seed)))
    learner = learn([BUNDLED], seed=seed)
    assert sorted(learner.labels_) == CARDINALS
    assert right_directions(learner, pairs) >= 0.90


def test_eye_movements_are_small_known_and_over_all_photographs():
    flat = [photograph(np.full((30, 40), level), pixels_per_spacing=1.0) for level in (1.0, 2.0, 3.0)]
    pairs = FramePairs.concatenate(list(eye_movements(flat, 5, 25_000, 0)))
    assert len(pairs) == 25_000 and pairs.pixels == (5, 5)
    levels, counts = np.unique(pairs.before[:1000, 0, 0].round(6), return_counts=True)
    assert_array_equal(levels, [1, 2, 3])  # well mixed
    assert counts.min() > 250
    assert (np.count_nonzero(pairs.motion, axis=1) == 1).all()  # along one axis
    assert 0.29 < np.abs(pairs.motion).max() <= PHOTO_SHIFT


@pytest.mark.parametrize("n_pairs", [1, 2, 9_999, 10_001])
def test_eye_movements_are_about_as_many_as_asked_for(n_pairs):
    flat = [photograph(np.ones((30, 40)), pixels_per_spacing=1.0)] * 2
    assert sum(map(len, eye_movements(flat, 2, n_pairs, 0))) == pytest.approx(n_pairs, rel=1e-3)


def test_same_seed_same_detectors():
    first, again, other = (learn([BUNDLED], n_pairs=2000, patch=3, seed=seed) for seed in (1, 1, 2))
    assert_array_equal(again.network_.S_, first.network_.S_)
    assert not np.array_equal(other.network_.S_, first.network_.S_)


def test_folders_of_photographs_may_hold_sizes_and_files_of_all_kinds(write_images):
    folder = write_images([np.full((30, 40), 10.0), np.full((50, 20, 3), 20.0)])
    (folder / "notes.txt").write_text("not an image")
    (folder / ".hidden.png").write_bytes(b"")
    (folder / "more").mkdir()
    images = load_photographs([folder, BUNDLED, folder / "frame 1.png"])
    assert [image.shape for image in images] == [(30, 40), (50, 20), (427, 640), (427, 640), (50, 20)]
    assert_allclose(images[1], 20, atol=1e-4)


def test_a_single_image_is_a_photograph(write_images):
    image = load_photographs([BUNDLED])[0][100:200, 100:200]
    folder = write_images([image])
    learner = learn([folder / "frame 0.png"], n_pairs=500, patch=5)
    assert learner.n_pairs_seen_ == 500
    assert_array_equal(learn([folder], n_pairs=500, patch=5, photographs=True).network_.S_, learner.network_.S_)


# Movies


def test_a_folder_is_a_movie_unless_its_images_are_photographs(write_images, make_movie):
    folder = write_images(make_movie())
    movie = learn([folder], n_pairs=8000, patch=5)
    assert movie.n_pairs_seen_ == 39
    photographs = learn([folder], n_pairs=800, patch=5, photographs=True)
    assert photographs.n_pairs_seen_ == 800


def test_several_movies_are_cut_from_each_other(write_images, make_movie):
    folders = [write_images(make_movie(20), folder) for folder in ("one", "two")]
    assert learn(folders, n_pairs=1000, patch=5).n_pairs_seen_ == 38


def test_movies_of_two_sizes_are_one_corpus(write_images, make_movie):
    folders = [write_images(make_movie(20, size), f"size {size}") for size in (40, 48)]
    assert learn(folders, n_pairs=1000, patch=5).n_pairs_seen_ == 38


def test_progress_is_told(write_images, make_movie):
    told = []
    learn([BUNDLED], n_pairs=20_000, patch=3, progress=lambda *news: told.append(news))
    assert told == [(10_000, 20_000), (20_000, 20_000)]
    told.clear()
    learn([write_images(make_movie(20))], n_pairs=1000, patch=5, progress=lambda *news: told.append(news))
    assert told == [(15, 20), (19, 20)]


@pytest.mark.skipif(not VIDEOS.is_dir(), reason="the shared videos are not here")
@pytest.mark.parametrize("name", ["realshort", *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)])
def test_real_videos_run_end_to_end(name):
    learner = learn([VIDEOS / f"{name}.mp4"], n_pairs=2000)
    assert len(describe(learner)) == 4
    assert np.isfinite(learner.generators_.operators).all()
    assert learner.direction_accuracy_ > 0.25


@pytest.mark.slow
@pytest.mark.skipif(not VIDEOS.is_dir(), reason="the shared videos are not here")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["realshort", *LARGE])
def test_what_a_real_video_teaches_holds_for_photographs_never_seen(name, seed):
    data = pytest.importorskip("skimage.data")
    learner = learn([VIDEOS / f"{name}.mp4"], patch=9, seed=seed)
    off = (learner.directions_ + 45) % 90 - 45
    assert sorted(learner.labels_) == CARDINALS
    assert np.abs(off).max() < 15
    scenes = [photograph(getattr(data, new)(), pixels_per_spacing=1.0) for new in NEW]
    pairs = FramePairs.concatenate(list(eye_movements(scenes, 9, 10_000, seed=100 + seed)))
    assert right_directions(learner, pairs) >= 0.9


# What is refused


def test_no_source_is_refused():
    with pytest.raises(VideoError, match="no sources; expected at least one video, folder, photograph or 'bundled'"):
        learn([])


@pytest.mark.parametrize("photographs", [False, True])
def test_missing_and_empty_folders_are_named(tmp_path, photographs):
    (tmp_path / "empty").mkdir()
    for name, reason in [("missing", "No such file"), ("empty", "the folder holds no images")]:
        with pytest.raises(VideoError, match=f"{tmp_path / name}: {reason}"):
            learn([tmp_path / name], photographs=photographs)


def test_photographs_and_movies_do_not_mix(write_images, make_movie):
    folder = write_images(make_movie(3))
    for photo in (BUNDLED, str(folder / "frame 0.png")):
        with pytest.raises(VideoError, match=rf"^{photo}: photographs cannot be mixed with videos"):
            learn([folder, photo])


def test_a_movie_of_one_frame_is_refused(write_images, make_movie):
    with pytest.raises(VideoError, match="fewer than 2 consecutive frames"):
        learn([write_images(make_movie(1))])


def test_a_still_movie_is_refused(write_images, make_movie):
    with pytest.raises(VideoError, match="no pair of patches is worth learning from"):
        learn([write_images(np.repeat(make_movie(1), 5, axis=0))], patch=5)


def test_a_photograph_smaller_than_a_patch_is_refused(write_images):
    with pytest.raises(ValueError, match="does not hold the eye"):
        learn([write_images([np.ones((5, 5))])], photographs=True)


def test_a_file_named_bundled_is_a_file(write_images, make_movie, monkeypatch):
    folder = write_images(make_movie(3), "bundled")
    monkeypatch.chdir(folder.parent)
    assert learn([BUNDLED], n_pairs=1000, patch=5).n_pairs_seen_ == 2
    assert len(load_photographs([BUNDLED])) == 3
