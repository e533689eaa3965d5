"""Measured eyes: their lattice, worked out from directions alone, their optics, and tables of them."""

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from flymotion.generators.theory import population
from flymotion.world.compound_eyes import MIRROR, CompoundEye, both, buchner, read_eye
from flymotion.world.eyes import FLY_SIGMA, Hexagon, Sphere
from flymotion.world.lattice_finding import axial_coordinates
from flymotion.world.lattices import BEARINGS, STEPS, lattice_of
from flymotion.world.motions import Turn
from flymotion.world.rendering import render
from flymotion.world.scenes import SphericalNoise, SphericalScene, spherical_covariance
from flymotion.world.scenes.lens_widths import shared_widths


def wrapped(radius, spacing, *, jitter=0.0, turned=(0.0, 0.0, 0.0), seed=0):
    """Directions of a hexagon wrapped about straight ahead [deg], then turned (yaw, pitch, roll)."""
    flat = Hexagon(radius).positions
    flat = spacing * (flat + jitter * np.random.default_rng(seed).standard_normal(flat.shape))
    x, y = flat.T
    far = np.radians(np.hypot(x, y))
    share = np.sinc(far / math.pi) * math.radians(1)
    ahead = np.stack([np.cos(far), -x * share, -y * share], axis=1)
    return Rotation.from_euler("zyx", turned, degrees=True).apply(ahead)


def layers_in(eye):
    """How many links each lens is from the rim, 3 at most: from those whose neighbours are not linked all round."""
    links = Sphere(eye.directions).neighbours
    linked = np.zeros((len(eye.directions),) * 2)
    linked[tuple(links.T)] = linked[tuple(links.T[::-1])] = 1
    among_neighbours = ((linked @ linked) * linked).sum(axis=1) / 2
    layers = np.where(among_neighbours < linked.sum(axis=1), 0, 3)
    for layer in (1, 2):
        layers[(linked[layers == layer - 1].any(axis=0)) & (layers > layer)] = layer
    return layers


# -- the lattice -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [(0, 0, 0), (80, 10, 5), (-120, -30, 15)], ids=str)
@pytest.mark.parametrize(("radius", "jitter"), [(4, 0.0), (4, 0.1), (12, 0.1)])
def test_a_distorted_lattice_is_recovered_exactly(radius, jitter, turned):
    directions = wrapped(radius, 5.0, jitter=jitter, turned=turned, seed=radius)
    found = axial_coordinates(directions)
    middle = len(directions) // 2
    assert_array_equal(found - found[middle], Hexagon(radius).axial)


def test_a_lattice_turned_by_more_than_half_a_sixth_is_named_by_the_nearest_bearings():
    found = axial_coordinates(wrapped(4, 5.0, turned=(0, 0, 50)))
    sixth = np.array([[1, -1], [1, 0]])
    assert_array_equal(STEPS @ sixth, np.roll(STEPS, -1, axis=0))
    turns = [np.linalg.matrix_power(sixth, k) for k in range(6)]
    assert [bool((found - found[30] == Hexagon(4).axial @ turn).all()) for turn in turns] == [0, 0, 0, 0, 0, 1]


def test_order_does_not_matter():
    eye = buchner("left")
    order = np.random.default_rng(0).permutation(699)
    assert_array_equal(axial_coordinates(eye.directions[order]), eye.axial[order])


def test_gaps_stay_gaps_and_strangers_are_put_outside():
    directions = wrapped(6, 5.0)
    away = np.array([20, 64])
    stranger = directions[[40, 41, 49]].mean(axis=0)  # amid three lenses
    found = axial_coordinates(np.vstack([np.delete(directions, away, axis=0), stranger]))
    assert_array_equal(found[:-1] - found[62], np.delete(Hexagon(6).axial, away, axis=0))
    eye = CompoundEye(np.vstack([np.delete(directions, away, axis=0), stranger]), 2.0, axial=found)
    assert (lattice_of(eye).neighbours[-1] == -1).all()


@pytest.mark.parametrize(
    ("directions", "match"),
    [
        (Sphere.evenly(120).directions, "120 directions all round, where no hexagonal lattice closes"),
        (Sphere.evenly(400).directions[10:], "lattice that turns: bearings of neighbours agree to 0.7"),
        (
            np.abs(np.random.default_rng(0).normal(size=(60, 3))),
            "60 directions, nowhere as regular as a hexagonal lattice",
        ),
        (np.eye(3), "3 directions, perhaps in one plane"),
        (np.vstack([wrapped(3, 5.0), wrapped(2, 3.0, turned=(180, 0, 0))]), "56 directions, of which 19 fit"),
    ],
)
def test_what_is_on_no_lattice_is_refused(directions, match):
    with pytest.raises(ValueError, match=match):
        axial_coordinates(directions)


# -- Drosophila's eyes -----------------------------------------------------------------------------------------------


def test_nine_in_ten_lenses_two_layers_in_have_six_neighbours():
    eye = buchner("left")
    inner = layers_in(eye) >= 2
    six = (lattice_of(eye).neighbours >= 0).all(axis=1)
    assert inner.sum() > 500
    assert six[inner].mean() > 0.98


def test_bearings_and_spacings_of_a_fly_scatter_about_those_of_the_lattice():
    lattice = lattice_of(buchner("left"))
    off = (lattice.bearings - BEARINGS + 180) % 360 - 180
    assert_allclose(np.nanmean(off, axis=0), 7, atol=4)
    assert np.nanmedian(np.abs(off)) < 15
    assert_allclose(np.nanpercentile(lattice.spacings, [5, 50, 95]), [4.5, 5.8, 6.8], atol=0.1)


def test_each_lens_is_as_wide_as_its_own_spacing_asks():
    eye = buchner("left")
    assert_allclose(eye.sigma, FLY_SIGMA * lattice_of(eye).spacings)
    assert eye.sigma[0] * math.sqrt(8 * math.log(2)) / lattice_of(eye).spacings[0] == pytest.approx(5.7 / 5.1)


def test_the_right_eye_is_the_mirror_image_with_bearings_as_seen():
    left, right, eyes = buchner("left"), buchner("right"), buchner()
    assert_array_equal(right.directions, left.directions * [1, -1, 1])
    assert_array_equal(right.axial, axial_coordinates(right.directions))
    assert_array_equal(STEPS @ MIRROR, STEPS[[2, 1, 0, 5, 4, 3]])
    mirrored = lattice_of(left).bearings[:, [2, 1, 0, 5, 4, 3]]
    assert_allclose(lattice_of(right).bearings, (180 - mirrored) % 360, atol=1e-9)
    assert right.mirrored() == left
    assert eyes == both(left, right)
    assert_array_equal(eyes.half, np.repeat([0, 1], 699))


def test_links_are_within_each_eye():
    eyes = buchner("both")
    assert_array_equal(np.diff(eyes.half[eyes.neighbours]), 0)
    assert_array_equal(eyes.neighbours[: len(eyes.neighbours) // 2], buchner("left").neighbours)
    assert (eyes.neighbours[:, 0] < eyes.neighbours[:, 1]).all()


def test_an_eye_is_a_value():
    eye = buchner("left")
    assert_allclose(CompoundEye.from_directions(eye.directions).sigma, eye.sigma)
    assert pickle.loads(pickle.dumps(eye)) == eye
    assert hash(pickle.loads(pickle.dumps(eye))) == hash(eye)
    assert eye != buchner("right")
    assert eye != Sphere(eye.directions)
    assert Sphere(eye.directions) != eye
    assert not eye.sigma.flags.writeable


# -- optics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", [SphericalNoise(4.0, random_state=0), SphericalScene(np.eye(41) + 0j)], ids=repr)
@pytest.mark.parametrize("widest", [2.0, 2.2, 4.0, 40.0])
def test_each_lens_sees_through_its_own_optics(scene, widest):
    directions = wrapped(3, 9.0)
    sigma = np.random.default_rng(0).permutation(np.linspace(2.0, widest, 37))
    eye = CompoundEye(directions, sigma, axial=Hexagon(3).axial)
    poses = Rotation.random(3, rng=np.random.default_rng(1)).as_matrix()
    alone = [render(scene, Sphere(eye.directions[k : k + 1], sigma[k]), poses)[:, 0] for k in range(37)]
    assert_allclose(render(scene, eye, poses), np.transpose(alone), atol=1e-7)


def test_lenses_of_one_width_are_as_on_a_sphere():
    eye, scene = (
        CompoundEye(wrapped(2, 5.0), np.full(19, 2.5), axial=Hexagon(2).axial),
        SphericalNoise(9.0, random_state=0),
    )
    turn = Rotation.random(2, rng=np.random.default_rng(1)).as_matrix()
    assert_array_equal(render(scene, eye, turn), render(scene, Sphere(eye.directions, 2.5), turn))


def test_few_widths_stand_for_all():
    assert [len(each.nodes) for each in shared_widths(buchner("left").sigma)] == [12]
    assert [len(each.nodes) for each in shared_widths(np.repeat([0.0, 1e-30, 3.0], 5))] == [3]
    parts = shared_widths(np.geomspace(0.01, 50, 500))
    assert sorted(np.concatenate([each.lenses for each in parts]).tolist()) == list(range(500))
    assert max(len(each.nodes) for each in parts) <= 16


def test_widths_that_do_not_fit_are_refused():
    scene, eye = SphericalNoise(9.0, random_state=0), buchner("left")
    with pytest.raises(ValueError, match=r"sigma has shape \(3,\).*one for each of the last axis .* \(2,\)"):
        scene.sample(np.eye(3)[:2], np.ones(3))
    with pytest.raises(ValueError, match="an eye of 699 widths; expected one for all"):
        population(spherical_covariance(9.0, 2.0), eye, Turn(4.0))


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"sigma": np.ones(3)}, r"sigma has shape \(3,\); expected a number, or one for each of 7 lenses"),
        ({"sigma": [1.0] * 6 + [-1.0]}, "sigma is -1.0; expected a finite number, from 0"),
        ({"half": np.ones(3, dtype=int)}, r"half has shape \(3,\); expected 0 or 1 for each of 7"),
        ({"half": np.full(7, 2)}, "expected 0 or 1"),
        ({"axial": np.zeros((7, 2), dtype=int)}, "two pixels have the same coordinates"),
        ({"axial": np.zeros((6, 2), dtype=int)}, r"axial has shape \(6, 2\)"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changed, match):
    given = {"directions": wrapped(1, 5.0), "sigma": 2.0, "axial": Hexagon(1).axial} | changed
    with pytest.raises(ValueError, match=match):
        CompoundEye(**given)


def test_sides_are_left_and_right():
    left, right = buchner("left"), buchner("right")
    with pytest.raises(ValueError, match="699 lenses of the right, and a second one with 699 of the left"):
        both(right, left)
    with pytest.raises(ValueError, match="side is 'up'; expected one of left, right, both"):
        buchner("up")
    with pytest.raises(ValueError, match="side is 'both'; expected one of left, right"):
        CompoundEye.from_directions(left.directions, "both")


# -- tables ----------------------------------------------------------------------------------------------------------


def table(names, rows):
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)])


def test_tables_of_vectors_and_of_angles_are_read(tmp_path):
    directions = wrapped(3, 5.0, turned=(70, 0, 0))
    x, y, z = directions.T
    angles = np.degrees(np.stack([np.arctan2(y, x), np.arcsin(z)], axis=1))
    (tmp_path / "vectors.csv").write_text(
        "# mine\n\n" + table(["x", " y", "z", "name"], [[*d * 2, "a"] for d in directions])
    )
    (tmp_path / "angles.csv").write_text(
        "\ufeff" + table(["elevation_deg", "azimuth_deg"], angles[:, ::-1]), encoding="utf-8"
    )
    expected = CompoundEye.from_directions(directions)
    for name in ("vectors", "angles"):
        eye = read_eye(tmp_path / f"{name}.csv")
        assert_allclose(eye.directions, expected.directions, atol=1e-12)
        assert_array_equal(eye.axial, expected.axial)


def test_a_column_of_sides_makes_two_eyes(tmp_path):
    left = CompoundEye.from_directions(wrapped(3, 5.0, turned=(70, 0, 0)))
    rows = [[*d, "left"] for d in left.directions] + [[*d, "Right"] for d in left.mirrored().directions]
    (tmp_path / "eyes.csv").write_text(table(["x_forward", "y_left", "z_up", "side"], rows[::-1]))
    eyes = read_eye(str(tmp_path / "eyes.csv"))
    assert_array_equal(eyes.half, np.repeat([0, 1], 37))
    assert_allclose(eyes.directions[36::-1], left.directions, atol=1e-15)


GOOD = [[1, 0.1 * x, 0.1 * y] for x, y in Hexagon(1).positions.round(6).tolist()]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x,y,z", "eye.csv has 1 line"),
        ("a,b,c\n1,2,3", "eye.csv, line 1: columns are a, b, c; expected x_forward, y_left, z_up; or"),
        ("# x\nx,y,z\n1,0,0\n1,0", "eye.csv, line 4 has 2 entries; expected 3"),
        ("x,y,z\n1,0,0\n1,one,0", "eye.csv, line 3: 1, one, 0; expected finite numbers"),
        ("x,y,z\n1,nan,0", "eye.csv, line 2: 1, nan, 0; expected finite numbers"),
        ("x,y,z\n0,0,0", "eye.csv, line 2: a vector of length 0"),
        ("azimuth_deg,elevation_deg\n0,91", "eye.csv, line 2: an elevation of 91 degrees"),
        ("x,y,z,side\n1,0,0,up", "eye.csv, line 2: side is 'up'; expected left or right"),
        (table("xyz", GOOD[:3]), "eye.csv: 3 directions, perhaps in one plane"),
        (b"\xff\xfe\x00", "eye.csv is no text"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path, text, match):
    (tmp_path / "eye.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=match):
        read_eye(tmp_path / "eye.csv")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_eye(tmp_path / "nowhere.csv")
