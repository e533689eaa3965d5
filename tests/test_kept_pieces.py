"""A run that did not end goes on: what was finished is not done again, and is never that of other code or settings."""

import os
import pickle
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from flymotion.claims import Interrupted, cells, kept_pieces, reproduce, reproducing
from flymotion.claims.kept_pieces import Done, KeptPieces, packed, unpacked
from flymotion.claims.rows import Verdict, above, report
from flymotion.frames import FramePairs


@dataclass(frozen=True)
class Config:
    """Of a group whose pieces count themselves."""

    n_seeds: int = 3
    scale: float = 1.0
    videos: tuple[str, ...] = ()


@pytest.fixture
def counted(monkeypatch):
    """A group of three pieces, those done by now, and the piece to stop at."""
    calls, stop = [], set()

    def piece(scale, seed):
        calls.append(seed)
        if seed in stop:
            raise KeyboardInterrupt
        return scale * np.arange(seed, seed + 2)

    group = SimpleNamespace(
        __doc__="Counted.",
        CLAIMS={"C1": "numbers are numbers"},
        Config=Config,
        QUICK={},
        work=lambda config: {"numbers": [partial(piece, config.scale, seed) for seed in range(config.n_seeds)]},
        check=lambda found, config: [above("C1.least", "sum", found["numbers"].sum(axis=1), -1.0)],
    )
    monkeypatch.setattr(reproducing, "groups", lambda: {"counted": group})
    return calls, stop


def interrupted(calls, stop, out, at=2, **settings):
    """Stop at a piece; forgets the calls until then."""
    stop.add(at)
    with pytest.raises(Interrupted) as error:
        reproduce(out=out, n_jobs=1, **settings)
    stop.clear()
    calls.clear()
    return error.value


def kept_in(out):
    return sorted(path for path in (out / "unfinished" / "pieces").rglob("*") if path.is_file())


def test_a_second_run_goes_on_where_the_first_stopped_and_says_so(counted, tmp_path):
    error = interrupted(*counted, tmp_path)
    assert str(error) == (
        "0 of 1 groups of claims were finished, and 2 of 3 pieces of work, which the same command takes over: "
        f"{tmp_path / 'unfinished'}"
    )
    assert len(kept_in(tmp_path)) == 2 and os.listdir(tmp_path) == ["unfinished"]
    told, steps = [], []
    rows = reproduce(out=tmp_path, n_jobs=1, tell=told.append, progress=lambda *step: steps.append(step[:2]))
    assert counted[0] == [2]
    assert told == ["2 of 3 pieces of work were finished by an earlier run, and are taken over"]
    assert steps == [(2, 3), (3, 3)]
    assert [row.value for row in rows] == [1.0] and rows[0].seeds == 3
    assert "2 of them were finished by an earlier run" in (tmp_path / "index.html").read_text()


def test_results_that_are_there_need_no_pieces(counted, tmp_path):
    interrupted(*counted, tmp_path)
    kept_in(tmp_path)[0].with_name(".unfinished-1-a").touch()  # of a process that was killed as it wrote
    reproduce(out=tmp_path, n_jobs=1)
    assert sorted(os.listdir(tmp_path)) == ["claims.json", "index.html", "verdict.md"]
    counted[0].clear()
    reproduce(out=tmp_path, n_jobs=1)
    assert counted[0] == [0, 1, 2]


@pytest.mark.parametrize("settings", [{"scale": 2.0}, {"n_seeds": 4}])
def test_of_other_settings_nothing_is_taken_and_nothing_goes(counted, tmp_path, settings):
    interrupted(*counted, tmp_path)
    rows = reproduce(out=tmp_path, n_jobs=1, **settings)
    assert counted[0] == list(range(settings.get("n_seeds", 3)))
    assert [row.value for row in rows] == [settings.get("scale", 1.0)]
    counted[0].clear()
    reproduce(out=tmp_path, n_jobs=1)
    assert counted[0] == [2]


def test_of_other_code_nothing_is_taken_and_all_goes(counted, tmp_path, monkeypatch):
    interrupted(*counted, tmp_path)
    before = kept_in(tmp_path)
    monkeypatch.setattr(kept_pieces, "code", lambda: "other")
    interrupted(*counted, tmp_path, at=1)
    assert len(kept_in(tmp_path)) == 1 and not set(before) & set(kept_in(tmp_path))
    reproduce(out=tmp_path, n_jobs=1)
    assert counted[0] == [1, 2]


def test_a_video_of_the_same_name_is_another_when_it_was_written_again(counted, tmp_path):
    video = tmp_path / "film.npy"
    video.write_bytes(b"one")
    interrupted(*counted, tmp_path / "out", videos=(str(video),))
    os.utime(video, ns=(1, 1))
    reproduce(out=tmp_path / "out", n_jobs=1, videos=(str(video),))
    assert counted[0] == [0, 1, 2]


@pytest.mark.parametrize(
    "damaged", [lambda kept: b"", lambda kept: kept[:-3], lambda kept: kept[:40] + b"x" + kept[41:]]
)
def test_a_damaged_piece_is_done_again(counted, tmp_path, damaged):
    interrupted(*counted, tmp_path)
    for path in kept_in(tmp_path):
        path.write_bytes(damaged(path.read_bytes()))
    reproduce(out=tmp_path, n_jobs=1)
    assert counted[0] == [0, 1, 2]


def test_where_pieces_cannot_be_kept_the_run_goes_on(counted, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_pieces, "whole", lambda place: (_ for _ in ()).throw(OSError("full")))
    assert len(reproduce(out=tmp_path, n_jobs=1)) == 1


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_piece_from_elsewhere_runs_nothing(tmp_path):
    hostile = packed(Done([Hostile(str(tmp_path / "made"))], 1.0))
    with pytest.raises(pickle.UnpicklingError, match="mkdir is no part of a result"):
        unpacked(hostile)
    opening = packed(Done(cells.Config(), 1.0))  # looks for videos
    with pytest.raises(pickle.UnpicklingError, match="Config is no part of a result"):
        unpacked(opening)
    named = packed(Done(reproduce, 1.0))
    with pytest.raises(pickle.UnpicklingError, match="reproduce is no part of a result"):
        unpacked(named)
    assert os.listdir(tmp_path) == []


def test_results_come_back_as_they_were():
    labelled = xr.Dataset(
        {"response": (("cell", "direction"), np.arange(4.0).reshape(2, 2), {"units": "1"})},
        {"cell": ["T4a", "T4b"], "direction": [0.0, 90.0]},
        {"source": "here"},
    )
    row = report("C1.a", "a", 1.0)
    pairs = FramePairs(np.zeros((2, 3)), np.ones((2, 3)))
    given = {"a": [np.float64(1), None, "b"], "rows": Verdict("C1", "a", row, None), "pairs": pairs, "cells": labelled}
    back = unpacked(packed(Done(given, 2.5)))
    assert back.seconds == 2.5 and back.result["a"] == given["a"] and back.result["rows"] == given["rows"]
    np.testing.assert_array_equal(back.result["pairs"].after, pairs.after)
    xr.testing.assert_identical(back.result["cells"], labelled)
    assert back.result["cells"].cell.dtype == labelled.cell.dtype


def test_a_digest_of_the_code_is_that_of_every_source_but_of_what_comes_later(tmp_path, monkeypatch):
    def digest(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("_", "/")
            path.parent.mkdir(exist_ok=True, parents=True)
            path.with_suffix(".py").write_text(text)
        return kept_pieces.code.__wrapped__()

    monkeypatch.setattr(kept_pieces, "PACKAGE", tmp_path)
    first = digest(world_eyes="a", claims_page_slips="b", cli_paper="c")
    assert digest(claims_page_slips="other", cli_paper="other") == first
    assert digest(world_eyes="other") != first
    second = kept_pieces.code.__wrapped__()
    monkeypatch.setattr(kept_pieces, "versions", lambda: {"numpy": "0"})
    assert kept_pieces.code.__wrapped__() != second


def test_pieces_of_the_groups_at_hand_are_told_apart(tmp_path):
    modules = reproducing.groups()
    configs = {name: module.Config(**module.QUICK) for name, module in modules.items()}
    kept = KeptPieces(tmp_path, {name: module.work(configs[name]) for name, module in modules.items()}, configs)
    assert len(set(kept._places)) == kept.n > 100 and kept.n_taken == 0 and kept.left == kept.groups
