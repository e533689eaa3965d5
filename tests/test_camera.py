"""A camera is a piece of the sphere, and what an eye receives of it is what the eye sees itself."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flymotion.stimuli import rotating_panorama
from flymotion.video import Camera, OntoEye
from flymotion.world import Hexagon, Line, Sphere, render
from flymotion.world.globe import on_the_globe
from flymotion.world.scenes import SphericalNoise

TURNED = Rotation.from_euler("zyx", [20, 10, 5], degrees=True).as_matrix()
SKEWED = [[50.0, 3.0, 30.0], [0.0, 40.0, 21.0], [0.0, 0.0, 1.0]]


def rays(matrix, u, v):
    """Where a pixel looks, by back substitution (Hartley & Zisserman 2004, Eq. 6.13)."""
    (fx, skew, cx), (_, fy, cy), _ = matrix
    down = (v - cy) / fy
    right = (u - cx - skew * down) / fx
    return np.array([1.0, -right, -down]) / np.sqrt(1 + right**2 + down**2)


def through(camera, scene):
    """A frame of a scene all round, through pixels that average over their squares."""
    pixels = Sphere(camera.directions().reshape(-1, 3), sigma=camera.pixel / np.sqrt(12))
    return render(scene, pixels, np.eye(3)[None]).reshape(1, *camera.shape)


@pytest.mark.parametrize("turn", [None, TURNED])
def test_pixels_look_where_the_pinhole_says(turn):
    camera = Camera(41, 61, matrix=SKEWED, attitude=turn)
    looked = (np.eye(3) if turn is None else turn) @ rays(SKEWED, 7, 33)
    np.testing.assert_allclose(camera.directions()[33, 7], looked, atol=1e-12)


@pytest.mark.parametrize("turn", [None, TURNED])
@pytest.mark.parametrize("intrinsics", [{"fov": 100.0}, {"matrix": SKEWED}])
def test_pixels_and_directions_are_inverse(turn, intrinsics):
    camera = Camera(20, 30, attitude=turn, **intrinsics)
    v, u = np.indices(camera.shape)
    np.testing.assert_allclose(camera.pixels(3 * camera.directions()), np.stack([u, v], axis=-1), atol=1e-9)


def test_the_angle_of_view_is_from_edge_to_edge_and_pixels_are_squares():
    camera = Camera(30, 40, fov=90.0)
    np.testing.assert_allclose(camera.pixels([[1, 1, 0.75], [1, -1, -0.75]]), [[-0.5, -0.5], [39.5, 29.5]], atol=1e-9)
    assert Camera(30, 40, matrix=camera.matrix).fov == pytest.approx(90.0)


def test_solid_angles_add_up_to_that_of_the_picture():
    camera = Camera(200, 200, fov=90.0)  # a face of the cube: a sixth of the sphere
    assert camera.solid_angles(camera.directions()).sum() == pytest.approx(4 * np.pi / 6, rel=1e-5)
    assert camera.solid_angles([[-1.0, 0.0, 0.0]]) == 0


def test_a_reduced_camera_looks_along_the_middles_of_the_areas():
    camera = Camera(8, 12, matrix=[[9.0, 1.0, 5.0], [0.0, 7.0, 3.0], [0.0, 0.0, 1.0]])
    v, u = 4 * np.indices((2, 3)) + 1.5
    np.testing.assert_allclose(camera.pixels(camera.reduced(4).directions()), np.stack([u, v], axis=-1), atol=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fov": 180.0}, "fov is 180.0; expected a horizontal angle of view between 0 and 180 degrees"),
        ({"fov": float("nan")}, "fov is nan"),
        ({}, "expected one of the two"),
        ({"fov": 90.0, "matrix": SKEWED}, "expected one of the two"),
        ({"matrix": np.ones((3, 3))}, r"expected intrinsics, upper triangular, \[\[fx, skew, cx\]"),
        ({"matrix": np.diag([-1.0, 1.0, 1.0])}, "with positive focal lengths"),
        ({"matrix": np.diag([np.nan, 1.0, 1.0])}, "expected finite numbers"),
        ({"matrix": np.eye(2)}, r"matrix has shape \(2, 2\)"),
        ({"fov": 90.0, "attitude": np.diag([1.0, 1.0, -1.0])}, "expected a rotation"),
        ({"fov": 90.0, "attitude": np.eye(2)}, "expected a rotation"),
    ],
)
def test_errors_say_what_a_camera_has(given, message):
    with pytest.raises(ValueError, match=message):
        Camera(3, 4, **given)


def test_a_camera_has_pixels_and_a_scale_fits_in():
    with pytest.raises(ValueError, match="a camera of 0 x 4 pixels; expected positive whole numbers"):
        Camera(0, 4, fov=90.0)
    with pytest.raises(ValueError, match="the scale is 4; expected a whole number from 1 to 3"):
        Camera(3, 4, fov=90.0).reduced(4)


@pytest.mark.parametrize(("fov", "height", "width", "scale"), [(60.0, 45, 60, 1), (90.0, 240, 320, 5)])
def test_what_an_eye_receives_of_a_picture_is_what_it_sees(fov, height, width, scale):
    scene, eye = SphericalNoise(8.0, random_state=1), Sphere.evenly(1000)
    onto = OntoEye(Camera(height, width, fov=fov, attitude=TURNED), eye, outside=0.001)
    received, own = onto(through(onto.camera, scene))[0], render(scene, eye, np.eye(3)[None])[0]
    assert onto.scale == scale and 20 < onto.seen.sum() < 120
    assert np.abs(received - own)[onto.seen].max() < 0.004 * own.std()


def test_the_error_is_that_of_the_pixels():
    """Averages over squares of side h differ from the scene by O(h^2)."""
    scene, eye = SphericalNoise(5.0, random_state=2), Sphere.evenly(1000, sigma=4.0)
    errors = []
    for width in (10, 20, 40):
        onto = OntoEye(Camera(width, width, fov=80.0), eye, outside=0.005)
        errors.append(np.nanstd((onto(through(onto.camera, scene)) - render(scene, eye, np.eye(3)[None]))[0]))
    assert errors[1] < errors[0] / 3 and errors[2] < errors[1]


def test_a_flat_eye_looks_along_a_globe_as_it_does_at_a_scene_all_round():
    scene, eye = SphericalNoise(15.0, random_state=3), Hexagon(5)
    own = rotating_panorama(scene=scene, heading=0.0, duration=0.1).movie(eye, 0.1, spacing=5.0)
    received = OntoEye(Camera(120, 120, fov=100.0), eye, spacing=5.0)(through(Camera(120, 120, fov=100.0), scene))
    assert np.isfinite(received).all()
    assert np.abs(received - own).max() < 0.01


def test_lenses_outside_the_picture_are_nan_and_those_inside_see_black_as_black():
    eye = Sphere(on_the_globe([[0, 0], [25, 0], [40, 0], [180, 0], [0, 80]]), sigma=2.0)
    onto = OntoEye(Camera(60, 60, fov=60.0), eye)
    assert onto.seen.tolist() == [True, True, False, False, False]
    received = onto(np.zeros((2, 60, 60), dtype=np.uint8))
    np.testing.assert_array_equal(received, [[0, 0, np.nan, np.nan, np.nan]] * 2)


def test_how_much_may_lie_outside():
    eye = Sphere(on_the_globe([[30, 0]]), sigma=2.0)  # half of it
    assert OntoEye(Camera(60, 60, fov=60.0), eye).share[0] == pytest.approx(0.5, abs=0.02)
    assert OntoEye(Camera(60, 60, fov=60.0), eye, outside=0.6)(np.full((1, 60, 60), 3.0)) == pytest.approx(3.0)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.uint16, np.float16, np.float32, np.float64])
def test_a_grey_picture_is_grey_whatever_its_type(dtype):
    onto = OntoEye(Camera(40, 50, fov=30.0), Sphere(np.eye(3), sigma=3.0))
    received = onto(np.ones((1, 40, 50), dtype))
    assert received.dtype == np.float32
    np.testing.assert_allclose(received[0], [1.0, np.nan, np.nan], rtol=1e-6)


def test_lenses_as_wide_as_each_is():
    class Eye:
        positions, shape, sigma = on_the_globe([[0.0, 0.0], [0.0, 0.0]]), (2,), np.array([1.0, 5.0])

    frame = np.zeros((1, 81, 81))
    frame[0, 40, 40] = 1.0
    narrow, wide = OntoEye(Camera(81, 81, fov=60.0), Eye())(frame)[0]
    assert narrow / wide == pytest.approx(25, rel=0.1)


@pytest.mark.parametrize(
    ("frames", "error", "message"),
    [
        (np.zeros((2, 5, 4)), ValueError, r"frames have shape \(2, 5, 4\); expected \(n_frames, 4, 5\) as the camera"),
        (np.array([np.zeros((4, 5)), np.full((4, 5), np.nan)]), ValueError, "frame 1 has pixels that are not finite"),
        (np.zeros((1, 4, 5), complex), TypeError, "frames have dtype complex128; expected real numbers"),
    ],
)
def test_errors_say_what_frames_are(frames, error, message):
    with pytest.raises(error, match=message):
        OntoEye(Camera(4, 5, fov=90.0), Sphere(np.eye(3)))(frames)


def test_flat_eyes_are_told_their_spacing_and_a_share_is_one():
    with pytest.raises(ValueError, match="expected the angle between pixels of a Line"):
        OntoEye(Camera(4, 5, fov=90.0), Line(3))
    with pytest.raises(ValueError, match="expected a share from 0 to 1"):
        OntoEye(Camera(4, 5, fov=90.0), Line(3), spacing=5.0, outside=1.5)


def test_directions_of_another_shape_are_refused():
    camera = Camera(3, 3, fov=90.0)
    for ask in (camera.pixels, camera.solid_angles):
        with pytest.raises(ValueError, match=r"directions have shape \(2,\); expected \(\.\.\., 3\)"):
            ask([1.0, 0.0])
