"""The report: one page that says all that was measured, needs nothing beside it, and can be read by anyone."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from flymotion import claims
from flymotion.claims import FIGURES, SENTENCES, groups, known_claims, recorded
from flymotion.claims.judging import as_known, judge
from flymotion.claims.page import Group, contents, html, styled, write_figures
from flymotion.claims.page.captions import CAPTIONS
from flymotion.claims.page.figure_data import data_of
from flymotion.claims.page.inline_svg import MARKS, PALETTE, as_svg, marked_by_colour
from flymotion.claims.page.slips import SLIPS
from flymotion.claims.rows import Claim
from flymotion.plots.canvas import new_figure, signed_colours

RELATIONS = {True: (">", -1e300), False: ("<", -1e300), None: ("report", None)}


@pytest.fixture(scope="module")
def rows():
    """What is on record at the full size, as rows."""
    return [
        Claim(
            id, f"what {id} is <of>; instead: x & y", known.value, "", *RELATIONS[known.holds], 3, known.holds, "note"
        )
        for id, known in recorded(full=True).items()
    ]


@pytest.fixture(scope="module")
def drawn():
    """A small figure by the name of each, as a vector."""
    with styled():
        one = as_svg(curves(), "NAME")
    return {name: one.replace("NAME", name) for name in CAPTIONS}


def curves():
    figure = new_figure(3, 2)
    axes = figure.subplots()
    x = np.linspace(0.0, 1.0, 12)
    for k in range(3):
        axes.plot(x, k * x, label=f"line {k}")
    axes.set(xlabel="time [s]", ylabel="output [mV], mean", title="three\nlines")
    axes.axhline(0.5, color="black")
    axes.grid(color="0.9")
    axes.legend()
    return figure


def weights(n=5, signs=(-1.0, 1.0)):
    figure = new_figure(3, 2)
    axes = figure.subplots()
    values = np.resize(signs, (n, n)).astype(float)
    values[0, 0] = np.nan
    image = axes.imshow(values, cmap=signed_colours(), vmin=-1, vmax=1)
    axes.plot([0, n - 1], [0, n - 1], color="black")
    axes.set(xlabel="intensity at pixel", ylabel="change at pixel")
    figure.colorbar(image, label="weight [1/contrast]")
    return figure


def page_of(rows, drawn, complete=True, **more):
    how = {
        "claims": known_claims(),
        "groups": tuple(Group(tuple(each.CLAIMS), each.Config(**each.QUICK), 3, 1.5) for each in groups().values()),
        "size": "full",
        "given": {},
        "n_pieces": 200,
        "n_taken": 0,
        "changed": (),
        "versions": {"flymotion": "0.1.0", "numpy": "2.0"},
        "date": "1 May 2026",
    }
    return html(contents(rows, drawn, complete=complete, **how | more))


@pytest.fixture(scope="module")
def text(rows, drawn):
    return page_of(rows, drawn)


@pytest.fixture(scope="module")
def page(text):
    return ET.fromstring(text)


def said(element):
    return " ".join("".join(element.itertext()).split())


def with_class(page, name):
    return [each for each in page.iter() if name in each.get("class", "").split()]


# What it says


def test_every_sentence_has_its_verdict_and_its_rows(page, rows):
    cards = [each for group in with_class(page, "sentences") for each in group]
    assert len(cards) == len(SENTENCES)
    words = [card.get("class") for card in cards]
    assert words == sorted(words, key=["fails", "holds-if", "holds"].index)
    for sentence in SENTENCES:
        [card] = [each for each in cards if said(each.find("p/q")) == " ".join(sentence.quote.split())]
        assert set(sentence.rows) <= set(re.findall(r"C\d+\.\w+", said(card)))
        assert {f"#{spec.split()[0]}" for spec in sentence.decided_by} <= {each.get("href") for each in card.iter("a")}
    counted = Counter(judge(sentence, as_known(rows)).word for sentence in SENTENCES)
    assert [said(each) for each in with_class(page, "counts")[0]] == [
        f"{counted[word]} {mark} {word}" for mark, word in (("✗", "fails"), ("◐", "holds if"), ("✓", "holds"))
    ]


def test_every_claim_and_row_has_its_place(page, rows):
    ids = {each.get("id") for each in page.iter()}
    assert {row.id for row in rows} <= ids and set(known_claims()) <= ids
    assert len([each for each in page.iter("tr") if each.get("id")]) == len(rows)


def test_every_figure_is_there_with_a_caption_once(page):
    ids = [each.get("id") for each in page.iter("figure")]
    assert sorted(ids) == sorted(f"figure-{name}" for name in CAPTIONS)
    assert len([each for each in page.iter("figcaption")]) == len(CAPTIONS)
    headings = [said(each) for each in page.iter("h3")]
    assert [name for name in (f"Figure {figure.name}" for figure in FIGURES) if name not in headings] == []


def test_what_is_said_beside_figures_names_rows_that_are_there():
    texts = [figure.see for figure in FIGURES] + [caption.see for caption in CAPTIONS.values()]
    texts += [slip.shown for slip in SLIPS]
    named = {id for text in texts for id in re.findall(r"\{(.*?)\}", text)}
    assert len(named) > 30 and named <= recorded(full=True).keys()
    assert {name for figure in FIGURES for name in figure.drawn} <= CAPTIONS.keys()
    assert {id for caption in CAPTIONS.values() for id in caption.claims} <= known_claims().keys()


def test_slips_versions_and_times_are_there(page):
    text = said(page)
    assert [slip.right for slip in SLIPS if slip.right not in text] == []
    assert "numpy2.0" in text and "200 pieces of work took 36 s" in text and "n_seeds" in text


def test_of_some_claims_only_what_rests_on_them_is_said(rows, drawn):
    some = [row for row in rows if row.id.startswith("C16.")]
    text = page_of(
        some, {"equivalence": drawn["equivalence"]}, complete=False, claims={"C16": "sums"}, given={"n_seeds": 2}
    )
    page = ET.fromstring(text)
    assert "Not all claims were measured" in text and "n_seeds 2" in text and "(not measured)" in text
    assert len([each for group in with_class(page, "sentences") for each in group]) == 2
    assert_links_lead_somewhere(page)


def test_what_differs_from_the_record_is_said(rows, drawn):
    assert "C2.cos</a> holds, and now fails" in page_of(rows, {}, changed=("C2.cos holds, and now fails",))


# How it is made


def test_it_needs_nothing_beside_it(text):
    assert re.findall(r"<(?:script|link|iframe|object|embed|base)\b", text) == []
    assert re.findall(r"@import|url\((?!#)", text) == []
    assert {link[0] for link in re.findall(r'(?:href|src)="([^"]*)"', text)} <= {"#", "d"}
    assert [
        link for link in re.findall(r'(?:href|src)="(d[^"]{0,20})', text) if not link.startswith("data:image/")
    ] == []


def test_ids_are_there_once_and_links_lead_somewhere(page):
    ids = [each.get("id") for each in page.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    assert_links_lead_somewhere(page)


def assert_links_lead_somewhere(page):
    links = {each.get("href") for each in page.iter() if each.get("href", "").startswith("#")}
    assert links and links <= {f"#{each.get('id')}" for each in page.iter()}


def test_headings_are_in_order_and_tables_and_pictures_have_names(page):
    levels = [int(each.tag[1]) for each in page.iter() if re.fullmatch("h[1-6]", each.tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))
    assert [said(each) for each in page.iter("table") if not said(each.find("caption"))] == []
    assert {each.get("scope") for each in page.iter("th")} == {"row", "col"}
    pictures = [each for each in page.iter() if each.get("role") == "img"]
    assert len(pictures) == len(CAPTIONS) and all(len(each.get("aria-label")) > 20 for each in pictures)
    assert page.get("lang") == "en"


def test_what_is_measured_is_escaped(text):
    assert "<of>" not in text and "is &lt;of&gt;" in text and "instead: x &amp; y" in text


def test_it_says_its_colours_for_light_dark_and_paper(text):
    assert "prefers-color-scheme: dark" in text and "@media print" in text
    assert text.count("--c0: #0b4f9e") == 2 and text.count("--c0: #79b0ff") == 1


# Vectors


@pytest.fixture
def svg():
    def make(figure, name="drawn"):
        with styled():
            return ET.fromstring(as_svg(figure, name))

    return make


def test_ink_and_paper_and_lines_go_with_the_page():
    with styled():
        text = as_svg(curves(), "some-name")
    assert not re.search("#000000|#ffffff|#0b4f9e", text)
    assert all(word in text for word in ("var(--ink)", "var(--hair)", "var(--c0)", "var(--c2)", ">time [s]</text>"))
    assert all(id.startswith("some-name-") for id in re.findall(r'\bid="([^"]*)"', text))
    assert "<metadata" not in text and "<style" not in text and "http" not in text


def test_cells_are_vectors_with_a_sign_and_of_one_colour_together(svg):
    drawn = svg(weights(6))
    cells = [each for each in drawn.iter("path") if "H" in each.get("d")]
    assert sum(each.get("d").count("M") for each in cells) == 36 and len(cells) == 3  # and what is not a number
    [*_, minus] = [each for each in drawn.iter("path") if "#fefefe" in each.get("style", "")]
    assert minus.get("d").count("M") == 17
    assert len(list(drawn.iter("image"))) == 1  # the colour bar


def test_very_many_cells_are_a_picture(svg):
    assert len(list(svg(weights(70)).iter("image"))) == 2


def test_what_lies_on_a_map_keeps_its_colours(svg):
    still = [each for each in svg(weights()).iter("g") if each.get("id", "").startswith("drawn-still")]
    assert any("var(--ink)" in path.get("style") for group in still for path in group.iter("path"))


def test_lines_of_different_colours_have_different_marks():
    with styled():
        figure = curves()
        marked_by_colour(figure)
    axes = figure.axes[0]
    assert [line.get_marker() for line in axes.lines] == [*MARKS[:3], "None"]
    assert [line.get_marker() for line in axes.get_legend().get_lines()] == [*MARKS[:3]]


def test_marks_that_say_something_stay():
    with styled():
        figure = curves()
        figure.axes[0].lines[0].set_marker("x")
        figure.axes[0].lines[1].set_marker("+")
        marked_by_colour(figure)
    assert [line.get_marker() for line in figure.axes[0].lines] == ["x", "+", "None", "None"]


@pytest.mark.parametrize("colours", [PALETTE.keys(), PALETTE.values()], ids=["light", "dark"])
def test_lines_stand_out_from_their_paper(colours):
    """Contrast of at least 3, as WCAG 2.2 asks of graphics."""
    paper = {True: 1.0, False: luminance("#14171a")}[colours is PALETTE.keys() or "#0b4f9e" in colours]
    ratios = [sorted((luminance(colour) + 0.05, paper + 0.05)) for colour in colours]
    assert min(high / low for low, high in ratios) > 3


def luminance(colour):
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def test_formulas_have_no_prime_which_has_a_font_of_its_own():
    """Of a font that hardly any browser has: it would be shown as a nought."""
    sources = [path.read_text(encoding="utf-8") for path in Path(claims.__file__).parent.rglob("*.py")]
    formulas = [formula for text in sources for formula in re.findall(r"\$[^$\n\"]+\$", text)]
    assert len(formulas) > 5 and not [formula for formula in formulas if re.search(r"[A-Za-z]'|prime", formula)]


# Data


def test_data_are_what_is_drawn():
    data = data_of(curves(), "a test")
    assert list(data.data_vars) == ["a_line_0", "a_line_1", "a_line_2"]
    np.testing.assert_allclose(data.a_line_2, 2 * data.a_time)
    assert data.a_time.attrs == {"long_name": "time", "units": "s"}
    assert data.a_line_1.attrs["units"] == "mV" and data.a_line_1.attrs["quantity"] == "output, mean"
    assert (data.attrs["panel_a"], data.attrs["source"]) == ("three lines", "a test")


def test_cells_have_their_axes_and_the_colour_bars_unit():
    data = data_of(weights())
    assert data.a_cells.dims == ("a_change_at_pixel", "a_intensity_at_pixel") and np.isnan(data.a_cells[0, 0])
    assert data.a_cells.attrs["units"] == "1/contrast"


def test_bars_points_steps_arrows_and_areas_are_data():
    figure = new_figure(4, 3)
    axes = figure.subplots()
    axes.bar([0, 1], [2.0, 3.0], label="bars")
    axes.set_xticks([0, 1], ["one", "two"])
    axes.scatter([0, 1, 2], [3, 4, 5], c=[6.0, 7.0, 8.0])
    axes.stairs([1.0, 2.0], [0.0, 1.0, 2.0], label="steps")
    axes.quiver([0.0], [0.0], [1.0], [2.0])
    axes.fill_between([0.0, 1.0], [0.0, 0.0], [1.0, 1.0], label="area")
    data = data_of(figure)
    np.testing.assert_array_equal(data.a_bars, [2, 3])
    assert data.a_x.attrs["ticks"] == "0: one; 1: two"
    np.testing.assert_array_equal(data.a_points_value, [6, 7, 8])
    np.testing.assert_array_equal(data.a_steps, [1, 2])
    np.testing.assert_array_equal(data.a_arrows_along, [[1, 2]])
    assert data.a_area_outline.sizes["a_xy"] == 2


def test_figures_are_written_with_their_data(tmp_path):
    vectors = write_figures({"one": curves(), "two": weights()}, tmp_path)
    assert list(vectors) == ["one", "two"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.nc", "one.png", "two.nc", "two.png"]
    with xr.open_dataset(tmp_path / "one.nc", engine="scipy") as data:
        assert data.attrs["source"] == "flymotion reproduce" and data.a_line_1.attrs["long_name"] == "line 1"
    with Image.open(tmp_path / "one.png") as image:
        assert image.info["Source"] == "flymotion reproduce"
