"""docs/equations.md: every equation of the paper once, each with a function that names it and a test that is there."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "equations.md"

pytestmark = pytest.mark.skipif(not TABLE.exists(), reason="no documentation in this tree")


def rows():
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| \d", line)]
    return [pytest.param(*row, id=row[0]) for row in cells]


def numbers(text):
    """Numbers of equations that a text names: ``Eq. 15``, ``Eqs. 16, 17``, ``Eqs. 15-18``, ``Eqs. 5 and 6``."""
    named = set()
    for run in re.findall(r"Eqs?\.\s*(\d+(?:(?:\s*[-,]\s*|\s+and\s+)\d+)*)", text):
        for part in re.split(r"\s*,\s*|\s+and\s+", run):
            first, _, last = part.partition("-")
            named |= set(range(int(first), int(last or first) + 1))
    return named


def found(name):
    """Return what a dotted name stands for: a module, or something in one."""
    module, _, rest = name, "", []
    while True:
        try:
            thing = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
    for attribute in rest:
        thing = getattr(thing, attribute)
    return thing


def source(thing):
    """Return the source of a thing, or of the module where it stands, for data and compiled functions."""
    thing = getattr(thing, "py_func", thing)
    return inspect.getsource(thing.fget if isinstance(thing, property) else thing)


def test_every_equation_is_listed_once():
    assert [int(row.values[0]) for row in rows()] == list(range(1, 36))


@pytest.mark.parametrize(("number", "what", "functions", "tests"), rows())
def test_an_equation_has_a_function_that_names_it_and_a_test(number, what, functions, tests):
    names = re.findall(r"`(flymotion[\w.]*)`", functions)
    assert names or functions.startswith('issue "')
    unnamed = [name for name in names if int(number) not in numbers(source(found(name)))]
    assert unnamed == []
    places = [place.split("::") for place in re.findall(r"`(tests/[\w.:]+)`", tests)]
    assert bool(places) == bool(names)
    gone = [name for file, name in places if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")]
    assert gone == []
