"""Velocities that windows take over from others."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, map_coordinates

from flymotion.field import MotionField
from flymotion.field.propagating_kernels import (
    BETTER,
    CANDIDATES,
    DIFFERENT,
    FAR,
    FOUND,
    LEAST_CELLS,
    N_ROWS,
    NEIGHBOURS,
    explain_band,
    propagate_band,
)
from flymotion.field.pyramid_kernels import PAD

ONE = np.float32(1)
"""The gain of light that is steady."""


@pytest.fixture
def make_scale():
    """Return frames with borders, and velocities of their cells in patches that differ."""

    def make(shape, patches=7.0, seed=0):
        rng = np.random.default_rng(seed)
        frames = [np.pad(gaussian_filter(rng.random(shape), 1.5), PAD, mode="edge").astype(np.float32) for _ in "ab"]
        cells = tuple(-(-n // 2) for n in shape)
        prior = np.stack([gaussian_filter(rng.normal(size=cells), 2) * patches * 5 for _ in "uve"]).astype(np.float32)
        return *frames, prior

    return make


def propagated(before, after, prior, *bands, quiet=np.inf):
    """Return what becomes of the prior; nothing is searched where all is quiet."""
    left, out = (
        np.full((prior.shape[1:] if quiet < np.inf else (0, 0)), np.nan, np.float32),
        np.full_like(prior, np.nan),
    )
    explain_band(before, after, ONE, 0, len(left), prior, left)
    for first, last in bands:
        room = np.full((N_ROWS, prior.shape[2] + 2), 7, np.float32)
        propagate_band(before, after, ONE, first, last, prior, left, np.float32(quiet), out, room)
    return out


def shifted(prior, down, right):
    """Return what the cells so far away say, those of the border beyond it."""
    rows, columns = (np.clip(np.arange(n) + by, 0, n - 1) for n, by in zip(prior.shape[1:], (down, right), strict=True))
    return prior[:, rows][:, :, columns]


def left_over(before, after, prior):
    """Return the sum of squares of what a velocity leaves of each cell, and whether it stays inside the frame."""
    height, width = np.array(before.shape) - 2 * PAD
    y, x = np.mgrid[: prior.shape[1], : prior.shape[2]]
    y, x = np.minimum(2 * y, height - 2), np.minimum(2 * x, width - 2)
    u, v = prior[:2]
    known = (x + u >= 0) & (y + v >= 0) & (x + u <= width - 2) & (y + v <= height - 2)
    squares = np.zeros(known.shape)
    for i in (0, 1):  # of a cell's four pixels those of a diagonal
        there = map_coordinates(np.float64(after), [y + v + i + PAD, x + u + i + PAD], order=1, mode="nearest")
        squares += 2 * (there - before[y + i + PAD, x + i + PAD]) ** 2
    return known * squares, known


def mean_left_over(before, after, prior):
    """Return the mean over the cells about each, infinite where too few of them say."""
    total, n = (
        sum(np.pad(part, 1)[i : i + len(part), j : j + part.shape[1]] for i, j in np.ndindex(3, 3))
        for part in np.float64(left_over(before, after, prior))
    )
    return np.where(n >= LEAST_CELLS, total / np.maximum(n, 1), np.inf)


def far(before, after, prior):
    """Return the mean square of what is left of each cell where it is far from home, 0 elsewhere."""
    height, width = np.array(before.shape) - 2 * PAD
    slopes = sum(np.gradient(np.float64(before))[k] ** 2 for k in (0, 1)) * 4
    rows, columns = (
        np.minimum(2 * np.arange(n), m - 2) + PAD for n, m in zip(prior.shape[1:], (height, width), strict=True)
    )
    around = sum(slopes[rows + i][:, columns + j] for i, j in np.ndindex(2, 2))
    left, _ = left_over(before, after, prior)
    some = np.where(left > FAR * around, left / 4, 0)[::2, ::2]
    return some.repeat(2, axis=0).repeat(2, axis=1)[: prior.shape[1], : prior.shape[2]]


@pytest.mark.parametrize("shape", [(40, 52), (33, 61), (8, 10), (7, 7)])
def test_cells_take_the_velocity_that_explains_more(make_scale, shape):
    before, after, prior = make_scale(shape)
    out = propagated(before, after, prior, (0, prior.shape[1]))
    candidates = [shifted(prior, down, right) for down, right, _, _ in NEIGHBOURS]
    x = np.arange(prior.shape[2])
    beside = [(x + right >= 0) & (x + right < len(x)) for _, right, _, _ in NEIGHBOURS]
    differences = [np.hypot(*(c - prior)[:2]) for c in candidates]
    differs = np.any([(d > DIFFERENT) & some for d, some in zip(differences, beside, strict=True)], axis=0)
    left = np.stack([mean_left_over(before, after, c) for c in candidates])
    own = np.where(np.isfinite(left[0]), BETTER * left[0], 0)
    left[0] = own
    best = np.where(differs & (left.min(axis=0) < own), left.argmin(axis=0), 0)
    expected = np.take_along_axis(np.stack(candidates), best[None, None], axis=0)[0]
    assert np.mean(np.any(out != expected, axis=0)) < 0.003  # but where single precision decides
    assert np.mean(best > 0) > 0.1 or min(shape) < 10


def test_bands_do_not_matter_and_smooth_motion_stays(make_scale):
    before, after, prior = make_scale((60, 80))
    whole = propagated(before, after, prior, (0, 30))
    np.testing.assert_array_equal(propagated(before, after, prior, (0, 11), (11, 12), (12, 30)), whole)
    y, x = np.mgrid[:30, :40].astype(np.float32)
    smooth = np.stack([0.1 * x, 0.2 * y, x])  # differs by less than a pixel from one cell to the fourth
    np.testing.assert_array_equal(propagated(before, after, smooth, (0, 30)), smooth)


@pytest.mark.parametrize("shape", [(40, 52), (33, 61)])
def test_what_nobody_has_seen_is_searched(make_scale, shape):
    before, after, prior = make_scale(shape, patches=0.2)
    quiet = 0.002
    out = propagated(before, after, prior, (0, prior.shape[1]), quiet=quiet)
    steps = np.array([(dx, dy, 0) for _, _, dy, dx in CANDIDATES[len(NEIGHBOURS) :]])
    candidates = np.stack([prior, *(prior + step[:, None, None] for step in steps)])
    left = np.stack([mean_left_over(before, after, c) for c in candidates])
    searched = (far(before, after, prior) > quiet) & (left[0] > quiet) & np.isfinite(left[0])
    left[0] = np.where(np.isfinite(left[0]), FOUND * left[0], 0)
    best = np.where(searched, left.argmin(axis=0), 0)
    expected = np.take_along_axis(candidates, best[None, None], axis=0)[0]
    alike = np.all(np.abs(out - expected) < 1e-5, axis=0)
    neighbours = np.any([np.all(np.abs(out - shifted(prior, *by[:2])) < 1e-6, axis=0) for by in NEIGHBOURS[1:]], axis=0)
    assert np.mean(alike | neighbours) > 0.99 and np.mean(alike & (best > 0)) > 0.05
    whole = propagated(before, after, prior, (0, 9), (9, prior.shape[1]), quiet=quiet)
    np.testing.assert_array_equal(whole, out)


def texture(shape, seed):
    """Return a random scene whose amplitudes fall as those of nature, with the inverse of the frequency."""
    frequency = np.hypot(*np.meshgrid(*(np.fft.fftfreq(n) for n in shape), indexing="ij"))
    frequency[0, 0] = np.inf
    spectrum = np.fft.fft2(np.random.default_rng(seed).normal(size=shape)) / frequency
    scene = np.fft.ifft2(spectrum * np.exp(-((frequency / 0.25) ** 2))).real
    return 128 + 40 * scene / scene.std()


@pytest.mark.parametrize(
    ("radius", "by", "speed"), [(34, 12, "fast"), (50, 25, "fast"), (34, 12, "accurate"), (24, 12, "accurate")]
)
def test_small_things_that_move_by_a_quarter_of_their_size_are_found(radius, by, speed):
    y, x = np.mgrid[:300, :400]
    ground, thing = texture(x.shape, 10), texture(x.shape, 11)
    inside = [np.hypot(y - 150, x - 180 - shift) < radius for shift in (0, by)]
    frames = [np.where(inside[0], thing, ground), np.where(inside[1], np.roll(thing, by, axis=1), ground)]
    stream = MotionField(speed=speed, outputs=("velocity",))
    velocity = stream.between(*(np.uint8(np.clip(frame, 0, 255)) for frame in frames)).velocity
    core, far_away = np.hypot(y - 150, x - 180) < radius - 6, np.hypot(y - 150, x - 180 - by / 2) > 90
    assert np.mean(np.hypot(velocity[0] - by, velocity[1])[core] > 1) < 0.1
    assert np.quantile(np.hypot(*velocity)[far_away], 0.99) < 0.05
