"""Recordings: the published table, files of one's own, and comparisons whose outcome is known."""

import math

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import lfilter

from flymotion.detectors import DETECTORS, hassenstein_reichardt, rectified
from flymotion.detectors.temporal import LowPass
from flymotion.tuning import direction_selectivity, experiment, half_width, preferred_direction
from flymotion.tuning.recordings import compare, gcamp, published, read_recording

TWELVE = np.arange(0, 360, 30.0)


def bump(centre, directions=TWELVE, kappa=2.0):
    return np.exp(kappa * (np.cos(np.radians(directions - centre)) - 1))


@pytest.fixture
def write(tmp_path):
    """Write lines into a file and return its path."""

    def write_lines(*lines, encoding="utf-8"):
        path = tmp_path / "cells.csv"
        path.write_text("\n".join(lines) + "\n", encoding=encoding)
        return path

    return write_lines


@pytest.fixture
def make_tuning():
    """Direction tuning of units of known curves, by directions 15 degrees apart."""

    def make(*curves, step=15.0):
        directions = np.arange(0, 360, step)
        values = np.array([curve(directions) for curve in curves])
        return xr.Dataset(
            {"response": (("unit", "direction"), values)}, {"direction": directions}, {"dt": 0.01, "settle": 0.0}
        )

    return make


@pytest.fixture
def make_recording():
    def make(*curves):
        cells = [f"cell {k}" for k in range(len(curves))]
        return xr.Dataset({"response": (("cell", "direction"), np.array(curves))}, {"cell": cells, "direction": TWELVE})

    return make


# Recordings


def test_published_table_is_the_one_of_the_paper():
    recording = published()
    assert recording.response.dims == ("cell", "direction")
    assert_array_equal(recording.direction, TWELVE)
    assert recording.direction.attrs["units"] == "deg"
    assert_allclose(recording.response.sum(), 33.69)
    assert_array_equal(recording.response.sel(direction=180), [1.0, 0.285, 0.22, 0.21, 1.0, 0.3, 0.34, 0.185])
    assert_array_equal(recording.response.sel(cell="T4d")[:4], [0.07, 0.07, 0.12, 0.17])
    assert "Maisak" in recording.attrs["source"]


def test_published_cells_prefer_the_cardinal_directions():
    recording = published()
    off = (preferred_direction(recording) - recording.preferred + 180) % 360 - 180
    assert abs(off).max() < 15


def test_a_written_recording_reads_back(write):
    recording = published()
    rows = zip(TWELVE, recording.response.values.T, strict=True)
    lines = [",".join(map(str, [angle, *values])) for angle, values in rows]
    again = read_recording(write("direction_deg," + ",".join(recording.cell.values), *lines))
    assert_array_equal(again.response, recording.response)
    assert_array_equal(again.cell, recording.cell)


@pytest.mark.parametrize(
    ("header", "axis", "unit"),
    [
        ("direction [deg]", "direction", "deg"),
        ("direction_deg", "direction", "deg"),
        ("Temporal frequency [Hz]", "temporal_frequency", "Hz"),
        ("contrast", "contrast", "1"),
        ("speed [deg/s]", "speed", "deg/s"),
        ("Direction (deg)", "direction", "deg"),
        ("Direction [degrees]", "direction", "deg"),
        ("direction", "direction", "deg"),
        ("Speed (\N{DEGREE SIGN}/s)", "speed", "deg/s"),
        ("dose [mg]", "dose", "mg"),
    ],
)
def test_the_first_column_names_the_axis_and_its_unit(write, header, axis, unit):
    path = write("# a comment", f"{header}, a, b", "", "2, 0.5, 1", "1, 3, 4", encoding="utf-8-sig")
    recording = read_recording(path)
    assert recording.response.dims == ("cell", axis)
    assert recording[axis].attrs["units"] == unit
    assert_array_equal(recording[axis], [1, 2])
    assert_array_equal(recording.response, [[3, 0.5], [4, 1]])
    assert_array_equal(recording.cell, ["a", "b"])


@pytest.mark.parametrize("header", ["direction [rad]", "direction_rad", "Direction (radians)"])
def test_directions_in_radians_become_degrees(write, header):
    recording = read_recording(write(f"{header},a", f"{math.pi / 2!r},3", "0,1", f"{math.pi!r},2"))
    assert_allclose(recording.direction, [0, 90, 180])
    assert recording.direction.attrs["units"] == "deg"
    assert_array_equal(recording.response, [[1, 3, 2]])


def test_labelled_directions_in_radians_become_degrees(make_recording):
    recording = make_recording(bump(40))
    radians = recording.assign_coords(direction=("direction", np.radians(TWELVE), {"units": "rad"}))
    kept = radians.copy(deep=True)
    again = read_recording(radians)
    assert_allclose(again.direction, TWELVE)
    assert again.direction.attrs["units"] == "deg"
    xr.testing.assert_identical(radians, kept)
    with pytest.raises(ValueError, match="the recording: direction is in 'turns'; expected deg or rad"):
        read_recording(recording.assign_coords(direction=("direction", TWELVE, {"units": "turns"})))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["direction [turns],a", "0,1", "1,2"], r"cells\.csv, line 1: direction is in 'turns'; expected deg or rad"),
        (["delay [ms],a", "0,1", "1,2"], r"cells\.csv, line 1: delay is in 'ms'; expected s"),
        (["direction [rad],a", "0,1", "3,2", "6.283185307179586,1"], r"line 4: direction 6\.283\d* is there already"),
        (["direction,a", "0,1"], r"cells\.csv has 2 line\(s\)"),
        (["direction,a", "0,1", "30,x"], r"cells\.csv, line 3: 'x' is not a finite number"),
        (["direction,a", "0,1", "30,"], r"cells\.csv, line 3: '' is not"),
        (["direction,a", "0,nan", "30,1"], r"cells\.csv, line 2: 'nan' is not"),
        (["# note", "direction,a", "", "0,1", "30,1,2"], r"cells\.csv, line 5 has 3 entries; expected 2"),
        (["direction,a,a", "0,1,2", "30,1,2"], r"cells\.csv, line 1: names are 'direction', 'a', 'a'"),
        (["direction", "0", "30"], r"cells\.csv, line 1: names are 'direction'; expected"),
        (["0,1", "30,2", "60,3"], r"cells\.csv, line 1: names are '0', '1'"),
        (["direction,a", '0,"1', "30,2"], r"""cells\.csv, line 2 is '0,"1', unexpected end of data; expected comma"""),
        (["direction,a", "0,1", "30,2", "360,1"], r"cells\.csv, line 4: direction 360 is there already"),
        (["contrast,a", "1,1", "0.5,2", "1,1"], r"cells\.csv, line 4: contrast 1 is there already"),
    ],
)
def test_errors_name_the_file_and_the_line(write, lines, message):
    with pytest.raises(ValueError, match=message):
        read_recording(write(*lines))


def test_refuses_a_file_that_is_not_text(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"x\.csv is not text"):
        read_recording(tmp_path / "x.csv")


def test_refuses_what_is_not_there_or_no_recording(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^there is no recording .*no-such\.csv; expected a CSV file$"):
        read_recording(tmp_path / "no-such.csv")
    with pytest.raises(IsADirectoryError, match=rf"^the recording {tmp_path} is a folder; expected a CSV file$"):
        read_recording(tmp_path)
    with pytest.raises(TypeError, match="the recording is a ndarray; expected the path of a CSV file, or an xarray"):
        read_recording(np.ones((2, 12)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refuses_responses_that_are_no_numbers(make_recording, bad):
    recording = make_recording(bump(0), bump(90))
    recording.response[1, 3] = bad
    with pytest.raises(ValueError, match=rf"the recording is {bad} at cell cell 1, direction 90\.0; expected finite"):
        read_recording(recording)
    with pytest.raises(ValueError, match="responses are of type <U1; expected numbers"):
        read_recording(xr.DataArray([["a"]], {"cell": ["a"], "direction": [0.0]}, ("cell", "direction")))


@pytest.mark.parametrize(
    "array", [xr.DataArray(1.0), xr.DataArray([1.0], {"cell": ["a"]}, ["cell"]), xr.DataArray([1.0], dims="direction")]
)
def test_refuses_labelled_responses_without_an_axis_or_its_coordinate(array):
    with pytest.raises(ValueError, match=r"the recording has dimensions .*; expected cell and an axis with its coord"):
        read_recording(array)


def test_labelled_recordings_are_passed_on(make_recording):
    recording = make_recording(bump(0), bump(90))
    assert read_recording(recording) is recording
    xr.testing.assert_equal(read_recording(recording.response), recording)
    single = read_recording(recording.response[0].drop_vars("cell"))
    assert single.response.dims == ("cell", "direction")
    with pytest.raises(ValueError, match="the recording has other; expected response"):
        read_recording(xr.Dataset({"other": 1}))


# Comparisons


def test_a_curve_compared_with_itself(make_recording):
    """Correlates perfectly, and is not turned."""
    curve = published().response.sel(cell="T4b").values
    tuning = xr.Dataset({"response": ("direction", 3 * curve)}, {"direction": TWELVE})
    result = compare(tuning, make_recording(curve))
    assert_allclose(result.correlation, 1, rtol=1e-12)
    assert_allclose(result.turned, 0, atol=1e-9)
    assert_allclose(result.model, result.recording, atol=1e-12)
    assert_allclose(result.recording.max(), 1)
    for measure in (result.half_width, result.dsi, result.dsi_over_preferred):
        assert_allclose(measure.sel(curve="model"), measure.sel(curve="recording"), rtol=1e-9)


@pytest.mark.parametrize("turn", [30.0, 150.0, -90.0, 180.0])
def test_a_model_is_turned_to_the_cell(make_recording, turn):
    curve = bump(40) + 0.4 * bump(200)
    tuning = xr.Dataset({"response": ("direction", curve)}, {"direction": (TWELVE + turn) % 360})
    result = compare(tuning.sortby("direction"), make_recording(curve))
    assert_allclose(result.correlation, 1, rtol=1e-9)
    assert_allclose((result.turned + turn + 1) % 360, 1, atol=1e-6)


def test_each_cell_gets_the_nearest_unit(make_tuning, make_recording):
    tuning = make_tuning(*(lambda d, c=c: bump(c, d) for c in (350.0, 80.0, 200.0)))
    result = compare(tuning, make_recording(bump(180), bump(10), bump(100), bump(300)))
    assert_array_equal(result.unit, [2, 0, 1, 0])
    assert_allclose(result.turned, [-20, 20, 20, -50], atol=1e-6)
    assert (result.correlation > 0.999).all()


def test_the_baseline_is_a_rectified_cosine(make_tuning, make_recording):
    cosine = np.maximum(np.cos(np.radians(TWELVE - 60)), 0)
    result = compare(make_tuning(lambda d: bump(0, d)), make_recording(cosine))
    assert_allclose(result.correlation_cosine, 1, rtol=1e-12)
    assert_allclose(result.cosine[0], cosine, atol=1e-12)
    r = np.corrcoef(result.model[0], result.recording[0])[0, 1]
    assert_allclose(result.correlation, r, rtol=1e-12)


@pytest.mark.parametrize("n", [4, 12])
def test_the_model_is_measured_on_its_own_curve(make_tuning, make_recording, n):
    """However few directions the recording has."""
    curves = [lambda d: bump(10, d, 4.0), lambda d: bump(190, d, 1.0)]
    tuning = make_tuning(*curves, step=5.0)
    cells = make_recording(bump(0), bump(180)).isel(direction=slice(None, None, 12 // n))
    result = compare(tuning, cells)
    assert_array_equal(result.unit, [0, 1])
    assert_allclose(result.half_width.sel(curve="model"), half_width(tuning.response))
    assert_allclose(result.half_width.sel(curve="recording"), half_width(cells.response))
    for name, index in zip(("dsi", "dsi_over_preferred"), direction_selectivity(tuning.response), strict=True):
        assert_allclose(result[name].sel(curve="model"), index)


def test_comparisons_say_what_they_are_of():
    result = compare(experiment("direction", hassenstein_reichardt(quadrants="on"), dt=0.01), published())
    assert result.attrs["detector"] == "hrd-on"
    assert result.attrs["stimulus_wavelength"] == 30.0
    assert "Maisak" in result.attrs["source"]


def test_silent_and_flat_models_have_no_correlation(make_tuning, make_recording):
    for flat in (np.zeros_like, np.ones_like):
        assert np.isnan(compare(make_tuning(flat), make_recording(bump(0))).correlation).all()


def test_comparisons_survive_netcdf(tmp_path):
    result = compare(experiment("direction", hassenstein_reichardt(), dt=0.01), published())
    result.to_netcdf(tmp_path / "x.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "x.nc", engine="scipy") as again:
        xr.testing.assert_equal(again.load(), result)


def mean_correlation(detector):
    beside = compare(experiment("direction", detector, dt=0.01), published()).sel(cell=["T4a", "T4b", "T4c", "T4d"])
    return [float(beside[name].mean()) for name in ("correlation", "correlation_raw")]


@pytest.mark.parametrize("name", DETECTORS)
def test_all_detectors_are_compared_rectified_as_the_cosine_and_learned_ones_are(name):
    detector = DETECTORS[name]()
    raw, at_once = (experiment("direction", d, dt=0.02, repeats=2) for d in (detector, rectified(detector)))
    beside, positive = compare(raw, published()), compare(at_once, published())
    assert (beside.model >= 0).all() and (positive.model >= 0).all()
    assert_allclose(positive.correlation, positive.correlation_raw, rtol=1e-12)
    by_hand = compare(raw.assign(response=np.maximum(raw.response, 0)), published())
    assert_allclose(beside.correlation, by_hand.correlation_raw, rtol=1e-12)


def test_the_hrd_is_as_near_to_t4_as_its_rectified_curve():
    """0.800 as it is, negative in its null direction; 0.910 rectified, where a cosine has 0.921."""
    assert_allclose(mean_correlation(hassenstein_reichardt()), [0.910, 0.800], atol=5e-4)
    assert_allclose(mean_correlation(rectified(hassenstein_reichardt())), [0.910, 0.910], atol=5e-4)


def test_functions_are_rectified_too():
    hrd = hassenstein_reichardt(LowPass(0.05))
    movie = np.random.default_rng(0).normal(size=(50, 6))
    theirs = rectified(lambda movie, dt: hrd(movie, dt))(movie, 0.01)
    assert_array_equal(theirs, np.maximum(hrd(movie, 0.01), 0))
    assert not rectified(hrd).opponent and hrd.opponent


# Indicators


@pytest.fixture
def with_course():
    return experiment("direction", hassenstein_reichardt(LowPass(0.05)), dt=0.01, keep_time=True, repeats=1)


@pytest.mark.parametrize("kernel", [(), [1.0]], ids=["no steps", "one sample"])
def test_an_indicator_of_no_width_changes_nothing(with_course, kernel):
    xr.testing.assert_equal(
        compare(with_course, published(), indicator_kernel=kernel), compare(with_course, published())
    )


def test_the_peak_is_taken_after_settling(with_course, make_recording):
    course = with_course.course.copy()
    course[:, 0] = 100.0
    late = with_course.assign(course=course)
    xr.testing.assert_equal(compare(late, published()), compare(with_course, published()))
    largest = with_course.course.sel(time=slice(with_course.attrs["settle"], None)).max("time")
    largest = largest.interp(direction=TWELVE).values
    same = compare(with_course, make_recording(largest, np.maximum(largest, 0)))
    assert_allclose([same.correlation_raw[0], same.correlation[1]], 1, rtol=1e-12)


def test_gcamp_is_a_difference_of_exponentials_and_the_same_as_its_samples(with_course):
    """h_k = (1 - a)(1 - b)(b^(k+1) - a^(k+1)) / (b - a), a and b what is left after one frame."""
    a, b = math.exp(-0.01 / 0.05), math.exp(-0.01 / 0.2)
    k = np.arange(1, 2000)
    h = (1 - a) * (1 - b) * (b**k - a**k) / (b - a)
    chain = compare(with_course, published(), indicator_kernel=gcamp(0.05, 0.2))
    sampled = compare(with_course, published(), indicator_kernel=h)
    xr.testing.assert_allclose(chain, sampled, rtol=1e-9)
    assert not np.allclose(chain.correlation_raw, compare(with_course, published()).correlation_raw, rtol=1e-6)


def test_indicators_start_from_what_was_before(make_recording):
    """So a course that never changes is what it was, seen through any kernel of sum 1."""
    values = np.repeat(bump(90)[:, None], 50, axis=1)
    tuning = xr.Dataset(
        {"response": ("direction", values[:, 0]), "course": (("direction", "time"), values)},
        {"direction": TWELVE, "time": np.arange(50) * 0.01},
        {"dt": 0.01, "settle": 0.1},
    )
    plain = compare(tuning, make_recording(bump(0)))
    for kernel in (gcamp(), np.full(30, 1 / 30), lfilter([0.2], [1, -0.8], np.eye(1, 300)[0])):
        xr.testing.assert_allclose(compare(tuning, make_recording(bump(0)), indicator_kernel=kernel), plain)


def test_refuses_what_cannot_be_compared(make_tuning):
    with pytest.raises(ValueError, match="no course of time"):
        compare(make_tuning(np.cos), published(), indicator_kernel=gcamp())
    with pytest.raises(ValueError, match="the tuning has dimensions contrast, motion; expected direction"):
        compare(experiment("contrast", hassenstein_reichardt(), dt=0.01), published())
    with pytest.raises(ValueError, match="the recording has dimensions cell, contrast; expected direction"):
        compare(make_tuning(np.cos), xr.DataArray([[1.0]], {"contrast": [0.5]}, ("cell", "contrast")))
    for tuning in (xr.Dataset({"other": 1}), published().response, np.ones(12)):
        with pytest.raises(ValueError, match=r"the tuning is or has .*; expected a Dataset with response"):
            compare(tuning, published())
    with pytest.raises(ValueError, match="the tuning has dimensions none; expected direction"):
        compare(xr.Dataset({"response": 1.0}), published())
    with pytest.raises(ValueError, match="no other than unit, and a coordinate of direction"):
        compare(xr.Dataset({"response": ("direction", np.ones(12))}), published())
    with pytest.raises(ValueError, match="direction, and no other than cell"):
        compare(make_tuning(np.cos), published().response.expand_dims(fly=2))
    with pytest.raises(ValueError, match="dimensions direction, contrast; expected direction, and no other than unit"):
        compare(experiment("direction", hassenstein_reichardt(), dt=0.01, contrast=[0.2, 0.5]), published())


@pytest.mark.parametrize("kernel", [np.array([]), np.ones((2, 2)), np.array(1.0), [0.5, np.nan]])
def test_refuses_what_is_no_kernel(with_course, kernel):
    with pytest.raises(ValueError, match=r"the indicator's kernel has shape .*; expected steps, or finite numbers"):
        compare(with_course, published(), indicator_kernel=kernel)


def test_steps_of_an_indicator_may_be_a_list(with_course):
    xr.testing.assert_equal(
        *(compare(with_course, published(), indicator_kernel=kind(gcamp())) for kind in (list, tuple))
    )
