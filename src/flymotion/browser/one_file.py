"""The page as one file: sources of ours, put together, and the numbers of a model."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

from flymotion.browser.page_numbers import LiveModel, live_model, numbers_of

__all__ = ["is_ours", "live_page", "worker_source"]

SIGNATURE = "<!-- written by flymotion live -->"
"""What the file says in its second line."""

WORKER = ("frames", "detectors", "graphics", "slopes", "global_motion", "lenses", "seeing", "worker")
"""What runs beside the page, in this order."""

PAGE = ("drawing", "panels", "sources", "page")
"""What runs in the page."""


def live_page(model: LiveModel | None = None) -> str:
    """Return the page of a model's detectors: HTML that needs no other file, no server and no network.

    Parameters
    ----------
    model : LiveModel, optional
        Of :func:`live_model`; by default of the detectors that come with the package.

    Examples
    --------
    >>> live_page().splitlines()[0]
    '<!doctype html>'
    """
    numbers = json.dumps(numbers_of(live_model() if model is None else model), separators=(",", ":"), allow_nan=False)
    parts = {
        "style": _text("page.css"),
        "numbers": numbers.replace("<", "\\u003c"),
        "worker": worker_source(),
        "page": _joined(PAGE),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _text("page.html"))


def worker_source() -> str:
    """Return the source of what runs beside the page: all the mathematics, and no document."""
    return _joined(WORKER)


def is_ours(path: Path) -> bool:
    """Return whether a file is such a page."""
    with open(path, "rb") as file:
        return SIGNATURE.encode() in file.read(200)


def _joined(names: tuple[str, ...]) -> str:
    """Put modules in one scope: they import from one another only, and no two have a name in common."""
    whole = "\n".join(_text(f"{name}.js") for name in names)
    return re.sub(r"^import .*\n|^export ", "", whole, flags=re.MULTILINE)


def _text(name: str) -> str:
    return (files("flymotion.browser") / "page" / name).read_text(encoding="utf-8")
