"""Temporal filters: the published impulse responses, unit gain and energy, what they do to sines, streams, start-up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.detectors.temporal import (
    Delay,
    Gamma,
    GammaSlope,
    HighPass,
    LowPass,
    Rectify,
    filtered,
    latency,
    start,
    transfer,
)

DT = 0.01
FRAME = 1 / 240

LINEAR = {
    "low-pass": (LowPass(0.15),),
    "high-pass": (HighPass(0.25),),
    "high-pass with dc": (HighPass(0.25, dc=0.1),),
    "gamma": (Gamma(0.02),),
    "gamma of unit energy": (Gamma(0.15, unit_energy=FRAME),),
    "slope": (GammaSlope(0.02),),
    "slope of unit energy": (GammaSlope(0.15, unit_energy=FRAME),),
    "delay": (Delay(0.05),),
    "chain": (HighPass(0.25), Delay(0.03), Gamma(0.05), LowPass(0.1)),
}
CHAINS = LINEAR | {"half-wave": (HighPass(0.25, dc=0.1), Rectify(-1), LowPass(0.05))}

every_linear = pytest.mark.parametrize("chain", LINEAR.values(), ids=LINEAR)
every_chain = pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)


def begin(chain, level, dt=DT):
    states = []
    for step in chain:
        state, level = start(step, level, dt)
        states.append(state)
    return states, level


def go_on(chain, signals, states, dt=DT):
    after = []
    for step, state in zip(chain, states, strict=True):
        signals, state = filtered(step, signals, state, dt)
        after.append(state)
    return signals, after


@pytest.fixture
def respond():
    """A chain's output to a signal, shape (n_frames, n_pixels), after an endless first frame or a given level."""

    def respond(chain, signals, level=None, dt=DT):
        states, _ = begin(chain, signals[0] if level is None else level, dt)
        return go_on(chain, signals, states, dt)[0]

    return respond


@pytest.fixture
def impulse_response(respond):
    """A chain's output to a single frame of 1, shape (n_frames,)."""

    def measure(chain, n_frames=4000, dt=DT):
        impulse = np.zeros((n_frames, 1))
        impulse[0] = 1
        return respond(chain, impulse, np.zeros(1), dt)[:, 0]

    return measure


@pytest.fixture
def noise():
    return lambda *shape, seed=0: np.random.default_rng(seed).standard_normal(shape)


# Impulse responses


def sampled(h, dt, n_frames=400):
    return h(np.arange(n_frames) * dt)


@pytest.mark.parametrize("dt", [FRAME, 0.001, 0.03])
def test_low_pass_and_gamma_are_their_formulas_sampled_and_scaled_to_sum_1(impulse_response, dt):
    for step, h in (
        (LowPass(0.15), lambda t: np.exp(-t / 0.15)),
        (Gamma(0.15), lambda t: t * np.exp(-t / 0.15)),
    ):
        whole = h(np.arange(20_000) * dt)
        assert_allclose(impulse_response((step,), 400, dt), whole[:400] / whole.sum(), rtol=1e-10, atol=1e-16)


@pytest.mark.parametrize("dt", [FRAME, 0.001, 0.03])
def test_high_pass_is_the_signal_less_its_low_pass(impulse_response, dt):
    low = impulse_response((LowPass(0.25),), 400, dt)
    delta = np.eye(1, 400)[0]
    assert_allclose(impulse_response((HighPass(0.25),), 400, dt), delta - low, atol=1e-15)
    assert_allclose(impulse_response((HighPass(0.25, dc=0.1),), 400, dt), 1.1 * delta - low, atol=1e-15)


@pytest.mark.parametrize("dt", [FRAME, 0.001, 0.03])
def test_the_slope_is_its_formula_sampled(impulse_response, dt):
    def h(t):
        return (1 - t / 0.15) * np.exp(-t / 0.15) / 0.15

    assert_allclose(impulse_response((GammaSlope(0.15),), 400, dt), sampled(h, dt) * dt, rtol=1e-9, atol=1e-14)


def test_the_slope_is_the_derivative_of_gamma_times_tau(impulse_response):
    dt = 1e-5
    gamma, slope = (impulse_response((step(0.02),), 2000, dt) / dt for step in (Gamma, GammaSlope))
    assert_allclose(np.gradient(gamma, dt)[1:-1] * 0.02, slope[1:-1], atol=1e-3 * slope.max())


def test_a_delay_is_the_signal_later(noise, respond):
    signals = noise(20, 3)
    assert_array_equal(respond((Delay(0.05),), signals)[5:], signals[:-5])
    assert_array_equal(respond((Delay(0.05),), signals)[:5], np.repeat(signals[:1], 5, axis=0))


def test_half_waves_add_up_to_the_signal(noise, respond):
    signals = noise(20, 3)
    on, off = (respond((Rectify(sign),), signals) for sign in (1, -1))
    assert_array_equal(on - off, signals)
    assert_array_equal(np.minimum(on, off), np.zeros((20, 3)))


# Gain and energy


@pytest.mark.parametrize("step", [LowPass(0.15), Gamma(0.15), HighPass(0.15, dc=1.0), Delay(0.15)], ids=repr)
@pytest.mark.parametrize("dt", [0.05, 0.01])
def test_the_gain_for_a_constant_is_1(step, dt):
    assert_allclose(transfer((step,), 0.0, dt), 1, rtol=1e-12)


@pytest.mark.parametrize("step", [Gamma, GammaSlope])
@pytest.mark.parametrize("tau", [0.02, 0.15])
def test_the_energy_is_1_at_the_interval_named(impulse_response, step, tau):
    assert_allclose((impulse_response((step(tau, unit_energy=FRAME),), dt=FRAME) ** 2).sum(), 1, rtol=1e-12)


@pytest.mark.parametrize("step", [Gamma, GammaSlope])
def test_unit_energy_gives_the_same_response_per_second_at_other_intervals(impulse_response, step):
    coarse, fine = (impulse_response((step(0.15, unit_energy=FRAME),), dt=FRAME / k) * k for k in (1, 4))
    assert_allclose(fine[: 4 * 500 : 4], coarse[:500], rtol=1e-9, atol=1e-13)


# Sines


@every_linear
def test_transfer_is_the_spectrum_of_the_impulse_response(impulse_response, chain):
    h = impulse_response(chain, 2048)
    assert_allclose(transfer(chain, np.fft.rfftfreq(2048, DT), DT), np.fft.rfft(h), atol=1e-11)


@every_linear
def test_transfer_is_what_a_sine_becomes(respond, chain):
    t = np.arange(2000) * DT
    out = respond(chain, np.cos(2 * np.pi * 1.5 * t)[:, None])[1000:, 0]
    H = transfer(chain, 1.5, DT)
    assert_allclose(out, (H * np.exp(2j * np.pi * 1.5 * t)).real[1000:], atol=1e-12)


def test_a_chain_that_rectifies_has_no_transfer_function():
    with pytest.raises(ValueError, match="the chain rectifies; expected linear steps only"):
        transfer((HighPass(0.1), Rectify()), 1.0, DT)


# Streams and start-up


@every_chain
@pytest.mark.parametrize("cuts", [(7,), (0, 0, 1, 30, 30), tuple(range(1, 50))], ids=["two", "empty", "frames"])
def test_any_split_gives_the_same(noise, chain, cuts):
    signals = noise(2, 50, 3)
    states, _ = begin(chain, signals[:, 0])
    whole, _ = go_on(chain, signals, states)
    pieces = []
    for piece in np.split(signals, cuts, axis=1):
        out, states = go_on(chain, piece, states)
        pieces.append(out)
    assert_allclose(np.concatenate(pieces, axis=1), whole, rtol=1e-12, atol=1e-14)


@every_chain
def test_before_the_first_frame_the_signal_was_constant_for_ever(noise, respond, chain):
    level = noise(3)
    constant = np.repeat(level[None], 100, axis=0)
    _, expected = begin(chain, level)
    assert_allclose(respond(chain, constant), np.repeat(expected[None], 100, axis=0), rtol=1e-12, atol=1e-14)


@every_chain
def test_single_precision_stays_and_agrees_and_nothing_given_is_changed(noise, respond, chain):
    signals = noise(300, 3)
    single = signals.astype(np.float32)
    single.flags.writeable = signals.flags.writeable = False
    assert respond(chain, single).dtype == np.float32
    double = respond(chain, signals)
    assert_allclose(respond(chain, single), double, atol=1e-4 * np.abs(double).max())


@pytest.mark.parametrize("step", [LowPass(0.15), HighPass(0.15), Gamma(0.15), GammaSlope(0.15)], ids=repr)
@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_single_precision_is_enough_for_slow_filters_of_fast_frames(step, dt):
    """Poles near 1, and sums that nearly cancel, need more digits than signals have."""
    signals = np.random.default_rng(0).standard_normal((4000, 1))

    def respond(signals):
        return filtered(step, signals, start(step, signals[0], dt)[0], dt)[0]

    double = respond(signals)
    assert_allclose(respond(signals.astype(np.float32)), double, atol=1e-6 * np.abs(double).max())


# Errors


@pytest.mark.case("B42")
@pytest.mark.parametrize(("tau", "frames"), [(0.005, "0.5"), (0.015, "1.5"), (0.0101, "1.01")])
def test_a_delay_is_a_whole_number_of_frames(tau, frames):
    with pytest.raises(ValueError, match=f"is {frames} frames of 0.01 s; expected a whole number, 1 or more"):
        Delay(tau).frames(DT)


def test_a_delay_of_one_frame_is_the_shortest():
    assert Delay(DT).frames(DT) == 1
    with pytest.raises(ValueError, match=r"is 1e-10 frames of 0.01 s; expected a whole number, 1 or more"):
        Delay(1e-12).frames(DT)


def test_latency_adds_up_pure_delays():
    assert latency((LowPass(0.1), Delay(0.05), Rectify(), Delay(0.02)), DT) == 7
    assert latency((), DT) == 0


@pytest.mark.case("B42")
@pytest.mark.parametrize("step", [LowPass, HighPass, Gamma, GammaSlope, Delay])
@pytest.mark.parametrize("tau", [0.0, -1.0, np.inf, np.nan])
def test_times_are_positive_and_finite(step, tau):
    with pytest.raises(ValueError, match=f"tau is {tau}; expected a positive, finite time"):
        step(tau)


@pytest.mark.parametrize("step", [Gamma, GammaSlope])
def test_the_interval_of_unit_energy_is_positive(step):
    with pytest.raises(ValueError, match="unit_energy is 0; expected a positive, finite time"):
        step(0.1, unit_energy=0)


def test_half_waves_have_a_sign():
    with pytest.raises(ValueError, match="sign is 2; expected 1, for the ON part, or -1"):
        Rectify(2)


@pytest.mark.parametrize("step", [LowPass, HighPass, Gamma, GammaSlope, Delay])
@pytest.mark.parametrize("tau", [1e-320, 1e-300, 1e-9, 1e-3, 1e3, 1e9, 1e17, 1e300])
def test_times_of_any_size_give_numbers_or_are_refused_in_one_sentence(step, tau):
    """A singular matrix, terabytes or an overflow."""
    signals = np.random.default_rng(0).normal(size=(5, 3))
    try:
        state, _ = start(step(tau), signals[0], DT)
    except ValueError as error:
        assert "; expected" in str(error) and "\n" not in str(error)
        return
    assert np.isfinite(filtered(step(tau), signals, state, DT)[0]).all()
