"""Docstrings are written to be read as text; what of them reStructuredText would misread is told here."""

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

__all__ = ["setup"]

STAR = re.compile(r"(?<=[(\s])\*(?=[\w.]+[],)[])")
"""The star of ``(n_frames, *pixels)``, which begins no emphasis."""


def mend(app: Sphinx, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """Escape the stars of shapes; and let a value without words of its own have none, not its type's."""
    if what == "data" and {*lines} & {*inspect.cleandoc(type(value).__doc__ or "").splitlines()} - {""}:
        lines.clear()
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else STAR.sub(r"\\*", line) for line in lines]


def skip(app: Sphinx, what: str, name: str, value: object, skipped: bool, options: Any) -> bool | None:
    """Leave out what Python and scikit-learn give to a class: it is documented there."""
    function = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
    from_elsewhere = not str(getattr(function, "__module__", None) or "flymotion").startswith("flymotion")
    return True if from_elsewhere or (value.__doc__ or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at docstrings before numpydoc does."""
    app.connect("autodoc-process-docstring", mend, priority=400)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
