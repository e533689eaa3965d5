"""Nothing is longer than a reader holds in mind, unless its docstring says why, in words that begin "Longer than"."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

import flymotion

SRC = Path(flymotion.__file__).parent

MOST = {ast.Module: 350, ast.ClassDef: 200, ast.FunctionDef: 40, ast.AsyncFunctionDef: 40}
"""Lines of a file, all of them; and of a class and a function, of code alone."""

REASON = "Longer than"
"""How a docstring begins to say why."""

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def owners(source):
    """What may have a docstring: the module, its classes and functions."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, tuple(MOST))]


def code_lines(source):
    """Numbers of the lines that hold code: more than blanks, comments and docstrings."""
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type not in SILENT]
    docstrings = [node.body[0] for node in owners(source) if ast.get_docstring(node) is not None]
    said = {line for text in docstrings for line in range(text.lineno, text.end_lineno + 1)}
    return {line for t in tokens for line in range(t.start[0], t.end[0] + 1)} - said


def too_long(source):
    """What is over its limit and does not say why, as name (or the file's None) and number of lines."""
    code, every = code_lines(source), set(range(1, len(source.splitlines()) + 1))
    spans = [
        (node, (code & set(range(node.lineno, node.end_lineno + 1))) if hasattr(node, "name") else every)
        for node in owners(source)
    ]
    return [
        (getattr(node, "name", None), len(lines))
        for node, lines in spans
        if len(lines) > MOST[type(node)] and REASON not in (ast.get_docstring(node) or "")
    ]


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda path: str(path.relative_to(SRC)))
def test_nothing_is_too_long(path):
    assert too_long(path.read_text(encoding="utf-8")) == []


def function(n_lines, docstring=""):
    return f'def f():\n    """Do.{docstring}"""\n\n    # why\n' + "    x = 1\n" * (n_lines - 1)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (function(40), []),
        (function(41), [("f", 41)]),
        (function(41, " Longer than 40 lines: a table."), []),
        (function(1, "\n" * 60), []),
        ("class C:\n" + "    x = 1\n" * 200, [("C", 201)]),
        ("class C:\n" + "    def f(self):\n" + "        x = 1\n" * 40, [("f", 41)]),
        ("\n" * 351, [(None, 351)]),
        ('"""Longer than 350 lines: data."""\n' + "\n" * 351, []),
        ("x = (\n" + "    1,\n" * 9 + ")\n", []),
    ],
)
def test_lines_are_counted_as_the_limits_say(source, expected):
    assert too_long(source) == expected
