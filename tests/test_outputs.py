"""What commands write: whole or not at all, checked before the work, kept when interrupted; over every command."""

import errno
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

import flymotion
from flymotion import claims, detecting, tuning
from flymotion.circuits import T4T5Circuit
from flymotion.circuits.schooling import schooling
from flymotion.claims import reproducing
from flymotion.claims.judging import Known
from flymotion.claims.rows import above
from flymotion.cli import flight, main
from flymotion.contest import competing
from flymotion.detecting import read_trace
from flymotion.flying import portraits
from flymotion.keeping import load
from flymotion.plots.canvas import new_figure
from flymotion.video import open_movie
from flymotion.world import Hexagon
from flymotion.writing import results, runs

ARGUMENTS = {
    "detect": ["frames", "--overlay", "arrows", "--fields", "npz"],
    "learn": ["frames", "--patch", "3", "--n-pairs", "300", "--force"],
    "tune": ["hrd", "--experiment", "contrast", "--experiment", "edges"],
    "compare": ["hrd", "barlow-levick"],
    "reproduce": [],
    "rivals": ["--worlds", "ring,rotation", "--learners", "random"],
    "fly": ["--eye", "hex", "--radius", "2", "--max-frames", "3"],
}
"""What is asked of each command that writes into a folder, beside --out."""

WRITING = [name for name, command in main.commands.items() if any(p.name == "out" for p in command.params)]


@dataclass(frozen=True)
class Config:
    """Of a group of claims that takes no time."""

    n_seeds: int = 2
    videos: tuple[str, ...] = ()


@pytest.fixture
def small_groups(monkeypatch):
    """Two groups of claims that take no time, and a figure each."""

    def group(id):
        return SimpleNamespace(
            __doc__="Small.",
            CLAIMS={id: "one is more than none"},
            Config=Config,
            QUICK={},
            work=lambda config: {"ones": [lambda: 1.0 + len(list(map(open_movie, config.videos)))] * config.n_seeds},
            check=lambda found, config: [above(f"{id}.one", "one", found["ones"], 0.0)],
            figures=lambda found, config: {f"figure_{id}": noise()},
        )

    groups = {"first": group("C1"), "second": group("C2")}
    monkeypatch.setattr(reproducing, "groups", lambda: groups)
    monkeypatch.setattr(claims, "recorded", lambda full: dict.fromkeys(["C1.one", "C2.one"], Known(1.0, True)))
    monkeypatch.setattr(reproducing, "on_cores", lambda n, done=bool: lambda work: worked(work, done))
    return groups


@cache
def taught():
    """A circuit of few columns that has seen a second."""
    eye = Hexagon(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in a second few columns learn four directions
        return T4T5Circuit(eye).fit(schooling(eye, n_clips=1, duration=1.0, random_state=0))


def noise():
    figure = new_figure(2, 2)
    figure.figimage(np.random.default_rng(0).normal(size=(300, 300)))
    return figure


def drawn(*given):
    return noise()


def worked(work, done):
    for piece in work:
        yield piece()
        done()


@pytest.fixture
def place(tmp_path, monkeypatch, small_groups, characterised):
    """An empty folder with frames to read, which commands run in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "frames").mkdir()
    noise = gaussian_filter(np.random.default_rng(0).normal(size=(32, 40)), 1.5)
    image = np.uint8(127 + 120 * noise / np.abs(noise).max())
    for t in range(5):
        Image.fromarray(image[:, t : t + 32]).save(tmp_path / "frames" / f"{t}.png")
    monkeypatch.setattr(tuning, "characterise", lambda detector: characterised)
    for owner in ("claims.running", "contest.competing"):
        monkeypatch.setattr(f"flymotion.{owner}.on_cores", lambda n, done=bool: lambda work: worked(work, done))
    small = {"n_seeds": 1, "n_pairs": (50,), "n_noisy": 50, "n_new": 50, "snrs": ()}
    monkeypatch.setattr(competing, "QUICK", small)
    monkeypatch.setattr(flight, "_trained", lambda given, eye: taught())
    for name in ("inputs", "lattice", "leanings", "tuning"):
        monkeypatch.setattr(portraits, f"draw_{name}", drawn)
    handlers = {n: signal.signal(n, signal.default_int_handler) for n in (signal.SIGINT, signal.SIGTERM)}
    yield tmp_path
    for number, handler in handlers.items():
        signal.signal(number, handler)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def old(place, request):
    """The folder "out" with results of an earlier run, and a file of the user's own."""
    out = place / "out"
    out.mkdir()
    for name in NAMES[request.getfixturevalue("command")]:
        (out / name).write_bytes(b"old")
    (out / "mine.png").write_bytes(b"mine")
    return out


NAMES = {
    "detect": ["global-motion.csv", "global-motion.png", "fields.npz", "overlay-arrows.mp4"],
    "learn": ["model.safetensors", "filters.png"],
    "tune": [f"hrd-{name}.{suffix}" for name in ("contrast", "edges") for suffix in ("nc", "png")],
    "compare": ["compare.csv", "compare.png"],
    "reproduce": [
        "claims.json",
        "verdict.md",
        "index.html",
        "figure_C1.png",
        "figure_C1.nc",
        "figure_C2.png",
        "figure_C2.nc",
    ],
    "rivals": ["rivals.json", "timings.json", "rivals.md", "rivals.png"],
    "fly": ["inputs.png", "eye.png", "leanings.png", "tuning.png", "responses.nc", "fly.mp4", "fly.gif"],
}
"""What each writes."""


@pytest.fixture
def no_work(monkeypatch):
    """Let whatever takes time fail the test."""

    def fail(*arguments, **options):
        pytest.fail("work was begun")

    monkeypatch.setattr(flymotion, "learn", fail)
    monkeypatch.setattr(detecting, "detect", fail)
    monkeypatch.setattr(tuning, "experiment", fail)
    monkeypatch.setattr(tuning, "characterise", fail)
    monkeypatch.setattr(reproducing, "finished", fail)
    monkeypatch.setattr(competing, "trial", fail)
    monkeypatch.setattr(flight, "_trained", fail)


def is_one_line(status, out, err):
    return status == 2 and out == "" and err.startswith("Error: ") and err.count("\n") == 1 and "Traceback" not in err


def test_every_command_that_writes_is_here():
    assert set(WRITING) - {"inspect", "live"} == set(ARGUMENTS) == set(NAMES)


@pytest.mark.parametrize("command", ARGUMENTS)
def test_results_replace_those_of_an_earlier_run(run, command, old):
    status, _, err = run(command, *ARGUMENTS[command], "--out", "out")
    assert status == 0, err
    found = contents(old)
    assert set(found) == {*NAMES[command], "mine.png"}
    assert found.pop("mine.png") == b"mine" and b"old" not in found.values()


# Before the work


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_file_where_a_folder_is_needed_is_found_before_the_work(run, command, place, no_work):
    (place / "file").touch()
    told = run(command, *ARGUMENTS[command], "--out", "file/out")
    assert is_one_line(*told) and "file/out: cannot be written (Not a directory)" in told[2]


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_file_system_that_is_read_only_is_found_before_the_work(run, command, old, no_work, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    before = contents(old)
    monkeypatch.setattr(runs.os, "open", refuse)
    told = run(command, *ARGUMENTS[command], "--out", "out")
    monkeypatch.undo()
    assert is_one_line(*told) and "out: cannot be written (Read-only file system)" in told[2]
    assert contents(old) == before


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_folder_where_a_file_is_to_be_is_found_before_the_work(run, command, place, no_work):
    name = NAMES[command][0]
    (place / "out" / name).mkdir(parents=True)
    told = run(command, *ARGUMENTS[command], "--out", "out")
    assert is_one_line(*told) and f"out/{name}: is a folder" in told[2]


@pytest.mark.parametrize("command", ARGUMENTS)
def test_of_two_runs_into_one_folder_the_second_is_refused(run, command, old, no_work):
    pytest.importorskip("fcntl")
    before = contents(old)
    with results(old):
        told = run(command, *ARGUMENTS[command], "--out", "out")
    assert is_one_line(*told) and "out: another run is writing there" in told[2]
    assert contents(old) == before


@pytest.mark.case("B55")
@pytest.mark.parametrize(
    ("command", "name", "arguments"),
    [
        ("detect", "overlay-arrows.mp4", ["{}", "--overlay", "arrows"]),
        ("detect", "fields.npz", ["frames", "--fields", "npz", "--model", "{}"]),
        ("learn", "model.safetensors", ["{}"]),
        ("learn", "filters.png", ["frames", "{}"]),
        ("tune", "hrd-recording.png", ["hrd", "--experiment", "contrast", "--recording", "{}"]),
        ("compare", "compare.csv", ["hrd", "{}"]),
        ("reproduce", "claims.json", ["--video", "{}"]),
    ],
)
@pytest.mark.parametrize("link", ["the file itself", "symbolic", "hard"])
def test_an_output_that_is_an_input_is_refused(run, command, name, arguments, link, place, no_work):
    source = place / "out" / name
    source.parent.mkdir(parents=True)
    source.write_bytes(b"read")
    made = {"symbolic": os.symlink, "hard": os.link, "the file itself": lambda a, b: None}
    made[link](source, place / "link")
    given = source if link == "the file itself" else place / "link"
    told = run(command, *(argument.format(given) for argument in arguments), "--out", "out")
    assert is_one_line(*told) and "read" in told[2]
    assert contents(place / "out") == {name: b"read"}


@pytest.mark.case("B55")
def test_a_folder_that_holds_an_input_is_not_replaced(run, place, no_work):
    source = place / "out" / "fields.zarr" / "velocity"
    source.mkdir(parents=True)
    told = run("detect", source, "--fields", "zarr", "--out", "out")
    assert is_one_line(*told) and "which is read from" in told[2]


@pytest.mark.case("B55")
@pytest.mark.parametrize("command", ["detect", "learn"])
def test_nothing_is_added_to_a_folder_that_is_read(run, command, place, no_work):
    before = contents(place / "frames")
    told = run(command, *ARGUMENTS[command], "--out", "frames")
    assert is_one_line(*told) and "which is read from" in told[2]
    assert contents(place / "frames") == before


# Failing


@pytest.mark.case("B55")
@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_run_that_fails_leaves_the_results_of_earlier_ones(run, command, old, monkeypatch):
    before = contents(old)
    wrong = {
        "detect": ["frames", "--start", "100", "--overlay", "arrows", "--fields", "npz"],
        "learn": ["frames", "--start", "100"],
        "tune": ["frames/0.png"],
        "compare": ["frames/0.png"],
        "reproduce": ["--video", "no.mp4"],
        "rivals": ["--worlds", "nowhere"],
        "fly": ["no.mp4"],
    }
    told = run(command, *wrong[command], "--out", "out")
    assert is_one_line(*told), told
    assert contents(old) == before


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_run_that_fails_leaves_no_empty_folder(run, command, place, monkeypatch):
    wrong = {"tune": ["frames/0.png"], "compare": ["frames/0.png"], "reproduce": ["--video", "no.mp4"]}
    wrong["rivals"] = ["--worlds", "nowhere"]
    assert run(command, *wrong.get(command, ["no.mp4"]), "--out", "new/out")[0] == 2
    assert not (place / "new").exists()


def test_fields_that_cannot_be_written_leave_no_empty_folder(run, place, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    told = run("detect", "frames", "--fields", "zarr", "--out", "new")
    assert is_one_line(*told) and "new/fields.zarr: zarr is not installed; pip install zarr" in told[2]
    assert not (place / "new").exists()


@pytest.fixture(scope="session")
def known_sizes():
    return {}


@pytest.fixture
def largest(run, command, place, known_sizes):
    """Size of the largest file that a command writes, once it has: compiled code and fonts are in their caches."""
    if command not in known_sizes:
        assert run(command, *ARGUMENTS[command], "--out", "warm")[0] == 0
        known_sizes[command] = max(map(len, contents(place / "warm").values()))
    return known_sizes[command]


@pytest.mark.parametrize("most", [2, 8000, *(pytest.param(n, marks=pytest.mark.slow) for n in (500, 1500, 30_000))])
@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_full_disk_leaves_the_results_of_earlier_runs(run, command, most, old, largest):
    """Files may not grow beyond a size, so that one write after the other fails, of whatever library."""
    resource = pytest.importorskip("resource")
    before, limits = contents(old), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
    try:
        status, _, err = run(command, *ARGUMENTS[command], "--out", "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert largest > most
    assert status == 2 and err.count("\n") == 1 and "cannot be written (File too large)" in err
    left = {name: written for name, written in contents(old).items() if not name.startswith("unfinished")}
    kept = {"tune": [name for name in before if name.startswith("hrd-contrast")], "fly": before}.get(command, [])
    assert set(left) == set(before)
    assert {name for name in before if left[name] != before[name]} <= set(kept)  # as it is a result of its own


def test_a_picture_that_fails_does_not_lose_the_model(run, place, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("flymotion.plots.filter_sheet", fail)
    status, _, err = run("learn", *ARGUMENTS["learn"], "--out", "out")
    assert status == 2 and "what was finished is in out/unfinished" in err
    assert load(place / "out" / "unfinished" / "model.safetensors").n_pairs_seen_ == 4


# Interrupted


@pytest.fixture
def interrupt(monkeypatch, small_groups):
    """Let a signal come once the first step of the work is done, before the second."""

    def at_second(number, owner, name):
        work, calls = getattr(owner, name), []

        def interrupted(*arguments, **options):
            calls.append(name)
            {2: signal.raise_signal}.get(len(calls), bool)(number)
            return work(*arguments, **options)

        monkeypatch.setattr(owner, name, interrupted)

    def prepare(number):
        at_second(number, detecting.MotionTable, "write")
        at_second(number, tuning, "experiment")
        at_second(number, tuning, "characterise")
        at_second(number, competing, "trial")
        monkeypatch.setattr(portraits, "draw_lattice", lambda eye: signal.raise_signal(number))
        at_second(number, flymotion.learner.learned_state.LearnedState, "learn")
        small_groups["second"].work = lambda config: {"ones": lambda: signal.raise_signal(number)}

    return prepare


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ARGUMENTS)
def test_what_was_finished_is_kept_and_said(run, command, number, expected, old, interrupt):
    before = contents(old)
    interrupt(number)
    status, _, err = run(command, *ARGUMENTS[command], "--out", "out")
    kept = {"tune": "", "fly": ""}.get(command, "/unfinished")  # each experiment, or file, is a result of its own
    assert status == expected
    assert err.splitlines()[-1].startswith("Interrupted: ") and err.endswith(f"out{kept}\n")
    found = {name: written for name, written in contents(old).items() if "/pieces/" not in name}
    finished = NAMES[command][: {"tune": 2, "reproduce": 5, "fly": 1}.get(command)]
    assert {name.removeprefix("unfinished/") for name in found if found[name] not in (b"old", b"mine")} == set(finished)
    same = [name for name in before if found[name] == before[name]]
    assert set(same) == set(before) - set({"tune": finished, "fly": finished}.get(command, []))


def test_of_a_source_without_an_end_ctrl_c_is_the_end(run, place, interrupt, monkeypatch):
    opened = detecting.detection.open_movie

    def live(*arguments, **options):
        movie = opened(*arguments, **options)
        object.__setattr__(movie, "live", True)
        return movie

    monkeypatch.setattr(detecting.detection, "open_movie", live)
    interrupt(signal.SIGINT)
    status, _, err = run("detect", "frames", "--out", "out")
    assert (status, err) == (130, "Interrupted: what was measured of 2 frames until then is in out\n")
    assert len(read_trace("out/global-motion.csv").frame) == 2


@pytest.mark.parametrize("command", [*ARGUMENTS, "watch"])
def test_what_has_nothing_says_so(run, command, place, monkeypatch, small_groups):
    def stop(*arguments, **options):
        signal.raise_signal(signal.SIGINT)

    for name in ("detecting.detect", "tuning.experiment", "tuning.characterise", "contest.competing.trial"):
        monkeypatch.setattr(f"flymotion.{name}", stop)
    monkeypatch.setattr(flight, "_trained", stop)
    monkeypatch.setattr(flymotion, "learn", lambda *a, **k: stop() or int("nothing to learn from"))
    small_groups["first"].work = lambda config: {"ones": lambda: signal.raise_signal(signal.SIGINT)}
    arguments = [*ARGUMENTS.get(command, ["frames"]), *({"watch": []}.get(command, ["--out", "out"]))]
    status, out, err = run(command, *arguments)
    assert (status, out, err) == (130, "", "Interrupted: nothing was finished\n")
    assert not (place / "out").exists()


@pytest.mark.parametrize("command", ["detect"])
def test_a_second_ctrl_c_ends_at_once(run, command, old, interrupt, monkeypatch):
    monkeypatch.setattr("flymotion.detecting.trace.draw_trace", lambda trace: signal.raise_signal(signal.SIGINT))
    before = contents(old)
    interrupt(signal.SIGINT)
    status, out, err = run(command, *ARGUMENTS[command], "--out", "out")
    assert (status, out) == (130, "") and "what was finished is in out/unfinished" in err
    found = contents(old)
    assert {name: found[name] for name in before} == before and "unfinished/global-motion.png" not in found


# Claims


def test_figures_of_an_earlier_run_go_and_those_of_others_stay(run, place):
    assert run("reproduce", "--out", "out")[0] == 0
    Image.new("L", (4, 4)).save("out/mine.png")
    (place / "out" / "broken.png").write_bytes(b"no image")
    assert run("reproduce", "c2", "--out", "out")[0] == 0
    written = {"claims.json", "verdict.md", "index.html", "figure_C2.png", "figure_C2.nc"}
    assert set(contents(place / "out")) == {*written, "mine.png", "broken.png"}


def test_claims_are_listed(run):
    status, out, _ = run("reproduce", "--list")
    assert status == 0
    assert [id for id, words in claims.known_claims().items() if id not in out or words not in out] == []


def test_names_that_are_no_text_can_be_written(place):
    reproducing.write([above("C1.x", "x", {"b\udcff.mp4": 1.0}, 0.0)], Path("claims.json"))
    assert "b\\udcff.mp4" in Path("claims.json").read_text()


# In a shell


SHELL = {
    "detect": ["detect", "long.npy", "--overlay", "arrows", "--fields", "npz"],
    "learn": ["learn", "long.npy", "--patch", "3"],
    "tune": ["tune", "hrd"],
    "compare": ["compare"],
    "reproduce": ["reproduce", "C14", "C13"],
    "rivals": ["rivals"],
}
"""What takes long."""


@pytest.mark.slow
@pytest.mark.parametrize("after", [1.0, 4.0, 10.0])
@pytest.mark.parametrize("command", SHELL)
def test_ctrl_c_in_a_shell_leaves_earlier_results(tmp_path, command, after):
    """The signal goes to all processes, as from a terminal."""
    noise = gaussian_filter(np.random.default_rng(0).normal(size=(48, 400)), 1.5)
    np.save(tmp_path / "long.npy", np.uint8(127 + 30 * np.stack([noise[:, t : t + 64] for t in range(300)] * 20)))
    last = tmp_path / "out" / {"tune": "hrd-edges.png"}.get(command, NAMES[command][0])
    last.parent.mkdir()
    last.write_bytes(b"old")
    process = subprocess.Popen(
        [sys.executable, "-m", "flymotion", *SHELL[command], "--out", "out"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode in (130, -signal.SIGINT, 0)
    assert "Traceback" not in err or after == 1.0  # while Python itself starts
    assert process.returncode != 130 or last.read_bytes() == b"old"  # else it ended before it began, or was done
    assert [path.name for path in last.parent.iterdir() if path.name.startswith(".")] == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 40 MB of its own; where there may be none the test is skipped."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_disk_that_is_read_only_or_full_leaves_earlier_results(run, command, place, small_disk):
    out = small_disk / "out"
    assert run(command, *ARGUMENTS[command], "--out", out)[0] == 0
    before = contents(out)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    told = run(command, *ARGUMENTS[command], "--out", out)
    assert is_one_line(*told) and f"{out}: cannot be written (Read-only file system)" in told[2]
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    for left in (0, 4096):
        usage = os.statvfs(small_disk)
        (small_disk / "fill").write_bytes(bytes(usage.f_bavail * usage.f_bsize - left))
        status, _, err = run(command, *ARGUMENTS[command], "--out", out)
        assert status == 2 and err.count("\n") == 1 and "cannot be written (No space left on device)" in err
        found = contents(out)
        assert {name for name in found if not name.startswith("unfinished")} == set(before)
        (small_disk / "fill").unlink()
