"""Filters of every eye drawn, with the flow that they imply, and eyes themselves."""

import io

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.quiver import Quiver
from test_flows import analytic, cosines

from flymotion.generators import Generators, derivative_operator
from flymotion.plots import draw_eye, filter_sheet
from flymotion.plots.lens_maps import draw_lenses, lens_maps
from flymotion.plots.maps import MAP_WIDTH, on_map, on_map_unbroken, pointing_on_map
from flymotion.world.compound_eyes import CompoundEye, buchner
from flymotion.world.eyes import Grid, Hexagon, Line, Sphere
from flymotion.world.motions import Rotation, Turn

# -- the map -----------------------------------------------------------------------------------------------------


def test_left_is_at_the_left_and_up_is_up():
    ahead, left, right, up = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 0], [0.5, 0, 0.8]])
    x, y = on_map(np.stack([ahead, left, right, up])).T
    assert x[1] < x[0] == 0 < x[2] == -x[1]
    assert y[3] > y[0] == 0


def test_map_keeps_areas():
    """The Jacobian's determinant, on tangents that are at right angles, is the same everywhere (Hammer 1892)."""
    directions = Sphere.evenly(40).positions
    h = 1e-5
    east = np.cross([0.0, 0.0, 1.0], directions)
    east /= np.linalg.norm(east, axis=1, keepdims=True)
    north = np.cross(directions, east)
    a, b = (
        (on_map(directions + h * tangent) - on_map(directions - h * tangent)) / (2 * h) for tangent in (east, north)
    )
    areas = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    np.testing.assert_allclose(areas, areas.mean(), rtol=1e-2)


def test_arrows_on_the_map_have_the_length_of_the_flow_and_point_where_it_leads():
    eye = Sphere.evenly(50)
    flow = Turn(5.0).flow(eye.positions)[1]
    arrows = pointing_on_map(eye.positions, flow)
    np.testing.assert_allclose(np.linalg.norm(arrows, axis=1), np.linalg.norm(flow, axis=1))
    ahead = np.abs(np.arctan2(eye.positions[:, 1], eye.positions[:, 0])) < 2.5
    moved = on_map(eye.positions + 1e-3 * flow) - on_map(eye.positions)
    assert cosines(arrows, moved)[ahead].min() > 0.999


def test_arrows_exist_at_the_poles_and_straight_behind():
    directions = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
    arrows = pointing_on_map(directions, np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]))
    np.testing.assert_allclose(np.linalg.norm(arrows, axis=1), 1)
    assert arrows[2, 0] < 0  # behind, what moves to the right of the body moves to the left as one looks at it


def test_paths_are_cut_where_they_cross_straight_behind():
    t = np.radians(np.linspace(160, 200, 9))
    path = np.stack([np.cos(t), np.sin(t), np.zeros(9)], axis=1)
    pieces = on_map_unbroken(np.stack([path, -path]))
    assert len(pieces) == 3
    assert max(np.ptp(piece[:, 0]) for piece in pieces) < MAP_WIDTH / 4


# -- sheets ------------------------------------------------------------------------------------------------------


def drawn(figure):
    figure.savefig(io.BytesIO(), dpi=40)
    return figure


def titles(figure):
    return [axes.get_title() for axes in figure.axes if axes.get_title()]


def artists(figure, kind):
    return [artist for axes in figure.axes for artist in axes.collections if type(artist) is kind]


def coloured(figure):
    return [artist for artist in artists(figure, PolyCollection) if artist.get_array() is not None]


EYES = ["grid", "small hexagon", "large hexagon", "sphere"]


def components(eye, n):
    one = derivative_operator(eye, np.eye(eye.positions.shape[1])[0])
    return Generators(np.stack([(-1) ** k * one for k in range(n)]), eye)


@pytest.mark.parametrize("n", [1, 6, 12])
@pytest.mark.parametrize("eye", [Grid(3, 3), Hexagon(1), Hexagon(4), Sphere.evenly(12)], ids=EYES)
def test_sheets_have_a_titled_panel_a_component(eye, n):
    labels = [f"filter {k}" for k in range(n)]
    assert titles(filter_sheet(components(eye, n), labels)) == labels


@pytest.mark.parametrize("eye", [Grid(3, 3), Hexagon(4), Sphere.evenly(12)], ids=["grid", "hexagon", "sphere"])
def test_nothing_on_a_sheet_overlaps(eye):
    figure = drawn(filter_sheet(components(eye, 7), suptitle="seven"))
    boxes = [axes.get_tightbbox() for axes in figure.axes if axes.has_data()]
    pairs = [(a, b) for k, a in enumerate(boxes) for b in boxes[:k]]
    assert len(boxes) >= 7
    assert not any(a.overlaps(b) for a, b in pairs)


def test_small_hexagons_are_arrays_of_images_on_one_symmetric_scale():
    generators = components(Hexagon(2), 2)
    generators = Generators(generators.operators * [[[1.0]], [[4.0]]], generators.eye)
    figure = drawn(filter_sheet(generators))
    hexagons, largest = coloured(figure), np.abs(generators.operators).max()
    assert titles(figure) == ["right (0 deg)", "left (180 deg)"]
    assert len(figure.axes) == 3
    assert {patches.get_clim() for patches in hexagons} == {(-largest, largest)}
    for patches, operator in zip(hexagons, generators.operators, strict=True):
        np.testing.assert_array_equal(patches.get_array(), operator.ravel())


def test_images_in_an_array_of_hexagons_do_not_overlap():
    (patches,) = coloured(filter_sheet(components(Hexagon(3), 1)))
    centres = np.array([path.vertices[:6].mean(axis=0) for path in patches.get_paths()])
    images = centres.reshape(37, 37, 2)
    apart = np.linalg.norm(images[0][:, None] - images[1:].reshape(-1, 2), axis=2)
    assert apart.min() > 1.1
    np.testing.assert_allclose((images - images.mean(axis=1, keepdims=True)).std(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(images[0] - images[0].mean(axis=0), Hexagon(3).positions, atol=1e-12)


def test_large_hexagons_show_means_and_flow():
    figure = drawn(filter_sheet(components(Hexagon(5), 2)))
    means, arrows = coloured(figure), artists(figure, Quiver)
    assert len(figure.axes) == 5
    assert [len(patches.get_array()) for patches in means] == [37, 37]
    assert means[0].get_clim() == means[1].get_clim()
    assert [quiver.N for quiver in arrows] == [91, 91]
    assert (arrows[0].U > 0).all()
    assert (arrows[1].U < 0).all()


def test_arrows_of_very_large_hexagons_are_of_every_second_pixel():
    eye = Hexagon(12)
    (arrows,) = artists(filter_sheet(components(eye, 1)), Quiver)
    assert arrows.N == len(Hexagon(6).positions)


def test_filters_without_a_mean_are_not_blown_up():
    eye = Hexagon(4)
    (means,) = coloured(filter_sheet(analytic(eye, Rotation(5.0).flow(eye.positions))))
    assert np.abs(means.get_array()).max() < 1e-3 * means.get_clim()[1]


def test_spheres_are_maps_of_arrows_of_one_scale():
    eye = Sphere.evenly(60)
    flows = Turn(5.0).flow(eye.positions)
    figure = drawn(filter_sheet(analytic(eye, [flows[2], -0.5 * flows[2]])))
    left_turn, right_turn = artists(figure, Quiver)
    assert titles(figure) == ["component 1", "component 2"]
    ahead = np.abs(left_turn.X) < 1
    assert (left_turn.U[ahead] > 0).all()  # the eye turns to the left, content flows to the right
    np.testing.assert_allclose(right_turn.U, -left_turn.U / 2, atol=1e-6)


@pytest.mark.case("B47")
@pytest.mark.parametrize("weight", [0.0, np.nan, 1e-300], ids=str)
@pytest.mark.parametrize("eye", [Hexagon(1), Hexagon(4), Sphere.evenly(12)], ids=EYES[1:])
def test_degenerate_filters_of_every_eye_are_drawn(eye, weight):
    n = len(eye.positions)
    figure = drawn(filter_sheet(Generators(np.full((2, n, n), weight), eye), ["a", "b"]))
    for patches in coloured(figure):
        low, high = patches.get_clim()
        assert low == -high < 0


def test_filters_that_are_not_numbers_have_no_arrows():
    operators = components(Sphere.evenly(20), 1).operators.copy()
    operators[0, :5] = np.nan
    (arrows,) = artists(drawn(filter_sheet(Generators(operators, Sphere.evenly(20)))), Quiver)
    assert arrows.N == 15


# -- eyes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eye", [Line(7), Grid(3, 5), Hexagon(2)], ids=["line", "grid", "hexagon"])
def test_flat_eyes_have_links_and_circles_and_units(eye):
    figure = drawn(draw_eye(eye))
    (axes,) = figure.axes
    links, circles = artists(figure, LineCollection)
    widths = [np.ptp(path.vertices[:, 0]) for path in circles.get_paths()]
    assert len(links.get_paths()) == len(eye.neighbours)
    assert len(widths) == len(eye.positions)
    np.testing.assert_allclose(widths, eye.sigma * np.sqrt(8 * np.log(2)))
    assert axes.get_xlabel() == "x, right [pixel spacings]"
    assert axes.yaxis_inverted()


def test_spherical_eyes_are_maps():
    eye = Sphere.evenly(60)
    figure = drawn(draw_eye(eye, title="an eye"))
    links, circles = artists(figure, LineCollection)
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert titles(figure) == ["an eye"]
    assert len(links.get_paths()) >= len(eye.neighbours)
    assert len(circles.get_paths()) >= len(eye.positions)
    assert {"180°", "−90°", "60°", "elevation [deg]"} <= texts


@pytest.mark.parametrize("eye", [Line(1), Grid(2, 2, 0.0), Sphere.evenly(4, 0.0), Hexagon(8)])
def test_degenerate_eyes_are_drawn(eye):
    assert len(drawn(draw_eye(eye)).axes) == 1


def test_eyes_without_neighbours_are_refused():
    with pytest.raises(ValueError, match="no triangulation"):
        draw_eye(Sphere([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))


# -- lenses of a fly -------------------------------------------------------------------------------------------------


def small_eye(side="left"):
    directions = [[0.3 + 0.1 * x, 1.0, -0.1 * y] for x, y in Hexagon(2).positions]
    eye = CompoundEye.from_directions(directions)
    return {"left": eye, "right": eye.mirrored()}[side]


def test_links_of_a_measured_eye_have_the_colours_of_its_axes():
    figure = drawn(draw_eye(buchner("left")))
    lines = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    n_links = [len(c.get_segments()) for c in lines[:3]]
    assert 0 <= sum(n_links) - len(buchner("left").neighbours) < 40  # those cut straight behind are two
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[1:4] == [f"neighbours nominally at {b}° and {b + 180}°" for b in (30, 90, 150)]
    assert "acceptance, 4.3 to 7.9° wide" in labels[4]


@pytest.mark.parametrize("side", ["left", "right"])
def test_right_and_up_on_a_map_are_so_as_the_fly_sees_it(side):
    eye = small_eye(side)
    half = int(eye.half[0])
    figure = drawn(lens_maps(eye, np.arange(19.0)))
    lenses = next(c for c in figure.axes[0].collections if isinstance(c, PolyCollection))
    centres = np.array([path.vertices[:-1].mean(axis=0) for path in lenses.get_paths()])
    azimuth = np.arctan2(eye.directions[:, 1], eye.directions[:, 0])
    assert np.corrcoef(centres[:, 0], -azimuth)[0, 1] > 0.95
    assert np.corrcoef(centres[:, 1], eye.directions[:, 2])[0, 1] > 0.95
    assert figure.axes[0].get_title() == f"{('left', 'right')[half]} eye"
    np.testing.assert_array_equal(lenses.get_array(), np.arange(19.0))


def test_both_eyes_share_colours_about_zero_and_nan_is_grey():
    values = np.linspace(-1, 3, 1398)
    values[7] = np.nan
    figure = drawn(lens_maps(buchner(), values, label="response"))
    lenses = [c for axes in figure.axes for c in axes.collections if isinstance(c, PolyCollection)]
    assert [c.get_clim() for c in lenses] == [(-3, 3), (-3, 3)]
    assert [c.get_array().mask.sum() for c in lenses] == [1, 0]
    assert figure.axes[-1].get_ylabel() == "response"


def test_another_number_of_values_is_refused():
    with pytest.raises(ValueError, match=r"values of shape \(3,\), an eye of 19 lenses; expected one for each"):
        draw_lenses(None, small_eye(), np.zeros(3), half=0, limits=(-1, 1))
