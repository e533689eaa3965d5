"""Frames and pairs: what is let in, at which precision, and that nothing moves to another place."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from flymotion.frames import FramePairs, as_frames, pair_up, random_patches
from flymotion.photoreceptors import ZCAWhitening
from flymotion.similarity.features import outer_products


@pytest.fixture
def make_movie():
    """Whole numbers from 0 to 255, so that every dtype holds them exactly."""

    def make(n_frames=6, *pixels, dtype=np.float64, seed=0):
        return np.random.default_rng(seed).integers(0, 256, (n_frames, *(pixels or (5,)))).astype(dtype)

    return make


@pytest.fixture
def make_pairs():
    """Pairs in which every pixel names its pair, row and column: 10_000 pair + 100 row + column, plus 0.5 after."""

    def make(n_pairs, height, width, **how):
        pair, row, column = np.indices((n_pairs, height, width))
        before = 10_000.0 * pair + 100.0 * row + column
        return FramePairs(before, before + 0.5, **how)

    return make


# Precision and kinds of array


@pytest.mark.case("B32")
@pytest.mark.parametrize(
    ("given_dtype", "expected"),
    [
        ("uint8", "float64"),
        ("uint16", "float64"),
        (">u2", "float64"),
        ("int64", "float64"),
        ("bool", "float64"),
        ("float16", "float32"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("longdouble", "float64"),
    ],
)
def test_numbers_become_floating_point_and_keep_their_values(make_movie, given_dtype, expected):
    movie = make_movie(dtype=given_dtype)
    frames = as_frames(movie)
    assert frames.dtype == expected
    assert_array_equal(frames, movie.astype(float))


@pytest.mark.case("B02")
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int8])
def test_differences_of_integers_never_wrap(dtype):
    movie = np.array([[100, 50, 50], [50, 100, 50]], dtype=dtype)
    pairs = pair_up(movie)
    assert_array_equal(pairs.after - pairs.before, [[-50, 50, 0]])


@pytest.mark.case("B02")
def test_change_of_a_bright_uint8_movie_is_what_it_is_in_floating_point():
    movie = np.array([[200, 50, 50], [50, 200, 50]], dtype=np.uint8)
    chi = outer_products(pair_up(movie), "change")
    assert_array_equal(chi.u, [[-150, 150, 0]])
    assert_array_equal(chi.dense()[0, :3], [-30000, -7500, -7500])
    assert_array_equal(chi.dense(), outer_products(pair_up(movie.astype(float)), "change").dense())


@pytest.mark.case("B02")
@pytest.mark.case("B32")
def test_large_whole_numbers_multiply_without_wrapping():
    movie = np.array([[2**40, 0], [0, 2**40]])
    assert_array_equal(outer_products(pair_up(movie), "product").dense(), [[0, 0, 2.0**80, 0]])


def test_floating_point_frames_are_not_copied(make_movie):
    movie = make_movie()
    assert np.shares_memory(as_frames(movie), movie)


@pytest.mark.case("B10")
@pytest.mark.parametrize(
    "view",
    [
        lambda a, path: a.tolist(),
        lambda a, path: np.asfortranarray(a),
        lambda a, path: np.repeat(a, 2, axis=0)[::2],
        lambda a, path: np.ascontiguousarray(a[:, ::-1])[:, ::-1],
        lambda a, path: a.astype(">f4"),
        lambda a, path: np.memmap(path, dtype=a.dtype, mode="w+", shape=a.shape).__iadd__(a),
        lambda a, path: pytest.importorskip("pandas").DataFrame(a),
        lambda a, path: pytest.importorskip("torch").from_numpy(a.copy()),
    ],
    ids=["list", "fortran", "strided", "reversed", "big-endian", "memmap", "DataFrame", "torch"],
)
def test_layout_and_container_do_not_matter(make_movie, tmp_path, view):
    movie = make_movie()
    assert_array_equal(pair_up(view(movie, tmp_path / "movie.bin")).after, movie[1:])


@pytest.mark.case("B10")
@pytest.mark.parametrize("feature", ["change", "midpoint", "product", "antisymmetric"])
def test_read_only_frames_work_and_are_left_as_they_were(make_movie, feature):
    movie = make_movie(6, 8, 8)
    kept = movie.copy()
    movie.flags.writeable = False
    outer_products(random_patches(pair_up(movie), (3, 3), 4, seed=0), feature).dense()
    assert_array_equal(movie, kept)


# What is refused


@pytest.mark.case("B11")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_pixel_is_refused_by_the_number_of_its_frame(make_movie, bad):
    movie = make_movie(10, 4, 4)
    movie[5, 2, 1] = bad
    with pytest.raises(ValueError, match="frame 5"):
        as_frames(movie)
    with pytest.raises(ValueError, match=r"clip .* frame 105"):
        as_frames(movie, name="clip", first=100)


@pytest.mark.case("B32")
@pytest.mark.parametrize(
    ("movie", "error", "message"),
    [
        (np.ones((3, 4)) * 1j, TypeError, "complex128"),
        (np.full((3, 4), "1"), TypeError, "dtype <U1"),
        (np.array([[1.0, None], [2.0, 3.0]], dtype=object), TypeError, "object"),
        (np.ones((3, 4), dtype="M8[s]"), TypeError, "datetime64"),
        ([[1.0, 2.0], [3.0]], ValueError, "inhomogeneous|ragged"),
        (np.ma.array(np.ones((3, 4)), mask=np.eye(3, 4)), ValueError, "masked"),
        (np.ma.array(np.ones((3, 4))), ValueError, "masked"),
        (np.ones(4), ValueError, r"\(4,\).*time first"),
        (5.0, ValueError, "time first"),
        (np.ones((3, 0)), ValueError, r"\(3, 0\)"),
    ],
)
def test_what_are_no_frames_is_refused(movie, error, message):
    with pytest.raises(error, match=message):
        as_frames(movie)


def test_no_frames_at_all_are_an_empty_movie():
    assert as_frames(np.zeros((0, 5))).shape == (0, 5)


@pytest.mark.case("B04")
@pytest.mark.parametrize("n_frames", [0, 1])
def test_fewer_than_two_frames_make_no_pair(n_frames):
    with pytest.raises(ValueError, match=f"{n_frames} frame.*at least 2"):
        pair_up(np.zeros((n_frames, 5)))


# Order of axes


@pytest.mark.case("B24")
@pytest.mark.parametrize("time", ["time", "t", "frame"])
@pytest.mark.parametrize("order", [(1, 2, 0), (2, 1, 0), (0, 2, 1), (1, 0, 2)])
def test_named_dimensions_are_put_time_first(make_movie, time, order):
    xarray = pytest.importorskip("xarray")
    movie = make_movie(3, 4, 6)
    names = np.array([time, "y", "x"])
    assert_array_equal(as_frames(xarray.DataArray(movie.transpose(order), dims=list(names[list(order)]))), movie)


@pytest.mark.case("B24")
def test_a_bright_corner_keeps_its_place_in_a_frame_that_is_not_square():
    movie = np.zeros((3, 4, 6))
    movie[:, 0, 5] = 1.0
    pairs = pair_up(movie)
    assert (pairs.pixels, pairs.n_pixels) == ((4, 6), 24)
    assert_array_equal(np.argwhere(pairs.before[0]), [[0, 5]])
    assert_array_equal(np.argwhere(pairs.flat().before[0]), [[5]])


# Pairs


def test_each_frame_is_paired_with_the_next(make_movie):
    movie = make_movie(7)
    pairs = pair_up(movie)
    assert len(pairs) == 6
    assert_array_equal(pairs.before, movie[:-1])
    assert_array_equal(pairs.after, movie[1:])


@pytest.mark.case("B04")
@pytest.mark.parametrize(
    ("cuts", "first_frames"),
    [([], [0, 1, 2, 3, 4]), ([3], [0, 1, 3, 4]), ([0, 5], [0, 1, 2, 3]), ((1, 2), [2, 3, 4])],
)
def test_no_pair_crosses_a_cut(cuts, first_frames):
    pairs = pair_up(np.arange(6.0)[:, None], cuts=cuts)
    assert_array_equal(pairs.before[:, 0], first_frames)
    assert_array_equal(pairs.after[:, 0], np.add(first_frames, 1))


def test_clips_of_one_frame_make_no_pairs():
    assert len(pair_up(np.zeros((3, 5)), cuts=[1, 2])) == 0


@pytest.mark.parametrize("cut", range(2, 6))
def test_pairs_of_two_clips_are_the_pairs_of_each(make_movie, cut):
    movie = make_movie(7)
    clips = [movie[:cut], movie[cut:]]
    whole = pair_up(movie, cuts=[cut])
    apart = FramePairs.concatenate([pair_up(clip) for clip in clips])
    assert_array_equal(whole.before, apart.before)
    assert_array_equal(whole.after, apart.after)


def test_frames_of_different_shapes_are_no_pairs():
    with pytest.raises(ValueError, match=r"\(3, 5\).*\(3, 6\)"):
        FramePairs(np.zeros((3, 5)), np.zeros((3, 6)))


def test_motions_come_one_a_pair():
    with pytest.raises(ValueError, match="2 motions for 3 pairs"):
        FramePairs(np.zeros((3, 5)), np.zeros((3, 5)), np.zeros((2, 1)))


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([2, 0]), np.array([True, False, True, False]), [3, 3], -1, 2])
def test_rows_choose_frames_and_motions_alike(make_pairs, rows):
    pairs = make_pairs(4, 2, 3, motion=np.arange(4.0))
    chosen = pairs[rows]
    wanted = np.atleast_1d(np.arange(4)[rows])
    assert_array_equal(chosen.before[:, 0, 0], 10_000.0 * wanted)
    assert_array_equal(chosen.after[:, 0, 0], 10_000.0 * wanted + 0.5)
    assert_array_equal(chosen.motion, wanted[:, None])


def test_a_row_out_of_range_is_an_index_error(make_pairs):
    with pytest.raises(IndexError):
        make_pairs(4, 2, 3)[4]


@pytest.mark.parametrize("motion", [None, np.ones((4, 2))])
def test_no_rows_are_no_pairs_of_the_same_shape(make_pairs, motion):
    none = make_pairs(4, 2, 3, motion=motion)[:0]
    assert (len(none), none.pixels, none.flat().pixels) == (0, (2, 3), (6,))


def test_reversing_time_swaps_frames_and_turns_motions_round(make_pairs):
    pairs = make_pairs(4, 2, 3, motion=np.ones((4, 2)))
    back = pairs.reversed()
    assert_array_equal(back.before, pairs.after)
    assert_array_equal(back.after, pairs.before)
    assert_array_equal(back.motion, -pairs.motion)
    assert_array_equal(back.reversed().before, pairs.before)


def test_joined_pairs_keep_their_order_and_only_complete_motions(make_pairs):
    known, unknown = make_pairs(2, 2, 3, motion=[1.0, 2.0]), make_pairs(2, 2, 3)
    assert_array_equal(FramePairs.concatenate([known, known]).motion[:, 0], [1, 2, 1, 2])
    assert FramePairs.concatenate([known, unknown]).motion is None


# Patches


def test_patches_are_cut_at_the_same_place_before_and_after(make_pairs):
    pairs = make_pairs(3, 6, 9, motion=[1.0, 2.0, 3.0])
    patches = random_patches(pairs, (2, 3), 5, seed=1)
    assert (len(patches), patches.pixels) == (15, (2, 3))
    assert_array_equal(patches.after - patches.before, np.full((15, 2, 3), 0.5))
    assert_array_equal(patches.before // 10_000, np.repeat(np.arange(3), 5)[:, None, None] * np.ones((1, 2, 3)))
    assert_array_equal(patches.motion[:, 0], np.repeat([1.0, 2.0, 3.0], 5))


def test_patches_are_windows_with_rows_down_and_columns_right(make_pairs):
    patches = random_patches(make_pairs(2, 6, 9), (2, 3), 4, seed=1).before
    corner = patches[:, :1, :1]
    assert_array_equal(patches - corner, np.broadcast_to([[0, 1, 2], [100, 101, 102]], patches.shape))


def test_patches_reach_every_place(make_pairs):
    corners = random_patches(make_pairs(1, 4, 5), (2, 3), 500, seed=0).before[:, 0, 0]
    assert sorted(set(corners)) == [0, 1, 2, 100, 101, 102, 200, 201, 202]


@settings(max_examples=20, deadline=None, derandomize=True)
@given(cuts=st.sets(st.integers(1, 7)), seed=st.integers(0, 2**32))
def test_patches_do_not_depend_on_how_the_stream_is_split(cuts, seed):
    pairs = pair_up(np.random.default_rng(0).standard_normal((9, 5, 7)))
    edges = [0, *sorted(cuts), 8]
    parts = [random_patches(pairs[a:b], (3, 2), 4, seed=seed, first=a) for a, b in pairwise(edges)]
    whole = random_patches(pairs, (3, 2), 4, seed=seed)
    assert_array_equal(FramePairs.concatenate(parts).before, whole.before)


@pytest.mark.case("B18")
def test_patches_of_a_seed_are_the_same_and_of_another_differ(make_pairs):
    pairs = make_pairs(5, 20, 20)
    first, same, other = (random_patches(pairs, (3, 3), 5, seed=seed).before for seed in (0, 0, 1))
    assert_array_equal(first, same)
    assert (first != other).any()


@pytest.mark.case("B18")
def test_patches_leave_the_global_stream_alone(make_pairs):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    random_patches(make_pairs(5, 20, 20), (3, 3), 5, seed=0)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_a_patch_as_large_as_the_frame_is_the_frame(make_pairs):
    pairs = make_pairs(2, 3, 4)
    assert_array_equal(random_patches(pairs, (3, 4), 1, seed=0).before, pairs.before)


@pytest.mark.parametrize("size", [(5, 2), (2, 6)])
def test_a_patch_larger_than_the_frame_is_refused(make_pairs, size):
    with pytest.raises(ValueError, match=rf"\(4, 5\) hold no patch of {size[0]} x {size[1]}"):
        random_patches(make_pairs(2, 4, 5), size, 1, seed=0)


def test_lines_hold_no_patches():
    with pytest.raises(ValueError, match="hold no patch"):
        random_patches(pair_up(np.zeros((3, 9))), (1, 3), 1, seed=0)


def test_no_pairs_give_no_patches(make_pairs):
    patches = random_patches(make_pairs(2, 6, 6)[:0], (3, 2), 4, seed=0)
    assert (len(patches), patches.pixels) == (0, (3, 2))


# Names of motions


NAMES = (("right", "left"), ("down", "up"))


def test_names_follow_the_pairs(make_pairs):
    pairs = replace(make_pairs(4, 2, 3, motion=np.ones((4, 2))), names=NAMES)
    assert pairs[:2].names == pairs.flat().names == pairs.reversed().names == NAMES
    assert FramePairs.concatenate([pairs, pairs]).names == NAMES
    assert FramePairs.concatenate([pairs, make_pairs(2, 2, 3, motion=np.ones((2, 2)))]).names is None
    assert ZCAWhitening().fit_transform(pairs).names == NAMES


@pytest.mark.parametrize("motion", [None, np.ones((4, 1))], ids=["unknown", "one parameter"])
def test_names_are_those_of_the_parameters(make_pairs, motion):
    with pytest.raises(ValueError, match="2 names for motions of another number of parameters"):
        replace(make_pairs(4, 2, 3, motion=motion), names=NAMES)
