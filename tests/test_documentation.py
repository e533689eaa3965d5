"""The documentation: links lead somewhere, commands are commands, Python is Python, and every page has its place."""

import ast
import importlib
import pkgutil
import re
import shlex
from pathlib import Path

import pytest

from flymotion.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

pytestmark = pytest.mark.skipif(not (DOCS / "index.md").exists(), reason="no documentation in this tree")

PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), ROOT / "benchmarks" / "README.md"])

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
ROLE = re.compile(r":(?:func|class|meth|mod|data|attr):`([~.\w]+)`")

WEB = re.compile(r"https://[\w.-]+\.[a-z]{2,}(/[\w./#%?=&~+-]*)?")
"""Links elsewhere cannot be followed offline; their form can be looked at."""


def text_of(page):
    return page.read_text(encoding="utf-8") if page.exists() else ""


def without_code(page):
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text_of(page)))


def anchors(page):
    """What a code host makes of headings."""
    headings = re.findall(r"^#+\s+(.*)$", FENCE.sub("", text_of(page)), flags=re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def leads_somewhere(page, link):
    place, _, anchor = link.partition("#")
    target = (page.parent / place).resolve() if place else page
    return target.exists() and (not anchor or anchor in anchors(target))


def name_of(path):
    return str(path.relative_to(ROOT))


def blocks(page, language):
    return [code for found, code in FENCE.findall(text_of(page)) if found == language]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    links = LINK.findall(without_code(page))
    elsewhere = [link for link in links if "://" in link]
    here = [link for link in links if "://" not in link]
    assert [link for link in elsewhere if not WEB.fullmatch(link)] == []
    assert [link for link in here if not leads_somewhere(page, link)] == []


def test_a_broken_link_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A *title*, told\n\n[here](#a-title-told) [there](#nowhere) [file](gone.md)\n", encoding="utf-8")
    links = LINK.findall(without_code(page))
    assert [leads_somewhere(page, link) for link in links] == [True, False, False]


def test_every_page_has_its_place():
    trees = re.findall(
        r"^```{toctree}\n(.*?)^```", "\n".join(map(text_of, DOCS.glob("*.md"))), re.MULTILINE | re.DOTALL
    )
    placed = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    pages = [name for name in placed if "/" not in name]
    assert sorted(pages) == sorted({page.stem for page in DOCS.glob("*.md")} - {"index"})


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_python_of_a_page_imports_what_there_is(page):
    trees = [ast.parse(code) for code in blocks(page, "python")]
    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [(node.module, alias.name) for node in imports for alias in node.names if "flymotion" in node.module]
    assert [what for what in ours if not hasattr(importlib.import_module(what[0]), what[1])] == []


STAND_ALONE = ("compartments", "connectome", "eyes", "fly", "getting-started", "literal-network", "motion-lab")
STAND_ALONE += ("slow-features", "starts")
"""Pages whose Python needs nothing else: no video of the reader's."""


@pytest.mark.slow
@pytest.mark.parametrize("name", STAND_ALONE)
def test_python_of_a_page_runs(name):
    exec(compile("\n".join(blocks(DOCS / f"{name}.md", "python")), name, "exec"), {})


def shell_lines(page):
    indented = re.findall(r"^ {4}(.*)$", FENCE.sub("", text_of(page)), flags=re.MULTILINE)
    lines = [line for code in blocks(page, "sh") for line in code.splitlines()] + indented
    parts = [part.strip() for line in lines for part in re.split(r"&&|;", line.partition("  #")[0])]
    return [part for part in parts if part.startswith("flymotion ")]


COMMANDS = [pytest.param(line, id=f"{page.name}: {line}") for page in PAGES for line in shell_lines(page)]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_a_page_is_one(line):
    _, name, *arguments = shlex.split(line)
    command = main.commands[name]
    context = command.make_context(name, ["--help"], resilient_parsing=True)
    command.make_parser(context).parse_args(arguments)  # raises where there is no such option


def defined(tree):
    """Names that a module gives to anything: functions, classes, values, fields, attributes of objects."""
    named = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    stored = [node for node in ast.walk(tree) if isinstance(getattr(node, "ctx", None), ast.Store)]
    return named | {getattr(node, "id", None) or getattr(node, "attr", None) for node in stored}


def importable(name):
    try:
        return pkgutil.resolve_name(name) is not None
    except (ImportError, AttributeError):
        return False


def test_references_of_docstrings_lead_somewhere():
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    names = set().union(*(defined(ast.parse(text)) for text in texts.values()))
    targets = [(path.name, target.lstrip("~.")) for path, text in texts.items() for target in ROLE.findall(text)]
    assert len(targets) > 100
    lost = [(file, target) for file, target in targets if not names.issuperset(target.split("."))]
    assert [(file, target) for file, target in lost if not importable(target)] == []
    assert [(file, target) for file, target in targets if "flymotion." in target and not importable(target)] == []


@pytest.fixture
def site(monkeypatch):
    """The modules that the site is built with, of which some need Sphinx."""
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    return importlib.import_module


def test_everything_public_has_a_place_in_the_reference(site):
    reference = site("reference")
    places = reference.documented()
    modules = reference.all_modules()
    listed = {f"{name}.{export}" for name, module in modules.items() for export, _ in reference.listed(module)}
    assert listed <= places.keys()
    assert places["flymotion.world.eyes.Line"] == places["flymotion.world.Line"] == "flymotion.Line"
    rooms = {name for name in modules if name.count(".") <= 1}
    assert rooms == set(re.findall(r"^reference/(\S+)$", text_of(DOCS / "reference.md"), flags=re.MULTILINE))


@pytest.mark.parametrize(
    ("page", "fetches"),
    [
        ('<a href="https://example.org/">elsewhere</a> <img src="figure.png">', 0),
        ('<script src="https://example.org/script.js"></script>', 1),
        ('<link rel="stylesheet" href="//example.org/style.css">', 1),
        ('<style>@import "https://example.org/style.css"; p { background: url(//example.org/p.png) }</style>', 2),
    ],
)
def test_what_a_page_would_fetch_is_noticed(site, tmp_path, page, fetches):
    pytest.importorskip("sphinx")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert len(site("offline").from_network(tmp_path)) == fetches
