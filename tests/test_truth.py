"""Errors against the truth, by hand; .flo files; and how far off velocity fields are where the motion is known."""

import struct

import numpy as np
import pytest
import skimage.data
from matplotlib.image import imread
from sklearn.datasets import load_sample_image

from flymotion.field import MotionField
from flymotion.field.truth import angular_error, endpoint_error, read_flo
from flymotion.video.luminance import area_averages
from flymotion.world.eyes import Grid
from flymotion.world.rendering import render
from flymotion.world.scenes import photograph


@pytest.fixture(scope="module")
def make_pair():
    """A photograph, seen by an eye as its content moves by ``velocity``, with noise of a sensor of 256 grey levels."""
    scene = photograph(load_sample_image("china.jpg"), pixels_per_spacing=1.0)
    middle = scene.extent.mean(axis=1)

    def make(velocity, *, noise=0.0, seed=0):
        frames = render(scene, Grid(160, 200, 0.6), [middle, middle - velocity])
        noisy = frames + noise * np.random.default_rng(seed).standard_normal(frames.shape)
        return np.clip(np.round(noisy), 0, 255).astype(np.uint8)

    return make


@pytest.fixture
def write_flo(tmp_path):
    """Write a field, shape (height, width, 2), as a .flo file, or the content given, and return the path."""

    def write(field=None, content=None):
        path = tmp_path / "field.flo"
        if content is None:
            height, width = field.shape[:2]
            content = b"PIEH" + struct.pack("<ii", width, height) + field.astype("<f4").tobytes()
        path.write_bytes(content)
        return path

    return write


def mean_error(before, after, truth, **settings):
    return np.nanmean(endpoint_error(MotionField(**settings).between(before, after).velocity, truth))


# -- errors ------------------------------------------------------------------------------------------------------------


def test_endpoint_error_is_the_distance():
    velocity = np.array([[[1.0, 0.0]], [[2.0, -1.0]]])
    truth = np.array([[[1.0, 3.0]], [[2.0, 3.0]]])
    np.testing.assert_allclose(endpoint_error(velocity, truth), [[0.0, 5.0]])


def test_angular_error_is_the_angle_in_space_and_time():
    velocity, truth = (
        [[0.0, 1.0, np.sqrt(3), 1.0], [0.0, 0.0, 0.0, 1.0]],
        [[0.0, -1.0, 0.0, 1.0], [0.0, 0.0, 0.0, -1.0]],
    )
    expected = [0.0, 90.0, 60.0, np.degrees(np.arccos(1 / 3))]
    np.testing.assert_allclose(angular_error(velocity, truth), expected, atol=1e-9)


def test_angular_error_of_tiny_differences_is_not_lost_to_rounding():
    np.testing.assert_allclose(angular_error([1e-9, 0.0], [0.0, 0.0]), np.degrees(1e-9), rtol=1e-9)


@pytest.mark.parametrize("error", [endpoint_error, angular_error])
def test_errors_are_unknown_where_the_truth_is_and_one_motion_stands_for_all_pixels(error):
    velocity = np.ones((2, 3, 4), np.float32)
    truth = np.ones((2, 3, 4))
    truth[1, 2, 3] = np.nan
    errors = error(velocity, truth)
    assert np.argwhere(np.isnan(errors)).tolist() == [[2, 3]]
    assert errors[0, 0] == 0
    np.testing.assert_allclose(error(velocity, np.ones((2, 1, 1))), np.zeros((3, 4)))


@pytest.mark.parametrize("error", [endpoint_error, angular_error])
def test_fields_whose_components_are_not_first_are_refused(error):
    with pytest.raises(ValueError, match=r"truth has shape \(3, 4, 2\)"):
        error(np.zeros((2, 3, 4)), np.zeros((3, 4, 2)))
    with pytest.raises(ValueError, match=r"velocity has shape \(\)"):
        error(1.0, np.zeros((2, 3, 4)))


# -- files -------------------------------------------------------------------------------------------------------------


def test_flo_files_give_what_was_written_and_nan_for_the_unknown(write_flo):
    field = np.random.default_rng(0).standard_normal((3, 5, 2)).astype(np.float32)
    field[1, 2] = 1e10, 0.5
    read = read_flo(write_flo(field))
    expected = field.transpose(2, 0, 1).copy()
    expected[:, 1, 2] = np.nan
    np.testing.assert_array_equal(read, expected)
    assert read.dtype == np.float32
    assert read.flags.writeable


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with b''"),
        (b"RIFFxxxxyyyy", "begins with b'RIFF'; expected b'PIEH'"),
        (b"PIEH\x02\x00", "6 bytes; expected at least the 12"),
        (b"PIEH" + struct.pack("<ii", 2, 3) + bytes(47), "59 bytes for 2 x 3 pixels; .* 60 bytes"),
        (b"PIEH" + struct.pack("<ii", 2, 3) + bytes(49), "61 bytes for 2 x 3 pixels"),
        (b"PIEH" + struct.pack("<ii", -1, -1) + bytes(8), "20 bytes for -1 x -1 pixels; expected both sizes positive"),
    ],
)
def test_other_files_and_truncated_ones_are_refused(write_flo, content, message):
    with pytest.raises(ValueError, match=message):
        read_flo(write_flo(content=content))


# -- fields ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [20.0, 140.0, 260.0])
def test_small_motion_of_a_photograph_is_measured(make_pair, angle):
    velocity = 0.3 * np.array([np.cos(np.radians(angle)), -np.sin(np.radians(angle))])
    assert mean_error(*make_pair(velocity), velocity[:, None, None]) < 0.1


def test_noise_blurs_the_velocity_but_does_not_break_it(make_pair):
    velocity = np.array([0.24, -0.18])
    clean, noisy = (mean_error(*make_pair(velocity, noise=noise), velocity[:, None, None]) for noise in (0, 5))
    assert clean < noisy < 0.17


def test_confident_pixels_are_the_better_ones_and_the_error_says_by_how_much(make_pair):
    velocity = np.array([0.24, -0.18])
    field = MotionField().between(*make_pair(velocity, noise=2))
    errors = endpoint_error(field.velocity, velocity[:, None, None])
    sure = field.confidence > np.median(field.confidence)
    assert errors[sure].mean() < errors[~sure].mean()
    known = np.isfinite(field.error)
    errors, told = errors[known], field.error[known]
    right = told < np.median(told)
    assert errors[right].mean() < 0.8 * errors[~right].mean() and np.mean(errors < 2 * told) > 0.95
    assert known.mean() > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "bound"), [(1, 0.2), (2, 0.16), (4, 0.12)])
def test_dimetrodon(real_data, factor, bound):
    paths = [real_data("flow", name) for name in ("frame10.png", "frame11.png", "flow10.flo")]
    frames = [area_averages(255 * imread(path).astype(float), factor) for path in paths[:2]]
    truth = area_averages(read_flo(paths[2]).astype(float), factor) / factor
    assert mean_error(*frames, truth) < bound


def test_stereo_pair_reduced_eightfold():
    left, right, disparity = skimage.data.stereo_motorcycle()
    before, after = (area_averages(image.mean(axis=2), 8) for image in (left, right))
    d = area_averages(np.where(np.isfinite(disparity), disparity, np.nan), 8) / 8
    assert mean_error(before, after, np.stack([-d, np.zeros_like(d)])) < 0.7
