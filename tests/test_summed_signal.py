"""What was found in the summed motion signal: contrast, oscillations and velocity (C17, C18, C19)."""

import io
import math

import numpy as np
import pytest

from flymotion.claims import summed_signal
from flymotion.claims.nulls import NULLS
from flymotion.claims.running import run
from flymotion.claims.summed_signal import QUICK, Config
from flymotion.claims.summed_signal.contrast_response import local_contrasts, slopes
from flymotion.claims.summed_signal.lookers import DT, FILTERS, NAMES, TAU, look
from flymotion.claims.summed_signal.velocity_tuning import peak_velocities
from flymotion.detectors.temporal import Delay
from flymotion.world.eyes import acceptance_sigma

SMALL = Config(n_seeds=1, n_pairs=50_000, wavelengths=(20.0, 30.0, 40.0, 80.0), speeds=(8.0, 200.0, 20))
ZIGZAG = 1 + 0.1 * (-1.0) ** np.arange(20)


@pytest.fixture(scope="module")
def found():
    return run(summed_signal.work(SMALL))


@pytest.fixture
def changed(found):
    """Return what was found with one part of what the three-pixel detector does changed."""

    def change(part, how):
        measured = found["three-pixel"]
        return dict(found) | {"three-pixel": measured | {part: how(measured[part])}}

    return change


def photographs_fail(found):
    """Return what fails of normalisation by a constant that photographs fix."""
    return {
        f"C17.{name.replace('-', '_')}_high{what}"
        for name in NAMES
        for what in ("_rms", "_rms_photographs", "_photographs")
    }


def with_waves(oscillations, **wrong):
    return oscillations._replace(waves=oscillations.waves._replace(**wrong))


def failing(found):
    return {row.id for row in summed_signal.check(found, SMALL) if row.holds is False}


def test_claims_hold_but_for_saturation_by_what_photographs_fix(found):
    """Gratings saturate by the median local contrast, and not by its root mean square; photographs by neither."""
    rows = list(summed_signal.check(found, SMALL))
    learned = {f"C17.{world}_high_photographs" for world in ("L1", "L2")}  # on either side of the bound
    assert failing(found) | learned == photographs_fail(found)
    assert {row.id.partition(".")[0] for row in rows} == set(summed_signal.CLAIMS)
    assert len({row.id for row in rows}) == len(rows)
    assert all(np.isfinite(row.value) for row in rows)


def test_nothing_is_random_but_what_was_learned(found):
    seeds = {name: {row.seeds for row in summed_signal.check({name: found[name]}, SMALL)} for name in found}
    assert seeds == {"three-pixel": {0}, "hrd": {0}, "L1": {1}, "L2": {1}, "reconstruction": {1}}


@pytest.mark.parametrize(
    ("part", "how", "ids"),
    [
        ("contrast_response", lambda x: x._replace(grating=np.abs(x.grating) ** 1.5), {"C17.three_pixel"}),
        ("contrast_response", lambda x: x._replace(grating=x.grating[:, [0, 0, 0]]), {"C17.three_pixel_high"}),
        ("oscillations", lambda x: with_waves(x, amplitude=1.02 * x.waves.amplitude), {"C18.three_pixel"}),
        ("oscillations", lambda x: with_waves(x, summed=x.waves.summed + 1e-9), {"C18.three_pixel_sum"}),
        ("velocity_tuning", lambda x: x * ZIGZAG[:, None], {"C19.three_pixel_rise"}),
        ("velocity_tuning", lambda x: np.roll(x, 2, axis=-2), {"C19.three_pixel_delay", "C19.three_pixel_low_pass"}),
    ],
    ids=["cubic", "no saturation", "amplitude", "sum", "up and down", "faster"],
)
def test_what_is_wrong_fails(changed, part, how, ids):
    assert ids <= failing(changed(part, how))


def test_quick_has_only_fewer_seeds_and_those_of_the_literature_have_one():
    assert QUICK == {"n_seeds": 2}
    work = summed_signal.work(Config(**QUICK))
    assert {name: len(pieces) for name, pieces in work.items()} == {"three-pixel": 1, "hrd": 1, "L1": 2, "L2": 2} | {
        "reconstruction": 2
    }


def test_pieces_travel_to_other_processes(pickled, found):
    (piece,) = summed_signal.work(SMALL)["three-pixel"]
    np.testing.assert_array_equal(pickled(piece)()["velocity_tuning"], found["three-pixel"]["velocity_tuning"][0])


# -- closed forms ----------------------------------------------------------------------------------------------------


@pytest.fixture
def seen():
    """Contrast of a grating behind the optics of the detectors."""
    blur = acceptance_sigma(5.7) * 2 * math.pi / SMALL.wavelength
    return SMALL.contrast * math.exp(-(blur**2) / 2)


def test_summed_output_is_that_of_two_sines(found, seen):
    """HRD and three-pixel detector have the same mean, c^2 sin(k) sin(omega tau)."""
    k, omega = 2 * math.pi * 5.0 / SMALL.wavelength, 2 * math.pi * SMALL.frequencies[0]
    for name in ("three-pixel", "hrd"):
        mean = found[name]["oscillations"].course[0, 2]
        np.testing.assert_allclose(mean, seen**2 * math.sin(k) * math.sin(omega * TAU), rtol=1e-12)


def test_one_hrd_oscillates_at_f_by_as_much_as_its_mean_luminance_says(found, seen):
    """Amplitude over mean is 4 m sin(omega tau / 2) sin(k / 2) / (c sin k sin(omega tau))."""
    k, half = 2 * math.pi * 5.0 / SMALL.wavelength, math.pi * np.array(SMALL.frequencies) * TAU
    expected = 4 * np.sin(half) * math.sin(k / 2) / (seen * math.sin(k) * np.sin(2 * half))
    np.testing.assert_allclose(found["hrd"]["oscillations"].waves.at_f[0, :, 0], expected, rtol=1e-10)


def test_normalisation_divides_by_the_power_of_the_pool(found, seen):
    """The output, of two signals, is divided by c50^2 + c^2 / 2, c as seen."""
    measured = found["hrd"]["contrast_response"]
    plain, *normalised = measured.grating[0, ..., 0]
    c = np.array(SMALL.contrasts) * seen / SMALL.contrast
    for constant, curve in zip(measured.constants[0], normalised, strict=True):
        np.testing.assert_allclose(curve, plain / (constant**2 + c**2 / 2), rtol=1e-10)


def test_the_constants_are_the_photographs():
    """Half of all places exceed the median; few places decide the mean square."""
    constants = local_contrasts(16)
    assert constants["median"] == pytest.approx(0.0535, rel=0.01)
    assert constants["rms"] == pytest.approx(0.231, rel=0.01)


def test_normalised_slopes_fall_as_the_closed_form_does(found):
    falling = slopes(SMALL, found["L1"]["contrast_response"].grating)[0, 1, :, 0]
    assert (np.diff(falling) < 0).all()


def test_learned_patches_oscillate_less_than_their_rows(found):
    """An antisymmetric x'Ax does not oscillate, as an HRD does not; one pixel's change times intensities does."""
    for name in ("L1", "L2"):
        patch, row, random, *_ = np.abs(found[name]["oscillations"].waves.amplitude[0].T)
        assert (patch < 0.2 * row).all() and (patch < random).all()


@pytest.mark.parametrize("name", ["L1", "L2"])
def test_oscillations_of_products_are_in_closed_form(found, name):
    r"""Amplitude at 2f over the mean of (g - f)' A (s f + (1 - s) g), by complex amplitudes.

    |(1 - H) S z' A z| / Re[(1 - H) conj(S) z' A conj(z)], with z_j = e^{-ikj}, H = e^{-i omega tau}, S = s H + 1 - s.
    """
    operators = look(SMALL, name, 0).make(Delay(TAU)).combine.keywords["operators"]
    z = np.exp(-1j * 2 * math.pi * 5.0 / SMALL.wavelength * np.arange(SMALL.n))
    H = np.exp(-2j * math.pi * np.array(SMALL.frequencies)[:, None] * TAU)
    share = {"L1": 1.0, "L2": 0.5}[name]
    S = share * H + 1 - share
    expected = np.abs((1 - H) * S * (operators @ z @ z)) / ((1 - H) * S.conj() * (operators @ z.conj() @ z)).real
    np.testing.assert_allclose(found[name]["oscillations"].waves.amplitude[0], expected, rtol=1e-9, atol=1e-12)


def test_reconstruction_does_not_depend_on_contrast_without_noise_and_lambda(found):
    """Else it is quadratic: lambda, or noise, is all that low contrasts are divided by."""
    rows = {row.id: row.value for row in summed_signal.check(found, SMALL)}
    assert rows["C17.reconstruction"] < 1e-10
    for setting in ("noise", "lambda", "only_noise", "large"):
        assert rows[f"C17.reconstruction_{setting}"] == pytest.approx(2, abs=0.01)


def test_nulls_stand_beside_what_is_learned(found):
    rows = {row.id: row for row in summed_signal.check(found, SMALL)}
    for id in ("C17.L1_high_photographs", "C18.L2_patch", "C19.L1_line", "C19.L2_delay", "C19.L1_80"):
        assert all(rows[f"{id}_{null}"].relation == "report" for null in NULLS)
    assert rows["C19.L1_line_random"].value < 0.9 < rows["C19.L1_line_labelled"].value
    assert "; within the bound, too: random filters" in rows["C17.L1"].note
    assert "not within the bound: random filters" in rows["C19.L1_line"].note


def test_the_best_frequency_is_no_inverse_of_the_delay(found):
    rows = {row.id: row.value for row in summed_signal.check(found, SMALL)}
    assert rows["C19.hrd_delay_tau"] == pytest.approx(1 / 4, rel=0.005)
    assert rows["C19.hrd_low_pass_tau"] == pytest.approx(1 / (2 * math.pi), rel=0.005)


def test_the_midpoint_feature_oscillates_alike_at_all_frequencies(found):
    """Change and midpoint are in quadrature whatever the delay, so the ratio does not depend on it."""
    amplitudes = found["L2"]["oscillations"].waves.amplitude[0, :, :2]
    np.testing.assert_allclose(amplitudes, np.broadcast_to(amplitudes[:1], amplitudes.shape), rtol=1e-9)


def test_peaks_of_known_curves_are_found():
    v, lengths = SMALL.velocities, np.array(SMALL.wavelengths)[:, None]
    omega_tau = 2 * math.pi * v / lengths * TAU
    curves = np.stack([np.sin(omega_tau), omega_tau / (1 + omega_tau**2)])[None, ..., None]
    peaks = peak_velocities(SMALL, curves)
    expected = [delay.peak * lengths[:, 0] for delay in FILTERS.values()]
    np.testing.assert_allclose(peaks[0, ..., 0], expected, rtol=1e-3)


# -- figures ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn(found):
    return summed_signal.figures(found, SMALL)


@pytest.mark.parametrize(
    ("name", "n_panels"), [("contrast_response", 2), ("oscillations", len(NAMES)), ("velocity_tuning", 3)]
)
def test_figures_have_labelled_panels(drawn, name, n_panels):
    drawn[name].savefig(io.BytesIO(), dpi=40)
    assert len(drawn[name].axes) == n_panels
    assert all(axes.get_ylabel() and axes.lines for axes in drawn[name].axes)


def test_oscillations_are_drawn_in_seconds(drawn):
    axes = drawn["oscillations"].axes[0]
    assert axes.lines[0].get_xdata()[-1] == pytest.approx(2 / SMALL.frequencies[0] - DT)
