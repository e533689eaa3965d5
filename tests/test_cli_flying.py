"""``flymotion fly`` as a user sees it."""

import json
import os

import numpy as np
import pytest
import xarray as xr

from flymotion import flying
from flymotion.cli import flight
from flymotion.flying import portraits

pytestmark = pytest.mark.filterwarnings("ignore:in .* of the columns:RuntimeWarning")  # one second teaches little

SMALL = ("--eye", "hex", "--radius", "2", "--seconds", "1")
FILES = ["eye.png", "fly.gif", "fly.mp4", "inputs.png", "leanings.png", "responses.nc", "tuning.png"]


@pytest.fixture
def video(write_video):
    """A grating that moves to the right."""
    x = np.arange(96)
    frames = [np.tile(127 + 100 * np.sin((x - 3 * t) / 8), (64, 1)).astype(np.uint8) for t in range(6)]
    return write_video("moving.mp4", frames)


def test_a_video_becomes_responses_figures_and_a_film(run, video, tmp_path, monkeypatch):
    monkeypatch.setattr(portraits, "DT", 0.02)  # coarse, and quick
    status, out, err = run("fly", video, *SMALL, "--fov", "30", "--out", tmp_path / "out")
    assert status == 0, err
    assert sorted(os.listdir(tmp_path / "out")) == FILES
    assert out.startswith("moving.mp4: 6 frames, seen by ") and out.endswith(" frames/s\n") and out.count("\n") == 1
    found = xr.load_dataset(tmp_path / "out" / "responses.nc", engine="scipy")
    assert found.response.shape == (6, 19, 8) and found.attrs["shown"] == "moving.mp4"
    np.testing.assert_allclose(found.time, np.arange(6) / 25)
    seen = np.isfinite(found.light[0])
    assert 5 <= seen.sum() < 19 and 0 <= found.light.where(seen).min() and found.light.max() <= 1
    assert np.isnan(found.response[:, ~seen.values]).all()


def test_a_scene_is_watched_with_a_circuit_that_was_kept(run, noted, tmp_path, monkeypatch):
    monkeypatch.setattr("flymotion.cli.flight._portray", lambda *rest: None)
    arguments = ("fly", *SMALL, "--scene", "edge", "--max-frames", "4", "--model", tmp_path / "fly.model")
    first = run(*arguments, "--out", tmp_path / "a")
    second = run(*arguments, "--out", tmp_path / "b", "--responses", "zarr", "--json")
    assert json.loads(second[1])["frames"] == 4
    assert first[0] == second[0] == 0 and first[2].splitlines()[0] == str(tmp_path / "fly.model")
    assert f"{tmp_path / 'fly.model'}: learned from 50 frames; taken as it is" in second[2]
    one = xr.load_dataset(tmp_path / "a" / "responses.nc", engine="scipy")
    other = xr.open_zarr(tmp_path / "b" / "responses.zarr").load()
    xr.testing.assert_equal(one, other)
    status, _, err = run(*arguments, "--radius", "3", "--out", tmp_path / "c")
    assert status == 2 and "is of another eye than asked for" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nothing.mp4",), "nothing.mp4"),
        (("--eye", "bucner"), "--eye is bucner: No such file or directory; expected buchner, hex or a CSV file"),
        (("--eye", "buchner", "--radius", "3"), "--radius is that of a hexagon; expected --eye hex, not buchner"),
        (("--eye", "hex", "--side", "left"), "--side is that of the measured eyes; expected --eye buchner, not hex"),
        (("--eye", "hex", "--fov", "60"), "--fov is for a video; expected a SOURCE, too"),
        (("--eye", "hex", "--rate", "25"), "--rate is for a video; expected a SOURCE, too"),
        (("--eye", "hex", "--seconds", "nan"), "--seconds is nan; expected a finite number"),
        (("--eye", "hex", "--seconds", "inf"), "Invalid value for '--seconds': inf is not in the range"),
        (("--scene", "sky"), "'sky' is not one of 'panorama', 'flower', 'edge', 'noise'"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(run, tmp_path, arguments, told):
    status, out, err = run("fly", *arguments, "--out", tmp_path / "out")
    assert (status, out) == (2, "") and told in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--fov", "180"), "--fov is 180.0; expected a horizontal angle of view between 0 and 180 degrees"),
        (("--fov", "1"), "no lens sees 1 degrees of it; expected a larger --fov"),
        (("--scene", "edge"), "--scene edge and a video; expected one of the two"),
    ],
)
def test_what_is_wrong_with_a_video_is_told_before_any_work(run, video, tmp_path, arguments, told):
    status, out, err = run("fly", video, *SMALL, *arguments, "--out", tmp_path / "out")
    assert (status, out) == (2, "") and told in err and err.count("\n") == 1


def test_a_kind_of_file_that_cannot_be_written_is_told_before_any_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr(flight, "find_spec", lambda name: None)
    status, out, err = run("fly", *SMALL, "--responses", "zarr", "--out", tmp_path / "out")
    assert (status, out) == (2, "") and "--responses is zarr, which is not installed; pip install zarr" in err


def test_a_video_that_is_not_watched_to_its_end_is_said_to_be(run, video, tmp_path, monkeypatch):
    monkeypatch.setattr(flight, "_portray", lambda *rest: None)
    options = ("--fov", "30", "--max-frames", "4", "--out", tmp_path / "out")
    status, out, err = run("fly", video, *SMALL, *options)
    assert status == 0 and out.startswith("moving.mp4: the first 4 of 6 frames, seen by "), err


def test_what_was_finished_is_kept(run, tmp_path, monkeypatch):
    def interrupted(*rest, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("flymotion.cli.flight._portray", lambda *rest: None)
    monkeypatch.setattr(flying, "write_film", interrupted)
    status, _, err = run("fly", *SMALL, "--max-frames", "4", "--out", tmp_path / "out")
    assert status == 130 and f"1 of 7 files were finished: {tmp_path / 'out'}" in err
    assert os.listdir(tmp_path / "out") == ["responses.nc"]


def test_scenes_that_are_offered_are_those_there_are():
    assert tuple(flying.SHOWN) == flight.SCENES
