"""Detection over a movie, and the tables and fields that it is written to."""

import csv
import gc
import os
import signal
import threading
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter, shift
from skimage.registration import phase_cross_correlation
from sklearn.datasets import load_sample_image

from flymotion import MotionLearner, learn
from flymotion.detecting import (
    SINKS,
    MotionTable,
    NpzFields,
    Trace,
    detect,
    fields,
    mean_responses,
    read_trace,
    write_directions,
)
from flymotion.detecting.fields import MOST_BYTES
from flymotion.detecting.hints import hints
from flymotion.detecting.overlay import Overlay, OverlayVideo
from flymotion.detecting.trace import draw_trace
from flymotion.field import MotionField
from flymotion.field.frame_motion import global_motion
from flymotion.keeping import saving
from flymotion.learner import probing
from flymotion.video import VideoError, open_movie
from flymotion.video.viewing import view
from flymotion.writing import whole_files

SIZE = (64, 96)


@pytest.fixture(scope="session")
def china():
    return gaussian_filter(load_sample_image("china.jpg").mean(axis=2), 1.0)


@pytest.fixture(scope="session")
def make_moving(china):
    """Frames of a photograph whose content moves by whole pixels (right, down) from each to the next."""

    def make(n=8, way=(1, 0), size=SIZE):
        (height, width), (x, y) = size, way
        return [
            china[150 - y * t : 150 - y * t + height, 250 - x * t : 250 - x * t + width].astype(np.uint8)
            for t in range(n)
        ]

    return make


def table_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# -- the stream --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [(1, 0), (0, 1), (-1, -1)])
def test_content_is_seen_to_move_as_it_does(make_moving, way):
    first, *rest = detect(np.stack(make_moving(way=way)), rate=50)
    assert first.cut and first.field is None and np.isnan(first.motion[:4]).all() and np.isnan(first.responses).all()
    assert [step.number for step in rest] == list(range(1, 8))
    assert_allclose([step.time for step in rest], np.arange(1, 8) / 50)
    assert_allclose([step.motion[:2] for step in rest], [way] * 7, atol=0.15)
    right, up, left, down = np.mean([step.responses for step in rest], axis=0)
    mean = np.array([right - left, down - up]) / (right + left + up + down)
    along, across = mean @ way, mean @ (-way[1], way[0])
    assert along > 0.2 and abs(across) < 0.5 * along  # oblique edges also answer across the motion


def test_fields_are_those_of_the_frames_themselves(make_moving):
    frames = np.stack(make_moving())
    found = detect(frames)
    for step, (before, after) in zip(pairs_of(found), pairwise(frames), strict=True):
        expected = found.field.between(before, after)
        assert_allclose(step.field.directions, expected.directions, rtol=1e-5, atol=1e-3)
        assert_allclose(step.motion, global_motion(*expected[2:]), rtol=1e-5)
        assert_allclose(step.responses, expected.directions[:, 1:-1].mean(axis=(1, 2)), rtol=1e-4)


def pairs_of(found):
    """All detections but those that begin a clip."""
    return [*filter(attrgetter("field"), found)]


def test_a_detection_keeps_its_field(make_moving):
    held, copies = [], []
    for step in filter(attrgetter("field"), detect(np.stack(make_moving()))):
        held.append(step.field)
        copies.append([*map(np.copy, filter(lambda part: part is not None, step.field))])
    for field, copy in zip(held, copies, strict=True):
        for part, expected in zip(filter(lambda part: part is not None, field), copy, strict=True):
            assert_array_equal(part, expected)


def test_arrays_that_nobody_holds_are_written_to_again(make_moving):
    steps = filter(attrgetter("field"), detect(np.stack(make_moving(20))))
    held = next(steps).field.velocity[0, 3:5]
    places = [step.field.velocity.ctypes.data for step in steps]
    assert held.base.ctypes.data not in places and len({*places}) <= 4


@pytest.mark.case("B04")
def test_a_cut_is_never_a_pair(write_video, make_moving, tmp_path):
    frames = make_moving(6) + make_moving(6, (-1, 0))
    path = write_video("gap.mp4", frames, stamps=[*range(6), *range(8, 14)])
    found = detect(path)
    cuts = [step.number for step in found if step.cut]
    assert cuts == [0, 6]
    with MotionTable(tmp_path / "t.csv", found) as table:
        for step in found:
            table.write(step)
    rows = table_of(tmp_path / "t.csv")
    assert [row["cut"] for row in rows] == ["1", *"00000", "1", *"00000"]
    assert [rows[k]["translation_x_px"] for k in (0, 6)] == ["", ""]
    assert [rows[k]["time_s"] for k in (5, 6)] == ["0.200000", "0.320000"]
    x = read_trace(tmp_path / "t.csv").translation[:, 0]
    assert_allclose(x[[*range(1, 6), *range(7, 12)]], [1] * 5 + [-1] * 5, atol=0.2)


def test_motion_over_a_gap_is_that_of_one_step(write_video, make_moving, tmp_path):
    stamps, frames = [*range(5), *range(6, 9), *range(10, 16)], make_moving(16)
    path = write_video("gap.mp4", [frames[k] for k in stamps], stamps=stamps)
    found = detect(path, gaps="bridge", scale=2)
    steps = {step.number: step for step in found}
    assert [step.number for step in steps.values() if step.cut] == [0]
    assert [steps[k].steps for k in (1, 5, 8)] == [1, 2, 2]
    assert_allclose([steps[k].motion.x for k in range(1, 14)], 1, atol=0.2)
    means = [np.average(steps[k].field.velocity[0], weights=steps[k].field.confidence) for k in (1, 5, 8)]
    assert_allclose(means, 1, atol=0.2)
    with MotionTable(tmp_path / "t.csv", found) as table:
        [table.write(step) for step in steps.values()]
    assert read_trace(tmp_path / "t.csv").steps[[1, 5, 8]].tolist() == [1, 2, 2]


def test_frame_rates_that_vary_keep_their_times(write_video, make_moving):
    stamps = [0, 1, 4, 5, 9, 10, 14, 15]
    steps = list(detect(write_video("vary.mp4", make_moving(), stamps=stamps)))
    assert_allclose([step.time for step in steps], np.array(stamps) / 25)
    assert [step.cut for step in steps] == [True] + [False] * 7


def test_velocities_are_in_pixels_of_the_source_whatever_is_reduced(make_moving):
    frames = np.stack(make_moving(4, (2, 0), (128, 192)))
    whole, half = (pairs_of(detect(frames, scale=k)) for k in (1, 2))
    assert half[0].field.velocity.shape == (2, 64, 96)
    for steps in (whole, half):
        assert_allclose([step.motion.x for step in steps], 2, atol=0.2)
        fields = [step.field for step in steps]
        weighted = [np.average(field.velocity[0], weights=field.confidence**2) for field in fields]
        assert_allclose(weighted, 2, atol=0.2)


def test_options_of_the_movie_are_passed_on(make_moving):
    steps = list(detect(np.stack(make_moving()), stride=2, start=1, crop=(0, 48, 8, 72)))
    assert [step.image.shape for step in steps] == [(48, 64)] * 4
    assert_allclose([step.motion.x for step in steps[1:]], 2, atol=0.3)


def test_colours_of_an_array_become_luminance(make_moving):
    frames = np.stack(make_moving(3))
    weights = np.array([0.299, 0.587, 0.114], np.float32)
    colours = np.clip(frames[..., None] * [0.5, 1.0, 0.2], 0, 255).astype(np.uint8)
    of_colours, of_luminance = (pairs_of(detect(array))[-1] for array in (colours, colours @ weights))
    assert_allclose(of_colours.motion, of_luminance.motion, atol=0.02)
    assert_allclose(of_colours.image, of_luminance.image, rtol=1e-6)


def test_a_speed_is_that_of_the_field(make_moving):
    frames = np.stack(make_moving(3))
    assert [detect(frames, speed=speed).field.speed for speed in ("fastest", "accurate")] == ["fastest", "accurate"]
    assert [detect(frames).field.radius, detect(frames, radius=1).field.radius] == [2, 1]


def test_flat_frames_tell_nothing_and_frames_that_stay_tell_so(china):
    flat = list(detect(np.full((3, *SIZE), 90, np.uint8)))
    assert np.isnan([step.motion.x for step in flat]).all() and [step.motion.support for step in flat] == [0, 0, 0]
    assert_allclose([step.responses for step in flat[1:]], 0)
    still = list(detect(np.stack([china[:64, :96]] * 3)))
    assert_allclose([step.motion[:4] for step in still[1:]], 0, atol=2e-4)
    assert still[1].motion.support > 0.1


@pytest.mark.parametrize("frames", [np.zeros((4, 2, 9)), np.zeros((4, 50))])
def test_frames_that_hold_no_detector_are_refused(frames):
    with pytest.raises(ValueError, match="expected"):
        detect(frames)


# -- models ------------------------------------------------------------------------------------------------------------


def test_a_model_looks_at_frames_as_it_learned_to(make_moving, learner):
    frames = np.stack(make_moving(5, (2, 0), (128, 192)))
    found = detect(frames, model=learner)
    assert found.shape == (64, 96) and found.scale == 2
    steps = pairs_of(found)
    assert_allclose([step.motion.x for step in steps], 2, atol=0.2)
    assert steps[0].field.velocity.shape == (2, 64, 96) and steps[0].image.shape == (128, 192)
    expected = found.field.between(*view(frames[:2], 2))
    assert_allclose(steps[0].field.directions, expected.directions, rtol=1e-5)
    assert_allclose(steps[0].field.velocity, 2 * expected.velocity, rtol=1e-5)
    best = found.angles[np.argmax(np.mean([step.responses for step in steps], axis=0))]
    assert np.cos(np.radians(best)) > 0.9


@pytest.fixture(scope="session")
def learner(china):
    """Detectors learned from a movie that moves by 1.2 pixels a frame, so that it was reduced by 2."""
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 40)
    places = np.cumsum(1.2 * np.stack([np.cos(angles), np.sin(angles)], axis=1), axis=0)
    movie = np.stack([shift(china, place, order=1)[40:-40, 40:-40] for place in places])
    learned = MotionLearner(vision="video", patch=5, random_state=0).fit(movie)
    assert learned.scale_ == 2
    return learned


def test_a_model_file_is_its_learner(make_moving, learner, tmp_path):
    frames, path = np.stack(make_moving(3)), saving.save(learner, tmp_path / "model.npz")
    of_file, of_learner = (pairs_of(detect(frames, model=model)) for model in (path, learner))
    assert_allclose(of_file[0].responses, of_learner[0].responses, rtol=1e-6)


def test_whether_a_model_has_directions_is_known_without_probing(make_moving, learner, pickled, monkeypatch):
    fresh = pickled(learner).partial_fit(np.zeros((0, *learner.state_.vision.pixels)))
    monkeypatch.setattr(probing, "render", lambda *how: pytest.fail("probed"))
    assert len(detect(np.stack(make_moving(3)), model=fresh).shapes["directions"]) == 3


def test_a_model_has_the_same_directions_whoever_tells(make_moving, learner):
    """Responses to known motion say so, as where it is learned; the shape of a filter says another by some degrees."""
    assert_array_equal(detect(np.stack(make_moving(3)), model=learner).angles, learner.directions_)


def test_models_of_another_kind_are_refused(tmp_path):
    frames = np.zeros((2, *SIZE))
    flat = np.random.default_rng(0).random((1500, 5))
    line = saving.save(MotionLearner(2, warm_up=1000).fit(flat), tmp_path / "line.npz")
    two = learn(["bundled"], n_components=2, patch=5, n_pairs=1000)
    unfitted = MotionLearner().partial_fit(np.random.default_rng(0).random((2, 30, 30)))
    other = tmp_path / "other.npz"
    np.savez(other, S=np.zeros((4, 25, 25)), R=np.eye(4))
    for model, message in [
        (line, "line.npz: has detectors of .5,. pixels; expected square patches"),
        (two, "the model: has 2 detectors"),
        (unfitted, "has not seen enough"),
        (other, "other.npz: not a flymotion model"),
        (tmp_path / "none.npz", "no such file"),
    ]:
        with pytest.raises(saving.ModelError, match=message):
            detect(frames, model=model)


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "flymotion-reader"]


def test_a_detection_that_is_left_leaves_no_thread(make_moving):
    steps = iter(detect(np.stack(make_moving())))
    next(steps)
    assert len(readers()) == 2  # one reads, one estimates
    del steps
    gc.collect()
    assert readers() == []


# -- sinks -------------------------------------------------------------------------------------------------------------


def test_the_table_holds_what_was_detected(make_moving, tmp_path):
    found = detect(np.stack(make_moving()), rate=25)
    steps = []
    with MotionTable(tmp_path / "t.csv", found) as table:
        for step in found:
            table.write(step)
            steps.append(step)
    header = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header[-6:] == ["error_px", "steps", "response1", "response2", "response3", "response4"]
    trace = read_trace(tmp_path / "t.csv")
    assert_allclose(trace.time, np.arange(8) / 25)
    assert trace.frame.tolist() == list(range(8)) and trace.cut.tolist() == [True] + [False] * 7
    errors = [np.nanmedian(step.field.error[4::8, 4::8]) for step in steps[1:]]
    assert np.isnan(trace.error[0]) and 0 < np.max(errors) < 0.5
    assert_allclose(trace.error[1:], errors, rtol=1e-5)
    measured = np.column_stack([trace.translation, trace.rotation, trace.looming, trace.support])
    assert_allclose(measured[1:], [step.motion for step in steps[1:]], rtol=1e-5)
    assert np.isnan(measured[0]).all() and np.isnan(trace.responses[0]).all()
    assert_allclose(trace.responses[1:], [step.responses for step in steps[1:]], rtol=1e-5)


def test_mean_responses_are_those_of_rows_from_all_of_the_frame(china):
    frames = np.stack([china[20:400, 60 - t : 400 - t] for t in range(2)])
    *_, step = detect(frames)
    assert_allclose(step.responses, step.field.directions.mean(axis=(1, 2)), rtol=0.1)


@pytest.mark.parametrize("rows", [64, 400])
def test_mean_responses_do_not_need_responses_at_every_pixel(china, rows):
    frames = np.stack([china[10 : 10 + rows, 250 - t : 350 - t] for t in range(3)])
    full, quick = (pairs_of(detect(frames, dense=dense)) for dense in (True, False))
    assert_array_equal([step.responses for step in quick], [step.responses for step in full])
    assert_allclose([step.motion for step in quick], [step.motion for step in full], atol=0.02)
    assert [step.field.directions is None for step in quick] == [True] * 2


@pytest.mark.parametrize(("speed", "spacing"), [("fastest", 4), ("fast", 2), ("accurate", 1)])
def test_fields_that_are_not_dense_are_those_of_every_few_pixels(make_moving, tmp_path, speed, spacing):
    frames = np.stack(make_moving(4, (2, 0), (203, 306)))
    full, quick = (detect(frames, dense=dense, speed=speed) for dense in (True, False))
    assert (full.spacing, quick.spacing) == (1, spacing)
    for dense, few in zip(pairs_of(full), pairs_of(quick), strict=True):
        assert few.field.velocity.shape == (2, 203 // spacing, 306 // spacing)
        assert_allclose(few.motion, dense.motion, atol=0.02)
        assert_allclose(few.field.velocity.mean(axis=(1, 2)), dense.field.velocity.mean(axis=(1, 2)), atol=0.02)
    traces = []
    for found in (full, quick):
        with MotionTable(tmp_path / "t.csv", found) as table:
            [table.write(step) for step in found]
        traces.append(read_trace(tmp_path / "t.csv"))
    assert_allclose(traces[1].error, traces[0].error, rtol=0.1)


@pytest.mark.parametrize("sink", [NpzFields, SINKS["zarr"], partial(OverlayVideo, mode="wheel")])
def test_what_takes_every_pixel_is_not_written_without(make_moving, tmp_path, sink):
    pytest.importorskip("zarr")
    with pytest.raises(ValueError, match="x: takes responses and velocities at every pixel; detect with dense=True"):
        sink(tmp_path / "x", detect(np.stack(make_moving(3)), dense=False))


def test_arrows_are_drawn_of_fields_that_are_not_dense(make_moving):
    frames = np.stack(make_moving(2, (2, 0), (204, 308)))
    every, few = (
        Overlay("arrows", np.arange(4) * 90.0).draw(*pairs_of(detect(frames, dense=dense))) for dense in (True, False)
    )
    assert np.mean(np.abs(every.astype(float) - few).max(axis=2) > 64) < 0.01


def test_mean_responses_of_few_rows_of_a_field_are_those_of_strips(make_moving, learner):
    """Of small frames strips would be more than the frame."""
    *_, step = detect(np.stack(make_moving(3)), model=learner, dense=False)
    assert step.field.directions is not None


def test_mean_responses_of_learned_detectors_are_those_of_strips(make_moving, learner, monkeypatch):
    frames = np.stack(make_moving())
    full = pairs_of(detect(frames, model=learner))
    monkeypatch.setattr(mean_responses, "N_ROWS", 6)
    few, dense = (pairs_of(detect(frames, model=learner, dense=dense)) for dense in (False, True))
    assert few[0].field.directions is None
    assert_allclose([step.responses for step in few], [step.responses for step in dense], rtol=1e-6)
    assert not np.allclose([step.responses for step in few], [step.responses for step in full], rtol=1e-3)


def test_the_trace_is_drawn_as_it_is():
    n = np.arange(6.0)
    trace = Trace(n, n.astype(int), n % 3 == 0, np.stack([n, -n], axis=1), 2 * n, 3 * n, n, np.zeros((6, 4)), n, n)
    translation, rotation, looming = draw_trace(trace).axes
    lines = {line.get_label(): line for line in translation.lines}
    assert_array_equal(lines["x (right +)"].get_ydata(), n)
    assert_array_equal(lines["y (down +)"].get_ydata(), -n)
    assert lines["cut"].get_xdata()[0] == 3
    assert_array_equal(rotation.lines[0].get_ydata(), 2 * n)
    assert_array_equal(looming.lines[0].get_ydata(), 3 * n)


def test_unknown_times_are_empty(make_moving, tmp_path):
    found = detect(np.stack(make_moving(3)))
    with MotionTable(tmp_path / "t.csv", found) as table:
        for step in found:
            table.write(step)
    assert [row["time_s"] for row in table_of(tmp_path / "t.csv")] == [""] * 3


def test_another_table_is_not_a_trace(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="has columns a, b; expected time_s"):
        read_trace(tmp_path / "t.csv")


def test_a_table_of_0_1_is_read(tmp_path):
    names = "time_s,frame,cut,translation_x_px,translation_y_px,rotation_deg,looming,support,response1_358deg"
    (tmp_path / "t.csv").write_text(f"{names},response2_91deg\n0,0,1,,,,,,,\n0.04,1,0,1,2,3,4,.5,6,7\n")
    trace = read_trace(tmp_path / "t.csv")
    assert trace.translation[1].tolist() == [1, 2] and trace.responses[1].tolist() == [6, 7]
    assert np.isnan(trace.error).all() and trace.steps.tolist() == [1, 1] and trace.cut.tolist() == [True, False]


def test_directions_have_a_table_of_their_own(make_moving, learner, tmp_path):
    found = detect(np.stack(make_moving(3)), model=learner)
    write_directions(tmp_path / "d.csv", found)
    rows = table_of(tmp_path / "d.csv")
    assert [row["response"] for row in rows] == [f"response{k}" for k in range(1, 5)]
    assert_allclose([float(row["direction_deg"]) for row in rows], learner.directions_, atol=0.06)


# -- hints -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def hints_of(make_moving):
    """What is suggested where each frame is moved by so much [pixels of the source]."""

    def tell(x, *, time=None, cut=None, rate=25.0, scale=1, speed="accurate"):
        n = len(x)
        time = np.arange(n) / rate if time is None else np.asarray(time)
        cut = np.arange(n) == 0 if cut is None else np.asarray(cut)
        zeros, movie = np.zeros(n), SimpleNamespace(rate=rate)
        trace = Trace(
            time,
            np.arange(n),
            cut,
            np.stack([np.asarray(x, float), zeros], 1),
            zeros,
            zeros,
            zeros,
            zeros[:, None],
            zeros,
            zeros,
        )
        return hints(trace, SimpleNamespace(movie=movie, scale=scale, shape=(64, 96), field=MotionField(speed=speed)))

    return tell


def test_a_stride_is_suggested_where_motion_is_slow_and_adds_up(hints_of):
    assert "0.04 px/frame: --stride 8" in hints_of([np.nan, *[0.04] * 60])[0]
    assert "0.08 px/frame: --stride 8" in hints_of([np.nan, *[0.08] * 60], scale=2)[0]
    assert "--speed accurate, and then perhaps --stride 8" in hints_of([np.nan, *[0.04] * 60], speed="fastest")[0]
    assert hints_of([np.nan, *[0.03, -0.03] * 30]) == []
    assert hints_of([np.nan, *[0.2] * 60]) == hints_of([np.nan] * 3) == hints_of([0.0] * 60) == []


def test_a_reduction_is_suggested_where_motion_is_large(hints_of):
    assert "a larger --scale may help" in hints_of([np.nan, *[9.0] * 9])[0]
    assert hints_of([np.nan, *[9.0] * 9], scale=2) == []


def test_bridging_is_suggested_where_frames_are_missing(hints_of):
    time = np.array([0, 1, 2, 4, 5, 6, 8, 9, 40]) / 25
    cut = np.isin(np.arange(9), [0, 3, 6, 8])
    assert hints_of([np.nan, *[1.0] * 8], time=time, cut=cut) == [
        "frames are missing in 2 places, and no pair is measured there: --gaps bridge measures over them"
    ]
    assert "missing in 1 place," in hints_of([np.nan, 1.0, 1.0], time=time[[1, 2, 3]], cut=np.arange(3) != 1)[0]
    assert hints_of([np.nan, *[1.0] * 8], time=time, cut=cut, rate=None) == []


def opened(kind, path):
    return np.load(path) if kind == "npz" else pytest.importorskip("zarr").open_group(str(path), mode="r")


@pytest.mark.parametrize("kind", list(SINKS))
def test_fields_are_written_as_they_are(make_moving, tmp_path, kind):
    pytest.importorskip("zarr" if kind == "zarr" else "numpy")
    found = detect(np.stack(make_moving(5)), rate=10)
    with SINKS[kind](tmp_path / f"fields.{kind}", found) as sink:
        for step in found:
            sink.write(step)
    written, steps = opened(kind, tmp_path / f"fields.{kind}"), pairs_of(found)
    for name in ("directions", "velocity", "confidence", "error"):
        expected = np.stack([getattr(step.field, name) for step in steps])
        assert written[name][:].dtype == np.float32
        np.testing.assert_array_equal(written[name][:], expected)
    assert written["frame"][:].tolist() == [1, 2, 3, 4]
    assert_allclose(written["time_s"][:], [0.1, 0.2, 0.3, 0.4])


def test_zarr_has_a_chunk_a_pair_and_says_what_it_holds(make_moving, tmp_path):
    pytest.importorskip("zarr")
    found = detect(np.stack(make_moving(3)), scale=2)
    with SINKS["zarr"](tmp_path / "fields.zarr", found) as sink:
        for step in found:
            sink.write(step)
    group = opened("zarr", tmp_path / "fields.zarr")
    assert group["velocity"].chunks == (1, 2, 32, 48)
    assert group.attrs["angles"] == [0, 90, 180, 270] and group.attrs["scale"] == 2


@pytest.mark.case("B57")
def test_xarray_opens_fields_labelled_and_with_units(make_moving, tmp_path):
    """Places are pixels of the source, centres of what was averaged, whatever part of the frame is taken."""
    pytest.importorskip("zarr")
    found = detect(np.stack(make_moving(4)), rate=10, scale=2, crop=(10, 60, 4, 84))
    with SINKS["zarr"](tmp_path / "fields.zarr", found) as sink:
        for step in found:
            sink.write(step)
    opened = xr.open_zarr(tmp_path / "fields.zarr").load()
    assert opened.directions.dims == ("pair", "direction", "y", "x")
    assert opened.velocity.dims == ("pair", "component", "y", "x")
    assert opened.confidence.dims == opened.error.dims == ("pair", "y", "x")
    assert_allclose(opened.y, 10.5 + 2 * np.arange(25))
    assert_allclose(opened.x, 4.5 + 2 * np.arange(40))
    assert opened.direction.values.tolist() == [0, 90, 180, 270]
    assert opened.component.values.tolist() == ["right", "down"]
    assert_allclose(opened.time_s, [0.1, 0.2, 0.3])
    assert opened.frame.values.tolist() == [1, 2, 3] and {"frame", "time_s"} <= set(opened.coords)
    assert [name for name in opened.variables if not {"units", "long_name"} & set(opened[name].attrs)] == []
    assert opened.velocity.units == "pixels of the source per frame" and opened.direction.units == "deg"
    steps = pairs_of(found)
    np.testing.assert_array_equal(opened.velocity, np.stack([step.field.velocity for step in steps]))
    assert not np.isnan(opened.directions).any()  # 0 is a response, and no missing value


def test_an_interrupted_pair_leaves_arrays_of_one_length(make_moving, tmp_path):
    pytest.importorskip("zarr")
    found = detect(np.stack(make_moving(4)), rate=10)
    with pytest.raises(KeyboardInterrupt), SINKS["zarr"](tmp_path / "fields.zarr", found) as sink:
        for step in islice(found, 3):
            sink.write(step)
        sink._arrays["directions"].append(np.zeros((1, *sink._arrays["directions"].shape[1:])))
        raise KeyboardInterrupt
    assert xr.open_zarr(tmp_path / "unfinished" / "fields.zarr").sizes["pair"] == 2


@pytest.mark.parametrize("kind", ["table", *SINKS])
@pytest.mark.parametrize("live", [False, True])
def test_ctrl_c_leaves_what_there_is_and_an_error_nothing(make_moving, tmp_path, kind, live):
    pytest.importorskip("zarr")
    found = detect(np.stack(make_moving(4)), rate=10)
    object.__setattr__(found.movie, "live", live)
    place = tmp_path / f"x.{kind}"
    make = partial({"table": MotionTable, **SINKS}[kind], place, found)
    with pytest.raises(ZeroDivisionError), make() as sink:
        sink.write(next(iter(found)))
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []
    with pytest.raises(KeyboardInterrupt), make() as sink:
        sink.write(next(iter(found)))
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == [place.name if live else "unfinished"]
    assert found.when_interrupted(place).exists()


@pytest.mark.parametrize("kind", ["table", "video", *SINKS])
def test_ctrl_c_while_a_file_is_opened_waits_until_it_is(make_moving, tmp_path, kind, monkeypatch):
    pytest.importorskip("zarr")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    place = tmp_path / f"x.{kind}"
    sink = {"table": MotionTable, "video": OverlayVideo, **SINKS}[kind](place, detect(np.stack(make_moving(4))))
    check = whole_files.check

    def interrupted(*arguments, **options):
        signal.raise_signal(signal.SIGINT)
        return check(*arguments, **options)

    monkeypatch.setattr(whole_files, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sink.__enter__()
    signal.signal(signal.SIGINT, before)
    assert os.listdir(tmp_path) in (["unfinished"], [])


def test_frames_that_are_too_small_are_told_in_words():
    with pytest.raises(VideoError, match="reduced by 8, frames have 12 x 16 pixels; expected 16 or more"):
        detect(np.zeros((3, 100, 128)), scale=8)
    with pytest.raises(VideoError, match=r"array: frames have 12 x 10 pixels; .* need: choose a larger part"):
        detect(np.zeros((3, 12, 10)))


def test_an_npz_file_that_grows_too_large_is_given_up(make_moving, tmp_path, monkeypatch):
    """Of a source that does not tell its length, only what has come is known."""
    found = detect(np.stack(make_moving()))
    sink = NpzFields(tmp_path / "fields.npz", found)
    monkeypatch.setattr(fields, "MOST_BYTES", 100_000)
    with pytest.raises(ValueError, match="zarr"):
        for step in found:
            sink.write(step)


def test_an_npz_file_of_too_much_is_refused_before_anything_is_read(tmp_path):
    n = MOST_BYTES // (8 * 4 * 300 * 400) + 3
    found = detect(np.broadcast_to(np.uint8(0), (n, 300, 400)))
    with pytest.raises(ValueError, match=r"GiB.*choose zarr"):
        NpzFields(tmp_path / "fields.npz", found)


# -- against registration, and for long -------------------------------------------------------------------------------


def registered(frames, window):
    """Shifts (x right, y down) from each frame to the next, by phase correlation [pixels]."""
    shown = [(frame - frame.mean()) * window for frame in frames]
    shifts = [phase_cross_correlation(*pair, upsample_factor=20)[0] for pair in pairwise(shown)]
    return -np.array(shifts)[:, ::-1]


def correlations(one, other):
    return np.array([np.corrcoef(*axis)[0, 1] for axis in zip(one.T, other.T, strict=True)])


@pytest.mark.slow
def test_the_trace_of_real_video_is_that_of_registration(real_video, tmp_path):
    """Along each axis on which registration agrees with itself, with and without a window."""
    found = detect(real_video)
    with MotionTable(tmp_path / "t.csv", found) as table:
        for step in found:
            table.write(step)
    measured = read_trace(tmp_path / "t.csv").translation[1:]
    frames = list(open_movie(real_video, scale=max(1, min(found.movie.shape) // 240)))
    hann = np.outer(*(np.hanning(side) for side in frames[0].shape))
    windowed, whole = (registered(frames, window) for window in (hann, np.ones_like(hann)))
    sure = correlations(windowed, whole) > 0.9
    for shifts in (windowed, whole):
        assert (correlations(measured, shifts)[sure] > 0.9).all()


def resident():
    """Memory of this process [MB]."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def growth(path, out, after):
    """Run detection into a table; return how much memory grows beyond its largest size by frame ``after`` [MB]."""
    found, sizes = detect(path), []
    with MotionTable(out, found) as table:
        for step in found:
            table.write(step)
            sizes.append(resident())
    trace = read_trace(out)
    sizes.append(resident())
    assert len(trace.frame) == found.movie.n_frames_estimate and sum(trace.cut) == 1
    return max(sizes) - max(sizes[:after])


linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


@linux
def test_memory_stays_flat(write_video, make_moving, tmp_path):
    frames = make_moving(30, (1, 0)) * 10
    assert growth(write_video("long.mp4", frames), tmp_path / "t.csv", after=60) < 10


@pytest.mark.slow
@linux
def test_memory_stays_flat_for_ten_minutes_of_video(make_moving, tmp_path):
    av = pytest.importorskip("av")
    minute, path, frames = tmp_path / "minute.mp4", tmp_path / "long.mp4", make_moving(40, (1, 0), (240, 320))
    shown = [av.VideoFrame.from_ndarray(np.kron(f, np.ones((3, 4), np.uint8)), format="gray") for f in frames]
    with av.open(str(minute), "w") as container:
        stream = container.add_stream("libx264", rate=30, options={"preset": "ultrafast"})
        stream.height, stream.width, stream.pix_fmt = 720, 1280, "yuv420p"
        for t in range(1800):
            frame = shown[abs(t % 78 - 39)].reformat(format="yuv420p")
            frame.pts, frame.time_base = t, Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with av.open(str(path), "w") as container:
        for number in range(10):
            with av.open(str(minute)) as source:
                copy = container.streams.video[0] if number else container.add_stream_from_template(source.streams[0])
                for packet in (packet for packet in source.demux(video=0) if packet.size):
                    packet.pts += number * 60 / packet.time_base
                    packet.dts += number * 60 / packet.time_base
                    packet.stream = copy
                    container.mux(packet)
    assert growth(path, tmp_path / "t.csv", after=1800) < 50


def test_a_pipe_is_read_as_it_comes(write_video, make_moving, tmp_path):
    path, pipe = write_video("source.mkv", make_moving()), tmp_path / "pipe"
    getattr(os, "mkfifo", lambda _: pytest.skip("there are no named pipes here"))(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    steps = list(detect(pipe))
    writer.join()
    assert [step.number for step in steps] == list(range(8))
    assert_allclose([step.motion.x for step in steps[1:]], 1, atol=0.15)
