"""Links that pages, as they read on a code host, do not have, or have elsewhere."""

import re
from functools import cache

from docutils import nodes
from reference import documented
from sphinx import addnodes
from sphinx.application import Sphinx

__all__ = ["setup"]

ON_SITE = (
    (r"\]\(\.\./CONTRIBUTING\.md", "](contributing.md"),
    (r"\]\(\.\./CHANGELOG\.md", "](changes.md"),
    (r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)"),
    (r"\]\(\.\./examples/?\)", "](gallery/index.rst)"),
)
"""Files of the repository that are pages of the site."""

NAME = re.compile(r"flymotion(?:\.\w+)+")

places = cache(documented)


def redirect(app: Sphinx, name: str, source: list[str]) -> None:
    """Let links out of ``docs`` point to where the site has the same."""
    for outside, on_site in ON_SITE:
        source[0] = re.sub(outside, on_site, source[0])


def home(name: str) -> str:
    """Return under which name something is documented, which may be in a class that has another name there."""
    first, _, rest = name.rpartition(".")
    return places().get(name) or (f"{home(first)}.{rest}" if first else name)


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Make every name of ours that a page writes in full a link to its place in the reference."""
    for literal in list(doctree.findall(nodes.literal)):
        if NAME.fullmatch(literal.astext()) and not isinstance(literal.parent, addnodes.pending_xref | nodes.reference):
            target = {"refdomain": "py", "reftype": "obj", "reftarget": home(literal.astext()), "refwarn": False}
            literal.replace_self(addnodes.pending_xref("", foldable(literal.astext()), **target))


def foldable(name: str) -> nodes.literal:
    """Return a name that may go on in the next line after a dot, as in a narrow column of a table."""
    first, *rest = re.split(r"(?<=\.)", name)
    folds = [each for part in rest for each in (nodes.raw("", "<wbr>", format="html"), nodes.Text(part))]
    return nodes.literal("", "", nodes.Text(first), *folds)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page before and after it is read."""
    app.connect("source-read", redirect)
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
