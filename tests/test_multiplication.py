"""Units that add their inputs and bend the sum multiply (C31)."""

import io

import numpy as np
import pytest

from flymotion.claims import multiplication
from flymotion.claims.multiplication import STIMULI, UNITS, Config
from flymotion.claims.product_terms import EXPONENTS, OTHERS, STRENGTHS, THRESHOLDS, product_shares, shares
from flymotion.claims.running import run
from flymotion.detectors import gruntman
from flymotion.world.eyes import Line

SMALL = Config(n_seeds=1, n_speeds=50)
SQUARED = list(UNITS).index("squared")


@pytest.fixture(scope="module")
def found():
    return run(multiplication.work(SMALL))


@pytest.fixture
def inputs():
    """A change and two intensities, independent, in movies of motion right and left: the change turns with it."""
    right, left = np.random.default_rng(0).standard_normal((2, 100, 400, 3))
    return np.concatenate([right + np.array([0.5, 0.5, -0.5]), left + np.array([-0.5, 0.5, -0.5])])


def test_rows_only_report(found):
    rows = list(multiplication.check(found, SMALL))
    assert {row.holds for row in rows} == {None}
    assert len({row.id for row in rows}) == len(rows) == (3 * len(UNITS) + len(OTHERS) + 6) * len(STIMULI)
    assert all(row.id.startswith("C31.") and np.isfinite(row.value) for row in rows)
    assert {row.seeds for row in rows} == {0, SMALL.n_seeds}


def test_the_difference_of_two_squared_sums_is_the_product(found):
    """(f + g - f')^2 - (f' + g - f)^2 = 4 g (f - f'), at every moment (Gruntman's unit and half a wave are not)."""
    for of_stimulus in found.values():
        np.testing.assert_allclose(of_stimulus.alone[..., SQUARED, 1], 1, rtol=1e-12)
        np.testing.assert_allclose(of_stimulus.quadratic[..., SQUARED, :], 1, rtol=1e-12)
        assert (np.delete(of_stimulus.alone[..., 1], SQUARED, axis=-1) < 0.9).all()


def test_the_product_makes_all_direction_selectivity_of_squared_sums_for_gratings(found):
    """Squares have the same mean both ways; products do not."""
    gratings = found["gratings"]
    np.testing.assert_allclose(gratings.made[SQUARED], gratings.selectivity[SQUARED], rtol=1e-3)
    assert gratings.selectivity[SQUARED] > 0.5


def test_most_of_the_direction_selectivity_of_a_rectified_sum_is_the_product(found):
    for made, selectivity in ((each.made[..., 0], each.selectivity[..., 0]) for each in found.values()):
        assert ((0.5 < made / selectivity) & (made / selectivity < 1)).all()


def test_units_that_are_scanned_are_those_that_are_shown(found):
    """Threshold 0 and exponent 1 are half a wave; strengths of 1 are Gruntman's; one moment in four is scanned."""
    for shown in found.values():
        half_wave = shown.scanned.power[..., THRESHOLDS.index(0.0), EXPONENTS.index(1.0), :]
        conductances = shown.scanned.conductances[..., STRENGTHS.index(1.0), STRENGTHS.index(1.0), :]
        np.testing.assert_allclose(half_wave, shown.product[..., list(UNITS).index("half_wave"), :], atol=0.02)
        np.testing.assert_allclose(conductances, shown.product[..., list(UNITS).index("gruntman"), :], atol=0.002)


def test_what_adds_or_is_odd_holds_no_product_and_the_multiplier_little_else(found):
    for shown in found.values():
        linear, odd, random, multiplier = np.moveaxis(shown.scanned.nulls, -1, 0)
        np.testing.assert_allclose(linear, 0, atol=1e-12)
        assert (odd < 0.01).all() and (0.01 < random).all() and (random < 0.2).all() and (multiplier > 0.9).all()


def test_no_unit_that_is_never_negative_holds_as_much_of_the_product_as_a_square(found):
    for shown in found.values():
        squared = shown.product[..., SQUARED, :]
        for family in shown.scanned[:3]:
            assert (family < squared[..., None, None, :]).all()


def test_conductances_hardly_multiply_at_low_contrast():
    faint = run(multiplication.work(Config(n_seeds=1, n_speeds=4, noise_contrast=1e-3, contrasts=(1e-3,))))
    unit = list(UNITS).index("gruntman")
    for found in faint.values():
        assert (found.product[..., unit, 0] < 1e-6).all()
        assert (found.quadratic[..., unit, 0] > 1 - 1e-6).all()


def test_conductances_are_read_from_voltages():
    """E and I give the voltage back: 65 mV and -10 mV against a leak of 1; of the mirror image but for E's tails."""
    movies, eye = np.random.default_rng(1).standard_normal((2, 40, 9)), Line(9, 0.5)

    def respond(detector):
        return detector(movies, 0.01, eye=eye, direction=[0.0, 180.0])

    excited, own, others = np.moveaxis(multiplication._inputs_of_conductances(respond), -1, 0)
    voltage, mirrored = np.moveaxis(respond(gruntman()), -1, 0)
    np.testing.assert_allclose((65 * excited - 10 * own) / (1 + excited + own), voltage, atol=1e-12)
    np.testing.assert_allclose((65 * excited - 10 * others) / (1 + excited + others), mirrored, atol=0.02)


# -- regression ------------------------------------------------------------------------------------------------------


def test_sums_and_squares_hold_no_product(inputs):
    linear = inputs @ [1.0, -2.0, 3.0]
    for output in (linear, linear + (inputs**2) @ [1.0, 2.0, -1.0] + inputs[..., 1] * inputs[..., 2]):
        product, _, quadratic, made = shares(output, inputs)
        np.testing.assert_allclose([product, quadratic, made], [0, 1, 0], atol=1e-12)


def test_shares_of_many_outputs_are_those_of_each(inputs):
    outputs = np.stack([inputs[..., 0] * inputs[..., 1], np.maximum(inputs.sum(axis=-1), 0), inputs[..., 2]])
    expected = [shares(output, inputs)[0] for output in outputs]
    np.testing.assert_allclose(product_shares(outputs, inputs), expected, atol=1e-12)


def test_a_product_is_all_product(inputs):
    output = inputs[..., 0] * (inputs[..., 1] - inputs[..., 2])
    _, alone, quadratic, made = shares(output, inputs)
    np.testing.assert_allclose([alone, quadratic], 1, rtol=1e-12)
    np.testing.assert_allclose(made, output[:100].mean() - output[100:].mean(), rtol=1e-12)


def test_the_share_is_that_of_the_variance():
    """Of independent Gaussian inputs, 2 x0 x1 has the variance 4, and x2^2 + x2 the variance 3."""
    x = np.random.default_rng(2).standard_normal((400, 1000, 3))
    product, alone, quadratic, _ = shares(2 * x[..., 0] * x[..., 1] + x[..., 2] ** 2 + x[..., 2], x)
    np.testing.assert_allclose([product, alone, quadratic], [4 / 7, 4 / 7, 1], atol=0.01)


# -- sizes and figure ------------------------------------------------------------------------------------------------


def test_noise_differs_by_seed_and_gratings_have_none(pickled):
    work = pickled(multiplication.work(Config(n_seeds=2, n_speeds=20)))
    assert callable(work["gratings"])
    one, other = (piece().product for piece in work["noise"])
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(one, work["noise"][0]().product)


def test_quick_is_fewer_seeds():
    assert multiplication.QUICK == {"n_seeds": 2}
    assert Config(n_seeds=2) != Config()


def test_products_are_drawn_as_bars_of_every_unit(found):
    figure = multiplication.figures(found, SMALL)["products"]
    figure.savefig(io.BytesIO(), dpi=40)
    assert [axes.get_title() for axes in figure.axes] == list(STIMULI.values())
    assert all(len(axes.patches) == 3 * len(UNITS) for axes in figure.axes)


def test_shares_are_drawn_over_both_parameters_of_each_family(found):
    figure = multiplication.figures(found, SMALL)["products_by_parameter"]
    assert sum(len(axes.images) for axes in figure.axes) == 3 * len(STIMULI)
