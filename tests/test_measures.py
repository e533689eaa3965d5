"""Every measure of a curve, over samples as they come: twice round, unsorted, in part, silent, flat, or no numbers."""

import inspect
import math

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.detectors import three_pixel
from flymotion.tuning import (
    characterise,
    direction_selectivity,
    experiment,
    half_width,
    measures,
    peak,
    preferred_direction,
)
from flymotion.tuning.circle import round_the_circle
from flymotion.tuning.recordings import compare, published
from flymotion.tuning.sheet import numbers

OF_ANGLES = {
    "preferred_direction": preferred_direction,
    "half_width": half_width,
    "over_sum": lambda *curve: direction_selectivity(*curve).over_sum,
    "over_preferred": lambda *curve: direction_selectivity(*curve).over_preferred,
    "read": lambda curve, angles: round_the_circle(curve, angles, [10.0, 100.0, 200.0, 300.0, -30.0]),
}
EVEN = np.arange(0, 360, 15.0)

each = pytest.mark.parametrize("measure", OF_ANGLES.values(), ids=OF_ANGLES)


def bump(angles, centre=45.0, kappa=1.5, floor=0.2):
    return floor + np.exp(kappa * (np.cos(np.radians(np.asarray(angles) - centre)) - 1))


def test_every_measure_of_directions_is_tried():
    names = [name for name in measures.__all__ if inspect.isfunction(getattr(measures, name))]
    of_angles = {name for name in names if "directions" in inspect.signature(getattr(measures, name)).parameters}
    assert of_angles == {"direction_selectivity", "half_width", "preferred_direction"}


WAYS = {
    "both ends": np.append(EVEN, 360.0),
    "twice round": np.concatenate([EVEN, EVEN + 360]),
    "below 0": EVEN - 180,
    "far round": EVEN + 3600,
    "unsorted": np.random.default_rng(0).permutation(EVEN),
    "one again": np.append(EVEN, [45.0, 45.0]),
}


@pytest.mark.case("B59")
@each
@pytest.mark.parametrize("angles", WAYS.values(), ids=WAYS)
def test_angles_may_come_twice_in_any_order_and_beyond_the_circle(measure, angles):
    assert_allclose(measure(bump(angles), angles), measure(bump(EVEN), EVEN), atol=1e-9)


@pytest.mark.case("B59")
def test_preferred_direction_from_0_to_360_both_shown():
    angles = np.arange(0, 361, 15.0)
    assert_allclose(preferred_direction(bump(angles), angles), 45, atol=1e-9)
    assert math.isnan(preferred_direction(np.ones(25), angles))


@pytest.mark.parametrize("angles", [EVEN, np.append(EVEN, 360), [0, 10, 20, 30, 90, 180, 270], [0, 90, 100, 200, 290]])
@pytest.mark.parametrize("level", [1.0, 0.1, -2.0, 0.0])
def test_a_flat_curve_prefers_nothing_however_it_was_sampled(angles, level):
    curve = np.full(len(angles), level)
    assert math.isnan(preferred_direction(curve, angles))
    assert math.isnan(half_width(curve, angles))
    assert_array_equal(direction_selectivity(curve, angles), (0, 0) if level > 0 else (np.nan, np.nan))


@pytest.mark.parametrize("angles", [EVEN, np.concatenate([np.arange(0, 90, 5.0), np.arange(90, 360, 45.0)])])
def test_a_constant_moves_no_preferred_direction(angles):
    expected = preferred_direction(bump(angles, 130.0), angles)
    assert_allclose(preferred_direction(bump(angles, 130.0) + 7, angles), expected, atol=1e-9)
    assert_allclose(expected, 130, atol=2)


@pytest.mark.case("B60")
@pytest.mark.parametrize("step", [10.0, 15.0, 30.0, 50.0, 75.0])
def test_nothing_is_made_up_for_directions_that_were_never_shown(step):
    """A cell whose null direction is silent, shown 0 to 150 degrees: its selectivity was 0.65."""
    angles = np.arange(0, 151, step)
    curve = np.maximum(np.cos(np.radians(angles - 45)), 0)
    assert np.isnan(direction_selectivity(curve, angles)).all()
    assert math.isnan(preferred_direction(curve, angles))
    assert_array_equal(np.isnan(round_the_circle(curve, angles, [0, 20, 150, 151, 255, 359])), [0, 0, 0, 1, 1, 1])


def test_what_was_shown_is_told_although_other_directions_were_not():
    angles = np.arange(0, 241, 15.0)
    curve = bump(angles, 45.0, floor=0.0)
    assert_allclose(direction_selectivity(curve, angles), direction_selectivity(bump(EVEN, floor=0.0), EVEN))
    assert math.isnan(half_width(bump(angles, 0.0), angles))
    narrow = bump(angles, 120.0, 8.0, 0.0)
    assert_allclose(half_width(narrow, angles), half_width(bump(EVEN, 120.0, 8.0, 0.0), EVEN))
    assert_allclose(direction_selectivity([4.0, 1.0], [0, 180]), (0.6, 0.75))
    assert np.isnan([preferred_direction([4.0, 1.0], [0, 180]), half_width([4.0, 1.0], [0, 180])]).all()


@each
def test_curves_that_are_no_numbers_have_no_measures_and_leave_others_alone(measure):
    for bad in (np.nan, np.inf, -np.inf):
        curves = np.stack([bump(EVEN), bump(EVEN, 100.0)])
        curves[0, 7] = bad
        found = np.asarray(measure(curves, EVEN), dtype=float)
        assert_allclose(found[1], measure(curves[1], EVEN))
    silent = np.atleast_1d(measure(np.zeros(24), EVEN))
    assert np.isnan(silent).all() or (silent == 0).all()


@pytest.mark.parametrize("name", ["preferred_direction", "half_width", "over_sum", "over_preferred"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_curve_with_a_response_that_is_no_number_has_no_measure(name, bad):
    curve = bump(EVEN)
    curve[7] = bad
    assert math.isnan(OF_ANGLES[name](curve, EVEN))


@pytest.mark.parametrize("name", ["preferred_direction", "half_width", "over_sum", "over_preferred"])
def test_a_single_direction_tells_nothing(name):
    assert math.isnan(OF_ANGLES[name]([3.0], [30.0]))


@pytest.mark.parametrize("name", ["preferred_direction", "half_width", "over_sum", "over_preferred"])
@pytest.mark.parametrize("angles", [[], [0.0, np.nan, 90.0], [0.0, np.inf, 90.0]])
def test_refuses_no_samples_and_angles_that_are_no_numbers(name, angles):
    with pytest.raises(ValueError, match=r"the curve was measured at .*; expected one or more finite numbers"):
        OF_ANGLES[name](np.ones(len(angles)), angles)


def test_refuses_labelled_curves_that_do_not_say_where_they_were_measured():
    with pytest.raises(ValueError, match="the responses have no coordinate of direction; expected where"):
        preferred_direction(xr.DataArray([1.0, 2.0, 0.0], dims="direction"))


# Other axes


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_peak_needs_numbers(bad):
    assert_array_equal(peak([1.0, 3.0, bad, 0.0], [1.0, 2.0, 3.0, 4.0]), (np.nan, np.nan))
    with pytest.raises(ValueError, match="expected one or more finite numbers"):
        peak([1.0, 3.0, 2.0], [1.0, 2.0, bad])


@pytest.mark.parametrize("axis", [[1.0, 2.0, 2.0], [3.0, 1.0, 2.0]])
def test_a_peak_needs_an_axis_that_grows(axis):
    with pytest.raises(ValueError, match="expected numbers that grow"):
        peak([1.0, 3.0, 2.0], axis)


def test_a_single_sample_is_an_end():
    assert_array_equal(peak([3.0], [1.0]), (np.nan, 3.0))
    with pytest.raises(ValueError, match="expected one or more finite numbers"):
        peak([], [])


@pytest.fixture(scope="module")
def results():
    return characterise(three_pixel(), dt=0.02, repeats=2, duration=1.5).results


@pytest.mark.parametrize(
    ("contrasts", "exponent"),
    [([0.0, 0.1, 0.2, 0.4], 2), ([0.4, 0.1, 0.2], 2), ([0.1, 0.1, 0.2], 2), ([0.0, 0.5], np.nan), ([0.3], np.nan)],
)
def test_the_exponent_of_contrast_is_of_the_two_lowest_above_0(results, contrasts, exponent):
    shown = experiment("contrast", three_pixel(), contrast=contrasts, dt=0.02)
    assert_allclose(numbers(results | {"contrast": shown}).contrast_exponent, exponent, rtol=1e-9)


def test_a_unit_that_prefers_nothing_is_nobodys_model():
    curves = np.stack([np.zeros(24), bump(EVEN, 200.0)])
    tuning = xr.Dataset({"response": (("unit", "direction"), curves)}, {"direction": EVEN})
    assert_array_equal(compare(tuning, published()).unit, 1)
