"""Motions of any kind: what steps do to content, and what the renderer shows of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Turned

from flymotion.generators import derivative_operator
from flymotion.generators.analytic import interior
from flymotion.generators.theory import population
from flymotion.world.eyes import Grid, Hexagon, Line, Sphere
from flymotion.world.motions import Mixture, Motion, Rotation, SelfTranslation, Shear, Translation, Turn, Zoom
from flymotion.world.rendering import render, sample_pairs, stepped_pairs
from flymotion.world.scenes import (
    Bar,
    Edge,
    ExponentialNoise,
    Grating,
    SmoothNoise,
    SphericalNoise,
    exponential_covariance,
    smooth_covariance,
    spherical_covariance,
)

AFFINE = Mixture(Translation(0.3), Rotation(5.0), Zoom(0.1), Shear(0.1))


class Ramp:
    """Intensity that grows linearly: blur leaves it as it is, and its derivative is the same at any step."""

    wraps = True

    def __init__(self, slope):
        self.slope = np.asarray(slope, dtype=float)
        self.ndim = len(slope)
        self.extent = np.tile([0.0, 1.0], (self.ndim, 1))

    def sample(self, points, sigma):
        return points @ self.slope


def at_rest(motion, n=1):
    return np.broadcast_to(np.eye(motion.ndim, motion.ndim + 1), (n, motion.ndim, motion.ndim + 1))


def numerical_change(scene, eye, motion, parameter, poses, h=1e-3):
    """Derivative of the rendered frames in one parameter."""
    step = h * np.eye(len(motion.flows))[[parameter]]
    forth, back = (stepped_pairs(scene, eye, motion, poses, np.repeat(s * step, len(poses), 0)).after for s in (1, -1))
    return (forth - back).reshape(len(poses), -1) / (2 * h)


# Which steps there are

SIZES = np.array([[0.5, 2.0], [1.0, 1.5]])
UNEVEN = Motion([("right", "left")], [[[0.0, 1.0]]], [[1.0], [-1.0]], SIZES)


def test_steps_are_uniform_between_the_least_and_the_largest_of_each_way():
    steps = UNEVEN.steps(100_000, np.random.default_rng(0))[:, 0]
    for way, (low, high) in zip((steps[steps > 0], -steps[steps < 0]), SIZES, strict=True):
        assert len(way) == pytest.approx(50_000, rel=0.02)
        assert low <= way.min() < low + 0.001 and high - 0.001 < way.max() <= high
        assert way.mean() == pytest.approx(SIZES.mean(), rel=0.01)


@pytest.mark.parametrize("power", range(6))
def test_quadrature_gives_the_moments_of_the_steps(power):
    steps, weights = UNEVEN.quadrature(4)
    low, high = SIZES.T
    expected = (high ** (power + 1) - low ** (power + 1)) / (high - low) / (power + 1)
    assert weights @ steps[:, 0] ** power == pytest.approx(expected @ [0.5, 0.5 * (-1) ** power], rel=1e-12, abs=1e-12)


# What steps do


@pytest.mark.parametrize("motion", [AFFINE, Turn(5.0), SelfTranslation(0.1), Translation(1.0, ndim=1)], ids=repr)
def test_maps_are_matrix_exponentials(motion):
    steps = np.random.default_rng(0).normal(scale=0.3, size=(5, len(motion.flows)))
    generators = np.zeros((5, motion.ndim + 1, motion.ndim + 1))
    generators[:, :-1] = np.tensordot(steps, motion.flows, axes=1)
    assert_allclose(motion.maps(steps), [expm(g)[:-1] for g in generators], atol=1e-14)


@pytest.mark.parametrize("motion", [AFFINE, Turn(40.0), Rotation(180.0)], ids=repr)
def test_a_step_back_undoes_a_step(motion):
    steps = motion.steps(20, np.random.default_rng(0))
    there, back = motion.maps(steps), motion.maps(-steps)
    assert_allclose(
        there[..., :-1] @ back[..., :-1], np.broadcast_to(np.eye(motion.ndim), back[..., :-1].shape), atol=1e-12
    )
    assert_allclose(there[..., :-1] @ back[..., -1:] + there[..., -1:], 0, atol=1e-12)


def test_signs_of_the_plane():
    """Content to the right of the middle: x right, y down."""
    right = np.array([[1.0, 0.0]])
    assert_allclose(Translation(1.0).flow(right)[:, 0], [[1, 0], [0, 1]])
    assert_allclose(Rotation(1.0).flow(right)[0], [[0, -np.radians(1)]])  # counter-clockwise: it goes up
    assert_allclose(Zoom(1.0).flow(right)[0], [[1, 0]])
    assert_allclose(Shear(1.0).flow(right)[:, 0], [[1, 0], [0, 1]])
    assert_allclose(Shear(1.0).flow(np.array([[1.0, 1.0]]))[1], [[1, 1]])  # along the diagonal that falls to the right


def test_signs_of_the_sphere():
    """Turning left, what is ahead goes to the right; moving on, it stands and the sides flow back."""
    forward, left, up = np.eye(3)
    roll, pitch, yaw = Turn(1.0).flow(np.array([forward]))[:, 0] / np.radians(1)
    assert_allclose([roll, pitch, yaw], [[0, 0, 0], [0, 0, 1], [0, -1, 0]], atol=1e-12)  # nose down: content goes up
    assert_allclose(
        Turn(1.0).flow(np.array([left]))[0, 0] / np.radians(1), -up, atol=1e-12
    )  # roll right: left side goes up
    ahead, aside = SelfTranslation(1.0).flow(np.array([forward, left]), depth=2.0)[0]
    assert_allclose([ahead, aside], [[0, 0, 0], [-0.5, 0, 0]])


def test_flow_of_self_motion_is_that_of_longuet_higgins_and_prazdny():
    """-omega x d - (t - (t.d) d) / D, for any direction and distance."""
    rng = np.random.default_rng(0)
    directions = Sphere(rng.normal(size=(20, 3))).positions
    depth = rng.uniform(1, 3, size=20)
    omega, t = rng.normal(size=(2, 3))
    flow = np.tensordot(omega, Turn(1.0).flow(directions), 1) + np.tensordot(
        t, SelfTranslation(1.0).flow(directions, depth), 1
    )
    parallax = (t - (directions @ t)[:, None] * directions) / depth[:, None]
    assert_allclose(flow, -np.cross(np.radians(omega), directions) - parallax, atol=1e-12)


def test_each_pair_makes_one_motion():
    steps = AFFINE.steps(2000, np.random.default_rng(0))
    assert_array_equal((steps != 0).sum(axis=1), 1)
    assert_allclose((steps > 0).mean(axis=0), 1 / 12, atol=0.03)
    assert (np.abs(steps) <= [0.3, 0.3, 5.0, 0.1, 0.1, 0.1]).all()


def test_motions_along_given_axes():
    turn = Turn(2.0, 1.0, axes=[[0, 0, 5]])
    steps = turn.steps(100, np.random.default_rng(0))
    assert_array_equal(steps[:, :2], 0)
    assert (turn.called([0, 0, 1]), turn.called([0, -0.1, -1])) == ("yaw left", "yaw right")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Turn(1.0, axes=[[0, 0, 0]]), "none 0"),
        (lambda: Mixture(), "expected one or more"),
        (lambda: Mixture(Translation(1.0), Turn(1.0)), "expected one or more alike"),
        (lambda: Rotation(1.0, 2.0), "0 <= min <= max"),
        (lambda: Motion([("a", "b")], np.zeros((1, 2, 2)), [[1.0]], [[0, 1]]), "expected \\(n, ndim"),
        (lambda: Motion([("a", "b")], np.zeros((1, 2, 3)), [[1.0, 0]], [[0, 1]]), "expected \\(m, 1"),
    ],
)
def test_impossible_motions_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# What the renderer shows


def test_content_that_turns_is_the_scene_turned():
    """A horizontal grating turned a quarter counter-clockwise is a vertical one."""
    eye, turn = Grid(5, 5), Rotation(90.0)
    pairs = stepped_pairs(Grating(4.0, direction=0.0, phase=0.3, ndim=2), eye, turn, at_rest(turn), np.array([[90.0]]))
    upright = render(Grating(4.0, direction=90.0, phase=0.3, ndim=2), eye, [[0.0, 0.0]])
    assert_allclose(pairs.after, upright, atol=1e-12)
    assert_allclose(pairs.after[0], np.rot90(pairs.before[0]), atol=1e-12)


def test_content_that_grows_is_seen_through_the_same_optics():
    """A grating zoomed is one of a longer wavelength, blurred as such and not as the shorter one was."""
    eye, zoom = Grid(4, 6, sigma=0.8), Zoom(1.0)
    pairs = stepped_pairs(Grating(4.0, ndim=2), eye, zoom, at_rest(zoom), np.array([[0.5]]))
    assert_allclose(pairs.after, render(Grating(4.0 * np.exp(0.5), ndim=2), eye, [[0.0, 0.0]]), atol=1e-12)


@pytest.mark.parametrize("scene", [Edge(0.2, direction=30, ndim=2), Bar(1.5, 0.1, direction=-45, ndim=2)], ids=repr)
def test_edges_and_bars_turn_with_the_content(scene):
    eye, turn = Hexagon(2), Rotation(90.0)
    turned = type(scene)(**{**vars(scene), "direction": scene.direction + 20})
    after = stepped_pairs(scene, eye, turn, at_rest(turn), np.array([[20.0]])).after
    assert_allclose(after, render(turned, eye, [[0.0, 0.0]]), atol=1e-12)


def test_a_bar_is_two_edges():
    points = np.linspace(-4, 4, 50)[:, None]
    edges = Edge(-1.0).sample(points, 0.4) - Edge(1.0).sample(points, 0.4)
    assert_allclose(Bar(2.0).sample(points, 0.4), edges, atol=1e-15)


def test_a_turned_spherical_eye_sees_the_scene_turned_back():
    eye, turn = Sphere.evenly(50, 5.0), Turn(30.0)
    scene = SphericalNoise(20.0, random_state=0)
    omega = np.array([[10.0, -5.0, 20.0]])
    after = stepped_pairs(scene, eye, turn, at_rest(turn), omega).after
    directions = Turned.from_rotvec(omega[0], degrees=True).apply(np.array(eye.positions))
    assert_allclose(after[0], scene.sample(directions, 5.0), atol=1e-10)


def test_true_motions_and_their_names_come_with_the_pairs():
    pairs = sample_pairs(SphericalNoise(20.0, random_state=0), Sphere.evenly(20, 5.0), Turn(3.0), 50, random_state=1)
    assert (pairs.motion.shape, pairs.names) == ((50, 3), Turn(3.0).names)
    assert pairs[:10].names == pairs.flat().names == pairs.names


def test_pairs_do_not_depend_on_anything_but_the_seed():
    how = (SmoothNoise(3.0, ndim=2, period=64.0, random_state=0), Grid(3, 3), AFFINE, 20)
    once, again = (sample_pairs(*how, random_state=5) for _ in range(2))
    assert_array_equal(once.after, again.after)


@pytest.mark.parametrize(
    ("poses", "message"),
    [
        (2 * np.eye(3)[None], "stretch"),
        (np.eye(3, 4)[None] + 0.1 * np.eye(3, 4, 3)[None], "infinite|expected nearer"),
        (np.zeros((4, 2)), "expected poses"),
    ],
    ids=["stretched", "moved", "flat"],
)
def test_poses_that_no_spherical_eye_can_have_are_refused(poses, message):
    with pytest.raises(ValueError, match=message):
        render(SphericalNoise(20.0, random_state=0), Sphere.evenly(20, 5.0), poses)


def test_a_pose_that_is_not_finite_is_named():
    with pytest.raises(ValueError, match="pose 1 is not finite"):
        render(Grating(4.0), Line(3), [[0.0], [np.nan]])


# Analytic generators against the renderer, differentiated numerically

FLAT = [(Line(7), Translation(0.3, ndim=1)), *((eye, AFFINE) for eye in (Grid(5, 6), Hexagon(3)))]


@pytest.mark.parametrize(("eye", "motion"), FLAT, ids=lambda value: type(value).__name__)
def test_derivative_operators_are_exact_on_ramps(eye, motion):
    """The central difference of a linear function is its derivative, so A x is the change inside, for every motion."""
    inside = interior(eye, 1)
    for slope in np.eye(motion.ndim):
        for parameter, flow in enumerate(motion.flow(eye.positions)):
            poses = at_rest(motion)
            change = numerical_change(Ramp(slope), eye, motion, parameter, poses)
            frame = render(Ramp(slope), eye, poses).reshape(-1)
            assert_allclose((derivative_operator(eye, flow) @ frame)[inside], change[0, inside], atol=1e-6)


@pytest.mark.parametrize("motion", [Turn(3.0), SelfTranslation(0.1)], ids=["turn", "self-translation"])
def test_derivative_operators_of_the_sphere_follow_smooth_scenes(motion):
    eye, scene = Sphere.evenly(800, 3.0), SphericalNoise(40.0, depth=1.0, random_state=0)
    poses = at_rest(motion)
    frame = render(scene, eye, poses).reshape(-1)
    for parameter, flow in enumerate(motion.flow(eye.positions, depth=1.0)):
        change = numerical_change(scene, eye, motion, parameter, poses)[0]
        assert np.corrcoef(derivative_operator(eye, flow) @ frame, change)[0, 1] > 0.99
        assert np.linalg.norm(derivative_operator(eye, flow) @ frame) == pytest.approx(np.linalg.norm(change), rel=0.05)


WORLDS = {
    "line": (
        ExponentialNoise(3.0, period=8192.0, random_state=0),
        exponential_covariance(3.0, 0.5),
        Line(5, 0.5),
        Translation(0.3, ndim=1),
    ),
    "grid": (
        SmoothNoise(2.0, ndim=2, period=200.0, random_state=0),
        smooth_covariance(2.0, 0.5, 2),
        Grid(3, 3, 0.5),
        AFFINE,
    ),
    "hexagon": (
        SmoothNoise(2.0, ndim=2, period=200.0, random_state=0),
        smooth_covariance(2.0, 0.5, 2),
        Hexagon(1, 0.5),
        AFFINE,
    ),
}


@pytest.mark.parametrize("world", WORLDS)
def test_population_operators_are_the_regression_of_the_rendered_change(world):
    """A C = E[change x'], with the change differentiated numerically, to sampling error."""
    scene, covariance, eye, motion = WORLDS[world]
    pop = population(covariance, eye, motion, whitening=None)
    C = covariance(eye.positions[:, None] - eye.positions)
    places = np.random.default_rng(0).uniform(0, 8000, size=(8_000, motion.ndim))
    poses = np.concatenate(
        [np.broadcast_to(np.eye(motion.ndim), (len(places), motion.ndim, motion.ndim)), places[..., None]], 2
    )
    frames = render(scene, eye, poses).reshape(len(poses), -1)
    for parameter, A in enumerate(pop.generators().operators):
        change = numerical_change(scene, eye, motion, parameter, poses)
        expected = A @ C
        error = np.abs(change.T @ frames / len(frames) - expected).max()
        assert error < 0.08 * np.sqrt((change**2).mean(axis=0).max())


@pytest.mark.parametrize("motion", [Turn(3.0), SelfTranslation(0.1)], ids=["turn", "self-translation"])
def test_population_operators_of_the_sphere_are_the_regression_over_scenes(motion):
    eye, correlation = Sphere.evenly(12, 10.0), 40.0
    pop = population(spherical_covariance(correlation, eye.sigma), eye, motion, whitening=None, depth=1.0)
    C = spherical_covariance(correlation, eye.sigma)(eye.positions[:, None] - eye.positions)
    scenes = [SphericalNoise(correlation, depth=1.0, random_state=seed) for seed in range(300)]
    poses = at_rest(motion)
    frames = np.array([render(scene, eye, poses)[0] for scene in scenes])
    for parameter, A in enumerate(pop.generators().operators):
        change = np.array([numerical_change(scene, eye, motion, parameter, poses)[0] for scene in scenes])
        error = np.abs(change.T @ frames / len(frames) - A @ C).max()
        assert error < 5 / np.sqrt(len(scenes)) * np.sqrt((change**2).mean(axis=0).max())


def test_population_operators_predict_smooth_change_nearly_all():
    eye, motion = Grid(7, 7, 0.5), Rotation(3.0)
    scene = SmoothNoise(3.0, ndim=2, period=256.0, random_state=1)
    operators = (
        population(smooth_covariance(3.0, 0.5, 2), eye, motion, regularization=1e-8).generators().on_raw_frames()
    )
    pairs = sample_pairs(scene, eye, motion, 200, random_state=0)
    left = operators.apply(pairs.before, pairs.motion) - pairs.after
    still = pairs.after - pairs.before
    assert np.linalg.norm(left) < 0.05 * np.linalg.norm(still)


def test_generators_of_zoom_and_shear_are_less_antisymmetric():
    """C32, of the population: what keeps the scene's statistics has antisymmetric generators."""
    pop = population(exponential_covariance(3.0, 0.5, 2), Grid(5, 5, 0.5), AFFINE)
    shares = pop.generators().antisymmetric_share()
    assert shares[:3].min() > 0.99
    assert shares[3:].max() < 0.99


def test_shears_keep_areas_and_do_not_turn():
    """Liouville: a flow without divergence keeps areas; without curl it does not turn."""
    linear = Shear(0.1).flows[..., :2]
    assert_array_equal(np.trace(linear, axis1=1, axis2=2), 0)
    assert_array_equal(linear, linear.swapaxes(1, 2))


def test_axes_of_any_length_are_directions():
    axes = [[2.0, 0.0, 0.0], [0.0, 3.0, 4.0]]
    for motion in (Turn(5.0, axes=axes), SelfTranslation(0.1, axes=axes)):
        assert_allclose(motion.ways, [[1, 0, 0], [0, 0.6, 0.8], [-1, 0, 0], [0, -0.6, -0.8]])


def test_sizes_out_of_order_are_refused_even_if_only_one_way_has_them():
    flows = Translation(1.0).flows
    with pytest.raises(ValueError, match=r"expected 0 <= min <= max"):
        Motion(Translation(1.0).names, flows, np.eye(2), [[0.0, 1.0], [1.0, 0.5]])
