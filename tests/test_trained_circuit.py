"""The trained circuit's exam (C38): known motion, columns asked, what stands beside it, and the figures."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.circuits.t4t5 import T4T5Circuit
from flymotion.claims import trained_circuit
from flymotion.claims.running import run
from flymotion.claims.trained_circuit.flights import AXES, DT, Flight, flights, full_turn, local_motion
from flymotion.claims.trained_circuit.turning_signs import told, told_by_difference, worth_asking
from flymotion.claims.trained_circuit.untaught import INSTEAD, instead
from flymotion.world.compound_eyes import CompoundEye
from flymotion.world.eyes import Hexagon, Sphere
from flymotion.world.globe import seen_from

TINY = trained_circuit.Config(n_seeds=1, eye="coarse", n_clips=4)


@pytest.fixture(scope="module")
def found():
    return run(trained_circuit.work(TINY))


@pytest.fixture(scope="module")
def rows(found):
    return {row.id: row for row in trained_circuit.check(found, TINY)}


@pytest.fixture(scope="module")
def flown():
    return list(flights(Hexagon(2), 2, [0, 1], 0))


@pytest.fixture(scope="module")
def circuit(flown):
    found = T4T5Circuit(Hexagon(2), random_state=0)
    for flight in flown:
        found.partial_fit(flight.movie)
    return found


@pytest.mark.slow
def test_a_turn_about_the_vertical_is_seen_and_learning_helps(rows):
    for axis in AXES:
        assert rows[f"C38.{axis}"].relation == ">"
    assert rows["C38.yaw"].value > 0.9 > 0.8 > rows["C38.yaw_shuffled"].value
    assert rows["C38.yaw_opposed"].value > 0.95


@pytest.mark.slow
def test_every_null_stands_beside_every_axis(rows, found):
    assert len(rows) == len(list(trained_circuit.check(found, TINY)))
    assert {f"C38.{axis}_{null}" for axis in AXES for null in INSTEAD} < set(rows)
    for null in ("cosine", "hrd", "conductance", "start", "random", "shuffled", "labelled", "connectome"):
        assert f"C38.correlation_{null}" in rows and f"C38.half_width_t5_{null}" in rows
    assert all(np.isfinite(row.value) for id, row in rows.items() if "_shuffled" not in id)


@pytest.mark.slow
def test_t4_is_of_on_and_t5_of_off(rows):
    assert rows["C38.edges_t4"].value > 0.5 < rows["C38.edges_t5"].value


def test_quick_has_fewer_seeds_and_a_coarse_eye():
    assert trained_circuit.QUICK == {"n_seeds": 1, "eye": "coarse"}


@pytest.mark.slow
def test_figures_are_drawn(found):
    for figure in trained_circuit.figures(found, TINY).values():
        figure.savefig(io.BytesIO())


# Flights


def test_content_goes_the_other_way_than_the_eye_turns():
    """Ahead, x forward, of an eye that yaws to the left, content goes right; pitching down, up; rolling, round."""
    ahead = Sphere([[1.0, 0.0, 0.0]])
    each = {name: local_motion(ahead, np.array([axis]))[0, 0] for name, axis in AXES.items()}
    assert_allclose(each["yaw"], [1, 0], atol=1e-12)
    assert_allclose(each["pitch"], [0, 1], atol=1e-12)
    assert_allclose(each["roll"], [0, 0], atol=1e-12)


def test_motion_is_that_of_the_movie():
    """The gradient of luminance along the eye, times the motion, is minus its change, in a full turn."""
    directions, _ = seen_from(Hexagon(8), 2.0)
    eye = CompoundEye.from_directions(directions, acceptance=2.0)
    turn = full_turn(eye, "yaw", 0)
    places = np.stack([np.arctan2(-directions[:, 1], directions[:, 0]), np.arcsin(directions[:, 2])], axis=1)
    design = np.column_stack([places, np.ones(len(places))])
    slope = np.linalg.lstsq(design, turn.movie.T, rcond=None)[0][:2]  # of the mean plane
    change = np.diff(turn.movie.mean(axis=1)) / DT
    predicted = -np.radians(60.0) * slope[0][:-1]
    assert np.corrcoef(change, predicted)[0, 1] > 0.9


def test_a_flat_eye_sees_content_go_against_its_way(flown):
    assert flown[0].movie.shape == (250, 19) and flown[0].motion.shape == (250, 19, 2)
    assert np.abs(flown[0].motion).max() > 50


def test_columns_that_see_little_are_not_asked():
    movie = 1 + np.outer(np.sin(np.arange(10.0)), [0.1, 0.2, 0.3, 0.4])
    motion = np.array([[[1.0, 0], [4, 0], [0, 3], [0, 1]]])
    assert_array_equal(worth_asking(Flight(movie, motion)), [False, False, True, False])


class Always:
    """A circuit whose columns all answer that content goes right, and less so, left, whatever they see."""

    def transform(self, movie, dt):
        answers = np.zeros((*movie.shape, 8))
        answers[..., 1] = 1 + 0.1 * np.sign(movie[-1, 0] - movie[0, 0])
        return answers


def test_what_a_column_always_says_is_taken_off():
    movie = 1 + np.outer(np.linspace(0, 0.5, 10), [0.5, 1, 1.5, 2])
    left = np.array([[[-1.0, 0], [-2, 0], [-3, 0], [-4, 0]]])
    turns = {"right": Flight(movie, -left), "left": Flight(movie[::-1], left)}
    assert told(Always(), turns) == {"right": 1.0, "left": 0.0}
    assert told_by_difference(Always(), turns) == {"right": 1.0, "left": 1.0}


# Instead


def test_what_stands_beside_is_made_of_the_circuits_own_parts(circuit, flown):
    kept = [network.W.copy() for network in circuit.networks_]
    others = instead(circuit, flown, 0)
    assert list(others) == list(INSTEAD)
    for W, network in zip(kept, circuit.networks_, strict=True):
        assert_array_equal(network.W, W)  # and leaves it as it was
    assert_allclose(others["start"].networks_[0].W, circuit.started_[0])
    whole = circuit.patches_.there.all(axis=1)
    for name in ("shuffled", "elsewhere"):
        own, other = (np.sort(each.networks_[0].W[..., whole].ravel()) for each in (circuit, others[name]))
        assert_allclose(own, other)
        assert not np.array_equal(circuit.networks_[0].W, others[name].networks_[0].W)


def test_the_connectomes_weights_are_synapses_of_two_rings(circuit, flown):
    wired = instead(circuit, flown, 0)["connectome"]
    assert wired.networks_[0].W.shape[1] == 19
    assert wired.named_.all()
