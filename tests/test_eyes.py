"""Hexagonal and spherical eyes: their lattices, neighbours and units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.world.eyes import Grid, Hexagon, Line, Sphere, acceptance_sigma


def spacings(eye):
    return np.linalg.norm(np.diff(eye.positions[eye.neighbours], axis=1)[:, 0], axis=1)


def n_neighbours(eye):
    return np.bincount(eye.neighbours.ravel(), minlength=len(eye.positions))


@pytest.mark.parametrize(("radius", "n"), [(1, 7), (2, 19), (15, 721)])
def test_hexagon_has_its_centred_hexagonal_number_of_pixels(radius, n):
    eye = Hexagon(radius)
    assert (eye.shape, len(eye.positions), len(eye.axial)) == ((n,), n, n)
    assert_allclose(eye.positions.mean(axis=0), 0, atol=1e-12)


def test_hexagon_is_the_fly_lattice():
    """Neighbours straight above and below, and 30 degrees above and below the horizontal to both sides; none level."""
    eye = Hexagon(2)
    middle = 9
    assert_array_equal(eye.positions[middle], [0, 0])
    near = eye.positions[np.isclose(np.linalg.norm(eye.positions, axis=1), 1)]
    assert_allclose(np.sort(np.degrees(np.arctan2(-near[:, 1], near[:, 0])) % 360), [30, 90, 150, 210, 270, 330])
    assert n_neighbours(eye)[middle] == 6


@pytest.mark.parametrize(
    ("eye", "n_links"), [(Line(5), 4), (Grid(3, 4), 17), (Hexagon(1), 12), (Hexagon(3), 90)], ids=str
)
def test_neighbours_on_a_lattice_are_one_apart_and_listed_once(eye, n_links):
    links = eye.neighbours
    assert links.shape == (n_links, 2)
    assert (links[:, 0] < links[:, 1]).all()
    assert len(np.unique(links, axis=0)) == n_links
    assert_allclose(spacings(eye), 1)


def test_sphere_keeps_unit_vectors_and_leaves_the_callers_alone():
    directions = np.array([[2.0, 0, 0], [0, 3, 0], [0, 0, 4], [-1, 0, 0]])
    eye = Sphere(directions)
    assert_allclose(np.linalg.norm(eye.positions, axis=1), 1)
    assert directions[0, 0] == 2
    assert not eye.directions.flags.writeable
    assert eye.sigma == pytest.approx(acceptance_sigma(5.7)) == pytest.approx(2.4206, abs=1e-4)


def test_even_directions_cover_the_sphere():
    eye = Sphere.evenly(300)
    assert_allclose(eye.positions.mean(axis=0), 0, atol=0.01)
    assert_allclose(eye.positions.T @ eye.positions / 300, np.eye(3) / 3, atol=0.01)
    assert spacings(eye).max() < 2 * spacings(eye).min()


def test_every_closed_triangulation_has_eulers_number_of_links():
    assert len(Sphere.evenly(100).neighbours) == 3 * 100 - 6


def test_half_an_eye_has_no_links_across_its_rim():
    whole = Sphere.evenly(400)
    half = Sphere(whole.directions[whole.directions[:, 0] > 0])
    assert spacings(half).max() < 2 * np.median(spacings(half))
    assert len(half.neighbours) < 3 * len(half.directions) - 6


@pytest.mark.parametrize(
    "directions",
    [[[0.0, 0, 0], [1, 0, 0]], [[1.0, 0]], [1.0, 0, 0], [[np.nan, 0, 0]], [[np.inf, 0, 0]]],
    ids=["zero", "flat", "one", "nan", "inf"],
)
def test_directions_that_are_none_are_refused(directions):
    with pytest.raises(ValueError, match=r"expected \(n_pixels, 3\), none 0, up to 1e\+50"):
        Sphere(directions)


@pytest.mark.parametrize("make", [lambda: Hexagon(0), lambda: Hexagon(2, -1.0), lambda: Sphere(np.eye(3), np.nan)])
def test_impossible_eyes_are_refused(make):
    with pytest.raises(ValueError, match="expected"):
        make()


def test_few_directions_have_no_neighbours():
    with pytest.raises(ValueError, match="triangulation"):
        _ = Sphere(np.eye(3)).neighbours
