"""Model files: learning goes on from them to the bit, writing never spoils one, and reading runs no code."""

import copy
import json
import os
import pickle
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import joblib
import numpy as np
import pytest
import safetensors.numpy
from click.testing import CliRunner
from kept_models import GOING_ON, MODELS, answers, frames, go_on, plain, street, video
from numpy.testing import assert_array_equal

import flymotion
from flymotion import Generators, Hexagon, Line, MotionLearner, SensorNoise, SimilarityMatching, T4T5Circuit
from flymotion.cli import main
from flymotion.keeping import FORMAT, KINDS, ModelError, load, save, saving

SOURCE = Path(flymotion.__file__).parents[1]


@pytest.fixture
def make_learner():
    """A learner whose own warm-up ends after 21 frames of 5 pixels, and that of its network after 501."""

    def make(n_components=2, **how):
        return MotionLearner(n_components, **{"warm_up": 20, "patches_per_pair": 30, "random_state": 0} | how)

    return make


@pytest.fixture
def write_model(make_learner, tmp_path):
    """Save a small learner and return the path."""
    return lambda name="model": save(make_learner().fit(frames(40)), tmp_path / name)


@pytest.fixture
def content(tmp_path):
    """All that is saved of a model, as bytes; equal for equal states."""
    return lambda model: save(model, tmp_path / "content").read_bytes()


@pytest.fixture
def assert_refused(tmp_path):
    """Write bytes to a file and check that loading it fails in one line that names it."""

    def check(content, reason):
        path = tmp_path / "broken"
        path.write_bytes(content)
        with pytest.raises(ModelError) as error:
            load(path)
        assert str(error.value).startswith(f"{path}: {reason}")
        assert "\n" not in str(error.value)

    return check


# Going on


STAGES = {"one frame": 1, "its warm-up": 10, "its network's warm-up": 100, "the end": 600}


@pytest.mark.case("B14")
@pytest.mark.parametrize(
    "dtype, how",
    [(np.float64, {}), (np.float32, {"forgetting": 0.99}), (np.float64, {"feature": "antisymmetric", "n_passes": 2})],
)
@pytest.mark.parametrize("seen", STAGES.values(), ids=STAGES)
def test_saving_and_loading_change_nothing_of_what_is_learned_next(make_learner, content, tmp_path, seen, how, dtype):
    movie = frames(700).astype(dtype)
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


@pytest.mark.case("B14")
def test_a_stream_that_was_saved_halfway_is_what_fit_learns(make_learner, tmp_path):
    movie = frames(700)
    halfway = make_learner().partial_fit(movie[:500])
    loaded = load(save(halfway, tmp_path / "model")).partial_fit(movie[500:]).finish()
    np.testing.assert_allclose(loaded.network_.W_, make_learner().fit(movie).network_.W_, rtol=0, atol=1e-10)


@pytest.mark.case("B14")
@pytest.mark.parametrize("name", GOING_ON)
def test_every_model_goes_on_to_the_bit_from_every_point(content, tmp_path, name):
    model = GOING_ON[name]()
    loaded = load(save(model, tmp_path / "model"))
    assert content(go_on(name, loaded)) == content(go_on(name, model))


@pytest.mark.parametrize("name", ["a learner", "a learner whose network is warming up", "NSM", "SM of vectors"])
def test_pickles_and_copies_go_on_as_files_do(content, tmp_path, name):
    model = GOING_ON[name]()
    joblib.dump(model, tmp_path / "model.joblib")
    others = [joblib.load(tmp_path / "model.joblib"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    expected = content(go_on(name, model))
    assert [content(go_on(name, other)) == expected for other in others] == [True] * len(others)


@pytest.mark.case("B14")
@pytest.mark.parametrize("seen", [1, 40, 65])
def test_video_goes_on_to_the_bit_between_videos(content, tmp_path, seen):
    first = street(100)
    learner = MotionLearner(vision="video", patch=3, patches_per_pair=20, random_state=0).partial_fit(first[:seen])
    loaded = load(save(learner, tmp_path / "model"))
    for each in (learner, loaded):
        each.partial_fit(first[seen:]).cut().partial_fit(first[:20]).finish()
    assert content(loaded) == content(learner)
    assert loaded.labels_ == learner.labels_
    assert_array_equal(loaded.gain_, learner.gain_)


def test_noise_goes_on_where_it_was(tmp_path):
    noise = SensorNoise(0.1, random_state=0).fit(frames(3))
    noise.transform(frames(3))
    loaded = load(save(noise, tmp_path / "model"))
    assert_array_equal(loaded.transform(frames(7)), noise.transform(frames(7)))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back_as_it_was(content, tmp_path, name):
    model = MODELS[name]()
    loaded = load(save(model, tmp_path / "model"))
    assert type(loaded) is type(model)
    assert content(loaded) == content(model)
    for one, other in zip(answers(loaded), answers(model), strict=True):
        assert_array_equal(one, other)


def test_there_is_a_model_of_every_kind_here():
    assert {type(make()) for make in MODELS.values()} == set(KINDS.values())


def test_tensors_come_back_as_numpy_arrays(tmp_path):
    torch = pytest.importorskip("torch")
    X = frames(60).astype(np.float32)
    of_numpy = SimilarityMatching(2, warm_up=30).fit(X)
    of_torch = SimilarityMatching(2, warm_up=30).fit(torch.asarray(X))
    loaded = load(save(of_torch, tmp_path / "model"))
    assert loaded.S_.dtype == np.float64
    np.testing.assert_allclose(loaded.partial_fit(X).components_, of_numpy.partial_fit(X).components_, atol=1e-4)
    waiting = SimilarityMatching(2, warm_up=30).partial_fit(torch.asarray(X[:20]))
    assert_array_equal(load(save(waiting, tmp_path / "model")).S_, waiting.S_)


def test_names_of_features_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(frames(60), columns=list("abcde"))
    loaded = load(save(SimilarityMatching(2, warm_up=30).fit(X), tmp_path / "model"))
    assert loaded.feature_names_in_.tolist() == list("abcde")
    assert loaded.partial_fit(X).transform(X).shape == (60, 2)


STATES = [
    (5, 5),
    (np.int64(5), 5),
    (2**100, 2**100),
    (None, None),
    (np.random.default_rng(5), None),
    (np.random.RandomState(5), None),
]


@pytest.mark.parametrize("state, kept", STATES)
def test_parameters_come_back(make_learner, tmp_path, state, kept):
    """All but a generator, whose seed for this learner has been drawn."""
    how = {"patch": np.int32(3), "half_saturation": np.float64(0.5), "feature": "change", "random_state": state}
    learner = make_learner(np.int64(2), **how).fit(frames(40))
    loaded = load(save(learner, tmp_path / "model"))
    assert loaded.get_params() == learner.get_params() | {"random_state": kept}
    assert loaded.state_.seed == learner.state_.seed


# The file


def test_files_are_safetensors_with_a_header_of_json(write_model):
    path = write_model()
    arrays = safetensors.numpy.load_file(path)
    assert {array.dtype.kind for array in arrays.values()} == {"f"}
    with safetensors.safe_open(path, "numpy") as file:
        header = json.loads(file.metadata()["flymotion"])
    assert (header["format"], header["kind"], header["flymotion"]) == (FORMAT, "MotionLearner", flymotion.__version__)
    assert header["numbers"]["parameters"]["warm_up"] == 20


def test_the_same_model_is_the_same_file(write_model):
    assert write_model("a").read_bytes() == write_model("b").read_bytes()


def test_save_and_load_are_at_the_front():
    assert (flymotion.save, flymotion.load, flymotion.ModelError) == (save, load, ModelError)


# Writing


@pytest.mark.case("B36")
@pytest.mark.parametrize("name", ["m", "m.v1", "m.npz", "m.pkl", "my model.npz", "modèle été.npz", "模型", "a" * 200])
def test_the_path_is_taken_as_it_is(write_model, tmp_path, name):
    assert write_model(name) == tmp_path / name
    assert os.listdir(tmp_path) == [name]
    assert load(str(tmp_path / name)).n_pairs_seen_ == 39


@pytest.mark.case("B36")
def test_folders_are_made_with_spaces_and_accents(make_learner, tmp_path):
    folder = tmp_path / "dossier d'été"
    assert load(save(make_learner().fit(frames(40)), str(folder / "m"))).n_pairs_seen_ == 39


@pytest.mark.case("B36")
def test_a_loaded_model_can_be_saved_over_its_file(write_model):
    path = write_model()
    save(load(path).partial_fit(frames(40)), path)
    assert load(path).n_pairs_seen_ == 78


@pytest.mark.case("B36")
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(make_learner, write_model, monkeypatch, error):
    path = write_model()
    old = path.read_bytes()

    def interrupted(place, content):
        with place.open("wb") as file:
            file.write(content[:100])
        raise error

    monkeypatch.setattr(type(path), "write_bytes", interrupted)
    with pytest.raises((type(error), ModelError)):
        save(make_learner().fit(frames(40)), path)
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


def test_what_cannot_be_read_again_takes_the_place_of_nothing(make_learner, write_model):
    """Whatever the reason: here the parameters no longer are those of what was learned."""
    path = write_model()
    old, learner = path.read_bytes(), make_learner().fit(frames(40))
    learner.n_components = 3
    with pytest.raises(ModelError, match=r"model: .*n_components is 3, but this MotionLearner has learned with 2"):
        save(learner, path)
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]


def test_a_circuit_of_cells_that_never_were_is_not_kept(tmp_path):
    circuit = MODELS["a circuit"]()
    circuit.networks_[1].R[0, 0, 3] = 0
    with pytest.raises(ModelError, match=r"m: .*R_T5 is 0 somewhere on its diagonal; expected sums of squared outputs"):
        save(circuit, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_others_may_read_the_file_as_any_other(write_model, tmp_path):
    (tmp_path / "other").touch()
    assert write_model().stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("place, reason", [(".", "is a folder"), ("file/m", r"cannot be written \(Not a directory\)")])
def test_a_path_that_cannot_be_written_is_named(make_learner, tmp_path, place, reason):
    (tmp_path / "file").touch()
    path = tmp_path / place
    with pytest.raises(ModelError, match=rf"{path}: {reason}"):
        save(make_learner().fit(frames(40)), path)
    assert os.listdir(tmp_path) == ["file"]


def test_a_learner_that_has_seen_nothing_is_refused(make_learner, tmp_path):
    with pytest.raises(ModelError, match=r"m: the learner has seen no frames; fit it before saving"):
        save(make_learner(), tmp_path / "m")


BLANK = {"Generators": lambda: Line(3), "Operators": dict, "T4T5Circuit": lambda: T4T5Circuit(Hexagon(1))}
"""In place of kinds that are not made of nothing."""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_has_learned_nothing_is_refused(tmp_path, kind):
    blank = BLANK.get(kind, KINDS[kind])
    with pytest.raises((ModelError, TypeError), match=r"m: .*(fit|cannot be kept|seen no)"):
        save(blank(), tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_eyes_of_other_kinds_are_refused(tmp_path):
    class OwnEye(Line):
        pass

    with pytest.raises(ModelError, match=r"m: eye\.kind is 'OwnEye'; expected one of Line, Grid, Hexagon, Sphere"):
        save(Generators(np.zeros((1, 3, 3)), OwnEye(3)), tmp_path / "m")
    with pytest.raises(ModelError, match=r"m: eye is a Own, which cannot be kept"):
        save(Generators(np.zeros((1, 3, 3)), Own()), tmp_path / "m")
    assert os.listdir(tmp_path) == []


class Own:
    """An eye that does not pack itself."""

    shape = (3,)


@pytest.mark.case("B37")
def test_parameters_that_json_cannot_hold_are_refused(tmp_path):
    learner = MotionLearner(2, half_saturation=Fraction(1, 2)).partial_fit(frames(40))
    with pytest.raises(ModelError, match=r"m: .*not Fraction"):
        save(learner, tmp_path / "m")
    network = SimilarityMatching(1).fit(np.eye(9)).set_params(init_strength=float("inf"))
    with pytest.raises(ModelError, match=r"m: .*Out of range float"):
        save(network, tmp_path / "m")
    assert os.listdir(tmp_path) == []


@pytest.mark.case("B37")
def test_a_schedule_is_no_forgetting(make_learner, tmp_path):
    learner = make_learner().partial_fit(frames(40)).set_params(forgetting=lambda t: 1 / (t + 5))
    with pytest.raises(ModelError, match=r"m: forgetting is <function .*; expected a factor in \(0, 1\]"):
        save(learner, tmp_path / "m")
    assert os.listdir(tmp_path) == []


SAVING = """
import os, signal, sys, time
import numpy as np
from flymotion.keeping import load, save

old, new, path, n = load(sys.argv[1]), load(sys.argv[2]), sys.argv[3], int(sys.argv[4])
rng = np.random.default_rng(0)
for _ in range(n):
    child = os.fork()
    while child == 0:
        save(new, path)
        save(old, path)
    time.sleep(rng.uniform(0, 0.06))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    print(load(path).vision, flush=True)
"""
"""Saves two models in turns over one file, in a process that is killed at a random moment, n times."""


@pytest.mark.case("B36")
@pytest.mark.parametrize("n, n_kinds", [(10, 1), pytest.param(200, 2, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path, n, n_kinds):
    old, new, path = (save(make(), tmp_path / name) for make, name in KEPT)
    arguments = [sys.executable, "-c", SAVING, old, new, path, str(n)]
    env = os.environ | {"PYTHONPATH": str(SOURCE)}
    done = subprocess.run(arguments, env=env, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    left = done.stdout.split()
    assert len(left) == n and {*left} <= {"plain", "video"}
    assert len({*left}) >= n_kinds  # that both were found is chance, but for many kills
    assert path.read_bytes() in (old.read_bytes(), new.read_bytes())


KEPT = [(lambda: plain(600), "old"), (lambda: video(70), "new"), (lambda: plain(600), "model")]


@pytest.mark.parametrize("n", [10, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_paths", [1, 4])
def test_four_threads_may_save_at_once(tmp_path, n, n_paths):
    models = [plain(600), plain(60), video(20), MODELS["NSM"]()]
    whole = [save(model, tmp_path / "whole").read_bytes() for model in models]
    (tmp_path / "whole").unlink()
    paths = [tmp_path / f"model {k % n_paths}" for k in range(4)]
    failed = []

    def work(k):
        try:
            for _ in range(n):
                save(models[k], paths[k])
                load(paths[k])
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(os.listdir(tmp_path)) == sorted({path.name for path in paths})
    assert all(path.read_bytes() in whole for path in paths)
    assert len({path.read_bytes() for path in paths}) == n_paths


# Reading


@pytest.mark.case("B36")
def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelError, match=rf"^{tmp_path / 'm'}: no such file$"):
        load(tmp_path / "m")


def test_a_folder_or_a_pipe_is_not_a_model(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ModelError, match="not a flymotion model"):
            load(path)


def test_where_a_learner_is_expected_other_models_are_refused(tmp_path):
    path = save(MODELS["NSM"](), tmp_path / "model")
    reason = rf"{path}: holds a NonnegativeSimilarityMatching; expected a MotionLearner"
    with pytest.raises(ModelError, match=reason):
        flymotion.detect(street(3), model=path)
    for command in ("tune", "compare"):
        done = CliRunner().invoke(main, [command, str(path), "--out", str(tmp_path / "out")])
        assert done.exit_code == 2
        assert done.stderr == f"Error: {reason}\n"


@pytest.mark.case("B37")
@pytest.mark.parametrize("version", [FORMAT + 1, 0, 99])
def test_another_format_is_named(monkeypatch, write_model, assert_refused, version):
    monkeypatch.setattr("flymotion.models.tensor_file.FORMAT", version)
    monkeypatch.setattr(saving, "_read", lambda path: None)
    content = write_model().read_bytes()
    monkeypatch.undo()
    assert_refused(content, f"format {version}; this flymotion reads formats 1 and {FORMAT}")


@pytest.mark.case("B37")
@pytest.mark.parametrize("disguise", ["model", "model.npz", "model.safetensors", "model.pkl"])
def test_nothing_in_a_file_is_run(tmp_path, disguise):
    path = tmp_path / disguise
    path.write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(ModelError, match="not a flymotion model"):
        load(path)
    assert not (tmp_path / "sprung").exists()


class Trap:
    """What a malicious file does when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)
