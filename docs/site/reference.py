"""Write the pages of the reference: a page a module, and a page of its own for every name that a package gives.

A name is documented once, where a user imports it from: at the front of the package if it stands there, else at the
shortest package that lists it, else on the page of its module. The other modules that list it link to it.
"""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import GenericAlias, ModuleType

import flymotion

__all__ = ["documented", "write_reference"]

NOT_OURS = "tuple, dict, BaseException, object"
"""What is inherited from these is documented elsewhere; the template of a class's own page says so, too."""

LEFT_OUT = ("flymotion.cli", "flymotion.__main__")
"""The command line says itself what it does, to ``--help``."""


def module_names() -> list[str]:
    """Return the dotted names of all modules, packages before what is in them."""
    found = [module.name for module in pkgutil.walk_packages(flymotion.__path__, "flymotion.")]
    return ["flymotion", *(name for name in sorted(found) if not name.startswith(LEFT_OUT))]


def assigned(module: ModuleType) -> set[str]:
    """Return the names that the module's own text gives a value: the docstring of a value is found there alone."""
    nodes = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}


def listed(module: ModuleType) -> list[tuple[str, object]]:
    """Return what a module lists, but for short names of types, which annotations use."""
    values = [(export, getattr(module, export)) for export in module.__all__]
    return [(export, value) for export, value in values if not isinstance(value, GenericAlias)]


def is_data(value: object) -> bool:
    """Whether the value is neither a class nor a function, compiled or not."""
    return not (inspect.isclass(value) or inspect.isfunction(inspect.unwrap(getattr(value, "py_func", value))))


def homes(modules: dict[str, ModuleType]) -> dict[tuple[str, int], str]:
    """Return under which dotted name each listed thing is documented, by its last name and identity."""
    found: dict[tuple[str, int], str] = {}
    for name in sorted(modules, key=lambda name: (name.count("."), not hasattr(modules[name], "__path__"), name)):
        own = assigned(modules[name])
        for export, value in listed(modules[name]):
            if export in own or not is_data(value):
                found.setdefault((export, id(value)), f"{name}.{export}")
    return found


def page(name: str, module: ModuleType, home: dict[tuple[str, int], str], below: list[str]) -> str:
    """Return the page of a module, as reStructuredText."""
    places = [home[export, id(value)] for export, value in listed(module)]
    here = [place.rpartition(".")[2] for place in places if place.rpartition(".")[0] == name]
    elsewhere = [f"~{place.removeprefix(name + '.')}" for place in places if place.rpartition(".")[0] != name]
    lines = [*title(name, "="), f".. automodule:: {name}", "   :no-members:", "", f".. currentmodule:: {name}", ""]
    if has_pages(name, module):
        lines += (
            [".. autosummary::", "   :toctree:", "   :nosignatures:", "", *(f"   {export}" for export in here), ""]
            if here
            else []
        )
    else:
        for export in here:
            lines += [*title(export, "-"), *directive(export, getattr(module, export)), ""]
    if elsewhere:
        lines += [*title("Listed here, documented elsewhere", "-")]
        lines += [".. autosummary::", "   :nosignatures:", "", *(f"   {place}" for place in elsewhere), ""]
    if below:
        lines += [*title("Modules", "-"), ".. toctree::", "   :maxdepth: 1", "", *(f"   {each}" for each in below), ""]
    return "\n".join(lines)


def title(text: str, line: str) -> list[str]:
    """Return a heading."""
    return [text, line * len(text), ""]


def has_pages(name: str, module: ModuleType) -> bool:
    """Whether what the module lists has pages of its own: what packages list, but for groups of claims."""
    return hasattr(module, "__path__") and not name.startswith("flymotion.claims.")


def directive(export: str, value: object) -> list[str]:
    """Return the directive that documents a name on its module's page."""
    if inspect.isclass(value):
        return [f".. autoclass:: {export}", "   :members:", f"   :inherited-members: {NOT_OURS}"]
    return [f".. {'autodata' if is_data(value) else 'autofunction'}:: {export}"]


def all_modules() -> dict[str, ModuleType]:
    """Return the modules that the reference is of, by name."""
    return {name: importlib.import_module(name) for name in module_names()}


def documented() -> dict[str, str]:
    """Return for each dotted name by which a listed thing can be imported that under which it is documented."""
    modules = all_modules()
    home = homes(modules)
    names = {f"{name}.{export}": home[export, id(value)] for name in modules for export, value in listed(modules[name])}
    return names | {name: name for name in modules}


def write_reference(folder: Path) -> list[str]:
    """Write all pages into a folder, and return their names, below the folder's own.

    What has not changed keeps its time, so that it is not built again, and what there is no more goes.
    """
    folder.mkdir(exist_ok=True)
    modules = all_modules()
    home = homes(modules)
    for name, module in modules.items():
        below = [each for each in modules if each.rpartition(".")[0] == name and name != "flymotion"]
        text = page(name, module, home, below)
        place = folder / f"{name}.rst"
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
    for gone in {path.stem for path in folder.glob("*.rst")} - {*modules, *home.values()}:
        (folder / f"{gone}.rst").unlink()
    return [f"{folder.name}/{name}.rst" for name in modules]
