"""Figures: what they show of degenerate input, and that they leave the global state of matplotlib alone."""

import io
import sys

import numpy as np
import pytest

from flymotion.generators import Generators, derivative_operator
from flymotion.plots import draw_filters, filter_sheet


def images(figure):
    return [image for axes in figure.axes for image in axes.images]


def drawn(figure):
    """Draw the whole figure, which is where most errors would come up, and return its images."""
    figure.savefig(io.BytesIO(), dpi=40)
    return images(figure)


def titles(figure):
    return [axes.get_title() for axes in figure.axes if axes.get_title()]


@pytest.mark.case("B47")
@pytest.mark.parametrize(
    "matrices",
    [
        np.zeros((2, 5, 5)),
        np.full((1, 3, 3), np.nan),
        np.array([[[np.nan, np.inf], [1.0, -3.0]]]),
        np.ones((1, 1, 1)),
        np.arange(30.0).reshape(1, 5, 6),
        np.full((3, 2, 2), 1e-300),
    ],
    ids=["zero", "NaN", "some not finite", "one pixel", "not square", "tiny"],
)
def test_degenerate_filters_are_drawn_on_limits_symmetric_about_zero(matrices):
    shown = drawn(draw_filters(matrices))
    limits = {image.get_clim() for image in shown}
    assert len(shown) == len(matrices)
    assert len(limits) == 1
    ((low, high),) = limits
    assert low == -high < 0


def test_filters_share_the_scale_of_the_largest_weight():
    shown = drawn(draw_filters(np.stack([np.eye(3), -4 * np.eye(3)]), ["small", "large"]))
    assert [image.get_clim() for image in shown] == [(-4.0, 4.0)] * 2


def test_filters_have_titles_pixel_labels_and_a_labelled_colour_bar():
    figure = draw_filters(np.zeros((2, 3, 4)), ["a", "b"], label="weight [1/px]", suptitle="all")
    drawn(figure)
    first, bar = figure.axes[0], figure.axes[-1]
    assert titles(figure) == ["a", "b"]
    assert [tick.get_text() for tick in first.get_xticklabels()] == ["1", "2", "3", "4"]
    assert [tick.get_text() for tick in first.get_yticklabels()] == ["1", "2", "3"]
    assert bar.get_ylabel() == "weight [1/px]"


def test_large_filters_label_few_pixels():
    figure = draw_filters(np.zeros((1, 25, 25)))
    assert len(figure.axes[0].get_xticks()) == 5


@pytest.mark.parametrize("shape", [(0, 3, 3), (3, 3), (2, 0, 3)])
def test_refuses_what_are_no_filters(shape):
    with pytest.raises(ValueError, match="expected \\(n_filters"):
        draw_filters(np.zeros(shape))


def test_refuses_titles_that_do_not_match():
    with pytest.raises(ValueError, match="1 titles for 2 filters"):
        draw_filters(np.zeros((2, 3, 3)), ["a"])


def cardinal(shape, n=4):
    return Generators(np.stack([derivative_operator(shape, angle) for angle in (0, 90, 180, 270)[:n]]), shape)


def test_sheet_names_the_directions():
    figure = filter_sheet(cardinal((3, 4)))
    drawn(figure)
    assert titles(figure) == ["right (0 deg)", "up (90 deg)", "left (180 deg)", "down (270 deg)"]


def test_sheet_shows_each_pixel_of_change_its_weights_onto_the_image():
    height, width = shape = (3, 4)
    (image,) = drawn(filter_sheet(cardinal(shape, 1), ["right"]))
    mosaic = np.ma.filled(image.get_array(), np.nan)
    operator = derivative_operator(shape)
    for pixel in np.ndindex(shape):
        top, left = pixel[0] * (height + 1), pixel[1] * (width + 1)
        tile = mosaic[top : top + height, left : left + width]
        np.testing.assert_array_equal(tile, operator[np.ravel_multi_index(pixel, shape)].reshape(shape))
    assert np.isnan(mosaic[height]).all()
    assert np.isnan(mosaic[:, width]).all()


@pytest.mark.case("B47")
@pytest.mark.parametrize("operators", [np.zeros((1, 9, 9)), np.full((3, 9, 9), np.nan)], ids=["zero", "NaN"])
def test_degenerate_sheets_are_drawn(operators):
    assert len(drawn(filter_sheet(Generators(operators, (3, 3))))) == len(operators)


def test_sheet_of_a_line_is_matrices():
    figure = filter_sheet(Generators(derivative_operator((5,))[None], (5,)))
    (image,) = drawn(figure)
    assert image.get_array().shape == (5, 5)
    assert titles(figure) == ["right (0 deg)"]


def test_sheet_refuses_labels_that_do_not_match():
    with pytest.raises(ValueError, match="2 labels for 4 components"):
        filter_sheet(cardinal((3, 3)), ["a", "b"])


def test_sheet_refuses_no_components():
    with pytest.raises(ValueError, match="0 components"):
        filter_sheet(Generators(np.zeros((0, 9, 9)), (3, 3)))


@pytest.mark.case("B47")
def test_pyplot_is_never_loaded(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    drawn(filter_sheet(cardinal((3, 3))))
