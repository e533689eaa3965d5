"""The verdict: sentences judged by rows, what differs from the record, and that record and page agree."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from flymotion.claims import FIGURES, SENTENCES, differences, known_claims, recorded
from flymotion.claims.judging import Known, Sentence, as_known, judge
from flymotion.claims.rows import above, report, write
from flymotion.claims.verdict_page import verdict_page

SENTENCE = Sentence("it does", "2.5", ("C1.a", "C1.b < 0.5"), ("C1.c",), condition="it can")

PAGE = Path(__file__).parents[1] / "docs" / "verdict.md"


def rows(a=0.9, b=0.1, c=0.9):
    return [above("C1.a", "a", a, 0.5), report("C1.b", "b", b), above("C1.c", "c", c, 0.5, note="world | L1")]


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ({}, "holds"),
        ({"c": 0.1}, "holds if"),
        ({"a": 0.1}, "fails"),
        ({"b": 0.6}, "fails"),
        ({"b": np.nan}, "fails"),
        ({"a": 0.1, "c": 0.1}, "fails"),
    ],
)
def test_rows_decide_and_limit(found, word):
    assert judge(SENTENCE, as_known(rows(**found))).word == word


def test_without_a_row_nothing_is_said():
    assert judge(SENTENCE, as_known(rows()[:2])).word == "not measured"
    assert judge(Sentence("it will", "3", waits_for="another issue"), as_known(rows())).word == "not measured"


# -- what is on record -----------------------------------------------------------------------------------------------


def test_a_known_failure_is_no_difference_and_a_change_is():
    before = as_known(rows(a=0.1))
    assert differences(rows(a=0.2), [SENTENCE], before) == []
    assert differences(rows(), [SENTENCE], before) == [
        "C1.a fails, and now holds",
        "“it does” was recorded with “fails”, and now “holds”",
    ]


def test_a_report_that_crosses_what_a_sentence_asks_for_is_a_difference():
    [line] = differences(rows(b=0.6), [SENTENCE], as_known(rows()))
    assert "“it does”" in line and "“fails”" in line


def test_rows_that_are_new_or_gone_differ_and_other_claims_do_not_count():
    before = as_known(rows()) | {"C2.a": Known(1.0, True)}
    assert differences(rows()[1:], [SENTENCE], before) == ["C1.a holds, and now is not on record"]
    new = above("C1.new", "", 1.0, 2.0)
    assert differences([*rows(), new], [SENTENCE], before) == ["C1.new is not on record, and now fails"]


# -- the paper's sentences -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: f"{sentence.place}: {sentence.quote[:40]}")
def test_a_sentence_is_measured_or_says_what_it_waits_for(sentence):
    assert bool(sentence.rows) != bool(sentence.waits_for)
    assert bool(sentence.limited_by) == bool(sentence.condition)
    for full in (False, True):
        known = recorded(full=full)
        assert set(sentence.rows) <= set(known)
        by_itself = [spec for spec in (*sentence.decided_by, *sentence.limited_by) if " " not in spec]
        assert [id for id in by_itself if known[id].holds is None] == []


@pytest.mark.parametrize("full", [False, True], ids=["quick", "full"])
def test_every_claim_is_on_record_with_the_same_rows_at_either_size(full):
    assert {id.partition(".")[0] for id in recorded(full=full)} == set(known_claims())
    assert recorded(full=full).keys() == recorded(full=not full).keys()


def test_the_page_says_what_is_on_record():
    lines = PAGE.read_text().splitlines()
    for sentence in SENTENCES:
        [line] = [line for line in lines if f"“{sentence.quote}”" in line]
        word = judge(sentence, recorded(full=True)).word
        assert line.split(" | ")[2].startswith({"not measured": "not yet: "}.get(word, f"**{word}**"))


# -- the page --------------------------------------------------------------------------------------------------------


def test_failures_come_first_with_their_figures():
    page = verdict_page(rows(c=0.1), [SENTENCE, Sentence("c", "B", ("C1.c",))], FIGURES, "Measured so.")
    assert re.findall("^## (.*)", page, re.M) == [
        "What fails",
        "What holds with a condition",
        "Measures that miss their bound",
        "The paper's figures",
    ]
    assert "| Suppl. B | “c” | **fails** | `C1.c` 0.1 (not > 0.5) |" in page
    assert "**holds if** it can | `C1.a` 0.9 (> 0.5); `C1.b` 0.1 (< 0.5*); `C1.c` 0.1 (not > 0.5) |" in page
    assert "world \\| L1" in page


def test_of_some_claims_only_their_sentences_are_on_the_page():
    page = verdict_page(rows()[:2], [SENTENCE], FIGURES, "Measured so.", all_claims=False)
    assert "it does" not in page and "figures" not in page


# -- putting results on record -----------------------------------------------------------------------------------------


@pytest.fixture
def record():
    """What benchmarks/record_verdict.py does with the names of folders."""
    return runpy.run_path(str(PAGE.parents[1] / "benchmarks" / "record_verdict.py"))["main"]


@pytest.mark.parametrize("folders", [(), ("full",), ("full", "quick", "more")])
def test_two_folders_are_recorded(record, folders):
    with pytest.raises(SystemExit, match=f"^{len(folders)} folders were given; expected two"):
        record(*folders)


def test_results_that_are_not_there_or_of_some_claims_are_not_recorded(record, tmp_path):
    before = PAGE.read_bytes()
    with pytest.raises(SystemExit, match=r"claims\.json is not there; expected what a finished"):
        record(str(tmp_path), str(tmp_path))
    write(rows(), tmp_path / "claims.json")
    with pytest.raises(SystemExit, match=r"claims\.json has no rows of C10, C11, .*; expected those of all claims"):
        record(str(tmp_path), str(tmp_path))
    assert PAGE.read_bytes() == before


def test_sizes_in_the_wrong_order_are_not_recorded(record, tmp_path):
    write([report(f"{id}.a", "a", 0.1) for id in known_claims()], tmp_path / "claims.json")
    with pytest.raises(SystemExit, match=r"has no more seeds than .*; expected results of --full"):
        record(str(tmp_path), str(tmp_path))
