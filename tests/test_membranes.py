"""A soma and its branches: against Kirchhoff's equations solved as they stand, and what passive circuits do."""

from itertools import pairwise

import numpy as np
import pytest

from flymotion.circuits.membranes import Membrane, Synapses, Voltages, implicit_euler, let_through, steady_state

MEMBRANE = Membrane(axial=2.5, soma=7.0, excitation=55.0, inhibition=-20.0, tau=15.0)


def drawn(n_branches=3, n=4, seed=0):
    rng = np.random.default_rng(seed)
    return Synapses(*rng.exponential(size=(3, n, n_branches)) * np.array([0.5, 0.5, 10.0])[:, None, None])


def rest(n_branches=3, n=4):
    return Voltages(np.zeros(n), np.zeros((n, n_branches)), np.zeros((n, n_branches)))


def kirchhoff(membrane, excited, inhibited, shunted, current):
    """The conductance matrix and currents of one sample: the soma, then the proximal, then the distal compartments."""
    B, c = len(excited), membrane.axial
    wires = [*((0, 1 + b) for b in range(B)), *((1 + b, 1 + B + b) for b in range(B))]
    G = np.diag([membrane.soma, *(1 + shunted), *(1 + excited + inhibited)])
    for a, b in wires:
        G[[a, b], [a, b]] += c
        G[[a, b], [b, a]] -= c
    at_tips = membrane.excitation * excited + membrane.inhibition * inhibited
    return G, np.concatenate([[current], np.zeros(B), at_tips])


def flat(voltages, k):
    return np.concatenate([voltages.soma[k : k + 1], voltages.proximal[k], voltages.distal[k]])


@pytest.mark.parametrize("current", [0.0, 30.0])
def test_at_rest_kirchhoffs_equations_hold(current):
    synapses = drawn()
    found = steady_state(MEMBRANE, synapses, current=current)
    for k, one in enumerate(zip(*synapses, strict=True)):
        G, currents = kirchhoff(MEMBRANE, *one, current)
        np.testing.assert_allclose(flat(found, k), np.linalg.solve(G, currents), rtol=1e-12)


@pytest.mark.parametrize("dt", [0.1, 15.0, 1e4])
def test_a_step_is_that_of_implicit_euler(dt):
    synapses, rng = drawn(), np.random.default_rng(1)
    before = Voltages(*(rng.normal(size=v.shape) * 10 for v in rest()))
    found = implicit_euler(MEMBRANE, synapses, before, dt, current=5.0)
    for k, one in enumerate(zip(*synapses, strict=True)):
        G, currents = kirchhoff(MEMBRANE, *one, 5.0)
        C = np.diag([MEMBRANE.soma, 1, 1, 1, 1, 1, 1]) * MEMBRANE.tau / dt
        np.testing.assert_allclose(flat(found, k), np.linalg.solve(C + G, C @ flat(before, k) + currents), rtol=1e-11)


@pytest.mark.parametrize(("dt", "n_steps"), [(1.0, 600), (20.0, 60), (1e4, 8), (1e12, 2)])
def test_steps_of_any_length_end_at_rest(dt, n_steps):
    synapses, voltages = drawn(), rest()
    for _ in range(n_steps):
        voltages = implicit_euler(MEMBRANE, synapses, voltages, dt)
    for found, expected in zip(voltages, steady_state(MEMBRANE, synapses), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("dt", [1.0, 1e3, 1e6])
def test_no_step_overshoots(dt):
    """The maximum principle: implicit Euler keeps voltages between the reversal potentials."""
    voltages = rest()
    for seed in range(5):
        voltages = implicit_euler(MEMBRANE, drawn(seed=seed), voltages, dt)
        for v in voltages:
            assert MEMBRANE.inhibition < v.min() <= v.max() < MEMBRANE.excitation


def test_steps_converge_in_the_first_order():
    synapses, ends = drawn(), []
    for n_steps in (100, 200, 400):
        voltages = rest()
        for _ in range(n_steps):
            voltages = implicit_euler(MEMBRANE, synapses, voltages, 10.0 / n_steps)
        ends.append(voltages.soma)
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.05)


def test_nothing_in_nothing_out():
    silent = Synapses(*np.zeros((2, 1, 3)), np.ones((1, 3)))
    assert all((v == 0).all() for v in steady_state(MEMBRANE, silent))


def test_a_short_circuit_lets_nothing_through():
    synapses = drawn()._replace(shunted=np.full((4, 3), 1e12))
    assert np.abs(steady_state(MEMBRANE, synapses).soma).max() < 1e-9


def test_without_resistance_between_them_compartments_are_one():
    synapses = drawn()
    found = steady_state(Membrane(axial=1e9, soma=7.0, excitation=55.0, inhibition=-20.0), synapses)
    inside = (55.0 * synapses.excited - 20.0 * synapses.inhibited).sum(axis=1)
    total = 7.0 + (2 + sum(synapses)).sum(axis=1)
    np.testing.assert_allclose(found.soma, inside / total, rtol=1e-6)
    np.testing.assert_allclose(found.distal, found.soma[:, None] + 0 * found.distal, rtol=1e-6)


def test_what_goes_in_and_what_comes_back_pass_the_same_gate():
    """Reciprocity: the distal voltage per voltage of the soma is the share of the distal current that reaches it."""
    passive = drawn()
    gate = let_through(MEMBRANE, passive)
    for k, (excited, inhibited, shunted) in enumerate(zip(*passive, strict=True)):
        G, _ = kirchhoff(MEMBRANE, excited, inhibited, shunted, 0.0)
        resistance = np.linalg.inv(G)
        np.testing.assert_allclose(resistance[4:, 0] / resistance[0, 0], gate[k], rtol=1e-12)
        np.testing.assert_allclose(resistance[0, 4:] / resistance[0, 0], gate[k], rtol=1e-12)


@pytest.mark.parametrize("name", ["axial", "soma", "excitation", "tau"])
def test_a_membrane_is_positive(name):
    with pytest.raises(ValueError, match=f"{name} is 0; expected a positive number"):
        Membrane(**{name: 0})


def test_inhibition_hyperpolarises():
    with pytest.raises(ValueError, match=r"inhibition is 0\.0 mV above rest; expected a negative number"):
        Membrane(inhibition=0.0)


def test_no_conductance_is_negative():
    with pytest.raises(ValueError, match=r"shunted is -1\.0; expected a finite number, from 0"):
        steady_state(MEMBRANE, drawn()._replace(shunted=np.full((4, 3), -1.0)))


@pytest.mark.parametrize("dt", [0.0, -1.0, np.inf, np.nan])
def test_a_step_takes_time(dt):
    with pytest.raises(ValueError, match="ms; expected a positive number"):
        implicit_euler(MEMBRANE, drawn(), rest(), dt)
