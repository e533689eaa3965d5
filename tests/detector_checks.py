"""What every detector keeps, as functions of what makes it: ``CHECKS`` of all, ``OPPONENT_CHECKS`` of opponent ones."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import cKDTree

from flymotion.detectors import DETECTORS, learned
from flymotion.generators import Generators, derivative_operator
from flymotion.world.eyes import Grid, Hexagon, Line, Sphere

DT = 0.01
EYE = Line(9)
DERIVATIVE = Generators(derivative_operator((5,))[None], (5,))

MAKERS = DETECTORS | {"learned": partial(learned, DERIVATIVE)}
OPPONENT = [name for name, make in MAKERS.items() if make().opponent]


def noise(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def gratings(sign=1, contrast=0.5, duration=6.0):
    """Movies of several phases that drift by 1 Hz, 30 degrees a period, to the right or the left."""
    t, phases = np.arange(round(duration / DT)) * DT, 2 * np.pi * np.arange(8) / 8
    return contrast * np.cos(2 * np.pi * (sign * t[:, None] - np.arange(9) / 6) + phases[:, None, None])


def assert_same(found, expected):
    """But for rounding, relative to the largest response."""
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.nanmax(np.abs(expected)))


# Streams


def check_that_any_split_of_a_movie_gives_the_same(make):
    movie = noise(40, 9)
    for cuts in ((13,), (0, 0, 1, 25, 25, 40), range(1, 40)):
        stream = make().stream(DT, eye=EYE)
        pieces = [stream.push(piece) for piece in np.split(movie, cuts)]
        assert [len(piece) for piece in pieces] == [len(piece) for piece in np.split(movie, cuts)]
        assert_same(np.concatenate(pieces), make()(movie, DT))


def check_that_what_was_before_is_an_endless_constant(make):
    movie, level = noise(40, 9), noise(9, seed=1)
    longer = np.concatenate([np.repeat(level[None], 20, axis=0), movie])
    assert_same(make()(movie, DT, before=level), make()(longer, DT)[20:])


def check_that_a_detector_and_a_stream_half_way_survive_pickling(make):
    movie = noise(40, 9)
    stream = make().stream(DT, eye=EYE)
    first = stream.push(movie[:15])
    second = pickle.loads(pickle.dumps(stream)).push(movie[15:])
    assert_same(np.concatenate([first, second]), pickle.loads(pickle.dumps(make()))(movie, DT))


# Movies


def check_that_movies_seen_side_by_side_are_movies_seen_alone(make):
    movies = noise(2, 3, 40, 9)
    together = make()(movies, DT, eye=EYE)
    alone = np.array([[make()(movie, DT) for movie in row] for row in movies])
    assert together.shape == alone.shape
    assert_same(together, alone)


def check_that_single_precision_stays_and_agrees(make):
    movie = noise(60, 9)
    single, double = make()(movie.astype(np.float32), DT), make()(movie, DT)
    assert single.dtype == np.float32
    assert double.dtype == np.float64
    assert_allclose(single, double, atol=1e-4 * np.abs(double).max())


def check_that_integers_are_intensities_like_any_other_and_no_movie_is_changed(make):
    movie = np.random.default_rng(0).integers(0, 256, (40, 9), dtype=np.uint8)
    kept = movie.astype(float)
    movie.flags.writeable = kept.flags.writeable = False
    assert_array_equal(make()(movie, DT), make()(kept, DT))


def check_that_movies_that_are_not_finite_are_refused_with_the_place(make):
    for bad in (np.nan, np.inf):
        movie = noise(40, 9)
        movie[5, 3] = bad
        with pytest.raises(ValueError, match=r"frame 5\b"):
            make()(movie, DT)


def check_that_a_steady_scene_gives_a_steady_response(make):
    movie = np.repeat(noise(1, 9), 30, axis=0)
    responses = make()(movie, DT)
    assert_allclose(responses, np.repeat(responses[:1], 30, axis=0), rtol=1e-10, atol=1e-12)


def check_that_without_contrast_there_is_no_response(make):
    assert_allclose(make()(np.zeros((5, 9)), DT), 0, atol=1e-15)


# Directions


def spread(detector, movie, eye, direction):
    """Responses, shape (n_frames, n_pixels, ...), where there are any, and NaN elsewhere."""
    responses = detector(movie, DT, eye=eye, direction=direction)
    places = np.full((len(responses), len(eye.positions), *responses.shape[2:]), np.nan)
    places[:, detector.positions(eye, direction)] = responses
    return places


def turned(eye, angle):
    """Pixels that content of each pixel comes to when it is turned counter-clockwise."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    distance, pixel = cKDTree(eye.positions).query(eye.positions @ np.array([[c, -s], [s, c]]))
    assert distance.max() < 1e-9
    return pixel


def check_that_a_turned_movie_seen_in_the_turned_direction_gives_the_same(make):
    for eye, direction, angle in ((Grid(7, 7), 0.0, 90.0), (Hexagon(4), 30.0, 60.0)):
        movie = noise(25, len(eye.positions))
        to = turned(eye, angle)
        moved = np.empty_like(movie)
        moved[:, to] = movie
        straight = spread(make(), movie.reshape(25, *eye.shape), eye, direction)
        assert np.isfinite(straight).any()
        assert_same(spread(make(), moved.reshape(25, *eye.shape), eye, direction + angle)[:, to], straight)


def check_that_a_mirrored_movie_is_the_movie_in_the_other_direction(make):
    movie = noise(40, 9)
    assert_same(make()(movie[:, ::-1], DT)[:, ::-1], make()(movie, DT, direction=180.0))


def check_that_several_directions_are_each_of_them_where_all_have_taps(make):
    eye, detector = Grid(7, 7), make()
    movie = noise(20, 7, 7)
    both = detector(movie, DT, direction=(0.0, 90.0))
    where = detector.positions(eye, (0.0, 90.0))
    assert both.shape[1:3] == (len(where), 2)
    for i, direction in enumerate((0.0, 90.0)):
        assert_same(both[:, :, i], spread(detector, movie, eye, direction)[:, where])


def check_that_the_preferred_direction_is_to_the_right(make):
    right, left = (make()(gratings(sign), DT, eye=EYE)[:, 200:] for sign in (1, -1))
    assert right.mean() > left.mean()
    assert right.max() > left.max()


def check_that_an_eye_too_small_or_a_direction_off_its_lattice_is_refused(make):
    taps = len(make().displacements)
    with pytest.raises(
        ValueError, match=rf"an eye of \({taps - 1},\) pixels has no place for the detector's {taps} taps"
    ):
        make()(noise(5, taps - 1), DT)
    with pytest.raises(
        ValueError,
        match=r"along direction 20 deg, as the tap at .*, or a direction of its lattice: 0, 90, 180, 270 deg",
    ):
        make()(noise(5, 9, 9), DT, direction=20.0)
    with pytest.raises(ValueError, match="direction 90 deg"):
        make()(noise(5, 9), DT, direction=90.0)
    with pytest.raises(ValueError, match="a spherical eye has no lattice"):
        make().positions(Sphere.evenly(50))


# Opponent detectors


def check_if_opponent_that_a_mirrored_movie_changes_the_sign(make):
    movie = noise(40, 9)
    assert_same(make()(movie[:, ::-1], DT)[:, ::-1], -make()(movie, DT))


def check_if_opponent_that_null_motion_gives_negative_responses(make):
    right, left = (make()(gratings(sign), DT, eye=EYE)[:, 200:].mean() for sign in (1, -1))
    assert right > 0
    assert_allclose(left, -right, rtol=1e-2)


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_that_")]
OPPONENT_CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_if_opponent_")]
