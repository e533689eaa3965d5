"""The shape of the package: which room may import which, and that every name means one thing."""

import ast
import importlib
import pkgutil
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import flymotion

PACKAGE = Path(flymotion.__file__).parent

ROOMS = (
    "brevity",
    "models",
    "frames",
    "writing",
    "world",
    "video",
    "photoreceptors",
    "stimuli",
    "similarity",
    "generators",
    "relations",
    "learner",
    "detectors",
    "tuning",
    "circuits",
    "keeping",
    "plots",
    "field",
    "detecting",
    "browser",
    "flying",
    "claims",
    "contest",
    "cli",
)
"""Each may import those before it; docs/architecture.md says what each holds."""

FRONT = ("__init__", "__main__")


def modules():
    return sorted(path.relative_to(PACKAGE).with_suffix("").parts for path in PACKAGE.rglob("*.py"))


def imports(parts):
    """Dotted names that a module of the package imports from it, in functions and for types, too."""
    tree = ast.parse(PACKAGE.joinpath(*parts).with_suffix(".py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            yield from (name for name in names if name.startswith("flymotion"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("flymotion"):
            yield from (f"{node.module}.{name}" for name in names)


def rooms_entered(parts):
    """Rooms that a module imports; names that the front of the package gives stand for their homes."""
    entered = [name.split(".")[1] for name in imports(parts) if name not in ("flymotion", "flymotion.__version__")]
    return {flymotion._HOME_OF.get(name, name).split(".")[0] for name in entered} - {parts[0]}


def test_every_module_stands_in_a_room():
    assert {parts[0] for parts in modules()} == {*ROOMS, *FRONT}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_one_way(room):
    above = {*ROOMS[: ROOMS.index(room)]}
    arrows = {"/".join(parts): rooms_entered(parts) - above for parts in modules() if parts[0] == room}
    assert {module: wrong for module, wrong in arrows.items() if wrong} == {}


def graph():
    """Modules that each module imports when it is itself imported."""
    dotted = {".".join(("flymotion", *parts)).removesuffix(".__init__"): parts for parts in modules()}

    def at_import(parts):
        tree = ast.parse(PACKAGE.joinpath(*parts).with_suffix(".py").read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("flymotion"):
                named = {f"{node.module}.{alias.name}" for alias in node.names}
                yield from (named & dotted.keys()) or {node.module}

    return {name: set(at_import(parts)) - {name} for name, parts in dotted.items()}


def test_no_module_imports_itself_by_way_of_others():
    arrows = graph()
    while leaves := {name for name, others in arrows.items() if not others & arrows.keys()}:
        arrows = {name: others for name, others in arrows.items() if name not in leaves}
    assert arrows == {}


def test_no_two_modules_have_one_name():
    names = Counter(parts[-2] if parts[-1] == "__init__" else parts[-1] for parts in modules() if len(parts) > 1)
    assert [name for name, n in names.items() if n > 1] == []


def test_no_name_of_the_front_is_a_module():
    """Not even after every module has been imported, which binds it to its name in its package."""
    for found in pkgutil.walk_packages([str(PACKAGE)], "flymotion."):
        importlib.import_module(found.name)
    assert [name for name in flymotion.__all__ if isinstance(getattr(flymotion, name), ModuleType)] == []


@pytest.mark.parametrize("package", sorted(".".join(p[:-1]) for p in modules() if p[-1] == "__init__" and len(p) > 1))
def test_no_public_name_is_that_of_a_module(package):
    """So that ``from package import name`` gives the same whatever has been imported before."""
    public = set(importlib.import_module(f"flymotion.{package}").__all__)
    beside = {found.name for found in pkgutil.iter_modules([str(PACKAGE.joinpath(*package.split(".")))])}
    assert public & beside == set()
