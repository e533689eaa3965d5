"""Early vision: scikit-learn's own checks, what whitening and normalisation promise, and pairs treated alike."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from flymotion.frames import FramePairs
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening

TRANSFORMERS = [ZCAWhitening, ContrastNormalization]

each_transformer = pytest.mark.parametrize("Transformer", TRANSFORMERS)


@parametrize_with_checks([Transformer() for Transformer in TRANSFORMERS])
def test_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.fixture
def make_pairs():
    """Pairs of correlated frames, not centred, of contrast that differs from pair to pair."""

    def make(n_pairs=80, pixels=(6,), *, seed=0, dtype=np.float64):
        rng = np.random.default_rng(seed)
        n = int(np.prod(pixels))
        frames = rng.normal(size=(2, n_pairs, n)) @ rng.normal(size=(n, n)) * rng.uniform(0.1, 3, (n_pairs, 1)) + 2
        return FramePairs(*frames.reshape(2, n_pairs, *pixels).astype(dtype), motion=rng.normal(size=(n_pairs, 2)))

    return make


def covariance(frames):
    return np.cov(frames.T, bias=True)


# Whitening


def test_whitened_frames_have_unit_covariance(make_pairs):
    X = make_pairs(500).before
    assert_allclose(covariance(ZCAWhitening(0.0).fit_transform(X)), np.eye(6), atol=1e-9)


def test_whitening_is_symmetric_and_the_nearest_to_the_frames(make_pairs):
    """Kessy, Lewin & Strimmer 2018: of all whitenings ZCA has the largest total covariance with the data."""
    X = make_pairs(500).before
    whitening = ZCAWhitening(0.0).fit(X)
    Z, C = whitening.matrix_, covariance(X)
    assert_allclose(Z, Z.T, atol=1e-12)
    turns = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 6, 6)))[0]
    assert np.trace(Z @ C) > np.trace(turns @ Z @ C, axis1=1, axis2=2).max()


def test_regularization_damps_by_the_mean_variance(make_pairs):
    X = make_pairs(500).before
    values = np.linalg.eigvalsh(covariance(X))
    seen = np.linalg.eigvalsh(covariance(ZCAWhitening(0.1).fit_transform(X)))
    assert_allclose(np.sort(seen), np.sort(values / (values + 0.1 * values.mean())), rtol=1e-9)


def test_fewer_frames_than_pixels_are_white_where_they_vary():
    """B08: four frames of nine pixels span three directions; the others become 0."""
    X = np.random.default_rng(0).normal(size=(4, 9))
    white = ZCAWhitening(0.0).fit_transform(X)
    assert_allclose(np.linalg.eigvalsh(covariance(white)), [0] * 6 + [1] * 3, atol=1e-9)


def test_a_constant_pixel_becomes_zero(make_pairs):
    X = make_pairs().before
    X[:, 2] = 7.0
    white = ZCAWhitening().fit_transform(X)
    assert np.isfinite(white).all()
    assert_allclose(white[:, 2], 0, atol=1e-12)


@pytest.mark.parametrize("regularization", [0.0, 1e-4])
@pytest.mark.parametrize(
    "X", [np.zeros((10, 5)), np.full((10, 5), 0.1), np.full((9999, 3), 0.1, np.float32), np.arange(5.0)[None]]
)
def test_frames_without_variance_become_zero(X, regularization):
    assert_array_equal(ZCAWhitening(regularization).fit_transform(X), np.zeros_like(X))


def test_transposed_frames_are_refused(make_pairs):
    X = make_pairs().before
    with pytest.raises(ValueError, match="80 features, but ZCAWhitening is expecting 6 features"):
        ZCAWhitening().fit(X).transform(X.T)


# Contrast


def test_every_pair_has_unit_contrast_without_saturation(make_pairs):
    pairs = ContrastNormalization(0.0).fit_transform(make_pairs())
    assert_allclose(np.mean([pairs.before**2, pairs.after**2], axis=(0, 2)), 1)


def test_response_to_contrast_is_half_at_half_saturation():
    """Naka and Rushton's curve of exponent 2: the energy of the response is half its maximum there."""
    X = np.full((3, 4), 2.0)
    normalization = ContrastNormalization(0.5).fit(X)
    assert normalization.contrast_ == 2.0
    assert_allclose(normalization.transform(X / 2) ** 2, 0.5)


def test_both_frames_of_a_pair_get_the_same_divisor(make_pairs):
    pairs = make_pairs()
    seen = ContrastNormalization().fit_transform(pairs)
    ratios = np.concatenate([seen.before / pairs.before, seen.after / pairs.after], axis=1)
    assert_allclose(ratios, np.broadcast_to(ratios[:, :1], ratios.shape))


def test_still_black_frames_stay_black():
    assert_array_equal(ContrastNormalization(0.0).fit_transform(np.zeros((4, 3))), np.zeros((4, 3)))


# Both


@each_transformer
@pytest.mark.parametrize("scale", [255.0, 1e-6])
def test_the_unit_of_intensity_does_not_matter(make_pairs, Transformer, scale):
    pairs = make_pairs()
    seen, scaled = (Transformer().fit_transform(pairs.map(lambda x, s=s: x * s)) for s in (1.0, scale))
    assert_allclose(scaled.before, seen.before, rtol=1e-9, atol=1e-12)
    assert_allclose(scaled.after, seen.after, rtol=1e-9, atol=1e-12)


@each_transformer
def test_time_reversal_swaps_the_frames_and_nothing_else(make_pairs, Transformer):
    pairs = make_pairs()
    transformer = Transformer().fit(pairs)
    forth, back = transformer.transform(pairs), transformer.transform(pairs.reversed())
    assert_array_equal(back.before, forth.after)
    assert_array_equal(back.after, forth.before)


@each_transformer
def test_pairs_keep_their_shape_and_motion(make_pairs, Transformer):
    pairs = make_pairs(pixels=(2, 3))
    seen = Transformer().fit_transform(pairs)
    flat = Transformer().fit_transform(pairs.flat())
    assert seen.pixels == (2, 3)
    assert_array_equal(seen.motion, pairs.motion)
    assert_array_equal(seen.flat().after, flat.after)


@each_transformer
def test_pairs_are_fitted_on_their_first_frames(make_pairs, Transformer):
    pairs = make_pairs()
    frames = Transformer().fit(pairs.before).transform(pairs.before)
    still = FramePairs(pairs.before, pairs.before)
    assert_allclose(Transformer().fit(pairs).transform(still).before, frames, rtol=1e-12)


@each_transformer
def test_the_given_frames_are_never_changed(make_pairs, Transformer):
    pairs = make_pairs()
    before, after = pairs.before.copy(), pairs.after.copy()
    for frames in (pairs.before, pairs.after):
        frames.flags.writeable = False
    transformer = Transformer().fit(pairs)
    transformer.transform(pairs)
    transformer.transform(pairs.before)
    assert_array_equal(pairs.before, before)
    assert_array_equal(pairs.after, after)


@each_transformer
def test_single_precision_stays_and_agrees(make_pairs, Transformer):
    single, double = (Transformer().fit_transform(make_pairs(dtype=t)) for t in (np.float32, np.float64))
    assert single.before.dtype == single.after.dtype == np.float32
    assert_allclose(single.after, double.after, rtol=1e-3, atol=1e-3)


@each_transformer
def test_integers_are_frames_like_any_other(Transformer):
    X = np.random.default_rng(0).integers(0, 256, (50, 5), dtype=np.uint8)
    assert_array_equal(Transformer().fit_transform(X), Transformer().fit_transform(X.astype(float)))


@pytest.mark.parametrize("value", [-1e-9, np.nan, np.inf])
@pytest.mark.parametrize("Transformer, name", [*zip(TRANSFORMERS, ["regularization", "half_saturation"], strict=True)])
def test_a_negative_or_infinite_parameter_is_refused(make_pairs, Transformer, name, value):
    with pytest.raises(ValueError, match=f"{name} is .*; expected 0 or more"):
        Transformer(value).fit(make_pairs())
