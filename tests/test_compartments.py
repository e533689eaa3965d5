"""Neurons of compartments: against the circuit and the rules written out, and when their product is one."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from flymotion.circuits import CompartmentalNeurons, Membrane
from flymotion.circuits.membranes import Synapses, let_through, steady_state
from flymotion.similarity.literal import RateNetwork

KINDS = ("both", "kept", "excitatory")


def pairs(n=3, T=40, seed=0, size=0.5):
    rng = np.random.default_rng(seed)
    return size * rng.normal(size=(T, n)), rng.normal(size=(T, n))


def weights(K=2, n=3, seed=1):
    return np.random.default_rng(seed).normal(size=(K, n, n)) / n


def neurons(n=3, **how):
    return CompartmentalNeurons(weights(n=n), **({"strength": 2.0, "tolerance": 1e-12} | how))


# -- the circuit -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rectified", [False, True])
@pytest.mark.parametrize("kinds", KINDS)
def test_voltages_are_those_of_the_circuit(rectified, kinds):
    u, v = pairs(size=1.0)
    some = neurons(rectified=rectified, kinds=kinds, membrane=Membrane(axial=2.0, inhibition=-20.0))
    expected = steady_state(some.membrane, some.conductances(u, v)).soma
    np.testing.assert_allclose(some.respond(u, v).voltages, expected, rtol=1e-12)


def test_conductances_are_those_that_the_table_says():
    one = CompartmentalNeurons([[[2.0]]], shunt=3.0, size=0.5)
    found = one.conductances([[0.25], [0.25], [2.0]], [[1.0], [-4.0], [0.0]])
    np.testing.assert_allclose(found.excited[:, 0], [[1, 0], [0, 4], [0, 0]])
    np.testing.assert_allclose(found.inhibited[:, 0], [[0, 2], [8, 0], [0, 0]])  # twice: reversal potentials
    np.testing.assert_allclose(found.shunted[:, 0], [[2.25, 3.75], [2.25, 3.75], [0, 9]])
    one.rectified = True
    np.testing.assert_allclose(one.conductances([[0.25]], [[1.0]]).shunted[0, 0], [2.25, 3])


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("intensity", [-1, 1])
@pytest.mark.parametrize("weight", [-1, 1])
@pytest.mark.parametrize("rectified", [False, True])
def test_all_signs_multiply(change, intensity, weight, rectified):
    one = CompartmentalNeurons([[[0.3 * weight]]], rectified=rectified)
    voltage = one.respond([[0.3 * change]], [[float(intensity)]]).voltages
    assert np.sign(voltage) == change * intensity * weight


@pytest.mark.parametrize("rectified", [False, True])
def test_weak_shunts_and_small_synapses_are_rate_units(rectified):
    u, v = pairs(T=300, size=0.2)
    how = {"strength": 2.0, "tolerance": 1e-10}
    some = CompartmentalNeurons(weights(), shunt=1e-5, size=1e-10, rectified=rectified, **how)
    literal = RateNetwork(weights(), **how)
    np.testing.assert_allclose(some.learn(u, v).rates, literal.learn(u, v).outputs, atol=1e-3)
    np.testing.assert_allclose(some.W, literal.W, atol=1e-3)
    np.testing.assert_allclose(some.Q, literal.M, atol=1e-3)


@pytest.mark.parametrize("shunt", [0.1, 10.0, 1000.0])
def test_the_product_is_off_by_the_square_of_the_change(shunt):
    """A(y) - A(-y) = 2 e y (1 + e^2 y^2 + ...) / (k + S), e = S / (k + S)."""
    y, k = np.array([0.01, 0.02, 0.04]), 1 + 8 - 16 / 5
    membrane = Membrane(soma=1e9)  # so that nothing else changes what the soma makes of the current
    one = CompartmentalNeurons([[[1.0]]], shunt=shunt, size=1e-10, membrane=membrane)
    voltages = one.respond(y[:, None], np.ones((3, 1))).voltages[:, 0]
    excess = voltages / (one.unit * y) - 1
    np.testing.assert_allclose(excess, (shunt / (k + shunt) * y) ** 2, rtol=1e-2, atol=1e-7)


@pytest.mark.parametrize(("inhibition", "ratio"), [(-60.0, 1), (-30.0, 2), (-15.0, 4)])
def test_unequal_loads_leave_a_square(inhibition, ratio):
    """A rate of d (ratio - 1) (e - h)^2 / (2 e size), e = S / (k + S), where nothing changes."""
    membrane = Membrane(soma=1e9, inhibition=inhibition)
    one = CompartmentalNeurons([[[0.5]]], size=1e-3, membrane=membrane)
    k, c, S, net = 1 + 8 - 16 / 5, 4, 10, 1e-3 * 0.5 * np.array([1.0, -2.0])
    rates = one.respond([[0.0], [0.0]], [[1.0], [-2.0]]).voltages[:, 0] / one.unit
    d = (1 + S + 2 * c) / ((1 + c) * (k + S))
    np.testing.assert_allclose(rates, d * (ratio - 1) * net**2 / (2 * S / (k + S) * 1e-3), rtol=1e-2, atol=1e-12)


def test_without_inhibition_what_should_cancel_stays():
    """A_0 sum |W x|, whatever the change."""
    one, both = (CompartmentalNeurons([[[0.5]]], kinds=kinds, size=1e-3) for kinds in ("excitatory", "both"))
    still, v = np.zeros((2, 1)), np.array([[1.0], [-1.0]])
    assert (one.respond(still, v).rates > 0.1).all()
    np.testing.assert_allclose(both.respond(still, v).rates, 0, atol=1e-3)


# -- learning ----------------------------------------------------------------------------------------------------------


def written_out(u, v, W, relays, *, strength, competition, kinds):
    """Eqs. 16-19 with gates and interneurons, as they are said; the rates solved by going on until they stand still."""
    K, n, _ = W.shape
    m, shunt, size = Membrane(), 10.0, 0.25
    synapses = np.zeros((K, n, 2, n, 2))
    for p in range(2):
        for q in range(2):
            synapses[:, :, p, :, q] = W * (-1) ** (p + q)
    synapses = np.maximum(synapses, -np.inf if kinds == "both" else 0)
    That, Zhat, P, Q, L = (
        strength * np.ones(K),
        strength * np.ones(K),
        relays.copy(),
        np.zeros((K, K)),
        np.zeros((K, K)),
    )
    k, c = 1 + 8 - 16 / 5, 4.0
    slope = 2 * c**2 * shunt / (5 * (k + shunt) ** 2)
    unit = size * 60 * slope / (10 + 2 * n * (c - c**2 / (k + shunt)))
    rates = []
    for y, x in zip(u, v, strict=True):
        parts = np.stack([np.maximum(x, 0), np.maximum(-x, 0)], axis=1)
        excited = size * (np.maximum(synapses, 0) * parts).sum(axis=(3, 4)).reshape(K, -1)
        inhibited = 2 * size * (np.maximum(-synapses, 0) * parts).sum(axis=(3, 4)).reshape(K, -1)
        shunted = np.tile(10 * np.maximum(1 - np.stack([y, -y], axis=1).ravel(), 0), (K, 1))
        circuit = Synapses(excited, inhibited, shunted)
        drive, gate = steady_state(m, circuit).soma / unit, let_through(m, circuit).reshape(K, n, 2) / slope
        theta, z = np.zeros(K), np.zeros(K)
        for _ in range(600):
            theta, z = (
                theta + 0.2 * (np.maximum(drive - Q @ z, 0) - theta),
                z + 0.2 * (np.maximum(P @ theta - L @ z, 0) - z),
            )
        rates.append(theta)
        That, Zhat = That + theta**2, Zhat + z**2  # Eq. 18
        for a in range(K):
            arriving = theta[a] * gate[a][:, :, None, None] * parts  # pixel, branch, intensity, part
            for axis in ({"branches": 1, "parts": 3}[name] for name in competition):
                arriving = arriving - arriving.mean(axis=axis, keepdims=True)
            synapses[a] += (4 * arriving - theta[a] ** 2 * synapses[a]) / That[a]  # Eq. 16
        synapses = np.maximum(synapses, -np.inf if kinds == "both" else 0)
        apart = 1 - np.eye(K)
        Q += apart * (np.outer(theta, z) - theta[:, None] ** 2 * Q) / That[:, None]  # Eq. 17
        L += apart * (np.outer(z, z) - z[:, None] ** 2 * L) / Zhat[:, None]
        P += (np.outer(z, theta) - z[:, None] ** 2 * P) / Zhat[:, None]
    return np.array(rates), synapses, Q, P, L


@pytest.mark.parametrize("competition", [(), ("branches",), ("parts",), ("branches", "parts")])
@pytest.mark.parametrize("kinds", ["both", "excitatory"])
def test_learning_is_the_rules_written_out(competition, kinds):
    (u, v), relays = pairs(n=2, T=5, size=0.8), np.array([[1.0, 0.2], [0.1, 0.9]])
    how = {"strength": 10.0, "competition": competition, "kinds": kinds}
    some = CompartmentalNeurons(weights(n=2), relays=relays, tolerance=1e-12, **how)
    found = (some.learn(u, v).rates, some.synapses, some.Q, some.P, some.L)
    for mine, expected in zip(found, written_out(u, v, weights(n=2), relays, **how), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-9)


def test_sites_that_compete_stay_opposite():
    """Competition over branches and parts leaves the product alone, so that four synapses are one weight."""
    some = neurons()
    some.learn(*pairs())
    signed = some.W[:, :, None, :, None] * np.array([[1, -1], [-1, 1]])[:, None, :]
    np.testing.assert_allclose(some.synapses, signed, atol=1e-12)


@pytest.mark.parametrize("kinds", ["kept", "excitatory"])
def test_synapses_keep_their_sign(kinds):
    some = neurons(kinds=kinds, strength=0.1)
    before = some.synapses.copy()
    some.learn(*pairs(T=200))
    assert (some.synapses * (before if kinds == "kept" else 1) >= 0).all()


def test_sites_of_both_kinds_change_sides():
    some = neurons(strength=0.1)
    before = some.synapses.copy()
    some.learn(*pairs(T=200))
    assert (some.synapses * before < 0).any()


def test_silent_interneurons_inhibit_nobody():
    alone = neurons(relays=np.zeros((2, 2)))
    rates, voltages = alone.learn(*pairs())
    np.testing.assert_allclose(rates, np.maximum(voltages, 0) / alone.unit, atol=1e-9)
    assert not alone.Q.any() and not alone.L.any()


# -- what is promised --------------------------------------------------------------------------------------------------


def test_pieces_and_single_pairs_teach_alike():
    (u, v), whole, pieces = pairs(), neurons(), neurons()
    rates = whole.learn(u, v).rates
    found = [
        pieces.learn(u[:15], v[:15]).rates,
        *(pieces.present(*pair).rates[None] for pair in zip(u[15:], v[15:], strict=True)),
    ]
    np.testing.assert_array_equal(np.concatenate(found), rates)
    np.testing.assert_array_equal(pieces.synapses, whole.synapses)


def test_responding_and_inputs_change_nothing():
    (u, v), W, some = pairs(), weights(), neurons()
    u.flags.writeable = v.flags.writeable = W.flags.writeable = False
    before = pickle.dumps(some)
    some.respond(u, v)
    assert pickle.dumps(some) == before
    CompartmentalNeurons(W).learn(u, v)


def test_it_is_printed_in_a_line():
    assert repr(neurons()) == "CompartmentalNeurons(2 neurons of 6 branches, shunt=10.0, size=0.25)"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"W": np.ones((2, 3))}, r"W has shape \(2, 3\); expected finite numbers of shape \(K, n, n\)"),
        ({"W": np.ones((1, 2, 3))}, r"W has shape \(1, 2, 3\); expected"),
        ({"W": np.full((1, 2, 2), np.nan)}, "W has shape .*; expected finite numbers"),
        ({"relays": np.ones((1, 1))}, r"relays have shape \(1, 1\); expected numbers not below 0 of shape \(2, 2\)"),
        ({"relays": -np.ones((2, 2))}, "relays have .* not below 0"),
        ({"shunt": 0.0}, "shunt is 0.0; expected a positive number"),
        ({"size": -1.0}, "size is -1.0; expected a positive number"),
        ({"strength": np.nan}, "strength is nan; expected a positive number"),
        ({"kinds": "signed"}, "kinds is 'signed'; expected one of"),
        ({"competition": ("branches", "units")}, "competition has 'units' in it; expected some of"),
        ({"tolerance": 1.0}, "tolerance is 1.0; expected a share of the drive"),
        ({"max_steps": 0}, "max_steps"),
    ],
)
def test_what_cannot_be_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        CompartmentalNeurons(**({"W": weights()} | how))


@pytest.mark.parametrize(
    ("u", "v", "message"),
    [
        (np.ones((4, 3)), np.ones((4, 2)), r"shapes \(4, 3\) and \(4, 2\); expected \(n_samples, 3\) twice"),
        (np.ones((4, 2)), np.ones((4, 2)), r"expected \(n_samples, 3\) twice"),
        (np.full((1, 3), np.nan), np.ones((1, 3)), "u or v has NaN"),
        (np.full((1, 3), 1e200), np.ones((1, 3)), "u or v has numbers beyond"),
    ],
)
def test_pairs_that_cannot_be_are_refused(u, v, message):
    some = neurons()
    before = some.synapses.copy()
    with pytest.raises(ValueError, match=message):
        some.learn(u, v)
    np.testing.assert_array_equal(some.synapses, before)


def test_rates_that_do_not_settle_are_warned_of():
    with pytest.warns(ConvergenceWarning, match=r"the rates of \d\d of 40 samples did not settle in 1 steps; raise"):
        neurons(max_steps=1).learn(*pairs())
