"""Figures of tuning: all kinds are drawn, labelled, with limits that mean the same for every panel."""

import io
import sys

import numpy as np
import pytest
from matplotlib.text import Text

from flymotion.detectors import hassenstein_reichardt, learned
from flymotion.detectors.temporal import LowPass
from flymotion.generators import Generators, derivative_operator
from flymotion.plots import draw_comparison, draw_sheet, draw_tuning
from flymotion.tuning import EXPERIMENTS, characterise, experiment
from flymotion.tuning.recordings import compare, published

SHORT = {"dt": 0.02, "repeats": 2, "duration": 1.5}


def drawn(figure):
    """Draw the whole figure, which is where most errors would come up."""
    figure.savefig(io.BytesIO(), dpi=40)
    return figure


@pytest.fixture(scope="module")
def detectors():
    """A detector without units, and one of two."""
    operators = np.stack([derivative_operator((2, 2), angle) for angle in (0, 90)])
    several = learned(Generators(operators, (2, 2)), LowPass(0.05))
    return {"hrd": hassenstein_reichardt(LowPass(0.05)), "learned of two units": several}


@pytest.fixture(scope="module")
def characters(detectors):
    return {name: characterise(detector, **SHORT) for name, detector in detectors.items()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_drawn_with_labels(name, detectors):
    figure = drawn(draw_tuning(experiment(name, detectors["hrd"], **SHORT)))
    title = figure.get_suptitle()
    assert title.startswith(f"{name}: ") and "Hassenstein & Reichardt 1956" in title
    assert figure.axes[0].get_xlabel()


@pytest.mark.parametrize(
    ("about", "shown"),
    [
        ({"detector": "hrd-on", "source": "Eichner et al. 2011"}, "hrd-on (Eichner et al. 2011)"),
        ({"detector": "hrd-on", "source": ""}, "hrd-on"),
        ({"source": "Eichner et al. 2011"}, "Eichner et al. 2011"),
        ({"detector": "learned", "source": "learned (somebody 2019)"}, "learned (somebody 2019)"),
    ],
)
def test_titles_name_the_detector_and_its_source(about, shown, characters):
    tuning = characters["hrd"].results["contrast"]
    tuning = tuning.drop_attrs(deep=False).assign_attrs(experiment="contrast", **about)
    assert draw_tuning(tuning).get_suptitle() == f"contrast: {shown}"


@pytest.mark.parametrize(("name", "panels"), [("direction", 1), ("contrast", 2), ("frequency", 5)])
def test_units_have_panels_of_their_own_but_for_directions(name, panels, characters):
    figure = drawn(draw_tuning(characters["learned of two units"].results[name]))
    assert len(figure.axes) == panels


def test_units_are_called_by_the_direction_they_prefer(characters):
    results = characters["learned of two units"].results
    names = [f"{d:.0f}°" for d in results["direction"].preferred.values]
    assert [axes.get_title() for axes in draw_tuning(results["contrast"]).axes] == names
    (legend,) = draw_tuning(results["direction"]).legends
    assert [text.get_text() for text in legend.get_texts()] == names


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("apparent-motion", ["ON then ON", "ON then OFF", "OFF then ON", "OFF then OFF"]),
        ("edges", ["ON edge, contrast 0.5", "OFF edge, contrast -0.5"]),
        ("duration", ["peak", "mean"]),
    ],
)
def test_polarities_and_measures_have_panels_of_their_own(name, titles, detectors):
    tuning = experiment(name, detectors["learned of two units"], **SHORT)
    figure = draw_tuning(tuning)
    units = [f"{d:.0f}°" for d in tuning.preferred.values]
    assert [axes.get_title() for axes in figure.axes] == [f"{unit}, {title}" for unit in units for title in titles]
    assert len({axes.get_ylim() for axes in figure.axes[:: len(titles)]}) == 1


def test_what_is_nothing_but_rounding_looks_like_zero(detectors):
    tuning = experiment("duration", detectors["hrd"], **SHORT)
    assert np.abs(tuning.course).max() < 1e-15
    assert [axes.get_ylim() for axes in draw_tuning(tuning).axes] == [(-1, 1), (-1, 1)]


@pytest.mark.parametrize(("sign", "negative"), [(1, "null, negative: its size"), (-1, "preferred, negative: its size")])
def test_legends_of_contrast_name_negative_responses(sign, negative, characters):
    tuning = characters["hrd"].results["contrast"]
    (legend,) = draw_tuning(tuning.assign(response=sign * tuning.response)).legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert set(labels) == {("preferred", "null")[sign < 0], negative, "square of contrast"}


def test_maps_share_a_scale_symmetric_about_zero(characters):
    figure = draw_tuning(characters["hrd"].results["frequency"])
    limits = {mesh.get_clim() for axes in figure.axes[:2] for mesh in axes.collections}
    ((low, high),) = limits
    assert low == -high < 0


@pytest.mark.parametrize("name", ["direction", "frequency", "contrast", "gliders"])
def test_a_result_that_is_silent_is_drawn(name, characters):
    result = characters["hrd"].results[name]
    drawn(draw_tuning(result.assign({k: 0 * v for k, v in result.data_vars.items()})))


def test_refuses_what_has_no_drawing(characters):
    with pytest.raises(ValueError, match="no drawing of 'colour'; expected one of local"):
        draw_tuning(characters["hrd"].results["contrast"].assign_attrs(experiment="colour"))


def test_refuses_designs_that_it_has_no_place_for(detectors):
    tuning = experiment("direction", detectors["hrd"], direction=[0, 90], contrast=[0.1, 0.5], **SHORT)
    with pytest.raises(ValueError, match="dimensions direction, contrast; the drawing of direction has direction"):
        draw_tuning(tuning)


@pytest.mark.parametrize("n", [1, 2])
def test_sheets_have_a_row_a_detector_and_a_column_an_experiment(n, characters):
    names = [f"hrd {k}" for k in range(n)]
    figure = drawn(draw_sheet(dict.fromkeys(names, characters["hrd"])))
    assert len(figure.axes) == 7 * n
    assert [axes.get_title() != "" for axes in figure.axes] == [True] * 7 + [False] * 7 * (n - 1)
    assert [axes.get_xlabel() != "" for axes in figure.axes[-7:]] == [True] * 7
    assert [text.get_text() for text in figure.texts[:n]] == names


def test_sheets_have_a_row_a_unit(characters):
    several = characters["learned of two units"]
    figure = draw_sheet({"model": several, "hrd": characters["hrd"]})
    preferred = several.results["direction"].preferred.values
    assert [text.get_text() for text in figure.texts[:3]] == [*(f"model {d:.0f}°" for d in preferred), "hrd"]
    second = several.results["reverse-phi"].response.isel(unit=1).transpose("reverse", "motion").values
    bars = [bar.get_height() for bar in figure.axes[7 + 5].patches]
    np.testing.assert_allclose(bars, (second / np.abs(second).max()).T.ravel())


def test_sheets_are_relative_to_the_largest_response(characters):
    figure = draw_sheet({"hrd": characters["hrd"]})
    sizes = [np.nanmax(np.abs(line.get_ydata())) for axes in figure.axes[:2] for line in axes.lines[:2]]
    assert max(sizes) <= 1
    bars = [abs(bar.get_height()) for bar in figure.axes[5].patches]
    np.testing.assert_allclose(max(bars), 1)


def test_comparisons_show_every_cell(characters):
    both = compare(characters["hrd"].results["direction"], published())
    figure = drawn(draw_comparison(both))
    assert [axes.get_title()[:3] for axes in figure.axes] == both.cell.values.tolist()
    np.testing.assert_array_equal(figure.axes[2].lines[0].get_ydata(), both.recording.sel(cell="T4c"))
    np.testing.assert_array_equal(figure.axes[2].lines[1].get_ydata(), both.model.sel(cell="T4c"))


@pytest.mark.parametrize("n", [1, 5])
def test_comparisons_share_a_scale_and_titles_fit(n, characters):
    both = compare(characters["hrd"].results["direction"], published().isel(cell=slice(0, n)))
    figure = drawn(draw_comparison(both.assign_attrs(detector="a detector of a long name, by several authors, 1956")))
    assert len({axes.get_ylim() for axes in figure.axes[:n]}) == 1
    shown = [axes for axes in figure.axes[:n] if axes.xaxis.get_tick_params()["labelbottom"]]
    assert shown == figure.axes[max(0, n - 4) : n]
    (title,) = [text for text in figure.findobj(Text) if text.get_text() == figure.get_suptitle()]
    box = title.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.width


def test_pyplot_is_never_loaded(monkeypatch, characters):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    drawn(draw_sheet({"hrd": characters["hrd"]}))
