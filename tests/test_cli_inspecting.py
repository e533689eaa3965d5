"""``flymotion inspect``: what a model file holds, of every kind, and of 0.1 too."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from kept_models import MODELS, frames, plain, street, video
from PIL import Image
from test_first_format import FOLDER

from flymotion import Hexagon, MotionLearner, Sphere
from flymotion.cli import main
from flymotion.frames import FramePairs
from flymotion.keeping import save


@pytest.fixture
def run():
    """Run ``flymotion inspect`` in 100 columns; returns its exit status, and what it printed."""

    def run(*arguments):
        done = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["inspect", *map(str, arguments)])
        return done.exit_code, done.stdout, done.stderr

    return run


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_shown(run, tmp_path, name):
    path = save(MODELS[name](), tmp_path / "model")
    status, out, err = run(path)
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == f"{path}: {type(MODELS[name]()).__name__}, written by flymotion 0.1.0"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.npz")))
def test_models_of_0_1_are_shown(run, name):
    status, out, _ = run(FOLDER / name)
    assert status == 0
    assert "MotionLearner, written by flymotion 0.1.0" in out


def test_a_learner_tells_how_it_was_trained_and_how_good_it_is(run, tmp_path):
    learner = video(100, finished=True)
    path = save(learner, tmp_path / "model")
    status, out, _ = run(path)
    assert status == 0
    assert "n_components 4" in out and "vision video" in out
    assert "100 frames and 99 pairs of frames seen; learned from 6,048 pairs of patches of 3 x 3 pixels" in out
    assert "frames: 99 pairs of frames; 21% of their patches learned from" in out
    assert all(label in out for label in learner.labels_)
    assert f"direction right on {learner.direction_accuracy_:.1%} of single held-out patches" in out
    assert "(chance 25%)" in out
    assert "weights onto the change at the middle pixel, from = by way of . to #:" in out


def test_a_single_detector_has_no_score(run, tmp_path):
    learner = MotionLearner(1, warm_up=20, random_state=0).fit(frames(600))
    status, out, _ = run(save(learner, tmp_path / "model"))
    assert status == 0
    assert learner.labels_[0] in out and "chance" not in out


def test_a_learner_that_warms_up_says_so(run, tmp_path):
    status, out, _ = run(save(plain(10), tmp_path / "model"))
    assert status == 0
    assert "no detectors yet: has seen 9 pairs of patches and starts to learn after 20" in out


def test_a_circuit_tells_of_its_eye_and_cells(run, tmp_path):
    circuit = MODELS["a circuit"]()
    status, out, _ = run(save(circuit, tmp_path / "fly.model"))
    assert status == 0
    assert "eye Hexagon(radius=1" in out and "n_rings 1" in out
    assert "7 columns, 1 of them with all columns about them; learned from 70 frames" in out
    t4, t5 = circuit.named_.mean(axis=0)
    assert f"T4 of {t4:.0%} of the columns, and T5 of {t5:.0%}, prefer four different directions" in out


@pytest.mark.parametrize(
    "name",
    ["a learner", "a learner of named motions", "NSM", "SM of vectors", "PCA", "operators", "whitening", "a circuit"],
)
def test_filters_are_drawn(run, tmp_path, name):
    path = save(MODELS[name](), tmp_path / "model")
    status, _, err = run(path, "--png", tmp_path / "new" / "filters.png")
    assert (status, err) == (0, "")
    with Image.open(tmp_path / "new" / "filters.png") as image:
        assert min(image.size) > 100


@pytest.mark.parametrize("name", ["a learner of one frame", "Weber contrast"])
def test_what_has_no_filters_says_so(run, tmp_path, name):
    path = save(MODELS[name](), tmp_path / "model")
    status, _, err = run(path, "--png", tmp_path / "filters.png")
    assert status == 2
    assert err == f"Error: {path}: has no filters to draw\n"


def test_the_model_is_not_drawn_over(run, tmp_path):
    path = save(MODELS["NSM"](), tmp_path / "model.png")
    kept = path.read_bytes()
    status, _, err = run(path, "--png", path)
    assert status == 2 and "is read from" in err
    assert path.read_bytes() == kept


def test_names_that_would_do_something_to_a_terminal_do_not(run, tmp_path):
    learner = video(100, finished=True)
    learner.state_.vision.streams[0].name = "\x1b[31mred\r\n\udcff" + 1000 * "!"
    status, out, _ = run(save(learner, tmp_path / "model"))
    assert status == 0
    assert "?[31mred???!!!" in out and len(out) < 4000
    learner = MODELS["a learner of named motions"]()
    known = learner.state_.seen.known
    learner.state_.vision.known = replace(known, names=[("\x07bell", "\x1b[2J"), ("a", "b")])
    status, out, _ = run(save(learner, tmp_path / "model"))
    assert status == 0
    assert "?bell" in out or "?[2J" in out


@pytest.mark.parametrize("eye", [Hexagon(1), Sphere.evenly(7)], ids=["hexagon", "sphere"])
def test_detectors_of_unknown_motions_are_shown(run, tmp_path, eye):
    x = frames(60, (7,))
    learner = MotionLearner(2, warm_up=20).fit(FramePairs(x[:-1], x[1:], eye=eye))
    status, out, err = run(save(learner, tmp_path / "model"), "--png", tmp_path / "drawn.png")
    assert (status, err) == (0, "")
    assert "detector 2" in out and "right on" not in out
    with Image.open(tmp_path / "drawn.png") as drawn:
        assert drawn.size[0] > 100


def test_other_files_are_refused_in_one_line(run, tmp_path):
    (tmp_path / "model").write_bytes(street(2).tobytes())
    for path, reason in ((tmp_path / "model", "not a flymotion model"), (tmp_path / "none", "no such file")):
        status, out, err = run(path)
        assert (status, out) == (2, "")
        assert err.startswith(f"Error: {path}: {reason}") and err.count("\n") == 1
