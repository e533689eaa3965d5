"""Stimuli and tuning on compound eyes: at a lens as on the plane, and all round."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_between_axes import on_a_sphere

from flymotion.detectors import conductance, hassenstein_reichardt, motion_energy
from flymotion.photoreceptors import DivisiveNormalization
from flymotion.stimuli import STIMULI, drifting_grating, moving_edge, rotating_grating, sweeping_edge
from flymotion.tuning import Setup, experiment, half_width, preferred_direction, tune
from flymotion.world.compound_eyes import CompoundEye, buchner
from flymotion.world.eyes import Grid, Hexagon, Sphere
from flymotion.world.lattices import as_seen, lattice_of

FLAT = Hexagon(4)
ROUND = on_a_sphere(FLAT)
MIDDLE = len(FLAT.axial) // 2
AHEAD = (1.0, 0.5, 0.3)
DT = 0.02

each_flat_stimulus = pytest.mark.parametrize(
    "name", [n for n, make in STIMULI.items() if make().parts[0].scene.ndim < 3]
)


@each_flat_stimulus
def test_a_stimulus_at_a_lens_is_the_flat_one_wrapped_about_it(name):
    flat = STIMULI[name]().movie(FLAT, DT, spacing=5.0, stop=20)
    assert_allclose(STIMULI[name]().at(AHEAD).movie(ROUND, DT, stop=20), flat, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["drifting-grating", "moving-edge", "random-dots", "glider"])
def test_each_lens_looks_at_a_flat_stimulus_through_its_own_optics(name):
    widths = np.linspace(1.0, 4.0, len(FLAT.axial))
    eye = CompoundEye(ROUND.directions, widths, axial=FLAT.axial)
    stimulus = STIMULI[name](duration=0.2).at(AHEAD)
    seen = stimulus.movie(eye, DT)
    for k in (0, MIDDLE, 60):
        alone = stimulus.movie(Sphere(ROUND.directions, widths[k]), DT)
        assert_allclose(seen[:, k], alone[:, k], rtol=0, atol=1e-6)


@pytest.mark.parametrize("make", [rotating_grating, sweeping_edge])
def test_what_is_ahead_of_a_stimulus_all_round_comes_to_where_it_is_put(make):
    directions = Sphere.evenly(30).directions
    right, up = as_seen(np.array(AHEAD) / np.linalg.norm(AHEAD))
    frame = np.stack([np.array(AHEAD) / np.linalg.norm(AHEAD), -right, up])
    moved = make(direction=40.0).at(AHEAD).movie(Sphere(directions @ frame), DT)
    assert_allclose(moved, make(direction=40.0).movie(Sphere(directions), DT), rtol=0, atol=1e-9)


def test_a_stimulus_somewhere_stays_there_and_is_none_of_flat_eyes():
    there = drifting_grating().at([0.0, 2.0, 0.0])
    assert there.about(1.0).toward == there.toward == (0.0, 1.0, 0.0)
    with pytest.raises(
        ValueError, match=r"^a stimulus toward \(0\.0, 1\.0, 0\.0\) on a flat eye; expected a spherical"
    ):
        there.movie(Grid(2, 2), DT, spacing=5.0)
    with pytest.raises(ValueError, match=r"^a flat stimulus is nowhere on a spherical eye; expected one that is some"):
        drifting_grating().movie(ROUND, DT)
    with pytest.raises(ValueError, match=r"^directions of shape \(1, 3\); expected \(n_pixels, 3\), none 0"):
        there.at([0.0, 0.0, 0.0])


@pytest.mark.parametrize("make", [hassenstein_reichardt, conductance, motion_energy])
@pytest.mark.parametrize("preferred", [30.0, 0.0])
def test_tuning_at_a_lens_of_an_even_eye_is_the_hexagons(make, preferred):
    """Directions and frequencies, to a percent of the largest: 5 degrees of the sphere are nearly flat."""
    detector, how = make(), {"dt": DT, "preferred": preferred, "repeats": 4}
    whole = Hexagon(int(np.abs(detector.displacements).max()))
    for design in ({"direction": np.arange(0.0, 360, 60)}, {"temporal_frequency": [0.5, 1.0, 4.0]}):
        flat = tune(detector, drifting_grating, design, eye=whole, **how)
        at = tune(detector, drifting_grating, design, eye=ROUND, at=MIDDLE, **how)
        assert_allclose(at.response, flat.response, atol=0.01 * float(np.abs(flat.response).max()))
        assert at.attrs["at"] == MIDDLE and at.attrs["eye"].startswith("CompoundEye(")


def test_only_what_a_lens_needs_of_the_eye_looks():
    eye, detector = buchner("left"), conductance()
    lens = int(np.argmax((lattice_of(eye).around(3) >= 0).all(axis=1)))
    for n_positions, early_vision, n in ((1, None, 7), (3, None, 19)):
        how = Setup(eye=eye, at=lens, n_positions=n_positions, early_vision=early_vision)
        piece = how.eye_of(detector)
        assert piece.shape == (n,)
        assert_array_equal(piece.directions[0], eye.directions[lens])
        where = detector.positions(piece)[how.averaged(detector, 0)]
        assert len(where) == n_positions and 0 in where
    behind = Setup(eye=eye, at=lens, early_vision=DivisiveNormalization()).eye_of(detector)
    assert behind.shape[0] > 100


def test_direction_tuning_at_lenses_of_a_fly_is_what_it_is_on_a_hexagon():
    """Which has a half-width of 60 to 64 degrees; the rest is how the lattice is bent there."""
    eye, detector = buchner("both"), hassenstein_reichardt()
    design = {"direction": np.arange(0.0, 360, 30)}
    inside = np.flatnonzero((lattice_of(eye).around(2) >= 0).all(axis=1))
    for lens in inside[:: len(inside) // 6]:
        tuning = tune(detector, drifting_grating, design, dt=DT, repeats=4, eye=eye, at=int(lens))
        assert abs((float(preferred_direction(tuning)) + 180) % 360 - 180) < 5
        assert 50 < float(half_width(tuning)) < 75


def test_a_drum_is_seen_by_all_of_an_eye_and_phases_of_it_are_two_movies():
    design, eye, detector = {"direction": [0.0, 180.0]}, buchner("left"), hassenstein_reichardt()
    found = tune(detector, rotating_grating, design, eye=eye, dt=0.05, repeats=3)
    movies = [rotating_grating(phase=2 * np.pi * k / 3, duration=2.0).movie(eye, 0.05) for k in range(3)]
    expected = detector(np.array(movies), 0.05, eye=eye)[:, 20:].mean()
    assert_allclose(found.response[0], expected, rtol=1e-9)
    assert found.response[0] > 0 > found.response[1]
    assert found.attrs["at"] == "all positions"


@pytest.mark.parametrize("name", ["direction", "edges", "apparent-motion"])
def test_experiments_are_done_at_a_lens(name):
    found = experiment(name, hassenstein_reichardt(), eye=ROUND, at=MIDDLE, dt=0.05, repeats=2, n_positions=1)
    assert np.isfinite(found.response).all() and float(np.abs(found.response).max()) > 0


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"eye": Sphere.evenly(20)}, r"whose lattice nobody worked out; expected a CompoundEye, such as CompoundEye\."),
        ({"eye": ROUND, "at": 61}, r"^at is 61; expected the number of a lens, 0 to 60$"),
        ({"eye": ROUND, "at": 2.0}, r"^at is 2\.0; expected the number of a lens, 0 to 60$"),
        ({"eye": FLAT, "at": 0}, r"^at is 0; expected the number of a lens, none, as the eye is not spherical$"),
        ({"at": 0}, r"^at is 0; expected the number of a lens, none, as the eye is not spherical$"),
        (
            {"eye": ROUND, "at": 0},
            r"^lens 0 has no place for the detector's 3 taps along direction 0 deg; expected one",
        ),
        (
            {"eye": ROUND},
            r"^a flat stimulus is nowhere on a spherical eye; .* or, where a detector is tuned, a lens, at=",
        ),
    ],
)
def test_lenses_and_eyes_that_are_none_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        tune(conductance(), moving_edge, {"contrast": [0.5]}, dt=DT, settle=0.0, **how)


def test_a_plain_function_has_no_lens():
    with pytest.raises(ValueError, match=r"^at is 30 for looks, a plain function; expected a Detector, or no lens$"):
        tune(looks, moving_edge, {"contrast": [0.5]}, dt=DT, eye=ROUND, at=MIDDLE)


def looks(movie, dt):
    return movie
