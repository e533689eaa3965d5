"""Detectors against literal loops, against each other where theory says they are equal, and against closed forms."""

import math

import numpy as np
import pytest
from detector_checks import DT, noise
from numpy.testing import assert_allclose

from flymotion.detectors import (
    barlow_levick,
    conductance,
    gruntman,
    haag,
    hassenstein_reichardt,
    hr_bl_hybrid,
    linear_nonlinear,
    motion_energy,
    ridge_velocity,
    shared_non_delay,
    shared_non_delay_t4,
    shared_non_delay_t5,
    three_pixel,
)
from flymotion.detectors.temporal import Delay, Gamma, GammaSlope, HighPass, LowPass, transfer
from flymotion.stimuli import drifting_grating
from flymotion.world.eyes import Line, acceptance_sigma


@pytest.fixture
def make_movie():
    return noise


@pytest.fixture
def make_sine():
    """A grating sampled at points, that moves right where its frequency is positive."""

    def make(frequency, wavelength, n_pixels, *, contrast=0.5, duration=12.0, dt=DT):
        t, x = np.arange(round(duration / dt)) * dt, np.arange(n_pixels)
        return contrast * np.cos(2 * np.pi * (frequency * t[:, None] - x / wavelength) + 0.3)

    return make


def low_passed(x, tau, dt=DT):
    """Literal recursion, shape (n_frames, n_pixels); before the first frame, that frame for ever."""
    a, out = math.exp(-dt / tau), [x[0]]
    for now in x[1:]:
        out.append(a * out[-1] + (1 - a) * now)
    return np.array(out)


def put_off(x, tau, dt=DT):
    """The frames tau earlier; before the first frame, that frame for ever."""
    n = round(tau / dt)
    return np.concatenate([np.repeat(x[:1], n, axis=0), x[:-n]])


BY_HAND = [(LowPass, low_passed), (Delay, put_off)]


# Literal transcriptions of the equations


def test_barlow_levick(make_movie):
    x = make_movie(50, 6)
    g, f = np.maximum(x, 0), np.maximum(low_passed(x, 0.1), 0)
    subtractive, divisive = (barlow_levick(form=form)(x, DT) for form in ("subtractive", "divisive"))
    for i in range(5):
        assert_allclose(subtractive[:, i], np.maximum(g[:, i] - 2 * f[:, i + 1], 0), atol=1e-14)
        assert_allclose(divisive[:, i], g[:, i] / (1 + f[:, i + 1]), atol=1e-14)


@pytest.mark.parametrize("mirror", [1.0, 0.3, 0.0])
def test_hybrid(make_movie, mirror):
    x = make_movie(50, 6)
    high = x - low_passed(x, 0.25)
    expected = 0.0
    for g in (np.maximum(high, 0), np.maximum(-high, 0)):
        f = low_passed(g, 0.05)
        expected += f[:, :-2] * g[:, 1:-1] / (0.1 + f[:, 2:]) - mirror * f[:, 2:] * g[:, 1:-1] / (0.1 + f[:, :-2])
    detector = hr_bl_hybrid(mirror=mirror)
    assert_allclose(detector(x, DT), expected, atol=1e-14)
    assert detector.opponent == (mirror > 0)


@pytest.mark.parametrize(("rest", "baseline"), [(None, 0.0), (0.0, 1.0), (1.0, 1.5 * 1.5 / 2)])
def test_haag(make_movie, rest, baseline):
    x = make_movie(50, 6)
    D = np.maximum(x - low_passed(x, 0.25) + 0.1 * x, 0)
    ES = low_passed(D, 0.25)
    expected = (1 + 5 * ES[:, :-2]) * (1 + 5 * D[:, 1:-1]) / (1 + 10 * ES[:, 2:]) - baseline
    assert_allclose(haag(rest=rest)(x, DT), expected, atol=1e-13)


def test_haag_is_silent_at_rest():
    assert_allclose(haag(rest=1.0)(np.ones((20, 4)), DT), 0, atol=1e-12)
    assert_allclose(haag(rest=None)(np.zeros((20, 4)), DT), 1, rtol=1e-15)


@pytest.mark.parametrize(
    ("pathway", "polarity", "reversals", "gains"),
    [("T4", (-1, 1, 1), (-30, 60, -30), (0.3, 0.1, 0.3)), ("T5", (-1, -1, -1), (60, 60, -30), (0.1, 0.1, 0.3))],
)
def test_conductances(make_movie, pathway, polarity, reversals, gains):
    """Convolved with the kernels, sampled and scaled as the paper does."""
    x, dt = make_movie(80, 3), 1 / 240
    t = np.arange(2000) * dt
    low, high = t * np.exp(-t / 0.15), (1 - t / 0.15) * np.exp(-t / 0.15)
    kernels = [k / np.sqrt((k**2).sum()) for k in (low, high, low)]
    r = [np.convolve(x[:, j], k)[:80] for j, k in enumerate(kernels)]
    g = [gain * np.maximum(sign * s, 0) for gain, sign, s in zip(gains, polarity, r, strict=True)]
    V = sum(e * c for e, c in zip(reversals, g, strict=True)) / (1 + sum(g))
    assert_allclose(conductance(pathway)(x, dt, before=0.0)[:, 0], np.maximum(V, 0) ** 2, rtol=1e-9, atol=1e-9)


def test_gruntman(make_movie):
    x = make_movie(50, 6)
    on = np.maximum(x, 0)
    j = np.arange(-2, 4)
    about, trailing = (np.exp(-(((j - middle) / 0.8) ** 2) / 2) for middle in (0, 1))
    excited = 0.5 * low_passed(on, 0.03) @ about / about.sum()
    inhibited = 2.0 * low_passed(on, 0.1) @ trailing / trailing.sum()
    expected = 65 * (excited - 10 / 65 * inhibited) / (1 + excited + inhibited)
    assert_allclose(gruntman()(x, DT)[:, 0], expected, atol=1e-12)


@pytest.mark.parametrize(("step", "by_hand"), BY_HAND, ids=["low-pass", "delay"])
@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_velocity_is_the_least_squares_solution_of_supplement_c(make_movie, step, by_hand, ridge):
    """The minimum of |change + theta slope|^2 + ridge theta^2, found by numpy."""
    x = make_movie(12, 7)
    f = by_hand(x, 0.02)
    velocities = ridge_velocity(step(0.02), ridge=ridge, radius=2)(x, DT)[:, 0]
    for frame in range(1, 12):
        change, slope = (x - f)[frame, 1:-1] / 0.02, (f[frame, 2:] - f[frame, :-2]) / 2
        A = np.append(slope, math.sqrt(ridge))[:, None]
        theta = np.linalg.lstsq(A, -np.append(change, 0.0), rcond=None)[0][0]
        assert_allclose(velocities[frame], 5.0 * theta, rtol=1e-10)


def test_a_large_ridge_leaves_the_plain_correlation(make_movie):
    """The relative error falls as 1 / ridge; of one pixel the correlation is the three-pixel detector's at f."""
    x = make_movie(40, 5)
    f = low_passed(x, 0.15)
    plain = 5.0 * (x - f)[:, 1:-1] / 0.15 * (f[:, :-2] - f[:, 2:]) / 2

    def error(ridge):
        return np.abs(ridge * ridge_velocity(ridge=ridge, radius=0)(x, DT) - plain).max()

    assert error(1e6) < 1e-5 * np.abs(plain).max()
    assert_allclose(error(1e4) / error(1e6), 100, rtol=0.01)


@pytest.mark.parametrize("speed", [-200.0, -20.0, 5.0, 50.0, 300.0])
def test_velocity_of_a_long_grating_is_right_at_every_speed(make_sine, speed):
    movie = make_sine(speed / 120.0, 24.0, 7, dt=1e-3, duration=3.0)
    assert_allclose(ridge_velocity(ridge=0.0)(movie, 1e-3)[2000:], speed, rtol=0.03)


def test_velocity_without_contrast_or_ridge_is_0():
    assert_allclose(ridge_velocity(ridge=0.0)(np.ones((5, 5)), DT), 0, atol=0)


# Detectors of which sums, or combinations, are equal


@pytest.mark.case("B42")
@pytest.mark.parametrize(("step", "by_hand"), BY_HAND, ids=["low-pass", "delay"])
def test_summed_three_pixel_is_summed_reichardt_and_boundary(make_movie, step, by_hand):
    """Supplement E, corrected: what is left are products at the two ends."""
    x = make_movie(60, 9)
    f = by_hand(x, 0.03)
    boundary = (x - f)[:, 0] * x[:, 1] - x[:, -2] * (x - f)[:, -1]
    three, two = (make(step(0.03))(x, DT).sum(axis=1) for make in (three_pixel, hassenstein_reichardt))
    assert_allclose(three, two + boundary, atol=1e-12)
    assert np.abs(boundary).max() > 0.1


def on_a_ring(detector, movie, low, high):
    """Responses summed over all positions of a ring; a detector has taps from ``low`` to ``high``."""
    return detector(np.take(movie, range(low, movie.shape[1] + high), axis=1, mode="wrap"), DT).sum(axis=1)


@pytest.mark.case("B42")
@pytest.mark.parametrize("delayed", [Delay(0.03), LowPass(0.15), Gamma(0.02)], ids=repr)
def test_on_a_ring_three_pixel_reichardt_and_shared_non_delay_are_equal(make_movie, delayed):
    x = make_movie(60, 9)
    two = on_a_ring(hassenstein_reichardt(delayed), x, 0, 1)
    assert_allclose(on_a_ring(three_pixel(delayed), x, -1, 1), two, atol=1e-12)
    assert_allclose(on_a_ring(shared_non_delay((delayed,), ()), x, -1, 1), two, atol=1e-12)
    assert np.abs(two).max() > 0.1


def test_on_a_ring_shared_non_delay_is_the_reichardt_detector_of_the_published_filters(make_movie):
    x = make_movie(60, 9)
    two = on_a_ring(hassenstein_reichardt(Gamma(0.02), (GammaSlope(0.02),)), x, 0, 1)
    assert_allclose(on_a_ring(shared_non_delay(), x, -1, 1), two, atol=1e-12)


def test_t4_and_t5_less_those_of_the_other_direction_are_the_whole_detector(make_movie):
    x = make_movie(60, 9)
    halves = [make()(x, DT, direction=(0.0, 180.0)) for make in (shared_non_delay_t4, shared_non_delay_t5)]
    assert min(half.min() for half in halves) >= 0
    assert_allclose(sum(half[:, :, 0] - half[:, :, 1] for half in halves), shared_non_delay()(x, DT), atol=1e-12)


def test_t5_is_t4_of_inverted_contrast(make_movie):
    x = make_movie(60, 9)
    assert_allclose(shared_non_delay_t5()(x, DT), shared_non_delay_t4()(-x, DT), atol=1e-15)


def test_products_of_the_same_polarity_are_half_of_those_of_signals_and_of_magnitudes(make_movie):
    """(a - b)(c - d) + (a + b)(c + d) = 2 (ac + bd)."""
    x = make_movie(60, 9)
    whole, magnitudes = (hassenstein_reichardt()(movie, DT) for movie in (x, np.abs(x)))
    same, on, off = (hassenstein_reichardt(quadrants=q)(x, DT) for q in ("same", "on", "off"))
    assert_allclose(same, (whole + magnitudes) / 2, atol=1e-12)
    assert_allclose(on + off, same, atol=1e-14)
    assert_allclose(off, hassenstein_reichardt(quadrants="on")(-x, DT), atol=1e-14)


def test_opponent_energy_is_that_of_both_directions_subtracted(make_movie):
    x = make_movie(60, 9)
    energy = motion_energy(opponent=False)(x, DT, direction=(0.0, 180.0))
    assert energy.min() >= 0
    assert_allclose(motion_energy()(x, DT), energy[:, :, 0] - energy[:, :, 1], atol=1e-12)


# Gratings: closed forms

gratings = pytest.mark.parametrize(
    ("frequency", "wavelength"), [(1.0, 6.0), (-1.0, 6.0), (4.0, 9.0), (2.5, 1.7), (0.5, 2.0)]
)


@gratings
@pytest.mark.parametrize(
    ("delayed", "fast"),
    [(LowPass(0.15), ()), (LowPass(0.05), (HighPass(0.25),)), (Delay(0.06), ()), (Gamma(0.02), (GammaSlope(0.02),))],
    ids=str,
)
def test_reichardt_detector_of_a_grating(make_sine, frequency, wavelength, delayed, fast):
    responses = hassenstein_reichardt(delayed, fast)(make_sine(frequency, wavelength, 4), DT)[-100:]
    A, B = transfer((delayed,), frequency, DT), transfer(fast, frequency, DT)
    expected = 0.25 * np.sin(2 * np.pi / wavelength) * (B * A.conj()).imag
    assert_allclose(responses, expected, rtol=1e-12, atol=1e-14)


def gabor_sums(wavelength, sigma=1.5, period=6.0):
    """Even and odd sums over the row of pixels of a grating."""
    j = np.arange(-3, 4)
    w = np.exp(-((j / sigma) ** 2) / 2 + 2j * np.pi * j / period)
    w /= np.linalg.norm(w)
    k = 2 * np.pi * j / wavelength
    return (w.real * np.cos(k)).sum(), (w.imag * np.sin(k)).sum()


@gratings
def test_motion_energy_of_a_grating(make_sine, frequency, wavelength):
    detectors = motion_energy(), motion_energy(opponent=False)
    opponent, energy = (d(make_sine(frequency, wavelength, 8), DT)[-200:] for d in detectors)
    S, F = (transfer(detectors[0].arms[name], frequency, DT) for name in ("slow", "fast"))
    even, odd = gabor_sums(wavelength)
    opposed = -4 * even * odd * (S * F.conj()).imag
    assert_allclose(opponent, 0.25 * opposed, rtol=1e-12, atol=1e-14)
    mean = 0.125 * ((even**2 + odd**2) * (abs(S) ** 2 + abs(F) ** 2) + opposed)
    assert_allclose(energy.mean(axis=0), mean, rtol=1e-12)


@pytest.mark.parametrize(("name", "n"), [("fast", 3), ("slow", 5)])
def test_filters_of_motion_energy_are_minus_those_of_adelson_and_bergen(name, n):
    f, tau, dt = np.fft.rfftfreq(2**15, 1e-4), 0.08, 1e-4
    s = np.arange(2**15) * dt / tau
    h = s**n * np.exp(-s) * (1 / math.factorial(n) - s**2 / math.factorial(n + 2)) * dt / tau
    found = -np.fft.irfft(transfer(motion_energy().arms[name], f, dt), 2**15)
    assert_allclose(found, h, atol=0.01 * h.max())


@gratings
def test_squared_linear_unit_of_a_grating(make_sine, frequency, wavelength):
    mean = linear_nonlinear(nonlinearity="squared")(make_sine(frequency, wavelength, 3), DT)[-200:].mean()
    low, high = (transfer((step(0.15),), frequency, DT) for step in (Gamma, GammaSlope))
    e = np.exp(2j * np.pi / wavelength)
    assert_allclose(mean, 0.125 * abs(low * e + high - low / e) ** 2, rtol=1e-12)


def test_half_wave_and_squared_units_are_of_one_sum(make_movie):
    x = make_movie(60, 9)
    half, mirrored = (linear_nonlinear(w)(x, DT) for w in ((1.0, 1.0, -1.0), (-1.0, -1.0, 1.0)))
    assert_allclose((half - mirrored) ** 2, linear_nonlinear(nonlinearity="squared")(x, DT), atol=1e-12)


@pytest.mark.parametrize(
    ("wavelength", "sign"), [(60.0, 1), (10.5, 1), (9.5, -1), (5.5, -1), (4.5, 1)], ids=lambda value: f"{value:g}"
)
def test_reichardt_detector_inverts_below_two_spacings(make_sine, wavelength, sign):
    assert np.sign(hassenstein_reichardt()(make_sine(1.0, wavelength / 5.0, 2), DT)[-100:].mean()) == sign


@pytest.mark.parametrize(
    ("detector", "best"),
    [
        (hassenstein_reichardt(LowPass(0.15)), 1 / (2 * math.pi * 0.15)),
        (three_pixel(LowPass(0.15)), 1 / (2 * math.pi * 0.15)),
        (hassenstein_reichardt(Delay(0.15)), 1 / (4 * 0.15)),
        (motion_energy(), math.sqrt((math.sqrt(2737) - 47) / 22) / (2 * math.pi * 0.08)),
    ],
    ids=["low-pass", "three-pixel", "delay", "energy"],
)
def test_best_temporal_frequency(detector, best):
    """1.06 Hz for a low-pass of 150 ms; whole periods of the grating, once the response has settled."""
    dt = 1e-3

    def mean(frequency):
        t = np.arange(round(5.0 / dt)) * dt
        n = round(2 / frequency / dt)
        x = np.cos(2 * np.pi * (frequency * t[:, None] - np.arange(len(detector.displacements)) / 6))
        return detector(x, dt)[-n:].mean()

    assert mean(best) > max(mean(0.99 * best), mean(1.01 * best))


# Published figures of the conductance model


@pytest.fixture(scope="module")
def measure_conductance():
    """Mean response to gratings of 45 degrees over 8 phases after 2.5 s, in the published setting."""
    eye = Line(3, acceptance_sigma(5.7, 5.0))

    def measure(temporal_frequency, direction=0.0, contrast=0.5):
        phases = 2 * np.pi * np.arange(8) / 8
        movies = [
            drifting_grating(
                wavelength=45.0,
                temporal_frequency=temporal_frequency,
                direction=direction,
                contrast=contrast,
                phase=phase,
                duration=6.5,
            ).movie(eye, 1 / 240, spacing=5.0)
            for phase in phases
        ]
        return conductance()(np.array(movies), 1 / 240, eye=eye)[:, 600:].mean()

    return measure


@pytest.mark.parametrize(("frequency", "dsi"), [(0.5, 1.0), (1.0, 1.0), (2.0, 1.0), (4.0, 0.69), (8.0, 0.32)])
def test_direction_selectivity_of_zavatone_veth(measure_conductance, frequency, dsi):
    preferred, null = (measure_conductance(frequency, direction) for direction in (0.0, 180.0))
    assert_allclose((preferred - null) / (preferred + null), dsi, rtol=0.02)


def test_response_of_zavatone_veth_peaks_at_1_hz(measure_conductance):
    responses = [measure_conductance(f) for f in (0.5, 1.0, 2.0, 4.0)]
    assert np.argmax(responses) == 1
    assert_allclose(responses[1], 37.9, rtol=0.02)
    assert_allclose(measure_conductance(1.0, 180.0), 0.0, atol=5e-4)


def test_response_of_zavatone_veth_grows_less_than_with_squared_contrast(measure_conductance):
    relative = [measure_conductance(1.0, contrast=c) / c**2 for c in (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)]
    assert relative == sorted(relative, reverse=True)
    assert_allclose([relative[0], relative[-1]], [227, 104], rtol=0.02)
