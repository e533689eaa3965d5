"""Whether a cell rests, and how sure its velocity is: field/judging_kernels.py against its text, cell by cell."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.ndimage import gaussian_filter, label

from flymotion.field import MotionField
from flymotion.field.cubic import REACH, spline_rows
from flymotion.field.judging_kernels import differ_band, judge_band, judging_room
from flymotion.field.pyramid_kernels import PAD, surround

NOISE = np.float32(2.0)
MOVING, FLAT = np.s_[4:20, 13:30], np.s_[22:, :20]


@pytest.fixture(scope="module")
def scene():
    """Ground that rests, and a part that moves by (3, -1); all but a corner is said to move so."""
    rng = np.random.default_rng(0)
    before = rng.uniform(0, 60, (31, 45)).round()
    before[FLAT] = 30
    after = before + rng.normal(0, 1, before.shape)
    after[MOVING] = before[5:21, 10:27]
    estimates = np.stack([np.full((16, 23), n, np.float32) for n in (3.0, -1.0, 0.3, 0.9)])
    estimates[:2, 12:, 18:] = 0
    known = np.ascontiguousarray(estimates[:2].repeat(2, axis=1).repeat(2, axis=2)[:, :31, :45])
    return before, after, estimates, known


def padded(frame):
    frame = np.pad(frame, PAD).astype(np.float32)
    surround(frame)
    return frame


def judged(before, after, estimates, known, bands=(0, 16)):
    before, after = padded(before), padded(after)
    splines, out = np.zeros_like(after), np.zeros_like(estimates)
    spline_rows(after, splines, 0, 31, np.zeros(45 + 2 * REACH, np.float32))
    surround(splines)
    for first, last in pairwise(bands):
        judge_band(before, after, splines, first, last, estimates, known, NOISE, out, judging_room())
    return out


def changes(before, after, known):
    """Change as it is and once carried, by whole pixels; 0 of what leaves the frame; with two more pixels around."""
    rows, columns = (np.indices(before.shape) + known[::-1]).astype(int)
    inside = (rows >= 0) & (rows < 31) & (columns >= 0) & (columns < 45)
    carried = after[rows.clip(0, 30), columns.clip(0, 44)]
    return np.pad(inside * (np.stack([after, carried]) - before), ((0, 0), (2, 3), (2, 3)))


def literal(before, after, estimates, known):
    """Return what the module's text says of each cell, and which rest."""
    left, out = changes(before, after, known), estimates.astype(float)
    rests = np.zeros(out.shape[1:], bool)
    for cell in np.ndindex(*rests.shape):
        y, x = 2 * np.array(cell)
        box, own = left[:, y : y + 6, x : x + 6], left[:, y + 2 : y + 4, x + 2 : x + 4]
        rest, motion = box.reshape(2, -1).var(axis=1) + NOISE / 2
        u, v, doubt, sure = out[:, *cell]
        square = u * u + v * v
        rests[cell] = (rest < motion / 2) & (rest < max(4 * NOISE, motion / 8)) & (square > 0.01)
        mean, power = (0.3 * (box**k).mean(axis=(1, 2)) + 0.7 * (own**k).mean(axis=(1, 2)) for k in (1, 2))
        still, moved = power - mean**2
        itself = (own[0] ** 2).mean()
        told = np.clip(min(2 * (still - moved) / (still + NOISE), 2 * itself / (itself + NOISE)), 0, 1)
        over = max(square - 0.05**2, 0)
        as_it_is = u, v, doubt, sure * (1 - over / (over + 0.005) * (1 - told))
        gap = max(motion - rest, 1e-9)
        resting = 0, 0, square * rest / gap / 36, gap / motion
        out[:, *cell] = np.where(rests[cell], resting, as_it_is)
    return out, rests


def test_cells_are_judged_as_the_text_says(scene):
    found, (expected, rests) = judged(*scene), literal(*scene)
    assert 0.2 < rests.mean() < 0.8 and not rests[4:8, 8:13].any() and np.median(expected[3, 4:8, 8:13]) > 0.85
    assert np.median(expected[3, 13:, 3:6]) < 0.1  # flat
    assert_allclose(found[:2], expected[:2])
    assert_allclose(found[2:], expected[2:], rtol=0.02, atol=0.01)  # splines of 13 taps


def test_bands_and_velocity_alone_say_the_same(scene):
    before, after, estimates, known = scene
    assert np.array_equal(judged(*scene), judged(*scene, bands=(0, 5, 6, 11, 16)))
    assert np.array_equal(judged(*scene)[:2], judged(before, after, estimates[:2].copy(), known))


def test_confidence_falls_where_velocity_differs():
    velocity = np.random.default_rng(0).normal(0, 2, (2, 7, 9)).astype(np.float32)
    confidence = np.full((7, 9), 0.8, np.float32)
    differ_band(velocity, confidence, 0, 7, np.zeros(9, np.float32))
    beside = np.pad(velocity, ((0, 0), (1, 1), (1, 1)), mode="edge")
    others = beside[:, :-2, 1:-1], beside[:, 2:, 1:-1], beside[:, 1:-1, :-2], beside[:, 1:-1, 2:]
    apart = sum(((velocity - other) ** 2).sum(axis=0) for other in others)
    square = (velocity**2).sum(axis=0) / 2 + 0.25**2
    assert_allclose(confidence, 0.8 * square / (square + 4 * apart), rtol=1e-5)


def test_what_leaves_the_frame_is_no_reason_to_rest(scene):
    """Light changes, and half of a window leaves: mixed with what is carried well it looked as if rest were better."""
    before, _, estimates, known = scene
    after = np.roll(before, (-1, 3), axis=(0, 1)) - 40
    after[:, -3:] += np.linspace(0, 50, 31)[:, None]
    estimates[:2], known[:2] = np.reshape([3, -1], (2, 1, 1)), np.reshape([3, -1], (2, 1, 1))
    assert (judged(before, after, estimates, known)[0, 3:-3, 18:] == 3).all()


@pytest.mark.parametrize("speed", ["fastest", "fast", "accurate"])
def test_no_region_beside_a_moving_thing_is_said_to_move(speed):
    before = gaussian_filter(np.random.default_rng(0).standard_normal((180, 240)), 2)
    before = 128 + 45 * before / before.std()
    after = before.copy()
    after[60:130, 76:176] = before[60:130, 70:170]
    field = MotionField(outputs=("velocity", "confidence"), speed=speed).between(before, after)
    false = (before == after) & (np.hypot(*field.velocity) > 0.3) & (field.confidence > 0.5)
    assert np.bincount(label(false)[0].ravel())[1:].max(initial=0) < 64
    inside = np.s_[75:115, 95:155]
    assert np.median(np.hypot(field.velocity[0] - 6, field.velocity[1])[inside]) < 0.1
    assert np.median(field.confidence[inside]) > 0.5
