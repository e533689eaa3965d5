"""The motion lab's commands: lists, tuning of a detector or a model, detectors side by side."""

import shutil

import numpy as np
import pytest
import xarray as xr

from flymotion import MotionLearner
from flymotion.claims.running import in_turn
from flymotion.detectors import DETECTORS
from flymotion.keeping import saving
from flymotion.stimuli import STIMULI
from flymotion.tuning import EXPERIMENTS


@pytest.fixture
def model(make_noise_pairs, tmp_path):
    """A file with a learner of one-dimensional motion."""
    learner = MotionLearner(n_components=2, warm_up=1000).fit(make_noise_pairs(3000))
    return saving.save(learner, tmp_path / "line.npz")


def test_detectors_are_listed_with_parameters_and_sources(run):
    status, out, _ = run("detectors")
    assert status == 0
    assert [name for name in DETECTORS if name not in out] == []
    assert "Zavatone-Veth" in out and "LowPass(0.15)" in out


def test_stimuli_are_listed_with_parameters(run):
    status, out, _ = run("stimuli")
    assert status == 0
    assert [name for name in STIMULI if name not in out] == []
    assert "temporal_frequency 1" in out


def test_tune_writes_responses_and_a_figure(run, tmp_path):
    status, out, _ = run("tune", "hrd", "--experiment", "contrast", "--out", tmp_path / "out")
    assert status == 0
    assert (tmp_path / "out" / "hrd-contrast.png").stat().st_size > 10_000
    response = xr.load_dataset(tmp_path / "out" / "hrd-contrast.nc", engine="scipy").response.sel(motion="preferred")
    slope = np.polyfit(np.log(response.contrast), np.log(response), 1)[0]
    assert abs(slope - 2) < 1e-6
    assert out == ""


def test_tune_takes_a_model(run, model, tmp_path):
    status, _, err = run("tune", model, "--experiment", "direction", "--out", tmp_path)
    assert status == 0, err
    directions = xr.load_dataset(tmp_path / "line-direction.nc", engine="scipy").response
    assert directions.sizes["unit"] == 2


def test_tune_compares_with_a_recording(run, tmp_path):
    recording = tmp_path / "cells.csv"
    recording.write_text("direction_deg,cell\n0,1\n90,0.1\n180,0\n270,0.1\n")
    status, out, _ = run("tune", "hrd", "--experiment", "contrast", "--recording", recording, "--out", tmp_path)
    assert status == 0
    assert "correlation" in out and "raw" in out and (tmp_path / "hrd-recording.png").exists()


def test_compare_prints_a_table_and_writes_a_sheet(run, model, tmp_path):
    status, out, _ = run("compare", "hrd", "barlow-levick", model, "--out", tmp_path)
    assert status == 0
    assert all(word in out for word in ("hrd", "barlow-levick", "line 0°", "line 180°", "DSI"))
    assert (tmp_path / "compare.png").stat().st_size > 10_000
    rows = (tmp_path / "compare.csv").read_text(encoding="utf-8").splitlines()
    assert [row.partition(",")[0] for row in rows] == ["detector", "hrd", "barlow-levick", *rows_of(out, "line")]


def rows_of(printed, name):
    """First columns of the rows of a printed table that begin with a name."""
    return [line.strip().partition("  ")[0] for line in printed.splitlines() if line.strip().startswith(name)]


def test_models_of_one_name_are_told_apart(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("flymotion.claims.running.on_cores", lambda n_jobs: in_turn)
    other = tmp_path / "other" / model.name
    other.parent.mkdir()
    shutil.copy(model, other)
    _, out, _ = run("compare", model, other, "--out", tmp_path)
    assert len(rows_of(out, str(tmp_path))) == 4


def test_help_lists_the_experiments(run):
    _, out, _ = run("tune", "--help")
    assert [name for name in EXPERIMENTS if name not in " ".join(out.split()).replace("- ", "-")] == []


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["tune", "no-such"], "no detector or file 'no-such'"),
        (["tune", "hrd", "--experiment", "no-such"], "no experiment 'no-such'"),
        (["tune", "hrd", "--experiment", "contrast", "--recording", "no-such.csv"], "no-such.csv"),
        (["compare", "hrd", "no-such"], "no detector or file 'no-such'"),
    ],
)
def test_what_is_wrong_is_one_line_and_status_2(run, tmp_path, arguments, message):
    status, _, err = run(*arguments, "--out", tmp_path)
    assert status == 2
    assert message in err and err.count("\n") == 1


def test_a_file_that_is_no_model_is_one_line_and_status_2(run, tmp_path):
    path = tmp_path / "not a model.npz"
    path.write_text("text")
    status, _, err = run("tune", path)
    assert status == 2
    assert "not a model.npz" in err and err.count("\n") == 1
