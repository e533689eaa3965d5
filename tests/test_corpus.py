"""From a video to the pairs worth learning from: noise, scale, selection, balance, and a stream without seams."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter

from flymotion.frames import FramePairs
from flymotion.generators import Generators
from flymotion.learner import corpus
from flymotion.learner.corpus import PatchStream, Pool, Survey, guise, survey, worthwhile
from flymotion.learner.video_noise import (
    Moments,
    contrasts,
    moments,
    random_pairs,
    speeds,
    symmetries,
    whitened,
    whitening,
)
from flymotion.similarity.features import outer_products
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.video.luminance import area_averages
from flymotion.video.viewing import choose_scale, view

SIZE = 96


@pytest.fixture(scope="module")
def make_movie():
    """Smooth noise of contrast 20, perhaps of several widths, that moves by band-limited steps, with sensor noise."""

    def make(n_frames=20, *, step=0.4, smooth=2.0, noise=0.0, way=None, seed=0):
        rng = np.random.default_rng(seed)
        layers = [gaussian_filter(rng.standard_normal((SIZE, SIZE)), width, mode="wrap") for width in np.ravel(smooth)]
        texture = sum(layer / layer.std() for layer in layers)
        spectrum = np.fft.fft2(20 * texture / texture.std())
        fy, fx = np.fft.fftfreq(SIZE)[:, None], np.fft.fftfreq(SIZE)
        angles = rng.uniform(0, 2 * np.pi, n_frames)
        ways = np.stack([np.cos(angles), np.sin(angles)], axis=1) if way is None else np.tile(way, (n_frames, 1))
        x, y = (np.cumsum(step * ways, axis=0)).T[..., None, None]
        clean = np.fft.ifft2(spectrum * np.exp(-2j * np.pi * (fx * x + fy * y))).real
        return (128 + clean + noise * rng.standard_normal(clean.shape)).astype(np.float32)

    return make


@pytest.fixture(scope="module")
def make_patches(make_movie):
    """Pairs of patches of a moving texture, shape (n_patches, size, size) each."""

    def make(n_patches=300, size=7, **how):
        before, after = random_pairs([make_movie(**how)], size, np.random.default_rng(1))
        return before[:n_patches], after[:n_patches]

    return make


@pytest.fixture(scope="module")
def looked(make_movie):
    return survey([make_movie()], 7, 0)


@pytest.fixture(scope="module")
def Z(looked):
    return whitening(looked[1])


@pytest.fixture
def make_stream(looked, Z):
    return lambda **how: PatchStream(looked[0], Z, **{"n_candidates": 300, "seed": 3} | how)


def chosen(stream, parts):
    """All pairs that a stream chooses of frames in parts."""
    return FramePairs.concatenate([pairs for part in parts for pairs in stream.push(part)])


def everything(stream, parts):
    """All that is shown of a stream that takes frames in parts."""
    pool = Pool(stream.Z, seed=stream.seed)
    shown = [pairs for part in parts for gathered in stream.push(part) for pairs in pool.add(gathered)]
    return FramePairs.concatenate(shown + list(pool.flush()))


# Scale and optics


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1, 2, 3, 5])
def test_area_averages_are_means_over_squares(scale, dtype):
    frames = np.random.default_rng(0).integers(0, 256, (3, 17, 23)).astype(dtype)
    height, width = 17 // scale, 23 // scale
    squares = frames[:, : height * scale, : width * scale].reshape(3, height, scale, width, scale)
    averages = area_averages(frames, scale)
    assert averages.dtype == dtype
    assert_allclose(averages, squares.mean(axis=(2, 4)), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_a_view_is_a_new_array_and_blurs_nothing_even(dtype):
    frames = np.full((2, 20, 30), 7, dtype=dtype)
    seen = view(frames, 1)
    assert seen.dtype == np.float32
    assert not np.shares_memory(seen, frames)
    assert_allclose(seen, 7, rtol=1e-6)


@pytest.mark.parametrize("step", [0.1, 0.3, 0.6])
def test_speed_is_that_of_the_content(make_movie, step):
    movie = make_movie(step=step, smooth=3.0)
    measured = speeds(movie[:-1], movie[1:])
    assert np.median(measured) == pytest.approx(step, rel=0.05)


def test_speed_of_what_does_not_move():
    flat, texture = np.zeros((1, 5, 5)), np.arange(25.0).reshape(1, 5, 5)
    assert_array_equal(speeds(flat, flat), 0)
    assert_array_equal(speeds(texture, texture), 0)
    assert_allclose(speeds(texture, texture + 3), 0, atol=1e-6)  # a flash
    assert_array_equal(speeds(texture, -texture), np.inf)


@pytest.mark.parametrize("smooth", [(1, 2, 4, 8), 2.0, 12.0], ids=["mixed", "as a patch", "smoother than a patch"])
@pytest.mark.parametrize(("step", "scale"), [(0.0, 1), (0.3, 1), (1.2, 2), (2.4, 4)])
def test_scale_is_where_motion_is_sub_pixel(make_movie, step, scale, smooth):
    assert choose_scale([make_movie(20, step=step, smooth=smooth)], 6, 0) == scale


def test_scale_leaves_room_for_patches(make_movie):
    torn = np.random.default_rng(0).standard_normal((5, 64, 64))
    assert choose_scale([torn], 4, 0) == 4


# Noise and whitening


@pytest.mark.parametrize("sigma", [1.0, 2.0, 4.0])
def test_noise_is_estimated_from_a_moving_video(make_movie, sigma):
    movie = make_movie(30, noise=sigma)
    values, noise, _ = moments([movie], 9, 0).noise()
    before, after = random_pairs([movie], 9, np.random.default_rng(0))
    contrast = contrasts(before, after)
    truth = sigma**2 / np.median(contrast[contrast >= np.median(contrast)]) ** 2
    assert np.median(noise[20:]) == pytest.approx(truth, rel=0.25)
    assert (noise <= values).all()


def test_a_clean_video_has_no_noise(make_movie):
    values, noise, _ = moments([make_movie(step=0.2, smooth=3.0)], 7, 0).noise()
    assert noise.sum() < 1e-3 * values.sum()


def test_more_noise_passes_less_of_the_fine_modes(make_movie):
    def finest(sigma):
        values, noise, _ = moments([make_movie(smooth=1.2, noise=sigma)], 7, 0).noise()
        return (1 - noise / values)[-10:].mean()

    shares = [finest(sigma) for sigma in (0.02, 0.5, 4.0)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.3


def test_whitening_commutes_with_symmetries_and_takes_off_the_mean(Z):
    Z = Z.astype(float)
    for way in symmetries(7):
        assert_allclose(Z[np.ix_(way, way)], Z, atol=1e-4 * np.abs(Z).max())
    assert_allclose(Z @ np.ones(49), 0, atol=1e-4 * np.abs(Z).max())
    assert_allclose(Z, Z.T, atol=1e-6 * np.abs(Z).max())


def test_moments_do_not_depend_on_the_unit(make_movie):
    movie = make_movie(noise=1.0)
    once, scaled = moments([movie], 5, 0), moments([movie * 8], 5, 0)
    assert_allclose(whitening(scaled), whitening(once), rtol=1e-3, atol=1e-3)


def test_moments_pool_by_their_numbers():
    one, two = (Moments(*np.full((3, 2, 2), value), n) for value, n in ((1.0, 100), (4.0, 200)))
    pooled = one + two
    assert pooled.n_patches == 300
    assert_allclose(pooled.C, 3)


def test_a_still_or_blank_video_is_all_finite():
    for movie in (np.zeros((4, 40, 40)), np.tile(np.random.default_rng(0).standard_normal((40, 40)), (4, 1, 1))):
        looked, patches = survey([movie], 5, 0)
        assert looked.scale == 1
        assert np.isfinite(whitening(patches)).all()
        assert len(chosen(PatchStream(looked, whitening(patches)), [movie])) == 0


# Selection and balance


def test_what_moves_too_slowly_too_fast_or_without_contrast_is_left_out(make_patches, Z):
    taken = [worthwhile(*make_patches(step=step), 5.0, Z).mean() for step in (0.05, 0.4, 3.0)]
    assert taken[0] == 0
    assert taken[1] > 0.4
    assert taken[2] < 0.1
    assert not worthwhile(*make_patches(step=0.4), 1e3, Z).any()


@pytest.mark.parametrize(("angle", "worth"), [(0, True), (90, True), (10, True), (45, False), (130, False)])
def test_oblique_edges_are_left_out(angle, worth):
    y, x = np.mgrid[:7, :7] - 3.0
    across = x * np.cos(np.radians(angle)) + y * np.sin(np.radians(angle))
    before, after = (np.tanh(across - shift)[None] for shift in (0.0, 0.4))
    Z = np.eye(49) - 1 / 49
    assert worthwhile(before, after, 0.1, Z)[0] == worth


def test_statistics_over_all_guises_are_balanced_exactly(make_patches):
    before, after = (x[:50].astype(float) for x in make_patches(size=5, way=(1.0, 0.0), step=0.3))
    shown = [guise(before, after, which) for which in range(16)]
    pairs = FramePairs(*(np.concatenate(x) for x in zip(*shown, strict=True)))
    chi = outer_products(pairs).dense()
    scale = np.abs(chi).sum(axis=0).max()
    assert_allclose(chi.sum(axis=0) / scale, 0, atol=1e-12)  # time reversal: no way prevails
    second = chi.T @ chi
    for way in symmetries(5):
        turned = np.ravel_multi_index(np.meshgrid(way, way, indexing="ij"), (25, 25)).ravel()
        assert_allclose(second[np.ix_(turned, turned)], second, atol=1e-9 * second.max())


def test_guises_are_sixteen_different_ones_and_the_first_is_the_pair():
    before, after = np.random.default_rng(0).standard_normal((2, 1, 3, 3))
    shown = [np.concatenate(guise(before, after, which)) for which in range(16)]
    assert len(np.unique(shown, axis=0)) == 16
    assert_array_equal(shown[0], np.concatenate([before, after]))
    assert_array_equal(shown[8], np.concatenate([after, before]))
    each, _ = guise(np.tile(before, (16, 1, 1)), np.tile(after, (16, 1, 1)), np.arange(16))
    assert_array_equal(each, [pair[0] for pair in shown])


# The stream


def test_any_split_gives_the_same_pairs(make_movie, make_stream):
    movie = make_movie(40)
    whole = everything(make_stream(n_candidates=60), [movie])
    assert len(whole) > 1000 and len(whole) % 16 == 0
    for size in (1, 7):
        again = everything(make_stream(n_candidates=60), [movie[i : i + size] for i in range(0, 40, size)])
        assert_array_equal(again.before, whole.before)
        assert_array_equal(again.after, whole.after)
    other = everything(make_stream(n_candidates=60, seed=4), [movie])
    assert not np.array_equal(other.before[:100], whole.before[:100])


def test_pairs_are_shown_whenever_enough_are_gathered(make_patches, monkeypatch):
    monkeypatch.setattr(corpus, "POOL", 200)
    pairs, pool = FramePairs(*make_patches(120)), Pool(np.eye(49, dtype=np.float32))
    shown = [[len(part) for part in pool.add(pairs)] for _ in range(3)]
    assert shown == [[], [240] * 16, []]
    assert [len(part) for part in pool.flush()] == [120] * 16
    assert not list(pool.flush())


def test_a_pool_shows_every_pair_once_in_every_guise_and_mixed(make_patches):
    pairs, Z = FramePairs(*make_patches(40)), np.eye(49, dtype=np.float32)
    pool = Pool(Z, seed=1)
    list(pool.add(pairs))
    parts = list(pool.flush())
    seen = whitened(pairs, Z)
    every = np.concatenate(
        [np.hstack([x.reshape(-1, 49) for x in guise(seen.before, seen.after, w)]) for w in range(16)]
    )
    shown = np.concatenate([np.hstack([part.before, part.after]) for part in parts])
    assert_array_equal(np.unique(shown, axis=0), np.unique(every, axis=0))
    changes = [np.abs(part.before - part.after).max(axis=1) for part in parts]
    for change in changes[1:]:  # each pair, in another order
        assert_array_equal(np.sort(change), np.sort(changes[0]))
        assert not np.array_equal(change, changes[0])


def test_whitened_before_or_after_guises_is_the_same(make_patches, Z):
    before, after = make_patches(40)
    which = np.arange(40) % 16
    first, last = guise(before, after, which), whitened(FramePairs(before, after), Z)
    one, two = whitened(FramePairs(*first), Z), guise(last.before, last.after, which)
    assert_allclose(one.before, two[0], atol=1e-3)
    assert_allclose(one.after, two[1], atol=1e-3)
    power = (one.flat().before ** 2 + one.flat().after ** 2).mean(axis=1) / 2
    assert_allclose(power, 1, rtol=1e-4)


def test_a_cut_is_never_a_pair(make_movie, make_stream):
    one, two = make_movie(6), make_movie(6, seed=1) + 1000
    stream = make_stream()
    pairs = FramePairs.concatenate(stream.push(one) + stream.cut().push(two))
    assert stream.n_pairs_seen == 10
    high = pairs.before.mean(axis=(1, 2)) > 500
    assert_array_equal(pairs.after.mean(axis=(1, 2)) > 500, high)
    assert 0 < high.mean() < 1


def test_held_out_frames_are_in_no_pair(make_movie):
    movie = make_movie(70)
    movie += 1000 * np.arange(70, dtype=np.float32)[:, None, None]  # each frame tells its number
    looked = Survey(7, 1, 0.0, movie[0])
    stream = PatchStream(looked, np.eye(49, dtype=np.float32) - 1 / 49, n_candidates=50)
    pairs = chosen(stream, [movie])
    assert (stream.n_pairs_seen, stream.n_candidates_seen, stream.n_chosen) == (69, 63 * 50, len(pairs))
    learned = {round(float(x) / 1000) for x in np.concatenate([pairs.before, pairs.after]).mean(axis=(1, 2))}
    held = [round(float(frame.mean()) / 1000) for frame in stream.held_out]
    assert held == [28, 58]
    assert not learned & set(held)
    assert {0, 27, 30, 57, 60, 69} <= learned


def test_frames_that_are_not_finite_change_nothing(make_movie, make_stream):
    stream, movie = make_stream(), make_movie(10)
    before = stream.push(movie[:5])
    bad = movie[5:7].copy()
    bad[1, 3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN or infinite pixel in frame 1"):
        stream.push(bad)
    pairs = FramePairs.concatenate(before + stream.push(movie[5:]))
    assert_array_equal(pairs.before, chosen(make_stream(), [movie]).before)


def test_the_last_frame_looked_at_is_kept_as_viewed(make_movie, looked):
    assert_array_equal(looked[0].last, view(make_movie()[-1:], looked[0].scale)[0])


def test_input_is_never_changed(make_movie, make_stream):
    movie = make_movie(10).astype(np.uint8)
    movie.flags.writeable = False
    survey([movie], 7, 0)
    assert len(everything(make_stream(), [movie]))


@pytest.mark.parametrize("clips", [[np.zeros((1, 40, 40))], [np.zeros((1, 40, 40))] * 2])
def test_no_two_frames_in_a_row_are_refused(clips):
    with pytest.raises(ValueError, match="no two frames in a row"):
        survey(clips, 5, 0)


def test_frames_smaller_than_a_patch_are_refused():
    with pytest.raises(ValueError, match=r"hold no patch of 9 x 9"):
        survey([np.zeros((3, 8, 20))], 9, 0)


def test_streams_pickle(make_movie, make_stream, pickled):
    stream, movie = make_stream(), make_movie(12)
    stream.push(movie[:6])
    twin = pickled(stream)
    assert_array_equal(everything(twin, [movie[6:]]).before, everything(stream, [movie[6:]]).before)


# What it is for


def test_one_way_motion_under_noise_teaches_all_four_directions(make_movie):
    movie = make_movie(30, step=0.4, smooth=(1, 2, 4), noise=2.0, way=(0.98, 0.2))
    looked, patches = survey([movie], 5, 0)
    Z = whitening(patches)
    pairs = everything(PatchStream(looked, Z, n_candidates=400), [movie])
    network = NonnegativeSimilarityMatching(4).fit(outer_products(pairs, "antisymmetric"))
    learned = Generators(network.generators_, (5, 5), Z)
    angles = np.sort(learned.directions())
    assert_allclose((angles + 45) % 90, 45, atol=10)
    assert_allclose(np.diff(np.sort((angles + 45) // 90 % 4)), 1)
    assert learned.antisymmetric_share().min() > 0.8
