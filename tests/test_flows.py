"""The flow that a filter implies, against the flow that it was made for."""

import numpy as np
import pytest

from flymotion.generators import Generators, derivative_operator
from flymotion.generators.flows import implied_flow, mean_filters
from flymotion.generators.theory import population
from flymotion.world.eyes import Grid, Hexagon, Sphere
from flymotion.world.motions import Mixture, Rotation, Translation, Turn, Zoom
from flymotion.world.scenes import smooth_covariance, spherical_covariance

AFFINE = Mixture(Translation(0.3), Rotation(5.0), Zoom(0.1))


def analytic(eye, flows):
    return Generators(np.stack([derivative_operator(eye, flow) for flow in flows]), eye)


def cosines(a, b):
    """Cosines of velocities, shape (..., ndim); 1 where b does not move."""
    inner, sizes = (a * b).sum(axis=-1), np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    moving = np.linalg.norm(b, axis=-1) > 1e-9
    return np.divide(inner, sizes, out=np.ones_like(inner), where=moving)


@pytest.mark.parametrize("eye", [Grid(6, 7), Hexagon(4)], ids=["grid", "hexagon"])
def test_flow_of_the_derivative_on_a_lattice_is_the_true_flow_at_every_pixel(eye):
    flows = AFFINE.flow(eye.positions)
    np.testing.assert_allclose(implied_flow(analytic(eye, flows)), flows, atol=1e-12)


def test_flow_of_the_derivative_on_the_sphere_is_the_true_flow_at_every_pixel():
    eye = Sphere.evenly(80)
    flows = Turn(5.0).flow(eye.positions)
    np.testing.assert_allclose(implied_flow(analytic(eye, flows)), flows, atol=1e-12)


def test_flow_inside_is_the_first_moment_over_the_neighbours():
    eye = Grid(5, 5)
    operator = np.random.default_rng(0).standard_normal((25, 25))
    middle, neighbours = 12, [7, 11, 13, 17]
    moment = -sum(operator[middle, j] * (eye.positions[j] - eye.positions[middle]) for j in neighbours)
    np.testing.assert_allclose(implied_flow(Generators(operator[None], eye))[0, middle], moment)


def test_content_that_moves_right_flows_right_and_up_is_towards_smaller_y():
    flow = implied_flow(analytic(Hexagon(2), [0.0, 90.0]))
    np.testing.assert_allclose(flow, np.broadcast_to([[[1.0, 0.0]], [[0.0, -1.0]]], flow.shape), atol=1e-12)


def test_a_blur_has_no_flow_inside():
    eye = Hexagon(3)
    blur = np.eye(len(eye.positions))
    i, j = np.concatenate([eye.neighbours, eye.neighbours[:, ::-1]]).T
    blur[i, j] = 0.3
    inside = np.bincount(i) == 6
    np.testing.assert_allclose(implied_flow(Generators(blur[None], eye))[0, inside], 0, atol=1e-12)


OPTIMA = {
    "grid": (Grid(7, 7, 0.8), AFFINE, smooth_covariance(3.0, 0.8, ndim=2)),
    "hexagon": (Hexagon(3, 0.8), AFFINE, smooth_covariance(3.0, 0.8, ndim=2)),
    "sphere": (Sphere.evenly(120, 10.0), Turn(5.0), spherical_covariance(40.0, 10.0)),
}


@pytest.mark.parametrize("name", OPTIMA)
@pytest.mark.parametrize("ridge", [0.0, 1e-3])
def test_optimal_filters_of_whitened_frames_imply_the_true_flow(name, ridge):
    eye, motion, covariance = OPTIMA[name]
    filters = population(covariance, eye, motion, regularization=ridge).generators()
    true = motion.flow(eye.positions)
    found = cosines(implied_flow(filters), true)
    assert np.median(found) > 0.97
    assert found.min() > 0.7


def test_flow_is_not_a_number_only_where_a_weight_is_not():
    operators = np.stack([derivative_operator(Hexagon(1))] * 2)
    operators[0, 2, 3], operators[1, 4, 0] = np.inf, np.nan
    missing = np.argwhere(np.isnan(implied_flow(Generators(operators, Hexagon(1)))).all(axis=2))
    assert missing.tolist() == [[0, 2], [1, 4]]


def test_mean_filters_of_a_translation_are_its_rows():
    eye = Hexagon(3)
    offsets, weights = mean_filters(analytic(eye, [0.0]), radius=2)
    middle = len(eye.positions) // 2
    near = np.linalg.norm(eye.positions, axis=1) <= 2 + 1e-9
    row = derivative_operator(eye)[middle, near]
    assert {tuple(o) for o in offsets.round(6)} == {tuple(p + 0.0) for p in eye.positions[near].round(6)}
    np.testing.assert_allclose(weights[0], row[np.lexsort(eye.positions[near].round(6).T[::-1])])


def test_mean_filters_average_over_the_interior():
    operators = np.zeros((1, 5, 5))
    operators[0, 1, 2], operators[0, 0, 1] = 3.0, 99.0  # pixel 0 is at the border
    offsets, weights = mean_filters(Generators(operators, (5,)), radius=1)
    assert offsets[:, 0].tolist() == [-1, 0, 1]
    assert weights[0].tolist() == [0, 0, 1]


def test_mean_filters_need_an_interior():
    with pytest.raises(ValueError, match="no pixel of \\(7,\\) frames is 2 spacings away"):
        mean_filters(analytic(Hexagon(1), [0.0]), radius=2)
