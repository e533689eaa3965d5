"""Covering arrays: every pair, few rows, the same each time."""

import itertools

import pytest
from covering import covering, pairwise


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3, 6, 4), (2, 2, 3, 6, 4), (2, 2, 2, 2, 2), (15, 2, 4, 2), (3, 1, 2)])
def test_every_two_values_of_different_factors_meet_in_few_rows(sizes):
    rows = covering(*sizes)
    for (i, m), (j, n) in itertools.combinations(enumerate(sizes), 2):
        assert {(row[i], row[j]) for row in rows} == set(itertools.product(range(m), range(n)))
    one, two = sorted(sizes)[-2:]
    assert one * two <= len(rows) <= one * two + 4
    assert covering(*sizes) == rows


def test_parameters_go_by_their_names():
    mark = pairwise(kind=["a", "b"], size=[1, 7])
    assert mark.args[0] == ("kind", "size")
    assert sorted(mark.args[1]) == [["a", 1], ["a", 7], ["b", 1], ["b", 7]]
