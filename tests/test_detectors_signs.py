"""Known signs: no negative responses, edges of both polarities, reverse-phi, gliders of two and three points."""

import numpy as np
import pytest
from detector_checks import DT, MAKERS

from flymotion.detectors import DETECTORS
from flymotion.world.eyes import Line

STEP = 5
"""Frames between jumps."""

SECOND_ORDER = ["three-pixel", "hrd", "shared-non-delay", "motion-energy-opponent", "learned"]
"""Quadratic in contrast, and opponent: their mean depends on nothing but a movie's correlations of pairs of points."""


def held(steps):
    """Frames of steps that each last a while, shape (..., n_steps, n_pixels)."""
    return np.repeat(steps, STEP, axis=-2)


@pytest.fixture
def glide():
    """Movies of binary pixels in which the product of certain points is the parity; the rest is chance.

    Shape (n_movies, n_frames, n_pixels). ``points`` say where the others lie from the last point of the product: how
    many steps before, and how many pixels to the left.
    """

    def make(points, parity, n_movies=60, n_steps=60, n_pixels=12, seed=0):
        x = np.random.default_rng(seed).choice([-1.0, 1.0], size=(n_movies, n_steps, n_pixels))
        for t in range(max(before for before, _ in points), n_steps):
            for i in range(max(left for _, left in points), n_pixels):
                x[:, t, i] = parity * np.prod([x[:, t - before, i - left] for before, left in points], axis=0)
        return held(x)

    return make


@pytest.fixture
def average():
    """Mean response, and its standard error over movies that share nothing."""

    def measure(detector, movies):
        means = detector(movies, DT, eye=Line(movies.shape[-1])).reshape(len(movies), -1).mean(axis=1)
        return means.mean(), means.std(ddof=1) / np.sqrt(len(means))

    return measure


@pytest.mark.parametrize(
    "name",
    [
        "shared-non-delay-t4",
        "shared-non-delay-t5",
        "barlow-levick",
        "barlow-levick-divisive",
        "conductance-t4",
        "conductance-t5",
        "ln",
        "motion-energy",
    ],
)
def test_others_are_never_negative(name):
    movie = np.random.default_rng(0).standard_normal((300, 9))
    assert DETECTORS[name]()(movie, DT).min() >= 0


@pytest.fixture
def edge():
    """A step of contrast that passes 9 pixels in half a second, shape (n_frames, 9)."""

    def make(contrast, sign=1):
        t = np.arange(150) * DT
        passed = t[:, None] - 0.5 >= np.arange(9)[::sign] * 0.06
        return contrast * passed.astype(float)

    return make


@pytest.mark.parametrize(
    ("name", "contrast"),
    [
        ("shared-non-delay-t4", 1.0),
        ("shared-non-delay-t5", -1.0),
        ("hrd-on", 1.0),
        ("haag", 1.0),
        ("conductance-t4", 1.0),
        ("conductance-t5", -1.0),
        ("gruntman", 1.0),
        ("barlow-levick", 1.0),
    ],
)
def test_edges_of_the_right_polarity_and_direction_are_seen_best(edge, name, contrast):
    """Of the four combinations of polarity and direction, by the largest response."""
    detector = DETECTORS[name]()
    best = detector(edge(contrast), DT).max()
    others = [detector(edge(c, sign), DT).max() for c, sign in ((contrast, -1), (-contrast, 1), (-contrast, -1))]
    assert best > 1.2 * max(others)


def test_barlow_levick_is_vetoed_in_the_null_direction(edge):
    right, left = (DETECTORS["barlow-levick"]()(edge(1.0, sign), DT).sum() for sign in (1, -1))
    assert left < 0.2 * right


# Reverse-phi and gliders


@pytest.mark.parametrize("name", SECOND_ORDER)
@pytest.mark.parametrize("jump", [1 / 8, 1 / 6])
def test_reverse_phi_inverts(name, jump):
    """A grating jumps to the right, and inverts at each jump, or does not."""
    steps, phases = np.arange(160), 2 * np.pi * np.arange(8) / 8
    phi = np.cos(2 * np.pi * (jump * steps[:, None] - np.arange(9) / 6) + phases[:, None, None])
    reverse = phi * (-1.0) ** steps[:, None]
    detector = MAKERS[name]()
    seen, inverted = (detector(held(x), DT, eye=Line(9))[:, 300:].mean() for x in (phi, reverse))
    assert seen > 0
    assert inverted < 0


TWO_POINT = [(1, 1)]
"""The same pixel one step before, one to the left: content moves to the right."""


@pytest.mark.parametrize("name", SECOND_ORDER)
@pytest.mark.parametrize("parity", [1, -1], ids=["phi", "reverse-phi"])
def test_two_point_gliders(glide, average, name, parity):
    mean, error = average(MAKERS[name](), glide(TWO_POINT, parity))
    assert parity * mean > 10 * error


@pytest.mark.parametrize("name", ["hrd", "three-pixel", "motion-energy-opponent"])
def test_a_glider_to_the_left_is_negative(glide, average, name):
    mean, error = average(MAKERS[name](), glide(TWO_POINT, 1)[:, :, ::-1])
    assert mean < -10 * error


CONVERGING, DIVERGING = [(1, 0), (1, 1)], [(0, 1), (1, 1)]
"""Two points before and one after; one before and two after."""


@pytest.mark.parametrize("points", [CONVERGING, DIVERGING], ids=["converging", "diverging"])
@pytest.mark.parametrize("parity", [1, -1])
def test_three_point_gliders_hold_nothing_for_pairs_of_points(glide, average, points, parity):
    movies = glide(points, parity)
    mean, error = average(DETECTORS["hrd"](), movies)
    assert abs(mean) < 3 * error
    two_point, _ = average(DETECTORS["hrd"](), glide(TWO_POINT, 1))
    assert error < 0.05 * two_point


def test_three_point_gliders_hold_something_for_conductances(glide, average):
    """Their division makes products of three points, and parity is the sign of these."""
    measured = [average(DETECTORS["conductance-t4"](), glide(CONVERGING, parity, n_movies=200)) for parity in (1, -1)]
    (plus, plus_error), (minus, minus_error) = measured
    assert abs(plus - minus) > 4 * np.hypot(plus_error, minus_error)
