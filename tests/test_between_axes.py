"""Detectors in any direction of a hexagonal lattice, flat or on the sphere."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.detectors import DETECTORS, Detector, along, conductance, hassenstein_reichardt, learned, three_pixel
from flymotion.generators import Generators, derivative_operator
from flymotion.stimuli import drifting_grating, rotating_grating
from flymotion.world.compound_eyes import CompoundEye, buchner
from flymotion.world.eyes import Grid, Hexagon, Sphere
from flymotion.world.lattices import as_seen

DT = 0.01
DIRECTIONS = (0.0, 30.0, 45.0, 90.0, 180.0)
SHOWN = np.arange(12) * 30.0


def on_a_sphere(flat, spacing=5.0, ahead=(1.0, 0.5, 0.3)):
    """A hexagon wrapped on the sphere: distances and bearings from its middle stay."""
    ahead = np.array(ahead) / np.linalg.norm(ahead)
    right, up = as_seen(ahead)
    x, y = flat.positions.T * np.radians(spacing) * [[1], [-1]]
    far = np.hypot(x, y)[:, None]
    directions = np.cos(far) * ahead + np.sinc(far / np.pi) * (x[:, None] * right + y[:, None] * up)
    return CompoundEye(directions, flat.sigma * spacing, axial=flat.axial)


FLAT = Hexagon(4)
EYES = {"flat": FLAT, "round": on_a_sphere(FLAT)}


@cache
def gratings(name):
    """Of two phases, a quarter of a wavelength apart, in twelve directions, shape (12, 2, n_frames, n_pixels)."""
    middle = np.array([1.0, 0.5, 0.3])
    movies = [
        [drifting_grating(direction=direction, phase=phase, duration=2.0) for phase in (0.0, np.pi / 2)]
        for direction in SHOWN
    ]
    here = {"flat": lambda s: s, "round": lambda s: s.at(middle)}[name]
    return np.array([[here(s).movie(EYES[name], DT, spacing=5.0) for s in both] for both in movies])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("name", DETECTORS)
def test_what_a_detector_prefers_is_the_direction_that_it_is_turned_to(name, eye):
    """Along axes and between them: the vector sum, and the preferred against the null direction."""
    responses = DETECTORS[name]()(gratings(eye), DT, eye=EYES[eye], direction=DIRECTIONS)
    curves = responses[:, :, 100:].mean(axis=(1, 2, 3))
    sums = np.exp(1j * np.radians(SHOWN)) @ curves
    off = np.degrees(np.angle(sums * np.exp(-1j * np.radians(DIRECTIONS))))
    assert_allclose(off, 0, atol={"flat": 0.5, "round": 3.0}[eye])
    assert_allclose(np.abs(sums), np.abs(sums[1]), rtol={"flat": 0.02, "round": 0.05}[eye])
    along_axes = [1, 3]  # 30 and 90 deg
    preferred, null = curves[along_axes, along_axes], curves[[7, 9], along_axes]
    assert (preferred > null).all()
    assert (curves[[0, 6], [0, 4]] > curves[[6, 0], [0, 4]]).all()  # T4b's and T4a's directions


def test_between_two_axes_responses_are_theirs_weighed():
    movie, detector = np.random.default_rng(0).normal(size=(20, 61)), conductance()
    wanted = {direction: np.full((20, 61), np.nan) for direction in (30.0, 90.0)}
    for direction, places in wanted.items():
        places[:, detector.positions(FLAT, direction)] = detector(movie, DT, eye=FLAT, direction=direction)
    for direction in (30.5, 45.0, 60.0, 89.0):
        shares = [np.sin(np.radians(off)) / np.sin(np.pi / 3) for off in (90 - direction, direction - 30)]
        expected = shares[0] * wanted[30.0] + shares[1] * wanted[90.0]
        where = detector.positions(FLAT, direction)
        assert_array_equal(where, np.flatnonzero(np.isfinite(expected[0])))
        assert_allclose(detector(movie, DT, eye=FLAT, direction=direction), expected[:, where], rtol=1e-12)


def test_on_a_small_piece_of_the_sphere_all_is_as_on_the_plane():
    movie, small = np.random.default_rng(0).normal(size=(20, 61)), on_a_sphere(FLAT, 0.01)
    for detector in (hassenstein_reichardt(), conductance()):
        for direction in (0.0, 50.0, 180.0):
            assert_array_equal(detector.positions(small, direction), detector.positions(FLAT, direction))
            flat, on_it = (detector(movie, DT, eye=eye, direction=direction) for eye in (FLAT, small))
            assert_allclose(on_it, flat, atol=1e-3 * np.abs(flat).max())


def test_a_movie_in_pieces_in_single_precision_and_in_several_directions_at_once_is_the_same():
    movie, eye, detector = np.random.default_rng(0).normal(size=(20, 61)), EYES["round"], three_pixel()
    together = detector(movie, DT, eye=eye, direction=DIRECTIONS)
    stream = detector.stream(DT, eye=eye, direction=DIRECTIONS)
    assert_allclose(np.concatenate([stream.push(movie[:7]), stream.push(movie[7:])]), together, rtol=1e-12)
    single = detector(movie.astype(np.float32), DT, eye=eye, direction=DIRECTIONS)
    assert single.dtype == np.float32
    assert_allclose(single, together, atol=1e-4 * np.abs(together).max())
    everywhere = detector.positions(eye, DIRECTIONS)
    for k, direction in enumerate(DIRECTIONS):
        alone, where = detector(movie, DT, eye=eye, direction=direction), detector.positions(eye, direction)
        assert_allclose(alone[:, np.searchsorted(where, everywhere)], together[..., k], rtol=1e-12)


def test_a_learned_patch_is_turned_by_any_angle():
    """Its own axes are those of the lattice turned by 30 degrees: straight right is one of them."""
    patch = Hexagon(1)
    operators = [derivative_operator(patch, angle) for angle in (0.0, 90.0)]
    detector = learned(Generators(np.array(operators), patch))
    movies = gratings("round")
    for direction in (0.0, 20.0, 60.0):
        responses = detector(movies, DT, eye=EYES["round"], direction=direction)
        curves = responses[:, :, 100:].mean(axis=(1, 2, 3))
        found = np.degrees(np.angle(np.exp(1j * np.radians(SHOWN)) @ curves))
        off = found - np.array(detector.directions) - direction
        assert_allclose((off + 180) % 360 - 180, 0, atol=4.0)


def test_every_lens_of_a_fly_sees_a_drum_turn_to_the_right():
    """Along its own axes, wherever they are: in both eyes, within 50 degrees of the horizon."""
    eye, cardinal = buchner("both"), (0.0, 90.0, 180.0, 270.0)
    drums = [rotating_grating(wavelength=60.0, phase=phase).movie(eye, 0.02) for phase in (0.0, np.pi / 2)]
    responses = three_pixel()(np.array(drums), 0.02, eye=eye, direction=cardinal)[:, 50:].mean(axis=(0, 1))
    near = np.abs(eye.positions[three_pixel().positions(eye, cardinal), 2]) < np.sin(np.radians(50))
    off = np.angle(responses[near] @ np.exp(1j * np.radians(cardinal)), deg=True)
    assert np.median(np.abs(off)) < 2 and np.abs(off).max() < 15
    assert (responses[near, 0] > responses[near, 2]).all()


def test_both_eyes_of_a_fly_take_eight_directions_at_once():
    eye, eighths = buchner("both"), np.arange(8) * 45.0
    where = three_pixel().positions(eye, eighths)
    left, right = np.bincount(eye.half[where])
    assert left == right > 0.85 * 699
    assert three_pixel()(np.zeros((2, *eye.shape)), DT, eye=eye, direction=eighths).shape == (2, len(where), 8)


@pytest.mark.parametrize(
    ("eye", "taps", "message"),
    [
        (
            Sphere.evenly(50),
            along(0, 1),
            r"a spherical eye has no lattice .* is a Sphere; expected a CompoundEye, such",
        ),
        (on_a_sphere(Hexagon(1)), along(-2, 2), r"about no pixel all of them are inside; expected a larger eye$"),
        (on_a_sphere(FLAT), [[0, 0], [0.4, 0]], r"the tap at \(0\.4, 0\) is 0\.4 pixel spacings off its lattice; exp"),
        (FLAT, [[0, 0], [0.4, 0]], r"the tap at \(0\.4, 0\) is 0\.4 .* its lattice: 30, 90, 150, 210, 270, 330 deg$"),
        (Grid(9, 9), along(-1, 1), r"the tap at \(-1, 0\) is 0\.17 pixel spacings off its lattice; expect"),
    ],
)
def test_what_has_no_place_is_told(eye, taps, message):
    detector = Detector({"signal": ()}, taps, combine=lambda tap: tap("signal"))
    with pytest.raises(ValueError, match=message):
        detector.positions(eye, 10.0)


def test_a_lone_tap_needs_no_axis():
    eye, alone = EYES["round"], Detector({"signal": ()}, [[0, 0]], combine=lambda tap: tap("signal"))
    movie = np.random.default_rng(0).normal(size=(5, 61))
    assert_allclose(alone(movie, DT, eye=eye, direction=30.0), movie)


@pytest.mark.parametrize("name", DETECTORS)
def test_taps_farther_apart_are_those_of_a_coarser_lattice(name):
    """Every third pixel of a hexagon is one of a hexagon, turned by 30 degrees, whose pixels are sqrt(3) apart."""
    coarse, make = Hexagon(4), DETECTORS[name]
    steps = coarse.axial @ np.array([[1, 1], [-1, 2]])
    fine = Hexagon(12)
    pixels = [fine.axial.tolist().index(step) for step in steps.tolist()]
    movie = np.random.default_rng(0).normal(size=(8, 61))
    on_fine = np.random.default_rng(1).normal(size=(8, len(fine.axial)))
    on_fine[:, pixels] = movie
    wide = replace(make(), scale=3**0.5)
    middle = len(pixels) // 2
    for direction, as_turned in ((0.0, 30.0), (60.0, 90.0), (180.0, 210.0)):
        found = wide(on_fine, DT, eye=fine, direction=direction)
        expected = make()(movie, DT, eye=coarse, direction=as_turned)
        here = found[:, wide.positions(fine, direction) == pixels[middle]]
        there = expected[:, make().positions(coarse, as_turned) == middle]
        units = {"deg/s": 3**0.5}.get(make().unit, 1.0)
        assert_allclose(here, units * there, rtol=1e-9, atol=1e-12)


def test_taps_that_are_scaled_say_where_they_are():
    detector = replace(hassenstein_reichardt(), scale=2.0)
    assert_array_equal(detector.places, [[0, 0], [2, 0]])
    assert "taps (0, 0) (2, 0);" in detector.description
    with pytest.raises(ValueError, match=r"^scale is 0\.0; expected a positive"):
        replace(detector, scale=0.0)
