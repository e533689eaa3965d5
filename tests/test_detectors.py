"""The checks of every detector, how responses grow, and the errors of detectors and of what makes them."""

from functools import partial

import numpy as np
import pytest
from detector_checks import (
    CHECKS,
    DERIVATIVE,
    DT,
    EYE,
    MAKERS,
    OPPONENT,
    OPPONENT_CHECKS,
    assert_same,
    noise,
    turned,
)
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.detectors import (
    DETECTORS,
    Detector,
    FunctionDetector,
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
from flymotion.world.eyes import Grid, Hexagon, Line


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_detector(check, name):
    check(MAKERS[name])


@pytest.mark.case("B05")
@pytest.mark.parametrize("name", OPPONENT)
@pytest.mark.parametrize("check", OPPONENT_CHECKS, ids=lambda check: check.__name__)
def test_every_opponent_detector(check, name):
    check(MAKERS[name])


@pytest.fixture
def make_movie():
    return noise


def test_90_degrees_is_up():
    """Against numpy's own turn of an image."""
    pixels = np.arange(49)
    moved = np.empty(49, dtype=int)
    moved[turned(Grid(7, 7), 90.0)] = pixels
    assert_array_equal(moved.reshape(7, 7), np.rot90(pixels.reshape(7, 7)))


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


SCALING = {name: 2 for name in MAKERS if name.startswith(("three", "hrd", "shared", "motion-energy", "learned"))} | {
    "barlow-levick": 1,
    "ln": 1,
}
"""Power of contrast that responses grow with, where there is one: the others divide."""


@pytest.mark.case("B40")
@pytest.mark.parametrize("name", SCALING)
def test_responses_grow_with_a_power_of_contrast(make_movie, name):
    movie = make_movie(40, 9)
    assert_same(MAKERS[name]()(3.0 * movie, DT), 3.0 ** SCALING[name] * MAKERS[name]()(movie, DT))


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in SCALING])
def test_detectors_that_divide_grow_with_no_power_of_contrast(make_movie, name):
    movie = make_movie(40, 9)
    once, twice, fourfold = (np.abs(MAKERS[name]()(c * movie, DT)).mean() for c in (1.0, 2.0, 4.0))
    assert abs(np.log(twice / once) - np.log(fourfold / twice)) > 0.01


@pytest.mark.case("B40")
@pytest.mark.parametrize("gain", [1e-6, 0.5, 255.0, 65535.0])
@pytest.mark.parametrize("delayed", [LowPass(0.05), Delay(DT)])
def test_velocity_depends_on_no_gain_and_its_sign_on_none_whatever_the_ridge(make_movie, gain, delayed):
    movie = make_movie(40, 9)
    plain, ridged = ridge_velocity(delayed, ridge=0.0), ridge_velocity(delayed)
    assert_allclose(plain(gain * movie, DT)[1:], plain(movie, DT)[1:], rtol=1e-6)  # at first nothing has changed
    assert_array_equal(np.sign(ridged(gain * movie, DT))[1:], np.sign(ridged(movie, DT))[1:])


CONSTRUCTORS = list(dict.fromkeys(getattr(make, "func", make) for make in DETECTORS.values()))


@pytest.mark.parametrize("angle", [0.0, -1.0, np.inf, np.nan, 1e300])
@pytest.mark.parametrize("name", ["spacing", "acceptance"])
@pytest.mark.parametrize("make", [*CONSTRUCTORS, FunctionDetector])
def test_angles_that_are_none_are_refused(make, name, angle):
    needed = {FunctionDetector: (np.diff,)}.get(make, ())
    with pytest.raises(ValueError, match=f"{name} is"):
        make(*needed, **{name: angle})


# Errors


def delayed_by(tau):
    return {
        "three-pixel": three_pixel(Delay(tau)),
        "hrd": hassenstein_reichardt(Delay(tau)),
        "ridge-velocity": ridge_velocity(Delay(tau)),
        "barlow-levick": barlow_levick((LowPass(0.1), Delay(tau))),
        "learned": learned(DERIVATIVE, Delay(tau)),
    }


@pytest.mark.case("B42")
@pytest.mark.parametrize("name", delayed_by(0.1))
def test_delays_are_whole_frames_and_within_the_movie(make_movie, name):
    with pytest.raises(ValueError, match=r"a delay of 0\.105 s is 10\.5 frames of 0\.01 s; expected a whole number"):
        delayed_by(0.105)[name](make_movie(40, 9), DT)
    with pytest.raises(ValueError, match=r"the movie has 10 frame\(s\), and delays of 10; expected more frames"):
        delayed_by(0.1)[name](make_movie(10, 9), DT)
    assert len(delayed_by(0.1)[name](make_movie(11, 9), DT)) == 11


@pytest.mark.parametrize(
    ("eye", "directions"),
    [(Line(9), "0, 180"), (Grid(9, 9), "0, 90, 180, 270"), (Hexagon(1), "30, 90, 150, 210, 270, 330")],
)
def test_the_directions_of_the_lattice_are_named(eye, directions):
    with pytest.raises(ValueError, match=f"or a direction of its lattice: {directions} deg$"):
        ridge_velocity().positions(eye, 45.0)


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
    with pytest.raises(
        ValueError, match=rf"the offset is {offset}; expected one of the taps along .*, which are at 0, 1$"
    ):
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
