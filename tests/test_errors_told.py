"""What `Field.error` says: its formulas against plain numpy, and how often it is right where the motion is known."""

from fractions import Fraction
from itertools import product

import av
import numpy as np
import pytest
import skimage.data

from flymotion.field import MotionField
from flymotion.field.agreeing_kernels import scatter_of_tiles, widen
from flymotion.field.carrying import STRIDE
from flymotion.field.velocity_kernels import MENDED, PRIOR, WINDOW, _judge_row
from flymotion.video.luminance import area_averages


@pytest.fixture(scope="module")
def picture():
    """A photograph of twice as many pixels as what is seen of it, so that half pixels are exact."""
    return skimage.data.astronaut() @ np.array([0.299, 0.587, 0.114])


@pytest.fixture
def make_clip(picture):
    """A window of 160 x 192 pixels whose content moves by ``velocity``, a multiple of a half, in noise of a sensor."""

    def make(velocity, *, noise=2.0, n_frames=2, seed=0):
        rng = np.random.default_rng(seed)
        frames = []
        for t in range(n_frames):
            x, y = (60 - np.round(2 * t * np.asarray(velocity))).astype(int)
            seen = area_averages(picture[y : y + 320, x : x + 384], 2)
            frames.append(np.clip(np.round(seen + noise * rng.standard_normal(seen.shape)), 0, 255).astype(np.uint8))
        return frames

    return make


def coded(frames, crf):
    """Return frames through H.264: an intra frame, then predicted ones."""
    codec = av.CodecContext.create("libx264", "w")
    codec.height, codec.width = frames[0].shape
    codec.pix_fmt, codec.time_base = "yuv420p", Fraction(1, 30)
    codec.options = {"crf": str(crf), "threads": "1", "x264-params": "bframes=0:scenecut=0"}
    packets = []
    for number, image in enumerate(frames):
        frame = av.VideoFrame.from_ndarray(image, "gray").reformat(format="yuv420p")
        frame.pts, frame.time_base = number, codec.time_base
        packets += codec.encode(frame)
    decoder = av.CodecContext.create("h264", "r")
    packets += [*codec.encode(None), None]
    return [frame.to_ndarray(format="gray") for packet in packets for frame in decoder.decode(packet)]


def judged(before, after, velocity, where=np.s_[8:-8, 8:-8], **settings):
    """Return errors and what is told of them, shape (2, n_pixels), where that is."""
    field = MotionField(**settings).between(before, after)
    both = np.stack([np.hypot(*(field.velocity - velocity)), field.error])[:, *where]
    known = np.isfinite(both[1])
    assert known.mean() > 0.9
    return both[:, known]


def trust(both):
    """Return the share of errors within twice what is told, and the median told over the median error."""
    errors, told = both
    return np.mean(errors <= 2 * told), np.median(told) / np.median(errors)


# -- formulas ----------------------------------------------------------------------------------------------------------


def test_a_window_is_as_wrong_as_ridge_regression_says():
    r"""The expected square of :math:`M (A \epsilon + \lambda \epsilon_c)`, M = (A + lambda)^-1; and what it mended."""
    rng = np.random.default_rng(0)
    sums, known, votes = (np.zeros(n * STRIDE, np.float32) for n in (12, 5, 6))
    slopes = rng.standard_normal((20, 2, 30)) * np.array([2, 1e-3])[rng.integers(0, 2, (20, 2, 1))]
    left, own, prior = rng.random(20), 3 * rng.random(20), rng.random(20)
    for i, g in enumerate(slopes):
        a, b, _, c = (g @ g.T).ravel()
        sums[i::STRIDE][:8] = a, b, c, own[i], left[i], 0.0, 1.0, 60.0
        known[i::STRIDE] = 0, 0, prior[i], 0, 0
        votes[i::STRIDE] = 2.0, 2.0 * 0.3, 2.0 * -0.4, 0, 0, 0
    _judge_row(sums, 20, np.float32(0), known, votes)
    for i, g in enumerate(slopes):
        A, M = g @ g.T, np.linalg.inv(g @ g.T + own[i] * np.eye(2))
        expected = WINDOW * left[i] * np.trace(M @ A @ M) + PRIOR * prior[i] * own[i] ** 2 * np.trace(M @ M) / 2
        assert votes[4 * STRIDE + i] / 2 == pytest.approx(expected + MENDED * 0.25, rel=2e-3)


def test_where_a_window_says_nothing_the_error_is_the_coarser_scales():
    sums, known, votes = (np.zeros(n * STRIDE, np.float32) for n in (12, 5, 6))
    known[2 * STRIDE], votes[0] = 5.0, 2.0
    _judge_row(sums, 1, np.float32(0), known, votes)
    assert votes[4 * STRIDE] / 2 == pytest.approx(5 * PRIOR)


def test_scatter_is_about_the_plane_of_each_tile_and_errors_follow_between_tiles():
    rng = np.random.default_rng(0)
    velocity, error = rng.standard_normal((2, 37, 45)).astype(np.float32), rng.random((37, 45)).astype(np.float32)
    found, (top, left) = np.zeros((2, 2), np.float32), (2, 6)
    scatter_of_tiles(velocity, error, 16, found)
    design = np.stack([np.ones(256), *(np.mgrid[:16, :16].reshape(2, -1))], axis=1)
    for i, j in np.ndindex(2, 2):
        tile = np.s_[..., top + 16 * i :, left + 16 * j :]
        values = velocity[tile][..., :16, :16].reshape(2, -1).T
        rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
        assert found[i, j] == pytest.approx((rest**2).sum() / error[tile][:16, :16].sum(), rel=1e-4)
    turning = np.stack(np.broadcast_arrays(np.arange(37.0)[:, None], -np.arange(45.0))).astype(np.float32)
    scatter_of_tiles(turning, np.ones((37, 45), np.float32), 16, found)
    assert found.max() < 1e-2

    factors, out = np.array([[1, 2], [3, 1]], np.float32), error.copy()
    widen(out, factors, 16)
    y, x = (np.clip((np.arange(n) - first - 7.5) / 16, 0, 1) for n, first in ((37, top), (45, left)))
    rows = (1 - y)[:, None] * factors[0] + y[:, None] * factors[1]
    between = rows[:, :1] * (1 - x) + rows[:, 1:] * x
    np.testing.assert_allclose(out, error * between**2, rtol=1e-4)


# -- known motion ------------------------------------------------------------------------------------------------------


def test_errors_of_moving_photographs_are_within_twice_what_is_told(make_clip):
    """95 % of them, and no more than twice too wide; those told to be less are less."""
    settings = product([(0.5, -0.5), (4.5, 2.0)], [0.0, 2.0, 8.0])
    pairs = [judged(*make_clip(v, noise=noise), np.reshape(v, (2, 1, 1))) for v, noise in settings]
    for both in pairs:
        right = both[1] < np.median(both[1])
        assert trust(both)[0] > 0.95 and both[0, right].mean() < 0.8 * both[0, ~right].mean()
    within, ratio = trust(np.concatenate(pairs, axis=1))
    assert within > 0.95 and ratio < 2


@pytest.mark.parametrize(("crf", "least"), [(18, 0.95), (28, 0.9), (38, 0.75)])
def test_errors_of_coded_video_are_told_less_well(make_clip, crf, least):
    """Blocks are copied from where the codec thinks that they were: nothing in two frames says that they were not."""
    pairs = []
    for velocity in ((0.5, -0.5), (-1.0, 0.5)):
        *_, before, after = coded(make_clip(velocity, n_frames=8), crf)
        pairs.append(judged(before, after, np.reshape(velocity, (2, 1, 1))))
    assert trust(np.concatenate(pairs, axis=1))[0] > least


def test_errors_about_a_thing_in_front_are_told(make_clip):
    """Two planes, 3 pixels a frame apart; what is hidden a frame later has no motion that could be told."""
    ground, thing = make_clip((-0.5, 0.5), seed=1), make_clip((0.0, 0.0), seed=2)[0][::-1, ::-1]
    y, x = np.mgrid[:160, :192]
    inside = [np.hypot(y - 80, x - 90 - 3 * t) < 36 for t in (0, 1)]
    frames = [np.where(inside[t], np.roll(thing, 3 * t, axis=1), ground[t]) for t in (0, 1)]
    velocity = np.where(inside[0], np.reshape((3.0, 0.0), (2, 1, 1)), np.reshape((-0.5, 0.5), (2, 1, 1)))
    seen = (inside[0] | ~inside[1]) & (np.minimum(y, 159 - y) > 8) & (np.minimum(x, 191 - x) > 8)
    both = judged(*frames, velocity, (seen,))
    assert trust(both)[0] > 0.95
