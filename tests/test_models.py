"""Model files: learning goes on from them to the bit, writing never spoils one, and reading runs no code."""

import io
import json
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.ndimage import gaussian_filter, shift

from flymotion.frames import FramePairs, pair_up
from flymotion.learner import ModelError, MotionLearner, load, save, saving
from flymotion.learner.saving import FORMAT


@pytest.fixture
def make_learner():
    """A learner whose own warm-up ends after 21 frames of 5 pixels, and that of its network after 501."""

    def make(n_components=2, **how):
        return MotionLearner(n_components, **{"warm_up": 20, "patches_per_pair": 30, "random_state": 0} | how)

    return make


@pytest.fixture
def make_movie():
    """Random frames, shape (n_frames, *shape)."""
    return lambda n_frames=40, shape=(5,): np.random.default_rng(0).normal(size=(n_frames, *shape))


@pytest.fixture
def write_model(make_learner, make_movie, tmp_path):
    """Save a small learner and return the path."""
    return lambda name="model.npz": save(make_learner().fit(make_movie()), tmp_path / name)


@pytest.fixture
def content(tmp_path):
    """All that is saved of a learner, as bytes; equal for equal states."""
    return lambda learner: save(learner, tmp_path / "content").read_bytes()


@pytest.fixture
def assert_refused(tmp_path):
    """Write bytes to a file and check that loading it fails in one line that names it."""

    def check(content, reason):
        path = tmp_path / "broken.npz"
        path.write_bytes(content)
        with pytest.raises(ModelError) as error:
            load(path)
        assert str(error.value).startswith(f"{path}: {reason}")
        assert "\n" not in str(error.value)

    return check


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def header_of(content):
    return json.loads(np.load(io.BytesIO(content))["header"].tobytes())


def as_first_written(path):
    """Rewrite a file as those of the first version were, which held less, most of all of video."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays.pop("header").tobytes())
    feature, patch = header.pop("feature"), header.pop("vision")["patch"]
    header["params"] |= {"feature": feature, "patch": patch}
    header["params"].pop("vision")
    header["params"] |= {} if header["scale"] is None else {"half_saturation": 0.0}
    for name in {"n_patches", "warm_up", "streams", "cuts", "n_shown"} & header.keys():
        header.pop(name)
    arrays |= {"kept": arrays.get("kept", arrays.get("held_out0"))}
    later = {"looked0", "held_out0", "contrast0", "last0"}
    header["names"] = header.get("names")
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, header=text, **{name: array for name, array in arrays.items() if name not in later})
    return path


# Going on


STAGES = {"one frame": 1, "its warm-up": 10, "its network's warm-up": 100, "the end": 600}


@pytest.mark.parametrize(
    "dtype, how",
    [(np.float64, {}), (np.float32, {"forgetting": 0.99}), (np.float64, {"feature": "antisymmetric", "n_passes": 2})],
)
@pytest.mark.parametrize("seen", STAGES.values(), ids=STAGES)
def test_saving_and_loading_change_nothing_of_what_is_learned_next(
    make_learner, make_movie, content, tmp_path, seen, how, dtype
):
    movie = make_movie(700).astype(dtype)
    learner = make_learner(**how).partial_fit(movie[:seen])
    loaded = load(save(learner, tmp_path / "model"))
    assert content(loaded) == content(learner)
    for each in (learner, loaded):
        each.partial_fit(movie[seen:650]).cut().partial_fit(movie[650:]).finish()
    assert content(loaded) == content(learner)
    assert_array_equal(loaded.network_.S_, learner.network_.S_)
    assert_array_equal(loaded.network_.R_, learner.network_.R_)
    assert_array_equal(loaded.predict(movie), learner.predict(movie))
    assert loaded.labels_ == learner.labels_
    assert loaded.network_.n_samples_seen_ == 698


@pytest.mark.parametrize("seen", [3, 20])
def test_patches_go_on_where_they_were(make_learner, make_movie, content, tmp_path, seen):
    movie = make_movie(40, (9, 11))
    learner = make_learner(4, patch=4, warm_up=200, random_state=None).partial_fit(movie[:seen])
    loaded = load(save(learner, tmp_path / "model"))
    for each in (learner, loaded):
        each.partial_fit(movie[seen:]).finish()
    assert content(loaded) == content(learner)
    assert_array_equal(loaded.transform(movie), learner.transform(movie))
    assert_array_equal(loaded.gain_, learner.gain_)


@pytest.mark.parametrize("seen", [10, 100])
def test_known_motion_is_kept(make_learner, make_movie, content, tmp_path, seen):
    pairs = pair_up(make_movie(150))
    pairs = FramePairs(pairs.before, pairs.after, np.random.default_rng(1).normal(size=(149, 1)))
    learner = make_learner().partial_fit(pairs[:seen])
    loaded = load(save(learner, tmp_path / "model"))
    for each in (learner, loaded):
        each.partial_fit(pairs[seen:]).finish()
    assert content(loaded) == content(learner)
    assert_array_equal(loaded.directions_, learner.directions_)


@pytest.mark.parametrize("seen", [1, 10, 100, 600])
def test_the_first_files_go_on_to_the_bit(make_learner, make_movie, tmp_path, seen):
    movie = make_movie(700)
    path = tmp_path / "model.npz"
    learner = make_learner().partial_fit(movie[:seen])
    save(learner, path)
    loaded = load(as_first_written(path))
    for each in (learner, loaded):
        each.partial_fit(movie[seen:]).finish()
    assert_array_equal(loaded.network_.S_, learner.network_.S_)
    assert_array_equal(loaded.gain_, learner.gain_)


def test_the_first_files_of_video_answer_and_do_not_go_on(tmp_path):
    noise = np.random.default_rng(0).standard_normal((40, 80))
    movie = 20 * np.stack([shift(gaussian_filter(noise, 2), (0, 0.4 * t)) for t in range(40)])[:, :, 20:-5]
    learner = MotionLearner(vision="video", patch=5, random_state=0).fit(movie)
    loaded = load(as_first_written(save(learner, tmp_path / "model.npz")))
    assert (loaded.vision, loaded.scale_, loaded.n_pairs_seen_) == ("video", learner.scale_, 39)
    assert loaded.labels_ == learner.labels_
    assert_array_equal(loaded.gain_, learner.gain_)
    assert_array_equal(loaded.predict(movie), learner.predict(movie))
    with pytest.raises(ValueError, match="does not hold what learning from video goes on from; learn anew"):
        loaded.partial_fit(movie)


STATES = [(5, 5), (np.int64(5), 5), (None, None), (np.random.default_rng(5), None), (np.random.RandomState(5), None)]


@pytest.mark.parametrize("state, kept", STATES)
def test_parameters_come_back(make_learner, make_movie, tmp_path, state, kept):
    """All but a generator, whose seed for this learner has been drawn."""
    how = {"patch": np.int32(3), "half_saturation": np.float64(0.5), "feature": "change", "random_state": state}
    learner = make_learner(np.int64(2), **how).fit(make_movie())
    loaded = load(save(learner, tmp_path / "model"))
    assert loaded.get_params() == learner.get_params() | {"random_state": kept}
    assert loaded.state_.seed == learner.state_.seed


def test_files_hold_plain_arrays_and_a_json_header_alone(write_model):
    content = write_model().read_bytes()
    arrays = np.load(io.BytesIO(content), allow_pickle=False)
    assert {arrays[name].dtype.kind for name in arrays.files} <= {"f", "u"}
    assert header_of(content)["format"] == FORMAT


# Writing


@pytest.mark.parametrize("name", ["m", "m.v1", "m.npz", "m.pkl", "my model.npz", "modèle été.npz", "模型", "a" * 200])
def test_the_path_is_taken_as_it_is(write_model, tmp_path, name):
    assert write_model(name) == tmp_path / name
    assert os.listdir(tmp_path) == [name]
    assert load(str(tmp_path / name)).n_pairs_seen_ == 39


def test_folders_with_spaces_and_accents(make_learner, make_movie, tmp_path):
    folder = tmp_path / "dossier d'été"
    folder.mkdir()
    assert load(save(make_learner().fit(make_movie()), str(folder / "m"))).n_pairs_seen_ == 39


def test_a_loaded_model_can_be_saved_over_its_file(make_movie, write_model):
    path = write_model()
    save(load(path).partial_fit(make_movie()), path)
    assert load(path).n_pairs_seen_ == 78


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(
    make_learner, make_movie, write_model, monkeypatch, error
):
    path = write_model()
    old = path.read_bytes()

    def interrupted(file, **arrays):
        file.write(b"half of a model")
        raise error

    monkeypatch.setattr(saving.np, "savez", interrupted)
    with pytest.raises((type(error), ModelError)):
        save(make_learner().fit(make_movie()), path)
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


def test_others_may_read_the_file_as_any_other(write_model, tmp_path):
    (tmp_path / "other").touch()
    assert write_model().stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("place, reason", [("missing/m", "No such file"), (".", "directory"), ("file/m", "directory")])
def test_a_path_that_cannot_be_written_is_named(make_learner, make_movie, tmp_path, place, reason):
    (tmp_path / "file").touch()
    path = tmp_path / place
    with pytest.raises(ModelError, match=rf"{path}: cannot be written \(.*{reason}.*\)"):
        save(make_learner().fit(make_movie()), path)
    assert os.listdir(tmp_path) == ["file"]


def test_a_learner_that_has_seen_nothing_is_refused(make_learner, tmp_path):
    with pytest.raises(ModelError, match=r"m: the learner has seen no frames; fit it before saving"):
        save(make_learner(), tmp_path / "m")


def test_parameters_that_json_cannot_hold_are_refused(make_learner, make_movie, tmp_path):
    learner = make_learner(half_saturation=Fraction(1, 2)).fit(make_movie())
    with pytest.raises(ModelError, match=r"m: parameters must be numbers, text or None \(not Fraction\)"):
        save(learner, tmp_path / "m")
    assert os.listdir(tmp_path) == []


# Reading


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelError, match=rf"^{tmp_path / 'm'}: no such file$"):
        load(tmp_path / "m")


def test_a_folder_is_not_a_model(tmp_path):
    with pytest.raises(ModelError, match="not a flymotion model"):
        load(tmp_path)


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(write_model, assert_refused, share):
    content = write_model().read_bytes()
    assert_refused(content[: int(share * len(content))], "not a flymotion model, or a truncated one")


@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_file_is_refused(write_model, assert_refused, seed):
    content = bytearray(write_model().read_bytes())
    start = np.random.default_rng(seed).integers(len(content) - 200)
    content[start : start + 200] = bytes(200)
    assert_refused(content, "not a flymotion model, or a truncated one")


OTHERS = {
    "text": b"not a model at all\n",
    "noise": np.random.default_rng(0).bytes(1000),
    "a video's start": b"\x00\x00\x00\x20ftypisom" + bytes(500),
    "no header": npz(S=np.zeros(3)),
    "a header that is no JSON": npz(header=np.frombuffer(b"{format: 1", dtype=np.uint8)),
    "a header that is no dict": npz(header=np.frombuffer(b"[1]", dtype=np.uint8)),
    "a header without a format": npz(header=np.frombuffer(b"{}", dtype=np.uint8)),
    "a header without parameters": npz(header=np.frombuffer(b'{"format": 1}', dtype=np.uint8)),
    "an object": npz(header=np.array([{}], dtype=object)),
}


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS)
def test_other_files_are_not_models(assert_refused, content):
    assert_refused(content, "not a flymotion model")


class Trap:
    """What a malicious file does when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("disguise", [pickle.dumps, lambda trap: npz(header=np.array([trap], dtype=object))])
def test_nothing_in_a_file_is_run(assert_refused, tmp_path, disguise):
    assert_refused(disguise(Trap(tmp_path / "sprung")), "not a flymotion model")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("version", [FORMAT + 1, 0, "2.0"])
def test_another_format_is_named(assert_refused, version):
    header = json.dumps({"format": version, "params": {}}).encode()
    reason = f"format {version!r}; this flymotion reads format {FORMAT}"
    assert_refused(npz(header=np.frombuffer(header, dtype=np.uint8)), reason)
