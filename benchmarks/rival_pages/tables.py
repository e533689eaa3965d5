"""What the pages' scripts share: their command line, and tables in Markdown of means over seeds."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

Name = TypeVar("Name", bound=Hashable)
"""What was measured, and of what."""

Part = Callable[[int], Iterator[str]]
"""A part of a page: prints its tables for seeds 0, 1, ... of a given number."""


def run_parts(described: str | None, parts: Mapping[str, tuple[int, Part]], arguments: Sequence[str]) -> None:
    """Print the parts asked for, each with the page's number of seeds where none is given."""
    parser = argparse.ArgumentParser(description=described, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=list(parts), help="all by default; may be repeated")
    parser.add_argument("--seeds", type=int, metavar="N", help="by default as many as the page has of each part")
    given = parser.parse_args(arguments)
    for name in given.part or parts:
        n_seeds, part = parts[name]
        for line in part(given.seeds or n_seeds):
            print(line, flush=True)


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a table in Markdown, each row as soon as it is there."""
    yield f"\n{title}\n"
    yield told_row(header)
    yield "|" + "---|" * len(header)
    for row in rows:
        yield told_row(row)


def told_row(cells: Iterable[Any]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def mean(values: Any, digits: int = 3) -> str:
    """Tell the mean over seeds; nothing for what was not measured."""
    return "" if values is None else f"{np.mean(values):.{digits}f}"


def spread(values: Any, digits: int = 3) -> str:
    """Tell the mean over seeds, the least and the largest."""
    return f"{mean(values, digits)} [{np.min(values):.{digits}f}, {np.max(values):.{digits}f}]"


def of_seeds(found: Iterable[Mapping[Name, Any]]) -> dict[Name, np.ndarray]:
    """Gather what was measured in each seed, by name: one row a seed."""
    gathered: dict[Name, list[Any]] = {}
    for one in found:
        for name, value in one.items():
            gathered.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in gathered.items()}
