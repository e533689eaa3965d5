"""Parameters of a test that meet in pairs instead of all together."""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest


def covering(*sizes: int) -> list[tuple[int, ...]]:
    """Return rows of indices below sizes in which every two indices of different columns meet.

    The greedy covering array: each row is the first of those with the most pairs that have not met. The same each time.
    """
    rows = []
    pairs = {row: set(itertools.combinations(enumerate(row), 2)) for row in itertools.product(*map(range, sizes))}
    left = set().union(*pairs.values())
    while left:
        row = max(pairs, key=lambda row: len(pairs[row] & left))
        rows.append(row)
        left -= pairs[row]
    return rows


def pairwise(**factors: Iterable[Any]) -> pytest.MarkDecorator:
    """Parametrize a test by two or more factors: every value of one meets every value of another in some case."""
    values = [list(factor) for factor in factors.values()]
    rows = [[values[i][j] for i, j in enumerate(row)] for row in covering(*map(len, values))]
    return pytest.mark.parametrize(tuple(factors), rows)
