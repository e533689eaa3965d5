"""Learning from files: bundled photographs, folders, videos, and photographs that it has never seen."""

import os
import re
import threading
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import skimage.data
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy.ndimage import zoom

from flymotion.frames import FramePairs
from flymotion.keeping import load, save
from flymotion.learner import MotionLearner, video_vision
from flymotion.learner.corpus import PatchStream, worthwhile
from flymotion.learner.probing import probes, shifted
from flymotion.learner.sources import BUNDLED, PHOTO_SHIFT, describe, eye_movements, learn, load_photographs
from flymotion.learner.video_noise import contrasts
from flymotion.similarity.features import outer_products
from flymotion.video import VideoError, open_movie, read_movie
from flymotion.video.viewing import view
from flymotion.world.eyes import Grid
from flymotion.world.motions import Translation
from flymotion.world.rendering import render
from flymotion.world.scenes import photograph

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
    scenes = [photograph(getattr(skimage.data, name)(), pixels_per_spacing=1.0) for name in NEW]
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
    with pytest.warns(UserWarning, match="tell 4.% of single pairs right"):  # three by three pixels are too few
        learn([BUNDLED], n_pairs=20_000, patch=3, progress=lambda *news: told.append(news))
    assert told == [(10_000, 20_000), (20_000, 20_000)]
    told.clear()
    learn([write_images(make_movie(64))], n_pairs=200_000, patch=5, progress=lambda *news: told.append(news))
    assert [news[:2] for news in told] == [(15, 64), (31, 64), (47, 64), (63, 64)]
    assert told[0][2].startswith("0 pairs of patches learned, ")
    assert re.fullmatch(r"8\d,\d{3} pairs of patches learned, \d+% kept, \d+% right", told[-1][2])


@pytest.mark.slow
def test_real_videos_run_end_to_end(real_video):
    learner = learn([real_video], n_pairs=2000)
    assert len(describe(learner)) == 4
    assert np.isfinite(learner.generators_.operators).all()
    assert learner.direction_accuracy_ > 0.25


# Movies as they come from cameras


@pytest.fixture(scope="session")
def moved():
    """Frames of a photograph moved by steps of 0.4 pixels, mostly one way, with sensor noise; uint8."""

    @cache
    def make(n_frames=64, height=80, width=96, *, seed=0, noise=2.0):
        rng = np.random.default_rng(seed)
        angles = rng.normal(0.1, 0.5, n_frames)
        steps = 0.4 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        scene = photograph(load_photographs([BUNDLED])[seed % 2], pixels_per_spacing=1.0)
        frames = render(scene, Grid(height, width, 0.6), np.array([300.0, 210.0]) - np.cumsum(steps, axis=0))
        noisy = np.clip(np.round(frames + noise * rng.standard_normal(frames.shape)), 0, 255).astype(np.uint8)
        noisy.flags.writeable = False
        return noisy

    return make


def learned_from(*movies, n_pairs=20_000, patch=5, seed=0, **how):
    return learn([open_movie(movie) for movie in movies], patch=patch, n_pairs=n_pairs, seed=seed, **how)


def assert_learned(learner, least=0.8):
    assert sorted(learner.labels_) == CARDINALS
    assert np.abs((learner.directions_ + 45) % 90 - 45).max() < 15
    assert learner.direction_accuracy_ > least


def test_a_compressed_noisy_video_teaches_the_four_directions(moved, write_video):
    path = write_video("moved.mp4", moved(), options={"crf": "23"})
    learner = learn([path], n_pairs=60_000, patch=7)
    assert_learned(learner)
    (video,) = learner.watched_
    assert (video.name, video.n_pairs, video.n_held_out) == (str(path), 63, 2)
    assert 0.05 < video.share < 0.6
    assert learner.predict(open_movie(path)).shape == (63, 2)


def test_noise_is_what_a_plain_learner_learns_and_it_is_warned_of(moved, write_video):
    path = write_video("moved.mp4", moved(20))
    with pytest.warns(UserWarning, match=f"{path}: frames are learned from as if they were free of noise"):
        MotionLearner(4, patch=5).fit(open_movie(path))


def test_files_of_two_sizes_and_scales_are_one_corpus_in_any_order(moved, tmp_path):
    near, far = moved(40), zoom(moved(24, 40, 50, seed=1), (1, 4, 4), order=1)
    for movies, scales in [((near, far), (1, 4)), ((far, near), (4, 1))]:
        learner = learned_from(*movies, n_pairs=60_000)
        assert_learned(learner)
        assert tuple(video.scale for video in learner.watched_) == scales
        assert [video.n_pairs for video in learner.watched_] == [len(movie) - 1 for movie in movies]
        loaded = load(save(learner, tmp_path / "model.npz"))
        assert loaded.direction_accuracy_ == learner.direction_accuracy_


def test_movies_are_read_in_turns_in_proportion_to_their_lengths(moved, monkeypatch):
    read = []
    push = PatchStream.push
    monkeypatch.setattr(PatchStream, "push", lambda stream, frames: (read.append(stream.seed), push(stream, frames))[1])
    learned_from(moved(128), moved(32, seed=1), n_pairs=3000)
    assert sorted(read) == [0] * 8 + [1] * 2
    assert 1 in read[:2] and 1 in read[3:8]


def test_no_file_is_forgotten_or_drowned(moved):
    """Filters learned from two files are as good for the first as for the last."""
    one, other = moved(64), moved(64, seed=1)
    both, first, last = (learned_from(*movies, n_pairs=60_000) for movies in ((one, other), (one,), (other,)))
    for alone in (first, last):
        pairs = probes(alone.state_.seen, (5, 5), 0)
        assert right_directions(both, pairs) > right_directions(alone, pairs) - 0.05


@pytest.mark.parametrize("n_ahead", [1, 3])
def test_threads_change_nothing_of_what_is_learned(moved, monkeypatch, n_ahead):
    movies = moved(40), moved(30, seed=1)
    learner = learned_from(*movies, n_pairs=6000)
    monkeypatch.setattr(video_vision, "N_AHEAD", n_ahead)
    assert_array_equal(learned_from(*movies, n_pairs=6000).network_.S_, learner.network_.S_)
    monkeypatch.setattr(video_vision, "ahead", lambda steps, n, idle: steps)
    assert_array_equal(learned_from(*movies, n_pairs=6000).network_.S_, learner.network_.S_)


def test_repeated_frames_are_left_out(moved):
    """A converter of frame rates has doubled every frame."""
    doubled = np.repeat(moved(30), 2, axis=0)
    once, twice = (learn(open_movie(movie, duplicates="drop"), patch=5, n_pairs=6000) for movie in (moved(30), doubled))
    assert twice.n_pairs_seen_ == once.n_pairs_seen_ == 29
    assert twice.watched_[0].share == pytest.approx(once.watched_[0].share, abs=0.02)


def test_a_live_source_is_read_once_and_wholly(moved, write_video, tmp_path):
    path, pipe = write_video("moved.mkv", moved(40)), tmp_path / "pipe"
    getattr(os, "mkfifo", lambda _: pytest.skip("there are no named pipes here"))(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    learner = learn([pipe], n_pairs=60_000, patch=5)
    writer.join(10)
    assert learner.n_pairs_seen_ == 39  # its beginning, which was looked at, too
    assert learner.watched_[0].n_held_out == 1


def test_an_endless_source_is_read_until_there_are_enough_pairs(moved):
    endless = replace(open_movie(moved(128)), live=True, n_frames_estimate=None)
    learner = learn(endless, patch=5, n_pairs=2000)
    assert learner.n_pairs_seen_ < 64
    assert learner.network_.n_samples_seen_ >= 2000


@pytest.mark.parametrize(("reading", "n_pairs"), [({"max_frames": 12}, 11), ({"start": 10}, 29), ({"stop": 15}, 14)])
def test_a_part_of_a_movie_can_be_read(write_images, moved, reading, n_pairs):
    assert learn([write_images(moved(40))], n_pairs=1000, patch=5, **reading).n_pairs_seen_ == n_pairs


def test_the_command_says_what_was_learned_from_and_warns(run, write_images, moved, monkeypatch, tmp_path):
    command = ["learn", write_images(moved(40)), "--patch", 5, "--n-pairs", 30_000, "--out", tmp_path / "out"]
    status, printed, err = run(*command)
    assert (status, err) == (0, "")
    words = " ".join(printed.split())
    assert re.search(r"39 pairs of frames, reduced by 1 so that .*; \d+% of their patches learned from", words)
    assert re.search(r"direction right on \d\d\.\d% of single held-out patches at known shifts \(chance 25%\)", words)
    monkeypatch.setattr("flymotion.learner.verdict.OBLIQUE", -1.0)
    status, _, err = run(*command, "--max-frames", 30)
    assert status == 0
    assert re.fullmatch(r"Warning: the directions are up to \d+ deg off right, up, left and down\n", err)


# Proofs, on real videos


@pytest.fixture(scope="session")
def taught():
    """What ``flymotion learn`` makes of one video, nothing set but the seed."""
    return cache(lambda path, seed: learn([path], seed=seed))


@pytest.fixture(scope="session")
def unseen(real_panoramas):
    """Patches of photographs under simulated eye movements: of scikit-image's, or of panoramas, log luminance.

    No setting was chosen on the panoramas.
    """

    @cache
    def images(name):
        if name == "photographs":
            return [getattr(skimage.data, new)() for new in NEW]
        bright = [image.astype(float) for image in real_panoramas]
        return [np.log(np.maximum(image, image[image > 0].min()))[64:192] for image in bright]  # within 45 deg of level

    def make(name, seed):
        scenes = [photograph(image, pixels_per_spacing=1.0) for image in images(name)]
        return FramePairs.concatenate(list(eye_movements(scenes, 9, 10_000, seed=100 + seed)))

    return make


@pytest.fixture(scope="session")
def looks():
    """Eight frames of a video, evenly spread over all of it, as seen at a scale."""

    @cache
    def make(path, scale):
        movie = open_movie(path)
        every = max(1, movie.n_frames_estimate // 8)
        return [view(frame[None], scale)[0] for frame in list(movie)[::every]]

    return make


def optimal_cosines(learner, frames, *, chosen):
    """Cosine of each filter with the population-optimal operator of its direction and of the same whitening.

    That operator is E[chi | direction], the mean of the product feature over patches whose direction of motion is known
    (:mod:`flymotion.generators.theory`), which is what the optimum of NSM points at; not the operator of least squared
    error, from which it differs by the covariance of the frames as whitened (0.52 to 0.69 was measured with that).
    The population is frames at known shifts, seen through the learner's scale, optics and whitening, in all symmetries
    of the square; with ``chosen``, those of their patches that would be chosen for learning.
    """
    n = 24_000 // len(frames)
    rng = np.random.default_rng(5)
    pairs = FramePairs.concatenate([shifted(frame, (9, 9), n, rng) for frame in frames])
    median = np.median(contrasts(pairs.before, pairs.after))
    worth = worthwhile(pairs.before, pairs.after, median, learner.whitening_.matrix_)
    pairs = pairs[worth | (not chosen)]
    chi = outer_products(learner.state_.vision.see(pairs))
    x, y = chi.accumulate(pairs.motion.astype(chi.dtype))
    pixels = np.arange(81).reshape(9, 9)
    mirrored, upside_down, transposed = (way.ravel() for way in (pixels[:, ::-1], pixels[::-1], pixels.T))
    across = x + y[np.ix_(transposed, transposed)]
    across = across - across[np.ix_(mirrored, mirrored)]
    across = across + across[np.ix_(upside_down, upside_down)]
    axes = np.stack([across, across[np.ix_(transposed, transposed)]])
    optimal = np.tensordot(np.round(learner.ways_), axes / np.linalg.norm(across), axes=1)
    filters = learner.network_.generators_
    return np.sum(filters * optimal, axis=(1, 2)) / np.linalg.norm(filters, axis=(1, 2))


def registered(movie):
    """Shift of each frame (x right, y down) by phase correlation [pixels per frame].

    Windowed: the edges of a frame stay where they are while its content moves, and would be registered as well.
    """
    registration = pytest.importorskip("skimage.registration")
    window = np.hanning(movie.shape[1])[:, None] * np.hanning(movie.shape[2])
    shifts = [
        registration.phase_cross_correlation(a * window, b * window, upsample_factor=50)[0] for a, b in pairwise(movie)
    ]
    return -np.array(shifts)[:, ::-1]


each_seed = pytest.mark.parametrize("seed", range(10))


@pytest.mark.slow
@each_seed
def test_a_real_video_teaches_the_four_cardinal_directions(taught, real_video, seed):
    learner = taught(real_video, seed)
    off = np.abs((learner.directions_ + 45) % 90 - 45).max()
    held_out = learner.direction_accuracy_
    print(f"{real_video.stem} {seed}: {off:.1f} deg off, held-out {held_out:.3f}, {learner.watched_[0]}")
    assert sorted(learner.labels_) == CARDINALS
    assert off < 15


@pytest.mark.slow
@each_seed
def test_its_filters_are_the_optimal_ones_of_their_whitening(taught, looks, real_video, seed):
    learner = taught(real_video, seed)
    frames = looks(real_video, learner.scale_)
    least, of_chosen = (optimal_cosines(learner, frames, chosen=chosen).min() for chosen in (False, True))
    print(f"{real_video.stem} {seed}: least cosine {least:.3f}, with the operator of chosen patches {of_chosen:.3f}")
    assert least > 0.75
    assert of_chosen > 0.75


@pytest.mark.slow
@each_seed
def test_what_it_teaches_holds_for_photographs_never_seen(taught, unseen, real_video, seed):
    photographs, panoramas = (
        right_directions(taught(real_video, seed), unseen(which, seed)) for which in ("photographs", "panoramas")
    )
    print(f"{real_video.stem} {seed}: photographs {photographs:.3f}, panoramas {panoramas:.3f}")
    assert photographs >= 0.90
    assert panoramas >= 0.90


@pytest.mark.slow
@each_seed
def test_global_motion_of_a_real_video_is_that_of_registration(real_data, taught, seed):
    """Of one whose camera shakes, so that registration is sure of all of it."""
    path = real_data("video", "realshort.mp4")
    movie = read_movie(path)
    velocity, shifts = taught(path, seed).predict(movie), registered(movie)
    correlations = np.array([np.corrcoef(velocity[:, axis], shifts[:, axis])[0, 1] for axis in (0, 1)])
    print(f"realshort {seed}: correlation of x {correlations[0]:.3f}, of y {correlations[1]:.3f}")
    assert (correlations > 0.9).all()


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
    still = write_images(np.repeat(make_movie(1), 5, axis=0))
    with pytest.raises(VideoError, match="fewer than 2 consecutive frames that differ"):
        learn([still], patch=5)
    with pytest.raises(VideoError, match="no pair of patches is worth learning from"):
        learn([still], patch=5, duplicates="keep")


def test_a_photograph_smaller_than_a_patch_is_refused(write_images):
    with pytest.raises(ValueError, match="does not hold the eye"):
        learn([write_images([np.ones((5, 5))])], photographs=True)


def test_a_file_named_bundled_is_a_file(write_images, make_movie, monkeypatch):
    folder = write_images(make_movie(3), "bundled")
    monkeypatch.chdir(folder.parent)
    assert learn([BUNDLED], n_pairs=1000, patch=5).n_pairs_seen_ == 2
    assert len(load_photographs([BUNDLED])) == 3
