"""Tuning: measures of known curves, designs, and classic experiments whose outcome has a closed form."""

import inspect
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

import flymotion
from flymotion.detectors import DETECTORS, barlow_levick, hassenstein_reichardt, learned, three_pixel
from flymotion.detectors.temporal import Delay, Gamma, GammaSlope, HighPass, LowPass, Rectify, transfer
from flymotion.generators import Generators, derivative_operator
from flymotion.photoreceptors import DivisiveNormalization, OnOff, SensorNoise, WeberContrast
from flymotion.stimuli import STIMULI, drifting_grating, plaid, reverse_phi, square_grating
from flymotion.tuning import (
    EXPERIMENTS,
    UNITS,
    characterise,
    direction_selectivity,
    dt_for,
    experiment,
    eye_for,
    half_width,
    peak,
    preferred_direction,
    tune,
)
from flymotion.tuning.experiments import best_wavelength, grating_at_speed
from flymotion.world.eyes import Grid

FINE = np.arange(0.0, 360.0)


def von_mises(directions, centre, kappa):
    return np.exp(kappa * (np.cos(np.radians(directions - centre)) - 1))


@pytest.fixture
def cardinal():
    """Four operators of a small eye as a detector, one unit a cardinal direction."""
    operators = np.stack([derivative_operator((3, 3), angle) for angle in (0, 90, 180, 270)])
    return learned(Generators(operators, (3, 3)), LowPass(0.05))


# Measures


@pytest.mark.parametrize("centre", [0.0, 77.0, 359.5])
@pytest.mark.parametrize("kappa", [1.0, 4.0])
def test_half_width_of_a_von_mises_curve(centre, kappa):
    """It falls to half where cos = 1 - ln 2 / kappa."""
    expected = np.degrees(np.arccos(1 - math.log(2) / kappa))
    fine = np.arange(0, 360, 0.5)
    assert_allclose(half_width(von_mises(fine, centre, kappa), fine), expected, atol=2e-3)


def test_half_width_of_a_gaussian_curve():
    away = (FINE - 120 + 180) % 360 - 180
    assert_allclose(half_width(np.exp(-((away / 25) ** 2) / 2), FINE), 25 * math.sqrt(2 * math.log(2)), atol=5e-3)


def test_half_width_is_the_mean_of_both_sides_of_a_skewed_curve():
    curve = np.interp(FINE, [0, 100, 140, 360], [0, 1, 0, 0])
    assert_allclose(half_width(curve, FINE), (50 + 20) / 2)


@pytest.mark.parametrize(
    "curve", [1.5 + np.cos(np.radians(FINE)) / 3, -np.ones(360), np.zeros(360)], ids=["shallow", "negative", "zero"]
)
def test_half_width_is_nan_where_there_is_none(curve):
    assert math.isnan(half_width(curve, FINE))


def test_measures_do_not_depend_on_where_the_circle_is_cut():
    directions = np.arange(0, 360, 15.0)
    curve = von_mises(directions, 40, 2.0) + 0.3 * von_mises(directions, 200, 1.0)
    order = np.roll(np.arange(24), 7)
    cut = (directions[order] + 180) % 360 - 180
    assert_allclose(half_width(curve[order], cut), half_width(curve, directions))
    assert_allclose(direction_selectivity(curve[order], cut), direction_selectivity(curve, directions))
    assert_allclose(preferred_direction(curve[order], cut), preferred_direction(curve, directions))


@pytest.mark.parametrize("centre", [0.0, 10.0, 181.5, 355.0])
def test_preferred_direction_is_the_centre_whatever_is_added(centre):
    directions = np.arange(0, 360, 30.0)
    assert_allclose(preferred_direction(von_mises(directions, centre, 0.5) - 3, directions), centre, atol=1e-8)


def test_preferred_direction_is_never_360():
    directions = np.arange(0, 360, 30.0)
    rounding = np.cos(np.radians(directions)) + 1e-17 * np.sin(np.radians(directions + 180))
    assert preferred_direction(rounding, directions) == 0.0


def test_what_answers_alike_to_all_directions_prefers_none():
    directions = np.arange(0, 360, 30.0)
    assert_array_equal(preferred_direction([np.full(12, 0.1), np.zeros(12)], directions), [np.nan, np.nan])


def test_selectivity_has_both_definitions():
    directions = [0, 90, 180, 270]
    assert_allclose(direction_selectivity([4.0, 2.0, 1.0, 2.0], directions), (0.6, 0.75))
    assert_allclose(direction_selectivity([4.0, 0.0, -4.0, 0.0], directions), (1.0, 2.0))
    assert_array_equal(direction_selectivity([-1.0, -2.0, -3.0, -2.0], directions), (np.nan, np.nan))


def test_selectivity_reads_an_opposite_direction_that_was_not_measured():
    assert_allclose(direction_selectivity([3.0, 1.0, 2.0], [0, 120, 240]), (0.5 / 1.5, 0.5))


@pytest.mark.parametrize("axis", [np.geomspace(0.25, 16, 13), np.linspace(-2, 5, 15), np.array([0.0, 1.0, 1.5, 4.0])])
def test_peak_of_a_parabola_is_exact(axis):
    """In the axis, or in its logarithm where it is geometric."""
    scale = np.log if axis[0] > 0 else np.asarray
    found = peak(7 - 2 * (scale(axis) - scale(np.array(1.3))) ** 2, axis)
    assert_allclose(found, (1.3, 7.0))


@pytest.mark.parametrize("curve", [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [3.0, 3.0, 3.0], [3.0, 3.0 + 1e-12, 3.0]])
def test_a_peak_at_an_end_or_of_a_flat_curve_is_nowhere(curve):
    found = peak(curve, [1.0, 2.0, 4.0])
    assert math.isnan(found.position)
    assert_allclose(found.value, 3.0)


def test_silent_curves_have_no_peak():
    assert_array_equal(peak(np.zeros(5), np.arange(5.0)), (np.nan, 0.0))


def test_peaks_have_the_units_of_their_axis_and_of_the_responses():
    frequency = xr.Variable("f", [1.0, 2.0, 4.0], {"units": "Hz"})
    found = peak(xr.DataArray([1.0, 2.0, 1.5], {"f": frequency}, "f", attrs={"units": "mV"}), "f")
    assert (found.position.attrs["units"], found.value.attrs["units"]) == ("Hz", "mV")


def test_peak_of_what_is_no_number_is_nowhere():
    assert_array_equal(peak([1.0, np.nan, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0]), (np.nan, np.nan))


def test_measures_of_labelled_curves_are_those_of_plain_ones_by_unit():
    rng = np.random.default_rng(0)
    directions = np.arange(0, 360, 30.0)
    values = rng.standard_normal((12, 3))
    array = xr.DataArray(values, {"direction": directions}, ("direction", "unit"), attrs={"units": "mV"})
    for measure in (preferred_direction, half_width, lambda *a: direction_selectivity(*a).over_preferred):
        for labelled in (measure(array), measure(xr.Dataset({"response": array}))):
            assert labelled.dims == ("unit",)
            assert_array_equal(labelled, measure(values.T, directions))
            assert_allclose(labelled, [measure(curve, directions) for curve in values.T], rtol=1e-12)
    assert preferred_direction(array).attrs == half_width(array).attrs == {"units": "deg"}
    assert_array_equal(peak(array, "direction").value, peak(values.T, directions).value)


def test_measures_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="expected one a sample"):
        half_width([1.0, 2.0], [0, 90, 180])
    with pytest.raises(ValueError, match="expected one a sample"):
        peak([1.0, 2.0], "speed")
    with pytest.raises(ValueError, match="dimensions speed; expected direction"):
        preferred_direction(xr.DataArray([1.0], dims="speed"))
    with pytest.raises(ValueError, match="expected numbers that grow"):
        peak([1.0, 2.0], [2.0, 1.0])


# Designs


@pytest.mark.parametrize("stimulus", [drifting_grating, plaid, square_grating, reverse_phi])
def test_responses_are_those_of_every_phase_shown_by_itself(stimulus):
    """However movies of several phases are made."""
    detector, dt, settle = three_pixel(LowPass(0.05)), 0.01, 0.5
    design = {"direction": [0.0, 40.0, 180.0], "contrast": [0.2, 0.7]}
    tuned = tune(detector, stimulus, design, dt=dt, settle=settle, repeats=5, keep_time=True)
    eye = eye_for(detector)
    for direction in design["direction"]:
        for contrast in design["contrast"]:
            courses = []
            for k in range(5):
                shown = stimulus(direction=direction, contrast=contrast, phase=2 * math.pi * k / 5)
                courses.append(detector(shown.movie(eye, dt, spacing=detector.spacing), dt, eye=eye)[:, 0])
            point = tuned.sel(direction=direction, contrast=contrast)
            assert_allclose(point.course, np.mean(courses, axis=0), atol=1e-13)
            assert_allclose(point.response, np.mean(courses, axis=0)[50:].mean(), atol=1e-13)


def test_a_phase_that_is_fixed_stays():
    detector = three_pixel(LowPass(0.05))
    fixed = partial(drifting_grating, phase=0.3)
    tuned = tune(detector, fixed, {"contrast": [0.5]}, dt=0.01, keep_time=True)
    movie = fixed().movie(eye_for(detector), 0.01, spacing=detector.spacing)
    assert_allclose(tuned.course[0], detector(movie, 0.01, eye=eye_for(detector))[:, 0], atol=1e-13)


def test_stimuli_of_different_lengths_are_told_apart():
    detector = hassenstein_reichardt(LowPass(0.05))
    tuned = tune(detector, drifting_grating, {"duration": [1.5, 2.0, 1.5]}, dt=0.01)
    assert_array_equal(tuned.response[0], tuned.response[2])
    assert_allclose(tuned.response[0], tuned.response[1], rtol=1e-3)


@pytest.mark.parametrize(
    ("duration", "dt", "settle"), [(0.3, 0.1, 0.3), (0.3, 0.01, 0.2999), (0.004, 0.01, 0.0), (0.2, 0.01, 0.5)]
)
def test_refuses_stimuli_that_end_before_responses_have_settled(duration, dt, settle):
    """However times are rounded to frames."""
    with pytest.raises(ValueError, match=r"a stimulus lasts .* s, and responses settle for"):
        tune(hassenstein_reichardt(), drifting_grating, {"duration": [duration]}, dt=dt, settle=settle)


@pytest.mark.parametrize("how", [{"dt": 0.0}, {"dt": -0.01}, {"settle": -0.1}, {"settle": np.nan}, {"repeats": 0}])
def test_refuses_times_and_numbers_that_make_no_sense(how):
    with pytest.raises(ValueError, match="expected finite times"):
        tune(hassenstein_reichardt(), drifting_grating, {"direction": [0.0]}, **how)


def test_refuses_options_that_there_are_not():
    with pytest.raises(TypeError, match="'speed'"):
        tune(hassenstein_reichardt(), drifting_grating, {}, speed=30.0)
    with pytest.raises(ValueError, match="the stimulus has no parameter speed"):
        experiment("contrast", hassenstein_reichardt(), speed=30.0)


def test_refuses_designs_without_values_and_courses_of_several_lengths():
    with pytest.raises(ValueError, match="no values of direction; expected one or more"):
        tune(hassenstein_reichardt(), drifting_grating, {"direction": []})
    with pytest.raises(ValueError, match=r"stimuli last from 1\.5 to 2 s; expected one length"):
        tune(hassenstein_reichardt(), drifting_grating, {"duration": [1.5, 2.0]}, dt=0.01, keep_time=True)


def test_refuses_early_vision_that_changes_the_number_of_pixels():
    with pytest.raises(
        ValueError, match=r"early vision made float64 of shape \(\d+, 4\) of frames of shape \(\d+, 2\); expected"
    ):
        tune(hassenstein_reichardt(), drifting_grating, {}, dt=0.01, eye=Grid(1, 2), early_vision=OnOff())


def test_an_empty_design_is_one_point(reloaded):
    detector = hassenstein_reichardt()
    bare = tune(detector, drifting_grating, {}, dt=0.01, keep_time=True)
    one = tune(detector, drifting_grating, {"direction": [0.0]}, dt=0.01, keep_time=True)
    assert (bare.response.dims, bare.course.dims) == ((), ("time",))
    xr.testing.assert_equal(bare, one.isel(direction=0, drop=True))
    assert_allclose(experiment("direction", detector, direction=0.0, dt=0.01).response, bare.response, rtol=1e-12)
    xr.testing.assert_equal(reloaded(bare), bare)


# Early vision


@pytest.fixture
def normalised():
    """Response of the HRD behind a normalisation by the whole frame, as of an eye."""
    stages = make_pipeline(WeberContrast(), DivisiveNormalization(0.1))

    def measure(**how):
        tuned = tune(hassenstein_reichardt(), drifting_grating, {}, dt=0.01, mean=1.0, early_vision=stages, **how)
        return float(tuned.response)

    return measure


def test_early_vision_that_pools_sees_a_row_by_default(normalised):
    wide, narrow = (normalised(eye=eye_for(hassenstein_reichardt(), n)) for n in (24, 1))
    assert_allclose(normalised(), wide, rtol=0.02)
    assert narrow > 1.05 * wide


@pytest.mark.parametrize("name", ["local", "summed", "edges", "apparent-motion"])
def test_early_vision_of_each_pixel_by_itself_changes_no_position(name):
    """The margin is seen, and not in the mean; luminances become the contrasts that they were made of."""
    plain = experiment(name, hassenstein_reichardt(), dt=0.01)
    behind = experiment(name, hassenstein_reichardt(), dt=0.01, early_vision=WeberContrast(), mean=1.0)
    assert_allclose(behind.course, plain.course, atol=1e-12)


def test_a_sheet_can_be_measured_behind_early_vision():
    stages = make_pipeline(WeberContrast(), DivisiveNormalization(0.1))
    how = {"dt": 0.02, "repeats": 2, "duration": 1.5}
    found = characterise(hassenstein_reichardt(), early_vision=stages, mean=1.0, **how)
    assert found.numbers.contrast_exponent < 1.9
    assert found.numbers.attrs["mean"] == 1.0
    assert "DivisiveNormalization" in found.numbers.attrs["early_vision"]


def test_the_mean_luminance_is_seen():
    """By a detector that rectifies: an even field of luminance 1 is a signal of 1, less a quarter of that."""
    still = partial(drifting_grating, contrast=0.0)
    measure = partial(tune, barlow_levick(weight=0.25), still, {}, dt=0.01)
    assert_allclose([measure(mean=mean).response for mean in (0.0, 1.0, 2.0)], [0, 0.75, 1.5])
    with pytest.raises(ValueError, match="Negative values"):
        tune(three_pixel(), drifting_grating, {}, dt=0.01, early_vision=SensorNoise(0.1, "photon"))
    photons = SensorNoise(0.1, "photon", random_state=0)
    assert np.isfinite(tune(three_pixel(), drifting_grating, {}, dt=0.01, mean=1.0, early_vision=photons).response)


def test_refuses_early_vision_fitted_on_another_eye():
    fitted = DivisiveNormalization().fit(np.ones((1, 2)))
    with pytest.raises(ValueError, match="fitted on frames of 2 pixels, and the eye has 14; expected as many"):
        tune(hassenstein_reichardt(), drifting_grating, {}, dt=0.01, early_vision=fitted)


# Time between frames


@pytest.mark.parametrize(
    ("arms", "dt"),
    [
        ((), 0.005),
        ((Rectify(),), 0.005),
        ((LowPass(0.16),), 0.005),
        ((LowPass(0.15),), 0.0025),
        ((HighPass(0.25), LowPass(0.05)), 0.00125),
        ((Gamma(0.02),), 0.005 / 16),
        ((GammaSlope(1e-4),), 0.005 / 20),
        ((Delay(0.025),), 0.005),
        ((Delay(1 / 60), LowPass(0.5)), 0.005 / 3),
        ((LowPass(0.15), Delay(0.004)), 0.001),
        ((Delay(0.00123),), 0.005),
    ],
)
def test_the_time_between_frames_goes_by_the_filters_and_delays(arms, dt):
    assert_allclose(dt_for(replace(hassenstein_reichardt(), arms={"delayed": arms, "fast": ()})), dt, rtol=1e-12)


@pytest.mark.parametrize("name", ["hrd", "shared-non-delay", "hr-bl", "conductance-t4", "motion-energy"])
def test_frames_of_experiments_are_fine_enough(name):
    detector, contrasts = DETECTORS[name](), [0.25]
    usual, fine = (experiment("contrast", detector, contrast=contrasts, repeats=2, **how) for how in ({}, {"dt": 1e-4}))
    assert_allclose(usual.response, fine.response, atol=0.02 * float(abs(fine.response).max()))


# Provenance


def test_results_say_what_they_are_of(reloaded):
    result = reloaded(experiment("reverse-phi", hassenstein_reichardt(quadrants="on"), dt=0.01, repeats=2))
    expected = {
        "detector": "hrd-on",
        "source": "Eichner et al. 2011",
        "stimulus": "reverse_phi",
        "stimulus_wavelength": 30.0,
        "stimulus_interval": 0.125,
        "stimulus_contrast": 0.5,
        "flymotion_version": flymotion.__version__,
        "early_vision": "none",
    }
    assert {k: result.attrs[k] for k in expected} == expected
    assert "LowPass(tau=0.15)" in result.attrs["detector_description"]
    assert not {"stimulus_reverse", "stimulus_phase", "stimulus_direction"} & set(result.attrs)


def test_numbers_say_what_they_are_of():
    attrs = characterise(three_pixel(), dt=0.02, repeats=2, duration=1.5).numbers.attrs
    assert (attrs["detector"], attrs["at_best"], attrs["stimulus_wavelength"]) == ("three-pixel", 0, 30.0)


# Wavelengths


def test_gratings_may_be_of_the_best_wavelength():
    """The one of which the largest response in the map is largest; unless another is given."""
    hrd = hassenstein_reichardt()
    frequency = experiment("frequency", hrd, dt=0.02, repeats=4)
    most = frequency.response.sel(motion="preferred").max("temporal_frequency")
    best = float(most.wavelength[most.argmax("wavelength")])
    assert best != 30
    direction = experiment("direction", hrd, at_best=True, dt=0.02)
    assert (direction.attrs["stimulus_wavelength"], direction.attrs["at_best"]) == (best, 1)
    xr.testing.assert_equal(direction, experiment("direction", hrd, wavelength=best, dt=0.02))
    given = experiment("direction", hrd, at_best=True, wavelength=50.0, dt=0.02)
    assert given.attrs["stimulus_wavelength"] == 50.0


@pytest.mark.parametrize("size", [3, 7])
def test_the_best_wavelength_is_that_of_all_units(size):
    """Of single operators too, which take longer waves the wider they are; the mean over units decides."""
    operators = np.stack([derivative_operator((size,)), -derivative_operator((size,))])
    shown = experiment("contrast", learned(Generators(operators, (size,))), at_best=True, dt=0.02, repeats=2)
    assert shown.attrs["stimulus_wavelength"] != 30
    assert (shown.response.sel(motion="preferred") > 0).all()


def test_learned_operators_are_shown_their_best_wavelength_and_published_detectors_what_all_are():
    single = learned(Generators(derivative_operator((5,))[None], (5,)))
    how = {"dt": 0.02, "repeats": 2, "duration": 1.5}
    own = characterise(single, **how)
    best = best_wavelength(own.results["frequency"])
    assert best != 30
    assert own.numbers.attrs["stimulus_wavelength"] == best
    assert own.results["reverse-phi"].attrs["stimulus_wavelength"] == best
    spanned = max(3, round(best / single.spacing)) * single.spacing
    assert own.results["summed"].attrs["stimulus_wavelength"] == spanned
    assert characterise(single, at_best=False, **how).numbers.attrs["stimulus_wavelength"] == 30.0
    assert characterise(three_pixel(), **how).numbers.attrs["stimulus_wavelength"] == 30.0


def test_every_parameter_that_has_a_unit_is_known():
    names = {name for make in STIMULI.values() for name in inspect.signature(make).parameters}
    contrasts, others = {"first", "opposing", "second"}, {"kind", "parity", "random_state", "reverse", "scene"}
    assert names - set(UNITS) == {"coherence"} | contrasts | others


def test_hrd_follows_its_closed_form():
    """The mean is -c^2 |H| sin(arg H) sin(2 pi d cos(direction) / L), with c as the optics leave it."""
    tau, dt, length, frequency = 0.05, 0.005, 20.0, 2.0
    detector = hassenstein_reichardt(LowPass(tau))
    tuned = experiment(
        "direction", detector, dt=dt, settle=2.0, duration=2.5, wavelength=length, temporal_frequency=frequency
    )
    H = transfer((LowPass(tau),), frequency, dt)
    sigma = detector.acceptance / math.sqrt(8 * math.log(2))
    seen = 0.5 * math.exp(-((2 * math.pi * sigma / length) ** 2) / 2)
    along = 5.0 * np.cos(np.radians(tuned.direction.values))
    expected = -(seen**2) * H.imag * np.sin(2 * math.pi * along / length)
    assert_allclose(tuned.response, expected, atol=1e-12)


# Experiments


@pytest.fixture
def reloaded(tmp_path):
    """Save a dataset as netCDF and read it again."""

    def save_and_load(dataset):
        dataset.to_netcdf(tmp_path / "result.nc", engine="scipy")
        with xr.open_dataset(tmp_path / "result.nc", engine="scipy") as opened:
            return opened.load()

    return save_and_load


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_labelled_and_survives_netcdf(name, reloaded):
    result = experiment(name, hassenstein_reichardt(), dt=0.01, repeats=3, duration=1.5)
    assert np.isfinite(result.response).all()
    again = reloaded(result)
    xr.testing.assert_equal(again, result)
    assert {k: again.attrs[k] for k in result.attrs} == result.attrs
    assert result.attrs["experiment"] == name
    for dim in set(result.dims) & set(UNITS):
        assert result[dim].attrs["units"] == UNITS[dim]


@pytest.mark.parametrize("name", ["direction", "contrast", "edges"])
def test_units_survive_netcdf(name, reloaded, cardinal):
    result = experiment(name, cardinal, dt=0.01, repeats=3)
    assert result.sizes["unit"] == 4
    xr.testing.assert_equal(reloaded(result), result)


@pytest.mark.parametrize("name", ["local", "contrast", "reverse-phi", "edges", "gliders"])
def test_every_unit_is_shown_its_own_directions(name, cardinal):
    """Turned by a quarter, eye, unit and stimulus are the same: all units answer alike, and inversely in the null."""
    result = experiment(name, cardinal, dt=0.02, repeats=2, duration=2.0)
    assert_array_equal(result.direction, [[0, 90, 180, 270], [180, 270, 0, 90]])
    response = result.response.transpose("motion", "unit", ...).values
    assert_allclose(response[1, :2], response[0, 2:] * -1, atol=1e-12)
    assert_allclose(response[0, 0], response[0, 2], atol=1e-12)


def test_units_prefer_their_directions(cardinal):
    assert_allclose(preferred_direction(experiment("direction", cardinal, dt=0.01)), cardinal.directions, atol=1e-6)


def test_a_detector_can_be_turned():
    upright = experiment("contrast", hassenstein_reichardt(), dt=0.01)
    turned = experiment("contrast", hassenstein_reichardt(), dt=0.01, preferred=90.0, eye=Grid(2, 1, eye_sigma()))
    assert_allclose(turned.response, upright.response, atol=1e-12)
    assert_array_equal(turned.direction, [90, 270])


def eye_sigma():
    return eye_for(hassenstein_reichardt()).sigma


def test_changes_replace_the_design_and_what_is_fixed():
    result = experiment(
        "frequency",
        hassenstein_reichardt(),
        wavelength=30.0,
        temporal_frequency=[1.0, 2.0],
        contrast=[0.1, 0.2],
        dt=0.01,
    )
    assert result.response.dims == ("temporal_frequency", "contrast", "motion")
    assert_allclose(result.response[:, 1], 4 * result.response[:, 0])
    only = experiment("contrast", hassenstein_reichardt(), direction=180.0, dt=0.01)
    assert only.response.dims == ("contrast",)
    assert (only.response < 0).all()


def test_refuses_unknown_experiments_and_parameters():
    with pytest.raises(ValueError, match="no experiment 'colour'; expected one of local, summed"):
        experiment("colour", hassenstein_reichardt())
    with pytest.raises(ValueError, match="no parameter colour"):
        experiment("contrast", hassenstein_reichardt(), colour=[1.0])
    with pytest.raises(ValueError, match="no parameter colour"):
        experiment("contrast", hassenstein_reichardt(), colour=1.0)


def test_optimum_of_the_hrd_in_frequency_and_in_speed():
    """1 / (2 pi tau), so the best speed is in proportion to the wavelength."""
    detector, best = hassenstein_reichardt(LowPass(0.1)), 1 / (2 * math.pi * 0.1)
    frequency = experiment("frequency", detector, wavelength=30.0, repeats=4)
    assert_allclose(peak(frequency.sel(motion="preferred"), "temporal_frequency").position, best, rtol=0.02)
    speeds = peak(experiment("velocity", detector, repeats=4).sel(motion="preferred"), "speed").position
    assert_allclose(speeds / speeds.wavelength, best, rtol=0.02)


def test_grating_at_speed_is_the_grating():
    eye = Grid(1, 3)
    by_speed = grating_at_speed(speed=60.0, wavelength=20.0, phase=0.0).movie(eye, 0.01, spacing=5.0)
    assert_array_equal(
        by_speed, drifting_grating(temporal_frequency=3.0, wavelength=20.0, phase=0.0).movie(eye, 0.01, spacing=5.0)
    )
    with pytest.raises(TypeError, match="unexpected keyword argument 'temporal_frequency'"):
        grating_at_speed(speed=60.0, temporal_frequency=3.0)


def test_apparent_motion_of_opposite_polarities_inverts_the_hrd():
    result = experiment("apparent-motion", hassenstein_reichardt(), n_positions=4)
    same = result.response.sel(first=0.5, second=0.5)
    assert (same.sel(motion="preferred") > 0).all()
    assert_allclose(result.response.sel(first=-0.5, second=-0.5), same, atol=1e-14)
    assert_allclose(result.response.sel(first=0.5, second=-0.5), -same, atol=1e-14)
    assert_allclose(same.sel(motion="null"), -same.sel(motion="preferred"), atol=1e-14)


def test_the_peak_has_the_sign_of_the_largest_response():
    result = experiment("edges", hassenstein_reichardt())
    course = result.course.transpose("time", ...)
    assert_array_equal(abs(result.peak), abs(course).max("time"))
    assert_array_equal(np.sign(result.peak).sel(motion="preferred"), [1, 1])
    assert_array_equal(np.sign(result.peak).sel(motion="null"), [-1, -1])


def test_the_sum_over_a_wavelength_is_flat_and_one_position_is_not():
    """For the three-pixel detector (claim C18)."""
    local, summed = (experiment(name, three_pixel(LowPass(0.05))) for name in ("local", "summed"))
    late = slice(1.5, None)
    assert np.ptp(local.course.sel(time=late, motion="preferred").values) > 0.01
    assert np.ptp(summed.course.sel(time=late, motion="preferred").values) < 1e-10


# Sheets


def test_numbers_of_the_hrd():
    numbers = characterise(hassenstein_reichardt()).numbers
    assert not numbers.dims
    assert_allclose(numbers.preferred_direction, 0)
    assert_allclose((numbers.dsi, numbers.dsi_over_preferred), (1, 2), rtol=1e-3)
    assert_allclose(numbers.contrast_exponent, 2)
    assert_allclose(numbers.temporal_frequency, 1 / (2 * math.pi * 0.15), rtol=0.02)
    assert_allclose(numbers.reverse_phi / numbers.phi, stepped(5 / 8) / stepped(1 / 8), rtol=0.02)
    assert numbers.two_point_positive > 0 > numbers.two_point_negative
    threes = [abs(float(numbers[f"{kind}_{parity}"])) for kind in ("converging", "diverging") for parity in PARITIES]
    assert max(threes) < 0.1 * float(numbers.two_point_positive)


PARITIES = ("positive", "negative")


def stepped(turns, interval=0.125, tau=0.15):
    """Response of the HRD to a sine whose phase grows in steps, up to a factor: all of its frequencies, by their power.

    Inverting it is half a turn: eighths become five eighths, that is three backwards.
    """
    turns = turns + np.arange(-2000, 2001)
    angle = 2 * math.pi * turns / interval * tau
    return (np.sinc(turns) ** 2 * angle / (1 + angle**2)).sum()


def test_what_was_not_reached_is_no_optimum():
    numbers = characterise(barlow_levick(), repeats=2).numbers
    assert np.isnan(numbers.temporal_frequency)
    assert numbers.temporal_frequency.attrs == {"units": "Hz"}
    assert numbers.wavelength.attrs == {"units": "deg"}


def test_a_change_leaves_the_experiments_on_it_as_they_are():
    half, whole = (characterise(three_pixel(), dt=0.02, repeats=2, contrast=c).numbers for c in (0.25, 0.5))
    assert_allclose(half.contrast_exponent, 2)
    assert_allclose([half.phi, half.two_point_positive], [whole.phi / 4, whole.two_point_positive / 4])


def test_numbers_are_kept_by_unit(cardinal, pickled, reloaded):
    character = pickled(characterise(cardinal, dt=0.02, repeats=2, duration=1.5))
    assert set(character.numbers.dims) == {"unit"}
    assert_allclose(character.numbers.preferred_direction, cardinal.directions, atol=1e-6)
    xr.testing.assert_equal(reloaded(character.numbers), character.numbers)
