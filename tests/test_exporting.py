"""Detectors as an ONNX graph: what it gives in onnxruntime is what the field gives, borders too."""

import json

import numpy as np
import pytest
from kept_models import MODELS, video
from scipy.ndimage import gaussian_filter

from flymotion import Grid, MotionField, MotionLearner, SmoothNoise, Translation, export_onnx, sample_pairs
from flymotion.keeping import save
from flymotion.video.viewing import view

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def plain():
    """Four directions in patches of an even side."""
    scene = SmoothNoise(2.0, ndim=2, period=64.0, random_state=0)
    pairs = sample_pairs(scene, Grid(4, 4, sigma=0.6), Translation(0.3), 4_000, random_state=0)
    return MotionLearner(4, patch=4, warm_up=1_000).fit(pairs)


@pytest.fixture(scope="module")
def of_video():
    """Directions of frames that are reduced by four, and blurred."""
    learner = MotionLearner(vision="video", patch=3, patches_per_pair=40, random_state=0)
    texture = 100 * gaussian_filter(np.random.default_rng(0).normal(size=(60, 200)), 2.0)
    return learner.fit(np.stack([texture[:, 2 * t : 2 * t + 80] for t in range(60)]))


@pytest.fixture
def pair():
    """Two frames of a size, in grey levels, of texture that moves, with noise."""

    def make(height, width, seed=0):
        rng = np.random.default_rng(seed)
        texture = 130 + 800 * gaussian_filter(rng.normal(size=(height, width + 2)), 1.5)
        noise = rng.normal(0, 1, (2, height, width))
        moving = np.stack([texture[:, 1:-1], texture[:, :-2]])
        return np.round(moving + noise).astype(np.float32)

    return make


def answers(path, before, after):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["directions", "opponent"], {"before": before, "after": after}), session.get_modelmeta()


def assert_same(found, field):
    for given, ours in zip(found, (field.directions, field.opponent), strict=True):
        assert given.dtype == np.float32 and given.shape == ours.shape
        np.testing.assert_allclose(given, ours, rtol=0, atol=1e-5 * np.abs(ours).max())


@pytest.mark.parametrize("size", [(40, 61), (23, 9), (4, 4)])
def test_responses_are_those_of_the_field(plain, pair, tmp_path, size):
    before, after = pair(*size)
    found, _ = answers(export_onnx(plain, tmp_path / "new" / "four.onnx"), before, after)
    field = MotionField(plain.generators_, exact=True, outputs=("directions", "opponent")).between(before, after)
    assert_same(found, field)
    border = np.ones(size, bool)
    border[2 : size[0] - 1, 2 : size[1] - 1] = False
    assert not found[0][:, border].any() and found[0][:, ~border].any()


@pytest.mark.parametrize("how", [True, False], ids=["frames of the video", "frames as it saw them"])
def test_frames_are_looked_at_as_the_learner_did(of_video, pair, tmp_path, how):
    given = pair(67, 90)
    assert of_video.scale_ == 4
    seen = view(given, of_video.scale_)
    found, about = answers(export_onnx(of_video, tmp_path / "a.onnx", view=how), *(given if how else seen))
    field = MotionField(of_video.generators_, exact=True, outputs=("directions", "opponent")).between(*seen)
    assert_same(found, field)
    assert about.custom_metadata_map["reduced_by"] == str(of_video.scale_ if how else 1)


def test_metadata_tell_directions_labels_and_units(plain, tmp_path):
    path = export_onnx(save(plain, tmp_path / "model"), tmp_path / "four.onnx")
    about = {each.key: each.value for each in onnx.load(path).metadata_props}
    field = MotionField(plain.generators_)
    np.testing.assert_allclose(json.loads(about["angles_deg"]), field.angles, atol=1e-3)
    np.testing.assert_allclose(json.loads(about["directions_deg"]), plain.directions_, atol=1e-3)
    assert json.loads(about["labels"]) == plain.labels_
    assert (about["patch_pixels"], about["flymotion_version"]) == ("4", "0.1.0")
    assert "squared units" in about["units"]


def test_the_same_model_gives_the_same_file(plain, tmp_path):
    first, second = (export_onnx(plain, tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == second


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NSM", "holds a NonnegativeSimilarityMatching; expected a MotionLearner"),
        ("a learner of one frame", "has not seen enough to have detectors"),
        ("a learner", "expected square patches of frames"),
    ],
)
def test_what_has_no_field_is_refused(run, tmp_path, name, words):
    path = save(MODELS[name](), tmp_path / "model")
    status, out, err = run("export", path, "--onnx", tmp_path / "new" / "a.onnx")
    assert (status, out) == (2, "") and err.startswith(f"Error: {path}: ") and words in err and err.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_without_onnx_it_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setattr("flymotion.keeping.onnx_graph.find_spec", lambda name: None)
    status, out, err = run("export", tmp_path / "model", "--onnx", tmp_path / "a.onnx")
    assert (status, out, err) == (2, "", "Error: the package onnx is not installed; pip install onnx\n")


def test_the_command_writes_the_graph(run, noted, tmp_path):
    path = save(video(100, finished=True), tmp_path / "model")
    status, out, err = run("export", path, "--onnx", tmp_path / "a.onnx")
    assert (status, out, err) == (0, "", f"{tmp_path / 'a.onnx'}\n")
    status, _, err = run("export", path, "--onnx", path)
    assert status == 2 and "is read from" in err
