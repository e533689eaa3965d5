"""What is refused is told by what was given and what was expected: a bound where there is one, not "finite"."""

import inspect
import math

import numpy as np
import pytest
from test_parameter_limits import CASES, LOOKERS, MAKERS, NEEDED, WORLDS, told

from flymotion import MotionLearner
from flymotion.detectors import Detector, along, three_pixel
from flymotion.generators.theory import population
from flymotion.plots import draw_filters
from flymotion.world import Grid, Line, Mixture, SelfTranslation, Translation, sample_pairs
from flymotion.world.scenes import SphericalNoise, spherical_covariance


@pytest.mark.parametrize(("name", "parameter", "as_argument", "values"), CASES)
def test_a_number_that_is_finite_is_not_refused_as_infinite(name, parameter, as_argument, values):
    """Where 1e300 or 1e-300 is refused as not finite, the sentence says the bound."""
    for value in (v for v in values if v in (1e300, 1e-300)):
        reason = told(name, **{parameter: as_argument(value)})[1]
        assert "finite" not in reason or "1e+50" in reason or "1e-50" in reason, reason


@pytest.mark.parametrize("name", ["ExponentialNoise", "SmoothNoise"])
@pytest.mark.parametrize("length", [1e-300, 1e300, math.inf, 0.0])
def test_correlation_lengths_are_told_by_their_range(name, length):
    with pytest.raises(ValueError, match=r"^correlation_length is .*; expected .*, from 1e-50 to 1e\+50$"):
        MAKERS[name](**NEEDED[name] | {"correlation_length": length})


@pytest.mark.parametrize("depth", [math.inf, 1e-9])
def test_an_eye_that_moves_is_told_how_deep_the_scene_has_to_be(depth):
    moves, eye, words = SelfTranslation(0.1), LOOKERS[3], r"of a scene (infinitely far away|at a depth of 1e-09)"
    with pytest.raises(ValueError, match=rf"{words}.*; expected nearer: smaller steps, or a finite depth beyond them"):
        sample_pairs(SphericalNoise(20.0, depth=depth, random_state=0), eye, moves, 3, random_state=0)
    with pytest.raises(ValueError, match=words):
        population(spherical_covariance(20.0, 5.0), eye, moves, depth=depth).mean_given_step([0.1, 0.0, 0.0])


@pytest.mark.parametrize("look", [lambda tap: tap("nope", 0), lambda tap: tap.all("nope")])
def test_an_unknown_arm_is_told_with_those_there_are(look):
    detector = Detector(three_pixel().arms, along(0, 0), look)
    names = ", ".join(map(repr, detector.arms))
    with pytest.raises(ValueError, match=f"^the arm is 'nope'; expected one of the detector's: {names}$"):
        detector(np.zeros((3, 4)), 0.01)


@pytest.mark.parametrize("n_pairs", [-1, "a", None, 2.5, math.nan])
@pytest.mark.parametrize("ndim", WORLDS)
def test_numbers_of_pairs_are_whole(n_pairs, ndim):
    moves = {1: Translation(0.5, ndim=1), 2: Translation(0.5), 3: SelfTranslation(0.1)}[ndim]
    with pytest.raises(ValueError, match=r"^n_pairs is .*; expected a whole number, 0 or more$"):
        sample_pairs(WORLDS[ndim], LOOKERS[ndim], moves, n_pairs)
    assert len(sample_pairs(WORLDS[ndim], LOOKERS[ndim], moves, np.int64(2))) == 2


@pytest.mark.parametrize("what", [[Translation(0.5)] * 2, None, "shift"])
def test_a_mixture_is_of_motions(what):
    with pytest.raises(ValueError, match=rf"^{type(what).__name__} among the motions; expected motions alone"):
        Mixture(what)


@pytest.mark.parametrize("what", [MotionLearner(), None, "filters", [[1.0], [1.0, 2.0]], Line(3)])
def test_what_are_no_filters_is_told_what_is_drawn(what):
    with pytest.raises(
        ValueError, match=r"expected (Generators, such as generators_ of a learner, or numbers|\(n_filt)"
    ):
        draw_filters(what)


@pytest.mark.parametrize("make", [Line, Grid], ids=["line", "grid"])
def test_widths_of_optics_are_told_by_their_range(make):
    sizes = [3] * (len(inspect.signature(make).parameters) - 1)
    with pytest.raises(ValueError, match=r"^sigma is 1e\+300; expected a finite number, from 0 to 1e\+50$"):
        make(*sizes, sigma=1e300)
