"""Pages must load nothing from the network: the build ends with an error where one would."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

__all__ = ["from_network", "setup"]

ELSEWHERE = r"""=\s*["']?(?:https?:)?//"""
FETCHES = (
    re.compile(rf"<[a-z]+\b[^>]*\s(?:src|srcset|poster|data|background){ELSEWHERE}[^>]*>", re.IGNORECASE),
    re.compile(rf"<(?:link|image|use)\b[^>]*\shref{ELSEWHERE}[^>]*>", re.IGNORECASE),  # of <a> it waits for a click
    re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^"')\s]*""", re.IGNORECASE),
)


def from_network(folder: Path) -> list[str]:
    """Return what pages and styles in a folder would fetch from the network."""
    texts = {
        path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*")) if path.suffix in (".html", ".css")
    }
    return [
        f"{path.relative_to(folder)}: {found[:200]}"
        for path, text in texts.items()
        for pattern in FETCHES
        for found in pattern.findall(text)
    ]


def check(app: Sphinx, exception: Exception | None) -> None:
    """Look at the pages that were written."""
    if exception is None and app.builder.format == "html" and (found := from_network(Path(app.outdir))):
        raise ExtensionError("pages would load from the network: " + "; ".join(found[:10]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Look when the build is done."""
    app.connect("build-finished", check, priority=900)  # after the theme has written its styles
    return {"parallel_read_safe": True, "parallel_write_safe": True}
