"""The command line: what it writes and prints, and one line and exit status 2 for whatever is wrong."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

import flymotion
from flymotion import claims
from flymotion.claims import known_claims
from flymotion.claims.judging import as_known
from flymotion.claims.rows import Claim
from flymotion.cli import main
from flymotion.cli.common import table
from flymotion.detecting import read_trace
from flymotion.keeping import saving
from flymotion.video import Selection, VideoError
from flymotion.writing import WriteError


@pytest.fixture
def write_frames(tmp_path):
    """Write a folder of frames of noise that moves right, half a pixel a frame, and return it."""

    def write(folder="frames", n_frames=6, size=32):
        path = tmp_path / folder
        path.mkdir()
        noise = gaussian_filter(np.random.default_rng(0).normal(size=(4 * size, 4 * (size + n_frames))), 4)
        for i in range(n_frames):
            seen = noise[:, 2 * (n_frames - i) :][:, : 4 * size].reshape(size, 4, size, 4).mean(axis=(1, 3))
            Image.fromarray(np.uint8(127 + 100 * seen / np.abs(noise).max())).save(path / f"{i}.png")
        return path

    return write


@pytest.fixture
def fake_reproduce(monkeypatch):
    """Let ``reproduce`` give these claims, which are on record; returns the arguments that it was called with."""

    def fake(*rows, before=None):
        calls = []
        monkeypatch.setattr(claims, "recorded", lambda full: as_known(rows if before is None else before))
        monkeypatch.setattr(claims, "reproduce", lambda *a, **k: calls.append((a, k)) or list(rows))
        return calls

    return fake


def claim(id="C1.cosine", value=0.9876, relation=">", least=0.9, holds=True, **how):
    return Claim(id, how.get("title", "cosine with the derivative"), value, "", relation, least, 10, holds)


def assert_refused(status, out, err, *, mentions):
    """One line on stderr and nothing else."""
    assert status == 2
    assert out == ""
    assert err.startswith("Error: ") and err.count("\n") == 1
    assert str(mentions) in err


# Help


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_the_commands(run, flag):
    status, out, err = run(flag)
    assert (status, err) == (0, "")
    for words in ("Learn to see motion the way the fly does.", "learn ", "reproduce "):
        assert words in out


@pytest.mark.parametrize(
    "command, words",
    [
        (
            "learn",
            ["SOURCE...", "--n-components", "--patch", "--photographs", "--n-pairs", "--seed", "--out", "bundled"],
        ),
        ("learn", ["--start", "--stop", "--max-frames"]),
        ("reproduce", ["[ID]...", "--seeds", "--video", "--out", "claims.json", "verdict.md", "Exit status 0"]),
    ],
)
def test_help_of_a_command_names_its_options_and_what_it_writes(run, command, words):
    status, out, err = run(command, "--help")
    assert (status, err) == (0, "")
    assert [word for word in words if word not in " ".join(out.split())] == []


@pytest.mark.parametrize(
    ("function", "written"),
    [(flymotion.learn, {"out", "json", "force"}), (flymotion.detect, {"out", "json", "overlay", "fields"})],
)
def test_functions_and_commands_have_the_same_options(function, written):
    """An option is a parameter of the function, or of reading, with dashes; the command's own say what is written."""
    command = {option.name: option for option in main.commands[function.__name__].params}
    mine = inspect.signature(function).parameters
    reading = inspect.signature(flymotion.open_movie).parameters.keys() | inspect.signature(Selection).parameters.keys()
    assert command.keys() - mine.keys() - reading == written
    assert mine.keys() - command.keys() <= {"progress", "reading", "dense"}
    for name, option in command.items():
        assert isinstance(option, click.Argument) or option.opts == [f"--{name.replace('_', '-')}"]
    given = main.commands[function.__name__].make_context("", ["some.mp4"]).params
    defaults = {name: value for name, value in given.items() if name in mine and not command[name].required}
    assert {name: mine[name].default for name in defaults} == defaults


# Learning


@pytest.mark.parametrize("folder", ["frames", "my frames", "été à Zürich"])
def test_learn_writes_a_model_and_its_filters(run, write_frames, tmp_path, folder):
    out = tmp_path / f"{folder} out" / "deep"
    status, printed, err = run("learn", write_frames(folder), "--out", out, "--force", "--patch", 5, "--n-pairs", 500)
    assert (status, err) == (0, "")  # and no progress bar where stderr is not a terminal
    assert sorted(os.listdir(out)) == ["filters.png", "model.safetensors"]
    learner = saving.load(out / "model.safetensors")
    assert [label for label in learner.labels_ if label not in printed] == []
    assert f"{learner.direction_accuracy_:.1%} of single patches" in printed
    assert learner.n_pairs_seen_ == 5
    with Image.open(out / "filters.png") as image:
        assert min(image.size) > 100


def test_learn_from_the_bundled_photographs(run, tmp_path):
    out = tmp_path / "learned"
    status, printed, _ = run(
        "learn", "bundled", "--out", out, "--n-pairs", 1000, "--n-components", 2, "--patch", 3, "--force"
    )
    assert status == 0
    assert "(chance 50%)" in printed
    learner = saving.load(out / "model.safetensors")
    assert learner.n_pairs_seen_ == 1000
    assert learner.generators_.operators.shape == (2, 9, 9)


def test_same_seed_same_files(run, write_frames, tmp_path):
    folder = write_frames()
    for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
        assert (
            run("learn", folder, "--out", tmp_path / name, "--force", "--patch", 5, "--n-pairs", 500, "--seed", seed)[0]
            == 0
        )
    first, again, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in "abc")
    assert again == first
    assert other != first


BROKEN = {
    "missing.mp4": lambda path: None,
    "empty.mp4": lambda path: path.touch(),
    "text.mp4": lambda path: path.write_text("not a video\n" * 100),
    "text.png": lambda path: path.write_text("not an image\n" * 100),
    "empty folder": lambda path: path.mkdir(),
    "missing à Zürich": lambda path: None,
}


@pytest.mark.parametrize("flags", [[], ["--photographs"]], ids=str)
@pytest.mark.parametrize("name", BROKEN)
def test_a_source_that_cannot_be_read_is_named_in_one_line(run, tmp_path, name, flags):
    BROKEN[name](tmp_path / name)
    assert_refused(*run("learn", tmp_path / name, "--out", tmp_path / "out", *flags), mentions=tmp_path / name)
    assert not (tmp_path / "out").exists()


def test_photographs_and_movies_do_not_mix(run, write_frames, tmp_path):
    refused = run("learn", "bundled", write_frames(), "--out", tmp_path / "out")
    assert_refused(*refused, mentions="photographs cannot be mixed with videos")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["learn", "bundled", "--start", "3"], "--start is for videos"),
        (["learn", "bundled", "--max-frames", "3"], "--max-frames is for videos"),
        (["learn", "clip.npy", "--photographs"], "--photographs is for images"),
        (["reproduce", "C14", "--video", "clip.npy"], "--video is given, but no claim"),
    ],
)
def test_options_without_effect_are_refused(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    np.save("clip.npy", np.random.default_rng(0).random((4, 16, 16)))
    assert_refused(*run(*arguments, "--out", "out"), mentions=words)


def test_a_name_like_bundled_is_told(run, tmp_path):
    refused = run("learn", "bundeld", "--out", tmp_path / "out")
    assert_refused(*refused, mentions="bundeld: No such file or directory; the photographs that come with us are")


def test_times_of_folders_come_from_their_rate(run, write_frames, tmp_path):
    frames = write_frames()
    refused = run("detect", frames, "--start", "0.5s", "--out", tmp_path / "out")
    assert_refused(*refused, mentions="give start and stop as numbers of frames, or the rate")
    status, _, err = run("detect", frames, "--start", "0.5s", "--rate", 4, "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    assert read_trace(tmp_path / "out" / "global-motion.csv").time[0] == 0.5


def test_one_detector_tells_no_directions(run, write_frames, tmp_path):
    arguments = ("--force", "--patch", 5, "--n-pairs", 500, "--n-components", 1, "--out", tmp_path / "out")
    status, out, _ = run("learn", write_frames(), *arguments)
    assert status == 0
    assert "chance" not in out and "one detector alone tells no direction" in out


def test_learn_says_how_much_it_learned_from(run, write_frames, tmp_path):
    _, out, _ = run("learn", write_frames(), "--force", "--patch", 5, "--n-pairs", 500, "--out", tmp_path / "out")
    n = saving.load(tmp_path / "out" / "model.safetensors").n_patches_seen_
    assert n != 500 and f"learned from {n:,} pairs of patches; asked for were about 500" in out


@pytest.mark.parametrize("name", main.commands)
def test_every_option_says_what_it_does(name):
    options = [each for each in main.commands[name].params if isinstance(each, click.Option)]
    silent = [each.name for each in options if not each.help]
    assert silent == []


def test_one_frame_is_too_few(run, write_frames, tmp_path):
    refused = run("learn", write_frames(n_frames=1), "--out", tmp_path / "out")
    assert_refused(*refused, mentions="fewer than 2 consecutive frames")


def test_a_folder_that_cannot_be_made_is_named(run, write_frames, tmp_path):
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "out"
    assert_refused(*run("learn", write_frames(), "--out", out, "--force", "--patch", 5, "--n-pairs", 500), mentions=out)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["learn"], "Missing argument 'SOURCE...'"),
        (["learn", "bundled", "--colour"], "No such option"),
        (["learn", "bundled", "--n-components", "0"], "'--n-components'"),
        (["learn", "bundled", "--patch", "1"], "'--patch'"),
        (["learn", "bundled", "--seed", "-1"], "'--seed'"),
        (["learn", "bundled", "--n-pairs", "many"], "'--n-pairs'"),
        (["learn", "bundled", "--out", __file__], "'--out'"),
        (["reproduce", "--seeds", "0"], "'--seeds'"),
        (["reproduce", "--quick"], "No such option"),
        (["forget"], "No such command"),
    ],
)
def test_wrong_usage_exits_with_2(run, arguments, words):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert words in err and "Traceback" not in err


def test_a_traceback_can_be_had(tmp_path, monkeypatch):
    monkeypatch.setenv("FLYMOTION_TRACEBACK", "1")
    with pytest.raises(VideoError):
        main(["learn", str(tmp_path / "missing.mp4")])
    (tmp_path / "file").touch()
    with pytest.raises(WriteError):  # of a file, not of what is printed
        main(["learn", "bundled", "--out", str(tmp_path / "file" / "out")])


def test_the_shell_sees_the_exit_status_and_one_line(tmp_path):
    path = tmp_path / "vidéo d'été.mp4"
    done = subprocess.run(
        [sys.executable, "-m", "flymotion", "learn", path],
        env=os.environ | {"PYTHONPATH": str(Path(saving.__file__).parents[1]), "PYTHONUTF8": "1"},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert_refused(done.returncode, done.stdout, done.stderr, mentions=f"{path}: No such file or directory")
    assert os.listdir(tmp_path) == []


# Reproducing


@pytest.fixture
def five_claims(fake_reproduce):
    return fake_reproduce(
        claim(),
        claim("C1.far", 0.99, title="energy"),
        claim("C2.angle", 12.5, "<", 15.0),
        claim("C5.count", 10.0, "within", (9.5, 10.5)),
        claim("C8.speed", 3.25, "report", None, None),
        claim("C9.gone", None, "report", None, None),
    )


def lines_by_name(out):
    return {line.split()[0]: line for line in out.splitlines() if line.split()}


def test_reproduce_prints_a_line_a_claim(run, five_claims, tmp_path):
    status, out, err = run("reproduce", "--out", tmp_path)
    assert (status, err) == (0, "")
    lines = lines_by_name(out)
    for id, words in {
        "C1": [known_claims()["C1"], "cosine", "0.9876", "> 0.9", "holds"],
        "C2": [known_claims()["C2"], "angle", "12.5", "< 15", "holds"],
        "C5": ["count", "10", "within 9.5 .. 10.5", "holds"],
        "C8": ["speed", "3.25", "report"],
        "C9": ["gone", " - ", "report"],
    }.items():
        assert [word for word in words if word not in lines[id]] == []
    assert "far" not in out
    [((ids,), options)] = five_claims
    assert ids is None
    assert options.pop("progress")(1, 2, "figure2") is None
    options.pop("tell")("3 of 8 pieces of work were finished by an earlier run")
    assert options == {"full": False, "out": tmp_path}


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [
        ((4.0, 4.0), "= 4"),
        ((10, 10), "= 10"),
        ((1 - 1e-6, 1 + 1e-6), "within 0.999999 .. 1.000001"),
        ((9.5, 10.5), "within 9.5 .. 10.5"),
    ],
)
@pytest.mark.parametrize("verbose", [[], ["-v"]], ids=["claims", "measures"])
def test_a_bound_with_equal_ends_is_one_number(run, fake_reproduce, tmp_path, bounds, shown, verbose):
    fake_reproduce(claim("C1.count", 4.0, "within", bounds))
    status, out, _ = run("reproduce", *verbose, "--out", tmp_path)
    assert status == 0
    assert f" {shown} " in out


def test_reproduce_prints_every_measure_if_asked_to(run, five_claims, tmp_path):
    status, out, _ = run("reproduce", "-v", "--out", tmp_path, "--seeds", 3, "--video", "a.mp4")
    assert status == 0
    lines = lines_by_name(out)
    for id, words in {
        "C1.cosine": ["cosine with the derivative", "0.9876", "> 0.9", "10", "holds"],
        "C1.far": ["energy", "0.99"],
        "C9.gone": [" - ", "report"],
    }.items():
        assert [word for word in words if word not in lines[id]] == []
    assert five_claims[0][1]["n_seeds"] == 3
    assert five_claims[0][1]["videos"] == ("a.mp4",)


def test_reproduce_passes_on_what_was_asked_for(run, fake_reproduce, tmp_path):
    calls = fake_reproduce(claim())
    assert run("reproduce", "C1", "C28", "--full", "--seeds", 3, "--out", tmp_path)[0] == 0
    [((ids,), options)] = calls
    assert ids == ["C1", "C28"]
    assert (options["full"], options["n_seeds"], options["out"]) == (True, 3, tmp_path)


@pytest.mark.parametrize("verbose", [[], ["-v"]], ids=["claims", "measures"])
def test_what_fails_is_printed_first_and_is_no_error_where_it_is_known(run, fake_reproduce, tmp_path, verbose):
    fake_reproduce(claim(), claim("C2.angle", 20.0, "<", 15.0, False), claim("C3.x", np.nan, ">", 0.0, False))
    status, out, err = run("reproduce", *verbose, "--out", tmp_path)
    assert (status, err) == (0, "")
    assert re.findall("FAILS|holds", out) == ["FAILS", "FAILS", "holds"]


def test_another_verdict_than_is_on_record_makes_exit_status_1(run, fake_reproduce, tmp_path):
    failing = claim("C2.angle", 20.0, "<", 15.0, False)
    fake_reproduce(claim(), failing, before=[claim(), claim("C2.angle", 12.5, "<", 15.0)])
    status, _, err = run("reproduce", "--out", tmp_path)
    assert (status, err) == (1, "not as recorded:\nC2.angle holds, and now fails\n")
    fake_reproduce(claim(), before=[failing])
    assert run("reproduce", "--out", tmp_path)[0] == 1
    assert run("reproduce", "--out", tmp_path, "--seeds", 3)[0] == 0  # of which nothing is on record


def test_an_unknown_claim_is_refused(run, tmp_path):
    assert_refused(*run("reproduce", "C99999", "--out", tmp_path / "out"), mentions="C99999")
    assert not (tmp_path / "out").exists()


def test_tables_show_brackets_as_they_are(capsys):
    table([("direction [deg]", "right"), ("", "left")], [["clip[old]", "[bold]"]], {"[bold]": "green"})
    printed = capsys.readouterr().out
    assert [words for words in ("direction [deg]", "clip[old]", "[bold]") if words not in printed] == []
