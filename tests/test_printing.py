"""What commands print: to nobody, to a full disk, and names of files of any kind; over every command."""

import ast
import errno
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kept_models import video
from PIL import Image
from scipy.ndimage import gaussian_filter

import flymotion
from flymotion import MotionLearner, tuning
from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.cli import ending, flight, main
from flymotion.cli.waiting import progress_bar
from flymotion.contest import competing
from flymotion.keeping import save

SOURCE = Path(flymotion.__file__).parent
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

ARGUMENTS = {
    "detect": ["{frames}", "--out", "out"],
    "watch": ["{frames}"],
    "learn": ["{frames}", "--patch", "3", "--n-pairs", "300", "--out", "out", "--force"],
    "tune": ["{model}", "--experiment", "direction", "--out", "out"],
    "compare": ["{model}", "--out", "out"],
    "reproduce": ["C14", "--seeds", "1", "--out", "out"],
    "inspect": ["{model}"],
    "live": ["--out", "{frames}/live.html"],
    "rivals": ["--worlds", "ring", "--learners", "random", "--out", "out"],
    "fly": ["{frames}", "--rate", "25", "--eye", "hex", "--radius", "2", "--seconds", "1", "--out", "out"],
    "detectors": [],
    "stimuli": [],
    "export": ["{plane}", "--onnx", "out.onnx"],
    "completion": ["bash"],
}
"""What is asked of each command, with a name of frames or of a model that it prints."""

SILENT, NAMELESS = {"tune", "export", "live"}, {"tune", "export", "live", "watch"}
"""What prints nothing, and what prints no names."""

NAME = "[bold] fly [dQw4w9WgXcQ] $x^$ été→ " + os.fsdecode(b"\xff")
"""Markup, mathematics, what is not in ASCII, and a byte that is no text."""


@pytest.fixture(scope="session")
def learner(make_noise_pairs):
    return MotionLearner(2, warm_up=1000).fit(make_noise_pairs(1500))


@pytest.fixture
def given(tmp_path, monkeypatch, learner, characterised):
    """Return what to ask of a command, with frames and a model of a name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tuning, "characterise", lambda detector: characterised)
    few = {"n_seeds": 1, "n_pairs": (50,), "n_noisy": 50, "n_new": 50, "snrs": ()}
    monkeypatch.setattr(competing, "QUICK", few)
    monkeypatch.setattr(flight, "_portray", lambda *rest: None)
    monkeypatch.setattr(T4T5Circuit, "_warn", lambda self: None)  # one second teaches little
    image = gaussian_filter(np.random.default_rng(0).normal(size=(32, 40)), 1.5)

    def make(command, name="a"):
        frames = tmp_path / name
        frames.mkdir()
        for t in range(4):
            Image.fromarray(np.uint8(127 + 100 * image[:, t : t + 32])).save(frames / f"{t}.png")
        known = {"frames": frames, "model": save(learner, tmp_path / f"{name}.npz")}
        known["plane"] = save(video(100, finished=True), tmp_path / f"{name}.safetensors")
        return [command, *(argument.format(**known) for argument in ARGUMENTS[command])]

    return make


@pytest.fixture
def ended():
    """Run the command as the shell does; returns its exit status."""

    def call(arguments):
        with pytest.raises(SystemExit) as error:
            main([str(argument) for argument in arguments], prog_name="flymotion")
        return error.value.code

    return call


class Refusing(io.RawIOBase):
    """What refuses to be written to."""

    def __init__(self, number):
        self.number = number

    def writable(self):
        return True

    def write(self, data):
        raise OSError(self.number, os.strerror(self.number))


class Silent(io.TextIOWrapper):
    """Text that is not written once more when it is thrown away."""

    def __del__(self):
        pass


@pytest.mark.parametrize("command", sorted(main.commands.keys() - SILENT))
@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        (errno.EPIPE, 141, ""),
        (errno.ENOSPC, 2, "Error: standard output: cannot be written (No space left on device)\n"),
    ],
)
def test_what_cannot_be_printed_ends_the_command(ended, given, command, number, status, words, monkeypatch, capsys):
    arguments = given(command)
    stream = Silent(io.BufferedWriter(Refusing(number)), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", stream)
    assert ended(arguments) == status
    told = [line for line in capsys.readouterr().err.splitlines(keepends=True) if not line.startswith("Warning")]
    assert "".join(told) == words


@pytest.mark.parametrize("command", main.commands)
def test_without_standard_output_no_work_is_begun(ended, given, command, monkeypatch, capsys, tmp_path):
    arguments = given(command)
    monkeypatch.setattr(sys, "stdout", None)
    assert ended(arguments) == 2
    assert capsys.readouterr().err == "Error: standard output is closed\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.case("B54")
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("command", [name for name in main.commands if any("{" in each for each in ARGUMENTS[name])])
def test_names_are_shown_whatever_they_are(ended, given, command, encoding, monkeypatch):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("COLUMNS", "200")
    assert ended(given(command, NAME)) == 0, err.buffer.getvalue()
    printed = out.buffer.getvalue().decode("utf-8", "replace")
    shown = [
        NAME.encode("utf-8", how).decode() for how in ("backslashreplace", "replace")
    ]  # of ASCII click makes UTF-8
    assert command in NAMELESS or any(each in printed for each in shown)
    wrong = [command, f"{NAME}.no", *([] if command in ("watch", "inspect") else ["--out", "other"])]
    assert ended(wrong) == 2
    assert "Traceback" not in err.buffer.getvalue().decode()


@pytest.mark.case("B54")
def test_progress_shows_brackets(monkeypatch):
    shown = io.StringIO()
    shown.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress_bar("fly [dQw4w9WgXcQ].mp4") as progress:
        progress(1, 2, "[bold].mp4")
        progress(2, 2)
    assert "[bold].mp4" in shown.getvalue() or "fly [dQw4w9WgXcQ].mp4" in shown.getvalue()
    assert "fly [dQw4w9WgXcQ].mp4" in shown.getvalue()


class Thrown:
    """Whose end is interrupted, where Python cannot raise."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def test_what_cannot_be_raised_is_raised_at_the_next_look():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with ending.Interrupts() as interrupts:
        interrupts.look()
        thrown = Thrown()
        del thrown
        assert interrupts.due
        with interrupts.deferred():
            interrupts.look()
        with pytest.raises(KeyboardInterrupt):
            interrupts.look()
        interrupts.look()  # once is enough
    signal.signal(signal.SIGINT, before)


def test_every_command_is_here():
    assert set(main.commands) <= set(ARGUMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(main.commands.keys() - SILENT))
def test_nobody_reads_in_a_shell(given, command, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    arguments = [sys.executable, "-m", "flymotion", *map(str, given(command))]
    with os.fdopen(writing, "wb") as pipe, open("/dev/full", "wb") as full:
        broken = subprocess.run(arguments, stdout=pipe, stderr=subprocess.PIPE, text=True)
        filled = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True)
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *arguments], stderr=subprocess.PIPE, text=True)
    assert (broken.returncode, filled.returncode, closed.returncode) == (141, 2, 2)
    told = [*broken.stderr.splitlines(), *filled.stderr.splitlines(), *closed.stderr.splitlines()]
    assert [line for line in told if not line.startswith(("Warning", "Error: standard output"))] == []


# Over the source


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def name_of(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


WRITERS = {"savefig", "to_netcdf", "savez", "savez_compressed", "save_file", "write_text", "write_bytes", "tofile"}
WRITERS |= {"to_csv", "to_zarr", "open_group", "dump", "touch"}
"""What writes to a path that it is given."""


def writes(call):
    """Whether a call writes to a path: one that can do nothing else, or an ``open`` in a mode that writes."""
    modes = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    opens = name_of(call) in {"open", "open_group", "open_array"}
    return name_of(call) in WRITERS or (
        opens and any(mode in {"w", "wb", "a", "ab", "x", "xb", "w+"} for mode in modes)
    )


def opened_in_place(source):
    """Functions that write, and do not ask where: by ``whole``."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return [
        f"{function.name}, {name_of(call)}"
        for function in functions
        for call in calls(function)
        if writes(call) and not any(name_of(other) == "whole" for other in calls(function))
    ]


ASKED_BY_ANOTHER = {
    "whole_files.py": "makes the places",
    "mutants.py": "breaks a copy of the source",
    "cameras.py": "codes in memory",
    "inline_svg.py": "draws in memory",
    "kept_pieces.py": "packs in memory",
    "fields.py": "_finish and _array write to the place that __enter__ has asked for",
}


def test_no_output_is_opened_in_place():
    files = [*SOURCE.rglob("*.py"), *BENCHMARKS.glob("*.py")]
    found = {path.name: opened_in_place(path.read_text(encoding="utf-8")) for path in files}
    wrong = {name: functions for name, functions in found.items() if functions}
    assert set(wrong) <= set(ASKED_BY_ANOTHER), wrong
    assert wrong["fields.py"] == ["_array, open_array", "_finish, open", "_finish, savez"]


@pytest.mark.parametrize(
    "line",
    ["open(p, 'w')", "p.open(mode='wb')", "figure.savefig(p)", "av.open(p, 'w')", "np.savez(p)", "p.write_text(t)"],
)
def test_the_test_finds_what_writes(line):
    assert len(opened_in_place(f"def f(p):\n    {line}\n")) == 1
    assert opened_in_place(f"def f(p):\n    with whole(p) as p:\n        {line}\n") == []


def test_nothing_is_printed_past_the_one_way_out():
    commands = [path for path in (SOURCE / "cli").glob("*.py") if path.name != Path(ending.__file__).name]
    trees = {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in commands}
    printed = [name for name, tree in trees.items() for call in calls(tree) if name_of(call) in {"echo", "secho"}]
    assert printed == []
