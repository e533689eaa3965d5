"""Stages before the detector: noise, logarithm, Weber contrast, divisive normalisation, ON and OFF, and all of them."""

import math
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from flymotion.detectors import hassenstein_reichardt
from flymotion.detectors.temporal import LowPass
from flymotion.frames import FramePairs, pair_up
from flymotion.photoreceptors import DivisiveNormalization, LogIntensity, OnOff, SensorNoise, WeberContrast
from flymotion.stimuli import drifting_grating
from flymotion.tuning import tune
from flymotion.world.eyes import Grid, Hexagon, Line, Sphere

each_noisy = pytest.mark.parametrize("kind", ["gaussian", "photon"])


@pytest.fixture
def make_movie():
    """Frames of log-normal intensities."""
    return lambda n_frames=40, n=6, seed=0: np.exp(np.random.default_rng(seed).normal(size=(n_frames, n)))


@pytest.mark.parametrize(
    "stage, reason",
    [
        (SensorNoise(-0.1), "level is -0.1; expected 0 or more"),
        (SensorNoise(np.nan), "level is nan"),
        (SensorNoise(kind="thermal"), "kind is 'thermal'; expected 'gaussian' or 'photon'"),
        (DivisiveNormalization(-0.1), "half_saturation is -0.1; expected 0 or more"),
        (DivisiveNormalization(np.inf), "half_saturation is inf; expected 0 or more, finite"),
        (DivisiveNormalization(pool=2.0), "pool is 2.0 and eye None"),
        (DivisiveNormalization(pool=0.0, eye=(6,)), "pool is 0.0"),
        (DivisiveNormalization(pool=2.0, eye=(5,)), "frames of 6 pixels, an eye of 5"),
    ],
)
def test_what_makes_no_sense_is_refused(make_movie, stage, reason):
    with pytest.raises(ValueError, match=reason):
        stage.fit(make_movie())


# Noise


def test_gaussian_noise_has_its_level_whatever_the_intensity():
    X = np.repeat([[0.0], [-50.0], [1000.0]], 100_000, axis=1)
    noise = SensorNoise(0.3, random_state=0).fit_transform(X) - X
    assert_allclose(noise.mean(axis=1), 0, atol=0.005)
    assert_allclose(noise.std(axis=1), 0.3, rtol=0.01)
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.015


def test_photon_noise_counts_photons_and_grows_as_the_root_of_intensity():
    X = np.repeat([[0.0], [0.04], [1.0], [9.0]], 100_000, axis=1)
    seen = SensorNoise(0.2, "photon", random_state=0).fit_transform(X)
    photons = seen / 0.2**2
    assert_allclose(photons, photons.round(), atol=1e-9)
    assert_allclose(seen.mean(axis=1), X[:, 0], rtol=0.01)
    assert_allclose(seen.std(axis=1), 0.2 * np.sqrt(X[:, 0]), rtol=0.01)


@each_noisy
def test_noise_goes_on_from_call_to_call(make_movie, kind):
    """However a stream is cut, its noise is that of one call; and the next call's noise is new."""
    movie = make_movie()
    whole, parts = (SensorNoise(0.3, kind, random_state=5).fit(movie) for _ in range(2))
    noisy = whole.transform(movie)
    assert_array_equal(np.concatenate([parts.transform(movie[:13]), parts.transform(movie[13:])]), noisy)
    assert not (whole.transform(movie) == noisy).any(axis=1).all()


def test_both_frames_of_a_pair_get_noise_of_their_own():
    still = FramePairs(np.ones((50_000, 1)), np.ones((50_000, 1)))
    noisy = SensorNoise(0.5, random_state=0).fit_transform(still)
    assert abs(np.corrcoef(noisy.before[:, 0], noisy.after[:, 0])[0, 1]) < 0.02


@each_noisy
def test_pairs_of_a_noisy_movie_share_its_frames(make_movie, kind):
    pairs = pair_up(SensorNoise(0.3, kind).fit_transform(make_movie()))
    assert_array_equal(pairs.after[:-1], pairs.before[1:])


@each_noisy
def test_no_noise_is_the_frames_themselves(make_movie, kind):
    assert_array_equal(SensorNoise(0.0, kind).fit_transform(make_movie()), make_movie())


def test_random_states_of_every_kind_leave_the_global_stream_alone(make_movie):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global stream is what must not move
    for random_state in (0, np.random.default_rng(0), np.random.RandomState(0), None):
        SensorNoise(0.1, random_state=random_state).fit_transform(make_movie())
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002 - as above


def test_light_is_never_negative(make_movie):
    noise = SensorNoise(0.1, "photon").fit(make_movie())
    with pytest.raises(ValueError, match="Negative values in data"):
        noise.transform(-make_movie())


# Logarithm


def test_equal_ratios_are_equal_steps(make_frame_pairs):
    """Weber and Fechner: a change of illumination moves the response, not the differences in it."""
    X = make_frame_pairs().before
    log = LogIntensity(1e-6).fit(X)
    assert_allclose(log.transform(3.0 * X) - log.transform(X), math.log(3.0), rtol=1e-12)


def test_the_response_is_0_at_the_floor_and_below():
    log = LogIntensity(0.25).fit([[1.0, 3.0]])
    assert log.floor_ == 0.5
    assert_allclose(log.transform([[-7.0, 0.0], [0.5, 0.5 * math.e]]), [[0.0, 0.0], [0.0, 1.0]], rtol=1e-15)


def test_black_frames_stay_black():
    assert_array_equal(LogIntensity().fit_transform(np.zeros((4, 3))), np.zeros((4, 3)))


@pytest.mark.parametrize("floor", [0.0, -1e-9, math.nan, math.inf])
def test_a_floor_that_is_not_positive_is_refused(make_frame_pairs, floor):
    with pytest.raises(ValueError, match=r"floor is .*; expected more than 0"):
        LogIntensity(floor).fit(make_frame_pairs())


# Weber contrast


def test_contrast_is_relative_to_one_mean(make_movie):
    movie = make_movie()
    weber = WeberContrast().fit(movie)
    contrast = weber.transform(movie)
    assert_allclose(contrast.mean(), 0, atol=1e-12)
    assert_allclose(contrast, movie / movie.mean() - 1, rtol=1e-12, atol=1e-12)
    assert_array_equal(weber.transform(np.zeros((1, 6))), np.full((1, 6), -1.0))


@pytest.mark.parametrize("scale", [255.0, 1e-6])
def test_the_unit_of_intensity_does_not_matter(make_movie, scale):
    assert_allclose(WeberContrast().fit_transform(scale * make_movie()), WeberContrast().fit_transform(make_movie()))


@pytest.mark.parametrize("X, reason", [(np.zeros((2, 3)), "frames are black"), ([[1.0, -1.0]], "Negative values")])
def test_what_is_no_intensity_has_no_weber_contrast(X, reason):
    with pytest.raises(ValueError, match=reason):
        WeberContrast().fit(X)


def test_noise_may_make_intensities_negative_after_fitting():
    weber = WeberContrast().fit([[2.0, 2.0]])
    assert_array_equal(weber.transform([[-2.0, 3.0]]), [[-2.0, 0.5]])


# Divisive normalisation


def test_energy_follows_naka_and_rushton():
    """Uniform contrast c: energy c^2 / (c^2 + c50^2), half at the half-saturation; signs stay."""
    contrasts = np.array([0.01, 0.25, 1.0, 40.0])
    X = contrasts[:, None] * [1.0, -1.0, -1.0, 1.0]
    seen = DivisiveNormalization(0.25).fit_transform(X)
    assert_allclose(seen**2, np.repeat(contrasts**2 / (contrasts**2 + 0.25**2), 4).reshape(4, 4), rtol=1e-14)
    assert_allclose(seen[1] ** 2, 0.5)
    assert_array_equal(np.sign(seen), np.sign(X))


def test_divisor_is_the_literal_sum_over_pixels(make_movie):
    """Heeger 1992, with Gaussian weights, as loops."""
    X, c50, width = make_movie(5, 6), 0.3, 1.2
    seen = DivisiveNormalization(c50, width, Grid(2, 3)).fit_transform(X)
    for f, i in np.ndindex(5, 6):
        weights = np.array(
            [np.exp(-((i // 3 - j // 3) ** 2 + (i % 3 - j % 3) ** 2) / (2 * width**2)) for j in range(6)]
        )
        pooled = sum(weights[j] * X[f, j] ** 2 for j in range(6)) / sum(weights)
        assert_allclose(seen[f, i], X[f, i] / np.sqrt(c50**2 + pooled), rtol=1e-12)


def test_a_wide_pool_is_global_and_a_narrow_one_is_each_pixel_alone(make_movie):
    X, eye = make_movie(n=7), Hexagon(1)
    wide, narrow = (DivisiveNormalization(0.3, pool, eye).fit_transform(X) for pool in (1e7, 0.05))
    assert_allclose(wide, DivisiveNormalization(0.3).fit_transform(X), rtol=1e-12)
    assert_allclose(narrow, X / np.sqrt(0.3**2 + X**2), rtol=1e-12)


def test_pool_of_a_spherical_eye_is_in_degrees():
    eye = Sphere([[1, 0, 0], [0, 1, 0], [-1, 0, 0]])
    weights = DivisiveNormalization(pool=90.0, eye=eye).fit(np.ones((1, 3))).weights_
    ratios = np.exp([0, -0.5, -2.0])
    assert_allclose(weights[0], ratios / ratios.sum(), rtol=1e-12)


def test_contrast_far_away_does_not_matter_to_a_local_pool():
    X = np.ones((2, 40))
    X[1, 30:] = 100.0
    local, all_over = (DivisiveNormalization(0.1, pool, Line(40)).fit_transform(X) for pool in (2.0, None))
    assert_allclose(local[1, :10], local[0, :10], rtol=1e-12)
    assert (all_over[1, :10] < 0.1 * all_over[0, :10]).all()


def test_half_saturation_is_in_units_of_contrast(make_movie):
    """Unlike ContrastNormalization's: whatever was fitted on, only contrast over half-saturation counts."""
    X = make_movie()
    fitted = DivisiveNormalization(0.3).fit(1e3 * X)
    assert_allclose(DivisiveNormalization(3.0).fit(X).transform(10 * X), fitted.transform(X), rtol=1e-12)


@pytest.mark.parametrize("pool", [None, 1.0])
def test_grey_frames_stay_grey_without_half_saturation(pool):
    assert_array_equal(DivisiveNormalization(0.0, pool, (3,)).fit_transform(np.zeros((4, 3))), np.zeros((4, 3)))


# ON and OFF


def test_on_less_off_is_the_frame_and_only_one_of_them_responds(make_movie):
    X = np.log(make_movie())
    on, off = np.split(OnOff().fit_transform(X), 2, axis=1)
    assert_array_equal(on - off, X)
    assert_array_equal(on * off, np.zeros_like(X))
    assert min(on.min(), off.min()) == 0


def test_opposite_contrast_swaps_on_and_off(make_movie):
    X = np.log(make_movie())
    stage = OnOff().fit(X)
    assert_array_equal(stage.transform(-X), np.roll(stage.transform(X), 6, axis=1))


def test_pairs_come_back_flat_with_twice_the_pixels(make_frame_pairs):
    seen = OnOff().fit_transform(make_frame_pairs())
    assert seen.pixels == (12,)


def test_pixels_have_names():
    stage = OnOff().fit(np.ones((1, 2)))
    assert stage.get_feature_names_out().tolist() == ["x0_on", "x1_on", "x0_off", "x1_off"]
    assert stage.set_output(transform="default").transform([[1.0, -1.0]]).shape == (1, 4)


# Composition


def test_a_pipeline_is_its_stages_one_after_the_other(make_frame_pairs):
    pairs = make_frame_pairs()
    composed = make_pipeline(LogIntensity(1e-3), DivisiveNormalization(0.5), OnOff()).fit(pairs)
    by_hand = pairs
    for stage in (LogIntensity(1e-3), DivisiveNormalization(0.5), OnOff()):
        by_hand = stage.fit(by_hand).transform(by_hand)
    assert_array_equal(composed.transform(pairs).after, by_hand.after)
    assert_array_equal(composed.transform(pairs.flat().after), by_hand.after)


def test_brightness_does_not_reach_on_and_off_through_weber_contrast(make_movie):
    movie = make_movie()
    stages = make_pipeline(WeberContrast(), DivisiveNormalization(0.5, 1.5, (6,)), OnOff())
    assert_allclose(clone(stages).fit_transform(1e4 * movie), clone(stages).fit_transform(movie), atol=1e-12)


def test_detectors_contrast_response_saturates_at_the_half_saturation():
    """A correlator squares contrast: behind the normalisation, c^2 / (c^2 / 2 + c50^2), of a whole wavelength's frame.

    The mean square of a sine of contrast c is c^2 / 2, the same in every frame, so half the maximum is at sqrt(2) c50.
    """
    c50, contrasts = 0.2, np.array([0.02, 0.1, 0.2 * np.sqrt(2), 1.0, 50.0])
    eye, grating = Line(8, sigma=0.0), partial(drifting_grating, wavelength=40.0, duration=1.5)
    measure = partial(tune, hassenstein_reichardt(), grating, {"contrast": contrasts}, dt=0.01, eye=eye, repeats=2)
    stages = make_pipeline(DivisiveNormalization(c50)).fit(np.ones((1, 8)))
    plain, normalised = measure().response.values, measure(early_vision=stages).response.values
    assert_allclose(plain / plain[3], contrasts**2, rtol=1e-10)
    assert_allclose(normalised / plain[3], contrasts**2 / (contrasts**2 / 2 + c50**2), rtol=1e-10)
    assert_allclose(normalised[2] / (2 * plain[3]), 0.5, rtol=1e-10)


def test_detector_sees_contrast_through_weber_and_noise_averages_out():
    eye, grating = Line(8, sigma=0.0), partial(drifting_grating, wavelength=40.0, duration=3.0)
    measure = partial(tune, hassenstein_reichardt(LowPass(0.05)), dt=0.01, eye=eye, repeats=4)
    plain = measure(grating, {"contrast": [0.5]}).response.values
    bright = partial(luminous, grating, 80.0)
    weber = WeberContrast().fit(np.full((1, 8), 80.0))
    noise = SensorNoise(0.2, random_state=0).fit(np.zeros((1, 8)))
    assert_allclose(measure(bright, {"contrast": [0.5]}, early_vision=weber).response.values, plain, rtol=1e-9)
    noisy = measure(bright, {"contrast": [0.5]}, early_vision=make_pipeline(weber, noise)).response.values
    assert_allclose(noisy, plain, rtol=0.15)
    assert (noisy != plain).all()


def luminous(stimulus, luminance, *, contrast=0.5, phase=None):
    """A stimulus of that contrast in light of that luminance."""
    return stimulus(contrast=luminance * contrast, phase=phase).about(luminance)
