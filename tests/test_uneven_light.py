"""Light that changes otherwise here than there is told from motion, and from light that changes everywhere."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import correlate1d, gaussian_filter

from flymotion.field import MotionField
from flymotion.field.pyramid_kernels import PAD
from flymotion.field.uneven_light import _plane, is_uneven, local_mean

SHAPE = (144, 192)
X = np.arange(SHAPE[1]) - SHAPE[1] / 2
STILL = np.zeros((2, 72, 96), np.float32)


@pytest.fixture
def ground():
    """Texture below flat sky, with a little noise of its own each time."""
    rng = np.random.default_rng(0)
    texture = gaussian_filter(rng.standard_normal(SHAPE), 1.5)
    scene = 130 + np.where(np.arange(SHAPE[0])[:, None] > 60, 40 * texture / texture.std(), 0)
    return lambda light: np.clip(light * scene + rng.standard_normal(SHAPE), 0, 255).astype(np.float32)


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
    velocity = MotionField(speed=speed, outputs=("velocity",), scales=3).between(before, after).velocity
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


def test_light_is_uneven_where_blocks_change_otherwise_than_the_frame(ground):
    before = ground(1.0)
    power = slopes(before)
    step = np.where(X > 0, 1.1, 0.9)
    for light, expected in ((1.0, False), (1.3, False), (step, True)):
        after = (before * light).astype(np.float32)
        assert is_uneven(np.pad(before, PAD), np.pad(after, PAD), STILL, power) == expected
    assert not is_uneven(np.pad(before, PAD), np.pad(before * step, PAD).astype(np.float32), STILL, power / 100)
    nothing = np.zeros((30 + 2 * PAD, 40 + 2 * PAD), np.float32)
    assert not is_uneven(nothing, nothing, STILL, 0.0)


def test_light_is_looked_at_where_the_frame_has_gone(ground):
    frame = ground(1.0)
    before, after = frame[10:, 7:], frame[:-10, :-7]  # by (7, 10)
    gone = np.stack([np.full((67, 93), n, np.float32) for n in (7, 10)])
    light = np.where(np.arange(before.shape[1]) > 80, 1.05, 0.95)
    lit = (after * light).astype(np.float32)
    assert not is_uneven(np.pad(before, PAD), np.pad(after, PAD), gone, slopes(before))
    assert is_uneven(np.pad(before, PAD), np.pad(lit, PAD), gone, slopes(before))


def test_the_local_mean_is_a_gaussian_of_one_pixel(ground):
    frame = ground(shadow(0))
    mean, added = local_mean(np.pad(frame, PAD, constant_values=1e6))
    weights = np.array([1, 4, 6, 4, 1]) / 16
    expected = correlate1d(correlate1d(np.float64(frame), weights, 0, mode="mirror"), weights, 1, mode="mirror")
    np.testing.assert_allclose(mean, expected, rtol=1e-5)
    assert added == pytest.approx(0.1 * np.sqrt(np.mean(np.float64(frame) ** 2)), rel=1e-4)
    assert local_mean(np.pad(-frame, PAD))[0].max() == 0


def test_the_plane_through_cells_is_that_of_least_squares():
    values = np.random.default_rng(0).standard_normal((7, 11)).astype(np.float32)
    y, x = 0.5 + 2 * np.indices(values.shape)
    expected, *_ = np.linalg.lstsq(np.stack([np.ones(77), x.ravel(), y.ravel()], 1), values.ravel(), rcond=None)
    np.testing.assert_allclose(_plane(values), expected, rtol=1e-4, atol=1e-6)
