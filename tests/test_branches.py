"""The neuron of compartments, measured (C21): where it multiplies, what it learns, and how both fail."""

import numpy as np
import pytest

from flymotion.claims import branches
from flymotion.claims.branches.designs import OTHERS, REGIMES, STANDARD
from flymotion.claims.branches.taught import STARTS, VARIANTS
from flymotion.claims.running import run

SMALL = branches.Config(n_seeds=1, widths=(5,), n_pairs=8_000, n_test=800)


@pytest.fixture(scope="module")
def found():
    return run(branches.work(SMALL))


@pytest.fixture(scope="module")
def rows(found):
    return {row.id: row for row in branches.check(found, SMALL)}


def test_bounds_are_those_of_the_list_of_claims(rows):
    bounded = {id: (row.relation, row.least) for id, row in rows.items() if row.holds is not None}
    assert bounded == {"C21.product": (">", 0.95), "C21.learned": (">", 0.95)}
    assert rows["C21.product"].holds and rows["C21.learned"].holds
    assert all(np.isfinite(row.value) for row in rows.values())


def test_all_designs_starts_and_variants_have_rows(rows):
    named = {*OTHERS, *REGIMES, *(f"from_{name}" for name in STARTS), *(f"learned_{name}" for name in VARIANTS)}
    assert {f"C21.{name}" for name in named} - rows.keys() == {"C21.from_oriented"}


def test_what_knows_nothing_does_not_pass(rows):
    assert rows["C21.product_random"].value < rows["C21.product_switch"].value < 0.9
    assert rows["C21.learned_random"].value < 0.5 and rows["C21.learned_start"].value < 0.6


def test_it_is_no_product_without_pairs_or_inhibition_but_of_two_neurons(rows):
    assert rows["C21.excitatory"].value < 0.6 and rows["C21.neither"].value < 0.6
    assert rows["C21.one_branch"].value < 0.95 < rows["C21.excitatory_opposed"].value


def test_it_is_no_product_where_shunts_are_weak_or_open(rows):
    assert rows["C21.weak"].value < 0.5 < 0.95 < rows["C21.even"].value
    assert rows["C21.strong"].value < 0.9 and rows["C21.loaded"].value < 0.9


def test_contrast_is_squared_where_what_does_not_multiply_cancels(rows):
    assert rows["C21.contrast_low"].value == pytest.approx(2, abs=0.05)
    assert "synapses alone 1;" in rows["C21.contrast_low"].note and rows["C21.contrast_high"].value < 0.6


def test_steps_and_closed_form_agree(rows):
    assert rows["C21.steps"].value < 1e-12 and 1 < rows["C21.settled"].value < 5


def test_what_competes_learns(rows):
    alone, none = rows["C21.learned_no_branches"].value, rows["C21.learned_no_competition"].value
    assert max(alone, none) < 0.6 < 0.9 < rows["C21.learned_excitatory"].value
    assert rows["C21.learned_kept"].value < 0.9
    assert rows["C21.round"].value > rows["C21.round_uninhibited"].value + 0.3


def test_the_product_is_off_as_the_square_of_the_change():
    """Section "When it is a product" of flymotion.circuits.compartments, of a whole neuron."""
    rng = np.random.default_rng(0)
    u, v, W = rng.uniform(-1, 1, size=(500, 3)), rng.normal(size=(500, 3)), rng.normal(size=(1, 3, 3))
    sought = np.einsum("ti,aij,tj->ta", u, W, v)

    def off(depth):
        neurons = STANDARD.neurons(W, membrane=None, shunt=100.0)
        neurons.size = 1e-10
        found = neurons.respond(depth * u, v).voltages / neurons.unit / depth
        return np.abs(found - sought).max()

    assert off(0.1) / off(0.05) == pytest.approx(4, rel=0.1)


def test_figures_are_drawn(found):
    figures = branches.figures(found, SMALL)
    assert set(figures) == {"compartments", "compartments_map"}
    neuron, mapped = figures.values()
    assert [len(axes.collections) for axes in neuron.axes][:1] == [4 * 5 + 1]  # synapses of a branch, ON or OFF; a soma
    assert all("leak" in axes.get_ylabel() for axes in mapped.axes[:4])
