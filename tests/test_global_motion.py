"""What was found in the summed motion signal: contrast, oscillations and velocity (C17, C18, C19)."""

import io
import math
from dataclasses import fields, replace

import numpy as np
import pytest

from flymotion.claims import global_motion
from flymotion.claims.global_motion import DT, FILTERS, NAMES, TAU, Config, peak_velocities, slopes
from flymotion.plots.global_motion import draw_contrast_response, draw_oscillations, draw_velocity_tuning
from flymotion.world.eyes import acceptance_sigma

SMALL = Config(n_seeds=1, n_pairs=50_000, wavelengths=(20.0, 30.0, 40.0), speeds=(6.0, 120.0, 20))
ZIGZAG = 1 + 0.1 * (-1.0) ** np.arange(20)


@pytest.fixture(scope="module")
def result():
    return global_motion.run(SMALL)


@pytest.fixture
def changed(result):
    """Return the result with one array of the three-pixel detector changed."""

    def change(field, how):
        measured = result.measured["three-pixel"]
        wrong = measured._replace(**{field: how(getattr(measured, field))})
        return replace(result, measured=result.measured | {"three-pixel": wrong})

    return change


def failing(result):
    return {row.id for row in global_motion.check(result) if row.holds is False}


def test_claims_hold(result):
    rows = global_motion.check(result)
    assert failing(result) == set()
    assert {row.id.partition(".")[0] for row in rows} == {"C17", "C18", "C19"}
    assert len({row.id for row in rows}) == len(rows)
    assert all(np.isfinite(row.value) for row in rows)
    assert {row.seeds for row in rows} == {0, 1}


@pytest.mark.parametrize(
    ("field", "how", "ids"),
    [
        ("contrast", lambda x: np.abs(x) ** 1.5, {"C17.three_pixel", "C17.three_pixel_low"}),
        ("contrast", lambda x: x[:, [0, 0]], {"C17.three_pixel_high"}),
        ("oscillation", lambda x: 1.02 * x, {"C18.three_pixel"}),
        ("summed", lambda x: x + 1e-9, {"C18.three_pixel_sum"}),
        ("velocity", lambda x: x * ZIGZAG[:, None], {"C19.three_pixel_rise"}),
        ("velocity", lambda x: np.roll(x, 2, axis=-2), {"C19.three_pixel_delay", "C19.three_pixel_low_pass"}),
    ],
    ids=["cubic", "no saturation", "amplitude", "sum", "up and down", "faster"],
)
def test_what_is_wrong_fails(changed, field, how, ids):
    assert ids <= failing(changed(field, how))


def test_quick_has_only_fewer_seeds():
    full, quick = Config(), Config.quick()
    assert {f.name for f in fields(full) if getattr(full, f.name) != getattr(quick, f.name)} == {"n_seeds"}
    assert len(global_motion.jobs(quick)) == 2 + 2 * quick.n_seeds < len(global_motion.jobs(full))


def test_jobs_travel_to_other_processes(pickled, result):
    job = pickled(global_motion.jobs(SMALL)[0])
    np.testing.assert_array_equal(job().velocity, result.measured["three-pixel"].velocity[0])


# -- closed forms ----------------------------------------------------------------------------------------------------


@pytest.fixture
def seen():
    """Contrast of a grating behind the optics of the detectors."""
    blur = acceptance_sigma(5.7) * 2 * math.pi / SMALL.wavelength
    return SMALL.contrast * math.exp(-(blur**2) / 2)


def test_summed_output_is_that_of_two_sines(result, seen):
    """HRD and three-pixel detector have the same mean, c^2 sin(k) sin(omega tau)."""
    k, omega = 2 * math.pi * 5.0 / SMALL.wavelength, 2 * math.pi * SMALL.frequencies[0]
    for name in ("three-pixel", "hrd"):
        mean = result.measured[name].course[0, 2]
        np.testing.assert_allclose(mean, seen**2 * math.sin(k) * math.sin(omega * TAU), rtol=1e-12)


def test_one_hrd_oscillates_at_f_by_as_much_as_its_mean_luminance_says(result, seen):
    """Amplitude over mean is 4 m sin(omega tau / 2) sin(k / 2) / (c sin k sin(omega tau))."""
    k, half = 2 * math.pi * 5.0 / SMALL.wavelength, math.pi * np.array(SMALL.frequencies) * TAU
    expected = 4 * np.sin(half) * math.sin(k / 2) / (seen * math.sin(k) * np.sin(2 * half))
    np.testing.assert_allclose(result.measured["hrd"].luminance[0, 0, :, 0], expected, rtol=1e-10)


def test_normalisation_divides_by_the_power_of_the_pool(result, seen):
    """The output, of two signals, is divided by c50^2 + c^2 / 2, c as seen."""
    plain, normalised = result.measured["hrd"].contrast[0, ..., 0]
    c = np.array(SMALL.contrasts) * seen / SMALL.contrast
    np.testing.assert_allclose(normalised, plain / (SMALL.half_saturation**2 + c**2 / 2), rtol=1e-10)


def test_normalised_slopes_fall_as_the_closed_form_does(result):
    falling = slopes(SMALL, result.measured["L1"])[0, 1]
    assert (np.diff(falling) < 0).all()


def test_learned_patches_oscillate_less_than_their_rows(result):
    """An antisymmetric x'Ax does not oscillate, as an HRD does not; one pixel's change times intensities does."""
    for name in ("L1", "L2"):
        patch, row = result.measured[name].oscillation[0].T
        assert (patch < 0.2 * row).all()


def test_the_midpoint_feature_oscillates_alike_at_all_frequencies(result):
    """Change and midpoint are in quadrature whatever the delay, so the ratio does not depend on it."""
    amplitudes = result.measured["L2"].oscillation[0]
    np.testing.assert_allclose(amplitudes, np.broadcast_to(amplitudes[:1], amplitudes.shape), rtol=1e-9)


def test_peaks_of_known_curves_are_found(result):
    v, lengths = SMALL.velocities, np.array(SMALL.wavelengths)[:, None]
    omega_tau = 2 * math.pi * v / lengths * TAU
    curves = np.stack([np.sin(omega_tau), omega_tau / (1 + omega_tau**2)])[None, ..., None]
    peaks = peak_velocities(SMALL, result.measured["hrd"]._replace(velocity=curves))
    expected = [peak * lengths[:, 0] for _, _, peak in FILTERS.values()]
    np.testing.assert_allclose(peaks[0], expected, rtol=1e-3)


# -- figures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "n_panels"), [(draw_contrast_response, 1), (draw_oscillations, len(NAMES)), (draw_velocity_tuning, 3)]
)
def test_figures_have_labelled_panels(result, draw, n_panels):
    figure = draw(result)
    figure.savefig(io.BytesIO(), dpi=40)
    assert len(figure.axes) == n_panels
    assert all(axes.get_ylabel() and axes.lines for axes in figure.axes)


def test_oscillations_are_drawn_in_seconds(result):
    axes = draw_oscillations(result).axes[0]
    assert axes.lines[0].get_xdata()[-1] == pytest.approx(2 / SMALL.frequencies[0] - DT)
