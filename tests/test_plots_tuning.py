"""Figures of tuning: all kinds are drawn, labelled, with limits that mean the same for every panel."""

import io
import sys

import numpy as np
import pytest

from flymotion.detectors import hassenstein_reichardt, learned
from flymotion.generators import Generators, derivative_operator
from flymotion.plots import draw_comparison, draw_sheet, draw_tuning
from flymotion.recordings import compare, published
from flymotion.temporal import LowPass
from flymotion.tuning import EXPERIMENTS, characterise, experiment

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
    assert figure.get_suptitle() == f"{name}: Hassenstein & Reichardt 1956"
    assert figure.axes[0].get_xlabel()


@pytest.mark.parametrize(("name", "panels"), [("direction", 1), ("contrast", 2), ("frequency", 5)])
def test_units_have_panels_of_their_own_but_for_directions(name, panels, characters):
    figure = drawn(draw_tuning(characters["learned of two units"].results[name]))
    assert len(figure.axes) == panels


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
        draw_tuning(characters["hrd"].results["contrast"], "colour")


@pytest.mark.parametrize("n", [1, 3])
def test_sheets_have_a_row_a_detector_and_a_column_an_experiment(n, characters):
    names = [f"{name} {k}" for k in range(n) for name in characters][:n]
    several = {name: characters[name.rpartition(" ")[0]] for name in names}
    figure = drawn(draw_sheet(several))
    assert len(figure.axes) == 7 * n
    assert [axes.get_title() != "" for axes in figure.axes] == [True] * 7 + [False] * 7 * (n - 1)
    assert [axes.get_xlabel() != "" for axes in figure.axes[-7:]] == [True] * 7
    shown = [text.get_text().replace("\n", " ") for text in figure.texts]
    assert shown[:n] == names


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


def test_pyplot_is_never_loaded(monkeypatch, characters):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    drawn(draw_sheet({"hrd": characters["hrd"]}))
