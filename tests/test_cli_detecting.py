"""``flymotion detect`` and ``flymotion watch``."""

import csv
import os
import re
import signal
import subprocess
import sys
import threading
import wave
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_sample_image

from flymotion import MotionLearner
from flymotion.cli import terminal
from flymotion.cli.terminal import ARROWS
from flymotion.detecting import MotionTable, read_trace
from flymotion.keeping import saving
from flymotion.video import open_movie


@pytest.fixture(scope="session")
def china():
    return gaussian_filter(load_sample_image("china.jpg").mean(axis=2), 1.0).astype(np.uint8)


@pytest.fixture
def video(write_video, china):
    """A photograph that moves to the left by a pixel a frame."""
    return write_video("pan.mp4", [china[100:196, 100 + t : 228 + t] for t in range(30)])


def columns_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return next(csv.reader(file))


def test_detect_writes_a_table_and_a_figure_and_says_so(run, noted, video, tmp_path):
    status, out, err = run("detect", video, "--out", tmp_path / "out")
    assert status == 0, err
    trace = read_trace(tmp_path / "out" / "global-motion.csv")
    assert len(trace.frame) == 30 and abs(np.nanmean(trace.translation[:, 0]) + 1) < 0.1
    assert (tmp_path / "out" / "global-motion.png").stat().st_size > 10_000
    assert sorted(os.listdir(tmp_path / "out")) == ["global-motion.csv", "global-motion.png"]
    for word in (
        "30, 1 clip(s), 29 pairs",
        "128 x 96 pixels",
        "frames/s (the video: 25)",
        "mean translation",
        "right -",
    ):
        assert word in out
    assert err.splitlines() == [str(tmp_path / "out" / f"global-motion.{kind}") for kind in ("csv", "png")]


def test_detect_writes_what_is_asked_for(run, noted, video, tmp_path):
    status, _, err = run("detect", video, "--out", tmp_path, "--overlay", "wheel", "--fields", "npz", "--stop", 6)
    assert status == 0, err
    assert open_movie(tmp_path / "overlay-wheel.mp4").shape == (130, 128)
    assert np.load(tmp_path / "fields.npz")["velocity"].shape == (5, 2, 96, 128)
    assert err.splitlines()[-2:] == [str(tmp_path / "fields.npz"), str(tmp_path / "overlay-wheel.mp4")]


def test_ctrl_c_ends_detection_with_what_there_is(run, video, tmp_path, monkeypatch):
    write = MotionTable.write

    def interrupted(table, step):
        write(table, step)
        {9: signal.raise_signal}.get(step.number, bool)(signal.SIGINT)

    monkeypatch.setattr(MotionTable, "write", interrupted)
    status, out, err = run("detect", video, "--out", tmp_path / "out")
    kept = tmp_path / "out" / "unfinished"
    assert (status, err) == (130, f"Interrupted: what was measured of 10 frames until then is in {kept}\n")
    assert "10, 1 clip(s), 9 pairs" in out and (kept / "global-motion.png").exists()
    assert len(read_trace(kept / "global-motion.csv").frame) == 10
    assert os.listdir(tmp_path / "out") == ["unfinished"]


def test_detect_reads_the_part_that_is_asked_for(run, video, tmp_path):
    reading = ("--start", "0.2s", "--stop", 25, "--stride", 2, "--crop", "0,64,0,100", "--scale", 2)
    status, _, err = run("detect", video, "--out", tmp_path, *reading)
    assert status == 0, err
    trace = read_trace(tmp_path / "global-motion.csv")
    assert trace.time[0] == 0.2 and np.allclose(np.diff(trace.time), 0.08)
    assert abs(np.nanmean(trace.translation[:, 0]) + 2) < 0.2


@pytest.mark.filterwarnings("default")  # few frames teach little
def test_detect_takes_a_model(run, video, china, tmp_path):
    movie = np.stack([china[100 + t % 2 :, 100:][:60, :80] for t in range(40)])
    model = saving.save(MotionLearner(4, patch=5, warm_up=2000).fit(movie), tmp_path / "model.npz")
    status, _, err = run("detect", video, "--model", model, "--out", tmp_path)
    assert status == 0, err
    assert columns_of(tmp_path / "global-motion.csv")[-4:] == [f"response{k}" for k in range(1, 5)]
    assert columns_of(tmp_path / "detectors.csv") == ["response", "direction_deg"]


@pytest.mark.filterwarnings("default")  # it is what is to be said
def test_a_model_that_has_not_learned_is_said_to(run, video, tmp_path):
    noise = np.random.default_rng(0).normal(120, 20, (40, 60, 80))
    model = saving.save(MotionLearner(4, patch=5, warm_up=2000).fit(noise), tmp_path / "model.npz")
    status, _, err = run("detect", video, "--model", model, "--out", tmp_path)
    assert status == 0 and "Warning" in err and "model.npz" in err


def test_detect_bridges_gaps_and_says_where_it_could(run, write_video, china, tmp_path):
    path = write_video("gaps.mp4", [china[100:196, 100 + t : 228 + t] for t in range(30)], drop=[7, 14, 15])
    status, out, err = run("detect", path, "--out", tmp_path)
    assert status == 0 and "frames are missing in 2 places" in out and "27, 3 clip(s), 24 pairs" in out, err
    status, out, err = run("detect", path, "--out", tmp_path, "--gaps", "bridge")
    assert status == 0 and "27, 1 clip(s), 26 pairs measured, 2 over missing frames" in out, err
    assert "missing in" not in out


def test_several_overlays_are_made_in_one_run(run, noted, video, tmp_path):
    many = ("--overlay", "arrows,wheel", "--overlay", "directions", "--overlay", "wheel")
    status, _, err = run("detect", video, "--out", tmp_path, *many, "--stop", 4)
    assert status == 0, err
    names = [f"overlay-{mode}.mp4" for mode in ("arrows", "wheel", "directions")]
    assert err.splitlines()[-3:] == [str(tmp_path / name) for name in names]
    assert {*names} <= {*os.listdir(tmp_path)}
    status, _, err = run("detect", video, "--out", tmp_path, "--overlay", "arrows,rings")
    assert status == 2 and "'rings' is not one of arrows, wheel, directions, none" in err


@pytest.fixture
def make_wrong(tmp_path):
    """What is no video or no model, by what is wrong with it."""
    rng = np.random.default_rng(0)

    def text():
        path = tmp_path / "notes.txt"
        path.write_text("not a video\n" * 100)
        return path

    def sound():
        path = tmp_path / "sound.wav"
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(b"\0\1" * 8000)
        return path

    def line():
        return saving.save(MotionLearner(2, warm_up=1000).fit(rng.random((1500, 5))), tmp_path / "line.npz")

    def garbage():
        path = tmp_path / "garbage.npz"
        np.savez(path, S=np.zeros((2, 25, 25)), R=np.eye(2))
        return path

    makers = {"text": text, "sound": sound, "line": line, "garbage": garbage, "missing": lambda: tmp_path / "no.mp4"}
    return lambda name: makers[name]()


def is_one_line(status, err):
    return status == 2 and err.startswith("Error: ") and err.count("\n") == 1 and "Traceback" not in err


@pytest.mark.parametrize("command", ["detect", "watch"])
@pytest.mark.parametrize("name", ["text", "sound", "missing"])
def test_what_is_no_video_is_one_line(run, make_wrong, command, name):
    path = make_wrong(name)
    status, _, err = run(command, path)
    assert is_one_line(status, err) and path.name in err


@pytest.mark.parametrize("name", ["line", "garbage", "missing"])
def test_what_is_no_model_of_the_plane_is_one_line(run, video, make_wrong, name):
    path = make_wrong(name)
    status, _, err = run("watch", video, "--model", path)
    assert is_one_line(status, err) and path.name in err


def test_an_unplugged_camera_is_one_line(run):
    status, _, err = run("watch", "camera:93")
    assert is_one_line(status, err) and "camera:93" in err


def test_a_folder_that_cannot_be_made_is_one_line(run, video, tmp_path):
    (tmp_path / "file").touch()
    status, _, err = run("detect", video, "--out", tmp_path / "file" / "out")
    assert is_one_line(status, err)


def test_a_crop_that_is_none_is_told(run, video):
    status, _, err = run("watch", video, "--crop", "1,2,3")
    assert status == 2 and "top, bottom, left and right" in err
    status, _, err = run("watch", video, "--crop", "0,500,0,20")
    assert is_one_line(status, err) and "crop" in err


def test_a_video_without_a_pair_is_measured_as_nothing(run, video, tmp_path):
    status, out, err = run("detect", video, "--stop", 1, "--out", tmp_path)
    assert status == 0, err
    assert "1, 1 clip(s), 0 pairs" in out and "nan" not in out


@pytest.mark.filterwarnings("default")
def test_damage_is_a_line_and_the_rest_is_measured(run, write_video, china, tmp_path):
    whole = write_video("whole.mkv", [china[100:196, 100 + t : 228 + t] for t in range(30)]).read_bytes()
    path = tmp_path / "part.mkv"
    path.write_bytes(whole[: len(whole) - 800])
    status, out, err = run("detect", path, "--out", tmp_path)
    assert status == 0 and "pairs measured" in out
    assert err.startswith(f"Warning: {path}: damaged after ") and err.count("\n") == 1


def test_watch_prints_a_line_a_second_and_a_summary(run, video):
    status, out, err = run("watch", video, "--max-frames", 27)
    assert status == 0, err
    line, summary = out.splitlines()
    assert "1.00 s  x -1." in line or "1.00 s  x -0.9" in line
    assert all(word in line for word in ("rotation", "looming", "frames/s"))
    assert summary.startswith("27 frames in ") and summary.endswith("(the video: 25)")


def test_watch_reads_the_part_that_is_asked_for(run, video):
    status, out, err = run("watch", video, "--start", "0.12s", "--stride", 2)
    assert status == 0, err
    assert re.search(r"x -(2\.0|1\.9)", out) and out.splitlines()[-1].startswith("14 frames in ")


def test_one_frame_has_no_rate(run, video):
    status, out, _ = run("watch", video, "--max-frames", 1)
    assert status == 0 and out.startswith("1 frames in 0.0 s, - frames/s")


class Shown:
    """What is shown of a movie: the numbers of frames, and whether they were late."""

    paced = True

    def __init__(self):
        self.seen = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, detection, rate, late):
        self.seen.append((detection.number, late))


@pytest.fixture
def make_found():
    """Detections of a movie whose stamps [s] are given."""

    def make(stamps, live):
        class Found:
            movie = SimpleNamespace(live=live, rate=None)

            def __iter__(self):
                return iter(SimpleNamespace(number=n, time=stamp) for n, stamp in enumerate(stamps))

        return Found()

    return make


@pytest.fixture
def clock(monkeypatch):
    """Time that passes while the terminal sleeps, and so much a look at the clock."""
    slept, each = [], [0.0]

    def now():
        slept.append(each[0])
        return sum(slept)

    monkeypatch.setattr(terminal.time, "perf_counter", now)
    monkeypatch.setattr(terminal.time, "sleep", slept.append)
    return SimpleNamespace(slept=slept, each=each)


def test_files_are_shown_at_their_own_pace(make_found, clock, capsys):
    show = Shown()
    terminal.play(make_found([0.0, 1.0, 2.0, 5.0], live=False), show)
    assert sum(clock.slept) == 4  # from the first pair on
    assert show.seen == [(n, False) for n in range(4)]


def test_cameras_are_not_held_up(make_found, clock, capsys):
    terminal.play(make_found([0.0, 1000.0, 2000.0], live=True), Shown())
    assert sum(clock.slept) == 0


def test_every_frame_is_looked_at_when_late(make_found, clock, capsys):
    clock.each[0] = 1.0
    show = Shown()
    terminal.play(make_found([0.04 * n for n in range(5)], live=False), show)
    assert [n for n, _ in show.seen] == [0, 1, 2, 3, 4]
    assert show.seen[-1][1]


def shown_in_a_terminal(*arguments, seconds):
    """Run the command in a pseudo-terminal and interrupt it some seconds after the first arrow.

    Returns its exit status and what it showed.
    """
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, np.array([30, 90, 0, 0], np.uint16).tobytes())
    look = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONIOENCODING": "utf-8"}
    size = {"COLUMNS": "90", "LINES": "30"}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a child of what ignores it would ignore it too
    process = subprocess.Popen(
        [sys.executable, "-m", "flymotion", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | look | size,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where pytest runs in the background
    )
    signal.signal(signal.SIGINT, before)
    os.close(theirs)
    parts = iter(lambda: read_some(ours), b"")
    shown = b""
    while ARROWS[0].encode()[:2] not in shown:  # any arrow
        shown += next(parts)
    interrupt = threading.Timer(seconds, process.send_signal, [signal.SIGINT])
    interrupt.start()
    shown += b"".join(parts)
    interrupt.cancel()
    os.close(ours)
    return process.wait(60), shown.decode("utf-8", "replace")


def read_some(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says so when the other side is closed
        return b""


def test_watch_draws_arrows_at_the_pace_of_the_video_until_ctrl_c(write_video, china):
    path = write_video("long.mp4", [china[100:196, 100 + t % 300 : 228 + t % 300] for t in range(1200)])
    status, shown = shown_in_a_terminal("watch", path, seconds=1.0)
    assert status == 130 and "Traceback" not in shown and "Aborted" not in shown
    left, right = (sum(map(shown.count, arrows)) for arrows in ("←↖↙", "→↗↘"))
    assert left > 100 and left > 10 * right
    assert "looming" in shown
    n, rate = re.search(r"(\d+) frames in [\d.]+ s, ([\d.]+) frames/s \(the video: 25\)\s*$", shown).groups()
    assert 2 < int(n) < 1200 and float(rate) < 25.5
