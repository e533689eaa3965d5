"""Light that changes otherwise here than there is told from motion, and from light that changes everywhere."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import correlate1d, gaussian_filter, shift

from flymotion.field import MotionField
from flymotion.field.carrying import STRIDE
from flymotion.field.cubic import REACH, spline_rows
from flymotion.field.light_kernels import N_ROWS, mend_plane, share_along, sum_blocks
from flymotion.field.pyramid_kernels import PAD
from flymotion.field.uneven_light import BLOCK, DARK, PIECE, UnevenLight

SHAPE = (144, 192)
X = np.arange(SHAPE[1]) - SHAPE[1] / 2
STILL = np.zeros((2, 3))


@pytest.fixture
def ground():
    """Texture below flat sky, with a little noise of its own each time."""
    rng = np.random.default_rng(0)
    texture = gaussian_filter(rng.standard_normal(SHAPE), 1.5)
    scene = 130 + np.where(np.arange(SHAPE[0])[:, None] > 60, 40 * texture / texture.std(), 0)
    return lambda light: np.clip(light * scene + rng.standard_normal(SHAPE), 0, 255).astype(np.float32)


@pytest.fixture
def look():
    """What is found of two frames, by the motion of the frame, about."""

    def found(before, after, plane, power=None):
        height, width = before.shape
        frames = [np.pad(np.float32(frame), PAD, mode="edge") for frame in (before, after)]
        splines = np.zeros_like(frames[1])
        spline_rows(frames[1], splines, 0, height, np.zeros(width + 2 * REACH + 3, np.float32))
        splines = np.pad(splines[PAD:-PAD, PAD:-PAD], PAD, mode="edge")
        return UnevenLight(before.shape).look(*frames, splines, plane, slopes(before) if power is None else power)

    return found


def shadow(time):
    return 1 - 0.4 / (1 + np.exp(-(X - 8 * time) / 12))


def slopes(frame):
    return float(np.mean([g[1:-1, 1:-1] ** 2 for g in np.gradient(frame)]))


@pytest.mark.parametrize("speed", ["fastest", "fast", "accurate"])
def test_the_edge_of_a_shadow_is_no_motion(ground, speed):
    before, after = ground(shadow(0)), ground(shadow(1))
    velocity = MotionField(speed=speed, outputs=("velocity",)).between(before, after).velocity
    assert np.hypot(*velocity).mean() < 0.2
    # where frames have too few scales to tell, as before, the sky moves with the shadow
    velocity = MotionField(speed=speed, outputs=("velocity",), scales=4).between(before, after).velocity
    assert np.hypot(*velocity[:, :50]).mean() > 0.5


def test_a_frame_after_uneven_light_is_as_if_it_had_been_steady(ground):
    frames = [ground(shadow(0)), ground(shadow(1)), ground(shadow(1)), ground(shadow(1))]
    field = MotionField(noise=1.0)
    stream = field.stream()
    stream.step(frames[0])
    for before, after in pairwise(frames):
        streamed, alone = stream.step(after), field.stream()
        alone.step(before)
        for own, other in zip(streamed, alone.step(after), strict=True):
            np.testing.assert_array_equal(own, other)
        assert stream.noise == alone.noise


def test_light_is_uneven_where_blocks_change_otherwise_than_the_frame(ground, look):
    before = ground(1.0)
    step = np.where(X > 0, 1.1, 0.9)
    for light, expected in ((1.0, False), (1.3, False), (step, True)):
        assert (look(before, before * light, STILL) is not None) == expected
    assert look(before, before * step, STILL, slopes(before) / 100) is None
    assert look(np.zeros((30, 40)), np.zeros((30, 40)), STILL) is None
    parallax = np.concatenate([before[:, :96], shift(before, (0, 3), mode="nearest")[:, 96:]], 1)
    assert look(before, parallax, STILL) is None


def test_light_is_looked_at_where_the_frame_has_gone(ground, look):
    frame = ground(1.0)
    before, after = frame[10:, 7:], frame[:-10, :-7]  # by (7, 10)
    gone = np.array([[7.0, 0, 0], [10, 0, 0]])
    lit = after * np.where(np.arange(before.shape[1]) > 80, 1.05, 0.95)
    assert look(before, after, gone) is None
    gain, plane = look(before, lit, gone)
    np.testing.assert_allclose(plane, gone, atol=0.02)
    assert np.median(gain[40:, :60]) == pytest.approx(0.95, abs=0.005)
    assert np.median(gain[40:-20, 90:-20]) == pytest.approx(1.05, abs=0.005)


@pytest.mark.parametrize("moved", [(0.0, 0.0), (0.7, -1.2)])
def test_the_motion_of_the_frame_is_found_under_a_torch(ground, look, moved):
    y, x = np.indices(SHAPE) - 70.0
    torch = [0.4 + 0.6 * np.exp(-((x - 2 * t) ** 2 + y**2) / 2500) for t in (0, 1)]
    scene = gaussian_filter(ground(1.0), 1)
    about = np.array([[moved[0] - 0.3, 0.002, 0], [moved[1] + 0.2, 0, 0.003]])
    gain, plane = look(torch[0] * scene, torch[1] * shift(scene, moved[::-1], mode="nearest"), about)
    np.testing.assert_allclose(plane @ [1, 70, 70], moved, atol=0.05)
    light = shift(torch[1], (-moved[1], -moved[0]), mode="nearest") / torch[0]
    assert np.abs(gain / light - 1)[10:-10, 10:-10].max() < 0.05


def blocks_of(mean, change, side):
    """The products of every block's pixels, those of the border left out."""
    h, g = (np.pad(d[1:-1, 1:-1], 1) for d in np.gradient(mean))
    inside = np.pad(np.ones((mean.shape[0] - 2, mean.shape[1] - 2)), 1)
    y, x = np.indices(mean.shape)
    blocks = {}
    for k, i in np.ndindex(-(-mean.shape[0] // side), -(-mean.shape[1] // side)):
        own = (slice(k * side, (k + 1) * side), slice(i * side, (i + 1) * side))
        m, middle = (inside * mean)[own], (side - 1) / 2
        parts = m, m * (x[own] - i * side - middle), m * (y[own] - k * side - middle), g[own], h[own]
        blocks[k, i] = np.stack([p.ravel() for p in (*parts, (inside * change)[own])])
    return blocks


@pytest.fixture
def sums():
    """Sums over blocks of a mean and a change by motion and light, and the products that they are of."""

    def summed(side, shape=(31, 43)):
        rng = np.random.default_rng(1)
        mean = 50 + 10 * gaussian_filter(rng.standard_normal(shape), 1.5) / 0.2
        change = rng.standard_normal(shape) - 0.3 * np.gradient(mean, axis=1) + 0.1 * mean
        out = np.zeros((-(-shape[0] // side), -(-shape[1] // side), 6, 6))
        room = np.zeros(N_ROWS * STRIDE, np.float32)
        sum_blocks(np.float32(mean), np.float32(change), np.ones(shape, np.float32), side, room, out)
        return out, blocks_of(mean, change, side)

    return summed


@pytest.mark.parametrize(("side", "shape"), [(BLOCK, (31, 43)), (PIECE, (31, 43)), (PIECE, (9, 700))])
def test_sums_over_blocks_are_those_of_all_products(sums, side, shape):
    out, blocks = sums(side, shape)
    for place, parts in blocks.items():
        expected = np.triu(parts @ parts.T)
        np.testing.assert_allclose(out[place], expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_what_the_frame_moves_by_is_that_of_least_squares_without_light(sums):
    out, blocks = sums(PIECE)
    plane = np.zeros((2, 3))
    mend_plane(out, PIECE, (31, 43), plane)
    rows, left = [], []
    for (k, i), parts in blocks.items():
        light, moving = parts[:3].T, parts[3:].T
        own = moving - light @ np.linalg.lstsq(light, moving, rcond=None)[0]
        y, x = PIECE * (np.array([k, i]) + 0.5) - 0.5
        rows.append(own[:, :2, None] * np.array([1, x, y]))
        left.append(own[:, 2])
    power = sum(np.sum(own[:, :, 0] ** 2) for own in rows)
    weights = [(np.sum(d * d) + 0.05 * power / (2 * len(rows))) ** -0.5 for d in left]
    system = np.concatenate([w * own.reshape(-1, 6) for w, own in zip(weights, rows, strict=True)])
    expected = np.linalg.lstsq(system, -np.concatenate([w * d for w, d in zip(weights, left, strict=True)]), rcond=None)
    np.testing.assert_allclose(plane.ravel(), expected[0], rtol=0.1, atol=0.004)
    assert plane[0] @ [1, 21, 15] == pytest.approx(0.3, abs=0.05)


def test_the_share_of_texture_that_moves_with_the_frame():
    block = np.zeros((6, 6))
    block[3, 3], block[4, 4] = 3.0, 1.0
    away = block.copy()
    away[3, 5] = -3 * 0.3  # by 0.3 pixels along x
    sums = np.stack([block, block, block, away])[None]
    assert share_along(sums) == pytest.approx(0.75)
    assert share_along(np.zeros((1, 4, 6, 6))) == 0


def test_the_gain_is_what_explains_the_change_about_a_pixel(ground, look):
    before = ground(1.0)
    after = before * np.where(X > 0, 1.1, 0.9)
    gain, plane = look(before, after, STILL)
    mean, change = (np.float64(after) + before) / 2, np.float64(after) - before
    weights = np.array([1, 4, 6, 4, 1]) / 16

    def smooth(values):
        return correlate1d(correlate1d(values, weights, 0, mode="constant"), weights, 1, mode="constant")

    bright, light = smooth(mean**2) + DARK * np.mean(mean**2), 0.0
    for _ in range(2):
        light += smooth(mean * (change - light * mean)) / bright
    assert np.abs(plane).max() < 2e-3
    np.testing.assert_allclose(gain[8:-8, 8:-8], ((2 + light) / (2 - light))[8:-8, 8:-8], atol=5e-3)
