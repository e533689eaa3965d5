"""Starts that a brain could have (C37): what they lead to, what they knew, and T4's inputs beside them."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.circuits import SUBTYPES
from flymotion.claims import starts
from flymotion.claims.running import run
from flymotion.claims.starts.fly_inputs import PREFERRED, centroid, order, sided, wired
from flymotion.claims.starts.raising import PRUNING, counted, pruned, raised, raised_literally, read, scaled
from flymotion.similarity.dendrites import oriented_dendrites
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.networks import NonnegativeSimilarityMatching
from flymotion.similarity.state import State
from flymotion.world.eyes import Hexagon, Line

SMALL = starts.Config(n_seeds=2, n_seeds_few=1, n_seeds_plane=1)


@pytest.fixture(scope="module")
def found():
    return run(starts.work(SMALL))


@pytest.fixture(scope="module")
def rows(found):
    return {row.id: row for row in starts.check(found, SMALL)}


@pytest.fixture
def chi():
    rng = np.random.default_rng(0)
    return scaled(OuterProducts(rng.normal(size=(300, 5)), rng.normal(size=(300, 5))))


# -- rows ------------------------------------------------------------------------------------------------------------


def test_all_rows_report(rows):
    assert {row.relation for row in rows.values()} == {"report"}
    assert all(np.isfinite(row.value) for row in rows.values())
    assert rows["C37.seeds"].seeds == 2 and rows["C37.grid"].seeds == 1 and rows["C37.t4"].seeds == 0


def test_opposite_dendrites_find_both_directions_and_did_not_know_them(rows):
    assert rows["C37.seeds"].value == 1 and rows["C37.seeds_start"].value == 0
    start, learned, population = (rows[f"C37.accuracy{of}"].value for of in ("_start", "", "_population"))
    assert 0.6 < start < 0.8 < learned < population + 0.01
    assert rows["C37.cos_start"].value < 0.5 < 0.9 < rows["C37.cos"].value


def test_what_is_held_too_strongly_is_not_learned_away(rows):
    assert rows["C37.held_25000"].value == 0 and rows["C37.held_250"].value == 1


def test_the_sign_of_a_dendrite_turns_what_it_prefers(rows):
    assert rows["C37.away"].value == 1 and "toward L1 2 of 2" in rows["C37.away"].note


def test_the_literal_network_learns_the_same(rows):
    assert rows["C37.literal"].value < 1e-10


def test_the_rows_of_dendrites_to_random_sides_tell_opposite_and_like_apart(rows, found):
    assert "all to one side L1 0 of" in rows["C37.sides"].note
    assert found["L1"]["main"]["alike"]["eight_sides"].shape == (2,)


def test_noise_leaves_nothing_of_what_is_learned_in_l1(rows):
    assert rows["C37.noise_5"].value == pytest.approx(0.5, abs=0.03)


def test_its_figures_are_drawn(found):
    drawn = starts.figures(found, SMALL)
    for figure in drawn.values():
        figure.savefig(io.BytesIO(), dpi=40)
    assert list(drawn) == ["starts", "starts_filters", "starts_noise"]


# -- how units are raised --------------------------------------------------------------------------------------------


def test_raising_is_what_the_estimator_does_from_given_filters(chi):
    W = oriented_dendrites(Line(5), [180.0, 0.0], scatter=0.3, random_state=0)
    network = NonnegativeSimilarityMatching(2, init=W.reshape(2, 25), init_strength=100.0).fit(chi)
    assert_allclose(raised(chi, W).W, network.W_, atol=1e-12)
    assert_allclose(raised_literally(chi, W).reshape(2, 25), network.W_, atol=1e-10)


def test_inhibition_that_is_strong_first_is_the_first_m(chi):
    W = np.ones((3, 5, 5))
    assert_allclose(raised(chi[:0], W, inhibition=0.9).M, 0.9 * (1 - np.eye(3)))


def test_what_is_looked_at_first_comes_first(chi):
    W = np.random.default_rng(1).normal(size=(2, 5, 5))
    both = OuterProducts.concatenate([chi[:100], chi[100:]])
    assert_allclose(raised(chi[100:], W, first=chi[:100]).W, raised(both, W).W, atol=1e-12)


def test_each_rule_takes_the_unit_that_it_names():
    R = np.array([[4.0, 3.0, 0.0], [3.0, 5.0, 0.0], [0.0, 0.0, 1.0]])
    state = State(np.zeros((3, 2)), R, np, np.dtype(float))
    assert {name: rule(state) for name, rule in PRUNING.items()} == {"inhibited": 0, "idle": 2}


@pytest.mark.parametrize("rule", PRUNING)
def test_pruning_leaves_so_many_units_that_have_all_learned(chi, rule):
    W = np.random.default_rng(1).normal(size=(6, 5, 5))
    left = pruned(chi, W, 2, rule)
    assert left.W.shape == (2, 25) and left.R.shape == (2, 2)
    assert (np.diag(left.R) > 100).all()


def test_reading_takes_the_unit_most_like_each_way(chi):
    targets = np.random.default_rng(2).normal(size=(2, 5, 5))
    way = chi.project(targets / np.linalg.norm(targets, axis=(1, 2), keepdims=True)).argmax(axis=1)
    seen = read(np.stack([-targets[0], 3 * targets[1], targets[0]]), targets, chi, way)
    assert_array_equal(seen.units, [2, 1])
    assert_allclose(seen.cosines, 1)
    assert seen.found and seen.accuracy == 1


@pytest.mark.parametrize(
    ("successes", "told"),
    [
        (np.ones(60, bool), "60 of 60 (0.940 to 1.000)"),
        (np.array([True, False]), "1 of 2 (0.095 to 0.905)"),
        (np.zeros(0), "0 of 0"),
    ],
)
def test_counts_have_wilsons_interval(successes, told):
    """For n of n the lower end is n / (n + z^2), with z = 1.96."""
    assert counted(successes) == told


# -- T4's and T5's inputs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", SUBTYPES)
def test_inputs_sit_where_a_start_would_have_them(cell):
    assert sided(cell) and order(cell)
    assert abs(centroid(cell)) < 0.2  # all of them, without signs, are about the column


def test_t4_wired_on_hexagons_has_the_centroids_of_the_table():
    eye = Hexagon(2)
    middle = np.linalg.norm(eye.positions, axis=1).argmin()
    for W, (cell, angle) in zip(wired(eye), PREFERRED.items(), strict=True):
        along = eye.positions @ [np.cos(np.radians(angle)), -np.sin(np.radians(angle))]
        assert np.linalg.norm(W) == pytest.approx(1)
        assert not np.delete(W, middle, axis=0).any()
        assert W[middle] @ along < 0, cell
