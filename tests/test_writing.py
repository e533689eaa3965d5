"""Files are written whole or not at all."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flymotion.writing import WriteError, check, results, whole, whole_files
from flymotion.writing.runs import ASIDE, LOCK


def test_a_file_is_in_place_when_the_block_ends(tmp_path):
    with whole(tmp_path / "new" / "a.txt") as place:
        place.write_text("whole")
        assert place.parent == tmp_path / "new" and place.suffix == ".txt" and not (tmp_path / "new" / "a.txt").exists()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.txt"]


def test_a_folder_replaces_what_was_there(tmp_path):
    for text in "ab":
        with whole(tmp_path / "group.zarr") as place:
            place.mkdir()
            (place / text).write_text(text)
    assert [path.name for path in tmp_path.rglob("*")] == ["group.zarr", "b"]


def test_what_was_there_stays_where_the_block_fails(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), whole(path) as place:
        place.write_text("new")
        raise ZeroDivisionError
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.txt", "old")]


def test_faults_are_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match=r"file/a\.txt: cannot be written \(.+\)"):
        check(tmp_path / "file" / "a.txt")
    with pytest.raises(WriteError, match=r"cannot be written \(Not a directory\)"), results(tmp_path / "file"):
        pass
    with pytest.raises(WriteError, match="is read from"):
        check(tmp_path / "file", sources=[tmp_path / "." / "file"])
    with pytest.raises(WriteError, match="is a folder"), whole(tmp_path) as place:
        place.write_text("new")


def test_devices_are_not_replaced():
    with pytest.raises(WriteError, match="a device or a pipe"):
        check(os.devnull)


def test_a_link_is_followed_and_permissions_stay(tmp_path):
    (tmp_path / "data").mkdir()
    target = tmp_path / "data" / "a.txt"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "a.txt").symlink_to(target)
    with whole(tmp_path / "a.txt") as place:
        place.write_text("new")
        assert place.parent == target.parent
    assert (tmp_path / "a.txt").is_symlink() and target.read_text() == "new" and target.stat().st_mode & 0o777 == 0o640


def test_faults_of_reading_are_not_taken_for_those_of_writing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"other\.csv"), whole(tmp_path / "a.txt"):
        Path("other.csv").read_text()


def test_ctrl_c_puts_what_is_complete_elsewhere_if_that_is_wanted(tmp_path):
    finished = []
    with (
        pytest.raises(KeyboardInterrupt),
        whole(tmp_path / "a", finish=lambda: finished.append(1), interrupted=tmp_path / "b" / "a") as place,
    ):
        place.write_text("part")
        raise KeyboardInterrupt
    assert finished == [1] and (tmp_path / "b" / "a").read_text() == "part" and os.listdir(tmp_path) == ["b"]


def test_a_folder_that_cannot_be_replaced_stays(tmp_path, monkeypatch):
    (tmp_path / "group").mkdir()
    (tmp_path / "group" / "old").touch()
    rename = Path.rename

    def fail(path, target):
        if target == tmp_path / "group" and (path / "new").exists():
            raise OSError("no")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(WriteError, match="no"), whole(tmp_path / "group") as place:
        place.mkdir()
        (place / "new").touch()
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == ["group", "group/old"]


def test_signals_wait_while_files_are_moved():
    came = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append("handled"))
    try:
        with whole_files.undisturbed():
            signal.raise_signal(signal.SIGINT)
            came.append("moved")
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == ["moved", "handled"]


def test_many_write_to_one_place_and_it_is_whole(tmp_path):
    def write(letter):
        for _ in range(20):
            with whole(tmp_path / "new" / "a.txt") as place:
                place.write_text(letter * 10_000)

    threads = [threading.Thread(target=write, args=[letter]) for letter in "abcd"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert {len(path.read_text()) for path in (tmp_path / "new").glob("a.txt")} <= {10_000}
    assert os.listdir(tmp_path / "new") == ["a.txt"]


# Results


def test_results_come_together_or_not_at_all(tmp_path):
    with results(tmp_path / "out", ["a", "b/"]) as run:
        (run.aside / "a").write_text("a")
        (run.aside / "b").mkdir()
        assert not (tmp_path / "out" / "a").exists()
    assert sorted(os.listdir(tmp_path / "out")) == ["a", "b"]


def test_what_is_complete_of_a_run_that_fails_is_kept_apart(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(ValueError, match=rf"^{tmp_path}/c: wrong") as error, results(tmp_path) as run:
        (run.aside / "a").write_text("new")
        raise ValueError(f"{run.aside / 'c'}: wrong")
    assert error.value.__notes__ == [f"what was finished is in {tmp_path / 'unfinished'}"]
    assert (tmp_path / "a").read_text() == "old" and (tmp_path / "unfinished" / "a").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["a", "unfinished"]


def test_a_place_that_cannot_be_written_to_stops_all(tmp_path):
    with pytest.raises(WriteError, match="b: is a folder"), results(tmp_path) as run:
        (tmp_path / "b").mkdir()
        (run.aside / "a").write_text("new")
        (run.aside / "b").write_text("new")
    assert not (tmp_path / "a").exists()


KILLED = """
import os, sys
from flymotion.writing import results
with results(sys.argv[1]) as run:
    (run.aside / "a").write_text("part")
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_a_run_that_is_killed_leaves_the_folder_to_the_next(tmp_path):
    pytest.importorskip("fcntl")
    process = subprocess.Popen([sys.executable, "-c", KILLED, tmp_path], stdin=-1, stdout=-1, text=True)
    assert process.stdout.readline() == "begun\n"
    with pytest.raises(WriteError, match="another run is writing there"), results(tmp_path):
        pass
    process.kill()
    process.communicate()
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left[0] == LOCK and left[1].startswith(ASIDE) and len(left) == 2
    with results(tmp_path) as run:
        (run.aside / "a").write_text("whole")
    assert os.listdir(tmp_path) == ["a"]


def test_what_was_not_begun_when_it_was_interrupted_is_not_kept(tmp_path):
    with pytest.raises(KeyboardInterrupt), whole(tmp_path / "a.mp4", interrupted=tmp_path / "unfinished" / "a.mp4"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_too_long_is_named(tmp_path):
    with (
        pytest.raises(WriteError, match=r"xxx: cannot be written \(File name too long\)"),
        whole(tmp_path / ("x" * 300)),
    ):
        pass
