"""The page that ``flymotion reproduce`` leaves: one file that says what holds of the paper, with every figure.

``matter`` sorts what was measured, ``captions`` and ``slips`` hold what is said beside it, ``inline_svg`` turns
figures into vectors that go with the page's light, ``figure_data`` into data, ``figure_files`` writes them, and
``report.html`` and ``report.css`` lay the page out. It needs no network and no script, and is well-formed XML, so that
any program can take it apart.
"""

from __future__ import annotations

import re
from importlib.resources import files

from flymotion.claims.page.figure_files import remove_figures, write_figures
from flymotion.claims.page.inline_svg import PALETTE, styled
from flymotion.claims.page.matter import MARKS, Contents, Group, contents
from flymotion.claims.page.slips import SLIPS

__all__ = ["Contents", "Group", "contents", "html", "remove_figures", "styled", "write_figures"]

ID = re.compile(r"\bC\d+\.\w+")


def html(found: Contents) -> str:
    """Return the page of what was found."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def linked(text: str) -> Markup:
        """Let ids of rows lead to them."""
        return Markup(ID.sub(lambda id: _to_row(id[0], id[0], known), str(escape(text))))

    def told(text: str) -> Markup:
        """Put what was measured in the place of ids in braces."""
        return Markup(re.sub(r"\{(C\d+\.\w+)\}", lambda id: _value_of(id[1], found), str(escape(text))))

    known = {row.id for row in found.rows}
    page = Environment(
        loader=PackageLoader(__name__, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    page.filters |= {"linked": linked, "told": told, "markup": Markup}
    css = files(__name__).joinpath("report.css").read_text(encoding="utf-8")
    return page.get_template("report.html").render(page=found, marks=MARKS, slips=SLIPS, css=Markup(_coloured(css)))


def _to_row(id: str, text: str, known: set[str]) -> str:
    return f'<a href="#{id}">{text}</a>' if id in known else text


def _value_of(id: str, found: Contents) -> str:
    value = found.value(id)
    return "(not measured)" if value is None else f'<a href="#{id}">{value}</a>'


def _coloured(css: str) -> str:
    """Put the colours of lines in their places."""
    light, dark = (
        "".join(f"--c{k}: {each}; " for k, each in enumerate(colours)) for colours in zip(*PALETTE.items(), strict=True)
    )
    return css.replace("/* colours of lines, light */", light).replace("/* colours of lines, dark */", dark)
