"""Every input that software was seen to get wrong, by its number, has a test that keeps it right."""

import re
from collections import Counter
from pathlib import Path

import pytest

CASES = (
    *("B01", "B02", "B03", "B04", "B05", "B06", "B07", "B08", "B09", "B10", "B11", "B12", "B14", "B15", "B16", "B18"),
    *("B19", "B21", "B23", "B24", "B25", "B28", "B29", "B30", "B32", "B34", "B36", "B37", "B39", "B40", "B42", "B45"),
    *("B47", "B49", "B50", "B51", "B53", "B54", "B55", "B56", "B57", "B58", "B59", "B60", "B61"),
)
"""Numbers of the cases."""


@pytest.fixture(scope="module")
def marked():
    """How often tests are marked with each number."""
    tests = Path(__file__).parent.glob("test_*.py")
    return Counter(number for test in tests for number in re.findall(r'"(B\d\d)"', test.read_text("utf-8")))


@pytest.mark.parametrize("number", CASES)
def test_a_case_has_a_test(marked, number):
    assert marked[number] > 0


def test_no_test_is_of_a_case_that_is_not_known(marked):
    assert set(marked) <= set(CASES)
