"""What every detector keeps: streams, precision, batches, turned and mirrored movies, pickling, and its errors."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import cKDTree

from flymotion.detectors import (
    DETECTORS,
    Detector,
    along,
    barlow_levick,
    conductance,
    gruntman,
    haag,
    hassenstein_reichardt,
    hr_bl_hybrid,
    learned,
    linear_nonlinear,
    motion_energy,
    ridge_velocity,
    three_pixel,
)
from flymotion.detectors.temporal import Delay, Gamma, LowPass
from flymotion.frames import pair_up
from flymotion.generators import Generators, derivative_operator
from flymotion.similarity.features import FEATURES, outer_products
from flymotion.world.eyes import Grid, Hexagon, Line, Sphere

DT = 0.01
EYE = Line(9)
DERIVATIVE = Generators(derivative_operator((5,))[None], (5,))

MAKERS = DETECTORS | {"learned": partial(learned, DERIVATIVE)}
OPPONENT = [name for name, make in MAKERS.items() if make().opponent]

every_detector = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@pytest.fixture
def make_movie():
    return lambda *shape, seed=0: np.random.default_rng(seed).standard_normal(shape)


def of_size(responses):
    """A bound on rounding, relative to the largest response."""
    return 1e-12 * np.abs(responses).max()


# Streams


@every_detector
@pytest.mark.parametrize("cuts", [(13,), (0, 0, 1, 25, 25, 40), tuple(range(1, 40))], ids=["two", "empty", "frames"])
def test_any_split_of_a_movie_gives_the_same(make_movie, make, cuts):
    movie = make_movie(40, 9)
    stream = make().stream(DT, eye=EYE)
    pieces = [stream.push(piece) for piece in np.split(movie, cuts)]
    whole = make()(movie, DT)
    assert [len(piece) for piece in pieces] == [len(piece) for piece in np.split(movie, cuts)]
    assert_allclose(np.concatenate(pieces), whole, rtol=1e-12, atol=of_size(whole))


@every_detector
def test_what_was_before_is_an_endless_constant(make_movie, make):
    movie, level = make_movie(40, 9), make_movie(9, seed=1)
    longer = np.concatenate([np.repeat(level[None], 20, axis=0), movie])
    whole = make()(longer, DT)[20:]
    assert_allclose(make()(movie, DT, before=level), whole, rtol=1e-12, atol=of_size(whole))


@every_detector
def test_a_detector_and_a_stream_half_way_survive_pickling(make_movie, pickled, make):
    movie = make_movie(40, 9)
    stream = make().stream(DT, eye=EYE)
    first = stream.push(movie[:15])
    second = pickled(stream).push(movie[15:])
    whole = pickled(make())(movie, DT)
    assert_allclose(np.concatenate([first, second]), whole, rtol=1e-12, atol=of_size(whole))


# Movies


@every_detector
def test_movies_seen_side_by_side_are_movies_seen_alone(make_movie, make):
    movies = make_movie(2, 3, 40, 9)
    together = make()(movies, DT, eye=EYE)
    alone = np.array([[make()(movie, DT) for movie in row] for row in movies])
    assert together.shape == alone.shape
    assert_allclose(together, alone, rtol=1e-12, atol=of_size(alone))


@every_detector
def test_single_precision_stays_and_agrees(make_movie, make):
    movie = make_movie(60, 9)
    single, double = make()(movie.astype(np.float32), DT), make()(movie, DT)
    assert single.dtype == np.float32
    assert double.dtype == np.float64
    assert_allclose(single, double, atol=1e-4 * np.abs(double).max())


@every_detector
def test_integers_are_intensities_like_any_other_and_no_movie_is_changed(make):
    movie = np.random.default_rng(0).integers(0, 256, (40, 9), dtype=np.uint8)
    kept = movie.astype(float)
    movie.flags.writeable = kept.flags.writeable = False
    assert_array_equal(make()(movie, DT), make()(kept, DT))


@every_detector
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_movies_that_are_not_finite_are_refused(make_movie, make, bad):
    movie = make_movie(40, 9)
    movie[5, 3] = bad
    with pytest.raises(ValueError, match=r"frame 5\b"):
        make()(movie, DT)


@every_detector
def test_a_steady_scene_gives_a_steady_response(make_movie, make):
    movie = np.repeat(make_movie(1, 9), 30, axis=0)
    responses = make()(movie, DT)
    assert_allclose(responses, np.repeat(responses[:1], 30, axis=0), rtol=1e-10, atol=1e-12)


@every_detector
def test_without_contrast_there_is_no_response(make):
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


@every_detector
@pytest.mark.parametrize(
    ("eye", "direction", "angle"), [(Grid(7, 7), 0.0, 90.0), (Hexagon(4), 30.0, 60.0)], ids=["grid", "hexagon"]
)
def test_a_turned_movie_seen_in_the_turned_direction_gives_the_same(make_movie, make, eye, direction, angle):
    movie = make_movie(25, len(eye.positions))
    to = turned(eye, angle)
    moved = np.empty_like(movie)
    moved[:, to] = movie
    straight = spread(make(), movie.reshape(25, *eye.shape), eye, direction)
    aslant = spread(make(), moved.reshape(25, *eye.shape), eye, direction + angle)
    assert np.isfinite(straight).any()
    assert_allclose(aslant[:, to], straight, rtol=1e-12, atol=of_size(straight[np.isfinite(straight)]))


def test_90_degrees_is_up():
    """Against numpy's own turn of an image."""
    pixels = np.arange(49)
    moved = np.empty(49, dtype=int)
    moved[turned(Grid(7, 7), 90.0)] = pixels
    assert_array_equal(moved.reshape(7, 7), np.rot90(pixels.reshape(7, 7)))


@every_detector
def test_a_mirrored_movie_is_the_movie_in_the_other_direction(make_movie, make):
    movie = make_movie(40, 9)
    there = make()(movie, DT, direction=180.0)
    assert_allclose(make()(movie[:, ::-1], DT)[:, ::-1], there, rtol=1e-12, atol=of_size(there))


@pytest.mark.parametrize("name", OPPONENT)
def test_a_mirrored_movie_changes_the_sign_of_opponent_detectors(make_movie, name):
    movie = make_movie(40, 9)
    straight, mirrored = (MAKERS[name]()(x, DT) for x in (movie, movie[:, ::-1]))
    assert_allclose(mirrored[:, ::-1], -straight, rtol=1e-12, atol=of_size(straight))


def test_which_detectors_are_opponent():
    assert OPPONENT == [
        "three-pixel",
        "hrd",
        "hrd-on",
        "hrd-quadrants",
        "shared-non-delay",
        "hr-bl",
        "motion-energy-opponent",
        "ridge-velocity",
        "learned",
    ]


@every_detector
def test_several_directions_are_each_of_them_where_all_have_taps(make_movie, make):
    eye, detector = Grid(7, 7), make()
    movie = make_movie(20, 7, 7)
    both = detector(movie, DT, direction=(0.0, 90.0))
    where = detector.positions(eye, (0.0, 90.0))
    assert both.shape[1:3] == (len(where), 2)
    for i, direction in enumerate((0.0, 90.0)):
        alone = spread(detector, movie, eye, direction)[:, where]
        assert_allclose(both[:, :, i], alone, rtol=1e-12, atol=of_size(alone))


# Errors


def delayed_by(tau):
    return {
        "three-pixel": three_pixel(Delay(tau)),
        "hrd": hassenstein_reichardt(Delay(tau)),
        "ridge-velocity": ridge_velocity(Delay(tau)),
        "barlow-levick": barlow_levick((LowPass(0.1), Delay(tau))),
        "learned": learned(DERIVATIVE, Delay(tau)),
    }


@pytest.mark.parametrize("name", delayed_by(0.1))
def test_delays_are_whole_frames_and_within_the_movie(make_movie, name):
    with pytest.raises(ValueError, match=r"a delay of 0\.105 s is 10\.5 frames of 0\.01 s; expected a whole number"):
        delayed_by(0.105)[name](make_movie(40, 9), DT)
    with pytest.raises(ValueError, match=r"the movie has 10 frame\(s\), and delays of 10; expected more frames"):
        delayed_by(0.1)[name](make_movie(10, 9), DT)
    assert len(delayed_by(0.1)[name](make_movie(11, 9), DT)) == 11


@every_detector
def test_an_eye_too_small_or_a_direction_off_its_lattice_is_refused(make_movie, make):
    taps = len(make().displacements)
    with pytest.raises(
        ValueError, match=rf"an eye of \({taps - 1},\) pixels has no place for the detector's {taps} taps"
    ):
        make()(make_movie(5, taps - 1), DT)
    with pytest.raises(
        ValueError, match=r"along direction 20 deg; .* or a direction of its lattice: 0, 90, 180, 270 deg"
    ):
        make()(make_movie(5, 9, 9), DT, direction=20.0)
    with pytest.raises(ValueError, match="direction 90 deg"):
        make()(make_movie(5, 9), DT, direction=90.0)
    with pytest.raises(ValueError, match="a spherical eye has no lattice"):
        make().positions(Sphere.evenly(50))


@pytest.mark.parametrize(
    ("eye", "directions"),
    [(Line(9), "0, 180"), (Grid(9, 9), "0, 90, 180, 270"), (Hexagon(4), "30, 90, 150, 210, 270, 330")],
)
def test_the_directions_of_the_lattice_are_named(eye, directions):
    with pytest.raises(ValueError, match=f"or a direction of its lattice: {directions} deg$"):
        three_pixel().positions(eye, 45.0)


@pytest.fixture
def make_detector():
    """Make a detector of two taps whose formula is the caller's."""

    def make(combine=plain, **how):
        return Detector(**{"arms": {"fast": ()}, "displacements": along(0, 1), "combine": combine} | how)

    return make


def plain(tap):
    return tap("fast", 1)


@pytest.mark.parametrize("offset", [-1, 2, -2, 7, 0.5])
def test_formulas_find_no_taps_where_there_are_none(make_movie, make_detector, offset):
    with pytest.raises(ValueError, match=rf"the offset is {offset}; expected one of the taps, 0 to 1"):
        make_detector(lambda tap: tap("fast", offset))(make_movie(5, 9), DT)


@pytest.mark.parametrize(
    ("combine", "shape"),
    [
        (lambda tap: 1.0, r"\(\)"),
        (lambda tap: tap("fast").mean(axis=-1), r"\(5,\)"),
        (lambda tap: tap.all("fast"), r"\(5, 8, 2\)"),
        (lambda tap: tap("fast")[1:], r"\(4, 8\)"),
        (lambda tap: None, r"\(\)"),
    ],
)
def test_formulas_return_a_response_for_each_frame_and_position(make_movie, make_detector, combine, shape):
    with pytest.raises(ValueError, match=rf"the detector's formula returned shape {shape}; expected \(5, 8\)"):
        make_detector(combine)(make_movie(5, 9), DT)


def test_formulas_of_units_return_an_axis_of_them(make_movie, make_detector):
    units = {"directions": (0.0, 180.0)}
    assert make_detector(lambda tap: tap.all("fast"), **units)(make_movie(5, 9), DT).shape == (5, 8, 2)
    with pytest.raises(ValueError, match=r"returned shape \(5, 8\); expected \(5, 8, 2\), .* and position and unit"):
        make_detector(**units)(make_movie(5, 9), DT)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"displacements": [0, 1]}, ValueError, r"displacements have shape \(2,\); expected \(n_taps, 2\)"),
        ({"displacements": np.zeros((2, 3))}, ValueError, r"displacements have shape \(2, 3\)"),
        ({"displacements": np.zeros((0, 2))}, ValueError, r"displacements have shape \(0, 2\)"),
        ({"displacements": [[0.0, np.nan]]}, ValueError, "expected finite numbers"),
        ({"displacements": [[0, 1], [2]]}, ValueError, r"expected numbers, shape \(n_taps, 2\)"),
        ({"displacements": "row"}, ValueError, r"displacements are 'row'; expected numbers"),
        ({"arms": {"fast": LowPass(0.1)}}, TypeError, r"the arm 'fast' is LowPass\(tau=0.1\); expected a tuple of"),
        ({"arms": {"fast": (0.1,)}}, TypeError, r"the arm 'fast' is \(0.1,\); expected a tuple of steps"),
        ({"arms": {}}, ValueError, r"arms are {}; expected a mapping of one or more names"),
        ({"arms": (LowPass(0.1),)}, ValueError, "expected a mapping of one or more names to tuples of steps"),
    ],
)
def test_detectors_are_made_of_arms_and_displacements(make_detector, how, error, message):
    with pytest.raises(error, match=message):
        make_detector(**how)


def test_displacements_may_be_a_list(make_movie, make_detector):
    movie = make_movie(5, 9)
    assert_array_equal(make_detector(displacements=[[0, 0], [1, 0]])(movie, DT), make_detector()(movie, DT))


@pytest.mark.parametrize("name", DETECTORS)
def test_detectors_have_the_names_that_commands_know_them_by(name):
    assert DETECTORS[name]().name == name


def test_descriptions_tell_detectors_apart():
    descriptions = {make().description for make in MAKERS.values()}
    assert len(descriptions) == len(MAKERS)
    assert barlow_levick().description == (
        "barlow-levick: fast = Rectify(sign=1); delayed = LowPass(tau=0.1) > Rectify(sign=1); taps (0, 0) (1, 0); "
        "_subtracted(weight=2.0); spacing 5, acceptance 5.7; Barlow & Levick 1965"
    )
    other = learned(Generators(2 * derivative_operator((5,))[None], (5,)))
    assert other.description != MAKERS["learned"]().description


@pytest.mark.parametrize("feature", FEATURES)
def test_a_learned_detector_projects_the_feature_it_learned(make_movie, feature):
    operators, movie = np.random.default_rng(3).normal(size=(2, 5, 5)), make_movie(9, 5)
    responses = learned(Generators(operators, (5,)), Delay(0.01), feature=feature)(movie, 0.01)
    expected = outer_products(pair_up(movie), feature).project(operators)
    np.testing.assert_allclose(responses[1:, 0], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dt", [0.0, -0.01, np.inf, np.nan])
def test_time_between_frames_is_positive_and_finite(make_movie, dt):
    with pytest.raises(ValueError, match=f"dt is {dt}; expected a positive, finite time"):
        three_pixel()(make_movie(5, 9), dt)


def test_movies_have_to_fit_the_eye(make_movie):
    with pytest.raises(ValueError, match=r"the movie has shape \(5, 8\); expected \(..., n_frames, 9\)"):
        three_pixel()(make_movie(5, 8), DT, eye=EYE)


def test_an_eye_may_be_its_shape(make_movie):
    movie = make_movie(5, 9)
    assert_array_equal(three_pixel()(movie, DT, eye=(9,)), three_pixel()(movie, DT, eye=EYE))


@pytest.mark.parametrize("before", [np.nan, np.ones(3), [0.0] * 8 + [np.inf]], ids=["nan", "three pixels", "infinite"])
def test_what_was_before_is_finite_and_fits_the_eye(before):
    with pytest.raises(ValueError, match=r"expected what the eye saw .* finite number or an array of shape \(9,\)"):
        three_pixel().stream(DT, eye=EYE, before=before)


@pytest.mark.parametrize("directions", [[], np.nan, [0.0, np.inf]])
def test_directions_are_finite(make_movie, directions):
    with pytest.raises(ValueError, match=r"expected one or more, finite \[deg\]"):
        three_pixel()(make_movie(5, 9), DT, direction=directions)


@pytest.mark.parametrize(("first", "then"), [((1,), (3,)), ((3,), ()), ((), (1,))])
@pytest.mark.parametrize("delayed", [LowPass(0.1), Delay(0.02)])
def test_a_stream_is_of_the_same_movies_throughout(make_movie, first, then, delayed):
    stream = three_pixel(delayed).stream(DT, eye=EYE)
    frames = make_movie(5, 9)
    stream.push(np.broadcast_to(frames, (*first, 5, 9)))
    with pytest.raises(ValueError, match=r"axes of movies are .* expected the same in every call"):
        stream.push(np.broadcast_to(frames, (*then, 5, 9)))


def test_a_frame_that_is_not_finite_is_named_by_its_number(make_movie):
    movies = np.stack([make_movie(5, 9)] * 3)
    movies[1, 3, 0] = np.nan
    stream = three_pixel().stream(DT, eye=EYE)
    stream.push(movies[:, :2])
    with pytest.raises(ValueError, match="NaN or infinite pixel in frame 3"):
        stream.push(movies[:, 2:])
    with pytest.raises(ValueError, match="NaN or infinite pixel in frame 3"):
        three_pixel()(movies, DT, eye=EYE)


def test_what_haags_detector_does_at_rest_is_subtracted_whatever_rest_is_written_as():
    constant = np.ones((50, 9))
    for delayed in (LowPass(0.25), Delay(1 / 60)):
        for rest in (1, 1.0):
            assert_allclose(haag(delayed=delayed, rest=rest)(constant, 1 / 60), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(hassenstein_reichardt, quadrants="off-on"), "quadrants is 'off-on'"),
        (partial(barlow_levick, form="added"), "form is 'added'; expected 'subtractive' or 'divisive'"),
        (partial(hr_bl_hybrid, offset=0.0), r"offset is 0\.0; expected more than 0"),
        (partial(conductance, "T6"), "pathway is 'T6'; expected 'T4' or 'T5'"),
        (partial(gruntman, width=0.0), r"width, displacement and radius are 0\.0, 1\.0 and 2"),
        (partial(gruntman, displacement=-1.0), "expected a width above 0"),
        (partial(linear_nonlinear, (1.0, 2.0)), "2 weights for 3 filters; expected one each"),
        (partial(linear_nonlinear, (), ()), "0 weights for 0 filters"),
        (partial(linear_nonlinear, nonlinearity="cubed"), "nonlinearity is 'cubed'"),
        (partial(motion_energy, wavelength=0.0), r"wavelength, width and radius are 0\.0, 1\.5 and 3"),
        (partial(motion_energy, radius=0), "1 pixel or more"),
        (partial(ridge_velocity, ridge=-1.0), r"ridge is -1\.0 and radius 1; expected finite numbers of 0 or more"),
        (partial(ridge_velocity, ridge=np.nan), "ridge is nan"),
        (partial(ridge_velocity, Gamma(0.1)), r"expected a LowPass or a Delay"),
        (partial(learned, DERIVATIVE, feature="both"), "feature is 'both'"),
    ],
)
def test_what_cannot_be_made_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
