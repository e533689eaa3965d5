"""The live page without a browser: one small file that needs nothing else, of the model that was asked for."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from kept_models import MODELS, video
from numpy.testing import assert_allclose

from flymotion.browser import live_model, live_page, seen_live
from flymotion.browser.page_numbers import as_evaluated, numbers_of
from flymotion.browser.slopes import slopes_velocity
from flymotion.cli import ending, main
from flymotion.field import MotionField
from flymotion.generators import Generators
from flymotion.keeping import save

LARGEST = 1_000_000
"""Bytes."""

NETWORK = re.compile(
    r"https?:|//[a-z]|fetch\(|XMLHttpRequest|WebSocket|importScripts|@import|\bsrc=|\bhref=(?!\"data:)"
)
"""What would ask for anything that is not in the file."""


@pytest.fixture(scope="module")
def page():
    return live_page()


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run ``flymotion live`` in an empty folder; returns its exit status, and what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        done = CliRunner().invoke(main, ["live", *map(str, arguments)])
        return done.exit_code, done.stdout, done.stderr

    return run


@pytest.fixture
def picture():
    """A picture of noise, blurred, with room about it."""
    from scipy.ndimage import gaussian_filter

    noise = gaussian_filter(np.random.default_rng(0).normal(size=(240, 320)), 4.0)
    return np.uint8(np.clip(127 + 45 * noise / noise.std(), 0, 255))[..., None].repeat(3, axis=2)


def numbers_in(page):
    return json.loads(re.search(r'<script type="application/json" id="numbers">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_is_one_small_file_that_asks_for_nothing(page):
    assert len(page.encode()) < LARGEST
    assert NETWORK.findall(page) == []
    assert not re.search(r"\{\{\w+\}\}", page) and not re.search(r"^(import|export) ", page, re.MULTILINE)
    assert "default-src 'none'" in page


def test_the_same_model_makes_the_same_page(page):
    assert live_page() == page


def test_sources_that_are_put_in_one_scope_share_no_name(page):
    worker = re.search(r'<script type="text/plain" id="worker">(.*?)</script>', page, re.DOTALL)[1]
    rest = page.replace(worker, "")
    for scope in (worker, rest):
        names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", scope, re.MULTILINE)
        assert sorted(set(names)) == sorted(names)


def test_the_page_has_what_the_field_evaluates():
    model = live_model()
    made, size = numbers_of(model)["operators"], model.detectors.shape[0]
    modes, total = np.array(made["modes"]), np.zeros((made["count"], *(size,) * 4))
    for axis, letters in zip(made["axes"], ("ipjq", "piqj"), strict=True):
        for part in axis:
            weights = np.array(part["weights"])
            for a, b, matrix in part["lines"]:
                square = np.reshape(matrix, (size, size))
                total += np.einsum(f"k,i,j,pq->k{letters}", weights, modes[a], modes[b], square)
    expected = as_evaluated(model.detectors)
    assert_allclose(total.reshape(expected.shape), expected, atol=1e-6 * np.abs(expected).max())


def test_what_the_page_shows_is_what_the_field_says(picture):
    model, pictures = live_model(), np.stack([picture[20:212, 20:276], picture[20:212, 17:273]])
    seen = seen_live(model, pictures, 2)
    luminance = (pictures @ [0.299, 0.587, 0.114]).reshape(2, 48, 4, 64, 4).mean(axis=(2, 4))
    field = MotionField(model.detectors, outputs=("directions",)).between(*luminance)
    assert_allclose(seen.directions, field.directions, atol=1e-5 * field.directions.max())
    assert model.angles[seen.responses.argmax()] % 360 == pytest.approx(0, abs=10) or seen.responses.argmax() == 1
    assert seen.motion.x == pytest.approx(3, abs=0.1) and abs(seen.motion.y) < 0.1
    on_and_off = np.tensordot(np.ones(4), seen.t4 + seen.t5, axes=1)
    assert (on_and_off >= seen.directions.sum(axis=0) - 1e-5 * field.directions.max()).all()


@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.4, -0.3), (2.5, 1.0), (-6.0, 3.0)])
def test_velocity_is_that_of_known_motion(shift):
    y, x = np.mgrid[:120, :160].astype(float)

    def frame(t):
        u, v = x - t * shift[0], y - t * shift[1]
        return 127 + 40 * np.sin(u / 5) * np.cos(v / 6) + 40 * np.cos(u / 17 + v / 23)

    velocity, confidence = slopes_velocity(frame(0), frame(1))
    sure = confidence > 0.5
    assert sure.mean() > 0.3
    assert_allclose(np.median(velocity[:, sure], axis=1), shift, atol=0.05 + 0.02 * np.hypot(*shift))


def test_light_that_changes_is_no_motion():
    frame = 100 + 40 * np.outer(np.sin(np.arange(60) / 4), np.sin(np.arange(80) / 3))
    velocity, _ = slopes_velocity(frame, 1.1 * frame)
    assert np.median(np.hypot(*velocity)) < 0.02


@pytest.mark.slow
def test_the_detectors_that_come_with_the_package_are_what_learn_makes():
    from flymotion import learn

    made, bundled = learn("bundled", n_components=4, n_pairs=100_000, seed=0).generators_, live_model().detectors
    assert_allclose(made.in_pixels().operators, bundled.in_pixels().operators, atol=1e-8)


# The command


def test_the_command_writes_the_page_and_says_how_to_open_it(run, tmp_path, page, monkeypatch):
    assert run() == (0, "", "")
    monkeypatch.setattr(ending, "watched", lambda: True)
    status, out, err = run()
    assert (status, out) == (0, "")
    assert err.splitlines()[-1] == "live.html" and (tmp_path / "live.html").as_uri() in err
    assert (tmp_path / "live.html").read_text(encoding="utf-8") == page


def test_the_page_of_a_model_names_it(run, tmp_path):
    detectors = live_model().detectors[[0, 1, 2]]
    save(detectors, tmp_path / "<!--<script>.model")
    status, _, err = run("<!--<script>.model", "--out", "of-it.html")
    assert (status, err) == (0, "")
    page = (tmp_path / "of-it.html").read_text(encoding="utf-8")
    assert numbers_in(page)["model"] == "<!--<script>.model" and "<!--<script>" not in page
    assert len(numbers_in(page)["angles"]) == 3


def test_a_model_that_has_not_learned_is_warned_of(run, tmp_path):
    save(video(100, finished=True), tmp_path / "model")
    status, _, err = run("model")
    assert status == 0 and err.startswith("Warning: model: ") and err.count("\n") == 1


def test_a_page_of_others_is_not_written_over(run, tmp_path):
    (tmp_path / "live.html").write_text("mine")
    status, out, err = run()
    assert (status, out) == (2, "")
    assert err == "Error: live.html: is no page of flymotion live; --force writes over it\n"
    assert (tmp_path / "live.html").read_text() == "mine"
    assert run("--force")[0] == 0


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (lambda: MODELS["PCA"](), "holds a OuterProductPCA; expected a MotionLearner or Generators"),
        (lambda: live_model().detectors[[0, 1]], "has 2 detectors of (7, 7) pixels; expected 3 or more"),
        (lambda: Generators(np.zeros((4, 5, 5)), (5,)), "has 4 detectors of (5,) pixels; expected 3 or more"),
    ],
)
def test_another_model_is_refused_in_a_sentence(run, tmp_path, what, words):
    save(what(), tmp_path / "model")
    status, out, err = run("model")
    assert (status, out) == (2, "") and err.startswith("Error: model: ") and err.count("\n") == 1
    assert words in err and not (tmp_path / "live.html").exists()


def test_what_is_no_model_is_refused_in_a_sentence(run, tmp_path):
    (tmp_path / "model").write_text("no")
    for name in ("model", "missing"):
        status, out, err = run(name)
        assert (status, out) == (2, "") and err.count("\n") == 1 and name in err
