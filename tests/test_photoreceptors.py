"""Early vision: what whitening and normalisation of pairs promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from flymotion.frames import FramePairs
from flymotion.photoreceptors import ContrastNormalization, ZCAWhitening


@pytest.fixture
def make_pairs():
    """Pairs of correlated frames of 6 pixels, not centred, of contrast that differs from pair to pair."""

    def make(n_pairs=80):
        rng = np.random.default_rng(0)
        return FramePairs(
            *rng.normal(size=(2, n_pairs, 6)) @ rng.normal(size=(6, 6)) * rng.uniform(0.1, 3, (n_pairs, 1)) + 2
        )

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


@pytest.mark.case("B08")
def test_fewer_frames_than_pixels_are_white_where_they_vary():
    """B08: four frames of nine pixels span three directions; the others become 0."""
    X = np.random.default_rng(0).normal(size=(4, 9))
    white = ZCAWhitening(0.0).fit_transform(X)
    assert_allclose(np.linalg.eigvalsh(covariance(white)), [0] * 6 + [1] * 3, atol=1e-9)


@pytest.mark.case("B08")
def test_a_constant_pixel_becomes_zero(make_pairs):
    X = make_pairs().before
    X[:, 2] = 7.0
    white = ZCAWhitening().fit_transform(X)
    assert np.isfinite(white).all()
    assert_allclose(white[:, 2], 0, atol=1e-12)


@pytest.mark.case("B08")
@pytest.mark.parametrize("regularization", [0.0, 1e-4])
@pytest.mark.parametrize(
    "X", [np.zeros((10, 5)), np.full((10, 5), 0.1), np.full((9999, 3), 0.1, np.float32), np.arange(5.0)[None]]
)
def test_frames_without_variance_become_zero(X, regularization):
    assert_array_equal(ZCAWhitening(regularization).fit_transform(X), np.zeros_like(X))


@pytest.mark.case("B08")
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


@pytest.mark.parametrize("value", [-1e-9, np.nan, np.inf])
@pytest.mark.parametrize(
    "Transformer, name", [(ZCAWhitening, "regularization"), (ContrastNormalization, "half_saturation")]
)
def test_a_negative_or_infinite_parameter_is_refused(make_pairs, Transformer, name, value):
    with pytest.raises(ValueError, match=f"{name} is .*; expected 0 or more"):
        Transformer(value).fit(make_pairs())
