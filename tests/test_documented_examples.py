"""What users reach is shown in use: each has an example in its docstring, which pytest runs as a doctest."""

import doctest
import importlib
import inspect
import pkgutil
import re

import flymotion

REACHED = (
    "flymotion.circuits.connectome",
    "flymotion.circuits.lobula_plate",
    "flymotion.circuits.schooling",
    "flymotion.circuits.wiring",
    "flymotion.detectors.temporal",
    "flymotion.field.frame_motion",
    "flymotion.field.truth",
    "flymotion.generators.flows",
    "flymotion.generators.theory",
    "flymotion.plots.lens_maps",
    "flymotion.similarity.dendrites",
    "flymotion.similarity.optima",
    "flymotion.tuning.recordings",
    "flymotion.world.lattices",
)
"""Modules that users import from by name, as documentation does, beside the packages."""

APART = ("flymotion.cli", "flymotion.claims.")
"""Commands, of which the help is shown, and groups of claims, which all have the names that ``reproduce`` calls."""

SECONDS = ["compete", "reproduce"]
"""What would take seconds, and write files: their calls are shown, and not run."""

SECTION = re.compile(r"^Examples\n--------\n", re.MULTILINE)


def packages():
    found = [module.name for module in pkgutil.walk_packages(flymotion.__path__, "flymotion.") if module.ispkg]
    return ["flymotion", *(name for name in found if not name.startswith(APART))]


def offered():
    """Return classes and functions, by the name of their home; of constants and aliases nothing could be shown."""
    modules = [importlib.import_module(name) for name in (*packages(), *REACHED)]
    named = [getattr(module, name) for module in modules for name in module.__all__]
    able = [value for value in named if inspect.isclass(value) or inspect.isroutine(value)]
    return {f"{value.__module__}.{value.__qualname__}": value for value in able}


OFFERED = offered()


def examples():
    """Return what pytest finds and runs of each."""
    modules = {value.__module__ for value in OFFERED.values()}
    tests = [test for name in modules for test in doctest.DocTestFinder().find(importlib.import_module(name))]
    run = {test.name: test.examples for test in tests}
    return {name: run.get(name, []) for name in OFFERED}


def test_what_users_reach_is_found():
    assert len(OFFERED) > 250
    assert {"flymotion.frames.FramePairs", "flymotion.circuits.schooling.schooling"} <= OFFERED.keys()


def test_each_has_an_example_that_says_more_than_true():
    answers = {name: {example.want for example in found} for name, found in examples().items()}
    assert [name for name, wanted in answers.items() if not wanted - {"", "True\n", "False\n"}] == []


def test_examples_are_the_last_section():
    """As numpydoc orders them."""
    parts = {name: SECTION.split(inspect.getdoc(value)) for name, value in OFFERED.items()}
    wrong = {name for name, (before, *after) in parts.items() if ">>>" in before or len(after) != 1}
    assert wrong == set()
    assert [name for name, (_, last) in parts.items() if re.search("^-{3,}$", last, re.MULTILINE)] == []


def test_all_is_run_but_what_takes_seconds():
    skipped = [name for name, found in examples().items() if any(each.options.get(doctest.SKIP) for each in found)]
    assert sorted(name.rpartition(".")[2] for name in skipped) == SECONDS
