"""``flymotion rivals`` as a user sees it."""

import json

import pytest

from flymotion import contest
from flymotion.claims.running import in_turn
from flymotion.contest import ARENAS, LEARNERS, Contest, competing

SMALL = {"n_seeds": 1, "n_pairs": (50,), "n_noisy": 50, "n_new": 100, "snrs": ()}


@pytest.fixture
def small(monkeypatch):
    """Few pairs, and no other processes, which would take seconds to begin."""
    monkeypatch.setattr(competing, "QUICK", SMALL)
    monkeypatch.setattr(competing, "on_cores", lambda n_jobs, done: in_turn)


def test_learners_and_worlds_are_listed_with_their_sources(run):
    status, out, _ = run("rivals", "--list")
    assert status == 0
    assert [name for name in (*LEARNERS, *ARENAS, "NeurIPS 2019") if name not in out] == []


def test_what_was_asked_for_is_measured_written_and_printed(run, small, tmp_path):
    arguments = ("--world", "ring", "--learner", "nsm:antisymmetric,random", "--out", tmp_path)
    status, out, err = run("rivals", *arguments, "--seeds", "1")
    assert (status, err) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {"rivals.json", "timings.json", "rivals.md", "rivals.png"}
    found = json.loads((tmp_path / "rivals.json").read_text())
    assert found["settings"]["learners"] == ["nsm:antisymmetric", "random"]
    assert [word for word in ("accuracy", "ring", "nsm:antisymmetric") if word not in out] == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--worlds", "L1,here"], "there is no world 'here'; expected one of L1,"),
        (["--learners", "nsn"], "there is no learner 'nsn'; expected one of nsm,"),
        (["--learners", "nsm:none"], "feature is 'none'; expected one of"),
        (["--worlds", ","], "no world or no learner is named"),
        (["--seeds", "0"], "'--seeds'"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(run, arguments, told, tmp_path):
    status, out, err = run("rivals", *arguments, "--out", tmp_path / "out")
    assert (status, out) == (2, "") and told in err
    assert err.splitlines()[-1].startswith("Error: ") and not (tmp_path / "out").exists()


def test_full_and_seeds_are_passed_on(run, monkeypatch, tmp_path):
    calls, nothing = [], Contest(competing.Config(worlds=(), learners=()), [])
    monkeypatch.setattr(contest, "compete", lambda *arguments, **options: calls.append(options) or nothing)
    assert run("rivals", "--full", "--seeds", "2", "--out", tmp_path)[0] == 0
    assert calls[0]["full"] and calls[0]["n_seeds"] == 2
