"""Mutants of the core: does some test of its own module notice a small error in it?

    python benchmarks/mutants.py [--n 100] [--seed 0] [--jobs 2] [--only PREFIX]

Each mutant is one change of one expression or statement, made in a copy of the package and put to the tests of its
module, those that know it best first, until one fails. Docstrings, annotations, decorators, ``__all__`` and texts of
errors and warnings are left alone, and so are numbers that only say how much is done at a time.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "flymotion"

TESTS = {
    "frames": ["frames"],
    "world/rendering": ["eyes_scenes_render", "elliptic_optics", "spherical_scenes"],
    "world/motions": ["motions", "theory", "elliptic_optics", "spherical_scenes"],
    "detectors/temporal": ["temporal"],
    "similarity/": ["similarity", "estimators", "models"],
    "similarity/compilation": [],
    "similarity/features": ["features", "similarity", "estimators"],
    "similarity/initialisation": ["initialisation", "similarity"],
    "similarity/optima": ["offline"],
    "similarity/rivals": ["rivals", "streaming_rivals", "estimators"],
    "similarity/samples": ["rivals", "estimators", "similarity"],
    "similarity/threads": ["threads"],
    "generators/": ["theory", "motions", "generators", "operators", "flows"],
    "generators/analytic": ["generators", "motions"],
    "generators/filters": ["generators", "operators"],
    "generators/flows": ["flows"],
    "generators/operators": ["operators"],
}
"""The core: tests by the beginning of a module's path, the longest that fits; without any, a module is left out."""

COMPARE = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
BINARY = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum", "sin": "cos",
    "cos": "sin", "floor": "ceil", "ceil": "floor", "argmin": "argmax", "argmax": "argmin", "sum": "max",
    "zeros": "ones", "ones": "zeros", "zeros_like": "ones_like", "ones_like": "zeros_like",
}  # fmt: skip
SPARED = {
    "BLOCK_ENTRIES",
    "CACHED",
    "DENSE",
    "FEW",
    "MOST_FEATURES",
    "MOST_SAMPLES",
    "FORMED_ENTRIES",
    "FORMED_FEATURES",
    "RESPONSES",
    "SMALL",
    "THREADED",
    "VECTOR",
}
"""Constants that set speed and memory, and no result."""


class Mutant(NamedTuple):
    path: str  # within the package
    line: int
    old: str
    new: str
    source: bytes

    def __str__(self) -> str:
        same = sum(
            1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(self.old, self.new, strict=False))
        )
        old, new = (" ".join(code[max(same - 20, 0) : same + 30].split()) for code in (self.old, self.new))
        return f"{self.path}:{self.line}: {old} -> {new}"


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield a node, the same or one of its parts, and what may stand in its place."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARE:
            yield node, ast.Compare(node.left, [COMPARE[type(op)]()], node.comparators)
        case ast.BinOp(op=op) if type(op) in BINARY:
            yield node, ast.BinOp(node.left, BINARY[type(op)](), node.right)
        case ast.AugAssign(op=op) if type(op) in BINARY:
            yield node, ast.AugAssign(node.target, BINARY[type(op)](), node.value)
        case ast.BoolOp(op=op):
            yield node, ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), node.values)
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
            yield node, ast.Constant(1 - value)  # -1 becomes 0: the first for the last, the first axis for the last
        case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert()):
            yield node, node.operand
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield node, ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield node, ast.Constant(2 * value or 1.0)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare):
            yield test, ast.UnaryOp(ast.Not(), test)
        case ast.Subscript(slice=ast.Slice(lower, upper, step) as part) if lower or upper:
            yield part, ast.Slice(None, upper, step) if lower else ast.Slice(lower, None, step)
        case ast.Call(func=ast.Name(id=name) as func) if name in NAMES:
            yield func, ast.Name(NAMES[name])
        case ast.Call(func=ast.Attribute(attr=name) as func) if name in NAMES:
            yield func, ast.Attribute(func.value, NAMES[name])
        case ast.Expr(value=ast.Call()) | ast.Break() | ast.Continue():
            yield node, ast.Pass()
        case ast.Return(value=ast.expr()):
            yield node, ast.Return(ast.Constant(None))


def spared(node: ast.AST) -> bool:
    """Whether a node and all below it are left alone: what is read and not run, and texts for people."""
    match node:
        case ast.JoinedStr() | ast.Raise() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[target]):
            return ast.unparse(target).split(", ")[0].strip("(") in SPARED | {"__all__"}
        case ast.Call(func=ast.Attribute(attr="warn")):
            return True
    return False


def sites(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, but for what is spared, annotations and decorators."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or field in {"annotation", "returns", "decorator_list"} or spared(child):
                continue
            yield child
            if not isinstance(child, ast.UnaryOp) or not isinstance(child.operand, ast.Constant):
                yield from sites(child)


def mutants_of(path: Path) -> Iterator[Mutant]:
    source = path.read_bytes()
    starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
    for node in sites(ast.parse(source)):
        for part, other in changes(node):
            first, last = starts[part.lineno - 1] + part.col_offset, starts[part.end_lineno - 1] + part.end_col_offset
            new = ast.unparse(ast.fix_missing_locations(other))
            put = f"({new})" if isinstance(other, ast.expr) and not isinstance(other, ast.Slice) else new
            mutant = source[:first] + put.encode() + source[last:]
            yield Mutant(str(path.relative_to(PACKAGE)), part.lineno, ast.unparse(part), new, mutant)


def tests_of(path: str) -> list[str]:
    prefix = max((prefix for prefix in TESTS if path.startswith(prefix)), key=len)
    return [f"tests/test_{name}.py" for name in TESTS[prefix]]


def core(prefix: str) -> Iterator[Mutant]:
    """Yield every mutant of the modules of the core whose path begins with a prefix."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        if name.startswith(prefix) and name.startswith(tuple(TESTS)) and tests_of(name):
            yield from mutants_of(path)


class Copy:
    """A copy of the package, tested over and over; compiled code is kept, but for that of mutated kernels."""

    def __init__(self, folder: str) -> None:
        self.folder, self.stamp = Path(folder), int(time.time()) - 10**8
        shutil.copytree(PACKAGE, self.folder / "flymotion", ignore=shutil.ignore_patterns("__pycache__"))

    def write(self, path: str, source: bytes) -> None:
        self.stamp += 2  # a time of its own, by which Python and numba know that the file has changed
        place = self.folder / "flymotion" / path
        place.write_bytes(source)
        os.utime(place, (self.stamp, self.stamp))

    def noticed(self, mutant: Mutant, timeout: float) -> str | None:
        """Return the test that fails of a mutant, or None."""
        with tempfile.TemporaryDirectory() as empty:
            self.write(mutant.path, mutant.source)
            try:
                return self.failure(tests_of(mutant.path), timeout, empty if b"@compiled" in mutant.source else None)
            finally:
                self.write(mutant.path, (PACKAGE / mutant.path).read_bytes())

    def failure(self, tests: list[str], timeout: float | None = None, cache: str | None = None) -> str | None:
        """Return the first test that fails, or None."""
        options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-o", "addopts=", "-m", "not slow"]
        variables = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        variables |= {"PYTHONPATH": str(self.folder), "NUMBA_CACHE_DIR": cache or str(self.folder / "numba")}
        command = [sys.executable, "-m", "pytest", *options, *tests]
        how: dict[str, Any] = {"cwd": ROOT, "env": os.environ | variables, "capture_output": True, "text": True}
        try:
            done = subprocess.run(command, timeout=timeout, **how)
        except subprocess.TimeoutExpired:
            return f"more than {timeout:.0f} s"
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return (failed or [done.stdout + done.stderr])[0].rpartition("/")[2] if done.returncode else None


def survives(mutant: Mutant, copies: queue.SimpleQueue[Copy], timeout: float) -> bool:
    copy, began = copies.get(), time.perf_counter()
    try:
        noticed = copy.noticed(mutant, timeout)
    finally:
        copies.put(copy)
    verdict = f"killed by {noticed[:80]}" if noticed else "SURVIVED"
    print(f"{mutant}: {verdict} ({time.perf_counter() - began:.0f} s)", flush=True)
    return not noticed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100, help="how many mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: %(default)s)")
    parser.add_argument("--only", default="", metavar="PREFIX", help="of modules whose path begins so")
    options = parser.parse_args()
    everything = list(core(options.only))
    chosen = sorted(random.Random(options.seed).sample(everything, min(options.n, len(everything))))
    began, copies = time.perf_counter(), queue.SimpleQueue[Copy]()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as threads:
        for job in range(options.jobs):
            copies.put(copy := Copy(f"{folder}/{job}"))
        if failure := copy.failure(sorted({test for mutant in chosen for test in tests_of(mutant.path)})):
            sys.exit(f"of the package as it is: {failure}")
        timeout = 60 + 1.5 * (time.perf_counter() - began)  # a mutant's own tests are a part of these
        print(f"{len(chosen)} of {len(everything)} mutants, each for {timeout:.0f} s at most", flush=True)
        n_survivors = sum(threads.map(lambda mutant: survives(mutant, copies, timeout), chosen))
    minutes = (time.perf_counter() - began) / 60
    print(f"{len(chosen) - n_survivors} of {len(chosen)} killed, in {minutes:.1f} min")


if __name__ == "__main__":
    main()
