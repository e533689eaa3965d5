"""The connectome: where the inputs of T4 and T5 sit, with which signs, and rows of weights beside them."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose

from flymotion.circuits import PREFERRED, SUBTYPES
from flymotion.circuits.connectome import CENTRE, PARTNERS, along, centroid, effective, partners, synapses
from flymotion.circuits.wiring import flanks, likeness, profile, shuffled, weight_at
from flymotion.plots import draw_dendrites
from flymotion.world.lattices import rings

SUMMARY = {
    "T4a": {"Mi9": (19.83, -0.605), "Mi1": (51.48, 0.083), "CT1(M10)": (17.97, 0.592)},
    "T4d": {"Mi9": (22.15, -0.561), "Mi4": (9.92, 0.354), "C3": (6.50, 0.538)},
    "T5a": {"Tm9": (49.00, -0.866), "Tm1": (26.69, 0.414), "CT1(Lo1)": (24.78, 1.063)},
    "T5c": {"Tm9": (45.93, -0.771), "Tm2": (26.72, 0.304), "CT1(Lo1)": (39.00, 0.612)},
}
"""Synapses within two columns and their centroid along the preferred direction, as published with the table."""


@pytest.mark.parametrize("cell", SUMMARY)
def test_counts_and_centroids_are_those_published(cell):
    for name, (count, place) in SUMMARY[cell].items():
        assert synapses(cell, name).counts.sum() == pytest.approx(count, abs=0.006)
        assert centroid(cell, name) == pytest.approx(place, abs=6e-4)


def test_all_inputs_are_known_and_all_offsets_there():
    found = {cell: synapses(cell, within=np.inf) for cell in SUBTYPES}
    assert sum(len(each.counts) for each in found.values()) == 529
    assert {name for each in found.values() for name in each.inputs} == set(PARTNERS)
    assert synapses("T4a", "Mi9", within=np.inf).counts.sum() == pytest.approx(23.16, abs=0.006)


def test_two_columns_are_two_rings():
    for cell in SUBTYPES:
        near = synapses(cell)
        assert (rings(2) == near.offsets[:, None]).all(axis=-1).any(axis=1).all()
        assert len(near.counts) <= len(synapses(cell, within=3).counts)


def test_signs_are_those_of_the_conventions():
    """Mi9 is OFF and inhibits, Mi4 ON and inhibits; Tm9 is OFF and excites, CT1 in the lobula OFF and inhibits."""
    effects = {name: PARTNERS[name].effect for name in ("Mi9", "Mi4", "C3", "CT1(M10)", "Tm9", "CT1(Lo1)")}
    assert effects == {"Mi9": 1, "Mi4": -1, "C3": -1, "CT1(M10)": -1, "Tm9": -1, "CT1(Lo1)": 1}
    assert {partners(kind, "change") for kind in CENTRE} == {("Mi1", "Tm3"), ("Tm1", "Tm2", "Tm4")}


@pytest.mark.parametrize("cell", SUBTYPES)
def test_effective_synapses_are_of_the_centres_sign_where_content_comes_from(cell):
    offsets = rings(2)
    row, place = effective(cell, offsets) * CENTRE[cell[:2]], along(cell, offsets)
    assert row[place < -0.1].sum() > 5 and row[place > 0.1].sum() < -5
    known = synapses(cell, *partners(cell, "intensity"))
    assert row.sum() == pytest.approx(
        sum(
            count * PARTNERS[name].effect * CENTRE[cell[:2]]
            for name, count in zip(known.inputs, known.counts, strict=True)
        )
    )


def test_positions_are_along_the_preferred_direction():
    up = [[0, -1]]
    assert_allclose([along(cell, up)[0] for cell in ("T4a", "T4b", "T4c", "T4d")], [0, 0, 1, -1], atol=1e-12)
    assert_allclose(along("T5b", [[1, 0], [1, -1]]), np.sqrt(3) / 2)
    assert PREFERRED["b"] == 0


def test_no_t4_inhibits_a_t4():
    """What Section 3.2 calls lateral inhibition is nowhere among the inputs of T4; T4s that are, excite."""
    for cell in SUBTYPES[:4]:
        others = synapses(cell, *SUBTYPES, within=np.inf)
        assert all(PARTNERS[name].transmitter == 1 for name in others.inputs)


@pytest.mark.parametrize(
    ("given", "told"), [(("T4e",), "the cell is 'T4e'; expected one of T4a"), (("T4a", "Mi2"), "'Mi2' is no input")]
)
def test_what_the_table_does_not_have_is_named(given, told):
    with pytest.raises(ValueError, match=told):
        synapses(*given)


# -- rows of weights beside it ---------------------------------------------------------------------------------------

OFFSETS = rings(2)


def slope(cell):
    """A row that falls along the preferred direction, with the centre's sign where content comes from."""
    return -along(cell, OFFSETS) * CENTRE[cell[:2]]


@pytest.mark.parametrize("cell", SUBTYPES)
def test_a_slope_and_the_connectome_have_the_pattern_and_their_negatives_do_not(cell):
    for row in (slope(cell), effective(cell, OFFSETS)):
        found, turned = flanks(row, OFFSETS, cell), flanks(-row, OFFSETS, cell)
        assert found.signs and found.order and not turned.signs and not turned.order
        assert_allclose(turned.ratio, 1 / found.ratio)
        assert_allclose([turned.same, turned.other], [found.other, found.same])


def test_flanks_of_a_slope_are_equal_and_those_of_the_connectome_are_not():
    assert flanks(slope("T4b"), OFFSETS, "T4b").ratio == pytest.approx(1)
    assert flanks(slope("T4b"), OFFSETS, "T4b").own == 0
    ratios = {cell: float(flanks(effective(cell, OFFSETS), OFFSETS, cell).ratio) for cell in SUBTYPES}
    assert all(ratios[cell] > 1.3 for cell in SUBTYPES[:4])  # T4's inhibition is on the preferred side
    assert all(ratios[cell] < 1 for cell in SUBTYPES[4:])  # T5's Tm9 is more than its CT1


def test_likeness_is_numpys_correlation():
    row = np.random.default_rng(0).normal(size=len(OFFSETS))
    target = effective("T5c", OFFSETS)
    assert likeness(row, OFFSETS, "T5c") == pytest.approx(np.corrcoef(row, target)[0, 1])
    sums = profile(row, OFFSETS, "T5c")[1], profile(target, OFFSETS, "T5c")[1]
    assert likeness(row, OFFSETS, "T5c", across=False) == pytest.approx(np.corrcoef(*sums)[0, 1])
    assert likeness(2 * target + 3, OFFSETS, "T5c") == pytest.approx(1)


def test_many_rows_at_once_are_each_of_them():
    rows = np.random.default_rng(0).normal(size=(2, 3, len(OFFSETS)))
    together = flanks(rows, OFFSETS, "T4a")
    for k in np.ndindex(2, 3):
        for field, each in zip(together, flanks(rows[k], OFFSETS, "T4a"), strict=True):
            assert_allclose(field[k], each)
    assert weight_at(rows, OFFSETS, "T4a", 1).shape == (2, 3)


def test_shuffled_columns_have_the_same_weights():
    row = effective("T4d", OFFSETS)
    found = shuffled(row, 200, np.random.default_rng(0))
    assert_allclose(np.sort(found, axis=1), np.tile(np.sort(row), (200, 1)))
    assert abs(likeness(found, OFFSETS, "T4d").mean()) < 0.1
    assert shuffled(row, 0, np.random.default_rng(0)).shape == (0, 19)


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"weights of shape \(7,\); expected finite ones, one for each of 19 offsets"):
        flanks(np.ones(7), OFFSETS, "T4a")
    with pytest.raises(ValueError, match="expected finite ones"):
        likeness(np.full(19, np.nan), OFFSETS, "T4a")


@pytest.mark.parametrize("n", [4, 8])
def test_dendrites_are_drawn_beside_the_connectome(n):
    rows = np.stack([slope(cell) for cell in SUBTYPES[:n]])
    rows[0, 3] = np.nan
    before = rows.copy()
    figure = draw_dendrites(rows, OFFSETS, suptitle="both")
    figure.savefig(io.BytesIO(), dpi=40)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == [cell for kind in range(n // 4) for _ in range(2) for cell in SUBTYPES[4 * kind : 4 * kind + 4]]
    coloured = [axes.collections[0] for axes in figure.axes if axes.get_title()]
    assert all(low == -high for low, high in (image.get_clim() for image in coloured))
    assert_allclose(rows, before)


def test_dendrites_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"weights of shape \(3, 19\).* expected \(8, n_offsets\)"):
        draw_dendrites(np.ones((3, 19)), OFFSETS)
