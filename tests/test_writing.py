"""Files are written whole or not at all."""

import pytest

from flymotion.writing import WriteError, check, whole


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
    with pytest.raises(WriteError, match="is read from"):
        check(tmp_path / "file", sources=[tmp_path / "." / "file"])
    with pytest.raises(WriteError, match="is a folder"), whole(tmp_path) as place:
        place.write_text("new")
