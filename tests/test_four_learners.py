"""What four learners make of one sample, their nulls, and rows that stand beside them."""

import numpy as np
import pytest

from flymotion.claims import growing_outputs
from flymotion.claims.beside import Null, beside, nulls_by
from flymotion.claims.four_learners import Sample, draw, learn_both, nearness, tell_best, told
from flymotion.claims.known_operators import best_known, expansions, known_operators, on_whitened
from flymotion.claims.nulls import NULLS, start_alone
from flymotion.claims.rows import Claim, above, report, within
from flymotion.claims.worlds import WORLDS
from flymotion.generators import cosine, derivative_operator
from flymotion.similarity.features import OuterProducts
from flymotion.similarity.state import State

SMALL = Sample("L1", 5, 4000, 2000, 2000)


@pytest.fixture(scope="module")
def drawn():
    return draw(SMALL, 0)


# -- what is learned --------------------------------------------------------------------------------------------------


def test_new_pairs_are_of_a_new_scene_and_seen_through_the_whitening_of_those_learned_from(drawn):
    assert len(drawn.chi) == 4000
    assert len(drawn.see(drawn.test)) == 2000
    np.testing.assert_array_equal(drawn.test.before, WORLDS["L1"].pairs(5, 2000, [0, 1]).before)
    assert 0.45 < drawn.rightward.mean() < 0.55


def test_both_learn_from_the_same_pairs():
    signed, nonnegative = learn_both(SMALL, 0)
    assert abs(cosine(signed.sm[0], signed.pca[0])) > 0.99
    difference = nonnegative.nsm.filters[0] - nonnegative.nsm.filters[1]
    assert cosine(difference, signed.pca[0]) > 0.99
    assert nonnegative.labelled > nonnegative.reference > nonnegative.random.difference


def test_filters_are_read_in_the_order_of_right_and_left(drawn):
    right = derivative_operator((5,))
    seen = drawn.see(drawn.test)
    forth, back = (told(np.stack([A, -A]), seen, drawn.test) for A in (right, -right))
    np.testing.assert_array_equal(forth.filters, back.filters)
    assert forth.difference == back.difference == forth.outputs > 0.8
    assert forth.silent == 0


def test_a_pair_that_leaves_both_silent_counts_as_wrong(drawn):
    filters = np.stack([derivative_operator((5,))] * 2)
    read = told(filters, drawn.see(drawn.test), drawn.test, np.zeros((2000, 2)))
    assert (read.outputs, read.silent) == (0, 1)


def test_the_start_answers_as_its_network_does(drawn):
    """Halves of one component are never active together, so that there is nothing to inhibit."""
    W = start_alone(2, drawn.chi)
    seen = drawn.see(drawn.test)
    outputs, _ = State.of_filters(W, 1.0, seen).respond(seen, nonnegative=True, max_sweeps=100)
    np.testing.assert_allclose(outputs, np.maximum(seen.project(W), 0), atol=1e-12)


def test_the_nearer_centre_is_at_the_smaller_distance():
    rng = np.random.default_rng(0)
    chi, centres = OuterProducts(*rng.normal(size=(2, 30, 3))), rng.normal(size=(2, 3, 3))
    distances = ((chi.dense()[:, None] - centres.reshape(2, 9)) ** 2).sum(axis=2)
    energy = (chi.dense() ** 2).sum(axis=1)[:, None]
    np.testing.assert_allclose(energy - 2 * nearness(centres, chi), distances, atol=1e-12)


def test_nobody_tells_more_than_the_posterior():
    by_theory, at_best = tell_best(Sample("L2", 5, 0, 2000, 0), 0)
    assert by_theory < at_best <= 1


# -- known operators --------------------------------------------------------------------------------------------------


def test_known_operators_do_what_their_names_say():
    known, x = known_operators(5), np.array([0.0, 1.0, 4.0, 9.0, 16.0])
    assert len(known) == 10
    np.testing.assert_array_equal(known["shift left"] @ x, [1, 4, 9, 16, 0])
    np.testing.assert_array_equal(known["shift right"] @ x, [0, 0, 1, 4, 9])
    np.testing.assert_array_equal((known["second difference"] @ x)[1:-1], [2, 2, 2])
    np.testing.assert_array_equal((known["shift difference of two pixels"] @ x)[2], -8)
    np.testing.assert_allclose(known["mean"] @ x, 6)
    np.testing.assert_allclose(known["zoom"] @ x, [1, 2.5, 4, 6.5, 9])
    ramp = np.arange(5) - 2.0
    np.testing.assert_allclose((known["expansion about the centre"] @ ramp)[1:-1], -ramp[1:-1])
    assert all(not A[[0, -1]].any() for A in known_operators(5, interior=True).values())


def test_an_operator_is_likest_itself_also_on_whitened_frames():
    rng = np.random.default_rng(0)
    A, Z = rng.normal(size=(5, 5)), np.diag(np.arange(1.0, 6)) + 0.1
    x = rng.normal(size=5)
    np.testing.assert_allclose(on_whitened(A, Z) @ (Z @ x), Z @ (A @ x))
    best, likeness = best_known(-A, {"itself": A, "another": np.eye(5)})
    assert best == likeness["itself"] == pytest.approx(1)


# -- rows beside rows -------------------------------------------------------------------------------------------------


def test_a_row_says_which_nulls_meet_its_bound():
    row, *nulls = beside(
        above("C0.a", "share", 0.9, 0.8, note="L1"),
        start=Null("the start", np.array([0.85, 0.9]), np.min),
        labelled=Null("labels", 0.7, note="told", seeds=3),
    )
    assert row.note == "L1; within the bound, too: the start (0.85); not within the bound: labels (0.7)"
    assert nulls == [
        Claim("C0.a_start", "share; instead: the start, least", 0.85, "", "report", None, 2, None),
        Claim("C0.a_labelled", "share; instead: labels, largest", 0.7, "", "report", None, 3, None, "told"),
    ]


def test_a_null_outside_two_sided_bounds_does_not_meet_them():
    row, _ = beside(within("C0.a", "", 0.0, -1, 1), random=Null("random", {"L1": -2.0}, np.min))
    assert row.note == "not within the bound: random (-2)"


def test_beside_a_report_nulls_are_told_without_a_bound():
    assert next(beside(report("C0.a", "", 1.0), random=Null("random", 2.0))).note == "beside it: random (2)"


def test_every_null_that_was_found_is_measured():
    found = {name: np.array([k, k + 1.0]) for k, name in enumerate(("learned", *NULLS))}
    nulls = nulls_by(np.negative, found, np.min)
    assert {key: (null.name, null.worst(null.values)) for key, null in nulls.items()} == {
        key: (name, -k - 1) for k, (key, name) in enumerate(NULLS.items(), start=1)
    }


def test_an_expanding_world_is_told_by_its_own_component_and_not_by_translation():
    expanding = expansions(WORLDS["L2"], 5)
    own, shift = expanding.components(1)[1][0], WORLDS["L2"].population(5).components(1)[1][0]
    assert expanding.direction_accuracy(own) > 0.75
    assert abs(expanding.direction_accuracy(shift) - 0.5) < 1e-6


@pytest.mark.parametrize(("curve", "growth"), [([0.0, 1, 4], 1), ([3.0, 2, 0], -1), ([0.0, 0, 0], 0)])
def test_growth_is_by_rank_and_a_silent_unit_has_none(curve, growth):
    outputs = np.zeros((1, 3, 2, 2))
    outputs[0, :, 0, 0] = outputs[0, :, 1, 1] = curve
    assert growing_outputs._rank_correlation(outputs) == pytest.approx([growth])
